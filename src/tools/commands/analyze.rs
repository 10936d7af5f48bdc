//! Analysis commands, which report on a search while it runs, in the formats that controllers parse.
//!
//! The two dialects are that of Leela Zero, in ten-thousandths, and that of KataGo, in fractions. Both print an
//! [`Analysis`] from the perspective of the side to move. Controllers distinguish the dialects by the name of the
//! command, and read every `info` up to its `pv`, which ends with a move. This determines the order of the fields, and
//! is why `pass` is in lower case. `docs/analysis.md` explains each field.
//!
//! A search without any permitted legal move has nothing to report. Such a request is refused, because the controller
//! would otherwise wait for ever.

use super::text::{color, color_text, own_color, vertex_move};
use super::{CommandResult, Commands};
use crate::words::unsigned_zero;
use kosumi_engine::{Decision, SearchObserver, SearchRequest};
use kosumi_go::board::{BoardSize, Color, Move, Point, PointSet};
use kosumi_go::game::Game;
use kosumi_gtp::{Arguments, Failure, InputWatch, Response, Session, Vertex};
use kosumi_search::{
    Analysis, Detail, Extras, Limits, MoveAnalysis, Owners, RawView, Restriction, SearchReport,
};
use serde_json::json;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Format of a report.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Leela Zero's format: integers in ten-thousandths.
    LeelaZero,
    /// KataGo's format: fractions, and more fields.
    KataGo,
}

/// Contents and interval of reports.
struct Request {
    color: Option<Color>,
    every: Duration,
    /// Minimum number of moves that are listed, with or without visits.
    least_moves: usize,
    max_moves: usize,
    root_info: bool,
    ownership: bool,
    ownership_stdev: bool,
    moves_ownership: bool,
    moves_ownership_stdev: bool,
    variation_visits: bool,
    variation_edge_visits: bool,
    no_result: bool,
    restriction: Restriction,
}

/// Interval between reports if the controller specifies none.
const USUAL_INTERVAL: Duration = Duration::from_secs(1);

impl Request {
    /// Reads `[color] [interval] {key value…}`, with the interval in hundredths of a second.
    fn read(size: BoardSize, arguments: &mut Arguments<'_>) -> Result<Request, Failure> {
        let mut request = Request {
            color: arguments.try_color().map(own_color),
            every: USUAL_INTERVAL,
            least_moves: 0,
            max_moves: usize::MAX,
            root_info: false,
            ownership: false,
            ownership_stdev: false,
            moves_ownership: false,
            moves_ownership_stdev: false,
            variation_visits: false,
            variation_edge_visits: false,
            no_result: false,
            restriction: Restriction::NONE,
        };
        if let Some(interval) = arguments.try_float() {
            request.every = hundredths(interval)?;
        }
        while let Some(key) = arguments.optional_word() {
            match key {
                "interval" => request.every = hundredths(arguments.float()?)?,
                "minmoves" => request.least_moves = arguments.integer()?,
                "maxmoves" => request.max_moves = arguments.integer::<usize>()?.max(1),
                "rootInfo" => request.root_info = arguments.boolean()?,
                "ownership" => request.ownership = arguments.boolean()?,
                "ownershipStdev" => request.ownership_stdev = arguments.boolean()?,
                "movesOwnership" => request.moves_ownership = arguments.boolean()?,
                "movesOwnershipStdev" => request.moves_ownership_stdev = arguments.boolean()?,
                "pvVisits" => request.variation_visits = arguments.boolean()?,
                "pvEdgeVisits" => request.variation_edge_visits = arguments.boolean()?,
                "noResultValue" => request.no_result = arguments.boolean()?,
                "avoid" => {
                    let rule = Rule::read(size, arguments)?;
                    request.restriction.avoid(rule.color, rule.moves(), rule.until);
                }
                "allow" => {
                    let rule = Rule::read(size, arguments)?;
                    request.restriction.allow(rule.color, rule.moves(), rule.until);
                }
                _ => return Err(Failure::new(format!("unknown key {key}"))),
            }
        }
        Ok(request)
    }

