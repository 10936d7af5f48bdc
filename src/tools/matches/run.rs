//! A match from its first game to its last, with everything that is kept of it.

use super::conditions::Conditions;
use super::control::Control;
use super::files::GameFiles;
use super::journal::{Journal, Past};
use super::over_ranks;
use super::player::{Identity, Player, start_one};
use super::record::GameRecord;
use super::referee::Played;
use super::schedule::{self, Event};
use super::summary::Summary;
use crate::ranks::Pieces;
use anyhow::bail;
use kosumi_engine::RankLink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the match looks around while no game ends.
const TICK: Duration = Duration::from_millis(200);
/// How long games that are given up may take to notice.
const GIVE_UP_TIME: Duration = Duration::from_secs(3);

/// Where a match is kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Storage {
    /// The log: a line for every finished game.
    pub log: Option<PathBuf>,
    /// Go on with the match in the log.
    pub resume: bool,
    /// The folder of the records.
    pub records: Option<PathBuf>,
}

/// Who is told how the match goes.
pub trait Observer {
    /// A game is over, and kept.
    ///
    /// # Errors
    /// Games are given up if it fails.
    fn finished(&mut self, game: &GameRecord, summary: &Summary) -> anyhow::Result<()>;

    /// A game could not begin; it is tried again.
    ///
    /// # Errors
    /// Games are given up if it fails.
    fn annulled(&mut self, number: u32, reason: &str) -> anyhow::Result<()>;

    /// Another rank is gone, and so many games that it had begun are played by others.
    ///
    /// # Errors
    /// Games are given up if it fails.
    fn lost(&mut self, _rank: usize, _games: usize) -> anyhow::Result<()> {
        Ok(())
    }
}

/// A match under way.
#[derive(Debug)]
pub struct Match {
    conditions: Arc<Conditions>,
    control: Arc<Control>,
    games: u32,
    missing: Vec<u32>,
    /// The engines that have been started to see who they are; none if the match is over.
    players: Option<[Player; 2]>,
    summary: Summary,
    journal: Option<Journal>,
    files: Option<GameFiles>,
    records_missing: usize,
}

