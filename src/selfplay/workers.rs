//! Several games at a time.

use super::play::Player;
use super::record::PlayedGame;
use super::settings::Settings;
use crate::net::Network;
use anyhow::Context;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Begins to play these games. The workers are threads of their own and not scoped ones: whoever has enough need not
/// wait for the games begun.
///
/// # Errors
/// If there is neither a network nor a search, or no thread can be started.
pub fn start(
    settings: &Settings,
    network: Option<&Arc<Network>>,
    numbers: Vec<u32>,
    threads: usize,
) -> anyhow::Result<Receiver<anyhow::Result<PlayedGame>>> {
    let waiting = Arc::new(Mutex::new(numbers.into_iter()));
    let (sender, games) = mpsc::channel();
    for index in 0..threads {
        let mut player = Player::new(settings.clone(), network.cloned())?;
        let (waiting, sender) = (Arc::clone(&waiting), sender.clone());
        let next = move || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        thread::Builder::new().name(format!("selfplay-{index}")).spawn(move || {
            while let Some(number) = next() {
                let game = player.play(number).with_context(|| format!("game {number}"));
                let failed = game.is_err();
                if sender.send(game).is_err() || failed {
                    return;
                }
            }
        })?;
    }
    Ok(games)
}
