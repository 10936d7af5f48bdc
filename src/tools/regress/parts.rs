//! Splits a suite into parts that several engines run concurrently.
//!
//! A part begins where a suite sets up a new position. Its engine is brought into the state that an engine of the whole
//! suite would have, by replaying the earlier commands without the queries. The following rules make this safe for
//! every engine:
//!
//! - from the commands before a part, queries are omitted because they change nothing, and commands that move stones
//!   because the new position replaces them;
//! - all other known commands are sent in order: komi, rules, level, and also every `loadsgf`, `boardsize` and
//!   `clear_board`, because a record may set komi and rules that a later one does not change;
//! - after an unknown command, numbered or not, the suite is not split any more.
//!
//! The effects of queries inside an engine, such as caches and random numbers, cannot be replayed. Kosumi's answers do
//! not depend on them with one thread and a fixed number of playouts. GNU Go's may in rare cases (1 of 1512 in 13 of
//! its suites). The option `--whole` is for such engines. In any case, the results do not depend on the number of
//! workers, because the split depends only on the suite.

use super::command::{Effect, effect};
use super::suite::SuiteCommand;
use std::ops::Range;

/// Maximum number of parts of a suite. Each costs the start of an engine (GNU Go: 10 ms) and the replay of its records.
const MAX_PARTS: usize = 16;
/// Minimum number of tests of a part, except the last one.
const MIN_TESTS: usize = 8;

/// Returns the parts of a suite in order: ranges of steps that together cover all steps.
pub(super) fn split(steps: &[SuiteCommand]) -> Vec<Range<usize>> {
    let tests = |steps: &[SuiteCommand]| steps.iter().filter(|step| step.is_test).count();
    let enough = tests(steps).div_ceil(MAX_PARTS).max(MIN_TESTS);
    let known = steps.iter().take_while(|step| effect(step.name()) != Effect::Unknown).count();
    let is_fresh = |step: &SuiteCommand| effect(step.name()) == Effect::Fresh;
    let mut parts = Vec::new();
    let mut start = 0;
    for index in 1..known.min(steps.len().saturating_sub(1)) {
        // A part begins at the first of several commands that belong together: `boardsize 9`, `clear_board`.
        let is_boundary = is_fresh(&steps[index]) && !is_fresh(&steps[index - 1]);
        if is_boundary && tests(&steps[start..index]) >= enough {
            parts.push(start..index);
            start = index;
        }
    }
    if start < steps.len() {
        parts.push(start..steps.len());
    }
    parts
}

/// Returns the steps that produce the state before step `end` in a new engine.
///
/// After unknown commands the state may differ, but this is the best approximation.
pub(super) fn replay(steps: &[SuiteCommand], end: usize) -> impl Iterator<Item = (usize, &SuiteCommand)> {
    let latest = steps[..end].iter().rposition(|step| effect(step.name()) == Effect::Fresh);
    steps[..end].iter().enumerate().filter(move |(index, step)| match effect(step.name()) {
        Effect::Nothing => false,
        Effect::Position => latest.is_none_or(|latest| *index > latest),
        Effect::Fresh | Effect::Parameter | Effect::Unknown => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regress::{Matching, Suite};
    use std::path::Path;

    fn steps(text: &str) -> Vec<SuiteCommand> {
        Suite::parse(Path::new("x"), text, Matching::Full).unwrap().steps
    }

    /// Returns a section: a new position, and tests with these numbers.
    fn section(tests: Range<u32>) -> String {
        let tests: String = tests.map(|number| format!("{number} reg_genmove black\n")).collect();
        format!("boardsize 9\nclear_board\nplay b D4\n{tests}undo\n")
    }

    fn starts(steps: &[SuiteCommand]) -> Vec<usize> {
        split(steps).iter().map(|part| part.start).collect()
    }

    #[test]
    fn parts_begin_with_a_new_position_and_have_enough_tests() {
        let text: String = (0..5).map(|index| section(index * 6..index * 6 + 6)).collect();
        // Sections have 10 steps and 6 tests: two of them make a part.
        assert_eq!(starts(&steps(&text)), [0, 20, 40]);
        assert_eq!(split(&steps(&text)).last().unwrap().end, 50);
        assert_eq!(starts(&steps("")), [0_usize; 0]);
        assert_eq!(starts(&steps("clear_board")), [0]);
        let many: String = (0..1000).map(|index| section(index..index + 1)).collect();
        let parts = split(&steps(&many));
        assert!((14..=MAX_PARTS).contains(&parts.len()), "{}", parts.len());
        assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
    }

    #[test]
    fn nothing_is_split_behind_an_unknown_command() {
        let known = section(0..8) + "10 komi 5\n" + &section(20..28);
        assert_eq!(starts(&steps(&known)), [0, 13]);
        for unknown in ["trymove black A1\n", "30 genmove black\n"] {
            let text = section(0..8) + &section(10..18) + unknown + &section(40..48) + &section(50..58);
            assert_eq!(starts(&steps(&text)), [0, 12], "{unknown}");
        }
    }

    #[test]
    fn replay_omits_queries_and_old_positions() {
        let steps = steps(
            "komi 5\nloadsgf a.sgf\nplay b A1\n1 reg_genmove b\nkata-set-rules aga\n2 play b B2\nfoo\n\
             boardsize 9\nclear_board\nplay b C3\n3 level 4\n4 attack C3\nundo\n5 reg_genmove w\n",
        );
        let sent = |end| {
            let sent: Vec<&str> = replay(&steps, end).map(|(_, step)| step.command.as_str()).collect();
            sent.join(", ")
        };
        assert_eq!(sent(4), "komi 5, loadsgf a.sgf, play b A1");
        assert_eq!(sent(7), "komi 5, loadsgf a.sgf, play b A1, kata-set-rules aga, play b B2, foo");
        assert_eq!(
            sent(13),
            "komi 5, loadsgf a.sgf, kata-set-rules aga, foo, boardsize 9, clear_board, play b C3, level 4, undo"
        );
        assert_eq!(sent(0), "");
        let steps = self::steps("play b A1\n1 reg_genmove b");
        assert_eq!(replay(&steps, 2).count(), 1, "a suite need not begin with a new position");
    }
}
