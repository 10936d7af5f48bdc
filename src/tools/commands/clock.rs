//! Commands for clocks and time control.

use super::text::color;
use super::{CommandResult, Commands};
use kosumi_engine::time::{TimeControl, seconds};
use kosumi_gtp::{Arguments, Failure, Response, Session};

pub(super) fn time_settings(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    // The protocol requires integers. Fractions of seconds are accepted as well.
    let (main, period) = (arguments.float()?, arguments.float()?);
    let stones = count(arguments.integer::<i128>()?);
    commands.engine.set_time_control(TimeControl::gtp(main, period, stones));
    Ok(Response::empty())
}

/// Handles `kgs-time_settings` and `kata-time_settings`. The first argument is the kind of time control.
pub(super) fn named_time_settings(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let words: Vec<&str> = std::iter::from_fn(|| arguments.optional_word()).collect();
    let control = TimeControl::parse(&words).ok_or_else(Failure::syntax_error)?;
    commands.engine.set_time_control(control);
    Ok(Response::empty())
}

pub(super) fn list_time_settings(
    _: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    Ok("none absolute byoyomi canadian fischer fischer-capped".into())
}

pub(super) fn time_left(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let color = color(arguments)?;
    let time = arguments.float()?;
    // Some controllers omit the number of stones.
    let stones_or_periods = arguments.optional_integer::<i128>()?.map_or(0, count);
    commands.engine.set_time_left(color, seconds(time), stones_or_periods);
    Ok(Response::empty())
}

/// Clamps a number of stones or periods. Some controllers send negative numbers when main time turns into overtime.
fn count(number: i128) -> u32 {
    number.clamp(0, i128::from(u32::MAX)) as u32
}
