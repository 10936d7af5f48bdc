//! The control of a search, on rank 0: it sends visits to the root, decides when the search is over, and builds the
//! report.

use super::audit::Audit;
use super::link::ClusterError;
use super::message::{Begin, CONTROL, EdgeView, Ended, Message, Path, ReplyTo, RootDone, Visit};
use super::rank::Rank;
use kosumi_eval::{Evaluator, Ownership, Prior};
use kosumi_go::board::{Key, Move};
use kosumi_go::game::Game;
use kosumi_search::counters::Counters;
use kosumi_search::node::{NodeId, NodeStatistics};
use kosumi_search::params::View;
use kosumi_search::table::StoredMoves;
use kosumi_search::{NodeTable, SearchContext, SearchReport, SearchStats, TableUse};
use std::time::Duration;

/// Longest time without any message at the end of a search. A rank that has not answered by then is considered lost.
const END_PATIENCE: Duration = Duration::from_secs(5);
/// Longest time without any message while a search runs.
const PATIENCE: Duration = Duration::from_secs(30);

/// Interval between two pings of a rank, and the longest time for its answer. The message thread of a rank never waits,
/// so only a machine that has stopped takes longer.
const PING_EVERY: Duration = Duration::from_secs(1);
const PONG_PATIENCE: Duration = Duration::from_secs(8);

/// Largest number of visits in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VisitWindow {
    /// Limit at the beginning.
    pub least: u32,
    /// Limit after many visits.
    pub most: u32,
}

impl VisitWindow {
    /// Returns a window that keeps this number of evaluators busy. If one rank stores all nodes, an evaluator gets a
    /// visit as soon as it has none, so one visit for each evaluator is enough. If nodes are distributed, chance loads
    /// the ranks unevenly. More visits in progress are worth less, because they do not know of each other's results.
    pub fn for_evaluators(evaluators: usize, is_central: bool) -> VisitWindow {
        let evaluators = u32::try_from(evaluators).unwrap_or(u32::MAX);
        if is_central {
            // A few evaluators may wait at the beginning, when a wrong choice costs most.
            let least = (evaluators / 8 * 5 + evaluators % 8 * 5 / 8).clamp(1, 64);
            return VisitWindow { least, most: evaluators.max(least) };
        }
        VisitWindow { least: evaluators.min(64), most: evaluators.saturating_mul(2).max(1) }
    }

    /// Returns the limit after `visits` visits. It is small while little is known, so that not all visits make the same
    /// wrong choice.
    fn at(&self, visits: u32) -> u32 {
        (visits / 4).max(self.least).min(self.most)
    }
}

/// Phase of a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
enum Phase {
    Running,
    /// Waits until all visits have returned.
    Draining,
    /// Waits for the root and the variations.
    AwaitingRootView,
    /// Waits for the counters of all ranks.
    Ending,
    Over,
}

/// Data of the root and of the variations from it, as far as they have arrived.
#[derive(Debug, Default)]
struct RootView {
    root: Option<(NodeStatistics, Vec<EdgeView>)>,
    /// Moves that were left out, and the factor of the other moves' probabilities.
    pruned: Vec<Move>,
    scale: f32,
    variations: Vec<Vec<EdgeView>>,
    missing: usize,
}

/// Result of a search.
pub(crate) struct SearchResult {
    pub(crate) report: SearchReport,
    /// Fullness of the fullest rank's stores, in `[0, 1]`.
    pub(crate) fullest: f32,
    /// Audit of all ranks, in builds with assertions.
    pub(crate) audit: Audit,
}

/// See the [module documentation](self).
pub(crate) struct Control<'c> {
    context: &'c SearchContext<'c>,
    game: &'c Game,
    begin: &'c Begin,
    window: VisitWindow,
    phase: Phase,
    launched: u32,
    done: u32,
    cancelled: u32,
    root: RootDone,
    /// Time of the latest message.
    last_message: Duration,
    /// Time of each rank's unanswered ping, and the time of the next ping.
    unanswered: Vec<Option<Duration>>,
    next_ping: Duration,
    next_report: Option<Duration>,
    root_view: Option<RootView>,
    ended: Vec<Option<Ended>>,
}

