//! Tests of the invariants of [`cluster`](super).

use super::*;
use kosumi_eval::stub::HashPolicy;
use kosumi_eval::{Evaluation, Evaluator, NetworkEvaluator, NetworkSettings, Prior};
use kosumi_go::board::{BoardSize, Color, Key, Move};
use kosumi_go::game::{Game, Line};
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rng::Rng;
use kosumi_go::rules::{KoRule, Rules};
use kosumi_net::{BuiltIn, Network};
use kosumi_search::fixtures::{LegalityOracle, empty, fighting_positions, game, rules};
use kosumi_search::node::Node;
use kosumi_search::{
    Limits, NodeTable, Reporting, Restriction, Search, SearchContext, SearchParams, SearchReport,
};
use kosumi_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A distributed search whose ranks are threads.
struct Ranks<E: Evaluator + Sync> {
    first: Cluster<E, ThreadLink>,
    others: Vec<thread::JoinHandle<Result<Cluster<E, ThreadLink>, ClusterError>>>,
}

impl<E: Evaluator + Sync + 'static> Ranks<E> {
    fn start(
        evaluator: &E,
        ranks: usize,
        threads: usize,
        placement: Placement,
        mebibytes: usize,
    ) -> Ranks<E> {
        let mut links = thread_links(ranks).into_iter();
        let first = links.next().expect("a rank");
        let first = Cluster::new(first, evaluator.clone(), mebibytes, threads).placed(placement);
        let others = links
            .map(|link| {
                let mut cluster = Cluster::new(link, evaluator.clone(), mebibytes, threads);
                thread::spawn(move || cluster.serve().map(|()| cluster))
            })
            .collect();
        Ranks { first, others }
    }

    fn run(&mut self, game: &Game, playouts: u32, seed: u64) -> SearchReport {
        let limits = Limits::playouts(playouts);
        let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| false);
        self.first.run(&SearchParams::for_network(), game, seed, &context).expect("a report")
    }

    /// Ends the ranks, and returns the nodes that each has stored.
    fn end(self) -> Vec<NodeRecords> {
        let Ranks { first, others } = self;
        let kept_first = keep(first.table());
        drop(first);
        let others: Vec<_> =
            others.into_iter().map(|it| it.join().expect("no panic").expect("served to the end")).collect();
        let mut kept = vec![kept_first];
        kept.extend(others.iter().map(|it| keep(it.table())));
        kept
    }
}

/// Data that a rank has of a node, its own or a stand-in.
struct NodeRecord {
    visits: u32,
    own_visits: u32,
    in_flight: u32,
    statistics: String,
    edges: Vec<(Move, u32, Option<Key>)>,
}

/// Data of all nodes of a rank.
type NodeRecords = Vec<(Key, NodeRecord)>;

fn keep(table: &NodeTable) -> NodeRecords {
    let of = |node: &Node| NodeRecord {
        visits: node.visits(),
        own_visits: node.own_visits(),
        in_flight: node.in_flight(),
        statistics: format!("{:?}", node.statistics()),
        edges: table
            .edges(node)
            .map(|edge| (edge.mv(), edge.visits(), edge.child().map(|child| table.node(child).key())))
            .collect(),
    };
    table.ids().map(|id| (table.node(id).key(), of(table.node(id)))).collect()
}

fn context_free(report: &SearchReport) -> String {
    // The tables differ in capacity.
    let ownership: Vec<f32> =
        BoardSize::square(9).expect("a size").points().map(|point| report.ownership.mean(point)).collect();
    format!(
        "{:?}",
        (
            &report.moves,
            report.visits,
            report.playouts,
            report.value,
            report.value_error,
            report.score,
            report.score_error,
            ownership,
            (report.cycles, report.transpositions, report.depth),
        )
    )
}

