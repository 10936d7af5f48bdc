//! The processes that MPI has started together, of which this is one.

use anyhow::bail;
use kosumi_engine::RankLink;
use std::env;
use std::fmt;
use std::process::Command;

/// A variable of the environment; `off` makes every process work by itself.
pub const ALONE: (&str, &str) = ("KOSUMI_RANKS", "off");

/// Where launchers say how many processes they have started: Open MPI's `mpirun`; MPICH's and Intel's; Slurm's `srun`,
/// with a variable beside it that says that the processes can find each other.
const SIZES: [(&str, &str); 3] =
    [("OMPI_COMM_WORLD_SIZE", ""), ("PMI_SIZE", ""), ("SLURM_NTASKS", "PMIX_RANK")];

/// Has a launcher of MPI programs started this process together with others?
pub fn is_one_of_many() -> bool {
    is_one_of_many_in(&|name| env::var(name).ok())
}

fn is_one_of_many_in(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let is_many = |name| variable(name).and_then(|size| size.parse().ok()).is_some_and(|size: u32| size > 1);
    variable(ALONE.0).as_deref() != Some(ALONE.1)
        && SIZES
            .iter()
            .any(|&(size, beside)| is_many(size) && (beside.is_empty() || variable(beside).is_some()))
}

/// Has a program that this process starts work by itself, if this is a rank: it inherits the environment by which MPI
/// tells its processes who they are.
pub fn work_alone(command: &mut Command) {
    if is_one_of_many() {
        command.env(ALONE.0, ALONE.1);
    }
}

/// All processes that MPI has started together. Must be ended by the thread that began it.
pub struct World {
    rank: usize,
    ranks: usize,
    #[cfg(feature = "mpi")]
    universe: mpi::environment::Universe,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "World(rank {} of {})", self.rank, self.ranks)
    }
}

impl World {
    /// Joins the others, and returns the way to them. `None` if this process was started alone.
    ///
    /// # Errors
    /// If this program was built without MPI, or MPI does not work.
    #[cfg(feature = "mpi")]
    pub fn join() -> anyhow::Result<Option<(World, RankLink)>> {
        use mpi::environment::Threading;
        if !is_one_of_many() {
            return Ok(None);
        }
        // One thread at a time talks, but not always the same.
        let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Serialized) else {
            bail!("MPI has been started before");
        };
        if threading < Threading::Serialized {
            bail!("this MPI library only works in programs with one thread");
        }
        let link = super::mpi_link::MpiLink::open()?;
        let (rank, ranks) = {
            use kosumi_cluster::Link;
            (link.rank(), link.ranks())
        };
        Ok(Some((World { rank, ranks, universe }, Box::new(link))))
    }

    /// The same without MPI.
    #[cfg(not(feature = "mpi"))]
    pub fn join() -> anyhow::Result<Option<(World, RankLink)>> {
        if is_one_of_many() {
            let (name, off) = ALONE;
            bail!(
                "started as one of several processes, but built without MPI: cargo build --release --features mpi; \
                 with {name}={off} every process works by itself"
            );
        }
        Ok(None)
    }

    /// This process.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// All processes.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Waits until all ranks have come to their end; the link must have been dropped.
    pub fn end(self) {
        #[cfg(feature = "mpi")]
        drop(self.universe);
    }

    /// Ends all ranks, this one too, without waiting for any: for who knows that one will not come to its end.
    pub fn abort(self, is_success: bool) -> ! {
        let code = i32::from(!is_success);
        #[cfg(feature = "mpi")]
        {
            super::mpi_link::abort(code);
            std::mem::forget(self.universe);
        }
        std::process::exit(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known() {
        let in_environment = |variables: &[(&str, &str)]| {
            let find = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
            is_one_of_many_in(&find)
        };
        assert!(in_environment(&[("OMPI_COMM_WORLD_SIZE", "4")]));
        assert!(in_environment(&[("PMI_SIZE", "2")]));
        assert!(in_environment(&[("SLURM_NTASKS", "8"), ("PMIX_RANK", "0")]));
        // Alone, by a launcher too; a task of an array; an engine that a rank has started.
        assert!(!in_environment(&[]));
        assert!(!in_environment(&[("OMPI_COMM_WORLD_SIZE", "1")]));
        assert!(!in_environment(&[("SLURM_NTASKS", "8")]));
        assert!(!in_environment(&[("OMPI_COMM_WORLD_SIZE", "4"), ALONE]));
    }
}
