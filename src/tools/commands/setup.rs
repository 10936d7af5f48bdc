//! Commands for the board and the komi.

use super::{CommandResult, Commands};
use kosumi_go::board::BoardSize;
use kosumi_gtp::{Arguments, Failure, Response, Session};

pub(super) fn boardsize(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let columns = arguments.integer::<i128>()?;
    let rows = arguments.optional_integer::<i128>()?.unwrap_or(columns);
    let side = |length: i128| usize::try_from(length).ok();
    let size = side(columns).zip(side(rows)).and_then(|(columns, rows)| BoardSize::new(columns, rows));
    commands.engine.set_size(size.ok_or_else(Failure::unacceptable_size)?);
    Ok(Response::empty())
}

pub(super) fn clear_board(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    commands.engine.clear();
    Ok(Response::empty())
}

pub(super) fn komi(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let komi = arguments.float()? as f32;
    if !komi.is_finite() {
        return Err(Failure::syntax_error());
    }
    commands.change_komi(komi)?;
    Ok(Response::empty())
}

pub(super) fn get_komi(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    Ok(commands.engine.game().komi().to_string().into())
}
