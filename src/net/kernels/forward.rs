//! Evaluation of a prepared network.

use super::batch::Batch;
use super::buffer::Buffer;
use super::convolution::{Convolution, Workspace};
use super::linear::OutputMode;
use super::pointwise::{Extent, NormAct};
use super::prepared::{
    Convolutions, InnerLayers, LastNorm, Prepared, PreparedBlock, PreparedNorm, PreparedPooling,
};
use super::primitives::Strided;
use super::rows::Rms;
use super::sparse::{SetInputs, Sparse};
use super::statistics::ObservedStatistics;
use super::transformer::TransformerMemory;
use crate::input::{Input, SPATIAL_FEATURES};
use crate::layer::{Bias, MatMul};
use crate::output::{NotFinite, Output};
use crate::scalar::{activate, add, add_bias, encode_metadata, matmul, size_scale};

/// Buffers that a thread needs for evaluation. They grow to the size of the largest board and batch, and can be used
/// with any network.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Residual sums of the blocks so far, of the trunk and of each depth of nesting.
    sums: Vec<Buffer>,
    /// Input of the heads.
    active: Buffer,
    /// Results of convolutions that are not added to a sum.
    product: Buffer,
    /// Input of the last convolutions of the heads.
    middle: Buffer,
    workspace: Workspace,
    transformer: TransformerMemory,
    set: SetInputs,
    pooled: PoolBuffers,
    bias: Vec<f32>,
    factors: Vec<f32>,
}

impl Scratch {
    /// Starts to record statistics of the inputs of products that are not rounded.
    pub(super) fn observe(&mut self) {
        self.transformer.observed = Some(ObservedStatistics::default());
    }

    /// Returns the recorded statistics and stops recording.
    pub(super) fn observed(&mut self) -> ObservedStatistics {
        self.transformer.observed.take().unwrap_or_default()
    }
}

/// Buffers of pooling.
#[derive(Clone, Debug, Default)]
struct PoolBuffers {
    means: Vec<f32>,
    maxima: Vec<f32>,
    /// Input of the matrix after the pooling.
    all: Vec<f32>,
}

/// Sums of the blocks so far, of positions that are evaluated one after another.
#[derive(Debug)]
pub(super) struct Trunks {
    /// Size of each position.
    batch: Batch,
    sums: Vec<Buffer>,
}

impl Prepared {
    /// Evaluates positions, all on boards of the same size. The outputs are in the order of the inputs, each from the
    /// perspective of its side to move.
    ///
    /// # Errors
    ///
    /// Returns [`NotFinite`] if a number of a result is infinite or NaN.
    ///
    /// # Panics
    ///
    /// Panics if the sizes of the boards differ, if a board has no points or is larger than any valid board, or if the
    /// length of an input does not match its size.
    pub fn evaluate(&self, inputs: &[&Input], scratch: &mut Scratch) -> Result<Vec<Output>, NotFinite> {
        let Some(first) = inputs.first() else { return Ok(Vec::new()) };
        let batch = Batch { width: first.width, height: first.height, count: inputs.len() };
        assert!(batch.area() > 0, "the board has no points");
        for input in inputs {
            assert_eq!(
                (input.width, input.height),
                (batch.width, batch.height),
                "the boards have different sizes"
            );
            assert_eq!(
                input.spatial.len(),
                batch.area() * SPATIAL_FEATURES,
                "wrong number of spatial features"
            );
        }
        self.trunk(batch, inputs, scratch);
        self.heads(batch, scratch).into_iter().map(Output::into_finite).collect()
    }

    /// Evaluates one position. The output is from the perspective of the side to move.
    ///
    /// # Errors
    ///
    /// Returns [`NotFinite`] if a number of the result is infinite or NaN.
    ///
    /// # Panics
    ///
    /// Panics if the board is empty or too large, or if the length of the input does not match its size.
    pub fn evaluate_one(&self, input: &Input, scratch: &mut Scratch) -> Result<Output, NotFinite> {
        let mut outputs = self.evaluate(&[input], scratch)?;
        Ok(outputs.pop().expect("one output per input"))
    }

    /// Begins to evaluate positions of the same size one after another, and returns the input of the first block.
    pub(super) fn begin_each(&self, inputs: &[Input], scratch: &mut Scratch) -> Trunks {
        let size = inputs.first().map_or((0, 0), |input| (input.width, input.height));
        let batch = Batch { width: size.0, height: size.1, count: 1 };
        let begin = |input| {
            let mut sum = Buffer::default();
            self.begin(batch, &[input], sum.at_least(batch.plane_len(self.first_conv.outputs)), scratch);
            sum
        };
        Trunks { batch, sums: inputs.iter().map(begin).collect() }
    }

    /// Adds the results of the next block of the trunk.
    pub(super) fn continue_each(&self, block: &PreparedBlock, trunks: &mut Trunks, scratch: &mut Scratch) {
        let Trunks { batch, sums } = trunks;
        let len = batch.plane_len(self.first_conv.outputs);
        for sum in sums {
            self.stack(*batch, std::slice::from_ref(block), sum.at_least(len), 0, scratch);
        }
    }

