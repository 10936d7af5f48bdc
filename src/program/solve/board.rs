//! `kosumi solve board`.

use super::Limits;
use crate::terminal;
use crate::{interrupt, options};
use anyhow::Context;
use clap::Args;
use indicatif::ProgressBar;
use kosumi_go::board::{Board, BoardSize, Color, Move};
use kosumi_go::rules::{KoRule, Rules};
use kosumi_gtp::Vertex;
use kosumi_solve::{BoardAnswer, BoardRequest, solve_board};
use kosumi_tools::commands::vertex_move;
use std::io::{self, Write};
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
  kosumi solve board --size 2x2 --rules new-zealand --json")]
pub(super) struct Arguments {
    /// Board size: 3, or WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE", value_parser = options::board_size)]
    size: BoardSize,
    /// Rules by name
    #[arg(long, value_name = "NAME", default_value = "cgos", value_parser = options::rules)]
    rules: Rules,
    /// Ko rule instead of the one of the rules: simple, positional, situational or natural-situational
    #[arg(long, value_name = "RULE", value_parser = options::ko_rule)]
    ko: Option<KoRule>,
    /// Score to test first: whether Black reaches it, and then whether Black gets more
    #[arg(long, value_name = "SCORE", allow_hyphen_values = true)]
    guess: Option<i32>,
    /// Moves to play first, Black's and White's in turn: "C3 B2 pass"
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

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut rules = arguments.rules;
    rules.ko = arguments.ko.unwrap_or(rules.ko);
    let board = Board::new(arguments.size);
    let first = first_moves(arguments.size, &arguments.moves)?;
    let start = Instant::now();
    let bar = crate::progress::spinner();
    let interrupted = interrupt::install_flag()?;
    let stop = arguments.limits.stop_condition(start, &interrupted);
    let solved = |cycles_lose_for| -> anyhow::Result<BoardAnswer> {
        let request = BoardRequest {
            board: &board,
            to_move: Color::Black,
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
            // Under simple ko the score is known only if endless cycles do not change it.
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
