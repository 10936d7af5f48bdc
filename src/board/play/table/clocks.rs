//! Clocks of a game. No function here reads the time; it is an argument.

use super::{GameTable, Phase};
use crate::words::color_letter;
use kosumi_engine::time::TimeControl;
use kosumi_go::board::{ByColor, Color};
use std::time::Duration;

impl GameTable {
    /// Starts the clock of the side to move. Clocks run from the first move on.
    pub(super) fn start_clock(&mut self, now: Duration) {
        let is_timed = self.clocks[Color::Black].control() != TimeControl::None;
        let runs = is_timed
            && self.phase == Phase::Playing
            && !self.is_paused
            && !self.is_study()
            && !self.game.records().is_empty();
        self.turn_began = runs.then_some(now);
    }

    /// Ends the game if the time of the side to move has run out. Returns whether it has run out.
    pub(in crate::play) fn check_flag(&mut self, now: Duration) -> bool {
        let (Phase::Playing, Some(began)) = (&self.phase, self.turn_began) else { return false };
        let color = self.game.to_move();
        let mut clock = self.clocks[color];
        if clock.spend(now.saturating_sub(began)) {
            return false;
        }
        self.clocks[color] = clock;
        self.end(format!("{}+T", color_letter(color.opponent())));
        true
    }

    /// Returns the time at which the side to move runs out of time; `None` if no clock runs.
    pub(in crate::play) fn flag_time(&self) -> Option<Duration> {
        let began = self.turn_began?;
        let clock = &self.clocks[self.game.to_move()];
        let whole = match clock.control() {
            TimeControl::ByoYomi { period, .. } if clock.is_overtime() => {
                clock.left() + period * clock.stones_or_periods().saturating_sub(1)
            }
            TimeControl::ByoYomi { period, periods, .. } => clock.left() + period * periods,
            _ => clock.left(),
        };
        Some(began + whole)
    }

    /// Pauses or resumes engines and clocks.
    pub(in crate::play) fn pause(&mut self, is_paused: bool, now: Duration) {
        if self.is_paused == is_paused {
            return;
        }
        // A side whose time has already run out loses, even if the pause comes first.
        self.check_flag(now);
        self.is_paused = is_paused;
        if is_paused {
            self.pause_clock(now);
        } else {
            self.start_clock(now);
        }
    }

    /// Stops the clock, and deducts the time that the side to move has used.
    pub(super) fn pause_clock(&mut self, now: Duration) {
        if let Some(began) = self.turn_began.take() {
            self.clocks[self.game.to_move()].deduct(now.saturating_sub(began));
        }
    }

    /// Returns the time control and each player's time left, with stones or periods, for an engine.
    pub(in crate::play) fn time_left(
        &self,
        now: Duration,
    ) -> Option<(TimeControl, ByColor<(Duration, u32)>)> {
        let control = self.clocks[Color::Black].control();
        if control == TimeControl::None {
            return None;
        }
        let left = |color: Color| {
            let mut clock = self.clocks[color];
            if let Some(began) = self.turn_began.filter(|_| color == self.game.to_move()) {
                clock.deduct(now.saturating_sub(began));
            }
            (clock.left(), clock.stones_or_periods())
        };
        Some((control, ByColor::new(left(Color::Black), left(Color::White))))
    }
}
