//! Moves as numbers.

/// Index of a point of the window, or one of the constants of this module.
pub(super) type MoveCode = u16;
/// A pass.
pub(super) const PASS: MoveCode = u16::MAX - 1;
/// A threat outside the region that was answered, so that a ko may be retaken.
pub(super) const THREAT: MoveCode = u16::MAX - 2;
/// Absence of a move.
pub(super) const NO_MOVE: MoveCode = u16::MAX;
