use super::*;
use crate::play::message::{ClockSettings, RestoredGame, parse_place};
use kosumi_go::sgf::Tree;
use serde_json::{Value, json};

const NOW: Duration = Duration::ZERO;

fn table(side: usize) -> GameTable {
    GameTable::new(BoardSize::square(side).unwrap(), Rules::default(), 7.5, 0)
}

fn wanted(side: usize) -> NewGame {
    NewGame {
        columns: side,
        rows: side,
        handicap: 0,
        komi: None,
        rules: "chinese-kgs".to_owned(),
        black: PlayerKind::Person,
        white: PlayerKind::Person,
        clock: ClockSettings::None,
    }
}

fn play(table: &mut GameTable, places: &[&str], now: Duration) {
    for place in places {
        let mv = parse_place(table.game.size(), place).unwrap();
        table.play(mv, now).unwrap();
    }
}

#[test]
fn a_game_from_the_first_move_to_the_result() {
    let mut table = table(5);
    table.begin(&NewGame { komi: Some(0.5), ..wanted(5) }).unwrap();
    play(&mut table, &["cc", "aa", "bb", "--", "--"], NOW);
    assert!(matches!(table.phase, Phase::Marking(_)));
    table.mark(parse_place(table.game.size(), "aa").unwrap()).unwrap();
    assert_eq!(table.state(NOW)["count"]["score"], "B+24.5");
    assert_eq!(table.state(NOW)["dead"], "aa");
    table.settle().unwrap();
    assert_eq!(table.phase, Phase::Over("B+24.5".to_owned()));
    let text = table.record(&[], None).to_string();
    assert!(text.contains("RE[B+24.5]"), "{text}");
    let mut loaded = GameTable::new(BoardSize::square(19).unwrap(), Rules::default(), 7.5, 0);
    loaded.load(text.as_bytes(), false).unwrap();
    assert_eq!(loaded.game.records().len(), 5);
    assert_eq!(table.play(Move::Pass, NOW), Err(Refusal::NotNow));
}

#[test]
fn refused_is_what_the_rules_forbid_and_nothing_changes() {
    let mut table = table(5);
    table.begin(&wanted(5)).unwrap();
    play(&mut table, &["aa"], NOW);
    let size = table.game.size();
    assert_eq!(table.play(parse_place(size, "aa").unwrap(), NOW), Err(Refusal::Occupied));
    for (change, name) in [
        (NewGame { columns: 26, ..wanted(5) }, "size"),
        (NewGame { columns: 0, ..wanted(5) }, "no size"),
        (NewGame { handicap: 9, ..wanted(5) }, "handicap"),
        (NewGame { handicap: 1, ..wanted(19) }, "handicap of one"),
        (NewGame { komi: Some(f32::NAN), ..wanted(9) }, "komi"),
        (NewGame { komi: Some(0.3), ..wanted(9) }, "komi in tenths"),
        (NewGame { rules: "mahjong".into(), ..wanted(9) }, "rules"),
        (NewGame { white: PlayerKind::Engine { number: 0 }, ..wanted(9) }, "engine"),
        (NewGame { black: PlayerKind::Kosumi { level: "god".into() }, ..wanted(9) }, "level"),
        (NewGame { clock: ClockSettings::Absolute { main: -1.0 }, ..wanted(9) }, "clock"),
    ] {
        assert_eq!(table.begin(&change), Err(Refusal::BadSettings), "{name}");
    }
    assert_eq!(table.load(b"no record", true).unwrap_err().refusal, Refusal::BadRecord);
    let broken = b"(;SZ[9];B[ee];W[ee];B[dd])";
    let bad = table.load(broken, false).unwrap_err();
    assert_eq!((bad.text.as_str(), bad.can_be_partial), ("move 2, White E5: occupied (at byte 16)", true));
    assert_eq!((table.game.records().len(), table.game.size()), (1, BoardSize::square(5).unwrap()));
    assert_eq!(table.load(broken, true).unwrap(), ["move 2, White E5: occupied (at byte 16)"]);
    assert_eq!((table.game.records().len(), &table.phase), (1, &Phase::Playing));
    let notes = table.load("(;SZ[9]RU[mahjong]PB[\u{e9}]CA[GBK];B[ee])".as_bytes(), false).unwrap();
    assert_eq!(notes.len(), 2, "{notes:?}");
}

