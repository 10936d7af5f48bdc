//! Pictures in GoGui's graphics language. Each line consists of a verb and its points.
//!
//! Commands of type `gfx` respond with these lines. For GoGui's live graphics, the same lines are written to the
//! standard error during a search.

use super::text::points_text;
use crate::words::unsigned_zero;
use kosumi_eval::Ownership;
use kosumi_go::board::{Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_search::{Analysis, Extras, MoveAnalysis, MoveReport, SearchReport};
use std::fmt;
use std::fmt::Write;
use std::time::Duration;

/// Kind of live graphics of a running search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GraphicsKind {
    /// No graphics.
    #[default]
    None,
    /// Visits of each move.
    Visits,
    /// Win rate of each move that has enough visits.
    WinRates,
    /// Principal variation.
    Variation,
    /// Expected owner of every point.
    Ownership,
}

impl GraphicsKind {
    /// All kinds with their names.
    pub const NAMES: [(&'static str, GraphicsKind); 5] = [
        ("none", GraphicsKind::None),
        ("visits", GraphicsKind::Visits),
        ("winrates", GraphicsKind::WinRates),
        ("variation", GraphicsKind::Variation),
        ("ownership", GraphicsKind::Ownership),
    ];

    /// Returns the kind with this name.
    pub fn parse(name: &str) -> Option<GraphicsKind> {
        GraphicsKind::NAMES.iter().find(|(known, _)| *known == name).map(|&(_, kind)| kind)
    }

    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        GraphicsKind::NAMES.iter().find(|(_, kind)| *kind == self).map_or("none", |&(name, _)| name)
    }
}

/// Function that receives live graphics as text for the standard error.
type Sink = Box<dyn FnMut(&str) + Send>;

/// Live graphics of searches, if a receiver is set.
#[derive(Default)]
pub(super) struct LiveGraphics {
    pub(super) kind: GraphicsKind,
    sink: Option<Sink>,
}

impl fmt::Debug for LiveGraphics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveGraphics").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl LiveGraphics {
    /// Time between two pictures.
    pub(super) const EVERY: Duration = Duration::from_millis(500);

    pub(super) fn new(kind: GraphicsKind, sink: Sink) -> LiveGraphics {
        LiveGraphics { kind, sink: Some(sink) }
    }

    pub(super) fn is_used(&self) -> bool {
        self.sink.is_some() && self.kind != GraphicsKind::None
    }

    /// Draws the current report.
    pub(super) fn draw(&mut self, game: &Game, report: &SearchReport) {
        let picture = match self.kind {
            GraphicsKind::None => return,
            GraphicsKind::Visits => visits(report),
            GraphicsKind::WinRates => win_rates(report),
            GraphicsKind::Variation => variation(report.to_move, report.principal_variation()),
            GraphicsKind::Ownership => influence(game, &report.ownership),
        };
        let lines = [picture, status_line(report)];
        let lines = lines.iter().filter(|line| !line.is_empty()).map(String::as_str).collect::<Vec<_>>();
        // An empty line ends the picture.
        self.write(&format!("gogui-gfx:\n{}\n\n", lines.join("\n")));
    }

    /// Clears the picture.
    pub(super) fn clear(&mut self) {
        if self.is_used() {
            self.write("gogui-gfx: CLEAR\n");
        }
    }

    fn write(&mut self, text: &str) {
        if let Some(sink) = &mut self.sink {
            sink(text);
        }
    }
}

/// Returns the moves on the board that have visits, with their points.
fn visited_moves(report: &SearchReport) -> impl Iterator<Item = (Point, &MoveReport)> {
    let on_board = |entry: &'_ MoveReport| entry.mv.point();
    report
        .moves
        .iter()
        .filter(|entry| entry.visits > 0)
        .filter_map(move |entry| Some((on_board(entry)?, entry)))
}

/// Returns a line with a verb and its arguments, or an empty string if there are no arguments.
fn line(verb: &str, words: &[String]) -> String {
    if words.is_empty() { String::new() } else { format!("{verb} {}", words.join(" ")) }
}

/// Returns a `LABEL` line with the visits of each move.
pub(super) fn visits(report: &SearchReport) -> String {
    line(
        "LABEL",
        &visited_moves(report)
            .map(|(point, entry)| format!("{point} {}", short(entry.visits)))
            .collect::<Vec<_>>(),
    )
}

/// Returns `LABEL` lines with the moves' win rates for the side to move, in per cent, and `COLOR` lines with their
/// visits. The lines contain only moves with at least a hundredth of the visits of the most visited one.
pub(super) fn win_rates(report: &SearchReport) -> String {
    let analysis = Analysis::new(report, &Extras::default()).seen_by_mover();
    let most = report.most_visits().max(1);
    let often =
        |entry: &&MoveAnalysis| entry.edge_visits > 0 && entry.edge_visits.saturating_mul(100) >= most;
    let moves = analysis.moves.iter().filter(often);
    let shown: Vec<_> = moves.filter_map(|entry| Some((entry.mv.point()?, entry))).collect();
    let label = |&(point, entry): &(Point, &MoveAnalysis)| {
        format!("{point} {:.0}", 100.0 * entry.expectation.win_rate)
    };
    let mut picture = line("LABEL", &shown.iter().map(label).collect::<Vec<_>>());
    for (point, entry) in shown {
        // Writing to a string cannot fail.
        let _ = write!(picture, "\nCOLOR {} {point}", shade(entry.edge_visits as f32 / most as f32));
    }
    picture
}

