//! Heuristic priors: what is known about a move before it is searched, counted as games.
//!
//! CITE: Gelly and Silver, "Combining online and offline knowledge in UCT" (2007), for priors as equivalent
//! visits; Baudiš and Gailly, "Pachi" (2011), for the kinds of knowledge: even game, captures, self-atari,
//! patterns, distance in the common fate graph, the border.

use kosumi_go::board::{Board, Cell, Color, Move, Point};
use kosumi_go::game::Line;
use kosumi_go::playout::pattern;
use kosumi_go::tactics::{self, LadderReader};
use smallvec::SmallVec;

/// What is known about a move before it is searched. Which of the two it is depends on the evaluator; the formula
/// of the search must fit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Prior {
    /// Games that the move is credited with.
    Games(PriorGames),
    /// How likely the move is the one to play, in `[0, 1]`.
    Probability(f32),
}

/// The bit of a packed prior that tells probabilities from games: the sign of the float.
const PROBABILITY: u16 = 1 << 15;

impl Prior {
    /// Ten games, half of them won: it keeps a first result from deciding everything.
    pub const EVEN: Prior = Prior::Games(PriorGames { weight: 10, wins: 5 });

    /// In two bytes: games exactly, a probability to a part in 256 of itself (the upper half of its float).
    #[inline]
    pub fn pack(self) -> u16 {
        match self {
            Prior::Games(games) => u16::from(games.weight) << 8 | u16::from(games.wins),
            Prior::Probability(probability) => {
                let bits = probability.clamp(0.0, 1.0).to_bits();
                // Rounded to nearest; the largest, 1, is exact and cannot overflow.
                PROBABILITY | ((bits + (1 << 15)) >> 16) as u16
            }
        }
    }

    /// The inverse of [`pack`](Prior::pack).
    #[inline]
    pub fn unpack(packed: u16) -> Prior {
        if packed & PROBABILITY == 0 {
            Prior::Games(PriorGames { weight: (packed >> 8) as u8, wins: packed as u8 })
        } else {
            Prior::Probability(f32::from_bits(u32::from(packed ^ PROBABILITY) << 16))
        }
    }

    /// The games; none for a probability.
    #[inline]
    pub fn games(self) -> PriorGames {
        match self {
            Prior::Games(games) => games,
            Prior::Probability(_) => PriorGames::default(),
        }
    }

    /// A number that orders moves by what is known of them: the probability, or the games won.
    #[inline]
    pub fn merit(self) -> f32 {
        match self {
            Prior::Games(games) => f32::from(games.wins),
            Prior::Probability(probability) => probability,
        }
    }

    /// The probability; 0 for games.
    #[inline]
    pub fn probability(self) -> f32 {
        match self {
            Prior::Games(_) => 0.0,
            Prior::Probability(probability) => probability,
        }
    }
}

/// Wins and games that a move is credited with in advance, for the player who makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PriorGames {
    /// Equivalent visits, at most [`PriorGames::MOST`].
    pub weight: u8,
    /// Equivalent wins, at most `weight`.
    pub wins: u8,
}

impl PriorGames {
    /// Most games that a prior can hold.
    pub const MOST: u8 = 127;

    /// Value for the player who makes the move, in `[-1, 1]`; 0 without games.
    #[inline]
    pub fn value(self) -> f32 {
        if self.weight == 0 { 0.0 } else { 2.0 * f32::from(self.wins) / f32::from(self.weight) - 1.0 }
    }

    /// Adds `games` games, all won or all lost.
    fn add(&mut self, games: u8, won: bool) {
        let weight = self.weight.saturating_add(games).min(PriorGames::MOST);
        if won {
            self.wins = self.wins.saturating_add(weight - self.weight);
        }
        self.weight = weight;
    }
}

/// How many games each kind of knowledge counts for. All were tuned against GNU Go; 0 switches one off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PriorWeights {
    /// Games of every move, half of them won.
    pub even: u8,
    /// Lost: the move puts itself in atari.
    pub self_atari: u8,
    /// Won: the move captures a single stone.
    pub capture_one: u8,
    /// Won: the move captures more.
    pub capture_many: u8,
    /// Won: the move saves a chain from atari.
    pub escape: u8,
    /// Won: the move catches a chain in a ladder.
    pub ladder: u8,
    /// Won: the move makes a 3×3 pattern.
    pub pattern: u8,
    /// Won: the move is 1, 2 or 3 steps from the last one in the common fate graph.
    pub near: [u8; 3],
    /// Lost: first line, and nobody near.
    pub first_line: u8,
    /// Lost: second line, and nobody near.
    pub second_line: u8,
    /// Won: third or fourth line, and nobody near.
    pub good_line: u8,
    /// Lost: the pass.
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

/// Positions that one ladder may be read through.
pub const LADDER_LIMIT: u32 = 200;

/// Writes the moves worth searching with their priors: every legal point but own one-point eyes, and the pass.
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
    let mut pass = PriorGames { weight: weights.even, wins: weights.even / 2 };
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
) -> PriorGames {
    let mut prior = PriorGames { weight: weights.even, wins: weights.even / 2 };
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
    let lonely = tactics::is_lonely(board, point, 3);
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

/// Number of stones a play takes.
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

/// Points that save or catch a chain, found by looking at every chain once.
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
        for weight in 0..=PriorGames::MOST {
            for wins in 0..=weight {
                let prior = Prior::Games(PriorGames { weight, wins });
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
        let mut prior = PriorGames::default();
        for _ in 0..10 {
            prior.add(30, true);
        }
        assert_eq!(prior, PriorGames { weight: PriorGames::MOST, wins: PriorGames::MOST });
    }
}
