//! Profiles of players, which are inputs of networks of human play.
//!
//! Such networks predict the move of a human player of a given rank, date and time control. They take 192 features in
//! addition to those of the position. KataGo's `humanSLProfile` names the common cases, and a [`Profile`] is one of
//! these.
//!
//! CITE: KataGo's `SGFMetadata`, which this module reimplements. No network of this kind was available to check it
//! against.

use super::input::METADATA_FEATURES;
use kosumi_go::board::{ByColor, Color};
use std::f64::consts::TAU;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Profile of the players whose moves a network should predict.
///
/// ```
/// use kosumi_net::Profile;
///
/// let profile: Profile = "rank_5k".parse().unwrap();
/// assert_eq!(profile.to_string(), "rank_5k");
/// assert_eq!("proyear_1846".parse::<Profile>().unwrap().to_string(), "proyear_1846");
/// assert!("rank_21k".parse::<Profile>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// Amateurs of these ranks who know the openings that programs have introduced: `rank_5k`, or `rank_3k_5d` with
    /// Black's rank and White's.
    Modern(ByColor<Rank>),
    /// Amateurs of these ranks before such openings were known: `preaz_5k`, `preaz_3k_5d`.
    BeforeAlphaZero(ByColor<Rank>),
    /// Professionals of a year: `proyear_1999`.
    Professionals(u16),
}

/// Rank of an amateur, from 30 kyu to 9 dan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rank(
    /// Number of ranks below 10 dan: 1 is 9 dan, 9 is 1 dan, 10 is 1 kyu, 39 is 30 kyu.
    u8,
);

/// Error for a text that is not the name of a [`Profile`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "\"{0}\" is no profile: there are rank_20k to rank_9d, preaz_20k to preaz_9d, both also with Black's rank and White's \
     as in rank_3k_5d, and proyear_1800 to proyear_2023"
)]
pub struct UnknownProfile(String);

/// Lowest of all ranks: 30 kyu.
const LOWEST_RANK: Rank = Rank(39);

/// Lowest rank of a profile: 20 kyu. Networks of human play know no lower one.
const LOWEST_OF_PROFILES: Rank = Rank(29);

/// Years from which professional games are known.
const YEARS: std::ops::RangeInclusive<u16> = 1800..=2023;

impl FromStr for Rank {
    type Err = ();

    fn from_str(text: &str) -> Result<Rank, ()> {
        let (number, is_dan) = match (text.strip_suffix('k'), text.strip_suffix('d')) {
            (Some(number), _) => (number, false),
            (_, Some(number)) => (number, true),
            _ => return Err(()),
        };
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
        match (number.parse::<u8>(), is_dan) {
            (Ok(dan @ 1..=9), true) if is_plain => Ok(Rank(10 - dan)),
            (Ok(kyu @ 1..=30), false) if is_plain => Ok(Rank(9 + kyu)),
            _ => Err(()),
        }
    }
}

impl Rank {
    /// The strongest rank, 9 dan.
    pub const STRONGEST: Rank = Rank(1);

    /// Returns the number of ranks below 10 dan: 1 is 9 dan, 9 is 1 dan, 10 is 1 kyu, 39 is 30 kyu.
    pub fn steps_below_ten_dan(self) -> u8 {
        self.0
    }

    /// Returns the rank that is weaker by this number of ranks, or stronger if the number is negative. Beyond the ends
    /// of the scale, returns the last rank.
    #[must_use]
    pub fn weaker(self, ranks: i16) -> Rank {
        let steps = i16::from(self.0).saturating_add(ranks).clamp(1, i16::from(LOWEST_RANK.0));
        Rank(steps as u8)
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            steps @ 1..=9 => write!(f, "{}d", 10 - steps),
            steps => write!(f, "{}k", steps - 9),
        }
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Profile, UnknownProfile> {
        let unknown = || UnknownProfile(text.to_owned());
        let (kind, rest) = text.split_once('_').ok_or_else(unknown)?;
        if kind == "proyear" {
            let year = rest.parse().ok().filter(|year| YEARS.contains(year) && rest.len() == 4);
            return year.map(Profile::Professionals).ok_or_else(unknown);
        }
        let (black, white) = rest.split_once('_').unwrap_or((rest, rest));
        let is_known = |rank: &Rank| rank.0 <= LOWEST_OF_PROFILES.0;
        let rank = |text: &str| text.parse().ok().filter(is_known).ok_or_else(unknown);
        let ranks = ByColor::new(rank(black)?, rank(white)?);
        match kind {
            "rank" => Ok(Profile::Modern(ranks)),
            "preaz" => Ok(Profile::BeforeAlphaZero(ranks)),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, ranks) = match self {
            Profile::Modern(ranks) => ("rank", ranks),
            Profile::BeforeAlphaZero(ranks) => ("preaz", ranks),
            Profile::Professionals(year) => return write!(f, "proyear_{year}"),
        };
        let (black, white) = (ranks[Color::Black], ranks[Color::White]);
        if black == white { write!(f, "{kind}_{black}") } else { write!(f, "{kind}_{black}_{white}") }
    }
}

