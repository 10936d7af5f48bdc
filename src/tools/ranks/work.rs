//! What all ranks but the first do: pieces for rank 0.

use super::pieces::Pieces;
use super::talk::Talk;
use kosumi_cluster::{ClusterError, Link};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

/// How often a rank says that it is still there, at least. Only tests have another pulse.
pub(super) const ALIVE_EVERY: Duration = Duration::from_secs(2);
/// Wait for packets and for what workers tell.
const WAIT: Duration = Duration::from_millis(10);
/// As if a link had been asked so often in vain already: then it waits long. Pieces take milliseconds at least, and a link that is
/// looked at every few microseconds after each of them would cost a fiftieth of a short game.
pub(super) const PATIENT: u32 = 1000;

/// What the workers of a rank tell rank 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told {
    /// A piece is done, and this came of it.
    Done(u32, Vec<u8>),
    /// Something happened that is no result.
    Note(Vec<u8>),
    /// The work cannot go on, anywhere.
    Failed(String),
}

/// Passes pieces from rank 0 on to `pieces`, so many at a time, and to rank 0 what workers tell, until there are no more.
/// Workers are gone when nobody can tell anything any more.
///
/// # Errors
/// If rank 0 or the network is gone, or rank 0 is of another version.
pub fn work<L: Link + ?Sized>(
    link: &mut L,
    at_a_time: usize,
    pieces: &Pieces,
    told: &Receiver<Told>,
) -> Result<(), ClusterError> {
    work_with(link, at_a_time, pieces, told, ALIVE_EVERY)
}

/// The same for a rank that says so often that it is there.
pub(super) fn work_with<L: Link + ?Sized>(
    link: &mut L,
    at_a_time: usize,
    pieces: &Pieces,
    told: &Receiver<Told>,
    alive_every: Duration,
) -> Result<(), ClusterError> {
    let result = pass_on(link, at_a_time, pieces, told, alive_every);
    pieces.stop();
    match result {
        // Rank 0 may have gone after its last word, before this one was ready.
        Err(_) if has_ended(link) => Ok(()),
        result => result,
    }
}

/// Is rank 0's last word among what has arrived?
fn has_ended<L: Link + ?Sized>(link: &mut L) -> bool {
    while let Ok(Some((from, packet))) = link.poll() {
        if from == 0 && Talk::from_packet(&packet) == Some(Talk::End) {
            return true;
        }
    }
    false
}

fn pass_on<L: Link + ?Sized>(
    link: &mut L,
    at_a_time: usize,
    pieces: &Pieces,
    told: &Receiver<Told>,
    alive_every: Duration,
) -> Result<(), ClusterError> {
    link.send(0, Talk::Ready(u32::try_from(at_a_time).unwrap_or(u32::MAX)).to_packet())?;
    let mut said = Instant::now();
    let mut idle = 0;
    loop {
        let mut is_any = false;
        while let Some((from, packet)) = link.poll()? {
            is_any = true;
            match Talk::from_packet(&packet).filter(|_| from == 0) {
                Some(Talk::Piece(piece, contents)) => pieces.add_with(piece, contents),
                Some(Talk::End) => return Ok(()),
                _ => return Err(kosumi_cluster::Malformed.into()),
            }
        }
        loop {
            let talk = match told.try_recv() {
                Ok(Told::Done(piece, found)) => Talk::Done(piece, found),
                Ok(Told::Note(note)) => Talk::Note(note),
                Ok(Told::Failed(why)) => Talk::Failed(why),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    link.send(0, Talk::Failed("its workers have ended".to_owned()).to_packet())?;
                    return Ok(());
                }
            };
            (is_any, said) = (true, Instant::now());
            link.send(0, talk.to_packet())?;
        }
        if said.elapsed() >= alive_every {
            said = Instant::now();
            link.send(0, Talk::Alive.to_packet())?;
        }
        idle = if is_any { 0 } else { idle + 1 };
        if idle > 0 {
            link.wait(PATIENT.saturating_add(idle), WAIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_cluster::thread_links;
    use std::sync::mpsc;

    /// A rank that is ready only when rank 0 is gone has nothing to complain of if rank 0 needed nobody any more.
    #[test]
    fn rank_0_may_go_after_its_last_word() {
        for says_so in [true, false] {
            let mut links = thread_links(2);
            let (mut late, mut first) = (links.remove(1), links.remove(0));
            if says_so {
                first.send(1, Talk::End.to_packet()).expect("a rank");
            }
            drop(first);
            let (_teller, told) = mpsc::channel();
            let pieces = Pieces::to_come();
            assert_eq!(work(&mut late, 1, &pieces, &told).is_ok(), says_so);
            assert_eq!(pieces.next(), None);
        }
    }
}
