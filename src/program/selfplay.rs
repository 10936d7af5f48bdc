//! `kosumi selfplay`: games of the engine against itself, stored as shards for the training of networks.

use super::model::ModelArguments;
use super::{device, interrupt, options, progress, ranks};
use crate::terminal;
use anyhow::bail;
use clap::Args;
use kosumi_engine::{RankLink, processors};
use kosumi_go::board::BoardSize;
use kosumi_go::rules::Rules;
use kosumi_net::Network;
use kosumi_tools::ranks::{PieceQueue, World};
use kosumi_tools::selfplay::{self, LogSegment, LogStorage, NoiseSettings, Settings};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Play games against itself to train networks
///
/// Every game draws its board, rules and komi. It begins with moves drawn from the network's policy and continues with
/// searches. Shards, from which scripts/train trains networks, hold for each position the result of the search, the
/// winner, the score and the owner of each point at the end of the game, by the rules.
///
/// The folder contains a log with a line per game. The same command resumes after any stop, kill -9 included.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kosumi selfplay --out games --games 2000
  kosumi selfplay --out games --games 500 --sizes 9:3,13:2,19 --visits 100 --sgf
  kosumi selfplay --out tree --visits 60 --training-share 100 --tree 6      positions of search trees, for label.py
  kosumi selfplay --out teacher --model big.bin.gz --visits 0 --training-share 1000    no search: fast, for labels of label.py")]
pub(super) struct Arguments {
    /// Folder for logs and shards; created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Total number of games, including those of earlier runs in this folder
    #[arg(long, value_name = "N", default_value_t = 1000)]
    games: u32,
    /// Board sizes with their shares of the games: 9:3,13 means three games on 9x9 per game on 13x13
    #[arg(long, value_name = "SIZE[:N]", value_delimiter = ',', value_parser = weighted_size, default_value = "7,9:4,13:3,19:2")]
    sizes: Vec<(BoardSize, u32)>,
    /// Rules, one of which is drawn for each game
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = named_rules, default_value = "tromp-taylor,chinese,chinese-kgs,japanese,aga")]
    rules: Vec<Rules>,
    /// Visits per search; 0 draws moves from the network's policy without a search
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    visits: u32,
    /// Number of turns in a thousand that become training positions; the other turns get an eighth of the visits
    #[arg(long, alias = "taken", value_name = "N", default_value_t = 300,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    training_share: u32,
    /// Mean length of the opening, as a share of the points of the board
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = options::share)]
    opening: f32,
    /// Number of opening moves in a thousand that are drawn from all legal moves, and number of training positions in a
    /// thousand that are followed by an off-policy position, one or two random moves later
    #[arg(long, alias = "strays", value_name = "N", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(0..=1000))]
    off_policy: u32,
    /// Number of positions from the tree of each training search that become training positions, too. They resemble the
    /// positions that searches evaluate, which games do not contain. They have hardly any targets of their own:
    /// label.py adds them
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    tree: u32,
    /// Share of noise in the root policy of training searches; 0 disables it
    #[arg(long, value_name = "SHARE", default_value_t = 0.25, value_parser = options::share)]
    root_noise: f32,
    /// Forced visits: each visited root move of a training search gets at least sqrt(factor x prior x all visits)
    /// visits; 0 disables them. Visits that a move does not deserve are removed from the training target
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0, value_parser = factor)]
    forced_visits: f32,
    /// Soft resignation: absolute value of the expected result, 0 to 1, after three turns of which a game continues
    /// with fewer visits and fewer training positions; 1 disables it
    #[arg(long, value_name = "RESULT", default_value_t = 0.9, value_parser = options::share)]
    soft_resign: f32,
    /// Temperature of move choice at the beginning of games; a higher one gives more varied games
    #[arg(long, value_name = "T", default_value_t = 0.8, value_parser = temperature)]
    temperature: f32,
    /// Standard deviation of komi around the fair komi after the opening, in points
    #[arg(long, value_name = "POINTS", default_value_t = 1.0, value_parser = options::points)]
    komi_spread: f32,
    /// Number of games in a thousand that begin with two to nine handicap stones; half of them have a komi of half a
    /// point
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    handicap: u32,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of games at the same time [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Number of positions per shard
    #[arg(long, value_name = "N", default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    shard: u32,
    /// Write shards for validation instead of training
    #[arg(long)]
    validation: bool,
    /// Write the games as SGF, too, into a file beside each log
    #[arg(long)]
    sgf: bool,
    #[command(flatten)]
    model: ModelArguments,
}

fn weighted_size(text: &str) -> Result<(BoardSize, u32), String> {
    let (size, share) = text.split_once(':').unwrap_or((text, "1"));
    let share = share.parse().ok().filter(|share| (1..=1_000_000).contains(share));
    Ok((options::board_size(size)?, share.ok_or("the share is not a number from 1 to 1,000,000")?))
}

/// Accepts only rules with a name: logs cannot store other rules.
fn named_rules(text: &str) -> Result<Rules, String> {
    options::rules(text)
}

fn factor(text: &str) -> Result<f32, String> {
    let factor = text.parse::<f32>().ok().filter(|factor| (0.0..=100.0).contains(factor));
    factor.ok_or_else(|| "not a number from 0 to 100".to_owned())
}

