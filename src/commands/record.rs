//! Records of games: reading and writing SGF.

use super::text::color_text;
use super::{Answer, Commands};
use crate::sgf;
use kosumi_gtp::{Arguments, Failure, Response, Session};
use std::fs::File;
use std::io::Read;

/// A larger file is no game record, or a collection that `loadsgf` is not made for.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// `loadsgf file [move_number]`: the position before that move, or the last one. Answers with the player on
/// turn, as GNU Go does. Size, komi and moves come from the file; the rules stay unless the file names known
/// ones.
pub(super) fn loadsgf(commands: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    let path = commands.folder.join(arguments.word()?);
    let up_to = arguments.optional_integer::<u32>()?.map(|number| number as usize);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|_| Failure::cannot_load_file())?;
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    if read.is_err() || bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Failure::cannot_load_file());
    }
    let game = commands.engine.game();
    let record = sgf::Record::parse(&bytes).map_err(|_| Failure::cannot_load_file())?;
    let rules = record.known_rules().map_or(game.rules(), |preset| preset.rules);
    let strictness =
        if commands.engine.settings().strict { sgf::Strictness::Strict } else { sgf::Strictness::Tolerant };
    let replayed =
        record.replay(rules, game.komi(), up_to, strictness).map_err(|_| Failure::cannot_load_file())?;
    let to_move = replayed.game.to_move();
    commands.engine.set_game(replayed.game);
    commands.engine.forget();
    Ok(color_text(to_move).into())
}

/// `printsgf [file]`: the game as SGF, to a file if one is named.
pub(super) fn printsgf(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> Answer {
    let text = sgf::write(commands.engine.game(), &sgf::Meta::default());
    match arguments.optional_word() {
        None | Some("-") => Ok(text.into()),
        Some(path) => {
            std::fs::write(commands.folder.join(path), text)
                .map_err(|error| Failure::new(format!("cannot write: {error}")))?;
            Ok(Response::empty())
        }
    }
}
