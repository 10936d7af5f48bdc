//! The solver's board: stones as sets of points on a *ground*, which is a whole board or a window of one.
//!
//! Nothing is kept but two sets of stones and the ko point; chains and liberties are found by filling. On the
//! few points of a problem that is faster than keeping them, and positions are compared exactly, stone by stone.
//! `ground::tests` plays random games against [`Game`](kosumi_go::game::Game).

use super::bits::Bits;
use kosumi_go::board::{Board, BoardSize, Color, Point};

/// No point: the value of [`Position::ko`] without a ko.
pub(super) const NOWHERE: u16 = u16::MAX;

/// What does not change while a problem is solved.
#[derive(Clone, Debug)]
pub(super) struct Ground<B> {
    /// Columns and rows of the window.
    pub(super) columns: u32,
    pub(super) rows: u32,
    /// Where the window's lower left point lies on the board.
    left: usize,
    bottom: usize,
    stride: u32,
    /// All points of the window.
    pub(super) points: B,
    /// Points where stones may be played.
    pub(super) playable: B,
    /// Stones that are never captured: they go on outside the window.
    pub(super) safe: B,
    /// Points at the window's edges behind which the board goes on.
    pub(super) open: B,
    /// Points with fewer than four neighbours in the window.
    edge: B,
    /// May chains of two or more stones be removed by their owner's move?
    pub(super) suicide: bool,
    /// Whose chains cannot rely on liberties outside `playable`: each pass of the opponent's is a stone on one of them.
    /// Nobody, unless a proof is checked against moves outside its region.
    pub(super) besieged: Option<Color>,
}

/// The most stones outside that are counted. A chain with more liberties outside cannot be captured from there in time.
pub(super) const MOST_OUTSIDE: u8 = 7;

/// Stones, and what else decides which moves are legal but the past.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position<B> {
    /// Black's stones, White's stones.
    pub(super) stones: [B; 2],
    pub(super) to_move: Color,
    /// Where simple ko forbids a play to the player on turn; [`NOWHERE`] if nowhere.
    pub(super) ko: u16,
    /// Consecutive passes.
    pub(super) passes: u8,
    /// Threats that each player can still make outside, one for each ko that has been taken back with them;
    /// [`ENDLESS`] are never used up.
    pub(super) threats: [u8; 2],
    /// Stones that the opponent of the [besieged](Ground::besieged) player has played outside.
    pub(super) outside: u8,
}

/// As many threats as anybody may want.
pub(super) const ENDLESS: u8 = u8::MAX;

/// What a stone does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<B> {
    pub(super) after: Position<B>,
    /// Opponent's stones taken.
    pub(super) captured: B,
    /// Own stones removed.
    pub(super) suicided: B,
}

impl<B: Bits> Ground<B> {
    /// The whole board; `None` if it has too many points for this kind of set.
    pub(super) fn whole(size: BoardSize, suicide: bool) -> Option<Ground<B>> {
        Ground::window(size, (0, 0), (size.columns(), size.rows()), suicide)
    }

