//! Positions of a search's own tree, for networks to learn from: a search asks about many that no game comes to.
//!
//! CITE: Ross, Gordon and Bagnell, "A Reduction of Imitation Learning and Structured Prediction to No-Regret Online
//! Learning" (2011): who learns from a teacher should learn where it will be asked.

use super::Search;
use kosumi_eval::Evaluator;
use kosumi_go::board::Move;
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;

/// Longest path: there may be cycles in the graph.
const LONGEST: usize = 64;

impl<E: Evaluator + Sync> Search<E> {
    /// The moves of a simulation from the game's position to the one that it asked the evaluator about, drawn as if all
    /// simulations there were had the same chance; empty if it was the game's position itself, or if nothing is known.
    pub fn sample_path(&self, game: &Game, rng: &mut Rng) -> Vec<Move> {
        let mut path = Vec::new();
        let mut next = self.table().find(game.graph_key());
        while let Some(id) = next.filter(|_| path.len() < LONGEST) {
            let node = self.table().node(id);
            let followed: u32 = self.table().edges(node).map(|edge| edge.visits()).sum();
            let mut left = rng.below((followed + node.own_visits()).max(1));
            let step = self.table().edges(node).find(|edge| {
                let is_drawn = left < edge.visits();
                left = left.saturating_sub(edge.visits());
                is_drawn
            });
            next = step.and_then(|edge| edge.child());
            path.extend(step.filter(|_| next.is_some()).map(|edge| edge.mv()));
        }
        path
    }
}
