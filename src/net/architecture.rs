//! Names of architectures in KataGo's notation: `b18c384nbt`, `b10c384h6nbttflrs-fson-silu-rsnh`.
//!
//! ```text
//! b10 c384 [h6 [kv3] [qk32] [v16]] [nbt[3]] [tf[r|lr]s] [-suffix …]
//! ```
//!
//! * `b` is the number of blocks and `c` the number of channels.
//! * `nbt` stands for nested bottlenecks, with the number of inner layers after it (2 without a number).
//! * `tf` stands for transformers. Their number of heads follows `h`. `kv` is the number of key heads if there are
//!   fewer, and `qk` and `v` are the channels of a head if they are not an even share.
//! * In `tf`, `r` stands for a fixed and `lr` for a learned rotary embedding, and `s` for gated feed-forward blocks.
//!
//! The suffixes are the activation (`-silu`, `-mish`; ReLU without either), the norm at the end of the trunk (`-rnh`,
//! `-rsnh`: by the root mean square of one point or of all points), `-meta` for networks that take features of the
//! players, and several that matter only in training.

use super::layer::Activation;
use super::random::{AttentionShape, BlockKind, Options, RotaryKind, TrunkNormKind, Widths};
use thiserror::Error;

/// Error for a name of an architecture that cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "\"{rest}\" in \"{name}\" is not understood: an architecture is called b6c96, b18c384nbt-mish or \
         b10c384h6nbttflrs-fson-silu-rsnh, for example"
)]
pub struct UnknownArchitecture {
    name: String,
    /// Rest of the name, beginning with the part that cannot be parsed.
    rest: String,
}

/// Suffixes that matter only in training: normalisation, initialisation and additional heads.
const OF_TRAINING: [&str; 9] = ["fs", "bn", "brn", "fbrn", "fson", "bnh", "ih", "rvgi", "rvgl"];

/// Returns the options of a random network in the shape of an architecture. The version is the oldest one that can
/// represent it.
///
/// # Errors
///
/// Returns an error if the name is not that of a supported architecture.
pub fn options(name: &str) -> Result<Options, UnknownArchitecture> {
    let mut suffixes = name.split('-');
    let mut rest = suffixes.next().unwrap_or_default();
    let unknown = |rest: &str| UnknownArchitecture { name: name.to_owned(), rest: rest.to_owned() };
    let number = |letters: &str, rest: &mut &str| number_behind(letters, rest);
    let count = number("b", &mut rest).ok_or_else(|| unknown(rest))?;
    let channels = number("c", &mut rest).ok_or_else(|| unknown(rest))?;
    let mut attention = AttentionShape::default();
    let has_heads = number("h", &mut rest);
    if let Some(heads) = has_heads {
        attention.heads = heads;
        attention.key_heads = number("kv", &mut rest).unwrap_or(heads);
        attention.key_width = number("qk", &mut rest);
        attention.value_width = number("v", &mut rest);
    }
    let inner_layers = rest.strip_prefix("nbt").map(|behind| {
        rest = behind;
        number("", &mut rest).unwrap_or(2)
    });
    let is_transformer = match (rest, has_heads.is_some()) {
        ("tfs", true) => Some(RotaryKind::None),
        ("tfrs", true) => Some(RotaryKind::Fixed),
        ("tflrs", true) => Some(RotaryKind::Learned),
        ("", false) => None,
        _ => return Err(unknown(rest)),
    };
    attention.rotary = is_transformer.unwrap_or(attention.rotary);
    let blocks = match (inner_layers, is_transformer.is_some()) {
        (None, false) => convolutions(count, BlockKind::Ordinary, BlockKind::GlobalPooling),
        (Some(2), false) => convolutions(count, BlockKind::Nested, BlockKind::NestedPooling),
        (None, true) => [BlockKind::Attention, BlockKind::FeedForward].repeat(count),
        (Some(2), true) => vec![BlockKind::NestedTransformer; count],
        (Some(3), true) => vec![BlockKind::NestedTransformer3; count],
        _ => return Err(unknown(name)),
    };
    let widths = Widths::Published;
    let mut options = Options { blocks, channels, attention, widths, ..Options::default() };
    for suffix in suffixes {
        match suffix {
            "silu" => options.activation = Activation::Silu,
            "mish" => options.activation = Activation::Mish,
            "rnh" => options.trunk_norm = TrunkNormKind::Rms,
            "rsnh" => options.trunk_norm = TrunkNormKind::SpatialRms,
            "meta" => options.has_metadata_encoder = true,
            _ if OF_TRAINING.contains(&suffix) => {}
            _ => return Err(unknown(suffix)),
        }
    }
    let is_new = is_transformer.is_some()
        || options.trunk_norm != TrunkNormKind::Batch
        || options.has_metadata_encoder;
    let needed = match options.activation {
        _ if is_new => 15,
        Activation::Relu => options.version,
        _ => 11,
    };
    options.version = needed;
    Ok(options)
}

