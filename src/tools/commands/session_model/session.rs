//! The session: choice of commands, and what the model expects of each.

use super::super::Commands;
use super::Choices;
use super::game::{ModelGame, Verdict};
use super::record::{FILES, SavedGame, WRITTEN};
use super::reference::ReferenceBoard;
use super::rules::{BONUS, KO, ModelRules, NAMED, SCORING, TAX};
use kosumi_engine::{CommentDetail, Engine, EngineSettings};
use kosumi_eval::PlayoutSettings;
use kosumi_go::board::{BoardSize, Cell, Color, Key, Move, Point};
use kosumi_go::sgf::Meta;
use kosumi_gtp::{Handler, InputWatch};
use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// Looks at the clock so far.
static LOOKS: AtomicU64 = AtomicU64::new(0);
/// Look at which further input interrupts the running command.
static INTERRUPT_AT: AtomicU64 = AtomicU64::new(u64::MAX);
static WATCH: LazyLock<InputWatch> = LazyLock::new(InputWatch::default);
/// Held by the only session, because the engine's time source has no state of its own.
static RUNNING: Mutex<()> = Mutex::new(());

/// Simulated time. Threads of a search look at it after every few simulations.
fn look() -> Duration {
    let looks = LOOKS.fetch_add(1, Ordering::Relaxed) + 1;
    if looks >= INTERRUPT_AT.load(Ordering::Relaxed) {
        WATCH.interrupt();
    }
    Duration::from_millis(2 * looks)
}

/// Number of commands after which a session ends in any case.
const MAX_COMMANDS: u32 = 150;

/// Point or move as a command names it.
#[derive(Clone, Debug)]
pub(super) enum Vertex {
    Move(Move),
    /// A vertex outside the board.
    Outside(String),
    /// Text that is no vertex.
    Wrong(&'static str),
}

impl Display for Vertex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Vertex::Move(mv) => mv.fmt(f),
            Vertex::Outside(text) => f.write_str(text),
            Vertex::Wrong(text) => f.write_str(text),
        }
    }
}

/// Function that writes a file.
pub(crate) type Store = fn(&Path, &str);

/// What a refused command must leave as it is.
#[derive(Clone, PartialEq, Debug)]
struct Trace {
    key: Key,
    game: u64,
    change: u64,
    record: String,
}

/// A session and its model.
pub(super) struct Session<'c> {
    pub(super) commands: Commands,
    pub(super) choices: &'c mut dyn Choices,
    pub(super) folder: &'c Path,
    pub(super) store: Store,
    pub(super) game: ModelGame,
    pub(super) is_strict: bool,
    /// Rules of records that name none.
    pub(super) default_rules: ModelRules,
    /// Files that the session has written.
    pub(super) saved: BTreeMap<&'static str, SavedGame>,
    /// Points that a move has emptied, or played on: moves there are likely to be a ko or a repetition.
    recent: Vec<Point>,
    /// Commands and responses so far.
    transcript: String,
    /// Whether a message has shown the transcript.
    is_reported: bool,
    /// Number of events, by name.
    pub(super) counts: BTreeMap<&'static str, u64>,
}

impl Drop for Session<'_> {
    #[expect(clippy::print_stderr, reason = "the commands of a failed session")]
    fn drop(&mut self) {
        if std::thread::panicking() && !self.is_reported {
            eprintln!("{}", self.transcript);
        }
    }
}

