//! A table as data for pages.

use super::{GameTable, Phase};
use crate::play::message::PlayerKind;
use crate::play::strength::{DEFAULT_LEVEL, LEVELS, Level, full_name};
use crate::review::{owners, place};
use crate::words::color_letter;
use kosumi_engine::time::TimeControl;
use kosumi_go::board::{Color, Move, PointSet};
use kosumi_go::handicap::star_points;
use kosumi_go::rules::PRESETS;
use kosumi_go::score::{self, format_score};
use kosumi_go::sgf::NodeId;
use kosumi_net::GameOutcome;
use serde_json::{Value, json};
use std::time::Duration;

impl GameTable {
    /// Returns the state that pages draw.
    pub(in crate::play) fn state(&self, now: Duration) -> Value {
        let (game, size) = (&self.game, self.game.size());
        let at = |point| place(size, Move::Play(point));
        let (dead, area, count) = match &self.phase {
            Phase::Marking(dead) => {
                let owner = score::scoring_owner(game.board(), dead, game.rules());
                let mean = |point| owner[point].map_or(0.0, |owner: Color| owner.sign() as f32);
                let means: Vec<f32> = size.points().map(mean).collect();
                let dead: String = dead.iter().map(at).collect();
                (dead, owners(size, &means), Some(self.score_parts(self.dead())))
            }
            _ => (String::new(), String::new(), None),
        };
        let rules = game.rules();
        json!({
            "is": "state",
            "columns": size.columns(),
            "rows": size.rows(),
            "stars": star_points(size).into_iter().map(at).collect::<String>(),
            "rules": rules.code_name(),
            "friendly": rules.friendly_pass,
            "komi": game.komi(),
            "handicap": game.handicap(),
            "lost": {
                "B": self.tree.start().start().prisoners(Color::Black),
                "W": self.tree.start().start().prisoners(Color::White),
            },
            "at": self.head.number(),
            "count_moves": self.tree.moves(self.head),
            "study": self.is_study(),
            "removed": self.tree.removed(),
            "turn": color_letter(game.to_move()).to_string(),
            "seats": { "B": self.seats[Color::Black], "W": self.seats[Color::White] },
            "names": { "B": self.names[Color::Black], "W": self.names[Color::White] },
            "clock": self.clock_state(now),
            "phase": match &self.phase {
                Phase::Playing => "playing",
                Phase::Marking(_) => "marking",
                Phase::Over(_) => "over",
            },
            "result": match &self.phase { Phase::Over(result) => Some(result), _ => None },
            "adapted": self.adapted_level(),
            "dead": dead,
            "area": area,
            "count": count,
            "paused": self.is_paused,
        })
    }

    /// Returns a node with its numbers as data for pages.
    pub(in crate::play) fn node_data(&self, id: NodeId) -> Value {
        let mut data = self.tree.data(id);
        if let (Value::Object(data), Some(known)) = (&mut data, self.results.get(&id)) {
            if let Some(it) = known.analysed.or(known.outlook) {
                let packed = [(it.win_rate * 1000.0).round(), (it.score * 10.0).round()].map(|it| it as i64);
                data.insert("e".to_owned(), json!([packed[0], packed[1], it.visits]));
            }
            if let Some(judged) = &known.judged {
                data.insert("j".to_owned(), judged.data());
            }
        }
        data
    }

    /// Returns the tree from a node on as data for pages, each node after its parent.
    pub(in crate::play) fn tree_data(&self, from: NodeId) -> Vec<Value> {
        self.tree.nodes_from(from).into_iter().map(|id| self.node_data(id)).collect()
    }

    /// Returns the adaptive level for the next game, if the game has a result and exactly one adaptive player.
    pub(super) fn adapted_level(&self) -> Option<String> {
        let Phase::Over(result) = &self.phase else { return None };
        if self.is_study() {
            return None;
        }
        let winner = match result.chars().next()? {
            'B' => Some(Color::Black),
            'W' => Some(Color::White),
            '0' | 'D' => None,
            _ => return None,
        };
        let mut found = Color::BOTH.into_iter().filter_map(|color| {
            let PlayerKind::Kosumi { level } = &self.seats[color] else { return None };
            let outcome = match winner {
                Some(winner) if winner == color => GameOutcome::Won,
                Some(_) => GameOutcome::Lost,
                None => GameOutcome::Drawn,
            };
            Level::named(level)?.name_after(outcome)
        });
        found.next().filter(|_| found.next().is_none())
    }

    pub(super) fn dead(&self) -> &PointSet {
        match &self.phase {
            Phase::Marking(dead) => dead,
            _ => &PointSet::EMPTY,
        }
    }

    pub(super) fn score_parts(&self, dead: &PointSet) -> Value {
        let count = score::count(&self.game, dead);
        let of = |color: Color| {
            json!({
                "territory": count.territory[color],
                "stones": count.stones[color],
                "captives": count.captives[color],
            })
        };
        json!({
            "B": of(Color::Black),
            "W": of(Color::White),
            "komi": count.komi,
            "bonus": count.white_bonus,
            "score": format_score(count.black_minus_white),
        })
    }

    pub(super) fn clock_state(&self, now: Duration) -> Value {
        let control = self.clocks[Color::Black].control();
        let (kind, period) = match control {
            TimeControl::None => return Value::Null,
            TimeControl::ByoYomi { period, .. } => ("byo-yomi", period),
            TimeControl::Fischer { .. } => ("fischer", Duration::ZERO),
            _ => ("absolute", Duration::ZERO),
        };
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let of = |color: Color| {
            let clock = &self.clocks[color];
            let periods = match control {
                TimeControl::ByoYomi { periods, .. } if !clock.is_overtime() => periods,
                _ => clock.stones_or_periods(),
            };
            json!({ "left": milliseconds(clock.left()), "overtime": clock.is_overtime(), "periods": periods })
        };
        json!({
            "kind": kind,
            "period": milliseconds(period),
            "B": of(Color::Black),
            "W": of(Color::White),
            "runs": self.turn_began.map(|_| color_letter(self.game.to_move()).to_string()),
            "passed": self.turn_began.map_or(0, |began| milliseconds(now.saturating_sub(began))),
        })
    }
}

/// Returns the choices that a page offers.
pub(in crate::play) fn choices(engines: &[String]) -> Value {
    let rules = PRESETS.iter().map(|preset| json!({ "id": preset.names[0], "komi": preset.komi }));
    json!({
        "is": "choices",
        "levels": LEVELS,
        "usual": DEFAULT_LEVEL,
        "adaptive": full_name(DEFAULT_LEVEL),
        "rules": rules.collect::<Vec<Value>>(),
        "engines": engines,
        "version": env!("CARGO_PKG_VERSION"),
    })
}
