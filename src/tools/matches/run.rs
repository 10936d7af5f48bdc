//! A whole match, from the first game to the last, with its files.

use super::conditions::Conditions;
use super::control::Control;
use super::files::GameFiles;
use super::journal::{Journal, LogContent};
use super::over_ranks;
use super::player::{Identity, MatchPlayer, start_one};
use super::record::GameRecord;
use super::referee::FinishedGame;
use super::schedule::{self, Events, WorkerEvent};
use super::summary::Summary;
use crate::ranks::PieceQueue;
use anyhow::bail;
use kosumi_engine::RankLink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval at which the match checks its control flags while no game ends.
const TICK: Duration = Duration::from_millis(200);
/// Maximum time for which the match waits until abandoned games have ended.
const GIVE_UP_TIME: Duration = Duration::from_secs(3);

/// Files of a match.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Storage {
    /// Log with a line for every finished game.
    pub log: Option<PathBuf>,
    /// Whether to resume the match in the log.
    pub resume: bool,
    /// Folder of the game records.
    pub records: Option<PathBuf>,
}

/// Observer of the events of a match.
pub trait MatchObserver {
    /// Called when a game is over and stored.
    ///
    /// # Errors
    ///
    /// An implementation returns an error to abort the match.
    fn finished(&mut self, game: &GameRecord, summary: &Summary) -> anyhow::Result<()>;

    /// Called when a game could not start. It will be retried.
    ///
    /// # Errors
    ///
    /// An implementation returns an error to abort the match.
    fn annulled(&mut self, number: u32, reason: &str) -> anyhow::Result<()>;

    /// Called when another rank is lost. Other ranks play the games that it had started.
    ///
    /// # Errors
    ///
    /// An implementation returns an error to abort the match.
    fn lost(&mut self, _rank: usize, _games: usize) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Match in progress.
#[derive(Debug)]
pub struct Match {
    conditions: Arc<Conditions>,
    control: Arc<Control>,
    games: u32,
    missing: Vec<u32>,
    /// Engines that have been started to query their identity; `None` if the match is over.
    players: Option<[MatchPlayer; 2]>,
    summary: Summary,
    journal: Option<Journal>,
    files: Option<GameFiles>,
    records_missing: usize,
}

impl Match {
    /// Prepares a match of `games` games: reads its log if the match is resumed, and starts the engines if games are
    /// missing.
    ///
    /// # Errors
    ///
    /// Returns an error if the log belongs to another match, a file cannot be used, or an engine does not start.
    pub fn open(
        conditions: Conditions,
        games: u32,
        storage: &Storage,
        control: Arc<Control>,
    ) -> anyhow::Result<Match> {
        let conditions = Arc::new(conditions);
        let (mut journal, past) = match &storage.log {
            Some(path) => {
                let (journal, past) = Journal::open(path, storage.resume, &conditions.settings())?;
                (Some(journal), past)
            }
            None => (None, LogContent::default()),
        };
        let files = match &storage.records {
            Some(folder) => Some(GameFiles::open(folder, storage.resume)?),
            None => None,
        };
        let records_missing = files.as_ref().map_or(Ok(0), |files| files.count_missing(&past.games))?;
        let is_missing = |game: &u32| past.games.iter().all(|record| record.number != *game);
        let missing: Vec<u32> = (1..=games).filter(is_missing).collect();
        let mut summary = Summary::new(Default::default(), &conditions);
        past.games.iter().for_each(|record| summary.add(record));
        let is_over = missing.is_empty() || summary.is_decided();
        // A finished match can be shown without engines.
        let players = match &past.header {
            Some(_) if is_over => None,
            _ => Some([start_one(&conditions, &control, 0)?, start_one(&conditions, &control, 1)?]),
        };
        let engines = engines(players.as_ref(), &past)?;
        if let Some(journal) = &mut journal {
            journal.begin(engines.clone(), conditions.settings())?;
        }
        summary.names =
            [0, 1].map(|index| format!("{} ({})", engines[index], conditions.contenders[index].text));
        summary.annulled = past.annulled;
        let players = players.filter(|_| !is_over);
        Ok(Match { conditions, control, games, missing, players, summary, journal, files, records_missing })
    }

    /// Plays the missing games, up to `jobs` at a time, until the control stops the match or the SPRT reaches a
    /// verdict.
    ///
    /// # Errors
    ///
    /// Returns an error if a game cannot start or cannot be stored. Games that were finished before stay stored.
    pub fn play(&mut self, jobs: u16, observer: &mut dyn MatchObserver) -> anyhow::Result<()> {
        self.play_with(jobs, None, observer)
    }

