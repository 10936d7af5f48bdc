//! Lists of suites: `@name` stands for the suites that the file `name` lists, one per line.
//!
//! As in gogui-regress, blank lines and lines with `#` are skipped, and an entry may itself be a list. In
//! gogui-regress, entries are relative to the current directory. Here they may also be relative to the folder of the
//! list, and the folder of the list has priority.

use super::suite::read_text;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum nesting depth of lists.
const MAX_DEPTH: usize = 32;
/// Maximum number of entries in all lists.
const MAX_SUITES: usize = 10_000;

/// Fault of a list. It is displayed as `file:line: message` if it is inside a list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// A file is missing or cannot be read.
    #[error("{place}{}: {error}", path.display())]
    Io {
        /// Location of the entry as `list:line: `; empty on the command line.
        place: String,
        /// Path of the file.
        path: PathBuf,
        /// Cause of the failure.
        error: io::Error,
    },
    /// A list contains itself.
    #[error("{place}{} contains itself", path.display())]
    Cycle {
        /// Location of the entry.
        place: String,
        /// Path of the list.
        path: PathBuf,
    },
    /// The lists are nested too deeply.
    #[error("{place}lists are nested deeper than {MAX_DEPTH}")]
    TooDeep {
        /// Location of the entry that exceeds the limit.
        place: String,
    },
    /// There are too many entries.
    #[error("more than {MAX_SUITES} suites")]
    TooMany,
}

/// Returns the suites of these names in order, with lists replaced by their entries. A file that occurs more than once
/// is kept only at its first place, because the results would be equal.
///
/// # Errors
///
/// Returns an error if a file does not exist or a list is invalid.
pub fn expand(names: &[String]) -> Result<Vec<PathBuf>, ListError> {
    let mut found = ListReader::default();
    for name in names {
        found.entry(name, None, "")?;
    }
    Ok(found.suites)
}

#[derive(Default)]
struct ListReader {
    suites: Vec<PathBuf>,
    known: HashSet<PathBuf>,
    /// Lists that are being read, outermost first.
    open: Vec<PathBuf>,
    /// Number of entries read so far. A list may occur any number of times.
    entries: usize,
}

impl ListReader {
    fn entry(&mut self, name: &str, folder: Option<&Path>, place: &str) -> Result<(), ListError> {
        self.entries += 1;
        if self.entries > MAX_SUITES {
            return Err(ListError::TooMany);
        }
        let list = name.strip_prefix('@');
        let name = Path::new(list.unwrap_or(name));
        let path = folder.map(|folder| folder.join(name)).filter(|path| path.exists());
        let path = path.unwrap_or_else(|| name.to_owned());
        let failed = |error| ListError::Io { place: place.to_owned(), path: path.clone(), error };
        let canonical = path.canonicalize().map_err(failed)?;
        if canonical.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if list.is_none() {
            if self.known.insert(canonical) {
                self.suites.push(path);
            }
            return Ok(());
        }
        if self.open.contains(&canonical) {
            return Err(ListError::Cycle { place: place.to_owned(), path });
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(ListError::TooDeep { place: place.to_owned() });
        }
        let text = read_text(&path).map_err(failed)?;
        self.open.push(canonical);
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                self.entry(line, path.parent(), &format!("{}:{}: ", path.display(), index + 1))?;
            }
        }
        self.open.pop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// Temporary folder with files.
    struct Files(TempDir);

    impl Files {
        fn new(files: &[(&str, &str)]) -> Files {
            let folder = TempDir::new().unwrap();
            for (name, text) in files {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Files(folder)
        }

        fn expand(&self, names: &[&str]) -> Result<String, String> {
            let at = |name: &&str| match name.strip_prefix('@') {
                Some(name) => format!("@{}", self.0.path().join(name).display()),
                None => self.0.path().join(name).display().to_string(),
            };
            let suites =
                expand(&names.iter().map(at).collect::<Vec<_>>()).map_err(|error| error.to_string())?;
            let inside =
                suites.iter().map(|path| path.strip_prefix(self.0.path()).unwrap().display().to_string());
            Ok(inside.collect::<Vec<_>>().join(" "))
        }
    }

    #[test]
    fn lists_are_replaced_by_their_entries() {
        let files = Files::new(&[
            ("a.tst", ""),
            ("b.tst", ""),
            ("in/c.tst", ""),
            ("all", "# everything\r\n\r\n  a.tst  \r\n@in/more\nb.tst\n"),
            ("in/more", "c.tst\n@few\n"),
            ("in/few", "../a.tst"),
        ]);
        assert_eq!(files.expand(&["@all"]).unwrap(), "a.tst in/c.tst b.tst");
        assert_eq!(files.expand(&["b.tst", "@all", "a.tst"]).unwrap(), "b.tst a.tst in/c.tst");
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let mut files = vec![
            ("self".to_owned(), "\n@self\n".to_owned()),
            ("x".to_owned(), "@y".to_owned()),
            ("y".to_owned(), "\n\n@x".to_owned()),
            ("gone".to_owned(), "# x\nno-such.tst".to_owned()),
            // Every level names the next one twice, which would give 2^40 entries without a limit.
            ("w40".to_owned(), String::new()),
        ];
        for level in 0..40 {
            files.push((format!("d{level}"), format!("@d{}", level + 1)));
            files.push((format!("w{level}"), format!("@w{0}\n@w{0}", level + 1)));
        }
        let files =
            Files::new(&files.iter().map(|file| (file.0.as_str(), file.1.as_str())).collect::<Vec<_>>());
        let error = |name: &str| files.expand(&[name]).unwrap_err();
        assert!(error("@self").contains("self:2: "), "{}", error("@self"));
        assert!(error("@self").contains("contains itself"));
        assert!(error("@x").contains("y:3: ") && error("@x").contains("contains itself"));
        assert!(error("@gone").contains("gone:2: no-such.tst: "), "{}", error("@gone"));
        assert!(error("@none").contains("none: "));
        assert!(error("@d0").contains("nested deeper"));
        assert!(error("@w20").contains("more than"), "{}", error("@w20"));
        assert!(files.expand(&["."]).is_err(), "a folder is no suite");
    }
}
