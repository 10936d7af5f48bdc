//! Tests of the engine's decisions.

use super::*;
use kosumi_go::board::{Board, Point};
use kosumi_go::rng::Rng;
use kosumi_go::rules::{HandicapBonus, KoRule};
use kosumi_go::score;
use kosumi_go::sgf::{Meta, Record};
use kosumi_search::Detail;

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
    match engine.genmove(color, SearchRequest::new(&|| false)) {
        Decision::Play(mv) => mv,
        Decision::Resign => panic!("resigned"),
    }
}

/// Black owns everything except White's two dead stones in the corner, which are in atari.
const DEAD_STONES: &str = "
    . . X . X O .
    X X X . X O O
    . X X X X O .
    X X . X X O O
    X . X X O O .
    X X X X O . O
    O O . X O O O";

#[test]
fn dead_stones_score_and_status_agree() {
    for rules in ["chinese-kgs", "japanese", "cgos"] {
        let mut engine = with_board(engine(rules, 200), DEAD_STONES, Color::White);
        let status = engine.final_status();
        let friendly = engine.game().rules().friendly_pass;
        assert_eq!(status.dead.len(), if friendly { 2 } else { 0 }, "{rules}");
        assert_eq!(status.score, score::final_score(engine.game(), &status.dead), "{rules}");
        assert_eq!(status.open_points, 0);
    }
}

#[test]
fn a_forbidden_pass_is_not_played_while_any_permitted_move_is_legal() {
    // Playouts do not consider that a player fills an eye.
    let mut engine = with_board(engine("chinese-kgs", 20), "X . X\n. X X\nX X X", Color::Black);
    let avoided = [Move::Pass, Move::Play(Point::new(1, 2))];
    let restriction = Restriction::avoiding(Color::Black, avoided, 1);
    let request = SearchRequest { restriction, ..SearchRequest::new(&|| false) };
    let decision = engine.genmove(Color::Black, request);
    assert_eq!(decision, Decision::Play(Move::Play(Point::new(0, 1))));
}

/// Checks that a search with moves forbidden below the root does not keep what other searches found with these moves.
#[test]
fn forbidden_replies_are_in_no_value_and_no_variation() {
    let mut engine = engine("chinese-kgs", 10);
    engine.set_size(BoardSize::square(3).expect("size"));
    let playouts = |engine: &mut Engine, restriction: Restriction| {
        let request = SearchRequest { restriction, ..SearchRequest::analysis(&|| false, Detail::default()) };
        engine.analyze(Color::Black, &Limits::playouts(300), request).clone()
    };
    let free = playouts(&mut engine, Restriction::NONE);
    let reply = free.principal_variation()[1];
    let without = Restriction::avoiding(Color::White, [reply], 2);
    let restricted = playouts(&mut engine, without.clone());
    assert_eq!(restricted.visits, 300, "nothing is kept");
    assert!(restricted.moves.iter().all(|entry| entry.variation.get(1) != Some(&reply)));
    assert!(playouts(&mut engine, without).visits > 300, "the same restriction goes on");
    // At the root, moves that are left out do no harm.
    let first = free.principal_variation()[0];
    playouts(&mut engine, Restriction::NONE);
    assert!(playouts(&mut engine, Restriction::avoiding(Color::Black, [first], 1)).visits > 300);
}

#[test]
fn one_stone_does_not_own_the_board() {
    let mut engine = engine("chinese-kgs", 10);
    engine.set_size(BoardSize::square(9).expect("size"));
    engine.play(Color::Black, Move::Play(Point::new(4, 4))).expect("legal");
    let status = engine.final_status();
    assert!(status.open_points > 40);
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
    // Black lives inside the bulky five with one move and is dead without it. Playouts in which Black always moves
    // first make the whole board look settled.
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
        assert!(!engine.final_status().unsettled.is_empty());
        let two_eyes = [(1, 3), (2, 3), (2, 4)].map(|(column, row)| Move::Play(Point::new(column, row)));
        let mv = genmove(&mut engine, Color::Black);
        assert!(two_eyes.contains(&mv), "{mv}");
    }
}

#[test]
fn dead_stones_are_captured_first_where_all_stones_count() {
    // As the stones stand, Black has lost: the two stones must be captured.
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
    // Black has just taken the ko at C2 from B2. White retakes at once, which a record that is followed tolerantly
    // allows.
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
        let answer = engine.regression_move(Color::White, SearchRequest::new(&|| false));
        assert_eq!(engine.game().check(Color::White, answer), Ok(()));
    }
    assert_eq!(engine.play(Color::White, back), Ok(Some(IllegalMove::Superko)), "tolerant");
    engine.undo();
    engine.settings.strict = true;
    assert_eq!(engine.play(Color::White, back), Err(IllegalMove::Superko), "strict");
}

