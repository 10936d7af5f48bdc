//! Commands that show the status of the position and the results of searches, in formats for GoGui and for people.

use super::analyze::variation_text;
use super::graphics::{self, colored, marks};
use super::text::{color, color_text, move_text, points_text, rows_text, vertex_move};
use super::{CommandResult, Commands};
use crate::words::unsigned_zero;
use kosumi_engine::{SearchObserver, SearchRequest};
use kosumi_go::board::{Board, Cell, Color, Key, Move, Point, Symmetry};
use kosumi_go::safety::{self, PassAlive};
use kosumi_gtp::{Arguments, Failure, Response, Session};
use kosumi_net::input::index;
use kosumi_search::analysis::shares_of_priors;
use kosumi_search::{Analysis, Extras, MoveAnalysis, SearchReport};

/// GoGui's notation of an empty cell.
const NOTHING: &str = "\"\"";

impl Commands {
    /// Returns the report of the latest search.
    fn report(&self) -> Result<&SearchReport, Failure> {
        self.engine.last_report().ok_or_else(|| Failure::new("nothing has been searched yet"))
    }

    /// Returns the analysis of the latest search, from the perspective of the side that was to move.
    fn analysis(&self) -> Result<Analysis, Failure> {
        Ok(Analysis::new(self.report()?, &Extras::default()).seen_by_mover())
    }
}

/// Responds with the expected owner of every point, 1 for Black to −1 for White, from the search of this position or
/// the evaluator.
pub(super) fn ownership(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let ownership = commands.engine.ownership();
    Ok(rows_text(commands.size(), |point| format!("{:.3}", unsigned_zero(ownership.mean(point), 3))).into())
}

/// Responds with the expected owner of every point according to the network alone.
pub(super) fn network_ownership(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let color = commands.engine.game().to_move();
    let prediction = commands.engine.predict(color, Symmetry::ALL[0], 0.0);
    let prediction = prediction.ok_or_else(|| Failure::new("no network"))?;
    let prediction = prediction.map_err(|error| Failure::new(error.to_string()))?;
    let size = commands.size();
    Ok(rows_text(size, |point| format!("{:.3}", unsigned_zero(prediction.ownership[index(size, point)], 3)))
        .into())
}

/// Responds with a picture of the owners, the dead stones, the stones in seki and the score if the game ended now.
pub(super) fn territory(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let status = commands.engine.final_status();
    let (size, owner) = (commands.size(), &status.owner);
    let of = |color| size.points().filter(move |&point| owner[point] == Some(color));
    let lines = [
        marks("BLACK", of(Color::Black)),
        marks("WHITE", of(Color::White)),
        marks("MARK", status.dead.iter()),
        marks("CIRCLE", status.seki.iter()),
        format!("TEXT {}", kosumi_go::score::format_score(status.score)),
    ];
    Ok(Response::lines(lines.iter().filter(|line| !line.is_empty())))
}

/// Responds with the fate of stones as colours: green stones cannot be captured whatever is played, red stones are
/// dead, and yellow stones are in seki. Points that belong to one player whatever is played are gray.
pub(super) fn life_and_death(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let status = commands.engine.final_status();
    let sure = unconditional(commands);
    let board = commands.engine.game().board();
    let shade = |point| match board.cell(point) {
        Cell::Empty | Cell::Border if owner(&sure, point).is_some() => "gray",
        Cell::Empty | Cell::Border => NOTHING,
        _ if sure.iter().any(|side| side.chains.contains(point)) => "green",
        cell if status.dead.contains(point) || owner(&sure, point).is_some_and(|it| cell != it.into()) => {
            "red"
        }
        _ if status.seki.contains(point) => "yellow",
        _ => NOTHING,
    };
    Ok(rows_text(commands.size(), |point| shade(point).to_owned()).into())
}

/// Returns what each player holds unconditionally, Black's part first.
fn unconditional(commands: &Commands) -> [PassAlive; 2] {
    let game = commands.engine.game();
    Color::BOTH.map(|color| safety::unconditionally_held(game.board(), color, game.rules().suicide))
}

/// Returns the side that holds a point unconditionally, as a stone or as territory.
fn owner(sure: &[PassAlive; 2], point: Point) -> Option<Color> {
    let holds = |color: &Color| {
        let side = &sure[*color as usize];
        side.chains.contains(point) || side.territory.contains(point)
    };
    Color::BOTH.into_iter().find(holds)
}

/// Handles GNU Go's `unconditional_status`.
pub(super) fn unconditional_status(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let point = commands.point(arguments)?;
    let stone = commands.engine.game().board().cell(point).color();
    let answer = match (owner(&unconditional(commands), point), stone) {
        (None, _) => "undecided",
        (Some(Color::Black), None) => "black_territory",
        (Some(Color::White), None) => "white_territory",
        // A stone inside its own owner's unconditional territory counts as alive, even if it can be captured.
        (Some(owner), Some(stone)) if owner == stone => "alive",
        (Some(_), Some(_)) => "dead",
    };
    Ok(answer.into())
}

