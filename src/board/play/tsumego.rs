//! Problems of life and death that are played against the solver. (The problems made of a player's own worst moves are
//! judged by searches: see [`judgements`](super::judgements).)
//!
//! A problem on the table is a study whose moves the solver judges. The verdict on an answer is proven, or taken from
//! the record's own solution, or undecided.

mod goal;
mod solution;

pub use goal::ProblemGoal;

use super::message::PageRequest;
use super::table::BadRecord;
use super::tree::GameTree;
use crate::review::place;
use crate::words::color_letter;
use goal::StatedProblem;
use kosumi_go::board::{Board, Color, Move};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::collection::{CollectionPiece, Splitter};
use kosumi_go::sgf::{Meta, NodeId, write};
use kosumi_solve::{Aim, JudgedAnswer, Outcome, Question, Region, Success, judge_answer, read_with_region};
use serde::Serialize;
use serde_json::{Value, json};
use solution::RecordedSolution;

/// Collection of the built-in problems.
const OWN: &str = include_str!("tsumego/own.sgf");
/// Maximum number of problems of a collection.
const MAX_PROBLEMS: usize = 1000;
/// Maximum size of all records of a collection, in bytes.
const MAX_COLLECTION_BYTES: usize = 1_500_000;
/// Number of records that are examined to recognise a file as a collection of problems.
const EXAMINED: usize = 20;
/// Maximum number of nodes for the first reading of a problem, half of them for each of its two attempts, and for
/// judging and answering a move. In a browser a reading cannot be interrupted, so it must not take more than seconds.
const MAX_NODES: u64 = 200_000;
/// Factor of [`MAX_NODES`] where a reading can be interrupted.
pub(super) const PATIENCE: u64 = 4;
/// Size of each transposition table, in bytes. A reading has up to three.
const TABLE_BYTES: usize = 8 << 20;

/// Returns the problems of a file, or the built-in ones if the file is empty, as data for pages: their records, and the
/// number of records that could not be read or are too many.
pub(super) fn read_collection(bytes: &[u8], rules: Rules) -> Value {
    let bytes = if bytes.is_empty() { OWN.as_bytes() } else { bytes };
    let (mut problems, mut size, mut left_out) = (Vec::new(), 0, 0);
    for_each_record(bytes, &mut |record| {
        let read = record.and_then(|record| ProblemRecord::read(record, rules).ok());
        let Some(read) = read.filter(|_| problems.len() < MAX_PROBLEMS) else {
            left_out += 1;
            return;
        };
        let text = read.tree.record().to_string();
        size += text.len();
        if size > MAX_COLLECTION_BYTES {
            left_out += 1;
            return;
        }
        let root = read.tree.record().node(read.tree.root());
        let name = root.text("GN").or_else(|| root.text("N")).unwrap_or_default();
        let name: String = name.chars().take(60).collect();
        problems.push(
            json!({ "text": text, "name": name, "turn": color_letter(read.stated.player).to_string() }),
        );
    });
    json!({ "is": "tsumego", "problems": problems, "left": left_out })
}

/// Calls a function with each record of a collection, or with `None` for a record that is too long.
fn for_each_record(bytes: &[u8], then: &mut dyn FnMut(Option<&[u8]>)) {
    let mut splitter = Splitter::new(MAX_COLLECTION_BYTES);
    let mut take = |piece: CollectionPiece<'_>| match piece {
        CollectionPiece::Record(record) => then(Some(record.bytes)),
        CollectionPiece::TooLong { .. } => then(None),
    };
    splitter.push(bytes, &mut take);
    splitter.finish(&mut take);
}

/// Returns whether a file is a collection of problems, or a record that states its goal.
pub(super) fn is_collection(bytes: &[u8], rules: Rules) -> bool {
    let (mut count, mut are_set_up, mut is_goal_named) = (0, true, false);
    for_each_record(bytes, &mut |record| {
        count += 1;
        if count > EXAMINED || !are_set_up {
            return;
        }
        let read = record.and_then(|record| ProblemRecord::read(record, rules).ok());
        is_goal_named = read.as_ref().is_some_and(|read| read.stated.goal.is_some());
        are_set_up = read.is_some_and(|read| {
            let game = read.game();
            let has = |color| game.board().stones().any(|it| it.1 == color);
            let root = read.tree.record().node(read.tree.root());
            Color::BOTH.into_iter().all(has) && !root.has("HA") && !root.has("RE")
        });
    });
    are_set_up && (count > 1 || is_goal_named)
}

