//! The space between two chains of one side: the number of moves in a row that would join them, and the points of those
//! moves.
//!
//! CITE: Tristan Cazenave and Bernard Helmstetter, "Search for transitive connections" (2005), for the idea:
//! connections are read with the few moves that can matter, not with all moves of a region.
//!
//! The constants were tuned on GNU Go's suites `connect` and `connection` (209 tests; `PERF.md`, "GNU Go's suites").

use super::bits::Bits;
use super::window::{Position, Window};
use kosumi_go::board::Color;

/// Number of moves in a row, needed to join two chains, at which the chains count as apart in tactical reading.
pub(super) const MOVES_APART: usize = 5;
/// Number of liberties up to which an opponent's chain may be captured on the way if `color` is to move, one move for
/// each liberty. If the chain's owner is to move, the limit is one liberty less.
const CROSSED_LIBERTIES: u32 = 3;
/// Number of liberties up to which a chain may have to be saved.
const WEAK_LIBERTIES: u32 = 2;

/// The space between the chains of the stones at `a` and `b`, both of colour `color`.
pub(super) struct ConnectionSpace<'a, B> {
    pub(super) window: &'a Window<B>,
    pub(super) position: &'a Position<B>,
    pub(super) color: Color,
    pub(super) a: u32,
    pub(super) b: u32,
}

/// An opponent's chain that may be captured on the way.
struct CapturableChain<B> {
    stones: B,
    liberties: B,
    /// Number of moves in a row, from the start of the path, after which the chain is captured.
    after: usize,
}

/// Points and stones that a chain reaches with fewer than [`MOVES_APART`] moves in a row.
struct Reach<B> {
    /// Empty points where the last of this number of moves may be, by number of moves.
    points: [B; MOVES_APART],
    /// Stones of the chain's side that this number of moves joins, by number of moves.
    stones: [B; MOVES_APART],
    crossed: smallvec::SmallVec<[CapturableChain<B>; 8]>,
}

