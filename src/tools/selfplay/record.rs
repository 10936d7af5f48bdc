//! Record of a self-play game.

use crate::training::{Example, PackedInput, Targets, move_index, move_of};
use kosumi_go::board::{BoardSize, Color, Move};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_net::Input;
use serde::{Deserialize, Serialize};

/// Maximum number of stored moves of a policy. Shards store the same number.
const MAX_POLICY_MOVES: usize = 16;

/// Game in a compact form for logs. Moves are numbers: points row by row from the top, then the pass.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlayedGame {
    /// Number of the game, from 0.
    pub number: u32,
    /// Columns and rows of the board.
    pub size: (u8, u8),
    /// Name of the rules.
    pub rules: String,
    /// Komi: points for White.
    pub komi: f32,
    /// Points of the handicap stones. If there are any, White moves first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handicap: Vec<u16>,
    /// Number of moves of the opening. The result of the game is not a training target for its positions.
    pub opening: u16,
    /// Turns of the game.
    pub turns: Vec<Turn>,
    /// Searched positions that did not occur in the game.
    #[serde(rename = "strays")]
    pub off_policy: Vec<OffPolicyTurn>,
    /// End of the game; `None` if the game was abandoned because of its length.
    pub ending: Option<Ending>,
}

/// Turn of a game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// Move, as a number.
    pub mv: u16,
    /// Result of the search, if the position is for training.
    #[serde(rename = "thought", default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<PositionTargets>,
}

/// Off-policy position: `moves` were played after `ply` turns of the game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OffPolicyTurn {
    /// Number of turns of the game before `moves`.
    pub ply: u16,
    /// Moves that lead from there to the position.
    pub moves: Vec<u16>,
    /// Result of the search.
    #[serde(rename = "thought")]
    pub targets: PositionTargets,
}

/// Training targets of a position, from a search or from the network alone.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PositionTargets {
    /// Moves and their shares in 65,535ths, in descending order.
    pub policy: Vec<(u16, u16)>,
    /// Black's expected result, in `[-1, 1]`.
    pub value: f32,
}

impl PositionTargets {
    /// Creates targets from shares of moves, which need not sum to 1, and Black's expected result.
    pub(super) fn new(size: BoardSize, policy: &[(Move, f32)], value: f32) -> PositionTargets {
        let total: f32 = policy.iter().map(|&(_, share)| share).sum();
        let share = |share: f32| (share / total.max(f32::MIN_POSITIVE) * 65535.0).round() as u16;
        let mut policy: Vec<_> = policy.iter().map(|&(mv, s)| (move_index(size, mv), share(s))).collect();
        policy.retain(|&(_, share)| share > 0);
        policy.sort_by_key(|&(mv, share)| (std::cmp::Reverse(share), mv));
        policy.truncate(MAX_POLICY_MOVES);
        // Four decimal places exceed the precision of the value.
        PositionTargets { policy, value: (value * 1e4).round() / 1e4 }
    }

    fn targets(&self, to_move: Color) -> Targets {
        let total: f32 = self.policy.iter().map(|&(_, share)| f32::from(share)).sum();
        let policy = self.policy.iter().map(|&(mv, share)| (mv, f32::from(share) / total.max(1.0))).collect();
        let expected = Some(self.value * to_move.sign() as f32);
        Targets { policy, value: result_shares(self.value, to_move), expected, ..Targets::UNKNOWN }
    }
}

/// End of a game, scored by the rules.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ending {
    /// Black's points minus White's, komi included.
    pub score: f32,
    /// Owner of each point, row by row from the top: `#` Black, `O` White, `.` neutral.
    pub owners: String,
}

/// Error: the record contradicts itself or the rules.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("game {number} of the log is invalid: {what}")]
pub struct InvalidRecord {
    number: u32,
    what: &'static str,
}

/// Returns the shares of win, loss and no result for the side to move, from Black's expected result.
fn result_shares(value: f32, to_move: Color) -> [f32; 3] {
    let win = (1.0 + value.clamp(-1.0, 1.0) * to_move.sign() as f32) / 2.0;
    [win, 1.0 - win, 0.0]
}

impl PlayedGame {
    /// Returns the number of training positions.
    pub fn positions(&self) -> usize {
        self.turns.iter().filter(|turn| turn.targets.is_some()).count() + self.off_policy.len()
    }

