//! Reader of network files.
//!
//! The format is KataGo's (`.bin.gz`, `.txt.gz`, or either of them decompressed) or that of 8 bits (`int8.rs`). It is
//! detected by the content of a file, not by its name. Every layer is checked against its neighbours before its weights
//! are read.

use super::error::{ErrorKind, ReadError};
use super::image::Image;
use super::input::{GLOBAL_FEATURES, METADATA_FEATURES, SPATIAL_FEATURES};
use super::int8::{self, FileHeader, Sections};
use super::layer::{
    Activation, ActivationLayer, Bias, Conv, MatMul, Norm, RmsNorm, RotaryEmbedding, TrunkRmsNorm,
};
use super::model::{
    AttentionBlock, Block, DenseLayer, FeedForwardBlock, GlobalPooling, GlobalPoolingBlock, MetadataEncoder,
    Multipliers, NEWEST_VERSION, NestedBottleneckBlock, Network, NormActConv, OLDEST_VERSION, OrdinaryBlock,
    PassLayers, PolicyHead, Trunk, TrunkNorm, ValueHead, policy_channels, score_channels,
};
use super::tokens::TokenReader;
use flate2::bufread::MultiGzDecoder;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// Largest number of channels of a layer. The widest published networks have less than 2,000.
const MAX_CHANNELS: usize = 1 << 14;

/// Largest number of blocks in a stack. The deepest published networks have 60.
const MAX_BLOCKS: usize = 1 << 10;

/// Largest depth of nested blocks. Published networks have a depth of 2.
const MAX_NESTING: usize = 32;

/// Largest number of attention heads of a block. Published networks have 12.
const MAX_HEADS: usize = 1 << 10;

/// Largest number of rows or columns of a convolution's window.
const MAX_WINDOW: usize = 15;

/// Largest multiplier of an output.
const MAX_MULTIPLIER: f64 = 1e6;

/// Largest base of the angles of a rotary embedding. Published networks have 100.
const MAX_THETA: f64 = 1e9;

/// Largest number to a multiple of which preparation pads the channels of a layer.
const PREPARED_ALIGN: usize = 64;

/// Size of a layer without its weights when it is prepared, in bytes.
const PREPARED_LAYER: usize = 1 << 10;

/// Memory of a prepared network that every file may take, in bytes.
const MIN_PREPARED_BYTES: usize = 512 << 20;

/// Further memory of a prepared network for each byte of its file, in bytes. Weights of trained networks hardly
/// compress: a weight of one byte becomes four bytes in memory, and 3 × 3 windows take four times as much for
/// Winograd's transformation.
const PREPARED_PER_BYTE: usize = 64;

/// Size of the blocks that are read from the disk, in bytes.
const BUFFER: usize = 1 << 16;

/// First bytes of every gzip file.
const GZIP_MARK: [u8; 2] = [0x1f, 0x8b];

/// Beginning of a file, which shows whether it is a network and which one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Name of the network in the file.
    pub name: String,
    /// Version of the format, supported or not.
    pub version: u64,
}

impl Header {
    /// Reads the beginning of a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or does not begin as a network does.
    pub fn open(path: &Path) -> Result<Header, ReadError> {
        let file = open_regular(path).map_err(ReadError::Io)?;
        let mut input = BufReader::with_capacity(BUFFER, file);
        if has_eight_bits(&mut input)? {
            file_header(&mut input)?;
            Header::read(&mut TokenReader::new(input))
        } else if is_packed(&mut input)? {
            Header::read(&mut TokenReader::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(input))))
        } else {
            Header::read(&mut TokenReader::new(input))
        }
    }

    /// Returns whether networks of this version are supported.
    pub fn is_supported(&self) -> bool {
        (OLDEST_VERSION.into()..=NEWEST_VERSION.into()).contains(&self.version)
    }

    fn read<R: BufRead>(tokens: &mut TokenReader<R>) -> Result<Header, ReadError> {
        let name = match tokens.name("the name of the network") {
            Err(ReadError::At { kind: ErrorKind::Word(_), .. }) => {
                return Err(ReadError::Foreign("the run does not begin with a name"));
            }
            name => name?,
        };
        let version = match tokens.integer("version") {
            Err(ReadError::At { kind: ErrorKind::Word(_) | ErrorKind::Number { .. }, .. }) => {
                return Err(ReadError::Foreign("no version follows the name"));
            }
            version => version?,
        };
        Ok(Header { name, version })
    }
}

