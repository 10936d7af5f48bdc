//! Results of a search, as plain data.

use super::NodeTable;
use super::counters::Counters;
use super::node::{Means, Node, NodeId, Rave, from_fixed};
use super::owners::{Detail, Owners, OwnersReader};
use super::params::{Choice, Formula, PuctParams, View};
use super::select::{MoveStats, Puct};
use super::table::TableUse;
use super::utility::UtilityScale;
use kosumi_eval::{DetailedPrediction, Evaluator, Ownership, Prior};
use kosumi_go::board::{BoardSize, Color, Key, Move, Symmetry};
use kosumi_go::game::Game;
use std::cmp::Reverse;

/// Statistics of a move of the root. All values and scores are Black's.
///
/// A move without evaluations has the values of the root.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveReport {
    /// The move.
    pub mv: Move,
    /// Simulations through the edge.
    pub visits: u32,
    /// Simulations through the position after the move, including those by other paths.
    pub node_visits: u32,
    /// Expected result after the move, in `[-1, 1]`.
    pub value: f32,
    /// Standard error of the value.
    pub value_error: f32,
    /// Expected lead after the move, in points, komi included. With playouts, the mean final score.
    pub score: f32,
    /// Expected score at the end of the game.
    pub score_mean: f32,
    /// Standard deviation of that score. With playouts, that of the root.
    pub score_stdev: f32,
    /// Probability that the game has no result.
    pub no_result: f32,
    /// Combination of result and score that searches with a network maximise. With playouts, the value.
    pub utility: f32,
    /// Standard error of the utility.
    pub utility_error: f32,
    /// Distance between the utility and its lower bound: several standard errors, or more than the largest utility if
    /// the move has too few visits.
    pub utility_radius: f32,
    /// Summed weight of the evaluations in the subtree after the move; with playouts, their number.
    pub weight: f32,
    /// Part of `weight` that the visits through this move contribute.
    pub edge_weight: f32,
    /// Visits that the move deserves by its present value, at most those that it has. Moves are chosen by it.
    pub merit: f32,
    /// Prior knowledge.
    pub prior: Prior,
    /// RAVE: number of simulations with the move, and Black's mean value in them.
    pub rave: (u32, f32),
    /// The move and the best replies.
    pub variation: Vec<Move>,
    /// Simulations through each move of the variation.
    pub variation_visits: Vec<u32>,
    /// Simulations through the position after each move of the variation, by any path.
    pub variation_node_visits: Vec<u32>,
    /// Owners after the move, if requested.
    pub owners: Option<Owners>,
}

/// The result of a search. All values and scores are Black's.
#[derive(Clone, Debug)]
pub struct SearchReport {
    /// Columns and rows.
    pub size: BoardSize,
    /// Keys of the stones, the side to move and a simple ko; the second one is the same for all images of a position.
    pub hashes: [Key; 2],
    /// Side to move.
    pub to_move: Color,
    /// Completed simulations through the root, those of reused searches included.
    pub visits: u32,
    /// Simulations of this search.
    pub playouts: u32,
    /// Expected result, in `[-1, 1]`.
    pub value: f32,
    /// Standard error of the value. It covers chance and not the errors of the evaluator.
    pub value_error: f32,
    /// Expected lead, in points, komi included. With playouts, the mean final score.
    pub score: f32,
    /// Standard error of the score.
    pub score_error: f32,
    /// Expected score at the end of the game.
    pub score_mean: f32,
    /// Standard deviation of that score. With playouts, that of the final scores of this search.
    pub score_stdev: f32,
    /// Probability that the game has no result.
    pub no_result: f32,
    /// Combination of result and score that searches with a network maximise. With playouts, the value.
    pub utility: f32,
    /// Largest possible utility.
    pub max_utility: f32,
    /// Summed weight of all evaluations; with playouts, their number.
    pub weight: f32,
    /// Prediction of the network alone, if a network evaluates and its evaluation is cached.
    pub raw: Option<DetailedPrediction>,
    /// Moves of the root: the best first (see [`Choice`]), then in descending order of visits.
    pub moves: Vec<MoveReport>,
    /// Owners of the points, summed over the evaluations of this search.
    pub ownership: Ownership,
    /// Owners averaged over the whole tree, if requested.
    pub owners: Option<Owners>,
    /// Use of the node table.
    pub usage: TableUse,
    /// Number of descents that returned to a node of their own path.
    pub cycles: u32,
    /// Number of new edges to an existing node, which the graph saves over a tree.
    pub transpositions: u32,
    /// Number of descents that waited for an evaluation by another worker.
    pub waits: u32,
    /// Length of the longest descent.
    pub depth: u32,
}

