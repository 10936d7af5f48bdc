//! Simulations that choose moves by other priors, for instance by the moves that people would play.
//!
//! Moves that people play and the engine dislikes would hardly be searched. Some simulations therefore choose the move
//! of the root by a formula with those priors ([`RootExploration`]), so that the search also knows the value of these
//! moves. Others do so at positions below the root ([`TreeExploration`]), so that the search expects what people do.
//!
//! CITE: KataGo's documentation of its analysis engine and the comments of its configuration for human play, for the
//! idea and for the names and the meaning of the parameters.

use kosumi_eval::{Evaluator, Prior};
use kosumi_go::board::{ByColor, Move, PointMap};
use kosumi_go::game::Line;
use std::fmt;

/// Simulations that choose the root's move by other priors.
#[derive(Clone, PartialEq, Debug)]
pub struct RootExploration {
    /// Probability of each move. Moves that are not listed are never chosen.
    pub priors: Vec<(Move, f32)>,
    /// Share of simulations, in `[0, 1]`, that choose by these priors and do not count at the root: its value and the
    /// visits of its moves stay unchanged, and only the nodes below learn. A larger share than [`MAX_WEIGHTLESS`] is
    /// reduced to it, so that a limit on visits is reached.
    pub weightless: f32,
    /// Share of simulations, in `[0, 1]`, that choose by these priors and count like all others.
    pub weightful: f32,
    /// Weight of the priors against the values of the moves. Its effect fades with the square root of the visits.
    pub cpuct: f32,
    /// Weight of the priors that never fades: moves that are worse than the best one by this amount are still searched.
    pub cpuct_permanent: f32,
}

/// Shares of simulations that choose by other priors.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ExplorationShares {
    /// Share of the simulations at a position, in `[0, 1]`, that choose by these priors and count neither there nor at
    /// the positions before it: their values and visits stay unchanged, and only the nodes below learn. A larger share
    /// than [`MAX_WEIGHTLESS`] is reduced to it.
    pub weightless: f32,
    /// Share of the simulations at a position, in `[0, 1]`, that choose by these priors and count like all others.
    pub weightful: f32,
}

impl ExplorationShares {
    /// Returns whether no simulation chooses by other priors.
    pub fn is_none(&self) -> bool {
        self.weightless + self.weightful <= 0.0
    }

    /// Draws the kind of a simulation: `None` for a usual one, otherwise whether it counts. `unit` is a random number
    /// in `[0, 1)`.
    pub(super) fn draw(&self, unit: f32) -> Option<bool> {
        let weightless = self.weightless.min(MAX_WEIGHTLESS);
        if unit < weightless {
            Some(false)
        } else if unit < weightless + self.weightful {
            Some(true)
        } else {
            None
        }
    }
}

/// Source of the probabilities of moves. Every evaluator with probabilities is one.
pub trait PriorSource: Send + Sync {
    /// Appends the legal moves of the position at the end of a line, with their probabilities.
    fn priors(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>);

    /// Returns a copy for another worker.
    fn copy(&self) -> Box<dyn PriorSource>;
}

impl<E: Evaluator + Sync + 'static> PriorSource for E {
    fn priors(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        self.expand(line, moves);
    }

    fn copy(&self) -> Box<dyn PriorSource> {
        Box::new(self.clone())
    }
}

/// Simulations that choose moves below the root by other priors.
pub struct TreeExploration {
    /// Shares at positions with this side to move.
    pub shares: ByColor<ExplorationShares>,
    /// See [`RootExploration::cpuct`].
    pub cpuct: f32,
    /// See [`RootExploration::cpuct_permanent`].
    pub cpuct_permanent: f32,
    /// Source of the priors. Called only where a simulation chooses by them.
    pub source: Box<dyn PriorSource>,
}

impl TreeExploration {
    /// Returns everything except the priors on which the statistics of a search depend.
    pub fn parameters(&self) -> (ByColor<ExplorationShares>, [f32; 2]) {
        (self.shares, [self.cpuct, self.cpuct_permanent])
    }
}

impl fmt::Debug for TreeExploration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeExploration").field("kind", &self.parameters()).finish_non_exhaustive()
    }
}

/// The priors of one position, indexed by move.
pub(super) struct Priors {
    moves: Vec<(Move, Prior)>,
    points: PointMap<f32>,
    pass: f32,
}

impl Default for Priors {
    fn default() -> Priors {
        Priors { moves: Vec::new(), points: PointMap::filled(0.0), pass: 0.0 }
    }
}

