//! Tests of what the engine decides.

use super::*;
use crate::board::{Board, Point};
use crate::rules::KoRule;
use crate::score;

fn engine(rules: &str, playouts: u32) -> Engine {
    let rules = Rules::preset(rules).expect("a preset").rules;
    let settings = EngineSettings {
        threads: 1,
        memory_mebibytes: 8,
        playouts: Some(playouts),
        rules,
        komi: Some(0.5),
        resign: None,
        ..EngineSettings::default()
    };
    Engine::new(settings)
}

fn with_board(mut engine: Engine, drawing: &str, to_move: Color) -> Engine {
    let board: Board = drawing.parse().expect("drawing");
    let rules = engine.game().rules();
    engine.set_game(Game::from_board(board, to_move, rules, 0.5));
    engine
}

fn genmove(engine: &mut Engine, color: Color) -> Move {
    match engine.genmove(color, Thinking::new(&|| false)) {
        Decision::Play(mv) => mv,
        Decision::Resign => panic!("resigned"),
    }
}

/// Black owns all but White's two dead stones in the corner, which are in atari.
const DEAD_STONES: &str = "
    . . X . X O .
    X X X . X O O
    . X X X X O .
    X X . X X O O
    X . X X O O .
    X X X X O . O
    O O . X O O O";

#[test]
fn the_three_answers_about_the_end_agree() {
    for rules in ["chinese-kgs", "japanese", "cgos"] {
        let mut engine = with_board(engine(rules, 200), DEAD_STONES, Color::White);
        let status = engine.final_status();
        let friendly = engine.game().rules().friendly_pass;
        assert_eq!(status.dead.len(), if friendly { 2 } else { 0 }, "{rules}");
        assert_eq!(status.score, score::final_score(engine.game(), &status.dead), "{rules}");
        assert!(!status.is_open);
    }
}

#[test]
fn one_stone_does_not_own_the_board() {
    let mut engine = engine("chinese-kgs", 10);
    engine.set_size(BoardSize::square(9).expect("size"));
    engine.play(Color::Black, Move::Play(Point::new(4, 4))).expect("legal");
    let status = engine.final_status();
    assert!(status.is_open);
    assert!(status.score.abs() < 40.0, "{}", status.score);
}

#[test]
fn a_won_game_is_ended_when_the_opponent_passes() {
    let mut engine = with_board(engine("chinese-kgs", 100), DEAD_STONES, Color::White);
    engine.play(Color::White, Move::Pass).expect("a pass");
    assert_eq!(genmove(&mut engine, Color::Black), Move::Pass);
    assert!(engine.final_status().score > 0.0);
}

#[test]
fn a_group_that_needs_a_move_is_not_left_alone() {
    // Black lives inside the bulky five with one move and is dead without it. As long as Black moves first in
    // every playout, everything looks settled.
    let drawing = "
        X X X X O O
        X . . X O O
        X . . . X O
        X X X X X O
        O O O O O O
        O . O O . O";
    for seed in 1..=3 {
        let mut engine = with_board(engine("chinese-kgs", 1000), drawing, Color::Black);
        engine.set_seed(seed);
        engine.set_komi(-10.5);
        let two_eyes = [(1, 3), (2, 3), (2, 4)].map(|(column, row)| Move::Play(Point::new(column, row)));
        let mv = genmove(&mut engine, Color::Black);
        assert!(two_eyes.contains(&mv), "{mv}");
    }
}

#[test]
fn dead_stones_are_captured_first_where_all_stones_count() {
    // As it stands, Black has lost: the two stones must come off.
    let drawing = "
        X X X O .
        . X X O O
        X X X O .
        X . X O O
        O O X O O";
    let mut engine = with_board(engine("cgos", 500), drawing, Color::Black);
    engine.set_komi(5.5);
    let capture = Move::Play(Point::new(1, 1));
    assert_eq!(genmove(&mut engine, Color::Black), capture);
}

