//! Page of a game and its parts. The markup contains the keys of its texts.

use super::networks;
use crate::pages::{components, style as common_style};
use crate::review;
use maud::{DOCTYPE, Markup, html};

const SCRIPT: &str = include_str!("play.js");
const STYLE: &str = include_str!("play.css");

/// Content security policy of the page of a program: only resources of its server, and nothing inline.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What is behind a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageKind {
    /// A program, which serves the page.
    Program,
    /// A Web Worker. The page is a file beside its other files.
    Worker,
}

/// Returns the script of the page: `play.js`.
pub fn script(kind: PageKind) -> String {
    let (link, own) = match kind {
        PageKind::Program => (components::LINK, ""),
        PageKind::Worker => (components::WORKER_LINK, networks::SCRIPT),
    };
    components::UNCONNECTED_SCRIPTS.concat() + link + own + SCRIPT
}

/// Returns the style of the page: `play.css`.
pub fn style() -> String {
    [common_style(), components::STYLE, STYLE].concat()
}

/// Returns the policy of a page with a worker. A document that the page makes, such as a review, inherits the policy, so the
/// script of reviews and inline style are allowed.
fn worker_policy() -> String {
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {}; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
         worker-src 'self'; manifest-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'",
        review::script_source()
    )
}

fn button(id: &str, text: &str, key: Option<&str>) -> Markup {
    html! { button id=(id) type="button" data-text=(text) data-key=[key] {} }
}

/// Returns the markup of the page.
pub fn page(kind: PageKind) -> String {
    let is_file = kind == PageKind::Worker;
    markup(is_file).into_string()
}

fn markup(is_file: bool) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Kosumi" }
                @if is_file {
                    meta http-equiv="Content-Security-Policy" content=(worker_policy());
                    meta name="theme-color" content="#e9e2d3";
                    meta name="description" content="A board for the game Go (Weiqi, Baduk) that plays, teaches and reviews, without a server";
                    link rel="icon" href="icon.svg" type="image/svg+xml";
                    link rel="apple-touch-icon" href="icon-192.png";
                    link rel="manifest" href="manifest.webmanifest";
                } @else {
                    link rel="icon" href="data:,";
                }
                link rel="stylesheet" href="play.css";
                script src="play.js" defer {}
            }
            body.play {
                header {
                    h1 { "Kosumi" }
                    div.menu #menu role="group" data-label="menu" {
                        (button("new", "new", None))
                        button #more type="button" aria-expanded="false" aria-controls="menu" data-text="more" {}
                        button #load type="button" data-text="load" {}
                        input #file type="file" accept=".sgf,application/x-go-sgf" hidden;
                        (button("save", "save", None))
                        @if is_file {
                            (button("share", "share", None))
                            (button("games", "kept-games", None))
                            button #network type="button" data-text="choose-network" hidden {}
                        }
                        (button("players", "players", None))
                        (button("help", "help", Some("?")))
                        label { span.hidden data-text="language" {} select #language {} }
                    }
                }
                noscript { p { "This page needs JavaScript." } }
                p.note #connection role="alert" hidden {}
                main.review {
                    section.stage data-label="board" {
                        div.seats #seats { (seat("black")) (seat("white")) }
                        svg #board role="application" tabindex="0" aria-describedby="board-keys" { title #board-title {} }
                        p.hidden #board-keys data-text="board-keys" {}
                        (actions())
                        (transport())
                    }
                    section.side data-label="game" {
                        article.card.turn {
                            p #status role="status" {}
                            p #lead-words hidden {}
                            p.faint #facts {}
                            p.faint #reviewing hidden {}
                            p #reviewed hidden { a href="review" target="_blank" rel="noopener" data-text="open-review" {} }
                            table #count hidden { tbody {} }
                            div.balance #balance hidden {
                                div.scale aria-hidden="true" { i #balance-black {} }
                                p { span #balance-rate {} span #balance-lead {} }
                            }
                        }
                        article.card.candidates #thoughts hidden {
                            div.heading {
                                h2 data-text="best-moves" {}
                                label {
                                    span.hidden data-text="labels" {}
                                    select #labels data-hint="labels-hint" {
                                        @for label in ["points", "rate", "letter"] {
                                            option value=(label) data-text={ "label-" (label) } {}
                                        }
                                    }
                                }
                            }
                            table #candidates {
                                thead { tr {
                                    th { span.hidden data-text="show-line" {} }
                                    th data-text="move" {}
                                    th.number data-text="black-wins" {}
                                    th.number data-text="lead" {}
                                    th.number data-text="visits" {}
                                } }
                                tbody {}
                            }
                            p.faint #order hidden {}
                        }
                        article.card.curves #curve hidden {
                            figure { figcaption data-text="black-win-rate" {} svg #chart-rate role="img" data-label="black-win-rate" {} }
                        }
                        article.card.move-list #move-list hidden {
                            h2 data-text="moves" {}
                            ol #moves {}
                        }
                    }
                }
                p.hidden #say aria-live="assertive" {}
                (new_game())
                (players())
                (help(is_file))
                @if is_file { (share()) (games()) (networks::dialog()) }
            }
        }
    }
}

