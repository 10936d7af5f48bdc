//! What a network is shown of a position.

use kosumi_go::game::{Game, Line};
use kosumi_net::{Features, Input};

/// The input of a position; `features` is scratch space.
pub fn encode(features: &mut Features, game: &Game) -> Input {
    let mut input = Input::zero(game.size().columns(), game.size().rows());
    features.fill(&Line::new(game), &mut input);
    input
}
