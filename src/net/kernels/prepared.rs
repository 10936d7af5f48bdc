//! A network with its weights in the order in which kernels read them.

use super::Kernel;
use super::convolution::{Convolution, Joined};
use super::pointwise::NormAct;
use super::primitives::Primitives;
use crate::net::layer::{Activation, ActivationLayer, Bias, Conv, MatMul, Norm};
use crate::net::model::{Block, GlobalPooling, Network, NormActConv};

/// A network, prepared for a processor. It is not changed by evaluating, and threads can share it.
#[derive(Debug)]
pub struct Prepared {
    pub(super) kernel: Kernel,
    pub(super) primitives: Primitives,
    pub(super) first_conv: Joined,
    pub(super) global_matmul: MatMul,
    pub(super) blocks: Vec<PreparedBlock>,
    /// Behind the last block.
    pub(super) last_norm: PreparedNorm,
    pub(super) heads: Heads,
}

/// A normalisation and the activation behind it, filled up to a multiple of a panel. There, zero stays zero.
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
        let primitives = Primitives::of(kernel);
        let maker = Maker { panel: primitives.panel };
        let trunk = &network.trunk;
        Prepared {
            kernel,
            primitives,
            // The features are not filled up.
            first_conv: Joined::new(&[&trunk.first_conv], 1, maker.panel),
            global_matmul: trunk.global_matmul.clone(),
            blocks: maker.blocks(&trunk.blocks),
            last_norm: maker.norm(&trunk.last_norm, &trunk.last_activation),
            heads: maker.heads(network),
        }
    }

    /// The kernel that it was prepared for.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }
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
    panel: usize,
}

impl Maker {
    fn norm(&self, norm: &Norm, activation: &ActivationLayer) -> PreparedNorm {
        let mut affine = norm.folded();
        let channels = norm.channels().next_multiple_of(self.panel);
        affine.scale.resize(channels, 0.0);
        affine.bias.resize(channels, 0.0);
        PreparedNorm { scale: affine.scale, bias: affine.bias, activation: activation.activation }
    }

    fn norm_of(&self, part: &NormActConv) -> PreparedNorm {
        self.norm(&part.norm, &part.activation)
    }

    fn conv(&self, convs: &[&Conv]) -> Convolution {
        Convolution::new(convs, self.panel)
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
