//! The way through a prepared network.

use super::buffer::Buffer;
use super::convolution::{Batch, Convolution, Workspace};
use super::pointwise::Extent;
use super::prepared::{Inside, Prepared, PreparedBlock, PreparedNorm, PreparedPooling};
use super::sparse::{SetInputs, Sparse};
use crate::net::input::{Input, SPATIAL_FEATURES};
use crate::net::layer::{Bias, MatMul};
use crate::net::output::{NotFinite, Output};
use crate::net::scalar::{self, activate, add, add_bias, matmul, size_scale};

/// Memory that a thread needs to evaluate. It grows to what the largest board and batch need, and can be used
/// with any network.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// One for the trunk, and one for each depth of nesting.
    levels: Vec<Level>,
    /// What convolutions give.
    product: Buffer,
    /// What they take, inside of blocks.
    middle: Buffer,
    workspace: Workspace,
    set: SetInputs,
    pooled: Pooled,
    bias: Vec<f32>,
}

/// The planes of a stack of blocks.
#[derive(Clone, Debug, Default)]
struct Level {
    /// The sum of what all blocks so far gave.
    sum: Buffer,
    /// The same behind the next norm and activation.
    active: Buffer,
}

/// Memory of pooling.
#[derive(Clone, Debug, Default)]
struct Pooled {
    means: Vec<f32>,
    maxima: Vec<f32>,
    /// What the matrix behind takes.
    all: Vec<f32>,
}

impl Prepared {
    /// What the network says about positions that are all on boards of the same size.
    ///
    /// # Errors
    /// If a number of a result is not finite.
    ///
    /// # Panics
    /// If the sizes differ, or if an input has not as many numbers as its size asks for.
    pub fn evaluate(&self, inputs: &[&Input], scratch: &mut Scratch) -> Result<Vec<Output>, NotFinite> {
        let Some(first) = inputs.first() else { return Ok(Vec::new()) };
        let batch = Batch { width: first.width, height: first.height, count: inputs.len() };
        assert!(batch.area() > 0, "a board has points");
        for input in inputs {
            assert_eq!((input.width, input.height), (batch.width, batch.height), "boards of one size");
            assert_eq!(input.spatial.len(), batch.area() * SPATIAL_FEATURES, "all features of all points");
        }
        if let Some(network) = &self.plain {
            return inputs.iter().map(|input| scalar::evaluate(network, input)).collect();
        }
        self.trunk(batch, inputs, scratch);
        self.heads(batch, scratch).into_iter().map(Output::checked).collect()
    }

    /// What the network says about one position.
    ///
    /// # Errors
    /// If a number of the result is not finite.
    ///
    /// # Panics
    /// If the input has not as many numbers as its size asks for.
    pub fn evaluate_one(&self, input: &Input, scratch: &mut Scratch) -> Result<Output, NotFinite> {
        let mut outputs = self.evaluate(&[input], scratch)?;
        Ok(outputs.pop().expect("an output for every input"))
    }

    fn trunk(&self, batch: Batch, inputs: &[&Input], scratch: &mut Scratch) {
        let conv = &self.first_conv;
        let level = at_depth(&mut scratch.levels, 0);
        let sum = level.sum.at_least(batch.plane_len(conv.outputs));
        for (input, sum) in inputs.iter().zip(sum.chunks_mut(batch.area() * conv.outputs)) {
            let mut bias = matmul(&self.global_matmul, &input.global);
            bias.resize(conv.outputs, 0.0);
            scratch.set.find(&input.spatial, SPATIAL_FEATURES, SPATIAL_FEATURES);
            let it = Sparse {
                board: (batch.width, batch.height),
                window: (conv.width, conv.height),
                inputs: conv.inputs,
                outputs: conv.outputs,
                weights: &conv.weights,
                bias: &bias,
                set: &scratch.set,
            };
            (self.primitives.sparse)(&it, sum);
        }
        self.stack(batch, &self.blocks, &self.last_norm, 0, scratch);
    }

    /// The blocks of a level, whose sum so far is in its `sum`; the result, behind `last`, is in its `active`.
    fn stack(
        &self,
        batch: Batch,
        blocks: &[PreparedBlock],
        last: &PreparedNorm,
        depth: usize,
        scratch: &mut Scratch,
    ) {
        // Taken out while the blocks use the rest of the memory.
        let mut level = std::mem::take(at_depth(&mut scratch.levels, depth));
        let first = blocks.first().map_or(last, |block| &block.norm);
        let extent = Extent { points: batch.points(), channels: first.channels() };
        let plane = batch.plane_len(extent.channels);
        let (sum, active) = (level.sum.at_least(plane), level.active.at_least(plane));
        let stride = extent.channels;
        (self.primitives.norm_act)(extent, first.get(), (sum, stride), (active, stride));
        for (index, block) in blocks.iter().enumerate() {
            self.block(batch, block, active, depth, scratch);
            let next = blocks.get(index + 1).map_or(last, |block| &block.norm);
            (self.primitives.add_norm_act)(extent, next.get(), sum, scratch.product.as_slice(), active);
        }
        scratch.levels[depth] = level;
    }

