//! Comparison with an independent implementation: random games, and after every move the legal moves of both colours as
//! GNU Go 3.8 lists them.
//!
//! GNU Go deviates in two respects, which were found by observation. The test compares only what both have in common:
//!
//! * It never checks whether a suicide of several stones repeats a position. With `--allow-suicide` it lists every such
//!   move, under either superko (in the run below, all 2,804 that superko forbids in Kosumi). After `B a1`, `B b2` and
//!   `B b1` on 2×2, with passes between them, it allows `B a2` to empty the board again.
//! * After two moves of the same colour in a row, its situational superko treats the position between them as one with
//!   that side to move. In Kosumi the turn always passes to the opponent. Under that rule the colours in this test
//!   therefore alternate.
//!
//! GNU Go is not part of this project. The test searches for it in the variable `GNUGO`, in the path and in
//! `/usr/games`. It does nothing if GNU Go is not installed.

use kosumi_go::board::{BoardSize, Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::{KoRule, Rules};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A GNU Go process that plays under the given rules.
struct Judge {
    process: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Judge {
    fn start(file: &PathBuf, ko: KoRule, suicide: bool) -> Judge {
        let ko = match ko {
            KoRule::Simple => "--simple-ko",
            KoRule::Positional => "--positional-superko",
            KoRule::Situational | KoRule::NaturalSituational => "--situational-superko",
        };
        let suicide = if suicide { "--allow-suicide" } else { "--forbid-suicide" };
        let mut process = Command::new(file)
            .args(["--mode", "gtp", ko, suicide])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("GNU Go starts");
        let answers = BufReader::new(process.stdout.take().expect("its output is piped"));
        Judge { process, answers }
    }

    /// Returns the next response without its `=` or `?` sign.
    fn answer(&mut self) -> Result<String, String> {
        let mut text = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.answers.read_line(&mut line).expect("an answer"), 0, "GNU Go has ended");
            if line.trim().is_empty() && !text.is_empty() {
                break;
            }
            text.push_str(&line);
        }
        let text = text.trim();
        match text.strip_prefix('=') {
            Some(rest) => Ok(rest.trim().to_string()),
            None => Err(text.to_string()),
        }
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // The process may have ended by itself. Errors need no handling.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn point(vertex: &str) -> Point {
    let column = "ABCDEFGHJKLMNOPQRSTUVWXYZ".find(&vertex[..1]).expect("a column");
    let row: usize = vertex[1..].parse().expect("a row");
    Point::new(column, row - 1)
}

/// Counts of the comparison.
#[derive(Default, Debug)]
struct Tally {
    games: usize,
    /// Number of lists, one for each colour and position.
    lists: usize,
    /// Number of points in these lists.
    legal: usize,
    /// Number of points that ko or superko alone forbids.
    bans: usize,
    /// Number of suicides among these bans. They are not compared.
    suicide_bans: usize,
    /// Number of these suicides that GNU Go forbids as well.
    agreed_suicide_bans: usize,
    differences: usize,
}

/// A list of legal moves, sorted.
struct Expected {
    color: Color,
    legal: Vec<Point>,
    /// Suicides that only superko forbids.
    banned_suicides: Vec<Point>,
    /// Game so far, for the report of a difference.
    context: String,
}

/// Maximum number of moves of a game. GNU Go stores the hashes of 500 positions, so games stay well below that.
const MAX_MOVES: usize = 250;

/// Plays a random game of up to [`MAX_MOVES`] moves, which may fill eyes. Compares both lists of legal moves after every
/// move.
fn compare_game(judge: &mut Judge, size: BoardSize, rules: Rules, rng: &mut Rng, tally: &mut Tally) {
    let mut game = Game::new(size, rules, 7.5);
    let mut commands = format!("boardsize {}\nclear_board\n", size.columns());
    let mut expected: Vec<Expected> = Vec::new();
    let mut passes = 0;
    while game.records().len() < MAX_MOVES && passes < 3 {
        for color in Color::BOTH {
            let mut legal = game.legal_points(color);
            legal.sort();
            tally.legal += legal.len();
            let banned: Vec<Point> = game
                .board()
                .empties()
                .iter()
                .copied()
                .filter(|&point| {
                    use kosumi_go::game::IllegalMove::{Ko, Superko};
                    matches!(game.check(color, Move::Play(point)), Err(Ko | Superko))
                })
                .collect();
            tally.bans += banned.len();
            let suicide = |point: &Point| game.board().is_suicide(*point, color);
            let banned_suicides: Vec<Point> = banned.into_iter().filter(suicide).collect();
            tally.suicide_bans += banned_suicides.len();
            let moves: Vec<String> =
                game.records().iter().map(|record| format!("{} {}", record.color, record.mv)).collect();
            let context = format!("{}\n{}", moves.join(", "), game.board());
            expected.push(Expected { color, legal, banned_suicides, context });
            commands.push_str(&format!("all_legal {color}\n"));
        }
        // Mostly captures, if there are any, and occasionally a move out of turn or a pass.
        let out_of_turn = rules.ko != KoRule::Situational && rng.chance(20);
        let color = if out_of_turn { game.to_move().opponent() } else { game.to_move() };
        let legal = game.legal_points(color);
        let captures: Vec<Point> =
            legal.iter().copied().filter(|&point| game.board().captures_any(point, color)).collect();
        let choice = if !captures.is_empty() && rng.chance(400) { &captures } else { &legal };
        let mv = if choice.is_empty() || rng.chance(20) {
            passes += 1;
            Move::Pass
        } else {
            passes = 0;
            Move::Play(choice[rng.below(choice.len() as u32) as usize])
        };
        assert_eq!(game.play(color, mv), Ok(()));
        commands.push_str(&format!("play {color} {mv}\n"));
    }
    let moves = game.records().len();
    std::thread::scope(|scope| {
        // Responses are read while commands are still being written.
        let mut input = judge.process.stdin.take().expect("its input is piped");
        let writer = scope.spawn(move || {
            input.write_all(commands.as_bytes()).and_then(|()| input.flush()).expect("GNU Go reads");
            input
        });
        judge.answer().expect("boardsize");
        judge.answer().expect("clear_board");
        let mut lists = expected.iter();
        for number in 0..moves {
            for _ in Color::BOTH {
                let Expected { color, legal, banned_suicides, context } =
                    lists.next().expect("two lists for every move");
                let answer = judge.answer().expect("all_legal");
                let mut judged: Vec<Point> = answer.split_whitespace().map(point).collect();
                judged.sort();
                let all = judged.len();
                judged.retain(|point| !banned_suicides.contains(point));
                tally.agreed_suicide_bans += banned_suicides.len() - (all - judged.len());
                tally.lists += 1;
                if judged != *legal {
                    tally.differences += 1;
                    if tally.differences < 5 {
                        eprintln!(
                            "{rules}: after {number} moves {color}: {judged:?} not {legal:?}\n{context}"
                        );
                    }
                }
            }
            if let Err(refusal) = judge.answer() {
                panic!("{rules}: move {number} of {:?}: {refusal}", game.records());
            }
        }
        judge.process.stdin = Some(writer.join().expect("the writer"));
    });
    tally.games += 1;
}

#[test]
#[ignore = "needs GNU Go, a minute: cargo test --release -p kosumi-go --test rules gnugo_legality -- --ignored --nocapture"]
fn legal_moves_are_those_of_gnugo() {
    let Some(file) = kosumi_test_support::gnugo() else { return };
    let mut all = 0;
    for ko in [KoRule::Simple, KoRule::Positional, KoRule::Situational] {
        for suicide in [false, true] {
            let rules = Rules { ko, suicide, ..Rules::default() };
            let mut judge = Judge::start(&file, ko, suicide);
            let mut rng = Rng::new(ko as u64 * 2 + u64::from(suicide));
            let mut tally = Tally::default();
            let mut side = 0;
            while tally.lists < 100_000 {
                side = side % 9 + 1;
                let size = BoardSize::square(side).expect("side");
                compare_game(&mut judge, size, rules, &mut rng, &mut tally);
            }
            eprintln!("{ko:?}, suicide {suicide}: {tally:?}");
            all += tally.lists / 2;
            assert_eq!(tally.differences, 0, "{ko:?}, suicide {suicide}");
            assert!(tally.bans > 100);
        }
    }
    assert!(all >= 100_000);
}
