//! Scores: area by the Tromp–Taylor rules, and the final score of a game under its own rules.
//!
//! This module does not decide which stones are dead. The caller passes the dead chains, and an empty set means that
//! every stone is alive. Scores are Black's points minus White's.
//!
//! Which points are territory depends on the groups around them, see `groups.rs`. Surrounded points in seki do not
//! count if the rules tax them ([`Tax::Seki`], [`Tax::All`]). Under territory scoring, false eyes do not count either,
//! because they must be filled before the end.

mod groups;

use crate::board::{Board, ByColor, Cell, Color, Point, PointMap, PointSet};
use crate::game::{Button, Game, Line};
use crate::rules::{Rules, Scoring, Tax};
use groups::{Eye, Group, Groups, NO_GROUP};

/// Owner of each point: the colour of the stone, or the only colour around an empty region.
pub type Owners = PointMap<Option<Color>>;

/// A region of connected empty points, with the colours around it.
#[derive(Debug)]
pub struct Region {
    /// Points of the region.
    pub points: Vec<Point>,
    touches: ByColor<bool>,
}

impl Region {
    /// Returns whether stones of this colour are adjacent to the region.
    pub fn touches(&self, color: Color) -> bool {
        self.touches[color]
    }

    /// Returns the only colour around the region, or `None`.
    pub fn owner(&self) -> Option<Color> {
        match (self.touches[Color::Black], self.touches[Color::White]) {
            (true, false) => Some(Color::Black),
            (false, true) => Some(Color::White),
            _ => None,
        }
    }
}

/// Returns all empty regions of a board.
pub fn empty_regions(board: &Board) -> Vec<Region> {
    let mut seen = PointSet::EMPTY;
    let mut regions = Vec::new();
    for start in board.size().points() {
        if board.cell(start) != Cell::Empty || seen.contains(start) {
            continue;
        }
        seen.insert(start);
        let mut region = Region { points: vec![start], touches: ByColor::default() };
        let mut next = 0;
        while next < region.points.len() {
            for neighbour in region.points[next].adjacent() {
                match board.cell(neighbour) {
                    Cell::Empty if !seen.contains(neighbour) => {
                        seen.insert(neighbour);
                        region.points.push(neighbour);
                    }
                    cell => {
                        if let Some(color) = cell.color() {
                            region.touches[color] = true;
                        }
                    }
                }
            }
            next += 1;
        }
        regions.push(region);
    }
    regions
}

/// Returns the owner of each point if every stone is alive.
pub fn area_owner(board: &Board) -> Owners {
    let mut owners = PointMap::filled(None);
    for (point, color) in board.stones() {
        owners[point] = Some(color);
    }
    for region in empty_regions(board) {
        let owner = region.owner();
        for &point in &region.points {
            owners[point] = owner;
        }
    }
    owners
}

/// Returns the owner of each point that counts after the `dead` chains are removed. This is [`area_owner`] of the
/// remaining board, without eyes in seki if they are taxed, and without false eyes under territory scoring. The tax of
/// [`Tax::All`] on living groups cannot be assigned to points and is not included.
pub fn scoring_owner(board: &Board, dead: &PointSet, rules: Rules) -> Owners {
    let (cleaned, _) = without_chains(board, dead);
    let mut owners = area_owner(&cleaned);
    if rules.scoring == Scoring::Area && rules.tax == Tax::None {
        return owners;
    }
    let GroupDivision { groups, .. } = GroupDivision::new(board, &cleaned);
    for eye in &groups.eyes {
        for &point in &eye.points {
            let is_taxed = rules.tax != Tax::None && is_weak(&groups, eye);
            let is_filled = rules.scoring == Scoring::Territory && eye.to_be_filled.contains(point);
            if is_taxed || is_filled {
                owners[point] = None;
            }
        }
    }
    owners
}

