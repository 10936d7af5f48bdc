//! Output files of a review.

use super::Arguments;
use crate::terminal;
use anyhow::{Context, bail, ensure};
use kosumi_tools::files::write_atomically;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Result of a review: the contents of its files, and its messages.
#[derive(Serialize, Deserialize)]
pub(super) struct ReviewResult {
    /// Contents of the files, in the order of [`Outputs::files`].
    pub(super) texts: Vec<String>,
    /// Text printed before the names of the files.
    pub(super) summary: String,
    /// Text printed after the names of the files; may be empty.
    pub(super) behind: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Sgf,
    Html,
    Json,
}

impl Format {
    /// Returns the extension of files of this format, without a dot.
    pub(super) const fn extension(self) -> &'static str {
        match self {
            Format::Sgf => "sgf",
            Format::Html => "html",
            Format::Json => "json",
        }
    }
}

/// Output files of one game.
pub(super) struct Outputs {
    pub(super) record: PathBuf,
    pub(super) files: Vec<(PathBuf, Format)>,
}

impl Outputs {
    /// Returns the output files of all games.
    pub(super) fn of_all(arguments: &Arguments) -> anyhow::Result<Vec<Outputs>> {
        let folder = arguments.output.as_deref().filter(|_| arguments.files.len() > 1);
        if let Some(folder) = folder {
            ensure!(folder.is_dir(), "there is no folder {}", folder.display());
        }
        let mut all: Vec<Outputs> = Vec::with_capacity(arguments.files.len());
        for record in &arguments.files {
            let base = match &arguments.output {
                Some(base) if folder.is_none() => base.clone(),
                _ => {
                    let stem = record.file_stem().unwrap_or_default().to_string_lossy();
                    let number =
                        if arguments.game > 1 { format!("-{}", arguments.game) } else { String::new() };
                    folder.unwrap_or(Path::new("")).join(format!("{stem}{number}.review"))
                }
            };
            let outputs = Outputs::new(arguments, record, &base)?;
            let is_same = |other: &&Outputs| other.files[0].0 == outputs.files[0].0;
            if let Some(other) = all.iter().find(is_same) {
                let (one, two) = (other.record.display(), record.display());
                bail!("{one} and {two} would be written to the same files");
            }
            all.push(outputs);
        }
        Ok(all)
    }

    /// Returns the formats that the options choose, or the usual formats if they choose none.
    pub(super) fn formats(arguments: &Arguments) -> Vec<Format> {
        let chosen =
            [(arguments.sgf, Format::Sgf), (arguments.html, Format::Html), (arguments.json, Format::Json)];
        let chosen: Vec<Format> =
            chosen.into_iter().filter(|(is_chosen, _)| *is_chosen).map(|(_, format)| format).collect();
        if chosen.is_empty() { vec![Format::Sgf, Format::Html] } else { chosen }
    }

    /// Chooses the output files. Refuses, before any work is done, paths that cannot be written and files that would
    /// overwrite the game record.
    fn new(arguments: &Arguments, record: &Path, base: &Path) -> anyhow::Result<Outputs> {
        let Some(name) = base.file_name().map(|name| name.to_os_string()) else {
            bail!("{} is no name for files", base.display());
        };
        let file = |format: Format| {
            let mut file = name.clone();
            file.push(format!(".{}", format.extension()));
            (base.with_file_name(file), format)
        };
        let files: Vec<(PathBuf, Format)> = Outputs::formats(arguments).into_iter().map(file).collect();
        for (path, _) in &files {
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            ensure!(folder.is_dir(), "there is no folder {}", folder.display());
            ensure!(!path.is_dir(), "{} is a folder", path.display());
            ensure!(!is_same_file(path, record), "{} is the record itself", path.display());
        }
        Ok(Outputs { record: record.to_owned(), files })
    }

    /// Writes the files and prints the messages. `is_one_of_many` adds the name of the game record.
    pub(super) fn write(&self, found: &ReviewResult, is_one_of_many: bool) -> anyhow::Result<()> {
        for ((path, _), text) in self.files.iter().zip(&found.texts) {
            write_atomically(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let written: Vec<String> = self.files.iter().map(|(path, _)| path.display().to_string()).collect();
        let mut out = terminal::stdout();
        if is_one_of_many {
            writeln!(out, "{}", self.record.display())?;
        }
        write!(out, "{}", found.summary)?;
        writeln!(out, "written: {}", written.join(", "))?;
        if !found.behind.is_empty() {
            writeln!(out, "{}", found.behind)?;
        }
        if is_one_of_many {
            writeln!(out)?;
        }
        out.flush()?;
        Ok(())
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}
