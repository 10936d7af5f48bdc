//! Evaluator that plays positions to the end.

use super::prior::{LADDER_LIMIT, PriorWeights, moves_with_priors};
use super::{Evaluation, Evaluator, FirstPlays, Ownership, Prior};
use kosumi_go::board::{Board, ByColor, Cell, Color, Move, Point, PointSet};
use kosumi_go::game::{Game, Line};
use kosumi_go::playout::{self, HeuristicPolicy, PlayoutObserver, PlayoutPolicy};
use kosumi_go::rng::Rng;
use kosumi_go::rules::Scoring;
use kosumi_go::score::{self, ScoringTerms};
use kosumi_go::tactics::LadderReader;

/// Settings of the evaluation by playouts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlayoutSettings {
    /// Weights of the priors.
    pub priors: PriorWeights,
    /// Share of the value, in `[0, 1]`, that depends on the score instead of the winner. It keeps the engine from
    /// giving points away in decided games, and shows the search where points are.
    pub score_share: f32,
    /// Number of playouts for an ownership that is requested outside a search.
    pub ownership_playouts: u32,
}

impl Default for PlayoutSettings {
    fn default() -> PlayoutSettings {
        PlayoutSettings { priors: PriorWeights::default(), score_share: 0.04, ownership_playouts: 500 }
    }
}

/// Evaluator that plays one playout per evaluation.
#[derive(Clone, Debug)]
pub struct Playouts<P = HeuristicPolicy> {
    policy: P,
    settings: PlayoutSettings,
    board: Option<Box<Board>>,
    moves: PlayoutMoves,
    ladders: LadderReader,
    ownership: Ownership,
}

/// Observer that records the moves of a playout for RAVE.
#[derive(Clone, Debug, Default)]
struct PlayoutMoves {
    first_plays: FirstPlays,
    moves: u16,
}

impl PlayoutObserver for PlayoutMoves {
    #[inline]
    fn placed(&mut self, point: Point, color: Color) {
        self.moves = self.moves.saturating_add(1);
        self.first_plays.record(point, color, self.moves);
    }
}

impl<P: PlayoutPolicy> Playouts<P> {
    /// Creates an evaluator whose playouts follow `policy`.
    pub fn new(policy: P, settings: PlayoutSettings) -> Playouts<P> {
        Playouts {
            policy,
            settings,
            board: None,
            moves: PlayoutMoves::default(),
            ladders: LadderReader::new(LADDER_LIMIT),
            ownership: Ownership::default(),
        }
    }

    /// Returns the value of a final score for Black, in `[-1, 1]`: mostly the winner, and a small share of the score.
    fn value(&self, score: f32, area: usize) -> f32 {
        let share = self.settings.score_share;
        let result = if score > 0.0 {
            1.0
        } else if score < 0.0 {
            -1.0
        } else {
            0.0
        };
        (1.0 - share) * result + share * (score / area as f32).clamp(-1.0, 1.0)
    }
}

impl Default for Playouts {
    fn default() -> Playouts {
        Playouts::new(HeuristicPolicy::default(), PlayoutSettings::default())
    }
}

impl<P: PlayoutPolicy + Clone + Send> Evaluator for Playouts<P> {
    fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, _moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        let game = line.game();
        if line.passes() >= 2 && !game.rules().friendly_pass {
            // The game is over, and every stone on the board counts.
            self.moves.first_plays.clear();
            let terms = ScoringTerms::of_line(line);
            let score = score::count_position(line.board(), terms, &PointSet::EMPTY).black_minus_white;
            return Evaluation::plain(self.value(score, game.size().area()), score);
        }
        self.evaluate_by_playing(line, rng)
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        moves_with_priors(line, &self.settings.priors, &mut self.ladders, moves);
    }

    fn first_plays(&self) -> Option<&FirstPlays> {
        Some(&self.moves.first_plays)
    }

    fn ownership(&self) -> Option<&Ownership> {
        Some(&self.ownership)
    }

    fn ownership_by_playing(&self, line: &Line<'_>) -> Option<Ownership> {
        Some(self.ownership_behind(line, OWNERSHIP_REPORT_PLAYOUTS))
    }
}

/// Number of playouts for the ownership after one of many moves of a report. Each share is then accurate to 0.1, and
/// twenty moves of the largest board take about a tenth of a second.
const OWNERSHIP_REPORT_PLAYOUTS: u32 = 100;

impl<P: PlayoutPolicy> Playouts<P> {
    /// Returns the settings.
    pub fn settings(&self) -> &PlayoutSettings {
        &self.settings
    }

    /// Returns a copy without any evaluations.
    pub fn fresh(&self) -> Playouts<P>
    where
        P: Clone,
    {
        Playouts::new(self.policy.clone(), self.settings)
    }

    /// Returns the expected owner of every point if play continues, even after two passes. The same position always
    /// gets the same result.
    pub fn ownership_of(&self, game: &Game) -> Ownership
    where
        P: Clone,
    {
        self.ownership_behind(&Line::new(game), self.settings.ownership_playouts)
    }

    /// Returns the expected owners if play continues, by the colour that moves first, with half of the playouts for
    /// each. The side to move of `game` does not matter.
    pub fn ownership_by_first(&self, game: &Game) -> ByColor<Ownership>
    where
        P: Clone,
    {
        let by = |color| {
            let mut game = game.clone();
            game.set_to_move(color);
            self.ownership_behind(&Line::new(&game), self.settings.ownership_playouts.div_ceil(2))
        };
        ByColor::new(by(Color::Black), by(Color::White))
    }

    fn ownership_behind(&self, line: &Line<'_>, count: u32) -> Ownership
    where
        P: Clone,
    {
        let mut playouts = self.fresh();
        let mut rng = Rng::new(line.board().key().0 as u64);
        for _ in 0..count {
            playouts.evaluate_by_playing(line, &mut rng);
        }
        playouts.ownership
    }

    /// Plays the position to the end, even if two passes have ended the game, and counts the owners of all points.
    pub fn evaluate_by_playing(&mut self, line: &Line<'_>, rng: &mut Rng) -> Evaluation {
        let game = line.game();
        let size = game.size();
        self.moves.first_plays.clear();
        self.moves.moves = 0;
        let board = self.board.get_or_insert_with(|| Box::new(*line.board()));
        board.copy_from(line.board());
        let mut last = line.last_moves();
        // A move before a pass or a set-up is often irrelevant, so the history ends at a pass.
        if last[0] == Move::Pass {
            last = [Move::Pass; 2];
        }
        playout::run(&mut self.policy, board, line.to_move(), last, rng, &mut self.moves);

        let mut area = 0;
        // The single point of the smallest board is enclosed by the edge and belongs to neither colour.
        let has_stones = board.stone_count() > 0;
        let owners = size.points().map(|point| {
            let owner = match board.cell(point) {
                Cell::Black => 1,
                Cell::White => -1,
                Cell::Empty if !has_stones => 0,
                Cell::Empty if board.is_enclosed(point, Color::Black) => 1,
                Cell::Empty if board.is_enclosed(point, Color::White) => -1,
                Cell::Empty | Cell::Border => 0,
            };
            area += owner;
            (point, owner)
        });
        self.ownership.add(owners);
        let mut score = area as f32 - ScoringTerms::of_line(line).white_points();
        if game.rules().scoring == Scoring::Territory {
            score -= score::surplus_stones(line.board()) as f32;
        }
        Evaluation::plain(self.value(score, size.area()), score)
    }
}
