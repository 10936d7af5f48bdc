//! Parsing of the results, ranks and dates of game records. Real files contain free text there, so parsing is tolerant,
//! and text that cannot be interpreted yields `None`.

use crate::board::Color;
use std::fmt;

/// Outcome of a game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GameResult {
    /// Winner of the game, if any.
    pub winner: Winner,
    /// Way in which the game ended.
    pub ending: Ending,
}

/// Winner of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Winner {
    /// This side won.
    Player(Color),
    /// The game was a draw.
    Draw,
    /// The game does not count (`Void`).
    Void,
    /// The record states that the winner is unknown (`?`).
    Unknown,
}

/// Way in which a game was decided.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ending {
    /// By a margin, in points.
    Score(f32),
    /// By resignation.
    Resign,
    /// By time.
    Time,
    /// By forfeit.
    Forfeit,
    /// The record does not specify it.
    Unspecified,
}

impl GameResult {
    /// Parses the value of `RE`: `B+2.5`, `W+Resign`, `0`, `Draw`, `Void`, `?`, also `White wins by 3.5` and the usual
    /// Chinese words.
    pub fn parse(text: &str) -> Option<GameResult> {
        let text = text.trim();
        let lower = text.to_lowercase();
        let of = |winner| Some(GameResult { winner, ending: Ending::Unspecified });
        match lower.as_str() {
            "0" | "draw" | "jigo" | "和棋" | "和局" => return of(Winner::Draw),
            "void" => return of(Winner::Void),
            "?" => return of(Winner::Unknown),
            _ => {}
        }
        const WORDS: [(&str, Color); 8] = [
            ("b+", Color::Black),
            ("w+", Color::White),
            ("black", Color::Black),
            ("white", Color::White),
            ("黑", Color::Black),
            ("白", Color::White),
            ("黒", Color::Black),
            ("執黑", Color::Black),
        ];
        let (word, color) = WORDS.into_iter().find(|(word, _)| lower.starts_with(word))?;
        let rest = lower.strip_prefix(word)?.trim_start();
        Some(GameResult { winner: Winner::Player(color), ending: Ending::parse(rest) })
    }
}

impl Ending {
    fn parse(rest: &str) -> Ending {
        let has = |words: &[&str]| words.iter().any(|word| rest.contains(word));
        if rest == "r" || has(&["resign", "中盘", "中盤", "中押"]) {
            Ending::Resign
        } else if rest == "t" || has(&["time", "超时", "超時", "時間"]) {
            Ending::Time
        } else if rest == "f" || has(&["forfeit"]) {
            Ending::Forfeit
        } else {
            let digits = rest.find(|c: char| c.is_ascii_digit()).and_then(|at| rest.get(at..));
            let number = digits.map(|text| {
                let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
                text.get(..end.unwrap_or(text.len())).unwrap_or_default().replace(',', ".")
            });
            let points = number.and_then(|text| text.trim_end_matches('.').parse::<f32>().ok());
            points.filter(|points| *points <= 1000.0).map_or(Ending::Unspecified, Ending::Score)
        }
    }

    /// Returns one word: `score`, `resign`, `time`, `forfeit` or `unspecified`.
    pub fn word(self) -> &'static str {
        match self {
            Ending::Score(_) => "score",
            Ending::Resign => "resign",
            Ending::Time => "time",
            Ending::Forfeit => "forfeit",
            Ending::Unspecified => "unspecified",
        }
    }
}

/// Rank of a player. Ranks are ordered from 30 kyu over 9 dan to 9 dan professional.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rank(i16);

/// Offset of professional ranks.
const PROFESSIONAL: i16 = 100;

impl Rank {
    /// Parses a rank: `5k`, `9d`, `3p`, `1 dan`, `2 kyu`, `9段`, optionally followed by marks such as `?` and `*`.
    pub fn parse(text: &str) -> Option<Rank> {
        let text = text.trim().to_lowercase();
        let digits = text.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = text.split_at(digits);
        let number = number.parse::<i16>().ok().filter(|number| (1..=40).contains(number))?;
        let unit = unit.trim_start();
        let is = |words: &[&str]| words.iter().any(|word| unit.starts_with(word));
        if is(&["p"]) || is(&["d", "段"]) && unit.contains('p') {
            Some(Rank(PROFESSIONAL + number))
        } else if is(&["d", "段"]) {
            Some(Rank(number))
        } else {
            is(&["k", "级", "級", "g"]).then_some(Rank(1 - number))
        }
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            number @ ..=0 => write!(f, "{}k", 1 - number),
            number if number > PROFESSIONAL => write!(f, "{}p", number - PROFESSIONAL),
            number => write!(f, "{number}d"),
        }
    }
}

