//! Life and death of enclosed groups, read exhaustively inside their eyes.
//!
//! A group is *enclosed* if all liberties of its chains lie in regions that only these chains surround, and these
//! regions have few points in total, for example a straight three, a bulky five, or two by three with a stone inside.
//! Such a group has no liberties outside and little space inside, so its fate can be read exactly, whereas playouts
//! would only estimate it. Unconditional life ([`safety`](crate::safety)) is the special case in which the owner need
//! not answer.
//!
//! A fate that depends on a ko is not decided, because the rest of the board decides who wins the ko.

use crate::board::{Board, Cell, Color, Key, Point};
use crate::safety::LifeReader;
use std::collections::HashMap;

/// Fate of stones, as far as it can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The stones are not captured even if the opponent plays first. This includes seki.
    Alive,
    /// The stones are captured even if their owner plays first.
    Dead,
    /// The side that plays first decides.
    Unsettled,
    /// The fate depends on a ko or on stones outside, or reading it would take too long.
    Unknown,
}

/// An enclosed group with the fates of its chains and of the opponent's chains inside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enclosed {
    /// Anchors of the group's chains, with their fates.
    pub chains: Vec<(Point, Fate)>,
    /// Anchors of the opponent's chains in the group's eyes, with their fates.
    pub intruders: Vec<(Point, Fate)>,
}

/// Maximum total size, in points, of the eyes that are read. Groups with larger eyes nearly always live.
const MAX_POINTS: usize = 7;
/// Number of positions after which reading is given up. Seven points have 2,187 fillings.
const MAX_POSITIONS: u32 = 20_000;
/// Longest line that is read, in plies.
const MAX_DEPTH: usize = 100;

/// Returns the group of the chain at `point` and its fate, or `None` if the group is not enclosed or its eyes are too
/// large.
///
/// `is_held` states whether a stone of the opponent outside the group is certain to stay on the board. A group is
/// called dead only if all stones that enclose it are held. `suicide` states whether a side may remove its own chains
/// of two or more stones.
pub fn read(board: &Board, point: Point, suicide: bool, is_held: impl Fn(Point) -> bool) -> Option<Enclosed> {
    let color = board.cell(point).color()?;
    let group = Group::of(board, point, color)?;
    let can_die = group.outside.iter().all(|&stone| is_held(stone));
    let mut reader = EyespaceReader::new(board, color, &group, suicide);
    let mut chains = Vec::new();
    for &anchor in &group.anchors {
        reader.target = anchor;
        // A ko counts as lost where life must be proved, and as won where death must be proved.
        let fate = if reader.ask(board, Goal::Survive, color.opponent(), false) == Some(true) {
            Fate::Alive
        } else if !can_die {
            Fate::Unknown
        } else if reader.ask(board, Goal::Survive, color, true) == Some(false) {
            Fate::Dead
        } else if reader.ask(board, Goal::Survive, color.opponent(), true) == Some(false)
            && reader.ask(board, Goal::Survive, color, false) == Some(true)
        {
            Fate::Unsettled
        } else {
            Fate::Unknown
        };
        chains.push((anchor, fate));
    }
    let all = |wanted: Fate| chains.iter().all(|&(_, fate)| fate == wanted);
    reader.target = group.anchors[0];
    let mut fate_inside = |intruder: Point| {
        if all(Fate::Dead) {
            Fate::Alive
        } else if !all(Fate::Alive) {
            if all(Fate::Unsettled) { Fate::Unsettled } else { Fate::Unknown }
        } else if reader.ask(board, Goal::Capture(intruder), color.opponent(), false) == Some(true) {
            Fate::Dead
        } else if reader.ask(board, Goal::Capture(intruder), color, true) == Some(false) {
            Fate::Alive
        } else {
            Fate::Unknown
        }
    };
    let intruders = group.intruders(board).into_iter().map(|anchor| (anchor, fate_inside(anchor))).collect();
    Some(Enclosed { chains, intruders })
}

/// Chains with the regions that they alone surround.
#[derive(Debug)]
struct Group {
    anchors: Vec<Point>,
    /// Points of the regions: empty points and stones of the opponent among them.
    inside: Vec<Point>,
    /// Stones of the opponent around the group.
    outside: Vec<Point>,
}

