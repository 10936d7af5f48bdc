//! Depth-first proof-number search on positions with a past.
//!
//! CITE: Ayumu Nagai, "Df-pn algorithm for searching AND/OR trees" (2002), for the search. Akihiro Kishimoto and Martin
//! Müller, "A general solution to the graph history interaction problem" (AAAI 2004), for the problem; unlike there,
//! the dependencies of a proof are found while the proof is made and are checked where it is used again ([`Proof`]), so
//! a proof is never wrong on another path. Toru Ueda et al., "Weak proof-number search" (2008): the numbers of moves
//! that lead to the same positions are not added up. Jakub Pawlewicz and Łukasz Lew, "Improving depth-first pn-search:
//! 1 + ε trick" (2006).

mod simulation;

use super::bits::Bits;
use super::goal::Goal;
use super::images::Images;
use super::move_code::{MoveCode, NO_MOVE, PASS, THREAT};
use super::path::{NEVER, Path, Repetition};
use super::table::{Knowledge, Proof, Table, Trace};
use super::window::{MAX_OUTSIDE, NO_POINT, Position, UNLIMITED, Window};
use kosumi_go::board::Color;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// Proof or disproof number of a decided position; greater than any sum of numbers of open moves.
const INFINITE: u32 = 1 << 30;
/// Returns the largest depth of a line. Nothing is claimed about longer lines.
const fn max_depth<B: Bits>() -> usize {
    // Positions of wide grounds are large, and so are the frames of the recursion.
    if B::WIDTH > 128 { 120 } else { 400 }
}

/// A function that returns whether to give up. The search calls it now and then with the number of nodes so far.
pub(super) type Stop<'a> = &'a (dyn Fn(u64) -> bool + Sync);

/// State shared by threads that search the same position, besides the transposition table.
///
/// CITE: Tomoyuki Kaneko, "Parallel depth first proof number search" (AAAI 2010), for the idea: a position that another
/// thread is searching looks worse than it is, so the threads separate where that costs least.
#[derive(Debug)]
pub(super) struct SharedSearch {
    /// Whether the search is over: a thread has finished, or the caller has given up.
    pub(super) is_over: AtomicBool,
    /// Number of nodes of all threads. It may lag behind by a few times [`CHECK_INTERVAL`] for each thread.
    pub(super) nodes: AtomicU64,
    /// Number of threads below a position, indexed by a part of the key. Positions that share an index only look worse
    /// than they are.
    busy: Vec<AtomicU8>,
}

impl SharedSearch {
    const BUSY_COUNTERS: usize = 1 << 16;

    pub(super) fn new() -> SharedSearch {
        SharedSearch {
            is_over: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            busy: (0..SharedSearch::BUSY_COUNTERS).map(|_| AtomicU8::new(0)).collect(),
        }
    }

    fn busy_counter(&self, key: u128) -> &AtomicU8 {
        &self.busy[(key >> 32) as usize % SharedSearch::BUSY_COUNTERS]
    }
}

/// Number of nodes between two calls of [`Stop`].
const CHECK_INTERVAL: u64 = 256;

/// Result of a decided position on the present path.
#[derive(Clone, Copy, Debug)]
struct PathResult<B> {
    won: bool,
    /// Index of the earliest step of the path that the result depends on; [`NEVER`] if it depends on none.
    since: u16,
    trace: Trace<B>,
}

/// A move and the position after it.
#[derive(Clone, Copy, Debug)]
struct Child<B> {
    step: MoveCode,
    after: Position<B>,
    lifted: [B; 2],
    key: u128,
    /// See [`Past::symmetry`](super::path::Past::symmetry).
    symmetry: u8,
    /// Points where superko bans stones of the side to move after this move. `since` is the earliest step that bans one
    /// of them.
    banned: B,
    since: u16,
    pn: u32,
    dn: u32,
    decided: Option<PathResult<B>>,
}

/// Result of the search of a node.
#[derive(Clone, Copy, Debug)]
struct NodeResult<B> {
    pn: u32,
    dn: u32,
    decided: Option<PathResult<B>>,
    best: MoveCode,
}

