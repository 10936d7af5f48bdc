//! `kosumi bench`: signatures, which change with the behaviour of the search, and measurements of speed.

mod interruption;
mod network;
mod sharing;
mod status_readings;

use anyhow::Context;
use clap::Args;
use kosumi_engine::EngineEvaluator;
use kosumi_engine::signature::{self, SEED, search_by_count};
use kosumi_go::board::{Board, BoardSize};
use kosumi_go::game::Game;
use kosumi_go::playout::{self, Policy};
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_net::{BuiltIn, Kernel, Network};
use kosumi_search::node::{Edge, Node, Rave};
use kosumi_search::{Limits, Search, SearchContext, SearchParams};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Measure speed, and print the signatures of the search
#[derive(Debug, Args)]
#[command(after_help = "\
A signature is a hash over the results of searches of fixed positions with a
fixed seed, a fixed number of simulations and one thread: one of searches by
playouts, one of searches with the built-in network, on the portable kernel.
Both are the same on every machine. A change of the program that only affects
speed must not change them.

Speeds are of this machine, from the empty board:
  playouts         random games per second on one thread, and their mean length in moves
  simulations      of the whole search per second, on one thread and on several
  transpositions   edges to nodes that another order of moves created, in percent of all nodes
Last, games of the small built-in network: the number of small regions read to
find dead stones, the share of results cached from earlier positions, and the
savings.

Examples:
  kosumi bench                   signatures and speeds, about 30 s
  kosumi bench --signature       the signatures alone, a few seconds
  kosumi bench --model FILE      evaluations of a network per second, with all kernels that the processor can run, about 20 s
  kosumi bench --model FILE --size 19 --kernel avx2 --batch 1,2,4,8
  kosumi bench --model FILE --sharing 1000
                                 cost of searches of 1000 simulations as a graph and as a tree
  kosumi bench --interruptions 200
                                 delay between a command and the end of analysis or pondering, about 3 min
  kosumi bench --interruptions 200 --board 9 --engine 'kosumi gtp --ponder --time 0.1 --threads 2 --model FILE'")]
pub(super) struct Arguments {
    /// Print only the signatures
    #[arg(long)]
    signature: bool,
    #[command(flatten)]
    network: network::Arguments,
    #[command(flatten)]
    interruption: interruption::Arguments,
    /// Time per measurement, in seconds [default: 2; for networks 0.5]
    #[arg(long, value_name = "SECONDS", value_parser = super::options::seconds)]
    seconds: Option<Duration>,
    /// Number of threads to compare with one thread
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(2..=1024))]
    threads: u16,
}

/// Sizes of the measured boards.
const SIDES: [usize; 3] = [9, 13, 19];

/// Memory of each search, in MiB.
const MEBIBYTES: usize = 256;

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let threads = usize::from(arguments.threads);
    if let Some(count) = arguments.interruption.interruptions {
        return interruption::run(count, &arguments.interruption, &mut out);
    }
    if let Some(path) = &arguments.network.model {
        let time = arguments.seconds.unwrap_or(Duration::from_millis(500));
        return network::run(path, &arguments.network, time, threads, &mut out);
    }
    let time = arguments.seconds.unwrap_or(Duration::from_secs(2));
    writeln!(out, "Bench: {}", signature::by_playouts())?;
    let network = Arc::new(Network::built_in(BuiltIn::Small).context("the built-in network")?);
    let by_network = signature::by_network(network, Kernel::Portable);
    writeln!(out, "Bench with the small built-in network: {by_network}")?;
    if arguments.signature {
        return Ok(());
    }
    out.flush()?;
    writeln!(out, "\nsize   uniform playouts/s  moves   heuristic playouts/s  moves")?;
    for side in SIDES {
        let uniform = playouts(side, Policy::Uniform, time)?;
        let heuristic = playouts(side, Policy::Heuristic, time)?;
        writeln!(
            out,
            "{side:>4}   {:>18.0}  {:>5.1}   {:>20.0}  {:>5.1}",
            uniform.per_second, uniform.mean_length, heuristic.per_second, heuristic.mean_length
        )?;
        out.flush()?;
    }
    writeln!(
        out,
        "\nsize   simulations/s, 1 thread   {threads} threads   ratio   nodes   transpositions   edges per node   bytes per node"
    )?;
    for side in SIDES {
        let one = simulations(side, 1, time)?;
        let several = simulations(side, threads, time)?;
        let edges = one.edges as f64 / one.nodes.max(1) as f64;
        writeln!(
            out,
            "{side:>4}   {:>23.0}   {:>9.0}   {:>5.2}   {:>5}   {:>12.1} %   {edges:>14.1}   {:>14.0}",
            one.per_second,
            several.per_second,
            several.per_second / one.per_second,
            one.nodes,
            100.0 * f64::from(one.transpositions) / one.nodes.max(1) as f64,
            one.bytes as f64 / one.nodes.max(1) as f64,
        )?;
        out.flush()?;
    }
    let (edge, rave) = (size_of::<Edge>(), size_of::<Rave>());
    writeln!(
        out,
        "a node takes {} bytes, an edge {edge}, and {rave} for RAVE by playouts",
        size_of::<Node>()
    )?;
    status_readings::run(&mut out)
}

fn square(side: usize) -> anyhow::Result<BoardSize> {
    BoardSize::square(side).context("not a size")
}

fn search(size: BoardSize, threads: usize) -> Search<EngineEvaluator> {
    let playouts = EngineEvaluator::Playouts(Box::default());
    Search::new(playouts, SearchParams::for_playouts(size), MEBIBYTES, threads)
}

struct PlayoutSpeed {
    per_second: f64,
    mean_length: f64,
}

fn playouts(side: usize, policy: Policy, time: Duration) -> anyhow::Result<PlayoutSpeed> {
    let empty = Board::new(square(side)?);
    let mut rng = Rng::new(SEED);
    let (mut count, mut moves) = (0u64, 0u64);
    let start = Instant::now();
    while start.elapsed() < time {
        moves += playout::run_many(policy, &empty, 50, &mut rng);
        count += 50;
    }
    let per_second = count as f64 / start.elapsed().as_secs_f64();
    Ok(PlayoutSpeed { per_second, mean_length: moves as f64 / count as f64 })
}

struct SearchSpeed {
    per_second: f64,
    nodes: usize,
    edges: usize,
    bytes: usize,
    /// Number of edges that lead to a node created through another path.
    transpositions: u32,
}

fn simulations(side: usize, threads: usize, time: Duration) -> anyhow::Result<SearchSpeed> {
    let size = square(side)?;
    let mut search = search(size, threads);
    let game = Game::new(size, Rules::default(), 7.5);
    // The first search touches all of the memory, so that page faults are not measured.
    search_by_count(&mut search, &game, 100);
    search.clear();
    let limits = Limits::time(time);
    let start = Instant::now();
    let elapsed = || start.elapsed();
    let context = SearchContext::new(&limits, &elapsed, &|| false);
    let report = search.run(&game, SEED, &context);
    let per_second = f64::from(report.playouts) / start.elapsed().as_secs_f64();
    Ok(SearchSpeed {
        per_second,
        nodes: report.usage.nodes,
        edges: report.usage.edges,
        bytes: report.usage.bytes,
        transpositions: report.transpositions,
    })
}
