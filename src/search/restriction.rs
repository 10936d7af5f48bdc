//! Moves that a search must leave out.

use kosumi_go::board::{Color, Move};
use kosumi_go::game::Game;

/// Moves of one side that are forbidden, or the only ones permitted, in the first moves of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MoveRule {
    /// Side whose moves the rule concerns.
    pub color: Color,
    /// The moves.
    pub moves: Vec<Move>,
    /// Depth, counted from 0, below which the rule holds.
    pub until: usize,
}

/// Restrictions at the beginning of a line. If no move is left, the position itself is evaluated.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Restriction {
    /// Rules with forbidden moves.
    pub avoid: Vec<MoveRule>,
    /// Rules with permitted moves: where such a rule holds, only its moves are permitted.
    pub allow: Vec<MoveRule>,
}

impl Restriction {
    /// Restriction that permits all moves.
    pub const NONE: Restriction = Restriction { avoid: Vec::new(), allow: Vec::new() };

    /// Returns whether a rule holds at this depth.
    #[inline]
    pub fn applies_at(&self, depth: usize) -> bool {
        // Usually both lists are empty.
        self.avoid.iter().chain(&self.allow).any(|rule| depth < rule.until)
    }

    /// Returns whether this move may be searched at this depth.
    pub fn permits(&self, color: Color, mv: Move, depth: usize) -> bool {
        let holds = |rule: &&MoveRule| rule.color == color && depth < rule.until;
        self.avoid.iter().filter(holds).all(|rule| !rule.moves.contains(&mv))
            && self.allow.iter().filter(holds).all(|rule| rule.moves.contains(&mv))
    }

    /// Returns whether this side has a legal move, including a pass, that may be searched at the root.
    pub fn leaves_a_move(&self, game: &Game, color: Color) -> bool {
        let may_be_searched = |mv| self.permits(color, mv, 0) && game.check(color, mv).is_ok();
        may_be_searched(Move::Pass) || game.size().points().map(Move::Play).any(may_be_searched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::Point;

    #[test]
    fn rules_are_for_a_player_and_a_depth() {
        let (a, b) = (Move::Play(Point::new(0, 0)), Move::Play(Point::new(1, 0)));
        let rule = |moves: &[Move], until| MoveRule { color: Color::Black, moves: moves.to_vec(), until };
        let avoid = Restriction { avoid: vec![rule(&[a, Move::Pass], 1)], allow: vec![] };
        assert!(!avoid.permits(Color::Black, a, 0) && !avoid.permits(Color::Black, Move::Pass, 0));
        assert!(avoid.permits(Color::Black, b, 0) && avoid.permits(Color::White, a, 0));
        assert!(avoid.permits(Color::Black, a, 1) && !avoid.applies_at(1) && avoid.applies_at(0));
        let allow = Restriction { avoid: vec![], allow: vec![rule(&[a], 3)] };
        assert!(allow.permits(Color::Black, a, 2) && !allow.permits(Color::Black, b, 2));
        assert!(allow.permits(Color::White, b, 1) && allow.permits(Color::Black, b, 3));
        assert!(!Restriction::NONE.applies_at(0));
    }
}
