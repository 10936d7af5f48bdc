//! Network with its weights in the order in which kernels read them.

use super::batch::JoinedConv;
use super::convolution::Convolution;
use super::forward::Scratch;
use super::kernel::{Arithmetic, Kernel, Precision};
use super::pointwise::NormAct;
use super::primitives::Primitives;
use super::statistics::{BlockPath, ObservedStatistics};
use super::transformer::{PreparedAttention, PreparedFeedForward, keeps_integers};
use crate::input::Input;
use crate::layer::{Activation, ActivationLayer, Bias, Conv, MatMul, Norm};
use crate::model::{Block, GlobalPooling, MetadataEncoder, Network, NormActConv, TrunkNorm};
use crate::output::{NotFinite, Output};
use std::borrow::Cow;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Network that is prepared for a processor. Evaluation does not change it, so threads can share it.
#[derive(Debug)]
pub struct Prepared {
    pub(super) arithmetic: Arithmetic,
    pub(super) primitives: Primitives,
    pub(super) first_conv: JoinedConv,
    pub(super) global_matmul: MatMul,
    pub(super) metadata_encoder: Option<MetadataEncoder>,
    pub(super) blocks: Vec<PreparedBlock>,
    /// Norm after the last block.
    pub(super) last_norm: LastNorm,
    pub(super) heads: Heads,
}

/// Normalisation and activation, padded with zeros. Padding channels stay zero.
#[derive(Debug)]
pub(super) struct PreparedNorm {
    scale: Vec<f32>,
    bias: Vec<f32>,
    activation: Activation,
}

/// Norm and activation at the end of the trunk.
#[derive(Debug)]
pub(super) struct LastNorm {
    pub(super) norm: PreparedNorm,
    /// Division by the root mean square before the norm, if there is one.
    pub(super) rms: Option<LastRms>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LastRms {
    pub(super) epsilon: f32,
    /// Whether the mean is taken over all points of a board together, instead of for each point.
    pub(super) is_spatial: bool,
    /// Number of channels without padding.
    pub(super) channels: usize,
}

#[derive(Debug)]
pub(super) enum PreparedBlock {
    Convolutions(Box<Convolutions>),
    Attention(Box<PreparedAttention>),
    FeedForward(Box<PreparedFeedForward>),
}

/// Convolutional block: a norm, inner layers, a norm and a convolution.
#[derive(Debug)]
pub(super) struct Convolutions {
    pub(super) first: PreparedNorm,
    pub(super) inside: InnerLayers,
    pub(super) last: PreparedNorm,
    pub(super) last_conv: Convolution,
}

/// Layers between the first and the last norm of a block.
#[derive(Debug)]
pub(super) enum InnerLayers {
    Ordinary(Convolution),
    /// The outputs of the convolution are the regular channels, followed by the pooled ones.
    Pooling(Convolution, PreparedPooling),
    Nested(Convolution, Vec<PreparedBlock>),
}

/// Norm of the pooled channels, and the matrix after the pooling.
#[derive(Debug)]
pub(super) struct PreparedPooling {
    pub(super) norm: PreparedNorm,
    pub(super) matmul: MatMul,
}

#[derive(Debug)]
pub(super) struct Heads {
    /// Joined first convolutions. Their outputs are the channels of the policy, its pooled channels, and the channels
    /// of the value.
    pub(super) conv: Convolution,
    pub(super) pooling: PreparedPooling,
    pub(super) policy_norm: PreparedNorm,
    /// Convolution to `policy_channels` logits per move, of which up to two are used.
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
    /// Prepares a network without statistics of its products.
    ///
    /// # Panics
    ///
    /// Panics if the kernel does not support the precision.
    pub(super) fn with_primitives(
        network: &Network,
        arithmetic: Arithmetic,
        primitives: Primitives,
    ) -> Prepared {
        let Arithmetic { kernel, precision } = arithmetic;
        assert!(
            kernel.precisions().contains(&precision),
            "kernel {} does not support precision {}",
            kernel.name(),
            precision.name()
        );
        Prepared::prepare(network, arithmetic, primitives, &ObservedStatistics::default())
    }

