//! Requests of windows, which act on what they have read.

use super::loaded::DrawnRecord;
use super::shown::Shown;
use super::{PROBLEMS, Simulated};
use kosumi_board::review::place;
use kosumi_go::board::Move;
use kosumi_go::rng::Rng;
use serde_json::{Value, json};

fn draw_player(rng: &mut Rng) -> Value {
    match rng.below(12) {
        0..3 => json!({ "kind": "kosumi", "level": "seconds-1" }),
        3..5 => json!({ "kind": "engine", "number": 0 }),
        5 => json!({ "kind": "kosumi", "level": "auto" }),
        6 => json!({ "kind": "engine", "number": rng.below(3) }),
        _ => json!({ "kind": "person" }),
    }
}

/// Draws the settings of a game. Some are invalid.
fn draw_settings(rng: &mut Rng) -> Value {
    let clock = match rng.below(6) {
        0 => json!({ "kind": "absolute", "main": 20.0 }),
        1 => json!({ "kind": "byo-yomi", "main": 5.0, "period": 3.0, "periods": 2 }),
        2 => json!({ "kind": "fischer", "main": rng.below(3), "increment": 2.0 }),
        _ => json!({ "kind": "none" }),
    };
    let is_large = rng.chance(50);
    let komi = match rng.below(8) {
        0 => Value::Null,
        1 => json!(-3),
        2 => json!(if rng.chance(500) { 0.25 } else { 400.5 }),
        _ => json!(0.5),
    };
    let rules = ["chinese", "tromp-taylor", "japanese", "aga", "unknown"][rng.below(21) as usize / 5];
    json!({
        "columns": if is_large { 7 } else { 2 + rng.below(3) },
        "rows": if is_large { 7 } else if rng.chance(50) { 40 } else { 3 },
        "handicap": if is_large { rng.below(11) } else { rng.below(20) / 19 },
        "komi": komi,
        "clock": clock,
        "rules": rules,
        "black": draw_player(rng),
        "white": draw_player(rng),
    })
}

impl Simulated<'_> {
    /// Draws a node of the tree that a window shows, most often the latest one.
    fn draw_node(&mut self, shown: &Shown) -> u64 {
        let tree: Vec<u64> = shown.tree().iter().filter_map(|node| node["i"].as_u64()).collect();
        match self.rng.below(5) {
            0 => tree[self.rng.below(tree.len() as u32) as usize],
            _ => shown.number("at"),
        }
    }

    /// Draws a request of a window that shows this state.
    pub(super) fn draw_request(&mut self, shown: &Shown) -> Value {
        let size = shown.size();
        let at = self.draw_node(shown);
        let rng = &mut self.rng;
        let point = size.points().nth(rng.below(size.area() as u32) as usize).expect("a point");
        let place = place(size, if rng.chance(850) { Move::Play(point) } else { Move::Pass });
        let on = rng.chance(500);
        match rng.below(65) {
            0 => json!({ "do": "new", "game": draw_settings(rng) }),
            1 => json!({ "do": "undo", "at": at }),
            2 if on => json!({ "do": "from", "at": at }),
            2 => json!({ "do": "from", "at": at, "seats": [draw_player(rng), draw_player(rng)] }),
            3 => json!({ "do": "study", "on": on }),
            4 => json!({ "do": "comment", "at": at, "text": format!("comment {}]\\", rng.below(100)) }),
            5 => json!({ "do": "remove", "at": at }),
            6 => json!({ "do": "put-back" }),
            7 => json!({ "do": "promote", "at": at }),
            8 if on => json!({ "do": "resign", "at": at }),
            9 => json!({ "do": "mark", "place": place }),
            10 => json!({ "do": "settle" }),
            11 => json!({ "do": "resume" }),
            12 => json!({ "do": "pause", "on": rng.chance(300) }),
            13 => json!({ "do": "seats", "black": draw_player(rng), "white": draw_player(rng) }),
            14 => json!({ "do": "answer", "at": at }),
            15 => json!({ "do": "answers", "on": on }),
            16 => json!({ "do": "analyse", "on": rng.chance(600) }),
            17 => json!({ "do": "view", "at": at }),
            18 => json!("nonsense"),
            19..21 => json!({ "do": "teach", "on": rng.chance(700) }),
            21..24 | 47 | 48 => json!({ "do": "review", "at": at, "on": rng.chance(800) }),
            24 => json!({ "do": "hint", "at": at }),
            25 => json!({ "do": "estimate", "at": at }),
            26 | 43 => json!({ "do": "review-page" }),
            27 | 44 => json!({ "do": "remember" }),
            28 | 45 => json!({ "do": if on { "save" } else { "share" } }),
            29 => json!({ "do": "problems", "at": [at] }),
            30..32 | 49 => self.draw_answer(shown, place),
            32 | 46 => self.draw_loaded(),
            33 => json!({ "do": "read-tsumego", "text": PROBLEMS[rng.below(4) as usize] }),
            34 | 35 if rng.chance(if shown.has_problem() { 300 } else { 700 }) => {
                let key = format!("problem {}", rng.below(4));
                let text = PROBLEMS.get(rng.below(5) as usize).copied().unwrap_or("no record");
                let goal = [json!("live"), json!("kill"), Value::Null, Value::Null];
                json!({ "do": "pose-tsumego", "key": key, "text": text, "goal": goal[rng.below(4) as usize] })
            }
            34 | 35 => json!({ "do": "leave-tsumego" }),
            36 => match &self.kept {
                Some(kept) => json!({ "do": "restore", "game": kept.game }),
                None => json!({ "do": "remember" }),
            },
            _ => json!({ "do": "play", "at": at, "place": place }),
        }
    }

    /// Draws an answer to a problem from the moves of a game.
    fn draw_answer(&mut self, shown: &Shown, place: String) -> Value {
        if self.positions.is_empty() {
            return json!({ "do": "problems", "at": [self.draw_node(shown)] });
        }
        let text = &self.positions[self.rng.below(self.positions.len() as u32) as usize];
        self.next_key += 1;
        json!({ "do": "solve", "key": self.next_key, "text": text, "place": place })
    }

    /// Draws a request that loads a record.
    fn draw_loaded(&mut self) -> Value {
        let rng = &mut self.rng;
        let (partial, plain) = (rng.chance(300), rng.chance(500));
        match rng.below(3) {
            0 if !self.records.is_empty() => {
                let text = &self.records[rng.below(self.records.len() as u32) as usize].0;
                json!({ "do": "load", "text": text, "partial": true })
            }
            1 if !self.shared.is_empty() => {
                let text = &self.shared[rng.below(self.shared.len() as u32) as usize].0;
                json!({ "do": "load", "shared": text, "partial": true })
            }
            _ => {
                let mut text = DrawnRecord::draw(rng).text;
                if rng.chance(300) {
                    text.truncate(text.floor_char_boundary(rng.below(text.len() as u32) as usize));
                }
                json!({ "do": "load", "text": text, "partial": partial, "plain": plain })
            }
        }
    }
}
