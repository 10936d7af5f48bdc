//! Whole boards: the exact score, and the moves that reach it.

use super::bits::{Bits, Wide};
use super::goal::{Goal, Kind};
use super::images::Images;
use super::move_code::{MoveCode, NO_MOVE, PASS};
use super::path::Repetition;
use super::problems::StopFn;
use super::search::{Search, Stop};
use super::table::Table;
use super::threads::SearchQuestion;
use super::window::{Position, Window};
use kosumi_go::board::{Board, Color, Move, Point};
use kosumi_go::rules::{KoRule, Rules, Scoring, Tax};

/// Reason why a board cannot be solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BoardError {
    /// The rules count something other than stones and surrounded points.
    #[error("only area scoring without group tax and button is supported")]
    Scoring,
    /// The board has too many points.
    #[error("the board is too large: 19×19 at most")]
    TooLarge,
    /// One of the first moves is not legal. The value is its number, from 1.
    #[error("move {0} is illegal")]
    Illegal(usize),
    /// The game ends before all first moves are made. The value is the number of the last move, from 1.
    #[error("the game is over after move {0}")]
    Over(usize),
}

/// Bounds of the score of a position, in points for Black without komi.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoardAnswer {
    /// Black gets at least this score, whatever White does.
    pub at_least: i32,
    /// White can hold Black to this score.
    pub at_most: i32,
    /// Moves of the side to move that reach the score: all of them, if they were requested and found.
    pub best: Vec<Move>,
    /// Whether all moves were examined.
    pub best_is_complete: bool,
    /// Number of nodes searched.
    pub nodes: u64,
    /// Number of look-ups in the table, and number of those that found an entry.
    pub table_use: (u64, u64),
    /// Size of the table, in bytes.
    pub table_bytes: usize,
}

impl BoardAnswer {
    /// Returns the score in points for Black, if it is known.
    pub fn score(&self) -> Option<i32> {
        (self.at_least == self.at_most).then_some(self.at_least)
    }
}

/// Request to solve a board.
#[derive(Clone, Copy, Debug)]
pub struct BoardRequest<'a> {
    /// The stones. Simple ko applies as the board has it.
    pub board: &'a Board,
    /// Side to move.
    pub to_move: Color,
    /// Moves that are played first, alternately. The positions they lead through are the past of the position to be
    /// solved.
    pub moves: &'a [Move],
    /// The rules: repetition, suicide, area scoring.
    pub rules: Rules,
    /// Size of the transposition table, in bytes.
    pub memory: usize,
    /// Whether to find all best moves instead of one.
    pub all_best: bool,
    /// Side for which a cycle counts as the worst result. Under simple ko, a game that goes round in a cycle ends
    /// without a result. The answers for both sides together determine the value of a game without a result.
    pub cycles_lose_for: Color,
    /// Number of search threads.
    pub threads: usize,
    /// Score to test first: whether Black gets it, and then whether Black gets more.
    pub guess: Option<i32>,
}

/// Returns the exact score of a position, or the bounds found before `stop` returns true. The search calls `stop` now
/// and then with the number of nodes so far, and `progress` whenever a bound improves.
///
/// # Errors
///
/// Returns an error if the rules do not use plain area scoring, if the board is too large, or if one of the first moves
/// is illegal or comes after the end of the game.
pub fn solve_board(
    request: &BoardRequest<'_>,
    stop: StopFn<'_>,
    progress: &dyn Fn(&BoardAnswer),
) -> Result<BoardAnswer, BoardError> {
    let rules = request.rules;
    if rules.scoring != Scoring::Area || rules.tax != Tax::None || rules.has_button {
        return Err(BoardError::Scoring);
    }
    let size = request.board.size();
    if let Some(window) = Window::<u64>::whole(size, rules.suicide) {
        return BoardSearch::new(request, window, stop, progress).run();
    }
    if let Some(window) = Window::<u128>::whole(size, rules.suicide) {
        return BoardSearch::new(request, window, stop, progress).run();
    }
    let window = Window::<Wide>::whole(size, rules.suicide).ok_or(BoardError::TooLarge)?;
    BoardSearch::new(request, window, stop, progress).run()
}

struct BoardSearch<'a, B> {
    request: &'a BoardRequest<'a>,
    stop: Stop<'a>,
    progress: &'a dyn Fn(&BoardAnswer),
    window: Window<B>,
    images: Option<Images<B>>,
    root: Position<B>,
    /// The moves that are made first.
    line: Vec<MoveCode>,
    repetition: Repetition,
    answer: BoardAnswer,
}

