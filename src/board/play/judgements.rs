//! Judgements of moves of the tree, and of answers to problems, by searches of equal length. The classes and errors are
//! those of [reviews](crate::review).
//!
//! A judgement needs a search of the position before the move and of the position after it. If the move is not the
//! first choice and the two differ, it also needs a search of the position after the first choice. Each search is a
//! task of the engine, so that the table can stop it at any time.

use super::table::GameTable;
use super::tree::GameTree;
use crate::review::{Comparison, JudgementData, Numbers, PositionReview, Scatter, Thresholds, move_sentence};
use kosumi_go::board::{Color, Move};
use kosumi_go::game::Game;
use kosumi_go::sgf::NodeId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// Number of simulations of each search.
pub(super) const JUDGE_PLAYOUTS: u32 = 40;
/// Maximum number of searched positions whose results are stored.
const MAX_ANALYSES: usize = 4000;
/// Maximum number of pairs of searches of the same position that are stored.
const MAX_PAIRS: usize = 200;
/// Number of positions that are searched twice at the start.
const FIRST_REPEATS: usize = 3;
/// After that, one position out of this number is searched twice.
const REPEAT_EVERY: usize = 7;
/// Maximum number of answers to problems that wait for their judgement.
const MAX_TRIALS: usize = 16;

/// Results of the judgement of a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// Numbers of the position.
    numbers: Numbers,
    /// Judgement of the move that led to it.
    judgement: Option<JudgementData>,
    /// The judgement as text, for records.
    pub(super) text: String,
}

impl Judged {
    /// Returns the numbers with the judgement, as data for pages.
    pub(super) fn data(&self) -> Value {
        let mut data = json!(self.numbers);
        if let (Value::Object(data), Some(judgement)) = (&mut data, &self.judgement) {
            data.insert("j".to_owned(), json!(judgement));
        }
        data
    }
}

/// Subject of a judgement.
#[derive(Clone, PartialEq, Debug)]
enum Subject {
    /// The move that led to a node of the tree.
    Node(NodeId),
    /// An answer to a problem: the window that sent it, and the window's key for it.
    Answer(usize, u64),
}

/// Judgement in progress.
#[derive(Debug)]
struct Job {
    subject: Subject,
    /// Game before the move.
    game: Box<Game>,
    color: Color,
    mv: Move,
    before: Option<PositionReview>,
    after: Option<PositionReview>,
    /// Review of the position after the first choice.
    checked: Option<PositionReview>,
}

/// Position of the search that is in progress.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Search {
    Before,
    After,
    Check,
    /// The position searched again, with other random numbers.
    Repeat,
    /// The position of a node, before a move is made there.
    Ahead(NodeId),
}

/// Next step of the judgements.
#[derive(Debug)]
pub(super) enum Step {
    /// A position has to be searched, with other random numbers if the flag is set.
    Search(Box<Game>, bool),
    /// Results for these nodes have become known or have changed.
    Judged(Vec<NodeId>),
    /// The answer to a problem was judged: the window, its key for the answer, and the result.
    Answered(usize, u64, Value),
    /// Nothing is left to do.
    Idle,
}

/// Judgements that were made, and those still to be made.
#[derive(Debug, Default)]
pub(super) struct Judgements {
    /// Nodes whose moves are to be judged.
    queue: VecDeque<NodeId>,
    /// Node that must be judged before an engine moves.
    urgent: Option<NodeId>,
    /// Number of moves of the review in progress.
    total: usize,
    /// Node whose position is searched in advance, before a move is made there.
    ahead: Option<NodeId>,
    answers: VecDeque<Job>,
    job: Option<Job>,
    search: Option<Search>,
    /// Position that is searched again, with the first result.
    repeat: Option<(Box<Game>, PositionReview)>,
    /// Results of the searches by node and side to move, without the scatter in their errors. In a record, either side
    /// may continue from a position, and the values of the two searches differ.
    analyses: BTreeMap<(NodeId, Color), PositionReview>,
    comparisons: BTreeMap<NodeId, Comparison>,
    pairs: VecDeque<(PositionReview, PositionReview)>,
    scatter: Scatter,
    /// Whether the scatter has changed since the judgements were last sent.
    is_rescaled: bool,
    /// Number of positions that were searched.
    searches: usize,
}

