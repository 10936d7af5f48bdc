//! Records of games: reading and writing SGF.

use super::text::{color_text, vertex_move};
use super::{Answer, Commands};
use crate::engine::Remarks;
use crate::sgf::{Meta, Record, Strictness};
use kosumi_gtp::{Arguments, Failure, Response, Session, Vertex};
use std::fs::File;
use std::io::Read;

/// A larger file is no game record, or a collection that `loadsgf` is not made for.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// `loadsgf file [move]`: the position before that move, or the last one. The move is a number, counted from 1, or,
/// as GNU Go has it, a vertex: the first move there. Answers with the player on turn, as GNU Go does. Size, komi
/// and moves come from the file; the rules stay unless the file names known ones.
pub(super) fn loadsgf(commands: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    let path = commands.folder.join(arguments.word()?);
    let until = arguments.optional_word().map(Until::read).transpose()?;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|_| Failure::cannot_load_file())?;
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    if read.is_err() || bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Failure::cannot_load_file());
    }
    let game = commands.engine.game();
    let record = Record::parse(&bytes).map_err(|_| Failure::cannot_load_file())?;
    let up_to = until.map(|until| until.number(&record)).transpose()?;
    let rules = record.rules().unwrap_or(game.rules());
    let strictness =
        if commands.engine.settings().strict { Strictness::Strict } else { Strictness::Tolerant };
    let replayed =
        record.replay(rules, game.komi(), up_to, strictness).map_err(|_| Failure::cannot_load_file())?;
    let to_move = replayed.game.to_move();
    commands.engine.set_game(replayed.game);
    commands.engine.forget();
    Ok(color_text(to_move).into())
}

/// The move before which a replay ends.
enum Until {
    Number(usize),
    Vertex(Vertex),
}

impl Until {
    fn read(word: &str) -> Result<Until, Failure> {
        let number = || word.parse::<u32>().ok().map(|number| Until::Number(number as usize));
        let vertex = || word.parse::<Vertex>().ok().map(Until::Vertex);
        number().or_else(vertex).ok_or_else(Failure::syntax_error)
    }

    /// The number of the move in a record.
    fn number(&self, record: &Record) -> Result<usize, Failure> {
        match *self {
            Until::Number(number) => Ok(number),
            Until::Vertex(vertex) => {
                let wanted = vertex_move(record.size, vertex);
                let mut moves = record.nodes.iter().flat_map(|node| &node.moves);
                let found = moves
                    .position(|recorded| wanted.is_some() && recorded.mv.as_ref().ok().copied() == wanted);
                found.map(|index| index + 1).ok_or_else(|| Failure::new("no such move in the record"))
            }
        }
    }
}

/// `printsgf [file] [remarks]`: the game as SGF, to a file if one is named; `-` is none.
pub(super) fn printsgf(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> Answer {
    let path = arguments.optional_word().filter(|&path| path != "-");
    let text = text(commands, arguments)?;
    match path {
        None => Ok(text.into()),
        Some(path) => save(commands, path, &text),
    }
}

/// `savesgf file [remarks]`: the game as SGF, to a file.
pub(super) fn savesgf(commands: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    let path = arguments.word()?;
    let text = text(commands, arguments)?;
    save(commands, path, &text)
}

/// The game as SGF, with the remarks that the next argument names.
fn text(commands: &Commands, arguments: &mut Arguments<'_>) -> Result<String, Failure> {
    let remarks = match arguments.optional_word() {
        None => Remarks::default(),
        Some("none") => Remarks::None,
        Some("brief") => Remarks::Brief,
        Some("variation") => Remarks::Variation,
        Some(_) => return Err(Failure::syntax_error()),
    };
    Ok(commands.engine.record(remarks, &Meta::default()).to_string())
}

fn save(commands: &Commands, path: &str, text: &str) -> Answer {
    std::fs::write(commands.folder.join(path), text)
        .map_err(|error| Failure::new(format!("cannot write: {error}")))?;
    Ok(Response::empty())
}
