//! The command line: arguments, progress and output. Each command has a module of its own. Other crates do the work.
#![allow(clippy::disallowed_methods, reason = "this crate reads clocks")]

mod analysis;
mod bench;
mod benchmark;
mod contender;
mod device;
mod features;
mod gtp;
mod help;
mod interrupt;
mod katago;
mod matches;
mod model;
mod net;
mod options;
mod perft;
mod play;
mod progress;
mod ranks;
mod regress;
mod review;
mod selfplay;
mod setup;
mod sgf;
mod shell;
mod solve;
mod terminal;
mod tune;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use kosumi_tools::system::{has_own_console, survive_file_size_limit};
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Kosumi, a Go (Weiqi, Baduk) engine
///
/// Without a command it speaks the Go Text Protocol on its standard input and output, as graphical interfaces and
/// servers expect. Set `kosumi` as the engine's command line in Sabaki, GoGui, kgsGtp or gtp2ogs.
#[derive(Debug, Parser)]
#[command(name = "kosumi", version, args_conflicts_with_subcommands = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Subcommands>,
    #[command(flatten)]
    gtp: gtp::Arguments,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Speak the Go Text Protocol (the default)
    Gtp(gtp::Arguments),
    /// Analyse positions for programs that speak KataGo's JSON protocol: KaTrain, LizzieYzy, scripts
    Analysis(Box<analysis::Arguments>),
    /// Play on a board in the browser
    Play(Box<play::Arguments>),
    /// Show how to put Kosumi into Sabaki, KaTrain, Lizzie, GoGui or CGoban, or do it
    Setup(setup::Arguments),
    /// Play games between two engines
    Match(Box<matches::Arguments>),
    /// Run regression suites and check the answers
    Regress(Box<regress::Arguments>),
    /// Review a game: the gain and loss of each move
    Review(Box<review::Arguments>),
    /// Measure speed, and print the signature of the search
    Bench(bench::Arguments),
    /// Measure how fast a network is on the processor and on graphics cards, and write a report
    Benchmark(benchmark::Arguments),
    /// Compare search parameters on positions of games
    Tune(Box<tune::Arguments>),
    /// Convert game records to training positions for networks
    Features(Box<features::Arguments>),
    /// Play games against itself to train networks
    Selfplay(Box<selfplay::Arguments>),
    /// Count positions, plays, sequences of moves or whole games
    Perft(perft::Arguments),
    /// Solve boards and problems exactly
    Solve(solve::Arguments),
    /// Process collections of game records: statistics, filters, legality
    Sgf(sgf::Arguments),
    /// Inspect networks in KataGo's format, or create one
    Net(net::Arguments),
    /// Write shell completions
    Completions(shell::Completions),
    /// Write a manual page
    Man(shell::Manual),
    /// Print the version
    Version,
}

/// Builds the command line, with help texts formatted for every width.
fn command() -> clap::Command {
    help::formatted(with_size_aliases(Cli::command()))
}

/// Names of the option for the board size. Each command shows the most fitting name and accepts the others as well.
const SIZE_OPTION_NAMES: [&str; 3] = ["boardsize", "size", "sizes"];

/// Adds all names of the board size option to a command and its subcommands.
fn with_size_aliases(command: clap::Command) -> clap::Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let command =
        names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_size_aliases));
    command.mut_args(|argument| {
        let own = argument.get_long().map(str::to_owned);
        if own.as_deref().is_none_or(|own| !SIZE_OPTION_NAMES.contains(&own)) {
            return argument;
        }
        let others = SIZE_OPTION_NAMES.into_iter().filter(|name| own.as_deref() != Some(name));
        argument.visible_aliases(others.collect::<Vec<_>>())
    })
}

/// Expands abbreviations on the command line: a game record alone means `review`, and KataGo's options may have one
/// dash.
fn expand_arguments(words: Vec<OsString>) -> Vec<OsString> {
    shell::with_review(katago::with_two_dashes(words))
}

/// Parses a command line, with the program's name first, without running the command. This is meant for fuzz targets.
/// Files that the command line names, such as networks, are read.
///
/// # Errors
///
/// Returns the error message of the command line parser.
pub fn check(words: Vec<OsString>) -> Result<(), String> {
    let matches =
        command().try_get_matches_from(expand_arguments(words)).map_err(|error| error.to_string())?;
    Cli::from_arg_matches(&matches).map(drop).map_err(|error| error.to_string())
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    survive_file_size_limit();
    let has_own_console = has_own_console() && io::stdin().is_terminal();
    let words = expand_arguments(std::env::args_os().collect());
    let code = run(if has_own_console { shell::with_play(words) } else { words });
    if has_own_console {
        shell::wait_for_enter();
    }
    code
}

