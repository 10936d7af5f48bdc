//! What a search found, as plain data.

use super::NodeTable;
use super::counters::Counters;
use super::node::{Means, Node, NodeId, Rave, from_fixed};
use super::params::{Choice, Formula, PuctParams, View};
use super::select::{MoveStats, Puct};
use super::table::TableUse;
use super::utility::Scale;
use kosumi_eval::{Ownership, Prior};
use kosumi_go::board::{Color, Move};
use kosumi_go::game::Game;
use std::cmp::Reverse;

/// One move at the root.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveReport {
    /// The move.
    pub mv: Move,
    /// Simulations through it.
    pub visits: u32,
    /// Simulations through the position after it, those that came there on other paths included.
    pub node_visits: u32,
    /// Expected result for Black after it, in `[-1, 1]`; the root's if it has no visits.
    pub value: f32,
    /// Standard error of the value.
    pub value_error: f32,
    /// Expected score for Black after it, komi included; the root's if it has no visits.
    pub score: f32,
    /// Result and score in one number, for Black, which searches with a network maximise; the value in others.
    pub utility: f32,
    /// Its standard error.
    pub utility_error: f32,
    /// What speaks for the move, in visits: those that it would get with what is known now, and no more than it has.
    pub merit: f32,
    /// Prior knowledge.
    pub prior: Prior,
    /// RAVE games and Black's mean value in them.
    pub rave: (u32, f32),
    /// The move and the best answers to it.
    pub variation: Vec<Move>,
    /// Simulations through each move of the variation.
    pub variation_visits: Vec<u32>,
    /// Simulations through the position after each move of the variation, on whatever path.
    pub variation_node_visits: Vec<u32>,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SearchReport {
    /// Whose turn it was.
    pub to_move: Color,
    /// Completed simulations through the root, those of reused searches included.
    pub visits: u32,
    /// Simulations of this search.
    pub playouts: u32,
    /// Black's expected result, in `[-1, 1]`.
    pub value: f32,
    /// Standard error of the value: what chance does to it, not what the evaluator does not understand.
    pub value_error: f32,
    /// Black's expected score over the same simulations, komi included.
    pub score: f32,
    /// Standard error of the score.
    pub score_error: f32,
    /// Moves at the root: the best first (see [`Choice`]), then the most visited.
    pub moves: Vec<MoveReport>,
    /// Who owned which point at the end of this search's evaluations.
    pub ownership: Ownership,
    /// How full the node table is.
    pub usage: TableUse,
    /// Descents that came back to a node of their own path.
    pub cycles: u32,
    /// New edges whose position had a node already, made on another path: what the graph saves over a tree.
    pub transpositions: u32,
    /// Descents that met a position that another worker was evaluating, and waited for the answer.
    pub waits: u32,
    /// Longest descent.
    pub depth: u32,
}

impl SearchReport {
    /// What the table knows of the game's node, and what the workers counted.
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
        let mut moves = move_reports(table, node);
        if let Formula::Puct(puct) = &params.formula {
            judge(&mut moves, (table, node, game), puct, root_scale);
        }
        put_best_first(&mut moves, game.to_move(), &params.choice);
        SearchReport {
            to_move: game.to_move(),
            visits: node.visits(),
            playouts: counters.playouts,
            value: node.value(),
            value_error: value_error(node),
            score: node.score(),
            score_error: counters.score_error() as f32,
            moves,
            ownership,
            usage: table.usage(),
            cycles: counters.cycles,
            transpositions: counters.transpositions,
            waits: counters.waits,
            depth: counters.depth,
        }
    }

    /// The best move; a pass if there is none.
    pub fn best_move(&self) -> Move {
        self.moves.first().map_or(Move::Pass, |best| best.mv)
    }

    /// Simulations through the move that has most of them.
    pub fn most_visits(&self) -> u32 {
        self.moves.iter().map(|entry| entry.visits).max().unwrap_or(0)
    }

    /// A move's entry.
    pub fn find(&self, mv: Move) -> Option<&MoveReport> {
        self.moves.iter().find(|entry| entry.mv == mv)
    }

    /// Moves and best answers from the root.
    pub fn principal_variation(&self) -> &[Move] {
        self.moves.first().map_or(&[], |best| &best.variation)
    }
}

/// Standard error of a node's value, from how far the results of its simulations scatter. A win and a loss are
/// taken as seen twice each before the first, without which few equal results would look certain.
///
/// CITE: Agresti and Coull, "Approximate is better than 'exact' for interval estimation of binomial proportions"
/// (1998), for the four results.
fn value_error(node: &Node) -> f32 {
    let (visits, count) = (node.visits() as f32, node.visits() as f32 + 4.0);
    let mean = node.value() * visits / count;
    let mean_square = (node.mean_square() * visits + 4.0) / count;
    ((mean_square - mean * mean).max(0.0) / count).sqrt()
}

