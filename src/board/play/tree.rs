//! Game tree of a table: the record with all of its variations, and the position of every node.
//!
//! Moves, comments and marks are stored in the record alone. An opened record is therefore saved completely, including
//! properties and variations that cannot be shown. No function recurses over the depth of the tree.

use super::table::{BadRecord, Refusal};
use crate::review::place;
use crate::words::color_letter;
use kosumi_go::board::{Board, BoardSize, Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{
    FollowOptions, Mark, Meta, NodeChange, NodeId, Record, SgfError, Strictness, Tree, with_set_up,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::mem;

/// Maximum number of moves of a line.
pub(super) const MAX_MOVES: usize = 3000;
/// Maximum number of nodes of a tree, including those that were removed.
const MAX_NODES: usize = 20_000;
/// Maximum size of a record, in bytes.
const MAX_RECORD_BYTES: usize = 5_000_000;
/// Maximum number of characters of a comment.
pub(super) const MAX_COMMENT_CHARACTERS: usize = 20_000;
/// Maximum total size of the comments that are written at the table, in bytes.
const MAX_COMMENT_BYTES: usize = 2_000_000;
/// Maximum number of set-ups on one path that are shown. Each of them needs a game of its own.
const MAX_SET_UPS: usize = 100;
/// Maximum number of points that a record may set up.
const MAX_SET_UP_POINTS: usize = 200_000;
/// Maximum number of removed variations that can be put back.
const MAX_REMOVED: usize = 50;
/// Maximum number of characters of a label on the board.
const MAX_LABEL_CHARACTERS: usize = 3;

/// Change that led to a position.
#[derive(Clone, PartialEq, Debug)]
enum Origin {
    /// A move, with the stones that it captured.
    Move { color: Color, mv: Move, lifted: Vec<Point> },
    /// A set-up: points that differ from the position before, `None` for a point that is now empty.
    SetUp(Vec<(Point, Option<Color>)>),
}

/// Position of a node.
#[derive(Clone, PartialEq, Debug)]
struct Position {
    parent: Option<NodeId>,
    /// Number of moves up to the position, passes included.
    moves: usize,
    origin: Origin,
    to_move: Color,
}

/// Variation that was removed and can be put back.
#[derive(Clone, PartialEq, Debug)]
struct Removed {
    parent: NodeId,
    /// Index among the children of the parent.
    index: usize,
    child: NodeId,
}

/// Game tree.
#[derive(Clone, Debug)]
pub(super) struct GameTree {
    record: Tree,
    /// Game at the root. Boxed, because a game is large and a thread's stack cannot hold many.
    start: Box<Game>,
    /// Position of each node by its number; `None` for a node that cannot be shown.
    positions: Vec<Option<Position>>,
    removed: Vec<Removed>,
    /// Total size of the comments that were written at the table, in bytes.
    written: usize,
    /// Nodes whose children have changed since [`GameTree::take_changed`].
    changed: BTreeSet<NodeId>,
}

/// Record that was opened.
#[derive(Debug)]
pub(super) struct OpenedTree {
    /// The tree.
    pub(super) tree: GameTree,
    /// The record of its main line.
    pub(super) record: Record,
    /// Whether the main line could be followed to its end.
    pub(super) is_whole: bool,
    /// Messages about the record.
    pub(super) notes: Vec<String>,
}

/// Change of the current game that is undone when the walk leaves a node.
enum UndoStep {
    /// Number of moves played, and the side to move before them.
    Moves(usize, Color),
    /// The game before a set-up, with which another game began.
    Game,
}

enum WalkStep {
    Enter(NodeId, Option<NodeId>),
    Leave(UndoStep),
}

impl GameTree {
    /// Creates the tree of a game without moves.
    pub(super) fn new(start: Game) -> GameTree {
        let record = Tree::of_game(&start, &Meta::default());
        let mut tree = GameTree::bare(record, start);
        tree.place_all(tree.root());
        tree
    }

    /// Creates a tree without positions.
    fn bare(record: Tree, start: Game) -> GameTree {
        let (positions, removed, start) = (Vec::new(), Vec::new(), Box::new(start));
        GameTree { record, start, positions, removed, written: 0, changed: BTreeSet::new() }
    }

    /// Opens a record. `rules` apply to a record that names none. A record that cannot be followed to its end is
    /// refused, unless `is_partial` is set.
    pub(super) fn open(bytes: &[u8], rules: Rules, is_partial: bool) -> Result<OpenedTree, BadRecord> {
        let too_long = |text: String| BadRecord { refusal: Refusal::TooLong, text, can_be_partial: false };
        if bytes.len() > MAX_RECORD_BYTES {
            return Err(too_long(format!("the record has more than {} MB", MAX_RECORD_BYTES / 1_000_000)));
        }
        let bad = |error: SgfError, can_be_partial| BadRecord {
            refusal: Refusal::BadRecord,
            text: error.located(bytes).to_string(),
            can_be_partial,
        };
        let record = Record::parse(bytes).map_err(|error| bad(error, false))?;
        let follow = FollowOptions { rules, up_to: None, strictness: Strictness::Tolerant };
        let followed = record.follow(&follow).map_err(|error| bad(error, false))?;
        if let Some(fault) = followed.fault.as_ref().filter(|_| !is_partial) {
            return Err(bad(fault.clone(), true));
        }
        let followed = followed.located(bytes);
        let mut notes: Vec<String> = followed.lines().collect();
        if record.move_count() > MAX_MOVES {
            return Err(too_long(format!("the game has more than {MAX_MOVES} moves")));
        }
        let is_whole = followed.fault.is_none();
        let mut tree = Tree::parse(bytes).map_err(|error| bad(error, false))?;
        if tree.node_count() > MAX_NODES {
            notes.push(format!(
                "the record has {} positions, and at most {MAX_NODES} can be shown: only the main line was opened",
                tree.node_count()
            ));
            tree = main_line_of(&tree);
        }
        let (rules, komi) = (followed.game.rules(), followed.game.komi());
        let mut start = None;
        let first = |_: usize, game: &Game| {
            start.get_or_insert_with(|| game.clone());
        };
        let replayed = record.replay_watched(rules, komi, None, Strictness::Tolerant, first);
        let start = replayed.ok().and(start).unwrap_or_else(|| Game::new(record.size, rules, komi));
        let root = tree.root();
        if record.rules().is_none() {
            tree.at(root).line("RU", &rules.code_name());
        }
        if record.komi.is_none() {
            tree.at(root).number("KM", komi);
        }
        let mut opened = GameTree::bare(tree, start);
        let hidden = opened.place_all(root);
        if hidden > 0 && is_whole {
            notes.push(format!("{hidden} positions of variations cannot be shown; they stay in the record"));
        }
        Ok(OpenedTree { tree: opened, record, is_whole, notes })
    }

    /// Computes the positions of a node and of all nodes below it. Returns the number of nodes that cannot be shown.
    fn place_all(&mut self, from: NodeId) -> usize {
        self.positions.resize(self.record.node_count(), None);
        let parent = self.parent(from);
        let is_root = from == self.root();
        let mut games = vec![match parent {
            Some(parent) => self.game_at(parent),
            None => (*self.start).clone(),
        }];
        let (mut hidden, mut set_ups, mut points) = (0, 0, 0);
        let mut todo = vec![WalkStep::Enter(from, parent)];
        while let Some(next) = todo.pop() {
            let (id, parent) = match next {
                WalkStep::Enter(id, parent) => (id, parent),
                WalkStep::Leave(UndoStep::Game) => {
                    games.pop();
                    set_ups -= 1;
                    continue;
                }
                WalkStep::Leave(UndoStep::Moves(count, to_move)) => {
                    if let Some(game) = games.last_mut() {
                        for _ in 0..count {
                            game.undo();
                        }
                        game.set_to_move(to_move);
                    }
                    continue;
                }
            };
            let change = self.record.change(id);
            let is_start = is_root && id == from;
            points += change.set_up.len();
            let sets_up = !change.set_up.is_empty() && !is_start;
            let moves = parent.and_then(|parent| self.position(parent)).map_or(0, |it| it.moves);
            if sets_up && (set_ups >= MAX_SET_UPS || points > MAX_SET_UP_POINTS) {
                hidden += self.count_below(id);
                continue;
            }
            let Some(game) = games.last_mut() else { break };
            let before = *game.board();
            let to_move = game.to_move();
            if sets_up {
                let next = with_set_up(game, &change.set_up);
                games.push(next);
                set_ups += 1;
            }
            let Some(game) = games.last_mut() else { break };
            let first = game.records().len();
            let played = play_change(game, &change, is_start);
            let count = game.records().len() - first;
            let back = if sets_up { UndoStep::Game } else { UndoStep::Moves(count, to_move) };
            let is_long = moves + count > MAX_MOVES;
            if (!played && !is_start) || is_long {
                hidden += self.count_below(id);
                // Undoes the moves of this node that were played before one failed.
                todo.push(WalkStep::Leave(back));
                continue;
            }
            let origin = match (&game.records()[first..], sets_up || is_start) {
                ([record], false) => {
                    Origin::Move { color: record.color, mv: record.mv, lifted: record.lifted.to_vec() }
                }
                _ if is_start => Origin::SetUp(difference(&Board::new(game.size()), game)),
                _ => Origin::SetUp(difference(&before, game)),
            };
            let to_move = self.next_color(id).unwrap_or_else(|| game.to_move());
            self.positions[id.number()] = Some(Position { parent, moves: moves + count, origin, to_move });
            todo.push(WalkStep::Leave(back));
            let children = self.record.node(id).children();
            todo.extend(children.iter().rev().map(|&child| WalkStep::Enter(child, Some(id))));
        }
        hidden
    }

    /// Colour of the first move after a node, if its first child has a move.
    fn next_color(&self, id: NodeId) -> Option<Color> {
        let &first = self.record.node(id).children().first()?;
        let node = self.record.node(first);
        match (node.has("B"), node.has("W")) {
            (true, false) => Some(Color::Black),
            (false, true) => Some(Color::White),
            _ => None,
        }
    }

    /// Returns the number of nodes of the subtree at a node, that node included.
    fn count_below(&self, id: NodeId) -> usize {
        let (mut todo, mut count) = (vec![id], 0);
        while let Some(id) = todo.pop() {
            count += 1;
            todo.extend(self.record.node(id).children());
        }
        count
    }

    fn position(&self, id: NodeId) -> Option<&Position> {
        self.positions.get(id.number())?.as_ref()
    }

    /// Returns the root.
    pub(super) fn root(&self) -> NodeId {
        self.record.root()
    }

    /// Returns the board size.
    pub(super) fn size(&self) -> BoardSize {
        self.start.size()
    }

    /// Returns the game at the root.
    pub(super) fn start(&self) -> &Game {
        &self.start
    }

    /// Returns the node with a number, if it is in the tree and can be shown.
    pub(super) fn node(&self, number: usize) -> Option<NodeId> {
        let id = self.record.node_id(number)?;
        self.path(id).map(|_| id)
    }

    /// Returns the side to move at a node.
    pub(super) fn to_move(&self, id: NodeId) -> Option<Color> {
        Some(self.position(id)?.to_move)
    }

    /// Sets the side to move at a node.
    pub(super) fn set_to_move(&mut self, id: NodeId, color: Color) {
        if let Some(Some(position)) = self.positions.get_mut(id.number()) {
            position.to_move = color;
        }
    }

    /// Returns the nodes whose side to move does not follow from the moves of the record, with that side.
    pub(super) fn turns(&self) -> Vec<(NodeId, Color)> {
        let follows = |&(id, color): &(NodeId, Color)| {
            let start = Some(self.start.to_move()).filter(|_| id == self.root());
            let usual = self.played(id).map(|it| it.0.opponent()).or(start);
            self.next_color(id).or(usual) == Some(color)
        };
        let nodes = self.nodes_from(self.root()).into_iter();
        nodes.filter_map(|id| Some((id, self.to_move(id)?))).filter(|it| !follows(it)).collect()
    }

    /// Returns the parent of a node.
    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.position(id)?.parent
    }

    /// Returns the children of a node, without those that cannot be shown.
    pub(super) fn children(&self, id: NodeId) -> Vec<NodeId> {
        let children = self.record.node(id).children();
        children.iter().copied().filter(|&child| self.position(child).is_some()).collect()
    }

    /// Returns the number of moves from the root to a node, passes included.
    pub(super) fn moves(&self, id: NodeId) -> usize {
        self.position(id).map_or(0, |it| it.moves)
    }

    /// Returns the move of a node, unless it is a set-up.
    pub(super) fn played(&self, id: NodeId) -> Option<(Color, Move)> {
        match self.position(id)?.origin {
            Origin::Move { color, mv, .. } => Some((color, mv)),
            Origin::SetUp(_) => None,
        }
    }

    /// Returns the nodes from the root to a node; `None` if the node was removed or cannot be shown.
    pub(super) fn path(&self, id: NodeId) -> Option<Vec<NodeId>> {
        let mut path = vec![id];
        let mut last = id;
        while let Some(parent) = self.position(last)?.parent {
            if !self.record.node(parent).children().contains(&last) {
                return None;
            }
            path.push(parent);
            last = parent;
        }
        path.reverse();
        Some(path)
    }

    /// Returns whether `ancestor` is on the path from the root to `id`.
    pub(super) fn is_on_path(&self, ancestor: NodeId, id: NodeId) -> bool {
        self.path(id).is_some_and(|path| path.contains(&ancestor))
    }

    /// Returns the last node of the line that begins at a node and follows first children.
    pub(super) fn end_of(&self, id: NodeId) -> NodeId {
        let mut last = id;
        while let Some(next) =
            self.record.node(last).children().iter().copied().find(|&child| self.position(child).is_some())
        {
            last = next;
        }
        last
    }

    /// Returns the game at a node, with the side to move that the record implies.
    pub(super) fn game_at(&self, id: NodeId) -> Game {
        let mut game = (*self.start).clone();
        for id in self.path(id).unwrap_or_default() {
            let is_start = id == self.root();
            let change = self.record.change(id);
            if !change.set_up.is_empty() && !is_start {
                game = with_set_up(&game, &change.set_up);
            }
            // These moves could be played when the tree was opened, so they succeed.
            play_change(&mut game, &change, is_start);
        }
        if let Some(it) = self.position(id) {
            game.set_to_move(it.to_move);
        }
        game
    }

    /// Returns the child of a node that plays a move.
    pub(super) fn child(&self, id: NodeId, color: Color, mv: Move) -> Option<NodeId> {
        self.record.node(id).children().iter().copied().find(|&child| self.played(child) == Some((color, mv)))
    }

    /// Returns whether there is space for another node.
    pub(super) fn has_space(&self) -> bool {
        self.record.node_count() < MAX_NODES
    }

    /// Adds a node for the latest move of a game. The node becomes the last child of `parent`.
    pub(super) fn add(&mut self, parent: NodeId, game: &Game) -> Option<NodeId> {
        let record = game.records().last()?;
        let id = self.record.add(parent);
        self.changed.insert(parent);
        self.record.at(id).play(record.color, record.mv);
        let origin = Origin::Move { color: record.color, mv: record.mv, lifted: record.lifted.to_vec() };
        let moves = self.moves(parent) + 1;
        self.positions.push(Some(Position { parent: Some(parent), moves, origin, to_move: game.to_move() }));
        Some(id)
    }

    /// Makes a node the first child of its parent.
    pub(super) fn put_first(&mut self, id: NodeId) {
        if let Some(parent) = self.parent(id).filter(|&parent| self.children(parent).first() != Some(&id)) {
            self.record.put_child(parent, 0, id);
            self.changed.insert(parent);
        }
    }

    /// Moves the line of a node in front of the variation that it leaves. Returns `None` if the node is on the main
    /// line.
    pub(super) fn promote(&mut self, id: NodeId) -> Option<()> {
        let path = self.path(id)?;
        let (parent, child) = path
            .windows(2)
            .map(|pair| (pair[0], pair[1]))
            .rfind(|&(parent, child)| self.children(parent).first() != Some(&child))?;
        self.record.put_child(parent, 0, child);
        self.changed.insert(parent);
        Some(())
    }

    /// Removes a node with everything below it. Returns its parent. Returns `None` for the root, which stays.
    pub(super) fn remove(&mut self, id: NodeId) -> Option<NodeId> {
        let parent = self.parent(id)?;
        let index = self.record.node(parent).children().iter().position(|&child| child == id)?;
        self.record.remove_child(parent, id);
        self.changed.insert(parent);
        self.removed.push(Removed { parent, index, child: id });
        let surplus = self.removed.len().saturating_sub(MAX_REMOVED);
        self.removed.drain(..surplus);
        Some(parent)
    }

    /// Puts back the variation that was removed last, if its parent is still in the tree. Returns its first node.
    pub(super) fn put_back(&mut self) -> Option<NodeId> {
        let Removed { parent, index, child } = self.removed.pop()?;
        self.path(parent)?;
        self.record.put_child(parent, index, child);
        self.changed.insert(parent);
        Some(child)
    }

    /// Returns the nodes whose children have changed since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<NodeId> {
        mem::take(&mut self.changed)
    }

    /// Returns the number of nodes, including those that were removed.
    pub(super) fn node_count(&self) -> usize {
        self.record.node_count()
    }

    /// Returns the number of removed variations that can be put back.
    pub(super) fn removed(&self) -> usize {
        self.removed.len()
    }

    /// Sets the comment of a node.
    pub(super) fn comment(&mut self, id: NodeId, text: &str) -> Result<(), Refusal> {
        let is_long =
            text.chars().count() > MAX_COMMENT_CHARACTERS || self.written + text.len() > MAX_COMMENT_BYTES;
        if is_long {
            return Err(Refusal::TooLong);
        }
        self.written += text.len();
        self.record.at(id).comment(text);
        Ok(())
    }

    /// Returns the record.
    pub(super) fn record(&self) -> &Tree {
        &self.record
    }

    /// Returns all nodes that can be shown, each after its parent, in the order of the record. The children of a node
    /// keep their order.
    pub(super) fn nodes_from(&self, id: NodeId) -> Vec<NodeId> {
        let (mut todo, mut nodes) = (vec![id], Vec::new());
        while let Some(id) = todo.pop() {
            nodes.push(id);
            let children = self.record.node(id).children();
            todo.extend(children.iter().rev().filter(|&&child| self.position(child).is_some()));
        }
        nodes
    }

    /// Returns the number that each node gets when the record is read again; `None` for nodes that were removed.
    pub(super) fn numbers(&self) -> Vec<Option<usize>> {
        let mut numbers = vec![None; self.record.node_count()];
        let (mut todo, mut count) = (vec![self.root()], 0);
        while let Some(id) = todo.pop() {
            numbers[id.number()] = Some(count);
            count += 1;
            todo.extend(self.record.node(id).children().iter().rev());
        }
        numbers
    }

    /// Returns a node as data for pages: number, parent, number of moves, side to move, then the move and the stones
    /// that it captured, or the points that were set up, the comment, and the marks.
    pub(super) fn data(&self, id: NodeId) -> Value {
        let Some(it) = self.position(id) else { return Value::Null };
        let size = self.size();
        let mut data = Map::new();
        let mut put = |name: &str, value: Value| data.insert(name.to_owned(), value);
        put("i", id.number().into());
        if let Some(parent) = it.parent {
            put("p", parent.number().into());
        }
        put("n", it.moves.into());
        put("t", color_letter(it.to_move).to_string().into());
        let at = |point: Point| place(size, Move::Play(point));
        match &it.origin {
            Origin::Move { color, mv, lifted } => {
                put("m", format!("{}{}", color_letter(*color), place(size, *mv)).into());
                if !lifted.is_empty() {
                    put("x", lifted.iter().map(|&point| at(point)).collect::<String>().into());
                }
            }
            Origin::SetUp(points) => {
                let of = |stone: Option<Color>| {
                    points.iter().filter(|it| it.1 == stone).map(|it| at(it.0)).collect::<String>()
                };
                put("s", json!([of(Some(Color::Black)), of(Some(Color::White)), of(None)]));
            }
        }
        if let Some(comment) = self.record.node(id).text("C") {
            put("c", comment.into());
        }
        let marks = self.marks(id);
        if !marks.is_empty() {
            put("l", marks.into());
        }
        Value::Object(data)
    }

    /// Returns the marks of a node as lists of a place, and a kind or the text of a label.
    fn marks(&self, id: NodeId) -> Vec<Value> {
        let size = self.size();
        let kinds = [Mark::Triangle, Mark::Square, Mark::Circle, Mark::Cross];
        let mut marks = Vec::new();
        for (point, label) in self.record.labels(id) {
            let label: String = label.chars().take(MAX_LABEL_CHARACTERS).collect();
            marks.push(json!([place(size, Move::Play(point)), "LB", label]));
        }
        for kind in kinds {
            let points = self.record.marked(id, kind).into_iter();
            marks.extend(points.map(|point| json!([place(size, Move::Play(point)), kind.name()])));
        }
        marks.truncate(size.area());
        marks
    }
}

