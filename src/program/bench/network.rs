//! `kosumi bench --model`: speed of a network.

use super::{SIDES, sharing, square};
use crate::options::{self, PrecisionChoice};
use anyhow::Context;
use kosumi_engine::signature::inputs;
use kosumi_go::board::BoardSize;
use kosumi_net::{Input, Kernel, Network, Prepared, Scratch, scalar};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Default batch sizes.
const BATCHES: [u16; 2] = [1, 8];

/// Options of the measurement of networks
#[derive(Debug, Default, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Measure this network, and nothing else
    #[arg(long, value_name = "FILE", conflicts_with = "signature")]
    pub(super) model: Option<PathBuf>,
    /// Board size, N or WIDTHxHEIGHT [default: 9, 13 and 19]
    #[arg(long, value_name = "SIZE", value_parser = options::board_size, requires = "model")]
    size: Option<BoardSize>,
    /// Kernel to measure [default: all that the processor can run]
    #[arg(long, value_name = "NAME", value_parser = options::kernel, requires = "model")]
    kernel: Option<Kernel>,
    /// Precision to measure [default: all that the kernels support]
    #[arg(long, value_name = "NAME", value_parser = options::precision, requires = "model")]
    precision: Option<PrecisionChoice>,
    /// Batch sizes: numbers of positions per evaluation [default: 1,8]
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=1024), requires = "model")]
    batch: Vec<u16>,
    /// Compare graph and tree instead, in searches of this many playouts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), requires = "model", conflicts_with_all = ["size", "kernel", "precision", "batch"])]
    sharing: Option<u32>,
}

/// Prints evaluations per second, with one thread and with several, for each batch size. The positions are those of one
/// game.
pub(super) fn run(
    path: &Path,
    arguments: &Arguments,
    time: Duration,
    threads: usize,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let network = Network::open(path).with_context(|| path.display().to_string())?;
    if let Some(simulations) = arguments.sharing {
        return sharing::run(&Arc::new(network), simulations, out);
    }
    writeln!(out, "{}, evaluations/s", network.name())?;
    writeln!(out, "size    kernel            batch   1 thread   {threads} threads   ratio")?;
    let prepared: Vec<Prepared> = options::available_arithmetics(arguments.kernel, arguments.precision)?
        .into_iter()
        .map(|arithmetic| Prepared::new(&network, arithmetic))
        .collect();
    let batches = if arguments.batch.is_empty() { &BATCHES } else { &arguments.batch[..] };
    let sizes = match arguments.size {
        Some(size) => vec![size],
        None => SIDES.into_iter().map(square).collect::<anyhow::Result<_>>()?,
    };
    for size in sizes {
        let inputs = inputs(size);
        let size = options::size_text(size);
        if arguments.kernel.is_none() && arguments.precision.is_none() {
            let plain = measure(1, time, &inputs, 1, || {
                |inputs: &[&Input]| {
                    for input in inputs {
                        scalar::evaluate(&network, input)?;
                    }
                    Ok(())
                }
            })?;
            writeln!(out, "{size:>5}   {:<15}   {:>5}   {plain:>8.1}", "plain", 1)?;
        }
        for prepared in &prepared {
            for &batch in batches {
                let evaluator = || {
                    let mut scratch = Scratch::default();
                    move |inputs: &[&Input]| Ok(prepared.evaluate(inputs, &mut scratch).map(|_| ())?)
                };
                let one = measure(1, time, &inputs, batch.into(), evaluator)?;
                let several = measure(threads, time, &inputs, batch.into(), evaluator)?;
                let (name, ratio) = (prepared.arithmetic().name(), several / one);
                writeln!(
                    out,
                    "{size:>5}   {name:<15}   {batch:>5}   {one:>8.1}   {several:>9.1}   {ratio:>5.2}"
                )?;
                out.flush()?;
            }
        }
    }
    Ok(())
}

/// Measures the evaluations per second of all threads together. `evaluator` creates the evaluation function of a
/// thread.
fn measure<F: FnMut(&[&Input]) -> anyhow::Result<()>>(
    threads: usize,
    time: Duration,
    inputs: &[Input],
    batch: usize,
    evaluator: impl Fn() -> F + Sync,
) -> anyhow::Result<f64> {
    let run = || -> anyhow::Result<f64> {
        let mut evaluate = evaluator();
        let mut turn = inputs.iter().cycle();
        let mut next = || turn.by_ref().take(batch).collect::<Vec<_>>();
        // The first evaluation includes preparations, so it is not timed.
        evaluate(&next())?;
        let start = Instant::now();
        let mut count = 0;
        while start.elapsed() < time {
            evaluate(&next())?;
            count += batch;
        }
        Ok(count as f64 / start.elapsed().as_secs_f64())
    };
    let speeds: Vec<anyhow::Result<f64>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("an evaluating thread does not panic"))
            .collect()
    });
    speeds.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_net::random::{self, Options};
    use kosumi_net::{Arithmetic, Encoding};

    #[test]
    fn a_table_with_every_kernel() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("network.bin");
        let network = random::network(&Options { channels: 2, ..Options::default() }).unwrap();
        network.write(Encoding::Binary, std::fs::File::create(&path).unwrap()).unwrap();
        let printed = |arguments: &Arguments| {
            let mut table = Vec::new();
            run(&path, arguments, Duration::from_millis(1), 2, &mut table).unwrap();
            String::from_utf8(table).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let kernels = Arithmetic::available().len();
        assert_eq!(printed(&Arguments::default()).len(), 2 + SIDES.len() * (1 + kernels * BATCHES.len()));
        let size = BoardSize::new(9, 4);
        let arguments =
            Arguments { size, kernel: Some(Kernel::Portable), batch: vec![2, 3, 5], ..Arguments::default() };
        let lines = printed(&arguments);
        assert_eq!(lines.len(), 2 + 2 * 3);
        assert!(lines[2..].iter().all(|line| line.contains("9x4   portable")), "{lines:?}");

        let lines = printed(&Arguments { sharing: Some(30), ..Arguments::default() });
        assert_eq!(lines.len(), 2 + 2 * kosumi_engine::signature::POSITIONS.len());
        for line in &lines[2..] {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let number = |column: usize| columns[column].parse::<u32>().unwrap();
            let (nodes, met_again, evaluations) = (number(3), number(5), number(6));
            assert!(columns[2] == "graph" || met_again == 0, "{line}");
            assert!(evaluations > 0 && evaluations <= nodes, "{line}");
        }
    }
}
