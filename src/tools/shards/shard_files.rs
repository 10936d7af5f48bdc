//! Numbered shards in a folder.

use crate::files::{create_folders, disk, write_atomically_with};
use crate::training::Shard;
use anyhow::Context;
use kosumi_go::rng::Rng;
use std::path::{Path, PathBuf};

/// Folder with the shards `prefix-00000.npz` and so on. A file under its final name is complete, so programs may read
/// shards while another one is written.
#[derive(Debug)]
pub struct ShardFiles {
    folder: PathBuf,
    prefix: &'static str,
    next: u32,
    count: u32,
    bytes: u64,
}

impl ShardFiles {
    /// Creates the folder if it is missing.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created.
    pub fn new(folder: &Path, prefix: &'static str) -> anyhow::Result<ShardFiles> {
        create_folders(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
        Ok(ShardFiles { folder: folder.to_owned(), prefix, next: 0, count: 0, bytes: 0 })
    }

    /// Returns the path of the first shard if it exists.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be found out whether the shard exists.
    pub fn first(&self) -> anyhow::Result<Option<PathBuf>> {
        let path = self.path(0);
        let exists = disk::exists(&path).with_context(|| format!("cannot find {}", path.display()))?;
        Ok(exists.then_some(path))
    }

    /// Returns the number of shards written.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the size of the shards written, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn path(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{}-{number:05}.npz", self.prefix))
    }

    /// Sets the number of the next shard. An existing shard with this number will be overwritten.
    pub fn set_next(&mut self, number: u32) {
        self.next = number;
    }

    /// Shuffles a shard, writes it to a file, and empties it.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails.
    pub fn write(&mut self, shard: &mut Shard, rng: &mut Rng) -> anyhow::Result<()> {
        let path = self.path(self.next);
        let wrong = || format!("cannot write {}", path.display());
        shard.shuffle(rng);
        write_atomically_with(&path, |file| shard.write(file).map(|_| ())).with_context(wrong)?;
        self.bytes += disk::length(&path).with_context(wrong)?;
        self.next += 1;
        self.count += 1;
        *shard = Shard::new();
        Ok(())
    }
}
