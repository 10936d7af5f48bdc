//! Simulation of `kosumi review FOLDER` on a disk that fails and loses power.
//!
//! The log and the files of the games are the real ones. The disk and the reviews are simulated: a review is a text
//! that follows from the digest. Runs are stopped, killed, or end by a power cut. Between runs, users change settings
//! and records, and rename records, so that another game gets the names of the files. After each run:
//!
//! * a game that counts as finished has its files on the disk, whole, and with the texts of its digest;
//! * a game that was reported as reviewed counts as finished, unless its files were to be replaced since.

use super::*;
use crate::files::{Plan, SimulatedDisk, Stop};
use crate::simulation::{Counts, run_seeds};
use kosumi_board::review::PlayerEntry;
use kosumi_go::rng::Rng;

/// Number of runs with faults.
const RUNS: u32 = 8;
/// Extensions of the files of a game.
const EXTENSIONS: [&str; 2] = ["html", "json"];

/// Record of the simulated folder.
#[derive(Clone, Debug)]
struct Record {
    file: String,
    base: String,
    digest: String,
}

impl Record {
    fn game(&self) -> ReviewedGame<'_> {
        ReviewedGame { file: &self.file, game: 1, base: &self.base, digest: &self.digest }
    }

    fn entry(&self) -> GameEntry {
        GameEntry {
            file: self.file.clone(),
            game: 1,
            page: Some(format!("{}.html", self.base)),
            size: [9, 9],
            players: [PlayerEntry::default(), PlayerEntry::default()],
            result: Some(self.digest.clone()),
            date: None,
            moves: Vec::new(),
        }
    }

    fn files(&self, folder: &Path) -> Vec<(PathBuf, String)> {
        let text = |extension: &str| format!("{extension} {} {} ", self.file, self.digest).repeat(20);
        let file = |extension| (folder.join(format!("{}.{extension}", self.base)), text(extension));
        EXTENSIONS.into_iter().map(file).collect()
    }
}

struct Simulated<'c> {
    disk: SimulatedDisk,
    folder: PathBuf,
    records: Vec<Record>,
    /// Digests of the games that were reported as reviewed, by their files' names.
    reported: BTreeMap<String, (String, String)>,
    rng: Rng,
    counts: &'c mut Counts,
}

impl<'c> Simulated<'c> {
    fn new(seed: u64, counts: &'c mut Counts) -> Simulated<'c> {
        let mut rng = Rng::new(seed);
        let disk = SimulatedDisk::new(rng.next_u64());
        let folder = disk.root().join("reviews/of all");
        let record = |number: u32| {
            let base = format!("{}{number}.review", if number.is_multiple_of(2) { "below/" } else { "" });
            Record { file: format!("{number}.sgf"), base, digest: "0".to_owned() }
        };
        let records = (0..1 + rng.below(6)).map(record).collect();
        Simulated { disk, folder, records, reported: BTreeMap::new(), rng, counts }
    }

    /// Changes records and settings.
    fn change(&mut self) {
        // Settings that were there before may come back, and so may names.
        let digest = self.rng.chance(300).then(|| self.rng.below(3).to_string());
        for record in &mut self.records {
            if let Some(digest) = &digest {
                record.digest.clone_from(digest);
            }
            if self.rng.chance(100) {
                record.digest = self.rng.below(3).to_string();
            }
            if self.rng.chance(100) {
                let stem = record.file.trim_end_matches(".gz").to_owned();
                record.file = if stem == record.file { format!("{stem}.gz") } else { stem };
            }
        }
    }

    /// Reviews games until the process ends.
    fn live(&mut self, most: usize) -> anyhow::Result<()> {
        let mut reviews = ReviewFolder::open(&self.folder)?;
        for record in self.records.clone().iter().take(most) {
            let files = record.files(&self.folder);
            let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
            let (base, state) = (record.base.clone(), (record.file.clone(), record.digest.clone()));
            if let Some(entry) = reviews.finished(&record.game(), &paths)? {
                assert_eq!(entry, record.entry(), "the entry of the log");
                for (path, text) in &files {
                    let found =
                        self.disk.read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                    assert_eq!(found.as_ref(), Some(text), "{} of {record:?}", path.display());
                }
                // What a run has found stays.
                self.reported.insert(base, state);
                self.counts.add("finished before", 1);
                continue;
            }
            assert_ne!(self.reported.get(&base), Some(&state), "{record:?} was reported as reviewed");
            self.reported.remove(&base);
            let texts = files.iter().map(|(path, text)| (path.as_path(), text.as_str()));
            reviews.store(&record.game(), record.entry(), texts)?;
            self.reported.insert(base, state);
            self.counts.add("reviewed", 1);
        }
        Ok(())
    }

    fn run(&mut self) {
        for _ in 0..RUNS {
            let plan = Plan::draw(&mut self.rng, 50);
            let may_fail = plan.trouble > 0;
            self.disk.restart(plan);
            let most = self.rng.below(10) as usize;
            let result = self.live(most);
            let stopped = self.disk.stopped();
            self.counts.add("power cuts", u64::from(stopped == Some(Stop::Power)));
            self.counts.add("kills", u64::from(stopped == Some(Stop::Process)));
            if let (Err(error), None) = (&result, stopped) {
                assert!(may_fail, "{error:#}");
                self.counts.add("errors", 1);
            }
            self.disk.restart(Plan::default());
            if self.rng.chance(700) {
                self.change();
            }
        }
        self.live(usize::MAX).expect("a run without faults");
        self.live(usize::MAX).expect("a run without work");
        assert_eq!(self.reported.len(), self.records.len());
    }
}

#[test]
fn no_review_is_lost_and_none_is_another() {
    let simulate = |seed, counts: &mut Counts| Simulated::new(seed, counts).run();
    let Some(counts) = run_seeds("review_folder::simulation", 600, simulate) else { return };
    for what in ["power cuts", "kills", "errors", "reviewed", "finished before"] {
        assert!(counts.of(what) > 0, "{what}: {counts:?}");
    }
}