impl Group {
    /// Returns the enclosed group of a chain, or `None` if the chain is not enclosed.
    fn of(board: &Board, point: Point, color: Color) -> Option<Group> {
        let own = Cell::from(color);
        let mut group = Group { anchors: vec![board.anchor(point)], inside: Vec::new(), outside: Vec::new() };
        let mut next = 0;
        while let Some(&anchor) = group.anchors.get(next) {
            next += 1;
            for neighbour in board.chain(anchor).flat_map(Point::adjacent) {
                match board.cell(neighbour) {
                    Cell::Empty => group.add_region(board, neighbour, own)?,
                    cell if cell == own || cell == Cell::Border => {}
                    // Stones of the opponent lie in an eye or around the group. A region around the group is large.
                    _ => {
                        let before = (group.anchors.len(), group.inside.len());
                        if group.add_region(board, neighbour, own).is_none() {
                            group.anchors.truncate(before.0);
                            group.inside.truncate(before.1);
                        }
                    }
                }
            }
        }
        let stones = group.anchors.iter().flat_map(|&anchor| board.chain(anchor));
        let is_outside = |point: &Point| {
            board.cell(*point) == Cell::from(color.opponent()) && !group.inside.contains(point)
        };
        group.outside = stones.flat_map(Point::adjacent).filter(is_outside).collect();
        Some(group)
    }

    /// Adds the region of a point and the chains around it. Returns `None` if the regions become too large.
    fn add_region(&mut self, board: &Board, start: Point, own: Cell) -> Option<()> {
        if self.inside.contains(&start) {
            return Some(());
        }
        let mut next = self.inside.len();
        self.inside.push(start);
        while let Some(&point) = self.inside.get(next) {
            next += 1;
            for neighbour in point.adjacent() {
                let cell = board.cell(neighbour);
                if cell == own {
                    let anchor = board.anchor(neighbour);
                    if !self.anchors.contains(&anchor) {
                        self.anchors.push(anchor);
                    }
                } else if cell != Cell::Border && !self.inside.contains(&neighbour) {
                    self.inside.push(neighbour);
                }
            }
            if self.inside.len() > MAX_POINTS {
                return None;
            }
        }
        Some(())
    }

    /// Returns the anchors of the opponent's chains in the eyes.
    fn intruders(&self, board: &Board) -> Vec<Point> {
        let is_anchor = |point: &Point| board.cell(*point) != Cell::Empty && board.anchor(*point) == *point;
        self.inside.iter().copied().filter(is_anchor).collect()
    }
}

/// Goal of the group's owner.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Goal {
    /// The target is not captured.
    Survive,
    /// This stone in the eyes is captured, and the target survives.
    Capture(Point),
}

/// Reader of the fate of one chain of a group. Play is confined to the points of the group and its eyes.
#[derive(Debug)]
struct EyespaceReader {
    target: Point,
    color: Color,
    playable: Vec<Point>,
    suicide: bool,
    /// Result of a line that ends in a ko or a repetition.
    if_ko: bool,
    known: HashMap<(Goal, Key, Color, u8), bool>,
    path: Vec<Key>,
    /// Number of positions read so far, over all queries.
    positions: u32,
    life: LifeReader,
}

impl EyespaceReader {
    fn new(board: &Board, color: Color, group: &Group, suicide: bool) -> EyespaceReader {
        let stones = group.anchors.iter().flat_map(|&anchor| board.chain(anchor));
        EyespaceReader {
            target: group.anchors[0],
            color,
            playable: group.inside.iter().copied().chain(stones).collect(),
            suicide,
            if_ko: false,
            known: HashMap::new(),
            path: Vec::new(),
            positions: 0,
            life: LifeReader::default(),
        }
    }

    /// Returns whether the owner reaches the goal if `mover` plays first, or `None` if reading would take too long.
    fn ask(&mut self, board: &Board, goal: Goal, mover: Color, if_ko: bool) -> Option<bool> {
        let mut board = *board;
        board.pass(); // An existing ko does not concern this group.
        self.if_ko = if_ko;
        self.known.clear();
        self.path.clear();
        self.is_reached(&board, goal, mover, 0)
    }

