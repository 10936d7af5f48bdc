//! The numbered shards of a folder.

use crate::rng::Rng;
use crate::training::Shard;
use anyhow::Context;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// A folder that is filled with `prefix-00000.npz` and so on. A file under its final name is whole: programs may read
/// while another shard is written.
#[derive(Debug)]
pub(super) struct ShardFiles {
    folder: PathBuf,
    prefix: &'static str,
    next: u32,
    count: u32,
    bytes: u64,
}

impl ShardFiles {
    /// Makes the folder, if it is not there.
    pub(super) fn new(folder: &Path, prefix: &'static str) -> anyhow::Result<ShardFiles> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        Ok(ShardFiles { folder: folder.to_owned(), prefix, next: 0, count: 0, bytes: 0 })
    }

    /// The first shard, if it is there.
    pub(super) fn first(&self) -> Option<PathBuf> {
        Some(self.path(0)).filter(|path| path.exists())
    }

    /// Number of shards written.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Bytes of the shards written.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn path(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{}-{number:05}.npz", self.prefix))
    }

    /// The next shard gets this number, whether it is there or not.
    pub(super) fn go_on_at(&mut self, number: u32) {
        self.next = number;
    }

    /// Shuffles a shard, writes it and empties it.
    pub(super) fn write(&mut self, shard: &mut Shard, rng: &mut Rng) -> anyhow::Result<()> {
        let path = self.path(self.next);
        let part = path.with_extension("part");
        let wrong = || format!("cannot write {}", path.display());
        shard.shuffle(rng);
        let file = BufWriter::new(File::create(&part).with_context(wrong)?);
        let file = shard.write(file).and_then(|file| Ok(file.into_inner()?)).with_context(wrong)?;
        file.sync_all().with_context(wrong)?;
        self.bytes += file.metadata().with_context(wrong)?.len();
        fs::rename(&part, &path).with_context(wrong)?;
        self.next += 1;
        self.count += 1;
        *shard = Shard::new();
        Ok(())
    }
}
