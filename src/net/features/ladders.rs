//! Chains that are caught in ladders, by the definition that networks were trained with.
//!
//! A chain with one liberty is *caught* if its owner, to move, cannot escape from atari for good. A chain with two
//! liberties is caught if the opponent, to move, has a move (a *ladder move*) after which it is caught. The sides
//! strictly alternate in the reading. The attacker takes one of two liberties. The defender extends, or captures a
//! chain in atari that touches the chased chain. The reading ends when the chain has three liberties (it is free) or
//! when the attacker could capture it (it is caught).
//!
//! The rules for kos follow from one idea, that a ladder that needs a ko does not work:
//! * The defender may take any ko in the initial position.
//! * An attacker who has just taken a ko has failed, because the defender would play ko threats.
//! * The attacker may not retake a ko that the defender has just taken. The attacker never plays the point that ko
//!   forbids in the initial position, whichever colour it is forbidden to.
//! * A chain between two kos that the attacker can both take is caught, because only one of them can be won.
//!
//! A chain counts as free if the limit of moves is reached.
//!
//! CITE: David Wu, KataGo (`iterLadders` in `nninputs.cpp`, `searchIsLadderCaptured` in `board.cpp`, 2019): the
//! definition is KataGo's, and all networks in KataGo's format were trained with it.
//!
//! [`LadderReader`](kosumi_go::tactics::LadderReader) copies boards and reads one ladder in a position of a playout or
//! a search. This reader checks every chain of a board, hundreds of times a second. It therefore takes moves back, from
//! a log of their changes, instead of copying boards.

use kosumi_go::board::point::GRID;
use kosumi_go::board::{Board, ByColor, Cell, Color, Key, Point, PointMap, PointSet, PseudoLiberties};

/// Largest number of moves that the reading of one chain may try.
const MAX_MOVES: u32 = 25_000;

/// Number of positions whose ladders are cached. A search needs those of a position when it evaluates the position, and
/// again for the positions one and two moves later.
const CACHE_SIZE: usize = 1024;

/// Caught chains and ladder moves of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LadderStatus {
    /// Stones of caught chains.
    pub stones: PointSet,
    /// Ladder moves that catch chains with two liberties, by the colour of the chain.
    pub moves: ByColor<PointSet>,
}

/// Cache of the ladders of positions.
#[derive(Clone, Debug)]
pub struct Ladders {
    reader: Reader,
    entries: Vec<(Key, LadderStatus)>,
}

impl Default for Ladders {
    fn default() -> Ladders {
        Ladders {
            reader: Reader::default(),
            entries: vec![(Key::default(), LadderStatus::default()); CACHE_SIZE],
        }
    }
}

impl Ladders {
    /// Returns the caught chains and the ladder moves of a board.
    pub fn read(&mut self, board: &Board) -> &LadderStatus {
        let key = board.ko().map_or(board.key(), |(point, _)| board.key() ^ board.zobrist().ko(point));
        let (kept_key, caught) = &mut self.entries[key.0 as usize % CACHE_SIZE];
        if *kept_key != key {
            *caught = self.reader.read(board);
            *kept_key = key;
        }
        caught
    }
}

/// Reader's state of one point. `liberties` and `stones` describe a chain and are valid only at its anchor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PointState {
    /// Pseudo-liberties of the chain.
    liberties: PseudoLiberties,
    /// Next stone of the chain, in a ring.
    next: Point,
    /// Number of stones in the chain.
    stones: u16,
    /// Point whose entry describes the chain of this stone.
    anchor: Point,
    cell: Cell,
}

/// State before a move, for taking it back.
#[derive(Clone, Copy)]
struct UndoMark {
    log: usize,
    ko: Option<Point>,
}

/// Position in which moves are tried and taken back.
///
/// Invariant: every change of an entry of `states` goes through [`Reader::edit`], which saves the old entry to the log.
#[derive(Clone, Debug)]
struct Reader {
    states: PointMap<PointState>,
    /// Point that the ko of the latest move forbids.
    ko: Option<Point>,
    /// Old entries of `states` that have changed since [`Reader::load`], oldest first.
    log: Vec<(Point, PointState)>,
    /// Stack of the moves to try at all depths.
    moves: Vec<Point>,
    /// Number of moves tried for the current chain.
    tried: u32,
    /// Depth from which on the chain counts as caught. No real ladder comes near it.
    max_depth: usize,
}

impl Default for Reader {
    fn default() -> Reader {
        let point = Point::from_index(0);
        let border = PointState {
            liberties: PseudoLiberties::NONE,
            next: point,
            stones: 0,
            anchor: point,
            cell: Cell::Border,
        };
        Reader {
            states: PointMap::filled(border),
            ko: None,
            log: Vec::with_capacity(4096),
            moves: Vec::with_capacity(256),
            tried: 0,
            max_depth: 0,
        }
    }
}

