//! `kosumi match`: games between two engines.

use super::{contender, options, progress, ranks};
use crate::terminal;
use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;
use kosumi_engine::RankLink;
use kosumi_engine::time::TimeControl;
use kosumi_go::board::BoardSize;
use kosumi_go::rules::Rules;
use kosumi_tools::files::{check_target, relative, write_atomically};
use kosumi_tools::matches::{
    self, Conditions, Contender, Control, DeadStones, EvaluationComments, GameBoard, GameRecord, Match,
    MatchObserver, Openings, Source, Storage, Summary, parse_clock,
};
use kosumi_tools::ranks::World;
use kosumi_tools::statistics::Sprt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Play games between two engines
///
/// Kosumi's own board is the referee: it checks every move, superko included, and counts the score by the rules of the
/// match. Games come in pairs with the same opening and swapped colours: A plays Black in games 1, 3, 5, ... With
/// --handicap B plays Black in all games.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Engines:
  builtin                        Kosumi in this process; one thread, 128 MiB
  builtin:playouts=500,tree      with options of 'kosumi gtp', without dashes, also human-model=FILE
                                 and profile=rank_5k
  \"gnugo --mode gtp --level 10\"  any GTP engine as a child process; no shell is involved
Engines that support kata-set-rules get the rules by this command; others must be started with them.

Forfeits: an engine loses the game if it plays an illegal move, refuses a legal one, answers with \
something else than a move, exceeds its time or exits. Forfeits are counted separately, and the \
engine is restarted. A game that cannot begin (an engine does not start, or refuses board, komi, \
clock or opening) is annulled and repeated; the match stops after three attempts.

Dead stones: under rules without removal (cgos, tromp-taylor) all stones count. Otherwise those that both engines list \
as dead are removed; where they differ, Kosumi judges by playouts, and the record says so.

Stopping: after ^C, and after an --sprt verdict, games in progress are finished and counted, because \
dropping them would favour the results of short games. A second ^C aborts them. With --log, even \
'kill -9' loses only the games in progress: the same command line with --resume continues the match.

Exit code: 0 the match is complete, or the SPRT has reached a verdict; 1 something failed; 2 the command line is \
wrong; 130 interrupted before the end.

Examples:
  kosumi match builtin:playouts=1000 \"gnugo --mode gtp --chinese-rules\" --jobs 2 \\
      --log match.jsonl --sgf games --html match.html
  kosumi match builtin:playouts=400 builtin:playouts=400,tree \\
      --sizes 9,13 --games 4000 --sprt 0,20 --log sprt.jsonl
  kosumi match \"./new gtp\" \"./old gtp\" --clock \"fischer 60 1\" \\
      --openings book.sgf --opening-depth 8
  kosumi match \"./new gtp\" \"./old gtp\" --time 1 --rules japanese --size 19")]
