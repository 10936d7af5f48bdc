//! Devices beside the processor that evaluate networks, and the networks that use one.

use super::input::Input;
use super::kernels::{ArithmeticChoice, Precision, Prepared, Scratch};
use super::model::Network;
use super::output::{NotFinite, Output};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Device that evaluates a network for many threads.
pub trait Device: Send + Sync + fmt::Debug {
    /// Evaluates positions on boards of any sizes and waits for the results, in the order of the inputs. `None` stands
    /// for a position that the caller has to evaluate on the processor: its numbers are not finite in the device's
    /// precision, or the device has failed. A device that has failed once answers so at once, for ever.
    fn evaluate(&self, inputs: &[&Input]) -> Vec<Option<Output>>;

    /// Returns whether the device works.
    fn is_working(&self) -> bool;

    /// Returns the number of search threads that keep the device busy.
    fn threads(&self) -> usize;

    /// Returns the largest number of evaluations that are in progress at a time. Further ones wait.
    fn at_once(&self) -> usize;

    /// Returns a name for display.
    fn name(&self) -> String;
}

/// Several devices that evaluate the same network.
#[derive(Debug)]
pub struct DeviceGroup {
    /// Devices, each with the number of positions that it has been given and has not answered.
    devices: Vec<(Arc<dyn Device>, AtomicUsize)>,
}

impl DeviceGroup {
    /// Combines devices.
    pub fn new(devices: Vec<Arc<dyn Device>>) -> DeviceGroup {
        DeviceGroup { devices: devices.into_iter().map(|device| (device, AtomicUsize::new(0))).collect() }
    }

    /// Returns the working device with the fewest unanswered positions.
    fn idlest(&self) -> Option<&(Arc<dyn Device>, AtomicUsize)> {
        let working = self.devices.iter().filter(|(device, _)| device.is_working());
        working.min_by_key(|(_, waiting)| waiting.load(Ordering::Relaxed))
    }
}

impl Device for DeviceGroup {
    fn evaluate(&self, inputs: &[&Input]) -> Vec<Option<Output>> {
        let mut outputs = vec![None; inputs.len()];
        let mut left: Vec<usize> = (0..inputs.len()).collect();
        // If a device fails, another one evaluates the positions that it has not answered.
        while let Some((device, waiting)) = self.idlest().filter(|_| !left.is_empty()) {
            let asked: Vec<&Input> = left.iter().map(|&at| inputs[at]).collect();
            waiting.fetch_add(asked.len(), Ordering::Relaxed);
            let answers = device.evaluate(&asked);
            waiting.fetch_sub(asked.len(), Ordering::Relaxed);
            for (&at, output) in left.iter().zip(answers) {
                outputs[at] = output;
            }
            if device.is_working() {
                break;
            }
            left.retain(|&at| outputs[at].is_none());
        }
        outputs
    }

    fn is_working(&self) -> bool {
        self.devices.iter().any(|(device, _)| device.is_working())
    }

    fn threads(&self) -> usize {
        self.devices.iter().map(|(device, _)| device.threads()).sum()
    }

    fn at_once(&self) -> usize {
        self.devices.iter().map(|(device, _)| device.at_once()).sum()
    }

    fn name(&self) -> String {
        let names: Vec<String> = self.devices.iter().map(|(device, _)| device.name()).collect();
        names.join(" and ")
    }
}

/// The device of a network, and the evaluations that the processor takes over from it.
#[derive(Debug)]
pub struct Attached {
    device: Arc<dyn Device>,
    network: Weak<Network>,
    /// Number of points of the smallest boards that the device evaluates. The processor evaluates smaller ones.
    least_area: usize,
    /// Network in 32 bits, for positions whose numbers are not finite in the device's precision.
    exact: OnceLock<Option<Prepared>>,
    /// Number of positions that the device has been given and has not answered.
    waiting: AtomicUsize,
    /// Part of the evaluations that the processor computes.
    processor_share: ProcessorShare,
    /// Number of positions that the processor evaluates at the moment.
    on_processor: AtomicUsize,
}

