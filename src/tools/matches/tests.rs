//! Tests of the referee with scripted engines.

use super::clock;
use super::conditions::{Conditions, DeadStones, GamePlan};
use super::control::Control;
use super::fixtures::conditions;
use super::link::EngineLink;
use super::openings::{Opening, Source};
use super::player::MatchPlayer;
use super::record::{Ending, Judgement};
use super::referee::{self, FinishedGame, NoGame};
use super::side::Side;
use crate::players::{self, GtpResponse, PlayerError};
use kosumi_go::rules::Rules;
use kosumi_go::sgf::Record;
use kosumi_gtp::Client;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Engine whose responses are a function of the command. `None` stands for an empty success.
struct Scripted<F>(F);

impl<F: FnMut(&str) -> Option<Result<GtpResponse, PlayerError>> + Send> players::GtpPlayer for Scripted<F> {
    fn send(&mut self, command: &str, _: Duration) -> Result<GtpResponse, PlayerError> {
        (self.0)(command).unwrap_or(Ok(GtpResponse::Success(String::new())))
    }
}

fn success(text: &str) -> Option<Result<GtpResponse, PlayerError>> {
    Some(Ok(GtpResponse::Success(text.to_owned())))
}

/// Returns an engine that plays these moves one after the other, then passes. `responses` contains its responses to certain
/// commands.
fn player(
    moves: &str,
    responses: &[(&str, Result<GtpResponse, PlayerError>)],
    conditions: &Conditions,
) -> MatchPlayer {
    let mut moves: Vec<String> = moves.split_whitespace().rev().map(str::to_owned).collect();
    let responses: Vec<_> =
        responses.iter().map(|(command, answer)| ((*command).to_owned(), answer.clone())).collect();
    let script = move |command: &str| {
        if let Some((_, answer)) =
            responses.iter().find(|(beginning, _)| command.starts_with(beginning.as_str()))
        {
            return Some(answer.clone());
        }
        match command.split(' ').next() {
            Some("name") => success("Script"),
            Some("genmove") => success(&moves.pop().unwrap_or("pass".to_owned())),
            _ => None,
        }
    };
    MatchPlayer::new(EngineLink::Local(Box::new(Scripted(script))), 0, true, conditions, &Control::default())
        .unwrap()
}

fn plan(conditions: &Conditions, number: u32, opening: &str) -> GamePlan {
    let board = conditions.boards[0];
    let moves = opening
        .split_whitespace()
        .map(|word| crate::commands::vertex_move(board.size, word.parse().unwrap()).unwrap());
    GamePlan { opening: Opening { name: "test".into(), moves: moves.collect() }, ..conditions.plan(number) }
}

fn small() -> Conditions {
    conditions(&[5], Source::None)
}

/// Plays game 1, in which A is Black.
fn play(
    conditions: &Conditions,
    opening: &str,
    mut players: [MatchPlayer; 2],
) -> (Result<FinishedGame, NoGame>, [bool; 2]) {
    let [a, b] = &mut players;
    referee::play(conditions, &plan(conditions, 1, opening), [a, b], &Control::default())
}

fn refused() -> Result<GtpResponse, PlayerError> {
    Ok(GtpResponse::Failure("illegal move".into()))
}

fn crashed() -> Result<GtpResponse, PlayerError> {
    Err(PlayerError::Crashed("gone".into()))
}

