//! Statistics of the inputs of products, from a few positions: largest magnitude, mean and variance of each channel.
//!
//! In most products of a transformer, some channels have nearly the same value everywhere, and a much larger one than
//! the other channels. Their values in a few positions are representative of all positions.

use super::rows::Rms;
use hashbrown::HashMap;

/// Identity of a block: its index within the enclosing block, combined with the identity of that block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct BlockPath(u64);

impl BlockPath {
    /// Identity of the whole trunk.
    pub(super) const TRUNK: BlockPath = BlockPath(0);

    /// Returns the identity of the block with this index inside this one.
    pub(super) fn inside(self, index: usize) -> BlockPath {
        const BLOCKS: u64 = 1 << 16;
        BlockPath(self.0.wrapping_mul(BLOCKS).wrapping_add(index as u64 + 1))
    }
}

/// One of the two products of a transformer block: the first or the last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum ProductKind {
    First,
    Last,
}

/// Statistics of the rows that a product has multiplied.
#[derive(Clone, Debug)]
pub(super) struct InputStatistics {
    /// Largest magnitude of each channel.
    pub(super) most: Vec<f32>,
    sums: Vec<f64>,
    squares: Vec<f64>,
    rows: usize,
}

impl InputStatistics {
    fn new(channels: usize) -> InputStatistics {
        InputStatistics {
            most: vec![0.0; channels],
            sums: vec![0.0; channels],
            squares: vec![0.0; channels],
            rows: 0,
        }
    }

    fn add(&mut self, row: impl Iterator<Item = f32>) {
        let channels = self.most.iter_mut().zip(&mut self.sums).zip(&mut self.squares);
        for (((most, sum), square), x) in channels.zip(row) {
            *most = most.max(x.abs());
            *sum += f64::from(x);
            *square += f64::from(x).powi(2);
        }
        self.rows += 1;
    }

    /// Returns the mean and the variance of a channel, or zeros for an unknown channel.
    pub(super) fn of_channel(&self, channel: usize) -> (f32, f32) {
        let (Some(sum), Some(square)) = (self.sums.get(channel), self.squares.get(channel)) else {
            return (0.0, 0.0);
        };
        let rows = self.rows.max(1) as f64;
        let mean = sum / rows;
        (mean as f32, (square / rows - mean * mean).max(0.0) as f32)
    }

    /// Adjusts the statistics to a channel that is multiplied by `factor`.
    pub(super) fn scale(&mut self, channel: usize, factor: f32) {
        if channel < self.most.len() {
            self.most[channel] *= factor;
            self.sums[channel] *= f64::from(factor);
            self.squares[channel] *= f64::from(factor).powi(2);
        }
    }
}

/// Statistics of all recorded products.
#[derive(Clone, Debug, Default)]
pub(super) struct ObservedStatistics(HashMap<(BlockPath, ProductKind), InputStatistics>);

impl ObservedStatistics {
    /// Returns the statistics of a product's rows, if they were recorded.
    pub(super) fn of(&self, path: BlockPath, which: ProductKind) -> Option<&InputStatistics> {
        self.0.get(&(path, which))
    }

    /// Records rows of a product. Rows are `stride` numbers apart, of which the first `channels` count.
    pub(super) fn record(
        &mut self,
        path: BlockPath,
        which: ProductKind,
        rows: &[f32],
        stride: usize,
        channels: usize,
    ) {
        let statistics = self.0.entry((path, which)).or_insert_with(|| InputStatistics::new(channels));
        rows.chunks(stride).for_each(|row| statistics.add(row[..channels].iter().copied()));
    }

    /// Records rows of the first product of a block, which are normalised with `rms` before they are counted.
    pub(super) fn record_normed(&mut self, path: BlockPath, rows: &[f32], stride: usize, rms: Rms<'_>) {
        let statistics =
            self.0.entry((path, ProductKind::First)).or_insert_with(|| InputStatistics::new(rms.channels));
        for row in rows.chunks(stride) {
            let row = &row[..rms.channels];
            let squares: f32 = row.iter().map(|x| x * x).sum();
            let inverse = 1.0 / (squares / rms.channels as f32 + rms.epsilon).sqrt();
            statistics.add(row.iter().zip(rms.scale).map(|(x, scale)| x * scale * inverse));
        }
    }
}
