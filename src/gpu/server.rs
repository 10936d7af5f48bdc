//! Thread that gathers positions into batches and keeps a card busy.

use crate::GpuError;
use crate::cache::Cache;
use crate::card::Card;
use crate::compiled::{Compiled, IN_FLIGHT, SubmittedBatch};
use crate::pace::{Pace, USUAL_POINTS};
use crate::program::{Settings, TileChoice};
use crate::waiting::Waiting;
use kosumi_net::plan::Plan;
use kosumi_net::{Device, Input, Network, Output};
use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Time between two polls of a card while positions are gathered. It is short compared with the time of a batch.
const PAUSE: Duration = Duration::from_micros(100);

/// Number of search threads for a card, which is two full batches of moderate size. No card has been measured.
const THREADS: usize = 64;

/// Number of search threads for a software driver.
const THREADS_WITH_SOFTWARE: usize = 4;

/// Least number of positions before it is judged whether too many do not fit into 16 bits.
const ENOUGH_POSITIONS: u64 = 1000;

/// Largest share of positions that do not fit into 16 bits, in percent, that is not worth a note.
const FEW_PERCENT: u64 = 1;

/// Function that returns the time since any fixed moment.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Function that passes a line of text to the user.
pub type Report = Box<dyn Fn(&str) + Send>;

/// Options of [`Gpu::start`].
pub struct GpuOptions {
    /// Whether numbers are stored in 16 bits, except in the heads, if the card and the network permit that.
    pub half: bool,
    /// Whether matrix units are used, if the card has some that are faster.
    pub matrix_units: bool,
    /// Largest number of positions of a batch, on boards of 19×19 and on smaller ones; at least 1.
    pub batch: usize,
    /// Folder for compiled shaders and measurements. Without one, they are not kept.
    pub cache: Option<PathBuf>,
    /// Function that is called once, with the reason, when the card fails.
    pub on_failure: Report,
    /// Function that is called with a note about something that makes evaluations slow.
    pub on_note: Report,
    /// Fault of the card, for tests.
    pub fault: Option<Fault>,
}

/// Fault of a card, for tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// After this number of batches, the card reports an error.
    Fails(u64),
    /// After this number of batches, the thread that keeps the card busy panics.
    Panics(u64),
    /// After this number of batches, the driver no longer returns. Callers allow a batch this time.
    Hangs(u64, Duration),
    /// The card computes wrong numbers.
    IsWrong,
}

impl fmt::Debug for GpuOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuOptions")
            .field("half", &self.half)
            .field("matrix_units", &self.matrix_units)
            .field("batch", &self.batch)
            .field("cache", &self.cache)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

/// Position of a thread that waits for its output.
struct Request {
    input: Input,
    answer: SyncSender<Option<Output>>,
    /// Number of batches that had started when the position came.
    came_at: u64,
}

/// Network on a card, behind the thread that gathers batches for it.
pub struct Gpu {
    name: String,
    threads: usize,
    at_once: usize,
    half: bool,
    uses_matrix_units: bool,
    requests: Mutex<Option<Sender<Vec<Request>>>>,
    shared: Arc<Shared>,
    server: Option<thread::JoinHandle<()>>,
}

/// State that the thread of a card shares with its callers.
struct Shared {
    has_failed: AtomicBool,
    on_failure: Mutex<Option<Report>>,
    batches: AtomicU64,
    positions: AtomicU64,
    /// Number of positions whose numbers do not fit into 16 bits or are not finite.
    overflows: AtomicU64,
    /// Number of batches that are finished.
    finished: AtomicU64,
    /// Time after which the latest batch counts as lost, in milliseconds.
    patience: AtomicU64,
}

impl Shared {
    /// Marks the card as failed, and reports the reason if it is the first one.
    fn fail(&self, reason: &str) {
        let mut on_failure = self.on_failure.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(report) = on_failure.take() {
            report(reason);
        }
        self.has_failed.store(true, Ordering::Release);
    }

