//! Writing of trees and games as SGF.

use super::tree::{NodeId, Property, Tree};
use crate::board::{BoardSize, Color};
use crate::game::{Game, MoveRecord};
use std::fmt;

/// Data of a written record besides the game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Meta {
    /// Black's name.
    pub black: Option<String>,
    /// White's name.
    pub white: Option<String>,
    /// Result, such as `B+2.5`, `W+R` or `0`.
    pub result: Option<String>,
    /// Date, such as `2026-11-21`.
    pub date: Option<String>,
    /// Comment on the game.
    pub comment: Option<String>,
}

/// Returns the game as an SGF file in UTF-8 that [`Record::parse`](super::Record::parse) reads back.
pub fn write(game: &Game, meta: &Meta) -> String {
    Tree::of_game(game, meta).to_string()
}

impl Tree {
    /// Creates a tree with the properties at the start of each file that Kosumi writes: format, game, character set,
    /// program, size.
    pub fn new(size: BoardSize) -> Tree {
        let mut tree = Tree::bare(size);
        let sides = if size.is_square() {
            size.columns().to_string()
        } else {
            format!("{}:{}", size.columns(), size.rows())
        };
        let root = tree.root();
        tree.at(root)
            .line("FF", "4")
            .line("GM", "1")
            .line("CA", "UTF-8")
            .line("AP", concat!("Kosumi:", env!("CARGO_PKG_VERSION")))
            .line("SZ", &sides);
        tree
    }

    /// Creates the record of a game: the root, then a node for every move. Move *n*, counted from 1, is node *n* of
    /// [`Tree::main_line`]. If the side to move does not follow from the last move, an additional node sets it.
    pub fn of_game(game: &Game, meta: &Meta) -> Tree {
        let mut tree = Tree::new(game.size());
        let root = tree.root();
        let mut node = tree.at(root).number("KM", game.komi());
        // A handicap without any stone would be read as a handicap on fixed points.
        let has_stones = game.start().stone_count() > 0;
        let has_handicap = game.handicap() > 0 && has_stones;
        if has_handicap || is_handicap_of_moves(game) {
            node = node.number("HA", game.handicap());
        } else if looks_like_handicap(game) {
            node = node.number("HA", 0);
        }
        let lost = |color| game.start().prisoners(color);
        if lost(Color::Black) + lost(Color::White) > 0 {
            node = node.line("KP", &format!("{}:{}", lost(Color::Black), lost(Color::White)));
        }
        node = node.line("RU", &game.rules().code_name());
        let facts = [("PB", &meta.black), ("PW", &meta.white), ("RE", &meta.result), ("DT", &meta.date)];
        for (name, fact) in facts {
            node = node.line(name, fact.as_deref().unwrap_or_default());
        }
        node = node.comment(meta.comment.as_deref().unwrap_or_default());
        for color in Color::BOTH {
            for (point, _) in game.start().stones().filter(|&(_, stone)| stone == color) {
                node = node.set_up(point, Some(color));
            }
        }
        let usual = if has_handicap { Color::White } else { Color::Black };
        if game.start_to_move() != usual {
            node.to_move(game.start_to_move());
        }
        let mut last = root;
        for record in game.records() {
            last = tree.add(last);
            tree.at(last).play(record.color, record.mv);
        }
        if game.records().last().is_some_and(|record| record.color == game.to_move()) {
            let turn = tree.add(last);
            tree.at(turn).to_move(game.to_move());
        }
        tree
    }
}

/// Returns whether the stones of the first position would be read as a handicap if the record did not specify one.
fn looks_like_handicap(game: &Game) -> bool {
    let start = game.start();
    start.stone_count() >= 2 && start.stones().all(|(_, color)| color == Color::Black)
}

/// Returns whether the first moves are exactly the handicap stones.
fn is_handicap_of_moves(game: &Game) -> bool {
    let is_stone = |record: &&MoveRecord| record.color == Color::Black && record.mv.point().is_some();
    let stones = game.records().iter().take_while(is_stone).count();
    game.start().stone_count() == 0 && stones >= 2 && stones == game.handicap() as usize
}

/// Length from which a line of the file is broken before the next node, in bytes.
const LINE_BYTES: usize = 60;

impl fmt::Display for Tree {
    /// Writes the tree as SGF in UTF-8.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        enum Todo {
            Line(NodeId),
            Variation(NodeId),
            Close,
        }
        f.write_str("(")?;
        let mut line = 0;
        let mut todo = vec![Todo::Line(self.root())];
        while let Some(next) = todo.pop() {
            let id = match next {
                Todo::Line(id) => id,
                Todo::Variation(id) => {
                    f.write_str("\n(")?;
                    line = 1;
                    id
                }
                Todo::Close => {
                    f.write_str(")")?;
                    continue;
                }
            };
            if line >= LINE_BYTES {
                f.write_str("\n")?;
                line = 0;
            }
            line += 1;
            f.write_str(";")?;
            for Property { name, values } in self.node(id).properties() {
                f.write_str(name)?;
                line += name.len();
                for value in values {
                    write!(f, "[{value}]")?;
                    line += value.len() + 2;
                }
            }
            if id == self.root() {
                line = LINE_BYTES;
            }
            match self.node(id).children() {
                [] => {}
                &[only] => todo.push(Todo::Line(only)),
                several => {
                    for &child in several.iter().rev() {
                        todo.extend([Todo::Close, Todo::Variation(child)]);
                    }
                }
            }
        }
        f.write_str(")\n")
    }
}
