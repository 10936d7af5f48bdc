//! Answers to problems: each move of the side that solves a problem is judged, and answered.
//!
//! All positions are read as lines of the problem: with its region, its group and its past. A line is judged by what
//! the *player*, the side that moves first, reaches after it. Nothing is estimated: what is not proven within the limit
//! is [`None`].

use super::bits::Bits;
use super::move_code::{MoveCode, NO_MOVE, PASS};
use super::problems::{BoardQuestion, Question, QuestionError, StopFn, Success, WindowJob, with_window};
use super::search::Search;
use super::table::Table;
use super::threads::SearchQuestion;
use super::window::UNLIMITED;
use kosumi_go::board::{Color, Move};

/// Maximum number of moves of a refutation.
const MAX_REFUTATION_MOVES: usize = 12;

/// What the player of a problem reaches, from the worst to the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Outcome {
    /// The goal is missed, whatever threats the player has.
    Fails,
    /// The goal is reached by a ko if the player has threats.
    KoWithThreats,
    /// The goal is reached by a ko unless the opponent has threats.
    Ko,
    /// The goal is reached, whatever threats the opponent has.
    Reached,
}

impl Outcome {
    /// Returns the outcome for the prover of a question, or for the other side; `None` if the search ended without a
    /// result.
    pub fn of(success: Success, is_prover: bool) -> Option<Outcome> {
        Some(match (success, is_prover) {
            (Success::Yes, true) | (Success::No, false) => Outcome::Reached,
            (Success::KoFirst(_), true) | (Success::KoSecond(_), false) => Outcome::Ko,
            (Success::KoSecond(_), true) | (Success::KoFirst(_), false) => Outcome::KoWithThreats,
            (Success::No, true) | (Success::Yes, false) => Outcome::Fails,
            (Success::Unknown, _) => return None,
        })
    }
}

/// A judged move, which is the last one of a line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JudgedAnswer {
    /// What the player reaches after the move; `None` if that is not decided.
    pub outcome: Option<Outcome>,
    /// Continuation that demonstrates the outcome. If the move keeps what could be reached, it is the reply of the
    /// opponent that leaves the player the fewest answers, or empty if the player need not answer any reply. Otherwise,
    /// it is the refutation, beginning with the opponent's move. A pass means that the opponent need not reply.
    pub line: Vec<Move>,
    /// Number of nodes searched.
    pub nodes: u64,
}

/// Judges the last move of a line of a problem. `player` is the side that moves first in the problem, and the sides
/// alternate. `reachable` is what the player reaches with the best play from the first move on. If `stop` ends the work
/// after the outcome is known, the continuation may be missing or may not be the most stubborn one.
///
/// A move of the player outside the region is read as a pass. It is judged only if it misses the goal: that verdict
/// holds wherever the player's stone is, as all answers do (see [`read`](super::read)). A move that might stop a group
/// from getting out is not judged.
///
/// # Errors
///
/// Returns a [`QuestionError`] if the question is invalid.
pub fn judge_answer(
    question: &Question<'_>,
    player: Color,
    line: &[Move],
    reachable: Outcome,
    stop: StopFn<'_>,
) -> Result<JudgedAnswer, QuestionError> {
    with_window(question, &mut AnswerJob { player, line, reachable, stop })
}

struct AnswerJob<'a> {
    player: Color,
    line: &'a [Move],
    reachable: Outcome,
    stop: StopFn<'a>,
}