    /// Sets the time that a batch may take.
    fn be_patient_for(&self, time: Duration, fault: Option<Fault>) {
        let time = if let Some(Fault::Hangs(_, time)) = fault { time } else { time };
        self.patience.store(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns the time after which a caller whose position does not come back checks whether the card still works.
    fn patience(&self) -> Duration {
        // The position may wait for a batch before its own.
        Duration::from_millis(self.patience.load(Ordering::Relaxed)) * (IN_FLIGHT as u32 + 1)
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu").field("name", &self.name).field("half", &self.half).finish_non_exhaustive()
    }
}

impl Gpu {
    /// Compiles a network for a card and starts the thread that gathers batches. `elapsed` measures how long batches
    /// take, which decides when a card counts as lost. It also serves to choose the blocks of the products, unless the
    /// card is a software driver.
    ///
    /// # Errors
    ///
    /// Returns an error if the card cannot be used for this network.
    pub fn start(
        card: &Card,
        network: &Network,
        options: GpuOptions,
        elapsed: Clock,
    ) -> Result<Gpu, GpuError> {
        let plan = Plan::of(network);
        let half = options.half && card.has_half() && plan.fits_half();
        let positions = options.batch.max(1);
        // One board of the largest size always fits.
        let points = (positions * USUAL_POINTS).max(kosumi_net::plan::LARGEST_SIDE.pow(2));
        let cache = options.cache.map(|folder| Cache::new(folder, card.key()));
        let mut settings = Settings {
            half,
            has_large_tiles: !card.is_software(),
            matrix_units: card.matrix_units().filter(|_| options.matrix_units && half && !card.is_software()),
            positions,
            points,
        };
        let compile = |settings: Settings| {
            let connection = card.open(half, settings.matrix_units.is_some(), cache.as_ref())?;
            Compiled::new(connection, plan.clone(), settings)
        };
        let mut compiled = match compile(settings) {
            // Matrix units are an experimental feature of wgpu, and the network can also be computed without them.
            Err(_) if settings.matrix_units.is_some() => {
                settings.matrix_units = None;
                compile(settings)?
            }
            compiled => compiled?,
        };
        if let Some(cache) = &cache {
            compiled.keep_shaders(cache);
        }
        let shared = Arc::new(Shared {
            has_failed: AtomicBool::new(false),
            on_failure: Mutex::new(Some(options.on_failure)),
            batches: AtomicU64::new(0),
            positions: AtomicU64::new(0),
            overflows: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            patience: AtomicU64::new(0),
        });
        let mut pace = Pace::new(card.is_software());
        shared.be_patient_for(pace.most, options.fault);
        if !card.is_software() {
            choose_tiles(&mut compiled, &elapsed, &mut pace, cache.as_ref())?;
        }
        // Every caller waits for its answers, so the queue needs no limit, at which a caller could wait for ever.
        let (sender, receiver) = channel();
        let mut server = Server {
            compiled,
            waiting: Waiting::default(),
            in_flight: VecDeque::new(),
            shared: Arc::clone(&shared),
            pace,
            elapsed,
            on_note: Some(options.on_note),
            fault: options.fault,
        };
        let uses_matrix_units = server.compiled.tiles().uses_matrix_units;
        let server = thread::Builder::new()
            .name("gpu".to_owned())
            .spawn(move || {
                let reason = match catch_unwind(AssertUnwindSafe(|| server.serve(&receiver))) {
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => error.to_string(),
                    Err(_) => "the thread that keeps the card busy has panicked".to_owned(),
                };
                server.shared.fail(&reason);
                // Callers that wait get no answer, because the senders of their answers are dropped.
                let Server { compiled, waiting, in_flight, .. } = server;
                drop((receiver, waiting, in_flight));
                // The destructors wait for the card, which may never answer, and do not expect errors.
                mem::forget(compiled);
            })
            .map_err(|error| GpuError::Device(error.to_string()))?;
        let at_once = IN_FLIGHT * positions;
        let threads = if card.is_software() { THREADS_WITH_SOFTWARE } else { THREADS };
        Ok(Gpu {
            name: card.title(),
            threads: threads.min(at_once),
            at_once,
            half,
            uses_matrix_units,
            requests: Mutex::new(Some(sender)),
            shared,
            server: Some(server),
        })
    }

    /// Returns whether numbers are stored in 16 bits.
    pub fn is_half(&self) -> bool {
        self.half
    }

    /// Returns whether matrix units compute the products outside of the heads.
    pub fn uses_matrix_units(&self) -> bool {
        self.uses_matrix_units
    }

    /// Returns the numbers of batches and of positions that the card has computed.
    pub fn batches_and_positions(&self) -> (u64, u64) {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        (read(&self.shared.batches), read(&self.shared.positions))
    }

    /// Waits for an output. A card that returns nothing for too long counts as lost, even if the driver does not return
    /// to the thread that keeps it busy.
    fn answer(&self, receiver: &Receiver<Option<Output>>) -> Option<Output> {
        loop {
            let finished = self.shared.finished.load(Ordering::Relaxed);
            match receiver.recv_timeout(self.shared.patience()) {
                Ok(output) => return output,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    if !self.is_working() {
                        return None;
                    }
                    if self.shared.finished.load(Ordering::Relaxed) == finished {
                        self.shared.fail("the driver does not return");
                        return None;
                    }
                }
            }
        }
    }
}

impl Device for Gpu {
    fn evaluate(&self, inputs: &[&Input]) -> Vec<Option<Output>> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(requests) = requests.filter(|_| self.is_working()) else { return vec![None; inputs.len()] };
        let came_at = self.shared.batches.load(Ordering::Relaxed);
        let one = |&input: &&Input| {
            let (answer, receiver) = sync_channel(1);
            (Request { input: input.clone(), answer, came_at }, receiver)
        };
        let (asked, answers): (Vec<_>, Vec<_>) = inputs.iter().map(one).unzip();
        if requests.send(asked).is_err() {
            return vec![None; inputs.len()];
        }
        answers.iter().map(|receiver| self.answer(receiver)).collect()
    }

