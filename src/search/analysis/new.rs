//! Conversion of a search report to an analysis.

use super::{Analysis, Expectation, HumanView, MoveAnalysis, RawView, win_rate};
use crate::owners::Owners;
use crate::report::{MoveReport, SearchReport};
use crate::restriction::Restriction;
use crate::root_moves::Image;
use kosumi_eval::Prior;
use kosumi_go::board::{BoardSize, Color, Move};
use kosumi_net::Prediction;
use kosumi_net::input::index;
use std::cmp::Ordering;

/// Contents of an analysis that the search does not provide.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'e> {
    /// Restriction of the moves. Forbidden moves are omitted.
    pub restriction: Option<&'e Restriction>,
    /// Moves that were not searched because they are images of others. They become copies of these.
    pub images: &'e [Image],
    /// The network's probability of every legal move, without temperature.
    pub policy: &'e [(Move, f32)],
    /// Prediction of a network of human play for the position, from Black's perspective.
    pub human: Option<&'e Prediction>,
}

impl Analysis {
    /// Makes the analysis of a position from the report of its search, from Black's perspective.
    pub fn new(report: &SearchReport, extras: &Extras<'_>) -> Analysis {
        let (size, [hash, symmetric_hash]) = (report.size, report.hashes);
        Analysis {
            size,
            to_move: report.to_move,
            perspective: Color::Black,
            visits: report.visits,
            playouts: report.playouts,
            weight: report.weight,
            depth: report.depth,
            root: Expectation {
                win_rate: win_rate(report.value),
                win_rate_error: report.value_error / 2.0,
                no_result: report.no_result,
                utility: report.utility,
                lead: report.score,
                lead_error: report.score_error,
                score_mean: report.score_mean,
                score_stdev: report.score_stdev,
                owners: report.owners.clone(),
            },
            raw: report.raw.as_ref().map(RawView::of_outlook),
            human: extras.human.map(|prediction| human_view(size, prediction, report)),
            moves: moves(size, report, extras),
            policy: extras.policy.to_vec(),
            hash,
            symmetric_hash,
        }
    }
}

/// Returns the probabilities of the moves of a root. Equivalent visits become probabilities by their share of all wins.
pub fn shares_of_priors(priors: impl Iterator<Item = Prior>) -> Vec<f32> {
    let priors: Vec<Prior> = priors.collect();
    let value = |prior: &Prior| match prior {
        Prior::Probability(probability) => f64::from(*probability),
        Prior::Games(games) => f64::from(games.wins),
    };
    let sum: f64 = priors.iter().map(value).sum();
    let sum = if sum > 0.0 { sum } else { 1.0 };
    priors.iter().map(|prior| (value(prior) / sum) as f32).collect()
}

fn moves(size: BoardSize, report: &SearchReport, extras: &Extras<'_>) -> Vec<MoveAnalysis> {
    let shares = shares_of_priors(report.moves.iter().map(|entry| entry.prior));
    let is_permitted = |mv| extras.restriction.is_none_or(|rules| rules.permits(report.to_move, mv, 0));
    let mut known: Vec<(&MoveReport, f32)> = report.moves.iter().zip(shares).collect();
    known.retain(|(entry, _)| is_permitted(entry.mv) && !is_image(extras, entry));
    sort(&mut known, report);
    let most = known.iter().map(|(entry, _)| entry.merit).fold(0.0, f32::max);
    let mut moves = Vec::with_capacity(known.len() + extras.images.len());
    for (entry, prior) in known {
        let mut original = of_move(size, report, extras, entry, prior);
        if moves.is_empty() {
            original.selection_value = most;
        }
        let images = extras.images.iter().filter(|(image, of, _)| *of == entry.mv && is_permitted(*image));
        let copies: Vec<_> = images.map(|image| copy(&original, size, image)).collect();
        moves.push(original);
        moves.extend(copies);
    }
    moves.iter_mut().enumerate().for_each(|(order, entry)| entry.order = order);
    moves
}

/// Returns whether the move is an image that was not searched.
fn is_image(extras: &Extras<'_>, entry: &MoveReport) -> bool {
    entry.visits == 0 && extras.images.iter().any(|(image, ..)| *image == entry.mv)
}

