//! Concurrent games: worker threads that take the next game, each with two engines of its own.

use super::conditions::{Conditions, GamePlan};
use super::control::Control;
use super::player::{MatchPlayer, start_one};
use super::referee::{self, FinishedGame, NoGame};
use crate::ranks::PieceQueue;
use std::sync::Arc;
use std::sync::mpsc::Sender;
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

/// Maximum number of attempts to start a game. After these, retrying is useless.
const MOST_ATTEMPTS: u32 = 3;
/// Pause before engines are restarted after a failure.
const PAUSE: Duration = Duration::from_millis(500);

/// Starts `workers` threads that play these games. The events end when no worker is active any more: when all games are
/// played, when the control stops the match and the running games are over, or when all workers have failed. The
/// threads are not scoped, so an aborted match need not wait for an engine in this process.
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
        let mut worker = Worker {
            conditions: Arc::clone(conditions),
            control: Arc::clone(control),
            sender: sender.clone(),
            players: ready.take().map_or([None, None], |players| players.map(Some)),
        };
        let games = Arc::clone(games);
        thread::Builder::new().name(format!("match-{index}")).spawn(move || worker.work(&games))?;
    }
    Ok(())
}

struct Worker {
    conditions: Arc<Conditions>,
    control: Arc<Control>,
    sender: Sender<WorkerEvent>,
    players: [Option<MatchPlayer>; 2],
}

impl Worker {
    /// Plays games until none is left, and ends the engines.
    fn work(&mut self, games: &PieceQueue) {
        // A game that was taken is played to its end, whatever the match has decided in the meantime. Dropping it would
        // bias the result towards short games.
        while !self.control.is_stopped() {
            let Some(number) = games.next() else { break };
            let plan = self.conditions.plan(number);
            match self.play(&plan) {
                Ok(Some(played)) => {
                    if self.sender.send(WorkerEvent::Finished(Box::new(played))).is_err() {
                        break;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    let _ = self.sender.send(WorkerEvent::Failed(error.context(format!("game {number}"))));
                    break;
                }
            }
        }
        self.players.iter_mut().filter_map(Option::take).for_each(MatchPlayer::quit);
    }

    /// Plays a game and retries if it could not start. Returns `None` if the match was aborted.
    fn play(&mut self, plan: &GamePlan) -> anyhow::Result<Option<FinishedGame>> {
        for attempt in 1.. {
            let reason = match self.attempt(plan) {
                Ok(Ok(played)) => return Ok(Some(played)),
                Ok(Err(NoGame::Aborted)) => return Ok(None),
                Err(_) if self.control.is_aborted() => return Ok(None),
                Ok(Err(NoGame::Annulled(reason))) => reason,
                Err(error) => format!("{error:#}"),
            };
            let event = WorkerEvent::Annulled { number: plan.number, reason: reason.clone() };
            if self.sender.send(event).is_err() {
                return Ok(None);
            }
            if attempt >= MOST_ATTEMPTS {
                return Err(anyhow::Error::msg(reason).context("cannot begin"));
            }
            thread::sleep(PAUSE);
        }
        Ok(None)
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
        // Unfit engines are dropped, which kills them.
        self.players = [Some(a).filter(|_| is_fit[0]), Some(b).filter(|_| is_fit[1])];
        Ok(result)
    }
}
