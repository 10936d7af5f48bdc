//! One game between two engines under the eyes of a third party: our own [`Game`], strict.

use super::clock::{Clock, TimeSettings};
use super::record::{Ending, GameRecord, Side};
use crate::board::{BoardSize, Color, Move, Point, PointSet};
use crate::cli::options;
use crate::commands::vertex_move;
use crate::game::Game;
use crate::rng::Rng;
use crate::rules::Rules;
use crate::score;
use kosumi_gtp::{Client, ClientError, Vertex};
use std::time::{Duration, Instant};

/// How long an engine may take for anything but thinking.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is the same in all games of a match.
#[derive(Clone, Debug)]
pub(super) struct Conditions {
    pub(super) command_lines: [String; 2],
    pub(super) size: BoardSize,
    pub(super) komi: f32,
    pub(super) rules: Rules,
    pub(super) time: Option<TimeSettings>,
    /// How much more than its time an engine may take.
    pub(super) margin: Duration,
    /// How long an engine may think when there is no clock.
    pub(super) patience: Duration,
    /// Random moves at the beginning.
    pub(super) opening: u32,
    pub(super) seed: u64,
}

impl Conditions {
    /// The opening of a game: the same for both games of a pair, in which the colours are swapped.
    fn opening(&self, game: u32) -> Vec<Move> {
        let mut rng = Rng::new(crate::rng::mix(self.seed).wrapping_add(u64::from((game - 1) / 2)));
        let mut played = Game::new(self.size, self.rules, self.komi);
        let lowest_line = if self.size.columns().min(self.size.rows()) > 4 { 2 } else { 1 };
        for _ in 0..self.opening {
            let color = played.to_move();
            let mut points = played.legal_points(color);
            points.retain(|&point| self.size.line(point) >= lowest_line);
            // A move in one's own eye, or into atari, would decide the game and not vary it.
            points.retain(|&point| played.board().has_empty_neighbour(point));
            if points.is_empty() {
                break;
            }
            let point = points[rng.below(points.len() as u32) as usize];
            if played.play(color, Move::Play(point)).is_err() {
                break;
            }
        }
        played.records().iter().map(|record| record.mv).collect()
    }
}

/// An engine that takes part.
#[derive(Debug)]
pub(super) struct Player {
    client: Client,
    /// Its name and version.
    pub(super) name: String,
    can_be_seeded: bool,
}

impl Player {
    pub(super) fn start(command_line: &str) -> Result<Player, ClientError> {
        let mut client = Client::spawn(command_line)?;
        let name = client.send("name", PATIENCE)?;
        let version = client.send("version", PATIENCE).unwrap_or_default();
        let known = client.send("known_command set_random_seed", PATIENCE);
        let can_be_seeded = known.is_ok_and(|answer| answer.trim() == "true");
        Ok(Player { client, name: format!("{name} {version}").trim().to_owned(), can_be_seeded })
    }

    pub(super) fn quit(mut self) {
        // An engine that does not quit is killed.
        let _ = self.client.quit(Duration::from_secs(5));
    }

    fn set_up(&mut self, conditions: &Conditions, game: u32) -> Result<(), ClientError> {
        let size = conditions.size;
        let size_command = if size.is_square() {
            format!("boardsize {}", size.columns())
        } else {
            format!("rectangular_boardsize {} {}", size.columns(), size.rows())
        };
        self.client.send(&size_command, PATIENCE)?;
        self.client.send("clear_board", PATIENCE)?;
        self.client.send(&format!("komi {}", conditions.komi), PATIENCE)?;
        if let Some(TimeSettings { main, byo, stones }) = conditions.time {
            self.client.send(&format!("time_settings {main} {byo} {stones}"), PATIENCE)?;
        }
        if self.can_be_seeded {
            // Another one for every game, and the same whoever plays it: some engines take 31 bits only.
            let seed = crate::rng::mix(conditions.seed ^ crate::rng::mix(u64::from(game))) >> 34;
            self.client.send(&format!("set_random_seed {seed}"), PATIENCE)?;
        }
        Ok(())
    }

    /// The stones that the engine calls dead; none if it does not say.
    fn dead(&mut self, size: BoardSize) -> PointSet {
        let answer = self.client.send("final_status_list dead", PATIENCE).unwrap_or_default();
        let points = answer.split_whitespace().filter_map(|word| word.parse::<Vertex>().ok());
        points.filter_map(|vertex| vertex_move(size, vertex).and_then(Move::point)).collect()
    }
}