fn built_in(root_symmetries: u8) -> NetworkEvaluator {
    let network = Network::built_in(BuiltIn::Small).expect("a built-in network");
    let settings = NetworkSettings { root_views: root_symmetries, ..NetworkSettings::default() };
    NetworkEvaluator::new(Arc::new(network), settings, 4)
}

#[test]
fn one_rank_equals_search() {
    fn compare<E: Evaluator + Sync + 'static>(evaluator: &E, game: &Game, playouts: u32, fresh: &E) {
        let params = SearchParams::for_network();
        let limits = Limits::playouts(playouts);
        let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| false);
        let expected = Search::new(evaluator.clone(), params, 8, 1).run(game, 7, &context);
        for placement in [Placement::Hashed, Placement::Central] {
            let link = thread_links(1).remove(0);
            let mut one = Cluster::new(link, fresh.clone(), 8, 1)
                .placed(placement)
                .with_window(VisitWindow { least: 1, most: 1 });
            let found = one.run(&params, game, 7, &context).expect("a report");
            assert_eq!(context_free(&found), context_free(&expected));
            assert_eq!(found.usage.nodes, expected.usage.nodes);
        }
    }
    for (drawing, to_move) in fighting_positions() {
        for ko in [KoRule::Simple, KoRule::Positional] {
            let game = game(drawing, to_move, rules(ko, true));
            compare(&HashPolicy, &game, 1500, &HashPolicy);
        }
    }
    // Several board symmetries at the root, and a game with a past.
    let mut played = Game::new(BoardSize::square(9).expect("size"), Rules::default(), 7.0);
    compare(&built_in(4), &played, 150, &built_in(4));
    for (column, row) in [(2, 2), (6, 6), (6, 2)] {
        let mv = Move::Play(kosumi_go::board::Point::new(column, row));
        played.play(played.to_move(), mv).expect("legal");
    }
    compare(&built_in(1), &played, 150, &built_in(1));
}

#[test]
fn one_rank_treats_the_root_as_the_search_does() {
    // Images of moves are left out and probabilities are evened out, even if the position has been searched before at
    // another temperature.
    let mut params = SearchParams::for_network();
    let limits = Limits::playouts(120);
    let context =
        SearchContext { for_play: true, ..SearchContext::new(&limits, &|| Duration::ZERO, &|| false) };
    let game = Game::new(BoardSize::square(9).expect("size"), Rules::default(), 7.0);
    let mut search = Search::new(built_in(4), params, 8, 1);
    let link = thread_links(1).remove(0);
    let mut one = Cluster::new(link, built_in(4), 8, 1).with_window(VisitWindow { least: 1, most: 1 });
    for temperature in [1.0, 1.5] {
        params.root.root_policy_temperature = temperature;
        search.set_params(params);
        // Earlier statistics were computed with another centre of the utility scale.
        search.clear();
        one.clear();
        let expected = search.run(&game, 7, &context);
        assert!(expected.moves.iter().filter(|entry| entry.visits > 0).count() <= 16);
        let found = one.run(&params, &game, 7, &context).expect("a report");
        assert_eq!(context_free(&found), context_free(&expected));
    }
}

/// Evaluator that records the settings of its calls.
#[derive(Clone)]
struct RecordingEvaluator(NetworkSettings, Arc<Mutex<Vec<f32>>>);

impl Evaluator for RecordingEvaluator {
    fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        self.1.lock().expect("lock").push(self.0.policy_temperature);
        HashPolicy.evaluate(line, rng, moves)
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        HashPolicy.expand(line, moves);
    }

    fn network_settings(&self) -> Option<NetworkSettings> {
        Some(self.0)
    }

    fn with_network_settings(&self, settings: &NetworkSettings) -> RecordingEvaluator {
        RecordingEvaluator(*settings, Arc::clone(&self.1))
    }
}

