//! The page and the engine of `scripts/web` in a browser: `tests/pages/web*.mjs`.
//!
//! The tests use the folder that `KOSUMI_WEB` names, or `target/web`. `scripts/web` builds it. This takes minutes, so
//! the tests do not do it: if the folder is missing, they report this and are skipped.

use crate::browser::Browser;
use kosumi_net::{Encoding, random};
use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};

fn web() -> Option<PathBuf> {
    let usual = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("web");
    kosumi_test_support::web(env::var_os("KOSUMI_WEB").map_or_else(usual, PathBuf::from))
}

#[test]
fn the_page_without_a_program_works() {
    if let (Some(web), Some(browser)) = (web(), Browser::find("web-page")) {
        browser.run("web_page.mjs", &[&web]);
    }
}

#[test]
fn the_large_network_is_downloaded_and_kept() {
    if let (Some(web), Some(browser)) = (web(), Browser::find("web-networks")) {
        browser.run("web_networks.mjs", &[&web]);
    }
}

#[test]
fn the_graphics_card_of_a_browser_computes_what_the_processor_computes() {
    if let (Some(web), Some(browser)) = (web(), Browser::find("web-gpu")) {
        let tiny = browser.folder.join("tiny.bin");
        let network = random::network(&random::Options::default()).unwrap();
        network.write(Encoding::Binary, File::create(&tiny).unwrap()).unwrap();
        browser.run("web_gpu.mjs", &[&web, &tiny]);
    }
}

#[test]
fn the_engine_in_a_browser_has_the_signatures_of_the_program() {
    if let (Some(web), Some(browser)) = (web(), Browser::find("web-engine")) {
        browser.run("web.mjs", &[&web]);
    }
}