/// Returns the number of Black's points minus White's if every stone is alive, without komi.
///
/// CITE: John Tromp and Bill Taylor, "The game of Go", rule 9 (area).
pub fn area_score(board: &Board) -> i32 {
    let stones: i32 = board.stones().map(|(_, color)| color.sign()).sum();
    let surrounded: i32 = empty_regions(board)
        .iter()
        .filter_map(|region| Some(region.owner()?.sign() * region.points.len() as i32))
        .sum();
    stones + surrounded
}

/// Returns the number of stones that Black has placed minus White's. Under area scoring each of them is a point that
/// territory scoring does not give (territory + prisoners = area − stones placed).
pub fn surplus_stones(board: &Board) -> i32 {
    let stones: i32 = board.stones().map(|(_, color)| color.sign()).sum();
    stones + board.prisoners(Color::Black) as i32 - board.prisoners(Color::White) as i32
}

/// Returns the board without the chains that have a stone in `dead`, and the number of stones that each colour loses
/// thereby. The prisoners of the returned board are those of `board`, without the dead stones.
pub fn without_chains(board: &Board, dead: &PointSet) -> (Board, ByColor<u32>) {
    let mut gone = PointSet::EMPTY;
    for (point, _) in board.stones() {
        if dead.contains(point) && !gone.contains(point) {
            for stone in board.chain(point) {
                gone.insert(stone);
            }
        }
    }
    let mut lost = ByColor::<u32>::default();
    for (point, color) in board.stones() {
        lost[color] += u32::from(gone.contains(point));
    }
    let kept = board.stones().filter(|(point, _)| !gone.contains(*point));
    // Removing whole chains removes no liberties of the others.
    let mut remaining = Board::from_stones_of_a_board(board.size(), kept);
    remaining.set_prisoners(ByColor::new(board.prisoners(Color::Black), board.prisoners(Color::White)));
    (remaining, lost)
}

/// A position divided into regions and groups.
#[derive(Debug)]
struct GroupDivision {
    regions: Vec<Region>,
    groups: Groups,
}

impl GroupDivision {
    /// Divides a position. `cleaned` is the board without its dead stones.
    fn new(board: &Board, cleaned: &Board) -> GroupDivision {
        let regions = empty_regions(cleaned);
        let owned = regions.iter().map(|region| (region.points.as_slice(), region.owner()));
        let groups = Groups::new(board, cleaned, owned);
        GroupDivision { regions, groups }
    }

    /// Returns the number of surrounded points of a colour that count.
    fn territory(&self, color: Color, rules: Rules) -> u32 {
        let mut points = vec![0; self.groups.groups.len()];
        for eye in self.groups.eyes.iter().filter(|eye| eye.owner == color && eye.group != NO_GROUP) {
            let is_filled =
                |point: &&Point| rules.scoring == Scoring::Territory && eye.to_be_filled.contains(**point);
            points[eye.group] += (eye.points.len() - eye.points.iter().filter(is_filled).count()) as u32;
        }
        let count = |(group, points): (&Group, u32)| match rules.tax {
            Tax::None => points,
            Tax::Seki | Tax::All if group.is_weak() => 0,
            Tax::Seki => points,
            Tax::All => points.saturating_sub(2),
        };
        self.groups.groups.iter().zip(points).map(count).sum()
    }
}

/// Returns the number of surrounded points that count. `cleaned` is the board without its dead stones.
fn territory(board: &Board, cleaned: &Board, rules: Rules) -> ByColor<u32> {
    if rules.scoring == Scoring::Territory || rules.tax != Tax::None {
        let division = GroupDivision::new(board, cleaned);
        return ByColor::new(Color::Black, Color::White).map(|color| division.territory(color, rules));
    }
    let mut points = ByColor::default();
    for region in empty_regions(cleaned) {
        if let Some(owner) = region.owner() {
            points[owner] += region.points.len() as u32;
        }
    }
    points
}

