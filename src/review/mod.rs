//! Reviews: what each move of a recorded game gained and lost.
//!
//! *Record → [`Course`] → [`review`] { [`Analyst`] for each position } → [`Review`] → files of the command line.*
//! Nothing is written and no clock is read here; the analyst is usually the engine, and a table in tests.
//!
//! **How a move is judged.** The position after it is searched like every other position of the game, so the move
//! that was played gets as much attention as any. It is compared with the *first choice*, the move that the search
//! of the position before visited most. If the two differ by half of what makes an inaccuracy or more, either way,
//! the position after the first choice gets a search of its own too, as long as the other one: two values of the
//! same kind are compared, and a lucky run that made a move the first choice does not make the other a mistake.
//!
//! **Order.** Positions are searched from the last to the first. They share the engine's node table: when a position
//! is searched, the continuation that was played is known already. What a node knows does not depend on the path to
//! it, so this is sound; see the invariants of [`search`](crate::search).
//!
//! **Chance.** Values come with their standard error, which is measured in part: some positions are searched twice, see
//! [`Scatter`]. A move is not called more than good unless its loss is at least 2.5 times the error of that loss. The
//! error is that of chance alone: what the evaluator does not understand, it does not understand with great certainty.

mod course;
mod judge;
mod scatter;
mod summary;
#[cfg(test)]
mod tests;

pub use course::{Change, Course, Step};
pub use judge::{Class, Estimate, Judgement, Thresholds};
pub use scatter::Scatter;
pub use summary::{PlayerSummary, accuracy};

use crate::board::{ByColor, Color, Move, Point};
use crate::engine::{Engine, SearchRequest};
use crate::game::Game;
use crate::score;
use crate::search::{Limits, SearchReport};
use judge::Comparison;

/// What is known about a position. Values and scores are Black's.
#[derive(Clone, PartialEq, Debug)]
pub struct Analysis {
    /// Whose turn it is.
    pub to_move: Color,
    /// Simulations behind it; 0 if the game is over and the score a matter of counting.
    pub visits: u32,
    /// Black's win rate, in `[0, 1]`.
    pub win_rate: Estimate,
    /// Black's lead in points, komi included.
    pub score: Estimate,
    /// The moves that were looked at, the most visited first.
    pub candidates: Vec<Candidate>,
    /// Mean owner of every point, row by row from the lower left, in `[-1, 1]`, +1 for Black.
    pub ownership: Vec<f32>,
}

/// A move that a search looked at.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The move.
    pub mv: Move,
    /// Simulations through it.
    pub visits: u32,
    /// Black's win rate after it.
    pub win_rate: Estimate,
    /// Black's lead after it.
    pub score: Estimate,
    /// The move and the best answers.
    pub variation: Vec<Move>,
}

/// Who says what a position is worth.
pub trait Analyst {
    /// Searches a position for the player on turn.
    fn analyze(&mut self, game: &Game) -> Analysis;

    /// Does so once more, with other chance and without what earlier searches have learned.
    fn analyze_afresh(&mut self, game: &Game) -> Analysis;
}

/// The engine as analyst.
#[derive(Debug)]
pub struct EngineAnalyst<'a> {
    /// The engine.
    pub engine: &'a mut Engine,
    /// How long each position is searched.
    pub limits: Limits,
    /// How many candidates are kept.
    pub candidates: usize,
}

impl Analyst for EngineAnalyst<'_> {
    fn analyze(&mut self, game: &Game) -> Analysis {
        if game.is_over() && !game.rules().friendly_pass {
            return Analysis::counted(game);
        }
        self.engine.set_game(game.clone());
        let to_move = self.engine.game().to_move();
        let report = self.engine.analyze(to_move, &self.limits, SearchRequest::new(&|| false));
        Analysis::of_report(game, report, self.candidates)
    }

    fn analyze_afresh(&mut self, game: &Game) -> Analysis {
        self.engine.forget();
        self.engine.set_seed(self.engine.seed().wrapping_add(1));
        self.analyze(game)
    }
}

impl Analysis {
    /// What a search reports.
    pub fn of_report(game: &Game, report: &SearchReport, candidates: usize) -> Analysis {
        let of_value = |value: f32, error: f32| Estimate { mean: (1.0 + value) / 2.0, error: error / 2.0 };
        let scatter = report.score_error * (report.playouts.max(1) as f32).sqrt();
        // Of a move with hardly any visits nothing is known. The most visited one has a visit at least.
        let most = report.most_visits();
        let least = (report.visits / 100).clamp(1, most.max(1));
        let moves = report.moves.iter().filter(|entry| entry.visits >= least).take(candidates);
        Analysis {
            to_move: report.to_move,
            visits: report.visits,
            win_rate: of_value(report.value, report.value_error),
            score: Estimate { mean: report.score, error: report.score_error },
            candidates: moves
                .map(|entry| Candidate {
                    mv: entry.mv,
                    visits: entry.visits,
                    win_rate: of_value(entry.value, entry.value_error),
                    score: Estimate { mean: entry.score, error: scatter / (entry.visits as f32).sqrt() },
                    variation: entry.variation.clone(),
                })
                .collect(),
            ownership: game.size().points().map(|point| report.ownership.mean(point)).collect(),
        }
    }

