//! `kosumi play` without its surroundings: the table, the engine's tasks, and the page.
//!
//! *Page → [`PageRequest`] → [`TableSession`] → state → all windows.* The pages do not know the rules of Go: they draw
//! the state and send the user's actions. The [`Host`] of a session provides the windows, the engines and the time. It
//! is a server with threads (`kosumi-tools`), or a Web Worker (`kosumi-web`).

mod judgements;
mod message;
mod networks;
mod page;
mod session;
mod share;
mod strength;
mod table;
mod task;
#[cfg(test)]
mod test_host;
mod tree;
mod tsumego;

pub use judgements::Judged;
pub use message::{
    ClockSettings, GameDetails, KnownNumbers, NewGame, PageRequest, PlayerKind, RestoredGame, file_bytes,
    parse_place,
};
pub use page::{POLICY, PageKind, page, script, style};
pub use session::{Host, TableSession, review_record};
pub use strength::Level;
pub use table::{BadRecord, Refusal};
pub use task::{ConfiguredEngine, EnginePurpose, MakeEngine, MoveEvaluation, Task, TaskResult, TaskRun};
pub use tsumego::{ProblemFound, ProblemGoal, ProblemTask};
