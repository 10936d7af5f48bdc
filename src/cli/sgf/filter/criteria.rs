//! Conditions on games, as the command line has them.

use crate::board::{BoardSize, Color, Key};
use crate::cli::options;
use crate::cli::sgf::examine::Examined;
use crate::cli::sgf::input::Entry;
use crate::rules::Rules;
use crate::sgf::facts::{Date, Ending, Outcome, Rank, Winner};
use crate::sgf::repetition::{Cycle, Repetition};
use crate::sgf::{Record, Strictness};
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

/// Conditions. A game has to meet all of them; of several values for one of them, one is enough.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Conditions")]
pub(super) struct Criteria {
    /// Size of the board: 19, or WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = options::board_size)]
    size: Vec<BoardSize>,
    /// Komi: 6.5, or a range
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, value_parser = Span::<f32>::parse)]
    komi: Option<Span<f32>>,
    /// Handicap stones
    #[arg(long, value_name = "RANGE", value_parser = Span::<u32>::parse)]
    handicap: Option<Span<u32>>,
    /// Rules as the record names them, or "none"
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    rules: Vec<String>,
    /// Part of a player's name
    #[arg(long, value_name = "NAME")]
    player: Vec<String>,
    /// Part of Black's name
    #[arg(long, value_name = "NAME")]
    black: Vec<String>,
    /// Part of White's name
    #[arg(long, value_name = "NAME")]
    white: Vec<String>,
    /// Grade of both players: 9d, or a range as 5k..3d or 1p..
    #[arg(long, value_name = "RANGE", value_parser = rank_span)]
    rank: Option<Span<Rank>>,
    /// Date: a day, a month or a year, or a range of them
    #[arg(long, value_name = "RANGE", value_parser = date_span)]
    date: Option<Span<u32>>,
    /// Who won, or by what
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    result: Vec<ResultWord>,
    /// Number of moves, passes included
    #[arg(long, value_name = "RANGE", value_parser = Span::<usize>::parse)]
    moves: Option<Span<usize>>,
    /// Repetition: any, what a superko rule forbids, or a kind of cycle
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    repetition: Vec<RepetitionWord>,
    /// Only closed records in which every value makes sense and every move is legal, superko aside
    #[arg(long)]
    valid: bool,
    /// Only the first of several games with the same moves, on turned or mirrored boards too
    #[arg(long)]
    pub(super) unique: bool,
    /// Games that come through the last position of this SGF file, turned or mirrored or not
    #[arg(long, value_name = "FILE")]
    position: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ResultWord {
    Black,
    White,
    Draw,
    Void,
    /// The record says so, or nothing, or what makes no sense
    Unknown,
    Score,
    Resign,
    Time,
    Forfeit,
    /// Somebody won, the record does not say how
    Unspecified,
}

impl ResultWord {
    fn is_ending(self) -> bool {
        use ResultWord::{Forfeit, Resign, Score, Time, Unspecified};
        matches!(self, Score | Resign | Time | Forfeit | Unspecified)
    }

    fn of_winner(outcome: Option<Outcome>) -> ResultWord {
        match outcome.map(|outcome| outcome.winner) {
            Some(Winner::Player(Color::Black)) => ResultWord::Black,
            Some(Winner::Player(Color::White)) => ResultWord::White,
            Some(Winner::Nobody) => ResultWord::Draw,
            Some(Winner::Void) => ResultWord::Void,
            Some(Winner::Unknown) | None => ResultWord::Unknown,
        }
    }

