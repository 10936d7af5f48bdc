//! Parsers of command line values.

use kosumi_go::board::{BoardSize, MAX_SIDE};
use kosumi_go::rules::{KoRule, PRESETS, Rules};
use kosumi_net::{Arithmetic, ArithmeticChoice, BuiltIn, Kernel, Precision, RankSetting, UnknownKernel};
use kosumi_tools::commands::GraphicsKind;
use std::time::Duration;

/// Parses a board size: `19` or `9x13`.
pub(super) fn board_size(text: &str) -> Result<BoardSize, String> {
    let (columns, rows) = text.split_once(['x', 'X', '×']).unwrap_or((text, text));
    let side = |word: &str| word.parse::<usize>().ok();
    let size = side(columns).zip(side(rows)).and_then(|(columns, rows)| BoardSize::new(columns, rows));
    size.ok_or_else(|| format!("not a size from 1 to {MAX_SIDE}, or WIDTHxHEIGHT"))
}

/// Formats a size in the form that [`board_size`] parses.
pub(super) fn size_text(size: BoardSize) -> String {
    format!("{}x{}", size.columns(), size.rows())
}

/// Parses the name of a kernel and checks that this processor can run it.
pub(super) fn kernel(name: &str) -> Result<Kernel, String> {
    let kernel: Kernel = name.parse().map_err(|error: UnknownKernel| error.to_string())?;
    if kernel.is_available() { Ok(kernel) } else { Err("this processor cannot run it".to_owned()) }
}

/// Parses the name of a built-in network.
pub(super) fn built_in(name: &str) -> Result<BuiltIn, String> {
    let known = BuiltIn::ALL.into_iter().find(|network| network.name() == name);
    known.ok_or_else(|| BuiltIn::ALL.map(BuiltIn::name).join(" or "))
}

/// Precision of network evaluations, or `None` for `auto`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PrecisionChoice(pub(super) Option<Precision>);

/// Parses the name of a precision.
pub(super) fn precision(name: &str) -> Result<PrecisionChoice, String> {
    let known = Precision::ALL.into_iter().find(|precision| precision.name() == name);
    if known.is_some() || name == "auto" {
        return Ok(PrecisionChoice(known));
    }
    Err(format!("auto, {}", Precision::ALL.map(Precision::name).join(", ")))
}

/// Combines kernel and precision, and checks that this processor supports the combination.
pub(super) fn arithmetic(
    kernel: Option<Kernel>,
    precision: Option<PrecisionChoice>,
) -> anyhow::Result<ArithmeticChoice> {
    let choice = ArithmeticChoice { kernel, precision: precision.and_then(|precision| precision.0) };
    if choice.candidates().is_empty() {
        let kernel = kernel.map_or("this processor", Kernel::name);
        let precision = choice.precision.map_or("any precision", Precision::name);
        anyhow::bail!("{kernel} cannot compute in {precision}");
    }
    Ok(choice)
}

/// Returns all available combinations that match the kernel and the precision, where they are given.
pub(super) fn available_arithmetics(
    kernel: Option<Kernel>,
    precision: Option<PrecisionChoice>,
) -> anyhow::Result<Vec<Arithmetic>> {
    let precision = precision.and_then(|precision| precision.0);
    let mut all = match kernel {
        Some(kernel) => {
            kernel.precisions().iter().map(|&precision| Arithmetic { kernel, precision }).collect()
        }
        None => Arithmetic::available(),
    };
    all.retain(|it| precision.is_none_or(|precision| it.precision == precision));
    anyhow::ensure!(!all.is_empty(), "no available kernel matches");
    Ok(all)
}

/// Parses a seed, or returns a random one for `random`.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    if text == "random" {
        return random_seed().map_err(|error| error.to_string());
    }
    text.parse().map_err(|_| "a whole number, or random".to_owned())
}

/// Returns an unpredictable seed.
///
/// # Errors
///
/// Returns an error if the system provides no random numbers.
pub(super) fn random_seed() -> anyhow::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
    Ok(u64::from_le_bytes(bytes))
}

