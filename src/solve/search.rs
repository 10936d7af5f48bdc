//! Proof-number search, depth first, on positions with a past.
//!
//! CITE: Ayumu Nagai, "Df-pn algorithm for searching AND/OR trees" (2002), for the search. Akihiro Kishimoto and
//! Martin Müller, "A general solution to the graph history interaction problem" (AAAI 2004), for the problem;
//! unlike there, what a proof rests on is found while it is made, and checked where it is used again
//! ([`Proof`]), so that a proof is never wrong on another path. Toru Ueda et al., "Weak proof-number search"
//! (2008): the numbers of moves that lead to the same positions are not added up. Jakub Pawlewicz and Łukasz Lew,
//! "Improving depth-first pn-search: 1 + ε trick" (2006).

mod simulation;

use super::bits::Bits;
use super::goal::Goal;
use super::ground::{ENDLESS, Ground, MOST_OUTSIDE, NOWHERE, Position};
use super::images::Images;
use super::path::{NEVER, Path, Repetition};
use super::step::{NO_MOVE, PASS, Step, THREAT};
use super::table::{Known, Proof, Table, Trace};
use kosumi_go::board::Color;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// More than any sum of numbers of open moves.
const INFINITE: u32 = 1 << 30;
/// Longer lines are not read; nothing is claimed about them.
const fn max_depth<B: Bits>() -> usize {
    // Positions of wide grounds are large, and so are the frames of the recursion.
    if B::WIDTH > 128 { 120 } else { 400 }
}

/// Says whether to give up; asked now and then, with the number of nodes so far.
pub(super) type Stop<'a> = &'a dyn Fn(u64) -> bool;

/// What threads that search the same position tell each other, beside what is in the table.
///
/// CITE: Tomoyuki Kaneko, "Parallel depth first proof number search" (AAAI 2010), for the idea: a position that
/// another thread is searching looks worse than it is, so that threads part where it costs least.
#[derive(Debug)]
pub(super) struct Company {
    /// One of them is done, or nobody wants to know any more.
    pub(super) is_over: AtomicBool,
    /// Nodes of all of them, up to date within a few times [`CHECK`] for each.
    pub(super) nodes: AtomicU64,
    /// How many threads are below a position, by its key. Positions that share a place only look worse than they are.
    busy: Vec<AtomicU8>,
}

impl Company {
    const PLACES: usize = 1 << 16;

    pub(super) fn new() -> Company {
        Company {
            is_over: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            busy: (0..Company::PLACES).map(|_| AtomicU8::new(0)).collect(),
        }
    }

    fn place(&self, key: u128) -> &AtomicU8 {
        &self.busy[(key >> 32) as usize % Company::PLACES]
    }
}

/// How often a search asks whether to stop, in nodes.
const CHECK: u64 = 256;

/// A decided position on the present path.
#[derive(Clone, Copy, Debug)]
struct Decided<B> {
    won: bool,
    /// The earliest step of the path that it rests on; [`NEVER`] if on none.
    since: u16,
    trace: Trace<B>,
}

/// A move and the position behind it.
#[derive(Clone, Copy, Debug)]
struct Child<B> {
    step: Step,
    after: Position<B>,
    lifted: [B; 2],
    key: u128,
    /// See [`Past::symmetry`](super::path::Past::symmetry).
    symmetry: u8,
    /// Where superko bans stones of the player on turn there, and since when.
    banned: B,
    since: u16,
    pn: u32,
    dn: u32,
    decided: Option<Decided<B>>,
}

/// What became of a node.
#[derive(Clone, Copy, Debug)]
struct Result<B> {
    pn: u32,
    dn: u32,
    decided: Option<Decided<B>>,
    best: Step,
}

/// The answer to a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// Does the prover win? `None` if that was not found out.
    pub(super) won: Option<bool>,
    /// A move that shows it, if the winner is on turn.
    pub(super) best: Step,
}

/// A search for one goal.
pub(super) struct Search<'a, B> {
    pub(super) ground: &'a Ground<B>,
    pub(super) goal: Goal<B>,
    images: Option<&'a Images<B>>,
    table: &'a Table<B>,
    stop: Stop<'a>,
    path: Path<B>,
    /// A path without a past, for the keys of positions that have none.
    bare: Path<B>,
    children: Vec<Child<B>>,
    company: Option<&'a Company>,
    /// Nodes that were expanded.
    pub(super) nodes: u64,
    /// Moves that were shown to fail as another one does, without a search.
    pub(super) simulated: u64,
    /// Look-ups in the table, and those that found something.
    pub(super) table_use: Cell<(u64, u64)>,
    /// Nodes when it last asked whether to stop.
    asked: u64,
    stopped: bool,
}

