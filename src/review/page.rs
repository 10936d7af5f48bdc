//! The page: one HTML file with the board, curves and lists of a review, for a browser without a network.
//!
//! The numbers go into the page as JSON, see `page_data.rs`, and scripts draw them. Lists, tables and summaries are
//! written here, and are there without scripts as well.

use super::facts::{Facts, explanation, sentence};
use super::judge::{Class, Judgement, Thresholds};
use super::main_line::Change;
use super::page_data::{Data, data};
use super::reviewed::Reviewed;
use super::summary::{PlayerSummary, accuracy};
use crate::board::Color;
use crate::pages::{Page, embedded, pieces};
use crate::words::{color_letter, color_name, rules_title};
use maud::{Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 5] =
    [pieces::BOARD, pieces::CHARTS, pieces::PACKED, pieces::LINK, include_str!("page.js")];

/// Moves in the list of the worst.
const WORST_MOVES: usize = 20;

/// The page of a review, as a file.
pub fn page(reviewed: &Reviewed) -> String {
    make(reviewed, None).0
}

/// The page of a review with the engine behind it, and its content security policy. `run` tells it from other reviews
/// of the same program.
pub fn live_page(reviewed: &Reviewed, run: u64) -> (String, String) {
    make(reviewed, Some(run))
}

fn make(reviewed: &Reviewed, live: Option<u64>) -> (String, String) {
    let facts = &reviewed.facts;
    let mut page = Page::new(&facts.title());
    let script = format!("\n{}", SCRIPTS.concat());
    page.script(&script);
    if live.is_some() {
        page.allow("connect-src 'self'; img-src data:");
        page.head(html! { link rel="icon" href="data:,"; });
    }
    page.style(pieces::STYLE);
    page.style(STYLE);
    page.add(html! {
        p.details {
            (details(facts)) " " span.dot { "·" } " "
            button.link #save type="button" title="The record with comments, better lines and marks, as SGF" { "Save as SGF" }
            @if live.is_some() {
                " " button.link #open type="button" title="Another game; a file may be dropped on the page, too" { "Open…" }
                input #file type="file" accept=".sgf,application/x-go-sgf" hidden;
            }
        }
    });
    for warning in &facts.warnings {
        page.add(html! { p.note { "Note: " (warning) "." } });
    }
    page.add(html! {
        p.note #notice role="status" hidden {}
        noscript {
            p.note { "The board and the curves need JavaScript, which is switched off here. The lists below do not." }
        }
        div.review #review {
            (stage(facts, reviewed.line.steps().len() - 1, live.is_some()))
            (side(facts))
        }
        div.report {
            section aria-labelledby="worst-heading" {
                div.heading { h2 #worst-heading { "Moves that lost most" } (filter()) }
                (worst(reviewed))
            }
            section aria-labelledby="players-heading" {
                h2 #players-heading { "Players" }
                div.players { @for color in Color::BOTH { (player_card(reviewed, color)) } }
                (stages(reviewed))
                (accuracy_curve())
            }
        }
        (about(reviewed))
    });
    page.add(
        html! { script type="application/json" id="data" { (PreEscaped(embedded_data(&data(reviewed, live)))) } },
    );
    page.add(html! { script { (PreEscaped(script)) } });
    (page.to_string(), page.policy())
}

/// The data as JSON that can stand in a `script` element.
fn embedded_data(data: &Data) -> String {
    embedded(&serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned()))
}

/// Facts about the game in one line.
fn details(facts: &Facts) -> Markup {
    let mut items: Vec<Markup> = facts.result.iter().map(|result| html! { b { (result) } }).collect();
    items.extend(facts.details.iter().map(|(_, text)| html! { (text) }));
    let known = |is_known: bool| if is_known { "" } else { " (not given in the record)" };
    items.push(html! { (rules_title(facts.rules)) (known(facts.are_rules_known)) });
    items.push(html! { "komi " (facts.komi) (known(facts.is_komi_known)) });
    if facts.handicap > 0 {
        items.push(html! { (facts.handicap) " handicap stones" });
    }
    html! {
        @for (index, item) in items.iter().enumerate() {
            @if index > 0 { " " span.dot { "·" } " " }
            (item)
        }
    }
}

