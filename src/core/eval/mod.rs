//! Evaluators: a position in, what it is worth and which moves look good out.
//!
//! The search knows nothing of playouts; it asks an [`Evaluator`]. Each worker owns one; what workers share is the
//! evaluator's own business.

pub mod cache;
pub mod network;
pub mod outlook;
pub mod playouts;
pub mod prior;
pub mod stub;
pub mod survival;
mod symmetric;

pub use cache::{CachedEvaluation, EvaluationCache};
pub use network::{NetworkEvaluator, NetworkSettings, View};
pub use outlook::{Known, Outlook};
pub use playouts::{PlayoutSettings, Playouts};
pub use prior::{Prior, PriorGames};
pub use survival::Survival;

use crate::board::{BoardSize, Color, Move, Point, PointMap};
use crate::game::Line;
use crate::rng::Rng;
use crate::settled;

/// What a position is worth.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Evaluation {
    /// Expected result for Black, in `[-1, 1]`.
    pub value: f32,
    /// Expected score for Black in points, komi included: by how much komi would have to change for an even game.
    pub score: f32,
    /// Expected score at the end of the game, which is more than that for who is far ahead.
    pub score_mean: f32,
    /// Its standard deviation; 0 if nothing is known of it.
    pub score_deviation: f32,
    /// Probability that the game has no result.
    pub no_result: f32,
    /// How far value and score are expected to move within a few moves, if the evaluator can tell.
    pub errors: Option<ShorttermErrors>,
}

/// How far an evaluation is expected to be off.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShorttermErrors {
    /// Of the value.
    pub value: f32,
    /// Of the score, in points.
    pub score: f32,
}

impl Evaluation {
    /// An evaluation that knows value and score alone.
    pub const fn plain(value: f32, score: f32) -> Evaluation {
        Evaluation { value, score, score_mean: score, score_deviation: 0.0, no_result: 0.0, errors: None }
    }

    /// An evaluation that cannot change any more: the result and the score of a finished game. Errors are stated where the
    /// evaluator states them, so that evaluations of one search can be weighed against each other.
    pub fn certain(score: f32, errors: Option<ShorttermErrors>) -> Evaluation {
        let none = ShorttermErrors { value: 0.0, score: 0.0 };
        Evaluation { errors: errors.map(|_| none), ..Evaluation::plain(settled::sign(score), score) }
    }
}

/// Answers questions about the position at the end of a line.
///
/// Invariant: the same line, the same generator and the same earlier calls give the same answers; no clock is
/// read.
pub trait Evaluator: Clone + Send {
    /// What the position is worth. Called once for every simulation, at its leaf.
    ///
    /// An evaluator that learns the moves together with the value also appends them to `moves`, as
    /// [`expand`](Evaluator::expand) does. Others leave `moves` as it is, and are asked when the search needs them.
    /// So are all after two passes, where a line ends.
    fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation;

    /// Appends the moves worth searching, each with a prior. Called when a node is expanded whose moves did not come
    /// with an evaluation. All moves must be legal; there must be at least one.
    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>);

    /// The same for the position that a search begins with, where moves may be looked for with other priors. They
    /// then take the place of those that the node has.
    fn expand_root(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        self.expand(line, moves);
    }

    /// Does [`expand_root`](Evaluator::expand_root) say something else than [`expand`](Evaluator::expand)?
    fn has_root_priors(&self) -> bool {
        false
    }

    /// How many views of the position that a search begins with the evaluator can take.
    fn root_views(&self, _size: BoardSize) -> u32 {
        1
    }

    /// The moves of that position with the priors of one view; number 0 is that of
    /// [`expand_root`](Evaluator::expand_root). Each view is an evaluation more.
    fn expand_root_seen(&mut self, line: &Line<'_>, _view: u32, moves: &mut Vec<(Move, Prior)>) {
        self.expand_root(line, moves);
    }

    /// Who played where first in the latest evaluation, for RAVE; `None` if the evaluator does not play on.
    fn first_plays(&self) -> Option<&FirstPlays> {
        None
    }

    /// Who owned each point at the end, summed over all evaluations of this worker since the search began;
    /// `None` if the evaluator does not know.
    fn ownership(&self) -> Option<&Ownership> {
        None
    }

    /// What a network expects of the position at the end of a line, owners of the points included, for those who report
    /// more than a search needs. Unless `asks`, the network is not called: `None` if nothing is remembered. Always
    /// `None` without a network.
    fn outlook(&mut self, _line: &Line<'_>, _asks: bool) -> Option<Known> {
        None
    }

    /// Who owns each point when the position at the end of a line is played out; `None` if the evaluator does not play
    /// on. The same position always gets the same answer.
    fn ownership_by_playing(&self, _line: &Line<'_>) -> Option<Ownership> {
        None
    }

    /// Does an evaluation take about a millisecond or more? Then the search looks at its limits after each.
    fn is_slow(&self) -> bool {
        false
    }

    /// How a network is asked, if one is: what evaluators on other machines must be told to give the same answers.
    fn network_settings(&self) -> Option<NetworkSettings> {
        None
    }

    /// The same evaluator, asking its network in another way; as it is without a network. The arithmetic stays.
    #[must_use]
    fn asking_with(&self, _settings: &NetworkSettings) -> Self {
        self.clone()
    }
}

