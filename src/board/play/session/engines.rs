//! Tasks for the engines, and the handling of their results.

use super::{Host, TableSession, TaskPurpose};
use crate::play::judgements::{JUDGE_PLAYOUTS, Step};
use crate::play::message::PlayerKind;
use crate::play::strength::Level;
use crate::play::table::{Phase, Refusal};
use crate::play::task::{MoveEvaluation, Task, TaskResult};
use crate::review::Numbers;
use kosumi_engine::Decision;
use kosumi_go::board::Move;
use kosumi_go::game::Game;
use kosumi_go::sgf::NodeId;
use kosumi_search::Limits;
use serde_json::json;
use std::time::Duration;

/// Maximum visits of a continuous analysis.
const ANALYSIS_VISITS: u32 = 50_000;
/// Maximum time of a continuous analysis.
const ANALYSIS_TIME: Duration = Duration::from_secs(600);
/// Name of the level at which Kosumi answers in the study mode.
const ANSWER_LEVEL: &str = "seconds-1";
/// Number of judgements that count as one change of the table.
const MAX_UNSAVED_JUDGEMENTS: usize = 16;

impl<H: Host> TableSession<H> {
    pub(super) fn engine_on_turn(&self) -> bool {
        self.table.seat_on_turn().is_some_and(|seat| *seat != PlayerKind::Person)
    }

    /// Starts the task that this position requires.
    pub(super) fn start_task(&mut self) {
        self.question = None;
        self.opponent_number += 1;
        self.host.stop_task();
        self.judgements.interrupt();
        self.waits_for_judgement = false;
        if let Some(problem) = &self.problem {
            if let Some(task) = problem.task() {
                let game = self.table.game().clone();
                self.ask(&game, TaskPurpose::Solve, self.table.head(), Task::Solve(task));
            }
            return;
        }
        let game = self.table.game().clone();
        if self.is_answering && self.table.is_study() && !game.is_over() {
            if let Some(level) = Level::named(ANSWER_LEVEL) {
                self.ask(&game, TaskPurpose::Move, self.table.head(), Task::Choose { level, clock: None });
            }
            return;
        }
        self.is_answering = false;
        let is_playing = matches!(self.table.phase(), Phase::Playing) && !self.table.is_paused();
        if self.teaches && is_playing && !self.engine_on_turn() {
            self.judgements.look_ahead(self.table.tree(), self.table.head());
        }
        match self.table.phase() {
            Phase::Marking(dead) if dead.is_empty() => {
                self.ask(&game, TaskPurpose::Dead, self.table.head(), Task::Settle);
            }
            Phase::Playing if self.engine_on_turn() && is_playing => {
                let is_kosumi = matches!(self.table.seat_on_turn(), Some(PlayerKind::Kosumi { .. }));
                if is_kosumi && self.judgements.is_urgent() && self.judge() {
                    self.waits_for_judgement = true;
                    return;
                }
                match self.table.seat_on_turn() {
                    Some(PlayerKind::Kosumi { level }) => {
                        let Some(level) = Level::named(level) else { return };
                        let clock = self.table.time_left(self.now);
                        let task = Task::Choose { level, clock };
                        self.ask(&game, TaskPurpose::Move, self.table.head(), task);
                    }
                    Some(PlayerKind::Engine { number }) => {
                        self.host.ask_engine(*number, self.opponent_number, &game);
                        self.start_background();
                    }
                    _ => {}
                }
            }
            _ => self.start_background(),
        }
    }

    /// Starts work of the engine for which nothing waits: judgements, or else the continuous analysis.
    pub(super) fn start_background(&mut self) {
        if !self.judge() {
            self.analyse_if_wanted();
        }
    }

    /// Continues the judgements. Returns whether a search for one was started.
    pub(super) fn judge(&mut self) -> bool {
        loop {
            let before = self.judgements.progress();
            match self.judgements.advance(&self.table) {
                Step::Search(game, is_afresh) => {
                    let task = Task::Judge { playouts: JUDGE_PLAYOUTS, is_afresh };
                    self.ask(&game, TaskPurpose::Judge, self.table.head(), task);
                    return true;
                }
                Step::Judged(nodes) => self.send_judged(&nodes),
                Step::Answered(window, key, result) => {
                    let message = json!({ "is": "solved", "key": key, "result": result });
                    self.host.send(window, &message);
                }
                Step::Idle => {
                    self.flush_judgements();
                    return false;
                }
            }
            if self.judgements.progress() != before {
                let progress = json!({ "is": "judging", "judging": self.judgements.progress() });
                self.host.send_to_all(&progress);
            }
        }
    }

