//! Random GTP sessions against a slow, plain model of the game: shared by the simulation of the commands and by the
//! fuzz target `gtp_model`.
//!
//! [`run`] turns choices, which follow from a seed or from the bytes of a fuzzer, into a session: mostly valid
//! commands, on boards so small that stones meet. The commands and the engine are the real ones, without a network. Time
//! is simulated: each look at the clock takes two milliseconds, and input interrupts a search at a look that is drawn,
//! so that with one thread everything follows from the choices.
//!
//! The model ([`game`]) shares no code with `kosumi_go` but the names of points, colours and moves. After every
//! command it says what a controller must see:
//!
//! * whether the command succeeds, and with which message it fails if the protocol names one;
//! * size, stones, captures, komi, rules, handicap, side to move, all moves so far;
//! * whether some moves are legal, and now and then all legal moves of both sides;
//! * after a refused command: the same game, position key, record and revision as before.
//!
//! Moves of the engine are learned from its responses, and must be legal. So must every move and variation of an
//! analysis, and they must respect `avoid` and `allow`. Scores are known where no stone is judged: area scoring without
//! tax and without agreement on dead stones. Otherwise the score must be the sum of the status lists, which must divide
//! the stones among them. A record that is saved and loaded gives the same game, and has the same position key and text.
//! The model also writes records itself, which set up stones in the middle and leave out rules and komi.
//!
//! The model leaves open:
//!
//! * which moves the engine chooses, when it resigns, and what its analysis says about values;
//! * which stones are dead, and scores with a tax of two points for each group, which the lists cannot show;
//! * the effects of time settings, other than on the course of searches;
//! * the text of messages that the protocol does not name.

mod check;
mod game;
mod record;
#[allow(dead_code, reason = "the board is shared with other tests")]
#[path = "../../../go/tests/rules/reference.rs"]
mod reference;
mod rules;
mod search;
mod session;

pub(crate) use session::run;

/// Source of the choices that make a session.
pub(crate) trait Choices {
    /// Returns a number below `bound`, which is not 0.
    fn below(&mut self, bound: u32) -> u32;

    /// Called before each command. Returns whether the session should end.
    fn is_spent(&mut self) -> bool;

    /// Returns whether searches may have two threads. The session does not follow from the choices alone then.
    fn allows_threads(&self) -> bool;
}
