//! Forward pass in the fastest arithmetic of this machine, optionally through a symmetry of the board.

use super::device::{self, Attached};
use super::input::Input;
use super::kernels::{ArithmeticChoice, Prepared, Scratch};
use super::model::Network;
use super::output::{NotFinite, Output};
use super::symmetry;
use kosumi_go::board::{BoardSize, Symmetry};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Evaluator of positions with a network. It reuses its buffers from one position to the next. Each thread needs its
/// own; clones share the weights.
#[derive(Clone, Debug)]
pub struct Forward {
    prepared: Arc<Prepared>,
    scratch: Scratch,
    /// Buffer for the image of a position.
    image: Input,
    /// Device that evaluates instead of the processor, until it fails.
    attached: Option<Arc<Attached>>,
}

impl Forward {
    /// Prepares `network` for the fastest arithmetic of this machine.
    pub fn new(network: &Network) -> Forward {
        Forward::with_arithmetic(network, ArithmeticChoice::default())
    }

    /// Prepares `network` for the fastest arithmetic of this machine among those that `choice` allows.
    ///
    /// # Panics
    ///
    /// Panics if this machine supports none of them; see [`ArithmeticChoice::candidates`].
    pub fn with_arithmetic(network: &Network, choice: ArithmeticChoice) -> Forward {
        let prepared = Arc::new(Prepared::fastest(network, choice));
        Forward { prepared, scratch: Scratch::default(), image: Input::zero(1, 1), attached: None }
    }

