//! Formatting of the texts after the options in `--help`, for every width of the terminal.
//!
//! `clap` wraps a paragraph to the width of the terminal only if the paragraph is a single line. Examples are not
//! wrapped, so they must be narrow.

use clap::Command;

/// Width of the narrowest terminal that examples must fit, in columns.
const MAX_EXAMPLE_WIDTH: usize = 80;

/// Indentation of the continuation lines of an example.
const INDENT: &str = "      ";

/// Formats the help texts of a command and of all its subcommands.
pub(super) fn formatted(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let mut command =
        names.into_iter().fold(command, |command, name| command.mut_subcommand(name, formatted));
    if let Some(text) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(format_text(&text));
    }
    if let Some(text) = command.get_after_long_help().map(ToString::to_string) {
        command = command.after_long_help(format_text(&text));
    }
    command
}

/// Joins each paragraph into one line, and breaks examples that are too long.
fn format_text(text: &str) -> String {
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        if goes_on && is_prose(line) {
            if let Some(last) = lines.last_mut() {
                last.push(' ');
                last.push_str(line);
            }
        } else if line.starts_with(' ') && line.chars().count() > MAX_EXAMPLE_WIDTH {
            lines.extend(break_example(line));
        } else {
            lines.push(line.to_owned());
        }
        // A line that ends with a colon is a heading or introduces a list, so the next line begins a new paragraph.
        goes_on = is_prose(line) && !line.ends_with(':');
    }
    lines.join("\n")
}

/// Breaks a long line. A command is broken between options, and its explanation is moved below it. Other lines are
/// wrapped.
fn break_example(line: &str) -> Vec<String> {
    let begin = line.len() - line.trim_start().len();
    let (example, explanation) = match line[begin..].find("  ") {
        Some(gap) => (&line[begin..begin + gap], line[begin + gap..].trim()),
        None => (&line[begin..], ""),
    };
    let indent = &line[..begin];
    // A line that continues a command begins with an option.
    if !example.starts_with("kosumi ") && !example.starts_with("--") {
        return match explanation {
            "" if begin < MAX_EXAMPLE_WIDTH / 2 => wrapped(example, indent, indent),
            "" => wrapped(example, INDENT, INDENT),
            _ => [vec![format!("{indent}{example}")], wrapped(explanation, INDENT, INDENT)].concat(),
        };
    }
    let (example, is_continued) = match example.strip_suffix(" \\") {
        Some(rest) => (rest, true),
        None => (example, false),
    };
    let mut lines = vec![String::new()];
    for unit in split_at_options(example) {
        let last = lines.len() - 1;
        let is_first = lines[last].is_empty();
        if is_first {
            lines[last] = format!("{indent}{unit}");
        } else if lines[last].chars().count() + 1 + unit.chars().count() > MAX_EXAMPLE_WIDTH - 2 {
            lines[last].push_str(" \\");
            lines.push(format!("{INDENT}{unit}"));
        } else {
            lines[last].push(' ');
            lines[last].push_str(&unit);
        }
    }
    if is_continued && let Some(last) = lines.last_mut() {
        last.push_str(" \\");
    }
    if !explanation.is_empty() {
        lines.extend(wrapped(explanation, INDENT, INDENT));
    }
    lines
}

/// Splits a command into parts between which a line may break. An option stays with its value, and quoted words stay
/// together.
fn split_at_options(command: &str) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    let mut quote = None;
    let mut takes_value = false;
    for word in command.split(' ').filter(|word| !word.is_empty()) {
        let is_inside = quote.is_some();
        for letter in word.chars().filter(|letter| ['"', '\''].contains(letter)) {
            quote = match quote {
                None => Some(letter),
                Some(open) if open == letter => None,
                open => open,
            };
        }
        match units.last_mut() {
            Some(last) if is_inside || (takes_value && !word.starts_with('-')) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => units.push(word.to_owned()),
        }
        takes_value = word.starts_with('-') && !is_inside;
    }
    units
}