/// Problem, with the statements of its record.
#[derive(Clone, Debug)]
struct ProblemRecord {
    tree: GameTree,
    /// Node of the problem's position.
    start: NodeId,
    stated: StatedProblem,
    solution: Option<RecordedSolution>,
}

impl ProblemRecord {
    fn read(bytes: &[u8], rules: Rules) -> Result<ProblemRecord, BadRecord> {
        let tree = GameTree::open(bytes, rules, true)?.tree;
        let mut start = tree.root();
        // The problem's position is the one before the first move.
        while let Some(&next) = tree.children(start).first().filter(|&&child| tree.played(child).is_none()) {
            start = next;
        }
        let stated = StatedProblem::read(&tree, start);
        let solution = RecordedSolution::read(&tree, start);
        Ok(ProblemRecord { tree, start, stated, solution })
    }

    /// Returns the position with the player of the problem to move.
    fn game(&self) -> Game {
        let mut game = self.tree.game_at(self.start);
        game.set_to_move(self.stated.player);
        game
    }
}

/// Verdict on a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    /// Nothing is lost, and the opponent has replied.
    Right,
    /// The goal is reached, whatever the opponent plays.
    Solved,
    /// The move works only with a ko, but another move works without one or with a better ko.
    Ko,
    /// The move misses the goal.
    Wrong,
    /// Neither the solver nor the record decides it.
    Undecided,
}

/// A judged move.
#[derive(Clone, PartialEq, Eq, Debug)]
struct JudgedMove {
    node: NodeId,
    verdict: Verdict,
    is_of_record: bool,
}

/// State of the first reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FirstReading {
    /// The reading has yet to be done, if the goal is known.
    Pending,
    /// Best outcome that the player can reach; `None` if it is undecided.
    Done(Option<Outcome>),
}

/// Problem on the table.
#[derive(Clone, Debug)]
pub(super) struct ActiveProblem {
    /// Key that the page gives to the problem.
    key: String,
    record: ProblemRecord,
    goal: Option<ProblemGoal>,
    /// Region to read and aim of the solver for the goal; `None` if the board has no such group.
    question: Option<(Region, Aim)>,
    first: FirstReading,
    /// Move to be judged, and the moves from the start up to it.
    pending: Option<(NodeId, Vec<Move>)>,
    judged: Vec<JudgedMove>,
}

/// Moves to be added to the tree after a judged move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Continuation {
    pub(super) node: NodeId,
    pub(super) moves: Vec<Move>,
    /// Whether play continues after the moves. Otherwise they are only shown as a variation.
    pub(super) goes_on: bool,
}

impl ActiveProblem {
    /// Reads a problem. `goal` replaces the goal of the record.
    pub(super) fn read(
        key: String,
        bytes: &[u8],
        goal: Option<ProblemGoal>,
        rules: Rules,
    ) -> Result<ActiveProblem, BadRecord> {
        let record = ProblemRecord::read(bytes, rules)?;
        let goal = goal.or(record.stated.goal);
        let board = *record.game().board();
        let question = goal.and_then(|goal| record.stated.question(&board, goal));
        let first = match question {
            None if goal.is_some() => FirstReading::Done(None),
            _ => FirstReading::Pending,
        };
        Ok(ActiveProblem { key, record, goal, question, first, pending: None, judged: Vec::new() })
    }

    /// Returns a record of the position alone.
    pub(super) fn position(&self) -> String {
        write(&self.record.game(), &Meta::default())
    }

    /// Returns the side that solves the problem, the player.
    pub(super) fn player(&self) -> Color {
        self.record.stated.player
    }

    /// Returns whether a move can be judged now, because the first reading is done.
    pub(super) fn is_open(&self) -> bool {
        self.pending.is_none() && self.goal.is_some() && self.first != FirstReading::Pending
    }