impl Reader {
    /// Reads all ladders of a board.
    fn read(&mut self, board: &Board) -> LadderStatus {
        self.load(board);
        let mut caught = LadderStatus::default();
        for (point, color) in board.stones().filter(|&(point, _)| board.anchor(point) == point) {
            match self.liberties::<3>(point) {
                (1, _) if self.is_caught(point) => caught.stones.extend_from(board.chain(point)),
                (2, [first, second, _]) => {
                    for attack in [first, second] {
                        if self.is_ladder_move(attack, point, color) {
                            caught.stones.extend_from(board.chain(point));
                            caught.moves[color].insert(attack);
                        }
                    }
                }
                _ => {}
            }
        }
        caught
    }

    fn load(&mut self, board: &Board) {
        self.log.clear();
        self.moves.clear();
        self.ko = board.ko().map(|(point, _)| point);
        self.max_depth = board.size().area() * 3 / 2;
        // Points that a larger board has left beyond the edge must be cleared. Points farther away are never read.
        for index in 0..GRID.min(board.size().grid_end()) {
            let point = Point::from_index(index as u16);
            self.states[point].cell = board.cell(point);
        }
        for (anchor, _) in board.stones().filter(|&(point, _)| board.anchor(point) == point) {
            let mut liberties = PseudoLiberties::default();
            let mut stones = 0;
            let mut before = anchor;
            for stone in board.chain(anchor) {
                stones += 1;
                self.states[before].next = stone;
                self.states[stone].anchor = anchor;
                before = stone;
                for neighbour in stone.adjacent() {
                    if board.cell(neighbour) == Cell::Empty {
                        liberties.add(neighbour);
                    }
                }
            }
            self.states[before].next = anchor;
            self.states[anchor].liberties = liberties;
            self.states[anchor].stones = stones;
        }
    }

    // ------------------------------------------------------------------------------------------- ladders

    /// Returns whether the chain at `point`, which is in atari with its owner to move, is caught.
    fn is_caught(&mut self, point: Point) -> bool {
        self.tried = 0;
        let ko = self.ko.take();
        let caught = self.defend(point, 0);
        self.ko = ko;
        debug_assert!(self.moves.is_empty());
        caught && !self.is_exhausted()
    }

    /// Returns whether the chain of `color` at `point`, which has two liberties, is caught after the attacker plays
    /// `attack`, one of them.
    fn is_ladder_move(&mut self, attack: Point, point: Point, color: Color) -> bool {
        self.is_legal(attack, color.opponent()) && {
            let mark = self.play(attack, color.opponent());
            let caught = self.is_caught(point);
            self.take_back(mark);
            caught
        }
    }

    fn is_exhausted(&self) -> bool {
        self.tried >= MAX_MOVES
    }

    /// Returns whether the chain at `point` is caught with the defender to move.
    fn defend(&mut self, point: Point, depth: usize) -> bool {
        if depth >= self.max_depth {
            return true;
        }
        let Some(liberty) = self.atari_liberty(point) else { return false };
        if self.is_exhausted() || self.ko.is_some() {
            return false;
        }
        let Some(color) = self.cell(point).color() else { return true };
        let (least, most) = self.liberties_after(liberty, color);
        if least >= 3 {
            return false;
        }
        let first = self.moves.len();
        self.push_captures(point, first);
        if self.moves.len() == first && most <= 1 {
            return true;
        }
        if !self.moves[first..].contains(&liberty) {
            self.moves.push(liberty);
        }
        let escapes = (first..self.moves.len()).any(|index| {
            let reply = self.moves[index];
            self.is_legal(reply, color) && {
                let mark = self.play(reply, color);
                let caught = self.attack(point, depth + 1);
                self.take_back(mark);
                !caught
            }
        });
        self.moves.truncate(first);
        !escapes
    }

    /// Returns whether the chain at `point` is caught with the attacker to move.
    fn attack(&mut self, point: Point, depth: usize) -> bool {
        if depth >= self.max_depth {
            return true;
        }
        if self.is_exhausted() {
            return false;
        }
        let (count, [first, second, _]) = self.liberties::<3>(point);
        if count != 2 {
            return count < 2;
        }
        let Some(color) = self.cell(point).color() else { return true };
        if self.is_between_two_kos(point, [first, second], color) {
            return true;
        }
        // If the liberties are not adjacent, taking one fails if the other has three empty neighbours.
        let apart = !first.adjacent().contains(&second);
        let is_way_out = |liberty: Point| apart && self.empty_neighbours(liberty) >= 3;
        let mut attacks = [(first, is_way_out(second)), (second, is_way_out(first))];
        // The liberty that would gain more for the defender comes first.
        if self.gain(second, color) > self.gain(first, color) {
            attacks.swap(0, 1);
        }
        attacks.into_iter().any(|(attack, in_vain)| {
            !in_vain && self.is_legal(attack, color.opponent()) && {
                let mark = self.play(attack, color.opponent());
                let caught = self.defend(point, depth + 1);
                self.take_back(mark);
                caught
            }
        })
    }

