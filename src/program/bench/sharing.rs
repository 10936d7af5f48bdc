//! `kosumi bench --model FILE --sharing N`: comparison of graph search and tree search.

use super::{MEBIBYTES, SIDES, square};
use crate::options;
use kosumi_engine::EngineEvaluator;
use kosumi_engine::signature::{POSITIONS, position, search_by_count};
use kosumi_eval::{NetworkEvaluator, NetworkSettings};
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rules::Rules;
use kosumi_net::Network;
use kosumi_search::Search;
use std::io::Write;
use std::sync::Arc;

/// Prints the numbers of nodes and evaluations of graph searches and tree searches, with the given number of
/// simulations. The positions are those of the signature. Each search begins with an empty cache.
pub(super) fn run(network: &Arc<Network>, simulations: u32, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "{}, searches of {simulations} simulations", network.name())?;
    writeln!(
        out,
        "size    moves   shares    nodes   bytes per node   transpositions   evaluations   answers from the cache   of bytes"
    )?;
    for side in SIDES {
        let size = square(side)?;
        for &(_, moves, _) in POSITIONS.iter().filter(|&&(of, _, _)| of == side) {
            let game = position(size, Rules::default(), moves);
            for (sharing, name) in [(NodeSharing::Graph, "graph"), (NodeSharing::Tree, "tree")] {
                let evaluator =
                    NetworkEvaluator::new(Arc::clone(network), NetworkSettings::default(), MEBIBYTES);
                let evaluator = EngineEvaluator::Network(Box::new(evaluator));
                let params = evaluator.search_params(size);
                let mut search = Search::new(evaluator, params, MEBIBYTES, 1);
                let report = search_by_count(&mut search, &game.clone().with_sharing(sharing), simulations);
                let cache = search.evaluator().network().map(NetworkEvaluator::cache);
                let (hits, misses) = cache.map_or((0, 0), |it| it.hits_and_misses());
                let per_answer = cache.map_or(0, |it| it.bytes() as u64 / misses.max(1));
                writeln!(
                    out,
                    "{:>5}   {:>5}   {name:<6}   {:>6}   {:>14.0}   {:>14}   {misses:>11}   {hits:>22}   {per_answer:>8}",
                    options::size_text(size),
                    game.records().len(),
                    report.usage.nodes,
                    report.usage.bytes as f64 / report.usage.nodes.max(1) as f64,
                    report.transpositions,
                )?;
                out.flush()?;
            }
        }
    }
    Ok(())
}