/// Part of the evaluations of a network that the processor computes beside a device.
///
/// A thread evaluates a position itself if the device would answer later, that is, if more positions wait for the
/// device than it answers in the time that the processor takes for one. That number was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProcessorShare {
    /// Largest number of positions that the processor evaluates at a time; 0 leaves all to the device.
    pub at_once: usize,
    /// Least number of positions waiting for the device at which the processor evaluates the next one.
    pub least_waiting: usize,
}

/// Position that is counted until it has been evaluated.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Counted<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count)
    }

    /// Counts a position if fewer than `most` are counted.
    fn below(count: &'a AtomicUsize, most: usize) -> Option<Counted<'a>> {
        let next = |counted: usize| (counted < most).then_some(counted + 1);
        count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok().map(|_| Counted(count))
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Attached {
    /// Returns the device.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// Returns the number of points of the smallest boards that the device evaluates.
    pub fn least_area(&self) -> usize {
        self.least_area
    }

    /// Returns whether the device evaluates boards of `area` points: it works, and the processor is not faster.
    pub fn evaluates(&self, area: usize) -> bool {
        area >= self.least_area && self.device.is_working()
    }

    /// Returns the part of the evaluations that the processor computes beside the device.
    pub fn processor_share(&self) -> ProcessorShare {
        self.processor_share
    }

    /// Evaluates a position: on the device, on the processor if this position falls to its
    /// [share](ProcessorShare), or in 32 bits on the processor if the numbers are not finite in the device's precision.
    /// Returns `None` if the device does not evaluate boards of this size or has failed.
    pub(super) fn evaluate(
        &self,
        input: &Input,
        prepared: &Prepared,
        scratch: &mut Scratch,
    ) -> Option<Result<Output, NotFinite>> {
        if !self.evaluates(input.width * input.height) {
            return None;
        }
        if self.waiting.load(Ordering::Relaxed) >= self.processor_share.least_waiting
            && let Some(_counted) = Counted::below(&self.on_processor, self.processor_share.at_once)
        {
            return Some(prepared.evaluate_one(input, scratch));
        }
        let _counted = Counted::new(&self.waiting);
        if let Some(output) = self.device.evaluate(&[input]).pop().flatten() {
            return Some(Ok(output));
        }
        if !self.device.is_working() {
            return None;
        }
        let exact = self.exact.get_or_init(|| {
            let choice = ArithmeticChoice { kernel: None, precision: Some(Precision::F32) };
            self.network.upgrade().map(|network| Prepared::fastest(&network, choice))
        });
        Some(exact.as_ref()?.evaluate_one(input, scratch))
    }
}

/// Networks that are evaluated on a device. An entry lasts as long as its network.
static ATTACHED: Mutex<Vec<Arc<Attached>>> = Mutex::new(Vec::new());

/// Makes every later [`Forward::shared`](super::Forward::shared) of `network` use `device` for boards of at least
/// `least_area` points, and the processor beside it.
pub fn attach(
    network: &Arc<Network>,
    device: Arc<dyn Device>,
    least_area: usize,
    processor_share: ProcessorShare,
) {
    let mut all = ATTACHED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|it| it.network.strong_count() > 0 && it.network.as_ptr() != Arc::as_ptr(network));
    all.push(Arc::new(Attached {
        device,
        network: Arc::downgrade(network),
        least_area,
        exact: OnceLock::new(),
        waiting: AtomicUsize::new(0),
        processor_share,
        on_processor: AtomicUsize::new(0),
    }));
}

/// Returns the device of `network`, if it has one.
pub fn attached(network: &Network) -> Option<Arc<Attached>> {
    let mut all = ATTACHED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|it| it.network.strong_count() > 0);
    all.iter().find(|it| std::ptr::eq(it.network.as_ptr(), network)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Forward;
    use crate::random::{Options, network};
    use crate::scalar;
    use std::sync::Barrier;
    use std::thread;

    /// Device that computes with another network, cannot compute boards of one point, and fails after some positions.
    #[derive(Debug)]
    struct Fake {
        network: Network,
        left: AtomicUsize,
    }

    impl Device for Fake {
        fn evaluate(&self, inputs: &[&Input]) -> Vec<Option<Output>> {
            let take = |left: usize| left.checked_sub(1);
            let mut one = |input: &&Input| {
                self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).ok()?;
                scalar::evaluate(&self.network, input).ok().filter(|_| input.spatial.len() > 22)
            };
            inputs.iter().map(&mut one).collect()
        }

        fn is_working(&self) -> bool {
            self.left.load(Ordering::SeqCst) > 0
        }

        fn threads(&self) -> usize {
            3
        }

        fn at_once(&self) -> usize {
            6
        }

        fn name(&self) -> String {
            "a fake".to_owned()
        }
    }

    #[test]
    fn device_answers_until_it_fails() {
        let [own, other] = [0, 1].map(|seed| network(&Options { seed, ..Options::default() }).unwrap());
        let own = Arc::new(own);
        assert!(attached(&own).is_none());
        let on_processor = Forward::shared(&own, ArithmeticChoice::default());
        attach(
            &own,
            Arc::new(Fake { network: other.clone(), left: AtomicUsize::new(4) }),
            0,
            ProcessorShare::default(),
        );
        assert!(attached(&other).is_none());
        let exact = ArithmeticChoice { kernel: None, precision: Some(Precision::F32) };
        let mut forward = Forward::shared(&own, exact);
        let [input, point] = [Input::zero(3, 4), Input::zero(1, 1)];
        let by_device = scalar::evaluate(&other, &input).unwrap();
        let by_processor = forward.prepared().evaluate_one(&input, &mut Scratch::default()).unwrap();
        assert_ne!(by_device.value, by_processor.value);
        assert_eq!(forward.evaluate(&input).unwrap(), by_device);
        // A position that the device cannot compute does not make it fail.
        let of_point = forward.prepared().evaluate_one(&point, &mut Scratch::default()).unwrap();
        assert_eq!(forward.evaluate(&point).unwrap(), of_point);
        assert_eq!(forward.clone().evaluate(&input).unwrap(), by_device);
        assert_eq!(forward.evaluate(&input).unwrap(), by_device, "the last position of the device");
        assert_eq!(forward.evaluate(&input).unwrap(), by_processor);
        assert!(on_processor.clone().evaluate(&input).is_ok());
        // No entry is kept for a dropped network.
        let device = Arc::downgrade(&attached(&own).unwrap());
        drop((own, forward, on_processor));
        assert!(attached(&other).is_none());
        assert!(device.upgrade().is_none());
    }

    #[test]
    fn several_devices_evaluate_until_all_have_failed() {
        let [first, second] = [0, 1].map(|seed| network(&Options { seed, ..Options::default() }).unwrap());
        let input = Input::zero(3, 4);
        let [by_first, by_second] = [&first, &second].map(|it| scalar::evaluate(it, &input).unwrap());
        let fake =
            |network, left| -> Arc<dyn Device> { Arc::new(Fake { network, left: AtomicUsize::new(left) }) };
        let both = DeviceGroup::new(vec![fake(first, 3), fake(second, 4)]);
        assert_eq!((both.threads(), both.at_once(), both.name().as_str()), (6, 12, "a fake and a fake"));
        assert_eq!(both.evaluate(&[&input]), [Some(by_first.clone())]);
        // The first device fails in the middle of a batch, and the second one continues.
        let expected = [&by_first, &by_first, &by_second, &by_second].map(|it| Some(it.clone()));
        assert_eq!(both.evaluate(&[&input; 4]), expected);
        assert!(both.is_working());
        assert_eq!(both.evaluate(&[&input; 3]), [Some(by_second.clone()), Some(by_second), None]);
        assert!(!both.is_working());
        assert_eq!(both.evaluate(&[&input]), [None]);
        assert_eq!(both.evaluate(&[]), []);
    }

    #[test]
    fn small_boards_stay_on_the_processor() {
        let [own, other] = [0, 1].map(|seed| network(&Options { seed, ..Options::default() }).unwrap());
        let own = Arc::new(own);
        let device = Fake { network: other.clone(), left: AtomicUsize::new(100) };
        attach(&own, Arc::new(device), 12, ProcessorShare::default());
        let exact = ArithmeticChoice { kernel: None, precision: Some(Precision::F32) };
        let mut forward = Forward::shared(&own, exact);
        let (small, large) = (Input::zero(3, 3), Input::zero(3, 4));
        for _ in 0..2 {
            let by_processor = forward.prepared().evaluate_one(&small, &mut Scratch::default()).unwrap();
            assert_eq!(forward.evaluate(&small).unwrap(), by_processor);
            assert_eq!(forward.evaluate(&large).unwrap(), scalar::evaluate(&other, &large).unwrap());
        }
        let attached = attached(&own).unwrap();
        assert_eq!((attached.evaluates(11), attached.evaluates(12)), (false, true));
    }

    /// Device that answers when it has been given a number of positions, and not before.
    #[derive(Debug)]
    struct Gate {
        network: Network,
        all_waiting: Barrier,
        waiting: AtomicUsize,
    }

    impl Device for Gate {
        fn evaluate(&self, inputs: &[&Input]) -> Vec<Option<Output>> {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            self.all_waiting.wait();
            inputs.iter().map(|input| scalar::evaluate(&self.network, input).ok()).collect()
        }

        fn is_working(&self) -> bool {
            true
        }

        fn threads(&self) -> usize {
            4
        }

        fn at_once(&self) -> usize {
            4
        }

        fn name(&self) -> String {
            "a gate".to_owned()
        }
    }

    #[test]
    fn the_processor_evaluates_what_would_wait_too_long() {
        let [own, other] = [0, 1].map(|seed| network(&Options { seed, ..Options::default() }).unwrap());
        let own = Arc::new(own);
        let device = Arc::new(Gate {
            network: other.clone(),
            all_waiting: Barrier::new(3),
            waiting: AtomicUsize::new(0),
        });
        attach(&own, device.clone(), 0, ProcessorShare { at_once: 1, least_waiting: 2 });
        let exact = ArithmeticChoice { kernel: None, precision: Some(Precision::F32) };
        let forward = Forward::shared(&own, exact);
        let input = Input::zero(3, 4);
        let by_device = scalar::evaluate(&other, &input).unwrap();
        let by_processor = forward.prepared().evaluate_one(&input, &mut Scratch::default()).unwrap();
        let attached = attached(&own).unwrap();
        thread::scope(|scope| {
            let evaluate = || forward.clone().evaluate(&input).unwrap();
            // The device has at most one unanswered position at this point, so it is given both.
            let first = [scope.spawn(evaluate), scope.spawn(evaluate)];
            while device.waiting.load(Ordering::SeqCst) < 2 {
                thread::yield_now();
            }
            for _ in 0..3 {
                assert_eq!(evaluate(), by_processor);
            }
            // While the processor evaluates as many positions as it may, further ones wait for the device.
            let busy = Counted::below(&attached.on_processor, 1).unwrap();
            assert!(Counted::below(&attached.on_processor, 1).is_none());
            assert_eq!(evaluate(), by_device);
            drop(busy);
            for thread in first {
                assert_eq!(thread.join().unwrap(), by_device);
            }
        });
        assert_eq!(attached.waiting.load(Ordering::SeqCst), 0);
        assert_eq!(attached.on_processor.load(Ordering::SeqCst), 0);
    }
}
