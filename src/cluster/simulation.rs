//! A simulated network: thousands of ranks in one process, in virtual time.
//!
//! The ranks are the real ones: the same messages, tables and choices as over any other network. Only time is made up: how
//! long a packet travels, how long a rank takes to read a message, and how long an evaluation takes. The same settings give
//! the same result, to the nanosecond, on every machine.
//!
//! ```text
//!   packet ─▶ inbox ─▶ the rank's thread (so long for each message) ─▶ network card (bandwidth) ─▶ latency, jitter ─▶ inbox
//!                             │      ▲
//!                             ▼      │
//!                         evaluators, each so long for a position
//! ```

use super::audit::Audit;
use super::control::{Control, Window};
use super::drive::Placement;
use super::link::ClusterError;
use super::message::{Begin, Ended, Message};
use super::rank::{Answer, Common, Job, Rank, answer, home};
use super::wire::{Malformed, Reader, Wire};
use kosumi_eval::{Evaluator, Ownership};
use kosumi_go::game::{Game, Line};
use kosumi_go::graph_key::Sharing;
use kosumi_go::rng::Rng;
use kosumi_search::bias::BiasTable;
use kosumi_search::table::Storing;
use kosumi_search::utility::Scale;
use kosumi_search::valuation::Valuation;
use kosumi_search::{
    Formula, Limits, NodeTable, SearchContext, SearchParams, SearchReport, give_root_priors,
};
use kosumi_sync::atomic::AtomicU32;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A cluster that there is not. Times are in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Simulated {
    /// Ranks.
    pub ranks: usize,
    /// Evaluations at a time on each.
    pub threads: usize,
    /// From one network card to another.
    pub latency: u64,
    /// Bytes a second that leave a network card.
    pub bandwidth: f64,
    /// Latencies and evaluations take up to so much longer, in `[0, 1]`, by chance.
    pub jitter: f64,
    /// An evaluation.
    pub evaluation: u64,
    /// What a rank's thread does for a message or an answer, and for what follows from it.
    pub message: u64,
    /// What it does for a packet, sent or received, whatever is in it.
    pub packet: u64,
    /// Where nodes live.
    pub placement: Placement,
    /// Visits in progress; `None`: as a search would have it.
    pub window: Option<Window>,
    /// Memory of a rank's table.
    pub mebibytes: usize,
    /// Decides all chance.
    pub seed: u64,
}

/// What a simulated search has come to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What it found.
    pub report: SearchReport,
    /// From the first visit to the report.
    pub time: Duration,
    /// From when half of the visits were done until nine tenths were: neither its beginning, when there is little to be
    /// done at a time, nor its end.
    pub steady_time: Duration,
    /// Positions evaluated.
    pub evaluations: u64,
    /// The same in the steady time.
    pub steady_evaluations: u64,
    /// Messages from one rank to another.
    pub messages: u64,
    /// Packets that these travelled in.
    pub packets: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Share of the time that the thread of the busiest rank was busy, in `[0, 1]`.
    pub hottest: f64,
    /// The same of all ranks, on the average.
    pub mean_busy: f64,
}

impl Outcome {
    /// Evaluations a second in the steady time.
    pub fn rate(&self) -> f64 {
        self.steady_evaluations as f64 / self.steady_time.as_secs_f64().max(1e-9)
    }

    /// The rate, as a share of what evaluators do that never wait.
    pub fn efficiency(&self, settings: &Simulated) -> f64 {
        let mean = settings.evaluation as f64 * (1.0 + settings.jitter / 2.0);
        self.rate() * mean / 1e9 / (settings.ranks * settings.threads) as f64
    }
}

/// What happens at a moment.
enum Event {
    /// A packet has come to a rank.
    Arrives { to: usize, from: usize, packet: Vec<u8> },
    /// An evaluator of a rank has its answer.
    Answers { rank: usize, job: Job },
    /// The thread of a rank has done what it had taken.
    Free { rank: usize },
}

/// Moments in order; those at the same time in the order in which they were made.
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

/// What a rank's thread is to look at.
enum Input {
    Packet(usize, Vec<u8>),
    Answer(Answer),
}

/// A rank's machine.
#[derive(Default)]
struct Machine {
    inbox: VecDeque<Input>,
    /// Jobs that wait for an evaluator.
    desk: VecDeque<Job>,
    evaluating: usize,
    is_busy: bool,
    /// Time that its thread has been busy.
    worked: u64,
    /// When its network card has sent everything.
    card_free: u64,
}

/// What a rank keeps.
struct Store {
    table: NodeTable,
    bias: BiasTable,
    seen: AtomicU32,
}

