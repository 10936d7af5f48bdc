//! Networks that other Go programs have stored on this machine.
//!
//! KaTrain, KataGo, Lizzie, Sabaki and others store KataGo networks in folders of their own, or have the paths of the
//! user's networks in their settings. This module searches these places and lists the networks that it finds. A network
//! is used only if the user names it.
//!
//! The search is bounded: it enters folders to a fixed depth, does not follow links to folders, and limits the number
//! of entries of every place.

use crate::files::read_text;
use kosumi_net::{Header, ReadError};
use serde_json::Value;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Kind of operating system, which determines where programs store files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Platform {
    /// Linux and other Unix systems.
    Unix,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

impl Platform {
    /// Returns the kind of this machine's operating system.
    pub const fn here() -> Platform {
        if cfg!(windows) {
            Platform::Windows
        } else if cfg!(target_os = "macos") {
            Platform::Mac
        } else {
            Platform::Unix
        }
    }
}

/// Starting points of the search.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchRoots {
    /// Kind of operating system.
    pub platform: Platform,
    /// Home folder of the user.
    pub home: PathBuf,
    /// Root of system paths: `/`, or `C:\`.
    pub root: PathBuf,
    /// Further folders to search.
    pub folders: Vec<PathBuf>,
}

/// Folder to search.
#[derive(Clone, PartialEq, Eq, Debug)]
struct SearchFolder {
    /// Program that stores networks there.
    program: &'static str,
    folder: PathBuf,
    /// Number of levels of folders to search. 1 means only the folder itself.
    depth: usize,
}

/// Network found on this machine.
#[derive(Debug)]
pub struct FoundNetwork {
    /// Path of the file.
    pub path: PathBuf,
    /// Program whose folder contains the network, or whose settings name it.
    pub program: &'static str,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// Header of the file, or the reason why it cannot be read.
    pub header: Result<Header, ReadError>,
}

/// Maximum number of entries that are examined in a place.
const MAX_ENTRIES: usize = 20_000;

/// Maximum size of another program's settings, in bytes.
const MAX_SETTINGS_BYTES: u64 = 4 << 20;

/// Parts of folder names that suggest a Go program.
const FOLDER_NAME_PARTS: [&str; 12] = [
    "katago", "katrain", "lizzie", "lizgoban", "sabaki", "ogatak", "q5go", "gogui", "baduk", "weiqi",
    "kosumi", "leela",
];

/// Number of levels to search in such folders.
const NAMED_FOLDER_DEPTH: usize = 5;

/// Returns the networks on this machine, each once, in the order of the searched places.
pub fn find(machine: &SearchRoots) -> Vec<FoundNetwork> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut add = |path: PathBuf, program: &'static str| {
        let Ok(whole) = path.canonicalize() else { return };
        if !seen.insert(whole.clone()) || !whole.is_file() {
            return;
        }
        let bytes = whole.metadata().map_or(0, |it| it.len());
        match Header::open(&path) {
            // This is another kind of file with the same extension.
            Err(ReadError::Foreign(_)) => {}
            header => found.push(FoundNetwork { path, program, bytes, header }),
        }
    };
    for (program, file) in settings(machine) {
        named_in(&file).into_iter().for_each(|path| add(path, program));
    }
    for place in places(machine) {
        networks_in(&place).into_iter().for_each(|path| add(path, place.program));
    }
    found
}

/// Returns whether a file name looks like that of a network.
fn is_network_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_lowercase();
    [".bin.gz", ".txt.gz", ".bin", ".kosumi8"].iter().any(|ending| name.ends_with(ending))
}

/// Returns the files of a place that look like networks, sorted.
fn networks_in(place: &SearchFolder) -> Vec<PathBuf> {
    let walk = WalkDir::new(&place.folder).max_depth(place.depth).sort_by_file_name();
    let entries = walk.into_iter().take(MAX_ENTRIES).flatten();
    let files = entries.filter(|entry| !entry.file_type().is_dir() && is_network_name(entry.file_name()));
    files.map(walkdir::DirEntry::into_path).collect()
}

