//! Comparison of the engine's answers with the model.

use super::game::{ModelGame, Verdict};
use super::session::{Session, Vertex};
use kosumi_go::board::{Cell, Color, Move, Point};
use std::collections::BTreeSet;

/// Komi beyond which scores are not compared, because they are rounded to single precision.
const LARGE_KOMI: f32 = 1000.0;

pub(super) fn name(color: Color) -> &'static str {
    match color {
        Color::Black => "black",
        Color::White => "white",
    }
}

pub(super) fn move_name(mv: Move) -> String {
    mv.to_string().to_ascii_uppercase()
}

fn names(points: &[Point]) -> BTreeSet<String> {
    points.iter().map(Point::to_string).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl ModelGame {
    fn stones_of(&self, color: Color) -> Vec<Point> {
        self.stones().filter(|&(_, own)| own == color).map(|(point, _)| point).collect()
    }

    fn size_text(&self) -> String {
        let (columns, rows) = (self.size().columns(), self.size().rows());
        if columns == rows { columns.to_string() } else { format!("{columns} {rows}") }
    }
}

impl Session<'_> {
    /// Reads a vertex of a response. It must be a point of the board.
    pub(super) fn read_point(&mut self, word: &str) -> Point {
        match self.read_move(word) {
            Move::Play(point) => point,
            Move::Pass => self.fail(&format!("{word} is no point of the board")),
        }
    }

    /// Reads a move of a response. It must be a pass or on the board.
    pub(super) fn read_move(&mut self, word: &str) -> Move {
        if word.eq_ignore_ascii_case("pass") {
            return Move::Pass;
        }
        let found = self.game.size().points().find(|point| point.to_string().eq_ignore_ascii_case(word));
        match found {
            Some(point) => Move::Play(point),
            None => self.fail(&format!("{word} is no move on the board")),
        }
    }

    fn compare(&mut self, line: &str, expected: &str) {
        let found = self.ask(line);
        self.ensure(found == expected, || format!("{line}: {found:?} instead of {expected:?}"));
    }

    fn compare_set(&mut self, line: &str, expected: &[Point]) {
        let found = self.ask(line);
        let expected = names(expected);
        self.ensure(words(&found) == expected, || format!("{line}: {found} instead of {expected:?}"));
    }

    /// Checks everything that is cheap to check.
    pub(super) fn check(&mut self) {
        for color in Color::BOTH {
            self.compare_set(&format!("list_stones {}", name(color)), &self.game.stones_of(color));
            let captures = self.game.lost[color.opponent()].to_string();
            self.compare(&format!("captures {}", name(color)), &captures);
        }
        self.compare("query_boardsize", &self.game.size_text());
        self.compare("get_komi", &self.game.komi.to_string());
        self.compare("get_handicap", &self.game.handicap().to_string());
        let rules = self.ask("kata-get-rules");
        let expected = self.game.rules.json();
        let is_it = serde_json::from_str(&rules).is_ok_and(|rules: serde_json::Value| rules == expected);
        self.ensure(is_it, || format!("rules {rules} instead of {expected}"));
        let history: Vec<String> = self
            .game
            .moves
            .iter()
            .rev()
            .map(|played| format!("{} {}", name(played.color), move_name(played.mv)))
            .collect();
        self.compare("move_history", &history.join("\n"));
        // No command states the side to move alone.
        let (to_move, expected) = (self.commands.engine().game().to_move(), self.game.to_move);
        self.ensure(to_move == expected, || format!("{to_move} to move instead of {expected}"));
        for _ in 0..2 {
            let (color, point) = (self.color(), self.point());
            let expected = if self.game.is_legal(color, Move::Play(point)) { "1" } else { "0" };
            self.compare(&format!("is_legal {} {point}", name(color)), expected);
        }
        let board = self.commands.engine().game().board();
        assert_eq!(board.key(), board.recomputed_key());
    }

    /// Checks all points for both sides.
    pub(super) fn check_all_points(&mut self) {
        for color in Color::BOTH {
            let legal = self.game.legal_points(color);
            self.compare_set(&format!("all_legal {}", name(color)), &legal);
            let banned = self.game.superko_banned(color);
            if !banned.is_empty() {
                self.count("superko");
            }
            self.compare_set(&format!("kosumi-superko_banned {}", name(color)), &banned);
        }
        if self.game.rules.ko == "SIMPLE" && self.game.ko_point().is_some() {
            self.count("simple ko");
        }
        self.commands.engine().game().board().check_consistency();
    }

    /// Sends a query that changes nothing.
    pub(super) fn query(&mut self) {
        match self.below(8) {
            0 => self.query_legality(),
            1 => self.show_board(),
            2..5 => self.final_score(),
            5 => self.query_liberties(),
            6 => {
                let answer = self.send("last_move");
                let expected = self.game.moves.last();
                let expected = expected.map(|last| format!("{} {}", name(last.color), move_name(last.mv)));
                self.ensure(answer.as_ref().ok() == expected.as_ref(), || format!("instead of {expected:?}"));
            }
            _ => {
                let line = self.choose(&[
                    "stop",
                    "gogui-interrupt",
                    "kgs-game_over",
                    "cgos-gameover B+5",
                    "estimate_score",
                    "kosumi-ownership",
                    "kosumi-priors",
                    "kosumi-keys",
                ]);
                let answer = self.send(line);
                self.ensure(answer.is_ok(), || "the model accepts it".to_owned());
            }
        }
    }

    fn query_legality(&mut self) {
        let (color, vertex) = (self.color(), self.vertex());
        let answer = self.send(&format!("is_legal {} {vertex}", name(color)));
        let expected = match vertex {
            Vertex::Move(mv) => Some(self.game.is_legal(color, mv)),
            Vertex::Outside(_) => Some(false),
            Vertex::Wrong(_) => None,
        };
        let expected = expected.map(|is_legal| if is_legal { "1" } else { "0" });
        self.ensure(answer.as_deref().ok() == expected, || format!("instead of {expected:?}"));
    }

    fn query_liberties(&mut self) {
        let vertex = self.vertex();
        let chain = match vertex {
            Vertex::Move(Move::Play(point)) if self.game.board.cell(point) != Cell::Empty => Some(point),
            _ => None,
        };
        let liberties = chain.map(|point| self.game.board.liberties(point));
        let count = self.send(&format!("countlib {vertex}")).ok();
        let expected = liberties.as_ref().map(|liberties| liberties.len().to_string());
        self.ensure(count == expected, || format!("instead of {expected:?}"));
        let found = self.send(&format!("findlib {vertex}")).ok().map(|text| words(&text));
        let expected = liberties.map(|liberties| names(&liberties));
        self.ensure(found == expected, || format!("instead of {expected:?}"));
    }

    /// Checks the diagram and its notes.
    fn show_board(&mut self) {
        let Ok(text) = self.send("showboard") else { self.fail("the model accepts it") };
        let size = self.game.size();
        let rows: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).skip(1).collect();
        for (row, line) in (0..size.rows()).rev().zip(&rows) {
            for column in 0..size.columns() {
                let symbol = line.chars().nth(3 + 2 * column);
                let is_it = match self.game.board.cell(Point::new(column, row)) {
                    Cell::Black => symbol == Some('X'),
                    Cell::White => symbol == Some('O'),
                    _ => matches!(symbol, Some('.' | '+')),
                };
                self.ensure(is_it, || format!("row {}, column {}", row + 1, column + 1));
            }
        }
        let plural = |count: u32| if count == 1 { "" } else { "s" };
        let [by_black, by_white] = Color::BOTH.map(|color| self.game.lost[color.opponent()]);
        let mut notes = vec![
            format!("{} to move, {} moves played", self.game.to_move, self.game.moves.len()),
            format!("BLACK (X) has captured {by_black} stone{}", plural(by_black)),
            format!("WHITE (O) has captured {by_white} stone{}", plural(by_white)),
        ];
        let (ko, banned) = (self.game.ko_point(), self.game.superko_banned(self.game.to_move));
        notes.extend(ko.map(|point| format!("ko at {point}")));
        if !banned.is_empty() {
            let banned: Vec<String> = banned.iter().map(Point::to_string).collect();
            notes.push(format!("superko forbids {}", banned.join(" ")));
        }
        for note in notes {
            self.ensure(text.contains(&note), || format!("without “{note}”"));
        }
        self.ensure(ko.is_some() || !text.contains("ko at"), || "a ko".to_owned());
        let is_banned = text.contains("superko forbids");
        self.ensure(!banned.is_empty() || !is_banned, || "a ban by superko".to_owned());
    }

    /// Checks the score. It is known where every stone is alive. Otherwise it must be the sum of the lists of points and
    /// stones, and every chain must be in one of the lists.
    fn final_score(&mut self) {
        let Ok(text) = self.send("final_score") else { self.fail("the model accepts it") };
        let score = self.read_score(&text);
        let rules = self.game.rules;
        let list = |session: &mut Self, status: &str| session.ask(&format!("final_status_list {status}"));
        let mut all = BTreeSet::new();
        for status in ["alive", "dead", "seki"] {
            let chains = list(self, status);
            for line in chains.lines() {
                let chain = words(line);
                let first = self.read_point(line.split(' ').next().unwrap_or_default());
                let is_stone = self.game.board.cell(first) != Cell::Empty;
                let whole = names(&self.game.board.connected(first));
                self.ensure(is_stone && chain == whole, || format!("{line} is no whole chain"));
                let is_new = chain.into_iter().all(|stone| all.insert(stone));
                self.ensure(is_new, || format!("{line} has two states"));
            }
        }
        let stones: Vec<Point> = self.game.stones().map(|(point, _)| point).collect();
        self.ensure(all == names(&stones), || "the lists have not all stones".to_owned());
        if self.game.komi.abs() > LARGE_KOMI {
            return;
        }
        if rules.scoring == "AREA" && rules.tax == "NONE" && !rules.friendly_pass {
            let expected = self.game.area_score();
            self.ensure((score - expected).abs() < 0.006, || format!("{expected} is the score"));
            self.count("known scores");
        }
        if rules.tax == "ALL" {
            return;
        }
        let dead = words(&list(self, "dead"));
        let [black, white] = Color::BOTH.map(|color| {
            let territory = words(&list(self, &format!("{}_territory", name(color)))).len() as f64;
            let is_dead = |&&point: &&Point| dead.contains(&point.to_string());
            let own = self.game.stones_of(color);
            let lost = self.game.stones_of(color.opponent()).iter().filter(is_dead).count() as f64;
            territory
                + match rules.scoring {
                    "AREA" => (own.len() - own.iter().filter(is_dead).count()) as f64,
                    _ => lost + f64::from(self.game.lost[color.opponent()]),
                }
        });
        let expected = black - white - self.game.white_points();
        self.ensure((score - expected).abs() < 0.006, || format!("{expected} is the sum of the lists"));
        self.count("scores");
    }

    fn read_score(&mut self, text: &str) -> f64 {
        let number = |text: &str| text.parse::<f64>().ok();
        let score = match text.split_once('+') {
            Some(("B", points)) => number(points),
            Some(("W", points)) => number(points).map(|points| -points),
            _ => number(text).filter(|&points| points == 0.0),
        };
        score.unwrap_or_else(|| self.fail(&format!("{text} is no score")))
    }

    /// Learns a move that the engine has played, which must be legal.
    pub(super) fn learn(&mut self, color: Color, word: &str) {
        self.game.set_to_move(color);
        if word == "resign" {
            return;
        }
        let mv = self.read_move(word);
        let verdict = self.game.verdict(color, mv);
        self.ensure(verdict == Verdict::Legal, || format!("{color} {mv} is not legal"));
        self.apply(color, mv);
        self.count("own moves");
    }
}
