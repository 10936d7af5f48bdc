//! Positions in which nothing remains to be decided, and bounds on the score that can still be reached.
//!
//! Two sources establish that a stone stays on the board or that a point belongs to a side: a proof
//! ([`safety::unconditionally_held`]), or an expected ownership from a network or playouts that leaves hardly any
//! doubt. If every chain and every region is certain by one of these sources, the rules score the position exactly and
//! no network has to estimate the result.

use crate::board::{Board, Cell, Color, Point, PointMap, PointSet};
use crate::rules::{Scoring, Tax};
use crate::safety::{self, PassAlive};
use crate::score::{self, ScoringTerms};

// Basis of the thresholds: at the end of games of the small built-in network against itself, on 9×9 and 13×13, the
// absolute mean ownership of the least certain point was 0.94 to 1 in 37 of 40 positions.

/// Minimum absolute mean ownership of a chain's points, in `[0, 1]`, from which the chain is certainly alive or dead.
const CHAIN_MEAN: f32 = 0.96;
/// Minimum mean ownership of an enclosed region for its owner, from which the region is certain. See also
/// [`POINT_MEAN`].
const REGION_MEAN: f32 = 0.96;
/// Minimum ownership of each point of such a region for its owner.
const POINT_MEAN: f32 = 0.9;

/// A position in which the life of every chain and the owner of every region are certain.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Dead stones, as whole chains.
    pub dead: PointSet,
    /// Number of empty points between living stones of both colours.
    pub neutral: usize,
}

impl Settled {
    /// Reads a position. `mean` is the expected owner of a point, from −1 (White) to 1 (Black). Returns `None` if
    /// anything is undecided.
    ///
    /// A position is settled if
    ///
    /// - every chain is certainly alive or dead, and dead chains lie in regions surrounded by living stones of the
    ///   opponent;
    /// - every region that only living stones of one colour surround certainly belongs to that colour;
    /// - every other region is neutral: each of its points is adjacent to living stones of both colours.
    pub fn read(board: &Board, suicide: bool, mean: impl Fn(Point) -> f32) -> Option<Settled> {
        let chain_means = chain_means(board, &mean)?;
        let held = Color::BOTH.map(|color| safety::unconditionally_held(board, color, suicide));
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

    /// Returns the score of the position if the game ends now: Black's points minus White's. Under rules that count all
    /// stones as alive, dead stones count for their owner.
    pub fn final_score(&self, board: &Board, terms: ScoringTerms) -> f32 {
        let none = PointSet::EMPTY;
        let dead = if terms.rules.friendly_pass { &self.dead } else { &none };
        score::count_position(board, terms, dead).black_minus_white
    }

    /// Returns the score that further play cannot change if both sides play well, or `None` if moves still have value.
    pub fn lasting_score(&self, board: &Board, terms: ScoringTerms) -> Option<f32> {
        // A dead stone that counts as alive must be captured before the end.
        let is_counted = terms.rules.friendly_pass || self.dead.is_empty();
        (self.neutral == 0 && is_counted).then(|| self.final_score(board, terms))
    }
}

/// Returns the mean ownership of the stones of each chain, at its anchor. Returns `None` if the board has no stones, or
/// if so many points are uncertain that a closer look is not worthwhile.
fn chain_means(board: &Board, mean: &impl Fn(Point) -> f32) -> Option<PointMap<f32>> {
    /// Number of uncertain points up to which proofs may still settle the position.
    const MAX_OPEN_POINTS: usize = 12;
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
    if stones == 0 || open > MAX_OPEN_POINTS.max(board.size().area() / 16) {
        return None;
    }
    for (point, _) in board.stones().filter(|&(point, _)| board.anchor(point) == point) {
        means[point] /= board.chain_len(point) as f32;
    }
    Some(means)
}

/// Returns whether a side certainly holds this point.
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

/// The least and the greatest score that a game can still reach if both sides play well.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScoreBounds {
    /// Least score: Black's points minus White's.
    pub least: f32,
    /// Greatest score: Black's points minus White's.
    pub most: f32,
}

