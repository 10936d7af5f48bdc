//! Positions in which nothing is left to be decided, and scores that can no longer be reached.
//!
//! Two sources say that a stone stays on the board or that a point belongs to a player: a proof
//! ([`safety::held`]), and an expectation of owners, from a network or from playouts, that leaves hardly any doubt. Where
//! every chain and every region is certain in one of these ways, the rules count the position, and no network has to guess
//! the result.

use crate::board::{Board, Cell, Color, Point, PointMap, PointSet};
use crate::rules::{Scoring, Tax};
use crate::safety::{self, PassAlive};
use crate::score::{self, Terms};

/// A chain lives or is dead for certain if its points belong to one side so clearly, as a mean owner in `[-1, 1]`.
const CHAIN_MEAN: f32 = 0.9;
/// An enclosed region is certain if its points do, on average ...
const REGION_MEAN: f32 = 0.9;
/// ... and each of them by this much.
const POINT_MEAN: f32 = 0.75;

/// A position in which the life of every chain is certain, and no region can be divided otherwise.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The dead stones: whole chains.
    pub dead: PointSet,
    /// Empty points between living stones of both colours.
    pub neutral: usize,
}

impl Settled {
    /// Reads a position. `mean` is the expected owner of a point: from −1, White, to 1, Black. `None` if anything is open.
    ///
    /// A position is settled if
    ///
    /// - every chain lives or is dead for certain, and dead chains lie in regions of living stones of the opponent;
    /// - every region around which living stones of one colour stand is that colour's for certain;
    /// - every other region is neutral: each of its points touches living stones of both colours.
    pub fn read(board: &Board, suicide: bool, mean: impl Fn(Point) -> f32) -> Option<Settled> {
        let chain_means = chain_means(board, &mean)?;
        let held = Color::BOTH.map(|color| safety::held(board, color, suicide));
        let mut dead = PointSet::EMPTY;
        for (stone, color) in board.stones() {
            let (own, other) = (&held[color as usize], &held[color.opponent() as usize]);
            let is_mine = chain_means[board.anchor(stone)] * color.sign() as f32;
            if holds(own, stone) {
                continue;
            }
            if other.territory.contains(stone) || is_mine <= -CHAIN_MEAN {
                dead.insert(stone);
            } else if is_mine < CHAIN_MEAN {
                return None;
            }
        }
        let (cleaned, _) = score::without_chains(board, &dead);
        let mut neutral = 0;
        for region in score::empty_regions(&cleaned) {
            let is_dead_of =
                |color: Color| region.points.iter().any(|&point| board.cell(point) == Cell::from(color));
            match region.owner() {
                Some(owner) => {
                    if is_dead_of(owner) || !is_certain(&region.points, &held[owner as usize], owner, &mean) {
                        return None;
                    }
                }
                None => {
                    let touches_both = |point: &Point| {
                        let cells = point.adjacent().map(|next| cleaned.cell(next));
                        board.cell(*point) == Cell::Empty
                            && Color::BOTH.iter().all(|&color| cells.contains(&Cell::from(color)))
                    };
                    if !region.points.iter().all(touches_both) {
                        return None;
                    }
                    neutral += region.points.len();
                }
            }
        }
        Some(Settled { dead, neutral })
    }

    /// The score of the position if play ends with it: Black's points minus White's. Under rules that count all stones as
    /// alive, dead ones count for their owner.
    pub fn final_score(&self, board: &Board, terms: Terms) -> f32 {
        let none = PointSet::EMPTY;
        let dead = if terms.rules.friendly_pass { &self.dead } else { &none };
        score::count_position(board, terms, dead).black_minus_white
    }

    /// The score that further play cannot change if both sides play well, or `None` if moves are still worth something.
    pub fn lasting_score(&self, board: &Board, terms: Terms) -> Option<f32> {
        // A dead stone that counts as alive has to be taken in time.
        let is_counted = terms.rules.friendly_pass || self.dead.is_empty();
        (self.neutral == 0 && is_counted).then(|| self.final_score(board, terms))
    }
}

/// Mean owner of the stones of each chain, at its anchor; `None` if there are no stones, or if a glance shows that too much
/// is open to be worth a closer look.
fn chain_means(board: &Board, mean: &impl Fn(Point) -> f32) -> Option<PointMap<f32>> {
    /// Open points that proofs may still settle.
    const OPEN_MOST: usize = 12;
    let mut means = PointMap::filled(0.0);
    let (mut stones, mut open) = (0, 0);
    for point in board.size().points() {
        let owner = mean(point);
        open += usize::from(owner.abs() < POINT_MEAN);
        if board.cell(point) != Cell::Empty {
            stones += 1;
            means[board.anchor(point)] += owner;
        }
    }
    if stones == 0 || open > OPEN_MOST.max(board.size().area() / 16) {
        return None;
    }
    for (point, _) in board.stones().filter(|&(point, _)| board.anchor(point) == point) {
        means[point] /= board.chain_len(point) as f32;
    }
    Some(means)
}

/// Does a player hold this point whatever happens?
fn holds(held: &PassAlive, point: Point) -> bool {
    held.chains.contains(point) || held.territory.contains(point)
}

fn is_certain(points: &[Point], held: &PassAlive, owner: Color, mean: &impl Fn(Point) -> f32) -> bool {
    if points.iter().all(|&point| holds(held, point)) {
        return true;
    }
    let own = |point: Point| mean(point) * owner.sign() as f32;
    let sum: f32 = points.iter().map(|&point| own(point)).sum();
    sum / points.len() as f32 >= REGION_MEAN && points.iter().all(|&point| own(point) >= POINT_MEAN)
}

/// The least and the greatest score that a game can still end with if both sides play well.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reachable {
    /// Black's points minus White's at worst.
    pub least: f32,
    /// Black's points minus White's at best.
    pub most: f32,
}

impl Reachable {
    /// What can be reached from a position. `None` under territory scoring, where prisoners have no bound.
    ///
    /// No more than all points of the board can be anybody's. Where no points are taxed, what a player holds whatever
    /// happens is certain, too.
    pub fn of(board: &Board, terms: Terms) -> Option<Reachable> {
        if terms.rules.scoring != Scoring::Area {
            return None;
        }
        let area = board.size().area();
        // Without a legal move nobody ever owns the one point of a board.
        let most = if area == 1 { 0 } else { area };
        let mut points = [most, most];
        if terms.rules.tax == Tax::None && board.stone_count() * 2 > area {
            for color in Color::BOTH {
                let held = safety::pass_alive(board, color, terms.rules.suicide);
                points[color.opponent() as usize] -= 2 * (held.chains.len() + held.territory.len());
            }
        }
        let komi = terms.white_points();
        // The button may have been credited to the player that does not get it.
        let button = if terms.rules.has_button { 1.0 } else { 0.0 };
        Some(Reachable {
            least: -(points[Color::White as usize] as f32) - komi - button,
            most: points[Color::Black as usize] as f32 - komi + button,
        })
    }

    /// The nearest value that the result can have, in `[-1, 1]`: a win that cannot be reached any more is worth −1.
    pub fn result(&self, expected: f32) -> f32 {
        expected.clamp(sign(self.least), sign(self.most))
    }

    /// The nearest score that can be reached.
    pub fn score(&self, expected: f32) -> f32 {
        expected.clamp(self.least, self.most)
    }
}

/// Black's result at a score: 1, 0 or −1.
pub fn sign(score: f32) -> f32 {
    if score == 0.0 { 0.0 } else { score.signum() }
}