#[test]
fn settings_of_the_network_are_those_of_rank_0() {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let evaluator = RecordingEvaluator(NetworkSettings::default(), Arc::clone(&noted));
    let mut all = Ranks::start(&evaluator, 3, 1, Placement::Hashed, 8);
    let game = empty(5);
    assert_eq!(all.run(&game, 100, 1).visits, 100);
    assert!(std::mem::take(&mut *noted.lock().expect("lock")).iter().all(|&it| it == 1.0));
    all.first.ask_with(&NetworkSettings { policy_temperature: 2.0, ..NetworkSettings::default() });
    // All statistics are discarded, because the settings turn the network into a different one.
    assert_eq!(all.run(&game, 100, 1).visits, 100);
    let noted = std::mem::take(&mut *noted.lock().expect("lock"));
    assert!(noted.len() > 20 && noted.iter().all(|&it| it == 2.0), "{noted:?}");
    all.first.ask_with(&NetworkSettings { policy_temperature: 2.0, ..NetworkSettings::default() });
    assert_eq!(all.run(&game, 100, 1).visits, 200, "the settings are unchanged");
    all.end();
}

/// Evaluator that panics once.
#[derive(Clone)]
struct Panicking(Arc<AtomicU32>);

impl Evaluator for Panicking {
    fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        if self.0.fetch_add(1, Ordering::Relaxed) == 5 {
            std::panic::resume_unwind(Box::new("a faulty evaluator"));
        }
        HashPolicy.evaluate(line, rng, moves)
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        HashPolicy.expand(line, moves);
    }
}

#[test]
fn a_panic_of_an_evaluator_ends_the_search() {
    for threads in [1, 3] {
        let panic = std::panic::catch_unwind(|| {
            Ranks::start(&Panicking(Arc::default()), 1, threads, Placement::Hashed, 8).run(&empty(5), 1000, 1)
        });
        assert_eq!(panic.expect_err("a panic").downcast_ref(), Some(&"a faulty evaluator"));
    }
}

/// Checks every visit of every node, over all ranks: none is in progress, lost, or counted twice.
fn check_sums(kept: &[NodeRecords], game: &Game, report: &SearchReport, placement: Placement) {
    let ranks = kept.len();
    let home = |key: Key| rank::home(key, ranks, placement == Placement::Central);
    let mut own: HashMap<Key, &NodeRecord> = HashMap::new();
    let mut arrived: HashMap<Key, u32> = HashMap::new();
    for (rank, nodes) in kept.iter().enumerate() {
        for (key, node) in nodes {
            assert_eq!(node.in_flight, 0, "a descent is still in progress");
            if home(*key) == rank {
                assert!(own.insert(*key, node).is_none(), "a node is stored twice");
                let through: u32 = node.edges.iter().map(|edge| edge.1).sum();
                assert_eq!(node.visits, node.own_visits + through);
            } else {
                assert!(
                    node.edges.is_empty() && node.own_visits == 0,
                    "a stand-in has no edges and no evaluations"
                );
            }
            for &(_, visits, child) in &node.edges {
                if let Some(child) = child {
                    *arrived.entry(child).or_default() += visits;
                } else {
                    assert_eq!(visits, 0);
                }
            }
        }
    }
    assert_eq!(own[&game.graph_key()].visits, report.playouts);
    // A descent that returns to a node of its own path counts at the edge, not at the node.
    let (mut missing, root) = (0, game.graph_key());
    for (key, count) in &arrived {
        let node = own.get(key).map_or(0, |node| node.visits);
        let expected = if *key == root { node - report.playouts } else { node };
        assert!(*count >= expected, "{count} {expected}");
        missing += count - expected;
    }
    assert_eq!(missing, report.cycles);
    if game.sharing() == NodeSharing::Tree {
        for (rank, nodes) in kept.iter().enumerate() {
            for (key, node) in nodes.iter().filter(|(key, _)| home(*key) != rank) {
                assert_eq!(node.statistics, own[key].statistics, "a stand-in that is not up to date");
            }
        }
    }
}

