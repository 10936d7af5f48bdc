//! Trial evaluation of a network without rounding, in a few positions.

use super::forward::Scratch;
use super::kernel::{Arithmetic, Kernel, Precision};
use super::prepared::Prepared;
use super::primitives::Primitives;
use super::statistics::ObservedStatistics;
use super::transformer::keeps_integers;
use crate::features::Features;
use crate::input::Input;
use crate::model::Network;
use crate::output::{NotFinite, Output};
use crate::prediction::{Context, Prediction};
use kosumi_go::board::{BoardSize, Move};
use kosumi_go::game::{Game, Line};
use kosumi_go::rules::Rules;

impl Prepared {
    /// Prepares `network` for this arithmetic. For 8 bits, the network is first evaluated without rounding in a few
    /// positions, to determine how to round it best, unless it was converted to integers.
    ///
    /// # Panics
    ///
    /// Panics if this processor does not support the kernel ([`Kernel::is_available`](super::Kernel::is_available)) or
    /// if the kernel does not support the precision ([`Kernel::precisions`](super::Kernel::precisions)).
    pub fn new(network: &Network, arithmetic: Arithmetic) -> Prepared {
        let Arithmetic { kernel, precision } = arithmetic;
        if precision != Precision::Int8 {
            return Prepared::with_primitives(network, arithmetic, Primitives::of(kernel));
        }
        assert!(
            kernel.precisions().contains(&precision),
            "kernel {} does not support precision {}",
            kernel.name(),
            precision.name()
        );
        if network.rounding.is_some() && keeps_integers(&Primitives::of(kernel), precision) {
            return Prepared::with_primitives(network, arithmetic, Primitives::of(kernel));
        }
        TrialEvaluation::of(network, kernel).prepare(network, arithmetic)
    }
}

/// Outputs of a network in the trial positions without rounding, and statistics of its products.
#[derive(Debug)]
pub(super) struct TrialEvaluation {
    inputs: [Input; 2],
    outputs: Vec<Result<Output, NotFinite>>,
    pub(super) observed: ObservedStatistics,
}

impl TrialEvaluation {
    /// Evaluates the trial positions without rounding, by this kernel. The weights of only one or two blocks are
    /// prepared at a time, because those of a large network take gigabytes.
    pub(super) fn of(network: &Network, kernel: Kernel) -> TrialEvaluation {
        let mut scratch = Scratch::default();
        scratch.observe();
        let inputs = trial_inputs();
        let outputs = Prepared::evaluate_by_blocks(network, kernel, &inputs, &mut scratch);
        TrialEvaluation { inputs, outputs, observed: scratch.observed() }
    }

    /// Prepares the network like [`Prepared::new`], but without a new trial.
    pub(super) fn prepare(&self, network: &Network, arithmetic: Arithmetic) -> Prepared {
        Prepared::with_statistics(network, arithmetic, &self.observed)
    }

    /// Returns whether the predictions of `prepared` in the trial positions are nearly equal to those without rounding.
    pub(super) fn agrees(&self, network: &Network, prepared: &Prepared) -> bool {
        self.inputs.iter().zip(&self.outputs).all(|(input, expected)| {
            let context = Context {
                legal: &vec![true; input.width * input.height],
                no_result: true,
                optimism_share: 0.0,
                temperature: 1.0,
            };
            let meaning = |output: Output| Prediction::new(network, &output, context);
            let expected = expected.clone().and_then(meaning);
            let found = prepared.evaluate_one(input, &mut Scratch::default()).and_then(meaning);
            // Outputs that are not finite must be rejected, and rounding might hide them.
            let (Ok(expected), Ok(found)) = (expected, found) else { return false };
            let numbers =
                |it: &Prediction| [&it.policy[..], &it.ownership[..], &[it.pass, it.win, it.loss]].concat();
            let (expected, found) = (numbers(&expected), numbers(&found));
            let squares = expected.iter().zip(&found).map(|(expected, found)| (expected - found).powi(2));
            (squares.sum::<f32>() / expected.len() as f32).sqrt() < TOLERANCE
        })
    }
}

/// Tolerance of the root mean square error of probabilities and ownership. It exceeds all errors that rounding has
/// caused, which were at most 0.03 (with small transformers in 8 bits).
const TOLERANCE: f32 = 0.1;

