//! `kosumi bench --interruptions`: response times of an engine that analyses or ponders.

use crate::options;
use anyhow::{Context, bail};
use kosumi_go::board::BoardSize;
use kosumi_go::rng::Rng;
use kosumi_gtp::{Client, ClientError};
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

/// Options of the measurement of interruptions
#[derive(Debug, Default, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Interrupt an engine's analysis and pondering this many times each, and measure nothing else
    #[arg(long, value_name = "N", conflicts_with_all = ["signature", "model"])]
    pub(super) interruptions: Option<usize>,
    /// Engine to interrupt [default: this program, as gtp --ponder --time 0.1]
    #[arg(long, value_name = "COMMAND", requires = "interruptions")]
    engine: Option<String>,
    /// Board size, N or WIDTHxHEIGHT [default: 19]
    #[arg(long, value_name = "SIZE", value_parser = options::board_size, requires = "interruptions")]
    board: Option<BoardSize>,
}

/// Time limit of every command, far above the time that any of them takes.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Number of moves after which a new game begins.
const MOVES: usize = 60;
const SEED: u64 = 1;

/// Sends commands at random moments to an engine that analyses a position or ponders after its move, and prints the
/// response times.
pub(super) fn run(count: usize, arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let command = match &arguments.engine {
        Some(command) => command.clone(),
        None => {
            let program = std::env::current_exe().context("this program's path")?;
            // The client splits the command line again, so the path must be quoted.
            format!("'{}' gtp --ponder --time 0.1", program.display())
        }
    };
    let size = match arguments.board {
        Some(size) => size,
        None => super::square(19)?,
    };
    let mut engine = Client::spawn(&command).with_context(|| command.clone())?;
    engine.send(&format!("boardsize {}", sides(size)), TIMEOUT)?;
    writeln!(out, "milliseconds until   count   median   90 %   99 %   maximum")?;
    let analysed = gather(&mut engine, count, interrupted_analysis)?;
    for (index, what) in ["analysis ends", "next is answered"].into_iter().enumerate() {
        match analysed.iter().map(|times| times.get(index).copied()).collect::<Option<Vec<Duration>>>() {
            Some(times) if !times.is_empty() => print(what, times, out)?,
            _ => writeln!(out, "{what:<18}   the engine does not support analysis")?,
        }
    }
    let pondered = gather(&mut engine, count, interrupted_pondering)?;
    print("pondering ends", pondered.into_iter().flatten().collect(), out)?;
    engine.quit(TIMEOUT)?;
    Ok(())
}

/// Calls `measure` after every move of games that the engine plays against itself, until it has collected `count`
/// results.
fn gather(
    engine: &mut Client,
    count: usize,
    measure: fn(&mut Client, &str, &mut Rng) -> Result<Vec<Duration>, ClientError>,
) -> anyhow::Result<Vec<Vec<Duration>>> {
    let mut rng = Rng::new(SEED);
    let mut times = Vec::with_capacity(count.min(1 << 16));
    let mut moves = MOVES;
    while times.len() < count {
        if moves >= MOVES {
            engine.send("clear_board", TIMEOUT)?;
            moves = 0;
        }
        let [mover, next] = if moves.is_multiple_of(2) { ["b", "w"] } else { ["w", "b"] };
        let answer = engine.send(&format!("genmove {mover}"), TIMEOUT)?;
        // After a pass or a resignation the engine may have nothing to search.
        moves = if ["pass", "resign"].contains(&answer.trim()) { MOVES } else { moves + 1 };
        if moves < MOVES {
            times.push(measure(engine, next, &mut rng)?);
        }
        if times.is_empty() && moves == MOVES {
            bail!("the engine answered its first genmove with {answer}");
        }
    }
    Ok(times)
}

/// Returns the time until the response to the analysis ends, and the time until the response to the command that
/// interrupted the analysis. Returns an empty vector if the engine does not support the analysis command.
fn interrupted_analysis(
    engine: &mut Client,
    color: &str,
    rng: &mut Rng,
) -> Result<Vec<Duration>, ClientError> {
    engine.post(&format!("lz-analyze {color} 10"))?;
    wait_a_little(rng);
    let start = Instant::now();
    engine.post("name")?;
    let analysis = engine.receive(TIMEOUT);
    let ended = start.elapsed();
    engine.receive(TIMEOUT)?;
    let answered = start.elapsed();
    match analysis {
        Ok(_) => Ok(vec![ended, answered]),
        Err(ClientError::Refused(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Returns the time until the response to a command that interrupts pondering.
fn interrupted_pondering(engine: &mut Client, _: &str, rng: &mut Rng) -> Result<Vec<Duration>, ClientError> {
    wait_a_little(rng);
    let start = Instant::now();
    engine.send("name", TIMEOUT)?;
    Ok(vec![start.elapsed()])
}

/// Sleeps for 50 to 450 ms, so that interruptions hit all stages of reports and of pondering slices.
fn wait_a_little(rng: &mut Rng) {
    thread::sleep(Duration::from_micros(50_000 + u64::from(rng.below(400_000))));
}

fn sides(size: BoardSize) -> String {
    if size.columns() == size.rows() {
        size.columns().to_string()
    } else {
        format!("{} {}", size.columns(), size.rows())
    }
}

fn print(what: &str, mut times: Vec<Duration>, out: &mut dyn Write) -> anyhow::Result<()> {
    times.sort_unstable();
    let Some(&longest) = times.last() else { return Ok(()) };
    let at = |share: usize| milliseconds(times[(times.len() - 1) * share / 100]);
    writeln!(
        out,
        "{what:<18}   {:>5}   {:>6.1}   {:>4.1}   {:>4.1}   {:>7.1}",
        times.len(),
        at(50),
        at(90),
        at(99),
        milliseconds(longest)
    )?;
    out.flush()?;
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
