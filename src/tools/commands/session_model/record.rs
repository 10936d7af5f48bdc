//! Records that the session saves and loads.

use super::check::name;
use super::game::{ModelGame, Verdict};
use super::reference::ReferenceBoard;
use super::rules::NAMED;
use super::session::Session;
use kosumi_go::board::{BoardSize, Cell, Color, Key, Move, Point};
use kosumi_go::graph_key::NodeSharing;
use std::fmt::Write;

/// Game in a file.
#[derive(Clone, Debug)]
pub(super) struct SavedGame {
    game: ModelGame,
    /// Key of the position when it was saved, which depends on the kind of the keys.
    key: (NodeSharing, Key),
    /// Text without comments, result and clocks.
    text: String,
}

/// File that the model writes.
pub(super) const WRITTEN: &str = "written.sgf";

/// Files that sessions write.
pub(super) const FILES: [&str; 2] = ["a.sgf", "the other.sgf"];

impl SavedGame {
    /// Returns the game up to the position before a move, counted from 1, or all of it, and whether all moves up to
    /// there are legal.
    ///
    /// A record has the side to move of the first and the last position only. In between the colours alternate as far
    /// as the moves say.
    fn up_to(&self, number: Option<usize>) -> (ModelGame, bool) {
        let saved = &self.game;
        let mut game = ModelGame::at(saved.start.clone(), saved.start_to_move, saved.rules, saved.komi);
        game.placed_handicap = saved.placed_handicap;
        (game.start_lost, game.lost) = (saved.start_lost, saved.start_lost);
        let mut is_legal = true;
        for (index, played) in saved.moves.iter().enumerate() {
            if number.is_some_and(|number| index + 1 >= number) {
                game.set_to_move(played.color);
                return (game, is_legal);
            }
            is_legal &= game.is_legal(played.color, played.mv);
            game.play(played.color, played.mv);
        }
        game.set_to_move(saved.to_move);
        (game, is_legal)
    }
}

