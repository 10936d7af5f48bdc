//! `GoGui`'s list of programs, which Java keeps in small XML files on Linux.
//!
//! The node `net/sf/gogui/gui/program` contains the number of programs. Its child `N` contains the label, the name, the
//! version, the command and the working directory of program `N`, counted from 0 (see `GoGui`'s class `Program`).

use super::{MAX_SETTINGS_BYTES, NAME, back_up};
use crate::files::{read_text, write_atomically};
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// File name of a node.
pub(super) const FILE: &str = "prefs.xml";

/// Maximum number of programs that are examined.
const MAX_PROGRAMS: usize = 100;

/// Returns the folder of the node with `GoGui`'s programs, according to Java's rules for Linux.
pub(super) fn folder(home: &Path) -> PathBuf {
    home.join(".java/.userPrefs/net/sf/gogui/gui/program")
}

/// Adds a program to the list whose length is in `file`. Returns the backup of that file, or the file itself if it is
/// new; `None` if the list already has a program with this command.
pub(super) fn write(file: &Path, command: &str) -> anyhow::Result<Option<PathBuf>> {
    let folder = file.parent().context("it has no folder")?;
    let old = match file.try_exists() {
        Ok(false) => String::new(),
        _ => {
            read_text(file, MAX_SETTINGS_BYTES).with_context(|| format!("cannot read {}", file.display()))?
        }
    };
    let size = match (old.is_empty(), value(&old, "size")) {
        (true, _) => 0,
        (false, size) => size.and_then(|size| size.parse().ok()).context("it has no number of programs")?,
    };
    ensure!(size < MAX_PROGRAMS, "GoGui's list has {size} programs: at most {MAX_PROGRAMS} are supported");
    let escaped = escape(command);
    for number in 0..size {
        let entry = read_text(&folder.join(number.to_string()).join(FILE), MAX_SETTINGS_BYTES);
        if entry.is_ok_and(|entry| value(&entry, "command") == Some(&escaped)) {
            return Ok(None);
        }
    }
    let node = folder.join(size.to_string());
    fs::create_dir_all(&node).with_context(|| format!("cannot create {}", node.display()))?;
    let entries =
        [("command", command), ("label", NAME), ("name", NAME), ("version", ""), ("working-directory", "")];
    write_atomically(&node.join(FILE), &map(&entries))?;
    let kept = if old.is_empty() { file.to_owned() } else { back_up(file)? };
    // The number is written last, so that a crash before this leaves the old list.
    write_atomically(file, &map(&[("size", &(size + 1).to_string())]))?;
    Ok(Some(kept))
}

/// Returns the value of a key, still escaped.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("key=\"{key}\" value=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns the file of a node, in Java's format.
fn map(entries: &[(&str, &str)]) -> String {
    let lines: String = entries
        .iter()
        .map(|(key, value)| format!("  <entry key=\"{key}\" value=\"{}\"/>\n", escape(value)))
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
         <!DOCTYPE map SYSTEM \"http://java.sun.com/dtd/preferences.dtd\">\n\
         <map MAP_XML_VERSION=\"1.0\">\n{lines}</map>\n"
    )
}