impl<'a, B: Bits> Search<'a, B> {
    pub(super) fn new(
        ground: &'a Ground<B>,
        goal: Goal<B>,
        repetition: Repetition,
        table: &'a Table<B>,
        stop: Stop<'a>,
    ) -> Search<'a, B> {
        Search {
            ground,
            goal,
            images: None,
            table,
            stop,
            path: Path::new(repetition, goal.salt()),
            bare: Path::new(repetition, goal.salt()),
            children: Vec::new(),
            company: None,
            nodes: 0,
            simulated: 0,
            table_use: Cell::new((0, 0)),
            asked: 0,
            stopped: false,
        }
    }

    /// The same, on a board whose images are looked up together. The goal must be the same for all of them.
    pub(super) fn with_images(mut self, images: Option<&'a Images<B>>) -> Search<'a, B> {
        self.images = images;
        self
    }

    /// The same, as one of several threads.
    pub(super) fn in_company(mut self, company: &'a Company) -> Search<'a, B> {
        self.company = Some(company);
        self
    }

    /// Reads the position after some legal moves, which are its past.
    pub(super) fn decide_line(&mut self, root: &Position<B>, line: &[Step]) -> Answer {
        self.path.clear();
        self.children.clear();
        self.stopped = false;
        let mut past = self.path.past(self.ground, self.images, root, false, [B::default(); 2]);
        self.path.push(*root, root.to_move.opponent(), false, [B::default(); 2]);
        let mut position = *root;
        for &step in line {
            let Some(child) = self.child(&position, step, past.banned) else {
                return Answer { won: None, best: NO_MOVE };
            };
            // What is known of a position on the way says nothing about the one at the end, but if the game ends there.
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

    /// The legal moves behind a line, and whether they end it: for whoever shows proofs.
    pub(super) fn moves_behind(&mut self, root: &Position<B>, line: &[Step]) -> Vec<(Step, bool)> {
        self.path.clear();
        self.children.clear();
        let mut past = self.path.past(self.ground, self.images, root, false, [B::default(); 2]);
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

    /// Is the game over behind a move from the latest position to this one?
    fn ends(&self, after: &Position<B>) -> bool {
        self.goal.decided(self.ground, after).is_some() || self.path.cycle(after).is_some()
    }

    fn enter(&mut self, before: &Position<B>, child: &Child<B>) {
        let by_play = child.step < THREAT;
        self.path.push(child.after, before.to_move, by_play, child.lifted);
    }

    /// The move and what is known of the position behind it; `None` if it is not legal.
    fn child(&self, position: &Position<B>, step: Step, banned: B) -> Option<Child<B>> {
        let mut child = self.unseen_child(position, step, banned)?;
        self.look_at(&mut child);
        Some(child)
    }

    /// A child gets what is known of it, or the numbers of a new position.
    fn look_at(&self, child: &mut Child<B>) {
        if child.decided.is_none() && !self.refresh(child) {
            (child.pn, child.dn) = self.goal.first_numbers(self.ground, &child.after);
        }
    }

    /// The move and the position behind it, and who wins if the game ends there; `None` if it is not legal.
    fn unseen_child(&self, position: &Position<B>, step: Step, banned: B) -> Option<Child<B>> {
        let mover = position.to_move;
        let mut lifted = [B::default(); 2];
        let after = match step {
            PASS => {
                let after = self.ground.pass(position);
                lifted = [0, 1].map(|color| position.stones[color] & !after.stones[color]);
                after
            }
            THREAT => {
                let mut after = Position { ko: NOWHERE, passes: 0, ..*position };
                let left = &mut after.threats[mover as usize];
                *left -= u8::from(*left != ENDLESS);
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
                let placed = self.ground.place(position, index)?;
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
        if let Some(settled) = self.goal.decided(self.ground, &after) {
            child.decided = Some(Decided { won: settled.won, since: NEVER, trace: settled.trace });
            return Some(child);
        }
        if let Some(cycle) = self.path.cycle(&after) {
            let winner = self.path.repetition().cycles();
            let won = winner == Some(self.goal.prover);
            child.decided = Some(Decided { won, since: cycle as u16, trace: Trace::default() });
            return Some(child);
        }
        let past = self.path.past(self.ground, self.images, &after, step < THREAT, lifted);
        (child.key, child.symmetry) = (past.key, past.symmetry);
        (child.banned, child.since) = (past.banned, past.since);
        Some(child)
    }

    /// Looks a child of the latest position up in the table; false if nothing is known of it.
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
            Some(Known::Proven(proof)) => {
                let since = match proof.rests_on {
                    0 => NEVER,
                    count => self.path.len() as u16 - count,
                };
                let trace = turned_back(&proof).trace;
                child.decide(prover, Decided { won: proof.won, since, trace });
            }
            Some(Known::Open { pn, dn }) => (child.pn, child.dn) = (pn, dn),
            None => return false,
        }
        true
    }

    /// What may be played, as far as the past does not forbid it.
    fn steps(&self, position: &Position<B>) -> smallvec::SmallVec<[Step; 64]> {
        let empties = self.goal.candidates(self.ground, position);
        let mut steps: smallvec::SmallVec<[Step; 64]> = smallvec::SmallVec::new();
        // The player who wants to keep things as they are may pass; to the other a pass is of no use.
        // Unless it is a stone outside.
        let plays_outside = self.ground.besieged == Some(position.to_move.opponent());
        let outside = plays_outside && position.outside < MOST_OUTSIDE;
        if self.goal.ends_by_passes() || position.to_move != self.goal.prover || outside {
            steps.push(PASS);
        }
        if position.ko != NOWHERE && position.threats[position.to_move as usize] > 0 {
            steps.push(THREAT);
        }
        steps.extend(empties.each().map(|index| index as Step));
        steps
    }

    /// Puts all legal moves on the stack of children. Stops at one that wins for the player on turn without
    /// resting on anything: no other is needed.
    fn expand(&mut self, position: &Position<B>, banned: B) {
        let prover_moves = position.to_move == self.goal.prover;
        let wins =
            |child: &Child<B>| child.decided.is_some_and(|it| it.won == prover_moves && it.since == NEVER);
        let first = self.children.len();
        for step in self.steps(position) {
            if let Some(child) = self.unseen_child(position, step, banned) {
                // The table is much larger than the processor's caches: it is asked about all of them at once.
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
            self.look_at(&mut child);
            self.children[index] = child;
            if wins(&child) {
                self.children.truncate(index + 1);
                return;
            }
        }
    }

    fn gives_up(&mut self) -> bool {
        let new = self.nodes - std::mem::replace(&mut self.asked, self.nodes);
        let Some(company) = self.company else { return (self.stop)(self.nodes) };
        let all = company.nodes.fetch_add(new, Ordering::Relaxed) + new;
        company.is_over.load(Ordering::Relaxed) || (self.stop)(all)
    }

    /// By how much a position looks worse because other threads are below it.
    fn crowd(&self, child: &Child<B>, phi: u32) -> u32 {
        let Some(company) = self.company else { return 0 };
        match company.place(child.key).load(Ordering::Relaxed) {
            0 => 0,
            count => u32::from(count) * (phi / 4 + 1),
        }
    }

    /// Searches the position at the end of the path until it is decided or a number reaches its threshold.
    fn node(
        &mut self,
        position: &Position<B>,
        key: (u128, u8),
        banned: B,
        pn_limit: u32,
        dn_limit: u32,
    ) -> Result<B> {
        self.nodes += 1;
        let nodes_before = self.nodes;
        // The first node asks, too: nobody may want to know.
        if (self.asked == 0 || self.nodes >= self.asked + CHECK) && self.gives_up() {
            self.stopped = true;
        }
        let open = Result { pn: 1, dn: 1, decided: None, best: NO_MOVE };
        if self.stopped {
            return open;
        }
        if self.path.len() > max_depth::<B>() {
            return Result { pn: INFINITE - 1, dn: INFINITE - 1, ..open };
        }
        let cycles = self.path.repetition().cycles();
        if let Some(settled) = self.goal.held(self.ground, position, cycles) {
            let decided = Decided { won: settled.won, since: NEVER, trace: settled.trace };
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
            let choice = choose(children, prover_moves, |child, phi| self.crowd(child, phi));
            if choice.pn >= pn_limit || choice.dn >= dn_limit || self.stopped {
                let (pn, dn) = (choice.pn, choice.dn);
                let best = children[choice.child].step;
                if !self.stopped {
                    let Choice { pn, dn, .. } = match self.company {
                        // What is remembered is the truth.
                        Some(_) => choose(children, prover_moves, |_, _| 0),
                        None => choice,
                    };
                    self.table.store(key.0, Known::Open { pn, dn }, self.nodes - nodes_before + 1);
                }
                break Result { pn, dn, decided: None, best };
            }
            if choice.pn.min(choice.dn) >= INFINITE - 1 {
                // Lines that are too long are all that is left.
                self.stopped = true;
                continue;
            }
            let (pn_limit, dn_limit) = choice.limits(prover_moves, pn_limit, dn_limit);
            let mut child = self.children[first + choice.child];
            // It may have become known as a child of another position, or as an image.
            let numbers = (child.pn, child.dn);
            if self.refresh(&mut child) && (child.decided.is_some() || numbers != (child.pn, child.dn)) {
                self.children[first + choice.child] = child;
                continue;
            }
            self.enter(position, &child);
            let place = self.company.map(|company| company.place(child.key));
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

    /// What a decided node rests on, from its children.
    fn conclude(
        &self,
        position: &Position<B>,
        first: usize,
        won: bool,
        prover_moves: bool,
    ) -> (Decided<B>, Step) {
        let children = &self.children[first..];
        let mover = position.to_move as usize;
        let mut out = Decided { won, since: NEVER, trace: Trace::default() };
        let mut add = |child: &Child<B>, decided: &Decided<B>| {
            out.since = out.since.min(decided.since);
            out.trace = out.trace.with(&decided.trace);
            if child.step < THREAT {
                out.trace.played[mover] = out.trace.played[mover] | B::one(u32::from(child.step));
            }
            out.trace.lifted = [0, 1].map(|color| out.trace.lifted[color] | child.lifted[color]);
        };
        if won == prover_moves {
            // One move is enough: the one that rests on least.
            let winning = children.iter().filter_map(|child| {
                let decided = child.decided.as_ref()?;
                (decided.won == won).then_some((child, decided))
            });
            let Some((child, decided)) = winning.max_by_key(|(_, decided)| decided.since) else {
                unreachable!("somebody won");
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

    /// Remembers a decided node. Its own position is the latest step of the path.
    fn finish(
        &self,
        (key, symmetry): (u128, u8),
        decided: Decided<B>,
        best: Step,
        nodes_before: u64,
    ) -> Result<B> {
        let own = self.path.len() - 1;
        let rests_on = own.saturating_sub(usize::from(decided.since));
        let suffix = if rests_on == 0 { 0 } else { self.path.suffix_before_last(rests_on, symmetry) };
        let Decided { won, mut trace, .. } = decided;
        let shown = best;
        if let Some(images) = self.images.filter(|_| symmetry > 0) {
            trace = images.trace(symmetry, &trace);
        }
        let best = match self.images.filter(|_| symmetry > 0 && best < THREAT) {
            Some(images) => images.step(symmetry, best),
            None => best,
        };
        let proof = Proof { won, rests_on: rests_on as u16, suffix, trace, best };
        self.table.store(key, Known::Proven(proof), self.nodes - nodes_before + 1);
        let (pn, dn) = if won { (0, INFINITE) } else { (INFINITE, 0) };
        // To positions before this one, resting on this one itself is resting on nothing.
        let since = if rests_on == 0 { NEVER } else { decided.since };
        Result { pn, dn, decided: Some(Decided { since, ..decided }), best: shown }
    }
}

impl<B: Bits> Child<B> {
    /// Takes note that it is decided. Where the loser is on turn, stones that superko denies it count, too.
    fn decide(&mut self, prover: Color, decided: Decided<B>) {
        let winner_moves = (self.after.to_move == prover) == decided.won;
        let since = if winner_moves { decided.since } else { decided.since.min(self.since) };
        (self.pn, self.dn) = if decided.won { (0, INFINITE) } else { (INFINITE, 0) };
        self.decided = Some(Decided { since, ..decided });
    }
}

/// Who wins, if the decided children say so.
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
struct Choice {
    child: usize,
    /// The node's numbers.
    pn: u32,
    dn: u32,
    /// The smallest number that counts among the other children.
    second: u32,
    /// Open children other than this.
    others: u32,
    /// The child's own numbers.
    own: (u32, u32),
}

/// `crowd`: what is added to a child's number because others search it.
fn choose<B>(children: &[Child<B>], prover_moves: bool, crowd: impl Fn(&Child<B>, u32) -> u32) -> Choice {
    // For the player on turn, the smaller the better; for the other one.
    let numbers = |child: &Child<B>| if prover_moves { (child.pn, child.dn) } else { (child.dn, child.pn) };
    let (mut best, mut best_numbers, mut second) = (0, (u32::MAX, u32::MAX), INFINITE);
    let (mut most, mut open) = (0, 0);
    for (index, child) in children.iter().enumerate().filter(|(_, child)| child.decided.is_none()) {
        let (phi, delta) = numbers(child);
        let phi = phi.saturating_add(crowd(child, phi)).min(INFINITE - 1);
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
    Choice { child: best, pn, dn, second, others, own: (children[best].pn, children[best].dn) }
}

impl Choice {
    /// How far to search the child before looking at the others again.
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
