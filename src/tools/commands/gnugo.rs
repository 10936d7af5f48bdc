//! Commands of GNU Go that are sent by programs written for it, such as Kigo.

use super::show::shares_of_visits;
use super::text::{color, move_text};
use super::{CommandResult, Commands};
use kosumi_engine::EngineSettings;
use kosumi_go::board::{Color, Move};
use kosumi_gtp::{Arguments, Failure, Response, Session};
use kosumi_net::RankSetting;

/// Ranks of levels 0 to 9: 20, 18, 15, 12, 9, 6 and 3 kyu, 1, 3 and 6 dan. Level 10, GNU Go's default, is full
/// strength.
const LEVELS: [&str; 10] = ["20k", "18k", "15k", "12k", "9k", "6k", "3k", "1d", "3d", "6d"];

/// Handles `level number`: sets the rank that the engine plays at. The moves of the game are kept.
pub(super) fn level(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let level = arguments.integer::<i64>().map_err(|_| Failure::new("level not an integer"))?;
    let named: Option<RankSetting> = usize::try_from(level.max(0))
        .ok()
        .and_then(|level| LEVELS.get(level))
        .and_then(|name| name.parse().ok());
    let usual = *commands.engine.settings();
    let rank = named.or(commands.usual_rank);
    if rank != usual.rank {
        commands.engine.change_settings(EngineSettings { rank, ..usual });
    }
    Ok(Response::empty())
}

/// Responds with the number of stones that a player has captured.
pub(super) fn captures(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let color = color(arguments)?;
    Ok(commands.engine.game().board().prisoners(color.opponent()).to_string().into())
}

/// Responds with the number of columns, or with columns and rows if the board is not square.
pub(super) fn query_boardsize(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let size = commands.size();
    Ok(match size.columns() == size.rows() {
        true => size.columns().to_string(),
        false => format!("{} {}", size.columns(), size.rows()),
    }
    .into())
}

pub(super) fn top_moves_black(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    top_moves(commands, Color::Black, session)
}

pub(super) fn top_moves_white(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    top_moves(commands, Color::White, session)
}

/// Searches for a move of this colour within the limits of a move, without playing it. Responds with the best points,
/// each with its percentage of the visits.
fn top_moves(commands: &mut Commands, color: Color, session: &Session<'_>) -> CommandResult {
    let watch = session.watch();
    let limits = commands.engine.limits_without_clock();
    commands.search_with_graphics(&|| watch.interrupted(), |engine, request| {
        let report = engine.analyze(color, &limits, request);
        let shares = shares_of_visits(report).filter(|(mv, _)| *mv != Move::Pass);
        Ok(Response::list(shares.map(|(mv, share)| format!("{} {share:.2}", move_text(mv)))))
    })
}
