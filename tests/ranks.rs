//! Tests of Kosumi over MPI ranks on this machine.

#![cfg(unix)]

use kosumi_test_support::mpirun;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::iter;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Returns a command for `kosumi` under `mpirun`, if MPI is available.
fn kosumi(processes: usize, options: &[&str]) -> Option<Command> {
    let mut command = mpirun(cfg!(feature = "mpi"), processes)?;
    command.args(options).arg(env!("CARGO_BIN_EXE_kosumi"));
    Some(command)
}

/// GTP session over ranks.
struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Session {
    fn start(mut command: Command) -> Session {
        command.env("KOSUMI_MODEL", kosumi_test_support::small_network());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Session { child, input, output: BufReader::new(output) }
    }

    fn send(&mut self, command: &str) {
        writeln!(self.input, "{command}").unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Returns the response to a command.
    fn ask(&mut self, command: &str) -> String {
        self.send(command);
        let answer = self.line();
        assert_eq!(self.line(), "", "after {answer}");
        answer
    }

    /// Ends the session. Returns whether it succeeded, and its standard error.
    fn end(mut self) -> (bool, String) {
        self.send("quit");
        drop(self.input);
        let output = self.child.wait_with_output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[test]
fn a_game_is_played_over_four_ranks() {
    let Some(mut command) = kosumi(4, &[]) else { return };
    command.args(["gtp", "--boardsize", "7", "--visits", "60", "--memory", "32"]);
    let mut session = Session::start(command);
    assert_eq!(session.ask("name"), "= Kosumi");
    for color in ["b", "w", "b", "w"] {
        let answer = session.ask(&format!("genmove {color}"));
        assert!(answer.starts_with("= ") && answer.len() <= 6, "{answer}");
    }
    // Settings that all ranks must receive, and a new game.
    assert_eq!(session.ask("kata-set-param nnPolicyTemperature 1.2"), "=");
    assert_eq!(session.ask("clear_board"), "=");
    assert!(session.ask("genmove b").starts_with("= "));
    // Reports during the search, which ends when input arrives.
    session.send("lz-analyze b 5");
    assert_eq!(session.line(), "=");
    assert!(session.line().starts_with("info move "));
    session.send("name");
    // The search reports at most 20 times a second, until it ends.
    let reports = iter::from_fn(|| Some(session.line()).filter(|line| !line.is_empty()));
    assert!(reports.take(200).count() < 200, "the analysis goes on");
    assert_eq!(session.line(), "= Kosumi");
    assert_eq!(session.line(), "");
    let (is_success, errors) = session.end();
    assert!(
        is_success && errors.contains("searches with 4 ranks") && !errors.contains("gives up"),
        "{errors}"
    );
}

/// Returns the games of a self-play log by number.
fn games(folder: &Path) -> BTreeMap<u64, Value> {
    let mut games = BTreeMap::new();
    let Ok(entries) = fs::read_dir(folder) else { return games };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            if let Some(game) = serde_json::from_str::<Value>(line).unwrap().get("game") {
                let twice = games.insert(game["number"].as_u64().unwrap(), game.clone());
                assert!(twice.is_none(), "{game}");
            }
        }
    }
    games
}

const SELFPLAY: [&str; 9] =
    ["selfplay", "--no-model", "--sizes", "5,4x6:2", "--visits", "20", "--shard", "150", "--games"];

#[test]
fn selfplay_over_ranks_plays_the_games_of_one_process() {
    let Some(mut ranks) = kosumi(3, &[]) else { return };
    let scratch = TempDir::new().unwrap();
    let (one, many) = (scratch.path().join("one"), scratch.path().join("many"));
    let mut alone = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    for (command, folder) in [(&mut alone, &one), (&mut ranks, &many)] {
        command.args(SELFPLAY).args(["24", "--threads", "1", "--out"]).arg(folder);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(games(&one).len(), 24);
    assert_eq!(games(&one), games(&many));
}

/// Returns the descendants of a process.
fn descendants(of: u32) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        let name = fs::read(entry.path().join("environ")).unwrap_or_default();
        if parent == Some(of) {
            found.push((pid, String::from_utf8_lossy(&name).into_owned()));
        }
    }
    found
}

