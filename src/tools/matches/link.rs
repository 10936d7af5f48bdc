//! The way to an engine.

use crate::players;
use kosumi_gtp::Client;

/// The way to an engine.
pub(super) enum Link {
    /// A child process.
    Child(Client),
    /// In this process.
    Local(Box<dyn players::Player>),
}
