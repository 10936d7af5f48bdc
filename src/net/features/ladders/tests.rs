use super::*;
use kosumi_go::board::{BoardSize, Symmetry};
use kosumi_go::rng::Rng;

/// The definition applied literally, on copies of boards, without limits, move ordering or a log.
struct ReferenceReader {
    positions_left: u32,
}

impl ReferenceReader {
    /// Returns the board after a move, or `None` if the move is illegal in a ladder.
    fn after(&mut self, board: &Board, point: Point, color: Color) -> Option<Board> {
        let forbidden = board.ko().is_some_and(|(ko, _)| ko == point);
        if forbidden || board.is_suicide(point, color) {
            return None;
        }
        self.positions_left = self.positions_left.saturating_sub(1);
        let mut after = *board;
        after.play_unchecked(point, color);
        Some(after)
    }

    fn liberties(board: &Board, point: Point) -> Vec<Point> {
        let mut liberties: Vec<Point> = board
            .chain(point)
            .flat_map(Point::adjacent)
            .filter(|&neighbour| board.cell(neighbour) == Cell::Empty)
            .collect();
        liberties.sort_unstable();
        liberties.dedup();
        liberties
    }

    fn captures(board: &Board, point: Point) -> Vec<Point> {
        let enemy = board.cell(point).color().map(|color| Cell::from(color.opponent()));
        board
            .chain(point)
            .flat_map(Point::adjacent)
            .filter(|&neighbour| Some(board.cell(neighbour)) == enemy)
            .filter_map(|neighbour| board.atari_liberty(neighbour))
            .collect()
    }

    fn defend(&mut self, board: &Board, point: Point, depth: usize) -> bool {
        if depth >= board.size().area() * 3 / 2 {
            return true;
        }
        let color = board.cell(point).color().expect("a stone");
        let liberties = ReferenceReader::liberties(board, point);
        if liberties.len() >= 2 || depth > 0 && board.ko().is_some() || self.positions_left == 0 {
            return false;
        }
        let mut board = *board;
        if depth == 0 {
            board.set_ko(None);
        }
        let replies = ReferenceReader::captures(&board, point).into_iter().chain(liberties);
        replies.into_iter().all(|reply| {
            self.after(&board, reply, color).is_none_or(|after| self.attack(&after, point, depth + 1))
        })
    }

    fn attack(&mut self, board: &Board, point: Point, depth: usize) -> bool {
        if depth >= board.size().area() * 3 / 2 {
            return true;
        }
        let color = board.cell(point).color().expect("a stone");
        let liberties = ReferenceReader::liberties(board, point);
        if liberties.len() != 2 || self.positions_left == 0 {
            return liberties.len() < 2;
        }
        let is_ko = |&liberty: &Point| {
            let enclosed = board.is_enclosed(liberty, color);
            let taken: Vec<Point> = liberty
                .adjacent()
                .into_iter()
                .filter(|&stone| board.cell(stone) == Cell::from(color) && board.in_atari(stone))
                .collect();
            enclosed && taken.len() == 1 && board.chain_len(taken[0]) == 1
        };
        let gains_nothing = |&liberty: &Point| {
            let mut after = *board;
            after.play_unchecked(liberty, color);
            after.cell(liberty) == Cell::Empty || after.liberty_count(liberty) <= 2
        };
        if liberties.iter().all(is_ko)
            && liberties.iter().all(gains_nothing)
            && ReferenceReader::captures(board, point).is_empty()
        {
            return true;
        }
        liberties.into_iter().any(|attack| {
            self.after(board, attack, color.opponent())
                .is_some_and(|after| self.defend(&after, point, depth + 1))
        })
    }

    /// Returns all ladders of a board, or `None` if there is too much to read.
    fn caught(board: &Board) -> Option<LadderStatus> {
        let mut caught = LadderStatus::default();
        for (point, color) in board.stones() {
            let mut slow = ReferenceReader { positions_left: 20_000 };
            match ReferenceReader::liberties(board, point)[..] {
                [_] if slow.defend(board, point, 0) => {
                    caught.stones.insert(point);
                }
                [first, second] => {
                    for attack in [first, second] {
                        let after = slow.after(board, attack, color.opponent());
                        if after.is_some_and(|after| slow.defend(&after, point, 0)) {
                            caught.stones.insert(point);
                            caught.moves[color].insert(attack);
                        }
                    }
                }
                _ => {}
            }
            if slow.positions_left == 0 {
                return None;
            }
        }
        Some(caught)
    }
}

