//! The page of a review: one HTML file with a board, curves and lists, which needs no network connection.
//!
//! The page contains the numbers as JSON (`page_data.rs`), and scripts draw them. Lists, tables and summaries are
//! written here, so that they are visible without scripts.

use super::facts::{Facts, explanation};
use super::judge::{Class, Judgement, Thresholds};
use super::main_line::Change;
use super::page_data::{Data, data};
use super::reviewed::Reviewed;
use super::run::Part;
use super::summary::{PlayerSummary, accuracy, stage_ends};
use crate::pages::study::{self, button};
use crate::pages::{Diagram, Mark, Page, Text, Tone, components, embedded, english, localized};
use crate::words::{color_letter, color_name, grouped};
use kosumi_go::board::{Board, Color};
use kosumi_go::rules::Rules;
use maud::{Markup, PreEscaped, Render, html};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Maximum number of moves in the list of the worst.
const WORST_MOVES: usize = 20;

/// Returns the page of a review as a file.
pub fn page(reviewed: &Reviewed) -> String {
    make(reviewed, None, false).0
}

/// Returns the page of a review for a server that offers no engine behind the page, and its content security policy.
pub fn served_page(reviewed: &Reviewed) -> (String, String) {
    make(reviewed, None, true)
}

/// Returns the page of a review with an engine behind it, and its content security policy. `run` identifies the review
/// among those of this process.
pub fn live_page(reviewed: &Reviewed, run: u64) -> (String, String) {
    make(reviewed, Some(run), true)
}

/// Returns the script of the page, which is the same for all reviews.
fn script() -> String {
    let [board, texts, rest @ ..] = components::scripts();
    let code = components::compact(&(rest.concat() + &study::SCRIPTS.concat() + SCRIPT));
    ["\n", &components::compact(board), texts, &code].concat()
}

/// Returns the source of this script for a content security policy.
pub fn script_source() -> String {
    components::script_source(&script())
}

fn make(reviewed: &Reviewed, live: Option<u64>, is_served: bool) -> (String, String) {
    let facts = &reviewed.facts;
    let mut page = match facts.has_names() {
        true => Page::new(&facts.title()),
        false => Page::named(localized("game-review")),
    };
    page.enable_languages();
    let script = script();
    page.allow_script(&script);
    if live.is_some() {
        page.allow("connect-src 'self'");
    }
    if is_served {
        page.allow("img-src data:");
        page.head(html! { link rel="icon" href="data:,"; });
    }
    page.style(components::STYLE);
    page.style(study::STYLE);
    if !reviewed.review.worst.is_empty() {
        page.diagram_style();
    }
    page.style(STYLE);
    page.class("study");
    page.add(html! {
        p.details {
            (details(facts)) " " span.dot { "·" } " "
            button.link #save type="button" title=(english("save-review-hint")) data-hint="save-review-hint" { (localized("save-review")) }
            @if live.is_some() {
                " " button.link #open type="button" title=(english("load-hint")) data-hint="load-hint" { (localized("load")) }
                input #file type="file" accept=".sgf,application/x-go-sgf" hidden;
            }
        }
    });
    for warning in &facts.warnings {
        page.add(html! { p.note { (localized("note").with("text", warning)) } });
    }
    page.add(html! {
        p.note #notice role="status" hidden {}
        noscript {
            p.note { "The board and the curves need JavaScript, which is switched off here. The lists below do not." }
        }
        div.review #review hidden {
            (stage(facts, reviewed.line.steps().len() - 1, live.is_some()))
            (side(facts))
        }
        div.report {
            section aria-labelledby="worst-heading" {
                div.heading { h2 #worst-heading { (localized("worst-moves")) } (filter()) }
                (worst(reviewed))
                div.actions { button #again type="button" hidden {} }
            }
            section aria-labelledby="players-heading" {
                h2 #players-heading { (localized("players")) }
                div.players { @for color in Color::BOTH { (player_card(reviewed, color)) } }
                (stages(reviewed))
                (accuracy_curve())
            }
        }
        (printed_diagrams(reviewed))
        (about(reviewed))
        (study::appearance("appearance-look", false))
    });
    page.add(
        html! { script type="application/json" id="data" { (PreEscaped(embedded_data(&data(reviewed, live)))) } },
    );
    page.add(html! { script { (PreEscaped(script)) } });
    (page.to_string(), page.policy())
}

/// Returns the data as JSON that is safe in a `script` element.
fn embedded_data(data: &Data) -> String {
    embedded(&serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned()))
}

