//! Texts behind the options in `--help`, so that they look well at every width.
//!
//! Paragraphs are wrapped by `clap` to the width of the terminal; that works only if they come as one line. Examples are
//! not wrapped, so they must be narrow.

use clap::Command;

/// The narrowest terminal for which examples are made.
const NARROW: usize = 80;

/// Where the rest of an example goes that is too long for a line.
const INDENT: &str = "      ";

/// The command with the texts of it and of all its subcommands made ready.
pub(super) fn tidied(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let mut command = names.into_iter().fold(command, |command, name| command.mut_subcommand(name, tidied));
    if let Some(text) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(tidy(&text));
    }
    if let Some(text) = command.get_after_long_help().map(ToString::to_string) {
        command = command.after_long_help(tidy(&text));
    }
    command
}

/// Paragraphs as one line each, examples in lines that are not too long.
fn tidy(text: &str) -> String {
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        if goes_on && is_prose(line) {
            if let Some(last) = lines.last_mut() {
                last.push(' ');
                last.push_str(line);
            }
        } else if line.starts_with(' ') && line.chars().count() > NARROW {
            lines.extend(narrow(line));
        } else {
            lines.push(line.to_owned());
        }
        // A heading ends with a colon; so does a paragraph before a list.
        goes_on = is_prose(line) && !line.ends_with(':');
    }
    lines.join("\n")
}

/// An example in several lines: its explanation below it, or the command broken.
fn narrow(line: &str) -> Vec<String> {
    let begin = line.len() - line.trim_start().len();
    let (example, explanation) = match line[begin..].find("  ") {
        Some(gap) => (&line[..begin + gap], line[begin + gap..].trim()),
        None => (line, ""),
    };
    let mut lines = vec![String::new()];
    let room = NARROW - 2;
    for word in example.trim().split(' ') {
        let last = lines.len() - 1;
        let is_first = lines[last].is_empty();
        if !is_first && lines[last].chars().count() + 1 + word.chars().count() > room {
            lines[last].push_str(" \\");
            lines.push(format!("{INDENT}{word}"));
        } else if is_first {
            lines[last] = format!("{}{word}", &line[..begin]);
        } else {
            lines[last].push(' ');
            lines[last].push_str(word);
        }
    }
    let mut below = String::new();
    for word in explanation.split(' ').filter(|word| !word.is_empty()) {
        if !below.is_empty() && below.chars().count() + 1 + word.chars().count() > NARROW {
            lines.push(std::mem::take(&mut below));
        }
        below.push_str(if below.is_empty() { INDENT } else { " " });
        below.push_str(word);
    }
    lines.extend(Some(below).filter(|below| !below.is_empty()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_joined_and_examples_are_not() {
        let text = "One two\nthree.\n\nExamples:\n  kosumi x     does\n  kosumi y\nmore";
        assert_eq!(tidy(text), "One two three.\n\nExamples:\n  kosumi x     does\n  kosumi y\nmore");
    }

    #[test]
    fn long_examples_have_their_explanation_below() {
        let long = format!("  kosumi {}    what it does", "--option value ".repeat(4).trim());
        let told = tidy(&long);
        assert!(told.lines().count() == 2 && told.ends_with("\n      what it does"), "{told}");
        let command = format!("  kosumi {}", "--option value ".repeat(9).trim());
        let broken = tidy(&command);
        assert!(broken.lines().all(|line| line.chars().count() <= NARROW), "{broken}");
        assert_eq!(broken.replace(" \\\n      ", " "), command);
    }

    /// Every text at two widths: no line is longer, and none of a paragraph is much shorter.
    #[test]
    fn no_help_is_ragged() {
        fn check(command: &mut Command, path: &str) {
            for width in [80, 100] {
                let text = command.clone().term_width(width).render_long_help().to_string();
                let behind = command.get_after_long_help().or(command.get_after_help());
                let prose: Vec<String> = behind
                    .map(|text| text.to_string().lines().map(str::to_owned).collect::<Vec<_>>())
                    .unwrap_or_default();
                for line in text.lines() {
                    let is_word = !line.trim().contains(' ');
                    assert!(line.chars().count() <= width || is_word, "{path} at {width}: {line}");
                }
                for paragraph in
                    prose.iter().filter(|line| !line.starts_with(' ') && line.chars().count() > width)
                {
                    let first: String = paragraph.chars().take(30).collect();
                    let shown: Vec<&str> =
                        text.lines().skip_while(|line| !line.starts_with(&first)).collect();
                    let shown = shown.iter().take_while(|line| !line.is_empty());
                    let lines: Vec<&&str> = shown.collect();
                    for pair in lines.windows(2) {
                        let word = pair[1].split(' ').next().unwrap_or_default();
                        let would_fit = pair[0].chars().count() + 1 + word.chars().count() <= width;
                        assert!(!would_fit || pair[1].starts_with(' '), "{path} at {width}: {}", pair[0]);
                    }
                }
            }
            for subcommand in command.get_subcommands_mut() {
                let path = format!("{path} {}", subcommand.get_name());
                check(subcommand, &path);
            }
        }
        let mut command = crate::cli::command();
        command.build();
        check(&mut command, "kosumi");
    }
}