    /// Implements [`ask`](Self::ask) for a position of a line, after `passes` consecutive passes. Results that depend
    /// on a repetition are stored like all others. They can err only towards `if_ko`, and nothing is concluded from a
    /// result equal to `if_ko`.
    fn is_reached(&mut self, board: &Board, goal: Goal, mover: Color, passes: u8) -> Option<bool> {
        if board.cell(self.target) != Cell::from(self.color) {
            return Some(false);
        }
        if let Goal::Capture(intruder) = goal
            && board.cell(intruder) != Cell::from(self.color.opponent())
        {
            return self.is_reached(board, Goal::Survive, mover, 0);
        }
        if passes >= 2 {
            return Some(goal == Goal::Survive);
        }
        if board.ko().is_some() || self.path.contains(&board.key()) && passes == 0 {
            return Some(self.if_ko);
        }
        let index = (goal, board.key(), mover, passes);
        if let Some(&known) = self.known.get(&index) {
            return Some(known);
        }
        self.positions += 1;
        if self.positions > MAX_POSITIONS {
            return None;
        }
        let is_reached = goal == Goal::Survive && self.lives_unconditionally(board)
            || self.try_moves(board, goal, mover, passes)?;
        self.known.insert(index, is_reached);
        Some(is_reached)
    }

    fn lives_unconditionally(&mut self, board: &Board) -> bool {
        self.life.read(board, self.color, self.suicide);
        self.life.chains.contains(self.target)
    }

