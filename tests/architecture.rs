//! The direction of dependence, as `ARCHITECTURE.md` draws it: no module knows those to its right.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the crate, from left to right. A module may use those before it.
const ORDER: &[&str] = &[
    "rng",
    "board",
    "rules",
    "history",
    "graph_key",
    "game",
    "time",
    "safety",
    "eyespace",
    "tactics",
    "score",
    "handicap",
    "sgf",
    "perft",
    "net",
    "playout",
    "training",
    "eval",
    "search",
    "engine",
    "words",
    "files",
    "networks",
    "pages",
    "statistics",
    "collections",
    "shards",
    "selfplay",
    "review",
    "commands",
    "players",
    "session",
    "tune",
    "regress",
    "matches",
    "cli",
];

/// Text that only some modules may contain.
const RESERVED: &[(&str, &[&str])] = &[
    ("kosumi_gtp", &["commands", "players", "session", "regress", "matches", "cli"]),
    ("time::Instant", &["engine", "session", "regress", "matches", "cli"]),
    ("SystemTime", &["engine", "cli"]),
    ("thread::sleep", &["engine", "files", "matches", "cli"]),
    ("io::stdout", &["cli"]),
    ("io::stderr", &["cli"]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    found
}

/// The module at the top of its crate that a file belongs to; `None` for the crate's own files.
fn module(path: &Path) -> Option<String> {
    let src = root().join("src");
    let inside = path.strip_prefix(src.join("core")).or_else(|_| path.strip_prefix(&src)).unwrap();
    let first = inside.iter().next()?.to_str()?.trim_end_matches(".rs").to_owned();
    (first != "lib" && first != "main").then_some(first)
}

/// The code of a file without comments and without its unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let before_tests = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    before_tests.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn position(module: &str) -> usize {
    let known = ORDER.iter().position(|&known| known == module);
    known.unwrap_or_else(|| panic!("tests/architecture.rs does not know the module {module}"))
}

#[test]
fn no_module_uses_one_to_its_right() {
    let mut wrong = Vec::new();
    for path in sources(&root().join("src")) {
        let Some(own) = module(&path) else { continue };
        for (used, _) in code(&path).split("crate::").skip(1).map(|rest| {
            assert!(!rest.starts_with('{'), "{}: one `use` for each module, please", path.display());
            rest.split_at(rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()))
        }) {
            if used != own && position(used) > position(&own) {
                wrong.push(format!("{} uses {used}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_the_outer_rooms_talk_and_read_clocks() {
    let mut wrong = Vec::new();
    for path in sources(&root().join("src")) {
        let Some(own) = module(&path) else { continue };
        let code = code(&path);
        for (text, allowed) in RESERVED {
            if code.contains(text) && !allowed.contains(&own.as_str()) {
                wrong.push(format!("{} contains {text}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_module_is_listed() {
    for lib in ["src/lib.rs", "src/core/lib.rs"] {
        for line in fs::read_to_string(root().join(lib)).unwrap().lines() {
            if let Some(name) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(';')) {
                position(name);
            }
        }
    }
}

#[test]
fn the_protocol_knows_no_engine() {
    let manifest = fs::read_to_string(root().join("gtp/Cargo.toml")).unwrap();
    assert!(!manifest.contains("kosumi ") && !manifest.contains("path = \"..\""), "{manifest}");
    for path in sources(&root().join("gtp")) {
        assert!(!fs::read_to_string(&path).unwrap().contains("kosumi::"), "{}", path.display());
    }
}