    /// What a block adds, in `product`. `active` is what its first convolution takes.
    fn block(
        &self,
        batch: Batch,
        block: &PreparedBlock,
        active: &mut [f32],
        depth: usize,
        scratch: &mut Scratch,
    ) {
        match &block.inside {
            Inside::Ordinary { conv, norm } => {
                self.convolve(batch, conv, active, scratch);
                let Scratch { product, middle, .. } = scratch;
                let (extent, stride) =
                    (Extent { points: batch.points(), channels: norm.channels() }, conv.outputs());
                let middle = middle.at_least(batch.plane_len(extent.channels));
                let from = (product.as_slice(), stride);
                (self.primitives.norm_act)(extent, norm.get(), from, (middle, extent.channels));
                self.convolve_middle(batch, &block.last_conv, extent.channels, scratch);
            }
            Inside::Pooling { conv, pooling, norm } => {
                self.convolve(batch, conv, active, scratch);
                let (extent, stride) =
                    (Extent { points: batch.area(), channels: norm.channels() }, conv.outputs());
                for board in 0..batch.count {
                    let Scratch { product, middle, pooled, bias, .. } = &mut *scratch;
                    let from = &product.as_slice()[board * batch.area() * stride..];
                    self.pool(batch, pooling, &from[extent.channels..], stride, pooled);
                    let added = matmul(&pooling.matmul, &pooled.all);
                    let middle = &mut middle.at_least(batch.plane_len(extent.channels))
                        [board * batch.area() * extent.channels..];
                    let norm = norm.behind(&added, bias);
                    (self.primitives.norm_act)(extent, norm, (from, stride), (middle, extent.channels));
                }
                self.convolve_middle(batch, &block.last_conv, extent.channels, scratch);
            }
            Inside::Nested { conv, blocks, norm } => {
                let Scratch { levels, workspace, .. } = &mut *scratch;
                let inner = at_depth(levels, depth + 1).sum.at_least(batch.plane_len(conv.outputs()));
                conv.run(&self.primitives, batch, active, inner, workspace);
                self.stack(batch, blocks, norm, depth + 1, scratch);
                let mut level = std::mem::take(at_depth(&mut scratch.levels, depth + 1));
                let active = level.active.at_least(batch.plane_len(norm.channels()));
                self.convolve(batch, &block.last_conv, active, scratch);
                scratch.levels[depth + 1] = level;
            }
        }
    }

    /// From `active` to `product`.
    fn convolve(&self, batch: Batch, conv: &Convolution, active: &mut [f32], scratch: &mut Scratch) {
        let product = scratch.product.at_least(batch.plane_len(conv.outputs()));
        conv.run(&self.primitives, batch, active, product, &mut scratch.workspace);
    }

    /// From `middle`, a plane of so many channels, to `product`.
    fn convolve_middle(&self, batch: Batch, conv: &Convolution, channels: usize, scratch: &mut Scratch) {
        let Scratch { middle, product, workspace, .. } = scratch;
        let middle = middle.at_least(batch.plane_len(channels));
        conv.run(
            &self.primitives,
            batch,
            middle,
            product.at_least(batch.plane_len(conv.outputs())),
            workspace,
        );
    }

    /// The pooled numbers of one board as a matrix takes them, in `pooled.all`: all means, all means times the size
    /// of the board, all maxima. `from` begins with the pooled channels of the first point.
    fn pool(
        &self,
        batch: Batch,
        pooling: &PreparedPooling,
        from: &[f32],
        stride: usize,
        pooled: &mut Pooled,
    ) {
        self.means_and_maxima(batch, &pooling.norm, from, stride, pooled);
        let channels = pooling.matmul.inputs / 3;
        let scale = size_scale(batch.area());
        pooled.all.clear();
        pooled.all.extend(&pooled.means[..channels]);
        pooled.all.extend(pooled.means[..channels].iter().map(|mean| mean * scale));
        pooled.all.extend(&pooled.maxima[..channels]);
    }

    fn means_and_maxima(
        &self,
        batch: Batch,
        norm: &PreparedNorm,
        from: &[f32],
        stride: usize,
        pooled: &mut Pooled,
    ) {
        let extent = Extent { points: batch.area(), channels: norm.channels() };
        pooled.means.resize(extent.channels, 0.0);
        pooled.maxima.resize(extent.channels, 0.0);
        (self.primitives.pool)(extent, norm.get(), (from, stride), &mut pooled.means, &mut pooled.maxima);
    }

