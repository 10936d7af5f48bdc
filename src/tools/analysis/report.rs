//! Responses with the analysis of a position, in KataGo's format.

use super::query::{Include, Query};
use kosumi_go::board::{BoardSize, Color, Key, Move};
use kosumi_net::input::index;
use kosumi_search::{Analysis, Expectation, MoveAnalysis, RawView};
use serde_json::{Map, Value, json};

type Fields = Map<String, Value>;

/// Returns the response about one position, during a search or at its end, from the perspective that the query
/// requests.
pub(super) fn result(query: &Query, turn: usize, analysis: Analysis, is_during_search: bool) -> Value {
    let player = query.settings.perspective.player(analysis.to_move);
    let analysis = analysis.seen_by(player);
    let size = analysis.size;
    let mut answer = Fields::new();
    answer.insert("id".into(), query.id.as_str().into());
    answer.insert("turnNumber".into(), turn.into());
    answer.insert("isDuringSearch".into(), is_during_search.into());
    // A move whose first evaluation is still in progress has visits but no statistics.
    let known = analysis.moves.iter().filter(|entry| entry.is_searched() && entry.weight > 0.0);
    let moves = known.enumerate().map(|(order, entry)| move_info(query, size, order, entry));
    answer.insert("moveInfos".into(), moves.collect());
    answer.insert("rootInfo".into(), root_info(&analysis));
    let Include { policy, ownership, ownership_stdev, .. } = query.include;
    if policy {
        answer.insert("policy".into(), policy_rows(size, &analysis.policy));
        if let Some(human) = &analysis.human {
            answer.insert("humanPolicy".into(), policy_rows(size, &human.policy));
        }
    }
    insert_owners(&mut answer, size, &analysis.root, [ownership, ownership_stdev]);
    Value::Object(answer)
}

/// Returns the final response about a position whose search never began.
pub(super) fn no_results(id: &str, turn: usize) -> Value {
    json!({ "id": id, "turnNumber": turn, "isDuringSearch": false, "noResults": true })
}

/// Returns the final response about a position whose analysis has failed.
pub(super) fn failed(id: &str, turn: usize, error: &str) -> Value {
    json!({ "id": id, "turnNumber": turn, "isDuringSearch": false, "error": error })
}

/// Rounds to nine significant digits. Whole numbers are written with a fraction. Infinities become null, because JSON
/// has none.
fn number(value: f32) -> Value {
    let digits = format!("{value:.8e}").parse::<f64>().unwrap_or(f64::from(value));
    serde_json::Number::from_f64(digits + 0.0).map_or(Value::Null, Value::Number)
}

/// Rounds to six decimal places.
fn owner(value: f32) -> Value {
    let value = (f64::from(value) * 1e6).round() / 1e6;
    serde_json::Number::from_f64(value + 0.0).map_or(Value::Null, Value::Number)
}

/// Converts numbers for the points of a board to KataGo's order: row by row from the top. `points` are in the order of
/// [`BoardSize::points`].
fn rows(size: BoardSize, points: &[f32]) -> Value {
    points.chunks(size.columns()).rev().flatten().map(|&value| owner(value)).collect()
}

/// Returns the probabilities row by row from the top, then that of a pass. Illegal moves have −1.
fn policy_rows(size: BoardSize, priors: &[(Move, f32)]) -> Value {
    let mut values = vec![-1.0f32; size.area() + 1];
    for &(mv, prior) in priors {
        let place = match mv {
            Move::Play(point) => index(size, point),
            Move::Pass => size.area(),
        };
        values[place] = prior;
    }
    values.into_iter().map(number).collect()
}

fn hash(key: Key) -> Value {
    format!("{:032X}", key.0).into()
}

fn moves_text(moves: &[Move]) -> Value {
    moves.iter().map(Move::to_string).collect()
}

/// Adds the fields that positions and moves share.
fn insert_expectation(fields: &mut Fields, expected: &Expectation) {
    fields.insert("winrate".into(), number(expected.win_rate));
    fields.insert("scoreLead".into(), number(expected.lead));
    fields.insert("scoreSelfplay".into(), number(expected.score_mean));
    fields.insert("scoreStdev".into(), number(expected.score_stdev));
    fields.insert("utility".into(), number(expected.utility));
}

/// Adds the mean owners, their standard deviations, or both.
fn insert_owners(fields: &mut Fields, size: BoardSize, expected: &Expectation, [mean, stdev]: [bool; 2]) {
    let Some(owners) = &expected.owners else { return };
    if mean {
        fields.insert("ownership".into(), rows(size, &owners.mean));
    }
    if stdev {
        fields.insert("ownershipStdev".into(), rows(size, &owners.stdev));
    }
}

