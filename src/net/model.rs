//! Structure of a network: its layers, their connections and their cost.
//!
//! ```text
//! Input ─ first convolution ─ + ─ blocks … ─ norm, activation ─┬─ policy head
//!         global features ─ matrix ┘                           └─ value head
//! ```
//!
//! Networks of human play add a third vector to the trunk, which is computed from the features of the players.
//!
//! CITE: Wu, "Accelerating self-play learning in Go" (2019), section 3 and appendix A, for the global pooling and the
//! heads; KataGo's `docs/KataGoMethods.md` for the nested bottleneck blocks; Vaswani et al., "Attention is all you
//! need" (2017), for attention; Shazeer, "GLU variants improve transformer" (2020), for the gated feed-forward blocks.

use super::int8::Rounding;
use super::layer::{
    Activation, ActivationLayer, Bias, Conv, Layer, MatMul, Norm, RmsNorm, RotaryEmbedding, TrunkRmsNorm,
};
use super::weights::IntegerSize;
use std::borrow::Cow;

/// Oldest supported version of the format.
pub const OLDEST_VERSION: u32 = 8;

/// Newest supported version of the format.
pub const NEWEST_VERSION: u32 = 17;

/// Network of a version from [`OLDEST_VERSION`] to [`NEWEST_VERSION`], with its weights.
///
/// Invariant: the outputs of each layer match the inputs of the next one. The reader rejects everything else.
#[derive(Clone, PartialEq, Debug)]
pub struct Network {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) multipliers: Multipliers,
    /// Whether the network was trained with unconditional life that also holds where the suicide of several stones is
    /// legal, whatever the rules are. Files state it from version 15 on.
    pub(crate) pass_alive_with_suicide: bool,
    /// Layers between the input features and the heads.
    pub trunk: Trunk,
    pub(crate) policy: PolicyHead,
    pub(crate) value: ValueHead,
    /// Facts about the conversion, if the network was converted to integers ([`Network::to_int8`]).
    pub(crate) rounding: Option<Rounding>,
}

/// Factors that the outputs of the value head are multiplied by. They keep the outputs near 1 inside the network.
///
/// All are above zero. Files state them from version 13 on. They are `f64` so that their decimal text survives a round
/// trip.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Multipliers {
    /// Factor of an output that exists only in training.
    pub(crate) td_score: f64,
    pub(crate) score_mean: f64,
    pub(crate) score_stdev: f64,
    pub(crate) lead: f64,
    pub(crate) variance_time: f64,
    pub(crate) shortterm_value_error: f64,
    pub(crate) shortterm_score_error: f64,
}

impl Multipliers {
    /// Factors of files that do not state them.
    pub(crate) const DEFAULT: Multipliers = Multipliers {
        td_score: 20.0,
        score_mean: 20.0,
        score_stdev: 20.0,
        lead: 20.0,
        variance_time: 40.0,
        shortterm_value_error: 0.25,
        shortterm_score_error: 30.0,
    };

    /// Returns the factors in the order of the file.
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

/// Trunk of a network: from the input features to the channels that the heads read.
#[derive(Clone, PartialEq, Debug)]
pub struct Trunk {
    pub(crate) name: String,
    /// Number of channels between the blocks.
    pub(crate) channels: usize,
    /// Widths that the file states for all blocks together: middle, regular, dilated and pooled channels. They serve
    /// only to write the file again, because every layer states its own dimensions.
    pub(crate) stated_widths: [usize; 4],
    pub(crate) first_conv: Conv,
    /// Matrix of the global features. Its result is added to every point.
    pub global_matmul: MatMul,
    /// Encoder of the features of the players, in networks that take them. Its result is added to every point.
    pub(crate) metadata_encoder: Option<MetadataEncoder>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) last_norm: TrunkNorm,
    pub(crate) last_activation: ActivationLayer,
}

/// Norm after the last block.
#[derive(Clone, PartialEq, Debug)]
pub enum TrunkNorm {
    /// Batch normalisation, or only a bias.
    Batch(Norm),
    /// Normalisation by the root mean square.
    Rms(TrunkRmsNorm),
}

