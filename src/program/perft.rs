//! `kosumi perft`: exhaustive counts, for comparison with published counts.

use super::options;
use crate::terminal;
use anyhow::bail;
use clap::{Args, ValueEnum};
use kosumi_go::board::BoardSize;
use kosumi_go::game::Game;
use kosumi_go::perft;
use kosumi_go::rules::{KoRule, Rules};
use std::io::Write;

/// Count positions, plays, sequences of moves or whole games
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kosumi perft positions --size 9         legal positions of 9x9: 103919148791293834318983090438798793469
  kosumi perft edges --size 3             positions, and plays from all of them
  kosumi perft sequences --size 3 --depth 6 --ko positional --suicide
  kosumi perft games --size 2             games on 2x2 under positional superko")]
pub(super) struct Arguments {
    /// What to count
    what: What,
    /// Size of the board: 3, or WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE", default_value = "2", value_parser = options::board_size)]
    size: BoardSize,
    /// Rules by name
    #[arg(long, value_name = "NAME", default_value = "cgos", value_parser = options::rules)]
    rules: Rules,
    /// Ko rule instead of the one of the rules: simple, positional, situational or natural-situational
    #[arg(long, value_name = "RULE", value_parser = options::ko_rule)]
    ko: Option<KoRule>,
    /// Allow suicide of two or more stones under all rules
    #[arg(long)]
    suicide: bool,
    /// Maximum number of moves of sequences or games [default: 5 for sequences, no limit for games]
    #[arg(long, value_name = "N")]
    depth: Option<u16>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Legal positions
    Positions,
    /// Plays by either colour from all legal positions, without any ko rule (up to about 13 points)
    Edges,
    /// Sequences of moves, passes included, from the empty board
    Sequences,
    /// Games under positional superko (up to 4 points)
    Games,
}

/// Maximum number of points of boards that are enumerated.
const MAX_EDGES: usize = 16;
const MAX_GAMES: usize = 6;

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut rules = arguments.rules;
    rules.ko = arguments.ko.unwrap_or(rules.ko);
    rules.suicide |= arguments.suicide;
    let (size, area) = (arguments.size, arguments.size.area());
    let mut out = terminal::stdout();
    match arguments.what {
        What::Positions => match perft::positions(size) {
            Some(count) => writeln!(out, "{count}")?,
            None => bail!("the number of positions has more than 128 bits"),
        },
        What::Edges => {
            if area > MAX_EDGES {
                bail!("more than {MAX_EDGES} points would take too long");
            }
            let counts = perft::edges(size, rules.suicide);
            writeln!(out, "positions             {}", counts.positions)?;
            writeln!(out, "plays                 {}", counts.edges)?;
            writeln!(out, "multi-stone suicides  {}", counts.multi_stone_suicides)?;
            writeln!(out, "single-stone suicides {}", counts.single_stone_suicides)?;
        }
        What::Sequences => {
            let game = Game::new(size, rules, 0.0);
            let depth = usize::from(arguments.depth.unwrap_or(5));
            writeln!(out, "moves  sequences  finished")?;
            for (moves, counts) in perft::sequences(&game, depth).iter().enumerate() {
                writeln!(out, "{moves:>5}  {:>9}  {:>8}", counts.sequences, counts.finished)?;
            }
        }
        What::Games => {
            if area > MAX_GAMES || (area > 4 && arguments.depth.is_none()) {
                bail!("more than 4 points need a --depth, and more than {MAX_GAMES} would take too long");
            }
            let most = arguments.depth.map_or(usize::MAX, usize::from);
            let games = perft::games(size, rules.suicide, most);
            writeln!(out, "plays  games")?;
            for (plays, count) in games.by_moves.iter().enumerate() {
                writeln!(out, "{plays:>5}  {count}")?;
            }
            writeln!(out, "total  {}", games.total)?;
        }
    }
    Ok(())
}
