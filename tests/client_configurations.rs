//! Configurations in `scripts/clients`: the engine starts with each of them and answers the first commands of its
//! client, and an installed client accepts its configuration.
//!
//! kgsGtp and the client of CGOS are in no package registry. Therefore only the command lines in their configurations
//! are tested.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/clients")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

/// Returns the value after the first `key=` or `key = `.
fn value<'t>(text: &'t str, key: &str) -> &'t str {
    let of = |line: &'t str| Some(line.trim().strip_prefix(key)?.trim_start().strip_prefix('=')?.trim());
    text.lines().find_map(of).unwrap_or_else(|| panic!("no {key}"))
}

/// Runs the engine with the arguments of a command line, and sends it lines, all of which it must accept.
fn answers(command: &[String], lines: &[&str]) -> String {
    let (program, arguments) = command.split_first().unwrap();
    assert!(program.ends_with("/kosumi"), "{program}: programs that start the engine do not know PATH");
    let mut child = Command::new(env!("CARGO_BIN_EXE_kosumi"))
        .args(arguments)
        .env("KOSUMI_MODEL", kosumi_test_support::small_network())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {err}");
    assert_eq!(out.matches("\n\n").count(), lines.len(), "{out}");
    let refused = out.split("\n\n").find(|answer| answer.trim_start().starts_with('?'));
    assert_eq!(refused, None, "{command:?}");
    out.into_owned()
}

fn words(line: &str) -> Vec<String> {
    assert!(!line.contains(['"', '\'']), "the client splits at spaces: {line}");
    line.split_ascii_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_engine_starts_as_kgsgtp_is_told_to() {
    let command = words(value(&text("kgs.properties"), "engine"));
    let lines = ["list_commands", "boardsize 9", "clear_board", "kgs-rules chinese", "komi 6.5"];
    let more = ["kgs-time_settings byoyomi 10 1 5", "time_left b 10 0", "kgs-genmove_cleanup b", "quit"];
    let out = answers(&command, &[&lines[..], &more].concat());
    assert!(out.contains("kgs-game_over") && out.contains("final_status_list"), "{out}");
}

#[test]
fn the_engine_starts_as_the_client_of_cgos_is_told_to() {
    let command = words(value(&text("cgos.cfg"), "CommandLine"));
    let lines = ["list_commands", "boardsize 9", "clear_board", "komi 7", "time_settings 60 0 0"];
    let out = answers(&command, &[&lines[..], &["time_left b 60 0", "play b e5", "quit"]].concat());
    assert!(out.contains("cgos-genmove_analyze"), "{out}");
}

fn gtp2ogs() -> Value {
    json5::from_str(&text("gtp2ogs.json5")).unwrap()
}

fn command_of(config: &Value) -> Vec<String> {
    let words = config["bot"]["command"].as_array().unwrap();
    words.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_engine_starts_as_gtp2ogs_is_told_to() {
    let lines = ["list_commands", "boardsize 9 9", "clear_board", "komi 6.5"];
    let more = ["kata-time_settings fischer-capped 60 10 120 -1", "time_left b 60 0", "play b e5", "quit"];
    answers(&command_of(&gtp2ogs()), &[&lines[..], &more].concat());
}

/// Limits that gtp2ogs 9 has for a speed: the kinds of clock and their ranges.
const CLOCKS: [(&str, &[&str]); 3] = [
    ("simple", &["per_move_time_range"]),
    ("byoyomi", &["main_time_range", "period_time_range", "periods_range"]),
    ("fischer", &["initial_time_range", "max_time_range", "time_increment_range"]),
];

/// Checks that each allowed kind of clock has all its ranges, and that no game has to wait for an engine.
#[test]
fn gtp2ogs_has_ranges_for_every_clock_and_an_engine_per_game() {
    let config = gtp2ogs();
    let mut games = 0;
    for speed in ["blitz", "rapid", "live", "correspondence"] {
        let name = format!("allowed_{speed}_settings");
        // If a setting is missing, gtp2ogs mostly allows everything.
        let settings = config.get(&name).unwrap_or_else(|| panic!("no {name}"));
        let Some(settings) = settings.as_object() else {
            assert!(settings.is_null(), "{name}");
            continue;
        };
        games += settings["concurrent_games"].as_u64().unwrap();
        for (clock, ranges) in CLOCKS {
            let is_allowed =
                config["allowed_time_control_systems"].as_array().unwrap().contains(&clock.into());
            assert_eq!(settings.contains_key(clock), is_allowed, "{name}: {clock}");
            let Some(found) = settings.get(clock) else { continue };
            assert_eq!(found.as_object().unwrap().len(), ranges.len(), "{name}: {clock}");
            for range in ranges {
                let ends: Vec<f64> =
                    found[range].as_array().unwrap().iter().map(|end| end.as_f64().unwrap()).collect();
                assert!(ends.len() == 2 && ends[0] <= ends[1], "{name}: {clock}: {range}");
            }
        }
        assert!(
            settings
                .keys()
                .all(|key| key == "concurrent_games" || CLOCKS.iter().any(|(clock, _)| clock == key)),
            "{name}"
        );
    }
    assert_eq!(config["bot"]["manager"], "pool");
    assert!(games > 0 && games <= config["bot"]["instances"].as_u64().unwrap(), "{games} games at once");
}

/// Time limit of the test, far above its usual time.
const PATIENCE: Duration = Duration::from_secs(120);

/// Guard that kills a process when it is dropped, even if a test fails.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// gtp2ogs checks its configuration first, and then starts the engine. The test has no server.
#[test]
fn gtp2ogs_starts_with_its_configuration() {
    let Some(program) = kosumi_test_support::gtp2ogs() else { return };
    let folder = tempfile::TempDir::new().unwrap();
    let (config, started) = (folder.path().join("gtp2ogs.json5"), folder.path().join("started"));
    let mut wanted = gtp2ogs();
    let mut command = command_of(&wanted);
    command[0] = env!("CARGO_BIN_EXE_kosumi").to_owned();
    let script = "touch \"$0\"; exec \"$@\"";
    let wrapped = ["sh", "-c", script, started.to_str().unwrap()].map(str::to_owned);
    wanted["bot"]["command"] = wrapped.into_iter().chain(command).collect::<Vec<_>>().into();
    fs::write(&config, wanted.to_string()).unwrap();
    let mut child = Command::new("node")
        .arg(program)
        .arg("-c")
        .arg(&config)
        .args(["--server", "http://127.0.0.1:9"])
        .env("KOSUMI_MODEL", kosumi_test_support::small_network())
        .stdin(Stdio::null())
        .stdout(fs::File::create(folder.path().join("out")).unwrap())
        .stderr(fs::File::create(folder.path().join("err")).unwrap())
        .spawn()
        .map(KillOnDrop)
        .unwrap();
    let begin = Instant::now();
    while !started.exists() {
        let ended = child.0.try_wait().unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(ended.is_none() && begin.elapsed() < PATIENCE, "{}{}", read("out"), read("err"));
        thread::sleep(Duration::from_millis(50));
    }
}
