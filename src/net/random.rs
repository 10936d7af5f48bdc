//! Small networks with random weights, for tests and for comparing programs that read the format.

use super::input::{GLOBAL_FEATURES, METADATA_FEATURES, SPATIAL_FEATURES};
use super::layer::{
    Activation, ActivationLayer, Bias, Conv, MatMul, Norm, RmsNorm, RotaryEmbedding, TrunkRmsNorm,
};
use super::model::{
    AttentionBlock, Block, DenseLayer, FeedForwardBlock, GlobalPooling, GlobalPoolingBlock, MetadataEncoder,
    Multipliers, NEWEST_VERSION, NestedBottleneckBlock, Network, NormActConv, OLDEST_VERSION, OrdinaryBlock,
    PassLayers, PolicyHead, Trunk, TrunkNorm, ValueHead, policy_channels, score_channels,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use thiserror::Error;

/// Shape of a random network.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Version of the format, from [`OLDEST_VERSION`] to [`NEWEST_VERSION`].
    pub version: u32,
    /// Blocks of the trunk.
    pub blocks: Vec<BlockKind>,
    /// Number of channels of the trunk; at least 2. A third of the channels of pooling blocks are pooled. Blocks inside
    /// nested blocks have half as many channels.
    pub channels: usize,
    /// Activation everywhere except in feed-forward blocks. Below version 11 it must be ReLU.
    pub activation: Activation,
    /// Shape of attention blocks.
    pub attention: AttentionShape,
    /// Norm at the end of the trunk. Below version 15 it must be batch normalisation.
    pub trunk_norm: TrunkNormKind,
    /// Number of logits per move, 2 or 4, from version 17 on. Older versions prescribe it.
    pub policy_channels: usize,
    /// Whether the network takes features of the players; requires version 15.
    pub has_metadata_encoder: bool,
    /// Value of [`Network::pass_alive_with_suicide`]; requires version 15.
    pub pass_alive_with_suicide: bool,
    /// Choice of the other widths.
    pub widths: Widths,
    /// Seed of all weights.
    pub seed: u64,
}

/// Kind of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockKind {
    /// Two convolutions.
    Ordinary,
    /// Two convolutions with global pooling.
    GlobalPooling,
    /// Nested bottleneck around two ordinary blocks.
    Nested,
    /// Nested bottleneck around a block with global pooling and an ordinary block.
    NestedPooling,
    /// Attention.
    Attention,
    /// Feed-forward block. [`Widths::Published`] gives it the number of hidden channels of published networks: 8/3 of
    /// the block's channels, rounded up to a multiple of 64 (128 from 128 channels on).
    FeedForward,
    /// Nested bottleneck around two transformer layers, each of attention and feed-forward.
    NestedTransformer,
    /// Nested bottleneck around three transformer layers.
    NestedTransformer3,
    /// Nested bottleneck around an ordinary block, attention, a nested bottleneck and a feed-forward block. Files may
    /// contain such blocks, although no published network does.
    NestedMixed,
}

