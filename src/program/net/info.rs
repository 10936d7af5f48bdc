//! `kosumi net info`: structure of a network.

use crate::terminal;
use anyhow::Context as _;
use clap::Args;
use kosumi_net::{Block, Cost, Network};
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Show the structure of a network and its cost
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Network: .bin.gz, .txt.gz, .bin, .txt, .kosumi8, or compact
    file: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let path = arguments.file.display();
    let network = Network::open(&arguments.file).with_context(|| path.to_string())?;
    let bytes = fs::metadata(&arguments.file).with_context(|| path.to_string())?.len();
    write!(terminal::stdout(), "{}", report(&network, bytes))?;
    Ok(())
}

/// Number of points of a 19×19 board.
const USUAL_POINTS: usize = 19 * 19;

fn report(network: &Network, bytes: u64) -> String {
    let cost = network.cost();
    let Cost { parameters, multiply_adds, .. } = cost;
    let [policy, pooled, value, vector] = network.head_widths();
    let millions = cost.multiply_adds_on(USUAL_POINTS) as f64 / 1e6;
    let pairs = match cost.pair_multiply_adds {
        0 => String::new(),
        pairs => format!(" and {pairs} a pair of points"),
    };
    let mut text = format!(
        "name           {}\n\
         version        {}\n\
         blocks         {}\n\
         channels       {}; policy head {policy} and {pooled} pooled, value head {value} and {vector}\n\
         activation     {}\n\
         parameters     {parameters}\n\
         multiply-adds  {multiply_adds} a point{pairs}, {millions:.1} million on 19x19\n\
         logits         {} a move\n\
         file           {bytes} bytes\n",
        network.name(),
        network.version(),
        network.blocks().len(),
        network.channels(),
        network.activation().name(),
        network.policy_channels(),
    );
    let mut add = |what: &str, text_of: String| text.push_str(&format!("{what:<15}{text_of}\n"));
    if network.dead_units() > 0 {
        add(
            "dead units",
            format!("{} of feed-forward blocks have no effect and are skipped", network.dead_units()),
        );
    }
    if network.is_int8() {
        add("weights", "8-bit and 16-bit integers; those of the heads are 32-bit floats".to_owned());
    }
    if network.takes_metadata() {
        add("human play", "has a metadata input: --profile rank_5k, for instance".to_owned());
    }
    if network.pass_alive_with_suicide() {
        add("pass-alive", "as if the suicide of several stones were legal".to_owned());
    }
    text.push('\n');
    let mut rows =
        vec![["block", "kind", "channels", "pooled", "parameters", "multiply-adds"].map(str::to_owned)];
    add_rows(network.blocks(), 0, &mut rows);
    text.push_str(&table(&rows));
    text
}

/// Adds a row per block. Inner blocks are indented.
fn add_rows(blocks: &[Block], depth: usize, rows: &mut Vec<[String; 6]>) {
    for block in blocks {
        let cost = Cost::of(|visit| block.visit(visit));
        let (channels, pooled) = block.widths();
        rows.push([
            format!("{:1$}{2}", "", 2 * depth, block.name()),
            block.token().trim_end_matches("_block").replace('_', " "),
            channels.to_string(),
            if pooled == 0 { String::new() } else { pooled.to_string() },
            cost.parameters.to_string(),
            cost.multiply_adds.to_string(),
        ]);
        add_rows(block.inner(), depth + 1, rows);
    }
}

/// Formats rows as a table with text aligned left and numbers aligned right.
fn table(rows: &[[String; 6]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(column, cell)| match column {
            0 | 1 => format!("{cell:0$}", width(column)),
            _ => format!("{cell:>0$}", width(column)),
        });
        text.push_str(&cells.collect::<Vec<_>>().join("  "));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_net::random::{self, BlockKind, Options};

    #[test]
    fn a_report() {
        let blocks = vec![BlockKind::Ordinary, BlockKind::NestedPooling];
        let network =
            random::network(&Options { blocks, channels: 12, seed: 5, ..Options::default() }).unwrap();
        let wanted = "\
name           random-v8-b2c12-s5
version        8
blocks         2
channels       12; policy head 4 and 5 pooled, value head 4 and 8
activation     ReLU
parameters     11483
multiply-adds  10688 a point, 3.9 million on 19x19
logits         1 a move
file           1234 bytes

block                          kind               channels  pooled  parameters  multiply-adds
model.blocks.0                 ordinary                 12                2676           2592
model.blocks.1                 nested bottleneck         6                1498           1332
  model.blocks.1.blockstack.0  gpool                     4       2         604            540
  model.blocks.1.blockstack.1  ordinary                  6                 690            648
";
        assert_eq!(report(&network, 1234), wanted);
    }
}
