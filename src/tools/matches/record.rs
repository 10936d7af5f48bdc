//! Record of a game: a line of text, a line of JSON, and an SGF file.

use super::clock;
use super::conditions::Conditions;
use super::evaluation::MoveEvaluation;
use super::side::Side;
use kosumi_go::game::Game;
use kosumi_go::sgf::{Meta, Tree};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Way in which a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Two passes.
    Score,
    /// A player resigned.
    Resign,
    /// The move limit was reached. The game is scored as it stands.
    MoveLimit,
    /// Loss by an illegal move.
    IllegalMove,
    /// Loss by refusing a legal move of the opponent, or refusing to move.
    Refused,
    /// Loss because the engine ended.
    Crash,
    /// Loss on time, or by giving no response.
    Time,
    /// Loss by an invalid response.
    #[serde(rename = "nonsense")]
    InvalidResponse,
}

impl Ending {
    /// Forfeits: losses by anything but play.
    pub const FORFEITS: [Ending; 5] =
        [Ending::IllegalMove, Ending::Refused, Ending::Crash, Ending::Time, Ending::InvalidResponse];

    /// Returns whether the game was lost by a forfeit.
    pub fn is_forfeit(self) -> bool {
        Ending::FORFEITS.contains(&self)
    }

    /// Returns the name of the ending.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Score => "score",
            Ending::Resign => "resignation",
            Ending::MoveLimit => "move limit",
            Ending::IllegalMove => "illegal move",
            Ending::Refused => "refusal",
            Ending::Crash => "crash",
            Ending::Time => "time",
            Ending::InvalidResponse => "invalid response",
        }
    }
}

/// Way in which the dead stones were decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// All stones counted.
    AllAlive,
    /// Both engines named the same stones, or only one engine named any.
    Agreed,
    /// Kosumi decided, because the conditions say so, because the engines gave no answer, or because the game was cut
    /// off.
    Judged,
    /// Kosumi decided, because the engines' answers differed.
    Disputed,
}

/// Finished game, in the format of the log. Arrays contain the values of A and B.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct GameRecord {
    /// Number in the match, from 1.
    pub number: u32,
    /// Start of the game, in UTC.
    pub date: String,
    /// Columns and rows, as `9x9`.
    pub size: String,
    /// Komi: points for White.
    pub komi: f32,
    /// Engine that had Black.
    pub black: Side,
    /// Number of handicap stones; 1 means only the first move.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub handicap: u32,
    /// Name of the opening.
    pub opening: String,
    /// Number of moves in the opening.
    pub opening_moves: usize,
    /// Result as in SGF.
    pub result: String,
    /// Winner; `None` for a draw.
    pub winner: Option<Side>,
    /// Way in which the game ended.
    pub ending: Ending,
    /// Reason for a forfeit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Way in which the dead stones were decided; `None` if nothing was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// Responses to `final_score`, of the engines that were asked and answered.
    #[serde(default)]
    pub final_scores: [Option<String>; 2],
    /// Moves in alternation. Black begins, unless there are handicap stones.
    pub moves: Vec<String>,
    /// Number of moves that each engine chose.
    pub chosen: [u32; 2],
    /// Total time of these moves, in seconds.
    pub seconds: [f64; 2],
    /// Time of the slowest move, in seconds.
    pub slowest: [f64; 2],
    /// Maximum time by which a move exceeded the clock within the margin, in seconds.
    pub overstep: [f64; 2],
    /// Mean round-trip time of a message, in seconds.
    pub lag: [f64; 2],
    /// Number of lines outside responses.
    pub stray: [usize; 2],
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl GameRecord {
    /// Returns A's points in this game, in half points: 0, 1 or 2.
    pub fn half_points(&self) -> usize {
        match self.winner {
            Some(Side::A) => 2,
            None => 1,
            Some(Side::B) => 0,
        }
    }

    /// Returns whether this engine announced a score other than the referee's. Texts that are not scores do not count.
    pub fn disputed_by(&self, side: Side) -> bool {
        let parsed = |text: &str| {
            let text = text.split_whitespace().next()?.to_ascii_uppercase();
            match text.split_once('+') {
                Some(("B", points)) => points.parse::<f64>().ok(),
                Some(("W", points)) => points.parse::<f64>().ok().map(|points| -points),
                None if text == "0" || text.starts_with("DRAW") => Some(0.0),
                _ => None,
            }
        };
        let own = self.final_scores[side as usize].as_deref().and_then(parsed);
        own.zip(parsed(&self.result)).is_some_and(|(own, result)| (own - result).abs() > 0.01)
    }
}

impl fmt::Display for GameRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let winner = self.winner.map_or("draw".to_owned(), |side| format!("{side} wins"));
        let [a, b] = self.seconds;
        write!(
            f,
            "game {:>4}  {}  {}-{}  {:<8} {winner:<6}  {:>3} moves  A {a:.1} s  B {b:.1} s  {}",
            self.number,
            self.size,
            self.black,
            self.black.other(),
            self.result,
            self.moves.len(),
            self.opening,
        )?;
        if self.ending.is_forfeit() {
            write!(f, "  forfeit, {}: {}", self.ending.name(), self.detail)?;
        } else if self.ending == Ending::MoveLimit {
            f.write_str("  move limit")?;
        }
        if self.judgement == Some(Judgement::Disputed) {
            f.write_str("  dead stones disputed")?;
        }
        for side in Side::BOTH {
            if let Some(score) = self.final_scores[side as usize].as_ref().filter(|_| self.disputed_by(side))
            {
                write!(f, "  {side} reports {score}")?;
            }
        }
        Ok(())
    }
}

