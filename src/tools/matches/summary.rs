//! Results of a match.

use super::conditions::{Conditions, pair};
use super::record::{Ending, GameRecord, Judgement};
use super::repeats::Repeats;
use super::side::Side;
use crate::statistics::{Interval, PairTally, Sprt, Tally, Verdict};
use crate::words::{counted, unsigned_zero};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Sums over some games of a match. The tallies count A's results.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sums {
    /// All games.
    pub all: Tally,
    /// Games in which A had Black.
    pub as_black: Tally,
    /// Games in which A had White.
    pub as_white: Tally,
    /// Games without forfeits.
    pub played_out: Tally,
    /// Pairs with both games finished.
    pub pairs: PairTally,
    /// Number of moves in all games, openings included.
    pub moves: u64,
}

/// Conduct of one engine. Times are in seconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Conduct {
    /// Number of forfeits by kind, in the order of [`Ending::FORFEITS`].
    pub forfeits: [u32; Ending::FORFEITS.len()],
    /// Number of games that it resigned.
    pub resignations: u32,
    /// Number of scores that it announced and that differ from the referee's.
    pub other_scores: u32,
    /// Number of lines outside responses.
    pub stray_lines: usize,
    /// Number of moves that it chose.
    pub chosen: u64,
    /// Total time of these moves.
    pub seconds: f64,
    /// Time of the slowest move.
    pub slowest: f64,
    /// Maximum time by which a move exceeded the clock within the margin.
    pub overstep: f64,
    /// Sum of the mean round-trip times over [`Conduct::games`] games.
    lag: f64,
    games: u32,
}

impl Conduct {
    /// Returns the mean time of a move.
    pub fn seconds_a_move(&self) -> f64 {
        self.seconds / (self.chosen.max(1) as f64)
    }

    /// Returns the mean round-trip time of a message.
    pub fn lag(&self) -> f64 {
        self.lag / f64::from(self.games.max(1))
    }

    /// Returns the number of forfeits of all kinds.
    pub fn forfeits(&self) -> u32 {
        self.forfeits.iter().sum()
    }
}

/// Sequential test of a match.
///
/// It evaluates pairs in the order in which they were *started*: pair 7 counts only when pairs 1 to 6 are complete.
/// With several concurrent games, the order in which they end depends on their results, because lost games are resigned
/// and short. A test that stopped at the first favourable sum of *finished* games would be biased by it. (Pachi's
/// authors warn of this in their autotest.) For the same reason, games that are running when the match stops are played
/// to their end and counted.
#[derive(Clone, Debug)]
pub struct SequentialTest {
    /// Hypotheses and error rates.
    pub sprt: Sprt,
    /// Evaluated pairs: those up to the first incomplete one, or up to the verdict.
    pub pairs: PairTally,
    /// Number of evaluated pairs.
    evaluated: u32,
    /// Verdict, and the number of pairs after which it was reached.
    pub verdict: Option<(Verdict, u32)>,
}

impl SequentialTest {
    fn new(sprt: Sprt) -> SequentialTest {
        SequentialTest { sprt, pairs: PairTally::default(), evaluated: 0, verdict: None }
    }

    fn update(&mut self, complete: &BTreeMap<u32, usize>) {
        while let Some(&half_points) = complete.get(&self.evaluated)
            && self.verdict.is_none()
        {
            self.pairs.add(half_points);
            self.evaluated += 1;
            let verdict = self.sprt.verdict(&self.pairs.0);
            self.verdict = verdict.map(|verdict| (verdict, self.evaluated));
        }
    }

    /// Returns the log-likelihood ratio of the evaluated pairs.
    pub fn llr(&self) -> f64 {
        self.sprt.llr(&self.pairs.0)
    }
}

impl fmt::Display for SequentialTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sprt { elo0, elo1, .. } = self.sprt;
        let (low, high) = self.sprt.bounds();
        write!(
            f,
            "SPRT of Elo {elo0} against {elo1}: LLR {:+.2} ({low:.2} to {high:.2})",
            unsigned_zero(self.llr(), 2)
        )?;
        match self.verdict {
            Some((verdict, pairs)) => {
                write!(f, ", {verdict} accepted after {}", counted(pairs.into(), "pair"))
            }
            None => write!(f, ", open after {}", counted(self.evaluated.into(), "pair")),
        }
    }
}

