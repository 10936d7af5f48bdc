//! Values of neighbouring positions that agree with the losses of the moves between them.
//!
//! Every search is subject to chance, so the value before a move, less the loss of the move, would usually differ from
//! the value after it. But a search of a position is also a search of the moves that follow it. The value of a position
//! is therefore estimated by its own search and by the search of its first choice, which is the played move or has a
//! search of its own. [`ValueChain`] finds the values that fit all these estimates best, weighted by their variances, under
//! two conditions:
//!
//! * A move gains at most [`Slack::most`] against the value before it. A move that was found to be better than the first
//!   choice raises the value of the position before it.
//! * The first choice neither gains nor loses more than that.
//!
//! The loss of a move is then the difference between the two values.

use super::analysis::PositionReview;
use super::estimate::Estimate;
use super::judge::{Comparison, Judgement, Measured, Thresholds};
use super::main_line::{Change, MainLine};
use super::scatter::Scatter;
use kosumi_go::board::Color;

/// Difference of two neighbouring values that does not count as a loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Slack {
    /// Maximum difference.
    pub(super) most: f64,
    /// Standard deviation of the difference at a first choice. It is not zero, because the search of the later position
    /// sees a longer line.
    pub(super) usual: f64,
}

/// Slack in points.
pub(super) const POINTS: Slack = Slack { most: 0.45, usual: 0.5 };
/// Slack in win rates.
pub(super) const WIN_RATE: Slack = Slack { most: 0.025, usual: 0.03 };

/// Variance that is added to every estimate, so that no weight is infinite.
const MIN_VARIANCE: f64 = 1e-6;

/// Move between two neighbouring positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct MoveLink {
    /// Player who made the move.
    color: Color,
    is_first_choice: bool,
}

/// Positions of a game with estimates of their values, which are Black's, and the judged moves between them.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ValueChain {
    /// Sum of the weights of the estimates of each position, and their weighted sum.
    sums: Vec<(f64, f64)>,
    /// `links[i]` is the move from position `i` to position `i + 1`; `None` if it is not judged.
    links: Vec<Option<MoveLink>>,
    slack: Slack,
}

/// Symmetric tridiagonal system of linear equations.
#[derive(Clone, PartialEq, Debug)]
struct System {
    diagonal: Vec<f64>,
    /// `beside[i]` couples `i` and `i + 1`.
    beside: Vec<f64>,
    right: Vec<f64>,
}

impl System {
    fn new(size: usize) -> System {
        System { diagonal: vec![0.0; size], beside: vec![0.0; size], right: vec![0.0; size] }
    }

    /// Solves the system, which must be diagonally dominant.
    fn solved(mut self) -> Vec<f64> {
        for row in 1..self.diagonal.len() {
            let factor = self.beside[row - 1] / self.diagonal[row - 1];
            self.diagonal[row] -= factor * self.beside[row - 1];
            self.right[row] -= factor * self.right[row - 1];
        }
        let mut found = self.right;
        for row in (0..self.diagonal.len()).rev() {
            let next = found.get(row + 1).copied().unwrap_or(0.0);
            found[row] = (found[row] - self.beside[row] * next) / self.diagonal[row];
        }
        found
    }
}

impl ValueChain {
    /// Creates a chain without estimates and moves.
    pub(super) fn new(positions: usize, slack: Slack) -> ValueChain {
        ValueChain {
            sums: vec![(0.0, 0.0); positions],
            links: vec![None; positions.saturating_sub(1)],
            slack,
        }
    }

    /// Adds an estimate of the value of a position.
    pub(super) fn estimate(&mut self, position: usize, mean: f32, error: f32) {
        let weight = 1.0 / (f64::from(error).powi(2) + MIN_VARIANCE);
        let sums = &mut self.sums[position];
        sums.0 += weight;
        sums.1 += weight * f64::from(mean);
    }

    /// Adds the move that leads to position `to` from the position before it.
    pub(super) fn link(&mut self, to: usize, color: Color, is_first_choice: bool) {
        self.links[to - 1] = Some(MoveLink { color, is_first_choice });
    }

