//! Kosumi as an engine in other programs: what the user must enter there, and changes to their settings files.

mod gogui;
#[cfg(test)]
mod tests;

use crate::files::{read_text, write_atomically};
use crate::networks::{Platform, SearchRoots, settings_of};
use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Program that can use Kosumi as an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Client {
    /// Sabaki.
    Sabaki,
    /// KaTrain.
    KaTrain,
    /// Lizzie.
    Lizzie,
    /// `GoGui`.
    GoGui,
    /// kgsGtp, which connects an engine to the server of `CGoban`.
    CGoban,
}

/// Largest settings file that is read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 4 << 20;

/// Arguments of the engine in programs that play with it.
const PLAYS: &str = "gtp --time 5";

/// Arguments of the engine in Lizzie, which shows score and ownership only for KataGo.
const FOR_LIZZIE: &str = "gtp --compatible katago";

/// Arguments of the engine on a server, whose clock runs while a move is transmitted.
const ON_SERVERS: &str = "gtp --lag 1";

/// Name of the engine in lists of other programs.
const NAME: &str = "Kosumi";

/// Number of engines that Lizzie knows besides the first one.
const LIZZIE_MORE: usize = 9;

impl Client {
    /// All programs.
    pub const ALL: [Client; 5] =
        [Client::Sabaki, Client::KaTrain, Client::Lizzie, Client::GoGui, Client::CGoban];

    /// Name of the program, in its usual spelling.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Client::Sabaki => "Sabaki",
            Client::KaTrain => "KaTrain",
            Client::Lizzie => "Lizzie",
            Client::GoGui => "GoGui",
            Client::CGoban => "CGoban",
        }
    }

    /// Returns the program with this name, in upper or lower case.
    #[must_use]
    pub fn named(name: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.name().eq_ignore_ascii_case(name))
    }

    /// Returns lines of text with what the user has to enter. `program` is the full path of Kosumi.
    #[must_use]
    pub fn instructions(self, program: &Path) -> Vec<String> {
        let path = program.display();
        match self {
            Client::Sabaki => vec![
                "Engines > Manage Engines > Add".to_owned(),
                format!("  Path:       {path}"),
                format!("  Arguments:  {PLAYS}"),
            ],
            Client::KaTrain => vec![
                "Settings (F8) > General Settings".to_owned(),
                format!("  Path to KataGo executable:  {path}"),
            ],
            Client::Lizzie => vec![
                "Settings > Engine".to_owned(),
                format!("  Engine command:  {}", command_line(program, FOR_LIZZIE)),
            ],
            Client::GoGui => vec![
                "Program > New Program".to_owned(),
                format!("  Command:  {}", command_line(program, PLAYS)),
            ],
            Client::CGoban => vec![
                "CGoban plays with engines through kgsGtp. In its configuration file:".to_owned(),
                format!("  engine={}", property(&command_line(program, ON_SERVERS))),
            ],
        }
    }

    /// Returns the settings file of the program on this machine. If there are several usual files, it is the first one
    /// that exists.
    ///
    /// # Errors
    ///
    /// Returns an error with the reason if no file is known or exists.
    pub fn settings_file(self, machine: &SearchRoots) -> anyhow::Result<PathBuf> {
        let name = self.name();
        let candidates = match (self, machine.platform) {
            (Client::GoGui, Platform::Unix) => vec![gogui::folder(&machine.home).join(gogui::FILE)],
            (Client::GoGui, _) => {
                bail!(
                    "{name} keeps its list of programs in Java's own settings store on this system: enter Kosumi by hand"
                )
            }
            (Client::CGoban, _) => bail!("kgsGtp's configuration has no usual location: name it with --file"),
            _ => settings_of(machine, name),
        };
        if self == Client::GoGui {
            // A newly installed GoGui has no list of programs yet.
            return candidates.into_iter().next().context("no file is known");
        }
        let listed: Vec<String> = candidates.iter().map(|file| file.display().to_string()).collect();
        candidates.into_iter().find(|file| file.is_file()).with_context(|| {
            let listed = listed.join(" nor ");
            format!("there is no {listed}: start {name} once, or name its settings with --file")
        })
    }

    /// Adds Kosumi to a settings file. The old file is kept under another name, which is returned. Returns `None`,
    /// without a change, if the file already contains Kosumi.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, understood or written. The file is then unchanged.
    pub fn write(self, file: &Path, program: &Path) -> anyhow::Result<Option<PathBuf>> {
        if self == Client::GoGui {
            return gogui::write(file, &command_line(program, PLAYS));
        }
        let old =
            read_text(file, MAX_SETTINGS_BYTES).with_context(|| format!("cannot read {}", file.display()))?;
        let new = match self {
            Client::CGoban => Some(with_property(&old, &command_line(program, ON_SERVERS))),
            _ => self.with_engine(&old, program).with_context(|| format!("cannot use {}", file.display()))?,
        };
        match new.filter(|new| *new != old) {
            Some(new) => replace(file, &new).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the text of a JSON settings file with Kosumi in it; `None` if the file already contains Kosumi.
    fn with_engine(self, old: &str, program: &Path) -> anyhow::Result<Option<String>> {
        let mut settings: Value = serde_json::from_str(old)?;
        let before = settings.clone();
        let fields = settings.as_object_mut().context("it has no settings")?;
        let path = program.to_str().context("the path of this program is no Unicode text")?;
        match self {
            Client::Sabaki => {
                let entry = json!({ "name": NAME, "path": path, "args": PLAYS, "commands": "" });
                let engines = list(fields, "engines.list")?;
                if !engines.iter().any(|engine| engine["path"] == path) {
                    engines.push(entry);
                }
            }
            Client::KaTrain => {
                let engine = fields.get_mut("engine").and_then(Value::as_object_mut);
                let engine = engine.context("it has no settings of an engine")?;
                engine.insert("katago".to_owned(), path.into());
                // KaTrain would use another value of this field instead of the path.
                engine.insert("altcommand".to_owned(), "".into());
            }
            Client::Lizzie => {
                let engine = fields.get_mut("leelaz").and_then(Value::as_object_mut);
                let engine = engine.context("it has no settings of an engine")?;
                let is_of_yzy = engine.contains_key("engine-settings-list");
                ensure!(!is_of_yzy, "it belongs to LizzieYzy, whose engines must be entered by hand");
                let command = command_line(program, FOR_LIZZIE);
                let former = engine.insert("engine-command".to_owned(), command.clone().into());
                let former = former.as_ref().and_then(Value::as_str).unwrap_or_default();
                if !former.is_empty() && former != command {
                    keep_in_lizzie(list(engine, "engine-command-list")?, former)?;
                }
            }
            Client::GoGui | Client::CGoban => bail!("its settings are not JSON"),
        }
        Ok((settings != before).then(|| serde_json::to_string_pretty(&settings)).transpose()?)
    }
}

/// Returns the array with this name. Creates it if it is missing.
fn list<'f>(fields: &'f mut Map<String, Value>, name: &str) -> anyhow::Result<&'f mut Vec<Value>> {
    let list = fields.entry(name).or_insert_with(|| json!([])).as_array_mut();
    list.with_context(|| format!("its {name} is no list"))
}

