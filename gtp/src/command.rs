//! Lines of input: preprocessing as in section 3.1 of the draft, and parsing.
//!
//! The two steps are separate because the reader of the input must know the kind of a line immediately: a comment may
//! be a request to interrupt, which must not wait in the queue. The parts of a command are needed only when it is
//! handled.

use std::fmt;
use std::str::FromStr;

use crate::arguments::Arguments;

/// Maximum length of a line, in bytes. A game of a thousand moves in one `gogui-play_sequence` needs 10 kB. The limit
/// is far above that, yet small enough that a few such lines fit into memory.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// A line after the preprocessing of the draft.
///
/// ```
/// use kosumi_gtp::Line;
///
/// assert_eq!(Line::read(b" play\tb  D4 # the star point\r\n"), Line::Text("play b  D4".into()));
/// assert_eq!(Line::read(b"# interrupt\n"), Line::Comment("interrupt".into()));
/// assert_eq!(Line::read(b" \t\r\n"), Line::Blank);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Line {
    /// An empty line. It gets no response.
    Blank,
    /// A line with nothing but a comment, without the `#` and the blanks around it. It gets no response either, but
    /// `interrupt` is GoGui's request to interrupt the running command.
    Comment(String),
    /// The content of any other line, without blanks at its ends. [`Command::parse`] decides whether it is a command.
    Text(String),
}

impl Line {
    /// Preprocesses a line, given with or without its newline.
    ///
    /// Bytes that are not UTF-8 are replaced and not rejected: the draft allows them in comments and in private
    /// commands.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        // The order is that of the draft. It matters only for the bytes around a `#`: control characters are removed
        // before comments are searched, and blanks are handled afterwards.
        let mut cleaned: Vec<u8> = bytes
            .iter()
            .copied()
            .filter(|byte| !byte.is_ascii_control() || matches!(byte, b'\t' | b'\n'))
            .collect();
        let comment = cleaned.iter().position(|&byte| byte == b'#').map(|start| {
            let comment = cleaned.split_off(start);
            plain_text(comment.strip_prefix(b"#").unwrap_or_default())
        });
        let text = plain_text(&cleaned);
        match comment {
            _ if !text.is_empty() => Self::Text(text),
            Some(comment) => Self::Comment(comment),
            None => Self::Blank,
        }
    }
}

/// Turns tabs into spaces, and the bytes into text without blanks at its ends.
fn plain_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace(['\t', '\n'], " ").trim_matches(' ').to_owned()
}

/// A command: its id, its name and its arguments.
///
/// ```
/// use kosumi_gtp::Command;
///
/// let command: Command = "12 play b D4".parse()?;
/// assert_eq!(command.id, Some(12));
/// assert_eq!(command.name, "play");
/// assert_eq!(command.arguments, ["b", "D4"]);
/// # Ok::<(), kosumi_gtp::CommandError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Command {
    /// Number that the response must repeat, if the controller sent one.
    pub id: Option<u32>,
    /// Name, in the original case. It is never empty and contains no blanks.
    pub name: String,
    /// Words after the name. None is empty, and none contains blanks.
    pub arguments: Vec<String>,
    /// Arguments as the controller sent them, including the blanks between them: file names may contain several in a
    /// row.
    pub line: String,
}

/// Reason why a line is not a command.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum CommandError {
    /// The line is empty, or contains nothing but an id.
    #[error("the command has no name")]
    NoName {
        /// The id, which the response must repeat.
        id: Option<u32>,
    },
    /// The id does not fit 32 bits. (The draft allows 31.)
    #[error("the id of the command is too large")]
    IdTooLarge,
}

impl CommandError {
    /// Returns the id for the failure response to the line.
    #[must_use]
    pub const fn id(self) -> Option<u32> {
        match self {
            Self::NoName { id } => id,
            Self::IdTooLarge => None,
        }
    }
}

impl Command {
    /// Parses a line that [`Line::read`] has preprocessed.
    ///
    /// # Errors
    ///
    /// Returns an error if the line has no name, or an id that is too large. The response to both is `syntax error`.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let (id, rest) = split_id(text)?;
        let rest = rest.trim_ascii();
        let (name, line) =
            rest.split_once(|character: char| character.is_ascii_whitespace()).unwrap_or((rest, ""));
        if name.is_empty() {
            return Err(CommandError::NoName { id });
        }
        let (name, line) = (name.to_owned(), line.trim_ascii().to_owned());
        let arguments = line.split_ascii_whitespace().map(str::to_owned).collect();
        Ok(Self { id, name, arguments, line })
    }

    /// Returns a cursor that reads the arguments as values.
    #[must_use]
    pub fn arguments(&self) -> Arguments<'_> {
        Arguments::of_line(&self.arguments, &self.line)
    }
}

impl FromStr for Command {
    type Err = CommandError;

    fn from_str(text: &str) -> Result<Self, CommandError> {
        Self::parse(text)
    }
}

/// Writes the command as a controller would send it, without a newline.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = self.id {
            write!(f, "{id} ")?;
        }
        f.write_str(&self.name)?;
        if self.line.is_empty() { Ok(()) } else { write!(f, " {}", self.line) }
    }
}

