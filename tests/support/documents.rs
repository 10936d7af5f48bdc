//! Checks of the Markdown files: every relative link names an existing file and heading, and the README stays short.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of lines of the README.
const README_LINES: usize = 90;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Adds the Markdown files below a folder.
fn add_documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "node_modules", "shared"].contains(&name.as_str()) {
                add_documents(&path, found);
            }
        } else if path.extension().is_some_and(|it| it == "md") {
            found.push(path);
        }
    }
}

/// Returns the lines of a document with their numbers, except for code blocks.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with("    ") {
            lines.push((index + 1, line));
        }
    }
    lines
}

/// Returns the anchor of a heading, as GitHub forms it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|it| it.is_alphanumeric() || matches!(it, '-' | '_' | ' '));
    kept.map(|it| if it == ' ' { '-' } else { it }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = BTreeSet::new();
    for (_, line) in prose(text) {
        if let Some(heading) = line.strip_prefix('#') {
            let anchor = anchor(heading.trim_start_matches('#'));
            let times = seen.entry(anchor.clone()).or_default();
            all.insert(if *times == 0 { anchor } else { format!("{anchor}-{times}") });
            *times += 1;
        }
    }
    all
}

/// Returns the targets of the links and pictures of a line.
fn targets(line: &str) -> Vec<&str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}

/// Returns the fault of a link in a document, if it has one.
fn fault(document: &Path, target: &str) -> Option<&'static str> {
    if target.starts_with("http://") || target.starts_with("https://") {
        return None;
    }
    let (path, heading) = target.split_once('#').map_or((target, None), |(path, it)| (path, Some(it)));
    let file = if path.is_empty() { document.to_owned() } else { document.parent().unwrap().join(path) };
    if !file.exists() {
        return Some("no such file");
    }
    let heading = heading?;
    let text = fs::read_to_string(&file).ok()?;
    (!anchors(&text).contains(heading)).then_some("no such heading")
}

#[test]
fn links_name_files_and_headings() {
    let mut documents = Vec::new();
    add_documents(&root(), &mut documents);
    assert!(documents.len() >= 40, "{}", documents.len());
    let mut faults = Vec::new();
    for document in &documents {
        let text = fs::read_to_string(document).unwrap();
        for (line, content) in prose(&text) {
            for target in targets(content) {
                if let Some(fault) = fault(document, target) {
                    faults.push(format!("{}:{line}: {target}: {fault}", document.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Checks that no link is inside a code block, where it would be shown as text.
#[test]
fn no_link_is_in_a_code_block() {
    let mut documents = Vec::new();
    add_documents(&root(), &mut documents);
    for document in &documents {
        let text = fs::read_to_string(document).unwrap();
        let shown: BTreeSet<usize> = prose(&text).into_iter().map(|(line, _)| line).collect();
        for (index, line) in text.lines().enumerate() {
            let is_link = targets(line).iter().any(|it| it.ends_with(".md") && !it.contains(' '));
            assert!(!is_link || shown.contains(&(index + 1)), "{}:{}: {line}", document.display(), index + 1);
        }
    }
}

#[test]
fn broken_links_are_found() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents");
    fs::create_dir_all(&folder).unwrap();
    let document = folder.join("a.md");
    fs::write(&document, "# One thing\n\n## `Two`, of them\n\n## One thing\n").unwrap();
    for (target, expected) in [
        ("a.md", None),
        ("#one-thing", None),
        ("#one-thing-1", None),
        ("a.md#two-of-them", None),
        ("https://example.com/#missing", None),
        ("b.md", Some("no such file")),
        ("#three", Some("no such heading")),
        ("a.md#one-thing-2", Some("no such heading")),
    ] {
        assert_eq!(fault(&document, target), expected, "{target}");
    }
    assert_eq!(targets("[a](b.md) and ![c](d.png)"), ["b.md", "d.png"]);
    assert_eq!(prose("a\n```\n# b\n```\n    c\nd"), [(1, "a"), (6, "d")]);
}

#[test]
fn the_readme_is_short() {
    let lines = fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= README_LINES, "{lines} lines");
}