    fn of_ending(outcome: Option<Outcome>) -> Option<ResultWord> {
        let outcome = outcome.filter(|outcome| matches!(outcome.winner, Winner::Player(_)))?;
        Some(match outcome.ending {
            Ending::Score(_) => ResultWord::Score,
            Ending::Resign => ResultWord::Resign,
            Ending::Time => ResultWord::Time,
            Ending::Forfeit => ResultWord::Forfeit,
            Ending::Unspecified => ResultWord::Unspecified,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RepetitionWord {
    Any,
    Positional,
    Situational,
    NaturalSituational,
    Cycle(Cycle),
}

const RULES: [(&str, RepetitionWord); 4] = [
    ("any", RepetitionWord::Any),
    ("psk", RepetitionWord::Positional),
    ("ssk", RepetitionWord::Situational),
    ("nssk", RepetitionWord::NaturalSituational),
];

impl FromStr for RepetitionWord {
    type Err = String;

    fn from_str(text: &str) -> Result<RepetitionWord, String> {
        let rule = RULES.into_iter().find(|(name, _)| *name == text).map(|(_, word)| word);
        let cycle = || Cycle::ALL.into_iter().find(|cycle| cycle.name() == text).map(RepetitionWord::Cycle);
        rule.or_else(cycle).ok_or_else(|| {
            let names = RULES.iter().map(|(name, _)| *name).chain(Cycle::ALL.map(Cycle::name));
            format!("one of {}", names.collect::<Vec<_>>().join(", "))
        })
    }
}

impl RepetitionWord {
    fn holds(self, repetition: &Repetition) -> bool {
        let beyond_ko = repetition.cycle != Cycle::SimpleKo;
        match self {
            RepetitionWord::Any => true,
            RepetitionWord::Positional => beyond_ko && repetition.forbidden.positional,
            RepetitionWord::Situational => beyond_ko && repetition.forbidden.situational,
            RepetitionWord::NaturalSituational => beyond_ko && repetition.forbidden.natural_situational,
            RepetitionWord::Cycle(cycle) => cycle == repetition.cycle,
        }
    }
}

/// From one value to another, both included; or from or up to one.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Span<T> {
    low: Option<T>,
    high: Option<T>,
}

impl<T: PartialOrd + Copy> Span<T> {
    fn contains(&self, value: T) -> bool {
        self.low.is_none_or(|low| low <= value) && self.high.is_none_or(|high| value <= high)
    }

    /// `A..B`, `A..`, `..B` or `A`, with a reader each for what begins and what ends the span.
    fn of(
        text: &str,
        low: impl Fn(&str) -> Option<T>,
        high: impl Fn(&str) -> Option<T>,
    ) -> Result<Span<T>, String> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let side = |text: &str, read: &dyn Fn(&str) -> Option<T>| match text.trim() {
            "" => Ok(None),
            text => read(text).map(Some).ok_or_else(|| format!("{text:?} makes no sense here")),
        };
        let span = Span { low: side(first, &low)?, high: side(last, &high)? };
        match (span.low, span.high) {
            (None, None) => Err("a value, or a range as A..B, A.. or ..B".into()),
            (Some(low), Some(high)) if low > high => Err("the range is empty".into()),
            _ => Ok(span),
        }
    }
}

impl<T: FromStr + PartialOrd + Copy> Span<T> {
    fn parse(text: &str) -> Result<Span<T>, String> {
        let read = |text: &str| text.parse().ok();
        Span::of(text, read, read)
    }
}

fn rank_span(text: &str) -> Result<Span<Rank>, String> {
    Span::of(text, Rank::parse, Rank::parse)
}

/// Days as [`Date::days`] has them.
fn date_span(text: &str) -> Result<Span<u32>, String> {
    let days = |text: &str| Date::parse(text).map(Date::days);
    Span::of(text, |text| Some(days(text)?.0), |text| Some(days(text)?.1))
}

impl Criteria {
    /// The keys of the position that is looked for, under all symmetries.
    pub(super) fn positions(&self) -> anyhow::Result<Vec<Key>> {
        let Some(path) = &self.position else { return Ok(Vec::new()) };
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let game = Record::parse(&bytes)
            .and_then(|record| record.replay(Rules::default(), 0.0, None, Strictness::Tolerant))
            .with_context(|| format!("cannot read {}", path.display()))?
            .game;
        Ok(game.board().symmetric_keys().collect())
    }

    /// Must the game be replayed, besides being read?
    pub(super) fn need_replay(&self) -> bool {
        self.valid || self.unique || self.position.is_some() || !self.repetition.is_empty()
    }

    /// What the record says of itself.
    pub(super) fn hold_for_record(&self, record: &Record) -> bool {
        let is_one_of = |parts: &[String], names: &[&Option<String>]| {
            let names: Vec<String> =
                names.iter().filter_map(|name| Some(name.as_deref()?.to_lowercase())).collect();
            let is_part = |part: &String| names.iter().any(|name| name.contains(&part.to_lowercase()));
            parts.is_empty() || parts.iter().any(is_part)
        };
        let rank = |text: &Option<String>| text.as_deref().and_then(Rank::parse);
        (self.size.is_empty() || self.size.contains(&record.size))
            && self.komi.is_none_or(|span| record.komi.is_some_and(|komi| span.contains(komi)))
            && self.handicap.is_none_or(|span| span.contains(record.handicap))
            && (self.rules.is_empty() || self.rules.iter().any(|name| has_rules(record, name)))
            && is_one_of(&self.player, &[&record.black, &record.white])
            && is_one_of(&self.black, &[&record.black])
            && is_one_of(&self.white, &[&record.white])
            && self.rank.is_none_or(|span| {
                [&record.black_rank, &record.white_rank]
                    .into_iter()
                    .all(|text| rank(text).is_some_and(|rank| span.contains(rank)))
            })
            && self.date.is_none_or(|span| {
                let days = record.date.as_deref().and_then(Date::parse).map(Date::days);
                // A year is in a span of days if it is as a whole.
                days.is_some_and(|(first, last)| span.contains(first) && span.contains(last))
            })
            && self.holds_for_result(record.result.as_deref().and_then(Outcome::parse))
            && self.moves.is_none_or(|span| span.contains(record.move_count()))
    }

    fn holds_for_result(&self, outcome: Option<Outcome>) -> bool {
        let (endings, winners): (Vec<_>, Vec<_>) = self.result.iter().partition(|word| word.is_ending());
        (winners.is_empty() || winners.contains(&ResultWord::of_winner(outcome)))
            && (endings.is_empty()
                || ResultWord::of_ending(outcome).is_some_and(|ending| endings.contains(&ending)))
    }

    /// What the replay shows.
    pub(super) fn hold_for_replay(&self, entry: &Entry, examined: &Examined) -> bool {
        let repeats = |word: &RepetitionWord| examined.repetitions.iter().any(|(_, found)| word.holds(found));
        (!self.valid || entry.missing.is_none() && examined.is_valid())
            && (self.repetition.is_empty() || self.repetition.iter().any(repeats))
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
        let span = |text: &str| Span::<u32>::parse(text).map(|span| (span.low, span.high));
        assert_eq!(span("5"), Ok((Some(5), Some(5))));
        assert_eq!(span("5..7"), Ok((Some(5), Some(7))));
        assert_eq!(span("5.."), Ok((Some(5), None)));
        assert_eq!(span("..7"), Ok((None, Some(7))));
        for text in ["", "..", "x", "7..5", "5..x", "1.5"] {
            assert!(span(text).is_err(), "{text}");
        }
        assert!(Span::<f32>::parse("-0.5..6.5").unwrap().contains(0.5));
        assert!(rank_span("5k..3d").unwrap().contains(Rank::parse("1d").unwrap()));
        assert!(rank_span("3d..5k").is_err());
        let date = date_span("2010..2011-06").unwrap();
        assert_eq!((date.low, date.high), (Some(20100101), Some(20110631)));
    }
}
