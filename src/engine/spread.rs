//! Searches of an engine on a cluster of MPI ranks: see [`kosumi_cluster`].

use super::Engine;
use super::evaluator::{EngineEvaluator, table_mebibytes};
use kosumi_cluster::{Cluster, ClusterError, Link, Placement};
use kosumi_go::game::Game;
use kosumi_search::{Formula, Reporting, Search, SearchContext, SearchReport};
use std::fmt;

/// Link to other ranks, over any kind of network.
pub type RankLink = Box<dyn Link + Send>;
/// Called with the reason when searches over ranks end.
pub type OnLoss = Box<dyn Fn(&ClusterError) + Send>;

/// Cluster of ranks that searches are spread over.
pub(super) struct RankCluster {
    cluster: Cluster<EngineEvaluator, RankLink>,
    on_loss: OnLoss,
}

impl fmt::Debug for RankCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Spread({:?})", self.cluster)
    }
}

impl RankCluster {
    /// Discards the statistics of searches, on all ranks.
    pub(super) fn clear(&mut self) {
        self.cluster.clear();
    }
}

/// Runs a search on the cluster if there is one and it supports the search. Otherwise, or if a rank is lost, runs it in
/// this process. Thus a lost rank costs time and speed, but not the game.
pub(super) fn run(
    spread: &mut Option<RankCluster>,
    search: &mut Search<EngineEvaluator>,
    game: &Game,
    seed: u64,
    context: &SearchContext<'_>,
) -> SearchReport {
    let is_usual = context.exploration.is_none()
        && context.tree_exploration.is_none()
        && context.noise.is_none()
        && context.anti_mirror.is_none();
    let params = context.params.unwrap_or(search.params());
    let is_spread = is_usual && matches!(params.formula, Formula::Puct(_));
    if let Some(there) = spread.as_mut().filter(|_| is_spread) {
        if let Some(network) = search.evaluator().network() {
            there.cluster.ask_with(&network.settings());
        }
        let evaluator = search.evaluator().clone();
        // The nodes are spread over all ranks, so details come from the evaluator alone.
        let with_detail = |mut report: SearchReport| {
            report.add_detail(None, game, &mut evaluator.clone(), context.detail);
            report
        };
        let on_report = |report| {
            if let Some(reporting) = &context.reporting {
                (reporting.on_report)(with_detail(report));
            }
        };
        let reporting = context.reporting.map(|it| Reporting { on_report: &on_report, ..it });
        match there.cluster.run(&params, game, seed, &SearchContext { reporting, ..*context }) {
            Ok(report) => return with_detail(report),
            Err(why) => (there.on_loss)(&why),
        }
        *spread = None;
        // The time may already be up. The search in this process then gets a part of the time again.
        let lost = (context.elapsed)();
        let elapsed = || {
            let now = (context.elapsed)();
            now.min(now.saturating_sub(lost) * RETRY_TIME_DIVISOR)
        };
        return search.run(game, seed, &SearchContext { elapsed: &elapsed, ..*context });
    }
    search.run(game, seed, context)
}

/// When a rank is lost, the search that replaces the cluster's gets at least the time limit divided by this number.
const RETRY_TIME_DIVISOR: u32 = 4;

impl Engine {
    /// Spreads searches over the ranks of a link. This process is rank 0, and the other ranks
    /// [serve](Engine::serve_ranks). `placement` decides where their nodes are stored. Searches that explore human
    /// moves stay in this process. When a rank is lost, `on_loss` is called, and all later searches run in this
    /// process.
    ///
    /// Returns false, without changing anything, for an engine without a network: playouts are not spread.
    pub fn spread_over(&mut self, link: RankLink, placement: Placement, on_loss: OnLoss) -> bool {
        let evaluator = self.search.evaluator();
        if evaluator.network().is_none() {
            return false;
        }
        let memory = table_mebibytes(&self.settings, evaluator);
        let cluster = Cluster::new(link, evaluator.clone(), memory, self.settings.threads).placed(placement);
        self.spread = Some(RankCluster { cluster, on_loss });
        true
    }

    /// Returns whether searches are spread over ranks.
    pub fn is_spread(&self) -> bool {
        self.spread.is_some()
    }

    /// Takes part in the searches of rank 0 until rank 0 ends the service. Uses the memory and the threads of these
    /// settings. All other ranks must call this.
    ///
    /// # Errors
    ///
    /// Returns a [`ClusterError`] if rank 0 or the network is lost, or if rank 0 runs another version.
    pub fn serve_ranks(self, link: RankLink) -> Result<(), ClusterError> {
        let Engine { settings, search, .. } = self;
        let evaluator = search.evaluator().clone();
        drop(search);
        let memory = table_mebibytes(&settings, &evaluator);
        Cluster::new(link, evaluator, memory, settings.threads).serve()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decision, EngineSettings, SearchObserver, SearchRequest};
    use kosumi_cluster::{ThreadLink, thread_links};
    use kosumi_eval::NetworkSettings;
    use kosumi_go::board::{BoardSize, Color};
    use kosumi_net::{BuiltIn, Network};
    use kosumi_search::{Detail, Limits};
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    /// Link that fails after a number of received packets. From then on it silently drops sent packets, unless `speaks`
    /// is set.
    struct FailingLink {
        link: ThreadLink,
        packets: u32,
        speaks: bool,
    }

    impl Link for FailingLink {
        fn rank(&self) -> usize {
            self.link.rank()
        }

        fn ranks(&self) -> usize {
            self.link.ranks()
        }

        fn send(&mut self, to: usize, packet: Vec<u8>) -> Result<(), ClusterError> {
            if self.packets == 0 && !self.speaks { Ok(()) } else { self.link.send(to, packet) }
        }

