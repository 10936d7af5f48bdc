//! Dead stones: combines certain results, the solver's readings, and the estimates of playouts or a network.

use super::expected::ExpectedOwners;
use super::reading::Attacks;
use kosumi_go::board::{Board, Cell, Color, Point, PointMap, PointSet};
use kosumi_go::eyespace::{self, Fate};
use kosumi_go::safety;
use kosumi_go::score;

/// A chain is dead if the mean owner of its points is the opponent by more than this.
const DEAD_MEAN: f32 = 0.35;
/// At the end of the game, the solver also reads chains that are expected to live, if their mean owner is less than
/// this.
const DOUBTFUL_MEAN: f32 = 0.95;
/// Mean owner from which the stones around a group count as certain to stay, even if the group that they enclose is
/// expected to live.
const HELD_MEAN: f32 = 0.8;
/// Certainty of a chain's loss that the solver has read. Greater than every mean owner.
const READ_CERTAINTY: f32 = 2.0;
/// Certainty of a chain's loss that holds whatever is played.
const PROVEN_CERTAINTY: f32 = 3.0;

/// Judgement of the stones of a position.
#[derive(Debug)]
pub(super) struct StoneJudgement {
    /// Dead stones, as whole chains.
    pub(super) dead: PointSet,
    /// See [`FinalStatus::unsettled`](super::FinalStatus::unsettled).
    pub(super) unsettled: PointSet,
}

/// Judges the stones of a position. The judgements of neighbouring chains are consistent:
///
/// - where a dead chain touches stones of the opponent, these are alive;
/// - living stones of the opponent surround the points that are left when all dead stones are removed.
///
/// `is_over` means that neither side gets another move. A group that the opponent can capture is then dead, whichever
/// side is to move, as the Japanese rules have it (article 7). Before the end, the fate of an unsettled group is its
/// expected one.
pub(super) fn judge(mut attacks: Attacks<'_>, expected: &ExpectedOwners, is_over: bool) -> StoneJudgement {
    let board = attacks.board;
    let (mut lost, unsettled) = loss_certainties(&mut attacks, expected);
    if is_over {
        mark_unsettled_lost(board, &unsettled, &mut lost);
        mark_capturable_lost(&mut attacks, &mut lost);
    }
    let mut dead = PointSet::EMPTY;
    for (point, _) in board.stones() {
        if lost[board.anchor(point)] > DEAD_MEAN {
            dead.insert(point);
        }
    }
    revive_captors(board, &lost, &mut dead);
    // Every iteration but the last revives a chain, so the loop ends.
    while revive_unenclosed(board, &mut dead) {}
    StoneJudgement { dead, unsettled }
}

/// Counts unsettled chains as captured. Where unsettled chains of both colours touch, each could capture the other, and
/// their expected owners decide.
fn mark_unsettled_lost(board: &Board, unsettled: &PointSet, lost: &mut PointMap<f32>) {
    let mut is_mutual = PointSet::EMPTY;
    for point in unsettled.iter() {
        let opponent = board.cell(point).color().map(|color| Cell::from(color.opponent()));
        let is_rival = |next: &Point| Some(board.cell(*next)) == opponent && unsettled.contains(*next);
        if point.adjacent().iter().any(is_rival) {
            is_mutual.insert(board.anchor(point));
        }
    }
    for anchor in unsettled.iter().filter(|&point| board.anchor(point) == point) {
        if !is_mutual.contains(anchor) && lost[anchor].abs() < READ_CERTAINTY {
            lost[anchor] = READ_CERTAINTY;
        }
    }
}