/// Three matrices that turn the features of the players ([`METADATA_FEATURES`](super::input::METADATA_FEATURES)) into a
/// vector of the trunk's channels.
#[derive(Clone, PartialEq, Debug)]
pub struct MetadataEncoder {
    pub(crate) name: String,
    pub(crate) first: DenseLayer,
    pub(crate) second: DenseLayer,
    /// Matrix to the channels of the trunk.
    pub(crate) last: MatMul,
}

/// Matrix, bias and activation.
#[derive(Clone, PartialEq, Debug)]
pub struct DenseLayer {
    pub(crate) matmul: MatMul,
    pub(crate) bias: Bias,
    pub(crate) activation: ActivationLayer,
}

/// Normalisation, activation and convolution, the component of convolutional blocks.
#[derive(Clone, PartialEq, Debug)]
pub struct NormActConv {
    pub(crate) norm: Norm,
    pub(crate) activation: ActivationLayer,
    pub(crate) conv: Conv,
}

/// Residual block of the trunk: its result is added to its input.
#[derive(Clone, PartialEq, Debug)]
pub enum Block {
    /// Two convolutions.
    Ordinary(Box<OrdinaryBlock>),
    /// Two convolutions with global pooling between them, which gives every point information about the whole board.
    GlobalPooling(Box<GlobalPoolingBlock>),
    /// Convolution to fewer channels, inner blocks, and a convolution back.
    NestedBottleneck(Box<NestedBottleneckBlock>),
    /// Attention of every point to all points of the board.
    Attention(Box<AttentionBlock>),
    /// Two layers per point: to more channels and back.
    FeedForward(Box<FeedForwardBlock>),
}

/// Residual block of two convolutions: `x + second(first(x))`.
#[derive(Clone, PartialEq, Debug)]
pub struct OrdinaryBlock {
    pub(crate) name: String,
    pub(crate) first: NormActConv,
    pub(crate) second: NormActConv,
}

/// Residual block of two convolutions with global pooling.
///
/// It is an [`OrdinaryBlock`] with a second convolution beside the first. The result of the second one is normalised,
/// activated and pooled over the board. A matrix turns the pooled numbers into a bias for the result of the first
/// convolution.
#[derive(Clone, PartialEq, Debug)]
pub struct GlobalPoolingBlock {
    pub(crate) name: String,
    pub(crate) first: NormActConv,
    pub(crate) pooling: GlobalPooling,
    pub(crate) second: NormActConv,
}

/// Pooling branch of a [`GlobalPoolingBlock`] and of the policy head.
#[derive(Clone, PartialEq, Debug)]
pub struct GlobalPooling {
    pub(crate) conv: Conv,
    pub(crate) norm: Norm,
    pub(crate) activation: ActivationLayer,
    /// Matrix from the three pooled numbers per channel: all means, all scaled means, all maxima.
    pub(crate) matmul: MatMul,
}

/// Residual block around inner blocks: `x + second(blocks(first(x)))`.
#[derive(Clone, PartialEq, Debug)]
pub struct NestedBottleneckBlock {
    pub(crate) name: String,
    pub(crate) first: NormActConv,
    pub(crate) blocks: Vec<Block>,
    pub(crate) second: NormActConv,
}

/// Residual block of attention: `x + output(attention of all heads over query(n), key(n), value(n))` with `n =
/// norm(x)`.
///
/// A head computes at each point a weighted mean of the values of all points. The weights are a softmax, over all
/// points, of the product of the query at this point with their keys, divided by the square root of `key_width`. Heads
/// may share keys and values: head `h` of `heads` uses key head `h / (heads / key_heads)` of `key_heads`.
#[derive(Clone, PartialEq, Debug)]
pub struct AttentionBlock {
    pub(crate) name: String,
    /// Number of heads of queries.
    pub(crate) heads: usize,
    /// Number of heads of keys and values; divides `heads`.
    pub(crate) key_heads: usize,
    /// Number of channels of a query or a key in one head.
    pub(crate) key_width: usize,
    /// Number of channels of a value in one head.
    pub(crate) value_width: usize,
    pub(crate) norm: RmsNorm,
    /// Matrix to `heads * key_width` channels, head by head.
    pub(crate) query: MatMul,
    /// Matrix to `key_heads * key_width` channels, head by head.
    pub(crate) key: MatMul,
    /// Matrix to `key_heads * value_width` channels, head by head.
    pub(crate) value: MatMul,
    /// Matrix from `heads * value_width` channels, head by head.
    pub(crate) output: MatMul,
    /// Encoding of the positions of points. Without it, attention does not depend on positions.
    pub(crate) rotary: Option<RotaryEmbedding>,
}

