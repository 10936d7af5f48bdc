//! Passing and counting over GTP: answers to passes, and consistency of searches, scores and lists in finished games.

use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::rng::Rng;
use kosumi_gtp::{InputWatch, answer};
use kosumi_net::{BuiltIn, Network};
use kosumi_tools::commands::Commands;
use std::sync::Arc;

struct Controller {
    commands: Commands,
    watch: InputWatch,
}

impl Controller {
    fn new(network: Option<BuiltIn>) -> Controller {
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 8,
            playouts: Some(if network.is_some() { 16 } else { 200 }),
            resign: None,
            ..EngineSettings::default()
        };
        let network = network.map(|which| Arc::new(Network::built_in(which).expect("a network")));
        Controller {
            commands: Commands::new(Engine::with_network(settings, network)),
            watch: InputWatch::default(),
        }
    }

    fn small() -> Controller {
        Controller::new(Some(BuiltIn::Small))
    }

    fn ask(&mut self, line: &str) -> String {
        let answer = answer(line, &mut self.commands, &self.watch).expect("a command");
        answer.unwrap_or_else(|failure| panic!("{line}: {failure}"))
    }

    /// Sends several commands, and returns the last response.
    fn send(&mut self, lines: &[&str]) -> String {
        lines.iter().map(|line| self.ask(line)).last().unwrap_or_default()
    }

    /// Sets up an empty board.
    fn begin(&mut self, size: &str, rules: &str, komi: &str) {
        self.send(&[
            &format!("boardsize {size}"),
            "clear_board",
            &format!("kata-set-rules {rules}"),
            &format!("komi {komi}"),
        ]);
    }

    /// Sets up the position of a diagram, which is not played out.
    fn set_up(&mut self, drawing: &str, to_move: &str) {
        let rows: Vec<Vec<&str>> = drawing
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .filter(|row| !row.is_empty())
            .collect();
        let mut command = "set_position".to_owned();
        for (row, cells) in rows.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| **cell != ".") {
                let letter = char::from(b"ABCDEFGHJKLMNOPQRSTUVWXYZ"[column]);
                let color = if *cell == "X" { "b" } else { "w" };
                command += &format!(" {color} {letter}{}", rows.len() - row);
            }
        }
        self.send(&[&command, &format!("gogui-setup_player {to_move}")]);
    }

    /// Returns a value from the last line of an analysis.
    fn analyzed(&mut self, line: &str, name: &str) -> f32 {
        let answer = self.ask(line);
        let last = answer.lines().rfind(|line| line.starts_with("info")).expect("an analysis");
        let mut words = last.split_whitespace();
        words.by_ref().find(|word| *word == name).expect("a value");
        words.next().and_then(|value| value.parse().ok()).expect("a number")
    }
}

const ALL_RULES: [&str; 9] = [
    "chinese-kgs",
    "chinese",
    "japanese",
    "korean",
    "aga",
    "new-zealand",
    "aga-button",
    "stone-scoring",
    "cgos",
];

#[test]
fn a_pass_in_the_middle_of_a_game_is_answered_by_a_move() {
    for mut controller in [Controller::small(), Controller::new(None)] {
        for rules in ALL_RULES.into_iter().filter(|rules| *rules != "cgos") {
            controller.begin("9", rules, "7.5");
            let answer = controller.send(&["play b E5", "play w pass", "genmove b"]);
            assert_ne!(answer, "PASS", "{rules}");
            controller.begin("9", rules, "7.5");
            let moves = ["play b E5", "play w C3", "play b G3", "play w C6", "play b pass", "genmove w"];
            assert_ne!(controller.send(&moves), "PASS", "{rules}");
        }
    }
}

#[test]
fn a_pass_as_the_first_move_is_answered_by_a_move() {
    for mut controller in [Controller::small(), Controller::new(None)] {
        for rules in ALL_RULES {
            for size in ["3", "9", "13"] {
                controller.begin(size, rules, "7.5");
                assert_ne!(controller.send(&["play b pass", "genmove w"]), "PASS", "{rules}, {size}");
            }
        }
    }
}

/// Position in which both sides live with two eyes. Black has 36 points, White 45.
const FINISHED: &str = "
    . . . X O . . . .
    . X . X O . O . .
    . . . X O . . . .
    X X X X O O O O O
    . . . X O . . . .
    . . . X O . . . .
    . X . X O . O . .
    . . . X O . . . .
    . . . X O . . . .";

#[test]
fn a_finished_game_is_ended_by_the_player_that_wins() {
    for mut controller in [Controller::small(), Controller::new(None)] {
        for rules in ["chinese-kgs", "japanese", "aga", "cgos", "korean"] {
            controller.begin("9", rules, "6.5");
            controller.set_up(FINISHED, "b");
            assert_eq!(controller.send(&["play b pass", "genmove w"]), "PASS", "{rules}");
            assert!(controller.ask("final_score").starts_with("W+"), "{rules}");
        }
    }
}