        fn poll(&mut self) -> Result<Option<(usize, Vec<u8>)>, ClusterError> {
            if self.packets == 0 {
                return Err(ClusterError::Network("it broke".to_owned()));
            }
            let packet = self.link.poll()?;
            self.packets -= u32::from(packet.is_some());
            Ok(packet)
        }

        fn wait(&mut self, idle: u32, most: Duration) {
            self.link.wait(idle, most);
        }
    }

    fn settings(seed: u64) -> EngineSettings {
        EngineSettings {
            threads: 1,
            memory_mebibytes: 16,
            playouts: Some(60),
            seed,
            ..EngineSettings::default()
        }
    }

    fn engine(network: &Arc<Network>) -> Engine {
        let mut engine = Engine::with_network(settings(1), Some(Arc::clone(network)));
        engine.set_size(BoardSize::square(7).expect("7 is a size"));
        engine
    }

    /// Engine on rank 0, threads of the other ranks, and errors reported to the engine.
    struct TestCluster {
        engine: Engine,
        others: Vec<JoinHandle<Result<(), ClusterError>>>,
        lost: Arc<Mutex<Vec<ClusterError>>>,
    }

    fn start(ranks: usize, mut link_of: impl FnMut(ThreadLink) -> RankLink) -> TestCluster {
        let network = Arc::new(Network::built_in(BuiltIn::Small).expect("a built-in network"));
        let mut links = thread_links(ranks).into_iter();
        let mut first = engine(&network);
        let lost = Arc::new(Mutex::new(Vec::new()));
        let losses = Arc::clone(&lost);
        let on_loss = move |why: &ClusterError| losses.lock().expect("a lock").push(why.clone());
        assert!(first.spread_over(
            Box::new(links.next().expect("a rank")),
            Placement::Auto,
            Box::new(on_loss)
        ));
        let others = links
            .map(|link| {
                let (engine, link) = (engine(&network), link_of(link));
                thread::spawn(move || engine.serve_ranks(link))
            })
            .collect();
        TestCluster { engine: first, others, lost }
    }

    fn genmove(engine: &mut Engine, color: Color) -> Decision {
        engine.genmove(color, SearchRequest::new(&|| false))
    }

    #[test]
    fn an_engine_plays_over_ranks() {
        let TestCluster { mut engine, others, lost } = start(3, |link| Box::new(link));
        for turn in 0..4 {
            let color = if turn % 2 == 0 { Color::Black } else { Color::White };
            assert!(matches!(genmove(&mut engine, color), Decision::Play(_)));
            let report = engine.last_report().expect("a report");
            assert_eq!(report.playouts, 60);
            if turn == 0 {
                // The root is seen through one of eight symmetries only.
                assert!(report.moves.iter().filter(|entry| entry.visits > 0).count() <= 11, "{report:?}");
            }
            // New settings apply on all ranks from here on.
            let temperature = 1.0 + 0.1 * turn as f32;
            let network = NetworkSettings { policy_temperature: temperature, ..engine.settings().network };
            engine.change_settings(EngineSettings { network, ..*engine.settings() });
        }
        // Reports contain the owners that were asked for, and input ends the search at once.
        let seen = AtomicU32::new(0);
        let stop = AtomicBool::new(false);
        let interrupted = || stop.load(Ordering::Relaxed);
        let mut on_report = |_: &Game, report: &SearchReport| {
            assert!(report.visits > 0 && report.raw.is_some());
            let owners = report.owners.as_ref().expect("owners");
            assert!(owners.mean.len() == 49 && owners.mean.iter().any(|&owner| owner != 0.0));
            if seen.fetch_add(1, Ordering::Relaxed) == 2 {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let every = Duration::from_millis(20);
        let observer = Some(SearchObserver { every, on_report: &mut on_report });
        let detail = Detail { ownership: true, ..Detail::default() };
        let request = SearchRequest { observer, detail, ..SearchRequest::new(&interrupted) };
        engine.analyze(Color::Black, &Limits::time(Duration::from_secs(60)), request);
        // Without input, the search would go on for a minute, with at most 50 reports a second.
        let seen = seen.into_inner();
        assert!((3..300).contains(&seen), "{seen} reports");
        assert!(engine.is_spread() && lost.lock().expect("a lock").is_empty());
        drop(engine);
        for other in others {
            assert_eq!(other.join().expect("no panic"), Ok(()));
        }
    }

    #[test]
    fn a_lost_rank_costs_no_move() {
        for speaks in [true, false] {
            let dying = |link| Box::new(FailingLink { link, packets: 12, speaks }) as RankLink;
            let TestCluster { mut engine, others, lost } = start(3, dying);
            for turn in 0..3 {
                let color = if turn % 2 == 0 { Color::Black } else { Color::White };
                assert!(matches!(genmove(&mut engine, color), Decision::Play(_)));
            }
            assert!(!engine.is_spread(), "twelve packets are not enough for three searches");
            assert_eq!(engine.game().records().len(), 3);
            assert_eq!(engine.last_report().map(|report| report.playouts), Some(60));
            assert_eq!(lost.lock().expect("a lock").len(), 1);
            drop(engine);
            // Some ranks received the message to end before they failed.
            others.into_iter().for_each(|other| drop(other.join().expect("no panic")));
        }
    }

    #[test]
    fn playouts_are_not_spread() {
        let mut engine = Engine::new(settings(1));
        let link = thread_links(1).remove(0);
        assert!(!engine.spread_over(Box::new(link), Placement::Auto, Box::new(|_| ())));
        assert!(!engine.is_spread());
    }
}