impl Judgements {
    /// Starts a review of moves, in this order. Leaves out moves that have been judged.
    pub(super) fn review(&mut self, table: &GameTable, nodes: impl IntoIterator<Item = NodeId>) {
        let is_new = |&id: &NodeId| {
            table.tree().played(id).is_some() && table.judged(id).is_none_or(|it| it.judgement.is_none())
        };
        self.queue = nodes.into_iter().filter(is_new).collect();
        self.total = self.queue.len();
    }

    /// Ends the judgements of moves of the tree. Answers to problems, which another window may have sent, are kept.
    pub(super) fn stop_review(&mut self) {
        self.queue.clear();
        (self.urgent, self.total) = (None, 0);
        self.job.take_if(|job| matches!(job.subject, Subject::Node(_)));
        (self.search, self.repeat, self.ahead) = (None, None, None);
    }

    /// Ends all judgements. Returns the windows whose answers to problems are not judged any more.
    pub(super) fn stop(&mut self) -> Vec<usize> {
        self.stop_review();
        let jobs = self.job.take().into_iter().chain(self.answers.drain(..));
        let windows = jobs.filter_map(|job| match job.subject {
            Subject::Answer(window, _) => Some(window),
            Subject::Node(_) => None,
        });
        windows.collect()
    }

    /// Returns the number of moves of the review that have been judged, and their total; `None` if none are left.
    pub(super) fn progress(&self) -> Option<(usize, usize)> {
        let is_move = self.job.as_ref().is_some_and(|job| matches!(job.subject, Subject::Node(_)));
        let left = self.queue.len() + usize::from(is_move);
        (self.total > 0 && left > 0).then(|| (self.total.saturating_sub(left), self.total))
    }

    /// Judges the move to a node before anything else.
    pub(super) fn judge_now(&mut self, table: &GameTable, id: NodeId) {
        let is_known = table.judged(id).is_some_and(|it| it.judgement.is_some()) || self.urgent == Some(id);
        if table.tree().played(id).is_none() || is_known {
            return;
        }
        let own = self.queue.iter().position(|&other| other == id);
        if let Some(index) = own {
            self.queue.remove(index);
        }
        self.set_aside();
        self.queue.push_front(id);
        self.urgent = Some(id);
    }

    /// Puts the move that is being judged back into the queue.
    fn set_aside(&mut self) {
        if let Some(Job { subject: Subject::Node(id), .. }) =
            self.job.take_if(|job| matches!(job.subject, Subject::Node(_)))
        {
            self.queue.push_front(id);
        }
        (self.search, self.repeat) = (None, None);
    }

    /// Returns whether a move has to be judged before an engine moves.
    pub(super) fn is_urgent(&self) -> bool {
        self.urgent.is_some()
    }

    /// Searches a position before a move is made there, when there is nothing else to do.
    pub(super) fn look_ahead(&mut self, tree: &GameTree, id: NodeId) {
        let is_known =
            |id: &NodeId| tree.to_move(*id).is_some_and(|turn| self.analyses.contains_key(&(*id, turn)));
        self.ahead = Some(id).filter(|id| !is_known(id));
    }

    /// Queues an answer to a problem. Returns false if too many answers wait already.
    pub(super) fn judge_answer(&mut self, window: usize, key: u64, game: Game, mv: Move) -> bool {
        if self.answers.len() >= MAX_TRIALS {
            return false;
        }
        let (subject, color, game) = (Subject::Answer(window, key), game.to_move(), Box::new(game));
        self.answers.push_back(Job { subject, game, color, mv, before: None, after: None, checked: None });
        true
    }

    /// Forgets that a search is in progress, because the engine was stopped.
    pub(super) fn interrupt(&mut self) {
        self.search = None;
    }

    /// Stores the result of the search that was in progress.
    pub(super) fn take(&mut self, tree: &GameTree, analysis: PositionReview) {
        let Some(search) = self.search.take() else { return };
        if search == Search::Repeat {
            if let Some((_, first)) = self.repeat.take() {
                self.pairs.push_back((first, analysis));
                if self.pairs.len() > MAX_PAIRS {
                    self.pairs.pop_front();
                }
                let pairs: Vec<_> =
                    self.pairs.iter().map(|(first, second)| (first, second.clone())).collect();
                self.scatter = Scatter::of_pairs(&pairs);
                self.is_rescaled = true;
            }
            return;
        }
        self.searches += 1;
        let is_repeated = self.searches <= FIRST_REPEATS || self.searches.is_multiple_of(REPEAT_EVERY);
        let position = match (search, &self.job) {
            (Search::Ahead(id), _) => Some(tree.game_at(id)),
            (Search::Before, Some(job)) => Some((*job.game).clone()),
            (Search::After, Some(job)) => after(&job.game, job.color, job.mv),
            _ => None,
        };
        if let Some(game) = position.filter(|_| is_repeated && analysis.visits > 0) {
            self.repeat = Some((Box::new(game), analysis.clone()));
        }
        self.put(tree, search, analysis);
    }