/// Moves Lizzie's former first engine to the first free place among its further engines.
fn keep_in_lizzie(engines: &mut Vec<Value>, command: &str) -> anyhow::Result<()> {
    if engines.iter().any(|engine| engine == command) {
        return Ok(());
    }
    match engines.iter().position(|engine| engine == "") {
        Some(free) => engines[free] = command.into(),
        None if engines.len() < LIZZIE_MORE => engines.push(command.into()),
        None => bail!("its list of engines is full"),
    }
    Ok(())
}

/// Returns a command line for programs that split it at spaces outside double quotes.
fn command_line(program: &Path, arguments: &str) -> String {
    let path = program.display().to_string();
    if path.contains(char::is_whitespace) {
        format!("\"{path}\" {arguments}")
    } else {
        format!("{path} {arguments}")
    }
}

/// Returns a value for a file of Java properties: a backslash is doubled, and non-ASCII letters are escaped, because
/// such files are read as Latin-1.
fn property(value: &str) -> String {
    let mut text = String::new();
    for letter in value.chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            ' '..='~' => text.push(letter),
            _ => {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    text
}

/// Returns the text of kgsGtp's configuration with this engine. Other lines are unchanged.
fn with_property(old: &str, command: &str) -> String {
    let line = format!("engine={}", property(command));
    let is_engine = |line: &str| {
        let rest = line.trim_start().strip_prefix("engine").map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(['=', ':']))
    };
    let mut lines: Vec<&str> = old.lines().collect();
    match lines.iter_mut().find(|line| is_engine(line)) {
        Some(existing) => *existing = &line,
        None => lines.push(&line),
    }
    lines.join("\n") + "\n"
}

/// Replaces a file atomically. Returns the path under which the old file is kept.
fn replace(file: &Path, text: &str) -> anyhow::Result<PathBuf> {
    let backup = back_up(file)?;
    write_atomically(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(backup)
}

/// Copies a file to a new name in its folder. Returns the new path.
fn back_up(file: &Path) -> anyhow::Result<PathBuf> {
    let name = file.file_name().context("it has no name")?;
    for number in 1..1000 {
        let mut new = name.to_owned();
        new.push(format!(".before-kosumi-{number}"));
        let backup = file.with_file_name(new);
        if !backup.try_exists().with_context(|| format!("cannot find {}", backup.display()))? {
            fs::copy(file, &backup).with_context(|| format!("cannot write {}", backup.display()))?;
            return Ok(backup);
        }
    }
    bail!("there are too many backups of {}", file.display())
}
