//! Page of a game and its parts. The markup contains the names of its texts.

use super::networks;
use crate::pages::study::{self, button, field};
use crate::pages::{components, style as common_style};
use crate::review;
use crate::words::color_name;
use kosumi_go::board::Color;
use maud::{DOCTYPE, Markup, html};

/// Scripts of the page in their order, after those that it shares with other pages. Each script has one purpose, and
/// the last one uses the others.
const SCRIPTS: [&str; 8] = [
    include_str!("hints.js"),
    include_str!("problems.js"),
    include_str!("worst.js"),
    include_str!("tsumego.js"),
    include_str!("capture.js"),
    include_str!("clocks.js"),
    include_str!("dialogs.js"),
    include_str!("play.js"),
];
const STYLE: &str = include_str!("play.css");

/// Content security policy of a page that a program serves: only resources of its server, and nothing inline.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Process behind a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageKind {
    /// A program, which also serves the page.
    Program,
    /// A Web Worker. The page is a static file, like the script of the worker.
    Worker,
}

/// Returns the script of the page: `play.js`.
pub fn script(kind: PageKind) -> String {
    let (link, own) = match kind {
        PageKind::Program => (components::LINK, ""),
        PageKind::Worker => (components::WORKER_LINK, networks::SCRIPT),
    };
    components::compact(
        &(components::board_scripts().concat() + &study::SCRIPTS.concat() + link + own + &SCRIPTS.concat()),
    )
}

/// Returns the style of the page: `play.css`.
pub fn style() -> String {
    components::compact_style(&[common_style(), components::STYLE, study::STYLE, STYLE].concat())
}

/// Returns the policy of a page with a worker. A document that the page creates, such as a review, inherits the policy,
/// so the script of reviews and inline styles are allowed.
fn worker_policy() -> String {
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {}; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
         worker-src 'self'; manifest-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'",
        review::script_source()
    )
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
            body.study.play {
                header {
                    h1 { "Kosumi" }
                    div.menu #menu role="group" data-label="menu" {
                        (button("new", "new", None))
                        button #more type="button" aria-expanded="false" aria-controls="menu" data-text="more" {}
                        button #load type="button" data-text="load" {}
                        input #file type="file" accept=".sgf,application/x-go-sgf" hidden;
                        (button("save", "save", None))
                        (button("tsumego", "tsumego", None))
                        @if is_file {
                            (button("share", "share", None))
                            (button("games", "kept-games", None))
                            button #network type="button" data-text="choose-network" hidden {}
                        }
                        (button("players", "players", None))
                        (button("appearance", "appearance", None))
                        (button("help", "help", Some("?")))
                        label { span.hidden data-text="language" {} select #language {} }
                    }
                }
                noscript { p { "This page needs JavaScript." } }
                p.note #connection role="alert" hidden {}
                main.review {
                    section.stage data-label="board" {
                        div.seats #seats { @for color in Color::BOTH { (seat(color)) } }
                        svg #board role="application" tabindex="0" aria-describedby="board-keys" { title #board-title {} }
                        p.hidden #board-keys data-text="board-keys" {}
                        (actions())
                        (study::transport(false))
                    }
                    section.side data-label="game" {
                        (study::problem())
                        (tsumego())
                        (capture())
                        article.card.turn {
                            p #status role="status" {}
                            p #lead-words hidden {}
                            p #hint-words hidden {}
                            (lesson())
                            p.faint #facts {}
                            p.judging #judging hidden { progress #judging-bar aria-labelledby="judging-words" {} span #judging-words {} }
                            p.faint #reviewing hidden {}
                            p #reviewed hidden { a href="review" target="_blank" rel="noopener" data-text="open-review" {} }
                            table #count hidden { tbody {} }
                            (study::balance())
                        }
                        (study::tree(&editing()))
                        (study::verdict(&html! {}, &html! {}))
                        (study::candidates(&html! { h2 data-text="best-moves" {} }, &html! {}))
                        (study::curves())
                        article.card.worst #worst hidden {
                            h2 data-text="worst-moves" {}
                            ol #worst-list {}
                            div.actions { button #again type="button" {} }
                        }
                        p.actions { button #due type="button" hidden {} (button("review-page", "review-page", None)) }
                    }
                }
                p.hidden #announcement aria-live="assertive" {}
                (new_game())
                (players())
                (tsumego_list())
                (study::appearance("appearance", true))
                (help(is_file))
                @if is_file { (share()) (games()) (networks::dialog()) }
            }
        }
    }
}

/// Returns the dialog with the link to a game.
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

/// Returns the list of the games that the browser stores.
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

fn seat(color: Color) -> Markup {
    let name = color_name(color);
    study::seat(
        color,
        &html! { span.name id={ "name-" (name) } {} },
        &html! { span.clock id={ "clock-" (name) } role="timer" {} },
    )
}

