//! Elementwise operations, and pooling over all points of a channel.

use super::simd::Simd;
use crate::layer::Activation;

/// Size of a part of a plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) points: usize,
    /// Number of channels; a multiple of the vector length.
    pub(super) channels: usize,
}

/// Normalisation and activation: `act(x · scale + bias)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct NormAct<'n> {
    pub(super) scale: &'n [f32],
    pub(super) bias: &'n [f32],
    pub(super) activation: Activation,
}

/// Computes `x · tanh(ln(1 + eˣ))`; see [`Activation::apply`]. From 20 on, the fraction rounds to 1.
#[inline(always)]
pub(super) fn mish<S: Simd>(s: S, x: S::V) -> S::V {
    let e = s.exp(s.max(s.min(x, s.splat(20.0)), s.splat(-87.0)));
    let n = s.mul(e, s.add(e, s.splat(2.0)));
    s.mul(x, s.div(n, s.add(n, s.splat(2.0))))
}

/// Evaluates `$body` with `$act` as the activation function, so that loops are compiled for each function.
macro_rules! with_activation {
    ($s:expr, $activation:expr, |$act:ident| $body:expr) => {
        match $activation {
            Activation::Identity => {
                let $act = |x| x;
                $body
            }
            Activation::Relu => {
                let zero = $s.splat(0.0);
                let $act = |x| $s.max(x, zero);
                $body
            }
            Activation::Mish => {
                let $act = |x| $crate::kernels::pointwise::mish($s, x);
                $body
            }
            Activation::Silu => {
                let $act = |x| $s.silu(x);
                $body
            }
        }
    };
}

pub(super) use with_activation;

/// Computes `to = act(from · scale + bias)`. The strides are the numbers from one point to the next.
#[inline(always)]
pub(super) fn norm_act<S: Simd>(
    s: S,
    extent: Extent,
    norm: NormAct<'_>,
    (from, from_stride): (&[f32], usize),
    (to, to_stride): (&mut [f32], usize),
) {
    with_activation!(s, norm.activation, |act| {
        for (from, to) in from.chunks(from_stride).zip(to.chunks_mut(to_stride)).take(extent.points) {
            let (from, to) = (&from[..extent.channels], &mut to[..extent.channels]);
            let (scale, bias) = (&norm.scale[..extent.channels], &norm.bias[..extent.channels]);
            for channel in (0..extent.channels).step_by(S::LANES) {
                let (scale, bias) = (s.load(&scale[channel..]), s.load(&bias[channel..]));
                let x = s.load(&from[channel..]);
                s.store(act(s.mul_add(x, scale, bias)), &mut to[channel..]);
            }
        }
    });
}

/// Computes `to = act(factor · from · scale + bias)` with a factor per point. All arrays have `extent.channels` numbers
/// per point.
#[inline(always)]
pub(super) fn scaled_norm_act<S: Simd>(
    s: S,
    extent: Extent,
    norm: NormAct<'_>,
    from: &[f32],
    factors: &[f32],
    to: &mut [f32],
) {
    let channels = extent.channels;
    let (scale, bias) = (&norm.scale[..channels], &norm.bias[..channels]);
    with_activation!(s, norm.activation, |act| {
        let points = from.chunks_exact(channels).zip(to.chunks_exact_mut(channels)).zip(factors);
        for ((from, to), &factor) in points.take(extent.points) {
            let factor = s.splat(factor);
            for channel in (0..channels).step_by(S::LANES) {
                let scale = s.mul(s.load(&scale[channel..]), factor);
                let x = s.mul_add(s.load(&from[channel..]), scale, s.load(&bias[channel..]));
                s.store(act(x), &mut to[channel..]);
            }
        }
    });
}

/// Computes the mean and the maximum of `act(from · scale + bias)` over all points, for each channel.
#[inline(always)]
pub(super) fn pool<S: Simd>(
    s: S,
    extent: Extent,
    norm: NormAct<'_>,
    (from, stride): (&[f32], usize),
    means: &mut [f32],
    maxima: &mut [f32],
) {
    let factor = s.splat(1.0 / extent.points as f32);
    with_activation!(s, norm.activation, |act| {
        for channel in (0..extent.channels).step_by(S::LANES) {
            let (scale, bias) = (s.load(&norm.scale[channel..]), s.load(&norm.bias[channel..]));
            let mut sum = s.splat(0.0);
            let mut max = s.splat(f32::NEG_INFINITY);
            for from in from.chunks(stride).take(extent.points) {
                let x = act(s.mul_add(s.load(&from[channel..]), scale, bias));
                sum = s.add(sum, x);
                max = s.max(max, x);
            }
            s.store(s.mul(sum, factor), &mut means[channel..]);
            s.store(max, &mut maxima[channel..]);
        }
    });
}
