//! Tests of the invariants of [`search`](super) and its parts.

mod exploring;

use super::fixtures::{LegalityOracle, empty, fighting_positions, game, rules};
use super::means::Child;
use super::node::Means;
use super::*;
use kosumi_eval::stub::{AreaEvaluator, HashEvaluator, HashPolicy};
use kosumi_eval::{Evaluation, Playouts, Prior};
use kosumi_go::board::{Board, BoardSize, Color, Move, Point};
use kosumi_go::game::Line;
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rules::KoRule;
use node::Node;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

fn search<E: Evaluator + Sync>(evaluator: E, threads: usize) -> Search<E> {
    let rave = RaveParams { rave_exploration: 0.5, ..RaveParams::default() };
    let params = SearchParams { expand_after: 1, formula: Formula::Rave(rave), ..SearchParams::default() };
    Search::new(evaluator, params, 8, threads)
}

/// Returns a search by PUCT, with the parameters of networks.
fn puct_search<E: Evaluator + Sync>(evaluator: E, threads: usize) -> Search<E> {
    Search::new(evaluator, SearchParams::for_network(), 8, threads)
}

/// Returns parameters with which every evaluation has the same weight and only its value counts.
fn plain_puct() -> PuctParams {
    PuctParams {
        value_weight_exponent: 0.0,
        use_noise_pruning: false,
        static_score_utility_factor: 0.0,
        dynamic_score_utility_factor: 0.0,
        use_uncertainty: false,
        subtree_value_bias_factor: 0.0,
        ..PuctParams::default()
    }
}

fn with_puct<E: Evaluator + Sync>(puct: PuctParams, evaluator: E, threads: usize) -> Search<E> {
    let params = SearchParams { formula: Formula::Puct(puct), ..SearchParams::for_network() };
    Search::new(evaluator, params, 8, threads)
}

fn run<E: Evaluator + Sync>(search: &mut Search<E>, game: &Game, playouts: u32, seed: u64) -> SearchReport {
    let limits = Limits::playouts(playouts);
    let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| false);
    search.run(game, seed, &context)
}

/// Returns move and visits of every edge at the root, and the root's value.
fn summary(report: &SearchReport) -> (Vec<(Move, u32)>, f32) {
    (report.moves.iter().map(|entry| (entry.mv, entry.visits)).collect(), report.value)
}

#[test]
fn descents_are_legal() {
    for (drawing, to_move) in fighting_positions() {
        for ko in [KoRule::Simple, KoRule::Positional, KoRule::Situational, KoRule::NaturalSituational] {
            for suicide in [false, true] {
                for sharing in [NodeSharing::Graph, NodeSharing::Tree] {
                    let game = game(drawing, to_move, rules(ko, suicide)).with_sharing(sharing);
                    let leaves = Arc::new(AtomicU32::new(0));
                    let oracle = LegalityOracle(leaves.clone(), HashEvaluator);
                    let report = run(&mut search(oracle, 1), &game, 1500, 7);
                    assert_eq!(report.playouts, 1500);
                    assert_eq!(leaves.load(Ordering::Relaxed) + report.cycles, 1500);
                    assert_eq!(game.check(to_move, report.best_move()), Ok(()));
                    let oracle = LegalityOracle(leaves.clone(), HashPolicy);
                    let report = run(&mut puct_search(oracle, 1), &game, 1500, 7);
                    assert_eq!(game.check(to_move, report.best_move()), Ok(()));
                }
            }
        }
    }
}

#[test]
fn cycles_end_a_descent_and_are_counted() {
    // Under simple ko, play on 2×2 returns to earlier positions, and their nodes are shared.
    let (drawing, to_move) = fighting_positions()[1];
    let simple = game(drawing, to_move, rules(KoRule::Simple, false));
    let report = run(&mut search(HashEvaluator, 1), &simple, 20_000, 1);
    assert!(report.cycles > 0);
    assert_eq!(report.playouts, 20_000);
    // Positional superko forbids any return.
    let positional = game(drawing, to_move, rules(KoRule::Positional, false));
    assert_eq!(run(&mut search(HashEvaluator, 1), &positional, 20_000, 1).cycles, 0);
}

/// Returns every reachable node, with a line that leads to it.
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