/// Returns a position of a random game, possibly with a ko.
fn random_board(size: BoardSize, moves: u32, rng: &mut Rng) -> Board {
    let mut board = Board::new(size);
    let mut color = Color::Black;
    for _ in 0..moves {
        let first = rng.below(board.empties().len().max(1) as u32) as usize;
        let (after, before) = board.empties().split_at(first.min(board.empties().len()));
        let is_legal = |point: &Point| !board.is_suicide(*point, color) && !board.is_ko(*point, color);
        let point = before.iter().chain(after).copied().find(is_legal);
        if let Some(point) = point {
            board.play_unchecked(point, color);
        }
        color = color.opponent();
    }
    board
}

#[test]
fn reader_matches_reference() {
    let mut rng = Rng::new(14);
    let mut ladders = Ladders::default();
    let (mut caught_chains, mut ladder_moves, mut kos, mut skipped) = (0, 0, 0, 0);
    for round in 0..6000 {
        let size = BoardSize::new(1 + round % 7, 1 + round / 7 % 8).expect("size");
        let moves = rng.below(2 * size.area() as u32 + 1);
        let board = random_board(size, moves, &mut rng);
        let Some(expected) = ReferenceReader::caught(&board) else {
            skipped += 1;
            continue;
        };
        assert_eq!(*ladders.read(&board), expected, "\n{board}");
        assert_eq!(*ladders.read(&board), expected, "kept\n{board}");
        caught_chains += expected.stones.len();
        ladder_moves += expected.moves[Color::Black].len();
        kos += usize::from(board.ko().is_some());
    }
    assert!(caught_chains > 3000 && ladder_moves > 500 && kos > 50, "{caught_chains} {ladder_moves} {kos}");
    assert!(skipped < 60, "{skipped}");
}

/// Draws caught stones as `B` and `W`, and ladder moves as `b` (catching Black) and `w`.
fn drawing(board: &Board) -> String {
    let caught = *Ladders::default().read(board);
    let size = board.size();
    let mut text = String::new();
    for row in (0..size.rows()).rev() {
        for column in 0..size.columns() {
            let point = Point::new(column, row);
            text.push(match board.cell(point) {
                Cell::Black if caught.stones.contains(point) => 'B',
                Cell::White if caught.stones.contains(point) => 'W',
                Cell::Black => 'X',
                Cell::White => 'O',
                _ if caught.moves[Color::Black].contains(point) => 'b',
                _ if caught.moves[Color::White].contains(point) => 'w',
                _ => '.',
            });
        }
        text.push('\n');
    }
    text
}

#[track_caller]
fn check(position: &str, expected: &str) {
    let board: Board = position.parse().expect("drawing");
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join("\n");
    assert_eq!(plain(&drawing(&board)), plain(expected), "\n{board}");
}

#[test]
fn drawings() {
    // A ladder across the board, and two stones that break it.
    check(
        ".......
         .......
         .......
         .......
         .X.....
         .XO....
         ..X....",
        ".......
         .......
         .......
         .......
         .X.....
         .XWw...
         ..X....",
    );
    check(
        ".......
         .......
         ....O..
         .......
         .X.....
         .XO....
         ..X....",
        ".......
         .......
         ....O..
         .......
         .X.....
         .XO....
         ..X....",
    );
    // Chains in atari: one can escape to three liberties, the others are driven to the edge.
    check(".....\n.X...\nXO...\n.X...\n.....", ".....\n.X...\nXO...\n.X...\n.....");
    check("....\n.XX.\nXO..\n.XX.\n....", "....\n.XX.\nXW..\n.XX.\n....");
    check("..XX\n.XO.\n..XX", "..XX\n.XW.\n..XX");
}

/// Returns the board after the moves, beginning with `color`.
fn played(board: &str, moves: &[(usize, usize)], mut color: Color) -> Board {
    let mut board: Board = board.parse().expect("drawing");
    for &(column, row) in moves {
        board.play_unchecked(Point::new(column, row), color);
        color = color.opponent();
    }
    board
}

#[test]
fn a_ko_that_was_just_taken() {
    // Black takes the ko at C2. The capturing stone is in atari, and White may retake only as the defender in the first
    // move of a ladder.
    let before = "....\n.XO.\nXO.O\n.XO.";
    let board = played(before, &[(2, 1)], Color::Black);
    assert!(board.ko().is_some());
    assert_eq!(Some(*Ladders::default().read(&board)), ReferenceReader::caught(&board), "\n{board}");
    // The cache must distinguish the same stones without the ban.
    let mut lifted = board;
    lifted.pass();
    let mut ladders = Ladders::default();
    let (with, without) = (*ladders.read(&board), *ladders.read(&lifted));
    assert_eq!(Some(without), ReferenceReader::caught(&lifted));
    assert_eq!(*ladders.read(&board), with);
}

