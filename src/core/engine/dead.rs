//! Which stones are dead: what is certain, what can be read, and what playouts or a network say of the rest.

use crate::board::{Board, Cell, Color, Point, PointMap, PointSet};
use crate::eval::Ownership;
use crate::eyespace::{self, Fate};
use crate::safety;
use crate::score;
use crate::solve::{self, Aim, Question, Region, Success};

/// A chain is dead if its points belong to the opponent so clearly, as a mean owner.
const DEAD_MEAN: f32 = 0.35;
/// Stones that remain so clearly where the group inside them remains too, remain without it.
const HELD_MEAN: f32 = 0.8;
/// How lost a chain is if that has been read. Greater than every mean.
const READ: f32 = 2.0;
/// How lost a chain is if that is so whatever happens.
const CERTAIN: f32 = 3.0;

/// What only seems dead is read if no more empty points than these are enclosed with it: about as many as a seki has.
const READ_EMPTY_POINTS: usize = 12;
/// Nodes for one chain, and for all chains of a position: some tens of milliseconds in all.
const READ_NODES: (u64, u64) = (3_000, 30_000);
/// Bytes of the table for one reading: as many positions as nodes.
const READ_MEMORY: usize = 1 << 20;
/// Frames of a reading are large, and whoever asks for the status may have a small stack.
const READ_STACK: usize = 16 << 20;

/// What is known of the stones of a position.
#[derive(Debug)]
pub(super) struct Stones {
    /// The dead ones, whole chains.
    pub(super) dead: PointSet,
    /// Is there a group that lives or dies as its owner or the opponent plays first?
    pub(super) is_unsettled: bool,
}

/// Judges the stones of a position. What is said of neighbours fits together:
///
/// - where a dead chain touches stones of the opponent, they are alive;
/// - the opponent has living stones around what is left when all dead stones are taken off.
pub(super) fn judge(board: &Board, ownership: &Ownership, suicide: bool) -> Stones {
    let (lost, is_unsettled) = how_lost(board, ownership, suicide);
    let mut dead = PointSet::EMPTY;
    for (point, _) in board.stones() {
        if lost[board.anchor(point)] > DEAD_MEAN {
            dead.insert(point);
        }
    }
    revive_captors(board, &lost, &mut dead);
    // Each round revives a chain.
    while revive_unheld(board, &mut dead) {}
    Stones { dead, is_unsettled }
}

/// For every chain, at its anchor, how clearly it ends as the opponent's: a mean owner in `[-1, 1]`, or more where
/// more is known. And is there an unsettled group?
fn how_lost(board: &Board, ownership: &Ownership, suicide: bool) -> (PointMap<f32>, bool) {
    let sure = Color::BOTH.map(|color| safety::pass_alive(board, color, suicide));
    let mut lost = PointMap::filled(0.0);
    let anchors: Vec<(Point, Color)> =
        board.stones().filter(|&(point, _)| board.anchor(point) == point).collect();
    for &(anchor, color) in &anchors {
        lost[anchor] = if sure[color as usize].chains.contains(anchor) {
            -CERTAIN
        } else if sure[color.opponent() as usize].territory.contains(anchor) {
            CERTAIN
        } else {
            let sum: f32 = board.chain(anchor).map(|stone| ownership.mean(stone)).sum();
            -sum / board.chain_len(anchor) as f32 * color.sign() as f32
        };
    }
    let means = lost.clone();
    let is_held = |stone: Point| means[board.anchor(stone)] <= -HELD_MEAN;
    let mut seen = PointSet::EMPTY;
    let mut is_unsettled = false;
    for &(anchor, _) in &anchors {
        // Where a group is certain to live, its intruders can still be in seki.
        if seen.contains(anchor) {
            continue;
        }
        let Some(group) = eyespace::read(board, anchor, suicide, is_held) else { continue };
        for (anchor, fate) in group.chains.iter().chain(&group.intruders) {
            seen.insert(*anchor);
            let read = match fate {
                Fate::Alive => -READ,
                Fate::Dead => READ,
                Fate::Unsettled => {
                    is_unsettled = true;
                    continue;
                }
                Fate::Unknown => continue,
            };
            if lost[*anchor].abs() < READ {
                lost[*anchor] = read;
            }
        }
    }
    revive_unassailable(board, suicide, &anchors, &mut lost);
    (lost, is_unsettled)
}

/// Revives chains that only seem dead: those that the opponent cannot capture even with the first move, as in seki.
/// Playouts fill the shared liberties of a seki, and networks have seen few.
fn revive_unassailable(board: &Board, suicide: bool, anchors: &[(Point, Color)], lost: &mut PointMap<f32>) {
    let mut asked: Vec<(Point, Color, Region)> = Vec::new();
    for &(anchor, color) in anchors {
        if lost[anchor] <= DEAD_MEAN || lost[anchor] >= READ {
            continue;
        }
        if let Some(mut region) = Region::of_group(board, anchor)
            && region.is_closed
            && region.empty_points(board) <= READ_EMPTY_POINTS
        {
            region.group = board.chain(anchor).collect();
            asked.push((anchor, color, region));
        }
    }
    if asked.is_empty() {
        return;
    }
    let read = || {
        let mut left = READ_NODES.1;
        let mut alive = Vec::new();
        for (anchor, color, region) in &asked {
            let question =
                Question { board, region, aim: Aim::Capture, suicide, memory: READ_MEMORY, threads: 1 };
            let most = READ_NODES.0.min(left);
            // Without room to play there is nothing to read.
            let Ok(attack) = solve::read(&question, color.opponent(), &|nodes| nodes >= most) else {
                continue;
            };
            left = left.saturating_sub(attack.nodes);
            if attack.success == Success::No {
                alive.push(*anchor);
            }
        }
        alive
    };
    let alive = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(READ_STACK).spawn_scoped(scope, read);
        // Without a thread nothing is read.
        thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_default()
    });
    for anchor in alive {
        lost[anchor] = -READ;
    }
}

/// Two chains that touch cannot both be dead: the one that is more clearly so stays it, and if none is, none.
fn revive_captors(board: &Board, lost: &PointMap<f32>, dead: &mut PointSet) {
    let all = *dead;
    for point in all.iter() {
        let opponent = board.cell(point).color().map(|color| Cell::from(color.opponent()));
        let is_captor = |next: &Point| {
            Some(board.cell(*next)) == opponent
                && all.contains(*next)
                && lost[board.anchor(point)] <= lost[board.anchor(*next)]
        };
        if dead.contains(point) && point.adjacent().iter().any(is_captor) {
            for stone in board.chain(point) {
                dead.remove(stone);
            }
        }
    }
}

/// Revives dead stones that no living stones of the opponent surround; false if there are none.
fn revive_unheld(board: &Board, dead: &mut PointSet) -> bool {
    let (cleaned, _) = score::without_chains(board, dead);
    let mut revived = false;
    for region in score::empty_regions(&cleaned) {
        for &point in &region.points {
            if let Some(color) = board.cell(point).color()
                && dead.contains(point)
                && !region.touches(color.opponent())
            {
                revived = true;
                for stone in board.chain(point) {
                    dead.remove(stone);
                }
            }
        }
    }
    revived
}
