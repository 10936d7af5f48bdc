//! What a game of the engine against itself leaves behind.

use crate::training::{Example, PackedInput, Targets, move_index, move_of};
use kosumi_go::board::{BoardSize, Color, Move};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_net::Input;
use serde::{Deserialize, Serialize};

/// Most moves of a policy that are kept: as many as shards have room for.
const MOST_MOVES: usize = 16;

/// A game, small enough for a log. Moves are numbers: points row by row from the top, then the pass.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlayedGame {
    /// Its number, from 0.
    pub number: u32,
    /// Columns and rows of the board.
    pub size: (u8, u8),
    /// The name of the rules.
    pub rules: String,
    /// Points for White.
    pub komi: f32,
    /// The points of the handicap stones; with them White has the first move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handicap: Vec<u16>,
    /// Moves of the opening, which say nothing of who should win.
    pub opening: u16,
    /// What happened, turn by turn from the first.
    pub turns: Vec<Turn>,
    /// Positions that the game did not come to.
    #[serde(rename = "strays")]
    pub off_policy: Vec<OffPolicyTurn>,
    /// How it ended; `None` if it was given up as too long.
    pub ending: Option<Ending>,
}

/// A turn.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// The move.
    pub mv: u16,
    /// What the search found, if the position is for training.
    #[serde(rename = "thought", default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<PositionTargets>,
}

/// An off-policy position: after `ply` turns of the game, these moves were made instead.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OffPolicyTurn {
    /// Turns of the game before.
    pub ply: u16,
    /// What was played then.
    pub moves: Vec<u16>,
    /// What the search found.
    #[serde(rename = "thought")]
    pub targets: PositionTargets,
}

/// What a search, or the network alone, found in a position: what is learnt from it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PositionTargets {
    /// Moves and their shares in 65,535ths, the largest first.
    pub policy: Vec<(u16, u16)>,
    /// Black's expected result, in `[-1, 1]`.
    pub value: f32,
}

impl PositionTargets {
    /// From the shares of moves, which need not sum to 1, and Black's expected result.
    pub(super) fn new(size: BoardSize, policy: &[(Move, f32)], value: f32) -> PositionTargets {
        let total: f32 = policy.iter().map(|&(_, share)| share).sum();
        let share = |share: f32| (share / total.max(f32::MIN_POSITIVE) * 65535.0).round() as u16;
        let mut policy: Vec<_> = policy.iter().map(|&(mv, s)| (move_index(size, mv), share(s))).collect();
        policy.retain(|&(_, share)| share > 0);
        policy.sort_by_key(|&(mv, share)| (std::cmp::Reverse(share), mv));
        policy.truncate(MOST_MOVES);
        // Four digits are more than it is worth.
        PositionTargets { policy, value: (value * 1e4).round() / 1e4 }
    }

    fn targets(&self, to_move: Color) -> Targets {
        let total: f32 = self.policy.iter().map(|&(_, share)| f32::from(share)).sum();
        let policy = self.policy.iter().map(|&(mv, share)| (mv, f32::from(share) / total.max(1.0))).collect();
        Targets { policy, value: result_shares(self.value, to_move), ..Targets::UNKNOWN }
    }
}

/// The end of a game, by the rules.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ending {
    /// Black's points minus White's, komi included.
    pub score: f32,
    /// Who holds each point, row by row from the top: `#` Black, `O` White, `.` nobody.
    pub owners: String,
}

/// The record contradicts itself or the rules.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("game {number} of the log makes no sense: {what}")]
pub struct Damaged {
    number: u32,
    what: &'static str,
}

/// Shares of win, loss and no result for a player, from Black's expected result.
fn result_shares(value: f32, to_move: Color) -> [f32; 3] {
    let win = (1.0 + value.clamp(-1.0, 1.0) * to_move.sign() as f32) / 2.0;
    [win, 1.0 - win, 0.0]
}

impl PlayedGame {
    /// How many positions it has to learn from.
    pub fn positions(&self) -> usize {
        self.turns.iter().filter(|turn| turn.targets.is_some()).count() + self.off_policy.len()
    }

    /// The board it began on: empty, or with the handicap stones.
    fn start(&self) -> Result<Game, Damaged> {
        let size = BoardSize::new(self.size.0.into(), self.size.1.into());
        let size = size.ok_or_else(|| self.damaged("no such board"))?;
        let rules = Rules::preset(&self.rules).ok_or_else(|| self.damaged("unknown rules"))?.rules;
        let game = Game::new(size, rules, self.komi);
        if self.handicap.is_empty() {
            return Ok(game);
        }
        let point = |&index: &u16| move_of(size, index).and_then(Move::point);
        let points: Option<Vec<_>> = self.handicap.iter().map(point).collect();
        let points = points.ok_or_else(|| self.damaged("no such handicap"))?;
        game.with_handicap(&points).map_err(|_| self.damaged("no such handicap"))
    }

    fn damaged(&self, what: &'static str) -> Damaged {
        Damaged { number: self.number, what }
    }

    fn play(&self, game: &mut Game, index: u16) -> Result<(), Damaged> {
        let mv = move_of(game.size(), index).ok_or_else(|| self.damaged("no such move"))?;
        let color = game.to_move();
        game.play(color, mv).map_err(|_| self.damaged("an illegal move"))
    }

    /// The game as it was played.
    ///
    /// # Errors
    /// If the record makes no sense.
    pub fn game(&self) -> Result<Game, Damaged> {
        let mut game = self.start()?;
        self.turns.iter().try_for_each(|turn| self.play(&mut game, turn.mv))?;
        Ok(game)
    }

    /// Its positions, as `encode` shows them. What is known of one are the search's policy, the move, and, behind the
    /// opening, the end of the game; before that, and off the path, only the search's value says who is ahead.
    ///
    /// # Errors
    /// If the record makes no sense.
    pub fn examples(&self, encode: &mut impl FnMut(&Game) -> Input) -> Result<Vec<Example>, Damaged> {
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

    /// The ending with the owners as numbers, +1 for Black.
    fn owners(&self, size: BoardSize) -> Result<Option<(&Ending, Vec<i8>)>, Damaged> {
        let Some(ending) = &self.ending else { return Ok(None) };
        let owner = |letter: char| match letter {
            '#' => Some(1),
            'O' => Some(-1),
            '.' => Some(0),
            _ => None,
        };
        let owners: Option<Vec<i8>> = ending.owners.chars().map(owner).collect();
        let owners = owners.filter(|owners| owners.len() == size.area());
        Ok(Some((ending, owners.ok_or_else(|| self.damaged("no such owners"))?)))
    }
}
