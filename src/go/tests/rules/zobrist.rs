//! Tests of the Zobrist keys: constant, random and independent.

use kosumi_go::board::{Board, BoardSize, Color, Key, Point, Zobrist};
use std::collections::HashSet;

fn size(columns: usize, rows: usize) -> BoardSize {
    BoardSize::new(columns, rows).expect("a size between 1 and 25")
}

fn sizes() -> impl Iterator<Item = BoardSize> {
    (1..=25).flat_map(|columns| (1..=25).map(move |rows| size(columns, rows)))
}

fn stone_keys(size: BoardSize) -> Vec<u128> {
    let table = Zobrist::table();
    size.points().flat_map(|point| Color::BOTH.map(|color| table.stone(point, color).0)).collect()
}

/// Returns all keys except the one that is zero on purpose.
fn all_keys() -> Vec<u128> {
    let table = Zobrist::table();
    let mut keys = stone_keys(size(25, 25));
    keys.extend(size(25, 25).points().flat_map(|point| [table.ko(point).0, table.banned(point).0]));
    keys.extend(sizes().map(|size| table.size(size).0));
    keys.extend([table.side(Color::White), table.passes(1), table.passes(2)].map(|key| key.0));
    keys
}

/// Expected keys, in the order of the test below. A change of any of them is a breaking change.
const GOLDEN: [&str; 11] = [
    "ba1b8c79e2c021cff89b74a5c4a8619c",
    "bae825a3c740bbde5c354accc651db12",
    "1010b75dd6f673376918f8e7fa856715",
    "2a4054c2ff03ef801e97f6848c5d5403",
    "cd857578801ebf364f2d90221e91d513",
    "758e3d28928bdc4f2593d0dae35c55bd",
    "9059d58d2cf08bc1598c5915206f40e6",
    "2669ac76a4211fa6c548b0a888a1a1d6",
    "5596fef2d3cc8c804e3e9a95abba9c69",
    "be5334c39f6f5c9458610b0289b7ca35",
    "35205af536fd99f7d8e786b33ef4e187",
];

#[test]
fn keys_are_the_same_for_ever() {
    let table = Zobrist::table();
    let a1 = Point::new(0, 0);
    let golden = [
        (table.stone(a1, Color::Black), GOLDEN[0]),
        (table.stone(a1, Color::White), GOLDEN[1]),
        (table.stone(Point::new(24, 24), Color::White), GOLDEN[2]),
        (table.ko(a1), GOLDEN[3]),
        (table.banned(a1), GOLDEN[4]),
        (table.size(size(19, 19)), GOLDEN[5]),
        (table.side(Color::White), GOLDEN[6]),
        (table.passes(1), GOLDEN[7]),
        (table.passes(2), GOLDEN[8]),
    ];
    let drawing = ". X O
                   X O .
                   . X O";
    let position: Board = drawing.parse().expect("drawing");
    let mut played = Board::new(size(9, 9));
    for (column, row, color) in [(2, 2, Color::Black), (6, 6, Color::White), (4, 4, Color::Black)] {
        played.play_unchecked(Point::new(column, row), color);
    }
    let positions = [(position.key(), GOLDEN[9]), (played.key(), GOLDEN[10])];
    for (index, (key, expected)) in golden.into_iter().chain(positions).enumerate() {
        assert_eq!(key.to_string(), expected, "number {index}");
    }
    assert_eq!((table.side(Color::Black), table.passes(0)), (Key::default(), Key::default()));
}

#[test]
fn keys_are_nonzero_and_distinct() {
    let keys = all_keys();
    let different: HashSet<u128> = keys.iter().copied().collect();
    assert_eq!(different.len(), keys.len());
    assert!(!different.contains(&0));
    // The halves of the keys also differ: the low half is the hash in hash tables.
    assert_eq!(keys.iter().map(|&key| key as u64).collect::<HashSet<_>>().len(), keys.len());
    assert_eq!(keys.iter().map(|&key| (key >> 64) as u64).collect::<HashSet<_>>().len(), keys.len());
}

#[test]
fn every_bit_is_set_in_half_of_the_keys() {
    let keys = all_keys();
    let half = keys.len() as f64 / 2.0;
    // Five standard deviations of a fair coin. Chance exceeds this bound in one of ten thousand such tests.
    let bound = 5.0 * (keys.len() as f64).sqrt() / 2.0;
    for bit in 0..128 {
        let set = keys.iter().filter(|&&key| key >> bit & 1 == 1).count() as f64;
        assert!((set - half).abs() < bound, "bit {bit}: {set} of {}", keys.len());
    }
    for (first, second) in (0..128).flat_map(|a| (0..a).map(move |b| (b, a))) {
        let equal = keys.iter().filter(|&&key| (key >> first ^ key >> second) & 1 == 0).count() as f64;
        assert!((equal - half).abs() < 1.2 * bound, "bits {first} and {second}: {equal}");
    }
}

/// Returns the number of linearly independent keys.
fn rank(keys: impl IntoIterator<Item = u128>) -> usize {
    // Vectors indexed by their highest bit.
    let mut basis = [0u128; 128];
    let mut rank = 0;
    for mut key in keys {
        while key != 0 {
            let top = 127 - key.leading_zeros() as usize;
            if basis[top] == 0 {
                basis[top] = key;
                rank += 1;
                break;
            }
            key ^= basis[top];
        }
    }
    rank
}

#[test]
fn keys_of_stones_are_independent() {
    for size in sizes() {
        let keys = stone_keys(size);
        let (rank, most) = (rank(keys.iter().copied()), keys.len().min(128));
        // About 128 random numbers of 128 bits are occasionally dependent: here those of 3×22 and 4×16. It would take
        // about 64 stones to cancel out.
        let gap = usize::from((120..136).contains(&keys.len()));
        assert!((most - gap..=most).contains(&rank), "{size}: {rank} of {most}");
    }
}

#[test]
fn no_four_stones_cancel() {
    // If up to four different keys cancelled out, two different pairs would have the same sum.
    let keys = stone_keys(size(25, 25));
    let mut sums = Vec::with_capacity(keys.len() * (keys.len() - 1) / 2 + keys.len() + 1);
    sums.push(0);
    for (index, &key) in keys.iter().enumerate() {
        sums.push(key);
        sums.extend(keys[..index].iter().map(|&other| key ^ other));
    }
    sums.sort_unstable();
    assert!(sums.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn boards_of_different_sizes_share_no_key() {
    let mut keys = HashSet::new();
    for size in sizes() {
        let mut board = Board::new(size);
        assert!(keys.insert(board.key()), "empty {size}");
        board.play_unchecked(Point::new(0, 0), Color::Black);
        assert!(keys.insert(board.key()) || size.area() == 1, "a stone on {size}");
    }
}
