//! A board as a picture: SVG that is drawn without scripts, one unit for each point.

use super::page::escape;
use crate::board::{Board, Color, Point};
use crate::handicap::star_points;
use std::fmt::{self, Write as _};

/// What a mark says: the class of its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tone {
    /// Neither good nor bad.
    #[default]
    Neutral,
    /// Right, wanted.
    Good,
    /// Wrong, refused.
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

/// What is drawn on a point, over its stone.
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
    /// A letter, a number, or another short text.
    Label(String),
}

/// A picture of a position in the making; [`Display`](fmt::Display) writes the SVG.
#[derive(Clone, Debug)]
pub struct Diagram<'a> {
    board: &'a Board,
    title: String,
    stones: Vec<(Point, Color)>,
    marks: Vec<(Point, Mark, Tone)>,
    shades: Vec<(Point, f32)>,
}

impl<'a> Diagram<'a> {
    /// The stones of a board, with coordinates. The title is what is read aloud instead of the picture.
    pub fn new(board: &'a Board, title: &str) -> Diagram<'a> {
        let title = title.to_owned();
        Diagram { board, title, stones: Vec::new(), marks: Vec::new(), shades: Vec::new() }
    }

    /// Draws a stone that is not on the board, such as a move that is only proposed.
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

    /// Shades a point for its owner: +1 for Black's, −1 for White's, nothing near 0.
    #[must_use]
    pub fn shade(mut self, point: Point, owner: f32) -> Diagram<'a> {
        self.shades.push((point, owner.clamp(-1.0, 1.0)));
        self
    }

    /// The middle of a point in the picture, whose rows run from the top.
    fn middle(&self, point: Point) -> (usize, usize) {
        (point.column() + 1, self.board.size().rows() - point.row())
    }

    fn color_at(&self, point: Point) -> Option<Color> {
        let proposed = self.stones.iter().rev().find(|stone| stone.0 == point).map(|stone| stone.1);
        proposed.or_else(|| self.board.cell(point).color())
    }

    fn draw_mark(&self, svg: &mut String, point: Point, mark: &Mark, tone: Tone) -> fmt::Result {
        let (x, y) = self.middle(point);
        let tone = tone.class();
        match mark {
            Mark::Circle => write!(svg, "<circle class=\"mark{tone}\" cx=\"{x}\" cy=\"{y}\" r=\".27\"/>"),
            Mark::Square => {
                write!(svg, "<path class=\"mark{tone}\" d=\"M{x} {y}m-.24-.24h.48v.48h-.48z\"/>")
            }
            Mark::Triangle => {
                write!(svg, "<path class=\"mark{tone}\" d=\"M{x} {y}m0-.32l.28.48h-.56z\"/>")
            }
            Mark::Cross => {
                write!(svg, "<path class=\"mark{tone}\" d=\"M{x} {y}m-.24-.24l.48.48m0-.48l-.48.48\"/>")
            }
            Mark::Label(text) => {
                let on = match self.color_at(point) {
                    Some(Color::Black) => " on-black",
                    Some(Color::White) => " on-white",
                    // The lines of the board would run through the text.
                    None => {
                        write!(svg, "<circle class=\"wood\" cx=\"{x}\" cy=\"{y}\" r=\".4\"/>")?;
                        ""
                    }
                };
                let text = escape(text);
                write!(svg, "<text class=\"label{tone}{on}\" x=\"{x}\" y=\"{y}\">{text}</text>")
            }
        }
    }
}

impl fmt::Display for Diagram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.board.size();
        let (columns, rows) = (size.columns(), size.rows());
        let mut svg = String::new();
        write!(
            svg,
            "<svg class=\"diagram\" role=\"img\" viewBox=\"-.5 -.5 {} {}\"><title>{}</title>\
             <rect class=\"wood\" x=\"-.5\" y=\"-.5\" width=\"{0}\" height=\"{1}\" rx=\".2\"/><path class=\"grid\" d=\"",
            columns + 2,
            rows + 2,
            escape(&self.title),
        )?;
        for row in 1..=rows {
            write!(svg, "M1 {row}H{columns}")?;
        }
        for column in 1..=columns {
            write!(svg, "M{column} 1V{rows}")?;
        }
        svg.push_str("\"/>");
        for point in star_points(size) {
            let (x, y) = self.middle(point);
            write!(svg, "<circle class=\"star\" cx=\"{x}\" cy=\"{y}\" r=\".1\"/>")?;
        }
        for column in 0..columns {
            let name = Point::new(column, 0).to_string();
            let (letter, x) = (&name[..1], column + 1);
            for y in [0, rows + 1] {
                write!(svg, "<text class=\"coordinate\" x=\"{x}\" y=\"{y}\">{letter}</text>")?;
            }
        }
        for row in 0..rows {
            let y = rows - row;
            for x in [0, columns + 1] {
                write!(svg, "<text class=\"coordinate\" x=\"{x}\" y=\"{y}\">{}</text>", row + 1)?;
            }
        }
        for point in size.points() {
            if let Some(color) = self.color_at(point) {
                let (x, y) = self.middle(point);
                let class = match color {
                    Color::Black => "black",
                    Color::White => "white",
                };
                write!(svg, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\".47\"/>")?;
            }
        }
        for &(point, owner) in &self.shades {
            let side = owner.abs() * 0.6;
            if side >= 0.05 {
                let (x, y) = self.middle(point);
                let (x, y) = (x as f32 - side / 2.0, y as f32 - side / 2.0);
                let class = if owner > 0.0 { "black" } else { "white" };
                write!(
                    svg,
                    "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{side:.2}\" height=\"{side:.2}\"/>"
                )?;
            }
        }
        for (point, mark, tone) in &self.marks {
            self.draw_mark(&mut svg, *point, mark, *tone)?;
        }
        svg.push_str("</svg>");
        f.write_str(&svg)
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
        let svg = Diagram::new(&board, "two stones").to_string();
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
            .to_string();
        assert!(svg.contains("<title>&lt;marks&gt;</title>"));
        assert_eq!(count(&svg, "<circle class=\"white\""), 2);
        assert!(svg.contains("<circle class=\"mark bad\" cx=\"2\" cy=\"1\""), "{svg}");
        assert!(svg.contains("<text class=\"label on-black\" x=\"1\" y=\"1\">1</text>"), "{svg}");
        assert!(svg.contains("<text class=\"label good\" x=\"1\" y=\"2\">&lt;</text>"), "{svg}");
        assert_eq!(count(&svg, "<rect class=\"black\""), 1, "an owner near 0 is not shown: {svg}");
        assert!(svg.find("class=\"white\"") < svg.find("class=\"mark"), "{svg}");
    }
}
