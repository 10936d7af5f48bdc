//! Choice of positions from game records.

use super::example::{Example, PackedInput, Targets};
use super::off_policy::OffPolicyGenerator;
use kosumi_go::board::{BoardSize, Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::{Rules, Scoring};
use kosumi_go::score::{Owners, area_owner};
use kosumi_go::sgf::facts::{Date, Ending, GameResult, Winner};
use kosumi_go::sgf::{Record, Strictness};
use kosumi_net::{Input, input};
use std::cmp::Ordering;

/// Minimum number of moves of a usable game.
const MIN_MOVES: usize = 10;

/// Use of a game record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// For training.
    Training,
    /// For validation.
    Validation,
}

impl Split {
    /// Returns the split of a game. Games dated in the year `held_back` or later are for validation. All others,
    /// including those without a date, are for training. The date is part of the game, so the split does not depend on
    /// how often or in which order records are read.
    pub fn of(record: &Record, held_back: u16) -> Split {
        let date = record.date.as_deref().and_then(Date::parse);
        if date.is_some_and(|date| date.year >= held_back) { Split::Validation } else { Split::Training }
    }
}

/// Reason why a record gives no positions.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, thiserror::Error, serde::Serialize, serde::Deserialize,
)]
pub enum Refusal {
    /// The result is unknown.
    #[error("no result")]
    NoResult,
    /// The game has too few moves.
    #[error("too few moves")]
    TooShort,
    /// Some moves or setup stones are invalid.
    #[error("unplayable moves")]
    Unplayable,
}

/// Choice of positions of a game, and the rules with which they are encoded.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Maximum number of positions per game.
    pub per_game: usize,
    /// If set, only positions before the move with this number are used, counted from 1.
    pub opening: Option<usize>,
    /// Rules of records that do not state them.
    pub recorded: Rules,
    /// Rules for the encoding, one of which is drawn for each game. If empty, games keep their own rules.
    ///
    /// Komi changes by a point between area and territory scoring, which preserves the winner in nearly all games. A
    /// score counted under one of them is not used under the other.
    pub shown: Vec<Rules>,
    /// Number of positions in a thousand that are followed by an off-policy position (see [`OffPolicyGenerator`]). Such
    /// a position has neither a move nor a result as a target.
    pub off_policy: u32,
    /// Seed of all random choices, together with the number of the game.
    pub seed: u64,
}

/// Returns the training examples of a game, with inputs made by `encode`. `number` is the number of the game in its
/// collection.
///
/// # Errors
///
/// Returns the reason if the record is unusable.
pub fn examples(
    record: &Record,
    number: u32,
    sampling: &Sampling,
    encode: &mut impl FnMut(&Game) -> Input,
) -> Result<Vec<Example>, Refusal> {
    let (winner, score) = result(record).ok_or(Refusal::NoResult)?;
    let played_under = record.rules().unwrap_or(sampling.recorded);
    let played = record
        .replay(played_under, record.komi_under(played_under), None, Strictness::Tolerant)
        .ok()
        .filter(|replayed| replayed.warnings.is_empty())
        .ok_or(Refusal::Unplayable)?
        .game;
    let moves = played.records();
    if moves.len() < MIN_MOVES.min(played.size().area() / 2) {
        return Err(Refusal::TooShort);
    }

    let mut rng = Rng::for_worker(sampling.seed, number as usize);
    let shown_under = match sampling.shown.len() {
        0 => played_under,
        count => sampling.shown[rng.below(count as u32) as usize],
    };
    let komi = played.komi() + komi_shift(played_under, shown_under);
    let score = score.filter(|_| played_under.scoring == shown_under.scoring);
    let owners = final_owners(&played);
    let moves_shown = sampling.opening.map_or(moves.len(), |most| moves.len().min(most));
    let chosen = choose(&mut rng, moves_shown, sampling.per_game);
    let mut generator = OffPolicyGenerator::default();

    let mut game = Game::from_board(*played.start(), played.start_to_move(), shown_under, komi);
    game.set_handicap(played.handicap());
    let mut examples = Vec::with_capacity(chosen.len());
    for (ply, played_move) in moves.iter().enumerate() {
        if chosen.contains(&ply) {
            game.set_to_move(played_move.color);
            let us = played_move.color;
            let share = |of: Color| winner.map_or(0.5, |winner| f32::from(u8::from(winner == of)));
            let targets = Targets {
                played: Some(move_index(game.size(), played_move.mv)),
                policy: Vec::new(),
                value: [share(us), share(us.opponent()), 0.0],
                expected: None,
                score: score.map(|score| score * us.sign() as f32),
                ownership: owners
                    .as_ref()
                    .map(|owners| owners.iter().map(|&o| 127 * o * us.sign() as i8).collect()),
            };
            let input = PackedInput::pack(&encode(&game));
            let ply = ply.min(u16::MAX as usize) as u16;
            examples.push(Example { input, targets, ply, game: number });
            if rng.chance(sampling.off_policy)
                && let Some((position, _)) = generator.off_policy_position(&game, &mut rng)
            {
                let input = PackedInput::pack(&encode(&position));
                examples.push(Example { input, targets: Targets::UNKNOWN, ply, game: number });
            }
        }
        if game.play_tolerant(played_move.color, played_move.mv).is_err() {
            return Err(Refusal::Unplayable);
        }
    }
    Ok(examples)
}

