//! Moves as numbers.

/// The index of a point of the ground, or one of the constants here.
pub(super) type Step = u16;
/// Passing.
pub(super) const PASS: Step = u16::MAX - 1;
/// A threat outside that was answered: a ko may be taken back.
pub(super) const THREAT: Step = u16::MAX - 2;
/// No move.
pub(super) const NO_MOVE: Step = u16::MAX;
