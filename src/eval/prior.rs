//! Heuristic priors: knowledge about a move before it is searched, as equivalent visits.
//!
//! CITE: Gelly and Silver, "Combining online and offline knowledge in UCT" (2007), for priors as equivalent visits;
//! Baudiš and Gailly, "Pachi" (2011), for the kinds of knowledge: even game, captures, self-atari, patterns, distance
//! in the common fate graph, the border.

use kosumi_go::board::{Board, Cell, Color, Move, Point};
use kosumi_go::game::Line;
use kosumi_go::playout::pattern;
use kosumi_go::tactics::{self, LadderReader};
use smallvec::SmallVec;

/// Prior of a move. The evaluator determines its kind, and the selection formula of the search must match it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Prior {
    /// Equivalent visits that the move is credited with.
    Games(EquivalentVisits),
    /// Probability that the move is the one to play, in `[0, 1]`.
    Probability(f32),
}

/// Bit of a packed prior that distinguishes probabilities from equivalent visits: the sign bit of the float.
const PROBABILITY: u16 = 1 << 15;

impl Prior {
    /// Ten equivalent visits with five wins, which keep the first result from deciding everything.
    pub const EVEN: Prior = Prior::Games(EquivalentVisits { weight: 10, wins: 5 });

    /// Packs the prior into two bytes. Equivalent visits are exact. A probability has a relative error of at most a
    /// part in 256 (the upper half of its float).
    #[inline]
    pub fn pack(self) -> u16 {
        match self {
            Prior::Games(games) => u16::from(games.weight) << 8 | u16::from(games.wins),
            Prior::Probability(probability) => {
                let bits = probability.clamp(0.0, 1.0).to_bits();
                // Rounding to nearest cannot overflow, because the largest probability, 1, is exact.
                PROBABILITY | ((bits + (1 << 15)) >> 16) as u16
            }
        }
    }

    /// Unpacks the result of [`pack`](Prior::pack).
    #[inline]
    pub fn unpack(packed: u16) -> Prior {
        if packed & PROBABILITY == 0 {
            Prior::Games(EquivalentVisits { weight: (packed >> 8) as u8, wins: packed as u8 })
        } else {
            Prior::Probability(f32::from_bits(u32::from(packed ^ PROBABILITY) << 16))
        }
    }

    /// Returns the equivalent visits, or none for a probability.
    #[inline]
    pub fn games(self) -> EquivalentVisits {
        match self {
            Prior::Games(games) => games,
            Prior::Probability(_) => EquivalentVisits::default(),
        }
    }

    /// Returns a number that orders moves by their priors: the probability, or the equivalent wins.
    #[inline]
    pub fn ordering_key(self) -> f32 {
        match self {
            Prior::Games(games) => f32::from(games.wins),
            Prior::Probability(probability) => probability,
        }
    }

    /// Returns the probability, or 0 for equivalent visits.
    #[inline]
    pub fn probability(self) -> f32 {
        match self {
            Prior::Games(_) => 0.0,
            Prior::Probability(probability) => probability,
        }
    }
}

/// Equivalent visits and wins that a move is credited with, from the perspective of the side that makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EquivalentVisits {
    /// Number of equivalent visits, at most [`EquivalentVisits::MAX`].
    pub weight: u8,
    /// Number of equivalent wins, at most `weight`.
    pub wins: u8,
}

impl EquivalentVisits {
    /// Largest number of equivalent visits.
    pub const MAX: u8 = 127;

    /// Returns the value for the side that makes the move, in `[-1, 1]`, or 0 without visits.
    #[inline]
    pub fn value(self) -> f32 {
        if self.weight == 0 { 0.0 } else { 2.0 * f32::from(self.wins) / f32::from(self.weight) - 1.0 }
    }

    /// Adds `games` equivalent visits, all won or all lost.
    fn add(&mut self, games: u8, won: bool) {
        let weight = self.weight.saturating_add(games).min(EquivalentVisits::MAX);
        if won {
            self.wins = self.wins.saturating_add(weight - self.weight);
        }
        self.weight = weight;
    }
}

/// Equivalent visits for each kind of knowledge. All were tuned against GNU Go; 0 switches a kind off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PriorWeights {
    /// Visits of every move, half of them won.
    pub even: u8,
    /// Losses of a move that puts itself in atari.
    pub self_atari: u8,
    /// Wins of a move that captures a single stone.
    pub capture_one: u8,
    /// Wins of a move that captures more than one stone.
    pub capture_many: u8,
    /// Wins of a move that saves a chain from atari.
    pub escape: u8,
    /// Wins of a move that catches a chain in a ladder.
    pub ladder: u8,
    /// Wins of a move that matches a 3×3 pattern.
    pub pattern: u8,
    /// Wins of a move at distance 1, 2 or 3 from the last move in the common fate graph.
    pub near: [u8; 3],
    /// Losses of a move on the first line without stones nearby.
    pub first_line: u8,
    /// Losses of a move on the second line without stones nearby.
    pub second_line: u8,
    /// Wins of a move on the third or fourth line without stones nearby.
    pub good_line: u8,
    /// Losses of a pass.
    pub pass: u8,
}

impl Default for PriorWeights {
    fn default() -> PriorWeights {
        PriorWeights {
            even: 10,
            self_atari: 10,
            capture_one: 15,
            capture_many: 30,
            escape: 15,
            ladder: 20,
            pattern: 10,
            near: [24, 22, 8],
            first_line: 10,
            second_line: 10,
            good_line: 10,
            pass: 10,
        }
    }
}