fn is_weak(groups: &Groups, eye: &Eye) -> bool {
    groups.groups.get(eye.group).is_some_and(Group::is_weak)
}

/// Returns the stones in seki, that is, those of groups without two eyes, if all stones but the `dead` chains stay on
/// the board.
pub fn seki_stones(board: &Board, dead: &PointSet) -> PointSet {
    let (cleaned, _) = without_chains(board, dead);
    let GroupDivision { groups, .. } = GroupDivision::new(board, &cleaned);
    let in_seki = |point: &Point| groups.groups[groups.of_stone[*point]].is_weak();
    cleaned.stones().map(|(point, _)| point).filter(in_seki).collect()
}

/// Returns the stones in seki on a board that may be unfinished: the stones of [`seki_stones`] that neither side can
/// save or attack by further play.
///
/// An open position is not a seki: a group that borders on an open region can still make eyes there or escape. If only
/// one side has groups that are short of eyes and border on no open region, the other side can capture them, so these
/// are no seki either.
pub fn settled_seki_stones(board: &Board, dead: &PointSet, is_open: impl Fn(&[Point]) -> bool) -> PointSet {
    let (cleaned, _) = without_chains(board, dead);
    let GroupDivision { regions, groups } = GroupDivision::new(board, &cleaned);
    let groups_around = |region: &Region| {
        let beside = region.points.iter().flat_map(|point| point.adjacent());
        let mut around: Vec<usize> =
            beside.map(|point| groups.of_stone[point]).filter(|&group| group != NO_GROUP).collect();
        around.sort_unstable();
        around.dedup();
        around
    };
    let neutral: Vec<(bool, Vec<usize>)> = regions
        .iter()
        .filter(|region| region.owner().is_none())
        .map(|region| (is_open(&region.points), groups_around(region)))
        .collect();
    let mut is_safe: Vec<bool> = groups.groups.iter().map(|group| !group.is_weak()).collect();
    for &group in neutral.iter().filter(|(is_open, _)| *is_open).flat_map(|(_, around)| around) {
        is_safe[group] = true;
    }
    let mut in_seki = vec![false; is_safe.len()];
    for (_, around) in &neutral {
        let weak = || around.iter().copied().filter(|&group| !is_safe[group]);
        if Color::BOTH.iter().all(|&color| weak().any(|group| groups.groups[group].color == color)) {
            weak().for_each(|group| in_seki[group] = true);
        }
    }
    cleaned.stones().map(|(point, _)| point).filter(|&point| in_seki[groups.of_stone[point]]).collect()
}

/// A final score and its parts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FinalScore {
    /// Black's points minus White's, including komi and all other terms.
    pub black_minus_white: f32,
    /// Number of surrounded points that count, after tax.
    pub territory: ByColor<u32>,
    /// Number of stones on the board that each colour counts as points. Zero under territory scoring.
    pub stones: ByColor<u32>,
    /// Number of the opponent's stones that each colour counts: captured and dead ones. Zero under area scoring.
    pub captives: ByColor<u32>,
    /// State of the button. [`count`] credits a free button to the side to move.
    pub button: Button,
    /// Komi, in points for White.
    pub komi: f32,
    /// Compensation for handicap stones, in points for White.
    pub white_bonus: f32,
}

/// Terms of a count besides the position and the dead stones.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScoringTerms {
    /// Rules of the game.
    pub rules: Rules,
    /// State of the button. A free button counts for neither side here.
    pub button: Button,
    /// Komi, in points for White.
    pub komi: f32,
    /// Compensation for handicap stones, in points for White.
    pub white_bonus: f32,
}

impl ScoringTerms {
    /// Returns the terms of a game in its current state. A free button is credited to the side to move.
    pub fn of(game: &Game) -> ScoringTerms {
        ScoringTerms {
            rules: game.rules(),
            button: game.button().credited_to(game.to_move()),
            komi: game.komi(),
            white_bonus: game.white_bonus(),
        }
    }