/// Returns the direct subfolders of `folder` for which `wanted` is true, sorted.
fn folders_in(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().take(MAX_ENTRIES).flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut paths: Vec<PathBuf> = folders
        .filter(|entry| wanted(&entry.file_name().to_string_lossy().to_ascii_lowercase()))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

/// Returns the folders in which a Python environment in `folder` stores KaTrain's networks.
fn katrain_in_python(folder: &Path) -> Vec<PathBuf> {
    let libraries = [folder.join("lib"), folder.join("Lib")].into_iter().filter(|it| it.is_dir());
    let versions = libraries.flat_map(|library| {
        let mut all = folders_in(&library, |name| name.starts_with("python"));
        // On Windows the path has no version.
        all.push(library);
        all
    });
    versions.map(|library| library.join("site-packages").join("katrain").join("models")).collect()
}

/// Returns the usual folders of networks.
fn places(machine: &SearchRoots) -> Vec<SearchFolder> {
    let SearchRoots { platform, home, root, folders } = machine;
    let mut places = Vec::new();
    let mut add = |program: &'static str, folder: PathBuf, depth: usize| {
        places.push(SearchFolder { program, folder, depth });
    };
    for folder in folders {
        add("named", folder.clone(), NAMED_FOLDER_DEPTH);
    }
    add("KaTrain", home.join(".katrain"), 2);
    let local = home.join(".local");
    let pipx = folders_in(&local.join("share/pipx/venvs"), |name| name == "katrain");
    let pythons = [local.clone()].into_iter().chain(pipx);
    pythons.flat_map(|folder| katrain_in_python(&folder)).for_each(|folder| add("KaTrain", folder, 1));
    for name in [".katago", "katago_contribute", "KataGo", "katago"] {
        add("KataGo", home.join(name), NAMED_FOLDER_DEPTH);
    }
    match platform {
        Platform::Unix => {
            for folder in ["usr/share/katago", "usr/local/share/katago", "opt/katago", "var/lib/katago"] {
                add("KataGo", root.join(folder), 3);
            }
            // Packages of Homebrew on Linux.
            add("KataGo", root.join("home/linuxbrew/.linuxbrew/share/katago"), 2);
            add("KataGo", local.join("share/katago"), 3);
        }
        Platform::Mac => {
            for folder in ["opt/homebrew/share/katago", "usr/local/share/katago"] {
                add("KataGo", root.join(folder), 2);
            }
            for applications in [root.join("Applications"), home.join("Applications")] {
                for app in
                    folders_in(&applications, |name| FOLDER_NAME_PARTS.iter().any(|part| name.contains(part)))
                {
                    add("an application", app, 8);
                }
            }
        }
        Platform::Windows => {
            let data = home.join("AppData");
            let programs = [
                root.clone(),
                root.join("Program Files"),
                root.join("Program Files (x86)"),
                data.join("Local"),
                data.join("Local/Programs"),
                data.join("Roaming"),
            ];
            for folder in programs {
                for program in
                    folders_in(&folder, |name| FOLDER_NAME_PARTS.iter().any(|part| name.contains(part)))
                {
                    add("a program", program, NAMED_FOLDER_DEPTH);
                }
            }
            let pythons = folders_in(&data.join("Local/Programs/Python"), |_| true);
            for folder in pythons.iter().flat_map(|folder| katrain_in_python(folder)) {
                add("KaTrain", folder, 1);
            }
        }
    }
    // Programs that were unpacked into common folders, and single files in these folders.
    for name in ["", "Downloads", "Documents", "Desktop", "Games", "Go", "go", "bin", "Apps"] {
        let folder = if name.is_empty() { home.clone() } else { home.join(name) };
        for program in folders_in(&folder, |name| FOLDER_NAME_PARTS.iter().any(|part| name.contains(part))) {
            let inside = program.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            add(program_of(&inside), program, NAMED_FOLDER_DEPTH);
        }
        add("a download", folder, 1);
    }
    places
}

/// Returns the program to which a folder with this lower-case name belongs.
fn program_of(folder: &str) -> &'static str {
    const KNOWN: [(&str, &str); 10] = [
        ("lizzieyzy", "LizzieYzy"),
        ("lizzie", "Lizzie"),
        ("lizgoban", "LizGoban"),
        ("katrain", "KaTrain"),
        ("katago", "KataGo"),
        ("sabaki", "Sabaki"),
        ("ogatak", "Ogatak"),
        ("q5go", "q5Go"),
        ("gogui", "GoGui"),
        ("baduk", "Baduk Megapack"),
    ];
    KNOWN.iter().find(|(part, _)| folder.contains(part)).map_or("a folder", |&(_, program)| program)
}

