//! The direction of dependence, as `ARCHITECTURE.md` draws it: no module uses one to its right, and no two modules of a
//! room, at any depth, use each other.
//!
//! What a path means is worked out as the compiler does it, through `use`, `pub use` and `super`; see [`modules`].

mod modules;
mod source;

use modules::{Circle, Modules};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The crates: name, root file, and the crates that each may use.
const CRATES: &[(&str, &str, &[&str])] = &[
    ("kosumi_gtp", "gtp/src/lib.rs", &[]),
    ("kosumi_core", "src/core/lib.rs", &[]),
    ("kosumi", "src/lib.rs", &["kosumi_core", "kosumi_gtp"]),
];

/// The top modules of crates, from left to right. A module may use those before it.
const ORDER: &[(&str, &[&str])] = &[
    (
        "kosumi_core",
        &[
            "rng",
            "sync",
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
            "settled",
            "handicap",
            "sgf",
            "perft",
            "solve",
            "net",
            "playout",
            "eval",
            "search",
            "cluster",
            "engine",
        ],
    ),
    (
        "kosumi",
        &[
            "words",
            "training",
            "files",
            "networks",
            "pages",
            "ranks",
            "statistics",
            "collections",
            "shards",
            "selfplay",
            "review",
            "commands",
            "analysis",
            "players",
            "session",
            "tune",
            "regress",
            "matches",
            "browser",
            "cli",
        ],
    ),
];

/// Names that only some rooms may use.
const RESERVED: &[(&str, &[&str])] = &[
    ("kosumi_gtp", &["commands", "players", "session", "regress", "matches", "cli"]),
    ("Instant", &["engine", "ranks", "session", "regress", "matches", "browser", "cli"]),
    ("SystemTime", &["engine", "session", "matches", "browser", "cli"]),
    ("thread::sleep", &["engine", "files", "matches", "cli"]),
    ("io::stdout", &["cli"]),
    ("io::stderr", &["cli"]),
];

/// Circles that still stand and are to go. A circle that has gone must leave this list, too.
const KNOWN: &[&str] = &[];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The modules of this project.
fn modules() -> Modules {
    let mut modules = Modules::default();
    for (name, file, _) in CRATES {
        modules.add_crate(name, &root().join(file));
    }
    modules
}