/// Sorts the moves: the search's choice first, then by merit, visits and prior. Moves without visits come last.
fn sort(moves: &mut [(&MoveReport, f32)], report: &SearchReport) {
    let best = report.moves.first().map(|entry| entry.mv);
    let rank = |a: &(&MoveReport, f32), b: &(&MoveReport, f32)| -> Ordering {
        let is_best = |it: &MoveReport| Some(it.mv) == best;
        let by_choice = is_best(b.0).cmp(&is_best(a.0));
        let by_being_searched = (b.0.visits > 0).cmp(&(a.0.visits > 0));
        let by_merit = b.0.merit.total_cmp(&a.0.merit);
        let by_visits = b.0.visits.cmp(&a.0.visits);
        by_choice.then(by_being_searched).then(by_merit).then(by_visits).then(b.1.total_cmp(&a.1))
    };
    moves.sort_by(rank);
}

fn of_move(
    size: BoardSize,
    report: &SearchReport,
    extras: &Extras<'_>,
    entry: &MoveReport,
    prior: f32,
) -> MoveAnalysis {
    // The bound lies on the bad side of the value for the side to move, but the numbers are Black's.
    let radius = report.to_move.sign() as f32 * entry.utility_radius;
    let expectation = Expectation {
        win_rate: win_rate(entry.value),
        win_rate_error: entry.value_error / 2.0,
        no_result: entry.no_result,
        utility: entry.utility,
        lead: entry.score,
        lead_error: report.score_error * (report.playouts as f32 / entry.visits.max(1) as f32).sqrt(),
        score_mean: entry.score_mean,
        score_stdev: entry.score_stdev,
        owners: entry.owners.clone(),
    };
    MoveAnalysis {
        mv: entry.mv,
        order: 0,
        visits: entry.node_visits,
        edge_visits: entry.visits,
        weight: entry.weight,
        edge_weight: entry.edge_weight,
        prior,
        human_prior: extras.human.map(|prediction| human_prior(size, prediction, entry.mv)),
        // The result is the largest part of the utility, so its bound is scaled accordingly.
        win_rate_bound: expectation.win_rate - 0.5 * radius / report.max_utility,
        utility_bound: expectation.utility - radius,
        expectation,
        selection_value: entry.merit,
        symmetry_of: None,
        variation: entry.variation.clone(),
        variation_visits: entry.variation_node_visits.clone(),
        variation_edge_visits: entry.variation_visits.clone(),
    }
}

/// Returns a copy of the original's analysis for its image.
fn copy(original: &MoveAnalysis, size: BoardSize, &(image, of, symmetry): &Image) -> MoveAnalysis {
    let to = |mv: &Move| match *mv {
        Move::Play(point) => Move::Play(symmetry.apply(size, point)),
        Move::Pass => Move::Pass,
    };
    let turned = |points: &[f32]| -> Vec<f32> {
        let mut image = points.to_vec();
        for (point, &value) in size.points().zip(points) {
            let to = symmetry.apply(size, point);
            image[to.row() * size.columns() + to.column()] = value;
        }
        image
    };
    let mut copy = original.clone();
    copy.symmetry_of = Some(of);
    copy.mv = image;
    copy.variation = original.variation.iter().map(to).collect();
    let owners = original.expectation.owners.as_ref();
    copy.expectation.owners =
        owners.map(|owners| Owners { mean: turned(&owners.mean), stdev: turned(&owners.stdev) });
    copy
}

fn human_prior(size: BoardSize, prediction: &Prediction, mv: Move) -> f32 {
    match mv {
        Move::Play(point) => prediction.policy[index(size, point)],
        Move::Pass => prediction.pass,
    }
}

fn human_view(size: BoardSize, prediction: &Prediction, report: &SearchReport) -> HumanView {
    let moves = report.moves.iter().map(|entry| entry.mv);
    HumanView {
        values: RawView::of_prediction(prediction),
        policy: moves.map(|mv| (mv, human_prior(size, prediction, mv))).collect(),
    }
}
