//! Parts of the pages on which a game with variations is studied: the page of `kosumi play` and the page of a review.
//! Both have the same tree, verdicts, candidates, curves, problems and appearance. The markup contains the names of its
//! texts, which scripts fill in. None of it works without scripts.

use crate::words::color_name;
use kosumi_go::board::Color;
use maud::{Markup, html};

/// Scripts in their order. They need those of [`components`](super::components) for boards and curves.
///
/// `tree.js`: `GameTree`, `NodeWords`, `TreeView`; `judgement.js`: `dotsOf`, `worstOf`, `Curves`, `showBalance`, `Verdict`;
/// `candidates.js`: `Candidates`; `problems.js`: `ProblemGame`; `appearance.js`: `Appearance`; `keys.js`: `takeKeys`.
pub const SCRIPTS: [&str; 6] = [
    include_str!("study/tree.js"),
    include_str!("study/judgement.js"),
    include_str!("study/candidates.js"),
    include_str!("study/problems.js"),
    include_str!("study/appearance.js"),
    include_str!("study/keys.js"),
];

/// Style of these parts and of the page around them, whose body has the class `study`.
pub const STYLE: &str = include_str!("study/study.css");

/// Names of keys, and the name of the text that explains them.
pub type KeyHelp = (&'static [&'static str], &'static str);

/// Keys that `keys.js` handles on every page.
pub const KEYS: [KeyHelp; 10] = [
    (&["←", "→"], "keys-one"),
    (&["Page Up", "Page Down"], "keys-ten"),
    (&["Home", "End"], "keys-ends"),
    (&["Shift ←", "Shift ↑", "Shift →", "Shift ↓"], "key-arrows"),
    (&["V", "Shift V"], "key-variations"),
    (&["G"], "keys-game"),
    (&["Alt", "A…F"], "keys-line"),
    (&["Esc"], "keys-escape"),
    (&["N"], "keys-problem"),
    (&["S"], "key-say"),
];

/// Returns an element with a text.
fn words(text: &str) -> Markup {
    html! { span data-text=(text) {} }
}

/// Returns a button.
pub fn button(id: &str, text: &str, key: Option<&str>) -> Markup {
    html! { button id=(id) type="button" data-text=(text) data-key=[key] {} }
}

/// Returns a form control with a label above it.
pub fn field(text: &str, control: &Markup) -> Markup {
    html! { label.field { (words(text)) (control) } }
}

/// Returns the buttons that move through the game, with those for bad moves if `has_bad` is set.
pub fn transport(has_bad: bool) -> Markup {
    let icon = |path: &str| html! { svg.icon viewBox="0 0 24 24" aria-hidden="true" { path d=(path) {} } };
    let button = |go: &str, label: &str, path: &str| {
        html! { button type="button" data-go=(go) data-label=(label) { (icon(path)) } }
    };
    let bad = |id: &str, key: &str, content: &Markup| {
        html! { @if has_bad {
            button.bad id=(id) type="button" data-label=(id) data-key=(key) { (content) }
        } }
    };
    let question = html! { span aria-hidden="true" { "?" } };
    html! {
        div.transport.wide[has_bad] role="group" data-label="go-through" {
            (button("first", "first", "M6 5v14M19 5L9 12l10 7z"))
            (bad("previous-bad", "Shift M", &html! { (icon("M11 5L3 12l8 7z")) (question) }))
            (button("-1", "back", "M16 5L7 12l9 7z"))
            output.counter #counter {}
            (button("1", "forward", "M8 5l9 7-9 7z"))
            (bad("next-bad", "M", &html! { (question) (icon("M13 5l8 7-8 7z")) }))
            (button("last", "last", "M18 5v14M5 5l10 7-10 7z"))
        }
    }
}

/// Returns a player's name beside the colour, with the number of captured stones. `rest` follows.
pub fn seat(color: Color, name: &Markup, rest: &Markup) -> Markup {
    let color = color_name(color);
    html! {
        p.seat id={ "seat-" (color) } {
            span class={ "pip " (color) } {}
            (name)
            span.prisoners id={ "prisoners-" (color) } {}
            (rest)
        }
    }
}

