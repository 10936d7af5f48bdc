//! A network: its layers, how they hang together, and what it costs.
//!
//! ```text
//! Input ─ first convolution ─ + ─ blocks … ─ norm, activation ─┬─ policy head
//!         global features ─ matrix ┘                           └─ value head
//! ```
//!
//! Networks of human play add a third vector to the trunk, made of what is known about the players.
//!
//! CITE: Wu, "Accelerating self-play learning in Go" (2019), section 3 and appendix A, for the global pooling and
//! the heads; KataGo's `docs/KataGoMethods.md` for the nested bottleneck blocks; Vaswani et al., "Attention is
//! all you need" (2017), for attention; Shazeer, "GLU variants improve transformer" (2020), for the gated feed-forward
//! blocks.

use super::layer::{
    Activation, ActivationLayer, Bias, Conv, Layer, MatMul, Norm, RmsNorm, RotaryEmbedding, TrunkRmsNorm,
};
use std::borrow::Cow;

/// The oldest version of networks that can be used.
pub const OLDEST_VERSION: u32 = 8;

/// The newest version of networks that can be used.
pub const NEWEST_VERSION: u32 = 17;

/// A network of one of the versions [`OLDEST_VERSION`] to [`NEWEST_VERSION`], with its weights.
///
/// Invariant: what one layer gives is what the next one takes; the reader refuses everything else.
#[derive(Clone, PartialEq, Debug)]
pub struct Network {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) multipliers: Multipliers,
    /// Was the network taught that chains are alive for certain only if they are so where the suicide of several
    /// stones is legal, whatever the rules? From version 15 on the file says.
    pub(crate) pass_alive_with_suicide: bool,
    /// Layers between the input features and the heads.
    pub trunk: Trunk,
    pub(crate) policy: PolicyHead,
    pub(crate) value: ValueHead,
}

/// What the outputs of the value head are multiplied by, so that they are near 1 inside the network. From version
/// 13 on the file says; all are above zero. Held as `f64`, so that their decimal text survives a round trip.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Multipliers {
    /// Of an output that exists in training only.
    pub(crate) td_score: f64,
    pub(crate) score_mean: f64,
    pub(crate) score_stdev: f64,
    pub(crate) lead: f64,
    pub(crate) variance_time: f64,
    pub(crate) shortterm_value_error: f64,
    pub(crate) shortterm_score_error: f64,
}

impl Multipliers {
    /// What holds for files that do not say.
    pub(crate) const DEFAULT: Multipliers = Multipliers {
        td_score: 20.0,
        score_mean: 20.0,
        score_stdev: 20.0,
        lead: 20.0,
        variance_time: 40.0,
        shortterm_value_error: 0.25,
        shortterm_score_error: 30.0,
    };

    /// In the order of the file.
    pub(crate) const fn to_array(self) -> [f64; 7] {
        [
            self.td_score,
            self.score_mean,
            self.score_stdev,
            self.lead,
            self.variance_time,
            self.shortterm_value_error,
            self.shortterm_score_error,
        ]
    }

    pub(crate) const fn from_array(values: [f64; 7]) -> Multipliers {
        let [
            td_score,
            score_mean,
            score_stdev,
            lead,
            variance_time,
            shortterm_value_error,
            shortterm_score_error,
        ] = values;
        Multipliers {
            td_score,
            score_mean,
            score_stdev,
            lead,
            variance_time,
            shortterm_value_error,
            shortterm_score_error,
        }
    }
}

/// From the features to the channels that the heads read.
#[derive(Clone, PartialEq, Debug)]
pub struct Trunk {
    pub(crate) name: String,
    /// Channels between the blocks.
    pub(crate) channels: usize,
    /// The widths that the file states for all blocks together: middle, regular, dilated and pooled channels.
    /// Every layer states its own, and that is what counts; these are kept to write the file again.
    pub(crate) stated_widths: [usize; 4],
    pub(crate) first_conv: Conv,
    /// From the global features; its result is added to every point.
    pub global_matmul: MatMul,
    /// From the facts about the players, in networks that are told them; its result is added to every point.
    pub(crate) metadata_encoder: Option<MetadataEncoder>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) last_norm: TrunkNorm,
    pub(crate) last_activation: ActivationLayer,
}