    /// Returns whether a request may be answered while a problem is on the table.
    pub(super) fn admits(request: &PageRequest) -> bool {
        use PageRequest as It;
        matches!(
            request,
            It::New { .. }
                | It::Load { .. }
                | It::Restore { .. }
                | It::Play { .. }
                | It::Comment { .. }
                | It::Remove { .. }
                | It::PutBack {}
                | It::Promote { .. }
                | It::View { .. }
                | It::Remember {}
                | It::Save {}
                | It::Share {}
                | It::ReadTsumego { .. }
                | It::PoseTsumego { .. }
                | It::LeaveTsumego {}
        )
    }

    /// Returns the task of the solver that is due, if there is one.
    pub(super) fn task(&self) -> Option<ProblemTask> {
        let (region, aim) = self.question?;
        let game = self.record.game();
        let step = match (&self.pending, self.first) {
            (_, FirstReading::Pending) => ProblemStep::First,
            (Some((_, line)), FirstReading::Done(Some(reachable))) => {
                ProblemStep::Answer { line: line.clone(), reachable }
            }
            _ => return None,
        };
        let board = Box::new(*game.board());
        Some(ProblemTask { board, player: self.player(), suicide: game.rules().suicide, region, aim, step })
    }

    /// Handles a move that was played. `line` contains the moves from the start up to it. Returns the moves that follow
    /// if no task is needed.
    pub(super) fn answer(&mut self, node: NodeId, line: &[(Color, Move)]) -> Option<Continuation> {
        if self.judged.iter().any(|it| it.node == node) {
            return None;
        }
        if self.is_read_by_solver() {
            self.pending = Some((node, line.iter().map(|it| it.1).collect()));
            return None;
        }
        Some(self.judge_by_record(node, line))
    }

    /// Returns whether a move was judged as right, so that it has a reply.
    pub(super) fn has_reply(&self, node: NodeId) -> bool {
        self.judged.iter().any(|it| it.node == node && it.verdict == Verdict::Right)
    }

    /// Returns whether the solver has proven that the problem can be solved.
    fn is_read_by_solver(&self) -> bool {
        matches!(self.first, FirstReading::Done(Some(outcome)) if outcome != Outcome::Fails)
    }

    fn judge_by_record(&mut self, node: NodeId, line: &[(Color, Move)]) -> Continuation {
        let ProblemRecord { tree, start, solution, .. } = &self.record;
        let found = solution.as_ref().and_then(|solution| solution.judge(tree, *start, line));
        let verdict = match &found {
            None => Verdict::Undecided,
            Some(it) if !it.is_right => Verdict::Wrong,
            Some(it) if it.line.is_empty() => Verdict::Solved,
            Some(_) => Verdict::Right,
        };
        self.judged.push(JudgedMove { node, verdict, is_of_record: found.is_some() });
        let moves = found.map(|it| it.line).unwrap_or_default();
        Continuation { node, moves, goes_on: verdict == Verdict::Right }
    }

    /// Handles the result of a task. Returns the moves that follow the judged move.
    pub(super) fn take(&mut self, found: ProblemFound) -> Option<Continuation> {
        match found {
            ProblemFound::First(outcome, region) => {
                self.first = FirstReading::Done(outcome);
                if let Some((known, _)) = &mut self.question {
                    *known = *region;
                }
                None
            }
            ProblemFound::Answer(judged) => {
                let (node, line) = self.pending.take()?;
                let FirstReading::Done(Some(reachable)) = self.first else { return None };
                let Some(outcome) = judged.outcome else {
                    let colors = [self.player(), self.player().opponent()];
                    let line: Vec<_> = colors.into_iter().cycle().zip(line).collect();
                    return Some(self.judge_by_record(node, &line));
                };
                let verdict = match outcome {
                    _ if outcome >= reachable && judged.line.is_empty() => Verdict::Solved,
                    _ if outcome >= reachable => Verdict::Right,
                    Outcome::Fails => Verdict::Wrong,
                    _ => Verdict::Ko,
                };
                self.judged.push(JudgedMove { node, verdict, is_of_record: false });
                Some(Continuation { node, moves: judged.line, goes_on: verdict == Verdict::Right })
            }
        }
    }

    /// Ends the task in progress without a result, because the solver failed.
    pub(super) fn give_up(&mut self) {
        self.first = match self.first {
            FirstReading::Pending => FirstReading::Done(None),
            done => done,
        };
        if let Some((node, _)) = self.pending.take() {
            self.judged.push(JudgedMove { node, verdict: Verdict::Undecided, is_of_record: false });
        }
    }