    /// Returns the initial position: empty, or with the handicap stones.
    fn start(&self) -> Result<Game, InvalidRecord> {
        let size = BoardSize::new(self.size.0.into(), self.size.1.into());
        let size = size.ok_or_else(|| self.damaged("invalid board size"))?;
        let rules = Rules::preset(&self.rules).ok_or_else(|| self.damaged("unknown rules"))?.rules;
        let game = Game::new(size, rules, self.komi);
        if self.handicap.is_empty() {
            return Ok(game);
        }
        let point = |&index: &u16| move_of(size, index).and_then(Move::point);
        let points: Option<Vec<_>> = self.handicap.iter().map(point).collect();
        let points = points.ok_or_else(|| self.damaged("invalid handicap"))?;
        game.with_handicap(&points).map_err(|_| self.damaged("invalid handicap"))
    }

    fn damaged(&self, what: &'static str) -> InvalidRecord {
        InvalidRecord { number: self.number, what }
    }

    fn play(&self, game: &mut Game, index: u16) -> Result<(), InvalidRecord> {
        let mv = move_of(game.size(), index).ok_or_else(|| self.damaged("invalid move"))?;
        let color = game.to_move();
        game.play(color, mv).map_err(|_| self.damaged("illegal move"))
    }

    /// Returns the game as played.
    ///
    /// # Errors
    ///
    /// Returns an error if the record is invalid.
    pub fn game(&self) -> Result<Game, InvalidRecord> {
        let mut game = self.start()?;
        self.turns.iter().try_for_each(|turn| self.play(&mut game, turn.mv))?;
        Ok(game)
    }

    /// Returns the training examples of the game, with inputs made by `encode`. The targets of a position are the
    /// policy and the value of the search, the move played and, after the opening, the end of the game. In the opening
    /// and off the path of the game, the search's value replaces the end of the game.
    ///
    /// # Errors
    ///
    /// Returns an error if the record is invalid.
    pub fn examples(&self, encode: &mut impl FnMut(&Game) -> Input) -> Result<Vec<Example>, InvalidRecord> {
        let mut game = self.start()?;
        let owners = self.owners(game.size())?;
        let mut off_policy = self.off_policy.iter().peekable();
        let mut examples = Vec::with_capacity(self.positions());
        let mut push = |game: &Game, ply: u16, targets: Targets| {
            let input = PackedInput::pack(&encode(game));
            examples.push(Example { input, targets, ply, game: self.number });
        };
        for (ply, turn) in (0u16..).zip(&self.turns) {
            let to_move = game.to_move();
            if let Some(found) = &turn.targets {
                let mut targets = Targets { played: Some(turn.mv), ..found.targets(to_move) };
                if let Some((ending, owners)) = &owners
                    && ply >= self.opening
                {
                    let result = if ending.score == 0.0 { 0.0 } else { ending.score.signum() };
                    targets.value = result_shares(result, to_move);
                    targets.score = Some(ending.score * to_move.sign() as f32);
                    targets.ownership =
                        Some(owners.iter().map(|&owner| 127 * owner * to_move.sign() as i8).collect());
                }
                push(&game, ply, targets);
            }
            while let Some(turn) = off_policy.next_if(|turn| turn.ply == ply) {
                let mut position = game.clone();
                turn.moves.iter().try_for_each(|&mv| self.play(&mut position, mv))?;
                push(&position, ply, turn.targets.targets(position.to_move()));
            }
            self.play(&mut game, turn.mv)?;
        }
        Ok(examples)
    }

    /// Returns the ending with the owners as numbers, 1 for Black, −1 for White.
    fn owners(&self, size: BoardSize) -> Result<Option<(&Ending, Vec<i8>)>, InvalidRecord> {
        let Some(ending) = &self.ending else { return Ok(None) };
        let owner = |letter: char| match letter {
            '#' => Some(1),
            'O' => Some(-1),
            '.' => Some(0),
            _ => None,
        };
        let owners: Option<Vec<i8>> = ending.owners.chars().map(owner).collect();
        let owners = owners.filter(|owners| owners.len() == size.area());
        Ok(Some((ending, owners.ok_or_else(|| self.damaged("invalid ownership"))?)))
    }
}