/// Runs a session in a folder for its files, into which `store` writes, and returns the number of events of each kind.
///
/// # Panics
///
/// Panics with all commands and responses if the engine does not do what the model says.
pub(crate) fn run(choices: &mut dyn Choices, folder: &Path, store: Store) -> BTreeMap<&'static str, u64> {
    let _only = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    LOOKS.store(0, Ordering::Relaxed);
    for file in FILES.into_iter().chain([WRITTEN]) {
        // Another session may have left it.
        let _ = std::fs::remove_file(folder.join(file));
    }
    let settings = EngineSettings {
        threads: 1,
        memory_mebibytes: 1,
        playouts: Some(4),
        playout: PlayoutSettings { ownership_playouts: 8, ..PlayoutSettings::default() },
        ..EngineSettings::default()
    };
    let engine = Engine::new(settings).with_time_source(look);
    let (_, rules, komi) = NAMED[0];
    let size = BoardSize::square(19).expect("a size");
    let mut session = Session {
        commands: Commands::new(engine).in_folder(folder),
        choices,
        folder,
        store,
        game: ModelGame::new(size, rules, komi),
        is_strict: false,
        default_rules: rules,
        saved: BTreeMap::new(),
        recent: Vec::new(),
        transcript: String::new(),
        is_reported: false,
        counts: BTreeMap::new(),
    };
    session.begin();
    for _ in 0..MAX_COMMANDS {
        if session.choices.is_spent() {
            break;
        }
        session.step();
    }
    session.check_all_points();
    std::mem::take(&mut session.counts)
}