/// The norm behind the last block.
#[derive(Clone, PartialEq, Debug)]
pub enum TrunkNorm {
    /// Batch normalisation, or only a bias.
    Batch(Norm),
    /// By the root mean square.
    Rms(TrunkRmsNorm),
}

/// Three matrices that make a vector of the trunk's width out of facts about the players
/// ([`METADATA_FEATURES`](super::input::METADATA_FEATURES)).
#[derive(Clone, PartialEq, Debug)]
pub struct MetadataEncoder {
    pub(crate) name: String,
    pub(crate) first: DenseLayer,
    pub(crate) second: DenseLayer,
    /// To the channels of the trunk.
    pub(crate) last: MatMul,
}

/// A matrix, a bias and an activation.
#[derive(Clone, PartialEq, Debug)]
pub struct DenseLayer {
    pub(crate) matmul: MatMul,
    pub(crate) bias: Bias,
    pub(crate) activation: ActivationLayer,
}

/// Normalisation, activation, convolution: what blocks are made of.
#[derive(Clone, PartialEq, Debug)]
pub struct NormActConv {
    pub(crate) norm: Norm,
    pub(crate) activation: ActivationLayer,
    pub(crate) conv: Conv,
}

/// A part of the trunk whose result is added to what it took.
#[derive(Clone, PartialEq, Debug)]
pub enum Block {
    /// Two convolutions.
    Ordinary(Box<OrdinaryBlock>),
    /// Two convolutions, between which all points hear of the whole board.
    GlobalPooling(Box<GlobalPoolingBlock>),
    /// A convolution to fewer channels, blocks on them, and a convolution back.
    NestedBottleneck(Box<NestedBottleneckBlock>),
    /// Every point looks at all points of the board.
    Attention(Box<AttentionBlock>),
    /// Every point by itself: to more channels and back.
    FeedForward(Box<FeedForwardBlock>),
}

/// `x + second(first(x))`
#[derive(Clone, PartialEq, Debug)]
pub struct OrdinaryBlock {
    pub(crate) name: String,
    pub(crate) first: NormActConv,
    pub(crate) second: NormActConv,
}

/// As an [`OrdinaryBlock`], but a second convolution beside the first is normalised, activated and pooled over the
/// board, and a matrix makes of that a bias for what the first gives.
#[derive(Clone, PartialEq, Debug)]
pub struct GlobalPoolingBlock {
    pub(crate) name: String,
    pub(crate) first: NormActConv,
    pub(crate) pooling: GlobalPooling,
    pub(crate) second: NormActConv,
}

/// The side path of a [`GlobalPoolingBlock`] and of the policy head.
#[derive(Clone, PartialEq, Debug)]
pub struct GlobalPooling {
    pub(crate) conv: Conv,
    pub(crate) norm: Norm,
    pub(crate) activation: ActivationLayer,
    /// From the three pooled numbers of each channel: all means, all scaled means, all maxima.
    pub(crate) matmul: MatMul,
}

/// `x + second(blocks(first(x)))`
#[derive(Clone, PartialEq, Debug)]
pub struct NestedBottleneckBlock {
    pub(crate) name: String,
    pub(crate) first: NormActConv,
    pub(crate) blocks: Vec<Block>,
    pub(crate) second: NormActConv,
}

