//! Saved games: a game resumes after the program was killed at any moment.

use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::board::BoardSize;
use kosumi_go::rng::Rng;
use kosumi_gtp::InputWatch;
use kosumi_tools::commands::Commands;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

struct Scratch(TempDir);

impl Scratch {
    fn new() -> Scratch {
        Scratch(TempDir::new().unwrap())
    }

    fn texts(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> =
            entries.filter(|path| path.extension().is_some_and(|end| end == "sgf")).collect();
        files.sort();
        files.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
    }
}

/// Running engine. It is killed when it is dropped.
struct EngineProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    errors: Option<ChildStderr>,
}

impl EngineProcess {
    fn start(folder: &Path, options: &[&str]) -> EngineProcess {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kosumi"))
            .args(["gtp", "--no-model", "--threads", "1", "--memory", "1", "--playouts", "4"])
            .args(["--never-resign", "--boardsize", "4", "--autosave"])
            .arg(folder)
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let errors = child.stderr.take();
        EngineProcess { child, input, output, errors }
    }

    fn send(&mut self, command: &str) {
        self.input.write_all(format!("{command}\n").as_bytes()).unwrap();
    }

    /// Returns a whole response, without its status character and the empty line.
    fn answer(&mut self) -> String {
        let mut text = String::new();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the engine has ended after {text:?}");
            if line == "\n" {
                return text.trim_start_matches('=').trim().to_owned();
            }
            text.push_str(&line);
        }
    }

    fn ask(&mut self, command: &str) -> String {
        self.send(command);
        self.answer()
    }

    fn state(&mut self) -> Vec<String> {
        STATE_COMMANDS.iter().for_each(|question| self.send(question));
        STATE_COMMANDS.iter().map(|_| self.answer()).collect()
    }

    /// Ends the session, and returns the standard error.
    fn quit(mut self) -> String {
        self.ask("quit");
        self.child.wait().unwrap();
        let mut text = String::new();
        self.errors.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Commands that report the state of a game.
const STATE_COMMANDS: [&str; 7] =
    ["showboard", "move_history", "get_komi", "kata-get-rules", "all_legal b", "all_legal w", "get_handicap"];

/// Returns the responses of an engine that was never interrupted, after these commands.
fn uninterrupted(commands: &[String]) -> Vec<String> {
    let settings = EngineSettings { threads: 1, memory_mebibytes: 1, ..EngineSettings::default() };
    let mut engine = Engine::new(settings);
    engine.set_size(BoardSize::square(4).unwrap());
    let mut handler = Commands::new(engine);
    let mut ask = |line: &str| match kosumi_gtp::answer(line, &mut handler, &InputWatch::default()).unwrap() {
        Ok(body) => body.trim().to_owned(),
        Err(message) => format!("? {message}"),
    };
    commands.iter().for_each(|line| drop(ask(line)));
    STATE_COMMANDS.map(ask).to_vec()
}

/// Returns a random command of a controller.
fn command(rng: &mut Rng, state: &[String]) -> String {
    let (own, other) = if state[0].contains("Black to move") { ("b", "w") } else { ("w", "b") };
    let color = if rng.chance(30) { other } else { own };
    let point = format!("{}{}", ["A", "B", "C", "D"][rng.below(4) as usize], rng.below(4) + 1);
    match rng.below(24) {
        0 => "undo".to_owned(),
        1 => format!("komi {}", rng.below(20) as f32 / 2.0),
        2 => format!("kata-set-rules {}", ["cgos", "aga", "tromp-taylor", "japanese"][rng.below(4) as usize]),
        3 if rng.chance(60) => "clear_board".to_owned(),
        4 if rng.chance(60) => format!("set_free_handicap A1 {point}"),
        5 => "time_settings 10 5 2".to_owned(),
        6 => format!("gg-undo {}", rng.below(4)),
        7..12 => format!("genmove {own}"),
        _ => format!("play {color} {point}"),
    }
}

#[test]
fn killed_at_a_hundred_moments_nothing_is_lost() {
    killed(100, 9);
}

/// Run it with `cargo test --profile checked --test program autosave:: -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn killed_at_a_thousand_moments_nothing_is_lost() {
    killed(1000, 10);
}