    /// Returns the contents that a report needs for this request, besides the statistics of the search.
    fn detail(&self, dialect: Dialect) -> Detail {
        let is_full = dialect == Dialect::KataGo;
        Detail {
            raw: is_full && self.root_info,
            ownership: is_full && (self.ownership || self.ownership_stdev),
            moves_ownership: is_full && (self.moves_ownership || self.moves_ownership_stdev),
        }
    }

    /// Returns the analysis of a report from the perspective of the side to move.
    fn analysis(&self, report: &SearchReport) -> Analysis {
        let extras = Extras { restriction: Some(&self.restriction), ..Extras::default() };
        Analysis::new(report, &extras).seen_by_mover()
    }
}

fn hundredths(interval: f64) -> Result<Duration, Failure> {
    let time = Duration::try_from_secs_f64(interval / 100.0);
    // Shorter intervals would cost time, and no controller reads that fast.
    time.map(|time| time.max(Duration::from_millis(10))).map_err(|_| Failure::new("interval is not a time"))
}

/// Moves of one side and the depth up to which they are forbidden or permitted.
struct Rule {
    color: Color,
    points: PointSet,
    has_pass: bool,
    until: usize,
}

impl Rule {
    /// Reads `color vertex,vertex,… until`; `a1:c3` denotes a rectangle. Sabaki and Lizzie list `resign` among the moves
    /// to avoid. It is ignored, because a search does not resign.
    fn read(size: BoardSize, arguments: &mut Arguments<'_>) -> Result<Rule, Failure> {
        let color = color(arguments)?;
        let (mut points, mut has_pass) = (PointSet::EMPTY, false);
        let words = arguments.word()?.split(',').filter(|text| !text.is_empty());
        for text in words.filter(|text| !text.eq_ignore_ascii_case("resign")) {
            let vertex = |text: &str| {
                let vertex = text.parse::<Vertex>().ok().and_then(|vertex| vertex_move(size, vertex));
                vertex.ok_or_else(|| Failure::new(format!("{text} is not a vertex of the board")))
            };
            match text.split_once(':') {
                None => match vertex(text)? {
                    Move::Pass => has_pass = true,
                    Move::Play(point) => {
                        points.insert(point);
                    }
                },
                Some((from, to)) => {
                    let (Move::Play(from), Move::Play(to)) = (vertex(from)?, vertex(to)?) else {
                        return Err(Failure::new("a pass is not the corner of a rectangle"));
                    };
                    for point in rectangle(size, from, to) {
                        points.insert(point);
                    }
                }
            }
        }
        // Without a number, the rule applies to the next move.
        let until = arguments.try_integer::<usize>().unwrap_or(1);
        Ok(Rule { color, points, has_pass, until })
    }

    fn moves(&self) -> impl Iterator<Item = Move> {
        self.points.iter().map(Move::Play).chain(self.has_pass.then_some(Move::Pass))
    }
}

fn rectangle(size: BoardSize, a: Point, b: Point) -> impl Iterator<Item = Point> {
    let columns = a.column().min(b.column())..=a.column().max(b.column());
    let rows = a.row().min(b.row())..=a.row().max(b.row());
    size.points().filter(move |point| columns.contains(&point.column()) && rows.contains(&point.row()))
}

/// Returns the moves that a report lists.
fn listed<'a>(request: &Request, analysis: &'a Analysis) -> impl Iterator<Item = &'a MoveAnalysis> {
    let least = request.least_moves;
    let is_listed = move |entry: &&MoveAnalysis| entry.is_searched() || entry.order < least;
    analysis.moves.iter().filter(is_listed).take(request.max_moves)
}