/// Returns the scale of Black's win rate.
pub fn balance() -> Markup {
    html! {
        div.balance #balance hidden {
            div.scale aria-hidden="true" { i #balance-black {} }
            p { span #balance-rate {} span #balance-lead {} }
        }
    }
}

/// Returns the drawing of the tree. `editing` is below it.
pub fn tree(editing: &Markup) -> Markup {
    html! {
        article.card.tree #tree-card hidden {
            h2 data-text="tree" {}
            div.window #tree-window {
                div.space aria-hidden="true" {}
                svg #tree role="tree" tabindex="0" data-label="tree" aria-describedby="tree-keys" {}
            }
            p.hidden #tree-keys data-text="tree-keys" {}
            (editing)
        }
    }
}

/// Returns the judgement of the move that is shown. `first` is above it, and `rest` below.
pub fn verdict(first: &Markup, rest: &Markup) -> Markup {
    html! {
        article.card.verdict #verdict hidden {
            (first)
            h2.title #verdict-title {}
            p.loss #verdict-loss {}
            button.instead #verdict-line type="button" aria-pressed="false" hidden {}
            div.facts #verdict-facts {}
            (rest)
        }
    }
}

/// Returns the table of candidates with a heading. `rest` is below it.
pub fn candidates(heading: &Markup, rest: &Markup) -> Markup {
    html! {
        article.card.candidates #thoughts hidden {
            div.heading {
                (heading)
                label {
                    span.hidden data-text="labels" {}
                    select #labels data-hint="labels-hint" {
                        @for label in ["points", "rate", "visits", "letter"] {
                            @let name = format!("label-{label}");
                            option value=(label) data-text=(name) {}
                        }
                    }
                }
            }
            table #candidates {
                thead { tr {
                    th scope="col" { span.hidden data-text="show-line" {} }
                    th scope="col" data-text="move" {}
                    @for heading in ["black-wins", "lead", "visits"] {
                        th.number scope="col" data-text=(heading) {}
                    }
                } }
                tbody {}
            }
            p.faint #order hidden {}
            (rest)
        }
    }
}

/// Returns the curves of the win rate and of the lead.
pub fn curves() -> Markup {
    let curve = |id: &str, caption: &str, label: &str| {
        html! { figure {
            figcaption data-text=(caption) {}
            svg id=(id) role="img" data-label=(label) {}
        } }
    };
    html! {
        article.card.curves #curve hidden {
            (curve("chart-rate", "black-win-rate", "black-rate-curve"))
            (curve("chart-score", "lead-points", "lead-curve"))
        }
    }
}

/// Returns a problem made of a move that lost points.
pub fn problem() -> Markup {
    html! {
        article.card.problem #problem hidden {
            h2 #problem-title {}
            p #problem-words {}
            p #problem-result role="status" {}
            div.actions {
                (button("problem-retry", "problem-retry", None))
                button #problem-line type="button" data-text="show-line" aria-pressed="false" {}
                button.main #problem-next type="button" data-key="N" {}
                (button("problem-end", "problem-end", None))
            }
        }
    }
}

/// Returns the settings of appearance, and of sound if `has_sound` is set. `title` is the name of the heading's text.
pub fn appearance(title: &str, has_sound: bool) -> Markup {
    let switch = |name: &str, is_on: bool| {
        html! { label.switch { input type="checkbox" data-appearance=(name) checked[is_on]; (words(&format!("appearance-{name}"))) } }
    };
    let choice = |name: &str, values: &[&str]| {
        let options = html! { select data-appearance=(name) {
            @for value in values {
                @let name = format!("appearance-{value}");
                option value=(value) data-text=(name) {}
            }
        } };
        field(&format!("appearance-{name}"), &options)
    };
    html! {
        dialog #appearance-choice aria-labelledby="appearance-title" {
            form method="dialog" {
                h2 #appearance-title data-text=(title) {}
                div.fields {
                    (choice("wood", &["warm", "light", "slate"]))
                    (choice("stones", &["shaded", "flat"]))
                }
                (switch("coordinates", true))
                (switch("dots", true))
                (switch("colours", false))
                @if has_sound { (switch("sound", false)) }
                div.actions { button.main data-text="close" {} }
            }
        }
    }
}
