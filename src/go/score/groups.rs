//! Groups of living stones, their eyes, and the detection of groups in seki.
//!
//! A *group* consists of all points that a colour can reach without crossing a living stone of the opponent: chains,
//! the empty points around them, and points under dead stones of the opponent. Neutral points connect groups, because
//! either side can play there at the end of a game.
//!
//! An *eye* is a region enclosed by one colour: connected points, empty or under dead stones, that are adjacent only to
//! living stones of this colour. A point of an eye is *false* if a part of the group is connected to the rest only
//! through this point. False points make no eyes. They count as territory only if each part connected through them has
//! an eye elsewhere. Otherwise they must be filled before the end.
//!
//! A group that lives without two eyes is in seki: neither side can take the points between it and its neighbours
//! (article 8 of the Japanese rules).
//!
//! **Limits.** The value of an eye is derived from its shape. In doubt it favours the owner: an eye that the owner's
//! next move divides counts as two eyes, because the game is over and the opponent has not played there. Ko is not
//! read. A border with gaps, such as a bamboo joint, is not a border, so the position must have been played until its
//! borders are closed.

use crate::board::{Board, Cell, Color, Point, PointMap, PointSet};

/// A region enclosed by one colour.
#[derive(Debug)]
pub(super) struct Eye {
    pub(super) owner: Color,
    /// Points of the eye, including those under dead stones.
    pub(super) points: Vec<Point>,
    /// Points that are not territory, because they must be filled before the end.
    pub(super) to_be_filled: PointSet,
    /// Index of the group in [`Groups::groups`].
    pub(super) group: usize,
}

/// A group as defined in the [module documentation](self).
#[derive(Debug)]
pub(super) struct Group {
    pub(super) color: Color,
    /// Number of eyes. It is not capped at two.
    pub(super) eyes: u32,
}

impl Group {
    /// Returns whether the group has too few eyes to live by itself.
    pub(super) fn is_weak(&self) -> bool {
        self.eyes < 2
    }
}

/// A position divided into groups.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    pub(super) eyes: Vec<Eye>,
    /// Index of the group of each living stone. [`NO_GROUP`] at other points.
    pub(super) of_stone: PointMap<usize>,
}

/// Index that stands for no group.
pub(super) const NO_GROUP: usize = usize::MAX;

impl Groups {
    /// Divides a position. `cleaned` is the board without its dead stones. `regions` are the empty regions of that
    /// board, each with the only colour around it, if any.
    pub(super) fn new<'r>(
        board: &Board,
        cleaned: &Board,
        regions: impl Iterator<Item = (&'r [Point], Option<Color>)>,
    ) -> Groups {
        let mut found = Groups { groups: Vec::new(), eyes: Vec::new(), of_stone: PointMap::filled(NO_GROUP) };
        for (points, owner) in regions {
            let Some(owner) = owner else { continue };
            let (points, to_be_filled) = (points.to_vec(), PointSet::EMPTY);
            found.eyes.push(Eye { owner, points, to_be_filled, group: NO_GROUP });
        }
        for color in Color::BOTH {
            found.divide(board, cleaned, color);
        }
        found
    }

