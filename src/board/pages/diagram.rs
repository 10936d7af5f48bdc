//! Diagrams of boards as SVG without scripts. The distance between neighbouring points is one unit.

use crate::words::color_name;
use kosumi_go::board::{Board, Color, Point};
use kosumi_go::handicap::star_points;
use maud::{Markup, Render, html};

/// Style of diagrams, which [`Page::diagram_style`](super::Page::diagram_style) adds.
pub(super) const STYLE: &str = include_str!("diagram.css");

/// Meaning of a mark, which determines its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tone {
    /// Neither good nor bad.
    #[default]
    Neutral,
    /// Correct or wanted.
    Good,
    /// Wrong or refused.
    Bad,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Tone::Neutral => "",
            Tone::Good => " good",
            Tone::Bad => " bad",
        }
    }
}

/// Mark on a point, above its stone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mark {
    /// A ring.
    Circle,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
    /// A diagonal cross.
    Cross,
    /// Letter, number, or other short text.
    Label(String),
}

/// Diagram of a position. [`Render`] writes the SVG.
#[derive(Clone, Debug)]
pub struct Diagram<'a> {
    board: &'a Board,
    title: String,
    stones: Vec<(Point, Color)>,
    marks: Vec<(Point, Mark, Tone)>,
    shades: Vec<(Point, f32)>,
}

impl<'a> Diagram<'a> {
    /// Creates a diagram of a board, with coordinates. `title` is the text for screen readers.
    pub fn new(board: &'a Board, title: &str) -> Diagram<'a> {
        let title = title.to_owned();
        Diagram { board, title, stones: Vec::new(), marks: Vec::new(), shades: Vec::new() }
    }

    /// Draws a stone that is not on the board, such as a proposed move.
    #[must_use]
    pub fn stone(mut self, point: Point, color: Color) -> Diagram<'a> {
        self.stones.push((point, color));
        self
    }

    /// Draws a mark.
    #[must_use]
    pub fn mark(mut self, point: Point, mark: Mark, tone: Tone) -> Diagram<'a> {
        self.marks.push((point, mark, tone));
        self
    }

    /// Shades a point by its ownership, from −1 for White to +1 for Black. Values near 0 are not shown.
    #[must_use]
    pub fn shade(mut self, point: Point, owner: f32) -> Diagram<'a> {
        self.shades.push((point, owner.clamp(-1.0, 1.0)));
        self
    }

    /// Returns the centre of a point in the picture, whose y axis points down.
    fn middle(&self, point: Point) -> (usize, usize) {
        (point.column() + 1, self.board.size().rows() - point.row())
    }

    fn color_at(&self, point: Point) -> Option<Color> {
        let proposed = self.stones.iter().rev().find(|stone| stone.0 == point).map(|stone| stone.1);
        proposed.or_else(|| self.board.cell(point).color())
    }

    /// Returns the CSS class of the stone on a point.
    fn stone_class(&self, point: Point) -> Option<&'static str> {
        self.color_at(point).map(color_name)
    }

    fn mark_shape(&self, point: Point, mark: &Mark, tone: Tone) -> Markup {
        let (x, y) = self.middle(point);
        let path = |steps: &str| format!("M{x} {y}m{steps}");
        let class = format!("mark{}", tone.class());
        match mark {
            Mark::Circle => html! { circle class=(class) cx=(x) cy=(y) r=".27" {} },
            Mark::Square => html! { path class=(class) d=(path("-.24-.24h.48v.48h-.48z")) {} },
            Mark::Triangle => html! { path class=(class) d=(path("0-.32l.28.48h-.56z")) {} },
            Mark::Cross => html! { path class=(class) d=(path("-.24-.24l.48.48m0-.48l-.48.48")) {} },
            Mark::Label(text) => {
                let stone = self.stone_class(point);
                let on = stone.map(|stone| format!(" on-{stone}")).unwrap_or_default();
                html! {
                    // The disc hides the lines of the board behind the text.
                    @if stone.is_none() { circle class="wood" cx=(x) cy=(y) r=".4" {} }
                    text class={ "label" (tone.class()) (on) } x=(x) y=(y) { (text) }
                }
            }
        }
    }

    /// Returns a square whose size grows with the ownership of the point; `None` for a neutral point.
    fn shade_shape(&self, point: Point, owner: f32) -> Option<Markup> {
        let side = owner.abs() * 0.6;
        if side < 0.05 {
            return None;
        }
        let (x, y) = self.middle(point);
        let [x, y, side] =
            [x as f32 - side / 2.0, y as f32 - side / 2.0, side].map(|number| format!("{number:.2}"));
        let class = color_name(if owner > 0.0 { Color::Black } else { Color::White });
        Some(html! { rect class=(class) x=(x) y=(y) width=(side) height=(side) {} })
    }

    fn coordinates(&self) -> Markup {
        let (columns, rows) = (self.board.size().columns(), self.board.size().rows());
        let letter = |column: usize| Point::new(column, 0).to_string().chars().next().unwrap_or_default();
        html! {
            @for column in 0..columns {
                @for y in [0, rows + 1] { text class="coordinate" x=(column + 1) y=(y) { (letter(column)) } }
            }
            @for row in 0..rows {
                @for x in [0, columns + 1] { text class="coordinate" x=(x) y=(rows - row) { (row + 1) } }
            }
        }
    }
}

