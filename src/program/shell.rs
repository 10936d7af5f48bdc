//! Help at the terminal: greeting, shell completions, manual page.

use clap::{Args, Command};
use clap_complete::Shell;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Write shell completions to the standard output
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kosumi completions bash > ~/.local/share/bash-completion/completions/kosumi
  kosumi completions zsh > ~/.zfunc/_kosumi
  kosumi completions fish > ~/.config/fish/completions/kosumi.fish")]
pub(super) struct Completions {
    /// Shell for which completions are written
    shell: Shell,
}

pub(super) fn completions(arguments: &Completions, mut command: Command) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "kosumi", &mut text);
    Ok(io::stdout().write_all(&text)?)
}

/// Write a manual page to the standard output
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kosumi man > kosumi.1 && man ./kosumi.1
  kosumi man match | man -l -")]
pub(super) struct Manual {
    /// Command whose page is written, instead of the page of the whole program
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub(super) fn manual(arguments: &Manual, command: Command) -> anyhow::Result<()> {
    let mut command = command;
    command.build();
    let command = match &arguments.command {
        None => command,
        Some(name) => match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => anyhow::bail!("there is no command {name}"),
        },
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(io::stdout().write_all(&text)?)
}

/// Prints the version in one line. Programs that look for KataGo run "katago version" and search the output for its
/// name.
pub(super) fn version() -> anyhow::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    Ok(writeln!(io::stdout(), "Kosumi v{version} (speaks GTP and KataGo's analysis protocol)")?)
}

/// Inserts the command `review` into a command line that names only a game record.
pub(super) fn with_review(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_record = |word: &OsString| {
        Path::new(word).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("sgf"))
            && !word.to_string_lossy().starts_with('-')
    };
    if words.get(1).is_some_and(is_record) {
        words.insert(1, "review".into());
    }
    words
}

/// Greeting of a user who starts the program at a terminal.
pub(super) const GREETING: &str = concat!(
    "Kosumi ",
    env!("CARGO_PKG_VERSION"),
    " speaks the Go Text Protocol, for programs such as Sabaki: \"help\" lists commands, \"genmove b\" plays, \"quit\" ends. ",
    "A board in the browser: kosumi play. To review a game: kosumi game.sgf. More: kosumi --help"
);

/// Writes the greeting if standard input and standard error are terminals.
pub(super) fn greet() {
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        // Errors are ignored: a closed standard error has no reader.
        let _ = writeln!(io::stderr(), "{GREETING}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_alone_is_reviewed() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(with_review(words("kosumi a/game.SGF --html")), words("kosumi review a/game.SGF --html"));
        for other in ["kosumi", "kosumi review game.sgf", "kosumi --resume=x.sgf", "kosumi game.txt"] {
            assert_eq!(with_review(words(other)), words(other));
        }
    }

    #[test]
    fn the_greeting_is_one_line_and_says_how_to_go_on_and_to_end() {
        assert_eq!(GREETING.lines().count(), 1);
        for part in ["Go Text Protocol", "help", "quit", "review"] {
            assert!(GREETING.contains(part), "{part}");
        }
    }

    #[test]
    fn completions_and_the_manual_know_all_commands() {
        let mut command = crate::command();
        let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish] {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut command, "kosumi", &mut text);
            let text = String::from_utf8(text).unwrap();
            assert!(names.iter().all(|name| text.contains(name)), "{shell}");
        }
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(names.iter().all(|name| text.contains(&name.replace('-', "\\-"))), "{text}");
    }
}
