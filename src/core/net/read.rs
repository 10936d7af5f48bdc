//! Networks from files.
//!
//! The format is KataGo's: `.bin.gz` and `.txt.gz`, and both unpacked. What a file is, is seen by its content and
//! not by its name. Every layer is checked against its neighbours before its weights are read.

use super::error::{ErrorKind, ReadError};
use super::input::{GLOBAL_FEATURES, SPATIAL_FEATURES};
use super::layer::{Activation, ActivationLayer, Bias, Conv, MatMul, Norm};
use super::model::{
    Block, GlobalPooling, GlobalPoolingBlock, Multipliers, NEWEST_VERSION, NestedBottleneckBlock, Network,
    NormActConv, OLDEST_VERSION, OrdinaryBlock, PassLayers, PolicyHead, Trunk, ValueHead, policy_channels,
    score_channels,
};
use super::tokens::Tokens;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The widest layer; the widest published ones have under 2,000 channels.
const MOST_CHANNELS: usize = 1 << 14;

/// The most blocks in one stack; the deepest published networks have 60.
const MOST_BLOCKS: usize = 1 << 10;

/// How deep blocks can lie in each other; in published networks it is 2.
const DEEPEST_NESTING: usize = 4;

/// The largest window of a convolution.
const LARGEST_WINDOW: usize = 15;

/// What outputs can be multiplied by at most.
const LARGEST_MULTIPLIER: f64 = 1e6;

/// Blocks of bytes that are read from the disk at a time.
const BUFFER: usize = 1 << 16;

/// What every file that gzip has packed begins with.
const GZIP_MARK: [u8; 2] = [0x1f, 0x8b];

impl Network {
    /// Reads the network in a file.
    pub fn open(path: &Path) -> Result<Network, ReadError> {
        let file = File::open(path).map_err(ReadError::Io)?;
        Network::read(BufReader::with_capacity(BUFFER, file))
    }

    /// Reads a network, packed or not, up to the end of the input.
    ///
    /// Memory is taken as data comes, at most 1 GiB for the weights, whatever the file says.
    ///
    /// # Errors
    /// If it is not a network, one that cannot be used, or broken; see [`ReadError`].
    pub fn read(mut input: impl BufRead) -> Result<Network, ReadError> {
        let is_packed = input.fill_buf().map_err(ReadError::Io)?.starts_with(&GZIP_MARK);
        if is_packed {
            network(&mut Tokens::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(input))))
        } else {
            network(&mut Tokens::new(input))
        }
    }
}

/// How many channels a layer must take or give: any number, or one that its neighbours decide.
#[derive(Clone, Copy)]
enum Width {
    Any,
    Exactly(usize),
}

use Width::{Any, Exactly};

fn network<R: BufRead>(tokens: &mut Tokens<R>) -> Result<Network, ReadError> {
    let name = match tokens.name("the name of the network") {
        Err(ReadError::At { kind: ErrorKind::Word(_), .. }) => {
            return Err(ReadError::Foreign("it does not begin with a name"));
        }
        name => name?,
    };
    let version = match tokens.integer("version") {
        Err(ReadError::At { kind: ErrorKind::Word(_) | ErrorKind::Number { .. }, .. }) => {
            return Err(ReadError::Foreign("there is no version behind the name"));
        }
        version => version?,
    };
    let version = match u32::try_from(version) {
        Ok(version @ OLDEST_VERSION..=NEWEST_VERSION) => version,
        _ => return Err(ReadError::Version(version)),
    };
    let mut reader = Reader { tokens, version };
    let spatial = reader.tokens.integer_in("features of a point", 1, MOST_CHANNELS)?;
    reader.fit("features of a point", spatial, Exactly(SPATIAL_FEATURES))?;
    let global = reader.tokens.integer_in("features of the position", 1, MOST_CHANNELS)?;
    reader.fit("features of the position", global, Exactly(GLOBAL_FEATURES))?;
    let multipliers = if version >= 13 { reader.multipliers()? } else { Multipliers::DEFAULT };
    if version >= 15 {
        reader.zeros("an encoder of facts about the players, of version", 1)?;
        reader.zeros("the option of the network with value", 7)?;
    }
    let trunk = reader.trunk()?;
    let policy = reader.policy_head(trunk.channels)?;
    let value = reader.value_head(trunk.channels)?;
    tokens.end()?;
    Ok(Network { name, version, multipliers, trunk, policy, value })
}

