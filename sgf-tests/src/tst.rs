//! The `.tst` format.
//!
//! ```text
//! loadsgf games/ko.sgf 12       set-up: no number
//! 10 reg_genmove black          a test
//! #? [C3|D4]*                   its answer, as a regular expression that must match all of it; `*`: known to fail
//! # anything else is a comment
//! ```

use regex::Regex;

/// A suite as a list of commands.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The commands in order.
    pub steps: Vec<Step>,
}

/// One command, and what is expected of it.
#[derive(Clone, Debug)]
pub struct Step {
    /// Line in the file, from 1.
    pub line: usize,
    /// Number of the test; `None` for set-up.
    pub number: Option<u32>,
    /// The command without its number.
    pub command: String,
    /// The expected answer. A numbered command without one passes if it is not refused.
    pub expectation: Option<Expectation>,
}

/// An expected answer.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The text between the brackets.
    pub pattern: String,
    /// The answer must *not* match.
    pub is_negated: bool,
    /// What is known of the engine.
    pub mark: Mark,
    regex: Regex,
}

impl Expectation {
    /// Is this the right answer?
    pub fn accepts(&self, answer: &str) -> bool {
        self.regex.is_match(answer) != self.is_negated
    }
}

/// What follows the bracket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Expected to pass.
    None,
    /// `*`: expected to fail.
    KnownFailure,
    /// `&`: counted, never a failure.
    Ignored,
}

/// What is wrong with a suite file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TstError {
    /// A pattern that no command precedes.
    #[error("line {0}: an expected answer without a command")]
    NoCommand(usize),
    /// A pattern without brackets.
    #[error("line {0}: an expected answer must stand in brackets")]
    NoBrackets(usize),
    /// A pattern that is no regular expression.
    #[error("line {0}: {1}")]
    BadPattern(usize, String),
    /// A number that was used before.
    #[error("line {0}: test number {1} is used twice")]
    RepeatedNumber(usize, u32),
}

impl Suite {
    /// Reads a suite.
    ///
    /// # Errors
    /// If the text is not in the format; the line is named.
    pub fn parse(text: &str) -> Result<Suite, TstError> {
        let mut steps: Vec<Step> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            if let Some(rest) = line.strip_prefix("#?") {
                let step = steps.last_mut().ok_or(TstError::NoCommand(number))?;
                step.expectation = Some(expectation(rest.trim(), number)?);
                continue;
            }
            let command = line.split('#').next().unwrap_or_default().trim();
            if command.is_empty() {
                continue;
            }
            let (first, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
            let id: Option<u32> = first.parse().ok();
            if let Some(id) = id
                && steps.iter().any(|step| step.number == Some(id))
            {
                return Err(TstError::RepeatedNumber(number, id));
            }
            let command = if id.is_some() { rest.trim() } else { command };
            steps.push(Step { line: number, number: id, command: command.to_owned(), expectation: None });
        }
        Ok(Suite { steps })
    }
}

fn expectation(text: &str, line: usize) -> Result<Expectation, TstError> {
    let (body, mark) = match text.as_bytes().last() {
        Some(b'*') => (&text[..text.len() - 1], Mark::KnownFailure),
        Some(b'&') => (&text[..text.len() - 1], Mark::Ignored),
        _ => (text, Mark::None),
    };
    let inner = body
        .trim_end()
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .ok_or(TstError::NoBrackets(line))?;
    let (is_negated, pattern) = match inner.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, inner),
    };
    let regex = Regex::new(&format!("^(?:{pattern})$"))
        .map_err(|error| TstError::BadPattern(line, error.to_string()))?;
    Ok(Expectation { pattern: pattern.to_owned(), is_negated, mark, regex })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_patterns_and_comments() {
        let text = "# a comment\nloadsgf a.sgf 3\n\n10 reg_genmove black # why\n#? [C3|D4]*\n##? [E5]\n20 final_score\n#? [!W\\+1.5]\n";
        let suite = Suite::parse(text).expect("suite");
        let commands: Vec<&str> = suite.steps.iter().map(|step| step.command.as_str()).collect();
        assert_eq!(commands, ["loadsgf a.sgf 3", "reg_genmove black", "final_score"]);
        assert_eq!(suite.steps[0].number, None);
        assert_eq!((suite.steps[1].number, suite.steps[1].line), (Some(10), 4));
        let first = suite.steps[1].expectation.as_ref().expect("pattern");
        assert_eq!(first.mark, Mark::KnownFailure);
        assert!(first.accepts("C3") && first.accepts("D4"));
        assert!(!first.accepts("C33") && !first.accepts("CC3") && !first.accepts(""), "all of the answer");
        let second = suite.steps[2].expectation.as_ref().expect("pattern");
        assert!(second.accepts("B+2") && !second.accepts("W+1.5"));
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| Suite::parse(text).expect_err("an error");
        assert_eq!(error("#? [A1]"), TstError::NoCommand(1));
        assert_eq!(error("1 name\n#? A1"), TstError::NoBrackets(2));
        assert!(matches!(error("1 name\n#? [(]"), TstError::BadPattern(2, _)));
        assert_eq!(error("1 name\n1 version"), TstError::RepeatedNumber(2, 1));
    }
}
