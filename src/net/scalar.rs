//! Reference implementation of the forward pass, which follows the papers. Faster implementations are tested against
//! it.
//!
//! It evaluates one position at a time on a plane of exactly the board's size, so no mask is needed. Points outside the
//! board are zero for convolutions and do not exist for pooling.

use super::input::{Input, METADATA_FEATURES, SPATIAL_FEATURES};
use super::layer::{Activation, Bias, Conv, MatMul, Norm, RmsNorm, RotaryEmbedding, TrunkRmsNorm};
use super::model::{
    AttentionBlock, Block, FeedForwardBlock, GlobalPooling, MetadataEncoder, Network, NormActConv,
    PolicyHead, Trunk, TrunkNorm, ValueHead,
};
use super::output::{NotFinite, Output};

/// Activations of a position, of shape `[height][width][channels]`.
#[derive(Clone, Debug)]
struct Plane {
    width: usize,
    height: usize,
    channels: usize,
    data: Vec<f32>,
}

impl Plane {
    fn zero(width: usize, height: usize, channels: usize) -> Plane {
        Plane { width, height, channels, data: vec![0.0; width * height * channels] }
    }

    fn area(&self) -> usize {
        self.width * self.height
    }

    /// Returns an iterator over the points, each a slice of its channels.
    fn points(&self) -> impl Iterator<Item = &[f32]> {
        self.data.chunks_exact(self.channels)
    }

    /// Returns an iterator over the points, each a mutable slice of its channels.
    fn points_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.data.chunks_exact_mut(self.channels)
    }

    /// Adds `vector`, of shape `[channels]`, to every point.
    fn add_to_points(&mut self, vector: &[f32]) {
        self.points_mut().for_each(|point| add(point, vector));
    }
}

/// Evaluates a position with `network`. The output is from the perspective of the side to move.
///
/// # Errors
///
/// Returns [`NotFinite`] if a number of the result is infinite or NaN.
///
/// # Panics
///
/// Panics if the board of `input` has no points or if the length of `input.spatial` does not match its size.
pub fn evaluate(network: &Network, input: &Input) -> Result<Output, NotFinite> {
    let (width, height) = (input.width, input.height);
    assert!(width > 0 && height > 0, "the board has no points");
    assert_eq!(input.spatial.len(), width * height * SPATIAL_FEATURES, "wrong number of spatial features");
    let spatial = Plane { width, height, channels: SPATIAL_FEATURES, data: input.spatial.clone() };
    let trunk = trunk(&network.trunk, &spatial, input);
    let mut output = Output::default();
    policy(&network.policy, &trunk, &mut output);
    value(&network.value, &trunk, &mut output);
    output.into_finite()
}

fn trunk(trunk: &Trunk, spatial: &Plane, input: &Input) -> Plane {
    let mut x = conv(&trunk.first_conv, spatial);
    x.add_to_points(&matmul(&trunk.global_matmul, &input.global));
    if let Some(encoder) = &trunk.metadata_encoder {
        x.add_to_points(&encode_metadata(encoder, input));
    }
    for it in &trunk.blocks {
        x = block(it, x);
    }
    match &trunk.last_norm {
        TrunkNorm::Batch(norm) => norm_act(norm, trunk.last_activation.activation, x),
        TrunkNorm::Rms(norm) => trunk_rms_norm_act(norm, trunk.last_activation.activation, x),
    }
}

/// Returns the vector, of shape `[trunk channels]`, that the features of the players add to every point.
pub(super) fn encode_metadata(encoder: &MetadataEncoder, input: &Input) -> Vec<f32> {
    const NOTHING: [f32; METADATA_FEATURES] = [0.0; METADATA_FEATURES];
    let mut x = input.metadata.as_deref().unwrap_or(&NOTHING).to_vec();
    for layer in [&encoder.first, &encoder.second] {
        x = matmul(&layer.matmul, &x);
        add_bias(&layer.bias, &mut x);
        activate(layer.activation.activation, &mut x);
    }
    matmul(&encoder.last, &x)
}

/// Applies a block, including its residual connection.
fn block(block: &Block, x: Plane) -> Plane {
    let mut sum = x.clone();
    let residual = match block {
        Block::Ordinary(block) => {
            let middle = norm_act_conv(&block.first, x);
            norm_act_conv(&block.second, middle)
        }
        Block::GlobalPooling(block) => {
            let x = norm_act(&block.first.norm, block.first.activation.activation, x);
            let mut middle = conv(&block.first.conv, &x);
            let pooled = pooled(&block.pooling, &x);
            middle.add_to_points(&matmul(&block.pooling.matmul, &pooled));
            norm_act_conv(&block.second, middle)
        }
        Block::NestedBottleneck(nested) => {
            let mut middle = norm_act_conv(&nested.first, x);
            for inner in &nested.blocks {
                middle = self::block(inner, middle);
            }
            norm_act_conv(&nested.second, middle)
        }
        Block::Attention(block) => attention(block, &x),
        Block::FeedForward(block) => feed_forward(block, &x),
    };
    add(&mut sum.data, &residual.data);
    sum
}

