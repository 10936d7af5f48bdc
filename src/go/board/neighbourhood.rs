//! Look-up tables about the neighbours of a point: their offsets in the grid, and facts derived from their cells.

use super::color::ByColor;
use super::liberties::OffsetSums;
use super::point::{STEPS, STRIDE};

/// Distance in the grid from a point to its farthest neighbour.
pub(super) const REACH: usize = STRIDE + 1;

/// Offsets of the eight neighbours in the slice returned by [`Board::around_mut`].
pub(super) const NEIGHBOUR_OFFSETS: [usize; 8] = {
    let mut places = [0; 8];
    let mut direction = 0;
    while direction < 8 {
        places[direction] = (REACH as i16 + STEPS[direction]) as usize;
        direction += 1;
    }
    places
};

/// Facts about four adjacent cells, two bits each.
#[derive(Clone, Copy)]
pub(super) struct Adjacent {
    pub(super) has_empty: bool,
    /// Whether all four cells are stones of this colour or border.
    pub(super) closed: ByColor<bool>,
    /// Directions in which a stone of this colour lies, one bit each.
    pub(super) holds: ByColor<u8>,
    /// Offsets to the empty cells.
    pub(super) empty: OffsetSums,
}

/// Iterates over the directions in a bit set, in ascending order.
#[inline]
pub(super) fn directions(mut bits: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let direction = bits.trailing_zeros() as usize;
        // Clears the lowest bit.
        (bits != 0).then(|| bits &= bits - 1).map(|()| direction)
    })
}

pub(super) const ADJACENT: [Adjacent; 256] = {
    let mut table = [Adjacent {
        has_empty: false,
        closed: ByColor::new(false, false),
        holds: ByColor::new(0, 0),
        empty: OffsetSums { count: 0, sum: 0, squares: 0 },
    }; 256];
    let mut code = 0;
    while code < 256 {
        let (mut black, mut white) = (0, 0);
        let mut empty = OffsetSums { count: 0, sum: 0, squares: 0 };
        let mut direction = 0;
        while direction < 4 {
            match (code >> (2 * direction)) & 3 {
                0 => {
                    let step = STEPS[direction];
                    empty.count += 1;
                    empty.sum += step as i8;
                    empty.squares += (step * step) as u16;
                }
                1 => black |= 1 << direction,
                2 => white |= 1 << direction,
                _ => {}
            }
            direction += 1;
        }
        let none = empty.count == 0;
        table[code] = Adjacent {
            has_empty: !none,
            closed: ByColor::new(none && white == 0, none && black == 0),
            holds: ByColor::new(black, white),
            empty,
        };
        code += 1;
    }
    table
};

/// For four diagonal cells: whether a one-point eye of a colour would be real. At most one cell may belong to the
/// opponent, and none at the edge of the board.
pub(super) const DIAGONAL_HOLDS: [ByColor<bool>; 256] = {
    let mut table = [ByColor::new(false, false); 256];
    let mut code = 0;
    while code < 256 {
        let (mut border, mut black, mut white) = (0, 0, 0);
        let mut direction = 0;
        while direction < 4 {
            match (code >> (2 * direction)) & 3 {
                1 => black += 1,
                2 => white += 1,
                3 => border = 1,
                _ => {}
            }
            direction += 1;
        }
        table[code] = ByColor::new(white + border < 2, black + border < 2);
        code += 1;
    }
    table
};
