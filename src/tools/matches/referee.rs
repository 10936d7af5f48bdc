//! Referee of one game between two engines, with Kosumi's own strict [`Game`].
//!
//! Games that do not end normally are judged as follows:
//!
//! * **Losses**: after the first move was requested, an engine loses if it makes an illegal move, refuses to move,
//!   gives an invalid response, exceeds its time, or ends its process.
//! * **Refusal of a legal move**: the engine that refuses loses, never the engine that moved. The referee's rules are
//!   the rules of the match. If such games did not count, an engine could escape from a lost position by a refusal. If
//!   the engines simply play by different rules, these games appear as forfeits by refusal. The summary also has the
//!   score without forfeits.
//! * **Annulled games**: the game cannot start, because an engine does not start, or because it refuses the board, the
//!   komi, the clock or the opening. No engine has made a move yet. The game is retried, see `schedule.rs`.

use super::adjudicate;
use super::clock::GameClock;
use super::conditions::{Conditions, GamePlan};
use super::control::Control;
use super::player::{MatchPlayer, PlayerDecision, PlayerFault, play_command, shortened};
use super::record::{Ending, GameRecord, Judgement, MoveNote};
use super::side::Side;
use crate::words::color_letter;
use kosumi_go::board::Color;
use kosumi_go::game::Game;
use kosumi_go::score;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Finished game with its SGF record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FinishedGame {
    pub(super) record: GameRecord,
    /// The game as SGF.
    pub(super) sgf: String,
}

/// Reason why there is no game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoGame {
    /// An engine could not be set up.
    Annulled(String),
    /// The match was aborted.
    Aborted,
}

/// Maximum number of moves per point of the board. With superko all games end by themselves, but it may take long.
const MOVES_PER_POINT: usize = 3;

/// Plays one game. Also returns whether each engine can play another game. After a fault it must be restarted.
pub(super) fn play(
    conditions: &Conditions,
    plan: &GamePlan,
    players: [&mut MatchPlayer; 2],
    control: &Control,
) -> (Result<FinishedGame, NoGame>, [bool; 2]) {
    let clock = conditions.time.map(|time| GameClock::new(time, conditions.margin));
    let mut playing = GameInProgress {
        conditions,
        plan,
        control,
        players,
        date: humantime::format_rfc3339_seconds((control.clocks.date)()).to_string(),
        game: plan.board.game(conditions.rules, plan.handicap),
        clocks: clock.map(|clock| [clock, clock]),
        notes: Vec::new(),
        chosen: [0; 2],
        seconds: [0.0; 2],
        slowest: [0.0; 2],
        overstep: [0.0; 2],
        final_scores: [None, None],
        is_fit: [true; 2],
    };
    let result = playing.run().map(|outcome| playing.finish(outcome));
    (result, playing.is_fit)
}

/// Reason why a game stops early.
enum EarlyEnd {
    Forfeit { side: Side, ending: Ending, detail: String },
    NoGame(NoGame),
}

/// Result of a game.
struct GameResult {
    winner: Option<Side>,
    result: String,
    ending: Ending,
    detail: String,
    judgement: Option<Judgement>,
}

/// Game in progress.
struct GameInProgress<'a> {
    conditions: &'a Conditions,
    plan: &'a GamePlan,
    control: &'a Control,
    players: [&'a mut MatchPlayer; 2],
    date: String,
    game: Game,
    clocks: Option<[GameClock; 2]>,
    notes: Vec<MoveNote>,
    chosen: [u32; 2],
    seconds: [f64; 2],
    slowest: [f64; 2],
    overstep: [f64; 2],
    final_scores: [Option<String>; 2],
    is_fit: [bool; 2],
}

