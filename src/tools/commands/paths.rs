//! File names in commands, which may contain blanks and may be quoted.

use super::Commands;
use kosumi_gtp::Failure;
use std::path::{Path, PathBuf};

/// Arguments of a command that takes a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FileArguments {
    pub(super) path: PathBuf,
    /// Arguments after the file name.
    pub(super) more: Vec<String>,
}

impl Commands {
    /// Parses the name of a file to read, and the arguments after it.
    ///
    /// The name may be quoted. Otherwise it may contain blanks, and existing files determine where it ends: the longest
    /// name of an existing file is used. A last word for which `is_argument` is true is not part of the name if a file
    /// without it exists.
    ///
    /// # Errors
    ///
    /// Returns a failure if the name is missing or a quotation mark is not closed.
    pub(super) fn file_to_read(
        &self,
        line: &str,
        is_argument: impl Fn(&str) -> bool,
    ) -> Result<FileArguments, Failure> {
        if let Some((name, rest)) = quoted(line)? {
            return Ok(FileArguments { path: self.folder.join(name), more: words(rest) });
        }
        let ends: Vec<usize> = word_ends(line).collect();
        let Some((&whole, shorter)) = ends.split_last() else { return Err(Failure::syntax_error()) };
        let path = |end: usize| self.folder.join(line.get(..end).unwrap_or_default());
        let is_file = |end: usize| path(end).is_file();
        let last = shorter.last().map(|&end| (end, line.get(end..).unwrap_or_default().trim_ascii()));
        let without_argument =
            last.filter(|(end, word)| is_argument(word) && is_file(*end)).map(|(end, _)| end);
        let longest = || ends.iter().rev().copied().find(|&end| is_file(end));
        // If no such file exists, the error message must contain the name that was intended.
        let meant = || last.filter(|(_, word)| is_argument(word)).map_or(whole, |(end, _)| end);
        let end = without_argument.or_else(longest).unwrap_or_else(meant);
        Ok(FileArguments { path: path(end), more: words(line.get(end..).unwrap_or_default()) })
    }

    /// Parses the name of a file to write, and the arguments after it. A name without quotation marks extends to the
    /// end of the line, except for a last word for which `is_argument` is true.
    ///
    /// # Errors
    ///
    /// Returns a failure if the name is missing or a quotation mark is not closed.
    pub(super) fn file_to_write(
        &self,
        line: &str,
        is_argument: impl Fn(&str) -> bool,
    ) -> Result<FileArguments, Failure> {
        if let Some((name, rest)) = quoted(line)? {
            return Ok(FileArguments { path: self.folder.join(name), more: words(rest) });
        }
        let line = line.trim_ascii();
        let (name, more) = match line.rsplit_once(' ') {
            Some((name, last)) if is_argument(last) => (name.trim_ascii_end(), vec![last.to_owned()]),
            _ => (line, Vec::new()),
        };
        if name.is_empty() {
            return Err(Failure::syntax_error());
        }
        Ok(FileArguments { path: self.folder.join(Path::new(name)), more })
    }
}

/// Returns the quoted text at the start of the line, without its quotation marks, and the rest of the line. Inside the
/// quotation marks, a backslash escapes a quotation mark or a backslash. Before other characters it stands for itself,
/// as in Windows paths.
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
    Err(Failure::new("the closing quotation mark is missing"))
}

fn words(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

/// Returns the byte offsets at which the words of a line end.
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
