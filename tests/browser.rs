//! A page in a browser: what the tests of pages have in common.
//!
//! They need node, `npm ci` in `tests/pages`, and Chromium (where it usually is, or in `KOSUMI_CHROMIUM`); where one of
//! them is missing a test says so and does nothing.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program under test, for scripts that start it.
pub(crate) const KOSUMI: &str = env!("CARGO_BIN_EXE_kosumi");

/// A browser, and a folder for what a test makes, and for its pictures.
pub(crate) struct Browser {
    chromium: PathBuf,
    /// `target/tmp/NAME`, which was empty at first.
    pub(crate) folder: PathBuf,
}

impl Browser {
    /// `None` where there is no browser, or nothing that drives it.
    pub(crate) fn find(name: &str) -> Option<Browser> {
        kosumi_test_support::node(&pages(), "playwright-core")?;
        let chromium = kosumi_test_support::chromium()?;
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Some(Browser { chromium, folder })
    }

    /// Runs a script of `tests/pages` with the browser, other arguments and the folder, and expects it to say that all is
    /// well.
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
