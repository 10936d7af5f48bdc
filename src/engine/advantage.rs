//! Uneven games: the doubling advantage that is passed to the network when one player has a head start.
//!
//! The player who gives a handicap is the stronger one and has to play accordingly, because safe play loses. The input
//! of the network states that this player has more simulations than the opponent. Their ratio depends on the head start
//! and on the course of the game.
//!
//! CITE: KataGo's `dynamicPlayoutDoublingAdvantageCapPerOppLead`, as in its configuration and its GTP program: the
//! points for a handicap stone, the steps, and the bounds.

use kosumi_go::board::{BoardSize, Color};
use kosumi_go::game::Game;
use kosumi_go::rules::Scoring;

/// Points for a handicap stone, under area and under territory scoring.
const POINTS_PER_STONE: [f32; 2] = [15.0, 14.0];
/// Komi of an even game.
const EVEN_KOMI: f32 = 7.0;
/// Boards with a side of this length or less get no advantage.
const SIDE_TOO_SMALL: usize = 7;
/// Maximum advantage. Networks have seen few larger ones in training.
const MAX_ADVANTAGE: f32 = 2.75;
/// Step of the advantage. Every change discards the statistics of searches, so it is not adjusted continuously.
const STEP: f32 = 0.125;
/// Expected results of the player without the head start, in `[-1, 1]`, that leave the advantage as it is.
const STABLE_RESULTS: std::ops::RangeInclusive<f32> = -0.9..=-0.5;

/// Returns the number of points by which Black is ahead before the first move after the handicap.
pub(super) fn head_start(game: &Game) -> f32 {
    let even = EVEN_KOMI - game.komi();
    match game.handicap() {
        0 | 1 => even,
        // White moves next, which makes up for one of the handicap stones.
        stones => {
            let worth = POINTS_PER_STONE[usize::from(game.rules().scoring == Scoring::Territory)];
            worth * (stones - 1) as f32 + even - game.white_bonus()
        }
    }
}

/// Returns the value of a point relative to a point on 19×19.
fn scale(size: BoardSize) -> f32 {
    // `libm` gives the same result on every machine.
    libm::powf(361.0 / size.area() as f32, 0.75)
}

/// Returns the maximum advantage of the player without the head start: `per_point` for every one of the `points` of the
/// head start beyond the first few, which are free.
fn max_advantage(size: BoardSize, points: f32, per_point: f32) -> f32 {
    let scale = scale(size);
    let free = (4.0 / scale).max(2.0);
    if size.columns().min(size.rows()) <= SIDE_TOO_SMALL || points < free {
        return 0.0;
    }
    let most = MAX_ADVANTAGE.min(per_point * (points - free) * scale);
    (most / STEP).round() * STEP
}

/// Doubling advantage in the current game.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct GameAdvantage {
    /// Number of doublings of White's simulations.
    white: f32,
    /// Black's expected result in the latest search for a move, in `[-1, 1]`.
    expected: Option<f32>,
}

impl GameAdvantage {
    /// Returns Black's advantage as a number of doublings; negative if White has the advantage.
    pub(super) fn black_advantage(&self) -> f32 {
        // The subtraction avoids a negative zero.
        0.0 - self.white
    }

    /// Records Black's expected result, as found by a search for a move.
    pub(super) fn record_expectation(&mut self, value: f32) {
        self.expected = Some(value);
    }

