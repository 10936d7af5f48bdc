//! Analysis: reports of a search while it runs, in the formats that controllers parse.
//!
//! Two dialects: that of Leela Zero, in ten-thousandths, and that of KataGo, in fractions. Both give values from the
//! view of the side to move. Controllers tell them apart by the name of the command, and take every `info` up to its
//! `pv`, which ends with a move: hence the order of the fields, and `pass` in lower case.
//!
//! A search that may look at no legal move has nothing to report. Such a request is refused, because the controller
//! would wait for ever otherwise.

use super::text::{color, color_text, own_color, vertex_move};
use super::{Answer, Commands};
use crate::words::unsigned_zero;
use kosumi_engine::{Decision, Observer, SearchRequest};
use kosumi_eval::Prior;
use kosumi_go::board::{BoardSize, Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_gtp::{Arguments, Failure, InputWatch, Response, Session, Vertex};
use kosumi_search::{Limits, MoveReport, MoveRule, Restriction, SearchReport};
use serde_json::json;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whose format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Integers: ten-thousandths.
    LeelaZero,
    /// Fractions, and more fields.
    KataGo,
}

/// What a controller wants to know, and how often.
struct Request {
    color: Option<Color>,
    every: Duration,
    /// List at least so many moves, visited or not.
    least_moves: usize,
    most_moves: usize,
    root_info: bool,
    ownership: bool,
    variation_visits: bool,
    restriction: Restriction,
}

/// Time between two reports if the controller does not say.
const USUAL_INTERVAL: Duration = Duration::from_secs(1);

impl Request {
    /// `[color] [interval] {key value…}`, the interval in hundredths of a second.
    fn read(size: BoardSize, arguments: &mut Arguments<'_>) -> Result<Request, Failure> {
        let mut request = Request {
            color: arguments.try_color().map(own_color),
            every: USUAL_INTERVAL,
            least_moves: 0,
            most_moves: usize::MAX,
            root_info: false,
            ownership: false,
            variation_visits: false,
            restriction: Restriction::NONE,
        };
        if let Some(interval) = arguments.try_float() {
            request.every = hundredths(interval)?;
        }
        while let Some(key) = arguments.optional_word() {
            match key {
                "interval" => request.every = hundredths(arguments.float()?)?,
                "minmoves" => request.least_moves = arguments.integer()?,
                "maxmoves" => request.most_moves = arguments.integer::<usize>()?.max(1),
                "rootInfo" => request.root_info = arguments.boolean()?,
                "ownership" => request.ownership = arguments.boolean()?,
                "pvVisits" => request.variation_visits = arguments.boolean()?,
                // Known to KataGo; controllers ask for them and do without.
                "movesOwnership"
                | "ownershipStdev"
                | "movesOwnershipStdev"
                | "pvEdgeVisits"
                | "noResultValue" => {
                    arguments.boolean()?;
                }
                "avoid" => request.restriction.avoid.push(rule(size, arguments)?),
                "allow" => request.restriction.allow.push(rule(size, arguments)?),
                _ => return Err(Failure::new(format!("unknown key {key}"))),
            }
        }
        Ok(request)
    }
}

fn hundredths(interval: f64) -> Result<Duration, Failure> {
    let time = Duration::try_from_secs_f64(interval / 100.0);
    // Nobody reads faster, and reports cost time.
    time.map(|time| time.max(Duration::from_millis(10))).map_err(|_| Failure::new("interval is not a time"))
}

/// `color vertex,vertex,… until`; `a1:c3` stands for a rectangle. Sabaki and Lizzie name `resign` among the moves to
/// avoid; it is left out, because a search does not resign.
fn rule(size: BoardSize, arguments: &mut Arguments<'_>) -> Result<MoveRule, Failure> {
    let color = color(arguments)?;
    let mut moves = Vec::new();
    let words = arguments.word()?.split(',').filter(|text| !text.is_empty());
    for text in words.filter(|text| !text.eq_ignore_ascii_case("resign")) {
        let vertex = |text: &str| {
            let vertex = text.parse::<Vertex>().ok().and_then(|vertex| vertex_move(size, vertex));
            vertex.ok_or_else(|| Failure::new(format!("{text} is not a vertex of the board")))
        };
        match text.split_once(':') {
            None => moves.push(vertex(text)?),
            Some((from, to)) => {
                let (Move::Play(from), Move::Play(to)) = (vertex(from)?, vertex(to)?) else {
                    return Err(Failure::new("a pass is not the corner of a rectangle"));
                };
                moves.extend(rectangle(size, from, to).map(Move::Play));
            }
        }
    }
    // Without a number the rule holds for the next move.
    let until = arguments.try_integer::<usize>().unwrap_or(1);
    Ok(MoveRule { color, moves, until })
}