    /// Returns the value of each position, which is 0 without an estimate.
    pub(super) fn values(&self) -> Vec<f64> {
        // Differences that are fixed at a limit: the value before less the value after.
        let mut fixed: Vec<Option<f64>> = vec![None; self.links.len()];
        loop {
            let values = self.values_with(&fixed);
            let mut is_changed = false;
            for (index, link) in self.links.iter().enumerate() {
                let Some(link) = link.filter(|_| fixed[index].is_none()) else { continue };
                let (sign, most) = (f64::from(link.color.sign()), self.slack.most);
                let loss = sign * (values[index] - values[index + 1]);
                let limit = if link.is_first_choice { most } else { f64::INFINITY };
                if !(-most..=limit).contains(&loss) {
                    fixed[index] = Some(sign * loss.clamp(-most, limit));
                    is_changed = true;
                }
            }
            // Every round fixes at least one difference, so the loop ends.
            if !is_changed {
                return values;
            }
        }
    }

    /// Returns the values that fit best when these differences are fixed.
    fn values_with(&self, fixed: &[Option<f64>]) -> Vec<f64> {
        let count = self.sums.len();
        // Positions that are connected by fixed differences form a block with one unknown. Every other position is a
        // block of its own.
        let mut places: Vec<(usize, f64)> = Vec::with_capacity(count);
        for index in 0..count {
            let place = match (places.last(), index.checked_sub(1).and_then(|before| fixed[before])) {
                (None, _) => (0, 0.0),
                (Some(&(block, offset)), Some(difference)) => (block, offset - difference),
                (Some(&(block, _)), None) => (block + 1, 0.0),
            };
            places.push(place);
        }
        let mut system = System::new(places.last().map_or(0, |last| last.0 + 1));
        for (&(block, offset), &(weight, sum)) in places.iter().zip(&self.sums) {
            system.diagonal[block] += weight;
            system.right[block] += sum - weight * offset;
        }
        let tie = self.slack.usual.powi(-2);
        for (index, link) in self.links.iter().enumerate() {
            if fixed[index].is_none() && link.is_some_and(|link| link.is_first_choice) {
                let ((first, one), (second, other)) = (places[index], places[index + 1]);
                system.diagonal[first] += tie;
                system.diagonal[second] += tie;
                system.beside[first] -= tie;
                system.right[first] += tie * (other - one);
                system.right[second] += tie * (one - other);
            }
        }
        for diagonal in &mut system.diagonal {
            // This position has no estimates.
            if *diagonal == 0.0 {
                *diagonal = 1.0;
            }
        }
        let found = system.solved();
        places.into_iter().map(|(block, offset)| found[block] + offset).collect()
    }
}

/// One of the two quantities that are reconciled: win rate or points.
#[derive(Clone, Copy, Debug)]
struct Quantity {
    slack: Slack,
    of: fn(&PositionReview) -> Estimate,
    of_best: fn(&Measured) -> Estimate,
    errors: Errors,
}

const QUANTITIES: [Quantity; 2] = [
    Quantity {
        slack: WIN_RATE,
        of: |analysis| analysis.win_rate,
        of_best: |measured| measured.best.win_rate,
        errors: WIN_RATE_ERRORS,
    },
    Quantity {
        slack: POINTS,
        of: |analysis| analysis.score,
        of_best: |measured| measured.best.score,
        errors: POINT_ERRORS,
    },
];

/// Factors of the three components of a standard error: the mean difference between searches and reconciled values in
/// the whole game, the errors of the searches themselves, and the mean difference nearby. The components are combined
/// as the root of the sum of their squares.
type Factors = [f32; 3];

/// Constants of the standard errors. They were fitted to searches that were 20 times longer, as described in
/// `docs/reviews.md`.
#[derive(Clone, Copy, Debug)]
struct Errors {
    of_values: Factors,
    /// For losses of moves other than first choices.
    of_losses: Factors,
    of_first_choices: Factors,
}

const POINT_ERRORS: Errors = Errors {
    of_values: [0.99, 1.85, 0.61],
    of_losses: [0.62, 1.93, 1.36],
    of_first_choices: [0.65, 0.67, 0.27],
};
const WIN_RATE_ERRORS: Errors =
    Errors { of_values: [1.5, 1.1, 4.5], of_losses: [0.35, 1.0, 5.4], of_first_choices: [0.11, 0.11, 3.1] };

/// Number of positions on each side whose differences count as nearby.
const NEIGHBOURS: usize = 2;

/// Reconciled values of one quantity.
#[derive(Debug)]
struct Reconciled {
    /// Value of each position.
    values: Vec<Estimate>,
    /// Loss of the move to each position.
    losses: Vec<Estimate>,
}

