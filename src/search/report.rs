//! What a search found, as plain data.

use super::NodeTable;
use super::node::{Node, NodeId, from_fixed};
use super::table::TableUse;
use super::worker::Counters;
use crate::board::{Color, Move};
use crate::eval::{Ownership, Prior};
use crate::game::Game;

/// One move at the root.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveReport {
    /// The move.
    pub mv: Move,
    /// Simulations through it.
    pub visits: u32,
    /// Expected result for Black after it, in `[-1, 1]`; the root's if it has no visits.
    pub value: f32,
    /// Standard error of the value.
    pub value_error: f32,
    /// Expected score for Black after it, komi included; the root's if it has no visits.
    pub score: f32,
    /// Prior knowledge.
    pub prior: Prior,
    /// RAVE games and Black's mean value in them.
    pub rave: (u32, f32),
    /// The move and the best answers to it.
    pub variation: Vec<Move>,
    /// Simulations through each move of the variation.
    pub variation_visits: Vec<u32>,
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
    /// Moves at the root, the most visited first.
    pub moves: Vec<MoveReport>,
    /// Who owned which point at the end of this search's evaluations.
    pub ownership: Ownership,
    /// How full the node table is.
    pub usage: TableUse,
    /// Descents that met a node of their own path again.
    pub cycles: u32,
    /// Descents that met a node which another path had created: what sharing gained.
    pub transpositions: u32,
    /// Longest descent.
    pub depth: u32,
}

impl SearchReport {
    /// What the table knows of the game's node, and what the workers counted.
    pub(super) fn new(
        table: &NodeTable,
        root: NodeId,
        game: &Game,
        counters: &Counters,
        ownership: Ownership,
    ) -> SearchReport {
        let node = table.node(root);
        SearchReport {
            to_move: game.to_move(),
            visits: node.visits(),
            playouts: counters.playouts,
            value: node.value(),
            value_error: value_error(node),
            score: node.score(),
            score_error: counters.score_error() as f32,
            moves: move_reports(table, node),
            ownership,
            usage: table.usage(),
            cycles: counters.cycles,
            transpositions: counters.transpositions,
            depth: counters.depth,
        }
    }

    /// The most visited move; a pass if there is none.
    pub fn best_move(&self) -> Move {
        self.moves.first().map_or(Move::Pass, |best| best.mv)
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

/// The moves at a node, the most visited first; equal ones in the order of RAVE games, then of creation.
fn move_reports(table: &NodeTable, root: &Node) -> Vec<MoveReport> {
    let mut moves: Vec<MoveReport> = table
        .edges(root)
        .iter()
        .map(|edge| {
            let (visits, seen) = edge.visits_and_seen();
            let mut variation = vec![(edge.mv(), visits)];
            // Its score and value may come from more simulations than went this way.
            let known = edge.child().map_or(root, |child| table.node(child));
            if let Some(child) = edge.child() {
                follow(table, child, &mut variation);
            }
            let (variation, variation_visits) = variation.into_iter().unzip();
            MoveReport {
                mv: edge.mv(),
                visits,
                value: if visits > 0 { from_fixed(seen) } else { root.value() },
                value_error: value_error(known),
                score: known.score(),
                prior: edge.prior(),
                rave: edge.rave(),
                variation,
                variation_visits,
            }
        })
        .collect();
    moves.sort_by_key(|entry| std::cmp::Reverse((entry.visits, entry.rave.0)));
    moves
}

/// Appends the most visited moves from a node on, at most so many that a cycle does no harm.
fn follow(table: &NodeTable, mut id: NodeId, variation: &mut Vec<(Move, u32)>) {
    const LONGEST: usize = 40;
    while variation.len() < LONGEST {
        let best = table.edges(table.node(id)).iter().max_by_key(|edge| edge.visits());
        let Some(edge) = best.filter(|edge| edge.visits() > 0) else { return };
        variation.push((edge.mv(), edge.visits()));
        let Some(child) = edge.child() else { return };
        id = child;
    }
}