    /// A window of a board, from its lower left point, with so many columns and rows; `None` if it has too many
    /// points for this kind of set, or does not lie on the board. All its points may be played.
    pub(super) fn window(
        size: BoardSize,
        (left, bottom): (usize, usize),
        (columns, rows): (usize, usize),
        suicide: bool,
    ) -> Option<Ground<B>> {
        let stride = columns as u32 + 1;
        let inside = left + columns <= size.columns() && bottom + rows <= size.rows();
        if columns == 0 || rows == 0 || !inside || stride * rows as u32 > B::WIDTH {
            return None;
        }
        let mut ground = Ground {
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
                ground.points = ground.points | bit;
                let at_edge = column == 0 && left > 0
                    || column + 1 == columns && left + columns < size.columns()
                    || row == 0 && bottom > 0
                    || row + 1 == rows && bottom + rows < size.rows();
                if at_edge {
                    ground.open = ground.open | bit;
                }
            }
        }
        ground.playable = ground.points;
        let all = ground.points;
        ground.edge = all & !((all << 1) & (all >> 1) & (all << stride) & (all >> stride));
        Some(ground)
    }

    /// The number of a point of the board, if it lies in the window.
    pub(super) fn index(&self, point: Point) -> Option<u32> {
        let column = point.column().checked_sub(self.left)? as u32;
        let row = point.row().checked_sub(self.bottom)? as u32;
        (column < self.columns && row < self.rows).then(|| row * self.stride + column)
    }

    /// The point of the board that has this number.
    pub(super) fn point(&self, index: u32) -> Point {
        Point::new(self.left + (index % self.stride) as usize, self.bottom + (index / self.stride) as usize)
    }

    /// The stones of a board as far as they stand in the window, with `to_move` to play.
    pub(super) fn position(&self, board: &Board, to_move: Color) -> Position<B> {
        let mut stones = [B::default(); 2];
        for index in self.points.each() {
            if let Some(color) = board.cell(self.point(index)).color() {
                stones[color as usize] = stones[color as usize] | B::one(index);
            }
        }
        let ko = board.ko().filter(|&(_, color)| color == to_move).and_then(|(point, _)| self.index(point));
        let ko = ko.map_or(NOWHERE, |index| index as u16);
        Position { stones, to_move, ko, passes: 0, threats: [0; 2], outside: 0 }
    }

    /// The set of the points for which `wanted` is true.
    pub(super) fn set(&self, mut wanted: impl FnMut(Point) -> bool) -> B {
        let wanted = self.points.each().filter(|&index| wanted(self.point(index)));
        wanted.fold(B::default(), |set, index| set | B::one(index))
    }

    /// All points next to a set's, on the ground.
    #[inline]
    pub(super) fn around(&self, set: B) -> B {
        (set << 1 | set >> 1 | set << self.stride | set >> self.stride) & self.points
    }

    /// The points of `of` that are connected with `seed` through `of`; `seed` lies in it.
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

    /// The connected parts of a set.
    pub(super) fn parts(&self, set: B) -> impl Iterator<Item = B> + '_ {
        self.parts_at(set, set)
    }

    /// The connected parts of a set that have one of `seeds`, which are points of it.
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

    /// Points without a stone.
    #[inline]
    pub(super) fn empties(&self, position: &Position<B>) -> B {
        self.points & !(position.stones[0] | position.stones[1])
    }

    /// What the player on turn does with a stone on an empty point; `None` if that is suicide and not allowed.
    /// Ko is not asked.
    pub(super) fn place(&self, position: &Position<B>, index: u32) -> Option<Placed<B>> {
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
        let mut ko = NOWHERE;
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
            // One stone took one stone and has no liberty but that point: it could be taken back at once.
            ko = captured.lowest() as u16;
        }
        let mut after =
            Position { to_move: color.opponent(), ko, passes: 0, stones: position.stones, ..*position };
        after.stones[color as usize] = own & !suicided;
        after.stones[color.opponent() as usize] = enemy & !captured;
        Some(Placed { after, captured, suicided })
    }

    /// Does a chain stay on the board if these points are empty? `outside` as in [`Position::outside`].
    #[inline]
    fn is_free(&self, chain: B, empty: B, color: Color, outside: u8) -> bool {
        let liberties = self.around(chain) & empty;
        let has_liberty = match self.besieged == Some(color) {
            true => liberties.meets(self.playable) || liberties.count() > u32::from(outside),
            false => liberties.any(),
        };
        has_liberty || chain.meets(self.safe)
    }

    /// Stones that are never captured whatever is played: those that go on outside, and those with liberties where nobody plays.
    pub(super) fn lasting(&self, position: &Position<B>, color: Color) -> B {
        let stones = position.stones[color as usize];
        let outside = match self.besieged == Some(color) {
            true => B::default(),
            false => self.empties(position) & !self.playable,
        };
        let seeds = stones & (self.around(outside) | self.safe);
        if seeds.none() { seeds } else { self.fill(seeds, stones) }
    }

    /// Has one of these stones a liberty outside?
    pub(super) fn reaches_outside(&self, position: &Position<B>, stones: B) -> bool {
        self.around(stones).meets(self.empties(position) & !self.playable)
    }

    /// Passing. Against a [besieged](Ground::besieged) player that is a stone outside, which may capture.
    pub(super) fn pass(&self, position: &Position<B>) -> Position<B> {
        let mut after = Position {
            to_move: position.to_move.opponent(),
            ko: NOWHERE,
            passes: position.passes + 1,
            ..*position
        };
        let Some(besieged) = self.besieged else { return after };
        // No question about a region ends by passes.
        after.passes = 0;
        if position.to_move != besieged && position.outside < MOST_OUTSIDE {
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

    /// Black's stones and surrounded points minus White's.
    pub(super) fn score(&self, position: &Position<B>) -> i32 {
        let empty = self.empties(position);
        let [black, white] = position.stones;
        let reach_black = self.fill(self.around(black) & empty, empty);
        let reach_white = self.fill(self.around(white) & empty, empty);
        let black = (black | reach_black & !reach_white).count() as i32;
        let white = (white | reach_white & !reach_black).count() as i32;
        black - white
    }

    /// How good `color`'s stones look: more stones and liberties, fewer of them at the edge, and eyes.
    ///
    /// CITE: Erik van der Werf et al., "Solving Go on small boards" (2003), for the features: stones, liberties of
    /// the first and second order, stones at the edge, and the Euler number (pieces minus eyes).
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

    /// What `color` holds even if it always passes: see [`Holding`].
    ///
    /// CITE: Benson (1976), as in [`safety`](kosumi_go::safety), which is the same for the engine's board.
    pub(super) fn holding(&self, position: &Position<B>, color: Color) -> Holding<B> {
        let own = position.stones[color as usize];
        let empty = self.empties(position);
        let mut holding = Holding { stones: B::default(), area: B::default() };
        let mut chains: smallvec::SmallVec<[B; 16]> = self.parts(own).collect();
        // Regions that may count: enclosed, and without points that cannot be played or lie at an open edge,
        // where stones could come from outside.
        let closed = |region: &B| region.within(self.playable) && !region.meets(self.open);
        let mut regions: smallvec::SmallVec<[Region<B>; 16]> = self
            .parts(self.points & !own)
            .filter(closed)
            .map(|points| Region {
                points,
                // Without suicide, points of stones can never be the last liberties.
                counting: if self.suicide { points } else { points & empty },
                around: self.around(points) & own,
            })
            .collect();
        loop {
            let chain_count = chains.len();
            chains.retain(|chain| {
                // Stones that go on outside the window may live there, but nobody has shown it.
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
                // Eyes of the opponent's are points without a neighbour of the owner; one is not enough, and two
                // that are neighbours are one eye.
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

/// Points without a stone of a player, connected.
#[derive(Clone, Copy, Debug)]
struct Region<B> {
    points: B,
    counting: B,
    /// The player's stones next to it.
    around: B,
}

/// What a player holds whatever the opponent does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holding<B> {
    /// Stones that are never captured even if the player always passes.
    pub(super) stones: B,
    /// These stones, and the points between them where the opponent cannot live: the player's at the end if
    /// it captures what is played there.
    pub(super) area: B,
}
