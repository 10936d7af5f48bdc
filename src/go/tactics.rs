//! Local tactics: liberties after a move, self-atari, escapes from atari, ladders, the vital point of a small eye. All
//! functions depend only on the board and have no side effects on it.

use crate::board::{Board, Cell, Color, Point};
use smallvec::SmallVec;

/// Returns the number of liberties that a stone of `color` would have after a play on this empty point, counted up to
/// `N`.
///
/// The points of captured stones that are adjacent to the new chain count as liberties.
#[inline]
pub fn liberties_after<const N: usize>(board: &Board, point: Point, color: Color) -> usize {
    let mut found = [point; N];
    let mut count = 0;
    // Adds a liberty. Returns true when N are found.
    let mut add = |liberty: Point| {
        if liberty != point && !found[..count].contains(&liberty) {
            found[count] = liberty;
            count += 1;
        }
        count == N
    };
    for neighbour in point.adjacent() {
        if board.cell(neighbour) == Cell::Empty && add(neighbour) {
            return N;
        }
    }
    let enemy = Cell::from(color.opponent());
    for neighbour in point.adjacent() {
        let cell = board.cell(neighbour);
        if cell == enemy {
            if board.in_atari(neighbour) {
                for stone in board.chain(neighbour) {
                    let touches = stone
                        .adjacent()
                        .iter()
                        .any(|&next| next == point || is_own_chain_of(board, next, point, color));
                    if touches && add(stone) {
                        return N;
                    }
                }
            }
        } else if cell == Cell::from(color) {
            // The point itself is a liberty of the chain, so N + 1 liberties would be needed to guarantee N others.
            // Iterating over the stones stops as soon as N are found.
            for stone in board.chain(neighbour) {
                if !board.has_empty_neighbour(stone) {
                    continue;
                }
                for liberty in stone.adjacent() {
                    if board.cell(liberty) == Cell::Empty && add(liberty) {
                        return N;
                    }
                }
            }
        }
    }
    count
}

/// Returns whether `stone` belongs to a chain of `color` that is adjacent to `point`.
fn is_own_chain_of(board: &Board, stone: Point, point: Point, color: Color) -> bool {
    board.cell(stone) == Cell::from(color)
        && point.adjacent().iter().any(|&neighbour| {
            board.cell(neighbour) == Cell::from(color) && board.anchor(neighbour) == board.anchor(stone)
        })
}

/// Returns whether a stone of `color` on this empty point would have fewer than two liberties.
#[inline]
pub fn is_self_atari(board: &Board, point: Point, color: Color) -> bool {
    let empty = (0..4).filter(|&d| board.neighbourhood(point) >> (2 * d) & 3 == 0).count();
    empty < 2 && liberties_after::<2>(board, point, color) < 2
}

/// Adds one liberty of each enemy chain in atari adjacent to the chain at `point`. Capturing such a chain saves it.
pub fn adjacent_captures(board: &Board, point: Point, found: &mut SmallVec<[Point; 8]>) {
    let Some(color) = board.cell(point).color() else { return };
    let enemy = Cell::from(color.opponent());
    for stone in board.chain(point) {
        for neighbour in stone.adjacent() {
            if board.cell(neighbour) == enemy
                && let Some(liberty) = board.atari_liberty(neighbour)
                && !found.contains(&liberty)
            {
                found.push(liberty);
            }
        }
    }
}

/// Reader of ladders. The attacker takes one of two liberties and the defender extends or captures, alternately, until
/// the defender has three liberties or is captured.
///
/// The positions of the line are stored on the heap and reused by later queries. A ladder across the board is too deep
/// for boards on the stack of a worker.
#[derive(Clone, Debug)]
pub struct LadderReader {
    boards: Vec<Board>,
    /// Number of positions that the current query may still examine.
    positions_left: u32,
    /// Number of positions that one query may examine. An undecided ladder counts as an escape.
    limit: u32,
}

impl LadderReader {
    /// Creates a reader that examines at most `limit` positions per query.
    pub fn new(limit: u32) -> LadderReader {
        LadderReader { boards: Vec::new(), positions_left: 0, limit }
    }

    fn start(&mut self, board: &Board) {
        self.positions_left = self.limit;
        match self.boards.first_mut() {
            Some(first) => first.copy_from(board),
            None => self.boards.push(*board),
        }
    }

    /// Returns the attacker's first move if the chain at `point` is caught in a ladder. The chain must have exactly two
    /// liberties, and its opponent is to move.
    pub fn capture(&mut self, board: &Board, point: Point) -> Option<Point> {
        if !has_liberties(board, point, 2) {
            return None;
        }
        self.start(board);
        self.attack(0, point)
    }

    /// Returns whether the chain in atari at `point`, whose owner is to move, can get three liberties, or two with
    /// which no ladder catches it.
    pub fn escapes(&mut self, board: &Board, point: Point) -> bool {
        self.start(board);
        self.defend(0, point)
    }