/// Computes the residual of an attention block.
fn attention(block: &AttentionBlock, x: &Plane) -> Plane {
    let normed = rms_norm(&block.norm, x);
    let mut query = point_matmul(&block.query, &normed);
    let mut key = point_matmul(&block.key, &normed);
    let value = point_matmul(&block.value, &normed);
    if let Some(rotary) = &block.rotary {
        let sharing = block.heads / block.key_heads;
        rotate(rotary, block.key_width, &mut query, |head| head / sharing);
        rotate(rotary, block.key_width, &mut key, |head| head);
    }
    let mut seen = Plane::zero(x.width, x.height, block.heads * block.value_width);
    for head in 0..block.heads {
        attend(block, head, [&query, &key, &value], &mut seen);
    }
    point_matmul(&block.output, &seen)
}

/// Computes one head of attention and writes the result to the head's channels of `seen`.
fn attend(block: &AttentionBlock, head: usize, [query, key, value]: [&Plane; 3], seen: &mut Plane) {
    let (key_width, value_width) = (block.key_width, block.value_width);
    let key_head = head / (block.heads / block.key_heads);
    let scale = 1.0 / (key_width as f32).sqrt();
    let mut weights = vec![0.0f32; key.area()];
    for (query, seen) in query.points().zip(seen.points_mut()) {
        let query = &query[head * key_width..][..key_width];
        for (weight, key) in weights.iter_mut().zip(key.points()) {
            let key = &key[key_head * key_width..][..key_width];
            *weight = query.iter().zip(key).map(|(query, key)| query * key).sum::<f32>() * scale;
        }
        let most = weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        weights.iter_mut().for_each(|weight| *weight = (*weight - most).exp());
        let sum: f32 = weights.iter().sum();
        let seen = &mut seen[head * value_width..][..value_width];
        for (weight, value) in weights.iter().zip(value.points()) {
            let value = &value[key_head * value_width..][..value_width];
            seen.iter_mut().zip(value).for_each(|(seen, value)| *seen += weight / sum * value);
        }
    }
}

/// Applies a rotary embedding to the pairs of channels of every head at every point. `key_head` maps a head of `x` to
/// its key head.
fn rotate(rotary: &RotaryEmbedding, key_width: usize, x: &mut Plane, key_head: impl Fn(usize) -> usize) {
    let board_width = x.width;
    for (index, point) in x.points_mut().enumerate() {
        let (row, column) = (index / board_width, index % board_width);
        for (head, channels) in point.chunks_exact_mut(key_width).enumerate() {
            for (pair, numbers) in channels.chunks_exact_mut(2).enumerate() {
                let [right, down] = rotary.steps(key_head(head), pair, key_width / 2);
                let (sin, cos) = (column as f64 * right + row as f64 * down).sin_cos();
                let (sin, cos) = (sin as f32, cos as f32);
                let [even, odd] = [numbers[0], numbers[1]];
                numbers[0] = even * cos - odd * sin;
                numbers[1] = even * sin + odd * cos;
            }
        }
    }
}

/// Computes the residual of a feed-forward block.
fn feed_forward(block: &FeedForwardBlock, x: &Plane) -> Plane {
    let normed = rms_norm(&block.norm, x);
    let mut hidden = point_matmul(&block.first, &normed);
    activate(Activation::Silu, &mut hidden.data);
    let gate = point_matmul(&block.gate, &normed);
    hidden.data.iter_mut().zip(&gate.data).for_each(|(hidden, gate)| *hidden *= gate);
    point_matmul(&block.last, &hidden)
}

fn policy(head: &PolicyHead, trunk: &Plane, output: &mut Output) {
    let mut x = conv(&head.conv, trunk);
    let pooled = pooled(&head.pooling, trunk);
    x.add_to_points(&matmul(&head.pooling.matmul, &pooled));
    let x = norm_act(&head.norm, head.activation.activation, x);
    let logits = conv(&head.last_conv, &x);
    let mut passes = matmul(&head.pass_matmul, &pooled);
    if let Some(pass) = &head.pass {
        add_bias(&pass.bias, &mut passes);
        activate(pass.activation.activation, &mut passes);
        passes = matmul(&pass.matmul, &passes);
    }
    output.policy = logits.points().map(|point| point[0]).collect();
    output.pass = passes[0];
    output.optimistic_policy = (logits.channels > 1).then(|| logits.points().map(|point| point[1]).collect());
    output.optimistic_pass = passes.get(1).copied();
}