    /// Returns the problem as data for pages.
    pub(super) fn state(&self) -> Value {
        let size = self.record.tree.size();
        let (region, is_open) = match &self.question {
            Some((region, _)) => (Some(region), !region.is_closed && !region.excludes_moves_outside),
            None => (None, false),
        };
        let group =
            region.map(|it| it.group.iter().map(|point| place(size, Move::Play(point))).collect::<String>());
        let judged = self.judged.iter().map(|it| json!([it.node.number(), it.verdict, it.is_of_record]));
        json!({
            "key": self.key,
            "turn": color_letter(self.player()).to_string(),
            "goal": self.goal,
            "group": group,
            "escapes": is_open,
            "quiet": region.is_some_and(|it| it.excludes_moves_outside),
            "recorded": self.record.solution.is_some(),
            "comment": self.record.tree.record().node(self.record.start).text("C"),
            "reachable": match self.first {
                FirstReading::Pending => None,
                FirstReading::Done(outcome) => Some(match outcome {
                    None => "undecided",
                    Some(Outcome::Fails) => "nothing",
                    Some(Outcome::KoWithThreats | Outcome::Ko) => "ko",
                    Some(Outcome::Reached) => "goal",
                }),
            },
            "pending": self.pending.as_ref().map(|it| it.0.number()),
            "judged": judged.collect::<Vec<_>>(),
        })
    }
}

/// Task of the solver.
#[derive(Clone, Debug)]
pub struct ProblemTask {
    board: Box<Board>,
    player: Color,
    suicide: bool,
    region: Region,
    aim: Aim,
    step: ProblemStep,
}

#[derive(Clone, Debug)]
enum ProblemStep {
    /// Finds the best outcome that the player can reach.
    First,
    /// Judges the last move of a line.
    Answer { line: Vec<Move>, reachable: Outcome },
}

/// Result of the solver.
#[derive(Clone, Debug)]
pub enum ProblemFound {
    /// Best outcome that the player can reach, and the region in which it was found.
    First(Option<Outcome>, Box<Region>),
    /// A judged move.
    Answer(JudgedAnswer),
}

impl ProblemTask {
    /// Carries out the task with `patience` times the usual number of nodes. If it becomes unwanted, it ends early and
    /// the result is meaningless.
    pub(super) fn run(&self, patience: u64, is_unwanted: &(dyn Fn() -> bool + Sync)) -> ProblemFound {
        let most = patience * MAX_NODES;
        let question = Question {
            board: &self.board,
            region: &self.region,
            aim: self.aim,
            suicide: self.suicide,
            memory: TABLE_BYTES,
            threads: 1,
        };
        let is_prover = self.region.group.iter().next().and_then(|point| self.board.cell(point).color())
            != Some(self.player);
        match &self.step {
            ProblemStep::First => {
                let stop = |nodes| nodes > most / 2 || is_unwanted();
                // In books, the stones around a problem count as alive, however few liberties the diagram leaves them.
                let quiet = Region { excludes_moves_outside: true, ..self.region };
                for region in [self.region, quiet] {
                    let question = Question { region: &region, ..question };
                    if let Ok((reading, region)) = read_with_region(&question, self.player, &stop)
                        && reading.success != Success::Unknown
                    {
                        let outcome = Outcome::of(reading.success, is_prover);
                        return ProblemFound::First(outcome, Box::new(region));
                    }
                }
                self.undecided()
            }
            ProblemStep::Answer { line, reachable } => {
                let stop = |nodes| nodes > most || is_unwanted();
                let judged = judge_answer(&question, self.player, line, *reachable, &stop);
                judged.map_or_else(|_| self.undecided(), ProblemFound::Answer)
            }
        }
    }

    /// Returns the result of a reading that decides nothing.
    pub fn undecided(&self) -> ProblemFound {
        match self.step {
            ProblemStep::First => ProblemFound::First(None, Box::new(self.region)),
            ProblemStep::Answer { .. } => ProblemFound::Answer(JudgedAnswer::default()),
        }
    }
}

#[cfg(test)]
mod tests;