impl SearchReport {
    /// Makes a report from the node of the game's position and the counters of the workers.
    pub fn new(
        table: &NodeTable,
        root: NodeId,
        game: &Game,
        counters: &Counters,
        ownership: Ownership,
        view: View<'_>,
    ) -> SearchReport {
        let View { params, root_scale } = view;
        let node = table.node(root);
        let playout_score_stdev = counters.score_error() as f32 * (counters.playouts as f32).sqrt();
        let converter = ValueConverter::new(params, game, playout_score_stdev);
        let expected = converter.expected(node);
        let mut moves = move_reports(table, node, &converter);
        if let Formula::Puct(puct) = &params.formula {
            set_merits(&mut moves, (table, node, game), puct, root_scale);
        }
        put_best_first(&mut moves, game.to_move(), &params.choice);
        SearchReport {
            size: game.size(),
            hashes: hashes(game),
            to_move: game.to_move(),
            visits: node.visits(),
            playouts: counters.playouts,
            value: expected.value,
            value_error: expected.value_error,
            score: expected.lead,
            score_error: counters.score_error() as f32,
            score_mean: expected.score_mean,
            score_stdev: expected.score_stdev,
            no_result: expected.no_result,
            utility: expected.utility,
            max_utility: converter.max_utility,
            weight: expected.weight,
            raw: None,
            moves,
            ownership,
            owners: None,
            usage: table.usage(),
            cycles: counters.cycles,
            transpositions: counters.transpositions,
            waits: counters.waits,
            depth: counters.depth,
        }
    }

    /// Adds the network's prediction and the requested owners. `tree` contains the node of the position. Without it,
    /// the owners are those of this search's evaluations and of the positions after the moves.
    pub fn add_detail<E: Evaluator>(
        &mut self,
        tree: Option<(&NodeTable, NodeId)>,
        game: &Game,
        evaluator: &mut E,
        detail: Detail,
    ) {
        let mut reader = OwnersReader::new(tree, game, evaluator);
        let line = reader.line().clone();
        let may_evaluate = detail.raw || detail.ownership;
        let known = reader.evaluator().outlook(&line, may_evaluate);
        self.raw = known.as_ref().map(|(outlook, _)| *outlook);
        if detail.ownership {
            let of_tree = known.as_ref().and_then(|_| reader.of_root());
            self.owners = of_tree.or_else(|| match known {
                Some((_, owners)) if self.ownership.count() == 0 => Owners::of_evaluation(&owners),
                _ => Some(Owners::of_sums(game.size(), &self.ownership)),
            });
        }
        if detail.moves_ownership {
            for entry in self.moves.iter_mut().filter(|entry| entry.node_visits > 0) {
                entry.owners = reader.of_move(entry.mv);
            }
        }
    }

    /// Returns the best move, or a pass if no move is known.
    pub fn best_move(&self) -> Move {
        self.moves.first().map_or(Move::Pass, |best| best.mv)
    }

    /// Returns the largest number of simulations through one move.
    pub fn most_visits(&self) -> u32 {
        self.moves.iter().map(|entry| entry.visits).max().unwrap_or(0)
    }

    /// Returns the entry of a move.
    pub fn find(&self, mv: Move) -> Option<&MoveReport> {
        self.moves.iter().find(|entry| entry.mv == mv)
    }

    /// Returns the best moves of both sides from the root on.
    pub fn principal_variation(&self) -> &[Move] {
        self.moves.first().map_or(&[], |best| &best.variation)
    }
}