impl Profile {
    /// Returns the profile of amateurs of today with this rank on both sides, or with 20 kyu if the rank is lower.
    pub fn of_rank(rank: Rank) -> Profile {
        let rank = Rank(rank.0.min(LOWEST_OF_PROFILES.0));
        Profile::Modern(ByColor::new(rank, rank))
    }
}

/// Indices of the features. Names without documentation are those of KataGo's fields.
mod index {
    /// Whether the side to move and the opponent are human.
    pub(super) const IS_HUMAN: [usize; 2] = [0, 1];
    /// First indices of the unary encodings of the two ranks: of the side to move, of the opponent.
    pub(super) const RANK: [usize; 2] = [6, 40];
    /// Length of the unary encoding of a rank.
    pub(super) const RANK_LENGTH: usize = 34;
    /// Whether the game is unrated: 1 if it is, 0.5 if unknown.
    pub(super) const UNRATED: usize = 74;
    pub(super) const TIME_UNKNOWN: usize = 75;
    pub(super) const BYO_YOMI: usize = 79;
    pub(super) const MAIN_TIME: usize = 82;
    pub(super) const PERIOD_TIME: usize = 83;
    pub(super) const PERIODS: usize = 84;
    pub(super) const CANADIAN_MOVES: usize = 85;
    pub(super) const AREA: usize = 86;
    /// First index of pairs of cosine and sine of the date.
    pub(super) const DATE: usize = 87;
    pub(super) const DATE_PAIRS: usize = 32;
    pub(super) const KGS: usize = 153;
    pub(super) const GOGOD: usize = 156;
    pub(super) const GO4GO: usize = 157;
}

/// Properties of the games of a profile.
struct ProfileData {
    ranks: ByColor<Rank>,
    /// Main time in seconds, length of a period in seconds and number of periods of Japanese byo-yomi. `None` if
    /// unknown.
    time: Option<[f64; 3]>,
    /// Date in days since 1 January 1970.
    days: i64,
    source: usize,
}

/// Returns the number of days from 1 January 1970 to a date of the Gregorian calendar.
///
/// CITE: Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

impl Profile {
    fn data(self) -> ProfileData {
        let amateurs = |ranks, days| {
            // Twenty minutes, and five periods of 30 seconds.
            ProfileData { ranks, time: Some([1200.0, 30.0, 5.0]), days, source: index::KGS }
        };
        match self {
            Profile::Modern(ranks) => amateurs(ranks, days(2020, 3, 1)),
            Profile::BeforeAlphaZero(ranks) => amateurs(ranks, days(2016, 9, 1)),
            Profile::Professionals(year) => ProfileData {
                ranks: ByColor::new(Rank(1), Rank(1)),
                time: None,
                days: days(year.into(), 6, 1),
                source: if year <= 2020 { index::GOGOD } else { index::GO4GO },
            },
        }
    }