    /// Stores the review of a position.
    fn put(&mut self, tree: &GameTree, search: Search, analysis: PositionReview) {
        let node = match (search, self.job.as_ref().map(|job| &job.subject)) {
            (Search::Ahead(id), _) => Some(id),
            (Search::Before, Some(Subject::Node(id))) => tree.parent(*id),
            (Search::After, Some(Subject::Node(id))) => Some(*id),
            _ => None,
        };
        if let Some(node) = node {
            self.ahead.take_if(|ahead| *ahead == node);
            self.analyses.insert((node, analysis.to_move), analysis.clone());
            if self.analyses.len() > MAX_ANALYSES {
                self.analyses.pop_first();
            }
        }
        let Some(job) = &mut self.job else { return };
        match search {
            Search::Before => job.before = Some(analysis),
            Search::After => job.after = Some(analysis),
            Search::Check => job.checked = Some(analysis),
            Search::Repeat | Search::Ahead(_) => {}
        }
    }

    /// Returns the next step, and makes the judgements that need no search.
    pub(super) fn advance(&mut self, table: &GameTable) -> Step {
        let tree = table.tree();
        loop {
            if let Some((game, _)) = &self.repeat {
                self.search = Some(Search::Repeat);
                return Step::Search(game.clone(), true);
            }
            if self.is_rescaled {
                self.is_rescaled = false;
                let all: Vec<NodeId> = self.comparisons.keys().copied().collect();
                return Step::Judged(all);
            }
            let Some(job) = &mut self.job else {
                if let Some(answer) = self.answers.pop_front() {
                    self.job = Some(answer);
                    continue;
                }
                if let Some(id) = self.queue.pop_front() {
                    self.job = self.job_of(tree, id);
                    self.urgent.take_if(|urgent| *urgent == id && self.job.is_none());
                    continue;
                }
                if let Some(id) = self.ahead.take().filter(|&id| tree.path(id).is_some()) {
                    let game = tree.game_at(id);
                    if let Some(counted) = counted(&game) {
                        self.analyses.insert((id, counted.to_move), counted);
                        continue;
                    }
                    self.search = Some(Search::Ahead(id));
                    self.ahead = Some(id);
                    return Step::Search(Box::new(game), false);
                }
                (self.urgent, self.total) = (None, 0);
                return Step::Idle;
            };
            let thresholds = Thresholds::default();
            let next = match (&job.before, &job.after) {
                (None, _) => Some((Search::Before, Some((*job.game).clone()))),
                (_, None) => Some((Search::After, after(&job.game, job.color, job.mv))),
                (Some(before), Some(after_it)) if job.checked.is_none() => {
                    let choice = Comparison::to_check(job.color, job.mv, before, after_it, &thresholds);
                    choice.map(|choice| (Search::Check, after(&job.game, job.color, choice)))
                }
                _ => None,
            };
            match next {
                Some((search, Some(game))) => {
                    if let Some(counted) = counted(&game) {
                        self.put(tree, search, counted);
                        continue;
                    }
                    let known = match (search, &job.subject) {
                        (Search::Check, Subject::Node(id)) => tree
                            .parent(*id)
                            .and_then(|parent| tree.child(parent, job.color, game.records().last()?.mv))
                            .and_then(|child| self.analyses.get(&(child, job.color.opponent())).cloned()),
                        _ => None,
                    };
                    if let Some(known) = known {
                        job.checked = Some(known);
                        continue;
                    }
                    self.search = Some(search);
                    return Step::Search(Box::new(game), false);
                }
                // The move cannot be played, so it cannot be judged.
                Some((_, None)) => {
                    self.job = None;
                    self.urgent = None;
                }
                None => return self.finish(table),
            }
        }
    }