impl BlockKind {
    /// All kinds.
    pub const ALL: [BlockKind; 9] = [
        BlockKind::Ordinary,
        BlockKind::GlobalPooling,
        BlockKind::Nested,
        BlockKind::NestedPooling,
        BlockKind::Attention,
        BlockKind::FeedForward,
        BlockKind::NestedTransformer,
        BlockKind::NestedTransformer3,
        BlockKind::NestedMixed,
    ];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            BlockKind::Ordinary => "ordinary",
            BlockKind::GlobalPooling => "gpool",
            BlockKind::Nested => "nested",
            BlockKind::NestedPooling => "nested-gpool",
            BlockKind::Attention => "attention",
            BlockKind::FeedForward => "ffn",
            BlockKind::NestedTransformer => "nested-transformer",
            BlockKind::NestedTransformer3 => "nested-transformer3",
            BlockKind::NestedMixed => "nested-mixed",
        }
    }

    /// Returns the kinds of the inner blocks.
    const fn inner(self) -> &'static [BlockKind] {
        use BlockKind::{Attention, FeedForward, GlobalPooling, Nested, Ordinary};
        match self {
            BlockKind::Nested => &[Ordinary, Ordinary],
            BlockKind::NestedPooling => &[GlobalPooling, Ordinary],
            BlockKind::NestedTransformer => &[Attention, FeedForward, Attention, FeedForward],
            BlockKind::NestedTransformer3 => {
                &[Attention, FeedForward, Attention, FeedForward, Attention, FeedForward]
            }
            BlockKind::NestedMixed => &[Ordinary, Attention, Nested, FeedForward],
            Ordinary | GlobalPooling | Attention | FeedForward => &[],
        }
    }

    /// Returns whether a file needs version 15 to contain such a block.
    pub const fn needs_version_15(self) -> bool {
        match self {
            BlockKind::Ordinary | BlockKind::GlobalPooling | BlockKind::Nested | BlockKind::NestedPooling => {
                false
            }
            BlockKind::Attention
            | BlockKind::FeedForward
            | BlockKind::NestedTransformer
            | BlockKind::NestedTransformer3
            | BlockKind::NestedMixed => true,
        }
    }
}

/// Shape of attention blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttentionShape {
    /// Number of heads of queries.
    pub heads: usize,
    /// Number of heads of keys and values; divides `heads`.
    pub key_heads: usize,
    /// Number of channels of a query in a head: a multiple of 4 with a fixed rotary embedding and of 2 with a learned
    /// one. `None` is an even share of the channels, rounded down to such a multiple.
    pub key_width: Option<usize>,
    /// Number of channels of a value in a head. `None` is an even share of the channels.
    pub value_width: Option<usize>,
    /// Encoding of the positions of points.
    pub rotary: RotaryKind,
}

impl Default for AttentionShape {
    fn default() -> AttentionShape {
        AttentionShape {
            heads: 2,
            key_heads: 2,
            key_width: None,
            value_width: None,
            rotary: RotaryKind::Learned,
        }
    }
}

/// Encoding of the positions of points in attention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RotaryKind {
    /// None.
    None,
    /// Rotary embedding with fixed angles.
    Fixed,
    /// Rotary embedding with learned angles.
    Learned,
}

impl RotaryKind {
    /// Returns the number that the channels of a query must be a multiple of.
    const fn unit(self) -> usize {
        match self {
            RotaryKind::None => 1,
            RotaryKind::Fixed => 4,
            RotaryKind::Learned => 2,
        }
    }
}

/// Norm at the end of a trunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrunkNormKind {
    /// Batch normalisation.
    Batch,
    /// Normalisation by the root mean square of each point.
    Rms,
    /// Normalisation by the root mean square of all points together.
    SpatialRms,
}

/// Widths of the first layer and of the heads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Widths {
    /// For tests: any two widths that could be confused are different. The first convolution has a 5 × 5 window, and
    /// the heads have about a third of the channels.
    Uneven,
    /// As in published networks: the first convolution has a 3 × 3 window. The policy head has an eighth of the
    /// channels and the value head a quarter, both at least 32.
    Published,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            version: OLDEST_VERSION,
            blocks: vec![BlockKind::Ordinary, BlockKind::GlobalPooling],
            channels: 6,
            activation: Activation::Relu,
            attention: AttentionShape::default(),
            trunk_norm: TrunkNormKind::Batch,
            policy_channels: 2,
            has_metadata_encoder: false,
            pass_alive_with_suicide: false,
            widths: Widths::Uneven,
            seed: 0,
        }
    }
}

