//! Numbers with their errors.

use kosumi_go::board::Color;

/// A number and its standard error.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Estimate {
    /// The number.
    pub mean: f32,
    /// Its standard error.
    pub error: f32,
}

impl Estimate {
    /// By how much `self` is better than `other` for a player, if both are Black's.
    pub(super) fn better_than(self, other: Estimate, color: Color) -> Estimate {
        Estimate {
            mean: (self.mean - other.mean) * color.sign() as f32,
            error: self.error.hypot(other.error),
        }
    }

    /// Is the number further from 0 than chance explains?
    pub fn is_sure(self) -> bool {
        self.mean.abs() >= SURE_ERRORS * self.error
    }

    /// A loss: what is below nothing is chance.
    pub(super) fn at_least_nothing(self) -> Estimate {
        Estimate { mean: self.mean.max(0.0), ..self }
    }
}

/// A loss is called sure at this many standard errors: about one in 160 moves as good as the first choice gets there
/// by chance, one in a long game.
const SURE_ERRORS: f32 = 2.5;
