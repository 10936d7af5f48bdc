//! Cost of reading small regions for the final status, and the savings by a cache of the results.

use super::square;
use anyhow::Context;
use kosumi_engine::{Engine, EngineSettings, SearchRequest};
use kosumi_go::board::Color;
use kosumi_go::rules::Rules;
use kosumi_net::{BuiltIn, Network};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Board sizes with their visits per move.
const GAMES: [(usize, u32); 2] = [(9, 30), (13, 20)];
/// Maximum number of moves of a game.
const MAX_MOVES: usize = 400;

/// Plays games of the small built-in network against itself, and determines the status of all stones after every move.
pub(super) fn run(out: &mut impl Write) -> anyhow::Result<()> {
    let network = Arc::new(Network::built_in(BuiltIn::Small).context("the built-in network")?);
    let heading =
        "size   moves          regions read   cached   nodes read   nodes saved   status, ms a position";
    writeln!(out, "\n{heading}")?;
    for (side, visits) in GAMES {
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 32,
            visits: Some(visits),
            resign: None,
            ..EngineSettings::default()
        };
        let mut engine = Engine::with_network(settings, Some(network.clone()));
        engine.set_size(square(side)?);
        engine.set_rules(Rules::preset("chinese").context("a preset")?.rules);
        let (mut color, mut time) = (Color::Black, Duration::ZERO);
        while !engine.game().is_over() && engine.game().records().len() < MAX_MOVES {
            engine.genmove(color, SearchRequest::new(&|| false));
            let start = Instant::now();
            engine.final_status();
            time += start.elapsed();
            color = color.opponent();
        }
        let (moves, usage) = (engine.game().records().len(), engine.memo_usage());
        writeln!(
            out,
            "{side:>4}   {moves:>5}   {:>19}   {:>3.0} %   {:>10}   {:>11}   {:>21.2}",
            usage.lookups,
            100.0 * usage.hits as f64 / usage.lookups.max(1) as f64,
            usage.nodes,
            usage.nodes_saved,
            1e3 * time.as_secs_f64() / moves.max(1) as f64,
        )?;
        out.flush()?;
    }
    Ok(())
}