/// Returns facts about the game in one line.
fn details(facts: &Facts) -> Markup {
    let mut items: Vec<Markup> = facts.result.iter().map(|result| html! { b { (result) } }).collect();
    items.extend(facts.details.iter().map(|(_, text)| html! { (text) }));
    let known = |is_known: bool| html! { @if !is_known { " " (localized("not-given")) } };
    items.push(html! { (rules_title(facts.rules)) (known(facts.are_rules_known)) });
    items.push(html! { (localized("komi-is").with("komi", facts.komi)) (known(facts.is_komi_known)) });
    if facts.handicap > 0 {
        items.push(localized("facts-handicap").with("count", facts.handicap).render());
    }
    let part = facts.part.iter().flat_map(Part::texts);
    items.extend(part.map(|text| html! { b { (text) } }));
    html! {
        @for (index, item) in items.iter().enumerate() {
            @if index > 0 { " " span.dot { "·" } " " }
            (item)
        }
    }
}

/// Returns the name of rules, or their description if they have none.
fn rules_title(rules: Rules) -> Text {
    match rules.as_preset() {
        Some(preset) => localized(format!("title-{}", preset.names[0])),
        None => localized("title-other").with("rules", rules),
    }
}

/// Returns the board with the players' names above it and the buttons below.
fn stage(facts: &Facts, last: usize, is_live: bool) -> Markup {
    html! {
        section.stage aria-label=(english("board")) data-label="board" {
            div.above {
                div.seats #seats {
                    @for color in Color::BOTH { (study::seat(color, &seat_name(facts, color), &html! {})) }
                }
                p.preview-line #preview hidden {
                    span #preview-text {}
                    button #preview-close type="button" aria-label=(english("end-preview")) data-label="end-preview" { "✕" }
                }
            }
            svg #board role="img" tabindex="0" aria-labelledby="board-title" { title #board-title { (english("board")) } }
            (study::transport(true))
            input #slider type="range" min="0" max=(last) value="0" step="1" aria-label=(english("position")) data-label="position";
            div.actions.advice role="group" aria-label=(english("on-the-board")) data-label="on-the-board" {
                (toggle("candidates", true, "best-moves", Some("A")))
                (toggle("ownership", false, "ownership", Some("E")))
                (toggle("numbers", false, "numbers", Some("#")))
                @if is_live {
                    (toggle("answers", false, "answers", None))
                    (button("pass", "pass", None))
                }
                (button("appearance", "appearance-look", None))
            }
        }
    }
}

/// Returns a button with the states on and off, with its label and its tooltip.
fn toggle(id: &str, is_on: bool, text: &str, key: Option<&str>) -> Markup {
    let hint = format!("{text}-hint");
    html! {
        button id={ "toggle-" (id) } type="button" aria-pressed=(is_on) title=(english(&hint)) data-hint=(hint) data-key=[key] {
            (localized(text))
        }
    }
}

/// Returns a player's name, or the name of the colour.
fn seat_name(facts: &Facts, color: Color) -> Markup {
    match &facts.players[color] {
        Some(name) => html! { span.name { (name) } },
        None => html! { span.name { (localized(color_name(color))) } },
    }
}

/// Returns the panel beside the board, which describes the position.
fn side(facts: &Facts) -> Markup {
    html! {
        section.side aria-label=(english("analysis")) data-label="analysis" {
            (study::problem())
            (study::verdict(&html! { p.eyebrow #verdict-number {} }, &html! {
                (study::balance())
                blockquote #comment hidden {}
                p.hidden #announcement role="status" {}
            }))
            (study::tree(&html! {}))
            (study::candidates(
                &html! { h2 #candidates-title {} },
                &html! {
                    p.legend #legend {
                        @for (grade, text) in legend(&facts.thresholds) { span.item { i class={ "letter " (grade) } {} (text) } " " }
                    }
                    p.faint #candidates-none hidden {}
                },
            ))
            (study::curves())
        }
    }
}

