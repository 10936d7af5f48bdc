//! A simulated disk in memory, whose failures follow from a seed.
//!
//! It guarantees what the manuals of `fsync` and `rename` guarantee, and no more:
//!
//! * Written bytes may be lost, completely or in part, unless the file was synchronised afterwards. The unit is a
//!   block. A lost block after the end of the old content reads as zeros.
//! * A synchronisation that succeeds after a failed one guarantees nothing about the blocks of the failed one.
//! * A new name, a rename and a removal may be lost unless the folder was synchronised afterwards; such changes to
//!   different files may be lost in any combination. A rename happens completely or not at all.
//! * Writes may be short or interrupted. A full disk or a failing device lasts for a number of operations.
//! * On a disk with such periods, reads, look-ups of a file, and listings of a folder fail as well, each by itself.
//!   Listings fail half-way, after some of the names.
//!
//! A disk stops at an operation that the [`Plan`] names: that operation happens in part, and all later ones fail.
//! [`SimulatedDisk::restart`] then leaves only what the disk kept. The time of a file is that of the last write in
//! virtual time, or the one that was set, and is kept with its content. Setting a time never fails, and permissions,
//! links and pipes are not simulated. An [`AtomicFile`](super::AtomicFile) that is dropped leaves its
//! unfinished file, as a killed process does.

use crate::simulation;
use kosumi_go::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Number of bytes that are kept or lost together.
const BLOCK: usize = 256;

/// Factor by which reads fail more often than periods of failures begin, because there are few reads.
const READ_TROUBLE: u32 = 4;

/// Event that stops a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// The machine loses its power, and the disk loses what was not synchronised.
    Power,
    /// The process is killed. The system keeps everything that was written.
    Process,
}

/// Faults of a disk until its next restart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Number of operations after which the disk stops.
    pub(crate) stop: Option<(u64, Stop)>,
    /// Operations per thousand at which a period of failures begins. Reads fail [`READ_TROUBLE`] times as often.
    pub(crate) trouble: u32,
    /// Writes per thousand that are short or interrupted.
    pub(crate) short: u32,
}

impl Plan {
    /// Draws a plan for a process of about `operations` operations: none, some or all kinds of faults.
    pub(crate) fn draw(rng: &mut Rng, operations: u32) -> Plan {
        let what = if rng.chance(700) { Stop::Power } else { Stop::Process };
        let stop = rng.chance(800).then(|| (u64::from(rng.below(operations)), what));
        let trouble = if rng.chance(300) { rng.below(50) } else { 0 };
        Plan { stop, trouble, short: if rng.chance(300) { 300 } else { 0 } }
    }
}

/// Kind of failure that lasts for a number of operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trouble {
    Full,
    Device,
    Synchronising,
    Renaming,
}

/// Kind of operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operation {
    Create,
    Write,
    SetLength,
    Sync,
    SyncFolder,
    Rename,
    Remove,
}

impl Trouble {
    fn error(self, operation: Operation) -> Option<io::Error> {
        use Operation::{Create, Rename, Sync, SyncFolder, Write};
        let hits = match self {
            Trouble::Full => matches!(operation, Create | Write | Sync),
            Trouble::Device => true,
            Trouble::Synchronising => matches!(operation, Sync | SyncFolder),
            Trouble::Renaming => operation == Rename,
        };
        hits.then(|| match self {
            Trouble::Full => io::Error::from(io::ErrorKind::StorageFull),
            _ => device_error(),
        })
    }
}

fn device_error() -> io::Error {
    io::Error::other("a simulated error of the device")
}

fn off() -> io::Error {
    io::Error::other("the simulated disk is off")
}

/// Change of a name since its folder was last synchronised.
#[derive(Clone, Debug)]
enum NameChange {
    Folder(PathBuf),
    Link(PathBuf, u64),
    Rename(PathBuf, PathBuf, u64),
    Unlink(PathBuf),
}

impl NameChange {
    /// Returns the folder whose synchronisation makes the change permanent.
    fn folder(&self) -> Option<&Path> {
        match self {
            NameChange::Folder(path) | NameChange::Link(path, _) | NameChange::Unlink(path) => path.parent(),
            NameChange::Rename(_, to, _) => to.parent(),
        }
    }
}

/// Names of files and folders.
#[derive(Clone, Debug, Default)]
struct Names {
    files: BTreeMap<PathBuf, u64>,
    folders: BTreeSet<PathBuf>,
}