/// Opens a regular file. A pipe would wait for a program that writes to it, and a device may have no end.
fn open_regular(path: &Path) -> io::Result<File> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

impl Network {
    /// Reads a network from a file.
    ///
    /// # Errors
    ///
    /// Returns a [`ReadError`] if the file cannot be read, is not a network, is not supported or is malformed.
    pub fn open(path: &Path) -> Result<Network, ReadError> {
        let file = open_regular(path).map_err(ReadError::Io)?;
        let length = file.metadata().map_err(ReadError::Io)?.len();
        let mut input = BufReader::with_capacity(BUFFER, file);
        if has_eight_bits(&mut input)? {
            // Some file systems cannot map files.
            return match Image::map(input.get_ref()) {
                Ok(image) => network_of_image(image),
                Err(_) => Network::read(input),
            };
        }
        // WebAssembly has no second thread.
        if cfg!(not(target_family = "wasm")) && is_packed(&mut input)? {
            network(&mut TokenReader::new(Unpacked::new(MultiGzDecoder::new(input))), &Cell::new(length))
        } else {
            Network::read(input)
        }
    }

    /// Reads a network, compressed or not, up to the end of the input.
    ///
    /// Memory grows with the data that has been read, up to 1 GiB for the weights, whatever sizes the file states. A
    /// file is refused if the network would take more than 512 MiB plus 64 times the file's size when it is prepared.
    ///
    /// # Errors
    ///
    /// Returns a [`ReadError`] if the input cannot be read, is not a network, is not supported or is malformed.
    pub fn read(mut input: impl BufRead) -> Result<Network, ReadError> {
        if has_eight_bits(&mut input)? {
            let (header, mut bytes) = file_header(&mut input)?;
            // One byte more shows that the file goes on.
            let rest = (header.file_len() - bytes.len()) as u64 + 1;
            input.take(rest).read_to_end(&mut bytes).map_err(ReadError::Io)?;
            return network_of_image(Image::from(bytes));
        }
        let is_packed = is_packed(&mut input)?;
        let count = Cell::new(0);
        let input = Counted { input, count: &count };
        if is_packed {
            let unpacked = BufReader::with_capacity(BUFFER, MultiGzDecoder::new(input));
            network(&mut TokenReader::new(unpacked), &count)
        } else {
            network(&mut TokenReader::new(input), &count)
        }
    }
}

/// Reader that counts the bytes that are consumed.
struct Counted<'c, R> {
    input: R,
    count: &'c Cell<u64>,
}

impl<R: BufRead> BufRead for Counted<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.count.set(self.count.get() + amount as u64);
        self.input.consume(amount);
    }
}

impl<R: BufRead> Read for Counted<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(to)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

/// Reader of an input that a second thread reads, at most [`Unpacked::BLOCKS`] blocks ahead. Decompression takes as
/// long as all other work on a file together.
struct Unpacked {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    /// Number of bytes of `block` that have been consumed.
    taken: usize,
}

impl Unpacked {
    const BLOCKS: usize = 16;

    /// Starts to read. The second thread ends at the end of the input, or when this reader is dropped.
    fn new(mut input: impl Read + Send + 'static) -> Unpacked {
        let (sender, blocks) = sync_channel(Unpacked::BLOCKS);
        let failed = sender.clone();
        let started = thread::Builder::new().spawn(move || {
            loop {
                let mut block = Vec::with_capacity(BUFFER);
                let result = input.by_ref().take(BUFFER as u64).read_to_end(&mut block);
                let is_last = !matches!(result, Ok(read) if read > 0);
                // Bytes that were read before an error are part of the input.
                if !block.is_empty() && sender.send(Ok(block)).is_err() {
                    return;
                }
                if let Err(error) = result {
                    let _ = sender.send(Err(error));
                }
                if is_last {
                    return;
                }
            }
        });
        if let Err(error) = started {
            let _ = failed.send(Err(error));
        }
        Unpacked { blocks, block: Vec::new(), taken: 0 }
    }
}

impl BufRead for Unpacked {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.block.len() {
            // The input has ended if the sender is gone.
            self.block = self.blocks.recv().unwrap_or_else(|_| Ok(Vec::new()))?;
            self.taken = 0;
        }
        Ok(&self.block[self.taken..])
    }

    fn consume(&mut self, amount: usize) {
        self.taken = (self.taken + amount).min(self.block.len());
    }
}

