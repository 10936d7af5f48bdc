//! Concurrent games: worker threads that take the next game, each with two engines of its own.

use super::conditions::{Conditions, GamePlan};
use super::control::Control;
use super::player::{MatchPlayer, start_one};
use super::referee::{self, FinishedGame, NoGame};
use crate::panics::caught;
use crate::ranks::PieceQueue;
use anyhow::anyhow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Event of a worker.
pub(super) enum WorkerEvent {
    Finished(Box<FinishedGame>),
    /// A game could not start. It will be retried.
    Annulled {
        number: u32,
        reason: String,
    },
    /// A worker cannot continue.
    Failed(anyhow::Error),
    /// Another rank is lost with this number of unfinished games. Other workers play them.
    Lost {
        rank: usize,
        games: usize,
    },
}

/// Maximum number of attempts to start a game. After that, retrying is considered useless.
const MAX_ATTEMPTS: u32 = 3;
/// Pause before engines are restarted after a failure.
const PAUSE: Duration = Duration::from_millis(500);

/// Source of events of the workers.
pub(super) trait Events {
    /// Waits for the next event, at most this long.
    ///
    /// # Errors
    ///
    /// Returns an error if nothing happened in this time, or if no worker is active any more.
    fn next(&mut self, wait: Duration) -> Result<WorkerEvent, RecvTimeoutError>;
}

impl Events for Receiver<WorkerEvent> {
    fn next(&mut self, wait: Duration) -> Result<WorkerEvent, RecvTimeoutError> {
        self.recv_timeout(wait)
    }
}

/// Starts `workers` threads that play these games. The events end when no worker is active any more: because all games
/// have been played, because the control has stopped the match and the running games are over, or because all workers
/// have failed. The threads are not scoped, so an aborted match need not wait for an engine in this process.
pub(super) fn start(
    conditions: &Arc<Conditions>,
    control: &Arc<Control>,
    games: &Arc<PieceQueue>,
    workers: usize,
    first: Option<[MatchPlayer; 2]>,
    sender: &Sender<WorkerEvent>,
) -> anyhow::Result<()> {
    let mut ready = first;
    for index in 0..workers {
        let mut worker = Worker::new(Arc::clone(conditions), Arc::clone(control), ready.take());
        let (games, sender) = (Arc::clone(games), sender.clone());
        let work = move || {
            while let Some(event) = worker.next_event(&games) {
                if sender.send(event).is_err() {
                    break;
                }
            }
            worker.quit();
        };
        thread::Builder::new().name(format!("match-{index}")).spawn(work)?;
    }
    Ok(())
}

/// Worker that plays one game after the other, with two engines of its own.
pub(super) struct Worker {
    conditions: Arc<Conditions>,
    control: Arc<Control>,
    players: [Option<MatchPlayer>; 2],
    /// Game that could not start.
    retried: Option<Retry>,
    has_failed: bool,
}

/// Game that could not start in the first `attempts` attempts.
struct Retry {
    plan: GamePlan,
    attempts: u32,
    /// Reason of the last failure.
    reason: String,
}

impl Worker {
    /// Creates a worker. `ready` contains engines that are already running.
    pub(super) fn new(
        conditions: Arc<Conditions>,
        control: Arc<Control>,
        ready: Option<[MatchPlayer; 2]>,
    ) -> Worker {
        let players = ready.map_or([None, None], |players| players.map(Some));
        Worker { conditions, control, players, retried: None, has_failed: false }
    }

    /// Plays until there is an event for the match: the end of a game, or a game that cannot start. Returns `None` when
    /// no game is left, when the match is stopped or aborted, and after a failure.
    pub(super) fn next_event(&mut self, games: &PieceQueue) -> Option<WorkerEvent> {
        let (plan, attempts) = match self.retried.take() {
            // A game that was taken is played to its end, whatever the match has decided in the meantime. Dropping it
            // would bias the result towards short games.
            Some(Retry { plan, attempts, .. }) if attempts < MAX_ATTEMPTS => {
                (self.control.clocks.pause)(PAUSE);
                (plan, attempts)
            }
            Some(Retry { plan, reason, .. }) => {
                self.has_failed = true;
                let error = anyhow::Error::msg(reason).context("cannot begin");
                return Some(WorkerEvent::Failed(error.context(format!("game {}", plan.number))));
            }
            None if self.has_failed || self.control.is_stopped() => return None,
            None => (self.conditions.plan(games.next()?), 0),
        };
        let attempt = match caught(|| self.attempt(&plan)) {
            Ok(attempt) => attempt,
            Err(panic) => {
                // Without an event, the match would end without this game, as if it had been stopped.
                self.has_failed = true;
                let error = anyhow!("the worker has panicked: {panic}");
                return Some(WorkerEvent::Failed(error.context(format!("game {}", plan.number))));
            }
        };
        let reason = match attempt {
            Ok(Ok(played)) => return Some(WorkerEvent::Finished(Box::new(played))),
            Ok(Err(NoGame::Aborted)) => return None,
            Err(_) if self.control.is_aborted() => return None,
            Ok(Err(NoGame::Annulled(reason))) => reason,
            Err(error) => format!("{error:#}"),
        };
        let number = plan.number;
        self.retried = Some(Retry { plan, attempts: attempts + 1, reason: reason.clone() });
        Some(WorkerEvent::Annulled { number, reason })
    }

    /// Ends the engines.
    pub(super) fn quit(&mut self) {
        self.players.iter_mut().filter_map(Option::take).for_each(MatchPlayer::quit);
    }

    fn attempt(&mut self, plan: &GamePlan) -> anyhow::Result<Result<FinishedGame, NoGame>> {
        let mut players = match self.players.each_mut().map(Option::take) {
            [Some(a), Some(b)] => [a, b],
            [a, b] => {
                // Only missing engines are started, because some engines load slowly.
                let start = |player: Option<MatchPlayer>, index: usize| {
                    player.map_or_else(|| start_one(&self.conditions, &self.control, index), Ok)
                };
                [start(a, 0)?, start(b, 1)?]
            }
        };
        let [a, b] = &mut players;
        let (result, is_fit) = referee::play(&self.conditions, plan, [a, b], &self.control);
        let [a, b] = players;
        // Engines that cannot play another game are dropped, which kills them.
        self.players = [Some(a).filter(|_| is_fit[0]), Some(b).filter(|_| is_fit[1])];
        Ok(result)
    }
}
