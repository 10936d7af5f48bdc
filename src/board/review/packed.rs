//! Numbers of a position as compact JSON for pages. Shares are in thousandths. A point is two letters as in SGF, an
//! owner one letter. The scripts do not know the rules of Go, so each move comes with the stones that it captures.

use super::analysis::PositionReview;
use super::estimate::Estimate;
use super::json::from_the_top;
use super::judge::Judgement;
use kosumi_go::board::{BoardSize, Color, Move, Point};
use kosumi_go::game::Game;
use serde::{Deserialize, Serialize};

/// Maximum number of moves of a variation that are shown.
const VARIATION_MOVES: usize = 12;

/// Numbers of a position.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Numbers {
    /// Black's win rate and its error in thousandths, Black's lead and its error in tenths of a point, and visits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<[i32; 5]>,
    /// Owners row by row from the top left, one letter each from `A` (White) to `y` (Black).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub o: String,
    /// Candidates, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub k: Vec<Line>,
}

/// A move and the moves that follow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Visits.
    v: i32,
    /// Black's win rate in thousandths.
    w: i32,
    /// Black's lead in tenths of a point.
    s: i32,
    /// The moves, two letters each.
    l: String,
    /// Moves that capture stones: their indices, each with the captured points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    x: Vec<(usize, String)>,
}

impl Numbers {
    /// Packs the review of a position. `game` ends at the position, and `color` plays the first move of every line.
    pub fn new(game: &Game, color: Color, analysis: &PositionReview) -> Numbers {
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

    /// Returns whether these are the numbers of a review, apart from the errors.
    pub fn are_of(&self, analysis: &PositionReview) -> bool {
        self.a.is_some_and(|[rate, _, score, _, visits]| {
            rate == thousandths(analysis.win_rate.mean)
                && score == tenths(analysis.score.mean)
                && u32::try_from(visits) == Ok(analysis.visits)
        })
    }

    /// Returns these numbers with the errors of the same review, now that the scatter is known.
    #[must_use]
    pub fn with_errors(&self, analysis: &PositionReview) -> Numbers {
        let errors = |[rate, _, score, _, visits]: [i32; 5]| {
            [rate, thousandths(analysis.win_rate.error), score, tenths(analysis.score.error), visits]
        };
        Numbers { a: self.a.map(errors), ..self.clone() }
    }
}

/// Judgement of a move.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JudgementData {
    /// Class: 0 good, 1 inaccuracy, 2 mistake, 3 blunder.
    c: usize,
    /// 1 for the first choice, 2 for a better move, 3 for an unclear one, otherwise 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    f: u8,
    /// Loss of win rate and its error in thousandths, loss and its error in tenths of a point.
    l: [i32; 4],
    /// Line of the first choice, unless it was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    b: Option<Line>,
}

fn is_zero(number: &u8) -> bool {
    *number == 0
}

impl JudgementData {
    /// Packs the judgement of `color`'s move. `game` ends at the position before the move.
    pub fn new(game: &Game, color: Color, judgement: &Judgement) -> JudgementData {
        let best = &judgement.best;
        let line = || line_data(game, color, &best.variation, best.visits, best.win_rate, best.score);
        JudgementData { b: (!judgement.is_first_choice).then(line), ..JudgementData::without_line(judgement) }
    }

    /// Returns this judgement with the class and the losses of a newer judgement of the same move. The line stays.
    #[must_use]
    pub fn regraded(&self, judgement: &Judgement) -> JudgementData {
        JudgementData { b: self.b.clone(), ..JudgementData::without_line(judgement) }
    }

    fn without_line(judgement: &Judgement) -> JudgementData {
        JudgementData {
            c: judgement.class as usize,
            f: match judgement {
                Judgement { is_first_choice: true, .. } => 1,
                Judgement { is_better: true, .. } => 2,
                Judgement { is_unclear: true, .. } => 3,
                _ => 0,
            },
            l: [
                thousandths(judgement.loss.mean),
                thousandths(judgement.loss.error),
                tenths(judgement.score_loss.mean),
                tenths(judgement.score_loss.error),
            ],
            b: None,
        }
    }
}

/// Turns mean owners, row by row from the lower left as in a [`PositionReview`], into letters, row by row from the top
/// left.
pub fn owners(size: BoardSize, means: &[f32]) -> String {
    from_the_top(size, means).map(owner).collect()
}

/// Packs a line of moves from a position. `color` plays the first move.
pub(super) fn line_data(
    game: &Game,
    color: Color,
    moves: &[Move],
    visits: u32,
    win_rate: Estimate,
    score: Estimate,
) -> Line {
    packed_line(game, color, &moves[..moves.len().min(VARIATION_MOVES)], visits, win_rate, score)
}

/// Packs the whole line that a fact promises.
pub(super) fn whole_line(game: &Game, color: Color, moves: &[Move]) -> Line {
    packed_line(game, color, moves, 0, Estimate::default(), Estimate::default())
}

fn packed_line(
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
    for (number, &mv) in moves.iter().enumerate() {
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

/// Returns the two letters of a point, counted from the top left; `--` for a pass.
pub fn place(size: BoardSize, mv: Move) -> String {
    let of = |point: Point| {
        let letter = |number: usize| char::from(b'a' + number as u8);
        [letter(point.column()), letter(size.rows() - 1 - point.row())].iter().collect()
    };
    mv.point().map_or("--".to_owned(), of)
}

/// Turns a mean owner in `[-1, 1]` into one of 51 letters.
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