    /// Prepares `network` like [`with_arithmetic`](Self::with_arithmetic), but shares the result among all callers that
    /// request the same arithmetic, for as long as `network` exists. If a device is [attached](device::attach) to the
    /// network, it evaluates instead of the processor, until it fails.
    ///
    /// # Panics
    ///
    /// Panics under the same condition as [`with_arithmetic`](Self::with_arithmetic).
    pub fn shared(network: &Arc<Network>, choice: ArithmeticChoice) -> Forward {
        static PREPARED: Mutex<Vec<PreparedEntry>> = Mutex::new(Vec::new());
        struct PreparedEntry {
            network: Weak<Network>,
            choice: ArithmeticChoice,
            prepared: Arc<Prepared>,
        }
        // The lock is held during the preparation, so that a second caller waits instead of preparing the network
        // again.
        let mut all = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| it.network.strong_count() > 0);
        let is_same =
            |it: &&PreparedEntry| it.choice == choice && it.network.as_ptr() == Arc::as_ptr(network);
        let prepared = match all.iter().find(is_same) {
            Some(known) => known.prepared.clone(),
            None => {
                let prepared = Arc::new(Prepared::fastest(network, choice));
                // Another choice may have led to the same arithmetic.
                let is_same = |it: &&PreparedEntry| {
                    it.network.as_ptr() == Arc::as_ptr(network)
                        && it.prepared.arithmetic() == prepared.arithmetic()
                };
                let prepared =
                    all.iter().find(is_same).map_or(prepared.clone(), |known| known.prepared.clone());
                let network = Arc::downgrade(network);
                all.push(PreparedEntry { network, choice, prepared: prepared.clone() });
                prepared
            }
        };
        let attached = device::attached(network);
        Forward { prepared, scratch: Scratch::default(), image: Input::zero(1, 1), attached }
    }

    /// Returns this forward pass without a device: the processor evaluates.
    pub fn on_processor(self) -> Forward {
        Forward { attached: None, ..self }
    }

    /// Returns the prepared network.
    pub fn prepared(&self) -> &Arc<Prepared> {
        &self.prepared
    }

    /// Evaluates the position. The output is from the perspective of the side to move.
    ///
    /// # Errors
    ///
    /// Returns [`NotFinite`] if a number of the result is infinite or NaN.
    pub fn evaluate(&mut self, input: &Input) -> Result<Output, NotFinite> {
        let attached = self.attached.as_ref();
        let (prepared, scratch) = (&self.prepared, &mut self.scratch);
        if let Some(result) = attached.and_then(|attached| attached.evaluate(input, prepared, scratch)) {
            return result;
        }
        self.attached = self.attached.take().filter(|attached| attached.device().is_working());
        self.prepared.evaluate_one(input, &mut self.scratch)
    }

    /// Evaluates the image of the position under `symmetry`. The points of the output are those of the board, not of
    /// the image. The output is from the perspective of the side to move.
    ///
    /// # Errors
    ///
    /// Returns [`NotFinite`] if a number of the result is infinite or NaN.
    pub fn evaluate_image(&mut self, input: &Input, symmetry: Symmetry) -> Result<Output, NotFinite> {
        let Some(size) = BoardSize::new(input.width, input.height) else { return self.evaluate(input) };
        let mut seen = std::mem::replace(&mut self.image, Input::zero(0, 0));
        symmetry::image(input, symmetry, &mut seen);
        let output = self.evaluate(&seen);
        self.image = seen;
        Ok(symmetry::restore_output(size, symmetry, output?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Precision;
    use crate::random;
    use kosumi_go::board::Point;

    #[test]
    fn shared_networks_are_prepared_once() {
        let network = Arc::new(random::network(&random::Options::default()).unwrap());
        let [exact, any] =
            [Some(Precision::F32), None].map(|precision| ArithmeticChoice { kernel: None, precision });
        let [first, second, chosen] = [exact, exact, any].map(|choice| Forward::shared(&network, choice));
        assert!(Arc::ptr_eq(first.prepared(), second.prepared()));
        assert_eq!(first.prepared().arithmetic().precision, Precision::F32);
        assert!(Arc::ptr_eq(chosen.prepared(), Forward::shared(&network, any).prepared()));
        let other = Arc::new(Network::clone(&network));
        assert!(!Arc::ptr_eq(first.prepared(), Forward::shared(&other, exact).prepared()));
        // No entry is kept for a dropped network.
        let prepared = Arc::downgrade(first.prepared());
        drop((first, second, chosen, network));
        Forward::shared(&other, exact);
        assert!(prepared.upgrade().is_none());
    }

    #[test]
    fn evaluate_image_matches_image_board() {
        let network = random::network(&random::Options::default()).unwrap();
        let size = BoardSize::new(5, 5).unwrap();
        let mut input = Input::zero(5, 5);
        for (index, number) in input.spatial.iter_mut().enumerate() {
            *number = f32::from(u8::from(index % 7 == 3 || index % 22 == 0));
        }
        for symmetry in Symmetry::of(size) {
            let mut image = input.clone();
            for y in 0..5 {
                for x in 0..5 {
                    let to = symmetry.apply(size, Point::new(x, 4 - y));
                    image.point_mut(to.column(), 4 - to.row()).copy_from_slice(input.point(x, y));
                }
            }
            let mut forward = Forward::new(&network);
            let seen = forward.evaluate_image(&input, symmetry).unwrap();
            let expected = forward.evaluate(&image).unwrap();
            for y in 0..5 {
                for x in 0..5 {
                    let to = symmetry.apply(size, Point::new(x, 4 - y));
                    let there = (4 - to.row()) * 5 + to.column();
                    assert_eq!(seen.policy[y * 5 + x], expected.policy[there]);
                    assert_eq!(seen.ownership[y * 5 + x], expected.ownership[there]);
                }
            }
            assert_eq!((seen.pass, seen.value), (expected.pass, expected.value));
        }
    }

    #[test]
    fn rectangular_boards_have_symmetries() {
        let network = random::network(&random::Options::default()).unwrap();
        let mut input = Input::zero(3, 5);
        input.point_mut(2, 0)[1] = 1.0;
        let mut forward = Forward::new(&network);
        let plain = forward.evaluate(&input).unwrap();
        let mut seen = Vec::new();
        for symmetry in Symmetry::ALL {
            let output = forward.evaluate_image(&input, symmetry).unwrap();
            assert_eq!((output.policy.len(), output.ownership.len()), (15, 15));
            seen.push(output.policy);
        }
        assert_eq!(seen[0], plain.policy);
        assert!(
            (1..8).all(|other| seen[other] != seen[0]),
            "a random network evaluates each image differently"
        );
    }
}
