//! Tests of the solver with a set of drawn problems and their verdicts, and comparison of every answer with the
//! enumeration of all positions.

use super::bits::Bits;
use super::enumeration;
use super::problems::{BoardQuestion, WindowJob, with_window};
use super::window::UNLIMITED;
use super::{
    Aim, GroupReading, ProofNode, Question, QuestionError, Reading, Region, Status, Success, proof_tree,
    read, read_status, read_with_region,
};
use kosumi_go::board::{Board, BoardSize, Cell, Color, Move, Point, PointSet, Symmetry};
use kosumi_go::rng::Rng;

/// One problem of the file.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) name: String,
    pub(super) point: Point,
    /// The status, and whether the opponent captures the group moving first and moving second.
    pub(super) answer: String,
    pub(super) board: Board,
}

/// Reads the problems of `problems.txt`: a line `name | stone | answer`, and a drawing.
pub(super) fn problems() -> Vec<Problem> {
    let read = |block: &str| {
        let lines: Vec<&str> = block.lines().filter(|line| !line.starts_with('#')).collect();
        let [head, drawing @ ..] = lines.as_slice() else { return None };
        let [name, stone, answer] = head.split(" | ").collect::<Vec<_>>()[..] else { panic!("{head}") };
        let board: Board = drawing.join("\n").parse().unwrap();
        let point = board.size().points().find(|point| point.to_string() == stone).unwrap();
        Some(Problem { name: name.to_owned(), point, answer: answer.to_owned(), board })
    };
    include_str!("problems.txt").split("\n\n").filter_map(|block| read(block.trim())).collect()
}

pub(super) fn question<'a>(drawn: &'a Problem, region: &'a Region, aim: Aim) -> Question<'a> {
    Question { board: &drawn.board, region, aim, suicide: false, memory: 16 << 20, threads: 1 }
}

fn text(verdict: &GroupReading) -> String {
    format!("{:?} {:?} {:?}", verdict.status, verdict.attack.success, verdict.defence.success)
}

/// Returns the region of a problem as in books: the surrounding stones are alive.
pub(super) fn book_region(drawn: &Problem) -> Region {
    Region { excludes_moves_outside: true, ..Region::of_group(&drawn.board, drawn.point).unwrap() }
}