fn root_info(analysis: &Analysis) -> Value {
    let mut fields = Fields::new();
    insert_expectation(&mut fields, &analysis.root);
    let player = if analysis.to_move == Color::Black { "B" } else { "W" };
    fields.insert("currentPlayer".into(), player.into());
    fields.insert("visits".into(), analysis.visits.into());
    fields.insert("weight".into(), number(analysis.weight));
    fields.insert("thisHash".into(), hash(analysis.hash));
    fields.insert("symHash".into(), hash(analysis.symmetric_hash));
    if let Some(raw) = &analysis.raw {
        fields.insert("rawWinrate".into(), number(raw.win_rate));
        fields.insert("rawLead".into(), number(raw.lead));
        fields.insert("rawScoreSelfplay".into(), number(raw.score_mean));
        fields.insert("rawScoreSelfplayStdev".into(), number(raw.score_stdev));
        fields.insert("rawNoResultProb".into(), number(raw.no_result));
        let [win_rate, score] = errors(raw);
        fields.insert("rawStWrError".into(), win_rate);
        fields.insert("rawStScoreError".into(), score);
        fields.insert("rawVarTimeLeft".into(), number(raw.variance_time.unwrap_or(-1.0)));
    }
    if let Some(human) = &analysis.human {
        fields.insert("humanWinrate".into(), number(human.values.win_rate));
        fields.insert("humanScoreMean".into(), number(human.values.score_mean));
        fields.insert("humanScoreStdev".into(), number(human.values.score_stdev));
        let [win_rate, score] = errors(&human.values);
        fields.insert("humanStWrError".into(), win_rate);
        fields.insert("humanStScoreError".into(), score);
    }
    Value::Object(fields)
}

/// Returns the short-term errors of win rate and score. For networks that do not predict them, KataGo prints −1 for the
/// score and, because it halves the error of the result, −0.5 for the win rate.
fn errors(raw: &RawView) -> [Value; 2] {
    [number(raw.win_rate_error.unwrap_or(-0.5)), number(raw.score_error.unwrap_or(-1.0))]
}

fn move_info(query: &Query, size: BoardSize, order: usize, entry: &MoveAnalysis) -> Value {
    let Include { no_result, variation_visits, moves_ownership, moves_ownership_stdev, .. } = query.include;
    let mut fields = Fields::new();
    insert_expectation(&mut fields, &entry.expectation);
    fields.insert("move".into(), entry.mv.to_string().into());
    fields.insert("order".into(), order.into());
    fields.insert("visits".into(), entry.visits.into());
    fields.insert("edgeVisits".into(), entry.edge_visits.into());
    fields.insert("weight".into(), number(entry.weight));
    fields.insert("edgeWeight".into(), number(entry.edge_weight));
    fields.insert("prior".into(), number(entry.prior));
    if let Some(prior) = entry.human_prior {
        fields.insert("humanPrior".into(), number(prior));
    }
    // KataGo gives this field the lead, because the name is older than the distinction between lead and score.
    fields.insert("scoreMean".into(), number(entry.expectation.lead));
    fields.insert("lcb".into(), number(entry.win_rate_bound));
    fields.insert("utilityLcb".into(), number(entry.utility_bound));
    if no_result {
        fields.insert("noResultValue".into(), number(entry.expectation.no_result));
    }
    fields.insert("playSelectionValue".into(), number(entry.selection_value));
    if let Some(original) = entry.symmetry_of {
        fields.insert("isSymmetryOf".into(), original.to_string().into());
    }
    let moves = entry.variation.len().min(query.variation + 1);
    fields.insert("pv".into(), moves_text(&entry.variation[..moves]));
    if variation_visits {
        let cut = |visits: &[u32]| -> Value { visits.iter().take(moves).copied().collect() };
        fields.insert("pvVisits".into(), cut(&entry.variation_visits));
        fields.insert("pvEdgeVisits".into(), cut(&entry.variation_edge_visits));
    }
    insert_owners(&mut fields, size, &entry.expectation, [moves_ownership, moves_ownership_stdev]);
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_nine_digits_and_a_fraction() {
        assert_eq!(number(0.1).to_string(), "0.100000001");
        assert_eq!(number(25.0).to_string(), "25.0");
        assert_eq!(number(-0.0).to_string(), "0.0");
        assert_eq!(number(f32::NAN), Value::Null);
        assert_eq!(owner(-0.123_456_78).to_string(), "-0.123457");
    }

    #[test]
    fn boards_begin_at_the_top_left() {
        let size = BoardSize::new(3, 2).unwrap();
        let points: Vec<f32> = (0..6).map(|number| number as f32).collect();
        assert_eq!(rows(size, &points), json!([3.0, 4.0, 5.0, 0.0, 1.0, 2.0]));
        let point = size.point(1, 1).unwrap();
        let priors = [(Move::Play(point), 0.25), (Move::Pass, 0.75)];
        let wanted = json!([-1.0, 0.25, -1.0, -1.0, -1.0, -1.0, 0.75]);
        assert_eq!(policy_rows(size, &priors), wanted);
    }
}
