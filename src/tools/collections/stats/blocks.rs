//! Statistics as titled tables.

use super::counts::{Counts, MISSING};
use super::repetition::{ListedCycle, RepetitionCounts};
use super::totals::Stats;
use crate::words::{counted, grouped};
use kosumi_go::sgf::repetition::Cycle;
use std::collections::BTreeMap;

/// Width of the bins of the histogram of game lengths, in moves.
const BIN: u64 = 20;

/// Table with a title and remarks.
#[derive(Clone, Debug, Default)]
pub struct StatsTable {
    /// Title above the table.
    pub title: String,
    /// Names of the columns. A name that begins with `#` marks a column of numbers. Columns may have empty names.
    pub columns: Vec<&'static str>,
    /// Cells of each row, one per column.
    pub rows: Vec<Vec<String>>,
    /// Lengths of the bars of the rows, in `[0, 1]`.
    pub bars: Vec<f64>,
    /// Lines below the table.
    pub remarks: Vec<String>,
}

impl StatsTable {
    fn new(title: impl Into<String>, columns: &[&'static str]) -> StatsTable {
        StatsTable { title: title.into(), columns: columns.to_vec(), ..StatsTable::default() }
    }

    /// Adds a remark about rows that were left out. `all` is the total number of rows.
    fn more(&mut self, all: u64) {
        let more = all.saturating_sub(self.rows.len() as u64);
        if more > 0 {
            self.remarks.push(format!("{} more", grouped(more)));
        }
    }
}

/// Builds all tables, with at most `top` rows per table and `list` entries per list.
pub fn blocks(stats: &Stats, top: usize, list: usize) -> Vec<StatsTable> {
    let mut blocks = vec![overview(stats)];
    for (title, counts) in [
        ("Board", &stats.sizes),
        ("Komi", &stats.komi),
        ("Handicap", &stats.handicaps),
        ("Rules", &stats.rules),
        ("Winner", &stats.winners),
        ("Won by", &stats.endings),
        ("Rank of each player", &stats.ranks),
        ("Format (FF)", &stats.formats),
        ("Character set (CA)", &stats.charsets),
        ("Bytes", &stats.encodings),
    ] {
        blocks.push(counts_block(title, counts, counts.by_count(), top));
    }
    blocks.push(counts_block("Year", &stats.years, stats.years.iter().collect(), usize::MAX));
    blocks.push(players(stats, top));
    blocks.push(lengths(stats));
    if stats.games > 0 {
        blocks.push(repetition_table(&stats.repetitions));
    }
    blocks.push(illegal(stats));
    blocks.extend(lists(stats, list));
    blocks.retain(|block| !block.rows.is_empty() || !block.remarks.is_empty());
    blocks
}

fn overview(stats: &Stats) -> StatsTable {
    let mut block = StatsTable::new("Overview", &["", "#", ""]);
    let mut row = |name: &str, number: u64, note: String| {
        block.rows.push(vec![name.to_owned(), grouped(number), note]);
    };
    let none = String::new;
    let in_games = |games: u64| format!("in {}", counted(games, "game"));
    let (tally, with) = (stats.tally, stats.games_with);
    row("files", stats.files, none());
    row("bytes unpacked", stats.bytes, none());
    row("records", stats.records, none());
    row("unreadable", stats.unreadable.total, none());
    row("games", stats.games, none());
    let mean = tally.moves as f64 / stats.games.max(1) as f64;
    row("moves", tally.moves, format!("{mean:.1} a game, median {}", median(stats)));
    row("passes", tally.passes, in_games(with.passes));
    row("captures", tally.captures, format!("{} stones", grouped(tally.stones_taken)));
    row("kos taken", tally.kos_taken, none());
    let later = match with.later_setup {
        0 => none(),
        games => format!(", later than the root in {games}"),
    };
    row("stones set up", tally.stones_set_up, in_games(with.setup) + &later);
    row("moves out of turn", tally.out_of_turn, in_games(with.moves_out_of_turn));
    row("games with warnings", with.warnings, none());
    row("games truncated", with.cut_off, none());
    if stats.duplicates.searched {
        row("duplicates", stats.duplicates.same, none());
        row("duplicates, rotated or mirrored", stats.duplicates.turned, none());
    }
    block
}

/// Returns the median number of moves of a game.
pub(super) fn median(stats: &Stats) -> u64 {
    let half = stats.games.div_ceil(2);
    let mut below = 0;
    let middle = stats.lengths.iter().find(|&(_, games)| {
        below += games;
        below >= half
    });
    middle.map_or(0, |(&length, _)| length)
}

/// Builds a table of counts. It is empty if the value is missing in all games.
fn counts_block(title: &str, counts: &Counts, rows: Vec<(&str, u64)>, top: usize) -> StatsTable {
    let mut block = StatsTable::new(title, &["", "#", "#"]);
    let total = counts.total();
    if counts.get(MISSING) < total {
        block.rows = rows
            .iter()
            .take(top)
            .map(|&(name, count)| {
                let share = 100.0 * count as f64 / total as f64;
                vec![name.to_owned(), grouped(count), format!("{share:.2} %")]
            })
            .collect();
        block.bars = rows.iter().take(top).map(|&(_, count)| count as f64 / total as f64).collect();
        block.more(counts.len() as u64);
    }
    block
}

fn players(stats: &Stats, top: usize) -> StatsTable {
    let mut block = StatsTable::new("Players", &["", "# games", "# with Black", "# won", "# lost"]);
    for (name, player) in stats.players.by_games().into_iter().take(top) {
        let numbers = [player.games, player.black, player.won, player.lost];
        block.rows.push([name.to_owned()].into_iter().chain(numbers.map(grouped)).collect());
    }
    block.more(stats.players.len() as u64);
    if stats.players.others > 0 {
        let games = grouped(stats.players.others);
        block.remarks.push(format!("and {games} games of further players"));
    }
    block
}

fn lengths(stats: &Stats) -> StatsTable {
    let mut block = StatsTable::new("Moves in a game", &["", "#"]);
    let mut bins = BTreeMap::<u64, u64>::new();
    for (&length, &games) in &stats.lengths {
        *bins.entry(length / BIN).or_default() += games;
    }
    let most = bins.values().copied().max().unwrap_or(1);
    for (&bin, &games) in &bins {
        block.rows.push(vec![format!("{}–{}", bin * BIN, bin * BIN + BIN - 1), grouped(games)]);
        block.bars.push(games as f64 / most as f64);
    }
    block
}

fn repetition_table(counts: &RepetitionCounts) -> StatsTable {
    let title = format!("Repetition in {}", counted(counts.games, "game"));
    let columns = ["cycle", "# cycles", "# moves", "# games", "# by PSK", "# by SSK", "# by NSSK"];
    let mut block = StatsTable::new(title, &columns);
    for (cycle, kind) in Cycle::ALL.into_iter().filter_map(|cycle| Some((cycle, counts.cycles.get(&cycle)?)))
    {
        let forbidden = [kind.positional, kind.situational, kind.natural_situational];
        let numbers = [kind.cycles, kind.moves, kind.games].into_iter().chain(forbidden).map(grouped);
        block.rows.push([cycle.name().to_owned()].into_iter().chain(numbers).collect());
    }
    if counts.games == 0 {
        return block;
    }
    block.remarks.push(
        "by: cycles whose first repetition the rule forbids. Without immediate recaptures of kos:".into(),
    );
    for (name, count) in [
        ("positional superko (PSK)", counts.forbidden.positional),
        ("situational superko (SSK)", counts.forbidden.situational),
        ("natural situational superko (NSSK)", counts.forbidden.natural_situational),
    ] {
        let (moves, games) = (counted(count.moves, "move"), counted(count.games, "game"));
        block.remarks.push(format!("{name} forbids {moves} in {games}"));
    }
    let lengths: Vec<String> =
        counts.lengths.iter().map(|(length, cycles)| format!("{length} moves × {cycles}")).collect();
    if !lengths.is_empty() {
        block.remarks.push(format!("lengths of cycles: {}", lengths.join(", ")));
    }
    block.remarks.push(format!(
        "cycles with passes: {}, with moves out of turn: {}; longest run of repetitions: {}",
        counts.with_passes, counts.not_alternating, counts.longest_run
    ));
    block
}

fn illegal(stats: &Stats) -> StatsTable {
    let mut block = StatsTable::new("Illegal moves", &["", "# moves", "# games", ""]);
    for (reason, illegal) in &stats.illegal {
        let note = if illegal.ends_replay { "ends the game's replay" } else { "" };
        block.rows.push(vec![
            reason.clone(),
            grouped(illegal.moves),
            grouped(illegal.games),
            note.to_owned(),
        ]);
    }
    block
}

fn lists(stats: &Stats, list: usize) -> [StatsTable; 3] {
    let block = |title: &str, total: u64, rows: Vec<Vec<String>>| {
        let mut block = StatsTable { rows, ..StatsTable::new(title, &["where", "what"]) };
        block.more(if list == 0 { 0 } else { total });
        block
    };
    let repetitions = stats.lists.repetitions.iter().take(list);
    let illegal = stats.lists.illegal.iter().take(list);
    let duplicates = stats.lists.duplicates.iter().take(list).map(|entry| {
        let turned = if entry.turned { ", rotated or mirrored" } else { "" };
        vec![
            format!("{}: game {}, byte {}", entry.file, entry.game, entry.byte),
            format!("as game {} of {}{turned}", entry.first_game, entry.first_file),
        ]
    });
    [
        block(
            "List of repetitions",
            stats.repetitions.cycles.values().map(|kind| kind.cycles).sum(),
            repetitions.map(|listed| vec![listed.place.to_string(), describe(listed)]).collect(),
        ),
        block(
            "List of illegal moves",
            stats.illegal.values().map(|illegal| illegal.moves).sum(),
            illegal.map(|entry| vec![entry.place.to_string(), entry.reason.clone()]).collect(),
        ),
        block("List of duplicates", stats.duplicates.same + stats.duplicates.turned, duplicates.collect()),
    ]
}

fn describe(listed: &ListedCycle) -> String {
    let mut rules = vec!["PSK"];
    rules.extend(listed.forbidden.situational.then_some("SSK"));
    rules.extend(listed.forbidden.natural_situational.then_some("NSSK"));
    let passes = match listed.passes {
        0 => String::new(),
        passes => format!(" with {}", if passes == 1 { "a pass".into() } else { format!("{passes} passes") }),
    };
    let goes_on = match listed.moves {
        1 => String::new(),
        moves => format!(", continues for {moves} moves"),
    };
    let kos = match listed.cycle {
        Cycle::SendingTwo | Cycle::EternalLife if listed.kos > 0 => {
            format!(" and {}", counted(listed.kos as u64, "ko"))
        }
        Cycle::ManyKos => format!(" ({})", listed.kos),
        _ => String::new(),
    };
    let (mv, cycle, length) = (&listed.mv, listed.cycle.name(), listed.length);
    format!("{mv}, {cycle}{kos}, {length} moves{passes}, {}{goes_on}", rules.join(" "))
}