#[test]
fn play_is_deterministic() {
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
    let first = engine.regression_move(Color::Black, SearchRequest::new(&|| false));
    assert_eq!(engine.game().graph_key(), key);
    assert_eq!(engine.game().to_move(), Color::White);
    assert_eq!(engine.regression_move(Color::Black, SearchRequest::new(&|| false)), first);
}

#[test]
fn a_clock_limits_the_time_for_a_move() {
    let mut engine = engine("cgos", u32::MAX);
    engine.set_size(BoardSize::square(5).expect("size"));
    assert_eq!(engine.limits(engine.budget(Color::Black)).hard, None, "only the clock ends the search");
    engine.set_time_control(TimeControl::Absolute { main: Duration::from_millis(300) });
    let before = engine.clock(Color::Black).left();
    assert!(engine.limits(engine.budget(Color::Black)).hard.is_some_and(|hard| hard < before));
    // The tests of `time` check the exact amounts.
    genmove(&mut engine, Color::Black);
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

/// Applies a random action of a controller to the engine.
fn disturb(engine: &mut Engine, rng: &mut Rng) {
    let size = engine.game().size();
    let color = if rng.chance(128) { Color::Black } else { Color::White };
    let points: Vec<Point> = size.points().collect();
    let any = |rng: &mut Rng| points[rng.below(points.len() as u32) as usize];
    match rng.below(40) {
        0 => {
            engine.undo();
        }
        1 => engine.set_komi(rng.below(4000) as f32 / 4.0 - 500.0),
        2 => {
            let rules =
                kosumi_go::rules::PRESETS[rng.below(kosumi_go::rules::PRESETS.len() as u32) as usize].rules;
            engine.set_rules(Rules { suicide: rng.chance(128), ..rules });
        }
        3 => {
            // A position with prisoners, as setup stones in the middle of a record produce it.
            let mut board = *engine.game().board();
            board.pass();
            let (rules, komi) = (engine.game().rules(), engine.game().komi());
            engine.set_game(Game::from_board(board, color, rules, komi));
        }
        4 => {
            let stones: Vec<Point> = (0..2 + rng.below(3)).map(|_| any(rng)).collect();
            if let Ok(game) = engine.game().cleared().with_handicap(&stones) {
                engine.set_game(game);
            }
        }
        5 => engine.set_time_left(color, Duration::from_millis(rng.below(90_000).into()), rng.below(4)),
        6 => {
            let main = Duration::from_secs(rng.below(3).into());
            let (period, count) = (Duration::from_secs(9), 1 + rng.below(4));
            engine.set_time_control(match rng.below(4) {
                0 => TimeControl::ByoYomi { main, period, periods: count },
                1 => TimeControl::Canadian { main, period, stones: count },
                2 => TimeControl::Fischer { main, increment: period, cap: Some(period * 9), max_move: None },
                _ => TimeControl::None,
            });
        }
        7 => engine.end_game(Some("B+2.5")),
        8 => {
            let _ = engine.choose(color, SearchRequest::new(&|| true));
        }
        9 => {
            let _ = engine.genmove(color, SearchRequest::new(&|| true));
        }
        10 | 11 => {
            let _ = engine.play(color, Move::Pass);
        }
        // The colours mostly alternate. Some moves repeat positions or are suicides.
        12..16 => {
            let _ = engine.play(color, Move::Play(any(rng)));
        }
        _ => {
            let to_move = engine.game().to_move();
            let _ = engine.play(to_move, Move::Play(any(rng)));
        }
    }
}

/// Returns everything that a game depends on, as text.
fn state(engine: &Engine) -> String {
    let game = engine.game();
    let about = |color| {
        let clock = engine.clock(color);
        (
            game.legal_points(color),
            game.superko_banned(color),
            game.board().prisoners(color),
            // Records store milliseconds.
            (clock.control(), (clock.left().as_secs_f64() * 1e3).round(), clock.stones_or_periods()),
        )
    };
    let moves: Vec<_> = game.records().iter().map(|record| (record.color, record.mv)).collect();
    format!(
        "{}{:?}\n{:?}",
        game.board(),
        (game.rules(), game.komi(), game.handicap(), game.to_move(), game.passes(), game.button(), moves),
        (game.graph_key(), game.start().key(), game.start_to_move(), Color::BOTH.map(about), engine.result()),
    )
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, cases: 40, ..Default::default() })]

    #[test]
    fn a_saved_game_goes_on_as_the_same(seed in proptest::prelude::any::<u64>()) {
        let mut rng = Rng::new(seed);
        let settings = EngineSettings { threads: 1, memory_mebibytes: 1, playouts: Some(1), ..EngineSettings::default() };
        let mut engine = Engine::new(settings);
        let side = |rng: &mut Rng| 1 + rng.below(4) as usize;
        engine.set_size(BoardSize::new(side(&mut rng), side(&mut rng)).unwrap());
        let mut other = Engine::new(settings);
        for _ in 0..60 {
            disturb(&mut engine, &mut rng);
            let text = engine.record(CommentDetail::Variation, &Meta::default()).to_string();
            let record = Record::parse(text.as_bytes()).unwrap();
            let warnings = other.restore(&record).unwrap();
            proptest::prop_assert!(warnings.iter().all(|it| it.ends_with("it was played") || it.ends_with("were played nevertheless")), "{warnings:?}");
            proptest::prop_assert_eq!(state(&other), state(&engine), "{}", text);
            // The record of the restored game is the same.
            let again = other.record(CommentDetail::Variation, &Meta::default()).to_string();
            proptest::prop_assert_eq!(again, text);
        }
    }
}

