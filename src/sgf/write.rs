//! A game as SGF.

use crate::board::{BoardSize, Color, Move, Point};
use crate::game::Game;
use std::fmt::Write as _;

/// What a written record says besides the game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Meta {
    /// Black's name.
    pub black: Option<String>,
    /// White's name.
    pub white: Option<String>,
    /// The result, as `B+2.5`, `W+R` or `0`.
    pub result: Option<String>,
    /// The date, as `2026-11-21`.
    pub date: Option<String>,
    /// Comment on the game.
    pub comment: Option<String>,
}

/// The game as an SGF file in UTF-8 that [`Record::parse`](super::Record::parse) reads back.
pub fn write(game: &Game, meta: &Meta) -> String {
    let size = game.size();
    let mut out = String::from("(;FF[4]GM[1]CA[UTF-8]");
    property(&mut out, "AP", concat!("Kosumi:", env!("CARGO_PKG_VERSION")));
    if size.is_square() {
        property(&mut out, "SZ", &size.columns().to_string());
    } else {
        property(&mut out, "SZ", &format!("{}:{}", size.columns(), size.rows()));
    }
    property(&mut out, "KM", &game.komi().to_string());
    if game.handicap() > 0 {
        property(&mut out, "HA", &game.handicap().to_string());
    }
    property(&mut out, "RU", &escape(&game.rules().to_string()));
    let facts = [("PB", &meta.black), ("PW", &meta.white), ("RE", &meta.result), ("DT", &meta.date)];
    for (name, fact) in facts {
        if let Some(fact) = fact {
            property(&mut out, name, &escape(&fact.replace(['\n', '\r'], " ")));
        }
    }
    if let Some(comment) = &meta.comment {
        property(&mut out, "C", &escape(comment));
    }
    for (name, color) in [("AB", Color::Black), ("AW", Color::White)] {
        let mut stones = game.start().stones().filter(|&(_, stone)| stone == color).peekable();
        if stones.peek().is_some() {
            out.push_str(name);
            stones.for_each(|(point, _)| push_value(&mut out, size, point));
        }
    }
    let usual = if game.handicap() > 0 { Color::White } else { Color::Black };
    if game.start_to_move() != usual {
        property(&mut out, "PL", letter(game.start_to_move()));
    }
    for (index, record) in game.records().iter().enumerate() {
        out.push_str(if index % 10 == 0 { "\n;" } else { ";" });
        out.push_str(letter(record.color));
        match record.mv {
            Move::Play(point) => push_value(&mut out, size, point),
            Move::Pass => out.push_str("[]"),
        }
    }
    if let Some(last) = game.records().last()
        && game.to_move() == last.color
    {
        out.push(';');
        property(&mut out, "PL", letter(game.to_move()));
    }
    out.push_str(")\n");
    out
}

fn letter(color: Color) -> &'static str {
    match color {
        Color::Black => "B",
        Color::White => "W",
    }
}

fn property(out: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{name}[{value}]");
}

fn push_value(out: &mut String, size: BoardSize, point: Point) {
    let letter = |number: usize| char::from(b'a' + number as u8);
    let _ = write!(out, "[{}{}]", letter(point.column()), letter(size.rows() - 1 - point.row()));
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace(']', "\\]")
}