/// Counts as captured those chains that only seem alive: reading shows that the opponent captures them.
///
/// Stones inside an eye may be captured while their captors die all the same, because the eye that remains is a dead
/// shape. Therefore a chain is given up only if it touches stones of the opponent that are not captured themselves.
fn mark_capturable_lost(attacks: &mut Attacks<'_>, lost: &mut PointMap<f32>) {
    let board = attacks.board;
    let is_doubtful =
        |&point: &Point| board.anchor(point) == point && (-DOUBTFUL_MEAN..=DEAD_MEAN).contains(&lost[point]);
    let doubtful: Vec<Point> = board.stones().map(|(point, _)| point).filter(is_doubtful).collect();
    let found: PointSet = attacks.capturable_chains(&doubtful).into_iter().collect();
    for anchor in found.iter() {
        let opponent = board.cell(anchor).color().map(|color| Cell::from(color.opponent()));
        let is_held = |next: Point| {
            Some(board.cell(next)) == opponent
                && !found.contains(board.anchor(next))
                && lost[board.anchor(next)] <= DEAD_MEAN
        };
        let mut beside = board.chain(anchor).flat_map(|stone| stone.adjacent());
        if beside.any(is_held) {
            lost[anchor] = READ_CERTAINTY;
        }
    }
}

/// Returns how clearly every chain ends as the opponent's, at its anchor: a mean owner in `[-1, 1]`, or a larger
/// magnitude where the solver or a proof decides. Also returns the stones of unsettled groups.
fn loss_certainties(attacks: &mut Attacks<'_>, expected: &ExpectedOwners) -> (PointMap<f32>, PointSet) {
    let Attacks { board, suicide, .. } = *attacks;
    let sure = Color::BOTH.map(|color| safety::unconditionally_held(board, color, suicide));
    let mut lost = PointMap::filled(0.0);
    let anchors: Vec<(Point, Color)> =
        board.stones().filter(|&(point, _)| board.anchor(point) == point).collect();
    for &(anchor, color) in &anchors {
        let own = &sure[color as usize];
        lost[anchor] = if own.chains.contains(anchor) || own.territory.contains(anchor) {
            -PROVEN_CERTAINTY
        } else if sure[color.opponent() as usize].territory.contains(anchor) {
            PROVEN_CERTAINTY
        } else {
            let sum: f32 = board.chain(anchor).map(|stone| expected.if_attacked(color, stone)).sum();
            -sum / board.chain_len(anchor) as f32 * color.sign() as f32
        };
    }
    let means = lost.clone();
    let is_held = |stone: Point| means[board.anchor(stone)] <= -HELD_MEAN;
    let mut seen = PointSet::EMPTY;
    let mut unsettled = PointSet::EMPTY;
    for &(anchor, _) in &anchors {
        // A group that is certain to live may still have enemy stones inside that live in seki.
        if seen.contains(anchor) {
            continue;
        }
        let Some(group) = eyespace::read(board, anchor, suicide, is_held) else { continue };
        for (anchor, fate) in group.chains.iter().chain(&group.intruders) {
            seen.insert(*anchor);
            let read = match fate {
                Fate::Alive => -READ_CERTAINTY,
                Fate::Dead => READ_CERTAINTY,
                Fate::Unsettled => {
                    unsettled.extend_from(board.chain(*anchor));
                    continue;
                }
                Fate::Unknown => continue,
            };
            if lost[*anchor].abs() < READ_CERTAINTY {
                lost[*anchor] = read;
            }
        }
    }
    let seems_dead: Vec<Point> = anchors
        .iter()
        .map(|&(anchor, _)| anchor)
        .filter(|&anchor| lost[anchor] > DEAD_MEAN && lost[anchor] < READ_CERTAINTY)
        .collect();
    for anchor in attacks.safe_chains(&seems_dead) {
        lost[anchor] = -READ_CERTAINTY;
    }
    (lost, unsettled)
}

/// Revives chains next to dead chains of the opponent. Of two chains that touch, only the more clearly dead one stays
/// dead; if both are equally clear, both live.
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

/// Revives dead chains whose region touches no living stone of the opponent. Returns false if there are none.
fn revive_unenclosed(board: &Board, dead: &mut PointSet) -> bool {
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