impl ScoreBounds {
    /// Computes the bounds from a position. Returns `None` under territory scoring, where prisoners are unbounded.
    ///
    /// A side can own at most all points of the board. If no points are taxed, the points that a side holds
    /// unconditionally are also certain.
    pub fn of(board: &Board, terms: ScoringTerms) -> Option<ScoreBounds> {
        if terms.rules.scoring != Scoring::Area {
            return None;
        }
        let area = board.size().area() as i32;
        // On a board with a single point no move is legal, so neither side ever owns it.
        let most = if area == 1 { 0 } else { area };
        let mut points = [most, most];
        if terms.rules.tax == Tax::None && board.stone_count() as i32 * 2 > area {
            for color in Color::BOTH {
                let held = safety::pass_alive(board, color, terms.rules.suicide);
                points[color.opponent() as usize] -= 2 * (held.chains.len() + held.territory.len()) as i32;
            }
        }
        let komi = terms.white_points();
        // The button may be credited to the side that does not get it in the end.
        let button = if terms.rules.has_button { 1.0 } else { 0.0 };
        Some(ScoreBounds {
            least: -(points[Color::White as usize] as f32) - komi - button,
            most: points[Color::Black as usize] as f32 - komi + button,
        })
    }

    /// Clamps an expected result to the results that are still possible, in `[-1, 1]`: if Black can no longer win or
    /// draw, the result is −1.
    pub fn result(&self, expected: f32) -> f32 {
        expected.clamp(sign(self.least), sign(self.most))
    }

    /// Clamps an expected score to the reachable range.
    pub fn score(&self, expected: f32) -> f32 {
        expected.clamp(self.least, self.most)
    }
}

