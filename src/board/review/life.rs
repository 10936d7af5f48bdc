//! Facts of life and death about bad moves: what the solver proves about the positions after the move and after the
//! first choice.
//!
//! Stones *die* if the opponent captures their chain whatever its owner plays, also outside the region and with any
//! number of ko threats. They *live* if their owner makes eyes that cannot be taken. This is more than not being
//! captured: neither a repetition nor a seki counts as life. Every sentence is proven. A fact is mentioned only if the
//! opposite case is decided as well: a chain that dies after the move must not be captured after the first choice,
//! because it lives or escapes from the region that is read, and vice versa.
//!
//! A race is lost by the number of moves that the player would need to make, before the opponent moves again, for the
//! stones to live and an adjacent chain to be captured.

use super::explain::{FactKind, MIN_STONES, MoveFact};
use kosumi_go::board::{Board, Cell, Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_solve::{Aim, Memo, Outcome, Question, Region, Success, judge_answer, read};

/// Maximum number of empty points in a region that is read.
const MAX_EMPTY: usize = 14;
/// Distances from a chain within which its surroundings are read, if they are not a small closed region.
const REACHES: [usize; 2] = [2, 1];
/// Maximum number of nodes for one query.
const NODES_EACH: u64 = 10_000;
/// Maximum number of nodes for all queries about a move, without those for the line of a fact that is found.
const MAX_NODES: u64 = 40_000;
/// Number of nodes that a death adds to the budget, for its race.
const NODES_RACE: u64 = 30_000;
/// Maximum number of chains next to dying stones with which a race is read.
const MAX_RIVALS: usize = 3;
/// Maximum number of nodes for each step of a line.
const NODES_LINE: u64 = 30_000;
/// Maximum number of moves of a line that shows how stones live or die.
const MAX_LINE_MOVES: usize = 13;
/// Size of the solver's table for a query, in bytes.
const TABLE_BYTES: usize = 1 << 20;
/// Number of cached answers.
const CACHED: usize = 4096;

/// Reads life and death for the facts of a game.
pub(super) struct LifeReader {
    memo: Memo,
}

/// Positions to be read, with their budget.
struct Reading<'a> {
    memo: &'a mut Memo,
    /// The position before the move.
    before: &'a Game,
    /// The position after the move.
    after: &'a Game,
    /// The position after the first choice.
    instead: &'a Game,
    /// Player who made the move.
    color: Color,
    mv: Move,
    best: Move,
    /// Number of nodes left for queries.
    left: u64,
}

impl LifeReader {
    pub(super) fn new() -> LifeReader {
        LifeReader { memo: Memo::new(CACHED) }
    }

    /// Returns the facts about a move in a game, compared with the first choice.
    pub(super) fn facts_of(&mut self, game: &Game, color: Color, mv: Move, best: Move) -> Vec<MoveFact> {
        let played = |mv: Move| {
            let mut game = game.clone();
            game.set_to_move(color);
            game.play(color, mv).ok().map(|()| game)
        };
        let (Some(after), Some(instead)) = (played(mv), played(best)) else { return Vec::new() };
        if mv == best {
            return Vec::new();
        }
        let mut before = game.clone();
        before.set_to_move(color);
        let (before, after, instead) = (&before, &after, &instead);
        let memo = &mut self.memo;
        let mut reading = Reading { memo, before, after, instead, color, mv, best, left: MAX_NODES };
        let mut found = reading.lost();
        found.extend(reading.not_killed());
        found
    }
}