    /// Computes the outputs after the last block.
    pub(super) fn end_each(&self, trunks: Trunks, scratch: &mut Scratch) -> Vec<Result<Output, NotFinite>> {
        let Trunks { batch, sums } = trunks;
        let end = |sum: Buffer| {
            self.last_norm(batch, &self.last_norm, sum.as_slice(), scratch);
            let mut outputs = self.heads(batch, scratch);
            outputs.pop().expect("one output per input").into_finite()
        };
        sums.into_iter().map(end).collect()
    }

    /// Computes the trunk and leaves the input of the heads in `active`.
    fn trunk(&self, batch: Batch, inputs: &[&Input], scratch: &mut Scratch) {
        let mut sum = take_sum(scratch, 0);
        let plane = sum.at_least(batch.plane_len(self.first_conv.outputs));
        self.begin(batch, inputs, plane, scratch);
        self.stack(batch, &self.blocks, plane, 0, scratch);
        self.last_norm(batch, &self.last_norm, plane, scratch);
        scratch.sums[0] = sum;
    }

    /// Computes the first convolution and what is added to all points, the input of the first block.
    fn begin(&self, batch: Batch, inputs: &[&Input], plane: &mut [f32], scratch: &mut Scratch) {
        let conv = &self.first_conv;
        for (input, plane) in inputs.iter().zip(plane.chunks_mut(batch.area() * conv.outputs)) {
            let mut bias = matmul(&self.global_matmul, &input.global);
            if let Some(encoder) = &self.metadata_encoder {
                add(&mut bias, &encode_metadata(encoder, input));
            }
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
            (self.primitives.sparse)(&it, plane);
        }
    }

    /// Applies the norm and the activation at the end of the trunk.
    fn last_norm(&self, batch: Batch, last: &LastNorm, sum: &[f32], scratch: &mut Scratch) {
        let extent = Extent { points: batch.points(), channels: last.norm.channels() };
        let active = scratch.active.at_least(batch.plane_len(extent.channels));
        let stride = extent.channels;
        let Some(rms) = last.rms else {
            (self.primitives.norm_act)(extent, last.norm.get(), (sum, stride), (active, stride));
            return;
        };
        let factors = &mut scratch.factors;
        factors.resize(extent.points, 0.0);
        let norm = Rms { scale: &[], epsilon: rms.epsilon, channels: rms.channels };
        if rms.is_spatial {
            // The mean square of each point.
            let none = Rms { epsilon: 0.0, ..norm };
            (self.primitives.rms_scales)(extent, none, (sum, stride), factors);
            for factors in factors.chunks_exact_mut(batch.area()) {
                let squares: f64 = factors.iter().map(|factor| 1.0 / (f64::from(*factor).powi(2))).sum();
                let factor = 1.0 / (squares / batch.area() as f64 + f64::from(rms.epsilon)).sqrt();
                factors.fill(factor as f32);
            }
        } else {
            (self.primitives.rms_scales)(extent, norm, (sum, stride), factors);
        }
        (self.primitives.scaled_norm_act)(extent, last.norm.get(), sum, factors, active);
    }

    /// Adds the results of the blocks to `sum`.
    fn stack(
        &self,
        batch: Batch,
        blocks: &[PreparedBlock],
        sum: &mut [f32],
        depth: usize,
        scratch: &mut Scratch,
    ) {
        for block in blocks {
            match block {
                PreparedBlock::Attention(block) => {
                    block.run(&self.primitives, batch, sum, &mut scratch.transformer);
                }
                PreparedBlock::FeedForward(block) => {
                    block.run(&self.primitives, batch, sum, &mut scratch.transformer);
                }
                PreparedBlock::Convolutions(block) => self.convolutions(batch, block, sum, depth, scratch),
            }
        }
    }

    /// Adds the result of a convolutional block to `sum`.
    fn convolutions(
        &self,
        batch: Batch,
        block: &Convolutions,
        sum: &mut [f32],
        depth: usize,
        scratch: &mut Scratch,
    ) {
        let Convolutions { first, inside, last, last_conv } = block;
        let from = (&*sum, first.channels());
        match inside {
            InnerLayers::Ordinary(conv) => {
                self.convolve(batch, conv, first.get(), from, scratch);
                self.convolve_back(batch, last_conv, last.get(), conv.outputs(), sum, scratch);
            }
            InnerLayers::Pooling(conv, pooling) => {
                self.convolve(batch, conv, first.get(), from, scratch);
                let (channels, stride) = (last.channels(), conv.outputs());
                for board in 0..batch.count {
                    let Scratch { product, pooled, .. } = &mut *scratch;
                    let plane = &mut product.as_mut_slice()[board * batch.area() * stride..];
                    self.pool(batch, pooling, &plane[channels..], stride, pooled);
                    let added = matmul(&pooling.matmul, &pooled.all);
                    plane.chunks_mut(stride).take(batch.area()).for_each(|point| add(point, &added));
                }
                self.convolve_back(batch, last_conv, last.get(), stride, sum, scratch);
            }
            InnerLayers::Nested(conv, blocks) => {
                let mut inner = take_sum(scratch, depth + 1);
                let plane = inner.at_least(batch.plane_len(conv.outputs()));
                let to = (OutputMode::Overwrite, &mut *plane);
                conv.run(&self.primitives, batch, Some(first.get()), from, to, &mut scratch.workspace);
                self.stack(batch, blocks, plane, depth + 1, scratch);
                let (from, to) = ((&*plane, last.channels()), (OutputMode::Accumulate, sum));
                last_conv.run(&self.primitives, batch, Some(last.get()), from, to, &mut scratch.workspace);
                scratch.sums[depth + 1] = inner;
            }
        }
    }

