//! The networks that Kosumi plays with if it is given none. `built_in/README.md` says where they come from.

use super::error::ReadError;
use super::model::Network;

/// A network that is part of the program.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum BuiltIn {
    /// The stronger one.
    #[default]
    Large,
    /// Computed many times as fast, for slow machines and for tests.
    Small,
}

/// The files: the large one compact (`tokens.rs`), the small one as KataGo writes them.
const LARGE: &[u8] = include_bytes!("built_in/large.compact.gz");
const SMALL: &[u8] = include_bytes!("built_in/small.bin.gz");

/// What they may take of the program.
const _: () = assert!(LARGE.len() <= 6_000_000 && SMALL.len() <= 4 << 20, "a built-in network is too large");

impl BuiltIn {
    /// All of them.
    pub const ALL: [BuiltIn; 2] = [BuiltIn::Large, BuiltIn::Small];

    /// What the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            BuiltIn::Large => "large",
            BuiltIn::Small => "small",
        }
    }
}

impl Network {
    /// A built-in network.
    ///
    /// # Errors
    /// Never, if the program is as it was built.
    pub fn built_in(which: BuiltIn) -> Result<Network, ReadError> {
        Network::read(match which {
            BuiltIn::Large => LARGE,
            BuiltIn::Small => SMALL,
        })
    }
}
