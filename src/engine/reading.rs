//! The engine's uses of the solver: chains that only seem dead, chains that are dead although capturing them takes many
//! moves, and vital points of groups.
//!
//! Budgets are small and counted in nodes, so the results depend on the position only and never delay the game
//! noticeably.

use kosumi_go::board::{Board, Color, Move, Point, PointSet};
use kosumi_solve::{Aim, Memo, Question, Reading, Region, Success};

/// Maximum number of empty points in a region to read. A seki has few, and so has an eye space that may give one eye or
/// two.
const EMPTY_POINTS: usize = 12;
/// Budget for vital points. An eye of six points takes about 10,000 nodes.
const VITAL_BUDGET: NodeBudget = NodeBudget { each: 60_000, all: 100_000 };
/// Size of the solver's table for one reading, in bytes. It holds as many positions as the budget has nodes.
const MEMORY: usize = 1 << 20;
/// Number of results in the cache, about 300 kB.
pub(super) const CACHED_RESULTS: usize = 4096;

/// Budget of nodes for one chain and for all chains of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeBudget {
    each: u64,
    all: u64,
}

impl NodeBudget {
    /// Budget during a game: a few tens of milliseconds in all.
    pub(super) const PLAY: NodeBudget = NodeBudget { each: 3_000, all: 30_000 };
    /// Budget where the result decides the final score: about half a second in all. A dead eye space of six points
    /// beside six liberties takes about 30,000 nodes.
    pub(super) const END: NodeBudget = NodeBudget { each: 60_000, all: 120_000 };

    /// Reads whether the region's group is captured when `first` moves first. Returns `None` if the region has no point
    /// to play on.
    fn read(
        &mut self,
        memo: &mut Memo,
        board: &Board,
        region: &Region,
        first: Color,
        suicide: bool,
    ) -> Option<Reading> {
        let most = self.each.min(self.all);
        let question = Question { board, region, aim: Aim::Capture, suicide, memory: MEMORY, threads: 1 };
        let reading = memo.read(&question, first, most).ok()?;
        self.all = self.all.saturating_sub(reading.nodes);
        Some(reading)
    }
}

/// Attacks on chains of a position, read by the solver.
pub(super) struct Attacks<'m> {
    pub(super) memo: &'m mut Memo,
    pub(super) board: &'m Board,
    /// Whether suicide of two or more stones is legal.
    pub(super) suicide: bool,
    /// Budget of each query.
    pub(super) allowance: NodeBudget,
}

impl Attacks<'_> {
    /// Returns the chains of `anchors` that the opponent cannot capture even when moving first, as in seki. Playouts
    /// fill the shared liberties of a seki, and networks have seen few of them.
    pub(super) fn safe_chains(&mut self, anchors: &[Point]) -> Vec<Point> {
        self.with_success(anchors, Success::No)
    }

    /// Returns the chains of `anchors` that the opponent captures when moving first, however many moves it takes.
    /// Excludes chains that depend on a ko.
    pub(super) fn capturable_chains(&mut self, anchors: &[Point]) -> Vec<Point> {
        self.with_success(anchors, Success::Yes)
    }

    fn with_success(&mut self, anchors: &[Point], wanted: Success) -> Vec<Point> {
        let Attacks { ref mut memo, board, suicide, mut allowance } = *self;
        let regions = regions(board, anchors.iter().copied());
        let mut found = Vec::new();
        on_large_stack(&regions, |(anchor, region)| {
            let owner = board.cell(*anchor).color()?;
            let reading = allowance.read(memo, board, region, owner.opponent(), suicide)?;
            (reading.success == wanted).then(|| found.push(*anchor))
        });
        found
    }
}

/// Returns a move of `color` that saves one of its groups or kills one of the opponent's. `unsettled` contains the
/// stones of groups whose fate depends on which side moves first; the function does not check this. `permits` tests
/// whether a move may be played.
pub(super) fn vital_move(
    memo: &mut Memo,
    board: &Board,
    unsettled: &PointSet,
    color: Color,
    suicide: bool,
    permits: impl Fn(Move) -> bool + Sync,
) -> Option<Move> {
    let regions = regions(board, unsettled.iter().filter(|&point| board.anchor(point) == point));
    let mut budget = VITAL_BUDGET;
    let mut found: Option<(usize, Move)> = None;
    on_large_stack(&regions, |(anchor, region)| {
        let reading = budget.read(memo, board, region, color, suicide)?;
        let is_own = board.cell(*anchor).color() == Some(color);
        let wanted = if is_own { Success::No } else { Success::Yes };
        let best = reading.best.filter(|&mv| reading.success == wanted && mv != Move::Pass && permits(mv))?;
        // The largest group has priority.
        let size = board.chain_len(*anchor);
        if found.is_none_or(|(before, _)| size > before) {
            found = Some((size, best));
        }
        Some(())
    });
    found.map(|(_, mv)| mv)
}

/// Returns the region of each chain, in which the chain is the group to read. Skips chains that are not enclosed in a
/// small region.
fn regions(board: &Board, anchors: impl Iterator<Item = Point>) -> Vec<(Point, Region)> {
    let region = |anchor| {
        let mut region = Region::of_group(board, anchor)?;
        if !region.is_closed || region.empty_points(board) > EMPTY_POINTS {
            return None;
        }
        region.group = board.chain(anchor).collect();
        Some((anchor, region))
    };
    anchors.filter_map(region).collect()
}

