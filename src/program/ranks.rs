//! Helpers of commands that are spread over MPI ranks.

use crate::terminal;
use anyhow::bail;
use kosumi_engine::{RankLink, processors};
use kosumi_tools::ranks::{DISABLE_RANKS, RankPart, World, is_rank};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Runs this rank's part of a command. `part` gets the link and, on rank 0, a flag to set when another rank is lost.
/// Waits for the other ranks at the end, unless a failure makes this impossible.
///
/// # Errors
///
/// Returns the error of rank 0. Other ranks only print their errors, because a rank that exits with a failure ends all
/// ranks, although rank 0 may be able to continue without it.
pub(super) fn run_rank<T>(
    world: World,
    link: RankLink,
    part: impl FnOnce(RankLink, Option<Arc<AtomicBool>>) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    let rank = world.rank();
    if rank == 0 {
        let is_one_gone = Arc::new(AtomicBool::new(false));
        let result = part(link, Some(Arc::clone(&is_one_gone)));
        if let Err(error) = &result {
            warn(&format!("{error:#}"));
        }
        if result.is_err() || is_one_gone.load(Ordering::Relaxed) {
            // The other ranks may be waiting for a lost rank, so this process cannot wait for them.
            let _ = io::stdout().flush();
            world.abort(result.is_ok());
        }
        world.end();
        return result.map(Some);
    }
    if let Err(error) = part(link, None) {
        warn(&format!("rank {rank}: {error:#}"));
    }
    world.end();
    Ok(None)
}

/// Warns if this rank has fewer processors than threads. Some launchers bind each rank to a few processors.
pub(super) fn check_processors(rank: usize, threads: usize) {
    let processors = thread::available_parallelism().map_or(threads, usize::from);
    if threads > processors {
        warn(&format!(
            "rank {rank} has {threads} threads on {processors} processors; mpirun --bind-to none lets it use the whole machine"
        ));
    }
}

/// Runs this process's part of a command whose work is distributed in pieces: alone, or on one of the MPI ranks.
/// `piece` is the name of a piece in messages. Returns `None` on all ranks but rank 0.
///
/// # Errors
///
/// Returns the error of rank 0.
pub(super) fn run_distributed<T>(
    piece: &'static str,
    run: impl FnOnce(RankPart) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    let Some((world, link)) = World::join()? else { return run(RankPart::Alone).map(Some) };
    run_rank(world, link, |link, is_one_gone| {
        let Some(is_one_gone) = is_one_gone else { return run(RankPart::Other(link)) };
        let on_loss = move |rank: usize, pieces: usize| {
            is_one_gone.store(true, Ordering::Relaxed);
            note_loss(rank, pieces, piece);
        };
        run(RankPart::First(link, Box::new(on_loss)))
    })
}

/// Returns the number of threads of this process: the wanted number, or else the number of processors for a single
/// process and 1 for a rank. Ranks may share machines, and only the user knows how many threads each may use.
pub(super) fn threads(part: &RankPart, wanted: Option<usize>) -> usize {
    let all = match part {
        RankPart::Alone => processors(),
        _ => 1,
    };
    wanted.unwrap_or(all)
}

/// Refuses to run a command in several processes, all of which would write the same files.
///
/// # Errors
///
/// Returns an error if this process is one of several MPI ranks.
pub(super) fn refuse_mpi() -> anyhow::Result<()> {
    if cfg!(feature = "mpi") && is_rank() {
        let (name, off) = DISABLE_RANKS;
        bail!(
            "this command does not support MPI: start it once, or set {name}={off} for independent processes"
        );
    }
    Ok(())
}

/// Warns that a rank is lost. `pieces` is the number of pieces of work that it had, and `piece` the name of one.
pub(super) fn note_loss(rank: usize, pieces: usize, piece: &str) {
    let pieces = match pieces {
        0 => "it had no work".to_owned(),
        1 => format!("its {piece} is reassigned"),
        _ => format!("its {pieces} {piece}s are reassigned"),
    };
    warn(&format!("rank {rank} is lost: {pieces}"));
}

/// Writes a warning to the standard error.
pub(super) fn warn(text: &str) {
    // A closed standard error must not stop the work.
    let _ = writeln!(terminal::stderr(), "kosumi: {text}");
}