pub(super) struct Arguments {
    /// First engine: a command line, or builtin[:OPTION,OPTION=VALUE,...]
    #[arg(value_parser = contender::parse)]
    a: Contender,
    /// Second engine
    #[arg(value_parser = contender::parse)]
    b: Contender,
    /// Number of games; the maximum with --sprt
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    games: u32,
    /// Board sizes, as 9 or 9,13,19 or 9x7; games are spread evenly over them
    #[arg(long, value_name = "SIZES", default_value = "9", value_delimiter = ',',
        value_parser = options::board_size)]
    sizes: Vec<BoardSize>,
    /// Points for White, for all sizes or per size: 7.5 or 9:7,13:7.5 [default: usual komi of the rules]
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true, value_delimiter = ',', value_parser = komi)]
    komi: Vec<(Option<BoardSize>, f32)>,
    /// Rules of the match
    #[arg(long, value_name = "NAME", default_value = "cgos", value_parser = options::rules)]
    rules: Rules,
    /// Number of games at the same time, each with its own two engines
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,

    /// Time per move, in seconds
    #[arg(long, value_name = "SECONDS", conflicts_with = "clock", value_parser = options::seconds,
        help_heading = "Time")]
    time: Option<Duration>,
    /// Time control: "MAIN BYO STONES" in seconds, or "absolute 300", "byoyomi 300 30 5", "canadian 300 60 10",
    /// "fischer 60 2", "fischer-capped 60 2 90 30"
    #[arg(long, visible_alias = "time-settings", value_name = "CLOCK", value_parser = parse_clock,
        help_heading = "Time")]
    clock: Option<TimeControl>,
    /// Time by which an engine may exceed its limit before it loses, in seconds; it covers delays of pipes and of a
    /// busy machine
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = options::seconds_or_none,
        help_heading = "Time")]
    margin: Duration,
    /// Maximum time per move in games without a clock, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = options::seconds,
        help_heading = "Time")]
    patience: Duration,

    /// Opening moves: builtin, a number of random moves, none, or a game record or a folder of game records
    #[arg(long, value_name = "SOURCE", default_value = "builtin", value_parser = Source::parse,
        help_heading = "Games")]
    openings: Source,
    /// Number of moves of a game record that form its opening
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Games")]
    opening_depth: u16,
    /// Seed of the openings and of engines that accept a seed
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Games")]
    seed: u64,
    /// Number of handicap stones that A gives B: B plays Black in all games, without openings, and the default komi is
    /// 0.5. 1 means that B only moves first
    #[arg(long, value_name = "N", conflicts_with_all = ["openings", "opening_depth"],
        value_parser = clap::value_parser!(u32).range(1..=9), help_heading = "Games")]
    handicap: Option<u32>,
    /// Decision about dead stones, under rules that remove them
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = DeadStones::Agreed, help_heading = "Games")]
    dead: DeadStones,
    /// Engines whose win rate, score and expected moves are written as comments into the game records
    #[arg(long = "opinions", value_name = "WHOSE", value_enum, default_value_t = EvaluationComments::Builtin, help_heading = "Games")]
    evaluation_comments: EvaluationComments,

    /// Stop as soon as the results of game pairs favour one of two Elo differences clearly: 0,10, or with error rates
    /// 0,10,0.05,0.05
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true, value_parser = Sprt::parse,
        help_heading = "Results")]
    sprt: Option<Sprt>,
    /// Write the record of every game into this folder
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    sgf: Option<PathBuf>,
    /// Append a line of JSON to this file as soon as a game is finished
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    log: Option<PathBuf>,
    /// Resume the match of the log: play only the games that it does not contain
    #[arg(long, requires = "log", help_heading = "Results")]
    resume: bool,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    json: Option<PathBuf>,
    /// Write the results as an HTML page with tables, plots and links to the game records
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    html: Option<PathBuf>,
}

/// Default komi of handicap games. With it, White wins games that would otherwise be draws.
const HANDICAP_KOMI: f32 = 0.5;

/// Parses `POINTS` or `SIZE:POINTS`.
fn komi(text: &str) -> Result<(Option<BoardSize>, f32), String> {
    match text.split_once(':') {
        Some((size, points)) => Ok((Some(options::board_size(size)?), options::points(points)?)),
        None => Ok((None, options::points(text)?)),
    }
}

