//! Noise at the root. A program that learns from its own games needs it to find moves that it does not expect.
//!
//! CITE: Silver et al., "Mastering the game of Go without human knowledge" (2017), for noise on the root's
//! probabilities; Wu, "Accelerating self-play learning in Go" (2019), 3.2, for forced visits. The effect of both is
//! removed when training targets are made: [`MoveReport::merit`](super::MoveReport::merit) judges moves by their own
//! probabilities.

pub use kosumi_go::board::{GRID, Move};
use kosumi_go::rng::Rng;

/// Changed probabilities of the root's moves, and visits that these moves get regardless of their values.
#[derive(Clone, PartialEq, Debug)]
pub struct RootNoise {
    weight: f32,
    /// Noise by the index of the point, then of the pass.
    shares: Vec<f32>,
    forced: f32,
    /// Exponent to which probabilities are raised.
    power: f32,
    /// Standard deviation of the random bonus of moves.
    spread: f32,
}

impl RootNoise {
    /// Creates noise with the share `weight`, in `[0, 1]`, of the probabilities. `shares` sum to 1, and moves that are
    /// not listed have a share of 0. A visited move gets visits until it has √(`forced` · its probability · all
    /// visits). `forced` is at least 0; 0 forces none.
    pub fn new(weight: f32, shares: &[(Move, f32)], forced: f32) -> RootNoise {
        let mut dense = vec![0.0; GRID + 1];
        shares.iter().for_each(|&(mv, share)| dense[place(mv)] = share);
        let (weight, forced) = (weight.clamp(0.0, 1.0), forced.max(0.0));
        RootNoise { weight, shares: dense, forced, power: 1.0, spread: 0.0 }
    }

    /// Creates noise that widens the search by `amount`, which is at least 0: probabilities become more even, and at
    /// every second choice a move gets a random bonus, the absolute value of a normal deviate times the amount.
    /// KataGo's `wideRootNoise`.
    pub fn wide(amount: f32) -> RootNoise {
        let amount = amount.max(0.0);
        RootNoise { power: 1.0 / (1.0 + 4.0 * amount), spread: amount, ..RootNoise::new(0.0, &[], 0.0) }
    }

    /// Returns the probability of a move with noise.
    #[inline]
    pub(super) fn probability(&self, mv: Move, own: f32) -> f32 {
        let own = if self.power == 1.0 { own } else { libm::powf(own, self.power) };
        own + self.weight * (self.shares[place(mv)] - own)
    }

    /// Returns a random bonus for one choice of a move.
    #[inline]
    pub(super) fn bonus(&self, rng: &mut Rng) -> f32 {
        if self.spread <= 0.0 || rng.unit() < 0.5 {
            return 0.0;
        }
        // Half of a normal distribution, by the method of Box and Muller. `rng.unit()` is below 1, so the logarithm is
        // finite.
        let (radius, angle) = ((1.0 - rng.unit()) as f32, rng.unit() as f32);
        let deviate = (-2.0 * libm::logf(radius)).sqrt() * libm::cosf(std::f32::consts::TAU * angle);
        self.spread * deviate.abs()
    }

    /// Returns whether a move with these visits must get more, with `total` visits of all moves.
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
    use kosumi_go::board::Point;

    #[test]
    fn noise_is_mixed_and_visits_are_forced() {
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

    #[test]
    fn wide_noise_makes_probabilities_even_and_moves_better_by_chance() {
        let noise = RootNoise::wide(0.25);
        // √0.04 = 0.2.
        assert!((noise.probability(Move::Pass, 0.04) - 0.2).abs() < 1e-6);
        let mut rng = Rng::new(7);
        let drawn: Vec<f32> = (0..20_000).map(|_| noise.bonus(&mut rng)).collect();
        let none = drawn.iter().filter(|&&bonus| bonus == 0.0).count();
        assert!((9_700..10_300).contains(&none) && drawn.iter().all(|&bonus| bonus >= 0.0), "{none}");
        // The mean of a half-normal distribution is √(2/π) times its spread.
        let mean = drawn.iter().sum::<f32>() / (20_000 - none) as f32;
        assert!((mean / 0.25 - 0.798).abs() < 0.02, "{mean}");
        assert_eq!(RootNoise::wide(0.0).bonus(&mut rng), 0.0);
        assert_eq!(RootNoise::new(0.25, &[], 2.0).bonus(&mut rng), 0.0);
    }
}
