//! Writer of network files, byte for byte as KataGo writes them: one word per line, and a line end after every block of
//! weights.

use super::input::METADATA_FEATURES;
use super::int8::{Rounding, SectionWriter};
use super::layer::{ActivationLayer, Bias, Conv, MatMul, Norm, RmsNorm, RotaryEmbedding, TrunkRmsNorm};
use super::model::{
    AttentionBlock, Block, FeedForwardBlock, GlobalPooling, MetadataEncoder, Network, NormActConv,
    PolicyHead, TrunkNorm, ValueHead,
};
use super::tokens::BINARY_MARK;
use super::weights::Weights;
use super::{GLOBAL_FEATURES, SPATIAL_FEATURES};
use std::fmt::Display;
use std::io::{self, Write};

/// Encoding of weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// 32-bit floating-point numbers: `.bin`.
    Binary,
    /// Shortest decimals that parse to the same numbers: `.txt`.
    Text,
    /// The integers of a network that was converted to them ([`Network::to_int8`]), in a file that can be mapped:
    /// `.kosumi8`. All other weights are 32-bit floating-point numbers.
    Int8,
}

impl Network {
    /// Writes the network without compression.
    ///
    /// Reading the result gives an equal network, except that integers become floats in KataGo's formats. Writing a
    /// network that was read reproduces the file, provided that its numbers were formatted as here and that no weight
    /// was so small that the reader replaced it by zero.
    ///
    /// # Errors
    ///
    /// Returns an error if writing to `output` fails.
    pub fn write(&self, encoding: Encoding, mut output: impl Write) -> io::Result<()> {
        if encoding == Encoding::Int8 {
            let sections = Some(SectionWriter::default());
            let mut writer = Writer { output: Vec::new(), encoding, version: self.version, sections };
            writer.network(self)?;
            let rounding = self.rounding.unwrap_or(Rounding { agrees: false });
            let parts = writer.sections.unwrap_or_default().file(writer.output, rounding);
            parts.iter().try_for_each(|part| output.write_all(part))?;
        } else {
            Writer { output: &mut output, encoding, version: self.version, sections: None }.network(self)?;
        }
        output.flush()
    }
}

/// Formats a decimal as Python does, which writes KataGo's files: the shortest text that parses to the same number,
/// with an exponent of at least two digits.
fn decimal(number: f64) -> String {
    let text = format!("{number:?}");
    match text.split_once("e-") {
        Some((digits, exponent)) => format!("{digits}e-{exponent:0>2}"),
        None => text.replace('e', "e+"),
    }
}

struct Writer<W> {
    output: W,
    encoding: Encoding,
    version: u32,
    /// Sections of a file of 8 bits.
    sections: Option<SectionWriter>,
}

impl<W: Write> Writer<W> {
    fn line(&mut self, word: impl Display) -> io::Result<()> {
        writeln!(self.output, "{word}")
    }

    fn lines<T: Display>(&mut self, words: impl IntoIterator<Item = T>) -> io::Result<()> {
        words.into_iter().try_for_each(|word| self.line(word))
    }

    fn weights(&mut self, weights: &[f32]) -> io::Result<()> {
        match self.encoding {
            Encoding::Binary | Encoding::Int8 => {
                self.output.write_all(BINARY_MARK)?;
                // Chunks of 1,024 weights, because `output` need not be buffered.
                for chunk in weights.chunks(1 << 10) {
                    let bytes: Vec<u8> = chunk.iter().flat_map(|weight| weight.to_le_bytes()).collect();
                    self.output.write_all(&bytes)?;
                }
            }
            Encoding::Text => {
                for (index, weight) in weights.iter().enumerate() {
                    write!(self.output, "{}{weight:?}", if index == 0 { "" } else { " " })?;
                }
            }
        }
        self.output.write_all(b"\n")
    }

    fn matrix(&mut self, weights: &Weights) -> io::Result<()> {
        match self.sections.as_mut().and_then(|sections| sections.add(weights)) {
            Some(mark) => {
                self.output.write_all(mark)?;
                self.output.write_all(b"\n")
            }
            None => self.weights(&weights.floats()),
        }
    }

