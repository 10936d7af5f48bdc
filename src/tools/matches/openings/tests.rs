use super::*;
use kosumi_engine::{Engine, EngineSettings, SearchRequest};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

fn boards(sizes: &[usize]) -> Vec<GameBoard> {
    sizes.iter().map(|&side| GameBoard { size: BoardSize::square(side).unwrap(), komi: 7.5 }).collect()
}

fn openings(source: &Source, sizes: &[usize], seed: u64) -> Openings {
    Openings::load(source, 6, &boards(sizes), Rules::default(), seed).unwrap()
}

fn played(size: BoardSize, opening: &Opening) -> Game {
    let mut game = Game::new(size, Rules::default(), 7.5);
    for &mv in &opening.moves {
        game.play(game.to_move(), mv).unwrap();
    }
    game
}

#[test]
fn words() {
    assert_eq!(Source::parse("none"), Ok(Source::None));
    assert_eq!(Source::parse("0"), Ok(Source::None));
    assert_eq!(Source::parse("builtin"), Ok(Source::BuiltIn));
    assert_eq!(Source::parse("6"), Ok(Source::Random(6)));
    assert_eq!(Source::parse("./6"), Ok(Source::Records("./6".into())));
    assert!(Source::parse("").is_err() && Source::parse("101").is_err());
}

#[test]
fn built_in_openings_are_legal_and_no_two_are_mirror_images() {
    for (side, list) in BUILT_IN {
        let size = BoardSize::square(*side).unwrap();
        let Book::List { openings, .. } = built_in(size) else { panic!("no list") };
        let mut seen = HashSet::new();
        for (opening, text) in openings.iter().zip(*list) {
            assert_eq!(opening.moves.len(), text.split(' ').count(), "{text}");
            let game = played(size, opening);
            assert_eq!(game.board().stone_count(), opening.moves.len());
            assert!(
                seen.insert((game.board().canonical_key(), game.to_move())),
                "{side}: {text} is there twice"
            );
        }
    }
}

#[test]
fn every_opening_comes_before_one_comes_again() {
    let boards = boards(&[9]);
    let all = openings(&Source::BuiltIn, &[9], 7);
    let count = BUILT_IN[0].1.len() as u32;
    let get = |nth| all.get(&boards, 0, nth, Rules::default());
    let name = |nth: u32| get(nth).name.split('/').next().unwrap().to_owned();
    let first: Vec<String> = (0..count).map(name).collect();
    let second: Vec<String> = (count..2 * count).map(name).collect();
    assert_eq!(first.iter().collect::<HashSet<_>>().len(), count as usize);
    assert_eq!(second.iter().collect::<HashSet<_>>().len(), count as usize);
    assert_ne!(first, second, "in another order");
    // Equal settings give equal openings, and another seed gives others.
    let again = openings(&Source::BuiltIn, &[9], 7);
    assert!((0..30).all(|nth| get(nth) == again.get(&boards, 0, nth, Rules::default())));
    let other = openings(&Source::BuiltIn, &[9], 8);
    assert!((0..30).any(|nth| get(nth) != other.get(&boards, 0, nth, Rules::default())));
}

#[test]
fn random_openings_make_sense() {
    for (side, moves) in [(2, 3), (5, 4), (9, 6), (13, 8), (19, 10)] {
        let boards = boards(&[side]);
        let all = openings(&Source::Random(moves), &[side], 3);
        let mut different = HashSet::new();
        for nth in 0..50 {
            let opening = all.get(&boards, 0, nth, Rules::default());
            let game = played(boards[0].size, &opening);
            let points: Vec<Point> = game.board().stones().map(|(point, _)| point).collect();
            if side >= 9 {
                assert_eq!(opening.moves.len(), moves as usize, "{side}");
                assert!(points.iter().all(|&point| boards[0].size.line(point) >= 3), "{opening:?}");
                for (index, &point) in points.iter().enumerate() {
                    assert!(points[..index].iter().all(|&other| distance(point, other) >= 2), "{opening:?}");
                }
            }
            different.insert(opening.moves);
        }
        assert!(different.len() > if side >= 9 { 45 } else { 5 }, "{side}: {}", different.len());
    }
}

#[test]
fn openings_from_records() {
    let scratch = tempfile::TempDir::new().unwrap();
    let folder = scratch.path();
    fs::create_dir_all(folder.join("sub")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("a.sgf", "(;SZ[9];B[ee];W[cc];B[gg];W[cg];B[gc];W[ce];B[ge])");
    write("sub/b.sgf", "(;SZ[9];B[cc];W[gg];B[];W[ee])");
    write("same.sgf", "(;SZ[9];B[ee];W[cc];B[gg];W[cg];B[gc];W[ce];B[ec])");
    write("handicap.sgf", "(;SZ[9]HA[2]AB[cc][gg];W[ee])");
    write("white.sgf", "(;SZ[9];W[ee];B[cc])");
    write("large.sgf", "(;SZ[13];B[dd])");
    write("notes.txt", "no record");
    let names = |side: usize| {
        let all =
            Openings::load(&Source::Records(folder.to_owned()), 6, &boards(&[side]), Rules::default(), 1);
        all.map(|all| match &all.books[0] {
            Book::List { openings, .. } => openings.iter().map(|opening| opening.name.clone()).collect(),
            _ => Vec::new(),
        })
    };
    let nine: Vec<String> = names(9).unwrap();
    let sub = Path::new("sub").join("b.sgf").display().to_string();
    assert_eq!(nine, ["a.sgf@6".to_owned(), format!("{sub}@2")]);
    assert_eq!(names(13).unwrap(), ["large.sgf@1"]);
    assert!(names(19).unwrap_err().to_string().contains("no openings for 19x19"));
    write("broken.sgf", "nothing");
    assert!(format!("{:#}", names(9).unwrap_err()).contains("broken.sgf"));
    assert!(names(9).is_err());
}

/// Checks the statement about balance at [`BUILT_IN`]. Playouts are imprecise, but they can tell a handicap from an
/// even game.
#[test]
#[ignore = "minutes: cargo test --profile checked --lib the_built_in_openings_are_even -- --ignored"]
fn the_built_in_openings_are_even() {
    for (side, list) in BUILT_IN {
        let size = BoardSize::square(*side).unwrap();
        let defaults = EngineSettings::default();
        let settings = EngineSettings { threads: 1, memory_mebibytes: 64, playouts: Some(2000), ..defaults };
        let mut engine = Engine::new(settings);
        let Book::List { openings, .. } = built_in(size) else { panic!("no list") };
        for (opening, text) in openings.iter().zip(*list) {
            engine.set_size(size);
            engine.set_komi(7.5);
            for &mv in &opening.moves {
                engine.play(engine.game().to_move(), mv).unwrap();
            }
            engine.regression_move(engine.game().to_move(), SearchRequest::new(&|| false));
            let black = (1.0 + engine.last_report().unwrap().value) / 2.0;
            assert!((0.4..=0.6).contains(&black), "{side} {text}: {black}");
        }
    }
}
