//! Distributed work with results in order: threads of this process and other ranks work on the pieces.
//!
//! ```text
//!   read ──piece──▶ Pieces ─┬─▶ threads of rank 0 ──result──┬─▶ in order ─▶ collect
//!                           └─▶ give ── other ranks ────────┘
//! ```
//!
//! The output does not depend on which rank or thread works on a piece: rank 0 makes the pieces in order and collects
//! the results in the same order. With [`PieceLength::Short`] the reader waits while it is far ahead, so memory does
//! not grow with the input.
//!
//! A panic in the reader or in a worker of this process ends the work and reaches the caller. If the thread that lends
//! pieces panics, this process does their work.

use super::lending::{RankEvent, lend_pieces_with_contents};
use super::pieces::PieceQueue;
use super::work::{ALIVE_EVERY, WorkerMessage, serve_pieces_with_interval};
use anyhow::{Context, anyhow, bail};
use kosumi_engine::RankLink;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Callback for a lost rank: its number, and the number of its pieces, which are reassigned.
pub type OnLoss = Box<dyn Fn(usize, usize) + Send>;

/// Role of this process in distributed work.
pub enum RankPart {
    /// Single process without other ranks.
    Alone,
    /// Rank 0, which makes the pieces, works, and collects.
    First(RankLink, OnLoss),
    /// Another rank, which works for rank 0.
    Other(RankLink),
}

impl fmt::Debug for RankPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RankPart::Alone => "Alone",
            RankPart::First(..) => "First",
            RankPart::Other(_) => "Other",
        })
    }
}

impl RankPart {
    /// Returns whether this process only works for rank 0. If so, it must not read or write the common files.
    pub fn is_other(&self) -> bool {
        matches!(self, RankPart::Other(_))
    }
}

/// Strategy for handing out pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PieceLength {
    /// Long pieces: the latency to another rank does not matter. A rank gets one piece per thread, so that no piece
    /// waits at one rank while another rank is idle.
    Long,
    /// Many short pieces: some wait at every rank, and the reader waits when there are enough of them.
    Short,
}

/// Number of short pieces per thread that are being worked on, wait for a thread, or wait to be collected.
const PIECES_PER_THREAD: usize = 3;

impl PieceLength {
    /// Returns the number of pieces that a rank with this number of threads has at a time.
    fn at_a_time(self, threads: usize) -> usize {
        match self {
            PieceLength::Long => threads,
            PieceLength::Short => PIECES_PER_THREAD * threads,
        }
    }
}

/// Pieces that have been made but not collected.
struct PendingPieces<P> {
    state: Mutex<PendingState<P>>,
    changed: Condvar,
}

struct PendingState<P> {
    pieces: BTreeMap<u32, Arc<P>>,
    next: u32,
    is_stopped: bool,
}

impl<P> PendingPieces<P> {
    fn lock(&self) -> MutexGuard<'_, PendingState<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a piece as soon as there are fewer than `capacity`. Returns `None` if no more pieces are wanted.
    fn add(&self, piece: P, capacity: usize) -> Option<u32> {
        let mut state = self.lock();
        while state.pieces.len() >= capacity && !state.is_stopped {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_stopped {
            return None;
        }
        let number = state.next;
        state.next += 1;
        state.pieces.insert(number, Arc::new(piece));
        Some(number)
    }

    fn get(&self, number: u32) -> Option<Arc<P>> {
        self.lock().pieces.get(&number).cloned()
    }

    fn remove(&self, number: u32) -> Option<Arc<P>> {
        let piece = self.lock().pieces.remove(&number);
        self.changed.notify_all();
        piece
    }

    fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }
}

/// Event for the collector.
enum CollectorEvent<R> {
    Result(u32, R),
    Failed(anyhow::Error),
    Panicked(Box<dyn Any + Send>),
    Lost(usize, usize),
}

