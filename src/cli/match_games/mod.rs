//! `kosumi match`: games between two engines, with our own board as the referee.

mod clock;
mod record;
mod referee;
mod summary;

use super::options;
use crate::board::BoardSize;
use crate::game::Game;
use crate::rules::Rules;
use anyhow::{Context, bail};
use clap::Args;
use clock::TimeSettings;
use record::{GameRecord, Side};
use referee::{Conditions, Player};
use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use summary::Summary;

/// Let two engines play against each other
#[derive(Debug, Args)]
#[command(after_help = "\
The engines are given as command lines, in quotes. Colours alternate: A has Black in games 1, 3, 5, ...
Every move is checked. An illegal move, a refused command, a crash or too much time loses the game; the
reason is shown, and such games are counted separately. After two passes all stones on the board count,
unless the rules have dead stones removed: then those that both engines call dead are.

Examples:
  kosumi match --games 100 --size 9 --jobs 2 --sgf games --log match.jsonl \\
      \"kosumi gtp --playouts 5000 --rules cgos\" \"gnugo --mode gtp --level 10 --chinese-rules\"
  kosumi match --games 20 --size 13 --openings 4 --time 5 \"kosumi gtp\" \"kosumi gtp --tree\"")]
pub(super) struct Arguments {
    /// Command line of the first engine
    a: String,
    /// Command line of the second engine
    b: String,
    /// Games to play
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    games: u32,
    /// Size of the board: 9, or WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE", default_value = "9", value_parser = options::board_size)]
    size: BoardSize,
    /// Points for White [default: what is usual with the rules]
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true, value_parser = options::points)]
    komi: Option<f32>,
    /// Rules by which the referee decides; the engines are not told
    #[arg(long, value_name = "NAME", default_value = "cgos", value_parser = options::rules)]
    rules: Rules,
    /// Games at the same time, each with its own two engines
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Time for every move, in whole seconds
    #[arg(long, value_name = "SECONDS", conflicts_with = "time_settings",
        value_parser = clap::value_parser!(u32).range(1..))]
    time: Option<u32>,
    /// Main time, byo-yomi time and byo-yomi stones, as in GTP: "300 30 10"
    #[arg(long, value_name = "TIMES", value_parser = TimeSettings::parse)]
    time_settings: Option<TimeSettings>,
    /// How much more than its time an engine may take before it loses, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = options::seconds)]
    margin: Duration,
    /// How long an engine may think about a move without a clock, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = options::seconds)]
    patience: Duration,
    /// Random moves at the beginning, the same in both games of a pair
    #[arg(long, value_name = "N", default_value_t = 0)]
    openings: u32,
    /// Number that decides the openings, and the engines' chance where they let it be decided
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write every game into this folder
    #[arg(long, value_name = "DIR")]
    sgf: Option<PathBuf>,
    /// Write a line of JSON for every finished game into this file, at once
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Go on with the match in the log: skip the games that are in it
    #[arg(long, requires = "log")]
    resume: bool,
}

