//! `kosumi review FOLDER`: reviews all records of a folder, and writes pages about all of them.
//!
//! A log in the folder of the reviews has an entry for every finished game ([`ReviewFolder`]). A game is not reviewed
//! again as long as its record and the settings are unchanged and its files exist.

use super::outputs::{Format, Outputs, ReviewResult};
use super::{Arguments, ReviewEvent, ReviewJob, device, interrupt, player, progress, ranks};
use crate::terminal;
use anyhow::{Context, bail, ensure};
use indicatif::ProgressBar;
use kosumi_go::board::Color;
use kosumi_go::sgf::Record;
use kosumi_tools::collections::{Records, StreamRecord};
use kosumi_tools::files::{files_below, write_atomically};
use kosumi_tools::review::{FailedRecord, GameEntry, Games, INDEX, review_digest};
use kosumi_tools::review_folder::{ReviewFolder, ReviewedGame};
use kosumi_tools::words::counted;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of files in a folder.
const MAX_FILES: usize = 100_000;
/// Maximum number of games in a folder. All their moves are kept in memory.
const MAX_GAMES: usize = 50_000;
/// Extensions of files of records.
const ENDINGS: [&str; 3] = [".sgf", ".sgf.gz", ".sgf.zst"];

/// Everything that a review of a game needs besides the record.
struct Work<'w> {
    job: ReviewJob<'w>,
    is_stopped: &'w AtomicBool,
    bar: ProgressBar,
}

/// Location of a game.
struct GamePlace<'p> {
    /// Path of the file in the folder.
    file: &'p str,
    /// Number of the game in the file, counted from 1.
    game: u32,
    path: &'p Path,
}

/// Folder of the reviews, and what is known about the games.
struct Batch<'a> {
    arguments: &'a Arguments,
    folder: &'a Path,
    out: &'a Path,
    formats: Vec<Format>,
    /// Description of everything besides the record on which a review depends.
    settings: String,
    reviews: ReviewFolder,
    /// Names of files that belong to a game of this run.
    names: BTreeSet<String>,
    entries: Vec<GameEntry>,
    failed: Vec<FailedRecord>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    games: usize,
    reviewed: usize,
    /// Number of games in which the player of `--player` does not play.
    of_others: usize,
    /// Number of games that were not reviewed because the review was stopped.
    left: usize,
}

pub(super) fn run(arguments: &Arguments, folder: &Path) -> anyhow::Result<()> {
    ranks::refuse_mpi()?;
    ensure!(arguments.game == 1, "--game is for single files; all games of a folder are reviewed");
    let out = arguments.output.as_deref().context("-o is missing: the folder for the reviews")?;
    let files = record_files(folder, out)?;
    if !out.is_dir() {
        fs::create_dir(out).with_context(|| format!("cannot create the folder {}", out.display()))?;
    }
    let is_stopped = interrupt::install_flag()?;
    let network = arguments.model.load()?;
    let threads = arguments.threads.map(usize::from).or_else(|| device::threads(network.as_deref()));
    let job = ReviewJob { arguments, threads, network: network.as_ref(), is_alone: true };
    let mut batch = Batch::new(arguments, folder, out, network.is_some())?;
    let bar = progress::bar(0, "{msg}{bar:32} {pos}/{len} positions, {eta} left");
    let work = Work { job, is_stopped: &is_stopped, bar };
    for file in &files {
        batch.file(file, &work)?;
    }
    work.bar.finish_and_clear();
    batch.finish(is_stopped.load(Ordering::Relaxed))
}

/// Returns the files of records in a folder, except those in the folder of the reviews.
fn record_files(folder: &Path, out: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let canonical = |path: &Path| path.canonicalize().ok();
    ensure!(
        canonical(out).is_none() || canonical(out) != canonical(folder),
        "{} is the folder of the records; choose another one for the reviews",
        out.display()
    );
    let mut files = files_below(folder, MAX_FILES).with_context(|| folder.display().to_string())?;
    files.retain(|file| {
        let name = file.to_string_lossy().to_lowercase();
        ENDINGS.iter().any(|ending| name.ends_with(ending))
    });
    if let Some(out) = canonical(out) {
        files.retain(|file| canonical(file).is_none_or(|file| !file.starts_with(&out)));
    }
    ensure!(!files.is_empty(), "{} contains no .sgf files", folder.display());
    Ok(files)
}