/// Distributes pieces to `threads` threads on every rank, and collects the results on rank 0 in the order of the
/// pieces. `read` makes the pieces and passes them to the given function until that returns false. A break from
/// `collect` ends the work. Neither function is called on other ranks, which work until rank 0 has no more pieces.
///
/// # Errors
///
/// Returns the errors of `collect`, and an error if a thread cannot be started or a rank cannot continue. On other
/// ranks it returns an error if rank 0 is lost.
pub fn in_order<P, R>(
    part: RankPart,
    threads: usize,
    pace: PieceLength,
    read: impl FnOnce(&mut dyn FnMut(P) -> bool) + Send,
    work: impl Fn(&P) -> R + Sync,
    collect: impl FnMut(&P, R) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<()>
where
    P: Serialize + DeserializeOwned + Send + Sync,
    R: Serialize + DeserializeOwned + Send,
{
    in_order_with(ALIVE_EVERY, part, threads, pace, read, work, collect)
}

/// Works like [`in_order`], with the given interval of alive messages.
fn in_order_with<P, R>(
    alive_every: Duration,
    part: RankPart,
    threads: usize,
    pace: PieceLength,
    read: impl FnOnce(&mut dyn FnMut(P) -> bool) + Send,
    work: impl Fn(&P) -> R + Sync,
    collect: impl FnMut(&P, R) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<()>
where
    P: Serialize + DeserializeOwned + Send + Sync,
    R: Serialize + DeserializeOwned + Send,
{
    let threads = threads.max(1);
    let others = match part {
        RankPart::Alone => None,
        RankPart::First(link, on_loss) => Some((link, on_loss, alive_every)),
        RankPart::Other(link) => return serve(link, threads, pace, &work, alive_every),
    };
    run_first(others, threads, pace, read, &work, collect)
}

/// Runs the part of rank 0, or of a single process. The duration in `others` is the interval of alive messages.
fn run_first<P, R>(
    others: Option<(RankLink, OnLoss, Duration)>,
    threads: usize,
    pace: PieceLength,
    read: impl FnOnce(&mut dyn FnMut(P) -> bool) + Send,
    work: &(impl Fn(&P) -> R + Sync),
    collect: impl FnMut(&P, R) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<()>
where
    P: Serialize + Send + Sync,
    R: DeserializeOwned + Send,
{
    let ranks = others.as_ref().map_or(1, |(link, ..)| link.ranks());
    let capacity = match pace {
        PieceLength::Long => usize::MAX,
        PieceLength::Short => (PIECES_PER_THREAD + 1) * threads * ranks,
    };
    let (link, on_loss) = others.map(|(link, on_loss, interval)| ((link, interval), on_loss)).unzip();
    let pieces = PieceQueue::open();
    let pending = PendingPieces {
        state: Mutex::new(PendingState { pieces: BTreeMap::new(), next: 0, is_stopped: false }),
        changed: Condvar::new(),
    };
    let (pieces, pending) = (&pieces, &pending);
    thread::scope(|scope| {
        // When this scope ends, no thread may still wait for pieces or for space to add one.
        let _ending = StopOnDrop { pieces, pending };
        let (sender, found) = mpsc::channel();
        for index in 0..threads {
            let sender = sender.clone();
            thread::Builder::new().name(format!("piece-{index}")).spawn_scoped(scope, move || {
                while let Some(number) = pieces.next() {
                    let Some(piece) = pending.get(number) else { return };
                    let found = match catch_unwind(AssertUnwindSafe(|| work(&piece))) {
                        Ok(result) => CollectorEvent::Result(number, result),
                        Err(panic) => CollectorEvent::Panicked(panic),
                    };
                    if sender.send(found).is_err() {
                        return;
                    }
                }
            })?;
        }
        if let Some((mut link, alive_every)) = link {
            let sender = sender.clone();
            thread::Builder::new().name("ranks".to_owned()).spawn_scoped(scope, move || {
                // If contents cannot be serialised, the receiving rank reports it.
                let contents = |number| {
                    pending.get(number).and_then(|piece| serde_json::to_vec(&*piece).ok()).unwrap_or_default()
                };
                lend_pieces_with_contents(&mut link, pieces, &contents, alive_every, &mut |event| {
                    forward(event, &sender)
                });
            })?;
        }
        scope.spawn(move || {
            let mut add = |piece| match pending.add(piece, capacity) {
                Some(number) => {
                    pieces.add(number);
                    true
                }
                None => false,
            };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| read(&mut add))) {
                // If the receiver no longer exists, the work has ended already.
                let _ = sender.send(CollectorEvent::Panicked(panic));
            }
            pieces.close();
        });
        // Taken by value, so that sends fail when the scope ends.
        let found: mpsc::Receiver<CollectorEvent<R>> = found;
        collect_in_order(found, pending, on_loss, collect)
    })
}

/// Passes on an event of another rank. Returns false if the collector has ended.
fn forward<R: DeserializeOwned>(event: RankEvent, sender: &Sender<CollectorEvent<R>>) -> bool {
    let found = match event {
        RankEvent::Done(number, result) => match serde_json::from_slice(&result) {
            Ok(result) => CollectorEvent::Result(number, result),
            Err(error) => {
                CollectorEvent::Failed(anyhow!(error).context(format!("piece {number} of another rank")))
            }
        },
        RankEvent::Note(_) => return true,
        RankEvent::Failed(rank, why) => CollectorEvent::Failed(anyhow!("rank {rank}: {why}")),
        RankEvent::Lost(rank, count) => CollectorEvent::Lost(rank, count),
    };
    sender.send(found).is_ok()
}

/// Collects the results in the order of their pieces.
fn collect_in_order<P, R>(
    found: mpsc::Receiver<CollectorEvent<R>>,
    pending: &PendingPieces<P>,
    on_loss: Option<OnLoss>,
    mut collect: impl FnMut(&P, R) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<()> {
    let (mut next, mut early) = (0, BTreeMap::new());
    for found in found {
        match found {
            CollectorEvent::Result(number, result) => {
                early.insert(number, result);
            }
            CollectorEvent::Failed(error) => return Err(error),
            CollectorEvent::Panicked(panic) => resume_unwind(panic),
            CollectorEvent::Lost(rank, count) => {
                if let Some(on_loss) = &on_loss {
                    on_loss(rank, count);
                }
            }
        }
        while let Some(result) = early.remove(&next) {
            let piece = pending.remove(next).context("a result of an unknown piece")?;
            if collect(&piece, result)?.is_break() {
                return Ok(());
            }
            next += 1;
        }
    }
    if pending.lock().pieces.is_empty() { Ok(()) } else { bail!("the workers stopped early") }
}

/// Guard that stops all threads when the work ends in any way.
struct StopOnDrop<'e, P> {
    pieces: &'e PieceQueue,
    pending: &'e PendingPieces<P>,
}

impl<P> Drop for StopOnDrop<'_, P> {
    fn drop(&mut self) {
        self.pieces.stop();
        self.pending.stop();
    }
}