impl Read for Unpacked {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(to)?;
        self.consume(read);
        Ok(read)
    }
}

fn has_eight_bits(input: &mut impl BufRead) -> Result<bool, ReadError> {
    Ok(input.fill_buf().map_err(ReadError::Io)?.first() == Some(&int8::MARK[0]))
}

/// Reads the header of a file of 8 bits, and returns its bytes, too.
fn file_header(input: &mut impl Read) -> Result<(FileHeader, Vec<u8>), ReadError> {
    let mut bytes = [0; int8::HEADER];
    input.read_exact(&mut bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            ReadError::At { layer: "the header".to_owned(), offset: 0, kind: ErrorKind::End }
        }
        _ => ReadError::Io(error),
    })?;
    Ok((FileHeader::from_bytes(&bytes)?, bytes.to_vec()))
}

/// Reads a network from a file of 8 bits.
fn network_of_image(image: Image) -> Result<Network, ReadError> {
    let bytes = image.copy(0..image.len().min(int8::HEADER));
    let (header, _) = file_header(&mut &bytes[..])?;
    let structure = header.structure_of(&image)?;
    let file_bytes = Cell::new(image.len() as u64);
    let sections = Sections::new(Arc::new(image), header.sections_start());
    let mut tokens = TokenReader::with_sections(&structure[..], sections);
    Ok(Network { rounding: Some(header.rounding), ..network(&mut tokens, &file_bytes)? })
}

fn is_packed(input: &mut impl BufRead) -> Result<bool, ReadError> {
    Ok(input.fill_buf().map_err(ReadError::Io)?.starts_with(&GZIP_MARK))
}

/// Constraint on the number of channels of a layer: any number, or one given by the neighbouring layers.
#[derive(Clone, Copy)]
enum Width {
    Any,
    Exactly(usize),
}

use Width::{Any, Exactly};

/// Reads a network. `file_bytes` is the number of bytes of the file, or of those that have been read.
fn network<R: BufRead>(tokens: &mut TokenReader<R>, file_bytes: &Cell<u64>) -> Result<Network, ReadError> {
    let Header { name, version } = Header::read(tokens)?;
    let version = match u32::try_from(version) {
        Ok(version @ OLDEST_VERSION..=NEWEST_VERSION) => version,
        _ => return Err(ReadError::Version(version)),
    };
    let mut reader = Reader { tokens, version, file_bytes, prepared: 0 };
    let spatial = reader.tokens.integer_in("features of a point", 1, MAX_CHANNELS)?;
    reader.fit("features of a point", spatial, Exactly(SPATIAL_FEATURES))?;
    let global = reader.tokens.integer_in("features of the position", 1, MAX_CHANNELS)?;
    reader.fit("features of the position", global, Exactly(GLOBAL_FEATURES))?;
    let multipliers = if version >= 13 { reader.multipliers()? } else { Multipliers::DEFAULT };
    let (mut has_encoder, mut pass_alive_with_suicide) = (false, false);
    if version >= 15 {
        has_encoder = match reader.tokens.integer("the version of the metadata encoder")? {
            0 => false,
            1 => true,
            value => {
                let what = "a metadata encoder of version";
                return Err(reader.tokens.error(ErrorKind::Option { what, value }));
            }
        };
        pass_alive_with_suicide = reader.flag("pass-alive with suicide")?;
        reader.zeros("the option of the network with value", 6)?;
    }
    let trunk = reader.trunk(has_encoder)?;
    let policy = reader.policy_head(trunk.channels)?;
    let value = reader.value_head(trunk.channels)?;
    tokens.end()?;
    Ok(Network { name, version, multipliers, pass_alive_with_suicide, trunk, policy, value, rounding: None })
}

/// Reader of the parts of a network of a known version.
struct Reader<'t, R> {
    tokens: &'t mut TokenReader<R>,
    version: u32,
    file_bytes: &'t Cell<u64>,
    /// Upper bound of the memory of the prepared layers so far, in bytes.
    prepared: usize,
}

