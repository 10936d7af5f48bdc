//! Keys of the nodes in the search graph. Two histories share a key only if they do not differ in anything relevant.
//!
//! The *state key* covers everything that the next moves directly depend on: stones, side to move, consecutive passes,
//! the simple-ko point or the set of points that superko forbids now, rules and komi, the owner of the button, and,
//! under territory scoring, the difference in prisoners. If the position could recur soon, earlier positions also
//! matter for later superko bans. In that case the key of the previous position is folded in, and only the same
//! sequence of moves shares the node. In all other cases the history is forgotten and transpositions share a node.
//!
//! CITE: David Wu, KataGo's graph hash with its repetition bound (`docs/GraphSearch.md`, 2022). In contrast to KataGo,
//! a game under simple ko always forgets its history, because only the ko point depends on the past. The search ends
//! true cycles when it meets a node of its own path again.

use crate::board::{Board, Color, Key, Move, Point, PointSet};
use crate::rng::mix;
use crate::rules::{KoRule, Rules, Scoring};

/// Bound on the size of a chain with its adjoining empty regions, in points. After a move that exceeds it, the history
/// is forgotten, because the position cannot recur within this number of moves.
pub const REPETITION_BOUND: usize = 11;

/// Whether positions that were reached by different moves share a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NodeSharing {
    /// Positions share nodes: the search is over a graph.
    #[default]
    Graph,
    /// Every sequence of moves has its own node: the search is over a tree.
    Tree,
}

/// Returns a salt for everything that is constant in a game: rules and komi.
pub fn rules_salt(rules: Rules, komi: f32) -> Key {
    let code = mix(rules.code() | 1 << 63);
    let high = mix(code ^ u64::from(komi.to_bits()));
    Key(u128::from(high) << 64 | u128::from(mix(high ^ code)))
}

/// State that the next moves and the result directly depend on.
#[derive(Clone, Copy, Debug)]
pub struct GameState<'b> {
    /// Salt for the properties that are constant in a game, see [`rules_salt`].
    pub salt: Key,
    /// Rules of the game.
    pub rules: Rules,
    /// The stones.
    pub board: &'b Board,
    /// Side to move.
    pub to_move: Color,
    /// Number of consecutive passes.
    pub passes: u8,
    /// Side that has taken the button, if any.
    pub button: Option<Color>,
}

impl GameState<'_> {
    /// Returns the key of the state. `banned` are the points that only superko forbids.
    pub fn key(self, banned: impl Iterator<Item = Point>) -> Key {
        let zobrist = self.board.zobrist();
        let mut key = self.board.key() ^ self.salt ^ zobrist.side(self.to_move) ^ zobrist.passes(self.passes);
        if self.rules.scoring == Scoring::Territory {
            // A position is worth more to the side that has taken more prisoners.
            let lost = |color| i64::from(self.board.prisoners(color));
            let lead = lost(Color::White) - lost(Color::Black);
            if lead != 0 {
                key ^= mixed(lead as u64);
            }
        }
        if let Some(color) = self.button {
            // The button is worth half a point and cannot be taken again.
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

/// Returns 128 bits that depend on all bits of a number.
fn mixed(number: u64) -> Key {
    let high = mix(number);
    Key(u128::from(high) << 64 | u128::from(mix(high)))
}

/// Returns the key of the node that `mv` leads to from a node with key `previous`. `board` is the position after the
/// move and `state` its state key.
pub fn next_key(
    sharing: NodeSharing,
    rule: KoRule,
    previous: Key,
    mv: Move,
    board: &Board,
    state: Key,
) -> Key {
    let forgets = match sharing {
        NodeSharing::Tree => false,
        NodeSharing::Graph if rule == KoRule::Simple => true,
        NodeSharing::Graph => mv.point().is_some_and(|point| cannot_repeat_soon(board, point)),
    };
    if forgets { state } else { fold(previous, state) }
}

/// Returns the key of a node after a change without a move: of the side to move, or of the number of passes. `previous`
/// is the key before the change, `previous_state` its state key, and `state` the state key after it. The history stays
/// in the key if it was there, because the moves of a node must be legal after every history that leads to it.
pub fn changed_key(previous: Key, previous_state: Key, state: Key) -> Key {
    if previous == previous_state { state } else { fold(previous, state) }
}

/// Combines two keys. The result depends on their order.
fn fold(previous: Key, state: Key) -> Key {
    let (high, low) = ((previous.0 >> 64) as u64, previous.0 as u64);
    let folded_low = mix(low ^ high.rotate_left(32));
    let folded_high = mix(high.wrapping_add(folded_low));
    Key((u128::from(folded_high) << 64 | u128::from(folded_low)).wrapping_add(state.0))
}

/// Returns whether this position needs more than [`REPETITION_BOUND`] moves to recur, judged by the stone just placed
/// on `point`.
///
/// For a repetition, this stone must be captured and played again. If its chain has S stones and the empty regions
/// around it have E points, all of these points must be filled before the capture, so a repetition takes at least S + E
/// − 1 moves.
fn cannot_repeat_soon(board: &Board, point: Point) -> bool {
    if board.cell(point).color().is_none() {
        // The move was a suicide, so the stone is no longer on the board.
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
    fn stones_and_empty_points_bound_the_repetition() {
        // One stone and ten empty points: 11 points do not exceed the bound.
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