    fn try_moves(&mut self, board: &Board, goal: Goal, mover: Color, passes: u8) -> Option<bool> {
        let wanted = mover == self.color;
        // A repeated position ends a line, but lines with many captures can be long nevertheless.
        if self.path.len() >= MAX_DEPTH {
            return None;
        }
        // Boxed, because the stack of a thread cannot hold a board for every move of a line.
        let mut after = Box::new(*board);
        self.path.push(board.key());
        let mut answer = Some(!wanted);
        for index in 0..self.playable.len() {
            let point = self.playable[index];
            let is_legal = board.cell(point) == Cell::Empty
                && (!board.is_suicide(point, mover)
                    || self.suicide && !board.is_single_stone_suicide(point, mover));
            if is_legal {
                *after = *board;
                after.play_unchecked(point, mover);
                answer = self.is_reached(&after, goal, mover.opponent(), 0);
                if answer != Some(!wanted) {
                    break;
                }
            }
        }
        // A pass is tried last.
        if answer == Some(!wanted) {
            answer = self.is_reached(board, goal, mover.opponent(), passes + 1);
        }
        self.path.pop();
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safety;

    /// Returns the fate of Black's largest chain.
    fn black(drawing: &str) -> Option<Fate> {
        let board: Board = drawing.parse().expect("drawing");
        let largest = board.stones().filter(|&(_, color)| color == Color::Black);
        let (point, _) = largest.max_by_key(|&(point, _)| board.chain_len(point)).expect("a black stone");
        let safe = safety::pass_alive(&board, Color::White, false).chains;
        let group = read(&board, point, false, |stone| safe.contains(stone))?;
        let (_, fate) = group.chains.into_iter().find(|&(anchor, _)| anchor == board.anchor(point))?;
        Some(fate)
    }

    /// Returns the fate of Black's group, given the bottom rows of a board that is White's otherwise.
    fn eye(rows: &str) -> Option<Fate> {
        let top = "\nO . O . O O O\nO O O O O O O\n";
        black(&(top.to_owned() + rows))
    }

    #[test]
    fn eyes_of_known_shape() {
        use Fate::{Alive, Dead, Unsettled};
        let rows = [
            ("XXXOOOO\nX.XOOOO\nXXXOOOO", Dead, "one point"),
            ("XXXXOOO\nX..XOOO\nXXXXOOO", Dead, "two points"),
            ("XXXXXOO\nX...XOO\nXXXXXOO", Unsettled, "three in a row"),
            ("XXXXXOO\nX.O.XOO\nXXXXXOO", Dead, "three in a row, the middle taken"),
            ("XXXXXXO\nX....XO\nXXXXXXO", Alive, "four in a row"),
            ("XXXXOOO\nX..XOOO\nX..XOOO\nXXXXOOO", Dead, "square"),
            ("XXXXXOO\nX..XXOO\nXX..XOO\nXXXXXOO", Alive, "zigzag"),
            ("XXXXXOO\nXX.XXOO\nX...XOO\nXXXXXOO", Unsettled, "pyramid four"),
            ("XXXXXOO\nX..XXOO\nX...XOO\nXXXXXOO", Unsettled, "bulky five"),
            ("OXXXOOO\nXX.XXOO\nX...XOO\nXX.XXOO\nXXXXXOO", Unsettled, "crossed five"),
            ("XXXXXOO\nX...XOO\nX...XOO\nXXXXXOO", Alive, "two by three"),
            ("XXXXOOO\n...XOOO\n...XOOO", Unsettled, "two by three in the corner"),
            ("XXXXOOO\nOO.XOOO\nO..XOOO", Dead, "three stones in it, and no liberties outside"),
            ("XXXXOOO\nX.OXOOO\nXOOXOOO\nXXXXOOO", Dead, "three stones in a square"),
            ("XXXXXOO\nXOO.XOO\n.OO.XOO", Alive, "seki: four stones, two shared liberties"),
            ("XXXXOOO\nX..XOOO\nOXXXOOO\n.OXOOOO", Alive, "stones in the corner that can be taken"),
        ];
        for (rows, expected, name) in rows {
            assert_eq!(eye(rows), Some(expected), "{name}");
        }
    }

    #[test]
    fn only_enclosed_groups_are_read() {
        assert_eq!(eye("XXXX.OO\nX..XOOO\nXXXXOOO"), None, "a liberty outside");
        assert_eq!(eye("XXXXXXO\nX.....X\nX.....X\nXXXXXXX"), None, "too large");
        // White's stones around the eye have only one eye themselves, so neither group can be called dead.
        assert_eq!(black("O.OOO\nOOOOO\nOXXXX\nOX..X\nOXXXX"), Some(Fate::Unknown));
    }

    /// Returns the fates of White's chains in the eyes of Black's group, from the lower left on.
    fn intruders(rows: &str) -> Vec<Fate> {
        let board: Board = ("O . O . O O O\nO O O O O O O\n".to_owned() + rows).parse().expect("drawing");
        let wall = board.stones().find(|&(_, color)| color == Color::Black).expect("a black stone").0;
        let safe = safety::pass_alive(&board, Color::White, false).chains;
        let mut group = read(&board, wall, false, |stone| safe.contains(stone)).expect("enclosed");
        group.intruders.sort_by_key(|&(anchor, _)| anchor);
        group.intruders.into_iter().map(|(_, fate)| fate).collect()
    }

    #[test]
    fn intruders_live_where_the_group_dies_and_in_seki() {
        use Fate::{Alive, Dead, Unsettled};
        let rows: [(&str, &[Fate], &str); 5] = [
            ("XXXXXOO\nX.O.XOO\nXXXXXOO", &[Alive], "on the vital point of three"),
            ("XXXXXXO\nX.O..XO\nXXXXXXO", &[Unsettled], "in a straight four, not answered"),
            ("XXXXXXO\nX.OX.XO\nXXXXXXO", &[Dead], "answered"),
            ("XXXXXOO\nX.OOXOO\nXXXXXOO", &[Alive], "two in three"),
            ("XXXXXOO\nXOO.XOO\n.OO.XOO", &[Alive], "seki"),
        ];
        for (rows, expected, name) in rows {
            assert_eq!(intruders(rows), expected, "{name}");
        }
    }

    #[test]
    fn unconditional_life_is_a_special_case() {
        let board: Board = "X.X.XO\nXXXXXO\nOOOOOO\nO.O.OO".parse().expect("drawing");
        let alive = safety::pass_alive(&board, Color::Black, false).chains;
        for (point, _) in board.stones().filter(|(point, _)| alive.contains(*point)) {
            let group = read(&board, point, false, |_| false).expect("enclosed");
            assert!(group.chains.iter().all(|&(_, fate)| fate == Fate::Alive));
        }
        assert!(!alive.is_empty());
    }
}