pub(super) fn variation_text(moves: &[Move]) -> String {
    moves.iter().map(Move::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns a report in one line. The line is empty if the search has no statistics yet.
fn info_line(dialect: Dialect, request: &Request, report: &SearchReport) -> String {
    let analysis = request.analysis(report);
    let moves = listed(request, &analysis).map(|entry| match dialect {
        Dialect::LeelaZero => leela_zero_move(request, entry),
        Dialect::KataGo => kata_go_move(request, analysis.size, entry),
    });
    let mut line = moves.collect::<Vec<_>>().join(" ");
    if dialect == Dialect::LeelaZero || line.is_empty() {
        return line;
    }
    if request.root_info {
        line.push_str(&root_info(&analysis));
    }
    if let Some(owners) = &analysis.root.owners {
        if request.ownership {
            push_points(&mut line, "ownership", analysis.size, &owners.mean);
        }
        if request.ownership_stdev {
            push_points(&mut line, "ownershipStdev", analysis.size, &owners.stdev);
        }
    }
    line
}

fn leela_zero_move(request: &Request, entry: &MoveAnalysis) -> String {
    let mut text = format!(
        "info move {} visits {} winrate {:.0} prior {:.0} lcb {:.0} order {}",
        entry.mv,
        entry.visits,
        1e4 * entry.expectation.win_rate,
        1e4 * entry.prior,
        unsigned_zero(1e4 * entry.win_rate_bound, 0),
        entry.order,
    );
    push_variation(&mut text, request, entry);
    text
}

fn kata_go_move(request: &Request, size: BoardSize, entry: &MoveAnalysis) -> String {
    let it = &entry.expectation;
    let lead = unsigned_zero(it.lead, 4);
    let mut text = format!(
        "info move {} visits {} edgeVisits {} utility {:.6} winrate {:.6} scoreMean {lead:.4} scoreStdev {:.4} \
         scoreLead {lead:.4} scoreSelfplay {:.4}",
        entry.mv,
        entry.visits,
        entry.edge_visits,
        unsigned_zero(it.utility, 6),
        it.win_rate,
        it.score_stdev,
        unsigned_zero(it.score_mean, 4),
    );
    // Writing to a string cannot fail, here and in the rest of this function.
    if request.no_result {
        let _ = write!(text, " noResultValue {:.6}", it.no_result);
    }
    let _ = write!(
        text,
        " prior {:.6} lcb {:.6} utilityLcb {:.6} weight {:.4}",
        entry.prior,
        unsigned_zero(entry.win_rate_bound, 6),
        unsigned_zero(entry.utility_bound, 6),
        entry.weight,
    );
    if let Some(original) = entry.symmetry_of {
        let _ = write!(text, " isSymmetryOf {original}");
    }
    let _ = write!(text, " order {}", entry.order);
    push_variation(&mut text, request, entry);
    if let Some(Owners { mean, stdev }) = &it.owners {
        if request.moves_ownership {
            push_points(&mut text, "movesOwnership", size, mean);
        }
        if request.moves_ownership_stdev {
            push_points(&mut text, "movesOwnershipStdev", size, stdev);
        }
    }
    text
}

fn push_variation(text: &mut String, request: &Request, entry: &MoveAnalysis) {
    let numbers = |visits: &[u32]| visits.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let _ = write!(text, " pv {}", variation_text(&entry.variation));
    if request.variation_visits {
        let _ = write!(text, " pvVisits {}", numbers(&entry.variation_visits));
    }
    if request.variation_edge_visits {
        let _ = write!(text, " pvEdgeVisits {}", numbers(&entry.variation_edge_visits));
    }
}

fn root_info(analysis: &Analysis) -> String {
    let it = &analysis.root;
    let lead = unsigned_zero(it.lead, 4);
    let mut text = format!(
        " rootInfo visits {} utility {:.6} winrate {:.6} scoreMean {lead:.4} scoreStdev {:.4} scoreLead {lead:.4} \
         scoreSelfplay {:.4} weight {:.4}",
        analysis.visits,
        unsigned_zero(it.utility, 6),
        it.win_rate,
        it.score_stdev,
        unsigned_zero(it.score_mean, 4),
        analysis.weight,
    );
    if let Some(RawView { win_rate_error, score_error, variance_time, .. }) = analysis.raw {
        // KataGo prints the error of the result in [−1, 1] here, and half of it in its JSON protocol. It prints −1 for
        // networks that do not predict it.
        let _ = write!(
            text,
            " rawStWrError {:.6} rawStScoreError {:.4} rawVarTimeLeft {:.4}",
            win_rate_error.map_or(-1.0, |error| 2.0 * error),
            score_error.unwrap_or(-1.0),
            variance_time.unwrap_or(-1.0),
        );
    }
    text
}

/// Appends a field with a number for every point, row by row from the top left. `points` are in the order of
/// [`BoardSize::points`].
fn push_points(text: &mut String, name: &str, size: BoardSize, points: &[f32]) {
    let _ = write!(text, " {name}");
    for row in (0..size.rows()).rev() {
        for value in &points[row * size.columns()..(row + 1) * size.columns()] {
            let _ = write!(text, " {:.4}", unsigned_zero(*value, 4));
        }
    }
}

impl Commands {
    /// Reads the request of an analysis and returns it with the side to move. Refuses a restriction that leaves no
    /// legal move.
    fn analysis_request(&self, arguments: &mut Arguments<'_>) -> Result<(Request, Color), Failure> {
        let request = Request::read(self.size(), arguments)?;
        let game = self.engine.game();
        let color = request.color.unwrap_or(game.to_move());
        if !request.restriction.leaves_a_move(game, color) {
            return Err(Failure::new(format!("avoid and allow leave {color} no legal move")));
        }
        Ok((request, color))
    }
}

/// Streams reports until the controller sends further input.
fn analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
    dialect: Dialect,
) -> CommandResult {
    let (request, color) = commands.analysis_request(arguments)?;
    session.begin_stream()?;
    let watch = session.watch();
    let mut on_report = |_: &Game, report: &SearchReport| {
        // An error means that the controller has closed the connection, which the watch on the input also reports.
        let _ = session.stream(&info_line(dialect, &request, report));
    };
    let interrupted = || watch.input_pending();
    let search = SearchRequest {
        restriction: request.restriction.clone(),
        observer: Some(SearchObserver { every: request.every, on_report: &mut on_report }),
        ..SearchRequest::analysis(&interrupted, request.detail(dialect))
    };
    commands.engine.analyze(color, &Limits::default(), search);
    Ok(Response::empty())
}

/// Purpose of a search for a move.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The move is played.
    Play,
    /// The move is reported, and the position does not change.
    Report,
    /// Like `Report`, but any input cancels the search.
    ReportUnlessCancelled,
}