    /// Plays the missing games with the help of other ranks, which [`serve`](super::serve).
    ///
    /// # Errors
    ///
    /// Returns an error if a game cannot start or cannot be stored. Games that were finished before stay stored.
    pub fn play_with(
        &mut self,
        jobs: u16,
        others: Option<RankLink>,
        observer: &mut dyn MatchObserver,
    ) -> anyhow::Result<()> {
        let (players, games) = self.take_work();
        let games = Arc::new(games);
        let workers = if players.is_some() { usize::from(jobs).min(games.waiting().max(1)) } else { 0 };
        let (sender, mut events) = mpsc::channel();
        schedule::start(&self.conditions, &self.control, &games, workers, players, &sender)?;
        let lending = others.map(|link| over_ranks::assign_games(link, &games, &sender)).transpose()?;
        drop(sender);
        let (result, has_ended) = self.follow(&mut events, &games, observer);
        if has_ended {
            lending.map(JoinHandle::join);
        }
        result
    }

    /// Takes the started engines and the missing games. Without engines no game is missing, so the other ranks get no
    /// pieces.
    pub(super) fn take_work(&mut self) -> (Option<[MatchPlayer; 2]>, PieceQueue) {
        let players = self.players.take();
        let missing = if players.is_some() { std::mem::take(&mut self.missing) } else { Vec::new() };
        (players, PieceQueue::new(missing))
    }

    /// Stores what the workers report until none is active on any rank. Also returns whether no worker is active: an
    /// aborted match does not wait for all of them.
    pub(super) fn follow(
        &mut self,
        events: &mut dyn Events,
        games: &PieceQueue,
        observer: &mut dyn MatchObserver,
    ) -> (anyhow::Result<()>, bool) {
        let mut failure = None;
        let mut given_up: Option<Duration> = None;
        let has_ended = loop {
            let result = match events.next(TICK) {
                Ok(WorkerEvent::Finished(played)) => self.finished(&played, observer),
                Ok(WorkerEvent::Annulled { number, reason }) => self.annulled(number, &reason, observer),
                Ok(WorkerEvent::Failed(error)) => Err(error),
                Ok(WorkerEvent::Lost { rank, games }) => observer.lost(rank, games),
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => break true,
            };
            if let Err(error) = result {
                // If games cannot be stored, the running ones need not be finished.
                self.control.abort.store(true, Ordering::Relaxed);
                failure.get_or_insert(error);
            }
            if self.summary.is_decided() {
                self.control.stop.store(true, Ordering::Relaxed);
            }
            if self.control.is_stopped() {
                games.stop();
            }
            if self.control.is_aborted() {
                let start = *given_up.get_or_insert_with(|| self.control.now());
                if self.control.since(start) > GIVE_UP_TIME {
                    break false;
                }
            }
        };
        (failure.map_or(Ok(()), Err), has_ended)
    }

    /// Stores a game. The record is written before the line of the log, so the log never mentions a missing record.
    fn finished(&mut self, played: &FinishedGame, observer: &mut dyn MatchObserver) -> anyhow::Result<()> {
        let record = &played.record;
        if let Some(files) = &self.files {
            files.write(record.number, &played.sgf)?;
        }
        if let Some(journal) = &mut self.journal {
            journal.add(record)?;
        }
        self.summary.add(record);
        observer.finished(record, &self.summary)
    }

    fn annulled(
        &mut self,
        number: u32,
        reason: &str,
        observer: &mut dyn MatchObserver,
    ) -> anyhow::Result<()> {
        if let Some(journal) = &mut self.journal {
            journal.add_annulled(number, reason)?;
        }
        self.summary.annulled += 1;
        observer.annulled(number, reason)
    }

    /// Returns the conditions of the match.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Returns the results of the match so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns the number of games in the log that had no record in the folder when the match was opened.
    pub fn records_missing(&self) -> usize {
        self.records_missing
    }