/// A day, a month or a year.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Date {
    /// Year, from 1000 to 2999.
    pub year: u16,
    /// Month, from 1 to 12.
    pub month: Option<u8>,
    /// Day, from 1 to 31.
    pub day: Option<u8>,
}

impl Date {
    /// Parses the first date in a text: four digits, optionally followed by month and day, each after `-`, `/` or `.`.
    /// For several days (`1996-05-06,07`), it is the first.
    pub fn parse(text: &str) -> Option<Date> {
        let runs = || text.split(|c: char| !c.is_ascii_digit());
        let at = runs().position(|run| run.len() == 4 && matches!(run.as_bytes(), [b'1' | b'2', ..]))?;
        let year = runs().nth(at)?.parse().ok()?;
        let text = text.get(text.find(runs().nth(at)?)? + 4..).unwrap_or_default();
        let (month, text) = Date::part(text, 12);
        let (day, _) = if month.is_some() { Date::part(text, 31) } else { (None, text) };
        Some(Date { year, month, day })
    }

    /// Parses a number of one or two digits after a separator.
    fn part(text: &str, most: u8) -> (Option<u8>, &str) {
        let Some(rest) = text.strip_prefix(['-', '/', '.']) else { return (None, text) };
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, after) = rest.split_at(length);
        let number = digits.parse::<u8>().ok().filter(|number| length <= 2 && (1..=most).contains(number));
        (number, after)
    }

    /// Returns the first and the last day that the date may mean, as `year · 10000 + month · 100 + day`.
    pub fn days(self) -> (u32, u32) {
        let of = |month: u8, day: u8| {
            u32::from(self.year) * 10_000
                + u32::from(self.month.unwrap_or(month)) * 100
                + u32::from(self.day.unwrap_or(day))
        };
        (of(1, 1), of(12, 31))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes() {
        let player = Winner::Player;
        let rows = [
            ("B+2.5", player(Color::Black), Ending::Score(2.5)),
            ("W+31", player(Color::White), Ending::Score(31.0)),
            ("B+2,5", player(Color::Black), Ending::Score(2.5)),
            ("W+R", player(Color::White), Ending::Resign),
            ("w+resign ", player(Color::White), Ending::Resign),
            ("B+T", player(Color::Black), Ending::Time),
            ("B+Time", player(Color::Black), Ending::Time),
            ("B+F", player(Color::Black), Ending::Forfeit),
            ("B+", player(Color::Black), Ending::Unspecified),
            ("B+99999", player(Color::Black), Ending::Unspecified),
            ("White wins by 3.5.", player(Color::White), Ending::Score(3.5)),
            ("黑中盘胜", player(Color::Black), Ending::Resign),
            ("白胜1.75子", player(Color::White), Ending::Score(1.75)),
            ("0", Winner::Draw, Ending::Unspecified),
            ("Draw", Winner::Draw, Ending::Unspecified),
            ("Void", Winner::Void, Ending::Unspecified),
            ("?", Winner::Unknown, Ending::Unspecified),
        ];
        for (text, winner, ending) in rows {
            assert_eq!(GameResult::parse(text), Some(GameResult { winner, ending }), "{text}");
        }
        for text in ["", "B", "unfinished", "+3"] {
            assert_eq!(GameResult::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ranks_are_ordered() {
        let texts = ["30k", "2 kyu", "1k?", "1d", "2 dan", "9段", "9D*", "1p", "9d pro"];
        let ranks: Vec<Rank> = texts.iter().map(|text| Rank::parse(text).expect(text)).collect();
        assert!(ranks.is_sorted(), "{ranks:?}");
        let written: Vec<String> = ranks.iter().map(Rank::to_string).collect();
        assert_eq!(written, ["30k", "2k", "1k", "1d", "2d", "9d", "9d", "1p", "9p"]);
        for text in ["", "9", "d", "0k", "99d", "x9d", "-3k"] {
            assert_eq!(Rank::parse(text), None, "{text}");
        }
    }

    #[test]
    fn dates() {
        let rows = [
            ("2011-05-19", 20110519, 20110519),
            ("1996-05-06,07", 19960506, 19960506),
            ("2011-05", 20110501, 20110531),
            ("2011", 20110101, 20111231),
            ("published 1938/1/2", 19380102, 19380102),
            ("2011-19-01", 20110101, 20111231),
            ("12 May 2004", 20040101, 20041231),
            ("20110519 or 2012-01-02", 20120102, 20120102),
        ];
        for (text, first, last) in rows {
            assert_eq!(Date::parse(text).map(Date::days), Some((first, last)), "{text}");
        }
        for text in ["", "May", "11-05-19", "9999-01-01", "20110519"] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }
}