/// State of a search that input may cancel.
pub(super) struct Cancellation {
    watch: InputWatch,
    purpose: Purpose,
    is_cancelled: AtomicBool,
}

impl Cancellation {
    pub(super) fn new(session: &Session<'_>, purpose: Purpose) -> Cancellation {
        Cancellation { watch: session.watch(), purpose, is_cancelled: AtomicBool::new(false) }
    }

    /// Returns whether the search must stop now. Input after the end of a search cancels nothing.
    pub(super) fn stops(&self) -> bool {
        let is_cancelled = self.purpose == Purpose::ReportUnlessCancelled && self.watch.input_pending();
        if is_cancelled {
            self.is_cancelled.store(true, Ordering::Relaxed);
        }
        is_cancelled || self.watch.interrupted()
    }

    /// Returns whether the search was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// KataGo's response in place of a move if the search was cancelled.
pub(super) const CANCELLED: &str = "cancelled";

/// Streams reports during the search for a move, and the move at the end.
fn genmove_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
    dialect: Dialect,
    purpose: Purpose,
) -> CommandResult {
    let (request, color) = commands.analysis_request(arguments)?;
    session.begin_stream()?;
    let cancellation = Cancellation::new(session, purpose);
    let mut is_reported = false;
    let searches = commands.engine.searches();
    let mut on_report = |_: &Game, report: &SearchReport| {
        is_reported = true;
        let _ = session.stream(&info_line(dialect, &request, report));
    };
    let interrupted = || cancellation.stops();
    let search = SearchRequest {
        restriction: request.restriction.clone(),
        detail: request.detail(dialect),
        observer: Some(SearchObserver { every: request.every, on_report: &mut on_report }),
        ..SearchRequest::new(&interrupted)
    };
    if cancellation.stops() {
        return Ok(format!("play {CANCELLED}").into());
    }
    let decision = match purpose {
        Purpose::Play => commands.engine.genmove(color, search),
        Purpose::Report | Purpose::ReportUnlessCancelled => commands.engine.choose(color, search),
    };
    if cancellation.is_cancelled() {
        return Ok(format!("play {CANCELLED}").into());
    }
    // Controllers read the last report before the move, so even a short search must send one. A pass that ends the game
    // may be decided without a search. The last report is then about another position.
    let is_searched = commands.engine.searches() > searches;
    if !is_reported
        && is_searched
        && let Some(report) = commands.engine.last_report()
    {
        session.stream(&info_line(dialect, &request, report))?;
    }
    Ok(format!("play {}", decision_text(decision)).into())
}

