//! The owner of every point at the end of the game.

use super::dead;
use super::expected::ExpectedOwners;
use super::reading::{Attacks, NodeBudget};
use kosumi_eval::Ownership;
use kosumi_go::board::{Board, BoardSize, ByColor, Cell, Color, Point, PointSet};
use kosumi_go::game::Game;
use kosumi_go::score::{self, Owners};
use kosumi_go::settled::Settled;
use kosumi_solve::Memo;

/// Owner of every point at the end of the game. Passing, scoring and the status of stones all use this one result, so
/// they cannot contradict each other. Under rules without friendly passes every stone counts as alive.
///
/// The score follows from the other fields: with area scoring, from living stones and owned points; with territory
/// scoring, from owned points, dead stones and prisoners; and from what the rules add. The only exception is a tax on
/// every group, which the other fields do not show.
#[derive(Clone, Debug)]
pub struct FinalStatus {
    /// Black's points minus White's, komi included.
    pub score: f32,
    /// Stones that would be captured if play continued. They form whole chains, surrounded by living stones of the
    /// opponent.
    pub dead: PointSet,
    /// Stones alive in seki. At the end of a game these are [`score::seki_stones`]. Before the end they are
    /// [`score::settled_seki_stones`], without stones that can still make eyes or escape.
    pub seki: PointSet,
    /// Owner of every point. `None` marks neutral points and eyes that do not count under the rules. The owner of a
    /// dead stone's point is never the stone's own colour.
    pub owner: Owners,
    /// Number of points in regions that neither side has enclosed. They go to the side that is expected to own them.
    /// Zero once the game is over.
    pub open_points: usize,
    /// Stones of enclosed groups whose life depends on which side moves first. While there are any, it is too early to
    /// pass, whatever the other fields contain.
    pub unsettled: PointSet,
    /// Set if nothing is left to decide, whichever side moves. See [`Settled`].
    pub settled: Option<Settled>,
}

/// Moment of the game that a status is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moment {
    /// Play continues. Points that neither side has enclosed go to the side that is expected to own them.
    DuringPlay,
    /// The game ends with this position and is counted. The side to move and the side that passed first are irrelevant.
    End,
}

/// Source of expected owners.
pub(super) trait OwnershipSource {
    /// Returns the expected owners if the side to move continues.
    fn now(&self, game: &Game) -> Ownership;

    /// Returns the expected owners for each colour that may move first. The result does not depend on the side to move
    /// in `game`.
    fn by_first(&self, game: &Game) -> ByColor<Ownership>;
}

/// Mean owner from which a region enclosed by one colour counts as that colour's.
const SURE_MEAN: f32 = 0.4;
/// Mean owner above which a side gets a point of an unfinished region.
const LIKELY_MEAN: f32 = 0.3;
/// Maximum number of points in a region of dame. Larger regions between both colours are unfinished.
const MAX_DAME_POINTS: usize = 4;

/// Returns the number of free points below which nothing can live inside living stones of the opponent, whatever the
/// expected owners are. The smallest living group in a corner has six stones and two eyes. On boards of two rows or
/// columns, four stones are enough.
fn min_points_to_live(size: BoardSize) -> usize {
    if size.rows().min(size.columns()) > 2 { 8 } else { 6 }
}

/// Returns whether a region between both colours is unfinished: it is large or contains dead stones.
fn is_open(board: &Board, points: &[Point]) -> bool {
    points.len() > MAX_DAME_POINTS || points.iter().any(|&point| board.cell(point) != Cell::Empty)
}

/// Computes the status of a game. The result depends on the position only.
///
/// At the [end](Moment::End), only the life of groups is judged. The rest is counted: a region surrounded by living
/// stones of one colour belongs to that colour, and all other points are neutral.
pub(super) fn final_status(
    memo: &mut Memo,
    game: &Game,
    moment: Moment,
    evaluator: &impl OwnershipSource,
) -> FinalStatus {
    let (board, rules) = (game.board(), game.rules());
    if moment == Moment::DuringPlay && !rules.friendly_pass {
        return all_alive(game, None);
    }
    let expected = match moment {
        Moment::DuringPlay => ExpectedOwners::Now(Box::new(evaluator.now(game))),
        Moment::End => ExpectedOwners::ByFirst(Box::new(evaluator.by_first(game))),
    };
    let settled = || Settled::read(board, rules.suicide, |point| expected.sure_mean(point));
    if !rules.friendly_pass {
        return all_alive(game, settled());
    }
    let is_over = moment == Moment::End;
    // Deciding whether to pass must not take as much time as the final score may.
    let allowance = if game.is_over() { NodeBudget::END } else { NodeBudget::PLAY };
    let attacks = Attacks { memo, board, suicide: rules.suicide, allowance };
    let dead::StoneJudgement { dead, unsettled } = dead::judge(attacks, &expected, is_over);
    let (cleaned, _) = score::without_chains(board, &dead);
    let settled = settled().filter(|settled| is_over && settled.dead == dead && unsettled.is_empty());
    let mut status = FinalStatus {
        score: score::final_score(game, &dead),
        dead,
        seki: match moment {
            Moment::DuringPlay => score::settled_seki_stones(board, &dead, |points| is_open(board, points)),
            Moment::End => score::seki_stones(board, &dead),
        },
        owner: score::scoring_owner(board, &dead, rules),
        open_points: 0,
        unsettled,
        settled,
    };
    if moment == Moment::DuringPlay {
        divide_open_regions(board, &cleaned, &expected, &mut status);
    }
    status
}

