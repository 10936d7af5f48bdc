//! MPI ranks: processes of this program that are started together, on one machine or several.
//!
//! ```text
//!  world.rs: own rank ──── mpi_link.rs: packets                      rank 0                      ranks 1, 2, …
//!                                                    pieces.rs ─▶ lending.rs ── message.rs ──▶ work.rs ─▶ pieces.rs
//!                                                    results ◀────┘         ◀───────────────           └─ results
//! ```
//!
//! [`cluster`](kosumi_cluster) distributes a single search. This module distributes work that consists of independent
//! pieces, such as games. A piece is a number, and its result consists of bytes. Rank 0 works as well, and writes all
//! files. `in_order.rs` handles work whose results are needed in order, or whose pieces have contents.
//!
//! Invariants (tested in `lending::tests`):
//! - A piece of a lost rank is reassigned, and the result of a piece is taken once.
//! - Rank 0 does all the work if no other rank does.
//!
//! Uses `cluster` and `engine` for the definition of a link.

mod in_order;
mod lending;
mod message;
#[cfg(feature = "mpi")]
#[expect(unsafe_code, reason = "MPI is a library in C")]
mod mpi_link;
mod pieces;
mod work;
mod world;

pub use in_order::{OnLoss, PieceLength, RankPart, in_order};
pub use lending::{RankEvent, lend_pieces};
pub use pieces::PieceQueue;
pub use work::{WorkerMessage, serve_pieces};
pub use world::{DISABLE_RANKS, World, disable_ranks_in, is_rank};
