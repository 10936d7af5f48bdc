//! Layers of networks.
//!
//! Invariant: layers are created only by the reader and by [`random`](super::random), which ensure that the number of
//! weights matches the dimensions and that all weights are finite. The forward passes rely on this, hence the private
//! fields.

use super::weights::Weights;

/// Convolution with a window of odd size. Points outside the board count as zero.
#[derive(Clone, PartialEq, Debug)]
pub struct Conv {
    pub(crate) name: String,
    /// Number of rows of the window; odd.
    pub(crate) height: usize,
    /// Number of columns of the window; odd.
    pub(crate) width: usize,
    pub(crate) inputs: usize,
    /// Number of output channels.
    pub outputs: usize,
    /// Weights, of shape `[height][width][inputs][outputs]`, with the window's rows from the top.
    pub weights: Weights,
}

/// Matrix from one vector of channels to another.
#[derive(Clone, PartialEq, Debug)]
pub struct MatMul {
    pub(crate) name: String,
    pub(crate) inputs: usize,
    /// Number of output channels.
    pub outputs: usize,
    /// Weights, of shape `[inputs][outputs]`.
    pub weights: Weights,
}

/// Vector that is added to the outputs of a [`MatMul`].
#[derive(Clone, PartialEq, Debug)]
pub struct Bias {
    pub(crate) name: String,
    pub(crate) weights: Vec<f32>,
}

/// Batch normalisation at inference: a factor and a bias per channel.
#[derive(Clone, PartialEq, Debug)]
pub struct Norm {
    pub(crate) name: String,
    /// Number that is added to the variance. It is an `f64` so that its decimal text survives a round trip.
    pub(crate) epsilon: f64,
    pub(crate) mean: Vec<f32>,
    pub(crate) variance: Vec<f32>,
    pub(crate) scale: Option<Vec<f32>>,
    pub(crate) bias: Option<Vec<f32>>,
}

/// Factor and bias per channel that a [`Norm`] folds to: `x` becomes `x * scale + bias`.
#[derive(Clone, PartialEq, Debug)]
pub struct Affine {
    pub(crate) scale: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// Normalisation by the root mean square of a point's channels, as in transformers: `x` becomes `x / √(mean of the
/// channels' squares + ε) · scale`.
///
/// CITE: Zhang and Sennrich, "Root mean square layer normalization" (2019).
#[derive(Clone, PartialEq, Debug)]
pub struct RmsNorm {
    pub(crate) name: String,
    /// Number that is added to the mean square. It is an `f64` so that its decimal text survives a round trip.
    pub(crate) epsilon: f64,
    /// Factor per channel.
    pub(crate) scale: Vec<f32>,
}

/// [`RmsNorm`] with a bias, at the end of a trunk.
#[derive(Clone, PartialEq, Debug)]
pub struct TrunkRmsNorm {
    pub(crate) name: String,
    /// Number that is added to the mean square. It is an `f64` so that its decimal text survives a round trip.
    pub(crate) epsilon: f64,
    /// Whether the mean square is taken over all channels of all points together instead of per point.
    pub(crate) is_spatial: bool,
    /// Factor per channel.
    pub(crate) scale: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// Rotary embedding, which encodes the positions of queries and keys on the board.
///
/// Each pair of channels `(2p, 2p + 1)` of a query and of a key is rotated by an angle that grows with the column and
/// the row of its point. The product of a query and a key therefore depends on the offset between their points.
///
/// CITE: Su et al., "RoFormer: enhanced transformer with rotary position embedding" (2021).
#[derive(Clone, PartialEq, Debug)]
pub enum RotaryEmbedding {
    /// The first half of the pairs rotates with the row (counted from the top), the second half with the column. Within
    /// a half of `n` pairs, pair `p` rotates by `theta^(−p / n)` radians per row or column.
    Fixed {
        /// Name in the file.
        name: String,
        /// Base of the angles; above zero. It is an `f64` so that its decimal text survives a round trip.
        theta: f64,
    },
    /// Every pair of channels of every key head rotates by its own angles.
    Learned {
        /// Name in the file.
        name: String,
        /// Radians per column to the right and per row downwards, of shape `[key head][pair][right, down]`.
        frequencies: Vec<f32>,
    },
}

/// Activation function, which is applied to every number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activation {
    /// `x`
    Identity,
    /// `max(x, 0)`
    Relu,
    /// `x · tanh(ln(1 + eˣ))`. CITE: Misra, "Mish: a self regularized non-monotonic activation function" (2019).
    Mish,
    /// `x / (1 + e⁻ˣ)`. CITE: Elfwing et al., "Sigmoid-weighted linear units for neural network function
    /// approximation in reinforcement learning" (2017).
    Silu,
}

/// Activation and its name in the file.
#[derive(Clone, PartialEq, Debug)]
pub struct ActivationLayer {
    pub(crate) name: String,
    pub(crate) activation: Activation,
}

impl Norm {
    pub(crate) fn channels(&self) -> usize {
        self.mean.len()
    }

