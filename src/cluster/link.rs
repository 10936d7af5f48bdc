//! Communication between ranks.

use super::wire::Malformed;
use std::thread;
use std::time::Duration;

/// Reason why a search over ranks cannot continue.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ClusterError {
    /// The rank, to which a packet was sent or from which one was expected, is gone.
    #[error("rank {0} does not answer")]
    Lost(usize),
    /// An unknown rank is gone.
    #[error("a rank does not answer")]
    Silent,
    /// The rank has failed, with this message.
    #[error("rank {0} failed: {1}")]
    Failed(usize, String),
    /// Rank 0 has cancelled the search, because it has lost a rank.
    #[error("rank 0 has cancelled the search")]
    GivenUp,
    /// The network under the link has failed, with this message.
    #[error("network error: {0}")]
    Network(String),
    /// A message is invalid.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The position that was received differs from that of rank 0.
    #[error("a rank has another position than rank 0: the ranks run different versions")]
    OtherPosition,
}

/// One rank's end of a network: packets to and from ranks of the same program, which are numbered from 0.
///
/// Packets from one rank to another arrive once, and in the order in which they were sent. There are no barriers: a
/// rank waits for another only by waiting for a packet.
pub trait Link {
    /// Returns the number of this rank.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn ranks(&self) -> usize;

    /// Sends a packet, without waiting for its arrival. A packet to this rank itself arrives like any other.
    ///
    /// # Errors
    ///
    /// Returns an error if the rank is known to be gone, or if the network fails.
    fn send(&mut self, to: usize, packet: Vec<u8>) -> Result<(), ClusterError>;

    /// Returns the next packet and the rank that sent it, if one has arrived.
    ///
    /// # Errors
    ///
    /// Returns an error if the network fails.
    fn poll(&mut self) -> Result<Option<(usize, Vec<u8>)>, ClusterError>;

    /// Waits until a packet may have arrived, until another thread unparks this one, or for a short time of at most
    /// `most` that the link chooses. `idle` is the number of consecutive waits.
    fn wait(&mut self, _idle: u32, most: Duration) {
        thread::park_timeout(most);
    }
}

impl<L: Link + ?Sized> Link for Box<L> {
    fn rank(&self) -> usize {
        (**self).rank()
    }

    fn ranks(&self) -> usize {
        (**self).ranks()
    }

    fn send(&mut self, to: usize, packet: Vec<u8>) -> Result<(), ClusterError> {
        (**self).send(to, packet)
    }

    fn poll(&mut self) -> Result<Option<(usize, Vec<u8>)>, ClusterError> {
        (**self).poll()
    }

    fn wait(&mut self, idle: u32, most: Duration) {
        (**self).wait(idle, most);
    }
}