    fn heads(&self, batch: Batch, scratch: &mut Scratch) -> Vec<Output> {
        let heads = &self.heads;
        let mut level = std::mem::take(at_depth(&mut scratch.levels, 0));
        let active = level.active.at_least(batch.plane_len(self.last_norm.channels()));
        // The trunk's sum is not needed any more.
        let plane = level.sum.at_least(batch.plane_len(heads.conv.outputs()));
        heads.conv.run(&self.primitives, batch, active, plane, &mut scratch.workspace);
        let stride = heads.conv.outputs();
        let mut outputs = vec![Output::default(); batch.count];
        for (board, output) in outputs.iter_mut().enumerate() {
            let from = &plane[board * batch.area() * stride..];
            self.policy(batch, board, from, output, scratch);
            let from = &from[heads.policy_norm.channels() + heads.pooling.norm.channels()..];
            self.means_and_maxima(batch, &heads.value_norm, from, stride, &mut scratch.pooled);
            self.value(batch, &scratch.pooled.means, output);
        }
        self.convolve_middle(batch, &heads.policy_conv, heads.policy_norm.channels(), scratch);
        for (output, points) in outputs.iter_mut().zip(self.boards(batch, &heads.policy_conv, scratch)) {
            output.policy = points.clone().map(|point| point[0]).collect();
            output.optimistic_policy =
                (heads.policy_channels > 1).then(|| points.map(|point| point[1]).collect());
        }
        let norm = &heads.value_norm;
        let middle = scratch.middle.at_least(batch.plane_len(norm.channels()));
        let extent = Extent { points: batch.points(), channels: norm.channels() };
        let from = (&plane[heads.policy_norm.channels() + heads.pooling.norm.channels()..], stride);
        (self.primitives.norm_act)(extent, norm.get(), from, (middle, extent.channels));
        self.convolve_middle(batch, &heads.ownership_conv, extent.channels, scratch);
        for (output, points) in outputs.iter_mut().zip(self.boards(batch, &heads.ownership_conv, scratch)) {
            output.ownership = points.map(|point| point[0]).collect();
        }
        scratch.levels[0] = level;
        outputs
    }

    /// What a convolution has left in `product`: for every board, all points.
    fn boards<'s>(
        &self,
        batch: Batch,
        conv: &Convolution,
        scratch: &'s Scratch,
    ) -> impl Iterator<Item = impl Iterator<Item = &'s [f32]> + Clone> {
        let channels = conv.outputs();
        let boards = scratch.product.as_slice().chunks(batch.area() * channels);
        boards.map(move |board| board.chunks_exact(channels))
    }

    /// The pass of one board, and what the last convolution of the policy takes in `middle`.
    fn policy(&self, batch: Batch, board: usize, from: &[f32], output: &mut Output, scratch: &mut Scratch) {
        let heads = &self.heads;
        let Scratch { middle, pooled, bias, .. } = scratch;
        let (channels, stride) = (heads.policy_norm.channels(), heads.conv.outputs());
        self.pool(batch, &heads.pooling, &from[channels..], stride, pooled);
        let added = matmul(&heads.pooling.matmul, &pooled.all);
        let middle = &mut middle.at_least(batch.plane_len(channels))[board * batch.area() * channels..];
        let extent = Extent { points: batch.area(), channels };
        let norm = heads.policy_norm.behind(&added, bias);
        (self.primitives.norm_act)(extent, norm, (from, stride), (middle, channels));
        let mut passes = matmul(&heads.pass_matmul, &pooled.all);
        if let Some((bias, activation, last)) = &heads.pass {
            add_bias(bias, &mut passes);
            activate(*activation, &mut passes);
            passes = matmul(last, &passes);
        }
        output.pass = passes[0];
        output.optimistic_pass = passes.get(1).copied();
    }

    /// Result and score of one board from the means of the value head's channels.
    fn value(&self, batch: Batch, means: &[f32], output: &mut Output) {
        let heads = &self.heads;
        let means = &means[..heads.value_matmul.inputs / 3];
        let scale = size_scale(batch.area());
        let times = |factor: f32| means.iter().map(move |mean| mean * factor);
        let pooled: Vec<f32> = times(1.0).chain(times(scale)).chain(times(scale * scale - 0.1)).collect();
        let mut middle = matmul(&heads.value_matmul, &pooled);
        add_bias(&heads.value_bias, &mut middle);
        activate(heads.value_activation, &mut middle);
        let affine = |(matrix, bias): &(MatMul, Bias)| {
            let mut result = matmul(matrix, &middle);
            add(&mut result, &bias.weights);
            result
        };
        output.set_value(&affine(&heads.result));
        output.set_scores(&affine(&heads.score));
    }
}

/// The level of a depth; made if there is none.
fn at_depth(levels: &mut Vec<Level>, depth: usize) -> &mut Level {
    if levels.len() <= depth {
        levels.resize_with(depth + 1, Level::default);
    }
    &mut levels[depth]
}
