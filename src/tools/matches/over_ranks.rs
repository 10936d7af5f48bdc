//! Games of a match on other MPI ranks.

use super::conditions::Conditions;
use super::control::Control;
use super::referee::FinishedGame;
use super::schedule::{self, WorkerEvent};
use crate::ranks::{PieceQueue, RankEvent, WorkerMessage, lend_pieces, serve_pieces};
use anyhow::{Context, anyhow};
use kosumi_engine::RankLink;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

/// Message to rank 0 about a game that could not start.
#[derive(Serialize, Deserialize)]
struct Annulled {
    number: u32,
    reason: String,
}

/// Assigns games to the other ranks on a separate thread, and forwards their messages to `sender`. The thread ends when
/// no game is left, or when the match is stopped and the running games are over.
pub(super) fn assign_games(
    mut link: RankLink,
    games: &Arc<PieceQueue>,
    sender: &Sender<WorkerEvent>,
) -> anyhow::Result<JoinHandle<()>> {
    let (games, sender) = (Arc::clone(games), sender.clone());
    let on_event = move |event| {
        let event = match event {
            RankEvent::Done(number, played) => serde_json::from_slice::<FinishedGame>(&played)
                .with_context(|| format!("game {number} of another rank"))
                .map(|played| WorkerEvent::Finished(Box::new(played))),
            RankEvent::Note(note) => serde_json::from_slice::<Annulled>(&note)
                .context("a game of another rank")
                .map(|Annulled { number, reason }| WorkerEvent::Annulled { number, reason }),
            RankEvent::Failed(rank, why) => Err(anyhow!("rank {rank}: {why}")),
            RankEvent::Lost(rank, games) => Ok(WorkerEvent::Lost { rank, games }),
        };
        let is_valid = event.is_ok();
        sender.send(event.unwrap_or_else(WorkerEvent::Failed)).is_ok() && is_valid
    };
    let giving = move || lend_pieces(&mut link, &games, on_event);
    Ok(thread::Builder::new().name("ranks".to_owned()).spawn(giving)?)
}

/// Plays games that rank 0 assigns, up to `jobs` at a time, until rank 0 has no more.
///
/// # Errors
///
/// Returns an error if a game cannot start, or if rank 0 is lost.
pub fn serve(conditions: Conditions, jobs: u16, mut link: RankLink) -> anyhow::Result<()> {
    let (games, control) = (Arc::new(PieceQueue::open()), Arc::new(Control::default()));
    let (sender, events) = mpsc::channel();
    schedule::start(&Arc::new(conditions), &control, &games, usize::from(jobs), None, &sender)?;
    drop(sender);
    let (sender, messages) = mpsc::channel();
    thread::spawn(move || {
        for event in events {
            if sender.send(rank_message(event)).is_err() {
                return;
            }
        }
    });
    Ok(serve_pieces(&mut link, usize::from(jobs), &games, &messages)?)
}

/// Returns an event in the form of a message to rank 0.
fn rank_message(event: WorkerEvent) -> WorkerMessage {
    let message = match event {
        WorkerEvent::Finished(played) => {
            serde_json::to_vec(&*played).map(|bytes| WorkerMessage::Done(played.record.number, bytes))
        }
        WorkerEvent::Annulled { number, reason } => {
            serde_json::to_vec(&Annulled { number, reason }).map(WorkerMessage::Note)
        }
        WorkerEvent::Failed(error) => Ok(WorkerMessage::Failed(format!("{error:#}"))),
        WorkerEvent::Lost { rank, .. } => Ok(WorkerMessage::Failed(format!("rank {rank} is lost"))),
    };
    message.unwrap_or_else(|error| WorkerMessage::Failed(error.to_string()))
}