fn rectangle(size: BoardSize, a: Point, b: Point) -> impl Iterator<Item = Point> {
    let columns = a.column().min(b.column())..=a.column().max(b.column());
    let rows = a.row().min(b.row())..=a.row().max(b.row());
    size.points().filter(move |point| columns.contains(&point.column()) && rows.contains(&point.row()))
}

/// Values and scores from the view of one player.
pub(super) struct View {
    sign: f32,
}

impl View {
    pub(super) fn of(color: Color) -> View {
        View { sign: color.sign() as f32 }
    }

    /// Black's value as a probability of winning.
    pub(super) fn win_rate(&self, value: f32) -> f32 {
        ((1.0 + self.sign * value) / 2.0).clamp(0.0, 1.0)
    }

    /// The number for the player, to be shown with this many decimal places.
    pub(super) fn signed(&self, number: f32, decimals: i32) -> f64 {
        unsigned_zero(self.sign * number, decimals)
    }

    /// The number for the player, to four decimal places.
    fn rounded(&self, number: f32) -> f64 {
        rounded(self.sign * number)
    }

    /// The win rate that a move has at least, nearly for sure: two standard errors below.
    fn lower_bound(&self, entry: &MoveReport) -> f32 {
        (self.win_rate(entry.value) - entry.value_error).max(0.0)
    }
}

/// The moves to be listed, and for each the probability that it is the one to play.
fn listed<'r>(request: &Request, report: &'r SearchReport) -> Vec<(&'r MoveReport, f32)> {
    let shares = prior_shares(report.moves.iter().map(|entry| entry.prior));
    let to_move = report.to_move;
    report
        .moves
        .iter()
        .zip(shares)
        .filter(|(entry, _)| request.restriction.permits(to_move, entry.mv, 0))
        .enumerate()
        .take_while(|(index, (entry, _))| entry.visits > 0 || *index < request.least_moves)
        .take(request.most_moves)
        .map(|(_, listed)| listed)
        .collect()
}

/// For each prior the probability that its move is the one to play. Credits in games are made probabilities by their
/// share of all wins.
pub(super) fn prior_shares(priors: impl Iterator<Item = Prior>) -> Vec<f32> {
    let priors: Vec<Prior> = priors.collect();
    let wins: f32 = priors.iter().map(|prior| f32::from(prior.games().wins)).sum();
    let share = |prior: &Prior| match prior {
        Prior::Probability(probability) => *probability,
        Prior::Games(games) => f32::from(games.wins) / wins.max(1.0),
    };
    priors.iter().map(share).collect()
}

pub(super) fn variation_text(moves: &[Move]) -> String {
    moves.iter().map(Move::to_string).collect::<Vec<_>>().join(" ")
}

