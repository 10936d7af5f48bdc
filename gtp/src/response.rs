//! Responses of an engine: a [`Response`] or a [`Failure`], their formatting, and their parsing.
//!
//! An empty line ends a response. One inside the body would split the response, and controller and engine would be out
//! of step for the rest of the session. Empty lines are therefore removed here, in one place, instead of in each
//! command.

use std::fmt::{self, Write as _};

use crate::command::{CommandError, split_id};
use crate::error::ArgumentError;
use crate::vertex::Vertex;

/// Response to a command that succeeded.
///
/// The body may be any text. Control characters, trailing blanks and empty lines are removed when it is written. Only
/// the first line may be empty, so that a diagram can begin at the left margin.
///
/// ```
/// use kosumi_gtp::Response;
///
/// assert_eq!(Response::new("D4").framed(Some(7)), "=7 D4\n\n");
/// assert_eq!(Response::new("\nA B\n\n1 2  \n\n").framed(None), "= \nA B\n1 2\n\n");
/// assert_eq!(Response::empty().framed(None), "= \n\n");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Response {
    body: String,
}

impl Response {
    /// Creates a response with this body.
    pub fn new(body: impl Into<String>) -> Self {
        Self { body: body.into() }
    }

    /// Creates a response without a body.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Creates a response with the items on one line, separated by spaces.
    pub fn list<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> Self {
        Self::separated(items, ' ')
    }

    /// Creates a response with one item per line.
    pub fn lines<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> Self {
        Self::separated(items, '\n')
    }

    fn separated<T: fmt::Display>(items: impl IntoIterator<Item = T>, separator: char) -> Self {
        let mut body = String::new();
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                body.push(separator);
            }
            // Writing to a string fails only if the item's `Display` does. The item is then missing.
            let _ = write!(body, "{item}");
        }
        Self { body }
    }

    /// Returns the body as it was given.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Returns the whole response as it is sent to the controller, including the empty line that ends it.
    #[must_use]
    pub fn framed(&self, id: Option<u32>) -> String {
        framed('=', id, &self.body)
    }
}

impl From<String> for Response {
    fn from(body: String) -> Self {
        Self { body }
    }
}

impl From<&str> for Response {
    fn from(body: &str) -> Self {
        Self::new(body)
    }
}

impl From<Vertex> for Response {
    fn from(vertex: Vertex) -> Self {
        Self::new(vertex.to_string())
    }
}

impl From<bool> for Response {
    fn from(value: bool) -> Self {
        Self::new(value.to_string())
    }
}

/// Response to a command that failed.
///
/// The standard messages of the draft have their own constructors. An engine may use any other message with
/// [`Failure::new`].
///
/// ```
/// use kosumi_gtp::Failure;
///
/// assert_eq!(Failure::illegal_move().framed(Some(7)), "?7 illegal move\n\n");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    message: String,
}

/// Defines a constructor for each standard message, so that they are listed in one table.
macro_rules! standard_messages {
    ($($name:ident = $message:literal, $meaning:literal;)*) => {
        /// Constructors for the standard messages of the draft.
        impl Failure {
            $(
                #[doc = concat!("`", $message, "`: ", $meaning)]
                #[must_use]
                pub fn $name() -> Self {
                    Self::new($message)
                }
            )*
        }
    };
}

standard_messages! {
    syntax_error = "syntax error", "an argument is missing or invalid.";
    unknown_command = "unknown command", "the engine has no command of this name.";
    illegal_move = "illegal move", "the response to an illegal `play`.";
    unacceptable_size = "unacceptable size", "the response to `boardsize` with an unsupported size.";
    cannot_undo = "cannot undo", "no move can be undone.";
    cannot_score = "cannot score", "the response to `final_score` if the position cannot be scored.";
    cannot_load_file = "cannot load file", "the response to `loadsgf` if the file cannot be loaded.";
    board_not_empty = "board not empty", "handicap stones need an empty board.";
    bad_vertex_list = "bad vertex list", "the response to `set_free_handicap` with invalid points.";
    invalid_number_of_stones = "invalid number of stones", "the response to handicap commands with an invalid number.";
}

impl Failure {
    /// Creates a failure with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// Returns the message as it was given.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the whole response as it is sent to the controller, including the empty line that ends it.
    #[must_use]
    pub fn framed(&self, id: Option<u32>) -> String {
        framed('?', id, &self.message)
    }
}

impl From<ArgumentError> for Failure {
    /// Converts every kind to `syntax error`, the only message that the draft defines for them. The details are omitted
    /// on purpose: controllers show the message to people who did not write the command.
    fn from(_: ArgumentError) -> Self {
        Self::syntax_error()
    }
}

