//! Tests of random playouts: their mean length is known, and they end in a position without playable points.

use kosumi_go::board::{Board, BoardSize, Color, Move, Point};
use kosumi_go::playout::{self, PlayoutEnd, PlayoutObserver, UniformPolicy};
use kosumi_go::rng::Rng;

/// Runs a playout from the empty board.
fn playout<O: PlayoutObserver>(side: usize, rng: &mut Rng, observer: &mut O) -> (Board, PlayoutEnd) {
    let mut board = Board::new(BoardSize::square(side).expect("side"));
    let last = [Move::Pass; 2];
    let end = playout::run(&mut UniformPolicy, &mut board, Color::Black, last, rng, observer);
    (board, end)
}

/// Checks the mean length of playouts.
/// CITE: the expected means are those of Łukasz Lew's libego: 110.8, 219.0 and 454.7 moves.
#[track_caller]
fn check_mean_length(side: usize, games: u32, expected: f64, tolerance: f64) {
    let mut rng = Rng::new(2026);
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..games {
        let (_, end) = playout(side, &mut rng, &mut ());
        sum += f64::from(end.moves);
        squares += f64::from(end.moves).powi(2);
    }
    let mean = sum / f64::from(games);
    let variance = squares / f64::from(games) - mean * mean;
    let standard_error = (variance / f64::from(games)).sqrt();
    assert!(standard_error * 3.0 < tolerance, "{side}: {standard_error} needs more games");
    assert!((mean - expected).abs() < tolerance, "{side}: {mean} ± {standard_error}");
}

#[test]
fn mean_lengths() {
    check_mean_length(9, 100_000, 110.8, 0.3);
    check_mean_length(13, 25_000, 219.0, 0.5);
    check_mean_length(19, 15_000, 454.7, 0.7);
}

/// Observer that replays a playout on its own board and checks every move.
struct Watch {
    board: Board,
    moves: Vec<(Point, Color)>,
}

impl PlayoutObserver for Watch {
    fn placed(&mut self, point: Point, color: Color) {
        assert!(!self.board.is_eyelike(point, color), "{color} fills an eye\n{}", self.board);
        assert!(!self.board.is_suicide(point, color), "{color} {point}\n{}", self.board);
        assert!(!self.board.is_ko(point, color), "{color} {point}\n{}", self.board);
        if self.moves.last().is_some_and(|&(_, last)| last == color) {
            // The opponent passed in between.
            self.board.pass();
        }
        self.board.play_unchecked(point, color);
        self.moves.push((point, color));
    }
}

#[test]
fn playouts_fill_everything_but_eyes() {
    let mut rng = Rng::new(1);
    let mut cut_off = 0;
    for side in [1, 2, 3, 5, 7, 9, 13, 19, 25] {
        for _ in 0..100 {
            let empty = Board::new(BoardSize::square(side).expect("side"));
            let mut watch = Watch { board: empty, moves: Vec::new() };
            let (board, end) = playout(side, &mut rng, &mut watch);
            board.check_consistency();
            assert_eq!(watch.board.key(), board.key());
            assert!(end.moves <= playout::length_limit(&board));
            if !end.finished {
                cut_off += 1;
                continue;
            }
            for &point in board.empties() {
                for color in Color::BOTH {
                    let refused = board.is_eyelike(point, color) || board.is_suicide(point, color);
                    assert!(refused, "{color} could still play {point}\n{board}");
                }
            }
        }
    }
    assert!(cut_off < 20, "{cut_off} of 900 cut off");
}

#[test]
fn a_seed_decides_a_playout() {
    let moves = |seed: u64| {
        let mut watch = Watch { board: Board::new(BoardSize::square(9).expect("side")), moves: Vec::new() };
        playout(9, &mut Rng::new(seed), &mut watch);
        watch.moves
    };
    for seed in 0..20 {
        assert_eq!(moves(seed), moves(seed));
        assert_ne!(moves(seed), moves(seed + 1));
    }
}
