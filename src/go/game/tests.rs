//! Tests of the state of games and lines: moves, positions, button.

use super::*;
use crate::rng::Rng;

fn rules(name: &str) -> Rules {
    Rules::preset(name).expect("preset").rules
}

/// Returns a random legal move, occasionally a pass.
fn random_move(game: &Game, color: Color, rng: &mut Rng) -> Move {
    let points = game.legal_points(color);
    let choice = rng.below(points.len() as u32 + 1) as usize;
    points.get(choice).map_or(Move::Pass, |&point| Move::Play(point))
}

#[test]
fn the_button_is_taken_once_by_a_pass_that_does_not_count() {
    let size = BoardSize::square(3).expect("size");
    let mut game = Game::new(size, rules("aga-button"), 7.0);
    assert_eq!((game.button(), game.passes()), (Button::Free, 0));
    let mut keys = vec![game.graph_key()];
    for (button, passes, over) in [
        (Button::Taken(Color::Black), 0, false),
        (Button::Taken(Color::Black), 1, false),
        (Button::Taken(Color::Black), 2, true),
    ] {
        let mut line = Line::new(&game);
        line.play(Move::Pass);
        assert_eq!((line.button(), line.passes()), (button, passes));
        let color = game.to_move();
        game.play(color, Move::Pass).expect("passes are legal");
        assert_eq!((game.button(), game.passes(), game.is_over()), (button, passes, over));
        keys.push(game.graph_key());
    }
    assert_eq!(Button::Taken(Color::Black).black_points(), 0.5);
    for key in keys.iter().rev() {
        assert_eq!(game.graph_key(), *key);
        game.undo();
    }
    assert_eq!(game.button(), Button::Free);
    assert_eq!(Game::new(size, rules("aga"), 7.0).button(), Button::None);
}

#[test]
fn blacks_first_moves_in_a_row_are_a_handicap() {
    let size = BoardSize::square(5).expect("size");
    let rows = [
        ("", 0),
        ("B", 0),
        ("B B", 2),
        ("B B B", 3),
        ("B B W", 2),
        ("B B W B W W", 2),
        ("B B W W", 0),
        // A pass and a move of White are two moves in a row.
        ("B B pass W", 0),
        ("B B W Wpass", 0),
        ("B B W pass", 2),
        ("B W B B", 0),
        // White passes between the stones because some programs do not allow two moves of the same side in a row.
        ("B pass B", 2),
        ("B pass B pass B W", 3),
        ("B pass B pass Wpass", 0),
        ("pass B B", 2),
        ("B Bpass B W B", 2),
        ("B pass", 0),
        ("W B B", 0),
        ("W", 0),
    ];
    for (moves, expected) in rows {
        let mut game = Game::new(size, rules("chinese"), 0.5);
        let mut handicaps = vec![(game.handicap(), game.graph_key())];
        for (index, word) in moves.split_whitespace().enumerate() {
            let (color, mv) = match word {
                "pass" => (game.to_move(), Move::Pass),
                "Bpass" => (Color::Black, Move::Pass),
                "Wpass" => (Color::White, Move::Pass),
                "B" => (Color::Black, Move::Play(Point::new(index % 5, index / 5))),
                _ => (Color::White, Move::Play(Point::new(index % 5, index / 5))),
            };
            game.play(color, mv).expect("legal");
            handicaps.push((game.handicap(), game.graph_key()));
        }
        assert_eq!((game.handicap(), game.white_bonus()), (expected, expected as f32), "{moves}");
        assert_eq!(game.with_rules(game.rules(), 0.5).graph_key(), game.graph_key(), "{moves}");
        assert_eq!(game.with_rules(rules("aga"), 0.5).white_bonus(), expected.saturating_sub(1) as f32);
        for before in handicaps.iter().rev() {
            assert_eq!((game.handicap(), game.graph_key()), *before, "{moves}");
            game.undo();
        }
    }
}

#[test]
fn an_announced_handicap_overrides_the_moves() {
    let size = BoardSize::square(5).expect("size");
    let moves = |game: &mut Game| {
        for column in 0..2 {
            game.play(Color::Black, Move::Play(Point::new(column, 4))).expect("legal");
        }
        game.handicap()
    };
    let even = Game::new(size, rules("chinese"), 0.5);
    assert_eq!(moves(&mut even.clone()), 2);
    let three = [0, 1, 2].map(|column| Point::new(column, 0));
    assert_eq!(moves(&mut even.with_handicap(&three).expect("an empty board")), 3);
    let mut announced = even.clone();
    announced.set_handicap(4);
    assert_eq!(moves(&mut announced), 4);
    // Stones that were set up form a position, not a handicap.
    let board = Board::from_stones(size, [(Point::new(2, 2), Color::Black)]).expect("a board");
    assert_eq!(moves(&mut Game::from_board(board, Color::Black, rules("chinese"), 0.5)), 0);
}