#[test]
fn pondering_fills_the_graph_and_changes_no_game() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let asked = AtomicU32::new(0);
    // Returns an `interrupted` function that returns true after `most` calls.
    let patience = |most| {
        asked.store(0, Ordering::Relaxed);
        let asked = &asked;
        move || asked.fetch_add(1, Ordering::Relaxed) >= most
    };
    let mut engine = engine("chinese-kgs", 50);
    engine.settings.ponder = true;
    engine.set_size(BoardSize::square(5).unwrap());
    let nodes = |engine: &Engine| engine.search().table().usage().nodes;
    engine.ponder(&patience(20));
    assert_eq!(nodes(&engine), 0, "the game has not begun");

    let answer = genmove(&mut engine, Color::Black);
    let (before, record) = (nodes(&engine), engine.record(CommentDetail::Brief, &Meta::default()));
    engine.ponder(&patience(20));
    assert!(nodes(&engine) > before, "after the engine's own move");
    assert_eq!(engine.record(CommentDetail::Brief, &Meta::default()), record);
    engine.set_time_left(Color::White, Duration::from_secs(9), 0);
    let before = nodes(&engine);
    engine.ponder(&patience(200));
    assert!(nodes(&engine) > before, "clocks do not change the position");

    // The opponent plays the expected move; its position is already in the graph.
    let expected = engine.search.run(
        &engine.game,
        1,
        &SearchContext::new(&Limits::playouts(1), &|| Duration::ZERO, &|| true),
    );
    let reply = expected.best_move();
    assert_ne!(reply, answer);
    engine.play(Color::White, reply).unwrap();
    let before = nodes(&engine);
    engine.ponder(&patience(20));
    assert_eq!(nodes(&engine), before, "the engine is on turn");
    genmove(&mut engine, Color::Black);
    let report = engine.last_report().unwrap();
    assert!(report.visits > report.playouts, "{} {}", report.visits, report.playouts);

    // A regression move ends pondering, so that a test of one position does not take time from the next.
    engine.regression_move(Color::White, SearchRequest::new(&|| false));
    let before = nodes(&engine);
    engine.ponder(&patience(20));
    assert_eq!(nodes(&engine), before);
}

#[test]
fn lost_games_are_given_up_when_they_stay_lost() {
    let mut engine = engine("cgos", 400);
    engine.set_komi(200.0);
    engine.settings.resign = Some(-0.9);
    engine.set_size(BoardSize::square(5).unwrap());
    let mut moves = 0;
    while engine.genmove(Color::Black, SearchRequest::new(&|| false)) != Decision::Resign {
        moves += 1;
        assert!(moves < 25);
    }
    // Moves 1 to 7 are the opening on 25 points.
    assert_eq!(moves, 9, "two of three moves were played on, and then there were enough");
    assert_eq!(engine.result().as_deref(), Some("W+R"));
    let text = engine.record(CommentDetail::Brief, &Meta::default()).to_string();
    assert!(text.contains("RE[W+R]") && text.contains("PB[Kosumi") && !text.contains("PW["), "{text}");
    engine.undo();
    assert_eq!(engine.result(), None);
}