#[test]
fn whole_games_end_by_passes_and_both_sides_agree_on_the_score() {
    for (rules, seed) in [("chinese-kgs", 1), ("cgos", 2), ("japanese", 3), ("new-zealand", 4)] {
        let mut engine = engine(rules, 60);
        engine.set_size(BoardSize::new(6, 5).expect("size"));
        engine.set_seed(seed);
        let mut color = Color::Black;
        for _ in 0..200 {
            genmove(&mut engine, color);
            if engine.game().is_over() {
                break;
            }
            color = color.opponent();
        }
        assert!(engine.game().is_over(), "{rules}: no end\n{}", engine.game().board());
        let status = engine.final_status();
        assert_eq!(status.score, score::final_score(engine.game(), &status.dead), "{rules}");
    }
}

#[test]
fn own_moves_are_strict_even_where_the_record_was_not() {
    // Black has just taken the ko at C2 from B2; White takes back at once, which a tolerant record allows.
    let drawing = "
        . X O . .
        X O . O .
        . X O . .
        . . . . .";
    let mut engine = with_board(engine("chinese-kgs", 300), drawing, Color::Black);
    let (take, back) = (Move::Play(Point::new(2, 2)), Move::Play(Point::new(1, 2)));
    assert_eq!(engine.play(Color::Black, take), Ok(None));
    assert_eq!(engine.game().check(Color::White, back), Err(IllegalMove::Superko));
    for _ in 0..3 {
        let answer = engine.regression_move(Color::White, Thinking::new(&|| false));
        assert_eq!(engine.game().check(Color::White, answer), Ok(()));
    }
    assert_eq!(engine.play(Color::White, back), Ok(Some(IllegalMove::Superko)), "tolerant");
    engine.undo();
    engine.settings.strict = true;
    assert_eq!(engine.play(Color::White, back), Err(IllegalMove::Superko), "strict");
}

#[test]
fn the_same_questions_get_the_same_answers() {
    let play = || {
        let mut engine = engine("cgos", 80);
        engine.set_size(BoardSize::square(7).expect("size"));
        let moves: Vec<Move> = (0..12)
            .map(|n| genmove(&mut engine, if n % 2 == 0 { Color::Black } else { Color::White }))
            .collect();
        engine.clear();
        let again = genmove(&mut engine, Color::Black);
        (moves, again)
    };
    let (moves, again) = play();
    assert_eq!((moves.clone(), again), play());
    assert_eq!(moves[0], again, "after clearing the board");
}

#[test]
fn a_regression_move_changes_nothing() {
    let mut engine = engine("cgos", 50);
    engine.set_size(BoardSize::square(5).expect("size"));
    genmove(&mut engine, Color::Black);
    let key = engine.game().graph_key();
    let first = engine.regression_move(Color::Black, Thinking::new(&|| false));
    assert_eq!(engine.game().graph_key(), key);
    assert_eq!(engine.game().to_move(), Color::White);
    assert_eq!(engine.regression_move(Color::Black, Thinking::new(&|| false)), first);
}

#[test]
fn a_clock_limits_the_time_for_a_move() {
    let mut engine = engine("cgos", u32::MAX);
    engine.set_size(BoardSize::square(5).expect("size"));
    engine.set_time_control(TimeControl::Absolute { main: Duration::from_millis(300) });
    let start = Instant::now();
    let before = engine.clock(Color::Black).left();
    genmove(&mut engine, Color::Black);
    // Far below the five seconds without a clock; the exact share is the business of `time`.
    assert!(start.elapsed() < Duration::from_secs(3));
    assert!(engine.clock(Color::Black).left() < before);
    engine.clear();
    assert_eq!(engine.clock(Color::Black).left(), before, "a new game, a full clock");
}

#[test]
fn changing_the_ko_rule_keeps_the_moves() {
    let mut engine = engine("cgos", 10);
    engine.set_size(BoardSize::square(5).expect("size"));
    genmove(&mut engine, Color::Black);
    let (key, records) = (engine.game().board().key(), engine.game().records().len());
    engine.set_rules(Rules { ko: KoRule::Simple, ..engine.game().rules() });
    assert_eq!((engine.game().board().key(), engine.game().records().len()), (key, records));
}