impl GameInProgress<'_> {
    fn color(&self, side: Side) -> Color {
        if side == self.plan.black { Color::Black } else { Color::White }
    }

    fn side(&self, color: Color) -> Side {
        if color == Color::Black { self.plan.black } else { self.plan.black.other() }
    }

    fn player(&mut self, side: Side) -> &mut MatchPlayer {
        self.players[side as usize]
    }

    fn run(&mut self) -> Result<GameResult, NoGame> {
        self.set_up()?;
        match self.play_to_the_end() {
            Ok(outcome) => Ok(outcome),
            Err(EarlyEnd::Forfeit { side, ending, detail }) => {
                // After any fault, the engine's board may differ from the referee's.
                self.is_fit[side as usize] = false;
                let winner = side.other();
                let by = if ending == Ending::Time { "T" } else { "F" };
                Ok(GameResult {
                    winner: Some(winner),
                    result: format!("{}+{by}", color_letter(self.color(winner))),
                    ending,
                    detail,
                    judgement: None,
                })
            }
            Err(EarlyEnd::NoGame(reason)) => Err(reason),
        }
    }

    /// Sets up both engines and plays the opening.
    fn set_up(&mut self) -> Result<(), NoGame> {
        let (conditions, plan, control) = (self.conditions, self.plan, self.control);
        for side in Side::BOTH {
            if let Err(reason) = self.player(side).set_up(conditions, plan, control) {
                return Err(self.annulled(side, &reason));
            }
        }
        for &mv in &plan.opening.moves {
            let color = self.game.to_move();
            for side in Side::BOTH {
                if let Err(fault) = self.player(side).send_move(color, mv, control) {
                    return Err(self.annulled(side, &format!("{}: {fault}", play_command(color, mv))));
                }
            }
            if let Err(reason) = self.game.play(color, mv) {
                return Err(NoGame::Annulled(format!("the opening {}: {mv}: {reason}", plan.opening.name)));
            }
        }
        Ok(())
    }

    fn annulled(&mut self, side: Side, reason: &str) -> NoGame {
        self.is_fit[side as usize] = false;
        if self.control.is_aborted() {
            NoGame::Aborted
        } else {
            NoGame::Annulled(format!("{side}, {reason}"))
        }
    }

    fn play_to_the_end(&mut self) -> Result<GameResult, EarlyEnd> {
        let move_limit = MOVES_PER_POINT * self.plan.board.size.area();
        while !self.game.is_over() {
            if self.game.records().len() >= move_limit {
                return self.scored(Ending::MoveLimit);
            }
            let color = self.game.to_move();
            let side = self.side(color);
            let mv = match self.ask(side, color)? {
                PlayerDecision::Play(mv) => mv,
                PlayerDecision::Resign => {
                    return Ok(GameResult {
                        winner: Some(side.other()),
                        result: format!("{}+R", color_letter(color.opponent())),
                        ending: Ending::Resign,
                        detail: String::new(),
                        judgement: None,
                    });
                }
                PlayerDecision::OffBoard(vertex) => {
                    let detail = format!("{side}, {color} {vertex}: not on the board");
                    return Err(EarlyEnd::Forfeit { side, ending: Ending::IllegalMove, detail });
                }
            };
            self.game.play(color, mv).map_err(|reason| EarlyEnd::Forfeit {
                side,
                ending: Ending::IllegalMove,
                detail: format!("{side}, {color} {mv}: {reason}"),
            })?;
            let (other, control) = (side.other(), self.control);
            let sent = self.player(other).send_move(color, mv, control);
            sent.map_err(|fault| self.stop(other, &play_command(color, mv), &fault))?;
        }
        self.scored(Ending::Score)
    }

    /// Returns the consequence of an engine's fault.
    fn stop(&mut self, side: Side, command: &str, fault: &PlayerFault) -> EarlyEnd {
        let ending = match fault {
            PlayerFault::Refused(_) => Ending::Refused,
            PlayerFault::TimedOut => Ending::Time,
            PlayerFault::Ended(_) => Ending::Crash,
            PlayerFault::InvalidResponse(_) => Ending::InvalidResponse,
            PlayerFault::Aborted => return EarlyEnd::NoGame(NoGame::Aborted),
        };
        EarlyEnd::Forfeit { side, ending, detail: format!("{side}, {command}: {fault}") }
    }

    /// Requests a move. The clock runs from the request to the response.
    fn ask(&mut self, side: Side, color: Color) -> Result<PlayerDecision, EarlyEnd> {
        let index = side as usize;
        let (size, control) = (self.plan.board.size, self.control);
        let clock = self.clocks.map(|clocks| clocks[index]);
        if let Some(clock) = clock {
            let shown = self.player(side).send_clock(color, &clock, control);
            shown.map_err(|fault| self.stop(side, "time_left", &fault))?;
        }
        let timeout = clock.map_or(self.conditions.unclocked_move_time, |clock| clock.deadline());
        let start = control.now();
        let answer = self.player(side).choose(color, size, timeout, control);
        let used = control.since(start);
        let seconds = used.as_secs_f64();
        self.seconds[index] += seconds;
        self.slowest[index] = self.slowest[index].max(seconds);
        self.chosen[index] += 1;
        let (choice, evaluation) = answer.map_err(|fault| self.stop(side, "genmove", &fault))?;
        let overstep = match &mut self.clocks {
            Some(clocks) => clocks[index].spend(used),
            None => (used <= self.conditions.unclocked_move_time).then_some(Duration::ZERO),
        };
        let Some(overstep) = overstep else {
            let detail = format!("{side}, genmove: {seconds:.2} s used");
            return Err(EarlyEnd::Forfeit { side, ending: Ending::Time, detail });
        };
        self.overstep[index] = self.overstep[index].max(overstep.as_secs_f64());
        let left = self.clocks.map(|clocks| clocks[index].left());
        self.notes.push(MoveNote { seconds, left, evaluation });
        Ok(choice)
    }

    /// Scores a game that was played to its end. At this stage, an engine cannot lose by a fault.
    fn scored(&mut self, ending: Ending) -> Result<GameResult, EarlyEnd> {
        let (size, control) = (self.plan.board.size, self.control);
        let is_cut_off = ending == Ending::MoveLimit;
        let game = self.game.clone();
        let scored = adjudicate::score(&game, self.conditions.dead, is_cut_off, || {
            let mut named = [None, None];
            for side in Side::BOTH {
                match self.player(side).dead(size, control) {
                    Ok(dead) => named[side as usize] = dead,
                    Err(PlayerFault::Aborted) => return Err(EarlyEnd::NoGame(NoGame::Aborted)),
                    Err(_) => self.is_fit[side as usize] = false,
                }
            }
            Ok(named)
        });
        let (score, judgement) = scored?;
        for side in Side::BOTH {
            if !self.is_fit[side as usize] {
                continue;
            }
            match self.player(side).ask_at_the_end("final_score", control) {
                Ok(answer) => self.final_scores[side as usize] = answer.as_deref().map(shortened),
                Err(PlayerFault::Aborted) => return Err(EarlyEnd::NoGame(NoGame::Aborted)),
                Err(_) => self.is_fit[side as usize] = false,
            }
        }
        let winner = match score {
            score if score > 0.0 => Some(Color::Black),
            score if score < 0.0 => Some(Color::White),
            _ => None,
        };
        Ok(GameResult {
            winner: winner.map(|color| self.side(color)),
            result: score::format_score(score),
            ending,
            detail: String::new(),
            judgement: Some(judgement),
        })
    }

    fn finish(&mut self, outcome: GameResult) -> FinishedGame {
        let record = GameRecord {
            number: self.plan.number,
            date: self.date.clone(),
            size: self.plan.board.size_text(),
            komi: self.plan.board.komi,
            black: self.plan.black,
            handicap: self.plan.handicap,
            opening: self.plan.opening.name.clone(),
            opening_moves: self.plan.opening.moves.len(),
            result: outcome.result,
            winner: outcome.winner,
            ending: outcome.ending,
            detail: outcome.detail,
            judgement: outcome.judgement,
            final_scores: self.final_scores.clone(),
            moves: self.game.records().iter().map(|record| record.mv.to_string()).collect(),
            chosen: self.chosen,
            seconds: self.seconds,
            slowest: self.slowest,
            overstep: self.overstep,
            lag: Side::BOTH.map(|side| self.player(side).lag()),
            stray: Side::BOTH.map(|side| self.player(side).take_stray()),
        };
        let names = Side::BOTH.map(|side| self.player(side).identity.to_string());
        let sgf = record.sgf(&self.game, &self.notes, [&names[0], &names[1]], self.conditions);
        FinishedGame { record, sgf }
    }
}
