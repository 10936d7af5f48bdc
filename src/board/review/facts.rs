//! Facts about the game and the search, and numbers as text.

use super::estimate::Estimate;
use super::judge::{Class, Judgement, Thresholds};
use super::main_line::{Change, MainLine};
use super::run::{Part, Scope};
use super::scatter::Scatter;
use crate::pages::{Text, localized};
use crate::words::grouped;
use kosumi_go::board::{ByColor, Color, Move};
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Record, Tree};
use kosumi_search::Limits;

/// Parameters of a review that do not come from the record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ReviewParameters {
    /// Limits of the search of each position.
    pub limits: Limits,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Scope of the review.
    pub scope: Scope,
    /// Whether the user gave rules, which override those of the record.
    pub are_rules_given: bool,
}

/// Facts about the game and its review.
#[derive(Clone, PartialEq, Debug)]
pub struct Facts {
    /// The players' names, with their ranks.
    pub players: ByColor<Option<String>>,
    /// Result, as in the record.
    pub result: Option<String>,
    /// Names and texts: event, place, date, …
    pub details: Vec<(&'static str, String)>,
    /// Rules of the review.
    pub rules: Rules,
    /// Whether the rules come from the record and not from the user.
    pub are_rules_known: bool,
    /// Komi: points for White.
    pub komi: f32,
    /// Whether the komi comes from the record and not from the user.
    pub is_komi_known: bool,
    /// Handicap stones.
    pub handicap: u32,
    /// Description of the limits of each search.
    pub effort: String,
    /// Simulations, if they were limited.
    pub playouts: Option<u32>,
    /// Time, if it was limited.
    pub seconds: Option<f64>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Losses from which a move is an inaccuracy, a mistake or a blunder.
    pub thresholds: Thresholds,
    /// Part of the game that was reviewed; `None` for the whole game.
    pub part: Option<Part>,
    /// Warnings about the record for the reader of the review.
    pub warnings: Vec<String>,
}

/// Maximum number of warnings that are listed one by one.
const MAX_WARNINGS: usize = 8;

impl Facts {
    /// Collects the facts from the record and its main line.
    pub fn new(tree: &Tree, record: &Record, line: &MainLine, given: &ReviewParameters) -> Facts {
        let fact = |name: &str| tree.node(tree.root()).text(name).map(|text| text.replace('\n', " "));
        let player = |name: &Option<String>, rank: &str, color: Color| match (name.clone(), fact(rank)) {
            (name, None) => name,
            (name, Some(rank)) => Some(format!("{} {rank}", name.unwrap_or_else(|| color.to_string()))),
        };
        let start = line.start();
        let details = [("Event", "EV"), ("Round", "RO"), ("Game", "GN"), ("Place", "PC"), ("Date", "DT")];
        let details = details.into_iter().filter_map(|(name, property)| Some((name, fact(property)?)));
        let mut warnings: Vec<String> = line.warnings().iter().map(ToString::to_string).collect();
        if warnings.len() > MAX_WARNINGS {
            warnings.drain(..warnings.len() - MAX_WARNINGS);
            warnings.insert(0, "the record has many faults; these are the last ones".to_owned());
        }
        let (followed, all) = (line.move_count(), record.move_count());
        if followed < all {
            warnings.push(format!(
                "the review ends after move {followed} of {all}: the next one cannot be played"
            ));
        }
        warnings.extend(record.notes(start.rules(), start.komi(), given.are_rules_given));
        let seconds = given.limits.hard.map(|time| time.as_secs_f64());
        let count = given.limits.playouts.map(|count| format!("{} simulations", grouped(count.into())));
        // If the time is a share of the time for a whole game, it is not a round number.
        let time = seconds.map(|seconds| format!("{} s", (seconds * 100.0).round() / 100.0));
        let spent: Vec<String> = count.into_iter().chain(time).collect();
        Facts {
            players: ByColor::new(
                player(&record.black, "BR", Color::Black),
                player(&record.white, "WR", Color::White),
            ),
            result: record.result.clone(),
            details: details.collect(),
            rules: start.rules(),
            are_rules_known: given.are_rules_given || record.rules().is_some(),
            komi: start.komi(),
            is_komi_known: record.komi.is_some(),
            handicap: start.handicap(),
            effort: format!("{} each", spent.join(" or ")),
            playouts: given.limits.playouts,
            seconds,
            seed: given.seed,
            thresholds: given.scope.thresholds,
            part: given.scope.part(line),
            warnings,
        }
    }

