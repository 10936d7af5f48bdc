//! Thread that gathers positions into batches and keeps a card busy.

use crate::GpuError;
use crate::card::Card;
use crate::compiled::{Compiled, Flight, IN_FLIGHT, Settings};
use kosumi_net::plan::Plan;
use kosumi_net::{Device, Input, Network, Output};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Number of points of a usual board, for the memory of a batch.
const USUAL_POINTS: usize = 361;

/// Time between two looks at a card while positions are gathered. It is short against the time of a batch.
const PAUSE: Duration = Duration::from_micros(100);

/// Number of search threads for a card, which is two full batches of moderate size. No card has been measured.
const THREADS: usize = 64;

/// Number of search threads for a software driver.
const THREADS_WITH_SOFTWARE: usize = 4;

/// Options of [`Gpu::start`].
pub struct GpuOptions {
    /// Whether numbers are stored in 16 bits, except in the heads. The card must be able to do that.
    pub half: bool,
    /// Largest number of positions of a batch, on boards of 19×19; at least 1. On smaller boards it is the same.
    pub batch: usize,
    /// Number of batches after which the card counts as lost, for tests.
    pub fail_after: Option<u64>,
    /// Function that is called once, with the reason, when the card fails.
    pub on_failure: Box<dyn Fn(&str) + Send>,
}

impl fmt::Debug for GpuOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuOptions")
            .field("half", &self.half)
            .field("batch", &self.batch)
            .field("fail_after", &self.fail_after)
            .finish_non_exhaustive()
    }
}

/// Position of a thread that waits for its output.
struct Request {
    input: Input,
    answer: SyncSender<Option<Output>>,
}

/// Network on a card, behind the thread that gathers batches for it.
pub struct Gpu {
    name: String,
    threads: usize,
    half: bool,
    requests: Mutex<Option<SyncSender<Vec<Request>>>>,
    shared: Arc<Shared>,
    server: Option<thread::JoinHandle<()>>,
}

/// Marks the card as failed if its thread panics.
struct FailedOnPanic(Arc<Shared>);

impl Drop for FailedOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.has_failed.store(true, Ordering::Release);
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    has_failed: AtomicBool,
    batches: AtomicU64,
    positions: AtomicU64,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu").field("name", &self.name).field("half", &self.half).finish_non_exhaustive()
    }
}

impl Gpu {
    /// Compiles a network for a card and starts the thread that gathers batches. `elapsed` returns the time since any
    /// fixed moment. With it, the blocks of the products are chosen, unless the card is a software driver.
    ///
    /// # Errors
    ///
    /// Returns an error if the card cannot be used for this network.
    pub fn start(
        card: &Card,
        network: &Network,
        options: GpuOptions,
        elapsed: &dyn Fn() -> Duration,
    ) -> Result<Gpu, GpuError> {
        let half = options.half && card.has_half();
        let positions = options.batch.max(1);
        // One board of the largest size always fits.
        let points = (positions * USUAL_POINTS).max(kosumi_net::plan::LARGEST_SIDE.pow(2));
        let connection = card.open(half)?;
        let settings = Settings { half, has_large_tiles: !card.is_software(), positions, points };
        let mut compiled = Compiled::new(connection, Plan::of(network), settings)?;
        if !card.is_software() {
            choose_tiles(&mut compiled, elapsed)?;
        }
        let (sender, receiver) = sync_channel(4 * positions);
        let shared = Arc::new(Shared::default());
        let server = Server {
            compiled,
            waiting: BTreeMap::new(),
            flights: VecDeque::new(),
            shared: Arc::clone(&shared),
            fail_after: options.fail_after,
        };
        let on_failure = options.on_failure;
        let for_thread = Arc::clone(&shared);
        let server = thread::Builder::new()
            .name("gpu".to_owned())
            .spawn(move || {
                let guard = FailedOnPanic(Arc::clone(&for_thread));
                if let Err(error) = server.serve(&receiver) {
                    for_thread.has_failed.store(true, Ordering::Release);
                    on_failure(&error.to_string());
                    // Those who wait get no answer, because their senders are dropped with the server and here.
                    drop(receiver);
                }
                drop(guard);
            })
            .map_err(|error| GpuError::Device(error.to_string()))?;
        let threads = if card.is_software() { THREADS_WITH_SOFTWARE } else { THREADS };
        Ok(Gpu {
            name: card.name().to_owned(),
            threads: threads.min(IN_FLIGHT * positions),
            half,
            requests: Mutex::new(Some(sender)),
            shared,
            server: Some(server),
        })
    }

    /// Returns whether numbers are stored in 16 bits.
    pub fn is_half(&self) -> bool {
        self.half
    }

    /// Returns the numbers of batches and of positions that the card has computed.
    pub fn batches_and_positions(&self) -> (u64, u64) {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        (read(&self.shared.batches), read(&self.shared.positions))
    }
}

impl Device for Gpu {
    fn evaluate(&self, inputs: &[&Input]) -> Vec<Option<Output>> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(requests) = requests.filter(|_| self.is_working()) else { return vec![None; inputs.len()] };
        let one = |&input: &&Input| {
            let (answer, receiver) = sync_channel(1);
            (Request { input: input.clone(), answer }, receiver)
        };
        let (asked, answers): (Vec<_>, Vec<_>) = inputs.iter().map(one).unzip();
        if requests.send(asked).is_err() {
            return vec![None; inputs.len()];
        }
        answers.into_iter().map(|receiver| receiver.recv().ok().flatten()).collect()
    }

    fn is_working(&self) -> bool {
        !self.shared.has_failed.load(Ordering::Acquire)
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The server ends when nobody can send it requests any more.
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(server) = self.server.take() {
            // A panic of the server has been printed, and the answers that it owed are missing already.
            let _ = server.join();
        }
    }
}

