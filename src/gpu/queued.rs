//! Device that is driven from outside: search threads append positions to a queue and wait, and a driver takes batches
//! and returns their outputs. In a browser, the driver is a worker with WebGPU, which may never answer.

use crate::pace::Pace;
use crate::program::Settings;
use crate::waiting::Waiting;
use kosumi_net::{Device, Input, Output};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of batches that may be on the device at a time.
const IN_FLIGHT: usize = 2;

/// Function that makes the driver look for positions.
pub type NotifyDriver = fn();

/// Properties of a [`QueuedDevice`].
#[derive(Clone, Debug)]
pub struct QueuedOptions {
    /// Name for display.
    pub name: String,
    /// Number of search threads.
    pub threads: usize,
    /// Limits of a batch.
    pub settings: Settings,
    /// Whether the processor only imitates a card, so that it is slow.
    pub is_software: bool,
    /// Function that makes the driver look for positions.
    pub notify_driver: NotifyDriver,
}

/// Device that is driven from outside.
pub struct QueuedDevice {
    options: QueuedOptions,
    state: Mutex<State>,
    /// Signalled when outputs have come and when the device has failed.
    changed: Condvar,
}

/// Batch for the device.
#[derive(Clone, PartialEq, Debug)]
pub struct QueuedBatch {
    /// Number of the batch.
    pub number: u64,
    /// Positions, on boards of the same size.
    pub inputs: Vec<Input>,
}

#[derive(Debug)]
struct State {
    waiting: Waiting<(u64, Input)>,
    /// Batches that have been taken, the oldest one first: the number and the positions of each, and its points.
    in_flight: Vec<(u64, Vec<u64>, usize)>,
    /// Outputs that no thread has fetched.
    answers: HashMap<u64, Option<Output>>,
    /// Number of the latest position.
    positions: u64,
    /// Number of batches that have been taken.
    batches: u64,
    /// Number of batches that have been answered.
    finished: u64,
    pace: Pace,
    /// Reason why the device has failed.
    failure: Option<String>,
}

impl fmt::Debug for QueuedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueuedDevice").field("options", &self.options).finish_non_exhaustive()
    }
}

impl State {
    /// Returns the time after which a thread whose position does not come back checks whether the device still works.
    fn patience(&self) -> Duration {
        let points = self.in_flight.iter().map(|&(.., points)| points).max().unwrap_or_default();
        // The position may wait for a batch before its own.
        self.pace.patience(points) * (IN_FLIGHT as u32 + 1)
    }
}