    /// Plays on a copy of the position at `depth` and stores it at the next depth. Returns false if the move is illegal
    /// or the limit of positions is reached.
    fn play(&mut self, depth: usize, point: Point, color: Color) -> bool {
        let board = &self.boards[depth];
        if self.positions_left == 0 || board.is_suicide(point, color) || board.is_ko(point, color) {
            return false;
        }
        self.positions_left -= 1;
        if self.boards.len() == depth + 1 {
            let copy = self.boards[depth];
            self.boards.push(copy);
        } else {
            let (here, next) = self.boards.split_at_mut(depth + 1);
            next[0].copy_from(&here[depth]);
        }
        self.boards[depth + 1].play_unchecked(point, color);
        true
    }

    fn attack(&mut self, depth: usize, point: Point) -> Option<Point> {
        let defender = self.boards[depth].cell(point).color()?;
        let (_, liberties) = self.boards[depth].liberties::<2>(point);
        liberties.into_iter().find(|&attack| {
            self.play(depth, attack, defender.opponent()) && {
                let next = &self.boards[depth + 1];
                next.cell(point) == Cell::from(defender)
                    && next.in_atari(point)
                    && !self.defend(depth + 1, point)
            }
        })
    }

    fn defend(&mut self, depth: usize, point: Point) -> bool {
        let board = &self.boards[depth];
        let Some(color) = board.cell(point).color() else { return false };
        let mut replies: SmallVec<[Point; 8]> = SmallVec::new();
        adjacent_captures(board, point, &mut replies);
        replies.extend(board.atari_liberty(point));
        for &reply in &replies {
            if !self.play(depth, reply, color) {
                continue;
            }
            let escaped = match self.boards[depth + 1].liberties::<3>(point).0 {
                0 | 1 => false,
                2 => self.attack(depth + 1, point).is_none(),
                _ => true,
            };
            if escaped {
                return true;
            }
        }
        // If the limit was reached, the chain is assumed to escape.
        self.positions_left == 0
    }
}

/// Returns whether the chain at an occupied point has exactly `count` liberties (at most 2).
fn has_liberties(board: &Board, point: Point, count: usize) -> bool {
    board.cell(point).color().is_some() && board.liberties::<3>(point).0 == count
}

/// Returns the vital point of the small eye around an empty point: the point that decides whether its owner can make
/// two eyes of it. Returns `None` unless the region has three to six points, is enclosed by stones of one colour, and
/// has such a point.
pub fn vital_point(board: &Board, start: Point) -> Option<Point> {
    const MAX_POINTS: usize = 6;
    let mut region: SmallVec<[Point; MAX_POINTS]> = SmallVec::new();
    region.push(start);
    let mut owner = None;
    let mut next = 0;
    while next < region.len() {
        for neighbour in region[next].adjacent() {
            match board.cell(neighbour) {
                Cell::Border => {}
                Cell::Empty => {
                    if !region.contains(&neighbour) {
                        if region.len() == MAX_POINTS {
                            return None;
                        }
                        region.push(neighbour);
                    }
                }
                stone => {
                    if *owner.get_or_insert(stone) != stone {
                        return None;
                    }
                }
            }
        }
        next += 1;
    }
    owner?;
    // The point with the most neighbours inside is vital if it has enough of them: 2 of three points in a row or bent,
    // 3 of four in a pyramid or of five in a bulky shape, 4 of a crossed five or of a rabbity six.
    let inside = |point: Point| point.adjacent().iter().filter(|n| region.contains(n)).count();
    let best = region.iter().copied().max_by_key(|&point| inside(point))?;
    let most = inside(best);
    let unique = region.iter().filter(|&&point| inside(point) == most).count() == 1;
    match (region.len(), most) {
        (3, 2) | (4, 3) | (5, 3..=4) | (6, 4) if unique => Some(best),
        _ => None,
    }
}

/// Computes the distance of each point from `start`, where solidly connected stones of one colour have distance 0.
/// Points farther than `most` keep `u8::MAX`. `distance` is indexed by [`Point::index`].
///
/// CITE: Graepel et al., "Learning on graphs in the game of Go" (2001): the common fate graph.
pub fn common_fate_distance(board: &Board, start: Point, most: u8, distance: &mut [u8]) {
    distance.fill(u8::MAX);
    let mut ring: SmallVec<[Point; 32]> = SmallVec::new();
    let settle = |point: Point, at: u8, distance: &mut [u8], ring: &mut SmallVec<[Point; 32]>| {
        if distance[point.index()] != u8::MAX {
            return;
        }
        if board.cell(point).color().is_some() {
            for stone in board.chain(point) {
                distance[stone.index()] = at;
                ring.push(stone);
            }
        } else {
            distance[point.index()] = at;
            ring.push(point);
        }
    };
    settle(start, 0, distance, &mut ring);
    for at in 1..=most {
        let mut next: SmallVec<[Point; 32]> = SmallVec::new();
        for &point in &ring {
            for neighbour in point.adjacent() {
                if board.cell(neighbour) != Cell::Border {
                    settle(neighbour, at, distance, &mut next);
                }
            }
        }
        ring = next;
    }
}

