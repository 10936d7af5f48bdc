//! Tests of the invariants that [`search`](super) and its parts state.

use super::*;
use crate::board::{Board, BoardSize, Color, Move, Point};
use crate::eval::stub::{AreaEvaluator, HashEvaluator, HashPolicy};
use crate::eval::{Evaluation, Playouts, Prior};
use crate::game::Line;
use crate::graph_key::Sharing;
use crate::rules::{KoRule, Rules};
use std::collections::HashSet;
use std::sync::Arc;

fn rules(ko: KoRule, suicide: bool) -> Rules {
    Rules { ko, suicide, friendly_pass: false, ..Rules::default() }
}

fn game(drawing: &str, to_move: Color, rules: Rules) -> Game {
    let board: Board = drawing.parse().expect("drawing");
    Game::from_board(board, to_move, rules, 0.5)
}

fn empty(side: usize) -> Game {
    Game::new(BoardSize::square(side).expect("size"), rules(KoRule::Positional, false), 0.5)
}

fn search<E: Evaluator + Sync>(evaluator: E, threads: usize) -> Search<E> {
    let rave = RaveParams { exploration: 0.5, ..RaveParams::default() };
    let params = SearchParams { expand_after: 1, formula: Formula::Rave(rave), ..SearchParams::default() };
    Search::new(evaluator, params, 8, threads)
}

/// A search that chooses by probabilities.
fn puct_search<E: Evaluator + Sync>(evaluator: E, threads: usize) -> Search<E> {
    let params = SearchParams { formula: Formula::Puct(PuctParams::default()), ..SearchParams::default() };
    Search::new(evaluator, SearchParams { expand_after: 1, ..params }, 8, threads)
}

fn run<E: Evaluator + Sync>(search: &mut Search<E>, game: &Game, playouts: u32, seed: u64) -> SearchReport {
    let limits = Limits::playouts(playouts);
    let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| false);
    search.run(game, seed, &context)
}

/// Move and visits of every edge at the root, and the root's value.
fn summary(report: &SearchReport) -> (Vec<(Move, u32)>, f32) {
    (report.moves.iter().map(|entry| (entry.mv, entry.visits)).collect(), report.value)
}

/// Positions in which superko, suicide and cycles are near.
fn fighting_positions() -> Vec<(&'static str, Color)> {
    vec![
        (". . .\n. . .", Color::Black),
        (". .\n. .", Color::Black),
        (". O . X X O\nO X X X O .\nO . X . O O\nX X . O O .\nO O O O . O", Color::Black),
        (". O X O . X\nO O X X O O\nX X . . . .\n. . . . . .\n. . . . . .", Color::Black),
        (". . . . . . . .\nO O O O O O . .\nX X X X X O . .\nX O O O X X O O\n. O . X . O X .", Color::Black),
        (
            "O O O O O O O\nO X O . O . O\nX . X O X O X\nX X X X X X X\nO O O O O O O\n. . . . . . .",
            Color::Black,
        ),
    ]
}

/// Checks at every leaf that the whole line is legal when it is played again, move by move, in a game of its own.
#[derive(Clone)]
struct LegalityOracle(Arc<AtomicU32>);

impl Evaluator for LegalityOracle {
    fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        let mut game = line.game().clone();
        for &mv in line.moves() {
            let color = game.to_move();
            game.play(color, mv).expect("an illegal move in the search");
        }
        assert_eq!(game.board(), line.board());
        assert_eq!(game.graph_key(), line.graph_key(), "game and line agree on the node");
        self.0.fetch_add(1, Ordering::Relaxed);
        HashEvaluator.evaluate(line, rng, moves)
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        // Exactly the legal moves, whatever the path: a node is shared only by histories with the same ones.
        HashEvaluator.expand(line, moves);
    }
}

#[test]
fn descents_are_legal() {
    for (drawing, to_move) in fighting_positions() {
        for ko in [KoRule::Simple, KoRule::Positional, KoRule::Situational, KoRule::NaturalSituational] {
            for suicide in [false, true] {
                for sharing in [Sharing::Graph, Sharing::Tree] {
                    let game = game(drawing, to_move, rules(ko, suicide)).with_sharing(sharing);
                    let leaves = Arc::new(AtomicU32::new(0));
                    let report = run(&mut search(LegalityOracle(leaves.clone()), 1), &game, 1500, 7);
                    assert_eq!(report.playouts, 1500);
                    assert_eq!(leaves.load(Ordering::Relaxed) + report.cycles, 1500);
                    assert_eq!(game.check(to_move, report.best_move()), Ok(()));
                }
            }
        }
    }
}