impl Names {
    fn apply(&mut self, change: &NameChange) {
        match change {
            NameChange::Folder(path) => drop(self.folders.insert(path.clone())),
            NameChange::Link(path, file) => drop(self.files.insert(path.clone(), *file)),
            NameChange::Unlink(path) => drop(self.files.remove(path)),
            NameChange::Rename(from, to, file) => {
                self.files.remove(from);
                self.files.insert(to.clone(), *file);
            }
        }
    }

    /// Removes files and folders whose parent folders do not exist.
    fn remove_lost(&mut self, root: &Path) {
        let folders = self.folders.clone();
        let is_there = |path: &Path| {
            let parents = path.ancestors().skip(1).take_while(|parent| parent.starts_with(root));
            parents.into_iter().all(|parent| folders.contains(parent))
        };
        self.folders.retain(|folder| is_there(folder));
        self.files.retain(|file, _| is_there(file));
    }
}

/// Contents of a file.
#[derive(Debug)]
struct Content {
    /// Content that the process reads.
    bytes: Vec<u8>,
    /// Content that is certainly on the disk.
    kept: Vec<u8>,
    /// Blocks that the next synchronisation will bring to the disk.
    dirty: BTreeSet<usize>,
    /// Blocks whose synchronisation failed.
    doubtful: BTreeSet<usize>,
    is_locked: bool,
    /// Time of the last change, as the process reads it, and as it is certainly on the disk.
    modified: SystemTime,
    kept_modified: SystemTime,
}

impl Default for Content {
    fn default() -> Content {
        Content {
            bytes: Vec::new(),
            kept: Vec::new(),
            dirty: BTreeSet::new(),
            doubtful: BTreeSet::new(),
            is_locked: false,
            modified: simulation::date(),
            kept_modified: simulation::date(),
        }
    }
}

impl Content {
    fn write(&mut self, at: usize, bytes: &[u8]) {
        self.modified = simulation::date();
        let end = at + bytes.len();
        let old = self.bytes.len();
        if end > old {
            self.bytes.resize(end, 0);
        }
        self.bytes[at..end].copy_from_slice(bytes);
        // A gap before the written bytes is written as well.
        for block in at.min(old) / BLOCK..end.div_ceil(BLOCK) {
            self.dirty.insert(block);
            self.doubtful.remove(&block);
        }
    }

    fn set_length(&mut self, length: usize) {
        self.modified = simulation::date();
        self.bytes.resize(length, 0);
        for blocks in [&mut self.dirty, &mut self.doubtful] {
            blocks.retain(|block| block * BLOCK < length);
        }
    }

    fn keep(kept: &mut [u8], bytes: &[u8], block: usize) {
        let (from, to) = (block * BLOCK, ((block + 1) * BLOCK).min(bytes.len()).min(kept.len()));
        if from < to {
            kept[from..to].copy_from_slice(&bytes[from..to]);
        }
    }

    fn sync(&mut self) {
        self.kept.resize(self.bytes.len(), 0);
        for &block in &self.dirty {
            Content::keep(&mut self.kept, &self.bytes, block);
        }
        self.dirty.clear();
        self.kept_modified = self.modified;
    }

    fn sync_failed(&mut self) {
        self.doubtful.append(&mut self.dirty);
    }

    fn lose_power(&mut self, rng: &mut Rng) {
        let (least, most) = (self.kept.len().min(self.bytes.len()), self.kept.len().max(self.bytes.len()));
        let length = match rng.below(4) {
            0 => self.kept.len(),
            1 => self.bytes.len(),
            _ => least + rng.below((most - least) as u32 + 1) as usize,
        };
        self.kept.resize(length, 0);
        let share = [0, 500, 1000][rng.below(3) as usize];
        let blocks = std::mem::take(&mut self.dirty).into_iter().chain(std::mem::take(&mut self.doubtful));
        for block in blocks {
            if rng.chance(share) {
                Content::keep(&mut self.kept, &self.bytes, block);
            }
        }
        self.bytes = self.kept.clone();
        // A time that was not synchronised stays with the content.
        if share == 1000 {
            self.kept_modified = self.modified;
        }
        self.modified = self.kept_modified;
    }
}

#[derive(Debug)]
struct State {
    root: PathBuf,
    rng: Rng,
    /// Generator for reads, which therefore do not change what happens to writes.
    rng_of_reads: Rng,
    plan: Plan,
    /// Number of operations since the start.
    operations: u64,
    trouble: Option<(Trouble, u64)>,
    stopped: Option<Stop>,
    contents: BTreeMap<u64, Content>,
    names: Names,
    kept_names: Names,
    changes: Vec<NameChange>,
}

