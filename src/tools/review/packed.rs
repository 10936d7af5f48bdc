//! What is known of a position, packed as JSON for pages. Shares are in thousandths, points of the board two letters as
//! in SGF, owners one letter each. Scripts know no rules of Go: what a move lifts from the board comes with it.

use super::analysis::Analysis;
use super::estimate::Estimate;
use super::json::from_the_top;
use kosumi_go::board::{BoardSize, Color, Move, Point};
use kosumi_go::game::Game;
use serde::Serialize;

/// Moves of a variation that are shown.
const VARIATION_MOVES: usize = 12;

/// What is known of a position.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Numbers {
    /// Black's win rate and its error in thousandths, lead and its error in tenths, visits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<[i32; 5]>,
    /// Owners from the top left, `A` (White's) to `y` (Black's).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub o: String,
    /// Candidates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub k: Vec<Line>,
}

/// A move and what follows.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Line {
    /// Simulations.
    v: i32,
    /// Black's win rate in thousandths.
    w: i32,
    /// Black's lead in tenths.
    s: i32,
    /// The moves.
    l: String,
    /// Which of them, counted from 0, lift which points.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    x: Vec<(usize, String)>,
}

impl Numbers {
    /// What an analysis says. The lines of `game`, at the position, begin with `color`'s moves.
    pub fn new(game: &Game, color: Color, analysis: &Analysis) -> Numbers {
        let (win_rate, score) = (analysis.win_rate, analysis.score);
        let lines = analysis.candidates.iter();
        Numbers {
            a: Some([
                thousandths(win_rate.mean),
                thousandths(win_rate.error),
                tenths(score.mean),
                tenths(score.error),
                i32::try_from(analysis.visits).unwrap_or(i32::MAX),
            ]),
            o: owners(game.size(), &analysis.ownership),
            k: lines
                .map(|it| line_data(game, color, &it.variation, it.visits, it.win_rate, it.score))
                .collect(),
        }
    }
}

/// Mean owners, row by row from the lower left as an [`Analysis`] has them, as letters from the top left.
pub fn owners(size: BoardSize, means: &[f32]) -> String {
    from_the_top(size, means).map(owner).collect()
}

/// A line of moves from a position, the first by `color`.
pub(super) fn line_data(
    game: &Game,
    color: Color,
    moves: &[Move],
    visits: u32,
    win_rate: Estimate,
    score: Estimate,
) -> Line {
    let size = game.size();
    let mut played = game.clone();
    let mut data = Line {
        v: i32::try_from(visits).unwrap_or(i32::MAX),
        w: thousandths(win_rate.mean),
        s: tenths(score.mean),
        l: String::new(),
        x: Vec::new(),
    };
    let mut mover = color;
    for (number, &mv) in moves.iter().take(VARIATION_MOVES).enumerate() {
        if played.play_tolerant(mover, mv).is_err() {
            break;
        }
        data.l.push_str(&place(size, mv));
        let lifted = played.records().last().map(|record| &record.lifted[..]).unwrap_or_default();
        if !lifted.is_empty() {
            data.x.push((number, lifted.iter().map(|&point| place(size, Move::Play(point))).collect()));
        }
        mover = mover.opponent();
    }
    data
}

/// Two letters, from the top left; `--` for a pass.
pub fn place(size: BoardSize, mv: Move) -> String {
    let of = |point: Point| {
        let letter = |number: usize| char::from(b'a' + number as u8);
        [letter(point.column()), letter(size.rows() - 1 - point.row())].iter().collect()
    };
    mv.point().map_or("--".to_owned(), of)
}

/// A mean owner as one of 51 letters.
fn owner(mean: f32) -> char {
    let level = ((mean.clamp(-1.0, 1.0) + 1.0) * 25.0).round() as u8;
    char::from(if level < 26 { b'A' + level } else { b'a' + level - 26 })
}

pub(super) fn thousandths(share: f32) -> i32 {
    (share * 1000.0).round() as i32
}

pub(super) fn tenths(points: f32) -> i32 {
    (points * 10.0).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_letters() {
        assert_eq!([-1.0, -0.04, 0.0, 0.04, 1.0, 7.0].map(owner), ['A', 'Y', 'Z', 'a', 'y', 'y']);
    }
}
