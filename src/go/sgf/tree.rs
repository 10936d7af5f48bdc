//! A whole record as a tree, with every node, variation and property, whether known or not.
//!
//! A [`Record`](super::Record) contains what an engine needs from a file. A tree contains what a program must preserve
//! or write. The nodes are stored in one vector and refer to their children by index, so that neither deep variations
//! nor long lines overflow the stack.
//!
//! A value is stored as it is written between its brackets, including escapes, so unknown properties are written back
//! unchanged. Methods that take or return text add and remove the escapes.

use super::lexer::{Scanner, Token, decode, first_tree, text};
use super::values::{parse_color, parse_move, parse_points, vertex};
use super::{SgfError, SgfErrorKind, charset, find_size};
use crate::board::{BoardSize, Color, Move, Point};
use std::borrow::Cow;

/// Maximum number of nodes, properties and values in a file, in total.
const MAX_ITEMS: usize = 1 << 21;

/// Index of a node in its tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the number of the node in its tree. The root has number 0, and a node that is added has the next free
    /// number.
    pub fn number(self) -> usize {
        self.index()
    }
}

/// A property: a name in capital letters, and its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// Name, such as `B` or `LB`.
    pub name: Cow<'static, str>,
    /// Values as written between the brackets, including escapes.
    pub values: Vec<String>,
}

/// A node: its properties, each name once, and its children.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TreeNode {
    properties: Vec<Property>,
    children: Vec<NodeId>,
}

impl TreeNode {
    /// Returns the properties in their order.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// Returns the children of the node. The first one continues the main line.
    pub fn children(&self) -> &[NodeId] {
        &self.children
    }

    /// Returns the values of a property. There are none if the node does not have it.
    pub fn values(&self, name: &str) -> &[String] {
        self.properties.iter().find(|property| property.name == name).map_or(&[], |found| &found.values)
    }

    /// Returns whether the node has this property, even without a value.
    pub fn has(&self, name: &str) -> bool {
        self.properties.iter().any(|property| property.name == name)
    }

    /// Returns the first non-empty text of a property, without escapes and with line ends preserved, or `None`.
    pub fn text(&self, name: &str) -> Option<String> {
        self.values(name).iter().map(|value| text(value.as_bytes(), true)).find(|text| !text.is_empty())
    }

    fn slot(&mut self, name: Cow<'static, str>) -> &mut Vec<String> {
        let found = self.properties.iter().position(|property| property.name == name);
        let at = found.unwrap_or(self.properties.len());
        if found.is_none() {
            self.properties.push(Property { name, values: Vec::new() });
        }
        &mut self.properties[at].values
    }

    fn remove(&mut self, name: &str) {
        self.properties.retain(|property| property.name != name);
    }
}

/// Mark on a point. A point carries at most one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// `TR`
    Triangle,
    /// `SQ`
    Square,
    /// `CR`
    Circle,
    /// `MA`, an X
    Cross,
}

impl Mark {
    const NAMES: [&'static str; 4] = ["TR", "SQ", "CR", "MA"];

    /// Returns the name of the property.
    pub fn name(self) -> &'static str {
        Mark::NAMES[self as usize]
    }
}

/// Annotation of a move. A move carries at most one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveAnnotation {
    /// `BM`
    Bad,
    /// `BM[2]`
    VeryBad,
    /// `DO`
    Doubtful,
    /// `IT`
    Interesting,
    /// `TE`
    Good,
    /// `TE[2]`
    VeryGood,
}

/// Annotation of a position. A position carries at most one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PositionAnnotation {
    /// `DM`
    Even,
    /// `GB`
    GoodForBlack,
    /// `GB[2]`
    VeryGoodForBlack,
    /// `GW`
    GoodForWhite,
    /// `GW[2]`
    VeryGoodForWhite,
    /// `UC`
    Unclear,
}