/// Returns the legend of the colours of candidates: classes by the loss against the first choice.
fn legend(thresholds: &Thresholds) -> [(&'static str, Text); 5] {
    let percent = |share: f32| format!("{} %", (1000.0 * share).round() / 10.0);
    let (inaccuracy, mistake) = (thresholds.least(Class::Inaccuracy), thresholds.least(Class::Mistake));
    [
        ("best", localized("legend-best")),
        ("near", localized("legend-near").with("loss", percent(inaccuracy / 2.0))),
        ("fair", localized("legend-less").with("loss", percent(inaccuracy))),
        ("poor", localized("legend-less").with("loss", percent(mistake))),
        ("bad", localized("legend-bad")),
    ]
}

/// Returns a table of the losses of each player in each part of the game.
fn stages(reviewed: &Reviewed) -> Markup {
    let area = reviewed.line.size().area();
    let [opening, middle] = stage_ends(area);
    let mut rows = Vec::new();
    let mut from = 1;
    for (name, last) in [("stage-1", opening), ("stage-2", middle), ("stage-3", usize::MAX)] {
        let of = |color: Color| {
            let in_stage = reviewed.line.steps().iter().zip(&reviewed.review.judgements);
            let judged = in_stage.filter_map(|(step, judgement)| match step.change {
                Change::Move { color: mover, .. }
                    if mover == color && (from..=last).contains(&step.moves) =>
                {
                    judgement.as_ref()
                }
                _ => None,
            });
            judged.collect::<Vec<_>>()
        };
        let of = Color::BOTH.map(of);
        if of.iter().any(|judged| !judged.is_empty()) {
            let until = reviewed.line.move_count().min(last);
            rows.push((html! { (localized(name)) " (" (from) "–" (until) ")" }, of));
        }
        from = last.saturating_add(1);
    }
    let mean = |judged: &[&Judgement], of: fn(&Judgement) -> f32| {
        // The sum over no numbers is −0, which would be shown with a sign.
        (0.0 + judged.iter().map(|judgement| of(judgement)).sum::<f32>()) / judged.len().max(1) as f32
    };
    html! {
        @if !rows.is_empty() {
            div.table tabindex="0" {
                table.stages {
                    thead {
                        tr {
                            th scope="col" { (localized("stage-moves")) }
                            @for color in Color::BOTH {
                                th.number scope="col" { span class={ "pip " (color_name(color)) } {} " " (localized("accuracy")) }
                                th.number scope="col" { (localized("points")) }
                                th.number scope="col" { "?! ? ??" }
                            }
                        }
                    }
                    tbody {
                        @for (name, of) in &rows {
                            tr {
                                th scope="row" { (name) }
                                @for judged in of {
                                    @let count = |class| judged.iter().filter(|it| it.class == class).count();
                                    @if judged.is_empty() {
                                        td.number { "–" } td.number { "–" } td.number { "–" }
                                    } @else {
                                        td.number { (format_args!("{:.0} %", 100.0 * mean(judged, accuracy))) }
                                        td.number data-number="" { (lost(mean(judged, |it| it.score_loss.mean))) }
                                        td.number { (count(Class::Inaccuracy)) " " (count(Class::Mistake)) " " (count(Class::Blunder)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the buttons that select the player whose moves are shown.
fn filter() -> Markup {
    html! {
        div.filter role="group" aria-label=(english("whose-moves")) data-label="whose-moves" {
            @for (player, text) in [("", "both"), ("B", "black"), ("W", "white")] {
                button type="button" data-player=(player) aria-pressed=(player.is_empty()) { (localized(text)) }
            }
        }
    }
}

/// Returns one card for each player.
fn player_card(reviewed: &Reviewed, color: Color) -> Markup {
    let summary = &reviewed.review.players[color];
    html! {
        article.player.card {
            h3 { span class={ "pip " (color_name(color)) } {} (seat_name(&reviewed.facts, color)) }
            @if summary.moves == 0 { p.faint { (localized("not-judged")) } } @else { (player(summary)) }
        }
    }
}

fn player(summary: &PlayerSummary) -> Markup {
    let [good, inaccuracies, mistakes, blunders] = summary.classes;
    let percent = |share: f32| format!("{:.0}", 100.0 * share);
    let first_choices = percent(summary.first_choices as f32 / summary.moves as f32);
    let classes = Class::ALL.into_iter().zip(summary.classes).filter(|&(_, count)| count > 0);
    let rows = [
        (None, "moves-judged", html! { (summary.moves) }),
        (None, "first-choice", html! { (summary.first_choices) " " small { "(" (first_choices) " %)" } }),
        (None, "better-than-first", html! { (summary.better) }),
        (None, "good", html! { (good - summary.unclear) }),
        (None, "unclear", html! { (summary.unclear) }),
        (Some(Class::Inaccuracy), "inaccuracies", html! { (inaccuracies) }),
        (Some(Class::Mistake), "mistakes", html! { (mistakes) }),
        (Some(Class::Blunder), "blunders", html! { (blunders) }),
        (
            None,
            "mean-loss",
            html! {
                span data-number="" { (format_args!("{:.1} %", 100.0 * summary.mean_loss)) } " "
                small { (localized("by-chance").with("loss", format!("{:.1}", 100.0 * summary.noise))) }
            },
        ),
        (
            None,
            "in-points",
            html! { span data-number="" { (format_args!("{:.1}", summary.mean_score_loss)) } },
        ),
    ];
    html! {
        p.accuracy { b { (percent(summary.accuracy)) small { " %" } } " " (localized("accuracy")) }
        div.classes aria-hidden="true" {
            @for (class, count) in classes { i class=(class.name()) style={ "flex-grow:" (count) } {} }
        }
        dl {
            @for (class, name, value) in rows {
                div { dt { @if let Some(class) = class { (sign(class)) } (localized(name)) } dd { (value) } }
            }
        }
    }
}

/// Returns a loss as a negative number with one decimal. A loss that rounds to 0 has no sign.
fn lost(loss: f32) -> String {
    let text = format!("{loss:.1}");
    if text == "0.0" { text } else { format!("−{text}") }
}

/// Returns the markup of a class with its sign.
fn sign(class: Class) -> Markup {
    html! { span class={ "sign " (class.name()) } { (class.sign()) } }
}

/// Returns the list of the moves with the greatest losses.
fn worst(reviewed: &Reviewed) -> Markup {
    let worst = &reviewed.review.worst;
    let left = worst.len().saturating_sub(WORST_MOVES);
    html! {
        @if worst.is_empty() {
            p.faint { (localized("no-worst")) }
        } @else {
            ol.worst { @for &index in worst.iter().take(WORST_MOVES) { (worst_move(reviewed, index)) } }
        }
        @if left > 0 { p.faint { (localized("more-worst").with("count", left)) } }
    }
}

fn worst_move(reviewed: &Reviewed, index: usize) -> Markup {
    let step = &reviewed.line.steps()[index];
    let (Some(judgement), Change::Move { color, mv, .. }) =
        (&reviewed.review.judgements[index], &step.change)
    else {
        return html! {};
    };
    html! {
        li data-color=(color_letter(*color)) {
            a href={ "#" (index) } {
                (sign(judgement.class))
                span.number { (step.moves) }
                span class={ "pip " (color_name(*color)) } {}
                span.move { (mv.to_string()) }
                span.loss data-number="" { (lost(100.0 * judgement.loss.mean)) " %" }
                span.points data-number="" { (lost(judgement.score_loss.mean)) " p" }
                span.better { (judgement.best.mv.to_string()) }
            }
        }
    }
}

/// Number of moves for which the printed page shows diagrams.
const PRINTED_DIAGRAMS: usize = 6;

/// Returns diagrams of the worst moves, which are visible only on paper. A red square marks the played move, and a
/// green ring the first choice.
fn printed_diagrams(reviewed: &Reviewed) -> Markup {
    let worst: Vec<usize> = reviewed.review.worst.iter().copied().take(PRINTED_DIAGRAMS).collect();
    let mut boards: Vec<Option<Board>> = vec![None; worst.len()];
    reviewed.line.backwards(|index, game| {
        for (board, &move_index) in boards.iter_mut().zip(&worst) {
            if index + 1 == move_index {
                *board = Some(*game.board());
            }
        }
    });
    let cards = worst.iter().zip(&boards).filter_map(|(&index, board)| {
        let step = &reviewed.line.steps()[index];
        let (Some(judgement), Change::Move { color, mv, .. }, Some(board)) =
            (&reviewed.review.judgements[index], &step.change, board)
        else {
            return None;
        };
        let words = localized("printed-move")
            .with("count", step.moves)
            .with("sign", judgement.class.sign())
            .with("move", mv)
            .with("best", judgement.best.mv);
        let mut diagram = Diagram::new(board, &words.english());
        if let Some(point) = mv.point() {
            diagram = diagram.stone(point, *color).mark(point, Mark::Square, Tone::Bad);
        }
        if let Some(point) = judgement.best.mv.point() {
            diagram = diagram.mark(point, Mark::Circle, Tone::Good);
        }
        Some(html! { div.card { (diagram) p { span class={ "pip " (color_name(*color)) } {} " " (words) } } })
    });
    html! {
        @if !worst.is_empty() { div.printed { div.cards { @for card in cards { (card) } } } }
    }
}

fn accuracy_curve() -> Markup {
    html! {
        figure.card.accuracy-curve #accuracy {
            figcaption {
                (localized("accuracy-curve")) " "
                span.key { i.line-black {} (localized("black")) } " "
                span.key { i.line-white {} (localized("white")) }
            }
            svg #chart-accuracy role="img" aria-label=(english("accuracy-curve-label")) data-label="accuracy-curve-label" {}
        }
    }
}

/// Keys that the page has besides those of [`study::KEYS`].
const KEYS: [study::KeyHelp; 2] = [(&["M", "Shift M"], "keys-bad"), (&["A", "E", "#"], "keys-shown")];

/// Returns the description of the effort of the searches.
fn spent(facts: &Facts) -> Text {
    let count = facts.playouts.map(|count| grouped(count.into()));
    match (count, facts.seconds) {
        (Some(count), Some(seconds)) => localized("spent-both").with("count", count).with("seconds", seconds),
        (Some(count), None) => localized("spent-simulations").with("count", count),
        (None, seconds) => localized("spent-time").with("seconds", seconds.unwrap_or_default()),
    }
}

/// Returns the explanation of the page.
fn about(reviewed: &Reviewed) -> Markup {
    let facts = &reviewed.facts;
    let (classes, error) = explanation(&facts.thresholds, &reviewed.review.scatter);
    html! {
        section.about {
            h2 { (localized("about-title")) }
            p { (localized("about-rates")) " " (classes) @if let Some(error) = error { " " (error) } }
            p { (spent(facts)) " " (localized("about-search")) }
            p #keys tabindex="-1" {
                (localized("keys")) ": "
                @for (names, text) in study::KEYS.into_iter().chain(KEYS) {
                    @for name in names { kbd { (name) } " " }
                    (localized(text)) "; "
                }
                (localized("keys-swipe"))
            }
            p.faint { (localized("made-by").with("version", env!("CARGO_PKG_VERSION"))) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::has_words;

    #[test]
    fn every_named_rule_set_has_a_title() {
        for preset in kosumi_go::rules::PRESETS {
            let title = rules_title(preset.rules);
            assert!(has_words(title.name()), "{}", title.name());
            assert!(!title.english().contains(':'), "{}", title.english());
        }
    }

    #[test]
    fn scripts_are_small_and_complete() {
        let script = script();
        let texts = components::scripts()[1];
        // The script contains the texts of all languages.
        assert!(script.len() < 130_000 && script.len() - texts.len() < 75_000, "{}", script.len());
        for name in
            ["class Board", "class GameTree", "class Verdict", "class Candidates", "class ProblemGame"]
        {
            assert_eq!(script.matches(name).count(), 1, "{name}");
        }
    }

    #[test]
    fn every_name_of_a_text_in_a_script_has_words() {
        let scripts = study::SCRIPTS.concat() + SCRIPT;
        for name in scripts.split("text(\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(has_words(name), "{name}");
        }
    }
}
