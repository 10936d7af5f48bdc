//! Host of tables in tests: it keeps all messages, and the task until the test carries it out.

use super::{Host, Task};
use kosumi_go::game::Game;
use serde_json::Value;

#[derive(Default)]
pub(super) struct TestHost {
    /// Messages with their windows; `None` for all.
    pub(super) messages: Vec<(Option<usize>, Value)>,
    /// Task in progress with its number and game, if there is one.
    pub(super) task: Option<(u64, Game, Task)>,
    /// Number of the task that was started last.
    last: u64,
}

impl Host for TestHost {
    fn send(&mut self, window: usize, message: &Value) {
        self.messages.push((Some(window), message.clone()));
    }

    fn send_to_all(&mut self, message: &Value) {
        self.messages.push((None, message.clone()));
    }

    fn has_windows(&self) -> bool {
        true
    }

    fn start_task(&mut self, game: &Game, task: Task) -> u64 {
        self.last += 1;
        self.task = Some((self.last, game.clone(), task));
        self.last
    }

    fn stop_task(&mut self) {
        self.task = None;
    }

    fn ask_engine(&mut self, _: usize, _: u64, _: &Game) {}

    fn start_review(&mut self, _: u64, _: String) -> bool {
        false
    }

    fn end_review(&mut self) {}

    fn today(&self) -> Option<String> {
        None
    }
}