impl Session<'_> {
    pub(super) fn use_records(&mut self) {
        match self.below(8) {
            0..3 => self.save(),
            3 => {
                let word = self.choose(&["", " - none", " - variation"]);
                let answer = self.send(&format!("printsgf{word}"));
                self.ensure(answer.is_ok_and(|text| text.starts_with("(;")), || "no record".to_owned());
            }
            4 => self.load_written(),
            _ => self.load(),
        }
    }

    fn save(&mut self) {
        let file = self.choose(&FILES);
        let line = match self.below(3) {
            0 => format!("printsgf \"{file}\" none"),
            1 => format!("savesgf {file}"),
            _ => format!("savesgf {file} variation"),
        };
        let answer = self.send(&line);
        self.ensure(answer.as_deref() == Ok(""), || "the model accepts it".to_owned());
        let saved = SavedGame { game: self.game.clone(), key: self.key(), text: self.record_text() };
        self.saved.insert(file, saved);
        self.count("saved");
    }

    fn key(&self) -> (NodeSharing, Key) {
        let game = self.commands.engine().game();
        (game.sharing(), game.graph_key())
    }

    /// Returns the record without comments, result and clocks, which are not loaded.
    fn record_text(&mut self) -> String {
        let mut text = self.ask("printsgf - none");
        for name in ["RE", "TM", "OT", "BL", "WL", "OB", "OW"] {
            if let Some((before, after)) = text.split_once(&format!("{name}[")) {
                text = format!("{before}{}", after.split_once(']').map_or("", |(_, rest)| rest));
            }
        }
        // Without the clocks, lines may be broken elsewhere.
        text.split_whitespace().collect()
    }

    fn load(&mut self) {
        let file = self.choose(&FILES);
        let number = if self.one_in(3) { Some(self.below(20)) } else { None };
        let Some(saved) = self.saved.get(file).cloned() else {
            let answer = self.send(&format!("loadsgf {file}"));
            return self.ensure(answer.is_err(), || "there is no such file".to_owned());
        };
        let (game, is_legal) = saved.up_to(number);
        let line =
            number.map_or_else(|| format!("loadsgf {file}"), |number| format!("loadsgf {file} {number}"));
        let answer = self.send(&line);
        if self.is_strict && !is_legal {
            return self.ensure(answer.is_err(), || "the record has illegal moves".to_owned());
        }
        self.ensure(answer.as_deref() == Ok(name(game.to_move)), || {
            format!("{} is to move in the record", game.to_move)
        });
        let is_whole = number.is_none_or(|number| number > saved.game.moves.len());
        self.game = game;
        self.count("loaded");
        if is_whole {
            let (key, text) = (self.key(), self.record_text());
            self.ensure(key.0 != saved.key.0 || key == saved.key, || "another key than before".to_owned());
            self.compare_texts(&saved.text, &text);
        }
    }

    fn compare_texts(&mut self, saved: &str, loaded: &str) {
        self.ensure(saved == loaded, || format!("saved as\n{saved}\nand after loading\n{loaded}"));
    }

    /// Loads a record that the model has written, with stones that are set up in the root and between the moves, with
    /// illegal moves, and mostly without rules and komi.
    fn load_written(&mut self) {
        let size = BoardSize::new(1 + self.below(5), 1 + self.below(5)).expect("a size");
        let number = if self.one_in(3) { Some(self.below(10)) } else { None };
        let named = if self.one_in(2) { Some(self.choose(NAMED)) } else { None };
        let rules = named.map_or(self.default_rules, |(_, rules, _)| rules);
        let usual = NAMED.iter().find(|(_, known, _)| *known == rules).map_or(7.5, |&(.., komi)| komi);
        let given = if self.one_in(2) { Some(self.choose(&[0.0, 0.5, 5.5, 7.0, -3.5])) } else { None };
        let mut game = ModelGame::new(size, rules, given.unwrap_or(usual));
        let mut text = format!("(;GM[1]SZ[{}:{}]", size.columns(), size.rows());
        let _ = given.map_or(Ok(()), |komi| write!(text, "KM[{komi}]"));
        let _ = named.map_or(Ok(()), |(name, ..)| write!(text, "RU[{name}]"));
        let board = self.written_set_up(&game, 6);
        let colors: Vec<Color> = size.points().filter_map(|point| board.cell(point).color()).collect();
        game = ModelGame::at(board, Color::Black, rules, game.komi);
        set_up_text(&mut text, &ReferenceBoard::new(size), &game.board);
        if self.one_in(4) {
            let color = self.choose(&Color::BOTH);
            let _ = write!(text, "PL[{}]", letter(color));
            game.set_to_move(color);
        } else if colors.len() >= 2 && !colors.contains(&Color::White) {
            game.set_to_move(Color::White);
        }
        if colors.len() >= 2 && !colors.contains(&Color::White) {
            game.placed_handicap = Some(colors.len() as u32);
        }
        let (mut moves, mut is_loaded, mut is_over) = (0, true, false);
        for _ in 0..self.below(14) {
            if self.one_in(8) {
                let board = self.written_set_up(&game, 2);
                if board != game.board {
                    text.push_str("\n;");
                    set_up_text(&mut text, &game.board, &board);
                    if !is_over {
                        game = game.set_up_at(board);
                    }
                }
                continue;
            }
            let color = if self.one_in(5) { self.choose(&Color::BOTH) } else { game.to_move };
            let at = self.below(size.area());
            let mv = match self.one_in(12) {
                true => Move::Pass,
                false => Move::Play(Point::new(at % size.columns(), at / size.columns())),
            };
            let _ = write!(
                text,
                "\n;{}[{}]",
                letter(color),
                mv.point().map_or(String::new(), |it| place(size, it))
            );
            moves += 1;
            if is_over {
                continue;
            }
            if number.is_some_and(|number| moves >= number) {
                game.set_to_move(color);
                is_over = true;
                continue;
            }
            let verdict = game.verdict(color, mv);
            if verdict == Verdict::Impossible || self.is_strict && verdict == Verdict::Forbidden {
                (is_loaded, is_over) = (false, true);
                continue;
            }
            game.play(color, mv);
        }
        text.push_str(")\n");
        let loaded = game;
        (self.store)(&self.folder.join(WRITTEN), &text);
        self.note(&format!("({WRITTEN} is {text})"));
        let line = number
            .map_or_else(|| format!("loadsgf {WRITTEN}"), |number| format!("loadsgf {WRITTEN} {number}"));
        let answer = self.send(&line);
        match answer {
            Ok(to_move) => {
                self.ensure(is_loaded, || "a move of the record cannot be played".to_owned());
                let expected = name(loaded.to_move);
                self.ensure(to_move == expected, || format!("{expected} is to move"));
                self.game = loaded;
                self.count("written records");
            }
            Err(_) => self.ensure(!is_loaded, || "the record can be played".to_owned()),
        }
    }

    /// Returns the position of a game with up to `most` points changed. All chains have liberties.
    fn written_set_up(&mut self, game: &ModelGame, most: usize) -> ReferenceBoard {
        let mut board = game.board.clone();
        let size = game.size();
        let colors: &[Cell] = self.choose(&[&[Cell::Black], &[Cell::Black, Cell::White, Cell::Empty]]);
        for _ in 0..self.below(most + 1) {
            let at = self.below(size.area());
            let cell = self.choose(colors);
            board.set(Point::new(at % size.columns(), at / size.columns()), cell);
        }
        if board.is_legal_position() { board } else { game.board.clone() }
    }
}

fn letter(color: Color) -> char {
    if color == Color::Black { 'B' } else { 'W' }
}

/// Returns a point as SGF names it.
fn place(size: BoardSize, point: Point) -> String {
    let name = |number: usize| char::from(b'a' + number as u8);
    [name(point.column()), name(size.rows() - 1 - point.row())].iter().collect()
}

/// Writes the properties of a node that changes a position.
fn set_up_text(text: &mut String, before: &ReferenceBoard, after: &ReferenceBoard) {
    for (property, cell) in [("AB", Cell::Black), ("AW", Cell::White), ("AE", Cell::Empty)] {
        let size = after.size();
        let changed = |point: &Point| after.cell(*point) == cell && before.cell(*point) != cell;
        let points: Vec<Point> = size.points().filter(changed).collect();
        if !points.is_empty() {
            text.push_str(property);
        }
        points.iter().for_each(|&point| text.push_str(&format!("[{}]", place(size, point))));
    }
}