impl Match {
    /// Prepares a match of so many games: reads its log, if it is resumed, and starts the engines, if games are missing.
    ///
    /// # Errors
    /// If the log is of another match, a file cannot be used, or an engine does not start.
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
            None => (None, Past::default()),
        };
        let files = match &storage.records {
            Some(folder) => Some(GameFiles::open(folder, storage.resume)?),
            None => None,
        };
        let is_missing = |game: &u32| past.games.iter().all(|record| record.number != *game);
        let missing: Vec<u32> = (1..=games).filter(is_missing).collect();
        let mut summary = Summary::new(Default::default(), &conditions);
        past.games.iter().for_each(|record| summary.add(record));
        let is_over = missing.is_empty() || summary.is_decided();
        // Engines are not needed to show a match that is over.
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
        let records_missing = files.as_ref().map_or(0, |files| files.count_missing(&past.games));
        let players = players.filter(|_| !is_over);
        Ok(Match { conditions, control, games, missing, players, summary, journal, files, records_missing })
    }

    /// Plays what is missing, so many games at a time, until the control says stop or the SPRT has come to its verdict.
    ///
    /// # Errors
    /// If a game cannot begin or be kept. What was finished before is kept.
    pub fn play(&mut self, jobs: u16, observer: &mut dyn Observer) -> anyhow::Result<()> {
        self.play_with(jobs, None, observer)
    }

    /// The same with the help of other ranks, which [`serve`](super::serve).
    ///
    /// # Errors
    /// As [`play`](Match::play).
    pub fn play_with(
        &mut self,
        jobs: u16,
        others: Option<RankLink>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let players = self.players.take();
        // Without players nothing is missing; other ranks are told so.
        let missing = if players.is_some() { std::mem::take(&mut self.missing) } else { Vec::new() };
        let games = Arc::new(Pieces::new(missing));
        let workers = if players.is_some() { usize::from(jobs).min(games.waiting().max(1)) } else { 0 };
        let (sender, events) = mpsc::channel();
        schedule::start(&self.conditions, &self.control, &games, workers, players, &sender)?;
        let lending = others.map(|link| over_ranks::lend(link, &games, &sender)).transpose()?;
        drop(sender);
        let mut failure = None;
        let mut given_up: Option<Instant> = None;
        loop {
            let result = match events.recv_timeout(TICK) {
                Ok(Event::Finished(played)) => self.finished(&played, observer),
                Ok(Event::Annulled { number, reason }) => self.annulled(number, &reason, observer),
                Ok(Event::Failed(error)) => Err(error),
                Ok(Event::Lost { rank, games }) => observer.lost(rank, games),
                Err(RecvTimeoutError::Timeout) => Ok(()),
                // No worker is left, here or elsewhere.
                Err(RecvTimeoutError::Disconnected) => {
                    lending.map(JoinHandle::join);
                    break;
                }
            };
            if let Err(error) = result {
                // Games that cannot be kept need not be played to their end.
                self.control.abort.store(true, Ordering::Relaxed);
                failure.get_or_insert(error);
            }
            if self.summary.is_decided() {
                self.control.stop.store(true, Ordering::Relaxed);
            }
            if self.control.is_stopped() {
                games.stop();
            }
            if self.control.is_aborted() && given_up.get_or_insert_with(Instant::now).elapsed() > GIVE_UP_TIME
            {
                break;
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Keeps a game: first the record, then the line of the log, which thus never speaks of a record that is not there.
    fn finished(&mut self, played: &Played, observer: &mut dyn Observer) -> anyhow::Result<()> {
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

    fn annulled(&mut self, number: u32, reason: &str, observer: &mut dyn Observer) -> anyhow::Result<()> {
        if let Some(journal) = &mut self.journal {
            journal.add_annulled(number, reason)?;
        }
        self.summary.annulled += 1;
        observer.annulled(number, reason)
    }

    /// What is the same in all games.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// What the match has come to.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// How many games of the log had no record in the folder when the match was opened.
    pub fn records_missing(&self) -> usize {
        self.records_missing
    }

    /// Has every game been played, or the SPRT come to its verdict?
    pub fn is_complete(&self) -> bool {
        self.summary.is_decided() || (1..=self.games).all(|game| self.summary.games.contains_key(&game))
    }
}

/// Who plays, by their own words. On resuming they have to be who they were.
fn engines(players: Option<&[Player; 2]>, past: &Past) -> anyhow::Result<[Identity; 2]> {
    let before = past.header.as_ref().map(|header| &header.engines);
    let now = players.map(|players| players.each_ref().map(|player| player.identity.clone()));
    match (before, now) {
        (Some(before), Some(now)) => {
            for (name, before, now) in [("A", &before[0], &now[0]), ("B", &before[1], &now[1])] {
                if before != now {
                    bail!("the log is of another match: {name} was {before}, is {now}");
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

    /// Counts what it is told, and gives everything up after so many games.
    struct Counting {
        finished: u32,
        most: u32,
    }

    impl Observer for Counting {
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
    fn a_match_is_played_kept_and_gone_on_with() {
        let scratch = tempfile::TempDir::new().unwrap();
        let at = |name: &str| Some(scratch.path().join(name));
        let storage = Storage { log: at("log.jsonl"), resume: true, records: at("games") };
        let open = |games: u32| {
            Match::open(conditions(&[5], Source::None), games, &storage, Arc::default()).unwrap()
        };
        let mut first = open(20);
        let mut counting = Counting { finished: 0, most: 2 };
        assert_eq!(first.play(1, &mut counting).unwrap_err().to_string(), "enough");
        // A game may have ended before it was given up.
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
        // A match that is over has nothing for other ranks.
        let mut over = Match::open(conditions(&[5], Source::None), 12, &storage, Arc::default()).unwrap();
        let mut links = kosumi_cluster::thread_links(2);
        let (other, first) = (links.remove(1), links.remove(0));
        let serving = std::thread::spawn(move || {
            crate::matches::serve(conditions(&[5], Source::None), 2, Box::new(other))
        });
        over.play_with(1, Some(Box::new(first)), &mut Counting { finished: 0, most: 0 }).unwrap();
        // It may have asked when the first had gone.
        drop(serving.join().unwrap());
        assert!(over.is_complete());
    }
}
