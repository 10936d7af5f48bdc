//! Page of `kosumi play` and its parts. The markup contains the keys of its texts.

use super::http::Resource;
use crate::pages::{components, style};
use maud::{DOCTYPE, Markup, html};

const SCRIPT: &str = include_str!("play.js");
const STYLE: &str = include_str!("play.css");

/// Content security policy: only resources of this server, and nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns a part of the page by its path after the token.
pub(super) fn resource(place: &str) -> Option<Resource> {
    let resource = |kind, body| Some(Resource { kind, body, policy: POLICY.to_owned() });
    match place {
        "" => resource("text/html", page().into_string()),
        "play.js" => resource("text/javascript", components::SCRIPTS.concat() + SCRIPT),
        "play.css" => resource("text/css", [style(), components::STYLE, STYLE].concat()),
        _ => None,
    }
}

fn button(id: &str, text: &str, key: Option<&str>) -> Markup {
    html! { button id=(id) type="button" data-text=(text) data-key=[key] {} }
}

fn page() -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Kosumi" }
                link rel="icon" href="data:,";
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
                (help())
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

fn help() -> Markup {
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
                p data-text="help-about" {}
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
        let text = resource("").unwrap().body;
        for piece in ["style=", "onclick", "<style", "javascript:"] {
            assert!(!text.contains(piece), "{piece}");
        }
        assert_eq!(text.matches("<script").count(), 1);
        assert_eq!(resource("../Cargo.toml"), None);
        assert_eq!(resource("index.html"), None);
    }

    #[test]
    fn every_name_of_a_text_has_words() {
        let text = resource("").unwrap().body;
        let names = ["data-text=\"", "data-label=\""].into_iter().flat_map(|mark| text.split(mark).skip(1));
        let names = names.map(|rest| rest.split('"').next().unwrap());
        for name in names {
            assert!(has_words(name), "{name}");
        }
    }
}
