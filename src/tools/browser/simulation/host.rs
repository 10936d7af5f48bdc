//! Host of a simulated table: windows and engines, which read and answer when the simulation lets them.

use super::OBSERVER;
use kosumi_board::play::{Host, Task};
use kosumi_go::game::Game;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// Simulated host of the table.
#[derive(Default)]
pub(super) struct SimulatedHost {
    /// Messages that each open window has not read.
    pub(super) inboxes: BTreeMap<usize, VecDeque<Value>>,
    /// Messages that the observer has not read.
    pub(super) observed: VecDeque<Value>,
    /// Number of messages to all windows.
    pub(super) sent_to_all: u64,
    /// Judgements of answers to problems, with their windows.
    pub(super) solved: Vec<(usize, Value)>,
    /// Number of messages about a refusal.
    pub(super) refused: u64,
    pub(super) tasks: u64,
    /// Number of the task in progress, if there is one.
    pub(super) task: Option<u64>,
    /// Number of requests to other engines. Nothing stops an engine that was asked: its response comes in any case.
    pub(super) requests: u64,
    /// Requests to engines, in their order. Some are answered when no answer is wanted any more.
    pub(super) questions: Vec<Question>,
    /// Number of the running review, and the record that is reviewed.
    pub(super) review: Option<(u64, String)>,
    /// Record of the review whose page is shown.
    pub(super) page: Option<String>,
    /// Whether a review can be started.
    pub(super) can_review: bool,
    pub(super) today: u32,
}

#[derive(Clone)]
pub(super) enum Question {
    Task(u64, Box<Game>, Box<Task>),
    Engine(u64, Box<Game>),
}

impl Host for SimulatedHost {
    fn send(&mut self, window: usize, message: &Value) {
        self.refused += u64::from(message["is"] == "refused");
        if message["is"] == "solved" {
            self.solved.push((window, message.clone()));
        }
        match self.inboxes.get_mut(&window) {
            Some(inbox) => inbox.push_back(message.clone()),
            None if window == OBSERVER => self.observed.push_back(message.clone()),
            None => {}
        }
    }

    fn send_to_all(&mut self, message: &Value) {
        self.sent_to_all += 1;
        self.inboxes.values_mut().for_each(|inbox| inbox.push_back(message.clone()));
        self.observed.push_back(message.clone());
    }

    fn has_windows(&self) -> bool {
        !self.inboxes.is_empty()
    }

    fn start_task(&mut self, game: &Game, task: Task) -> u64 {
        self.tasks += 1;
        self.task = Some(self.tasks);
        self.questions.push(Question::Task(self.tasks, Box::new(game.clone()), Box::new(task)));
        self.tasks
    }

    fn stop_task(&mut self) {
        self.task = None;
    }

    fn ask_engine(&mut self, _: usize, number: u64, game: &Game) {
        self.requests += 1;
        self.questions.push(Question::Engine(number, Box::new(game.clone())));
    }

    fn start_review(&mut self, number: u64, record: String) -> bool {
        if self.can_review {
            self.review = Some((number, record));
        }
        self.can_review
    }

    fn end_review(&mut self) {
        // The thread of the review notices this later, so it may still report its progress and its end.
        self.page = None;
    }

    fn today(&self) -> Option<String> {
        Some(format!("2026-11-{:02}", 1 + self.today % 30))
    }
}
