//! Handicap stones. They are no moves: `undo` does not take them back.

use super::text::{points_text, vertex_move};
use super::{Answer, Commands};
use crate::board::{BoardSize, Move, Point};
use kosumi_gtp::{Arguments, Failure, Response, Session};

pub(super) fn fixed_handicap(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> Answer {
    let stones = stones(commands, arguments)?;
    let points = fixed_points(commands.size(), stones).ok_or_else(Failure::invalid_number_of_stones)?;
    place(commands, &points).ok_or_else(Failure::invalid_number_of_stones)
}

pub(super) fn place_free_handicap(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> Answer {
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
) -> Answer {
    let vertices = arguments.vertices()?;
    refuse_unless_empty(commands)?;
    let size = commands.size();
    let on_board = |vertex| vertex_move(size, vertex).and_then(Move::point);
    let points: Option<Vec<Point>> = vertices.into_iter().map(on_board).collect();
    let points = points.filter(|points| points.len() >= 2 && points.len() < size.area());
    // Repeated points and chains without liberties are left to the game.
    points.and_then(|points| place(commands, &points)).ok_or_else(Failure::bad_vertex_list)?;
    Ok(Response::empty())
}

pub(super) fn get_handicap(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    Ok(commands.engine.game().handicap().to_string().into())
}

/// The number of stones asked for.
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

/// Starts the game with these stones and answers with their points.
fn place(commands: &mut Commands, points: &[Point]) -> Option<Response> {
    let game = commands.engine.game().with_handicap(points).ok()?;
    commands.engine.set_game(game);
    Some(points_text(points.iter().copied()).into())
}

/// The usual points for `stones` handicap stones in the order of the protocol: up to 9 on boards with sides that
/// are odd and at least 9, up to 4 on others with sides of at least 7. From sides of 12 on the corner stones are
/// on the fourth line, below on the third.
fn fixed_points(size: BoardSize, stones: usize) -> Option<Vec<Point>> {
    let shortest = size.columns().min(size.rows());
    let has_middle = shortest >= 9 && size.columns() % 2 == 1 && size.rows() % 2 == 1;
    let most = match shortest {
        0..7 => 0,
        _ if has_middle => 9,
        _ => 4,
    };
    if stones < 2 || stones > most {
        return None;
    }
    let lines = |length: usize| {
        let low = if length > 11 { 3 } else { 2 };
        [low, length / 2, length - 1 - low]
    };
    let ([left, center, right], [bottom, middle, top]) = (lines(size.columns()), lines(size.rows()));
    let mut points = vec![(left, bottom), (right, top), (left, top), (right, bottom)];
    points.extend([(left, middle), (right, middle), (center, bottom), (center, top)]);
    if stones > 4 && stones % 2 == 1 {
        points.truncate(stones - 1);
        points.push((center, middle));
    }
    points.truncate(stones);
    Some(points.into_iter().map(|(column, row)| Point::new(column, row)).collect())
}

/// The usual points as far as they go, then always the point that is farthest from all stones and well placed
/// itself.
fn free_points(size: BoardSize, stones: usize) -> Vec<Point> {
    let usual = (2..=stones).rev().find_map(|count| fixed_points(size, count));
    let mut points = usual.unwrap_or_default();
    while points.len() < stones {
        let distance = |a: Point, b: Point| a.column().abs_diff(b.column()) + a.row().abs_diff(b.row());
        let merit = |point: Point| {
            let nearest = points.iter().map(|&other| distance(point, other)).min().unwrap_or(0);
            // The third and fourth lines are as good as any; the first two are not.
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
    fn fixed_handicap_is_that_of_the_protocol() {
        for (side, stones, expected) in [
            (19, 2, "D4 Q16"),
            (19, 3, "D4 Q16 D16"),
            (19, 5, "D4 Q16 D16 Q4 K10"),
            (19, 6, "D4 Q16 D16 Q4 D10 Q10"),
            (19, 7, "D4 Q16 D16 Q4 D10 Q10 K10"),
            (19, 8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"),
            (19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
            (9, 4, "C3 G7 C7 G3"),
            (8, 4, "C3 F6 C6 F3"),
            (12, 2, "D4 J9"),
            (13, 2, "D4 K10"),
        ] {
            let points = BoardSize::square(side).and_then(|size| fixed_points(size, stones));
            assert_eq!(points.map(points_text), Some(expected.to_owned()), "{stones} on {side}");
        }
        for (side, stones) in [(19, 1), (19, 10), (8, 5), (7, 5), (6, 2), (19, 0)] {
            assert_eq!(BoardSize::square(side).and_then(|size| fixed_points(size, stones)), None);
        }
    }

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