#[test]
fn sums_are_exact_over_ranks() {
    for (ranks, threads) in [(2, 1), (3, 2), (8, 1)] {
        for placement in [Placement::Hashed, Placement::Central] {
            for sharing in [NodeSharing::Graph, NodeSharing::Tree] {
                for (drawing, to_move) in fighting_positions() {
                    for ko in [KoRule::Simple, KoRule::Positional] {
                        let game = game(drawing, to_move, rules(ko, true)).with_sharing(sharing);
                        let mut all = Ranks::start(&HashPolicy, ranks, threads, placement, 2);
                        let report = all.run(&game, 800, 3);
                        assert_eq!((report.playouts, report.visits), (800, 800));
                        let kept = all.end();
                        check_sums(&kept, &game, &report, placement);
                    }
                }
            }
        }
    }
}

#[test]
fn descents_over_ranks_are_legal() {
    for (drawing, to_move) in fighting_positions() {
        for ko in [KoRule::Simple, KoRule::Positional, KoRule::Situational, KoRule::NaturalSituational] {
            for suicide in [false, true] {
                let game = game(drawing, to_move, rules(ko, suicide));
                let leaves = Arc::new(AtomicU32::new(0));
                let oracle = LegalityOracle(Arc::clone(&leaves), HashPolicy);
                let mut all = Ranks::start(&oracle, 4, 1, Placement::Hashed, 2);
                let report = all.run(&game, 1000, 7);
                assert_eq!(report.playouts, 1000);
                assert!(leaves.load(Ordering::Relaxed) > 5, "leaves were evaluated");
                assert_eq!(game.check(to_move, report.best_move()), Ok(()));
                all.end();
            }
        }
    }
}

#[test]
fn a_full_table_changes_no_legality_and_no_sum() {
    let game = empty(9);
    for placement in [Placement::Hashed, Placement::Central] {
        let leaves = Arc::new(AtomicU32::new(0));
        let oracle = LegalityOracle(Arc::clone(&leaves), HashPolicy);
        let mut all = Ranks::start(&oracle, 2, 1, placement, 1);
        let report = all.run(&game, 8000, 5);
        assert_eq!((report.playouts, report.visits), (8000, 8000));
        // With central placement, the second rank stores nothing.
        let least = if placement == Placement::Central { 0.45 } else { 0.9 };
        assert!(report.usage.fullness() > least, "{:?}", report.usage);
        // The next search begins with empty tables.
        let again = all.run(&game, 100, 6);
        assert_eq!(again.visits, 100);
        let kept = all.end();
        check_sums(&kept, &game, &again, placement);
    }
}

#[test]
fn statistics_survive_a_move() {
    let mut game = empty(5);
    let mut all = Ranks::start(&HashPolicy, 3, 1, Placement::Hashed, 8);
    let first = all.run(&game, 1000, 1);
    game.play(Color::Black, first.best_move()).expect("legal");
    let second = all.run(&game, 300, 2);
    let before = first.moves[0].node_visits;
    // How the visits spread over the moves depends on how the ranks take turns.
    assert!(before > 1);
    assert_eq!((second.playouts, second.visits), (300, before + 300));
    // The statistics are discarded on request.
    all.first.clear();
    assert_eq!(all.run(&game, 50, 3).visits, 50);
    all.end();
}