/// Plays the moves of a node, after setting the side to move. At the start of a game, the side to move is already set.
/// Returns whether all moves could be played.
fn play_change(game: &mut Game, change: &NodeChange, is_start: bool) -> bool {
    if let Some(color) = change.to_move.filter(|_| !is_start) {
        game.set_to_move(color);
    }
    change.moves.iter().all(|&(color, mv)| mv.is_some_and(|mv| game.play_tolerant(color, mv).is_ok()))
}

/// Returns the points at which the board of a game differs from `before`.
fn difference(before: &Board, game: &Game) -> Vec<(Point, Option<Color>)> {
    let board = game.board();
    let points = game.size().points().filter(|&point| board.cell(point) != before.cell(point));
    points.map(|point| (point, board.cell(point).color())).collect()
}

/// Returns a record that contains only the main line of another one.
fn main_line_of(tree: &Tree) -> Tree {
    let mut short = Tree::new(tree.size());
    let mut last = short.root();
    for (number, &id) in tree.main_line().iter().enumerate() {
        if number > 0 {
            last = short.add(last);
        }
        short.at(last).copy(tree.node(id).properties());
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> OpenedTree {
        GameTree::open(text.as_bytes(), Rules::default(), false).unwrap()
    }

    /// Returns the moves of all nodes in the order of the record, as places, each with the number of the parent.
    fn shown(tree: &GameTree) -> Vec<String> {
        let of = |id: NodeId| {
            let data = tree.data(id);
            let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
            format!("{}<{}{}", text("m"), data["p"], text("c"))
        };
        tree.nodes_from(tree.root()).into_iter().map(of).collect()
    }

    const RECORD: &str = "(;SZ[9]KM[6.5]RU[Japanese]XX[kept]LB[aa:A][bb:\\]long]\
        ;B[cc]C[a [b\\] c](;W[gg];B[cg])(;W[gc]TR[cc]N[name];AB[ee]AE[cc]C[set up];W[ed]))";

    #[test]
    fn an_opened_record_keeps_everything() {
        let OpenedTree { tree, notes, .. } = open(RECORD);
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(tree.record().to_string(), Tree::parse(RECORD.as_bytes()).unwrap().to_string());
        assert_eq!(
            shown(&tree),
            ["<null", "Bcc<0a [b] c", "Wgg<1", "Bcg<2", "Wgc<1", "<4set up", "Wed<5"].map(str::to_owned)
        );
        let data = |number: usize| tree.data(tree.node(number).unwrap());
        assert_eq!(data(0)["l"], json!([["aa", "LB", "A"], ["bb", "LB", "]lo"]]));
        assert_eq!((&data(4)["l"], &data(5)["s"]), (&json!([["cc", "TR"]]), &json!(["ee", "", "cc"])));
        assert_eq!((&data(6)["n"], &data(5)["t"]), (&json!(3), &json!("W")));
        let game = tree.game_at(tree.node(6).unwrap());
        assert_eq!((game.board().stone_count(), game.to_move()), (3, Color::Black));
        assert_eq!(tree.numbers(), (0..7).map(Some).collect::<Vec<_>>());
    }

    #[test]
    fn variations_are_added_promoted_removed_and_put_back() {
        let mut tree = open(RECORD).tree;
        let node = |tree: &GameTree, number| tree.node(number).unwrap();
        let first = node(&tree, 1);
        let mut game = tree.game_at(first);
        let mv = Move::Play(tree.size().point(0, 0).unwrap());
        game.play(Color::White, mv).unwrap();
        let added = tree.add(first, &game).unwrap();
        assert_eq!(tree.child(first, Color::White, mv), Some(added));
        assert_eq!(tree.children(first).iter().map(|id| id.number()).collect::<Vec<_>>(), [2, 4, 7]);
        assert_eq!(tree.promote(node(&tree, 6)), Some(()));
        assert_eq!(tree.promote(node(&tree, 6)), None, "it is the main line now");
        assert_eq!(tree.end_of(tree.root()).number(), 6);
        assert_eq!(tree.remove(node(&tree, 2)), Some(first));
        assert_eq!((tree.node(3), tree.removed()), (None, 1));
        assert!(!tree.record().to_string().contains("[gg]"));
        assert_eq!(tree.put_back().map(NodeId::number), Some(2));
        assert_eq!(tree.children(first).iter().map(|id| id.number()).collect::<Vec<_>>(), [4, 2, 7]);
        assert_eq!((tree.remove(tree.root()), tree.put_back()), (None, None));
        // The parent of the removed variation is removed as well.
        tree.remove(node(&tree, 5)).unwrap();
        tree.remove(node(&tree, 4)).unwrap();
        tree.removed.swap(0, 1);
        assert_eq!(tree.put_back(), None);
        assert_eq!(tree.take_changed().into_iter().map(NodeId::number).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(tree.comment(first, &"x".repeat(MAX_COMMENT_CHARACTERS + 1)), Err(Refusal::TooLong));
        tree.comment(first, "]\\ <b>").unwrap();
        assert_eq!(open(&tree.record().to_string()).tree.data(first)["c"], "]\\ <b>");
    }

    #[test]
    fn hostile_records_are_bounded() {
        // 100,000 variations are too many, so only the main line is opened.
        let wide = format!("(;SZ[9];B[aa]{})", "(;W[bb];B[cc])".repeat(100_000));
        let opened = open(&wide);
        assert_eq!(shown(&opened.tree).len(), 4);
        assert!(opened.notes[0].contains("200002 positions"), "{:?}", opened.notes);
        // Deep variations with moves that cannot be played, and with set-ups.
        let deep = format!("(;SZ[9];B[aa](;W[bb])(;W[aa]{}))", ";B[cc];W[cc]".repeat(5_000));
        let opened = open(&deep);
        assert_eq!(shown(&opened.tree).len(), 3);
        assert!(opened.notes[0].contains("10001 positions"), "{:?}", opened.notes);
        let set_ups = format!("(;SZ[19];B[aa](;W[bb])({}))", ";AB[aa:ss]".repeat(5_000));
        assert!(shown(&open(&set_ups).tree).len() <= 3 + MAX_SET_UPS);
        let nested = format!("(;SZ[9];B[aa](;W[bb]){}{})", "(;W[cc]".repeat(9_000), ")".repeat(9_000));
        assert!(shown(&open(&nested).tree).len() < 10);
        let long: String = (0..9_000).map(|number| if number % 2 == 0 { ";B[]" } else { ";W[]" }).collect();
        let long = open(&format!("(;SZ[9];B[aa](;W[bb])(;W[cc]{long}))"));
        assert_eq!(shown(&long.tree).len(), MAX_MOVES + 2, "a variation is as long as a game at most");
        let comment = format!("(;SZ[9]C[{}];B[aa])", "x".repeat(10_000_000));
        for (text, reason) in [(comment, "5 MB"), (format!("(;SZ[9]{})", ";B[]".repeat(3001)), "3000 moves")]
        {
            let bad = GameTree::open(text.as_bytes(), Rules::default(), true).unwrap_err();
            assert_eq!(bad.refusal, Refusal::TooLong);
            assert!(bad.text.contains(reason), "{}", bad.text);
        }
    }
}
