//! What ranks talk through.

use super::wire::Malformed;
use std::thread;
use std::time::Duration;

/// Why a search over ranks cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ClusterError {
    /// A rank that was written to, or waited for, is not there any more.
    #[error("rank {0} does not answer")]
    Lost(usize),
    /// Some rank is not there any more.
    #[error("a rank does not answer")]
    Silent,
    /// A rank cannot go on.
    #[error("rank {0} gives up: {1}")]
    Failed(usize, String),
    /// Rank 0 has given the search up, since it has lost a rank.
    #[error("rank 0 has given the search up")]
    GivenUp,
    /// The network under the link.
    #[error("the network: {0}")]
    Network(String),
    /// What came makes no sense.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The position that was sent is not the one that was meant.
    #[error("a rank has another position than rank 0: the ranks are not of one version")]
    OtherPosition,
}

/// One rank's end of a network: packets to and from ranks of the same program, which number from 0.
///
/// Packets from one rank to another arrive once, and in the order in which they were sent. There are no barriers: nobody
/// waits for anybody but by waiting for a packet.
pub trait Link {
    /// This rank's number.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn ranks(&self) -> usize;

    /// Sends a packet; does not wait until it has arrived. A packet to oneself arrives like any other.
    ///
    /// # Errors
    /// If the rank is known to be gone, or the network does not work.
    fn send(&mut self, to: usize, packet: Vec<u8>) -> Result<(), ClusterError>;

    /// The next packet and who sent it, if one has arrived.
    ///
    /// # Errors
    /// If the network does not work.
    fn poll(&mut self) -> Result<Option<(usize, Vec<u8>)>, ClusterError>;

    /// Waits until a packet may have arrived, until somebody unparks this thread, or for a short time of the link's choice
    /// that is at most `most`. `idle` is how often it has been asked in a row.
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