fn value_if_visited(node: &Node) -> Option<f32> {
    (node.visits() > 0).then(|| node.value())
}

/// The moves at a node, the most visited first; equal ones in the order of RAVE games, then of the board.
fn move_reports(table: &NodeTable, root: &Node) -> Vec<MoveReport> {
    let mut moves: Vec<(u16, MoveReport)> = table
        .edges(root)
        .map(|edge| {
            let (visits, seen) = edge.visits_and_seen();
            let node_visits = edge.child().map_or(0, |child| table.node(child).visits());
            let mut variation = vec![(edge.mv(), (visits, node_visits))];
            // Its score and value may come from more simulations than went this way.
            let known = edge.child().map_or(root, |child| table.node(child));
            if let Some(child) = edge.child() {
                follow(table, child, &mut variation);
            }
            let (variation, counts): (_, Vec<_>) = variation.into_iter().unzip();
            let (variation_visits, variation_node_visits) = counts.into_iter().unzip();
            let value_error = value_error(known);
            let value = if visits > 0 && known.means().weight <= 0.0 {
                from_fixed(seen)
            } else {
                // Without visits that count: what is known of what follows, or of the root.
                value_if_visited(known).unwrap_or(root.value())
            };
            let entry = MoveReport {
                mv: edge.mv(),
                visits,
                node_visits,
                value,
                value_error,
                utility: value,
                utility_error: value_error,
                merit: visits as f32,
                score: known.score(),
                prior: edge.prior(),
                rave: table.rave(edge.id).map_or((0, 0.0), Rave::games_and_value),
                variation,
                variation_visits,
                variation_node_visits,
            };
            (edge.order(), entry)
        })
        .collect();
    moves.sort_by_key(|(order, entry)| (Reverse((entry.visits, entry.rave.0)), *order));
    moves.into_iter().map(|(_, entry)| entry).collect()
}

/// Fills in what speaks for the moves after a search with a network.
///
/// Visits that a move got while it looked better than it is, or while its rival looked worse, do not speak for it: it has
/// the merit of as many as make it as urgent as the most visited one. CITE: KataGo does so by default.
fn judge(
    moves: &mut [MoveReport],
    (table, root, game): (&NodeTable, &Node, &Game),
    params: &PuctParams,
    root_scale: f32,
) {
    let probability = |entry: &MoveReport| root_scale * entry.prior.probability();
    let sign = game.to_move().sign() as f32;
    let means = root.means();
    let most = Scale::new(params, game.size().area(), 0.0).most() as f32;
    let (mut edge_weight, mut visited_probability) = (0.0, 0.0);
    for edge in table.edges(root) {
        let child = edge.child().map(|child| table.node(child));
        let Some(entry) = moves.iter_mut().find(|entry| entry.mv == edge.mv()) else { continue };
        entry.merit = child.map_or(0.0, |child| child.weight_of_visits(edge.visits())) as f32;
        let known = child.unwrap_or(root).means();
        entry.utility = if known.weight > 0.0 { known.utility } else { means.utility };
        entry.utility_error = utility_error(&known, most);
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
    // The first of equals: moves come in the order of their visits.
    let Some(favourite) = moves.iter().rev().max_by(|a, b| a.merit.total_cmp(&b.merit)) else { return };
    let (favourite, urgency) = (favourite.mv, puct.urgency(&stats(favourite), probability(favourite)));
    for entry in moves.iter_mut().filter(|entry| entry.mv != favourite && entry.merit > 0.0) {
        let worth = puct.visits_worth(&stats(entry), probability(entry), urgency);
        entry.merit = entry.merit.min(worth.ceil());
    }
}

/// Standard error of a utility that is at most `most`, from how far evaluations scatter. A few evaluations that happen to
/// be equal would look certain, so a little of the widest scatter there is is mixed in, which fades with the cube of
/// their number.
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

/// Moves the best one to the front of moves that are in the order of their visits.
fn put_best_first(moves: &mut [MoveReport], color: Color, choice: &Choice) {
    let by_merit = |a: &&MoveReport, b: &&MoveReport| a.merit.total_cmp(&b.merit);
    let Some(most) = moves.iter().max_by(by_merit).map(|it| it.merit).filter(|&it| it > 0.0) else { return };
    // The first of equals.
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

/// Appends the most visited moves from a node on, at most so many that a cycle does no harm.
fn follow(table: &NodeTable, mut id: NodeId, variation: &mut Vec<(Move, (u32, u32))>) {
    const LONGEST: usize = 40;
    while variation.len() < LONGEST {
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
            utility: value,
            utility_error: value_error,
            merit: visits as f32,
            prior,
            rave,
            variation,
            variation_visits,
            variation_node_visits,
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