type Responses<'a> = &'a [(&'a str, Result<GtpResponse, PlayerError>)];

/// Plays game 1 between these engines and returns its result. Afterwards both engines must be able to play on, except a
/// loser by forfeit.
fn play_scripted(a: (&str, Responses<'_>), b: (&str, Responses<'_>)) -> (String, Option<Side>, Ending) {
    let conditions = small();
    let players = [player(a.0, a.1, &conditions), player(b.0, b.1, &conditions)];
    let (played, is_fit) = play(&conditions, "", players);
    let record = played.unwrap().record;
    let loser = record.winner.map(Side::other).filter(|_| record.ending.is_forfeit());
    assert_eq!(is_fit, Side::BOTH.map(|side| Some(side) != loser));
    assert_eq!(record.detail.is_empty(), !record.ending.is_forfeit(), "{record:?}");
    (record.result, record.winner, record.ending)
}

#[test]
fn games_that_end_as_games_do() {
    let quiet: (&str, Responses<'_>) = ("", &[]);
    assert_eq!(play_scripted(quiet, quiet), ("W+7.5".into(), Some(Side::B), Ending::Score));
    assert_eq!(play_scripted(("C3", &[]), quiet), ("B+17.5".into(), Some(Side::A), Ending::Score));
    assert_eq!(
        play_scripted(("c3 RESIGN", &[]), ("C2 C4", &[])),
        ("W+R".into(), Some(Side::B), Ending::Resign)
    );
}

#[test]
fn forfeits() {
    for (moves, responses, ending) in [
        // An occupied point, and a point outside this board.
        ("C3 C3", &[][..], Ending::IllegalMove),
        ("C3 Q16", &[][..], Ending::IllegalMove),
        ("C3 banana", &[][..], Ending::InvalidResponse),
        ("C3 I5", &[][..], Ending::InvalidResponse),
        ("", &[("genmove", refused())][..], Ending::Refused),
        ("", &[("genmove", crashed())][..], Ending::Crash),
        ("", &[("genmove", Err(PlayerError::TimedOut))][..], Ending::Time),
    ] {
        let by = if ending == Ending::Time { "T" } else { "F" };
        assert_eq!(
            play_scripted((moves, responses), ("C4", &[])),
            (format!("W+{by}"), Some(Side::B), ending),
            "{moves}"
        );
        assert_eq!(
            play_scripted(("C5 C4", &[]), (moves, responses)),
            (format!("B+{by}"), Some(Side::A), ending),
            "{moves}"
        );
    }
    // Suicide is illegal under these rules: B1 A2 leave A1 without a liberty.
    assert_eq!(play_scripted(("B1 A2", &[]), ("E5 A1", &[])).2, Ending::IllegalMove);
}

#[test]
fn refusing_a_legal_move_loses_for_the_player_that_refuses() {
    let refuses: Responses<'_> = &[("play", refused())];
    assert_eq!(play_scripted(("C3", &[]), ("", refuses)), ("B+F".into(), Some(Side::A), Ending::Refused));
    assert_eq!(play_scripted(("", refuses), ("C3", &[])), ("W+F".into(), Some(Side::B), Ending::Refused));
    let hangs: Responses<'_> = &[("play", Err(PlayerError::TimedOut))];
    assert_eq!(play_scripted(("C3", &[]), ("", hangs)), ("B+T".into(), Some(Side::A), Ending::Time));
}

#[test]
fn the_referee_knows_superko() {
    // Black captures in the ko and White retakes at once.
    let black = "B3 A2 B1 D1 B2 A5";
    let white = "C3 D2 C1 C2 C2";
    let players = |conditions: &Conditions| [player(black, &[], conditions), player(white, &[], conditions)];
    let conditions = small();
    let (played, _) = play(&conditions, "", players(&conditions));
    let record = played.unwrap().record;
    // The last white move is at an occupied point or in the ko, so only the rules can refuse it.
    assert_eq!((record.ending, record.winner), (Ending::IllegalMove, Some(Side::A)), "{record:?}");
}

#[test]
fn games_that_cannot_begin_are_annulled() {
    let conditions = small();
    for command in ["boardsize", "clear_board", "komi", "play b C3", "play w C4"] {
        for answer in [refused(), crashed(), Err(PlayerError::TimedOut)] {
            let players = [player("", &[], &conditions), player("", &[(command, answer)], &conditions)];
            let (result, is_fit) = play(&conditions, "C3 C4", players);
            let Err(NoGame::Annulled(reason)) = result else { panic!("{command}: {result:?}") };
            assert!(reason.starts_with("B, ") && reason.contains(command), "{reason}");
            assert_eq!(is_fit, [true, false]);
        }
    }
    // An engine may refuse commands that it need not support.
    let knows = ("list_commands", Ok(GtpResponse::Success("kata-set-rules\nset_random_seed".into())));
    let responses =
        [knows, ("kata-set-rules", refused()), ("set_random_seed", refused()), ("time_left", refused())];
    let conditions = Conditions { time: Some(clock::parse("absolute 60").unwrap()), ..conditions };
    let players = [player("", &responses, &conditions), player("", &[], &conditions)];
    assert_eq!(play(&conditions, "", players).0.unwrap().record.ending, Ending::Score);
}

#[test]
fn the_end_of_a_game_cannot_be_forfeited() {
    let conditions = Conditions { rules: Rules::default(), ..small() };
    for answer in [refused(), crashed()] {
        let is_gone = answer.is_err();
        let responses = [("final_status_list", answer.clone()), ("final_score", answer)];
        let players = [player("C3", &responses, &conditions), player("", &[], &conditions)];
        let (played, is_fit) = play(&conditions, "", players);
        let record = played.unwrap().record;
        assert_eq!((record.result.as_str(), record.judgement), ("B+17.5", Some(Judgement::Agreed)));
        assert_eq!(is_fit, [!is_gone, true]);
    }
}

#[test]
fn dead_stones_and_other_scores() {
    let conditions = Conditions { rules: Rules::default(), dead: DeadStones::Agreed, ..small() };
    let engine = |dead: &str, score: &str| {
        let text = |text: &str| Ok(GtpResponse::Success(text.to_owned()));
        [("final_status_list", text(dead)), ("final_score", text(score))]
    };
    // Black has a wall on column B. White has one on column C and a dead stone at A1.
    let game = |a: [(&str, Result<GtpResponse, PlayerError>); 2],
                b: [(&str, Result<GtpResponse, PlayerError>); 2]| {
        let players =
            [player("B1 B2 B3 B4 B5 A4", &a, &conditions), player("C1 C2 C3 C4 C5 A1", &b, &conditions)];
        play(&conditions, "", players).0.unwrap()
    };
    let agreed = game(engine("A1", "W+12.5"), engine("A1", "W+12.5"));
    assert_eq!(agreed.record.judgement, Some(Judgement::Agreed));
    assert_eq!(agreed.record.result, "W+12.5");
    assert!(!agreed.record.disputed_by(Side::A));
    let disputed = game(engine("A1", "W+12.5"), engine("", "W+17.5"));
    assert_eq!(disputed.record.judgement, Some(Judgement::Disputed));
    assert_eq!(disputed.record.result, "W+12.5", "judged");
    assert!(disputed.record.disputed_by(Side::B) && !disputed.record.disputed_by(Side::A));
    assert!(
        disputed.sgf.contains("B reports W+17.5") && disputed.sgf.contains("disputed"),
        "{}",
        disputed.sgf
    );
}

#[test]
fn time_is_measured_and_the_margin_forgiven() {
    let slow = |conditions: &Conditions| {
        let script = |command: &str| {
            if command.starts_with("genmove") {
                // The match measures real time, so a slow engine must take real time. On a slower machine the result is
                // the same.
                std::thread::sleep(Duration::from_millis(30));
                return success("pass");
            }
            None
        };
        let link = EngineLink::Local(Box::new(Scripted(script)));
        MatchPlayer::new(link, 0, false, conditions, &Control::default()).unwrap()
    };
    let time = clock::parse("0 0.01 1").unwrap();
    let strict = Conditions { time: Some(time), margin: Duration::ZERO, ..small() };
    let (played, _) = play(&strict, "", [slow(&strict), player("", &[], &strict)]);
    let record = played.unwrap().record;
    assert_eq!((record.result.as_str(), record.ending), ("W+T", Ending::Time));
    let lenient = Conditions { margin: Duration::from_secs(600), ..strict };
    let (played, _) = play(&lenient, "", [slow(&lenient), player("", &[], &lenient)]);
    let FinishedGame { record, sgf } = played.unwrap();
    assert_eq!(record.ending, Ending::Score);
    assert!(record.overstep[0] >= 0.02 && record.slowest[0] >= 0.03, "{record:?}");
    assert!(sgf.contains("BL[0.01]") && sgf.contains("OT[1x0.01 byo-yomi]"), "{sgf}");
}

#[test]
fn evaluations_become_comments() {
    let conditions = small();
    let report = "info move C3 visits 50 winrate 0.75 scoreLead 3.5 pv C3 C4\nplay C3";
    let responses = [
        ("list_commands", Ok(GtpResponse::Success("kata-genmove_analyze".into()))),
        ("kata-genmove_analyze", Ok(GtpResponse::Success(report.into()))),
    ];
    let players = [player("", &responses, &conditions), player("C4", &[], &conditions)];
    let (played, _) = play(&conditions, "", players);
    let FinishedGame { record, sgf } = played.unwrap();
    // The engine plays C3 again, which is illegal the second time.
    assert_eq!((record.ending, record.moves.len()), (Ending::IllegalMove, 2));
    let read = Record::parse(sgf.as_bytes()).unwrap();
    let comment = read.nodes[1].comment.clone().unwrap();
    assert!(comment.ends_with("s; 75.0 %, +3.5 points, 50 visits\nC3 C4"), "{comment}");
}

/// Returns a scripted engine behind pipes: a shell script that responds to `genmove` as given.
#[cfg(unix)]
fn child(genmove: &str, conditions: &Conditions) -> MatchPlayer {
    let script = format!(
        "while read -r name rest; do case $name in genmove) {genmove};; *) printf '= \\n\\n';; esac; done"
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]);
    let link = EngineLink::Child(Box::new(Client::spawn_command(command).unwrap()));
    MatchPlayer::new(link, 0, false, conditions, &Control::default()).unwrap()
}

#[cfg(unix)]
#[test]
fn faults_of_processes() {
    let conditions = Conditions { unclocked_move_time: Duration::from_millis(300), ..small() };
    for (genmove, ending, detail) in [
        ("exit 3", Ending::Crash, "exit status: 3"),
        ("kill -9 $$", Ending::Crash, "signal: 9"),
        ("sleep 5", Ending::Time, "no response in time"),
        ("echo thinking; sleep 5", Ending::InvalidResponse, "thinking"),
        ("printf '= what?\\n\\n'", Ending::InvalidResponse, "what?"),
        ("printf '? cannot\\n\\n'", Ending::Refused, "cannot"),
        ("while true; do echo nonsense; done", Ending::InvalidResponse, "nonsense"),
    ] {
        let players = [child(genmove, &conditions), player("", &[], &conditions)];
        let (played, is_fit) = play(&conditions, "", players);
        let record = played.unwrap().record;
        assert_eq!((record.ending, record.winner), (ending, Some(Side::B)), "{genmove}: {record:?}");
        assert!(record.detail.contains(detail), "{}", record.detail);
        assert_eq!(is_fit, [false, true]);
    }
    // Output before a response is harmless, and is counted.
    let chatty = "printf 'hm\\nwell\\n= pass\\n\\n'";
    let players = [child(chatty, &conditions), player("", &[], &conditions)];
    let record = play(&conditions, "", players).0.unwrap().record;
    assert_eq!((record.ending, record.stray), (Ending::Score, [2, 0]));
}

#[cfg(unix)]
#[test]
fn a_match_that_is_given_up_does_not_wait_for_engines() {
    let conditions = small();
    let control = Control::default();
    control.abort.store(true, Ordering::Relaxed);
    let mut players = [child("sleep 60", &conditions), player("", &[], &conditions)];
    let [a, b] = &mut players;
    let (result, _) = referee::play(&conditions, &plan(&conditions, 1, ""), [a, b], &control);
    assert_eq!(result.unwrap_err(), NoGame::Aborted);
}
