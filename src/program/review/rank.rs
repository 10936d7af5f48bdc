//! `kosumi review --rank`: estimates the ranks of players from their games.

use super::{Arguments, interrupt, progress, ranks};
use anyhow::{Context, ensure};
use kosumi_go::board::Color;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Record, Tree};
use kosumi_tools::collections::{Records, StreamRecord};
use kosumi_tools::files::files_below;
use kosumi_tools::review::{MainLine, PlayedMoves, RankEstimate, RankFeatures, rank_judge};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Maximum number of files in a folder.
const MAX_FILES: usize = 1_000_000;

/// Version of the JSON document. It increases when a field changes its meaning or is removed.
const FORMAT_VERSION: u32 = 1;

/// Moves of one player in one game.
#[derive(Serialize)]
struct PlayerGame {
    file: String,
    /// Number of the game in the file, counted from 1.
    game: usize,
    color: String,
    columns: usize,
    rows: usize,
    /// Rank in the record.
    stated: Option<String>,
    moves: usize,
    mean_loss: f32,
    large_share: f32,
    /// Mean of the negative logarithm of a move's probability.
    surprise: f32,
    /// Mean loss in the opening, the middle game and the endgame.
    phases: [Option<f32>; 3],
    #[serde(skip)]
    features: RankFeatures,
}

/// A player, with all games of the player.
#[derive(Serialize)]
struct Player {
    name: String,
    rank: String,
    /// Ends of the 90 % interval: the stronger rank, then the weaker rank.
    interval: [String; 2],
    /// Number of ranks below 10 dan, not rounded.
    steps_below_ten_dan: f32,
    error: f32,
    games: Vec<PlayerGame>,
}

