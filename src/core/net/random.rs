//! Small networks with random weights: for tests, and to compare programs that read the format.

use super::input::{GLOBAL_FEATURES, SPATIAL_FEATURES};
use super::layer::{Activation, ActivationLayer, Bias, Conv, MatMul, Norm};
use super::model::{
    Block, GlobalPooling, GlobalPoolingBlock, Multipliers, NEWEST_VERSION, NestedBottleneckBlock, Network,
    NormActConv, OLDEST_VERSION, OrdinaryBlock, PassLayers, PolicyHead, Trunk, TrunkNorm, ValueHead,
    policy_channels, score_channels,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use thiserror::Error;

/// What a random network should be like.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// From [`OLDEST_VERSION`] to [`NEWEST_VERSION`].
    pub version: u32,
    /// The blocks of the trunk.
    pub blocks: Vec<BlockKind>,
    /// Channels of the trunk, from 2 on. Blocks pool a third of theirs, nested ones have half as many, and the heads
    /// a third.
    pub channels: usize,
    /// The activation everywhere; below version 11 it can only be ReLU.
    pub activation: Activation,
    /// Decides all weights.
    pub seed: u64,
}

/// A kind of block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockKind {
    /// Two convolutions.
    Ordinary,
    /// With global pooling.
    GlobalPooling,
    /// A nested bottleneck around two ordinary blocks.
    Nested,
    /// A nested bottleneck around a block with global pooling and an ordinary one.
    NestedPooling,
}

impl BlockKind {
    /// All kinds.
    pub const ALL: [BlockKind; 4] =
        [BlockKind::Ordinary, BlockKind::GlobalPooling, BlockKind::Nested, BlockKind::NestedPooling];

    /// The word of the command line.
    pub const fn word(self) -> &'static str {
        match self {
            BlockKind::Ordinary => "ordinary",
            BlockKind::GlobalPooling => "gpool",
            BlockKind::Nested => "nested",
            BlockKind::NestedPooling => "nested-gpool",
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            version: OLDEST_VERSION,
            blocks: vec![BlockKind::Ordinary, BlockKind::GlobalPooling],
            channels: 6,
            activation: Activation::Relu,
            seed: 0,
        }
    }
}

/// Why there is no such network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Impossible {
    /// There is no such version.
    #[error("there are networks of the versions {OLDEST_VERSION} to {NEWEST_VERSION}")]
    Version,
    /// Older files cannot say which activation is meant.
    #[error("networks of versions below 11 have the activation ReLU")]
    Activation,
    /// Too many channels or blocks, or none.
    #[error("from 2 to {MOST_CHANNELS} channels and from 1 to {MOST_BLOCKS} blocks are possible")]
    Size,
}

/// As many channels as published networks have, and some more.
const MOST_CHANNELS: usize = 1024;

/// As many blocks as published networks have, and some more.
const MOST_BLOCKS: usize = 100;

/// A network as `options` say. The same on every machine: there is no arithmetic but exactly rounded one.
pub fn network(options: &Options) -> Result<Network, Impossible> {
    let &Options { version, channels, seed, .. } = options;
    if !(OLDEST_VERSION..=NEWEST_VERSION).contains(&version) {
        return Err(Impossible::Version);
    } else if version < 11 && options.activation != Activation::Relu {
        return Err(Impossible::Activation);
    } else if !(2..=MOST_CHANNELS).contains(&channels) || !(1..=MOST_BLOCKS).contains(&options.blocks.len()) {
        return Err(Impossible::Size);
    }
    let mut maker = Maker { rng: ChaCha20Rng::seed_from_u64(seed), version, activation: options.activation };
    let trunk = maker.trunk(channels, &options.blocks);
    let head = (channels / 3).max(2);
    let policy = maker.policy_head(channels, head);
    let value = maker.value_head(channels, head);
    let name = format!("random-v{version}-b{}c{channels}-s{seed}", options.blocks.len());
    Ok(Network {
        name,
        version,
        multipliers: Multipliers::DEFAULT,
        pass_alive_with_suicide: false,
        trunk,
        policy,
        value,
    })
}

/// A third of the channels of a block are pooled.
fn pooled(channels: usize) -> usize {
    (channels / 3).max(1)
}

struct Maker {
    rng: ChaCha20Rng,
    version: u32,
    activation: Activation,
}

impl Maker {
    /// A number between `least` and `most`, of 24 random bits.
    fn between(&mut self, least: f32, most: f32) -> f32 {
        let unit = (self.rng.next_u32() >> 8) as f32 / (1u32 << 24) as f32;
        least + (most - least) * unit
    }

    fn numbers(&mut self, count: usize, least: f32, most: f32) -> Vec<f32> {
        (0..count).map(|_| self.between(least, most)).collect()
    }

