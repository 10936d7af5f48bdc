//! Judgement of one move: its loss and its class.

use super::analysis::{Candidate, PositionReview};
use super::estimate::Estimate;
use super::scatter::Scatter;
use kosumi_go::board::{Color, Move};

/// Class of a move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// No loss, or a loss that may be due to chance; see [`Judgement::is_unclear`].
    Good,
    /// See [`Thresholds`].
    Inaccuracy,
    /// See [`Thresholds`].
    Mistake,
    /// See [`Thresholds`].
    Blunder,
}

impl Class {
    /// All classes, from the best to the worst.
    pub const ALL: [Class; 4] = [Class::Good, Class::Inaccuracy, Class::Mistake, Class::Blunder];

    /// Returns the name of the class.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Good => "good",
            Class::Inaccuracy => "inaccuracy",
            Class::Mistake => "mistake",
            Class::Blunder => "blunder",
        }
    }

    /// Returns the sign of the class, as in annotations of chess games; empty for a good move.
    pub const fn sign(self) -> &'static str {
        match self {
            Class::Good => "",
            Class::Inaccuracy => "?!",
            Class::Mistake => "?",
            Class::Blunder => "??",
        }
    }
}

/// Losses of win rate, in `[0, 1]`, from which a move is an inaccuracy, a mistake or a blunder, in ascending order. The
/// losses in points are fixed, see [`Thresholds::least_points`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Thresholds {
    inaccuracy: f32,
    mistake: f32,
    blunder: f32,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds { inaccuracy: 0.05, mistake: 0.1, blunder: 0.2 }
    }
}

impl Thresholds {
    /// Returns the thresholds. Returns `None` unless they are ascending, above 0 and at most 1.
    pub fn new(inaccuracy: f32, mistake: f32, blunder: f32) -> Option<Thresholds> {
        let is_ordered = 0.0 < inaccuracy && inaccuracy < mistake && mistake < blunder && blunder <= 1.0;
        is_ordered.then_some(Thresholds { inaccuracy, mistake, blunder })
    }

    /// Returns the loss from which a move belongs to a class.
    pub fn least(&self, class: Class) -> f32 {
        match class {
            Class::Good => 0.0,
            Class::Inaccuracy => self.inaccuracy,
            Class::Mistake => self.mistake,
            Class::Blunder => self.blunder,
        }
    }

    /// Returns the loss in points from which a move belongs to a class. In an even game the loss of win rate reaches
    /// its threshold first. The points matter where the win rate is near 0 or 1 and hardly changes any more.
    pub const fn least_points(class: Class) -> f32 {
        match class {
            Class::Good => 0.0,
            Class::Inaccuracy => 2.0,
            Class::Mistake => 5.0,
            Class::Blunder => 10.0,
        }
    }

    /// Returns the worse of the classes of a loss of win rate and of a loss of points. A loss that chance may explain
    /// does not count.
    pub fn class(&self, loss: Estimate, score_loss: Estimate) -> Class {
        let of = |loss: Estimate, least: &dyn Fn(Class) -> f32| {
            let named = Class::ALL.into_iter().rev().find(|&class| loss.mean >= least(class));
            named.filter(|_| loss.is_sure()).unwrap_or(Class::Good)
        };
        of(loss, &|class| self.least(class)).max(of(score_loss, &Self::least_points))
    }
}

/// Judgement of a move that was played.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// Whether the move is the one that the search prefers.
    pub is_first_choice: bool,
    /// The first choice, with the values of its own search if there was one.
    pub best: Candidate,
    /// Whether the positions after the first choice and after the move were searched equally long.
    pub is_checked: bool,
    /// Loss of win rate, in `[0, 1]`; 0 for the first choice.
    pub loss: Estimate,
    /// Loss in points; 0 for the first choice.
    pub score_loss: Estimate,
    /// Losses by the two searches alone.
    pub searched: Searched,
    /// Class of the move.
    pub class: Class,
    /// Whether the loss is large enough for a worse class, but may be due to chance.
    pub is_unclear: bool,
    /// Whether the move is better than the first choice, by more than chance explains and by the threshold of an
    /// inaccuracy.
    pub is_better: bool,
}

/// Differences between the search after the first choice and the search after the move that was played, before the
/// values of neighbouring positions were reconciled. They are negative if the played move is better.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Searched {
    /// Loss of win rate.
    pub loss: Estimate,
    /// Loss in points.
    pub score_loss: Estimate,
}

/// The first choice and its advantages over the move that was played.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// The first choice, with errors that contain the scatter.
    pub(super) best: Candidate,
    gain: Estimate,
    score_gain: Estimate,
}

/// Factor that turns the errors of two searches, which cover only chance, into errors of a loss. Where a whole game is
/// reviewed, `reconcile.rs` computes better errors.
const SEARCH_ERROR_FACTOR: f32 = 1.95;

/// Number of standard errors of a 90 % interval.
const INTERVAL_ERRORS: f32 = 1.645;
/// Minimum lower end, in points, of an interval that counts as above 0.
const MIN_POINTS: f32 = 0.05;

impl Judgement {
    /// Returns the points that a bad move loses against the first choice according to the two searches alone, with the
    /// ends of the 90 % interval. Returns `None` for a good move, if the searches were not equally long, or if the
    /// interval contains 0.
    pub fn searched_points(&self) -> Option<(f32, [f32; 2])> {
        let loss = self.searched.score_loss.widened(SEARCH_ERROR_FACTOR);
        let reach = INTERVAL_ERRORS * loss.error;
        let is_sure = self.is_checked && self.class > Class::Good && loss.mean - reach >= MIN_POINTS;
        is_sure.then_some((loss.mean, [loss.mean - reach, loss.mean + reach]))
    }
}

