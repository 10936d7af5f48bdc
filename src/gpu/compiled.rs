//! Network on a card: its weights, the buffers of a batch, and the shaders of its steps.

use crate::GpuError;
use crate::cache::{self, Cache};
use crate::card::Connection;
use crate::shaders::{self, AttentionShape, MatrixUnits, ProductShape, Stored, Tile};
use half::f16;
use kosumi_net::plan::{
    Attention, Dense, Factors, LANES, Normalise, Normed, Plan, PlaneId, Pool, Product, RawResults, Role,
    Step, VectorId,
};
use kosumi_net::{Input, METADATA_FEATURES, Output, SPATIAL_FEATURES};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// Power of two that sums of residual blocks are stored with in 16 bits, so that they may exceed 65504 eightfold.
const STREAM_SCALE: f32 = 0.125;

/// Number of batches that may be on the card at a time. One is computed while the results of another one are read.
pub(crate) const IN_FLIGHT: usize = 2;

/// Number of bytes of [`shaders`]' uniform of dimensions.
const DIMENSIONS_BYTES: u64 = 16;

/// Batch size and arithmetic that a network is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    /// Whether numbers are stored in 16 bits, except in the heads.
    pub(crate) half: bool,
    /// Whether products are also compiled for [`Tile::LARGE`], which helps cards with large batches.
    pub(crate) has_large_tiles: bool,
    /// Matrix units that products outside of the heads are also compiled for, if numbers are stored in 16 bits.
    pub(crate) matrix_units: Option<MatrixUnits>,
    /// Largest number of positions.
    pub(crate) positions: usize,
    /// Largest number of points of all positions.
    pub(crate) points: usize,
}

/// Choice of the blocks of products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TileChoice {
    /// Number of points of a batch from which on large tiles are used.
    pub(crate) large_from: usize,
    /// Whether matrix units are used where products are compiled for them.
    pub(crate) uses_matrix_units: bool,
}

impl TileChoice {
    /// Returns the index of one of the tiles of a product, which are in the order of [`Builder::product`], for a batch
    /// of `points` points.
    fn of(self, tiles: &[Tile], points: usize) -> usize {
        let wanted = |tile: &Tile| match tile.matrix_units {
            Some(_) => self.uses_matrix_units,
            None => *tile != Tile::LARGE || points >= self.large_from,
        };
        tiles.iter().position(wanted).unwrap_or_default()
    }

    /// Choice where nothing has been measured.
    pub(crate) const USUAL: TileChoice = TileChoice { large_from: 1 << 12, uses_matrix_units: false };
}

/// Network on a card.
#[derive(Debug)]
pub(crate) struct Compiled {
    connection: Connection,
    plan: Plan,
    settings: Settings,
    steps: Vec<CompiledStep>,
    dimensions: wgpu::Buffer,
    spatial: wgpu::Buffer,
    global: wgpu::Buffer,
    metadata: wgpu::Buffer,
    flags: wgpu::Buffer,
    outputs: Vec<Piece>,
    slots: [Slot; IN_FLIGHT],
    tiles: TileChoice,
    /// Memory for the inputs of a batch.
    upload: Vec<f32>,
}

/// Part of the results: a buffer, and its place in the buffer that the processor reads.
#[derive(Debug)]
struct Piece {
    buffer: wgpu::Buffer,
    offset: u64,
    /// Number of elements, for each point or for each position.
    elements: usize,
    is_of_points: bool,
}

/// Buffer that the processor reads the results of a batch from.
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
    /// Pipeline of each of the tiles of a product; otherwise one.
    pipelines: Vec<wgpu::ComputePipeline>,
    group: wgpu::BindGroup,
    grid: Grid,
}

/// Numbers of workgroups of a step.
#[derive(Clone, Debug)]
enum Grid {
    /// Blocks of rows of each of the tiles, by blocks of columns.
    Product {
        tiles: Vec<Tile>,
        columns: usize,
    },
    Attention {
        heads: usize,
    },
    Points {
        rows: usize,
    },
    Rows,
    Positions,
    /// Blocks of outputs, by positions.
    Outputs {
        blocks: usize,
    },
}