    /// Stores the results for nodes, and sends the new ones to the windows.
    pub(super) fn send_judged(&mut self, nodes: &[NodeId]) {
        let mut results = Vec::new();
        for &id in nodes {
            let Some(judged) = self.judgements.judged(&self.table, id) else { continue };
            if self.table.tree().path(id).is_some() && self.table.add_judged(id, judged.clone()) {
                results.push(json!({ "i": id.number(), "j": judged.data() }));
            }
        }
        if !results.is_empty() {
            self.unsaved_judgements += results.len();
            if self.unsaved_judgements >= MAX_UNSAVED_JUDGEMENTS {
                self.flush_judgements();
            }
            self.host.send_to_all(&json!({ "is": "judged", "game": self.game, "nodes": results }));
        }
    }

    /// Counts the judgements since the last change as one change of the table. If each judgement counted, a host that
    /// stores the game after every change would store it too often.
    pub(super) fn flush_judgements(&mut self) {
        if std::mem::take(&mut self.unsaved_judgements) > 0 {
            self.revision += 1;
        }
    }

    /// Starts the continuous analysis of the viewed node, if it is on.
    pub(super) fn analyse_if_wanted(&mut self) {
        let id = self.viewed.unwrap_or_else(|| self.table.head());
        let is_marked = self.viewed.is_none() && matches!(self.table.phase(), Phase::Marking(_));
        if self.is_analysed && !is_marked {
            let limits = Limits {
                visits: Some(ANALYSIS_VISITS),
                soft: Some(ANALYSIS_TIME),
                hard: Some(ANALYSIS_TIME),
                ..Limits::default()
            };
            let game = self.table.tree().game_at(id);
            self.ask(&game, TaskPurpose::Analysis, id, Task::Study { limits });
        }
    }

    pub(super) fn ask(&mut self, game: &Game, question: TaskPurpose, node: NodeId, task: Task) {
        let number = self.host.start_task(game, task);
        self.question = Some((number, question, node));
    }

    /// Starts an analysis of the position of a node, unless an engine is to move.
    pub(super) fn start_consultation(
        &mut self,
        at: usize,
        question: TaskPurpose,
        limits: Limits,
    ) -> Result<(), Refusal> {
        let at = self.node(at)?;
        let is_earlier = at != self.table.head();
        let is_settling = self.question.is_some_and(|(_, purpose, _)| purpose == TaskPurpose::Dead);
        if is_settling
            || self.is_answering
            || (self.engine_on_turn() && !self.table.is_paused())
            || (!is_earlier && matches!(self.table.phase(), Phase::Marking(_)))
        {
            return Err(Refusal::NotNow);
        }
        let game = self.table.tree().game_at(at);
        self.judgements.interrupt();
        self.ask(&game, question, at, Task::Study { limits });
        Ok(())
    }

    /// Ends the judgements of moves, and the search for one if it is running.
    pub(super) fn stop_judging(&mut self) {
        self.judgements.stop_review();
        if self.question.is_some_and(|(_, purpose, _)| purpose == TaskPurpose::Judge) {
            self.question = None;
            self.host.stop_task();
        }
    }

