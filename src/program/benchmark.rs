//! `kosumi benchmark`: speed of a network on the processor and on graphics cards, as a report that users can send.

use super::device::{self, Card, CardFacts, DeviceChoice};
use super::model::ModelArguments;
use super::net::check::positions;
use super::options;
use super::terminal;
use anyhow::{Context as _, ensure};
use clap::Args;
use kosumi_engine::EngineEvaluator;
use kosumi_eval::{NetworkEvaluator, NetworkSettings};
use kosumi_go::board::BoardSize;
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_net::device::ProcessorShare;
use kosumi_net::{Forward, Input, Network, Precision, Scratch};
use kosumi_search::{Limits, Search, SearchContext};
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Measure how fast a network is on the processor and on graphics cards, and write a report
#[derive(Debug, Args)]
#[command(after_help = "\
The report names the version, the system, the processor's instruction set and the graphics cards with
their drivers. It contains no names of computers, users or files. Evaluations are those of batches, with two
batches on a card at a time; visits are those of a search from the empty board, whose evaluations
come one by one from every thread. The agreement is the largest difference from the processor in 32 bits, in
probabilities and owners.

Examples:
  kosumi benchmark
  kosumi benchmark --json > report.json
  kosumi benchmark --model b18c384.bin.gz --device gpu --batch 1,16,256 --threads 1,16,64")]
pub(super) struct Arguments {
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Board size, N or WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE", default_value = "19", value_parser = options::board_size)]
    size: BoardSize,
    /// Numbers of positions per batch
    #[arg(long, value_name = "N,N", default_value = "1,8,32,64", value_delimiter = ',',
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    batch: Vec<u16>,
    /// Numbers of search threads [default: 1 and what the device is given]
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Vec<u16>,
    /// Visits of each search
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    visits: u32,
    /// Time per batch size, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = options::seconds)]
    seconds: Duration,
    #[command(flatten)]
    model: ModelArguments,
}

/// Report of a benchmark.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    program: String,
    system: String,
    processors: usize,
    network: String,
    board: String,
    cards: Vec<CardFacts>,
    devices: Vec<DeviceReport>,
}

/// Measurements of a device.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DeviceReport {
    device: String,
    precision: String,
    /// Time from the start until the first evaluation, in seconds.
    start_seconds: f64,
    agreement: Option<Agreement>,
    batches: Vec<BatchSpeed>,
    searches: Vec<SearchSpeed>,
}

/// Largest differences from the processor's results in 32 bits.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Agreement {
    probability: f32,
    owner: f32,
    lead: f32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct BatchSpeed {
    positions: usize,
    evaluations_per_second: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SearchSpeed {
    threads: usize,
    visits_per_second: f64,
}

/// Memory of each search, in MiB.
const MEBIBYTES: usize = 256;
const SEED: u64 = 1;

/// Number of threads that send batches, so that the next batch is ready when one is finished.
const SENDERS: usize = 2;

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let report = measure(arguments)?;
    let mut out = terminal::stdout();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
        return Ok(());
    }
    print(&report, &mut out)
}

fn measure(arguments: &Arguments) -> anyhow::Result<Report> {
    let choice = arguments.model.device();
    // The cards are measured one by one below.
    let network = arguments.model.on_processor().load()?.context("no network: leave out --no-model")?;
    let settings = arguments.model.settings_or(NetworkSettings::default());
    let mut devices = Vec::new();
    if !matches!(choice, DeviceChoice::Gpu(_)) {
        devices.push(processor(arguments, &network, settings)?);
    }
    let cards = Card::all();
    let wanted: Vec<Option<usize>> = match choice {
        DeviceChoice::Auto => {
            cards.iter().filter(|card| card.kind != "software").map(|card| Some(card.number)).collect()
        }
        _ => choice.cards(),
    };
    for number in wanted {
        devices.push(card(arguments, &network, settings, number)?);
    }
    Ok(Report {
        program: format!("Kosumi {}", env!("CARGO_PKG_VERSION")),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        processors: thread::available_parallelism().map_or(1, usize::from),
        network: network.name().to_owned(),
        board: options::size_text(arguments.size),
        cards,
        devices,
    })
}

