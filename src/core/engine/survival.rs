//! What the network makes of a group that the solver cannot decide.

use super::Engine;
use super::evaluator::{EngineEvaluator, run_search};
use crate::board::{Board, Color, Move, Point, PointSet};
use crate::eval::Survival;
use crate::game::Game;
use crate::search::{Limits, Search, SearchContext};
use std::time::Duration;

/// Memory for the nodes of one judgement, in MiB.
const MEMORY: usize = 4;

/// How a group fares, as far as the network can tell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Judgement {
    /// How likely its stones stay on the board, from 0 to 1.
    pub survives: f32,
    /// The move of who moves first: where that is the owner, one on the board if there is any, as who asks wants to know
    /// what saves the chain.
    pub best: Move,
}

impl Engine {
    /// How the chain at a point fares if `first` moves first and both move in this part of the board or elsewhere, by a
    /// search of so many visits. The same position always gets the same answer. `None` without a network or a stone.
    pub fn judge_survival(
        &self,
        board: &Board,
        point: Point,
        playable: &PointSet,
        first: Color,
        visits: u32,
    ) -> Option<Judgement> {
        let color = board.cell(point).color()?;
        let network = self.search.evaluator().network()?;
        let survival = Survival::new(board.size(), board.chain(point).collect(), *playable);
        let evaluator = EngineEvaluator::Network(Box::new(network.clone().about(survival)));
        let params = super::params(&evaluator, &self.settings, board.size());
        let mut search = Search::new(evaluator, params, MEMORY, 1);
        let game = Game::from_board(*board, first, self.game.rules(), self.game.komi());
        let limits = Limits { visits: Some(visits), ..Limits::default() };
        let (elapsed, interrupted) = (|| Duration::ZERO, || false);
        let report = run_search(&mut search, &game, 0, &SearchContext::new(&limits, &elapsed, &interrupted));
        let best = report.moves.first()?;
        let survives = (1.0 + best.value * color.sign() as f32) / 2.0;
        let play = report.moves.iter().find(|entry| entry.mv != Move::Pass && entry.visits > 0);
        let shown = play.filter(|_| first == color).unwrap_or(best);
        Some(Judgement { survives, best: shown.mv })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::EngineSettings;
    use crate::net::{BuiltIn, Network};
    use std::sync::Arc;

    /// From the top; the group is at the lower left.
    fn judge(drawing: &str, first: Color) -> Judgement {
        let board: Board = drawing.parse().expect("a drawing");
        let network = Network::built_in(BuiltIn::Small).expect("a network");
        let engine = Engine::with_network(EngineSettings::default(), Some(Arc::new(network)));
        let everywhere = board.size().points().collect();
        let point = board.size().points().find(|&point| board.cell(point).color() == Some(Color::Black));
        engine.judge_survival(&board, point.expect("a stone"), &everywhere, first, 60).expect("a judgement")
    }

    const UNSETTLED: &str = "
        . . . . . . .
        . . . . . . .
        . . . . . . .
        O O O O O . .
        X X X X O . .
        X . . X O . .
        X . X X O . .
    ";

    #[test]
    fn who_moves_first_decides_about_three_points() {
        let middle = Move::Play(Point::new(1, 1));
        let attacked = judge(UNSETTLED, Color::White);
        assert!(attacked.survives < 0.3 && attacked.best == middle, "{attacked:?}");
        let defended = judge(UNSETTLED, Color::Black);
        assert!(defended.survives > 0.7 && defended.best == middle, "{defended:?}");
    }

    #[test]
    fn without_a_network_or_a_stone_nothing_is_said() {
        let board: Board = UNSETTLED.parse().expect("a drawing");
        let network = Network::built_in(BuiltIn::Small).expect("a network");
        for (network, column) in [(None, 0), (Some(Arc::new(network)), 1)] {
            let engine = Engine::with_network(EngineSettings::default(), network);
            let point = Point::new(column, 0);
            assert_eq!(engine.judge_survival(&board, point, &PointSet::EMPTY, Color::White, 10), None);
        }
    }
}
