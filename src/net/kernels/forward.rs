//! The way through a prepared network.

use super::batch::Batch;
use super::buffer::Buffer;
use super::convolution::{Convolution, Workspace};
use super::linear::Ending;
use super::moments::Observed;
use super::pointwise::{Extent, NormAct};
use super::prepared::{
    Convolutions, Inside, LastNorm, Prepared, PreparedBlock, PreparedNorm, PreparedPooling,
};
use super::primitives::Strided;
use super::rows::Rms;
use super::sparse::{SetInputs, Sparse};
use super::transformer::TransformerMemory;
use crate::input::{Input, SPATIAL_FEATURES};
use crate::layer::{Bias, MatMul};
use crate::output::{NotFinite, Output};
use crate::scalar::{activate, add, add_bias, encode_metadata, matmul, size_scale};

/// Memory that a thread needs to evaluate. It grows to what the largest board and batch need, and can be used
/// with any network.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// The sums of what all blocks so far gave: of the trunk, and of each depth of nesting.
    sums: Vec<Buffer>,
    /// What the heads take.
    active: Buffer,
    /// What convolutions give whose result is not added to a sum.
    product: Buffer,
    /// What the last convolutions of the heads take.
    middle: Buffer,
    workspace: Workspace,
    transformer: TransformerMemory,
    set: SetInputs,
    pooled: Pooled,
    bias: Vec<f32>,
    factors: Vec<f32>,
}

impl Scratch {
    /// From now on, evaluating takes down what products take that are not rounded.
    pub(super) fn observe(&mut self) {
        self.transformer.observed = Some(Observed::default());
    }

    /// What was taken down.
    pub(super) fn observed(&mut self) -> Observed {
        self.transformer.observed.take().unwrap_or_default()
    }
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
    /// If the sizes differ or are larger than any board's, or if an input has not as many numbers as its size asks
    /// for.
    pub fn evaluate(&self, inputs: &[&Input], scratch: &mut Scratch) -> Result<Vec<Output>, NotFinite> {
        let Some(first) = inputs.first() else { return Ok(Vec::new()) };
        let batch = Batch { width: first.width, height: first.height, count: inputs.len() };
        assert!(batch.area() > 0, "a board has points");
        for input in inputs {
            assert_eq!((input.width, input.height), (batch.width, batch.height), "boards of one size");
            assert_eq!(input.spatial.len(), batch.area() * SPATIAL_FEATURES, "all features of all points");
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

    /// From the features to what the heads take, in `active`.
    fn trunk(&self, batch: Batch, inputs: &[&Input], scratch: &mut Scratch) {
        let conv = &self.first_conv;
        let mut sum = take_sum(scratch, 0);
        let plane = sum.at_least(batch.plane_len(conv.outputs));
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
        self.stack(batch, &self.blocks, plane, 0, scratch);
        self.last_norm(batch, &self.last_norm, plane, scratch);
        scratch.sums[0] = sum;
    }

    /// The end of the trunk.
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
            // The mean square of each point first.
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

    /// Adds to `sum` what all these blocks give.
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

    /// Adds to `sum` what a block of convolutions gives.
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
            Inside::Ordinary(conv) => {
                self.convolve(batch, conv, first.get(), from, scratch);
                self.convolve_back(batch, last_conv, last.get(), conv.outputs(), sum, scratch);
            }
            Inside::Pooling(conv, pooling) => {
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
            Inside::Nested(conv, blocks) => {
                let mut inner = take_sum(scratch, depth + 1);
                let plane = inner.at_least(batch.plane_len(conv.outputs()));
                let to = (Ending::Overwrite, &mut *plane);
                conv.run(&self.primitives, batch, Some(first.get()), from, to, &mut scratch.workspace);
                self.stack(batch, blocks, plane, depth + 1, scratch);
                let (from, to) = ((&*plane, last.channels()), (Ending::Accumulate, sum));
                last_conv.run(&self.primitives, batch, Some(last.get()), from, to, &mut scratch.workspace);
                scratch.sums[depth + 1] = inner;
            }
        }
    }

    /// From a plane behind a norm to `product`.
    fn convolve(
        &self,
        batch: Batch,
        conv: &Convolution,
        norm: NormAct<'_>,
        from: Strided<'_>,
        scratch: &mut Scratch,
    ) {
        let product = scratch.product.at_least(batch.plane_len(conv.outputs()));
        let to = (Ending::Overwrite, product);
        conv.run(&self.primitives, batch, Some(norm), from, to, &mut scratch.workspace);
    }

    /// Adds to `sum` what becomes of `product`, whose points lie so far apart, behind a norm.
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
        let to = (Ending::Accumulate, sum);
        conv.run(&self.primitives, batch, Some(norm), (product.as_slice(), stride), to, workspace);
    }

    /// From `middle`, a plane of so many channels, to `product`.
    fn convolve_middle(&self, batch: Batch, conv: &Convolution, channels: usize, scratch: &mut Scratch) {
        let Scratch { middle, product, workspace, .. } = scratch;
        let to = (Ending::Overwrite, product.at_least(batch.plane_len(conv.outputs())));
        conv.run(&self.primitives, batch, None, (middle.as_slice(), channels), to, workspace);
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
        // The trunk's sum is not needed any more.
        let mut memory = take_sum(scratch, 0);
        let plane = memory.at_least(batch.plane_len(heads.conv.outputs()));
        let from = (scratch.active.as_slice(), self.last_norm.norm.channels());
        let to = (Ending::Overwrite, &mut *plane);
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

/// Takes out the sum of a depth, so that the rest can be used beside it; made if there is none.
fn take_sum(scratch: &mut Scratch, depth: usize) -> Buffer {
    if scratch.sums.len() <= depth {
        scratch.sums.resize_with(depth + 1, Buffer::default);
    }
    std::mem::take(&mut scratch.sums[depth])
}
