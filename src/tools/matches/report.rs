//! Results of a match as JSON.

use super::conditions::Conditions;
use super::record::Ending;
use super::side::Side;
use super::summary::{Conduct, Summary, Sums};
use crate::statistics::Interval;
use serde_json::{Value, json};

/// Returns all results as JSON. Scores and Elo differences are A's. An infinite difference is `null`, because JSON has
/// no infinity.
pub fn json(summary: &Summary, conditions: &Conditions) -> String {
    let boards = summary.boards.iter().map(|(size, board)| {
        let mut value = sums(board);
        value["size"] = json!(size);
        value
    });
    let test = summary.test.as_ref().map(|test| {
        let (low, high) = test.sprt.bounds();
        json!({
            "elo0": test.sprt.elo0,
            "elo1": test.sprt.elo1,
            "alpha": test.sprt.alpha,
            "beta": test.sprt.beta,
            "bounds": [low, high],
            "llr": test.llr(),
            "pairs": test.pairs,
            "verdict": test.verdict.map(|(verdict, _)| verdict),
            "verdict-after-pairs": test.verdict.map(|(_, pairs)| pairs),
            "llr-of-all-pairs": test.sprt.llr(&summary.all.pairs.0),
            "llr-of-all-games": test.sprt.llr(&summary.all.all.counts()),
        })
    });
    let value = json!({
        "engines": summary.names,
        "settings": conditions.settings(),
        "all": sums(&summary.all),
        "boards": boards.collect::<Vec<_>>(),
        "sprt": test,
        "conduct": Side::BOTH.map(|side| conduct(&summary.conduct[side as usize])),
        "cut-off": summary.cut_off,
        "disputed": summary.disputed,
        "annulled": summary.annulled,
        "repeats": summary.repeats(),
        "games": summary.games.values().collect::<Vec<_>>(),
    });
    // The moves are omitted for readability. The log and the records contain them.
    let mut value = value;
    if let Some(games) = value["games"].as_array_mut() {
        for game in games.iter_mut().filter_map(Value::as_object_mut) {
            let length = game.remove("moves").and_then(|moves| moves.as_array().map(Vec::len));
            game.insert("length".to_owned(), json!(length));
        }
    }
    format!("{value:#}\n")
}

fn sums(sums: &Sums) -> Value {
    json!({
        "games": sums.all.games(),
        "by-games": intervals(sums.all.rate(), sums.all.superiority()),
        "by-pairs": intervals(sums.pairs.rate(), sums.pairs.superiority()),
        "total": sums.all,
        "as-black": sums.as_black,
        "as-white": sums.as_white,
        "without-forfeits": sums.played_out,
        "pairs": sums.pairs,
        "moves": sums.moves,
    })
}

fn intervals(rate: Option<Interval>, superiority: f64) -> Value {
    // serde_json writes non-finite numbers as null.
    rate.map_or(Value::Null, |rate| json!({"score": rate, "elo": rate.elo(), "superiority": superiority}))
}

fn conduct(conduct: &Conduct) -> Value {
    let forfeits = Ending::FORFEITS.iter().zip(conduct.forfeits);
    let forfeits: serde_json::Map<String, Value> =
        forfeits.map(|(kind, count)| (kind.name().to_owned(), json!(count))).collect();
    json!({
        "forfeits": forfeits,
        "resignations": conduct.resignations,
        "other-scores": conduct.other_scores,
        "stray-lines": conduct.stray_lines,
        "chosen": conduct.chosen,
        "seconds": conduct.seconds,
        "slowest": conduct.slowest,
        "overstep": conduct.overstep,
        "lag": conduct.lag(),
    })
}