    /// Returns whether the attacker can take a ko at each of the chain's two liberties, the defender gains nothing by
    /// connecting at either, and no attacking chain is in atari.
    fn is_between_two_kos(&mut self, point: Point, liberties: [Point; 2], color: Color) -> bool {
        liberties.iter().all(|&liberty| self.would_take_ko(liberty, color.opponent()))
            && liberties.iter().all(|&liberty| {
                let mark = self.play(liberty, color);
                let (count, _) = self.liberties::<3>(liberty);
                self.take_back(mark);
                count <= 2
            })
            && {
                let first = self.moves.len();
                self.push_captures(point, first);
                let has_none = self.moves.len() == first;
                self.moves.truncate(first);
                has_none
            }
    }

    /// Returns whether a stone of `color` on this empty point would capture exactly one stone and have no empty or
    /// friendly neighbour.
    fn would_take_ko(&self, point: Point, color: Color) -> bool {
        let enemy = Cell::from(color.opponent());
        let mut taken = None;
        for neighbour in point.adjacent() {
            let cell = self.cell(neighbour);
            if cell == enemy {
                if self.is_in_atari(neighbour) && taken.replace(neighbour).is_some() {
                    return false;
                }
            } else if cell != Cell::Border {
                return false;
            }
        }
        taken.is_some_and(|stone| self.chain(stone).stones == 1)
    }

    /// Estimates the liberties that the defender would gain by playing here: twice the number of empty neighbours, plus
    /// the liberties of other chains that the move connects to.
    fn gain(&self, point: Point, color: Color) -> i32 {
        let mut gain = 0;
        let adjacent = point.adjacent();
        for (index, &neighbour) in adjacent.iter().enumerate() {
            let cell = self.cell(neighbour);
            if cell == Cell::Empty {
                gain += 2;
            } else if cell == Cell::from(color) {
                let anchor = self.states[neighbour].anchor;
                let again = adjacent[..index].iter().any(|&other| {
                    self.cell(other) == Cell::from(color) && self.states[other].anchor == anchor
                });
                let (count, _) = self.liberties::<8>(neighbour);
                if !again && count > 1 {
                    gain += 2 * count as i32 - 3;
                }
            }
        }
        gain
    }

    /// Returns a lower and an upper bound of the liberties that a stone of `color` on this empty point would have.
    fn liberties_after(&self, point: Point, color: Color) -> (usize, usize) {
        let (mut empty, mut captures, mut captured) = (0, 0, 0);
        let (mut of_one, mut of_all) = (0, 0);
        for neighbour in point.adjacent() {
            match self.cell(neighbour) {
                Cell::Empty => empty += 1,
                Cell::Border => {}
                cell if cell == Cell::from(color) => {
                    let others = self.liberties::<4>(neighbour).0 - 1;
                    of_one = others.max(of_one);
                    of_all += others;
                }
                _ if self.is_in_atari(neighbour) => {
                    captures += 1;
                    captured += usize::from(self.chain(neighbour).stones);
                }
                _ => {}
            }
        }
        (captures + of_one.max(empty), empty + captured + of_all)
    }

    /// Pushes the moves that capture a chain in atari next to the chain at `point`. The moves of this position begin at
    /// index `first` of the stack.
    fn push_captures(&mut self, point: Point, first: usize) {
        let enemy = match self.cell(point) {
            Cell::Black => Cell::White,
            _ => Cell::Black,
        };
        let mut stone = point;
        loop {
            for neighbour in stone.adjacent() {
                if self.cell(neighbour) == enemy
                    && let Some(liberty) = self.atari_liberty(neighbour)
                    && !self.moves[first..].contains(&liberty)
                {
                    self.moves.push(liberty);
                }
            }
            stone = self.states[stone].next;
            if stone == point {
                break;
            }
        }
    }

    // ----------------------------------------------------------------------------------------- the board

    #[inline]
    fn cell(&self, point: Point) -> Cell {
        self.states[point].cell
    }

    /// Returns the entry that describes the chain at an occupied point.
    #[inline]
    fn chain(&self, point: Point) -> &PointState {
        &self.states[self.states[point].anchor]
    }

