//! `kosumi solve problem`.

use super::Limits;
use crate::terminal;
use crate::{interrupt, options, progress};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use kosumi_go::board::{Board, BoardSize, Cell, Color, Move, Point, PointSet};
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Mark, NodeId, Record, Tree};
use kosumi_solve::{Aim, GroupReading, ProofNode, Question, Reading, Region, Status, Success};
use kosumi_tools::collections::nth_game;
use kosumi_tools::files::write_atomically;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Compute the status of a group: alive, seki, dead, unsettled or ko
#[derive(Debug, Args)]
#[command(after_help = "\
The position before the first move of each record is read, both with the
group's owner and with the opponent to move first. They are read in a region,
which is shown: what the opponent's stones enclose, with the chains that can be
captured from inside; if they enclose too much, what lies near the group, and
then the group lives if it escapes. An answer also holds against moves outside
the region. Otherwise the region is enlarged, and if that fails, the problem is
not decided. With --quiet-outside nobody plays outside, so chains with
liberties there live.

A ko is reported with the number of threats that decide it; the side that captures first needs none.

Examples:
  kosumi solve problem corner.sgf                  the group that is enclosed most tightly
  kosumi solve problem corner.sgf --group A3       the group of this stone
  kosumi solve problem corner.sgf -o solved.sgf    the proof as variations
  kosumi solve problem race.sgf --goal race --group C1 --other F1
  kosumi solve problem set/*.sgf --time 10 --json")]
pub(super) struct Arguments {
    /// Game records with problems
    #[arg(value_name = "FILE.sgf", required = true)]
    files: Vec<PathBuf>,
    /// Stone of the group [default: the group that is enclosed most tightly]
    #[arg(long, value_name = "VERTEX")]
    group: Option<String>,
    /// Question to answer
    #[arg(long, value_name = "GOAL", default_value = "live")]
    goal: GoalName,
    /// Second stone: the opponent in a race, or the stone to connect with
    #[arg(long, value_name = "VERTEX")]
    other: Option<String>,
    /// Two corners of the region, as A1-F4 [default: a region found automatically]
    #[arg(long, value_name = "VERTEX-VERTEX")]
    region: Option<String>,
    /// Assume that nobody plays outside the region, as books do; implied by --region
    #[arg(long)]
    quiet_outside: bool,
    /// Write the proof for the side to move as variations of a game record
    #[arg(short, long, value_name = "FILE.sgf")]
    output: Option<PathBuf>,
    /// Rules, instead of those of the game record; only suicide matters
    #[arg(long, value_name = "NAME", value_parser = options::rules)]
    rules: Option<Rules>,
    /// Print a line of JSON per file
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: Limits,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum GoalName {
    /// Life and death of the group
    Live,
    /// Life and death of the group, as live
    Kill,
    /// Capture of one chain, by tactical reading on the whole board
    Capture,
    /// Capturing race between the group and the chain of the other stone
    Race,
    /// Connection between the group's chain and the other stone
    Connect,
}

/// Maximum number of nodes of a written proof.
const MAX_PROOF_NODES: usize = 2_000;

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.output.is_some() && arguments.files.len() > 1 {
        bail!("a proof can be written for one record only");
    }
    let interrupted = interrupt::install_flag()?;
    for file in &arguments.files {
        solve(arguments, file, &interrupted).with_context(|| file.display().to_string())?;
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(())
}

fn solve(arguments: &Arguments, file: &Path, interrupted: &AtomicBool) -> anyhow::Result<()> {
    let record = Record::parse(&nth_game(file, 1)?)?;
    let rules = arguments.rules.or_else(|| record.rules()).unwrap_or_default();
    let game = record.game(rules, 0.0, Some(1))?;
    let board = game.board();
    let point = match &arguments.group {
        Some(vertex) => parse(board, vertex)?,
        None => Region::tightest_group(board, None, false)
            .context("no group is enclosed; choose one with --group")?,
    };
    let Some(owner) = board.cell(point).color() else { bail!("there is no stone at {point}") };
    let other = arguments.other.as_ref().map(|vertex| parse(board, vertex)).transpose()?;
    let aim = match (arguments.goal, other) {
        (GoalName::Live | GoalName::Kill, _) => Aim::Capture,
        (GoalName::Capture, _) => Aim::Chain(point),
        (GoalName::Race, Some(other)) => Aim::Race(other),
        (GoalName::Connect, Some(other)) => Aim::Connect(point, other),
        (GoalName::Race | GoalName::Connect, None) => bail!("this goal needs --other"),
    };
    let mut region = region(arguments, board, point, aim)?;
    region.excludes_moves_outside |= arguments.quiet_outside;
    let question = Question {
        board,
        region: &region,
        aim,
        suicide: rules.suicide,
        memory: arguments.limits.bytes(),
        threads: arguments.limits.threads(),
    };
    let start = Instant::now();
    let bar = progress::spinner();
    let limit = arguments.limits.stop_condition(start, interrupted);
    let stop = |nodes: u64| {
        if nodes % 16_384 < 256 {
            bar.set_message(format!("{nodes} nodes"));
        }
        limit(nodes)
    };
    let verdict = if aim == Aim::Capture {
        kosumi_solve::read_status(&question, &stop)?
    } else {
        let (attack, wider) = kosumi_solve::read_with_region(&question, owner.opponent(), &stop)?;
        let again = Question { region: &wider, ..question };
        let (defence, largest) = kosumi_solve::read_with_region(&again, owner, &stop)?;
        GroupReading { status: Status::Unknown, attack, defence, region: largest }
    };
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    let question = Question { region: &verdict.region, ..question };
    let found = SolvedProblem { file, board, region: question.region, point, owner, aim, verdict, seconds };
    let mut out = terminal::stdout();
    if arguments.json {
        writeln!(out, "{}", found.json())?;
    } else {
        found.write(&mut out)?;
    }
    if let Some(path) = &arguments.output {
        let first = game.to_move();
        let reading = if first == owner { verdict.defence } else { verdict.attack };
        let proof = kosumi_solve::proof_tree(&question, first, reading.success, MAX_PROOF_NODES, &stop)?;
        let text = proof_record(&found, first, &proof);
        write_atomically(path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn parse(board: &Board, vertex: &str) -> anyhow::Result<Point> {
    let wanted = vertex.to_ascii_uppercase();
    let found = board.size().points().find(|point| point.to_string() == wanted);
    found.with_context(|| format!("{vertex} is not a point of the board"))
}

fn region(arguments: &Arguments, board: &Board, point: Point, aim: Aim) -> anyhow::Result<Region> {
    if let Some(corners) = &arguments.region {
        let (a, b) = corners.split_once('-').context("a region is two corners, as A1-F4")?;
        let (a, b) = (parse(board, a)?, parse(board, b)?);
        let between = |x: usize, a: usize, b: usize| (a.min(b)..=a.max(b)).contains(&x);
        let inside =
            |p: &Point| between(p.column(), a.column(), b.column()) && between(p.row(), a.row(), b.row());
        let playable: PointSet = board.size().points().filter(inside).collect();
        return Ok(Region::with_points(board, playable, point));
    }
    match aim {
        Aim::Connect(a, b) => Ok(Region::near(board, &[a, b], 3)),
        Aim::Race(other) => {
            let none = || "there is no stone".to_owned();
            let mut region = Region::of_group(board, point).ok_or_else(none).map_err(anyhow::Error::msg)?;
            let other = Region::of_group(board, other).ok_or_else(none).map_err(anyhow::Error::msg)?;
            region.playable.union_with(&other.playable);
            Ok(region)
        }
        _ => Region::of_group(board, point).context("there is no stone"),
    }
}

/// Solution of a problem, with its context.
struct SolvedProblem<'a> {
    file: &'a Path,
    board: &'a Board,
    region: &'a Region,
    point: Point,
    owner: Color,
    aim: Aim,
    verdict: GroupReading,
    seconds: f64,
}

fn status_text(status: Status) -> &'static str {
    match status {
        Status::Alive => "alive",
        Status::Seki => "not captured, but without two eyes: seki, or a double ko",
        Status::Dead => "dead",
        Status::Unsettled => "unsettled",
        Status::Ko => "ko",
        Status::Unknown => "not decided",
    }
}

fn threats(count: u8) -> String {
    match count {
        1 => "one threat".to_owned(),
        kosumi_solve::MAX_THREATS => format!("{} threats or more", kosumi_solve::MAX_THREATS),
        count => format!("{count} threats"),
    }
}

/// Draws a board with the coordinates that are used for moves.
fn drawing(out: &mut impl Write, size: BoardSize, cell: impl Fn(Point) -> char) -> io::Result<()> {
    let letter = |column| Point::new(column, 0).to_string().chars().next().unwrap_or_default().to_string();
    let letters = (0..size.columns()).map(letter).collect::<Vec<_>>().join(" ");
    writeln!(out, "   {letters}")?;
    for row in (0..size.rows()).rev() {
        let cells = (0..size.columns()).map(|column| cell(Point::new(column, row)).to_string());
        writeln!(out, "{0:>2} {1} {0}", row + 1, cells.collect::<Vec<_>>().join(" "))?;
    }
    writeln!(out, "   {letters}")
}

impl SolvedProblem<'_> {
    fn sentence(&self, first: Color, reading: &Reading) -> String {
        let best = reading.best.map_or(String::new(), |mv| format!(", {mv}"));
        let (wanted, prover) = match self.aim {
            Aim::Connect(..) => ("connected", self.owner),
            _ => ("captured", self.owner.opponent()),
        };
        match reading.success {
            Success::Yes => format!("{first} first: {wanted}{best}"),
            Success::No => format!("{first} first: not {wanted}{best}"),
            Success::KoFirst(count) => {
                let other = prover.opponent();
                format!("{first} first: ko, {wanted} unless {other} has {}{best}", threats(count))
            }
            Success::KoSecond(count) => {
                format!("{first} first: ko, {wanted} if {prover} has {}{best}", threats(count))
            }
            Success::Unknown => format!("{first} first: not decided"),
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let SolvedProblem { board, region, owner, verdict, .. } = self;
        let boundary = if region.is_closed { "enclosed" } else { "open" };
        let points = region.empty_points(board);
        writeln!(
            out,
            "{}: {owner}'s group at {}, {boundary}, {points} empty points",
            self.file.display(),
            self.point
        )?;
        let cell = |point| match board.cell(point) {
            Cell::Black => 'X',
            Cell::White => 'O',
            _ if region.playable.contains(point) => '+',
            _ => '.',
        };
        drawing(out, board.size(), cell)?;
        if self.aim == Aim::Capture {
            writeln!(out, "{}", status_text(verdict.status))?;
        }
        writeln!(out, "{}", self.sentence(owner.opponent(), &verdict.attack))?;
        writeln!(out, "{}", self.sentence(*owner, &verdict.defence))?;
        let nodes = verdict.attack.nodes + verdict.defence.nodes;
        writeln!(out, "{nodes} nodes, {:.2} s", self.seconds)
    }

    fn json(&self) -> serde_json::Value {
        let reading = |first: Color, reading: &Reading| {
            let (ko, count) = match reading.success {
                Success::KoFirst(count) => (Some("unless the opponent has threats"), Some(count)),
                Success::KoSecond(count) => (Some("with threats"), Some(count)),
                _ => (None, None),
            };
            serde_json::json!({
                "first": first.to_string(),
                "success": reading.success.without_threats(),
                "ko": ko,
                "threats": count,
                "move": reading.best.map(|mv| mv.to_string()),
                "nodes": reading.nodes,
            })
        };
        let status = match self.verdict.status {
            Status::Alive => "alive",
            Status::Seki => "seki",
            Status::Dead => "dead",
            Status::Unsettled => "unsettled",
            Status::Ko => "ko",
            Status::Unknown => "unknown",
        };
        serde_json::json!({
            "file": self.file.display().to_string(),
            "group": self.point.to_string(),
            "owner": self.owner.to_string(),
            "status": (self.aim == Aim::Capture).then_some(status),
            "attack": reading(self.owner.opponent(), &self.verdict.attack),
            "defence": reading(self.owner, &self.verdict.defence),
            "region": self.region.playable.iter().map(|point| point.to_string()).collect::<Vec<_>>(),
            "seconds": self.seconds,
        })
    }
}

/// Builds a game record of the position, with the region marked and the proof as variations.
fn proof_record(found: &SolvedProblem<'_>, first: Color, proof: &[ProofNode]) -> String {
    let mut tree = Tree::new(found.board.size());
    let root = tree.root();
    for (point, color) in found.board.stones() {
        tree.at(root).set_up(point, Some(color));
    }
    for point in found.region.playable.iter().filter(|&point| found.board.cell(point) == Cell::Empty) {
        tree.at(root).mark(point, Mark::Circle);
    }
    let reading = if first == found.owner { &found.verdict.defence } else { &found.verdict.attack };
    tree.at(root).to_move(first).comment(&found.sentence(first, reading));
    let prover = match found.aim {
        Aim::Connect(..) => found.owner,
        _ => found.owner.opponent(),
    };
    add_proof(&mut tree, root, first, prover, proof);
    tree.to_string()
}

fn add_proof(tree: &mut Tree, parent: NodeId, first: Color, prover: Color, nodes: &[ProofNode]) {
    for node in nodes {
        let id = tree.add(parent);
        match node.mv {
            Some(Move::Play(point)) => {
                tree.at(id).play(node.color, Move::Play(point));
            }
            Some(Move::Pass) => {
                tree.at(id).play(node.color, Move::Pass).comment("tenuki");
            }
            None => {
                tree.at(id).comment(&format!("{} makes a threat elsewhere, which is answered", node.color));
            }
        }
        if let Some(success) = node.success
            && node.color == first
            && parent == tree.root()
        {
            let good = success == (first == prover);
            tree.at(id).comment(if good { "right" } else { "wrong" });
        }
        add_proof(tree, id, first, prover, &node.replies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_has_coordinates_on_all_sides() {
        let mut out = Vec::new();
        let size = BoardSize::new(9, 10).unwrap();
        drawing(&mut out, size, |point| if point.column() == 8 && point.row() == 0 { 'X' } else { '.' })
            .unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "   A B C D E F G H J");
        assert_eq!(lines[1], "10 . . . . . . . . . 10");
        assert_eq!(lines[10], " 1 . . . . . . . . X 1");
        assert_eq!((lines.len(), lines[11]), (12, lines[0]));
    }
}