/// Kills rank 1 of a run as soon as `is_time` returns true. Checks repeatedly, because a run of several processes sends
/// no event. The time limit only matters if the run does not begin.
fn kill_rank_1(child: &Child, is_time: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_time() {
        assert!(start.elapsed() < Duration::from_secs(120), "the run does not begin");
        thread::sleep(Duration::from_millis(5));
    }
    let ranks = descendants(child.id());
    let is_1 = |environ: &str| environ.split('\0').any(|word| word == "OMPI_COMM_WORLD_RANK=1");
    let (pid, _) = ranks.iter().find(|(_, environ)| is_1(environ)).expect("rank 1");
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

#[test]
fn a_killed_rank_costs_no_game_of_selfplay() {
    let scratch = TempDir::new().unwrap();
    let folder = scratch.path().join("games");
    for options in [&[][..], &["--enable-recovery"]] {
        let Some(mut command) = kosumi(3, options) else { return };
        let _ = fs::remove_dir_all(&folder);
        command.args(SELFPLAY).args(["60", "--threads", "1", "--out"]).arg(&folder);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        kill_rank_1(&child, || games(&folder).len() >= 6);
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if options.is_empty() {
            // Open MPI ends all other ranks. Finished games are in the log, and the same command resumes.
            assert!(!output.status.success());
            let before = games(&folder);
            assert!(before.len() >= 6 && before.len() < 60, "{}", before.len());
            let mut again = kosumi(3, &[]).unwrap();
            again.args(SELFPLAY).args(["60", "--threads", "1", "--out"]).arg(&folder);
            assert!(again.output().unwrap().status.success());
            let after = games(&folder);
            assert!(before.iter().all(|(number, game)| after.get(number) == Some(game)));
        } else {
            assert!(errors.contains("rank 1 is lost"), "{errors}");
        }
        assert_eq!(games(&folder).len(), 60, "{errors}");
    }
}

/// Runs a command in one process and over three ranks, each in a folder of its own.
fn run_both(options: &[&str], arguments: &[&str], scratch: &Path) -> Option<[String; 2]> {
    let mut ranks = kosumi(3, options)?;
    let mut alone = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    let mut outputs = Vec::new();
    for (command, folder) in [(&mut alone, "one"), (&mut ranks, "many")] {
        let folder = scratch.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let output = command.args(arguments).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        outputs.push(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    outputs.try_into().ok()
}

/// Returns the files of a folder with their contents.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file());
    files
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect()
}

/// Returns a game on 5×5 that differs from all others.
fn record(number: usize) -> String {
    let (a, b) = (['a', 'b', 'c', 'd', 'e'][number % 5], ['a', 'b', 'c', 'd', 'e'][number / 5 % 5]);
    let year = 2000 + number % 20;
    // Each stone is in a separate row.
    let moves = format!("B[{a}a];W[{b}e];B[{b}c];W[{a}d];B[{b}b];W[];B[];W[];B[];W[];B[]");
    format!("(;GM[1]FF[4]SZ[5]KM[{}]RE[B+R]DT[{year}-01-02]PB[p{number}];{moves})\n", number % 8,)
}

#[test]
fn distributed_commands_give_the_results_of_one_process() {
    let scratch = TempDir::new().unwrap();
    let games: String = (0..2000).map(record).collect();
    fs::write(scratch.path().join("games.sgf"), games).unwrap();
    for number in 0..5 {
        fs::write(scratch.path().join(format!("game{number}.sgf")), record(number * 7 + 1)).unwrap();
    }
    let section = |number: u32| {
        format!("boardsize 5\nclear_board\nplay b C3\n{number} reg_genmove w\n#? [C4|D3|C2|B3]\n")
    };
    let suite: String = (0..30).map(|index| section(10 * index)).collect();
    fs::write(scratch.path().join("suite.tst"), suite).unwrap();
    let commands: [(&str, &[&str]); 6] = [
        ("", &["sgf", "stats", "../games.sgf", "--json", "stats.json", "--threads", "1"]),
        ("", &["sgf", "filter", "../games.sgf", "--moves", "9..", "--player", "p1", "-o", "taken.sgf"]),
        ("s: ", &["sgf", "replay", "../games.sgf", "--ko", "simple", "--list", "7"]),
        ("", &["features", "../games.sgf", "--out", ".", "--shard", "700", "--off-policy", "200"]),
        (
            " s\n",
            &[
                "review",
                "../game0.sgf",
                "../game1.sgf",
                "../game2.sgf",
                "../game3.sgf",
                "../game4.sgf",
                "--no-model",
                "--playouts",
                "60",
                "--threads",
                "1",
                "--memory",
                "8",
                "-o",
                ".",
            ],
        ),
        (" s", &["regress", "../suite.tst", "--no-model", "--playouts", "30", "-v", "--junit", "all.xml"]),
    ];
    for (time, arguments) in commands {
        let Some(outputs) = run_both(&[], arguments, scratch.path()) else { return };
        // Lines with times may differ.
        let timeless = |text: &str| -> Vec<String> {
            let is_timeless = |line: &&str| time.is_empty() || !format!("{line}\n").contains(time);
            text.lines().filter(is_timeless).map(str::to_owned).collect()
        };
        assert_eq!(timeless(&outputs[0]), timeless(&outputs[1]), "{arguments:?}");
        assert!(!outputs[0].is_empty() || arguments.contains(&"-o") || arguments.contains(&"--json"));
    }
    let [mut one, mut many] = ["one", "many"].map(|folder| files(&scratch.path().join(folder)));
    // This file contains times.
    let cases = |files: &mut BTreeMap<String, Vec<u8>>| {
        let text = String::from_utf8(files.remove("all.xml").unwrap()).unwrap();
        text.matches("<testcase").count()
    };
    assert_eq!((cases(&mut one), cases(&mut many)), (30, 30));
    assert!(one.len() > 12, "{:?}", one.keys());
    for (name, bytes) in &one {
        assert!(many.get(name) == Some(bytes), "{name}");
    }
    assert_eq!(one.len(), many.len());
}

#[test]
fn pieces_of_a_killed_rank_are_reassigned() {
    let scratch = TempDir::new().unwrap();
    let Some(mut command) = kosumi(3, &["--enable-recovery"]) else { return };
    // Rank 0 reads from a pipe that is still open when rank 1 dies, so there are pieces before and after.
    let taken = scratch.path().join("taken.sgf");
    command.args(["sgf", "filter", "-", "--moves", "9..", "-o"]).arg(&taken);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let games: Vec<String> = (0..20_000).map(record).collect();
    input.write_all(games[..10_000].concat().as_bytes()).unwrap();
    // The first half is being processed. A filter writes while it reads.
    kill_rank_1(&child, || bytes_in(scratch.path()) > 0);
    input.write_all(games[10_000..].concat().as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("rank 1 is lost"), "{errors}");
    assert_eq!(fs::read_to_string(&taken).unwrap(), games.concat(), "{errors}");
}

/// Returns the total size of the files of a folder, in bytes.
fn bytes_in(folder: &Path) -> u64 {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().map_or(0, |it| it.len())).sum()
}

/// Returns the games of a match log by number.
fn match_games(log: &Path) -> BTreeMap<u64, Value> {
    let mut games = BTreeMap::new();
    let text = fs::read_to_string(log).unwrap_or_default();
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        if let Some(game) = serde_json::from_str::<Value>(line).unwrap().get("game") {
            let twice = games.insert(game["number"].as_u64().unwrap(), game.clone());
            assert!(twice.is_none(), "{game}");
        }
    }
    games
}