/// Largest number of blocks that is taken from a name. [`random::network`](super::random::network) allows fewer.
const MAX_BLOCKS: usize = 1000;

/// Parses the number after `letters` at the beginning of `rest` and removes both from `rest`.
fn number_behind(letters: &str, rest: &mut &str) -> Option<usize> {
    let behind = rest.strip_prefix(letters)?;
    let digits = behind.len() - behind.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let number = behind[..digits].parse().ok().filter(|&number| number <= 1 << 20)?;
    *rest = &behind[digits..];
    Some(number)
}

/// Returns `count` blocks, of which every third is of the kind `pooling` and the others are of the kind `plain`.
fn convolutions(count: usize, plain: BlockKind, pooling: BlockKind) -> Vec<BlockKind> {
    (0..count.min(MAX_BLOCKS)).map(|index| if index % 3 == 1 { pooling } else { plain }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Block;
    use crate::random;

    #[test]
    fn names_of_published_networks() {
        let network = random::network(&options("b10c384h6nbttflrs-fson-silu-rsnh").unwrap()).unwrap();
        // Figures of the published file of this name.
        let cost = network.cost();
        assert_eq!((cost.multiply_adds, cost.pair_multiply_adds), (10_471_872, 7_680));
        assert_eq!((network.version(), network.channels(), network.blocks().len()), (15, 384, 10));
        let network = random::network(&options("b18c384nbt-fson-mish-rvgl-bnh").unwrap()).unwrap();
        assert_eq!((network.version(), network.blocks().len()), (11, 18));
        assert_eq!(network.activation(), Activation::Mish);
        assert!(matches!(network.blocks()[1].inner()[0], Block::GlobalPooling(_)));
        let small = options("b7c96h6kv3qk32v16tflrs-fson-bnh").unwrap();
        assert_eq!((small.blocks.len(), small.activation), (14, Activation::Relu));
        let attention = small.attention;
        assert_eq!((attention.heads, attention.key_heads), (6, 3));
        assert_eq!((attention.key_width, attention.value_width), (Some(32), Some(16)));
        assert_eq!(options("b7c96h3tfrs-rnh").unwrap().attention.rotary, RotaryKind::Fixed);
        assert_eq!(options("b2c64h4nbt3tfs").unwrap().blocks, [BlockKind::NestedTransformer3; 2]);
        assert!(options("b2c64h4nbttflrs-meta").unwrap().has_metadata_encoder);
        assert_eq!(options("b6c96").unwrap().version, 8);
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "",
            "b",
            "b6",
            "c96b6",
            "b6c96x",
            "b6c96h2",
            "b6c96tfrs",
            "b6c96h2tfr",
            "b6c96nbt3",
            "b6c96h2nbt4tfrs",
            "b6c96-gelu",
            "b99999999999999999999c96",
            "b6c99999999999999999999",
            "-",
        ] {
            assert!(options(name).is_err(), "{name}");
        }
        assert!(random::network(&options("b1000000c96").unwrap()).is_err());
    }
}