impl QueuedDevice {
    /// Sets up a device.
    pub fn new(options: QueuedOptions) -> QueuedDevice {
        let state = State {
            waiting: Waiting::default(),
            in_flight: Vec::new(),
            answers: HashMap::new(),
            positions: 0,
            batches: 0,
            finished: 0,
            pace: Pace::new(options.is_software),
            failure: None,
        };
        QueuedDevice { options, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the positions of the next batch, if they are worth one now and the device has fewer than two batches.
    pub fn take(&self) -> Option<QueuedBatch> {
        let mut state = self.lock();
        if state.failure.is_some() || state.in_flight.len() >= IN_FLIGHT {
            return None;
        }
        let (size, count) = state.waiting.next(state.batches)?;
        let in_flight = state.in_flight.first().map(|(_, positions, _)| positions.len());
        if !Waiting::<(u64, Input)>::is_worth_a_batch(count, in_flight) {
            return None;
        }
        let area = size.0 * size.1;
        let taken = state.waiting.take(size, self.options.settings.max_positions(area));
        let (positions, inputs): (Vec<u64>, Vec<Input>) = taken.into_iter().unzip();
        state.batches += 1;
        let number = state.batches;
        state.in_flight.push((number, positions, inputs.len() * area));
        Some(QueuedBatch { number, inputs })
    }

    /// Returns the outputs of a batch, which took `time`, to the threads that wait. Unless there is one output for each
    /// position, the device counts as failed.
    pub fn answer(&self, number: u64, outputs: Vec<Option<Output>>, time: Duration) {
        let mut state = self.lock();
        let Some(at) = state.in_flight.iter().position(|batch| batch.0 == number) else { return };
        let (_, positions, points) = state.in_flight.remove(at);
        if positions.len() != outputs.len() {
            drop(state);
            self.fail("a batch has another number of outputs than of positions");
            return;
        }
        state.pace.add(points, time);
        state.finished += 1;
        if state.failure.is_none() {
            state.answers.extend(positions.into_iter().zip(outputs));
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Records the time of a batch of `points` points that did not come from the queue.
    pub fn add_time(&self, points: usize, time: Duration) {
        self.lock().pace.add(points, time);
    }

    /// Marks the device as failed. The threads that wait evaluate on the processor.
    pub fn fail(&self, reason: &str) {
        let mut state = self.lock();
        state.failure.get_or_insert_with(|| reason.to_owned());
        state.answers.clear();
        drop(state);
        self.changed.notify_all();
    }

    /// Returns the reason why the device has failed, if it has.
    pub fn failure(&self) -> Option<String> {
        self.lock().failure.clone()
    }

    /// Returns the numbers of batches and of positions that the device has been given.
    pub fn batches_and_positions(&self) -> (u64, u64) {
        let state = self.lock();
        (state.batches, state.positions)
    }

    /// Waits for an output.
    fn wait(&self, position: u64) -> Option<Output> {
        let mut state = self.lock();
        loop {
            if state.failure.is_some() {
                return None;
            }
            if let Some(output) = state.answers.remove(&position) {
                return output;
            }
            let (finished, patience) = (state.finished, state.patience());
            let (guard, result) =
                self.changed.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner);
            state = guard;
            if result.timed_out() && state.finished == finished && !state.answers.contains_key(&position) {
                drop(state);
                self.fail("the graphics card does not answer");
                return None;
            }
        }
    }
}

impl Device for QueuedDevice {
    fn evaluate(&self, inputs: &[&Input]) -> Vec<Option<Output>> {
        let mut state = self.lock();
        if state.failure.is_some() {
            return vec![None; inputs.len()];
        }
        let first = state.positions + 1;
        for &input in inputs {
            state.positions += 1;
            let (position, came_at) = (state.positions, state.batches);
            state.waiting.add((input.width, input.height), came_at, (position, input.clone()));
        }
        drop(state);
        (self.options.notify_driver)();
        (first..).take(inputs.len()).map(|position| self.wait(position)).collect()
    }

    fn is_working(&self) -> bool {
        self.lock().failure.is_none()
    }

    fn threads(&self) -> usize {
        self.options.threads
    }

    fn at_once(&self) -> usize {
        IN_FLIGHT * self.options.settings.positions
    }

    fn name(&self) -> String {
        self.options.name.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_net::Network;
    use kosumi_net::random::{self, Options};
    use kosumi_net::scalar;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    fn device(positions: usize) -> QueuedDevice {
        let settings = Settings {
            half: false,
            has_large_tiles: false,
            matrix_units: None,
            positions,
            points: positions * 20,
        };
        let name = "a card".to_owned();
        QueuedDevice::new(QueuedOptions {
            name,
            threads: 4,
            settings,
            is_software: false,
            notify_driver: || (),
        })
    }

    /// Evaluates `each` positions of several sizes in each of six threads, and returns the number of answers.
    fn ask(device: &QueuedDevice, network: &Network, each: usize) -> usize {
        let answered = AtomicUsize::new(0);
        thread::scope(|scope| {
            for thread in 0..6 {
                let answered = &answered;
                scope.spawn(move || {
                    for at in 0..each {
                        let mut input = Input::zero(2 + (thread + at) % 3, 4);
                        input.global[0] = at as f32;
                        let [output] = &device.evaluate(&[&input])[..] else { panic!("one answer") };
                        let Some(output) = output else { continue };
                        assert_eq!(*output, scalar::evaluate(network, &input).unwrap());
                        answered.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        answered.into_inner()
    }

    fn answers(network: &Network, batch: &QueuedBatch) -> Vec<Option<Output>> {
        batch.inputs.iter().map(|input| scalar::evaluate(network, input).ok()).collect()
    }

    #[test]
    fn every_thread_gets_its_answer() {
        let network = random::network(&Options::default()).unwrap();
        let device = device(3);
        let (answered, largest) = thread::scope(|scope| {
            let asking = scope.spawn(|| ask(&device, &network, 5));
            let mut largest = 0;
            while !asking.is_finished() {
                let Some(batch) = device.take() else {
                    thread::yield_now();
                    continue;
                };
                let [first, ..] = &batch.inputs[..] else { panic!("no batch is empty") };
                assert!(batch.inputs.iter().all(|it| (it.width, it.height) == (first.width, first.height)));
                largest = largest.max(batch.inputs.len());
                device.answer(batch.number, answers(&network, &batch), Duration::from_millis(1));
            }
            (asking.join().unwrap(), largest)
        });
        assert_eq!(answered, 30);
        assert!(largest <= 3);
        assert_eq!(device.batches_and_positions().1, 30);
        assert_eq!((device.threads(), device.at_once(), device.name().as_str()), (4, 6, "a card"));
        assert_eq!(device.failure(), None);
    }

    #[test]
    fn at_most_two_batches_are_on_the_device() {
        let network = random::network(&Options::default()).unwrap();
        let device = device(1);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| assert!(device.evaluate(&[&Input::zero(4, 4)])[0].is_some()));
            }
            while device.batches_and_positions().1 < 3 {
                thread::yield_now();
            }
            let [first, second] = [(); 2].map(|()| device.take().unwrap());
            assert_eq!(device.take(), None);
            device.answer(first.number, answers(&network, &first), Duration::ZERO);
            let third = device.take().unwrap();
            for batch in [second, third] {
                device.answer(batch.number, answers(&network, &batch), Duration::ZERO);
            }
            // An answer that no thread waits for changes nothing.
            device.answer(7, Vec::new(), Duration::ZERO);
        });
        assert!(device.is_working());
    }

    #[test]
    fn failure_leaves_nobody_waiting() {
        let network = random::network(&Options::default()).unwrap();
        for is_short in [false, true] {
            let device = device(2);
            thread::scope(|scope| {
                let asking = scope.spawn(|| ask(&device, &network, 2));
                let batch = loop {
                    if let Some(batch) = device.take() {
                        break batch;
                    }
                    thread::yield_now();
                };
                match is_short {
                    true => device.answer(batch.number, Vec::new(), Duration::ZERO),
                    false => device.fail("the device is lost"),
                }
                assert_eq!(asking.join().unwrap(), 0);
            });
            let reason = if is_short { "another number of outputs" } else { "the device is lost" };
            assert!(device.failure().unwrap().contains(reason));
            assert!(!device.is_working());
            device.fail("something else");
            assert!(device.failure().unwrap().contains(reason), "the first reason is kept");
            assert_eq!(device.take(), None);
            assert_eq!(device.evaluate(&[&Input::zero(2, 2)]), [None]);
        }
    }

    #[test]
    fn driver_that_does_not_answer_is_noticed() {
        let device = device(2);
        // Batches so fast that the next one may take the least time.
        device.lock().pace.least = Duration::from_millis(10);
        device.lock().pace.most = Duration::from_millis(20);
        assert_eq!(device.evaluate(&[&Input::zero(4, 4)]), [None]);
        assert_eq!(device.failure().unwrap(), "the graphics card does not answer");
    }
}