/// Asserts the arithmetic of every node: visits, sums, and the value by its definition.
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
            let (edge_visits, seen_value) = edge.visits_and_seen_value();
            sum += i64::from(edge_visits) * i64::from(seen_value);
            visits += edge_visits;
            if is_current && edge_visits > 0 {
                let child = table.node(edge.child().expect("a visited edge has a child"));
                assert_eq!(child.value_fixed(), seen_value, "the edge has its child's value");
            }
        }
        assert_eq!(node.sums(), (sum, visits));
    }
}

#[test]
fn sums_are_exact() {
    for threads in [1, 2, 4] {
        for sharing in [NodeSharing::Graph, NodeSharing::Tree] {
            for (drawing, to_move) in fighting_positions() {
                let game = game(drawing, to_move, rules(KoRule::Positional, true)).with_sharing(sharing);
                let mut search = search(HashEvaluator, threads);
                run(&mut search, &game, 4000, 3);
                // On a tree, one worker leaves nothing stale. On a graph, a node may have learned through one parent
                // what another parent has not used yet.
                check_sums(&search, &game, threads == 1 && sharing == NodeSharing::Tree);
            }
        }
    }
}

/// Returns the means of a node by their documented definition, without the correction by `bias`.
fn means_by_definition<E: Evaluator + Sync>(search: &Search<E>, node: &Node, color: Color) -> Means {
    let (table, sign) = (search.table(), f64::from(color.sign()));
    let Formula::Puct(params) = search.params().formula else { unreachable!("chosen by the test") };
    let mut children: Vec<Child> = Vec::new();
    for it in table.edges(node).filter(|it| it.visits() > 0) {
        let child = table.node(it.child().expect("a visited edge has a child"));
        let (visits, all) = (f64::from(it.visits()), f64::from(child.visits()));
        let utility = sign * f64::from(child.means().utility);
        let weight = f64::from(child.means().weight) * visits / all;
        let prior = it.prior().probability().into();
        children.push(Child { edge: it.id, order: it.order(), utility, prior, weight });
    }
    means::reweigh(&mut children, &params);
    let own = node.own();
    let own_utility =
        search.scale.expect("a scale").utility(own.result.into(), own.score.into(), own.deviation.into());
    let mean = |of_child: &dyn Fn(Means) -> f32, of_own: f32| {
        let (mut sum, mut weights) = (f64::from(own.weight) * f64::from(of_own), f64::from(own.weight));
        for child in &children {
            let node = table.node(table.edge(child.edge).child().expect("a child"));
            sum += child.weight * f64::from(of_child(node.means()));
            weights += child.weight;
        }
        (sum / weights) as f32
    };
    Means {
        result: mean(&|it| it.result, own.result),
        utility: mean(&|it| it.utility, own_utility as f32),
        utility_square: mean(&|it| it.utility_square, (own_utility * own_utility) as f32),
        score: mean(&|it| it.score, own.score),
        score_square: mean(&|it| it.score_square, own.score * own.score + own.deviation * own.deviation),
        lead: mean(&|it| it.lead, own.lead),
        no_result: mean(&|it| it.no_result, own.no_result),
        ..Means::default()
    }
}

/// Asserts the visits of every node, and its means if nothing may be stale.
fn check_means<E: Evaluator + Sync>(search: &Search<E>, game: &Game, is_current: bool) {
    let table = search.table();
    for (id, moves) in walk(table, game) {
        let node = table.node(id);
        let color = if moves.len() % 2 == 0 { game.to_move() } else { game.to_move().opponent() };
        assert_eq!((node.in_flight(), node.refreshing.load(Ordering::Relaxed)), (0, 0));
        let through_edges: u32 = table.edges(node).map(|edge| edge.visits()).sum();
        assert_eq!(node.visits(), node.own_visits() + through_edges);
        if is_current && node.visits() > 0 {
            let (stored, expected) = (node.means(), means_by_definition(search, node, color));
            let near = |a: f32, b: f32| (a - b).abs() < 1e-5 * (1.0 + b.abs());
            assert!(
                near(stored.result, expected.result)
                    && near(stored.utility, expected.utility)
                    && near(stored.utility_square, expected.utility_square)
                    && near(stored.score, expected.score),
                "{moves:?}: {stored:?} {expected:?}"
            );
        }
    }
}