/// The board with the names above it, and the buttons below.
fn stage(facts: &Facts, last: usize, is_live: bool) -> Markup {
    html! {
        section.stage aria-label="Board" {
            div.above {
                div.seats #seats {
                    p.seat #seat-black {
                        span.pip.black {}
                        span.name { (facts.name(Color::Black)) }
                        span.prisoners #prisoners-black title="Stones taken by Black" {}
                    }
                    p.seat #seat-white {
                        span.prisoners #prisoners-white title="Stones taken by White" {}
                        span.name { (facts.name(Color::White)) }
                        span.pip.white {}
                    }
                }
                p.preview-line #preview hidden {
                    span #preview-text {}
                    button #preview-close type="button" aria-label="End the preview" { "✕" }
                }
            }
            svg #board role="img" tabindex="0" aria-labelledby="board-title" { title #board-title { "The board" } }
            (transport())
            input #slider type="range" min="0" max=(last) value="0" step="1" aria-label="Position";
            div.toggles role="group" aria-label="On the board" {
                (toggle("toggle-candidates", true, "Best moves on the board (C)", "Best moves"))
                (toggle("toggle-ownership", false, "Who owns which point (O)", "Ownership"))
                (toggle("toggle-numbers", false, "Numbers on the stones (N)", "Numbers"))
                label {
                    span.hidden { "On the best moves" }
                    select #labels title="What is written on the best moves" {
                        option value="letter" { "Letters" }
                        option value="rate" { "Win rate" }
                        option value="points" { "Points" }
                        option value="visits" { "Visits" }
                    }
                }
                @if is_live {
                    (toggle("toggle-answers", false, "Kosumi answers the moves that you try", "Kosumi answers"))
                    button #pass type="button" { "Pass" }
                }
            }
            div.branches #branches role="group" aria-label="Variations" hidden {}
        }
    }
}

/// The buttons that go through the game.
fn transport() -> Markup {
    let icon = |path: &str| html! { svg.icon viewBox="0 0 24 24" aria-hidden="true" { path d=(path) {} } };
    let question = html! { span aria-hidden="true" { "?" } };
    let button = |go: &str, label: &str, key: &str, path: &str| {
        let title = format!("{label} ({key})");
        html! { button type="button" data-go=(go) aria-label=(label) title=(title) { (icon(path)) } }
    };
    html! {
        div.transport role="group" aria-label="Go through the game" {
            (button("first", "First position", "Home", "M6 5v14M19 5L9 12l10 7z"))
            button.bad #previous-bad type="button" aria-label="Previous bad move" title="Previous bad move (P)" {
                (icon("M11 5L3 12l8 7z")) (question)
            }
            (button("-1", "Back", "←", "M16 5L7 12l9 7z"))
            output.counter #counter {}
            (button("1", "Forward", "→", "M8 5l9 7-9 7z"))
            button.bad #next-bad type="button" aria-label="Next bad move" title="Next bad move (M)" {
                (question) (icon("M13 5l8 7-8 7z"))
            }
            (button("last", "Last position", "End", "M18 5v14M5 5l10 7-10 7z"))
        }
    }
}

fn toggle(id: &str, is_on: bool, title: &str, text: &str) -> Markup {
    html! { button id=(id) type="button" aria-pressed=(is_on) title=(title) { (text) } }
}

/// What is said of the position beside the board.
fn side(facts: &Facts) -> Markup {
    html! {
        section.side aria-label="Analysis" {
            article.card.verdict #verdict {
                p.eyebrow #verdict-number {}
                h2 #verdict-title {}
                p.loss #verdict-loss {}
                button.instead #verdict-instead type="button" hidden {}
                div.balance #balance {
                    div.scale aria-hidden="true" { i #balance-black {} }
                    p { span #balance-rate {} span #balance-lead {} }
                }
                blockquote #comment hidden {}
                p.hidden #status role="status" {}
            }
            article.card.candidates {
                h2 #candidates-title { "Best moves" }
                table #candidates {
                    thead {
                        tr {
                            th scope="col" { span.hidden { "Preview" } }
                            th scope="col" { "Move" }
                            @for heading in ["Black wins", "Lead", "Visits"] { th.number scope="col" { (heading) } }
                        }
                    }
                    tbody {}
                }
                p.legend #legend {
                    @for (grade, text) in legend(&facts.thresholds) { span { i class={ "letter " (grade) } {} (text) } " " }
                }
                p.faint #candidates-none hidden { "This position was not searched." }
            }
            article.card.curves {
                figure {
                    figcaption { "Black’s win rate" }
                    svg #chart-rate role="img" aria-label="Black’s win rate, move by move" {}
                }
                figure {
                    figcaption { "Lead in points" }
                    svg #chart-score role="img" aria-label="Lead in points, move by move" {}
                }
            }
        }
    }
}

