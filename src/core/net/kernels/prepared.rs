//! A network with its weights in the order in which kernels read them.

use super::Kernel;
use super::convolution::{Convolution, Joined};
use super::forward::Scratch;
use super::pointwise::NormAct;
use super::primitives::Primitives;
use crate::net::input::Input;
use crate::net::layer::{Activation, ActivationLayer, Bias, Conv, MatMul, Norm};
use crate::net::model::{Block, GlobalPooling, Network, NormActConv, TrunkNorm};
use crate::net::output::Output;
use crate::net::prediction::{Context, Prediction};
use crate::net::scalar;

/// A network, prepared for a processor. It is not changed by evaluating, and threads can share it.
#[derive(Debug)]
pub struct Prepared {
    /// The network itself, if it has layers that only the plain forward pass computes.
    pub(super) plain: Option<Box<Network>>,
    pub(super) kernel: Kernel,
    pub(super) primitives: Primitives,
    pub(super) first_conv: Joined,
    pub(super) global_matmul: MatMul,
    pub(super) blocks: Vec<PreparedBlock>,
    /// Behind the last block.
    pub(super) last_norm: PreparedNorm,
    pub(super) heads: Heads,
}

/// A normalisation and the activation behind it, filled up with zeros. There, zero stays zero.
#[derive(Debug)]
pub(super) struct PreparedNorm {
    scale: Vec<f32>,
    bias: Vec<f32>,
    activation: Activation,
}

#[derive(Debug)]
pub(super) struct PreparedBlock {
    /// Before everything else.
    pub(super) norm: PreparedNorm,
    pub(super) inside: Inside,
    pub(super) last_conv: Convolution,
}

/// What lies between the first norm and the last convolution of a block.
#[derive(Debug)]
pub(super) enum Inside {
    Ordinary {
        conv: Convolution,
        norm: PreparedNorm,
    },
    /// The convolution gives the regular channels and, behind them, those that are pooled.
    Pooling {
        conv: Convolution,
        pooling: PreparedPooling,
        norm: PreparedNorm,
    },
    Nested {
        conv: Convolution,
        blocks: Vec<PreparedBlock>,
        norm: PreparedNorm,
    },
}

/// Pooled channels, and what becomes of them.
#[derive(Debug)]
pub(super) struct PreparedPooling {
    pub(super) norm: PreparedNorm,
    pub(super) matmul: MatMul,
}

#[derive(Debug)]
pub(super) struct Heads {
    /// Gives the channels of the policy, then its pooled ones, then those of the value.
    pub(super) conv: Convolution,
    pub(super) pooling: PreparedPooling,
    pub(super) policy_norm: PreparedNorm,
    /// How many logits every move has, of which up to two are used.
    pub(super) policy_conv: Convolution,
    pub(super) policy_channels: usize,
    pub(super) pass_matmul: MatMul,
    pub(super) pass: Option<(Bias, Activation, MatMul)>,
    pub(super) value_norm: PreparedNorm,
    pub(super) value_matmul: MatMul,
    pub(super) value_bias: Bias,
    pub(super) value_activation: Activation,
    pub(super) result: (MatMul, Bias),
    pub(super) score: (MatMul, Bias),
    pub(super) ownership_conv: Convolution,
}

impl Prepared {
    /// Prepares `network` for `kernel`.
    ///
    /// # Panics
    /// If this processor cannot run the kernel; see [`Kernel::is_available`].
    pub fn new(network: &Network, kernel: Kernel) -> Prepared {
        Prepared::with_primitives(network, kernel, Primitives::of(kernel))
    }

    fn with_primitives(network: &Network, kernel: Kernel, primitives: Primitives) -> Prepared {
        let maker = Maker { primitives };
        let trunk = &network.trunk;
        let plain = (!is_supported(network)).then(|| Box::new(network.clone()));
        let blocks = if plain.is_some() { Vec::new() } else { maker.blocks(&trunk.blocks) };
        let last_norm = match &trunk.last_norm {
            TrunkNorm::Batch(norm) => maker.norm(norm, &trunk.last_activation),
            TrunkNorm::Rms(_) => {
                PreparedNorm { scale: Vec::new(), bias: Vec::new(), activation: Activation::Identity }
            }
        };
        Prepared {
            plain,
            kernel,
            primitives,
            // The features are not filled up.
            first_conv: Joined::new(&[&trunk.first_conv], 1, primitives.align),
            global_matmul: trunk.global_matmul.clone(),
            blocks,
            last_norm,
            heads: maker.heads(network),
        }
    }

