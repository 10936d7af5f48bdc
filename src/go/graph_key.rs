//! The key of a node in the search graph: two histories share it only if nothing that matters differs.
//!
//! The *state key* holds what the next moves depend on at once: stones, side to move, consecutive passes, the
//! simple-ko point or the set of points that superko forbids here, rules and komi, who has taken the button, and
//! under territory scoring the difference in prisoners. Where the position could come back soon, what happened
//! before matters to later superko bans too, and the key of the previous position is folded in: such nodes are
//! shared only by the same sequence of moves. Everywhere else, the past is forgotten and transpositions meet.
//!
//! CITE: David Wu, KataGo's graph hash with its repetition bound (`docs/GraphSearch.md`, 2022). Unlike there, a
//! game under simple ko always forgets: nothing but the ko point depends on the past, and true cycles are ended
//! by the search when it meets a node of its own path again.

use crate::board::{Board, Color, Key, Move, Point, PointSet};
use crate::rng::mix;
use crate::rules::{KoRule, Rules, Scoring};

/// After a move whose chain and adjoining empty regions have together more points than this, the history is
/// forgotten: the position cannot repeat within so many moves.
pub const REPETITION_BOUND: usize = 11;

/// Do positions that were reached by different moves share a node?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sharing {
    /// Yes: the search is over a graph.
    #[default]
    Graph,
    /// Never: every sequence of moves has a node of its own, and the search is over a tree.
    Tree,
}

/// A salt for everything that is constant in a game: rules and komi.
pub fn rules_salt(rules: Rules, komi: f32) -> Key {
    let code = mix(rules.code() | 1 << 63);
    let high = mix(code ^ u64::from(komi.to_bits()));
    Key(u128::from(high) << 64 | u128::from(mix(high ^ code)))
}

/// What the next moves and the result depend on at once.
#[derive(Clone, Copy, Debug)]
pub struct State<'b> {
    /// What is constant in the game, see [`rules_salt`].
    pub salt: Key,
    /// The rules.
    pub rules: Rules,
    /// The stones.
    pub board: &'b Board,
    /// Whose turn it is.
    pub to_move: Color,
    /// Consecutive passes.
    pub passes: u8,
    /// Who has taken the button.
    pub button: Option<Color>,
}

impl State<'_> {
    /// The key of the state. `banned` are the points that only superko forbids.
    pub fn key(self, banned: impl Iterator<Item = Point>) -> Key {
        let zobrist = self.board.zobrist();
        let mut key = self.board.key() ^ self.salt ^ zobrist.side(self.to_move) ^ zobrist.passes(self.passes);
        if self.rules.scoring == Scoring::Territory {
            // The same stones are worth more to whoever has taken more prisoners on the way.
            let lost = |color| i64::from(self.board.prisoners(color));
            let lead = lost(Color::White) - lost(Color::Black);
            if lead != 0 {
                key ^= mixed(lead as u64);
            }
        }
        if let Some(color) = self.button {
            // Half a point, and who may still take it.
            key ^= mixed(color as u64 | 1 << 62);
        }
        if self.rules.ko == KoRule::Simple
            && let Some((point, color)) = self.board.ko()
            && color == self.to_move
        {
            key ^= zobrist.ko(point);
        }
        banned.fold(key, |key, point| key ^ zobrist.banned(point))
    }
}

/// 128 bits that depend on all bits of a number.
fn mixed(number: u64) -> Key {
    let high = mix(number);
    Key(u128::from(high) << 64 | u128::from(mix(high)))
}

/// The node key after `mv` led from a node with key `previous` to `board` with the given state key.
pub fn next_key(sharing: Sharing, rule: KoRule, previous: Key, mv: Move, board: &Board, state: Key) -> Key {
    let forgets = match sharing {
        Sharing::Tree => false,
        Sharing::Graph if rule == KoRule::Simple => true,
        Sharing::Graph => mv.point().is_some_and(|point| cannot_repeat_soon(board, point)),
    };
    if forgets { state } else { fold(previous, state) }
}

/// A key that depends on both, and on their order.
fn fold(previous: Key, state: Key) -> Key {
    let (high, low) = ((previous.0 >> 64) as u64, previous.0 as u64);
    let folded_low = mix(low ^ high.rotate_left(32));
    let folded_high = mix(high.wrapping_add(folded_low));
    Key((u128::from(folded_high) << 64 | u128::from(folded_low)).wrapping_add(state.0))
}

/// Does it take more than [`REPETITION_BOUND`] moves for this position to come back, seen from the stone just
/// placed on `point`?
///
/// For a repetition that stone must be captured and played again. Its chain has S stones, the empty regions
/// around it have E points: all of them must be filled before the capture, so at least S + E − 1 moves pass.
fn cannot_repeat_soon(board: &Board, point: Point) -> bool {
    if board.cell(point).color().is_none() {
        // A suicide: the stone is gone already.
        return false;
    }
    let mut count = board.chain_len(point);
    if count > REPETITION_BOUND {
        return true;
    }
    let mut seen = PointSet::EMPTY;
    let mut region = [point; REPETITION_BOUND + 1];
    let mut len = 0;
    let mut visit = |from: Point, region: &mut [Point; REPETITION_BOUND + 1], len: &mut usize| {
        for neighbour in from.adjacent() {
            if board.cell(neighbour) == crate::board::Cell::Empty && seen.insert(neighbour) {
                count += 1;
                if count > REPETITION_BOUND {
                    return true;
                }
                region[*len] = neighbour;
                *len += 1;
            }
        }
        false
    };
    for stone in board.chain(point) {
        if visit(stone, &mut region, &mut len) {
            return true;
        }
    }
    let mut next = 0;
    while next < len {
        if visit(region[next], &mut region, &mut len) {
            return true;
        }
        next += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(drawing: &str, column: usize, row: usize, expected: bool) {
        let board: Board = drawing.parse().expect("drawing");
        assert_eq!(cannot_repeat_soon(&board, Point::new(column, row)), expected, "{drawing}");
    }

    #[test]
    fn stones_and_room_decide_whether_a_position_can_come_back() {
        // One stone and ten empty points: 11, not more than the bound.
        check(
            ". . . . . .
             X . . . . .",
            0,
            0,
            true,
        );
        check(
            ". . . . . O
             X . . . . .",
            0,
            0,
            false,
        );
        // A ko stone.
        check(
            ". X O . . . . .
             X . X O . . . .
             . X O . . . . .",
            2,
            1,
            false,
        );
    }

    #[test]
    fn folding_depends_on_the_order() {
        let (a, b) = (Key(1), Key(2));
        assert_ne!(fold(a, b), fold(b, a));
        assert_ne!(fold(a, b), b);
    }
}
