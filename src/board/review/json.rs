//! Results of a review as JSON, for other programs.
//!
//! The first fields are the name and the version of the format. The version increases when a field changes its meaning
//! or is removed. Win rates and scores are Black's, from the [analysis](kosumi_search::Analysis) of a search. Win rates
//! and shares are in `[0, 1]`. Scores are leads in points, with komi. Every estimate has its standard error. Moves are
//! GTP
//! vertices.

use super::analysis::{Candidate, PositionReview};
use super::estimate::Estimate;
use super::explain::MoveFact;
use super::facts::Facts;
use super::judge::{Class, Judgement, Thresholds};
use super::main_line::{Change, Step};
use super::reviewed::Reviewed;
use super::summary::PlayerSummary;
use crate::words::{color_name, unsigned_zero};
use kosumi_go::board::{BoardSize, Color, Move};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    program: &'static str,
    game: Game<'a>,
    /// Part of the game that was reviewed; `null` for the whole game.
    part: Option<GamePart>,
    search: Search,
    /// Smallest loss of win rate of each class.
    thresholds: BTreeMap<&'static str, f64>,
    /// Smallest loss of points of each class.
    score_thresholds: BTreeMap<&'static str, f64>,
    players: BTreeMap<&'static str, Player>,
    positions: Vec<Position>,
    /// Positions after inaccuracies, mistakes and blunders, the least accurate first.
    worst: &'a [usize],
    /// Whether all positions in scope were searched.
    is_complete: bool,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Game<'a> {
    columns: usize,
    rows: usize,
    rules: String,
    komi: f32,
    handicap: u32,
    black: Option<&'a str>,
    white: Option<&'a str>,
    result: Option<&'a str>,
}

#[derive(Serialize)]
struct GamePart {
    /// First and last move whose positions were searched, counted from 1.
    first: usize,
    last: usize,
    /// Player whose moves were judged; `null` for both.
    player: Option<&'static str>,
}

#[derive(Serialize)]
struct Search {
    playouts: Option<u32>,
    seconds: Option<f64>,
    seed: u64,
    /// Number of positions that were searched twice. The scatters are the standard deviations of one search in excess
    /// of the error that follows from its number of evaluations. All errors in the document include them.
    repeats: usize,
    win_rate_scatter: f64,
    score_scatter: f64,
}

#[derive(Serialize)]
struct Player {
    moves: usize,
    first_choices: usize,
    good: usize,
    /// Number of good moves that are unclear.
    unclear: usize,
    inaccuracies: usize,
    mistakes: usize,
    blunders: usize,
    better_than_first_choice: usize,
    mean_loss: f64,
    mean_loss_by_chance: f64,
    mean_score_loss: f64,
    accuracy: f64,
    /// Positions, each with the mean accuracy of the player's last ten moves up to it.
    accuracy_curve: Vec<(usize, f64)>,
}

#[derive(Serialize)]
struct Position {
    position: usize,
    /// Number of moves up to the position.
    moves: usize,
    /// Number of the node in the record's main line, 0 for the root.
    node: usize,
    /// Move that led to the position, if it was a move.
    #[serde(rename = "move")]
    mv: Option<PlayedMove>,
    to_move: &'static str,
    analysis: Option<PositionAnalysis>,
    judgement: Option<MoveJudgement>,
}

#[derive(Serialize)]
struct PlayedMove {
    color: &'static str,
    vertex: String,
}

#[derive(Serialize)]
struct Number {
    mean: f64,
    error: f64,
}

#[derive(Serialize)]
struct PositionAnalysis {
    visits: u32,
    win_rate: Number,
    score: Number,
    /// Values of the search of this position alone.
    searched: SearchedValues,
    candidates: Vec<CandidateMove>,
    /// Owners row by row from the top, each row from the left; 1 is Black.
    ownership: Vec<f64>,
}

#[derive(Serialize)]
struct SearchedValues {
    win_rate: Number,
    score: Number,
}

#[derive(Serialize)]
struct SearchedLosses {
    loss: Number,
    score_loss: Number,
}

#[derive(Serialize)]
struct CandidateMove {
    #[serde(rename = "move")]
    mv: String,
    visits: u32,
    win_rate: Number,
    score: Number,
    variation: Vec<String>,
}

#[derive(Serialize)]
struct MoveJudgement {
    class: &'static str,
    /// Whether the move is called good only because the loss may be due to chance.
    is_unclear: bool,
    is_first_choice: bool,
    is_better_than_first_choice: bool,
    /// Whether the position after the first choice had a search of its own.
    is_checked: bool,
    loss: Number,
    score_loss: Number,
    /// Losses by the searches after the move and after the first choice alone; negative if the move is better.
    searched: SearchedLosses,
    best: CandidateMove,
    /// Proven facts about the move.
    facts: Vec<Fact>,
}

#[derive(Serialize)]
struct Fact {
    kind: &'static str,
    /// The sentence in English.
    text: String,
    /// Number of stones of the chain that the fact is about, and one of them.
    stones: usize,
    at: String,
    /// Moves from the position before the move, by alternating sides.
    line: Vec<String>,
}