/// Returns a `VAR` line with numbered stones.
pub(super) fn variation(first: Color, moves: &[Move]) -> String {
    line("VAR", &colored(first, moves))
}

/// Returns moves with the colours that play them: `b D4 w PASS`.
pub(super) fn colored(first: Color, moves: &[Move]) -> Vec<String> {
    let mut color = first;
    let mut texts = Vec::with_capacity(moves.len());
    for mv in moves {
        let letter = if color == Color::Black { 'b' } else { 'w' };
        texts.push(format!("{letter} {}", mv.to_string().to_ascii_uppercase()));
        color = color.opponent();
    }
    texts
}

/// Returns an `INFLUENCE` line with the expected owner of every point.
pub(super) fn influence(game: &Game, ownership: &Ownership) -> String {
    let point = |point: Point| format!("{point} {:.2}", unsigned_zero(ownership.mean(point), 2));
    line("INFLUENCE", &game.size().points().map(point).collect::<Vec<_>>())
}

/// Returns a line with a verb and points, or an empty string if there are no points.
pub(super) fn marks(verb: &str, points: impl IntoIterator<Item = Point>) -> String {
    let points = points_text(points);
    if points.is_empty() { points } else { format!("{verb} {points}") }
}

/// Returns a `TEXT` line with a summary of the search, for the status bar.
pub(super) fn status_line(report: &SearchReport) -> String {
    format!("TEXT {}", summary(report))
}

/// Returns a summary of the search in one line.
pub(super) fn summary(report: &SearchReport) -> String {
    let analysis = Analysis::new(report, &Extras::default()).seen_by_mover();
    format!(
        "{} to move: {}, {:.1} % to win, score {:+.1}, {} visits, {} deep",
        analysis.to_move,
        report.best_move(),
        100.0 * analysis.root.win_rate,
        unsigned_zero(analysis.root.lead, 1),
        analysis.visits,
        analysis.depth,
    )
}

/// Returns a number in at most five characters, which fit on a point of the board.
fn short(number: u32) -> String {
    match number {
        0..=9_999 => number.to_string(),
        10_000..=999_499 => format!("{:.0}k", f64::from(number) / 1e3),
        _ => format!("{:.0}M", f64::from(number) / 1e6),
    }
}

/// Returns a colour between that of the board and blue, for a share in `[0, 1]`.
fn shade(share: f32) -> String {
    const FROM: [f32; 3] = [224.0, 200.0, 150.0];
    const TO: [f32; 3] = [60.0, 130.0, 240.0];
    let share = share.clamp(0.0, 1.0).sqrt();
    let mixed: Vec<String> =
        FROM.iter().zip(TO).map(|(from, to)| format!("{:02x}", (from + (to - from) * share) as u8)).collect();
    format!("#{}", mixed.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_engine::{Engine, EngineSettings, SearchRequest};
    use std::sync::{Arc, Mutex};

    #[test]
    fn numbers_fit_on_a_point() {
        for (number, text) in [
            (0, "0"),
            (9_999, "9999"),
            (10_000, "10k"),
            (999_499, "999k"),
            (999_500, "1M"),
            (u32::MAX, "4295M"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn pictures_begin_and_end_as_gogui_reads_them() {
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 1,
            playouts: Some(60),
            ..EngineSettings::default()
        };
        let mut engine = Engine::new(settings);
        engine.set_size(kosumi_go::board::BoardSize::square(5).unwrap());
        engine.analyze(Color::Black, &engine.limits_without_clock(), SearchRequest::new(&|| false));
        for (name, verb) in [
            ("visits", "LABEL "),
            ("winrates", "LABEL "),
            ("variation", "VAR b "),
            ("ownership", "INFLUENCE A1 "),
        ] {
            let drawn = Arc::new(Mutex::new(String::new()));
            let sink = Arc::clone(&drawn);
            let kind = GraphicsKind::parse(name).unwrap();
            let mut live_graphics =
                LiveGraphics::new(kind, Box::new(move |text| sink.lock().unwrap().push_str(text)));
            assert_eq!(kind.name(), name);
            live_graphics.draw(engine.game(), engine.last_report().unwrap());
            live_graphics.clear();
            let drawn = drawn.lock().unwrap();
            assert!(drawn.starts_with(&format!("gogui-gfx:\n{verb}")), "{drawn}");
            assert!(drawn.contains("\nTEXT Black to move: "), "{drawn}");
            assert!(drawn.ends_with("\n\ngogui-gfx: CLEAR\n"), "{drawn}");
            assert_eq!(drawn.matches("\n\n").count(), 1, "{drawn}");
        }
        let mut nothing = LiveGraphics::new(GraphicsKind::None, Box::new(|text| panic!("{text}")));
        nothing.draw(engine.game(), engine.last_report().unwrap());
        nothing.clear();
    }
}