fn killed(moments: usize, seed: u64) {
    let scratch = Scratch::new();
    let mut rng = Rng::new(seed);
    // Commands that were certainly carried out, with the engine's moves as `play` commands. The command that the kill
    // may have interrupted follows.
    let mut done: Vec<String> = Vec::new();
    let mut on_the_way: Option<String> = None;
    for round in 0..moments {
        let mut player = EngineProcess::start(scratch.0.path(), &["--resume"]);
        let mut state = player.state();
        if let Some(line) = on_the_way.take().filter(|_| state != uninterrupted(&done)) {
            // The engine's own move is known only from the response.
            let own = line.starts_with("genmove");
            done.push(if own { format!("play {}", player.ask("last_move")) } else { line });
        }
        assert_eq!(state, uninterrupted(&done), "{round}: {:?}", done.last());
        for _ in 0..rng.below(6) {
            // Two passes would end the game, and a finished game is not resumed.
            let line = if player.ask("last_move").ends_with("PASS") {
                "undo".to_owned()
            } else {
                command(&mut rng, &state)
            };
            let asked = Instant::now();
            let answer = player.ask(&line);
            // A response does not wait longer than this for a slow disk, so the saved game may then be older.
            if asked.elapsed() > Duration::from_millis(100) {
                thread::sleep(Duration::from_secs(2));
            }
            done.push(match line.strip_prefix("genmove") {
                Some(color) => format!("play {color} {answer}"),
                None => line,
            });
            state = player.state();
        }
        // Answered commands must be saved. In every other round, another command is in progress when the process is
        // killed.
        if round % 2 == 0 && !player.ask("last_move").ends_with("PASS") {
            let line = command(&mut rng, &state);
            player.send(&line);
            thread::sleep(Duration::from_micros(rng.below(4000).into()));
            on_the_way = Some(line);
        }
        drop(player);
    }
    assert!(done.len() > 2 * moments);
}

/// Checks that the game that was saved last is resumed, not the one whose time comes from a clock that was ahead.
#[test]
fn a_clock_that_was_set_back_does_not_bring_an_older_game_back() {
    let scratch = Scratch::new();
    let mut player = EngineProcess::start(scratch.0.path(), &[]);
    player.ask("play b B2");
    // A session that is killed may be ahead of a slow disk, so this one quits.
    player.quit();
    let older = fs::read_dir(scratch.0.path()).unwrap().next().unwrap().unwrap().path();
    let ahead = SystemTime::now() + Duration::from_secs(3600);
    fs::File::options().append(true).open(older).unwrap().set_modified(ahead).unwrap();
    // A new game shares no command with the older one, and a third game follows.
    for vertex in ["C3", "D4"] {
        let mut player = EngineProcess::start(scratch.0.path(), &[]);
        player.ask(&format!("play b {vertex}"));
        player.quit();
        let mut player = EngineProcess::start(scratch.0.path(), &["--resume"]);
        assert_eq!(player.ask("last_move"), format!("black {vertex}"));
    }
    assert_eq!(scratch.texts().len(), 3);
}

#[test]
fn a_controller_that_starts_again_goes_on_in_one_file() {
    let scratch = Scratch::new();
    let moves = ["komi 3", "play b B2", "play w C3"];
    let mut player = EngineProcess::start(scratch.0.path(), &[]);
    moves.iter().for_each(|line| drop(player.ask(line)));
    drop(player);
    let mut player = EngineProcess::start(scratch.0.path(), &["--resume"]);
    assert_eq!(player.ask("last_move"), "white C3");
    ["boardsize 4", "clear_board"].iter().chain(&moves).for_each(|line| drop(player.ask(line)));
    player.ask("play b B3");
    assert_eq!(scratch.texts().len(), 1, "{:?}", scratch.texts());
    assert!(scratch.texts()[0].contains("KM[3]"));
    assert!(scratch.texts()[0].ends_with(";B[bc];W[cb];B[bb])\n"), "{}", scratch.texts()[0]);
    // Another game does not change the file of the first.
    ["clear_board", "play b A1"].iter().for_each(|line| drop(player.ask(line)));
    assert_eq!(scratch.texts().len(), 2);
    player.ask("clear_board");
    assert_eq!(scratch.texts().len(), 3, "a game without moves is saved, too");
    player.quit();
    assert_eq!(scratch.texts().len(), 2, "but not for ever");
}