#[test]
fn comments_contain_search_results() {
    let mut engine = engine("chinese-kgs", 50);
    engine.set_size(BoardSize::square(5).unwrap());
    engine.play(Color::Black, Move::Play(Point::new(2, 2))).unwrap();
    let mv = genmove(&mut engine, Color::White);
    let text = |remarks| engine.record(remarks, &Meta::default()).to_string();
    assert!(!text(CommentDetail::None).contains("C["));
    let brief = text(CommentDetail::Brief);
    assert_eq!(brief.matches("C[White ").count(), 1, "{brief}");
    assert!(brief.contains(" %, ") && brief.contains("+") && brief.contains(" visits]"), "{brief}");
    assert!(text(CommentDetail::Variation).contains(&format!(" visits\n{mv}")));
}

#[test]
fn warming_up_changes_no_answer() {
    let network = kosumi_net::random::network(&kosumi_net::random::Options::default()).expect("a network");
    for network in [None, Some(Arc::new(network))] {
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 8,
            playouts: Some(30),
            ..EngineSettings::default()
        };
        let mut engines = [false, true].map(|is_warm| {
            let mut engine = Engine::with_network(settings, network.clone());
            engine.set_size(BoardSize::square(5).expect("size"));
            if is_warm {
                thread::spawn(engine.warm_up()).join().expect("no panic");
            }
            engine
        });
        let known =
            |engine: &Engine| engine.search().evaluator().network().map(|it| it.cache().hits_and_misses());
        for color in [Color::Black, Color::White, Color::Black] {
            let [cold, warm] = engines.each_mut().map(|engine| genmove(engine, color));
            assert_eq!(cold, warm);
            assert_eq!(known(&engines[0]), known(&engines[1]));
        }
    }
}

#[test]
fn both_searches_for_taking_dead_stones_get_half_the_visits() {
    // Two stones are dead in the corner, but Black must first save three stones, at D5.
    let drawing = "
        . X . X O . O . O
        X X X X O O O O O
        . X X . X X X O .
        X X X X O O O O O
        . X . X O . O . O
        X X X X X O O O O
        O O . X X O O . O";
    let mut engine = with_board(engine("chinese-kgs", 0), drawing, Color::Black);
    engine.settings.playouts = None;
    engine.settings.visits = Some(400);
    let decision = engine.genmove_cleanup(Color::Black, SearchRequest::new(&|| false));
    assert_eq!(decision, Decision::Play(Move::Play(Point::new(3, 4))));
    // The report is that of the second search, which only considered the liberty of the dead stones.
    let report = engine.last_report().expect("a search");
    let taking = report.find(Move::Play(Point::new(2, 0))).expect("the liberty");
    assert!((100..=200).contains(&report.playouts), "{} simulations", report.playouts);
    assert!((100..=200).contains(&taking.visits), "{} visits", taking.visits);
}

#[test]
fn the_search_before_a_pass_forgets_nothing() {
    // With little memory, a search that starts at the position after the pass would first evict nodes.
    let drawing = "
        . . O . . . O . .
        . O . . O . . O .
        O O O O O O O O O
        O O O O O O O O O
        X X X X X X X X X
        X X X X X X X X X
        . X . . X . . X .
        . . X . . . X . .
        . . X . X . X . .";
    let settings = EngineSettings { memory_mebibytes: 4, ..engine("chinese-kgs", 12_000).settings };
    let mut engine = with_board(Engine::new(settings), drawing, Color::Black);
    assert_eq!(engine.choose(Color::Black, SearchRequest::new(&|| false)), Decision::Play(Move::Pass));
    let table = engine.search().table();
    assert!(table.usage().fullness() > 0.5, "the test must fill the table: {:?}", table.usage());
    let root = table.find(engine.game().graph_key()).expect("the position is still known");
    let mut after = engine.game().clone();
    after.play(Color::Black, Move::Pass).expect("a pass");
    let child = table.find(after.graph_key()).expect("and so is the one after the pass");
    assert!(table.node(root).visits() >= 12_000);
    assert!(table.node(child).visits() >= 1000, "the search before the pass has looked at it");
}

