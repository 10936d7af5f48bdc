//! Parsing of responses by clients: each response is parsed as the client does it.

use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::board::BoardSize;
use kosumi_gtp::{Client, InputWatch};
use kosumi_net::{Network, random};
use kosumi_tools::commands::Commands;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Sends commands to an engine and returns its responses.
struct Kosumi(Commands);

impl Kosumi {
    fn new(side: usize, playouts: u32, network: Option<Arc<Network>>) -> Kosumi {
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 4,
            playouts: Some(playouts),
            ..EngineSettings::default()
        };
        let mut engine = Engine::with_network(settings, network);
        engine.set_size(BoardSize::square(side).unwrap());
        Kosumi(Commands::new(engine))
    }

    fn ask(&mut self, line: &str) -> Result<String, String> {
        kosumi_gtp::answer(line, &mut self.0, &InputWatch::default()).unwrap()
    }

    fn must(&mut self, line: &str) -> String {
        self.ask(line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }
}

/// Splits a line into words, as GoGui does. Quotation marks represent an empty word.
fn words(text: &str) -> Vec<&str> {
    text.split_ascii_whitespace().map(|word| if word == "\"\"" { "" } else { word }).collect()
}

/// Returns whether a text is a point of a square board, as GoGui understands it.
fn is_point(text: &str, side: usize) -> bool {
    let mut letters = text.chars();
    let column = letters.next().map(|letter| letter.to_ascii_uppercase());
    let column = column.and_then(|letter| "ABCDEFGHJKLMNOPQRSTUVWXYZ".find(letter));
    let row = letters.as_str().parse::<usize>();
    column.is_some_and(|column| column < side) && row.is_ok_and(|row| (1..=side).contains(&row))
}

fn is_point_or_pass(text: &str, side: usize) -> bool {
    text.eq_ignore_ascii_case("pass") || is_point(text, side)
}

/// Parses rows of words from the top, one word per column, as GoGui does.
fn board(text: &str, side: usize) -> Result<Vec<&str>, String> {
    let rows: Vec<Vec<&str>> = text.lines().filter(|line| !line.trim().is_empty()).map(words).collect();
    if rows.len() != side || rows.iter().any(|row| row.len() != side) {
        return Err("not a board".to_owned());
    }
    Ok(rows.concat())
}

fn is_color(text: &str) -> bool {
    const KNOWN: [&str; 10] =
        ["black", "blue", "cyan", "green", "gray", "magenta", "pink", "red", "white", "yellow"];
    let is_hex = |digits: &str| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.is_empty() || KNOWN.contains(&text) || text.strip_prefix('#').is_some_and(is_hex)
}

/// Returns whether a line of graphics is valid, a verb with its arguments, as GoGui understands it.
fn is_picture_line(line: &str, side: usize) -> bool {
    let words = words(line);
    let Some((verb, rest)) = words.split_first() else { return false };
    let pairs = |second: &dyn Fn(&str) -> bool| {
        rest.len().is_multiple_of(2) && rest.chunks(2).all(|pair| is_point(pair[0], side) && second(pair[1]))
    };
    match *verb {
        "BLACK" | "WHITE" | "MARK" | "CIRCLE" | "SQUARE" | "TRIANGLE" => {
            !rest.is_empty() && rest.iter().all(|word| is_point(word, side))
        }
        "LABEL" => pairs(&|label| !label.is_empty()),
        "INFLUENCE" => pairs(&|number| number.parse::<f64>().is_ok_and(|number| number.abs() <= 1.0)),
        "COLOR" => is_color(rest[0]) && rest[1..].iter().all(|word| is_point(word, side)),
        "VAR" => {
            rest.len().is_multiple_of(2)
                && rest.chunks(2).all(|pair| ["b", "w"].contains(&pair[0]) && is_point_or_pass(pair[1], side))
        }
        "TEXT" => !rest.is_empty(),
        _ => false,
    }
}

