//! What products take, found out in a few positions: how large channels become, and what they are in the mean.
//!
//! In most products of a transformer there are channels that are nearly the same everywhere, and much larger than the others. What
//! they are in a few positions, they are in all.

use super::rows::Rms;
use hashbrown::HashMap;

/// Where a block is: its number, and the place of the block around it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place(u64);

impl Place {
    /// Of the whole trunk.
    pub(super) const TRUNK: Place = Place(0);

    /// Of a block inside.
    pub(super) fn inside(self, index: usize) -> Place {
        const BLOCKS: u64 = 1 << 16;
        Place(self.0.wrapping_mul(BLOCKS).wrapping_add(index as u64 + 1))
    }
}

/// One of the two products of a block of a transformer: the one that it begins with, or the one that it ends with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Which {
    First,
    Last,
}

/// Rows that a product took.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    /// The largest magnitude of each channel.
    pub(super) most: Vec<f32>,
    sums: Vec<f64>,
    squares: Vec<f64>,
    rows: usize,
}

impl Moments {
    fn new(channels: usize) -> Moments {
        Moments {
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

    /// The mean of a channel and its variance. Channels that are not known are zero.
    pub(super) fn of_channel(&self, channel: usize) -> (f32, f32) {
        let (Some(sum), Some(square)) = (self.sums.get(channel), self.squares.get(channel)) else {
            return (0.0, 0.0);
        };
        let rows = self.rows.max(1) as f64;
        let mean = sum / rows;
        (mean as f32, (square / rows - mean * mean).max(0.0) as f32)
    }

    /// The same channels, of which one is so many times as large.
    pub(super) fn scale(&mut self, channel: usize, factor: f32) {
        if channel < self.most.len() {
            self.most[channel] *= factor;
            self.sums[channel] *= f64::from(factor);
            self.squares[channel] *= f64::from(factor).powi(2);
        }
    }
}

/// What all products took that were looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed(HashMap<(Place, Which), Moments>);

impl Observed {
    /// The moments of a product's rows, if it was looked at.
    pub(super) fn of(&self, place: Place, which: Which) -> Option<&Moments> {
        self.0.get(&(place, which))
    }

    /// A product takes these rows, with so many numbers from one to the next.
    pub(super) fn record(
        &mut self,
        place: Place,
        which: Which,
        rows: &[f32],
        stride: usize,
        channels: usize,
    ) {
        let moments = self.0.entry((place, which)).or_insert_with(|| Moments::new(channels));
        rows.chunks(stride).for_each(|row| moments.add(row[..channels].iter().copied()));
    }

    /// A product takes these rows behind a norm.
    pub(super) fn record_normed(&mut self, place: Place, rows: &[f32], stride: usize, rms: Rms<'_>) {
        let moments = self.0.entry((place, Which::First)).or_insert_with(|| Moments::new(rms.channels));
        for row in rows.chunks(stride) {
            let row = &row[..rms.channels];
            let squares: f32 = row.iter().map(|x| x * x).sum();
            let inverse = 1.0 / (squares / rms.channels as f32 + rms.epsilon).sqrt();
            moments.add(row.iter().zip(rms.scale).map(|(x, scale)| x * scale * inverse));
        }
    }
}
