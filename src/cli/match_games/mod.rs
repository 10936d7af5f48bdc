//! `kosumi match`: games between two engines, with our own board as the referee.
//!
//! ```text
//!  Arguments ─> Conditions ─> Plan of game 1, 2, 3, …          schedule.rs: workers
//!                                  │
//!  contender.rs ─> Player ──> referee.rs ── adjudicate.rs     one game
//!                                  │
//!                       GameRecord, SGF ─> files.rs, journal.rs ─> summary.rs ─> text, report.rs, page.rs
//! ```
//!
//! Everything that a game needs is decided by the settings and its number, so that a match can be interrupted at any
//! moment and resumed: what the log does not have is played.

mod adjudicate;
mod clock;
mod conditions;
mod contender;
mod files;
mod journal;
mod openings;
mod opinion;
mod page;
mod player;
mod progress;
mod record;
mod referee;
mod report;
mod schedule;
mod summary;
#[cfg(test)]
mod tests;

use super::options;
use super::statistics::sprt::Sprt;
use crate::board::BoardSize;
use crate::rules::Rules;
use crate::time::TimeControl;
use anyhow::{Context, bail};
use clap::Args;
use conditions::{Board, Conditions, DeadStones, Opinions};
use contender::Contender;
use files::GameFiles;
use journal::{Journal, Past};
use openings::{Openings, Source};
use player::{Control, Identity, Player, start_one};
use progress::Progress;
use referee::Played;
use schedule::Event;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use summary::Summary;

/// Let two engines play against each other
///
/// Kosumi's own board is the referee: every move is checked, superko included, and the score is counted by the rules of
/// the match. Games come in pairs with the same opening and swapped colours: A has Black in games 1, 3, 5, ...
#[derive(Debug, Args)]
#[command(after_long_help = "\
Engines:
  builtin                        Kosumi in this process; one thread, 128 MiB
  builtin:playouts=500,tree      the same with options of 'kosumi gtp', without dashes
  \"gnugo --mode gtp --level 10\"  any GTP engine as a child process; no shell is involved
Engines that know kata-set-rules are told the rules; others have to be started with them.

Losing without Go: an illegal move, the refusal of a legal one, an answer that is no move, too much time, or the end of \
the process loses the game. Such forfeits are counted separately, and the engine is started anew. A game that cannot \
even begin (an engine does not start, or refuses board, komi, clock or opening) is annulled and tried again; after \
three attempts the match stops.

Dead stones: under rules without removal (cgos, tromp-taylor) all stones count. Otherwise those that both engines list \
as dead are removed; where they differ, Kosumi judges by playouts, and the record says so.

Stopping: ^C lets the games that are being played come to their end and counts them, as --sprt does: with several \
games at a time, dropping them would favour the results of short games. A second ^C gives them up. With --log, even \
'kill -9' loses nothing but the games being played: the same command line with --resume goes on.

Exit code: 0 the match is complete, or the SPRT has come to a verdict; 1 something failed; 2 the command line is \
wrong; 130 interrupted before the end.

Examples:
  kosumi match builtin:playouts=1000 \"gnugo --mode gtp --chinese-rules\" --jobs 2 \\
      --log match.jsonl --sgf games --html match.html
  kosumi match builtin:playouts=400 builtin:playouts=400,tree \\
      --sizes 9,13 --games 4000 --sprt 0,20 --log sprt.jsonl
  kosumi match \"./new gtp\" \"./old gtp\" --clock \"fischer 60 1\" \\
      --openings book.sgf --opening-depth 8
  kosumi match \"./new gtp\" \"./old gtp\" --time 1 --rules japanese --size 19")]