impl<B: Bits> ConnectionSpace<'_, B> {
    /// Returns the number of moves in a row that join the chains; `None` if it is [`MOVES_APART`] or more. A capture on
    /// the way counts as joined with all adjacent stones, though a stone may have to be played in place of the captured
    /// ones.
    pub(super) fn moves(&self) -> Option<usize> {
        let reach = self.reach(self.a, Some(self.b));
        reach.stones.iter().position(|stones| stones.has(self.b))
    }

    /// Returns the points where a move of either side may matter: those on the shortest paths, and the liberties of
    /// weak chains on these paths and beside them. Empty if the chains are apart.
    pub(super) fn points(&self) -> B {
        let ConnectionSpace { window, position, color, a, b } = *self;
        let from_a = self.reach(a, None);
        let Some(moves) = from_a.stones.iter().position(|stones| stones.has(b)) else { return B::default() };
        let from_b = self.reach(b, None);
        let own = position.stones[color as usize];
        let enemy = position.stones[color.opponent() as usize];
        let empty = window.empties(position);
        let mut on_paths = B::default();
        // A point on a path is the last move from either side, so both counts include it.
        for last in 1..=moves {
            on_paths = on_paths | from_a.points[last] & from_b.points[moves + 1 - last];
        }
        let mut stones = B::one(a) | B::one(b);
        for made in 0..=moves {
            stones = stones | from_a.stones[made] & from_b.stones[moves - made];
        }
        for from_here in &from_a.crossed {
            let capture = from_here.liberties.count() as usize;
            let lies_on_path = |from_there: &CapturableChain<B>| {
                from_there.stones == from_here.stones && from_here.after + from_there.after <= moves + capture
            };
            if from_b.crossed.iter().any(lies_on_path) {
                on_paths = on_paths | from_here.liberties;
            }
        }
        let mut points = on_paths;
        let beside = window.around(on_paths);
        for (side, seeds) in [(own, stones | beside), (enemy, window.around(stones) | beside)] {
            for chain in window.parts_at(seeds & side, side) {
                let liberties = window.around(chain) & empty;
                if liberties.count() <= WEAK_LIBERTIES {
                    points = points | liberties;
                }
            }
        }
        points
    }

    /// Returns what the chain at a stone reaches. The search stops once it reaches the stone at `until`.
    fn reach(&self, from: u32, until: Option<u32>) -> Reach<B> {
        let ConnectionSpace { window, position, color, .. } = *self;
        let own = position.stones[color as usize];
        let enemy = position.stones[color.opponent() as usize];
        let empty = window.empties(position);
        let max_liberties = CROSSED_LIBERTIES - u32::from(position.to_move != color);
        let mut reach = Reach {
            points: [B::default(); MOVES_APART],
            stones: [B::default(); MOVES_APART],
            crossed: smallvec::SmallVec::new(),
        };
        let mut joined = window.fill(B::one(from), own);
        // Everything reached so far: joined stones, played points, captured chains.
        let mut reached = joined;
        let mut looked_at = B::default();
        for moves in 0..MOVES_APART {
            if moves > 0 {
                let played = window.around(reached) & empty & !reached;
                reach.points[moves] = played;
                let captured = reach.crossed.iter().filter(|crossed| crossed.after == moves);
                let new = captured.fold(played, |set, crossed| set | crossed.stones);
                let beside = window.around(new) & own & !joined;
                if beside.any() {
                    joined = joined | window.fill(beside, own);
                }
                reached = reached | new | joined;
            }
            reach.stones[moves] = joined;
            if until.is_some_and(|until| joined.has(until)) {
                break;
            }
            let met = window.around(reached) & enemy & !looked_at;
            for stones in window.parts_at(met, enemy) {
                looked_at = looked_at | stones;
                let liberties = window.around(stones) & empty;
                let capture = liberties.count();
                if capture <= max_liberties && !stones.meets(window.safe) {
                    reach.crossed.push(CapturableChain {
                        stones,
                        liberties,
                        after: moves + capture as usize,
                    });
                }
            }
        }
        reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::{Board, Point};
    use kosumi_go::rng::Rng;

    fn at(board: &Board, vertex: &str) -> Point {
        board.size().points().find(|point| point.to_string() == vertex).unwrap()
    }

    /// Returns the number of White's moves in a row that join two of White's stones, and the board with `+` where a
    /// move may matter.
    fn between(drawing: &str, [a, b]: [&str; 2], to_move: Color) -> (Option<usize>, String) {
        let board: Board = drawing.parse().unwrap();
        let window = Window::<u128>::whole(board.size(), false).unwrap();
        let position = window.position(&board, to_move);
        let [a, b] = [a, b].map(|vertex| window.index(at(&board, vertex)).unwrap());
        let between = ConnectionSpace { window: &window, position: &position, color: Color::White, a, b };
        let points = between.points();
        let mut rows: Vec<Vec<char>> =
            drawing.lines().map(|row| row.chars().filter(|cell| *cell != ' ').collect()).collect();
        for point in points.each().map(|index| window.point(index)) {
            let row = rows.len() - 1 - point.row();
            assert_eq!(std::mem::replace(&mut rows[row][point.column()], '+'), '.');
        }
        let rows: Vec<String> = rows.into_iter().map(|row| row.into_iter().collect()).collect();
        (between.moves(), rows.join("\n"))
    }

    #[test]
    fn shortest_paths_and_weak_chains_are_found() {
        // A knight's move: two paths of two points.
        let (moves, points) = between("......\n......\n.O....\n...O..\n......", ["B3", "D2"], Color::Black);
        assert_eq!((moves, points.as_str()), (Some(2), "......\n......\n.O++..\n.++O..\n......"));
        // A capture of the stone between joins the stones around it.
        let atari = "......\n..O...\n.OXO..\n......";
        let (moves, points) = between(atari, ["B2", "D2"], Color::Black);
        assert_eq!((moves, points.as_str()), (Some(1), "......\n..O...\n.OXO..\n..+..."));
        // Two moves capture the stone at B5, a third one joins C5 and D4; the chain with four liberties stays.
        let weak = "......\n.XO...\n.OXO..\n..XX..\n......\n......";
        assert_eq!(between(weak, ["B4", "D4"], Color::White).0, Some(3));
        let far = ".......\nO.....O\n.......";
        assert_eq!(between(far, ["A2", "G2"], Color::White), (None, far.to_string()));
        let nearer = ".......\nO....O.\n.......";
        let expected = ".......\nO++++O.\n.......";
        assert_eq!(between(nearer, ["A2", "F2"], Color::White), (Some(4), expected.to_string()));
    }

    /// Without capturable chains, the result is the smallest number of points that joins the chains, over all choices
    /// of points.
    #[test]
    fn no_fewer_moves_join_two_chains() {
        let mut rng = Rng::new(5);
        let mut compared = 0;
        while compared < 300 {
            let mut cells = String::new();
            for index in 0..25 {
                cells.push(['.', '.', '.', 'O', 'X'][rng.below(5) as usize]);
                cells.push(if index % 5 == 4 { '\n' } else { ' ' });
            }
            let Ok(board) = cells.trim_end().parse::<Board>() else { continue };
            let window = Window::<u64>::whole(board.size(), false).unwrap();
            let position = window.position(&board, Color::White);
            let [enemy, own] = position.stones;
            let empty = window.empties(&position);
            let is_strong = |chain: u64| (window.around(chain) & empty).count() > CROSSED_LIBERTIES;
            if own.count() < 2 || !window.parts(enemy).all(is_strong) {
                continue;
            }
            let (a, b) = (own.lowest(), 63 - own.leading_zeros());
            let joins = |played: u64| window.fill(1 << a, own | played).has(b);
            let moves =
                ConnectionSpace { window: &window, position: &position, color: Color::White, a, b }.moves();
            let points: Vec<u64> = empty.each().map(|index| 1 << index).collect();
            let fewest = fewest_of_all_choices(&points, &joins);
            assert_eq!(moves, fewest, "\n{cells}");
            compared += 1;
        }
    }

    fn fewest_of_all_choices(points: &[u64], joins: &dyn Fn(u64) -> bool) -> Option<usize> {
        fn any(points: &[u64], count: usize, played: u64, joins: &dyn Fn(u64) -> bool) -> bool {
            if count == 0 {
                return joins(played);
            }
            (0..points.len()).any(|first| any(&points[first + 1..], count - 1, played | points[first], joins))
        }
        (0..MOVES_APART).find(|&count| any(points, count, 0, joins))
    }
}