    fn conv(&mut self, conv: &Conv) -> io::Result<()> {
        self.line(&conv.name)?;
        self.lines([conv.height, conv.width, conv.inputs, conv.outputs])?;
        // Dilation of rows and columns.
        self.lines([1, 1])?;
        self.matrix(&conv.weights)
    }

    fn matmul(&mut self, matmul: &MatMul) -> io::Result<()> {
        self.line(&matmul.name)?;
        self.lines([matmul.inputs, matmul.outputs])?;
        self.matrix(&matmul.weights)
    }

    fn bias(&mut self, bias: &Bias) -> io::Result<()> {
        self.line(&bias.name)?;
        self.line(bias.weights.len())?;
        self.weights(&bias.weights)
    }

    fn norm(&mut self, norm: &Norm) -> io::Result<()> {
        self.line(&norm.name)?;
        self.line(norm.channels())?;
        self.line(decimal(norm.epsilon))?;
        self.lines([u8::from(norm.scale.is_some()), u8::from(norm.bias.is_some())])?;
        self.weights(&norm.mean)?;
        self.weights(&norm.variance)?;
        [&norm.scale, &norm.bias].into_iter().flatten().try_for_each(|weights| self.weights(weights))
    }

    fn rms_norm(&mut self, norm: &RmsNorm) -> io::Result<()> {
        self.line(&norm.name)?;
        self.line(norm.scale.len())?;
        self.line(decimal(norm.epsilon))?;
        self.weights(&norm.scale)
    }

    fn trunk_rms_norm(&mut self, norm: &TrunkRmsNorm) -> io::Result<()> {
        self.line(&norm.name)?;
        self.line(norm.scale.len())?;
        self.line(decimal(norm.epsilon))?;
        // The zero means that channels are not normalised in groups.
        self.lines([u8::from(norm.is_spatial), 0])?;
        self.weights(&norm.scale)?;
        self.weights(&norm.bias)
    }

    fn activation(&mut self, layer: &ActivationLayer) -> io::Result<()> {
        self.line(&layer.name)?;
        if self.version >= 11 {
            self.line(layer.activation.token())?;
        }
        Ok(())
    }

    fn norm_act_conv(&mut self, part: &NormActConv) -> io::Result<()> {
        self.norm(&part.norm)?;
        self.activation(&part.activation)?;
        self.conv(&part.conv)
    }

    fn pooling(&mut self, pooling: &GlobalPooling) -> io::Result<()> {
        self.conv(&pooling.conv)?;
        self.norm(&pooling.norm)?;
        self.activation(&pooling.activation)?;
        self.matmul(&pooling.matmul)
    }

    fn block(&mut self, block: &Block) -> io::Result<()> {
        self.line(block.token())?;
        self.line(block.name())?;
        match block {
            Block::Ordinary(block) => {
                self.norm_act_conv(&block.first)?;
                self.norm_act_conv(&block.second)
            }
            Block::GlobalPooling(block) => {
                self.norm_act_conv(&block.first)?;
                self.pooling(&block.pooling)?;
                self.norm_act_conv(&block.second)
            }
            Block::NestedBottleneck(block) => {
                self.line(block.blocks.len())?;
                self.norm_act_conv(&block.first)?;
                block.blocks.iter().try_for_each(|block| self.block(block))?;
                self.norm_act_conv(&block.second)
            }
            Block::Attention(block) => self.attention(block),
            Block::FeedForward(block) => self.feed_forward(block),
        }
    }

    /// Writes an attention block except for its name.
    fn attention(&mut self, block: &AttentionBlock) -> io::Result<()> {
        self.lines([block.heads, block.key_heads, block.key_width, block.value_width])?;
        let is_learned = matches!(block.rotary, Some(RotaryEmbedding::Learned { .. }));
        self.lines([block.rotary.is_some(), is_learned].map(u8::from))?;
        self.rms_norm(&block.norm)?;
        for matmul in [&block.query, &block.key, &block.value, &block.output] {
            self.matmul(matmul)?;
        }
        match &block.rotary {
            Some(RotaryEmbedding::Learned { name, frequencies }) => {
                self.line(name)?;
                self.lines([block.key_heads, block.key_width / 2, 2])?;
                self.weights(frequencies)
            }
            Some(RotaryEmbedding::Fixed { name, theta }) => {
                self.line(name)?;
                self.line(decimal(*theta))
            }
            None => Ok(()),
        }
    }

