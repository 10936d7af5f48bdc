//! Commands of Gomill, a library for tournaments.
//!
//! CITE: Gomill's documentation, "GTP extensions".

use super::play::decision_text;
use super::text::color;
use super::{CommandResult, Commands};
use kosumi_engine::SearchRequest;
use kosumi_go::board::{Cell, Color};
use kosumi_go::rules::Scoring;
use kosumi_go::safety;
use kosumi_gtp::{Arguments, Response, Session};

/// Keywords of `gomill-genmove_ex`.
const KEYWORDS: [&str; 1] = ["claim"];

/// Responds with the name, the version and the settings that determine the strength, in lines for human readers.
pub(super) fn describe_engine(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let settings = commands.engine.settings();
    let (name, version) = &commands.identity;
    let network = match commands.engine.search().evaluator().network() {
        Some(evaluator) => format!("network {}", evaluator.network().name()),
        None => "playouts".to_owned(),
    };
    let mut limits = Vec::new();
    limits.extend(settings.visits.map(|visits| format!("{visits} visits")));
    limits.extend(settings.playouts.map(|playouts| format!("{playouts} simulations")));
    limits.extend(settings.move_time.map(|time| format!("{} s", time.as_secs_f64())));
    let limits = if limits.is_empty() { "by the clock".to_owned() } else { limits.join(", ") };
    Ok(Response::lines([
        format!("{name} {version}"),
        format!("evaluation: {network}"),
        format!("a move: {limits}; threads: {}; memory: {} MiB", settings.threads, settings.memory_mebibytes),
        format!("seed: {}", settings.seed),
    ]))
}

/// Handles `genmove` with keywords. Without a colour, responds with the supported keywords.
pub(super) fn genmove_ex(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    if arguments.peek().is_none() {
        return Ok(Response::lines(KEYWORDS));
    }
    let color = color(arguments)?;
    let mut may_claim = false;
    // Unknown keywords are ignored, as Gomill requires.
    while let Some(keyword) = arguments.optional_word() {
        may_claim |= keyword == KEYWORDS[0];
    }
    if may_claim && is_won(commands, color) {
        return Ok("claim".into());
    }
    let watch = session.watch();
    commands.search_with_graphics(&|| watch.interrupted(), |engine, request: SearchRequest<'_>| {
        Ok(decision_text(engine.genmove(color, request)))
    })
}

/// Returns whether the player wins whatever the opponent does, even by only passing from now on. Always returns false
/// except under area scoring, where safe stones and safe points decide.
fn is_won(commands: &Commands, color: Color) -> bool {
    let game = commands.engine.game();
    let rules = game.rules();
    if rules.scoring != Scoring::Area {
        return false;
    }
    let board = game.board();
    let own = safety::pass_alive(board, color, rules.suicide);
    let is_own = |&point: &kosumi_go::board::Point| {
        own.territory.contains(point)
            || (board.cell(point) == Cell::from(color) && own.chains.contains(point))
    };
    let safe = game.size().points().filter(is_own).count() as f32;
    let others = game.size().area() as f32 - safe;
    let white = game.komi() + game.white_bonus();
    // The opponent may get the button, which is worth half a point.
    let margin = safe - others - white * color.sign() as f32 - 0.5;
    margin > 0.0
}

/// Responds with a summary of the search for the latest generated move.
pub(super) fn explain_last_move(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    // Without a search the response is empty, which is not a failure.
    let Some(report) = commands.engine.last_report() else { return Ok(Response::empty()) };
    let moves = super::analyze::variation_text(report.principal_variation());
    let summary = super::graphics::summary(report);
    Ok(format!("{summary}; {moves}").into())
}
