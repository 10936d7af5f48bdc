//! Points of fixed handicap stones, and star points of a board.

use crate::board::{BoardSize, Point};

/// Returns the points of a fixed handicap of `stones`, in the order of the table in the GTP specification: lower left,
/// upper right, upper left, lower right, then left and right, bottom and top, and the centre for odd numbers. Returns
/// `None` if the number is invalid for this size: below two, above nine, above four if a side is 7 or of even length,
/// or any number if a side is below 7.
///
/// The points lie on the fourth line of sides of 13 or more, and on the third line of shorter sides. Engines disagree
/// only about sides of 12: GNU Go uses the fourth line there, KataGo and Kosumi the third.
pub fn fixed_handicap(size: BoardSize, stones: usize) -> Option<Vec<Point>> {
    let (columns, rows) = (size.columns(), size.rows());
    let has_middle = |side: usize| side >= 9 && side % 2 == 1;
    let most = match (columns.min(rows) >= 7, has_middle(columns) && has_middle(rows)) {
        (false, _) => 0,
        (true, false) => 4,
        (true, true) => 9,
    };
    if stones < 2 || stones > most {
        return None;
    }
    let low = |side: usize| if side >= 13 { 3 } else { 2 };
    let (left, right, center) = (low(columns), columns - 1 - low(columns), columns / 2);
    let (bottom, top, middle) = (low(rows), rows - 1 - low(rows), rows / 2);
    let even = [
        (left, bottom),
        (right, top),
        (left, top),
        (right, bottom),
        (left, middle),
        (right, middle),
        (center, bottom),
        (center, top),
    ];
    let with_center = stones >= 5 && stones % 2 == 1;
    let mut points: Vec<Point> = even
        .iter()
        .take(stones - usize::from(with_center))
        .map(|&(column, row)| Point::new(column, row))
        .collect();
    if with_center {
        points.push(Point::new(center, middle));
    }
    Some(points)
}

/// Returns the star points of a board: those of fixed handicap. Only large boards include the middles of the sides.
pub fn star_points(size: BoardSize) -> Vec<Point> {
    let most = if size.columns().min(size.rows()) >= 13 { 9 } else { 5 };
    [most, 4].into_iter().find_map(|stones| fixed_handicap(size, stones)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(columns: usize, rows: usize, stones: usize) -> String {
        let size = BoardSize::new(columns, rows).unwrap();
        let Some(points) = fixed_handicap(size, stones) else { return "none".into() };
        points.iter().map(Point::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn points_of_the_table() {
        let rows = [
            (19, 19, 2, "D4 Q16"),
            (19, 19, 3, "D4 Q16 D16"),
            (19, 19, 4, "D4 Q16 D16 Q4"),
            (19, 19, 5, "D4 Q16 D16 Q4 K10"),
            (19, 19, 6, "D4 Q16 D16 Q4 D10 Q10"),
            (19, 19, 7, "D4 Q16 D16 Q4 D10 Q10 K10"),
            (19, 19, 8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"),
            (19, 19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
            (13, 13, 3, "D4 K10 D10"),
            (9, 9, 4, "C3 G7 C7 G3"),
            (9, 9, 9, "C3 G7 C7 G3 C5 G5 E3 E7 E5"),
            (12, 12, 4, "C3 K10 C10 K3"),
            (7, 7, 2, "C3 E5"),
            (19, 9, 5, "D3 Q7 D7 Q3 K5"),
            (8, 8, 5, "none"),
            (7, 7, 5, "none"),
            (6, 6, 2, "none"),
            (19, 6, 2, "none"),
            (19, 19, 1, "none"),
            (19, 19, 0, "none"),
            (19, 19, 10, "none"),
        ];
        for (columns, rows, stones, expected) in rows {
            assert_eq!(text(columns, rows, stones), expected, "{columns}x{rows}, {stones}");
        }
    }
}