/// The link of a game.
fn share() -> Markup {
    html! {
        dialog #share-text aria-labelledby="share-title" {
            form method="dialog" {
                h2 #share-title data-text="share" {}
                p data-text="share-about" {}
                div.fields { (field("link", &html! { input #share-link type="text" readonly; })) }
                p #share-done role="status" {}
                div.actions {
                    button.main #share-copy type="button" data-text="copy" {}
                    button data-text="close" {}
                }
            }
        }
    }
}

/// The games that the browser keeps.
fn games() -> Markup {
    html! {
        dialog #kept-games aria-labelledby="games-title" {
            form method="dialog" {
                h2 #games-title data-text="kept-games" {}
                p data-text="games-about" {}
                ol.kept #kept-list {}
                div.actions { button.main data-text="close" {} }
            }
        }
    }
}

fn seat(color: &str) -> Markup {
    html! {
        p.seat id={ "seat-" (color) } {
            span class={ "pip " (color) } {}
            span.name id={ "name-" (color) } {}
            span.prisoners id={ "prisoners-" (color) } {}
            span.clock id={ "clock-" (color) } role="timer" {}
        }
    }
}

fn actions() -> Markup {
    html! {
        div.actions #playing role="group" data-label="actions" {
            (button("pass", "pass", Some("P")))
            (button("undo", "undo", Some("U")))
            (button("pause", "pause", None))
            (button("review", "review", None))
            (button("resign", "resign", None))
        }
        div.actions #marking role="group" data-label="actions" hidden {
            (button("settle", "settle", None))
            (button("resume", "resume", None))
        }
        div.actions #looking role="group" data-label="actions" hidden {
            (button("from-here", "from-here", None))
            (button("to-end", "to-end", None))
        }
        div.actions #confirming role="group" data-label="actions" hidden {
            (button("confirm", "confirm", None))
            (button("cancel", "cancel", None))
        }
        // The refusal stands where "Resign" was, so that a double click does not resign.
        div.actions #resigning role="group" data-label="resign-sure" hidden {
            (button("resign-now", "resign-now", None))
            (button("keep-playing", "keep-playing", None))
        }
        div.actions.advice role="group" data-label="best-moves" {
            (button("hint", "hint", Some("H")))
            button #estimate type="button" data-text="estimate" data-key="E" aria-pressed="false" {}
            button #analyse type="button" data-text="analyse" data-key="A" aria-pressed="false" {}
        }
    }
}

fn transport() -> Markup {
    let icon = |path: &str| html! { svg.icon viewBox="0 0 24 24" aria-hidden="true" { path d=(path) {} } };
    let button = |go: &str, label: &str, path: &str| {
        html! { button type="button" data-go=(go) data-label=(label) { (icon(path)) } }
    };
    html! {
        div.transport role="group" data-label="go-through" {
            (button("first", "first", "M6 5v14M19 5L9 12l10 7z"))
            (button("-1", "back", "M16 5L7 12l9 7z"))
            output.counter #counter {}
            (button("1", "forward", "M8 5l9 7-9 7z"))
            (button("last", "last", "M18 5v14M5 5l10 7-10 7z"))
        }
    }
}