/// Runs the part of a rank other than 0.
fn serve<P, R>(
    mut link: RankLink,
    threads: usize,
    pace: PieceLength,
    work: &(impl Fn(&P) -> R + Sync),
    alive_every: Duration,
) -> anyhow::Result<()>
where
    P: DeserializeOwned,
    R: Serialize,
{
    let pieces = PieceQueue::open();
    let (sender, messages) = mpsc::channel();
    let do_piece = |number: u32| -> anyhow::Result<Vec<u8>> {
        let piece = serde_json::from_slice(&pieces.take_contents(number))
            .context("the ranks run different versions")?;
        match catch_unwind(AssertUnwindSafe(|| work(&piece))) {
            Ok(result) => Ok(serde_json::to_vec(&result)?),
            // The panic hook has already printed the panic.
            Err(_) => bail!("piece {number}: the worker panicked"),
        }
    };
    let (pieces, do_piece) = (&pieces, &do_piece);
    thread::scope(|scope| {
        for index in 0..threads {
            let sender = sender.clone();
            thread::Builder::new().name(format!("piece-{index}")).spawn_scoped(scope, move || {
                while let Some(number) = pieces.next() {
                    let message = match do_piece(number) {
                        Ok(result) => WorkerMessage::Done(number, result),
                        Err(error) => WorkerMessage::Failed(format!("{error:#}")),
                    };
                    if sender.send(message).is_err() {
                        return;
                    }
                }
            })?;
        }
        drop(sender);
        Ok(serve_pieces_with_interval(&mut link, pace.at_a_time(threads), pieces, &messages, alive_every)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_cluster::{ClusterError, Link, ThreadLink, thread_links};
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Interval of alive messages in these tests, so that a lost rank is detected soon.
    const ALIVE_INTERVAL: Duration = Duration::from_millis(100);

    /// Link of a rank that is lost after a number of packets.
    struct FailingLink(ThreadLink, u32);

    impl Link for FailingLink {
        fn rank(&self) -> usize {
            self.0.rank()
        }

        fn ranks(&self) -> usize {
            self.0.ranks()
        }

        fn send(&mut self, to: usize, packet: Vec<u8>) -> Result<(), ClusterError> {
            self.0.send(to, packet)
        }

        fn poll(&mut self) -> Result<Option<(usize, Vec<u8>)>, ClusterError> {
            if self.1 == 0 {
                return Err(ClusterError::Silent);
            }
            let packet = self.0.poll()?;
            self.1 -= u32::from(packet.is_some());
            Ok(packet)
        }
    }

    /// Does the work of all ranks in these tests: makes a word from a number. Later pieces are often done earlier.
    fn word(piece: &(u32, String)) -> String {
        // The results must not depend on these times, which vary nothing but the order.
        thread::sleep(Duration::from_micros(u64::from(piece.0 * 7919 % 13) * 100));
        format!("{}{}", piece.1, piece.0 * piece.0)
    }

    struct RunResult {
        words: Vec<String>,
        lost: u32,
        made: u32,
        most: usize,
    }

    /// Runs `count` pieces on rank 0 and these ranks. Each rank is lost after the given number of packets.
    fn run(count: u32, others: &[u32], pace: PieceLength, enough: u32) -> RunResult {
        let mut links = thread_links(others.len() + 1).into_iter();
        let first = links.next().expect("a rank");
        let (lost, made) = (Arc::new(AtomicU32::new(0)), AtomicU32::new(0));
        let losses = Arc::clone(&lost);
        let on_loss = Box::new(move |_, _| {
            losses.fetch_add(1, Ordering::Relaxed);
        });
        let part =
            if others.is_empty() { RankPart::Alone } else { RankPart::First(Box::new(first), on_loss) };
        let (mut words, mut most) = (Vec::new(), 0);
        thread::scope(|scope| {
            for (link, &packets) in links.zip(others) {
                scope.spawn(move || {
                    let part = RankPart::Other(Box::new(FailingLink(link, packets)));
                    let nothing = |_: &mut dyn FnMut((u32, String)) -> bool| unreachable!("rank 0 reads");
                    // A lost rank returns an error.
                    let collect = |_: &_, _| unreachable!("rank 0 collects");
                    drop(in_order_with(ALIVE_INTERVAL, part, 2, pace, nothing, word, collect));
                });
            }
            let read = |send: &mut dyn FnMut((u32, String)) -> bool| {
                for number in 0..count {
                    made.fetch_add(1, Ordering::Relaxed);
                    if !send((number, "w".to_owned())) {
                        return;
                    }
                }
            };
            in_order_with(ALIVE_INTERVAL, part, 2, pace, read, word, |piece, found| {
                assert_eq!(piece.0 as usize, words.len());
                most = most.max(made.load(Ordering::Relaxed) as usize - words.len());
                words.push(found);
                Ok(if words.len() as u32 == enough {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })
            .expect("it works");
        });
        RunResult { words, lost: lost.load(Ordering::Relaxed), made: made.into_inner(), most }
    }

    fn words(count: u32) -> Vec<String> {
        (0..count).map(|number| format!("w{}", number * number)).collect()
    }

    #[test]
    fn what_is_collected_does_not_depend_on_who_worked() {
        for others in [&[][..], &[u32::MAX], &[u32::MAX; 3]] {
            for pace in [PieceLength::Long, PieceLength::Short] {
                let outcome = run(300, others, pace, u32::MAX);
                assert_eq!(outcome.words, words(300));
                if pace == PieceLength::Short {
                    // One piece is being made and one is being collected, in addition to those of the limit.
                    assert!(
                        outcome.most <= (PIECES_PER_THREAD + 1) * 2 * (others.len() + 1) + 2,
                        "{}",
                        outcome.most
                    );
                }
            }
        }
        assert!(run(0, &[u32::MAX], PieceLength::Long, u32::MAX).words.is_empty());
    }

    #[test]
    fn pieces_of_a_lost_rank_are_done_by_others() {
        for pace in [PieceLength::Long, PieceLength::Short] {
            let outcome = run(200, &[7, u32::MAX], pace, u32::MAX);
            assert_eq!((outcome.words, outcome.lost), (words(200), 1));
        }
    }

    #[test]
    fn reading_stops_when_the_collector_breaks() {
        let outcome = run(1_000_000, &[u32::MAX], PieceLength::Short, 50);
        assert_eq!(outcome.words, words(50));
        assert!(outcome.made < 200, "{}", outcome.made);
    }

    #[test]
    fn errors_and_panics_are_returned() {
        let read = |send: &mut dyn FnMut(u32) -> bool| {
            (0..1000).for_each(|number| {
                send(number);
            })
        };
        let stop =
            |_: &u32, found: u32| if found > 5 { bail!("no more") } else { Ok(ControlFlow::Continue(())) };
        let result = in_order(RankPart::Alone, 2, PieceLength::Short, read, |&piece| piece, stop);
        assert_eq!(result.map_err(|error| error.to_string()), Err("no more".to_owned()));
        let faulty = |&piece: &u32| assert_ne!(piece, 9);
        let all = |_: &u32, ()| Ok(ControlFlow::Continue(()));
        let panics = |send: &mut dyn FnMut(u32) -> bool| {
            send(0);
            resume_unwind(Box::new("a faulty reader"));
        };
        let caught = catch_unwind(AssertUnwindSafe(|| {
            in_order(RankPart::Alone, 2, PieceLength::Long, panics, faulty, all)
        }));
        assert_eq!(caught.expect_err("a panic").downcast_ref(), Some(&"a faulty reader"));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            in_order(RankPart::Alone, 2, PieceLength::Short, read, faulty, all)
        }));
        assert!(caught.is_err());
        // Another rank panics. It gets some of the pieces, because they take rank 0 a long time.
        let faulty = |&piece: &u32| assert!(piece <= 5);
        let mut links = thread_links(2);
        let (other, first) = (links.remove(1), links.remove(0));
        thread::scope(|scope| {
            scope.spawn(move || {
                drop(in_order(RankPart::Other(Box::new(other)), 1, PieceLength::Long, read, faulty, all))
            });
            let slow = |&piece: &u32| thread::sleep(Duration::from_millis(u64::from(piece > 5) * 20));
            let part = RankPart::First(Box::new(first), Box::new(|_, _| ()));
            let error = in_order(part, 1, PieceLength::Long, read, slow, all).expect_err("the other fails");
            assert!(error.to_string().contains("rank 1: piece "), "{error:#}");
        });
    }
}