impl<'c> Control<'c> {
    pub(crate) fn new(
        context: &'c SearchContext<'c>,
        game: &'c Game,
        begin: &'c Begin,
        window: VisitWindow,
        ranks: usize,
    ) -> Control<'c> {
        Control {
            context,
            game,
            begin,
            window,
            phase: Phase::Running,
            launched: 0,
            done: 0,
            cancelled: 0,
            root: RootDone::default(),
            last_message: Duration::ZERO,
            unanswered: vec![None; ranks],
            next_ping: Duration::ZERO,
            next_report: context.reporting.map(|reporting| reporting.first),
            root_view: None,
            ended: (0..ranks).map(|_| None).collect(),
        }
    }

    fn in_flight(&self) -> u32 {
        self.launched - self.done - self.cancelled
    }

    #[cfg(test)]
    /// Returns the number of completed simulations.
    pub(crate) fn done(&self) -> u32 {
        self.done
    }

    /// Processes a message that rank 0 has received for the control. Returns messages that are not for it.
    pub(crate) fn receive<E: Evaluator>(
        &mut self,
        rank: &mut Rank<'_, E>,
        from: usize,
        message: Message,
    ) -> Option<Message> {
        if let Message::Pong = message {
            self.unanswered[from] = None;
            return None;
        }
        self.last_message = (self.context.elapsed)();
        match message {
            Message::RootDone(it) => {
                self.done += it.done;
                self.cancelled += it.cancelled;
                self.root = it;
            }
            Message::Shown { statistics, edges, pruned, scale } => {
                if let Some(root_view) = &mut self.root_view {
                    (root_view.pruned, root_view.scale) = (pruned, scale);
                }
                self.shown(rank, statistics, edges);
            }
            Message::Followed { slot, steps } => {
                if let Some(root_view) = &mut self.root_view
                    && let Some(place) = root_view.variations.get_mut(usize::from(slot))
                {
                    *place = steps;
                    root_view.missing = root_view.missing.saturating_sub(1);
                }
            }
            Message::Ended(ended) => self.ended[from] = Some(*ended),
            other => return Some(other),
        }
        None
    }

    /// Does the work that is due now. Returns true when the search is over.
    ///
    /// # Errors
    ///
    /// Returns an error if no message has arrived for too long, or if a rank does not answer a ping.
    pub(crate) fn step<E: Evaluator>(&mut self, rank: &mut Rank<'_, E>) -> Result<bool, ClusterError> {
        let patience = if self.phase == Phase::Running { PATIENCE } else { END_PATIENCE };
        if (self.context.elapsed)().saturating_sub(self.last_message) > patience {
            return Err(ClusterError::Silent);
        }
        self.ping(rank)?;
        loop {
            let before = self.phase;
            self.take_step(rank);
            rank.process_local();
            if self.phase == before {
                return Ok(self.phase == Phase::Over);
            }
        }
    }

    /// Pings all ranks if it is time to.
    fn ping<E: Evaluator>(&mut self, rank: &mut Rank<'_, E>) -> Result<(), ClusterError> {
        let now = (self.context.elapsed)();
        if now < self.next_ping {
            return Ok(());
        }
        self.next_ping = now + PING_EVERY;
        for (to, unanswered) in self.unanswered.iter_mut().enumerate().skip(1) {
            match *unanswered {
                Some(since) if now.saturating_sub(since) > PONG_PATIENCE => {
                    return Err(ClusterError::Lost(to));
                }
                // A rank that has received the end no longer answers.
                None if self.phase < Phase::Ending => {
                    *unanswered = Some(now);
                    rank.post(to, Message::Ping);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn take_step<E: Evaluator>(&mut self, rank: &mut Rank<'_, E>) {
        match self.phase {
            Phase::Running => self.run(rank),
            Phase::Draining if self.in_flight() == 0 && self.root_view.is_none() => {
                self.request_root(rank);
                self.phase = Phase::AwaitingRootView;
            }
            Phase::AwaitingRootView if self.has_root_view() => {
                self.phase = Phase::Ending;
                self.broadcast(rank, || Message::End);
            }
            Phase::Ending if self.ended.iter().all(Option::is_some) => self.phase = Phase::Over,
            _ => {}
        }
        if self.phase < Phase::AwaitingRootView && self.has_root_view() {
            self.report_progress();
        }
    }

    fn has_root_view(&self) -> bool {
        self.root_view.as_ref().is_some_and(|root_view| root_view.root.is_some() && root_view.missing == 0)
    }

    fn broadcast<E: Evaluator>(&self, rank: &mut Rank<'_, E>, message: impl Fn() -> Message) {
        (0..self.ended.len()).for_each(|to| rank.post(to, message()));
    }

    fn run<E: Evaluator>(&mut self, rank: &mut Rank<'_, E>) {
        let stats = SearchStats {
            visits: self.root.visits,
            playouts: self.done,
            elapsed: (self.context.elapsed)(),
            best_two: self.root.best_two,
        };
        let is_enough = self.context.stop.should_stop(&stats) || (self.context.interrupted)();
        // The first simulation is always run, so even a search that is interrupted at once yields a move.
        if is_enough && self.done > 0 {
            // This rank stops first: it must know that jobs cancelled by other ranks are no longer wanted.
            rank.post(0, Message::Stop);
            rank.process_local();
            (1..self.ended.len()).for_each(|to| rank.post(to, Message::Stop));
            self.phase = Phase::Draining;
            return;
        }
        // The first visit is sent alone, because its result contains the number of visits of earlier searches.
        let window = if self.done == 0 { 1 } else { self.window.at(self.root.visits) };
        let free = window.saturating_sub(self.in_flight());
        // If many visits are in progress, new ones are not sent one by one.
        if free > 0 && (free >= window / 16 || self.in_flight() == 0) {
            let count = self.permitted(free);
            if count > 0 {
                self.launched += count;
                let caller = ReplyTo { rank: 0, task: CONTROL, edge: 0 };
                let (key, path) = (self.begin.key, Path::default());
                let visit = Visit { caller, count, key, kind: None, is_new: false, path };
                rank.post(rank.home_of_root(), Message::Visit(visit));
            } else if self.in_flight() == 0 {
                self.phase = Phase::Draining;
            }
        }
        if let (Some(_), Some(next)) = (self.context.reporting, self.next_report)
            && self.root_view.is_none()
            && self.done > 0
            && stats.elapsed >= next
        {
            self.request_root(rank);
        }
    }

    /// Returns how many of `most` visits may begin before a limit on plain counts is reached.
    fn permitted(&self, most: u32) -> u32 {
        let begun = self.in_flight();
        let may_begin = |count: u32| {
            let (visits, playouts) = (self.root.visits + begun + count, self.done + begun + count);
            !self.context.stop.count_reached(visits, playouts)
        };
        if self.launched == 0 && !may_begin(0) {
            return 1;
        }
        (0..most).take_while(|&count| may_begin(count)).count() as u32
    }

    /// Requests the root's data.
    fn request_root<E: Evaluator>(&mut self, rank: &mut Rank<'_, E>) {
        self.root_view = Some(RootView::default());
        rank.post(rank.home_of_root(), Message::Show);
    }

    /// Requests the variations from the root.
    fn shown<E: Evaluator>(
        &mut self,
        rank: &mut Rank<'_, E>,
        statistics: NodeStatistics,
        edges: Vec<EdgeView>,
    ) {
        let Some(root_view) = &mut self.root_view else { return };
        root_view.variations = vec![Vec::new(); edges.len()];
        for (slot, edge) in edges.iter().enumerate() {
            if let (1.., Some((key, _))) = (edge.visits, edge.child) {
                root_view.missing += 1;
                let message = Message::Follow { slot: slot as u16, key, steps: vec![edge.clone()] };
                rank.post(rank.rank_of(key), message);
            }
        }
        root_view.root = Some((statistics, edges));
    }

    /// Reports the present state of the search.
    fn report_progress(&mut self) {
        let Some(root_view) = self.root_view.take() else { return };
        let Some(reporting) = self.context.reporting else { return };
        let counters = Counters { playouts: self.done, ..Counters::default() };
        if let Some(report) = self.build(&root_view, &counters, Ownership::default(), None) {
            (reporting.on_report)(report);
        }
        self.next_report = Some((self.context.elapsed)() + reporting.every);
    }

    /// Returns the result of a search that is over.
    pub(crate) fn report(mut self) -> Option<SearchResult> {
        let root_view = self.root_view.take()?;
        let (mut counters, mut ownership, mut usage) = (Counters::default(), Ownership::default(), [0; 5]);
        let (mut fullest, mut audit) = (0f32, Audit::default());
        for ended in self.ended.iter().flatten() {
            counters.add(&ended.counters);
            ownership.merge(self.game.size(), &ended.ownership(self.game.size())?);
            usage.iter_mut().zip(&ended.usage).for_each(|(sum, own)| *sum += own);
            fullest = fullest.max(table_use(&ended.usage).fullness());
            audit.add(&ended.audit);
        }
        let report = self.build(&root_view, &counters, ownership, Some(table_use(&usage)))?;
        Some(SearchResult { report, fullest, audit })
    }

    /// Builds the report like that of any search, from a table that contains only the requested nodes.
    fn build(
        &self,
        root_view: &RootView,
        counters: &Counters,
        ownership: Ownership,
        usage: Option<TableUse>,
    ) -> Option<SearchReport> {
        let (statistics, edges) = root_view.root.as_ref()?;
        let table = NodeTable::new(VIEW_MEBIBYTES, StoredMoves::All);
        let root = table.find_or_insert(self.begin.key)?;
        table.node(root).set_statistics(statistics);
        put_edges(&table, root, edges);
        for steps in &root_view.variations {
            let mut node = None;
            for step in steps {
                if let Some(node) = node.filter(|&node| table.edges(table.node(node)).is_empty()) {
                    put_edges(&table, node, std::slice::from_ref(step));
                }
                node = step.child.and_then(|(key, _)| table.find(key));
            }
        }
        let report = SearchReport::new(
            &table,
            root,
            self.game,
            counters,
            ownership,
            View { params: &self.begin.params, root_scale: root_view.scale },
        );
        let mut report = SearchReport { usage: usage.unwrap_or(report.usage), ..report };
        // Earlier searches may have preferred an image that is left out now.
        report.moves.sort_by_key(|entry| root_view.pruned.contains(&entry.mv));
        Some(report)
    }
}

/// Size of the table from which a report is built, in MiB: enough for the variations of all moves of the largest board.
const VIEW_MEBIBYTES: usize = 16;

fn table_use(numbers: &[u64; 5]) -> TableUse {
    let [nodes, node_capacity, edges, edge_capacity, bytes] = numbers.map(|number| number as usize);
    TableUse { nodes, node_capacity, edges, edge_capacity, bytes }
}

/// Gives a node the edges that were received.
fn put_edges(table: &NodeTable, node: NodeId, edges: &[EdgeView]) {
    let moves: Vec<(Move, Prior)> = edges.iter().map(|edge| (edge.mv, edge.prior)).collect();
    table.expand(node, true, || &moves);
    for (edge, view) in table.edges(table.node(node)).zip(edges) {
        edge.set_visits(view.visits);
        let child = view.child.and_then(|(key, statistics)| put_node(table, key, &statistics));
        edge.set_child(child);
    }
}

fn put_node(table: &NodeTable, key: Key, statistics: &NodeStatistics) -> Option<NodeId> {
    let is_new = table.find(key).is_none();
    let id = table.find_or_insert(key)?;
    if is_new {
        table.node(id).set_statistics(statistics);
    }
    Some(id)
}
