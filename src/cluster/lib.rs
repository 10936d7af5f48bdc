//! One search over many ranks: processes on one machine or many, each with memory and evaluators of its own.
//!
//! ```text
//!                    rank 0                                rank 1, 2, …
//!   SearchContext ─▶ control.rs ─▶ visits of the root
//!                        ▲                  │
//!                        │            rank/ ▼    visits, travelling     rank/
//!   SearchReport ◀── the root,      node table  ◀────────────────────▶  node table
//!                    variations         │        what became of them        │
//!                                  evaluators                           evaluators
//! ```
//!
//! **The graph is one, its nodes are spread by their keys.** The rank that a key names keeps the node with its edges and
//! has it evaluated. For the nodes that its edges lead to on other ranks it has stand-ins: nodes without edges that have
//! the statistics of the real ones as they were last told. So a choice among moves is the same code as in a search of one
//! process, and needs no message. Visits then travel to where the next node lives, with the moves that they have come by;
//! legality is decided on that path, as everywhere.
//!
//! **Visits travel together.** The control sends as many as may be in progress to the root at once; there they are
//! divided among the moves, each chosen as if the ones before were descents in progress, and each part goes on together.
//! What became of them comes back in a few parts, too. Near the root, where all visits pass, there are thus few messages
//! about many visits, and no rank becomes hot.
//! CITE: Yoshizoe, Kishimoto, Kaneko, Yoshimoto and Ishikawa, "Scalable distributed Monte-Carlo tree search" (SoCS 2011), for
//! nodes that live where their hash says, visits that travel, and work that stays below as long as it can. Unlike there,
//! visits travel in numbers instead of one with the statistics of its path.
//!
//! **Nobody waits for a position.** Visits that come to a node that is being evaluated stay there, and go on when it has
//! its moves.
//!
//! Only searches by networks (PUCT) are spread. RAVE would have to carry every playout to every node of its path.
//!
//! Invariants (tests of these names in `cluster::tests`):
//! - one rank, one evaluator, one visit at a time: the report of [`Search`](kosumi_search::Search), bit for bit
//!   (`one_rank_is_the_search`);
//! - when a search is over, no visit is in progress anywhere, every node has as many visits as came to it, and on a tree
//!   the stand-ins are what they stand for (`sums_are_exact_over_ranks`; builds with assertions check it after every
//!   search, see `audit.rs`);
//! - nothing is evaluated that is illegal on its own path (`descents_over_ranks_are_legal`).

mod audit;
mod control;
mod drive;
mod link;
mod message;
mod position;
mod rank;
mod session;
pub mod simulation;
#[cfg(test)]
mod tests;
mod threads;
mod wire;

pub use control::Window;
pub use drive::{Cluster, Placement};
pub use link::{ClusterError, Link};
pub use threads::{ThreadLink, thread_links};
pub use wire::Malformed;
