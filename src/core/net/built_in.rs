//! The network that Kosumi plays with if it is given none. `built_in/README.md` says where it comes from.

use super::error::ReadError;
use super::model::Network;

/// The file, in KataGo's format: other programs load it, too.
const FILE: &[u8] = include_bytes!("built_in/network.bin.gz");

/// What it may take of the program.
const _: () = assert!(FILE.len() <= 4 << 20, "the built-in network is larger than 4 MiB");

impl Network {
    /// The built-in network.
    ///
    /// # Errors
    /// Never, if the program is as it was built.
    pub fn built_in() -> Result<Network, ReadError> {
        Network::read(FILE)
    }
}
