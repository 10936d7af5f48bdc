//! Network inputs of positions.

use kosumi_go::game::{Game, Line};
use kosumi_net::{Features, Input};

/// Returns the input of a position. `features` is scratch memory.
pub fn encode(features: &mut Features, game: &Game) -> Input {
    let mut input = Input::zero(game.size().columns(), game.size().rows());
    features.fill(&Line::new(game), &mut input);
    input
}