/// Returns the status under rules by which every stone on the board counts as alive.
fn all_alive(game: &Game, settled: Option<Settled>) -> FinalStatus {
    FinalStatus {
        score: score::final_score(game, &PointSet::EMPTY),
        dead: PointSet::EMPTY,
        seki: PointSet::EMPTY,
        owner: score::scoring_owner(game.board(), &PointSet::EMPTY, game.rules()),
        open_points: 0,
        unsettled: PointSet::EMPTY,
        settled,
    }
}

/// Gives the points of unfinished regions to the side that is expected to own them, regardless of the stones around
/// them. `cleaned` is the board without the dead stones.
fn divide_open_regions(board: &Board, cleaned: &Board, expected: &ExpectedOwners, status: &mut FinalStatus) {
    for region in score::empty_regions(cleaned) {
        let sum: f32 = region.points.iter().map(|&point| expected.mean(point)).sum();
        let mean = sum / region.points.len() as f32;
        let free = region.points.iter().filter(|&&point| board.cell(point) == Cell::Empty).count();
        let is_settled = match region.owner() {
            // Playouts may have let a group live that the solver has proved dead.
            Some(owner) => free < min_points_to_live(board.size()) || mean * owner.sign() as f32 >= SURE_MEAN,
            None => !is_open(board, &region.points),
        };
        if is_settled {
            continue;
        }
        status.open_points += region.points.len();
        for &point in &region.points {
            let mean = expected.mean(point);
            let likely = if mean > 0.0 { Color::Black } else { Color::White };
            // The point of a dead stone never goes to the stone's own colour.
            let is_its_own = board.cell(point) == Cell::from(likely);
            let owner = (mean.abs() > LIKELY_MEAN && !is_its_own).then_some(likely);
            let points = |owner: Option<Color>| owner.map_or(0, Color::sign);
            status.score += (points(owner) - points(status.owner[point])) as f32;
            status.owner[point] = owner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::ByColor;
    use kosumi_go::rng::Rng;
    use kosumi_go::rules::{Rules, Scoring, Tax};
    use proptest::prelude::*;

    /// Ownership that does not depend on which side moves first.
    impl OwnershipSource for Ownership {
        fn now(&self, _game: &Game) -> Ownership {
            self.clone()
        }

        fn by_first(&self, _game: &Game) -> ByColor<Ownership> {
            ByColor::new(self.clone(), self.clone())
        }
    }

    /// Checks the invariants at the end of a game: a point that counts for a player touches no living stone of the
    /// opponent, and the result does not depend on the side to move.
    fn check_end(game: &Game, status: &FinalStatus, expected: &Ownership) {
        let board = game.board();
        for point in board.size().points().filter(|&point| board.cell(point).color().is_none()) {
            let Some(owner) = status.owner[point] else { continue };
            for next in point.adjacent() {
                let is_opponents = board.cell(next) == Cell::from(owner.opponent());
                assert!(
                    !is_opponents || status.dead.contains(next),
                    "{point} of {owner} touches {next}\n{board}"
                );
            }
        }
        assert_eq!(status.open_points, 0);
        let mut other = game.clone();
        other.set_to_move(game.to_move().opponent());
        let other = final_status(&mut Memo::new(100), &other, Moment::End, expected);
        assert_eq!((other.score, other.dead), (status.score, status.dead));
    }

    /// Checks the invariants that hold whatever the playouts or the network say.
    fn check(game: &Game, status: &FinalStatus) {
        let board = game.board();
        let rules = game.rules();
        let mut points = ByColor::<i32>::default();
        let (cleaned, lost) = score::without_chains(board, &status.dead);
        for point in board.size().points() {
            let is_dead = status.dead.contains(point);
            assert!(!is_dead || !status.seki.contains(point), "{point}");
            let owner = status.owner[point];
            if let Some(color) = board.cell(point).color() {
                assert_eq!(is_dead, status.dead.contains(board.anchor(point)), "{point}: whole chains");
                assert_eq!(owner == Some(color), !is_dead, "{point}");
                for next in point.adjacent().into_iter().filter(|_| is_dead) {
                    let is_captor = board.cell(next) == Cell::from(color.opponent());
                    assert!(!is_captor || !status.dead.contains(next), "{point} and {next}");
                }
            }
            let counts = rules.scoring == Scoring::Area || cleaned.cell(point) == Cell::Empty;
            if let Some(owner) = owner.filter(|_| counts) {
                points[owner] += 1;
            }
        }
        for region in score::empty_regions(&cleaned) {
            for &point in &region.points {
                let dead = board.cell(point).color();
                assert!(dead.is_none_or(|color| region.touches(color.opponent())), "{point}: no captor");
            }
        }
        if rules.scoring == Scoring::Territory {
            for color in Color::BOTH {
                points[color] += (lost[color.opponent()] + board.prisoners(color.opponent())) as i32;
            }
        }
        if rules.tax != Tax::All {
            let sum = (points[Color::Black] - points[Color::White]) as f32;
            assert_eq!(sum - game.komi() - game.white_bonus(), status.score, "{:?}", rules.scoring);
        }
    }

    /// Generates a position and an ownership that may be unrelated to it.
    fn anything() -> impl Strategy<Value = (Board, Ownership)> {
        ((1usize..=7, 1usize..=7), any::<u64>(), 0u32..=100).prop_map(|((columns, rows), seed, filling)| {
            let size = BoardSize::new(columns, rows).expect("a size");
            let mut rng = Rng::new(seed);
            let mut board = Board::new(size);
            let wanted = size.area() as u32 * filling / 100;
            for number in 0..wanted {
                let point = Point::new(rng.below(columns as u32) as usize, rng.below(rows as u32) as usize);
                let color = Color::BOTH[number as usize % 2];
                if board.cell(point) == Cell::Empty && !board.is_suicide(point, color) {
                    board.play_unchecked(point, color);
                }
            }
            let mut ownership = Ownership::default();
            // Most points in a region have the same owner, as in playouts.
            let sides = [rng.below(255) as i32 - 127, rng.below(255) as i32 - 127];
            let owners: Vec<i8> = size
                .points()
                .map(|point| {
                    let base = sides[usize::from(point.column() > columns / 2)];
                    (base + rng.below(101) as i32 - 50).clamp(-127, 127) as i8
                })
                .collect();
            ownership.add_expected(size, &owners);
            (board, ownership)
        })
    }

    /// Returns an ownership in which the opponent owns the chain at (column, row), and every other stone owns its own
    /// point.
    fn ownership_with_dead_chain(board: &Board, column: usize, row: usize) -> Ownership {
        let anchor = board.anchor(Point::new(column, row));
        let owner = |point: Point| {
            let owner = board.cell(point).color().map_or(0, Color::sign) as i8 * 120;
            let is_in_it = owner != 0 && board.anchor(point) == anchor;
            if is_in_it { -owner } else { owner }
        };
        let owners: Vec<i8> = board.size().points().map(owner).collect();
        let mut ownership = Ownership::default();
        ownership.add_expected(board.size(), &owners);
        ownership
    }

    #[test]
    fn what_seems_dead_but_cannot_be_captured_is_alive() {
        // Two shared liberties: the side that plays there first loses everything.
        let seki = "
            X . X X O . O
            . X X X O O O
            X X X X O . O
            X X X X O O O
            . . X O X X O
            . . X O . X O
            . . X O . X O";
        // White's three stones have one more liberty here, so they capture Black's chain.
        let race = "
            X . X X O . O
            . X X X O O O
            X X X X O . O
            X X X X O O O
            . X X O X X O
            . X . O . X O
            . X X O . X O";
        for (drawing, column, is_dead) in [(seki, 4, false), (seki, 3, false), (race, 4, true)] {
            let board: Board = drawing.parse().expect("a drawing");
            let rules = Rules::preset("chinese-kgs").expect("a preset").rules;
            let game = Game::from_board(board, Color::Black, rules, 0.5);
            let expected = ownership_with_dead_chain(&board, column, 2);
            let status = final_status(&mut Memo::new(100), &game, Moment::End, &expected);
            check(&game, &status);
            assert_eq!(status.dead.contains(Point::new(column, 2)), is_dead, "{drawing}");
            assert_eq!(status.seki.is_empty(), is_dead, "{drawing}");
        }
    }

    fn check_under(presets: [&str; 3], board: Board, ownership: &Ownership) {
        for name in presets {
            let rules = Rules::preset(name).expect("a preset").rules;
            for rules in [rules, Rules { tax: Tax::Seki, ..rules }, Rules { tax: Tax::None, ..rules }] {
                let game = Game::from_board(board, Color::Black, rules, 6.5);
                for moment in [Moment::DuringPlay, Moment::End] {
                    let status = final_status(&mut Memo::new(100), &game, moment, ownership);
                    check(&game, &status);
                    if moment == Moment::End {
                        check_end(&game, &status, ownership);
                    }
                }
            }
        }
    }

    // The test is split in two, because tests run in parallel.
    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn status_is_consistent_under_chinese_japanese_and_aga_rules((board, ownership) in anything()) {
            check_under(["chinese-kgs", "japanese", "aga"], board, &ownership);
        }

        #[test]
        fn status_is_consistent_under_cgos_new_zealand_and_stone_scoring((board, ownership) in anything()) {
            check_under(["cgos", "new-zealand", "stone-scoring"], board, &ownership);
        }
    }
}