    /// Handles a result of the engine's task with this number.
    pub fn handle_result(&mut self, number: u64, finding: TaskResult, now: Duration) {
        self.now = now;
        let Some((_, question, node)) = self.question.filter(|(asked, ..)| *asked == number) else { return };
        match finding {
            TaskResult::Chosen(decision, outlook) => {
                self.question = None;
                let (head, is_move) = (self.table.head(), matches!(decision, Decision::Play(_)));
                if std::mem::take(&mut self.is_answering) && !is_move {
                    self.host.send_to_all(&json!({ "is": "would-resign" }));
                } else {
                    self.decided(decision);
                }
                // If the time had run out, the engine has not moved.
                if let Some(outlook) = outlook.filter(|_| is_move && self.table.head() != head) {
                    self.add_evaluation(outlook);
                }
                self.changed();
            }
            TaskResult::Studied { analysis, .. } if question == TaskPurpose::Judge => {
                self.question = None;
                self.judgements.take(self.table.tree(), *analysis);
                if !self.waits_for_judgement {
                    self.start_background();
                } else if !self.judgements.is_urgent() || !self.judge() {
                    self.start_task();
                }
            }
            TaskResult::Studied { game, analysis, is_last } => {
                let evaluation = MoveEvaluation {
                    win_rate: analysis.win_rate.mean,
                    score: analysis.score.mean,
                    visits: analysis.visits,
                };
                self.table.add_analysis(node, evaluation);
                let message = json!({
                    "is": "thought",
                    "of": match question {
                        TaskPurpose::Hint => "hint",
                        TaskPurpose::Estimate => "estimate",
                        _ => "analysis",
                    },
                    "at": node.number(),
                    "last": is_last,
                    "numbers": Numbers::new(&game, game.to_move(), &analysis),
                });
                self.host.send_to_all(&message);
                if is_last {
                    self.question = None;
                    if question != TaskPurpose::Analysis {
                        self.start_background();
                    }
                }
            }
            TaskResult::Settled(dead) => {
                self.question = None;
                self.table.set_dead(*dead);
                if self.table.is_without_people() {
                    // In a game between two engines, no person can correct the dead stones.
                    let settled = self.table.settle();
                    debug_assert_eq!(settled, Ok(()));
                }
                self.revision += 1;
                self.send_state();
                self.start_background();
            }
            TaskResult::Solved(found) => {
                self.question = None;
                self.take_solved(found);
            }
            TaskResult::Crashed(text) => {
                self.question = None;
                if let Some(problem) = &mut self.problem {
                    problem.give_up();
                }
                let unanswered = self.judgements.stop();
                (self.teaches, self.is_answering) = (false, false);
                self.host.send_to_all(&json!({ "is": "trouble", "engine": "Kosumi", "text": text }));
                // The engine was restarted. It must not get the same task again, so play is paused and the analysis
                // ended.
                self.table.pause(true, self.now);
                self.is_analysed = false;
                self.changed();
                for window in unanswered {
                    self.refuse(window, Refusal::NotNow);
                }
            }
        }
    }

    /// Stores the engine's evaluation of the move that it has just played.
    fn add_evaluation(&mut self, outlook: MoveEvaluation) {
        self.table.add_evaluation(outlook);
        let head = self.table.head();
        // The windows get the numbers of a new node together with the node.
        if self.known_nodes.is_some_and(|known| head.number() < known) {
            let data = [self.table.node_data(head)];
            self.send_tree(&data, []);
        }
    }

    pub(super) fn decided(&mut self, decision: Decision) {
        let now = self.now;
        let done = match decision {
            Decision::Play(mv) => self.table.play(mv, now),
            Decision::Resign => self.table.resign(),
        };
        if done.is_err() {
            // An illegal move of an engine counts as a pass.
            let passed = self.table.play(Move::Pass, now);
            debug_assert_eq!(passed, Ok(()));
        }
    }

    /// Returns whether the table waits for the response of another engine to the request with this number.
    pub fn awaits_move(&self, number: u64) -> bool {
        number == self.opponent_number && self.engine_on_turn()
    }

    /// Handles the response of another engine to the request with this number: its move, or an error message.
    pub fn handle_engine_move(&mut self, number: u64, moved: Result<Decision, String>, now: Duration) {
        self.now = now;
        if !self.awaits_move(number) {
            return;
        }
        match moved {
            Ok(decision) => self.decided(decision),
            Err(text) => {
                let name = match self.table.seat_on_turn() {
                    Some(PlayerKind::Engine { number }) => {
                        self.engines.get(*number).cloned().unwrap_or_default()
                    }
                    _ => String::new(),
                };
                self.host.send_to_all(&json!({ "is": "trouble", "engine": name, "text": text }));
                self.table.pause(true, self.now);
            }
        }
        self.changed();
    }
}