#[test]
fn handicap_of_a_long_row_of_moves_is_fast() {
    let mut game = Game::new(BoardSize::new(2, 1).expect("size"), rules("chinese"), 0.5);
    for number in 0..200_000 {
        let mv = if number % 2 == 0 { Move::Pass } else { Move::Play(Point::new(0, 0)) };
        let _ = game.play(Color::Black, mv);
    }
    assert_eq!(game.handicap(), 0);
}

#[test]
fn taking_the_button_lifts_the_bans_of_superko() {
    let drawing = "
        . . . . .
        . . X O .
        . X O . O
        . . X O .
        . . . . .";
    for ko in [KoRule::Positional, KoRule::Situational, KoRule::NaturalSituational] {
        for has_button in [true, false] {
            let rules = Rules { ko, has_button, ..rules("aga-button") };
            let board: Board = drawing.parse().unwrap();
            let mut game = Game::from_board(board, Color::Black, rules, 7.0);
            // Black captures the ko. Passes of White and Black make it White's turn again.
            game.play(Color::Black, Move::Play(Point::new(3, 2))).unwrap();
            game.play(Color::White, Move::Pass).unwrap();
            game.play(Color::Black, Move::Pass).unwrap();
            let back = Move::Play(Point::new(2, 2));
            let expected = match (ko, has_button) {
                // The first position was on the board, but no play created it.
                (KoRule::NaturalSituational, _) | (_, true) => Ok(()),
                // It was on the board with Black to move, and Black would be to move again.
                _ => Err(IllegalMove::Superko),
            };
            assert_eq!(game.check(Color::White, back), expected, "{ko:?}, button: {has_button}");
            let line = Line::new(&game);
            assert_eq!(line.check(Point::new(2, 2)), expected, "{ko:?}, button: {has_button}");
            assert_eq!(game.superko_banned(Color::White).is_empty(), expected.is_ok());
            // Before the passes, both rules banned it, and after undo they ban it again.
            game.undo();
            game.undo();
            let banned = ko != KoRule::NaturalSituational;
            assert_eq!(game.check(Color::White, back).is_err(), banned, "{ko:?}, button: {has_button}");
        }
    }
}

#[test]
fn the_owner_of_the_button_is_part_of_the_key() {
    let size = BoardSize::square(3).expect("size");
    // Under simple ko, no other part of the history contributes to a key.
    let key = |has_button: bool, first: Color| {
        let rules = Rules { ko: KoRule::Simple, has_button, ..Rules::default() };
        let mut game = Game::new(size, rules, 7.0);
        game.play(first, Move::Pass).expect("legal");
        game.play(Color::Black, Move::Play(Point::new(1, 1))).expect("legal");
        game.graph_key()
    };
    assert_ne!(key(true, Color::Black), key(true, Color::White));
    assert_eq!(key(false, Color::Black), key(false, Color::White));
}

#[test]
fn boards_before_are_the_earlier_positions() {
    let mut rng = Rng::new(11);
    for round in 0..60 {
        let size = BoardSize::new(2 + round % 4, 2 + round / 4 % 4).expect("size");
        let rules = Rules { suicide: round % 2 == 0, ..Rules::default() };
        let mut game = Game::new(size, rules, 0.5);
        let mut positions = vec![*game.board()];
        let mut moves = Vec::new();
        // The moves of the game need not alternate.
        for _ in 0..rng.below(12) {
            let color = if rng.below(4) == 0 { game.to_move().opponent() } else { game.to_move() };
            let mv = random_move(&game, color, &mut rng);
            game.play(color, mv).expect("legal");
            positions.push(*game.board());
            moves.push((color, mv));
        }
        let mut shadow = game.clone();
        let mut line = Line::new(&game);
        for _ in 0..6 {
            let mut boards = [Board::new(size); 2];
            let count = line.boards_before(&mut boards);
            assert_eq!(count, (positions.len() - 1).min(2));
            for (back, board) in boards.iter().take(count).enumerate() {
                let expected = &positions[positions.len() - 2 - back];
                assert_eq!(board, expected, "{} moves before\n{}", back + 1, line.board());
                board.check_consistency();
                for color in Color::BOTH {
                    assert_eq!(board.prisoners(color), expected.prisoners(color));
                }
            }
            assert!(line.moves_backwards().eq(moves.iter().rev().copied()));
            let color = shadow.to_move();
            assert!(line.superko_banned().eq(shadow.superko_banned(color)));
            let mv = random_move(&shadow, color, &mut rng);
            shadow.play(color, mv).expect("legal");
            line.play(mv);
            positions.push(*shadow.board());
            moves.push((color, mv));
        }
    }
}

