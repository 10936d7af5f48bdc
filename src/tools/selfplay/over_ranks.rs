//! Games played by other ranks.

use super::record::PlayedGame;
use super::settings::Settings;
use super::workers::start;
use crate::ranks::{PieceQueue, RankEvent, WorkerMessage, lend_pieces, serve_pieces};
use anyhow::{Context, anyhow};
use kosumi_engine::RankLink;
use kosumi_net::Network;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

/// Lends games to the other ranks, on a separate thread, and passes every played game to `sender`. The thread ends when
/// no game is left. `on_loss` gets the number of a lost rank and the number of its games, which are reassigned.
///
/// # Errors
///
/// Returns an error if the thread cannot be started.
pub fn lend(
    mut link: RankLink,
    numbers: Arc<PieceQueue>,
    sender: Sender<anyhow::Result<PlayedGame>>,
    on_loss: impl Fn(usize, usize) + Send + 'static,
) -> anyhow::Result<JoinHandle<()>> {
    let on_event = move |event| match event {
        RankEvent::Done(number, game) => {
            let game =
                serde_json::from_slice(&game).with_context(|| format!("game {number} of another rank"));
            let is_valid = game.is_ok();
            sender.send(game).is_ok() && is_valid
        }
        RankEvent::Note(_) => true,
        RankEvent::Failed(rank, why) => {
            // If the receiver no longer exists, no more games are wanted.
            let _ = sender.send(Err(anyhow!("rank {rank}: {why}")));
            false
        }
        RankEvent::Lost(rank, games) => {
            on_loss(rank, games);
            true
        }
    };
    let giving = move || lend_pieces(&mut link, &numbers, on_event);
    Ok(thread::Builder::new().name("ranks".to_owned()).spawn(giving)?)
}

/// Plays games for rank 0 on `threads` threads, until it has no more.
///
/// # Errors
///
/// Returns an error if there is neither a network nor a search, if a thread cannot be started, or if rank 0 is lost.
pub fn serve(
    settings: &Settings,
    network: Option<&Arc<Network>>,
    threads: usize,
    mut link: RankLink,
) -> anyhow::Result<()> {
    let numbers = Arc::new(PieceQueue::open());
    let (sender, games) = mpsc::channel();
    start(settings, network, &numbers, threads, &sender)?;
    drop(sender);
    let (sender, messages) = mpsc::channel();
    thread::spawn(move || {
        for game in games {
            let packed = game.and_then(|game| Ok((game.number, serde_json::to_vec(&game)?)));
            let message = match packed {
                Ok((number, game)) => WorkerMessage::Done(number, game),
                Err(error) => WorkerMessage::Failed(format!("{error:#}")),
            };
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    Ok(serve_pieces(&mut link, threads, &numbers, &messages)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selfplay::Player;
    use kosumi_cluster::{Link, thread_links};
    use kosumi_go::board::BoardSize;
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    #[test]
    fn ranks_play_the_games_of_one_process() {
        let size = BoardSize::square(5).expect("5 is a size");
        let settings = Settings { visits: 16, sizes: vec![(size, 1)], ..Settings::default() };
        let mut player = Player::new(settings.clone(), None).expect("a player");
        let wanted: BTreeMap<u32, PlayedGame> =
            (0..12).map(|number| (number, player.play(number).expect("finite"))).collect();
        // The third rank is lost from the start. Rank 0 plays only in the second run.
        for threads in [0, 1] {
            let mut links = thread_links(3);
            drop(links.pop());
            let (other, first) = (links.remove(1), links.remove(0));
            assert_eq!(first.ranks(), 3);
            let numbers = Arc::new(PieceQueue::new(0..12));
            let (sender, games) = mpsc::channel();
            start(&settings, None, &numbers, threads, &sender).expect("threads");
            let lost = Arc::new(Mutex::new(Vec::new()));
            let losses = Arc::clone(&lost);
            let on_loss = move |rank, games| losses.lock().expect("a lock").push((rank, games));
            let lending = lend(Box::new(first), numbers, sender, on_loss).expect("a thread");
            let theirs = settings.clone();
            let serving = thread::spawn(move || serve(&theirs, None, 2, Box::new(other)));
            let mut found = BTreeMap::new();
            for game in games {
                let game = game.expect("a game");
                assert!(found.insert(game.number, game).is_none(), "a game twice");
            }
            assert_eq!(found, wanted);
            lending.join().expect("no panic");
            serving.join().expect("no panic").expect("served to the end");
            // A rank that never became ready has no games to lose.
            assert!(lost.lock().expect("a lock").iter().all(|&(_, games)| games == 0));
        }
    }
}