#[test]
fn the_score_of_a_finished_game_does_not_depend_on_the_side_that_passed_first() {
    // Black's group has an eye space of three points in a row. White can kill it, so it counts as dead.
    let unsettled = "
        . . . . O . X . .
        . . . . O . X . .
        O O O O O . X . .
        X X X X O O X X X
        . . . X O O X . .
        X X X X O O X . X
        O O O O O O X X .
        . . . . O . X X .
        . . . . O . X . X";
    for mut controller in [Controller::small(), Controller::new(None)] {
        for first in ["b", "w"] {
            controller.begin("9", "japanese", "0");
            controller.set_up(unsettled, first);
            let other = if first == "b" { "w" } else { "b" };
            controller.send(&[&format!("play {first} pass"), &format!("play {other} pass")]);
            let dead = controller.ask("final_status_list dead");
            assert_eq!(dead.split_whitespace().count(), 9, "{first} first: {dead}");
            assert_eq!(controller.ask("final_score"), "W+25.0", "{first} first");
        }
    }
}

#[test]
fn after_two_passes_enclosed_regions_are_counted_and_the_column_between_walls_is_neutral() {
    let walls = |black: usize, white: usize, size: usize| -> String {
        let row: Vec<&str> = (0..size)
            .map(|column| {
                if column == black {
                    "X"
                } else if column == white {
                    "O"
                } else {
                    "."
                }
            })
            .collect();
        vec![row.join(" "); size].join("\n")
    };
    for mut controller in [Controller::small(), Controller::new(None)] {
        controller.begin("13", "chinese", "0");
        controller.set_up(&walls(6, 5, 13), "w");
        assert_eq!(controller.send(&["play w pass", "play b pass", "final_score"]), "B+13.0");
        assert_eq!(controller.ask("final_status A7"), "white_territory");
        controller.begin("9", "japanese", "0");
        controller.set_up(&walls(3, 5, 9), "b");
        assert_eq!(controller.send(&["play b pass", "play w pass", "final_score"]), "0");
        assert_eq!(controller.ask("final_status E7"), "dame");
        assert_eq!(controller.ask("final_status D7"), "alive");
    }
}

#[test]
fn a_search_of_a_finished_game_says_what_the_count_says() {
    let drawing = "
        . . . . X O . . .
        . . . . X O . . .
        . . X . X O . O .
        . . . . X O . . .
        . . . . X O . . .
        . . . . X O . . .
        . . X . X O . O .
        . . . . X O . . .
        . . . . X O . . .";
    let mut controller = Controller::small();
    for (komi, score, expected) in [("9", "0", 0.5), ("9.5", "W+0.5", 0.0), ("8.5", "B+0.5", 1.0)] {
        controller.begin("9", "japanese", komi);
        controller.set_up(drawing, "b");
        assert_eq!(controller.ask("final_score"), score, "komi {komi}");
        let analysis = "kata-search_analyze b 1 allow b pass 1 allow w pass 1 maxmoves 1";
        assert_eq!(controller.analyzed(analysis, "winrate"), expected, "komi {komi}");
        controller.send(&["play b pass", "play w pass"]);
        assert_eq!(controller.ask("final_score"), score, "komi {komi}, after two passes");
    }
}

#[test]
fn finished_games_have_no_optimistic_value() {
    let mut controller = Controller::small();
    for rules in ["chinese-kgs", "cgos", "aga"] {
        controller.begin("2", rules, "7.5");
        assert_eq!(controller.analyzed("kata-search_analyze b 1 maxmoves 1", "winrate"), 0.0, "{rules}");
        assert!(controller.analyzed("kata-search_analyze b 1 maxmoves 1", "scoreLead") <= 4.0 - 7.5);
    }
    for mut controller in [Controller::small(), Controller::new(None)] {
        controller.begin("1", "chinese-kgs", "7.5");
        assert_eq!(controller.ask("final_score"), "W+7.5");
        assert_eq!(controller.analyzed("kata-search_analyze b 1", "scoreLead"), -7.5);
    }
}

#[test]
fn a_pass_does_not_give_up_points() {
    // White is to move, ahead by 14 points with a move and by 6.5 without one.
    let moves = "ee ce cd gd be ff cf fc eg fg eh fh dc ef dg df cg eb db de fi gi ei gh ea fa da dd bd";
    for visits in [16, 50] {
        let mut controller = Controller::small();
        controller.begin("9", "chinese-kgs", "7.5");
        for (number, point) in moves.split(' ').enumerate() {
            let bytes = point.as_bytes();
            let column = char::from(b"ABCDEFGHJ"[usize::from(bytes[0] - b'a')]);
            let row = 9 - (bytes[1] - b'a');
            controller.ask(&format!("play {} {column}{row}", ["b", "w"][number % 2]));
        }
        controller.ask(&format!("kata-set-param maxPlayouts {visits}"));
        assert_ne!(controller.ask("genmove w"), "PASS", "{visits} visits");
    }
}