/// Answer to a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// Whether the prover wins; `None` if the search ended without a result.
    pub(super) won: Option<bool>,
    /// A winning move, if the winner is to move.
    pub(super) best: MoveCode,
}

/// Search for one goal.
pub(super) struct Search<'a, B> {
    pub(super) window: &'a Window<B>,
    pub(super) goal: Goal<B>,
    images: Option<&'a Images<B>>,
    table: &'a Table<B>,
    stop: Stop<'a>,
    path: Path<B>,
    /// A path without a past, for the keys of positions without a past.
    bare: Path<B>,
    children: Vec<Child<B>>,
    shared: Option<&'a SharedSearch>,
    /// Number of nodes expanded.
    pub(super) nodes: u64,
    /// Number of moves that were shown to fail like another move, without a search.
    pub(super) simulated: u64,
    /// Number of look-ups in the table, and number of those that found an entry.
    pub(super) table_use: Cell<(u64, u64)>,
    /// Number of nodes at the last call of [`Stop`].
    nodes_at_last_check: u64,
    stopped: bool,
}

impl<'a, B: Bits> Search<'a, B> {
    pub(super) fn new(
        window: &'a Window<B>,
        goal: Goal<B>,
        repetition: Repetition,
        table: &'a Table<B>,
        stop: Stop<'a>,
    ) -> Search<'a, B> {
        Search {
            window,
            goal,
            images: None,
            table,
            stop,
            path: Path::new(repetition, goal.salt()),
            bare: Path::new(repetition, goal.salt()),
            children: Vec::new(),
            shared: None,
            nodes: 0,
            simulated: 0,
            table_use: Cell::new((0, 0)),
            nodes_at_last_check: 0,
            stopped: false,
        }
    }

    /// Makes the search look up the images of a position together. The goal must be the same for all images.
    pub(super) fn with_images(mut self, images: Option<&'a Images<B>>) -> Search<'a, B> {
        self.images = images;
        self
    }

    /// Makes the search one of several threads that share this state.
    pub(super) fn sharing(mut self, shared: &'a SharedSearch) -> Search<'a, B> {
        self.shared = Some(shared);
        self
    }

    /// Reads the position after some legal moves, which are its past.
    pub(super) fn decide_line(&mut self, root: &Position<B>, line: &[MoveCode]) -> Answer {
        self.path.clear();
        self.children.clear();
        self.stopped = false;
        let mut past = self.path.past(self.window, self.images, root, false, [B::default(); 2]);
        self.path.push(*root, root.to_move.opponent(), false, [B::default(); 2]);
        let mut position = *root;
        for &step in line {
            let Some(child) = self.child(&position, step, past.banned) else {
                return Answer { won: None, best: NO_MOVE };
            };
            // A result for a position on the way says nothing about the last position, unless the game ends there.
            if let Some(decided) = child.decided
                && self.ends(&child.after)
            {
                return Answer { won: Some(decided.won), best: NO_MOVE };
            }
            past.banned = child.banned;
            (past.key, past.symmetry) = (child.key, child.symmetry);
            self.enter(&position, &child);
            position = child.after;
        }
        let result = self.node(&position, (past.key, past.symmetry), past.banned, INFINITE, INFINITE);
        Answer { won: result.decided.map(|decided| decided.won), best: result.best }
    }

    /// Returns the legal moves after a line, and whether each ends the game. Used to show proofs.
    pub(super) fn moves_behind(&mut self, root: &Position<B>, line: &[MoveCode]) -> Vec<(MoveCode, bool)> {
        self.path.clear();
        self.children.clear();
        let mut past = self.path.past(self.window, self.images, root, false, [B::default(); 2]);
        self.path.push(*root, root.to_move.opponent(), false, [B::default(); 2]);
        let mut position = *root;
        for &step in line {
            let Some(child) = self.child(&position, step, past.banned) else { return Vec::new() };
            past.banned = child.banned;
            self.enter(&position, &child);
            position = child.after;
        }
        let steps = self.steps(&position);
        let child = |step| {
            let after = self.child(&position, step, past.banned)?.after;
            Some((step, self.ends(&after)))
        };
        steps.into_iter().filter_map(child).collect()
    }

    /// Returns whether a move from the latest position to this one ends the game.
    fn ends(&self, after: &Position<B>) -> bool {
        self.goal.decided(self.window, after).is_some() || self.path.cycle(after).is_some()
    }

    fn enter(&mut self, before: &Position<B>, child: &Child<B>) {
        let by_play = child.step < THREAT;
        self.path.push(child.after, before.to_move, by_play, child.lifted);
    }

    /// Returns a move with the knowledge about the position after it; `None` if the move is not legal.
    fn child(&self, position: &Position<B>, step: MoveCode, banned: B) -> Option<Child<B>> {
        let mut child = self.bare_child(position, step, banned)?;
        self.load_numbers(&mut child);
        Some(child)
    }

    /// Sets the knowledge about a child: that of the table, or the numbers of a new position.
    fn load_numbers(&self, child: &mut Child<B>) {
        if child.decided.is_none() && !self.refresh(child) {
            (child.pn, child.dn) = self.goal.first_numbers(self.window, &child.after);
        }
    }

    /// Returns a move with the position after it, and its result if the game ends there; `None` if the move is not
    /// legal.
    fn bare_child(&self, position: &Position<B>, step: MoveCode, banned: B) -> Option<Child<B>> {
        let mover = position.to_move;
        let mut lifted = [B::default(); 2];
        let after = match step {
            PASS => {
                let after = self.window.pass(position);
                lifted = [0, 1].map(|color| position.stones[color] & !after.stones[color]);
                after
            }
            THREAT => {
                let mut after = Position { ko: NO_POINT, passes: 0, ..*position };
                let left = &mut after.threats[mover as usize];
                *left -= u8::from(*left != UNLIMITED);
                after
            }
            index => {
                let index = u32::from(index);
                if u32::from(position.ko) == index && self.path.repetition().cycles().is_some() {
                    return None;
                }
                if banned.has(index) {
                    return None;
                }
                let placed = self.window.place(position, index)?;
                lifted[mover as usize] = placed.suicided;
                lifted[mover.opponent() as usize] = placed.captured;
                placed.after
            }
        };
        let mut child = Child {
            step,
            after,
            lifted,
            key: 0,
            symmetry: 0,
            banned: B::default(),
            since: NEVER,
            pn: 1,
            dn: 1,
            decided: None,
        };
        if let Some(settled) = self.goal.decided(self.window, &after) {
            child.decided = Some(PathResult { won: settled.won, since: NEVER, trace: settled.trace });
            return Some(child);
        }
        if let Some(cycle) = self.path.cycle(&after) {
            let winner = self.path.repetition().cycles();
            let won = winner == Some(self.goal.prover);
            child.decided = Some(PathResult { won, since: cycle as u16, trace: Trace::default() });
            return Some(child);
        }
        let past = self.path.past(self.window, self.images, &after, step < THREAT, lifted);
        (child.key, child.symmetry) = (past.key, past.symmetry);
        (child.banned, child.since) = (past.banned, past.since);
        Some(child)
    }

    /// Looks up a child of the latest position in the table. Returns false if there is no entry.
    fn refresh(&self, child: &mut Child<B>) -> bool {
        let prover = self.goal.prover;
        let turned_back = |proof: &Proof<B>| match self.images {
            Some(images) if child.symmetry > 0 => {
                Proof { trace: images.trace_back(child.symmetry, &proof.trace), ..*proof }
            }
            _ => *proof,
        };
        let found = self.table.look_up(child.key, |proof| {
            self.path.admits(&child.after, child.lifted, child.symmetry, prover, &turned_back(proof))
        });
        let (lookups, hits) = self.table_use.get();
        self.table_use.set((lookups + 1, hits + u64::from(found.is_some())));
        match found {
            Some(Knowledge::Proven(proof)) => {
                let since = match proof.depends_on {
                    0 => NEVER,
                    count => self.path.len() as u16 - count,
                };
                let trace = turned_back(&proof).trace;
                child.decide(prover, PathResult { won: proof.won, since, trace });
            }
            Some(Knowledge::Open { pn, dn }) => (child.pn, child.dn) = (pn, dn),
            None => return false,
        }
        true
    }

    /// Returns the candidate moves, not yet filtered by the past.
    fn steps(&self, position: &Position<B>) -> smallvec::SmallVec<[MoveCode; 64]> {
        let empties = self.goal.candidates(self.window, position);
        let mut steps: smallvec::SmallVec<[MoveCode; 64]> = smallvec::SmallVec::new();
        // The side that wants to keep things as they are may pass. A pass is of no use to the other side, except where
        // it stands for a stone outside.
        let plays_outside = self.window.besieged == Some(position.to_move.opponent());
        let outside = plays_outside && position.outside < MAX_OUTSIDE;
        if self.goal.ends_by_passes() || position.to_move != self.goal.prover || outside {
            steps.push(PASS);
        }
        if position.ko != NO_POINT && position.threats[position.to_move as usize] > 0 {
            steps.push(THREAT);
        }
        steps.extend(empties.each().map(|index| index as MoveCode));
        steps
    }

    /// Pushes all legal moves onto the stack of children. Stops at a move that wins for the side to move and depends on
    /// no earlier position, because no other move is needed.
    fn expand(&mut self, position: &Position<B>, banned: B) {
        let prover_moves = position.to_move == self.goal.prover;
        let wins =
            |child: &Child<B>| child.decided.is_some_and(|it| it.won == prover_moves && it.since == NEVER);
        let first = self.children.len();
        for step in self.steps(position) {
            if let Some(child) = self.bare_child(position, step, banned) {
                // The table is much larger than the processor's caches, so the entries of all children are fetched at
                // once.
                if child.decided.is_none() {
                    self.table.prefetch(child.key);
                }
                self.children.push(child);
                if wins(&child) {
                    return;
                }
            }
        }
        for index in first..self.children.len() {
            let mut child = self.children[index];
            self.load_numbers(&mut child);
            self.children[index] = child;
            if wins(&child) {
                self.children.truncate(index + 1);
                return;
            }
        }
    }

    fn should_stop(&mut self) -> bool {
        let new = self.nodes - std::mem::replace(&mut self.nodes_at_last_check, self.nodes);
        let Some(shared) = self.shared else { return (self.stop)(self.nodes) };
        let all = shared.nodes.fetch_add(new, Ordering::Relaxed) + new;
        shared.is_over.load(Ordering::Relaxed) || (self.stop)(all)
    }

    /// Returns the amount by which a position looks worse because other threads are below it.
    fn busy_penalty(&self, child: &Child<B>, phi: u32) -> u32 {
        let Some(shared) = self.shared else { return 0 };
        match shared.busy_counter(child.key).load(Ordering::Relaxed) {
            0 => 0,
            count => u32::from(count) * (phi / 4 + 1),
        }
    }

    /// Searches the position at the end of the path until it is decided or one of its numbers reaches its threshold.
    fn node(
        &mut self,
        position: &Position<B>,
        key: (u128, u8),
        banned: B,
        pn_limit: u32,
        dn_limit: u32,
    ) -> NodeResult<B> {
        self.nodes += 1;
        let nodes_before = self.nodes;
        // The first node also checks: the caller may already have given up.
        if (self.nodes_at_last_check == 0 || self.nodes >= self.nodes_at_last_check + CHECK_INTERVAL)
            && self.should_stop()
        {
            self.stopped = true;
        }
        let open = NodeResult { pn: 1, dn: 1, decided: None, best: NO_MOVE };
        if self.stopped {
            return open;
        }
        if self.path.len() > max_depth::<B>() {
            return NodeResult { pn: INFINITE - 1, dn: INFINITE - 1, ..open };
        }
        let cycles = self.path.repetition().cycles();
        if let Some(settled) = self.goal.held(self.window, position, cycles) {
            let decided = PathResult { won: settled.won, since: NEVER, trace: settled.trace };
            return self.finish(key, decided, NO_MOVE, nodes_before);
        }
        let prover_moves = position.to_move == self.goal.prover;
        let first = self.children.len();
        self.expand(position, banned);
        let result = loop {
            let children = &self.children[first..];
            if let Some(won) = winner(children, prover_moves) {
                let (decided, best) = self.conclude(position, first, won, prover_moves);
                break self.finish(key, decided, best, nodes_before);
            }
            let choice = choose(children, prover_moves, |child, phi| self.busy_penalty(child, phi));
            if choice.pn >= pn_limit || choice.dn >= dn_limit || self.stopped {
                let (pn, dn) = (choice.pn, choice.dn);
                let best = children[choice.child].step;
                if !self.stopped {
                    let Selection { pn, dn, .. } = match self.shared {
                        // The stored numbers are free of the penalties for other threads.
                        Some(_) => choose(children, prover_moves, |_, _| 0),
                        None => choice,
                    };
                    self.table.store(key.0, Knowledge::Open { pn, dn }, self.nodes - nodes_before + 1);
                }
                break NodeResult { pn, dn, decided: None, best };
            }
            if choice.pn.min(choice.dn) >= INFINITE - 1 {
                // Only lines that are too long are left.
                self.stopped = true;
                continue;
            }
            let (pn_limit, dn_limit) = choice.limits(prover_moves, pn_limit, dn_limit);
            let mut child = self.children[first + choice.child];
            // The position may meanwhile be known as a child of another position, or as an image.
            let numbers = (child.pn, child.dn);
            if self.refresh(&mut child) && (child.decided.is_some() || numbers != (child.pn, child.dn)) {
                self.children[first + choice.child] = child;
                continue;
            }
            self.enter(position, &child);
            let place = self.shared.map(|shared| shared.busy_counter(child.key));
            if let Some(place) = place {
                place.fetch_add(1, Ordering::Relaxed);
            }
            let result =
                self.node(&child.after, (child.key, child.symmetry), child.banned, pn_limit, dn_limit);
            if let Some(place) = place {
                place.fetch_sub(1, Ordering::Relaxed);
            }
            self.path.pop();
            let prover = self.goal.prover;
            let child = &mut self.children[first + choice.child];
            (child.pn, child.dn) = (result.pn, result.dn);
            if let Some(decided) = result.decided {
                child.decide(prover, decided);
                if decided.won != prover_moves {
                    self.simulate_siblings(position, first, first + choice.child);
                }
            }
        };
        self.children.truncate(first);
        result
    }

    /// Returns the result of a decided node with its dependencies, collected from its children, and a best move.
    fn conclude(
        &self,
        position: &Position<B>,
        first: usize,
        won: bool,
        prover_moves: bool,
    ) -> (PathResult<B>, MoveCode) {
        let children = &self.children[first..];
        let mover = position.to_move as usize;
        let mut out = PathResult { won, since: NEVER, trace: Trace::default() };
        let mut add = |child: &Child<B>, decided: &PathResult<B>| {
            out.since = out.since.min(decided.since);
            out.trace = out.trace.with(&decided.trace);
            if child.step < THREAT {
                out.trace.played[mover] = out.trace.played[mover] | B::one(u32::from(child.step));
            }
            out.trace.removed = [0, 1].map(|color| out.trace.removed[color] | child.lifted[color]);
        };
        if won == prover_moves {
            // One winning move is enough: the one with the fewest dependencies.
            let winning = children.iter().filter_map(|child| {
                let decided = child.decided.as_ref()?;
                (decided.won == won).then_some((child, decided))
            });
            let Some((child, decided)) = winning.max_by_key(|(_, decided)| decided.since) else {
                unreachable!("one child is a win");
            };
            add(child, decided);
            (out, child.step)
        } else {
            for child in children {
                if let Some(decided) = &child.decided {
                    add(child, decided);
                }
            }
            // The loser's longest resistance is not known; any move will do.
            (out, children.first().map_or(NO_MOVE, |child| child.step))
        }
    }

    /// Stores a decided node. Its own position is the latest step of the path.
    fn finish(
        &self,
        (key, symmetry): (u128, u8),
        decided: PathResult<B>,
        best: MoveCode,
        nodes_before: u64,
    ) -> NodeResult<B> {
        let own = self.path.len() - 1;
        let depends_on = own.saturating_sub(usize::from(decided.since));
        let suffix = if depends_on == 0 { 0 } else { self.path.suffix_before_last(depends_on, symmetry) };
        let PathResult { won, mut trace, .. } = decided;
        let shown = best;
        if let Some(images) = self.images.filter(|_| symmetry > 0) {
            trace = images.trace(symmetry, &trace);
        }
        let best = match self.images.filter(|_| symmetry > 0 && best < THREAT) {
            Some(images) => images.step(symmetry, best),
            None => best,
        };
        let proof = Proof { won, depends_on: depends_on as u16, suffix, trace, best };
        self.table.store(key, Knowledge::Proven(proof), self.nodes - nodes_before + 1);
        let (pn, dn) = if won { (0, INFINITE) } else { (INFINITE, 0) };
        // For earlier positions, a dependency on this position itself is no dependency.
        let since = if depends_on == 0 { NEVER } else { decided.since };
        NodeResult { pn, dn, decided: Some(PathResult { since, ..decided }), best: shown }
    }
}

impl<B: Bits> Child<B> {
    /// Records that the child is decided. If the loser is to move, stones that superko denies to it are dependencies,
    /// too.
    fn decide(&mut self, prover: Color, decided: PathResult<B>) {
        let winner_moves = (self.after.to_move == prover) == decided.won;
        let since = if winner_moves { decided.since } else { decided.since.min(self.since) };
        (self.pn, self.dn) = if decided.won { (0, INFINITE) } else { (INFINITE, 0) };
        self.decided = Some(PathResult { since, ..decided });
    }
}

/// Returns whether the prover wins, if the decided children determine that.
fn winner<B>(children: &[Child<B>], prover_moves: bool) -> Option<bool> {
    let mut open = false;
    for child in children {
        match &child.decided {
            Some(decided) if decided.won == prover_moves => return Some(prover_moves),
            Some(_) => {}
            None => open = true,
        }
    }
    if open { None } else { Some(!prover_moves) }
}

/// The most promising open child, and the numbers of the node.
#[derive(Clone, Copy, Debug)]
struct Selection {
    child: usize,
    /// The node's proof and disproof number.
    pn: u32,
    dn: u32,
    /// Smallest number among the other children: their proof number if the prover is to move, else their
    /// disproof number.
    second: u32,
    /// Number of open children other than this one.
    others: u32,
    /// The child's own numbers.
    own: (u32, u32),
}

/// Chooses the child to search next. `busy_penalty` returns what is added to a child's number because other
/// threads search it.
fn choose<B>(
    children: &[Child<B>],
    prover_moves: bool,
    busy_penalty: impl Fn(&Child<B>, u32) -> u32,
) -> Selection {
    // The number that the side to move wants to be small comes first, its opponent's second.
    let numbers = |child: &Child<B>| if prover_moves { (child.pn, child.dn) } else { (child.dn, child.pn) };
    let (mut best, mut best_numbers, mut second) = (0, (u32::MAX, u32::MAX), INFINITE);
    let (mut most, mut open) = (0, 0);
    for (index, child) in children.iter().enumerate().filter(|(_, child)| child.decided.is_none()) {
        let (phi, delta) = numbers(child);
        let phi = phi.saturating_add(busy_penalty(child, phi)).min(INFINITE - 1);
        open += 1;
        most = most.max(delta);
        if (phi, delta) < best_numbers {
            second = best_numbers.0.min(INFINITE);
            (best, best_numbers) = (index, (phi, delta));
        } else {
            second = second.min(phi);
        }
    }
    let others: u32 = u32::max(open, 1) - 1;
    let delta = (most + others).min(INFINITE - 1);
    let (pn, dn) = if prover_moves { (best_numbers.0, delta) } else { (delta, best_numbers.0) };
    Selection { child: best, pn, dn, second, others, own: (children[best].pn, children[best].dn) }
}

impl Selection {
    /// Returns the thresholds up to which the child is searched before the other children are considered again.
    fn limits(&self, prover_moves: bool, pn_limit: u32, dn_limit: u32) -> (u32, u32) {
        let phi_limit = |limit: u32| limit.min(self.second.saturating_add(self.second / 4).saturating_add(1));
        let delta_limit = |limit: u32, own: u32| limit.saturating_sub(self.others).max(own + 1);
        if prover_moves {
            (phi_limit(pn_limit), delta_limit(dn_limit, self.own.1))
        } else {
            (delta_limit(pn_limit, self.own.0), phi_limit(dn_limit))
        }
    }
}
