//! Work of the ranks other than 0, which work on pieces for rank 0.

use super::message::Message;
use super::pieces::PieceQueue;
use kosumi_cluster::{ClusterError, Link};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

/// Interval of alive messages. Only tests use another one.
pub(super) const ALIVE_EVERY: Duration = Duration::from_secs(2);
/// Maximum time to wait for packets, and for messages of workers.
const WAIT: Duration = Duration::from_millis(10);
/// Initial number of idle polls, which makes the link wait long between polls from the beginning. Pieces take at least
/// milliseconds, and polling every few microseconds after each piece would cost 2 % of a short game.
pub(super) const INITIAL_IDLE: u32 = 1000;

/// Message from the workers of a rank to rank 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WorkerMessage {
    /// Result of a piece.
    Done(u32, Vec<u8>),
    /// Notification about work in progress.
    Note(Vec<u8>),
    /// Failure that ends the work on all ranks.
    Failed(String),
}

/// Passes pieces from rank 0 to `pieces`, `at_a_time` at a time, and messages of workers to rank 0, until there are no
/// more pieces. The workers are considered lost when the senders of `messages` are dropped.
///
/// # Errors
///
/// Returns an error if rank 0 or the network is lost, or if rank 0 runs another version.
pub fn serve_pieces<L: Link + ?Sized>(
    link: &mut L,
    at_a_time: usize,
    pieces: &PieceQueue,
    messages: &Receiver<WorkerMessage>,
) -> Result<(), ClusterError> {
    serve_pieces_with_interval(link, at_a_time, pieces, messages, ALIVE_EVERY)
}

/// Works like [`serve_pieces`], with the given interval of alive messages.
pub(super) fn serve_pieces_with_interval<L: Link + ?Sized>(
    link: &mut L,
    at_a_time: usize,
    pieces: &PieceQueue,
    messages: &Receiver<WorkerMessage>,
    alive_every: Duration,
) -> Result<(), ClusterError> {
    // The workers wait for this, even if the link panics.
    let stopping = scopeguard::guard(pieces, PieceQueue::stop);
    let result = pass_on(link, at_a_time, pieces, messages, alive_every);
    drop(stopping);
    match result {
        // Rank 0 may have ended the work and exited before this rank was ready.
        Err(_) if has_ended(link) => Ok(()),
        result => result,
    }
}

/// Returns whether the end message of rank 0 has arrived.
fn has_ended<L: Link + ?Sized>(link: &mut L) -> bool {
    while let Ok(Some((from, packet))) = link.poll() {
        if from == 0 && Message::from_packet(&packet) == Some(Message::End) {
            return true;
        }
    }
    false
}

fn pass_on<L: Link + ?Sized>(
    link: &mut L,
    at_a_time: usize,
    pieces: &PieceQueue,
    messages: &Receiver<WorkerMessage>,
    alive_every: Duration,
) -> Result<(), ClusterError> {
    link.send(0, Message::Ready(u32::try_from(at_a_time).unwrap_or(u32::MAX)).to_packet())?;
    let mut last_sent = Instant::now();
    let mut idle = 0;
    loop {
        let mut is_any = false;
        while let Some((from, packet)) = link.poll()? {
            is_any = true;
            match Message::from_packet(&packet).filter(|_| from == 0) {
                Some(Message::Piece(piece, contents)) => pieces.add_with(piece, contents),
                Some(Message::End) => return Ok(()),
                _ => return Err(kosumi_cluster::Malformed.into()),
            }
        }
        loop {
            let message = match messages.try_recv() {
                Ok(WorkerMessage::Done(piece, found)) => Message::Done(piece, found),
                Ok(WorkerMessage::Note(note)) => Message::Note(note),
                Ok(WorkerMessage::Failed(why)) => Message::Failed(why),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    link.send(
                        0,
                        Message::Failed("its workers have ended unexpectedly".to_owned()).to_packet(),
                    )?;
                    return Ok(());
                }
            };
            (is_any, last_sent) = (true, Instant::now());
            link.send(0, message.to_packet())?;
        }
        if last_sent.elapsed() >= alive_every {
            last_sent = Instant::now();
            link.send(0, Message::Alive.to_packet())?;
        }
        idle = if is_any { 0 } else { idle + 1 };
        if idle > 0 {
            link.wait(INITIAL_IDLE.saturating_add(idle), WAIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_cluster::thread_links;
    use std::sync::mpsc;

    /// Checks that a rank that becomes ready after rank 0 has exited reports no error if rank 0 had ended the work.
    #[test]
    fn rank_0_may_exit_after_its_end_message() {
        for says_so in [true, false] {
            let mut links = thread_links(2);
            let (mut late, mut first) = (links.remove(1), links.remove(0));
            if says_so {
                first.send(1, Message::End.to_packet()).expect("a rank");
            }
            drop(first);
            let (_sender, messages) = mpsc::channel();
            let pieces = PieceQueue::open();
            assert_eq!(serve_pieces(&mut late, 1, &pieces, &messages).is_ok(), says_so);
            assert_eq!(pieces.next(), None);
        }
    }
}
