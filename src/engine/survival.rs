//! Survival of groups that the solver cannot decide, estimated by the network.

use super::Engine;
use super::evaluator::EngineEvaluator;
use kosumi_eval::GroupSurvival;
use kosumi_go::board::{Board, Color, Move, Point, PointSet};
use kosumi_go::game::Game;
use kosumi_search::{Limits, Search, SearchContext};
use kosumi_solve::Success;
use std::sync::Arc;
use std::time::Duration;

/// Memory for the nodes of one search, in MiB.
const MEMORY: usize = 4;

/// Factor for the visits of a search with ko threats. A ko fight takes many moves: taking, retaking and the follow-up.
const KO_VISITS_FACTOR: u32 = 4;

/// Estimated fate of a group.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SurvivalEstimate {
    /// Probability that its stones stay on the board if neither side has ko threats, in `[0, 1]`.
    pub survives: f32,
    /// Whether the group is captured. Where a ko decides, one threat is assumed to be enough, because threats are not
    /// counted.
    pub captured: Success,
    /// Best first move. If the owner moves first, any move on the board takes precedence over a pass, because the
    /// caller wants to know what saves the chain.
    pub best: Move,
}

/// Query about a group: the chain at `point`, with moves at `playable` points or elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct SurvivalQuestion<'a> {
    /// The position.
    pub board: &'a Board,
    /// A stone of the group.
    pub point: Point,
    /// Points where moves are considered.
    pub playable: &'a PointSet,
    /// Side that moves first.
    pub first: Color,
}

/// Result of one search.
struct SurvivalSearch {
    survives: f32,
    best: Move,
    about: Arc<GroupSurvival>,
}

impl SurvivalSearch {
    fn is_captured(&self) -> bool {
        self.survives < 0.5
    }
}

impl Engine {
    /// Estimates the fate of a group when both sides may play in this part of the board or elsewhere. Runs a search of
    /// `visits` visits, and another one of four times as many where a ko may decide. The result depends on the position
    /// only. Returns `None` without a network, without a stone at `point`, or if a search was interrupted.
    pub fn estimate_survival(
        &self,
        question: SurvivalQuestion<'_>,
        visits: u32,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Option<SurvivalEstimate> {
        let SurvivalQuestion { board, point, first, .. } = question;
        let owner = board.cell(point).color()?;
        let plain = self.search_survival(question, None, visits, interrupted)?;
        // Test whether ko threats save the side that loses without them.
        let loser = if plain.is_captured() { owner } else { owner.opponent() };
        let ko = match plain.about.was_banned_by_ko(loser) {
            true => {
                let visits = visits.saturating_mul(KO_VISITS_FACTOR);
                Some(self.search_survival(question, Some(loser), visits, interrupted)?)
            }
            false => None,
        };
        let ko = ko.filter(|ko| ko.is_captured() != plain.is_captured());
        let captured = match (plain.is_captured(), ko.is_some()) {
            (true, false) => Success::Yes,
            (true, true) => Success::KoFirst(1),
            (false, true) => Success::KoSecond(1),
            (false, false) => Success::No,
        };
        // If the side to move must make ko threats first, the fight begins with the move that those threats enable.
        let best = ko.filter(|_| first == loser).map_or(plain.best, |ko| ko.best);
        Some(SurvivalEstimate { survives: plain.survives, captured, best })
    }

    fn search_survival(
        &self,
        question: SurvivalQuestion<'_>,
        endless_threats: Option<Color>,
        visits: u32,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Option<SurvivalSearch> {
        let SurvivalQuestion { board, point, playable, first } = question;
        let color = board.cell(point).color()?;
        let network = self.search.evaluator().network()?;
        let about = Arc::new(GroupSurvival::new(board.size(), board.chain(point).collect(), *playable));
        let evaluator = EngineEvaluator::Network(Box::new(network.clone().with_survival(Arc::clone(&about))));
        let params = super::params(&evaluator, &self.settings, board.size(), Some(visits));
        let mut search = Search::new(evaluator, params, MEMORY, 1);
        let mut game = Game::from_board(*board, first, self.game.rules(), self.game.komi());
        if let Some(color) = endless_threats {
            game = game.with_endless_threats(color);
        }
        let limits = Limits { visits: Some(visits), ..Limits::default() };
        let elapsed = || Duration::ZERO;
        let report = search.run(&game, 0, &SearchContext::new(&limits, &elapsed, interrupted));
        if interrupted() {
            return None;
        }
        let best = report.moves.first()?;
        let survives = (1.0 + best.value * color.sign() as f32) / 2.0;
        let play = report.moves.iter().find(|entry| entry.mv != Move::Pass && entry.visits > 0);
        let shown = play.filter(|_| first == color).unwrap_or(best);
        Some(SurvivalSearch { survives, best: shown.mv, about })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineSettings;
    use kosumi_net::{BuiltIn, Network};

    /// Judges the group at the lower left of a drawing.
    fn judge(drawing: &str, first: Color) -> SurvivalEstimate {
        judge_board(&drawing.parse().expect("a drawing"), first)
    }

    fn judge_board(board: &Board, first: Color) -> SurvivalEstimate {
        let network = Network::built_in(BuiltIn::Small).expect("a network");
        let engine = Engine::with_network(EngineSettings::default(), Some(Arc::new(network)));
        let everywhere = board.size().points().collect();
        let point = board.size().points().find(|&point| board.cell(point).color() == Some(Color::Black));
        let point = point.expect("a stone");
        let question = SurvivalQuestion { board, point, playable: &everywhere, first };
        engine.estimate_survival(question, 60, &|| false).expect("a judgement")
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
    fn first_move_decides_a_three_point_eye() {
        let middle = Move::Play(Point::new(1, 1));
        let attacked = judge(UNSETTLED, Color::White);
        assert!(attacked.survives < 0.3 && attacked.best == middle, "{attacked:?}");
        assert_eq!(attacked.captured, Success::Yes);
        let defended = judge(UNSETTLED, Color::Black);
        assert!(defended.survives > 0.7 && defended.best == middle, "{defended:?}");
        assert_eq!(defended.captured, Success::No);
    }

    /// White has just taken the ko that would connect both groups of Black.
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
        // White may not retake at once.
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
    fn no_estimate_without_network_or_stone() {
        let board: Board = UNSETTLED.parse().expect("a drawing");
        let network = Network::built_in(BuiltIn::Small).expect("a network");
        for (network, column) in [(None, 0), (Some(Arc::new(network)), 1)] {
            let engine = Engine::with_network(EngineSettings::default(), network);
            let point = Point::new(column, 0);
            let playable = &PointSet::EMPTY;
            let question = SurvivalQuestion { board: &board, point, playable, first: Color::White };
            assert_eq!(engine.estimate_survival(question, 10, &|| false), None);
        }
    }
}
