//! What one rank does in a search: it keeps nodes, sends visits on, and passes on what has become of them.
//!
//! ```text
//!   Visit ─▶ arrive ─▶ advance ─┬─▶ choose ─▶ send_on ─▶ Visit, to where the next node lives
//!                               └─▶ Job ─▶ (evaluated) ─▶ finish ─▶ Done, to where the visit came from
//!   Done ─▶ returned ─▶ finish ─▶ Done ─▶ …
//! ```
//!
//! Nothing here waits, reads a clock or computes an evaluation: messages and answers come in, messages and jobs go out. So
//! the same code runs over any network, and over a simulated one.

use super::here::Here;
use super::message::{Assessment, Begin, CONTROL, Caller, Done, EdgeView, Message, Path, RootDone, Visit};
use super::wire::{Wire, Writer};
use crate::board::{Color, Key, Move};
use crate::eval::{Evaluation, Evaluator, Prior};
use crate::game::{Game, Line};
use crate::rng::{Rng, mix};
use crate::search::bias::{BiasTable, Kind};
use crate::search::means::Child;
use crate::search::node::{Edge, Node, NodeId, Results};
use crate::search::root_moves::without;
use crate::search::select::MoveStats;
use crate::search::stop::best_two;
use crate::search::valuation::Valuation;
use crate::search::worker::{
    Counters, EARLY_EXPANSION_FULLNESS, depth_limit, may_be_seen_again, see_root_again,
};
use crate::search::{Formula, NodeTable, Restriction, SearchParams, pruned_moves, scale_without};
use crate::sync::atomic::AtomicU32;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// Which rank keeps the node of a key.
pub(crate) fn home(key: Key, ranks: usize, is_central: bool) -> usize {
    if is_central {
        return 0;
    }
    // Not the bits by which a table finds its slots.
    let spread = mix(key.0 as u64) >> 32;
    ((spread * ranks as u64) >> 32) as usize
}

/// Number of a task of this rank.
type TaskId = u32;

/// Visits that have arrived at a node by one way, and what has become of them.
#[derive(Debug)]
struct Task {
    node: NodeId,
    path: Path,
    caller: Caller,
    /// How many arrived.
    count: u32,
    /// How many of them have not come to an end.
    left: u32,
    /// Ends that the caller has not been told of.
    ends: Ends,
}

/// What has become of some visits.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    done: u32,
    cancelled: u32,
    results: Results,
}

impl Ends {
    fn cancelled(count: u32) -> Ends {
        Ends { cancelled: count, ..Ends::default() }
    }

    fn all(&self) -> u32 {
        self.done + self.cancelled
    }
}

/// What an evaluation is for.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Purpose {
    /// The node of a task. It counts for so many visits. Others may wait for it.
    Node { task: TaskId, count: u32, others_wait: bool },
    /// The position after an edge of a task, which has no node since the table is full.
    Below { task: TaskId, count: u32 },
    /// The same, of another rank's task.
    Beyond { caller: Caller, count: u32 },
    /// Another rank keeps the node.
    Foreign { rank: usize, job: u32 },
}

/// A position that is to be evaluated.
#[derive(Debug)]
pub(crate) struct Job {
    purpose: Purpose,
    /// The way from the root.
    pub(crate) moves: Vec<Move>,
}

/// What came of a job: nothing if it was given up, or if a move is illegal.
#[derive(Debug)]
pub(crate) struct Answer {
    job: Job,
    assessment: Option<Assessment>,
}

/// Computes what a job asks for.
pub(crate) fn answer<E: Evaluator>(
    job: Job,
    line: &mut Line<'_>,
    evaluator: &mut E,
    rng: &mut Rng,
) -> Answer {
    let assessment = walk(line, &job.moves).then(|| {
        let mut moves = Vec::new();
        let evaluation = evaluator.evaluate(line, rng, &mut moves);
        Assessment { evaluation, moves }
    });
    Answer { job, assessment }
}