/// Reads parts of a network of a known version.
struct Reader<'t, R> {
    tokens: &'t mut Tokens<R>,
    version: u32,
}

impl<R: BufRead> Reader<'_, R> {
    fn fit(&self, what: &'static str, found: usize, wanted: Width) -> Result<usize, ReadError> {
        match wanted {
            Exactly(wanted) if wanted != found => {
                Err(self.tokens.error(ErrorKind::Mismatch { what, found, wanted }))
            }
            _ => Ok(found),
        }
    }

    fn channels(&mut self, what: &'static str, wanted: Width) -> Result<usize, ReadError> {
        let found = self.tokens.integer_in(what, 1, MOST_CHANNELS)?;
        self.fit(what, found, wanted)
    }

    /// Numbers that must be 0, or the network needs something that is not known here.
    fn zeros(&mut self, what: &'static str, count: usize) -> Result<(), ReadError> {
        for _ in 0..count {
            match self.tokens.integer(what)? {
                0 => {}
                value => return Err(self.tokens.error(ErrorKind::Option { what, value })),
            }
        }
        Ok(())
    }

    fn multipliers(&mut self) -> Result<Multipliers, ReadError> {
        let mut values = [0.0; 7];
        for value in &mut values {
            *value = self.tokens.positive("a multiplier", LARGEST_MULTIPLIER)?;
        }
        Ok(Multipliers::from_array(values))
    }

    fn conv(&mut self, role: &str, inputs: usize, outputs: Width) -> Result<Conv, ReadError> {
        let name = self.tokens.name(role)?;
        let height = self.window("rows of the window")?;
        let width = self.window("columns of the window")?;
        let inputs = self.channels("channels that it takes", Exactly(inputs))?;
        let outputs = self.channels("channels that it gives", outputs)?;
        for _ in 0..2 {
            match self.tokens.integer("dilation")? {
                1 => {}
                value => return Err(self.tokens.error(ErrorKind::Option { what: "dilation", value })),
            }
        }
        let weights = self.tokens.weights(height * width * inputs * outputs)?;
        Ok(Conv { name, height, width, inputs, outputs, weights })
    }

    fn window(&mut self, what: &'static str) -> Result<usize, ReadError> {
        let side = self.tokens.integer_in(what, 1, LARGEST_WINDOW)?;
        if side % 2 == 0 {
            let word = side.to_string();
            return Err(self.tokens.error(ErrorKind::Number { what, word, wanted: "an odd number" }));
        }
        Ok(side)
    }

    fn matmul(&mut self, role: &str, inputs: usize, outputs: Width) -> Result<MatMul, ReadError> {
        let name = self.tokens.name(role)?;
        let inputs = self.channels("channels that it takes", Exactly(inputs))?;
        let outputs = self.channels("channels that it gives", outputs)?;
        let weights = self.tokens.weights(inputs * outputs)?;
        Ok(MatMul { name, inputs, outputs, weights })
    }

    fn bias(&mut self, role: &str, channels: usize) -> Result<Bias, ReadError> {
        let name = self.tokens.name(role)?;
        let channels = self.channels("channels", Exactly(channels))?;
        let weights = self.tokens.weights(channels)?;
        Ok(Bias { name, weights })
    }

    fn norm(&mut self, role: &str, channels: usize) -> Result<Norm, ReadError> {
        let name = self.tokens.name(role)?;
        let channels = self.channels("channels", Exactly(channels))?;
        let epsilon = self.tokens.positive("epsilon", 1.0)?;
        let has_scale = self.tokens.integer_in("has a scale", 0, 1)? == 1;
        let has_bias = self.tokens.integer_in("has a bias", 0, 1)? == 1;
        let mean = self.tokens.weights(channels)?;
        let variance = self.tokens.weights(channels)?;
        let scale = has_scale.then(|| self.tokens.weights(channels)).transpose()?;
        let bias = has_bias.then(|| self.tokens.weights(channels)).transpose()?;
        let norm = Norm { name, epsilon, mean, variance, scale, bias };
        // A variance that is negative, or so small that the result is none.
        if !norm.folded().is_finite() {
            return Err(self.tokens.error(ErrorKind::NotFinite));
        }
        Ok(norm)
    }

    fn activation(&mut self, role: &str) -> Result<ActivationLayer, ReadError> {
        let name = self.tokens.name(role)?;
        let activation = if self.version >= 11 {
            let token = self.tokens.word()?;
            match Activation::from_token(&token) {
                Some(activation) => activation,
                None => return Err(self.tokens.error(ErrorKind::Activation(token))),
            }
        } else {
            Activation::Relu
        };
        Ok(ActivationLayer { name, activation })
    }

    fn norm_act_conv(&mut self, inputs: usize, outputs: Width) -> Result<NormActConv, ReadError> {
        let norm = self.norm("the norm of a block", inputs)?;
        let activation = self.activation("the activation of a block")?;
        let conv = self.conv("the convolution of a block", inputs, outputs)?;
        Ok(NormActConv { norm, activation, conv })
    }

    fn pooling(&mut self, inputs: usize, outputs: usize) -> Result<GlobalPooling, ReadError> {
        let conv = self.conv("the convolution before a pooling", inputs, Any)?;
        let norm = self.norm("the norm before a pooling", conv.outputs)?;
        let activation = self.activation("the activation before a pooling")?;
        let matmul = self.matmul("the matrix behind a pooling", 3 * conv.outputs, Exactly(outputs))?;
        Ok(GlobalPooling { conv, norm, activation, matmul })
    }

    fn trunk(&mut self) -> Result<Trunk, ReadError> {
        let name = self.tokens.name("the trunk")?;
        let block_count = self.tokens.integer_in("blocks", 1, MOST_BLOCKS)?;
        let channels = self.channels("channels", Any)?;
        let mut stated_widths = [0; 4];
        for width in &mut stated_widths {
            *width = self.tokens.integer_in("channels inside blocks", 0, MOST_CHANNELS)?;
        }
        if self.version >= 15 {
            self.zeros("a last norm of the kind", 1)?;
            self.zeros("the option of the trunk with value", 5)?;
        }
        let first_conv = self.conv("the first convolution", SPATIAL_FEATURES, Exactly(channels))?;
        let global_matmul =
            self.matmul("the matrix of the global features", GLOBAL_FEATURES, Exactly(channels))?;
        let blocks = self.blocks(block_count, channels, 1)?;
        let last_norm = self.norm("the norm of the trunk", channels)?;
        let last_activation = self.activation("the activation of the trunk")?;
        Ok(Trunk {
            name,
            channels,
            stated_widths,
            first_conv,
            global_matmul,
            blocks,
            last_norm,
            last_activation,
        })
    }

    fn blocks(&mut self, count: usize, channels: usize, depth: usize) -> Result<Vec<Block>, ReadError> {
        if depth > DEEPEST_NESTING {
            return Err(self.tokens.error(ErrorKind::TooDeep(DEEPEST_NESTING)));
        }
        (0..count).map(|_| self.block(channels, depth)).collect()
    }

    fn block(&mut self, channels: usize, depth: usize) -> Result<Block, ReadError> {
        "a block".clone_into(&mut self.tokens.layer);
        let kind = self.tokens.word()?;
        match kind.as_str() {
            "ordinary_block" => {
                let name = self.tokens.name("an ordinary block")?;
                let first = self.norm_act_conv(channels, Any)?;
                let second = self.norm_act_conv(first.conv.outputs, Exactly(channels))?;
                Ok(Block::Ordinary(Box::new(OrdinaryBlock { name, first, second })))
            }
            "gpool_block" => {
                let name = self.tokens.name("a block with global pooling")?;
                let first = self.norm_act_conv(channels, Any)?;
                let pooling = self.pooling(channels, first.conv.outputs)?;
                let second = self.norm_act_conv(first.conv.outputs, Exactly(channels))?;
                Ok(Block::GlobalPooling(Box::new(GlobalPoolingBlock { name, first, pooling, second })))
            }
            "nested_bottleneck_block" => {
                let name = self.tokens.name("a nested bottleneck block")?;
                let block_count = self.tokens.integer_in("inner blocks", 1, MOST_BLOCKS)?;
                let first = self.norm_act_conv(channels, Any)?;
                let blocks = self.blocks(block_count, first.conv.outputs, depth + 1)?;
                let second = self.norm_act_conv(first.conv.outputs, Exactly(channels))?;
                Ok(Block::NestedBottleneck(Box::new(NestedBottleneckBlock { name, first, blocks, second })))
            }
            _ => Err(self.tokens.error(ErrorKind::Block(kind))),
        }
    }

    fn policy_head(&mut self, channels: usize) -> Result<PolicyHead, ReadError> {
        let name = self.tokens.name("the policy head")?;
        let outputs = policy_channels(self.version);
        let conv = self.conv("the first convolution of the policy head", channels, Any)?;
        let width = conv.outputs;
        // In the order of the file, the matrix of the pooling lies before the norm that follows it.
        let pooling = self.pooling(channels, width)?;
        let norm = self.norm("the norm of the policy head", width)?;
        let activation = self.activation("the activation of the policy head")?;
        let last_conv = self.conv("the last convolution of the policy head", width, Exactly(outputs))?;
        let pooled = 3 * pooling.conv.outputs;
        let (pass_matmul, pass) = if self.version >= 15 {
            let matmul = self.matmul("the matrix of the pass", pooled, Exactly(width))?;
            let bias = self.bias("the bias of the pass", width)?;
            let activation = self.activation("the activation of the pass")?;
            let last = self.matmul("the last matrix of the pass", width, Exactly(outputs))?;
            (matmul, Some(PassLayers { bias, activation, matmul: last }))
        } else {
            (self.matmul("the matrix of the pass", pooled, Exactly(outputs))?, None)
        };
        Ok(PolicyHead { name, conv, pooling, norm, activation, last_conv, pass_matmul, pass })
    }

    fn value_head(&mut self, channels: usize) -> Result<ValueHead, ReadError> {
        let name = self.tokens.name("the value head")?;
        let scores = score_channels(self.version);
        let conv = self.conv("the first convolution of the value head", channels, Any)?;
        let norm = self.norm("the norm of the value head", conv.outputs)?;
        let activation = self.activation("the activation of the value head")?;
        let matmul = self.matmul("the matrix of the value head", 3 * conv.outputs, Any)?;
        let bias = self.bias("the bias of the value head", matmul.outputs)?;
        let second_activation = self.activation("the second activation of the value head")?;
        let value_matmul = self.matmul("the matrix of the value", matmul.outputs, Exactly(3))?;
        let value_bias = self.bias("the bias of the value", 3)?;
        let score_matmul = self.matmul("the matrix of the score", matmul.outputs, Exactly(scores))?;
        let score_bias = self.bias("the bias of the score", scores)?;
        let ownership_conv = self.conv("the convolution of the ownership", conv.outputs, Exactly(1))?;
        Ok(ValueHead {
            name,
            conv,
            norm,
            activation,
            matmul,
            bias,
            second_activation,
            value_matmul,
            value_bias,
            score_matmul,
            score_bias,
            ownership_conv,
        })
    }
}
