//! Answers about positions, field by field as KataGo has them.

use super::query::{Include, Query, move_text};
use super::settings::Perspective;
use kosumi_engine::{Analysis, Expectation, MoveAnalysis};
use kosumi_eval::DetailedPrediction;
use kosumi_go::board::{BoardSize, Color, Key, Move};
use kosumi_net::Prediction;
use kosumi_net::input::index;
use serde_json::{Map, Value, json};

/// The answer about one position, during a search or at its end.
pub(super) fn result(query: &Query, turn: usize, analysis: &Analysis, is_during_search: bool) -> Value {
    let teller = Teller::new(query, analysis);
    let mut answer = Map::new();
    answer.insert("id".into(), query.id.as_str().into());
    answer.insert("turnNumber".into(), turn.into());
    answer.insert("isDuringSearch".into(), is_during_search.into());
    let moves = analysis.moves.iter().enumerate().map(|(order, entry)| teller.entry(order, entry));
    answer.insert("moveInfos".into(), moves.collect());
    answer.insert("rootInfo".into(), teller.root());
    let Include { policy, ownership, ownership_stdev, .. } = query.include;
    if policy {
        let priors = analysis.policy.iter().copied();
        answer.insert("policy".into(), policy_rows(analysis.size, priors));
        if let Some(people) = &analysis.people {
            // The same moves are legal.
            let legal = |(mv, _): &(Move, f32)| analysis.policy.iter().any(|(known, _)| known == mv);
            let priors = people.priors(analysis.size).filter(legal);
            answer.insert("humanPolicy".into(), policy_rows(analysis.size, priors));
        }
    }
    if ownership {
        answer.insert("ownership".into(), teller.owners(&analysis.root.owners));
    }
    if ownership_stdev {
        answer.insert("ownershipStdev".into(), rows(analysis.size, &analysis.root.owners_stdev, 1.0));
    }
    Value::Object(answer)
}

/// The final answer about a position of which nothing is known because its search never began.
pub(super) fn no_results(id: &str, turn: usize) -> Value {
    json!({ "id": id, "turnNumber": turn, "isDuringSearch": false, "noResults": true })
}

/// Nine significant digits, and a fraction even where there is none.
fn number(value: f32) -> Value {
    rounded(f64::from(value))
}

fn rounded(value: f64) -> Value {
    // The number that these digits stand for; JSON has no infinities.
    let digits = format!("{value:.8e}").parse::<f64>().unwrap_or(value);
    serde_json::Number::from_f64(digits + 0.0).map_or(Value::Null, Value::Number)
}

/// Six places behind the point.
fn owner(value: f32) -> Value {
    let value = (f64::from(value) * 1e6).round() / 1e6;
    serde_json::Number::from_f64(value + 0.0).map_or(Value::Null, Value::Number)
}

/// Numbers of points as KataGo has boards: row by row from the top.
fn rows(size: BoardSize, points: &[f32], sign: f32) -> Value {
    let place = |row: usize, column: usize| row * size.columns() + column;
    let cells =
        (0..size.rows()).rev().flat_map(|row| (0..size.columns()).map(move |column| place(row, column)));
    cells.map(|place| owner(sign * points.get(place).copied().unwrap_or(0.0))).collect()
}