fn temperature(text: &str) -> Result<f32, String> {
    let temperature = text.parse::<f32>().ok().filter(|&t| t > 0.0 && t <= 10.0);
    temperature.ok_or_else(|| "not a number above 0, up to 10".to_owned())
}

/// Interval between checks for an interruption.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Some((world, link)) = World::join()? else {
        return play(arguments, arguments.threads.map(usize::from), None);
    };
    // Ranks may share machines, and only the user knows how many threads each rank may use.
    let threads = arguments.threads.map_or(1, usize::from);
    ranks::check_processors(world.rank(), threads);
    ranks::run_rank(world, link, |link, is_one_gone| match is_one_gone {
        Some(is_one_gone) => play(arguments, Some(threads), Some((link, is_one_gone))),
        None => {
            let network = arguments.model.load()?;
            selfplay::serve(&arguments.settings(), network.as_ref(), threads, link)
        }
    })
    .map(Option::unwrap_or_default)
}

/// Plays the games of the command line on this rank and, if there are other ranks, on them. If no number of threads is
/// given, it follows from the network's device or the number of processors.
fn play(
    arguments: &Arguments,
    threads: Option<usize>,
    others: Option<(RankLink, Arc<AtomicBool>)>,
) -> anyhow::Result<()> {
    let network = arguments.model.load()?;
    let threads = threads.or_else(|| device::threads(network.as_deref())).unwrap_or_else(processors);
    let settings = arguments.settings();
    let storage = LogStorage {
        folder: arguments.out.clone(),
        prefix: if arguments.validation { "validation-selfplay" } else { "training-selfplay" },
        shard: arguments.shard as usize,
        sgf: arguments.sgf,
        settings: arguments.log_settings(network.as_deref()),
        seed: arguments.seed,
    };
    let mut segment = LogSegment::open(storage)?;
    let before = segment.finished().count();
    let missing: Vec<u32> = (0..arguments.games).filter(|&game| !segment.finished().has(game)).collect();

    let stop = interrupt::install_flag()?;
    let threads = threads.min(missing.len());
    let bar = progress::bar_from(before.into(), arguments.games.into(), progress::WIDE);
    let numbers = Arc::new(PieceQueue::new(missing));
    let (sender, games) = mpsc::channel();
    selfplay::start(&settings, network.as_ref(), &numbers, threads, &sender)?;
    let lending = match others {
        Some((link, is_one_gone)) => {
            let on_loss = move |rank: usize, games: usize| {
                is_one_gone.store(true, Ordering::Relaxed);
                ranks::note_loss(rank, games, "game");
            };
            Some(selfplay::lend(link, Arc::clone(&numbers), sender.clone(), on_loss)?)
        }
        None => None,
    };
    drop(sender);
    loop {
        match games.recv_timeout(POLL_INTERVAL) {
            Ok(game) => {
                segment.add(game?)?;
                bar.set_position(u64::from(segment.finished().count()));
                bar.set_message(format!("{} positions", segment.positions()));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if !stop.load(Ordering::Relaxed) {
        // The thread has already sent its last message.
        lending.map(JoinHandle::join);
    }
    segment.write_shard()?;
    bar.finish_and_clear();
    let finished = segment.finished().count();
    let mut out = terminal::stdout();
    writeln!(out, "games      {finished} of {}, {} of them now", arguments.games, finished - before)?;
    writeln!(out, "positions  {} of this run, in {} shards", segment.positions(), segment.shards())?;
    if finished < arguments.games && !stop.load(Ordering::Relaxed) {
        bail!("the workers stopped early");
    }
    Ok(())
}

impl Arguments {
    fn settings(&self) -> Settings {
        Settings {
            sizes: self.sizes.clone(),
            rules: self.rules.clone(),
            visits: self.visits,
            training_share: self.training_share,
            opening: self.opening,
            off_policy: self.off_policy,
            tree: self.tree,
            noise: NoiseSettings {
                weight: self.root_noise,
                forced: self.forced_visits,
                ..NoiseSettings::default()
            },
            soft_resign: self.soft_resign,
            temperature: self.temperature,
            komi_spread: self.komi_spread,
            handicap: self.handicap,
            seed: self.seed,
        }
    }

    /// Returns all settings on which the games depend, in the form of the log.
    fn log_settings(&self, network: Option<&Network>) -> Map<String, Value> {
        let sizes = self.sizes.iter().map(|&(size, share)| format!("{}:{share}", options::size_text(size)));
        // The names must not change, so that runs of earlier versions can be resumed.
        let settings = json!({
            "network": network.map(Network::name),
            "sizes": sizes.collect::<Vec<_>>(),
            "rules": self.rules.iter().map(Rules::to_string).collect::<Vec<_>>(),
            "visits": self.visits,
            "taken": self.training_share,
            "opening": self.opening,
            "strays": self.off_policy,
            "temperature": self.temperature,
            "komi-spread": self.komi_spread,
            "seed": self.seed,
            "shard": self.shard,
        });
        let mut settings = match settings {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        if self.handicap > 0 {
            settings.insert("handicap".into(), self.handicap.into());
        }
        // These settings have no effect without a search.
        if self.visits > 0 {
            settings.insert("root-noise".into(), self.root_noise.into());
            settings.insert("forced-visits".into(), self.forced_visits.into());
            settings.insert("soft-resign".into(), self.soft_resign.into());
        }
        if self.tree > 0 {
            settings.insert("tree".into(), self.tree.into());
        }
        settings
    }
}