/// For every point, who placed the first stone there and when.
#[derive(Clone, Debug)]
pub struct FirstPlays {
    /// 0: nobody; otherwise `2 * when + colour + 1`, where `when` counts moves from the leaf.
    plays: PointMap<u16>,
}

impl Default for FirstPlays {
    fn default() -> FirstPlays {
        FirstPlays { plays: PointMap::filled(0) }
    }
}

impl FirstPlays {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.plays.fill(0);
    }

    /// Becomes equal to `other`, without taking new memory.
    pub fn copy_from(&mut self, other: &FirstPlays) {
        self.plays.copy_from(&other.plays);
    }

    /// Notes a stone at move `when`, unless the point has been played before.
    #[inline]
    pub fn note(&mut self, point: Point, color: Color, when: u16) {
        let entry = &mut self.plays[point];
        if *entry == 0 {
            *entry = Self::code(color, when);
        }
    }

    /// Notes a stone that came before everything noted so far.
    #[inline]
    pub fn note_earlier(&mut self, point: Point, color: Color) {
        self.plays[point] = Self::code(color, 0);
    }

    #[inline]
    fn code(color: Color, when: u16) -> u16 {
        2 * when.min(u16::MAX / 2 - 2) + color as u16 + 1
    }

    /// Who played there first and when, if anybody did.
    #[inline]
    pub fn get(&self, point: Point) -> Option<(Color, u16)> {
        let code = self.plays[point].checked_sub(1)?;
        Some((if code & 1 == 0 { Color::Black } else { Color::White }, code / 2))
    }
}

/// For every point, whose it is expected to be, summed over evaluations: Black's minus White's.
#[derive(Clone, Debug)]
pub struct Ownership {
    /// In units of 1 / `unit`, so that the sum does not depend on the order of addition.
    sums: PointMap<i32>,
    /// What an evaluation counts that is sure of Black. The same in all evaluations.
    unit: i32,
    count: u32,
}

impl Default for Ownership {
    fn default() -> Ownership {
        Ownership { sums: PointMap::filled(0), unit: 1, count: 0 }
    }
}

impl Ownership {
    /// Counts one more final position: `owner` is +1 for Black's points, −1 for White's, 0 for nobody's.
    pub fn add(&mut self, owners: impl Iterator<Item = (Point, i32)>) {
        self.count += 1;
        for (point, owner) in owners {
            self.sums[point] += owner;
        }
    }

    /// Counts one more evaluation that is not sure: `owners` in the order of [`BoardSize::points`], from −127 for
    /// White to 127 for Black.
    pub fn add_expected(&mut self, size: BoardSize, owners: &[i8]) {
        // Sixteen million of them fit.
        self.unit = i32::from(i8::MAX);
        self.count += 1;
        for (point, &owner) in size.points().zip(owners) {
            self.sums[point] += i32::from(owner);
        }
    }

    /// Adds what another worker counted with the same evaluator.
    pub fn merge(&mut self, size: BoardSize, other: &Ownership) {
        if other.count > 0 {
            self.unit = other.unit;
        }
        self.count += other.count;
        for point in size.points() {
            self.sums[point] += other.sums[point];
        }
    }

    /// The sums in the order of [`BoardSize::points`], what an evaluation counts that is sure, and how many there are.
    pub(crate) fn to_parts(&self, size: BoardSize) -> (Vec<i32>, i32, u32) {
        (size.points().map(|point| self.sums[point]).collect(), self.unit, self.count)
    }

    /// The inverse of [`to_parts`](Self::to_parts); `None` if there is not one sum for every point.
    pub(crate) fn from_parts(size: BoardSize, sums: &[i32], unit: i32, count: u32) -> Option<Ownership> {
        let mut ownership = Ownership { unit, count, ..Ownership::default() };
        if sums.len() != size.area() || unit <= 0 {
            return None;
        }
        size.points().zip(sums).for_each(|(point, &sum)| ownership.sums[point] = sum);
        Some(ownership)
    }

    /// Number of final positions.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Mean owner of a point in `[-1, 1]`, +1 for Black; 0 if nothing has been counted.
    pub fn mean(&self, point: Point) -> f32 {
        if self.count == 0 { 0.0 } else { self.sums[point] as f32 / (self.count as f32 * self.unit as f32) }
    }
}