    /// Returns a player's name, or the name of the colour.
    pub fn name(&self, color: Color) -> String {
        self.players[color].clone().unwrap_or_else(|| color.to_string())
    }

    /// Returns true if the record names a player.
    pub fn has_names(&self) -> bool {
        Color::BOTH.iter().any(|&color| self.players[color].is_some())
    }

    /// Returns the names of both players as a title.
    pub fn title(&self) -> String {
        if self.has_names() {
            format!("{} – {}", self.name(Color::Black), self.name(Color::White))
        } else {
            localized("game-review").english()
        }
    }
}

/// Formats a lead like a result in SGF: `B+3.5`.
pub(super) fn lead(score: f32) -> String {
    let rounded = (score * 10.0).round() / 10.0;
    match rounded {
        0.0 => "even".to_owned(),
        _ => format!("{}+{:.1}", if rounded > 0.0 { "B" } else { "W" }, rounded.abs()),
    }
}

/// Formats a share and its standard error as percentages.
pub(super) fn percent(estimate: Estimate) -> String {
    format!("{:.1} % ± {:.1}", 100.0 * estimate.mean, 100.0 * estimate.error)
}

/// Formats a sequence of moves.
pub(super) fn vertices(moves: &[Move]) -> String {
    moves.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns a line of text about the move that led to a step.
pub fn sentence(line: &MainLine, index: usize, judgement: &Judgement) -> String {
    let step = &line.steps()[index];
    let Change::Move { color, mv, .. } = step.change else { return String::new() };
    move_sentence(step.moves, color, mv, judgement)
}

/// Returns a line of text about the move with this number.
pub(crate) fn move_sentence(number: usize, color: Color, mv: Move, judgement: &Judgement) -> String {
    let best = &judgement.best;
    let intro = format!("Move {number}, {color} {mv}");
    let instead = format!("{}: {}, {}", best.mv, win_rate(best.win_rate), lead(best.score.mean));
    if judgement.is_first_choice {
        format!("{intro}: the first choice")
    } else if judgement.is_better {
        format!("{intro} !: better than the first choice {instead}")
    } else if judgement.is_unclear {
        let loss = percent(judgement.loss);
        format!("{intro}: unclear, loses {loss} of win rate, which may be chance. First choice {instead}")
    } else if judgement.class == Class::Good {
        format!("{intro}: good. First choice {instead}")
    } else {
        format!(
            "{intro} {}: {}, loses {} of win rate and {:.1} points. Better {instead}",
            judgement.class.sign(),
            judgement.class.name(),
            percent(judgement.loss),
            judgement.score_loss.mean,
        )
    }
}

/// Returns the sentence about the points that a bad move loses against the first choice according to the two searches
/// alone. Returns `None` if their difference may be chance.
pub(super) fn searched_loss(mv: Move, judgement: &Judgement) -> Option<Text> {
    let (points, [low, high]) = judgement.searched_points()?;
    let text = localized("searched-loss").with("move", mv).with("points", format_args!("{points:.1}"));
    let text = text.with("best", judgement.best.mv);
    Some(text.with("low", format_args!("{low:.1}")).with("high", format_args!("{high:.1}")))
}

/// Formats Black's win rate, with its standard error.
pub(super) fn win_rate(estimate: Estimate) -> String {
    format!("Black wins {:.1} %", 100.0 * estimate.mean)
}

/// Explains the classes of moves and their certainty. The second text is missing if the scatter was not measured.
pub(super) fn explanation(thresholds: &Thresholds, scatter: &Scatter) -> (Text, Option<Text>) {
    let least = |class: Class| 100.0 * thresholds.least(class);
    let points = Thresholds::least_points;
    let classes = localized("about-classes")
        .with("inaccuracy", least(Class::Inaccuracy))
        .with("mistake", least(Class::Mistake))
        .with("blunder", least(Class::Blunder))
        .with("points1", points(Class::Inaccuracy))
        .with("points2", points(Class::Mistake))
        .with("points3", points(Class::Blunder));
    let error = localized("about-error")
        .with("repeats", scatter.repeats)
        .with("rate", format!("{:.1}", 100.0 * scatter.win_rate))
        .with("score", format!("{:.1}", scatter.score));
    (classes, Some(error).filter(|_| scatter.repeats > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_words() {
        assert_eq!([3.46, -0.5, 0.04, -0.04].map(lead), ["B+3.5", "W+0.5", "even", "even"]);
        assert_eq!(percent(Estimate { mean: 0.1234, error: 0.0049 }), "12.3 % ± 0.5");
    }
}
