//! Estimates of a player's rank from the moves of recorded games.
//!
//! *Record → [`PlayedMoves`] (points that each move lost, and how unexpected it was) → [`RankFeatures`] of a player in
//! a game → [`RankEstimate`] over all games of the player.* The numbers come from single evaluations by the small
//! built-in network, so an estimate does not depend on options of the review. `docs/ranks.md` describes the games to
//! which the formulas were fitted.

use super::main_line::{Change, MainLine};
use kosumi_engine::{Engine, EngineSettings, SearchRequest};
use kosumi_go::board::{BoardSize, ByColor, Color, Move};
use kosumi_go::rules::Rules;
use kosumi_net::{Network, Rank};
use kosumi_search::Limits;
use std::sync::Arc;

/// Simulations for each position: a single evaluation by the network.
const PLAYOUTS: u32 = 1;

/// Memory for the searches, in MiB.
const MEMORY_MEBIBYTES: usize = 32;

/// Maximum number of moves of a game that count, as in the games to which the formulas were fitted.
const MAX_MOVES: usize = 120;

/// Minimum number of a player's moves in a game for an estimate of the rank.
const MIN_MOVES: usize = 10;

/// Numbers of moves per point of the board after which the middle game and the endgame begin.
const PHASE_ENDS: [f32; 2] = [0.14, 0.42];

/// Move, as judged by the network.
#[derive(Clone, Copy, PartialEq, Debug)]
struct JudgedMove {
    /// Number of the move, counted from 1.
    number: usize,
    /// Points that it lost; negative if it gained some.
    loss: f32,
    /// Surprise: the negative logarithm of its probability under the policy.
    surprise: f32,
}

/// Moves of a game, as judged by the network.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayedMoves {
    size: BoardSize,
    moves: ByColor<Vec<JudgedMove>>,
}

/// Features of one player's moves in a game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankFeatures {
    /// Length of the side of the board, or of a square of the same area.
    pub side: f32,
    /// Number of moves.
    pub moves: usize,
    /// Mean loss in points. A single loss counts at most as `largest_loss`.
    pub mean_loss: f32,
    /// Mean surprise: the negative logarithm of a move's probability under the network's policy. Stronger players play
    /// more probable moves.
    pub surprise: f32,
    /// Share of moves that lose more than `large_loss`, in `[0, 1]`.
    pub large_share: f32,
    /// Mean loss in the opening, in the middle game and in the endgame; `None` without moves.
    pub phases: [Option<f32>; 3],
}

/// Estimate of a rank. A rank is given as the number of ranks below 10 dan: 1 is 9 dan, 10 is 1 kyu.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankEstimate {
    /// Mean of the estimate.
    pub steps: f32,
    /// Standard error, in ranks.
    pub error: f32,
}

/// Returns the largest loss of a move that counts, in points. Without this limit, a single fight that is understood
/// late would dominate.
fn largest_loss(side: f32) -> f32 {
    1.6 * side
}

/// Returns the loss from which a mistake counts as large, in points.
fn large_loss(side: f32) -> f32 {
    0.5 * side
}

/// Formula for boards of one size.
///
/// The number of ranks below 10 dan is `start + large · √(share of large mistakes) + surprise · mean surprise`. The
/// mean loss is not part of it, because losses by single evaluations hardly differ between ranks.
#[derive(Clone, Copy, Debug)]
struct Formula {
    start: f32,
    large: f32,
    surprise: f32,
    /// Standard deviation of an estimate from one game with [`USUAL_MOVES`] moves for each point of the board, without
    /// [`SYSTEMATIC_ERROR`].
    spread: f32,
}

/// Moves of one player for each point of the board in a usual game.
const USUAL_MOVES: f32 = 0.36;

/// Standard deviation of the error that does not vanish with more games, in ranks: the formula may be wrong for a
/// player's style. Means of five held-back games were off by 3.0 ranks on 9×9, 2.5 on 13×13 and 2.9 on 19×19.
const SYSTEMATIC_ERROR: f32 = 2.5;

/// Smallest probability of a move that the formula distinguishes. Differences between improbable moves mean little.
const MIN_PROBABILITY: f32 = 1e-4;

/// Formulas by length of the side. Those for 9×9 and 13×13 were fitted to games of Kosumi's ranks, the one for 19×19 to
/// games of people (`scripts/rank_estimate`, docs/ranks.md). Other boards use the nearest one.
const FORMULAS: [(f32, Formula); 3] = [
    (9.0, Formula { start: -0.8, large: 10.3, surprise: 7.8, spread: 4.1 }),
    (13.0, Formula { start: -7.3, large: 5.5, surprise: 9.6, spread: 2.4 }),
    (19.0, Formula { start: -4.1, large: 3.6, surprise: 5.6, spread: 2.0 }),
];