    /// Creates the job of judging the move to a node, from the results that are known.
    fn job_of(&self, tree: &GameTree, id: NodeId) -> Option<Job> {
        tree.path(id)?;
        let ((color, mv), parent) = (tree.played(id)?, tree.parent(id)?);
        let mut game = Box::new(tree.game_at(parent));
        game.set_to_move(color);
        // A search with the other side to move gives no information about this move.
        let known = |id: NodeId, turn: Color| self.analyses.get(&(id, turn)).cloned();
        let (before, after) = (known(parent, color), known(id, color.opponent()));
        Some(Job { subject: Subject::Node(id), game, color, mv, before, after, checked: None })
    }

    /// Completes the judgement in progress, for which all results are known.
    fn finish(&mut self, table: &GameTable) -> Step {
        let Some(job) = self.job.take() else { return Step::Idle };
        let (Some(before), Some(after)) = (&job.before, &job.after) else { return Step::Idle };
        let thresholds = Thresholds::default();
        let comparison =
            Comparison::new(job.color, job.mv, before, after, &thresholds, |_| job.checked.clone());
        match job.subject {
            Subject::Node(id) => {
                if let Some(comparison) = comparison {
                    self.comparisons.insert(id, comparison);
                }
                self.urgent.take_if(|urgent| *urgent == id);
                let parent = table.tree().parent(id);
                let is_bare = |&parent: &NodeId| table.judged(parent).is_none();
                Step::Judged(parent.filter(is_bare).into_iter().chain([id]).collect())
            }
            Subject::Answer(window, key) => {
                let mut widened = after.clone();
                self.scatter.widen_all(&mut widened);
                let judgement = comparison.map(|it| it.judge(&widened, &self.scatter, &thresholds));
                let data = judgement.map(|it| JudgementData::new(&job.game, job.color, &it));
                let position = self::after(&job.game, job.color, job.mv);
                let numbers = position.map(|game| Numbers::new(&game, game.to_move(), &widened));
                Step::Answered(window, key, json!({ "j": data, "numbers": numbers }))
            }
        }
    }

    /// Returns the results for a node; `None` if there are none.
    pub(super) fn judged(&self, table: &GameTable, id: NodeId) -> Option<Judged> {
        let tree = table.tree();
        let (turn, played) = (tree.to_move(id)?, tree.played(id));
        let searched = |turn: Color| {
            let mut widened = self.analyses.get(&(id, turn))?.clone();
            self.scatter.widen_all(&mut widened);
            Some(widened)
        };
        // In a record, the side that made the move may move again. The numbers are those of the side to move, but what
        // the move lost follows from the search in which the opponent moves.
        let (here, after) = (searched(turn), played.and_then(|(color, _)| searched(color.opponent())));
        let compared = self.comparisons.get(&id).zip(after.as_ref());
        let judgement =
            compared.map(|(it, after)| it.clone().judge(after, &self.scatter, &Thresholds::default()));
        if here.is_none() && judgement.is_none() {
            return None;
        }
        let known = table.judged(id);
        let known_numbers = known.map(|it| &it.numbers);
        let numbers = match here {
            // The lines do not depend on the errors, and computing them is the expensive part.
            Some(here) => match known_numbers.filter(|numbers| numbers.are_of(&here)) {
                Some(numbers) => numbers.with_errors(&here),
                None => {
                    let game = tree.game_at(id);
                    Numbers::new(&game, game.to_move(), &here)
                }
            },
            None => known_numbers.cloned().unwrap_or_default(),
        };
        let known = known.and_then(|it| it.judgement.as_ref());
        let data = judgement.as_ref().and_then(|judgement| {
            let (color, _) = played?;
            Some(match known {
                Some(data) => data.regraded(judgement),
                None => JudgementData::new(&tree.game_at(tree.parent(id)?), color, judgement),
            })
        });
        let text = judgement.zip(played).map(|(judgement, (color, mv))| {
            format!("{}.", move_sentence(tree.moves(id), color, mv, &judgement))
        });
        Some(Judged { numbers, judgement: data, text: text.unwrap_or_default() })
    }
}

/// Returns the game after a move; `None` if it cannot be played.
fn after(game: &Game, color: Color, mv: Move) -> Option<Game> {
    let mut game = game.clone();
    game.play_tolerant(color, mv).ok()?;
    Some(game)
}

/// Returns the review of a position that needs no search, because the game is over and every stone counts.
fn counted(game: &Game) -> Option<PositionReview> {
    (game.is_over() && !game.rules().friendly_pass).then(|| PositionReview::counted(game))
}