    /// Writes a feed-forward block except for its name.
    fn feed_forward(&mut self, block: &FeedForwardBlock) -> io::Result<()> {
        self.lines([block.first.inputs, block.first.outputs])?;
        // The block is gated.
        self.line(1)?;
        self.rms_norm(&block.norm)?;
        [&block.first, &block.gate, &block.last].into_iter().try_for_each(|matmul| self.matmul(matmul))
    }

    fn metadata_encoder(&mut self, encoder: &MetadataEncoder) -> io::Result<()> {
        self.line(&encoder.name)?;
        self.line(METADATA_FEATURES)?;
        for layer in [&encoder.first, &encoder.second] {
            self.matmul(&layer.matmul)?;
            self.bias(&layer.bias)?;
            self.activation(&layer.activation)?;
        }
        self.matmul(&encoder.last)
    }

    fn network(&mut self, network: &Network) -> io::Result<()> {
        self.line(&network.name)?;
        self.line(network.version)?;
        self.lines([SPATIAL_FEATURES, GLOBAL_FEATURES])?;
        if self.version >= 13 {
            self.lines(network.multipliers.to_array().map(decimal))?;
        }
        if self.version >= 15 {
            let has_encoder = network.trunk.metadata_encoder.is_some();
            self.lines([has_encoder, network.pass_alive_with_suicide].map(u8::from))?;
            // No optional features.
            self.lines([0; 6])?;
        }
        let trunk = &network.trunk;
        self.line(&trunk.name)?;
        self.lines([trunk.blocks.len(), trunk.channels])?;
        self.lines(trunk.stated_widths)?;
        if self.version >= 15 {
            self.line(u8::from(matches!(trunk.last_norm, TrunkNorm::Rms(_))))?;
            // No optional features.
            self.lines([0; 5])?;
        }
        self.conv(&trunk.first_conv)?;
        self.matmul(&trunk.global_matmul)?;
        trunk.metadata_encoder.iter().try_for_each(|encoder| self.metadata_encoder(encoder))?;
        trunk.blocks.iter().try_for_each(|block| self.block(block))?;
        match &trunk.last_norm {
            TrunkNorm::Batch(norm) => self.norm(norm)?,
            TrunkNorm::Rms(norm) => self.trunk_rms_norm(norm)?,
        }
        self.activation(&trunk.last_activation)?;
        self.policy_head(&network.policy)?;
        self.value_head(&network.value)
    }

    fn policy_head(&mut self, head: &PolicyHead) -> io::Result<()> {
        self.line(&head.name)?;
        if self.version >= 17 {
            // After the number of logits, no optional features.
            self.lines([head.last_conv.outputs, 0, 0, 0])?;
        }
        self.conv(&head.conv)?;
        self.pooling(&head.pooling)?;
        self.norm(&head.norm)?;
        self.activation(&head.activation)?;
        self.conv(&head.last_conv)?;
        self.matmul(&head.pass_matmul)?;
        if let Some(pass) = &head.pass {
            self.bias(&pass.bias)?;
            self.activation(&pass.activation)?;
            self.matmul(&pass.matmul)?;
        }
        Ok(())
    }

    fn value_head(&mut self, head: &ValueHead) -> io::Result<()> {
        self.line(&head.name)?;
        if self.version >= 17 {
            // No optional features.
            self.lines([0; 3])?;
        }
        self.conv(&head.conv)?;
        self.norm(&head.norm)?;
        self.activation(&head.activation)?;
        self.matmul(&head.matmul)?;
        self.bias(&head.bias)?;
        self.activation(&head.second_activation)?;
        self.matmul(&head.value_matmul)?;
        self.bias(&head.value_bias)?;
        self.matmul(&head.score_matmul)?;
        self.bias(&head.score_bias)?;
        self.conv(&head.ownership_conv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_as_python_does() {
        for (number, text) in [
            (1e-20, "1e-20"),
            (20.0, "20.0"),
            (0.25, "0.25"),
            (1e-5, "1e-05"),
            (0.001, "0.001"),
            (1.5e16, "1.5e+16"),
        ] {
            assert_eq!(decimal(number), text);
        }
    }
}