/// Wraps words into lines of at most [`MAX_EXAMPLE_WIDTH`] columns.
fn wrapped(text: &str, first: &str, others: &str) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    let mut is_empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let last = lines.len() - 1;
        if is_empty {
            lines[last].push_str(word);
        } else if lines[last].chars().count() + 1 + word.chars().count() > MAX_EXAMPLE_WIDTH {
            lines.push(format!("{others}{word}"));
        } else {
            lines[last].push(' ');
            lines[last].push_str(word);
        }
        is_empty = false;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_joined_and_examples_are_not() {
        let text = "One two\nthree.\n\nExamples:\n  kosumi x     does\n  kosumi y\nmore";
        assert_eq!(format_text(text), "One two three.\n\nExamples:\n  kosumi x     does\n  kosumi y\nmore");
    }

    #[test]
    fn long_examples_have_their_explanation_below() {
        let long = format!("  kosumi {}    what it does", "--option value ".repeat(4).trim());
        let output = format_text(&long);
        assert!(output.lines().count() == 2 && output.ends_with("\n      what it does"), "{output}");
        let command = format!("  kosumi {}", "--option value ".repeat(9).trim());
        let broken = format_text(&command);
        assert!(broken.lines().all(|line| line.chars().count() <= MAX_EXAMPLE_WIDTH), "{broken}");
        assert_eq!(broken.replace(" \\\n      ", " "), command);
    }

    #[test]
    fn an_explanation_without_a_command_is_wrapped() {
        let output = format_text(&format!("  kosumi x\n{}{}", " ".repeat(40), "word ".repeat(12).trim()));
        assert!(
            !output.contains('\\') && output.lines().all(|line| line.chars().count() <= MAX_EXAMPLE_WIDTH),
            "{output}"
        );
        let long =
            format!("  kosumi match --engine 'other --option {}' --jobs 2 --log x.jsonl \\", "x".repeat(20));
        let output = format_text(&long);
        assert!(
            output.contains("'other --option xxxxxxxxxxxxxxxxxxxx'") && !output.contains("--jobs \\"),
            "{output}"
        );
        assert!(output.ends_with("--log x.jsonl \\") && !output.contains("\\ \\"), "{output}");
    }

    /// Checks, in all help texts and manual pages, that a backslash occurs only at the end of a line whose command
    /// continues on the next line.
    #[test]
    fn no_help_has_a_stray_backslash() {
        fn check_lines(text: &str, path: &str) {
            let lines: Vec<&str> = text.lines().collect();
            let mut is_continued = false;
            for (number, line) in lines.iter().enumerate() {
                let ends = line.ends_with(" \\");
                let inside = line.strip_suffix(" \\").unwrap_or(line);
                assert!(!inside.contains('\\'), "{path}: {line}");
                let is_command = is_continued || line.trim_start().starts_with("kosumi ");
                assert!(!ends || is_command, "{path}: {line}");
                assert!(
                    !ends || lines.get(number + 1).is_some_and(|next| next.starts_with(INDENT)),
                    "{path}: {line}"
                );
                let quotes = |quote| inside.matches(quote).count();
                assert!(!ends || (quotes('"') % 2 == 0 && quotes('\'') % 2 == 0), "{path}: {line}");
                is_continued = ends;
            }
        }
        fn check(command: &mut Command, path: &str) {
            check_lines(&command.clone().term_width(100).render_long_help().to_string(), path);
            check_lines(&command.clone().term_width(100).render_help().to_string(), path);
            let mut page = Vec::new();
            clap_mangen::Man::new(command.clone()).render(&mut page).unwrap();
            for line in String::from_utf8(page).unwrap().lines() {
                // A backslash in the text is written as two. A single one begins an escape sequence.
                let inside = line.strip_suffix(" \\\\").unwrap_or(line);
                assert!(!inside.contains("\\\\"), "{path}: {line}");
            }
            for subcommand in command.get_subcommands_mut() {
                let path = format!("{path} {}", subcommand.get_name());
                check(subcommand, &path);
            }
        }
        let mut command = crate::command();
        command.build();
        check(&mut command, "kosumi");
    }

    /// Checks at two widths that no line of a help text is too long and that no paragraph is broken early.
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
        let mut command = crate::command();
        command.build();
        check(&mut command, "kosumi");
    }
}