/// Data about a move besides the move itself.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct MoveNote {
    /// Time of the move, in seconds.
    pub seconds: f64,
    /// Time left after the move, in seconds, with stones or periods in overtime.
    pub left: Option<(f64, Option<u32>)>,
    pub evaluation: Option<MoveEvaluation>,
}

impl GameRecord {
    /// Returns the game as SGF: `game` with the other data of the record. The notes belong to the moves after the
    /// opening. There may be one more, for a resignation.
    pub(super) fn sgf(
        &self,
        game: &Game,
        notes: &[MoveNote],
        names: [&str; 2],
        conditions: &Conditions,
    ) -> String {
        let name = |side: Side| Some(names[side as usize].to_owned());
        let meta = Meta {
            black: name(self.black),
            white: name(self.black.other()),
            result: Some(self.result.clone()),
            date: Some(self.date.get(..10).unwrap_or(&self.date).to_owned()),
            comment: Some(self.root_comment(conditions)),
        };
        let mut tree = Tree::of_game(game, &meta);
        let root = tree.root();
        let node = tree
            .at(root)
            .line("EV", "kosumi match")
            .line("RO", &self.number.to_string())
            .line("ON", &self.opening);
        if let Some(control) = conditions.time {
            let (main, overtime) = clock::sgf(control);
            node.number("TM", main).line("OT", &overtime);
        }
        let line = tree.main_line();
        for (index, note) in notes.iter().enumerate() {
            let number = self.opening_moves + index + 1;
            let Some(&id) = line.get(number) else {
                // A resignation is not a move. Its note is dropped, because the last move has its own.
                continue;
            };
            let mut text = format!("{:.3} s", note.seconds);
            if let Some(evaluation) = &note.evaluation {
                text.push_str(&format!("; {evaluation}"));
            }
            let node = tree.at(id).comment(&text);
            if let Some((seconds, count)) = note.left
                && let Some(record) = game.records().get(number - 1)
            {
                node.time_left(record.color, seconds, count);
            }
        }
        tree.to_string()
    }

    fn root_comment(&self, conditions: &Conditions) -> String {
        let mut lines = vec![format!("Game {}: {}", self.number, self.ending.name())];
        if !self.detail.is_empty() {
            lines.push(self.detail.clone());
        }
        for side in Side::BOTH {
            let color = if side == self.black { "Black" } else { "White" };
            lines.push(format!("{side}, {color}: {}", conditions.contenders[side as usize].text));
        }
        match self.judgement {
            Some(Judgement::Disputed) => lines.push("Dead stones: disputed, judged by Kosumi".to_owned()),
            Some(Judgement::Judged) => lines.push("Dead stones: judged by Kosumi".to_owned()),
            Some(Judgement::Agreed | Judgement::AllAlive) | None => {}
        }
        for side in Side::BOTH {
            if let Some(score) = self.final_scores[side as usize].as_ref().filter(|_| self.disputed_by(side))
            {
                lines.push(format!("{side} reports {score}"));
            }
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matches::clock::parse;
    use crate::matches::fixtures::{conditions, record};
    use crate::matches::openings::Source;
    use kosumi_go::board::Move;
    use kosumi_go::sgf::Record;

    #[test]
    fn scores_of_engines_are_compared() {
        let game = |text: &str| GameRecord { final_scores: [Some(text.to_owned()), None], ..record(1) };
        for same in ["B+2.5", "b+2.50 (upper bound)", "I do not know", ""] {
            assert!(!game(same).disputed_by(Side::A), "{same}");
        }
        for other in ["B+3.5", "W+2.5", "0", "Draw"] {
            assert!(game(other).disputed_by(Side::A), "{other}");
        }
        let resigned = GameRecord { result: "B+R".into(), ..game("W+3.5") };
        assert!(!resigned.disputed_by(Side::A) && !resigned.disputed_by(Side::B));
    }

    #[test]
    fn records_have_clocks_and_evaluations() {
        let conditions =
            Conditions { time: Some(parse("byoyomi 60 10 3").unwrap()), ..conditions(&[9], Source::None) };
        let mut game = Game::new(conditions.boards[0].size, conditions.rules, 7.5);
        let played = record(1);
        for text in &played.moves {
            let vertex = text.parse::<kosumi_gtp::Vertex>().unwrap();
            let mv = crate::commands::vertex_move(game.size(), vertex).unwrap_or(Move::Pass);
            game.play(game.to_move(), mv).unwrap();
        }
        let evaluation = MoveEvaluation {
            winrate: 0.625,
            score: Some(1.5),
            visits: Some(99),
            variation: vec!["C4".into(), "pass".into()],
        };
        let notes = [
            MoveNote { seconds: 1.5, left: Some((58.5, None)), evaluation: Some(evaluation) },
            MoveNote { seconds: 70.0, left: Some((10.0, Some(3))), evaluation: None },
            // This note belongs to a resignation.
            MoveNote { seconds: 1.0, left: Some((9.0, Some(3))), evaluation: None },
        ];
        let text = played.sgf(&game, &notes, ["Kosumi 1", "other]"], &conditions);
        for part in [
            "PB[Kosumi 1]",
            "PW[other\\]]",
            "RE[B+2.5]",
            "DT[2026-11-21]",
            "KM[7.5]",
            "RU[cgos]",
            "ON[none]",
            "RO[1]",
            "TM[60]",
            "OT[3x10 byo-yomi]",
            "C[Game 1: score",
            "C[1.500 s; 62.5 %, +1.5 points, 99 visits\nC4 pass]",
            "WL[58.5]",
            "BL[10]",
            "OB[3]",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(Record::parse(text.as_bytes()).unwrap().move_count(), 3);
    }
}
