//! Who owns what at the end of the game.

use crate::board::{Board, Color, PointMap, PointSet};
use crate::eval::Ownership;
use crate::game::Game;
use crate::safety;
use crate::score;

/// Who owns what at the end of the game: one answer for passing, the score and the status of stones, so that they
/// cannot contradict each other. Under rules without friendly passes every stone counts as alive.
#[derive(Clone, Debug)]
pub struct FinalStatus {
    /// Black's points minus White's, komi included.
    pub score: f32,
    /// Stones that would be captured if play went on.
    pub dead: PointSet,
    /// Stones that live in seki, see [`score::seki_stones`].
    pub seki: PointSet,
    /// Owner of every point; `None` for neutral points.
    pub owner: score::Owners,
    /// Were there regions that neither side has made its own? Their points went to whom the playouts gave them.
    pub is_open: bool,
}

/// A chain is dead if its points belong to the opponent in this share of the playouts, as a mean owner.
const DEAD_MEAN: f32 = 0.35;
/// A region inside one colour is that colour's if the playouts agree so clearly, as a mean owner.
const SURE_MEAN: f32 = 0.4;
/// A point of an unfinished region goes to whom it belongs so clearly, as a mean owner.
const LIKELY_MEAN: f32 = 0.3;
/// A region between both colours with more points than this is not dame but unfinished.
const DAME_MOST: usize = 4;

/// Computes the status of a game. The same position always gets the same answer.
/// `ownership` is asked only if stones can be dead.
pub(super) fn final_status(game: &Game, ownership: impl FnOnce() -> Ownership) -> FinalStatus {
    let board = game.board();
    if !game.rules().friendly_pass {
        // All stones on the board count as alive.
        return FinalStatus {
            score: score::final_score(game, &PointSet::EMPTY),
            dead: PointSet::EMPTY,
            seki: PointSet::EMPTY,
            owner: score::area_owner(board),
            is_open: false,
        };
    }
    let ownership = ownership();
    let dead = dead_chains(board, &ownership, game.rules().suicide);
    let mut status = FinalStatus {
        score: score::final_score(game, &dead),
        dead,
        seki: PointSet::EMPTY,
        owner: PointMap::filled(None),
        is_open: false,
    };
    let (cleaned, _) = score::without_chains(board, &dead);
    status.owner = score::area_owner(&cleaned);
    for region in score::empty_regions(&cleaned).into_iter().map(|region| region.points) {
        let sum: f32 = region.iter().map(|&point| ownership.mean(point)).sum();
        let mean = sum / region.len() as f32;
        let is_settled = match status.owner[region[0]] {
            Some(owner) => mean * owner.sign() as f32 >= SURE_MEAN,
            None => region.len() <= DAME_MOST,
        };
        if is_settled {
            continue;
        }
        // Neither side has made this its own, whatever stones happen to stand around it: its points go to whom
        // the playouts gave them.
        status.is_open = true;
        for &point in &region {
            let mean = ownership.mean(point);
            let likely = if mean > 0.0 { Color::Black } else { Color::White };
            let owner = (mean.abs() > LIKELY_MEAN).then_some(likely);
            let points = |owner: Option<Color>| owner.map_or(0, Color::sign);
            status.score += (points(owner) - points(status.owner[point])) as f32;
            status.owner[point] = owner;
        }
    }
    status.seki = score::seki_stones(&cleaned);
    status
}

/// Chains whose points end as the opponent's in most playouts, but for what is certain: a chain that is
/// unconditionally alive is not dead, and one inside the opponent's unconditional territory is.
fn dead_chains(board: &Board, ownership: &Ownership, suicide: bool) -> PointSet {
    let sure = Color::BOTH.map(|color| safety::pass_alive(board, color, suicide));
    let mut dead = PointSet::EMPTY;
    for (point, color) in board.stones() {
        if board.anchor(point) != point || sure[color as usize].chains.contains(point) {
            continue;
        }
        let sum: f32 = board.chain(point).map(|stone| ownership.mean(stone)).sum();
        let mean = sum / board.chain_len(point) as f32 * color.sign() as f32;
        let is_lost = sure[color.opponent() as usize].territory.contains(point);
        if is_lost || mean < -DEAD_MEAN {
            dead.extend_from(board.chain(point));
        }
    }
    dead
}