/// Plays these moves from the root on; false if one is illegal. The set of banned points is part of a node's key, so it
/// never is, unless two keys collide.
fn walk(line: &mut Line<'_>, moves: &[Move]) -> bool {
    line.reset();
    moves.iter().all(|&mv| {
        let is_legal = mv.point().is_none_or(|point| line.check(point).is_ok());
        if is_legal {
            line.play(mv);
        }
        is_legal
    })
}

/// Packets to other ranks that are being filled.
#[derive(Debug, Default)]
struct Outbox {
    packets: HashMap<usize, Writer>,
    /// The ranks in the order in which they were first written to.
    order: Vec<usize>,
    messages: u64,
}

/// What a rank is told of a search, and keeps for the next one.
pub(crate) struct Common<'s> {
    pub(crate) table: &'s NodeTable,
    pub(crate) valuation: Valuation<'s>,
    pub(crate) begin: &'s Begin,
    /// From how many sides the root has been seen.
    pub(crate) seen: &'s AtomicU32,
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    /// Evaluations at a time.
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
    /// Moves that are not to be searched: on the rank that keeps the root, also those that are left out there.
    restriction: Restriction,
    pruned: Vec<Move>,
    /// What the probabilities of the root's moves are multiplied by, and the temperature they have.
    root_scale: f32,
    temperature: f32,
    /// From how many sides the root has been seen, and can be.
    views: (&'s AtomicU32, u32),
    forbidden_visits: u32,
    tasks: Vec<Option<Task>>,
    free: Vec<TaskId>,
    /// Nodes that are being evaluated, and the visits that wait for it.
    waiting: HashMap<NodeId, Vec<(TaskId, u32)>>,
    jobs: VecDeque<Job>,
    /// Jobs that other ranks do, and how many each of them has.
    lent: HashMap<u32, Job>,
    next_lent: u32,
    busy: Vec<u32>,
    /// Jobs that this rank's evaluators have, or that lie before them.
    begun: u32,
    local: VecDeque<Message>,
    outbox: Outbox,
    /// What the control is told.
    told: VecDeque<(usize, Message)>,
    is_stopping: bool,
    pub(crate) counters: Counters,
    children: Vec<Child>,
    visited: Vec<(usize, MoveStats)>,
    moves: Vec<(Move, Prior)>,
}

/// An entry of the moves among which is chosen: the most urgent first, of equals that with the smallest order.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Urgent {
    urgency: f32,
    order: Reverse<u16>,
    place: usize,
    stats: MoveStats,
}

impl Eq for Urgent {}

impl Ord for Urgent {
    fn cmp(&self, other: &Urgent) -> Ordering {
        self.urgency.total_cmp(&other.urgency).then(self.order.cmp(&other.order))
    }
}

