//! Heuristic playout policy: local replies to the latest moves, otherwise random sensible moves.
//!
//! CITE: Gelly, Wang, Munos, Teytaud (2006) for the sequence atari, pattern, random around the last move; Enzenberger,
//! Müller et al., "Fuego" (2010) for nakade and low-liberty moves as further stages. The gain of each stage in games is
//! in the change log.

use super::pattern;
use super::policy::{PlayoutPolicy, is_playable, pick};
use crate::board::{Board, Cell, Color, Move, Point};
use crate::rng::Rng;
use crate::tactics;
use smallvec::SmallVec;

/// Probabilities of the stages of the policy, in thousandths. All were tuned against GNU Go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeuristicProbabilities {
    /// Plays the vital point of a small eye next to the last move.
    pub nakade: u32,
    /// Captures or escapes where the last move gave or left an atari.
    pub atari: u32,
    /// Defends or attacks chains with two liberties next to the last move.
    pub low_liberties: u32,
    /// Plays a 3×3 pattern next to the last moves.
    pub pattern: u32,
    /// Rejects a self-atari among the random moves. Throw-ins destroy eyes, so the probability is below 1.
    pub refuse_self_atari: u32,
}

impl Default for HeuristicProbabilities {
    fn default() -> HeuristicProbabilities {
        HeuristicProbabilities {
            nakade: 800,
            atari: 900,
            low_liberties: 250,
            pattern: 950,
            refuse_self_atari: 900,
        }
    }
}

type Candidates = SmallVec<[Point; 16]>;

/// Playout policy of local replies; see the [module documentation](self).
#[derive(Clone, Debug, Default)]
pub struct HeuristicPolicy {
    rates: HeuristicProbabilities,
    candidates: Candidates,
}

impl HeuristicPolicy {
    /// Creates a policy with these probabilities.
    pub fn new(rates: HeuristicProbabilities) -> HeuristicPolicy {
        HeuristicPolicy { rates, candidates: Candidates::new() }
    }

    /// Returns a random candidate, if there are any.
    fn pick_candidate(&mut self, rng: &mut Rng) -> Option<Point> {
        match self.candidates.len() {
            0 => None,
            1 => Some(self.candidates[0]),
            count => Some(self.candidates[rng.below(count as u32) as usize]),
        }
    }

    fn add(&mut self, point: Point) {
        if !self.candidates.contains(&point) {
            self.candidates.push(point);
        }
    }

    fn nakade(&mut self, board: &Board, color: Color, last: Point) {
        for neighbour in last.adjacent() {
            if board.cell(neighbour) == Cell::Empty
                && let Some(vital) = tactics::vital_point(board, neighbour)
                && is_legal(board, vital, color)
            {
                self.add(vital);
            }
        }
    }

    /// Adds captures of the last stone, and rescues of chains of `color` that it put in atari.
    fn atari(&mut self, board: &Board, color: Color, last: Point) {
        if let Some(liberty) = board.cell(last).color().and_then(|_| board.atari_liberty(last))
            && board.cell(last) == Cell::from(color.opponent())
            && is_legal(board, liberty, color)
        {
            self.add(liberty);
        }
        for neighbour in last.adjacent() {
            if board.cell(neighbour) != Cell::from(color) {
                continue;
            }
            let Some(liberty) = board.atari_liberty(neighbour) else { continue };
            let mut captures: SmallVec<[Point; 8]> = SmallVec::new();
            tactics::adjacent_captures(board, neighbour, &mut captures);
            for &capture in &captures {
                if is_legal(board, capture, color) {
                    self.add(capture);
                }
            }
            if is_legal(board, liberty, color) && tactics::liberties_after::<2>(board, liberty, color) >= 2 {
                self.add(liberty);
            }
        }
    }

    /// Adds moves around the last move that give a chain of `color` with two liberties a third one, and moves that put
    /// such a chain of the opponent in atari.
    fn low_liberties(&mut self, board: &Board, color: Color, last: Point) {
        let mut seen: SmallVec<[Point; 4]> = SmallVec::new();
        let around = std::iter::once(last).chain(last.adjacent());
        for stone in around {
            let Some(owner) = board.cell(stone).color() else { continue };
            let anchor = board.anchor(stone);
            if seen.contains(&anchor) {
                continue;
            }
            seen.push(anchor);
            let (count, liberties) = board.liberties::<3>(stone);
            if count != 2 {
                continue;
            }
            for &liberty in &liberties[..2] {
                let least_liberties = if owner == color { 3 } else { 2 };
                if is_legal(board, liberty, color)
                    && tactics::liberties_after::<3>(board, liberty, color) >= least_liberties
                {
                    self.add(liberty);
                }
            }
        }
    }

    fn patterns(&mut self, board: &Board, color: Color, last: Point) {
        for direction in 0..8 {
            let point = last.step(direction);
            if board.cell(point) == Cell::Empty
                && pattern::matches(board, point, color)
                && is_playable(board, point, color)
                && !tactics::is_self_atari(board, point, color)
            {
                self.add(point);
            }
        }
    }
}

#[inline]
fn is_legal(board: &Board, point: Point, color: Color) -> bool {
    !board.is_ko(point, color) && !board.is_suicide(point, color)
}

impl PlayoutPolicy for HeuristicPolicy {
    fn choose(&mut self, board: &Board, color: Color, last: [Move; 2], rng: &mut Rng) -> Option<Point> {
        self.candidates.clear();
        if let Move::Play(last_point) = last[0] {
            let rates = self.rates;
            if rng.chance(rates.nakade) {
                self.nakade(board, color, last_point);
                if let Some(point) = self.pick_candidate(rng) {
                    return Some(point);
                }
            }
            if rng.chance(rates.atari) {
                self.atari(board, color, last_point);
                if let Some(point) = self.pick_candidate(rng) {
                    return Some(point);
                }
            }
            if rates.low_liberties > 0 && rng.chance(rates.low_liberties) {
                self.low_liberties(board, color, last_point);
                if let Some(point) = self.pick_candidate(rng) {
                    return Some(point);
                }
            }
            if rng.chance(rates.pattern) {
                self.patterns(board, color, last_point);
                if let Some(point) = self.pick_candidate(rng) {
                    return Some(point);
                }
                if let Move::Play(before) = last[1] {
                    self.patterns(board, color, before);
                    if let Some(point) = self.pick_candidate(rng) {
                        return Some(point);
                    }
                }
            }
        }
        let refuse = self.rates.refuse_self_atari;
        pick(board, rng, |point, rng| {
            is_playable(board, point, color)
                && !(rng.chance(refuse) && tactics::is_self_atari(board, point, color))
        })
    }
}
