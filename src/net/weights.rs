//! Weights of convolutions and matrices: 32-bit floats, or integers with a scale for each output.

use super::image::Image;
use super::tokens::MIN_WEIGHT;
use std::borrow::Cow;
use std::sync::Arc;

/// Weights of a convolution or a matrix, of shape `[rows][outputs]`, where the rows are the inputs, of each point of
/// the window in turn. Clones share them.
#[derive(Clone, PartialEq, Debug)]
pub struct Weights(Form);

#[derive(Clone, PartialEq, Debug)]
enum Form {
    Floats(Arc<Vec<f32>>),
    Integers(Integers),
}

impl From<Vec<f32>> for Weights {
    fn from(weights: Vec<f32>) -> Weights {
        Weights(Form::Floats(Arc::new(weights)))
    }
}

impl From<Integers> for Weights {
    fn from(integers: Integers) -> Weights {
        Weights(Form::Integers(integers))
    }
}

impl Weights {
    /// Returns the number of weights.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Floats(weights) => weights.len(),
            Form::Integers(integers) => integers.len(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the weights as floats. Integers are multiplied by their scales, each time anew.
    pub fn floats(&self) -> Cow<'_, [f32]> {
        match &self.0 {
            Form::Floats(weights) => Cow::Borrowed(weights),
            Form::Integers(integers) => Cow::Owned(integers.floats()),
        }
    }

    /// Returns the weights as floats that can be changed.
    pub fn to_mut(&mut self) -> &mut Vec<f32> {
        if let Form::Integers(integers) = &self.0 {
            self.0 = Form::Floats(Arc::new(integers.floats()));
        }
        let Form::Floats(weights) = &mut self.0 else { unreachable!("they are floats now") };
        Arc::make_mut(weights)
    }

    /// Returns the integers, if the weights are integers.
    pub(crate) fn integers(&self) -> Option<&Integers> {
        match &self.0 {
            Form::Floats(_) => None,
            Form::Integers(integers) => Some(integers),
        }
    }

    /// Returns the integers, if the weights are integers of this size.
    pub(crate) fn integers_of(&self, size: IntegerSize) -> Option<&Integers> {
        self.integers().filter(|integers| integers.size == size)
    }
}

/// Size of integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IntegerSize {
    Eight,
    Sixteen,
}

impl IntegerSize {
    /// Returns the number of bytes of an integer.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            IntegerSize::Eight => 1,
            IntegerSize::Sixteen => 2,
        }
    }
}

/// Largest magnitude of the 16-bit numbers that 16-bit weights are multiplied by. A larger one would leave fewer bits
/// for the weights.
pub(crate) const HALF_LEVELS: i32 = 4095;

/// Returns the largest magnitude of 16-bit weights with which the sum over all inputs always fits into 32 bits.
pub(crate) fn half_weight_levels(inputs: usize) -> i16 {
    let levels = (i32::MAX / HALF_LEVELS) as usize / inputs.max(1);
    levels.min(HALF_LEVELS as usize) as i16
}

/// Integers of shape `[rows][outputs]` with a scale for each output: a weight is its integer times the scale.
#[derive(Clone, Debug)]
pub(crate) struct Integers {
    pub(crate) size: IntegerSize,
    rows: usize,
    scales: Arc<[f32]>,
    /// File of the integers, little-endian, and their place in it.
    image: Arc<Image>,
    start: usize,
}

impl PartialEq for Integers {
    fn eq(&self, other: &Integers) -> bool {
        (self.size, self.rows, &self.scales) == (other.size, other.rows, &other.scales)
            && self.raw() == other.raw()
    }
}

impl Integers {
    /// Returns the integers at `start` in a file, which must contain them. The scales must be finite and not negative.
    pub(crate) fn new(
        size: IntegerSize,
        rows: usize,
        scales: Vec<f32>,
        image: Arc<Image>,
        start: usize,
    ) -> Integers {
        Integers { size, rows, scales: scales.into(), image, start }
    }

    /// Returns 8-bit integers in memory.
    pub(crate) fn of_bytes(integers: &[i8], scales: Vec<f32>) -> Integers {
        let bytes = bytemuck::cast_slice::<i8, u8>(integers).to_vec();
        let rows = integers.len() / scales.len().max(1);
        Integers::new(IntegerSize::Eight, rows, scales, Arc::new(Image::from(bytes)), 0)
    }

