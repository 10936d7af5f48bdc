//! How games are played.

use super::noise::NoiseSettings;
use kosumi_go::board::{BoardSize, Point};
use kosumi_go::handicap::fixed_handicap;
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;

/// How games are played.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Boards, each with its share of the games. Not empty, and not all shares 0.
    pub sizes: Vec<(BoardSize, u32)>,
    /// Each game is played under one of these. Not empty.
    pub rules: Vec<Rules>,
    /// Visits of a search; 0 for no search at all: the network's own policy and value.
    pub visits: u32,
    /// Training share: so many of a thousand turns become training positions. The others get an eighth of the visits, which is
    /// enough to play on: many games say more about results than few games that are searched longer.
    /// CITE: Wu, "Accelerating self-play learning in Go" (2019), 3.1, playout cap randomization.
    pub training_share: u32,
    /// Mean length of the opening, as a share of the points of the board. Its moves are drawn from what the network
    /// says without a search, without a network from a playout's moves, so that games differ.
    pub opening: f32,
    /// So many of a thousand moves of the opening are drawn from all legal ones, and so many of a thousand turns that
    /// become positions are followed by an off-policy position, which gets an answer of its own.
    pub off_policy: u32,
    /// So many positions of its own tree follow each search for training: what a search asks a network about, and no game
    /// shows. The search knows little of them; a teacher should say more.
    pub tree: u32,
    /// What makes searches for training look at moves that they do not expect to be good.
    pub noise: NoiseSettings,
    /// Soft resignation: when Black's expected result has been this far from 0 for three turns in a row, games go on with a
    /// quarter of the visits, and a tenth of the training positions; 1 for never, and never without a search. Who resigns does not learn how games end,
    /// and who plays on learns little else.
    /// CITE: Wu (2019), as KataGo's self-play does it by default.
    pub soft_resign: f32,
    /// Temperature at which moves are drawn at the beginning of a game; above 0. Moves count by their visits to the power of
    /// one over this; it falls by half every so many moves as the board is wide, down to [`COOLEST`].
    pub temperature: f32,
    /// Standard deviation of komi from what seems fair after the opening, in points.
    pub komi_spread: f32,
    /// So many of a thousand games begin with handicap stones, where the board has places for them; half of these games
    /// have the komi of handicap games, half a point, the others one that makes them even.
    pub handicap: u32,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// The lowest temperature.
pub const COOLEST: f32 = 0.2;
/// In so many of a thousand games komi is off by more, by [`FAR`] times as much: networks must know games that are
/// long decided.
const FAR_GAMES: u32 = 100;
const FAR: f32 = 6.0;
/// Most handicap stones.
const MOST_STONES: usize = 9;
/// Moves a point after which a game is given up: it has no result.
pub(super) const LONGEST: usize = 3;

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
    /// Board and rules of a game.
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

    /// The points of a game's handicap stones; none in an even game, and none where a board has no places for them.
    pub(super) fn handicap_stones(&self, size: BoardSize, rng: &mut Rng) -> Vec<Point> {
        // Without handicap games nothing is drawn: the games of a seed stay what they were.
        if self.handicap == 0 || !rng.chance(self.handicap) {
            return Vec::new();
        }
        let most =
            (2..=MOST_STONES).rev().find(|&stones| fixed_handicap(size, stones).is_some()).unwrap_or(0);
        if most == 0 {
            return Vec::new();
        }
        let stones = 2 + rng.below(most as u32 - 1) as usize;
        fixed_handicap(size, stones).unwrap_or_default()
    }

    /// Komi for a game with handicap stones: half a point or, as often, one that makes it even.
    pub(super) fn handicap_komi(&self, fair: f32, area: usize, rng: &mut Rng) -> f32 {
        if rng.chance(500) { 0.5 } else { self.komi(fair, area, rng) }
    }

    /// Komi for an opening after which `fair` points would make an even game.
    pub(super) fn komi(&self, fair: f32, area: usize, rng: &mut Rng) -> f32 {
        // The sum of twelve draws is as good as normal.
        let normal = (0..12).map(|_| rng.unit()).sum::<f64>() as f32 - 6.0;
        let spread = self.komi_spread * if rng.chance(FAR_GAMES) { FAR } else { 1.0 };
        let most = area as f32;
        let komi = (fair + spread * normal).clamp(-most, most);
        (2.0 * komi).round() / 2.0
    }
}