#[test]
fn another_evaluation_is_used_at_once_and_forgets_what_was_learned() {
    let network = kosumi_net::random::network(&kosumi_net::random::Options::default()).expect("a network");
    for network in [None, Some(Arc::new(network))] {
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 2,
            playouts: Some(60),
            ..EngineSettings::default()
        };
        let mut changed = settings;
        changed.network.share_symmetric = false;
        changed.playout.score_share = 0.9;
        let search = |engine: &mut Engine| {
            let limits = engine.limits_without_clock();
            engine.analyze(Color::Black, &limits, SearchRequest::new(&|| false)).value
        };
        let made = |settings: EngineSettings| {
            let mut engine = Engine::with_network(settings, network.clone());
            engine.set_size(BoardSize::square(5).expect("size"));
            engine
        };
        let (mut engine, mut other) = (made(settings), made(changed));
        let (before, wanted) = (search(&mut engine), search(&mut other));
        assert_ne!(before, wanted);
        engine.change_settings(changed);
        assert_eq!(engine.search().table().node_count(), 0);
        engine.forget();
        assert_eq!(search(&mut engine), wanted);
    }
}

/// The network receives the side of the search, and the graph is kept while that side stays the same.
#[test]
fn network_gets_the_advantage_of_the_searching_player() {
    let network = kosumi_net::random::network(&kosumi_net::random::Options::default()).expect("a network");
    let network = Arc::new(network);
    let settings = EngineSettings {
        threads: 1,
        memory_mebibytes: 2,
        visits: Some(20),
        ponder: true,
        doubling_advantage: 1.5,
        ..EngineSettings::default()
    };
    let made = |settings: EngineSettings| {
        let mut engine = Engine::with_network(settings, Some(network.clone()));
        engine.set_size(BoardSize::square(5).expect("size"));
        engine
    };
    let black_advantage = |engine: &Engine| {
        engine.search().evaluator().network().expect("a network").settings().black_doubling_advantage
    };
    let value = |settings: EngineSettings, color| {
        let mut engine = made(settings);
        let limits = engine.limits_without_clock();
        let value = engine.analyze(color, &limits, SearchRequest::new(&|| false)).value;
        (black_advantage(&engine), value)
    };
    let usual = EngineSettings { doubling_advantage: 0.0, ..settings };
    let whites = EngineSettings { advantaged_side: Some(Color::White), ..settings };
    let weaker = EngineSettings { doubling_advantage: -1.5, ..settings };
    let (black, white) = (value(settings, Color::Black), value(settings, Color::White));
    assert_eq!((black.0, white.0), (1.5, -1.5));
    assert_ne!(black.1, value(usual, Color::Black).1);
    assert_eq!(value(whites, Color::Black), value(weaker, Color::Black));
    assert_eq!(value(whites, Color::White), white);

    // The raw network evaluation depends on the advantage as well.
    let raw = |settings: EngineSettings| {
        let prediction = made(settings).predict(Color::Black, Symmetry::ALL[0], 0.0);
        prediction.expect("a network").expect("finite").win
    };
    assert_ne!(raw(settings), raw(usual));
    assert_eq!(raw(whites), raw(weaker));

    // Black's own search, pondering on White's time, and Black's next search share one graph.
    let mut engine = made(settings);
    genmove(&mut engine, Color::Black);
    let nodes = engine.search().table().node_count();
    assert!(nodes > 1);
    engine.ponder(&|| false);
    assert_eq!(black_advantage(&engine), 1.5);
    assert!(engine.search().table().node_count() > nodes);
    let answer = engine.last_report().expect("a report").moves[1].mv;
    engine.play(Color::White, answer).expect("legal");
    genmove(&mut engine, Color::Black);
    assert_eq!(black_advantage(&engine), 1.5);
    let limits = engine.limits_without_clock();
    engine.analyze(Color::White, &limits, SearchRequest::new(&|| false));
    assert_eq!(black_advantage(&engine), -1.5);
}