fn value(head: &ValueHead, trunk: &Plane, output: &mut Output) {
    let x = norm_act(&head.norm, head.activation.activation, conv(&head.conv, trunk));
    let mut middle = matmul(&head.matmul, &value_pool(&x));
    add_bias(&head.bias, &mut middle);
    activate(head.second_activation.activation, &mut middle);
    let mut value = matmul(&head.value_matmul, &middle);
    add_bias(&head.value_bias, &mut value);
    let mut scores = matmul(&head.score_matmul, &middle);
    add_bias(&head.score_bias, &mut scores);
    output.set_value(&value);
    output.set_scores(&scores);
    output.ownership = conv(&head.ownership_conv, &x).data;
}

fn norm_act_conv(part: &NormActConv, x: Plane) -> Plane {
    conv(&part.conv, &norm_act(&part.norm, part.activation.activation, x))
}

/// Computes the three pooled numbers per channel of `x`, before the matrix of the pooling.
fn pooled(pooling: &GlobalPooling, x: &Plane) -> Vec<f32> {
    global_pool(&norm_act(&pooling.norm, pooling.activation.activation, conv(&pooling.conv, x)))
}

/// Applies a convolution.
fn conv(conv: &Conv, x: &Plane) -> Plane {
    debug_assert_eq!(conv.inputs, x.channels);
    let mut result = Plane::zero(x.width, x.height, conv.outputs);
    let weights = conv.weights.floats();
    for (index, sum) in result.points_mut().enumerate() {
        let (to_y, to_x) = (index / x.width, index % x.width);
        for window_y in 0..conv.height {
            for window_x in 0..conv.width {
                // The middle of the window is on the point.
                let from_y = (to_y + window_y).wrapping_sub(conv.height / 2);
                let from_x = (to_x + window_x).wrapping_sub(conv.width / 2);
                if from_y >= x.height || from_x >= x.width {
                    continue;
                }
                let from = &x.data[(from_y * x.width + from_x) * x.channels..][..x.channels];
                let start = (window_y * conv.width + window_x) * conv.inputs * conv.outputs;
                multiply_add(&weights[start..][..conv.inputs * conv.outputs], from, sum);
            }
        }
    }
    result
}

/// Adds the product of `vector`, of shape `[inputs]`, and `matrix`, of shape `[inputs][outputs]`, to `sum`.
fn multiply_add(matrix: &[f32], vector: &[f32], sum: &mut [f32]) {
    for (&factor, row) in vector.iter().zip(matrix.chunks_exact(sum.len())) {
        for (sum, weight) in sum.iter_mut().zip(row) {
            *sum += factor * weight;
        }
    }
}

pub(super) fn matmul(matmul: &MatMul, vector: &[f32]) -> Vec<f32> {
    debug_assert_eq!(matmul.inputs, vector.len());
    let mut result = vec![0.0; matmul.outputs];
    multiply_add(&matmul.weights.floats(), vector, &mut result);
    result
}

/// Applies a matrix at every point.
fn point_matmul(matrix: &MatMul, x: &Plane) -> Plane {
    debug_assert_eq!(matrix.inputs, x.channels);
    let mut result = Plane::zero(x.width, x.height, matrix.outputs);
    let weights = matrix.weights.floats();
    for (point, sum) in x.points().zip(result.points_mut()) {
        multiply_add(&weights, point, sum);
    }
    result
}

pub(super) fn add(to: &mut [f32], what: &[f32]) {
    to.iter_mut().zip(what).for_each(|(to, what)| *to += what);
}

pub(super) fn add_bias(bias: &Bias, vector: &mut [f32]) {
    add(vector, &bias.weights);
}

pub(super) fn activate(activation: Activation, vector: &mut [f32]) {
    vector.iter_mut().for_each(|x| *x = activation.apply(*x));
}

fn norm_act(norm: &Norm, activation: Activation, mut x: Plane) -> Plane {
    let affine = norm.folded();
    for point in x.points_mut() {
        for ((x, scale), bias) in point.iter_mut().zip(&affine.scale).zip(&affine.bias) {
            *x = activation.apply(*x * scale + bias);
        }
    }
    x
}

/// Returns the mean of the squares.
fn mean_square(numbers: &[f32]) -> f64 {
    numbers.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>() / numbers.len() as f64
}

