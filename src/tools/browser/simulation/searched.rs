//! Searches whose results follow from the position alone, so that every number shows to which position it belongs.

use kosumi_board::review::{Candidate, Estimate, PositionReview, place};
use kosumi_go::board::{Color, Move};
use kosumi_go::game::Game;
use kosumi_go::rng::mix;
use serde_json::Value;
use std::collections::BTreeMap;

/// Salt of the evaluations by an engine that chooses a move. They differ from those of analyses of the same position.
pub(super) const OUTLOOK: u64 = 1 << 32;
/// Maximum number of candidates of a position.
const CANDIDATES: usize = 3;

/// Position as a page draws it, without knowledge of the rules: stones by place, and the side to move.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Drawn {
    pub(super) stones: BTreeMap<String, char>,
    pub(super) turn: char,
}

/// Black's win rate in thousandths, and lead in tenths of a point.
pub(super) type Worth = (i64, i64);

pub(super) fn letter(color: Color) -> char {
    if color == Color::Black { 'B' } else { 'W' }
}

pub(super) fn other(letter: char) -> char {
    if letter == 'B' { 'W' } else { 'B' }
}

/// Returns the places in a text of two letters each.
fn places(text: &str) -> impl Iterator<Item = &str> {
    (0..text.len() / 2).map(|index| &text[2 * index..2 * index + 2])
}

impl Drawn {
    pub(super) fn of(game: &Game) -> Drawn {
        let size = game.size();
        let stones = game.board().stones();
        Drawn {
            stones: stones.map(|(point, color)| (place(size, Move::Play(point)), letter(color))).collect(),
            turn: letter(game.to_move()),
        }
    }

    /// Returns the position with this side to move.
    pub(super) fn with_turn(&self, turn: char) -> Drawn {
        Drawn { turn, ..self.clone() }
    }

    /// Draws a move as a page does: the stone, without the stones that it captured.
    pub(super) fn play(&mut self, color: char, at: &str, captured: &str) {
        if at != "--" {
            let before = self.stones.insert(at.to_owned(), color);
            assert_eq!(before, None, "{at} is occupied: {self:?}");
        }
        for at in places(captured) {
            // A suicide captures the stone itself.
            assert!(self.stones.remove(at).is_some(), "{at} has no stone: {self:?}");
        }
        self.turn = other(color);
    }

    /// Draws a node of the tree.
    pub(super) fn draw(&mut self, node: &Value) {
        if let Some(mv) = node["m"].as_str() {
            let color = mv.chars().next().expect("a colour");
            self.play(color, &mv[1..], node["x"].as_str().unwrap_or_default());
        }
        for (list, stone) in node["s"].as_array().into_iter().flatten().zip([Some('B'), Some('W'), None]) {
            for at in places(list.as_str().expect("places")) {
                match stone {
                    Some(stone) => _ = self.stones.insert(at.to_owned(), stone),
                    None => _ = self.stones.remove(at),
                }
            }
        }
        self.turn = node["t"].as_str().and_then(|turn| turn.chars().next()).expect("a side");
    }

    fn key(&self) -> u64 {
        let bytes = self.stones.iter().flat_map(|(at, stone)| at.bytes().chain([*stone as u8]));
        bytes.fold(mix(u64::from(self.turn)), |key, byte| mix(key ^ u64::from(byte)))
    }

    /// Returns the value of the position in searches of an engine.
    pub(super) fn worth(&self, engine: u64) -> Worth {
        let key = mix(self.key() ^ mix(engine));
        ((key % 1001) as i64, ((key >> 20) % 401) as i64 - 200)
    }

    /// Checks that numbers are those of searches of this position by one of the engines.
    pub(super) fn check_numbers(&self, numbers: &Value, engines: u64) {
        let figure = |index: usize| numbers["a"][index].as_i64().expect("a number");
        if figure(4) > 0 {
            let found = (figure(0), figure(2));
            let is_known = (0..engines).any(|engine| self.worth(engine) == found);
            assert!(is_known, "{found:?} are not numbers of {self:?}");
        }
        for line in numbers["k"].as_array().into_iter().flatten() {
            self.check_line(line, engines);
        }
    }

