//! Zobrist keys: the key of a position is the XOR of one random 128-bit number per stone.
//!
//! CITE: Zobrist, "A new hashing method with application for game playing" (1970).
//!
//! The numbers are drawn once from ChaCha20 with the fixed seed below. A position therefore has the same key on every
//! machine and in every version, and keys may be stored and exchanged between programs. A change of the keys is a
//! breaking change. Golden values in the tests guard against it.
//!
//! A key has 128 bits because a collision in the superko test would make the engine reject a legal move. In a search of
//! 10^8 positions, the probability that two different positions share a key is 2.7·10^-4 with 64 bits and 10^-23 with
//! 128 bits.

use super::color::{ByColor, Color};
use super::point::{BoardSize, GRID, MAX_SIDE, Point};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::fmt;
use std::ops::{BitXor, BitXorAssign};
use std::sync::LazyLock;

/// Seed of all keys, in ASCII. It must never change.
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
    /// Writes 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Table of all keys. The only instance is created on first use by [`Zobrist::table`].
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
    /// Returns the only instance.
    pub fn table() -> &'static Zobrist {
        &TABLE
    }

    /// Draws all keys. Each family of keys has its own ChaCha stream, so a new family can be added without changing the
    /// others. Stream 0 holds the stones: row by row from the lower left, Black before White, always for the full 25×25
    /// grid.
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
        // The usual number of consecutive passes is zero. Its key is zero, so it costs nothing.
        table.passes = [Key::default(), draw(), draw()];
        table
    }

    /// Returns the key of a stone of `color` on `point`.
    #[inline]
    pub fn stone(&self, point: Point, color: Color) -> Key {
        self.stones[point.index()][color]
    }

    /// Returns the key of the empty board of the given size. It keeps boards of different sizes apart.
    pub fn size(&self, size: BoardSize) -> Key {
        self.sizes[size.columns() - 1][size.rows() - 1]
    }

    /// Returns the key of the side to move: zero for Black.
    #[inline]
    pub fn side(&self, to_move: Color) -> Key {
        match to_move {
            Color::Black => Key::default(),
            Color::White => self.white_to_move,
        }
    }

    /// Returns the key of a point that simple ko forbids.
    #[inline]
    pub fn ko(&self, point: Point) -> Key {
        self.ko[point.index()]
    }

    /// Returns the key of a point that only superko forbids.
    #[inline]
    pub fn banned(&self, point: Point) -> Key {
        self.banned[point.index()]
    }

    /// Returns the key of the number of consecutive passes. More than two count as two.
    #[inline]
    pub fn passes(&self, passes: u8) -> Key {
        self.passes[usize::from(passes.min(2))]
    }
}