/// Returns the text of a decision in the line `play …`, with a pass in lower case.
fn decision_text(decision: Decision) -> String {
    match decision {
        Decision::Play(mv) => mv.to_string(),
        Decision::Resign => "resign".to_owned(),
    }
}

pub(super) fn lz_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    analyze(commands, arguments, session, Dialect::LeelaZero)
}

pub(super) fn kata_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    analyze(commands, arguments, session, Dialect::KataGo)
}

pub(super) fn lz_genmove_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    genmove_analyze(commands, arguments, session, Dialect::LeelaZero, Purpose::Play)
}

pub(super) fn kata_genmove_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    genmove_analyze(commands, arguments, session, Dialect::KataGo, Purpose::Play)
}

pub(super) fn kata_search_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    genmove_analyze(commands, arguments, session, Dialect::KataGo, Purpose::Report)
}

pub(super) fn kata_search_analyze_cancellable(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    genmove_analyze(commands, arguments, session, Dialect::KataGo, Purpose::ReportUnlessCancelled)
}

/// Responds with one line of JSON for the spectators of CGOS, and the move.
pub(super) fn cgos_genmove_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    let color = super::text::color(arguments)?;
    let watch = session.watch();
    let searches = commands.engine.searches();
    let interrupted = || watch.interrupted();
    let detail = Detail { ownership: true, ..Detail::default() };
    let request = SearchRequest { detail, ..SearchRequest::new(&interrupted) };
    let decision = commands.engine.genmove(color, request);
    let is_searched = commands.engine.searches() > searches;
    if let Some(analysis) = commands.engine.last_analysis().filter(|_| is_searched) {
        session.stream(&spectators_json(&analysis.seen_by_mover()).to_string())?;
    } else {
        session.begin_stream()?;
    }
    Ok(format!("play {}", decision_text(decision)).into())
}

/// Maximum number of moves for spectators.
const SPECTATORS_MOVES: usize = 10;

/// Returns an analysis from the perspective of the side to move as JSON for CGOS.
fn spectators_json(analysis: &Analysis) -> serde_json::Value {
    let searched = analysis.moves.iter().filter(|entry| entry.is_searched()).take(SPECTATORS_MOVES);
    let moves: Vec<_> = searched
        .map(|entry| {
            json!({
                "move": entry.mv.to_string(),
                "winrate": rounded(entry.expectation.win_rate),
                "score": rounded(entry.expectation.lead),
                "prior": rounded(entry.prior),
                "visits": entry.visits,
                // The variation omits the move itself, which is named above.
                "pv": variation_text(entry.variation.get(1..).unwrap_or_default()),
            })
        })
        .collect();
    let owners = analysis.root.owners.as_ref().map_or(&[][..], |owners| &owners.mean);
    json!({
        "winrate": rounded(analysis.root.win_rate),
        "score": rounded(analysis.root.lead),
        "visits": analysis.visits,
        "moves": moves,
        "ownership": spectators_ownership(analysis.size, owners),
        "comment": format!("{} to move", color_text(analysis.to_move)),
    })
}

/// Returns the owners of the points, one letter per point, row by row from the top: from `A` (certainly the opponent's)
/// to `+` (certainly the side to move's).
fn spectators_ownership(size: BoardSize, owners: &[f32]) -> String {
    const LETTERS: &[u8; 63] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+";
    let letter = |owner: &f32| {
        let last = LETTERS.len() - 1;
        let share = (owner + 1.0) / 2.0;
        char::from(LETTERS[((share * last as f32).round() as usize).min(last)])
    };
    owners.chunks(size.columns()).rev().flatten().map(letter).collect()
}

