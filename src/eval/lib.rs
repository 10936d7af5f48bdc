#![doc = include_str!("README.md")]
//!
//! Evaluators, which compute the value of a position and priors of its moves.
//!
//! The search is independent of the kind of evaluation and uses it through the trait [`Evaluator`]. Each worker owns an
//! evaluator. Clones may share data internally.

pub mod cache;
mod canonical;
pub mod network;
pub mod outlook;
pub mod playouts;
pub mod prior;
pub mod stub;
pub mod survival;

pub use cache::{CachedEvaluation, EvaluationCache};
pub use network::{NetworkEvaluator, NetworkSettings, NetworkView};
pub use outlook::{DetailedPrediction, StoredPrediction};
pub use playouts::{PlayoutSettings, Playouts};
pub use prior::{EquivalentVisits, Prior};
pub use survival::GroupSurvival;

use kosumi_go::board::{BoardSize, Color, Move, Point, PointMap};
use kosumi_go::game::Line;
use kosumi_go::rng::Rng;
use kosumi_go::settled;

/// Evaluation of a position, from Black's perspective.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Evaluation {
    /// Expected result for Black, in `[-1, 1]`.
    pub value: f32,
    /// Expected lead of Black in points, komi included: the change of komi that would make the game even.
    pub score: f32,
    /// Expected final score for Black in points. If one side is far ahead, its magnitude exceeds that of `score`.
    pub score_mean: f32,
    /// Standard deviation of the final score in points; 0 if unknown.
    pub score_deviation: f32,
    /// Probability that the game has no result.
    pub no_result: f32,
    /// Expected changes of value and score within the next few moves, if the evaluator predicts them.
    pub errors: Option<ShorttermErrors>,
}

/// Expected errors of an evaluation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShorttermErrors {
    /// Expected error of the value.
    pub value: f32,
    /// Expected error of the score, in points.
    pub score: f32,
}

impl Evaluation {
    /// Creates an evaluation from value and score alone, both Black's.
    pub const fn plain(value: f32, score: f32) -> Evaluation {
        Evaluation { value, score, score_mean: score, score_deviation: 0.0, no_result: 0.0, errors: None }
    }

    /// Creates an evaluation that is final: the result and the score of a finished game. Its errors are zero if the
    /// evaluator predicts errors, so that evaluations of one search can be weighted against each other.
    pub fn certain(score: f32, errors: Option<ShorttermErrors>) -> Evaluation {
        let none = ShorttermErrors { value: 0.0, score: 0.0 };
        Evaluation { errors: errors.map(|_| none), ..Evaluation::plain(settled::sign(score), score) }
    }
}

/// Evaluator of the position at the end of a line.
///
/// Invariant: evaluations are deterministic. They depend only on the line, the random generator and the earlier calls,
/// and not on a clock.
pub trait Evaluator: Clone + Send {
    /// Evaluates the position. The search calls it once per simulation, at the leaf.
    ///
    /// An evaluator that computes priors together with the value also appends the moves to `moves`, as
    /// [`expand`](Evaluator::expand) does. Other evaluators do not change `moves`, and the search calls `expand` when
    /// it needs them. After two passes, where a line ends, no evaluator appends moves.
    fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation;

    /// Appends the moves worth searching, each with a prior. The search calls it when it expands a node whose
    /// evaluation came without moves. All moves must be legal, and there must be at least one.
    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>);

    /// Appends the moves of the root of a search, possibly with other priors than [`expand`](Evaluator::expand). They
    /// replace the moves of the node.
    fn expand_root(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        self.expand(line, moves);
    }

    /// Returns whether [`expand_root`](Evaluator::expand_root) differs from [`expand`](Evaluator::expand).
    fn has_root_priors(&self) -> bool {
        false
    }

    /// Returns the number of different views of the root of a search that the evaluator supports.
    fn root_views(&self, _size: BoardSize) -> u32 {
        1
    }

    /// Appends the moves of the root with the priors of one view. View 0 is that of
    /// [`expand_root`](Evaluator::expand_root). Each other view costs an evaluation.
    fn expand_root_view(&mut self, line: &Line<'_>, _view: u32, moves: &mut Vec<(Move, Prior)>) {
        self.expand_root(line, moves);
    }

    /// Returns the first plays of the latest evaluation, for RAVE, or `None` if the evaluator does not use playouts.
    fn first_plays(&self) -> Option<&FirstPlays> {
        None
    }

    /// Returns the owners of all points, summed over all evaluations of this worker since the start of the search, or
    /// `None` if the evaluator does not know them.
    fn ownership(&self) -> Option<&Ownership> {
        None
    }

    /// Returns the network's detailed prediction for the position at the end of a line, with the owners of the points,
    /// for reports. If `may_evaluate` is false, the network is not evaluated, and the result is `None` if the
    /// prediction is not cached. Always `None` without a network.
    fn outlook(&mut self, _line: &Line<'_>, _may_evaluate: bool) -> Option<StoredPrediction> {
        None
    }

    /// Returns the owners of the points by additional playouts from the position at the end of a line; `None` if the
    /// evaluator does not use playouts. The same position always gets the same result.
    fn ownership_by_playing(&self, _line: &Line<'_>) -> Option<Ownership> {
        None
    }

    /// Returns whether an evaluation takes about a millisecond or more. The search then checks its limits after each
    /// one.
    fn is_slow(&self) -> bool {
        false
    }

    /// Returns the settings of the network, if there is one. Evaluators in other processes need them to compute the
    /// same evaluations.
    fn network_settings(&self) -> Option<NetworkSettings> {
        None
    }

    /// Returns the evaluator with other settings of its network, or a clone if it has no network. The arithmetic does
    /// not change.
    #[must_use]
    fn with_network_settings(&self, _settings: &NetworkSettings) -> Self {
        self.clone()
    }
}