#[test]
fn drawn_problems_have_their_answers() {
    let problems = problems();
    assert!(problems.len() >= 225, "{}", problems.len());
    let mut wrong = Vec::new();
    for drawn in &problems {
        let region = book_region(drawn);
        let verdict =
            read_status(&question(drawn, &region, Aim::Capture), &|nodes| nodes > 2_000_000).unwrap();
        if text(&verdict) != drawn.answer {
            wrong.push(format!(
                "{}: {} instead of {}\n{}",
                drawn.name,
                text(&verdict),
                drawn.answer,
                drawn.board
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Most answers hold whatever is played outside. Where the surrounding stones do not live on their small boards, the
/// region grows.
#[test]
fn answers_hold_against_moves_outside() {
    let mut held = 0;
    for drawn in &problems() {
        let region = Region::of_group(&drawn.board, drawn.point).unwrap();
        let verdict = read_status(&question(drawn, &region, Aim::Capture), &|nodes| nodes > 60_000).unwrap();
        if verdict.region == region && verdict.status != Status::Unknown {
            assert_eq!(text(&verdict), drawn.answer, "{}\n{}", drawn.name, drawn.board);
            held += 1;
        }
    }
    assert!(held >= 190, "{held}");
}

/// Compares readings of random chains in their regions with readings on the whole board, with at most `max_nodes`
/// nodes for each. Returns the number of answers compared.
fn compare_with_whole_boards(positions: u32, seed: u64, max_nodes: u64) -> u32 {
    const SIZES: [(usize, usize); 5] = [(5, 5), (6, 4), (7, 4), (5, 4), (7, 3)];
    let mut rng = Rng::new(seed);
    let mut compared = 0;
    for number in 0..positions {
        let (columns, rows) = SIZES[rng.below(SIZES.len() as u32) as usize];
        let size = BoardSize::new(columns, rows).unwrap();
        let mut board = Board::new(size);
        for _ in 0..size.area() as u32 * (50 + rng.below(40)) / 100 {
            let point = Point::new(rng.below(columns as u32) as usize, rng.below(rows as u32) as usize);
            // The left half has more black stones, so that something is enclosed.
            let left = u32::from(2 * point.column() < columns);
            let color = if rng.below(4) < 1 + 2 * left { Color::Black } else { Color::White };
            if board.cell(point) == Cell::Empty && !board.is_suicide(point, color) {
                board.play_unchecked(point, color);
            }
        }
        board.pass();
        let everything: PointSet = size.points().collect();
        for (anchor, owner) in board.stones().filter(|&(point, _)| board.anchor(point) == point) {
            let near = Region::of_group(&board, anchor).unwrap();
            if !near.is_closed {
                continue;
            }
            let mut near = if rng.below(2) == 0 { near } else { near.with_edge(&board, owner) };
            near.group = board.chain(anchor).collect();
            let whole = Region { playable: everything, ..near };
            for first in Color::BOTH {
                let ask = |region: &Region| {
                    let aim = Aim::Capture;
                    let question =
                        Question { board: &board, region, aim, suicide: false, memory: 4 << 20, threads: 1 };
                    read_with_region(&question, first, &|nodes| nodes >= max_nodes)
                };
                let Ok((found, region)) = ask(&near) else { continue };
                if found.success == Success::Unknown || region.playable == everything {
                    continue;
                }
                let (expected, _) = ask(&whole).unwrap();
                if expected.success == Success::Unknown {
                    continue;
                }
                // The number of threats that decides a ko can depend on moves that only gain time, which the region may
                // lack.
                let kind = |success: Success| (success.without_threats(), success.is_ko());
                assert_eq!(
                    kind(found.success),
                    kind(expected.success),
                    "{number} of {seed}: {anchor}, {first} first, in {:?}\n{board}",
                    marked(&board, &region)
                );
                compared += 1;
            }
        }
    }
    compared
}

#[test]
fn answers_in_regions_are_those_of_whole_boards() {
    let compared = compare_with_whole_boards(150, 1, 4_000);
    assert!(compared > 150, "{compared}");
}

#[test]
#[ignore = "takes minutes: cargo test --profile checked -p kosumi-solve problems_tests -- --ignored"]
fn many_answers_in_regions_are_those_of_whole_boards() {
    let compared: u32 = (2..8).map(|seed| compare_with_whole_boards(400, seed, 20_000)).sum();
    assert!(compared > 4_000, "{compared}");
}

/// Comparison of a reading with the enumeration of all positions, for the numbers of threats that matter.
struct Compare {
    first: Color,
    reading: Reading,
    most: usize,
    /// Number of questions that both methods answered.
    compared: usize,
}

impl WindowJob for Compare {
    type Output = ();

    fn run<B: Bits>(&mut self, question: &Question<'_>, setting: BoardQuestion<B>) {
        let prover = setting.goal.prover as usize;
        let forces = |mine: u8, theirs: u8| {
            let mut threats = [theirs; 2];
            threats[prover] = mine;
            let root = setting.root(question.board, self.first, threats);
            let settled = |position: &_| setting.goal.decided(&setting.window, position).map(|it| it.won);
            enumeration::forces(&setting.window, &setting.goal, &root, self.most, settled)
        };
        let expected = match forces(0, 0) {
            Some(true) => forces(0, UNLIMITED).map(|won| if won { "yes" } else { "ko" }),
            Some(false) => forces(UNLIMITED, 0).map(|won| if won { "ko" } else { "no" }),
            None => None,
        };
        let Some(expected) = expected else { return };
        let found = match self.reading.success {
            Success::Yes => "yes",
            Success::No => "no",
            Success::KoFirst(_) | Success::KoSecond(_) => "ko",
            Success::Unknown => return,
        };
        assert_eq!(found, expected, "{} first\n{}", self.first, question.board);
        self.compared += 1;
    }
}

fn compare(most: usize) -> usize {
    let mut compared = 0;
    for drawn in &problems() {
        let region = book_region(drawn);
        let question = question(drawn, &region, Aim::Capture);
        let Ok(verdict) = read_status(&question, &|nodes| nodes > 2_000_000) else {
            panic!("{}", drawn.name)
        };
        let owner = drawn.board.cell(drawn.point).color().unwrap();
        for (first, reading) in [(owner.opponent(), verdict.attack), (owner, verdict.defence)] {
            let mut job = Compare { first, reading, most, compared: 0 };
            with_window(&question, &mut job).unwrap();
            compared += job.compared;
        }
    }
    compared
}

#[test]
fn answers_are_those_of_all_positions() {
    assert!(compare(3_000) > 100);
}

#[test]
#[ignore = "takes a minute: cargo test --profile checked -p kosumi-solve problems_tests -- --ignored"]
fn answers_are_those_of_all_positions_in_large_regions() {
    assert!(compare(3_000_000) > 250);
}

fn at(board: &Board, vertex: &str) -> Point {
    board.size().points().find(|point| point.to_string() == vertex).unwrap()
}

/// Reads a question about the stones at `point`, with White and then Black to move.
fn both(drawing: &str, point: &str, aim: impl Fn(&Board) -> Aim) -> [Success; 2] {
    let board: Board = drawing.parse().unwrap();
    let point = at(&board, point);
    let aim = aim(&board);
    let region = match aim {
        Aim::Connect(a, b) => Region::near(&board, &[a, b], 3),
        _ => Region::of_group(&board, point).unwrap(),
    };
    let question =
        Question { board: &board, region: &region, aim, suicide: false, memory: 8 << 20, threads: 1 };
    [Color::White, Color::Black]
        .map(|first| read(&question, first, &|nodes| nodes > 500_000).unwrap().success)
}

#[test]
fn ladders_nets_and_snapbacks_are_read() {
    let chain = |vertex: &'static str| move |board: &Board| Aim::Chain(at(board, vertex));
    // A ladder that runs to the edge, and a ladder with a stone in its path.
    let ladder = ". . . . . . . . .\n. . . . . . . . .\n. . . . . . . . .\n. . . . . . . . .\n. . . . . . . . .\n\
                  . . . . . . . . .\n. . O . . . . . .\n. O X . . . . . .\n. . O . . . . . .";
    assert_eq!(both(ladder, "C2", chain("C2")), [Success::Yes, Success::No]);
    let broken = ladder.replacen(
        ". . . . . . . . .\n. . . . . . . . .\n. . . . . . . . .",
        ". . . . . . . . .\n\
                  . . . . . . . . .\n. . . . . . X . .",
        1,
    );
    assert_ne!(broken, ladder);
    let [first, second] = both(&broken, "C2", chain("C2"));
    assert_eq!(second, Success::No, "{first:?}");
    // A net: the stone cannot escape although it is not in atari.
    let net = ". . . . . . .\n. . . . . . .\n. . . O . . .\n. O . . O . .\n. O X . . . .\n. O O O . . .\n. . . . . . .";
    assert_eq!(both(net, "C3", chain("C3")), [Success::Yes, Success::Yes]);
    // A snapback: the three black stones gain nothing by capturing.
    let snapback = "O O O . .\nX X O O .\n. X X O .\n. O X O .\nO O O O .";
    assert_eq!(both(snapback, "B3", chain("B3"))[0], Success::Yes);
}

#[test]
fn a_stone_that_can_be_taken_back_is_captured_by_a_ko() {
    let chain = |vertex: &'static str| move |board: &Board| Aim::Chain(at(board, vertex));
    let ko = ". . . . . . .\n. . X O . . .\n. X O . O . .\n. . X O . . .\n. . . . . . .\n. . . . . . .\n. . . . . . .";
    // Black needs to ignore one threat, and White connects.
    assert_eq!(both(ko, "C5", chain("C5")), [Success::No, Success::KoFirst(1)]);
    // Two stones are not retaken one by one.
    let pair = ". . . . . . .\n. X X O . . .\nX O O . O . .\n. X X O . . .\n. . . . . . .\n. . . . . . .\n. . . . . . .";
    let [_, black] = both(pair, "C5", chain("C5"));
    assert_eq!(black, Success::Yes, "\n{pair}");
}

#[test]
fn moves_that_help_neighbours_save_a_chain() {
    let board = "O . O . X\n. . O . .\nX O X X O\n. . O X O\n. O . . X";
    // With all moves on the whole board, White is not captured.
    let parsed: Board = board.parse().unwrap();
    let all: PointSet = parsed.size().points().collect();
    let region = Region::with_points(&parsed, all, at(&parsed, "A5"));
    let question = Question {
        board: &parsed,
        region: &region,
        aim: Aim::Capture,
        suicide: false,
        memory: 32 << 20,
        threads: 1,
    };
    assert_eq!(read(&question, Color::Black, &|_| false).unwrap().success, Success::No);
    // Tactical reading finds that only if White may play beyond the second liberties of the chain.
    assert_eq!(both(board, "A5", |board: &Board| Aim::Chain(at(board, "A5")))[1], Success::No);
}

#[test]
fn connections_are_read() {
    let connect =
        |a: &'static str, b: &'static str| move |board: &Board| Aim::Connect(at(board, a), at(board, b));
    // A bamboo joint cannot be cut, but a knight's move between two enemies can.
    let joint = ". . . . . .\n. O . . O .\n. X X X . .\n. . . . . .\n. X X X . .\n. O . . O .";
    assert_eq!(both(joint, "B4", connect("B4", "B2")), [Success::Yes, Success::Yes]);
    let cut = ". . O . .\n. X O . .\n. . . . .\n. . O X .\n. . O . .";
    assert_eq!(both(cut, "B4", connect("B4", "D2"))[0], Success::No);
}

#[test]
fn links_are_read_tactically() {
    let link = |a: &'static str, b: &'static str| move |board: &Board| Aim::Link(at(board, a), at(board, b));
    let joint = ". . . . . .\n. O . . O .\n. X X X . .\n. . . . . .\n. X X X . .\n. O . . O .";
    assert_eq!(both(joint, "B4", link("B4", "B2")), [Success::Yes, Success::Yes]);
    let cut = ". . O . .\n. X O . .\n. . . . .\n. . O X .\n. . O . .";
    assert_eq!(both(cut, "B4", link("B4", "D2"))[0], Success::No);
    // A stone that cuts a jump is captured in a ladder or a net, unless it has help on both sides.
    let jump = format!(
        "{0}{0}{0}. . . . X . . . .\n{0}. . . . X . . . .\n{0}{0}. . . . . . . . .",
        ". . . . . . . . .\n"
    );
    assert_eq!(both(&jump, "E6", link("E6", "E4")), [Success::Yes, Success::Yes]);
    let rest = ". . . . . . . . .\n. . . . X . . . .\n. . . . . . . . .\n. . . . . . . . .";
    let helped = jump.replace(rest, &rest.replacen(". . . . . .", ". . . O . O", 1));
    assert_ne!(helped, jump);
    assert_eq!(both(&helped, "E6", link("E6", "E4")), [Success::No, Success::Yes]);
    // Stones that are joined and captured at once are not joined; with one liberty more they are.
    let atari = ". . . . .\n. . O . .\nO O . O .\nX . X O .";
    assert_eq!(both(atari, "A1", link("A1", "C1")), [Success::No, Success::No]);
    let free = atari.replacen("X O .", "X . .", 1);
    assert_eq!(both(&free, "A1", link("A1", "C1"))[1], Success::Yes);
}

#[test]
fn tactical_reading_uses_a_window_on_large_boards() {
    let drawing = ". . . . .\n. X X X .\n. . . . .\n. X X X .\n. O . . .\nO X O . .\n. . . . .";
    let small: Board = drawing.parse().unwrap();
    let region = Region::EMPTY;
    let ask = |board: &Board, aim| {
        let question = Question { board, region: &region, aim, suicide: false, memory: 8 << 20, threads: 1 };
        read(&question, Color::White, &|nodes| nodes > 100_000).map(|reading| reading.success)
    };
    let size = BoardSize::new(25, 25).unwrap();
    for (right, up) in [(0, 0), (20, 18), (10, 9)] {
        let moved = |point: Point| Point::new(point.column() + right, point.row() + up);
        let point = |vertex| moved(at(&small, vertex));
        let board = Board::from_stones(size, small.stones().map(|(it, color)| (moved(it), color))).unwrap();
        assert_eq!(ask(&board, Aim::Link(point("B6"), point("D4"))), Ok(Success::Yes), "a bamboo joint");
        assert_eq!(ask(&board, Aim::Link(point("B6"), point("D6"))), Ok(Success::Yes), "one chain");
        assert_eq!(ask(&board, Aim::Chain(point("B2"))), Ok(Success::Yes), "in atari");
    }
    // The only liberty of the black chain, Z2, lies outside the window. It is unknown whether it can be filled, so the
    // chain is not captured.
    let row = |row: usize, color| (0..24).map(move |column| (Point::new(column, row), color));
    let long = row(0, Color::White).chain(row(1, Color::Black)).chain(row(2, Color::White));
    let long = Board::from_stones(size, long.collect::<Vec<_>>()).unwrap();
    assert_eq!(ask(&long, Aim::Chain(Point::new(2, 1))), Ok(Success::No));
    let corners = [Point::new(0, 0), Point::new(24, 24)];
    let far = Board::from_stones(size, corners.map(|corner| (corner, Color::Black))).unwrap();
    assert_eq!(ask(&far, Aim::Link(corners[0], corners[1])), Err(QuestionError::TooLarge));
    // A long and narrow board fits whole.
    let corners = [Point::new(0, 0), Point::new(24, 9)];
    let narrow = BoardSize::new(25, 10).unwrap();
    let narrow = Board::from_stones(narrow, corners.map(|corner| (corner, Color::Black))).unwrap();
    assert_eq!(ask(&narrow, Aim::Link(corners[0], corners[1])), Ok(Success::No));
}

/// Returns the board with the region's empty points marked.
fn marked(board: &Board, region: &Region) -> String {
    let mut rows: Vec<Vec<char>> = board
        .to_string()
        .lines()
        .map(|line| line.split(' ').map(|point| point.chars().next().unwrap()).collect())
        .collect();
    for point in region.playable.iter().filter(|&point| board.cell(point) == Cell::Empty) {
        let row = rows.len() - 1 - point.row();
        rows[row][point.column()] = '+';
    }
    rows.iter().map(|row| row.iter().collect::<String>()).collect::<Vec<_>>().join("\n")
}

#[test]
fn joined_weak_stones_and_pockets_are_no_escape() {
    // Black's stone at A3 is behind White's at A4. Black does not live by joining it: A2 is White's move.
    let friend = "OOOO...\nXXXO...\n.XO....\n.XO....\nOXO....\nXOO....\n.......\nOOO....\n.......";
    let board: Board = friend.parse().unwrap();
    let region = Region::of_group(&board, at(&board, "A8")).unwrap();
    assert!(region.is_closed && !region.playable.contains(at(&board, "A3")));
    let region = region.with_edge(&board, Color::Black);
    let expected = "OOOO+..\nXXXO+..\n+XO+...\n+XO....\nOXO....\nXOO....\n++.....\nOOO....\n.......";
    assert_eq!(marked(&board, &region), expected);
    // A white stone at A5, to capture A6, would have a liberty at A4, but Black's points behind it are closed.
    let pocket = ".X.OX.XO\nXOOOXXXO\n.X.OX.O.\n.X.OX.O.\n.XXXOOO.\n...X....\nXXXXX...";
    let board: Board = pocket.parse().unwrap();
    let holds =
        |region: &Region| ["A5", "A4", "A3", "C2"].map(|name| region.playable.contains(at(&board, name)));
    let region = Region::of_group(&board, at(&board, "D7")).unwrap();
    assert_eq!(holds(&region), [true, false, false, false]);
    assert_eq!(holds(&region.with_edge(&board, Color::White)), [true; 4]);
}

#[test]
fn questions_without_an_answer_are_refused() {
    let board: Board = "XX.\nOXX\n.OX".parse().unwrap();
    let region = Region::of_group(&board, Point::new(0, 2)).unwrap();
    let all: PointSet = board.size().points().collect();
    let stones: PointSet = board.stones().map(|(point, _)| point).collect();
    let ask = |region: &Region, aim: Aim| {
        let question = Question { board: &board, region, aim, suicide: false, memory: 0, threads: 1 };
        read(&question, Color::White, &|_| false).map(|reading| reading.success)
    };
    let drawn = |playable, point| Region::with_points(&board, playable, point);
    let (black, empty) = (Point::new(0, 2), Point::new(2, 2));
    assert_eq!(ask(&drawn(all, empty), Aim::Capture), Err(QuestionError::NoStones));
    assert_eq!(ask(&drawn(stones, black), Aim::Capture), Err(QuestionError::NoRoom));
    assert_eq!(ask(&region, Aim::Connect(black, Point::new(0, 1))), Err(QuestionError::NotOneColor));
    assert_eq!(ask(&region, Aim::Connect(black, empty)), Err(QuestionError::NotOneColor));
    assert_eq!(ask(&region, Aim::Race(Point::new(1, 2))), Err(QuestionError::NoStones));
    assert_eq!(ask(&region, Aim::Chain(empty)), Err(QuestionError::NoStones));
    assert!(Region::of_group(&board, empty).is_none());
    // The smallest table is enough, and with nothing to search nothing is claimed.
    assert!(ask(&region, Aim::Capture).is_ok());
    let question =
        Question { board: &board, region: &region, aim: Aim::Capture, suicide: false, memory: 0, threads: 1 };
    assert_eq!(read(&question, Color::White, &|_| true).unwrap().success, Success::Unknown);
}

#[test]
fn a_proof_shows_the_move_and_what_is_wrong_with_others() {
    let drawn = problems().into_iter().find(|drawn| drawn.answer.starts_with("Unsettled")).unwrap();
    let region = Region::of_group(&drawn.board, drawn.point).unwrap();
    let question = question(&drawn, &region, Aim::Capture);
    let owner = drawn.board.cell(drawn.point).color().unwrap();
    let reading = read(&question, owner, &|_| false).unwrap();
    let proof = proof_tree(&question, owner, reading.success, 500, &|_| false).unwrap();
    // The group lives by the first move of the list and dies by others.
    assert_eq!(proof[0].success, Some(false));
    assert_eq!(proof[0].mv, reading.best);
    assert!(matches!(proof[0].mv, Some(Move::Play(_))));
    let wrong: Vec<_> = proof.iter().filter(|node| node.success == Some(true)).collect();
    assert!(!wrong.is_empty() && wrong.iter().all(|node| node.color == owner && !node.replies.is_empty()));
}

/// Replays a shown proof. The winner after a move must win after all moves shown below it, and stones that are gone
/// must have been captured. Returns the number of captures seen.
fn replay(drawn: &Problem, board: &Board, nodes: &[ProofNode], above: Option<bool>) -> usize {
    let mut captures = 0;
    for node in nodes {
        let mut board = *board;
        if let Some(Move::Play(point)) = node.mv {
            assert!(board.cell(point) == Cell::Empty, "{}: {point}\n{board}", drawn.name);
            board.play_unchecked(point, node.color);
        }
        assert!(node.success.is_some(), "{}", drawn.name);
        assert!(above.is_none() || node.success == above, "{}: {:?}\n{board}", drawn.name, node.mv);
        let owner = drawn.board.cell(drawn.point);
        let region = Region::of_group(&drawn.board, drawn.point).unwrap();
        let captured = region.group.iter().all(|point| board.cell(point) != owner);
        if captured {
            assert_eq!((node.success, node.replies.len()), (Some(true), 0), "{}\n{board}", drawn.name);
        }
        captures += usize::from(captured) + replay(drawn, &board, &node.replies, node.success);
    }
    captures
}

#[test]
fn shown_proofs_hold_when_they_are_played() {
    let mut captures = 0;
    for drawn in problems().iter().step_by(9) {
        let region = Region::of_group(&drawn.board, drawn.point).unwrap();
        let question = question(drawn, &region, Aim::Capture);
        for first in Color::BOTH {
            let reading = read(&question, first, &|_| false).unwrap();
            let proof = proof_tree(&question, first, reading.success, 400, &|_| false).unwrap();
            let shown = |nodes: &[ProofNode]| nodes.iter().map(ProofNode::size).sum::<usize>();
            assert!((1..=400).contains(&shown(&proof)), "{}", drawn.name);
            captures += replay(drawn, &drawn.board, &proof, None);
        }
    }
    assert!(captures > 50, "{captures}");
}

/// Black's group at C9 is enclosed by White's stone at F9, among others, which is lost: Black plays F8, G9 and H9.
const LOST_WALL: &str = "
    . . X X X O . . .
    X X X O O . X . .
    O O O . . O X . .
    . . . O O . X X .
    . . . . . . . X .
    . . . . . . . X .
    . . . . . . . X X
    . . . . . . . . .
    . . . . . . . . .";

/// Reads the stone's fate with its owner and then the opponent to move first, within the node budget of a command.
fn readings(board: &Board, point: Point) -> [Reading; 2] {
    let owner = board.cell(point).color().unwrap();
    let region = Region::of_group(board, point).unwrap().with_edge(board, owner);
    let question =
        Question { board, region: &region, aim: Aim::Capture, suicide: false, memory: 8 << 20, threads: 1 };
    [owner, owner.opponent()].map(|first| read(&question, first, &|nodes| nodes >= 50_000).unwrap())
}

#[test]
fn moves_outside_the_region_count() {
    // White's wall runs further along the edge before it is lost.
    let further =
        LOST_WALL.replacen("X O . . .\n    X X X O O . X . .", "X O O . .\n    X X X O O . X X .", 1);
    assert_ne!(further, LOST_WALL);
    // The wall is in atari from outside.
    let atari = LOST_WALL.replacen("X O . . .", "X O X . .", 1);
    for (drawing, name) in [(LOST_WALL, "as it was"), (&further, "further away"), (&atari, "in atari")] {
        let board: Board = drawing.parse().unwrap();
        for swap in [false, true] {
            for symmetry in Symmetry::of(board.size()) {
                let stones = board.stones().map(|(point, color)| {
                    let color = if swap { color.opponent() } else { color };
                    (symmetry.apply(board.size(), point), color)
                });
                let turned = Board::from_stones(board.size(), stones).unwrap();
                let point = symmetry.apply(board.size(), at(&board, "C9"));
                let [defence, attack] = readings(&turned, point);
                // An undecided answer is acceptable; a capture is wrong.
                assert!(matches!(defence.success, Success::No | Success::Unknown), "{name}: {defence:?}");
                assert_eq!(attack.success, Success::Yes, "{name}");
                if name == "in atari" {
                    assert_eq!(defence.success, Success::No, "the nearest wall is read");
                }
            }
        }
    }
    // Without help outside, Black is captured.
    let alone = LOST_WALL.replace("X . .\n    O", "O . .\n    O");
    assert_ne!(alone, LOST_WALL);
    let board: Board = alone.parse().unwrap();
    assert_eq!(readings(&board, at(&board, "C9")).map(|reading| reading.success), [Success::Yes; 2]);
}
