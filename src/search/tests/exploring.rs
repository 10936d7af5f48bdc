//! Tests of simulations that choose by the priors of people below the root.

use super::*;

/// Source of priors that prefers the moves that [`HashPolicy`] finds least likely. Counts its calls at even and at odd
/// depths.
#[derive(Clone, Default)]
struct ContraryPriors(Arc<[AtomicU32; 2]>);

impl ContraryPriors {
    fn asked(&self) -> [u32; 2] {
        [0, 1].map(|parity| self.0[parity].load(Ordering::Relaxed))
    }
}

impl PriorSource for ContraryPriors {
    fn priors(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        assert!(!line.moves().is_empty(), "the root has an exploration of its own");
        self.0[line.moves().len() % 2].fetch_add(1, Ordering::Relaxed);
        HashPolicy.expand(line, moves);
        let rarity = |prior: Prior| prior.probability().max(1e-6).powi(-2);
        let sum: f32 = moves.iter().map(|&(_, prior)| rarity(prior)).sum();
        for (_, prior) in moves {
            *prior = Prior::Probability(rarity(*prior) / sum);
        }
    }

    fn copy(&self) -> Box<dyn PriorSource> {
        Box::new(self.clone())
    }
}

fn shares(weightless: f32, weightful: f32) -> ExplorationShares {
    ExplorationShares { weightless, weightful }
}

const NO_SHARES: ExplorationShares = ExplorationShares { weightless: 0.0, weightful: 0.0 };

/// Returns an exploration with these shares at positions with Black and with White to move.
fn tree_exploration(
    black: ExplorationShares,
    white: ExplorationShares,
    prior_source: &ContraryPriors,
) -> TreeExploration {
    let shares = kosumi_go::board::ByColor::new(black, white);
    TreeExploration { shares, cpuct: 1.0, cpuct_permanent: 0.5, source: prior_source.copy() }
}

fn run_exploring<E: Evaluator + Sync>(
    search: &mut Search<E>,
    game: &Game,
    limits: &Limits,
    seed: u64,
    exploration: &TreeExploration,
) -> SearchReport {
    let context = SearchContext::new(limits, &|| Duration::ZERO, &|| false);
    search.run(game, seed, &SearchContext { tree_exploration: Some(exploration), ..context })
}

#[test]
fn zero_shares_change_nothing() {
    let game = empty(5);
    let (mut plain, mut exploring) = (puct_search(HashPolicy, 1), puct_search(HashPolicy, 1));
    let prior_source = ContraryPriors::default();
    let nothing = tree_exploration(NO_SHARES, NO_SHARES, &prior_source);
    let expected = run(&mut plain, &game, 800, 5);
    let found = run_exploring(&mut exploring, &game, &Limits::playouts(800), 5, &nothing);
    assert_eq!(format!("{expected:?}"), format!("{found:?}"));
    assert_eq!(prior_source.asked(), [0, 0]);
    // Searches with playouts have no probabilities, and ignore this exploration.
    let all = tree_exploration(shares(0.5, 0.5), shares(0.5, 0.5), &prior_source);
    let expected = run(&mut search(HashEvaluator, 1), &game, 800, 5);
    let found = run_exploring(&mut search(HashEvaluator, 1), &game, &Limits::playouts(800), 5, &all);
    assert_eq!(format!("{expected:?}"), format!("{found:?}"));
    assert_eq!(prior_source.asked(), [0, 0]);
}

#[test]
fn shares_apply_to_the_side_to_move() {
    let game = empty(5);
    let own = ContraryPriors::default();
    let limits = Limits::playouts(600);
    run_exploring(
        &mut puct_search(HashPolicy, 1),
        &game,
        &limits,
        5,
        &tree_exploration(shares(0.2, 0.2), NO_SHARES, &own),
    );
    let theirs = ContraryPriors::default();
    run_exploring(
        &mut puct_search(HashPolicy, 1),
        &game,
        &limits,
        5,
        &tree_exploration(NO_SHARES, shares(0.2, 0.2), &theirs),
    );
    // Black is to move at the root, and two moves later.
    assert!(own.asked()[0] > 20 && own.asked()[1] == 0, "{:?}", own.asked());
    assert!(theirs.asked()[1] > 100 && theirs.asked()[0] == 0, "{:?}", theirs.asked());
}

/// Returns visits and all other statistics of a node, to the bit.
fn known(node: &Node) -> (u32, u32, String) {
    (node.visits(), node.own_visits(), format!("{:?}", node.statistics()))
}

/// Returns the statistics of the root and of the positions after one move.
fn near_root<E: Evaluator + Sync>(search: &Search<E>, root: NodeId) -> Vec<(u32, u32, String)> {
    let table = &search.table;
    let children = table.edges(table.node(root)).filter_map(|edge| edge.child());
    children.chain([root]).map(|id| known(table.node(id))).collect()
}