#[test]
fn finished_games_stay() {
    let scratch = Scratch::new();
    let mut player = EngineProcess::start(scratch.0.path(), &["--rules", "cgos", "--komi", "0.5"]);
    ["play b B2", "play w pass", "play b pass"].iter().for_each(|line| drop(player.ask(line)));
    assert!(scratch.texts()[0].contains("RE[?]"), "{}", scratch.texts()[0]);
    player.ask("final_score");
    // The response to a query does not wait for the disk.
    player.ask("undo");
    assert!(!scratch.texts()[0].contains("RE["), "the game goes on");
    player.ask("play b pass");
    player.ask("final_score");
    player.quit();
    assert!(scratch.texts()[0].contains("RE[B+15.5]"), "{}", scratch.texts()[0]);
    let mut player = EngineProcess::start(scratch.0.path(), &["--resume"]);
    assert_eq!(player.ask("move_history"), "");
    assert!(player.quit().contains("no unfinished game"));
    assert_eq!(scratch.texts().len(), 1);
    // A finished game can be loaded by the name of its file.
    let entry = fs::read_dir(scratch.0.path()).unwrap().next().unwrap().unwrap().path();
    let mut player = EngineProcess::start(scratch.0.path(), &["--resume", entry.to_str().unwrap()]);
    assert_eq!(player.ask("last_move"), "black PASS");
}

#[test]
fn write_errors_do_not_end_the_game() {
    let scratch = Scratch::new();
    let file = scratch.0.path().join("file");
    fs::write(&file, "no folder").unwrap();
    let log = file.join("log");
    let mut player = EngineProcess::start(&file.join("games"), &["--log", log.to_str().unwrap()]);
    for line in ["play b B2", "genmove w", "komi 3", "clear_board", "play b A1"] {
        assert!(!player.ask(line).starts_with('?'), "{line}");
    }
    let errors = player.quit();
    let lines = |text: &str| errors.lines().filter(|line| line.contains(text)).count();
    // The warning about the folder holds until a game can be saved.
    assert_eq!((lines("not saved"), lines("logging is off")), (1, 1), "{errors}");
}

#[test]
fn the_log_has_commands_and_searches_and_pondering() {
    let scratch = Scratch::new();
    let path = scratch.0.path().join("log.txt");
    let options = ["--ponder", "--log", path.to_str().unwrap()];
    let mut player = EngineProcess::start(scratch.0.path(), &options);
    player.ask("7 play b B2");
    player.ask("no-such-command");
    // It depends on timing when the engine notices that its input is empty and starts to ponder.
    for _ in 0..200 {
        player.ask("genmove w");
        thread::sleep(Duration::from_millis(5));
        player.ask("undo");
        if fs::read_to_string(&path).unwrap().contains("pondered for") {
            break;
        }
    }
    assert_eq!(player.ask("name"), "Kosumi", "no other response came in between");
    drop(player.quit());
    let log = fs::read_to_string(&path).unwrap();
    for text in [
        " > 7 play b B2",
        " < = (",
        " < ? unknown command",
        " > genmove w",
        "White ",
        " visits (",
        "pondered for",
    ] {
        assert!(log.contains(text), "{text}:\n{log}");
    }
    // A new session appends to the log.
    let player = EngineProcess::start(scratch.0.path(), &options);
    player.quit();
    let longer = fs::read_to_string(&path).unwrap();
    assert!(longer.starts_with(&log) && longer.contains(" > quit"), "{longer}");
}