#[test]
fn saved_records_have_a_date_and_names() {
    let mut table = table(9);
    let today = || Some("2026-01-31".to_owned());
    table.begin(&NewGame { white: kosumi(DEFAULT_LEVEL), ..wanted(9) }).unwrap();
    let text = table.record(&[], today()).to_string();
    assert!(
        text.contains("DT[2026-01-31]") && text.contains("PW[Kosumi ") && !text.contains("PB["),
        "{text}"
    );
    table.load(b"(;SZ[9]PB[Ann]PW[Bob]DT[1999];B[ee])", false).unwrap();
    let text = table.record(&[], today()).to_string();
    assert!(text.contains("DT[1999]") && text.contains("PB[Ann]PW[Bob]"), "{text}");
}

#[test]
fn a_remembered_game_is_restored_from_its_record_and_later_moves() {
    let remembered = |text: &str, line: &[&str], result: Option<&str>| RestoredGame {
        text: text.to_owned(),
        line: line.iter().map(|&place| place.to_owned()).collect(),
        result: result.map(str::to_owned),
        black: PlayerKind::Person,
        white: kosumi(DEFAULT_LEVEL),
        details: None,
    };
    let mut first = table(9);
    first.begin(&NewGame { handicap: 2, ..wanted(9) }).unwrap();
    play(&mut first, &["cc", "gg"], NOW);
    let text = first.record(&[], Some("2026-01-31".to_owned())).to_string();
    go_to(&mut first, 1);
    play(&mut first, &["eg", "--", "--"], NOW);
    let mut restored = table(19);
    restored.restore(&remembered(&text, &["cc", "eg", "--", "--"], None), NOW).unwrap();
    assert_eq!(restored.game.graph_key(), first.game.graph_key());
    assert_eq!((&restored.phase, restored.date.as_deref()), (&first.phase, Some("2026-01-31")));
    assert_eq!(restored.seats[Color::Black], PlayerKind::Person);
    assert_eq!(variations(&restored), 1, "the line that was left stays");
    restored.restore(&remembered(&text, &["cc", "gg"], Some("W+R")), NOW).unwrap();
    assert_eq!((restored.game.records().len(), &restored.phase), (2, &Phase::Over("W+R".to_owned())));
    // The record was sent when the game was over, but the game was then continued.
    let over = restored.record(&[], None).to_string();
    restored.restore(&remembered(&over, &["cc", "gg"], None), NOW).unwrap();
    assert_eq!((restored.game.records().len(), &restored.phase), (2, &Phase::Playing));
    restored.restore(&remembered(&over, &["cc", "gg", "dd"], None), NOW).unwrap();
    assert_eq!((restored.game.records().len(), &restored.phase), (3, &Phase::Playing));
    for (bad, why) in [
        (remembered("no record", &[], None), Refusal::BadRecord),
        (remembered(&text, &["=1"], None), Refusal::BadMessage),
        (remembered(&text, &["cc", "zz"], None), Refusal::OffBoard),
        (remembered(&text, &["cc", "gg", "cc"], None), Refusal::Occupied),
        (
            RestoredGame { black: PlayerKind::Engine { number: 0 }, ..remembered(&text, &[], None) },
            Refusal::BadSettings,
        ),
    ] {
        assert_eq!(restored.restore(&bad, NOW), Err(why), "{bad:?}");
        assert_eq!((restored.game.records().len(), &restored.phase), (3, &Phase::Playing), "{bad:?}");
    }
}