#[test]
fn means_are_exact() {
    let puct = PuctParams { subtree_value_bias_factor: 0.0, ..PuctParams::default() };
    for threads in [1, 2, 4] {
        for sharing in [NodeSharing::Graph, NodeSharing::Tree] {
            for (drawing, to_move) in fighting_positions() {
                let game = game(drawing, to_move, rules(KoRule::Positional, true)).with_sharing(sharing);
                let mut search = with_puct(puct, HashPolicy, threads);
                run(&mut search, &game, 3000, 3);
                // On a tree, one worker leaves nothing stale.
                check_means(&search, &game, threads == 1 && sharing == NodeSharing::Tree);
                // After a recomputation from the leaves up, nothing is stale on a graph either: updates through other
                // parents have arrived.
                let root = search.table.find(game.graph_key()).expect("root");
                search.valuation(&search.params).expect("PUCT").refresh_all(root, game.to_move());
                check_means(&search, &game, true);
            }
        }
    }
}

#[test]
fn bias_sums_are_exact() {
    for threads in [1, 4] {
        let mut game = empty(5);
        let mut search = puct_search(HashPolicy, threads);
        for _ in 0..3 {
            let report = run(&mut search, &game, 1500, 3);
            let mut expected = std::collections::BTreeMap::new();
            for id in search.table().ids() {
                let noted = BiasTable::contribution(search.table().node(id));
                if let Some((entry, difference, weight)) = noted {
                    let sums = expected.entry(entry).or_insert((0, 0));
                    *sums = (sums.0 + difference, sums.1 + weight);
                }
            }
            let expected: Vec<_> = expected.into_iter().filter(|&(_, sums)| sums != (0, 0)).collect();
            let found: Vec<_> = search.bias.sums().into_iter().map(|(entry, a, b)| (entry, (a, b))).collect();
            assert!(found.len() > 100);
            assert_eq!(found, expected);
            // The contributions of nodes that the new root does not reach fade before the next search.
            let color = game.to_move();
            game.play(color, report.best_move()).expect("legal");
        }
    }
}

#[test]
fn utilities_follow_the_root() {
    // After a move, the utility scale has another centre, and every reachable node is recomputed.
    let puct = PuctParams { subtree_value_bias_factor: 0.0, ..PuctParams::default() };
    let mut game = empty(5);
    let mut search = with_puct(puct, HashPolicy, 1);
    let report = run(&mut search, &game, 2000, 1);
    let before = search.scale;
    game.play(Color::Black, report.moves[0].mv).expect("legal");
    run(&mut search, &game, 1, 1);
    assert_ne!(search.scale, before);
    let root = search.table.find(game.graph_key()).expect("root");
    search.valuation(&search.params).expect("PUCT").refresh_all(root, game.to_move());
    check_means(&search, &game, true);
    assert!(search.table().node(root).visits() > 100);
}

#[test]
fn a_trees_value_is_the_mean_of_its_evaluations() {
    #[derive(Clone)]
    struct Summing<E>(Arc<Mutex<(f64, u32)>>, E);
    impl<E: Evaluator> Evaluator for Summing<E> {
        fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
            let evaluation = self.1.evaluate(line, rng, moves);
            let mut sums = self.0.lock().expect("lock");
            sums.0 += f64::from(evaluation.value);
            sums.1 += 1;
            evaluation
        }
        fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
            self.1.expand(line, moves);
        }
    }
    let sums = Arc::new(Mutex::new((0.0, 0)));
    let game = empty(5).with_sharing(NodeSharing::Tree);
    let report = run(&mut search(Summing(sums.clone(), HashEvaluator), 1), &game, 3000, 1);
    let (sum, count) = *sums.lock().expect("lock");
    assert_eq!(count, 3000);
    assert!((f64::from(report.value) - sum / 3000.0).abs() < 1e-4, "{} {}", report.value, sum / 3000.0);

    // With probabilities, where every evaluation has a weight of one visit. The root is evaluated once more to centre
    // the utility scale.
    *sums.lock().expect("lock") = (0.0, 0);
    let report = run(&mut with_puct(plain_puct(), Summing(sums.clone(), HashPolicy), 1), &game, 3000, 1);
    let (sum, count) = *sums.lock().expect("lock");
    assert_eq!(count, 3001);
    let root = HashPolicy.evaluate(&Line::new(&game), &mut Rng::new(0), &mut Vec::new()).value;
    let mean = (sum - f64::from(root)) / 3000.0;
    assert!((f64::from(report.value) - mean).abs() < 1e-4, "{} {mean}", report.value);
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
fn undone_moves_do_not_change_the_search() {
    // Two games reach one position: directly, and with moves that are undone.
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
    // A failure means that the search has changed: check whether that was intended.
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
    assert!(report.moves.iter().any(|entry| entry.visits == 0), "unlikely moves are unvisited");
    let more = run(&mut puct_search(HashPolicy, 1), &game, 5000, 1);
    let best_value = |report: &SearchReport| report.moves[0].value;
    assert!(best_value(&more) > more.value, "visits go where values are high: {}", more.value);
    assert_eq!(summary(&run(&mut puct_search(HashPolicy, 1), &game, 5000, 1)), summary(&more));
}

