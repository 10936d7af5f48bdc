#![doc = include_str!("README.md")]
//!
//! One search over many ranks: processes on one machine or many, each with memory and evaluators of its own.
//!
//! ```text
//!                    rank 0                                rank 1, 2, …
//!   SearchContext ─▶ control.rs ─▶ visits of the root
//!                        ▲                  │
//!                        │            rank/ ▼    visits, travelling     rank/
//!   SearchReport ◀── the root,      node table  ◀────────────────────▶  node table
//!                    variations         │        results of the visits      │
//!                                  evaluators                           evaluators
//! ```
//!
//! **One graph, with the nodes distributed by their keys.** The rank that a node's key names stores the node with its
//! edges and has it evaluated. For child nodes on other ranks, it has stand-ins: nodes without edges that hold the
//! latest statistics received from the real nodes. Selection is therefore the same code as in a search of one process,
//! and needs no message. Visits then travel to the rank of the next node, with the moves of their path. Legality is
//! decided on that path, as in every search.
//!
//! **Visits travel together.** The control sends all visits that may be in progress to the root at once. There they are
//! divided among the moves. Each is chosen as if the earlier ones were descents in progress, and the visits of one move
//! continue together. Their results also return in a few parts. Near the root, where all visits pass, few messages thus
//! carry many visits, and no rank becomes a bottleneck.
//! CITE: Yoshizoe, Kishimoto, Kaneko, Yoshimoto and Ishikawa, "Scalable distributed Monte-Carlo tree search" (SoCS
//! 2011), for nodes that are distributed by their hashes, visits that travel, and work that stays in the subtree as
//! long as possible. Unlike there, visits travel in groups instead of one by one with the statistics of the path.
//!
//! **No rank waits for a position.** Visits that come to a node under evaluation are stored there and continue when the
//! node has its moves.
//!
//! Only searches with networks (PUCT) are distributed. RAVE would have to carry every playout to every node of its
//! path.
//!
//! Invariants (tests of these names in `cluster::tests`):
//! - one rank, one evaluator, one visit at a time: the report of [`Search`](kosumi_search::Search), bit for bit
//!   (`one_rank_equals_search`);
//! - when a search is over, no visit is in progress anywhere, every node has counted each visit that came to it, and on
//!   a tree the stand-ins equal the nodes that they stand for (`sums_are_exact_over_ranks`; builds with assertions
//!   check the sums after every search, see `audit.rs`);
//! - nothing is evaluated that is illegal on its own path (`descents_over_ranks_are_legal`).

mod audit;
mod control;
mod drive;
mod link;
mod message;
mod position;
mod rank;
mod session;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
mod threads;
mod wire;

pub use control::VisitWindow;
pub use drive::{Cluster, Placement};
pub use link::{ClusterError, Link};
pub use threads::{ThreadLink, thread_links};
pub use wire::Malformed;