    fn is_working(&self) -> bool {
        !self.shared.has_failed.load(Ordering::Acquire)
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn at_once(&self) -> usize {
        self.at_once
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The server ends when no caller can send it requests any more.
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner) = None;
        // After a failure the driver may never return.
        if self.is_working()
            && let Some(server) = self.server.take()
        {
            // A panic has been reported.
            let _ = server.join();
        }
    }
}

/// Times the blocks of the products with a batch of moderate size, and chooses those of smaller and larger batches. If
/// an earlier run has stored the choice, nothing is timed.
fn choose_tiles(
    compiled: &mut Compiled,
    elapsed: &Clock,
    pace: &mut Pace,
    cache: Option<&Cache>,
) -> Result<(), GpuError> {
    let shape = compiled.shape();
    if let Some(tiles) = cache.and_then(|cache| cache.tiles(shape)) {
        compiled.use_tiles(tiles);
        return Ok(());
    }
    let input = striped(19);
    let count = compiled.max_positions(USUAL_POINTS).clamp(1, 8);
    let inputs = vec![&input; count];
    let points = count * USUAL_POINTS;
    let mut time = |compiled: &mut Compiled, large_from, uses_matrix_units| {
        compiled.use_tiles(TileChoice { large_from, uses_matrix_units });
        time_of_batch(compiled, &inputs, elapsed, pace)
    };
    let (large, _) = time(compiled, 0, false)?;
    let (small, outputs) = time(compiled, usize::MAX, false)?;
    // Where the small blocks win, large ones may still win with much larger batches.
    let mut tiles =
        TileChoice { large_from: if large < small { points } else { 4 * points }, uses_matrix_units: false };
    if compiled.has_matrix_units() {
        let (by_units, found) = time(compiled, usize::MAX, true)?;
        tiles.uses_matrix_units = by_units < large.min(small) && are_close(&found, &outputs);
    }
    compiled.use_tiles(tiles);
    if let Some(cache) = cache {
        cache.keep_tiles(shape, tiles);
    }
    Ok(())
}

