//! Messages of the pages, with the checks that need nothing but the message.

use super::judgements::Judged;
use super::strength::full_name;
use super::tsumego::ProblemGoal;
use kosumi_engine::time::{TimeControl, seconds};
use kosumi_go::board::{BoardSize, Move};
use kosumi_go::rules::{PRESETS, Rules};
use serde::{Deserialize, Deserializer, Serialize};

/// Player of a colour.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PlayerKind {
    /// A person at the board.
    Person,
    /// Kosumi at one of its levels.
    Kosumi {
        /// Full name of the level. Messages may also contain names of earlier versions.
        #[serde(deserialize_with = "full_level_name")]
        level: String,
    },
    /// One of the engines that were given on the command line.
    Engine {
        /// Index of the engine.
        number: usize,
    },
}

/// Reads the name of a level, and replaces a name of an earlier version.
fn full_level_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(|name| full_name(&name).to_owned())
}

/// Settings of a new game.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewGame {
    /// Number of columns.
    pub columns: usize,
    /// Number of rows.
    pub rows: usize,
    /// Number of handicap stones.
    pub handicap: usize,
    /// Komi; `None` for the usual one.
    pub komi: Option<f32>,
    /// Name of the rules.
    pub rules: String,
    /// Player of Black.
    pub black: PlayerKind,
    /// Player of White.
    pub white: PlayerKind,
    /// Time control.
    pub clock: ClockSettings,
}

/// Time control of a game, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClockSettings {
    /// No limit.
    None,
    /// Sudden death.
    Absolute {
        /// Time for the whole game.
        main: f64,
    },
    /// Each move adds time.
    Fischer {
        /// Time at the start.
        main: f64,
        /// Time added after every move.
        increment: f64,
    },
    /// After the main time, each move that takes longer than a period costs one.
    ByoYomi {
        /// Time before the first period.
        main: f64,
        /// Length of a period.
        period: f64,
        /// Number of periods.
        periods: u32,
    },
}

/// Request of a page. Moves are in the form of [`review::place`](crate::review::place). `at` is the number of a node of
/// the tree. During a game, a move at any node but the last is refused, because another window has moved first.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PageRequest {
    /// Starts another game.
    New {
        /// Its settings.
        game: NewGame,
    },
    /// Plays a move of the side to move. In the study mode, any node is accepted.
    Play {
        /// Node.
        at: usize,
        /// The move.
        place: String,
    },
    /// Takes moves back until the same person is to move again. The moves stay in the tree.
    Undo {
        /// Node.
        at: usize,
    },
    /// Ends the study mode and continues the game at a node, with other players if they are given.
    From {
        /// Node.
        at: usize,
        /// Players of Black and of White.
        #[serde(default)]
        seats: Option<(PlayerKind, PlayerKind)>,
    },
    /// Starts or ends the study mode, in which moves of both colours are played at any node.
    Study {
        /// Whether the study mode starts.
        on: bool,
    },
    /// In the study mode: makes Kosumi play a move at a node.
    Answer {
        /// Node.
        at: usize,
    },
    /// In the study mode: sets whether Kosumi answers every move.
    Answers {
        /// Whether Kosumi answers.
        on: bool,
    },
    /// Sets whether each move of a person is judged before Kosumi moves.
    Teach {
        /// Whether moves are judged.
        on: bool,
    },
    /// Sets the comment of a node.
    Comment {
        /// Node.
        at: usize,
        /// The comment.
        text: String,
    },
    /// Removes a node with everything below it.
    Remove {
        /// Node.
        at: usize,
    },
    /// Puts back the variation that was removed last.
    PutBack {},
    /// Moves the line of a node in front of the variation that it leaves.
    Promote {
        /// Node.
        at: usize,
    },
    /// Judges an answer to a problem.
    Solve {
        /// Key that the page gives to the answer.
        key: u64,
        /// Record whose main line leads to the position.
        text: String,
        /// The answer.
        place: String,
    },
    /// Requests records of the positions before moves, for problems.
    Problems {
        /// Nodes of the moves.
        at: Vec<usize>,
    },
    /// Requests the problems of life and death of a file; if the file is empty, the built-in problems.
    ReadTsumego {
        /// Content of the file if it is UTF-8.
        #[serde(default)]
        text: String,
        /// Content of the file in Base64 if it is not UTF-8.
        #[serde(default)]
        bytes: String,
    },
    /// Puts a problem of life and death on the table. The game there waits.
    PoseTsumego {
        /// Key that the page gives to the problem.
        key: String,
        /// Record of the problem.
        text: String,
        /// The goal, instead of the one in the record.
        #[serde(default)]
        goal: Option<ProblemGoal>,
    },
    /// Returns from problems to the game.
    LeaveTsumego {},
    /// Requests everything that [`Restore`](PageRequest::Restore) needs.
    Remember {},
    /// Resigns for the person.
    Resign {
        /// Node.
        at: usize,
    },
    /// Starts or stops continuous analysis.
    Analyse {
        /// Whether the analysis starts.
        on: bool,
    },
    /// Selects the position for continuous analysis.
    View {
        /// Node.
        at: usize,
    },
    /// Judges all moves of the line through a node, or ends this.
    Review {
        /// Node.
        at: usize,
        /// Whether the judgements start.
        on: bool,
    },
    /// Makes a page with a review of the main line.
    ReviewPage {},
    /// Searches this position once, for its best moves.
    Hint {
        /// Node.
        at: usize,
    },
    /// Estimates the score and the owner of every point.
    Estimate {
        /// Node.
        at: usize,
    },
    /// At the end of a game: toggles whether the chain of a stone is dead.
    Mark {
        /// Point of the stone.
        place: String,
    },
    /// At the end of a game: confirms the dead stones.
    Settle {},
    /// At the end of a game: resumes play.
    Resume {},
    /// Pauses or resumes engines and clocks.
    Pause {
        /// Whether the pause starts.
        on: bool,
    },
    /// Sets the players.
    Seats {
        /// Player of Black.
        black: PlayerKind,
        /// Player of White.
        white: PlayerKind,
    },
    /// Loads a record. If `partial` is set, a record that cannot be followed to its end is loaded as far as possible.
    Load {
        /// Content of the file if it is UTF-8.
        #[serde(default)]
        text: String,
        /// Content of the file in Base64 if it is not UTF-8.
        #[serde(default)]
        bytes: String,
        /// Content of a link made by a [`Share`](PageRequest::Share) request.
        #[serde(default)]
        shared: String,
        /// Whether it is enough to load the part before a fault.
        #[serde(default)]
        partial: bool,
        /// Whether problems are opened as games, in the study mode.
        #[serde(default)]
        plain: bool,
    },
    /// Requests the record in a form that fits into a URL.
    Share {},
    /// Restores the game that this page showed before the server restarted, unless a game has begun since.
    Restore {
        /// The game.
        game: RestoredGame,
    },
    /// In a review: analyses the position after a step of the main line and further moves.
    Look {
        /// Step of the main line.
        step: usize,
        /// Moves after it.
        line: Vec<String>,
    },
    /// In a review: stops the analysis of this window.
    Rest {},
    /// Requests the record; in a review, with all results.
    Save {},
}

