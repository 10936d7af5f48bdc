//! Selection of games, whose records are copied byte for byte.

use super::criteria::Criteria;
use super::duplicates::Duplicates;
use super::examine::{ExaminedGame, problem};
use super::output::Output;
use super::pipeline::BatchResult;
use super::reading::{Batch, Entry};
use kosumi_go::board::Key;
use kosumi_go::rng::Rng;
use kosumi_go::sgf::collection::MissingSyntax;
use kosumi_go::sgf::{Record, SgfError};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::ControlFlow;

/// Result of the conditions for a readable record.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FilterVerdict {
    /// Index of the record in the batch.
    index: usize,
    meets: bool,
    /// Keys for the detection of duplicates, if the game was replayed.
    keys: Option<(Key, Key)>,
}

/// Selection criteria for games.
#[derive(Clone, Debug)]
pub struct Filter {
    criteria: Criteria,
    /// Keys of the wanted position, under all symmetries.
    positions: Vec<Key>,
    /// Whether to take the games that do not meet the conditions.
    invert: bool,
    /// Maximum number of games to take.
    limit: u64,
}

impl Filter {
    /// Creates a filter that takes games that meet the conditions, or with `invert` those that do not, up to `limit`.
    ///
    /// # Errors
    ///
    /// Returns an error if the file of the wanted position cannot be read.
    pub fn new(criteria: Criteria, invert: bool, limit: Option<u64>) -> anyhow::Result<Filter> {
        let positions = criteria.position_keys()?;
        Ok(Filter { criteria, positions, invert, limit: limit.unwrap_or(u64::MAX) })
    }

    /// Evaluates the conditions for every readable record of a batch.
    pub fn judge(&self, batch: &Batch) -> BatchResult<Vec<FilterVerdict>> {
        let mut judged = Vec::new();
        let mut problems = Vec::new();
        for (index, entry) in batch.entries.iter().enumerate() {
            match self.judge_record(batch.bytes(entry), index, entry) {
                Ok(found) => judged.push(found),
                Err(error) => problems.push(problem(batch, entry, &error)),
            }
        }
        BatchResult { result: judged, problems }
    }

    fn judge_record(&self, bytes: &[u8], index: usize, entry: &Entry) -> Result<FilterVerdict, SgfError> {
        let record = Record::parse(bytes)?;
        let mut meets = self.criteria.match_record(&record);
        let mut keys = None;
        if meets && self.criteria.need_replay() {
            let examined = ExaminedGame::of_record(record, &self.positions)?;
            meets = self.criteria.match_replay(entry, &examined);
            keys = examined.identity().map(|identity| (identity, examined.key.plain()));
        }
        Ok(FilterVerdict { index, meets, keys })
    }
}

/// Uniform random sample of records.
///
/// CITE: Vitter, "Random sampling with a reservoir" (1985), algorithm R.
#[derive(Debug)]
struct Reservoir {
    size: u32,
    rng: Rng,
    seen: u32,
    records: Vec<(u64, Vec<u8>, MissingSyntax)>,
}

impl Reservoir {
    fn add(&mut self, number: u64, bytes: &[u8], missing: MissingSyntax) {
        self.seen = self.seen.saturating_add(1);
        let record = || (number, bytes.to_vec(), missing);
        if self.seen <= self.size {
            self.records.push(record());
        } else if let Some(slot) = self.records.get_mut(self.rng.below(self.seen) as usize) {
            *slot = record();
        }
    }
}

/// Output of the selected games.
pub struct Selection {
    filter: Filter,
    output: Output,
    duplicates: Duplicates,
    reservoir: Option<Reservoir>,
    matched: u64,
}

impl std::fmt::Debug for Selection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selection")
            .field("filter", &self.filter)
            .field("kept", &self.matched)
            .finish_non_exhaustive()
    }
}

impl Selection {
    /// Creates a selection without games. `sample` is the size and the seed of a random sample of the filtered games.
    /// If it is given, only the sample is written.
    pub fn new(filter: Filter, output: Output, sample: Option<(u32, u64)>) -> Selection {
        let reservoir =
            sample.map(|(size, seed)| Reservoir { size, rng: Rng::new(seed), seen: 0, records: Vec::new() });
        Selection { filter, output, duplicates: Duplicates::default(), reservoir, matched: 0 }
    }

    /// Adds the games of the next batch. Breaks when the limit is reached.
    ///
    /// # Errors
    ///
    /// Returns an error if the output cannot be written.
    pub fn add(&mut self, batch: &Batch, judged: Vec<FilterVerdict>) -> io::Result<ControlFlow<()>> {
        for FilterVerdict { index, mut meets, keys } in judged {
            if self.matched >= self.filter.limit {
                return Ok(ControlFlow::Break(()));
            }
            let Some(entry) = batch.entries.get(index) else { continue };
            if let Some((identity, plain)) = keys.filter(|_| meets && self.filter.criteria.unique) {
                meets = self.duplicates.check(entry.number, &entry.place, identity, plain).is_none();
            }
            if meets == self.filter.invert {
                continue;
            }
            self.matched += 1;
            match &mut self.reservoir {
                Some(reservoir) => reservoir.add(entry.number, batch.bytes(entry), entry.missing),
                None => self.output.write(batch.bytes(entry), entry.missing)?,
            }
        }
        Ok(if self.matched < self.filter.limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    /// Finishes the output. Returns the number of games that passed the filter, and the number of games written.
    ///
    /// # Errors
    ///
    /// Returns an error if the rest of the output cannot be written.
    pub fn finish(mut self) -> io::Result<(u64, u64)> {
        let mut written = self.matched;
        if let Some(mut reservoir) = self.reservoir {
            written = reservoir.records.len() as u64;
            reservoir.records.sort_by_key(|&(number, ..)| number);
            for (_, bytes, missing) in &reservoir.records {
                self.output.write(bytes, *missing)?;
            }
        }
        self.output.finish()?;
        Ok((self.matched, written))
    }
}