/// A game lost without Go.
struct Forfeit {
    side: Side,
    ending: Ending,
    detail: String,
}

impl Forfeit {
    fn new(side: Side, command: &str, error: ClientError) -> Forfeit {
        let ending = match &error {
            ClientError::Refused(_) => Ending::Refused,
            ClientError::TimedOut => Ending::Time,
            ClientError::Exited { .. } | ClientError::Io(_) => Ending::Crash,
            ClientError::Garbage(_) => Ending::Nonsense,
        };
        Forfeit { side, ending, detail: format!("{side}, {command}: {error}") }
    }
}

/// What an engine answered to `genmove`.
enum Choice {
    Move(Move),
    Resign,
}

/// A game being played.
struct Playing<'a> {
    conditions: &'a Conditions,
    players: [&'a mut Player; 2],
    black: Side,
    game: Game,
    clocks: Option<[Clock; 2]>,
    seconds: [f64; 2],
    chosen: [u32; 2],
    refused: [u32; 2],
}

/// Plays one game. True if both engines are fit for another one.
pub(super) fn play(
    conditions: &Conditions,
    number: u32,
    players: [&mut Player; 2],
) -> (GameRecord, Game, bool) {
    let clock = conditions.time.map(Clock::new);
    let mut playing = Playing {
        conditions,
        players,
        black: if number % 2 == 1 { Side::A } else { Side::B },
        game: Game::new(conditions.size, conditions.rules, conditions.komi),
        clocks: clock.map(|clock| [clock, clock]),
        seconds: [0.0; 2],
        chosen: [0; 2],
        refused: [0; 2],
    };
    let opening = conditions.opening(number);
    let outcome = playing.run(number, &opening);
    playing.finish(number, opening.len(), outcome)
}

/// Who won, by what, and how.
struct Outcome {
    winner: Option<Side>,
    result: String,
    ending: Ending,
    detail: String,
}