/// What the colours of best moves say: the classes, and what is lost against the first choice.
fn legend(thresholds: &Thresholds) -> [(&'static str, String); 5] {
    let percent = |share: f32| format!("{} %", (1000.0 * share).round() / 10.0);
    let (inaccuracy, mistake) = (thresholds.least(Class::Inaccuracy), thresholds.least(Class::Mistake));
    [
        ("best", "first choice".to_owned()),
        ("near", format!("loses < {}", percent(inaccuracy / 2.0))),
        ("fair", format!("< {}", percent(inaccuracy))),
        ("poor", format!("< {}", percent(mistake))),
        ("bad", "more".to_owned()),
    ]
}

/// Opening, middle game and endgame: the last move of each on a board of 19×19, and of smaller boards in proportion.
const STAGES: [(&str, usize); 3] = [("Opening", 50), ("Middle game", 150), ("Endgame", usize::MAX)];

/// What each player lost in each part of the game.
fn stages(reviewed: &Reviewed) -> Markup {
    let area = reviewed.line.size().area();
    let scaled = |moves: usize| moves.saturating_mul(area) / 361;
    let mut rows = Vec::new();
    let mut from = 1;
    for (name, last) in STAGES {
        let last = if last == usize::MAX { last } else { scaled(last).max(from) };
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
            rows.push((format!("{name} ({from}–{until})"), of));
        }
        from = last.saturating_add(1);
    }
    let mean = |judged: &[&Judgement], of: fn(&Judgement) -> f32| {
        judged.iter().map(|judgement| of(judgement)).sum::<f32>() / judged.len().max(1) as f32
    };
    html! {
        @if !rows.is_empty() {
            div.table {
                table.stages {
                    thead {
                        tr {
                            th scope="col" { "Part (moves)" }
                            @for color in Color::BOTH {
                                th.number scope="col" { span class={ "pip " (color_name(color)) } {} " accuracy" }
                                th.number scope="col" { "points" }
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
                                    td.number { (format_args!("{:.0} %", 100.0 * mean(judged, accuracy))) }
                                    td.number { (format_args!("−{:.1}", mean(judged, |it| it.score_loss.mean))) }
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

/// Buttons that choose whose moves are shown.
fn filter() -> Markup {
    html! {
        div.filter role="group" aria-label="Whose moves" {
            @for (player, text) in [("", "Both"), ("B", "Black"), ("W", "White")] {
                button type="button" data-player=(player) aria-pressed=(player.is_empty()) { (text) }
            }
        }
    }
}

/// One card for each player.
fn player_card(reviewed: &Reviewed, color: Color) -> Markup {
    let summary = &reviewed.review.players[color];
    html! {
        article.player.card {
            h3 { span class={ "pip " (color_name(color)) } {} (reviewed.facts.name(color)) }
            @if summary.moves == 0 { p.faint { "No moves were judged." } } @else { (player(summary)) }
        }
    }
}

fn player(summary: &PlayerSummary) -> Markup {
    let [good, inaccuracies, mistakes, blunders] = summary.classes;
    let percent = |share: f32| format!("{:.0}", 100.0 * share);
    let first_choices = percent(summary.first_choices as f32 / summary.moves as f32);
    let classes = Class::ALL.into_iter().zip(summary.classes).filter(|&(_, count)| count > 0);
    let rows = [
        (None, "Moves judged", html! { (summary.moves) }),
        (None, "First choice", html! { (summary.first_choices) " " small { "(" (first_choices) " %)" } }),
        (None, "Better than that", html! { (summary.better) }),
        (None, "Good", html! { (good - summary.unclear) }),
        (None, "Unclear", html! { (summary.unclear) }),
        (Some(Class::Inaccuracy), "Inaccuracies", html! { (inaccuracies) }),
        (Some(Class::Mistake), "Mistakes", html! { (mistakes) }),
        (Some(Class::Blunder), "Blunders", html! { (blunders) }),
        (
            None,
            "Mean loss",
            html! {
                (format_args!("{:.1}", 100.0 * summary.mean_loss)) " % "
                small { "(" (format_args!("{:.1}", 100.0 * summary.noise)) " by chance)" }
            },
        ),
        (None, "In points", html! { (format_args!("{:.1}", summary.mean_score_loss)) }),
    ];
    html! {
        p.accuracy { b { (percent(summary.accuracy)) small { " %" } } " accuracy" }
        div.classes aria-hidden="true" {
            @for (class, count) in classes { i class=(class.name()) style={ "flex-grow:" (count) } {} }
        }
        dl {
            @for (class, name, value) in rows {
                div { dt { @if let Some(class) = class { (sign(class)) } (name) } dd { (value) } }
            }
        }
    }
}

/// A class as the sign that marks it.
fn sign(class: Class) -> Markup {
    html! { span class={ "sign " (class.name()) } { (class.sign()) } }
}

/// The list of the moves that lost most.
fn worst(reviewed: &Reviewed) -> Markup {
    let worst = &reviewed.review.worst;
    let left = worst.len().saturating_sub(WORST_MOVES);
    html! {
        @if worst.is_empty() {
            p.faint { "No move lost enough to be sure of it." }
        } @else {
            ol.worst { @for &index in worst.iter().take(WORST_MOVES) { (worst_move(reviewed, index)) } }
        }
        @if left > 0 { p.faint { "and " (left) " more, marked on the curves." } }
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
            a href={ "#" (index) } title=(sentence(&reviewed.line, index, judgement)) {
                (sign(judgement.class))
                span.number { (step.moves) }
                span class={ "pip " (color_name(*color)) } {}
                span.move { (mv.to_string()) }
                span.loss { (format_args!("−{:.1} %", 100.0 * judgement.loss.mean)) }
                span.points { (format_args!("−{:.1} p", judgement.score_loss.mean)) }
                span.instead { (judgement.best.mv.to_string()) }
            }
        }
    }
}

fn accuracy_curve() -> Markup {
    html! {
        figure.card.accuracy-curve #accuracy {
            figcaption {
                "Accuracy, mean of ten moves "
                span.key { i.line-black {} "Black" } " "
                span.key { i.line-white {} "White" }
            }
            svg #chart-accuracy role="img" aria-label="Accuracy of both players, mean of ten moves" {}
        }
    }
}

/// How to read the page.
fn about(reviewed: &Reviewed) -> Markup {
    let facts = &reviewed.facts;
    let keys = |keys: &[&str]| {
        html! {
            @for (index, key) in keys.iter().enumerate() {
                @if index > 0 { " " }
                kbd { (key) }
            }
        }
    };
    html! {
        section.about {
            h2 { "How to read this" }
            p {
                "Win rates and leads are Black’s: 60 % means that Black wins six of ten, B+3.5 that Black is 3.5 points \
                 ahead, W+3.5 that White is. " (explanation(&facts.thresholds, &reviewed.review.scatter))
            }
            p {
                "The position after each move was searched like every other, " (facts.effort) "; where a move differs \
                 from the first choice, the position after that was searched as long. Accuracy is 100 % for a move that \
                 loses nothing, and half for every 10 % of win rate that it loses. “By chance” is the mean loss that \
                 perfect moves would show with so many simulations."
            }
            p {
                "Keys: " (keys(&["←", "→"])) " one move, " (keys(&["Page Up", "Page Down"])) " ten, "
                (keys(&["Home", "End"])) ", " kbd { "M" } " and " kbd { "P" } " next and previous bad move, "
                kbd { "C" } " best moves, " kbd { "G" } " back to the game, " kbd { "O" } " ownership, " kbd { "N" } " numbers, " kbd { "A" } " to "
                kbd { "F" } "… with " kbd { "Alt" } " a best move’s line, " kbd { "Esc" } " ends it. On a phone, swipe \
                 over the board."
            }
            p.faint { "Made by Kosumi " (env!("CARGO_PKG_VERSION")) "." }
        }
    }
}
