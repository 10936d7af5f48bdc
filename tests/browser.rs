//! Common parts of the tests of pages in a browser.
//!
//! The tests need Node, `npm ci` in `tests/pages`, and Chromium (in its usual place, or named by `KOSUMI_CHROMIUM`). If
//! one of these is missing, a test reports this and is skipped.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Program under test, for scripts that start it.
pub(crate) const KOSUMI: &str = env!("CARGO_BIN_EXE_kosumi");

/// Browser, with a folder for the output and the pictures of a test.
pub(crate) struct Browser {
    chromium: PathBuf,
    /// `target/tmp/NAME`, which is emptied first.
    pub(crate) folder: PathBuf,
}

impl Browser {
    /// Finds the browser. Returns `None` if the browser or its driver is missing.
    pub(crate) fn find(name: &str) -> Option<Browser> {
        Browser::find_with(name, "playwright-core")
    }

    /// Finds the browser. Returns `None` if the browser, its driver or this package is missing.
    pub(crate) fn find_with(name: &str, package: &str) -> Option<Browser> {
        for package in ["playwright-core", package] {
            kosumi_test_support::node(&pages(), package)?;
        }
        let chromium = kosumi_test_support::chromium()?;
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Some(Browser { chromium, folder })
    }

    /// Runs a script of `tests/pages`, with the browser, further arguments and the folder as its arguments. Panics if
    /// the script fails.
    pub(crate) fn run(&self, script: &str, arguments: &[&dyn AsRef<OsStr>]) {
        let went = Command::new("node")
            .arg(pages().join(script))
            .arg(&self.chromium)
            .args(arguments.iter().map(|argument| argument.as_ref()))
            .arg(&self.folder)
            .env("KOSUMI_MODEL", kosumi_test_support::small_network())
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8_lossy(&went.stdout), String::from_utf8_lossy(&went.stderr));
        assert!(went.status.success() && out.contains("all well"), "{out}{err}");
    }
}

fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages")
}