/// A move that was played and the first choice, before the errors of the numbers are known.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    color: Color,
    best: Candidate,
    is_first_choice: bool,
    is_checked: bool,
}

impl Comparison {
    /// Returns the player of the move.
    pub(super) fn color(&self) -> Color {
        self.color
    }

    /// Returns whether the move is the one that the search prefers.
    pub(super) fn is_first_choice(&self) -> bool {
        self.is_first_choice
    }

    /// Returns the first choice if it needs a search of its own before it is compared with `color`'s move: if the two
    /// are different moves that differ by at least half of an inaccuracy. `before` is the review of the position before
    /// the move, and `after` of the position after it.
    pub(crate) fn to_check(
        color: Color,
        mv: Move,
        before: &PositionReview,
        after: &PositionReview,
        thresholds: &Thresholds,
    ) -> Option<Move> {
        let best = before.best()?;
        let gain = best.win_rate.better_than(after.win_rate, color).mean.abs();
        let score_gain = best.score.better_than(after.score, color).mean.abs();
        let could_count = gain >= thresholds.inaccuracy / 2.0
            || score_gain >= Thresholds::least_points(Class::Inaccuracy) / 2.0;
        (best.mv != mv && could_count).then_some(best.mv)
    }

    /// Compares `color`'s move with the first choice. `before` is the review of the position before the move, and
    /// `after` of the position after it. `check` analyses the position after another move. Returns `None` if the search
    /// knew no move.
    pub(crate) fn new(
        color: Color,
        mv: Move,
        before: &PositionReview,
        after: &PositionReview,
        thresholds: &Thresholds,
        check: impl FnOnce(Move) -> Option<PositionReview>,
    ) -> Option<Comparison> {
        let mut best = before.best()?.clone();
        let is_first_choice = best.mv == mv;
        let mut is_checked = is_first_choice;
        if let Some(choice) = Comparison::to_check(color, mv, before, after, thresholds)
            && let Some(checked) = check(choice)
        {
            is_checked = true;
            best.win_rate = checked.win_rate;
            best.score = checked.score;
            // The search after the first choice has the longer variation.
            if let Some(answer) = checked.best() {
                best.variation.truncate(1);
                best.variation.extend(&answer.variation);
            }
        }
        Some(Comparison { color, best, is_first_choice, is_checked })
    }

    /// Returns the measurements by the searches, when their scatter is known. The errors of `after` already contain it.
    pub(super) fn measured(&self, after: &PositionReview, scatter: &Scatter) -> Measured {
        let mut best = self.best.clone();
        if self.is_first_choice {
            (best.win_rate, best.score) = (after.win_rate, after.score);
            return Measured { best, gain: Estimate::default(), score_gain: Estimate::default() };
        }
        scatter.widen(&mut best.win_rate, &mut best.score);
        let gain = best.win_rate.better_than(after.win_rate, self.color);
        let score_gain = best.score.better_than(after.score, self.color);
        Measured { best, gain, score_gain }
    }

    /// Returns the judgement of a single move, when the scatter of searches is known. The errors of `after` already
    /// contain it.
    pub(crate) fn judge(
        self,
        after: &PositionReview,
        scatter: &Scatter,
        thresholds: &Thresholds,
    ) -> Judgement {
        let measured = self.measured(after, scatter);
        let losses =
            (measured.gain.widened(SEARCH_ERROR_FACTOR), measured.score_gain.widened(SEARCH_ERROR_FACTOR));
        self.graded(measured, losses, thresholds)
    }

    /// Returns the judgement of a measured move with these losses of win rate and of points.
    pub(super) fn graded(
        self,
        measured: Measured,
        (loss, score_loss): (Estimate, Estimate),
        thresholds: &Thresholds,
    ) -> Judgement {
        let Measured { best, gain, score_gain } = measured;
        let (loss, score_loss) = (loss.at_least_nothing(), score_loss.at_least_nothing());
        let searched = Searched { loss: gain, score_loss: score_gain };
        let Comparison { is_first_choice, is_checked, .. } = self;
        if is_first_choice {
            return Judgement {
                is_first_choice,
                is_checked,
                best,
                loss: Estimate { mean: 0.0, ..loss },
                score_loss: Estimate { mean: 0.0, ..score_loss },
                searched,
                class: Class::Good,
                is_unclear: false,
                is_better: false,
            };
        }
        let class = thresholds.class(loss, score_loss);
        let is_doubtful = |loss: Estimate, least: f32| loss.mean >= least && !loss.is_sure();
        let is_unclear = is_doubtful(loss, thresholds.inaccuracy)
            || is_doubtful(score_loss, Thresholds::least_points(Class::Inaccuracy));
        let is_better =
            is_checked && gain.mean <= -thresholds.inaccuracy && gain.widened(SEARCH_ERROR_FACTOR).is_sure();
        Judgement {
            is_first_choice,
            is_checked,
            loss,
            score_loss,
            searched,
            class,
            is_unclear: class == Class::Good && is_unclear && !is_better,
            is_better: class == Class::Good && is_better,
            best,
        }
    }
}
