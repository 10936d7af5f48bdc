//! Conditions on games.

use super::examine::ExaminedGame;
use super::reading::Entry;
use super::records::read_game;
use anyhow::Context;
use clap::ValueEnum;
use kosumi_go::board::{BoardSize, Color, Key};
use kosumi_go::rules::Rules;
use kosumi_go::sgf::facts::{Date, Ending, GameResult, Rank, Winner};
use kosumi_go::sgf::repetition::{Cycle, Repetition};
use kosumi_go::sgf::{Record, Strictness};
use std::path::PathBuf;
use std::str::FromStr;

/// Conditions on games. A game must meet all of them. A condition with several values is met by any of them. An empty
/// list or `None` means no condition.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Criteria {
    /// Size of the board.
    pub sizes: Vec<BoardSize>,
    /// Komi.
    pub komi: Option<ValueRange<f32>>,
    /// Number of handicap stones.
    pub handicap: Option<ValueRange<u32>>,
    /// Rules as written in the game record, or "none".
    pub rules: Vec<String>,
    /// Parts of players' names.
    pub players: Vec<String>,
    /// Parts of Black's name.
    pub black: Vec<String>,
    /// Parts of White's name.
    pub white: Vec<String>,
    /// Rank of both players.
    pub rank: Option<ValueRange<Rank>>,
    /// Days in the representation of [`Date::days`].
    pub date: Option<ValueRange<u32>>,
    /// Winners or kinds of result.
    pub results: Vec<ResultFilter>,
    /// Number of moves, passes included.
    pub moves: Option<ValueRange<usize>>,
    /// Kinds of repetition in the game.
    pub repetitions: Vec<RepetitionFilter>,
    /// Only complete records with valid values and legal moves, except for superko.
    pub valid: bool,
    /// Only the first of several games with the same moves, also on rotated or mirrored boards.
    pub unique: bool,
    /// Only games that contain the last position of this SGF file, also rotated or mirrored.
    pub position: Option<PathBuf>,
}

/// Winner or kind of result.
// The doc comments are the help texts of the command line.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ResultFilter {
    Black,
    White,
    Draw,
    Void,
    /// The record says so, has no result, or has an invalid one
    Unknown,
    Score,
    Resign,
    Time,
    Forfeit,
    /// There is a winner, but the record does not state the kind of result
    Unspecified,
}

impl ResultFilter {
    fn is_ending(self) -> bool {
        use ResultFilter::{Forfeit, Resign, Score, Time, Unspecified};
        matches!(self, Score | Resign | Time | Forfeit | Unspecified)
    }

    fn of_winner(outcome: Option<GameResult>) -> ResultFilter {
        match outcome.map(|outcome| outcome.winner) {
            Some(Winner::Player(Color::Black)) => ResultFilter::Black,
            Some(Winner::Player(Color::White)) => ResultFilter::White,
            Some(Winner::Draw) => ResultFilter::Draw,
            Some(Winner::Void) => ResultFilter::Void,
            Some(Winner::Unknown) | None => ResultFilter::Unknown,
        }
    }

    fn of_ending(outcome: Option<GameResult>) -> Option<ResultFilter> {
        let outcome = outcome.filter(|outcome| matches!(outcome.winner, Winner::Player(_)))?;
        Some(match outcome.ending {
            Ending::Score(_) => ResultFilter::Score,
            Ending::Resign => ResultFilter::Resign,
            Ending::Time => ResultFilter::Time,
            Ending::Forfeit => ResultFilter::Forfeit,
            Ending::Unspecified => ResultFilter::Unspecified,
        })
    }
}

/// Kind of repetition in a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RepetitionFilter {
    /// Any repetition.
    Any,
    /// Repetition that positional superko forbids, except an immediate recapture of a ko.
    Positional,
    /// Repetition that situational superko forbids, except an immediate recapture of a ko.
    Situational,
    /// Repetition that natural situational superko forbids, except an immediate recapture of a ko.
    NaturalSituational,
    /// Repetition by a cycle of this kind.
    Cycle(Cycle),
}