/// Gated feed-forward block: `x + last(silu(first(n)) · gate(n))` with `n = norm(x)` and an elementwise product.
#[derive(Clone, PartialEq, Debug)]
pub struct FeedForwardBlock {
    pub(crate) name: String,
    pub(crate) norm: RmsNorm,
    pub(crate) first: MatMul,
    pub(crate) gate: MatMul,
    pub(crate) last: MatMul,
}

/// Policy head, from the trunk to the logits of moves.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyHead {
    pub(crate) name: String,
    pub(crate) conv: Conv,
    pub(crate) pooling: GlobalPooling,
    pub(crate) norm: Norm,
    pub(crate) activation: ActivationLayer,
    /// Convolution to 1, 2 or 4 logits per point: policy, optimistic policy, and two that are not used.
    pub(crate) last_conv: Conv,
    /// Matrix from the pooled channels to the same number of logits of a pass or, from version 15 on, to the inputs of
    /// `pass`.
    pub(crate) pass_matmul: MatMul,
    pub(crate) pass: Option<PassLayers>,
}

/// Last layers of the logit of a pass, from version 15 on.
#[derive(Clone, PartialEq, Debug)]
pub struct PassLayers {
    pub(crate) bias: Bias,
    pub(crate) activation: ActivationLayer,
    pub(crate) matmul: MatMul,
}

/// Value head, from the trunk to the logits of the result, the score and the ownership.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueHead {
    pub(crate) name: String,
    pub(crate) conv: Conv,
    pub(crate) norm: Norm,
    pub(crate) activation: ActivationLayer,
    /// Matrix from three pooled numbers per channel: all means, all means scaled once, all means scaled twice.
    pub(crate) matmul: MatMul,
    pub(crate) bias: Bias,
    pub(crate) second_activation: ActivationLayer,
    /// Matrix to three logits: win, loss, no result.
    pub(crate) value_matmul: MatMul,
    pub(crate) value_bias: Bias,
    /// Matrix to [`score_channels`] numbers.
    pub(crate) score_matmul: MatMul,
    pub(crate) score_bias: Bias,
    pub(crate) ownership_conv: Conv,
}

/// Returns the number of logits per move of a network of this version, or `None` if the file states it (version 17 on).
///
/// There is one logit, from version 12 on a second one for the optimistic policy, and in version 16 two further
/// predictions of the value of the move. From version 17 on, files state 2 or 4.
pub const fn policy_channels(version: u32) -> Option<usize> {
    match version {
        ..12 => Some(1),
        12..16 => Some(2),
        16 => Some(4),
        17.. => None,
    }
}

/// Returns the number of outputs about the score of a network of this version: mean, standard deviation, lead and
/// variance time, and from version 9 on the short-term errors of value and score.
pub const fn score_channels(version: u32) -> usize {
    if version >= 9 { 6 } else { 4 }
}

impl Block {
    /// Returns the name of the block in the file.
    pub fn name(&self) -> &str {
        match self {
            Block::Ordinary(block) => &block.name,
            Block::GlobalPooling(block) => &block.name,
            Block::NestedBottleneck(block) => &block.name,
            Block::Attention(block) => &block.name,
            Block::FeedForward(block) => &block.name,
        }
    }

