//! The region of a problem: the points where stones may be played, derived from the position alone.
//!
//! Neither side plays outside the region. An empty point there stays empty, so a chain with a liberty outside is never
//! captured: a side whose stones get out has saved them. A region that is closed by chains with liberties of their own,
//! as in problem books, loses nothing by that.

use super::window::MAX_OUTSIDE;
use kosumi_go::board::{Board, Cell, Color, Point, PointSet};

/// Number of empty points above which a region is cut off at [`REACH`] from the stones.
const MAX_EMPTY: usize = 40;
/// Distance from the stones at which a large region is cut off, in points.
const REACH: usize = 3;
/// Number of liberties up to which a chain around the region may be captured in a race. Its liberties then belong to
/// the region.
const RACE_LIBERTIES: usize = 4;

/// Number of liberties up to which a chain of the group's colour, behind the opponent's stones inside, may be captured
/// as well.
const FRIEND_LIBERTIES: usize = 2;
/// Distance from such a chain within which the group has not got out either, in points.
const FRIEND_REACH: usize = 2;
/// Largest number of connected empty points next to the region that belong to it if they are connected with no other
/// empty points.
const MAX_POCKET: usize = 8;

/// Part of the surroundings that is added to a region.
#[derive(Clone, Copy)]
enum Stage {
    /// The points beyond the liberties of chains with at most this many liberties: there the chains may escape and be
    /// stopped.
    Escapes(usize),
    /// All empty points next to the region.
    Edge,
    /// All empty points next to the region, and the chains beside it that may be captured from outside, with their
    /// liberties.
    Walls,
}

/// The part of the board that a problem is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Points where stones may be played, now or after captures: empty points, and points with stones inside the
    /// region.
    pub playable: PointSet,
    /// Stones of the group that the problem is about.
    pub group: PointSet,
    /// Whether the region is all that the opponent's stones enclose. If not, the group lives by getting out.
    pub is_closed: bool,
    /// Whether neither side plays outside, as in problem books. Otherwise an answer also holds against moves outside.
    pub excludes_moves_outside: bool,
}

fn chain_set(board: &Board, point: Point) -> PointSet {
    board.chain(point).collect()
}

/// Returns the liberties of the chain at a stone.
fn liberties(board: &Board, point: Point) -> PointSet {
    board.chain(point).flat_map(Point::adjacent).filter(|&next| board.cell(next) == Cell::Empty).collect()
}

impl Region {
    /// Region without points, for tactical reading, which covers the whole board.
    pub const EMPTY: Region = Region {
        playable: PointSet::EMPTY,
        group: PointSet::EMPTY,
        is_closed: false,
        excludes_moves_outside: false,
    };

    /// Returns the region of the group of the stone at `point`: everything that the group reaches without crossing the
    /// opponent's stones, the opponent's stones inside, and the liberties of surrounding chains that have few. Returns
    /// `None` if the point has no stone.
    pub fn of_group(board: &Board, point: Point) -> Option<Region> {
        let color = board.cell(point).color()?;
        let reached = reach(board, &[point], color, usize::MAX);
        let empty = |set: &PointSet| set.iter().filter(|&p| board.cell(p) == Cell::Empty).count();
        let is_closed = empty(&reached) <= MAX_EMPTY;
        let reached = if is_closed { reached } else { reach(board, &[point], color, REACH) };
        let group: PointSet = reached.iter().filter(|&p| board.cell(p) == Cell::from(color)).collect();
        let mut region = Region { playable: reached, group, is_closed, excludes_moves_outside: false };
        region.add_enemies(board, color);
        Some(region)
    }