/// Returns the trial positions, one of the opening and one of the middle game. They are realistic, because the inputs
/// of products in unrealistic positions differ from those in games.
fn trial_inputs() -> [Input; 2] {
    // Moves as pairs of letters: column and row, from 'a' on.
    const OPENING: &str = "dd fe fg ef eg dg df de cf ce";
    const MIDDLE: &str = "cg gc fc gb be cd bd cc ge gd ff ee he gf hf bc ib gg gh hd";
    let size = BoardSize::square(9).expect("a valid board size");
    let mut game = Game::new(size, Rules::default(), 7.0);
    [OPENING, MIDDLE].map(|moves| {
        for place in moves.split(' ') {
            let [column, row] = [0, 1].map(|index| usize::from(place.as_bytes()[index] - b'a'));
            let point = size.point(column, row).expect("a point of the board");
            game.play(game.to_move(), Move::Play(point)).expect("a legal move");
        }
        let mut input = Input::zero(size.columns(), size.rows());
        Features::default().fill(&Line::new(&game), &mut input);
        input
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::kernel::Kernel;
    use crate::kernels::statistics::{BlockPath, ProductKind};
    use crate::layer::Activation;
    use crate::model::Block;
    use crate::random::{self, BlockKind, Options};

    #[test]
    fn trial_rejects_wrong_arithmetic() {
        let network = |seed| random::network(&Options { seed, ..Options::default() }).unwrap();
        let [one, other] = [1, 2].map(network);
        let exact = Arithmetic { kernel: Kernel::Portable, precision: Precision::F32 };
        let [trial_one, trial_other] =
            [&one, &other].map(|network| TrialEvaluation::of(network, exact.kernel));
        let emulated = Arithmetic { kernel: Kernel::EmulatedBf16, precision: Precision::Bf16 };
        for arithmetic in [exact, emulated] {
            let prepared = Prepared::new(&one, arithmetic);
            assert!(trial_one.agrees(&one, &prepared), "{}", arithmetic.name());
            assert!(!trial_other.agrees(&other, &prepared), "{}", arithmetic.name());
        }
    }

    fn transformer() -> Network {
        let blocks = vec![BlockKind::NestedTransformer, BlockKind::Attention, BlockKind::FeedForward];
        let options =
            Options { version: 17, blocks, channels: 64, activation: Activation::Silu, ..Options::default() };
        random::network(&options).unwrap()
    }

    #[test]
    fn all_int8_products_are_observed() {
        let network = transformer();
        let trial = TrialEvaluation::of(&network, Kernel::Portable);
        let Block::NestedBottleneck(nested) = &network.trunk.blocks[0] else { panic!("a nested block") };
        let path = BlockPath::TRUNK.inside(0);
        let inner = nested.blocks.iter().enumerate().map(|(index, block)| (path.inside(index), block));
        let outer = network.trunk.blocks.iter().enumerate().skip(1);
        let outer = outer.map(|(index, block)| (BlockPath::TRUNK.inside(index), block));
        let is_known = |path, which| {
            trial
                .observed
                .of(path, which)
                .is_some_and(|statistics| statistics.most.iter().any(|most| *most > 0.0))
        };
        for (path, block) in inner.chain(outer) {
            assert!(is_known(path, ProductKind::First), "{path:?}");
            // The last product of attention is in 16 bits and is not recorded.
            assert_eq!(is_known(path, ProductKind::Last), matches!(block, Block::FeedForward(_)), "{path:?}");
        }
        assert!(!is_known(BlockPath::TRUNK.inside(3), ProductKind::First));
    }

    /// A channel that is much larger than the others after a norm, and has small weights, must not degrade the result,
    /// as it does when the network is rounded without statistics.
    #[test]
    fn large_channels_are_balanced() {
        let mut network = transformer();
        let Block::NestedBottleneck(nested) = &mut network.trunk.blocks[0] else { panic!("a nested block") };
        for block in &mut nested.blocks {
            let (norm, matrices) = match block {
                Block::Attention(block) => {
                    (&mut block.norm, vec![&mut block.query, &mut block.key, &mut block.value])
                }
                Block::FeedForward(block) => (&mut block.norm, vec![&mut block.first, &mut block.gate]),
                _ => panic!("not a transformer block"),
            };
            norm.scale[3] *= 40.0;
            for matrix in matrices {
                matrix.weights.to_mut()[3 * matrix.outputs..][..matrix.outputs]
                    .iter_mut()
                    .for_each(|weight| *weight /= 40.0);
            }
        }
        let arithmetic = Arithmetic { kernel: Kernel::Portable, precision: Precision::Int8 };
        let off = |prepared: &Prepared| -> f32 {
            let exact = Prepared::without_rounding(&network, Kernel::Portable);
            let squares = trial_inputs().map(|input| {
                let [found, expected] =
                    [prepared, &exact].map(|it| it.evaluate_one(&input, &mut Scratch::default()).unwrap());
                let owners = found.ownership.iter().zip(&expected.ownership);
                owners.map(|(found, expected)| (found - expected).powi(2)).sum::<f32>()
            });
            squares.into_iter().sum::<f32>().sqrt()
        };
        let without_a_look =
            Prepared::with_primitives(&network, arithmetic, Primitives::of(Kernel::Portable));
        let (plain, tried) = (off(&without_a_look), off(&Prepared::new(&network, arithmetic)));
        assert!(tried < plain / 3.0, "{tried} {plain}");
    }
}