impl Arguments {
    fn conditions(&self) -> anyhow::Result<Conditions> {
        if (1..self.sizes.len()).any(|index| self.sizes[..index].contains(&self.sizes[index])) {
            bail!("a size is given twice");
        }
        let sizes = self.komi.iter().filter_map(|(size, _)| *size);
        if let Some(size) = sizes.into_iter().find(|size| !self.sizes.contains(size)) {
            bail!("a komi is given for {}, which is not played", options::size_text(size));
        }
        let komi = |size: BoardSize| {
            let of = |wanted: Option<BoardSize>| self.komi.iter().rev().find(|(size, _)| *size == wanted);
            let usual = if self.handicap.is_some() { HANDICAP_KOMI } else { self.rules.usual_komi() };
            of(Some(size)).or(of(None)).map_or(usual, |(_, komi)| *komi)
        };
        let boards: Vec<GameBoard> =
            self.sizes.iter().map(|&size| GameBoard { size, komi: komi(size) }).collect();
        let handicap = self.handicap.unwrap_or(0);
        if let Some(board) = boards.iter().find(|board| board.handicap(handicap).is_none()) {
            bail!("{} has no handicap of {handicap} stones", options::size_text(board.size));
        }
        let source = if handicap > 0 { Source::None } else { self.openings.clone() };
        let depth = usize::from(self.opening_depth);
        Ok(Conditions {
            contenders: [self.a.clone(), self.b.clone()],
            openings: Openings::load(&source, depth, &boards, self.rules, self.seed)?,
            boards,
            rules: self.rules,
            time: self.clock.or(self.time.map(|time| TimeControl::PerMove { time })),
            margin: self.margin,
            unclocked_move_time: self.patience,
            source,
            seed: self.seed,
            handicap,
            dead: self.dead,
            evaluation_comments: self.evaluation_comments,
            sprt: self.sprt,
        })
    }
}

/// Exit code of a command that ^C stopped, as shells use it.
const INTERRUPTED: u8 = 130;

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Some((world, link)) = World::join()? else { return play(arguments, None) };
    let part = |link: RankLink, is_one_gone: Option<Arc<AtomicBool>>| match is_one_gone {
        Some(is_one_gone) => play(arguments, Some((link, is_one_gone))),
        None => {
            matches::serve(arguments.conditions()?, arguments.jobs, link)?;
            Ok(ExitCode::SUCCESS)
        }
    };
    Ok(ranks::run_rank(world, link, part)?.unwrap_or(ExitCode::SUCCESS))
}