    /// Returns 16-bit integers in memory.
    pub(crate) fn of_halves(integers: &[i16], scales: Vec<f32>) -> Integers {
        let bytes: Vec<u8> = integers.iter().flat_map(|integer| integer.to_le_bytes()).collect();
        let rows = integers.len() / scales.len().max(1);
        Integers::new(IntegerSize::Sixteen, rows, scales, Arc::new(Image::from(bytes)), 0)
    }

    pub(crate) fn len(&self) -> usize {
        self.rows * self.scales.len()
    }

    /// Returns the scale of each output.
    pub(crate) fn scales(&self) -> &[f32] {
        &self.scales
    }

    /// Returns the bytes of the integers, as in the file.
    pub(crate) fn raw(&self) -> Vec<u8> {
        self.image.copy(self.start..self.start + self.len() * self.size.bytes())
    }

    /// Returns 8-bit integers, from −127 to 127.
    ///
    /// # Panics
    ///
    /// Panics if they have 16 bits.
    pub(crate) fn bytes(&self) -> Vec<i8> {
        assert_eq!(self.size, IntegerSize::Eight);
        let mut integers: Vec<i8> = bytemuck::cast_vec(self.raw());
        integers.iter_mut().for_each(|integer| *integer = (*integer).max(-i8::MAX));
        integers
    }

    /// Returns 16-bit integers, limited to [`half_weight_levels`] of the rows.
    ///
    /// # Panics
    ///
    /// Panics if they have 8 bits.
    pub(crate) fn halves(&self) -> Vec<i16> {
        assert_eq!(self.size, IntegerSize::Sixteen);
        let most = half_weight_levels(self.rows);
        let raw = self.raw();
        let (words, _) = raw.as_chunks::<2>();
        words.iter().map(|&word| i16::from_le_bytes(word).clamp(-most, most)).collect()
    }

    fn floats(&self) -> Vec<f32> {
        match self.size {
            IntegerSize::Eight => self.times_scales(&self.bytes()),
            IntegerSize::Sixteen => self.times_scales(&self.halves()),
        }
    }

    fn times_scales<T: Copy + Into<f32>>(&self, integers: &[T]) -> Vec<f32> {
        let mut weights = Vec::with_capacity(integers.len());
        for row in integers.chunks_exact(self.scales.len().max(1)) {
            weights.extend(row.iter().zip(&*self.scales).map(|(&integer, scale)| {
                let weight = integer.into() * scale;
                if weight.abs() < MIN_WEIGHT { 0.0 } else { weight }
            }));
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_integers_times_scales() {
        let bytes = Weights::from(Integers::of_bytes(&[1, -2, 127, i8::MIN, 0, 3], vec![0.5, 2.0]));
        assert_eq!(*bytes.floats(), [0.5, -4.0, 63.5, -254.0, 0.0, 6.0], "−128 counts as −127");
        assert_eq!(bytes.len(), 6);
        let halves = Weights::from(Integers::of_halves(&[300, -1, i16::MIN, 4095], vec![1e-31, 1.0]));
        assert_eq!(*halves.floats(), [300.0 * 1e-31, -1.0, 4095.0 * -1e-31, 4095.0]);
        let wide = Integers::of_halves(&[i16::MAX; 1024], vec![1.0]);
        assert_eq!(wide.halves(), [512; 1024]);
        // A change leaves other clones as they are.
        let mut changed = bytes.clone();
        changed.to_mut()[1] = 7.0;
        assert_eq!(*changed.floats(), [0.5, 7.0, 63.5, -254.0, 0.0, 6.0]);
        assert!(bytes.integers().is_some() && changed.integers().is_none() && bytes != changed);
        assert!(bytes.integers_of(IntegerSize::Sixteen).is_none());
        let mut floats = Weights::from(vec![1.0]);
        let shared = floats.clone();
        floats.to_mut()[0] = 2.0;
        assert_eq!((&*shared.floats(), &*floats.floats()), (&[1.0][..], &[2.0][..]));
    }

    /// The sum over all inputs must fit into 32 bits.
    #[test]
    fn sums_of_halves_fit() {
        for inputs in [0, 1, 100, 128, 512, 3333, 147_456] {
            let sum = i64::from(half_weight_levels(inputs)) * i64::from(HALF_LEVELS) * inputs as i64;
            assert!(sum <= i64::from(i32::MAX));
        }
    }
}
