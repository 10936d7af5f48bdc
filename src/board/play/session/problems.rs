//! Problems of life and death on the table.

use super::{Host, SuspendedGame, TableSession};
use crate::play::table::Refusal;
use crate::play::tsumego::{self, ActiveProblem, Continuation, ProblemFound};
use kosumi_go::board::Move;

impl<H: Host> TableSession<H> {
    /// Sends the problems of a file to a window.
    pub(super) fn send_problems(&mut self, window: usize, bytes: &[u8]) {
        let problems = tsumego::read_collection(bytes, self.game_table().game().rules());
        self.host.send(window, &problems);
    }

    /// Puts a problem on the table. The game waits meanwhile.
    pub(super) fn show_problem(&mut self, problem: ActiveProblem) -> Result<(), Refusal> {
        let mut table = self.table.clone();
        table.load(problem.position().as_bytes(), false)?;
        let before = std::mem::replace(&mut self.table, table);
        let (game, revision, now) = (self.game, self.revision, self.now);
        let notes = std::mem::take(&mut self.notes);
        let suspended = self.suspended.take().unwrap_or_else(|| {
            let was_paused = before.is_paused();
            let mut table = before;
            table.pause(true, now);
            Box::new(SuspendedGame { table, game, revision, notes, was_paused })
        });
        self.replace_game();
        (self.suspended, self.problem) = (Some(suspended), Some(Box::new(problem)));
        self.is_analysed = false;
        Ok(())
    }

    /// Plays an answer to the problem on the table.
    pub(super) fn try_answer(&mut self, at: usize, mv: Move) -> Result<(), Refusal> {
        let at = self.node(at)?;
        let Some(problem) = &mut self.problem else { return Err(Refusal::NotNow) };
        let is_player = self.table.tree().game_at(at).to_move() == problem.player();
        if !problem.is_open() || !is_player || mv == Move::Pass {
            return Err(Refusal::NotNow);
        }
        self.table.try_move(at, mv, self.now)?;
        let (tree, node) = (self.table.tree(), self.table.head());
        let path = tree.path(node).unwrap_or_default();
        let line: Vec<_> = path.into_iter().filter_map(|id| tree.played(id)).collect();
        let next = problem.answer(node, &line);
        // A right move that is tried again already has its reply.
        let reply = tree.children(node).first().copied().filter(|_| problem.has_reply(node));
        if let Some(next) = next {
            self.continue_problem(&next);
        } else if let Some(reply) = reply {
            self.table.look_at(reply, self.now);
        }
        Ok(())
    }

    /// Plays the moves after a judged answer.
    pub(super) fn continue_problem(&mut self, next: &Continuation) {
        if self.table.tree().path(next.node).is_none() {
            return;
        }
        self.table.look_at(next.node, self.now);
        for &mv in &next.moves {
            // Superko may forbid a move of the solver, which only knows simple ko.
            if self.table.try_move(self.table.head(), mv, self.now).is_err() {
                break;
            }
        }
        if !next.goes_on {
            self.table.look_at(next.node, self.now);
        }
    }

    /// Handles a result of the solver.
    pub(super) fn take_solved(&mut self, found: ProblemFound) {
        let next = self.problem.as_mut().and_then(|problem| problem.take(found));
        if let Some(next) = next {
            self.continue_problem(&next);
        }
        self.changed();
    }
}