/// All that is to be said about a report, in one line; empty if there is nothing yet.
fn info_line(dialect: Dialect, request: &Request, size: BoardSize, report: &SearchReport) -> String {
    let view = View::of(report.to_move);
    let score_deviation = report.score_error * (report.playouts as f32).sqrt();
    let mut line = String::new();
    for (order, (entry, prior)) in listed(request, report).into_iter().enumerate() {
        let (mv, visits) = (entry.mv, entry.visits);
        let (rate, bound) = (view.win_rate(entry.value), view.lower_bound(entry));
        let separator = if order == 0 { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = match dialect {
            Dialect::LeelaZero => write!(
                line,
                "{separator}info move {mv} visits {visits} winrate {:.0} prior {:.0} lcb {:.0} order {order}",
                1e4 * rate,
                1e4 * prior,
                1e4 * bound,
            ),
            Dialect::KataGo => {
                let score = view.signed(entry.score, 4);
                write!(
                    line,
                    "{separator}info move {mv} visits {visits} edgeVisits {visits} utility {:.6} winrate {rate:.6} \
                     scoreMean {score:.4} scoreStdev {score_deviation:.4} scoreLead {score:.4} \
                     scoreSelfplay {score:.4} prior {prior:.6} lcb {bound:.6} utilityLcb {:.6} weight {visits} \
                     order {order}",
                    view.signed(entry.value, 6),
                    unsigned_zero(2.0 * bound - 1.0, 6),
                )
            }
        };
        let _ = write!(line, " pv {}", variation_text(&entry.variation));
        if request.variation_visits {
            let visits: Vec<String> = entry.variation_visits.iter().map(u32::to_string).collect();
            let _ = write!(line, " pvVisits {}", visits.join(" "));
        }
    }
    if request.root_info && !line.is_empty() {
        let score = view.signed(report.score, 4);
        let _ = write!(
            line,
            " rootInfo visits {} utility {:.6} winrate {:.6} scoreMean {score:.4} scoreStdev {score_deviation:.4} \
             scoreLead {score:.4} scoreSelfplay {score:.4} weight {0}",
            report.visits,
            view.signed(report.value, 6),
            view.win_rate(report.value),
        );
    }
    if request.ownership && !line.is_empty() {
        line.push_str(" ownership");
        for row in (0..size.rows()).rev() {
            for column in 0..size.columns() {
                let owner = view.signed(report.ownership.mean(Point::new(column, row)), 4);
                let _ = write!(line, " {owner:.4}");
            }
        }
    }
    line
}

impl Commands {
    /// Reads what an analysis is asked for and whose move it is. Refuses a restriction that leaves no legal move.
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

/// Streams reports until the controller sends anything more.
fn analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
    dialect: Dialect,
) -> Answer {
    let size = commands.size();
    let (request, color) = commands.analysis_request(arguments)?;
    session.begin_stream()?;
    let watch = session.watch();
    let mut on_report = |_: &Game, report: &SearchReport| {
        // If the controller is gone, the watch says so.
        let _ = session.stream(&info_line(dialect, &request, size, report));
    };
    let interrupted = || watch.input_pending();
    let search = SearchRequest {
        restriction: request.restriction.clone(),
        observer: Some(Observer { every: request.every, on_report: &mut on_report }),
        ..SearchRequest::new(&interrupted)
    };
    commands.engine.analyze(color, &Limits::default(), search);
    Ok(Response::empty())
}

/// What happens to the move that a search has chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is played.
    Play,
    /// It is told, and the position stays.
    Tell,
    /// As `Tell`, but any input cancels the search.
    TellUnlessCancelled,
}

/// Whether a search has to stop, and whether it was stopped by a controller that no longer wants its result.
pub(super) struct Cancellation {
    watch: InputWatch,
    purpose: Purpose,
    is_cancelled: AtomicBool,
}

impl Cancellation {
    pub(super) fn new(session: &Session<'_>, purpose: Purpose) -> Cancellation {
        Cancellation { watch: session.watch(), purpose, is_cancelled: AtomicBool::new(false) }
    }

    /// Must the search stop now? Input that comes after a search has ended cancels nothing.
    pub(super) fn stops(&self) -> bool {
        let is_cancelled = self.purpose == Purpose::TellUnlessCancelled && self.watch.input_pending();
        if is_cancelled {
            self.is_cancelled.store(true, Ordering::Relaxed);
        }
        is_cancelled || self.watch.interrupted()
    }

    /// Was the search cancelled?
    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// What KataGo answers instead of a move when the search was cancelled.
pub(super) const CANCELLED: &str = "cancelled";

/// Streams reports on the way to a move, and the move at the end.
fn genmove_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
    dialect: Dialect,
    purpose: Purpose,
) -> Answer {
    let size = commands.size();
    let (request, color) = commands.analysis_request(arguments)?;
    session.begin_stream()?;
    let cancellation = Cancellation::new(session, purpose);
    let mut is_reported = false;
    let searches = commands.engine.searches();
    let mut on_report = |_: &Game, report: &SearchReport| {
        is_reported = true;
        let _ = session.stream(&info_line(dialect, &request, size, report));
    };
    let interrupted = || cancellation.stops();
    let search = SearchRequest {
        restriction: request.restriction.clone(),
        observer: Some(Observer { every: request.every, on_report: &mut on_report }),
        ..SearchRequest::new(&interrupted)
    };
    if cancellation.stops() {
        return Ok(format!("play {CANCELLED}").into());
    }
    let decision = match purpose {
        Purpose::Play => commands.engine.genmove(color, search),
        Purpose::Tell | Purpose::TellUnlessCancelled => commands.engine.choose(color, search),
    };
    if cancellation.is_cancelled() {
        return Ok(format!("play {CANCELLED}").into());
    }
    // Controllers read the last report before the move: there must be one, however short the search was. A pass that ends the
    // game may be decided without a search; then the last report is of another position.
    let is_searched = commands.engine.searches() > searches;
    if !is_reported
        && is_searched
        && let Some(report) = commands.engine.last_report()
    {
        session.stream(&info_line(dialect, &request, size, report))?;
    }
    Ok(format!("play {}", decision_text(decision)).into())
}

