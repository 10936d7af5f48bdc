//! A whole record as a tree: every node, variation and property, known or not.
//!
//! [`Record`](super::Record) is what an engine wants to know of a file; a tree is what a program wants to keep of
//! it, or to write. The nodes lie in one vector and know their children by number, so that no depth of variations
//! and no length of a line is too much for the stack.
//!
//! A value is kept as it stands between its brackets, escapes included: what is not understood here goes out as
//! it came in. Methods that take or give text add and remove the escapes.

use super::lexer::{Scanner, Token, decode, first_tree, text};
use super::values::{parse_move, vertex};
use super::{SgfError, SgfErrorKind, charset, find_size};
use crate::board::{BoardSize, Color, Move, Point};
use std::borrow::Cow;

/// Nodes, properties and values together that a file may have.
const MAX_ITEMS: usize = 1 << 21;

/// A node's number in its tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A property: a name of capital letters, and values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// As `B` or `LB`.
    pub name: Cow<'static, str>,
    /// What stands between the brackets, with its escapes.
    pub values: Vec<String>,
}

/// A node: properties, each name once, and the nodes behind it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TreeNode {
    properties: Vec<Property>,
    children: Vec<NodeId>,
}

impl TreeNode {
    /// The properties in their order.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// The nodes behind this one; the first goes on with the main line.
    pub fn children(&self) -> &[NodeId] {
        &self.children
    }

    /// The values of a property, none if the node does not have it.
    pub fn values(&self, name: &str) -> &[String] {
        self.properties.iter().find(|property| property.name == name).map_or(&[], |found| &found.values)
    }

    /// Has the node this property, even without a value?
    pub fn has(&self, name: &str) -> bool {
        self.properties.iter().any(|property| property.name == name)
    }

    /// The first text of a property, lines kept, without escapes; `None` if there is none.
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

/// A mark on a point. A point carries one of them at most.
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

    fn name(self) -> &'static str {
        Mark::NAMES[self as usize]
    }
}

/// What a comment thinks of a move. A move carries one of them at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
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

/// What a comment thinks of a position. A position carries one of them at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outlook {
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

/// A record with all of its variations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    size: BoardSize,
    nodes: Vec<TreeNode>,
}

impl Tree {
    /// A root without properties, for a board of this size.
    pub(super) fn bare(size: BoardSize) -> Tree {
        Tree { size, nodes: vec![TreeNode::default()] }
    }

    /// Reads the first game in a file with everything in it, as tolerantly as [`Record`](super::Record) does: a
    /// property that a node has twice becomes one, brackets and letters without sense are passed over.
    ///
    /// The main line has the nodes that [`Record`](super::Record) has, in the same order. All text is converted to
    /// UTF-8, and `CA` says so.
    ///
    /// # Errors
    /// If there is no game, no sensible size, or more than a record can need.
    pub fn parse(bytes: &[u8]) -> Result<Tree, SgfError> {
        let decoded = charset::read(bytes);
        let bytes = &*decoded.bytes;
        let start = first_tree(bytes).ok_or(SgfError { offset: 0, kind: SgfErrorKind::NoGame })?;
        let (size, _) = find_size(bytes, start)?;
        let mut tree = Tree { size, nodes: Vec::new() };
        let mut scanner = Scanner::new(bytes, start);
        // The node in front of the next one, and those to return to at a `)`.
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
                        // A file that forgot the first `;`.
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
                        // Behind a variation there are no properties.
                        continue;
                    }
                    let mut raw = decode(value.bytes).into_owned();
                    if raw.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1 {
                        // The file ended within an escape, which must not swallow a bracket that is written.
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

    /// Columns and rows.
    pub fn size(&self) -> BoardSize {
        self.size
    }

    /// The first node.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// A node.
    ///
    /// # Panics
    /// If the number is of another, larger tree.
    pub fn node(&self, id: NodeId) -> &TreeNode {
        &self.nodes[id.index()]
    }

    /// The first node, its first child, and so on to the end.
    pub fn main_line(&self) -> Vec<NodeId> {
        let mut line = vec![self.root()];
        while let Some(&next) = line.last().and_then(|&last| self.node(last).children.first()) {
            line.push(next);
        }
        line
    }

    /// A new node behind `parent`: the main line if it is the first, a variation otherwise.
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

    /// Takes a variation away, with everything behind it. Its nodes keep their numbers, but nothing leads to them.
    pub fn remove_child(&mut self, parent: NodeId, child: NodeId) {
        self.nodes[parent.index()].children.retain(|&other| other != child);
    }

    /// The move of a node, Black's if it has both.
    pub fn played(&self, id: NodeId) -> Option<Move> {
        let node = self.node(id);
        let value = node.values("B").first().or_else(|| node.values("W").first())?;
        parse_move(self.size, value.as_bytes())
    }

    /// A node to write to.
    ///
    /// # Panics
    /// If the number is of another, larger tree.
    pub fn at(&mut self, id: NodeId) -> NodeMut<'_> {
        NodeMut { size: self.size, node: &mut self.nodes[id.index()] }
    }
}

/// A node being written. Every method may be followed by the next: `tree.at(id).play(color, mv).comment("…")`.
#[derive(Debug)]
pub struct NodeMut<'a> {
    size: BoardSize,
    node: &'a mut TreeNode,
}

