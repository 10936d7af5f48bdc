//! Ranks across searches: the data that they keep, the start of a search, and the end of the ranks.

use super::audit::VisitLedger;
use super::control::{Control, SearchResult, VisitWindow};
use super::link::{ClusterError, Link};
use super::message::{Begin, Message};
use super::position;
use super::rank::{Rank, RankContext, home};
use super::session::{Session, take_part};
use super::wire::{Malformed, Reader, Wire};
use kosumi_eval::{Evaluator, NetworkSettings};
use kosumi_go::board::Key;
use kosumi_go::game::{Game, Line};
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rng::Rng;
use kosumi_search::bias::BiasTable;
use kosumi_search::table::StoredMoves;
use kosumi_search::utility::UtilityScale;
use kosumi_search::valuation::Valuation;
use kosumi_search::{Formula, NodeTable, SearchContext, SearchParams, SearchReport, set_root_priors_of};
use kosumi_sync::atomic::AtomicU32;
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

/// Placement of the nodes of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Placement {
    /// Chooses the better placement for the number of evaluators.
    #[default]
    Auto,
    /// Each node on the rank that its key names. The memory of all ranks is one table.
    Hashed,
    /// All nodes on the first rank, which sends positions to the others for evaluation.
    Central,
}

/// Number of evaluators up to which one rank stores all nodes. That rank sees all descents in progress, fewer of them
/// are needed, and any idle evaluator can take any position. Rank 0 is busy for about 6 µs for each evaluation, see
/// `docs/cluster.md`, so with a small network it could not keep more evaluators busy.
const MAX_CENTRAL_EVALUATORS: usize = 128;

impl Placement {
    /// Returns whether the first rank stores all nodes, with this number of simultaneous evaluations.
    pub fn is_central(self, evaluators: usize) -> bool {
        match self {
            Placement::Auto => evaluators <= MAX_CENTRAL_EVALUATORS,
            Placement::Hashed => false,
            Placement::Central => true,
        }
    }
}

/// Longest single wait of a rank without a search.
const WAIT: Duration = Duration::from_secs(1);

/// Data that a rank keeps between searches.
#[derive(Debug)]
struct RankState<E> {
    table: NodeTable,
    bias: BiasTable,
    evaluator: E,
    scale: Option<UtilityScale>,
    /// The root whose moves have root priors, with their temperature, and the number of board symmetries averaged in
    /// them.
    root_priors: (Option<(Key, f32)>, AtomicU32),
}

/// One rank of a search that is distributed over several: rank 0 [runs](Cluster::run) searches, the others
/// [serve](Cluster::serve).
///
/// All ranks must have evaluators that give the same results, and the same number of threads.
pub struct Cluster<E, L: Link> {
    link: L,
    state: RankState<E>,
    threads: usize,
    placement: Placement,
    window: Option<VisitWindow>,
    /// Whether to discard all statistics before the next search.
    is_stale: bool,
    /// Packets of a search that has not begun on this rank.
    early: VecDeque<(usize, Vec<u8>)>,
    /// Expected sums over the tables of all ranks; used on rank 0.
    ledger: VisitLedger,
    is_lost: bool,
}

impl<E, L: Link> fmt::Debug for Cluster<E, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cluster(rank {} of {})", self.link.rank(), self.link.ranks())
    }
}

impl<E: Evaluator + Sync> RankState<E> {
    /// Prepares for a search.
    fn begin(&mut self, game: &Game, begin: &Begin, is_home: bool) {
        let Formula::Puct(params) = begin.params.formula else { return };
        let scale = UtilityScale::new(&params, game.size().area(), begin.score);
        if let Some(settings) = &begin.network {
            self.evaluator = self.evaluator.with_network_settings(settings);
        }
        if begin.clear {
            self.table.clear();
            self.bias.clear();
            self.root_priors = (None, AtomicU32::new(1));
        } else if let Some(old) = self.scale.filter(|&old| old != scale) {
            rescale_utilities(&self.table, &old, &scale);
        }
        self.scale = Some(scale);
        let temperature = begin.params.root_temperature(game);
        if is_home && self.root_priors.0 != Some((begin.key, temperature)) {
            // `Search` does the same.
            let had_other =
                self.root_priors.0.is_some_and(|(key, other)| key == begin.key && other != temperature);
            self.root_priors = (Some((begin.key, temperature)), AtomicU32::new(1));
            let are_others = self.evaluator.has_root_priors() || temperature != 1.0 || had_other;
            if let (true, Some(root)) = (are_others, self.table.find_or_insert(begin.key)) {
                set_root_priors_of(&self.table, &self.evaluator, root, game, temperature);
            }
        }
    }
}

