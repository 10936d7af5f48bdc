//! `kosumi net`: networks in KataGo's format.

mod answer;
pub(super) mod check;
mod convert;
mod devices;
mod eval;
mod find;
mod format;
mod info;
mod random;

use clap::{Args, Subcommand};

/// Inspect networks in KataGo's format, or create one
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the structure of a network and its cost
    Info(info::Arguments),
    /// Evaluate one position with a network
    Eval(eval::Arguments),
    /// Compare the fast kernels with the plain forward pass on this processor
    Check(check::Arguments),
    /// List the devices that can evaluate networks, and the one that would be used
    Devices(devices::Arguments),
    /// Evaluate positions of another program, in binary on standard input and output
    Answer(answer::Arguments),
    /// Convert a network file; for instance, write the built-in network for KataGo
    Convert(convert::Arguments),
    /// List the KataGo networks of other programs on this machine
    Find(find::Arguments),
    /// Create a small network with random weights, to test programs that read the format
    Random(random::Arguments),
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.command {
        Command::Info(arguments) => info::run(arguments),
        Command::Eval(arguments) => eval::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Devices(arguments) => devices::run(arguments),
        Command::Answer(arguments) => answer::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Find(arguments) => find::run(arguments),
        Command::Random(arguments) => random::run(arguments),
    }
}