    /// Prepares `network` for the fastest kernel of this processor. One that rounds must first agree with the plain
    /// forward pass about a position, or the next one is taken.
    pub fn fastest(network: &Network) -> Prepared {
        let kernels = Kernel::ALL.into_iter().rev().filter(|kernel| kernel.is_available());
        let mut prepared = kernels.map(|kernel| Prepared::new(network, kernel));
        let good = prepared.find(|prepared| !prepared.kernel.is_rounded() || prepared.agrees_with(network));
        good.expect("the portable kernel runs everywhere and does not round")
    }

    /// Does it say nearly the same as `network` about a small board with some stones?
    fn agrees_with(&self, network: &Network) -> bool {
        // Far more than rounding to 16 bits has ever made of a probability or an owner.
        const TOLERANCE: f32 = 0.1;
        let side = 5;
        let mut input = Input::zero(side, side);
        for point in 0..side * side {
            let features = input.point_mut(point % side, point / side);
            features[0] = 1.0;
            if point % 3 > 0 {
                // A stone of either side with two liberties.
                features[point % 3] = 1.0;
                features[4] = 1.0;
            }
        }
        let context = Context { legal: &[true; 25], no_result: true, optimism: 0.0 };
        let meaning = |output: Output| Prediction::new(network, &output, context);
        let wanted = scalar::evaluate(network, &input).and_then(meaning);
        let found = self.evaluate_one(&input, &mut Scratch::default()).and_then(meaning);
        // What is not finite will be refused by every kernel.
        let (Ok(wanted), Ok(found)) = (wanted, found) else { return true };
        let numbers =
            |it: &Prediction| [&it.policy[..], &it.ownership[..], &[it.pass, it.win, it.loss]].concat();
        numbers(&wanted).iter().zip(numbers(&found)).all(|(wanted, found)| (wanted - found).abs() < TOLERANCE)
    }

    /// The kernel that it was prepared for.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }
}

/// Can kernels compute all of it?
fn is_supported(network: &Network) -> bool {
    fn all(blocks: &[Block]) -> bool {
        blocks.iter().all(|it| !matches!(it, Block::Attention(_) | Block::FeedForward(_)) && all(it.inner()))
    }
    let trunk = &network.trunk;
    all(&trunk.blocks) && matches!(trunk.last_norm, TrunkNorm::Batch(_)) && trunk.metadata_encoder.is_none()
}

impl PreparedNorm {
    /// Channels, those that were filled up included.
    pub(super) fn channels(&self) -> usize {
        self.scale.len()
    }

    pub(super) fn get(&self) -> NormAct<'_> {
        NormAct { scale: &self.scale, bias: &self.bias, activation: self.activation }
    }

    /// The norm of channels to which `added` has been added, in `memory`: `(x + added) · scale + bias` is affine.
    pub(super) fn behind<'n>(&'n self, added: &[f32], memory: &'n mut Vec<f32>) -> NormAct<'n> {
        memory.clone_from(&self.bias);
        for ((bias, scale), added) in memory.iter_mut().zip(&self.scale).zip(added) {
            *bias += scale * added;
        }
        NormAct { bias: memory, ..self.get() }
    }
}

struct Maker {
    primitives: Primitives,
}

impl Maker {
    fn norm(&self, norm: &Norm, activation: &ActivationLayer) -> PreparedNorm {
        let mut affine = norm.folded();
        let channels = norm.channels().next_multiple_of(self.primitives.align);
        affine.scale.resize(channels, 0.0);
        affine.bias.resize(channels, 0.0);
        PreparedNorm { scale: affine.scale, bias: affine.bias, activation: activation.activation }
    }

    fn norm_of(&self, part: &NormActConv) -> PreparedNorm {
        self.norm(&part.norm, &part.activation)
    }

    fn conv(&self, convs: &[&Conv]) -> Convolution {
        Convolution::new(convs, &self.primitives)
    }

    fn pooling(&self, pooling: &GlobalPooling) -> PreparedPooling {
        let norm = self.norm(&pooling.norm, &pooling.activation);
        PreparedPooling { norm, matmul: pooling.matmul.clone() }
    }

    fn blocks(&self, blocks: &[Block]) -> Vec<PreparedBlock> {
        blocks.iter().map(|block| self.block(block)).collect()
    }