/// Returns the shortest of three times of a batch, and its outputs.
fn time_of_batch(
    compiled: &mut Compiled,
    inputs: &[&Input],
    elapsed: &Clock,
    pace: &mut Pace,
) -> Result<(Duration, Vec<Option<Output>>), GpuError> {
    let points = inputs.iter().map(|input| input.width * input.height).sum();
    let (mut least, mut outputs) = (Duration::MAX, Vec::new());
    // The first batch includes preparations of the driver.
    for _ in 0..3 {
        let start = elapsed();
        let batch = compiled.start(inputs)?;
        outputs = compiled.finish(&batch, pace.patience(points))?;
        let time = elapsed().saturating_sub(start);
        pace.add(points, time);
        least = least.min(time);
    }
    Ok((least, outputs))
}

/// Returns a position for comparisons, in which neighbouring points differ.
pub(crate) fn striped(side: usize) -> Input {
    let mut input = Input::zero(side, side);
    for (index, number) in input.spatial.iter_mut().enumerate() {
        *number = f32::from(u8::from(index % 7 < 2));
    }
    input
}

/// Returns whether two sets of outputs differ by no more than the order of additions explains.
fn are_close(found: &[Option<Output>], expected: &[Option<Output>]) -> bool {
    let is_close = |found: &f32, expected: &f32| (found - expected).abs() <= 0.02 * expected.abs().max(1.0);
    found.iter().zip(expected).all(|both| match both {
        (Some(found), Some(expected)) => {
            let of = |it: &Output| [&it.policy[..], &it.ownership, &it.value, &[it.pass, it.lead]].concat();
            of(found).iter().zip(&of(expected)).all(|(found, expected)| is_close(found, expected))
        }
        (None, None) => true,
        _ => false,
    })
}

/// Batch on the card.
struct InFlight {
    batch: SubmittedBatch,
    requests: Vec<Request>,
    points: usize,
    start: Duration,
}

struct Server {
    compiled: Compiled,
    waiting: Waiting<Request>,
    /// Batches on the card, the oldest one first.
    in_flight: VecDeque<InFlight>,
    shared: Arc<Shared>,
    pace: Pace,
    elapsed: Clock,
    /// Function for a note about overflows, until it has been called.
    on_note: Option<Report>,
    fault: Option<Fault>,
}

impl Server {
    /// Answers requests until no caller can send any more.
    fn serve(&mut self, requests: &Receiver<Vec<Request>>) -> Result<(), GpuError> {
        let mut is_open = true;
        while is_open || !self.waiting.is_empty() || !self.in_flight.is_empty() {
            if is_open {
                is_open = self.gather(requests);
            }
            if self.in_flight.len() < IN_FLIGHT && self.is_worth_a_batch(is_open) {
                self.start_batch()?;
            } else if self.in_flight.len() == IN_FLIGHT || (!is_open && !self.in_flight.is_empty()) {
                self.finish_oldest()?;
            } else if let Some(oldest) = self.in_flight.front()
                && self.compiled.is_finished(&oldest.batch)?
            {
                self.finish_oldest()?;
            } else if let Some(oldest) = self.in_flight.front()
                && (self.elapsed)().saturating_sub(oldest.start) > self.pace.patience(oldest.points)
            {
                // No request can come any more, so this waits for the batch and detects whether it is late.
                self.finish_oldest()?;
            }
        }
        Ok(())
    }

    /// Takes the requests that have come. Waits for one if nothing else is to be done, and for a moment if the card is
    /// at work. Returns whether more can come.
    fn gather(&mut self, requests: &Receiver<Vec<Request>>) -> bool {
        if self.in_flight.is_empty() && self.waiting.is_empty() {
            match requests.recv() {
                Ok(asked) => self.add(asked),
                Err(_) => return false,
            }
        } else if self.in_flight.len() == 1 && !self.is_worth_a_batch(true) {
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
            self.waiting.add(size, request.came_at, request);
        }
    }