#[test]
fn undo_goes_back_to_the_person() {
    let mut table = table(9);
    let kosumi = kosumi(DEFAULT_LEVEL);
    table.begin(&NewGame { white: kosumi, ..wanted(9) }).unwrap();
    play(&mut table, &["cc", "gg", "cg", "gc"], NOW);
    assert!(table.undo(NOW));
    assert_eq!(table.game.records().len(), 2);
    assert_eq!(table.tree.children(table.head).len(), 1, "what was taken back stays in the tree");
    assert!(table.undo(NOW));
    assert!(!table.undo(NOW));
    play(&mut table, &["cc"], NOW);
    table.resign_person().unwrap();
    assert_eq!(table.phase, Phase::Over("W+R".to_owned()), "the person, although the engine is on turn");
    assert!(table.undo(NOW), "undo takes the resignation back");
    assert_eq!((&table.phase, table.game.records().len()), (&Phase::Playing, 1), "and no move");
    table.resign().unwrap();
    assert_eq!(table.phase, Phase::Over("B+R".to_owned()), "the engine");
    assert!(table.undo(NOW), "after the end the game can be gone on with");
    assert_eq!((&table.phase, table.game.records().len()), (&Phase::Playing, 0), "before the person's move");
}

/// Returns the number of variations in the record.
fn variations(table: &GameTable) -> usize {
    let tree = &table.tree;
    tree.nodes_from(tree.root()).iter().map(|&id| tree.children(id).len().saturating_sub(1)).sum()
}

/// Continues the game from the position after this number of its moves.
fn go_to(table: &mut GameTable, moves: usize) {
    let node = table.tree.path(table.head).unwrap()[moves];
    table.play_from(node, NOW);
}

fn text_of(table: &GameTable) -> String {
    table.record(&[], None).to_string().replace('\n', "")
}

#[test]
fn playing_on_from_an_earlier_move_keeps_the_rest() {
    let mut table = table(9);
    table.begin(&wanted(9)).unwrap();
    play(&mut table, &["cc", "gg", "cg", "gc"], NOW);
    let end = table.head;
    let evaluation = |visits| MoveEvaluation { win_rate: 0.5, score: 0.0, visits };
    table.add_analysis(end, evaluation(10));
    table.add_analysis(end, evaluation(5));
    assert_eq!(table.results[&end].analysed.unwrap().visits, 10, "the longer search stays");
    go_to(&mut table, 2);
    play(&mut table, &["ee"], NOW);
    let text = text_of(&table);
    assert!(text.contains(";W[gg](;B[ee])(;B[cg];W[gc])"), "the game is the main line: {text}");
    assert_eq!(Tree::parse(text.as_bytes()).unwrap().main_line().len(), 4);
    assert!(table.results.contains_key(&end), "and nothing was forgotten");
    // Playing the old moves again adds no variations.
    go_to(&mut table, 2);
    play(&mut table, &["cg"], NOW);
    let text = text_of(&table);
    assert!(text.contains(";W[gg](;B[cg];W[gc])(;B[ee])"), "{text}");
    // A game that has ended stays the main line.
    go_to(&mut table, 3);
    play(&mut table, &["gc"], NOW);
    table.resign().unwrap();
    go_to(&mut table, 1);
    play(&mut table, &["aa"], NOW);
    let text = text_of(&table);
    assert!(
        text.contains(";B[cc](;W[gg](;B[cg];W[gc])(;B[ee]))(;W[aa])") && text.contains("RE[W+R]"),
        "{text}"
    );
    table.begin(&wanted(9)).unwrap();
    assert!(table.results.is_empty() && table.tree.node_count() == 1);
}