    /// Returns a stone of the group that is enclosed with the fewest empty points, of `owner` if one is given. An open
    /// group counts only with `is_open_allowed`, and only if no group is enclosed.
    pub fn tightest_group(board: &Board, owner: Option<Color>, is_open_allowed: bool) -> Option<Point> {
        let anchors = board.stones().filter(|&(point, color)| {
            board.anchor(point) == point && owner.is_none_or(|owner| owner == color)
        });
        let groups = anchors.filter_map(|(point, _)| {
            let region = Region::of_group(board, point)?;
            // A single stone inside the opponent's stones is no life-and-death problem.
            let counts = region.group.len() > 1 && (region.is_closed || is_open_allowed);
            counts.then(|| (!region.is_closed, region.empty_points(board), point))
        });
        groups.min().map(|(.., point)| point)
    }

    /// Adds what lies beyond the edge, for questions in which getting out decides: chains behind the opponent's stones
    /// that may be captured themselves, and small closed spaces. The larger region takes longer to read.
    pub fn with_edge(mut self, board: &Board, color: Color) -> Region {
        self.add_friends(board, color);
        self.add_pockets(board);
        self
    }

    /// Returns the region near several stones of either side.
    pub fn near(board: &Board, points: &[Point], distance: usize) -> Region {
        let mut region = Region::EMPTY;
        for &point in points {
            if let Some(color) = board.cell(point).color() {
                region.group.union_with(&chain_set(board, point));
                let near = reach(board, &[point], color, distance);
                region.playable.union_with(&near);
            }
        }
        for color in Color::BOTH {
            region.add_enemies(board, color);
        }
        region
    }

    /// Returns a region with the given playable points. Neither side plays outside it. Its group is that at `point`, or
    /// empty if that point is empty.
    pub fn with_points(board: &Board, playable: PointSet, point: Point) -> Region {
        let group = match board.cell(point).color() {
            Some(color) => {
                let stones = playable.iter().filter(|&p| board.cell(p) == Cell::from(color));
                let mut group: PointSet = stones.flat_map(|p| board.chain(p)).collect();
                group.union_with(&chain_set(board, point));
                group
            }
            None => PointSet::EMPTY,
        };
        Region { playable, group, is_closed: false, excludes_moves_outside: true }
    }

    /// Adds the opponent's chains that stand inside or can be captured from inside.
    fn add_enemies(&mut self, board: &Board, color: Color) {
        let enemy = Cell::from(color.opponent());
        let mut seen = PointSet::EMPTY;
        let stones: Vec<Point> = self.playable.iter().collect();
        for next in stones.into_iter().flat_map(Point::adjacent) {
            if board.cell(next) != enemy || seen.contains(next) {
                continue;
            }
            let chain = chain_set(board, next);
            seen.union_with(&chain);
            let around = liberties(board, next);
            if around.len() <= RACE_LIBERTIES || around.without(&self.playable).is_empty() {
                self.playable.union_with(&chain);
                self.playable.union_with(&around);
            }
        }
    }

    /// Adds chains of the group's colour that stand behind the opponent's stones inside and have few liberties.
    /// Capturing the stones between joins these chains, but the group has not got out if they may be captured
    /// themselves.
    fn add_friends(&mut self, board: &Board, color: Color) {
        let (own, enemy) = (Cell::from(color), Cell::from(color.opponent()));
        let stones: Vec<Point> = self.playable.iter().filter(|&point| board.cell(point) == enemy).collect();
        for next in stones.into_iter().flat_map(Point::adjacent) {
            let is_behind = board.cell(next) == own && !self.playable.contains(next);
            if is_behind && liberties(board, next).len() <= FRIEND_LIBERTIES {
                self.playable.union_with(&reach(board, &[next], color, FRIEND_REACH));
            }
        }
    }

