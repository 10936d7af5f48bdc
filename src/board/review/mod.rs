//! Reviews of recorded games: a judgement of every move.
//!
//! *Record → [`MainLine`] → [`review`] { [`Analyst`] for each position } → [`Review`] → [`Reviewed`] → [`annotated`]
//! record, [`page`], [`json`].* No file is written and no clock is read here. The analyst is the engine, or a table in
//! tests. Its numbers come from [`search::Analysis`](kosumi_search::Analysis), as in all protocols.
//!
//! **Judgement of a move.** The position after the move is searched like every other position of the game. The move is
//! compared with the *first choice*, the best move according to the search of the position before. If the two differ by
//! at least half of an inaccuracy, in either direction, the position after the first choice gets an equally long search
//! of its own. The two values then have the same quality, and the chance that made one move the first choice does not
//! turn the other move into a mistake.
//!
//! **Order.** Positions are searched from the last to the first. The searches share the engine's node table, so the
//! played continuation is already known when a position is searched. The contents of a node do not depend on the path
//! to it, so this is sound; see the invariants of [`search`](kosumi_search).
//!
//! **Chance.** Values have a standard error, part of which is measured: some positions are searched twice, see
//! [`Scatter`]. The values of neighbouring positions are reconciled (`reconcile.rs`), so that they agree with the
//! losses of the moves between them; the differences show how far searches stray. A move counts as good unless the 80 %
//! interval of its loss is above 0. If the evaluator misjudges a position consistently, none of this helps.
//!
//! Uses `engine` and the layers below it, `sgf` and `pages`.

mod analysis;
mod analyst;
mod annotate;
mod estimate;
mod explain;
mod facts;
mod games;
mod games_pages;
mod json;
mod judge;
mod life;
mod main_line;
mod packed;
mod page;
mod page_data;
mod rank;
mod reconcile;
mod reviewed;
mod run;
mod scatter;
mod summary;
#[cfg(test)]
mod tests;

pub use analysis::{Candidate, PositionReview};
pub use analyst::{Analyst, EngineAnalyst};
pub(crate) use annotate::{HEADING, without_ours};
pub use annotate::{TriedPosition, annotated, annotated_with};
pub use estimate::Estimate;
pub use explain::{FactKind, MoveFact};
pub(crate) use facts::move_sentence;
pub use facts::{Facts, ReviewParameters, sentence};
pub use games::{
    AccuracyInterval, FailedRecord, GameEntry, Games, MoveEntry, PlayerEntry, PlayerReport, ReportPart, Sums,
    WorstMove, review_digest,
};
pub use games_pages::{INDEX, MAX_REPORTS};
pub use json::json;
pub(crate) use judge::Comparison;
pub use judge::{Class, Judgement, Searched, Thresholds};
pub use main_line::{Change, MainLine, Step};
pub use packed::{JudgementData, Line, Numbers, owners, place};
pub use page::{live_page, page, script_source, served_page};
pub use rank::{PlayedMoves, RankEstimate, RankFeatures, rank_judge};
pub use reviewed::Reviewed;
pub use run::{Part, Review, Scope, review};
pub use scatter::Scatter;
pub use summary::{PlayerSummary, accuracy};
