//! Moves that a search must leave out.

use kosumi_go::board::{BoardSize, ByColor, Color, GRID, MAX_SIDE, Move, Point};
use kosumi_go::game::Game;

/// Number of moves: the points of the padded grid and a pass.
const MOVES: usize = GRID + 1;

/// Moves that are forbidden in the first moves of a line. If no move is left, the position itself is evaluated.
///
/// Size and cost do not depend on the number of rules that were combined.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Restriction(Option<Box<DepthLimits>>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct DepthLimits {
    /// Greatest depth of all moves.
    deepest: u32,
    /// Number of depths, from 0 for the root, at which each move is forbidden.
    depths: ByColor<[u32; MOVES]>,
}

impl Restriction {
    /// Restriction that permits all moves.
    pub const NONE: Restriction = Restriction(None);

    /// Returns a restriction that forbids these moves of one side at all depths less than `until`. The root has depth
    /// 0.
    pub fn avoiding(color: Color, moves: impl IntoIterator<Item = Move>, until: usize) -> Restriction {
        let mut restriction = Restriction::NONE;
        restriction.avoid(color, moves, until);
        restriction
    }

    /// Returns a restriction that permits only these moves of one side at all depths less than `until`. The root has
    /// depth 0.
    pub fn allowing(color: Color, moves: impl IntoIterator<Item = Move>, until: usize) -> Restriction {
        let mut restriction = Restriction::NONE;
        restriction.allow(color, moves, until);
        restriction
    }

    /// Also forbids these moves of one side at all depths less than `until`. The root has depth 0.
    pub fn avoid(&mut self, color: Color, moves: impl IntoIterator<Item = Move>, until: usize) {
        let mut moves = moves.into_iter().peekable();
        if moves.peek().is_some() && until > 0 {
            let limits = self.limits();
            moves.for_each(|mv| limits.forbid_until(color, move_index(mv), until));
        }
    }

    /// Also forbids all other moves of one side at all depths less than `until`. The root has depth 0.
    pub fn allow(&mut self, color: Color, moves: impl IntoIterator<Item = Move>, until: usize) {
        let mut is_allowed = [false; MOVES];
        moves.into_iter().for_each(|mv| is_allowed[move_index(mv)] = true);
        let points = BoardSize::square(MAX_SIDE).into_iter().flat_map(BoardSize::points);
        let others = points.map(Move::Play).chain([Move::Pass]).filter(|&mv| !is_allowed[move_index(mv)]);
        self.avoid(color, others, until);
    }

    fn limits(&mut self) -> &mut DepthLimits {
        self.0.get_or_insert_with(|| {
            Box::new(DepthLimits { deepest: 0, depths: ByColor::new([0; MOVES], [0; MOVES]) })
        })
    }

    /// Returns whether a move may be forbidden at this depth.
    #[inline]
    pub fn applies_at(&self, depth: usize) -> bool {
        // Usually there is no restriction.
        self.0.as_ref().is_some_and(|limits| depth < limits.deepest as usize)
    }

    /// Returns whether this move may be searched at this depth.
    pub fn permits(&self, color: Color, mv: Move, depth: usize) -> bool {
        self.0.as_ref().is_none_or(|limits| depth >= limits.depths[color][move_index(mv)] as usize)
    }

    /// Returns whether this side has a legal move, including a pass, that may be searched at the root.
    pub fn leaves_a_move(&self, game: &Game, color: Color) -> bool {
        let may_be_searched = |mv| self.permits(color, mv, 0) && game.check(color, mv).is_ok();
        may_be_searched(Move::Pass) || game.size().points().map(Move::Play).any(may_be_searched)
    }

    /// Returns the forbidden moves, each with the number of depths at which it is forbidden. With
    /// [`Restriction::avoid`], they make an equal restriction.
    pub fn forbidden(&self) -> impl Iterator<Item = (Color, Move, usize)> + '_ {
        self.0.iter().flat_map(|limits| {
            [Color::Black, Color::White].into_iter().flat_map(|color| {
                let depths = limits.depths[color].iter().enumerate();
                depths
                    .filter(|&(_, &until)| until > 0)
                    .map(move |(move_index, &until)| (color, move_of_index(move_index), until as usize))
            })
        })
    }
}

impl DepthLimits {
    fn forbid_until(&mut self, color: Color, move_index: usize, until: usize) {
        let until = u32::try_from(until).unwrap_or(u32::MAX);
        let depth = &mut self.depths[color][move_index];
        *depth = until.max(*depth);
        self.deepest = until.max(self.deepest);
    }
}

/// Returns the index of a move in a table of [`MOVES`].
fn move_index(mv: Move) -> usize {
    mv.point().map_or(GRID, Point::index)
}

fn move_of_index(move_index: usize) -> Move {
    u16::try_from(move_index)
        .ok()
        .filter(|&index| usize::from(index) < GRID)
        .map_or(Move::Pass, |index| Move::Play(Point::from_index(index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_for_a_player_and_a_depth() {
        let (a, b) = (Move::Play(Point::new(0, 0)), Move::Play(Point::new(1, 0)));
        let avoid = Restriction::avoiding(Color::Black, [a, Move::Pass], 1);
        assert!(!avoid.permits(Color::Black, a, 0) && !avoid.permits(Color::Black, Move::Pass, 0));
        assert!(avoid.permits(Color::Black, b, 0) && avoid.permits(Color::White, a, 0));
        assert!(avoid.permits(Color::Black, a, 1) && !avoid.applies_at(1) && avoid.applies_at(0));
        let allow = Restriction::allowing(Color::Black, [a], 3);
        assert!(allow.permits(Color::Black, a, 2) && !allow.permits(Color::Black, b, 2));
        assert!(allow.permits(Color::White, b, 1) && allow.permits(Color::Black, b, 3));
        assert!(!Restriction::NONE.applies_at(0));
        assert_eq!(Restriction::avoiding(Color::White, [], 9), Restriction::NONE);
    }

    #[test]
    fn rules_are_combined_whatever_their_number() {
        let [a, b, c] = [0, 1, 2].map(|column| Move::Play(Point::new(column, 0)));
        let mut restriction = Restriction::allowing(Color::Black, [a, b], 4);
        restriction.allow(Color::Black, [b, c], 2);
        for until in 1..10_000 {
            restriction.avoid(Color::Black, [b, b, b], until % 7);
            restriction.avoid(Color::White, [Move::Pass], usize::MAX);
        }
        let permitted = |depth| [a, b, c].map(|mv| restriction.permits(Color::Black, mv, depth));
        assert_eq!(permitted(1), [false, false, false]);
        assert_eq!(permitted(3), [true, false, false]);
        assert_eq!(permitted(5), [true, false, true]);
        assert_eq!(permitted(6), [true, true, true]);
        assert!(!restriction.permits(Color::White, Move::Pass, 1_000_000_000));
        let mut again = Restriction::NONE;
        restriction.forbidden().for_each(|(color, mv, until)| again.avoid(color, [mv], until));
        assert_eq!(again, restriction);
        assert!(restriction.forbidden().count() <= 2 * MOVES);
    }
}
