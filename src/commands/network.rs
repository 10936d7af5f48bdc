//! What the network says, as KataGo writes it: White's view, rows from the top.

use super::text::rows_text;
use super::{Answer, Commands};
use crate::board::{Color, Move, Point, Symmetry};
use crate::net::{Prediction, input, symmetry};
use kosumi_gtp::{Arguments, Failure, Session};
use std::fmt::Write;

/// `kata-raw-nn symmetry|all`.
pub(super) fn raw(commands: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    const COUNT: u8 = Symmetry::ALL.len() as u8;
    let wanted = match arguments.peek() {
        Some("all") => 0..COUNT,
        _ => {
            let number: u8 = arguments.integer()?;
            number..number.saturating_add(1)
        }
    };
    let mut text = String::new();
    for number in wanted {
        let view = symmetry::by_katago_number(number)
            .ok_or_else(|| Failure::new(format!("symmetries are 0 to {}", COUNT - 1)))?;
        let prediction = commands.engine.predict(view).ok_or_else(|| Failure::new("no network"))?;
        let prediction = prediction.map_err(|error| Failure::new(error.to_string()))?;
        write_raw(commands, number, &prediction, &mut text);
    }
    Ok(text.into())
}

/// One view; the prediction is Black's.
fn write_raw(commands: &Commands, symmetry: u8, prediction: &Prediction, text: &mut String) {
    let game = commands.engine.game();
    let size = game.size();
    // −1 stands for what networks of this version do not say.
    let or_none = |number: Option<f32>| number.unwrap_or(-1.0);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "symmetry {symmetry}");
    let _ = writeln!(text, "whiteWin {:.6}", prediction.loss);
    let _ = writeln!(text, "whiteLoss {:.6}", prediction.win);
    let _ = writeln!(text, "noResult {:.6}", prediction.no_result);
    let _ = writeln!(text, "whiteLead {:.3}", -prediction.lead);
    let _ = writeln!(text, "whiteScoreSelfplay {:.3}", -prediction.score_mean);
    let _ = writeln!(text, "whiteScoreSelfplaySq {:.3}", prediction.score_mean_square);
    let _ = writeln!(text, "varTimeLeft {:.3}", or_none(prediction.variance_time));
    let _ = writeln!(text, "shorttermWinlossError {:.3}", or_none(prediction.shortterm_value_error));
    let _ = writeln!(text, "shorttermScoreError {:.3}", or_none(prediction.shortterm_score_error));
    let to_move: Color = game.to_move();
    let index = |point: Point| input::index(size, point);
    let policy = rows_text(size, |point| match game.check(to_move, Move::Play(point)) {
        Ok(()) => format!("{:8.6}", prediction.policy[index(point)]),
        Err(_) => "     NAN".to_owned(),
    });
    let _ = writeln!(text, "policy\n{policy}");
    let _ = writeln!(text, "policyPass {:8.6}", prediction.pass);
    let ownership = rows_text(size, |point| format!("{:9.7}", -prediction.ownership[index(point)]));
    let _ = writeln!(text, "whiteOwnership\n{ownership}");
}