    /// Convolves a plane after a norm and leaves the result in `product`.
    fn convolve(
        &self,
        batch: Batch,
        conv: &Convolution,
        norm: NormAct<'_>,
        from: Strided<'_>,
        scratch: &mut Scratch,
    ) {
        let product = scratch.product.at_least(batch.plane_len(conv.outputs()));
        let to = (OutputMode::Overwrite, product);
        conv.run(&self.primitives, batch, Some(norm), from, to, &mut scratch.workspace);
    }

    /// Convolves `product`, whose points are `stride` numbers apart, after a norm and adds the result to `sum`.
    fn convolve_back(
        &self,
        batch: Batch,
        conv: &Convolution,
        norm: NormAct<'_>,
        stride: usize,
        sum: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let Scratch { product, workspace, .. } = scratch;
        let to = (OutputMode::Accumulate, sum);
        conv.run(&self.primitives, batch, Some(norm), (product.as_slice(), stride), to, workspace);
    }

    /// Convolves `middle`, a plane of `channels` channels, and leaves the result in `product`.
    fn convolve_middle(&self, batch: Batch, conv: &Convolution, channels: usize, scratch: &mut Scratch) {
        let Scratch { middle, product, workspace, .. } = scratch;
        let to = (OutputMode::Overwrite, product.at_least(batch.plane_len(conv.outputs())));
        conv.run(&self.primitives, batch, None, (middle.as_slice(), channels), to, workspace);
    }

    /// Computes the input of the matrix after a pooling, for one board, in `pooled.all`: all means, all means times
    /// [`size_scale`], all maxima. `from` begins with the pooled channels of the first point.
    fn pool(
        &self,
        batch: Batch,
        pooling: &PreparedPooling,
        from: &[f32],
        stride: usize,
        pooled: &mut PoolBuffers,
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
        pooled: &mut PoolBuffers,
    ) {
        let extent = Extent { points: batch.area(), channels: norm.channels() };
        pooled.means.resize(extent.channels, 0.0);
        pooled.maxima.resize(extent.channels, 0.0);
        (self.primitives.pool)(extent, norm.get(), (from, stride), &mut pooled.means, &mut pooled.maxima);
    }

    fn heads(&self, batch: Batch, scratch: &mut Scratch) -> Vec<Output> {
        let heads = &self.heads;
        // The buffer of the trunk's sum is free now.
        let mut memory = take_sum(scratch, 0);
        let plane = memory.at_least(batch.plane_len(heads.conv.outputs()));
        let from = (scratch.active.as_slice(), self.last_norm.norm.channels());
        let to = (OutputMode::Overwrite, &mut *plane);
        heads.conv.run(&self.primitives, batch, None, from, to, &mut scratch.workspace);
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
        scratch.sums[0] = memory;
        outputs
    }

    /// Returns the points of each board in `product`, the result of `conv`.
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

    /// Computes the logits of a pass for one board, and writes the input of the policy's last convolution to `middle`.
    fn policy(&self, batch: Batch, board: usize, from: &[f32], output: &mut Output, scratch: &mut Scratch) {
        let heads = &self.heads;
        let Scratch { middle, pooled, bias, .. } = scratch;
        let (channels, stride) = (heads.policy_norm.channels(), heads.conv.outputs());
        self.pool(batch, &heads.pooling, &from[channels..], stride, pooled);
        let added = matmul(&heads.pooling.matmul, &pooled.all);
        let middle = &mut middle.at_least(batch.plane_len(channels))[board * batch.area() * channels..];
        let extent = Extent { points: batch.area(), channels };
        let norm = heads.policy_norm.with_added_bias(&added, bias);
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

    /// Computes the result and the score of one board from the means of the value head's channels.
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

/// Takes the sum of a depth out of `scratch`, so that the other buffers can be borrowed. Creates it if needed.
fn take_sum(scratch: &mut Scratch, depth: usize) -> Buffer {
    if scratch.sums.len() <= depth {
        scratch.sums.resize_with(depth + 1, Buffer::default);
    }
    std::mem::take(&mut scratch.sums[depth])
}
