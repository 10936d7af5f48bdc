//! `kosumi solve board`.

use super::Limits;
use crate::terminal;
use crate::{interrupt, options};
use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;
use kosumi_go::board::{Board, BoardSize, Color, Move};
use kosumi_go::rules::{KoRule, Rules};
use kosumi_go::sgf::Record;
use kosumi_gtp::Vertex;
use kosumi_solve::{BoardAnswer, BoardRequest, solve_board};
use kosumi_tools::collections::nth_game;
use kosumi_tools::commands::vertex_move;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Compute the exact score of a whole board, and the moves that reach it
#[derive(Debug, Args)]
#[command(after_help = "\
The score is Black's points minus White's without komi, by area. Under superko
every game ends. Under simple ko an endless cycle ends a game without a result.
The score is then given for both cases: a cycle is Black's worst result, or
White's.

Examples:
  kosumi solve board --size 4x4                 Black wins by 2, in a few seconds
  kosumi solve board --size 3x3 --all           all best first moves
  kosumi solve board --size 5x4 --guess 20 --threads 2 --memory 4096
  kosumi solve board --size 3x4 --moves B2      behind a first move
  kosumi solve board --size 2x2 --rules new-zealand --json
  kosumi solve board endgame.sgf --all          a position with stones")]
pub(super) struct Arguments {
    /// Game record: the position before its first move is solved
    #[arg(value_name = "FILE.sgf", required_unless_present = "size")]
    file: Option<PathBuf>,
    /// Board size of an empty board: 3, or WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE", value_parser = options::board_size, conflicts_with = "file")]
    size: Option<BoardSize>,
    /// Rules by name [default: those of the game record, otherwise cgos]
    #[arg(long, value_name = "NAME", value_parser = options::rules)]
    rules: Option<Rules>,
    /// Ko rule instead of the one of the rules: simple, positional, situational or natural-situational
    #[arg(long, value_name = "RULE", value_parser = options::ko_rule)]
    ko: Option<KoRule>,
    /// Score to test first: whether Black reaches it, and then whether Black gets more
    #[arg(long, value_name = "SCORE", allow_hyphen_values = true)]
    guess: Option<i32>,
    /// Moves to play first, of both players in turn: "C3 B2 pass"
    #[arg(long, value_name = "MOVES", default_value = "", hide_default_value = true)]
    moves: String,
    /// Find all best first moves instead of one
    #[arg(long)]
    all: bool,
    /// Print JSON: score, best, bounds, nodes, seconds
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: Limits,
}

/// Default rules of an empty board.
const DEFAULT_RULES: &str = "cgos";

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let usual = Rules::preset(DEFAULT_RULES).map_or_else(Rules::default, |preset| preset.rules);
    let (board, to_move, recorded) = match (&arguments.file, arguments.size) {
        (Some(file), _) => position(file, usual).with_context(|| file.display().to_string())?,
        (None, Some(size)) => (Board::new(size), Color::Black, usual),
        (None, None) => bail!("a board needs a game record or --size"),
    };
    let mut rules = arguments.rules.unwrap_or(recorded);
    rules.ko = arguments.ko.unwrap_or(rules.ko);
    let first = first_moves(board.size(), &arguments.moves)?;
    let start = Instant::now();
    let bar = crate::progress::spinner();
    let interrupted = interrupt::install_flag()?;
    let stop = arguments.limits.stop_condition(start, &interrupted);
    let solved = |cycles_lose_for| -> anyhow::Result<BoardAnswer> {
        let request = BoardRequest {
            board: &board,
            to_move,
            moves: &first,
            rules,
            memory: arguments.limits.bytes(),
            all_best: arguments.all,
            cycles_lose_for,
            threads: arguments.limits.threads(),
            guess: arguments.guess,
        };
        let watched = |nodes| {
            show(&bar, nodes);
            stop(nodes)
        };
        Ok(solve_board(&request, &watched, &|answer| bar.set_prefix(bounds(answer)))?)
    };
    let answer = solved(Color::Black)?;
    let other = if rules.ko == KoRule::Simple { Some(solved(Color::White)?) } else { None };
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    let mut out = terminal::stdout();
    if arguments.json {
        let mut json = json(&answer, seconds);
        if let Some(other) = &other {
            json["cycles_lose_for_white"] = self::json(other, seconds);
            // Under simple ko, the score is known only if it does not depend on endless cycles.
            if other.score() != answer.score() {
                json["score"] = serde_json::Value::Null;
            }
        }
        return writeln!(out, "{json}").context("cannot write");
    }
    write_answer(&mut out, &answer)?;
    if let Some(other) = &other
        && (other.at_least, other.at_most) != (answer.at_least, answer.at_most)
    {
        write!(out, "if a cycle is White's loss: ")?;
        write_answer(&mut out, other)?;
    }
    let nodes = answer.nodes + other.as_ref().map_or(0, |other| other.nodes);
    let mib = answer.table_bytes >> 20;
    writeln!(
        out,
        "{nodes} nodes, {seconds:.1} s, {:.0} nodes a second, table of {mib} MiB",
        nodes as f64 / seconds
    )?;
    Ok(())
}

/// Returns the position before the first move of a game record, its side to move and its rules.
fn position(file: &Path, usual: Rules) -> anyhow::Result<(Board, Color, Rules)> {
    let record = Record::parse(&nth_game(file, 1)?)?;
    let rules = record.rules().unwrap_or(usual);
    let game = record.game(rules, 0.0, Some(1))?;
    Ok((*game.board(), game.to_move(), rules))
}

fn first_moves(size: BoardSize, text: &str) -> anyhow::Result<Vec<Move>> {
    let word = |word: &str| -> anyhow::Result<Move> {
        let vertex: Vertex = word.parse().with_context(|| format!("--moves: {word}"))?;
        vertex_move(size, vertex).with_context(|| format!("--moves: {word} is not on the board"))
    };
    text.split_whitespace().map(word).collect()
}

fn show(bar: &ProgressBar, nodes: u64) {
    if nodes % 16_384 < 256 {
        bar.set_message(format!("{nodes} nodes"));
    }
}

fn bounds(answer: &BoardAnswer) -> String {
    format!("{:+} to {:+}", answer.at_least, answer.at_most)
}

fn moves(best: &[Move]) -> String {
    best.iter().map(Move::to_string).collect::<Vec<_>>().join(" ")
}

fn write_answer(out: &mut impl Write, answer: &BoardAnswer) -> io::Result<()> {
    match answer.score() {
        Some(score) => {
            let kind = if answer.best_is_complete { "best" } else { "a best move:" };
            writeln!(out, "score {score:+}, {kind} {}", moves(&answer.best))
        }
        None => writeln!(out, "not decided: the score is from {}", bounds(answer)),
    }
}

fn json(answer: &BoardAnswer, seconds: f64) -> serde_json::Value {
    serde_json::json!({
        "score": answer.score(),
        "best": answer.best.iter().map(Move::to_string).collect::<Vec<_>>(),
        "best_is_complete": answer.best_is_complete,
        "at_least": answer.at_least,
        "at_most": answer.at_most,
        "nodes": answer.nodes,
        "seconds": seconds,
    })
}