#[test]
fn the_study_mode_plays_anywhere_and_returns_to_the_game() {
    let mut table = table(9);
    let kosumi = kosumi(DEFAULT_LEVEL);
    table.begin(&NewGame { white: kosumi, ..wanted(9) }).unwrap();
    play(&mut table, &["cc", "gg"], NOW);
    let (game, root) = (table.head, table.tree.root());
    table.study(true, NOW);
    assert_eq!(table.seat_on_turn(), None);
    let mv = |place| parse_place(BoardSize::square(9).unwrap(), place).unwrap();
    table.try_move(root, mv("ee"), NOW).unwrap();
    play(&mut table, &["dd", "de"], NOW);
    let tried = table.head;
    assert_eq!(table.try_move(game, mv("cc"), NOW), Err(Refusal::Occupied));
    assert_eq!((table.head, table.tree.children(root).len()), (tried, 2), "nothing has changed");
    table.study(false, NOW);
    assert_eq!((table.head, table.seat_on_turn()), (game, Some(&PlayerKind::Person)));
    assert!(text_of(&table).contains("(;B[cc];W[gg])(;B[ee];W[dd];B[de])"), "{}", text_of(&table));
}

#[test]
fn a_remembered_game_is_restored_with_its_clocks_and_variations() {
    let second = Duration::from_secs;
    let mut table = table(9);
    let clock = ClockSettings::ByoYomi { main: 10.0, period: 5.0, periods: 3 };
    table.begin(&NewGame { clock, ..wanted(9) }).unwrap();
    play(&mut table, &["cc", "gg", "cg"], second(3));
    let node = table.tree.parent(table.head).unwrap();
    table.play_from(node, second(3));
    play(&mut table, &["ee"], second(16));
    table.add_analysis(node, MoveEvaluation { win_rate: 0.25, score: -1.5, visits: 7 });
    table.comment(node, "a [comment]\nof two lines").unwrap();
    let back = |table: &GameTable, now| {
        let text = serde_json::to_string(&table.remembered(None, now)).unwrap();
        let mut other = GameTable::new(BoardSize::square(5).unwrap(), Rules::default(), 7.5, 0);
        other.restore(&serde_json::from_str(&text).unwrap(), second(100)).unwrap();
        other
    };
    let restored = back(&table, second(18));
    let state = |table: &GameTable, now: u64| {
        let mut state = table.state(second(now));
        // The same turn continues with the time that was left.
        state["clock"] = json!(format!("{:?}", table.time_left(second(now))));
        state["at"] = Value::Null;
        state["record"] = json!(table.record(&[], None).to_string());
        state["tree"] = json!(
            table
                .tree_data(table.tree.root())
                .iter()
                .map(|it| (it["m"].clone(), it["c"].clone(), it["e"].clone()))
                .collect::<Vec<_>>()
        );
        state
    };
    assert_eq!(state(&restored, 100), state(&table, 18));
    assert_eq!(restored.flag_time(), Some(second(100) + table.flag_time().unwrap() - second(18)));
    let mut resigned = table.clone();
    resigned.resign().unwrap();
    let mut counted = table.clone();
    play(&mut counted, &["--", "--"], second(20));
    counted.settle().unwrap();
    for over in [resigned, counted] {
        assert!(matches!(over.phase, Phase::Over(_)));
        assert_eq!(back(&over, second(20)).phase, over.phase);
    }
    let mut bad = table.remembered(None, second(18));
    bad.details.as_mut().unwrap().known[0].node = 99;
    assert_eq!(table.restore(&bad, second(18)), Err(Refusal::BadMessage));
}

#[test]
fn a_ko_is_called_a_ko_under_superko_rules() {
    let mut table = table(5);
    table.begin(&wanted(5)).unwrap();
    // White takes the ko at B3.
    play(&mut table, &["bb", "cb", "ac", "dc", "bd", "cd", "cc", "bc"], NOW);
    assert_eq!(table.game.records().last().unwrap().lifted.len(), 1);
    let back = parse_place(table.game.size(), "cc").unwrap();
    assert_eq!(table.play(back, NOW), Err(Refusal::Ko));
}