fn rms_norm(norm: &RmsNorm, x: &Plane) -> Plane {
    let mut x = x.clone();
    for point in x.points_mut() {
        let factor = 1.0 / (mean_square(point) + norm.epsilon).sqrt();
        point.iter_mut().zip(&norm.scale).for_each(|(x, scale)| *x *= factor as f32 * scale);
    }
    x
}

fn trunk_rms_norm_act(norm: &TrunkRmsNorm, activation: Activation, mut x: Plane) -> Plane {
    let of_all = mean_square(&x.data);
    for point in x.points_mut() {
        let mean_square = if norm.is_spatial { of_all } else { mean_square(point) };
        let factor = 1.0 / (mean_square + norm.epsilon).sqrt();
        for ((x, scale), bias) in point.iter_mut().zip(&norm.scale).zip(&norm.bias) {
            *x = activation.apply(*x * factor as f32 * scale + bias);
        }
    }
    x
}

/// Returns the mean of every channel over the points.
fn means(x: &Plane) -> Vec<f32> {
    let mut sums = vec![0.0f64; x.channels];
    for point in x.points() {
        sums.iter_mut().zip(point).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    sums.iter().map(|sum| (sum / x.area() as f64) as f32).collect()
}

/// Returns a tenth of the difference between the side of a square board of this area and 14. The pools contain it to
/// distinguish small boards from large ones.
pub(super) fn size_scale(area: usize) -> f32 {
    ((area as f32).sqrt() - 14.0) * 0.1
}

/// Returns three numbers per channel: all means, all means times [`size_scale`], all maxima.
fn global_pool(x: &Plane) -> Vec<f32> {
    let means = means(x);
    let scale = size_scale(x.area());
    let mut maxima = vec![f32::NEG_INFINITY; x.channels];
    for point in x.points() {
        maxima.iter_mut().zip(point).for_each(|(max, &x)| *max = max.max(x));
    }
    let scaled = means.iter().map(|mean| mean * scale).collect();
    [means, scaled, maxima].concat()
}

/// Returns three numbers per channel: all means, all means times [`size_scale`], and all means times the square of
/// [`size_scale`] minus 0.1, its usual value.
fn value_pool(x: &Plane) -> Vec<f32> {
    let means = means(x);
    let scale = size_scale(x.area());
    let times = |factor: f32| means.iter().map(|mean| mean * factor).collect();
    [means.clone(), times(scale), times(scale * scale - 0.1)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a convolution from one channel to one channel.
    fn single(height: usize, width: usize, weights: &[f32]) -> Conv {
        Conv {
            name: "conv".to_owned(),
            height,
            width,
            inputs: 1,
            outputs: 1,
            weights: weights.to_vec().into(),
        }
    }

    #[test]
    fn convolution_looks_around_a_point_and_sees_nothing_outside() {
        let x = Plane { width: 3, height: 2, channels: 1, data: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        // The result is the right neighbour plus ten times the neighbour below.
        let weights = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 10.0, 0.0];
        assert_eq!(conv(&single(3, 3, &weights), &x).data, [42.0, 53.0, 60.0, 5.0, 6.0, 0.0]);
        // The window is larger than the board.
        assert_eq!(conv(&single(5, 5, &[1.0; 25]), &x).data, [21.0; 6]);
        assert_eq!(conv(&single(1, 3, &[1.0, 0.0, 0.0]), &x).data, [0.0, 1.0, 2.0, 0.0, 4.0, 5.0]);
    }

    #[test]
    fn convolution_mixes_channels() {
        let x = Plane { width: 1, height: 1, channels: 2, data: vec![2.0, 3.0] };
        let weights = vec![1.0, 10.0, 100.0, 1000.0, 0.5, 0.25];
        let mixed =
            Conv { name: String::new(), height: 1, width: 1, inputs: 2, outputs: 3, weights: weights.into() };
        assert_eq!(conv(&mixed, &x).data, [2.0 + 3000.0, 20.0 + 1.5, 200.0 + 0.75]);
    }

    #[test]
    fn pools() {
        let x = Plane {
            width: 2,
            height: 2,
            channels: 2,
            data: vec![1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 6.0, -6.0],
        };
        let scale = (2.0f32 - 14.0) * 0.1;
        assert_eq!(global_pool(&x), [3.0, -3.0, 3.0 * scale, -3.0 * scale, 6.0, -1.0]);
        let square = scale * scale - 0.1;
        assert_eq!(value_pool(&x), [3.0, -3.0, 3.0 * scale, -3.0 * scale, 3.0 * square, -3.0 * square]);
    }
}