#[test]
fn no_module_uses_one_to_its_right() {
    let modules = modules();
    for (name, order) in ORDER {
        let wrong = modules.against(name, order).unwrap();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

#[test]
fn no_modules_use_each_other() {
    let circles = modules().circles();
    let found: BTreeSet<&str> = circles.iter().map(|circle| circle.name.as_str()).collect();
    let known: BTreeSet<&str> = KNOWN.iter().copied().collect();
    let new: Vec<&Circle> = circles.iter().filter(|circle| !known.contains(circle.name.as_str())).collect();
    assert!(new.is_empty(), "circles: {new:#?}");
    let gone: Vec<&&str> = known.difference(&found).collect();
    assert!(gone.is_empty(), "no circles any more: {gone:?}");
}

#[test]
fn crates_use_what_they_may() {
    let modules = modules();
    for (name, _, may) in CRATES {
        for (other, _, _) in CRATES.iter().filter(|(other, _, _)| other != name && !may.contains(other)) {
            assert!(!modules.crate_uses(name, other), "{name} uses {other}");
        }
    }
    // And what they could use: no dependency that the manifest allows is there by mistake.
    for (manifest, forbidden) in [("gtp/Cargo.toml", "kosumi-core"), ("src/core/Cargo.toml", "kosumi-gtp")] {
        let text = fs::read_to_string(root().join(manifest)).unwrap();
        assert!(!text.contains(forbidden), "{manifest} names {forbidden}");
    }
}

#[test]
fn only_the_outer_rooms_talk_and_read_clocks() {
    let modules = modules();
    let mut wrong = Vec::new();
    for (path, module) in modules.iter().filter(|(path, _)| path[0] != "kosumi_gtp") {
        let source = &module.source;
        let imports = source.imports.iter().map(|import| &import.path);
        let said: BTreeSet<String> =
            imports.chain(&source.paths).map(|path| format!("::{}::", path.join("::"))).collect();
        for (name, allowed) in RESERVED {
            let is_said = said.iter().any(|path| path.contains(&format!("::{name}::")));
            if is_said && !path.get(1).is_some_and(|room| allowed.contains(&room.as_str())) {
                wrong.push(format!("{} names {name}", module.file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Writes files into a new folder and reads them as the crate `planted`.
fn planted(files: &[(&str, &str)]) -> (tempfile::TempDir, Modules) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).unwrap();
        fs::write(path, text).unwrap();
    }
    let mut modules = Modules::default();
    modules.add_crate("planted", &folder.path().join("lib.rs"));
    (folder, modules)
}

fn circles(files: &[(&str, &str)]) -> Vec<String> {
    planted(files).1.circles().into_iter().map(|circle| circle.name).collect()
}

const LIB: (&str, &str) = ("lib.rs", "pub mod left;\npub mod right;\n");

#[test]
fn a_planted_circle_is_found_however_it_is_written() {
    let left = ("left.rs", "pub struct Left;\n");
    // Each line closes the circle `left ↔ right`.
    for uses in [
        "use crate::left::Left;",
        "use super::left::Left;",
        "use crate::{left::{Left as L}, right};",
        "use crate::left::*;",
        "pub(crate) fn f() { let _ = super::left::Left; }",
        "fn f() -> crate::left::Left { todo!() }",
        "fn f() { println!(\"{:?}\", crate::left::Left); }",
        "use crate as all; fn f(_: all::left::Left) {}",
    ] {
        let right = format!("pub struct Right;\n{uses}\n");
        let back = ("left.rs", "pub struct Left;\nuse crate::right::Right;\n");
        assert_eq!(circles(&[LIB, left, ("right.rs", &right)]), [""; 0], "{uses}");
        assert_eq!(circles(&[LIB, back, ("right.rs", &right)]), ["planted: left, right"], "{uses}");
    }
}

#[test]
fn a_circle_inside_a_room_is_found() {
    let inner = |deeper: &str| {
        circles(&[
            ("lib.rs", "pub mod room;"),
            ("room/mod.rs", "mod a;\nmod b;\npub use b::B;\nmod tests { }"),
            ("room/a.rs", deeper),
            ("room/b/mod.rs", "mod inner;\npub use inner::B;"),
            ("room/b/inner.rs", "use super::super::a::A;\npub struct B(A);"),
        ])
    };
    assert_eq!(inner("pub struct A;"), [""; 0]);
    // By the file, by the re-export of the parent, by that of the room.
    for uses in ["super::b::B", "super::B", "crate::room::B", "crate::room::b::B"] {
        assert_eq!(inner(&format!("use {uses};\npub struct A;")), ["planted::room: a, b"], "{uses}");
    }
    // Comments, texts and tests say nothing.
    for harmless in [
        "// use super::b::B;",
        "const TEXT: &str = \"crate::room::B\";",
        "#[cfg(test)]\nuse super::b::B;",
        "#[cfg(test)]\nmod tests { use super::super::b::B; }",
    ] {
        assert_eq!(inner(&format!("pub struct A;\n{harmless}")), [""; 0], "{harmless}");
    }
}

#[test]
fn a_circle_of_three_is_one() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::X;"),
        ("b.rs", "pub struct X; use crate::c::Y;"),
        ("c.rs", "pub struct Y; fn f() { crate::a::g() }"),
        ("d.rs", "use crate::a; use crate::b;"),
    ];
    assert_eq!(circles(&files), ["planted: a, b, c"]);
}

#[test]
fn a_planted_wrong_direction_is_found() {
    let right = ("right.rs", "pub struct Right;\n");
    let against =
        |left: &str| planted(&[LIB, ("left.rs", left), right]).1.against("planted", &["left", "right"]);
    assert_eq!(against("use std::fmt;"), Ok(vec![]));
    for left in ["use crate::right::Right;", "fn f() { let _ = super::right::Right; }"] {
        assert_eq!(against(left), Ok(vec!["planted::left uses planted::right".to_owned()]), "{left}");
    }
    let (_folder, modules) = planted(&[LIB, right, ("left.rs", "")]);
    assert!(modules.against("planted", &["left"]).unwrap_err().contains("does not name the module right"));
    assert!(modules.against("planted", &["left", "right", "gone"]).unwrap_err().contains("gone"));
}