#[test]
fn limits_restrictions_and_reports_hold() {
    let game = empty(5);
    let corner = Move::Play(kosumi_go::board::Point::new(0, 0));
    let restriction = Restriction::allowing(Color::Black, [corner], 1);
    let mut all = Ranks::start(&HashPolicy, 3, 1, Placement::Hashed, 8);
    // A clock that advances by a millisecond at every reading, so that the speed of the machine does not matter.
    let clock_reads = AtomicU64::new(0);
    let elapsed = || Duration::from_millis(clock_reads.fetch_add(1, Ordering::Relaxed));
    let seen = Mutex::new(Vec::new());
    let on_report = |report: SearchReport| seen.lock().expect("lock").push(report);
    let every = Duration::from_millis(20);
    let limits = Limits::playouts(500);
    let context = SearchContext {
        reporting: Some(Reporting { first: every, every, on_report: &on_report }),
        restriction: &restriction,
        ..SearchContext::new(&limits, &elapsed, &|| false)
    };
    let report = all.first.run(&SearchParams::for_network(), &game, 1, &context).expect("a report");
    assert_eq!(report.best_move(), corner);
    assert_eq!(report.moves[0].visits, report.visits);
    assert!(report.moves[0].variation.len() > 2);
    let seen = seen.into_inner().expect("lock");
    assert!(!seen.is_empty() && seen.is_sorted_by_key(|report| report.visits), "{}", seen.len());
    assert!(seen.iter().all(|report| report.best_move() == corner));
    // The time limit holds.
    clock_reads.store(0, Ordering::Relaxed);
    let limits = Limits::time(Duration::from_millis(300));
    let timed = SearchContext::new(&limits, &elapsed, &|| false);
    all.first.clear();
    let report = all.first.run(&SearchParams::for_network(), &game, 1, &timed).expect("a report");
    assert!(clock_reads.load(Ordering::Relaxed) > 300 && report.visits >= 1);
    // Even if it is interrupted at once, the search returns a move.
    let interrupted = SearchContext::new(&limits, &elapsed, &|| true);
    all.first.clear();
    let report = all.first.run(&SearchParams::for_network(), &game, 1, &interrupted).expect("a report");
    assert!(report.visits >= 1 && !report.moves.is_empty());
    all.end();
}

#[test]
fn a_lost_rank_ends_the_search_with_an_error() {
    let mut links = thread_links(2);
    drop(links.pop());
    let mut first = Cluster::new(links.remove(0), HashPolicy, 2, 1).placed(Placement::Hashed);
    let limits = Limits::playouts(100);
    let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| false);
    let run = |first: &mut Cluster<_, _>| first.run(&SearchParams::for_network(), &empty(5), 1, &context);
    assert_eq!(run(&mut first).expect_err("the rank is gone"), ClusterError::Lost(1));
    assert_eq!(run(&mut first).expect_err("the cluster is lost"), ClusterError::Silent);
    // A rank that exists but never answers.
    let mut links = thread_links(2);
    let _silent = links.pop();
    let clock = AtomicU32::new(0);
    let elapsed = || Duration::from_millis(u64::from(clock.fetch_add(1, Ordering::Relaxed)));
    let context = SearchContext::new(&limits, &elapsed, &|| false);
    let mut first = Cluster::new(links.remove(0), HashPolicy, 2, 1).placed(Placement::Hashed);
    let found = first.run(&SearchParams::for_network(), &empty(5), 1, &context);
    assert_eq!(found.expect_err("it is silent"), ClusterError::Lost(1));
}

/// Evaluator with few moves, whose probabilities fall like those of networks, and with random values: searches have a
/// realistic shape and cost little.
#[derive(Clone, Copy)]
struct Plausible;

impl Evaluator for Plausible {
    fn evaluate(&mut self, line: &Line<'_>, _: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        self.expand(line, moves);
        let hash = kosumi_go::rng::mix(line.board().key().0 as u64 ^ line.to_move() as u64);
        let value = (hash % 1001) as f32 / 1000.0 - 0.5;
        Evaluation::plain(value, 10.0 * value)
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        let size = line.board().size();
        let mut rng = Rng::new(line.board().key().0 as u64);
        let mut share = 0.35;
        for _ in 0..200 {
            let (column, row) = (rng.below(size.columns() as u32), rng.below(size.rows() as u32));
            let point = kosumi_go::board::Point::new(column as usize, row as usize);
            let mv = Move::Play(point);
            if line.check(point).is_ok() && moves.iter().all(|&(known, _)| known != mv) {
                moves.push((mv, Prior::Probability(share)));
                share *= 0.65;
                if moves.len() == 20 {
                    break;
                }
            }
        }
        moves.push((Move::Pass, Prior::Probability(0.0001)));
    }
}

