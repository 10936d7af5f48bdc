//! Packets over MPI.
//!
//! Sending does not block. A packet is kept until MPI reports that it has been sent. Receiving is done by polling,
//! because MPI cannot wake a thread. A waiting thread polls at growing intervals as long as no packet arrives.
//!
//! MPI calls return errors instead of ending the program. The errors depend on the network: the end of a process is
//! noticed over TCP, but not in shared memory.

use anyhow::bail;
use kosumi_cluster::{ClusterError, Link};
use mpi::ffi;
use std::collections::VecDeque;
use std::fmt;
use std::os::raw::c_int;
use std::thread;
use std::time::{Duration, Instant};

/// Packet that MPI is sending, and the request that reports its completion.
struct Sending {
    request: ffi::MPI_Request,
    packet: Vec<u8>,
}

/// Packet that is being received. A large packet arrives in parts, and never completely if its sender dies.
struct Receiving {
    from: usize,
    request: ffi::MPI_Request,
    packet: Vec<u8>,
    is_complete: bool,
}

/// Link of one rank to all others. A process has one link.
pub(super) struct MpiLink {
    rank: usize,
    ranks: usize,
    /// Packets of this rank to itself.
    own: VecDeque<Vec<u8>>,
    sending: Vec<Sending>,
    /// Packets that are being received, in the order of their arrival.
    receiving: Vec<Receiving>,
}

// SAFETY: MPI's handles (requests) belong to the process, not to a thread. The library was initialised with
// `MPI_THREAD_SERIALIZED` at least: any thread may call it, one at a time. All calls but those of `World`, which begins
// before the link and ends after it, are made through `&mut` or owned access to the one link.
unsafe impl Send for MpiLink {}

impl fmt::Debug for MpiLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MpiLink(rank {} of {})", self.rank, self.ranks)
    }
}

/// Tag of all packets.
const TAG: c_int = 0;
/// Shortest and longest waits between polls. A poll costs about 10 µs including the wake-up, so polling at the longest
/// wait takes half a per cent of a core.
const SHORTEST_WAIT: Duration = Duration::from_micros(20);
const MAX_WAIT: Duration = Duration::from_millis(5);
/// Number of polls without a packet after which the wait doubles.
const POLLS_PER_DOUBLING: u32 = 16;
/// Maximum time for outgoing packets when the link is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

impl MpiLink {
    /// Opens the link of this process. MPI must be initialised.
    pub(super) fn open() -> anyhow::Result<MpiLink> {
        let (mut rank, mut ranks) = (0, 0);
        // SAFETY: MPI is initialised, and the numbers live as long as the calls.
        let codes = unsafe {
            let world = ffi::RSMPI_COMM_WORLD;
            [
                ffi::MPI_Comm_set_errhandler(world, ffi::RSMPI_ERRORS_RETURN),
                ffi::MPI_Comm_rank(world, &mut rank),
                ffi::MPI_Comm_size(world, &mut ranks),
            ]
        };
        if codes.iter().any(|&code| code != 0) {
            bail!("MPI cannot report the rank of this process");
        }
        let (rank, ranks) = (usize::try_from(rank)?, usize::try_from(ranks)?);
        Ok(MpiLink { rank, ranks, own: VecDeque::new(), sending: Vec::new(), receiving: Vec::new() })
    }

    /// Returns the next complete packet. Packets of one sender are returned in their order.
    fn received(&mut self) -> Option<(usize, Vec<u8>)> {
        let mut index = 0;
        while index < self.receiving.len() {
            let (before, rest) = self.receiving.split_at_mut(index);
            let next = &mut rest[0];
            if !next.is_complete {
                let mut is_complete = 0;
                // SAFETY: the request is one that `poll` has begun and that has not been completed.
                let code =
                    unsafe { ffi::MPI_Test(&mut next.request, &mut is_complete, ffi::RSMPI_STATUS_IGNORE) };
                if code != 0 {
                    // The packet never completes, because its sender is lost. MPI may still write to the buffer, so it
                    // is leaked.
                    std::mem::forget(self.receiving.remove(index).packet);
                    continue;
                }
                next.is_complete = is_complete != 0;
            }
            if next.is_complete && before.iter().all(|earlier| earlier.from != next.from) {
                let Receiving { from, packet, .. } = self.receiving.remove(index);
                return Some((from, packet));
            }
            index += 1;
        }
        None
    }

    /// Removes packets that have been sent.
    fn remove_sent(&mut self) {
        self.sending.retain_mut(|sending| {
            let mut has_left = 0;
            // SAFETY: the request is one that `send` has begun and that has not been completed, or else it would not be
            // in the list.
            let code =
                unsafe { ffi::MPI_Test(&mut sending.request, &mut has_left, ffi::RSMPI_STATUS_IGNORE) };
            if code != 0 {
                // The receiver is lost. MPI may still read from the buffer, so it is leaked.
                std::mem::forget(std::mem::take(&mut sending.packet));
                return false;
            }
            has_left == 0
        });
    }
}

