//! The solution that a record contains: its variations, and the comments that mark some of them as right.

use super::super::tree::GameTree;
use kosumi_go::board::{Color, Move};
use kosumi_go::sgf::NodeId;
use std::collections::BTreeSet;

/// Judgement of a move by the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RecordedAnswer {
    pub(super) is_right: bool,
    /// After a right move, the opponent's reply, or no move at the end of the solution. After a wrong move, the moves
    /// that follow it in the record.
    pub(super) line: Vec<Move>,
}

/// Solution of a record.
#[derive(Clone, Debug)]
pub(super) struct RecordedSolution {
    /// Nodes on a path to a node that is marked as right, or below such a node. If no node is marked, the main line.
    right: BTreeSet<NodeId>,
}

/// Beginnings of comments that mark a move as right.
const RIGHT: [&str; 8] = ["right", "correct", "richtig", "correcto", "正解", "正确", "正確", "정답"];

/// Returns whether the record marks the move of a node as right.
fn is_called_right(tree: &GameTree, id: NodeId) -> bool {
    let node = tree.record().node(id);
    let comment = node.text("C").unwrap_or_default();
    // In capitals, the word may stand anywhere in the comment. In small letters it counts only at the beginning,
    // because "right" may be the side of the board.
    let in_capitals = comment.split(|letter: char| !letter.is_alphabetic());
    let mut in_capitals = in_capitals.filter(|&word| word == "RIGHT" || word == "CORRECT");
    let start = comment.trim_start().to_lowercase();
    let is_word = |rest: &str| !rest.starts_with(char::is_alphabetic) || !rest.is_ascii();
    let begins = RIGHT.iter().any(|&word| start.strip_prefix(word).is_some_and(is_word));
    node.has("TE") || begins || in_capitals.next().is_some()
}

impl RecordedSolution {
    /// Reads the solution of the problem that starts at a node; `None` if the record has no moves.
    pub(super) fn read(tree: &GameTree, start: NodeId) -> Option<RecordedSolution> {
        let nodes = tree.nodes_from(start);
        let mut right = BTreeSet::new();
        for &id in nodes.iter().skip(1) {
            let is_below = tree.parent(id).is_some_and(|parent| parent != start && right.contains(&parent));
            if is_called_right(tree, id) || is_below {
                right.insert(id);
            }
        }
        let is_marked = !right.is_empty();
        // Iterates backwards, because parents come before their children.
        for &id in nodes.iter().skip(1).rev() {
            if let Some(parent) = tree.parent(id).filter(|&parent| right.contains(&id) && parent != start) {
                right.insert(parent);
            }
        }
        if !is_marked {
            let mut at = start;
            while let Some(&child) = tree.children(at).first() {
                right.insert(child);
                at = child;
            }
        }
        (!right.is_empty()).then_some(RecordedSolution { right })
    }

    /// Returns the record's judgement of the last move of a line; `None` if the line is not in the record.
    pub(super) fn judge(
        &self,
        tree: &GameTree,
        start: NodeId,
        line: &[(Color, Move)],
    ) -> Option<RecordedAnswer> {
        let mut at = start;
        for &(color, mv) in line {
            at = tree.children(at).into_iter().find(|&child| tree.played(child) == Some((color, mv)))?;
        }
        let is_right = self.right.contains(&at);
        let mut moves = Vec::new();
        while let Some(&first) = tree.children(at).first() {
            let children = tree.children(at);
            at = children.into_iter().find(|child| self.right.contains(child)).unwrap_or(first);
            let Some((_, mv)) = tree.played(at) else { break };
            moves.push(mv);
            if is_right {
                break;
            }
        }
        Some(RecordedAnswer { is_right, line: moves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::BoardSize;
    use kosumi_go::rules::Rules;

    fn opened(text: &str) -> (GameTree, RecordedSolution) {
        let tree = GameTree::open(text.as_bytes(), Rules::default(), false).unwrap().tree;
        let solution = RecordedSolution::read(&tree, tree.root()).unwrap();
        (tree, solution)
    }

    /// Returns whether the last of these moves is right, and the number of moves that follow. Black and White
    /// alternate.
    fn judged(text: &str, places: &str) -> Option<(bool, usize)> {
        let (tree, solution) = opened(text);
        let size = BoardSize::square(9).unwrap();
        let moves = places.split(' ').enumerate().map(|(index, place)| {
            let mv = super::super::super::message::parse_place(size, place).unwrap();
            (if index % 2 == 0 { Color::Black } else { Color::White }, mv)
        });
        let line: Vec<_> = moves.collect();
        solution.judge(&tree, tree.root(), &line).map(|it| (it.is_right, it.line.len()))
    }

    #[test]
    fn a_record_without_marks_is_right_on_its_main_line() {
        let text = "(;SZ[9](;B[aa];W[bb];B[cc])(;B[dd];W[ee];B[ff]))";
        assert_eq!(judged(text, "aa"), Some((true, 1)));
        assert_eq!(judged(text, "aa bb cc"), Some((true, 0)), "solved");
        assert_eq!(judged(text, "dd"), Some((false, 2)), "the refutation follows");
        assert_eq!(judged(text, "gg"), None);
        assert_eq!(judged(text, "aa cc"), None);
    }

    #[test]
    fn marked_variations_are_right_and_all_others_wrong() {
        let text = "(;SZ[9](;B[aa];W[bb];B[cc]C[on the right side])(;B[dd](;W[ee];B[ff]C[Correct!])(;W[gg];B[hh]C[so: RIGHT];W[ii];B[ha]))\
            (;B[ee]C[incorrect])(;B[ff]TE[1];W[ai];B[bi]))";
        assert_eq!(judged(text, "aa"), Some((false, 2)));
        assert_eq!(judged(text, "dd"), Some((true, 1)));
        assert_eq!(judged(text, "dd ee ff"), Some((true, 0)));
        assert_eq!(judged(text, "dd gg hh"), Some((true, 1)), "the line goes on below the mark");
        assert_eq!(judged(text, "dd gg hh ii ha"), Some((true, 0)));
        assert_eq!(judged(text, "ee"), Some((false, 0)));
        assert_eq!(judged(text, "ff ai bi"), Some((true, 0)));
        let none = GameTree::open(b"(;SZ[9]AB[aa])", Rules::default(), false).unwrap().tree;
        assert!(RecordedSolution::read(&none, none.root()).is_none());
    }
}