impl PartialOrd for Urgent {
    fn partial_cmp(&self, other: &Urgent) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'s, E: Evaluator> Rank<'s, E> {
    pub(crate) fn new(common: Common<'s>, game: &'s Game, evaluator: E) -> Rank<'s, E> {
        let Common { table, valuation, begin, seen, rank, ranks, threads } = common;
        let views = (seen, evaluator.root_views(game.size()));
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
            told: VecDeque::new(),
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
                this.restriction = without(restriction, this.to_move, this.pruned.clone());
            }
            let root = table.node(root);
            root.leave_order();
            // As `Search` does for all that can be reached: a root counts even where it has not been evaluated.
            this.valuation.measure(root);
            let edges = table.all_edges(root).iter();
            let forbidden = edges.filter(|edge| !this.restriction.permits(this.to_move, edge.mv(), 0));
            this.forbidden_visits = forbidden.map(Edge::visits).sum();
        }
        this
    }

    pub(crate) fn home_of(&self, key: Key) -> usize {
        home(key, self.ranks, self.begin.is_central)
    }

    /// This rank.
    pub(crate) fn number(&self) -> usize {
        self.rank
    }

    /// The rank that keeps the root.
    pub(crate) fn home_of_root(&self) -> usize {
        self.home_of(self.begin.key)
    }

    /// Sends a message, if need be to this rank itself.
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

    /// Takes the packets that are to be sent, and says how many messages are in them.
    pub(crate) fn take_packets(&mut self) -> (Vec<(usize, Vec<u8>)>, u64) {
        let Outbox { mut packets, order, messages } = std::mem::take(&mut self.outbox);
        let filled = order.into_iter().filter_map(|to| Some((to, packets.remove(&to)?.into_bytes())));
        (filled.collect(), messages)
    }

    /// Takes what the control is told, and by whom.
    pub(crate) fn next_told(&mut self) -> Option<(usize, Message)> {
        self.told.pop_front()
    }

    /// Is there something to tell the control?
    pub(crate) fn is_told(&self) -> bool {
        !self.told.is_empty()
    }

    /// Is the search being given up?
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    /// Has this rank been told that the search is over?
    pub(crate) fn is_told_the_end(&self) -> bool {
        self.told.iter().any(|(_, message)| matches!(message, Message::End))
    }

    /// Takes a job back that nobody has begun, because the search is being given up.
    pub(crate) fn take_back(&mut self, job: Job) {
        self.begun -= 1;
        self.give_up(job);
        self.settle();
    }

    /// Takes a job; its answer goes to [`Rank::evaluated`], or it is taken back.
    pub(crate) fn next_job(&mut self) -> Option<Job> {
        let job = self.jobs.pop_front()?;
        self.begun += 1;
        Some(job)
    }

    /// Takes a message that has come from another rank, and does all that follows from it here.
    pub(crate) fn receive(&mut self, from: usize, message: Message) {
        self.take(from, message);
        self.settle();
    }

    /// Does what this rank has told itself to do.
    pub(crate) fn settle(&mut self) {
        while let Some(message) = self.local.pop_front() {
            self.take(self.rank, message);
        }
        self.lend();
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
                let purpose = Purpose::Foreign { rank: from, job };
                if self.is_stopping {
                    self.give_up(Job { purpose, moves });
                } else {
                    self.jobs.push_back(Job { purpose, moves });
                }
            }
            Message::Evaluated { job, assessment } => {
                self.busy[from] = self.busy[from].saturating_sub(1);
                if let Some(job) = self.lent.remove(&job) {
                    self.answered(Answer { job, assessment });
                }
            }
            Message::Stop => self.stop(),
            Message::Ping => self.post(from, Message::Pong),
            Message::Show => self.show(),
            Message::Follow { slot, key, steps } => self.follow(slot, key, steps),
            other => self.told.push_back((from, other)),
        }
    }

    /// Takes the answer to a job of this rank, and does all that follows from it here.
    pub(crate) fn evaluated(&mut self, answer: Answer) {
        self.begun -= 1;
        self.answered(answer);
        self.settle();
    }

    fn new_task(&mut self, task: Task) -> TaskId {
        match self.free.pop() {
            Some(id) => {
                self.tasks[id as usize] = Some(task);
                id
            }
            None => {
                self.tasks.push(Some(task));
                self.tasks.len() as TaskId - 1
            }
        }
    }

    /// A task; `None` if what came names one that is not there, which no rank of this version does.
    fn task(&mut self, id: TaskId) -> Option<&mut Task> {
        self.tasks.get_mut(id as usize)?.as_mut()
    }

    /// Whose turn it is after so many moves.
    fn turn(&self, depth: usize) -> Color {
        if depth.is_multiple_of(2) { self.to_move } else { self.to_move.opponent() }
    }

    /// Visits come to a node of this rank.
    fn arrive(&mut self, visit: Visit) {
        let Visit { caller, count, key, kind, is_new, path } = visit;
        let before = self.table.node_count();
        let Some(node) = self.table.find_or_insert(key) else {
            let purpose = Purpose::Beyond { caller, count };
            self.request(Job { purpose, moves: path.moves });
            return;
        };
        if is_new && (node as usize) < before && caller.rank as usize != self.rank {
            self.counters.transpositions += 1;
        }
        BiasTable::tie(self.table.node(node), kind.map(Kind::of_number));
        self.table.node(node).begin_visits(count);
        let has_been_here = path.has(key);
        let task = self.new_task(Task { node, path, caller, count, left: count, ends: Ends::default() });
        if has_been_here {
            // The descent came round to a node of its own path: nothing new was learned, but the visits count, so that
            // the next ones go elsewhere.
            self.end_without_evaluation(task, count);
        } else {
            self.advance(task, count);
        }
    }

    /// Visits end at a node without having learned anything.
    fn end_without_evaluation(&mut self, id: TaskId, count: u32) {
        let Some((node, depth)) = self.task(id).map(|task| (task.node, task.path.moves.len())) else {
            return;
        };
        let known = self.table.node(node);
        self.counters.depth = self.counters.depth.max(depth as u32);
        let results = Results::of(known.score(), known.mean_square()).times(count);
        self.counters.cycles += count;
        self.finish(id, Ends { done: count, cancelled: 0, results });
    }

    /// Visits go on from the node of their task.
    fn advance(&mut self, id: TaskId, count: u32) {
        if self.is_stopping {
            return self.finish(id, Ends::cancelled(count));
        }
        let Some(task) = self.tasks.get(id as usize).and_then(Option::as_ref) else { return };
        let (table, depth) = (self.table, task.path.moves.len());
        let node = table.node(task.node);
        // Two passes end a line, and the last move tells whether that may be.
        let may_be_over = task.path.moves.last() == Some(&Move::Pass);
        if depth >= self.depth_limit {
            return self.evaluate_node(id, count, count);
        }
        if table.all_edges(node).is_empty() || may_be_over {
            let is_known = node.own_visits() >= self.params.expand_after || depth == 0;
            if !is_known {
                return self.evaluate_node(id, 1, count);
            }
            if !walk(&mut self.line, &task.path.moves) {
                return self.end_without_evaluation(id, count);
            }
            if self.line.passes() >= 2 && depth > 0 {
                return self.evaluate_node(id, count, count);
            }
            if table.all_edges(node).is_empty() {
                let (line, evaluator, moves) = (&self.line, &mut self.evaluator, &mut self.moves);
                table.expand(task.node, true, || {
                    moves.clear();
                    evaluator.expand(line, moves);
                    moves
                });
            }
        }
        let chosen = self.choose(node, depth, count);
        if chosen.is_empty() {
            return self.evaluate_node(id, count, count);
        }
        for (edge, count) in chosen {
            self.send_on(id, edge, count);
        }
    }

    /// Has the node of a task evaluated, for `used` of the visits. Those who come meanwhile wait, since they would not know
    /// where to go.
    fn evaluate_node(&mut self, id: TaskId, used: u32, count: u32) {
        let Some(task) = self.tasks.get(id as usize).and_then(Option::as_ref) else { return };
        // Where all visits are used, there is nothing to wait for.
        let others_wait =
            used < count || (used == 1 && self.table.all_edges(self.table.node(task.node)).is_empty());
        let moves = task.path.moves.clone();
        if others_wait {
            let waiting = self.waiting.entry(task.node);
            let is_first = matches!(waiting, std::collections::hash_map::Entry::Vacant(_));
            let waiting = waiting.or_default();
            if !is_first {
                waiting.push((id, count));
                return;
            }
            if count > used {
                waiting.push((id, count - used));
            }
        }
        self.request(Job { purpose: Purpose::Node { task: id, count: used, others_wait }, moves });
    }

    fn request(&mut self, job: Job) {
        if self.is_stopping { self.give_up(job) } else { self.jobs.push_back(job) }
    }

    fn give_up(&mut self, job: Job) {
        match job.purpose {
            Purpose::Node { task, count, others_wait } => {
                let node = self.task(task).map(|task| task.node);
                self.finish(task, Ends::cancelled(count));
                if let Some(node) = node.filter(|_| others_wait) {
                    self.let_go(node);
                }
            }
            Purpose::Below { task, count } => self.finish(task, Ends::cancelled(count)),
            Purpose::Beyond { caller, count } => self.tell_cancelled(caller, count),
            Purpose::Foreign { rank, job } => {
                self.post(rank, Message::Evaluated { job, assessment: None });
            }
        }
    }

    /// A visit to a position without node is given up.
    fn tell_cancelled(&mut self, caller: Caller, count: u32) {
        let Caller { rank, task, edge } = caller;
        let (results, face) = Default::default();
        self.post(
            rank as usize,
            Message::Done(Done { task, edge, done: 0, cancelled: count, results, face }),
        );
    }

    /// The visits that waited for the node of a task go on. If the search is stopping, they are given up.
    fn let_go(&mut self, node: NodeId) {
        for (task, count) in self.waiting.remove(&node).unwrap_or_default() {
            self.advance(task, count);
        }
    }

    /// The places of the edges by which so many visits go on, with how many go by each, in the order in which they were
    /// chosen. Every one of them is chosen as a search chooses, all before being descents in progress.
    fn choose(&mut self, node: &Node, depth: usize, count: u32) -> Vec<(usize, u32)> {
        let Formula::Puct(params) = &self.params.formula else { return Vec::new() };
        if self.restriction.applies_at(depth) {
            node.leave_order();
        }
        let edges = self.table.all_edges(node);
        let scale = if depth == 0 { self.root_scale } else { 1.0 };
        let here = Here {
            table: self.table,
            node,
            edges,
            color: self.turn(depth),
            depth,
            restriction: &self.restriction,
            scale,
            virtual_losses: self.params.virtual_losses,
        };
        let (puct, mut fresh) = here.look(params, &mut self.visited);
        let urgent = |place: usize, stats: MoveStats| {
            let urgency = puct.urgency(&stats, scale * edges[place].prior().probability());
            Urgent { urgency, order: Reverse(edges[place].order()), place, stats }
        };
        let mut known: BinaryHeap<Urgent> =
            self.visited.iter().map(|&(place, stats)| urgent(place, stats)).collect();
        let mut chosen: Vec<(usize, u32)> = Vec::new();
        for _ in 0..count {
            let new = fresh.map(|(place, _)| urgent(place, MoveStats::default()));
            let best = match (known.peek().copied(), new) {
                (Some(old), Some(new)) if new.urgency > old.urgency => new,
                (None, Some(new)) => new,
                (Some(old), _) => old,
                (None, None) => return chosen,
            };
            let place = best.place;
            if new.is_some_and(|new| new.place == best.place) {
                chosen.push((place, 0));
                fresh = next_fresh(&here, &self.visited, &chosen);
            } else {
                known.pop();
            }
            let (busy, lost) = (best.stats.busy + 1.0, best.stats.lost + self.params.virtual_losses);
            known.push(urgent(place, MoveStats { busy, lost, ..best.stats }));
            match chosen.iter_mut().find(|(it, _)| *it == place) {
                Some((_, count)) => *count += 1,
                None => chosen.push((place, 1)),
            }
        }
        chosen
    }

    /// Sends visits from the node of a task by an edge to where the next node lives.
    fn send_on(&mut self, id: TaskId, place: usize, count: u32) {
        let Some(task) = self.tasks.get(id as usize).and_then(Option::as_ref) else { return };
        let (table, depth) = (self.table, task.path.moves.len());
        let node = table.node(task.node);
        let edge = &table.all_edges(node)[place];
        let mv = edge.mv();
        let path = task.path.and(node.key(), mv);
        let (child, kind, is_new) = match edge.child() {
            Some(child) => (child, None, false),
            None => {
                let is_legal = walk(&mut self.line, &task.path.moves)
                    && mv.point().is_none_or(|point| self.line.check(point).is_ok());
                if !is_legal {
                    return self.end_without_evaluation(id, count);
                }
                let kind = self.kind(self.turn(depth), mv);
                self.line.play(mv);
                let before = table.node_count();
                let Some(child) = table.find_or_insert(self.line.graph_key()) else {
                    // The table is full: the evaluation of the position after this move counts for the node before it.
                    let purpose = Purpose::Below { task: id, count };
                    return self.request(Job { purpose, moves: path.moves });
                };
                edge.set_child(Some(child));
                if (child as usize) < before && self.home_of(self.line.graph_key()) == self.rank {
                    self.counters.transpositions += 1;
                }
                (child, kind, true)
            }
        };
        let key = table.node(child).key();
        let home = self.home_of(key);
        if home != self.rank {
            // What stands for the node here; the node itself counts what arrives.
            table.node(child).begin_visits(count);
        }
        let caller = Caller { rank: self.rank as u32, task: id, edge: place as u16 };
        self.post(home, Message::Visit(Visit { caller, count, key, kind, is_new, path }));
    }

    /// The kind of a move in the position of the line, if that matters.
    fn kind(&self, color: Color, mv: Move) -> Option<u32> {
        if self.valuation.params.subtree_value_bias_factor <= 0.0 {
            return None;
        }
        Kind::of(self.line.board(), color, mv, self.line.last_moves()[0]).map(Kind::number)
    }

    fn answered(&mut self, answer: Answer) {
        let Answer { job, assessment } = answer;
        if let Purpose::Foreign { rank, job } = job.purpose {
            return self.post(rank, Message::Evaluated { job, assessment });
        }
        let Some(Assessment { evaluation, moves }) = assessment else {
            return self.give_up_for_good(job);
        };
        match job.purpose {
            Purpose::Node { task, count, others_wait } => {
                let Some(node) = self.task(task).map(|task| task.node) else { return };
                let ends = self.note_evaluation(task, count, &evaluation);
                if !moves.is_empty() && self.table.usage().fullness() < EARLY_EXPANSION_FULLNESS {
                    self.table.expand(node, true, || &moves);
                }
                self.finish(task, ends);
                if others_wait {
                    self.let_go(node);
                }
            }
            Purpose::Below { task, count } => self.count_evaluation(task, count, &evaluation),
            Purpose::Beyond { caller, count } => {
                let Caller { rank, task, edge } = caller;
                self.post(rank as usize, Message::Beyond { task, edge, count, evaluation });
            }
            Purpose::Foreign { .. } => {}
        }
    }

    /// There is no answer to a job: the search is being stopped, or a move is illegal, which takes a collision of keys.
    fn give_up_for_good(&mut self, job: Job) {
        if self.is_stopping {
            return self.give_up(job);
        }
        match job.purpose {
            Purpose::Node { task, count, others_wait } => {
                let node = self.task(task).map(|task| task.node);
                self.end_without_evaluation(task, count);
                let waiting =
                    if others_wait { node.and_then(|node| self.waiting.remove(&node)) } else { None };
                for (task, count) in waiting.unwrap_or_default() {
                    self.end_without_evaluation(task, count);
                }
            }
            Purpose::Below { task, count } => self.end_without_evaluation(task, count),
            Purpose::Beyond { caller, count } => self.tell_cancelled(caller, count),
            Purpose::Foreign { .. } => {}
        }
    }

    /// Counts an evaluation, so many times, for the node of a task.
    fn note_evaluation(&mut self, id: TaskId, count: u32, evaluation: &Evaluation) -> Ends {
        let Some((node, depth)) = self.task(id).map(|task| (task.node, task.path.moves.len())) else {
            return Ends::default();
        };
        let turn = self.turn(depth);
        self.counters.depth = self.counters.depth.max(depth as u32);
        let node = self.table.node(node);
        let results = Results::of(evaluation.score, evaluation.value * evaluation.value).times(count);
        for _ in 0..count {
            self.counters.add_score(evaluation.score);
            self.valuation.evaluated(node, turn, evaluation, &mut self.children);
        }
        node.add_results(&results);
        Ends { done: count, cancelled: 0, results }
    }

    /// The same, and the visits are done.
    fn count_evaluation(&mut self, id: TaskId, count: u32, evaluation: &Evaluation) {
        let ends = self.note_evaluation(id, count, evaluation);
        self.finish(id, ends);
    }

    /// Visits of a task have come to their end. Who sent them is told when it is a good part of all, so that many visits
    /// that went the same way come back in few messages.
    fn finish(&mut self, id: TaskId, ends: Ends) {
        let Some(task) = self.task(id) else { return };
        task.left -= ends.all().min(task.left);
        task.ends.done += ends.done;
        task.ends.cancelled += ends.cancelled;
        task.ends.results.add(&ends.results);
        let is_over = task.left == 0;
        if !is_over && task.ends.all() * REPORTS < task.count {
            return;
        }
        let (node, caller, ends) = (task.node, task.caller, std::mem::take(&mut task.ends));
        if is_over {
            self.tasks[id as usize] = None;
            self.free.push(id);
        }
        let node = self.table.node(node);
        node.finish_visits(ends.all());
        let Ends { done, cancelled, results } = ends;
        let message = if caller.task == CONTROL {
            self.counters.playouts += done;
            Message::RootDone(self.root_done(node, done, cancelled))
        } else {
            let Caller { task, edge, .. } = caller;
            Message::Done(Done { task, edge, done, cancelled, results, face: node.face() })
        };
        self.post(caller.rank as usize, message);
    }

    fn root_done(&self, root: &Node, done: u32, cancelled: u32) -> RootDone {
        let edges = self.table.all_edges(root).iter();
        let permitted = edges.filter(|edge| self.restriction.permits(self.to_move, edge.mv(), 0));
        let best_two = best_two(permitted.map(|edge| edge.visits()));
        let visits = root.visits().saturating_sub(self.forbidden_visits);
        RootDone { done, cancelled, visits, best_two }
    }

    /// Visits that have left by an edge to another rank are in progress there no more.
    fn finish_edge(&mut self, from: usize, task: TaskId, place: u16, count: u32) {
        if from == self.rank {
            return;
        }
        let Some(node) = self.task(task).map(|task| task.node) else { return };
        let edge = self.table.all_edges(self.table.node(node)).get(usize::from(place));
        if let Some(child) = edge.and_then(Edge::child) {
            self.table.node(child).finish_visits(count);
        }
    }

    /// Visits that were sent on have come back.
    fn returned(&mut self, from: usize, it: &Done) {
        let Some((node, depth)) = self.task(it.task).map(|task| (task.node, task.path.moves.len())) else {
            return;
        };
        self.finish_edge(from, it.task, it.edge, it.done + it.cancelled);
        let (table, turn) = (self.table, self.turn(depth));
        let node = table.node(node);
        let Some(edge) = table.all_edges(node).get(usize::from(it.edge)) else { return };
        if it.done > 0 {
            if let Some(child) = edge.child().filter(|_| from != self.rank) {
                table.node(child).set_face(&it.face);
            }
            node.count_visits(edge, it.done);
            node.add_results(&it.results);
            self.valuation.refresh(node, turn, &mut self.children);
        }
        self.finish(it.task, Ends { done: it.done, cancelled: it.cancelled, results: it.results });
        if depth == 0 {
            self.see_root_again();
        }
    }

    fn see_root_again(&mut self) {
        let (seen, most) = self.views;
        let Some(root) = self.table.find(self.begin.key) else { return };
        if may_be_seen_again(self.table.node(root), seen, most) {
            self.line.reset();
            see_root_again(
                self.table,
                root,
                &self.line,
                &mut self.evaluator,
                (seen, most),
                self.temperature,
                &mut self.moves,
            );
        }
    }

    /// Gives up all evaluations that have not begun, and with them the visits that wait for them.
    fn stop(&mut self) {
        self.is_stopping = true;
        for job in std::mem::take(&mut self.jobs) {
            self.give_up(job);
        }
    }

    /// Where one rank keeps all nodes, gives jobs to the others: each to the rank that has the fewest, this one included.
    fn lend(&mut self) {
        if !self.begin.is_central || self.rank != 0 || self.ranks == 1 {
            return;
        }
        // One for each processor, and one more that waits there, so that none waits for a message.
        let most = 2 * self.threads as u32;
        loop {
            let here = self.begun + self.jobs.len() as u32;
            let free = (1..self.ranks).min_by_key(|&rank| self.busy[rank]);
            // A job that is at hand here is not sent away for nothing.
            let Some(rank) = free.filter(|&rank| self.busy[rank] < most.min(here.saturating_sub(1))) else {
                return;
            };
            let Some(job) = self.jobs.pop_front() else { return };
            let number = self.next_lent;
            self.next_lent = self.next_lent.wrapping_add(1);
            self.busy[rank] += 1;
            self.post(rank, Message::Evaluate { job: number, moves: job.moves.clone() });
            self.lent.insert(number, job);
        }
    }

    /// Shows the root to the control.
    fn show(&mut self) {
        let Some(root) = self.table.find(self.begin.key) else {
            let (face, edges, pruned) = Default::default();
            return self.post(0, Message::Shown { face, edges, pruned, scale: 1.0 });
        };
        let root = self.table.node(root);
        let edges = self.table.all_edges(root).iter().map(|edge| self.view(edge)).collect();
        let (pruned, scale) = (self.pruned.clone(), self.root_scale);
        self.post(0, Message::Shown { face: root.face(), edges, pruned, scale });
    }

    fn view(&self, edge: &Edge) -> EdgeView {
        let child = edge.child().map(|child| self.table.node(child));
        EdgeView {
            mv: edge.mv(),
            prior: edge.prior(),
            visits: edge.visits(),
            child: child.map(|child| (child.key(), child.face())),
        }
    }

    /// Adds the most visited move of a node, and has the rank of the next node go on.
    fn follow(&mut self, slot: u16, key: Key, mut steps: Vec<EdgeView>) {
        let node = self.table.find(key).map(|node| self.table.node(node));
        let edges = node.map_or(&[][..], |node| self.table.all_edges(node));
        let best =
            edges.iter().max_by_key(|edge| (edge.visits(), edge.order())).filter(|edge| edge.visits() > 0);
        let step = best.map(|edge| self.view(edge));
        match step {
            Some(EdgeView { child: Some((key, _)), .. }) if steps.len() < LONGEST_VARIATION => {
                steps.extend(step);
                self.post(self.home_of(key), Message::Follow { slot, key, steps });
            }
            _ => self.post(0, Message::Followed { slot, steps }),
        }
    }
}

/// In about so many parts, visits that were sent together come back.
const REPORTS: u32 = 4;

/// Longest variation of a report, so that a cycle does no harm.
const LONGEST_VARIATION: usize = 40;

/// Of the moves of which nothing is known and that have not been chosen, the likeliest.
fn next_fresh(
    here: &Here<'_>,
    visited: &[(usize, MoveStats)],
    chosen: &[(usize, u32)],
) -> Option<(usize, f32)> {
    let is_restricted = here.restriction.applies_at(here.depth);
    let mut best: Option<(usize, f32)> = None;
    for (place, edge) in here.edges.iter().enumerate() {
        let probability = edge.prior().probability();
        if best.is_some_and(|(_, most)| probability <= most)
            || (is_restricted && !here.restriction.permits(here.color, edge.mv(), here.depth))
            || visited.binary_search_by_key(&place, |&(place, _)| place).is_ok()
            || chosen.iter().any(|&(it, _)| it == place)
        {
            continue;
        }
        best = Some((place, probability));
    }
    best
}