    /// Returns the features of the players, of shape `[METADATA_FEATURES]`, from the perspective of `to_move`. `area`
    /// is the number of points of the board.
    pub fn features(self, to_move: Color, area: usize) -> [f32; METADATA_FEATURES] {
        let data = self.data();
        let mut features = [0.0f32; METADATA_FEATURES];
        for (side, color) in [to_move, to_move.opponent()].into_iter().enumerate() {
            features[index::IS_HUMAN[side]] = 1.0;
            let steps = usize::from(data.ranks[color].0).min(index::RANK_LENGTH);
            features[index::RANK[side]..][..steps].fill(1.0);
        }
        features[index::UNRATED] = 0.5;
        features[if data.time.is_some() { index::BYO_YOMI } else { index::TIME_UNKNOWN }] = 1.0;
        let [main, period, periods] = data.time.unwrap_or_default();
        features[index::MAIN_TIME] = (0.4 * ((main + 60.0).ln() - 6.5)) as f32;
        features[index::PERIOD_TIME] = (0.3 * (period.ln_1p() - 3.0)) as f32;
        features[index::PERIODS] = (0.5 * ((periods + 2.0).ln() - 1.5)) as f32;
        features[index::CANADIAN_MOVES] = (0.25 * (2.0f64.ln() - 1.5)) as f32;
        features[index::AREA] = (0.5 * (area as f64 / 361.0).ln()) as f32;
        for pair in 0..index::DATE_PAIRS {
            // The periods range from a week to 1,500 years.
            let period = 7.0 * 80_000f64.powf(pair as f64 / 31.0);
            let (sin, cos) = (TAU * data.days as f64 / period).sin_cos();
            features[index::DATE + 2 * pair] = cos as f32;
            features[index::DATE + 2 * pair + 1] = sin as f32;
        }
        features[data.source] = 1.0;
        features
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(text: &str) -> Profile {
        text.parse().unwrap()
    }

    #[test]
    fn names_read_back() {
        for text in
            ["rank_5k", "rank_20k", "rank_9d", "preaz_1d", "preaz_1k_3d", "rank_9d_20k", "proyear_1800"]
        {
            assert_eq!(profile(text).to_string(), text);
        }
        assert_eq!(profile("rank_3k_3k").to_string(), "rank_3k");
        for text in [
            "",
            "rank",
            "rank_",
            "rank_5",
            "rank_0k",
            "rank_21k",
            "rank_10d",
            "rank_05k",
            "rank_+5k",
            "rank_5k_",
            "rank_1k_2k_3k",
            "prerank_5k",
            "proyear_1799",
            "proyear_2024",
            "proyear_+199",
            "proyear_",
            "RANK_5k",
        ] {
            assert!(text.parse::<Profile>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn dates() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 3, 1), 11_017);
        assert_eq!(days(2020, 3, 1), 18_322);
        assert_eq!(days(1969, 12, 31), -1);
        assert_eq!(days(1846, 6, 1), -45_139);
    }

    #[test]
    fn features_of_a_profile() {
        let near = |found: f32, expected: f64| {
            assert!((f64::from(found) - expected).abs() < 1e-6, "{found} {expected}")
        };
        // Two dan is 8 ranks below 10 dan, five kyu is 14 ranks below.
        let features = profile("rank_2d_5k").features(Color::White, 81);
        assert_eq!(features[..6], [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        let length = |start: usize| features[start..start + 34].iter().sum::<f32>() as usize;
        assert_eq!((length(6), length(40)), (14, 8), "the side to move comes first");
        assert_eq!((features[19], features[20]), (1.0, 0.0));
        assert_eq!(features[74..82], [0.5, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        near(features[82], 0.4 * (1260f64.ln() - 6.5));
        near(features[83], 0.3 * (31f64.ln() - 3.0));
        near(features[84], 0.5 * (7f64.ln() - 1.5));
        near(features[85], 0.25 * (2f64.ln() - 1.5));
        near(features[86], 0.5 * (81f64 / 361.0).ln());
        near(features[87], (TAU * 18_322.0 / 7.0).cos());
        near(features[88], (TAU * 18_322.0 / 7.0).sin());
        near(features[149], (TAU * 18_322.0 / 560_000.0).cos());
        assert_eq!(features[151..].iter().position(|&it| it == 1.0), Some(2));
        assert_eq!(features[151..].iter().sum::<f32>(), 1.0);
        let older = profile("preaz_2d_5k").features(Color::White, 81);
        assert!((0..METADATA_FEATURES).all(|it| (87..151).contains(&it) || older[it] == features[it]));
        assert_ne!(older, features);
        let pro = profile("proyear_2021").features(Color::Black, 361);
        assert_eq!((pro[6], pro[7], pro[75], pro[79], pro[86]), (1.0, 0.0, 1.0, 0.0, 0.0));
        near(pro[82], 0.4 * (60f64.ln() - 6.5));
        assert_eq!((pro[156], pro[157]), (0.0, 1.0));
        assert_eq!(profile("proyear_2020").features(Color::Black, 361)[156], 1.0);
    }
}