    /// Prepares a network with statistics of its products.
    ///
    /// # Panics
    ///
    /// Panics if this processor does not support the kernel.
    pub(super) fn with_statistics(
        network: &Network,
        arithmetic: Arithmetic,
        observed: &ObservedStatistics,
    ) -> Prepared {
        Prepared::prepare(network, arithmetic, Primitives::of(arithmetic.kernel), observed)
    }

    /// Evaluates positions one after another in 32 bits, even for kernels of lower precision, with the weights of one
    /// or two blocks at a time. The positions must have the same size.
    pub(super) fn evaluate_by_blocks(
        network: &Network,
        kernel: Kernel,
        inputs: &[Input],
        scratch: &mut Scratch,
    ) -> Vec<Result<Output, NotFinite>> {
        let (observed, primitives) = (&ObservedStatistics::default(), Primitives::of(kernel));
        let maker = Preparer { primitives, precision: Precision::F32, observed };
        let arithmetic = Arithmetic { kernel, precision: Precision::F32 };
        let around = maker.network(network, arithmetic, Vec::new());
        let mut trunks = around.begin_each(inputs, scratch);
        maker.each_block(&network.trunk.blocks, &mut |block| {
            around.continue_each(&block, &mut trunks, scratch);
        });
        around.end_each(trunks, scratch)
    }

    /// Drops the weights at evaluation points, which are computed again when a board needs them.
    pub(super) fn forget_windows(&mut self) {
        self.blocks.iter_mut().for_each(PreparedBlock::forget_windows);
    }

    /// Prepares a network in 32 bits, even for kernels of lower precision.
    #[cfg(test)]
    pub(super) fn without_rounding(network: &Network, kernel: Kernel) -> Prepared {
        let arithmetic = Arithmetic { kernel, precision: Precision::F32 };
        Prepared::with_statistics(network, arithmetic, &ObservedStatistics::default())
    }

    fn prepare(
        network: &Network,
        arithmetic: Arithmetic,
        primitives: Primitives,
        observed: &ObservedStatistics,
    ) -> Prepared {
        let maker = Preparer { primitives, precision: arithmetic.precision, observed };
        maker.network(network, arithmetic, maker.trunk(&network.trunk.blocks))
    }

    /// Returns the arithmetic that the network was prepared for.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }
}

impl PreparedNorm {
    /// Returns the number of channels including padding.
    pub(super) fn channels(&self) -> usize {
        self.scale.len()
    }

    pub(super) fn get(&self) -> NormAct<'_> {
        NormAct { scale: &self.scale, bias: &self.bias, activation: self.activation }
    }

    /// Returns the norm of channels to which `added` is added first. Because `(x + added) · scale + bias` is affine,
    /// only the bias changes. It is stored in `memory`.
    pub(super) fn with_added_bias<'n>(&'n self, added: &[f32], memory: &'n mut Vec<f32>) -> NormAct<'n> {
        memory.clone_from(&self.bias);
        for ((bias, scale), added) in memory.iter_mut().zip(&self.scale).zip(added) {
            *bias += scale * added;
        }
        NormAct { bias: memory, ..self.get() }
    }
}

struct Preparer<'o> {
    primitives: Primitives,
    /// Statistics of the inputs of products, if known.
    observed: &'o ObservedStatistics,
    /// Precision of the trunk. The heads are computed in 32 bits if the kernel supports them.
    precision: Precision,
}

impl PreparedBlock {
    fn forget_windows(&mut self) {
        let PreparedBlock::Convolutions(block) = self else { return };
        block.last_conv.forget_windows();
        match &mut block.inside {
            InnerLayers::Ordinary(conv) | InnerLayers::Pooling(conv, _) => conv.forget_windows(),
            InnerLayers::Nested(conv, blocks) => {
                conv.forget_windows();
                blocks.iter_mut().for_each(PreparedBlock::forget_windows);
            }
        }
    }
}

