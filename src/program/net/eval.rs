//! `kosumi net eval`: network evaluation of one position.

use crate::options;
use crate::terminal;
use anyhow::{Context as _, ensure};
use clap::Args;
use kosumi_eval::{NetworkEvaluator, NetworkSettings};
use kosumi_go::board::{BoardSize, Color, Move, Symmetry};
use kosumi_go::game::{Game, Line};
use kosumi_go::rules::Rules;
use kosumi_go::sgf::collection::RECORD_LIMIT;
use kosumi_go::sgf::{Record, Strictness};
use kosumi_net::input::index;
use kosumi_net::{Network, Prediction, Profile, symmetry};
use kosumi_tools::files::read_regular;
use kosumi_tools::words::unsigned_zero;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Evaluate one position with a network
#[derive(Debug, Args)]
#[command(after_help = "\
Win rate, lead, score and ownership are Black's. The lead is the increase of komi that makes the game even.

Examples:
  kosumi net eval b6c96.bin.gz --sgf game.sgf
  kosumi net eval b6c96.bin.gz --sgf game.sgf --move 30 --symmetry all --json")]
pub(super) struct Arguments {
    /// Network: .bin.gz, .txt.gz, .bin, .txt, .kosumi8, or compact
    file: PathBuf,
    /// Game record; the main line of its first game is used
    #[arg(long, value_name = "GAME")]
    sgf: PathBuf,
    /// Number of moves to play [default: all]
    #[arg(long = "move", value_name = "N")]
    moves: Option<usize>,
    /// Rules [default: those of the game record, or chinese-kgs]
    #[arg(long, value_parser = options::rules)]
    rules: Option<Rules>,
    /// Komi [default: that of the game record, or the usual komi of the rules]
    #[arg(long, value_parser = options::points, allow_negative_numbers = true)]
    komi: Option<f32>,
    /// Symmetry of the board that is evaluated, 0 to 7 in KataGo's order, or all for the mean of all
    #[arg(long, value_name = "K|all", default_value = "0", value_parser = images)]
    symmetry: SymmetryChoice,
    /// Weight of the network's optimistic policy, 0 to 1, if it has one; searches use 0.2 at the root and 1 elsewhere
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = options::share)]
    optimism: f32,
    /// People whose moves a human-play network predicts, such as rank_5k, preaz_3d or proyear_1999
    #[arg(long, value_name = "PROFILE")]
    profile: Option<Profile>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Symmetries of the board that the network evaluates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SymmetryChoice {
    One(Symmetry),
    All,
}

fn images(text: &str) -> Result<SymmetryChoice, String> {
    if text == "all" {
        return Ok(SymmetryChoice::All);
    }
    let number = text.parse().ok().and_then(symmetry::by_katago_number);
    number.map(SymmetryChoice::One).ok_or_else(|| "not a number from 0 to 7, and not all".to_owned())
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let network = Network::open(&arguments.file).with_context(|| arguments.file.display().to_string())?;
    let game = game(arguments).with_context(|| arguments.sgf.display().to_string())?;
    let images = match &arguments.symmetry {
        SymmetryChoice::One(symmetry) => std::slice::from_ref(symmetry),
        SymmetryChoice::All => &Symmetry::ALL,
    };
    ensure!(
        arguments.profile.is_none() || network.takes_metadata(),
        "{}: not a human-play network, which --profile needs",
        arguments.file.display()
    );
    let settings = NetworkSettings { profile: arguments.profile, ..NetworkSettings::default() };
    let prediction = predict(network, settings, &game, images, arguments.optimism)?;
    let mut out = terminal::stdout();
    if arguments.json {
        serde_json::to_writer(&mut out, &EvaluationJson::new(&game, &prediction))?;
        writeln!(out)?;
    } else {
        write!(out, "{}", report(&game, &prediction))?;
    }
    Ok(())
}

/// Returns the mean prediction over the given symmetries of the position. Values are Black's.
fn predict(
    network: Network,
    settings: NetworkSettings,
    game: &Game,
    images: &[Symmetry],
    optimism: f32,
) -> anyhow::Result<Prediction> {
    let mut evaluator = NetworkEvaluator::new(Arc::new(network), settings, 0);
    let line = Line::new(game);
    let predictions = images.iter().map(|&symmetry| evaluator.predict(&line, symmetry, optimism));
    Prediction::mean(&predictions.collect::<Result<Vec<_>, _>>()?).context("no symmetry was given")
}