impl State {
    /// Begins an operation that changes nothing. It is not counted.
    fn begin_read(&mut self) -> io::Result<()> {
        if self.stopped.is_some() {
            return Err(off());
        }
        let fails = self.rng_of_reads.chance(READ_TROUBLE * self.plan.trouble);
        if fails { Err(device_error()) } else { Ok(()) }
    }

    /// Begins an operation that changes something. On failure returns the error, and whether the operation happens
    /// nevertheless, completely or in part.
    fn begin(&mut self, operation: Operation) -> Result<(), (io::Error, bool)> {
        if self.stopped.is_some() {
            return Err((off(), false));
        }
        let number = self.operations;
        self.operations += 1;
        if let Some((at, stop)) = self.plan.stop
            && number >= at
        {
            self.stopped = Some(stop);
            return Err((off(), self.rng.chance(500)));
        }
        if self.trouble.is_none_or(|(_, end)| number >= end) {
            self.trouble = self.rng.chance(self.plan.trouble).then(|| {
                let kinds = [Trouble::Full, Trouble::Device, Trouble::Synchronising, Trouble::Renaming];
                (kinds[self.rng.below(4) as usize], number + 1 + u64::from(self.rng.below(12)))
            });
        }
        match self.trouble.and_then(|(trouble, _)| trouble.error(operation)) {
            Some(error) => Err((error, self.rng.chance(300))),
            None => Ok(()),
        }
    }

    fn change(&mut self, operation: Operation, change: NameChange) -> io::Result<()> {
        let begun = self.begin(operation);
        if begun.as_ref().map_or_else(|(_, happens)| *happens, |()| true) {
            self.names.apply(&change);
            self.changes.push(change);
        }
        begun.map_err(|(error, _)| error)
    }

    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        let begun = self.begin(Operation::SyncFolder);
        if begun.as_ref().map_or_else(|(_, happens)| *happens, |()| true) {
            let is_here = |change: &NameChange| change.folder() == Some(folder);
            for change in self.changes.iter().filter(|change| is_here(change)) {
                self.kept_names.apply(change);
            }
            self.changes.retain(|change| !is_here(change));
        }
        begun.map_err(|(error, _)| error)
    }

    fn create(&mut self, path: &Path) -> io::Result<u64> {
        if !path.parent().is_some_and(|folder| self.names.folders.contains(folder)) {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        let file = self.contents.keys().next_back().map_or(0, |last| last + 1);
        self.contents.insert(file, Content::default());
        self.change(Operation::Create, NameChange::Link(path.to_owned(), file))?;
        Ok(file)
    }

    fn content(&mut self, file: u64) -> &mut Content {
        self.contents.entry(file).or_default()
    }

    fn write(&mut self, file: u64, at: usize, bytes: &[u8]) -> io::Result<usize> {
        let part = |rng: &mut Rng| rng.below(bytes.len() as u32 + 1) as usize;
        match self.begin(Operation::Write) {
            Err((error, happens)) => {
                if happens {
                    let count = part(&mut self.rng);
                    self.content(file).write(at, &bytes[..count]);
                }
                Err(error)
            }
            Ok(()) => {
                let mut count = bytes.len();
                if count > 0 && self.rng.chance(self.plan.short) {
                    count = part(&mut self.rng);
                    if count == 0 {
                        return Err(io::Error::from(io::ErrorKind::Interrupted));
                    }
                }
                self.content(file).write(at, &bytes[..count]);
                Ok(count)
            }
        }
    }

    fn set_length(&mut self, file: u64, length: usize) -> io::Result<()> {
        let begun = self.begin(Operation::SetLength);
        if begun.as_ref().map_or_else(|(_, happens)| *happens, |()| true) {
            self.content(file).set_length(length);
        }
        begun.map_err(|(error, _)| error)
    }

    fn sync(&mut self, file: u64) -> io::Result<()> {
        match self.begin(Operation::Sync) {
            Ok(()) => self.content(file).sync(),
            Err((error, true)) => {
                self.content(file).sync();
                return Err(error);
            }
            Err((error, false)) => {
                self.content(file).sync_failed();
                return Err(error);
            }
        }
        Ok(())
    }

    fn restart(&mut self, plan: Plan) {
        if self.stopped == Some(Stop::Power) {
            let share = [0, 500, 1000][self.rng.below(3) as usize];
            for change in std::mem::take(&mut self.changes) {
                if self.rng.chance(share) {
                    self.kept_names.apply(&change);
                }
            }
            self.kept_names.remove_lost(&self.root);
            self.names = self.kept_names.clone();
            let rng = &mut self.rng;
            self.contents.values_mut().for_each(|content| content.lose_power(rng));
        }
        self.contents.values_mut().for_each(|content| content.is_locked = false);
        (self.plan, self.operations, self.trouble, self.stopped) = (plan, 0, None, None);
    }
}

