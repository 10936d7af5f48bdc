//! Statistics of playing strength from game results: pure arithmetic.
//!
//! All scores are those of one engine, in points per game: a win is 1, a draw ½, a loss 0. Two units can be counted:
//!
//! * **games** ([`Tally`], *trinomial*): correct if the games are independent;
//! * **pairs** of games with the same opening and swapped colours ([`PairTally`], *pentanomial*: 0, ½, 1, 1½ or 2 points).
//!   An opening that favours one colour gives opposite results in the two games of a pair. Pairs then vary less than
//!   single games, and their interval is narrower and still correct.
//!
//! CITE: Van den Bergh, "Comments on Normalized Elo" (2020) and the pages of the Stockfish testing framework: on why
//! pairs are the unit to count.
//!
//! Uses no other module of this crate. Its tests use `rng`.

mod intervals;
mod sprt;

pub use intervals::{Interval, PairTally, Tally, mean_and_error};
pub use sprt::{Sprt, Verdict};
