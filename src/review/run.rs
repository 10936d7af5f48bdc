//! Going through a game.

use super::analysis::Analysis;
use super::analyst::Analyst;
use super::judge::{Comparison, Judgement, Thresholds};
use super::main_line::{self, Change, MainLine, Step};
use super::scatter::{self, Scatter};
use super::summary::{PlayerSummary, worst};
use crate::board::{ByColor, Color, Move};

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
    /// One entry for every step of the main line; `None` out of scope.
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
    line: &MainLine,
    scope: &Scope,
    analyst: &mut impl Analyst,
    progress: &mut dyn FnMut(usize, usize),
) -> Review {
    let steps = line.steps();
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
    line.backwards(|index, game| {
        if !scope.holds(steps[index].moves) {
            return;
        }
        let analysis = analyst.analyze(game);
        if let Some(Step { change: Change::Move { color, mv, .. }, .. }) = steps.get(index + 1)
            && let Some(after) = &analyses[index + 1]
        {
            let check = |best: Move| main_line::after(game, *color, best, |changed| analyst.analyze(changed));
            comparisons[index + 1] = Comparison::new(*color, *mv, &analysis, after, &scope.thresholds, check);
        }
        analyses[index] = Some(analysis);
        advance();
    });
    let mut pairs = Vec::new();
    line.backwards(|index, game| {
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
        PlayerSummary::of(Color::Black, line, &judgements),
        PlayerSummary::of(Color::White, line, &judgements),
    );
    let worst = worst(&judgements);
    Review { analyses, judgements, players, worst, scatter }
}
