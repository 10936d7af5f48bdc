//! Proofs for boards on which a ladder decides the game.
//!
//! The side to move, the chaser, has a large chain with two liberties that it cannot extend: the cut. A small chain of
//! the opponent, the prey, separates the cut from its friends. The chaser wins if it captures the prey by attacking at
//! every move. The opponent wins if it gets two moves in a row at the liberties of the cut.
//!
//! The search is exhaustive for the side that is to lose: all its moves are tried, and a pass. The winner needs only
//! one good move, so it suffices to try a few. A line ends where the winner holds enough points unconditionally.

use kosumi_go::board::{Board, Cell, Color, Point};
use kosumi_go::safety::LifeReader;

/// Number of the winner's moves after which a line counts as lost.
const DEPTH: u32 = 60;

/// Chains that matter on the board, each named by one of its stones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ladder {
    pub(super) chaser: Color,
    pub(super) prey: Point,
    pub(super) cut: Point,
}

/// A question: does one side win?
pub(super) struct Question {
    ladder: Ladder,
    winner: Color,
    /// Minimum lead, in points, that counts as a win.
    needed: i32,
    /// Number of positions whose unconditional life was read.
    positions: u64,
    limit: u64,
    life: LifeReader,
}

/// Positions of the line, from the last to the first.
struct Line<'a> {
    board: &'a Board,
    earlier: Option<&'a Line<'a>>,
}

impl Line<'_> {
    fn repeats(&self, board: &Board) -> bool {
        self.board.stones().eq(board.stones()) || self.earlier.is_some_and(|line| line.repeats(board))
    }
}

/// Returns whether a move is legal, apart from repetition.
pub(super) fn is_legal(board: &Board, point: Point, color: Color) -> bool {
    board.cell(point) == Cell::Empty && !board.is_suicide(point, color)
}

/// Returns the board after a move.
pub(super) fn after(board: &Board, point: Point, color: Color) -> Board {
    let mut next = *board;
    next.play_unchecked(point, color);
    next
}

/// Returns whether a move captures.
fn captures(board: &Board, point: Point, color: Color) -> bool {
    let enemy = Cell::from(color.opponent());
    point.adjacent().iter().any(|&p| board.cell(p) == enemy && board.atari_liberty(p).is_some())
}

impl Question {
    pub(super) fn new(ladder: Ladder, winner: Color, needed: i32, limit: u64) -> Question {
        Question { ladder, winner, needed, positions: 0, limit, life: LifeReader::default() }
    }

    /// Returns whether it is proven that the winner wins when it is to move, after the position `before`.
    pub(super) fn wins_to_move(&mut self, before: &Board, board: &Board) -> bool {
        self.has_winning_move(&Line { board, earlier: Some(&Line { board: before, earlier: None }) }, DEPTH)
    }

    /// Returns whether it is proven that the winner wins when the opponent is to move, after the position `before`.
    pub(super) fn wins_after(&mut self, before: &Board, board: &Board) -> bool {
        self.survives(&Line { board, earlier: Some(&Line { board: before, earlier: None }) }, DEPTH)
    }

    fn has_winning_move(&mut self, line: &Line<'_>, depth: u32) -> bool {
        if depth == 0 {
            return false;
        }
        for point in self.replies(line.board) {
            if self.positions > self.limit {
                return false;
            }
            if !is_legal(line.board, point, self.winner) {
                continue;
            }
            let next = after(line.board, point, self.winner);
            // The winner may not repeat a position. The opponent may: this can only help it.
            if captures(line.board, point, self.winner) && line.repeats(&next) {
                continue;
            }
            if self.survives(&Line { board: &next, earlier: Some(line) }, depth - 1) {
                return true;
            }
        }
        false
    }

