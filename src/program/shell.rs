//! Help at the terminal: greeting, shell completions and manual pages.

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

/// Prints the version in one line. Programs that look for KataGo run "katago version" and search the output for
/// KataGo's name.
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

/// Inserts the command `play` into an empty command line, so that a double click on the program opens the board in the
/// browser instead of a window that waits for commands.
pub(super) fn with_play(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.len() == 1 {
        words.push("play".into());
    }
    words
}

/// Waits until the user has read the window's content, because the window closes when the program ends.
pub(super) fn wait_for_enter() {
    let _ = write!(io::stderr(), "Press Enter to close this window.");
    let _ = io::stdin().read_line(&mut String::new());
}

/// Returns the greeting for a user who starts the program at a terminal. `program` is the full path of the program.
fn greeting(program: &Path) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let command = quoted(program);
    format!(
        "Kosumi {version} plays and analyses Go (Weiqi, Baduk).
Play on a board in the browser:  {command} play
Review a game:  {command} game.sgf
Use it in Sabaki, KaTrain, Lizzie or GoGui: add an engine with the path {}  (details:  {command} setup sabaki)
Kosumi now waits for commands of the Go Text Protocol: \"help\" lists them, \"genmove b\" plays, \"quit\" ends.\n",
        program.display()
    )
}

/// Returns a path as a word of the command line of this system.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/\\:._-+".contains(letter);
    match () {
        () if text.chars().all(is_plain) => text,
        () if cfg!(windows) => format!("\"{text}\""),
        () => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Writes the greeting if standard input and standard error are terminals.
pub(super) fn greet() {
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        let program = std::env::current_exe().unwrap_or_else(|_| "kosumi".into());
        // Errors are ignored, because a closed standard error has no reader.
        let _ = io::stderr().write_all(greeting(&program).as_bytes());
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
    fn the_greeting_has_five_lines_with_the_path() {
        let greeting = greeting(Path::new("/opt/kosumi"));
        assert_eq!(greeting.lines().count(), 5);
        for part in ["/opt/kosumi play", "/opt/kosumi setup sabaki", "the path /opt/kosumi ", "help", "quit"]
        {
            assert!(greeting.contains(part), "{part}");
        }
    }

    #[test]
    fn a_double_click_plays() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(with_play(words("kosumi")), words("kosumi play"));
        assert_eq!(with_play(words("kosumi gtp")), words("kosumi gtp"));
    }

    #[test]
    fn paths_are_words_of_a_command_line() {
        assert_eq!(quoted(Path::new("/opt/kosumi-1.0/kosumi")), "/opt/kosumi-1.0/kosumi");
        let (open, close) = if cfg!(windows) { ("\"", "\"") } else { ("'", "'") };
        assert_eq!(quoted(Path::new("/my programs/kosumi")), format!("{open}/my programs/kosumi{close}"));
        if cfg!(unix) {
            assert_eq!(quoted(Path::new("/it's/kosumi")), r"'/it'\''s/kosumi'");
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
