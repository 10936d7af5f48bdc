//! Set of processes that MPI has started together with this one.

use anyhow::bail;
use kosumi_engine::RankLink;
use std::env;
use std::fmt;
use std::process::Command;

/// Environment variable, and the value with which every process works alone.
pub const DISABLE_RANKS: (&str, &str) = ("KOSUMI_RANKS", "off");

/// Environment variables with the number of processes: Open MPI's `mpirun`; MPICH and Intel MPI; Slurm's `srun`. The
/// second variable must be set as well, because it shows that the processes can find each other.
const SIZES: [(&str, &str); 3] =
    [("OMPI_COMM_WORLD_SIZE", ""), ("PMI_SIZE", ""), ("SLURM_NTASKS", "PMIX_RANK")];

/// Returns whether an MPI launcher has started this process together with others.
pub fn is_rank() -> bool {
    is_one_of_many_in(&|name| env::var(name).ok())
}

fn is_one_of_many_in(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let is_many = |name| variable(name).and_then(|size| size.parse().ok()).is_some_and(|size: u32| size > 1);
    variable(DISABLE_RANKS.0).as_deref() != Some(DISABLE_RANKS.1)
        && SIZES
            .iter()
            .any(|&(size, beside)| is_many(size) && (beside.is_empty() || variable(beside).is_some()))
}

/// Makes a child process work alone if this process is a rank. Otherwise it would inherit the environment that
/// identifies the rank.
pub fn disable_ranks_in(command: &mut Command) {
    if is_rank() {
        command.env(DISABLE_RANKS.0, DISABLE_RANKS.1);
    }
}

/// All processes that MPI has started together. It must be ended by the thread that created it.
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
    /// Joins the other processes, and returns the link to them. Returns `None` if this process was started alone.
    ///
    /// # Errors
    ///
    /// Returns an error if this program was built without MPI, or if MPI fails.
    #[cfg(feature = "mpi")]
    pub fn join() -> anyhow::Result<Option<(World, RankLink)>> {
        use mpi::environment::Threading;
        if !is_rank() {
            return Ok(None);
        }
        // One thread at a time calls MPI, but not always the same one.
        let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Serialized) else {
            bail!("MPI is already initialised");
        };
        if threading < Threading::Serialized {
            bail!("this MPI library does not support threads");
        }
        let link = super::mpi_link::MpiLink::open()?;
        let (rank, ranks) = {
            use kosumi_cluster::Link;
            (link.rank(), link.ranks())
        };
        Ok(Some((World { rank, ranks, universe }, Box::new(link))))
    }

    /// Returns `None` if this process was started alone. Otherwise returns an error, because this program was built
    /// without MPI.
    #[cfg(not(feature = "mpi"))]
    pub fn join() -> anyhow::Result<Option<(World, RankLink)>> {
        if is_rank() {
            let (name, off) = DISABLE_RANKS;
            bail!(
                "started as one of several processes, but built without MPI: cargo build --release --features mpi; \
                 with {name}={off} every process works alone"
            );
        }
        Ok(None)
    }

    /// Returns the rank of this process.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of processes.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Waits until all ranks have ended. The link must have been dropped before.
    pub fn end(self) {
        #[cfg(feature = "mpi")]
        drop(self.universe);
    }

    /// Ends all ranks including this one without waiting. Used when a rank will not end by itself.
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
        // A single process with and without a launcher, a task of a Slurm array, and an engine started by a rank.
        assert!(!in_environment(&[]));
        assert!(!in_environment(&[("OMPI_COMM_WORLD_SIZE", "1")]));
        assert!(!in_environment(&[("SLURM_NTASKS", "8")]));
        assert!(!in_environment(&[("OMPI_COMM_WORLD_SIZE", "4"), DISABLE_RANKS]));
    }
}