/// Runs a search of so many visits on a cluster that there is not.
///
/// # Errors
/// If the search is not one by a network.
pub fn simulate<E: Evaluator>(
    settings: &Simulated,
    evaluator: &E,
    params: &SearchParams,
    game: &Game,
    visits: u32,
) -> Result<Outcome, ClusterError> {
    simulate_and_look(settings, evaluator, params, game, visits, &mut |_, _| {})
}

/// The same; in the end shows the table of every rank.
pub(super) fn simulate_and_look<E: Evaluator>(
    settings: &Simulated,
    evaluator: &E,
    params: &SearchParams,
    game: &Game,
    visits: u32,
    look: &mut dyn FnMut(usize, &NodeTable),
) -> Result<Outcome, ClusterError> {
    let Formula::Puct(puct) = params.formula else { return Err(Malformed.into()) };
    let Simulated { ranks, threads, .. } = *settings;
    let is_central = settings.placement.is_central(ranks * threads);
    let score = evaluator.clone().evaluate(&Line::new(game), &mut Rng::new(0), &mut Vec::new()).score_mean;
    let limits = Limits::playouts(visits);
    let now = AtomicU64::new(0);
    let elapsed = || Duration::from_nanos(now.load(Ordering::Relaxed));
    let context = SearchContext::new(&limits, &elapsed, &|| false);
    let begin = Begin {
        game: String::new(),
        is_tree: game.sharing() == Sharing::Tree,
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
            table: NodeTable::new(settings.mebibytes, Storing::Likely),
            bias: BiasTable::new(),
            seen: AtomicU32::new(1),
        })
        .collect();
    let root_home = &stores[home(begin.key, ranks, is_central)].table;
    if let (true, Some(root)) = (evaluator.has_root_priors(), root_home.find_or_insert(begin.key)) {
        give_root_priors(root_home, evaluator, root, game, 1.0);
    }
    let scale = Scale::new(&puct, game.size().area(), score);
    let all = stores
        .iter()
        .enumerate()
        .map(|(rank, store)| {
            let Store { table, bias, seen } = store;
            let valuation = Valuation { table, bias, params: puct, scale };
            let common = Common { table, valuation, begin: &begin, seen, rank, ranks, threads };
            Rank::new(common, game, evaluator.clone())
        })
        .collect();
    let window = settings.window.unwrap_or(Window::for_evaluators(ranks * threads, is_central));
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
    stores.iter().enumerate().for_each(|(rank, store)| look(rank, &store.table));
    Ok(outcome)
}

/// What is counted on the way.
#[derive(Default)]
struct Counts {
    messages: u64,
    packets: u64,
    bytes: u64,
    evaluations: u64,
    /// Time and evaluations when half of the visits were done, and when nine tenths were.
    half: Option<(u64, u64)>,
    most: Option<(u64, u64)>,
}

struct Simulation<'s, E> {
    settings: &'s Simulated,
    ranks: Vec<Rank<'s, E>>,
    stores: &'s [Store],
    machines: Vec<Machine>,
    control: Control<'s>,
    timeline: Timeline,
    now: &'s AtomicU64,
    /// When the last packet from one rank to another arrives: none overtakes it.
    arrivals: HashMap<(usize, usize), u64>,
    rng: Rng,
    line: Line<'s>,
    evaluator: E,
    is_over: bool,
    counts: Counts,
}

impl<E: Evaluator> Simulation<'_, E> {
    fn run(mut self, visits: u32) -> Result<Outcome, ClusterError> {
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
                    let answer = answer(job, &mut self.line, &mut self.evaluator, &mut self.rng);
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
        Ok(Outcome {
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

    /// The thread of a rank looks at all that has come.
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
        self.attend(rank)?;
        while self.machines[rank].desk.len() < self.settings.threads {
            let Some(job) = self.ranks[rank].next_job() else { break };
            self.machines[rank].desk.push_back(job);
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

    /// What rank 0 does besides, and what all do at the end.
    fn attend(&mut self, rank: usize) -> Result<(), ClusterError> {
        let size = self.line.game().size();
        loop {
            while let Some((from, message)) = self.ranks[rank].next_told() {
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
                        self.ranks[rank].settle();
                    }
                    Some(_) => return Err(Malformed.into()),
                }
            }
            if rank != 0 {
                return Ok(());
            }
            self.is_over = self.control.step(&mut self.ranks[0])?;
            if self.is_over || !self.ranks[0].is_told() {
                return Ok(());
            }
        }
    }

    /// Evaluators that have nothing to do take jobs.
    fn begin_evaluations(&mut self, rank: usize, time: u64) {
        while self.machines[rank].evaluating < self.settings.threads {
            let Some(job) = self.machines[rank].desk.pop_front() else { return };
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