/// Reason why a random network cannot be created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum OptionsError {
    /// The version does not exist.
    #[error("the version must be from {OLDEST_VERSION} to {NEWEST_VERSION}")]
    Version,
    /// Older files cannot state the activation.
    #[error("below version 11 the activation must be ReLU")]
    Activation,
    /// Older files cannot represent an option.
    #[error(
        "networks of versions below 15 have no attention or feed-forward blocks, no other norm of the trunk than batch \
         normalisation, no encoder of metadata features, and no word about pass-alive chains"
    )]
    New,
    /// The number of channels or blocks is out of range.
    #[error(
        "the number of channels must be from 2 to {MAX_CHANNELS} and the number of blocks from 1 to {MAX_BLOCKS}"
    )]
    Size,
    /// The heads of attention are invalid.
    #[error(
        "the number of key heads must divide the number of heads; each head needs channels, at most \
         {MAX_CHANNELS} in total; the channels of a query must be a multiple of 2 with learned angles and of \
         4 with fixed angles"
    )]
    Heads,
    /// The number of logits is invalid.
    #[error("the number of logits per move must be 2 or 4")]
    PolicyChannels,
}

/// Largest number of channels, a little above that of published networks.
const MAX_CHANNELS: usize = 1024;

/// Largest number of blocks, a little above that of published networks.
const MAX_BLOCKS: usize = 100;

/// Returns shapes of small networks that together have every kind of block, norm, activation and head, and channel
/// counts that are not multiples of a vector's width. They serve to compare two implementations of the forward pass.
pub fn kinds() -> Vec<Options> {
    use BlockKind::{Attention, FeedForward, GlobalPooling, Nested, NestedMixed, NestedPooling};
    use BlockKind::{NestedTransformer, NestedTransformer3, Ordinary};
    let usual = Options { seed: 1, ..Options::default() };
    let grouped = AttentionShape {
        heads: 4,
        key_heads: 2,
        key_width: Some(12),
        value_width: Some(5),
        rotary: RotaryKind::Fixed,
    };
    let plain = AttentionShape {
        heads: 3,
        key_heads: 1,
        key_width: Some(7),
        value_width: Some(8),
        rotary: RotaryKind::None,
    };
    vec![
        Options { blocks: vec![Ordinary, GlobalPooling], channels: 23, ..usual.clone() },
        Options { version: 9, blocks: vec![GlobalPooling, Ordinary], channels: 4, ..usual.clone() },
        Options {
            version: 11,
            blocks: vec![Nested, NestedPooling],
            channels: 42,
            activation: Activation::Mish,
            ..usual.clone()
        },
        Options {
            version: 16,
            blocks: vec![Ordinary, GlobalPooling, NestedPooling],
            channels: 70,
            activation: Activation::Mish,
            ..usual.clone()
        },
        Options {
            version: 15,
            blocks: vec![NestedTransformer, NestedMixed],
            channels: 58,
            activation: Activation::Silu,
            trunk_norm: TrunkNormKind::SpatialRms,
            has_metadata_encoder: true,
            ..usual.clone()
        },
        Options {
            version: 17,
            blocks: vec![Attention, FeedForward, Attention, FeedForward],
            channels: 37,
            attention: grouped,
            trunk_norm: TrunkNormKind::Rms,
            policy_channels: 4,
            ..usual.clone()
        },
        Options {
            version: 17,
            blocks: vec![FeedForward, NestedTransformer3, Attention],
            channels: 32,
            activation: Activation::Identity,
            attention: plain,
            ..usual
        },
    ]
}

/// Creates a network with the given shape. It is identical on every machine, because only exactly rounded arithmetic is
/// used.
///
/// # Errors
///
/// Returns [`OptionsError`] if there is no network of this shape.
pub fn network(options: &Options) -> Result<Network, OptionsError> {
    check(options)?;
    let &Options { version, channels, seed, widths, .. } = options;
    let mut maker = NetworkBuilder { rng: ChaCha20Rng::seed_from_u64(seed), options };
    let trunk = maker.trunk(channels, &options.blocks);
    let (policy_width, value_width) = match widths {
        Widths::Uneven => ((channels / 3).max(2), (channels / 3).max(2)),
        Widths::Published => ((channels / 8).max(32), (channels / 4).max(32)),
    };
    let policy = maker.policy_head(channels, policy_width);
    let value = maker.value_head(channels, value_width);
    let name = format!("random-v{version}-b{}c{channels}-s{seed}", options.blocks.len());
    let pass_alive_with_suicide = options.pass_alive_with_suicide;
    Ok(Network {
        name,
        version,
        multipliers: Multipliers::DEFAULT,
        pass_alive_with_suicide,
        trunk,
        policy,
        value,
        rounding: None,
    })
}

