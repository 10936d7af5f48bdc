//! The page: one HTML file with the board, curves and lists of a review, for a browser without a network.
//!
//! The numbers go into the page as JSON, packed: shares in thousandths, points of the board as two letters as in
//! SGF, owners as one letter each. The scripts draw, and know no rules of Go: what a move lifts from the board comes
//! with it. Lists, tables and summaries are written here, and are there without scripts as well.

use super::annotate::without_ours;
use super::estimate::Estimate;
use super::facts::{Facts, explanation, sentence};
use super::json::from_the_top;
use super::judge::{Class, Judgement};
use super::main_line::Change;
use super::reviewed::Reviewed;
use super::summary::PlayerSummary;
use crate::board::{BoardSize, Color, Move, Point};
use crate::game::Game;
use crate::pages::{Page, escape};
use serde::Serialize;
use std::fmt::Write as _;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 3] = [include_str!("board.js"), include_str!("charts.js"), include_str!("page.js")];

/// Moves of a variation that are shown.
const VARIATION_MOVES: usize = 12;
/// Moves in the list of the worst.
const WORST_MOVES: usize = 20;
/// Nothing from anywhere else, whatever the page should come to hold.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
                      style-src 'unsafe-inline'; script-src 'unsafe-inline'\">";

/// Everything that the scripts draw.
#[derive(Serialize)]
struct Data {
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
    t: &'static str,
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

/// The page of a review.
pub fn page(reviewed: &Reviewed) -> String {
    let facts = &reviewed.facts;
    let mut page = Page::new(&facts.title());
    page.head(POLICY);
    page.style(STYLE);
    let parts = [
        ("details", details(facts)),
        ("notes", notes(facts)),
        ("black", escape(&facts.name(Color::Black))),
        ("white", escape(&facts.name(Color::White))),
        ("last", (reviewed.line.steps().len() - 1).to_string()),
        ("players", players(reviewed)),
        ("worst", worst(reviewed)),
        ("about", escape(&explanation(&facts.thresholds, &reviewed.review.scatter))),
        ("effort", escape(&facts.effort)),
        ("version", escape(env!("CARGO_PKG_VERSION"))),
        ("data", embedded(&data(reviewed))),
        ("scripts", SCRIPTS.concat()),
    ];
    page.markup(fill(TEMPLATE, &parts));
    page.to_string()
}

/// Puts texts into the places of a template, `{{name}}`. What is put in is not looked at again.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut pieces = template.split("{{");
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or((piece, ""));
        let part = parts.iter().find(|part| part.0 == name);
        debug_assert!(part.is_some(), "nothing for {name}");
        out.push_str(part.map_or("", |part| &part.1));
        out.push_str(rest);
    }
    out
}