/// With a head start on the board, searches for a move pass the resulting advantage to the network. Other searches do
/// not.
#[test]
fn the_advantage_follows_the_handicap_in_games() {
    let network = kosumi_net::random::network(&kosumi_net::random::Options::default()).expect("a network");
    // A copy of the network, as if trained without the advantage input.
    let mut ignorant = network.clone();
    let outputs = ignorant.trunk.global_matmul.outputs;
    let of_input = kosumi_net::features::global::ADVANTAGE * outputs;
    ignorant.trunk.global_matmul.weights.to_mut()[of_input..of_input + outputs].fill(1e-4);
    let (network, ignorant) = (Arc::new(network), Arc::new(ignorant));
    let settings = EngineSettings {
        threads: 1,
        memory_mebibytes: 2,
        visits: Some(10),
        ponder: true,
        resign: None,
        doubling_advantage: 0.5,
        doubling_advantage_per_point: 0.045,
        ..EngineSettings::default()
    };
    let made = |settings: EngineSettings, network: &Arc<Network>| {
        let mut engine = Engine::with_network(settings, Some(network.clone()));
        engine.set_size(BoardSize::square(9).expect("size"));
        let stones = [Point::new(2, 2), Point::new(6, 6)];
        engine.set_rules(Rules { handicap_bonus: HandicapBonus::None, ..engine.game().rules() });
        engine.set_komi(0.5);
        engine.set_game(engine.game().with_handicap(&stones).expect("an empty board"));
        engine
    };
    let black_advantage = |engine: &Engine| {
        engine.search().evaluator().network().expect("a network").settings().black_doubling_advantage
    };
    let mut engine = made(settings, &network);
    genmove(&mut engine, Color::White);
    // 0.045 · (21.5 − 2) · 3.07 = 2.69, rounded to 2.75. The advantage is White's.
    assert_eq!(black_advantage(&engine), -2.75);
    // Pondering continues on the same graph.
    let nodes = engine.search().table().node_count();
    engine.ponder(&|| false);
    assert_eq!(black_advantage(&engine), -2.75);
    assert!(engine.search().table().node_count() > nodes);
    // Analysis uses the configured advantage and starts from an empty graph.
    let limits = engine.limits_without_clock();
    let report = engine.analyze(Color::Black, &limits, SearchRequest::new(&|| false));
    assert_eq!((report.visits, report.playouts), (10, 10));
    assert_eq!(black_advantage(&engine), 0.5);
    // A random network evaluates the game as open, so the advantage shrinks by a step, whichever side is to move.
    let expected = 0.0;
    engine.game_advantage.record_expectation(expected);
    let before = engine.searches();
    genmove(&mut engine, Color::Black);
    assert_eq!((engine.searches(), black_advantage(&engine)), (before + 1, -2.625));
    // A new game starts with its own head start.
    engine.clear();
    genmove(&mut engine, Color::Black);
    assert_eq!(black_advantage(&engine), -0.625, "komi 0.5: 0.045 · (6.5 − 2) · 3.07 = 0.62");

    // By default, and for networks without the input, the configured advantage applies.
    let usual = EngineSettings { doubling_advantage_per_point: 0.0, ..settings };
    assert_eq!(EngineSettings::default().doubling_advantage_per_point, 0.0);
    for (settings, network) in [(usual, &network), (settings, &ignorant)] {
        let mut engine = made(settings, network);
        genmove(&mut engine, Color::White);
        assert_eq!(black_advantage(&engine), -0.5);
    }
    let built_in = Network::built_in(kosumi_net::BuiltIn::Small).expect("a network");
    assert!(!kosumi_net::features::supports_advantage(&built_in));
    assert!(kosumi_net::features::supports_advantage(&network));
}

#[test]
fn clocked_search_uses_time_that_would_be_lost() {
    let mut engine = engine("cgos", 200);
    let main = Duration::from_secs(60);
    let settled_from = |engine: &Engine| engine.limits(engine.budget(Color::Black)).settled_from;
    engine.set_time_control(TimeControl::ByoYomi { main, period: Duration::from_secs(9), periods: 3 });
    let period = settled_from(&engine).expect("a clear choice ends it");
    assert!(period > Duration::from_secs(8) && period < Duration::from_secs(9), "{period:?}");
    engine.set_time_control(TimeControl::Absolute { main });
    assert_eq!(settled_from(&engine), Some(Duration::ZERO));
    // Without a clock, a clear choice does not end the search.
    assert_eq!(engine.limits(None).settled_from, None);
}

/// Checks that settings start no more threads than the processors can serve in time.
#[test]
fn threads_are_limited_by_the_processors() {
    let mut engine = engine_with_threads(4096);
    let most = 8 * crate::processors();
    assert_eq!(engine.search.threads(), most);
    engine.change_settings(EngineSettings { threads: 1, ..*engine.settings() });
    assert_eq!(engine.search.threads(), 1);
    engine.change_settings(EngineSettings { threads: 2048, ..*engine.settings() });
    assert_eq!((engine.search.threads(), engine.settings().threads), (most, 2048));
}

fn engine_with_threads(threads: usize) -> Engine {
    Engine::new(EngineSettings { threads, memory_mebibytes: 1, ..EngineSettings::default() })
}
