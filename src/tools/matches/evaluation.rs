//! Engine's evaluation of its own move, from the search report that it sends before the move.

use crate::words::unsigned_zero;
use std::fmt;

/// Evaluation from the perspective of the player who makes the move.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct MoveEvaluation {
    /// Win rate in [0, 1].
    pub(super) winrate: f64,
    /// Expected lead in points.
    pub(super) score: Option<f64>,
    pub(super) visits: Option<u64>,
    /// The move and the expected continuation.
    pub(super) variation: Vec<String>,
}

/// Maximum number of moves of a variation.
const MAX_VARIATION_MOVES: usize = 12;

impl MoveEvaluation {
    /// Parses the response to `kata-genmove_analyze` (`fractions`) or `lz-genmove_analyze` (win rates in
    /// ten-thousandths): the first move of the last `info` line. Returns `None` if there is no such line with a win
    /// rate.
    pub(super) fn read(answer: &str, fractions: bool) -> Option<MoveEvaluation> {
        let line = answer.lines().rev().find(|line| line.trim_start().starts_with("info "))?;
        let mut words = line.split_whitespace().skip(1).peekable();
        let (mut winrate, mut score, mut visits) = (None, None, None);
        let mut variation = Vec::new();
        while let Some(key) = words.next() {
            let number = |text: Option<&str>| text?.parse::<f64>().ok().filter(|number| number.is_finite());
            match key {
                "winrate" => winrate = number(words.next()),
                "scoreLead" => score = number(words.next()),
                // Older name of scoreLead.
                "scoreMean" => score = score.or(number(words.next())),
                "visits" => visits = words.next().and_then(|text| text.parse().ok()),
                "pv" => {
                    // The variation is the last part of the report on the move.
                    let is_move = |word: &&str| word.parse::<kosumi_gtp::Vertex>().is_ok();
                    while let Some(mv) = words.next_if(is_move) {
                        if variation.len() < MAX_VARIATION_MOVES {
                            variation.push(mv.to_owned());
                        }
                    }
                    break;
                }
                "info" | "rootInfo" | "ownership" => break,
                _ => {
                    words.next();
                }
            }
        }
        let winrate = winrate? / if fractions { 1.0 } else { 10_000.0 };
        (0.0..=1.0).contains(&winrate).then_some(MoveEvaluation { winrate, score, visits, variation })
    }
}

impl fmt::Display for MoveEvaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} %", 100.0 * self.winrate)?;
        if let Some(score) = self.score {
            write!(f, ", {:+.1} points", unsigned_zero(score, 1))?;
        }
        if let Some(visits) = self.visits {
            write!(f, ", {visits} visits")?;
        }
        if !self.variation.is_empty() {
            write!(f, "\n{}", self.variation.join(" "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_dialects() {
        let kata = "info move E5 visits 3 winrate 0.1 pv E5\n\
            info move E5 visits 120 utility 0.1 winrate 0.5432 scoreMean 1 scoreLead 1.25 prior 0.2 order 0 \
            pv E5 C4 pass info move C3 visits 4 winrate 0.4 pv C3 rootInfo visits 130\nplay E5";
        let evaluation = MoveEvaluation::read(kata, true).unwrap();
        assert_eq!(evaluation.to_string(), "54.3 %, +1.2 points, 120 visits\nE5 C4 pass");
        let leela = "info move D4 visits 836 winrate 4656 prior 839 lcb 4640 order 0 pv D4 Q16\n\nplay D4";
        assert_eq!(MoveEvaluation::read(leela, false).unwrap().to_string(), "46.6 %, 836 visits\nD4 Q16");
    }

    #[test]
    fn what_is_no_report_is_none() {
        for answer in
            ["", "play D4", "info", "info winrate", "info winrate x pv D4", "info move D4 winrate 7 pv D4"]
        {
            assert_eq!(MoveEvaluation::read(answer, true), None, "{answer}");
        }
    }
}
