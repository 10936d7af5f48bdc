//! Estimates with standard errors.

use kosumi_go::board::Color;

/// Number with its standard error.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Estimate {
    /// The number.
    pub mean: f32,
    /// Its standard error.
    pub error: f32,
}

impl Estimate {
    /// Returns the advantage of `self` over `other` for `color`. Both estimates must be Black's.
    pub(super) fn better_than(self, other: Estimate, color: Color) -> Estimate {
        Estimate {
            mean: (self.mean - other.mean) * color.sign() as f32,
            error: self.error.hypot(other.error),
        }
    }

    /// Returns true if the number is further above 0 than chance explains.
    pub fn is_sure(self) -> bool {
        self.mean.abs() >= SURE_ERRORS * self.error
    }

    /// Returns the estimate with its error multiplied by a factor.
    pub(super) fn widened(self, factor: f32) -> Estimate {
        Estimate { error: factor * self.error, ..self }
    }

    /// Returns the number as a loss. A negative loss is due to chance and becomes 0.
    pub(super) fn at_least_nothing(self) -> Estimate {
        Estimate { mean: self.mean.max(0.0), ..self }
    }
}

/// Number of standard errors from which a loss counts as sure: its 80 % interval does not contain 0.
const SURE_ERRORS: f32 = 1.28;