    /// Folds the four vectors into two: `(x − mean) / √(variance + ε) · scale + bias` is affine in `x`. This is done
    /// once for all points and saves a fifth of the memory traffic.
    pub(crate) fn folded(&self) -> Affine {
        let mut affine = Affine { scale: Vec::new(), bias: Vec::new() };
        for channel in 0..self.channels() {
            let scale = self.scale.as_ref().map_or(1.0, |scale| scale[channel]);
            let bias = self.bias.as_ref().map_or(0.0, |bias| bias[channel]);
            let scale = scale / (self.variance[channel] + self.epsilon as f32).sqrt();
            affine.scale.push(scale);
            affine.bias.push(bias - scale * self.mean[channel]);
        }
        affine
    }
}

impl RotaryEmbedding {
    /// Returns the rotation of pair `pair` (of `pairs`) of a key head in radians: per column to the right, and per row
    /// downwards.
    pub(crate) fn steps(&self, key_head: usize, pair: usize, pairs: usize) -> [f64; 2] {
        match self {
            RotaryEmbedding::Learned { frequencies, .. } => {
                let start = (key_head * pairs + pair) * 2;
                [frequencies[start], frequencies[start + 1]].map(f64::from)
            }
            RotaryEmbedding::Fixed { theta, .. } => {
                let half = pairs / 2;
                let step = theta.powf(-((pair % half) as f64) / half as f64);
                if pair < half { [0.0, step] } else { [step, 0.0] }
            }
        }
    }
}

impl Affine {
    pub(crate) fn is_finite(&self) -> bool {
        self.scale.iter().chain(&self.bias).all(|x| x.is_finite())
    }
}

impl Activation {
    /// All activations.
    pub const ALL: [Activation; 4] =
        [Activation::Identity, Activation::Relu, Activation::Mish, Activation::Silu];

    /// Returns the name in files of version 11 and later.
    pub(crate) const fn token(self) -> &'static str {
        match self {
            Activation::Identity => "ACTIVATION_IDENTITY",
            Activation::Relu => "ACTIVATION_RELU",
            Activation::Mish => "ACTIVATION_MISH",
            Activation::Silu => "ACTIVATION_SILU",
        }
    }

    pub(crate) fn from_token(token: &str) -> Option<Activation> {
        Activation::ALL.into_iter().find(|it| it.token() == token)
    }

    /// Returns the name for display.
    pub const fn name(self) -> &'static str {
        match self {
            Activation::Identity => "identity",
            Activation::Relu => "ReLU",
            Activation::Mish => "Mish",
            Activation::Silu => "SiLU",
        }
    }

    /// Applies the function to `x`.
    pub fn apply(self, x: f32) -> f32 {
        match self {
            Activation::Identity => x,
            Activation::Relu => x.max(0.0),
            Activation::Mish => mish(x),
            // For large negative numbers the divisor is infinite and the result is −0.
            Activation::Silu => x / (1.0 + (-x).exp()),
        }
    }
}

/// Computes `x · tanh(ln(1 + eˣ))`. With `n = eˣ(eˣ + 2)` the hyperbolic tangent is `n / (n + 2)`, which is accurate
/// for all `x`. Above 20 it rounds to 1 in `f32`, while `n` might overflow.
fn mish(x: f32) -> f32 {
    if x > 20.0 {
        return x;
    }
    let e = x.exp();
    let n = e * (e + 2.0);
    x * (n / (n + 2.0))
}