    /// Returns the terms at the end of a line. A free button is credited to the side to move.
    pub fn of_line(line: &Line<'_>) -> ScoringTerms {
        ScoringTerms {
            rules: line.game().rules(),
            button: line.button().credited_to(line.to_move()),
            komi: line.game().komi(),
            white_bonus: line.white_bonus(),
        }
    }

    /// Returns White's points that are not on the board minus Black's: komi, compensation for handicap stones and the
    /// button.
    pub fn white_points(&self) -> f32 {
        self.komi + self.white_bonus - self.button.black_points()
    }
}

/// Counts a game's position under its rules after removing the `dead` chains. One stone in the set identifies its
/// chain.
///
/// The rules' `friendly_pass` is ignored: a caller whose rules count all stones as alive passes an empty set.
pub fn count(game: &Game, dead: &PointSet) -> FinalScore {
    count_position(game.board(), ScoringTerms::of(game), dead)
}

/// Counts a position as [`count`] does, under the given terms.
pub fn count_position(board: &Board, terms: ScoringTerms, dead: &PointSet) -> FinalScore {
    let rules = terms.rules;
    let (cleaned, lost) = without_chains(board, dead);
    let territory = territory(board, &cleaned, rules);
    let mut score = FinalScore {
        black_minus_white: 0.0,
        territory: ByColor::default(),
        stones: ByColor::default(),
        captives: ByColor::default(),
        button: terms.button,
        komi: terms.komi,
        white_bonus: terms.white_bonus,
    };
    for color in Color::BOTH {
        score.territory[color] = territory[color];
        match rules.scoring {
            Scoring::Area => {
                score.stones[color] = cleaned.stones().filter(|&(_, stone)| stone == color).count() as u32;
            }
            Scoring::Territory => {
                score.captives[color] = board.prisoners(color.opponent()) + lost[color.opponent()];
            }
        }
    }
    let points = |color: Color| {
        f64::from(score.territory[color]) + f64::from(score.stones[color]) + f64::from(score.captives[color])
    };
    let button = f64::from(score.button.black_points());
    score.black_minus_white = (points(Color::Black) - points(Color::White) + button
        - f64::from(score.komi)
        - f64::from(score.white_bonus)) as f32;
    score
}

/// Returns Black's points minus White's under the game's rules with the `dead` chains removed, including komi and
/// compensation for handicap stones. See [`count`] for the parts.
pub fn final_score(game: &Game, dead: &PointSet) -> f32 {
    count(game, dead).black_minus_white
}

