//! Networks that are part of the program, used if no other is given. `built_in/README.md` documents their origin.

use super::error::ReadError;
use super::model::Network;

/// Network that is part of the program.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum BuiltIn {
    /// The stronger network.
    #[default]
    Large,
    /// The weaker network, which is many times faster. It serves slow machines and tests.
    Small,
}

/// Files of the networks: the large one in the compact format (`tokens.rs`), the small one as KataGo writes it.
const LARGE: &[u8] = include_bytes!("built_in/large.compact.gz");
const SMALL: &[u8] = include_bytes!("built_in/small.bin.gz");

/// Limits of the space that the networks take in the program.
const _: () = assert!(LARGE.len() <= 6_000_000 && SMALL.len() <= 4 << 20, "a built-in network is too large");

impl BuiltIn {
    /// All built-in networks.
    pub const ALL: [BuiltIn; 2] = [BuiltIn::Large, BuiltIn::Small];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            BuiltIn::Large => "large",
            BuiltIn::Small => "small",
        }
    }
}

impl Network {
    /// Returns a built-in network.
    ///
    /// # Errors
    ///
    /// Returns an error only if the program file is corrupt.
    pub fn built_in(which: BuiltIn) -> Result<Network, ReadError> {
        Network::read(match which {
            BuiltIn::Large => LARGE,
            BuiltIn::Small => SMALL,
        })
    }
}
