//! `kosumi solve`: exact solutions of whole boards and of problems.

mod board;
mod problem;

use clap::{Args, Subcommand};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Solve boards and problems exactly
///
/// Every answer is proven. A question that is not decided within the limits of time, nodes and memory is reported as
/// undecided.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    what: SolveCommand,
}

#[derive(Debug, Subcommand)]
enum SolveCommand {
    /// Compute the exact score of a whole board, and the moves that reach it
    Board(board::Arguments),
    /// Compute the status of a group: alive, seki, dead, unsettled or ko
    Problem(problem::Arguments),
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.what {
        SolveCommand::Board(arguments) => board::run(arguments),
        SolveCommand::Problem(arguments) => problem::run(arguments),
    }
}

/// Limits of the search.
#[derive(Debug, Args)]
struct Limits {
    /// Maximum time per question, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::options::seconds)]
    time: Option<Duration>,
    /// Maximum nodes per question
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Memory for the transposition table, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    memory: u32,
    /// Number of threads that share the transposition table
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
}

impl Limits {
    fn bytes(&self) -> usize {
        (self.memory as usize).saturating_mul(1 << 20)
    }

    fn threads(&self) -> usize {
        usize::from(self.threads)
    }

    /// Returns a function that decides, from the number of nodes so far, whether a limit is reached or ^C was pressed.
    fn stop_condition(&self, start: Instant, interrupted: &AtomicBool) -> impl Fn(u64) -> bool {
        let (time, most) = (self.time, self.nodes);
        move |nodes| {
            most.is_some_and(|most| nodes >= most)
                || time.is_some_and(|time| start.elapsed() >= time)
                || interrupted.load(Ordering::Relaxed)
        }
    }
}