    /// Returns the size of the boards of the next batch, and the number of positions that wait with it.
    fn next(&self) -> Option<((usize, usize), usize)> {
        self.waiting.next(self.shared.batches.load(Ordering::Relaxed))
    }

    /// Returns whether the positions that wait are worth a batch now.
    fn is_worth_a_batch(&self, more_can_come: bool) -> bool {
        let Some((_, count)) = self.next() else { return false };
        let in_flight = self.in_flight.front().filter(|_| more_can_come);
        Waiting::<Request>::is_worth_a_batch(count, in_flight.map(|oldest| oldest.requests.len()))
    }

    /// Behaves as the fault demands, if it is time for it.
    fn simulate_fault(&self) -> Result<(), GpuError> {
        let started = self.shared.batches.load(Ordering::Relaxed);
        match self.fault {
            Some(Fault::Fails(after)) if started >= after => {
                Err(GpuError::Device("a fault of the card is simulated".to_owned()))
            }
            Some(Fault::Panics(after)) if started >= after => panic!("a panic is simulated"),
            Some(Fault::Hangs(after, _)) if started >= after => {
                // The sender is kept, so nothing ever comes.
                let (sender, never) = sync_channel::<()>(0);
                let _ = never.recv();
                drop(sender);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Starts a batch.
    fn start_batch(&mut self) -> Result<(), GpuError> {
        let Some((size, _)) = self.next() else { return Ok(()) };
        self.simulate_fault()?;
        let most = self.compiled.max_positions(size.0 * size.1);
        let requests = self.waiting.take(size, most);
        let inputs: Vec<&Input> = requests.iter().map(|request| &request.input).collect();
        let points = inputs.len() * size.0 * size.1;
        let longest = self.in_flight.iter().map(|batch| batch.points).fold(points, usize::max);
        self.shared.be_patient_for(self.pace.patience(longest), self.fault);
        let start = (self.elapsed)();
        let batch = self.compiled.start(&inputs)?;
        self.shared.batches.fetch_add(1, Ordering::Relaxed);
        self.shared.positions.fetch_add(requests.len() as u64, Ordering::Relaxed);
        self.in_flight.push_back(InFlight { batch, requests, points, start });
        Ok(())
    }

    /// Waits for the oldest batch and sends its outputs.
    fn finish_oldest(&mut self) -> Result<(), GpuError> {
        let Some(InFlight { batch, requests, points, start }) = self.in_flight.pop_front() else {
            return Ok(());
        };
        let outputs = match self.compiled.finish(&batch, self.pace.patience(points)) {
            Ok(outputs) => outputs,
            Err(error) => {
                // The callers must not learn of the failure before it is marked, when their answers are dropped.
                self.in_flight.push_front(InFlight { batch, requests, points, start });
                return Err(error);
            }
        };
        self.pace.add(points, (self.elapsed)().saturating_sub(start));
        self.shared.finished.fetch_add(1, Ordering::Relaxed);
        let overflows = outputs.iter().filter(|output| output.is_none()).count();
        self.note_overflows(overflows as u64);
        for (request, mut output) in requests.into_iter().zip(outputs) {
            if let (Some(Fault::IsWrong), Some(output)) = (self.fault, &mut output) {
                output.value.rotate_left(1);
                output.lead += 100.0;
            }
            // The thread that submitted the position may have ended.
            let _ = request.answer.send(output);
        }
        Ok(())
    }

    /// Counts positions that the processor has to evaluate, and writes a note once if there are many.
    fn note_overflows(&mut self, count: u64) {
        let overflows = self.shared.overflows.fetch_add(count, Ordering::Relaxed) + count;
        let positions = self.shared.positions.load(Ordering::Relaxed);
        if positions >= ENOUGH_POSITIONS
            && overflows * 100 > positions * FEW_PERCENT
            && let Some(on_note) = self.on_note.take()
        {
            on_note(&format!(
                "{overflows} of {positions} positions have numbers that do not fit into 16 bits, and are evaluated \
                 again by the processor: --precision f32 may be faster"
            ));
        }
    }
}