impl Session<'_> {
    // ------------------------------------------------------------------------------------------ choices

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.choices.below(bound as u32) as usize
    }

    /// Returns true in one of `times` cases.
    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(super) fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Draws the side of a command: mostly the one to move.
    pub(super) fn color(&mut self) -> Color {
        if self.one_in(4) { self.game.to_move.opponent() } else { self.game.to_move }
    }

    /// Returns a name of a colour.
    pub(super) fn color_name(&mut self, color: Color) -> &'static str {
        match color {
            Color::Black => self.choose(&["b", "black", "B"]),
            Color::White => self.choose(&["w", "white", "White"]),
        }
    }

    pub(super) fn any_point(&mut self) -> Point {
        let size = self.game.size();
        let number = self.below(size.area());
        Point::new(number % size.columns(), number / size.columns())
    }

    /// Draws a point where something may happen: where a stone has been, or the last liberty of a chain.
    pub(super) fn point(&mut self) -> Point {
        let size = self.game.size();
        self.recent.retain(|point| size.contains(point.column(), point.row()));
        match self.below(8) {
            0..3 if !self.recent.is_empty() => {
                let recent = self.recent.len().min(6);
                let back = self.below(recent);
                self.recent[self.recent.len() - 1 - back]
            }
            3 | 4 => {
                let board = &self.game.board;
                let last: Vec<Point> = self
                    .game
                    .stones()
                    .filter_map(|(stone, _)| match board.liberties(stone)[..] {
                        [only] => Some(only),
                        _ => None,
                    })
                    .collect();
                if last.is_empty() { self.any_point() } else { self.choose(&last) }
            }
            5 | 6 => {
                let empty: Vec<Point> =
                    size.points().filter(|&point| self.game.board.cell(point) == Cell::Empty).collect();
                if empty.is_empty() { self.any_point() } else { self.choose(&empty) }
            }
            _ => self.any_point(),
        }
    }

    pub(super) fn vertex(&mut self) -> Vertex {
        match self.below(40) {
            0 | 1 => Vertex::Move(Move::Pass),
            2 => {
                // No board of a session has as many points as the protocol can name.
                let size = self.game.size();
                Vertex::Outside(match self.below(3) {
                    0 => format!("A{}", size.rows() + 1),
                    1 => Point::new(size.columns(), 0).to_string(),
                    _ => "Z25".to_owned(),
                })
            }
            3 => Vertex::Wrong(self.choose(&["I1", "A0", "A26", "x", "5E", "resign"])),
            _ => Vertex::Move(Move::Play(self.point())),
        }
    }

    // ------------------------------------------------------------------------------------------ commands

    /// Sends a command and returns its response. A search ends by itself or after this number of looks at the clock.
    pub(super) fn send_with_input_after(&mut self, line: &str, looks: Option<u64>) -> Result<String, String> {
        let before = self.trace();
        let at = looks.map_or(u64::MAX, |looks| LOOKS.load(Ordering::Relaxed) + 1 + looks);
        INTERRUPT_AT.store(at, Ordering::Relaxed);
        let _ = writeln!(self.transcript, "{line}");
        let answer = kosumi_gtp::answer(line, &mut self.commands, &WATCH).expect("a command");
        INTERRUPT_AT.store(u64::MAX, Ordering::Relaxed);
        let _ = match &answer {
            Ok(text) => writeln!(self.transcript, "= {text}"),
            Err(text) => writeln!(self.transcript, "? {text}"),
        };
        *self.counts.entry(if answer.is_ok() { "commands" } else { "refused" }).or_default() += 1;
        if answer.is_err() {
            let after = self.trace();
            self.ensure(before == after, || format!("a refused command changes\n{before:?} to\n{after:?}"));
        }
        answer
    }

    pub(super) fn send(&mut self, line: &str) -> Result<String, String> {
        self.send_with_input_after(line, None)
    }

    /// Sends a command that changes nothing and is no part of the session.
    pub(super) fn ask(&mut self, line: &str) -> String {
        let answer = kosumi_gtp::answer(line, &mut self.commands, &WATCH).expect("a command");
        answer.unwrap_or_else(|message| self.fail(&format!("{line}: refused, {message}")))
    }

    fn trace(&self) -> Trace {
        let engine = self.commands.engine();
        let revision = engine.revision();
        Trace {
            key: engine.game().graph_key(),
            game: revision.game,
            change: revision.change,
            record: engine.record(CommentDetail::Variation, &Meta::default()).to_string(),
        }
    }

    /// Adds a note to the commands of the session.
    pub(super) fn note(&mut self, note: &str) {
        let _ = writeln!(self.transcript, "{note}");
    }

    pub(super) fn fail(&mut self, what: &str) -> ! {
        self.is_reported = true;
        panic!("\n{}\n{what}. The model:\n{}", self.transcript, self.game);
    }

    pub(super) fn ensure(&mut self, is_so: bool, what: impl FnOnce() -> String) {
        if !is_so {
            self.fail(&what());
        }
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Sends a command that must succeed with an empty response, or fail. `message` is the one that the protocol
    /// names, if it names one.
    fn send_expecting(&mut self, line: &str, succeeds: bool, message: Option<&str>) {
        let answer = self.send(line);
        match (&answer, succeeds) {
            (Ok(text), true) => self.ensure(text.is_empty(), || format!("{line}: the response is not empty")),
            (Err(text), false) => {
                let is_it = message.is_none_or(|message| text.starts_with(message));
                self.ensure(is_it, || format!("{line}: not refused with “{}”", message.unwrap_or_default()));
            }
            (_, true) => self.fail(&format!("{line}: the model accepts it")),
            (_, false) => self.fail(&format!("{line}: the model refuses it")),
        }
    }

    /// Begins the session with a board, and mostly with rules, so that few of its commands are spent on them.
    fn begin(&mut self) {
        self.board_size();
        if !self.one_in(4) {
            self.set_rules();
        }
        if self.one_in(6) {
            self.set_strict(true);
        }
        if self.one_in(3) {
            self.set_up_kos();
        }
    }

    /// Sends one command, and checks everything that it may have changed.
    fn step(&mut self) {
        match self.below(100) {
            0..42 => self.play(),
            42..46 => self.play_sequence(),
            46..52 => self.undo(),
            52..58 => self.generate_move(),
            58..62 => self.choose_move(),
            62..67 => self.analyze(),
            67 => self.board_size(),
            68 => {
                self.send_expecting("clear_board", true, None);
                self.game = ModelGame::new(self.game.size(), self.game.rules, self.game.komi);
            }
            69 | 70 => self.set_komi(),
            71 | 72 => self.set_rules(),
            73..76 => self.set_rule(),
            76..79 => self.set_up(),
            79 => self.place_handicap(),
            80..86 => self.use_records(),
            86..88 => self.set_time(),
            88..91 => self.set_parameter(),
            91..99 => self.query(),
            _ => self.send_invalid_line(),
        }
        self.check();
        if self.one_in(12) {
            self.check_all_points();
        }
        // Pondering between the commands must change nothing either.
        if self.one_in(4) {
            let looks = self.below(20) as u64;
            INTERRUPT_AT.store(LOOKS.load(Ordering::Relaxed) + 1 + looks, Ordering::Relaxed);
            self.commands.idle(&WATCH);
            INTERRUPT_AT.store(u64::MAX, Ordering::Relaxed);
        }
    }

    /// Applies a move to the model, and remembers where something has happened.
    pub(super) fn apply(&mut self, color: Color, mv: Move) {
        let before = self.game.board.clone();
        if mv.point().is_some() && mv.point() == self.game.ko_point() {
            self.count("retaken kos");
        }
        self.count(match self.game.verdict(color, mv) {
            Verdict::Legal => "legal moves",
            Verdict::Forbidden => "forbidden moves",
            Verdict::Impossible => self.fail(&format!("{color} {mv} is impossible")),
        });
        self.game.play(color, mv);
        self.recent.extend(mv.point());
        let size = self.game.size();
        let emptied = size
            .points()
            .filter(|&point| before.cell(point) != Cell::Empty && self.game.board.cell(point) == Cell::Empty);
        let emptied: Vec<Point> = emptied.collect();
        self.recent.extend(emptied);
    }

    /// Returns whether the engine must play a move of the controller.
    fn accepts(&self, color: Color, vertex: &Vertex) -> bool {
        let Vertex::Move(mv) = *vertex else { return false };
        match self.game.verdict(color, mv) {
            Verdict::Legal => true,
            Verdict::Forbidden => !self.is_strict,
            Verdict::Impossible => false,
        }
    }

    fn play(&mut self) {
        let (color, vertex) = (self.color(), self.vertex());
        let name = self.color_name(color);
        let line = match (self.below(12), color) {
            (0, Color::Black) => format!("black {vertex}"),
            (0, Color::White) => format!("white {vertex}"),
            (1, _) => format!("trymove {name} {vertex}"),
            _ => format!("play {name} {vertex}"),
        };
        let is_wrong = matches!(vertex, Vertex::Wrong(_));
        let accepts = self.accepts(color, &vertex);
        self.send_expecting(&line, accepts, Some(if is_wrong { "syntax error" } else { "illegal move" }));
        if let (Vertex::Move(mv), true) = (vertex, accepts) {
            self.apply(color, mv);
        }
    }

    /// Plays several moves, or none of them.
    fn play_sequence(&mut self) {
        let mut line = "gogui-play_sequence".to_owned();
        let before = self.game.clone();
        let mut is_accepted = true;
        let mut is_syntax = true;
        for _ in 0..self.below(5) {
            let (color, vertex) = (self.color(), self.vertex());
            let name = self.color_name(color);
            let _ = write!(line, " {name} {vertex}");
            is_syntax &= !matches!(vertex, Vertex::Wrong(_));
            is_accepted = is_accepted && self.accepts(color, &vertex);
            if let (Vertex::Move(mv), true) = (vertex, is_accepted) {
                self.game.play(color, mv);
            }
        }
        let after = std::mem::replace(&mut self.game, before);
        self.send_expecting(&line, is_accepted && is_syntax, None);
        if is_accepted && is_syntax {
            self.game = after;
        }
    }

    fn undo(&mut self) {
        let (line, number) = match self.below(8) {
            0 => ("popgo".to_owned(), 1),
            1 => ("gg-undo".to_owned(), 1),
            2 => {
                let number = self.below(6);
                (format!("gg-undo {number}"), number)
            }
            _ => ("undo".to_owned(), 1),
        };
        let is_possible = number <= self.game.moves.len();
        self.send_expecting(&line, is_possible, Some("cannot undo"));
        if is_possible {
            (0..number).for_each(|_| assert!(self.game.undo(), "a move"));
            self.count("undone");
        }
    }

    fn board_size(&mut self) {
        let (columns, rows) = match self.below(24) {
            0 => (19, 19),
            1 => (self.choose(&[0, 26, 1 << 20]), 5),
            2..8 => (1 + self.below(7), 1 + self.below(7)),
            _ => {
                let side = self.choose(&[2, 3, 3, 4, 4, 4, 5, 5, 7, 1]);
                (side, side)
            }
        };
        let line = match columns == rows && !self.one_in(6) {
            true => format!("boardsize {columns}"),
            false => format!("{} {columns} {rows}", self.choose(&["boardsize", "rectangular_boardsize"])),
        };
        let size = BoardSize::new(columns, rows);
        self.send_expecting(&line, size.is_some(), Some("unacceptable size"));
        if let Some(size) = size {
            self.game = ModelGame::new(size, self.game.rules, self.game.komi);
            self.recent.clear();
        }
    }

    fn set_komi(&mut self) {
        if self.one_in(10) {
            let wrong = self.choose(&["", "x", "1e99", "inf", "nan", "1e999"]);
            return self.send_expecting(&format!("komi {wrong}"), false, Some("syntax error"));
        }
        let komi = match self.below(10) {
            0 => self.choose(&["0.1", "-0", "1e30", "6,5", "-1e-9"]).to_owned(),
            _ => (0.25 * f64::from(self.choices.below(160)) - 20.0).to_string(),
        };
        self.send_expecting(&format!("komi {komi}"), true, None);
        self.game.komi = komi.replace(',', ".").parse::<f64>().expect("a number") as f32 + 0.0;
    }

    fn change_rules(&mut self, rules: ModelRules) {
        (self.game.rules, self.default_rules) = (rules, rules);
    }

    fn set_rules(&mut self) {
        let (line, rules) = match self.below(8) {
            0 => ("kata-set-rules mahjong".to_owned(), None),
            1 => {
                let (name, rules, _) = self.choose(NAMED);
                // KGS forbids every repetition under Chinese rules.
                let rules = if name == "chinese" { NAMED[0].1 } else { rules };
                (format!("kgs-rules {name}"), Some(rules))
            }
            2 => {
                let rules = self.any_rules();
                // Under territory scoring there always is an agreement about dead stones.
                let friendly_pass = rules.friendly_pass || rules.scoring == "TERRITORY";
                (format!("kata-set-rules {}", rules.json()), Some(ModelRules { friendly_pass, ..rules }))
            }
            _ => {
                let (name, rules, _) = self.choose(NAMED);
                (format!("kata-set-rules {name}"), Some(rules))
            }
        };
        self.send_expecting(&line, rules.is_some(), None);
        if let Some(rules) = rules {
            self.change_rules(rules);
        }
    }

    fn any_rules(&mut self) -> ModelRules {
        ModelRules {
            ko: self.choose(&KO),
            scoring: self.choose(&SCORING),
            tax: self.choose(&TAX),
            suicide: self.one_in(2),
            has_button: self.one_in(3),
            bonus: self.choose(&BONUS),
            friendly_pass: self.one_in(2),
        }
    }

    fn set_rule(&mut self) {
        let wanted = self.any_rules();
        let rules = self.game.rules;
        let (key, value, changed) = match self.below(9) {
            0 => ("ko", "triple", None),
            1 => ("pie", "true", None),
            2..4 => ("ko", wanted.ko, Some(ModelRules { ko: wanted.ko, ..rules })),
            4 => ("scoring", wanted.scoring, Some(ModelRules { scoring: wanted.scoring, ..rules })),
            5 => ("tax", wanted.tax, Some(ModelRules { tax: wanted.tax, ..rules })),
            6 => ("whiteHandicapBonus", wanted.bonus, Some(ModelRules { bonus: wanted.bonus, ..rules })),
            which => {
                let value = wanted.suicide;
                let text = if value { "true" } else { "false" };
                match (which, self.below(3)) {
                    (_, 0) => ("suicide", text, Some(ModelRules { suicide: value, ..rules })),
                    (_, 1) => ("hasButton", text, Some(ModelRules { has_button: value, ..rules })),
                    _ => ("friendlyPassOk", text, Some(ModelRules { friendly_pass: value, ..rules })),
                }
            }
        };
        self.send_expecting(&format!("kata-set-rule {key} {value}"), changed.is_some(), None);
        if let Some(rules) = changed {
            self.change_rules(rules);
        }
    }

    /// Sets up stones of the first position, or the side to move there.
    fn set_up(&mut self) {
        if self.one_in(4) {
            return self.set_up_kos();
        }
        if self.one_in(5) {
            let color = self.color();
            let is_possible = self.game.moves.is_empty();
            let name = self.color_name(color);
            self.send_expecting(&format!("gogui-setup_player {name}"), is_possible, None);
            if is_possible {
                self.game.set_to_move(color);
            }
            return;
        }
        let name = self.choose(&["set_position", "set_position", "gogui-setup"]);
        let mut line = name.to_owned();
        let mut board = ReferenceBoard::new(self.game.size());
        let mut is_valid = true;
        let most = if self.one_in(3) { self.game.size().area().min(20) } else { 6 };
        for _ in 0..self.below(most + 1) {
            let color = self.choose(&Color::BOTH);
            // Mostly points without a stone yet.
            let vertex = match self.below(30) {
                0 => self.vertex(),
                _ => Vertex::Move(Move::Play(self.any_point())),
            };
            let is_free = |point| board.cell(point) == Cell::Empty;
            match vertex {
                Vertex::Move(Move::Play(point)) if !is_free(point) && !self.one_in(20) => continue,
                Vertex::Move(Move::Play(point)) if is_free(point) => board.set(point, color.into()),
                _ => is_valid = false,
            }
            let name = self.color_name(color);
            let _ = write!(line, " {name} {vertex}");
        }
        let is_possible =
            is_valid && board.is_legal_position() && (name == "set_position" || self.game.is_untouched());
        let to_move = if name == "set_position" { Color::Black } else { self.game.to_move };
        self.send_expecting(&line, is_possible, None);
        if is_possible {
            self.game = ModelGame::at(board, to_move, self.game.rules, self.game.komi);
            self.count("set up");
        }
    }

    /// Sets up kos beside each other, as far as they fit on the board, so that positions can repeat.
    fn set_up_kos(&mut self) {
        const KO: [&str; 3] = [".XO.", "XO.O", ".XO."];
        let size = self.game.size();
        let mut line = "set_position".to_owned();
        let mut board = ReferenceBoard::new(size);
        let kos =
            (0..size.columns() / 4).flat_map(|right| (0..size.rows() / 3).map(move |up| (4 * right, 3 * up)));
        for (right, up) in kos.take(4) {
            let is_reversed = self.one_in(2);
            for (row, column) in (0..3).flat_map(|row| (0..4).map(move |column| (row, column))) {
                let color = match KO[row].as_bytes()[column] {
                    b'X' => Color::Black,
                    b'O' => Color::White,
                    _ => continue,
                };
                let color = if is_reversed { color.opponent() } else { color };
                let point = Point::new(right + column, up + row);
                board.set(point, color.into());
                let name = self.color_name(color);
                let _ = write!(line, " {name} {point}");
            }
            self.recent.extend([Point::new(right + 1, up + 1), Point::new(right + 2, up + 1)]);
        }
        let is_possible = board.is_legal_position();
        self.send_expecting(&line, is_possible, None);
        if is_possible {
            self.game = ModelGame::at(board, Color::Black, self.game.rules, self.game.komi);
        }
    }

    fn place_handicap(&mut self) {
        // A handicap is possible only on an empty board.
        if !self.game.is_untouched() && !self.one_in(4) {
            self.send_expecting("clear_board", true, None);
            self.game = ModelGame::new(self.game.size(), self.game.rules, self.game.komi);
        }
        let size = self.game.size();
        let is_untouched = self.game.is_untouched();
        let number = self.below(10);
        match self.below(3) {
            0 => {
                let mut line = "set_free_handicap".to_owned();
                let mut board = ReferenceBoard::new(size);
                let mut points = 0;
                let mut is_valid = true;
                for _ in 0..number.min(5) {
                    let vertex = match self.below(20) {
                        0 => self.vertex(),
                        _ => Vertex::Move(Move::Play(self.any_point())),
                    };
                    let _ = write!(line, " {vertex}");
                    match vertex {
                        Vertex::Move(Move::Play(point)) if board.cell(point) == Cell::Empty => {
                            board.set(point, Cell::Black);
                            points += 1;
                        }
                        _ => is_valid = false,
                    }
                }
                let is_possible = is_untouched && is_valid && points >= 2 && points < size.area();
                // A word that is no vertex is a syntax error, whatever is on the board.
                self.send_expecting(&line, is_possible, None);
                if is_possible {
                    self.begin_with_handicap(board);
                }
            }
            kind => {
                let name = ["fixed_handicap", "place_free_handicap"][kind - 1];
                let short = size.columns().min(size.rows());
                let has_middle = |side: usize| side >= 9 && side % 2 == 1;
                let most = match name {
                    "place_free_handicap" => size.area() - 1,
                    _ if short < 7 => 0,
                    _ if has_middle(size.columns()) && has_middle(size.rows()) => 9,
                    _ => 4,
                };
                let is_possible = is_untouched && number >= 2 && number <= most;
                let answer = self.send(&format!("{name} {number}"));
                self.ensure(answer.is_ok() == is_possible, || {
                    format!("possible by the model: {is_possible}")
                });
                let reason = if is_untouched { "invalid number of stones" } else { "board not empty" };
                let text = match answer {
                    Ok(text) => text,
                    Err(text) => return self.ensure(text == reason, || format!("not “{reason}”")),
                };
                let mut board = ReferenceBoard::new(size);
                for word in text.split_whitespace() {
                    let point = self.read_point(word);
                    self.ensure(board.cell(point) == Cell::Empty, || format!("{word} occurs twice"));
                    board.set(point, Cell::Black);
                }
                let stones = text.split_whitespace().count();
                self.ensure(stones == number, || format!("{stones} stones instead of {number}"));
                self.begin_with_handicap(board);
            }
        }
    }

    fn begin_with_handicap(&mut self, board: ReferenceBoard) {
        let stones = board.size().points().filter(|&point| board.cell(point) == Cell::Black).count();
        self.game = ModelGame::at(board, Color::White, self.game.rules, self.game.komi);
        self.game.placed_handicap = Some(stones as u32);
        self.count("handicaps");
    }

    fn set_time(&mut self) {
        let seconds = ["0", "1", "0.01", "10", "60", "1e9"];
        let (main, period, number) = (self.choose(&seconds), self.choose(&seconds), self.below(4));
        let color = self.color();
        let name = self.color_name(color);
        let line = match self.below(7) {
            0 => format!("time_settings {main} {period} {number}"),
            1 => format!("kgs-time_settings byoyomi {main} {period} {}", number + 1),
            2 => format!("kgs-time_settings canadian {main} {period} {}", number + 1),
            3 => format!("kata-time_settings fischer {main} {period}"),
            4 => "kgs-time_settings none".to_owned(),
            _ => format!("time_left {name} {main} {number}"),
        };
        self.send_expecting(&line, true, None);
    }

    fn set_strict(&mut self, is_strict: bool) {
        self.send_expecting(&format!("kata-set-param strict {is_strict}"), true, None);
        self.is_strict = is_strict;
    }

    fn set_parameter(&mut self) {
        let (line, is_possible) = match self.below(16) {
            0..2 => {
                let is_strict = self.one_in(2);
                return self.set_strict(is_strict);
            }
            2 => ("kata-set-param maxVisits 5", true),
            3 => ("kata-set-param maxPlayouts 9", true),
            4 => ("kata-set-param maxVisits none", true),
            5 => ("kata-set-param sharing tree", true),
            6 => ("kata-set-param sharing graph", true),
            7 => ("kata-set-param ponderingEnabled true", true),
            8 => ("kata-set-param captureDeadStones true", true),
            9 => ("kata-set-param chosenMoveTemperature 1", true),
            10 => ("clear_cache", true),
            11 => ("set_random_seed 7", true),
            12 => ("kata-set-param maxVisits many", false),
            13 if self.choices.allows_threads() => ("kata-set-param numSearchThreads 2", true),
            14 => ("kata-set-param numSearchThreads 1", true),
            _ => ("kata-set-param noSuchParameter 1", false),
        };
        self.send_expecting(line, is_possible, None);
    }

    /// Sends lines that no engine understands.
    fn send_invalid_line(&mut self) {
        let line = self.choose(&[
            "play",
            "play b",
            "no_such_command",
            "komi",
            "boardsize x",
            "loadsgf",
            "genmove",
            "undo_all",
        ]);
        self.send_expecting(line, false, None);
    }
}