/// Creates the engine that searches the positions for [`PlayedMoves::of`]. `small` is the small built-in network.
pub fn rank_judge(small: Arc<Network>, rules: Rules) -> Engine {
    let settings =
        EngineSettings { threads: 1, memory_mebibytes: MEMORY_MEBIBYTES, rules, ..EngineSettings::default() };
    Engine::with_network(settings, Some(small))
}

impl PlayedMoves {
    /// Measures the moves of a game. Returns `None` if `is_interrupted` became true.
    pub fn of(
        line: &MainLine,
        judge: &mut Engine,
        is_interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Option<PlayedMoves> {
        judge.forget();
        let limits = Limits { playouts: Some(PLAYOUTS), ..Limits::default() };
        // The lead at each position, and the probability of the next move of the game.
        let mut found: Vec<Option<(f32, f32)>> = vec![None; line.steps().len()];
        line.backwards(|index, game| {
            if line.steps()[index].moves <= MAX_MOVES && !game.is_over() && !is_interrupted() {
                judge.set_game(game.clone());
                let report = judge.analyze(game.to_move(), &limits, SearchRequest::new(is_interrupted));
                let probability = match line.steps().get(index + 1).map(|next| &next.change) {
                    Some(Change::Move { mv, .. }) => report.find(*mv).map(|entry| entry.prior.probability()),
                    _ => None,
                };
                found[index] = Some((report.score, probability.unwrap_or(0.0)));
            }
        });
        if is_interrupted() {
            return None;
        }
        let mut moves = ByColor::<Vec<JudgedMove>>::default();
        for (index, pair) in line.steps().windows(2).enumerate() {
            let Change::Move { color, mv, .. } = pair[1].change else { continue };
            // A pass loses nothing on a settled board, and gives no information about a rank.
            if let (Some((before, probability)), Some((after, _)), Move::Play(_)) =
                (found[index], found[index + 1], mv)
            {
                moves[color].push(JudgedMove {
                    number: pair[1].moves,
                    loss: (before - after) * color.sign() as f32,
                    surprise: -probability.max(MIN_PROBABILITY).ln(),
                });
            }
        }
        Some(PlayedMoves { size: line.size(), moves })
    }

    /// Returns the features of a player's moves; `None` if there are too few moves.
    pub fn features(&self, color: Color) -> Option<RankFeatures> {
        let area = self.size.area() as f32;
        let side = area.sqrt();
        let most = largest_loss(side);
        let own = &self.moves[color];
        let clamped = |it: &JudgedMove| it.loss.clamp(-most, most);
        let mean = |part: &[f32]| part.iter().sum::<f32>() / part.len() as f32;
        let phase = |number: usize| PHASE_ENDS.iter().filter(|&&end| number as f32 > end * area).count();
        let phases = [0, 1, 2].map(|wanted| {
            let part = own.iter().filter(|it| phase(it.number) == wanted);
            let part: Vec<f32> = part.map(clamped).collect();
            (!part.is_empty()).then(|| mean(&part))
        });
        let all: Vec<f32> = own.iter().map(clamped).collect();
        let surprises: Vec<f32> = own.iter().map(|it| it.surprise).collect();
        let large = all.iter().filter(|&&loss| loss > large_loss(side)).count();
        (all.len() >= MIN_MOVES).then(|| RankFeatures {
            side,
            moves: all.len(),
            mean_loss: mean(&all),
            surprise: mean(&surprises),
            large_share: large as f32 / all.len() as f32,
            phases,
        })
    }
}

impl RankFeatures {
    fn formula(&self) -> &'static Formula {
        let distance = |at: f32| (at - self.side).abs();
        let nearest = FORMULAS.iter().min_by(|a, b| distance(a.0).total_cmp(&distance(b.0)));
        nearest.map_or(&FORMULAS[0].1, |(_, formula)| formula)
    }

    /// Returns the estimate from this game alone, and its variance without the systematic error.
    fn estimate(&self) -> (f32, f32) {
        let formula = self.formula();
        let steps =
            formula.start + formula.large * self.large_share.sqrt() + formula.surprise * self.surprise;
        let usual = USUAL_MOVES * self.side * self.side;
        (steps, formula.spread * formula.spread * usual / self.moves as f32)
    }
}

impl RankEstimate {
    /// Estimates the rank of a player from the features of games; `None` without games.
    pub fn of(games: &[RankFeatures]) -> Option<RankEstimate> {
        let found: Vec<(f32, f32)> = games.iter().map(RankFeatures::estimate).collect();
        let weight: f32 = found.iter().map(|&(_, variance)| 1.0 / variance).sum();
        let sum: f32 = found.iter().map(|&(steps, variance)| steps / variance).sum();
        (weight > 0.0).then(|| RankEstimate {
            steps: sum / weight,
            error: (1.0 / weight + SYSTEMATIC_ERROR * SYSTEMATIC_ERROR).sqrt(),
        })
    }

    /// Returns the rank nearest to the estimate.
    pub fn rank(&self) -> Rank {
        rank_at(self.steps)
    }