/// All results of a match.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Engines' own names, with their command lines.
    pub names: [String; 2],
    /// All games.
    pub all: Sums,
    /// Sums by board, in the order of the conditions.
    pub boards: Vec<(String, Sums)>,
    /// Conduct of the engines.
    pub conduct: [Conduct; 2],
    /// Sequential test, if there is one.
    pub test: Option<SequentialTest>,
    /// Number of games that the move limit ended.
    pub cut_off: u32,
    /// Number of games with disputed dead stones.
    pub disputed: u32,
    /// Number of failed attempts to start a game.
    pub annulled: u32,
    /// Games by number.
    pub games: BTreeMap<u32, GameRecord>,
    repeats: Repeats,
    /// A's half points in pairs with one finished game.
    half_complete_pairs: BTreeMap<u32, usize>,
    /// A's half points in pairs with both games finished.
    complete_pairs: BTreeMap<u32, usize>,
}

impl Summary {
    /// Creates the summary of a match without games.
    pub fn new(names: [String; 2], conditions: &Conditions) -> Summary {
        Summary {
            names,
            all: Sums::default(),
            boards: conditions.boards.iter().map(|board| (board.size_text(), Sums::default())).collect(),
            conduct: Default::default(),
            test: conditions.sprt.map(SequentialTest::new),
            cut_off: 0,
            disputed: 0,
            annulled: 0,
            games: BTreeMap::new(),
            repeats: Repeats::new(&conditions.boards),
            half_complete_pairs: BTreeMap::new(),
            complete_pairs: BTreeMap::new(),
        }
    }

    /// Adds a game. A game that was added before changes nothing.
    pub fn add(&mut self, record: &GameRecord) {
        if self.games.insert(record.number, record.clone()).is_some() {
            return;
        }
        self.repeats.add(record);
        let half_points = record.half_points();
        let pair = pair(record.number);
        let complete = self.half_complete_pairs.remove(&pair).map(|other| other + half_points);
        match complete {
            Some(sum) => self.complete_pairs.insert(pair, sum),
            None => self.half_complete_pairs.insert(pair, half_points),
        };
        let board = self.boards.iter_mut().find(|(size, _)| *size == record.size).map(|(_, sums)| sums);
        for sums in [Some(&mut self.all), board].into_iter().flatten() {
            let won = record.winner.map(|winner| winner == Side::A);
            sums.all.add(won);
            if record.black == Side::A { &mut sums.as_black } else { &mut sums.as_white }.add(won);
            if !record.ending.is_forfeit() {
                sums.played_out.add(won);
            }
            if let Some(half_points) = complete {
                sums.pairs.add(half_points);
            }
            sums.moves += record.moves.len() as u64;
        }
        self.cut_off += u32::from(record.ending == Ending::MoveLimit);
        self.disputed += u32::from(record.judgement == Some(Judgement::Disputed));
        for side in Side::BOTH {
            let index = side as usize;
            let conduct = &mut self.conduct[index];
            if record.winner == Some(side.other()) {
                if let Some(kind) = Ending::FORFEITS.iter().position(|&kind| kind == record.ending) {
                    conduct.forfeits[kind] += 1;
                }
                conduct.resignations += u32::from(record.ending == Ending::Resign);
            }
            conduct.other_scores += u32::from(record.disputed_by(side));
            conduct.stray_lines += record.stray[index];
            conduct.chosen += u64::from(record.chosen[index]);
            conduct.seconds += record.seconds[index];
            conduct.slowest = conduct.slowest.max(record.slowest[index]);
            conduct.overstep = conduct.overstep.max(record.overstep[index]);
            conduct.lag += record.lag[index];
            conduct.games += 1;
        }
        if let Some(test) = &mut self.test {
            test.update(&self.complete_pairs);
        }
    }

    /// Returns whether there is a test and it has reached a verdict.
    pub fn is_decided(&self) -> bool {
        self.test.as_ref().is_some_and(|test| test.verdict.is_some())
    }

