//! Symmetries of the board. A network evaluates each of the eight images of a position slightly differently.
//!
//! [`image`] transforms the input of a network, and [`restore`] transforms its outputs back. All eight symmetries apply
//! to every board. Those that swap columns and rows turn a board that is wider than high into one that is higher than
//! wide.

use super::input::{Input, SPATIAL_FEATURES, index};
use super::output::Output;
use kosumi_go::board::{BoardSize, Symmetry};

/// Returns the symmetry with this number in KataGo, or `None` from 8 on. Bit 0 of the number mirrors top and bottom,
/// bit 1 mirrors left and right, and bit 2 then mirrors at the diagonal from the **top** left.
pub fn by_katago_number(number: u8) -> Option<Symmetry> {
    let (rows, columns) = (number & 1, number >> 1 & 1);
    // Our symmetries mirror at the diagonal from the bottom left. Mirroring that both ways gives the other diagonal.
    let code = match number {
        0..4 => columns | rows << 1,
        4..8 => 4 | (1 - columns) | (1 - rows) << 1,
        _ => return None,
    };
    Some(Symmetry::ALL[usize::from(code)])
}

/// Writes the image of `input` under `symmetry` to `image`. Allocates nothing if `image` was used for a board of that
/// area before.
pub fn image(input: &Input, symmetry: Symmetry, image: &mut Input) {
    let Some(size) = BoardSize::new(input.width, input.height) else {
        image.clone_from(input);
        return;
    };
    let image_size = symmetry.image_size(size);
    image.clear(image_size);
    image.global = input.global;
    image.metadata.clone_from(&input.metadata);
    for point in size.points() {
        let from = index(size, point) * SPATIAL_FEATURES;
        let to = index(image_size, symmetry.apply(size, point)) * SPATIAL_FEATURES;
        image.spatial[to..to + SPATIAL_FEATURES]
            .copy_from_slice(&input.spatial[from..from + SPATIAL_FEATURES]);
    }
}

/// Transforms a value per point of the image back to the points of a board of `size`.
///
/// `image` holds the values of the image's points and `points` receives those of the board's points. Both have
/// `size.area()` entries, row by row from the top.
///
/// # Panics
///
/// Panics if `image` or `points` does not have one entry per point.
pub fn restore(size: BoardSize, symmetry: Symmetry, image: &[f32], points: &mut [f32]) {
    assert_eq!((image.len(), points.len()), (size.area(), size.area()), "one value per point is required");
    let image_size = symmetry.image_size(size);
    for point in size.points() {
        points[index(size, point)] = image[index(image_size, symmetry.apply(size, point))];
    }
}

/// Transforms the output of a network for the image of a board of `size` back to the points of that board.
pub fn restore_output(size: BoardSize, symmetry: Symmetry, mut output: Output) -> Output {
    let restored = |image: &[f32]| {
        let mut points = vec![0.0; image.len()];
        restore(size, symmetry, image, &mut points);
        points
    };
    output.policy = restored(&output.policy);
    output.ownership = restored(&output.ownership);
    output.optimistic_policy = output.optimistic_policy.as_deref().map(restored);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the column and row, counted from the top left, to which KataGo's symmetry moves column `x` and row `y`,
    /// by KataGo's definition.
    fn katago(number: u8, size: BoardSize, mut x: usize, mut y: usize) -> (usize, usize) {
        if number & 2 != 0 {
            x = size.columns() - 1 - x;
        }
        if number & 1 != 0 {
            y = size.rows() - 1 - y;
        }
        if number & 4 != 0 { (y, x) } else { (x, y) }
    }

    /// Returns an input in which all spatial features differ.
    fn numbered(width: usize, height: usize) -> Input {
        let mut input = Input::zero(width, height);
        input.spatial.iter_mut().enumerate().for_each(|(number, feature)| *feature = number as f32);
        input.global[5] = 0.5;
        input
    }

    #[test]
    fn symmetry_numbers_match_katago() {
        for (width, height) in [(3, 3), (4, 2), (1, 5), (25, 24)] {
            let (input, size) = (numbered(width, height), BoardSize::new(width, height).unwrap());
            let mut turned = Input::zero(1, 1);
            for number in 0..8 {
                image(&input, by_katago_number(number).unwrap(), &mut turned);
                for y in 0..height {
                    for x in 0..width {
                        let (to_x, to_y) = katago(number, size, x, y);
                        assert_eq!(turned.point(to_x, to_y), input.point(x, y), "{number} {x} {y}");
                    }
                }
                assert_eq!(turned.global, input.global);
            }
        }
        assert_eq!(by_katago_number(8), None);
    }

    #[test]
    fn outputs_are_restored() {
        for (width, height) in [(3, 3), (4, 2), (1, 5), (25, 24)] {
            let (input, size) = (numbered(width, height), BoardSize::new(width, height).unwrap());
            for symmetry in Symmetry::ALL {
                let (mut turned, mut back) = (Input::zero(1, 1), Input::zero(1, 1));
                image(&input, symmetry, &mut turned);
                image(&turned, symmetry.inverse(), &mut back);
                assert_eq!(back, input, "{symmetry:?}");
                // The output of the imaginary network is one feature of each point.
                let feature = |input: &Input| -> Vec<f32> {
                    input.spatial.chunks_exact(SPATIAL_FEATURES).map(|point| point[3]).collect()
                };
                let output = Output {
                    policy: feature(&turned),
                    ownership: feature(&turned),
                    optimistic_policy: Some(feature(&turned)),
                    ..Output::default()
                };
                let restored = restore_output(size, symmetry, output);
                let expected = feature(&input);
                assert_eq!(restored.policy, expected);
                assert_eq!(restored.ownership, expected);
                assert_eq!(restored.optimistic_policy, Some(expected));
            }
        }
    }
}