/// Returns whether the text contains a zero with a minus sign.
fn has_signed_zero(text: &str) -> bool {
    let is_zero = |word: &str| {
        word.strip_prefix('-').is_some_and(|rest| rest.parse::<f64>().is_ok_and(|number| number == 0.0))
    };
    text.split(|letter: char| letter.is_whitespace() || "(),:".contains(letter)).any(is_zero)
}

/// An empty board is nearly even for playouts, so numbers near zero occur with either sign.
#[test]
fn no_number_is_a_zero_with_a_sign() {
    assert!(has_signed_zero("score -0.0, 3") && has_signed_zero("a -0") && !has_signed_zero("0.0 -0.1 B-0x"));
    let network = Arc::new(random::network(&random::Options::default()).unwrap());
    for network in [None, Some(network)] {
        let has_network = network.is_some();
        let mut engine = Kosumi::new(3, 20, network);
        engine.must("komi 0");
        let mut commands = vec![
            "estimate_score",
            "kata-search_analyze b 100 rootInfo true ownership true",
            "kata-search_analyze w 100 rootInfo true ownership true",
            "kosumi-statistics",
            "kosumi-root",
            "kosumi-ownership",
            "kgs-chat game somebody opinion",
            "estimate_score",
            "cgos-genmove_analyze b",
            "undo",
        ];
        if has_network {
            commands.extend(["kata-raw-nn all", "kosumi-network_ownership"]);
        }
        for command in commands {
            let answer = engine.must(command);
            assert!(!has_signed_zero(&answer), "{command}:\n{answer}");
        }
    }
}

/// Checks that the bounds of an estimate contain the score, differ in an open position and are equal in a finished
/// game.
#[test]
fn bounds_of_an_estimate_are_real() {
    let network = Arc::new(random::network(&random::Options::default()).unwrap());
    for network in [None, Some(network)] {
        let mut engine = Kosumi::new(9, 50, network);
        let mut estimate = |lines: &[&str]| {
            lines.iter().for_each(|line| drop(engine.must(line)));
            let text = engine.must("estimate_score");
            let numbers = text.split(|letter: char| !(letter.is_ascii_digit() || "-.".contains(letter)));
            let numbers: Vec<f64> = numbers.filter_map(|word| word.parse().ok()).collect();
            let [margin, upper, lower] = numbers[..] else { panic!("{text}") };
            let score = if text.starts_with('W') { margin } else { -margin };
            assert!(lower <= score + 0.11 && score <= upper + 0.11, "{text}");
            upper - lower
        };
        assert!(estimate(&[]) > 2.0);
        assert!(estimate(&["play b e5", "genmove w"]) > 0.2);
        assert_eq!(estimate(&["clear_board", "play b e5", "play w pass", "play b pass"]), 0.0);
    }
}

/// Returns an error unless GoGui understands a response to a command of this type.
fn gogui_reads(kind: &str, answer: &str, side: usize) -> Result<(), String> {
    let is_good = match kind {
        "none" | "string" | "hstring" => true,
        "sboard" => board(answer, side)?.iter().all(|word| word.len() <= 6),
        "cboard" => board(answer, side)?.iter().all(|word| is_color(word)),
        "dboard" => {
            let is_share = |word: &&str| word.parse::<f64>().is_ok_and(|number| number.abs() <= 1.0);
            board(answer, side)?.iter().all(is_share)
        }
        "plist" => words(answer).iter().all(|word| is_point_or_pass(word, side)),
        "pspairs" => {
            let words = words(answer);
            words.len().is_multiple_of(2)
                && words
                    .chunks(2)
                    .all(|pair| is_point(pair[0], side) && !pair[1].is_empty() && pair[1].len() <= 4)
        }
        "var" => words(answer).iter().all(|word| ["b", "w"].contains(word) || is_point_or_pass(word, side)),
        "gfx" => answer.lines().all(|line| is_picture_line(line, side)),
        "param" => answer.lines().all(|line| {
            let Some((kind, rest)) = line.strip_prefix('[').and_then(|line| line.split_once("] ")) else {
                return false;
            };
            let Some((key, value)) = rest.split_once(' ') else { return false };
            !key.is_empty()
                && match kind {
                    "string" => true,
                    "bool" => ["0", "1"].contains(&value),
                    _ => kind
                        .strip_prefix("list/")
                        .is_some_and(|list| list.split('/').any(|word| word == value)),
                }
        }),
        _ => return Err(format!("no such type: {kind}")),
    };
    if is_good { Ok(()) } else { Err("GoGui does not understand it".to_owned()) }
}