#[test]
fn symmetries_and_colours_make_no_difference() {
    let mut rng = Rng::new(8);
    let mut reader = Reader::default();
    for round in 0..400 {
        let size = BoardSize::new(3 + round % 8, 3 + round / 8 % 8).expect("size");
        let moves = rng.below(size.area() as u32);
        let board = random_board(size, moves, &mut rng);
        let caught = reader.read(&board);
        let mut swapped =
            Board::from_stones(size, board.stones().map(|(point, color)| (point, color.opponent())))
                .expect("legal");
        swapped.set_ko(board.ko().map(|(point, color)| (point, color.opponent())));
        let other = reader.read(&swapped);
        assert_eq!(other.stones, caught.stones, "\n{board}");
        for color in Color::BOTH {
            assert_eq!(other.moves[color.opponent()], caught.moves[color], "\n{board}");
        }
        for symmetry in Symmetry::ALL {
            let map = |point: Point| symmetry.apply(size, point);
            let stones = board.stones().map(|(point, color)| (map(point), color));
            let mut image = Board::from_stones(symmetry.image_size(size), stones).expect("legal");
            image.set_ko(board.ko().map(|(point, color)| (map(point), color)));
            let found = reader.read(&image);
            assert_eq!(found.stones, caught.stones.iter().map(map).collect(), "{symmetry:?}\n{board}");
            for color in Color::BOTH {
                assert_eq!(found.moves[color], caught.moves[color].iter().map(map).collect(), "\n{board}");
            }
        }
    }
}

#[test]
fn moves_are_taken_back() {
    let mut rng = Rng::new(9);
    for _ in 0..200 {
        let board = random_board(BoardSize::new(5, 6).expect("size"), 40, &mut rng);
        let mut reader = Reader::default();
        reader.load(&board);
        let (before, ko) = (reader.states.clone(), reader.ko);
        let color = if rng.below(2) == 0 { Color::Black } else { Color::White };
        let mut marks = Vec::new();
        let mut copy = board;
        for _ in 0..6 {
            let point = copy.empties()[rng.below(copy.empties().len() as u32) as usize];
            if copy.is_suicide(point, color) {
                continue;
            }
            marks.push(reader.play(point, color));
            copy.play_unchecked(point, color);
            for at in copy.size().points() {
                assert_eq!(reader.cell(at), copy.cell(at), "{at}\n{copy}");
                if copy.cell(at).color().is_some() {
                    assert_eq!(reader.atari_liberty(at), copy.atari_liberty(at), "{at}\n{copy}");
                    assert_eq!(reader.liberties::<4>(at).0, copy.liberties::<4>(at).0, "{at}\n{copy}");
                    assert_eq!(usize::from(reader.chain(at).stones), copy.chain_len(at), "{at}\n{copy}");
                }
            }
            assert_eq!(reader.ko, copy.ko().map(|(point, _)| point));
        }
        while let Some(mark) = marks.pop() {
            reader.take_back(mark);
        }
        assert!(reader.states == before && reader.ko == ko, "\n{board}");
    }
}

#[test]
fn a_small_board_after_a_large_one() {
    let mut reader = Reader::default();
    let mut rng = Rng::new(10);
    for side in [25, 3, 19, 1, 9, 2] {
        let board = random_board(BoardSize::square(side).expect("size"), 2 * (side * side) as u32, &mut rng);
        assert_eq!(reader.read(&board), Reader::default().read(&board), "\n{board}");
    }
}

#[test]
fn the_longest_ladder_fits_a_small_stack() {
    let size = BoardSize::square(25).expect("size");
    let at = Point::new;
    let black = [at(2, 1), at(1, 2), at(1, 3), at(3, 1)].map(|point| (point, Color::Black));
    let board = Board::from_stones(size, black.into_iter().chain([(at(2, 2), Color::White)])).expect("legal");
    let read = move || Reader::default().read(&board);
    let caught = std::thread::Builder::new().stack_size(256 << 10).spawn(read).expect("thread").join();
    assert_eq!(caught.expect("no overflow").moves[Color::White].len(), 2);
}
