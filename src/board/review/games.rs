//! Reviews of many games: an entry for each game, and reports about each player over all games.
//!
//! *[`Reviewed`] → [`GameEntry`] → [`PlayerReport`].* Entries are short and can be stored, so that no game needs to be
//! reviewed twice for the reports of a folder.

use super::judge::Class;
use super::main_line::Change;
use super::reviewed::Reviewed;
use super::summary::{accuracy, stage_ends};
use crate::words::{color_letter, color_name};
use data_encoding::HEXLOWER;
use kosumi_go::board::Color;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Game of a collection of reviews.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GameEntry {
    /// Path of the record in its folder.
    pub file: String,
    /// Number of the game in the file, counted from 1.
    pub game: u32,
    /// Address of the game's page; `None` if no page was written.
    pub page: Option<String>,
    /// Columns and rows.
    pub size: [usize; 2],
    /// Black and White.
    pub players: [PlayerEntry; 2],
    /// Result, as in the record.
    pub result: Option<String>,
    /// Date, as in the record.
    pub date: Option<String>,
    /// Judged moves.
    pub moves: Vec<MoveEntry>,
}

/// Player of a game.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PlayerEntry {
    /// Name, without superfluous spaces.
    pub name: Option<String>,
    /// Rank, as in the record.
    pub rank: Option<String>,
}

/// Judged move.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MoveEntry {
    /// Position after the move, counted from 0, as in addresses of the game's page.
    pub step: usize,
    /// Number of the move, counted from 1.
    pub number: usize,
    /// `B` or `W`.
    pub color: char,
    /// The move, as a GTP vertex.
    #[serde(rename = "move")]
    pub mv: String,
    /// The first choice.
    pub best: String,
    /// Class: 0 good, 1 inaccuracy, 2 mistake, 3 blunder.
    pub class: usize,
    /// Loss of win rate, in `[0, 1]`.
    pub loss: f32,
    /// Loss in points.
    pub points: f32,
    /// Accuracy, in `[0, 1]`.
    pub accuracy: f32,
}

/// Returns a name that identifies the content of a record together with the settings of its review.
pub fn review_digest(settings: &str, record: &[u8]) -> String {
    let hash = Sha256::new().chain_update(settings).chain_update([0]).chain_update(record).finalize();
    HEXLOWER.encode(&hash[..16])
}

impl GameEntry {
    /// Creates the entry of a game.
    pub fn new(reviewed: &Reviewed, file: String, game: u32, page: Option<String>) -> GameEntry {
        let root = reviewed.tree.node(reviewed.tree.root());
        let text = |property: &str| {
            let text = root.text(property)?;
            let words: Vec<&str> = text.split_whitespace().collect();
            Some(words.join(" ")).filter(|text| !text.is_empty())
        };
        let player = |name, rank| PlayerEntry { name: text(name), rank: text(rank) };
        let steps = reviewed.line.steps().iter().enumerate();
        let moves = steps.zip(&reviewed.review.judgements).filter_map(|((index, step), judgement)| {
            let (Some(judgement), Change::Move { color, mv, .. }) = (judgement, &step.change) else {
                return None;
            };
            let rounded = |number: f32| (number * 1e4).round() / 1e4;
            Some(MoveEntry {
                step: index,
                number: step.moves,
                color: color_letter(*color),
                mv: mv.to_string(),
                best: judgement.best.mv.to_string(),
                class: judgement.class as usize,
                loss: rounded(judgement.loss.mean),
                points: rounded(judgement.score_loss.mean),
                accuracy: rounded(accuracy(judgement)),
            })
        });
        let size = reviewed.line.size();
        GameEntry {
            file,
            game,
            page,
            size: [size.columns(), size.rows()],
            players: [player("PB", "BR"), player("PW", "WR")],
            result: text("RE"),
            date: text("DT"),
            moves: moves.collect(),
        }
    }

    /// Returns a player.
    pub fn player(&self, color: Color) -> &PlayerEntry {
        &self.players[color as usize]
    }

    /// Returns the judged moves of a player.
    pub fn moves_of(&self, color: Color) -> impl Iterator<Item = &MoveEntry> {
        let letter = color_letter(color);
        self.moves.iter().filter(move |it| it.color == letter)
    }

