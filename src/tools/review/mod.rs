//! Reviews of recorded games: the loss of every move.
//!
//! *Record → [`MainLine`] → [`review`] { [`Analyst`] for each position } → [`Review`] → [`Reviewed`] → [`annotated`] record,
//! [`page`], [`json`].* No file is written and no clock is read here. The analyst is the engine, or a table in
//! tests. Its numbers come from [`search::Analysis`](kosumi_search::Analysis), as those of all protocols do.
//!
//! **Judgement of a move.** The position after it is searched like every other position of the game. The move is compared
//! with the *first choice*, the best move by the search of the position before. If the two differ by half of what makes
//! an inaccuracy or more, either way,
//! the position after the first choice gets a search of its own, as long as the other one. So two values of the
//! same kind are compared, and chance that made a move the first choice does not make the other a mistake.
//!
//! **Order.** Positions are searched from the last to the first. They share the engine's node table: when a position
//! is searched, the continuation that was played is known already. The contents of a node do not depend on the path to
//! it, so this is sound; see the invariants of [`search`](kosumi_search).
//!
//! **Chance.** Values have a standard error, which is measured in part: some positions are searched twice, see
//! [`Scatter`]. A move is called good unless its loss is at least 2.5 times the error of that loss. The error is that of
//! chance alone: the evaluator can be wrong about a position and sure of it.
//!
//! Uses `engine` and what is below it, `sgf` and `pages`.

mod analysis;
mod analyst;
mod annotate;
mod estimate;
mod facts;
mod json;
mod judge;
mod main_line;
mod packed;
mod page;
mod page_data;
mod reviewed;
mod run;
mod scatter;
mod summary;
#[cfg(test)]
mod tests;

pub use analysis::{Candidate, PositionReview};
pub use analyst::{Analyst, EngineAnalyst};
pub(crate) use annotate::continue_with;
pub use annotate::{Tried, annotated, annotated_with};
pub use estimate::Estimate;
pub use facts::{Facts, Given, sentence};
pub use json::json;
pub use judge::{Class, Judgement, Thresholds};
pub use main_line::{Change, MainLine, Step};
pub use packed::{Line, Numbers, owners, place};
pub use page::{live_page, page, served_page};
pub use reviewed::Reviewed;
pub use run::{Review, Scope, review};
pub use scatter::Scatter;
pub use summary::{PlayerSummary, accuracy};