    /// Returns the word that introduces the block in a file.
    pub const fn token(&self) -> &'static str {
        match self {
            Block::Ordinary(_) => "ordinary_block",
            Block::GlobalPooling(_) => "gpool_block",
            Block::NestedBottleneck(_) => "nested_bottleneck_block",
            Block::Attention(_) => "transformer_attention_block",
            Block::FeedForward(_) => "transformer_ffn_block",
        }
    }

    /// Returns the blocks inside this one.
    pub fn inner(&self) -> &[Block] {
        match self {
            Block::NestedBottleneck(block) => &block.blocks,
            _ => &[],
        }
    }

    /// Returns the number of channels inside the block and the number of pooled channels. The first is the number of
    /// query channels for attention and the number of hidden channels for a feed-forward block.
    pub fn widths(&self) -> (usize, usize) {
        match self {
            Block::Ordinary(block) => (block.first.conv.outputs, 0),
            Block::GlobalPooling(block) => (block.first.conv.outputs, block.pooling.conv.outputs),
            Block::NestedBottleneck(block) => (block.first.conv.outputs, 0),
            Block::Attention(block) => (block.query.outputs, 0),
            Block::FeedForward(block) => (block.first.outputs, 0),
        }
    }

    /// Returns the number of hidden units of feed-forward blocks, including those of inner blocks, that have no effect
    /// on any result.
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

    /// Calls `visit` with every layer, including those of inner blocks.
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

impl AttentionBlock {
    /// Returns whether all matrices consist of integers of the sizes that are used in 8 bits.
    pub(crate) fn is_of_integers(&self) -> bool {
        let bytes = [&self.query, &self.key, &self.value];
        bytes.iter().all(|matrix| matrix.weights.integers_of(IntegerSize::Eight).is_some())
            && self.output.weights.integers_of(IntegerSize::Sixteen).is_some()
    }
}

impl FeedForwardBlock {
    /// Returns whether all matrices consist of 8-bit integers.
    pub(crate) fn is_of_integers(&self) -> bool {
        let bytes = [&self.first, &self.gate, &self.last];
        bytes.iter().all(|matrix| matrix.weights.integers_of(IntegerSize::Eight).is_some())
    }

    /// Returns the indices of the hidden units that can affect a result, or a single index if none can.
    ///
    /// Training drives the weights of unused units towards zero. The contribution of such a unit is at most the product
    /// of its largest weights times the squares of the channels and of the norm's outputs, which are under 10⁷
    /// together. A sum of ordinary numbers in `f32` does not change by that.
    fn live_units(&self) -> Vec<usize> {
        const NOTHING: f32 = 1e-30;
        let hidden = self.first.outputs;
        let [first, gate] = [&self.first, &self.gate].map(|matmul| {
            let mut largest = vec![0.0f32; hidden];
            for row in matmul.weights.floats().chunks_exact(hidden) {
                for (most, weight) in largest.iter_mut().zip(row) {
                    *most = most.max(weight.abs());
                }
            }
            largest
        });
        let last = self.last.weights.floats();
        let last = last.chunks_exact(self.last.outputs);
        let last = last.map(|row| row.iter().fold(0.0f32, |most, weight| most.max(weight.abs())));
        let units = first.iter().zip(&gate).zip(last).enumerate();
        let live: Vec<usize> = units
            .filter(|(_, ((first, gate), last))| *first * *gate * *last >= NOTHING)
            .map(|(unit, _)| unit)
            .collect();
        if live.is_empty() { vec![0] } else { live }
    }

    /// Returns the block with only the given hidden units.
    fn with_units(&self, units: &[usize]) -> FeedForwardBlock {
        let columns = |matmul: &MatMul| {
            let weights = matmul.weights.floats();
            let rows = weights.chunks_exact(matmul.outputs);
            let weights: Vec<f32> = rows.flat_map(|row| units.iter().map(|&unit| row[unit])).collect();
            let weights = weights.into();
            MatMul { name: matmul.name.clone(), inputs: matmul.inputs, outputs: units.len(), weights }
        };
        let outputs = self.last.outputs;
        let weights = self.last.weights.floats();
        let rows = units.iter().map(|&unit| &weights[unit * outputs..][..outputs]);
        let weights: Vec<f32> = rows.flatten().copied().collect();
        let weights = weights.into();
        FeedForwardBlock {
            name: self.name.clone(),
            norm: self.norm.clone(),
            first: columns(&self.first),
            gate: columns(&self.gate),
            last: MatMul { name: self.last.name.clone(), inputs: units.len(), outputs, weights },
        }
    }