impl Render for Diagram<'_> {
    fn render(&self) -> Markup {
        let size = self.board.size();
        let (columns, rows) = (size.columns(), size.rows());
        let (width, height) = (columns + 2, rows + 2);
        let across = (1..=rows).map(|row| format!("M1 {row}H{columns}"));
        let down = (1..=columns).map(|column| format!("M{column} 1V{rows}"));
        let grid: String = across.chain(down).collect();
        let stars = star_points(size).into_iter().map(|point| self.middle(point));
        let stones = size.points().filter_map(|point| Some((self.middle(point), self.stone_class(point)?)));
        html! {
            svg.diagram role="img" viewBox={ "-.5 -.5 " (width) " " (height) } {
                title { (self.title) }
                rect class="wood" x="-.5" y="-.5" width=(width) height=(height) rx=".2" {}
                path class="grid" d=(grid) {}
                @for (x, y) in stars { circle class="star" cx=(x) cy=(y) r=".1" {} }
                (self.coordinates())
                @for ((x, y), class) in stones { circle class=(class) cx=(x) cy=(y) r=".47" {} }
                @for &(point, owner) in &self.shades {
                    @if let Some(shade) = self.shade_shape(point, owner) { (shade) }
                }
                @for (point, mark, tone) in &self.marks { (self.mark_shape(*point, mark, *tone)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(svg: &str, what: &str) -> usize {
        svg.matches(what).count()
    }

    #[test]
    fn every_stone_is_drawn_at_its_place() {
        let board: Board = ". . X\n. O .".parse().unwrap();
        let svg = Diagram::new(&board, "two stones").render().into_string();
        assert!(svg.contains("viewBox=\"-.5 -.5 5 4\""), "{svg}");
        assert!(svg.contains("<circle class=\"black\" cx=\"3\" cy=\"1\""), "{svg}");
        assert!(svg.contains("<circle class=\"white\" cx=\"2\" cy=\"2\""), "{svg}");
        assert_eq!(count(&svg, "class=\"black\"") + count(&svg, "class=\"white\""), 2, "{svg}");
        assert_eq!(count(&svg, ">C</text>"), 2, "coordinates on both sides: {svg}");
        assert_eq!(count(&svg, ">D</text>"), 0, "{svg}");
    }

    #[test]
    fn marks_lie_over_stones_and_carry_their_tone() {
        let board: Board = "X .\n. O".parse().unwrap();
        let at = Point::new;
        let svg = Diagram::new(&board, "<marks>")
            .stone(at(1, 1), Color::White)
            .mark(at(1, 1), Mark::Circle, Tone::Bad)
            .mark(at(0, 1), Mark::Label("1".into()), Tone::Neutral)
            .mark(at(0, 0), Mark::Label("<".into()), Tone::Good)
            .shade(at(1, 0), 1.0)
            .shade(at(0, 0), 0.01)
            .render()
            .into_string();
        assert!(svg.contains("<title>&lt;marks&gt;</title>"));
        assert_eq!(count(&svg, "<circle class=\"white\""), 2);
        assert!(svg.contains("<circle class=\"mark bad\" cx=\"2\" cy=\"1\""), "{svg}");
        assert!(svg.contains("<text class=\"label on-black\" x=\"1\" y=\"1\">1</text>"), "{svg}");
        assert!(svg.contains("<text class=\"label good\" x=\"1\" y=\"2\">&lt;</text>"), "{svg}");
        assert_eq!(count(&svg, "<rect class=\"black\""), 1, "an owner near 0 is not shown: {svg}");
        assert!(svg.find("class=\"white\"") < svg.find("class=\"mark"), "{svg}");
    }
}
