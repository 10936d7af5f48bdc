//! Counts made by the workers of a search.

/// Counts of one worker in one search.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counters {
    /// Completed simulations.
    pub playouts: u32,
    /// Sum of Black's scores, in points.
    pub score_sum: f64,
    /// Sum of the squares of these scores.
    pub score_square_sum: f64,
    /// Descents that ended in a repeated position.
    pub cycles: u32,
    /// Simulations that reached a node by a second path.
    pub transpositions: u32,
    /// Length of the longest descent, in plies.
    pub depth: u32,
    /// Number of times that a worker waited for another worker's evaluation.
    pub waits: u32,
}

impl Counters {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Counters) {
        self.playouts += other.playouts;
        self.score_sum += other.score_sum;
        self.score_square_sum += other.score_square_sum;
        self.cycles += other.cycles;
        self.transpositions += other.transpositions;
        self.waits += other.waits;
        self.depth = self.depth.max(other.depth);
    }

    /// Adds Black's score in one evaluation.
    pub fn add_score(&mut self, score: f32) {
        let score = f64::from(score);
        self.score_sum += score;
        self.score_square_sum += score * score;
    }

    fn score_mean(&self) -> f64 {
        self.score_sum / f64::from(self.playouts.max(1))
    }

    /// Returns the standard error of the mean score.
    pub(crate) fn score_error(&self) -> f64 {
        let count = f64::from(self.playouts.max(1));
        let mean = self.score_mean();
        ((self.score_square_sum / count - mean * mean).max(0.0) / count).sqrt()
    }
}