/// Returns the settings of a cluster with 10 Gbit/s between machines of 16 cores.
fn simulated(ranks: usize, evaluation: u64, latency: u64) -> simulation::SimulatedCluster {
    simulation::SimulatedCluster {
        ranks,
        threads: 16,
        latency,
        bandwidth: 1.25e9,
        jitter: 0.1,
        evaluation,
        message: MESSAGE,
        packet: PACKET,
        placement: Placement::Hashed,
        window: None,
        mebibytes: 4,
        seed: 1,
    }
}

/// Processor time of a message, in nanoseconds, rounded up from the measurement of `simulated_clusters`. The time of a
/// packet is an estimate: one call of the operating system or of MPI.
const MESSAGE: u64 = 5_000;
const PACKET: u64 = 2_000;

#[test]
fn a_simulation_is_repeated_to_the_nanosecond() {
    let game = Game::new(BoardSize::square(9).expect("size"), Rules::default(), 7.0);
    let run = |seed| {
        let settings = simulation::SimulatedCluster { seed, threads: 2, ..simulated(5, 1_000_000, 50_000) };
        simulation::simulate(&settings, &Plausible, &SearchParams::for_network(), &game, 500)
            .expect("a search")
    };
    let (one, again, other) = (run(1), run(1), run(2));
    assert_eq!(format!("{one:?}"), format!("{again:?}"));
    assert_ne!(one.time, other.time);
    assert_eq!((one.report.playouts, one.report.visits), (500, 500));
    assert!(one.messages > 500 && one.packets <= one.messages && one.bytes > 10 * one.messages);
    // No search is faster than evaluators that never wait: 10 of them, at least 1 ms each.
    assert!(one.time >= Duration::from_millis(50), "{:?}", one.time);
    assert!(one.hottest < 1.0 && one.mean_busy <= one.hottest);
}

#[test]
fn sums_are_exact_with_random_delays() {
    // Packets of different ranks overtake each other, evaluations end in any order, and many visits travel together.
    for (ranks, seed, window) in [(2, 1, 7), (16, 2, 200), (64, 3, 900), (64, 4, 3000)] {
        for placement in [Placement::Hashed, Placement::Central] {
            for sharing in [NodeSharing::Graph, NodeSharing::Tree] {
                let game = empty(5).with_sharing(sharing);
                let settings = simulation::SimulatedCluster {
                    placement,
                    threads: 3,
                    jitter: 1.0,
                    seed,
                    window: Some(VisitWindow { least: window, most: window }),
                    ..simulated(ranks, 300_000, 100_000)
                };
                let mut kept = Vec::new();
                let mut inspect = |_: usize, table: &NodeTable| kept.push(keep(table));
                let params = SearchParams::for_network();
                let outcome = simulation::simulate_and_inspect(
                    &settings,
                    &HashPolicy,
                    &params,
                    &game,
                    3000,
                    &mut inspect,
                );
                let report = outcome.expect("a search").report;
                assert_eq!((report.playouts, report.visits), (3000, 3000));
                check_sums(&kept, &game, &report, placement);
            }
        }
    }
}