#[test]
fn gogui_parses_all_analyze_commands() {
    let side = 7;
    let network = Arc::new(random::network(&random::Options::default()).unwrap());
    let mut engine = Kosumi::new(side, 60, Some(network));
    let listed = engine.must("gogui-analyze_commands");
    let mut labels: Vec<&str> = listed.lines().map(|line| line.split('/').nth(1).unwrap()).collect();
    labels.sort_unstable();
    // GoGui drops the second of two commands with the same label.
    assert!(labels.is_sorted_by(|a, b| a < b), "{labels:?}");
    let positions: [&[&str]; 3] = [
        &[],
        &["gogui-play_sequence b d4 w c3 b d3 w c4 b d5 w c5 b e2"],
        &["set_position b a2 b b1 b b2 b d1 b d2 b c2 w e5 w g7 b f7", "final_score"],
    ];
    for position in positions {
        engine.must("clear_board");
        for line in position {
            engine.must(line);
        }
        engine.must("kosumi-search w");
        let searched = engine.must("kosumi-best_moves");
        let searched = words(&searched)[0].to_owned();
        for line in listed.lines() {
            let [kind, label, command] = line.split('/').collect::<Vec<_>>()[..] else { panic!("{line}") };
            assert!(!label.is_empty());
            let before = engine.must("showboard");
            // It comes last, so that it does not affect the other commands.
            if command == "clear_cache" {
                continue;
            }
            for color in ["B", "w"] {
                let sent = command.replace("%c", color).replace("%m", color).replace("%p", &searched);
                let answer = engine.must(&sent);
                assert!(!has_signed_zero(&answer), "{sent}:\n{answer}");
                gogui_reads(kind, &answer, side)
                    .unwrap_or_else(|error| panic!("{sent} ({kind}): {error}:\n{answer}"));
            }
            assert_eq!(engine.must("showboard"), before, "{command} changes the position");
        }
    }
}

/// Checks that every line of the dialogs can be sent back and then changes nothing.
#[test]
fn gogui_can_send_back_what_its_dialogs_show() {
    let mut engine = Kosumi::new(5, 10, None);
    let listed = engine.must("gogui-analyze_commands");
    let dialogs: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.strip_prefix("param/"))
        .map(|rest| rest.split_once('/').unwrap().1)
        .collect();
    assert!(dialogs.len() > 5 && dialogs.contains(&"kosumi-param_rules"), "{dialogs:?}");
    for command in dialogs {
        let shown = engine.must(command);
        // A dialog with a hundred lines does not fit on any screen.
        assert!(shown.lines().count() <= 20, "{command}");
        for line in shown.lines() {
            let (_, setting) = line.split_once("] ").unwrap();
            engine.must(&format!("{command} {setting}"));
        }
        assert_eq!(engine.must(command), shown);
    }
}

/// Runs `tests/clients/sabaki.mjs`, which drives the program with Sabaki's library for engines.
#[test]
fn sabakis_library_drives_the_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    if kosumi_test_support::node(&folder, "@sabaki/gtp").is_none() {
        return;
    }
    let program = env!("CARGO_BIN_EXE_kosumi");
    let went = Command::new("node")
        .arg(folder.join("sabaki.mjs"))
        .arg(program)
        .env("KOSUMI_MODEL", kosumi_test_support::small_network())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&went.stdout), String::from_utf8_lossy(&went.stderr));
    assert!(went.status.success() && out.contains("all well"), "{out}{err}");
}

