//! Conversion of networks to integers: the rounding that the preparation for 8 bits does, ahead of time.

use super::balance;
use super::batch::joined_window;
use super::kernel::{Arithmetic, ArithmeticChoice, Precision};
use super::linear::{rounded_to_bytes, rounded_to_halves};
use super::prepared::Prepared;
use super::primitives::Primitives;
use super::simd::ByteSums;
use super::statistics::{BlockPath, InputStatistics, ObservedStatistics, ProductKind};
use super::transformer::keeps_integers;
use super::trial::TrialEvaluation;
use crate::int8::Rounding;
use crate::layer::{Conv, MatMul};
use crate::model::{Block, Network};
use crate::weights::{Integers, Weights};

impl Network {
    /// Returns the network with integers as weights: those that the preparation for 8 bits
    /// ([`Prepared::new`]) computes on this processor, without the hidden units that affect no result. A network that
    /// was converted already is returned as it is.
    ///
    /// * Convolutions with windows, and the matrices of transformers, become 8-bit integers with a scale for each
    ///   output.
    /// * 1 × 1 convolutions in blocks, and the last matrices of attention, become 16-bit integers with a scale.
    /// * Everything else stays as it is: the first convolution, norms, and the heads.
    ///
    /// In 8 bits, kernels whose sums of bytes are not limited use the integers directly. Evaluations are then identical
    /// to those of the original network, if that is prepared by a kernel with the same products of floats. All other
    /// kernels, and those that compute 3 × 3 windows in 16 bits or more, compute with the integers times the scales.
    pub fn to_int8(&self) -> Network {
        if self.rounding.is_some() {
            return self.clone();
        }
        let network = self.without_dead_units();
        let of_precision =
            |precision| ArithmeticChoice { kernel: None, precision: Some(precision) }.candidates();
        let exact = of_precision(Precision::F32)[0];
        let trial = TrialEvaluation::of(&network, exact.kernel);
        let mut converted = network.clone();
        round_blocks(&mut converted.trunk.blocks, BlockPath::TRUNK, &trial.observed);
        converted.rounding = Some(Rounding { agrees: false });
        let keeps = |it: &Arithmetic| keeps_integers(&Primitives::of(it.kernel), it.precision);
        let agrees = of_precision(Precision::Int8)
            .into_iter()
            .find(keeps)
            .is_some_and(|arithmetic| trial.agrees(&network, &Prepared::new(&converted, arithmetic)));
        converted.rounding = Some(Rounding { agrees });
        converted
    }
}

/// Rounds blocks of the stack inside the block `around`.
fn round_blocks(blocks: &mut [Block], around: BlockPath, observed: &ObservedStatistics) {
    for (index, block) in blocks.iter_mut().enumerate() {
        let path = around.inside(index);
        let statistics = |kind| observed.of(path, kind);
        match block {
            Block::Ordinary(block) => {
                round_convs(&mut [&mut block.first.conv]);
                round_convs(&mut [&mut block.second.conv]);
            }
            Block::GlobalPooling(block) => {
                round_convs(&mut [&mut block.first.conv, &mut block.pooling.conv]);
                round_convs(&mut [&mut block.second.conv]);
            }
            Block::NestedBottleneck(block) => {
                round_convs(&mut [&mut block.first.conv]);
                round_convs(&mut [&mut block.second.conv]);
                round_blocks(&mut block.blocks, path, observed);
            }
            Block::Attention(block) => {
                let mut first = statistics(ProductKind::First).cloned();
                **block = balance::of_values(&balance::attention(block, first.as_mut()));
                for matrix in [&mut block.query, &mut block.key, &mut block.value] {
                    round_matrix(matrix, first.as_ref());
                }
                let output = &mut block.output;
                output.weights = halves(&output.weights, output.inputs, output.outputs);
            }
            Block::FeedForward(block) => {
                let mut first = statistics(ProductKind::First).cloned();
                **block = balance::feed_forward(block, first.as_mut());
                for matrix in [&mut block.first, &mut block.gate] {
                    round_matrix(matrix, first.as_ref());
                }
                round_matrix(&mut block.last, statistics(ProductKind::Last));
            }
        }
    }
}

/// Rounds convolutions of the same input, whose window determines the number of bits.
fn round_convs(convs: &mut [&mut Conv]) {
    let window = joined_window(&convs.iter().map(|conv| &**conv).collect::<Vec<_>>());
    for conv in convs {
        conv.weights = match window {
            (1, 1) => halves(&conv.weights, conv.inputs, conv.outputs),
            _ => bytes(&conv.weights, conv.outputs, None),
        };
    }
}

fn round_matrix(matrix: &mut MatMul, statistics: Option<&InputStatistics>) {
    matrix.weights = bytes(&matrix.weights, matrix.outputs, statistics);
}

fn bytes(weights: &Weights, outputs: usize, statistics: Option<&InputStatistics>) -> Weights {
    let (integers, scales) = rounded_to_bytes(&weights.floats(), outputs, ByteSums::WHOLE, statistics);
    Integers::of_bytes(&integers, scales).into()
}

