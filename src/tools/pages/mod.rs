//! Pages to look at: one self-contained file each, without links to elsewhere.
//!
//! A [`Page`] is a title and sections; [`Table`] keeps columns and cells apart from their markup; [`Diagram`]
//! draws a board as SVG; [`pieces`] are the scripts of boards and curves that move;
//! [`words`] come from one table in every language. Everything is written with the templates of `maud`, which escape what is put
//! into them.
//!
//! Uses `board` and `handicap`.

mod diagram;
mod page;
pub mod pieces;
mod plots;
mod texts;
mod viewer;

pub use diagram::{Diagram, Mark, Tone};
pub use page::{Page, Table, TableCell, style};
pub use plots::{Columns, Shares};
pub use texts::{Words, english, has_words, words};
pub use viewer::{ViewedGame, embedded};
