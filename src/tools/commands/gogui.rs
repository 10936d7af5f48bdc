//! GoGui's commands: positions and sequences of moves in one command, and the list of analysis commands.

use super::text::vertex_move;
use super::{CommandResult, Commands, parameters};
use kosumi_go::board::{Board, Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_gtp::{Arguments, Failure, Response, Session};
use std::borrow::Cow;

/// Analysis commands that GoGui offers: type, label and command. The list goes on with the dialogs for settings. The
/// types are those of GoGui's manual, chapter "Analyze Commands". `tests/clients.rs` parses every response as GoGui
/// does. GoGui shows only the first of two commands with the same label.
const ANALYZE_COMMANDS: &[&str] = &[
    "gfx/Search/kosumi-search %m",
    "gfx/Root Statistics/kosumi-root",
    "sboard/Root Visits/kosumi-root_visits",
    "sboard/Root Win Rates/kosumi-root_winrates",
    "pspairs/Best Moves/kosumi-best_moves",
    "var/Principal Variation/kosumi-variation",
    "var/Variation After Move/kosumi-variation %p",
    "hstring/Search Statistics/kosumi-statistics",
    "none/Clear Search/clear_cache",
    "pspairs/Priors/kosumi-priors",
    "dboard/Ownership/kosumi-ownership",
    "dboard/Ownership By Network/kosumi-network_ownership",
    "gfx/Territory/kosumi-territory",
    "cboard/Life And Death/kosumi-life_and_death",
    "plist/Dead Stones/final_status_list dead",
    "plist/Stones In Seki/final_status_list seki",
    "string/Status Of Point/final_status %p",
    "string/Unconditional Status/unconditional_status %p",
    "string/Final Score/final_score",
    "string/Estimate Score/estimate_score",
    "plist/Legal Moves/all_legal %c",
    "plist/Superko Banned/kosumi-superko_banned %c",
    "sboard/Liberties/kosumi-liberties",
    "hstring/Keys/kosumi-keys",
    "hstring/Show Rules/kata-get-rules",
    "param/Rules/kosumi-param_rules",
];

pub(super) fn analyze_commands(
    _: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let fixed = ANALYZE_COMMANDS.iter().copied().map(Cow::Borrowed);
    Ok(Response::lines(fixed.chain(parameters::dialogs().map(Cow::Owned))))
}

/// Does nothing. The existence of this command shows GoGui that the engine understands `# interrupt`.
pub(super) fn interrupt(_: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    Ok(Response::empty())
}

/// Responds with the title of GoGui's window.
pub(super) fn title(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    let evaluator = commands.engine.search().evaluator();
    let means = evaluator.network().map_or("playouts", |network| network.network().name());
    Ok(format!("Kosumi {}, {means}", env!("CARGO_PKG_VERSION")).into())
}

/// Accepts GoGui's version.
pub(super) fn version(_: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    Ok(Response::empty())
}

/// Parses pairs `color vertex` up to the end of the line. A vertex outside the board yields `None`.
fn colored_vertices(
    commands: &Commands,
    arguments: &mut Arguments<'_>,
) -> Result<Vec<(Color, Option<Move>)>, Failure> {
    let mut found = Vec::with_capacity(arguments.remaining() / 2);
    while arguments.remaining() > 0 {
        found.push(commands.color_and_move(arguments)?);
    }
    Ok(found)
}

/// Plays all moves, or none if one of them is illegal.
pub(super) fn play_sequence(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let illegal = |index: usize| Failure::new(format!("illegal move: number {}", index + 1));
    let mut moves = Vec::new();
    for (index, (color, mv)) in colored_vertices(commands, arguments)?.into_iter().enumerate() {
        moves.push((color, mv.ok_or_else(|| illegal(index))?));
    }
    commands.engine.play_all(&moves).map_err(|(index, _)| illegal(index))?;
    Ok(Response::empty())
}

/// Sets up the stones of the initial position. The board must be empty.
pub(super) fn setup(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let stones = stones(commands, arguments)?;
    let game = commands.engine.game();
    if game.board().stone_count() > 0 || !game.records().is_empty() {
        return Err(Failure::board_not_empty());
    }
    let to_move = game.to_move();
    start_at(commands, &stones, to_move)
}

/// Handles KataGo's `set_position`: sets up stones, whatever is on the board. Black is to move, as after `clear_board`.
pub(super) fn set_position(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let stones = stones(commands, arguments)?;
    start_at(commands, &stones, Color::Black)
}

/// Sets the side to move in the position that was set up.
pub(super) fn setup_player(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let color = super::text::color(arguments)?;
    if !commands.engine.game().records().is_empty() {
        return Err(Failure::new("moves have been played"));
    }
    commands.engine.set_to_move(color);
    Ok(Response::empty())
}

/// Parses stones, each a colour and a point of the board. Refuses repeated points.
fn stones(commands: &Commands, arguments: &mut Arguments<'_>) -> Result<Vec<(Point, Color)>, Failure> {
    let mut stones: Vec<(Point, Color)> = Vec::new();
    while arguments.remaining() > 0 {
        let color = super::text::color(arguments)?;
        let vertex = arguments.vertex()?;
        let point = vertex_move(commands.size(), vertex).and_then(Move::point);
        let point = point.ok_or_else(|| Failure::new(format!("{vertex} is not a point of the board")))?;
        if stones.iter().any(|&(other, _)| other == point) {
            return Err(Failure::new(format!("{point} occurs twice")));
        }
        stones.push((point, color));
    }
    Ok(stones)
}

fn start_at(commands: &mut Commands, stones: &[(Point, Color)], to_move: Color) -> CommandResult {
    let game = commands.engine.game();
    let board = Board::from_stones(game.size(), stones.iter().copied())
        .map_err(|error| Failure::new(error.to_string()))?;
    let game = Game::from_board(board, to_move, game.rules(), game.komi());
    commands.engine.set_game(game);
    Ok(Response::empty())
}