/// Replays the game record up to the position to evaluate.
fn game(arguments: &Arguments) -> anyhow::Result<Game> {
    let bytes = read_regular(&arguments.sgf, RECORD_LIMIT as u64)
        .with_context(|| format!("cannot read {}", arguments.sgf.display()))?;
    let record = Record::parse(&bytes)?;
    let named = arguments.rules.or_else(|| record.rules());
    let rules = named.unwrap_or_default();
    let count = record.move_count();
    let moves = arguments.moves.unwrap_or(count);
    ensure!(moves <= count, "there are {count} moves, not {moves}");
    // `replay` stops before the move with this number.
    let up_to = Some(moves + 1);
    let replayed = record.replay(rules, record.komi_under(rules), up_to, Strictness::Tolerant)?;
    for warning in &replayed.warnings {
        writeln!(terminal::stderr(), "kosumi: {}: {warning}", arguments.sgf.display())?;
    }
    let game = replayed.game;
    Ok(match arguments.komi {
        Some(komi) => game.with_rules(rules, komi),
        None => game,
    })
}

/// Number of moves that are listed.
const LISTED: usize = 10;

fn report(game: &Game, prediction: &Prediction) -> String {
    let size = game.size();
    let percent = |share: f32| format!("{:6.2} %", 100.0 * share);
    let mut text = format!(
        "position    {} after move {}, {} to move, {}, komi {}\n\
         Black wins  {}\n\
         White wins  {}\n\
         no result   {}\n\
         lead        {:+.2}\n\
         score       {:+.2} ± {:.2}\n\n",
        options::size_text(size),
        game.records().len(),
        game.to_move(),
        game.rules(),
        game.komi(),
        percent(prediction.win),
        percent(prediction.loss),
        percent(prediction.no_result),
        unsigned_zero(prediction.lead, 2),
        unsigned_zero(prediction.score_mean, 2),
        prediction.score_stdev(),
    );
    for (mv, share) in best_moves(size, prediction) {
        text.push_str(&format!("{:>5} {}\n", mv.to_string(), percent(share)));
    }
    text.push_str("\nmoves, in thousandths; pass ");
    text.push_str(&format!("{:.0}\n", 1000.0 * prediction.pass));
    text.push_str(&table(
        game,
        |place, is_stone| {
            if is_stone { None } else { Some(1000.0 * prediction.policy[place]) }
        },
    ));
    text.push_str("\nownership: 100 is certainly Black's, -100 White's\n");
    text.push_str(&table(game, |place, _| Some(100.0 * prediction.ownership[place])));
    text
}

/// Returns the most probable moves, in descending order of their probability.
fn best_moves(size: BoardSize, prediction: &Prediction) -> Vec<(Move, f32)> {
    let points = size.points().map(|point| (Move::Play(point), prediction.policy[index(size, point)]));
    let mut moves: Vec<(Move, f32)> = points.chain([(Move::Pass, prediction.pass)]).collect();
    moves.retain(|&(_, share)| share > 0.0);
    moves.sort_by(|a, b| b.1.total_cmp(&a.1));
    moves.truncate(LISTED);
    moves
}

/// Draws the board with a rounded number on each point. Points without a number show their stone.
fn table(game: &Game, number: impl Fn(usize, bool) -> Option<f32>) -> String {
    let size = game.size();
    let mut text = String::new();
    for row in (0..size.rows()).rev() {
        text.push_str(&format!("{:>2}", row + 1));
        for column in 0..size.columns() {
            let Some(point) = size.point(column, row) else { continue };
            let stone = game.board().cell(point).color();
            let cell = match number(index(size, point), stone.is_some()) {
                // The conversion to an integer removes the sign of a zero.
                Some(number) => (number.round() as i32).to_string(),
                None if stone == Some(Color::Black) => "X".to_owned(),
                None => "O".to_owned(),
            };
            text.push_str(&format!("{cell:>5}"));
        }
        text.push('\n');
    }
    text.push_str("  ");
    for column in 0..size.columns() {
        let letter = size.point(column, 0).map(|point| point.to_string()).unwrap_or_default();
        text.push_str(&format!("{:>5}", letter.trim_end_matches('1')));
    }
    text.push('\n');
    text
}

