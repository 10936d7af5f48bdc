//! Moves.

use super::text::{color, move_text};
use super::{Answer, Commands};
use crate::engine::{Decision, Thinking};
use kosumi_gtp::{Arguments, Failure, Response, Session};

pub(super) fn play(commands: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    let (color, mv) = commands.color_and_move(arguments)?;
    let mv = mv.ok_or_else(Failure::illegal_move)?;
    commands.engine.play(color, mv).map_err(|_| Failure::illegal_move())?;
    Ok(Response::empty())
}

pub(super) fn genmove(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> Answer {
    let color = color(arguments)?;
    let watch = session.watch();
    Ok(match commands.engine.genmove(color, Thinking::new(&|| watch.interrupted())) {
        Decision::Play(mv) => move_text(mv).into(),
        Decision::Resign => "resign".into(),
    })
}

pub(super) fn reg_genmove(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    session: &mut Session<'_>,
) -> Answer {
    let color = color(arguments)?;
    let watch = session.watch();
    Ok(move_text(commands.engine.regression_move(color, &|| watch.interrupted())).into())
}

pub(super) fn undo(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    take_back(commands, 1)
}

pub(super) fn gg_undo(commands: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    let moves = arguments.optional_integer::<usize>()?.unwrap_or(1);
    take_back(commands, moves)
}

fn take_back(commands: &mut Commands, moves: usize) -> Answer {
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
) -> Answer {
    // Any integer will do; a negative one keeps its bits.
    let seed = arguments.integer::<i128>()?;
    commands.engine.set_seed(seed as u64);
    Ok(Response::empty())
}

pub(super) fn get_random_seed(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    Ok(commands.engine.seed().to_string().into())
}

pub(super) fn clear_cache(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    commands.engine.forget();
    Ok(Response::empty())
}

pub(super) fn game_over(_: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    // The server may resume the game, so nothing is cleared.
    Ok(Response::empty())
}