/// Splits off the digits at the start. No command name starts with a digit, so they are an id even if no blank follows,
/// as in GNU Go and KataGo.
pub(crate) fn split_id(text: &str) -> Result<(Option<u32>, &str), CommandError> {
    let text = text.trim_ascii_start();
    let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
    let digits = text.strip_suffix(rest).unwrap_or_default();
    if digits.is_empty() {
        return Ok((None, text));
    }
    let id = digits.parse().map_err(|_| CommandError::IdTooLarge)?;
    Ok((Some(id), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check_line(input: &[u8], expected: Line) {
        assert_eq!(Line::read(input), expected, "{:?}", String::from_utf8_lossy(input));
    }

    #[test]
    fn preprocessing() {
        let text = |text: &str| Line::Text(text.into());
        let comment = |text: &str| Line::Comment(text.into());
        check_line(b"", Line::Blank);
        check_line(b"\r\n", Line::Blank);
        check_line(b" \t \x0c", Line::Blank);
        check_line(b"name", text("name"));
        check_line(b"name\r\n", text("name"));
        check_line(b"\x00na\x07m\x7fe\x1b", text("name"));
        check_line(b"na\rme", text("name"));
        check_line(b"\tplay\tb\td4\t", text("play b d4"));
        check_line(b"name#comment", text("name"));
        check_line(b"name # one # two", text("name"));
        check_line(b"#", comment(""));
        check_line(b"  # interrupt  ", comment("interrupt"));
        check_line(b"#\tinter\rrupt\n", comment("interrupt"));
        check_line(b"\x01#\x02x", comment("x"));
        check_line(b"## x", comment("# x"));
        check_line(b"echo caf\xc3\xa9", text("echo café"));
        check_line(b"echo \xff\xfe", text("echo \u{fffd}\u{fffd}"));
        check_line(b"echo x # \xff", text("echo x"));
    }

    fn check(text: &str, id: Option<u32>, name: &str, arguments: &[&str]) {
        let command = Command::parse(text).unwrap();
        assert_eq!((command.id, command.name.as_str()), (id, name), "{text:?}");
        assert_eq!(command.arguments, arguments, "{text:?}");
    }

    #[test]
    fn commands() {
        check("name", None, "name", &[]);
        check("play b d4", None, "play", &["b", "d4"]);
        check("  play   b  d4 ", None, "play", &["b", "d4"]);
        check("12 name", Some(12), "name", &[]);
        check("12   komi 7", Some(12), "komi", &["7"]);
        check("12name 3", Some(12), "name", &["3"]);
        check("0 name", Some(0), "name", &[]);
        check("007 name", Some(7), "name", &[]);
        check("4294967295 name", Some(u32::MAX), "name", &[]);
        check("-1 name", None, "-1", &["name"]);
        check("+1 name", None, "+1", &["name"]);
        check("kata-analyze b 50", None, "kata-analyze", &["b", "50"]);
        check("NAME", None, "NAME", &[]);
        check("１ name", None, "１", &["name"]);
    }

    #[test]
    fn malformed_commands() {
        for (text, expected) in [
            ("", CommandError::NoName { id: None }),
            ("   ", CommandError::NoName { id: None }),
            ("12", CommandError::NoName { id: Some(12) }),
            ("12  ", CommandError::NoName { id: Some(12) }),
            ("4294967296 name", CommandError::IdTooLarge),
            ("99999999999999999999999999999999 name", CommandError::IdTooLarge),
        ] {
            assert_eq!(Command::parse(text), Err(expected), "{text:?}");
        }
        assert_eq!(CommandError::NoName { id: Some(12) }.id(), Some(12));
        assert_eq!(CommandError::IdTooLarge.id(), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            if let Line::Text(text) = Line::read(&bytes) {
                prop_assert!(!text.is_empty() && !text.contains(|c: char| c.is_ascii_control()));
                if let Ok(command) = Command::parse(&text) {
                    prop_assert!(!command.name.is_empty() && !command.name.contains(' '));
                    prop_assert!(command.arguments.iter().all(|word| !word.is_empty() && !word.contains(' ')));
                }
            }
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "\\PC{0,40}|[0-9]{0,12} ?[a-z ]{0,9}") {
            let _ = Command::parse(&text);
        }

        #[test]
        fn a_written_command_reads_back(id: Option<u32>, words in prop::collection::vec("[a-z_-][a-zA-Z0-9_.,-]{0,8}", 1..6)) {
            let text = format!("{} {}", id.map(|id| id.to_string()).unwrap_or_default(), words.join(" \t"));
            let Line::Text(text) = Line::read(text.as_bytes()) else { panic!("not a command") };
            let command = Command::parse(&text).unwrap();
            prop_assert_eq!(command.id, id);
            prop_assert_eq!(&command.name, &words[0]);
            prop_assert_eq!(&command.arguments[..], &words[1..]);
            prop_assert_eq!(Command::parse(&command.to_string()), Ok(command));
        }
    }
}
