//! Root noise for training searches.

use kosumi_eval::Prior;
use kosumi_go::board::Move;
use kosumi_go::rng::Rng;
use kosumi_search::RootNoise;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Gamma};

/// Parameters of root noise. The defaults are KataGo's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NoiseSettings {
    /// Share of noise in the root policy, in `[0, 1]`.
    pub weight: f32,
    /// Sum of the parameters of the Dirichlet distribution, above 0. The smaller it is, the fewer are the moves that
    /// get nearly all of the noise.
    pub concentration: f32,
    /// Forced visits: a visited move gets at least √(`forced` · prior · visits of the root) visits. 0 disables them.
    pub forced: f32,
}

impl Default for NoiseSettings {
    fn default() -> NoiseSettings {
        NoiseSettings { weight: 0.25, concentration: 10.83, forced: 2.0 }
    }
}

impl NoiseSettings {
    /// Returns whether the noise changes a search.
    pub(super) fn is_on(&self) -> bool {
        self.weight > 0.0 || self.forced > 0.0
    }
}

/// Draws noise for a position with these moves.
pub(super) fn draw(settings: &NoiseSettings, priors: &[(Move, Prior)], rng: &mut Rng) -> RootNoise {
    let mut source = ChaCha8Rng::seed_from_u64(rng.next_u64());
    let parameters = parameters(settings.concentration, priors);
    // Gamma-distributed numbers, divided by their sum, have a Dirichlet distribution.
    let mut shares: Vec<(Move, f32)> = priors
        .iter()
        .zip(parameters)
        .map(|(&(mv, _), parameter)| {
            let drawn = Gamma::new(parameter, 1.0).map_or(0.0, |gamma| gamma.sample(&mut source));
            (mv, drawn)
        })
        .collect();
    let total: f32 = shares.iter().map(|&(_, share)| share).sum();
    if total > 0.0 {
        shares.iter_mut().for_each(|(_, share)| *share /= total);
    }
    RootNoise::new(if total > 0.0 { settings.weight } else { 0.0 }, &shares, settings.forced)
}

/// Returns the parameters of the Dirichlet distribution. Half of their sum is spread evenly over all moves. The other
/// half goes to the moves whose log prior is above the mean, so that noise is not wasted on absurd moves.
/// CITE: KataGo, "shaped Dirichlet noise" (docs/KataGoMethods.md).
fn parameters(concentration: f32, priors: &[(Move, Prior)]) -> Vec<f32> {
    /// Cap on the priors, because more likely moves are found without noise.
    const LIKELY: f32 = 0.01;
    let logs: Vec<f32> =
        priors.iter().map(|(_, prior)| (prior.probability().min(LIKELY) + 1e-20).ln()).collect();
    let count = priors.len().max(1) as f32;
    let mean = logs.iter().sum::<f32>() / count;
    let above: Vec<f32> = logs.iter().map(|log| (log - mean).max(0.0)).collect();
    let total: f32 = above.iter().sum();
    let share = |above: f32| if total > 0.0 { 0.5 / count + 0.5 * above / total } else { 1.0 / count };
    above.into_iter().map(|above| concentration * share(above)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::Point;

    fn priors(probabilities: &[f32]) -> Vec<(Move, Prior)> {
        let moves = (0..).map(|column| Move::Play(Point::new(column, 0)));
        moves.zip(probabilities.iter().map(|&it| Prior::Probability(it))).collect()
    }

    #[test]
    fn likely_moves_share_half_of_the_parameters() {
        let parameters = parameters(10.0, &priors(&[0.5, 0.4, 1e-8, 1e-8]));
        assert!((parameters.iter().sum::<f32>() - 10.0).abs() < 1e-4);
        // A quarter of the first half, and half of the other half.
        assert!((parameters[0] - 3.75).abs() < 1e-4 && parameters[0] == parameters[1], "{parameters:?}");
        assert!((parameters[2] - 1.25).abs() < 1e-4 && parameters[2] == parameters[3]);
        let even = super::parameters(10.0, &priors(&[0.25; 4]));
        assert!(even.iter().all(|it| (it - 2.5).abs() < 1e-4), "{even:?}");
    }

    #[test]
    fn noise_follows_from_the_random_numbers() {
        let settings = NoiseSettings::default();
        let priors = priors(&[0.7, 0.2, 0.1]);
        let noise = draw(&settings, &priors, &mut Rng::new(1));
        assert_eq!(noise, draw(&settings, &priors, &mut Rng::new(1)));
        assert_ne!(noise, draw(&settings, &priors, &mut Rng::new(2)));
        assert!(!NoiseSettings { weight: 0.0, forced: 0.0, ..settings }.is_on());
    }
}