/// A simulated disk. Its files have paths below [`SimulatedDisk::root`], for all threads, until it is dropped.
#[derive(Debug)]
pub(crate) struct SimulatedDisk {
    shared: Shared,
    root: PathBuf,
}

/// All simulated disks, with their roots.
static DISKS: Mutex<Vec<(PathBuf, Shared)>> = Mutex::new(Vec::new());
static NEXT_DISK: AtomicU64 = AtomicU64::new(0);

impl SimulatedDisk {
    /// Creates an empty disk.
    pub(crate) fn new(seed: u64) -> SimulatedDisk {
        let root = PathBuf::from(format!("/simulated-disk-{}", NEXT_DISK.fetch_add(1, Ordering::Relaxed)));
        let names = Names { files: BTreeMap::new(), folders: BTreeSet::from([root.clone()]) };
        let state = State {
            root: root.clone(),
            rng: Rng::new(seed),
            rng_of_reads: Rng::for_worker(seed, 1),
            plan: Plan::default(),
            operations: 0,
            trouble: None,
            stopped: None,
            contents: BTreeMap::new(),
            names: names.clone(),
            kept_names: names,
            changes: Vec::new(),
        };
        let shared = Shared(Arc::new(Mutex::new(state)));
        DISKS.lock().unwrap_or_else(PoisonError::into_inner).push((root.clone(), shared.clone()));
        SimulatedDisk { shared, root }
    }

    /// Returns the root folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the event that stopped the disk, if there was one.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.shared.state().stopped
    }

    /// Restarts the disk. If there was a power cut, the disk loses what was not synchronised. No file may be open.
    pub(crate) fn restart(&self, plan: Plan) {
        self.shared.state().restart(plan);
    }

    /// Returns the content of a file.
    pub(crate) fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.shared.state();
        let file = state.names.files.get(path)?;
        Some(state.contents.get(file)?.bytes.clone())
    }
}

impl Drop for SimulatedDisk {
    fn drop(&mut self) {
        DISKS.lock().unwrap_or_else(PoisonError::into_inner).retain(|(root, _)| *root != self.root);
    }
}

/// Returns the simulated disk that contains this path, if there is one.
pub(super) fn mounted(path: &Path) -> Option<Shared> {
    let disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
    disks.iter().find(|(root, _)| path.starts_with(root)).map(|(_, disk)| disk.clone())
}

