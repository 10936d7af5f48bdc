//! The forward pass that this machine does fastest, and views of a position through the symmetries of the board.

use super::input::Input;
use super::kernels::{Kernel, Prepared, Scratch};
use super::model::Network;
use super::output::{NotFinite, Output};
use crate::board::{BoardSize, Point, Symmetry};
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
    /// Prepares `network` for the fastest kernel of this machine.
    pub fn new(network: &Network) -> Forward {
        let prepared = Arc::new(Prepared::new(network, Kernel::best()));
        Forward { prepared, scratch: Scratch::default(), seen: Input::zero(1, 1) }
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
        let Some(places) = places(input, symmetry) else { return self.evaluate(input) };
        let mut seen = std::mem::replace(&mut self.seen, Input::zero(0, 0));
        (seen.width, seen.height, seen.global) = (input.width, input.height, input.global);
        seen.spatial.resize(input.spatial.len(), 0.0);
        for (from, &to) in places.iter().enumerate() {
            let (x, y) = (from % input.width, from / input.width);
            seen.point_mut(to % input.width, to / input.width).copy_from_slice(input.point(x, y));
        }
        let output = self.evaluate(&seen);
        self.seen = seen;
        let mut output = output?;
        let back = |numbers: &[f32]| places.iter().map(|&place| numbers[place]).collect();
        output.policy = back(&output.policy);
        output.optimistic_policy = output.optimistic_policy.as_deref().map(back);
        output.ownership = back(&output.ownership);
        Ok(output)
    }
}

/// Where each point goes, points being numbered row by row from the top; `None` if all stay.
fn places(input: &Input, symmetry: Symmetry) -> Option<Vec<usize>> {
    let size = BoardSize::new(input.width, input.height)?;
    let number = |point: Point| (size.rows() - 1 - point.row()) * size.columns() + point.column();
    let point =
        |number: usize| Point::new(number % size.columns(), size.rows() - 1 - number / size.columns());
    let places: Vec<usize> = (0..size.area()).map(|from| number(symmetry.apply(size, point(from)))).collect();
    places.iter().enumerate().any(|(from, &to)| from != to).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let input = Input::zero(3, 5);
        let mut forward = Forward::new(&network);
        for symmetry in Symmetry::of(BoardSize::new(3, 5).unwrap()) {
            let output = forward.evaluate_seen(&input, symmetry).unwrap();
            assert_eq!((output.policy.len(), output.ownership.len()), (15, 15));
        }
    }
}
