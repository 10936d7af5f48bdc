//! Tactical reading of several chains at once: moves that threaten two chains.

use super::problems::{Aim, Question, QuestionError, Success, read};
use super::region::Region;
use kosumi_go::board::{Board, Cell, Color, Move, Point, PointSet};

/// Reason why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MultiChainError {
    /// The node budget was used up.
    #[error("the search ended without a result")]
    Undecided,
    /// See [`QuestionError`].
    #[error(transparent)]
    Question(#[from] QuestionError),
}

/// Tactical reading of several chains, as with [`Aim::Chain`], with one node budget for all readings.
#[derive(Debug)]
pub struct MultiChainReader {
    /// Whether a move may remove its own chain of two or more stones.
    pub suicide: bool,
    /// Size of each transposition table, in bytes.
    pub memory: usize,
    /// Number of nodes that may still be searched.
    pub nodes: u64,
}

impl MultiChainReader {
    /// Reads whether the chain is captured if `first` moves first.
    ///
    /// # Errors
    ///
    /// Returns an error if the node budget is used up or the question is invalid.
    pub fn captured(
        &mut self,
        board: &Board,
        point: Point,
        first: Color,
    ) -> Result<Success, MultiChainError> {
        let region = Region::EMPTY;
        let MultiChainReader { suicide, memory, nodes: most } = *self;
        let question =
            Question { board, region: &region, aim: Aim::Chain(point), suicide, memory, threads: 1 };
        let reading = read(&question, first, &|nodes| nodes >= most)?;
        // Even the shortest question uses a node.
        self.nodes = most.saturating_sub(reading.nodes.max(1));
        if reading.success == Success::Unknown {
            Err(MultiChainError::Undecided)
        } else {
            Ok(reading.success)
        }
    }

    /// Returns a move of `attacker` after which one of these chains of the opponent is captured whatever the reply,
    /// although none of them can be captured by itself. Returns `None` if no move near the chains does so.
    ///
    /// # Errors
    ///
    /// Returns an error if the node budget is used up or a question is invalid.
    pub fn combination(
        &mut self,
        board: &Board,
        chains: &[Point],
        attacker: Color,
    ) -> Result<Option<Move>, MultiChainError> {
        let mut targets = Vec::new();
        for &chain in chains {
            if self.captured(board, chain, attacker)? == Success::No {
                targets.push(chain);
            }
        }
        for mv in near(board, &targets, 2).iter() {
            if !self.is_legal(board, mv, attacker) {
                continue;
            }
            let mut after = *board;
            after.play_unchecked(mv, attacker);
            // Only chains near the move can have become weaker.
            let close: Vec<Point> =
                targets.iter().copied().filter(|&target| near(board, &[target], 2).contains(mv)).collect();
            let mut threatened = Vec::new();
            for target in close {
                if self.captured(&after, target, attacker)? == Success::Yes {
                    threatened.push(target);
                }
            }
            // A single threat has an answer.
            if threatened.len() > 1 && !self.has_answer(&after, &threatened, attacker.opponent(), false)? {
                return Ok(Some(Move::Play(mv)));
            }
        }
        Ok(None)
    }

    /// Returns whether the owner can certainly save all the chains by moving first.
    ///
    /// # Errors
    ///
    /// Returns an error if the node budget is used up or a question is invalid.
    pub fn saves_all(
        &mut self,
        board: &Board,
        chains: &[Point],
        owner: Color,
    ) -> Result<bool, MultiChainError> {
        self.has_answer(board, chains, owner, true)
    }

    /// Returns whether there is a move after which none of the chains is captured. With `certain`, ko and combinations
    /// count as captures.
    fn has_answer(
        &mut self,
        board: &Board,
        chains: &[Point],
        owner: Color,
        certain: bool,
    ) -> Result<bool, MultiChainError> {
        for mv in board.empties() {
            if !self.is_legal(board, *mv, owner) {
                continue;
            }
            let mut after = *board;
            after.play_unchecked(*mv, owner);
            let mut all_stay = true;
            for &chain in chains {
                all_stay = after.cell(chain) == Cell::from(owner)
                    && match self.captured(&after, chain, owner.opponent())? {
                        Success::No => true,
                        Success::Yes => false,
                        _ => !certain,
                    };
                if !all_stay {
                    break;
                }
            }
            if all_stay && (!certain || self.combination(&after, chains, owner.opponent())?.is_none()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_legal(&self, board: &Board, point: Point, color: Color) -> bool {
        let suicide =
            board.is_suicide(point, color) && (!self.suicide || board.is_single_stone_suicide(point, color));
        !suicide && !board.is_ko(point, color)
    }
}

/// Returns the empty points within `steps` steps over empty points from these chains, and from adjacent chains with at
/// most two liberties.
fn near(board: &Board, chains: &[Point], steps: usize) -> PointSet {
    let mut level = PointSet::EMPTY;
    for &chain in chains {
        level.extend_from(board.chain(chain));
        for next in board.chain(chain).flat_map(Point::adjacent) {
            if board.cell(next).color().is_some() && board.liberty_count(next) <= 2 {
                level.extend_from(board.chain(next));
            }
        }
    }
    let mut found = PointSet::EMPTY;
    for _ in 0..steps {
        let around = level.iter().flat_map(Point::adjacent).filter(|&next| board.cell(next) == Cell::Empty);
        level = around.collect();
        found.union_with(&level);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double() -> MultiChainReader {
        MultiChainReader { suicide: false, memory: 1 << 20, nodes: 200_000 }
    }

    fn at(board: &Board, vertex: &str) -> Point {
        board.size().points().find(|point| point.to_string() == vertex).unwrap()
    }

    #[test]
    fn a_move_that_threatens_two_chains_is_found() {
        // Each stone escapes if it is attacked by itself; a move between them puts both in atari.
        let empty = "...........\n";
        let drawing =
            empty.repeat(4) + "....X.X....\n...XO.OX...\n...........\n....O.O....\n" + &empty.repeat(3);
        let board: Board = drawing.parse().unwrap();
        let chains = [at(&board, "E6"), at(&board, "G6")];
        for chain in chains {
            assert_eq!(double().captured(&board, chain, Color::Black), Ok(Success::No));
        }
        let found = double().combination(&board, &chains, Color::Black).unwrap();
        assert_eq!(found, Some(Move::Play(at(&board, "F6"))));
        // Another stone makes one of the chains safe.
        let safe = drawing.replacen("...XO.OX...\n...........", "...XO.OX...\n....O......", 1);
        let board: Board = safe.parse().unwrap();
        assert_eq!(double().combination(&board, &chains, Color::Black), Ok(None));
    }

    #[test]
    fn exhausted_node_budget_is_an_error() {
        let board: Board = ".....\n.XO..\n.XO..\n..X..\n.....".parse().unwrap();
        let mut none = MultiChainReader { nodes: 0, ..double() };
        assert_eq!(
            none.combination(&board, &[at(&board, "C3")], Color::Black),
            Err(MultiChainError::Undecided)
        );
        assert_eq!(double().combination(&board, &[], Color::Black), Ok(None));
    }
}
