//! Records with variations, and a plain model of what a table shows of them.

use super::searched::Drawn;
use super::shown::Shown;
use kosumi_board::review::place;
use kosumi_go::board::{BoardSize, Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::with_set_up;
use std::fmt::Write;

/// Node of a drawn record.
#[derive(Clone)]
struct Node {
    parent: Option<usize>,
    children: Vec<usize>,
    /// Properties as text.
    text: String,
    comment: String,
    mv: Option<String>,
    /// Number of moves up to the node, and the game there; `None` below a move that cannot be played.
    position: Option<(u64, Box<Game>)>,
}

/// Record that was drawn.
pub(super) struct DrawnRecord {
    pub(super) text: String,
    /// Whether all moves of the main line can be played.
    pub(super) is_whole: bool,
    nodes: Vec<Node>,
}

fn letters(size: BoardSize, point: Point) -> String {
    place(size, Move::Play(point))
}

/// Returns the value of a property as a record contains it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace(']', "\\]")
}

impl DrawnRecord {
    /// Draws a record with variations. A few of its moves cannot be played.
    pub(super) fn draw(rng: &mut Rng) -> DrawnRecord {
        let size = BoardSize::new(2 + rng.below(4) as usize, 2 + rng.below(4) as usize).expect("a size");
        let rules = Rules::preset("chinese").expect("rules").rules;
        let mut root = format!("FF[4]GM[1]SZ[{}:{}]", size.columns(), size.rows());
        for (text, chance) in
            [("KM[5.5]", 500), ("RU[Japanese]", 300), ("RU[unknown]", 100), ("PB[A]PW[B]", 300)]
        {
            if rng.chance(chance) && !(text.starts_with("RU") && root.contains("RU")) {
                root += text;
            }
        }
        if rng.chance(200) {
            root += ["RE[B+R]", "RE[W+2.5]", "RE[?]"][rng.below(3) as usize];
        }
        let mut start = Game::new(size, rules, 0.0);
        if rng.chance(400) {
            let (text, game) = DrawnRecord::draw_set_up(&start, rng, 4, false);
            start = game;
            root += &text;
        }
        let first = Node {
            parent: None,
            children: Vec::new(),
            text: root,
            comment: String::new(),
            mv: None,
            position: Some((0, Box::new(start))),
        };
        let mut record = DrawnRecord { text: String::new(), is_whole: true, nodes: vec![first] };
        for _ in 0..rng.below(16) {
            // Most nodes continue the latest one.
            let count = record.nodes.len();
            let parent = if rng.chance(700) { count - 1 } else { rng.below(count as u32) as usize };
            record.add(parent, rng);
        }
        let mut at = 0;
        while let Some(&child) = record.nodes[at].children.first() {
            at = child;
        }
        record.is_whole = record.nodes[at].position.is_some();
        record.text = record.write();
        record
    }

    /// Draws a set-up of at most this many points. Returns its properties and the game after it.
    fn draw_set_up(game: &Game, rng: &mut Rng, most: u32, removes: bool) -> (String, Game) {
        let size = game.size();
        let (mut text, mut set_up) = (String::new(), Vec::new());
        let mut points: Vec<Point> = size.points().collect();
        rng.shuffle(&mut points);
        let kinds = [("AB", Some(Color::Black)), ("AW", Some(Color::White)), ("AE", None)];
        for &(name, stone) in &kinds[..if removes { 3 } else { 2 }] {
            let chosen: Vec<Point> = (0..rng.below(most)).filter_map(|_| points.pop()).collect();
            if !chosen.is_empty() {
                text += name;
            }
            for point in chosen {
                let _ = write!(text, "[{}]", letters(size, point));
                set_up.push((point, stone));
            }
        }
        if set_up.is_empty() {
            return (text, game.clone());
        }
        let next = with_set_up(game, &set_up);
        let is_set = |&(point, stone): &(Point, Option<Color>)| next.board().cell(point).color() == stone;
        let count = size.points().filter(|&point| game.board().cell(point).color().is_some());
        let kept = count.filter(|point| set_up.iter().all(|it| it.0 != *point)).count();
        let stones = kept + set_up.iter().filter(|it| it.1.is_some()).count();
        // Stones without a liberty would be left out.
        if set_up.iter().all(is_set) && next.board().stone_count() == stones {
            (text, next)
        } else {
            (String::new(), game.clone())
        }
    }