#[test]
fn time_runs_from_the_first_move_on_and_ends_the_game() {
    let mut table = table(9);
    let clock = ClockSettings::ByoYomi { main: 10.0, period: 5.0, periods: 2 };
    table.begin(&NewGame { clock, ..wanted(9) }).unwrap();
    let second = Duration::from_secs;
    assert_eq!(table.flag_time(), None);
    play(&mut table, &["cc"], second(100));
    assert_eq!(table.flag_time(), Some(second(120)));
    play(&mut table, &["gg"], second(112));
    assert_eq!(table.clock_state(second(112))["W"]["periods"], 2);
    assert_eq!(table.clock_state(second(112))["W"]["overtime"], true);
    assert!(!table.check_flag(second(131)));
    assert!(table.check_flag(second(133)));
    assert_eq!(table.phase, Phase::Over("W+T".to_owned()));
    let node = table.tree.parent(table.head).unwrap();
    table.play_from(node, second(200));
    assert_eq!(table.flag_time(), Some(second(220)), "what was left before the move is left again");
}

#[test]
fn pausing_deducts_the_time_of_the_turn_and_gives_none_back() {
    let second = Duration::from_secs;
    let started = |clock: ClockSettings| {
        let mut table = table(9);
        table.begin(&NewGame { clock, ..wanted(9) }).unwrap();
        play(&mut table, &["cc"], second(100));
        table
    };
    // Pauses for 1000 s, starting at the given time.
    let pause = |table: &mut GameTable, at: u64| {
        table.pause(true, second(at));
        assert_eq!((table.flag_time(), table.check_flag(second(at + 900))), (None, false), "at {at}");
        table.pause(false, second(at + 1000));
    };
    let byo_yomi = ClockSettings::ByoYomi { main: 10.0, period: 5.0, periods: 3 };
    for times in [vec![4], vec![3, 1007], vec![12], vec![18], vec![12, 1016, 2018]] {
        let mut table = started(byo_yomi);
        let mut paused = 0;
        for at in times {
            pause(&mut table, 100 + at);
            paused += 1000;
            assert_eq!(table.flag_time(), Some(second(125 + paused)), "at {at}");
        }
    }
    // White is at 12 s: in the first period, with 3 s left.
    let mut table = started(byo_yomi);
    pause(&mut table, 112);
    let left = table.time_left(second(1112)).unwrap().1[Color::White];
    assert_eq!(left, (second(3), 3));
    let left = table.time_left(second(1119)).unwrap().1[Color::White];
    assert_eq!(left, (second(1), 2), "a period was used up");
    play(&mut table, &["gg"], second(1113));
    assert_eq!(table.clocks[Color::White].left(), second(5), "the end of the move renews the period");
    // Less than a second is left, and the pause does not add to it.
    let mut table = started(ClockSettings::Fischer { main: 10.0, increment: 5.0 });
    let at = second(110) - Duration::from_millis(20);
    table.pause(true, at);
    table.pause(false, second(500));
    assert_eq!(table.flag_time(), Some(second(500) + Duration::from_millis(20)));
    // The time runs out before the pause.
    let mut table = started(byo_yomi);
    table.pause(true, second(126));
    assert_eq!(table.phase, Phase::Over("B+T".to_owned()));
}

#[test]
fn names_of_a_record_are_text() {
    let mut table = table(9);
    table.load(b"(;SZ[9]PB[<script>alert(1)</script>]PW[\"]RE[<b>];B[cc])", false).unwrap();
    let state = table.state(NOW);
    assert_eq!(state["names"]["B"], "<script>alert(1)</script>");
    assert_eq!(state["phase"], "over");
}

