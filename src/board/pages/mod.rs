//! HTML pages: self-contained files without external references.
//!
//! A [`Page`] has a title and sections. [`Table`] separates columns and cells from their markup. [`Diagram`] draws a
//! board as SVG. [`components`] has the scripts of interactive boards and curves, and [`study`] the parts that the page
//! of a game and the page of a review share. [`localized`] returns texts from a table with all languages. All markup is
//! written with the templates of `maud`, which escape their values.
//!
//! Uses `board` and `handicap`.

pub mod components;
mod diagram;
mod page;
mod plots;
pub mod study;
mod texts;
mod viewer;

pub use diagram::{Diagram, Mark, Tone};
pub use page::{Page, SortOrder, Table, TableCell, style};
pub use plots::{Columns, Shares};
pub use texts::{Text, english, files as texts_files, has_words, localized};
pub use viewer::{ViewedGame, embedded};
