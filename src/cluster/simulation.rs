//! A simulated network: thousands of ranks in one process, in virtual time.
//!
//! The ranks are real, with the same messages, tables and selection as over any other network. Only time is simulated:
//! the travel time of a packet, the time that a rank takes to read a message, and the time of an evaluation. The same
//! settings give the same result, to the nanosecond, on every machine.
//!
//! ```text
//!   packet ─▶ inbox ─▶ the rank's thread (time per message) ─▶ network card (bandwidth) ─▶ latency, jitter ─▶ inbox
//!                             │      ▲
//!                             ▼      │
//!                         evaluators (time per position)
//! ```

use super::audit::Audit;
use super::control::{Control, VisitWindow};
use super::drive::Placement;
use super::link::ClusterError;
use super::message::{Begin, Ended, Message};
use super::rank::{Job, JobResult, Rank, RankContext, evaluate_job, home};
use super::wire::{Malformed, Reader, Wire};
use kosumi_eval::{Evaluator, Ownership};
use kosumi_go::game::{Game, Line};
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rng::Rng;
use kosumi_search::bias::BiasTable;
use kosumi_search::table::StoredMoves;
use kosumi_search::utility::UtilityScale;
use kosumi_search::valuation::Valuation;
use kosumi_search::{
    Formula, Limits, NodeTable, SearchContext, SearchParams, SearchReport, set_root_priors_of,
};
use kosumi_sync::atomic::AtomicU32;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Settings of a simulated cluster. Times are in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct SimulatedCluster {
    /// Number of ranks.
    pub ranks: usize,
    /// Number of simultaneous evaluations on each rank.
    pub threads: usize,
    /// Latency from one network card to another.
    pub latency: u64,
    /// Bytes per second that leave a network card.
    pub bandwidth: f64,
    /// Largest random increase of a latency or an evaluation time, as a share of it, in `[0, 1]`.
    pub jitter: f64,
    /// Time of an evaluation.
    pub evaluation: u64,
    /// Processor time of a rank's thread for a message or an evaluation's result, including its consequences.
    pub message: u64,
    /// Processor time of a rank's thread for a packet, sent or received, regardless of its contents.
    pub packet: u64,
    /// Placement of the nodes.
    pub placement: Placement,
    /// Number of visits in progress; `None` for the default of a search.
    pub window: Option<VisitWindow>,
    /// Size of each rank's table, in MiB.
    pub mebibytes: usize,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Result of a simulated search.
#[derive(Clone, Debug)]
pub(crate) struct SimulationResult {
    /// Report of the search.
    pub report: SearchReport,
    /// Time from the first visit to the report.
    pub time: Duration,
    /// Time from the completion of half of the visits to that of nine tenths. It excludes the start, when little work
    /// is available at a time, and the end.
    pub steady_time: Duration,
    /// Number of positions evaluated.
    pub evaluations: u64,
    /// Number of positions evaluated in the steady time.
    pub steady_evaluations: u64,
    /// Number of messages from one rank to another.
    pub messages: u64,
    /// Number of packets that carried these messages.
    pub packets: u64,
    /// Number of bytes in these packets.
    pub bytes: u64,
    /// Share of the time that the thread of the busiest rank was busy, in `[0, 1]`.
    pub hottest: f64,
    /// Mean of that share over all ranks, in `[0, 1]`.
    pub mean_busy: f64,
}

impl SimulationResult {
    /// Returns the number of evaluations per second in the steady time.
    pub(crate) fn rate(&self) -> f64 {
        self.steady_evaluations as f64 / self.steady_time.as_secs_f64().max(1e-9)
    }

    /// Returns the rate as a share of the rate of evaluators that never wait.
    pub(crate) fn efficiency(&self, settings: &SimulatedCluster) -> f64 {
        let mean = settings.evaluation as f64 * (1.0 + settings.jitter / 2.0);
        self.rate() * mean / 1e9 / (settings.ranks * settings.threads) as f64
    }
}

/// Event at a point in virtual time.
enum Event {
    /// A packet arrives at a rank.
    Arrives { to: usize, from: usize, packet: Vec<u8> },
    /// An evaluator of a rank finishes a job.
    Answers { rank: usize, job: Job },
    /// The thread of a rank has processed its input.
    Free { rank: usize },
}

/// Queue of events in the order of time. Simultaneous events are in the order of their creation.
#[derive(Default)]
struct Timeline {
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: HashMap<u64, Event>,
    next: u64,
}

impl Timeline {
    fn add(&mut self, time: u64, event: Event) {
        self.queue.push(Reverse((time, self.next)));
        self.events.insert(self.next, event);
        self.next += 1;
    }

    fn next(&mut self) -> Option<(u64, Event)> {
        let Reverse((time, number)) = self.queue.pop()?;
        Some((time, self.events.remove(&number)?))
    }
}

/// Input of a rank's thread.
enum Input {
    Packet(usize, Vec<u8>),
    Answer(JobResult),
}

/// State of a rank's machine.
#[derive(Default)]
struct Machine {
    inbox: VecDeque<Input>,
    /// Jobs that wait for an evaluator.
    waiting_jobs: VecDeque<Job>,
    evaluating: usize,
    is_busy: bool,
    /// Total time that the thread has been busy.
    worked: u64,
    /// Time when the network card has sent everything.
    card_free: u64,
}

/// Data of a rank that outlive a search.
struct Store {
    table: NodeTable,
    bias: BiasTable,
    averaged_symmetries: AtomicU32,
}

/// Runs a search of `visits` visits on a simulated cluster.
///
/// # Errors
///
/// Returns an error if the search does not use a network (PUCT), or if a rank violates the protocol.
pub(crate) fn simulate<E: Evaluator>(
    settings: &SimulatedCluster,
    evaluator: &E,
    params: &SearchParams,
    game: &Game,
    visits: u32,
) -> Result<SimulationResult, ClusterError> {
    simulate_and_inspect(settings, evaluator, params, game, visits, &mut |_, _| {})
}

/// Runs a search like [`simulate`], and calls `inspect` with the table of every rank at the end.
pub(super) fn simulate_and_inspect<E: Evaluator>(
    settings: &SimulatedCluster,
    evaluator: &E,
    params: &SearchParams,
    game: &Game,
    visits: u32,
    inspect: &mut dyn FnMut(usize, &NodeTable),
) -> Result<SimulationResult, ClusterError> {
    let Formula::Puct(puct) = params.formula else { return Err(Malformed.into()) };
    let SimulatedCluster { ranks, threads, .. } = *settings;
    let is_central = settings.placement.is_central(ranks * threads);
    let score = evaluator.clone().evaluate(&Line::new(game), &mut Rng::new(0), &mut Vec::new()).score_mean;
    let limits = Limits::playouts(visits);
    let now = AtomicU64::new(0);
    let elapsed = || Duration::from_nanos(now.load(Ordering::Relaxed));
    let context = SearchContext::new(&limits, &elapsed, &|| false);
    let begin = Begin {
        game: String::new(),
        is_tree: game.sharing() == NodeSharing::Tree,
        key: game.graph_key(),
        params: *params,
        network: None,
        for_play: false,
        score,
        seed: settings.seed,
        restriction: context.restriction.clone(),
        clear: true,
        is_central,
    };
    let stores: Vec<Store> = (0..ranks)
        .map(|_| Store {
            table: NodeTable::new(settings.mebibytes, StoredMoves::Likely),
            bias: BiasTable::new(),
            averaged_symmetries: AtomicU32::new(1),
        })
        .collect();
    let root_home = &stores[home(begin.key, ranks, is_central)].table;
    if let (true, Some(root)) = (evaluator.has_root_priors(), root_home.find_or_insert(begin.key)) {
        set_root_priors_of(root_home, evaluator, root, game, 1.0);
    }
    let scale = UtilityScale::new(&puct, game.size().area(), score);
    let all = stores
        .iter()
        .enumerate()
        .map(|(rank, store)| {
            let Store { table, bias, averaged_symmetries } = store;
            let valuation = Valuation { table, bias, params: puct, scale };
            let common =
                RankContext { table, valuation, begin: &begin, averaged_symmetries, rank, ranks, threads };
            Rank::new(common, game, evaluator.clone())
        })
        .collect();
    let window = settings.window.unwrap_or(VisitWindow::for_evaluators(ranks * threads, is_central));
    let simulation = Simulation {
        settings,
        ranks: all,
        stores: &stores,
        machines: (0..ranks).map(|_| Machine::default()).collect(),
        control: Control::new(&context, game, &begin, window, ranks),
        timeline: Timeline::default(),
        now: &now,
        arrivals: HashMap::new(),
        rng: Rng::new(settings.seed),
        line: Line::new(game),
        evaluator: evaluator.clone(),
        is_over: false,
        counts: Counts::default(),
    };
    let outcome = simulation.run(visits)?;
    stores.iter().enumerate().for_each(|(rank, store)| inspect(rank, &store.table));
    Ok(outcome)
}

/// Counters of a simulation.
#[derive(Default)]
struct Counts {
    messages: u64,
    packets: u64,
    bytes: u64,
    evaluations: u64,
    /// Time and number of evaluations when half of the visits were done, and when nine tenths were.
    half: Option<(u64, u64)>,
    most: Option<(u64, u64)>,
}

struct Simulation<'s, E> {
    settings: &'s SimulatedCluster,
    ranks: Vec<Rank<'s, E>>,
    stores: &'s [Store],
    machines: Vec<Machine>,
    control: Control<'s>,
    timeline: Timeline,
    now: &'s AtomicU64,
    /// Arrival time of the latest packet from one rank to another. A packet never overtakes an earlier one.
    arrivals: HashMap<(usize, usize), u64>,
    rng: Rng,
    line: Line<'s>,
    evaluator: E,
    is_over: bool,
    counts: Counts,
}