/// `x + output(attention of all heads over query(n), key(n), value(n))` with `n = norm(x)`.
///
/// A head at a point weighs the values of all points by the softmax over the points of the product of its query
/// there with their keys, divided by the square root of `key_width`. Heads may share keys and values: of `heads` and
/// `key_heads`, head `h` uses those of key head `h / (heads / key_heads)`.
#[derive(Clone, PartialEq, Debug)]
pub struct AttentionBlock {
    pub(crate) name: String,
    /// Heads with queries of their own.
    pub(crate) heads: usize,
    /// Heads of keys and values; divides `heads`.
    pub(crate) key_heads: usize,
    /// Channels of a query or a key in one head.
    pub(crate) key_width: usize,
    /// Channels of a value in one head.
    pub(crate) value_width: usize,
    pub(crate) norm: RmsNorm,
    /// To `heads` times `key_width` channels, head by head.
    pub(crate) query: MatMul,
    /// To `key_heads` times `key_width` channels, head by head.
    pub(crate) key: MatMul,
    /// To `key_heads` times `value_width` channels, head by head.
    pub(crate) value: MatMul,
    /// From `heads` times `value_width` channels, head by head.
    pub(crate) output: MatMul,
    /// How positions are told apart; without it they are not.
    pub(crate) rotary: Option<RotaryEmbedding>,
}

/// `x + last(silu(first(n)) · gate(n))` with `n = norm(x)`, number by number.
#[derive(Clone, PartialEq, Debug)]
pub struct FeedForwardBlock {
    pub(crate) name: String,
    pub(crate) norm: RmsNorm,
    pub(crate) first: MatMul,
    pub(crate) gate: MatMul,
    pub(crate) last: MatMul,
}

/// From the trunk to the moves.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyHead {
    pub(crate) name: String,
    pub(crate) conv: Conv,
    pub(crate) pooling: GlobalPooling,
    pub(crate) norm: Norm,
    pub(crate) activation: ActivationLayer,
    /// To one, two or four logits for every point: the policy, the optimistic policy, and two that are not used.
    pub(crate) last_conv: Conv,
    /// From the pooled channels to as many logits of a pass, or, from version 15 on, to what `pass`
    /// then takes.
    pub(crate) pass_matmul: MatMul,
    pub(crate) pass: Option<PassLayers>,
}

/// The second half of the way to the logit of a pass, from version 15 on.
#[derive(Clone, PartialEq, Debug)]
pub struct PassLayers {
    pub(crate) bias: Bias,
    pub(crate) activation: ActivationLayer,
    pub(crate) matmul: MatMul,
}

/// From the trunk to the result, the score and who owns what.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueHead {
    pub(crate) name: String,
    pub(crate) conv: Conv,
    pub(crate) norm: Norm,
    pub(crate) activation: ActivationLayer,
    /// From three pooled numbers of each channel: all means, all means scaled once, all means scaled twice.
    pub(crate) matmul: MatMul,
    pub(crate) bias: Bias,
    pub(crate) second_activation: ActivationLayer,
    /// To three logits: win, loss, no result.
    pub(crate) value_matmul: MatMul,
    pub(crate) value_bias: Bias,
    /// To [`score_channels`] numbers.
    pub(crate) score_matmul: MatMul,
    pub(crate) score_bias: Bias,
    pub(crate) ownership_conv: Conv,
}

/// How many logits a network of this version gives for every move: one, from 12 on also an optimistic one, in 16
/// also two predictions of what the move is worth. From 17 on the file says: two or four.
pub const fn policy_channels(version: u32) -> Option<usize> {
    match version {
        ..12 => Some(1),
        12..16 => Some(2),
        16 => Some(4),
        17.. => None,
    }
}

/// How many numbers about the score a network of this version gives: mean, standard deviation, lead and time left,
/// and from 9 on the short-term errors of value and score.
pub const fn score_channels(version: u32) -> usize {
    if version >= 9 { 6 } else { 4 }
}

impl Block {
    /// Its name in the file.
    pub fn name(&self) -> &str {
        match self {
            Block::Ordinary(block) => &block.name,
            Block::GlobalPooling(block) => &block.name,
            Block::NestedBottleneck(block) => &block.name,
            Block::Attention(block) => &block.name,
            Block::FeedForward(block) => &block.name,
        }
    }