#[test]
fn weightless_simulations_leave_ancestors_unchanged() {
    for (drawing, to_move) in fighting_positions().into_iter().skip(2) {
        let game = game(drawing, to_move, rules(KoRule::Positional, true)).with_sharing(NodeSharing::Tree);
        let mut search = puct_search(HashPolicy, 1);
        run(&mut search, &game, 300, 3);
        let prior_source = ContraryPriors::default();
        assert_eq!(to_move, Color::Black);
        let exploration = tree_exploration(NO_SHARES, shares(1.0, 0.0), &prior_source);
        let mut kept = 0;
        for seed in 0..60 {
            let root = search.table.find(game.graph_key()).expect("a root");
            let evaluations = |search: &Search<HashPolicy>| -> u32 {
                let nodes = search.table.ids();
                nodes.map(|id| search.table.node(id).own_visits()).sum()
            };
            let (visits, before) = (search.table.node(root).visits(), near_root(&search, root));
            let evaluated = evaluations(&search);
            run_exploring(&mut search, &game, &Limits::playouts(1), seed, &exploration);
            assert_eq!(evaluations(&search), evaluated + 1, "something was learned");
            if search.table.node(root).visits() == visits {
                // The choice that did not count was the opponent's, so it was made after the first move or later.
                kept += 1;
                assert!(near_root(&search, root) == before, "seed {seed}");
            }
        }
        assert!(kept > 30, "{kept}");
        check_means(&search, &game, false);
    }
}

#[test]
fn sums_are_exact_where_positions_are_explored() {
    let puct = PuctParams { subtree_value_bias_factor: 0.0, ..PuctParams::default() };
    let prior_source = ContraryPriors::default();
    let exploration = tree_exploration(shares(0.3, 0.3), shares(0.1, 0.5), &prior_source);
    for threads in [1, 2, 4] {
        for sharing in [NodeSharing::Graph, NodeSharing::Tree] {
            for (drawing, to_move) in fighting_positions() {
                let game = game(drawing, to_move, rules(KoRule::Positional, true)).with_sharing(sharing);
                let mut search = with_puct(puct, LegalityOracle(Arc::default(), HashPolicy), threads);
                let limits = Limits::playouts(1500);
                let report = run_exploring(&mut search, &game, &limits, 3, &exploration);
                assert!(report.playouts >= 1500);
                check_means(&search, &game, false);
                // After a recomputation from the leaves up, every mean equals its definition: simulations that did not
                // count are in no edge.
                let root = search.table.find(game.graph_key()).expect("root");
                search.valuation(&search.params).expect("PUCT").refresh_all(root, game.to_move());
                check_means(&search, &game, true);
            }
        }
    }
}

#[test]
fn exploring_below_the_root_is_deterministic() {
    let game = empty(5);
    let prior_source = ContraryPriors::default();
    let exploration = tree_exploration(shares(0.2, 0.3), shares(0.4, 0.1), &prior_source);
    let found = || {
        let mut search = puct_search(HashPolicy, 1);
        let report = run_exploring(&mut search, &game, &Limits::playouts(700), 9, &exploration);
        format!("{report:?}")
    };
    assert_eq!(found(), found());
}

#[test]
fn unstored_moves_of_people_are_explored() {
    let game = empty(7);
    let prior_source = ContraryPriors::default();
    let exploration = TreeExploration {
        cpuct_permanent: 50.0,
        ..tree_exploration(NO_SHARES, shares(0.0, 1.0), &prior_source)
    };
    let mut search = puct_search(HashPolicy, 1);
    let report = run_exploring(&mut search, &game, &Limits::playouts(400), 9, &exploration);
    let mut line = Line::new(&game);
    line.play(report.best_move());
    let mut theirs = Vec::new();
    ContraryPriors::default().priors(&line, &mut theirs);
    theirs.sort_by(|a, b| b.1.probability().total_cmp(&a.1.probability()));
    let node = search.table.node(search.table.find(line.graph_key()).expect("a node"));
    let most = search.table.edges(node).max_by_key(|edge| edge.visits()).expect("moves");
    assert_eq!(most.mv(), theirs[0].0, "with this weight, the prior decides");
    assert!(search.table.edges(node).count() > 8, "moves behind the first run");
    // Without the priors of people, the move is not even stored.
    let mut plain = puct_search(HashPolicy, 1);
    run(&mut plain, &game, 400, 9);
    let node = plain.table.node(plain.table.find(line.graph_key()).expect("a node"));
    assert!(plain.table.edges(node).all(|edge| edge.mv() != theirs[0].0 || edge.visits() == 0));
}

#[test]
fn visit_limit_holds_with_weightless_simulations() {
    let game = empty(5);
    let prior_source = ContraryPriors::default();
    let exploration = tree_exploration(shares(1.0, 0.0), shares(1.0, 0.0), &prior_source);
    let limits = Limits { visits: Some(400), ..Limits::default() };
    let mut search = puct_search(HashPolicy, 1);
    let report = run_exploring(&mut search, &game, &limits, 2, &exploration);
    assert_eq!(report.playouts, 400);
    assert!(report.visits < 200, "{}", report.visits);
}

#[test]
fn weightless_simulations_do_not_count_in_a_full_table() {
    let game = empty(9);
    let prior_source = ContraryPriors::default();
    let exploration = tree_exploration(NO_SHARES, shares(1.0, 0.0), &prior_source);
    let mut search = Search::new(HashPolicy, SearchParams::for_network(), 1, 1);
    run(&mut search, &game, 10_000, 2);
    let root = search.table.find(game.graph_key()).expect("a root");
    assert!(search.table.usage().fullness() > 0.99, "{:?}", search.table.usage());
    let mut kept = 0;
    for seed in 0..100 {
        let (visits, before) = (search.table.node(root).visits(), near_root(&search, root));
        let limits = Limits::playouts(1);
        let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| false);
        let context = SearchContext { tree_exploration: Some(&exploration), ..context };
        search.run_in_place(&game, seed, &context).expect("a root");
        if search.table.node(root).visits() == visits {
            kept += 1;
            assert!(near_root(&search, root) == before, "seed {seed}");
        }
    }
    assert!(kept > 50, "{kept}");
    check_means(&search, &game, false);
}