/// Times the blocks of the products with a batch of moderate size, and chooses those of smaller and larger batches.
fn choose_tiles(compiled: &mut Compiled, elapsed: &dyn Fn() -> Duration) -> Result<(), GpuError> {
    let input = Input::zero(19, 19);
    let count = compiled.most_positions(USUAL_POINTS).clamp(1, 8);
    let inputs = vec![&input; count];
    let mut time = |threshold| -> Result<Duration, GpuError> {
        compiled.use_large_tiles_from(threshold);
        let mut least = Duration::MAX;
        // The first batch includes preparations of the driver.
        for _ in 0..3 {
            let start = elapsed();
            let flight = compiled.start(&inputs)?;
            compiled.finish(flight)?;
            least = least.min(elapsed().saturating_sub(start));
        }
        Ok(least)
    };
    let (large, small) = (time(0)?, time(usize::MAX)?);
    let points = count * USUAL_POINTS;
    // Where the small blocks win, large ones may still win with much larger batches.
    compiled.use_large_tiles_from(if large < small { points } else { 4 * points });
    Ok(())
}

struct Server {
    compiled: Compiled,
    /// Positions that wait, by the size of the board.
    waiting: BTreeMap<(usize, usize), VecDeque<Request>>,
    /// Batches on the card, the oldest one first.
    flights: VecDeque<(Flight, Vec<Request>)>,
    shared: Arc<Shared>,
    fail_after: Option<u64>,
}

impl Server {
    /// Answers requests until nobody can send any more.
    fn serve(mut self, requests: &Receiver<Vec<Request>>) -> Result<(), GpuError> {
        let mut is_open = true;
        while is_open || !self.waiting.is_empty() || !self.flights.is_empty() {
            if is_open {
                is_open = self.gather(requests);
            }
            if self.flights.len() < IN_FLIGHT && self.is_worth_a_batch(is_open) {
                self.launch()?;
            } else if self.flights.len() == IN_FLIGHT || (!is_open && !self.flights.is_empty()) {
                self.land()?;
            } else if let Some((flight, _)) = self.flights.front()
                && self.compiled.is_finished(flight)?
            {
                self.land()?;
            }
        }
        Ok(())
    }

    /// Takes the requests that have come. Waits for one if nothing else is to be done, and for a moment if the card is
    /// at work. Returns whether more can come.
    fn gather(&mut self, requests: &Receiver<Vec<Request>>) -> bool {
        if self.flights.is_empty() && self.waiting.is_empty() {
            match requests.recv() {
                Ok(asked) => self.add(asked),
                Err(_) => return false,
            }
        } else if self.flights.len() == 1 && !self.is_worth_a_batch(true) {
            match requests.recv_timeout(PAUSE) {
                Ok(asked) => self.add(asked),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        while let Ok(asked) = requests.try_recv() {
            self.add(asked);
        }
        true
    }

    fn add(&mut self, asked: Vec<Request>) {
        for request in asked {
            let size = (request.input.width, request.input.height);
            self.waiting.entry(size).or_default().push_back(request);
        }
    }

    /// Returns the size of which most positions wait, and their number.
    fn longest(&self) -> Option<((usize, usize), usize)> {
        let each = self.waiting.iter().map(|(&size, requests)| (size, requests.len()));
        each.max_by_key(|&(_, count)| count)
    }

    /// Returns whether the positions that wait are worth a batch now. While the card computes another batch, a small
    /// one can wait: more positions come, and a card takes hardly longer for them.
    fn is_worth_a_batch(&self, more_can_come: bool) -> bool {
        let Some((_, count)) = self.longest() else { return false };
        match self.flights.front() {
            Some((_, positions)) if more_can_come => 2 * count >= positions.len(),
            _ => true,
        }
    }

    /// Starts a batch.
    fn launch(&mut self) -> Result<(), GpuError> {
        let Some((size, _)) = self.longest() else { return Ok(()) };
        if self.fail_after.is_some_and(|most| self.shared.batches.load(Ordering::Relaxed) >= most) {
            return Err(GpuError::Device("the card was to fail now".to_owned()));
        }
        let mut waiting = self.waiting.remove(&size).unwrap_or_default();
        let most = self.compiled.most_positions(size.0 * size.1);
        let rest = waiting.split_off(waiting.len().min(most));
        if !rest.is_empty() {
            self.waiting.insert(size, rest);
        }
        let batch: Vec<Request> = waiting.into();
        let inputs: Vec<&Input> = batch.iter().map(|request| &request.input).collect();
        let flight = self.compiled.start(&inputs)?;
        self.shared.batches.fetch_add(1, Ordering::Relaxed);
        self.shared.positions.fetch_add(batch.len() as u64, Ordering::Relaxed);
        self.flights.push_back((flight, batch));
        Ok(())
    }

    /// Waits for the oldest batch and sends its outputs.
    fn land(&mut self) -> Result<(), GpuError> {
        let Some((flight, batch)) = self.flights.pop_front() else { return Ok(()) };
        let outputs = self.compiled.finish(flight)?;
        for (request, output) in batch.into_iter().zip(outputs) {
            // The thread that asked may have ended.
            let _ = request.answer.send(output);
        }
        Ok(())
    }
}
