//! Connection to an engine.

use crate::players;
use kosumi_gtp::Client;

/// Connection to an engine.
pub(super) enum EngineLink {
    /// To a child process.
    Child(Box<Client>),
    /// To an engine in this process.
    Local(Box<dyn players::GtpPlayer>),
}