#[test]
fn cycles_end_a_descent_and_are_counted() {
    // Under simple ko, play on 2×2 comes back to earlier positions, and their nodes are shared.
    let (drawing, to_move) = fighting_positions()[1];
    let simple = game(drawing, to_move, rules(KoRule::Simple, false));
    let report = run(&mut search(HashEvaluator, 1), &simple, 20_000, 1);
    assert!(report.cycles > 0);
    assert_eq!(report.playouts, 20_000);
    // Positional superko forbids coming back at all.
    let positional = game(drawing, to_move, rules(KoRule::Positional, false));
    assert_eq!(run(&mut search(HashEvaluator, 1), &positional, 20_000, 1).cycles, 0);
}

/// Every node that can be reached, with one line that leads to it.
fn walk(table: &NodeTable, game: &Game) -> Vec<(NodeId, Vec<Move>)> {
    let root = table.find(game.graph_key()).expect("root");
    let mut found = vec![(root, Vec::new())];
    let mut seen = HashSet::from([root]);
    let mut next = 0;
    while next < found.len() {
        let (id, line) = found[next].clone();
        for edge in table.edges(table.node(id)) {
            if let Some(child) = edge.child()
                && seen.insert(child)
            {
                let mut longer = line.clone();
                longer.push(edge.mv());
                found.push((child, longer));
            }
        }
        next += 1;
    }
    found
}

/// Asserts the arithmetic of every node: visits, sums, and the value as the definition gives it.
fn check_sums<E: Evaluator + Sync>(search: &Search<E>, game: &Game, is_current: bool) {
    let table = search.table();
    let mut line = Line::new(game);
    for (id, moves) in walk(table, game) {
        line.reset();
        moves.iter().for_each(|&mv| line.play(mv));
        let node = table.node(id);
        assert_eq!(node.key(), line.graph_key());
        assert_eq!(node.in_flight(), 0, "a descent is still in progress");
        let own = node::to_fixed(HashEvaluator.evaluate(&line, &mut Rng::new(0), &mut Vec::new()).value);
        let mut sum = i64::from(node.own_visits()) * i64::from(own);
        let mut visits = node.own_visits();
        for edge in table.edges(node) {
            let (edge_visits, seen) = edge.visits_and_seen();
            sum += i64::from(edge_visits) * i64::from(seen);
            visits += edge_visits;
            if is_current && edge_visits > 0 {
                let child = table.node(edge.child().expect("a visited edge has a child"));
                assert_eq!(child.value_fixed(), seen, "the edge knows what its child is worth");
            }
        }
        assert_eq!(node.sums(), (sum, visits));
    }
}

#[test]
fn sums_are_exact() {
    for threads in [1, 2, 4] {
        for sharing in [Sharing::Graph, Sharing::Tree] {
            for (drawing, to_move) in fighting_positions() {
                let game = game(drawing, to_move, rules(KoRule::Positional, true)).with_sharing(sharing);
                let mut search = search(HashEvaluator, threads);
                run(&mut search, &game, 4000, 3);
                // On a tree, one worker leaves nothing stale. On a graph, a node may have learned through one
                // parent what another has not seen yet.
                check_sums(&search, &game, threads == 1 && sharing == Sharing::Tree);
                let mut search = puct_search(HashPolicy, threads);
                run(&mut search, &game, 4000, 3);
                check_sums(&search, &game, threads == 1 && sharing == Sharing::Tree);
            }
        }
    }
}

#[test]
fn a_trees_value_is_the_mean_of_its_evaluations() {
    #[derive(Clone)]
    struct Summing(Arc<Mutex<(f64, u32)>>);
    impl Evaluator for Summing {
        fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
            let evaluation = HashEvaluator.evaluate(line, rng, moves);
            let mut sums = self.0.lock().expect("lock");
            sums.0 += f64::from(evaluation.value);
            sums.1 += 1;
            evaluation
        }
        fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
            HashEvaluator.expand(line, moves);
        }
    }
    let sums = Arc::new(Mutex::new((0.0, 0)));
    let game = empty(5).with_sharing(Sharing::Tree);
    let report = run(&mut search(Summing(sums.clone()), 1), &game, 3000, 1);
    let (sum, count) = *sums.lock().expect("lock");
    assert_eq!(count, 3000);
    assert!((f64::from(report.value) - sum / 3000.0).abs() < 1e-4, "{} {}", report.value, sum / 3000.0);
}