    /// Returns the mean accuracy of a player; `None` without judged moves.
    pub fn accuracy(&self, color: Color) -> Option<f32> {
        let mut sums = Sums::default();
        self.moves_of(color).for_each(|it| sums.add(it));
        sums.mean_accuracy()
    }

    /// Returns the worst move: the least accurate one that is not good.
    pub fn worst(&self) -> Option<&MoveEntry> {
        let bad = self.moves.iter().filter(|it| it.class > Class::Good as usize);
        bad.min_by(|a, b| a.accuracy.total_cmp(&b.accuracy))
    }
}

/// Sums over some moves.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Sums {
    /// Number of moves.
    pub moves: usize,
    /// Sum of the points that they lost.
    pub points: f32,
    /// Sum of their accuracies.
    #[serde(skip)]
    pub accuracy: f32,
    /// Number of moves of each class, in the order of [`Class::ALL`].
    pub classes: [usize; 4],
}

impl Sums {
    fn add(&mut self, it: &MoveEntry) {
        self.moves += 1;
        self.points += it.points;
        self.accuracy += it.accuracy;
        if let Some(count) = self.classes.get_mut(it.class) {
            *count += 1;
        }
    }

    /// Returns the mean accuracy, in `[0, 1]`; `None` without moves.
    pub fn mean_accuracy(&self) -> Option<f32> {
        (self.moves > 0).then(|| self.accuracy / self.moves as f32)
    }

    /// Returns the mean loss in points; `None` without moves.
    pub fn mean_points(&self) -> Option<f32> {
        (self.moves > 0).then(|| self.points / self.moves as f32)
    }
}

/// Accuracy over several games with its 90 % interval, all in `[0, 1]`. Each game is one sample.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct AccuracyInterval {
    /// Mean over all moves.
    pub mean: f32,
    /// Ends of the interval; `None` with fewer than two games.
    pub interval: Option<[f32; 2]>,
}

/// 95 % quantiles of Student's t-distribution with 1 to 9 degrees of freedom.
const STUDENT: [f32; 9] = [6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833];

impl AccuracyInterval {
    /// Returns the accuracy over games, given the sums of each game's moves; `None` without moves.
    fn of(games: &[Sums]) -> Option<AccuracyInterval> {
        let games: Vec<&Sums> = games.iter().filter(|sums| sums.moves > 0).collect();
        let moves = games.iter().map(|sums| sums.moves).sum::<usize>() as f32;
        if games.is_empty() {
            return None;
        }
        let mean = games.iter().map(|sums| sums.accuracy).sum::<f32>() / moves;
        let degrees_of_freedom = games.len() - 1;
        let interval = (degrees_of_freedom > 0).then(|| {
            // Variance of a ratio of two sums over independent games.
            let squares: f32 =
                games.iter().map(|sums| (sums.accuracy - mean * sums.moves as f32).powi(2)).sum();
            let error = (squares * games.len() as f32 / degrees_of_freedom as f32).sqrt() / moves;
            let quantile = STUDENT
                .get(degrees_of_freedom - 1)
                .copied()
                .unwrap_or(1.645 + 1.67 / degrees_of_freedom as f32);
            [(mean - quantile * error).max(0.0), (mean + quantile * error).min(1.0)]
        });
        Some(AccuracyInterval { mean, interval })
    }
}

/// Part of a report: the sums of some moves.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReportPart<K> {
    /// Property that the moves have in common.
    pub of: K,
    /// Number of games with such moves.
    pub games: usize,
    /// Sums of the moves.
    #[serde(flatten)]
    pub sums: Sums,
    /// Share of all points that the player lost, in `[0, 1]`.
    pub share: f32,
    /// Accuracy of the moves.
    pub accuracy: Option<AccuracyInterval>,
}

/// Move among the worst of several games.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WorstMove {
    /// Index of the game in the list of entries.
    pub entry: usize,
    /// The move.
    #[serde(flatten)]
    pub played: MoveEntry,
}

/// Report about a player over several games.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlayerReport {
    /// The player's name.
    pub name: String,
    /// Ranks in the records, without repetition, in the order of the games.
    pub ranks: Vec<String>,
    /// All moves.
    pub all: ReportPart<()>,
    /// Moves by stage of the game: 1 is the opening, 2 the middle game, 3 the endgame.
    pub stages: Vec<ReportPart<usize>>,
    /// Moves by the points that they lost. Each part is named by its smallest loss.
    pub sizes: Vec<ReportPart<f32>>,
    /// Moves by the opponent's rank, the strongest first; `None` for opponents without a rank.
    pub opponents: Vec<ReportPart<Option<String>>>,
    /// The worst moves, the least accurate first.
    pub worst: Vec<WorstMove>,
}

