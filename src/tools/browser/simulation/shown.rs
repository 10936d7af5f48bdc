//! Windows, as the script of the page keeps what it has read (`pages/study/tree.js`, `play/play.js`).

use super::searched::{Drawn, OUTLOOK};
use kosumi_go::board::BoardSize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// State that a window shows.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Shown {
    /// Nodes by number.
    pub(super) nodes: BTreeMap<u64, Value>,
    pub(super) children: BTreeMap<u64, Vec<u64>>,
    pub(super) state: Value,
    /// Nodes of the game that were analysed while the window was open.
    analysed: BTreeMap<u64, Value>,
    /// Number of engines so far. Every process has another one.
    engines: u64,
}

impl Shown {
    /// Creates a window that has read nothing.
    pub(super) fn new(engines: u64) -> Shown {
        Shown { engines, ..Shown::default() }
    }

    /// Reads a message, and checks that the numbers in it belong to their positions.
    pub(super) fn read(&mut self, message: &Value) {
        match message["is"].as_str() {
            Some("state") => {
                if self.state["game"] != message["game"] || self.state["session"] != message["session"] {
                    self.analysed.clear();
                }
                self.state = message.clone();
            }
            Some("tree") => self.read_tree(message),
            Some("thought") => {
                let number = message["at"].as_u64().expect("a number");
                if self.state.is_null() || !self.nodes.contains_key(&number) {
                    return;
                }
                self.drawn(number).check_numbers(&message["numbers"], self.engines);
                self.analysed.insert(number, message["numbers"]["a"].clone());
            }
            Some("judged") if self.state["game"] == message["game"] => {
                for message in message["nodes"].as_array().into_iter().flatten() {
                    let number = message["i"].as_u64().expect("a number");
                    if let Some(node) = self.nodes.get_mut(&number) {
                        node["j"] = message["j"].clone();
                        self.check_node(number);
                    }
                }
            }
            Some(name @ ("judging" | "review")) if !self.state.is_null() => {
                self.state[name] = message[name].clone();
            }
            _ => {}
        }
    }

    fn read_tree(&mut self, message: &Value) {
        if message["whole"] == true {
            (self.nodes, self.children) = Default::default();
            self.analysed.clear();
        }
        for node in message["nodes"].as_array().into_iter().flatten() {
            let number = node["i"].as_u64().expect("a number");
            if let Some(parent) = node["p"].as_u64() {
                let children = self.children.entry(parent).or_default();
                if !children.contains(&number) {
                    children.push(number);
                }
            }
            self.nodes.insert(number, node.clone());
        }
        for order in message["order"].as_array().into_iter().flatten() {
            let parent = order[0].as_u64().expect("a number");
            let children: Vec<u64> = serde_json::from_value(order[1].clone()).expect("numbers");
            let before = self.children.insert(parent, children.clone()).unwrap_or_default();
            let mut gone: Vec<u64> = before.into_iter().filter(|child| !children.contains(child)).collect();
            while let Some(number) = gone.pop() {
                self.nodes.remove(&number);
                gone.extend(self.children.remove(&number).into_iter().flatten());
            }
        }
        for node in message["nodes"].as_array().into_iter().flatten() {
            self.check_node(node["i"].as_u64().expect("a number"));
        }
    }

    /// Checks that the numbers of a node belong to its position, and its judgement to its move.
    fn check_node(&self, number: u64) {
        let node = &self.nodes[&number];
        let here = self.drawn(number);
        let before = node["p"].as_u64().map(|parent| self.drawn(parent));
        let color = node["m"].as_str().and_then(|mv| mv.chars().next());
        let before = before.zip(color).map(|(before, color)| before.with_turn(color));
        if let Some(figures) = node["e"].as_array() {
            let found = (figures[0].as_i64().expect("a"), figures[1].as_i64().expect("a"));
            let is_analysis = (0..self.engines).any(|engine| here.worth(engine) == found);
            // The engine that played the move has searched the position before it.
            let is_outlook = before.as_ref().is_some_and(|before| {
                (0..self.engines).any(|engine| before.worth(engine | OUTLOOK) == found)
            });
            assert!(is_analysis || is_outlook, "{node} has the numbers of another position");
        }
        let mut judged = node["j"].clone();
        if judged.is_null() {
            return;
        }
        if !judged["a"].is_null() {
            here.check_numbers(&judged, self.engines);
        }
        let Some(before) = before else {
            assert!(judged["j"].is_null(), "{node} has no move");
            return;
        };
        if color == Some(here.turn) {
            // The same side moves again, so these numbers do not show what the move lost.
            judged["a"] = Value::Null;
        }
        before.check_judgement(&here, &judged, self.engines);
    }

    /// Returns the position of a node as the page draws it.
    pub(super) fn drawn(&self, number: u64) -> Drawn {
        let mut path = vec![number];
        while let Some(parent) = self.nodes[path.last().expect("a node")]["p"].as_u64() {
            path.push(parent);
        }
        let mut drawn = Drawn::default();
        path.iter().rev().for_each(|number| drawn.draw(&self.nodes[number]));
        drawn
    }

    /// Returns the nodes of the tree with their numbers, each node before its children.
    pub(super) fn tree(&self) -> Vec<&Value> {
        let (mut tree, mut waiting) = (Vec::new(), vec![0]);
        while let Some(number) = waiting.pop() {
            let node = self.nodes.get(&number).unwrap_or_else(|| panic!("node {number} was not sent"));
            tree.push(node);
            waiting.extend(self.children.get(&number).into_iter().flatten().rev());
        }
        tree
    }

    /// Returns the tree with all numbers except the evaluations for the curve, of which only the existence counts: a
    /// window prefers those of the latest analysis, and a new window does not know which those are.
    pub(super) fn comparable(&self) -> Vec<Value> {
        let nodes = self.tree().into_iter().map(|node| {
            let mut node = node.clone();
            let is_analysed =
                !node["e"].is_null() || self.analysed.contains_key(&node["i"].as_u64().expect("a"));
            node["e"] = json!(is_analysed);
            node
        });
        nodes.collect()
    }

    /// Returns the tree without the numbers that have a meaning only within one session.
    pub(super) fn line_of_tree(&self) -> Vec<String> {
        let text = |node: &Value| format!("{} {} {}", node["n"], node["m"], node["c"]);
        self.tree().into_iter().map(text).collect()
    }

    pub(super) fn number(&self, name: &str) -> u64 {
        self.state[name].as_u64().expect("a number")
    }

    pub(super) fn size(&self) -> BoardSize {
        BoardSize::new(self.number("columns") as usize, self.number("rows") as usize).expect("a size")
    }

    /// Returns whether a problem is on the table.
    pub(super) fn has_problem(&self) -> bool {
        !self.state["tsumego"].is_null()
    }

    /// Returns the part of the state that is the same after a restart.
    pub(super) fn lasting(&self) -> Value {
        let names = [
            "columns",
            "rows",
            "rules",
            "komi",
            "handicap",
            "count_moves",
            "study",
            "turn",
            "seats",
            "names",
            "phase",
            "result",
            "paused",
        ];
        names.into_iter().map(|name| (name, self.state[name].clone())).collect()
    }
}