/// Layer of a network, for statistics.
#[derive(Clone, Copy, Debug)]
pub enum Layer<'n> {
    /// Convolution.
    Conv(&'n Conv),
    /// Matrix that is applied once per position.
    MatMul(&'n MatMul),
    /// Matrix that is applied to every point.
    PointMatMul(&'n MatMul),
    /// Bias.
    Bias(&'n Bias),
    /// Batch normalisation.
    Norm(&'n Norm),
    /// Normalisation by the root mean square.
    RmsNorm(&'n RmsNorm),
    /// Normalisation by the root mean square at the end of a trunk.
    TrunkRmsNorm(&'n TrunkRmsNorm),
    /// Rotary embedding of attention.
    Rotary(&'n RotaryEmbedding),
    /// Work of attention on pairs of points: the number of multiply-adds per pair.
    Pairs(usize),
}

impl Layer<'_> {
    /// Returns the number of parameters in the file, including the running means and variances of normalisations.
    pub fn parameters(self) -> usize {
        match self {
            Layer::Conv(conv) => conv.weights.len(),
            Layer::MatMul(matrix) | Layer::PointMatMul(matrix) => matrix.weights.len(),
            Layer::Bias(bias) => bias.weights.len(),
            Layer::Norm(norm) => {
                let optional = [&norm.scale, &norm.bias].into_iter().flatten().map(Vec::len).sum::<usize>();
                norm.mean.len() + norm.variance.len() + optional
            }
            Layer::RmsNorm(norm) => norm.scale.len(),
            Layer::TrunkRmsNorm(norm) => norm.scale.len() + norm.bias.len(),
            Layer::Rotary(RotaryEmbedding::Learned { frequencies, .. }) => frequencies.len(),
            Layer::Rotary(RotaryEmbedding::Fixed { .. }) | Layer::Pairs(_) => 0,
        }
    }

    /// Returns the number of multiply-adds per point of the board. Only convolutions and matrices that are applied to
    /// every point count. Work per position or per number is left out.
    pub fn multiply_adds(self) -> usize {
        match self {
            Layer::Conv(conv) => conv.weights.len(),
            Layer::PointMatMul(matrix) => matrix.weights.len(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mish_matches_definition() {
        let definition = |x: f64| x * x.exp().ln_1p().tanh();
        for step in -1200..=1200 {
            let x = step as f32 / 10.0;
            let (found, expected) = (f64::from(mish(x)), definition(f64::from(x)));
            assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1e-3), "{x}: {found} {expected}");
        }
        assert_eq!(mish(f32::MAX), f32::MAX);
        assert_eq!(mish(f32::MIN), 0.0);
    }

    #[test]
    fn silu_matches_definition() {
        for step in -1200..=1200 {
            let x = step as f32 / 10.0;
            let expected = f64::from(x) / (1.0 + (-f64::from(x)).exp());
            let found = f64::from(Activation::Silu.apply(x));
            assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1e-3), "{x}: {found} {expected}");
        }
        assert_eq!(Activation::Silu.apply(f32::MAX), f32::MAX);
        assert_eq!(Activation::Silu.apply(f32::MIN), 0.0);
    }

    #[test]
    fn activations_have_their_own_tokens() {
        for activation in Activation::ALL {
            assert_eq!(Activation::from_token(activation.token()), Some(activation));
        }
        assert_eq!(Activation::from_token("ACTIVATION_GELU"), None);
    }

    #[test]
    fn norm_folds_correctly() {
        let norm = Norm {
            name: "norm".to_owned(),
            epsilon: 0.25,
            mean: vec![1.0, -2.0],
            variance: vec![3.75, 0.0],
            scale: Some(vec![3.0, -1.0]),
            bias: Some(vec![0.5, 1.0]),
        };
        let affine = norm.folded();
        // (x − 1) / 2 · 3 + 0.5 and (x + 2) / 0.5 · −1 + 1
        assert_eq!(affine.scale, [1.5, -2.0]);
        assert_eq!(affine.bias, [-1.0, -3.0]);
        let plain = Norm { scale: None, bias: None, ..norm }.folded();
        assert_eq!((plain.scale, plain.bias), (vec![0.5, 2.0], vec![-0.5, 4.0]));
    }
}