/// Returns the winner, `None` for a draw, and Black's score in points if the game was counted. Returns `None` if the
/// game has no result.
pub fn result(record: &Record) -> Option<(Option<Color>, Option<f32>)> {
    let outcome = record.result.as_deref().and_then(GameResult::parse)?;
    let score = |sign: i32| match outcome.ending {
        Ending::Score(points) => Some(sign as f32 * points),
        _ => None,
    };
    match outcome.winner {
        Winner::Player(color) => Some((Some(color), score(color.sign()))),
        Winner::Draw => Some((None, Some(0.0))),
        Winner::Void | Winner::Unknown => None,
    }
}

/// Returns the change of komi between two rule sets. Area scoring gives Black about one point more, because Black
/// usually makes both the first and the last move. Rule sets compensate for it with a point of komi (7.5 instead of
/// 6.5).
fn komi_shift(from: Rules, to: Rules) -> f32 {
    match (from.scoring, to.scoring) {
        (Scoring::Territory, Scoring::Area) => 1.0,
        (Scoring::Area, Scoring::Territory) => -1.0,
        _ => 0.0,
    }
}

/// Draws up to `count` distinct numbers below `from`.
fn choose(rng: &mut Rng, from: usize, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..from).collect();
    let count = count.min(from);
    for index in 0..count {
        all.swap(index, index + rng.below((from - index) as u32) as usize);
    }
    all.truncate(count);
    all
}

/// Returns the number of a point, counted row by row from the top, or of a pass.
pub(crate) fn move_index(size: BoardSize, mv: Move) -> u16 {
    let index = match mv {
        Move::Play(point) => input::index(size, point),
        Move::Pass => size.area(),
    };
    index as u16
}

/// Returns the owner of each point at the end, row by row from the top, 1 for Black, −1 for White. Returns `None`
/// unless the board alone determines the owners: the game ended by passes, under area rules that count all stones as
/// alive.
fn final_owners(game: &Game) -> Option<Vec<i8>> {
    let rules = game.rules();
    if !game.is_over() || rules.friendly_pass || rules.scoring != Scoring::Area {
        return None;
    }
    Some(owner_rows(game.size(), &area_owner(game.board())))
}

/// Returns the owners row by row from the top: 1 for Black, −1 for White, 0 for neutral points.
pub(crate) fn owner_rows(size: BoardSize, owners: &Owners) -> Vec<i8> {
    points_from_the_top(size).map(|point| owners[point].map_or(0, |owner| owner.sign() as i8)).collect()
}

/// Iterates over all points in the order of shards.
fn points_from_the_top(size: BoardSize) -> impl Iterator<Item = Point> {
    let rows = (0..size.rows()).rev();
    rows.flat_map(move |row| (0..size.columns()).filter_map(move |column| size.point(column, row)))
}

