//! Commands about the engine and the session.

use super::{CommandResult, CommandRow, Commands, TABLE, find};
use crate::system::processor_time;
use kosumi_gtp::{Arguments, Failure, Response, Session};

pub(super) fn protocol_version(
    _: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    Ok("2".into())
}

pub(super) fn name(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    Ok(commands.identity.0.into())
}

pub(super) fn version(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    Ok(commands.identity.1.clone().into_owned().into())
}

pub(super) fn known_command(
    _: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    // The protocol draft defines no failure for this command, so an empty name is an unknown name.
    Ok(arguments.optional_word().is_some_and(|name| find(name).is_some()).into())
}

pub(super) fn list_commands(_: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    Ok(Response::lines(TABLE.iter().map(|row| row.name)))
}

pub(super) fn help(_: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    let line = |row: &CommandRow| {
        let separator = if row.arguments.is_empty() { "" } else { " " };
        format!("{}{separator}{}: {}", row.name, row.arguments, row.about)
    };
    match arguments.optional_word() {
        Some(name) => find(name).map(|row| line(row).into()).ok_or_else(Failure::unknown_command),
        None => Ok(Response::lines(TABLE.iter().map(line))),
    }
}

pub(super) fn quit(_: &mut Commands, _: &mut Arguments<'_>, session: &mut Session<'_>) -> CommandResult {
    session.quit();
    Ok(Response::empty())
}

pub(super) fn echo(_: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    Ok(arguments.rest().into())
}

pub(super) fn cputime(_: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    let used = processor_time();
    Ok(format!("{}.{:03}", used.as_secs(), used.subsec_millis()).into())
}
