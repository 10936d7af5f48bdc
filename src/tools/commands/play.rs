//! Commands that play or choose moves.

use super::analyze::{CANCELLED, Cancellation, Purpose};
use super::text::{color, move_text, vertex_move};
use super::{CommandResult, Commands};
use kosumi_engine::{Decision, Engine, EngineSettings, SearchRequest};
use kosumi_go::board::{Color, Move};
use kosumi_gtp::{Arguments, Failure, Response, Session};
use kosumi_search::Restriction;

pub(super) fn play(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (color, mv) = commands.color_and_move(arguments)?;
    play_move(commands, color, mv)
}

/// Plays a move. `mv` is `None` if the vertex is not on the board.
fn play_move(commands: &mut Commands, color: Color, mv: Option<Move>) -> CommandResult {
    let mv = mv.ok_or_else(Failure::illegal_move)?;
    commands.engine.play(color, mv).map_err(|_| Failure::illegal_move())?;
    Ok(Response::empty())
}

/// Plays a move of Black. In GTP version 1 the command's name is the colour.
pub(super) fn play_black(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    play_as(commands, Color::Black, arguments)
}

/// Plays a move of White, as [`play_black`] does for Black.
pub(super) fn play_white(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    play_as(commands, Color::White, arguments)
}

fn play_as(commands: &mut Commands, color: Color, arguments: &mut Arguments<'_>) -> CommandResult {
    let mv = vertex_move(commands.size(), arguments.vertex()?);
    play_move(commands, color, mv)
}

/// Accepts GNU Go's commands that set reading depths. They have no effect, because reading is limited by nodes, not by
/// depth.
pub(super) fn change_depths(_: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    Ok(Response::empty())
}

pub(super) fn genmove(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    decide(commands, arguments, session, Engine::genmove)
}

/// Handles KataGo's `kata-search`: chooses a move as `genmove` does, without playing it.
pub(super) fn kata_search(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    decide(commands, arguments, session, Engine::choose)
}

/// Handles KataGo's `kata-search_cancellable`: like `kata-search`, but any line from the controller cancels the search.
pub(super) fn kata_search_cancellable(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    let color = color(arguments)?;
    let cancellation = Cancellation::new(session, Purpose::ReportUnlessCancelled);
    if cancellation.stops() {
        return Ok(CANCELLED.into());
    }
    let decision = commands
        .search_with_graphics(&|| cancellation.stops(), |engine, request| engine.choose(color, request));
    Ok(if cancellation.is_cancelled() { CANCELLED.into() } else { decision_text(decision) })
}

/// Responds with the decision of `choose`.
pub(super) fn decide(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &Session<'_>,
    choose: fn(&mut Engine, Color, SearchRequest<'_>) -> Decision,
) -> CommandResult {
    let color = color(arguments)?;
    let watch = session.watch();
    let decision = commands
        .search_with_graphics(&|| watch.interrupted(), |engine, request| choose(engine, color, request));
    Ok(decision_text(decision))
}

/// Returns a decision in the form of `genmove`'s response.
pub(super) fn decision_text(decision: Decision) -> Response {
    match decision {
        Decision::Play(mv) => move_text(mv).into(),
        Decision::Resign => "resign".into(),
    }
}

pub(super) fn reg_genmove(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    let color = color(arguments)?;
    regression_move(commands, color, Restriction::NONE, session)
}

/// Handles GNU Go's `gg_genmove color [seed]`: like `reg_genmove`, but with another seed.
pub(super) fn gg_genmove(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    let color = color(arguments)?;
    let seed = arguments.optional_integer::<i128>()?;
    let usual = *commands.engine.settings();
    // Any integer is accepted. Negative integers are reinterpreted as unsigned.
    let seed = seed.map_or(usual.seed, |seed| seed as u64);
    commands.engine.change_settings(EngineSettings { seed, ..usual });
    let answer = regression_move(commands, color, Restriction::NONE, session);
    commands.engine.change_settings(usual);
    answer
}

/// Handles GNU Go's `restricted_genmove color vertex...`: like `reg_genmove`, but limited to these moves.
pub(super) fn restricted_genmove(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> CommandResult {
    let color = color(arguments)?;
    let size = commands.size();
    let vertices = arguments.vertices()?;
    let moves: Vec<Move> = vertices.into_iter().filter_map(|vertex| vertex_move(size, vertex)).collect();
    if moves.is_empty() {
        return Err(Failure::syntax_error());
    }
    let restriction = Restriction::allowing(color, moves, 1);
    regression_move(commands, color, restriction, session)
}

fn regression_move(
    commands: &mut Commands,
    color: Color,
    restriction: Restriction,
    session: &mut Session<'_>,
) -> CommandResult {
    let watch = session.watch();
    let mv = commands.search_with_graphics(&|| watch.interrupted(), |engine, request| {
        engine.regression_move(color, SearchRequest { restriction, ..request })
    });
    Ok(move_text(mv).into())
}

pub(super) fn undo(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    take_back(commands, 1)
}

pub(super) fn gg_undo(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let moves = arguments.optional_integer::<usize>()?.unwrap_or(1);
    take_back(commands, moves)
}

fn take_back(commands: &mut Commands, moves: usize) -> CommandResult {
    if commands.engine.game().records().len() < moves {
        return Err(Failure::cannot_undo());
    }
    for _ in 0..moves {
        commands.engine.undo();
    }
    Ok(Response::empty())
}

pub(super) fn set_random_seed(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    // Any integer is accepted. Negative integers are reinterpreted as unsigned.
    let seed = arguments.integer::<i128>()?;
    commands.engine.set_seed(seed as u64);
    Ok(Response::empty())
}

pub(super) fn get_random_seed(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    Ok(commands.engine.seed().to_string().into())
}

pub(super) fn clear_cache(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    commands.engine.forget();
    Ok(Response::empty())
}