/// Simulated disk, shared by its open files. The functions are those of [`disk`](super::disk).
#[derive(Clone, Debug)]
pub(super) struct Shared(Arc<Mutex<State>>);

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, content: u64) -> File {
        File::Simulated(SimulatedFile { disk: self.clone(), content, position: 0, has_lock: false })
    }

    pub(super) fn open_or_create(&self, path: &Path) -> io::Result<File> {
        let mut state = self.state();
        let file = match state.names.files.get(path) {
            Some(&file) => file,
            None => state.create(path)?,
        };
        drop(state);
        Ok(self.open(file))
    }

    pub(super) fn open_to_read(&self, path: &Path) -> io::Result<File> {
        let mut state = self.state();
        state.begin_read()?;
        let &file = state.names.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        drop(state);
        Ok(self.open(file))
    }

    pub(super) fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        let mut state = self.state();
        state.begin_read()?;
        let &file = state.names.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(state.content(file).modified)
    }

    pub(super) fn create_new(&self, path: &Path) -> io::Result<File> {
        let mut state = self.state();
        if state.names.files.contains_key(path) {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        let file = state.create(path)?;
        drop(state);
        Ok(self.open(file))
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let &file = state.names.files.get(from).ok_or(io::ErrorKind::NotFound)?;
        state.change(Operation::Rename, NameChange::Rename(from.to_owned(), to.to_owned(), file))
    }

    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        if !state.names.files.contains_key(path) {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        state.change(Operation::Remove, NameChange::Unlink(path.to_owned()))
    }

    pub(super) fn create_folders(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let parents: Vec<&Path> = path.ancestors().filter(|parent| parent.starts_with(&state.root)).collect();
        for folder in parents.into_iter().rev() {
            if !state.names.folders.contains(folder) {
                state.change(Operation::Create, NameChange::Folder(folder.to_owned()))?;
            }
        }
        Ok(())
    }

    pub(super) fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.state().sync_folder(folder)
    }

    pub(super) fn is_folder(&self, path: &Path) -> bool {
        self.state().names.folders.contains(path)
    }

    pub(super) fn exists(&self, path: &Path) -> io::Result<bool> {
        let mut state = self.state();
        state.begin_read()?;
        Ok(state.names.folders.contains(path) || state.names.files.contains_key(path))
    }

    pub(super) fn length(&self, path: &Path) -> io::Result<u64> {
        let mut state = self.state();
        state.begin_read()?;
        let &file = state.names.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(state.content(file).bytes.len() as u64)
    }

    /// Returns the entries of a folder. If an entry is an error, the rest is missing.
    pub(super) fn names(&self, folder: &Path) -> Vec<io::Result<String>> {
        let mut state = self.state();
        let here = state.names.files.keys().filter(|path| path.parent() == Some(folder));
        let names = here.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let mut entries: Vec<io::Result<String>> = names.map(Ok).collect();
        if let Err(error) = state.begin_read() {
            entries.truncate(state.rng_of_reads.below(entries.len() as u32 + 1) as usize);
            entries.push(Err(error));
        }
        entries
    }
}

/// File of the file system or of a simulated disk, with those functions of [`fs::File`] that this crate uses.
#[derive(Debug)]
pub enum File {
    /// File of the file system.
    Real(fs::File),
    /// File of a simulated disk.
    Simulated(SimulatedFile),
}

/// Open file of a simulated disk.
#[derive(Debug)]
pub struct SimulatedFile {
    disk: Shared,
    content: u64,
    position: usize,
    has_lock: bool,
}

impl SimulatedFile {
    /// Returns the length in bytes.
    pub(super) fn length(&self) -> u64 {
        self.disk.state().content(self.content).bytes.len() as u64
    }

    /// Returns the time of the last change.
    pub(super) fn modified(&self) -> SystemTime {
        self.disk.state().content(self.content).modified
    }
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        if self.has_lock {
            self.disk.state().content(self.content).is_locked = false;
        }
    }
}

impl File {
    pub(super) fn set_len(&self, length: u64) -> io::Result<()> {
        match self {
            File::Real(file) => file.set_len(length),
            File::Simulated(file) => file.disk.state().set_length(file.content, length as usize),
        }
    }

    pub(super) fn sync_all(&self) -> io::Result<()> {
        match self {
            File::Real(file) => file.sync_all(),
            File::Simulated(file) => file.disk.state().sync(file.content),
        }
    }

    pub(super) fn sync_data(&self) -> io::Result<()> {
        match self {
            File::Real(file) => file.sync_data(),
            File::Simulated(file) => file.disk.state().sync(file.content),
        }
    }

    pub(super) fn set_permissions(&self, permissions: fs::Permissions) -> io::Result<()> {
        match self {
            File::Real(file) => file.set_permissions(permissions),
            File::Simulated(_) => Ok(()),
        }
    }

    pub(crate) fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        match self {
            File::Real(file) => file.set_modified(time),
            File::Simulated(file) => {
                file.disk.state().content(file.content).modified = time;
                Ok(())
            }
        }
    }

    pub(super) fn try_lock(&mut self) -> Result<(), TryLockError> {
        match self {
            File::Real(file) => file.try_lock(),
            File::Simulated(file) => {
                let mut state = file.disk.state();
                if std::mem::replace(&mut state.content(file.content).is_locked, true) {
                    return Err(TryLockError::WouldBlock);
                }
                file.has_lock = true;
                Ok(())
            }
        }
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            File::Real(file) => file.read(buffer),
            File::Simulated(file) => {
                let mut state = file.disk.state();
                // Once for a file, because a failed part makes the whole fail.
                if file.position == 0 {
                    state.begin_read()?;
                }
                let count = state
                    .content(file.content)
                    .bytes
                    .get(file.position..)
                    .unwrap_or_default()
                    .read(buffer)?;
                file.position += count;
                Ok(count)
            }
        }
    }
}

