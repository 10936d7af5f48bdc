//! Several chains at once, by tactical reading: moves that threaten two of them.

use super::problems::{Aim, Question, QuestionError, Success, read};
use super::region::Region;
use kosumi_go::board::{Board, Cell, Color, Move, Point, PointSet};

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DoubleError {
    /// The nodes were not enough.
    #[error("not decided")]
    Undecided,
    /// See [`QuestionError`].
    #[error(transparent)]
    Question(#[from] QuestionError),
}

/// Tactical reading of several chains, as of [`Aim::Chain`], with one limit for all that is read.
#[derive(Debug)]
pub struct Double {
    /// May chains of two or more stones be removed by their owner's move?
    pub suicide: bool,
    /// Bytes for each table.
    pub memory: usize,
    /// Nodes that may still be searched.
    pub nodes: u64,
}

impl Double {
    /// Is the chain captured if `first` moves first?
    ///
    /// # Errors
    /// If it was not found out.
    pub fn captured(&mut self, board: &Board, point: Point, first: Color) -> Result<Success, DoubleError> {
        let region = Region::NOWHERE;
        let Double { suicide, memory, nodes: most } = *self;
        let question =
            Question { board, region: &region, aim: Aim::Chain(point), suicide, memory, threads: 1 };
        let reading = read(&question, first, &|nodes| nodes >= most)?;
        // Even the shortest question costs something.
        self.nodes = most.saturating_sub(reading.nodes.max(1));
        if reading.success == Success::Unknown { Err(DoubleError::Undecided) } else { Ok(reading.success) }
    }

    /// A move of `attacker`'s after which one of these chains of the opponent's is captured whatever is answered, although
    /// none of them can be captured by itself; `None` if there is none near them.
    ///
    /// # Errors
    /// If it was not found out.
    pub fn combination(
        &mut self,
        board: &Board,
        chains: &[Point],
        attacker: Color,
    ) -> Result<Option<Move>, DoubleError> {
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
            // Only what the move is near to can have become weaker.
            let close: Vec<Point> =
                targets.iter().copied().filter(|&target| near(board, &[target], 2).contains(mv)).collect();
            let mut threatened = Vec::new();
            for target in close {
                if self.captured(&after, target, attacker)? == Success::Yes {
                    threatened.push(target);
                }
            }
            // Who is threatened once answers that.
            if threatened.len() > 1 && !self.has_answer(&after, &threatened, attacker.opponent(), false)? {
                return Ok(Some(Move::Play(mv)));
            }
        }
        Ok(None)
    }

    /// Can all the chains be kept for certain, if their owner moves first?
    ///
    /// # Errors
    /// If it was not found out.
    pub fn keeps_all(&mut self, board: &Board, chains: &[Point], owner: Color) -> Result<bool, DoubleError> {
        self.has_answer(board, chains, owner, true)
    }

    /// Is there a move after which none of the chains is captured? `certain`: nor by a ko or a combination.
    fn has_answer(
        &mut self,
        board: &Board,
        chains: &[Point],
        owner: Color,
        certain: bool,
    ) -> Result<bool, DoubleError> {
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

/// The empty points within so many steps over empty points from these chains, and from the chains next to them that have at
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

    fn double() -> Double {
        Double { suicide: false, memory: 1 << 20, nodes: 200_000 }
    }

    fn at(board: &Board, vertex: &str) -> Point {
        board.size().points().find(|point| point.to_string() == vertex).unwrap()
    }

    #[test]
    fn a_move_that_threatens_two_chains_is_found() {
        // Each stone gets out if it is attacked by itself; between them both are put in atari.
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
        // The same with a stone that makes one of them safe.
        let safe = drawing.replacen("...XO.OX...\n...........", "...XO.OX...\n....O......", 1);
        let board: Board = safe.parse().unwrap();
        assert_eq!(double().combination(&board, &chains, Color::Black), Ok(None));
    }

    #[test]
    fn what_takes_too_long_is_said() {
        let board: Board = ".....\n.XO..\n.XO..\n..X..\n.....".parse().unwrap();
        let mut none = Double { nodes: 0, ..double() };
        assert_eq!(none.combination(&board, &[at(&board, "C3")], Color::Black), Err(DoubleError::Undecided));
        assert_eq!(double().combination(&board, &[], Color::Black), Ok(None));
    }
}
