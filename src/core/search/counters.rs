//! Counts made by the workers of a search.

/// Counts of one worker in one search.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counters {
    pub(crate) playouts: u32,
    pub(crate) score_sum: f64,
    pub(crate) score_square_sum: f64,
    pub(crate) cycles: u32,
    pub(crate) transpositions: u32,
    pub(crate) depth: u32,
    pub(crate) waits: u32,
}

impl Counters {
    pub(crate) fn add(&mut self, other: &Counters) {
        self.playouts += other.playouts;
        self.score_sum += other.score_sum;
        self.score_square_sum += other.score_square_sum;
        self.cycles += other.cycles;
        self.transpositions += other.transpositions;
        self.waits += other.waits;
        self.depth = self.depth.max(other.depth);
    }

    pub(crate) fn add_score(&mut self, score: f32) {
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
