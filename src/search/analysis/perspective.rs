//! Perspective of an analysis.

use super::{Analysis, Expectation, MoveAnalysis, RawView};
use kosumi_go::board::Color;

impl Analysis {
    /// Returns the analysis from the perspective of `side`: win rates, utilities, leads, scores and owners are
    /// converted if it was the opponent's. Bounds stay pessimistic for the side to move.
    #[must_use]
    pub fn seen_by(mut self, side: Color) -> Analysis {
        if side != self.perspective {
            self.perspective = side;
            turn(&mut self.root);
            self.raw.iter_mut().for_each(turn_raw);
            self.human.iter_mut().for_each(|human| turn_raw(&mut human.values));
            self.moves.iter_mut().for_each(turn_move);
        }
        self
    }

    /// Returns the analysis from the perspective of the side to move.
    #[must_use]
    pub fn seen_by_mover(self) -> Analysis {
        let side = self.to_move;
        self.seen_by(side)
    }
}

/// Negates a number. 0 stays 0, because −0 would be printed with a sign.
fn negate(number: &mut f32) {
    *number = 0.0 - *number;
}

fn complement(probability: &mut f32) {
    *probability = 1.0 - *probability;
}

fn turn(expectation: &mut Expectation) {
    complement(&mut expectation.win_rate);
    negate(&mut expectation.utility);
    negate(&mut expectation.lead);
    negate(&mut expectation.score_mean);
    expectation.owners.iter_mut().for_each(|owners| owners.mean.iter_mut().for_each(negate));
}

fn turn_raw(raw: &mut RawView) {
    complement(&mut raw.win_rate);
    negate(&mut raw.lead);
    negate(&mut raw.score_mean);
}

fn turn_move(entry: &mut MoveAnalysis) {
    turn(&mut entry.expectation);
    complement(&mut entry.win_rate_bound);
    negate(&mut entry.utility_bound);
}
