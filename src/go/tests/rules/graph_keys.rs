//! Tests of which histories share a node of the search and which must not.

use kosumi_go::board::{Board, BoardSize, Color, Key, Move, Point};
use kosumi_go::game::Game;
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rules::{KoRule, Rules, Scoring};
use proptest::prelude::*;
use std::collections::HashMap;

fn at(column: usize, row: usize) -> Move {
    Move::Play(Point::new(column, row))
}

fn empty(side: usize) -> Game {
    Game::new(BoardSize::square(side).unwrap(), Rules::default(), 7.5)
}

fn after(mut game: Game, moves: &[Move]) -> Game {
    for &mv in moves {
        let color = game.to_move();
        game.play(color, mv).unwrap();
    }
    game
}

fn key(game: Game, moves: &[Move]) -> Key {
    after(game, moves).graph_key()
}

#[test]
fn transpositions_share_a_key() {
    let (a, b, c) = (at(2, 2), at(6, 6), at(2, 6));
    assert_eq!(key(empty(9), &[a, b, c]), key(empty(9), &[c, b, a]));
    let tree = || empty(9).with_sharing(NodeSharing::Tree);
    assert_ne!(key(tree(), &[a, b, c]), key(tree(), &[c, b, a]), "not on a tree");
    assert_eq!(key(tree(), &[a, b, c]), key(tree(), &[a, b, c]));
}

#[test]
fn the_side_to_move_matters() {
    let mut game = after(empty(9), &[at(4, 4)]);
    let white = game.graph_key();
    game.set_to_move(Color::Black);
    assert_ne!(game.graph_key(), white);
    game.set_to_move(Color::White);
    assert_eq!(game.graph_key(), white);
}

#[test]
fn passes_matter() {
    let stones = [at(2, 2), at(6, 6)];
    let start = key(empty(9), &stones);
    let one = key(empty(9), &[stones[0], stones[1], Move::Pass]);
    let two = key(empty(9), &[stones[0], stones[1], Move::Pass, Move::Pass]);
    assert!(start != one && one != two && start != two);
}

#[test]
fn rules_and_komi_matter() {
    let base = empty(9);
    let rules = base.rules();
    let others = [
        base.with_rules(rules, 6.5),
        base.with_rules(Rules { ko: KoRule::Situational, ..rules }, 7.5),
        base.with_rules(Rules { suicide: true, ..rules }, 7.5),
        base.with_rules(Rules { scoring: Scoring::Territory, ..rules }, 7.5),
        base.with_rules(Rules { friendly_pass: false, ..rules }, 7.5),
    ];
    let mut keys: Vec<Key> = others.iter().map(Game::graph_key).collect();
    keys.push(base.graph_key());
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 6);
}

/// The stones and the side to move are equal, but White may capture in one position and not in the other.
#[test]
fn what_superko_forbids_matters() {
    let drawing = ". X O . . . .\nX . X O . . .\n. X O . . . .\n. . . . . . .";
    let board: Board = drawing.parse().unwrap();
    for ko in [KoRule::Simple, KoRule::Positional, KoRule::Situational] {
        let rules = Rules { ko, ..Rules::default() };
        // White takes the ko and Black plays elsewhere, or the same stones are set up at the start.
        let start = Game::from_board(board, Color::White, rules, 7.5);
        let mut taken = after(start, &[at(1, 2)]);
        assert!(taken.check(Color::Black, at(2, 2)).is_err());
        let mut plain = *taken.board();
        plain.pass();
        let fresh = Game::from_board(plain, Color::Black, rules, 7.5);
        assert!(fresh.check(Color::Black, at(2, 2)).is_ok());
        assert_ne!(taken.graph_key(), fresh.graph_key(), "{ko:?}");
        taken.undo();
        assert_eq!(taken.graph_key(), Game::from_board(board, Color::White, rules, 7.5).graph_key());
    }
}