    /// The word that introduces it in a file.
    pub const fn token(&self) -> &'static str {
        match self {
            Block::Ordinary(_) => "ordinary_block",
            Block::GlobalPooling(_) => "gpool_block",
            Block::NestedBottleneck(_) => "nested_bottleneck_block",
            Block::Attention(_) => "transformer_attention_block",
            Block::FeedForward(_) => "transformer_ffn_block",
        }
    }

    /// The blocks inside it.
    pub fn inner(&self) -> &[Block] {
        match self {
            Block::NestedBottleneck(block) => &block.blocks,
            _ => &[],
        }
    }

    /// Channels inside it: regular ones (in attention those of all queries, in a feed-forward block the hidden ones),
    /// and those that are pooled.
    pub fn widths(&self) -> (usize, usize) {
        match self {
            Block::Ordinary(block) => (block.first.conv.outputs, 0),
            Block::GlobalPooling(block) => (block.first.conv.outputs, block.pooling.conv.outputs),
            Block::NestedBottleneck(block) => (block.first.conv.outputs, 0),
            Block::Attention(block) => (block.query.outputs, 0),
            Block::FeedForward(block) => (block.first.outputs, 0),
        }
    }

    /// Hidden units of feed-forward blocks that change no result, those of inner blocks included.
    pub fn dead_units(&self) -> usize {
        match self {
            Block::FeedForward(block) => block.dead_units(),
            _ => self.inner().iter().map(Block::dead_units).sum(),
        }
    }

    fn without_dead_units(&self) -> Block {
        match self {
            Block::FeedForward(block) => {
                Block::FeedForward(Box::new(block.without_dead_units().into_owned()))
            }
            Block::NestedBottleneck(block) => Block::NestedBottleneck(Box::new(NestedBottleneckBlock {
                name: block.name.clone(),
                first: block.first.clone(),
                blocks: block.blocks.iter().map(Block::without_dead_units).collect(),
                second: block.second.clone(),
            })),
            other => other.clone(),
        }
    }

    /// Calls `visit` with every layer, those of inner blocks included.
    pub fn visit<'n>(&'n self, visit: &mut dyn FnMut(Layer<'n>)) {
        match self {
            Block::Ordinary(block) => {
                block.first.visit(visit);
                block.second.visit(visit);
            }
            Block::GlobalPooling(block) => {
                block.first.visit(visit);
                block.pooling.visit(visit);
                block.second.visit(visit);
            }
            Block::NestedBottleneck(block) => {
                block.first.visit(visit);
                block.blocks.iter().for_each(|block| block.visit(visit));
                block.second.visit(visit);
            }
            Block::Attention(block) => {
                visit(Layer::RmsNorm(&block.norm));
                for matmul in [&block.query, &block.key, &block.value, &block.output] {
                    visit(Layer::PointMatMul(matmul));
                }
                block.rotary.iter().for_each(|rotary| visit(Layer::Rotary(rotary)));
                visit(Layer::Pairs(block.heads * (block.key_width + block.value_width)));
            }
            Block::FeedForward(block) => {
                visit(Layer::RmsNorm(&block.norm));
                for matmul in [&block.first, &block.gate, &block.last] {
                    visit(Layer::PointMatMul(matmul));
                }
            }
        }
    }
}

impl FeedForwardBlock {
    /// The hidden units whose numbers matter; one if none does.
    ///
    /// Training drives the weights of units that it gives up towards zero. What such a unit adds is at most the
    /// product of its largest weights times the squares of the channels and of what the norm gives, which are under
    /// 10⁷ together: nothing that a sum of ordinary numbers in `f32` would notice.
    fn live_units(&self) -> Vec<usize> {
        const NOTHING: f32 = 1e-30;
        let hidden = self.first.outputs;
        let [first, gate] = [&self.first, &self.gate].map(|matmul| {
            let mut largest = vec![0.0f32; hidden];
            for row in matmul.weights.chunks_exact(hidden) {
                for (most, weight) in largest.iter_mut().zip(row) {
                    *most = most.max(weight.abs());
                }
            }
            largest
        });
        let last = self.last.weights.chunks_exact(self.last.outputs);
        let last = last.map(|row| row.iter().fold(0.0f32, |most, weight| most.max(weight.abs())));
        let units = first.iter().zip(&gate).zip(last).enumerate();
        let live: Vec<usize> = units
            .filter(|(_, ((first, gate), last))| *first * *gate * *last >= NOTHING)
            .map(|(unit, _)| unit)
            .collect();
        if live.is_empty() { vec![0] } else { live }
    }

