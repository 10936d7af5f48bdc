//! Network on a card: the buffers and shaders of its [`Program`], through wgpu.

use crate::GpuError;
use crate::cache::{self, Cache};
use crate::card::Connection;
use crate::program::{Binding, BufferKind, Limits, Program, ProgramStep, Settings, TileChoice};
use kosumi_net::plan::{Plan, Step};
use kosumi_net::{Input, Output};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// Number of batches that may be on the card at a time. One is computed while the results of another one are read.
pub(crate) const IN_FLIGHT: usize = 2;

/// Network on a card.
#[derive(Debug)]
pub(crate) struct Compiled {
    connection: Connection,
    program: Program,
    buffers: Vec<wgpu::Buffer>,
    steps: Vec<CompiledStep>,
    slots: [Slot; IN_FLIGHT],
    tiles: TileChoice,
    /// Memory for the inputs of a batch.
    upload: Vec<f32>,
}

/// Buffer from which the processor reads the results of a batch.
#[derive(Debug)]
struct Slot {
    buffer: wgpu::Buffer,
    is_used: bool,
    state: Arc<AtomicU8>,
}

/// States of a [`Slot`]: the processor cannot read it yet, can read it, or never will.
const PENDING: u8 = 0;
const READABLE: u8 = 1;
const FAILED: u8 = 2;

#[derive(Debug)]
struct CompiledStep {
    /// One pipeline for each tile of a product; a single one for other steps.
    pipelines: Vec<wgpu::ComputePipeline>,
    group: wgpu::BindGroup,
}

/// Batch on the card.
#[derive(Debug)]
pub(crate) struct SubmittedBatch {
    slot: usize,
    submission: wgpu::SubmissionIndex,
    count: usize,
    area: usize,
}

/// Maker of pipelines.
struct Builder<'a> {
    connection: &'a Connection,
    program: &'a Program,
    buffers: &'a [wgpu::Buffer],
    /// Layouts by whether each of the buffers is written.
    layouts: HashMap<Vec<bool>, (wgpu::BindGroupLayout, wgpu::PipelineLayout)>,
    /// Pipeline of each shader that has been compiled.
    pipelines: Vec<Option<wgpu::ComputePipeline>>,
}

impl Compiled {
    /// Compiles a network.
    pub(crate) fn new(connection: Connection, plan: Plan, settings: Settings) -> Result<Compiled, GpuError> {
        let program = Program::new(plan, settings)?;
        let wgpu::Limits { max_buffer_size, max_storage_buffer_binding_size, .. } = connection.limits;
        program.check(Limits {
            buffer_bytes: max_buffer_size.min(max_storage_buffer_binding_size),
            storage_buffers: connection.limits.max_storage_buffers_per_shader_stage as usize,
        })?;
        let copied = wgpu::BufferUsages::COPY_DST;
        let buffers = program.buffers().iter().enumerate();
        let buffers = buffers
            .map(|(index, buffer)| {
                let usage = match buffer.kind {
                    BufferKind::Dimensions => wgpu::BufferUsages::UNIFORM | copied,
                    BufferKind::Activations => {
                        wgpu::BufferUsages::STORAGE | copied | wgpu::BufferUsages::COPY_SRC
                    }
                    BufferKind::Constant(_) => wgpu::BufferUsages::STORAGE | copied,
                };
                let made = make_buffer(&connection, buffer.bytes, usage)?;
                if let Some(contents) = program.contents(index) {
                    connection.queue.write_buffer(&made, 0, &contents);
                }
                Ok(made)
            })
            .collect::<Result<Vec<_>, GpuError>>()?;
        let mut builder = Builder {
            connection: &connection,
            program: &program,
            buffers: &buffers,
            layouts: HashMap::new(),
            pipelines: vec![None; program.shaders().len()],
        };
        let steps = program.steps().iter().map(|step| builder.step(step)).collect::<Result<Vec<_>, _>>()?;
        let read = copied | wgpu::BufferUsages::MAP_READ;
        let slot = || -> Result<Slot, GpuError> {
            let buffer = make_buffer(&connection, program.results_bytes(), read)?;
            Ok(Slot { buffer, is_used: false, state: Arc::default() })
        };
        let slots = [slot()?, slot()?];
        connection.check()?;
        let (tiles, upload) = (TileChoice::USUAL, Vec::new());
        Ok(Compiled { connection, program, buffers, steps, slots, tiles, upload })
    }