/// Colour and time of the first stone placed at each point.
#[derive(Clone, Debug)]
pub struct FirstPlays {
    /// 0 for none; otherwise `2 * when + colour + 1`, where `when` counts moves from the leaf.
    plays: PointMap<u16>,
}

impl Default for FirstPlays {
    fn default() -> FirstPlays {
        FirstPlays { plays: PointMap::filled(0) }
    }
}

impl FirstPlays {
    /// Clears all entries.
    pub fn clear(&mut self) {
        self.plays.fill(0);
    }

    /// Copies `other` without allocation.
    pub fn copy_from(&mut self, other: &FirstPlays) {
        self.plays.copy_from(&other.plays);
    }

    /// Records a stone placed at move `when`, unless the point has an entry.
    #[inline]
    pub fn record(&mut self, point: Point, color: Color, when: u16) {
        let entry = &mut self.plays[point];
        if *entry == 0 {
            *entry = Self::code(color, when);
        }
    }

    /// Records a stone placed before all recorded ones.
    #[inline]
    pub fn record_earlier(&mut self, point: Point, color: Color) {
        self.plays[point] = Self::code(color, 0);
    }

    #[inline]
    fn code(color: Color, when: u16) -> u16 {
        2 * when.min(u16::MAX / 2 - 2) + color as u16 + 1
    }

    /// Returns the colour and the move number of the first stone at a point, if there was one.
    #[inline]
    pub fn get(&self, point: Point) -> Option<(Color, u16)> {
        let code = self.plays[point].checked_sub(1)?;
        Some((if code & 1 == 0 { Color::Black } else { Color::White }, code / 2))
    }
}

/// Expected owner of every point, summed over evaluations: Black's share minus White's.
#[derive(Clone, Debug)]
pub struct Ownership {
    /// Sums in units of 1 / `unit`. They are integers so that the result does not depend on the order of addition.
    sums: PointMap<i32>,
    /// Contribution of an evaluation in which a point is certainly Black's. It is the same for all evaluations.
    unit: i32,
    count: u32,
}

impl Default for Ownership {
    fn default() -> Ownership {
        Ownership { sums: PointMap::filled(0), unit: 1, count: 0 }
    }
}

impl Ownership {
    /// Adds a final position. An owner is +1 for Black, −1 for White and 0 for neither.
    pub fn add(&mut self, owners: impl Iterator<Item = (Point, i32)>) {
        self.count += 1;
        for (point, owner) in owners {
            self.sums[point] += owner;
        }
    }

    /// Adds an evaluation with expected owners. `owners` has one entry per point in the order of [`BoardSize::points`],
    /// from −127 for White to 127 for Black.
    pub fn add_expected(&mut self, size: BoardSize, owners: &[i8]) {
        // Sixteen million evaluations fit into 32 bits.
        self.unit = i32::from(i8::MAX);
        self.count += 1;
        for (point, &owner) in size.points().zip(owners) {
            self.sums[point] += i32::from(owner);
        }
    }

    /// Adds the sums of another worker with the same evaluator.
    pub fn merge(&mut self, size: BoardSize, other: &Ownership) {
        if other.count > 0 {
            self.unit = other.unit;
        }
        self.count += other.count;
        for point in size.points() {
            self.sums[point] += other.sums[point];
        }
    }

    /// Returns the sums in the order of [`BoardSize::points`], the unit and the number of evaluations.
    pub fn to_parts(&self, size: BoardSize) -> (Vec<i32>, i32, u32) {
        (size.points().map(|point| self.sums[point]).collect(), self.unit, self.count)
    }

    /// Creates an ownership from the result of [`to_parts`](Self::to_parts), or `None` if there is not one sum per
    /// point or the unit is not positive.
    pub fn from_parts(size: BoardSize, sums: &[i32], unit: i32, count: u32) -> Option<Ownership> {
        let mut ownership = Ownership { unit, count, ..Ownership::default() };
        if sums.len() != size.area() || unit <= 0 {
            return None;
        }
        size.points().zip(sums).for_each(|(point, &sum)| ownership.sums[point] = sum);
        Some(ownership)
    }

    /// Returns the number of evaluations.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the mean owner of a point, in `[-1, 1]`, +1 for Black. It is 0 without evaluations.
    pub fn mean(&self, point: Point) -> f32 {
        if self.count == 0 { 0.0 } else { self.sums[point] as f32 / (self.count as f32 * self.unit as f32) }
    }
}