#[test]
fn root_symmetries_grow_with_visits() {
    /// Evaluator that finds a single move under each symmetry, a different one each time.
    #[derive(Clone)]
    struct Sides(Arc<AtomicU32>);
    impl Evaluator for Sides {
        fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
            HashPolicy.evaluate(line, rng, moves)
        }
        fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
            self.expand_root_view(line, 0, moves);
        }
        fn has_root_priors(&self) -> bool {
            true
        }
        fn root_views(&self, _size: BoardSize) -> u32 {
            4
        }
        fn expand_root_view(&mut self, line: &Line<'_>, view: u32, moves: &mut Vec<(Move, Prior)>) {
            HashPolicy.expand(line, moves);
            for (index, (_, prior)) in moves.iter_mut().enumerate() {
                *prior = Prior::Probability(if index == view as usize { 1.0 } else { 0.0 });
            }
            self.0.fetch_max(view, Ordering::Relaxed);
        }
    }
    let game = empty(5);
    let farthest = Arc::new(AtomicU32::new(0));
    let mut search = puct_search(Sides(farthest.clone()), 1);
    let mut priors = |playouts: u32| {
        run(&mut search, &game, playouts, 1);
        let root = search.table().find(game.graph_key()).expect("root");
        let edges = search.table().edges(search.table().node(root));
        let mut edges: Vec<_> = edges.map(|edge| (edge.order(), edge.prior().probability())).collect();
        edges.sort_by_key(|&(order, _)| order);
        edges[..5].iter().map(|&(_, prior)| prior).collect::<Vec<_>>()
    };
    assert_eq!(priors(15), [1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(priors(1), [0.5, 0.5, 0.0, 0.0, 0.0], "the second symmetry at 16 visits");
    let all = priors(500);
    assert!(all[..4].iter().all(|prior| (prior - 0.25).abs() < 0.003) && all[4] == 0.0, "{all:?}");
    priors(100);
    assert_eq!(farthest.load(Ordering::Relaxed), 3, "there is no fifth symmetry");
}

#[test]
fn scores_and_squares_are_means_over_simulations() {
    // The score of the stubs is ten times their value, so on a tree both means must agree everywhere.
    let game = empty(4).with_sharing(NodeSharing::Tree);
    let mut by_playouts = search(HashEvaluator, 1);
    run(&mut by_playouts, &game, 3000, 1);
    for (id, _) in walk(by_playouts.table(), &game) {
        let node = by_playouts.table().node(id);
        if node.visits() > 0 {
            let (score, value) = (node.score(), 10.0 * node.value());
            assert!((score - value).abs() < 0.02, "score {score}, value {value}");
            assert!(node.mean_square() + 1e-4 >= node.value() * node.value());
        }
    }
    let mut with_network = with_puct(plain_puct(), HashPolicy, 1);
    run(&mut with_network, &game, 3000, 1);
    for (id, _) in walk(with_network.table(), &game) {
        let means = with_network.table().node(id).means();
        if means.weight > 0.0 {
            assert!((means.lead - 10.0 * means.result).abs() < 1e-3, "{means:?}");
            assert!((means.score - means.lead).abs() < 1e-3 && means.no_result == 0.0, "{means:?}");
            assert!(means.score_square + 1e-3 >= means.score * means.score, "{means:?}");
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
    let tree = run(&mut search(HashEvaluator, 1), &empty(5).with_sharing(NodeSharing::Tree), 5000, 1);
    assert!(graph.transpositions > 100, "{}", graph.transpositions);
    assert_eq!(tree.transpositions, 0);
}

#[test]
fn full_table_is_no_error() {
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

        let mut search = Search::new(HashPolicy, SearchParams::for_network(), 1, threads);
        let mut game = empty(9);
        for _ in 0..3 {
            let report = run(&mut search, &game, 12_000, 1);
            assert!(report.playouts >= 12_000 && report.value.abs() <= 1.0);
            assert!(report.usage.edges <= report.usage.edge_capacity);
            let color = game.to_move();
            game.play(color, report.best_move()).expect("legal");
        }
        assert!(search.table().usage().fullness() > 0.9, "the test must fill the table");
    }
}

#[test]
fn statistics_survive_a_move() {
    let mut search = search(HashEvaluator, 1);
    let mut game = empty(5);
    let report = run(&mut search, &game, 3000, 1);
    let best = &report.moves[0];
    game.play(Color::Black, best.mv).expect("legal");
    let next = run(&mut search, &game, 1, 1);
    assert!(next.visits >= best.visits, "{} of {}", next.visits, best.visits);
}

#[test]
fn moves_are_visited_in_the_order_of_their_priors() {
    // The scan for the most urgent move relies on this order: it stops at the first unvisited move.
    let game = empty(6);
    let mut search = puct_search(HashPolicy, 1);
    run(&mut search, &game, 6000, 1);
    let table = search.table();
    let mut line = Line::new(&game);
    let (mut long, mut incomplete) = (0, 0);
    for (id, moves) in walk(table, &game).into_iter().skip(1) {
        line.reset();
        moves.iter().for_each(|&mv| line.play(mv));
        let node = table.node(id);
        let stored: Vec<_> = table.edges(node).map(|edge| (edge.mv(), edge.prior().pack())).collect();
        if stored.is_empty() {
            continue;
        }
        let mut all = Vec::new();
        HashPolicy.expand(&line, &mut all);
        // The moves come in the order of the board, and the sort is stable.
        let mut all: Vec<_> = all.into_iter().map(|(mv, prior)| (mv, prior.pack())).collect();
        all.sort_by_key(|&(_, prior)| std::cmp::Reverse(prior));
        assert_eq!(stored, all[..stored.len()], "the likeliest moves, sorted");
        assert_eq!(table.is_complete(node), stored.len() == all.len());
        let visited = table.edges(node).take_while(|edge| edge.visits() > 0).count();
        assert!(table.edges(node).skip(visited).all(|edge| edge.visits() == 0 && edge.child().is_none()));
        assert!(node.is_in_order() && visited <= stored.len());
        assert!(stored.len() <= 8 || visited >= 8, "a second run of moves when it is needed");
        long += u32::from(stored.len() > 8);
        incomplete += u32::from(stored.len() < all.len());
    }
    assert!(long > 5 && incomplete > 1000, "{long} {incomplete}");
    let root = table.node(table.find(game.graph_key()).expect("root"));
    assert!(table.is_complete(root) && table.edges(root).count() == 37);
}

/// Evaluator with even results, for which the first move is as probable as all others together.
#[derive(Clone)]
struct Even;

impl Evaluator for Even {
    fn evaluate(&mut self, line: &Line<'_>, _rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        self.expand(line, moves);
        Evaluation::plain(0.0, 0.0)
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        let legal = line.board().size().points().filter(|&point| line.check(point).is_ok());
        let probability = |place| if place == 0 { 0.5 } else { 0.5 / 24.0 };
        let priors = (0..).map(|place| Prior::Probability(probability(place)));
        moves.extend(legal.map(Move::Play).zip(priors));
    }
}

#[test]
fn descents_in_progress_count_as_node_visits() {
    let game = empty(5);
    let mut search = with_puct(plain_puct(), Even, 1);
    let first = run(&mut search, &game, 10, 1).moves[0].mv;
    let root = search.table().find(game.graph_key()).expect("the root");
    let edge = search.table().edges(search.table().node(root)).find(|edge| edge.mv() == first);
    let child = edge.and_then(|edge| edge.child()).expect("a node");
    // With a thousand descents in progress there, other moves must be explored as after a thousand visits.
    search.table().node(child).begin_visits(1000);
    let report = run(&mut search, &game, 12, 1);
    let seen = report.moves.iter().filter(|entry| entry.visits > 0).count();
    assert!(seen >= 10, "{seen} moves");
    search.table().node(child).finish_visits(1000);
    assert_eq!(search.table().node(child).in_flight(), 0);
}

#[test]
fn a_position_that_becomes_the_root_gets_all_its_moves() {
    let mut game = empty(6);
    let mut search = puct_search(HashPolicy, 1);
    let best = run(&mut search, &game, 500, 1).best_move();
    game.play(Color::Black, best).expect("legal");
    let legal = search.report(&game).expect("a node").moves.len();
    assert_eq!(legal, 36);
    let report = run(&mut search, &game, 500, 1);
    assert_eq!(report.moves.len(), 36);
    let priors: f32 = report.moves.iter().map(|entry| entry.prior.probability()).sum();
    assert!((priors - 1.0).abs() < 0.01);
}

#[test]
fn play_search_prunes_symmetric_moves() {
    let game = empty(5);
    let limits = Limits::playouts(1500);
    let context =
        SearchContext { for_play: true, ..SearchContext::new(&limits, &|| Duration::ZERO, &|| false) };
    let visited = |report: &SearchReport| report.moves.iter().filter(|entry| entry.visits > 0).count();
    let mut search = puct_search(HashPolicy, 1);
    let report = search.run(&game, 1, &context);
    assert_eq!((report.moves.len(), visited(&report)), (26, 7), "a triangle of the board, and the pass");
    let known = report.moves[..7].to_vec();
    // Analyses consider all moves.
    assert!(visited(&run(&mut search, &game, 1500, 1)) > 7);
    // The next search for a move to play is restricted again, whatever has been searched meanwhile.
    let before = search.report(&game).expect("a node");
    let report = search.run(&game, 1, &context);
    let more = |entry: &&MoveReport| before.find(entry.mv).is_some_and(|it| it.visits < entry.visits);
    assert!(report.moves.iter().filter(more).count() <= 7);
    assert!(report.moves[..7].iter().filter(|entry| entry.mv == Move::Pass).count() == 1);
    // The remaining probabilities are scaled to sum to 1.
    let root = search.table.find(game.graph_key()).expect("root");
    let gone: Vec<Move> = report.moves[7..].iter().map(|entry| entry.mv).collect();
    let left: f32 = report.moves[..7].iter().map(|entry| entry.prior.probability()).sum();
    assert!(left < 0.6 && (scale_without(search.table(), root, &gone) * left - 1.0).abs() < 1e-4);
    assert_eq!(scale_without(search.table(), root, &[]), 1.0);
    // If nothing is left out, nothing changes.
    let mut off = puct_search(HashPolicy, 1);
    let root = RootParams { root_symmetry_pruning: false, ..RootParams::default() };
    off.set_params(SearchParams { root, ..SearchParams::for_network() });
    let all = off.run(&game, 1, &context);
    assert_eq!(summary(&all), summary(&run(&mut puct_search(HashPolicy, 1), &game, 1500, 1)));
    assert!(known.iter().all(|entry| all.find(entry.mv).is_some()));
}

#[test]
fn a_search_may_bring_its_own_parameters() {
    let game = empty(5);
    let plain = SearchParams { formula: Formula::Puct(plain_puct()), ..SearchParams::for_network() };
    let limits = Limits::playouts(200);
    let usual = SearchContext::new(&limits, &|| Duration::ZERO, &|| false);
    let mut reference = with_puct(plain_puct(), HashPolicy, 1);
    let mut search = puct_search(HashPolicy, 1);
    let first = summary(&search.run(&game, 1, &SearchContext { params: Some(plain), ..usual }));
    assert_eq!(first, summary(&reference.run(&game, 1, &usual)));
    // The next search no longer has the parameters of the first one.
    assert_eq!(search.params(), SearchParams::for_network());
    reference.set_params(SearchParams::for_network());
    let second = summary(&search.run(&game, 2, &usual));
    assert_eq!(second, summary(&reference.run(&game, 2, &usual)));
    search.clear();
    assert_ne!(first, summary(&search.run(&game, 1, &usual)));
}

#[test]
fn the_roots_probabilities_have_a_temperature() {
    let game = empty(5);
    let mut search = puct_search(HashPolicy, 1);
    let mut priors = |temperature: f32| {
        let root = RootParams {
            root_policy_temperature: temperature,
            root_policy_temperature_early: temperature,
            ..RootParams::default()
        };
        search.set_params(SearchParams { root, ..SearchParams::for_network() });
        let report = run(&mut search, &game, 1, 1);
        let priors: Vec<f32> = report.moves.iter().map(|entry| entry.prior.probability()).collect();
        assert!((priors.iter().sum::<f32>() - 1.0).abs() < 0.01);
        priors.into_iter().fold(0.0, f32::max)
    };
    let plain = priors(1.0);
    let (hot, cold) = (priors(4.0), priors(0.25));
    assert!(hot < 0.8 * plain && cold > 1.5 * plain, "{hot} {plain} {cold}");
    assert_eq!(priors(1.0), plain, "the temperature can be reset");
}

#[test]
fn a_node_takes_less_than_a_kilobyte() {
    let game = empty(19);
    let mut search = puct_search(HashPolicy, 1);
    let usage = run(&mut search, &game, 1000, 1).usage;
    assert!(usage.nodes > 900 && usage.bytes / usage.nodes < 400, "{usage:?}");
}

#[test]
fn collecting_garbage_changes_nothing_that_can_be_reached() {
    let by_playouts = collect_garbage(search(HashEvaluator, 1));
    check_sums(&by_playouts.0, &by_playouts.1, false);
    let by_network = collect_garbage(puct_search(HashPolicy, 1));
    let runs = walk(by_network.0.table(), &by_network.1);
    let table = by_network.0.table();
    assert!(runs.iter().any(|&(id, _)| (9..25).contains(&table.edges(table.node(id)).count())));
    check_means(&by_network.0, &by_network.1, false);
}

fn collect_garbage<E: Evaluator + Sync>(mut search: Search<E>) -> (Search<E>, Game) {
    let mut game = empty(5);
    let report = run(&mut search, &game, 5000, 1);
    game.play(Color::Black, report.best_move()).expect("legal");
    let facts = |search: &Search<E>| {
        let table = search.table();
        walk(table, &game)
            .into_iter()
            .map(|(id, line)| {
                let node = table.node(id);
                let edges: Vec<_> = table
                    .edges(node)
                    .map(|edge| {
                        let child = edge.child().map(|child| table.node(child).key());
                        let rave = table.rave(edge.id).map(node::Rave::visits_and_value);
                        (edge.mv(), edge.visits_and_seen_value(), rave, edge.prior(), child)
                    })
                    .collect();
                (line, node.key(), node.sums(), node.own_visits(), (node.means(), node.own()), edges)
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
    // The search continues from there.
    run(&mut search, &game, 2000, 2);
    (search, game)
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
fn interrupted_search_still_has_a_move() {
    let mut search = search(HashEvaluator, 1);
    let limits = Limits::default();
    let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| true);
    let report = search.run(&empty(5), 1, &context);
    assert_eq!(report.playouts, 1);
    assert!(report.moves[0].visits > 0);
}

#[test]
fn errors_shrink_with_visits() {
    // For the same evaluator and position, four times the visits give about half the error.
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
    // An unvisited move has the statistics of the root; one visit leaves much uncertainty.
    let seldom = few.moves.iter().filter(|entry| entry.visits == 1).map(|entry| entry.value_error);
    assert!(seldom.fold(1.0, f32::min) > 0.3);
}

#[test]
fn a_restriction_holds_and_reports_come_in_time() {
    let game = empty(5);
    let corner = Move::Play(Point::new(0, 0));
    let restriction = Restriction::allowing(Color::Black, [corner], 1);
    let limits = Limits::playouts(2000);
    // A clock that advances by a millisecond at every reading.
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
        // Settled: the remaining simulations cannot change the order of the best two moves.
        Limits { settled_from: Some(Duration::ZERO), ..Limits::playouts(60) },
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
        let rare: Vec<Move> = known.moves.iter().rev().skip(5).take(3).map(|entry| entry.mv).collect();
        let visits = |report: &SearchReport| {
            rare.iter().filter_map(|&mv| report.find(mv)).map(|entry| entry.visits).sum::<u32>()
        };
        assert!(known.moves[0].visits > 200 && visits(&known) <= 30, "the test needs a clear favourite");
        let restriction = Restriction::allowing(Color::Black, rare.clone(), 1);
        let context = SearchContext {
            restriction: &restriction,
            ..SearchContext::new(&limits, &|| Duration::ZERO, &|| false)
        };
        let report = search.run(&game, 1, &context);
        assert_eq!(report.find(favourite).map(|entry| entry.visits), Some(known.moves[0].visits));
        assert!(report.playouts >= 5, "{limits:?}: only {} simulations", report.playouts);
        assert!(report.playouts <= 60, "{limits:?}: {} simulations", report.playouts);
    }
}

#[test]
fn path_samples_are_uniform() {
    let game = empty(5);
    let mut search = with_puct(plain_puct(), HashPolicy, 1);
    let report = run(&mut search, &game, 40, 1);
    let (mut rng, draws) = (Rng::new(1), 20_000);
    let mut first = HashMap::new();
    for _ in 0..draws {
        let path = search.sample_path(&game, &mut rng);
        let mut end = game.clone();
        for &mv in &path {
            end.play(end.to_move(), mv).expect("a path of the search");
        }
        let id = search.table().find(end.graph_key()).expect("a node of the search");
        assert!(search.table().node(id).own_visits() > 0, "something was evaluated there");
        *first.entry(path.first().copied()).or_insert(0u32) += 1;
    }
    let root = search.table().find(game.graph_key()).expect("the root");
    let own = search.table().node(root).own_visits();
    let moves = report.moves.iter().map(|entry| (Some(entry.mv), entry.visits));
    for (mv, visits) in moves.chain([(None, own)]) {
        let share = f64::from(first.get(&mv).copied().unwrap_or(0)) / f64::from(draws);
        let expected = f64::from(visits) / f64::from(report.visits);
        // Five standard errors.
        let most = 5.0 * (expected * (1.0 - expected) / f64::from(draws)).sqrt();
        assert!((share - expected).abs() <= most, "{mv:?}: {share} instead of {expected}");
    }
    assert!(search.sample_path(&empty(6), &mut rng).is_empty(), "the position is unknown");
}

#[test]
fn noise_visits_do_not_count_as_merit() {
    let game = empty(5);
    let searched = |noise: Option<&RootNoise>| {
        let mut search = with_puct(plain_puct(), HashPolicy, 1);
        let limits = Limits::playouts(400);
        let context = SearchContext { noise, ..SearchContext::new(&limits, &|| Duration::ZERO, &|| false) };
        search.run(&game, 1, &context)
    };
    let plain = searched(None);
    assert_eq!(summary(&plain), summary(&searched(Some(&RootNoise::new(0.0, &[], 0.0)))));

    // All noise goes to the least visited move, but not enough to make it the most visited one.
    let least = plain.moves.last().expect("moves").mv;
    let before = plain.find(least).expect("a move");
    let noisy = [0.01, 0.02, 0.03, 0.04].map(|weight| {
        let report = searched(Some(&RootNoise::new(weight, &[(least, 1.0)], 0.0)));
        let after = report.find(least).expect("a move");
        assert_eq!(after.prior, before.prior, "the prior stays");
        (after.visits, after.merit)
    });
    assert!(noisy.is_sorted() && noisy[3].0 > before.visits + 5, "{} {noisy:?}", before.visits);
    assert!(
        noisy.iter().any(|&(visits, merit)| visits > before.visits && merit < 0.8 * visits as f32),
        "{noisy:?}"
    );

    let forced = searched(Some(&RootNoise::new(0.0, &[], 2.0)));
    for entry in forced.moves.iter().filter(|entry| entry.visits > 0) {
        let expected = (2.0 * entry.prior.probability() * 400.0).sqrt();
        assert!(
            entry.visits as f32 >= expected - 1.0,
            "{}: {} instead of {expected}",
            entry.mv,
            entry.visits
        );
        assert!(entry.merit <= entry.visits as f32);
    }
    let visits = |report: &SearchReport| report.moves.iter().map(|entry| entry.visits.min(5)).sum::<u32>();
    assert!(visits(&forced) > visits(&plain), "more moves get a few visits");
}