    fn add(&mut self, parent: usize, rng: &mut Rng) {
        let before = self.nodes[parent].position.clone();
        let size = self.size();
        let mut text;
        let mut mv = None;
        let position = match before {
            // Below a move that cannot be played, nothing is shown.
            None => {
                text = "B[aa]".to_owned();
                None
            }
            Some((count, game)) if rng.chance(100) => {
                let next;
                (text, next) = DrawnRecord::draw_set_up(&game, rng, 3, true);
                Some((count, Box::new(next)))
            }
            Some((count, mut game)) => {
                let color = if rng.chance(850) { game.to_move() } else { game.to_move().opponent() };
                let point = size.points().nth(rng.below(size.area() as u32) as usize).expect("a point");
                let chosen = if rng.chance(900) { Move::Play(point) } else { Move::Pass };
                let board = game.board();
                let is_occupied = chosen.point().is_some_and(|point| board.cell(point).color().is_some());
                // Whether a stone that captures itself can be played depends on the rules.
                let is_suicide =
                    chosen.point().is_some_and(|point| board.is_single_stone_suicide(point, color));
                // Most records have only moves that can be played.
                let is_replaced = (is_occupied && rng.chance(900)) || is_suicide;
                let chosen = if is_replaced { Move::Pass } else { chosen };
                let name = if color == Color::Black { "B" } else { "W" };
                let at = chosen.point().map_or(String::new(), |point| letters(size, point));
                text = format!("{name}[{at}]");
                mv = Some(format!("{name}{}", place(size, chosen)));
                game.play_tolerant(color, chosen).is_ok().then_some((count + 1, game))
            }
        };
        let comment = if rng.chance(200) { format!("a [b] \\c{}", rng.below(10)) } else { String::new() };
        if !comment.is_empty() {
            let _ = write!(text, "C[{}]", escaped(&comment));
        }
        let number = self.nodes.len();
        self.nodes[parent].children.push(number);
        self.nodes.push(Node { parent: Some(parent), children: Vec::new(), text, comment, mv, position });
    }

    fn size(&self) -> BoardSize {
        self.nodes[0].position.as_ref().expect("the root").1.size()
    }

    fn write(&self) -> String {
        let mut text = String::from("(");
        // `None` closes a variation.
        let mut todo = vec![Some(0)];
        while let Some(next) = todo.pop() {
            let Some(number) = next else {
                text.push(')');
                continue;
            };
            let node = &self.nodes[number];
            let is_variation = node.parent.is_some_and(|parent| self.nodes[parent].children.len() > 1);
            text += if is_variation { "(;" } else { ";" };
            text += &node.text;
            if is_variation {
                todo.push(None);
            }
            todo.extend(node.children.iter().rev().map(|&child| Some(child)));
        }
        text + ")"
    }

    /// Checks that a window shows exactly the nodes that can be shown, with their positions, and stands at the end of
    /// the main line.
    pub(super) fn check(&self, shown: &Shown) {
        let (mut expected, mut todo) = (Vec::new(), vec![0]);
        while let Some(number) = todo.pop() {
            if self.nodes[number].position.is_some() {
                expected.push(number);
                todo.extend(self.nodes[number].children.iter().rev());
            }
        }
        let tree = shown.tree();
        assert_eq!(tree.len(), expected.len(), "{}", self.text);
        for (message, &number) in tree.iter().zip(&expected) {
            let node = &self.nodes[number];
            let (count, game) = node.position.as_ref().expect("a position");
            assert_eq!(message["n"], *count, "{message}: {}", self.text);
            assert_eq!(message["m"].as_str(), node.mv.as_deref(), "{message}: {}", self.text);
            assert_eq!(message["c"].as_str().unwrap_or_default(), node.comment, "{message}: {}", self.text);
            let parent =
                node.parent.map(|parent| expected.iter().position(|&it| it == parent).expect("before"));
            assert_eq!(message["p"].as_u64(), parent.and_then(|index| tree[index]["i"].as_u64()));
            let drawn = shown.drawn(message["i"].as_u64().expect("a number"));
            assert_eq!(drawn.stones, Drawn::of(game).stones, "{message}: {}", self.text);
        }
        let mut end = 0;
        while let Some(&child) =
            self.nodes[end].children.iter().find(|&&child| self.nodes[child].position.is_some())
        {
            end = child;
        }
        let index = expected.iter().position(|&it| it == end).expect("the end");
        assert_eq!(shown.state["at"], tree[index]["i"], "{}", self.text);
        assert_eq!((&shown.state["study"], shown.size()), (&true.into(), self.size()));
    }
}