impl WindowJob for AnswerJob<'_> {
    type Output = JudgedAnswer;

    fn run<B: Bits>(&mut self, question: &Question<'_>, setting: BoardQuestion<B>) -> JudgedAnswer {
        let is_inside = |mv: &Move| match mv {
            Move::Play(point) => question.region.playable.contains(*point),
            _ => true,
        };
        let code = |mv: &Move| match mv {
            Move::Play(point) if is_inside(mv) => {
                setting.window.index(*point).map_or(PASS, |index| index as MoveCode)
            }
            _ => PASS,
        };
        let mut line: Vec<MoveCode> = self.line.iter().map(code).collect();
        let is_outside = !self.line.iter().all(is_inside);
        let owner = question.region.group.iter().next().and_then(|point| question.board.cell(point).color());
        if is_outside && !question.region.is_closed && owner != Some(self.player) {
            return JudgedAnswer::default();
        }
        let is_player_prover = self.player == setting.goal.prover;
        // A table for the region alone, and one against the moves of each side outside it.
        let tables = [(); 3].map(|()| Table::new(question.memory));
        let sieges = [Color::Black, Color::White].map(|winner| setting.besieged(question, winner));
        let mut reader = LineReader {
            question,
            setting: &setting,
            sieges: &sieges,
            tables: &tables,
            player: self.player,
            is_player_prover,
            stop: self.stop,
            nodes: 0,
        };
        let outcome = reader.outcome(&line).filter(|&it| !is_outside || it == Outcome::Fails);
        let shown = match outcome {
            Some(outcome) if outcome < self.reachable => reader.refutation(&mut line, outcome),
            // After the right move, the outcome of a ko depends only on threats, so no reply is shown.
            Some(Outcome::Reached) => {
                reader.resistance(&mut line, Outcome::Reached, self.player).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let line = shown.into_iter().filter_map(|step| setting.move_of(step)).collect();
        JudgedAnswer { outcome, line, nodes: reader.nodes }
    }
}

/// Reader of the positions after lines of one problem.
struct LineReader<'a, B> {
    question: &'a Question<'a>,
    setting: &'a BoardQuestion<B>,
    /// The question, extended by everything that the opponent of Black, and that of White, may do outside the region.
    sieges: &'a [Option<BoardQuestion<B>>; 2],
    tables: &'a [Table<B>; 3],
    player: Color,
    is_player_prover: bool,
    stop: StopFn<'a>,
    nodes: u64,
}