/// Rounds to four decimal places. Further digits would show nothing but chance.
fn rounded(number: f32) -> f64 {
    (unsigned_zero(number, 4) * 1e4).round() / 1e4
}

/// Does nothing, because any command ends an analysis.
pub(super) fn stop(_: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    Ok(Response::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_engine::{Engine, EngineSettings};

    fn request(size: BoardSize, words: &str) -> Request {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        Request::read(size, &mut Arguments::new(&words)).unwrap()
    }

    /// Returns a report by playouts with all details.
    fn report() -> SearchReport {
        let settings = EngineSettings { threads: 1, memory_mebibytes: 1, ..EngineSettings::default() };
        let mut engine = Engine::new(settings);
        engine.set_size(BoardSize::new(5, 4).unwrap());
        let detail = Detail { raw: true, ownership: true, moves_ownership: true };
        let request = SearchRequest::analysis(&|| false, detail);
        engine.analyze(Color::White, &Limits::playouts(200), request).clone()
    }

    /// Returns the words that follow a name, in order.
    fn after(line: &str, name: &str) -> Vec<String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.windows(2).filter(|pair| pair[0] == name).map(|pair| pair[1].to_owned()).collect()
    }

    #[test]
    fn both_dialects_print_the_same_numbers() {
        let mut report = report();
        // Simulates visits through other orders of moves.
        report.moves.iter_mut().for_each(|entry| entry.node_visits += 7);
        let request = request(report.size, "");
        let [lz, kata] = [Dialect::LeelaZero, Dialect::KataGo].map(|it| info_line(it, &request, &report));
        for name in ["move", "visits", "order", "pv"] {
            assert_eq!(after(&lz, name), after(&kata, name), "{name}");
        }
        assert!(after(&kata, "move").len() > 3);
        for (all, edge) in after(&kata, "visits").iter().zip(after(&kata, "edgeVisits")) {
            assert_eq!(all.parse::<u32>().unwrap(), 7 + edge.parse::<u32>().unwrap());
        }
        for name in ["winrate", "lcb", "prior"] {
            for (integer, fraction) in after(&lz, name).iter().zip(after(&kata, name)) {
                let fraction = 1e4 * fraction.parse::<f64>().unwrap();
                assert!(
                    (integer.parse::<f64>().unwrap() - fraction).abs() < 0.51,
                    "{name}: {integer} {fraction}"
                );
            }
        }
    }

    #[test]
    fn reports_have_what_is_asked_for() {
        let report = report();
        let area = report.size.area();
        let line = |words: &str| info_line(Dialect::KataGo, &request(report.size, words), &report);
        let plain = line("");
        for name in ["movesOwnership", "movesOwnershipStdev", "ownership", "ownershipStdev"] {
            assert!(after(&plain, name).is_empty(), "{name}");
            let asked = line(&format!("{name} true"));
            let lists = if name.starts_with("moves") { after(&plain, "move").len() } else { 1 };
            assert_eq!(after(&asked, name).len(), lists, "{name}");
            let words = |text: &str| text.split_whitespace().count();
            assert_eq!(words(&asked), words(&plain) + lists * (area + 1), "{name}");
        }
        for name in ["pvVisits", "pvEdgeVisits", "noResultValue"] {
            assert!(after(&plain, name).is_empty(), "{name}");
            assert_eq!(
                after(&line(&format!("{name} true")), name).len(),
                after(&plain, "move").len(),
                "{name}"
            );
        }
        assert_eq!(after(&line("rootInfo true"), "rootInfo"), ["visits"]);
        assert_eq!(after(&line("minmoves 21"), "move").len(), area + 1, "visited or not");
        assert_eq!(after(&line("maxmoves 2"), "move").len(), 2);
        let best = &after(&plain, "move")[0];
        assert!(!after(&line(&format!("avoid w {best} 1")), "move").contains(best));
    }
}
