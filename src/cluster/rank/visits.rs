//! Visits in a rank: they arrive at a node, continue or end there, and return.

use super::Rank;
use super::jobs::{Job, Purpose, play_moves};
use super::task::{Task, TaskId, VisitEnds};
use crate::message::{CONTROL, Message, ReplyTo, Visit, VisitResults};
use kosumi_eval::{Evaluation, Evaluator};
use kosumi_go::board::{Color, Move};
use kosumi_search::bias::{BiasTable, Kind};
use kosumi_search::node::Edge;

/// Approximate number of parts in which visits that were sent together return.
const REPORTS: u32 = 4;

impl<E: Evaluator> Rank<'_, E> {
    /// Processes visits that arrive at a node of this rank.
    pub(super) fn arrive(&mut self, visit: Visit) {
        let Visit { caller, count, key, kind, is_new, path } = visit;
        let before = self.table.node_count();
        let Some(node) = self.table.find_or_insert(key) else {
            let purpose = Purpose::Beyond { caller, count };
            self.request(Job { purpose, moves: path.moves });
            return;
        };
        if is_new && node.index() < before && caller.rank as usize != self.rank {
            self.counters.transpositions += 1;
        }
        BiasTable::assign_kind(self.table.node(node), kind.map(Kind::of_number));
        self.table.node(node).begin_visits(count);
        let has_been_here = path.has(key);
        let task = self.new_task(Task { node, path, caller, count, left: count, ends: VisitEnds::default() });
        if has_been_here {
            // The descent returned to a node of its own path. It learned nothing new, but the visits count, so that the
            // next ones go elsewhere.
            self.end_without_evaluation(task, count);
        } else {
            self.advance(task, count);
        }
    }

    /// Ends visits at a node without an evaluation.
    pub(super) fn end_without_evaluation(&mut self, id: TaskId, count: u32) {
        let Some(depth) = self.task(id).map(|task| task.path.moves.len()) else { return };
        self.counters.depth = self.counters.depth.max(depth as u32);
        self.counters.cycles += count;
        self.finish(id, VisitEnds { done: count, cancelled: 0 });
    }

    /// Continues visits from the node of their task.
    pub(super) fn advance(&mut self, id: TaskId, count: u32) {
        if self.is_stopping {
            return self.finish(id, VisitEnds::cancelled(count));
        }
        let Some(task) = self.tasks.get(id as usize).and_then(Option::as_ref) else { return };
        let (table, depth) = (self.table, task.path.moves.len());
        let node = table.node(task.node);
        // Two passes end a line, so only a line whose last move is a pass may be over.
        let may_be_over = task.path.moves.last() == Some(&Move::Pass);
        if depth >= self.depth_limit {
            return self.evaluate_node(id, count, count);
        }
        if table.all_edges(node).is_empty() || may_be_over {
            let is_known = node.own_visits() >= self.params.expand_after || depth == 0;
            if !is_known {
                return self.evaluate_node(id, 1, count);
            }
            if !play_moves(&mut self.line, &task.path.moves) {
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

    /// Sends visits from the node of a task along an edge to the rank of the next node.
    fn send_on(&mut self, id: TaskId, place: usize, count: u32) {
        let Some(task) = self.tasks.get(id as usize).and_then(Option::as_ref) else { return };
        let (table, depth) = (self.table, task.path.moves.len());
        let node = table.node(task.node);
        let edge = &table.all_edges(node)[place];
        let mv = edge.mv();
        let path = task.path.extended(node.key(), mv);
        let (child, kind, is_new) = match edge.child() {
            Some(child) => (child, None, false),
            None => {
                let is_legal = play_moves(&mut self.line, &task.path.moves)
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
                if child.index() < before && self.rank_of(self.line.graph_key()) == self.rank {
                    self.counters.transpositions += 1;
                }
                (child, kind, true)
            }
        };
        let key = table.node(child).key();
        let home = self.rank_of(key);
        if home != self.rank {
            // The stand-in counts the visits in progress here. The node itself counts them on its own rank.
            table.node(child).begin_visits(count);
        }
        let caller = ReplyTo { rank: self.rank as u32, task: id, edge: place as u16 };
        self.post(home, Message::Visit(Visit { caller, count, key, kind, is_new, path }));
    }

    /// Returns the kind of a move in the position of the line, if the bias correction is in use.
    fn kind(&self, color: Color, mv: Move) -> Option<u32> {
        if self.valuation.params.subtree_value_bias_factor <= 0.0 {
            return None;
        }
        Kind::of(self.line.board(), color, mv, self.line.last_moves()[0]).map(Kind::number)
    }

    /// Adds an evaluation, `count` times, to the node of a task.
    pub(super) fn note_evaluation(&mut self, id: TaskId, count: u32, evaluation: &Evaluation) -> VisitEnds {
        let Some((node, depth)) = self.task(id).map(|task| (task.node, task.path.moves.len())) else {
            return VisitEnds::default();
        };
        let turn = self.turn(depth);
        self.counters.depth = self.counters.depth.max(depth as u32);
        let node = self.table.node(node);
        for _ in 0..count {
            self.counters.add_score(evaluation.score);
            self.valuation.evaluated(node, turn, evaluation, &mut self.children);
        }
        VisitEnds { done: count, cancelled: 0 }
    }

    /// Adds an evaluation like [`note_evaluation`](Rank::note_evaluation), and ends the visits.
    pub(super) fn count_evaluation(&mut self, id: TaskId, count: u32, evaluation: &Evaluation) {
        let ends = self.note_evaluation(id, count, evaluation);
        self.finish(id, ends);
    }

    /// Records ended visits of a task. The caller gets a message when they are a large enough part of all, so that many
    /// visits with the same path return in few messages.
    pub(super) fn finish(&mut self, id: TaskId, ends: VisitEnds) {
        let Some(task) = self.task(id) else { return };
        task.left -= ends.all().min(task.left);
        task.ends.add(&ends);
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
        let VisitEnds { done, cancelled } = ends;
        let message = if caller.task == CONTROL {
            self.counters.playouts += done;
            Message::RootDone(self.root_done(node, done, cancelled))
        } else {
            let ReplyTo { task, edge, .. } = caller;
            Message::Done(VisitResults { task, edge, done, cancelled, statistics: node.statistics() })
        };
        self.post(caller.rank as usize, message);
    }

    /// Ends, at the stand-in, visits that followed an edge to another rank.
    pub(super) fn finish_edge(&mut self, from: usize, task: TaskId, place: u16, count: u32) {
        if from == self.rank {
            return;
        }
        let Some(node) = self.task(task).map(|task| task.node) else { return };
        let edge = self.table.all_edges(self.table.node(node)).get(usize::from(place));
        if let Some(child) = edge.and_then(Edge::child) {
            self.table.node(child).finish_visits(count);
        }
    }

    /// Processes results of visits that were sent on.
    pub(super) fn returned(&mut self, from: usize, it: &VisitResults) {
        let Some((node, depth)) = self.task(it.task).map(|task| (task.node, task.path.moves.len())) else {
            return;
        };
        self.finish_edge(from, it.task, it.edge, it.done + it.cancelled);
        let (table, turn) = (self.table, self.turn(depth));
        let node = table.node(node);
        let Some(edge) = table.all_edges(node).get(usize::from(it.edge)) else { return };
        if it.done > 0 {
            if let Some(child) = edge.child().filter(|_| from != self.rank) {
                table.node(child).set_statistics(&it.statistics);
            }
            node.count_visits(edge, it.done);
            self.valuation.refresh(node, turn, &mut self.children);
        }
        self.finish(it.task, VisitEnds { done: it.done, cancelled: it.cancelled });
        if depth == 0 {
            self.refine_root_priors();
        }
    }
}