impl<B: Bits> LineReader<'_, B> {
    /// Returns whether the prover succeeds after a line with these numbers of threats, and the best move.
    fn ask(&mut self, line: &[MoveCode], prover_threats: u8, other_threats: u8) -> (Option<bool>, MoveCode) {
        let prover = self.setting.goal.prover;
        let mut threats = [0; 2];
        threats[prover as usize] = prover_threats;
        threats[prover.opponent() as usize] = other_threats;
        let root = self.setting.root(self.question.board, self.player, threats);
        let mut decide = |setting: &BoardQuestion<B>, table| {
            let BoardQuestion { window, goal, repetition, .. } = setting;
            let asked = SearchQuestion { window, goal: *goal, repetition: *repetition, images: None, table };
            let before = self.nodes;
            let found = asked.decide(&root, line, 1, &|searched| (self.stop)(before + searched));
            self.nodes += found.nodes;
            found.answer
        };
        let answer = decide(self.setting, &self.tables[0]);
        let Some(won) = answer.won else { return (None, NO_MOVE) };
        let winner = if won { prover } else { prover.opponent() };
        // A proof must hold against moves outside the region.
        let Some(siege) = &self.sieges[winner as usize] else { return (Some(won), answer.best) };
        let answer = decide(siege, &self.tables[1 + winner as usize]);
        (answer.won.filter(|&same| same == won), answer.best)
    }

    /// Returns what the player reaches after a line.
    fn outcome(&mut self, line: &[MoveCode]) -> Option<Outcome> {
        let success = match self.ask(line, 0, 0).0? {
            true if self.ask(line, 0, UNLIMITED).0? => Success::Yes,
            true => Success::KoFirst(1),
            false if self.ask(line, UNLIMITED, 0).0? => Success::KoSecond(1),
            false => Success::No,
        };
        Outcome::of(success, self.is_player_prover)
    }

    fn outcome_after(&mut self, line: &mut Vec<MoveCode>, steps: &[MoveCode]) -> Option<Outcome> {
        let length = line.len();
        line.extend_from_slice(steps);
        let outcome = self.outcome(line);
        line.truncate(length);
        outcome
    }

    /// Returns the plays that may matter after a line.
    fn plays(&self, line: &[MoveCode]) -> Vec<MoveCode> {
        let BoardQuestion { window, goal, repetition, .. } = self.setting;
        let root = self.setting.root(self.question.board, self.player, [0; 2]);
        let mut search = Search::new(window, *goal, *repetition, &self.tables[0], self.stop);
        let steps = search.moves_behind(&root, line).into_iter().map(|(step, _)| step);
        steps.filter(|&step| step < PASS && self.setting.move_of(step).is_some()).collect()
    }

    /// Returns the move against `keeper` that leaves the fewest moves that keep `outcome`. Among several such moves,
    /// returns the one that takes the most nodes to answer. Returns `None` if the keeper may pass after every move, and
    /// so need not do any more.
    fn resistance(&mut self, line: &mut Vec<MoveCode>, outcome: Outcome, keeper: Color) -> Option<MoveCode> {
        // Whether the keeper is content with what the player reaches.
        let is_player = keeper == self.player;
        let keeps = |it: Outcome| if is_player { it >= outcome } else { it <= outcome };
        let mut best: Option<(usize, std::cmp::Reverse<u64>, MoveCode)> = None;
        for step in self.plays(line) {
            match self.outcome_after(line, &[step, PASS]) {
                Some(after) if !keeps(after) => {}
                _ => continue,
            }
            let before = self.nodes;
            line.push(step);
            let mut count = 0;
            for answer in self.plays(line) {
                count += usize::from(self.outcome_after(line, &[answer]).is_some_and(keeps));
            }
            line.pop();
            let effort = self.nodes - before;
            // A count of 0 means that the search reached its limit.
            let key = (count.max(1), std::cmp::Reverse(effort), step);
            if best.is_none_or(|best| key < best) {
                best = Some(key);
            }
        }
        best.map(|(.., step)| step)
    }

    /// Returns a move of the side to move that keeps `outcome`: a play if there is one.
    fn keeping(&mut self, line: &mut Vec<MoveCode>, outcome: Outcome, keeper: Color) -> Option<MoveCode> {
        let is_player = keeper == self.player;
        let keeps = |it: Outcome| if is_player { it >= outcome } else { it <= outcome };
        // The move of the reading comes first.
        let best = self.ask(line, 0, 0).1;
        let plays = self.plays(line);
        let first = plays.iter().copied().filter(|&step| step == best);
        let rest = plays.iter().copied().filter(|&step| step != best);
        let all: Vec<MoveCode> = first.chain(rest).chain([PASS]).collect();
        all.into_iter().find(|&step| self.outcome_after(line, &[step]).is_some_and(keeps))
    }

    /// Returns the moves that show why the player reaches only `outcome`: the opponent's replies, and the player's most
    /// stubborn moves against them.
    fn refutation(&mut self, line: &mut Vec<MoveCode>, outcome: Outcome) -> Vec<MoveCode> {
        let (opponent, start) = (self.player.opponent(), line.len());
        while line.len() < start + MAX_REFUTATION_MOVES {
            let Some(reply) = self.keeping(line, outcome, opponent) else { break };
            line.push(reply);
            // A ko is shown up to its first move.
            if outcome != Outcome::Fails {
                break;
            }
            let Some(stubborn) = self.resistance(line, outcome, opponent) else { break };
            line.push(stubborn);
        }
        // A refutation ends with a move of the opponent.
        let mut shown = line.split_off(start);
        if shown.len().is_multiple_of(2) {
            shown.pop();
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::super::problems_tests::{Problem, book_region, problems, question};
    use super::*;
    use crate::{Aim, read};
    use kosumi_go::board::Cell;

    const LIMIT: u64 = 300_000;

    /// Returns the problems with these names.
    fn named(names: &[&str]) -> Vec<Problem> {
        let found: Vec<Problem> =
            problems().into_iter().filter(|drawn| names.contains(&drawn.name.as_str())).collect();
        assert_eq!(found.len(), names.len());
        found
    }

    /// Every first move of small problems is judged like a reading of the position after it.
    #[test]
    fn every_first_move_is_judged_as_its_position_is() {
        let (mut seen, mut compared) = ([0; 4], 0);
        let drawn = [
            "3 points at the edge, shape 1",
            "4 points in the corner, shape 2",
            "4 points in the corner, shape 3",
            "rectangular six in the corner, 1 outside liberties",
            "snapback to live, 1",
            "ko, 1",
            "ko, 2",
            "ko, 3",
            "ko, 5",
        ];
        for drawn in &named(&drawn) {
            let region = book_region(drawn);
            let owner = drawn.board.cell(drawn.point).color().unwrap();
            let aimed = Question { memory: 1 << 20, ..question(drawn, &region, Aim::Capture) };
            for player in Color::BOTH {
                let stop = |nodes: u64| nodes > LIMIT;
                let success = read(&aimed, player, &stop).unwrap().success;
                let Some(reachable) = Outcome::of(success, player != owner) else { continue };
                let mut best = Outcome::Fails;
                let pass =
                    Outcome::of(read(&aimed, player.opponent(), &stop).unwrap().success, player != owner);
                for point in region.playable.iter() {
                    let mut board = drawn.board;
                    if board.cell(point) != Cell::Empty || board.is_suicide(point, player) {
                        continue;
                    }
                    let judged =
                        judge_answer(&aimed, player, &[Move::Play(point)], reachable, &stop).unwrap();
                    let outcome = judged.outcome.unwrap();
                    seen[outcome as usize] += 1;
                    best = best.max(outcome);
                    // The goal keeps its points after a capture, so a reading of the captured position would be a
                    // different question.
                    if board.play_unchecked(point, player).captured == 0 {
                        let after = crate::Question { board: &board, ..aimed };
                        let success = read(&after, player.opponent(), &stop).unwrap().success;
                        let expected = Outcome::of(success, player != owner);
                        assert_eq!(
                            Some(outcome),
                            expected,
                            "{} {player} {point}\n{}",
                            drawn.name,
                            drawn.board
                        );
                        compared += 1;
                    }
                }
                assert_eq!(best.max(pass.unwrap()), reachable, "{} {player}\n{}", drawn.name, drawn.board);
            }
        }
        assert!(seen.iter().all(|&count| count > 0) && compared > 40, "{seen:?} {compared}");
    }

    /// A stone outside the region does not save a group that the opponent kills, and it is not judged if no move was
    /// needed.
    #[test]
    fn a_move_outside_the_region_is_judged_as_a_pass_that_fails() {
        for drawn in problems().iter().filter(|drawn| drawn.name.starts_with("3 points, shape")) {
            let region = crate::Region::of_group(&drawn.board, drawn.point).unwrap();
            let owner = drawn.board.cell(drawn.point).color().unwrap();
            let aimed = Question { memory: 1 << 20, ..question(drawn, &region, Aim::Capture) };
            let outside =
                drawn.board.size().points().find(|&point| !region.playable.contains(point)).unwrap();
            let stop = |nodes: u64| nodes > LIMIT;
            let judge = |player: Color, line: &[Move]| {
                judge_answer(&aimed, player, line, Outcome::Reached, &stop).unwrap()
            };
            for player in [owner, owner.opponent()] {
                let judged = judge(player, &[Move::Play(outside)]);
                assert_eq!(judged.outcome, Some(Outcome::Fails), "{} {player}", drawn.name);
                assert!(!judged.line.is_empty(), "{}", drawn.name);
                let open = crate::Region { is_closed: false, ..region };
                let aimed = crate::Question { region: &open, ..aimed };
                let judged =
                    judge_answer(&aimed, player, &[Move::Play(outside)], Outcome::Reached, &stop).unwrap();
                assert_eq!(judged.outcome.is_some(), player == owner, "{}", drawn.name);
            }
            // After the right move and a reply elsewhere, another move elsewhere is not needed, and not judged.
            let best = read(&aimed, owner, &stop).unwrap().best.unwrap();
            let rest = [best, Move::Pass, Move::Play(outside)];
            assert_eq!(judge(owner, &rest).outcome, None, "{}", drawn.name);
        }
    }

    /// A player who keeps to right moves solves every problem against the replies, and every wrong move has a
    /// refutation.
    #[test]
    fn right_moves_lead_to_the_end_and_wrong_ones_are_refuted() {
        let (mut refuted, mut longest) = (0, 0);
        let drawn = [
            "3 points, shape 1",
            "4 points in the corner, shape 3",
            "rectangular six in the corner, 0 outside liberties",
            "race, 2 liberties against 2",
            "snapback to live, 1",
        ];
        for drawn in &named(&drawn) {
            let region = book_region(drawn);
            let owner = drawn.board.cell(drawn.point).color().unwrap();
            let aimed = Question { memory: 1 << 20, ..question(drawn, &region, Aim::Capture) };
            for player in Color::BOTH {
                let mut line: Vec<Move> = Vec::new();
                loop {
                    let mut right = None;
                    for point in region.playable.iter() {
                        let moves = [line.as_slice(), &[Move::Play(point)]].concat();
                        let stop = |nodes: u64| nodes > LIMIT;
                        let judged = judge_answer(&aimed, player, &moves, Outcome::Reached, &stop).unwrap();
                        match judged.outcome {
                            Some(Outcome::Reached) => {
                                right = Some((moves, judged.line));
                                break;
                            }
                            Some(Outcome::Fails) => {
                                assert!(judged.line.len() % 2 == 1, "{} {moves:?} {judged:?}", drawn.name);
                                refuted += 1;
                            }
                            _ => {}
                        }
                    }
                    let Some((moves, replies)) = right else { panic!("{} {owner}: {line:?}", drawn.name) };
                    line = moves;
                    longest = longest.max(line.len());
                    match replies[..] {
                        [] => break,
                        [reply] => line.push(reply),
                        _ => panic!("{replies:?}"),
                    }
                    assert!(line.len() < 40, "{} {line:?}", drawn.name);
                }
            }
        }
        assert!(refuted >= 10 && longest >= 3, "{refuted} {longest}");
    }
}
