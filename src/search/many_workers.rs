//! Tests of searches with many workers: their counts, and a simulation of the loss of quality with many of them.
//!
//! The simulation needs no network and hardly any processor time: evaluations sleep, as if every worker had a core or a
//! place in a batch. In the other tests, evaluations sleep to let other workers reach the same leaf or wait for a turn,
//! because an evaluator is notified of neither.
#![allow(clippy::disallowed_methods, reason = "reads clocks")]

use super::*;
use hashbrown::HashMap;
use kosumi_eval::{Evaluation, Prior};
use kosumi_go::board::BoardSize;
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rng::mix;
use kosumi_go::rules::{KoRule, Rules};
// The types of the standard library and not those of loom, whose waits have no time limits.
use std::sync::{Arc, Condvar, Mutex};

/// Evaluator of an artificial game with something to find: points and pairs of neighbours have values for both sides,
/// and the priors predict these values roughly.
#[derive(Clone)]
struct ArtificialGame {
    seed: u64,
    time: Duration,
    /// Whether only one move has a prior.
    is_narrow: bool,
    asked: Arc<Mutex<HashMap<u128, u32>>>,
    /// Number of evaluations at once for which evaluations after those of the root wait, until it is reached once.
    wanted_at_once: u32,
    /// Number of evaluations in progress, and the largest number so far.
    at_once: Arc<(Mutex<[u32; 2]>, Condvar)>,
}

/// Returns a pseudorandom number from −1 to 1 that is a function of the arguments.
fn noise(seed: u64, a: u64, b: u64) -> f32 {
    let hash = mix(seed ^ mix(a << 32 | b));
    (hash >> 40) as f32 / (1 << 23) as f32 - 1.0
}

impl ArtificialGame {
    fn new(seed: u64, time: Duration) -> ArtificialGame {
        ArtificialGame {
            seed,
            time,
            is_narrow: false,
            asked: Arc::default(),
            wanted_at_once: 0,
            at_once: Arc::default(),
        }
    }

    /// Returns the number of positions evaluated more than once, and the total number of evaluations.
    fn counts(&self) -> (usize, u32) {
        let asked = self.asked.lock().expect("lock");
        (asked.values().filter(|&&times| times > 1).count(), asked.values().sum())
    }

    fn max_at_once(&self) -> u32 {
        self.at_once.0.lock().expect("lock")[1]
    }

    /// Returns the value of the position for Black, before it is bounded.
    fn sum(&self, line: &Line<'_>) -> f32 {
        let board = line.board();
        let stones = board.stones().map(|(point, color)| {
            let own = 0.5 * noise(self.seed, point.index() as u64, 1 + color as u64);
            let pairs = point.adjacent().map(|near| {
                let other =
                    board.size().points().any(|it| it == near).then(|| board.cell(near).color()).flatten();
                let code = other.map_or(0, |other| 4 + 2 * (color as u64) + other as u64);
                noise(self.seed, (point.index() as u64) << 16 | near.index() as u64, code)
            });
            color.sign() as f32 * own + pairs.into_iter().sum::<f32>() * 0.25
        });
        stones.sum()
    }
}

impl Evaluator for ArtificialGame {
    fn evaluate(&mut self, line: &Line<'_>, _rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        *self.asked.lock().expect("lock").entry(line.graph_key().0).or_default() += 1;
        let (at_once, changed) = &*self.at_once;
        let mut counts = at_once.lock().expect("lock");
        counts[0] += 1;
        counts[1] = counts[1].max(counts[0]);
        changed.notify_all();
        if !line.moves().is_empty() {
            // Other workers may wait for this very leaf and never evaluate beside it. Then a later evaluation reaches
            // the number.
            let is_short = |counts: &mut [u32; 2]| counts[1] < self.wanted_at_once;
            let waited = changed.wait_timeout_while(counts, Duration::from_millis(100), is_short);
            counts = waited.expect("lock").0;
        }
        drop(counts);
        std::thread::sleep(self.time);
        at_once.lock().expect("lock")[0] -= 1;
        self.expand(line, moves);
        let value = libm::tanhf(self.sum(line));
        Evaluation::plain(value, 10.0 * value)
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        let color = line.to_move();
        let position = line.board().key().0 as u64;
        let legal = line.board().size().points().filter(|&point| line.check(point).is_ok());
        // No side passes while it has another move, so games do not end.
        let mut all: Vec<Move> = legal.map(Move::Play).collect();
        if all.is_empty() {
            all.push(Move::Pass);
        }
        all.truncate(if self.is_narrow { 1 } else { all.len() });
        let weight = |mv: &Move| {
            let at = mv.point().map_or(0, |point| point.index() as u64);
            let worth = noise(self.seed, at, 1 + color as u64) + noise(self.seed ^ position, at, 99);
            libm::expf(1.5 * worth)
        };
        let sum: f32 = all.iter().map(weight).sum();
        moves.extend(all.iter().map(|mv| (*mv, Prior::Probability(weight(mv) / sum))));
    }