    /// Returns the number of games that repeat an earlier one or its symmetric image move for move. They add no
    /// information, so the intervals are too narrow.
    pub fn repeats(&self) -> u32 {
        self.repeats.count()
    }

    /// Returns short names of the engines. If both have the same name, the letter of the side precedes it.
    pub fn labels(&self) -> [String; 2] {
        let name = |index: usize| {
            let text = self.names[index].split(" (").next().unwrap_or_default().trim();
            // The name is followed by the version.
            text.rsplit_once(' ').map_or(text, |(name, _)| name).to_owned()
        };
        let letter = |index: usize| ["A", "B"][index];
        let names = [name(0), name(1)];
        let is_clear = names[0] != names[1];
        [0, 1].map(|index| match names[index].as_str() {
            "" => letter(index).to_owned(),
            name if is_clear => name.to_owned(),
            name => format!("{} {name}", letter(index)),
        })
    }

    /// Returns one line about the current result.
    pub fn status_line(&self) -> String {
        let Some(rate) = best_rate(&self.all) else { return "no games yet".to_owned() };
        let mut text = format!("{} {}  {}", self.labels()[0], self.all.all, elo_text(rate));
        if let Some(test) = &self.test {
            let (low, high) = test.sprt.bounds();
            text.push_str(&format!("  LLR {:+.2} ({low:.2} to {high:.2})", unsigned_zero(test.llr(), 2)));
        }
        text
    }
}

/// Returns the score with the appropriate interval: that of the pairs, if there are enough of them.
pub(super) fn best_rate(sums: &Sums) -> Option<Interval> {
    let by_games = sums.all.rate()?;
    // If many pairs are incomplete, an interval from pairs omits many games.
    let paired = 2 * sums.pairs.count();
    let is_representative = paired >= 20 && 10 * paired >= 9 * sums.all.games();
    Some(sums.pairs.rate().filter(|_| is_representative).unwrap_or(by_games))
}

pub(super) fn elo_text(rate: Interval) -> String {
    let elo = rate.elo();
    let text = |elo: f64| format!("{:+.0}", unsigned_zero(elo, 0));
    match (elo.value.is_finite(), elo.low.is_finite(), elo.high.is_finite()) {
        (true, true, true) => format!("Elo {} ({} to {})", text(elo.value), text(elo.low), text(elo.high)),
        // All games were won, or all were lost.
        (_, true, false) => format!("Elo above {}", text(elo.low)),
        (_, false, true) => format!("Elo below {}", text(elo.high)),
        _ => "Elo unknown".to_owned(),
    }
}

fn percent_text(rate: Interval) -> String {
    let percent = |share: f64| 100.0 * share;
    format!("{:.1} % ({:.1} to {:.1})", percent(rate.value), percent(rate.low), percent(rate.high))
}