#[test]
fn deterministic() {
    let game = empty(7);
    let mut first = Search::new(Playouts::default(), SearchParams::default(), 16, 1);
    let a = run(&mut first, &game, 2000, 5);
    let b = run(&mut Search::new(Playouts::default(), SearchParams::default(), 16, 1), &game, 2000, 5);
    assert_eq!(summary(&a), summary(&b));
    assert_eq!(a.moves, b.moves, "RAVE, priors and variations too");
    first.clear();
    assert_eq!(summary(&run(&mut first, &game, 2000, 5)), summary(&a), "after clearing");
    assert_ne!(summary(&run(&mut first, &game, 2000, 6)), summary(&a), "another seed");
}

#[test]
fn the_path_of_the_game_leaves_no_trace_in_the_search() {
    // Played straight, and with a detour that is taken back.
    let mut straight = empty(6);
    let mut detour = empty(6);
    let play = |game: &mut Game, column, row| {
        let color = game.to_move();
        game.play(color, Move::Play(Point::new(column, row))).expect("legal");
    };
    for (column, row) in [(2, 2), (3, 3), (2, 3)] {
        play(&mut straight, column, row);
        play(&mut detour, 5, 5);
        play(&mut detour, 5, 4);
        detour.undo();
        detour.undo();
        play(&mut detour, column, row);
    }
    let result = |game: &Game| {
        let mut search = Search::new(Playouts::default(), SearchParams::default(), 16, 1);
        summary(&run(&mut search, game, 500, 9))
    };
    assert_eq!(result(&straight), result(&detour));
}

#[test]
fn the_hash_evaluators_search_is_pinned() {
    // Any change here is a change of what the search does: look whether it was meant.
    let report = run(&mut search(HashEvaluator, 1), &empty(3), 1000, 1);
    let top: Vec<String> =
        report.moves.iter().take(3).map(|entry| format!("{} {}", entry.mv, entry.visits)).collect();
    assert_eq!(top, GOLDEN_3X3);
}

const GOLDEN_3X3: [&str; 3] = ["B2 206", "B3 113", "C2 109"];

#[test]
fn probabilities_guide_the_search() {
    let game = empty(5);
    let report = run(&mut puct_search(HashPolicy, 1), &game, 30, 1);
    let probability = |entry: &MoveReport| entry.prior.probability();
    let likeliest = report.moves.iter().map(probability).fold(0.0, f32::max);
    let unvisited = report.moves.iter().filter(|entry| entry.visits == 0).map(probability);
    assert!(unvisited.fold(0.0, f32::max) < likeliest, "the likeliest move was visited");
    assert!(report.moves.iter().any(|entry| entry.visits == 0), "what is unlikely waits");
    let more = run(&mut puct_search(HashPolicy, 1), &game, 5000, 1);
    let best_value = |report: &SearchReport| report.moves[0].value;
    assert!(best_value(&more) > more.value, "visits go where values are high: {}", more.value);
    assert_eq!(summary(&run(&mut puct_search(HashPolicy, 1), &game, 5000, 1)), summary(&more));
}

#[test]
fn scores_and_squares_are_means_over_simulations() {
    // The score of the stub is ten times its value, so on a tree both means must agree everywhere.
    let game = empty(4).with_sharing(Sharing::Tree);
    let mut search = puct_search(HashPolicy, 1);
    run(&mut search, &game, 3000, 1);
    for (id, _) in walk(search.table(), &game) {
        let node = search.table().node(id);
        if node.visits() > 0 {
            let (score, value) = (node.score(), 10.0 * node.value());
            assert!((score - value).abs() < 0.02, "score {score}, value {value}");
            assert!(node.mean_square() + 1e-4 >= node.value() * node.value());
        }
    }
}

#[test]
fn colours_are_symmetric() {
    let drawing = ". . . X .\n. O X . .\n. O X O .\n. . O . .\n. . . . .";
    let swapped: String = drawing
        .chars()
        .map(|c| {
            if c == 'X' {
                'O'
            } else if c == 'O' {
                'X'
            } else {
                c
            }
        })
        .collect();
    let even = |drawing: &str, to_move| {
        let board: Board = drawing.parse().expect("drawing");
        let game = Game::from_board(board, to_move, rules(KoRule::Positional, false), 0.0);
        run(&mut search(AreaEvaluator, 1), &game, 3000, 1)
    };
    let (black, white) = (even(drawing, Color::Black), even(&swapped, Color::White));
    let visits = |report: &SearchReport| summary(report).0;
    assert_eq!(visits(&black), visits(&white));
    assert_eq!(black.value, -white.value);
}