/// Losses in points at which the groups of moves begin.
pub(super) const LOSS_SIZES: [f32; 5] = [0.0, 0.5, 2.0, 5.0, 10.0];
/// Maximum number of moves in the list of worst moves.
const MAX_WORST_MOVES: usize = 40;

/// Returns a number that orders ranks, stronger ones first, from a text such as `3d`, `12 kyu` or `1p`.
fn rank_order(text: &str) -> Option<i32> {
    let text = text.trim();
    let split = text.find(|letter: char| !letter.is_ascii_digit())?;
    let number: i32 = text[..split].parse().ok().filter(|number| (1..=99).contains(number))?;
    match text[split..].trim_start().chars().next()?.to_ascii_lowercase() {
        'p' => Some(-200 - number),
        'd' | '段' => Some(-100 - number),
        'k' | '級' | '级' => Some(number),
        _ => None,
    }
}

/// Collects the parts of a report.
#[derive(Debug)]
struct Parts<K> {
    /// Sums of each game, for each part.
    sums: BTreeMap<K, BTreeMap<usize, Sums>>,
}

impl<K: Ord> Parts<K> {
    fn new() -> Parts<K> {
        Parts { sums: BTreeMap::new() }
    }

    fn add(&mut self, part: K, game: usize, it: &MoveEntry) {
        self.sums.entry(part).or_default().entry(game).or_default().add(it);
    }

    fn finish<T>(self, all_points: f32, name: impl Fn(K) -> T) -> Vec<ReportPart<T>> {
        let part = |(key, games): (K, BTreeMap<usize, Sums>)| {
            let games: Vec<Sums> = games.into_values().collect();
            let mut sums = Sums::default();
            for game in &games {
                sums.moves += game.moves;
                sums.points += game.points;
                sums.accuracy += game.accuracy;
                for (sum, count) in sums.classes.iter_mut().zip(game.classes) {
                    *sum += count;
                }
            }
            ReportPart {
                of: name(key),
                games: games.len(),
                sums,
                share: if all_points > 0.0 { sums.points / all_points } else { 0.0 },
                accuracy: AccuracyInterval::of(&games),
            }
        };
        self.sums.into_iter().map(part).collect()
    }
}

impl PlayerReport {
    /// Returns the reports about all players of some games, those with the most judged moves first. Leaves out players
    /// without a name or without judged moves.
    pub fn all(entries: &[GameEntry]) -> Vec<PlayerReport> {
        let mut games: BTreeMap<&str, Vec<(usize, Color)>> = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            for color in Color::BOTH {
                if let Some(name) = &entry.player(color).name {
                    games.entry(name).or_default().push((index, color));
                }
            }
        }
        let mut reports: Vec<PlayerReport> =
            games.into_iter().filter_map(|(name, games)| PlayerReport::of(name, &games, entries)).collect();
        // The sort is stable, so players with equal numbers of moves stay in the order of their names.
        reports.sort_by_key(|report| std::cmp::Reverse(report.all.sums.moves));
        reports
    }

    fn of(name: &str, games: &[(usize, Color)], entries: &[GameEntry]) -> Option<PlayerReport> {
        let mut all = Parts::new();
        let (mut stages, mut sizes, mut opponents) = (Parts::new(), Parts::new(), Parts::new());
        let mut ranks: Vec<String> = Vec::new();
        let mut worst = Vec::new();
        for &(index, color) in games {
            let entry = &entries[index];
            ranks.extend(entry.player(color).rank.clone().filter(|rank| !ranks.contains(rank)));
            let ends = stage_ends(entry.size[0] * entry.size[1]);
            let opponent = entry.player(color.opponent()).rank.as_deref();
            let opponent = (opponent.is_none(), opponent.and_then(rank_order).unwrap_or(i32::MAX), opponent);
            for it in entry.moves_of(color) {
                all.add((), index, it);
                stages.add(1 + ends.iter().filter(|&&end| it.number > end).count(), index, it);
                sizes.add(LOSS_SIZES.iter().rposition(|&least| it.points >= least).unwrap_or(0), index, it);
                opponents.add(opponent, index, it);
                if it.class > Class::Good as usize {
                    worst.push(WorstMove { entry: index, played: it.clone() });
                }
            }
        }
        worst.sort_by(|a, b| a.played.accuracy.total_cmp(&b.played.accuracy));
        worst.truncate(MAX_WORST_MOVES);
        let points = all.sums.get(&())?.values().map(|sums| sums.points).sum();
        Some(PlayerReport {
            name: name.to_owned(),
            ranks,
            all: all.finish(points, |()| ()).pop()?,
            stages: stages.finish(points, |stage| stage),
            sizes: sizes.finish(points, |size| LOSS_SIZES[size]),
            opponents: opponents.finish(points, |(_, _, rank)| rank.map(str::to_owned)),
            worst,
        })
    }
}

