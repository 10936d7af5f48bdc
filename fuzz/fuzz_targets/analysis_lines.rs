//! Arbitrary bytes as lines of the analysis protocol: nothing panics, hangs or grows without bound, and every output
//! line is a JSON object of a known kind.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run analysis_lines -- -max_total_time=600 -detect_leaks=0 -dict=fuzz/analysis.dict
//! ```
#![no_main]

use kosumi_engine::Analyst;
use kosumi_eval::NetworkSettings;
use kosumi_net::{Network, random};
use kosumi_tools::analysis::{Config, Models, Server};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::io::Cursor;
use std::sync::{Arc, LazyLock};

/// A network with a metadata encoder (human policy), so that all queries are possible.
static NETWORK: LazyLock<Arc<Network>> = LazyLock::new(|| {
    let options = random::Options { version: 15, has_metadata_encoder: true, ..random::Options::default() };
    Arc::new(random::network(&options).expect("a network"))
});

fuzz_target!(|input: &[u8]| {
    // Longer inputs are slower but do not test more.
    let input = &input[..input.len().min(4000)];
    let mut config = Config::new(NetworkSettings::default());
    config.override_with("maxVisits=4,numAnalysisThreads=2").expect("known keys");
    let analyst = Analyst::new(Arc::clone(&NETWORK), None, NetworkSettings::default(), 1, 1);
    let models = Models { version: "0".to_owned(), names: vec!["net".to_owned()] };
    // All queries end at the end of the input.
    let server = Server::new(config, models, analyst, 1).quitting_at_once(true);
    let mut output = Vec::new();
    server.serve(Cursor::new(input), &mut output).expect("neither end fails");
    for line in String::from_utf8(output).expect("answers are text").lines() {
        let answer: Value = serde_json::from_str(line).expect("answers are JSON");
        let has = |key: &str| answer.get(key).is_some();
        assert!(
            has("error") && (has("id") == has("field"))
                || has("warning") && has("id") && has("field")
                || has("action") && has("id")
                || has("id") && has("turnNumber") && (has("rootInfo") || has("noResults")),
            "{line}"
        );
    }
});
