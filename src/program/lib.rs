//! The command line: arguments, progress and printing. One file for each command; the work is done in the rooms beside
//! this one.
#![allow(clippy::disallowed_methods, reason = "this crate reads clocks")]

mod analysis;
mod bench;
mod contender;
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
mod sgf;
mod shell;
mod solve;
mod tune;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

/// Kosumi, a Go (Weiqi, Baduk) engine
///
/// Without a command it speaks the Go Text Protocol on its standard input and output, which is what graphical
/// interfaces and servers expect: give `kosumi` as the engine's command line to Sabaki, GoGui, kgsGtp or gtp2ogs.
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
    /// Let two engines play against each other
    Match(Box<matches::Arguments>),
    /// Play regression suites and judge the answers
    Regress(Box<regress::Arguments>),
    /// Go through a game: what each move gained and lost
    Review(Box<review::Arguments>),
    /// Measure speed, and print the signature of the search
    Bench(bench::Arguments),
    /// Compare constants of the search on positions of games
    Tune(Box<tune::Arguments>),
    /// Turn game records into positions for the training of networks
    Features(Box<features::Arguments>),
    /// Play games against itself for networks to learn from
    Selfplay(Box<selfplay::Arguments>),
    /// Count positions, plays, sequences of moves or whole games
    Perft(perft::Arguments),
    /// Solve boards and problems exactly
    Solve(solve::Arguments),
    /// Collections of game records: statistics, selections, legality
    Sgf(sgf::Arguments),
    /// Look at networks in KataGo's format, or make one
    Net(net::Arguments),
    /// Write completions for a shell
    Completions(shell::Completions),
    /// Write a manual page
    Man(shell::Manual),
    /// Print the version
    Version,
}

/// The command line, with texts that look well at every width.
fn command() -> clap::Command {
    help::tidied(with_names_of_sizes(Cli::command()))
}

/// Names of the option for the size of a board. Commands have the one that fits them best; all of them know the others too.
const NAMES_OF_SIZES: [&str; 3] = ["boardsize", "size", "sizes"];

/// The command, and all commands below it, with every name of such an option.
fn with_names_of_sizes(command: clap::Command) -> clap::Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let command =
        names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_names_of_sizes));
    command.mut_args(|argument| {
        let own = argument.get_long().map(str::to_owned);
        if own.as_deref().is_none_or(|own| !NAMES_OF_SIZES.contains(&own)) {
            return argument;
        }
        let others = NAMES_OF_SIZES.into_iter().filter(|name| own.as_deref() != Some(name));
        argument.visible_aliases(others.collect::<Vec<_>>())
    })
}

/// What a command line stands for: a record alone is reviewed, KataGo's options have one dash.
fn expanded(words: Vec<OsString>) -> Vec<OsString> {
    shell::with_review(katago::with_two_dashes(words))
}

/// Reads the words of a command line, the program's name first, without doing what they say; for fuzz targets. Files that
/// they name, such as networks, are read.
///
/// # Errors
/// What the person would be told.
pub fn check(words: Vec<OsString>) -> Result<(), String> {
    let matches = command().try_get_matches_from(expanded(words)).map_err(|error| error.to_string())?;
    Cli::from_arg_matches(&matches).map(drop).map_err(|error| error.to_string())
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let matches = command().get_matches_from(expanded(std::env::args_os().collect()));
    // What clap has matched is what it can build.
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
    if works_alone && let Err(error) = ranks::refuse_many() {
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
        // Its exit code says how the tests went.
        Some(Subcommands::Regress(arguments)) => return regress::run(&arguments),
        Some(Subcommands::Review(arguments)) => review::run(&arguments),
        Some(Subcommands::Bench(arguments)) => bench::run(&arguments),
        Some(Subcommands::Tune(arguments)) => tune::run(&arguments),
        Some(Subcommands::Features(arguments)) => features::run(&arguments),
        Some(Subcommands::Selfplay(arguments)) => selfplay::run(&arguments),
        Some(Subcommands::Perft(arguments)) => perft::run(&arguments),
        Some(Subcommands::Solve(arguments)) => solve::run(&arguments),
        Some(Subcommands::Sgf(arguments)) => sgf::run(&arguments),
        Some(Subcommands::Net(arguments)) => net::run(&arguments),
        Some(Subcommands::Completions(arguments)) => shell::completions(&arguments, command()),
        Some(Subcommands::Man(arguments)) => shell::manual(&arguments, command()),
        Some(Subcommands::Version) => shell::version(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => failure(&error),
    }
}

fn failure(error: &anyhow::Error) -> ExitCode {
    // If that cannot be written either, nobody is there to tell.
    let _ = writeln!(io::stderr(), "kosumi: {error:#}");
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

    /// A name that one command takes for the size of a board, all commands take.
    #[test]
    fn every_name_of_a_board_size_is_understood() {
        fn check(command: &clap::Command, path: &str) -> usize {
            let mut found = 0;
            for argument in command.get_arguments() {
                let own = argument.get_long().unwrap_or_default();
                if NAMES_OF_SIZES.contains(&own) {
                    let mut names = argument.get_all_aliases().unwrap_or_default();
                    names.push(own);
                    names.sort_unstable();
                    assert_eq!(names, NAMES_OF_SIZES, "{path}");
                    found += 1;
                }
            }
            let below = command.get_subcommands();
            found + below.map(|it| check(it, &format!("{path} {}", it.get_name()))).sum::<usize>()
        }
        assert!(check(&command(), "kosumi") >= 7);
        for name in NAMES_OF_SIZES {
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
