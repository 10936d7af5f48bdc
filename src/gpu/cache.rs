//! Files that shorten later starts of the program: shaders in the driver's compiled form, and measurements. A failure
//! to use them only costs time, so there are no errors.

use crate::program::TileChoice;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process;

/// Size above which compiled shaders are discarded, in bytes. Drivers never discard any.
const MAX_BYTES: u64 = 64 << 20;

/// Files of a card.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    key: String,
}

impl Cache {
    /// Returns the files of a card in a folder, which is created on the first write.
    pub(crate) fn new(folder: PathBuf, key: String) -> Cache {
        Cache { folder, key }
    }

    fn path(&self, kind: &str) -> PathBuf {
        self.folder.join(format!("{}.{kind}", self.key))
    }

    /// Returns the compiled shaders of earlier runs.
    pub(crate) fn shaders(&self) -> Option<Vec<u8>> {
        let path = self.path("shaders");
        let size = fs::metadata(&path).ok()?.len();
        if size > MAX_BYTES { None } else { fs::read(path).ok() }
    }

    /// Keeps compiled shaders, unless they are kept already.
    pub(crate) fn keep_shaders(&self, bytes: &[u8]) {
        if self.shaders().is_none_or(|kept| kept != bytes) {
            self.write(&self.path("shaders"), bytes);
        }
    }

    /// Returns the fastest blocks of products for a network of this shape.
    pub(crate) fn tiles(&self, shape: u64) -> Option<TileChoice> {
        let text = fs::read_to_string(self.path("tiles")).ok()?;
        let mut words = text.lines().rev().map(|line| line.split(' ').collect::<Vec<_>>());
        let last = words.find(|words| words[0] == shape.to_string())?;
        let [_, large_from, uses_matrix_units] = last[..] else { return None };
        let (large_from, uses_matrix_units) = (large_from.parse().ok()?, uses_matrix_units.parse().ok()?);
        Some(TileChoice { large_from, uses_matrix_units })
    }

    /// Keeps the fastest blocks of products for a network of this shape.
    pub(crate) fn keep_tiles(&self, shape: u64, tiles: TileChoice) {
        /// Number of earlier lines that are kept.
        const LINES: usize = 100;
        let path = self.path("tiles");
        let earlier = fs::read_to_string(&path).unwrap_or_default();
        let lines: Vec<&str> = earlier.lines().collect();
        let line = format!("{shape} {} {}", tiles.large_from, tiles.uses_matrix_units);
        let kept = &lines[lines.len().saturating_sub(LINES)..];
        let text: String = kept.iter().chain([&line.as_str()]).flat_map(|line| [line, "\n"]).collect();
        self.write(&path, text.as_bytes());
    }

    /// Writes a file that other processes may read or write at the same time.
    fn write(&self, path: &Path, bytes: &[u8]) {
        let unfinished = path.with_extension(format!("{}.unfinished", process::id()));
        let written = fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&unfinished, bytes))
            .and_then(|()| fs::rename(&unfinished, path));
        if written.is_err() {
            // Without the file, the next start takes longer.
            let _ = fs::remove_file(&unfinished);
        }
    }
}

/// Returns a hash of a value that is the same in every run of this version of the program.
pub(crate) fn hash(it: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), it).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_kept_for_later_runs() {
        let folder = tempfile::TempDir::new().unwrap();
        let cache = |key: &str| Cache::new(folder.path().join("new"), key.to_owned());
        let first = cache("a");
        assert_eq!((first.shaders(), first.tiles(1)), (None, None));
        first.keep_shaders(b"code");
        first.keep_shaders(b"code");
        let tiles = |large_from, uses_matrix_units| TileChoice { large_from, uses_matrix_units };
        for (shape, tiles) in [(1, tiles(100, false)), (12, tiles(200, false)), (1, tiles(300, true))] {
            first.keep_tiles(shape, tiles);
        }
        let second = cache("a");
        assert_eq!(second.shaders().as_deref(), Some(&b"code"[..]));
        assert_eq!(
            [1, 12, 2].map(|shape| second.tiles(shape)),
            [Some(tiles(300, true)), Some(tiles(200, false)), None]
        );
        assert_eq!((cache("b").shaders(), cache("b").tiles(1)), (None, None));
        let names = fs::read_dir(folder.path().join("new")).unwrap();
        assert_eq!(names.count(), 2, "no unfinished file is left");
        // Files that another program has damaged count as missing.
        fs::write(second.path("tiles"), "1 x true\n\u{0}\n\n1").unwrap();
        assert_eq!(second.tiles(1), None);
    }

    #[test]
    fn folder_that_cannot_be_written_is_no_error() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = Cache::new(file, "a".to_owned());
        cache.keep_shaders(b"code");
        cache.keep_tiles(1, TileChoice::USUAL);
        assert_eq!((cache.shaders(), cache.tiles(1)), (None, None));
    }
}
