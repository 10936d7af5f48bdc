//! Integration tests of `kosumi` as a program and as a library.
//!
//! All tests are in one program. Separate programs would each link the whole engine, and a program that waits for a
//! browser would block the others. `cargo test --profile checked --test program autosave::` runs the tests of
//! `tests/autosave.rs`.
#![allow(clippy::disallowed_methods, reason = "this crate reads clocks")]

mod analysis_engine;
mod autosave;
mod browser;
mod browser_play;
mod browser_study;
mod browser_web;
mod built_in_network;
mod client_configurations;
mod clients;
mod differential;
mod disturbances;
mod failing_disk;
mod final_status;
mod full_disk;
mod gtp_process;
mod gtp_session;
mod human_play;
mod input_cost;
mod katago_oracle;
mod katrain;
mod match_resume;
mod network;
mod parameters;
mod passing;
mod planted_faults;
mod protocols;
mod ranks;
mod regress_command;
mod result_pages;
mod review;
mod review_page;
mod selfplay;
mod sgf_collections;
mod solve;
mod training;
mod tune;
mod upgrades;

/// Checks that every file is declared above, because the tests in other files would never be run.
#[test]
fn every_file_is_run() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let this = include_str!("main.rs");
    let manifest = include_str!("../Cargo.toml");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if path.extension().is_some_and(|it| it == "rs") && stem != "main" {
            let is_run = this.contains(&format!("\nmod {stem};\n"))
                || manifest.contains(&format!("path = \"tests/{stem}.rs\""));
            assert!(is_run, "{stem} is missing in tests/main.rs");
        }
    }
}
