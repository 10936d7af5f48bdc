//! Cache of answers about small regions, valid as long as the region does not change.
//!
//! The idea is that of the pawn tables of chess programs: moves elsewhere change nothing in a closed region, so its
//! answer is valid in many positions of a game. An entry needs no proof of correctness, because its key covers
//! everything that a reading depends on.

use super::problems::{Question, QuestionError, Reading, Success, key, read_in_region};
use kosumi_go::board::Color;
use std::collections::HashMap;

/// Cached answers. The size is bounded: answers that were not used recently are dropped.
#[derive(Clone, Debug)]
pub struct Memo {
    /// Recently used answers.
    young: HashMap<u128, Reading>,
    /// Answers of the previous generation, not used since `young` was last emptied.
    old: HashMap<u128, Reading>,
    /// Largest number of entries in `young`.
    capacity_per_generation: usize,
    usage: MemoUsage,
}

/// Statistics of the use of a [`Memo`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct MemoUsage {
    /// Number of questions.
    pub lookups: u64,
    /// Number of questions that were answered without reading.
    pub hits: u64,
    /// Number of nodes read for the other questions.
    pub nodes: u64,
    /// Number of nodes that were not read again.
    pub nodes_saved: u64,
}

impl Memo {
    /// Creates a cache for this number of answers, of about 70 bytes each.
    pub fn new(answers: usize) -> Memo {
        Memo {
            young: HashMap::new(),
            old: HashMap::new(),
            capacity_per_generation: (answers / 2).max(1),
            usage: MemoUsage::default(),
        }
    }

    /// Returns the statistics of use.
    pub fn usage(&self) -> MemoUsage {
        self.usage
    }

    /// Answers a question as [`read`](super::read) does, with at most about `max_nodes` nodes. The answer and its
    /// number of nodes do not depend on whether the answer was cached.
    ///
    /// # Errors
    ///
    /// Returns a [`QuestionError`] if the question is invalid.
    pub fn read(
        &mut self,
        question: &Question<'_>,
        first: Color,
        max_nodes: u64,
    ) -> Result<Reading, QuestionError> {
        let mut region = *question.region;
        let mut nodes = 0;
        for round in 0.. {
            let question = Question { region: &region, ..*question };
            let reading = self.read_here(&question, first, max_nodes - nodes)?;
            nodes += reading.nodes;
            let is_open = reading.success == Success::Unknown && nodes < max_nodes;
            match region.wider(question.board, round).filter(|_| is_open && !question.aim.is_tactical()) {
                Some(wider) => region = wider,
                None => return Ok(Reading { nodes, ..reading }),
            }
        }
        unreachable!("a region grows a bounded number of times")
    }

    /// Answers a question in its region, without enlarging the region.
    fn read_here(
        &mut self,
        question: &Question<'_>,
        first: Color,
        max_nodes: u64,
    ) -> Result<Reading, QuestionError> {
        let key = key(question, first, max_nodes)?;
        self.usage.lookups += 1;
        if let Some(&known) = self.young.get(&key) {
            self.usage.hits += 1;
            self.usage.nodes_saved += known.nodes;
            return Ok(known);
        }
        let reading = match self.old.remove(&key) {
            Some(known) => {
                self.usage.hits += 1;
                self.usage.nodes_saved += known.nodes;
                known
            }
            None => {
                let reading = read_in_region(question, first, &|nodes| nodes >= max_nodes)?;
                self.usage.nodes += reading.nodes;
                reading
            }
        };
        if self.young.len() >= self.capacity_per_generation {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, reading);
        Ok(reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aim, Region, read};
    use kosumi_go::board::{Board, Point};

    const MEMORY: usize = 1 << 20;

    /// Reads whether the chain at a point is captured if the opponent moves first.
    fn ask(memo: &mut Memo, board: &Board, point: Point, most: u64) -> Reading {
        let mut region = Region::of_group(board, point).expect("a stone");
        region.group = board.chain(point).collect();
        let question = Question {
            board,
            region: &region,
            aim: Aim::Capture,
            suicide: false,
            memory: MEMORY,
            threads: 1,
        };
        let first = board.cell(point).color().expect("a stone").opponent();
        let answer = memo.read(&question, first, most).expect("a valid question");
        let plain = read(&question, first, &|nodes| nodes >= most).expect("a valid question");
        assert_eq!(answer, plain);
        answer
    }

    const BOARD: &str = "
        X . . . X O . . .
        X X X X X O . . .
        O O O O O O . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . X X X X X X
        . . . X O O O O O
        . . . X O . . . O";

    #[test]
    fn answers_are_kept_while_the_region_does_not_change() {
        let mut board: Board = BOARD.parse().expect("a drawing");
        let mut memo = Memo::new(100);
        let (black, white) = (Point::new(0, 8), Point::new(4, 1));
        assert_eq!(ask(&mut memo, &board, black, 10_000).success, Success::Yes);
        assert_eq!(ask(&mut memo, &board, white, 10_000).success, Success::Yes);
        assert_eq!((memo.usage().lookups, memo.usage().hits), (2, 0));
        // Two moves elsewhere.
        board.play_unchecked(Point::new(1, 4), Color::Black);
        board.play_unchecked(Point::new(2, 4), Color::White);
        ask(&mut memo, &board, black, 10_000);
        ask(&mut memo, &board, white, 10_000);
        let usage = memo.usage();
        assert_eq!((usage.lookups, usage.hits, usage.nodes), (4, 2, usage.nodes_saved));
        // A move in one of the two regions.
        board.play_unchecked(Point::new(2, 8), Color::Black);
        assert_eq!(ask(&mut memo, &board, black, 10_000).success, Success::No);
        ask(&mut memo, &board, white, 10_000);
        assert_eq!((memo.usage().lookups, memo.usage().hits), (6, 3));
        // The key contains the node limit.
        ask(&mut memo, &board, white, 1);
        assert_eq!((memo.usage().lookups, memo.usage().hits), (7, 3));
    }

    #[test]
    fn cache_size_is_bounded() {
        let board: Board = BOARD.parse().expect("a drawing");
        let mut memo = Memo::new(4);
        for most in 1..=50 {
            ask(&mut memo, &board, Point::new(4, 1), most);
            assert!(memo.young.len() + memo.old.len() <= 4);
        }
        // The last answer is among them.
        ask(&mut memo, &board, Point::new(4, 1), 50);
        assert_eq!(memo.usage().hits, 1);
    }
}
