//! Summaries of the judgements of a game.

use super::judge::{Class, Judgement};
use super::main_line::{Change, MainLine};
use kosumi_go::board::Color;

/// Loss of win rate that halves a move's accuracy.
const HALVING_LOSS: f32 = 0.1;
/// Loss in points that halves a move's accuracy.
const HALVING_POINTS: f32 = 5.0;
/// Number of moves of a player over which the curve of accuracy is smoothed.
const CURVE_MOVES: usize = 10;

/// Returns the accuracy of a move, in `[0, 1]`: 1 without a loss, halved by every 10 % of win rate or every 5 points that it
/// lost, whichever lowers it more. A loss in points counts only if it is sure, because leads scatter more than win rates.
pub fn accuracy(judgement: &Judgement) -> f32 {
    let points = if judgement.score_loss.is_sure() { judgement.score_loss.mean } else { 0.0 };
    (-(judgement.loss.mean / HALVING_LOSS).max(points / HALVING_POINTS)).exp2()
}

/// Last moves of the opening and of the middle game on a 19×19 board; other boards have proportionate values.
const STAGE_ENDS: [usize; 2] = [50, 150];

/// Returns the last moves of the opening and of the middle game on a board with this number of points. Each of the two
/// stages has at least one move.
pub(super) fn stage_ends(area: usize) -> [usize; 2] {
    let [opening, middle] = STAGE_ENDS.map(|moves| moves * area / 361);
    let opening = opening.max(1);
    [opening, middle.max(opening + 1)]
}

/// Summary of one player's moves.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PlayerSummary {
    /// Number of moves that were judged.
    pub moves: usize,
    /// Number of first choices.
    pub first_choices: usize,
    /// Number of moves of each class, in the order of [`Class::ALL`].
    pub classes: [usize; 4],
    /// Number of good moves that are unclear.
    pub unclear: usize,
    /// Number of moves that were better than the first choice.
    pub better: usize,
    /// Mean loss of win rate, in `[0, 1]`.
    pub mean_loss: f32,
    /// Mean loss that chance alone would show if no move lost anything.
    pub noise: f32,
    /// Mean loss in points.
    pub mean_score_loss: f32,
    /// Mean [`accuracy`].
    pub accuracy: f32,
    /// Steps of the player's moves, each with the mean accuracy of the last ten moves up to it.
    pub curve: Vec<(usize, f32)>,
}

impl PlayerSummary {
    /// Summarises `color`'s moves.
    pub(super) fn of(color: Color, line: &MainLine, judgements: &[Option<Judgement>]) -> PlayerSummary {
        let own = line.steps().iter().zip(judgements).enumerate().filter_map(|(index, (step, judgement))| {
            let is_own = matches!(step.change, Change::Move { color: mover, .. } if mover == color);
            judgement.as_ref().filter(|_| is_own).map(|judgement| (index, judgement))
        });
        let own: Vec<(usize, &Judgement)> = own.collect();
        let count = own.len().max(1) as f32;
        let mean = |part: fn(&Judgement) -> f32| {
            // The sum over no numbers is −0, which would be shown with a sign.
            (0.0 + own.iter().map(|&(_, judgement)| part(judgement)).sum::<f32>()) / count
        };
        let accuracies: Vec<f32> = own.iter().map(|&(_, judgement)| accuracy(judgement)).collect();
        let curve = own.iter().enumerate().map(|(number, &(index, _))| {
            let latest = &accuracies[(number + 1).saturating_sub(CURVE_MOVES)..=number];
            (index, latest.iter().sum::<f32>() / latest.len() as f32)
        });
        let number =
            |has: &dyn Fn(&Judgement) -> bool| own.iter().filter(|(_, judgement)| has(judgement)).count();
        PlayerSummary {
            moves: own.len(),
            first_choices: number(&|judgement| judgement.is_first_choice),
            classes: Class::ALL.map(|class| number(&|judgement| judgement.class == class)),
            unclear: number(&|judgement| judgement.is_unclear),
            better: number(&|judgement| judgement.is_better),
            mean_loss: mean(|judgement| judgement.loss.mean),
            // Mean of a normally distributed number with this standard deviation, if values below 0 count as 0.
            noise: mean(|judgement| judgement.loss.error / std::f32::consts::TAU.sqrt()),
            mean_score_loss: mean(|judgement| judgement.score_loss.mean),
            accuracy: mean(accuracy),
            curve: curve.collect(),
        }
    }
}

/// Returns the steps of inaccuracies, mistakes and blunders, the least accurate first. Among equals, the earlier comes
/// first.
pub(super) fn worst(judgements: &[Option<Judgement>]) -> Vec<usize> {
    let bad = |judgement: &Judgement| judgement.class > Class::Good;
    let accuracy = |index: usize| judgements[index].as_ref().map_or(1.0, accuracy);
    let mut found: Vec<usize> =
        (0..judgements.len()).filter(|&index| judgements[index].as_ref().is_some_and(bad)).collect();
    found.sort_by(|&a, &b| accuracy(a).total_cmp(&accuracy(b)));
    found
}