    #[inline]
    fn is_in_atari(&self, point: Point) -> bool {
        self.chain(point).liberties.is_single()
    }

    /// Returns the only liberty of a chain in atari.
    #[inline]
    fn atari_liberty(&self, point: Point) -> Option<Point> {
        self.chain(point).liberties.single()
    }

    fn empty_neighbours(&self, point: Point) -> usize {
        point.adjacent().iter().filter(|&&neighbour| self.cell(neighbour) == Cell::Empty).count()
    }

    /// Returns up to `N` different liberties of the chain at an occupied point, with their number.
    fn liberties<const N: usize>(&self, point: Point) -> (usize, [Point; N]) {
        let mut found = [point; N];
        let mut count = 0;
        let mut stone = point;
        loop {
            for neighbour in stone.adjacent() {
                if self.cell(neighbour) == Cell::Empty && !found[..count].contains(&neighbour) {
                    found[count] = neighbour;
                    count += 1;
                    if count == N {
                        return (count, found);
                    }
                }
            }
            stone = self.states[stone].next;
            if stone == point {
                return (count, found);
            }
        }
    }

    /// Returns whether `color` may play on this empty point: it is not suicide and not the point that ko forbids.
    fn is_legal(&self, point: Point, color: Color) -> bool {
        self.ko != Some(point)
            && point.adjacent().iter().any(|&neighbour| match self.cell(neighbour) {
                Cell::Empty => true,
                Cell::Border => false,
                cell => (cell == Cell::from(color)) != self.is_in_atari(neighbour),
            })
    }

    /// Returns the entry of a point for changing and logs its old value.
    #[inline]
    fn edit(&mut self, point: Point) -> &mut PointState {
        let state = &mut self.states[point];
        self.log.push((point, *state));
        state
    }

    /// Plays on an empty point. If this leaves the played chain without liberties, the chain is not removed.
    fn play(&mut self, point: Point, color: Color) -> UndoMark {
        let mark = UndoMark { log: self.log.len(), ko: self.ko.take() };
        self.tried += 1;
        let mut liberties = PseudoLiberties::default();
        for neighbour in point.adjacent() {
            if self.cell(neighbour) == Cell::Empty {
                liberties.add(neighbour);
            }
        }
        *self.edit(point) =
            PointState { liberties, next: point, stones: 1, anchor: point, cell: color.into() };
        let (mut captured, mut last_captured) = (0, point);
        for neighbour in point.adjacent() {
            let cell = self.cell(neighbour);
            if cell == Cell::Empty || cell == Cell::Border {
                continue;
            }
            let anchor = self.states[neighbour].anchor;
            let chain = self.edit(anchor);
            chain.liberties.remove(point);
            if cell == Cell::from(color) {
                self.merge(self.states[point].anchor, anchor);
            } else if chain.liberties.count() == 0 {
                captured += chain.stones;
                last_captured = neighbour;
                self.remove(neighbour);
            }
        }
        let chain = self.chain(point);
        if captured == 1 && chain.stones == 1 && chain.liberties.count() == 1 {
            self.ko = Some(last_captured);
        }
        mark
    }

    /// Merges two chains, given by their anchors.
    fn merge(&mut self, a: Point, b: Point) {
        if a == b {
            return;
        }
        let (keep, lose) = if self.states[a].stones >= self.states[b].stones { (a, b) } else { (b, a) };
        let lost = self.states[lose];
        let mut stone = lose;
        loop {
            let state = self.edit(stone);
            state.anchor = keep;
            stone = state.next;
            if stone == lose {
                break;
            }
        }
        let kept = self.edit(keep);
        kept.liberties.join(lost.liberties);
        kept.stones += lost.stones;
        let after = std::mem::replace(&mut kept.next, lost.next);
        self.edit(lose).next = after;
    }

    /// Removes a chain from the board.
    fn remove(&mut self, start: Point) {
        let chain = self.states[start].anchor;
        let mut stone = start;
        loop {
            self.edit(stone).cell = Cell::Empty;
            for neighbour in stone.adjacent() {
                let state = self.states[neighbour];
                if state.cell.color().is_some() && state.anchor != chain {
                    self.edit(state.anchor).liberties.add(stone);
                }
            }
            stone = self.states[stone].next;
            if stone == start {
                break;
            }
        }
    }

    fn take_back(&mut self, mark: UndoMark) {
        while self.log.len() > mark.log {
            if let Some((point, state)) = self.log.pop() {
                self.states[point] = state;
            }
        }
        self.ko = mark.ko;
    }
}

#[cfg(test)]
mod tests;