    /// The same block with these units only.
    fn with_units(&self, units: &[usize]) -> FeedForwardBlock {
        let columns = |matmul: &MatMul| {
            let rows = matmul.weights.chunks_exact(matmul.outputs);
            let weights = rows.flat_map(|row| units.iter().map(|&unit| row[unit])).collect();
            MatMul { name: matmul.name.clone(), inputs: matmul.inputs, outputs: units.len(), weights }
        };
        let outputs = self.last.outputs;
        let rows = units.iter().map(|&unit| &self.last.weights[unit * outputs..][..outputs]);
        let weights = rows.flatten().copied().collect();
        FeedForwardBlock {
            name: self.name.clone(),
            norm: self.norm.clone(),
            first: columns(&self.first),
            gate: columns(&self.gate),
            last: MatMul { name: self.last.name.clone(), inputs: units.len(), outputs, weights },
        }
    }

    /// The same block without hidden units that change no result.
    pub(crate) fn without_dead_units(&self) -> Cow<'_, FeedForwardBlock> {
        let live = self.live_units();
        if live.len() == self.first.outputs {
            Cow::Borrowed(self)
        } else {
            Cow::Owned(self.with_units(&live))
        }
    }

    fn dead_units(&self) -> usize {
        self.first.outputs - self.live_units().len()
    }
}

impl TrunkNorm {
    /// Channels that it takes and gives.
    pub fn channels(&self) -> usize {
        match self {
            TrunkNorm::Batch(norm) => norm.channels(),
            TrunkNorm::Rms(norm) => norm.scale.len(),
        }
    }

    fn visit<'n>(&'n self, visit: &mut dyn FnMut(Layer<'n>)) {
        match self {
            TrunkNorm::Batch(norm) => visit(Layer::Norm(norm)),
            TrunkNorm::Rms(norm) => visit(Layer::TrunkRmsNorm(norm)),
        }
    }
}

impl MetadataEncoder {
    fn visit<'n>(&'n self, visit: &mut dyn FnMut(Layer<'n>)) {
        for layer in [&self.first, &self.second] {
            visit(Layer::MatMul(&layer.matmul));
            visit(Layer::Bias(&layer.bias));
        }
        visit(Layer::MatMul(&self.last));
    }
}

impl NormActConv {
    fn visit<'n>(&'n self, visit: &mut dyn FnMut(Layer<'n>)) {
        visit(Layer::Norm(&self.norm));
        visit(Layer::Conv(&self.conv));
    }
}

impl GlobalPooling {
    fn visit<'n>(&'n self, visit: &mut dyn FnMut(Layer<'n>)) {
        visit(Layer::Conv(&self.conv));
        visit(Layer::Norm(&self.norm));
        visit(Layer::MatMul(&self.matmul));
    }
}

impl PolicyHead {
    fn visit<'n>(&'n self, visit: &mut dyn FnMut(Layer<'n>)) {
        visit(Layer::Conv(&self.conv));
        self.pooling.visit(visit);
        visit(Layer::Norm(&self.norm));
        visit(Layer::Conv(&self.last_conv));
        visit(Layer::MatMul(&self.pass_matmul));
        if let Some(pass) = &self.pass {
            visit(Layer::Bias(&pass.bias));
            visit(Layer::MatMul(&pass.matmul));
        }
    }
}

impl ValueHead {
    fn visit<'n>(&'n self, visit: &mut dyn FnMut(Layer<'n>)) {
        visit(Layer::Conv(&self.conv));
        visit(Layer::Norm(&self.norm));
        visit(Layer::MatMul(&self.matmul));
        visit(Layer::Bias(&self.bias));
        visit(Layer::MatMul(&self.value_matmul));
        visit(Layer::Bias(&self.value_bias));
        visit(Layer::MatMul(&self.score_matmul));
        visit(Layer::Bias(&self.score_bias));
        visit(Layer::Conv(&self.ownership_conv));
    }
}

