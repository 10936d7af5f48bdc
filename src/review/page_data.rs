//! What the scripts of the page draw: the numbers as JSON, packed. Shares are in thousandths, points of the board two
//! letters as in SGF, owners one letter each. The scripts know no rules of Go: what a move lifts from the board comes
//! with it.

use super::annotate::without_ours;
use super::estimate::Estimate;
use super::json::from_the_top;
use super::judge::{Class, Judgement};
use super::main_line::Change;
use super::reviewed::Reviewed;
use crate::board::{BoardSize, Color, Move, Point};
use crate::game::Game;
use crate::handicap::star_points;
use crate::words::color_letter;
use serde::Serialize;

/// Moves of a variation that are shown.
const VARIATION_MOVES: usize = 12;

/// Everything that the scripts draw.
#[derive(Serialize)]
pub(super) struct Data {
    columns: usize,
    rows: usize,
    /// Two letters each.
    stars: String,
    /// Least losses of an inaccuracy, a mistake, a blunder, in thousandths.
    thresholds: [i32; 3],
    /// Step and accuracy in thousandths, for Black and White.
    accuracy: [Vec<(usize, i32)>; 2],
    steps: Vec<StepData>,
}

#[derive(Serialize)]
struct StepData {
    /// Moves so far.
    n: usize,
    /// Whose turn it is: `B` or `W`.
    t: char,
    /// The move that led here: colour and point.
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<String>,
    /// Points that it lifted.
    #[serde(skip_serializing_if = "String::is_empty")]
    x: String,
    /// Set-up instead of a move: points that are Black's, White's, empty now.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<[String; 3]>,
    /// The record's comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<String>,
    /// Black's win rate and its error in thousandths, lead and its error in tenths, visits.
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<[i32; 5]>,
    /// Owners from the top left, `A` (White's) to `y` (Black's).
    #[serde(skip_serializing_if = "String::is_empty")]
    o: String,
    /// Candidates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    k: Vec<LineData>,
    /// The judgement of the move that led here.
    #[serde(skip_serializing_if = "Option::is_none")]
    j: Option<JudgementData>,
}

/// A move and what follows.
#[derive(Serialize)]
struct LineData {
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

#[derive(Serialize)]
struct JudgementData {
    /// Class: 0 good, 1 inaccuracy, 2 mistake, 3 blunder.
    c: usize,
    /// The first choice (1), better than that (2), unclear (3).
    #[serde(skip_serializing_if = "is_zero")]
    f: u8,
    /// Loss of win rate and its error in thousandths, of points and its error in tenths.
    l: [i32; 4],
    /// The first choice's line, unless it was played.
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<LineData>,
}

fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// The data of a review.
pub(super) fn data(reviewed: &Reviewed) -> Data {
    let (main_line, review) = (&reviewed.line, &reviewed.review);
    let size = main_line.size();
    let line = reviewed.tree.main_line();
    let comment = |node: usize| {
        let text = reviewed.tree.node(*line.get(node)?).text("C")?;
        Some(without_ours(&text)).filter(|text| !text.is_empty())
    };
    let mut steps: Vec<StepData> = Vec::new();
    let last_of_node = |index: usize| {
        main_line.steps().get(index + 1).is_none_or(|next| next.node > main_line.steps()[index].node)
    };
    for (index, step) in main_line.steps().iter().enumerate() {
        let mut data = StepData {
            n: step.moves,
            t: color_letter(step.to_move),
            m: None,
            x: String::new(),
            s: None,
            c: comment(step.node).filter(|_| last_of_node(index)),
            a: None,
            o: String::new(),
            k: Vec::new(),
            j: None,
        };
        match &step.change {
            Change::Move { color, mv, lifted } => {
                data.m = Some(format!("{}{}", color_letter(*color), place(size, *mv)));
                data.x = lifted.iter().map(|&point| place(size, Move::Play(point))).collect();
            }
            Change::SetUp(points) => {
                let of = |stone: Option<Color>| {
                    let own = points.iter().filter(|point| point.1 == stone);
                    own.map(|&(point, _)| place(size, Move::Play(point))).collect::<String>()
                };
                data.s = Some([of(Some(Color::Black)), of(Some(Color::White)), of(None)]);
            }
        }
        if let Some(analysis) = &review.analyses[index] {
            let (win_rate, score) = (analysis.win_rate, analysis.score);
            let visits = i32::try_from(analysis.visits).unwrap_or(i32::MAX);
            data.a = Some([
                thousandths(win_rate.mean),
                thousandths(win_rate.error),
                tenths(score.mean),
                tenths(score.error),
                visits,
            ]);
            data.o = from_the_top(size, &analysis.ownership).map(owner).collect();
        }
        steps.push(data);
    }
    // Lines need the game at their position, for what their moves lift.
    main_line.backwards(|index, game| {
        let color = main_line.steps()[index].to_move;
        if let Some(analysis) = &review.analyses[index] {
            let lines = analysis.candidates.iter().map(|candidate| {
                line_data(
                    game,
                    color,
                    &candidate.variation,
                    candidate.visits,
                    candidate.win_rate,
                    candidate.score,
                )
            });
            steps[index].k = lines.collect();
        }
        if let Some(judgement) = review.judgements.get(index + 1).and_then(Option::as_ref) {
            steps[index + 1].j = Some(judgement_data(game, color, judgement));
        }
    });
    let thresholds = reviewed.facts.thresholds;
    let named = [Class::Inaccuracy, Class::Mistake, Class::Blunder];
    Data {
        columns: size.columns(),
        rows: size.rows(),
        stars: star_points(size).into_iter().map(|point| place(size, Move::Play(point))).collect(),
        thresholds: named.map(|class| thousandths(thresholds.least(class))),
        accuracy: Color::BOTH.map(|color| {
            review.players[color]
                .curve
                .iter()
                .map(|&(index, accuracy)| (index, thousandths(accuracy)))
                .collect()
        }),
        steps,
    }
}

fn judgement_data(game: &Game, color: Color, judgement: &Judgement) -> JudgementData {
    let best = &judgement.best;
    let line = || line_data(game, color, &best.variation, best.visits, best.win_rate, best.score);
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
        b: (!judgement.is_first_choice).then(line),
    }
}

fn line_data(
    game: &Game,
    color: Color,
    moves: &[Move],
    visits: u32,
    win_rate: Estimate,
    score: Estimate,
) -> LineData {
    let size = game.size();
    let mut played = game.clone();
    let mut data = LineData {
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
fn place(size: BoardSize, mv: Move) -> String {
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

fn thousandths(share: f32) -> i32 {
    (share * 1000.0).round() as i32
}

fn tenths(points: f32) -> i32 {
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