    /// Returns whether every game was played or the SPRT has reached a verdict.
    pub fn is_complete(&self) -> bool {
        self.summary.is_decided() || (1..=self.games).all(|game| self.summary.games.contains_key(&game))
    }
}

/// Returns the engines' identities. A resumed match requires the same engines as before.
fn engines(players: Option<&[MatchPlayer; 2]>, past: &LogContent) -> anyhow::Result<[Identity; 2]> {
    let before = past.header.as_ref().map(|header| &header.engines);
    let now = players.map(|players| players.each_ref().map(|player| player.identity.clone()));
    match (before, now) {
        (Some(before), Some(now)) => {
            for (name, before, now) in [("A", &before[0], &now[0]), ("B", &before[1], &now[1])] {
                if before != now {
                    bail!("the log belongs to another match: {name} was {before}, is {now}");
                }
            }
            Ok(now)
        }
        (Some(before), None) => Ok(before.clone()),
        (None, Some(now)) => Ok(now),
        (None, None) => Ok(Default::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matches::fixtures::conditions;
    use crate::matches::openings::Source;
    use std::fs;

    /// Observer that counts events, and fails after `most` games.
    struct Counting {
        finished: u32,
        most: u32,
    }

    impl MatchObserver for Counting {
        fn finished(&mut self, _: &GameRecord, summary: &Summary) -> anyhow::Result<()> {
            self.finished += 1;
            assert!(summary.games.len() as u32 >= self.finished);
            if self.finished < self.most { Ok(()) } else { bail!("enough") }
        }

        fn annulled(&mut self, number: u32, reason: &str) -> anyhow::Result<()> {
            bail!("game {number}: {reason}")
        }
    }

    #[test]
    fn a_match_is_stored_and_resumed() {
        let scratch = tempfile::TempDir::new().unwrap();
        let at = |name: &str| Some(scratch.path().join(name));
        let storage = Storage { log: at("log.jsonl"), resume: true, records: at("games") };
        let open = |games: u32| {
            Match::open(conditions(&[5], Source::None), games, &storage, Arc::default()).unwrap()
        };
        let mut first = open(20);
        let mut counting = Counting { finished: 0, most: 2 };
        assert_eq!(first.play(1, &mut counting).unwrap_err().to_string(), "enough");
        // Another game may have ended before the match was aborted.
        let kept = first.summary().games.len();
        assert!(kept >= 2 && !first.is_complete(), "{kept}");
        drop(first);
        let games = kept as u32 + 2;
        let mut second = open(games);
        assert_eq!(second.summary().games.len(), kept, "what was kept is not played again");
        let mut counting = Counting { finished: 0, most: u32::MAX };
        second.play(2, &mut counting).unwrap();
        assert_eq!((counting.finished, second.is_complete(), second.records_missing()), (2, true, 0));
        drop(second);
        fs::remove_file(scratch.path().join("games/game-0001.sgf")).unwrap();
        let mut over = open(games);
        assert_eq!((over.is_complete(), over.records_missing()), (true, 1));
        over.play(1, &mut Counting { finished: 0, most: 0 }).unwrap();
    }

    #[test]
    fn other_ranks_play_games_of_the_match() {
        let scratch = tempfile::TempDir::new().unwrap();
        let storage = Storage {
            log: Some(scratch.path().join("log.jsonl")),
            resume: true,
            records: Some(scratch.path().join("games")),
        };
        let mut playing = Match::open(conditions(&[5], Source::None), 12, &storage, Arc::default()).unwrap();
        let mut links = kosumi_cluster::thread_links(2);
        let (other, first) = (links.remove(1), links.remove(0));
        let serving = std::thread::spawn(move || {
            crate::matches::serve(conditions(&[5], Source::None), 2, Box::new(other))
        });
        let mut counting = Counting { finished: 0, most: u32::MAX };
        playing.play_with(1, Some(Box::new(first)), &mut counting).unwrap();
        serving.join().unwrap().unwrap();
        assert_eq!((counting.finished, playing.is_complete(), playing.records_missing()), (12, true, 0));
        assert_eq!(fs::read_dir(scratch.path().join("games")).unwrap().count(), 12);
        drop(playing);
        // A finished match has no games left for other ranks.
        let mut over = Match::open(conditions(&[5], Source::None), 12, &storage, Arc::default()).unwrap();
        let mut links = kosumi_cluster::thread_links(2);
        let (other, first) = (links.remove(1), links.remove(0));
        let serving = std::thread::spawn(move || {
            crate::matches::serve(conditions(&[5], Source::None), 2, Box::new(other))
        });
        over.play_with(1, Some(Box::new(first)), &mut Counting { finished: 0, most: 0 }).unwrap();
        // The other rank may have sent a request after rank 0 ended.
        drop(serving.join().unwrap());
        assert!(over.is_complete());
    }
}