/// Returns the settings files of programs that may name a network of the user.
fn settings(machine: &SearchRoots) -> Vec<(&'static str, PathBuf)> {
    let SearchRoots { platform, home, .. } = machine;
    let programs = match platform {
        Platform::Unix => home.join(".config"),
        Platform::Mac => home.join("Library/Application Support"),
        Platform::Windows => home.join("AppData/Roaming"),
    };
    vec![
        ("KaTrain", home.join(".katrain/config.json")),
        ("Sabaki", programs.join("Sabaki/settings.json")),
        ("Ogatak", programs.join("Ogatak/config.json")),
        ("Ogatak", programs.join("Ogatak/engines.json")),
        ("LizGoban", programs.join("lizgoban/config.json")),
        ("LizzieYzy", home.join("lizzieyzy/config.txt")),
        ("Lizzie", home.join("Lizzie/config.txt")),
    ]
}

/// Returns the usual settings files of one program: `Sabaki`, `KaTrain`, `Lizzie`, ...
#[must_use]
pub fn settings_of(machine: &SearchRoots, program: &str) -> Vec<PathBuf> {
    let all = settings(machine).into_iter();
    all.filter(|(name, _)| *name == program).map(|(_, file)| file).collect()
}

/// Returns the networks that a JSON settings file names. Relative paths refer to the folder of the settings.
fn named_in(settings: &Path) -> Vec<PathBuf> {
    if fs::metadata(settings).map_or(true, |it| it.len() > MAX_SETTINGS_BYTES) {
        return Vec::new();
    }
    let Some(value) = read_text(settings, MAX_SETTINGS_BYTES)
        .ok()
        .and_then(|text| serde_json::from_str::<Value>(&text).ok())
    else {
        return Vec::new();
    };
    let mut texts = Vec::new();
    collect_texts(&value, &mut texts);
    let folder = settings.parent().unwrap_or(Path::new(""));
    let paths = texts.iter().flat_map(|text| network_paths(text));
    paths.map(|path| folder.join(path)).filter(|path| path.is_file()).collect()
}