/// Change of the position by a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeChange {
    /// Points that are set up before the moves. `None` empties a point.
    pub set_up: Vec<(Point, Option<Color>)>,
    /// Side to move after the set-up, if the node sets it.
    pub to_move: Option<Color>,
    /// Moves, usually one. `None` is a text that is not a move.
    pub moves: Vec<(Color, Option<Move>)>,
}

/// Maximum number of points that [`Tree::change`] sets up, a multiple of the points of the largest board.
const MAX_SET_UP_POINTS: usize = 2500;

/// A record with all of its variations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    size: BoardSize,
    nodes: Vec<TreeNode>,
}

impl Tree {
    /// Creates a tree whose root has no properties, for a board of this size.
    pub(super) fn bare(size: BoardSize) -> Tree {
        Tree { size, nodes: vec![TreeNode::default()] }
    }

    /// Reads the complete first game in a file, as tolerantly as [`Record`](super::Record) does. A repeated property of
    /// a node becomes one property. Meaningless brackets and letters are skipped.
    ///
    /// The main line has the same nodes in the same order as that of [`Record`](super::Record). All text is converted
    /// to UTF-8, and `CA` is set accordingly.
    ///
    /// # Errors
    /// Returns an error if the file contains no game or no valid size, or if the file is too large for a game record.
    pub fn parse(bytes: &[u8]) -> Result<Tree, SgfError> {
        let decoded = charset::read(bytes);
        let bytes = &*decoded.bytes;
        let start = first_tree(bytes).ok_or(SgfError { offset: 0, kind: SgfErrorKind::NoGame })?;
        let (size, _) = find_size(bytes, start)?;
        let mut tree = Tree { size, nodes: Vec::new() };
        let mut scanner = Scanner::new(bytes, start);
        // Parent of the next node, and the nodes to return to at a `)`.
        let mut current: Option<NodeId> = None;
        let mut branches = Vec::new();
        let mut name: Option<Cow<'static, str>> = None;
        let mut items = 0;
        while let Some(token) = scanner.next() {
            items += 1;
            if items > MAX_ITEMS {
                return Err(SgfError { offset: scanner.at, kind: SgfErrorKind::TooLong });
            }
            match token {
                Token::Open => {
                    name = None;
                    branches.push(current);
                }
                Token::Close => match branches.pop() {
                    Some(before) => {
                        name = None;
                        current = before;
                    }
                    None => break,
                },
                Token::Semicolon => {
                    name = None;
                    current = Some(tree.push(current));
                }
                Token::Name(_, at) => {
                    if current.is_none() {
                        // The file lacks the first `;`.
                        current = Some(tree.push(None));
                    }
                    let letters = bytes.get(at..scanner.at).unwrap_or_default();
                    let capitals = letters.iter().filter(|byte| byte.is_ascii_uppercase());
                    let found: String = match letters {
                        b"b" | b"w" => {
                            letters.to_ascii_uppercase().iter().map(|&byte| char::from(byte)).collect()
                        }
                        _ => capitals.map(|&byte| char::from(byte)).collect(),
                    };
                    name = (!found.is_empty()).then_some(Cow::Owned(found));
                }
                Token::Value(value) => {
                    let Some((id, name)) = current.zip(name.clone()) else { continue };
                    if !tree.node(id).children.is_empty() {
                        // Properties after a variation are invalid.
                        continue;
                    }
                    let mut raw = decode(value.bytes).into_owned();
                    if raw.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1 {
                        // The file ended within an escape, which must not escape the bracket that is written after the
                        // value.
                        raw.pop();
                    }
                    tree.nodes[id.index()].slot(name).push(raw);
                }
            }
        }
        if tree.nodes.is_empty() {
            return Err(SgfError { offset: start, kind: SgfErrorKind::NoGame });
        }
        tree.at(NodeId(0)).line("CA", "UTF-8");
        Ok(tree)
    }

    /// Returns the board size.
    pub fn size(&self) -> BoardSize {
        self.size
    }

