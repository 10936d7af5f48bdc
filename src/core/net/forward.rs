//! The forward pass that this machine does fastest, and views of a position through the symmetries of the board.

use super::input::Input;
use super::kernels::{ArithmeticChoice, Prepared, Scratch};
use super::model::Network;
use super::output::{NotFinite, Output};
use super::symmetry;
use crate::board::{BoardSize, Symmetry};
use std::sync::Arc;

/// Evaluates positions with a network; keeps what costs time from one position to the next. Each worker has its
/// own; copies share the weights.
#[derive(Clone, Debug)]
pub struct Forward {
    prepared: Arc<Prepared>,
    scratch: Scratch,
    /// The position as the network is shown it.
    seen: Input,
}

impl Forward {
    /// Prepares `network` for the fastest arithmetic of this machine.
    pub fn new(network: &Network) -> Forward {
        Forward::with_arithmetic(network, ArithmeticChoice::default())
    }

    /// Prepares `network` for the fastest arithmetic of this machine among those that are allowed.
    ///
    /// # Panics
    /// If this machine has none of them; see [`ArithmeticChoice::candidates`].
    pub fn with_arithmetic(network: &Network, choice: ArithmeticChoice) -> Forward {
        Forward::of(Arc::new(Prepared::fastest(network, choice)))
    }

    /// Evaluates with weights that have been prepared already.
    pub fn of(prepared: Arc<Prepared>) -> Forward {
        Forward { prepared, scratch: Scratch::default(), seen: Input::zero(1, 1) }
    }

    /// The weights.
    pub fn prepared(&self) -> &Arc<Prepared> {
        &self.prepared
    }

    /// What the network says about the position.
    ///
    /// # Errors
    /// If a number of the result is not finite.
    pub fn evaluate(&mut self, input: &Input) -> Result<Output, NotFinite> {
        self.prepared.evaluate_one(input, &mut self.scratch)
    }

    /// What the network says when it is shown the image of the position; the output's points are those of the
    /// board, not of the image.
    ///
    /// # Errors
    /// If a number of the result is not finite.
    pub fn evaluate_seen(&mut self, input: &Input, symmetry: Symmetry) -> Result<Output, NotFinite> {
        let Some(size) = BoardSize::new(input.width, input.height) else { return self.evaluate(input) };
        let mut seen = std::mem::replace(&mut self.seen, Input::zero(0, 0));
        symmetry::image(input, symmetry, &mut seen);
        let output = self.evaluate(&seen);
        self.seen = seen;
        Ok(symmetry::restore_output(size, symmetry, output?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Point;
    use crate::net::random;

    #[test]
    fn an_image_is_evaluated_as_if_the_image_were_the_board() {
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
            let seen = forward.evaluate_seen(&input, symmetry).unwrap();
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
    fn rectangles_are_turned_too() {
        let network = random::network(&random::Options::default()).unwrap();
        let mut input = Input::zero(3, 5);
        input.point_mut(2, 0)[1] = 1.0;
        let mut forward = Forward::new(&network);
        let plain = forward.evaluate(&input).unwrap();
        let mut seen = Vec::new();
        for symmetry in Symmetry::ALL {
            let output = forward.evaluate_seen(&input, symmetry).unwrap();
            assert_eq!((output.policy.len(), output.ownership.len()), (15, 15));
            seen.push(output.policy);
        }
        assert_eq!(seen[0], plain.policy);
        assert!((1..8).all(|other| seen[other] != seen[0]), "a random network sees each image differently");
    }
}