/// Returns the hash of the stones, the side to move and a simple ko, and the smallest hash among all images of the
/// position.
fn hashes(game: &Game) -> [Key; 2] {
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

/// Expected result and score of a position.
#[derive(Clone, Copy, Debug)]
struct Expected {
    value: f32,
    value_error: f32,
    lead: f32,
    score_mean: f32,
    score_stdev: f32,
    no_result: f32,
    utility: f32,
    utility_error: f32,
    weight: f32,
}

/// Conversion of the statistics of nodes to the values of a report.
struct ValueConverter {
    is_network: bool,
    max_utility: f32,
    /// Number of standard errors between a utility and its lower bound.
    radius_stdevs: f32,
    /// Standard deviation of the final scores of this search's playouts.
    playout_score_stdev: f32,
}

/// Number of standard errors between a value and its lower bound if the choice of the move does not use lower bounds: 2
/// with playouts, whose results scatter widely, and KataGo's 5 with a network.
const RADIUS_STDEVS: [f32; 2] = [2.0, 5.0];

impl ValueConverter {
    fn new(params: &super::SearchParams, game: &Game, playout_score_stdev: f32) -> ValueConverter {
        let (is_network, max_utility) = match &params.formula {
            Formula::Puct(puct) => (true, UtilityScale::new(puct, game.size().area(), 0.0).bound() as f32),
            Formula::Rave(_) => (false, 1.0),
        };
        let lcb_stdevs = params.choice.lcb_stdevs;
        let radius_stdevs =
            if lcb_stdevs > 0.0 { lcb_stdevs } else { RADIUS_STDEVS[usize::from(is_network)] };
        ValueConverter { is_network, max_utility, radius_stdevs, playout_score_stdev }
    }

    /// Returns whether the position has any evaluations.
    fn is_evaluated(&self, node: &Node) -> bool {
        if self.is_network { node.means().weight > 0.0 } else { node.visits() > 0 }
    }

    fn expected(&self, node: &Node) -> Expected {
        if !self.is_network {
            let (value, value_error, score) = (node.value(), value_error(node), node.score());
            return Expected {
                value,
                value_error,
                lead: score,
                score_mean: score,
                score_stdev: self.playout_score_stdev,
                no_result: 0.0,
                utility: value,
                utility_error: value_error,
                weight: node.visits() as f32,
            };
        }
        let means = node.means();
        let utility_error = utility_error(&means, self.max_utility);
        let (mean, square) = (f64::from(means.score), f64::from(means.score_square));
        Expected {
            value: node.value(),
            // The result is the largest part of the utility and has the same relative error.
            value_error: utility_error / self.max_utility,
            lead: means.lead,
            score_mean: means.score,
            score_stdev: (square - mean * mean).max(0.0).sqrt() as f32,
            no_result: means.no_result,
            utility: means.utility,
            utility_error,
            weight: means.weight,
        }
    }

    /// Returns the distance between a utility and its lower bound. One evaluation does not reveal the scatter.
    fn radius(&self, utility_error: f32, visits: u32) -> f32 {
        if self.is_network && visits <= 1 {
            2.5 * self.max_utility
        } else {
            self.radius_stdevs * utility_error
        }
    }
}

/// Returns the standard error of a node's value by playouts, from the scatter of their results. Two wins and two losses
/// are added, because a few equal results would otherwise look certain.
///
/// CITE: Agresti and Coull, "Approximate is better than 'exact' for interval estimation of binomial proportions"
/// (1998), for the four results.
fn value_error(node: &Node) -> f32 {
    let (visits, count) = (node.visits() as f32, node.visits() as f32 + 4.0);
    let mean = node.value() * visits / count;
    let mean_square = (node.mean_square() * visits + 4.0) / count;
    ((mean_square - mean * mean).max(0.0) / count).sqrt()
}

/// Returns the moves of a node in descending order of visits, then of RAVE simulations, then in the order of the board.
fn move_reports(table: &NodeTable, root: &Node, converter: &ValueConverter) -> Vec<MoveReport> {
    let mut moves: Vec<(u16, MoveReport)> = table
        .edges(root)
        .map(|edge| {
            let (visits, seen_value) = edge.visits_and_seen_value();
            let child = edge.child().map(|child| table.node(child));
            let node_visits = child.map_or(0, Node::visits);
            let mut variation = vec![(edge.mv(), (visits, node_visits))];
            if let Some(child) = edge.child() {
                follow(table, child, &mut variation);
            }
            let (variation, counts): (_, Vec<_>) = variation.into_iter().unzip();
            let (variation_visits, variation_node_visits) = counts.into_iter().unzip();
            let known = child.filter(|child| converter.is_evaluated(child));
            let expected = converter.expected(known.unwrap_or(root));
            // Playouts that reached the position by other paths may be missing from this edge.
            let is_by_edge = !converter.is_network && visits > 0;
            let value = if is_by_edge { from_fixed(seen_value) } else { expected.value };
            let edge_weight = match known {
                Some(_) if !converter.is_network => visits as f32,
                Some(known) => known.weight_of_visits(visits) as f32,
                None => 0.0,
            };
            let utility_error = match child {
                Some(child) => converter.expected(child).utility_error,
                None => expected.utility_error,
            };
            let entry = MoveReport {
                mv: edge.mv(),
                visits,
                node_visits,
                value,
                value_error: expected.value_error,
                score: expected.lead,
                score_mean: expected.score_mean,
                score_stdev: expected.score_stdev,
                no_result: expected.no_result,
                utility: if converter.is_network { expected.utility } else { value },
                utility_error,
                utility_radius: converter.radius(utility_error, node_visits),
                weight: if known.is_some() { expected.weight } else { 0.0 },
                edge_weight,
                merit: if converter.is_network { edge_weight } else { visits as f32 },
                prior: edge.prior(),
                rave: table.rave(edge.id).map_or((0, 0.0), Rave::visits_and_value),
                variation,
                variation_visits,
                variation_node_visits,
                owners: None,
            };
            (edge.order(), entry)
        })
        .collect();
    moves.sort_by_key(|(order, entry)| (Reverse((entry.visits, entry.rave.0)), *order));
    moves.into_iter().map(|(_, entry)| entry).collect()
}

/// Lowers the merit of moves after a search with a network, where their visits exceed what they deserve.
///
/// Visits that a move received while it looked better than it is, or while its rival looked worse, do not count: the
/// merit is the number of visits that makes the move as urgent as the most visited one. CITE: KataGo does so by
/// default.
fn set_merits(
    moves: &mut [MoveReport],
    (table, root, game): (&NodeTable, &Node, &Game),
    params: &PuctParams,
    root_scale: f32,
) {
    let probability = |entry: &MoveReport| root_scale * entry.prior.probability();
    let sign = game.to_move().sign() as f32;
    let (mut edge_weight, mut visited_probability) = (0.0, 0.0);
    // Sums of floats depend on the order of their terms, so the edges are visited in their own order.
    for edge in table.edges(root) {
        let Some(entry) = moves.iter().find(|entry| entry.mv == edge.mv()) else { continue };
        if entry.merit > 0.0 {
            edge_weight += entry.merit;
            visited_probability += probability(entry);
        }
    }
    let puct = Puct::new(params, &root.stats(sign, edge_weight, visited_probability, true));
    let stats = |entry: &MoveReport| MoveStats {
        visits: entry.merit,
        value: sign * entry.utility,
        ..MoveStats::default()
    };
    // Of equal moves the first one counts: moves are in descending order of visits.
    let Some(favourite) = moves.iter().rev().max_by(|a, b| a.merit.total_cmp(&b.merit)) else { return };
    let (favourite, urgency) = (favourite.mv, puct.urgency(&stats(favourite), probability(favourite)));
    for entry in moves.iter_mut().filter(|entry| entry.mv != favourite && entry.merit > 0.0) {
        let worth = puct.visits_worth(&stats(entry), probability(entry), urgency);
        entry.merit = entry.merit.min(worth.ceil());
    }
}

/// Returns the standard error of a utility of at most `most`, from the scatter of evaluations. A few evaluations that
/// happen to be equal would look certain. Therefore a little of the largest possible scatter is mixed in, which fades
/// with the cube of their number.
fn utility_error(means: &Means, most: f32) -> f32 {
    if means.weight <= 0.0 || means.weight_square <= 0.0 {
        return 2.0 * most;
    }
    let count = |weight: f32, weight_square: f32| weight * weight / weight_square;
    let prior_weight = means.weight / count(means.weight, means.weight_square).powi(3);
    let square = means.utility_square.max(means.utility * means.utility);
    let weight = means.weight + prior_weight;
    let square = square + most * most * prior_weight / weight;
    let count = count(weight, means.weight_square + prior_weight * prior_weight);
    ((square - means.utility * means.utility).max(0.0) / count).sqrt()
}

/// Moves the best move to the front. The moves must be in descending order of visits.
fn put_best_first(moves: &mut [MoveReport], color: Color, choice: &Choice) {
    let by_merit = |a: &&MoveReport, b: &&MoveReport| a.merit.total_cmp(&b.merit);
    let Some(most) = moves.iter().max_by(by_merit).map(|it| it.merit).filter(|&it| it > 0.0) else { return };
    // Of equal moves the first one counts.
    let mut best = moves.iter().position(|entry| entry.merit == most).unwrap_or(0);
    if choice.lcb_stdevs > 0.0 {
        let sign = color.sign() as f32;
        let lower_bound = |entry: &MoveReport| sign * entry.utility - choice.lcb_stdevs * entry.utility_error;
        let least = choice.min_visit_prop_for_lcb * most;
        for index in 0..moves.len() {
            let is_known = moves[index].visits > 0 && moves[index].merit > 0.0 && moves[index].merit >= least;
            if is_known && lower_bound(&moves[index]) > lower_bound(&moves[best]) {
                best = index;
            }
        }
    }
    moves[..=best].rotate_right(1);
}

/// Appends the most visited moves from a node on, up to a maximum length, because the graph may have cycles.
fn follow(table: &NodeTable, mut id: NodeId, variation: &mut Vec<(Move, (u32, u32))>) {
    const MAX_MOVES: usize = 40;
    while variation.len() < MAX_MOVES {
        let best = table.edges(table.node(id)).max_by_key(|edge| (edge.visits(), edge.order()));
        let Some(edge) = best.filter(|edge| edge.visits() > 0) else { return };
        let Some(child) = edge.child() else { return };
        variation.push((edge.mv(), (edge.visits(), table.node(child).visits())));
        id = child;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::Point;

    fn entry(column: usize, visits: u32, value: f32, value_error: f32) -> MoveReport {
        let mv = Move::Play(Point::new(column, 0));
        let (prior, rave) = (Prior::EVEN, (0, 0.0));
        let (variation, variation_visits) = (vec![mv], vec![visits]);
        let variation_node_visits = vec![visits];
        MoveReport {
            mv,
            visits,
            node_visits: visits,
            value,
            value_error,
            score: 0.0,
            score_mean: 0.0,
            score_stdev: 0.0,
            no_result: 0.0,
            utility: value,
            utility_error: value_error,
            utility_radius: 2.0 * value_error,
            weight: visits as f32,
            edge_weight: visits as f32,
            merit: visits as f32,
            prior,
            rave,
            variation,
            variation_visits,
            variation_node_visits,
            owners: None,
        }
    }

    fn order(moves: &[MoveReport], color: Color, choice: Choice) -> Vec<usize> {
        let mut moves = moves.to_vec();
        put_best_first(&mut moves, color, &choice);
        moves.iter().map(|entry| entry.mv.point().expect("a point").column()).collect()
    }

    #[test]
    fn the_surest_of_the_well_known_moves_comes_first() {
        let moves = [
            entry(0, 100, 0.10, 0.02),
            entry(1, 60, 0.30, 0.03),
            entry(2, 30, 0.35, 0.20),
            entry(3, 5, 0.90, 0.01),
            entry(4, 0, 0.95, 0.0),
        ];
        let choice = Choice { lcb_stdevs: 2.0, min_visit_prop_for_lcb: 0.2 };
        assert_eq!(order(&moves, Color::Black, choice), [1, 0, 2, 3, 4], "0.06, 0.24, −0.05, too few visits");
        assert_eq!(
            order(&moves, Color::Black, Choice { min_visit_prop_for_lcb: 0.0, ..choice }),
            [3, 0, 1, 2, 4]
        );
        assert_eq!(order(&moves, Color::White, choice), [0, 1, 2, 3, 4], "good for Black is bad for White");
        assert_eq!(order(&moves, Color::Black, Choice::BY_VISITS), [0, 1, 2, 3, 4], "visits alone");
        assert_eq!(order(&moves[4..], Color::Black, choice), [4]);
        assert!(order(&[], Color::Black, choice).is_empty());
    }
}