#[test]
fn transpositions_share_nodes_only_on_the_graph() {
    let graph = run(&mut search(HashEvaluator, 1), &empty(5), 5000, 1);
    let tree = run(&mut search(HashEvaluator, 1), &empty(5).with_sharing(Sharing::Tree), 5000, 1);
    assert!(graph.transpositions > 100, "{}", graph.transpositions);
    assert_eq!(tree.transpositions, 0);
}

#[test]
fn a_full_table_is_no_error() {
    for threads in [1, 2] {
        let mut search = Search::new(
            Playouts::default(),
            SearchParams { expand_after: 1, ..Default::default() },
            1,
            threads,
        );
        assert!(search.table().bytes() <= 1 << 20);
        let mut game = empty(9);
        for _ in 0..4 {
            let report = run(&mut search, &game, 12_000, 1);
            assert!(report.usage.nodes <= report.usage.node_capacity);
            assert!(report.usage.edges <= report.usage.edge_capacity);
            assert!(report.playouts >= 12_000, "the search goes on");
            let color = game.to_move();
            game.play(color, report.best_move()).expect("legal");
        }
        assert!(search.table().usage().fullness() > 0.9, "the test must fill the table");
    }
}

#[test]
fn what_was_learned_is_kept_after_a_move() {
    let mut search = search(HashEvaluator, 1);
    let mut game = empty(5);
    let report = run(&mut search, &game, 3000, 1);
    let best = &report.moves[0];
    game.play(Color::Black, best.mv).expect("legal");
    let next = run(&mut search, &game, 1, 1);
    assert!(next.visits >= best.visits, "{} of {}", next.visits, best.visits);
}

#[test]
fn collecting_garbage_changes_nothing_that_can_be_reached() {
    let mut search = search(HashEvaluator, 1);
    let mut game = empty(5);
    let report = run(&mut search, &game, 5000, 1);
    game.play(Color::Black, report.best_move()).expect("legal");
    let facts = |search: &Search<HashEvaluator>| {
        let table = search.table();
        walk(table, &game)
            .into_iter()
            .map(|(id, line)| {
                let node = table.node(id);
                let edges: Vec<_> = table
                    .edges(node)
                    .iter()
                    .map(|edge| {
                        let child = edge.child().map(|child| table.node(child).key());
                        (edge.mv(), edge.visits_and_seen(), edge.rave(), edge.prior(), child)
                    })
                    .collect();
                (line, node.key(), node.sums(), node.own_visits(), edges)
            })
            .collect::<Vec<_>>()
    };
    let before = facts(&search);
    let nodes = search.table().usage().nodes;
    let root = search.table.find(game.graph_key()).expect("root");
    search.table.collect(root);
    assert_eq!(facts(&search), before);
    assert_eq!(search.table().usage().nodes, before.len(), "nothing else is left");
    assert!(before.len() < nodes);
    check_sums(&search, &game, false);
    // And the search goes on from there.
    run(&mut search, &game, 2000, 2);
    check_sums(&search, &game, false);
}

#[test]
fn solved_boards_are_played_right() {
    // Optimal first moves of small boards (area scoring): Drange, "Mini-Go".
    for (columns, rows, best) in [(3, 3, Some((1, 1))), (3, 1, Some((1, 0))), (2, 1, None)] {
        let size = BoardSize::new(columns, rows).expect("size");
        let game = Game::new(size, rules(KoRule::Positional, false), 0.5);
        let mut search = Search::new(Playouts::default(), SearchParams::default(), 16, 1);
        let report = run(&mut search, &game, 3000, 1);
        let best = best.map_or(Move::Pass, |(column, row)| Move::Play(Point::new(column, row)));
        assert_eq!(report.best_move(), best, "{size}\n{:?}", report.moves);
    }
}

#[test]
fn an_interruption_ends_the_search_at_once_but_not_without_a_move() {
    let mut search = search(HashEvaluator, 1);
    let limits = Limits::default();
    let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| true);
    let report = search.run(&empty(5), 1, &context);
    assert_eq!(report.playouts, 1);
    assert!(report.moves[0].visits > 0);
}