fn check(options: &Options) -> Result<(), OptionsError> {
    let &Options { version, channels, .. } = options;
    let is_new = options.blocks.iter().any(|kind| kind.needs_version_15())
        || options.trunk_norm != TrunkNormKind::Batch
        || options.has_metadata_encoder
        || options.pass_alive_with_suicide;
    if !(OLDEST_VERSION..=NEWEST_VERSION).contains(&version) {
        Err(OptionsError::Version)
    } else if version < 11 && options.activation != Activation::Relu {
        Err(OptionsError::Activation)
    } else if version < 15 && is_new {
        Err(OptionsError::New)
    } else if !(2..=MAX_CHANNELS).contains(&channels) || !(1..=MAX_BLOCKS).contains(&options.blocks.len()) {
        Err(OptionsError::Size)
    } else if version >= 17 && ![2, 4].contains(&options.policy_channels) {
        Err(OptionsError::PolicyChannels)
    } else {
        options.blocks.iter().try_for_each(|&kind| check_heads(options, kind, channels))
    }
}

/// Checks the attention blocks in a block of this kind.
fn check_heads(options: &Options, kind: BlockKind, channels: usize) -> Result<(), OptionsError> {
    if kind == BlockKind::Attention {
        let shape = options.attention;
        let possible = |width: usize| (1..=MAX_CHANNELS).contains(&width);
        if !possible(shape.heads) || shape.key_heads == 0 || !shape.heads.is_multiple_of(shape.key_heads) {
            return Err(OptionsError::Heads);
        }
        let [key, value] = head_widths(shape, channels);
        let is_whole = key.is_multiple_of(shape.rotary.unit());
        let is_possible =
            is_whole && [key, value].into_iter().all(|width| possible(width.saturating_mul(shape.heads)));
        if !is_possible {
            return Err(OptionsError::Heads);
        }
    }
    kind.inner().iter().try_for_each(|&inner| check_heads(options, inner, inner_channels(channels)))
}

/// Returns the number of channels of a query and of a value in a head.
fn head_widths(shape: AttentionShape, channels: usize) -> [usize; 2] {
    let share = channels / shape.heads;
    let unit = shape.rotary.unit();
    [shape.key_width.unwrap_or(share / unit * unit), shape.value_width.unwrap_or(share)]
}

/// Returns the number of channels inside a nested bottleneck.
fn inner_channels(channels: usize) -> usize {
    (channels / 2).max(2)
}

/// Returns the number of hidden channels of a feed-forward block.
fn hidden(channels: usize) -> usize {
    (channels * 8).div_ceil(3).next_multiple_of(if channels < 128 { 64 } else { 128 })
}

/// Returns the number of pooled channels of a block, a third of all.
fn pooled(channels: usize) -> usize {
    (channels / 3).max(1)
}

struct NetworkBuilder<'o> {
    rng: ChaCha20Rng,
    options: &'o Options,
}

