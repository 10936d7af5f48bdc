//! A rank in a search: it stores nodes, sends visits on, and passes their results back.
//!
//! ```text
//!   Visit ─▶ arrive ─▶ advance ─┬─▶ choose ─▶ send_on ─▶ Visit, to the rank of the next node
//!                               └─▶ Job ─▶ (evaluated) ─▶ finish ─▶ Done, to the caller of the visit
//!   Done ─▶ returned ─▶ finish ─▶ Done ─▶ …
//! ```
//!
//! The first line is `visits.rs` and, for selection, `choice.rs`. The second is `jobs.rs`. `task.rs` has the state of
//! visits in progress, and `root.rs` the messages for the control.
//!
//! Nothing here waits, reads a clock or computes an evaluation: messages and results come in, messages and jobs go out.
//! The same code therefore runs over any network, including a simulated one.

mod choice;
mod jobs;
mod node_choice;
mod root;
mod task;
mod visits;

pub(crate) use jobs::{Job, JobResult, evaluate_job};

use super::message::{Begin, Message};
use super::wire::{Wire, Writer};
use jobs::Purpose;
use kosumi_eval::{Evaluator, Prior};
use kosumi_go::board::{Color, Key, Move};
use kosumi_go::game::{Game, Line};
use kosumi_go::rng::mix;
use kosumi_search::counters::Counters;
use kosumi_search::means::Child;
use kosumi_search::node::{Edge, NodeId};
use kosumi_search::root_moves::with_avoided;
use kosumi_search::valuation::Valuation;
use kosumi_search::worker::{Candidate, depth_limit};
use kosumi_search::{NodeTable, Restriction, SearchParams, pruned_moves, scale_without};
use kosumi_sync::atomic::AtomicU32;
use std::collections::{HashMap, VecDeque};
use task::{Task, TaskId};

/// Returns the rank that stores the node of a key.
pub(crate) fn home(key: Key, ranks: usize, is_central: bool) -> usize {
    if is_central {
        return 0;
    }
    // Bits that the tables do not use to find a slot.
    let spread = mix(key.0 as u64) >> 32;
    ((spread * ranks as u64) >> 32) as usize
}

/// Packets to other ranks that are being filled.
#[derive(Debug, Default)]
struct Outbox {
    packets: HashMap<usize, Writer>,
    /// Ranks in the order of their first message.
    order: Vec<usize>,
    messages: u64,
}

/// Parameters of a rank in a search, and references to data that it keeps for the next one.
pub(crate) struct RankContext<'s> {
    pub(crate) table: &'s NodeTable,
    pub(crate) valuation: Valuation<'s>,
    pub(crate) begin: &'s Begin,
    /// Number of board symmetries averaged in the root's priors.
    pub(crate) averaged_symmetries: &'s AtomicU32,
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    /// Number of simultaneous evaluations.
    pub(crate) threads: usize,
}

/// See the [module documentation](self).
pub(crate) struct Rank<'s, E> {
    table: &'s NodeTable,
    valuation: Valuation<'s>,
    begin: &'s Begin,
    params: SearchParams,
    rank: usize,
    ranks: usize,
    threads: usize,
    to_move: Color,
    depth_limit: usize,
    line: Line<'s>,
    evaluator: E,
    /// Moves that must not be searched. On the rank that stores the root, this includes the moves that are left out
    /// there.
    restriction: Restriction,
    pruned: Vec<Move>,
    /// Factor and temperature of the root's probabilities.
    root_scale: f32,
    temperature: f32,
    /// Number of board symmetries averaged in the root's priors, and the largest such number.
    views: (&'s AtomicU32, u32),
    forbidden_visits: u32,
    tasks: Vec<Option<Task>>,
    free: Vec<TaskId>,
    /// Visits that wait for the evaluation of a node, by node.
    waiting: HashMap<NodeId, Vec<(TaskId, u32)>>,
    jobs: VecDeque<Job>,
    /// Jobs that other ranks process, by number.
    lent: HashMap<u32, Job>,
    next_lent: u32,
    busy: Vec<u32>,
    /// Number of jobs that this rank's evaluators are processing or have queued.
    begun: u32,
    local: VecDeque<Message>,
    outbox: Outbox,
    /// Messages for the control.
    control_messages: VecDeque<(usize, Message)>,
    is_stopping: bool,
    pub(crate) counters: Counters,
    children: Vec<Child>,
    visited: Vec<Candidate<usize>>,
    moves: Vec<(Move, Prior)>,
}

