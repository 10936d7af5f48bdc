//! Data for the scripts of the page: the game and the numbers as JSON, packed as in `packed.rs`.

use super::annotate::{VARIATION as OURS, annotated, without_ours};
use super::facts::searched_loss;
use super::judge::{Class, Thresholds};
use super::main_line::Change;
use super::packed::{JudgementData, Line, Numbers, place, tenths, thousandths, whole_line};
use super::reviewed::Reviewed;
use crate::pages::Text;
use crate::words::color_letter;
use kosumi_go::board::{Color, Move};
use kosumi_go::game::Game;
use kosumi_go::handicap::star_points;
use kosumi_go::sgf::NodeId;
use serde::Serialize;
use std::collections::BTreeMap;

/// All data of a page.
#[derive(Serialize)]
pub(super) struct Data {
    columns: usize,
    rows: usize,
    /// Star points, two letters each.
    stars: String,
    /// Smallest losses of win rate of an inaccuracy, a mistake and a blunder, in thousandths.
    thresholds: [i32; 3],
    /// Smallest losses of points of these classes, in tenths of a point.
    score_thresholds: [i32; 3],
    /// Steps with the accuracy in thousandths, for Black and White.
    accuracy: [Vec<(usize, i32)>; 2],
    /// Number of steps of the main line. The steps after them belong to variations.
    main: usize,
    steps: Vec<StepData>,
    /// Annotated record, and a name for its file.
    sgf: String,
    name: String,
    /// Whether an engine is behind the page.
    live: bool,
    /// Number of the review among those of the process.
    run: u64,
}

#[derive(Serialize)]
struct StepData {
    /// Index of the previous step, for steps of variations. In the main line, it is the one before in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<usize>,
    /// Number of moves up to the step.
    n: usize,
    /// Side to move: `B` or `W`.
    t: char,
    /// Move that led to the step: colour and point, if it was a move.
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<String>,
    /// Points of the stones that the move captured.
    #[serde(skip_serializing_if = "String::is_empty")]
    x: String,
    /// Set-up instead of a move: the points that are now black, white and empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<[String; 3]>,
    /// The record's comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<String>,
    /// Numbers of the position.
    #[serde(flatten)]
    numbers: Numbers,
    /// Judgement of the move that led to the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    j: Option<JudgementData>,
    /// Facts about the move.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    e: Vec<FactData>,
}

/// Fact about a move: the name of its text, the values of the text, and the line that shows the fact, if there is one.
#[derive(Serialize)]
struct FactData {
    t: String,
    v: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    l: Option<Line>,
}

impl FactData {
    fn new(text: &Text, line: Option<Line>) -> FactData {
        FactData { t: text.name().to_owned(), v: text.all_values().clone(), l: line }
    }
}

/// Maximum number of positions of variations that are shown.
const MAX_BRANCHES: usize = 3000;

/// Collects the data of a review. `live` is the number of the review if an engine is behind the page.
pub(super) fn data(reviewed: &Reviewed, live: Option<u64>) -> Data {
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
            p: None,
            n: step.moves,
            t: color_letter(step.to_move),
            m: None,
            x: String::new(),
            s: None,
            c: comment(step.node).filter(|_| last_of_node(index)),
            numbers: Numbers::default(),
            j: None,
            e: Vec::new(),
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
        steps.push(data);
    }
    let explanations = reviewed.explanations();
    // Lines need the game at their position, to find the stones that their moves capture.
    main_line.backwards(|index, game| {
        let color = main_line.steps()[index].to_move;
        if let Some(analysis) = &review.analyses[index] {
            steps[index].numbers = Numbers::new(game, color, analysis);
        }
        if let Some(judgement) = review.judgements.get(index + 1).and_then(Option::as_ref) {
            let next = &mut steps[index + 1];
            next.j = Some(JudgementData::new(game, color, judgement));
            if let Change::Move { mv, .. } = main_line.steps()[index + 1].change {
                next.e.extend(searched_loss(mv, judgement).map(|text| FactData::new(&text, None)));
            }
        }
        for fact in explanations.get(&(index + 1)).into_iter().flatten() {
            let line = whole_line(game, color, &fact.line);
            steps[index + 1].e.push(FactData::new(&fact.text(), Some(line)));
        }
    });
    let main = steps.len();
    add_branches(reviewed, &mut steps);
    let thresholds = reviewed.facts.thresholds;
    let named = [Class::Inaccuracy, Class::Mistake, Class::Blunder];
    Data {
        columns: size.columns(),
        rows: size.rows(),
        stars: star_points(size).into_iter().map(|point| place(size, Move::Play(point))).collect(),
        thresholds: named.map(|class| thousandths(thresholds.least(class))),
        score_thresholds: named.map(|class| tenths(Thresholds::least_points(class))),
        accuracy: Color::BOTH.map(|color| {
            review.players[color]
                .curve
                .iter()
                .map(|&(index, accuracy)| (index, thousandths(accuracy)))
                .collect()
        }),
        main,
        steps,
        sgf: annotated(reviewed).to_string(),
        name: "reviewed.sgf".to_owned(),
        live: live.is_some(),
        run: live.unwrap_or_default(),
    }
}

/// Adds the variations of the record: the moves that leave the main line, and the moves that follow them. A variation
/// ends at a set-up, or at a move that cannot be played.
fn add_branches(reviewed: &Reviewed, steps: &mut Vec<StepData>) {
    let (tree, main_line) = (&reviewed.tree, &reviewed.line);
    let line = tree.main_line();
    let main = main_line.steps();
    main_line.backwards(|index, game| {
        // The children of a node follow the last step of the node.
        let node = main[index].node;
        if main.get(index + 1).is_some_and(|next| next.node == node) {
            return;
        }
        let Some(&id) = line.get(node) else { return };
        let others = tree.node(id).children().iter().skip(1);
        let mut todo: Vec<(NodeId, usize, Game)> =
            others.map(|&child| (child, index, game.clone())).collect();
        todo.reverse();
        while let Some((id, parent, mut game)) = todo.pop() {
            if steps.len() >= main.len() + MAX_BRANCHES {
                return;
            }
            let node = tree.node(id);
            let sets_up = ["AB", "AW", "AE"].iter().any(|name| node.has(name));
            let is_ours = node.text("N").is_some_and(|name| name.starts_with(OURS));
            let Some(mv) = tree.played(id).filter(|_| !sets_up && !is_ours) else { continue };
            let color = if node.has("B") { Color::Black } else { Color::White };
            if game.play_tolerant(color, mv).is_err() {
                continue;
            }
            let size = game.size();
            let lifted = game.records().last().map(|record| &record.lifted[..]).unwrap_or_default();
            let own = steps.len();
            steps.push(StepData {
                p: Some(parent),
                n: steps[parent].n + 1,
                t: color_letter(game.to_move()),
                m: Some(format!("{}{}", color_letter(color), place(size, mv))),
                x: lifted.iter().map(|&point| place(size, Move::Play(point))).collect(),
                s: None,
                c: node.text("C").filter(|text| !text.is_empty()),
                numbers: Numbers::default(),
                j: None,
                e: Vec::new(),
            });
            todo.extend(node.children().iter().rev().map(|&child| (child, own, game.clone())));
        }
    });
}
