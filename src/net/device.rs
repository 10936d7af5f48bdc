//! Devices beside the processor that evaluate networks, and the networks that use one.

use super::input::Input;
use super::kernels::{ArithmeticChoice, Precision, Prepared, Scratch};
use super::model::Network;
use super::output::{NotFinite, Output};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Device that evaluates a network for many threads.
pub trait Device: Send + Sync + fmt::Debug {
    /// Evaluates positions on boards of any sizes and waits for the results, in the order of the inputs. `None` stands
    /// for a position that the caller has to evaluate on the processor: its numbers are not finite in the device's
    /// precision, or the device has failed. A device that has failed once answers so at once, for ever.
    fn evaluate(&self, inputs: &[&Input]) -> Vec<Option<Output>>;

    /// Returns whether the device works.
    fn is_working(&self) -> bool;

    /// Returns the number of threads that keep the device busy.
    fn threads(&self) -> usize;

    /// Returns a name for display.
    fn name(&self) -> String;
}

/// Device of a network, with what the processor computes for it.
#[derive(Debug)]
pub struct Attached {
    device: Arc<dyn Device>,
    network: Weak<Network>,
    /// Network in 32 bits, for positions whose numbers are not finite in the device's precision.
    exact: OnceLock<Option<Prepared>>,
}

impl Attached {
    /// Returns the device.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// Evaluates a position on the device, or in 32 bits on the processor if its numbers are not finite in the
    /// device's precision. Returns `None` if the device has failed.
    pub(super) fn evaluate(&self, input: &Input, scratch: &mut Scratch) -> Option<Result<Output, NotFinite>> {
        if !self.device.is_working() {
            return None;
        }
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

/// Makes every later [`Forward::shared`](super::Forward::shared) of `network` use `device`.
pub fn attach(network: &Arc<Network>, device: Arc<dyn Device>) {
    let mut all = ATTACHED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|it| it.network.strong_count() > 0 && it.network.as_ptr() != Arc::as_ptr(network));
    all.push(Arc::new(Attached { device, network: Arc::downgrade(network), exact: OnceLock::new() }));
}

/// Returns the device of `network`, if it has one.
pub fn attached(network: &Arc<Network>) -> Option<Arc<Attached>> {
    let mut all = ATTACHED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|it| it.network.strong_count() > 0);
    all.iter().find(|it| it.network.as_ptr() == Arc::as_ptr(network)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Forward;
    use crate::random::{Options, network};
    use crate::scalar;
    use std::sync::atomic::{AtomicUsize, Ordering};

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
        attach(&own, Arc::new(Fake { network: other.clone(), left: AtomicUsize::new(4) }));
        assert!(attached(&Arc::new(other.clone())).is_none());
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
        assert!(attached(&Arc::new(other)).is_none());
        assert!(device.upgrade().is_none());
    }
}
