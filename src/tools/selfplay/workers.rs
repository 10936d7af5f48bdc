//! Concurrent games.

use super::play::Player;
use super::record::PlayedGame;
use super::settings::Settings;
use crate::panics::caught;
use crate::ranks::PieceQueue;
use anyhow::{Context, anyhow};
use kosumi_net::Network;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;

/// Starts threads that play the games of `numbers` and pass them to `sender`. A game that fails or panics is passed as
/// an error. The threads are not scoped, so that the caller need not wait for games in progress.
///
/// # Errors
///
/// Returns an error if there is neither a network nor a search, or if a thread cannot be started.
pub fn start(
    settings: &Settings,
    network: Option<&Arc<Network>>,
    numbers: &Arc<PieceQueue>,
    threads: usize,
    sender: &Sender<anyhow::Result<PlayedGame>>,
) -> anyhow::Result<()> {
    for index in 0..threads {
        let mut player = Player::new(settings.clone(), network.cloned())?;
        let (numbers, sender) = (Arc::clone(numbers), sender.clone());
        thread::Builder::new().name(format!("selfplay-{index}")).spawn(move || {
            while let Some(number) = numbers.next() {
                let game = caught(|| player.play(number).map_err(anyhow::Error::from))
                    .unwrap_or_else(|panic| Err(anyhow!("the worker has panicked: {panic}")))
                    .with_context(|| format!("game {number}"));
                let failed = game.is_err();
                if sender.send(game).is_err() || failed {
                    return;
                }
            }
        })?;
    }
    Ok(())
}