/// Game as a page knows it: a record that the server sent, and the line that has been played since.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestoredGame {
    /// Record with all variations.
    pub text: String,
    /// Places of the moves from the root to the node at which play continues. `=` followed by a number is the child with
    /// this index: one without a move, or one behind another child at the same point. Moves that the record lacks are
    /// added.
    pub line: Vec<String>,
    /// Result in the form of game records, if the game is over.
    pub result: Option<String>,
    /// Player of Black.
    pub black: PlayerKind,
    /// Player of White.
    pub white: PlayerKind,
    /// Details that the record does not contain, if they are known.
    #[serde(default)]
    pub details: Option<GameDetails>,
}

/// Details of a game that its record does not contain.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameDetails {
    /// Time control.
    pub clock: ClockSettings,
    /// Time left of Black and of White, in seconds, and the stones or periods left: 0 during the main time.
    pub left: [(f64, u32); 2],
    /// Whether engines and clocks must wait.
    pub paused: bool,
    /// In the study mode: node to which the game returns. Nodes have the numbers that they get when the record is read.
    pub studied_from: Option<usize>,
    /// Results of games that ended in this tree, with their last nodes.
    pub endings: Vec<(usize, String)>,
    /// Known numbers of positions.
    pub known: Vec<KnownNumbers>,
    /// Nodes whose side to move (`B` or `W`) does not follow from the record any more, because the move after them was
    /// removed or is no longer the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<(usize, char)>,
}

/// Numbers of a position. Evaluations are Black's win rate in `[0, 1]`, Black's lead in points, and visits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownNumbers {
    /// Node.
    pub node: usize,
    /// Evaluation by analyses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysed: Option<(f32, f32, u32)>,
    /// Evaluation by the engine that played the move to the position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outlook: Option<(f32, f32, u32)>,
    /// Results of the judgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
}

/// Returns the content of a file from text or Base64; `None` if the Base64 is invalid.
pub fn file_bytes(text: String, bytes: &str) -> Option<Vec<u8>> {
    match bytes {
        "" => Some(text.into_bytes()),
        _ => data_encoding::BASE64.decode(bytes.as_bytes()).ok(),
    }
}

/// Maximum time in a time control, in seconds.
const MAX_SECONDS: f64 = 24.0 * 3600.0;

