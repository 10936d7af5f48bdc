//! Pages to look at: one self-contained file each, without links to elsewhere.
//!
//! A [`Page`] is a title and sections; [`Table`] keeps columns and cells apart from their markup; [`Diagram`]
//! draws a board as SVG. Text from outside goes through [`escape`] on its way in, and nothing else does it.
//!
//! Uses `board` and `handicap`.

mod diagram;
mod page;

pub use diagram::{Diagram, Mark, Tone};
pub use page::{Page, Table, TableCell, escape};
