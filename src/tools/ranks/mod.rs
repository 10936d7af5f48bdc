//! Ranks: processes of this program that MPI has started together, on one machine or many.
//!
//! ```text
//!  world.rs: who am I? ── mpi_link.rs: packets                    rank 0                      ranks 1, 2, …
//!                                                    Pieces ─▶ give.rs ──── talk.rs ────▶ work.rs ─▶ Pieces
//!                                                    results ◀─┘       ◀───────────────           └─ results
//! ```
//!
//! One search is spread by [`cluster`](kosumi_cluster). Here is how work is spread that comes in pieces which do not know
//! of each other, such as games: a piece is a number, and what comes of it are bytes. Rank 0 works, too, and writes all
//! files. Where results are wanted in the order of the pieces, or pieces have to be sent, `spread.rs` does all of it.
//!
//! Invariants (`give::tests`):
//! - a piece whose rank is lost is given to another, and what comes of a piece is taken once;
//! - rank 0 alone does all the work if nobody else does.
//!
//! Uses `cluster` and `engine` for what a link is.

mod give;
#[cfg(feature = "mpi")]
#[expect(unsafe_code, reason = "MPI is a library in C")]
mod mpi_link;
mod pieces;
mod spread;
mod talk;
mod work;
mod world;

pub use give::{Heard, give};
pub use pieces::Pieces;
pub use spread::{OnLoss, Pace, Part, in_order};
pub use work::{Told, work};
pub use world::{ALONE, World, is_one_of_many, work_alone};
