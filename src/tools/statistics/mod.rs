//! What a number of games says about strength: pure arithmetic.
//!
//! All scores are one engine's, in points per game: a win is 1, a draw ½, a loss 0. Two units can be counted:
//!
//! * **games** ([`Tally`], *trinomial*): right if the games have nothing to do with each other;
//! * **pairs** of games with the same opening and swapped colours ([`Pairs`], *pentanomial*: 0, ½, 1, 1½ or 2 points).
//!   An opening that favours one colour makes the two results of a pair opposite to each other, so that pairs vary
//!   less than single games do, and the interval that counts them is narrower and still right.
//!
//! CITE: Van den Bergh, "Comments on Normalized Elo" (2020) and the pages of the Stockfish testing framework: why
//! pairs are the unit to count.
//!
//! Uses nothing of this crate but `rng`, in tests.

mod intervals;
mod sprt;

pub use intervals::{Interval, Pairs, Tally, mean_and_error};
pub use sprt::{Sprt, Verdict};