    /// Returns the block without the hidden units that affect no result.
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
    /// Returns the number of channels of input and output.
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

/// Size and cost of a network or of a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Cost {
    /// Number of weights in the file, including running means and variances of normalisations.
    pub parameters: usize,
    /// Number of multiply-adds per point of the board; see [`Layer::multiply_adds`].
    pub multiply_adds: usize,
    /// Number of multiply-adds per ordered pair of points, including pairs of a point with itself.
    pub pair_multiply_adds: usize,
}

impl Cost {
    /// Returns the sum over all layers that `visit_all` passes to its argument.
    pub fn of<'n>(visit_all: impl FnOnce(&mut dyn FnMut(Layer<'n>))) -> Cost {
        let mut cost = Cost::default();
        visit_all(&mut |layer| {
            cost.parameters += layer.parameters();
            cost.multiply_adds += layer.multiply_adds();
            cost.pair_multiply_adds += match layer {
                Layer::Pairs(products) => products,
                _ => 0,
            };
        });
        cost
    }

    /// Returns the number of multiply-adds for one position on a board of `area` points.
    pub fn multiply_adds_on(self, area: usize) -> usize {
        self.multiply_adds * area + self.pair_multiply_adds * area * area
    }
}

impl Network {
    /// Returns the name that the file states.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version, from [`OLDEST_VERSION`] to [`NEWEST_VERSION`].
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Returns whether the network was converted to integers ([`to_int8`](Self::to_int8)).
    pub fn is_int8(&self) -> bool {
        self.rounding.is_some()
    }

    /// Returns the number of channels between the blocks.
    pub fn channels(&self) -> usize {
        self.trunk.channels
    }

    /// Returns the blocks of the trunk, in the order of evaluation.
    pub fn blocks(&self) -> &[Block] {
        &self.trunk.blocks
    }

    /// Returns the activation at the end of the trunk. In all published networks the blocks have the same one.
    pub fn activation(&self) -> Activation {
        self.trunk.last_activation.activation
    }

    /// Returns whether the network takes features of the players. Such networks predict the moves of humans.
    pub fn takes_metadata(&self) -> bool {
        self.trunk.metadata_encoder.is_some()
    }

    /// Returns whether the network's inputs must treat unconditional life as if the suicide of several stones were
    /// legal, whatever the rules are. See [`Features`](super::Features).
    pub fn pass_alive_with_suicide(&self) -> bool {
        self.pass_alive_with_suicide
    }

    /// Returns the number of hidden units of feed-forward blocks that affect no result, because training has driven
    /// their weights to zero.
    pub fn dead_units(&self) -> usize {
        self.blocks().iter().map(Block::dead_units).sum()
    }

    /// Returns the network without the hidden units that affect no result. It gives equal results in less time.
    pub fn without_dead_units(&self) -> Network {
        let blocks = self.blocks().iter().map(Block::without_dead_units).collect();
        Network { trunk: Trunk { blocks, ..self.trunk.clone() }, ..self.clone() }
    }

    /// Returns the number of logits per move: 1, 2 with an optimistic policy, or 4 with two more that are not used.
    pub fn policy_channels(&self) -> usize {
        self.policy.last_conv.outputs
    }

    /// Returns the number of channels inside the heads: of the policy head, of its pooling branch, of the value head,
    /// and of the vector after the value head's pooling.
    pub fn head_widths(&self) -> [usize; 4] {
        let (policy, value) = (&self.policy, &self.value);
        [policy.conv.outputs, policy.pooling.conv.outputs, value.conv.outputs, value.matmul.outputs]
    }

    /// Calls `visit` with every layer that has weights, in the order of the file.
    pub fn visit<'n>(&'n self, visit: &mut dyn FnMut(Layer<'n>)) {
        visit(Layer::Conv(&self.trunk.first_conv));
        visit(Layer::MatMul(&self.trunk.global_matmul));
        self.trunk.metadata_encoder.iter().for_each(|encoder| encoder.visit(visit));
        self.trunk.blocks.iter().for_each(|block| block.visit(visit));
        self.trunk.last_norm.visit(visit);
        self.policy.visit(visit);
        self.value.visit(visit);
    }

    /// Returns the cost of the whole network.
    pub fn cost(&self) -> Cost {
        Cost::of(|visit| self.visit(visit))
    }
}
