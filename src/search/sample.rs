//! Samples of positions from a search's own tree, for training networks: a search evaluates many positions that no game
//! reaches.
//!
//! CITE: Ross, Gordon and Bagnell, "A Reduction of Imitation Learning and Structured Prediction to No-Regret Online
//! Learning" (2011): a learner should be trained on the distribution of inputs that it will meet.

use super::Search;
use kosumi_eval::Evaluator;
use kosumi_go::board::Move;
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;

/// Largest length of a path. The graph may have cycles.
const MAX_PATH: usize = 64;

impl<E: Evaluator + Sync> Search<E> {
    /// Returns the moves of a simulation from the game's position to the position that it evaluated. All simulations
    /// from there are equally likely. The path is empty if the game's position itself was evaluated, or if the position
    /// is unknown.
    pub fn sample_path(&self, game: &Game, rng: &mut Rng) -> Vec<Move> {
        let mut path = Vec::new();
        let mut next = self.table().find(game.graph_key());
        while let Some(id) = next.filter(|_| path.len() < MAX_PATH) {
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