/// Converts all utilities to another scale: exactly for the nodes' own evaluations, and for means by the difference of
/// the scales at the mean score. The next visits update the means.
fn rescale_utilities(table: &NodeTable, old: &UtilityScale, new: &UtilityScale) {
    for id in table.ids() {
        let node = table.node(id);
        let own = node.own();
        if own.weight > 0.0 {
            let utility = new.utility(own.result.into(), own.score.into(), own.deviation.into());
            node.set_own_utility(utility as f32);
        }
        let mut means = node.means();
        let at = |scale: &UtilityScale| scale.utility(0.0, means.score.into(), 0.0);
        let change = (at(new) - at(old)) as f32;
        means.utility_square += change * (2.0 * means.utility + change);
        means.utility += change;
        node.set_means(&means);
    }
}

impl<E: Evaluator + Sync, L: Link> Cluster<E, L> {
    /// Creates this rank, with a node table of `mebibytes` and `threads` simultaneous evaluations (at least 1).
    pub fn new(link: L, evaluator: E, mebibytes: usize, threads: usize) -> Cluster<E, L> {
        let state = RankState {
            table: NodeTable::new(mebibytes, StoredMoves::Likely),
            bias: BiasTable::new(),
            evaluator,
            scale: None,
            root_priors: (None, AtomicU32::new(1)),
        };
        Cluster {
            link,
            state,
            threads: threads.max(1),
            placement: Placement::default(),
            window: None,
            is_stale: true,
            early: VecDeque::new(),
            ledger: VisitLedger::default(),
            is_lost: false,
        }
    }

    /// Sets the placement of the nodes. Only rank 0 uses it.
    #[must_use]
    pub fn placed(mut self, placement: Placement) -> Cluster<E, L> {
        self.placement = placement;
        self
    }

    /// Sets the number of visits in progress. Only rank 0 uses it.
    #[must_use]
    pub fn with_window(mut self, window: VisitWindow) -> Cluster<E, L> {
        self.window = Some(window);
        self
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.link.ranks()
    }

    /// Returns the table with this rank's nodes and the stand-ins for nodes of other ranks.
    pub fn table(&self) -> &NodeTable {
        &self.state.table
    }

    /// Discards the statistics of all ranks before the next search.
    pub fn clear(&mut self) {
        self.is_stale = true;
    }

    /// Changes the settings of the network on all ranks from the next search on. If they differ from the present ones,
    /// all statistics are discarded. Only rank 0 calls this.
    pub fn ask_with(&mut self, settings: &NetworkSettings) {
        let Some(own) = self.state.evaluator.network_settings() else { return };
        if own != (NetworkSettings { arithmetic: own.arithmetic, ..*settings }) {
            self.state.evaluator = self.state.evaluator.with_network_settings(settings);
            self.is_stale = true;
        }
    }

