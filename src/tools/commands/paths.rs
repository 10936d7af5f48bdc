//! Names of files in commands: with blanks in them, and with quotation marks around them.

use super::Commands;
use kosumi_gtp::Failure;
use std::path::{Path, PathBuf};

/// What a line says behind the name of a command that takes a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FileAndMore {
    pub(super) path: PathBuf,
    /// What follows the name of the file.
    pub(super) more: Vec<String>,
}

impl Commands {
    /// A file to be read, and what follows its name.
    ///
    /// The name may stand in quotation marks. Otherwise it may have blanks, and where it ends the files tell: it is as
    /// long as there is a file of that name. A last word that `is_argument` is none of the name if there is a file without
    /// it.
    ///
    /// # Errors
    /// If there is no name.
    pub(super) fn file_to_read(
        &self,
        line: &str,
        is_argument: impl Fn(&str) -> bool,
    ) -> Result<FileAndMore, Failure> {
        if let Some((name, rest)) = quoted(line)? {
            return Ok(FileAndMore { path: self.folder.join(name), more: words(rest) });
        }
        let ends: Vec<usize> = word_ends(line).collect();
        let Some((&whole, shorter)) = ends.split_last() else { return Err(Failure::syntax_error()) };
        let path = |end: usize| self.folder.join(line.get(..end).unwrap_or_default());
        let is_file = |end: usize| path(end).is_file();
        let last = shorter.last().map(|&end| (end, line.get(end..).unwrap_or_default().trim_ascii()));
        let without_argument =
            last.filter(|(end, word)| is_argument(word) && is_file(*end)).map(|(end, _)| end);
        let longest = || ends.iter().rev().copied().find(|&end| is_file(end));
        // If there is no such file, the message is to name what was meant.
        let meant = || last.filter(|(_, word)| is_argument(word)).map_or(whole, |(end, _)| end);
        let end = without_argument.or_else(longest).unwrap_or_else(meant);
        Ok(FileAndMore { path: path(end), more: words(line.get(end..).unwrap_or_default()) })
    }

    /// A file to be written, and what follows its name: a name without quotation marks is the whole line, but for a last
    /// word that `is_argument`.
    ///
    /// # Errors
    /// If there is no name.
    pub(super) fn file_to_write(
        &self,
        line: &str,
        is_argument: impl Fn(&str) -> bool,
    ) -> Result<FileAndMore, Failure> {
        if let Some((name, rest)) = quoted(line)? {
            return Ok(FileAndMore { path: self.folder.join(name), more: words(rest) });
        }
        let line = line.trim_ascii();
        let (name, more) = match line.rsplit_once(' ') {
            Some((name, last)) if is_argument(last) => (name.trim_ascii_end(), vec![last.to_owned()]),
            _ => (line, Vec::new()),
        };
        if name.is_empty() {
            return Err(Failure::syntax_error());
        }
        Ok(FileAndMore { path: self.folder.join(Path::new(name)), more })
    }
}

/// The text in quotation marks at the front, without them, and what follows. In it a backslash stands in front of a
/// quotation mark or another backslash; in front of everything else it is itself, as in paths of Windows.
fn quoted(line: &str) -> Result<Option<(String, &str)>, Failure> {
    let Some(inner) = line.trim_ascii_start().strip_prefix('"') else { return Ok(None) };
    let mut name = String::new();
    let mut characters = inner.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' if name.is_empty() => return Err(Failure::syntax_error()),
            '"' => return Ok(Some((name, inner.get(at + 1..).unwrap_or_default()))),
            '\\' => {
                let escaped = characters.next_if(|(_, next)| matches!(next, '"' | '\\'));
                name.push(escaped.map_or('\\', |(_, character)| character));
            }
            _ => name.push(character),
        }
    }
    Err(Failure::new("a quotation mark is missing"))
}

fn words(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

/// Where the words of a line end.
fn word_ends(line: &str) -> impl Iterator<Item = usize> {
    let is_blank = |at: usize| line.as_bytes().get(at).is_none_or(u8::is_ascii_whitespace);
    (1..=line.len()).filter(move |&at| is_blank(at) && !is_blank(at - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_engine::{Engine, EngineSettings};

    #[test]
    fn names_of_files() {
        let folder = tempfile::TempDir::new().unwrap();
        for name in [
            "a.sgf",
            "a game.sgf",
            "two  blanks.sgf",
            "game 12",
            "both",
            "both 3",
            "quote\"d.sgf",
            "back\\slash",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let settings = EngineSettings { memory_mebibytes: 1, threads: 1, ..EngineSettings::default() };
        let commands = Commands::new(Engine::new(settings)).in_folder(folder.path());
        let is_number = |word: &str| word.parse::<u32>().is_ok();
        for (line, name, more) in [
            ("a.sgf", "a.sgf", ""),
            ("a.sgf 12", "a.sgf", "12"),
            ("a.sgf 12 more", "a.sgf", "12 more"),
            ("a.sgf x", "a.sgf", "x"),
            ("a game.sgf", "a game.sgf", ""),
            ("a game.sgf 5", "a game.sgf", "5"),
            ("two  blanks.sgf", "two  blanks.sgf", ""),
            ("game 12", "game 12", ""),
            ("game 12 5", "game 12", "5"),
            ("both 3", "both", "3"),
            ("\"both 3\"", "both 3", ""),
            ("\"a game.sgf\" 5", "a game.sgf", "5"),
            ("\"quote\\\"d.sgf\"", "quote\"d.sgf", ""),
            ("\"back\\slash\"", "back\\slash", ""),
            ("\"back\\\\slash\"", "back\\slash", ""),
            ("no such file.sgf", "no such file.sgf", ""),
            ("no such file.sgf 7", "no such file.sgf", "7"),
        ] {
            let found = commands.file_to_read(line, is_number).unwrap();
            assert_eq!(
                (found.path, found.more.join(" ")),
                (folder.path().join(name), more.to_owned()),
                "{line}"
            );
        }
        let is_remark = |word: &str| word == "none";
        for (line, name, more) in [
            ("a.sgf", "a.sgf", ""),
            ("a b.sgf", "a b.sgf", ""),
            ("a b.sgf none", "a b.sgf", "none"),
            ("none", "none", ""),
            ("\"a b.sgf\" none", "a b.sgf", "none"),
        ] {
            let found = commands.file_to_write(line, is_remark).unwrap();
            assert_eq!(
                (found.path, found.more.join(" ")),
                (folder.path().join(name), more.to_owned()),
                "{line}"
            );
        }
        for line in ["", " ", "\"a", "\"\"", "\"a\\\""] {
            assert!(commands.file_to_read(line, is_number).is_err(), "{line:?}");
            assert!(commands.file_to_write(line, is_number).is_err(), "{line:?}");
        }
    }
}