    /// Returns the first node.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// Returns the node with this number, even if it was removed, or `None` if there is no such node.
    pub fn node_id(&self, number: usize) -> Option<NodeId> {
        (number < self.nodes.len()).then_some(NodeId(number as u32))
    }

    /// Returns the number of nodes, including those that were removed.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns a node.
    ///
    /// # Panics
    /// Panics if the index is beyond the nodes of this tree.
    pub fn node(&self, id: NodeId) -> &TreeNode {
        &self.nodes[id.index()]
    }

    /// Returns the nodes of the main line: the root, its first child, and so on to the end.
    pub fn main_line(&self) -> Vec<NodeId> {
        let mut line = vec![self.root()];
        while let Some(&next) = line.last().and_then(|&last| self.node(last).children.first()) {
            line.push(next);
        }
        line
    }

    /// Adds a node as a child of `parent`. The first child continues the main line, the others are variations.
    pub fn add(&mut self, parent: NodeId) -> NodeId {
        self.push(Some(parent))
    }

    fn push(&mut self, parent: Option<NodeId>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(TreeNode::default());
        if let Some(parent) = parent {
            self.nodes[parent.index()].children.push(id);
        }
        id
    }

    /// Removes a variation with all its nodes. The nodes keep their indices but are no longer reachable.
    pub fn remove_child(&mut self, parent: NodeId, child: NodeId) {
        self.nodes[parent.index()].children.retain(|&other| other != child);
    }

    /// Puts a variation that was removed, or that stands elsewhere in the tree, at `index` among the children of
    /// `parent`. An index beyond the last child means the end.
    ///
    /// # Panics
    /// Panics if a node is beyond the nodes of this tree.
    pub fn put_child(&mut self, parent: NodeId, index: usize, child: NodeId) {
        self.remove_child(parent, child);
        let children = &mut self.nodes[parent.index()].children;
        let index = index.min(children.len());
        children.insert(index, child);
    }

    /// Returns the set-up, the side to move and the moves of a node.
    pub fn change(&self, id: NodeId) -> NodeChange {
        let node = self.node(id);
        let mut change = NodeChange::default();
        for Property { name, values } in node.properties() {
            let bytes = values.iter().map(String::as_bytes);
            let (is_stone, color) = match &**name {
                "B" | "AB" => (name.len() == 2, Some(Color::Black)),
                "W" | "AW" => (name.len() == 2, Some(Color::White)),
                "AE" => (true, None),
                "PL" => {
                    change.to_move = bytes.filter_map(parse_color).next_back();
                    continue;
                }
                _ => continue,
            };
            match color {
                Some(color) if !is_stone => {
                    change.moves.extend(bytes.map(|value| (color, parse_move(self.size, value))));
                }
                _ => {
                    let points = bytes.filter_map(|value| parse_points(self.size, value));
                    let left = MAX_SET_UP_POINTS.saturating_sub(change.set_up.len());
                    change.set_up.extend(points.flatten().take(left).map(|point| (point, color)));
                }
            }
        }
        change
    }

    /// Returns the points of a node with this mark.
    pub fn marked(&self, id: NodeId, mark: Mark) -> Vec<Point> {
        let values = self.node(id).values(mark.name()).iter();
        let points = values.filter_map(|value| parse_points(self.size, value.as_bytes()));
        points.flatten().take(MAX_SET_UP_POINTS).collect()
    }

    /// Returns the labels of a node, without escapes.
    pub fn labels(&self, id: NodeId) -> Vec<(Point, String)> {
        let label = |value: &String| {
            let (at, label) = value.split_once(':')?;
            let &[point] = &parse_points(self.size, at.as_bytes())?[..] else { return None };
            Some((point, text(label.as_bytes(), false))).filter(|(_, label)| !label.is_empty())
        };
        self.node(id).values("LB").iter().filter_map(label).take(MAX_SET_UP_POINTS).collect()
    }

    /// Returns the move of a node, Black's if it has both.
    pub fn played(&self, id: NodeId) -> Option<Move> {
        let node = self.node(id);
        let value = node.values("B").first().or_else(|| node.values("W").first())?;
        parse_move(self.size, value.as_bytes())
    }