impl<E: Evaluator> Simulation<'_, E> {
    fn run(mut self, visits: u32) -> Result<SimulationResult, ClusterError> {
        // Rank 0 begins.
        self.work(0, 0)?;
        while !self.is_over {
            let (time, event) = self.timeline.next().ok_or(ClusterError::Silent)?;
            self.now.store(time, Ordering::Relaxed);
            let rank = match event {
                Event::Arrives { to, from, packet } => {
                    self.machines[to].inbox.push_back(Input::Packet(from, packet));
                    to
                }
                Event::Answers { rank, job } => {
                    let answer = evaluate_job(job, &mut self.line, &mut self.evaluator, &mut self.rng);
                    self.counts.evaluations += 1;
                    self.machines[rank].inbox.push_back(Input::Answer(answer));
                    self.machines[rank].evaluating -= 1;
                    self.begin_evaluations(rank, time);
                    rank
                }
                Event::Free { rank } => {
                    self.machines[rank].is_busy = false;
                    rank
                }
            };
            if !self.machines[rank].is_busy && !self.machines[rank].inbox.is_empty() {
                self.work(rank, time)?;
            }
            let reached = (time, self.counts.evaluations);
            let done = u64::from(self.control.done());
            if done * 2 >= u64::from(visits) {
                self.counts.half.get_or_insert(reached);
            }
            if done * 10 >= u64::from(visits) * 9 {
                self.counts.most.get_or_insert(reached);
            }
        }
        let time = self.now.load(Ordering::Relaxed);
        let end = (time, self.counts.evaluations);
        let (half, most) = (self.counts.half.unwrap_or(end), self.counts.most.unwrap_or(end));
        let busy = |machine: &Machine| machine.worked as f64 / time.max(1) as f64;
        let report = self.control.report().ok_or(ClusterError::Silent)?.report;
        Ok(SimulationResult {
            report,
            time: Duration::from_nanos(time),
            steady_time: Duration::from_nanos(most.0 - half.0),
            evaluations: self.counts.evaluations,
            steady_evaluations: most.1 - half.1,
            messages: self.counts.messages,
            packets: self.counts.packets,
            bytes: self.counts.bytes,
            hottest: self.machines.iter().map(busy).fold(0.0, f64::max),
            mean_busy: self.machines.iter().map(busy).sum::<f64>() / self.machines.len() as f64,
        })
    }

    /// Processes all input of a rank's thread.
    fn work(&mut self, rank: usize, time: u64) -> Result<(), ClusterError> {
        let mut cost = 0;
        for input in std::mem::take(&mut self.machines[rank].inbox) {
            match input {
                Input::Packet(from, packet) => {
                    cost += self.settings.packet;
                    let mut reader = Reader::new(&packet);
                    while !reader.is_empty() {
                        cost += self.settings.message;
                        self.ranks[rank].receive(from, Message::read(&mut reader)?);
                    }
                }
                Input::Answer(answer) => {
                    cost += self.settings.message;
                    self.ranks[rank].evaluated(answer);
                }
            }
        }
        self.process_control_messages(rank)?;
        while self.machines[rank].waiting_jobs.len() < self.settings.threads {
            let Some(job) = self.ranks[rank].next_job() else { break };
            self.machines[rank].waiting_jobs.push_back(job);
        }
        let (packets, messages) = self.ranks[rank].take_packets();
        self.counts.messages += messages;
        cost += self.settings.packet * packets.len() as u64;
        let end = time + cost;
        self.machines[rank].worked += cost;
        self.machines[rank].is_busy = true;
        self.timeline.add(end, Event::Free { rank });
        self.begin_evaluations(rank, end);
        for (to, packet) in packets {
            self.send(rank, to, packet, end);
        }
        Ok(())
    }

    /// Processes messages that are not for the search: those for the control on rank 0, and the end of the search on
    /// all ranks.
    fn process_control_messages(&mut self, rank: usize) -> Result<(), ClusterError> {
        let size = self.line.game().size();
        loop {
            while let Some((from, message)) = self.ranks[rank].next_control_message() {
                let rest = match rank {
                    0 => self.control.receive(&mut self.ranks[0], from, message),
                    _ => Some(message),
                };
                match rest {
                    None => {}
                    Some(Message::End) => {
                        let usage = self.stores[rank].table.usage();
                        let ended = Ended::new(
                            self.ranks[rank].counters,
                            size,
                            &Ownership::default(),
                            usage,
                            Audit::default(),
                        );
                        self.ranks[rank].post(0, Message::Ended(Box::new(ended)));
                        self.ranks[rank].process_local();
                    }
                    Some(_) => return Err(Malformed.into()),
                }
            }
            if rank != 0 {
                return Ok(());
            }
            self.is_over = self.control.step(&mut self.ranks[0])?;
            if self.is_over || !self.ranks[0].has_control_message() {
                return Ok(());
            }
        }
    }

    /// Gives jobs to idle evaluators.
    fn begin_evaluations(&mut self, rank: usize, time: u64) {
        while self.machines[rank].evaluating < self.settings.threads {
            let Some(job) = self.machines[rank].waiting_jobs.pop_front() else { return };
            self.machines[rank].evaluating += 1;
            let end = time + self.with_jitter(self.settings.evaluation);
            self.timeline.add(end, Event::Answers { rank, job });
        }
    }

    fn with_jitter(&mut self, time: u64) -> u64 {
        (time as f64 * (1.0 + self.settings.jitter * self.rng.unit())) as u64
    }

    fn send(&mut self, from: usize, to: usize, packet: Vec<u8>, time: u64) {
        self.counts.packets += 1;
        self.counts.bytes += packet.len() as u64;
        let on_card = (packet.len() as f64 / self.settings.bandwidth * 1e9) as u64;
        let machine = &mut self.machines[from];
        machine.card_free = machine.card_free.max(time) + on_card;
        let left = machine.card_free;
        let arrival = left + self.with_jitter(self.settings.latency);
        let last = self.arrivals.entry((from, to)).or_default();
        *last = arrival.max(*last);
        self.timeline.add(*last, Event::Arrives { to, from, packet });
    }
}
