//! Which move to follow: pure functions of plain numbers.
//!
//! All values here are for the player on turn, in `[-1, 1]`.

/// What is known about one move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveStats {
    /// Completed simulations through the edge.
    pub visits: u32,
    /// Value of the child.
    pub value: f32,
    /// Descents in progress.
    pub in_flight: u32,
    /// RAVE games.
    pub rave_visits: u32,
    /// Value of the RAVE games.
    pub rave_value: f32,
    /// Equivalent visits of the prior.
    pub prior_weight: f32,
    /// Value of the prior.
    pub prior_value: f32,
}

/// Constants of the formula.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Constants {
    /// See [`SearchParams::rave_equivalence`](super::SearchParams::rave_equivalence).
    pub rave_equivalence: f32,
    /// See [`SearchParams::exploration`](super::SearchParams::exploration).
    pub exploration: f32,
    /// See [`SearchParams::in_flight_weight`](super::SearchParams::in_flight_weight).
    pub in_flight_weight: f32,
}

/// How urgent a move is: the larger, the sooner it is followed.
///
/// The mean of visits and prior, mixed with the mean of RAVE games, whose weight falls as visits come in:
/// β = r / (r + n + n·r / equivalence). A prior counts as games of both kinds.
/// CITE: Gelly and Silver (2011) for the mixture; David Silver's β in the form that Pachi uses. A descent in
/// progress counts as a lost game, so that workers spread.
/// `exploring` is the root of the parent's visits.
#[inline]
pub fn urgency(stats: &MoveStats, constants: &Constants, exploring: f32) -> f32 {
    let lost = stats.in_flight as f32 * constants.in_flight_weight;
    let visits = stats.visits as f32 + stats.prior_weight + lost;
    if visits <= 0.0 {
        return f32::MAX;
    }
    let sum = stats.visits as f32 * stats.value + stats.prior_weight * stats.prior_value - lost;
    let mean = sum / visits;
    let mut mixed = mean;
    if constants.rave_equivalence > 0.0 && stats.rave_visits > 0 {
        let rave_visits = stats.rave_visits as f32 + stats.prior_weight;
        let rave_sum = stats.rave_visits as f32 * stats.rave_value + stats.prior_weight * stats.prior_value;
        let beta = rave_visits / (rave_visits + visits + visits * rave_visits / constants.rave_equivalence);
        mixed = beta * (rave_sum / rave_visits) + (1.0 - beta) * mean;
    }
    mixed + constants.exploration * exploring / visits
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Constants = Constants { rave_equivalence: 0.0, exploration: 0.0, in_flight_weight: 1.0 };
    const NONE: MoveStats = MoveStats {
        visits: 0,
        value: 0.0,
        in_flight: 0,
        rave_visits: 0,
        rave_value: 0.0,
        prior_weight: 0.0,
        prior_value: 0.0,
    };

    #[test]
    fn numbers_by_hand() {
        let three = MoveStats { visits: 3, value: 0.5, ..NONE };
        assert_eq!(urgency(&three, &PLAIN, 0.0), 0.5);
        // One descent in progress: (1.5 − 1) / 4.
        assert_eq!(urgency(&MoveStats { in_flight: 1, ..three }, &PLAIN, 0.0), 0.125);
        // A prior of one lost game: (1.5 − 1) / 4.
        let prior = MoveStats { prior_weight: 1.0, prior_value: -1.0, ..three };
        assert_eq!(urgency(&prior, &PLAIN, 0.0), 0.125);
        // RAVE: r = 3, n = 3, β = 3 / (3 + 3 + 9/9) = 3/7.
        let rave = MoveStats { rave_visits: 3, rave_value: -0.5, ..three };
        let mixed = urgency(&rave, &Constants { rave_equivalence: 9.0, ..PLAIN }, 0.0);
        assert!((mixed - (3.0 / 7.0 * -0.5 + 4.0 / 7.0 * 0.5)).abs() < 1e-6);
    }

    #[test]
    fn what_is_quite_unknown_comes_first() {
        assert_eq!(urgency(&NONE, &PLAIN, 0.0), f32::MAX);
    }

    #[test]
    fn the_weight_of_rave_falls_with_visits() {
        let constants = Constants { rave_equivalence: 1000.0, ..PLAIN };
        let at = |visits| {
            let stats = MoveStats { visits, value: 0.0, rave_visits: 100, rave_value: 1.0, ..NONE };
            urgency(&stats, &constants, 0.0)
        };
        assert!(at(1) > at(10) && at(10) > at(1000) && at(1000) > at(100_000));
    }
}