    fn is_slow(&self) -> bool {
        true
    }
}

fn empty(side: usize) -> Game {
    let rules = Rules { ko: KoRule::Positional, friendly_pass: false, ..Rules::default() };
    Game::new(BoardSize::square(side).expect("size"), rules, 0.5).with_sharing(NodeSharing::Graph)
}

fn search(
    evaluator: &ArtificialGame,
    game: &Game,
    threads: usize,
    playouts: u32,
) -> (Search<ArtificialGame>, SearchReport) {
    search_with(SearchParams::for_network(), evaluator, game, threads, playouts)
}

fn search_with(
    params: SearchParams,
    evaluator: &ArtificialGame,
    game: &Game,
    threads: usize,
    playouts: u32,
) -> (Search<ArtificialGame>, SearchReport) {
    let mut search = Search::new(evaluator.clone(), params, 16, threads);
    let limits = Limits::playouts(playouts);
    let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| false);
    let report = search.run(game, 1, &context);
    (search, report)
}

#[test]
fn a_leaf_is_evaluated_once() {
    let game = empty(5);
    for (threads, is_narrow, playouts) in [(1, false, 600), (4, false, 600), (16, false, 600), (4, true, 20)]
    {
        let evaluator = ArtificialGame {
            is_narrow,
            ..ArtificialGame::new(7, Duration::from_millis(1 + u64::from(is_narrow)))
        };
        let (search, report) = search(&evaluator, &game, threads, playouts);
        let (mut own, mut through_root) = (0, 0);
        for id in search.table().ids() {
            let node = search.table().node(id);
            own += node.own_visits();
            assert_eq!(node.in_flight(), 0);
            assert!(node.own_visits() <= 1, "{threads} threads: counted {} times", node.own_visits());
        }
        for edge in
            search.table().edges(search.table().node(search.table().find(game.graph_key()).expect("root")))
        {
            through_root += edge.visits();
        }
        assert_eq!(own + report.cycles, report.playouts);
        assert_eq!(through_root, report.playouts, "every simulation counts once");
        // The root is evaluated once more to centre the utility scale, and is never a leaf.
        let (twice, asked) = evaluator.counts();
        assert_eq!((twice, asked), (0, own + 1), "{threads} threads: some position was evaluated again");
        if threads == 1 {
            assert_eq!(report.waits, 0);
        }
        // Workers that arrive during the evaluation at the end of the only line wait for it.
        assert!(!is_narrow || report.waits > 0, "the test must reach leaves under evaluation");
    }
}

#[test]
fn visit_limit_holds_with_many_workers() {
    let game = empty(5);
    let evaluator = ArtificialGame::new(1, Duration::from_millis(1));
    let mut search = Search::new(evaluator, SearchParams::for_network(), 4, 16);
    // On a new tree, a tree with some visits, a tree with the wanted number of visits, and a tree with more.
    for (most, expected) in [(40, 40), (75, 75), (75, 76), (60, 77)] {
        let limits = Limits { visits: Some(most), ..Limits::default() };
        let report = search.run(&game, 1, &SearchContext::new(&limits, &|| Duration::ZERO, &|| false));
        assert_eq!(report.visits, expected, "a limit of {most}");
    }
}

#[test]
fn more_workers_than_processors_take_turns() {
    let game = empty(5);
    let max_at_once = |params: SearchParams, wanted_at_once: u32| {
        let evaluator = ArtificialGame { wanted_at_once, ..ArtificialGame::new(1, Duration::from_millis(1)) };
        let (_, report) = search_with(params, &evaluator, &game, 16, 64);
        assert_eq!((report.visits, evaluator.counts().0), (64, 0));
        evaluator.max_at_once()
    };
    let params = SearchParams::for_network();
    assert!(max_at_once(params, 9) >= 9);
    // One descent for every twenty visits, and at least two.
    let most = max_at_once(params.for_workers(16, 2), 2);
    assert!((2..=3).contains(&most), "{most} at once");
}

#[test]
fn reporting_worker_needs_no_turn() {
    let game = empty(5);
    let params = SearchParams::for_network().for_workers(16, 1);
    let mut search = Search::new(ArtificialGame::new(1, Duration::from_millis(10)), params, 4, 16);
    let limits = Limits::playouts(60);
    let report_count = AtomicU32::new(0);
    let on_report = |_: SearchReport| {
        report_count.fetch_add(1, Ordering::Relaxed);
    };
    let reporting = Reporting { first: Duration::ZERO, every: Duration::ZERO, on_report: &on_report };
    let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| false);
    search.run(&game, 1, &SearchContext { reporting: Some(reporting), ..context });
    assert!(report_count.load(Ordering::Relaxed) >= 6, "{report_count:?} of 60 simulations");
}