impl Write for File {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            File::Real(file) => file.write(buffer),
            File::Simulated(file) => {
                let count = file.disk.state().write(file.content, file.position, buffer)?;
                file.position += count;
                Ok(count)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            File::Real(file) => file.flush(),
            File::Simulated(_) => Ok(()),
        }
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            File::Real(file) => file.seek(to),
            File::Simulated(file) => {
                let place = match to {
                    SeekFrom::Start(place) => i128::from(place),
                    SeekFrom::End(offset) => i128::from(file.length()) + i128::from(offset),
                    SeekFrom::Current(offset) => file.position as i128 + i128::from(offset),
                };
                file.position = usize::try_from(place).map_err(|_| io::ErrorKind::InvalidInput)?;
                Ok(file.position as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::write_atomically;

    /// Writes `synced` and synchronises it, then appends `rest`, and loses power. Returns the content afterwards.
    fn after_power_loss(seed: u64, synced: &[u8], rest: &[u8]) -> Vec<u8> {
        let disk = SimulatedDisk::new(seed);
        let path = disk.root().join("file");
        let mut file = mounted(&path).unwrap().create_new(&path).unwrap();
        mounted(&path).unwrap().sync_folder(disk.root()).unwrap();
        file.write_all(synced).unwrap();
        file.sync_data().unwrap();
        file.write_all(rest).unwrap();
        drop(file);
        disk.shared.state().stopped = Some(Stop::Power);
        disk.restart(Plan::default());
        disk.read(&path).unwrap()
    }

    #[test]
    fn what_was_synchronised_stays_and_the_rest_is_torn() {
        let (synced, rest) = ([1; 700], [2; 1400]);
        let mut seen = [false; 4];
        for seed in 0..100 {
            let left = after_power_loss(seed, &synced, &rest);
            assert_eq!(left[..700], synced, "seed {seed}");
            assert_eq!(left, after_power_loss(seed, &synced, &rest), "the same seed");
            let tail = &left[700..];
            seen[0] |= tail.is_empty();
            seen[1] |= tail == rest;
            seen[2] |= !tail.is_empty() && tail.iter().all(|&byte| byte == 0);
            seen[3] |= tail.contains(&0) && tail.contains(&2);
        }
        assert_eq!(seen, [true; 4]);
    }

    #[test]
    fn a_file_that_is_replaced_is_the_old_or_the_new_one() {
        let mut seen = [0; 2];
        for seed in 0..200 {
            let disk = SimulatedDisk::new(seed);
            let path = disk.root().join("file");
            write_atomically(&path, "old").unwrap();
            let mut rng = Rng::new(seed);
            disk.restart(Plan { stop: Some((rng.below(6).into(), Stop::Power)), ..Plan::default() });
            let written = write_atomically(&path, "new").is_ok();
            assert_eq!(written, disk.stopped().is_none());
            disk.restart(Plan::default());
            let is_new = match disk.read(&path).unwrap().as_slice() {
                b"old" => false,
                b"new" => true,
                other => panic!("seed {seed}: {other:?}"),
            };
            assert!(is_new || !written, "seed {seed}");
            seen[usize::from(is_new)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
    }

    #[test]
    fn a_listing_that_fails_half_way_is_an_error() {
        let disk = SimulatedDisk::new(1);
        let names = ["a", "b", "c"];
        for name in names {
            write_atomically(&disk.root().join(name), "text").unwrap();
        }
        disk.restart(Plan { trouble: 100, ..Plan::default() });
        let mut counts = BTreeSet::new();
        for _ in 0..100 {
            let entries = mounted(disk.root()).unwrap().names(disk.root());
            let listed = entries.iter().filter(|entry| entry.is_ok()).count();
            counts.insert((listed, entries.len()));
            match crate::files::disk::names(disk.root()) {
                Ok(found) => assert_eq!(found, names),
                Err(error) => assert!(error.to_string().contains("simulated")),
            }
        }
        // Complete, or with an error after any number of names.
        assert_eq!(counts, BTreeSet::from([(3, 3), (0, 1), (1, 2), (2, 3), (3, 4)]));
    }

    #[test]
    fn other_paths_are_on_the_file_system() {
        let disk = SimulatedDisk::new(1);
        let path = disk.root().join("file");
        write_atomically(&path, "text").unwrap();
        assert!(!path.exists() && mounted(Path::new("/elsewhere")).is_none());
        drop(disk);
        assert!(mounted(&path).is_none());
    }
}
