//! Replay of 200,000 games between people on 19×19, which contain superko, ko and handicaps of every kind.
//!
//! The records are not part of this project. The test searches for a Zstandard-compressed file with one record per
//! line, in the variable `KOSUMI_GAMES` and at `../shared/games/tygem-9d.sgf.zst`. It does nothing if there is no such
//! file or no program `zstd` to read it.

use crate::reference::ReferenceBoard;
use kosumi_go::board::{BoardSize, Color, Move, Point};
use kosumi_go::game::{Game, IllegalMove};
use kosumi_go::rules::{KoRule, Rules};
use kosumi_test_support::{Requirement, require};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn records() -> Option<PathBuf> {
    let named = std::env::var_os("KOSUMI_GAMES").map(PathBuf::from);
    named.or_else(|| kosumi_test_support::shared("games/tygem-9d.sgf.zst"))
}

/// Returns the value of the first `name[…]` in a record.
fn property<'r>(record: &'r str, name: &str) -> Option<&'r str> {
    let start = record.find(&format!("{name}["))? + name.len() + 1;
    record[start..].split(']').next()
}

/// Returns the moves `;B[pd];W[dd]…` of a record without variations, or `None` if one of them is not a move.
fn moves(record: &str, size: BoardSize) -> Option<Vec<(Color, Move)>> {
    let mut moves = Vec::new();
    for node in record.split(';') {
        let color = match node.get(..2) {
            Some("B[") => Color::Black,
            Some("W[") => Color::White,
            _ => continue,
        };
        let mv = match node[2..].split(']').next()?.as_bytes() {
            [] | b"tt" => Move::Pass,
            &[column, row] => {
                let index = |letter: u8| usize::from(letter).checked_sub(usize::from(b'a'));
                // SGF counts rows from the top.
                let row = (size.rows() - 1).checked_sub(index(row)?)?;
                Move::Play(size.point(index(column)?, row)?)
            }
            _ => return None,
        };
        moves.push((color, mv));
    }
    Some(moves)
}

#[derive(Default, Debug)]
struct Tally {
    games: usize,
    unreadable: usize,
    moves: usize,
    captured: u64,
    /// Moves that the rules forbid but that were played nevertheless, by reason.
    objections: BTreeMap<String, usize>,
    /// Moves that cannot be played, by reason. The rest of such a record is skipped.
    impossible: BTreeMap<String, usize>,
    /// Number of games with a move that superko forbids.
    superko_games: usize,
    longest: usize,
    /// Time spent in the game alone, without reading.
    playing: Duration,
}

fn replay(record: &str, rules: Rules, tally: &mut Tally) {
    let side = property(record, "SZ").and_then(|text| text.parse().ok()).unwrap_or(19);
    let Some((size, moves)) = BoardSize::square(side).and_then(|size| Some((size, moves(record, size)?)))
    else {
        tally.unreadable += 1;
        return;
    };
    let mut game = Game::new(size, rules, 6.5);
    let mut superko = false;
    for chunk in moves.chunks(50) {
        let started = Instant::now();
        let mut refused = None;
        for &(color, mv) in chunk {
            match game.play_tolerant(color, mv) {
                Ok(None) => {}
                Ok(Some(objection)) => {
                    superko |= objection == IllegalMove::Superko;
                    *tally.objections.entry(objection.to_string()).or_default() += 1;
                }
                Err(reason) => {
                    refused = Some(reason);
                    break;
                }
            }
        }
        tally.playing += started.elapsed();
        assert_eq!(game.board().key(), game.board().recomputed_key());
        if let Some(reason) = refused {
            *tally.impossible.entry(reason.to_string()).or_default() += 1;
            break;
        }
    }
    tally.games += 1;
    tally.superko_games += usize::from(superko);
    tally.moves += game.records().len();
    tally.longest = tally.longest.max(game.records().len());
    tally.captured += Color::BOTH.map(|color| u64::from(game.board().prisoners(color))).iter().sum::<u64>();
    // One game in a hundred is checked completely.
    if tally.games.is_multiple_of(100) {
        check_whole(&game);
    }
}

/// Replays the game on the slow board, and undoes it to its beginning.
fn check_whole(game: &Game) {
    game.board().check_consistency();
    let mut slow = ReferenceBoard::new(game.size());
    for record in game.records() {
        if let Move::Play(point) = record.mv {
            slow = slow.after(point, record.color);
        }
    }
    assert_eq!(ReferenceBoard::from(game.board()), slow);
    let mut game = game.clone();
    while game.undo().is_some() {}
    let stones: Vec<(Point, Color)> = game.board().stones().collect();
    assert_eq!(stones, []);
    assert_eq!(game.graph_key(), game.cleared().graph_key());
}

/// Replays the first `limit` records. Returns `None` if no records are available.
fn replay_all(ko: KoRule, limit: usize) -> Option<Tally> {
    let file = records()?;
    let unpacked = Command::new("zstd").arg("-dcq").arg(file).stdout(Stdio::piped()).spawn();
    let mut unpacked =
        require(Requirement::Zstd, unpacked.map_err(|_| "there is no program zstd".to_owned()))?;
    let mut tally = Tally::default();
    let lines = BufReader::new(unpacked.stdout.take().expect("its output is piped")).lines();
    for line in lines.take(limit) {
        let rules = Rules { ko, suicide: false, ..Rules::default() };
        replay(&line.expect("text"), rules, &mut tally);
    }
    // The process may wait for a reader that no longer exists.
    let _ = unpacked.kill();
    let _ = unpacked.wait();
    let rate = tally.moves as f64 / tally.playing.as_secs_f64();
    eprintln!("{ko:?}: {tally:?}, {rate:.0} moves/s");
    Some(tally)
}

#[test]
fn two_thousand_records() {
    for ko in [KoRule::Positional, KoRule::Simple] {
        if let Some(tally) = replay_all(ko, 2000) {
            assert!(tally.games > 0 && tally.unreadable == 0 && tally.impossible.is_empty(), "{tally:?}");
        }
    }
}

#[test]
#[ignore = "minutes: cargo test --release -p kosumi-go --test rules records -- --ignored --nocapture"]
fn all_records() {
    for ko in [KoRule::Positional, KoRule::Simple] {
        if let Some(tally) = replay_all(ko, usize::MAX) {
            assert!(tally.games > 0 && tally.unreadable == 0, "{tally:?}");
        }
    }
}
