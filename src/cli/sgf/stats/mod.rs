//! `kosumi sgf stats`: what a collection holds.

mod blocks;
mod census;
mod counts;
pub(super) mod duplicates;
mod render;

use super::Input;
use super::examine::{self, Examined, Tally};
use super::input::{Batch, Entry, Place, Problem};
use super::pipeline::{self, Seen, Work};
use crate::board::{Color, Key};
use crate::game::IllegalMove;
use crate::sgf::SgfErrorKind;
use crate::sgf::facts::{Date, Ending, Outcome, Rank, Winner};
use anyhow::Context;
use census::Census;
use clap::Args;
use counts::{Counts, Player, Players};
use duplicates::Duplicates;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// What a collection holds: sizes, results, players, repetitions, duplicates, illegal moves
#[derive(Debug, Args)]
#[command(after_help = "\
Every game is replayed on the board. Moves that no rules allow end a game's replay and are listed; retaken kos,
suicides and repetitions are counted, and the replay goes on.

Repetitions are counted as moves (every play that brings a position back) and as cycles (a cycle that goes round more
than once is one). Which superko rules forbid a move: PSK positional, SSK situational, NSSK natural situational.

A duplicate has the same positions to begin with and the same moves as an earlier game, perhaps on a turned or mirrored
board. Finding them takes 20 bytes a game; everything else takes the same memory for any number of games.

Examples:
  kosumi sgf stats games.sgf.zst
  kosumi sgf stats games/ more.zip --json stats.json --html stats.html --list 100
  zstdcat games.sgf.zst | kosumi sgf stats - --no-duplicates")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Write everything into this file as JSON; "-" for the standard output, without the tables
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page with the tables into this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Do not look for duplicates
    #[arg(long)]
    no_duplicates: bool,
}

/// So many entries of each list are kept, for the JSON file.
const MAX_LIST: usize = 10_000;

/// Everything that is counted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(super) struct Stats {
    files: u64,
    /// Bytes after unpacking.
    bytes: u64,
    records: u64,
    unreadable: Unreadable,
    /// Records that were read and replayed.
    games: u64,
    games_with: GamesWith,
    tally: Tally,
    sizes: Counts,
    komi: Counts,
    handicaps: Counts,
    rules: Counts,
    winners: Counts,
    endings: Counts,
    years: Counts,
    ranks: Counts,
    formats: Counts,
    charsets: Counts,
    encodings: Counts,
    /// Games by their number of moves.
    lengths: BTreeMap<u64, u64>,
    players: Players,
    /// By reason.
    illegal: BTreeMap<String, Illegal>,
    repetitions: Census,
    duplicates: DuplicateCounts,
    lists: Lists,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
struct Unreadable {
    /// Records and files.
    total: u64,
    /// By reason.
    reasons: Counts,
}

/// Games that have something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
struct GamesWith {
    /// Stones in the first position, handicap included.
    setup: u64,
    /// A position that was changed later.
    later_setup: u64,
    passes: u64,
    /// Two moves in a row by one player.
    moves_out_of_turn: u64,
    /// Values that were passed over.
    warnings: u64,
    /// The record is not closed.
    cut_off: u64,
}

