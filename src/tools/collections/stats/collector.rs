//! Collection of the results of batches.

use super::totals::Stats;
use crate::collections::duplicates::Duplicates;
use crate::collections::examine::{self, ExaminedGame};
use crate::collections::pipeline::BatchResult;
use crate::collections::reading::{Batch, Problem};
use kosumi_go::board::Key;
use serde::{Deserialize, Serialize};

/// Keys that identify a game.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// Index of the game in the batch.
    index: usize,
    identity: Key,
    plain: Key,
}

/// Computes the statistics of a batch.
pub fn work(batch: &Batch) -> BatchResult<(Stats, Vec<Identity>)> {
    let mut stats = Stats::default();
    let mut identities = Vec::new();
    let mut problems = Vec::new();
    for (index, entry) in batch.entries.iter().enumerate() {
        match ExaminedGame::of(batch.bytes(entry), &[]) {
            Ok(examined) => {
                stats.add(batch, entry, &examined);
                let plain = examined.key.plain();
                identities.extend(examined.identity().map(|identity| Identity { index, identity, plain }));
            }
            Err(error) => problems.push(examine::problem(batch, entry, &error)),
        }
    }
    BatchResult { result: (stats, identities), problems }
}

/// Collector of the results of batches.
#[derive(Debug, Default)]
pub struct Collector {
    /// Statistics so far.
    pub stats: Stats,
    duplicates: Option<Duplicates>,
}

impl Collector {
    /// Creates an empty collector. The detection of duplicates takes memory for every game.
    pub fn new(with_duplicates: bool) -> Collector {
        let mut collector = Collector::default();
        collector.stats.duplicates.searched = with_duplicates;
        collector.duplicates = with_duplicates.then(Duplicates::default);
        collector
    }

    /// Adds the result of the next batch.
    pub fn add(
        &mut self,
        batch: &Batch,
        (partial, identities): (Stats, Vec<Identity>),
        problems: &[Problem],
    ) {
        self.stats.merge(partial);
        problems.iter().for_each(|problem| self.stats.add_problem(problem));
        let Some(duplicates) = &mut self.duplicates else { return };
        for Identity { index, identity, plain } in identities {
            let Some(entry) = batch.entries.get(index) else { continue };
            if let Some(original) = duplicates.check(entry.number, &entry.place, identity, plain) {
                self.stats.add_duplicate(&entry.place, &original);
            }
        }
    }
}