    /// Returns the largest number of positions of a batch on boards of `area` points.
    pub(crate) fn max_positions(&self, area: usize) -> usize {
        self.program.settings().max_positions(area)
    }

    /// Returns a number for the shapes of the products and the arithmetic. Measurements of one network are valid for
    /// another one with the same number.
    pub(crate) fn shape(&self) -> u64 {
        let steps = self.program.plan().steps.iter().filter_map(|step| match step {
            Step::Product(product) => Some((product.weights.len(), product.columns, product.is_gated)),
            _ => None,
        });
        let Settings { half, matrix_units, points, .. } = self.program.settings();
        cache::hash((steps.collect::<Vec<_>>(), half, matrix_units, points))
    }

    /// Keeps the compiled shaders for later runs, if the driver permits that.
    pub(crate) fn keep_shaders(&self, cache: &Cache) {
        if let Some(data) = self.connection.shaders.as_ref().and_then(|shaders| shaders.get_data()) {
            cache.keep_shaders(&data);
        }
    }

    #[cfg(test)]
    pub(crate) fn has_large_tiles(&self) -> bool {
        self.program.settings().has_large_tiles
    }

    /// Sets the blocks of products.
    pub(crate) fn use_tiles(&mut self, tiles: TileChoice) {
        self.tiles = tiles;
    }

    /// Returns the blocks of products.
    pub(crate) fn tiles(&self) -> TileChoice {
        self.tiles
    }

    /// Returns whether products are compiled for matrix units.
    pub(crate) fn has_matrix_units(&self) -> bool {
        let settings = self.program.settings();
        settings.half && settings.matrix_units.is_some()
    }

    /// Starts a batch of positions on boards of the same size. At most [`IN_FLIGHT`] batches may be on the card, and
    /// at most [`max_positions`](Self::max_positions) in a batch.
    pub(crate) fn start(&mut self, inputs: &[&Input]) -> Result<SubmittedBatch, GpuError> {
        let (width, height, count) = (inputs[0].width, inputs[0].height, inputs.len());
        let area = width * height;
        debug_assert!(count <= self.max_positions(area), "a batch fits");
        let Compiled { connection, program, buffers, steps, upload, .. } = self;
        let queue = &connection.queue;
        program.write_inputs(inputs, upload, |buffer, numbers| {
            queue.write_buffer(&buffers[buffer], 0, bytemuck::cast_slice(numbers));
        });
        let sizes = Program::dimensions(count, width, height);
        queue.write_buffer(&buffers[program.dimensions_buffer()], 0, bytemuck::cast_slice(&sizes));
        let mut encoder = connection.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&buffers[program.flags_buffer()], 0, None);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for (step, (which, [x, y, z])) in steps.iter().zip(program.dispatches(self.tiles, count, area)) {
            pass.set_pipeline(&step.pipelines[which]);
            pass.set_bind_group(0, &step.group, &[]);
            pass.dispatch_workgroups(x, y, z);
        }
        drop(pass);
        let slot = self
            .slots
            .iter()
            .position(|slot| !slot.is_used)
            .ok_or_else(|| GpuError::Device("more batches than buffers to read them from".to_owned()))?;
        for piece in program.outputs() {
            let (from, to) = (&buffers[piece.buffer], &self.slots[slot].buffer);
            encoder.copy_buffer_to_buffer(from, 0, to, piece.offset, piece.bytes(count, area));
        }
        let submission = queue.submit([encoder.finish()]);
        let state = Arc::new(AtomicU8::new(PENDING));
        self.slots[slot].state = Arc::clone(&state);
        self.slots[slot].is_used = true;
        self.slots[slot].buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            state.store(if result.is_ok() { READABLE } else { FAILED }, Ordering::Release);
        });
        self.connection.check()?;
        Ok(SubmittedBatch { slot, submission, count, area })
    }

    /// Returns whether a batch is finished, without waiting for it.
    pub(crate) fn is_finished(&self, batch: &SubmittedBatch) -> Result<bool, GpuError> {
        self.connection.poll()?;
        Ok(self.slots[batch.slot].state.load(Ordering::Acquire) != PENDING)
    }

    /// Waits for a batch, but not longer than `patience`, and returns its outputs. `None` stands for a position with
    /// numbers that do not fit into 16 bits or are not finite.
    pub(crate) fn finish(
        &mut self,
        batch: &SubmittedBatch,
        patience: Duration,
    ) -> Result<Vec<Option<Output>>, GpuError> {
        let &SubmittedBatch { slot, ref submission, count, area } = batch;
        self.connection.wait(submission.clone(), patience)?;
        if self.slots[slot].state.load(Ordering::Acquire) != READABLE {
            return Err(GpuError::Device("the results of a batch cannot be read".to_owned()));
        }
        let outputs = {
            let mapped = self.slots[slot]
                .buffer
                .get_mapped_range(..)
                .map_err(|error| GpuError::Device(error.to_string()))?;
            self.program.read_results(&mapped, count, area)
        };
        self.slots[slot].buffer.unmap();
        self.slots[slot].is_used = false;
        Ok(outputs)
    }
}