/// Batch on the card.
#[derive(Debug)]
pub(crate) struct Flight {
    slot: usize,
    submission: wgpu::SubmissionIndex,
    count: usize,
    area: usize,
}

/// Maker of buffers and pipelines.
struct Builder<'a> {
    connection: &'a Connection,
    plan: &'a Plan,
    settings: Settings,
    planes: Vec<Option<wgpu::Buffer>>,
    vectors: Vec<wgpu::Buffer>,
    factors: wgpu::Buffer,
    flags: wgpu::Buffer,
    dimensions: wgpu::Buffer,
    /// Layouts by whether each of the buffers is written.
    layouts: HashMap<Vec<bool>, (wgpu::BindGroupLayout, wgpu::PipelineLayout)>,
    pipelines: HashMap<String, wgpu::ComputePipeline>,
}

impl Compiled {
    /// Compiles a network.
    pub(crate) fn new(connection: Connection, plan: Plan, settings: Settings) -> Result<Compiled, GpuError> {
        check_shape(&plan)?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let make = |bytes: usize, usage| make_buffer(&connection, bytes as u64, usage);
        let vectors = plan.vectors.iter();
        let vectors = vectors
            .map(|&elements| make(elements * settings.positions * size_of::<f32>(), usage))
            .collect::<Result<Vec<_>, _>>()?;
        let factors = make(settings.points * size_of::<f32>(), usage)?;
        let flags = make(settings.positions * size_of::<u32>(), usage)?;
        let uniform = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let dimensions = make(DIMENSIONS_BYTES as usize, uniform)?;
        let planes = planes(&connection, &plan, settings)?;
        let mut builder = Builder {
            connection: &connection,
            plan: &plan,
            settings,
            planes,
            vectors,
            factors,
            flags,
            dimensions,
            layouts: HashMap::new(),
            pipelines: HashMap::new(),
        };
        let steps = plan.steps.iter().map(|step| builder.step(step)).collect::<Result<Vec<_>, _>>()?;
        let mut outputs = Vec::new();
        let mut bytes = 0;
        let results = &plan.results;
        for (buffer, elements, is_of_points) in [
            (builder.plane(results.policy), plan.planes[results.policy.0].channels, true),
            (builder.plane(results.ownership), plan.planes[results.ownership.0].channels, true),
            (builder.vector(results.pass), plan.vectors[results.pass.0], false),
            (builder.vector(results.value), plan.vectors[results.value.0], false),
            (builder.vector(results.scores), plan.vectors[results.scores.0], false),
            (builder.flags.clone(), 1, false),
        ] {
            outputs.push(Piece { buffer, offset: bytes, elements, is_of_points });
            let count = if is_of_points { settings.points } else { settings.positions };
            bytes += (count * elements * size_of::<f32>()) as u64;
        }
        let read = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        let slot = || -> Result<Slot, GpuError> {
            let buffer = make_buffer(&connection, bytes, read)?;
            Ok(Slot { buffer, is_used: false, state: Arc::default() })
        };
        let slots = [slot()?, slot()?];
        let spatial = builder.plane(Plan::SPATIAL);
        let [global, metadata] = [Plan::GLOBAL, Plan::METADATA].map(|vector| builder.vector(vector));
        let (flags, dimensions) = (builder.flags.clone(), builder.dimensions.clone());
        connection.check()?;
        Ok(Compiled {
            connection,
            plan,
            settings,
            steps,
            dimensions,
            spatial,
            global,
            metadata,
            flags,
            outputs,
            slots,
            tiles: TileChoice::USUAL,
            upload: Vec::new(),
        })
    }

    /// Returns the largest number of positions of a batch on boards of `area` points.
    pub(crate) fn most_positions(&self, area: usize) -> usize {
        (self.settings.points / area).min(self.settings.positions)
    }

    /// Returns a number for the shapes of the products and the arithmetic, for which measurements of one network are
    /// valid for another one.
    pub(crate) fn shape(&self) -> u64 {
        let steps = self.plan.steps.iter().filter_map(|step| match step {
            Step::Product(product) => Some((product.weights.len(), product.columns, product.is_gated)),
            _ => None,
        });
        let Settings { half, matrix_units, points, .. } = self.settings;
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
        self.settings.has_large_tiles
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
        self.settings.half && self.settings.matrix_units.is_some()
    }