    /// Returns a node for writing.
    ///
    /// # Panics
    /// Panics if the index is beyond the nodes of this tree.
    pub fn at(&mut self, id: NodeId) -> NodeMut<'_> {
        NodeMut { size: self.size, node: &mut self.nodes[id.index()] }
    }
}

/// A node for writing. The methods can be chained: `tree.at(id).play(color, mv).comment("…")`.
#[derive(Debug)]
pub struct NodeMut<'a> {
    size: BoardSize,
    node: &'a mut TreeNode,
}

impl NodeMut<'_> {
    /// Sets a property to this single value, which must be escaped already. `None` removes the property.
    fn set(self, name: &'static str, value: Option<String>) -> Self {
        match value {
            Some(value) => *self.node.slot(Cow::Borrowed(name)) = vec![value],
            None => self.node.remove(name),
        }
        self
    }

    fn add(self, name: &'static str, value: String) -> Self {
        let values = self.node.slot(Cow::Borrowed(name));
        if !values.contains(&value) {
            values.push(value);
        }
        self
    }

    /// Removes a property.
    pub fn remove(self, name: &str) -> Self {
        self.node.remove(name);
        self
    }

    /// Copies properties from another node. They replace those of the same name.
    pub fn copy(self, properties: &[Property]) -> Self {
        for Property { name, values } in properties {
            self.node.slot(name.clone()).clone_from(values);
        }
        self
    }

    /// Sets a text with line ends, such as `C`. Text without visible characters removes the property.
    pub fn text(self, name: &'static str, text: &str) -> Self {
        self.set(name, escaped(text, true, false))
    }

    /// Sets a text of one line, such as a name. Text without visible characters removes the property.
    pub fn line(self, name: &'static str, text: &str) -> Self {
        self.set(name, escaped(text, false, false))
    }

    /// Sets a number. A number that is not finite removes the property.
    pub fn number(self, name: &'static str, number: impl Into<f64> + ToString + Copy) -> Self {
        let is_finite: bool = number.into().is_finite();
        self.set(name, is_finite.then(|| number.to_string()))
    }

    /// Sets `C`, the comment.
    pub fn comment(self, text: &str) -> Self {
        self.text("C", text)
    }

    /// Sets `N`, the name of the node.
    pub fn name(self, name: &str) -> Self {
        self.line("N", name)
    }

    /// Sets the move, `B` or `W`.
    pub fn play(self, color: Color, mv: Move) -> Self {
        let value = mv.point().map(|point| vertex(self.size, point)).unwrap_or_default();
        self.set(letter(color), Some(value))
    }

    /// Sets `PL`, the side to move.
    pub fn to_move(self, color: Color) -> Self {
        self.set("PL", Some(letter(color).to_owned()))
    }

    /// Adds a point to `AB`, `AW` or `AE`: sets a stone or empties a point.
    pub fn set_up(self, point: Point, stone: Option<Color>) -> Self {
        let value = vertex(self.size, point);
        let name = match stone {
            Some(Color::Black) => "AB",
            Some(Color::White) => "AW",
            None => "AE",
        };
        self.add(name, value)
    }

    /// Sets a mark on a point, replacing any other mark there.
    pub fn mark(self, point: Point, mark: Mark) -> Self {
        let value = vertex(self.size, point);
        let others = Mark::NAMES.into_iter().filter(|&name| name != mark.name());
        others.fold(self, |node, name| node.without(name, &value)).add(mark.name(), value)
    }

    /// Removes a mark.
    pub fn unmark(self, point: Point, mark: Mark) -> Self {
        let value = vertex(self.size, point);
        self.without(mark.name(), &value)
    }

    fn without(self, name: &'static str, value: &str) -> Self {
        if self.node.has(name) {
            let values = self.node.slot(Cow::Borrowed(name));
            values.retain(|other| other != value);
            if values.is_empty() {
                self.node.remove(name);
            }
        }
        self
    }

    /// Sets `LB`, a short text on a point, replacing any other text there.
    pub fn label(self, point: Point, text: &str) -> Self {
        let value = vertex(self.size, point);
        self.node.slot(Cow::Borrowed("LB")).retain(|other| !other.starts_with(&format!("{value}:")));
        match escaped(text, false, true) {
            Some(text) => self.add("LB", format!("{value}:{text}")),
            None if self.node.values("LB").is_empty() => self.remove("LB"),
            None => self,
        }
    }

    /// Sets `BL` or `WL`, the time left for a player after the move in seconds, and `OB` or `OW`, the stones or periods
    /// left in overtime.
    pub fn time_left(self, color: Color, seconds: f64, stones_or_periods: Option<u32>) -> Self {
        let (time, stones) = match color {
            Color::Black => ("BL", "OB"),
            Color::White => ("WL", "OW"),
        };
        let stones_or_periods = stones_or_periods.map(|count| count.to_string());
        // Clocks are precise to milliseconds.
        self.number(time, (seconds * 1000.0).round() / 1000.0).set(stones, stones_or_periods)
    }

    /// Sets `BM`, `DO`, `IT` or `TE`, replacing any other annotation of the move.
    pub fn judge(self, judgement: MoveAnnotation) -> Self {
        let (name, value) = match judgement {
            MoveAnnotation::Bad => ("BM", "1"),
            MoveAnnotation::VeryBad => ("BM", "2"),
            MoveAnnotation::Doubtful => ("DO", ""),
            MoveAnnotation::Interesting => ("IT", ""),
            MoveAnnotation::Good => ("TE", "1"),
            MoveAnnotation::VeryGood => ("TE", "2"),
        };
        let one = ["BM", "DO", "IT", "TE"].iter().fold(self, |node, name| node.remove(name));
        one.set(name, Some(value.to_owned()))
    }

    /// Sets `DM`, `GB`, `GW` or `UC`, replacing any other annotation of the position.
    pub fn outlook(self, outlook: PositionAnnotation) -> Self {
        let (name, value) = match outlook {
            PositionAnnotation::Even => ("DM", "1"),
            PositionAnnotation::GoodForBlack => ("GB", "1"),
            PositionAnnotation::VeryGoodForBlack => ("GB", "2"),
            PositionAnnotation::GoodForWhite => ("GW", "1"),
            PositionAnnotation::VeryGoodForWhite => ("GW", "2"),
            PositionAnnotation::Unclear => ("UC", "1"),
        };
        let one = ["DM", "GB", "GW", "UC"].iter().fold(self, |node, name| node.remove(name));
        one.set(name, Some(value.to_owned()))
    }

    /// Sets `HO`, which marks a position of interest. An emphasis of 2 or more is written as `2`.
    pub fn hotspot(self, emphasis: u8) -> Self {
        self.set("HO", Some(if emphasis >= 2 { "2" } else { "1" }.to_owned()))
    }

    /// Sets `V`, an estimate of the score in points, positive for Black.
    pub fn value(self, points: f64) -> Self {
        self.number("V", points)
    }
}

/// Returns the letter of a colour, which is also the name of the property of its moves.
pub(super) fn letter(color: Color) -> &'static str {
    match color {
        Color::Black => "B",
        Color::White => "W",
    }
}

/// Returns the text with escapes and without control characters, or `None` if no visible text remains.
fn escaped(text: &str, lines: bool, colons: bool) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    for character in text.replace("\r\n", "\n").trim().chars() {
        match character {
            '\n' | '\r' => out.push(if lines { '\n' } else { ' ' }),
            ':' if colons => out.push_str("\\:"),
            '\\' | ']' => out.extend(['\\', character]),
            _ if character.is_whitespace() => out.push(' '),
            _ if character.is_control() => {}
            _ => out.push(character),
        }
    }
    (!out.is_empty()).then_some(out)
}