/// JSON that can stand in a `script` element: no `<` in it, so no comment of a record can end the element.
fn embedded(data: &Data) -> String {
    let text = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Facts about the game in one line.
fn details(facts: &Facts) -> String {
    let mut items: Vec<String> =
        facts.result.iter().map(|result| format!("<b>{}</b>", escape(result))).collect();
    items.extend(facts.details.iter().map(|(_, text)| escape(text)));
    items.push(escape(&format!("{} rules", facts.rules)));
    items.push(format!("komi {}", facts.komi));
    if facts.handicap > 0 {
        items.push(format!("{} handicap stones", facts.handicap));
    }
    items.join(" <span class=\"dot\">·</span> ")
}

fn notes(facts: &Facts) -> String {
    let note = |text: &String| format!("<p class=\"note\">Note: {}.</p>", escape(text));
    facts.warnings.iter().map(note).collect()
}

/// One card for each player.
fn players(reviewed: &Reviewed) -> String {
    let mut out = String::new();
    for color in Color::BOTH {
        let summary = &reviewed.review.players[color];
        let (class, name) = (class_of(color), escape(&reviewed.facts.name(color)));
        let _ = writeln!(
            out,
            "<article class=\"player card\"><h3><span class=\"pip {class}\"></span>{name}</h3>{}</article>",
            player(summary),
        );
    }
    out
}

fn player(summary: &PlayerSummary) -> String {
    if summary.moves == 0 {
        return "<p class=\"faint\">No moves were judged.</p>".to_owned();
    }
    let [good, inaccuracies, mistakes, blunders] = summary.classes;
    let share = |count: usize| 100.0 * count as f32 / summary.moves as f32;
    let mut out = format!(
        "<p class=\"accuracy\"><b>{:.0}<small> %</small></b> accuracy</p><div class=\"classes\" aria-hidden=\"true\">",
        100.0 * summary.accuracy
    );
    for (class, count) in Class::ALL.into_iter().zip(summary.classes).filter(|&(_, count)| count > 0) {
        let _ = write!(out, "<i class=\"{}\" style=\"flex-grow:{count}\"></i>", class.name());
    }
    out.push_str("</div><dl>");
    let rows = [
        ("Moves judged".to_owned(), summary.moves.to_string()),
        (
            "First choice".to_owned(),
            format!("{} <small>({:.0} %)</small>", summary.first_choices, share(summary.first_choices)),
        ),
        ("Better than that".to_owned(), summary.better.to_string()),
        ("Good".to_owned(), (good - summary.unclear).to_string()),
        ("Unclear".to_owned(), summary.unclear.to_string()),
        (labelled(Class::Inaccuracy, "Inaccuracies"), inaccuracies.to_string()),
        (labelled(Class::Mistake, "Mistakes"), mistakes.to_string()),
        (labelled(Class::Blunder, "Blunders"), blunders.to_string()),
        (
            "Mean loss".to_owned(),
            format!(
                "{:.1} % <small>({:.1} by chance)</small>",
                100.0 * summary.mean_loss,
                100.0 * summary.noise
            ),
        ),
        ("In points".to_owned(), format!("{:.1}", summary.mean_score_loss)),
    ];
    for (name, value) in rows {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    out.push_str("</dl>");
    out
}

fn labelled(class: Class, text: &str) -> String {
    format!("<span class=\"sign {}\">{}</span>{text}", class.name(), class.sign())
}

/// The list of the moves that lost most.
fn worst(reviewed: &Reviewed) -> String {
    if reviewed.review.worst.is_empty() {
        return "<p class=\"faint\">No move lost enough to be sure of it.</p>".to_owned();
    }
    let mut out = String::from("<ol class=\"worst\">\n");
    for &index in reviewed.review.worst.iter().take(WORST_MOVES) {
        let Some(judgement) = &reviewed.review.judgements[index] else { continue };
        let Change::Move { color, mv, .. } = reviewed.line.steps()[index].change else { continue };
        let _ = writeln!(
            out,
            "<li><a href=\"#{index}\" title=\"{title}\"><span class=\"sign {class}\">{sign}</span>\
             <span class=\"number\">{number}</span><span class=\"pip {color}\"></span><span class=\"move\">{mv}</span>\
             <span class=\"loss\">−{loss:.1} %</span><span class=\"points\">−{points:.1} p</span>\
             <span class=\"instead\">{best}</span></a></li>",
            title = escape(&sentence(&reviewed.line, index, judgement)),
            class = judgement.class.name(),
            sign = judgement.class.sign(),
            number = reviewed.line.steps()[index].moves,
            color = class_of(color),
            loss = 100.0 * judgement.loss.mean,
            points = judgement.score_loss.mean,
            best = judgement.best.mv,
        );
    }
    out.push_str("</ol>");
    let left = reviewed.review.worst.len().saturating_sub(WORST_MOVES);
    if left > 0 {
        let _ = write!(out, "<p class=\"faint\">and {left} more, marked on the curves.</p>");
    }
    out
}

fn class_of(color: Color) -> &'static str {
    match color {
        Color::Black => "black",
        Color::White => "white",
    }
}

fn data(reviewed: &Reviewed) -> Data {
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
            t: letter(step.to_move),
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
                data.m = Some(format!("{}{}", letter(*color), place(size, *mv)));
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
        stars: crate::handicap::star_points(size)
            .into_iter()
            .map(|point| place(size, Move::Play(point)))
            .collect(),
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

fn letter(color: Color) -> &'static str {
    match color {
        Color::Black => "B",
        Color::White => "W",
    }
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
    fn what_is_put_in_is_not_looked_at_again() {
        let parts = [("a", "{{b}}".to_owned()), ("b", "x".to_owned())];
        assert_eq!(fill("<{{a}}|{{b}}>", &parts), "<{{b}}|x>");
    }

    #[test]
    fn owners_are_letters() {
        assert_eq!([-1.0, -0.04, 0.0, 0.04, 1.0, 7.0].map(owner), ['A', 'Y', 'Z', 'a', 'y', 'y']);
    }
}