/// Starts GNU Go, if it is installed.
fn gnugo(seed: u32) -> Option<Client> {
    let program = kosumi_test_support::gnugo()?;
    let mut command = Command::new(program);
    command.args(["--mode", "gtp", "--level", "1", "--chinese-rules", "--seed", &seed.to_string()]);
    Some(Client::spawn_command(command).unwrap())
}

/// Client whose command sequence is used.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Style {
    GoGui,
    Kgs,
}

/// Plays a game against GNU Go with all commands that a client sends. No command may be refused.
fn whole_game(style: Style, seed: u32, opponent: &mut Client) {
    const SIDE: usize = 7;
    const PATIENCE: Duration = Duration::from_secs(120);
    let mut kosumi = Kosumi::new(SIDE, 150, None);
    let before: &[&str] = match style {
        Style::GoGui => &[
            "protocol_version",
            "name",
            "list_commands",
            "gogui-analyze_commands",
            "boardsize 7",
            "clear_board",
            "komi 6.5",
            "time_settings 600 0 0",
        ],
        Style::Kgs => &[
            "list_commands",
            "boardsize 19",
            "kgs-time_settings canadian 60 300 25",
            "boardsize 7",
            "clear_board",
            "kgs-rules chinese",
            "komi 6.5",
            "kgs-time_settings byoyomi 60 10 5",
        ],
    };
    before.iter().for_each(|line| drop(kosumi.must(line)));
    for line in ["boardsize 7", "clear_board", "komi 6.5"] {
        opponent.send(line, PATIENCE).unwrap();
    }
    let (own, other) = if seed.is_multiple_of(2) { ("b", "w") } else { ("w", "b") };
    let mut last_was_pass = false;
    for number in 0..200 {
        let is_own = (number % 2 == 0) == (own == "b");
        let vertex = if is_own {
            if style == Style::Kgs {
                kosumi.must(&format!("time_left {own} 10 {}", 1 + number % 5));
            }
            kosumi.must(&format!("genmove {own}"))
        } else {
            opponent.send(&format!("genmove {other}"), PATIENCE).unwrap()
        };
        if vertex.eq_ignore_ascii_case("resign") {
            kosumi.must("kgs-game_over");
            return;
        }
        if is_own {
            opponent.send(&format!("play {own} {vertex}"), PATIENCE).unwrap();
        } else {
            let color = other.to_uppercase();
            kosumi.must(&format!("play {color} {vertex}"));
            if style == Style::GoGui {
                // The user tries other commands, and goes back and forth in the game.
                kosumi.must("undo");
                kosumi.must(&format!("gogui-play_sequence {color} {vertex}"));
                kosumi.must("kosumi-superko_banned b");
            }
        }
        let is_pass = vertex.eq_ignore_ascii_case("pass");
        if is_pass && last_was_pass {
            break;
        }
        last_was_pass = is_pass;
    }
    kosumi.must("final_status_list dead");
    kosumi.must("final_score");
    // The players disagree about dead stones, so a pass is undone, and Kosumi plays alone until no dead stone is left.
    kosumi.must("undo");
    for moves in 0.. {
        assert!(moves < 200, "{style:?} {seed}: no end");
        if kosumi.must(&format!("kgs-genmove_cleanup {own}")) == "PASS" {
            break;
        }
        kosumi.must(&format!("play {other} pass"));
    }
    let stones = kosumi.must(&format!("list_stones {other}"));
    let dead = kosumi.must("final_status_list dead");
    assert!(words(&dead).iter().all(|point| !words(&stones).contains(point)), "{style:?} {seed}: {dead}");
    kosumi.must("kgs-game_over");
}

#[test]
fn whole_games_have_no_refusals() {
    for (style, seed) in [(Style::GoGui, 1), (Style::Kgs, 2), (Style::GoGui, 4), (Style::Kgs, 3)] {
        let Some(mut opponent) = gnugo(seed) else { return };
        whole_game(style, seed, &mut opponent);
    }
}
