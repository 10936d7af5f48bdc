//! `kosumi solve`: exact answers about whole boards and about problems.

mod board;
mod problem;

use clap::{Args, Subcommand};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Solve boards and problems exactly
///
/// An answer is proven, or it is not given: what is not decided within the time, nodes and memory allowed is said
/// to be undecided.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The exact score of a whole board, and the moves that reach it
    Board(board::Arguments),
    /// What becomes of a group: alive, seki, dead, unsettled or ko
    Problem(problem::Arguments),
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.what {
        What::Board(arguments) => board::run(arguments),
        What::Problem(arguments) => problem::run(arguments),
    }
}

/// When to give up.
#[derive(Debug, Args)]
struct Limits {
    /// Time for each question, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::options::seconds)]
    time: Option<Duration>,
    /// Nodes for each question
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Memory for the table, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    memory: u32,
    /// Threads that search with one table
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

    /// Is it enough, or has ^C been pressed? Given the number of nodes so far.
    fn stop(&self, start: Instant, interrupted: &AtomicBool) -> impl Fn(u64) -> bool {
        let (time, most) = (self.time, self.nodes);
        move |nodes| {
            most.is_some_and(|most| nodes >= most)
                || time.is_some_and(|time| start.elapsed() >= time)
                || interrupted.load(Ordering::Relaxed)
        }
    }
}