impl ClockSettings {
    /// Returns the settings of a time control. A control that the page does not offer counts as no limit.
    pub(super) fn of(control: TimeControl) -> ClockSettings {
        match control {
            TimeControl::Absolute { main } => ClockSettings::Absolute { main: main.as_secs_f64() },
            TimeControl::Fischer { main, increment, .. } => {
                ClockSettings::Fischer { main: main.as_secs_f64(), increment: increment.as_secs_f64() }
            }
            TimeControl::ByoYomi { main, period, periods } => {
                ClockSettings::ByoYomi { main: main.as_secs_f64(), period: period.as_secs_f64(), periods }
            }
            _ => ClockSettings::None,
        }
    }

    /// Returns the time control; `None` if the values are out of range.
    pub(super) fn control(self) -> Option<TimeControl> {
        let time = |value: f64| (0.0..=MAX_SECONDS).contains(&value).then(|| seconds(value));
        let some = |value: f64| time(value).filter(|time| !time.is_zero());
        Some(match self {
            ClockSettings::None => TimeControl::None,
            ClockSettings::Absolute { main } => TimeControl::Absolute { main: some(main)? },
            ClockSettings::Fischer { main, increment } => TimeControl::Fischer {
                main: some(main)?,
                increment: time(increment)?,
                cap: None,
                max_move: None,
            },
            ClockSettings::ByoYomi { main, period, periods } => {
                let periods = Some(periods).filter(|periods| (1..=100).contains(periods))?;
                TimeControl::ByoYomi { main: time(main)?, period: some(period)?, periods }
            }
        })
    }
}

impl NewGame {
    /// Returns the board size, if it is valid.
    pub(super) fn size(&self) -> Option<BoardSize> {
        BoardSize::new(self.columns, self.rows)
    }

    /// Returns the rules with this name.
    pub(super) fn rules(&self) -> Option<Rules> {
        PRESETS.iter().find(|preset| preset.names[0] == self.rules).map(|preset| preset.rules)
    }
}

/// Returns the move at a place of two letters, or a pass for `--`. Returns `None` if the place is not on the board.
pub fn parse_place(size: BoardSize, place: &str) -> Option<Move> {
    if place == "--" {
        return Some(Move::Pass);
    }
    let number = |letter: u8| letter.is_ascii_lowercase().then(|| usize::from(letter - b'a'));
    let &[column, row] = place.as_bytes() else { return None };
    let (column, row) = (number(column)?, number(row)?);
    let row = size.rows().checked_sub(1 + row)?;
    size.point(column, row).map(Move::Play)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::place;

    #[test]
    fn places_are_read_as_they_are_written() {
        let size = BoardSize::new(7, 13).unwrap();
        for mv in size.points().map(Move::Play).chain([Move::Pass]) {
            assert_eq!(parse_place(size, &place(size, mv)), Some(mv));
        }
        for text in ["", "a", "aaa", "ha", "an", "AA", "é", "-", "zz"] {
            assert_eq!(parse_place(size, text), None, "{text}");
        }
    }

    #[test]
    fn invalid_messages_are_refused() {
        let read = |text: &str| serde_json::from_str::<PageRequest>(text);
        assert!(read(r#"{"do":"play","at":3,"place":"dd"}"#).is_ok());
        assert!(read(r#"{"do":"settle"}"#).is_ok());
        assert!(
            read(r#"{"do":"load","bytes":"KDsp"}"#).is_ok() && read(r#"{"do":"load","text":"(;)"}"#).is_ok()
        );
        assert_eq!(file_bytes(String::new(), "KDsp").as_deref(), Some(&b"(;)"[..]));
        assert_eq!(file_bytes("(;)".to_owned(), "").as_deref(), Some(&b"(;)"[..]));
        assert_eq!(file_bytes(String::new(), "no Base64"), None);
        for text in [
            "",
            "{}",
            "[]",
            "null",
            r#"{"do":"open","file":"/etc/passwd"}"#,
            r#"{"do":"play","at":-1,"place":"dd"}"#,
            r#"{"do":"play","at":3,"place":"dd","more":1}"#,
            r#"{"do":"seats","black":{"kind":"engine","command":"sh"},"white":{"kind":"person"}}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(read(&deep).is_err(), "no stack is exhausted");
    }

    #[test]
    fn clocks_are_sensible() {
        for clock in [
            ClockSettings::Absolute { main: 0.0 },
            ClockSettings::Absolute { main: f64::NAN },
            ClockSettings::Fischer { main: 1e300, increment: 1.0 },
            ClockSettings::Fischer { main: 10.0, increment: -1.0 },
            ClockSettings::ByoYomi { main: 10.0, period: 0.0, periods: 3 },
            ClockSettings::ByoYomi { main: 10.0, period: 10.0, periods: 0 },
        ] {
            assert_eq!(clock.control(), None, "{clock:?}");
        }
        assert!(ClockSettings::ByoYomi { main: 0.0, period: 30.0, periods: 5 }.control().is_some());
    }
}