#[test]
fn endless_threats_lift_the_simple_ko_ban() {
    let board = ". X O .\n X O . O\n . X O .".parse().expect("a drawing");
    let (left, right) = (Point::new(1, 1), Point::new(2, 1));
    let mut game = Game::from_board(board, Color::Black, Rules::default(), 0.0);
    game.play(Color::Black, Move::Play(right)).expect("takes");
    assert!(game.check(Color::White, Move::Play(left)).is_err());
    // The existing ban and later ones are lifted, in a game and in a line.
    let mut game = game.with_endless_threats(Color::White);
    assert_eq!(game.rules().ko, KoRule::Simple);
    let key = game.graph_key();
    let mut line = Line::new(&game);
    for (mv, banned) in [(left, true), (right, false), (left, true)] {
        line.play(Move::Play(mv));
        assert_eq!(line.check(if mv == left { right } else { left }).is_err(), banned);
        if banned {
            line.play(Move::Pass);
            line.play(Move::Pass);
        }
    }
    game.play(Color::White, Move::Play(left)).expect("takes back");
    // Simple ko still restricts Black.
    assert_eq!(game.check(Color::Black, Move::Play(right)), Err(IllegalMove::Ko));
    game.undo();
    assert_eq!((game.graph_key(), game.board().ko()), (key, None));
    game.play(Color::White, Move::Play(left)).expect("takes back");
    let other_keys = game.clone().with_sharing(crate::graph_key::NodeSharing::Tree);
    let mut line = Line::new(&other_keys);
    line.play(Move::Pass);
    line.play(Move::Pass);
    line.play(Move::Play(right));
    assert_eq!(line.check(left), Ok(()));
    game.undo();
    // Exchanged roles: Black has the endless threats.
    let other = game.with_endless_threats(Color::Black);
    let mut line = Line::new(&other);
    line.play(Move::Play(left));
    assert_eq!(line.check(right), Ok(()));
}

#[test]
fn undo_returns_to_the_side_to_move_under_other_rules_too() {
    let size = BoardSize::square(3).expect("size");
    let mut game = Game::new(size, rules("chinese"), 7.5);
    let sides = [Color::White, Color::White, Color::Black, Color::White];
    for (column, color) in sides.into_iter().enumerate() {
        game.set_to_move(color);
        game.play(color, Move::Play(Point::new(column % 3, column / 3))).expect("legal");
    }
    game.set_to_move(Color::White);
    let mut other = game.with_rules(rules("japanese"), 6.5);
    let keys: Vec<Key> = std::iter::from_fn(|| other.undo().map(|_| other.graph_key())).collect();
    let mut again = game.with_rules(rules("japanese"), 6.5);
    for (key, color) in keys.into_iter().zip(sides.into_iter().rev()) {
        game.undo();
        again.undo();
        assert_eq!((again.to_move(), again.graph_key()), (color, key));
        assert_eq!(game.to_move(), color);
    }
}

#[test]
fn a_resumed_game_keeps_its_past() {
    let board: Board = ". X O .\n X O . O\n . X O .".parse().expect("a drawing");
    for name in ["aga-button", "tromp-taylor"] {
        let mut game = Game::from_board(board, Color::Black, rules(name), 0.0);
        let (left, right) = (Move::Play(Point::new(1, 1)), Move::Play(Point::new(2, 1)));
        game.play(Color::Black, Move::Pass).expect("a pass");
        game.play(Color::White, Move::Pass).expect("a pass");
        game.play(Color::Black, right).expect("takes");
        game.play(Color::White, Move::Pass).expect("a pass");
        game.play(Color::Black, Move::Pass).expect("a pass");
        assert_eq!(game.check(Color::White, left), Err(IllegalMove::Superko), "{name}");
        let mut resumed = game.resumed();
        assert_eq!((resumed.is_over(), resumed.button()), (false, game.button()), "{name}");
        resumed.set_to_move(Color::Black);
        resumed.set_to_move(Color::White);
        assert_eq!(resumed.check(Color::White, left), Err(IllegalMove::Superko), "{name}");
        assert_eq!(resumed.records(), game.records());
        let mut line = Line::new(&resumed);
        line.play(Move::Pass);
        assert_eq!(line.passes(), 1, "{name}");
        // Another past with the same stones and bans, and the same number of passes, has the same key.
        assert_eq!(resumed.graph_key(), game.resumed().graph_key());
    }
}