    /// Searches the game's position over all ranks. Only rank 0 calls this. The context's explorations and `noise` are
    /// ignored.
    ///
    /// # Errors
    ///
    /// Returns an error if a rank is lost or does not answer in time. No more searches over ranks are possible after
    /// that.
    pub fn run(
        &mut self,
        params: &SearchParams,
        game: &Game,
        seed: u64,
        context: &SearchContext<'_>,
    ) -> Result<SearchReport, ClusterError> {
        // After an unfinished search, the state of the other ranks is unknown.
        if std::mem::replace(&mut self.is_lost, true) {
            return Err(ClusterError::Silent);
        }
        let ranks = self.link.ranks();
        let is_central = self.placement.is_central(ranks * self.threads);
        let mut evaluator = self.state.evaluator.clone();
        let score = evaluator.evaluate(&Line::new(game), &mut Rng::new(0), &mut Vec::new()).score_mean;
        let begin = Begin {
            game: position::to_text(game),
            is_tree: game.sharing() == NodeSharing::Tree,
            key: game.graph_key(),
            params: *params,
            network: evaluator.network_settings(),
            for_play: context.for_play,
            score,
            seed,
            restriction: context.restriction.clone(),
            clear: self.is_stale,
            is_central,
        };
        let packet = Message::Begin(Box::new(begin.clone())).to_packet();
        for to in 1..ranks {
            self.link.send(to, packet.clone())?;
        }
        self.is_stale = false;
        let window = self.window.unwrap_or(VisitWindow::for_evaluators(ranks * self.threads, is_central));
        let control = Control::new(context, game, &begin, window, ranks);
        let found = self.search(game, &begin, Some(control))?.ok_or(ClusterError::Silent)?;
        let SearchResult { report, fullest, audit } = found;
        if begin.clear {
            self.ledger = VisitLedger::default();
        }
        self.ledger.note(begin.key, report.playouts, report.cycles);
        debug_assert_eq!(self.ledger.check(&audit), Ok(()));
        // The nodes reachable from the next root are unknown without a query to all ranks.
        self.is_stale = fullest > FULL;
        self.is_lost = false;
        Ok(report)
    }

    /// Takes part in searches until rank 0 has no more. All ranks except rank 0 call this.
    ///
    /// # Errors
    ///
    /// Returns an error if rank 0 or the network is gone, or if rank 0 runs another version.
    pub fn serve(&mut self) -> Result<(), ClusterError> {
        let result = self.try_serve();
        if let Err(why) = &result {
            // Rank 0 may be gone; the error of this message does not matter.
            let _ = self.link.send(0, Message::Failed(why.to_string()).to_packet());
        }
        result
    }

    fn try_serve(&mut self) -> Result<(), ClusterError> {
        let mut idle = 0;
        loop {
            let Some((from, packet)) = self.link.poll()? else {
                self.link.wait(idle, WAIT);
                idle += 1;
                continue;
            };
            idle = 0;
            if from != 0 {
                // A packet of the search that begins: rank 0 has sent the begin to other ranks first.
                self.early.push_back((from, packet));
                continue;
            }
            let mut reader = Reader::new(&packet);
            match Message::read(&mut reader)? {
                Message::Begin(begin) => {
                    let game = position::from_text(&begin.game, begin.is_tree, begin.key)?;
                    let rest = packet.len() - reader.left();
                    if rest < packet.len() {
                        self.early.push_front((0, packet[rest..].to_vec()));
                    }
                    match self.search(&game, &begin, None) {
                        Err(ClusterError::GivenUp) => return Ok(()),
                        other => other?,
                    };
                }
                Message::Quit => return Ok(()),
                _ => return Err(Malformed.into()),
            }
        }
    }

    /// Takes part in a search. Returns its result if there is a control.
    fn search(
        &mut self,
        game: &Game,
        begin: &Begin,
        control: Option<Control<'_>>,
    ) -> Result<Option<SearchResult>, ClusterError> {
        let Cluster { link, state, threads, early, .. } = self;
        let threads = *threads;
        let Formula::Puct(params) = begin.params.formula else { return Err(Malformed.into()) };
        let is_home = home(begin.key, link.ranks(), begin.is_central) == link.rank();
        state.begin(game, begin, is_home);
        let scale = state.scale.ok_or(Malformed)?;
        let common = RankContext {
            table: &state.table,
            valuation: Valuation { table: &state.table, bias: &state.bias, params, scale },
            begin,
            averaged_symmetries: &state.root_priors.1,
            rank: link.rank(),
            ranks: link.ranks(),
            threads,
        };
        let rank = Rank::new(common, game, state.evaluator.clone());
        take_part(
            Session { link, early, rank, control, threads, game, begin },
            &state.evaluator,
            &state.table,
        )
    }
}

/// Fullness of a table above which all statistics are discarded before the next search.
const FULL: f32 = 0.5;

impl<E, L: Link> Drop for Cluster<E, L> {
    fn drop(&mut self) {
        if self.link.rank() == 0 {
            for to in 1..self.link.ranks() {
                // Ranks that are gone need no message.
                let _ = self.link.send(to, Message::Quit.to_packet());
            }
        }
    }
}