/// Parses the name of a rule set.
pub(super) fn rules(name: &str) -> Result<Rules, String> {
    let names = || PRESETS.iter().flat_map(|preset| preset.names).copied().collect::<Vec<_>>().join(", ");
    Rules::preset(name).map(|preset| preset.rules).ok_or_else(|| format!("known names: {}", names()))
}

/// Parses the name of a ko rule.
pub(super) fn ko_rule(name: &str) -> Result<KoRule, String> {
    KoRule::parse(name).ok_or_else(|| "simple, positional, situational or natural-situational".to_owned())
}

/// Parses the name of live graphics.
pub(super) fn live_graphics(name: &str) -> Result<GraphicsKind, String> {
    let names = || GraphicsKind::NAMES.map(|(known, _)| known).join(", ");
    GraphicsKind::parse(name).ok_or_else(|| format!("known words: {}", names()))
}

/// Program that the engine reports as its name and version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Compatible {
    /// Kosumi itself.
    Kosumi,
    /// KataGo, whose protocols Kosumi speaks.
    KataGo,
}

impl Compatible {
    /// Version of KataGo whose protocols Kosumi implements.
    const KATAGO: &'static str = "1.17.2";

    /// Returns the version for `query_version`.
    pub(super) fn analysis_version(self) -> &'static str {
        match self {
            Compatible::Kosumi => env!("CARGO_PKG_VERSION"),
            Compatible::KataGo => Compatible::KATAGO,
        }
    }

    /// Returns name and version for GTP.
    pub(super) fn gtp_identity(self) -> (&'static str, &'static str) {
        match self {
            Compatible::Kosumi => ("Kosumi", env!("CARGO_PKG_VERSION")),
            Compatible::KataGo => ("KataGo", Compatible::KATAGO),
        }
    }
}

/// Parses the name of a program to report.
pub(super) fn compatible(name: &str) -> Result<Compatible, String> {
    match name.to_ascii_lowercase().as_str() {
        "kosumi" => Ok(Compatible::Kosumi),
        "katago" => Ok(Compatible::KataGo),
        _ => Err("known names: kosumi, katago".to_owned()),
    }
}

/// Parses a kyu or dan rank, or an adaptive one.
pub(super) fn rank(text: &str) -> Result<RankSetting, String> {
    text.parse().map_err(|()| "ranks are 30k to 1k and 1d to 9d, auto, and auto:8k to begin at 8k".to_owned())
}

/// Parses a positive time, in seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| "not a number of seconds above zero".to_owned())
}

/// Parses a time of zero or more, in seconds.
pub(super) fn seconds_or_none(text: &str) -> Result<Duration, String> {
    let time = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "not a number of seconds".to_owned())
}

/// Parses a number in `[0, 50]`, in percent.
pub(super) fn percent_up_to_half(text: &str) -> Result<f32, String> {
    let percent = text.parse::<f32>().ok().filter(|percent| (0.0..=50.0).contains(percent));
    percent.ok_or_else(|| "not a number from 0 to 50".to_owned())
}

/// Parses a number in `[0, 1]`.
pub(super) fn share(text: &str) -> Result<f32, String> {
    let share = text.parse::<f32>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "not a number from 0 to 1".to_owned())
}

/// Parses a finite number of points.
pub(super) fn points(text: &str) -> Result<f32, String> {
    text.parse::<f32>().ok().filter(|points| points.is_finite()).ok_or_else(|| "not a number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(board_size("9"), Ok(BoardSize::square(9).unwrap()));
        assert_eq!(board_size("7x13").map(size_text), Ok("7x13".to_owned()));
        for text in ["0", "26", "x", "9x", "9x9x9", "-9", ""] {
            assert!(board_size(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_error_names_all_rules() {
        let error = rules("mahjong").unwrap_err();
        for name in PRESETS.iter().flat_map(|preset| preset.names) {
            assert!(error.contains(name) && rules(name).is_ok(), "{name} in {error}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "nan", "inf", "1e300", "s"] {
            assert!(seconds(text).is_err(), "{text:?}");
        }
    }
}
