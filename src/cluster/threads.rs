//! Links between ranks that are threads of one process, for tests and for the study of searches over ranks without MPI.

use super::link::{ClusterError, Link};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

type Packet = (usize, Vec<u8>);

/// Queue of the packets for one rank.
#[derive(Debug, Default)]
struct Inbox {
    packets: VecDeque<Packet>,
    /// Thread to be woken.
    reader: Option<Thread>,
    is_gone: bool,
}

/// One end of a network of threads. A rank whose end is dropped counts as lost.
#[derive(Debug)]
pub struct ThreadLink {
    rank: usize,
    inboxes: Arc<[Mutex<Inbox>]>,
}

/// Returns the ends of a network of `ranks` ranks, in order.
pub fn thread_links(ranks: usize) -> Vec<ThreadLink> {
    let inboxes: Arc<[Mutex<Inbox>]> = (0..ranks).map(|_| Mutex::default()).collect();
    (0..ranks).map(|rank| ThreadLink { rank, inboxes: Arc::clone(&inboxes) }).collect()
}

impl ThreadLink {
    fn inbox(&self, rank: usize) -> MutexGuard<'_, Inbox> {
        self.inboxes[rank].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link for ThreadLink {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.inboxes.len()
    }

    fn send(&mut self, to: usize, packet: Vec<u8>) -> Result<(), ClusterError> {
        let mut inbox = self.inbox(to);
        if inbox.is_gone {
            return Err(ClusterError::Lost(to));
        }
        inbox.packets.push_back((self.rank, packet));
        if let Some(reader) = &inbox.reader {
            reader.unpark();
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Packet>, ClusterError> {
        let mut inbox = self.inbox(self.rank);
        let packet = inbox.packets.pop_front();
        if packet.is_none() && inbox.reader.as_ref().map(Thread::id) != Some(thread::current().id()) {
            inbox.reader = Some(thread::current());
        }
        Ok(packet)
    }
}

impl Drop for ThreadLink {
    fn drop(&mut self) {
        self.inbox(self.rank).is_gone = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn packets_arrive_in_order_and_a_dropped_rank_is_gone() {
        let mut links = thread_links(3);
        let last = links.pop().expect("three");
        let [first, second] = &mut links[..] else { unreachable!("two are left") };
        for number in 0..5 {
            first.send(1, vec![number]).expect("it is there");
        }
        first.send(0, vec![9]).expect("oneself");
        for number in 0..5 {
            assert_eq!(second.poll(), Ok(Some((0, vec![number]))));
        }
        assert_eq!(second.poll(), Ok(None));
        assert_eq!(first.poll(), Ok(Some((0, vec![9]))));
        drop(last);
        assert_eq!(first.send(2, vec![1]), Err(ClusterError::Lost(2)));
    }

    #[test]
    fn waiting_rank_is_woken() {
        let mut links = thread_links(2);
        let (mut one, mut other) = (links.remove(0), links.remove(0));
        thread::scope(|scope| {
            scope.spawn(move || {
                other.send(0, vec![1]).expect("it is there");
            });
            // Far longer than the test may take: only the packet ends the wait.
            while one.poll().expect("it works").is_none() {
                one.wait(0, Duration::from_secs(3600));
            }
        });
    }
}
