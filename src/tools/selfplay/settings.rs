//! Settings of self-play games.

use super::noise::NoiseSettings;
use kosumi_go::board::{BoardSize, Point};
use kosumi_go::handicap::fixed_handicap;
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;

/// Settings of self-play games.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Board sizes with their shares of the games. They must not be empty, and not all shares may be 0.
    pub sizes: Vec<(BoardSize, u32)>,
    /// Rules, one of which is drawn for each game. They must not be empty.
    pub rules: Vec<Rules>,
    /// Number of visits of a search. With 0, the network's policy and value are used without a search.
    pub visits: u32,
    /// Number of turns in a thousand that become training positions. The other turns get an eighth of the visits, which
    /// is enough for play: many games teach more about results than few games with longer searches.
    /// CITE: Wu, "Accelerating self-play learning in Go" (2019), 3.1, playout cap randomization.
    pub training_share: u32,
    /// Mean length of the opening, as a share of the points of the board. Its moves are drawn from the network's
    /// policy, or from a playout policy without a network, so that games differ.
    pub opening: f32,
    /// Number of opening moves in a thousand that are drawn from all legal moves, and number of training turns in a
    /// thousand that are followed by an off-policy position with targets of its own.
    pub off_policy: u32,
    /// Number of positions from the tree of each training search that become training positions as well. They resemble
    /// the positions that searches evaluate, which games do not contain. The search knows little about them, so a
    /// teacher network should label them.
    pub tree: u32,
    /// Root noise, which makes training searches explore moves with low priors.
    pub noise: NoiseSettings,
    /// Soft resignation: absolute value of the expected result, in `[0, 1]`. After three consecutive turns at or above
    /// it, a game continues with a quarter of the visits and a tenth of the training positions. 1 disables it, and it
    /// has no effect without a search. A player that resigned would not learn how games end, and a player that played
    /// every game to its end would learn little else.
    /// CITE: Wu (2019), as KataGo's self-play does it by default.
    pub soft_resign: f32,
    /// Temperature of moves at the beginning of a game, above 0. Probabilities are proportional to visits^(1 /
    /// temperature). The temperature halves after each number of moves equal to the longer side of the board, down to
    /// [`MIN_TEMPERATURE`].
    pub temperature: f32,
    /// Standard deviation of komi around the fair komi after the opening, in points.
    pub komi_spread: f32,
    /// Number of games in a thousand that begin with handicap stones, if the board has handicap points. Half of these
    /// games have a komi of half a point, as is usual for handicap games. The others have a fair komi.
    pub handicap: u32,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Lowest temperature.
pub const MIN_TEMPERATURE: f32 = 0.2;
/// Number of games in a thousand whose komi has [`FAR_KOMI_FACTOR`] times the standard deviation. Networks must also
/// see games that were decided long ago.
const FAR_KOMI_SHARE: u32 = 100;
const FAR_KOMI_FACTOR: f32 = 6.0;
/// Maximum number of handicap stones.
const MAX_HANDICAP: usize = 9;
/// Number of moves per point of the board after which a game is abandoned without a result.
pub(super) const MAX_MOVES_PER_POINT: usize = 3;

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            sizes: [(7, 1), (9, 4), (13, 3), (19, 2)]
                .into_iter()
                .filter_map(|(side, share)| Some((BoardSize::square(side)?, share)))
                .collect(),
            rules: ["tromp-taylor", "chinese", "chinese-kgs", "japanese", "aga"]
                .into_iter()
                .filter_map(|name| Some(Rules::preset(name)?.rules))
                .collect(),
            visits: 64,
            training_share: 300,
            opening: 0.05,
            off_policy: 100,
            tree: 0,
            noise: NoiseSettings::default(),
            soft_resign: 0.9,
            temperature: 0.8,
            komi_spread: 1.0,
            handicap: 0,
            seed: 1,
        }
    }
}

impl Settings {
    /// Draws the board size and the rules of a game.
    pub(super) fn draw(&self, rng: &mut Rng) -> (BoardSize, Rules) {
        let total: u32 = self.sizes.iter().map(|&(_, share)| share).sum();
        let mut left = rng.below(total.max(1));
        let mut size = self.sizes[0].0;
        for &(candidate, share) in &self.sizes {
            size = candidate;
            if left < share {
                break;
            }
            left -= share;
        }
        (size, self.rules[rng.below(self.rules.len() as u32) as usize])
    }

    /// Draws the handicap stones of a game; none in an even game, or if the board has no handicap points.
    pub(super) fn handicap_stones(&self, size: BoardSize, rng: &mut Rng) -> Vec<Point> {
        // Without handicap games no random number is drawn, so that the games of a seed stay the same.
        if self.handicap == 0 || !rng.chance(self.handicap) {
            return Vec::new();
        }
        let most =
            (2..=MAX_HANDICAP).rev().find(|&stones| fixed_handicap(size, stones).is_some()).unwrap_or(0);
        if most == 0 {
            return Vec::new();
        }
        let stones = 2 + rng.below(most as u32 - 1) as usize;
        fixed_handicap(size, stones).unwrap_or_default()
    }

    /// Draws the komi of a game with handicap stones: half a point or, equally often, a fair komi.
    pub(super) fn handicap_komi(&self, fair: f32, area: usize, rng: &mut Rng) -> f32 {
        if rng.chance(500) { 0.5 } else { self.komi(fair, area, rng) }
    }

    /// Draws the komi of a game in which `fair` points would be even after the opening.
    pub(super) fn komi(&self, fair: f32, area: usize, rng: &mut Rng) -> f32 {
        // The sum of twelve uniform numbers is nearly normally distributed.
        let normal = (0..12).map(|_| rng.unit()).sum::<f64>() as f32 - 6.0;
        let spread = self.komi_spread * if rng.chance(FAR_KOMI_SHARE) { FAR_KOMI_FACTOR } else { 1.0 };
        let most = area as f32;
        let komi = (fair + spread * normal).clamp(-most, most);
        (2.0 * komi).round() / 2.0
    }
}
