//! Statements of a record about its problem: the side to move, the goal, and the group that the goal is about.

use super::super::tree::GameTree;
use kosumi_go::board::{Board, Cell, Color, Point, PointSet};
use kosumi_go::sgf::{Mark, NodeId};
use kosumi_solve::{Aim, Region};
use serde::{Deserialize, Serialize};

/// Goal of the side that moves first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemGoal {
    /// To keep the player's own group from being captured. Seki is enough.
    Live,
    /// To capture all stones of the opponent's group.
    Kill,
    /// To capture one chain of the opponent.
    Capture,
}

/// Statements of a record about its problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StatedProblem {
    pub(super) player: Color,
    pub(super) goal: Option<ProblemGoal>,
    /// A stone of the group, if stones are marked and all of them have one colour.
    group: Option<Point>,
}

/// Words of goals in English, German, Spanish and French.
const LIVE_WORDS: [&str; 12] = [
    "live", "lives", "alive", "survive", "leben", "lebt", "lebendig", "vivir", "vive", "vivre", "vit", "vivo",
];
const KILL_WORDS: [&str; 8] = ["kill", "kills", "töten", "tötet", "matar", "mata", "tuer", "tue"];
const CAPTURE_WORDS: [&str; 10] = [
    "capture", "captures", "fangen", "fängt", "schlagen", "capturar", "captura", "capturer", "capturez",
    "capturan",
];
/// Characters for goals in Japanese, Korean and Chinese.
const LIVE_SIGNS: [&str; 4] = ["活", "生き", "사는", "살"];
const KILL_SIGNS: [&str; 5] = ["杀", "殺", "死", "죽", "잡"];
const CAPTURE_SIGNS: [&str; 4] = ["吃", "取る", "捕", "따내"];
/// Words for the side to move.
const BLACK_FIRST: [&str; 7] =
    ["black to", "schwarz am zug", "juegan negras", "noir joue", "黒先", "黑先", "흑선"];
const WHITE_FIRST: [&str; 6] = ["white to", "weiß am zug", "juegan blancas", "blanc joue", "白先", "백선"];

impl StatedProblem {
    /// Reads the statements of the nodes from the root to the start of a problem.
    pub(super) fn read(tree: &GameTree, start: NodeId) -> StatedProblem {
        let record = tree.record();
        let path = tree.path(start).unwrap_or_default();
        let mut words = String::new();
        let mut to_move = None;
        for &id in &path {
            for name in ["GN", "N", "C"] {
                words.extend(record.node(id).text(name).map(|text| text.to_lowercase() + "\n"));
            }
            to_move = record.change(id).to_move.or(to_move);
        }
        let first = tree.children(start).first().and_then(|&child| tree.played(child)).map(|it| it.0);
        let says = |phrases: &[&str]| phrases.iter().any(|&phrase| words.contains(phrase));
        let in_words = match (says(&BLACK_FIRST), says(&WHITE_FIRST)) {
            (true, false) => Some(Color::Black),
            (false, true) => Some(Color::White),
            _ => None,
        };
        let player = to_move.or(first).or(in_words).unwrap_or(Color::Black);
        let group = marked_stone(tree, start);
        let owner = group.and_then(|point| tree.game_at(start).board().cell(point).color());
        let goal = goal_in_words(&words).or_else(|| {
            // The problem is about the marked stones.
            owner.map(|owner| if owner == player { ProblemGoal::Live } else { ProblemGoal::Kill })
        });
        // Marks on the other side's stones do not show which group is meant.
        let wanted = goal.map(|goal| owner_of(goal, player));
        StatedProblem { player, goal, group: group.filter(|_| wanted.is_none() || wanted == owner) }
    }

    /// Returns the region to read and the aim of the solver for a goal; `None` if the board has no such group.
    pub(super) fn question(&self, board: &Board, goal: ProblemGoal) -> Option<(Region, Aim)> {
        let owner = owner_of(goal, self.player);
        let marked = self.group.filter(|&point| board.cell(point) == Cell::from(owner));
        let point = match (marked, goal) {
            (Some(point), _) => point,
            (None, ProblemGoal::Capture) => {
                let chains =
                    board.stones().filter(|&(point, color)| color == owner && board.anchor(point) == point);
                let chains = chains.map(|(point, _)| (board.liberty_count(point), point));
                chains.min()?.1
            }
            (None, _) => Region::tightest_group(board, Some(owner), true)?,
        };
        let mut region = Region::of_group(board, point)?;
        if goal == ProblemGoal::Capture {
            region.group = board.chain(point).collect::<PointSet>();
        }
        (region.empty_points(board) > 0).then_some((region, Aim::Capture))
    }
}

