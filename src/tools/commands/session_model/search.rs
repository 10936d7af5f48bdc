//! Searches: moves that the engine chooses, and analysis.

use super::check::name;
use super::session::{Session, Vertex};
use kosumi_go::board::{Color, Move};
use std::fmt::Write;

/// Largest number of moves of a report whose variations are checked.
const MAX_VARIATIONS: usize = 4;

/// A rule of an analysis: moves of one side that it must leave out at depths below `until`.
#[derive(Clone, Debug)]
struct Ban {
    color: Color,
    moves: Vec<Move>,
    /// Whether all other moves are left out instead.
    is_allow: bool,
    until: usize,
}

impl Ban {
    fn forbids(&self, color: Color, mv: Move, depth: usize) -> bool {
        self.color == color && depth < self.until && self.moves.contains(&mv) != self.is_allow
    }
}

fn is_forbidden(bans: &[Ban], color: Color, mv: Move, depth: usize) -> bool {
    bans.iter().any(|ban| ban.forbids(color, mv, depth))
}

/// A move of a report.
#[derive(Clone, Default, Debug)]
struct Info<'t> {
    mv: &'t str,
    visits: Option<u32>,
    order: Option<usize>,
    win_rate: Option<f64>,
    variation: Vec<&'t str>,
}

/// Reads the moves of a report.
fn infos(line: &str) -> Vec<Info<'_>> {
    let mut found: Vec<Info<'_>> = Vec::new();
    let mut words = line.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if word == "info" {
            found.push(Info::default());
            continue;
        }
        // The numbers about the root follow those about the moves.
        if word == "rootInfo" {
            break;
        }
        let Some(info) = found.last_mut() else { continue };
        let mut value = || words.next().unwrap_or_default();
        match word {
            "move" => info.mv = value(),
            "visits" => info.visits = value().parse().ok(),
            "order" => info.order = value().parse().ok(),
            "winrate" => info.win_rate = value().parse().ok(),
            "pv" => {
                let is_move = |word: &&str| {
                    *word == "pass" || word.starts_with(|letter: char| letter.is_ascii_uppercase())
                };
                while let Some(mv) = words.next_if(is_move) {
                    info.variation.push(mv);
                }
            }
            _ => {}
        }
    }
    found
}