fn collect_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect_texts(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| collect_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the texts that may be paths of networks: the whole text, or the words of a command line.
fn network_paths(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for letter in text.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            None if letter == '"' || letter == '\'' => quote = Some(letter),
            None if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.push(text.to_owned());
    words.retain(|word| is_network_name(OsStr::new(word)));
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_net::Encoding;
    use kosumi_net::random::{self, Options};
    use std::fs::create_dir_all;
    use tempfile::TempDir;

    /// Creates a home folder with a network at each of these paths.
    fn home(paths: &[&str]) -> TempDir {
        let home = tempfile::tempdir().unwrap();
        for path in paths {
            write_network(&home.path().join(path));
        }
        home
    }

    fn write_network(path: &Path) {
        create_dir_all(path.parent().unwrap()).unwrap();
        let network = random::network(&Options::default()).unwrap();
        network.write(Encoding::Binary, fs::File::create(path).unwrap()).unwrap();
    }

    fn machine(home: &TempDir, platform: Platform) -> SearchRoots {
        let root = home.path().join("system");
        SearchRoots { platform, home: home.path().to_owned(), root, folders: Vec::new() }
    }

    /// Returns the paths below the home folder with their programs.
    fn listed(home: &TempDir, platform: Platform) -> Vec<(String, &'static str)> {
        let found = find(&machine(home, platform));
        let below =
            |path: &Path| path.strip_prefix(home.path()).unwrap().to_string_lossy().replace('\\', "/");
        found.iter().map(|it| (below(&it.path), it.program)).collect()
    }

    #[test]
    fn usual_places_under_linux() {
        let home = home(&[
            ".katrain/b10c384h6nbttflrs.bin.gz",
            ".local/lib/python3.12/site-packages/katrain/models/g170.bin.gz",
            ".local/share/pipx/venvs/katrain/lib/python3.11/site-packages/katrain/models/other.bin.gz",
            "katago/default_model.bin.gz",
            "Downloads/lizzieyzy-2.5.3/weights/20b.bin.gz",
            "Downloads/kata1-b18.bin.gz",
            "system/usr/share/katago/model.txt.gz",
            // Too deep, and in no known folder.
            "Documents/work/data/kata1.bin.gz",
        ]);
        let mut found = listed(&home, Platform::Unix);
        found.sort();
        let wanted = [
            (".katrain/b10c384h6nbttflrs.bin.gz", "KaTrain"),
            (".local/lib/python3.12/site-packages/katrain/models/g170.bin.gz", "KaTrain"),
            (
                ".local/share/pipx/venvs/katrain/lib/python3.11/site-packages/katrain/models/other.bin.gz",
                "KaTrain",
            ),
            ("Downloads/kata1-b18.bin.gz", "a download"),
            ("Downloads/lizzieyzy-2.5.3/weights/20b.bin.gz", "LizzieYzy"),
            ("katago/default_model.bin.gz", "KataGo"),
            ("system/usr/share/katago/model.txt.gz", "KataGo"),
        ];
        assert_eq!(found, wanted.map(|(path, program)| (path.to_owned(), program)));
    }

    #[test]
    fn usual_places_under_other_systems() {
        let mac = home(&[
            "system/opt/homebrew/share/katago/kata1.bin.gz",
            "system/Applications/KaTrain.app/Contents/Resources/katrain/models/a.bin.gz",
        ]);
        assert_eq!(listed(&mac, Platform::Mac).len(), 2);
        assert_eq!(listed(&mac, Platform::Unix).len(), 0);
        let windows = home(&[
            "system/Program Files/Lizzie/katago/b.bin.gz",
            "AppData/Local/Programs/Python/Python312/Lib/site-packages/katrain/models/c.bin.gz",
            ".katrain/d.bin.gz",
        ]);
        assert_eq!(listed(&windows, Platform::Windows).len(), 3);
    }

    #[test]
    fn settings_of_other_programs_name_networks() {
        let home = home(&["somewhere else/net.bin.gz", "nets/second.bin.gz", "nets/unused.bin.gz"]);
        let folder = home.path().join(".config/Sabaki");
        create_dir_all(&folder).unwrap();
        let first = home.path().join("somewhere else/net.bin.gz");
        let arguments = format!("gtp -model \"{}\" -config gtp.cfg", first.display());
        let settings =
            serde_json::json!({"engines.list": [{"name": "KataGo", "path": "katago", "args": arguments}]});
        fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
        create_dir_all(home.path().join(".katrain")).unwrap();
        let settings = serde_json::json!({"engine": {"model": home.path().join("nets/second.bin.gz")}});
        fs::write(home.path().join(".katrain/config.json"), settings.to_string()).unwrap();
        let found = listed(&home, Platform::Unix);
        let wanted = [("nets/second.bin.gz", "KaTrain"), ("somewhere else/net.bin.gz", "Sabaki")];
        assert_eq!(found, wanted.map(|(path, program)| (path.to_owned(), program)));
    }

    #[test]
    fn what_is_no_network_is_left_out_and_what_is_broken_says_why() {
        let home = home(&[".katrain/good.bin.gz"]);
        let folder = home.path().join(".katrain");
        fs::write(folder.join("notes.txt.gz"), "not packed at all, and no network").unwrap();
        fs::write(folder.join("future.bin.gz"), "kata9 99 22 19").unwrap();
        fs::write(folder.join("config.json"), "{ broken").unwrap();
        let found = find(&machine(&home, Platform::Unix));
        let names: Vec<_> = found.iter().map(|it| it.path.file_name().unwrap().to_string_lossy()).collect();
        assert_eq!(names, ["future.bin.gz", "good.bin.gz"]);
        assert_eq!(
            found[0].header.as_ref().map(|it| (it.version, it.is_supported())).ok(),
            Some((99, false))
        );
        let good = found[1].header.as_ref().unwrap();
        assert!(good.is_supported() && good.name.starts_with("random-v8") && found[1].bytes > 1000);
    }

    #[test]
    fn folders_can_be_named() {
        let home = home(&["data/nets/x.bin.gz"]);
        let folders = vec![home.path().join("data"), home.path().join("no such folder")];
        let found = find(&SearchRoots { folders, ..machine(&home, Platform::Unix) });
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].program, "named");
    }

    #[cfg(unix)]
    #[test]
    fn a_network_that_is_linked_is_listed_once() {
        let home = home(&[".katrain/a.bin.gz"]);
        let folder = home.path().join(".katrain");
        std::os::unix::fs::symlink(folder.join("a.bin.gz"), folder.join("b.bin.gz")).unwrap();
        // A cycle of folders is not entered.
        std::os::unix::fs::symlink(&folder, folder.join("circle")).unwrap();
        assert_eq!(listed(&home, Platform::Unix).len(), 1);
    }

    #[test]
    fn paths_in_command_lines() {
        assert_eq!(network_paths("gtp -model 'a b.bin.gz' -config x.cfg"), ["a b.bin.gz"]);
        assert_eq!(network_paths("C:\\nets\\a.bin.gz"), ["C:\\nets\\a.bin.gz"]);
        assert_eq!(network_paths("my nets/a.bin.gz"), ["nets/a.bin.gz", "my nets/a.bin.gz"]);
        assert!(network_paths("katago").is_empty());
    }
}