impl Reading<'_> {
    /// Returns the facts about the largest chain of the player that dies after the move, but not after the first
    /// choice.
    fn lost(&mut self) -> Vec<MoveFact> {
        let (after, before) = (self.after.board(), self.before.board());
        let opponent = self.color.opponent();
        for region in self.chains(after, self.color) {
            // The fact names a stone that was there before the move.
            let Some(at) = region.group.iter().find(|&stone| before.cell(stone) == Cell::from(self.color))
            else {
                continue;
            };
            let Some(killing) = self.dies(after, &region, opponent) else { continue };
            if !self.is_safe(self.instead.board(), at, opponent) {
                continue;
            }
            let kind = if self.dies(after, &region, self.color).is_some() {
                FactKind::LeavesDead
            } else if self.is_safe(after, at, self.color) {
                FactKind::AllowsKill
            } else {
                continue;
            };
            let stones = region.group.len();
            let Some(earlier) = small_region(before, at) else { continue };
            let mut found = Vec::new();
            let lines = self.refutation(&earlier).into_iter().chain([vec![self.mv, killing]]);
            if let Some(line) = lines.into_iter().find(|line| is_shown(self.before, line, kind)) {
                found.push(MoveFact { kind, stones, at, line });
                self.left += NODES_RACE;
                found.extend(self.race(&region, at, kind));
            }
            // The first choice saves stones only if they were in danger before.
            if self.best != Move::Pass
                && self.dies(before, &earlier, opponent).is_some()
                && self.lives(self.instead.board(), at, opponent)
            {
                let (stones, line) = (earlier.group.len(), self.continuation(&earlier, at));
                found.push(MoveFact { kind: FactKind::MissesSave, stones, at, line });
            }
            return found;
        }
        Vec::new()
    }

    /// Returns the fact about the race of the stones of a region that die after the move. One of them is at `at`.
    fn race(&mut self, dying: &Region, at: Point, death: FactKind) -> Option<MoveFact> {
        let board = self.after.board();
        let (player, opponent) = (self.color, self.color.opponent());
        let beside = dying.group.iter().flat_map(|stone| stone.adjacent());
        let mut rivals: Vec<Point> = beside
            .filter(|&point| board.cell(point) == Cell::from(opponent))
            .map(|point| board.anchor(point))
            .filter(|&anchor| board.chain_len(anchor) >= MIN_STONES)
            .collect();
        rivals.sort_by_key(|&anchor| (std::cmp::Reverse(board.chain_len(anchor)), anchor));
        rivals.dedup();
        rivals.truncate(MAX_RIVALS);
        let played = self.mv;
        let found = rivals.into_iter().find_map(|rival| {
            let fact = |kind, moves: &[Move]| {
                let line = [played, Move::Pass].into_iter().chain(moves.iter().copied()).collect();
                MoveFact { kind, stones: board.chain_len(rival), at: rival, line }
            };
            if death == FactKind::AllowsKill {
                let capturing = self.wins_race(board, rival, at)?;
                return Some(fact(FactKind::RaceLostByOne, &[capturing]));
            }
            let region = small_region(board, rival)?;
            // Stones that die even if the chain next to them can be captured have not lost a race with it.
            if self.dies(board, &region, player).is_some() {
                return None;
            }
            let empty = region.playable.iter().filter(|&point| board.cell(point) == Cell::Empty);
            let free: Vec<Point> = empty.filter(|&point| !board.is_suicide(point, player)).collect();
            free.into_iter().find_map(|point| {
                let mut next = *board;
                next.play_unchecked(point, player);
                let capturing = self.wins_race(&next, rival, at)?;
                Some(fact(FactKind::RaceLostByTwo, &[Move::Play(point), Move::Pass, capturing]))
            })
        });
        found.filter(|fact| is_shown(self.before, &fact.line, fact.kind))
    }

    /// Returns a move with which the player, who moves next, provably captures the chain at `rival`, if the player's
    /// chain at `at` provably lives after it.
    fn wins_race(&mut self, board: &Board, rival: Point, at: Point) -> Option<Move> {
        let capturing = self.dies(board, &small_region(board, rival)?, self.color)?;
        // A chain that dies even after a pass has already lost its race.
        let Move::Play(point) = capturing else { return None };
        let mut next = *board;
        next.play_unchecked(point, self.color);
        self.lives(&next, at, self.color.opponent()).then_some(capturing)
    }

    /// Returns the fact about the largest chain of the opponent that dies after the first choice, but not after the
    /// move.
    fn not_killed(&mut self) -> Option<MoveFact> {
        let opponent = self.color.opponent();
        let (before, instead) = (self.before.board(), self.instead.board());
        if self.best == Move::Pass {
            return None;
        }
        for region in self.chains(instead, opponent) {
            let at = region.group.iter().next()?;
            if self.dies(instead, &region, opponent).is_none()
                || !self.is_safe(self.after.board(), at, opponent)
            {
                continue;
            }
            // Stones that were already dead cannot be killed.
            if !self.is_safe(before, at, opponent) {
                continue;
            }
            let earlier = small_region(before, at)?;
            let (stones, line) = (earlier.group.len(), self.continuation(&earlier, at));
            return Some(MoveFact { kind: FactKind::MissesKill, stones, at, line });
        }
        None
    }

    /// Returns the regions of the chains of this colour, the largest chains first. The regions are small, and the move
    /// or the first choice touches them. Elsewhere the two moves make no difference that could be proven.
    fn chains(&self, board: &Board, color: Color) -> Vec<Region> {
        let anchors = board.stones().filter(|&(point, its)| its == color && board.anchor(point) == point);
        let mut anchors: Vec<Point> = anchors.map(|(point, _)| point).collect();
        anchors.retain(|&at| board.chain_len(at) >= MIN_STONES);
        anchors.sort_by_key(|&at| (std::cmp::Reverse(board.chain_len(at)), at));
        let regions = anchors.into_iter().filter_map(|at| small_region(board, at));
        regions.filter(|region| touches(region, self.mv) || touches(region, self.best)).collect()
    }

    /// Reads the answer to a query, within the budget of the move. Returns the answer with the best first move.
    fn ask(
        &mut self,
        board: &Board,
        region: &Region,
        aim: Aim,
        first: Color,
    ) -> Option<(Success, Option<Move>)> {
        let most = NODES_EACH.min(self.left);
        if most == 0 {
            return None;
        }
        let question = self.question(board, region, aim);
        let reading = self.memo.read(&question, first, most).ok()?;
        self.left = self.left.saturating_sub(reading.nodes);
        Some((reading.success, reading.best))
    }

    fn question<'q>(&self, board: &'q Board, region: &'q Region, aim: Aim) -> Question<'q> {
        let suicide = self.before.rules().suicide;
        Question { board, region, aim, suicide, memory: TABLE_BYTES, threads: 1 }
    }

    /// If the region's chain provably dies when `first` moves first, returns the move that kills it.
    fn dies(&mut self, board: &Board, region: &Region, first: Color) -> Option<Move> {
        // If the chain escapes from its region, reading ends, and its death is not claimed.
        let open = Region { is_closed: false, ..*region };
        let (success, best) = self.ask(board, &open, Aim::Capture, first)?;
        (success == Success::Yes).then(|| best.unwrap_or(Move::Pass))
    }

    /// Returns whether the reading of the chain at a stone ends without its capture when `first` moves first. It may
    /// still be captured outside the region, so no sentence claims that it lives.
    fn is_safe(&mut self, board: &Board, at: Point, first: Color) -> bool {
        let Some(region) = small_region(board, at) else { return false };
        let open = Region { is_closed: false, ..region };
        matches!(self.ask(board, &open, Aim::Capture, first), Some((Success::No, _)))
    }

    /// Returns whether the chain at a stone provably lives when `first` moves first.
    fn lives(&mut self, board: &Board, at: Point, first: Color) -> bool {
        let Some(region) = small_region(board, at) else { return false };
        matches!(self.ask(board, &region, Aim::Secure, first), Some((Success::Yes, _)))
    }

    /// Returns the move that was played and its refutation, if the solver finds one.
    fn refutation(&self, region: &Region) -> Option<Vec<Move>> {
        let question = self.question(self.before.board(), region, Aim::Capture);
        let stop = |nodes| nodes > NODES_LINE;
        let judged = judge_answer(&question, self.color, &[self.mv], Outcome::Reached, &stop).ok()?;
        let is_refuted = judged.outcome == Some(Outcome::Fails) && !judged.line.is_empty();
        is_refuted.then(|| [self.mv].into_iter().chain(judged.line).collect())
    }

    /// Returns a line that begins with the first choice, with the most stubborn replies and the right answers to them.
    fn continuation(&self, region: &Region, at: Point) -> Vec<Move> {
        let question = self.question(self.before.board(), region, Aim::Capture);
        let stop = |nodes| nodes > NODES_LINE;
        let mut game = self.instead.clone();
        let mut line = vec![self.best];
        while line.len() + 2 <= MAX_LINE_MOVES {
            let Ok(judged) = judge_answer(&question, self.color, &line, Outcome::Reached, &stop) else {
                break;
            };
            let (Some(Outcome::Reached), Some(&reply)) = (judged.outcome, judged.line.first()) else { break };
            if game.play(self.color.opponent(), reply).is_err() {
                break;
            }
            let board = *game.board();
            let Some(region) = small_region(&board, at) else { break };
            let asked = self.question(&board, &region, Aim::Capture);
            let answer = read(&asked, self.color, &stop).ok().and_then(|reading| reading.best);
            let Some(answer) = answer.filter(|&it| it != Move::Pass) else { break };
            if game.play(self.color, answer).is_err() {
                break;
            }
            line.extend([reply, answer]);
            if game.board().cell(at) == Cell::Empty {
                break;
            }
        }
        line
    }
}

