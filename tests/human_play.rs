//! Human-like play over GTP: a second network, profiles, and their parameters. The networks are small random ones,
//! because this project contains no network trained on human games.

use kosumi_engine::{Engine, EngineSettings};
use kosumi_net::random::{self, Options};
use kosumi_net::{Encoding, Network};
use kosumi_tools::commands::Commands;
use std::fs::File;
use std::io::Cursor;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

fn network(has_metadata_encoder: bool) -> Network {
    let options = Options { version: 15, has_metadata_encoder, channels: 8, seed: 4, ..Options::default() };
    random::network(&options).unwrap()
}

/// Returns the responses of an engine with these networks.
fn answers(main: Network, human: Option<Network>, input: &str) -> Vec<String> {
    let settings =
        EngineSettings { threads: 1, memory_mebibytes: 2, playouts: Some(20), ..EngineSettings::default() };
    let mut engine = Engine::with_network(settings, Some(Arc::new(main)));
    if let Some(human) = human {
        engine.set_human_network(Arc::new(human));
    }
    let mut output = Vec::new();
    kosumi_gtp::serve(Cursor::new(input.as_bytes().to_vec()), &mut output, &mut Commands::new(engine))
        .unwrap();
    let output = String::from_utf8(output).unwrap();
    output.split_terminator("\n\n").map(|answer| answer.trim_end().to_owned()).collect()
}

#[test]
fn a_second_network_predicts_human_moves() {
    let input = "boardsize 5\nkata-raw-nn 0\nkata-raw-human-nn 0\nkata-set-param humanSLProfile rank_20k\n\
                 kata-raw-human-nn 0\nkata-raw-nn 0\nkata-set-param humanSLProfile rank_9d\nkata-raw-human-nn w 0\n\
                 kata-raw-human-nn 0\nkata-get-param humanSLProfile\nkata-set-param humanSLProfile \"\"\n\
                 kata-raw-human-nn 0\n";
    let answers = answers(network(false), Some(network(true)), input);
    let [_, plain, unknown, _, weak, plain_again, _, white, strong, profile, _, unknown_again] = &answers[..]
    else {
        panic!("{answers:#?}")
    };
    assert!(plain.starts_with("= symmetry 0\nwhiteWin ") && unknown.starts_with("= symmetry 0\nwhiteWin "));
    assert_eq!(plain, plain_again, "the profile does not reach the first network");
    assert_eq!(unknown, unknown_again);
    assert_eq!(profile, "= rank_9d");
    let different = [plain, unknown, weak, strong, white];
    assert!(different.iter().enumerate().all(|(index, it)| !different[..index].contains(it)), "{answers:#?}");
}

#[test]
fn moves_follow_the_profile_and_are_legal() {
    let moves = |setup: &str| {
        let input = format!("boardsize 5\n{setup}genmove b\ngenmove w\ngenmove b\ngenmove w\n");
        let answers = answers(network(false), Some(network(true)), &input);
        assert!(answers.iter().all(|answer| answer.starts_with('=')), "{answers:#?}");
        answers[answers.len() - 4..].to_vec()
    };
    let like_people = "kata-set-params {\"humanSLProfile\":\"rank_5k\",\"humanSLChosenMoveProp\":1,\
                       \"humanSLChosenMoveIgnorePass\":true,\"chosenMoveTemperature\":1,\
                       \"humanSLRootExploreProbWeightless\":0.5,\"humanSLCpuctPermanent\":2}\n";
    let (own, human) = (moves(""), moves(like_people));
    assert_ne!(own, human);
    assert_eq!(human, moves(like_people), "one thread and one seed give the same game");
    assert_eq!(own, moves("kata-set-param humanSLProfile rank_5k\n"), "a profile alone has no effect");
}

/// Returns the result of a search of 120 simulations after this setup.
fn searched(main: Network, human: Option<Network>, setup: &str) -> String {
    let input =
        format!("boardsize 5\nkata-set-param maxPlayouts 120\n{setup}kata-search_analyze b rootInfo true\n");
    let answers = answers(main, human, &input);
    assert!(answers.iter().all(|answer| answer.starts_with('=')), "{answers:#?}");
    answers.last().unwrap().clone()
}

#[test]
fn human_priors_change_the_search_if_enabled() {
    let with = |shares: &str| {
        let setup = format!(
            "kata-set-params {{\"humanSLProfile\":\"rank_5k\",\"humanSLCpuctPermanent\":2{shares}}}\n"
        );
        searched(network(false), Some(network(true)), &setup)
    };
    let own = with("");
    assert!(own.contains("info move "), "{own}");
    let none = ",\"humanSLPlaExploreProbWeightful\":0,\"humanSLOppExploreProbWeightless\":0";
    assert_eq!(with(none), own, "a share of 0 changes nothing");
    let names = ["Pla", "Opp"].iter().flat_map(|who| ["ful", "less"].map(|kind| (who, kind)));
    let found: Vec<String> =
        names.map(|(who, kind)| with(&format!(",\"humanSL{who}ExploreProbWeight{kind}\":0.8"))).collect();
    let different = |index: usize, it: &String| *it != own && !found[..index].contains(it);
    assert!(found.iter().enumerate().all(|(index, it)| different(index, it)), "{found:#?}");
    assert_eq!(with(",\"humanSLPlaExploreProbWeightful\":0.8"), found[0], "one thread and one seed");
}