/// Returns whether no stone lies within `steps` columns and rows of the point.
pub fn has_no_stone_near(board: &Board, point: Point, steps: usize) -> bool {
    let size = board.size();
    let (column, row) = (point.column(), point.row());
    let columns = column.saturating_sub(steps)..=(column + steps).min(size.columns() - 1);
    columns.into_iter().all(|c| {
        (row.saturating_sub(steps)..=(row + steps).min(size.rows() - 1))
            .all(|r| board.cell(Point::new(c, r)) == Cell::Empty)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(drawing: &str) -> Board {
        drawing.parse().expect("drawing")
    }

    /// Checks the liberties after Black plays at (column, row from the bottom).
    #[track_caller]
    fn check_liberties(drawing: &str, column: usize, row: usize, expected: usize) {
        let board = board(drawing);
        let point = Point::new(column, row);
        assert_eq!(liberties_after::<4>(&board, point, Color::Black), expected, "{drawing}");
        let mut after = board;
        after.play_unchecked(point, Color::Black);
        assert_eq!(after.liberty_count(point).min(4), expected, "oracle, {drawing}");
    }

    #[test]
    fn liberties_after_a_move() {
        check_liberties(". . .\n. . .\n. . .", 1, 1, 4);
        check_liberties(". O .\nO . X\n. O .", 1, 1, 2);
        check_liberties("O . .\n. O .\n. . .", 0, 1, 1);
        // Two stones are captured, and their points are liberties.
        check_liberties("X X .\nO O .\nX X .", 2, 1, 3);
    }

    #[test]
    fn liberties_after_equal_the_board_for_all_moves_of_random_games() {
        let mut rng = crate::rng::Rng::new(5);
        for game in 0..300 {
            let size = crate::board::BoardSize::new(1 + game % 9, 1 + game / 9 % 9).expect("size");
            let mut board = Board::new(size);
            let mut color = Color::Black;
            for _ in 0..3 * size.area() {
                let point = crate::playout::policy::pick(&board, &mut rng, |p, _| {
                    !board.is_suicide(p, color) && !board.is_ko(p, color)
                });
                let Some(point) = point else { break };
                let expected = liberties_after::<3>(&board, point, color);
                let self_atari = is_self_atari(&board, point, color);
                board.play_unchecked(point, color);
                assert_eq!(board.liberty_count(point).min(3), expected, "{point}\n{board}");
                assert_eq!(self_atari, board.in_atari(point), "{point}\n{board}");
                color = color.opponent();
            }
        }
    }

    #[test]
    fn a_ladder_works_unless_a_stone_breaks_it() {
        let caught = board(
            ". . . . . . .
             . . . . . . .
             . . . . . . .
             . . . . . . .
             . X O . . . .
             . X O . . . .
             . . X X . . .",
        );
        // The white chain has three liberties, so it is not caught in a ladder.
        assert_eq!(LadderReader::new(1000).capture(&caught, Point::new(2, 1)), None);
        let caught = board(
            ". . . . . . .
             . . . . . . .
             . . . . . . .
             . . . . . . .
             . X X . . . .
             . X O . . . .
             . . X X . . .",
        );
        // The chain is already in atari. The test is whether it can escape.
        assert!(!LadderReader::new(1000).escapes(&caught, Point::new(2, 1)));
        let broken = board(
            ". . . . . . .
             . . . . . . .
             . . . . . O .
             . . . . . . .
             . X X . . . .
             . X O . . . .
             . . X X . . .",
        );
        assert!(LadderReader::new(1000).escapes(&broken, Point::new(2, 1)));
    }

    #[test]
    fn a_ladder_across_the_largest_board_fits_a_small_stack() {
        let size = crate::board::BoardSize::square(25).expect("size");
        let at = Point::new;
        let black = [at(2, 1), at(1, 2), at(1, 3), at(3, 1)].map(|point| (point, Color::Black));
        let stones = black.into_iter().chain([(at(2, 2), Color::White)]);
        let board = Board::from_stones(size, stones).expect("legal");
        let read = move || LadderReader::new(5000).capture(&board, at(2, 2));
        let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(read).expect("a thread");
        assert!(thread.join().expect("no overflow").is_some());
    }

    #[test]
    fn vital_points_of_small_eyes() {
        let check = |drawing: &str, start: (usize, usize), expected: Option<(usize, usize)>| {
            let found = vital_point(&board(drawing), Point::new(start.0, start.1));
            assert_eq!(found, expected.map(|(c, r)| Point::new(c, r)), "{drawing}");
        };
        check(". . . X\nX X X X", (0, 1), Some((1, 1)));
        check(". . X\n. X X\nX X X", (1, 2), Some((0, 2)));
        check(". . . . X\nX X X X X", (0, 1), None);
        check(". . X\n. . X\nX X X", (0, 1), None);
        check(". . . X\nX . X X\nX X X X", (0, 2), Some((1, 2)));
        check(". . . X\nX X O X", (0, 1), None);
    }
}
