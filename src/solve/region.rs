//! What a problem is about: where stones may be played, drawn from the position alone.
//!
//! Outside the region nobody plays. An empty point there stays empty, so a chain with a liberty outside is never
//! captured: whoever gets out has saved these stones. A region that is closed by chains with liberties of their
//! own, as in books, loses nothing by that.

use super::ground::MOST_OUTSIDE;
use kosumi_go::board::{Board, Cell, Color, Point, PointSet};

/// A region with more empty points is cut off at a distance from the stones.
const MOST_EMPTY: usize = 40;
/// So far away, counted in points.
const REACH: usize = 3;
/// A chain around the region that has no more liberties may be captured in a race: they belong to the region.
const RACE_LIBERTIES: usize = 4;

/// A chain of the group's colour behind those of the opponent's inside that has no more liberties may be captured as well.
const FRIEND_LIBERTIES: usize = 2;
/// So far from such a chain, counted in points, it has not got out either.
const FRIEND_REACH: usize = 2;
/// So many empty points next to the region, if they are connected with no others, belong to it.
const LARGEST_POCKET: usize = 8;

/// What a region grows by.
#[derive(Clone, Copy)]
enum Stage {
    /// The points beyond the liberties of chains with at most this many liberties: how they may get out, and be stopped.
    Escapes(usize),
    /// All points next to it.
    Edge,
    /// These, and the chains beside it that may be captured from outside with their liberties.
    Walls,
}

/// The part of the board that a problem is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Where stones may be played, now or after captures: empty points, and stones on them.
    pub playable: PointSet,
    /// The stones of the group in it that the problem is about.
    pub group: PointSet,
    /// Is it the whole of what the opponent's stones enclose? If not, the group lives by getting out.
    pub is_closed: bool,
    /// Is it given that nobody plays outside, as in books? Otherwise an answer holds against moves outside, too.
    pub is_quiet: bool,
}

fn chain_set(board: &Board, point: Point) -> PointSet {
    board.chain(point).collect()
}

/// The liberties of the chain at a stone.
fn liberties(board: &Board, point: Point) -> PointSet {
    board.chain(point).flat_map(Point::adjacent).filter(|&next| board.cell(next) == Cell::Empty).collect()
}

impl Region {
    /// No points: for tactical reading, which sees the whole board.
    pub const NOWHERE: Region =
        Region { playable: PointSet::EMPTY, group: PointSet::EMPTY, is_closed: false, is_quiet: false };

    /// Around the group of the stone at `point`: everything that can be reached from it without crossing stones
    /// of the opponent's, these stones themselves if they stand inside, and the liberties of chains around it
    /// that have few. `None` if there is no stone.
    pub fn of_group(board: &Board, point: Point) -> Option<Region> {
        let color = board.cell(point).color()?;
        let reached = reach(board, &[point], color, usize::MAX);
        let empty = |set: &PointSet| set.iter().filter(|&p| board.cell(p) == Cell::Empty).count();
        let is_closed = empty(&reached) <= MOST_EMPTY;
        let reached = if is_closed { reached } else { reach(board, &[point], color, REACH) };
        let group: PointSet = reached.iter().filter(|&p| board.cell(p) == Cell::from(color)).collect();
        let mut region = Region { playable: reached, group, is_closed, is_quiet: false };
        region.add_enemies(board, color);
        Some(region)
    }

    /// The same with what its edge leads to, for questions in which getting out decides: with chains behind the opponent's
    /// that may be captured themselves, and with small closed spaces. Larger, so that answers take longer.
    pub fn with_edge(mut self, board: &Board, color: Color) -> Region {
        self.add_friends(board, color);
        self.add_pockets(board);
        self
    }

    /// Around several stones: what lies near them, whoever's they are.
    pub fn near(board: &Board, points: &[Point], distance: usize) -> Region {
        let mut region = Region::NOWHERE;
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

    /// A region that somebody has drawn, and outside of which nobody plays: with the group at `point`, or without if that is empty.
    pub fn drawn(board: &Board, playable: PointSet, point: Point) -> Region {
        let group = match board.cell(point).color() {
            Some(color) => {
                let stones = playable.iter().filter(|&p| board.cell(p) == Cell::from(color));
                let mut group: PointSet = stones.flat_map(|p| board.chain(p)).collect();
                group.union_with(&chain_set(board, point));
                group
            }
            None => PointSet::EMPTY,
        };
        Region { playable, group, is_closed: false, is_quiet: true }
    }

    /// The opponent's chains that stand inside, or that can be captured from inside.
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

    /// Chains behind the opponent's that stand inside and have few liberties: who captures what stands between joins them,
    /// and is not out of the region with chains that may be captured themselves.
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

    /// Small closed spaces next to the region: a stone that reaches into one has not got out.
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
                && pocket.len() <= LARGEST_POCKET
            {
                for neighbour in point.adjacent() {
                    if is_outside(self, neighbour) && pocket.insert(neighbour) {
                        found.push(neighbour);
                    }
                }
            }
            if pocket.len() <= LARGEST_POCKET {
                self.playable.union_with(&pocket);
            }
        }
    }

    /// A larger region, the more so the later the round. `None` if there is no more, it is too much to be read, or nobody plays
    /// outside.
    pub(super) fn wider(&self, board: &Board, round: usize) -> Option<Region> {
        let stages = [Stage::Escapes(2), Stage::Escapes(RACE_LIBERTIES), Stage::Edge, Stage::Walls];
        let stages = stages.get(round..).filter(|_| !self.is_quiet)?;
        let wider = stages.iter().map(|&stage| self.grown(board, stage));
        let wider = wider.into_iter().find(|wider| wider.playable != self.playable)?;
        (wider.empty_points(board) <= MOST_EMPTY).then_some(wider)
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
                    if outside <= usize::from(MOST_OUTSIDE) {
                        wider.playable.extend_from(board.chain(point));
                        wider.playable.union_with(&around);
                    }
                }
                _ => {}
            }
        }
        wider
    }

    /// Points where a stone can be played now.
    pub fn empty_points(&self, board: &Board) -> usize {
        self.playable.iter().filter(|&point| board.cell(point) == Cell::Empty).count()
    }
}

/// Points that stones of `color` reach over empty points and their own stones, with at most so many empty points
/// in a row between stones.
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
    // Nearest first: stones lie at distance 0 wherever they are reached.
    while next < level.len() {
        let (point, steps) = level[next];
        next += 1;
        for neighbour in point.adjacent() {
            let cell = board.cell(neighbour);
            if cell == own && !found.contains(neighbour) {
                // Stones further on than one gap belong to the same group, those behind more do not.
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
