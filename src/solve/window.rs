//! The solver's board: stones as sets of points in a *window*, which is a whole board or a rectangular part of one.
//!
//! A position stores nothing but two sets of stones and the ko point. Chains and liberties are found by flood fill. On
//! the few points of a problem that is faster than keeping them up to date, and positions are compared exactly, stone
//! by stone. `window::tests` plays random games against [`Game`](kosumi_go::game::Game).

use super::bits::Bits;
use kosumi_go::board::{Board, BoardSize, Color, Point};

/// Value of [`Position::ko`] without a ko.
pub(super) const NO_POINT: u16 = u16::MAX;

/// The part of a position that does not change while a problem is solved.
#[derive(Clone, Debug)]
pub(super) struct Window<B> {
    /// Number of columns and of rows of the window.
    pub(super) columns: u32,
    pub(super) rows: u32,
    /// Column and row of the window's lower left point on the board.
    left: usize,
    bottom: usize,
    stride: u32,
    /// All points of the window.
    pub(super) points: B,
    /// Points where stones may be played.
    pub(super) playable: B,
    /// Stones that are never captured, because they continue outside the window.
    pub(super) safe: B,
    /// Points at the edges of the window beyond which the board continues.
    pub(super) open: B,
    /// Points with fewer than four neighbours in the window.
    edge: B,
    /// Whether a move may remove its own chain of two or more stones.
    pub(super) suicide: bool,
    /// Side whose chains cannot rely on liberties outside `playable`: each pass of its opponent is a stone on one of
    /// these liberties. `None` unless a proof is checked against moves outside its region.
    pub(super) besieged: Option<Color>,
}

/// Largest number of stones outside that is counted. A chain with more liberties outside cannot be captured from there
/// in time.
pub(super) const MAX_OUTSIDE: u8 = 7;

/// The stones, and everything except the past that determines which moves are legal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position<B> {
    /// Black's stones, White's stones.
    pub(super) stones: [B; 2],
    pub(super) to_move: Color,
    /// Point where simple ko forbids a play to the side to move; [`NO_POINT`] without a ko.
    pub(super) ko: u16,
    /// Number of consecutive passes.
    pub(super) passes: u8,
    /// Number of threats that each side can still make outside. Each lets the side retake one ko. [`UNLIMITED`] threats
    /// are never used up.
    pub(super) threats: [u8; 2],
    /// Number of stones that the opponent of the [besieged](Window::besieged) side has played outside.
    pub(super) outside: u8,
}

/// Number of threats that stands for an unlimited supply.
pub(super) const UNLIMITED: u8 = u8::MAX;

/// Result of placing a stone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement<B> {
    pub(super) after: Position<B>,
    /// Stones of the opponent that are captured.
    pub(super) captured: B,
    /// Stones of the side that moves, removed by suicide.
    pub(super) suicided: B,
}

impl<B: Bits> Window<B> {
    /// Creates the window that is a whole board; `None` if the board has too many points for this kind of set.
    pub(super) fn whole(size: BoardSize, suicide: bool) -> Option<Window<B>> {
        Window::covering(size, (0, 0), (size.columns(), size.rows()), suicide)
    }

    /// Creates a window of a board with this lower left corner and this number of columns and rows. Returns `None` if
    /// the window has too many points for this kind of set or does not lie on the board. All its points are playable.
    pub(super) fn covering(
        size: BoardSize,
        (left, bottom): (usize, usize),
        (columns, rows): (usize, usize),
        suicide: bool,
    ) -> Option<Window<B>> {
        let stride = columns as u32 + 1;
        let inside = left + columns <= size.columns() && bottom + rows <= size.rows();
        if columns == 0 || rows == 0 || !inside || stride * rows as u32 > B::WIDTH {
            return None;
        }
        let mut window = Window {
            columns: columns as u32,
            rows: rows as u32,
            left,
            bottom,
            stride,
            points: B::default(),
            playable: B::default(),
            safe: B::default(),
            open: B::default(),
            edge: B::default(),
            suicide,
            besieged: None,
        };
        for row in 0..rows {
            for column in 0..columns {
                let bit = B::one(row as u32 * stride + column as u32);
                window.points = window.points | bit;
                let at_edge = column == 0 && left > 0
                    || column + 1 == columns && left + columns < size.columns()
                    || row == 0 && bottom > 0
                    || row + 1 == rows && bottom + rows < size.rows();
                if at_edge {
                    window.open = window.open | bit;
                }
            }
        }
        window.playable = window.points;
        let all = window.points;
        window.edge = all & !((all << 1) & (all >> 1) & (all << stride) & (all >> stride));
        Some(window)
    }

