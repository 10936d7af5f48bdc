//! The position of a search, as ranks tell it each other: the game with its whole past.

use super::link::ClusterError;
use crate::board::Key;
use crate::game::Game;
use crate::graph_key::Sharing;
use crate::rules::Rules;
use crate::sgf::{Meta, Record, Strictness, Tree};

/// The game as SGF, which holds all that legality, score and keys depend on.
pub(crate) fn to_text(game: &Game) -> String {
    Tree::of_game(game, &Meta::default()).to_string()
}

/// The inverse of [`to_text`].
///
/// # Errors
/// If the game has not this key.
pub(crate) fn from_text(text: &str, is_tree: bool, key: Key) -> Result<Game, ClusterError> {
    let other = |_| ClusterError::OtherPosition;
    let record = Record::parse(text.as_bytes()).map_err(other)?;
    let rules = record.rules().unwrap_or(Rules::default());
    let replayed = record.replay(rules, rules.usual_komi(), None, Strictness::Tolerant).map_err(other)?;
    let sharing = if is_tree { Sharing::Tree } else { Sharing::Graph };
    let game = replayed.game.with_sharing(sharing);
    if game.graph_key() == key { Ok(game) } else { Err(ClusterError::OtherPosition) }
}