#[test]
fn an_adaptive_level_changes_by_the_result_of_a_finished_game() {
    let adaptive = |level: &str| PlayerKind::Kosumi { level: level.to_owned() };
    let adapted = |table: &GameTable| table.state(Duration::ZERO)["adapted"].clone();
    let begun = |black, white| {
        let mut table = table(9);
        table.begin(&NewGame { black, white, ..wanted(9) }).unwrap();
        table
    };
    let mut game = begun(PlayerKind::Person, adaptive("auto:8k:2"));
    assert_eq!(adapted(&game), Value::Null);
    for (result, level) in
        [("B+R", "auto:5k:3"), ("W+3.5", "auto:11k:3"), ("0", "auto:8k:3"), ("?", ""), ("Void", "")]
    {
        game.phase = Phase::Over(result.to_owned());
        assert_eq!(adapted(&game), if level.is_empty() { Value::Null } else { level.into() }, "{result}");
    }
    // Two adaptive players, or none, give no new level.
    for black in [PlayerKind::Person, adaptive("auto:8k:2")] {
        let white = if black == PlayerKind::Person { adaptive("9k") } else { black.clone() };
        let mut other = begun(black, white);
        other.phase = Phase::Over("B+R".to_owned());
        assert_eq!(adapted(&other), Value::Null);
    }
    assert_eq!(game.name(Color::White, &[]).unwrap(), format!("Kosumi {} (8k)", env!("CARGO_PKG_VERSION")));
}

/// Checks that another table that restores the game remembers the same.
fn check_restored(it: &GameTable) {
    let remembered = it.remembered(None, NOW);
    let mut other = table(9);
    other.restore(&remembered, NOW).unwrap();
    assert_eq!(other.remembered(None, NOW), remembered);
    assert_eq!(other.game.to_move(), it.game.to_move());
}

#[test]
fn what_is_restored_is_what_was_remembered() {
    let opened = |text: &str| {
        let mut table = table(9);
        table.load(text.as_bytes(), false).unwrap();
        table
    };
    // Both sides play at the same point, and one of them twice.
    let mut same = opened("(;SZ[5]KM[0.5]RU[Chinese];B[aa](;W[bb])(;B[bb];W[cc])(;W[bb];B[dd]))");
    for node in 0..7 {
        same.look_at(same.tree.node(node).unwrap(), NOW);
        check_restored(&same);
    }
    // A result, and dead stones that can still be marked.
    let passed = opened("(;SZ[5]KM[0.5]RU[Chinese]RE[B+3.5];B[];W[])");
    assert!(matches!(passed.phase, Phase::Marking(_)));
    check_restored(&passed);
    // The end of a variation, whose result is not that of the game.
    let mut counted = opened("(;SZ[5]KM[0.5]RU[Tromp-Taylor](;B[aa];W[bb])(;B[];W[]))");
    counted.look_at(counted.tree.node(4).unwrap(), NOW);
    assert!(matches!(counted.phase, Phase::Over(_)));
    check_restored(&counted);
    assert!(!counted.remembered(None, NOW).text.contains("RE["));
    // The move from which the side to move follows is removed, or no longer the first.
    for node in [2, 3] {
        let mut turned = opened("(;SZ[5]KM[0.5]RU[Chinese];B[aa](;B[bb])(;W[cc]))");
        turned.look_at(turned.tree.node(1).unwrap(), NOW);
        turned.promote(turned.tree.node(3).unwrap()).unwrap();
        turned.remove(turned.tree.node(node).unwrap(), NOW).unwrap();
        assert_eq!(turned.game.to_move(), Color::Black);
        check_restored(&turned);
    }
    // The first move cannot be played, but names the side to move.
    let mut unplayed = table(9);
    unplayed.load(b"(;SZ[5]KM[0.5]RU[Chinese]AB[aa];W[aa])", true).unwrap();
    assert_eq!(unplayed.tree.to_move(unplayed.head), Some(unplayed.game.to_move()));
    // The game to which the study mode would return was removed.
    let mut studied = table(5);
    play(&mut studied, &["aa", "bb"], NOW);
    studied.study(true, NOW);
    studied.remove(studied.head, NOW).unwrap();
    check_restored(&studied);
    assert_eq!(studied.remembered(None, NOW).details.unwrap().studied_from, Some(1));
}
