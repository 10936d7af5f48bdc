//! Selection of the arithmetic for a network.

use super::kernel::{Arithmetic, ArithmeticChoice, Precision};
use super::prepared::Prepared;
use super::primitives::Primitives;
use super::transformer::keeps_integers;
use super::trial::TrialEvaluation;
use crate::model::Network;

impl Prepared {
    /// Prepares `network` for the fastest arithmetic of this processor that `choice` allows.
    ///
    /// An arithmetic that rounds must first agree with one that does not in a few positions. If it does not agree, the
    /// next fastest one is tried. For a network that was converted to integers, the conversion has checked this, unless
    /// the processor limits sums of bytes. The check is skipped if `choice` allows no arithmetic without rounding.
    /// Small networks get 8 bits only if `choice` requests them.
    ///
    /// # Panics
    ///
    /// Panics if this processor supports nothing that is allowed; see [`ArithmeticChoice::candidates`].
    pub fn fastest(network: &Network, choice: ArithmeticChoice) -> Prepared {
        let mut candidates = choice.candidates();
        if choice.precision.is_none() && network.cost().multiply_adds < MIN_MULTIPLY_ADDS_FOR_INTEGERS {
            let is_wide = |it: &Arithmetic| it.precision != Precision::Int8;
            if candidates.iter().any(is_wide) {
                candidates.retain(is_wide);
            }
        }
        let exact = candidates.iter().copied().find(|it| !it.is_rounded());
        let mut trial = None;
        for &arithmetic in &candidates {
            if !arithmetic.is_rounded() {
                break;
            }
            let is_checked = network.rounding.is_some_and(|rounding| rounding.agrees);
            if is_checked && keeps_integers(&Primitives::of(arithmetic.kernel), arithmetic.precision) {
                return Prepared::new(network, arithmetic);
            }
            let Some(exact) = exact else { return Prepared::new(network, arithmetic) };
            let trial = trial.get_or_insert_with(|| TrialEvaluation::of(network, exact.kernel));
            let mut prepared = trial.prepare(network, arithmetic);
            if trial.agrees(network, &prepared) {
                prepared.forget_windows();
                return prepared;
            }
        }
        let exact =
            exact.expect("an allowed arithmetic is available, and one without rounding if no other agrees");
        Prepared::new(network, exact)
    }
}

/// Least number of multiply-adds per point of the board for which 8 bits are worthwhile. A network of 298,416 (b4c64)
/// was 1.1 to 1.4 times as fast in 8 bits (AVX-512 VNNI, 9×9 and 19×19), but scored 45.5 % (39 to 52) in 200 games on
/// 9×9 against itself in 32 bits at equal visits.
const MIN_MULTIPLY_ADDS_FOR_INTEGERS: usize = 500_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::kernel::Kernel;
    use crate::random::{self, Options};

    fn network(seed: u64) -> Network {
        random::network(&Options { seed, ..Options::default() }).unwrap()
    }

    #[test]
    fn requested_arithmetic_is_used() {
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