/// Largest number of positions in the reading of a ladder.
pub const LADDER_LIMIT: u32 = 200;

/// Appends the moves worth searching with their priors: every legal point except one-point eyes of the side to move,
/// and the pass.
pub fn moves_with_priors(
    line: &Line<'_>,
    weights: &PriorWeights,
    reader: &mut LadderReader,
    moves: &mut Vec<(Move, Prior)>,
) {
    let board = line.board();
    let color = line.to_move();
    let mut distance = [u8::MAX; kosumi_go::board::point::GRID];
    if let Move::Play(last) = line.last_moves()[0] {
        tactics::common_fate_distance(board, last, 3, &mut distance);
    }
    let hot = HotPoints::find(board, color, reader);
    for point in board.size().points() {
        if board.cell(point) != Cell::Empty || board.is_eyelike(point, color) || line.check(point).is_err() {
            continue;
        }
        let prior = point_prior(board, color, point, weights, distance[point.index()], &hot);
        moves.push((Move::Play(point), Prior::Games(prior)));
    }
    let mut pass = EquivalentVisits { weight: weights.even, wins: weights.even / 2 };
    pass.add(weights.pass, false);
    moves.push((Move::Pass, Prior::Games(pass)));
}

fn point_prior(
    board: &Board,
    color: Color,
    point: Point,
    weights: &PriorWeights,
    distance: u8,
    hot: &HotPoints,
) -> EquivalentVisits {
    let mut prior = EquivalentVisits { weight: weights.even, wins: weights.even / 2 };
    let self_atari = tactics::is_self_atari(board, point, color);
    if self_atari {
        prior.add(weights.self_atari, false);
    }
    match captured_stones(board, point, color) {
        0 => {}
        1 => prior.add(weights.capture_one, true),
        _ => prior.add(weights.capture_many, true),
    }
    if hot.escapes.contains(&point) && !self_atari {
        prior.add(weights.escape, true);
    }
    if hot.ladders.contains(&point) {
        prior.add(weights.ladder, true);
    }
    if !self_atari && pattern::matches(board, point, color) {
        prior.add(weights.pattern, true);
    }
    if let Some(&weight) = weights.near.get(usize::from(distance).wrapping_sub(1)) {
        prior.add(weight, true);
    }
    let lonely = tactics::has_no_stone_near(board, point, 3);
    if lonely {
        match board.size().line(point) {
            1 => prior.add(weights.first_line, false),
            2 => prior.add(weights.second_line, false),
            3 | 4 => prior.add(weights.good_line, true),
            _ => {}
        }
    }
    prior
}

/// Returns the number of stones that a move captures.
fn captured_stones(board: &Board, point: Point, color: Color) -> usize {
    let enemy = Cell::from(color.opponent());
    let mut anchors: SmallVec<[Point; 4]> = SmallVec::new();
    for neighbour in point.adjacent() {
        if board.cell(neighbour) == enemy && board.in_atari(neighbour) {
            let anchor = board.anchor(neighbour);
            if !anchors.contains(&anchor) {
                anchors.push(anchor);
            }
        }
    }
    anchors.iter().map(|&anchor| board.chain_len(anchor)).sum()
}

/// Points that save or catch a chain, found in one pass over all chains.
#[derive(Default)]
struct HotPoints {
    escapes: SmallVec<[Point; 16]>,
    ladders: SmallVec<[Point; 16]>,
}

impl HotPoints {
    fn find(board: &Board, color: Color, reader: &mut LadderReader) -> HotPoints {
        let mut hot = HotPoints::default();
        for (point, owner) in board.stones() {
            if board.anchor(point) != point {
                continue;
            }
            if owner == color && board.in_atari(point) {
                if reader.escapes(board, point) {
                    let mut captures: SmallVec<[Point; 8]> = SmallVec::new();
                    tactics::adjacent_captures(board, point, &mut captures);
                    hot.escapes.extend(captures);
                    hot.escapes.extend(board.atari_liberty(point));
                }
            } else if owner != color
                && let Some(attack) = reader.capture(board, point)
            {
                hot.ladders.push(attack);
            }
        }
        hot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_prior_is_the_same_prior() {
        for weight in 0..=EquivalentVisits::MAX {
            for wins in 0..=weight {
                let prior = Prior::Games(EquivalentVisits { weight, wins });
                assert_eq!(Prior::unpack(prior.pack()), prior);
            }
        }
        for step in 0..=10_000u32 {
            let probability = step as f32 / 10_000.0;
            let Prior::Probability(back) = Prior::unpack(Prior::Probability(probability).pack()) else {
                panic!("{probability} became games");
            };
            assert!((back - probability).abs() <= probability / 256.0, "{probability} became {back}");
        }
        assert_eq!(Prior::unpack(Prior::Probability(2.0).pack()), Prior::Probability(1.0));
        assert_eq!(Prior::unpack(Prior::Probability(0.0).pack()), Prior::Probability(0.0));
    }

    #[test]
    fn games_do_not_overflow() {
        let mut prior = EquivalentVisits::default();
        for _ in 0..10 {
            prior.add(30, true);
        }
        assert_eq!(prior, EquivalentVisits { weight: EquivalentVisits::MAX, wins: EquivalentVisits::MAX });
    }
}