#[test]
fn human_parameters_have_no_effect_without_a_human_network() {
    let all = "kata-set-params {\"humanSLPlaExploreProbWeightful\":0.5,\"humanSLOppExploreProbWeightless\":0.4,\
               \"humanSLOppExploreProbWeightful\":0.5,\"humanSLPlaExploreProbWeightless\":0.4}\n";
    assert_eq!(searched(network(false), None, all), searched(network(false), None, ""));
    // Without a profile, there is no human play either.
    let people = || Some(network(true));
    assert_eq!(searched(network(false), people(), all), searched(network(false), people(), ""));
    let answers = answers(network(false), people(), "kata-set-param humanSLPlaExploreProbWeightful 1.5\n");
    assert_eq!(answers[0], "? humanSLPlaExploreProbWeightful must be a number from 0 to 1, not '1.5'");
}

#[test]
fn profiles_are_for_networks_of_human_play() {
    let input = "kata-set-param humanSLProfile rank_5k\nkata-raw-human-nn 0\nkata-get-param humanSLProfile\n\
                 kata-set-params {\"maxVisits\":3,\"humanSLProfile\":\"rank_5k\"}\nkata-get-param maxVisits\n";
    let answers = answers(network(false), None, input);
    assert!(answers[0].starts_with("? humanSLProfile is for networks of human play"), "{answers:#?}");
    assert!(answers[1].starts_with("? no network of human play"), "{answers:#?}");
    assert_eq!(answers[2], "= none");
    assert!(answers[3].starts_with('?') && answers[4] == "= none", "nothing changes: {answers:#?}");
    // The first network itself may be a human-play network.
    let answers = self::answers(
        network(true),
        None,
        "kata-set-param humanSLProfile rank_5k\nkata-set-param humanSLProfile rank_55k\n",
    );
    assert_eq!(answers[0], "=");
    assert_eq!(answers[1], "? humanSLProfile must be a profile such as rank_5k, or none, not 'rank_55k'");
}

#[test]
fn the_command_line_refuses_what_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, has_encoder| {
        let path = folder.path().join(name);
        network(has_encoder).write(Encoding::Binary, File::create(&path).unwrap()).unwrap();
        path
    };
    let (plain, human) = (write("plain.bin", false), write("human.bin", true));
    let run = |human: Option<&Path>, rest: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
        command.args(["gtp", "--threads", "1", "--memory", "2", "--playouts", "2", "--model"]).arg(&plain);
        if let Some(path) = human {
            command.arg("--human-model").arg(path);
        }
        let output = command.args(rest).stdin(std::process::Stdio::null()).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run(Some(&human), &["--profile", "rank_5k"]), (true, String::new()));
    let (_, error) = run(Some(&plain), &[]);
    assert!(error.contains("not a human-play network"), "{error}");
    let (_, error) = run(None, &["--profile", "rank_5k"]);
    assert!(error.contains("--human-model"), "{error}");
    let (_, error) = run(Some(&human), &["--profile", "rank_0k"]);
    assert!(error.contains("no profile"), "{error}");
}

#[test]
fn the_advantage_in_handicap_games_is_a_parameter() {
    let play = |setup: &str| {
        let input = format!(
            "boardsize 9\nkomi 0.5\n{setup}fixed_handicap 4\nkata-genmove_analyze w 100 rootInfo true\n"
        );
        answers(network(false), None, &input).last().unwrap().clone()
    };
    let dynamic = "kata-set-param dynamicPlayoutDoublingAdvantageCapPerOppLead 0.045\n";
    // (45 + 6.5 − 4 − 2) · 0.045 · 3.07 exceeds the maximum advantage.
    let by_hand = "kata-set-param playoutDoublingAdvantage 2.75\n";
    assert_ne!(play(dynamic), play(""));
    assert_eq!(play(dynamic), play(by_hand));
    let analysis = |setup: &str| searched(network(false), None, setup);
    assert_eq!(analysis(dynamic), analysis(""), "an even game");
    let found = answers(
        network(false),
        None,
        "kata-set-param dynamicPlayoutDoublingAdvantageCapPerOppLead 0.6\n\
         kata-get-param dynamicPlayoutDoublingAdvantageCapPerOppLead\n",
    );
    let refused = "? dynamicPlayoutDoublingAdvantageCapPerOppLead must be a number from 0 to 0.5, not '0.6'";
    assert_eq!(found, [refused, "= 0"]);
}