const RULES: [(&str, RepetitionFilter); 4] = [
    ("any", RepetitionFilter::Any),
    ("psk", RepetitionFilter::Positional),
    ("ssk", RepetitionFilter::Situational),
    ("nssk", RepetitionFilter::NaturalSituational),
];

impl FromStr for RepetitionFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<RepetitionFilter, String> {
        let rule = RULES.into_iter().find(|(name, _)| *name == text).map(|(_, word)| word);
        let cycle = || Cycle::ALL.into_iter().find(|cycle| cycle.name() == text).map(RepetitionFilter::Cycle);
        rule.or_else(cycle).ok_or_else(|| {
            let names = RULES.iter().map(|(name, _)| *name).chain(Cycle::ALL.map(Cycle::name));
            format!("one of {}", names.collect::<Vec<_>>().join(", "))
        })
    }
}

impl RepetitionFilter {
    fn holds(self, repetition: &Repetition) -> bool {
        let beyond_ko = repetition.cycle != Cycle::SimpleKo;
        match self {
            RepetitionFilter::Any => true,
            RepetitionFilter::Positional => beyond_ko && repetition.forbidden.positional,
            RepetitionFilter::Situational => beyond_ko && repetition.forbidden.situational,
            RepetitionFilter::NaturalSituational => beyond_ko && repetition.forbidden.natural_situational,
            RepetitionFilter::Cycle(cycle) => cycle == repetition.cycle,
        }
    }
}

/// Closed range of values. Either end may be open.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ValueRange<T> {
    low: Option<T>,
    high: Option<T>,
}

impl<T: PartialOrd + Copy> ValueRange<T> {
    fn contains(&self, value: T) -> bool {
        self.low.is_none_or(|low| low <= value) && self.high.is_none_or(|high| value <= high)
    }

    /// Parses `A..B`, `A..`, `..B` or `A`. `low` parses the lower end and `high` the upper end.
    fn of(
        text: &str,
        low: impl Fn(&str) -> Option<T>,
        high: impl Fn(&str) -> Option<T>,
    ) -> Result<ValueRange<T>, String> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let side = |text: &str, read: &dyn Fn(&str) -> Option<T>| match text.trim() {
            "" => Ok(None),
            text => read(text).map(Some).ok_or_else(|| format!("{text:?} is invalid here")),
        };
        let span = ValueRange { low: side(first, &low)?, high: side(last, &high)? };
        match (span.low, span.high) {
            (None, None) => Err("a value, or a range as A..B, A.. or ..B".into()),
            (Some(low), Some(high)) if low > high => Err("the range is empty".into()),
            _ => Ok(span),
        }
    }
}

impl<T: FromStr + PartialOrd + Copy> ValueRange<T> {
    /// Parses `A..B`, `A..`, `..B` or `A`.
    ///
    /// # Errors
    ///
    /// Returns a message if the text is no valid range.
    pub fn parse(text: &str) -> Result<ValueRange<T>, String> {
        let read = |text: &str| text.parse().ok();
        ValueRange::of(text, read, read)
    }
}

/// Parses a range of ranks, such as `5k..3d`.
///
/// # Errors
///
/// Returns a message if the text is no valid range.
pub fn rank_span(text: &str) -> Result<ValueRange<Rank>, String> {
    ValueRange::of(text, Rank::parse, Rank::parse)
}

/// Parses a day, a month, a year, or a range of them, into days in the representation of [`Date::days`].
///
/// # Errors
///
/// Returns a message if the text is no valid range.
pub fn date_span(text: &str) -> Result<ValueRange<u32>, String> {
    let days = |text: &str| Date::parse(text).map(Date::days);
    ValueRange::of(text, |text| Some(days(text)?.0), |text| Some(days(text)?.1))
}

impl Criteria {
    /// Returns the keys of the wanted position under all symmetries. Without such a condition the list is empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the file of the position cannot be read.
    pub fn position_keys(&self) -> anyhow::Result<Vec<Key>> {
        let Some(path) = &self.position else { return Ok(Vec::new()) };
        let game = read_game(path)?
            .replay(Rules::default(), 0.0, None, Strictness::Tolerant)
            .with_context(|| format!("cannot read {}", path.display()))?
            .game;
        Ok(game.board().symmetric_keys().collect())
    }