/// Handles GNU Go's `final_status` for one stone or point.
pub(super) fn final_status(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let point = commands.point(arguments)?;
    let status = commands.engine.final_status();
    let is_stone = commands.engine.game().board().cell(point) != Cell::Empty;
    let answer = match status.owner[point] {
        _ if is_stone && status.dead.contains(point) => "dead",
        _ if is_stone && status.seki.contains(point) => "seki",
        _ if is_stone => "alive",
        Some(Color::Black) => "black_territory",
        Some(Color::White) => "white_territory",
        None => "dame",
    };
    Ok(answer.into())
}

/// Handles GNU Go's `estimate_score`: responds with the expected score of this position's search. Without a search, or
/// after the end of the game, the score is that of [`final_status`]. The bounds are White's scores two standard
/// deviations to either side of it. They are equal if the score is certain.
pub(super) fn estimate_score(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let is_over = commands.engine.game().is_over();
    let searched = commands.engine.report_of_position().filter(|_| !is_over).map(|report| report.score);
    let score = searched.unwrap_or_else(|| commands.engine.final_status().score);
    let deviation = commands.engine.score_deviation();
    let leader = if score > 0.0 { 'B' } else { 'W' };
    let bound = |sign: f32| unsigned_zero(sign * 2.0 * deviation - score, 1);
    Ok(format!("{leader}+{:.1} (upper bound: {:.1}, lower: {:.1})", score.abs(), bound(1.0), bound(-1.0))
        .into())
}

/// Responds with the prior probabilities of the moves, in thousandths. Omits moves whose probability is below one
/// thousandth.
pub(super) fn priors(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    let priors = commands.engine.priors();
    let shares = shares_of_priors(priors.iter().map(|&(_, prior)| prior));
    let pairs = priors.iter().zip(shares).filter_map(|(&(mv, _), share)| {
        let thousandths = (1000.0 * share).round();
        mv.point().filter(|_| thousandths >= 1.0).map(|point| format!("{point} {thousandths}"))
    });
    Ok(Response::list(pairs))
}

/// Handles Leela Zero's `heatmap`: responds with the prior probabilities of all points and of passing.
pub(super) fn heatmap(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    let priors = commands.engine.priors();
    let shares = shares_of_priors(priors.iter().map(|&(_, prior)| prior));
    let thousandths = |mv: Move| {
        let known = priors.iter().zip(&shares).find(|((other, _), _)| *other == mv);
        (1000.0 * known.map_or(0.0, |(_, share)| *share)).round()
    };
    let board = rows_text(commands.size(), |point| format!("{:3}", thousandths(Move::Play(point))));
    Ok(format!("{board}\npass: {}", thousandths(Move::Pass)).into())
}

/// Responds with the best moves of the latest search and their order.
pub(super) fn best_moves(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let tried = commands.report()?.moves.iter().filter(|entry| entry.visits > 0);
    let points = tried.filter_map(|entry| entry.mv.point()).take(9);
    Ok(Response::list(points.enumerate().map(|(order, point)| format!("{point} {}", order + 1))))
}

/// Handles GNU Go's `top_moves`: responds with the best moves, each with its percentage of the visits.
pub(super) fn top_moves(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let shares = shares_of_visits(commands.report()?);
    Ok(Response::list(shares.map(|(mv, share)| format!("{} {share:.1}", move_text(mv)))))
}

/// Returns up to ten best moves of a search, each with its percentage of the visits.
pub(super) fn shares_of_visits(report: &SearchReport) -> impl Iterator<Item = (Move, f64)> + '_ {
    let all: u32 = report.moves.iter().map(|entry| entry.visits).sum();
    let tried = report.moves.iter().filter(|entry| entry.visits > 0).take(10);
    tried.map(move |entry| (entry.mv, 100.0 * f64::from(entry.visits) / f64::from(all.max(1))))
}

/// Responds with a text for every move of the latest search, on the points of the board.
fn root_board(commands: &Commands, text: impl Fn(&MoveAnalysis) -> String) -> CommandResult {
    let analysis = commands.analysis()?;
    let cell = |point| match analysis.moves.iter().find(|entry| entry.mv == Move::Play(point)) {
        Some(entry) if entry.edge_visits > 0 => text(entry),
        _ => NOTHING.to_owned(),
    };
    Ok(rows_text(commands.size(), cell).into())
}

/// Responds with the visits of every move in the latest search.
pub(super) fn root_visits(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    root_board(commands, |entry| entry.edge_visits.to_string())
}

/// Responds with the win rate of every move in the latest search for the side to move, in per cent.
pub(super) fn root_win_rates(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    root_board(commands, |entry| format!("{:.1}", 100.0 * entry.expectation.win_rate))
}