fn actions() -> Markup {
    html! {
        div.actions #playing role="group" data-label="actions" {
            (button("pass", "pass", Some("P")))
            (button("undo", "undo", Some("U")))
            (button("pause", "pause", None))
            button #review type="button" data-review="" {}
            (button("study", "study", None))
            (button("resign", "resign", None))
        }
        div.actions #studying role="group" data-label="actions" hidden {
            (button("study-pass", "pass", Some("P")))
            (button("answer", "answer-here", Some("K")))
            button #answers type="button" data-text="answers" data-hint="answers-hint" aria-pressed="false" {}
            button #study-review type="button" data-review="" {}
            (button("against", "against", None))
            (button("study-end", "study-end", None))
        }
        div.actions #marking role="group" data-label="actions" hidden {
            (button("settle", "settle", None))
            (button("resume", "resume", None))
        }
        div.actions #looking role="group" data-label="actions" hidden {
            (button("from-here", "from-here", None))
            (button("study-here", "study", None))
            (button("to-end", "to-end", None))
        }
        div.actions #confirming role="group" data-label="actions" hidden {
            (button("confirm", "confirm", None))
            (button("cancel", "cancel", None))
        }
        // The button that cancels replaces "Resign", so that a double click does not resign.
        div.actions #resigning role="group" data-label="resign-sure" hidden {
            (button("resign-now", "resign-now", None))
            (button("keep-playing", "keep-playing", None))
        }
        div.actions.advice role="group" data-label="best-moves" {
            (button("hint", "hint", Some("H")))
            button #estimate type="button" data-text="estimate" data-key="E" aria-pressed="false" {}
            button #analyse type="button" data-text="analyse" data-key="A" aria-pressed="false" {}
            button #teach type="button" data-text="teach" data-hint="teach-hint" data-key="T" aria-pressed="false" {}
        }
    }
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
                p.lesson { (button("capture-go", "capture-go", None)) " " span.faint data-text="capture-about" {} }
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

/// Returns the panel with the lesson about the latest move.
fn lesson() -> Markup {
    html! {
        div.lesson #lesson hidden {
            p #lesson-words {}
            div.actions {
                (button("take-back", "take-back", None))
                button #lesson-line type="button" data-text="show-line" aria-pressed="false" {}
            }
        }
    }
}

/// Returns the panel of a problem of life and death on the table.
fn tsumego() -> Markup {
    html! {
        article.card.problem #solving hidden {
            h2 #tsumego-title {}
            p #tsumego-words {}
            p.faint #tsumego-comment {}
            div.actions #goals role="group" data-label="tsumego-goal" hidden {
                (button("goal-live", "goal-live", None))
                (button("goal-kill", "goal-kill", None))
            }
            p #tsumego-result role="status" {}
            p.faint #tsumego-progress {}
            div.actions {
                (button("tsumego-retry", "problem-retry", None))
                (button("tsumego-show", "tsumego-show", None))
                (button("tsumego-previous", "tsumego-previous", None))
                (button("tsumego-next", "problem-next", None))
                button.main #tsumego-unsolved type="button" data-text="tsumego-unsolved" data-key="N" {}
                (button("tsumego-study", "study", None))
                (button("tsumego-end", "problem-end", None))
            }
        }
    }
}

/// Returns the dialog with the problems of a collection.
fn tsumego_list() -> Markup {
    html! {
        dialog #tsumego-list aria-labelledby="tsumego-list-title" {
            form method="dialog" {
                h2 #tsumego-list-title data-text="tsumego" {}
                p data-text="tsumego-about" {}
                p #tsumego-count role="status" {}
                ol.kept.tsumego #tsumego-items {}
                input #tsumego-file type="file" accept=".sgf,application/x-go-sgf" hidden;
                div.actions {
                    (button("tsumego-own", "tsumego-own", None))
                    (button("tsumego-open", "tsumego-open", None))
                    button.main data-text="close" {}
                }
            }
        }
    }
}

/// Returns the panel of the first lesson.
fn capture() -> Markup {
    html! {
        article.card.problem #capture hidden {
            h2 data-text="capture-go" {}
            p #capture-words {}
            div.actions {
                button.main #capture-again type="button" data-text="capture-again" {}
                (button("capture-end", "capture-end", None))
            }
        }
    }
}

/// Returns the buttons that change the tree, and the field with the comment of the node that is shown.
fn editing() -> Markup {
    html! {
        div.actions role="group" data-label="tree" {
            button #promote type="button" data-text="promote" data-hint="promote-hint" {}
            button #remove type="button" data-text="remove" data-hint="remove-hint" {}
            button #put-back type="button" data-text="put-back" data-hint="put-back-hint" {}
        }
        label.comment { span { span data-text="comment" {} " · " span #comment-of {} } textarea #comment rows="2" maxlength="20000" {} }
    }
}

fn help(is_file: bool) -> Markup {
    let keys: [study::KeyHelp; 8] = [
        (&["Enter"], "key-enter"),
        (&["P"], "key-pass"),
        (&["U"], "key-undo"),
        (&["H", "E", "A"], "key-help"),
        (&["T"], "key-teach"),
        (&["K"], "key-answer"),
        (&["C"], "key-comment"),
        (&["?"], "key-question"),
    ];
    html! {
        dialog #help-text aria-labelledby="help-title" {
            form method="dialog" {
                h2 #help-title data-text="help" {}
                p data-text=(if is_file { "help-about-worker" } else { "help-about" }) {}
                dl {
                    @for (names, text) in study::KEYS.into_iter().chain(keys) {
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
    fn scripts_are_small_and_complete() {
        for kind in [PageKind::Program, PageKind::Worker] {
            let script = script(kind);
            assert!(script.len() < 150_000, "{}", script.len());
            assert!(script.starts_with("\"use strict\";"));
            for name in [
                "class Board",
                "class GameTree",
                "class Problems",
                "class TsumegoGame",
                "class Dialogs",
                "class Link",
            ] {
                assert_eq!(script.matches(name).count(), 1, "{name}");
            }
            // `compact` would remove the indentation of a string that spans several lines.
            assert!(
                SCRIPTS.iter().chain(&study::SCRIPTS).flat_map(|module| module.lines()).all(|line| line
                    .matches('`')
                    .count()
                    % 2
                    == 0)
            );
        }
    }

    #[test]
    fn every_name_of_a_text_in_a_script_has_words() {
        let scripts = study::SCRIPTS.concat() + &SCRIPTS.concat();
        let names = scripts.split("text(\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        for name in names {
            assert!(has_words(name), "{name}");
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
