//! Shards: files of positions from many games in mixed order, for training programs.
//!
//! A shard is a `.npz` file, which `numpy.load` opens. Positions are grouped by the size of their board. The arrays of
//! a group are named `19x19/…` (columns × rows). With *n* positions of *p* points each:
//!
//! | array | type | shape | content |
//! |---|---|---|---|
//! | `version` | u32 | 1 | [`SHARD_VERSION`], once per file |
//! | `…/planes` | u8 | n, 22, ⌈p/8⌉ | features of the points, one bit each, as in [`PackedInput`] |
//! | `…/global` | f32 | n, 19 | global features of the position |
//! | `…/played` | u16 | n | move played: a point, p for a pass, or 65,535 for none |
//! | `…/policy_move` | u16 | n, 16 | moves of the policy, in descending order of their shares |
//! | `…/policy_share` | u16 | n, 16 | shares of these moves in 65,535ths; all 0 if unknown |
//! | `…/value` | f32 | n, 3 | win, loss, no result; all 0 if unknown |
//! | `…/expected` | f32 | n | result that a search expected, −1 to 1; NaN if there was none |
//! | `…/score` | f32 | n | final score in points; NaN if unknown |
//! | `…/ownership` | i8 | n, p | owner of each point at the end, −127 to 127; −128 everywhere if unknown |
//! | `…/ply` | u16 | n | number of moves played before |
//! | `…/game` | u32 | n | number of the game in its collection |
//!
//! Points are counted row by row from the top. All data is from the perspective of the side to move. `policy_move`,
//! `policy_share`, `expected` and `ownership` are omitted if no position of the group has them.

use super::example::{Example, PackedInput};
use super::npz::NpzWriter;
use kosumi_go::board::BoardSize;
use kosumi_go::rng::Rng;
use kosumi_net::{GLOBAL_FEATURES, SPATIAL_FEATURES};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Version of the format. Readers refuse other versions.
pub const SHARD_VERSION: u32 = 1;

/// Number of moves of a policy in a shard.
const POLICY_MOVES: usize = 16;

/// Value for "no move" among the moves played.
const NO_MOVE: u16 = u16::MAX;

/// Value for "unknown" in the ownership.
const UNKNOWN_OWNER: i8 = i8::MIN;

/// Positions of a shard.
#[derive(Clone, Debug, Default)]
pub struct Shard {
    groups: BTreeMap<BoardSize, Vec<Example>>,
    len: usize,
}

impl Shard {
    /// Creates an empty shard.
    pub fn new() -> Shard {
        Shard::default()
    }

    /// Returns the number of positions.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the shard has no positions.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a position. A position with an invalid board size is dropped.
    pub fn push(&mut self, example: Example) {
        if let Some(size) = example.size() {
            self.groups.entry(size).or_default().push(example);
            self.len += 1;
        }
    }

    /// Shuffles the positions, so that positions of the same game are far apart.
    pub fn shuffle(&mut self, rng: &mut Rng) {
        for examples in self.groups.values_mut() {
            rng.shuffle(examples);
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails.
    pub fn write<W: Write>(&self, file: W) -> io::Result<W> {
        let mut out = NpzWriter::new(file);
        out.array("version", &[1], [SHARD_VERSION].into_iter())?;
        for (&size, examples) in &self.groups {
            write_group(&mut out, size, examples)?;
        }
        out.finish()
    }
}

fn write_group<W: Write>(out: &mut NpzWriter<W>, size: BoardSize, examples: &[Example]) -> io::Result<()> {
    let (n, area) = (examples.len(), size.area());
    let name = |array: &str| format!("{}x{}/{array}", size.columns(), size.rows());
    let each = || examples.iter();
    let targets = || examples.iter().map(|example| &example.targets);

    let bytes = PackedInput::plane_bytes(area);
    let planes = each().flat_map(|example| example.input.planes.iter().copied());
    out.array(&name("planes"), &[n, SPATIAL_FEATURES, bytes], planes)?;
    out.array(&name("global"), &[n, GLOBAL_FEATURES], each().flat_map(|example| example.input.global))?;
    out.array(&name("played"), &[n], targets().map(|targets| targets.played.unwrap_or(NO_MOVE)))?;
    if targets().any(|targets| !targets.policy.is_empty()) {
        let padded = |policy: &[(u16, f32)]| {
            let mut moves = [(0, 0); POLICY_MOVES];
            for (slot, &(mv, share)) in moves.iter_mut().zip(policy) {
                *slot = (mv, (share.clamp(0.0, 1.0) * 65535.0).round() as u16);
            }
            moves
        };
        let policies: Vec<_> = targets().map(|targets| padded(&targets.policy)).collect();
        let shape = [n, POLICY_MOVES];
        out.array(&name("policy_move"), &shape, policies.iter().flatten().map(|&(mv, _)| mv))?;
        out.array(&name("policy_share"), &shape, policies.iter().flatten().map(|&(_, share)| share))?;
    }
    out.array(&name("value"), &[n, 3], targets().flat_map(|targets| targets.value))?;
    if targets().any(|targets| targets.expected.is_some()) {
        out.array(&name("expected"), &[n], targets().map(|targets| targets.expected.unwrap_or(f32::NAN)))?;
    }
    out.array(&name("score"), &[n], targets().map(|targets| targets.score.unwrap_or(f32::NAN)))?;
    if targets().any(|targets| targets.ownership.is_some()) {
        let unknown = vec![UNKNOWN_OWNER; area];
        let owners = targets().flat_map(|targets| targets.ownership.as_ref().unwrap_or(&unknown).iter());
        out.array(&name("ownership"), &[n, area], owners.copied())?;
    }
    out.array(&name("ply"), &[n], each().map(|example| example.ply))?;
    out.array(&name("game"), &[n], each().map(|example| example.game))
}
