//! What a search knows, turned into an answer: averages over the whole graph.

use super::{Analysis, Expectation, MoveAnalysis, PeopleView, Wishes};
use kosumi_eval::{DetailedPrediction, PredictionTable};
use kosumi_go::board::{BoardSize, Key, Move, Symmetry};
use kosumi_go::game::Game;
use kosumi_search::node::{Means, NodeId};
use kosumi_search::root_moves::Image;
use kosumi_search::{MoveReport, NodeTable, Restriction, SearchReport};

/// Sums over the evaluations behind a position, each with its share of the visits.
struct Sums {
    weight: f64,
    result: f64,
    no_result: f64,
    lead: f64,
    score: f64,
    score_square: f64,
    owners: Vec<f32>,
    owner_squares: Vec<f32>,
}

impl Sums {
    /// Sums over the owners of so many points; 0 if they do not matter.
    fn new(area: usize) -> Sums {
        Sums {
            weight: 0.0,
            result: 0.0,
            no_result: 0.0,
            lead: 0.0,
            score: 0.0,
            score_square: 0.0,
            owners: vec![0.0; area],
            owner_squares: vec![0.0; area],
        }
    }

    fn add(&mut self, outlook: &DetailedPrediction, owners: &[i8], weight: f64) {
        self.weight += weight;
        self.result += weight * f64::from(outlook.result);
        self.no_result += weight * f64::from(outlook.no_result);
        self.lead += weight * f64::from(outlook.lead);
        self.score += weight * f64::from(outlook.score_mean);
        self.score_square += weight * f64::from(outlook.score_mean_square);
        let weight = weight as f32;
        for ((sum, square), &owner) in self.owners.iter_mut().zip(&mut self.owner_squares).zip(owners) {
            let owner = f32::from(owner) / f32::from(i8::MAX);
            *sum += weight * owner;
            *square += weight * owner * owner;
        }
    }

    /// The result and the utility are those of the search, which weighs evaluations.
    fn expectation(&self, known: &Means) -> Expectation {
        let weight = if self.weight > 0.0 { self.weight } else { 1.0 };
        let mean = |sum: f64| (sum / weight) as f32;
        let score = self.score / weight;
        let score_square = self.score_square / weight;
        let weight = weight as f32;
        let owners: Vec<f32> = self.owners.iter().map(|sum| (sum / weight).clamp(-1.0, 1.0)).collect();
        let deviation = |(mean, square): (&f32, &f32)| (square / weight - mean * mean).max(0.0).sqrt();
        Expectation {
            result: if known.weight > 0.0 { known.result } else { mean(self.result) },
            no_result: mean(self.no_result),
            lead: mean(self.lead),
            score_mean: score as f32,
            score_stdev: (score_square - score * score).max(0.0).sqrt() as f32,
            utility: known.utility,
            owners_stdev: owners.iter().zip(&self.owner_squares).map(deviation).collect(),
            owners,
        }
    }
}

/// Turns what a search knows into an answer.
pub(super) struct Teller<'t> {
    pub(super) table: &'t NodeTable,
    pub(super) outlooks: &'t PredictionTable,
    pub(super) game: &'t Game,
    pub(super) policy: &'t [(Move, f32)],
    pub(super) priors: &'t [(Move, f32)],
    pub(super) people: Option<&'t PeopleView>,
    pub(super) images: &'t [Image],
    pub(super) restriction: &'t Restriction,
    pub(super) wishes: Wishes,
    pub(super) utility_most: f32,
}

/// Positions with a smaller share of the root's visits are represented by the first position of their line alone, so that
/// telling takes milliseconds, however long the search was.
const LEAST_SHARE: f64 = 1.0 / 5000.0;

/// The longest line that is followed: a cycle must end.
const LONGEST: u32 = 400;

/// Standard errors on each side of a value.
const RADIUS_STDEVS: f32 = 5.0;