/// Returns the side whose stones a goal is about.
fn owner_of(goal: ProblemGoal, player: Color) -> Color {
    if goal == ProblemGoal::Live { player } else { player.opponent() }
}

/// Returns the goal that a text names; `None` if it names none, or several.
fn goal_in_words(text: &str) -> Option<ProblemGoal> {
    let words = || text.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty());
    let names = |known: &[&str], signs: &[&str]| {
        words().any(|word| known.contains(&word)) || signs.iter().any(|&sign| text.contains(sign))
    };
    let found = [
        (names(&LIVE_WORDS, &LIVE_SIGNS), ProblemGoal::Live),
        (names(&KILL_WORDS, &KILL_SIGNS), ProblemGoal::Kill),
        (names(&CAPTURE_WORDS, &CAPTURE_SIGNS), ProblemGoal::Capture),
    ];
    let mut named = found.into_iter().filter(|it| it.0).map(|it| it.1);
    match (named.next(), named.next()) {
        (Some(goal), None) => Some(goal),
        _ => None,
    }
}

/// Returns a marked stone, if stones are marked and all of them have one colour.
fn marked_stone(tree: &GameTree, start: NodeId) -> Option<Point> {
    let game = tree.game_at(start);
    let kinds = [Mark::Triangle, Mark::Square, Mark::Circle, Mark::Cross];
    let marked = kinds.into_iter().flat_map(|kind| tree.record().marked(start, kind));
    let stones: Vec<(Point, Color)> =
        marked.filter_map(|point| Some((point, game.board().cell(point).color()?))).collect();
    let &(point, color) = stones.first()?;
    stones.iter().all(|it| it.1 == color).then_some(point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rules::Rules;

    fn stated(text: &str) -> (Color, Option<ProblemGoal>, Option<String>) {
        let tree = GameTree::open(text.as_bytes(), Rules::default(), false).unwrap().tree;
        let it = StatedProblem::read(&tree, tree.root());
        (it.player, it.goal, it.group.map(|point| point.to_string()))
    }

    #[test]
    fn side_goal_and_group_are_those_of_the_record() {
        use Color::{Black, White};
        use ProblemGoal::{Capture, Kill, Live};
        let stones = "(;SZ[9]AB[aa][ba]AW[ca][cb][bb]";
        for (rest, expected) in [
            ("C[Black to live.]", (Black, Some(Live), None)),
            ("C[White to kill]", (White, Some(Kill), None)),
            ("PL[W]C[Capture the stones]", (White, Some(Capture), None)),
            ("C[black to play];W[ac]", (White, None, None)),
            ("C[白先黒死]", (White, Some(Kill), None)),
            ("GN[黑先活]", (Black, Some(Live), None)),
            ("C[Schwarz am Zug. Kann Schwarz leben?]", (Black, Some(Live), None)),
            ("C[Live or kill?]", (Black, None, None)),
            ("C[deliver it]", (Black, None, None)),
            ("TR[aa][ba]", (Black, Some(Live), Some("A9".to_owned()))),
            ("PL[W]SQ[ba]", (White, Some(Kill), Some("B9".to_owned()))),
            ("TR[ca]C[Black to live]", (Black, Some(Live), None)),
            ("TR[ca][aa]", (Black, None, None)),
            ("TR[ii]", (Black, None, None)),
            ("", (Black, None, None)),
        ] {
            assert_eq!(stated(&format!("{stones}{rest})")), expected, "{rest}");
        }
    }

    #[test]
    fn the_group_is_the_tightest_one_of_its_side() {
        let board: Board = ". X O . .\nX X O . .\nO O O . .\n. . . . .\n. . . . .".parse().unwrap();
        let it = StatedProblem { player: Color::Black, goal: None, group: None };
        let (region, _) = it.question(&board, ProblemGoal::Live).unwrap();
        assert_eq!(region.group.iter().map(|point| point.to_string()).collect::<Vec<_>>().len(), 3);
        let white = StatedProblem { player: Color::White, ..it };
        assert_eq!(white.question(&board, ProblemGoal::Kill).unwrap().0.group, region.group);
        let empty = Board::new(board.size());
        for goal in [ProblemGoal::Live, ProblemGoal::Kill, ProblemGoal::Capture] {
            assert!(it.question(&empty, goal).is_none(), "there is no group");
        }
    }
}