/// Plays the match of the command line on this rank and, if there are other ranks, on them.
fn play(arguments: &Arguments, others: Option<(RankLink, Arc<AtomicBool>)>) -> anyhow::Result<ExitCode> {
    let conditions = arguments.conditions()?;
    for path in [&arguments.json, &arguments.html].into_iter().flatten() {
        check_target(path)?;
    }
    let control = Arc::new(Control::default());
    catch_interrupts(&control)?;
    let storage =
        Storage { log: arguments.log.clone(), resume: arguments.resume, records: arguments.sgf.clone() };
    let mut playing = Match::open(conditions, arguments.games, &storage, control)?;
    if let (missing @ 1.., Some(folder)) = (playing.records_missing(), &arguments.sgf) {
        let folder = folder.display();
        writeln!(terminal::stderr(), "kosumi: {missing} games of the log have no game record in {folder}")?;
    }
    let over = playing.summary().games.len() as u64;
    let bar = progress::bar_from(over, arguments.games.into(), progress::WIDE);
    let (link, is_one_gone) = others.unzip();
    let mut shown = MatchProgress { bar, is_one_gone: is_one_gone.unwrap_or_default() };
    playing.play_with(arguments.jobs, link, &mut shown)?;
    shown.bar.finish_and_clear();

    let (summary, conditions) = (playing.summary(), playing.conditions());
    let mut out = terminal::stdout();
    write!(out, "{summary}")?;
    out.flush()?;
    if let Some(path) = &arguments.json {
        write(path, &matches::json(summary, conditions))?;
    }
    if let Some(path) = &arguments.html {
        let records = arguments.sgf.as_deref().map(|folder| relative(path, folder)).transpose()?;
        write(path, &matches::html(summary, conditions, records.as_deref()))?;
    }
    Ok(if playing.is_complete() { ExitCode::SUCCESS } else { ExitCode::from(INTERRUPTED) })
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    write_atomically(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Progress of a match: a line per game on the standard output and, on a terminal, a bar on the standard error.
struct MatchProgress {
    bar: ProgressBar,
    /// Flag that is set when another rank is lost.
    is_one_gone: Arc<AtomicBool>,
}

impl MatchProgress {
    fn line(&self, line: &str) -> anyhow::Result<()> {
        self.bar.suspend(|| {
            let mut out = terminal::stdout();
            writeln!(out, "{line}")?;
            out.flush()
        })?;
        Ok(())
    }
}

impl MatchObserver for MatchProgress {
    fn finished(&mut self, game: &GameRecord, summary: &Summary) -> anyhow::Result<()> {
        let standing = summary.status_line();
        self.bar.set_position(summary.games.len() as u64);
        self.bar.set_message(terminal::escaped(&standing).into_owned());
        if self.bar.is_hidden() {
            self.line(&format!("{game}  |  {standing}"))
        } else {
            self.line(&game.to_string())
        }
    }

    fn annulled(&mut self, number: u32, reason: &str) -> anyhow::Result<()> {
        self.line(&format!("game {number:>4}  annulled: {reason}"))
    }

    fn lost(&mut self, rank: usize, games: usize) -> anyhow::Result<()> {
        self.is_one_gone.store(true, Ordering::Relaxed);
        self.bar.suspend(|| ranks::note_loss(rank, games, "game"));
        Ok(())
    }
}

/// Installs the handler of ^C. The first ^C stops the match after the games in progress, the second one stops it at
/// once.
fn catch_interrupts(control: &Arc<Control>) -> anyhow::Result<()> {
    let control = Arc::clone(control);
    let handler = move || {
        if control.stop.swap(true, Ordering::Relaxed) {
            control.abort.store(true, Ordering::Relaxed);
        } else {
            let _ = writeln!(
                terminal::stderr(),
                "\ninterrupted: games in progress are finished first; ^C again aborts them"
            );
        }
    };
    ctrlc::set_handler(handler).context("cannot wait for ^C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn komi_for_each_size() {
        assert_eq!(komi("6.5"), Ok((None, 6.5)));
        assert_eq!(komi("13:-3"), Ok((Some(BoardSize::square(13).unwrap()), -3.0)));
        for bad in ["", "x", "9:", ":5", "9:x", "nan", "99:5"] {
            assert!(komi(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn arguments_make_conditions() {
        use clap::Parser;
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            arguments: Arguments,
        }
        let parse = |words: &str| {
            let words = ["kosumi", "builtin", "gnugo --mode gtp"].into_iter().chain(words.split_whitespace());
            Line::try_parse_from(words).map(|line| line.arguments.conditions())
        };
        let conditions =
            parse("--sizes 9,13,5x7 --komi 7,13:5.5 --rules japanese --time 0.5").unwrap().unwrap();
        let boards: Vec<_> = conditions.boards.iter().map(|board| (board.size_text(), board.komi)).collect();
        assert_eq!(boards, [("9x9".into(), 7.0), ("13x13".into(), 5.5), ("5x7".into(), 7.0)]);
        assert_eq!(conditions.time, Some(TimeControl::PerMove { time: Duration::from_millis(500) }));
        let usual = parse("--rules japanese --sizes 19").unwrap().unwrap();
        assert_eq!((usual.boards[0].komi, usual.time), (6.5, None));
        let handicap = parse("--rules japanese --sizes 13,19 --handicap 4").unwrap().unwrap();
        assert_eq!((handicap.handicap, handicap.boards[1].komi, handicap.source), (4, 0.5, Source::None));
        assert_eq!(parse("--handicap 1 --komi 7").unwrap().unwrap().boards[0].komi, 7.0);
        assert!(parse("--sizes 19,8 --handicap 5").unwrap().is_err());
        assert!(parse("--sizes 9,9").unwrap().is_err());
        assert!(parse("--komi 13:5").unwrap().is_err());
        for bad in [
            "--games 0",
            "--time 5 --clock 5",
            "--resume",
            "--sprt 5,0",
            "--sizes 26",
            "--clock never",
            "--handicap 10",
            "--handicap 2 --openings none",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