fn inputs(size: BoardSize) -> anyhow::Result<Vec<Input>> {
    Ok(positions(size)?.into_iter().map(|position| position.input).collect())
}

fn processor(
    arguments: &Arguments,
    network: &Arc<Network>,
    settings: NetworkSettings,
) -> anyhow::Result<DeviceReport> {
    let inputs = inputs(arguments.size)?;
    let start = Instant::now();
    let mut forward = Forward::shared(network, settings.arithmetic);
    forward.evaluate(&inputs[0])?;
    let start_seconds = start.elapsed().as_secs_f64();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let prepared = forward.prepared();
    let mut batches = Vec::new();
    for &positions in &arguments.batch {
        let speed = evaluations(&inputs, positions.into(), arguments.seconds, threads, &|batch| {
            Ok(prepared.evaluate(batch, &mut Scratch::default()).map(|_| ())?)
        })?;
        batches.push(BatchSpeed { positions: positions.into(), evaluations_per_second: speed });
    }
    Ok(DeviceReport {
        device: "processor".to_owned(),
        precision: prepared.arithmetic().name(),
        start_seconds,
        agreement: None,
        batches,
        searches: searches(arguments, network, settings, threads)?,
    })
}

fn card(
    arguments: &Arguments,
    network: &Arc<Network>,
    settings: NetworkSettings,
    number: Option<usize>,
) -> anyhow::Result<DeviceReport> {
    let inputs = inputs(arguments.size)?;
    let half = settings.arithmetic.precision != Some(Precision::F32);
    let largest = arguments.batch.iter().copied().max().unwrap_or(1);
    let start = Instant::now();
    let card = Card::open(number, network, half, largest.into())?;
    card.evaluate(&[&inputs[0]])?;
    let start_seconds = start.elapsed().as_secs_f64();
    let found = device::agreement(&card, network)?;
    let mut batches = Vec::new();
    for &positions in &arguments.batch {
        let speed = evaluations(&inputs, positions.into(), arguments.seconds, SENDERS, &|batch| {
            card.evaluate(batch).map(|_| ())
        })?;
        batches.push(BatchSpeed { positions: positions.into(), evaluations_per_second: speed });
    }
    let (device, precision) = (card.description().to_owned(), if card.is_half() { "f16" } else { "f32" });
    // The searches use a separate copy of the network, because a device is attached to a network.
    let of_search = Arc::new(Network::clone(network));
    let device_of_search = card.into_device();
    let threads = device_of_search.threads();
    kosumi_net::device::attach(&of_search, Arc::clone(&device_of_search), 0, ProcessorShare::default());
    let searches = searches(arguments, &of_search, settings, threads)?;
    ensure!(device_of_search.is_working(), "the card failed during the search");
    Ok(DeviceReport {
        device,
        precision: precision.to_owned(),
        start_seconds,
        agreement: Some(Agreement { probability: found.probability, owner: found.owner, lead: found.lead }),
        batches,
        searches,
    })
}

/// Returns the evaluations per second of `threads` threads that evaluate batches of the inputs in turn.
fn evaluations(
    inputs: &[Input],
    positions: usize,
    time: Duration,
    threads: usize,
    evaluate: &(dyn Fn(&[&Input]) -> anyhow::Result<()> + Sync),
) -> anyhow::Result<f64> {
    let batch: Vec<&Input> = inputs.iter().cycle().take(positions).collect();
    // The first batch includes preparations, so it is not timed.
    evaluate(&batch)?;
    let start = Instant::now();
    let run = || -> anyhow::Result<usize> {
        let mut count = 0;
        // Evaluates at least one batch, however long it takes.
        loop {
            evaluate(&batch)?;
            count += positions;
            if start.elapsed() >= time {
                return Ok(count);
            }
        }
    };
    let counts: Vec<anyhow::Result<usize>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("an evaluating thread does not panic"))
            .collect()
    });
    let count: usize = counts.into_iter().sum::<anyhow::Result<usize>>()?;
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