/// Moves that some rule forbids.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
struct Illegal {
    moves: u64,
    games: u64,
    /// Did it end the replay?
    ends_replay: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
struct DuplicateCounts {
    /// Were they looked for?
    searched: bool,
    /// Games with the same moves as an earlier one.
    same: u64,
    /// Games with the same moves as an earlier one on a turned or mirrored board.
    turned: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
struct Lists {
    unreadable: Vec<BadRecord>,
    illegal: Vec<IllegalEntry>,
    repetitions: Vec<census::Listed>,
    duplicates: Vec<DuplicateEntry>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct BadRecord {
    file: String,
    game: Option<u64>,
    byte: u64,
    reason: String,
}

/// Where a move stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct MovePlace {
    file: String,
    /// Which game of the file, from 1.
    game: u64,
    /// Of the unpacked file.
    byte: u64,
    /// Counted from 1.
    number: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct IllegalEntry {
    #[serde(flatten)]
    place: MovePlace,
    /// What is wrong.
    reason: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct DuplicateEntry {
    file: String,
    game: u64,
    byte: u64,
    first_file: String,
    first_game: u64,
    turned: bool,
}

/// What tells a game from others.
pub(super) struct Identity {
    /// Index in the batch.
    index: usize,
    identity: Key,
    plain: Key,
}

impl Stats {
    fn add(&mut self, batch: &Batch, entry: &Entry, examined: &Examined) {
        self.games += 1;
        self.tally += examined.tally;
        self.add_facts(batch.bytes(entry), examined);
        let record = &examined.record;
        let has_setup = |from: usize, to: usize| {
            record.nodes.iter().take(to).skip(from).any(|node| !node.setup.is_empty())
        };
        let with = &mut self.games_with;
        with.setup += u64::from(has_setup(0, 1));
        with.later_setup += u64::from(has_setup(1, usize::MAX));
        with.passes += u64::from(examined.tally.passes > 0);
        with.moves_out_of_turn += u64::from(examined.tally.out_of_turn > 0);
        with.warnings += u64::from(examined.warnings.len() > usize::from(examined.refused().is_some()));
        with.cut_off += u64::from(!entry.missing.is_none());
        self.add_illegal(batch, entry, examined);
        self.repetitions.add(batch, entry, examined, &mut self.lists.repetitions);
    }

    fn add_facts(&mut self, bytes: &[u8], examined: &Examined) {
        let record = &examined.record;
        self.sizes.add(&record.size.to_string());
        self.komi.add_fact(record.komi.map(|komi| komi.to_string()).as_deref());
        self.handicaps.add(&record.handicap.to_string());
        self.rules.add_fact(record.rules.as_deref());
        self.formats.add_fact(record.format.as_deref());
        self.charsets.add_fact(record.charset.as_deref());
        self.encodings.add(match std::str::from_utf8(bytes) {
            Ok(text) if text.is_ascii() => "ASCII",
            Ok(_) => "UTF-8",
            Err(_) => "other",
        });
        *self.lengths.entry(record.move_count() as u64).or_default() += 1;
        let year = record.date.as_deref().and_then(Date::parse).map(|date| date.year.to_string());
        self.years.add_fact(year.as_deref());
        let outcome = record.result.as_deref().and_then(Outcome::parse);
        let winner = match (&record.result, outcome.map(|outcome| outcome.winner)) {
            (_, Some(Winner::Player(color))) => color.to_string(),
            (_, Some(Winner::Nobody)) => "draw".into(),
            (_, Some(Winner::Void)) => "void".into(),
            (_, Some(Winner::Unknown)) => "unknown".into(),
            (Some(_), None) => "other text".into(),
            (None, None) => counts::MISSING.into(),
        };
        self.winners.add(&winner);
        if let Some(Outcome { winner: Winner::Player(_), ending }) = outcome {
            self.endings.add(Ending::word(ending));
        }
        for (color, name, rank) in [
            (Color::Black, &record.black, &record.black_rank),
            (Color::White, &record.white, &record.white_rank),
        ] {
            let known = rank.as_deref().and_then(Rank::parse).map(|rank| rank.to_string());
            self.ranks.add_fact(known.as_deref().or(rank.as_deref()));
            let Some(name) = name else { continue };
            let winner = outcome.map(|outcome| outcome.winner);
            let is = |winner_is: Color| u64::from(winner == Some(Winner::Player(winner_is)));
            let player = Player {
                games: 1,
                black: u64::from(color == Color::Black),
                won: is(color),
                lost: is(color.opponent()),
            };
            self.players.add(name, player);
        }
    }

    fn add_illegal(&mut self, batch: &Batch, entry: &Entry, examined: &Examined) {
        let mut reasons: Vec<(String, bool, String, usize, usize)> = Vec::new();
        for (played, reason) in &examined.objections {
            let name = match reason {
                IllegalMove::Suicide => "suicide of several stones".to_owned(),
                IllegalMove::Ko => "ko retaken at once".to_owned(),
                other => other.to_string(),
            };
            let what = format!("{} {}: {name}", played.color, played.mv);
            reasons.push((name, false, what, played.number, played.offset));
        }
        if let Some(refused) = examined.refused() {
            let (name, what) = match &refused.kind {
                SgfErrorKind::IllegalMove { color, mv, reason, .. } => {
                    let name = match reason {
                        IllegalMove::Suicide => "suicide of one stone".to_owned(),
                        other => other.to_string(),
                    };
                    (name.clone(), format!("{color} {mv}: {name}"))
                }
                other => ("no point of the board".to_owned(), other.to_string()),
            };
            reasons.push((name, true, what, examined.tally.moves as usize + 1, refused.offset));
        }
        for (index, (name, ends_replay, what, number, offset)) in reasons.iter().enumerate() {
            let illegal = self.illegal.entry(name.clone()).or_default();
            illegal.moves += 1;
            illegal.ends_replay = *ends_replay;
            let is_first = !reasons.iter().take(index).any(|(earlier, ..)| earlier == name);
            illegal.games += u64::from(is_first);
            if self.lists.illegal.len() < MAX_LIST {
                let place = MovePlace::of(batch, entry, *number, *offset);
                self.lists.illegal.push(IllegalEntry { place, reason: what.clone() });
            }
        }
    }

    fn merge(&mut self, other: Stats) {
        self.games += other.games;
        self.tally += other.tally;
        let (with, more) = (&mut self.games_with, other.games_with);
        with.setup += more.setup;
        with.later_setup += more.later_setup;
        with.passes += more.passes;
        with.moves_out_of_turn += more.moves_out_of_turn;
        with.warnings += more.warnings;
        with.cut_off += more.cut_off;
        for (counts, more) in [
            (&mut self.sizes, &other.sizes),
            (&mut self.komi, &other.komi),
            (&mut self.handicaps, &other.handicaps),
            (&mut self.rules, &other.rules),
            (&mut self.winners, &other.winners),
            (&mut self.endings, &other.endings),
            (&mut self.years, &other.years),
            (&mut self.ranks, &other.ranks),
            (&mut self.formats, &other.formats),
            (&mut self.charsets, &other.charsets),
            (&mut self.encodings, &other.encodings),
        ] {
            counts.merge(more);
        }
        for (length, games) in other.lengths {
            *self.lengths.entry(length).or_default() += games;
        }
        self.players.merge(&other.players);
        for (reason, more) in other.illegal {
            let illegal = self.illegal.entry(reason).or_default();
            illegal.moves += more.moves;
            illegal.games += more.games;
            illegal.ends_replay |= more.ends_replay;
        }
        self.repetitions.merge(&other.repetitions);
        append(&mut self.lists.illegal, other.lists.illegal);
        append(&mut self.lists.repetitions, other.lists.repetitions);
    }

    fn add_problem(&mut self, problem: &Problem) {
        self.unreadable.total += 1;
        self.unreadable.reasons.add(&problem.reason);
        if self.lists.unreadable.len() < MAX_LIST {
            self.lists.unreadable.push(BadRecord {
                file: problem.source.to_string(),
                game: problem.game,
                byte: problem.offset,
                reason: problem.reason.clone(),
            });
        }
    }

    fn add_duplicate(&mut self, place: &Place, original: &duplicates::Original) {
        if original.is_same {
            self.duplicates.same += 1;
        } else {
            self.duplicates.turned += 1;
        }
        if self.lists.duplicates.len() < MAX_LIST {
            self.lists.duplicates.push(DuplicateEntry {
                file: place.source.to_string(),
                game: place.game,
                byte: place.offset,
                first_file: original.source.to_string(),
                first_game: original.game,
                turned: !original.is_same,
            });
        }
    }

    fn add_seen(&mut self, seen: &Seen) {
        self.files = seen.files;
        self.bytes = seen.bytes;
        self.records = seen.records;
    }
}

impl MovePlace {
    fn of(batch: &Batch, entry: &Entry, number: usize, offset: usize) -> MovePlace {
        let offset = crate::sgf::source_offset(batch.bytes(entry), offset);
        MovePlace {
            file: entry.place.source.to_string(),
            game: entry.place.game,
            byte: entry.place.offset + offset as u64,
            number,
        }
    }
}

/// Adds to a list what there is room for.
fn append<T>(list: &mut Vec<T>, more: Vec<T>) {
    let room = MAX_LIST.saturating_sub(list.len());
    list.extend(more.into_iter().take(room));
}

/// What a batch leads to.
pub(super) fn work(batch: &Batch) -> Work<(Stats, Vec<Identity>)> {
    let mut stats = Stats::default();
    let mut identities = Vec::new();
    let mut problems = Vec::new();
    for (index, entry) in batch.entries.iter().enumerate() {
        match Examined::of(batch.bytes(entry), &[]) {
            Ok(examined) => {
                stats.add(batch, entry, &examined);
                let plain = examined.key.plain();
                identities.extend(examined.identity().map(|identity| Identity { index, identity, plain }));
            }
            Err(error) => problems.push(examine::problem(batch, entry, &error)),
        }
    }
    Work { result: (stats, identities), problems }
}

/// Collects what batches lead to.
#[derive(Default)]
pub(super) struct Collector {
    pub(super) stats: Stats,
    duplicates: Option<Duplicates>,
}

impl Collector {
    pub(super) fn new(with_duplicates: bool) -> Collector {
        let mut collector = Collector::default();
        collector.stats.duplicates.searched = with_duplicates;
        collector.duplicates = with_duplicates.then(Duplicates::default);
        collector
    }

    /// Takes the result of the next batch.
    pub(super) fn add(
        &mut self,
        batch: &Batch,
        (partial, identities): (Stats, Vec<Identity>),
        problems: &[Problem],
    ) {
        self.stats.merge(partial);
        problems.iter().for_each(|problem| self.stats.add_problem(problem));
        let Some(duplicates) = &mut self.duplicates else { return };
        for Identity { index, identity, plain } in identities {
            let Some(entry) = batch.entries.get(index) else { continue };
            if let Some(original) = duplicates.check(entry.number, &entry.place, identity, plain) {
                self.stats.add_duplicate(&entry.place, &original);
            }
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut collector = Collector::new(!arguments.no_duplicates);
    let seen = pipeline::run_shown(&arguments.input, None, work, |batch, result, problems| {
        collector.add(batch, result, problems);
        Ok(ControlFlow::Continue(()))
    })?;
    let mut stats = collector.stats;
    stats.add_seen(&seen);
    let blocks = |list| blocks::blocks(&stats, arguments.top, list);
    let mut is_told = false;
    if let Some(path) = &arguments.json {
        is_told |= write_to(path, |out| {
            serde_json::to_writer_pretty(&mut *out, &stats)?;
            writeln!(out)
        })?;
    }
    if let Some(path) = &arguments.html {
        // A page has room for more than a terminal.
        let page = render::page("Game records", &blocks(arguments.input.list.max(1000)));
        is_told |= write_to(path, |out| write!(out, "{page}"))?;
    }
    if !is_told {
        write_to(Path::new("-"), |out| render::text(out, &blocks(arguments.input.list)))?;
    }
    seen.check_files()
}

/// Writes a file, or to the standard output, and says if it was that.
fn write_to(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<bool> {
    let is_standard_output = path == Path::new("-");
    let mut out: Box<dyn Write> = if is_standard_output {
        Box::new(io::stdout().lock())
    } else {
        Box::new(File::create(path).with_context(|| format!("cannot create {}", path.display()))?)
    };
    let mut buffered = BufWriter::new(&mut out);
    let written = write(&mut buffered).and_then(|()| buffered.flush());
    written.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(is_standard_output)
}