impl fmt::Display for Summary {
    /// Writes the results as a table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "A: {}", self.names[0])?;
        writeln!(f, "B: {}", self.names[1])?;
        if self.all.all.games() == 0 {
            return writeln!(f, "no games");
        }
        let [own, _] = self.labels();
        // The name is followed by " as Black".
        let width = 12.max(own.chars().count() + 11);
        let scores = format!("{own} scores (95 %)");
        writeln!(
            f,
            "\n{:<width$}{:>6}{:>6}{:>6}{:>6}  {scores:<26}  Elo of {own}",
            "", "games", "won", "lost", "drawn"
        )?;
        let wide = 26.max(scores.chars().count());
        let row = |f: &mut fmt::Formatter<'_>, name: &str, tally: Tally| match tally.rate() {
            Some(rate) => writeln!(
                f,
                "{name:<width$}{:>6}{:>6}{:>6}{:>6}  {:<wide$}  {}",
                tally.games(),
                tally.wins,
                tally.losses,
                tally.draws,
                percent_text(rate),
                elo_text(rate).trim_start_matches("Elo "),
            ),
            None => Ok(()),
        };
        if self.boards.len() > 1 {
            for (size, sums) in &self.boards {
                row(f, size, sums.all)?;
            }
        }
        row(f, &format!("{own} as Black"), self.all.as_black)?;
        row(f, &format!("{own} as White"), self.all.as_white)?;
        if self.all.played_out != self.all.all {
            row(f, "no forfeits", self.all.played_out)?;
        }
        row(f, "all games", self.all.all)?;
        if let Some(rate) = self.all.pairs.rate() {
            let [zero, half, one, more, two] = self.all.pairs.0;
            writeln!(
                f,
                "\n{} with 0, ½, 1, 1½, 2 points: {zero}, {half}, {one}, {more}, {two}\n\
                 by pairs: {}, {}",
                counted(self.all.pairs.count().into(), "pair"),
                percent_text(rate),
                elo_text(rate),
            )?;
        }
        writeln!(
            f,
            "{own} is stronger with a probability of {:.1} % (games), {:.1} % (pairs)",
            100.0 * self.all.all.superiority(),
            100.0 * self.all.pairs.superiority(),
        )?;
        if let Some(test) = &self.test {
            writeln!(f, "{test}")?;
            let trinomial = unsigned_zero(test.sprt.llr(&self.all.all.counts()), 2);
            let everything = unsigned_zero(test.sprt.llr(&self.all.pairs.0), 2);
            writeln!(f, "LLR of all games one by one {trinomial:+.2}, of all pairs {everything:+.2}")?;
        }
        writeln!(f)?;
        for side in Side::BOTH {
            writeln!(f, "{side}: {}", self.conduct_text(side))?;
        }
        let games = self.all.all.games();
        write!(f, "{:.1} moves a game", self.all.moves as f64 / f64::from(games))?;
        for (count, what) in [
            (self.cut_off, "cut off by the move limit"),
            (self.disputed, "with dead stones disputed"),
            (self.annulled, "annulled"),
        ] {
            if count > 0 {
                write!(f, "; {count} {what}")?;
            }
        }
        writeln!(f)?;
        match self.repeats() {
            0 => Ok(()),
            repeats => {
                let (repeat, add) = if repeats == 1 { ("repeats", "adds") } else { ("repeat", "add") };
                writeln!(
                    f,
                    "{repeats} of the games {repeat} an earlier one move for move and {add} no information, so the \
                     intervals are too narrow; --openings 4 gives more openings"
                )
            }
        }
    }
}