/// Returns the processor time of this thread, in nanoseconds.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The clusters of `docs/cluster.md`: evaluation and latency in microseconds, placement, ranks, visits in progress for
/// each evaluator, and evaluators of each rank (16 by default).
const CLUSTERS: &str = "\
    16500:2:hashed:1:2 16500:2:hashed:8:2 16500:50:hashed:8:2 16500:2:hashed:64:2 16500:50:hashed:64:2 \
    16500:2:hashed:256:2 16500:50:hashed:256:2 16500:2:hashed:1024:2 16500:50:hashed:1024:2 16500:2:central:8:2 \
    16500:2:central:64:2 1700:2:hashed:1:2 1700:2:hashed:8:2 \
    1700:50:hashed:8:2 1700:2:hashed:64:2 1700:50:hashed:64:2 1700:2:hashed:256:2 1700:50:hashed:256:2 \
    1700:2:hashed:1024:2 1700:50:hashed:1024:2 1700:2:central:8:2 1700:2:central:64:2 \
    1700:2:hashed:64:3 1700:50:hashed:64:3 1700:50:hashed:256:3 1700:50:hashed:1024:3";

#[test]
#[ignore = "the table of docs/cluster.md, many minutes: cargo test --profile checked -p kosumi-cluster --lib simulated_clusters -- --ignored --nocapture"]
#[expect(clippy::print_stdout, reason = "the test is run for its table")]
fn simulated_clusters() {
    let game = Game::new(BoardSize::square(19).expect("size"), Rules::default(), 7.5);
    let names = std::env::var("KOSUMI_CLUSTERS").unwrap_or(CLUSTERS.to_owned());
    println!(
        "evaluation_us,latency_us,placement,ranks,evaluators,in_progress,evaluations_per_s,efficiency,hottest,mean_busy,messages_per_visit,packets_per_visit,bytes_per_visit,depth,us_per_message"
    );
    for cluster in names.split_whitespace() {
        let words: Vec<&str> = cluster.split(':').collect();
        let number = |place: usize| words[place].parse::<usize>().expect("a number");
        let (evaluation, latency, ranks) = (number(0), number(1), number(3));
        let factor = words[4].parse::<f64>().expect("a number");
        let threads = if words.len() > 5 { number(5) } else { 16 };
        let placement = if words[2] == "central" { Placement::Central } else { Placement::Hashed };
        let evaluators = ranks * threads;
        // The window is fully open from the beginning, as in a search that has run for a while.
        let window = (evaluators as f64 * factor) as u32;
        let settings = simulation::SimulatedCluster {
            placement,
            threads,
            window: Some(VisitWindow { least: window, most: window }),
            mebibytes: if placement == Placement::Central { 4 * ranks.clamp(16, 256) } else { 16 },
            ..simulated(ranks, 1000 * evaluation as u64, 1000 * latency as u64)
        };
        let visits = (evaluators * 12).max(400) as u32;
        let before = processor_time();
        let params = SearchParams::for_network();
        let outcome = simulation::simulate(&settings, &Plausible, &params, &game, visits).expect("a search");
        let cost = (processor_time() - before) as f64 / 1e3;
        assert_eq!(outcome.report.visits, visits);
        let per_visit = |number: u64| number as f64 / f64::from(visits);
        println!(
            "{evaluation},{latency},{},{ranks},{evaluators},{factor},{:.0},{:.3},{:.3},{:.3},{:.1},{:.1},{:.0},{},{:.2}",
            words[2],
            outcome.rate(),
            outcome.efficiency(&settings),
            outcome.hottest,
            outcome.mean_busy,
            per_visit(outcome.messages),
            per_visit(outcome.packets),
            per_visit(outcome.bytes),
            outcome.report.depth,
            cost / (outcome.messages + outcome.evaluations) as f64,
        );
    }
}

/// Clusters for the comparison of moves: evaluation and latency in microseconds, placement, ranks, and the window.
const COMPARED_CLUSTERS: &str = "500:2:central:1:1:1 500:2:central:4:4:4 500:2:central:4:4:6 500:2:central:8:8:8 500:2:central:8:8:12 \
    500:5000:central:4:4:6 500:2:hashed:4:1:1 500:2:hashed:4:4:4 500:2:hashed:4:4:8 500:2:hashed:8:8:16";