/// Returns a small region for the chain at a stone: everything that the opponent's stones enclose, or else what is
/// near. It counts as closed, so that leaving it does not save the chain.
fn small_region(board: &Board, at: Point) -> Option<Region> {
    let enclosed = Some(Region::of_group(board, at)?).filter(|region| region.is_closed);
    let near = REACHES.map(|reach| Region::near(board, &[at], reach));
    let region = enclosed.into_iter().chain(near).find(|region| region.empty_points(board) <= MAX_EMPTY)?;
    Some(Region { group: board.chain(at).collect(), is_closed: true, ..region })
}

/// Returns whether a move is at a point of a region or beside one.
fn touches(region: &Region, mv: Move) -> bool {
    let Move::Play(point) = mv else { return false };
    region.playable.contains(point) || point.adjacent().iter().any(|&beside| region.playable.contains(beside))
}

/// Returns whether a line is legal and shows a fact of this kind. If stones die only after the opponent's reply, the
/// reply must be on the board. Otherwise, some later move must be.
fn is_shown(before: &Game, line: &[Move], kind: FactKind) -> bool {
    let mut game = before.clone();
    let is_legal = line.iter().all(|&mv| {
        let mover = game.to_move();
        game.play(mover, mv).is_ok()
    });
    let replies = line.get(1..).unwrap_or_default();
    is_legal
        && match kind {
            FactKind::AllowsKill => replies.first().is_some_and(|&mv| mv != Move::Pass),
            _ => replies.iter().any(|&mv| mv != Move::Pass),
        }
}

#[cfg(test)]
mod tests;
