//! Requests of the pages.

use super::{Host, TableSession, TaskPurpose};
use crate::play::message::{PageRequest, file_bytes, parse_place};
use crate::play::share;
use crate::play::table::Refusal;
use crate::play::tree::GameTree;
use crate::play::tsumego::{self, ActiveProblem};
use kosumi_go::sgf::{Meta, NodeId, write};
use kosumi_search::Limits;
use serde_json::json;
use std::time::Duration;

/// Time of the search for a hint.
const HINT_TIME: Duration = Duration::from_millis(1500);
/// Maximum visits of the search for an estimate. Its time is limited to twice that of a hint.
const ESTIMATE_VISITS: u32 = 120;
/// Maximum number of problems that one request may ask for.
const MAX_PROBLEMS: usize = 20;

impl<H: Host> TableSession<H> {
    pub(super) fn answer(&mut self, window: usize, ask: PageRequest) -> Result<(), Refusal> {
        let now = self.now;
        let head = self.table.head();
        // A move may come too late, because another window has moved first.
        let is_late = |at: usize| at != head.number();
        if self.problem.is_some() && !ActiveProblem::admits(&ask) {
            return Err(Refusal::NotNow);
        }
        match ask {
            PageRequest::New { game } => {
                self.table.begin(&game)?;
                self.notes.clear();
                self.replace_game();
            }
            PageRequest::View { at } => {
                let at = self.node(at)?;
                let viewed = Some(at).filter(|&at| at != head);
                let can_change = self.question.is_none_or(|(_, purpose, _)| purpose == TaskPurpose::Analysis);
                if viewed != self.viewed {
                    self.viewed = viewed;
                    if self.is_analysed && can_change {
                        self.analyse_if_wanted();
                    }
                }
                return Ok(());
            }
            PageRequest::Review { at, on } => {
                let at = self.node(at)?;
                self.stop_judging();
                if on {
                    let tree = self.table.tree();
                    let line = tree.path(tree.end_of(at)).unwrap_or_default();
                    // The move that is viewed comes first.
                    self.judgements.review(
                        &self.table,
                        [at].into_iter().chain(line.into_iter().rev().filter(|&id| id != at)),
                    );
                }
            }
            PageRequest::ReviewPage {} => return self.start_review(),
            PageRequest::Play { at, place } => {
                let mv = parse_place(self.table.game().size(), &place).ok_or(Refusal::OffBoard)?;
                if self.problem.is_some() {
                    self.try_answer(at, mv)?;
                } else if self.table.is_study() {
                    let at = self.node(at)?;
                    self.table.try_move(at, mv, now)?;
                    self.is_answering = self.answers;
                } else {
                    if is_late(at) || self.engine_on_turn() {
                        return Err(Refusal::NotNow);
                    }
                    self.table.play(mv, now)?;
                }
                self.viewed = None;
                if self.teaches && self.problem.is_none() && self.table.head() != head {
                    self.judgements.judge_now(&self.table, self.table.head());
                }
            }
            PageRequest::Undo { at } => {
                if is_late(at) || self.table.is_study() || !self.table.undo(now) {
                    return Err(Refusal::NotNow);
                }
                self.viewed = None;
                self.end_review();
            }
            PageRequest::From { at, seats } => {
                let at = self.node(at)?;
                if let Some((black, white)) = seats {
                    self.table.seat(black, white)?;
                }
                self.table.play_from(at, now);
                self.viewed = None;
                self.is_answering = false;
            }
            PageRequest::Study { on } => {
                self.table.study(on, now);
                self.is_answering = false;
            }
            PageRequest::Answer { at } => {
                let at = self.node(at)?;
                if !self.table.is_study() {
                    return Err(Refusal::NotNow);
                }
                self.table.look_at(at, now);
                self.viewed = None;
                self.is_answering = true;
            }
            PageRequest::Answers { on } => self.answers = on,
            PageRequest::Teach { on } => self.teaches = on,
            PageRequest::Comment { at, text } => {
                let at = self.node(at)?;
                self.table.comment(at, &text)?;
                self.revision += 1;
                let data = [self.table.node_data(at)];
                self.send_tree(&data, []);
                return Ok(());
            }
            PageRequest::Remove { at } => {
                let at = self.node(at)?;
                self.table.remove(at, now)?;
            }
            PageRequest::PutBack {} => {
                let id = self.table.put_back()?;
                let data = self.table.tree_data(id);
                let changed = self.table.take_changed();
                self.send_tree(&data, changed);
            }
            PageRequest::Promote { at } => {
                let at = self.node(at)?;
                self.table.promote(at)?;
            }
            PageRequest::Solve { key, text, place } => {
                let game = GameTree::open(text.as_bytes(), self.table.game().rules(), false)?.tree;
                let game = game.game_at(game.end_of(game.root()));
                let mv = parse_place(game.size(), &place).ok_or(Refusal::OffBoard)?;
                game.check(game.to_move(), mv)?;
                if !self.judgements.judge_answer(window, key, game, mv) {
                    return Err(Refusal::NotNow);
                }
                let is_free = self.question.is_none_or(|(_, purpose, _)| purpose == TaskPurpose::Analysis);
                if is_free {
                    self.start_background();
                }
                return Ok(());
            }
            PageRequest::Problems { at } => {
                let mut records = Vec::new();
                for number in at.into_iter().take(MAX_PROBLEMS) {
                    let id = self.node(number)?;
                    let tree = self.table.tree();
                    let (Some(parent), Some((color, _))) = (tree.parent(id), tree.played(id)) else {
                        return Err(Refusal::NotNow);
                    };
                    let mut game = tree.game_at(parent);
                    game.set_to_move(color);
                    records.push(json!([number, write(&game, &Meta::default())]));
                }
                self.host.send(window, &json!({ "is": "problems", "game": self.game, "records": records }));
                return Ok(());
            }
            PageRequest::ReadTsumego { text, bytes } => {
                let bytes = file_bytes(text, &bytes).ok_or(Refusal::BadMessage)?;
                self.send_problems(window, &bytes);
                return Ok(());
            }
            PageRequest::PoseTsumego { key, text, goal } => {
                let rules = self.game_table().game().rules();
                self.show_problem(ActiveProblem::read(key, text.as_bytes(), goal, rules)?)?;
            }
            PageRequest::LeaveTsumego {} => {
                let suspended = self.suspended.take().ok_or(Refusal::NotNow)?;
                self.problem = None;
                (self.table, self.game, self.notes) = (suspended.table, suspended.game, suspended.notes);
                self.forget_game();
                self.table.pause(suspended.was_paused, now);
            }
            PageRequest::Remember {} => {
                let kept = self.remembered(now);
                self.host.send(window, &json!({ "is": "kept", "game": self.game, "kept": kept }));
                return Ok(());
            }
            PageRequest::Resign { at } => {
                if is_late(at) || self.table.is_study() {
                    return Err(Refusal::NotNow);
                }
                self.table.resign_person()?;
            }
            PageRequest::Analyse { on } => self.is_analysed = on,
            PageRequest::Hint { at } => {
                return self.start_consultation(at, TaskPurpose::Hint, Limits::time(HINT_TIME));
            }
            PageRequest::Estimate { at } => {
                let limits = Limits { visits: Some(ESTIMATE_VISITS), ..Limits::time(2 * HINT_TIME) };
                return self.start_consultation(at, TaskPurpose::Estimate, limits);
            }
            PageRequest::Mark { place } => {
                let mv = parse_place(self.table.game().size(), &place).ok_or(Refusal::OffBoard)?;
                self.table.mark(mv)?;
                // The engine must not look for dead stones again when the user has removed all marks.
                self.revision += 1;
                self.send_state();
                return Ok(());
            }
            PageRequest::Settle {} => self.table.settle()?,
            PageRequest::Resume {} => {
                self.table.resume(now)?;
                self.end_review();
            }
            PageRequest::Pause { on } => self.table.pause(on, now),
            PageRequest::Seats { black, white } => {
                self.table.seat(black, white)?;
                if self.table.is_study() {
                    self.table.play_from(head, now);
                }
            }
            PageRequest::Load { text, bytes, shared, partial, plain } => {
                let record = match shared.as_str() {
                    "" => Ok(file_bytes(text, &bytes).ok_or(Refusal::BadMessage)?),
                    shared => share::record_of(shared),
                };
                if let Ok(bytes) = &record
                    && !(plain || partial)
                    && tsumego::is_collection(bytes, self.game_table().game().rules())
                {
                    self.send_problems(window, bytes);
                    return Ok(());
                }
                match record.and_then(|record| self.table.load(&record, partial)) {
                    Ok(notes) => {
                        self.notes = notes;
                        self.replace_game();
                    }
                    Err(bad) => {
                        self.host.send(
                            window,
                            &json!({
                                "is": "refused",
                                "why": bad.refusal,
                                "text": bad.text,
                                "partial": bad.can_be_partial,
                            }),
                        );
                        return Ok(());
                    }
                }
            }
            PageRequest::Restore { game } => {
                if !self.game_table().is_fresh() {
                    let state = self.state();
                    self.host.send(window, &state);
                    return Ok(());
                }
                self.table.restore(&game, now)?;
                self.notes.clear();
                self.replace_game();
            }
            PageRequest::Save {} => {
                let text = self.record();
                self.host.send(window, &json!({ "is": "record", "game": self.game, "text": text }));
                return Ok(());
            }
            PageRequest::Share {} => {
                let fragment = share::fragment_of(&self.record()).ok_or(Refusal::LinkTooLong)?;
                self.host.send(window, &json!({ "is": "shared", "fragment": fragment }));
                return Ok(());
            }
            PageRequest::Look { .. } | PageRequest::Rest {} => return Err(Refusal::BadMessage),
        }
        self.changed();
        Ok(())
    }

    /// Returns the node with a number, or a refusal if it cannot be shown.
    pub(super) fn node(&self, number: usize) -> Result<NodeId, Refusal> {
        self.table.tree().node(number).ok_or(Refusal::NotNow)
    }
}