/// Makes the launcher end all ranks.
pub(super) fn abort(code: c_int) {
    // SAFETY: MPI is initialised and has not been finalised, since `World` still has its universe.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code) };
}

/// Converts the return code of an MPI call.
fn check(code: c_int, what: &str) -> Result<(), ClusterError> {
    if code == 0 { Ok(()) } else { Err(ClusterError::Network(format!("{what}: MPI error {code}"))) }
}

impl Link for MpiLink {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn send(&mut self, to: usize, packet: Vec<u8>) -> Result<(), ClusterError> {
        if to == self.rank {
            self.own.push_back(packet);
            return Ok(());
        }
        self.remove_sent();
        let too_long = |_| ClusterError::Network(format!("a packet of {} bytes", packet.len()));
        let count = c_int::try_from(packet.len()).map_err(too_long)?;
        let receiver = c_int::try_from(to).map_err(|_| ClusterError::Lost(to))?;
        // SAFETY: the packet is kept in `sending`, where it is neither changed nor freed (a `Vec` that is moved keeps its
        // bytes where they are) until the request is complete.
        let (code, request) = unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let code = ffi::MPI_Isend(
                packet.as_ptr().cast(),
                count,
                ffi::RSMPI_UINT8_T,
                receiver,
                TAG,
                ffi::RSMPI_COMM_WORLD,
                &mut request,
            );
            (code, request)
        };
        if code != 0 {
            // MPI may still read from the buffer, so it is leaked.
            std::mem::forget(packet);
            return Err(ClusterError::Lost(to));
        }
        self.sending.push(Sending { request, packet });
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<(usize, Vec<u8>)>, ClusterError> {
        if let Some(packet) = self.own.pop_front() {
            return Ok(Some((self.rank, packet)));
        }
        if !self.sending.is_empty() {
            self.remove_sent();
        }
        if let Some(packet) = self.received() {
            return Ok(Some(packet));
        }
        let mut has_come = 0;
        let mut status = std::mem::MaybeUninit::<ffi::MPI_Status>::zeroed();
        // SAFETY: flag and status live as long as the call.
        let code = unsafe {
            ffi::MPI_Iprobe(
                ffi::RSMPI_ANY_SOURCE,
                TAG,
                ffi::RSMPI_COMM_WORLD,
                &mut has_come,
                status.as_mut_ptr(),
            )
        };
        check(code, "probing for a packet")?;
        if has_come == 0 {
            return Ok(None);
        }
        // SAFETY: MPI has written the status, since a packet has arrived. All zeros are a valid status, too.
        let status = unsafe { status.assume_init() };
        let mut count = 0;
        // SAFETY: the status belongs to a packet, and the number lives as long as the call.
        let code = unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut count) };
        check(code, "measuring a packet")?;
        let mut packet = vec![0u8; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the packet has `count` bytes and is kept in `receiving`, untouched, until the request is complete. It
        // is the probed packet: no other thread receives, and packets of one sender are matched in order.
        let (code, request) = unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let code = ffi::MPI_Irecv(
                packet.as_mut_ptr().cast(),
                count,
                ffi::RSMPI_UINT8_T,
                status.MPI_SOURCE,
                TAG,
                ffi::RSMPI_COMM_WORLD,
                &mut request,
            );
            (code, request)
        };
        check(code, "receiving a packet")?;
        let from = usize::try_from(status.MPI_SOURCE).unwrap_or(usize::MAX);
        self.receiving.push(Receiving { from, request, packet, is_complete: false });
        Ok(self.received())
    }

    fn wait(&mut self, idle: u32, most: Duration) {
        let wait = SHORTEST_WAIT * (1 << (idle / POLLS_PER_DOUBLING).min(8));
        thread::park_timeout(wait.min(MAX_WAIT).min(most));
    }
}

impl Drop for MpiLink {
    fn drop(&mut self) {
        let start = Instant::now();
        self.remove_sent();
        while !self.sending.is_empty() && start.elapsed() < CLOSE_TIMEOUT {
            thread::park_timeout(SHORTEST_WAIT);
            self.remove_sent();
        }
        // MPI may still write to packets that are being received and read from those that are being sent, so they are
        // leaked.
        std::mem::take(&mut self.receiving).into_iter().for_each(|it| std::mem::forget(it.packet));
        std::mem::take(&mut self.sending).into_iter().for_each(|sending| std::mem::forget(sending.packet));
    }
}