    fn survives(&mut self, line: &Line<'_>, depth: u32) -> bool {
        let board = line.board;
        let settled = self.is_settled(board);
        // A move that wins at once, if there is one, and the position after it.
        let winning = if settled { self.winning_reply(board) } else { None };
        if settled && winning.is_none() && self.has_won(board) {
            return true;
        }
        // The loser may pass.
        if winning.is_none() && !self.has_winning_move(line, depth) {
            return false;
        }
        let loser = self.winner.opponent();
        for point in board.size().points() {
            if !is_legal(board, point, loser)
                || winning.as_ref().is_some_and(|(reply, won)| self.commute(board, point, *reply, won))
            {
                continue;
            }
            let next = after(board, point, loser);
            if !self.has_winning_move(&Line { board: &next, earlier: Some(line) }, depth) {
                return false;
            }
        }
        true
    }

    fn winning_reply(&mut self, board: &Board) -> Option<(Point, Board)> {
        let legal =
            |&point: &Point| is_legal(board, point, self.winner) && !captures(board, point, self.winner);
        let replies: Vec<Point> = self.replies(board).into_iter().filter(legal).collect();
        let winner = self.winner;
        let mut results = replies.into_iter().map(|point| (point, after(board, point, winner)));
        results.find(|(_, won)| self.has_won(won))
    }

    /// Returns whether the loser's move and the winner's reply lead to the same position in both orders without a
    /// capture, judged only by the chains adjacent to the two points. What is held unconditionally after the reply is
    /// then still held after both moves.
    fn commute(&self, board: &Board, point: Point, reply: Point, won: &Board) -> bool {
        let loser = self.winner.opponent();
        // The reply captures nothing if all chains beside it have more liberties than the two moves can fill.
        let free = |p: &Point| *p != point && board.cell(*p) == Cell::Empty;
        let safe = |p: &Point| board.cell(*p) != Cell::from(loser) || board.liberty_count(*p) > 2;
        point != reply
            && !captures(board, point, loser)
            && is_legal(won, point, loser)
            && !captures(won, point, loser)
            && reply.adjacent().iter().all(safe)
            && (reply.adjacent().iter().any(free)
                || is_legal(&after(board, point, loser), reply, self.winner))
    }

    /// Returns whether the chain that the winner must capture is gone.
    fn is_settled(&self, board: &Board) -> bool {
        if self.winner == self.ladder.chaser { !self.has_prey(board) } else { !self.has_cut(board) }
    }

    fn has_prey(&self, board: &Board) -> bool {
        board.cell(self.ladder.prey) == Cell::from(self.ladder.chaser.opponent())
    }

    fn has_cut(&self, board: &Board) -> bool {
        board.cell(self.ladder.cut) == Cell::from(self.ladder.chaser)
    }

    fn has_won(&mut self, board: &Board) -> bool {
        self.positions += 1;
        self.life.read(board, self.winner, false);
        let held = self.life.chains.iter().count() + self.life.territory.iter().count();
        2 * held as i32 - board.size().points().count() as i32 >= self.needed
    }

    /// Returns the moves of the winner that are tried.
    fn replies(&self, board: &Board) -> Vec<Point> {
        let liberties = |point: Point| {
            let (count, found) = board.liberties::<3>(point);
            if count < 3 { found[..count].to_vec() } else { Vec::new() }
        };
        let near = |point: Point| [point].into_iter().chain(point.adjacent()).collect();
        let Ladder { prey, cut, .. } = self.ladder;
        match (self.winner == self.ladder.chaser, self.has_prey(board), self.has_cut(board)) {
            (true, true, _) => liberties(prey),
            (true, false, _) => near(prey),
            (false, _, false) => near(cut),
            (false, true, true) if board.liberty_count(prey) == 1 && board.liberty_count(cut) > 1 => {
                self.ways_out(board)
            }
            (false, _, true) => liberties(cut),
        }
    }

    /// Returns the last liberty of the prey, and the moves that capture chains around it.
    fn ways_out(&self, board: &Board) -> Vec<Point> {
        let chaser = Cell::from(self.ladder.chaser);
        let mut found: Vec<Point> = board.atari_liberty(self.ladder.prey).into_iter().collect();
        let around = board.chain(self.ladder.prey).flat_map(Point::adjacent);
        for liberty in around.filter(|&p| board.cell(p) == chaser).filter_map(|p| board.atari_liberty(p)) {
            if !found.contains(&liberty) {
                found.push(liberty);
            }
        }
        found
    }
}
