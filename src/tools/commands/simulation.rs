//! Simulation of GTP sessions against a plain model of the game. `session_model` describes the sessions and what is
//! checked. The disk is simulated, so that files cost no time.

use super::session_model::{Choices, run};
use crate::files::{SimulatedDisk, write_atomically};
use crate::simulation::{Counts, run_seeds};
use kosumi_go::rng::Rng;
use std::path::Path;

/// Choices that follow from a seed, for a number of commands.
struct Seeded {
    rng: Rng,
    commands: u32,
}

impl Choices for Seeded {
    fn below(&mut self, bound: u32) -> u32 {
        self.rng.below(bound)
    }

    fn is_spent(&mut self) -> bool {
        self.commands = self.commands.saturating_sub(1);
        self.commands == 0
    }

    fn allows_threads(&self) -> bool {
        false
    }
}

#[test]
fn sessions_agree_with_a_plain_model() {
    let simulate = |seed, counts: &mut Counts| {
        let disk = SimulatedDisk::new(seed);
        let store = |path: &Path, text: &str| write_atomically(path, text).expect("a disk without faults");
        let mut rng = Rng::new(seed);
        let commands = 10 + rng.below(80);
        for (what, count) in run(&mut Seeded { rng, commands }, disk.root(), store) {
            counts.add(what, count);
        }
    };
    let Some(counts) = run_seeds("commands::simulation", 200, simulate) else { return };
    for what in [
        "refused",
        "legal moves",
        "forbidden moves",
        "retaken kos",
        "own moves",
        "choices",
        "undone",
        "analysed",
        "reports",
        "cancelled",
        "simple ko",
        "superko",
        "set up",
        "handicaps",
        "saved",
        "loaded",
        "written records",
        "known scores",
        "scores",
    ] {
        assert!(counts.of(what) > 0, "{what}: {counts:?}");
    }
}