impl NetworkBuilder<'_> {
    /// Returns a number from `least` to `most`, from 24 random bits.
    fn between(&mut self, least: f32, most: f32) -> f32 {
        let unit = (self.rng.next_u32() >> 8) as f32 / (1u32 << 24) as f32;
        least + (most - least) * unit
    }

    fn numbers(&mut self, count: usize, least: f32, most: f32) -> Vec<f32> {
        (0..count).map(|_| self.between(least, most)).collect()
    }

    /// Returns weights that on average preserve the magnitude of the numbers in sums of `inputs` products, times
    /// `gain`.
    ///
    /// CITE: He et al., "Delving deep into rectifiers" (2015), section 2.2: a variance of `2 / inputs`. Here the
    /// distribution is uniform, with a variance of a third of the square of its largest number.
    fn weights(&mut self, inputs: usize, count: usize, gain: f32) -> Vec<f32> {
        let bound = gain * (6.0 / inputs as f32).sqrt();
        self.numbers(count, -bound, bound)
    }

    fn conv(&mut self, name: String, side: usize, inputs: usize, outputs: usize, gain: f32) -> Conv {
        let window = side * side * inputs;
        let weights = self.weights(window, window * outputs, gain).into();
        Conv { name, height: side, width: side, inputs, outputs, weights }
    }

    fn matmul(&mut self, name: String, inputs: usize, outputs: usize) -> MatMul {
        self.matmul_with_gain(name, inputs, outputs, 0.7)
    }

    fn matmul_with_gain(&mut self, name: String, inputs: usize, outputs: usize, gain: f32) -> MatMul {
        let weights = self.weights(inputs, inputs * outputs, gain).into();
        MatMul { name, inputs, outputs, weights }
    }

    fn bias(&mut self, name: String, channels: usize) -> Bias {
        Bias { name, weights: self.numbers(channels, -0.3, 0.3) }
    }

    fn norm(&mut self, name: String, channels: usize, has_scale: bool) -> Norm {
        let mean = self.numbers(channels, -0.2, 0.2);
        let variance = self.numbers(channels, 0.6, 1.6);
        let scale = has_scale.then(|| self.numbers(channels, 0.7, 1.3));
        let bias = Some(self.numbers(channels, -0.3, 0.3));
        Norm { name, epsilon: 1e-20, mean, variance, scale, bias }
    }

    fn activation(&self, name: String) -> ActivationLayer {
        ActivationLayer { name, activation: self.options.activation }
    }

    fn norm_act_conv(&mut self, name: &str, side: usize, widths: [usize; 2], is_last: bool) -> NormActConv {
        let [inputs, outputs] = widths;
        let norm = self.norm(format!("{name}.norm"), inputs, is_last);
        let activation = self.activation(format!("{name}.act"));
        // The last convolution of a block is weak, so that the sums do not grow with the depth.
        let conv = self.conv(format!("{name}.conv"), side, inputs, outputs, if is_last { 0.4 } else { 1.0 });
        NormActConv { norm, activation, conv }
    }

    fn pooling(
        &mut self,
        name: &str,
        inputs: usize,
        side: usize,
        pooled: usize,
        outputs: usize,
    ) -> GlobalPooling {
        let conv = self.conv(format!("{name}.conv1g"), side, inputs, pooled, 1.0);
        let norm = self.norm(format!("{name}.normg"), pooled, false);
        let activation = self.activation(format!("{name}.actg"));
        let matmul = self.matmul(format!("{name}.linear_g"), 3 * pooled, outputs);
        GlobalPooling { conv, norm, activation, matmul }
    }

    fn block(&mut self, name: String, kind: BlockKind, channels: usize) -> Block {
        let first_name = format!("{name}.normactconv1");
        match kind {
            BlockKind::Ordinary => {
                let first = self.norm_act_conv(&first_name, 3, [channels; 2], false);
                let second = self.norm_act_conv(&format!("{name}.normactconv2"), 3, [channels; 2], true);
                Block::Ordinary(Box::new(OrdinaryBlock { name, first, second }))
            }
            BlockKind::GlobalPooling => {
                let pooled = pooled(channels);
                let regular = channels - pooled;
                let first = self.norm_act_conv(&first_name, 3, [channels, regular], false);
                let pooling = self.pooling(&format!("{first_name}.convpool"), channels, 3, pooled, regular);
                let second =
                    self.norm_act_conv(&format!("{name}.normactconv2"), 3, [regular, channels], true);
                Block::GlobalPooling(Box::new(GlobalPoolingBlock { name, first, pooling, second }))
            }
            BlockKind::Attention => Block::Attention(Box::new(self.attention(name, channels))),
            BlockKind::FeedForward => Block::FeedForward(Box::new(self.feed_forward(name, channels))),
            BlockKind::Nested
            | BlockKind::NestedPooling
            | BlockKind::NestedTransformer
            | BlockKind::NestedTransformer3
            | BlockKind::NestedMixed => {
                let inner = inner_channels(channels);
                let first = self.norm_act_conv(&format!("{name}.normactconvp"), 1, [channels, inner], false);
                let kinds = kind.inner().iter().enumerate();
                let blocks = kinds
                    .map(|(index, &kind)| self.block(format!("{name}.blockstack.{index}"), kind, inner))
                    .collect();
                let second = self.norm_act_conv(&format!("{name}.normactconvq"), 1, [inner, channels], true);
                Block::NestedBottleneck(Box::new(NestedBottleneckBlock { name, first, blocks, second }))
            }
        }
    }

    fn rms_norm(&mut self, name: String, channels: usize) -> RmsNorm {
        RmsNorm { name, epsilon: 1e-6, scale: self.numbers(channels, 0.7, 1.3) }
    }

    fn attention(&mut self, name: String, channels: usize) -> AttentionBlock {
        let shape = self.options.attention;
        let [key_width, value_width] = head_widths(shape, channels);
        let (queries, keys) = (shape.heads * key_width, shape.key_heads * key_width);
        let (seen, values) = (shape.heads * value_width, shape.key_heads * value_width);
        AttentionBlock {
            heads: shape.heads,
            key_heads: shape.key_heads,
            key_width,
            value_width,
            norm: self.rms_norm(format!("{name}.norm1"), channels),
            // The products of queries and keys must be large enough that the weights of attention differ considerably.
            query: self.matmul_with_gain(format!("{name}.q_proj"), channels, queries, 1.0),
            key: self.matmul_with_gain(format!("{name}.k_proj"), channels, keys, 1.0),
            value: self.matmul(format!("{name}.v_proj"), channels, values),
            output: self.matmul(format!("{name}.out_proj"), seen, channels),
            rotary: match shape.rotary {
                RotaryKind::None => None,
                RotaryKind::Fixed => {
                    Some(RotaryEmbedding::Fixed { name: format!("{name}.rope_theta"), theta: 100.0 })
                }
                RotaryKind::Learned => {
                    // A pair rotates by at most three radians per point, as in published networks.
                    let frequencies = self.numbers(keys, -3.0, 3.0);
                    Some(RotaryEmbedding::Learned { name: format!("{name}.rope_freqs"), frequencies })
                }
            },
            name,
        }
    }

    fn feed_forward(&mut self, name: String, channels: usize) -> FeedForwardBlock {
        let hidden = match self.options.widths {
            Widths::Uneven => 2 * channels + 3,
            Widths::Published => hidden(channels),
        };
        FeedForwardBlock {
            norm: self.rms_norm(format!("{name}.norm"), channels),
            first: self.matmul(format!("{name}.ffn_linear1"), channels, hidden),
            gate: self.matmul(format!("{name}.ffn_linear_gate"), channels, hidden),
            last: self.matmul(format!("{name}.ffn_linear2"), hidden, channels),
            name,
        }
    }

    fn metadata_encoder(&mut self, channels: usize) -> MetadataEncoder {
        let name = "model.sgf_metadata_encoder".to_owned();
        // Narrower than in published networks.
        let (first, second) = (channels + 1, channels + 2);
        MetadataEncoder {
            first: self.dense_layer(&name, 1, METADATA_FEATURES, first),
            second: self.dense_layer(&name, 2, first, second),
            last: self.matmul(format!("{name}.mul3"), second, channels),
            name,
        }
    }

    fn dense_layer(&mut self, name: &str, number: usize, inputs: usize, outputs: usize) -> DenseLayer {
        DenseLayer {
            matmul: self.matmul(format!("{name}.mul{number}"), inputs, outputs),
            bias: self.bias(format!("{name}.bias{number}"), outputs),
            activation: self.activation(format!("{name}.act{number}")),
        }
    }

    fn trunk_norm(&mut self, channels: usize) -> TrunkNorm {
        let name = "model.norm_trunkfinal".to_owned();
        let is_spatial = match self.options.trunk_norm {
            TrunkNormKind::Batch => return TrunkNorm::Batch(self.norm(name, channels, false)),
            TrunkNormKind::Rms => false,
            TrunkNormKind::SpatialRms => true,
        };
        let scale = self.numbers(channels, 0.7, 1.3);
        let bias = self.numbers(channels, -0.3, 0.3);
        TrunkNorm::Rms(TrunkRmsNorm { name, epsilon: 1e-6, is_spatial, scale, bias })
    }

    fn trunk(&mut self, channels: usize, kinds: &[BlockKind]) -> Trunk {
        let side = match self.options.widths {
            Widths::Uneven => 5,
            Widths::Published => 3,
        };
        let first_conv = self.conv("model.conv_spatial".to_owned(), side, SPATIAL_FEATURES, channels, 1.0);
        let global_matmul = self.matmul("model.linear_global".to_owned(), GLOBAL_FEATURES, channels);
        let has_encoder = self.options.has_metadata_encoder;
        let metadata_encoder = has_encoder.then(|| self.metadata_encoder(channels));
        let blocks = kinds.iter().enumerate();
        let blocks = blocks
            .map(|(index, &kind)| self.block(format!("model.blocks.{index}"), kind, channels))
            .collect();
        let last_norm = self.trunk_norm(channels);
        let last_activation = self.activation("model.act_trunkfinal".to_owned());
        let pooled = pooled(channels);
        let stated_widths = [channels, channels - pooled, pooled, pooled];
        Trunk {
            name: "trunk".to_owned(),
            channels,
            stated_widths,
            first_conv,
            global_matmul,
            metadata_encoder,
            blocks,
            last_norm,
            last_activation,
        }
    }

    fn policy_head(&mut self, channels: usize, width: usize) -> PolicyHead {
        let name = "policyhead".to_owned();
        let outputs = policy_channels(self.options.version).unwrap_or(self.options.policy_channels);
        let conv = self.conv(format!("{name}.conv1p"), 1, channels, width, 1.0);
        let pooled = match self.options.widths {
            Widths::Uneven => width + 1,
            Widths::Published => width,
        };
        let pooling = self.pooling(&name, channels, 1, pooled, width);
        let norm = self.norm(format!("{name}.bias2"), width, false);
        let activation = self.activation(format!("{name}.act2"));
        let last_conv = self.conv(format!("{name}.conv2p"), 1, width, outputs, 1.0);
        let pooled = 3 * pooling.conv.outputs;
        let has_layers = self.options.version >= 15;
        let pass_outputs = if has_layers { width } else { outputs };
        let pass_matmul = self.matmul(format!("{name}.linear_pass"), pooled, pass_outputs);
        let pass = has_layers.then(|| PassLayers {
            bias: self.bias(format!("{name}.linear_pass_bias"), width),
            activation: self.activation(format!("{name}.act_pass")),
            matmul: self.matmul(format!("{name}.linear_pass2"), width, outputs),
        });
        PolicyHead { name, conv, pooling, norm, activation, last_conv, pass_matmul, pass }
    }

    fn value_head(&mut self, channels: usize, width: usize) -> ValueHead {
        let name = "valuehead".to_owned();
        let second = match self.options.widths {
            Widths::Uneven => 2 * width,
            Widths::Published => width.max(64),
        };
        let scores = score_channels(self.options.version);
        ValueHead {
            conv: self.conv(format!("{name}.conv1"), 1, channels, width, 1.0),
            norm: self.norm(format!("{name}.bias1"), width, false),
            activation: self.activation(format!("{name}.act1")),
            matmul: self.matmul(format!("{name}.linear2"), 3 * width, second),
            bias: self.bias(format!("{name}.bias2"), second),
            second_activation: self.activation(format!("{name}.act2")),
            value_matmul: self.matmul(format!("{name}.linear_valuehead"), second, 3),
            value_bias: self.bias(format!("{name}.bias_valuehead"), 3),
            score_matmul: self.matmul(format!("{name}.linear_miscvaluehead"), second, scores),
            score_bias: self.bias(format!("{name}.bias_miscvaluehead"), scores),
            ownership_conv: self.conv(format!("{name}.conv_ownership"), 1, width, 1, 1.0),
            name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_determines_weights() {
        let options = Options::default();
        assert_eq!(network(&options), network(&options));
        assert_ne!(network(&options), network(&Options { seed: 1, ..options }));
    }

    #[test]
    fn invalid_options_are_rejected() {
        let with = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            network(&options).map(|_| ())
        };
        assert_eq!(with(|options| options.version = 7), Err(OptionsError::Version));
        assert_eq!(with(|options| options.version = 18), Err(OptionsError::Version));
        assert_eq!(with(|options| options.activation = Activation::Mish), Err(OptionsError::Activation));
        assert_eq!(with(|options| options.channels = 1), Err(OptionsError::Size));
        assert_eq!(with(|options| options.channels = 1 << 20), Err(OptionsError::Size));
        assert_eq!(with(|options| options.blocks.clear()), Err(OptionsError::Size));
        assert_eq!(with(|options| (options.version, options.activation) = (11, Activation::Mish)), Ok(()));
        assert_eq!(with(|options| options.trunk_norm = TrunkNormKind::Rms), Err(OptionsError::New));
        assert_eq!(with(|options| options.has_metadata_encoder = true), Err(OptionsError::New));
        assert_eq!(with(|options| options.pass_alive_with_suicide = true), Err(OptionsError::New));
        assert_eq!(with(|options| options.blocks.push(BlockKind::FeedForward)), Err(OptionsError::New));
        assert_eq!(
            with(|options| (options.version, options.policy_channels) = (17, 3)),
            Err(OptionsError::PolicyChannels)
        );
    }

    #[test]
    fn invalid_heads_are_rejected() {
        let with = |heads, key_heads, key_width, rotary| {
            let attention =
                AttentionShape { heads, key_heads, key_width, rotary, ..AttentionShape::default() };
            let blocks = vec![BlockKind::NestedTransformer];
            network(&Options { version: 15, blocks, channels: 16, attention, ..Options::default() })
                .map(|_| ())
        };
        assert_eq!(with(2, 1, None, RotaryKind::Fixed), Ok(()));
        assert_eq!(with(2, 2, Some(6), RotaryKind::Learned), Ok(()));
        assert_eq!(with(1, 1, Some(5), RotaryKind::None), Ok(()));
        for (heads, key_heads, key_width, rotary) in [
            (0, 1, None, RotaryKind::None),
            (2, 0, None, RotaryKind::None),
            (3, 2, None, RotaryKind::None),
            // A head without channels, or without a pair of channels.
            (16, 16, None, RotaryKind::None),
            (8, 8, None, RotaryKind::Learned),
            (2, 2, Some(6), RotaryKind::Fixed),
            (2, 2, Some(5), RotaryKind::Learned),
            (2, 2, Some(usize::MAX), RotaryKind::None),
        ] {
            let found = with(heads, key_heads, key_width, rotary);
            assert_eq!(found, Err(OptionsError::Heads), "{heads} {key_heads} {key_width:?} {rotary:?}");
        }
    }
}