/// Probabilities row by row from the top, and of a pass; −1 where a move is illegal.
fn policy_rows(size: BoardSize, priors: impl Iterator<Item = (Move, f32)>) -> Value {
    let mut values = vec![-1.0f32; size.area() + 1];
    for (mv, prior) in priors {
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

/// What perspective and wishes make of an analysis.
struct Teller<'a> {
    analysis: &'a Analysis,
    include: Include,
    /// Most moves of a variation.
    longest: usize,
    /// 1 if numbers are told from Black's side, −1 from White's.
    sign: f32,
    /// The same for the player to move, from whose side bounds are pessimistic.
    mover: f32,
}

impl<'a> Teller<'a> {
    fn new(query: &Query, analysis: &'a Analysis) -> Teller<'a> {
        let perspective: Perspective = query.settings.perspective;
        Teller {
            analysis,
            include: query.include,
            longest: query.variation + 1,
            sign: perspective.player(analysis.to_move).sign() as f32,
            mover: analysis.to_move.sign() as f32,
        }
    }

    fn signed(&self, value: f32) -> Value {
        number(self.sign * value)
    }

    /// Black's result in [−1, 1] as a probability of winning.
    fn win_rate(&self, result: f32) -> Value {
        number((1.0 + self.sign * result) / 2.0)
    }

    fn owners(&self, owners: &[f32]) -> Value {
        rows(self.analysis.size, owners, self.sign)
    }

    fn expectation(&self, expected: &Expectation, fields: &mut Map<String, Value>) {
        fields.insert("winrate".into(), self.win_rate(expected.result));
        fields.insert("scoreLead".into(), self.signed(expected.lead));
        fields.insert("scoreSelfplay".into(), self.signed(expected.score_mean));
        fields.insert("scoreStdev".into(), number(expected.score_stdev));
        fields.insert("utility".into(), self.signed(expected.utility));
    }

    fn root(&self) -> Value {
        let Analysis { root, raw, to_move, visits, weight, hashes, people, .. } = self.analysis;
        let mut fields = Map::new();
        self.expectation(root, &mut fields);
        let player = if *to_move == Color::Black { "B" } else { "W" };
        fields.insert("currentPlayer".into(), player.into());
        fields.insert("visits".into(), (*visits).into());
        fields.insert("weight".into(), number(*weight));
        fields.insert("thisHash".into(), hash(hashes[0]));
        fields.insert("symHash".into(), hash(hashes[1]));
        self.raw(raw, &mut fields);
        if let Some(people) = people {
            self.people(&people.prediction, &mut fields);
        }
        Value::Object(fields)
    }

    fn raw(&self, raw: &DetailedPrediction, fields: &mut Map<String, Value>) {
        fields.insert("rawWinrate".into(), self.win_rate(raw.result));
        fields.insert("rawLead".into(), self.signed(raw.lead));
        fields.insert("rawScoreSelfplay".into(), self.signed(raw.score_mean));
        let deviation = (raw.score_mean_square - raw.score_mean * raw.score_mean).max(0.0).sqrt();
        fields.insert("rawScoreSelfplayStdev".into(), number(deviation));
        fields.insert("rawNoResultProb".into(), number(raw.no_result));
        // −1 is what KataGo says of networks that do not know, and half of it for the win rate.
        let unsure = raw.uncertainty;
        let or_none = |value: Option<f32>| value.unwrap_or(-1.0);
        fields.insert("rawStWrError".into(), number(0.5 * or_none(unsure.map(|it| it.result_error))));
        fields.insert("rawStScoreError".into(), number(or_none(unsure.map(|it| it.score_error))));
        fields.insert("rawVarTimeLeft".into(), number(or_none(unsure.map(|it| it.variance_time))));
    }

    fn people(&self, prediction: &Prediction, fields: &mut Map<String, Value>) {
        let or_none = |value: Option<f32>| value.unwrap_or(-1.0);
        fields.insert("humanWinrate".into(), self.win_rate(prediction.value()));
        fields.insert("humanScoreMean".into(), self.signed(prediction.score_mean));
        fields.insert("humanScoreStdev".into(), number(prediction.score_stdev()));
        fields.insert("humanStWrError".into(), number(0.5 * or_none(prediction.shortterm_value_error)));
        fields.insert("humanStScoreError".into(), number(or_none(prediction.shortterm_score_error)));
    }

    fn entry(&self, order: usize, entry: &MoveAnalysis) -> Value {
        let MoveAnalysis { report, expectation, utility_radius: radius, .. } = entry;
        let mut fields = Map::new();
        self.expectation(expectation, &mut fields);
        fields.insert("move".into(), move_text(report.mv).into());
        fields.insert("order".into(), order.into());
        fields.insert("visits".into(), report.node_visits.into());
        fields.insert("edgeVisits".into(), report.visits.into());
        fields.insert("weight".into(), number(entry.weights[0]));
        fields.insert("edgeWeight".into(), number(entry.weights[1]));
        fields.insert("prior".into(), number(entry.prior));
        if let Some(prior) = entry.human_prior {
            fields.insert("humanPrior".into(), number(prior));
        }
        fields.insert("scoreMean".into(), self.signed(expectation.lead));
        // Below for the player to move, on whichever side it is told.
        fields.insert("utilityLcb".into(), self.signed(expectation.utility - self.mover * radius));
        let of_result = radius / self.analysis.utility_most;
        fields.insert("lcb".into(), self.win_rate(expectation.result - self.mover * of_result));
        if self.include.no_result {
            fields.insert("noResultValue".into(), number(expectation.no_result));
        }
        fields.insert("playSelectionValue".into(), rounded(self.selection_value(order, entry)));
        if let Some(original) = entry.symmetry_of {
            fields.insert("isSymmetryOf".into(), move_text(original).into());
        }
        let moves = report.variation.len().min(self.longest);
        fields.insert("pv".into(), report.variation[..moves].iter().map(|&mv| move_text(mv)).collect());
        if self.include.variation_visits {
            let cut = |visits: &[u32]| -> Value { visits.iter().take(moves).copied().collect() };
            fields.insert("pvVisits".into(), cut(&report.variation_node_visits));
            fields.insert("pvEdgeVisits".into(), cut(&report.variation_visits));
        }
        if self.include.moves_ownership {
            fields.insert("ownership".into(), self.owners(&expectation.owners));
        }
        if self.include.moves_ownership_stdev {
            let deviations = rows(self.analysis.size, &expectation.owners_stdev, 1.0);
            fields.insert("ownershipStdev".into(), deviations);
        }
        Value::Object(fields)
    }

    /// The merit in visits, but for the best move, which has the largest number even where another one has more.
    fn selection_value(&self, order: usize, entry: &MoveAnalysis) -> f64 {
        let visits = |entry: &MoveAnalysis| f64::from(entry.report.merit);
        let is_best =
            order == 0 || entry.symmetry_of.is_some_and(|it| it == self.analysis.moves[0].report.mv);
        if is_best { self.analysis.moves.iter().map(visits).fold(0.0, f64::max) } else { visits(entry) }
    }
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
    fn boards_are_told_from_the_top() {
        let size = BoardSize::new(3, 2).unwrap();
        let points: Vec<f32> = (0..6).map(|number| number as f32).collect();
        assert_eq!(rows(size, &points, -1.0), json!([-3.0, -4.0, -5.0, 0.0, -1.0, -2.0]));
        let point = size.point(1, 1).unwrap();
        let priors = [(Move::Play(point), 0.25), (Move::Pass, 0.75)];
        let wanted = json!([-1.0, 0.25, -1.0, -1.0, -1.0, -1.0, 0.75]);
        assert_eq!(policy_rows(size, priors.into_iter()), wanted);
    }
}