impl From<CommandError> for Failure {
    fn from(_: CommandError) -> Self {
        Self::syntax_error()
    }
}

/// Returns `=` or `?` with the id and a space. The space is always written: GoGui takes everything after the first
/// space of the *whole* response as the body, and would otherwise lose the first line of a diagram.
pub(crate) fn header(sign: char, id: Option<u32>) -> String {
    id.map_or_else(|| format!("{sign} "), |id| format!("{sign}{id} "))
}

fn framed(sign: char, id: Option<u32>, body: &str) -> String {
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    let mut text = header(sign, id);
    push_tidy(&mut text, first);
    text.push('\n');
    push_lines(&mut text, rest);
    text.push('\n');
    text
}

/// Appends the lines that are not blank, each with its newline.
pub(crate) fn push_lines(text: &mut String, lines: &str) {
    for line in lines.split('\n') {
        if push_tidy(text, line) {
            text.push('\n');
        }
    }
}

/// Appends a line without control characters and trailing blanks. Returns whether anything was appended.
fn push_tidy(text: &mut String, line: &str) -> bool {
    let start = text.len();
    text.extend(line.chars().filter(|&character| character == '\t' || !character.is_control()));
    let kept = text.get(start..).map_or(0, |added| added.trim_end().len());
    text.truncate(start + kept);
    kept > 0
}

/// Parses a response without its final empty line, as a controller does. Returns its body, or the message of a failure
/// as the error.
pub(crate) fn parse_answer(answer: &str) -> Result<String, String> {
    let (refused, text) = match answer.strip_prefix('?') {
        Some(text) => (true, text),
        None => (false, answer.strip_prefix('=').unwrap_or(answer)),
    };
    // An id can only follow the sign directly, without a blank.
    let body = if text.starts_with(|character: char| character.is_ascii_digit()) {
        split_id(text).map_or(text, |(_, rest)| rest)
    } else {
        text
    };
    let body = body.strip_prefix(' ').unwrap_or(body).trim_end();
    // In a diagram, blanks at the start of the first line may be significant. In a single value they are not.
    let body = if body.contains('\n') { body } else { body.trim_start() }.to_owned();
    if refused { Err(body) } else { Ok(body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: &str) {
        assert_eq!(Response::new(body).framed(None), expected, "{body:?}");
    }

    #[test]
    fn bodies() {
        check("", "= \n\n");
        check("\n", "= \n\n");
        check("\n\n\n", "= \n\n");
        check("   ", "= \n\n");
        check("true", "= true\n\n");
        check("true\n", "= true\n\n");
        check("  A B  ", "=   A B\n\n");
        check("a\n\nb", "= a\nb\n\n");
        check("a\n \t \nb\r\n\r\nc", "= a\nb\nc\n\n");
        check("\n  A B\n1 . .", "= \n  A B\n1 . .\n\n");
        check("\n\n\nA", "= \nA\n\n");
        check("a\u{7}b\u{0}\u{7f}c\td", "= abc\td\n\n");
        check("=\n?", "= =\n?\n\n");
        check("é \u{a0}", "= é\n\n");
    }

    #[test]
    fn ids_and_failures() {
        assert_eq!(Response::empty().framed(Some(0)), "=0 \n\n");
        assert_eq!(Response::from(true).framed(Some(u32::MAX)), "=4294967295 true\n\n");
        assert_eq!(Failure::new("a\n\nb").framed(Some(3)), "?3 a\nb\n\n");
        assert_eq!(Failure::unknown_command().to_string(), "unknown command");
        assert_eq!(Failure::from(ArgumentError::Missing), Failure::syntax_error());
    }

    #[test]
    fn lists() {
        assert_eq!(Response::list(["D4", "Q16"]).body(), "D4 Q16");
        assert_eq!(Response::lines([1, 2, 3]).body(), "1\n2\n3");
        assert_eq!(Response::list::<Vertex>([]).body(), "");
        assert_eq!(Response::from(Vertex::Pass).body(), "pass");
    }

    proptest::proptest! {
        #[test]
        fn only_the_end_is_an_empty_line(body in "[ -~\\n\\r\\t\\x00-\\x1f]{0,60}|(\\PC|\\n){0,40}", id: Option<u32>) {
            let text = Response::new(body).framed(id);
            proptest::prop_assert_eq!(text.find("\n\n"), Some(text.len() - 2));
            proptest::prop_assert!(text.starts_with(&header('=', id)));
            proptest::prop_assert!(!text.contains(|c: char| c.is_ascii_control() && c != '\n' && c != '\t'));
        }
    }
}
