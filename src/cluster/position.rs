//! The position of a search in the form in which ranks exchange it: the game with its whole past.

use super::link::ClusterError;
use kosumi_go::board::Key;
use kosumi_go::game::Game;
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Meta, Record, Strictness, Tree};

/// Returns the game as SGF, which contains everything on which legality, score and keys depend.
pub(crate) fn to_text(game: &Game) -> String {
    Tree::of_game(game, &Meta::default()).to_string()
}

/// Parses a game: the inverse of [`to_text`].
///
/// # Errors
///
/// Returns [`ClusterError::OtherPosition`] if the text is not a valid game or the game does not have this key.
pub(crate) fn from_text(text: &str, is_tree: bool, key: Key) -> Result<Game, ClusterError> {
    let other = |_| ClusterError::OtherPosition;
    let record = Record::parse(text.as_bytes()).map_err(other)?;
    let rules = record.rules().unwrap_or(Rules::default());
    let replayed =
        record.replay(rules, record.komi_under(rules), None, Strictness::Tolerant).map_err(other)?;
    let sharing = if is_tree { NodeSharing::Tree } else { NodeSharing::Graph };
    let game = replayed.game.with_sharing(sharing);
    if game.graph_key() == key {
        return Ok(game);
    }
    // The text does not state whether a game that is over was resumed for an analysis.
    let resumed = game.resumed();
    if resumed.graph_key() == key { Ok(resumed) } else { Err(ClusterError::OtherPosition) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::{BoardSize, Color, Move};
    use kosumi_go::rng::Rng;
    use kosumi_go::rules::PRESETS;

    /// Games with passes, and with turns out of order, arrive at other ranks unchanged.
    #[test]
    fn games_survive_serialisation() {
        for seed in 0..3_000 {
            let mut rng = Rng::new(seed);
            let rules = PRESETS[rng.below(PRESETS.len() as u32) as usize].rules;
            let size = BoardSize::new(2 + rng.below(4) as usize, 2 + rng.below(4) as usize).unwrap();
            let is_tree = rng.below(2) == 0;
            let sharing = if is_tree { NodeSharing::Tree } else { NodeSharing::Graph };
            let mut game = Game::new(size, rules, rules.usual_komi()).with_sharing(sharing);
            for _ in 0..rng.below(30) {
                if rng.below(6) == 0 {
                    game.set_to_move(Color::BOTH[rng.below(2) as usize]);
                    continue;
                }
                let legal = game.legal_points(game.to_move());
                let choice = rng.below(legal.len() as u32 + 1) as usize;
                let mv = legal.get(choice).map_or(Move::Pass, |&point| Move::Play(point));
                game.play(game.to_move(), mv).unwrap();
            }
            let game = if rng.below(3) == 0 { game.resumed() } else { game };
            let text = to_text(&game);
            let back =
                from_text(&text, is_tree, game.graph_key()).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(
                (back.to_move(), back.passes(), back.komi()),
                (game.to_move(), game.passes(), game.komi()),
                "{text}"
            );
        }
    }
}