/// Returns the move with this number, or `None` if there is no such move. This is the inverse of [`move_index`].
pub(crate) fn move_of(size: BoardSize, index: u16) -> Option<Move> {
    let index = usize::from(index);
    match index.cmp(&size.area()) {
        Ordering::Greater => None,
        Ordering::Equal => Some(Move::Pass),
        Ordering::Less => input::point_at(size, index).map(Move::Play),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_net::SPATIAL_FEATURES;

    fn sampling(per_game: usize) -> Sampling {
        let recorded = Rules::preset("japanese").unwrap().rules;
        Sampling { per_game, opening: None, recorded, shown: Vec::new(), off_policy: 0, seed: 1 }
    }

    fn record(sgf: &str) -> Record {
        Record::parse(sgf.as_bytes()).unwrap()
    }

    /// Encodes stones only: feature 1 for the side to move, feature 2 for the opponent.
    fn encode(game: &Game) -> Input {
        let size = game.size();
        let mut input = Input::zero(size.columns(), size.rows());
        for (point, color) in game.board().stones() {
            let feature = if color == game.to_move() { 1 } else { 2 };
            input.spatial[input::index(size, point) * SPATIAL_FEATURES + feature] = 1.0;
        }
        input.global[5] = game.komi();
        input
    }

    /// Black walls off the two left columns. White has only one stone, on the right.
    const COUNTED: &str =
        "(;SZ[3]KM[0.5]RU[Tromp-Taylor]RE[B+0.5]DT[2015-12-31];B[ba];W[cb];B[bb];W[];B[bc];W[];B[])";

    #[test]
    fn targets_are_those_of_the_side_to_move() {
        let mut all = examples(&record(COUNTED), 7, &sampling(100), &mut encode).unwrap();
        all.sort_by_key(|example| example.ply);
        assert_eq!(all.len(), 7);
        let played: Vec<u16> = all.iter().filter_map(|example| example.targets.played).collect();
        assert_eq!(played, [1, 5, 4, 9, 7, 9, 9]);
        assert_eq!(all[0].targets.value, [1.0, 0.0, 0.0]);
        assert_eq!(all[1].targets.value, [0.0, 1.0, 0.0]);
        assert_eq!((all[0].targets.score, all[1].targets.score), (Some(0.5), Some(-0.5)));
        let black =
            [127, 127, 127, 127, 127, -127, 127, 127, 127].map(|o: i32| if o < 0 { -127 } else { 127 });
        // The two empty points on the right touch both colours.
        let black: Vec<i8> =
            black.iter().enumerate().map(|(at, &o)| if at == 2 || at == 8 { 0 } else { o as i8 }).collect();
        let white: Vec<i8> = black.iter().map(|&o| -o).collect();
        assert_eq!(all[0].targets.ownership.as_ref(), Some(&black));
        assert_eq!(all[1].targets.ownership.as_ref(), Some(&white));
        // At the second move Black's stone at the top is the opponent's.
        assert_eq!(all[1].input.unpack().point(1, 0)[..3], [0.0, 0.0, 1.0]);
    }

    #[test]
    fn another_scoring_moves_komi_and_hides_the_score() {
        let territory = Rules::preset("japanese").unwrap().rules;
        let shown = Sampling { shown: vec![territory], ..sampling(1) };
        let found = examples(&record(COUNTED), 7, &shown, &mut encode).unwrap();
        assert_eq!(found[0].input.global[5], -0.5);
        assert_eq!(found[0].targets.score, None);
    }

    #[test]
    fn the_same_seed_takes_the_same_positions() {
        let plies = |seed: u64| {
            let sampling = Sampling { seed, ..sampling(3) };
            let found = examples(&record(COUNTED), 7, &sampling, &mut encode).unwrap();
            found.iter().map(|example| example.ply).collect::<Vec<_>>()
        };
        assert_eq!(plies(1), plies(1));
        assert!((2..20).any(|seed| plies(seed) != plies(1)));
    }

    #[test]
    fn an_opening_is_the_first_positions() {
        let of_opening = Sampling { opening: Some(3), ..sampling(100) };
        let mut plies: Vec<u16> = examples(&record(COUNTED), 7, &of_opening, &mut encode)
            .unwrap()
            .iter()
            .map(|it| it.ply)
            .collect();
        plies.sort_unstable();
        assert_eq!(plies, [0, 1, 2]);
    }

    #[test]
    fn off_policy_positions_follow_their_positions_without_targets() {
        let all = examples(&record(COUNTED), 7, &Sampling { off_policy: 1000, ..sampling(100) }, &mut encode)
            .unwrap();
        // The last positions may have no legal move left except a pass.
        assert!(all.len() > 10, "{}", all.len());
        let stones = |example: &Example| {
            let input = example.input.unpack();
            input
                .spatial
                .chunks(kosumi_net::SPATIAL_FEATURES)
                .filter(|point| point[1] + point[2] > 0.0)
                .count()
        };
        for pair in all.windows(2) {
            if pair[1].targets.played.is_none() {
                assert_eq!(pair[1].targets, Targets::UNKNOWN);
                assert_eq!(pair[0].ply, pair[1].ply);
                assert!(pair[0].targets.played.is_some());
                assert_ne!(pair[0].input, pair[1].input);
                assert!(stones(&pair[1]) + 2 > stones(&pair[0]));
            }
        }
    }

    #[test]
    fn numbers_of_moves_and_back() {
        let size = BoardSize::new(5, 3).unwrap();
        for index in 0..=15 {
            assert_eq!(move_index(size, move_of(size, index).unwrap()), index);
        }
        assert_eq!(move_of(size, 4), Some(Move::Play(Point::new(4, 2))));
        assert_eq!(move_of(size, 16), None);
    }

    #[test]
    fn unusable_records_are_refused() {
        let cases = [
            ("(;SZ[3];B[aa];W[bb];B[cc];W[ab];B[ba])", Refusal::NoResult),
            ("(;SZ[3]RE[Void];B[aa];W[bb];B[cc];W[ab];B[ba])", Refusal::NoResult),
            ("(;SZ[19]RE[B+R];B[aa];W[bb])", Refusal::TooShort),
            ("(;SZ[3]RE[B+R];B[aa];W[aa];B[cc];W[ab];B[ba])", Refusal::Unplayable),
        ];
        for (sgf, refusal) in cases {
            assert_eq!(examples(&record(sgf), 0, &sampling(9), &mut encode), Err(refusal), "{sgf}");
        }
    }

    #[test]
    fn games_are_held_back_by_date() {
        let split = |date: &str| Split::of(&record(&format!("(;SZ[9]DT[{date}])")), 2016);
        assert_eq!(split("2015-12-31"), Split::Training);
        assert_eq!(split("2016-01-01"), Split::Validation);
        assert_eq!(split("long ago"), Split::Training);
        assert_eq!(Split::of(&record("(;SZ[9])"), 2016), Split::Training);
    }
}