impl Arguments {
    fn conditions(&self) -> Conditions {
        Conditions {
            command_lines: [self.a.clone(), self.b.clone()],
            size: self.size,
            komi: self.komi.unwrap_or_else(|| self.rules.usual_komi()),
            rules: self.rules,
            time: self.time_settings.or(self.time.map(TimeSettings::per_move)),
            margin: self.margin,
            patience: self.patience,
            opening: self.openings,
            seed: self.seed,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let conditions = arguments.conditions();
    let (mut log, past) = match &arguments.log {
        Some(path) => {
            let (file, past) = open_log(path, arguments.resume, &conditions)?;
            (Some(file), past)
        }
        None => (None, Vec::new()),
    };
    if let Some(folder) = &arguments.sgf {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let names = names(&conditions)?;
    let mut summary = Summary::new(names.clone());
    past.iter().for_each(|record| summary.add(record));
    let missing = (1..=arguments.games).filter(|&game| past.iter().all(|record| record.game != game));
    // The last first, as they are taken from the end.
    let waiting = Mutex::new(missing.rev().collect::<Vec<u32>>());

    let mut out = io::stdout().lock();
    thread::scope(|scope| -> anyhow::Result<()> {
        let (sender, results) = mpsc::channel();
        for _ in 0..arguments.jobs {
            let (sender, waiting, conditions) = (sender.clone(), &waiting, &conditions);
            scope.spawn(move || work(conditions, waiting, &sender));
        }
        drop(sender);
        let show_progress = io::stderr().is_terminal();
        let finish = || -> anyhow::Result<()> {
            for finished in results {
                let (record, game) = finished?;
                if let Some(log) = &mut log {
                    writeln!(log, "{}", serde_json::to_string(&record)?)?;
                    log.flush()?;
                }
                if let Some(folder) = &arguments.sgf {
                    let path = folder.join(format!("game-{:04}.sgf", record.game));
                    let text = record.sgf(&game, [&names[0], &names[1]]);
                    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
                }
                summary.add(&record);
                if show_progress {
                    write!(io::stderr(), "\r\x1b[K")?;
                }
                writeln!(out, "{record}")?;
                out.flush()?;
                if show_progress {
                    write!(io::stderr(), "{}", summary.progress(arguments.games))?;
                }
            }
            Ok(())
        };
        let result = finish();
        // Whatever went wrong, no further game is begun.
        waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
        if show_progress {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
        result
    })?;
    write!(out, "{summary}")?;
    Ok(())
}

/// What a worker sends: a finished game, or why it cannot go on.
type Finished = anyhow::Result<(GameRecord, Game)>;

/// Plays games until none is left.
fn work(conditions: &Conditions, waiting: &Mutex<Vec<u32>>, sender: &Sender<Finished>) {
    let mut engines: Option<[Player; 2]> = None;
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(game) = next else { break };
        let mut players = match engines.take().map_or_else(|| start(conditions), Ok) {
            Ok(players) => players,
            Err(error) => {
                let _ = sender.send(Err(error));
                break;
            }
        };
        let [a, b] = &mut players;
        let (record, game, is_fit) = referee::play(conditions, game, [a, b]);
        // The others are dropped, and killed by that.
        engines = is_fit.then_some(players);
        if sender.send(Ok((record, game))).is_err() {
            break;
        }
    }
    engines.into_iter().flatten().for_each(Player::quit);
}

fn start(conditions: &Conditions) -> anyhow::Result<[Player; 2]> {
    let start = |side: Side| {
        let command_line = &conditions.command_lines[side as usize];
        Player::start(command_line).with_context(|| format!("cannot start {side}: {command_line}"))
    };
    Ok([start(Side::A)?, start(Side::B)?])
}

/// Names and versions of the engines; also finds out at once if one cannot be started.
fn names(conditions: &Conditions) -> anyhow::Result<[String; 2]> {
    let players = start(conditions)?;
    let names = [players[0].name.clone(), players[1].name.clone()];
    players.into_iter().for_each(Player::quit);
    Ok(names)
}

/// Opens the log for writing, and reads the games that are in it.
fn open_log(path: &Path, resume: bool, conditions: &Conditions) -> anyhow::Result<(File, Vec<GameRecord>)> {
    let about = || format!("cannot use the log {}", path.display());
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(about),
    };
    if !text.is_empty() && !resume {
        bail!("{} exists; --resume goes on with it", path.display());
    }
    let mut past: Vec<GameRecord> = Vec::new();
    for line in text.lines() {
        // A line that was cut off stands for a game that is to be played again.
        let Ok(record) = serde_json::from_str::<GameRecord>(line) else { continue };
        let [a, b] = &conditions.command_lines;
        let same = record.a == *a
            && record.b == *b
            && record.size == options::size_text(conditions.size)
            && record.komi == conditions.komi
            && record.rules == conditions.rules.to_string();
        if !same {
            bail!("{} is the log of another match", path.display());
        }
        if past.iter().all(|other| other.game != record.game) {
            past.push(record);
        }
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path).with_context(about)?;
    if !text.is_empty() && !text.ends_with('\n') {
        writeln!(file).with_context(about)?;
    }
    Ok((file, past))
}