    /// Starts a batch of positions on boards of the same size. At most [`IN_FLIGHT`] batches may be on the card, and
    /// at most [`most_positions`](Self::most_positions) in a batch.
    pub(crate) fn start(&mut self, inputs: &[&Input]) -> Result<Flight, GpuError> {
        let (width, height, count) = (inputs[0].width, inputs[0].height, inputs.len());
        let area = width * height;
        debug_assert!(count <= self.most_positions(area), "a batch fits");
        let rows = count * area;
        self.write_inputs(inputs);
        let sizes = [rows as u32, area as u32, width as u32, height as u32];
        self.connection.queue.write_buffer(&self.dimensions, 0, bytemuck::cast_slice(&sizes));
        let mut encoder = self.connection.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&self.flags, 0, None);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for step in &self.steps {
            let mut which = 0;
            let grid = match step.grid {
                Grid::Product { ref tiles, columns } => {
                    which = self.tiles.of(tiles, rows);
                    [rows.div_ceil(tiles[which].rows), columns, 1]
                }
                Grid::Attention { heads } => [area.div_ceil(shaders::QUERIES), heads, count],
                Grid::Points { rows: each } => [rows.div_ceil(each), 1, 1],
                Grid::Rows => [rows.min(shaders::NORMALISE_ROWS), rows.div_ceil(shaders::NORMALISE_ROWS), 1],
                Grid::Positions => [count, 1, 1],
                Grid::Outputs { blocks } => [blocks, count, 1],
            };
            let [x, y, z] = grid.map(|number| number as u32);
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
        for piece in &self.outputs {
            let bytes = piece.bytes(count, area);
            encoder.copy_buffer_to_buffer(&piece.buffer, 0, &self.slots[slot].buffer, piece.offset, bytes);
        }
        let submission = self.connection.queue.submit([encoder.finish()]);
        let state = Arc::new(AtomicU8::new(PENDING));
        self.slots[slot].state = Arc::clone(&state);
        self.slots[slot].is_used = true;
        self.slots[slot].buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            state.store(if result.is_ok() { READABLE } else { FAILED }, Ordering::Release);
        });
        self.connection.check()?;
        Ok(Flight { slot, submission, count, area })
    }

    fn write_inputs(&mut self, inputs: &[&Input]) {
        let queue = &self.connection.queue;
        let channels = self.plan.planes[Plan::SPATIAL.0].channels;
        self.upload.clear();
        for input in inputs {
            for point in input.spatial.chunks_exact(SPATIAL_FEATURES) {
                self.upload.extend_from_slice(point);
                self.upload.resize(self.upload.len() + channels - SPATIAL_FEATURES, 0.0);
            }
        }
        queue.write_buffer(&self.spatial, 0, bytemuck::cast_slice(&self.upload));
        self.upload.clear();
        let elements = self.plan.vectors[Plan::GLOBAL.0];
        for input in inputs {
            self.upload.extend_from_slice(&input.global);
            self.upload.resize(self.upload.len() + elements - input.global.len(), 0.0);
        }
        queue.write_buffer(&self.global, 0, bytemuck::cast_slice(&self.upload));
        self.upload.clear();
        for input in inputs {
            match &input.metadata {
                Some(metadata) => self.upload.extend_from_slice(&metadata[..]),
                None => self.upload.resize(self.upload.len() + METADATA_FEATURES, 0.0),
            }
        }
        queue.write_buffer(&self.metadata, 0, bytemuck::cast_slice(&self.upload));
    }

    /// Returns whether a batch is finished, without waiting for it.
    pub(crate) fn is_finished(&self, flight: &Flight) -> Result<bool, GpuError> {
        self.connection.look()?;
        Ok(self.slots[flight.slot].state.load(Ordering::Acquire) != PENDING)
    }

    /// Waits for a batch, but not longer than `patience`, and returns its outputs. `None` stands for a position with numbers that do not fit into 16
    /// bits or are not finite.
    pub(crate) fn finish(
        &mut self,
        flight: &Flight,
        patience: Duration,
    ) -> Result<Vec<Option<Output>>, GpuError> {
        let &Flight { slot, ref submission, count, area } = flight;
        self.connection.wait(submission.clone(), patience)?;
        if self.slots[slot].state.load(Ordering::Acquire) != READABLE {
            return Err(GpuError::Device("the results of a batch cannot be read".to_owned()));
        }
        let outputs = {
            let mapped = self.slots[slot]
                .buffer
                .get_mapped_range(..)
                .map_err(|error| GpuError::Device(error.to_string()))?;
            let numbers = |piece: &Piece, position: usize| -> Vec<f32> {
                let bytes = piece.bytes(1, area) as usize;
                let start = piece.offset as usize + position * bytes;
                mapped[start..][..bytes].chunks_exact(4).map(f32_of).collect()
            };
            (0..count)
                .map(|position| {
                    let [policy, ownership, pass, value, scores, flags] =
                        [0, 1, 2, 3, 4, 5].map(|piece: usize| numbers(&self.outputs[piece], position));
                    if flags[0].to_bits() != 0 {
                        return None;
                    }
                    let raw = RawResults {
                        policy: &policy,
                        pass: &pass,
                        value: &value,
                        scores: &scores,
                        ownership: &ownership,
                    };
                    self.plan.output(raw).into_finite().ok()
                })
                .collect()
        };
        self.slots[slot].buffer.unmap();
        self.slots[slot].is_used = false;
        Ok(outputs)
    }
}