/// Responds with a picture of the latest search.
pub(super) fn root(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    Ok(picture(commands.report()?))
}

fn picture(report: &SearchReport) -> Response {
    format!("{}\n{}", graphics::win_rates(report), graphics::status_line(report)).into()
}

/// Searches for a move of this colour within the limits of a move, without playing it. Responds with a picture.
pub(super) fn search(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    let color = match arguments.peek() {
        Some(_) => color(arguments)?,
        None => commands.engine.game().to_move(),
    };
    let watch = session.watch();
    let limits = commands.engine.limits_without_clock();
    commands.search_with_graphics(&|| watch.interrupted(), |engine, request| {
        Ok(picture(engine.analyze(color, &limits, request)))
    })
}

/// Responds with the principal variation of the latest search, or with the one that begins with a given move. The
/// response is empty if that move was not searched.
pub(super) fn variation(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let Some(vertex) = arguments.optional_vertex()? else {
        let report = commands.report()?;
        return Ok(Response::list(colored(report.to_move, report.principal_variation())));
    };
    let mv = vertex_move(commands.size(), vertex)
        .ok_or_else(|| Failure::new(format!("{vertex} is not a point of the board")))?;
    // GoGui lets the user choose any point, including points that were not searched.
    let report = commands.engine.last_report();
    let searched =
        report.and_then(|report| Some((report.to_move, report.find(mv).filter(|it| it.visits > 0)?)));
    Ok(match searched {
        Some((to_move, entry)) => Response::list(colored(to_move, &entry.variation)),
        None => Response::empty(),
    })
}

/// Responds with statistics of the latest search.
pub(super) fn statistics(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let report = commands.report()?;
    let analysis = commands.analysis()?;
    let root = &analysis.root;
    let mut lines = vec![
        format!("Turn: {}", color_text(analysis.to_move)),
        format!("Visits: {} ({} new)", analysis.visits, analysis.playouts),
        format!("Win rate: {:.1} % (± {:.1})", 100.0 * root.win_rate, 100.0 * root.win_rate_error),
        format!("Score: {:+.1} (± {:.1})", unsigned_zero(root.lead, 1), root.lead_error),
        format!("Depth: {}", analysis.depth),
        format!("Transpositions: {}, cycles: {}", report.transpositions, report.cycles),
        format!("Table: {:.1} % full", 100.0 * report.usage.fullness()),
    ];
    for entry in analysis.moves.iter().filter(|entry| entry.edge_visits > 0).take(10) {
        lines.push(format!(
            "{:4} {:7} visits {:5.1} % score {:+6.1} prior {:4.1} % {}",
            move_text(entry.mv),
            entry.edge_visits,
            100.0 * entry.expectation.win_rate,
            unsigned_zero(entry.expectation.lead, 1),
            100.0 * entry.prior,
            variation_text(entry.variation.get(1..).unwrap_or_default()),
        ));
    }
    Ok(Response::lines(lines))
}

/// Responds with the keys of the position: of its stones, of its canonical symmetric image, and of its node in the
/// search graph.
pub(super) fn keys(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    let game = commands.engine.game();
    let board: &Board = game.board();
    let hex = |key: Key| format!("{:032x}", key.0);
    Ok(Response::lines([
        format!("Position: {}", hex(board.key())),
        format!("Canonical: {}", hex(board.canonical_key())),
        format!("Node: {}", hex(game.graph_key())),
    ]))
}

/// Responds with the points that only superko forbids.
pub(super) fn superko_banned(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let color = match arguments.peek() {
        Some(_) => color(arguments)?,
        None => commands.engine.game().to_move(),
    };
    Ok(points_text(commands.engine.game().superko_banned(color)).into())
}

/// Responds with the number of liberties of each stone's chain.
pub(super) fn liberties(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let board = commands.engine.game().board();
    let cell = |point| match board.cell(point) {
        Cell::Empty | Cell::Border => NOTHING.to_owned(),
        Cell::Black | Cell::White => board.liberty_count(point).to_string(),
    };
    Ok(rows_text(board.size(), cell).into())
}

impl Commands {
    /// Calls `search` with a request whose observer draws live graphics, if they are enabled.
    pub(super) fn search_with_graphics<T>(
        &mut self,
        interrupted: &(dyn Fn() -> bool + Sync),
        search: impl FnOnce(&mut kosumi_engine::Engine, SearchRequest<'_>) -> T,
    ) -> T {
        let Commands { engine, live_graphics, .. } = self;
        if !live_graphics.is_used() {
            return search(engine, SearchRequest::new(interrupted));
        }
        let mut on_report =
            |game: &kosumi_go::game::Game, report: &SearchReport| live_graphics.draw(game, report);
        let observer =
            Some(SearchObserver { every: graphics::LiveGraphics::EVERY, on_report: &mut on_report });
        let done = search(engine, SearchRequest { observer, ..SearchRequest::new(interrupted) });
        live_graphics.clear();
        done
    }
}