    fn divide(&mut self, board: &Board, cleaned: &Board, color: Color) {
        let reachable = ReachablePoints::of(cleaned, color);
        let mut seen = PointSet::EMPTY;
        for (stone, _) in cleaned.stones().filter(|&(_, owner)| owner == color) {
            if seen.contains(stone) {
                continue;
            }
            let reached = reachable.reach(stone, None);
            seen.union_with(&reached);
            for point in reached.iter().filter(|&point| cleaned.cell(point) == Cell::from(color)) {
                self.of_stone[point] = self.groups.len();
            }
            self.groups.push(Group { color, eyes: 0 });
        }
        let own: Vec<usize> = (0..self.eyes.len()).filter(|&index| self.eyes[index].owner == color).collect();
        let spaces: Vec<EyeSpace> = own
            .iter()
            .map(|&index| EyeSpace::read(board, &reachable, color, self.eyes[index].points.iter().copied()))
            .collect();
        // Points that make an eye, of all eyes. A part of a group that contains one of them does not depend on a false
        // point.
        let mut real = PointSet::EMPTY;
        for space in spaces.iter().filter(|space| space.value > 0) {
            real.union_with(&space.real);
        }
        for (&index, space) in own.iter().zip(&spaces) {
            let eye = &mut self.eyes[index];
            let chain = eye.points.iter().flat_map(|point| point.adjacent());
            let stone = chain.into_iter().find(|&next| cleaned.cell(next) == Cell::from(color));
            eye.group = stone.map_or(NO_GROUP, |stone| self.of_stone[stone]);
            if let Some(group) = self.groups.get_mut(eye.group) {
                group.eyes += space.value;
            }
            for point in space.falses.iter() {
                let hangs = |side: Point| {
                    let part = reachable.reach(side, Some(point));
                    cleaned.cell(side) == Cell::from(color) && !part.iter().any(|point| real.contains(point))
                };
                if point.adjacent().into_iter().filter(|&side| reachable.contains(side)).any(hangs) {
                    eye.to_be_filled.insert(point);
                    if board.cell(point) != Cell::Empty {
                        // A dead stone thrown in there is captured eventually, from the adjacent point.
                        eye.to_be_filled.extend_from(
                            point.adjacent().into_iter().filter(|&next| cleaned.cell(next) == Cell::Empty),
                        );
                    }
                }
            }
        }
    }
}

/// The points of a board that hold no living stone of the opponent.
struct ReachablePoints {
    points: PointSet,
}

impl ReachablePoints {
    fn of(cleaned: &Board, color: Color) -> ReachablePoints {
        let opponent = Cell::from(color.opponent());
        ReachablePoints {
            points: cleaned.size().points().filter(|&point| cleaned.cell(point) != opponent).collect(),
        }
    }

    fn contains(&self, point: Point) -> bool {
        self.points.contains(point)
    }

    /// Returns all points that can be reached from `start` without crossing `closed`.
    fn reach(&self, start: Point, closed: Option<Point>) -> PointSet {
        connected(&self.points, start, closed)
    }

    /// Returns whether closing this point cuts a part of the group off from the rest.
    fn parts_at(&self, point: Point) -> bool {
        let mut sides = point.adjacent().into_iter().filter(|&next| self.contains(next));
        let Some(first) = sides.next() else { return false };
        let part = self.reach(first, Some(point));
        sides.any(|side| !part.contains(side))
    }
}

/// Returns the points of a set that are connected to `start` without crossing `closed`.
fn connected(points: &PointSet, start: Point, closed: Option<Point>) -> PointSet {
    let mut reached = PointSet::EMPTY;
    let mut todo = vec![start];
    reached.insert(start);
    while let Some(point) = todo.pop() {
        for next in point.adjacent() {
            if points.contains(next) && Some(next) != closed && reached.insert(next) {
                todo.push(next);
            }
        }
    }
    reached
}

/// Returns the connected components of a set of points.
fn parts(points: &PointSet) -> Vec<PointSet> {
    let mut rest = *points;
    let mut found = Vec::new();
    for start in points.iter() {
        if !rest.contains(start) {
            continue;
        }
        let part = connected(&rest, start, None);
        rest = rest.without(&part);
        found.push(part);
    }
    found
}

fn neighbours_in(points: &PointSet, point: Point) -> usize {
    point.adjacent().into_iter().filter(|&next| points.contains(next)).count()
}