pub(super) struct Arguments {
    /// The first engine: a command line, or builtin[:OPTION,OPTION=VALUE,...]
    #[arg(value_parser = Contender::parse)]
    a: Contender,
    /// The second engine
    #[arg(value_parser = Contender::parse)]
    b: Contender,
    /// Games to play, or the most of them with --sprt
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    games: u32,
    /// Sizes of the board, as 9 or 9,13,19 or 9x7; games are spread evenly
    #[arg(long, visible_alias = "size", value_name = "SIZES", default_value = "9", value_delimiter = ',',
        value_parser = options::board_size)]
    sizes: Vec<BoardSize>,
    /// Points for White, for all sizes or each: 7.5 or 9:7,13:7.5 [default: what is usual with the rules]
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true, value_delimiter = ',', value_parser = komi)]
    komi: Vec<(Option<BoardSize>, f32)>,
    /// Rules by which the referee decides
    #[arg(long, value_name = "NAME", default_value = "cgos", value_parser = options::rules)]
    rules: Rules,
    /// Games at the same time, each with its own two engines
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,

    /// Time for every move, in seconds
    #[arg(long, value_name = "SECONDS", conflicts_with = "clock", value_parser = options::seconds,
        help_heading = "Time")]
    time: Option<Duration>,
    /// A clock: "MAIN BYO STONES" in seconds, or "absolute 300", "byoyomi 300 30 5", "canadian 300 60 10",
    /// "fischer 60 2", "fischer-capped 60 2 90 30"
    #[arg(long, visible_alias = "time-settings", value_name = "CLOCK", value_parser = clock::parse,
        help_heading = "Time")]
    clock: Option<TimeControl>,
    /// How much more than its time an engine may take before it loses, in seconds: pipes and a busy machine cost time,
    /// too
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = options::seconds_or_none,
        help_heading = "Time")]
    margin: Duration,
    /// How long an engine may think about a move without a clock, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = options::seconds,
        help_heading = "Time")]
    patience: Duration,

    /// First moves: builtin; a number of random ones; none; or a record, or folder of records
    #[arg(long, value_name = "SOURCE", default_value = "builtin", value_parser = Source::parse,
        help_heading = "Games")]
    openings: Source,
    /// How many moves of a record are its opening
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Games")]
    opening_depth: u16,
    /// Number that decides openings, and the engines' chance where they let it be decided
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Games")]
    seed: u64,
    /// Which stones are dead, under rules that have them removed
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = DeadStones::Agreed, help_heading = "Games")]
    dead: DeadStones,
    /// Whose opinions go into the records, as comments: win rate, score and expected moves
    #[arg(long, value_name = "WHOSE", value_enum, default_value_t = Opinions::Builtin, help_heading = "Games")]
    opinions: Opinions,

    /// Stop as soon as pairs of games speak clearly for one of two differences in Elo: 0,10 or with the error rates,
    /// 0,10,0.05,0.05
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true, value_parser = Sprt::parse,
        help_heading = "Results")]
    sprt: Option<Sprt>,
    /// Write every game into this folder
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    sgf: Option<PathBuf>,
    /// Write a line of JSON for every finished game into this file, at once
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    log: Option<PathBuf>,
    /// Go on with the match in the log: play the games that are not in it
    #[arg(long, requires = "log", help_heading = "Results")]
    resume: bool,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    json: Option<PathBuf>,
    /// Write the results as a page with tables, plots and links to the records
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    html: Option<PathBuf>,
}

/// `POINTS`, or `SIZE:POINTS`.
fn komi(text: &str) -> Result<(Option<BoardSize>, f32), String> {
    match text.split_once(':') {
        Some((size, points)) => Ok((Some(options::board_size(size)?), options::points(points)?)),
        None => Ok((None, options::points(text)?)),
    }
}

impl Arguments {
    fn conditions(&self) -> anyhow::Result<Conditions> {
        if (1..self.sizes.len()).any(|index| self.sizes[..index].contains(&self.sizes[index])) {
            bail!("a size is given twice");
        }
        let sizes = self.komi.iter().filter_map(|(size, _)| *size);
        if let Some(size) = sizes.into_iter().find(|size| !self.sizes.contains(size)) {
            bail!("a komi is given for {}, which is not played", options::size_text(size));
        }
        let komi = |size: BoardSize| {
            let of = |wanted: Option<BoardSize>| self.komi.iter().rev().find(|(size, _)| *size == wanted);
            of(Some(size)).or(of(None)).map_or(self.rules.usual_komi(), |(_, komi)| *komi)
        };
        let boards: Vec<Board> = self.sizes.iter().map(|&size| Board { size, komi: komi(size) }).collect();
        let depth = usize::from(self.opening_depth);
        Ok(Conditions {
            contenders: [self.a.clone(), self.b.clone()],
            openings: Openings::load(&self.openings, depth, &boards, self.rules, self.seed)?,
            boards,
            rules: self.rules,
            time: self.clock.or(self.time.map(|time| TimeControl::PerMove { time })),
            margin: self.margin,
            patience: self.patience,
            source: self.openings.clone(),
            seed: self.seed,
            dead: self.dead,
            opinions: self.opinions,
            sprt: self.sprt,
        })
    }
}

