//! Noise at the root: what a program that learns from its own games needs so that it finds what it does not expect.
//!
//! CITE: Silver et al., "Mastering the game of Go without human knowledge" (2017), for noise on the root's probabilities;
//! Wu, "Accelerating self-play learning in Go" (2019), 3.2, for visits that are forced. What both cost is taken back where
//! targets are made: [`MoveReport::merit`](super::MoveReport::merit) judges moves by their own probabilities.

use crate::board::{GRID, Move};

/// Other probabilities for the moves of the root, and visits that they get whatever they are worth.
#[derive(Clone, PartialEq, Debug)]
pub struct RootNoise {
    weight: f32,
    /// By the points of a board, then the pass.
    shares: Vec<f32>,
    forced: f32,
}

impl RootNoise {
    /// Probabilities of which `weight`, in `[0, 1]`, is `shares` (which sum to 1; moves that are not listed have none). A move
    /// that has been visited gets visits until it has √(`forced` · its probability · all visits); from 0, which forces none.
    pub fn new(weight: f32, shares: &[(Move, f32)], forced: f32) -> RootNoise {
        let mut dense = vec![0.0; GRID + 1];
        shares.iter().for_each(|&(mv, share)| dense[place(mv)] = share);
        RootNoise { weight: weight.clamp(0.0, 1.0), shares: dense, forced: forced.max(0.0) }
    }

    /// The probability of a move, from its own.
    #[inline]
    pub(super) fn probability(&self, mv: Move, own: f32) -> f32 {
        own + self.weight * (self.shares[place(mv)] - own)
    }

    /// Has a move with so many visits, of so many in all, too few yet?
    #[inline]
    pub(super) fn is_forced(&self, probability: f32, visits: f32, total: f32) -> bool {
        visits > 0.0 && visits * visits < self.forced * probability * total
    }
}

fn place(mv: Move) -> usize {
    mv.point().map_or(GRID, |point| point.index())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Point;

    #[test]
    fn probabilities_are_mixed_and_visits_forced_by_their_root() {
        let point = Move::Play(Point::new(0, 0));
        let noise = RootNoise::new(0.25, &[(point, 0.5), (Move::Pass, 0.5)], 2.0);
        assert_eq!(noise.probability(point, 0.1), 0.2);
        assert_eq!(noise.probability(Move::Pass, 0.5), 0.5);
        assert_eq!(noise.probability(Move::Play(Point::new(24, 24)), 0.4), 0.3);
        // √(2 · 0.08 · 100) = 4.
        assert!(noise.is_forced(0.08, 3.0, 100.0) && !noise.is_forced(0.08, 4.0, 100.0));
        assert!(!noise.is_forced(1.0, 0.0, 100.0), "a first visit must be earned");
        assert!(!RootNoise::new(0.25, &[], 0.0).is_forced(1.0, 1.0, 100.0));
    }
}