/// Returns the settings on which a review depends, as text.
fn settings(arguments: &Arguments, formats: &[Format], has_network: bool) -> String {
    let Arguments { playouts, time, seed, from, to, player, rules, komi, thresholds, candidates, .. } =
        arguments;
    format!(
        "{} {} {formats:?} {playouts:?} {time:?} {seed} {from} {to:?} {player:?} {rules:?} {komi:?} {thresholds:?} \
         {candidates} {}",
        env!("CARGO_PKG_VERSION"),
        has_network,
        arguments.model.name()
    )
}

impl<'a> Batch<'a> {
    fn new(
        arguments: &'a Arguments,
        folder: &'a Path,
        out: &'a Path,
        has_network: bool,
    ) -> anyhow::Result<Batch<'a>> {
        let reviews = ReviewFolder::open(out)?;
        let formats = Outputs::formats(arguments);
        Ok(Batch {
            arguments,
            folder,
            out,
            settings: settings(arguments, &formats, has_network),
            formats,
            reviews,
            names: BTreeSet::new(),
            entries: Vec::new(),
            failed: Vec::new(),
            counts: Counts::default(),
        })
    }

    /// Reviews the games of a file. Records errors about the file or one of its records, and returns all others.
    fn file(&mut self, path: &Path, work: &Work<'_>) -> anyhow::Result<()> {
        let file = path.strip_prefix(self.folder).unwrap_or(path).to_string_lossy().into_owned();
        let note = |batch: &mut Batch<'_>, game: u32, reason: String| {
            work.bar.reset();
            work.bar.suspend(|| ranks::warn(&format!("{file}, game {game}: {reason}; left out")));
            batch.failed.push(FailedRecord { file: file.clone(), game, reason });
        };
        let records = match Records::open(path) {
            Ok(records) => records,
            Err(error) => {
                note(self, 1, format!("{error:#}"));
                return Ok(());
            }
        };
        let mut game = 0;
        for found in records {
            game += 1;
            self.counts.games += 1;
            ensure!(
                self.counts.games <= MAX_GAMES,
                "{} contains more than {MAX_GAMES} games",
                self.folder.display()
            );
            let bytes = match found {
                Ok(StreamRecord::Record(bytes, _)) => bytes,
                Ok(StreamRecord::TooLong(_)) => {
                    note(self, game, "the record is too long".to_owned());
                    continue;
                }
                Err(error) => {
                    note(self, game, format!("{error:#}"));
                    break;
                }
            };
            match self.game(&GamePlace { file: &file, game, path }, &bytes, work) {
                Ok(()) => {}
                // The note already names the record.
                Err(GameError::Record(error)) => note(self, game, error.root_cause().to_string()),
                Err(GameError::Other(error)) => return Err(error),
            }
        }
        if game == 0 {
            note(self, 1, "no game record".to_owned());
        }
        Ok(())
    }

    /// Reviews a game, unless its review exists.
    fn game(&mut self, place: &GamePlace<'_>, bytes: &[u8], work: &Work<'_>) -> Result<(), GameError> {
        let &GamePlace { file, game, path } = place;
        let record = Record::parse(bytes).map_err(|error| GameError::Record(error.into()))?;
        if player::wanted(self.arguments.player.as_deref(), &record).is_err() {
            self.counts.of_others += 1;
            return Ok(());
        }
        let digest = review_digest(&self.settings, bytes);
        let base = self.name(file, game);
        let reviewed_game = ReviewedGame { file, game, base: &base, digest: &digest };
        let outputs = Outputs { record: path.to_owned(), files: self.paths(&base) };
        let files: Vec<PathBuf> = outputs.files.iter().map(|(path, _)| path.clone()).collect();
        if let Some(entry) = self.reviews.finished(&reviewed_game, &files).map_err(GameError::Other)? {
            self.entries.push(entry);
            return Ok(());
        }
        let is_stopped = || work.is_stopped.load(Ordering::Relaxed);
        if is_stopped() {
            self.counts.left += 1;
            return Ok(());
        }
        let shown = if game > 1 { format!("{file}, game {game}") } else { file.to_owned() };
        let found = work.job.game(&outputs, &shown, bytes, work.is_stopped, &mut |event| {
            if let ReviewEvent::Progress { pass, done, total } = event {
                work.bar.set_message(format!("{shown}  {pass}"));
                work.bar.set_length(total as u64);
                work.bar.set_position(done as u64);
            }
            Ok(())
        });
        work.bar.reset();
        // A game whose review was not finished is reviewed from its beginning by the next run.
        if is_stopped() {
            self.counts.left += 1;
            return Ok(());
        }
        let (reviewed, result) = found.map_err(GameError::Record)?;
        let page = self.formats.contains(&Format::Html).then(|| format!("{base}.html"));
        let entry = GameEntry::new(&reviewed, file.to_owned(), game, page);
        self.store(&outputs, &result, &reviewed_game, entry, &work.bar).map_err(GameError::Other)
    }

    /// Stores the files of a game, and then reports it.
    fn store(
        &mut self,
        outputs: &Outputs,
        result: &ReviewResult,
        game: &ReviewedGame<'_>,
        entry: GameEntry,
        bar: &ProgressBar,
    ) -> anyhow::Result<()> {
        let texts = result.texts.iter().map(String::as_str);
        let files = outputs.files.iter().map(|(path, _)| path.as_path()).zip(texts);
        self.reviews.store(game, entry.clone(), files)?;
        let accuracy = |color: Color| {
            let accuracy = entry.accuracy(color);
            accuracy.map_or("–".to_owned(), |accuracy| format!("{:.0} %", 100.0 * accuracy))
        };
        let [black, white] = Color::BOTH.map(accuracy);
        let line = format!("{}: accuracy of Black {black}, of White {white}", game.base);
        bar.suspend(|| writeln!(terminal::stdout(), "{line}"))?;
        self.entries.push(entry);
        self.counts.reviewed += 1;
        Ok(())
    }

    /// Chooses the name of a game's files: the path of its record without the extension.
    fn name(&mut self, file: &str, game: u32) -> String {
        let lower = file.to_lowercase();
        let ending =
            ENDINGS.iter().filter(|ending| lower.ends_with(**ending)).map(|ending| ending.len()).max();
        let stem = ending.and_then(|length| file.get(..file.len() - length)).unwrap_or(file);
        let stem = stem.replace(std::path::MAIN_SEPARATOR, "/");
        let base = if game > 1 { format!("{stem}-{game}") } else { stem };
        // A file may have the name that another file gives to one of its games.
        let names = (1..).map(|number| match number {
            1 => format!("{base}.review"),
            number => format!("{base}~{number}.review"),
        });
        let name = names.into_iter().find(|name| !self.names.contains(name)).unwrap_or(base);
        self.names.insert(name.clone());
        name
    }

    /// Returns the files of a game.
    fn paths(&self, base: &str) -> Vec<(PathBuf, Format)> {
        let path = |format: Format| (self.out.join(format!("{base}.{}", format.extension())), format);
        self.formats.iter().copied().map(path).collect()
    }

    /// Writes the pages about all games.
    fn finish(self, is_stopped: bool) -> anyhow::Result<()> {
        let Counts { games, reviewed, of_others, left } = self.counts;
        if self.entries.is_empty() && left == 0 {
            bail!("none of {} could be reviewed", counted(games.max(self.failed.len()) as u64, "record"));
        }
        let before = self.entries.len() - reviewed;
        let failed = self.failed.len();
        let all = Games::new(self.entries, self.failed, left);
        let mut written = Vec::new();
        let mut write = |name: &str, text: &str| {
            let path = self.out.join(name);
            written.push(path.clone());
            write_atomically(&path, text).with_context(|| format!("cannot write {}", path.display()))
        };
        if self.formats.contains(&Format::Html) {
            let pages = all.pages();
            // The index links to the other pages, so it is written last.
            for (name, text) in pages.iter().rev() {
                write(name, text)?;
            }
            remove_older(self.out, pages.len());
        }
        if self.formats.contains(&Format::Json) {
            write("index.json", &all.json()?)?;
        }
        let mut out = terminal::stdout();
        writeln!(out, "{} reviewed, {before} reviewed before", counted(reviewed as u64, "game"))?;
        if of_others > 0 {
            writeln!(out, "{} without this player left out", counted(of_others as u64, "game"))?;
        }
        if failed > 0 {
            writeln!(out, "{} could not be reviewed", counted(failed as u64, "record"))?;
        }
        if left > 0 {
            writeln!(out, "{} left; the same command reviews them", counted(left as u64, "game"))?;
        }
        let main = written
            .iter()
            .filter(|path| path.file_name().is_some_and(|name| name == INDEX || name == "index.json"));
        let main: Vec<String> = main.map(|path| path.display().to_string()).collect();
        if !main.is_empty() {
            writeln!(out, "written: {}", main.join(", "))?;
        }
        if is_stopped {
            writeln!(out, "stopped; the results are incomplete")?;
        }
        Ok(())
    }
}

/// Removes pages of players from an earlier run that had more players.
fn remove_older(out: &Path, from: usize) {
    let mut number = from;
    while fs::remove_file(out.join(format!("player-{number}.html"))).is_ok() {
        number += 1;
    }
}

/// Error about a record, or another error, which ends the work.
enum GameError {
    Record(anyhow::Error),
    Other(anyhow::Error),
}
