//! Distribution of pieces by rank 0, which lends pieces to other ranks and takes their results.

use super::message::Message;
use super::pieces::PieceQueue;
use super::work::{ALIVE_EVERY, INITIAL_IDLE};
use kosumi_cluster::Link;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// A rank is lost if it has sent nothing for this multiple of the interval of alive messages. The thread that sends
/// these messages has no other work, so only a machine that has stopped is that slow.
const SILENT_INTERVALS: u32 = 10;
/// Maximum time to wait for packets, and for pieces that come back from a lost rank.
const WAIT: Duration = Duration::from_millis(10);

/// Event that rank 0 receives from the other ranks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RankEvent {
    /// Result of a piece. It is reported once per piece.
    Done(u32, Vec<u8>),
    /// Notification about work in progress.
    Note(Vec<u8>),
    /// Rank that cannot continue, with the reason.
    Failed(usize, String),
    /// Rank that is lost, and the number of its pieces, which are reassigned.
    Lost(usize, usize),
}

/// State of another rank, as known to rank 0.
struct RankState {
    /// Number of pieces that the rank works on at a time; 0 before it is ready.
    at_a_time: usize,
    last_message: Instant,
    is_lost: bool,
}

/// Lends pieces to all other ranks until no piece is lent and none is waiting, or until all are stopped. Ranks that are
/// lost before they are ready are ignored. If `on` returns false, no more pieces are lent, and the function does not
/// wait for those that are lent.
pub fn lend_pieces<L: Link + ?Sized>(
    link: &mut L,
    pieces: &PieceQueue,
    mut on: impl FnMut(RankEvent) -> bool,
) {
    lend_pieces_with_contents(link, pieces, &|_| Vec::new(), ALIVE_EVERY, &mut on);
}

/// Works like [`lend_pieces`] for pieces with contents, which `contents` returns, and with the given interval of alive
/// messages.
///
/// # Panics
///
/// Panics if `link`, `contents` or `on` panics. The pieces are taken back before, because the workers of this process
/// would wait for ever for pieces that are lent.
pub(super) fn lend_pieces_with_contents<L: Link + ?Sized>(
    link: &mut L,
    pieces: &PieceQueue,
    contents: &dyn Fn(u32) -> Vec<u8>,
    alive_every: Duration,
    on: &mut dyn FnMut(RankEvent) -> bool,
) {
    let lent = catch_unwind(AssertUnwindSafe(|| lend_until_settled(link, pieces, contents, alive_every, on)));
    for rank in 1..link.ranks() {
        // Sending may fail, because a lost rank needs no message.
        let _ = link.send(rank, Message::End.to_packet());
        if lent.is_err() {
            pieces.take_back(rank);
        }
    }
    if let Err(panic) = lent {
        resume_unwind(panic);
    }
}

fn lend_until_settled<L: Link + ?Sized>(
    link: &mut L,
    pieces: &PieceQueue,
    contents: &dyn Fn(u32) -> Vec<u8>,
    alive_every: Duration,
    on: &mut dyn FnMut(RankEvent) -> bool,
) {
    let patience = alive_every.saturating_mul(SILENT_INTERVALS);
    let other = || RankState { at_a_time: 0, last_message: Instant::now(), is_lost: false };
    let mut others: Vec<RankState> = (0..link.ranks()).map(|_| other()).collect();
    let mut idle = 0;
    let mut goes_on = true;
    while goes_on && !pieces.is_settled() {
        let mut is_any = false;
        loop {
            let (from, packet) = match link.poll() {
                Ok(Some(packet)) => packet,
                Ok(None) => break,
                Err(_) => {
                    // No more packets can arrive.
                    (1..others.len()).for_each(|rank| goes_on &= mark_lost(rank, &mut others, pieces, on));
                    break;
                }
            };
            is_any = true;
            let Some(other) = others.get_mut(from).filter(|other| !other.is_lost) else { continue };
            other.last_message = Instant::now();
            goes_on &= match Message::from_packet(&packet) {
                Some(Message::Ready(at_a_time)) => {
                    other.at_a_time = at_a_time as usize;
                    true
                }
                Some(Message::Alive) => true,
                Some(Message::Done(piece, found)) => {
                    !pieces.mark_done(piece, from) || on(RankEvent::Done(piece, found))
                }
                Some(Message::Note(note)) => on(RankEvent::Note(note)),
                Some(Message::Failed(why)) => {
                    on(RankEvent::Failed(from, why)) && mark_lost(from, &mut others, pieces, on)
                }
                // The rank runs another version.
                _ => mark_lost(from, &mut others, pieces, on),
            };
        }
        for rank in 1..others.len() {
            let other = &others[rank];
            if other.is_lost {
                continue;
            }
            let is_silent = other.at_a_time > 0 && other.last_message.elapsed() > patience;
            if is_silent || lend(link, rank, other.at_a_time, pieces, contents).is_none() {
                goes_on &= mark_lost(rank, &mut others, pieces, on);
            }
        }
        idle = if is_any { 0 } else { idle + 1 };
        if idle > 0 {
            link.wait(INITIAL_IDLE.saturating_add(idle), WAIT);
        }
    }
}

