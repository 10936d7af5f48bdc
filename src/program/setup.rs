//! `kosumi setup`: Kosumi as an engine in other programs.

use crate::terminal;
use anyhow::Context;
use clap::Args;
use kosumi_tools::networks::{Platform, SearchRoots};
use kosumi_tools::setup::Client;
use std::env;
use std::io::Write;
use std::path::PathBuf;

/// Show how to put Kosumi into Sabaki, KaTrain, Lizzie, GoGui or CGoban, or do it
#[derive(Debug, Args)]
#[command(after_help = "\
Close the other program before --write: most programs write their settings when they exit.

Examples:
  kosumi setup sabaki                    what to enter in Sabaki
  kosumi setup sabaki --write            adds Kosumi to Sabaki's settings
  kosumi setup lizzie --write --file lizzie/config.txt")]
pub(super) struct Arguments {
    /// Program: sabaki, katrain, lizzie, gogui or cgoban
    #[arg(value_name = "PROGRAM", value_parser = client)]
    client: Client,
    /// Change the settings of the program, after a backup
    #[arg(long)]
    write: bool,
    /// Settings file of the program [default: the usual one on this system]
    #[arg(long, value_name = "FILE", requires = "write")]
    file: Option<PathBuf>,
}

fn client(name: &str) -> Result<Client, String> {
    Client::named(name).ok_or_else(|| {
        let all = Client::ALL.map(|client| client.name().to_lowercase()).join(", ");
        format!("not one of {all}")
    })
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let program = env::current_exe().context("the path of this program is not known")?;
    let client = arguments.client;
    let mut out = terminal::stdout();
    if !arguments.write {
        for line in client.instructions(&program) {
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    let file = match &arguments.file {
        Some(file) => file.clone(),
        None => {
            let home = env::home_dir().context("no home folder is known")?;
            let root = if cfg!(windows) { "C:\\" } else { "/" };
            let machine =
                SearchRoots { platform: Platform::here(), home, root: root.into(), folders: Vec::new() };
            client.settings_file(&machine)?
        }
    };
    let name = client.name();
    match client.write(&file, &program)? {
        None => writeln!(out, "{name} already contains Kosumi: {} is unchanged", file.display())?,
        Some(backup) if backup == file => writeln!(out, "{} was created: restart {name}", file.display())?,
        Some(backup) => {
            writeln!(out, "Kosumi was added to {}: restart {name}", file.display())?;
            writeln!(out, "The old file is kept as {}", backup.display())?;
        }
    }
    Ok(())
}
