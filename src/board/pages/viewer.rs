//! Board that shows games move by move.

use super::components;
use super::page::Page;
use super::texts::{english, localized};
use kosumi_go::board::{BoardSize, Color, Move, Point};
use kosumi_go::handicap::star_points;
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

/// Game of the viewer.
#[derive(Clone, PartialEq, Debug)]
pub struct ViewedGame {
    /// Name of the game in the list.
    pub name: String,
    /// Board size.
    pub size: BoardSize,
    /// Stones before the first move.
    pub start: Vec<(Point, Color)>,
    /// Moves with their colour and the stones that they remove.
    pub moves: Vec<(Color, Move, Vec<Point>)>,
}

const SCRIPT: &str = include_str!("viewer.js");
const STYLE: &str = "\
.viewer { display: grid; grid-template-columns: minmax(0, 44rem) minmax(0, 1fr); gap: .6rem 1.6rem; align-items: start; }
.viewer select { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .3rem; width: 100%; min-height: 2.4rem; }
.viewer select[size] { max-height: 36rem; } .viewer option { padding: .3rem .4rem; }
@media (max-width: 60rem) { .viewer { grid-template-columns: minmax(0, 44rem); } .viewer label { order: -1; } }
.viewer #board { max-width: calc(80vh * var(--ratio)); } .viewer #slider { width: 100%; margin: .6rem 0; accent-color: var(--accent); }
.viewer .transport { grid-template-columns: 1fr 1fr minmax(5.5rem, auto) 1fr 1fr; }
";

/// Returns two letters from the top left, as in SGF, or `--` for a pass.
fn sgf_point(size: BoardSize, mv: Move) -> String {
    let Some(point) = mv.point() else { return "--".to_owned() };
    let letter = |number: usize| char::from(b'a' + number as u8);
    [letter(point.column()), letter(size.rows() - 1 - point.row())].iter().collect()
}

fn game_data(game: &ViewedGame) -> Value {
    let size = game.size;
    let at = |point: Point| sgf_point(size, Move::Play(point));
    let of = |color: Color| -> String {
        game.start.iter().filter(|stone| stone.1 == color).map(|stone| at(stone.0)).collect()
    };
    let letter = |color: Color| if color == Color::Black { "B" } else { "W" };
    let moves = game.moves.iter().map(|(color, mv, lifted)| {
        json!([
            letter(*color),
            sgf_point(size, *mv),
            lifted.iter().map(|&point| at(point)).collect::<String>()
        ])
    });
    json!({
        "name": game.name,
        "columns": size.columns(),
        "rows": size.rows(),
        "stars": star_points(size).into_iter().map(at).collect::<String>(),
        "start": [of(Color::Black), of(Color::White)],
        "moves": moves.collect::<Vec<Value>>(),
    })
}

/// Escapes JSON for a script element. Without `<`, no string in it can end the element.
pub fn embedded(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

impl Page {
    /// Adds a board that shows these games move by move. A page can have one viewer.
    pub fn viewer(&mut self, games: &[ViewedGame]) {
        if games.is_empty() {
            return;
        }
        let data = Value::from(games.iter().map(game_data).collect::<Vec<Value>>()).to_string();
        let script =
            [components::BOARD, components::texts(), components::LANGUAGE, components::PACKED, SCRIPT]
                .concat();
        self.enable_languages();
        self.style(components::STYLE);
        self.style(STYLE);
        self.allow_script(&script);
        self.add(markup());
        self.add(html! { script type="application/json" id="viewer-data" { (PreEscaped(embedded(&data))) } });
        self.add(html! { script { (PreEscaped(script)) } });
    }
}

fn markup() -> Markup {
    let button = |go: &str, label: &str, path: &str| {
        html! {
            button type="button" data-go=(go) aria-label=(english(label)) data-label=(label) title=(english(label)) data-hint=(label) {
                svg.icon viewBox="0 0 24 24" aria-hidden="true" { path d=(path) {} }
            }
        }
    };
    html! {
        noscript { p { (english("viewer-script")) } }
        div.viewer #viewer {
          div {
            svg #board role="img" aria-labelledby="board-title" { title #board-title {} }
            div.transport role="group" aria-label=(english("go-through")) data-label="go-through" {
                (button("first", "first", "M6 5v14M19 5L9 12l10 7z"))
                (button("-1", "back", "M16 5L7 12l9 7z"))
                output.counter #counter {}
                (button("1", "forward", "M8 5l9 7-9 7z"))
                (button("last", "last", "M18 5v14M5 5l10 7-10 7z"))
            }
            input #slider type="range" min="0" value="0" step="1" aria-label=(english("position")) data-label="position";
          }
          label { span.hidden { (localized("game")) } select #viewer-game {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_the_script() {
        let size = BoardSize::square(9).unwrap();
        let name = "</script><script>alert(1)</script>".to_owned();
        let moves = vec![(Color::Black, Move::Play(Point::new(2, 8)), vec![Point::new(0, 0)])];
        let mut page = Page::new("Games");
        page.viewer(&[ViewedGame { name, size, start: Vec::new(), moves }]);
        let text = page.to_string();
        assert_eq!(text.matches("<script").count(), 2, "the data and the viewer");
        assert!(text.contains("[\"B\",\"ca\",\"ai\"]"), "{text}");
        assert!(text.contains("script-src 'sha256-"));
    }
}
