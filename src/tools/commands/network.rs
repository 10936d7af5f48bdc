//! Raw network output in KataGo's format: from White's perspective, rows from the top.

use super::text::{own_color, rows_text};
use super::{CommandResult, Commands};
use crate::words::unsigned_zero;
use kosumi_go::board::{Color, Move, Symmetry};
use kosumi_gtp::{Arguments, Failure, Session};
use kosumi_net::input::index;
use kosumi_net::{Network, Prediction, symmetry};
use serde_json::json;
use std::fmt::Write;

/// Handles `kata-raw-nn [colour] symmetry|all [optimism]`: responds with the network's evaluation of the position with
/// this side to move. `optimism` is the share of the optimistic policy; its default is the share at the root of a
/// search.
pub(super) fn raw(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let color = arguments.try_color().map_or(commands.engine.game().to_move(), own_color);
    let views = views(arguments)?;
    let usual = commands.engine.settings().network.root_policy_optimism;
    let optimism = match arguments.optional_word() {
        None => usual,
        Some(word) => {
            let wanted = word.parse().ok().filter(|optimism| (0.0..=1.0).contains(optimism));
            wanted.ok_or_else(|| Failure::new(format!("optimism is a number from 0 to 1, not {word}")))?
        }
    };
    let mut text = String::new();
    for (number, view) in views {
        let prediction =
            commands.engine.predict(color, view, optimism).ok_or_else(|| Failure::new("no network"))?;
        let prediction = prediction.map_err(|error| Failure::new(error.to_string()))?;
        write_raw(commands, color, number, &prediction, &mut text);
    }
    Ok(text.into())
}

/// Handles `kata-get-models`: responds with the loaded networks as a JSON array. Programs use it to find a network of
/// human play.
pub(super) fn models(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    let threads = commands.engine.settings().threads;
    let own = commands.engine.search().evaluator().network();
    // If the main network predicts human play, it must not be listed twice.
    let human = commands
        .engine
        .human_network()
        .filter(|human| own.is_none_or(|own| !std::ptr::eq(own.network(), human.network())));
    let describe = |network: &Network| {
        json!({
            "name": network.name(),
            "internalName": network.name(),
            "maxBatchSize": threads,
            "usesHumanSLProfile": network.takes_metadata(),
            "version": network.version(),
            "usingFP16": "auto",
        })
    };
    let networks = own.into_iter().chain(human).map(|evaluator| describe(evaluator.network()));
    Ok(networks.collect::<serde_json::Value>().to_string().into())
}

/// Handles `kata-raw-human-nn [colour] symmetry|all`: responds with the evaluation by the network of human play.
pub(super) fn raw_human(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let color = arguments.try_color().map_or(commands.engine.game().to_move(), own_color);
    let mut text = String::new();
    for (number, view) in views(arguments)? {
        let prediction = commands.engine.predict_human(color, view);
        let prediction = prediction
            .ok_or_else(|| Failure::new("no network of human play; load one with --human-model"))?;
        let prediction = prediction.map_err(|error| Failure::new(error.to_string()))?;
        write_raw(commands, color, number, &prediction, &mut text);
    }
    Ok(text.into())
}

/// Returns the symmetries for a number or `all`, in KataGo's numbering.
fn views(arguments: &mut Arguments<'_>) -> Result<Vec<(u8, Symmetry)>, Failure> {
    let word = arguments.word()?;
    let last = Symmetry::ALL.len() - 1;
    let known = |number: u8| Some((number, symmetry::by_katago_number(number)?));
    if word == "all" {
        return Ok((0..=u8::MAX).map_while(known).collect());
    }
    let view = word.parse().ok().and_then(known);
    view.map(|view| vec![view])
        .ok_or_else(|| Failure::new(format!("a symmetry is all or 0 to {last}, not {word}")))
}

/// Writes the prediction for one symmetry. `prediction` is from Black's perspective.
fn write_raw(commands: &Commands, to_move: Color, symmetry: u8, prediction: &Prediction, text: &mut String) {
    let game = commands.engine.game();
    let size = game.size();
    // −1 marks outputs that networks of this version do not have.
    let or_none = |number: Option<f32>| number.unwrap_or(-1.0);
    let for_white = |number: f32, decimals: i32| unsigned_zero(-number, decimals);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "symmetry {symmetry}");
    let _ = writeln!(text, "whiteWin {:.6}", prediction.loss);
    let _ = writeln!(text, "whiteLoss {:.6}", prediction.win);
    let _ = writeln!(text, "noResult {:.6}", prediction.no_result);
    let _ = writeln!(text, "whiteLead {:.3}", for_white(prediction.lead, 3));
    let _ = writeln!(text, "whiteScoreSelfplay {:.3}", for_white(prediction.score_mean, 3));
    let _ = writeln!(text, "whiteScoreSelfplaySq {:.3}", prediction.score_mean_square);
    let _ = writeln!(text, "varTimeLeft {:.3}", or_none(prediction.variance_time));
    let _ = writeln!(text, "shorttermWinlossError {:.3}", or_none(prediction.shortterm_value_error));
    let _ = writeln!(text, "shorttermScoreError {:.3}", or_none(prediction.shortterm_score_error));
    let policy = rows_text(size, |point| match game.check(to_move, Move::Play(point)) {
        Ok(()) => format!("{:8.6}", prediction.policy[index(size, point)]),
        Err(_) => "     NAN".to_owned(),
    });
    let _ = writeln!(text, "policy\n{policy}");
    let _ = writeln!(text, "policyPass {:8.6}", prediction.pass);
    let ownership =
        rows_text(size, |point| format!("{:9.7}", for_white(prediction.ownership[index(size, point)], 7)));
    let _ = writeln!(text, "whiteOwnership\n{ownership}");
}