fn make_buffer(
    connection: &Connection,
    size: u64,
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, GpuError> {
    let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
    let buffer = connection.device.create_buffer(&descriptor);
    connection.check()?;
    Ok(buffer)
}

impl Builder<'_> {
    fn layout(&mut self, bindings: &[Binding]) -> (wgpu::BindGroupLayout, wgpu::PipelineLayout) {
        let written: Vec<bool> = bindings.iter().map(|binding| binding.is_written).collect();
        if let Some(known) = self.layouts.get(&written) {
            return known.clone();
        }
        let entry = |binding: usize, ty| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let buffers = written.iter().enumerate();
        let buffers = buffers.map(|(index, &written)| {
            entry(index + 1, wgpu::BufferBindingType::Storage { read_only: !written })
        });
        let entries: Vec<_> =
            [entry(0, wgpu::BufferBindingType::Uniform)].into_iter().chain(buffers).collect();
        let device = &self.connection.device;
        let group = device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&group)],
            immediate_size: 0,
        });
        self.layouts.insert(written, (group.clone(), pipeline.clone()));
        (group, pipeline)
    }

    fn pipeline(
        &mut self,
        shader: usize,
        layout: &wgpu::PipelineLayout,
    ) -> Result<wgpu::ComputePipeline, GpuError> {
        if let Some(known) = &self.pipelines[shader] {
            return Ok(known.clone());
        }
        let device = &self.connection.device;
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(self.program.shaders()[shader].as_str().into()),
        };
        let module = trusted(device, descriptor);
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: self.connection.shaders.as_ref(),
        });
        self.connection.check()?;
        self.pipelines[shader] = Some(pipeline.clone());
        Ok(pipeline)
    }

    fn step(&mut self, step: &ProgramStep) -> Result<CompiledStep, GpuError> {
        let (layout, pipeline_layout) = self.layout(&step.bindings);
        let pipelines = step
            .shaders
            .iter()
            .map(|&shader| self.pipeline(shader, &pipeline_layout))
            .collect::<Result<Vec<_>, _>>()?;
        let all = [self.program.dimensions_buffer()]
            .into_iter()
            .chain(step.bindings.iter().map(|binding| binding.buffer));
        let entries: Vec<_> = all
            .enumerate()
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding: binding as u32,
                resource: self.buffers[buffer].as_entire_binding(),
            })
            .collect();
        let group = self.connection.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        self.connection.check()?;
        Ok(CompiledStep { pipelines, group })
    }
}

/// Compiles a shader without checks of indices and loops, which this crate's shaders do not need.
#[allow(unsafe_code)]
fn trusted(device: &wgpu::Device, descriptor: wgpu::ShaderModuleDescriptor<'_>) -> wgpu::ShaderModule {
    // SAFETY: the shaders come from `shaders.rs`. Their loops have constant bounds or the bounds of a batch, and their
    // indices stay inside the buffers, which are made for the largest batch and padded like the shaders' blocks.
    unsafe { device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
}