    /// Returns the index of a point of the board, if the point lies in the window.
    pub(super) fn index(&self, point: Point) -> Option<u32> {
        let column = point.column().checked_sub(self.left)? as u32;
        let row = point.row().checked_sub(self.bottom)? as u32;
        (column < self.columns && row < self.rows).then(|| row * self.stride + column)
    }

    /// Returns the point of the board that has this index.
    pub(super) fn point(&self, index: u32) -> Point {
        Point::new(self.left + (index % self.stride) as usize, self.bottom + (index / self.stride) as usize)
    }

    /// Returns the position of a board as far as it lies in the window, with `to_move` to play.
    pub(super) fn position(&self, board: &Board, to_move: Color) -> Position<B> {
        let mut stones = [B::default(); 2];
        for index in self.points.each() {
            if let Some(color) = board.cell(self.point(index)).color() {
                stones[color as usize] = stones[color as usize] | B::one(index);
            }
        }
        let ko = board.ko().filter(|&(_, color)| color == to_move).and_then(|(point, _)| self.index(point));
        let ko = ko.map_or(NO_POINT, |index| index as u16);
        Position { stones, to_move, ko, passes: 0, threats: [0; 2], outside: 0 }
    }

    /// Returns the set of the points for which `predicate` returns true.
    pub(super) fn set(&self, mut predicate: impl FnMut(Point) -> bool) -> B {
        let indices = self.points.each().filter(|&index| predicate(self.point(index)));
        indices.fold(B::default(), |set, index| set | B::one(index))
    }

    /// Returns all points of the window that are adjacent to a point of the set.
    #[inline]
    pub(super) fn around(&self, set: B) -> B {
        (set << 1 | set >> 1 | set << self.stride | set >> self.stride) & self.points
    }

    /// Returns the points of `of` that are connected with `seed` through `of`. `seed` must lie in `of`.
    #[inline]
    pub(super) fn fill(&self, seed: B, of: B) -> B {
        let mut filled = seed;
        loop {
            let next = (filled | self.around(filled)) & of;
            if next == filled {
                return filled;
            }
            filled = next;
        }
    }