/// What a network, or a part of it, consists of.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Cost {
    /// Numbers in the file, running means and variances of normalisations included.
    pub parameters: usize,
    /// Multiplications with addition for every point of the board; see [`Layer::multiply_adds`].
    pub multiply_adds: usize,
    /// Multiplications with addition for every pair of points, a point and itself included.
    pub of_pairs: usize,
}

impl Cost {
    /// The sum over what `visit` is called with.
    pub fn of<'n>(visit_all: impl FnOnce(&mut dyn FnMut(Layer<'n>))) -> Cost {
        let mut cost = Cost::default();
        visit_all(&mut |layer| {
            cost.parameters += layer.parameters();
            cost.multiply_adds += layer.multiply_adds();
            cost.of_pairs += match layer {
                Layer::Pairs(products) => products,
                _ => 0,
            };
        });
        cost
    }

    /// Multiplications with addition for one position on a board of so many points.
    pub fn on(self, area: usize) -> usize {
        self.multiply_adds * area + self.of_pairs * area * area
    }
}

impl Network {
    /// The name that the file gives.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// From [`OLDEST_VERSION`] to [`NEWEST_VERSION`].
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Channels between the blocks.
    pub fn channels(&self) -> usize {
        self.trunk.channels
    }

    /// The blocks of the trunk, from the input on.
    pub fn blocks(&self) -> &[Block] {
        &self.trunk.blocks
    }

    /// The activation at the end of the trunk; in all published networks that of the blocks, too.
    pub fn activation(&self) -> Activation {
        self.trunk.last_activation.activation
    }

    /// Must it be told who plays? Such networks predict the moves of people.
    pub fn takes_metadata(&self) -> bool {
        self.trunk.metadata_encoder.is_some()
    }

    /// Must "alive for certain" be understood as if the suicide of several stones were legal, whatever the rules?
    /// See [`Features`](super::Features).
    pub fn pass_alive_with_suicide(&self) -> bool {
        self.pass_alive_with_suicide
    }

    /// Hidden units of feed-forward blocks that change no result, because training has given them up.
    pub fn dead_units(&self) -> usize {
        self.blocks().iter().map(Block::dead_units).sum()
    }

    /// The same network without these units: the same results, sooner.
    pub fn without_dead_units(&self) -> Network {
        let blocks = self.blocks().iter().map(Block::without_dead_units).collect();
        Network { trunk: Trunk { blocks, ..self.trunk.clone() }, ..self.clone() }
    }

    /// How many logits every move has: 1, 2 with an optimistic policy, or 4 with two numbers that are not used.
    pub fn policy_channels(&self) -> usize {
        self.policy.last_conv.outputs
    }

    /// Channels inside the heads: of the policy, of its pooled side path, of the value, and of the vector behind.
    pub fn head_widths(&self) -> [usize; 4] {
        let (policy, value) = (&self.policy, &self.value);
        [policy.conv.outputs, policy.pooling.conv.outputs, value.conv.outputs, value.matmul.outputs]
    }

    /// Calls `visit` with every layer that holds numbers, in the order of the file.
    pub fn visit<'n>(&'n self, visit: &mut dyn FnMut(Layer<'n>)) {
        visit(Layer::Conv(&self.trunk.first_conv));
        visit(Layer::MatMul(&self.trunk.global_matmul));
        self.trunk.metadata_encoder.iter().for_each(|encoder| encoder.visit(visit));
        self.trunk.blocks.iter().for_each(|block| block.visit(visit));
        self.trunk.last_norm.visit(visit);
        self.policy.visit(visit);
        self.value.visit(visit);
    }

    /// All of it.
    pub fn cost(&self) -> Cost {
        Cost::of(|visit| self.visit(visit))
    }
}