/// Returns whether the opponent, moving first, can reduce an empty space of this shape to one eye. This holds for
/// spaces of up to three points and for the five larger shapes with a vital point: square and pyramid four, crossed and
/// bulky five, rabbity six.
pub(super) fn is_reducible(points: &PointSet) -> bool {
    let mut degrees: Vec<usize> = points.iter().map(|point| neighbours_in(points, point)).collect();
    degrees.sort_unstable();
    // The sorted neighbour counts of the points distinguish these shapes from all others of the same size.
    let vital: [&[usize]; 5] =
        [&[2, 2, 2, 2], &[1, 1, 1, 3], &[1, 1, 1, 1, 4], &[1, 2, 2, 2, 3], &[1, 1, 2, 2, 2, 4]];
    degrees.len() < 4 || vital.contains(&degrees.as_slice())
}

/// The points of an eye, classified, and its value.
struct EyeSpace {
    /// Points that are not false.
    real: PointSet,
    falses: PointSet,
    /// Number of eyes that the space makes, from 0 to 2.
    value: u32,
}

impl EyeSpace {
    fn read(
        board: &Board,
        reachable: &ReachablePoints,
        color: Color,
        points: impl Iterator<Item = Point>,
    ) -> EyeSpace {
        let all: PointSet = points.collect();
        let is_false = |&point: &Point| neighbours_in(&all, point) <= 1 && reachable.parts_at(point);
        let falses: PointSet = all.iter().filter(is_false).collect();
        let mut space = EyeSpace { real: all.without(&falses), falses, value: 0 };
        space.value = space.count(board, color);
        space
    }

    fn count(&self, board: &Board, color: Color) -> u32 {
        let is_dead = |point: Point| board.cell(point) != Cell::Empty;
        let may_play = |point: Point| !is_dead(point) && !board.is_suicide(point, color);
        // A point beside a false one is no eye until the false one is filled. Beside a false point with a dead stone it
        // never is.
        let is_closed = |point: Point| neighbours_in(&self.falses, point) == 0;
        let is_lost = |point: Point| {
            let beside = point.adjacent().into_iter().filter(|&next| self.falses.contains(next));
            let (thrown_in, open): (Vec<Point>, Vec<Point>) = beside.partition(|&next| is_dead(next));
            !thrown_in.is_empty() || open.len() > 1
        };
        if self.real.iter().all(is_lost) {
            return 0;
        }
        let dead: PointSet = self.real.iter().filter(|&point| is_dead(point)).collect();
        let size = self.real.len();
        let open = self.real.iter().filter(|&point| !is_closed(point)).count();
        let in_the_way = dead.iter().filter(|&point| neighbours_in(&self.real, point) >= 2).count();
        // The space is too large for the opponent's stones to destroy it.
        let is_large = size >= open + in_the_way + 6 || dead.len() >= 8 || dead.is_empty() && size >= 7;
        let is_safe_shape =
            dead.is_empty() && !is_reducible(&self.real) && (open == 0 || open == 1 && size >= 6);
        let divides = |point: Point| {
            let mut without = self.real;
            without.remove(point);
            let has_eye = |part: &PointSet| part.iter().any(is_closed);
            may_play(point) && parts(&without).iter().filter(|part| has_eye(part)).count() >= 2
        };
        if is_large
            || is_safe_shape
            || self.real.iter().any(divides)
            || self.lives_by_capture(&dead, may_play)
        {
            2
        } else {
            1
        }
    }

    /// Returns whether the captured stones of this eye leave a space of two eyes. Points where the owner may not play
    /// belong to that space, but the opponent may leave out one of them.
    fn lives_by_capture(&self, dead: &PointSet, may_play: impl Fn(Point) -> bool) -> bool {
        let is_thrown_in = self.falses.iter().any(|point| !may_play(point));
        if dead.is_empty() || is_thrown_in {
            return false;
        }
        let closed: Vec<Point> =
            self.real.iter().filter(|&point| !dead.contains(point) && !may_play(point)).collect();
        let left_out = closed.iter().copied().map(Some).chain([None]);
        left_out.into_iter().all(|left_out| {
            let mut shape = *dead;
            shape.extend_from(closed.iter().copied().filter(|&point| Some(point) != left_out));
            parts(&shape).len() >= 2 || !is_reducible(&shape)
        })
    }
}