/// Returns the result for Black at a score: 1, 0 or −1.
pub fn sign(score: f32) -> f32 {
    if score == 0.0 { 0.0 } else { score.signum() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::BoardSize;
    use crate::game::{Button, Game};
    use crate::rng::Rng;
    use crate::rules::Rules;

    fn board(drawing: &str) -> Board {
        drawing.parse().unwrap_or_else(|error| panic!("{error}\n{drawing}"))
    }

    /// Returns an expectation without doubt: all stones live, and points belong to the only colour around them.
    fn sure_of_stones(board: &Board) -> impl Fn(Point) -> f32 {
        let owners = score::area_owner(board);
        move |point| owners[point].map_or(0.0, |owner| 0.97 * owner.sign() as f32)
    }

    fn terms(name: &str, komi: f32) -> ScoringTerms {
        let rules = Rules::preset(name).expect("a preset").rules;
        ScoringTerms { rules, button: Button::None, komi, white_bonus: 0.0 }
    }

    const WALLS: &str = "
        . . X O . .
        . . X O . .
        . . X O . O
        . . X O . .";
    const GAP: &str = "
        . . X . O .
        . . X . O .
        . . X . O .
        . . X . O .";
    const OPEN: &str = "
        . . . . . .
        . X . . O .
        . . . . . .
        . . . . . .";

    #[test]
    fn a_position_is_settled_if_every_chain_and_every_region_is() {
        for (drawing, neutral) in [(WALLS, Some(0)), (GAP, Some(4)), (OPEN, None)] {
            let board = board(drawing);
            let settled = Settled::read(&board, false, sure_of_stones(&board));
            assert_eq!(settled.map(|settled| settled.neutral), neutral, "{drawing}");
        }
        let board = board(WALLS);
        // Doubt about one chain, or about one point of a region.
        let lone = board.anchor(Point::new(5, 1));
        let doubt = |at: Point| {
            let sure = sure_of_stones(&board);
            move |point| if point == at { 0.5 } else { sure(point) }
        };
        assert!(Settled::read(&board, false, doubt(lone)).is_none());
        assert!(Settled::read(&board, false, doubt(Point::new(0, 0))).is_none());
        assert!(Settled::read(&board, false, |_| 0.0).is_none());
    }

    #[test]
    fn dead_stones_are_removed_if_the_rules_do_so() {
        let drawing = "
            . . X O . .
            . O X O . .
            . . X O . O
            . . X O . .";
        let board = board(drawing);
        let mean = |point: Point| if point.column() <= 2 { 0.97 } else { -0.97 };
        let settled = Settled::read(&board, false, mean).expect("settled");
        assert_eq!(settled.dead.len(), 1);
        // Twelve points each under area scoring. Under territory scoring, 8 + 1 points against 7.
        let at = |name: &str| settled.final_score(&board, terms(name, 0.0));
        assert_eq!((at("chinese-kgs"), at("japanese"), at("cgos")), (0.0, 2.0, 4.0 - 13.0));
        let lasting = |name: &str| settled.lasting_score(&board, terms(name, 0.0));
        assert_eq!(
            (lasting("chinese-kgs"), lasting("japanese"), lasting("cgos")),
            (Some(0.0), Some(2.0), None),
            "under rules that count all stones as alive the dead one has to be taken first"
        );
    }

    #[test]
    fn neutral_points_may_still_be_worth_something() {
        let board = board(GAP);
        let settled = Settled::read(&board, false, sure_of_stones(&board)).expect("settled");
        assert_eq!(settled.final_score(&board, terms("chinese-kgs", 0.5)), 12.0 - 8.0 - 0.5);
        assert_eq!(settled.lasting_score(&board, terms("chinese-kgs", 0.5)), None);
    }

    #[test]
    fn a_proof_needs_no_expectation() {
        let drawing = "
            . X . X O . O
            X X X X O O O
            X X X X O . O";
        let board = board(drawing);
        let settled = Settled::read(&board, false, |_| 0.95).expect("both live with two eyes");
        assert_eq!(settled.final_score(&board, terms("chinese-kgs", 0.0)), 12.0 - 9.0);
    }

    #[test]
    fn reachable_bounds_result_and_score() {
        let small = Board::new(BoardSize::square(2).expect("a size"));
        let reachable = ScoreBounds::of(&small, terms("chinese-kgs", 7.5)).expect("area");
        assert_eq!(reachable, ScoreBounds { least: -11.5, most: -3.5 });
        assert_eq!((reachable.result(0.3), reachable.score(-1.0)), (-1.0, -3.5));
        let even = ScoreBounds::of(&small, terms("chinese-kgs", 4.0)).expect("area");
        assert_eq!((even.result(0.3), even.result(-0.3)), (0.0, -0.3), "a draw is the best");
        let one = Board::new(BoardSize::square(1).expect("a size"));
        let nothing = ScoreBounds::of(&one, terms("cgos", 7.5)).expect("area");
        assert_eq!(nothing, ScoreBounds { least: -7.5, most: -7.5 });
        assert_eq!(ScoreBounds::of(&small, terms("japanese", 7.5)), None);
        // Black holds the twelve points of the left four columns, and White the nine of the other three.
        let held = board(". X . X O . O\nX X X X O O O\nX X X X O . O");
        let reachable = ScoreBounds::of(&held, terms("cgos", 0.0)).expect("area");
        assert_eq!(reachable, ScoreBounds { least: 12.0 - 9.0, most: 12.0 - 9.0 });
    }

    /// Whatever position random play leads to, its score lies within the bounds computed before.
    #[test]
    fn random_games_end_within_reach() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let size = BoardSize::new(2 + rng.below(4) as usize, 2 + rng.below(4) as usize).expect("a size");
            let rules =
                Rules { suicide: rng.below(2) == 0, ..Rules::preset("cgos").expect("a preset").rules };
            let mut game = Game::new(size, rules, 0.5);
            let mut bounds = ScoreBounds { least: f32::MIN, most: f32::MAX };
            for _ in 0..3 * size.area() {
                let points = game.legal_points(game.to_move());
                // Filling the last eyes of pass-alive groups is bad play, which the bounds exclude.
                let held = Color::BOTH.map(|color| safety::pass_alive(game.board(), color, rules.suicide));
                let sensible: Vec<Point> = points
                    .into_iter()
                    .filter(|&point| !held.iter().any(|held| held.territory.contains(point)))
                    .collect();
                if sensible.is_empty() {
                    break;
                }
                let point = sensible[rng.below(sensible.len() as u32) as usize];
                game.play(game.to_move(), crate::board::Move::Play(point)).expect("legal");
                let reachable = ScoreBounds::of(game.board(), ScoringTerms::of(&game)).expect("area");
                bounds.least = bounds.least.max(reachable.least);
                bounds.most = bounds.most.min(reachable.most);
            }
            let held = Color::BOTH.map(|color| safety::pass_alive(game.board(), color, rules.suicide));
            let dead = game
                .board()
                .stones()
                .filter(|&(point, color)| held[color.opponent() as usize].territory.contains(point))
                .map(|(point, _)| point)
                .collect();
            let score = score::final_score(&game, &dead);
            assert!((bounds.least..=bounds.most).contains(&score), "{score} {bounds:?}\n{}", game.board());
        }
    }
}