impl Session<'_> {
    /// Returns the number of looks at the clock after which input arrives.
    fn patience(&mut self) -> u64 {
        let most = self.choose(&[1, 10, 60]);
        self.below(most) as u64
    }

    /// Returns whether a side has a legal move that is not left out.
    fn has_move(&self, color: Color, bans: &[Ban]) -> bool {
        let mut moves = self.game.size().points().map(Move::Play).chain([Move::Pass]);
        moves.any(|mv| !is_forbidden(bans, color, mv, 0) && self.game.is_legal(color, mv))
    }

    /// Makes the engine choose and play a move.
    pub(super) fn generate_move(&mut self) {
        let color = self.color();
        let looks = if self.one_in(4) { Some(self.patience()) } else { None };
        let colored = self.color_name(color);
        if self.one_in(4) {
            let (name, is_kata) =
                self.choose(&[("lz-genmove_analyze", false), ("kata-genmove_analyze", true)]);
            let (arguments, bans) = self.analysis_arguments(is_kata);
            let answer = self.send_with_input_after(&format!("{name} {colored}{arguments}"), looks);
            if let Some(last) = self.check_reports(answer, color, &bans) {
                self.learn_play(color, &last, &bans);
            }
            return;
        }
        let line = match self.below(8) {
            0 => format!("kgs-genmove_cleanup {colored}"),
            1 => format!("gomill-genmove_ex {colored}"),
            2 => format!("cgos-genmove_analyze {colored}"),
            _ => format!("genmove {colored}"),
        };
        let Ok(text) = self.send_with_input_after(&line, looks) else { self.fail("the model accepts it") };
        let last = text.lines().last().unwrap_or_default();
        self.learn(color, last.strip_prefix("play ").unwrap_or(last));
    }

    /// Learns the move of the line `play MOVE`.
    fn learn_play(&mut self, color: Color, line: &str, bans: &[Ban]) {
        let Some(word) = line.strip_prefix("play ") else { self.fail("no line “play”") };
        if word != "resign" {
            let mv = self.read_move(word);
            self.ensure(!is_forbidden(bans, color, mv, 0), || format!("{mv} should be left out"));
        }
        self.learn(color, word);
    }

    /// Makes the engine choose a move without playing it.
    pub(super) fn choose_move(&mut self) {
        let color = self.color();
        let colored = self.color_name(color);
        let looks = if self.one_in(4) { Some(self.patience()) } else { None };
        match self.below(8) {
            0 => {
                let answer = self.send_with_input_after(&format!("kosumi-search {colored}"), looks);
                self.ensure(answer.is_ok(), || "the model accepts it".to_owned());
            }
            // KataGo's commands make the colour the side to move.
            1 => {
                let Ok(text) = self.send_with_input_after(&format!("kata-search {colored}"), looks) else {
                    self.fail("the model accepts it")
                };
                self.game.set_to_move(color);
                self.check_choice(color, &text);
            }
            2 => {
                let Ok(text) =
                    self.send_with_input_after(&format!("kata-search_cancellable {colored}"), looks)
                else {
                    self.fail("the model accepts it")
                };
                self.game.set_to_move(color);
                if text == "cancelled" {
                    self.ensure(looks.is_some(), || "nothing cancels the search".to_owned());
                    self.count("cancelled");
                } else {
                    self.check_choice(color, &text);
                }
            }
            3 => {
                let name = self.choose(&["kata-search_analyze", "kata-search_analyze_cancellable"]);
                let (arguments, bans) = self.analysis_arguments(true);
                let answer = self.send_with_input_after(&format!("{name} {colored}{arguments}"), looks);
                let Some(last) = self.check_reports(answer, color, &bans) else { return };
                self.game.set_to_move(color);
                let Some(word) = last.strip_prefix("play ") else { self.fail("no line “play”") };
                if word == "cancelled" {
                    self.ensure(looks.is_some(), || "nothing cancels the search".to_owned());
                } else {
                    self.check_choice(color, word);
                }
            }
            4 => {
                let seed = self.below(3);
                let line = format!("gg_genmove {colored} {seed}");
                let Ok(text) = self.send_with_input_after(&line, looks) else {
                    self.fail("the model accepts it")
                };
                self.check_choice(color, &text);
            }
            5 => {
                let mut line = format!("restricted_genmove {colored}");
                let (mut moves, mut is_right) = (Vec::new(), true);
                for _ in 0..=self.below(4) {
                    let vertex = self.vertex();
                    let _ = write!(line, " {vertex}");
                    match vertex {
                        Vertex::Move(mv) => moves.push(mv),
                        Vertex::Outside(_) => {}
                        Vertex::Wrong(_) => is_right = false,
                    }
                }
                let answer = self.send_with_input_after(&line, looks);
                let is_accepted = is_right && !moves.is_empty();
                self.ensure(answer.is_ok() == is_accepted, || {
                    format!("accepted by the model: {is_accepted}")
                });
                let Ok(text) = answer else { return };
                self.check_choice(color, &text);
                let mv = self.read_move(&text);
                let has_any = moves.iter().any(|&mv| self.game.is_legal(color, mv));
                self.ensure(moves.contains(&mv) || !has_any, || format!("{mv} is not permitted"));
            }
            _ => {
                let line = format!("reg_genmove {colored}");
                let Ok(text) = self.send_with_input_after(&line, looks) else {
                    self.fail("the model accepts it")
                };
                self.check_choice(color, &text);
                if looks.is_none() {
                    // The same position always gets the same move.
                    let again = self.send(&line);
                    self.ensure(again.as_ref() == Ok(&text), || "another move than before".to_owned());
                }
            }
        }
    }

    /// Checks a move that was chosen, but not played.
    fn check_choice(&mut self, color: Color, word: &str) {
        if word != "resign" {
            let mv = self.read_move(word);
            let is_legal = self.game.is_legal(color, mv);
            self.ensure(is_legal, || format!("{color} {mv} is not legal"));
        }
        self.count("choices");
    }

    /// Analyses until input arrives.
    pub(super) fn analyze(&mut self) {
        let (name, is_kata) =
            self.choose(&[("lz-analyze", false), ("kata-analyze", true), ("kata-analyze", true)]);
        let mut line = name.to_owned();
        let mut color = self.game.to_move;
        if !self.one_in(3) {
            color = self.color();
            let _ = write!(line, " {}", self.color_name(color));
        }
        let (arguments, bans) = self.analysis_arguments(is_kata);
        let looks = self.patience();
        let answer = self.send_with_input_after(&format!("{line}{arguments}"), Some(looks));
        if let Some(last) = self.check_reports(answer, color, &bans) {
            self.ensure(last.is_empty(), || "a line after the reports".to_owned());
            self.count("analysed");
        }
    }

    /// Draws the interval and the other arguments of an analysis.
    fn analysis_arguments(&mut self, is_kata: bool) -> (String, Vec<Ban>) {
        let mut text = self.choose(&["", " 1", " 2", " interval 1"]).to_owned();
        if is_kata && self.one_in(3) {
            text.push_str(self.choose(&[
                " rootInfo true",
                " ownership true",
                " movesOwnership true pvVisits true",
            ]));
        }
        if self.one_in(4) {
            text.push_str(self.choose(&[" minmoves 3", " maxmoves 2", " pvVisits true"]));
        }
        let mut bans = Vec::new();
        for _ in 0..self.below(5).saturating_sub(2) {
            let is_allow = self.one_in(2);
            let color = self.color();
            let moves: Vec<Move> = (0..=self.below(6))
                .map(|_| if self.one_in(8) { Move::Pass } else { Move::Play(self.point()) })
                .collect();
            let until = 1 + self.below(3);
            let list: Vec<String> = moves.iter().map(Move::to_string).collect();
            let key = if is_allow { "allow" } else { "avoid" };
            let _ = write!(text, " {key} {} {} {until}", name(color), list.join(","));
            bans.push(Ban { color, moves, is_allow, until });
        }
        (text, bans)
    }

    /// Checks the reports of a response. Returns the line after them, which may be empty, or `None` if the engine has
    /// refused the request because it leaves no move.
    fn check_reports(
        &mut self,
        answer: Result<String, String>,
        color: Color,
        bans: &[Ban],
    ) -> Option<String> {
        let has_move = self.has_move(color, bans);
        let Ok(text) = answer else {
            self.ensure(!has_move, || "the model accepts it".to_owned());
            return None;
        };
        self.ensure(has_move, || "no move is left".to_owned());
        let lines = text.lines().filter(|line| !line.is_empty());
        let (reports, others): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("info "));
        self.ensure(others.len() <= 1, || format!("more lines than expected: {others:?}"));
        if let Some(last) = reports.last() {
            *self.counts.entry("reports").or_default() += reports.len() as u64;
            self.check_report(last, color, bans);
        }
        if let [first, _, ..] = reports[..] {
            self.check_report(first, color, bans);
        }
        Some(others.first().copied().unwrap_or_default().to_owned())
    }

    fn check_report(&mut self, line: &str, color: Color, bans: &[Ban]) {
        let infos = infos(line);
        self.ensure(!infos.is_empty(), || "an empty report".to_owned());
        let scale = if line.contains("edgeVisits") { 1.0 } else { 10_000.0 };
        for (order, info) in infos.iter().enumerate() {
            let mv = self.read_move(info.mv);
            let is_legal = self.game.is_legal(color, mv) && !is_forbidden(bans, color, mv, 0);
            self.ensure(is_legal, || format!("{color} {mv} should not be analysed"));
            self.ensure(info.order == Some(order), || format!("{mv} is not at its place"));
            self.ensure(info.visits.is_some(), || format!("{mv} has no visits"));
            let is_rate = info.win_rate.is_some_and(|rate| (0.0..=scale).contains(&rate));
            self.ensure(is_rate, || format!("{mv} has no win rate"));
            self.ensure(info.variation.first() == Some(&info.mv), || format!("the variation of {mv}"));
            let is_new = infos[..order].iter().all(|other| other.mv != info.mv);
            self.ensure(is_new, || format!("{mv} occurs twice"));
        }
        for info in infos.iter().take(MAX_VARIATIONS) {
            self.check_variation(&info.variation, color, bans);
        }
    }

    /// Checks that a variation can be played, by playing it on the model.
    fn check_variation(&mut self, variation: &[&str], first: Color, bans: &[Ban]) {
        let before = self.game.clone();
        // The search begins as if it were this side's turn, which situational superko takes into account.
        self.game.set_to_move(first);
        let mut color = first;
        for (depth, word) in variation.iter().enumerate() {
            let mv = self.read_move(word);
            let is_legal = self.game.is_legal(color, mv) && !is_forbidden(bans, color, mv, depth);
            if !is_legal {
                self.game = before;
                self.fail(&format!("{color} {mv} in the variation {}", variation.join(" ")));
            }
            self.game.play(color, mv);
            color = color.opponent();
        }
        self.game = before;
    }
}
