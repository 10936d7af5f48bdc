//! What is asked of an engine, and what it answers.

use crate::board::Move;
use crate::game::Game;
use crate::search::{Restriction, SearchReport};
use std::fmt;
use std::time::Duration;

/// How the engine is to think.
pub struct Thinking<'a> {
    /// Asked now and then; true ends the thinking at once.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Moves that are not to be thought about.
    pub restriction: Restriction,
    /// Who wants to know how it gets on.
    pub watcher: Option<Watcher<'a>>,
}

/// Who follows the engine's thoughts.
pub struct Watcher<'a> {
    /// Time between two reports.
    pub every: Duration,
    /// Called with the game and what has been found so far, on the thread that asked the engine to think.
    pub tell: &'a mut dyn FnMut(&Game, &SearchReport),
}

impl<'a> Thinking<'a> {
    /// Nobody watches, nothing is forbidden.
    pub fn new(interrupted: &'a (dyn Fn() -> bool + Sync)) -> Thinking<'a> {
        Thinking { interrupted, restriction: Restriction::NONE, watcher: None }
    }
}

impl fmt::Debug for Thinking<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thinking").field("restriction", &self.restriction).finish_non_exhaustive()
    }
}

impl fmt::Debug for Watcher<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").field("every", &self.every).finish_non_exhaustive()
    }
}

/// What the engine wants to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Make this move.
    Play(Move),
    /// Give the game up.
    Resign,
}
