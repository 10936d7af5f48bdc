//! A network on the browser's graphics card. A worker with WebGPU executes what this module describes: it makes the
//! buffers and shaders of the [description](WebGpu::description), computes the batches of [`WebGpu::take`], and returns
//! the results.

use crate::session::StartError;
use kosumi_engine::{TimeSource, signature};
use kosumi_go::board::{BoardSize, MAX_SIDE};
use kosumi_gpu::program::{BufferKind, Limits, Program, Settings, TileChoice};
use kosumi_gpu::queued::{NotifyDriver, QueuedBatch, QueuedDevice, QueuedOptions};
use kosumi_net::device::{self, ProcessorShare};
use kosumi_net::plan::Plan;
use kosumi_net::{
    ArithmeticChoice, Context, Device, Differences, Forward, Input, Network, Output, Precision, Prediction,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Number of search threads for a card: two batches of eight. A thread is a worker of the browser with a stack and an
/// instance of the module, so more of them cost memory and seconds of start. Fewer leave a card idle. No card has been
/// measured.
pub const GPU_THREADS: usize = 16;

/// Largest number of positions of a batch.
const BATCH: usize = GPU_THREADS;

/// Sides of the boards on which a card is compared with the processor before it evaluates, and the numbers of equal
/// positions in the batch. The first is small, and the second uses the large blocks of products.
const CHECKED: [(usize, usize); 2] = [(9, 4), (19, BATCH)];

/// Like [`CHECKED`], for a software driver, which is slow and has one kind of block.
const CHECKED_SOFTWARE: [(usize, usize); 1] = [(9, 2)];

/// Options of [`WebGpu::open`].
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GpuOptions {
    /// Name for display.
    name: String,
    /// Whether the card can, and is to, compute with numbers that are stored in 16 bits.
    half: bool,
    /// Whether the processor only imitates a card.
    is_software: bool,
    /// Whether the card evaluates only what it evaluates faster than the processor.
    only_if_faster: bool,
    /// Number of threads that the processor runs at a time.
    processors: usize,
    /// Largest number of bytes of a buffer.
    buffer_bytes: u64,
    /// Largest number of buffers of a shader besides uniforms.
    storage_buffers: usize,
}

/// A network on the browser's graphics card.
#[derive(Debug)]
pub struct WebGpu {
    network: Arc<Network>,
    program: Program,
    device: Arc<QueuedDevice>,
    options: GpuOptions,
    time: TimeSource,
    /// Numbers and areas of the positions of batches on the card, by the number of the batch.
    in_flight: HashMap<u64, (usize, usize)>,
    /// Number of points of the smallest boards that the card evaluates.
    least_area: usize,
    numbers: Vec<f32>,
}

impl WebGpu {
    /// Prepares a network. `options` are [`GpuOptions`] as JSON. `notify_driver` makes the worker look for positions.
    ///
    /// # Errors
    ///
    /// Returns an error if the options are invalid or the card cannot compute the network.
    pub fn open(
        network: Arc<Network>,
        options: &str,
        time: TimeSource,
        notify_driver: NotifyDriver,
    ) -> Result<WebGpu, StartError> {
        let options: GpuOptions = serde_json::from_str(options)?;
        let plan = Plan::of(&network);
        let settings = Settings {
            half: options.half && plan.fits_half(),
            has_large_tiles: !options.is_software,
            matrix_units: None,
            positions: BATCH,
            points: BATCH * 19 * 19,
        };
        const _: () = assert!(BATCH * 19 * 19 >= MAX_SIDE * MAX_SIDE, "one board of the largest size fits");
        let unusable = |error: kosumi_gpu::GpuError| StartError::Value(error.to_string());
        let program = Program::new(plan, settings).map_err(unusable)?;
        let GpuOptions { buffer_bytes, storage_buffers, .. } = options;
        program.check(Limits { buffer_bytes, storage_buffers }).map_err(unusable)?;
        let device = QueuedDevice::new(QueuedOptions {
            name: options.name.clone(),
            threads: GPU_THREADS,
            settings,
            is_software: options.is_software,
            notify_driver,
        });
        Ok(WebGpu {
            network,
            program,
            device: Arc::new(device),
            options,
            time,
            in_flight: HashMap::new(),
            least_area: 0,
            numbers: Vec::new(),
        })
    }

    /// Returns the device, for threads that evaluate and for failures.
    pub fn device(&self) -> &Arc<QueuedDevice> {
        &self.device
    }

    /// Returns the shaders, buffers and steps.
    pub fn description(&self) -> Value {
        let program = &self.program;
        let buffers = program.buffers().iter().map(|buffer| {
            let kind = match buffer.kind {
                BufferKind::Dimensions => "dimensions",
                BufferKind::Activations => "activations",
                BufferKind::Constant(_) => "constant",
            };
            json!({ "bytes": buffer.bytes, "kind": kind })
        });
        let steps = program.steps().iter().map(|step| {
            let bindings = step.bindings.iter();
            let bindings = bindings.map(|it| json!({ "buffer": it.buffer, "isWritten": it.is_written }));
            json!({ "shaders": step.shaders, "bindings": bindings.collect::<Vec<_>>() })
        });
        json!({
            "shaders": program.shaders(),
            "buffers": buffers.collect::<Vec<_>>(),
            "steps": steps.collect::<Vec<_>>(),
            "dimensions": program.dimensions_buffer(),
            "flags": program.flags_buffer(),
            "resultsBytes": program.results_bytes(),
            "isHalf": program.settings().half,
            "checks": self.checked().len(),
        })
    }

    /// Returns the contents of a buffer that never change.
    pub fn contents(&self, buffer: usize) -> Option<Vec<u8>> {
        if buffer < self.program.buffers().len() { self.program.contents(buffer) } else { None }
    }

    /// Frees the weights, after they have been copied to the card.
    pub fn forget_weights(&mut self) {
        self.program.forget_weights();
    }

    fn checked(&self) -> &'static [(usize, usize)] {
        if self.options.is_software { &CHECKED_SOFTWARE } else { &CHECKED }
    }

    /// Returns the position of a check, on a board of this side.
    fn position(side: usize) -> Option<Input> {
        signature::inputs(BoardSize::square(side)?).into_iter().next()
    }

    /// Returns the message of the batch of a check.
    pub fn check_batch(&mut self, which: usize) -> Option<Vec<u8>> {
        let &(side, count) = self.checked().get(which)?;
        let input = WebGpu::position(side)?;
        Some(self.message(0, &vec![&input; count]))
    }

    /// Compares the results of the batch of a check with the processor. `time` is the time of the card for the batch.
    ///
    /// # Errors
    ///
    /// Returns the reason why the card must not evaluate.
    pub fn check(&mut self, which: usize, results: &[u8], time: Duration) -> Result<Value, String> {
        let &(side, count) = self.checked().get(which).ok_or("there is no such check")?;
        let input = WebGpu::position(side).ok_or("there is no position to check")?;
        let area = side * side;
        let not_finite = |_| "the processor computes numbers that are not finite".to_owned();
        let predict = |output: &Output| {
            let legal = vec![true; area];
            let context = Context { legal: &legal, no_result: true, optimism_share: 0.5, temperature: 1.0 };
            Prediction::new(&self.network, output, context).map_err(not_finite)
        };
        let exact = ArithmeticChoice { kernel: None, precision: Some(Precision::F32) };
        let expected = Forward::with_arithmetic(&self.network, exact).evaluate(&input).map_err(not_finite)?;
        let expected = predict(&expected)?;
        let mut differences = Differences::default();
        for output in self.program.read_results(results, count, area) {
            let output = output.ok_or("the card computes numbers that are not finite")?;
            differences.add(&predict(&output)?, &expected);
        }
        let precision = if self.program.settings().half { Precision::Int8 } else { Precision::F32 };
        if !differences.are_within_tolerance(precision) {
            return Err("the card computes something else than the processor".to_owned());
        }
        self.device.add_time(count * area, time);
        let by_card = time.as_secs_f64() / count as f64;
        let by_processor = self.time_of_processor(&input).map_err(not_finite)?;
        let by_all = by_processor / self.options.processors.max(1) as f64;
        if self.options.only_if_faster && by_card > by_all {
            if side > 9 {
                return Err("the processor is faster than the card".to_owned());
            }
            self.least_area = area + 1;
        }
        let Differences { probability, owner, lead, .. } = differences;
        Ok(json!({
            "probability": probability, "owner": owner, "lead": lead,
            "secondsByCard": by_card, "secondsByProcessor": by_processor,
        }))
    }

    /// Returns the time that the processor takes for a position, in seconds: the shorter of two measurements, because
    /// the first includes preparations.
    fn time_of_processor(&self, input: &Input) -> Result<f64, kosumi_net::NotFinite> {
        let mut forward = Forward::shared(&self.network, ArithmeticChoice::default()).on_processor();
        let mut least = f64::INFINITY;
        for _ in 0..2 {
            let start = (self.time)();
            forward.evaluate(input)?;
            least = least.min((self.time)().saturating_sub(start).as_secs_f64());
        }
        Ok(least)
    }

    /// Makes later engines with the network use the card.
    pub fn attach(&self) {
        let device: Arc<dyn Device> = Arc::clone(&self.device) as Arc<dyn Device>;
        device::attach(&self.network, device, self.least_area, ProcessorShare::default());
    }

    /// Returns the message of the next batch, if enough positions wait.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        let QueuedBatch { number, inputs } = self.device.take()?;
        let area = inputs.first().map(|input| input.width * input.height)?;
        self.in_flight.insert(number, (inputs.len(), area));
        Some(self.message(number, &inputs.iter().collect::<Vec<_>>()))
    }

    /// Takes the results of a batch, which took `time`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such batch or if the results are too short.
    pub fn answer(&mut self, number: u64, results: &[u8], time: Duration) -> Result<(), String> {
        let (count, area) = self.in_flight.remove(&number).ok_or("there is no such batch")?;
        if self.results_length(count, area) > results.len() as u64 {
            return Err("the results of a batch are too short".to_owned());
        }
        self.device.answer(number, self.program.read_results(results, count, area), time);
        Ok(())
    }

    /// Returns the number of bytes up to the end of the results of a batch.
    fn results_length(&self, count: usize, area: usize) -> u64 {
        let ends = self.program.outputs().iter().map(|piece| piece.offset + piece.bytes(count, area));
        ends.max().unwrap_or_default()
    }

    /// Returns the message of a batch for the worker. It consists of 32-bit numbers, in the byte order of this machine:
    ///
    /// * the number of the batch, and the numbers of writes, steps and copies that follow;
    /// * for each write: the buffer, the place of the contents in this message, and their number of bytes;
    /// * for each step: the index of the shader, and the numbers of workgroups;
    /// * for each copy: the buffer, the place in the results, and the number of bytes;
    /// * the contents.
    fn message(&mut self, number: u64, inputs: &[&Input]) -> Vec<u8> {
        let (width, height, count) = (inputs[0].width, inputs[0].height, inputs.len());
        let area = width * height;
        let mut contents: Vec<u8> = Vec::new();
        let mut writes: Vec<[usize; 3]> = Vec::new();
        let dimensions = Program::dimensions(count, width, height);
        let mut write = |buffer: usize, bytes: &[u8]| {
            writes.push([buffer, contents.len(), bytes.len()]);
            contents.extend_from_slice(bytes);
        };
        write(self.program.dimensions_buffer(), &bytes_of(dimensions));
        self.program.write_inputs(inputs, &mut self.numbers, |buffer, numbers| {
            write(buffer, &numbers.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<u8>>());
        });
        let steps: Vec<[u32; 4]> = self
            .program
            .dispatches(TileChoice::USUAL, count, area)
            .map(|(which, [x, y, z])| [which as u32, x, y, z])
            .collect();
        let copies = self.program.outputs();
        let header = 4 + 3 * writes.len() + 4 * steps.len() + 3 * copies.len();
        let start = header * size_of::<u32>();
        let mut message: Vec<u8> = Vec::with_capacity(start + contents.len());
        let mut add = |numbers: &[u32]| message.extend_from_slice(&bytes_of(numbers.iter().copied()));
        add(&[number as u32, writes.len() as u32, steps.len() as u32, copies.len() as u32]);
        for [buffer, at, length] in writes {
            add(&[buffer as u32, (start + at) as u32, length as u32]);
        }
        steps.iter().for_each(|step| add(step));
        for copy in copies {
            add(&[copy.buffer as u32, copy.offset as u32, copy.bytes(count, area) as u32]);
        }
        message.extend_from_slice(&contents);
        message
    }
}

fn bytes_of(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    numbers.into_iter().flat_map(u32::to_ne_bytes).collect()
}

#[cfg(test)]
mod tests;