impl<R: BufRead> Reader<'_, R> {
    fn fit(&self, what: &'static str, found: usize, expected: Width) -> Result<usize, ReadError> {
        match expected {
            Exactly(expected) if expected != found => {
                Err(self.tokens.error(ErrorKind::Mismatch { what, found, expected }))
            }
            _ => Ok(found),
        }
    }

    fn channels(&mut self, what: &'static str, expected: Width) -> Result<usize, ReadError> {
        let found = self.tokens.integer_in(what, 1, MAX_CHANNELS)?;
        self.fit(what, found, expected)
    }

    /// Reads a flag, 0 or 1.
    fn flag(&mut self, what: &'static str) -> Result<bool, ReadError> {
        Ok(self.tokens.integer_in(what, 0, 1)? == 1)
    }

    /// Reads `count` numbers that must be 0. Other values mark features that are not supported.
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
            *value = self.tokens.positive("a multiplier", MAX_MULTIPLIER)?;
        }
        Ok(Multipliers::from_array(values))
    }

    fn conv(&mut self, role: &str, inputs: usize, outputs: Width) -> Result<Conv, ReadError> {
        let name = self.tokens.name(role)?;
        let height = self.window("rows of the window")?;
        let width = self.window("columns of the window")?;
        let inputs = self.channels("input channels", Exactly(inputs))?;
        let outputs = self.channels("output channels", outputs)?;
        for _ in 0..2 {
            match self.tokens.integer("dilation")? {
                1 => {}
                value => return Err(self.tokens.error(ErrorKind::Option { what: "dilation", value })),
            }
        }
        // Winograd's transformation turns 9 weights into 36 numbers.
        let area = if (height, width) == (3, 3) { 36 } else { height * width };
        self.reserve(area, inputs, outputs)?;
        let weights = self.tokens.matrix(height * width * inputs, outputs)?;
        Ok(Conv { name, height, width, inputs, outputs, weights })
    }

    /// Counts the memory of a layer, before its weights are read.
    fn reserve(&mut self, area: usize, inputs: usize, outputs: usize) -> Result<(), ReadError> {
        let [inputs, outputs] = [inputs, outputs].map(|channels| channels.next_multiple_of(PREPARED_ALIGN));
        let bytes = area.saturating_mul(inputs).saturating_mul(outputs).saturating_mul(size_of::<f32>());
        self.prepared = self.prepared.saturating_add(bytes).saturating_add(PREPARED_LAYER);
        let file_bytes = usize::try_from(self.file_bytes.get()).unwrap_or(usize::MAX);
        let most = MIN_PREPARED_BYTES.saturating_add(file_bytes.saturating_mul(PREPARED_PER_BYTE));
        if self.prepared > most {
            return Err(self.tokens.error(ErrorKind::Memory(most >> 20)));
        }
        Ok(())
    }

    fn window(&mut self, what: &'static str) -> Result<usize, ReadError> {
        let side = self.tokens.integer_in(what, 1, MAX_WINDOW)?;
        if side % 2 == 0 {
            let word = side.to_string();
            return Err(self.tokens.error(ErrorKind::Number { what, word, expected: "an odd number" }));
        }
        Ok(side)
    }

    fn matmul(&mut self, role: &str, inputs: usize, outputs: Width) -> Result<MatMul, ReadError> {
        let name = self.tokens.name(role)?;
        let inputs = self.channels("input channels", Exactly(inputs))?;
        let outputs = self.channels("output channels", outputs)?;
        self.reserve(1, inputs, outputs)?;
        let weights = self.tokens.matrix(inputs, outputs)?;
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
        let has_scale = self.flag("whether the norm has a scale")?;
        let has_bias = self.flag("whether the norm has a bias")?;
        let mean = self.tokens.weights(channels)?;
        let variance = self.tokens.weights(channels)?;
        let scale = has_scale.then(|| self.tokens.weights(channels)).transpose()?;
        let bias = has_bias.then(|| self.tokens.weights(channels)).transpose()?;
        let norm = Norm { name, epsilon, mean, variance, scale, bias };
        // The variance may be negative, or so small that the result overflows.
        if !norm.folded().is_finite() {
            return Err(self.tokens.error(ErrorKind::NotFinite));
        }
        Ok(norm)
    }

    fn rms_norm(&mut self, channels: usize) -> Result<RmsNorm, ReadError> {
        let name = self.tokens.name("the norm of a transformer block")?;
        let channels = self.channels("channels", Exactly(channels))?;
        let epsilon = self.tokens.positive("epsilon", 1.0)?;
        let scale = self.tokens.weights(channels)?;
        Ok(RmsNorm { name, epsilon, scale })
    }

    fn trunk_rms_norm(&mut self, channels: usize) -> Result<TrunkRmsNorm, ReadError> {
        let name = self.tokens.name("the norm of the trunk")?;
        let channels = self.channels("channels", Exactly(channels))?;
        let epsilon = self.tokens.positive("epsilon", 1.0)?;
        let is_spatial = self.flag("whether the norm covers all points")?;
        self.zeros("a norm over groups of channels, with value", 1)?;
        let scale = self.tokens.weights(channels)?;
        let bias = self.tokens.weights(channels)?;
        Ok(TrunkRmsNorm { name, epsilon, is_spatial, scale, bias })
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
        let matmul = self.matmul("the matrix after a pooling", 3 * conv.outputs, Exactly(outputs))?;
        Ok(GlobalPooling { conv, norm, activation, matmul })
    }

    fn metadata_encoder(&mut self, channels: usize) -> Result<MetadataEncoder, ReadError> {
        let name = self.tokens.name("the metadata encoder")?;
        let features = self.tokens.integer_in("metadata features", 1, MAX_CHANNELS)?;
        self.fit("metadata features", features, Exactly(METADATA_FEATURES))?;
        let first = self.dense_layer(METADATA_FEATURES)?;
        let second = self.dense_layer(first.matmul.outputs)?;
        let role = "the last matrix of the metadata encoder";
        let last = self.matmul(role, second.matmul.outputs, Exactly(channels))?;
        Ok(MetadataEncoder { name, first, second, last })
    }

    fn dense_layer(&mut self, inputs: usize) -> Result<DenseLayer, ReadError> {
        let matmul = self.matmul("a matrix of the metadata encoder", inputs, Any)?;
        let bias = self.bias("a bias of the metadata encoder", matmul.outputs)?;
        let activation = self.activation("an activation of the metadata encoder")?;
        Ok(DenseLayer { matmul, bias, activation })
    }

    fn trunk(&mut self, has_encoder: bool) -> Result<Trunk, ReadError> {
        let name = self.tokens.name("the trunk")?;
        let block_count = self.tokens.integer_in("blocks", 1, MAX_BLOCKS)?;
        let channels = self.channels("channels", Any)?;
        let mut stated_widths = [0; 4];
        for width in &mut stated_widths {
            *width = self.tokens.integer_in("channels inside blocks", 0, MAX_CHANNELS)?;
        }
        let mut has_rms_norm = false;
        if self.version >= 15 {
            has_rms_norm = match self.tokens.integer("the kind of the last norm")? {
                0 => false,
                1 => true,
                value => {
                    return Err(self
                        .tokens
                        .error(ErrorKind::Option { what: "a last norm of the kind", value }));
                }
            };
            self.zeros("the option of the trunk with value", 5)?;
        }
        let first_conv = self.conv("the first convolution", SPATIAL_FEATURES, Exactly(channels))?;
        let global_matmul =
            self.matmul("the matrix of the global features", GLOBAL_FEATURES, Exactly(channels))?;
        let metadata_encoder = has_encoder.then(|| self.metadata_encoder(channels)).transpose()?;
        let blocks = self.blocks(block_count, channels, 1)?;
        let last_norm = match has_rms_norm {
            true => TrunkNorm::Rms(self.trunk_rms_norm(channels)?),
            false => TrunkNorm::Batch(self.norm("the norm of the trunk", channels)?),
        };
        let last_activation = self.activation("the activation of the trunk")?;
        Ok(Trunk {
            name,
            channels,
            stated_widths,
            first_conv,
            global_matmul,
            metadata_encoder,
            blocks,
            last_norm,
            last_activation,
        })
    }

    fn blocks(&mut self, count: usize, channels: usize, depth: usize) -> Result<Vec<Block>, ReadError> {
        if depth > MAX_NESTING {
            return Err(self.tokens.error(ErrorKind::TooDeep(MAX_NESTING)));
        }
        (0..count).map(|_| self.block(channels, depth)).collect()
    }

    fn block(&mut self, channels: usize, depth: usize) -> Result<Block, ReadError> {
        "a block".clone_into(&mut self.tokens.current_layer);
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
                let block_count = self.tokens.integer_in("inner blocks", 1, MAX_BLOCKS)?;
                let first = self.norm_act_conv(channels, Any)?;
                let blocks = self.blocks(block_count, first.conv.outputs, depth + 1)?;
                let second = self.norm_act_conv(first.conv.outputs, Exactly(channels))?;
                Ok(Block::NestedBottleneck(Box::new(NestedBottleneckBlock { name, first, blocks, second })))
            }
            // The format does not define which versions may contain these blocks. The first files with them had version
            // 15.
            "transformer_attention_block" if self.version >= 15 => {
                Ok(Block::Attention(Box::new(self.attention(channels)?)))
            }
            "transformer_ffn_block" if self.version >= 15 => {
                Ok(Block::FeedForward(Box::new(self.feed_forward(channels)?)))
            }
            _ => Err(self.tokens.error(ErrorKind::Block(kind))),
        }
    }

    fn attention(&mut self, channels: usize) -> Result<AttentionBlock, ReadError> {
        let name = self.tokens.name("an attention block")?;
        let heads = self.tokens.integer_in("heads", 1, MAX_HEADS)?;
        let key_heads = self.tokens.integer_in("heads of keys and values", 1, MAX_HEADS)?;
        if heads % key_heads != 0 {
            let word = key_heads.to_string();
            let kind = ErrorKind::Number {
                what: "heads of keys and values",
                word,
                expected: "a divisor of the heads",
            };
            return Err(self.tokens.error(kind));
        }
        let key_width = self.tokens.integer_in("channels of a query", 1, MAX_CHANNELS)?;
        let value_width = self.tokens.integer_in("channels of a value", 1, MAX_CHANNELS)?;
        let has_rotary = self.flag("whether there is a rotary embedding")?;
        let is_learned = self.flag("whether the rotary embedding is learned")?;
        // A rotary embedding rotates pairs of channels, and a fixed one needs an even number of pairs.
        let unit = if !has_rotary {
            1
        } else if is_learned {
            2
        } else {
            4
        };
        if key_width % unit != 0 {
            let expected = "a multiple of the channels that the rotary embedding rotates together";
            let word = key_width.to_string();
            return Err(self.tokens.error(ErrorKind::Number { what: "channels of a query", word, expected }));
        }
        let norm = self.rms_norm(channels)?;
        let query = self.matmul("the matrix of the queries", channels, Exactly(heads * key_width))?;
        let key = self.matmul("the matrix of the keys", channels, Exactly(key_heads * key_width))?;
        let value = self.matmul("the matrix of the values", channels, Exactly(key_heads * value_width))?;
        let output = self.matmul("the output matrix of attention", heads * value_width, Exactly(channels))?;
        let rotary = match (has_rotary, is_learned) {
            (true, true) => Some(self.learned_rotary(key_heads, key_width / 2)?),
            (true, false) => {
                let name = self.tokens.name("the rotary embedding")?;
                let theta = self.tokens.positive("theta", MAX_THETA)?;
                Some(RotaryEmbedding::Fixed { name, theta })
            }
            (false, _) => None,
        };
        Ok(AttentionBlock {
            name,
            heads,
            key_heads,
            key_width,
            value_width,
            norm,
            query,
            key,
            value,
            output,
            rotary,
        })
    }

    fn learned_rotary(&mut self, key_heads: usize, pairs: usize) -> Result<RotaryEmbedding, ReadError> {
        let name = self.tokens.name("the rotary embedding")?;
        for (what, expected) in
            [("heads of keys", key_heads), ("pairs of channels", pairs), ("directions on the board", 2)]
        {
            let found = self.tokens.integer_in(what, 1, MAX_CHANNELS)?;
            self.fit(what, found, Exactly(expected))?;
        }
        let frequencies = self.tokens.weights(key_heads * pairs * 2)?;
        Ok(RotaryEmbedding::Learned { name, frequencies })
    }

    fn feed_forward(&mut self, channels: usize) -> Result<FeedForwardBlock, ReadError> {
        let name = self.tokens.name("a feed-forward block")?;
        self.channels("channels", Exactly(channels))?;
        let hidden = self.channels("hidden channels", Any)?;
        if !self.flag("whether the block is gated")? {
            // The file does not state which activation such a block needs, and KataGo does not implement it on CPUs.
            let what = "a feed-forward block whose gate has the value";
            return Err(self.tokens.error(ErrorKind::Option { what, value: 0 }));
        }
        let norm = self.rms_norm(channels)?;
        let first = self.matmul("the first matrix of a feed-forward block", channels, Exactly(hidden))?;
        let gate = self.matmul("the matrix of the gate", channels, Exactly(hidden))?;
        let last = self.matmul("the last matrix of a feed-forward block", hidden, Exactly(channels))?;
        Ok(FeedForwardBlock { name, norm, first, gate, last })
    }

    fn policy_head(&mut self, channels: usize) -> Result<PolicyHead, ReadError> {
        let name = self.tokens.name("the policy head")?;
        let outputs = match policy_channels(self.version) {
            Some(outputs) => outputs,
            None => self.stated_policy_channels()?,
        };
        let conv = self.conv("the first convolution of the policy head", channels, Any)?;
        let width = conv.outputs;
        // In the file, the matrix of the pooling comes before the norm that follows it.
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

    fn stated_policy_channels(&mut self) -> Result<usize, ReadError> {
        let what = "logits per move";
        let channels = self.tokens.integer_in(what, 1, MAX_CHANNELS)?;
        if ![2, 4].contains(&channels) {
            return Err(self.tokens.error(ErrorKind::Option { what, value: channels as u64 }));
        }
        self.zeros("the option of the policy head with value", 3)?;
        Ok(channels)
    }

    fn value_head(&mut self, channels: usize) -> Result<ValueHead, ReadError> {
        let name = self.tokens.name("the value head")?;
        if self.version >= 17 {
            self.zeros("the option of the value head with value", 3)?;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    /// Returns the beginning of a network of this many channels up to the weights of its first convolution.
    fn start(channels: usize, window: usize) -> Vec<u8> {
        format!(
            "x\n8\n22\n19\ntrunk\n1\n{channels}\n{channels}\n{channels}\n{channels}\n{channels}\nconv\n{window}\n\
             {window}\n22\n{channels}\n1\n1\n@BIN@"
        )
        .into_bytes()
    }

    fn kind(bytes: &[u8]) -> ErrorKind {
        crate::error::kind(Network::read(bytes))
    }

    /// Checks that the memory of a prepared layer is counted before its weights are read, and that it may grow with the
    /// file, compressed or not.
    #[test]
    fn the_memory_of_a_network_is_bounded_by_its_file() {
        assert_eq!(kind(&start(64, 15)), ErrorKind::End);
        assert_eq!(kind(&start(MAX_CHANNELS, 15)), ErrorKind::Memory(512));
        // A matrix of the same size after weights that the file contains.
        let matrix = |random: bool| {
            let (channels, mut bytes) = (MAX_CHANNELS / 4, start(MAX_CHANNELS / 4, 1));
            let mut rng = kosumi_go::rng::Rng::new(1);
            let mut weight = || if random { 1.0 + rng.unit() as f32 } else { 0.0 };
            (0..22 * channels).for_each(|_| bytes.extend(weight().to_le_bytes()));
            bytes.extend(format!("\nmatrix\n19\n{channels}\n@BIN@").bytes());
            (0..19 * channels).for_each(|_| bytes.extend(weight().to_le_bytes()));
            bytes.extend(format!("\nordinary_block\nb\nnorm\n{channels}\n0.1\n0\n0\n@BIN@").bytes());
            (0..channels).for_each(|_| bytes.extend(0.0f32.to_le_bytes()));
            bytes.extend(b"@BIN@");
            (0..channels).for_each(|_| bytes.extend(1.0f32.to_le_bytes()));
            bytes.extend(format!("\nrelu\nconv\n5\n5\n{channels}\n640\n1\n1\n@BIN@").bytes());
            bytes
        };
        let gzip = |bytes: &[u8]| {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(bytes).unwrap();
            packed.finish().unwrap()
        };
        // 262 MB of weights fit into 512 MiB.
        assert_eq!(kind(&matrix(false)), ErrorKind::End);
        let wider = |bytes: Vec<u8>| -> Vec<u8> {
            let text = b"\n640\n1\n1\n@BIN@";
            [&bytes[..bytes.len() - text.len()], b"\n1344\n1\n1\n@BIN@"].concat()
        };
        // 550 MB of weights are too much for a file that compresses to a few kilobytes, and not for one of weights.
        assert_eq!(kind(&gzip(&wider(matrix(false)))), ErrorKind::Memory(512));
        assert_eq!(kind(&gzip(&wider(matrix(true)))), ErrorKind::End);
    }
}