impl Quantity {
    fn reconciled(
        &self,
        searched: &[Option<PositionReview>],
        moves: &[Option<(Comparison, Measured)>],
    ) -> Reconciled {
        let mut chain = ValueChain::new(searched.len(), self.slack);
        for (index, analysis) in searched.iter().enumerate() {
            let Some(analysis) = analysis else { continue };
            let own = (self.of)(analysis);
            chain.estimate(index, own.mean, own.error);
            if let Some((comparison, measured)) = &moves[index] {
                chain.link(index, comparison.color(), comparison.is_first_choice());
                if !comparison.is_first_choice() {
                    let best = (self.of_best)(measured);
                    chain.estimate(index - 1, best.mean, best.error);
                }
            }
        }
        let means: Vec<f32> = chain.values().into_iter().map(|value| value as f32).collect();
        let is_exact = |index: usize| searched[index].as_ref().is_some_and(|analysis| analysis.visits == 0);
        let differences: Vec<Option<f32>> = searched
            .iter()
            .zip(&means)
            .map(|(analysis, mean)| Some(((self.of)(analysis.as_ref()?).mean - mean).abs()))
            .collect();
        let nearby = |index: usize| {
            let range = index.saturating_sub(NEIGHBOURS)..(index + NEIGHBOURS + 1).min(differences.len());
            let known: Vec<f32> = differences[range].iter().copied().flatten().collect();
            known.iter().sum::<f32>() / known.len().max(1) as f32
        };
        let known: Vec<f32> = differences.iter().copied().flatten().collect();
        let everywhere = known.iter().sum::<f32>() / known.len().max(1) as f32;
        let combined = |[whole, own, local]: Factors, error: f32, index: usize| {
            (whole * everywhere).hypot(own * error).hypot(local * nearby(index))
        };
        let mut values = vec![Estimate::default(); searched.len()];
        let mut losses = values.clone();
        for index in 0..searched.len() {
            let Some(analysis) = &searched[index] else { continue };
            let own = (self.of)(analysis);
            // A counted score is exact.
            values[index] = if is_exact(index) {
                own
            } else {
                Estimate { mean: means[index], error: combined(self.errors.of_values, own.error, index) }
            };
            if let Some((comparison, measured)) = &moves[index] {
                let factors = match comparison.is_first_choice() {
                    true => self.errors.of_first_choices,
                    false => self.errors.of_losses,
                };
                let error = own.error.hypot((self.of_best)(measured).error);
                losses[index] = Estimate {
                    mean: (means[index - 1] - means[index]) * comparison.color().sign() as f32,
                    error: combined(factors, error, index),
                };
            }
        }
        Reconciled { values, losses }
    }
}