fn run(words: Vec<OsString>) -> ExitCode {
    let matches = command().get_matches_from(words);
    // clap has already validated the matches.
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let works_alone = !matches!(
        cli.command,
        None | Some(
            Subcommands::Gtp(_)
                | Subcommands::Match(_)
                | Subcommands::Selfplay(_)
                | Subcommands::Regress(_)
                | Subcommands::Review(_)
                | Subcommands::Features(_)
                | Subcommands::Sgf(_)
        )
    );
    if works_alone && let Err(error) = ranks::refuse_mpi() {
        return failure(&error);
    }
    let result = match cli.command {
        None => gtp::run(&cli.gtp),
        Some(Subcommands::Gtp(arguments)) => gtp::run(&arguments),
        Some(Subcommands::Analysis(arguments)) => return analysis::run(&arguments),
        Some(Subcommands::Play(arguments)) => play::run(&arguments),
        Some(Subcommands::Match(arguments)) => match matches::run(&arguments) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        // The exit code reports the results of the tests.
        Some(Subcommands::Regress(arguments)) => return regress::run(&arguments),
        Some(Subcommands::Review(arguments)) => review::run(&arguments),
        Some(Subcommands::Bench(arguments)) => bench::run(&arguments),
        Some(Subcommands::Benchmark(arguments)) => benchmark::run(&arguments),
        Some(Subcommands::Tune(arguments)) => tune::run(&arguments),
        Some(Subcommands::Features(arguments)) => features::run(&arguments),
        Some(Subcommands::Selfplay(arguments)) => selfplay::run(&arguments),
        Some(Subcommands::Perft(arguments)) => perft::run(&arguments),
        Some(Subcommands::Solve(arguments)) => solve::run(&arguments),
        Some(Subcommands::Sgf(arguments)) => sgf::run(&arguments),
        Some(Subcommands::Net(arguments)) => net::run(&arguments),
        Some(Subcommands::Completions(arguments)) => shell::completions(&arguments, command()),
        Some(Subcommands::Setup(arguments)) => setup::run(&arguments),
        Some(Subcommands::Man(arguments)) => shell::manual(&arguments, command()),
        Some(Subcommands::Version) => shell::version(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that closes the output early, such as `head`, is not a failure.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => failure(&error),
    }
}

fn failure(error: &anyhow::Error) -> ExitCode {
    // If the standard error is closed, no channel is left for the message.
    let _ = writeln!(terminal::stderr(), "kosumi: {error:#}");
    ExitCode::FAILURE
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref::<io::Error>().is_some_and(is_broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    /// Checks that every command with a board size accepts all names of the option.
    #[test]
    fn every_name_of_a_board_size_is_understood() {
        fn check(command: &clap::Command, path: &str) -> usize {
            let mut found = 0;
            for argument in command.get_arguments() {
                let own = argument.get_long().unwrap_or_default();
                if SIZE_OPTION_NAMES.contains(&own) {
                    let mut names = argument.get_all_aliases().unwrap_or_default();
                    names.push(own);
                    names.sort_unstable();
                    assert_eq!(names, SIZE_OPTION_NAMES, "{path}");
                    found += 1;
                }
            }
            let below = command.get_subcommands();
            found + below.map(|it| check(it, &format!("{path} {}", it.get_name()))).sum::<usize>()
        }
        assert!(check(&command(), "kosumi") >= 7);
        for name in SIZE_OPTION_NAMES {
            let name = format!("--{name}");
            for words in [
                &["kosumi", &name, "9"][..],
                &["kosumi", "gtp", &name, "9"],
                &["kosumi", "play", &name, "9x7"],
            ] {
                let matches = command().try_get_matches_from(words);
                assert!(matches.is_ok_and(|matches| Cli::from_arg_matches(&matches).is_ok()), "{words:?}");
            }
        }
    }

    #[test]
    fn options_work_with_and_without_the_command() {
        for words in [&["kosumi", "--playouts", "10"][..], &["kosumi", "gtp", "--playouts", "10"]] {
            assert!(Cli::try_parse_from(words).is_ok(), "{words:?}");
        }
        assert!(Cli::try_parse_from(["kosumi", "--rules", "mahjong"]).is_err());
        assert!(Cli::try_parse_from(["kosumi", "--boardsize", "26"]).is_err());
        assert!(Cli::try_parse_from(["kosumi", "--time", "-1"]).is_err());
    }
}
