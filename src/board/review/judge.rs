//! Judgement of one move: its loss and its class.

use super::analysis::{Candidate, PositionReview};
use super::estimate::Estimate;
use super::scatter::Scatter;
use kosumi_go::board::{Color, Move};

/// Class of a move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// No loss, or a loss that may be chance; see [`Judgement::is_unclear`].
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

    /// Name of the class.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Good => "good",
            Class::Inaccuracy => "inaccuracy",
            Class::Mistake => "mistake",
            Class::Blunder => "blunder",
        }
    }

    /// Sign of the class, as in chess; empty for a good move.
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
    /// Returns the thresholds. `None` unless they are ascending, above 0 and at most 1.
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

    /// Returns the loss in points from which a move belongs to a class. In an even game the loss of win rate reaches its
    /// threshold first. The points decide where the win rate is near 0 or 1 and hardly moves any more.
    pub const fn least_points(class: Class) -> f32 {
        match class {
            Class::Good => 0.0,
            Class::Inaccuracy => 2.0,
            Class::Mistake => 5.0,
            Class::Blunder => 10.0,
        }
    }

    /// Returns the class of a loss of win rate and of points: the worse one of the two. A loss that chance explains does
    /// not count.
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
    /// Whether the search would have made the move.
    pub is_first_choice: bool,
    /// The first choice, with the numbers of its own search if there was one.
    pub best: Candidate,
    /// Whether the first choice was searched as long as the move that was played.
    pub is_checked: bool,
    /// Loss of win rate, in `[0, 1]`; 0 for the first choice.
    pub loss: Estimate,
    /// Loss in points; 0 for the first choice.
    pub score_loss: Estimate,
    /// Class of the move.
    pub class: Class,
    /// Whether the loss is that of a worse class than good, but may be chance.
    pub is_unclear: bool,
    /// Whether the move is better than the first choice, beyond chance and by the threshold of an inaccuracy.
    pub is_better: bool,
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
    /// Returns the first choice if it needs a search of its own before it is compared with `color`'s move: if the two
    /// are different moves, and differ by at least half of an inaccuracy. `before` reviews the position, `after` the
    /// one after the move.
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

    /// Compares `color`'s move with the first choice. `before` reviews the position, `after` the one after the move.
    /// `check` analyses the position after another move. `None` if the search knew no move.
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
            // The choice's own search has the longer variation.
            if let Some(answer) = checked.best() {
                best.variation.truncate(1);
                best.variation.extend(&answer.variation);
            }
        }
        Some(Comparison { color, best, is_first_choice, is_checked })
    }

    /// Returns the judgement, when the scatter of searches is known. The errors of `after` contain it already.
    pub(crate) fn judge(
        self,
        after: &PositionReview,
        scatter: &Scatter,
        thresholds: &Thresholds,
    ) -> Judgement {
        let Comparison { color, mut best, is_first_choice, is_checked } = self;
        if is_first_choice {
            (best.win_rate, best.score) = (after.win_rate, after.score);
            return Judgement {
                is_first_choice,
                best,
                is_checked,
                loss: Estimate::default(),
                score_loss: Estimate::default(),
                class: Class::Good,
                is_unclear: false,
                is_better: false,
            };
        }
        scatter.widen(&mut best.win_rate, &mut best.score);
        let gain = best.win_rate.better_than(after.win_rate, color);
        let score_gain = best.score.better_than(after.score, color);
        let class = thresholds.class(gain.at_least_nothing(), score_gain.at_least_nothing());
        let is_doubtful = |gain: Estimate, least: f32| gain.mean >= least && !gain.is_sure();
        let is_unclear = is_doubtful(gain, thresholds.inaccuracy)
            || is_doubtful(score_gain, Thresholds::least_points(Class::Inaccuracy));
        let is_better = is_checked && gain.mean <= -thresholds.inaccuracy && gain.is_sure();
        Judgement {
            is_first_choice,
            is_checked,
            loss: gain.at_least_nothing(),
            score_loss: score_gain.at_least_nothing(),
            class,
            is_unclear: class == Class::Good && is_unclear && !is_better,
            is_better: class == Class::Good && is_better,
            best,
        }
    }
}