    /// Iterates over the connected parts of a set.
    pub(super) fn parts(&self, set: B) -> impl Iterator<Item = B> + '_ {
        self.parts_at(set, set)
    }

    /// Iterates over the connected parts of a set that contain one of `seeds`, which must be points of the set.
    pub(super) fn parts_at(&self, seeds: B, set: B) -> impl Iterator<Item = B> + '_ {
        let mut rest = seeds;
        std::iter::from_fn(move || {
            if rest.none() {
                return None;
            }
            let part = self.fill(B::one(rest.lowest()), set);
            rest = rest & !part;
            Some(part)
        })
    }

    /// Returns the points without a stone.
    #[inline]
    pub(super) fn empties(&self, position: &Position<B>) -> B {
        self.points & !(position.stones[0] | position.stones[1])
    }

    /// Places a stone of the side to move on an empty point. Returns `None` if that is suicide and not allowed. Ko is
    /// not checked.
    pub(super) fn place(&self, position: &Position<B>, index: u32) -> Option<Placement<B>> {
        let color = position.to_move;
        let stone = B::one(index);
        let own = position.stones[color as usize] | stone;
        let enemy = position.stones[color.opponent() as usize];
        let empty = self.points & !(own | enemy);
        let mut captured = B::default();
        let mut touched = self.around(stone) & enemy;
        while touched.any() {
            let chain = self.fill(B::one(touched.lowest()), enemy);
            touched = touched & !chain;
            if !self.is_free(chain, empty, color.opponent(), position.outside) {
                captured = captured | chain;
            }
        }
        let mut suicided = B::default();
        let mut ko = NO_POINT;
        if captured.none() {
            let liberties = self.around(stone) & empty;
            if liberties.none() || self.besieged == Some(color) && !liberties.meets(self.playable) {
                let chain = self.fill(stone, own);
                if !self.is_free(chain, empty, color, position.outside) {
                    if chain == stone || !self.suicide {
                        return None;
                    }
                    suicided = chain;
                }
            }
        } else if captured.count() == 1 && (self.around(stone) & !captured).within(enemy) {
            // The stone captured one stone, and its only liberty is that point: it could be retaken at once.
            ko = captured.lowest() as u16;
        }
        let mut after =
            Position { to_move: color.opponent(), ko, passes: 0, stones: position.stones, ..*position };
        after.stones[color as usize] = own & !suicided;
        after.stones[color.opponent() as usize] = enemy & !captured;
        Some(Placement { after, captured, suicided })
    }

    /// Returns whether a chain stays on the board if the points `empty` are empty. `outside` is as in
    /// [`Position::outside`].
    #[inline]
    fn is_free(&self, chain: B, empty: B, color: Color, outside: u8) -> bool {
        let liberties = self.around(chain) & empty;
        let has_liberty = match self.besieged == Some(color) {
            true => liberties.meets(self.playable) || liberties.count() > u32::from(outside),
            false => liberties.any(),
        };
        has_liberty || chain.meets(self.safe)
    }

    /// Returns the stones that are never captured whatever is played: those that continue outside, and those with
    /// liberties where neither side plays.
    pub(super) fn uncapturable(&self, position: &Position<B>, color: Color) -> B {
        let stones = position.stones[color as usize];
        let outside = match self.besieged == Some(color) {
            true => B::default(),
            false => self.empties(position) & !self.playable,
        };
        let seeds = stones & (self.around(outside) | self.safe);
        if seeds.none() { seeds } else { self.fill(seeds, stones) }
    }

    /// Returns whether one of these stones has a liberty outside.
    pub(super) fn reaches_outside(&self, position: &Position<B>, stones: B) -> bool {
        self.around(stones).meets(self.empties(position) & !self.playable)
    }

    /// Returns the position after a pass. Against a [besieged](Window::besieged) side, a pass is a stone outside, which
    /// may capture.
    pub(super) fn pass(&self, position: &Position<B>) -> Position<B> {
        let mut after = Position {
            to_move: position.to_move.opponent(),
            ko: NO_POINT,
            passes: position.passes + 1,
            ..*position
        };
        let Some(besieged) = self.besieged else { return after };
        // No question about a region ends by passes.
        after.passes = 0;
        if position.to_move != besieged && position.outside < MAX_OUTSIDE {
            after.outside += 1;
            let stones = position.stones[besieged as usize];
            let empty = self.empties(position);
            let lost = self
                .parts_at(self.around(empty & !self.playable) & stones, stones)
                .filter(|&chain| !self.is_free(chain, empty, besieged, after.outside))
                .fold(B::default(), |lost, chain| lost | chain);
            after.stones[besieged as usize] = stones & !lost;
        }
        after
    }

    /// Returns Black's stones and surrounded points minus White's.
    pub(super) fn score(&self, position: &Position<B>) -> i32 {
        let empty = self.empties(position);
        let [black, white] = position.stones;
        let reach_black = self.fill(self.around(black) & empty, empty);
        let reach_white = self.fill(self.around(white) & empty, empty);
        let black = (black | reach_black & !reach_white).count() as i32;
        let white = (white | reach_white & !reach_black).count() as i32;
        black - white
    }

    /// Estimates the quality of `color`'s stones: stones, liberties and eyes increase it, stones at the edge reduce it.
    ///
    /// CITE: Erik van der Werf et al., "Solving Go on small boards" (2003), for the features: stones, liberties of the
    /// first and second order, stones at the edge, and the Euler number (pieces minus eyes).
    pub(super) fn shape(&self, position: &Position<B>, color: Color) -> i32 {
        let stones = position.stones[color as usize];
        let empty = self.empties(position);
        let liberties = self.around(stones) & empty;
        let second = self.around(liberties) & empty & !liberties;
        let sideways = stones & stones >> 1;
        let upwards = stones & stones >> self.stride;
        let squares = sideways & sideways >> self.stride;
        let count = |set: B| set.count() as i32;
        let euler = count(stones) + count(squares) - count(sideways) - count(upwards);
        8 * count(stones) + 8 * count(liberties) + 4 * count(second)
            - 4 * count(stones & self.edge)
            - 12 * euler
    }

    /// Returns what `color` holds even if it always passes: see [`SafeArea`].
    ///
    /// CITE: Benson (1976), as in [`safety`](kosumi_go::safety), which does this for the engine's board.
    pub(super) fn safe_area(&self, position: &Position<B>, color: Color) -> SafeArea<B> {
        let own = position.stones[color as usize];
        let empty = self.empties(position);
        let mut holding = SafeArea { stones: B::default(), area: B::default() };
        let mut chains: smallvec::SmallVec<[B; 16]> = self.parts(own).collect();
        // Regions that may count: enclosed, without unplayable points, and without points at an open edge, where stones
        // could come from outside.
        let closed = |region: &B| region.within(self.playable) && !region.meets(self.open);
        let mut regions: smallvec::SmallVec<[Enclosure<B>; 16]> = self
            .parts(self.points & !own)
            .filter(closed)
            .map(|points| Enclosure {
                points,
                // Without suicide, points of stones can never be the last liberties.
                counting: if self.suicide { points } else { points & empty },
                around: self.around(points) & own,
            })
            .collect();
        loop {
            let chain_count = chains.len();
            chains.retain(|chain| {
                // Stones that continue outside the window may be alive, but that is not proven.
                let mut vital = regions
                    .iter()
                    .filter(|region| region.counting.any() && region.counting.within(self.around(*chain)));
                vital.nth(1).is_some()
            });
            if chains.len() == chain_count {
                break;
            }
            let alive = chains.iter().fold(B::default(), |set, &chain| set | chain);
            regions.retain(|region| region.around.within(alive));
        }
        holding.stones = chains.iter().fold(B::default(), |set, &chain| set | chain);
        holding.area = holding.stones;
        if holding.stones.any() {
            let beside = self.around(holding.stones);
            for region in regions.iter().filter(|region| region.around.any()) {
                // An eye of the opponent is a point without a neighbour of the owner. One such point is not enough to
                // live, and two adjacent ones are one eye.
                let inner = region.points & !beside;
                let neighbours = || self.around(B::one(inner.lowest())).meets(inner);
                if inner.count() <= 1 || inner.count() == 2 && neighbours() {
                    holding.area = holding.area | region.points;
                }
            }
        }
        holding
    }
}

/// Connected points without a stone of one side.
#[derive(Clone, Copy, Debug)]
struct Enclosure<B> {
    points: B,
    counting: B,
    /// That side's stones next to the points.
    around: B,
}

/// Stones and area that a side keeps whatever the opponent does.
#[derive(Clone, Copy, Debug)]
pub(super) struct SafeArea<B> {
    /// Stones that are never captured even if the side always passes.
    pub(super) stones: B,
    /// These stones, and the points between them where the opponent cannot live. The points are the side's at the end
    /// if it captures the stones that are played there.
    pub(super) area: B,
}