#[test]
fn waiting_workers_are_stopped() {
    let game = empty(5);
    let evaluator = ArtificialGame::new(1, Duration::from_millis(20));
    let params = SearchParams::for_network().for_workers(16, 1);
    let mut search = Search::new(evaluator, params, 4, 16);
    let limits = Limits::playouts(1000);
    // The search is interrupted at the first check, after the first simulation. Few workers have begun another one by
    // then.
    let context = SearchContext::new(&limits, &|| Duration::ZERO, &|| true);
    let playouts = search.run(&game, 1, &context).playouts;
    assert!(playouts <= 4, "{playouts} simulations");
}

#[test]
fn panic_releases_waiting_workers_and_ends_the_search() {
    #[derive(Clone)]
    struct Failing(Arc<AtomicU32>);
    impl Evaluator for Failing {
        fn evaluate(
            &mut self,
            line: &Line<'_>,
            _rng: &mut Rng,
            moves: &mut Vec<(Move, Prior)>,
        ) -> Evaluation {
            std::thread::sleep(Duration::from_millis(2));
            assert!(self.0.fetch_add(1, Ordering::Relaxed) != 5, "meant to fail");
            self.expand(line, moves);
            Evaluation::plain(0.0, 0.0)
        }
        fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
            let mut legal = line.board().size().points().filter(|&point| line.check(point).is_ok());
            // With one move only, all workers come to the same leaf.
            moves.push((legal.next().map_or(Move::Pass, Move::Play), Prior::Probability(1.0)));
        }
        fn is_slow(&self) -> bool {
            true
        }
    }
    let game = empty(5);
    for processors in [4, 1] {
        // The search has no limit. Without the panic, it would end after so many checks.
        const CHECKS: u32 = 1000;
        let checks = AtomicU32::new(0);
        let result = std::panic::catch_unwind(|| {
            let params = SearchParams::for_network().for_workers(4, processors);
            let mut search = Search::new(Failing(Arc::default()), params, 4, 4);
            let limits = Limits::default();
            let interrupted = || checks.fetch_add(1, Ordering::Relaxed) >= CHECKS;
            search.run(&game, 1, &SearchContext::new(&limits, &|| Duration::ZERO, &interrupted)).playouts
        });
        assert!(result.is_err(), "the panic is propagated");
        assert!(checks.into_inner() < CHECKS, "the other workers are stopped");
    }
}

/// Measures the loss of move quality with many workers against one worker, and the share of time in which workers are
/// busy. Prints a table.
#[test]
#[ignore = "a measurement of some minutes; cargo test --release -p kosumi-search --lib -- --ignored --nocapture many_workers_simulated"]
#[expect(clippy::print_stdout, reason = "the test is run by hand for its output")]
fn many_workers_simulated() {
    const POSITIONS: u64 = 40;
    let time = Duration::from_millis(20);
    println!(
        "workers   visits   lost games in progress   loss against 20,000 visits   same move   evaluations per visit   waits per visit   busy"
    );
    let mut reference = Vec::new();
    for seed in 0..POSITIONS {
        let params = SearchParams::for_network();
        let (_, report) =
            search_with(params, &ArtificialGame::new(seed, Duration::ZERO), &empty(7), 1, 20_000);
        reference.push(report);
    }
    for visits in [200u32, 800] {
        let workers = [1usize, 4, 16, 64, 256].into_iter();
        for (threads, losses) in workers.flat_map(|threads| [0.0, 0.25, 1.0].map(|losses| (threads, losses)))
        {
            if threads == 1 && losses > 0.0 {
                continue;
            }
            let params = SearchParams { virtual_losses: losses, ..SearchParams::for_network() };
            let (mut loss, mut same, mut asked, mut waits, mut seconds, mut done) = (0.0, 0, 0, 0, 0.0, 0);
            for seed in 0..POSITIONS {
                let time = if threads == 1 { Duration::ZERO } else { time };
                let evaluator = ArtificialGame::new(seed, time);
                let start = std::time::Instant::now();
                let (_, report) = search_with(params, &evaluator, &empty(7), threads, visits);
                seconds += start.elapsed().as_secs_f64();
                let expected = &reference[seed as usize];
                let worth = |mv: Move| expected.find(mv).map_or(-1.0, |entry| entry.utility);
                loss += worth(expected.best_move()) - worth(report.best_move());
                same += u32::from(expected.best_move() == report.best_move());
                asked += evaluator.counts().1;
                waits += report.waits;
                done += report.playouts;
            }
            let per_visit = |count: u32| f64::from(count) / f64::from(done);
            let busy = time.as_secs_f64() * f64::from(asked) / (seconds * threads as f64);
            println!(
                "{threads:>7}   {visits:>6}   {losses:>22}   {:>26.4}   {:>7.0} %   {:>21.3}   {:>15.3}   {}",
                loss / POSITIONS as f32,
                100.0 * f64::from(same) / POSITIONS as f64,
                per_visit(asked),
                per_visit(waits),
                if threads == 1 { "    —".into() } else { format!("{:>3.0} %", 100.0 * busy) },
            );
        }
    }
}