/// Reconciles the values of all positions, and judges the moves between them. The errors of the analyses contain the
/// scatter.
pub(super) fn reconciled(
    line: &MainLine,
    analyses: &mut [Option<PositionReview>],
    comparisons: Vec<Option<Comparison>>,
    scatter: &Scatter,
    thresholds: &Thresholds,
) -> Vec<Option<Judgement>> {
    let moves: Vec<Option<(Comparison, Measured)>> = comparisons
        .into_iter()
        .zip(&*analyses)
        .map(|(comparison, after)| {
            let comparison = comparison?;
            let measured = comparison.measured(after.as_ref()?, scatter);
            Some((comparison, measured))
        })
        .collect();
    let [rates, scores] = QUANTITIES.map(|quantity| quantity.reconciled(analyses, &moves));
    let bounded = |rate: Estimate| Estimate { mean: rate.mean.clamp(0.0, 1.0), ..rate };
    let values: Vec<(Estimate, Estimate)> =
        rates.values.into_iter().zip(scores.values).map(|(rate, score)| (bounded(rate), score)).collect();
    for (index, analysis) in analyses.iter_mut().enumerate() {
        let Some(analysis) = analysis else { continue };
        (analysis.win_rate, analysis.score) = values[index];
        // The first choice has the value of the position, and the other candidates keep their distances from it.
        if let Some(first) = analysis.candidates.first() {
            let by = (analysis.win_rate.mean - first.win_rate.mean, analysis.score.mean - first.score.mean);
            for candidate in &mut analysis.candidates {
                candidate.win_rate.mean = (candidate.win_rate.mean + by.0).clamp(0.0, 1.0);
                candidate.score.mean += by.1;
            }
        }
        // The value of the played move is that of the next position.
        if let (Some(next), Some(Change::Move { mv, .. })) =
            (values.get(index + 1), line.steps().get(index + 1).map(|next| &next.change))
            && moves.get(index + 1).is_some_and(Option::is_some)
            && let Some(played) = analysis.candidates.iter_mut().find(|candidate| candidate.mv == *mv)
        {
            (played.win_rate.mean, played.score.mean) = (next.0.mean, next.1.mean);
        }
    }
    let losses = rates.losses.into_iter().zip(scores.losses);
    moves
        .into_iter()
        .zip(losses)
        .enumerate()
        .map(|(index, (found, losses))| {
            let (comparison, mut measured) = found?;
            let of_best = if comparison.is_first_choice() { index } else { index - 1 };
            (measured.best.win_rate, measured.best.score) = values[of_best];
            Some(comparison.graded(measured, losses, thresholds))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        let is_close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(found.len() == expected.len() && is_close, "{found:?}, expected {expected:?}");
    }

    /// Creates a chain of points. `means` are the results of each position's own search, all with the same error.
    /// `moves` are the letters of the players: a capital letter for a first choice, a space for no judged move.
    fn chain(means: &[f32], moves: &str) -> ValueChain {
        let mut chain = ValueChain::new(means.len(), POINTS);
        for (position, &mean) in means.iter().enumerate() {
            chain.estimate(position, mean, 1.0);
        }
        for (index, letter) in moves.chars().enumerate() {
            let color = if letter.eq_ignore_ascii_case(&'b') { Color::Black } else { Color::White };
            if letter != ' ' {
                chain.link(index + 1, color, letter.is_uppercase());
            }
        }
        chain
    }

    #[test]
    fn small_chains() {
        // A move that loses according to both searches.
        close(&chain(&[3.0, 1.0], "b").values(), &[3.0, 1.0]);
        close(&chain(&[1.0, 3.0], "w").values(), &[1.0, 3.0]);
        // A move that gains more than the slack: both values share the difference.
        close(&chain(&[1.0, 3.0], "b").values(), &[2.0 - 0.225, 2.0 + 0.225]);
        // A first choice, in both directions. A small difference shrinks.
        close(&chain(&[9.0, 1.0], "B").values(), &[5.225, 4.775]);
        close(&chain(&[1.0, 9.0], "B").values(), &[4.775, 5.225]);
        close(&chain(&[1.0, 1.9], "W").values(), &[1.4, 1.5]);
        // Moves without a judgement do not count.
        close(&chain(&[1.0, 9.0, 4.0], "  ").values(), &[1.0, 9.0, 4.0]);
        close(&chain(&[1.0], "").values(), &[1.0]);
        assert!(ValueChain::new(0, POINTS).values().is_empty());
        close(&ValueChain::new(2, POINTS).values(), &[0.0, 0.0]);
    }

    #[test]
    fn a_surer_search_counts_more() {
        let mut chain = chain(&[1.0, 4.0], "b");
        chain.estimate(1, 4.0, 0.01);
        close(&chain.values(), &[3.55, 4.0]);
        // The counted end of a game is exact.
        let mut chain = ValueChain::new(2, POINTS);
        chain.estimate(0, 1.0, 1.0);
        chain.estimate(1, 7.5, 0.0);
        chain.link(1, Color::White, true);
        close(&chain.values(), &[7.05, 7.5]);
    }

    /// With random values, the results agree with the losses, and no equal values for all positions fit better.
    #[test]
    fn random_chains_agree() {
        let mut state = 7u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        for _ in 0..200 {
            let count = 2 + random(40) as usize;
            let means: Vec<f32> = (0..count).map(|_| random(200) as f32 / 10.0).collect();
            let moves: String = (1..count).map(|_| ['b', 'w', 'B', 'W', ' '][random(5) as usize]).collect();
            let chain = chain(&means, &moves);
            let values = chain.values();
            for (index, letter) in moves.chars().enumerate() {
                let sign = if letter.eq_ignore_ascii_case(&'b') { 1.0 } else { -1.0 };
                let loss = sign * (values[index] - values[index + 1]);
                let is_fine = match letter {
                    ' ' => true,
                    letter if letter.is_uppercase() => loss.abs() <= POINTS.most + 1e-9,
                    _ => loss >= -POINTS.most - 1e-9,
                };
                assert!(is_fine, "{means:?} {moves} {values:?}");
            }
            let cost = |values: &[f64]| -> f64 {
                let own: f64 = values.iter().zip(&means).map(|(a, &b)| (a - f64::from(b)).powi(2)).sum();
                let ties = moves.char_indices().filter(|(_, letter)| letter.is_uppercase());
                own + ties.map(|(i, _)| ((values[i] - values[i + 1]) / POINTS.usual).powi(2)).sum::<f64>()
            };
            // Equal values for all positions always satisfy the conditions.
            let mean = means.iter().sum::<f32>() / count as f32;
            assert!(cost(&values) <= cost(&vec![f64::from(mean); count]) + 1e-6, "{means:?} {moves}");
        }
    }
}
