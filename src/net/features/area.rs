//! Areas of both colours, as area rules count them in the current position.

use kosumi_go::board::{Board, ByColor, Cell, Color, Point, PointSet};
use kosumi_go::rules::Tax;
use kosumi_go::safety::LifeReader;

/// Counter of areas that reuses its buffers.
#[derive(Clone, Debug, Default)]
pub struct Area {
    life: ByColor<LifeReader>,
    /// Connected part of an area.
    part: Vec<Point>,
}

impl Area {
    /// Returns the area of each colour if the game ended now and every stone were alive that is not certainly dead.
    ///
    /// Without a tax, the area of a colour consists of its stones, the empty points that only its stones surround, and
    /// the chains and territory that are its own by Benson's theorem, dead stones of the opponent included. Benson's
    /// theorem takes precedence. If points in seki are taxed, empty points and dead stones in areas in seki belong to
    /// neither colour. An area counts as in seki if it touches a neutral point or contains a stone in atari. `suicide`
    /// states whether suicide is legal.
    pub fn compute(&mut self, board: &Board, suicide: bool, tax: Tax) -> ByColor<PointSet> {
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

/// Returns the connected parts of `color`'s area that touch no neutral point and contain no stone of `color` in atari.
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
