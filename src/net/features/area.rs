//! Who holds what, as area rules count it on the board as it stands.

use kosumi_go::board::{Board, ByColor, Cell, Color, Point, PointSet};
use kosumi_go::rules::Tax;
use kosumi_go::safety::Life;

/// Counts area, and keeps its memory from one board to the next.
#[derive(Clone, Debug, Default)]
pub struct Area {
    life: ByColor<Life>,
    /// A connected part of an area.
    part: Vec<Point>,
}

impl Area {
    /// What each colour holds if the game ended now and every stone were alive that is not dead beyond doubt.
    ///
    /// Untaxed, a colour holds its stones, the empty points that only its stones surround, and above all what is
    /// its own by Benson's theorem, dead stones included. If points in seki are taxed, the empty points and dead
    /// stones of areas in seki count for nobody; what stands as a sign of seki here is an area that touches a
    /// neutral point or has a stone in atari. `suicide`: may players remove their own stones?
    pub fn of(&mut self, board: &Board, suicide: bool, tax: Tax) -> ByColor<PointSet> {
        let mut stones = ByColor::<PointSet>::default();
        for (point, color) in board.stones() {
            stones[color].insert(point);
        }
        let mut certain = ByColor::<PointSet>::default();
        for color in Color::BOTH {
            self.life[color].read(board, color, suicide);
            certain[color] = self.life[color].chains;
            certain[color].union_with(&self.life[color].territory);
        }
        let mut area = ByColor::<PointSet>::default();
        for color in Color::BOTH {
            let mut apparent = stones[color];
            apparent.union_with(&self.life[color].surrounded);
            area[color] = apparent.without(&certain[color.opponent()]);
            area[color].union_with(&certain[color]);
        }
        if tax == Tax::None {
            return area;
        }
        let mut owned = area[Color::Black];
        owned.union_with(&area[Color::White]);
        let neutral: PointSet =
            board.empties().iter().copied().filter(|&point| !owned.contains(point)).collect();
        let standing = Color::BOTH.map(|color| stones[color].without(&area[color.opponent()]));
        for (color, own_stones) in Color::BOTH.into_iter().zip(standing) {
            area[color] = without_seki(board, color, &area[color], &neutral, &mut self.part);
            area[color].union_with(&own_stones);
        }
        area
    }
}

/// The connected parts of `color`'s area that touch no neutral point and have no own stone in atari.
fn without_seki(
    board: &Board,
    color: Color,
    area: &PointSet,
    neutral: &PointSet,
    part: &mut Vec<Point>,
) -> PointSet {
    let mut rest = *area;
    let mut independent = PointSet::EMPTY;
    for start in area.iter() {
        if !rest.contains(start) {
            continue;
        }
        rest.remove(start);
        part.clear();
        part.push(start);
        let mut is_seki = false;
        let mut next = 0;
        while next < part.len() {
            let point = part[next];
            next += 1;
            is_seki |= board.cell(point) == Cell::from(color) && board.in_atari(point);
            for neighbour in point.adjacent() {
                is_seki |= neutral.contains(neighbour);
                if rest.contains(neighbour) {
                    rest.remove(neighbour);
                    part.push(neighbour);
                }
            }
        }
        if !is_seki {
            independent.extend_from(part.iter().copied());
        }
    }
    independent
}
