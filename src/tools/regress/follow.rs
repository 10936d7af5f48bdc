//! Follows the board of the engine, to show the position of a test in the results.

use super::command::{Effect, effect};
use crate::commands::Commands;
use crate::players::GtpResponse;
use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::board::Board;
use kosumi_gtp::{InputWatch, answer};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Position in the results.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Position {
    /// Rows from the top, with `.`, `X` and `O`.
    pub board: Vec<String>,
    /// Vertex of the previous move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

impl Position {
    /// Returns the board, or `None` if the rows are not a drawing of a board.
    pub fn board(&self) -> Option<Board> {
        self.board.join("\n").parse().ok()
    }
}

/// Kosumi's own board, which plays the moves that the engine receives or makes.
///
/// It uses the table of commands with an engine that never searches, so it follows commands exactly as Kosumi does.
pub(super) struct BoardFollower {
    commands: Commands,
    /// Whether the board is known to equal the engine's.
    is_known: bool,
}

impl BoardFollower {
    pub(super) fn new(folder: &Path) -> BoardFollower {
        let settings = EngineSettings { threads: 1, memory_mebibytes: 1, ..EngineSettings::default() };
        BoardFollower { commands: Commands::new(Engine::new(settings)).in_folder(folder), is_known: true }
    }

    /// Follows a command with the engine's response. A refused command changes nothing.
    pub(super) fn follow(&mut self, command: &str, reply: &GtpResponse) {
        let GtpResponse::Success(body) = reply else { return };
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        let own = match (name, effect(name)) {
            (_, Effect::Nothing | Effect::Parameter) => return,
            // Moves and stones that the engine chooses.
            ("genmove" | "kgs-genmove_cleanup", _) if body.eq_ignore_ascii_case("resign") => return,
            ("genmove" | "kgs-genmove_cleanup", _) => format!("play {rest} {body}"),
            ("genmove_black" | "genmove_white", _) => {
                format!("play {} {body}", name.trim_start_matches("genmove_"))
            }
            ("fixed_handicap" | "place_free_handicap", _) => format!("set_free_handicap {body}"),
            // GNU Go's other names for moves. A move that is only tried is taken back like any move.
            ("black" | "white", _) => format!("play {name} {rest}"),
            ("trymove", _) => format!("play {rest}"),
            ("popgo", _) => "undo".to_owned(),
            (_, Effect::Fresh | Effect::Position) => command.to_owned(),
            (_, Effect::Unknown) => {
                self.is_known = false;
                return;
            }
        };
        let followed = matches!(answer(&own, &mut self.commands, &InputWatch::default()), Some(Ok(_)));
        // After a command of unknown effect, clearing the board leaves its size unknown.
        let starts_anew = matches!(name, "loadsgf" | "boardsize" | "rectangular_boardsize");
        self.is_known = followed && (self.is_known || starts_anew);
    }

    /// Marks the engine's board as unknown.
    pub(super) fn set_unknown(&mut self) {
        self.is_known = false;
    }

    /// Returns the position if it is known.
    pub(super) fn position(&self) -> Option<Position> {
        self.is_known.then(|| {
            let game = self.commands.engine().game();
            let drawing = game.board().to_string();
            let board = drawing.lines().map(|row| row.replace(' ', "")).collect();
            let last = game.records().last().and_then(|record| record.mv.point());
            Position { board, last: last.map(|point| point.to_string()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows commands with their responses (`?` for a refusal) and draws the final board.
    fn follow(lines: &[(&str, &str)]) -> Option<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sgf-tests/suites/basics");
        let mut follower = BoardFollower::new(&folder);
        for &(command, reply) in lines {
            let reply = match reply {
                "?" => GtpResponse::Failure("no".into()),
                body => GtpResponse::Success(body.into()),
            };
            follower.follow(command, &reply);
        }
        follower.position().map(|position| {
            position.board.join("/") + &position.last.map(|last| format!(" {last}")).unwrap_or_default()
        })
    }

    #[test]
    fn commands_are_followed() {
        let small = ("boardsize 3", "");
        let after = |lines: &[(&str, &str)]| follow(&[&[small], lines].concat());
        let drawing = |text: &str| Some(text.to_owned());
        assert_eq!(after(&[]), drawing(".../.../..."));
        assert_eq!(after(&[("play b B2", "")]), drawing(".../.X./... B2"));
        assert_eq!(after(&[("play b B2", "?")]), drawing(".../.../..."));
        assert_eq!(after(&[("play b B2", ""), ("undo", ""), ("play w A1", "")]), drawing(".../.../O.. A1"));
        assert_eq!(after(&[("genmove w", "C3"), ("genmove b", "PASS")]), drawing("..O/.../..."));
        assert_eq!(after(&[("genmove w", "resign"), ("reg_genmove b", "A1")]), drawing(".../.../..."));
        assert_eq!(
            after(&[("white A2", ""), ("trymove black B2", ""), ("popgo", "")]),
            drawing(".../O../... A2")
        );
        assert_eq!(after(&[("place_free_handicap 2", "A1 C3")]), drawing("..X/.../X.."));
        assert_eq!(after(&[("play b A1", ""), ("clear_board", "")]), drawing(".../.../..."));
        let record = follow(&[("loadsgf sgf/triple-ko.sgf", "black")]).unwrap();
        assert!(record.contains('X') && record.contains('O'), "{record}");
    }

    #[test]
    fn what_cannot_be_followed_is_left_out() {
        let small = ("boardsize 3", "");
        let unknown = ("rotate", "");
        assert_eq!(follow(&[small, unknown]), None);
        assert_eq!(follow(&[small, unknown, ("play b A1", "")]), None);
        assert_eq!(follow(&[small, unknown, ("clear_board", "")]), None, "the size could be another");
        assert!(follow(&[small, unknown, small]).is_some());
        assert_eq!(follow(&[small, ("play b A1", ""), ("play b A1", "")]), None, "we refuse what it accepts");
        assert_eq!(follow(&[("loadsgf no-such.sgf", "")]), None);
    }
}
