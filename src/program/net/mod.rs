//! `kosumi net`: networks in KataGo's format.

mod answer;
mod check;
mod convert;
mod eval;
mod find;
mod format;
mod info;
mod random;

use clap::{Args, Subcommand};

/// Look at networks in KataGo's format, or make one
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say what a network consists of and what it costs
    Info(info::Arguments),
    /// Say what a network thinks of one position
    Eval(eval::Arguments),
    /// Compare the fast kernels of this processor with the plain forward pass
    Check(check::Arguments),
    /// Answer another program's positions on standard input, in binary
    Answer(answer::Arguments),
    /// Write a network in another form: the built-in ones for KataGo, for instance
    Convert(convert::Arguments),
    /// List the KataGo networks that other programs have left on this machine
    Find(find::Arguments),
    /// Make a small network with random weights, to test programs that read the format
    Random(random::Arguments),
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.command {
        Command::Info(arguments) => info::run(arguments),
        Command::Eval(arguments) => eval::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Answer(arguments) => answer::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Find(arguments) => find::run(arguments),
        Command::Random(arguments) => random::run(arguments),
    }
}
