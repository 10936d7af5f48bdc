//! Which arithmetic a network is computed with, if nobody says.

use super::forward::Scratch;
use super::kernel::{Arithmetic, ArithmeticChoice, Precision};
use super::prepared::Prepared;
use crate::net::input::Input;
use crate::net::model::Network;
use crate::net::output::Output;
use crate::net::prediction::{Context, Prediction};

impl Prepared {
    /// Prepares `network` for the fastest arithmetic of this processor among those that are allowed. One that rounds
    /// must first agree with one that does not about some positions, or the next one is taken; unless
    /// its precision was asked for. Small networks get 8 bits only if these are asked for.
    ///
    /// # Panics
    /// If this processor has nothing that is allowed; see [`ArithmeticChoice::candidates`].
    pub fn fastest(network: &Network, choice: ArithmeticChoice) -> Prepared {
        let mut candidates = choice.candidates();
        if choice.precision.is_none() && network.cost().multiply_adds < LEAST_FOR_INTEGERS {
            let is_wide = |it: &Arithmetic| it.precision != Precision::Int8;
            if candidates.iter().any(is_wide) {
                candidates.retain(is_wide);
            }
        }
        let exact = candidates.iter().copied().find(|it| !it.is_rounded());
        let mut prepared_exact = None;
        for &arithmetic in &candidates {
            if !arithmetic.is_rounded() {
                break;
            }
            let prepared = Prepared::new(network, arithmetic);
            let Some(exact) = exact else { return prepared };
            let exact = prepared_exact.get_or_insert_with(|| Prepared::new(network, exact));
            if prepared.agrees_with(network, exact) {
                return prepared;
            }
        }
        let exact =
            exact.expect("the processor has what is allowed, and what does not round if nothing else agrees");
        prepared_exact.unwrap_or_else(|| Prepared::new(network, exact))
    }

    /// Does it say nearly the same as `exact`, the same network without rounding, about small boards with some stones?
    fn agrees_with(&self, network: &Network, exact: &Prepared) -> bool {
        trial_inputs().iter().all(|input| {
            let context = Context {
                legal: &vec![true; input.width * input.height],
                no_result: true,
                optimism: 0.0,
                temperature: 1.0,
            };
            let meaning = |output: Output| Prediction::new(network, &output, context);
            let wanted = exact.evaluate_one(input, &mut Scratch::default()).and_then(meaning);
            let found = self.evaluate_one(input, &mut Scratch::default()).and_then(meaning);
            // What is not finite must be refused, which rounding may prevent.
            let (Ok(wanted), Ok(found)) = (wanted, found) else { return false };
            let numbers =
                |it: &Prediction| [&it.policy[..], &it.ownership[..], &[it.pass, it.win, it.loss]].concat();
            let (wanted, found) = (numbers(&wanted), numbers(&found));
            let squares = wanted.iter().zip(&found).map(|(wanted, found)| (wanted - found).powi(2));
            (squares.sum::<f32>() / wanted.len() as f32).sqrt() < TOLERANCE
        })
    }
}

/// Multiply-adds a point of the board from which on 8 bits pay. A network of 298,416 (b4c64) was 1.1 to 1.4 times as fast with
/// them (AVX-512 VNNI, 9×9 and 19×19), but scored 45.5 % (39 to 52) of 200 games at equal visits on 9×9 against itself in 32 bits.
const LEAST_FOR_INTEGERS: usize = 500_000;

/// More than rounding has ever made of probabilities and owners, as the root of their mean square: 0.03, with small transformers in
/// 8 bits. Of a single owner it may make more in such strange positions, which says little (0.13, and in others up to 1).
const TOLERANCE: f32 = 0.1;

/// Positions that are tried: stones of both sides here and there, of which each has two liberties if it
/// says so.
fn trial_inputs() -> Vec<Input> {
    let positions = [(9, 4), (9, 5)];
    positions
        .into_iter()
        .map(|(side, step)| {
            let mut input = Input::zero(side, side);
            for point in 0..side * side {
                let features = input.point_mut(point % side, point / side);
                features[0] = 1.0;
                if (1..3).contains(&(point % step)) {
                    features[point % step] = 1.0;
                    features[4] = 1.0;
                }
            }
            input
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::kernels::kernel::Kernel;
    use crate::net::random::{self, Options};

    fn network(seed: u64) -> Network {
        random::network(&Options { seed, ..Options::default() }).unwrap()
    }

    #[test]
    fn arithmetic_that_computes_something_else_is_noticed() {
        let [one, other] = [1, 2].map(network);
        let exact = Arithmetic { kernel: Kernel::Portable, precision: Precision::F32 };
        let [exact_one, exact_other] = [&one, &other].map(|network| Prepared::new(network, exact));
        let emulated = Arithmetic { kernel: Kernel::EmulatedBf16, precision: Precision::Bf16 };
        for arithmetic in [exact, emulated] {
            let prepared = Prepared::new(&one, arithmetic);
            assert!(prepared.agrees_with(&one, &exact_one), "{}", arithmetic.name());
            assert!(!prepared.agrees_with(&other, &exact_other), "{}", arithmetic.name());
        }
    }

    #[test]
    fn what_is_asked_for_is_what_is_prepared() {
        let network = network(1);
        let chosen = |kernel, precision| {
            Prepared::fastest(&network, ArithmeticChoice { kernel, precision }).arithmetic()
        };
        for arithmetic in Arithmetic::available() {
            let Arithmetic { kernel, precision } = arithmetic;
            assert_eq!(chosen(Some(kernel), Some(precision)), arithmetic);
            assert_eq!(chosen(Some(kernel), None).kernel, kernel);
            assert_eq!(chosen(None, Some(precision)).precision, precision);
        }
        assert_eq!(chosen(Some(Kernel::Portable), None).precision, Precision::F32);
        assert_ne!(chosen(None, None).precision, Precision::Int8, "a small network");
        let impossible =
            ArithmeticChoice { kernel: Some(Kernel::Portable), precision: Some(Precision::Bf16) };
        assert_eq!(impossible.candidates(), []);
    }
}