impl Summary {
    /// Returns a description of an engine's conduct.
    pub fn conduct_text(&self, side: Side) -> String {
        let conduct = &self.conduct[side as usize];
        let kinds = Ending::FORFEITS.iter().zip(conduct.forfeits).filter(|&(_, count)| count > 0);
        let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{} {count}", kind.name())).collect();
        let mut parts = vec![
            format!("{:.3} s a move, slowest {:.2} s", conduct.seconds_a_move(), conduct.slowest),
            format!("lag {:.1} ms", 1000.0 * conduct.lag()),
            counted(conduct.resignations.into(), "resignation"),
            if kinds.is_empty() {
                "no forfeits".to_owned()
            } else {
                format!("forfeits: {}", kinds.join(", "))
            },
        ];
        if conduct.overstep > 0.0 {
            parts.insert(1, format!("time exceeded by up to {:.2} s", conduct.overstep));
        }
        if conduct.other_scores > 0 {
            let scores = counted(conduct.other_scores.into(), "score");
            parts.push(format!("{scores} different from the referee's"));
        }
        if conduct.stray_lines > 0 {
            parts.push(counted(conduct.stray_lines as u64, "stray line"));
        }
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matches::fixtures::{conditions, record};
    use crate::matches::openings::Source;

    fn summary(sprt: Option<Sprt>) -> Summary {
        let names = ["Able 1 (able gtp)", "Baker 2 (baker)"].map(str::to_owned);
        Summary::new(names, &Conditions { sprt, ..conditions(&[9, 13], Source::None) })
    }

    fn won_by(number: u32, winner: Option<Side>) -> GameRecord {
        GameRecord { winner, ..record(number) }
    }

    #[test]
    fn pairs_are_counted_when_both_games_are_over_and_once() {
        let mut summary = summary(None);
        for (number, winner) in
            [(4, Some(Side::A)), (1, Some(Side::B)), (3, None), (1, Some(Side::B)), (5, None)]
        {
            summary.add(&won_by(number, winner));
        }
        assert_eq!(summary.all.all, Tally { wins: 1, losses: 1, draws: 2 });
        assert_eq!(summary.all.pairs, PairTally([0, 0, 0, 1, 0]), "3 and 4; 1 and 5 are alone");
        assert_eq!(summary.all.as_black, Tally { wins: 0, losses: 1, draws: 2 });
        summary.add(&won_by(2, Some(Side::B)));
        assert_eq!(summary.all.pairs, PairTally([1, 0, 0, 1, 0]));
        assert_eq!(summary.boards[0].1.all.games(), 5);
        assert_eq!(summary.boards[1].1.all.games(), 0);
    }

    #[test]
    fn the_test_looks_at_pairs_in_the_order_in_which_they_began() {
        let sprt = Sprt::parse("0,400").unwrap();
        let mut later_first = summary(Some(sprt));
        // A wins pair 1 and all later pairs. Pair 0, which it loses, takes longest.
        for number in (3..=60).chain([1]) {
            later_first.add(&record(number));
        }
        assert!(!later_first.is_decided(), "nothing is known about pair 0");
        later_first.add(&won_by(2, Some(Side::B)));
        let mut in_order = summary(Some(sprt));
        for number in 1..=60 {
            let winner = if number == 2 { Side::B } else { Side::A };
            in_order.add(&won_by(number, Some(winner)));
        }
        let verdict = in_order.test.as_ref().unwrap().verdict;
        assert!(matches!(verdict, Some((Verdict::H1, pairs)) if (8..29).contains(&pairs)), "{verdict:?}");
        assert_eq!(later_first.test.as_ref().unwrap().verdict, verdict);
        assert_eq!(later_first.test.as_ref().unwrap().pairs, in_order.test.as_ref().unwrap().pairs);
        assert_eq!(later_first.all.all.games(), 60, "all are counted");
    }

    #[test]
    fn engines_have_their_names_and_no_elo_is_infinite() {
        let mut summary = summary(None);
        summary.add(&won_by(1, Some(Side::A)));
        summary.add(&won_by(2, Some(Side::A)));
        let standing = summary.status_line();
        assert!(standing.starts_with("Able ") && standing.contains("Elo above -"), "{standing}");
        assert!(!summary.to_string().contains("inf"), "{summary}");
        summary.names = ["GNU Go 3.8 (gnugo --level 1)", "GNU Go 3.8 (gnugo --level 9)"].map(str::to_owned);
        assert_eq!(summary.labels(), ["A GNU Go", "B GNU Go"]);
        let lost = Tally { wins: 0, losses: 3, draws: 0 }.rate().unwrap();
        assert!(elo_text(lost).starts_with("Elo below +"), "{}", elo_text(lost));
        for wins in [10, 14, 19] {
            let won = Tally { wins, losses: 0, draws: 0 }.rate().unwrap();
            assert!(elo_text(won).starts_with("Elo above +"), "{wins}: {}", elo_text(won));
        }
    }

    #[test]
    fn the_summary_names_what_went_wrong() {
        let mut summary = summary(Some(Sprt::parse("0,10").unwrap()));
        for number in 1..=6 {
            summary.add(&record(number));
        }
        let crash = GameRecord { ending: Ending::Crash, ..won_by(7, Some(Side::A)) };
        summary.add(&GameRecord { final_scores: [None, Some("W+9".into())], stray: [0, 3], ..crash });
        let text = summary.to_string();
        for part in [
            "A: Able 1",
            "no forfeits",
            "Able scores (95 %)",
            "Able as White",
            "crash 1",
            "3 stray lines",
            "1 score different from the referee's",
            "3 pairs",
            "SPRT of Elo 0 against 10",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert_eq!(summary.conduct[0].forfeits() + summary.conduct[0].resignations, 0);
        assert_eq!(summary.conduct[1].forfeits(), 1);
        assert!(text.contains("5 of the games repeat an earlier one"), "{text}");
        let mut once = self::summary(None);
        once.add(&record(1));
        assert!(!once.to_string().contains("repeat"), "{once}");
        once.add(&record(2));
        once.add(&record(3));
        let text = once.to_string();
        for part in ["\n1 pair with 0", "; 1 resignation;", "; 0 resignations;", "1 of the games repeats"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }
}
