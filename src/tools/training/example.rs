//! Training examples.

use crate::words::as_base64;
use kosumi_go::board::BoardSize;
use kosumi_net::{GLOBAL_FEATURES, Input, SPATIAL_FEATURES};
use serde::{Deserialize, Serialize};

/// Input features of a position in packed form. All features of points are 0 or 1 and take one bit each.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PackedInput {
    /// Number of columns of the board.
    pub width: usize,
    /// Number of rows of the board.
    pub height: usize,
    /// Planes of the features, with [`PackedInput::plane_bytes`] bytes each. A plane lists the points row by row from
    /// the top, with the first point in the highest bit.
    #[serde(with = "as_base64")]
    pub planes: Vec<u8>,
    /// Global features, as in [`Input`].
    pub global: [f32; GLOBAL_FEATURES],
}

impl PackedInput {
    /// Returns the number of bytes of a plane.
    pub fn plane_bytes(area: usize) -> usize {
        area.div_ceil(8)
    }

    /// Packs the features of a position.
    pub fn pack(input: &Input) -> PackedInput {
        let area = input.width * input.height;
        let bytes = PackedInput::plane_bytes(area);
        let mut planes = vec![0u8; SPATIAL_FEATURES * bytes];
        for (point, features) in input.spatial.chunks_exact(SPATIAL_FEATURES).enumerate() {
            for (feature, &value) in features.iter().enumerate() {
                debug_assert!(value == 0.0 || value == 1.0, "feature {feature} is {value}");
                if value != 0.0 {
                    planes[feature * bytes + point / 8] |= 0x80 >> (point % 8);
                }
            }
        }
        PackedInput { width: input.width, height: input.height, planes, global: input.global }
    }

    /// Unpacks the features.
    pub fn unpack(&self) -> Input {
        let area = self.width * self.height;
        let bytes = PackedInput::plane_bytes(area);
        let mut input = Input::zero(self.width, self.height);
        for point in 0..area {
            for feature in 0..SPATIAL_FEATURES {
                let bit = self.planes[feature * bytes + point / 8] << (point % 8) & 0x80;
                input.spatial[point * SPATIAL_FEATURES + feature] = f32::from(u8::from(bit != 0));
            }
        }
        input.global = self.global;
        input
    }
}

/// Training targets of a position, from the perspective of the side to move.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Targets {
    /// Move played, if there was one: the number of its point, counted row by row from the top, or the number of points
    /// for a pass.
    pub played: Option<u16>,
    /// Policy: moves and their shares, which sum to 1, in descending order. They are a search's visits or another
    /// network's policy. Empty if only the move played is known.
    pub policy: Vec<(u16, f32)>,
    /// Shares of win, loss and no result, which sum to 1; all 0 if unknown. A draw is half a win and half a loss.
    pub value: [f32; 3],
    /// Result that a search expected, from −1 to 1, if there was a search.
    pub expected: Option<f32>,
    /// Final score in points, komi included, if the game was counted.
    pub score: Option<f32>,
    /// Owner of each point at the end, row by row from the top, from −127 (the opponent) to 127, if known.
    pub ownership: Option<Vec<i8>>,
}

impl Targets {
    /// Targets of a position for which none is known.
    pub const UNKNOWN: Targets = Targets {
        played: None,
        policy: Vec::new(),
        value: [0.0; 3],
        expected: None,
        score: None,
        ownership: None,
    };
}

/// Position with its training targets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Example {
    /// Input features.
    pub input: PackedInput,
    /// Training targets.
    pub targets: Targets,
    /// Number of moves played before the position.
    pub ply: u16,
    /// Number of the game in its collection.
    pub game: u32,
}

impl Example {
    /// Returns the size of the board, or `None` if it is invalid.
    pub fn size(&self) -> Option<BoardSize> {
        BoardSize::new(self.input.width, self.input.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rng::Rng;

    #[test]
    fn packing_loses_nothing() {
        let mut rng = Rng::new(1);
        for (width, height) in [(1, 1), (3, 2), (4, 4), (9, 7), (19, 19), (25, 25)] {
            let mut input = Input::zero(width, height);
            for value in &mut input.spatial {
                *value = f32::from(u8::from(rng.chance(300)));
            }
            for value in &mut input.global {
                *value = rng.below(100) as f32 / 7.0;
            }
            assert_eq!(PackedInput::pack(&input).unpack(), input);
        }
    }
}
