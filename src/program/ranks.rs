//! What commands over many ranks have in common.

use anyhow::bail;
use kosumi_engine::{RankLink, processors};
use kosumi_tools::ranks::{ALONE, Part, World, is_one_of_many};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Does this process's part of a command: `part` is given the link and, on rank 0, where to note that a rank is gone. Waits
/// for the others at the end unless there is no sense in it.
///
/// # Errors
/// Of rank 0. On other ranks they are told here: a process that ends badly ends the others, and they may do without it.
pub(super) fn take_part<T>(
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
            // The others may wait for somebody who does not come.
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

/// Says so if this rank has fewer processors than threads: some launchers bind ranks to few of those that there are.
pub(super) fn check_processors(rank: usize, threads: usize) {
    let processors = thread::available_parallelism().map_or(threads, usize::from);
    if threads > processors {
        warn(&format!(
            "rank {rank} has {threads} threads on {processors} processors; mpirun --bind-to none gives it all of its machine"
        ));
    }
}

/// Does this process's part of a command whose work is spread in pieces, which are called this: alone, or on one of the ranks
/// that MPI has started. `None` on ranks that only worked for rank 0.
///
/// # Errors
/// Those of rank 0.
pub(super) fn spread<T>(
    piece: &'static str,
    run: impl FnOnce(Part) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    let Some((world, link)) = World::join()? else { return run(Part::Alone).map(Some) };
    take_part(world, link, |link, is_one_gone| {
        let Some(is_one_gone) = is_one_gone else { return run(Part::Other(link)) };
        let on_loss = move |rank: usize, pieces: usize| {
            is_one_gone.store(true, Ordering::Relaxed);
            note_loss(rank, pieces, piece);
        };
        run(Part::First(link, Box::new(on_loss)))
    })
}

/// How many threads a process has that is to have so many: by itself as many as there are processors; of many that share
/// machines only who starts them knows how many each should have, so one.
pub(super) fn threads(part: &Part, wanted: Option<usize>) -> usize {
    let all = match part {
        Part::Alone => processors(),
        _ => 1,
    };
    wanted.unwrap_or(all)
}

/// Refuses to do the same in many processes, all of which would write the same files.
///
/// # Errors
/// If this process is one of several that MPI has started.
pub(super) fn refuse_many() -> anyhow::Result<()> {
    if cfg!(feature = "mpi") && is_one_of_many() {
        let (name, off) = ALONE;
        bail!(
            "this command is not spread over ranks: start it once; with {name}={off} every process works by itself"
        );
    }
    Ok(())
}

/// Tells that a rank is gone, and how many pieces of work it had, which are called this.
pub(super) fn note_loss(rank: usize, pieces: usize, piece: &str) {
    let pieces = match pieces {
        0 => "it had nothing to do".to_owned(),
        1 => format!("its {piece} is given to another"),
        _ => format!("its {pieces} {piece}s are given to others"),
    };
    warn(&format!("rank {rank} is gone: {pieces}"));
}

/// Tells the person at the terminal.
pub(super) fn warn(text: &str) {
    // If nobody listens, work goes on all the same.
    let _ = writeln!(io::stderr(), "kosumi: {text}");
}