fn field(text: &str, control: &Markup) -> Markup {
    html! { label.field { span data-text=(text) {} (control) } }
}

fn number(id: &str, value: &str, least: &str, most: &str, step: &str) -> Markup {
    html! { input id=(id) type="number" value=(value) min=(least) max=(most) step=(step) inputmode="decimal"; }
}

fn new_game() -> Markup {
    html! {
        dialog #new-game aria-labelledby="new-title" {
            form method="dialog" {
                h2 #new-title data-text="new-game" {}
                div.sizes role="group" data-label="size" {
                    @for size in ["9", "13", "19"] { button type="button" data-size=(size) aria-pressed="false" { (size) "×" (size) } }
                    label.field { span data-text="other-size" {} input #size type="text" value="9" inputmode="numeric" pattern="[0-9]{1,2}([x×][0-9]{1,2})?"; }
                }
                div.fields {
                    (field("black", &html! { select #black {} }))
                    (field("white", &html! { select #white {} }))
                    (field("handicap", &html! { select #handicap {} }))
                    (field("komi", &number("komi", "7.5", "-400", "400", "0.5")))
                    (field("rules", &html! { select #rules {} }))
                    (field("clock", &html! { select #clock {} }))
                    (field("main-time", &number("main", "10", "0", "600", "1")))
                    (field("increment", &number("increment", "10", "0", "600", "1")))
                    (field("periods", &number("periods", "5", "1", "100", "1")))
                }
                p.warn #new-trouble role="alert" hidden {}
                div.actions {
                    button.main #start value="start" data-text="start" {}
                    button value="cancel" formnovalidate data-text="cancel" {}
                }
            }
        }
    }
}

fn players() -> Markup {
    html! {
        dialog #seat-choice aria-labelledby="seat-title" {
            form method="dialog" {
                h2 #seat-title data-text="players" {}
                div.fields {
                    (field("black", &html! { select #seat-black-choice {} }))
                    (field("white", &html! { select #seat-white-choice {} }))
                }
                div.actions {
                    button.main #sit value="start" data-text="apply" {}
                    button value="cancel" data-text="cancel" {}
                }
            }
        }
    }
}

fn help(is_file: bool) -> Markup {
    let keys: [(&[&str], &str); 8] = [
        (&["←", "↑", "→", "↓"], "key-arrows"),
        (&["Enter"], "key-enter"),
        (&["P"], "key-pass"),
        (&["U"], "key-undo"),
        (&["H", "E", "A"], "key-help"),
        (&["Page Up", "Page Down", "Home", "End"], "key-moves"),
        (&["S"], "key-say"),
        (&["?"], "key-question"),
    ];
    html! {
        dialog #help-text aria-labelledby="help-title" {
            form method="dialog" {
                h2 #help-title data-text="help" {}
                p data-text=(if is_file { "help-about-worker" } else { "help-about" }) {}
                dl {
                    @for (names, text) in keys {
                        div { dt { @for name in names { kbd { (name) } " " } } dd data-text=(text) {} }
                    }
                }
                p.faint #version {}
                div.actions { button.main data-text="close" {} }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::has_words;

    #[test]
    fn the_page_holds_no_script_and_no_style_of_its_own() {
        for text in [page(PageKind::Program), page(PageKind::Worker)] {
            for piece in ["style=", "onclick", "<style", "javascript:", "http:", "https:"] {
                assert!(!text.contains(piece), "{piece}");
            }
            assert_eq!(text.matches("<script").count(), 1);
        }
    }

    #[test]
    fn every_name_of_a_text_has_words() {
        let text = page(PageKind::Worker);
        let names = ["data-text=\"", "data-label=\""].into_iter().flat_map(|mark| text.split(mark).skip(1));
        let names = names.map(|rest| rest.split('"').next().unwrap());
        for name in names {
            assert!(has_words(name), "{name}");
        }
    }
}