impl<'a, B: Bits> BoardSearch<'a, B> {
    fn new(
        request: &'a BoardRequest<'a>,
        window: Window<B>,
        stop: Stop<'a>,
        progress: &'a dyn Fn(&BoardAnswer),
    ) -> BoardSearch<'a, B> {
        let area = window.points.count() as i32;
        let root = window.position(request.board, request.to_move);
        let repetition = match request.rules.ko {
            KoRule::Simple => Repetition::Wins(request.cycles_lose_for.opponent()),
            rule => Repetition::Forbidden(rule),
        };
        let images = Images::new(&window, request.board.size());
        let answer = BoardAnswer {
            at_least: -area,
            at_most: area,
            best: Vec::new(),
            best_is_complete: false,
            nodes: 0,
            table_use: (0, 0),
            table_bytes: 0,
        };
        BoardSearch { request, stop, progress, window, images, root, line: Vec::new(), repetition, answer }
    }

    fn run(mut self) -> Result<BoardAnswer, BoardError> {
        let mut table = Table::new(self.request.memory);
        self.make_moves(&table)?;
        self.answer.table_bytes = table.bytes();
        let mut shown = NO_MOVE;
        while self.answer.at_least < self.answer.at_most {
            let at_least = self.next_question();
            let Some((won, best)) = self.ask(&table, at_least, None) else { return Ok(self.answer) };
            table.next_generation();
            if won {
                self.answer.at_least = at_least;
            } else {
                self.answer.at_most = at_least - 1;
            }
            // The side to move has found a move that proves this bound.
            if won == (self.to_move() == Color::Black) {
                shown = best;
            }
            (self.progress)(&self.answer);
        }
        self.find_best(&table, shown);
        Ok(self.answer)
    }

    /// Makes the first moves, if they are legal.
    fn make_moves(&mut self, table: &Table<B>) -> Result<(), BoardError> {
        for (made, &mv) in self.request.moves.iter().enumerate() {
            let step = match mv {
                Move::Pass => PASS,
                Move::Play(point) => self.window.index(point).map_or(NO_MOVE, |index| index as MoveCode),
            };
            let legal = self.legal(table);
            let &(_, ends) =
                legal.iter().find(|(other, _)| *other == step).ok_or(BoardError::Illegal(made + 1))?;
            if ends {
                return Err(BoardError::Over(made + 1));
            }
            self.line.push(step);
        }
        Ok(())
    }

    /// Returns the side to move after the first moves.
    fn to_move(&self) -> Color {
        let first = self.request.to_move;
        if self.line.len().is_multiple_of(2) { first } else { first.opponent() }
    }

    /// Returns the legal moves after the first ones, and whether each ends the game.
    fn legal(&self, table: &Table<B>) -> Vec<(MoveCode, bool)> {
        // The score of the goal does not matter here.
        let goal = Goal { prover: Color::Black, kind: Kind::Score(0) };
        let never = |_: u64| false;
        Search::new(&self.window, goal, self.repetition, table, &never).moves_behind(&self.root, &self.line)
    }

    /// Returns the score to test next: the guess, then one more, and otherwise the middle of the remaining interval.
    fn next_question(&self) -> i32 {
        let (low, high) = (self.answer.at_least, self.answer.at_most);
        match self.request.guess {
            Some(guess) if low < guess && guess <= high => guess,
            Some(guess) if low == guess => guess + 1,
            _ => (low + high + 1).div_euclid(2),
        }
    }

    /// Returns whether Black gets at least this number of points if the move `next`, if any, is made, and a move that
    /// shows it.
    fn ask(&mut self, table: &Table<B>, at_least: i32, next: Option<MoveCode>) -> Option<(bool, MoveCode)> {
        let goal = Goal { prover: Color::Black, kind: Kind::Score(at_least) };
        let nodes = self.answer.nodes;
        let outer = self.stop;
        let question = SearchQuestion {
            window: &self.window,
            goal,
            repetition: self.repetition,
            images: self.images.as_ref(),
            table,
        };
        let stop = |searched| outer(nodes + searched);
        let line: Vec<MoveCode> = self.line.iter().copied().chain(next).collect();
        let found = question.decide(&self.root, &line, self.request.threads, &stop);
        self.answer.nodes += found.nodes;
        self.answer.table_use.0 += found.table_use.0;
        self.answer.table_use.1 += found.table_use.1;
        found.answer.won.map(|won| (won, found.answer.best))
    }

    fn find_best(&mut self, table: &Table<B>, shown: MoveCode) {
        let Some(score) = self.answer.score() else { return };
        let black = self.to_move() == Color::Black;
        // A move is best if it keeps the score for its player.
        let at_least = if black { score } else { score + 1 };
        let legal = self.legal(table);
        let mut complete = true;
        let mut best = Vec::new();
        for (step, _) in legal {
            let is_best = if step == shown {
                true
            } else if !self.request.all_best {
                complete = false;
                continue;
            } else {
                match self.ask(table, at_least, Some(step)) {
                    Some((won, _)) => won == black,
                    None => {
                        complete = false;
                        break;
                    }
                }
            };
            if is_best {
                best.push(step);
            }
        }
        self.answer.best = best.into_iter().map(|step| self.as_move(step)).collect();
        self.answer.best_is_complete = complete;
    }

    fn as_move(&self, step: MoveCode) -> Move {
        if step == PASS { Move::Pass } else { Move::Play(self.point(step)) }
    }

    fn point(&self, step: MoveCode) -> Point {
        self.window.point(u32::from(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::BoardSize;

    fn solve(columns: usize, rows: usize, ko: KoRule, all_best: bool) -> BoardAnswer {
        let board = Board::new(BoardSize::new(columns, rows).unwrap());
        let request = BoardRequest {
            board: &board,
            to_move: Color::Black,
            moves: &[],
            rules: Rules { ko, ..Rules::default() },
            memory: 32 << 20,
            all_best,
            cycles_lose_for: Color::Black,
            threads: 1,
            guess: None,
        };
        solve_board(&request, &|_| false, &|_| ()).unwrap()
    }

    fn solve_guessed(columns: usize, rows: usize, guess: i32, memory: usize) -> BoardAnswer {
        let board = Board::new(BoardSize::new(columns, rows).unwrap());
        let request = BoardRequest {
            board: &board,
            to_move: Color::Black,
            moves: &[],
            rules: Rules::default(),
            memory,
            all_best: false,
            cycles_lose_for: Color::Black,
            threads: 2,
            guess: Some(guess),
        };
        solve_board(&request, &|_| false, &|_| ()).unwrap()
    }

    /// CITE: Ted Drange, "Mini-Go" (mathpuzzle.com/go), area scores with Black first.
    const PUBLISHED: &[(usize, usize, i32)] = &[
        (1, 1, 0),
        (1, 2, 0),
        (1, 3, 3),
        (1, 4, 4),
        (1, 5, 0),
        (1, 6, 1),
        (1, 7, 2),
        (1, 8, 3),
        (2, 2, 1),
        (2, 3, 0),
        (2, 4, 8),
        (2, 5, 10),
        (3, 3, 9),
    ];
    const LARGER: &[(usize, usize, i32)] =
        &[(1, 9, 0), (1, 10, 1), (2, 6, 12), (2, 7, 14), (3, 4, 4), (3, 5, 15), (4, 4, 2)];

    #[test]
    fn a_wrong_guess_changes_no_score() {
        for guess in [-10, 0, 3, 4, 5, 12, 100] {
            assert_eq!(solve_guessed(3, 4, guess, 8 << 20).score(), Some(4), "{guess}");
        }
    }

    #[test]
    fn small_boards_have_their_published_scores() {
        for &(columns, rows, score) in PUBLISHED {
            let answer = solve(columns, rows, KoRule::Positional, false);
            assert_eq!(answer.score(), Some(score), "{columns}x{rows}");
        }
        // Transposed boards, under other superko rules.
        for ko in [KoRule::Situational, KoRule::NaturalSituational] {
            assert_eq!(solve(3, 2, ko, false).score(), Some(0), "{ko:?}");
            assert_eq!(solve(6, 1, ko, false).score(), Some(1), "{ko:?}");
        }
    }

    #[test]
    #[ignore = "takes a minute: cargo test --profile checked -p kosumi-solve boards -- --ignored"]
    fn larger_boards_have_their_published_scores() {
        for &(columns, rows, score) in LARGER {
            let answer = solve(columns, rows, KoRule::Positional, false);
            assert_eq!(answer.score(), Some(score), "{columns}x{rows}");
        }
    }

    #[test]
    #[ignore = "takes minutes: cargo test --profile checked -p kosumi-solve boards::tests::largest -- --ignored"]
    fn largest_boards_have_their_published_scores() {
        for (columns, rows, score) in [(3, 6, 18), (4, 5, 20)] {
            assert_eq!(solve_guessed(columns, rows, score, 1 << 30).score(), Some(score), "{columns}x{rows}");
        }
    }

    #[test]
    #[ignore = "takes ten minutes and 10 GiB: cargo test --profile checked -p kosumi-solve three_by_seven -- --ignored"]
    fn black_owns_all_of_three_by_seven() {
        assert_eq!(solve_guessed(3, 7, 21, 10 << 30).score(), Some(21));
    }

    #[test]
    fn best_moves_are_all_of_them() {
        let answer = solve(3, 3, KoRule::Positional, true);
        assert!(answer.best_is_complete);
        // The centre only, as published.
        assert_eq!(answer.best, [Move::Play(Point::new(1, 1))]);
        assert_eq!(solve(1, 3, KoRule::Positional, true).best, [Move::Play(Point::new(0, 1))]);
        // On 2×3 nothing is better than a pass.
        assert!(solve(2, 3, KoRule::Positional, true).best.contains(&Move::Pass));
    }

    #[test]
    fn first_moves_are_made_with_their_past() {
        let square = Board::new(BoardSize::new(2, 2).unwrap());
        let row = Board::new(BoardSize::new(2, 1).unwrap());
        let play = |column, row| Move::Play(Point::new(column, row));
        let after = |board: &Board, moves: &[Move]| {
            let request = BoardRequest {
                board,
                to_move: Color::Black,
                moves,
                rules: Rules::default(),
                memory: 1 << 20,
                all_best: true,
                cycles_lose_for: Color::Black,
                threads: 1,
                guess: None,
            };
            solve_board(&request, &|_| false, &|_| ())
        };
        let (a, b, c, d) = (play(0, 0), play(1, 0), play(1, 1), play(0, 1));
        // The score of a position is the best score after its moves.
        let best = after(&square, &[]).unwrap();
        for mv in [Move::Pass, a, b, c, d] {
            let score = after(&square, &[mv]).unwrap().score().unwrap();
            assert!(score <= 1, "{mv}");
            assert_eq!(score == 1, best.best.contains(&mv), "{mv}");
        }
        // White captures, and superko forbids Black to capture in turn.
        assert!(after(&row, &[a, b]).is_ok());
        assert_eq!(after(&row, &[a, b, a]), Err(BoardError::Illegal(3)));
        assert_eq!(after(&square, &[a, a]), Err(BoardError::Illegal(2)));
        assert_eq!(after(&square, &[play(2, 0)]), Err(BoardError::Illegal(1)));
        assert_eq!(after(&square, &[Move::Pass, Move::Pass]), Err(BoardError::Over(2)));
    }

    #[test]
    fn cycles_lose_without_superko() {
        // On a board of this size, the side that is behind can always go round in a cycle.
        assert_eq!(solve(2, 2, KoRule::Simple, false).score(), Some(-4));
    }

    #[test]
    fn unsolvable_requests_are_errors() {
        let board = Board::new(BoardSize::new(3, 3).unwrap());
        let mut request = BoardRequest {
            board: &board,
            to_move: Color::White,
            moves: &[],
            rules: Rules { scoring: Scoring::Territory, ..Rules::default() },
            memory: 1 << 20,
            all_best: false,
            cycles_lose_for: Color::Black,
            threads: 1,
            guess: None,
        };
        assert_eq!(solve_board(&request, &|_| false, &|_| ()), Err(BoardError::Scoring));
        request.rules = Rules::default();
        // By symmetry, White gets the same score moving first. Without nodes nothing is claimed.
        assert_eq!(solve_board(&request, &|_| false, &|_| ()).unwrap().score(), Some(-9));
        let nothing = solve_board(&request, &|_| true, &|_| ()).unwrap();
        assert!(nothing.score().is_none() && nothing.best.is_empty());
        let large = Board::new(BoardSize::new(25, 25).unwrap());
        request.board = &large;
        assert_eq!(solve_board(&request, &|_| true, &|_| ()), Err(BoardError::TooLarge));
    }
}