/// How often the match looks around while no game ends.
const TICK: Duration = Duration::from_millis(200);
/// How long games that are given up may take to notice.
const GIVE_UP_TIME: Duration = Duration::from_secs(3);
/// As shells have it for whoever was stopped by ^C.
const INTERRUPTED: u8 = 130;

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let conditions = Arc::new(arguments.conditions()?);
    for path in [&arguments.json, &arguments.html].into_iter().flatten() {
        files::check_target(path)?;
    }
    let (mut journal, past) = match &arguments.log {
        Some(path) => {
            let (journal, past) = Journal::open(path, arguments.resume, &conditions.settings())?;
            (Some(journal), past)
        }
        None => (None, Past::default()),
    };
    let files = match &arguments.sgf {
        Some(folder) => Some(GameFiles::open(folder, arguments.resume)?),
        None => None,
    };
    let control = Arc::new(Control::default());
    catch_interrupts(&control)?;

    let is_missing = |game: &u32| past.games.iter().all(|record| record.number != *game);
    let missing: Vec<u32> = (1..=arguments.games).filter(is_missing).collect();
    let mut table = Summary::new(Default::default(), &conditions);
    past.games.iter().for_each(|record| table.add(record));
    let is_over = missing.is_empty() || table.is_decided();
    // Engines are not needed to show a match that is over.
    let players = match &past.header {
        Some(_) if is_over => None,
        _ => Some([start_one(&conditions, &control, 0)?, start_one(&conditions, &control, 1)?]),
    };
    let engines = engines(players.as_ref(), &past)?;
    if let Some(journal) = &mut journal {
        journal.begin(engines.clone(), conditions.settings())?;
    }
    table.names = [0, 1].map(|index| format!("{} ({})", engines[index], conditions.contenders[index].text));
    table.annulled = past.annulled;
    if let Some(files) = &files {
        files.warn_of_missing(&past)?;
    }

    let mut playing = Match {
        progress: Progress::new(arguments.games, table.games.len()),
        summary: table,
        control: Arc::clone(&control),
        journal,
        files,
    };
    if let (Some(players), false) = (players, is_over) {
        playing.play(&conditions, missing, arguments.jobs, players)?;
    }
    playing.progress.finish();

    let summary = &playing.summary;
    write!(io::stdout(), "{summary}")?;
    io::stdout().flush()?;
    if let Some(path) = &arguments.json {
        files::write_at_once(path, &report::json(summary, &conditions))?;
    }
    if let Some(path) = &arguments.html {
        let records = arguments.sgf.as_deref().map(|folder| files::relative(path, folder)).transpose()?;
        files::write_at_once(path, &page::html(summary, &conditions, records.as_deref()))?;
    }
    let is_complete =
        summary.is_decided() || (1..=arguments.games).all(|game| summary.games.contains_key(&game));
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::from(INTERRUPTED) })
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

/// The first ^C stops the match when the games being played are over, the second at once.
fn catch_interrupts(control: &Arc<Control>) -> anyhow::Result<()> {
    let control = Arc::clone(control);
    let handler = move || {
        if control.stop.swap(true, Ordering::Relaxed) {
            control.abort.store(true, Ordering::Relaxed);
        } else {
            let _ = writeln!(
                io::stderr(),
                "\ninterrupted: the games being played are finished first; ^C again gives them up"
            );
        }
    };
    ctrlc::set_handler(handler).context("cannot wait for ^C")
}

/// A match under way.
struct Match {
    progress: Progress,
    summary: Summary,
    control: Arc<Control>,
    journal: Option<Journal>,
    files: Option<GameFiles>,
}

impl Match {
    fn play(
        &mut self,
        conditions: &Arc<Conditions>,
        games: Vec<u32>,
        jobs: u16,
        players: [Player; 2],
    ) -> anyhow::Result<()> {
        let events = schedule::start(conditions, &self.control, games, jobs, players)?;
        let mut failure = None;
        let mut given_up: Option<Instant> = None;
        loop {
            let result = match events.recv_timeout(TICK) {
                Ok(Event::Finished(played)) => self.finished(&played),
                Ok(Event::Annulled { number, reason }) => self.annulled(number, &reason),
                Ok(Event::Failed(error)) => Err(error),
                Err(RecvTimeoutError::Timeout) => Ok(()),
                // No worker is left.
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Err(error) = result {
                // Games that cannot be kept need not be played to their end.
                self.control.abort.store(true, Ordering::Relaxed);
                failure.get_or_insert(error);
            }
            if self.summary.is_decided() {
                self.control.stop.store(true, Ordering::Relaxed);
            }
            if self.control.is_aborted() && given_up.get_or_insert_with(Instant::now).elapsed() > GIVE_UP_TIME
            {
                break;
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Keeps a game: first the record, then the line of the log, which thus never speaks of a record that is not there.
    fn finished(&mut self, played: &Played) -> anyhow::Result<()> {
        let record = &played.record;
        if let Some(files) = &self.files {
            files.write(record.number, &played.sgf)?;
        }
        if let Some(journal) = &mut self.journal {
            journal.add(record)?;
        }
        self.summary.add(record);
        let standing = self.summary.standing();
        self.progress.game(&record.to_string(), &standing, self.summary.games.len())
    }

    fn annulled(&mut self, number: u32, reason: &str) -> anyhow::Result<()> {
        if let Some(journal) = &mut self.journal {
            journal.add_annulled(number, reason)?;
        }
        self.summary.annulled += 1;
        self.progress.remark(&format!("game {number:>4}  annulled: {reason}"))
    }
}