#[test]
fn errors_shrink_with_visits() {
    // The same evaluator and position: four times the visits, about half the error.
    let game = empty(5);
    let few = run(&mut search(Playouts::default(), 1), &game, 500, 1);
    let many = run(&mut search(Playouts::default(), 1), &game, 2000, 1);
    for (name, a, b) in
        [("value", few.value_error, many.value_error), ("score", few.score_error, many.score_error)]
    {
        assert!(b > 0.0 && (1.5..3.0).contains(&(a / b)), "{name}: {a} and {b}");
    }
    // Results are at most 1, so the error is at most this.
    assert!(many.value_error <= 1.0 / 2000f32.sqrt() && few.value_error >= 0.2 / 500f32.sqrt());
    let best = &few.moves[0];
    assert!(best.visits < few.visits && best.value_error > 0.0);
    // An unvisited move knows what the root knows; one visit leaves much open.
    let seldom = few.moves.iter().filter(|entry| entry.visits == 1).map(|entry| entry.value_error);
    assert!(seldom.fold(1.0, f32::min) > 0.3);
}

#[test]
fn a_restriction_holds_and_reports_come_in_time() {
    let game = empty(5);
    let corner = Move::Play(Point::new(0, 0));
    let allow = vec![MoveRule { color: Color::Black, moves: vec![corner], until: 1 }];
    let restriction = Restriction { allow, ..Restriction::NONE };
    let limits = Limits::playouts(2000);
    // A clock that goes on by a millisecond at every look.
    let clock = AtomicU32::new(0);
    let elapsed = || Duration::from_millis(u64::from(clock.fetch_add(1, Ordering::Relaxed)));
    let seen = Mutex::new(Vec::new());
    let on_report = |report: SearchReport| seen.lock().expect("lock").push(report);
    let context = SearchContext {
        reporting: Some(Reporting {
            first: Duration::from_millis(40),
            every: Duration::from_millis(40),
            on_report: &on_report,
        }),
        restriction: &restriction,
        ..SearchContext::new(&limits, &elapsed, &|| false)
    };
    let report = search(HashEvaluator, 1).run(&game, 1, &context);
    assert_eq!((report.best_move(), report.moves[0].visits, report.moves[1].visits), (corner, 2000, 0));
    let seen = seen.into_inner().expect("lock");
    assert!(seen.len() > 2, "{}", seen.len());
    assert!(seen.is_sorted_by_key(|report| report.visits) && seen[0].visits < seen[1].visits);
    assert!(seen.iter().all(|report| report.best_move() == corner && report.playouts == report.visits));
}

#[test]
fn visits_of_forbidden_moves_count_for_no_limit() {
    let game = empty(5);
    for limits in [
        // Settled: the rest cannot change the order of the best two.
        Limits { when_settled: true, ..Limits::playouts(60) },
        // Soft: the best move is far ahead of the second.
        Limits {
            playouts: Some(60),
            soft: Some(Duration::ZERO),
            hard: Some(Duration::MAX),
            ..Limits::default()
        },
        Limits { visits: Some(60), ..Limits::default() },
    ] {
        let mut search = puct_search(HashPolicy, 1);
        let known = run(&mut search, &game, 2000, 1);
        let favourite = known.moves[0].mv;
        let rare: Vec<Move> = known.moves.iter().rev().take(6).map(|entry| entry.mv).collect();
        let visits = |report: &SearchReport| {
            rare.iter().filter_map(|&mv| report.find(mv)).map(|entry| entry.visits).sum::<u32>()
        };
        assert!(known.moves[0].visits > 200 && visits(&known) < 30, "the test needs a clear favourite");
        let allow = vec![MoveRule { color: Color::Black, moves: rare.clone(), until: 1 }];
        let restriction = Restriction { allow, ..Restriction::NONE };
        let context = SearchContext {
            restriction: &restriction,
            ..SearchContext::new(&limits, &|| Duration::ZERO, &|| false)
        };
        let report = search.run(&game, 1, &context);
        assert_eq!(report.find(favourite).map(|entry| entry.visits), Some(known.moves[0].visits));
        assert!(report.playouts >= 10, "{limits:?}: only {} simulations", report.playouts);
        assert!(report.playouts <= 60, "{limits:?}: {} simulations", report.playouts);
    }
}
