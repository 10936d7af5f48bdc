//! Totals over all games.

use super::counts::{self, Counts, Player, Players};
use super::location::{MAX_LIST, MoveLocation};
use super::repetition::{ListedCycle, RepetitionCounts};
use crate::collections::duplicates::Original;
use crate::collections::examine::{ExaminedGame, MoveCounts};
use crate::collections::pipeline::InputCounts;
use crate::collections::reading::{Batch, Entry, Problem, RecordLocation};
use kosumi_go::board::Color;
use kosumi_go::game::IllegalMove;
use kosumi_go::sgf::SgfErrorKind;
use kosumi_go::sgf::facts::{Date, Ending, GameResult, Rank, Winner};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Statistics of a collection.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Stats {
    pub(super) files: u64,
    /// Number of decompressed bytes.
    pub(super) bytes: u64,
    pub(super) records: u64,
    pub(super) unreadable: Unreadable,
    /// Number of records that were replayed.
    pub(super) games: u64,
    pub(super) games_with: GamesWith,
    pub(super) tally: MoveCounts,
    pub(super) sizes: Counts,
    pub(super) komi: Counts,
    pub(super) handicaps: Counts,
    pub(super) rules: Counts,
    pub(super) winners: Counts,
    pub(super) endings: Counts,
    pub(super) years: Counts,
    pub(super) ranks: Counts,
    pub(super) formats: Counts,
    pub(super) charsets: Counts,
    pub(super) encodings: Counts,
    /// Number of games by number of moves.
    pub(super) lengths: BTreeMap<u64, u64>,
    pub(super) players: Players,
    /// Illegal moves by reason.
    pub(super) illegal: BTreeMap<String, Illegal>,
    pub(super) repetitions: RepetitionCounts,
    pub(super) duplicates: DuplicateCounts,
    pub(super) lists: Lists,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Unreadable {
    /// Number of records and files.
    pub(super) total: u64,
    /// Counts by reason.
    pub(super) reasons: Counts,
}

/// Number of games with certain properties.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct GamesWith {
    /// Games with stones in the initial position, handicap included.
    pub(super) setup: u64,
    /// Games in which the position was edited after the root.
    pub(super) later_setup: u64,
    pub(super) passes: u64,
    /// Games with two moves in a row by one side.
    pub(super) moves_out_of_turn: u64,
    /// Games with skipped values.
    pub(super) warnings: u64,
    /// Games whose record is truncated.
    pub(super) cut_off: u64,
}

/// Counts of illegal moves with the same reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Illegal {
    pub(super) moves: u64,
    pub(super) games: u64,
    /// Whether such a move ended the replay.
    pub(super) ends_replay: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct DuplicateCounts {
    /// Whether duplicates were looked for.
    pub(super) searched: bool,
    /// Number of games with the same moves as an earlier one.
    pub(super) same: u64,
    /// Number of games with the same moves as an earlier one on a rotated or mirrored board.
    pub(super) turned: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Lists {
    pub(super) unreadable: Vec<BadRecord>,
    pub(super) illegal: Vec<IllegalEntry>,
    pub(super) repetitions: Vec<ListedCycle>,
    pub(super) duplicates: Vec<DuplicateEntry>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct BadRecord {
    pub(super) file: String,
    pub(super) game: Option<u64>,
    pub(super) byte: u64,
    pub(super) reason: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct IllegalEntry {
    #[serde(flatten)]
    pub(super) place: MoveLocation,
    /// Description of the illegal move.
    pub(super) reason: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct DuplicateEntry {
    pub(super) file: String,
    pub(super) game: u64,
    pub(super) byte: u64,
    pub(super) first_file: String,
    pub(super) first_game: u64,
    pub(super) turned: bool,
}

impl Stats {
    /// Returns the number of replayed games.
    pub fn games(&self) -> u64 {
        self.games
    }

    pub(super) fn add(&mut self, batch: &Batch, entry: &Entry, examined: &ExaminedGame) {
        self.games += 1;
        self.tally += examined.tally;
        self.add_facts(examined);
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

    fn add_facts(&mut self, examined: &ExaminedGame) {
        let record = &examined.record;
        self.sizes.add(&record.size.to_string());
        self.komi.add_fact(record.komi.map(|komi| komi.to_string()).as_deref());
        self.handicaps.add(&record.handicap.to_string());
        self.rules.add_fact(record.rules.as_deref());
        self.formats.add_fact(record.format.as_deref());
        self.charsets.add_fact(record.charset.as_deref());
        self.encodings.add(record.text.name());
        *self.lengths.entry(record.move_count() as u64).or_default() += 1;
        let year = record.date.as_deref().and_then(Date::parse).map(|date| date.year.to_string());
        self.years.add_fact(year.as_deref());
        let outcome = record.result.as_deref().and_then(GameResult::parse);
        let winner = match (&record.result, outcome.map(|outcome| outcome.winner)) {
            (_, Some(Winner::Player(color))) => color.to_string(),
            (_, Some(Winner::Draw)) => "draw".into(),
            (_, Some(Winner::Void)) => "void".into(),
            (_, Some(Winner::Unknown)) => "unknown".into(),
            (Some(_), None) => "other text".into(),
            (None, None) => counts::MISSING.into(),
        };
        self.winners.add(&winner);
        if let Some(GameResult { winner: Winner::Player(_), ending }) = outcome {
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

    fn add_illegal(&mut self, batch: &Batch, entry: &Entry, examined: &ExaminedGame) {
        let mut reasons: Vec<(String, bool, String, usize, usize)> = Vec::new();
        for (played, reason) in &examined.objections {
            let name = match reason {
                IllegalMove::Suicide => "suicide of several stones".to_owned(),
                IllegalMove::Ko => "ko recaptured at once".to_owned(),
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
                other => ("not a point of the board".to_owned(), other.without_number()),
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
                let place = MoveLocation::of(batch, entry, *number, *offset);
                self.lists.illegal.push(IllegalEntry { place, reason: what.clone() });
            }
        }
    }

    pub(super) fn merge(&mut self, other: Stats) {
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

    pub(super) fn add_problem(&mut self, problem: &Problem) {
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

    pub(super) fn add_duplicate(&mut self, place: &RecordLocation, original: &Original) {
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

    /// Sets the counts over the input.
    pub fn add_seen(&mut self, seen: &InputCounts) {
        self.files = seen.files;
        self.bytes = seen.bytes;
        self.records = seen.records;
    }
}

/// Appends to a list up to the maximum of [`MAX_LIST`] entries.
fn append<T>(list: &mut Vec<T>, more: Vec<T>) {
    let space = MAX_LIST.saturating_sub(list.len());
    list.extend(more.into_iter().take(space));
}