impl Teller<'_> {
    /// `None` if nothing is known yet.
    pub(super) fn tell(&self, report: &SearchReport) -> Option<Analysis> {
        let (game, size) = (self.game, self.game.size());
        let root = self.table.find(game.graph_key())?;
        let (raw, _) = self.outlooks.read(game.graph_key())?;
        let area = |wanted| if wanted { size.area() } else { 0 };
        let mut all = Sums::new(area(self.wishes.ownership));
        self.gather(root, 1.0, 0, &mut all);
        let mut moves = Vec::new();
        for entry in sorted(report) {
            let is_searched = entry.visits > 0 || entry.node_visits > 0;
            if !is_searched || !self.restriction.permits(report.to_move, entry.mv, 0) {
                continue;
            }
            let mut edges = self.table.edges(self.table.node(root));
            let Some(child) = edges.find(|edge| edge.mv() == entry.mv).and_then(|edge| edge.child()) else {
                continue;
            };
            let mut sums = Sums::new(area(self.wishes.moves_ownership));
            self.gather(child, 1.0, 0, &mut sums);
            if sums.weight <= 0.0 {
                // Its first evaluation is still under way.
                continue;
            }
            let radius = match entry.node_visits {
                0 | 1 => 2.5 * self.utility_most,
                _ => RADIUS_STDEVS * entry.utility_error,
            };
            let means = self.table.node(child).means();
            let share = entry.visits as f32 / entry.node_visits.max(1) as f32;
            let original = MoveAnalysis {
                prior: probability(self.priors, entry.mv),
                human_prior: self.people.map(|people| people.prior(size, entry.mv)),
                expectation: sums.expectation(&means),
                weights: [means.weight, means.weight * share],
                utility_radius: radius,
                symmetry_of: None,
                report: entry.clone(),
            };
            let copies = self.images.iter().filter(|(_, of, _)| *of == entry.mv);
            let copies: Vec<_> = copies.map(|image| copy(&original, size, image)).collect();
            moves.push(original);
            moves.extend(copies);
        }
        Some(Analysis {
            size,
            to_move: report.to_move,
            visits: report.visits,
            weight: self.table.node(root).means().weight,
            root: all.expectation(&self.table.node(root).means()),
            raw,
            moves,
            policy: self.policy.to_vec(),
            people: self.people.cloned(),
            utility_most: self.utility_most,
            hashes: hashes(game),
        })
    }

    /// Adds what was found behind a node, with a share of the visits that are summed up.
    fn gather(&self, id: NodeId, share: f64, depth: u32, sums: &mut Sums) {
        let node = self.table.node(id);
        let edges = self.table.edges(node).filter(|edge| edge.visits() > 0);
        let below: u32 = edges.clone().map(|edge| edge.visits()).sum();
        let own = node.own_visits();
        let is_end = below == 0 || share < LEAST_SHARE || depth >= LONGEST;
        let total = f64::from(own) + f64::from(below);
        let own_share = if is_end { share } else { share * f64::from(own) / total };
        if own_share > 0.0
            && let Some((outlook, owners)) = self.outlooks.read(node.key())
        {
            sums.add(&outlook, &owners, own_share);
        }
        if !is_end {
            for edge in edges {
                if let Some(child) = edge.child() {
                    self.gather(child, share * f64::from(edge.visits()) / total, depth + 1, sums);
                }
            }
        }
    }
}

/// The best move first, then by visits and prior.
fn sorted(report: &SearchReport) -> Vec<&MoveReport> {
    let mut moves: Vec<&MoveReport> = report.moves.iter().collect();
    if let Some((_, others)) = moves.split_first_mut() {
        others.sort_by(|a, b| {
            let by_visits = b.visits.cmp(&a.visits);
            b.merit
                .total_cmp(&a.merit)
                .then(by_visits)
                .then(b.prior.ordering_key().total_cmp(&a.prior.ordering_key()))
        });
    }
    moves
}

fn probability(moves: &[(Move, f32)], mv: Move) -> f32 {
    moves.iter().find(|(known, _)| *known == mv).map_or(0.0, |&(_, prior)| prior)
}

/// The image of a move and of everything that is known of it.
fn copy(original: &MoveAnalysis, size: BoardSize, &(image, of, symmetry): &Image) -> MoveAnalysis {
    let to = |mv: &Move| match *mv {
        Move::Play(point) => Move::Play(symmetry.apply(size, point)),
        Move::Pass => Move::Pass,
    };
    let turned = |owners: &[f32]| -> Vec<f32> {
        let mut image = owners.to_vec();
        for (point, &owner) in size.points().zip(owners) {
            let to = symmetry.apply(size, point);
            image[to.row() * size.columns() + to.column()] = owner;
        }
        image
    };
    let mut copy = original.clone();
    copy.symmetry_of = Some(of);
    copy.report.mv = image;
    copy.report.variation = original.report.variation.iter().map(to).collect();
    copy.expectation.owners = turned(&original.expectation.owners);
    copy.expectation.owners_stdev = turned(&original.expectation.owners_stdev);
    copy
}

pub(super) fn hashes(game: &Game) -> [Key; 2] {
    let board = game.board();
    let zobrist = board.zobrist();
    let side = zobrist.side(game.to_move());
    let ko = board.ko().map(|(point, _)| point);
    let plain = ko.map_or(Key::default(), |point| zobrist.ko(point));
    let images = Symmetry::of(board.size()).zip(board.symmetric_keys()).map(|(symmetry, key)| {
        key ^ ko.map_or(Key::default(), |point| zobrist.ko(symmetry.apply(board.size(), point)))
    });
    let least = images.min().unwrap_or(board.key());
    [board.key() ^ plain ^ side, least ^ side]
}
