//! A controller that lets an engine play a few moves against itself.
//!
//! Run `cargo run --example controller -- gnugo --mode gtp`, or use any other engine.
//!
//! - Every response has a deadline. An engine that hangs, crashes or writes invalid output leads to an error that
//!   describes the problem and includes the last lines of its standard error.
//! - [`Client::post`] sends without waiting, and [`Client::receive`] takes the responses in order.

use std::process::ExitCode;
use std::time::Duration;

use kosumi_gtp::{Client, ClientError};

/// Timeout of commands that are answered immediately.
const SHORT: Duration = Duration::from_secs(10);
/// Timeout of moves.
const LONG: Duration = Duration::from_secs(120);
const MOVES: usize = 10;

fn play(command_line: &[String]) -> Result<(), ClientError> {
    let mut command = std::process::Command::new(&command_line[0]);
    command.args(&command_line[1..]);
    let mut engine = Client::spawn_command(command)?;
    println!("{} {}", engine.send("name", SHORT)?, engine.send("version", SHORT)?);

    // Three commands at once, then their responses in order. A failure concerns only the command it answers.
    let setup = ["boardsize 9", "clear_board", "komi 6.5"];
    for line in setup {
        engine.post(line)?;
    }
    for line in setup {
        match engine.receive(SHORT) {
            Ok(_) => {}
            Err(ClientError::Refused(message)) => println!("{line}: {message}"),
            Err(error) => return Err(error),
        }
    }

    for number in 0..MOVES {
        let color = ["black", "white"][number % 2];
        let answer = engine.send(&format!("genmove {color}"), LONG)?;
        println!("{color} plays {answer}");
        if answer.eq_ignore_ascii_case("resign") {
            break;
        }
    }
    engine.quit(SHORT)?;
    Ok(())
}

fn main() -> ExitCode {
    let command_line: Vec<String> = std::env::args().skip(1).collect();
    if command_line.is_empty() {
        eprintln!("usage: controller ENGINE [ARGUMENT]..., for example: controller gnugo --mode gtp");
        return ExitCode::from(2);
    }
    match play(&command_line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