impl Preparer<'_> {
    /// Prepares everything except for the blocks of the trunk.
    fn network(&self, network: &Network, arithmetic: Arithmetic, blocks: Vec<PreparedBlock>) -> Prepared {
        let (trunk, primitives) = (&network.trunk, self.primitives);
        Prepared {
            arithmetic,
            primitives,
            // The number of features is not padded.
            first_conv: JoinedConv::new(&[&trunk.first_conv], 1, primitives.align),
            global_matmul: trunk.global_matmul.clone(),
            metadata_encoder: trunk.metadata_encoder.clone(),
            blocks,
            last_norm: self.last_norm(&trunk.last_norm, &trunk.last_activation),
            heads: self.heads(network),
        }
    }

    /// Calls `run` with each block of the trunk. A second thread prepares the next block at the same time.
    fn each_block(&self, blocks: &[Block], run: &mut dyn FnMut(PreparedBlock)) {
        let mut done = 0;
        thread::scope(|scope| {
            // The thread waits until a block is taken, so that there are no more than two.
            let (sender, prepared) = sync_channel(0);
            let ahead = move || {
                for (index, block) in blocks.iter().enumerate() {
                    if sender.send(self.block(block, BlockPath::TRUNK.inside(index))).is_err() {
                        return;
                    }
                }
            };
            if thread::Builder::new().spawn_scoped(scope, ahead).is_ok() {
                for block in prepared {
                    run(block);
                    done += 1;
                }
            }
        });
        // No thread could be started.
        for (index, block) in blocks.iter().enumerate().skip(done) {
            run(self.block(block, BlockPath::TRUNK.inside(index)));
        }
    }

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

    fn last_norm(&self, norm: &TrunkNorm, activation: &ActivationLayer) -> LastNorm {
        let rms = match norm {
            TrunkNorm::Batch(norm) => return LastNorm { norm: self.norm(norm, activation), rms: None },
            TrunkNorm::Rms(rms) => rms,
        };
        let channels = rms.scale.len();
        let fill = |numbers: &[f32]| {
            let mut numbers = numbers.to_vec();
            numbers.resize(channels.next_multiple_of(self.primitives.align), 0.0);
            numbers
        };
        let activation = activation.activation;
        LastNorm {
            norm: PreparedNorm { scale: fill(&rms.scale), bias: fill(&rms.bias), activation },
            rms: Some(LastRms { epsilon: rms.epsilon as f32, is_spatial: rms.is_spatial, channels }),
        }
    }

    /// Prepares joined convolutions of the trunk, which follow this activation.
    fn conv(&self, convs: &[&Conv], activation: &ActivationLayer) -> Convolution {
        Convolution::new(convs, &self.primitives, self.precision, activation.activation)
    }

    /// Prepares joined convolutions of the heads.
    fn exact_conv(&self, convs: &[&Conv]) -> Convolution {
        Convolution::new(convs, &self.primitives, Precision::F32, Activation::Identity)
    }

    fn pooling(&self, pooling: &GlobalPooling) -> PreparedPooling {
        let norm = self.norm(&pooling.norm, &pooling.activation);
        PreparedPooling { norm, matmul: pooling.matmul.clone() }
    }

    /// Prepares blocks of the stack inside the block `around`. The first one has index `first` in the stack.
    fn blocks(&self, blocks: &[Block], around: BlockPath, first: usize) -> Vec<PreparedBlock> {
        let blocks = blocks.iter().enumerate();
        blocks.map(|(index, block)| self.block(block, around.inside(first + index))).collect()
    }

    /// Prepares the blocks of the trunk with as many threads as the machine runs in parallel, because this takes
    /// noticeable time for large networks. The threads do not come from a pool: the caller may hold a lock that other
    /// tasks of a pool wait for.
    fn trunk(&self, blocks: &[Block]) -> Vec<PreparedBlock> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let share = blocks.len().div_ceil(threads).max(1);
        thread::scope(|scope| {
            let prepare = |index: usize, blocks| self.blocks(blocks, BlockPath::TRUNK, index * share);
            let mut shares = blocks.chunks(share).enumerate();
            let own = shares.next().map_or(&[][..], |(_, own)| own);
            let others: Vec<_> = shares
                .map(|(index, share)| {
                    let thread = thread::Builder::new().spawn_scoped(scope, move || prepare(index, share));
                    (index, share, thread)
                })
                .collect();
            let mut prepared = prepare(0, own);
            for (index, share, thread) in others {
                prepared.extend(match thread {
                    Ok(thread) => thread.join().expect("preparation does not panic"),
                    // No thread could be started.
                    Err(_) => prepare(index, share),
                });
            }
            prepared
        })
    }

    fn block(&self, block: &Block, path: BlockPath) -> PreparedBlock {
        let (first, inside, last) = match block {
            Block::Ordinary(block) => {
                let conv = self.conv(&[&block.first.conv], &block.first.activation);
                (&block.first, InnerLayers::Ordinary(conv), &block.second)
            }
            Block::GlobalPooling(block) => {
                let convs = [&block.first.conv, &block.pooling.conv];
                let conv = self.conv(&convs, &block.first.activation);
                (&block.first, InnerLayers::Pooling(conv, self.pooling(&block.pooling)), &block.second)
            }
            Block::NestedBottleneck(block) => {
                let conv = self.conv(&[&block.first.conv], &block.first.activation);
                (&block.first, InnerLayers::Nested(conv, self.blocks(&block.blocks, path, 0)), &block.second)
            }
            Block::Attention(block) => {
                let block =
                    PreparedAttention::new(block, &self.primitives, self.precision, (path, self.observed));
                return PreparedBlock::Attention(Box::new(block));
            }
            Block::FeedForward(block) => {
                // Units are removed before a network is converted to integers.
                let is_kept = keeps_integers(&self.primitives, self.precision) && block.is_of_integers();
                let block = &if is_kept { Cow::Borrowed(&**block) } else { block.without_dead_units() };
                let block =
                    PreparedFeedForward::new(block, &self.primitives, self.precision, (path, self.observed));
                return PreparedBlock::FeedForward(Box::new(block));
            }
        };
        let last_conv = self.conv(&[&last.conv], &last.activation);
        let (first, last) = (self.norm_of(first), self.norm_of(last));
        PreparedBlock::Convolutions(Box::new(Convolutions { first, inside, last, last_conv }))
    }

    fn heads(&self, network: &Network) -> Heads {
        let (policy, value) = (&network.policy, &network.value);
        let pass = policy.pass.as_ref();
        Heads {
            conv: self.exact_conv(&[&policy.conv, &policy.pooling.conv, &value.conv]),
            pooling: self.pooling(&policy.pooling),
            policy_norm: self.norm(&policy.norm, &policy.activation),
            policy_conv: self.exact_conv(&[&policy.last_conv]),
            policy_channels: policy.last_conv.outputs,
            pass_matmul: policy.pass_matmul.clone(),
            pass: pass.map(|pass| (pass.bias.clone(), pass.activation.activation, pass.matmul.clone())),
            value_norm: self.norm(&value.norm, &value.activation),
            value_matmul: value.matmul.clone(),
            value_bias: value.bias.clone(),
            value_activation: value.second_activation.activation,
            result: (value.value_matmul.clone(), value.value_bias.clone()),
            score: (value.score_matmul.clone(), value.score_bias.clone()),
            ownership_conv: self.exact_conv(&[&value.ownership_conv]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::tiles;
    use crate::random::{BlockKind, Options, network};
    use kosumi_go::rng::Rng;
    use kosumi_test_support::{Requirement, require};

    /// Between the products of tiles, other kernels round differently, which can change the nearest 16-bit number. With
    /// the same vector instructions around them, the results must be identical.
    #[test]
    fn amx_networks_match_emulation() {
        let arithmetic = Arithmetic { kernel: Kernel::AmxBf16, precision: Precision::Bf16 };
        let found = if arithmetic.kernel.is_available() {
            Ok(())
        } else {
            Err("this processor has no tiles of bf16".to_owned())
        };
        let Some(()) = require(Requirement::Amx, found) else { return };
        for (version, activation) in [(8, Activation::Relu), (16, Activation::Mish)] {
            let blocks = vec![BlockKind::Ordinary, BlockKind::GlobalPooling, BlockKind::Nested];
            let options =
                Options { version, blocks, channels: 50, activation, seed: 3, ..Options::default() };
            let network = network(&options).unwrap();
            let on_tiles = Primitives::of(Kernel::AmxBf16);
            let emulated = Primitives { tiles: Some(tiles::EMULATED), ..on_tiles };
            let mut rng = Rng::new(version.into());
            let mut input = Input::zero(6, 5);
            input.spatial.iter_mut().chain(&mut input.global).for_each(|x| *x = rng.unit() as f32 - 0.5);
            let run = |primitives| {
                let prepared = Prepared::with_primitives(&network, arithmetic, primitives);
                prepared.evaluate(&[&input; 3], &mut Scratch::default()).unwrap()
            };
            assert_eq!(run(on_tiles), run(emulated));
        }
    }
}