    /// Decides the advantage for the next search for a move.
    ///
    /// At first the player without the head start gets the maximum advantage. Later the advantage grows by a step if
    /// this player expects almost nothing, and shrinks by a step if the player expects more than is needed to play on.
    pub(super) fn decide(&mut self, game: &Game, per_point: f32) {
        let lead = head_start(game);
        let player = if lead >= 0.0 { Color::White } else { Color::Black };
        let most = max_advantage(game.size(), lead.abs(), per_point);
        let sign = if player == Color::White { 1.0 } else { -1.0 };
        let has_white =
            game.size().points().any(|point| game.board().cell(point).color() == Some(Color::White));
        let new = match self.expected.filter(|_| has_white) {
            None => most,
            Some(value) => {
                let value = value * player.sign() as f32;
                let step = if value < *STABLE_RESULTS.start() {
                    STEP
                } else if value > *STABLE_RESULTS.end() {
                    -STEP
                } else {
                    0.0
                };
                (sign * self.white + step).max(0.0).min(most)
            }
        };
        self.white = sign * new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::{Move, Point};
    use kosumi_go::rules::{HandicapBonus, Rules};

    fn no_bonus() -> Rules {
        Rules { handicap_bonus: HandicapBonus::None, ..Rules::default() }
    }

    fn game(side: usize, komi: f32, stones: &[(usize, usize)]) -> Game {
        let game = Game::new(BoardSize::square(side).unwrap(), no_bonus(), komi);
        if stones.is_empty() {
            return game;
        }
        let points: Vec<Point> = stones.iter().map(|&(column, row)| Point::new(column, row)).collect();
        game.with_handicap(&points).unwrap()
    }

    const TWO: [(usize, usize); 2] = [(3, 3), (15, 15)];
    const FOUR: [(usize, usize); 4] = [(3, 3), (15, 15), (3, 15), (15, 3)];

    fn initial_advantage(game: &Game, per_point: f32) -> f32 {
        let mut advantage = GameAdvantage::default();
        advantage.decide(game, per_point);
        advantage.black_advantage()
    }

    #[test]
    fn a_head_start_is_stones_and_komi() {
        assert_eq!(head_start(&game(19, 7.0, &[])), 0.0);
        assert_eq!(head_start(&game(19, -3.0, &[])), 10.0);
        assert_eq!(head_start(&game(19, 0.5, &TWO)), 21.5);
        assert_eq!(head_start(&game(19, 0.5, &FOUR)), 51.5);
        let bonus = Rules { handicap_bonus: HandicapBonus::Full, ..no_bonus() };
        assert_eq!(head_start(&game(19, 0.5, &FOUR).with_rules(bonus, 0.5)), 47.5);
        let japanese = Rules { scoring: Scoring::Territory, ..no_bonus() };
        assert_eq!(head_start(&game(19, 0.5, &FOUR).with_rules(japanese, 0.5)), 48.5);
    }

    #[test]
    fn maximum_advantage_examples() {
        // 0.045 · (21.5 − 4) = 0.79 → 0.75; 0.045 · (51.5 − 4) = 2.14 → 2.125; finally the maximum of 2.75.
        assert_eq!(initial_advantage(&game(19, 0.5, &TWO), 0.045), -0.75);
        assert_eq!(initial_advantage(&game(19, 0.5, &FOUR), 0.045), -2.125);
        assert_eq!(initial_advantage(&game(19, 0.5, &FOUR), 0.5), -2.75);
        // Black is behind by komi alone: 0.045 · (20 − 4) = 0.72.
        assert_eq!(initial_advantage(&game(19, 27.0, &[]), 0.045), 0.75);
        // On 9×9, a point counts (361 / 81)^0.75 = 3.07 times as much, and only two points are free.
        assert_eq!(initial_advantage(&game(9, -3.0, &[]), 0.045), -1.125, "0.045 · (10 − 2) · 3.07 = 1.10");
        for even in [game(19, 7.5, &[]), game(19, 3.5, &[]), game(9, 8.5, &[]), game(7, -30.0, &[])] {
            assert_eq!(initial_advantage(&even, 0.045).to_bits(), 0f32.to_bits(), "{even:?}");
        }
        assert_eq!(initial_advantage(&game(19, 0.5, &FOUR), 0.0), 0.0);
    }

    #[test]
    fn it_follows_the_game_in_steps() {
        let mut four = game(19, 0.5, &FOUR);
        let mut advantage = GameAdvantage::default();
        advantage.decide(&four, 0.045);
        // Before White's first stone, the maximum applies, whatever result was expected.
        advantage.record_expectation(0.0);
        advantage.decide(&four, 0.045);
        assert_eq!(advantage.black_advantage(), -2.125);
        four.play(Color::White, Move::Play(Point::new(9, 9))).unwrap();
        let mut expecting = |value: f32| {
            advantage.record_expectation(value);
            advantage.decide(&four, 0.045);
            advantage.black_advantage()
        };
        // Black expects to win almost certainly, then probably, then less than that, and back.
        assert_eq!(
            [0.95, 0.7, 0.4, 0.4, 0.7, 0.95, 0.95].map(&mut expecting),
            [-2.125, -2.125, -2.0, -1.875, -1.875, -2.0, -2.125]
        );
        // The advantage never changes sign.
        assert_eq!([-0.9; 40].map(&mut expecting).last(), Some(&0.0));
        // The rule holds with colours exchanged.
        let mut behind = game(19, 27.0, &[]);
        behind.play(Color::White, Move::Play(Point::new(9, 9))).unwrap();
        let mut advantage = GameAdvantage { white: -0.5, expected: Some(-0.95) };
        advantage.decide(&behind, 0.045);
        assert_eq!(advantage.black_advantage(), 0.625);
    }
}