    /// Weights that keep the size of numbers on average over `inputs` of them, times `gain`.
    ///
    /// CITE: He et al., "Delving deep into rectifiers" (2015), section 2.2: a variance of `2 / inputs`; here of an
    /// even distribution, whose variance is a third of its largest number's square.
    fn weights(&mut self, inputs: usize, count: usize, gain: f32) -> Vec<f32> {
        let bound = gain * (6.0 / inputs as f32).sqrt();
        self.numbers(count, -bound, bound)
    }

    fn conv(&mut self, name: String, side: usize, inputs: usize, outputs: usize, gain: f32) -> Conv {
        let window = side * side * inputs;
        let weights = self.weights(window, window * outputs, gain);
        Conv { name, height: side, width: side, inputs, outputs, weights }
    }

    fn matmul(&mut self, name: String, inputs: usize, outputs: usize) -> MatMul {
        let weights = self.weights(inputs, inputs * outputs, 0.7);
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
        ActivationLayer { name, activation: self.activation }
    }

    fn norm_act_conv(&mut self, name: &str, side: usize, widths: [usize; 2], is_last: bool) -> NormActConv {
        let [inputs, outputs] = widths;
        let norm = self.norm(format!("{name}.norm"), inputs, is_last);
        let activation = self.activation(format!("{name}.act"));
        // The last convolution of a block is weak, so that sums do not grow with the depth.
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
            BlockKind::Nested | BlockKind::NestedPooling => {
                let inner = (channels / 2).max(2);
                let first_kind = match kind {
                    BlockKind::NestedPooling => BlockKind::GlobalPooling,
                    _ => BlockKind::Ordinary,
                };
                let first = self.norm_act_conv(&format!("{name}.normactconvp"), 1, [channels, inner], false);
                let kinds = [first_kind, BlockKind::Ordinary].into_iter().enumerate();
                let blocks = kinds
                    .map(|(index, kind)| self.block(format!("{name}.blockstack.{index}"), kind, inner))
                    .collect();
                let second = self.norm_act_conv(&format!("{name}.normactconvq"), 1, [inner, channels], true);
                Block::NestedBottleneck(Box::new(NestedBottleneckBlock { name, first, blocks, second }))
            }
        }
    }

    fn trunk(&mut self, channels: usize, kinds: &[BlockKind]) -> Trunk {
        let first_conv = self.conv("model.conv_spatial".to_owned(), 5, SPATIAL_FEATURES, channels, 1.0);
        let global_matmul = self.matmul("model.linear_global".to_owned(), GLOBAL_FEATURES, channels);
        let blocks = kinds.iter().enumerate();
        let blocks = blocks
            .map(|(index, &kind)| self.block(format!("model.blocks.{index}"), kind, channels))
            .collect();
        let last_norm = TrunkNorm::Batch(self.norm("model.norm_trunkfinal".to_owned(), channels, false));
        let last_activation = self.activation("model.act_trunkfinal".to_owned());
        let pooled = pooled(channels);
        let stated_widths = [channels, channels - pooled, pooled, pooled];
        Trunk {
            name: "trunk".to_owned(),
            channels,
            stated_widths,
            first_conv,
            global_matmul,
            metadata_encoder: None,
            blocks,
            last_norm,
            last_activation,
        }
    }

    fn policy_head(&mut self, channels: usize, width: usize) -> PolicyHead {
        let name = "policyhead".to_owned();
        let outputs = policy_channels(self.version).unwrap_or(2);
        let conv = self.conv(format!("{name}.conv1p"), 1, channels, width, 1.0);
        // Wider than the head, so that mistaking one for the other shows.
        let pooling = self.pooling(&name, channels, 1, width + 1, width);
        let norm = self.norm(format!("{name}.bias2"), width, false);
        let activation = self.activation(format!("{name}.act2"));
        let last_conv = self.conv(format!("{name}.conv2p"), 1, width, outputs, 1.0);
        let pooled = 3 * pooling.conv.outputs;
        let has_layers = self.version >= 15;
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
        let (second, scores) = (2 * width, score_channels(self.version));
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
    fn the_seed_decides() {
        let options = Options::default();
        assert_eq!(network(&options), network(&options));
        assert_ne!(network(&options), network(&Options { seed: 1, ..options }));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let with = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            network(&options).map(|_| ())
        };
        assert_eq!(with(|options| options.version = 7), Err(Impossible::Version));
        assert_eq!(with(|options| options.version = 18), Err(Impossible::Version));
        assert_eq!(with(|options| options.activation = Activation::Mish), Err(Impossible::Activation));
        assert_eq!(with(|options| options.channels = 1), Err(Impossible::Size));
        assert_eq!(with(|options| options.channels = 1 << 20), Err(Impossible::Size));
        assert_eq!(with(|options| options.blocks.clear()), Err(Impossible::Size));
        assert_eq!(with(|options| (options.version, options.activation) = (11, Activation::Mish)), Ok(()));
    }
}