/// Lends pieces to a rank until it has `at_a_time` of them. Returns `None` if the rank is lost.
fn lend<L: Link + ?Sized>(
    link: &mut L,
    rank: usize,
    at_a_time: usize,
    pieces: &PieceQueue,
    contents: &dyn Fn(u32) -> Vec<u8>,
) -> Option<()> {
    while pieces.lent_to(rank) < at_a_time {
        let Some(piece) = pieces.lend(rank) else { break };
        link.send(rank, Message::Piece(piece, contents(piece)).to_packet()).ok()?;
    }
    Some(())
}

fn mark_lost(
    rank: usize,
    others: &mut [RankState],
    pieces: &PieceQueue,
    on: &mut dyn FnMut(RankEvent) -> bool,
) -> bool {
    if others[rank].is_lost {
        return true;
    }
    others[rank].is_lost = true;
    on(RankEvent::Lost(rank, pieces.take_back(rank)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::WorkerMessage;
    use crate::ranks::work::serve_pieces_with_interval;
    use kosumi_cluster::{ThreadLink, thread_links};
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex, mpsc};
    use std::thread;

    /// Interval of alive messages in these tests, so that a lost rank is detected soon.
    const ALIVE_INTERVAL: Duration = Duration::from_millis(100);

    /// Does the work on a piece: squares its number.
    fn square(piece: u32) -> Vec<u8> {
        thread::sleep(Duration::from_millis(1));
        (piece * piece).to_le_bytes().to_vec()
    }

    /// Runs a rank with two workers. `gone_after` is the number of pieces after which it fails or, with the flag,
    /// becomes silent.
    fn rank(mut link: ThreadLink, gone_after: Option<(u32, bool)>) {
        let pieces = Arc::new(PieceQueue::open());
        let (sender, messages) = mpsc::channel();
        let done = Arc::new(Mutex::new(0));
        for _ in 0..2 {
            let (pieces, sender, done) = (Arc::clone(&pieces), sender.clone(), Arc::clone(&done));
            thread::spawn(move || {
                while let Some(piece) = pieces.next() {
                    let mut done = done.lock().expect("a lock");
                    *done += 1;
                    if gone_after.is_some_and(|(most, _)| *done > most) {
                        // The piece is lost, and the channel ends with the thread.
                        return;
                    }
                    drop(done);
                    sender.send(WorkerMessage::Done(piece, square(piece))).expect("a listener");
                }
            });
        }
        drop(sender);
        match gone_after {
            Some((most, true)) => {
                // The rank becomes silent: it sends no alive messages either.
                let (_quiet, silence) = mpsc::channel();
                let mut taken = 0;
                thread::scope(|scope| {
                    let mut link = Counting { link, taken: &mut taken, most };
                    scope.spawn(move || {
                        drop(serve_pieces_with_interval(&mut link, 2, &pieces, &silence, Duration::MAX))
                    });
                });
            }
            _ => drop(serve_pieces_with_interval(&mut link, 2, &pieces, &messages, ALIVE_INTERVAL)),
        }
    }

    /// Link that is closed after a number of packets.
    struct Counting<'t> {
        link: ThreadLink,
        taken: &'t mut u32,
        most: u32,
    }

    impl Link for Counting<'_> {
        fn rank(&self) -> usize {
            self.link.rank()
        }

        fn ranks(&self) -> usize {
            self.link.ranks()
        }

        fn send(&mut self, to: usize, packet: Vec<u8>) -> Result<(), kosumi_cluster::ClusterError> {
            self.link.send(to, packet)
        }

        fn poll(&mut self) -> Result<Option<(usize, Vec<u8>)>, kosumi_cluster::ClusterError> {
            if *self.taken == self.most {
                return Err(kosumi_cluster::ClusterError::Silent);
            }
            let packet = self.link.poll()?;
            *self.taken += u32::from(packet.is_some());
            Ok(packet)
        }
    }

    /// Computes the squares of 0 to 99 with `local` workers on rank 0 and these other ranks.
    fn run(others: &[Option<(u32, bool)>], local: usize) -> (BTreeMap<u32, u32>, Vec<RankEvent>) {
        let mut links = thread_links(others.len() + 1).into_iter();
        let mut first = links.next().expect("a rank");
        let pieces = Arc::new(PieceQueue::new(0..100));
        let (mut found, mut rest) = (BTreeMap::new(), Vec::new());
        let mut take = |piece: u32, bytes: &[u8]| {
            let number = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            assert_eq!(found.insert(piece, number), None, "piece {piece} is done twice");
        };
        thread::scope(|scope| {
            for (link, &gone_after) in links.zip(others) {
                scope.spawn(move || rank(link, gone_after));
            }
            let (sender, own) = mpsc::channel();
            for _ in 0..local {
                let (pieces, sender) = (Arc::clone(&pieces), sender.clone());
                scope.spawn(move || {
                    while let Some(piece) = pieces.next() {
                        sender.send((piece, square(piece))).expect("a listener");
                    }
                });
            }
            drop(sender);
            lend_pieces_with_contents(&mut first, &pieces, &|_| Vec::new(), ALIVE_INTERVAL, &mut |event| {
                match event {
                    RankEvent::Done(piece, bytes) => take(piece, &bytes),
                    other => rest.push(other),
                }
                true
            });
            own.into_iter().for_each(|(piece, bytes)| take(piece, &bytes));
        });
        (found, rest)
    }

    fn squares() -> BTreeMap<u32, u32> {
        (0..100).map(|piece| (piece, piece * piece)).collect()
    }

    #[test]
    fn ranks_do_all_pieces_once() {
        assert_eq!(run(&[None, None, None], 1), (squares(), vec![]));
        // Rank 0 may have no workers, or may do all the work.
        assert_eq!(run(&[None], 0), (squares(), vec![]));
        assert_eq!(run(&[], 2), (squares(), vec![]));
    }

    #[test]
    fn pieces_of_a_lost_rank_are_reassigned() {
        // One rank becomes silent, and another one reports a failure. Both have pieces at that moment.
        let (found, events) = run(&[Some((5, true)), None], 1);
        assert_eq!(found, squares());
        assert!(matches!(events[..], [RankEvent::Lost(1, 1..)]), "{events:?}");
        let (found, events) = run(&[Some((7, false))], 1);
        assert_eq!(found, squares());
        assert!(matches!(&events[..], [RankEvent::Failed(1, _), RankEvent::Lost(1, 1..)]), "{events:?}");
    }

    #[test]
    fn pieces_come_back_from_a_panic() {
        let mut links = thread_links(2);
        let (mut other, mut first) = (links.remove(1), links.remove(0));
        for message in [Message::Ready(3), Message::Note(Vec::new())] {
            other.send(0, message.to_packet()).expect("a rank");
        }
        let pieces = PieceQueue::new(0..10);
        assert_eq!(pieces.lend(1), Some(0));
        let lent = catch_unwind(AssertUnwindSafe(|| {
            lend_pieces(&mut first, &pieces, |_| resume_unwind(Box::new("a faulty receiver")));
        }));
        assert!(lent.is_err());
        // The queue neither waits for the other rank nor loses a piece, and the other rank knows of the end.
        assert!(std::iter::from_fn(|| pieces.next()).eq(0..10));
        let last = std::iter::from_fn(|| other.poll().expect("a link")).last();
        assert_eq!(last.map(|(_, packet)| Message::from_packet(&packet)), Some(Some(Message::End)));
    }

    #[test]
    fn stopped_pieces_are_not_lent() {
        let pieces = PieceQueue::new(0..10);
        assert_eq!((pieces.next(), pieces.lend(1), pieces.lend(2)), (Some(0), Some(1), Some(2)));
        assert!(!pieces.mark_done(1, 2), "another rank's");
        assert!(pieces.mark_done(1, 1) && !pieces.mark_done(1, 1), "once");
        assert_eq!(pieces.take_back(2), 1);
        assert_eq!((pieces.next(), pieces.waiting()), (Some(2), 7), "what comes back is first");
        assert!(!pieces.is_settled());
        pieces.stop();
        assert_eq!((pieces.next(), pieces.lend(1)), (None, None));
        assert!(pieces.is_settled());
    }
}