fn halves(weights: &Weights, inputs: usize, outputs: usize) -> Weights {
    let (integers, scales) = rounded_to_halves(&weights.floats(), inputs, outputs);
    Integers::of_halves(&integers, scales).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;
    use crate::kernels::forward::Scratch;
    use crate::kernels::kernel::Kernel;
    use crate::random::{BlockKind, Options, network};
    use crate::{Encoding, Output};

    fn options(seed: u64, channels: usize) -> Options {
        let blocks = vec![
            BlockKind::Ordinary,
            BlockKind::NestedPooling,
            BlockKind::GlobalPooling,
            BlockKind::Attention,
            BlockKind::FeedForward,
        ];
        Options { version: 17, blocks, channels, seed, ..Options::default() }
    }

    fn outputs(network: &Network, arithmetic: Arithmetic) -> Vec<Output> {
        let prepared = Prepared::new(network, arithmetic);
        let mut rng = kosumi_go::rng::Rng::new(4);
        let inputs = [(5, 7), (9, 9)].map(|(width, height)| {
            let mut input = Input::zero(width, height);
            input.spatial.iter_mut().for_each(|x| *x = f32::from(u8::from(rng.below(4) == 0)));
            input.global.iter_mut().for_each(|x| *x = rng.unit() as f32);
            input
        });
        inputs.iter().map(|it| prepared.evaluate_one(it, &mut Scratch::default()).unwrap()).collect()
    }

    fn reread(network: &Network, encoding: Encoding) -> Network {
        let mut file = Vec::new();
        network.write(encoding, &mut file).unwrap();
        Network::read(&file[..]).unwrap()
    }

    /// Tests numbers of channels with and without padding, with all kernels whose windows of bytes and products of
    /// floats are those of the kernel that converts the network.
    #[test]
    fn evaluations_of_integers_are_those_of_the_network() {
        let exact = ArithmeticChoice { kernel: None, precision: Some(Precision::F32) }.candidates()[0];
        let is_meant = |it: &Arithmetic| {
            let primitives = Primitives::of(it.kernel);
            let has_same_floats = Primitives::of(exact.kernel).lanes == primitives.lanes;
            let has_windows = primitives.winograd_16_bits.is_none() && primitives.tiles.is_none();
            keeps_integers(&primitives, it.precision) && has_same_floats && has_windows
        };
        for (seed, channels) in [(1, 64), (2, 27)] {
            let network = network(&options(seed, channels)).unwrap();
            let converted = network.to_int8();
            let read = reread(&converted, Encoding::Int8);
            assert_eq!(read, converted);
            assert_eq!(read.to_int8(), read, "no second rounding");
            for arithmetic in Arithmetic::available().into_iter().filter(is_meant) {
                let expected = outputs(&network, arithmetic);
                assert_eq!(outputs(&read, arithmetic), expected, "{}", arithmetic.name());
            }
        }
    }

    /// Every kernel and precision can use integers. Kernels that do not keep them compute with the floats that KataGo's
    /// format has in their place.
    #[test]
    fn every_kernel_takes_integers() {
        let network = network(&options(3, 40)).unwrap();
        let read = reread(&network.to_int8(), Encoding::Int8);
        let floats = reread(&read, Encoding::Binary);
        let emulated = Arithmetic { kernel: Kernel::EmulatedBf16, precision: Precision::Bf16 };
        for arithmetic in Arithmetic::available().into_iter().chain([emulated]) {
            let (found, expected) = (outputs(&read, arithmetic), outputs(&floats, arithmetic));
            if !keeps_integers(&Primitives::of(arithmetic.kernel), arithmetic.precision) {
                assert_eq!(found, expected, "{}", arithmetic.name());
            }
            for (found, expected) in found.iter().zip(&expected) {
                let off = found.ownership.iter().zip(&expected.ownership).map(|(a, b)| (a - b).abs());
                assert!(off.fold(0.0, f32::max) < 0.1, "{}", arithmetic.name());
            }
        }
    }

    #[test]
    fn converted_networks_are_prepared_without_a_trial() {
        // Large enough for 8 bits.
        let blocks = vec![BlockKind::Ordinary; 2];
        let network = network(&Options { blocks, channels: 128, ..Options::default() }).unwrap();
        let converted = network.to_int8();
        assert_eq!(converted.rounding, Some(Rounding { agrees: true }));
        assert!(converted.cost() == network.cost());
        for kernel in Kernel::ALL.into_iter().filter(|it| it.is_available()) {
            let choice = ArithmeticChoice { kernel: Some(kernel), precision: None };
            let [before, after] = [&network, &converted].map(|it| Prepared::fastest(it, choice).arithmetic());
            assert_eq!(before, after);
        }
        let unchecked = Network { rounding: Some(Rounding { agrees: false }), ..converted };
        let choice = ArithmeticChoice::default();
        let [before, after] = [&network, &unchecked].map(|it| Prepared::fastest(it, choice).arithmetic());
        assert_eq!(before, after);
    }
}
