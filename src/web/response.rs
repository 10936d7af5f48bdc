//! Responses of a session, as JSON. All numbers are from Black's perspective, and lists of points begin at the top left
//! corner.

use kosumi_engine::FinalStatus;
use kosumi_go::board::{BoardSize, Color, Move, Point, PointSet};
use kosumi_go::game::Game;
use kosumi_go::score::format_score;
use kosumi_search::{Analysis, MoveAnalysis};
use serde_json::{Value, json};

pub(super) fn color(color: Color) -> &'static str {
    match color {
        Color::Black => "black",
        Color::White => "white",
    }
}

pub(super) fn vertex(mv: Move) -> String {
    mv.to_string()
}

/// Rounds to nine significant digits, which is the accuracy of the numbers. JSON has no infinities.
fn number(value: f32) -> Value {
    let digits = format!("{value:.8e}").parse::<f64>().unwrap_or(f64::from(value));
    serde_json::Number::from_f64(digits + 0.0).map_or(Value::Null, Value::Number)
}

/// Returns the points of a board, row by row from the top.
fn points_from_the_top(size: BoardSize) -> impl Iterator<Item = Point> {
    let points: Vec<Point> = size.points().collect();
    let rows: Vec<Vec<Point>> = points.chunks(size.columns()).rev().map(<[Point]>::to_vec).collect();
    rows.into_iter().flatten()
}

fn vertices(size: BoardSize, points: &PointSet) -> Value {
    points_from_the_top(size)
        .filter(|&point| points.contains(point))
        .map(|point| vertex(Move::Play(point)))
        .collect()
}

/// Returns the position of a game. `result` is the result of the game if it is over.
pub(super) fn position(game: &Game, result: Option<String>) -> Value {
    let size = game.size();
    let stone = |point| match game.board().cell(point).color() {
        Some(Color::Black) => 'X',
        Some(Color::White) => 'O',
        None => '.',
    };
    let cells: Vec<char> = points_from_the_top(size).map(stone).collect();
    let board: Vec<String> = cells.chunks(size.columns()).map(|row| row.iter().collect()).collect();
    let moves = game.records().iter().map(|record| json!([color(record.color), vertex(record.mv)]));
    let last = game.records().last().map(|record| vertex(record.mv));
    let rules = game.rules();
    let name = rules.as_preset().map_or_else(|| rules.code_name(), |preset| preset.names[0].to_owned());
    json!({
        "size": [size.columns(), size.rows()],
        "rules": name,
        "komi": game.komi(),
        "handicap": game.handicap(),
        "toMove": color(game.to_move()),
        "board": board,
        "moves": moves.collect::<Vec<_>>(),
        "lastMove": last,
        "captures": {
            "black": game.board().prisoners(Color::White),
            "white": game.board().prisoners(Color::Black),
        },
        "isOver": game.is_over(),
        "result": result,
    })
}

pub(super) fn analysis(analysis: &Analysis) -> Value {
    let root = &analysis.root;
    let known = analysis.moves.iter().filter(|entry| entry.is_searched() && entry.weight > 0.0);
    let owners = root.owners.as_ref().map(|owners| {
        let rows = owners.mean.chunks(analysis.size.columns()).rev().flatten();
        rows.map(|&owner| number(owner)).collect::<Value>()
    });
    json!({
        "toMove": color(analysis.to_move),
        "visits": analysis.visits,
        "simulations": analysis.playouts,
        "winRate": number(root.win_rate),
        "lead": number(root.lead),
        "scoreMean": number(root.score_mean),
        "scoreDeviation": number(root.score_stdev),
        "moves": known.map(move_analysis).collect::<Vec<_>>(),
        "ownership": owners,
    })
}

fn move_analysis(entry: &MoveAnalysis) -> Value {
    json!({
        "vertex": vertex(entry.mv),
        "visits": entry.visits,
        "prior": number(entry.prior),
        "winRate": number(entry.expectation.win_rate),
        "lead": number(entry.expectation.lead),
        "scoreMean": number(entry.expectation.score_mean),
        "variation": entry.variation.iter().map(|&mv| vertex(mv)).collect::<Vec<_>>(),
    })
}

pub(super) fn score(size: BoardSize, status: &FinalStatus) -> Value {
    let owner = |point| status.owner[point].map(color);
    json!({
        "score": number(status.score),
        "result": format_score(status.score),
        "owners": points_from_the_top(size).map(owner).collect::<Vec<_>>(),
        "dead": vertices(size, &status.dead),
        "seki": vertices(size, &status.seki),
        "openPoints": status.open_points,
    })
}
