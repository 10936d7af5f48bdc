//! Simulations that choose their first move by other priors: by what people would play, for instance.
//!
//! The moves of people that an engine does not like would hardly be looked at. Here some simulations choose the move of
//! the root by a formula with those priors, so that the search also knows what these moves are worth.

use crate::board::Move;

/// Which simulations choose the root's move otherwise, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct RootExploration {
    /// How probable each move is; moves that are not listed are never chosen.
    pub priors: Vec<(Move, f32)>,
    /// Share of simulations, in `[0, 1]`, that choose so and do not count at the root: its value and the visits of its
    /// moves stay what they are, and only what lies below learns. At most [`WEIGHTLESS_MOST`] counts, so that a limit on
    /// visits is reached.
    pub weightless: f32,
    /// Share of simulations, in `[0, 1]`, that choose so and count as all others do.
    pub weightful: f32,
    /// Weight of the priors against what moves have proved to be worth; it fades with the square root of the visits.
    pub cpuct: f32,
    /// The same, but for a weight that never fades: moves worth so much less than the best one are still looked at.
    pub cpuct_permanent: f32,
}

/// The largest share of simulations that do not count.
pub const WEIGHTLESS_MOST: f32 = 0.95;

/// A move that may be chosen.
pub(super) struct Candidate {
    pub(super) prior: f32,
    /// Simulations that have looked at what follows it, those included that do not count.
    pub(super) visits: u32,
    /// Its value for the player to move; of a move that was not looked at, that of the position.
    pub(super) value: f32,
}

impl RootExploration {
    /// Does a simulation choose so, and does it then count? `unit` is a random number from 0 to 1.
    pub(super) fn draw(&self, unit: f32) -> Option<bool> {
        let weightless = self.weightless.min(WEIGHTLESS_MOST);
        if unit < weightless {
            Some(false)
        } else if unit < weightless + self.weightful {
            Some(true)
        } else {
            None
        }
    }

    /// The prior of a move.
    pub(super) fn prior(&self, mv: Move) -> f32 {
        self.priors.iter().find(|(known, _)| *known == mv).map_or(0.0, |&(_, prior)| prior)
    }

    /// How urgent a move is, with `total` visits of all moves together.
    pub(super) fn urgency(&self, candidate: &Candidate, total: u32) -> f32 {
        if candidate.prior <= 0.0 {
            return f32::NEG_INFINITY;
        }
        let scale = self.cpuct * (total as f32 + 0.01).sqrt() + self.cpuct_permanent * total as f32;
        candidate.value + scale * candidate.prior / (1.0 + candidate.visits as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exploration(weightless: f32, weightful: f32) -> RootExploration {
        RootExploration {
            priors: vec![(Move::Pass, 0.25)],
            weightless,
            weightful,
            cpuct: 1.0,
            cpuct_permanent: 0.0,
        }
    }

    #[test]
    fn shares_are_drawn_one_after_the_other() {
        let it = exploration(0.25, 0.5);
        assert_eq!(
            [0.0, 0.24, 0.26, 0.74, 0.76].map(|unit| it.draw(unit)),
            [Some(false), Some(false), Some(true), Some(true), None]
        );
        assert_eq!(exploration(1.0, 0.0).draw(0.99), None, "some simulations always count");
    }

    #[test]
    fn what_is_probable_and_seldom_visited_is_urgent() {
        let it = exploration(0.5, 0.0);
        let urgency = |prior, visits, value| it.urgency(&Candidate { prior, visits, value }, 99);
        assert!(urgency(0.5, 9, 0.0) > urgency(0.25, 9, 0.0));
        assert!(urgency(0.5, 9, 0.0) > urgency(0.5, 19, 0.0));
        assert!(urgency(0.5, 9, 0.1) > urgency(0.5, 9, 0.0));
        assert_eq!(urgency(0.0, 0, 1.0), f32::NEG_INFINITY);
        assert!((urgency(0.5, 9, 0.0) - 99.01f32.sqrt() * 0.05).abs() < 1e-6);
        let permanent = RootExploration { cpuct: 0.0, cpuct_permanent: 2.0, ..it };
        let found = permanent.urgency(&Candidate { prior: 0.5, visits: 9, value: 0.0 }, 99);
        assert!((found - 9.9).abs() < 1e-5);
    }
}