/// Record that could not be reviewed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FailedRecord {
    /// Path of the record in its folder.
    pub file: String,
    /// Number of the game in the file, counted from 1.
    pub game: u32,
    /// The reason.
    pub reason: String,
}

/// All reviews of a folder.
#[derive(Clone, PartialEq, Debug)]
pub struct Games {
    /// Reviewed games.
    pub entries: Vec<GameEntry>,
    /// Reports about all players.
    pub reports: Vec<PlayerReport>,
    /// Records that could not be reviewed.
    pub failed: Vec<FailedRecord>,
    /// Number of games that are not reviewed yet.
    pub left: usize,
}

impl Games {
    /// Collects the reviews of a folder.
    pub fn new(entries: Vec<GameEntry>, failed: Vec<FailedRecord>, left: usize) -> Games {
        Games { reports: PlayerReport::all(&entries), entries, failed, left }
    }

    /// Returns everything as one JSON document.
    ///
    /// # Errors
    ///
    /// Returns an error if the document cannot be written, which no value can cause.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            format: &'static str,
            version: u32,
            program: &'static str,
            colors: [&'static str; 2],
            games: &'a [GameEntry],
            players: &'a [PlayerReport],
            failed: &'a [FailedRecord],
            left: usize,
        }
        let document = Document {
            format: "kosumi-reviews",
            version: 1,
            program: concat!("Kosumi ", env!("CARGO_PKG_VERSION")),
            colors: Color::BOTH.map(color_name),
            games: &self.entries,
            players: &self.reports,
            failed: &self.failed,
            left: self.left,
        };
        let mut text = serde_json::to_string(&document)?;
        text.push('\n');
        Ok(text)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Creates a 19×19 game between two players, with the points that each move lost, starting with Black's first move.
    pub(crate) fn entry(players: [(&str, &str); 2], losses: &[f32]) -> GameEntry {
        let player = |(name, rank): (&str, &str)| {
            let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            PlayerEntry { name: known(name), rank: known(rank) }
        };
        let moves = losses.iter().enumerate().map(|(index, &points)| MoveEntry {
            step: index + 1,
            number: index + 1,
            color: ['B', 'W'][index % 2],
            mv: "D4".to_owned(),
            best: "Q16".to_owned(),
            class: [2.0, 5.0, 10.0].iter().filter(|&&least| points >= least).count(),
            loss: points / 100.0,
            points,
            accuracy: (-points / 5.0).exp2(),
        });
        GameEntry {
            file: "game.sgf".to_owned(),
            game: 1,
            page: Some("game.review.html".to_owned()),
            size: [19, 19],
            players: players.map(player),
            result: Some("B+R".to_owned()),
            date: None,
            moves: moves.collect(),
        }
    }