/// The same stones, reached with and without a capture: under territory scoring the prisoner is worth a point.
#[test]
fn prisoners_matter_where_they_count() {
    let board: Board = ". . . .\n. X O .\n. . X .\n. . . .".parse().unwrap();
    let game = |scoring| {
        Game::from_board(board, Color::Black, Rules { scoring, ko: KoRule::Simple, ..Rules::default() }, 6.5)
    };
    // Black captures the stone at C3, or the same stones are set up at the start without a capture.
    let both = |scoring| {
        let mut taken = game(scoring);
        for (color, mv) in [(Color::Black, at(2, 3)), (Color::Black, at(3, 2)), (Color::White, at(0, 0))] {
            taken.play(color, mv).unwrap();
        }
        let stones: Vec<_> = taken.board().stones().collect();
        let fresh = Board::from_stones(taken.size(), stones).unwrap();
        let fresh = Game::from_board(fresh, Color::Black, taken.rules(), 6.5);
        assert_eq!(taken.board().prisoners(Color::White), 1);
        (taken.graph_key(), fresh.graph_key())
    };
    let (taken, fresh) = both(Scoring::Area);
    assert_eq!(taken, fresh);
    let (taken, fresh) = both(Scoring::Territory);
    assert_ne!(taken, fresh);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    /// On random games on small boards, where superko often applies: whenever two of them reach the same node, they
    /// have the same stones, side to move, passes and legal moves.
    #[test]
    fn one_key_has_one_set_of_legal_moves(
        choices in prop::collection::vec(any::<u16>(), 2000),
        columns in 1usize..5,
        rows in 2usize..5,
        suicide in any::<bool>(),
        ko in prop::sample::select(vec![KoRule::Simple, KoRule::Positional, KoRule::Situational]),
    ) {
        let size = BoardSize::new(columns, rows).unwrap();
        let rules = Rules { ko, suicide, ..Rules::default() };
        let mut seen: HashMap<Key, (Key, Color, u8, Vec<Point>)> = HashMap::new();
        let mut game = Game::new(size, rules, 7.5);
        for choice in choices {
            let color = game.to_move();
            let legal = game.legal_points(color);
            let facts = (game.board().key(), color, game.passes().min(2), legal.clone());
            let first = seen.entry(game.graph_key()).or_insert_with(|| facts.clone());
            prop_assert_eq!(&*first, &facts);
            let mv = match legal.get(usize::from(choice) % (legal.len() + 1)) {
                Some(&point) => Move::Play(point),
                None => Move::Pass,
            };
            game.play(color, mv).unwrap();
            if game.passes() >= 2 || game.records().len() > 60 {
                game = Game::new(size, rules, 7.5);
            }
        }
    }
}

/// Checks that a key keeps the history that matters when the side to move is set: a position without bans for one side
/// may have bans for the other side after the next pass.
#[test]
fn the_history_stays_when_the_side_to_move_is_set() {
    let drawing = ". X O .\n X O . O\n . X O .";
    for ko in [KoRule::Positional, KoRule::Situational, KoRule::NaturalSituational] {
        let rules = Rules { ko, ..Rules::default() };
        let (left, right) = (Move::Play(Point::new(1, 1)), Move::Play(Point::new(2, 1)));
        let mut taken = Game::from_board(drawing.parse().expect("a drawing"), Color::White, rules, 0.5);
        for (color, mv) in [(Color::White, Move::Pass), (Color::Black, right), (Color::White, left)] {
            taken.play_tolerant(color, mv).expect("a move");
        }
        taken.play_tolerant(Color::Black, right).expect("a move");
        let mut fresh = Game::from_board(*taken.board(), Color::White, rules, 0.5);
        for game in [&mut taken, &mut fresh] {
            game.set_to_move(Color::Black);
            assert!(game.superko_banned(Color::Black).is_empty());
        }
        assert!(
            !taken.superko_banned(Color::White).is_empty() && fresh.superko_banned(Color::White).is_empty()
        );
        assert_ne!(taken.graph_key(), fresh.graph_key(), "{ko:?}");
        // Under simple ko, only the ban of the present position matters.
        let simple = taken.with_rules(Rules { ko: KoRule::Simple, ..rules }, 0.5);
        let fresh = fresh.with_rules(simple.rules(), 0.5);
        assert_eq!(simple.graph_key(), fresh.graph_key());
    }
}