impl NodeMut<'_> {
    /// Gives a property this value alone, with escapes as they have to be; none removes it.
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

    /// Takes a property away.
    pub fn remove(self, name: &str) -> Self {
        self.node.remove(name);
        self
    }

    /// Takes properties over from another node, instead of those of the same name.
    pub fn copy(self, properties: &[Property]) -> Self {
        for Property { name, values } in properties {
            self.node.slot(name.clone()).clone_from(values);
        }
        self
    }

    /// Text in which lines matter, as `C` has. Nothing but blanks removes the property.
    pub fn text(self, name: &'static str, text: &str) -> Self {
        self.set(name, escaped(text, true, false))
    }

    /// Text on one line, as names have. Nothing but blanks removes the property.
    pub fn line(self, name: &'static str, text: &str) -> Self {
        self.set(name, escaped(text, false, false))
    }

    /// A number; none that is not finite.
    pub fn number(self, name: &'static str, number: impl Into<f64> + ToString + Copy) -> Self {
        let is_finite: bool = number.into().is_finite();
        self.set(name, is_finite.then(|| number.to_string()))
    }

    /// `C`, instead of an earlier one.
    pub fn comment(self, text: &str) -> Self {
        self.text("C", text)
    }

    /// `N`, the name of the node.
    pub fn name(self, name: &str) -> Self {
        self.line("N", name)
    }

    /// `B` or `W`.
    pub fn play(self, color: Color, mv: Move) -> Self {
        let value = mv.point().map(|point| vertex(self.size, point)).unwrap_or_default();
        self.set(letter(color), Some(value))
    }

    /// `PL`: whose turn it is.
    pub fn to_move(self, color: Color) -> Self {
        self.set("PL", Some(letter(color).to_owned()))
    }

    /// `AB`, `AW` or `AE`: a stone is set, or a point emptied.
    pub fn set_up(self, point: Point, stone: Option<Color>) -> Self {
        let value = vertex(self.size, point);
        let name = match stone {
            Some(Color::Black) => "AB",
            Some(Color::White) => "AW",
            None => "AE",
        };
        self.add(name, value)
    }

    /// A mark, instead of another one on the point.
    pub fn mark(self, point: Point, mark: Mark) -> Self {
        let value = vertex(self.size, point);
        let others = Mark::NAMES.into_iter().filter(|&name| name != mark.name());
        others.fold(self, |node, name| node.without(name, &value)).add(mark.name(), value)
    }

    /// Takes a mark away.
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

    /// `LB`: a short text on a point, instead of another one there.
    pub fn label(self, point: Point, text: &str) -> Self {
        let value = vertex(self.size, point);
        self.node.slot(Cow::Borrowed("LB")).retain(|other| !other.starts_with(&format!("{value}:")));
        match escaped(text, false, true) {
            Some(text) => self.add("LB", format!("{value}:{text}")),
            None if self.node.values("LB").is_empty() => self.remove("LB"),
            None => self,
        }
    }

    /// `BL` or `WL`, and `OB` or `OW`: the seconds that a player has left after the move, and in overtime the
    /// stones or periods.
    pub fn time_left(self, color: Color, seconds: f64, stones_or_periods: Option<u32>) -> Self {
        let (time, stones) = match color {
            Color::Black => ("BL", "OB"),
            Color::White => ("WL", "OW"),
        };
        let stones_or_periods = stones_or_periods.map(|count| count.to_string());
        // Milliseconds are what clocks are worth.
        self.number(time, (seconds * 1000.0).round() / 1000.0).set(stones, stones_or_periods)
    }

    /// `BM`, `DO`, `IT` or `TE`, instead of another one.
    pub fn judge(self, judgement: Judgement) -> Self {
        let (name, value) = match judgement {
            Judgement::Bad => ("BM", "1"),
            Judgement::VeryBad => ("BM", "2"),
            Judgement::Doubtful => ("DO", ""),
            Judgement::Interesting => ("IT", ""),
            Judgement::Good => ("TE", "1"),
            Judgement::VeryGood => ("TE", "2"),
        };
        let one = ["BM", "DO", "IT", "TE"].iter().fold(self, |node, name| node.remove(name));
        one.set(name, Some(value.to_owned()))
    }

    /// `DM`, `GB`, `GW` or `UC`, instead of another one.
    pub fn outlook(self, outlook: Outlook) -> Self {
        let (name, value) = match outlook {
            Outlook::Even => ("DM", "1"),
            Outlook::GoodForBlack => ("GB", "1"),
            Outlook::VeryGoodForBlack => ("GB", "2"),
            Outlook::GoodForWhite => ("GW", "1"),
            Outlook::VeryGoodForWhite => ("GW", "2"),
            Outlook::Unclear => ("UC", "1"),
        };
        let one = ["DM", "GB", "GW", "UC"].iter().fold(self, |node, name| node.remove(name));
        one.set(name, Some(value.to_owned()))
    }

    /// `HO`: a place to look at. `2` says: more so.
    pub fn hotspot(self, emphasis: u8) -> Self {
        self.set("HO", Some(if emphasis >= 2 { "2" } else { "1" }.to_owned()))
    }

    /// `V`: an estimate of the score in points, positive for Black.
    pub fn value(self, points: f64) -> Self {
        self.number("V", points)
    }
}

/// The letter of a colour, which is also the name of the property of its moves.
pub(super) fn letter(color: Color) -> &'static str {
    match color {
        Color::Black => "B",
        Color::White => "W",
    }
}

/// Text with escapes, without control characters; `None` if nothing is left to see.
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