#[test]
fn a_killed_rank_costs_no_game_of_a_match() {
    let scratch = TempDir::new().unwrap();
    let (log, records) = (scratch.path().join("log.jsonl"), scratch.path().join("games"));
    let player = "builtin:no-model,playouts=60,memory=4";
    let arguments = ["match", player, player, "--size", "5", "--games", "60", "--jobs", "1", "--resume"];
    for options in [&[][..], &["--enable-recovery"]] {
        let Some(mut command) = kosumi(3, options) else { return };
        let _ = fs::remove_file(&log);
        let _ = fs::remove_dir_all(&records);
        command.args(arguments).arg("--log").arg(&log).arg("--sgf").arg(&records);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        kill_rank_1(&child, || match_games(&log).len() >= 6);
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if options.is_empty() {
            // Open MPI ends all other ranks. Finished games are in the log, and the same command resumes.
            assert!(!output.status.success());
            let before = match_games(&log);
            assert!(before.len() >= 6 && before.len() < 60, "{}", before.len());
            let mut again = kosumi(3, &[]).unwrap();
            again.args(arguments).arg("--log").arg(&log).arg("--sgf").arg(&records);
            assert!(again.output().unwrap().status.success());
            let after = match_games(&log);
            assert!(before.iter().all(|(number, game)| after.get(number) == Some(game)));
        } else {
            assert!(errors.contains("rank 1 is lost"), "{errors}");
        }
        let wanted: Vec<u64> = (1..=60).collect();
        assert_eq!(match_games(&log).into_keys().collect::<Vec<_>>(), wanted, "{errors}");
        // A process that was killed may leave an unfinished record, under another name.
        let names = fs::read_dir(&records).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(names.filter(|path| path.extension().is_some_and(|end| end == "sgf")).count(), 60);
    }
}

/// Builds with assertions check sums and descents in every search over ranks (`cluster::audit`); a rank that finds a
/// fault exits. In builds without assertions, there is nothing to test.
#[cfg(debug_assertions)]
#[test]
fn sums_are_exact_and_descents_legal_over_four_ranks() {
    for (rules, placement) in [("tromp-taylor", "hashed"), ("japanese", "hashed"), ("aga", "central")] {
        let Some(mut command) = kosumi(4, &[]) else { return };
        command.env("KOSUMI_PLACEMENT", placement);
        command.args(["gtp", "--boardsize", "5", "--rules", rules, "--visits", "300", "--memory", "8"]);
        let mut session = Session::start(command);
        // There are a ko in the corner and many captures, so superko matters.
        for (turn, vertex) in ["b2", "c2", "a1", "d1", "c1", "b1"].iter().enumerate() {
            assert_eq!(session.ask(&format!("play {} {vertex}", ["b", "w"][turn % 2])), "=");
        }
        for turn in 0..14 {
            let answer = session.ask(&format!("genmove {}", ["b", "w"][turn % 2]));
            assert!(answer.starts_with("= "), "{answer}");
            if answer == "= resign" {
                break;
            }
        }
        let (is_success, errors) = session.end();
        assert!(is_success && errors.contains("searches with 4 ranks"), "{errors}");
        assert!(!errors.contains("panicked") && !errors.contains("alone"), "{errors}");
    }
}