    /// Adds small closed spaces next to the region. A stone that reaches into such a space has not got out.
    fn add_pockets(&mut self, board: &Board) {
        let is_outside = |region: &Region, point: Point| {
            board.cell(point) == Cell::Empty && !region.playable.contains(point)
        };
        let edge: Vec<Point> =
            self.playable.iter().filter(|&point| board.cell(point) == Cell::Empty).collect();
        for next in edge.into_iter().flat_map(Point::adjacent) {
            if !is_outside(self, next) {
                continue;
            }
            let mut pocket: PointSet = [next].into_iter().collect();
            let mut found = vec![next];
            while let Some(point) = found.pop()
                && pocket.len() <= MAX_POCKET
            {
                for neighbour in point.adjacent() {
                    if is_outside(self, neighbour) && pocket.insert(neighbour) {
                        found.push(neighbour);
                    }
                }
            }
            if pocket.len() <= MAX_POCKET {
                self.playable.union_with(&pocket);
            }
        }
    }

    /// Returns a larger region. Later rounds add more. Returns `None` if nothing can be added, if the region is too
    /// large to be read, or if moves outside are excluded.
    pub(super) fn wider(&self, board: &Board, round: usize) -> Option<Region> {
        let stages = [Stage::Escapes(2), Stage::Escapes(RACE_LIBERTIES), Stage::Edge, Stage::Walls];
        let stages = stages.get(round..).filter(|_| !self.excludes_moves_outside)?;
        let wider = stages.iter().map(|&stage| self.grown(board, stage));
        let wider = wider.into_iter().find(|wider| wider.playable != self.playable)?;
        (wider.empty_points(board) <= MAX_EMPTY).then_some(wider)
    }

    fn grown(&self, board: &Board, stage: Stage) -> Region {
        let mut wider = *self;
        let mut near = self.playable;
        near.extend_from(self.playable.iter().flat_map(Point::adjacent));
        for point in near.iter() {
            let is_empty = board.cell(point) == Cell::Empty;
            let is_stone = board.cell(point).color().is_some();
            match stage {
                Stage::Escapes(most) if is_stone => {
                    let around = liberties(board, point);
                    if around.len() <= most {
                        let beyond = around.iter().flat_map(Point::adjacent);
                        wider.playable.extend_from(beyond.filter(|&next| board.cell(next) == Cell::Empty));
                    }
                }
                Stage::Edge | Stage::Walls if is_empty => {
                    wider.playable.insert(point);
                }
                Stage::Walls if is_stone => {
                    let around = liberties(board, point);
                    let outside = around.without(&self.playable).len();
                    if outside <= usize::from(MAX_OUTSIDE) {
                        wider.playable.extend_from(board.chain(point));
                        wider.playable.union_with(&around);
                    }
                }
                _ => {}
            }
        }
        wider
    }

    /// Returns the number of empty points, where a stone can be played now.
    pub fn empty_points(&self, board: &Board) -> usize {
        self.playable.iter().filter(|&point| board.cell(point) == Cell::Empty).count()
    }
}

/// Returns the points that stones of `color` reach over empty points and stones of that colour, with at most `distance`
/// empty points in a row between stones.
fn reach(board: &Board, from: &[Point], color: Color, distance: usize) -> PointSet {
    let own = Cell::from(color);
    let mut found = PointSet::EMPTY;
    let mut level: Vec<(Point, usize)> = Vec::new();
    for &point in from {
        for stone in board.chain(point) {
            if found.insert(stone) {
                level.push((stone, 0));
            }
        }
    }
    let mut next = 0;
    // Breadth-first: stones have distance 0 wherever they are reached.
    while next < level.len() {
        let (point, steps) = level[next];
        next += 1;
        for neighbour in point.adjacent() {
            let cell = board.cell(neighbour);
            if cell == own && !found.contains(neighbour) {
                // Stones beyond at most two empty points belong to the same group; stones beyond more do not.
                if steps <= distance.min(2) || distance == usize::MAX {
                    for stone in board.chain(neighbour) {
                        if found.insert(stone) {
                            level.push((stone, 0));
                        }
                    }
                }
            } else if cell == Cell::Empty && steps < distance && found.insert(neighbour) {
                level.push((neighbour, steps + 1));
            }
        }
    }
    found
}