/// Returns the number in four bytes in the order of this machine.
fn f32_of(bytes: &[u8]) -> f32 {
    f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

impl Piece {
    fn bytes(&self, count: usize, area: usize) -> u64 {
        let each = if self.is_of_points { area } else { 1 };
        (count * each * self.elements * size_of::<f32>()) as u64
    }
}

/// Checks that the shaders can compute a network.
fn check_shape(plan: &Plan) -> Result<(), GpuError> {
    for step in &plan.steps {
        if let Step::Attention(attention) = step
            && attention.key_width + attention.value_width > shaders::WIDEST_HEAD
        {
            return Err(GpuError::Network("a head of attention has too many channels"));
        }
    }
    Ok(())
}

fn make_buffer(
    connection: &Connection,
    bytes: u64,
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, GpuError> {
    let size = bytes.max(DIMENSIONS_BYTES).next_multiple_of(16);
    let limits = &connection.limits;
    if size > limits.max_buffer_size || size > limits.max_storage_buffer_binding_size {
        return Err(GpuError::Memory);
    }
    let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
    let buffer = connection.device.create_buffer(&descriptor);
    connection.check()?;
    Ok(buffer)
}

/// Returns how a plane is stored.
fn stored(role: Role, half: bool) -> Stored {
    match role {
        Role::Stream if half => Stored { is_half: true, scale: STREAM_SCALE },
        Role::Inner if half => Stored { is_half: true, scale: 1.0 },
        _ => Stored::SINGLE,
    }
}

/// Returns the planes that a step reads, and those that it writes.
fn planes_of(step: &Step) -> (Vec<PlaneId>, Vec<PlaneId>) {
    match step {
        Step::Product(product) => {
            let read = [Some(product.input), product.residual].into_iter().flatten().collect();
            let normed = product.normed.as_ref().map(|normed| normed.output);
            (read, [product.sum, normed].into_iter().flatten().collect())
        }
        Step::Attention(attention) => (vec![attention.input], vec![attention.output]),
        Step::Factors(factors) => (vec![factors.input], Vec::new()),
        Step::Normalise(normalise) => (vec![normalise.input], vec![normalise.normed.output]),
        Step::Pool(pool) => (vec![pool.input], Vec::new()),
        Step::Dense(_) => (Vec::new(), Vec::new()),
    }
}

/// Makes the buffers of all planes. Planes that are not needed at the same time share a buffer.
fn planes(
    connection: &Connection,
    plan: &Plan,
    settings: Settings,
) -> Result<Vec<Option<wgpu::Buffer>>, GpuError> {
    let mut last_use = vec![0; plan.planes.len()];
    for (index, step) in plan.steps.iter().enumerate() {
        let (read, written) = planes_of(step);
        read.iter().chain(&written).for_each(|plane| last_use[plane.0] = index);
    }
    for plane in [plan.results.policy, plan.results.ownership] {
        last_use[plane.0] = plan.steps.len();
    }
    let bytes = |plane: PlaneId| {
        let plane = plan.planes[plane.0];
        settings.points * plane.channels * stored(plane.role, settings.half).bytes()
    };
    // Sizes of the shared buffers, the buffer of each plane, and the buffers that are free.
    let mut sizes: Vec<usize> = Vec::new();
    let mut places: Vec<Option<usize>> = vec![None; plan.planes.len()];
    let mut free: Vec<usize> = Vec::new();
    let mut claim = |plane: PlaneId, free: &mut Vec<usize>, places: &mut Vec<Option<usize>>| {
        let needed = bytes(plane);
        // The buffer that has to grow least, or else shrinks least.
        let best = (0..free.len()).min_by_key(|&at| {
            let size = sizes[free[at]];
            (needed.saturating_sub(size), size)
        });
        let buffer = match best {
            Some(at) => free.swap_remove(at),
            None => {
                sizes.push(0);
                sizes.len() - 1
            }
        };
        sizes[buffer] = sizes[buffer].max(needed);
        places[plane.0] = Some(buffer);
    };
    claim(Plan::SPATIAL, &mut free, &mut places);
    for (index, step) in plan.steps.iter().enumerate() {
        let (read, written) = planes_of(step);
        for &plane in &written {
            claim(plane, &mut free, &mut places);
        }
        // The features are written again while the previous batch may still be on the card, but in the order of the
        // queue, so their buffer may be shared, too.
        for plane in read.iter().chain(&written) {
            if last_use[plane.0] == index
                && let Some(buffer) = places[plane.0]
                && !free.contains(&buffer)
            {
                free.push(buffer);
            }
        }
    }
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let buffers = sizes.iter();
    let buffers =
        buffers.map(|&size| make_buffer(connection, size as u64, usage)).collect::<Result<Vec<_>, _>>()?;
    Ok(places.iter().map(|place| place.map(|place| buffers[place].clone())).collect())
}

impl Builder<'_> {
    fn plane(&self, plane: PlaneId) -> wgpu::Buffer {
        self.planes[plane.0].clone().expect("every plane that is used has a buffer")
    }

    fn vector(&self, vector: VectorId) -> wgpu::Buffer {
        self.vectors[vector.0].clone()
    }

    fn stored(&self, plane: PlaneId) -> Stored {
        stored(self.plan.planes[plane.0].role, self.settings.half)
    }

    fn vectors_of(&self, plane: PlaneId) -> usize {
        self.plan.planes[plane.0].channels / LANES
    }

    /// Makes a buffer with contents.
    fn upload(&self, numbers: &[f32], half: bool) -> Result<wgpu::Buffer, GpuError> {
        let halves: Vec<f16>;
        let bytes: &[u8] = if half {
            halves = numbers.iter().map(|&number| f16::from_f32(number)).collect();
            bytemuck::cast_slice(&halves)
        } else {
            bytemuck::cast_slice(numbers)
        };
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let buffer = make_buffer(self.connection, bytes.len() as u64, usage)?;
        self.connection.queue.write_buffer(&buffer, 0, bytes);
        Ok(buffer)
    }

    fn affine(&self, normed: &Normed) -> Result<wgpu::Buffer, GpuError> {
        self.upload(&[&normed.scale[..], &normed.bias[..]].concat(), false)
    }

    fn layout(&mut self, written: &[bool]) -> (wgpu::BindGroupLayout, wgpu::PipelineLayout) {
        if let Some(known) = self.layouts.get(written) {
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
        self.layouts.insert(written.to_vec(), (group.clone(), pipeline.clone()));
        (group, pipeline)
    }

    fn pipeline(
        &mut self,
        text: String,
        layout: &wgpu::PipelineLayout,
    ) -> Result<wgpu::ComputePipeline, GpuError> {
        if let Some(known) = self.pipelines.get(&text) {
            return Ok(known.clone());
        }
        let device = &self.connection.device;
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.as_str().into()),
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
        self.pipelines.insert(text, pipeline.clone());
        Ok(pipeline)
    }

    /// Compiles a step with these buffers after the dimensions, each with whether it is written.
    fn compile(
        &mut self,
        texts: Vec<String>,
        buffers: &[(wgpu::Buffer, bool)],
        grid: Grid,
    ) -> Result<CompiledStep, GpuError> {
        let written: Vec<bool> = buffers.iter().map(|&(_, written)| written).collect();
        let (layout, pipeline_layout) = self.layout(&written);
        let pipelines = texts
            .into_iter()
            .map(|text| self.pipeline(text, &pipeline_layout))
            .collect::<Result<Vec<_>, _>>()?;
        let all = [&self.dimensions].into_iter().chain(buffers.iter().map(|(buffer, _)| buffer));
        let entries: Vec<_> = all
            .enumerate()
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding: binding as u32,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = self.connection.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        self.connection.check()?;
        Ok(CompiledStep { pipelines, group, grid })
    }

    fn step(&mut self, step: &Step) -> Result<CompiledStep, GpuError> {
        match step {
            Step::Product(product) => self.product(product),
            Step::Attention(attention) => self.attention(attention),
            Step::Factors(factors) => self.factors(factors),
            Step::Normalise(normalise) => self.normalise(normalise),
            Step::Pool(pool) => self.pool(pool),
            Step::Dense(dense) => self.dense(dense),
        }
    }

    fn product(&mut self, product: &Product) -> Result<CompiledStep, GpuError> {
        let plane = |plane: PlaneId| self.stored(plane);
        let is_head = self.plan.is_in_head(product);
        let is_narrow = product.columns <= Tile::NARROW.columns && !product.is_gated;
        let half = self.settings.half && !is_head;
        let of_units = self.settings.matrix_units.filter(|_| half).map(Tile::of_matrix_units);
        let large = self.settings.has_large_tiles.then_some(Tile::LARGE);
        let tiles: Vec<Tile> = match is_narrow {
            true => vec![Tile::NARROW],
            // The most preferable first.
            false => of_units.into_iter().chain(large).chain([Tile::SMALL]).collect(),
        };
        let tile = tiles[0];
        let shape = ProductShape {
            tile,
            height: product.height,
            width: product.width,
            inputs: self.plan.planes[product.input.0].channels,
            columns: product.columns,
            input: plane(product.input),
            weights: Stored { is_half: half, scale: 1.0 },
            uses_factors: product.uses_factors,
            is_gated: product.is_gated,
            rotated: product.rotation.as_ref().map(|rotation| rotation.columns),
            has_vector: product.vector.is_some(),
            residual: product.residual.map(plane),
            sum: product.sum.map(plane),
            normed: product.normed.as_ref().map(|normed| (plane(normed.output), normed.activation)),
        };
        let mut buffers = vec![(self.plane(product.input), false)];
        buffers.push((self.upload(&padded_weights(product, &shape), shape.weights.is_half)?, false));
        if product.uses_factors {
            buffers.push((self.factors.clone(), false));
        }
        if let Some(rotation) = &product.rotation {
            buffers.push((self.upload(&rotation.table, false)?, false));
        }
        if let Some(vector) = product.vector {
            buffers.push((self.vector(vector), false));
        }
        if let Some(residual) = product.residual {
            buffers.push((self.plane(residual), false));
        }
        if let Some(sum) = product.sum {
            buffers.push((self.plane(sum), true));
        }
        if let Some(normed) = &product.normed {
            buffers.push((self.plane(normed.output), true));
            buffers.push((self.affine(normed)?, false));
        }
        if shape.writes_half() {
            buffers.push((self.flags.clone(), true));
        }
        let columns = shape.padded_columns() / tile.columns;
        let texts = tiles.iter().map(|&tile| shaders::product(&ProductShape { tile, ..shape })).collect();
        self.compile(texts, &buffers, Grid::Product { tiles, columns })
    }

    fn attention(&mut self, attention: &Attention) -> Result<CompiledStep, GpuError> {
        let &Attention { input, output, heads, key_heads, key_width, value_width } = attention;
        let shape = AttentionShape {
            input: self.stored(input),
            output: self.stored(output),
            heads,
            key_heads,
            key_width,
            value_width,
        };
        let buffers = [(self.plane(input), false), (self.plane(output), true)];
        self.compile(vec![shaders::attention(&shape)], &buffers, Grid::Attention { heads })
    }

    fn factors(&mut self, factors: &Factors) -> Result<CompiledStep, GpuError> {
        let &Factors { input, channels, epsilon, is_spatial } = factors;
        let text =
            shaders::factors(self.stored(input), self.vectors_of(input), channels, epsilon, is_spatial);
        let buffers = [(self.plane(input), false), (self.factors.clone(), true)];
        let grid = if is_spatial { Grid::Positions } else { Grid::Points { rows: shaders::FACTOR_ROWS } };
        self.compile(vec![text], &buffers, grid)
    }

    fn normalise(&mut self, normalise: &Normalise) -> Result<CompiledStep, GpuError> {
        let (input, normed) = (normalise.input, &normalise.normed);
        let output = self.stored(normed.output);
        let text = shaders::normalise(self.stored(input), output, self.vectors_of(input), normed.activation);
        let mut buffers = vec![
            (self.plane(input), false),
            (self.factors.clone(), false),
            (self.plane(normed.output), true),
            (self.affine(normed)?, false),
        ];
        if output.is_half {
            buffers.push((self.flags.clone(), true));
        }
        self.compile(vec![text], &buffers, Grid::Rows)
    }

    fn pool(&mut self, pool: &Pool) -> Result<CompiledStep, GpuError> {
        let vectors = self.vectors_of(pool.input);
        let text = shaders::pool(self.stored(pool.input), vectors, pool.kind);
        let buffers = [(self.plane(pool.input), false), (self.vector(pool.output), true)];
        self.compile(vec![text], &buffers, Grid::Outputs { blocks: vectors.div_ceil(shaders::POOL_VECTORS) })
    }

    fn dense(&mut self, dense: &Dense) -> Result<CompiledStep, GpuError> {
        let [inputs, outputs] = [dense.input, dense.output].map(|vector| self.plan.vectors[vector.0]);
        let has_added = dense.added.is_some();
        let text = shaders::dense(inputs, outputs, dense.bias.is_some(), dense.activation, has_added);
        let mut buffers = vec![
            (self.vector(dense.input), false),
            (self.upload(&dense.weights, false)?, false),
            (self.vector(dense.output), true),
        ];
        if let Some(bias) = &dense.bias {
            buffers.push((self.upload(bias, false)?, false));
        }
        if let Some(added) = dense.added {
            buffers.push((self.vector(added), false));
        }
        self.compile(vec![text], &buffers, Grid::Outputs { blocks: outputs.div_ceil(shaders::THREADS) })
    }
}

/// Returns the weights of a product, padded with zeros to whole tiles.
fn padded_weights(product: &Product, shape: &ProductShape) -> Vec<f32> {
    let (rows, columns) = (shape.padded_inputs(), shape.padded_columns());
    let mut padded = vec![0.0; product.height * product.width * rows * columns];
    for (index, row) in product.weights.chunks_exact(product.columns).enumerate() {
        let (tap, at) = (index / shape.inputs, index % shape.inputs);
        padded[(tap * rows + at) * columns..][..product.columns].copy_from_slice(row);
    }
    padded
}

/// Compiles a shader without checks of indices and loops, which this crate's shaders do not need.
#[allow(unsafe_code)]
fn trusted(device: &wgpu::Device, descriptor: wgpu::ShaderModuleDescriptor<'_>) -> wgpu::ShaderModule {
    // SAFETY: the shaders come from `shaders.rs`. Their loops have constant bounds or the bounds of a batch, and their
    // indices stay inside the buffers, which are made for the largest batch and padded like the shaders' blocks.
    unsafe { device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
}
