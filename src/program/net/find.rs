//! `kosumi net find`: search for networks of other programs on this machine.

use crate::terminal;
use anyhow::Context as _;
use clap::Args;
use kosumi_net::{Forward, Input, Network, SPATIAL_FEATURES};
use kosumi_tools::networks::{self, FoundNetwork, Platform, SearchRoots};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// List the KataGo networks of other programs on this machine
#[derive(Debug, Args)]
#[command(after_help = "\
Searches the folders and settings of KataGo, KaTrain, Lizzie, LizzieYzy,
LizGoban, Sabaki, Ogatak and others, and the usual download folders. Nothing is
changed, and no network is used automatically: kosumi gtp --model FILE plays
with one.

Evaluations a second are those of an empty 19x19 board on one thread.")]
pub(super) struct Arguments {
    /// Further folders to search
    #[arg(value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Do not measure the speed of the networks
    #[arg(long)]
    no_speed: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let home = std::env::home_dir().context("no home folder is known")?;
    let root = if cfg!(windows) { "C:\\" } else { "/" };
    let folders = arguments.folders.clone();
    let found = networks::find(&SearchRoots { platform: Platform::here(), home, root: root.into(), folders });
    let mut out = terminal::stdout();
    if found.is_empty() {
        writeln!(out, "No networks were found. Search further folders with: kosumi net find FOLDER")?;
        return Ok(());
    }
    let rows: Vec<[String; 5]> = found.iter().map(|it| row(it, !arguments.no_speed)).collect();
    write!(out, "{}", table(&rows))?;
    if let Some(usable) = found.iter().find(|it| it.header.as_ref().is_ok_and(|header| header.is_supported()))
    {
        writeln!(out, "\nTo play with one:  kosumi gtp --model {}", quoted(&usable.path))?;
    }
    Ok(())
}

fn row(found: &FoundNetwork, measure: bool) -> [String; 5] {
    let (version, speed) = match &found.header {
        Ok(header) if !header.is_supported() => (header.version.to_string(), "too new or too old".to_owned()),
        Ok(header) if measure => (header.version.to_string(), speed_text(&found.path)),
        Ok(header) => (header.version.to_string(), String::new()),
        Err(error) => (String::new(), error.to_string()),
    };
    let megabytes = format!("{:.1}", found.bytes as f64 / 1e6);
    [version, megabytes, speed, found.program.to_owned(), found.path.display().to_string()]
}

fn speed_text(path: &Path) -> String {
    match speed(path) {
        Ok(speed) => format!("{speed:.1}"),
        Err(error) => error.to_string(),
    }
}

/// Minimum time of a measurement, not counting the first evaluation.
const MEASURING_TIME: Duration = Duration::from_millis(500);

/// Measures evaluations per second.
fn speed(path: &Path) -> anyhow::Result<f64> {
    let network = Network::open(path)?;
    let mut input = Input::zero(19, 19);
    input.spatial.iter_mut().step_by(SPATIAL_FEATURES).for_each(|on_board| *on_board = 1.0);
    let mut forward = Forward::new(&network);
    // The first evaluation includes preparations for the board size, so it is not timed.
    forward.evaluate(&input)?;
    let start = Instant::now();
    let mut count = 0;
    while count == 0 || start.elapsed() < MEASURING_TIME {
        forward.evaluate(&input)?;
        count += 1;
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

fn table(rows: &[[String; 5]]) -> String {
    let head = ["version", "MB", "evaluations/s", "found by", "file"].map(str::to_owned);
    let rows: Vec<&[String; 5]> = [&head].into_iter().chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut text = String::new();
    for [version, megabytes, speed, program, path] in rows {
        let [of_version, of_size, of_speed, of_program, _] = widths;
        text.push_str(&format!(
            "{version:>of_version$}  {megabytes:>of_size$}  {speed:>of_speed$}  {program:<of_program$}  {path}\n"
        ));
    }
    text
}

/// Quotes a path for a command line if necessary.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/\\:._-+~".contains(letter);
    if text.chars().all(is_plain) { text } else { format!("\"{text}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_net::{Encoding, Header, random};
    use std::fs::File;

    #[test]
    fn a_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a net.bin.gz");
        let network = random::network(&random::Options::default()).unwrap();
        network.write(Encoding::Binary, File::create(&path).unwrap()).unwrap();
        let header = Header::open(&path);
        let found = FoundNetwork { path: path.clone(), program: "KaTrain", bytes: 2_345_678, header };
        let [version, megabytes, speed, program, file] = row(&found, true);
        assert_eq!([&*version, &*megabytes, &*program], ["8", "2.3", "KaTrain"]);
        assert!(speed.parse::<f64>().unwrap() > 0.0);
        let text = table(&[["8", "2.3", "100.0", "KaTrain", "x"].map(str::to_owned)]);
        assert_eq!(
            text,
            "version   MB  evaluations/s  found by  file\n      8  2.3          100.0  KaTrain   x\n"
        );
        assert_eq!(file, path.display().to_string());
        assert_eq!(quoted(&path), format!("\"{}\"", path.display()));
        assert_eq!(quoted(Path::new("/a/b-c_1.bin.gz")), "/a/b-c_1.bin.gz");
    }

    #[test]
    fn unsupported_networks_are_listed_with_the_reason() {
        let header = Ok(Header { name: "kata".to_owned(), version: 99 });
        let found = FoundNetwork { path: "x".into(), program: "KataGo", bytes: 0, header };
        assert_eq!(row(&found, true)[2], "too new or too old");
    }
}