#[derive(Serialize)]
struct Document {
    format: &'static str,
    version: u32,
    program: &'static str,
    players: Vec<Player>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let is_stopped = interrupt::install_flag()?;
    let is_interrupted = || is_stopped.load(Ordering::Relaxed);
    let small = arguments.model.load_small()?;
    let mut judge = rank_judge(small, arguments.rules.unwrap_or_default());
    let bar = progress::bar(0, "{bar:32} {pos}/{len} files, {eta} left");
    let files = files(&arguments.files)?;
    bar.set_length(files.len() as u64);
    let mut players: BTreeMap<String, Vec<PlayerGame>> = BTreeMap::new();
    'files: for file in &files {
        for (index, found) in Records::open(file)?.enumerate() {
            let place = || format!("{}, game {}", file.display(), index + 1);
            let game = match found? {
                StreamRecord::Record(bytes, _) => Game::parse(&bytes, arguments).with_context(place),
                StreamRecord::TooLong(_) => Err(anyhow::anyhow!("{}: the record is too long", place())),
            };
            let game = match game {
                Ok(game) => game,
                Err(error) => {
                    bar.suspend(|| ranks::warn(&format!("{error:#}; left out")));
                    continue;
                }
            };
            let Some(played) = PlayedMoves::of(&game.line, &mut judge, &is_interrupted) else {
                break 'files;
            };
            for color in Color::BOTH {
                if let Some(features) = played.features(color) {
                    let name = game.name(color);
                    let entry = game.entry(file, index + 1, color, features);
                    players.entry(name).or_default().push(entry);
                }
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if is_interrupted() {
        ranks::warn("stopped; the results are incomplete");
    }
    ensure!(
        !players.is_empty(),
        "no player made ten moves or more: there is nothing to estimate a rank from"
    );
    let players: Vec<Player> =
        players.into_iter().filter_map(|(name, games)| Player::of(name, games)).collect();
    let mut out = io::stdout().lock();
    if arguments.json {
        let program = concat!("Kosumi ", env!("CARGO_PKG_VERSION"));
        let document = Document { format: "kosumi-ranks", version: FORMAT_VERSION, program, players };
        serde_json::to_writer_pretty(&mut out, &document)?;
        writeln!(out)?;
    } else {
        write_table(&mut out, &players)?;
    }
    Ok(())
}

/// Returns the paths that are files, and the records in those that are folders.
fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut found = files_below(path, MAX_FILES).with_context(|| path.display().to_string())?;
            found.retain(|file| file.extension().is_some_and(|end| end.eq_ignore_ascii_case("sgf")));
            ensure!(!found.is_empty(), "{} contains no .sgf files", path.display());
            files.append(&mut found);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

/// A parsed game.
struct Game {
    record: Record,
    tree: Tree,
    line: MainLine,
}

impl Game {
    fn parse(bytes: &[u8], arguments: &Arguments) -> anyhow::Result<Game> {
        let record = Record::parse(bytes)?;
        let tree = Tree::parse(bytes)?;
        let rules: Rules = arguments.rules.or_else(|| record.rules()).unwrap_or_default();
        let komi = arguments.komi.or(record.komi).unwrap_or_else(|| record.komi_under(rules));
        let line = MainLine::of_record(&record, rules, komi)?;
        Ok(Game { record, tree, line })
    }

    /// Returns the name of a player, or of the colour if the player has no name.
    fn name(&self, color: Color) -> String {
        let name = if color == Color::Black { &self.record.black } else { &self.record.white };
        let name = name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        name.map_or_else(|| color.to_string(), |name| name.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn entry(&self, file: &Path, game: usize, color: Color, features: RankFeatures) -> PlayerGame {
        let property = if color == Color::Black { "BR" } else { "WR" };
        let size = self.line.size();
        PlayerGame {
            file: file.display().to_string(),
            game,
            color: color.to_string(),
            columns: size.columns(),
            rows: size.rows(),
            stated: self.tree.node(self.tree.root()).text(property),
            moves: features.moves,
            mean_loss: features.mean_loss,
            large_share: features.large_share,
            surprise: features.surprise,
            phases: features.phases,
            features,
        }
    }
}

impl Player {
    fn of(name: String, games: Vec<PlayerGame>) -> Option<Player> {
        let features: Vec<RankFeatures> = games.iter().map(|game| game.features).collect();
        let estimate = RankEstimate::of(&features)?;
        let (strong, weak) = estimate.interval();
        Some(Player {
            name,
            rank: estimate.rank().to_string(),
            interval: [strong.to_string(), weak.to_string()],
            steps_below_ten_dan: estimate.steps,
            error: estimate.error,
            games,
        })
    }

    /// Returns the mean of a number over all moves.
    fn mean(&self, number: fn(&PlayerGame) -> f32) -> f32 {
        let moves: usize = self.games.iter().map(|game| game.moves).sum();
        self.games.iter().map(|game| game.moves as f32 * number(game)).sum::<f32>() / moves as f32
    }

    /// Returns the mean loss in a phase as text, over the games that have this phase.
    fn phase(&self, phase: usize) -> String {
        let known: Vec<f32> = self.games.iter().filter_map(|game| game.phases[phase]).collect();
        match known.len() {
            0 => "-".to_owned(),
            count => format!("{:.1}", known.iter().sum::<f32>() / count as f32),
        }
    }
}

fn write_table(out: &mut impl Write, players: &[Player]) -> io::Result<()> {
    writeln!(
        out,
        "rank  90 % interval  games  moves  points lost a move: all, opening, middle, end  large mistakes"
    )?;
    for player in players {
        let [strong, weak] = &player.interval;
        let moves: usize = player.games.iter().map(|game| game.moves).sum();
        let stated: Vec<&str> = player.games.iter().filter_map(|game| game.stated.as_deref()).collect();
        let stated = stated.first().filter(|first| stated.iter().all(|other| other == *first));
        let stated = stated.map_or_else(String::new, |rank| format!(" ({rank})"));
        writeln!(
            out,
            "{:<4}  {:<13}  {:>5}  {moves:>5}  {:>24.1}  {:>7}  {:>6}  {:>3}  {:>12.1} %  {}{stated}",
            player.rank,
            format!("{weak} to {strong}"),
            player.games.len(),
            player.mean(|game| game.mean_loss),
            player.phase(0),
            player.phase(1),
            player.phase(2),
            100.0 * player.mean(|game| game.large_share),
            player.name,
        )?;
    }
    writeln!(
        out,
        "On 9x9 and 13x13 these are ranks of Kosumi, on 19x19 ranks of people on servers: see docs/ranks.md."
    )
}