    /// What the rules say of a game that is over, if every stone on the board counts.
    fn counted(game: &Game) -> Analysis {
        let lead = score::area_score(game.board()) as f32 - game.komi() - game.white_bonus();
        let owners = score::area_owner(game.board());
        let win_rate = (1.0 + if lead == 0.0 { 0.0 } else { lead.signum() }) / 2.0;
        let owner = |point: Point| owners[point].map_or(0.0, |owner| owner.sign() as f32);
        Analysis {
            to_move: game.to_move(),
            visits: 0,
            win_rate: Estimate { mean: win_rate, error: 0.0 },
            score: Estimate { mean: lead, error: 0.0 },
            candidates: Vec::new(),
            ownership: game.size().points().map(owner).collect(),
        }
    }

    /// The first choice.
    pub fn best(&self) -> Option<&Candidate> {
        self.candidates.first()
    }
}

/// What to review.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scope {
    /// The first move to judge, counted from 1.
    pub from: usize,
    /// The last one.
    pub to: usize,
    /// Losses from which a move has a bad name.
    pub thresholds: Thresholds,
}

impl Default for Scope {
    fn default() -> Scope {
        Scope { from: 1, to: usize::MAX, thresholds: Thresholds::default() }
    }
}

impl Scope {
    /// Is the position after this many moves one that has to be searched?
    fn holds(&self, moves: usize) -> bool {
        moves + 1 >= self.from && moves <= self.to
    }
}

/// What is known of the steps of a game.
#[derive(Clone, PartialEq, Debug)]
pub struct Review {
    /// One entry for every step of the course; `None` out of scope.
    pub analyses: Vec<Option<Analysis>>,
    /// One entry for every step: the judgement of the move that led to it, if it was a move.
    pub judgements: Vec<Option<Judgement>>,
    /// What the numbers come to, for each player.
    pub players: ByColor<PlayerSummary>,
    /// The steps of the moves that have a bad name, the greatest loss first.
    pub worst: Vec<usize>,
    /// How far searches of the same position differ.
    pub scatter: Scatter,
}

/// Reviews a game. `progress` is told after each position how many are done and how many there are.
pub fn review(
    course: &Course,
    scope: &Scope,
    analyst: &mut impl Analyst,
    progress: &mut dyn FnMut(usize, usize),
) -> Review {
    let steps = course.steps();
    let in_scope: Vec<usize> = (0..steps.len()).filter(|&index| scope.holds(steps[index].moves)).collect();
    let repeats: Vec<usize> =
        scatter::chosen(in_scope.len()).into_iter().map(|number| in_scope[number]).collect();
    let total = in_scope.len() + repeats.len();
    let mut done = 0;
    let mut advance = || {
        done += 1;
        progress(done, total);
    };
    let mut analyses: Vec<Option<Analysis>> = vec![None; steps.len()];
    let mut comparisons: Vec<Option<Comparison>> = vec![None; steps.len()];
    course.backwards(|index, game| {
        if !scope.holds(steps[index].moves) {
            return;
        }
        let analysis = analyst.analyze(game);
        if let Some(Step { change: Change::Move { color, mv, .. }, .. }) = steps.get(index + 1)
            && let Some(after) = &analyses[index + 1]
        {
            let check = |best: Move| course::after(game, *color, best, |changed| analyst.analyze(changed));
            comparisons[index + 1] = Comparison::new(*color, *mv, &analysis, after, &scope.thresholds, check);
        }
        analyses[index] = Some(analysis);
        advance();
    });
    let mut pairs = Vec::new();
    course.backwards(|index, game| {
        if let Some(first) = analyses[index].as_ref().filter(|_| repeats.contains(&index)) {
            if first.visits > 0 {
                pairs.push((first, analyst.analyze_afresh(game)));
            }
            advance();
        }
    });
    let scatter = Scatter::of_pairs(&pairs);
    analyses.iter_mut().flatten().for_each(|analysis| scatter.widen_all(analysis));
    let judgements: Vec<Option<Judgement>> = comparisons
        .into_iter()
        .zip(&analyses)
        .map(|(comparison, after)| Some(comparison?.judge(after.as_ref()?, &scatter, &scope.thresholds)))
        .collect();
    let players = ByColor::new(
        PlayerSummary::of(Color::Black, course, &judgements),
        PlayerSummary::of(Color::White, course, &judgements),
    );
    let worst = summary::worst(&judgements);
    Review { analyses, judgements, players, worst, scatter }
}