/// Output of `--json`. Rows are listed from the top of the board.
#[derive(Debug, Serialize)]
struct EvaluationJson {
    columns: usize,
    rows: usize,
    moves: usize,
    to_move: String,
    rules: String,
    komi: f32,
    black_win: f32,
    white_win: f32,
    no_result: f32,
    black_lead: f32,
    black_score: f32,
    score_stdev: f32,
    policy_pass: f32,
    /// Probabilities of the points; `null` for illegal moves.
    policy: Vec<Vec<Option<f32>>>,
    black_ownership: Vec<Vec<f32>>,
}

impl EvaluationJson {
    fn new(game: &Game, prediction: &Prediction) -> EvaluationJson {
        let size = game.size();
        let rows = |value: &[f32]| value.chunks(size.columns()).map(<[f32]>::to_vec).collect::<Vec<_>>();
        let mut policy: Vec<Vec<Option<f32>>> =
            rows(&prediction.policy).into_iter().map(|row| row.into_iter().map(Some).collect()).collect();
        for point in size.points() {
            if game.check(game.to_move(), Move::Play(point)).is_err() {
                let at = index(size, point);
                policy[at / size.columns()][at % size.columns()] = None;
            }
        }
        EvaluationJson {
            columns: size.columns(),
            rows: size.rows(),
            moves: game.records().len(),
            to_move: game.to_move().to_string().to_lowercase(),
            rules: game.rules().to_string(),
            komi: game.komi(),
            black_win: prediction.win,
            white_win: prediction.loss,
            no_result: prediction.no_result,
            black_lead: prediction.lead,
            black_score: prediction.score_mean,
            score_stdev: prediction.score_stdev(),
            policy_pass: prediction.pass,
            policy,
            black_ownership: rows(&prediction.ownership),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use kosumi_net::random;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn arguments(words: &[&str]) -> Result<Arguments, clap::Error> {
        Cli::try_parse_from([&["eval", "net.bin", "--sgf", "game.sgf"], words].concat())
            .map(|cli| cli.arguments)
    }

    #[test]
    fn symmetries_of_the_command_line() {
        let symmetry = |text: &str| arguments(&["--symmetry", text]).ok().map(|it| it.symmetry);
        assert_eq!(symmetry("all"), Some(SymmetryChoice::All));
        assert_eq!(symmetry("3"), symmetry::by_katago_number(3).map(SymmetryChoice::One));
        assert_eq!(arguments(&[]).ok().map(|it| it.symmetry), symmetry("0"));
        assert!(["8", "-1", "", "each"].into_iter().all(|text| symmetry(text).is_none()));
    }

    #[test]
    fn text_and_json_are_about_black() {
        let network = random::network(&random::Options::default()).unwrap();
        let mut game = Game::new(BoardSize::new(3, 2).unwrap(), Rules::default(), 0.5);
        let at = |column, row| Move::Play(game.size().point(column, row).unwrap());
        let middle = at(1, 1);
        game.play(Color::Black, middle).unwrap();
        let black = predict(network, NetworkSettings::default(), &game, &Symmetry::ALL[..1], 0.0).unwrap();
        let answer = serde_json::to_value(EvaluationJson::new(&game, &black)).unwrap();
        let number = |name: &str| answer[name].as_f64().unwrap() as f32;
        assert_eq!((number("black_lead"), number("black_win")), (black.lead, black.win));
        assert_eq!(number("white_win"), black.loss);
        assert_eq!(answer["to_move"], "white");
        assert!(answer["policy"][0][1].is_null() && answer["policy"][1][1].is_number());
        assert_eq!(answer["black_ownership"].as_array().map(Vec::len), Some(2));
        let text = report(&game, &black);
        assert!(
            text.starts_with("position    3x2 after move 1, White to move, chinese-kgs, komi 0.5\n"),
            "{text}"
        );
        assert!(text.contains(&format!("lead        {:+.2}\n", black.lead)), "{text}");
        assert!(text.lines().any(|line| line.starts_with(" 2 ") && line.contains(" X ")), "{text}");
        assert!(text.contains("\n      A    B    C\n"), "{text}");
    }
}