/// Formats a score as GTP's `final_score` reports it: `B+2.5`, `W+31.0`, or `0` for a draw. It has one decimal, or two
/// if the score needs them.
pub fn format_score(score: f32) -> String {
    let margin = score.abs();
    // The text is compared with zero after rounding, so that no winner has a margin of zero.
    let digits = if (margin * 10.0).fract() == 0.0 { format!("{margin:.1}") } else { format!("{margin:.2}") };
    let digits = match digits.strip_suffix('0') {
        Some(short) if short.contains('.') && !short.ends_with('.') => short.to_owned(),
        _ => digits,
    };
    match digits.as_str() {
        "0.0" => "0".to_owned(),
        _ if score > 0.0 => format!("B+{digits}"),
        _ => format!("W+{digits}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::text::parse_drawing;
    use crate::board::{BoardSize, Move};
    use crate::rules::HandicapBonus;

    fn board(drawing: &str) -> Board {
        drawing.parse().unwrap_or_else(|error| panic!("{error}\n{drawing}"))
    }

    /// Parses a drawing in which dead stones are `d` (Black's) and `e` (White's).
    fn with_dead(drawing: &str) -> (Board, PointSet) {
        let plain = board(&drawing.replace('d', "X").replace('e', "O"));
        let marked = drawing.replace(['X', 'O'], ".").replace('d', "X").replace('e', "O");
        let (_, stones) = parse_drawing(&marked).unwrap();
        (plain, stones.into_iter().map(|(point, _)| point).collect())
    }

    fn rules(scoring: Scoring, tax: Tax) -> Rules {
        Rules { scoring, tax, ..Rules::default() }
    }

    fn swapped(drawing: &str) -> String {
        drawing
            .chars()
            .map(|c| match c {
                'X' => 'O',
                'O' => 'X',
                'd' => 'e',
                'e' => 'd',
                other => other,
            })
            .collect()
    }

    #[test]
    fn area() {
        let rows: &[(&str, i32)] = &[
            (".", 0),
            ("X.", 2),
            (".O", -2),
            ("X.O", 0),
            ("X..", 3),
            (". .\n. .", 0),
            ("X.O\n.X.\n...", 2 - 1),
            (".X.O.", 0),
            (".X..O.", 0),
            (". X . O O\n. X . O .\n. X . O O", 6 - 6),
            (". X O .\n. X O .\n. X X O", 7 - 5),
            // A group inside another's territory makes it neutral.
            (". . . . .\n. . X . .\n. . . . .\n. O . . .", 0),
            (". X . O . X .", 4 - 1),
            (". X O O . O", 2 - 4),
        ];
        for (drawing, expected) in rows {
            for (drawing, expected) in [(drawing.to_string(), *expected), (swapped(drawing), -expected)] {
                assert_eq!(area_score(&board(&drawing)), expected, "\n{drawing}");
            }
            let position = board(drawing);
            let owners = area_owner(&position);
            let sum: i32 = position.size().points().filter_map(|p| owners[p]).map(Color::sign).sum();
            assert_eq!(sum, *expected, "\n{drawing}");
        }
    }

    #[test]
    fn final_scores() {
        use Scoring::{Area, Territory};
        use Tax::{All, None, Seki};
        let two_sides = ". . X O . .\n. . X O . .\n. . X O O O\n. . X . O .";
        let dead_inside = ". . X O . .\n. e X O . .\n. . X O O O\n. . X . O .";
        // The four stones of each colour at the bottom share two liberties. The outer groups live.
        let bare_seki = "\
            . O . O O X . X .
            O O O O O X X X X
            O O O O O X X X X
            O O X X . O O X X
            O O X X . O O X X";
        // Two groups share two liberties, and each has an eye: two points for Black, one for White.
        let eyed_seki = "\
            . O . O O O X . X X .
            O O O O O O X X X X X
            O O O O O O X X X X X
            O X X X X X O O O O X
            O X . . X . O O . O X
            O X X X X . O O O O X";
        // A single territory is alive if it is large enough, regardless of neutral points in between.
        let open_border = ". . . X . O . .\n. . . X . O . .\n. . . X . O . .\n. . . X . O . .";
        // A group that lives with one eye is in seki, even next to an independently alive group.
        let alive_neighbour = ". X . O . O .\nX X . O O O O";
        let rows: &[(&str, Scoring, Tax, f32)] = &[
            (".", Area, None, 0.0),
            (".", Territory, Seki, 0.0),
            (two_sides, Area, None, 12.0 - (4.0 + 2.0 + 4.0 + 1.0)),
            (two_sides, Territory, Seki, 8.0 - 5.0),
            (two_sides, Territory, None, 8.0 - 5.0),
            (two_sides, Territory, All, 6.0 - 3.0),
            (dead_inside, Area, None, 12.0 - 11.0),
            (dead_inside, Territory, Seki, 8.0 + 1.0 - 5.0),
            (bare_seki, Area, None, 20.0 - 23.0),
            (bare_seki, Area, All, 18.0 - 21.0),
            (bare_seki, Territory, None, 2.0 - 2.0),
            (bare_seki, Territory, Seki, 2.0 - 2.0),
            (eyed_seki, Area, None, 31.0 - 33.0),
            (eyed_seki, Area, Seki, 29.0 - 32.0),
            (eyed_seki, Area, All, 27.0 - 30.0),
            (eyed_seki, Territory, None, 4.0 - 3.0),
            (eyed_seki, Territory, Seki, 2.0 - 2.0),
            (eyed_seki, Territory, All, 0.0),
            (open_border, Area, None, 16.0 - 12.0),
            (open_border, Territory, Seki, 12.0 - 8.0),
            (open_border, Territory, All, 10.0 - 6.0),
            (alive_neighbour, Territory, Seki, 0.0 - 2.0),
            (alive_neighbour, Area, Seki, 3.0 - 8.0),
            // All stones are dead: neither side has territory, and only the captives count.
            ("d . e\n. d .", Area, None, 0.0),
            ("d . e\n. d .", Territory, Seki, 1.0 - 2.0),
            // One stone identifies its chain.
            (". d X . O .\n. . . . O .\nO O O O O .", Territory, None, -(8.0 + 3.0 + 2.0)),
        ];
        for (drawing, scoring, tax, expected) in rows {
            for (drawing, expected) in [(drawing.to_string(), *expected), (swapped(drawing), -expected)] {
                let (position, dead) = with_dead(&drawing);
                let game = Game::from_board(position, Color::Black, rules(*scoring, *tax), 0.0);
                assert_eq!(final_score(&game, &dead), expected, "{scoring:?} {tax:?}\n{drawing}");
            }
        }
    }

    #[test]
    fn seki_is_found_and_life_is_not_seki() {
        let seki = |drawing: &str| seki_stones(&board(drawing), &PointSet::EMPTY).len();
        assert_eq!(seki(". X . O .\n. X . O ."), 4, "two-point eyes with a gap between them");
        assert_eq!(seki(". X . O . O .\nX X . O O O O"), 3, "one eye beside a group with two");
        assert_eq!(seki("X . O"), 2);
        assert_eq!(seki(". . ."), 0);
        assert_eq!(seki(". X ."), 0);
    }

    #[test]
    fn open_positions_are_not_seki() {
        let settled = |drawing: &str| {
            let board = board(drawing);
            settled_seki_stones(&board, &PointSet::EMPTY, |points| points.len() > 4).len()
        };
        let opening = "\
            . . . . . . . . .
            . . . . . . . . .
            . . X . . . O . .
            . . . . . . . . .
            . . . . X . . . .
            . . . . . . . . .
            . . O . . . X . .
            . . . . O . . . .
            . . . . . . . . .";
        assert_eq!((seki_stones(&board(opening), &PointSet::EMPTY).len(), settled(opening)), (6, 0));
        // Four black and three white stones share two liberties. Their neighbours live.
        let real = "\
            . O . O O X . X .
            O O O O O X X X X
            O O O X X O X X X
            O O O X . O X X X
            O O O X . O X X X";
        assert_eq!((seki_stones(&board(real), &PointSet::EMPTY).len(), settled(real)), (7, 7));
        // White can connect the stones to the living ones above, which kills the black ones.
        let can_connect = "\
            . O . O O X . X .
            O O O O O X X X X
            O O O O O X X X X
            O O X X . O O X X
            O O X X . O O X X";
        assert_eq!((seki_stones(&board(can_connect), &PointSet::EMPTY).len(), settled(can_connect)), (4, 0));
        // The black stones in the middle are adjacent to the neutral point beside their living friends.
        let connected = "\
            . X . X X . O . O
            X X X X O . O O O
            O O O O O X O O O
            . O . O . X . O .";
        assert_eq!(settled(connected), 0);
        // A seki on the left remains one if the right side is open.
        let corner = "\
            . O . O O X . X . . . . .
            O O O O O X X X X . . . .
            O O O X X O X X X . O . .
            O O O X . O X X X . . . .
            O O O X . O X X X . . . .";
        assert_eq!(settled(corner), 7);
    }

    #[test]
    fn without_chains_removes_and_counts_dead_stones() {
        let (position, dead) = with_dead("X d . e\n. . . O\nd X . O");
        let (remaining, lost) = without_chains(&position, &dead);
        assert_eq!(remaining.stone_count(), 0);
        assert_eq!((lost[Color::Black], lost[Color::White]), (4, 3));
        let (same, lost) = without_chains(&position, &PointSet::EMPTY);
        assert_eq!(same.key(), position.key());
        assert_eq!(lost, ByColor::default());
        remaining.check_consistency();
    }

    fn point(text: &str) -> Point {
        let (column, row) = text.split_at(1);
        let column = "ABCDEFGHJ".find(column).unwrap();
        Point::new(column, row.parse::<usize>().unwrap() - 1)
    }

    #[test]
    fn prisoners_of_the_game_count_for_territory() {
        let size = BoardSize::square(5).unwrap();
        let mut game = Game::new(size, rules(Scoring::Territory, Tax::Seki), 0.5);
        for mv in ["A2", "A1", "B1"] {
            game.play(game.to_move(), Move::Play(point(mv))).unwrap();
        }
        // One captive, 23 points, no white stone on the board.
        assert_eq!(final_score(&game, &PointSet::EMPTY), 1.0 + 23.0 - 0.5);
        let area = game.with_rules(rules(Scoring::Area, Tax::None), 0.5);
        assert_eq!(final_score(&area, &PointSet::EMPTY), 25.0 - 0.5);
        let parts = count(&game, &PointSet::EMPTY);
        assert_eq!(parts.captives, ByColor::new(1, 0));
        assert_eq!(parts.territory, ByColor::new(23, 0));
        assert_eq!(parts.stones, ByColor::default());
    }

    #[test]
    fn komi_handicap_and_button() {
        let size = BoardSize::square(5).unwrap();
        for (bonus, expected) in
            [(HandicapBonus::None, 25.0), (HandicapBonus::LessOne, 23.0), (HandicapBonus::Full, 22.0)]
        {
            let rules = Rules { handicap_bonus: bonus, ..Rules::default() };
            let game = Game::new(size, rules, 7.5).with_handicap(&["A1", "B2", "C3"].map(point)).unwrap();
            assert_eq!(final_score(&game, &PointSet::EMPTY), expected - 7.5);
        }
        let button = Rules { has_button: true, ..Rules::default() };
        let mut game = Game::new(size, button, 7.0);
        assert_eq!(final_score(&game, &PointSet::EMPTY), 0.5 - 7.0, "untaken: Black's, who is to move");
        game.play(Color::Black, Move::Play(point("C3"))).unwrap();
        game.play(Color::White, Move::Pass).unwrap();
        assert_eq!(final_score(&game, &PointSet::EMPTY), 25.0 - 7.0 - 0.5);
        game.play(Color::Black, Move::Pass).unwrap();
        assert_eq!(
            count(&game, &PointSet::EMPTY).button,
            Button::Taken(Color::White),
            "only the first pass counts"
        );
        let without = game.with_rules(Rules::default(), 7.0);
        assert_eq!(final_score(&without, &PointSet::EMPTY), 18.0);
        let territory = game.with_rules(Rules { scoring: Scoring::Territory, ..button }, 7.0);
        assert_eq!(count(&territory, &PointSet::EMPTY).button, Button::None);
    }

    #[test]
    fn scores_as_text() {
        let rows = [
            (2.5, "B+2.5"),
            (-31.0, "W+31.0"),
            (0.0, "0"),
            (-0.0, "0"),
            (0.25, "B+0.25"),
            (-0.001, "0"),
            (100.0, "B+100.0"),
            (-0.5, "W+0.5"),
            (-7.1, "W+7.1"),
        ];
        for (score, expected) in rows {
            assert_eq!(format_score(score), expected);
        }
    }
}