/// Returns the review as one JSON document.
///
/// # Errors
///
/// Returns an error if the document cannot be written, which no value can cause.
pub fn json(reviewed: &Reviewed) -> Result<String, serde_json::Error> {
    let Facts { thresholds, .. } = &reviewed.facts;
    let (line, facts, review) = (&reviewed.line, &reviewed.facts, &reviewed.review);
    let explanations = reviewed.explanations();
    let positions = line.steps().iter().enumerate().map(|(index, step)| {
        let (analysis, judgement) = (&review.analyses[index], &review.judgements[index]);
        let analysis = analysis.as_ref().zip(review.searched[index].as_ref());
        let proven = explanations.get(&index).map_or(&[][..], Vec::as_slice);
        position(line.size(), index, step, analysis, judgement.as_ref().map(|it| (it, proven)))
    });
    let named = [Class::Inaccuracy, Class::Mistake, Class::Blunder];
    let document = Document {
        format: "kosumi-review",
        version: 3,
        program: concat!("Kosumi ", env!("CARGO_PKG_VERSION")),
        game: Game {
            columns: line.size().columns(),
            rows: line.size().rows(),
            rules: facts.rules.to_string(),
            komi: facts.komi,
            handicap: facts.handicap,
            black: facts.players[Color::Black].as_deref(),
            white: facts.players[Color::White].as_deref(),
            result: facts.result.as_deref(),
        },
        part: facts.part.map(|part| GamePart {
            first: part.first,
            last: part.last,
            player: part.player.map(color_name),
        }),
        search: Search {
            playouts: facts.playouts,
            seconds: facts.seconds,
            seed: facts.seed,
            repeats: review.scatter.repeats,
            win_rate_scatter: rounded(review.scatter.win_rate),
            score_scatter: rounded(review.scatter.score),
        },
        thresholds: named.into_iter().map(|class| (class.name(), rounded(thresholds.least(class)))).collect(),
        score_thresholds: named
            .into_iter()
            .map(|class| (class.name(), rounded(Thresholds::least_points(class))))
            .collect(),
        players: Color::BOTH
            .into_iter()
            .map(|color| (color_name(color), player(&review.players[color])))
            .collect(),
        positions: positions.collect(),
        worst: &review.worst,
        is_complete: review.is_complete,
        warnings: &facts.warnings,
    };
    let mut text = serde_json::to_string(&document)?;
    text.push('\n');
    Ok(text)
}

/// Rounds to four decimal places, which is more than the precision of the numbers.
fn rounded(number: f32) -> f64 {
    (unsigned_zero(number, 4) * 1e4).round() / 1e4
}

fn number(estimate: Estimate) -> Number {
    Number { mean: rounded(estimate.mean), error: rounded(estimate.error) }
}

fn vertices(moves: &[Move]) -> Vec<String> {
    moves.iter().map(ToString::to_string).collect()
}

fn player(summary: &PlayerSummary) -> Player {
    let [good, inaccuracies, mistakes, blunders] = summary.classes;
    Player {
        moves: summary.moves,
        first_choices: summary.first_choices,
        good,
        unclear: summary.unclear,
        inaccuracies,
        mistakes,
        blunders,
        better_than_first_choice: summary.better,
        mean_loss: rounded(summary.mean_loss),
        mean_loss_by_chance: rounded(summary.noise),
        mean_score_loss: rounded(summary.mean_score_loss),
        accuracy: rounded(summary.accuracy),
        accuracy_curve: summary.curve.iter().map(|&(index, accuracy)| (index, rounded(accuracy))).collect(),
    }
}

fn position(
    size: BoardSize,
    index: usize,
    step: &Step,
    analysis: Option<(&PositionReview, &PositionReview)>,
    judgement: Option<(&Judgement, &[MoveFact])>,
) -> Position {
    let mv = match &step.change {
        Change::Move { color, mv, .. } => {
            Some(PlayedMove { color: color_name(*color), vertex: mv.to_string() })
        }
        Change::SetUp(_) => None,
    };
    Position {
        position: index,
        moves: step.moves,
        node: step.node,
        mv,
        to_move: color_name(step.to_move),
        analysis: analysis.map(|(analysis, searched)| PositionAnalysis {
            searched: SearchedValues { win_rate: number(searched.win_rate), score: number(searched.score) },
            visits: analysis.visits,
            win_rate: number(analysis.win_rate),
            score: number(analysis.score),
            candidates: analysis.candidates.iter().map(candidate).collect(),
            ownership: from_the_top(size, &analysis.ownership).map(rounded).collect(),
        }),
        judgement: judgement.map(|(judgement, proven)| MoveJudgement {
            class: judgement.class.name(),
            is_unclear: judgement.is_unclear,
            is_first_choice: judgement.is_first_choice,
            is_better_than_first_choice: judgement.is_better,
            is_checked: judgement.is_checked,
            loss: number(judgement.loss),
            score_loss: number(judgement.score_loss),
            searched: SearchedLosses {
                loss: number(judgement.searched.loss),
                score_loss: number(judgement.searched.score_loss),
            },
            best: candidate(&judgement.best),
            facts: proven.iter().map(fact).collect(),
        }),
    }
}

fn fact(fact: &MoveFact) -> Fact {
    Fact {
        kind: fact.kind.name(),
        text: fact.text().english(),
        stones: fact.stones,
        at: Move::Play(fact.at).to_string(),
        line: vertices(&fact.line),
    }
}

fn candidate(candidate: &Candidate) -> CandidateMove {
    CandidateMove {
        mv: candidate.mv.to_string(),
        visits: candidate.visits,
        win_rate: number(candidate.win_rate),
        score: number(candidate.score),
        variation: vertices(&candidate.variation),
    }
}

/// Reorders values of points: from rows from the bottom up to rows from the top down.
pub(super) fn from_the_top(size: BoardSize, values: &[f32]) -> impl Iterator<Item = f32> + '_ {
    values.chunks(size.columns()).rev().flatten().copied()
}
