//! The key of a position: one random 128-bit number for every intersection and colour, XORed together.
//!
//! CITE: Zobrist, "A new hashing method with application for game playing" (1970).
//!
//! The numbers are drawn once from ChaCha20 with a seed that is written down below, so a position has the same
//! key on every machine and in every version: keys may be stored and compared between programs. Changing them
//! is a breaking change, held by golden values in the tests.
//!
//! 128 bits, because a superko ban on a collision would refuse a legal move: with 64 bits, a search of 10^8
//! positions merges two different ones with a probability of 2.7·10^-4; with 128 bits, of 10^-23.

use super::color::{ByColor, Color};
use super::point::{BoardSize, GRID, MAX_SIDE, Point};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::fmt;
use std::ops::{BitXor, BitXorAssign};
use std::sync::LazyLock;

/// The seed of all keys, as ASCII. Never changes.
const SEED: [u8; 32] = *b"Kosumi: Zobrist keys, version 1.";

/// A 128-bit hash value.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, serde::Serialize, serde::Deserialize,
)]
pub struct Key(pub u128);

impl BitXor for Key {
    type Output = Key;
    #[inline]
    fn bitxor(self, other: Key) -> Key {
        Key(self.0 ^ other.0)
    }
}

impl BitXorAssign for Key {
    #[inline]
    fn bitxor_assign(&mut self, other: Key) {
        self.0 ^= other.0;
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Key {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// All keys. There is one table, made on first use: [`Zobrist::table`].
pub struct Zobrist {
    stones: [ByColor<Key>; GRID],
    ko: [Key; GRID],
    banned: [Key; GRID],
    sizes: [[Key; MAX_SIDE]; MAX_SIDE],
    white_to_move: Key,
    passes: [Key; 3],
}

impl fmt::Debug for Zobrist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Zobrist")
    }
}

static TABLE: LazyLock<Zobrist> = LazyLock::new(Zobrist::draw);

impl Zobrist {
    /// The one table.
    pub fn table() -> &'static Zobrist {
        &TABLE
    }

    /// Draws every key. Each family of keys has a ChaCha stream of its own, so that a new family can be added
    /// without changing the others. Stones (stream 0): row by row from the lower left, Black then White, always
    /// for the full 25×25 grid.
    fn draw() -> Zobrist {
        let stream = |number: u64| {
            let mut rng = ChaCha20Rng::from_seed(SEED);
            rng.set_stream(number);
            move || Key(u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64()))
        };
        let grid = BoardSize::square(MAX_SIDE);
        let points = || grid.iter().flat_map(|size| size.points());
        let mut table = Zobrist {
            stones: [ByColor::default(); GRID],
            ko: [Key::default(); GRID],
            banned: [Key::default(); GRID],
            sizes: [[Key::default(); MAX_SIDE]; MAX_SIDE],
            white_to_move: Key::default(),
            passes: [Key::default(); 3],
        };
        let mut draw = stream(0);
        for point in points() {
            table.stones[point.index()] = ByColor::new(draw(), draw());
        }
        let mut draw = stream(1);
        for point in points() {
            table.ko[point.index()] = draw();
        }
        let mut draw = stream(2);
        for point in points() {
            table.banned[point.index()] = draw();
        }
        let mut draw = stream(3);
        table.sizes.iter_mut().flatten().for_each(|key| *key = draw());
        let mut draw = stream(4);
        table.white_to_move = draw();
        // No consecutive pass is the usual case and costs nothing: its key is zero.
        table.passes = [Key::default(), draw(), draw()];
        table
    }

    /// The key of a stone of `color` on `point`.
    #[inline]
    pub fn stone(&self, point: Point, color: Color) -> Key {
        self.stones[point.index()][color]
    }

    /// The key of the empty board of a size: it keeps boards of different sizes apart.
    pub fn size(&self, size: BoardSize) -> Key {
        self.sizes[size.columns() - 1][size.rows() - 1]
    }

    /// XORed in when White is to move.
    #[inline]
    pub fn side(&self, to_move: Color) -> Key {
        match to_move {
            Color::Black => Key::default(),
            Color::White => self.white_to_move,
        }
    }

    /// XORed in for a point that simple ko forbids.
    #[inline]
    pub fn ko(&self, point: Point) -> Key {
        self.ko[point.index()]
    }

    /// XORed in for every point that only superko forbids.
    #[inline]
    pub fn banned(&self, point: Point) -> Key {
        self.banned[point.index()]
    }

    /// XORed in for the number of consecutive passes; more than two count as two.
    #[inline]
    pub fn passes(&self, passes: u8) -> Key {
        self.passes[usize::from(passes.min(2))]
    }
}
