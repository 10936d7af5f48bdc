//! What the network makes of a group that the solver cannot decide.

use super::Engine;
use super::evaluator::EngineEvaluator;
use crate::board::{Board, Color, Move, Point, PointSet};
use crate::eval::Survival;
use crate::game::Game;
use crate::search::{Limits, Search, SearchContext};
use crate::solve::Success;
use std::sync::Arc;
use std::time::Duration;

/// Memory for the nodes of one judgement, in MiB.
const MEMORY: usize = 4;

/// How many times as many visits a search gets that asks what a ko decides: taking, taking back and what comes of it are
/// many moves.
const KO_VISITS: u32 = 4;

/// How a group fares, as far as the network can tell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Judgement {
    /// How likely its stones stay on the board if nobody makes a threat, from 0 to 1.
    pub survives: f32,
    /// Is it captured? Where a ko decides it is said that one threat would do, as threats are not counted.
    pub captured: Success,
    /// The move of who moves first: where that is the owner, one on the board if there is any, as who asks wants to know
    /// what saves the chain.
    pub best: Move,
}

/// A question about a group: its chain at `point`, with moves at these points or elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct SurvivalQuestion<'a> {
    /// The position.
    pub board: &'a Board,
    /// A stone of the group.
    pub point: Point,
    /// Where moves are looked at.
    pub playable: &'a PointSet,
    /// Who moves first.
    pub first: Color,
}

/// What one search says.
struct Outcome {
    survives: f32,
    best: Move,
    about: Arc<Survival>,
}

impl Outcome {
    fn is_captured(&self) -> bool {
        self.survives < 0.5
    }
}

impl Engine {
    /// How a group fares if both move in this part of the board or elsewhere, by a search of so many visits, and one of
    /// four times as many where a ko may decide. The same position always gets the same answer. `None` without a
    /// network or a stone.
    pub fn judge_survival(&self, question: SurvivalQuestion<'_>, visits: u32) -> Option<Judgement> {
        let SurvivalQuestion { board, point, first, .. } = question;
        let owner = board.cell(point).color()?;
        let plain = self.search_survival(question, None, visits)?;
        // Would threats save who loses?
        let loser = if plain.is_captured() { owner } else { owner.opponent() };
        let ko = match plain.about.was_held_back(loser) {
            true => self.search_survival(question, Some(loser), visits.saturating_mul(KO_VISITS)),
            false => None,
        };
        let ko = ko.filter(|ko| ko.is_captured() != plain.is_captured());
        let captured = match (plain.is_captured(), ko.is_some()) {
            (true, false) => Success::Yes,
            (true, true) => Success::KoFirst(1),
            (false, true) => Success::KoSecond(1),
            (false, false) => Success::No,
        };
        // A ko that the player on turn must make threats for begins with the move that those make good.
        let best = ko.filter(|_| first == loser).map_or(plain.best, |ko| ko.best);
        Some(Judgement { survives: plain.survives, captured, best })
    }

    fn search_survival(
        &self,
        question: SurvivalQuestion<'_>,
        endless_threats: Option<Color>,
        visits: u32,
    ) -> Option<Outcome> {
        let SurvivalQuestion { board, point, playable, first } = question;
        let color = board.cell(point).color()?;
        let network = self.search.evaluator().network()?;
        let about = Arc::new(Survival::new(board.size(), board.chain(point).collect(), *playable));
        let evaluator = EngineEvaluator::Network(Box::new(network.clone().about(Arc::clone(&about))));
        let params = super::params(&evaluator, &self.settings, board.size());
        let mut search = Search::new(evaluator, params, MEMORY, 1);
        let mut game = Game::from_board(*board, first, self.game.rules(), self.game.komi());
        if let Some(color) = endless_threats {
            game = game.with_endless_threats(color);
        }
        let limits = Limits { visits: Some(visits), ..Limits::default() };
        let (elapsed, interrupted) = (|| Duration::ZERO, || false);
        let report = search.run(&game, 0, &SearchContext::new(&limits, &elapsed, &interrupted));
        let best = report.moves.first()?;
        let survives = (1.0 + best.value * color.sign() as f32) / 2.0;
        let play = report.moves.iter().find(|entry| entry.mv != Move::Pass && entry.visits > 0);
        let shown = play.filter(|_| first == color).unwrap_or(best);
        Some(Outcome { survives, best: shown.mv, about })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::EngineSettings;
    use crate::net::{BuiltIn, Network};

    /// From the top; the group is at the lower left.
    fn judge(drawing: &str, first: Color) -> Judgement {
        judge_board(&drawing.parse().expect("a drawing"), first)
    }

    fn judge_board(board: &Board, first: Color) -> Judgement {
        let network = Network::built_in(BuiltIn::Small).expect("a network");
        let engine = Engine::with_network(EngineSettings::default(), Some(Arc::new(network)));
        let everywhere = board.size().points().collect();
        let point = board.size().points().find(|&point| board.cell(point).color() == Some(Color::Black));
        let point = point.expect("a stone");
        let question = SurvivalQuestion { board, point, playable: &everywhere, first };
        engine.judge_survival(question, 60).expect("a judgement")
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
        assert_eq!(attacked.captured, Success::Yes);
        let defended = judge(UNSETTLED, Color::Black);
        assert!(defended.survives > 0.7 && defended.best == middle, "{defended:?}");
        assert_eq!(defended.captured, Success::No);
    }

    /// White has just taken the ko by which both groups of Black would be joined.
    const KO: &str = "
        . . . . . . .
        . . . . . . .
        . . O . O . .
        . . . O . . .
        O O O O O O O
        X X O . O X X
        . X X O X X .
    ";

    #[test]
    fn a_threat_decides_a_ko() {
        let (below, above) = (Point::new(3, 0), Point::new(3, 1));
        let mut taken: Board = KO.parse().expect("a drawing");
        taken.play_unchecked(above, Color::Black);
        // White may not take back at once.
        let banned = judge_board(&taken, Color::White);
        assert_eq!((banned.captured, banned.best), (Success::KoSecond(1), Move::Play(below)), "{banned:?}");
        taken.pass();
        let attacked = judge_board(&taken, Color::White);
        assert_eq!(
            (attacked.captured, attacked.best),
            (Success::KoFirst(1), Move::Play(below)),
            "{attacked:?}"
        );
        let defended = judge_board(&taken, Color::Black);
        assert_eq!((defended.captured, defended.best), (Success::No, Move::Play(below)), "{defended:?}");
    }

    #[test]
    fn without_a_network_or_a_stone_nothing_is_said() {
        let board: Board = UNSETTLED.parse().expect("a drawing");
        let network = Network::built_in(BuiltIn::Small).expect("a network");
        for (network, column) in [(None, 0), (Some(Arc::new(network)), 1)] {
            let engine = Engine::with_network(EngineSettings::default(), network);
            let point = Point::new(column, 0);
            let playable = &PointSet::EMPTY;
            let question = SurvivalQuestion { board: &board, point, playable, first: Color::White };
            assert_eq!(engine.judge_survival(question, 10), None);
        }
    }
}