impl Playing<'_> {
    fn color(&self, side: Side) -> Color {
        if side == self.black { Color::Black } else { Color::White }
    }

    fn side(&self, color: Color) -> Side {
        if color == Color::Black { self.black } else { self.black.other() }
    }

    fn player(&mut self, side: Side) -> &mut Player {
        self.players[side as usize]
    }

    fn run(&mut self, number: u32, opening: &[Move]) -> Outcome {
        match self.run_to_end(number, opening) {
            Ok(outcome) => outcome,
            Err(forfeit) => {
                let winner = forfeit.side.other();
                let letter = color_letter(self.color(winner));
                let by = if forfeit.ending == Ending::Time { "T" } else { "F" };
                Outcome {
                    winner: Some(winner),
                    result: format!("{letter}+{by}"),
                    ending: forfeit.ending,
                    detail: forfeit.detail,
                }
            }
        }
    }

    fn run_to_end(&mut self, number: u32, opening: &[Move]) -> Result<Outcome, Forfeit> {
        let conditions = self.conditions;
        for side in Side::BOTH {
            let result = self.player(side).set_up(conditions, number);
            result.map_err(|error| Forfeit::new(side, "setting up", error))?;
        }
        for &mv in opening {
            let color = self.game.to_move();
            for side in Side::BOTH {
                self.tell(side, color, mv)?;
            }
            // The opening was made of legal moves.
            let _ = self.game.play(color, mv);
        }
        let move_limit = 3 * conditions.size.area();
        while !self.game.is_over() {
            if self.game.records().len() >= move_limit {
                return Ok(self.scored(Ending::MoveLimit));
            }
            let color = self.game.to_move();
            let side = self.side(color);
            let mv = match self.ask(side, color)? {
                Choice::Resign => {
                    return Ok(Outcome {
                        winner: Some(side.other()),
                        result: format!("{}+R", color_letter(color.opponent())),
                        ending: Ending::Resign,
                        detail: String::new(),
                    });
                }
                Choice::Move(mv) => mv,
            };
            self.game.play(color, mv).map_err(|reason| Forfeit {
                side,
                ending: Ending::IllegalMove,
                detail: format!("{side}, {color} {mv}: {reason}"),
            })?;
            self.tell(side.other(), color, mv)?;
        }
        Ok(self.scored(Ending::Score))
    }

    /// Tells an engine about a move. To refuse one that the referee accepts loses the game.
    fn tell(&mut self, side: Side, color: Color, mv: Move) -> Result<(), Forfeit> {
        let command = format!("play {} {mv}", color_letter(color).to_ascii_lowercase());
        let result = self.player(side).client.send(&command, PATIENCE);
        if matches!(result, Err(ClientError::Refused(_))) {
            self.refused[side as usize] += 1;
        }
        result.map(|_| ()).map_err(|error| Forfeit::new(side, &command, error))
    }

    fn ask(&mut self, side: Side, color: Color) -> Result<Choice, Forfeit> {
        let letter = color_letter(color).to_ascii_lowercase();
        let clock = self.clocks.map(|clocks| clocks[side as usize]);
        if let Some(clock) = clock {
            let (time, stones) = clock.time_left();
            let command = format!("time_left {letter} {time} {stones}");
            let result = self.player(side).client.send(&command, PATIENCE);
            // Not every engine knows the command, and none needs it to play.
            if let Err(error) = result
                && !matches!(error, ClientError::Refused(_))
            {
                return Err(Forfeit::new(side, &command, error));
            }
        }
        let margin = self.conditions.margin;
        let timeout = clock.map_or(self.conditions.patience, |clock| clock.left() + margin);
        let command = format!("genmove {letter}");
        let start = Instant::now();
        let result = self.player(side).client.send(&command, timeout);
        let used = start.elapsed();
        self.seconds[side as usize] += used.as_secs_f64();
        self.chosen[side as usize] += 1;
        let answer = result.map_err(|error| Forfeit::new(side, &command, error))?;
        if let Some(clocks) = &mut self.clocks
            && !clocks[side as usize].spend(used, margin)
        {
            let detail = format!("{side}, {command}: {:.1} s used", used.as_secs_f64());
            return Err(Forfeit { side, ending: Ending::Time, detail });
        }
        if answer.trim().eq_ignore_ascii_case("resign") {
            return Ok(Choice::Resign);
        }
        let vertex = answer.trim().parse::<Vertex>().map_err(|_| Forfeit {
            side,
            ending: Ending::Nonsense,
            detail: format!("{side}, {command}: answered {answer:?}"),
        })?;
        let mv = vertex_move(self.conditions.size, vertex).ok_or_else(|| Forfeit {
            side,
            ending: Ending::IllegalMove,
            detail: format!("{side}, {command}: {vertex} is not on the board"),
        })?;
        Ok(Choice::Move(mv))
    }

    fn scored(&mut self, ending: Ending) -> Outcome {
        let mut dead = PointSet::EMPTY;
        if self.conditions.rules.friendly_pass && ending == Ending::Score {
            let size = self.conditions.size;
            let [a, b] = Side::BOTH.map(|side| self.player(side).dead(size));
            let board = self.game.board();
            let is_dead = |point: Point| a.contains(point) && b.contains(point);
            // A chain is dead as a whole or not at all.
            for (point, _) in board.stones() {
                if board.anchor(point) == point && board.chain(point).all(is_dead) {
                    board.chain(point).for_each(|stone| {
                        dead.insert(stone);
                    });
                }
            }
        }
        let score = score::final_score(&self.game, &dead);
        let winner = match score {
            score if score > 0.0 => Some(Color::Black),
            score if score < 0.0 => Some(Color::White),
            _ => None,
        };
        Outcome {
            winner: winner.map(|color| self.side(color)),
            result: score::format_score(score),
            ending,
            detail: String::new(),
        }
    }

    fn finish(mut self, number: u32, opening: usize, outcome: Outcome) -> (GameRecord, Game, bool) {
        let conditions = self.conditions;
        let [a, b] = conditions.command_lines.clone();
        let record = GameRecord {
            game: number,
            a,
            b,
            size: options::size_text(conditions.size),
            komi: conditions.komi,
            rules: conditions.rules.to_string(),
            black: self.black,
            result: outcome.result,
            winner: outcome.winner,
            ending: outcome.ending,
            detail: outcome.detail,
            opening,
            moves: self.game.records().iter().map(|record| record.mv.to_string()).collect(),
            seconds: self.seconds,
            chosen: self.chosen,
            refused: self.refused,
            garbage: Side::BOTH.map(|side| self.player(side).client.take_garbage().len()),
        };
        let is_fit = !matches!(outcome.ending, Ending::Crash | Ending::Time | Ending::Nonsense);
        (record, self.game, is_fit)
    }
}

fn color_letter(color: Color) -> char {
    match color {
        Color::Black => 'B',
        Color::White => 'W',
    }
}
