//! What an analyst answers.

use kosumi_eval::DetailedPrediction;
use kosumi_go::board::{BoardSize, Color, Key, Move};
use kosumi_net::Prediction;
use kosumi_search::MoveReport;

/// What is expected of a position, averaged over what was searched behind it. Black's view.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Expectation {
    /// Win less loss, in `[-1, 1]`.
    pub result: f32,
    /// The probability of no result.
    pub no_result: f32,
    /// Points by which Black leads.
    pub lead: f32,
    /// The score at the end.
    pub score_mean: f32,
    /// Its standard deviation.
    pub score_stdev: f32,
    /// What the search maximises: a win for certain counts 1, and points are added to it.
    pub utility: f32,
    /// Owner of every point in the order of [`BoardSize::points`], in `[-1, 1]`; empty if nobody asked.
    pub owners: Vec<f32>,
    /// How far the owners scatter; empty if nobody asked.
    pub owners_stdev: Vec<f32>,
}

/// A move that was searched.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveAnalysis {
    /// What the search counted.
    pub report: MoveReport,
    /// The network's prior, at the temperature of the root.
    pub prior: f32,
    /// How probably people play it, if anything is known of them.
    pub human_prior: Option<f32>,
    /// What is expected after it.
    pub expectation: Expectation,
    /// Summed weight of the evaluations behind the position after it, and the share of the visits of this move in it.
    pub weights: [f32; 2],
    /// Half the width of a confidence interval around `utility`: five standard errors, 2.5 times the largest utility after
    /// one visit.
    pub utility_radius: f32,
    /// The move of which this is the image: nothing was searched here, all is copied.
    pub symmetry_of: Option<Move>,
}

/// What a network of human play says of the position. Black's view.
#[derive(Clone, PartialEq, Debug)]
pub struct PeopleView {
    /// The prediction.
    pub prediction: Prediction,
}

/// The answer to a [`Question`](super::Question).
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Columns and rows.
    pub size: BoardSize,
    /// Whose turn it is.
    pub to_move: Color,
    /// Visits of the position, its own evaluation included.
    pub visits: u32,
    /// Summed weight of all evaluations.
    pub weight: f32,
    /// What is expected.
    pub root: Expectation,
    /// What the network alone expects.
    pub raw: DetailedPrediction,
    /// Moves, the best first; symmetric copies behind their original.
    pub moves: Vec<MoveAnalysis>,
    /// The network's probability of every legal move, without temperature: they sum to 1.
    pub policy: Vec<(Move, f32)>,
    /// What people would do.
    pub people: Option<PeopleView>,
    /// The largest utility.
    pub utility_most: f32,
    /// Equal for the same stones, player and ko ban; the second for symmetric positions, too.
    pub hashes: [Key; 2],
}

impl PeopleView {
    /// How probably people make each move; 0 if it is illegal.
    pub fn priors(&self, size: BoardSize) -> impl Iterator<Item = (Move, f32)> + '_ {
        size.points().map(Move::Play).chain([Move::Pass]).map(move |mv| (mv, self.prior(size, mv)))
    }

    /// The same of one move.
    pub(super) fn prior(&self, size: BoardSize, mv: Move) -> f32 {
        match mv {
            Move::Play(point) => self.prediction.policy[kosumi_net::input::index(size, point)],
            Move::Pass => self.prediction.pass,
        }
    }
}