    fn block(&self, block: &Block) -> PreparedBlock {
        let (first, inside, last) = match block {
            Block::Ordinary(block) => {
                let conv = self.conv(&[&block.first.conv]);
                (&block.first, Inside::Ordinary { conv, norm: self.norm_of(&block.second) }, &block.second)
            }
            Block::GlobalPooling(block) => {
                let conv = self.conv(&[&block.first.conv, &block.pooling.conv]);
                let pooling = self.pooling(&block.pooling);
                (
                    &block.first,
                    Inside::Pooling { conv, pooling, norm: self.norm_of(&block.second) },
                    &block.second,
                )
            }
            Block::NestedBottleneck(block) => {
                let conv = self.conv(&[&block.first.conv]);
                let blocks = self.blocks(&block.blocks);
                (
                    &block.first,
                    Inside::Nested { conv, blocks, norm: self.norm_of(&block.second) },
                    &block.second,
                )
            }
            Block::Attention(_) | Block::FeedForward(_) => {
                unreachable!("the plain forward pass computes these")
            }
        };
        PreparedBlock { norm: self.norm_of(first), inside, last_conv: self.conv(&[&last.conv]) }
    }

    fn heads(&self, network: &Network) -> Heads {
        let (policy, value) = (&network.policy, &network.value);
        let pass = policy.pass.as_ref();
        Heads {
            conv: self.conv(&[&policy.conv, &policy.pooling.conv, &value.conv]),
            pooling: self.pooling(&policy.pooling),
            policy_norm: self.norm(&policy.norm, &policy.activation),
            policy_conv: self.conv(&[&policy.last_conv]),
            policy_channels: policy.last_conv.outputs,
            pass_matmul: policy.pass_matmul.clone(),
            pass: pass.map(|pass| (pass.bias.clone(), pass.activation.activation, pass.matmul.clone())),
            value_norm: self.norm(&value.norm, &value.activation),
            value_matmul: value.matmul.clone(),
            value_bias: value.bias.clone(),
            value_activation: value.second_activation.activation,
            result: (value.value_matmul.clone(), value.value_bias.clone()),
            score: (value.score_matmul.clone(), value.score_bias.clone()),
            ownership_conv: self.conv(&[&value.ownership_conv]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::kernels::tiles;
    use crate::net::random::{BlockKind, Options, network};
    use crate::rng::Rng;

    #[test]
    fn a_kernel_that_computes_something_else_is_noticed() {
        let [one, other] = [1, 2].map(|seed| network(&Options { seed, ..Options::default() }).unwrap());
        for kernel in [Kernel::Portable, Kernel::EmulatedBf16] {
            let prepared = Prepared::new(&one, kernel);
            assert!(prepared.agrees_with(&one), "{}", kernel.name());
            assert!(!prepared.agrees_with(&other), "{}", kernel.name());
        }
        assert!(Prepared::fastest(&one).agrees_with(&one));
    }

    /// Between the products of tiles, other kernels round differently, and a number that lies between two of 16 bits
    /// then becomes another. With the same vectors around them, nothing may differ.
    #[test]
    #[expect(clippy::print_stderr, reason = "says that nothing was tested")]
    fn networks_on_tiles_are_bit_for_bit_what_their_emulation_computes() {
        if !Kernel::AmxBf16.is_available() {
            eprintln!("skipped: this processor has no tiles of bf16");
            return;
        }
        for (version, activation) in [(8, Activation::Relu), (16, Activation::Mish)] {
            let (blocks, channels) = (BlockKind::ALL.to_vec(), 50);
            let network = network(&Options { version, blocks, channels, activation, seed: 3 }).unwrap();
            let on_tiles = Primitives::of(Kernel::AmxBf16);
            let emulated = Primitives { tiles: Some(tiles::EMULATED), ..on_tiles };
            let mut rng = Rng::new(version.into());
            let mut input = Input::zero(6, 5);
            input.spatial.iter_mut().chain(&mut input.global).for_each(|x| *x = rng.unit() as f32 - 0.5);
            let run = |primitives| {
                let prepared = Prepared::with_primitives(&network, Kernel::AmxBf16, primitives);
                prepared.evaluate(&[&input; 3], &mut Scratch::default()).unwrap()
            };
            assert_eq!(run(on_tiles), run(emulated));
        }
    }
}
