//! What a network is shown of a position.

use crate::game::{Game, Line};
use crate::net::{Features, Input};

/// The input of a position; `features` is scratch space.
pub fn encode(features: &mut Features, game: &Game) -> Input {
    let mut input = Input::zero(game.size().columns(), game.size().rows());
    features.fill(&Line::new(game), &mut input);
    input
}