impl<'s, E: Evaluator> Rank<'s, E> {
    pub(crate) fn new(common: RankContext<'s>, game: &'s Game, evaluator: E) -> Rank<'s, E> {
        let RankContext { table, valuation, begin, averaged_symmetries, rank, ranks, threads } = common;
        let views = (averaged_symmetries, evaluator.root_views(game.size()));
        let mut this = Rank {
            table,
            valuation,
            begin,
            params: begin.params,
            rank,
            ranks,
            threads,
            to_move: game.to_move(),
            depth_limit: depth_limit(game),
            line: Line::new(game),
            evaluator,
            restriction: begin.restriction.clone(),
            pruned: Vec::new(),
            root_scale: 1.0,
            temperature: begin.params.root_temperature(game),
            views,
            forbidden_visits: 0,
            tasks: Vec::new(),
            free: Vec::new(),
            waiting: HashMap::new(),
            jobs: VecDeque::new(),
            lent: HashMap::new(),
            next_lent: 0,
            busy: vec![0; ranks],
            begun: 0,
            local: VecDeque::new(),
            outbox: Outbox::default(),
            control_messages: VecDeque::new(),
            is_stopping: false,
            counters: Counters::default(),
            children: Vec::new(),
            visited: Vec::new(),
            moves: Vec::new(),
        };
        if this.home_of_root() == rank
            && let Some(root) = table.find_or_insert(begin.key)
        {
            if begin.for_play {
                let (params, restriction) = (&begin.params.root, &begin.restriction);
                this.pruned = pruned_moves(table, &this.evaluator, root, game, params, restriction);
                this.root_scale = scale_without(table, root, &this.pruned);
                this.restriction = with_avoided(restriction, this.to_move, this.pruned.clone());
            }
            let root = table.node(root);
            root.allow_any_order();
            // `Search` does this for all reachable nodes: the root counts even if it has not been evaluated.
            this.valuation.measure(root);
            let edges = table.all_edges(root).iter();
            let forbidden = edges.filter(|edge| !this.restriction.permits(this.to_move, edge.mv(), 0));
            this.forbidden_visits = forbidden.map(Edge::visits).sum();
        }
        this
    }

    pub(crate) fn rank_of(&self, key: Key) -> usize {
        home(key, self.ranks, self.begin.is_central)
    }

    /// Returns the number of this rank.
    pub(crate) fn number(&self) -> usize {
        self.rank
    }

    /// Returns the rank that stores the root.
    pub(crate) fn home_of_root(&self) -> usize {
        self.rank_of(self.begin.key)
    }

    /// Queues a message for a rank, which may be this one.
    pub(crate) fn post(&mut self, to: usize, message: Message) {
        if to == self.rank {
            self.local.push_back(message);
            return;
        }
        let Outbox { packets, order, messages } = &mut self.outbox;
        let packet = packets.entry(to).or_insert_with(|| {
            order.push(to);
            Writer::default()
        });
        message.write(packet);
        *messages += 1;
    }

    /// Takes the packets to be sent, and returns the number of messages in them as well.
    pub(crate) fn take_packets(&mut self) -> (Vec<(usize, Vec<u8>)>, u64) {
        let Outbox { mut packets, order, messages } = std::mem::take(&mut self.outbox);
        let filled = order.into_iter().filter_map(|to| Some((to, packets.remove(&to)?.into_bytes())));
        (filled.collect(), messages)
    }

    /// Takes the next message for the control, with the rank that sent it.
    pub(crate) fn next_control_message(&mut self) -> Option<(usize, Message)> {
        self.control_messages.pop_front()
    }

    #[cfg(test)]
    /// Returns whether there is a message for the control.
    pub(crate) fn has_control_message(&self) -> bool {
        !self.control_messages.is_empty()
    }

    /// Returns whether the search is being stopped.
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    /// Returns whether this rank has received the end of the search.
    pub(crate) fn has_received_end(&self) -> bool {
        self.control_messages.iter().any(|(_, message)| matches!(message, Message::End))
    }

    /// Takes back a job that no evaluator has begun, because the search is being stopped.
    pub(crate) fn take_back(&mut self, job: Job) {
        self.begun -= 1;
        self.give_up(job);
        self.process_local();
    }

    /// Returns a job. Its result must go to [`Rank::evaluated`], or the job must be taken back.
    pub(crate) fn next_job(&mut self) -> Option<Job> {
        let job = self.jobs.pop_front()?;
        self.begun += 1;
        Some(job)
    }

    /// Processes a message from another rank, with everything that follows from it here.
    pub(crate) fn receive(&mut self, from: usize, message: Message) {
        self.take(from, message);
        self.process_local();
    }

    /// Processes the messages that this rank has sent to itself.
    pub(crate) fn process_local(&mut self) {
        while let Some(message) = self.local.pop_front() {
            self.take(self.rank, message);
        }
        self.distribute_jobs();
    }

    fn take(&mut self, from: usize, message: Message) {
        match message {
            Message::Visit(visit) => self.arrive(visit),
            Message::Done(done) => self.returned(from, &done),
            Message::Beyond { task, edge, count, evaluation } => {
                self.finish_edge(from, task, edge, count);
                self.count_evaluation(task, count, &evaluation);
            }
            Message::Evaluate { job, moves } => {
                self.request(Job { purpose: Purpose::Foreign { rank: from, job }, moves });
            }
            Message::Evaluated { job, assessment } => {
                self.busy[from] = self.busy[from].saturating_sub(1);
                if let Some(job) = self.lent.remove(&job) {
                    self.answered(JobResult { job, assessment });
                }
            }
            Message::Stop => self.stop(),
            Message::Ping => self.post(from, Message::Pong),
            Message::Show => self.show(),
            Message::Follow { slot, key, steps } => self.follow(slot, key, steps),
            other => self.control_messages.push_back((from, other)),
        }
    }

    /// Processes the result of a job of this rank, with everything that follows from it here.
    pub(crate) fn evaluated(&mut self, answer: JobResult) {
        self.begun -= 1;
        self.answered(answer);
        self.process_local();
    }

    /// Returns the side to move after `depth` moves.
    fn turn(&self, depth: usize) -> Color {
        if depth.is_multiple_of(2) { self.to_move } else { self.to_move.opponent() }
    }
}