    /// Returns whether the conditions require a replay of the game.
    pub(super) fn need_replay(&self) -> bool {
        self.valid || self.unique || self.position.is_some() || !self.repetitions.is_empty()
    }

    /// Returns whether the properties of the record meet the conditions.
    pub(super) fn match_record(&self, record: &Record) -> bool {
        let is_one_of = |parts: &[String], names: &[&Option<String>]| {
            let names: Vec<String> =
                names.iter().filter_map(|name| Some(name.as_deref()?.to_lowercase())).collect();
            let is_part = |part: &String| names.iter().any(|name| name.contains(&part.to_lowercase()));
            parts.is_empty() || parts.iter().any(is_part)
        };
        let rank = |text: &Option<String>| text.as_deref().and_then(Rank::parse);
        (self.sizes.is_empty() || self.sizes.contains(&record.size))
            && self.komi.is_none_or(|span| record.komi.is_some_and(|komi| span.contains(komi)))
            && self.handicap.is_none_or(|span| span.contains(record.handicap))
            && (self.rules.is_empty() || self.rules.iter().any(|name| has_rules(record, name)))
            && is_one_of(&self.players, &[&record.black, &record.white])
            && is_one_of(&self.black, &[&record.black])
            && is_one_of(&self.white, &[&record.white])
            && self.rank.is_none_or(|span| {
                [&record.black_rank, &record.white_rank]
                    .into_iter()
                    .all(|text| rank(text).is_some_and(|rank| span.contains(rank)))
            })
            && self.date.is_none_or(|span| {
                let days = record.date.as_deref().and_then(Date::parse).map(Date::days);
                // A year is in a range of days only if all of its days are.
                days.is_some_and(|(first, last)| span.contains(first) && span.contains(last))
            })
            && self.holds_for_result(record.result.as_deref().and_then(GameResult::parse))
            && self.moves.is_none_or(|span| span.contains(record.move_count()))
    }

    fn holds_for_result(&self, outcome: Option<GameResult>) -> bool {
        let (endings, winners): (Vec<_>, Vec<_>) = self.results.iter().partition(|word| word.is_ending());
        (winners.is_empty() || winners.contains(&ResultFilter::of_winner(outcome)))
            && (endings.is_empty()
                || ResultFilter::of_ending(outcome).is_some_and(|ending| endings.contains(&ending)))
    }

    /// Returns whether the replayed game meets the conditions.
    pub(super) fn match_replay(&self, entry: &Entry, examined: &ExaminedGame) -> bool {
        let repeats =
            |word: &RepetitionFilter| examined.repetitions.iter().any(|(_, found)| word.holds(found));
        (!self.valid || entry.missing.is_none() && examined.is_valid())
            && (self.repetitions.is_empty() || self.repetitions.iter().any(repeats))
            && (self.position.is_none() || examined.has_position)
    }
}

fn has_rules(record: &Record, name: &str) -> bool {
    match &record.rules {
        None => name == "none",
        Some(rules) => {
            let preset = Rules::preset(name).map(|preset| preset.names[0]);
            rules.eq_ignore_ascii_case(name)
                || preset.is_some() && record.known_rules().map(|preset| preset.names[0]) == preset
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        let span = |text: &str| ValueRange::<u32>::parse(text).map(|span| (span.low, span.high));
        assert_eq!(span("5"), Ok((Some(5), Some(5))));
        assert_eq!(span("5..7"), Ok((Some(5), Some(7))));
        assert_eq!(span("5.."), Ok((Some(5), None)));
        assert_eq!(span("..7"), Ok((None, Some(7))));
        for text in ["", "..", "x", "7..5", "5..x", "1.5"] {
            assert!(span(text).is_err(), "{text}");
        }
        assert!(ValueRange::<f32>::parse("-0.5..6.5").unwrap().contains(0.5));
        assert!(rank_span("5k..3d").unwrap().contains(Rank::parse("1d").unwrap()));
        assert!(rank_span("3d..5k").is_err());
        let date = date_span("2010..2011-06").unwrap();
        assert_eq!((date.low, date.high), (Some(20100101), Some(20110631)));
    }
}