#[test]
fn a_button_that_nobody_has_taken_is_credited_to_the_side_to_move() {
    let mut controller = Controller::small();
    controller.begin("5", "aga-button", "7");
    controller.set_up("X . O . .\nX . O . .\nX . O . .\nX . O . .\nX . O . .", "b");
    controller.ask("gogui-setup_player b");
    let before = controller.ask("final_score");
    assert_eq!(controller.send(&["play b pass", "final_score"]), before);
    assert_eq!(controller.send(&["play w pass", "play b pass", "final_score"]), before);
}

/// White's group on the right has outside liberties, and one eye that is filled except for two points. Capturing the
/// stones inside would leave the eye space of a bulky five or a pyramid four, so the group is dead, although Black
/// needs many moves.
const DEAD_SHAPES: [(&str, &str); 2] = [
    (
        ". . X X X X .
         X X X O O O O
         X . O O X X O
         X . O . X X .
         X . O O O X O
         X X X X O O O
         . . . X X X .",
        "B+42.0",
    ),
    (
        ". . . X X X .
         X X X X O O O
         X . O O . X O
         X . O . X X O
         X . O O O X O
         X X X X O O O
         . . . X X X .",
        "B+43.0",
    ),
];

/// Black's four stones and White's three share two liberties, and the surrounding chains live.
const SEKI: &str = "
    X . X X O . O
    . X X X O O O
    X X X X O . O
    X X X X O O O
    . . X O X X O
    . . X O . X O
    . . X O . X O";

#[test]
fn dead_shapes_are_dead_and_a_seki_is_one() {
    for mut controller in [Controller::small(), Controller::new(None)] {
        for first in ["b", "w"] {
            let other = if first == "b" { "w" } else { "b" };
            let passes = [format!("play {first} pass"), format!("play {other} pass")];
            for (drawing, score) in DEAD_SHAPES {
                controller.begin("7", "japanese", "0");
                controller.set_up(drawing, first);
                controller.send(&[&passes[0], &passes[1]]);
                assert_eq!(controller.ask("final_status C4"), "dead", "{first} first\n{drawing}");
                assert_eq!(controller.ask("final_score"), score, "{first} first\n{drawing}");
            }
            controller.begin("7", "japanese", "0");
            controller.set_up(SEKI, first);
            controller.send(&[&passes[0], &passes[1]]);
            for stone in ["D3", "E3", "F1"] {
                assert_eq!(
                    controller.ask(&format!("final_status {stone}")),
                    "seki",
                    "{first} first, {stone}"
                );
            }
            assert_eq!(controller.ask("final_status A7"), "alive");
        }
    }
}

/// The opponent plays at random and passes once in the middle of the game. If the engine answers with a pass, it must
/// win.
#[test]
fn an_opponent_that_passes_at_a_random_move_wins_nothing_by_it() {
    let mut controller = Controller::small();
    let mut answered = 0;
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let mut one_of = |choices: &[&str]| choices[rng.below(choices.len() as u32) as usize].to_owned();
        let rules = one_of(&ALL_RULES);
        let size = one_of(&["5", "6", "7"]);
        let own = one_of(&["b", "w"]);
        controller.begin(&size, &rules, "0.5");
        let pass_at = rng.below(30);
        let mut log = Vec::new();
        for number in 0..60 {
            let color = ["b", "w"][number as usize % 2];
            let is_own = color == own;
            let mv = if is_own {
                controller.ask(&format!("genmove {color}"))
            } else {
                let legal = controller.ask(&format!("all_legal {color}"));
                let legal: Vec<&str> = legal.split_whitespace().collect();
                let must_pass = number >= pass_at && number < pass_at + 2 || legal.is_empty();
                let mv = match must_pass {
                    true => "PASS",
                    false => legal[rng.below(legal.len() as u32) as usize],
                };
                controller.ask(&format!("play {color} {mv}"));
                mv.to_owned()
            };
            log.push(format!("{color} {mv}"));
            // The pass that takes the button does not count towards the end.
            let passes = log.iter().rev().take_while(|mv| mv.ends_with("PASS")).count();
            let is_first = log.iter().filter(|mv| mv.ends_with("PASS")).count() == passes;
            if passes >= if rules == "aga-button" && is_first { 3 } else { 2 } {
                if is_own {
                    answered += 1;
                    let score = controller.ask("final_score");
                    let wins = score.starts_with(if own == "b" { "B+" } else { "W+" });
                    assert!(wins, "{size}, {rules}, {own}: {score} after {log:?}");
                }
                break;
            }
        }
    }
    assert!(answered >= 5, "{answered} games ended by an answer");
}