/// Measures searches from the empty board. `usual` is the number of threads that the device gets by default.
fn searches(
    arguments: &Arguments,
    network: &Arc<Network>,
    settings: NetworkSettings,
    usual: usize,
) -> anyhow::Result<Vec<SearchSpeed>> {
    let mut all: Vec<usize> = arguments.threads.iter().map(|&threads| threads.into()).collect();
    if all.is_empty() {
        all = vec![1, usual];
        all.dedup();
    }
    let one = |threads: usize| {
        let evaluator = NetworkEvaluator::new(Arc::clone(network), settings, MEBIBYTES);
        let evaluator = EngineEvaluator::Network(Box::new(evaluator));
        let params = evaluator.search_params(arguments.size);
        let params = evaluator.for_workers(params, arguments.size, threads, Some(arguments.visits));
        let mut search = Search::new(evaluator, params, MEBIBYTES, threads);
        let rules = Rules::default();
        let game = Game::new(arguments.size, rules, rules.usual_komi());
        let limits = Limits::playouts(arguments.visits);
        let start = Instant::now();
        let elapsed = || start.elapsed();
        let report = search.run(&game, SEED, &SearchContext::new(&limits, &elapsed, &|| false));
        let visits_per_second = f64::from(report.playouts) / start.elapsed().as_secs_f64();
        SearchSpeed { threads, visits_per_second }
    };
    Ok(all.into_iter().map(one).collect())
}

fn print(report: &Report, out: &mut dyn Write) -> anyhow::Result<()> {
    let Report { program, system, processors, network, board, .. } = report;
    writeln!(out, "{program}, {system}, {processors} processors")?;
    writeln!(out, "{network} on {board}")?;
    for card in &report.cards {
        writeln!(
            out,
            "gpu:{} {}, {}, {} {}",
            card.number, card.name, card.kind, card.interface, card.driver
        )?;
    }
    for device in &report.devices {
        writeln!(out, "\n{}, {}, started in {:.2} s", device.device, device.precision, device.start_seconds)?;
        if let Some(Agreement { probability, owner, lead }) = device.agreement {
            writeln!(
                out,
                "differences from 32 bits: probability {probability:.1e}, owner {owner:.1e}, lead {lead:.1e}"
            )?;
        }
        writeln!(out, "batch   evaluations/s")?;
        for BatchSpeed { positions, evaluations_per_second } in &device.batches {
            writeln!(out, "{positions:>5}   {evaluations_per_second:>13.1}")?;
        }
        writeln!(out, "threads   visits/s")?;
        for SearchSpeed { threads, visits_per_second } in &device.searches {
            writeln!(out, "{threads:>7}   {visits_per_second:>8.1}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use kosumi_net::random::{self, Options};
    use kosumi_net::{Encoding, Kernel};

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn a_report_has_all_measurements_and_no_paths() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("secret-name.bin");
        let network = random::network(&Options { channels: 4, ..Options::default() }).unwrap();
        network.write(Encoding::Binary, std::fs::File::create(&path).unwrap()).unwrap();
        let words = ["benchmark", "--device", "cpu", "--kernel", Kernel::Portable.name(), "--size", "5"];
        let more = ["--batch", "1,3", "--threads", "1,2", "--visits", "20", "--seconds", "0.001", "--model"];
        let path = path.display().to_string();
        let line = Line::try_parse_from(words.into_iter().chain(more).chain([path.as_str()])).unwrap();
        let report = measure(&line.arguments).unwrap();
        assert_eq!(report.devices.len(), 1);
        let device = &report.devices[0];
        let batches: Vec<usize> = device.batches.iter().map(|batch| batch.positions).collect();
        let threads: Vec<usize> = device.searches.iter().map(|search| search.threads).collect();
        assert_eq!((batches, threads), (vec![1, 3], vec![1, 2]));
        assert!(device.batches.iter().all(|batch| batch.evaluations_per_second > 0.0));
        assert!(device.searches.iter().all(|search| search.visits_per_second > 0.0));
        let mut text = Vec::new();
        print(&report, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(network.name()) && text.contains("5x5"), "{text}");
        let json = serde_json::to_string(&report).unwrap();
        for report in [text, json] {
            assert!(!report.contains("secret-name"), "{report}");
        }
    }
}