/// Parses a move in GTP notation.
fn vertex(word: &str) -> Move {
    let column = "ABCDEFGHJKLMNOPQRSTUVWXYZ".find(&word[..1]).filter(|_| word != "pass");
    let row = |word: &str| word[1..].parse::<usize>().expect("a row") - 1;
    column.map_or(Move::Pass, |column| Move::Play(kosumi_go::board::Point::new(column, row(word))))
}

#[test]
#[ignore = "how well clusters choose, many minutes; KOSUMI_POSITIONS names a file with games, a line of moves each: cargo test --profile checked -p kosumi-cluster --lib what_clusters_choose -- --ignored --nocapture"]
#[expect(clippy::print_stdout, reason = "the test is run for its table")]
fn move_quality_of_clusters() {
    let text = std::fs::read_to_string(std::env::var("KOSUMI_POSITIONS").expect("a file")).expect("games");
    let names = std::env::var("KOSUMI_CLUSTERS").unwrap_or(COMPARED_CLUSTERS.to_owned());
    let number =
        |name: &str, usual: u32| std::env::var(name).map_or(usual, |it| it.parse().expect("a number"));
    let (visits, reference) = (number("KOSUMI_VISITS", 800), number("KOSUMI_REFERENCE", 6000));
    let network = Arc::new(Network::built_in(BuiltIn::Small).expect("a built-in network"));
    let settings = NetworkSettings { view: kosumi_eval::NetworkView::Plain, ..NetworkSettings::default() };
    let size = BoardSize::square(9).expect("size");
    let params = SearchParams::for_network();
    let clusters: Vec<&str> = names.split_whitespace().collect();
    let mut sums = vec![(0, 0.0, 0.0f64, 0.0f64); clusters.len()];
    let mut positions = 0;
    for line in text.lines() {
        let mut game = Game::new(size, Rules::default(), 7.0);
        for (word, color) in line.split_whitespace().zip([Color::Black, Color::White].into_iter().cycle()) {
            game.play(color, vertex(word)).expect("legal");
        }
        let evaluator = NetworkEvaluator::new(Arc::clone(&network), settings, 64);
        let limits = Limits::playouts(reference);
        let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| false);
        let best = Search::new(evaluator.clone(), params, 64, 1).run(&game, 7, &context);
        let value = |mv: Move| {
            best.moves
                .iter()
                .find(|it| it.mv == mv && it.visits > 0)
                .map_or(-1.0, |it| it.value * game.to_move().sign() as f32)
        };
        positions += 1;
        for (cluster, sum) in clusters.iter().zip(&mut sums) {
            let words: Vec<&str> = cluster.split(':').collect();
            let number = |place: usize| words[place].parse::<u64>().expect("a number");
            let placement = if words[2] == "central" { Placement::Central } else { Placement::Hashed };
            let simulated = simulation::SimulatedCluster {
                placement,
                threads: 1,
                mebibytes: 16,
                window: Some(VisitWindow { least: number(4) as u32, most: number(5) as u32 }),
                message: 1000,
                packet: 1000,
                ..simulated(number(3) as usize, 1000 * number(0), 1000 * number(1))
            };
            let found = simulation::simulate(&simulated, &evaluator, &params, &game, visits)
                .expect("a search")
                .report;
            let regret = (value(best.best_move()) - value(found.best_move())).max(0.0);
            sum.0 += usize::from(found.best_move() == best.best_move());
            sum.1 += f64::from(regret) * 50.0;
            sum.2 += f64::from(found.moves[0].visits) / f64::from(found.visits);
            sum.3 += f64::from(found.depth);
        }
    }
    for (cluster, (same, regret, share, depth)) in clusters.iter().zip(sums) {
        let count = f64::from(positions);
        println!(
            "{cluster}: {same} of {positions} as the reference, {:.3} % lost, first choice {:.3}, depth {:.1}",
            regret / count,
            share / count,
            depth / count
        );
    }
}