    /// Returns the ranks at the ends of the 90 % interval: the stronger rank first.
    pub fn interval(&self) -> (Rank, Rank) {
        let half = 1.645 * self.error;
        (rank_at(self.steps - half), rank_at(self.steps + half))
    }
}

/// Returns the rank that is this number of ranks below 10 dan, or the last one of the scale.
fn rank_at(steps: f32) -> Rank {
    Rank::STRONGEST.weaker((steps.round() - 1.0) as i16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::sgf::Record;

    fn line(text: &str) -> MainLine {
        let record = Record::parse(text.as_bytes()).unwrap();
        MainLine::of_record(&record, Rules::default(), 7.0).unwrap()
    }

    /// Returns moves of both players that all lose the same. The more they lose, the more unexpected they are.
    fn moves(side: usize, count: usize, loss: f32) -> PlayedMoves {
        let one = |index| JudgedMove { number: 2 * index + 1, loss, surprise: 1.0 + 0.3 * loss };
        PlayedMoves {
            size: BoardSize::square(side).unwrap(),
            moves: ByColor::new((0..count).map(one).collect(), Vec::new()),
        }
    }

    #[test]
    fn features_are_means_over_a_players_moves() {
        let mut played = moves(9, 20, 1.0);
        played.moves[Color::Black][3].loss = 100.0;
        played.moves[Color::Black][3].surprise = 3.3;
        let features = played.features(Color::Black).unwrap();
        assert_eq!((features.moves, features.side, features.large_share), (20, 9.0, 0.05));
        assert!((features.surprise - 1.4).abs() < 1e-5);
        assert!((features.mean_loss - (19.0 + largest_loss(9.0)) / 20.0).abs() < 1e-5);
        // Moves 1, 3, …, 11 are in the opening, and those up to 34 in the middle game.
        let opening = (5.0 + largest_loss(9.0)) / 6.0;
        assert!((features.phases[0].unwrap() - opening).abs() < 1e-5 && features.phases[1] == Some(1.0));
        assert_eq!(moves(9, 9, 1.0).features(Color::Black), None);
        assert_eq!(played.features(Color::White), None);
        assert_eq!(moves(9, 10, 1.0).features(Color::Black).unwrap().phases[2], None);
    }

    #[test]
    fn who_loses_more_is_weaker_and_more_games_are_surer() {
        for side in [5, 9, 11, 13, 19] {
            let estimate = |count: usize, loss| {
                let one = moves(side, side * side / 4 + 10, loss).features(Color::Black).unwrap();
                RankEstimate::of(&vec![one; count]).unwrap()
            };
            for pair in [0.0, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0].windows(2) {
                assert!(estimate(1, pair[0]).steps < estimate(1, pair[1]).steps, "{side} {pair:?}");
            }
            let (one, many) = (estimate(1, 2.0), estimate(20, 2.0));
            assert!((one.steps - many.steps).abs() < 1e-3 && many.error < one.error);
            assert!(many.error >= SYSTEMATIC_ERROR);
            let (strong, weak) = one.interval();
            let steps = |rank: Rank| rank.steps_below_ten_dan();
            assert!(steps(strong) <= steps(one.rank()) && steps(one.rank()) <= steps(weak));
        }
        assert_eq!(RankEstimate::of(&[]), None);
        let far = RankEstimate { steps: 1e9, error: 1.0 };
        assert_eq!((far.rank().to_string(), rank_at(-1e9).to_string()), ("30k".to_owned(), "9d".to_owned()));
    }

    #[test]
    fn a_thrown_away_group_is_seen() {
        // Black fills the second line, and White the first one, where all of White's stones die.
        let columns = ["a", "b", "c", "d", "e", "f"];
        let text: String = columns.iter().map(|column| format!(";B[{column}b];W[{column}a]")).collect();
        let later = ";B[gb];W[];B[dd];W[];B[ee];W[];B[cc];W[]";
        let line = line(&format!("(;SZ[7]{text}{later})"));
        let small = Arc::new(Network::built_in(kosumi_net::BuiltIn::Small).unwrap());
        let mut judge = rank_judge(small, Rules::default());
        let played = PlayedMoves::of(&line, &mut judge, &|| false).unwrap();
        let sum = |color, part: fn(&JudgedMove) -> f32| played.moves[color].iter().map(part).sum::<f32>();
        assert_eq!(played.moves[Color::Black].len(), 10);
        assert_eq!(played.moves[Color::White].len(), 6, "passes do not count");
        let loss = |color| sum(color, |it| it.loss);
        assert!(loss(Color::White) > loss(Color::Black) + 10.0, "{played:?}");
        let is_possible = |it: &JudgedMove| (0.0..9.3).contains(&it.surprise);
        assert!(Color::BOTH.into_iter().all(|color| played.moves[color].iter().all(is_possible)));
        // Measures the same game again, and then with an interruption.
        assert_eq!(PlayedMoves::of(&line, &mut judge, &|| false).unwrap(), played);
        assert_eq!(PlayedMoves::of(&line, &mut judge, &|| true), None);
    }
}