    /// Checks that a line begins at this position and has the value of the position after its first move. Returns the
    /// position after the move.
    fn check_line(&self, line: &Value, engines: u64) -> Drawn {
        let mut after = self.clone();
        let captured = line["x"].as_array().into_iter().flatten().find(|it| it[0] == 0);
        let captured = captured.map_or("", |it| it[1].as_str().expect("places"));
        let moves = line["l"].as_str().expect("moves");
        after.play(self.turn, moves.get(..2).expect("a move"), captured);
        let found = (line["w"].as_i64().expect("a number"), line["s"].as_i64().expect("a number"));
        // After a pass the game may be over, and its stones were counted.
        let is_known = moves.starts_with("--") || (0..engines).any(|engine| after.worth(engine) == found);
        assert!(is_known, "{line} is not a line of {self:?}");
        after
    }

    /// Checks the judgement of a move that led from this position to `after`, with the numbers of the position after it.
    pub(super) fn check_judgement(&self, after: &Drawn, judged: &Value, engines: u64) {
        let judgement = &judged["j"];
        if judgement.is_null() {
            return;
        }
        let losses = [0, 2].map(|index| judgement["l"][index].as_i64().expect("a number"));
        let after = after.with_turn(other(self.turn));
        if judgement["f"] == 1 {
            assert_eq!((losses, &judgement["b"], &judgement["c"]), ([0, 0], &Value::Null, &Value::from(0)));
            return;
        }
        let best = self.check_line(&judgement["b"], engines);
        // A pass may end the game. Then the stones were counted instead of a search.
        let may_be_counted = |it: &Drawn| it.stones == self.stones;
        if may_be_counted(&best) || may_be_counted(&after) {
            return;
        }
        assert_ne!(best.stones, after.stones, "the first choice was played");
        let shown = judged["a"].as_array().map(|it| (it[0].as_i64().expect("a"), it[2].as_i64().expect("a")));
        let sign = if self.turn == 'B' { 1 } else { -1 };
        // The numbers are rounded before and after the subtraction.
        let is_loss_of = |found: i64, gain: i64| (found - (sign * gain).max(0)).abs() <= 1;
        let fits = (0..engines).any(|engine| {
            let (best, own) = (best.worth(engine), after.worth(engine));
            let is_own = judged["a"].is_null() || shown == Some(own);
            is_own && is_loss_of(losses[0], best.0 - own.0) && is_loss_of(losses[1], best.1 - own.1)
        });
        assert!(fits, "{judged} does not judge the move from {self:?} to {after:?}");
    }
}

/// Returns the result of a search by an engine. A position that is searched afresh gets slightly different numbers.
pub(super) fn search(game: &Game, engine: u64, visits: u32, is_afresh: bool) -> PositionReview {
    let color = game.to_move();
    let drawn = Drawn::of(game);
    let estimates = |(rate, lead): Worth| {
        let shift = if is_afresh { 7 } else { 0 };
        let (rate, lead) = ((rate + shift).min(1000) as f32 / 1000.0, (lead + shift) as f32 / 10.0);
        (Estimate { mean: rate, error: 0.01 }, Estimate { mean: lead, error: 0.3 })
    };
    let points = game.size().points().map(Move::Play).chain([Move::Pass]);
    let mut legal: Vec<Move> = points.filter(|&mv| game.check(color, mv).is_ok()).collect();
    let order = |mv: &Move| {
        mix(drawn.key()
            ^ place(game.size(), *mv).bytes().fold(engine, |key, byte| mix(key ^ u64::from(byte))))
    };
    legal.sort_by_key(order);
    // Some searches find no move.
    legal.truncate(if drawn.key().is_multiple_of(29) { 0 } else { CANDIDATES });
    let candidates = legal.into_iter().map(|mv| {
        let mut after = game.clone();
        after.play(color, mv).expect("a legal move");
        let (win_rate, score) = estimates(Drawn::of(&after).worth(engine));
        Candidate { mv, visits: 1 + visits / 4, win_rate, score, variation: vec![mv] }
    });
    let (win_rate, score) = estimates(drawn.worth(engine));
    PositionReview {
        to_move: color,
        visits,
        win_rate,
        score,
        candidates: candidates.collect(),
        ownership: vec![0.0; game.size().area()],
    }
}
