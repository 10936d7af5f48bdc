//! Putting together what batches lead to.

use super::totals::Stats;
use crate::collections::duplicates::Duplicates;
use crate::collections::examine::{self, Examined};
use crate::collections::pipeline::Work;
use crate::collections::reading::{Batch, Problem};
use kosumi_go::board::Key;
use serde::{Deserialize, Serialize};

/// What tells a game from others.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// Index in the batch.
    index: usize,
    identity: Key,
    plain: Key,
}

/// What a batch leads to.
pub fn work(batch: &Batch) -> Work<(Stats, Vec<Identity>)> {
    let mut stats = Stats::default();
    let mut identities = Vec::new();
    let mut problems = Vec::new();
    for (index, entry) in batch.entries.iter().enumerate() {
        match Examined::of(batch.bytes(entry), &[]) {
            Ok(examined) => {
                stats.add(batch, entry, &examined);
                let plain = examined.key.plain();
                identities.extend(examined.identity().map(|identity| Identity { index, identity, plain }));
            }
            Err(error) => problems.push(examine::problem(batch, entry, &error)),
        }
    }
    Work { result: (stats, identities), problems }
}

/// Collects what batches lead to.
#[derive(Debug, Default)]
pub struct Collector {
    /// What has been counted so far.
    pub stats: Stats,
    duplicates: Option<Duplicates>,
}

impl Collector {
    /// An empty one. Duplicates cost memory for every game.
    pub fn new(with_duplicates: bool) -> Collector {
        let mut collector = Collector::default();
        collector.stats.duplicates.searched = with_duplicates;
        collector.duplicates = with_duplicates.then(Duplicates::default);
        collector
    }

    /// Takes the result of the next batch.
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
