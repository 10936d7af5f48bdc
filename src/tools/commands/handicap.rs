//! Commands for handicap stones. Handicap stones are not moves: `undo` does not remove them.

use super::text::{points_text, vertex_move};
use super::{CommandResult, Commands};
use kosumi_go::board::{BoardSize, Move, Point};
use kosumi_go::handicap::fixed_handicap as fixed_handicap_points;
use kosumi_gtp::{Arguments, Failure, Response, Session};

pub(super) fn fixed_handicap(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let stones = stones(commands, arguments)?;
    let points =
        fixed_handicap_points(commands.size(), stones).ok_or_else(Failure::invalid_number_of_stones)?;
    place(commands, &points).ok_or_else(Failure::invalid_number_of_stones)
}

pub(super) fn place_free_handicap(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let stones = stones(commands, arguments)?;
    let size = commands.size();
    if stones < 2 || stones >= size.area() {
        return Err(Failure::invalid_number_of_stones());
    }
    place(commands, &free_points(size, stones)).ok_or_else(Failure::invalid_number_of_stones)
}

pub(super) fn set_free_handicap(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let vertices = arguments.vertices()?;
    refuse_unless_empty(commands)?;
    let size = commands.size();
    let on_board = |vertex| vertex_move(size, vertex).and_then(Move::point);
    let points: Option<Vec<Point>> = vertices.into_iter().map(on_board).collect();
    let points = points.filter(|points| points.len() >= 2 && points.len() < size.area());
    // The game checks for repeated points and for chains without liberties.
    points.and_then(|points| place(commands, &points)).ok_or_else(Failure::bad_vertex_list)?;
    Ok(Response::empty())
}

pub(super) fn get_handicap(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    Ok(commands.engine.game().handicap().to_string().into())
}

/// Parses the requested number of stones.
fn stones(commands: &Commands, arguments: &mut Arguments<'_>) -> Result<usize, Failure> {
    let stones = arguments.integer::<i128>()?;
    refuse_unless_empty(commands)?;
    usize::try_from(stones).map_err(|_| Failure::invalid_number_of_stones())
}

fn refuse_unless_empty(commands: &Commands) -> Result<(), Failure> {
    let game = commands.engine.game();
    let is_empty = game.board().stone_count() == 0 && game.records().is_empty();
    if is_empty { Ok(()) } else { Err(Failure::board_not_empty()) }
}

/// Starts the game with these stones and responds with their points.
fn place(commands: &mut Commands, points: &[Point]) -> Option<Response> {
    let game = commands.engine.game().with_handicap(points).ok()?;
    commands.engine.set_game(game);
    Some(points_text(points.iter().copied()).into())
}

/// Returns the usual handicap points, followed by further points. Each further point is on a good line and as far as
/// possible from all other stones.
fn free_points(size: BoardSize, stones: usize) -> Vec<Point> {
    let usual = (2..=stones).rev().find_map(|count| fixed_handicap_points(size, count));
    let mut points = usual.unwrap_or_default();
    while points.len() < stones {
        let distance = |a: Point, b: Point| a.column().abs_diff(b.column()) + a.row().abs_diff(b.row());
        let merit = |point: Point| {
            let nearest = points.iter().map(|&other| distance(point, other)).min().unwrap_or(0);
            // The third and higher lines are equally good, and better than the first two lines.
            (size.line(point).min(3), nearest, std::cmp::Reverse(point.index()))
        };
        let free = size.points().filter(|point| !points.contains(point));
        let Some(best) = free.max_by_key(|&point| merit(point)) else { break };
        points.push(best);
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_handicap_gives_as_many_stones_as_were_asked_for() {
        for side in [2, 3, 5, 7, 9, 10, 13, 19, 25] {
            let Some(size) = BoardSize::square(side) else { continue };
            for stones in 2..size.area().min(40) {
                let points = free_points(size, stones);
                assert_eq!(points.len(), stones, "{stones} on {size}");
                assert!((1..stones).all(|index| !points[..index].contains(&points[index])));
            }
        }
    }
}