/// A decision as the line `play …` has it: a pass in lower case.
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
) -> Answer {
    analyze(commands, arguments, session, Dialect::LeelaZero)
}

pub(super) fn kata_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> Answer {
    analyze(commands, arguments, session, Dialect::KataGo)
}

pub(super) fn lz_genmove_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> Answer {
    genmove_analyze(commands, arguments, session, Dialect::LeelaZero, Purpose::Play)
}

pub(super) fn kata_genmove_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> Answer {
    genmove_analyze(commands, arguments, session, Dialect::KataGo, Purpose::Play)
}

pub(super) fn kata_search_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> Answer {
    genmove_analyze(commands, arguments, session, Dialect::KataGo, Purpose::Tell)
}

pub(super) fn kata_search_analyze_cancellable(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> Answer {
    genmove_analyze(commands, arguments, session, Dialect::KataGo, Purpose::TellUnlessCancelled)
}

/// One line of JSON for the spectators of CGOS, and the move.
pub(super) fn cgos_genmove_analyze(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> Answer {
    let color = super::text::color(arguments)?;
    let watch = session.watch();
    let searches = commands.engine.searches();
    let decision = commands.engine.genmove(color, SearchRequest::new(&|| watch.interrupted()));
    let is_searched = commands.engine.searches() > searches;
    if let Some(report) = commands.engine.last_report().filter(|_| is_searched) {
        session.stream(&spectators_json(commands.size(), report).to_string())?;
    } else {
        session.begin_stream()?;
    }
    Ok(format!("play {}", decision_text(decision)).into())
}

/// Most moves that spectators are shown.
const SPECTATORS_MOVES: usize = 10;

fn spectators_json(size: BoardSize, report: &SearchReport) -> serde_json::Value {
    let view = View::of(report.to_move);
    let request = Request {
        color: None,
        every: USUAL_INTERVAL,
        least_moves: 0,
        most_moves: SPECTATORS_MOVES,
        root_info: false,
        ownership: false,
        variation_visits: false,
        restriction: Restriction::NONE,
    };
    let moves: Vec<_> = listed(&request, report)
        .into_iter()
        .map(|(entry, prior)| {
            json!({
                "move": entry.mv.to_string(),
                "winrate": rounded(view.win_rate(entry.value)),
                "score": view.rounded(entry.score),
                "prior": rounded(prior),
                "visits": entry.visits,
                // The answer to the move, which has been named already.
                "pv": variation_text(entry.variation.get(1..).unwrap_or_default()),
            })
        })
        .collect();
    json!({
        "winrate": rounded(view.win_rate(report.value)),
        "score": view.rounded(report.score),
        "visits": report.visits,
        "moves": moves,
        "ownership": spectators_ownership(size, report),
        "comment": format!("{} to move", color_text(report.to_move)),
    })
}

/// Who is expected to own what, a letter a point and row by row from the top: from `A`, surely the opponent's, to
/// `+`, surely the own.
fn spectators_ownership(size: BoardSize, report: &SearchReport) -> String {
    const LETTERS: &[u8; 63] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+";
    let view = View::of(report.to_move);
    let letter = |point| {
        let share = (view.sign * report.ownership.mean(point) + 1.0) / 2.0;
        let last = LETTERS.len() - 1;
        char::from(LETTERS[((share * last as f32).round() as usize).min(last)])
    };
    let rows = (0..size.rows()).rev();
    rows.flat_map(|row| (0..size.columns()).map(move |column| letter(Point::new(column, row)))).collect()
}

/// To four decimal places: further digits would be noise.
fn rounded(number: f32) -> f64 {
    (unsigned_zero(number, 4) * 1e4).round() / 1e4
}

/// Ends an analysis, which every command does.
pub(super) fn stop(_: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    Ok(Response::empty())
}
