//! Commands that read and write game records (SGF).

use super::paths::FileArguments;
use super::text::{color_text, vertex_move};
use super::{CommandResult, Commands};
use crate::files::{read_regular, write_regular};
use kosumi_engine::CommentDetail;
use kosumi_go::sgf::{Meta, Record, SgfError};
use kosumi_gtp::{Arguments, Failure, Response, Session, Vertex};
use std::fmt;
use std::io;
use std::path::Path;

/// Maximum size of a file. A larger file is not a game record, or is a collection, for which `loadsgf` is not meant.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Argument that requests as much of a record as can be followed.
const PARTIAL: &str = "--partial";

/// Handles `loadsgf file [move] [--partial]`: loads the position before that move, or the final position. The move is a
/// number, counted from 1, or a vertex as in GNU Go, which means the first move there. Responds with the side to move,
/// as GNU Go does. Size, komi and moves come from the file, and so do the rules if the file names known ones.
///
/// A record that cannot be followed up to the move is refused, and the game stays as it was. With `--partial`, as much
/// of it is loaded as can be followed, and notes report the faults. Notes also report faults after the position.
pub(super) fn loadsgf(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let line = arguments.tail();
    let line = line.trim_ascii();
    let without = line.strip_suffix(PARTIAL).filter(|rest| rest.ends_with(' ') || rest.ends_with('"'));
    let is_partial = without.is_some();
    let line = without.unwrap_or(line).trim_ascii_end();
    let FileArguments { path, more } = commands.file_to_read(line, |word| ReplayEnd::read(word).is_ok())?;
    let is_partial = is_partial || more.iter().any(|word| word == PARTIAL);
    let until = more.iter().find(|word| *word != PARTIAL).map(|word| ReplayEnd::read(word)).transpose()?;
    let bytes = contents(&path).map_err(|error| cannot_load(&error))?;
    let located = |error: SgfError| cannot_load(&error.located(&bytes));
    let record = Record::parse(&bytes).map_err(located)?;
    let up_to = until.map(|until| until.number(&record)).transpose()?;
    let followed = commands.engine.load(&record, up_to, is_partial).map_err(located)?.located(&bytes);
    let name = path.display();
    if followed.fault.is_some() {
        let moves = followed.game.records().len();
        (commands.note)(&format!("{name}: loaded up to move {moves} only"));
    }
    followed.lines().for_each(|line| (commands.note)(&format!("{name}: {line}")));
    Ok(color_text(followed.game.to_move()).into())
}

/// Returns a failure that names the reason.
fn cannot_load(why: &impl fmt::Display) -> Failure {
    Failure::new(format!("cannot load file: {why}"))
}

/// Reads a regular file that is not too large.
fn contents(path: &Path) -> Result<Vec<u8>, String> {
    read_regular(path, MAX_FILE_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => "the file is too large for a game record".to_owned(),
        _ => error.to_string(),
    })
}

/// Move before which the replay ends.
enum ReplayEnd {
    Number(usize),
    Vertex(Vertex),
}

impl ReplayEnd {
    fn read(word: &str) -> Result<ReplayEnd, Failure> {
        let number = || word.parse::<u32>().ok().map(|number| ReplayEnd::Number(number as usize));
        let vertex = || word.parse::<Vertex>().ok().map(ReplayEnd::Vertex);
        number().or_else(vertex).ok_or_else(Failure::syntax_error)
    }

    /// Returns the number of the move in a record.
    fn number(&self, record: &Record) -> Result<usize, Failure> {
        match *self {
            ReplayEnd::Number(number) => Ok(number),
            ReplayEnd::Vertex(vertex) => {
                let wanted = vertex_move(record.size, vertex);
                let mut moves = record.nodes.iter().flat_map(|node| &node.moves);
                let found = moves
                    .position(|recorded| wanted.is_some() && recorded.mv.as_ref().ok().copied() == wanted);
                found.map(|index| index + 1).ok_or_else(|| Failure::new("no such move in the record"))
            }
        }
    }
}

/// Handles `printsgf [file] [remarks]`: responds with the game as SGF, or writes it to a file. `-` means no file.
pub(super) fn printsgf(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    match arguments.peek() {
        None => Ok(text(commands, None)?.into()),
        Some("-") => {
            arguments.optional_word();
            Ok(text(commands, arguments.optional_word())?.into())
        }
        Some(_) => save(commands, arguments),
    }
}

/// Handles `savesgf file [remarks]`: writes the game as SGF to a regular file. An existing file is replaced when the
/// new one is complete.
pub(super) fn savesgf(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    save(commands, arguments)
}

fn save(commands: &Commands, arguments: &mut Arguments<'_>) -> CommandResult {
    let line = arguments.tail();
    let FileArguments { path, more } = commands.file_to_write(&line, |word| remarks(word).is_some())?;
    let text = text(commands, more.first().map(String::as_str))?;
    write_regular(&path, &text).map_err(|error| Failure::new(format!("cannot write: {error}")))?;
    Ok(Response::empty())
}

/// Returns the game as SGF, with the kind of remarks that `word` names.
fn text(commands: &Commands, word: Option<&str>) -> Result<String, Failure> {
    let remarks = match word {
        None => CommentDetail::default(),
        Some(word) => remarks(word).ok_or_else(Failure::syntax_error)?,
    };
    let meta = Meta { date: (commands.today)(), ..Meta::default() };
    Ok(commands.engine.record(remarks, &meta).to_string())
}

fn remarks(word: &str) -> Option<CommentDetail> {
    match word {
        "none" => Some(CommentDetail::None),
        "brief" => Some(CommentDetail::Brief),
        "variation" => Some(CommentDetail::Variation),
        _ => None,
    }
}