/// Calls `work` for each region, all on one [large stack](kosumi_solve::on_large_stack).
fn on_large_stack<T: Sync>(regions: &[T], mut work: impl FnMut(&T) -> Option<()> + Send) {
    if regions.is_empty() {
        return;
    }
    kosumi_solve::on_large_stack(|| {
        for region in regions {
            work(region);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::{Cell, Symmetry};

    /// Returns all stones of a colour.
    fn stones(board: &Board, color: Color) -> PointSet {
        board
            .stones()
            .filter(|&(point, _)| board.cell(point) == Cell::from(color))
            .map(|(point, _)| point)
            .collect()
    }

    #[test]
    fn vital_point_is_the_same_for_both_sides() {
        let rabbity_six = "
            X X X X X O O
            X X . . X O O
            X . . . X O O
            X X . X X O O
            X X X X O O .
            O O O O O O O
            O O O O O O .";
        let board: Board = rabbity_six.parse().expect("a drawing");
        let black = stones(&board, Color::Black);
        let mut memo = Memo::new(CACHED_RESULTS);
        let vital = Move::Play(Point::new(2, 4));
        for color in Color::BOTH {
            assert_eq!(vital_move(&mut memo, &board, &black, color, false, |_| true), Some(vital), "{color}");
            // No other move settles the group.
            assert_eq!(
                vital_move(&mut memo, &board, &black, color, false, |mv| mv != vital),
                None,
                "{color}"
            );
        }
    }

    /// White has one eye and five outside liberties. Black stones fill the eye except for two points: five stones here,
    /// four in `PYRAMID_FOUR`. The capture takes many moves, and White's capture of the stones inside would leave a
    /// dead shape.
    const BULKY_FIVE: &str = "
        . . X X X X .
        X X X O O O O
        X . O O X X O
        X . O . X X .
        X . O O O X O
        X X X X O O O
        . . . X X X .";
    const PYRAMID_FOUR: &str = "
        . . . X X X .
        X X X X O O O
        X . O O . X O
        X . O . X X O
        X . O O O X O
        X X X X O O O
        . . . X X X .";
    /// Two shared liberties: the side that plays there first loses its stones.
    const SHARED: &str = "
        X . X X O . O
        . X X X O O O
        X X X X O . O
        X X X X O O O
        . . X O X X O
        . . X O . X O
        . . X O . X O";
    /// Three stones in an eye of five points. If Black adds one, White captures four in a row and lives, so Black
    /// leaves them.
    const STRAIGHT_FOUR: &str = "
        X X X X X X .
        O O O O O O X
        . X X X . O X
        O O O O O O X
        X X X X X X .";

    /// Returns the board under each of its symmetries, each in both colours, with the anchor of the chain at `point`.
    fn images(drawing: &str, point: Point) -> Vec<(Board, Point)> {
        let board: Board = drawing.parse().expect("a drawing");
        let size = board.size();
        let image = |symmetry: Symmetry, swap: bool| {
            let color = |color: Color| if swap { color.opponent() } else { color };
            let stones = board.stones().map(|(at, its)| (symmetry.apply(size, at), color(its)));
            let image = Board::from_stones(size, stones).expect("an image");
            let anchor = image.anchor(symmetry.apply(size, point));
            (image, anchor)
        };
        Symmetry::of(size).flat_map(|symmetry| [false, true].map(|swap| image(symmetry, swap))).collect()
    }

    #[test]
    fn a_filled_eye_is_dead_or_in_seki_by_its_shape() {
        let cases = [
            (BULKY_FIVE, (2, 3), true, "bulky five"),
            (PYRAMID_FOUR, (2, 3), true, "pyramid four"),
            (SHARED, (3, 2), false, "seki, the one"),
            (SHARED, (4, 2), false, "seki, the other"),
            (STRAIGHT_FOUR, (0, 3), false, "straight four"),
        ];
        for (drawing, (column, row), is_dead, name) in cases {
            for (board, anchor) in images(drawing, Point::new(column, row)) {
                let mut memo = Memo::new(CACHED_RESULTS);
                let allowance = NodeBudget::END;
                let mut attacks = Attacks { memo: &mut memo, board: &board, suicide: false, allowance };
                let (dead, alive) = (attacks.capturable_chains(&[anchor]), attacks.safe_chains(&[anchor]));
                assert_eq!((!dead.is_empty(), !alive.is_empty()), (is_dead, !is_dead), "{name}\n{board}");
            }
        }
    }

    #[test]
    fn settled_group_has_no_vital_move() {
        let alive = "X . . . . X O\nX X X X X X O\nO O O O O O O\n. O . O O O O";
        let dead = "X . . X O\nX X X X O\nO O O O O\n. O . O O";
        for (drawing, color) in [(alive, Color::White), (dead, Color::Black)] {
            let board: Board = drawing.parse().expect("a drawing");
            let black = stones(&board, Color::Black);
            let mut memo = Memo::new(CACHED_RESULTS);
            assert_eq!(
                vital_move(&mut memo, &board, &black, color, false, |_| true),
                None,
                "{color} in\n{drawing}"
            );
        }
    }
}