    #[test]
    fn sums_are_those_of_the_moves() {
        let mut losses = vec![0.0; 160];
        // Black's moves: one in the opening, one in the middle game, two in the endgame.
        (losses[0], losses[60], losses[152], losses[158]) = (1.0, 12.0, 3.0, 4.0);
        losses[1] = 30.0;
        let games = [
            entry([("Ann", "3k"), ("Bob", "1d")], &losses),
            entry([("Carl", "12k"), ("Ann", "3k")], &[9.0, 5.0, 0.0, 0.0]),
            entry([("Ann", "2k"), ("Dora", "")], &[0.0]),
        ];
        let reports = PlayerReport::all(&games);
        assert_eq!(reports.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["Ann", "Bob", "Carl"]);
        let ann = &reports[0];
        assert_eq!((ann.all.games, ann.all.sums.moves, ann.all.sums.points), (3, 83, 25.0));
        assert_eq!(ann.all.sums.classes, [79, 2, 1, 1]);
        assert_eq!(ann.ranks, ["3k", "2k"]);
        let stages: Vec<(usize, usize, f32)> =
            ann.stages.iter().map(|it| (it.of, it.sums.moves, it.sums.points)).collect();
        assert_eq!(stages, [(1, 28, 6.0), (2, 50, 12.0), (3, 5, 7.0)]);
        let sizes: Vec<(f32, usize)> = ann.sizes.iter().map(|it| (it.of, it.sums.moves)).collect();
        assert_eq!(sizes, [(0.0, 78), (0.5, 1), (2.0, 2), (5.0, 1), (10.0, 1)]);
        let opponents: Vec<(Option<&str>, usize)> =
            ann.opponents.iter().map(|it| (it.of.as_deref(), it.sums.moves)).collect();
        assert_eq!(opponents, [(Some("1d"), 80), (Some("12k"), 2), (None, 1)]);
        for shares in [
            ann.stages.iter().map(|it| it.share).sum::<f32>(),
            ann.sizes.iter().map(|it| it.share).sum(),
            ann.opponents.iter().map(|it| it.share).sum(),
        ] {
            assert!((shares - 1.0).abs() < 1e-5);
        }
        let worst: Vec<(usize, usize)> = ann.worst.iter().map(|it| (it.entry, it.played.number)).collect();
        assert_eq!(worst, [(0, 61), (1, 2), (0, 159), (0, 153)]);
        assert!(PlayerReport::all(&[]).is_empty());
        assert_eq!(games[0].worst().map(|it| it.number), Some(2));
        assert_eq!(games[2].worst(), None);
        assert_eq!(games[2].accuracy(Color::White), None);
    }

    #[test]
    fn intervals_need_several_games() {
        let sums = |moves, accuracy| Sums { moves, accuracy, ..Sums::default() };
        assert_eq!(AccuracyInterval::of(&[]), None);
        assert_eq!(AccuracyInterval::of(&[sums(0, 0.0)]), None);
        let one = AccuracyInterval::of(&[sums(10, 8.0)]).unwrap();
        assert_eq!((one.mean, one.interval), (0.8, None));
        // Two games with means of 0.7 and 0.9 have a standard error of 0.1.
        let two = AccuracyInterval::of(&[sums(10, 7.0), sums(10, 9.0)]).unwrap();
        let [low, high] = two.interval.unwrap();
        assert!((two.mean - 0.8).abs() < 1e-6 && (low - (0.8 - 0.6314)).abs() < 1e-4 && high == 1.0);
        let many: Vec<Sums> = (0..40).map(|game| sums(10, if game % 2 == 0 { 7.0 } else { 9.0 })).collect();
        let [low, high] = AccuracyInterval::of(&many).unwrap().interval.unwrap();
        assert!((high - low - 2.0 * 0.1 / 39f32.sqrt() * (1.645 + 1.67 / 39.0)).abs() < 1e-4);
    }

    #[test]
    fn ranks_have_an_order() {
        let sorted = ["9p", "1p", "9d", "1 dan", "2段", "1k", "30 kyu"];
        let orders: Vec<Option<i32>> = sorted.iter().map(|text| rank_order(text)).collect();
        assert!(
            orders[0] < orders[1] && orders[1] < orders[2] && orders[2] < orders[4] && orders[4] < orders[3]
        );
        assert!(orders[3] < orders[5] && orders[5] < orders[6] && orders[0].is_some());
        for text in ["", "k", "strong", "0k", "100k", "5", "5x", "99999999999d"] {
            assert_eq!(rank_order(text), None, "{text}");
        }
    }

    #[test]
    fn digests_differ_with_settings_and_records() {
        let of = |settings: &str, record: &str| review_digest(settings, record.as_bytes());
        let all = [of("a", "b"), of("a", "c"), of("b", "b"), of("ab", ""), of("", "ab")];
        assert!(all.iter().enumerate().all(|(index, one)| !all[..index].contains(one) && one.len() == 32));
        assert_eq!(of("a", "b"), all[0]);
    }
}