impl Priors {
    /// Loads the priors of the position at the end of a line.
    pub(super) fn load(&mut self, prior_source: &mut dyn PriorSource, line: &Line<'_>) {
        self.points.fill(0.0);
        self.pass = 0.0;
        self.moves.clear();
        prior_source.priors(line, &mut self.moves);
        for &(mv, prior) in &self.moves {
            *slot(&mut self.points, &mut self.pass, mv) = prior.probability();
        }
    }

    /// Returns the probability of a move and sets it to 0.
    pub(super) fn take(&mut self, mv: Move) -> f32 {
        std::mem::take(slot(&mut self.points, &mut self.pass, mv))
    }

    /// Returns the most probable of the moves that were not taken; the first one among equals.
    pub(super) fn likeliest_untaken(&mut self, permits: impl Fn(Move) -> bool) -> Option<(Move, f32)> {
        let mut best: Option<(Move, f32)> = None;
        for &(mv, _) in &self.moves {
            let prior = *slot(&mut self.points, &mut self.pass, mv);
            if prior > best.map_or(0.0, |(_, most)| most) && permits(mv) {
                best = Some((mv, prior));
            }
        }
        best
    }
}

fn slot<'p>(points: &'p mut PointMap<f32>, pass: &'p mut f32, mv: Move) -> &'p mut f32 {
    match mv {
        Move::Play(point) => &mut points[point],
        Move::Pass => pass,
    }
}

/// Largest share of simulations that do not count.
pub const MAX_WEIGHTLESS: f32 = 0.95;

/// A move that may be chosen.
pub(super) struct Candidate {
    pub(super) prior: f32,
    /// Number of simulations through the position after the move, including those that do not count.
    pub(super) visits: u32,
    /// Value for the side to move. For a move without visits, the value of the position.
    pub(super) value: f32,
}

impl Candidate {
    /// Returns the urgency of the move, with `total` visits of all moves together and with these weights of its prior,
    /// as in [`RootExploration`].
    pub(super) fn urgency(&self, cpuct: f32, cpuct_permanent: f32, total: u32) -> f32 {
        if self.prior <= 0.0 {
            return f32::NEG_INFINITY;
        }
        let scale = cpuct * (total as f32 + 0.01).sqrt() + cpuct_permanent * total as f32;
        self.value + scale * self.prior / (1.0 + self.visits as f32)
    }
}

impl RootExploration {
    /// Draws the kind of a simulation, like [`ExplorationShares::draw`].
    pub(super) fn draw(&self, unit: f32) -> Option<bool> {
        ExplorationShares { weightless: self.weightless, weightful: self.weightful }.draw(unit)
    }

    /// Returns the prior of a move.
    pub(super) fn prior(&self, mv: Move) -> f32 {
        self.priors.iter().find(|(known, _)| *known == mv).map_or(0.0, |&(_, prior)| prior)
    }

    /// Returns the urgency of a move, with `total` visits of all moves together.
    pub(super) fn urgency(&self, candidate: &Candidate, total: u32) -> f32 {
        candidate.urgency(self.cpuct, self.cpuct_permanent, total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exploration(weightless: f32, weightful: f32) -> RootExploration {
        RootExploration {
            priors: vec![(Move::Pass, 0.25)],
            weightless,
            weightful,
            cpuct: 1.0,
            cpuct_permanent: 0.0,
        }
    }

    #[test]
    fn shares_are_drawn_one_after_the_other() {
        let it = exploration(0.25, 0.5);
        assert_eq!(
            [0.0, 0.24, 0.26, 0.74, 0.76].map(|unit| it.draw(unit)),
            [Some(false), Some(false), Some(true), Some(true), None]
        );
        assert_eq!(exploration(1.0, 0.0).draw(0.99), None, "some simulations always count");
    }

    #[test]
    fn probable_rarely_visited_moves_are_urgent() {
        let it = exploration(0.5, 0.0);
        let urgency = |prior, visits, value| it.urgency(&Candidate { prior, visits, value }, 99);
        assert!(urgency(0.5, 9, 0.0) > urgency(0.25, 9, 0.0));
        assert!(urgency(0.5, 9, 0.0) > urgency(0.5, 19, 0.0));
        assert!(urgency(0.5, 9, 0.1) > urgency(0.5, 9, 0.0));
        assert_eq!(urgency(0.0, 0, 1.0), f32::NEG_INFINITY);
        assert!((urgency(0.5, 9, 0.0) - 99.01f32.sqrt() * 0.05).abs() < 1e-6);
        let permanent = RootExploration { cpuct: 0.0, cpuct_permanent: 2.0, ..it };
        let found = permanent.urgency(&Candidate { prior: 0.5, visits: 9, value: 0.0 }, 99);
        assert!((found - 9.9).abs() < 1e-5);
    }
}
