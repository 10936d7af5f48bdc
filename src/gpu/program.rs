//! The work that a card must do to evaluate a network, as data: shaders, buffers with their contents, and the numbers
//! of workgroups of each batch. `compiled.rs` executes it through wgpu, and the page without a server through the
//! browser's WebGPU.

use crate::GpuError;
use crate::shaders::{self, AttentionShape, ProductShape, Stored};
use half::f16;
use kosumi_net::plan::{
    Attention, Dense, Factors, LANES, Normalise, Normed, Plan, PlaneId, Pool, Product, RawResults, Role,
    Step, VectorId,
};
use kosumi_net::{Input, METADATA_FEATURES, Output, SPATIAL_FEATURES};
use std::borrow::Cow;
use std::collections::HashMap;

pub use crate::shaders::{MatrixUnits, Tile};

/// Power of two by which sums of residual blocks are multiplied before they are stored in 16 bits, so that they may
/// exceed 65504 eightfold.
const STREAM_SCALE: f32 = 0.125;

/// Number of bytes of [`shaders`]' uniform of dimensions.
const DIMENSIONS_BYTES: usize = 16;

/// Number of buffers besides the uniform that every implementation of WebGPU offers to a shader.
pub const USUAL_STORAGE_BUFFERS: usize = 8;

/// Batch size and arithmetic that a network is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Whether numbers are stored in 16 bits, except in the heads.
    pub half: bool,
    /// Whether products are also compiled for [`Tile::LARGE`], which helps cards with large batches.
    pub has_large_tiles: bool,
    /// Matrix units that products outside of the heads are also compiled for, if numbers are stored in 16 bits.
    pub matrix_units: Option<MatrixUnits>,
    /// Largest number of positions.
    pub positions: usize,
    /// Largest number of points of all positions.
    pub points: usize,
}

impl Settings {
    /// Returns the largest number of positions of a batch on boards of `area` points.
    pub fn max_positions(&self, area: usize) -> usize {
        (self.points / area).min(self.positions)
    }
}

/// Choice of the blocks of products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileChoice {
    /// Least number of points of a batch for which large tiles are used.
    pub large_from: usize,
    /// Whether matrix units are used where products are compiled for them.
    pub uses_matrix_units: bool,
}

impl TileChoice {
    /// Returns the index of the tile that serves a batch of `points` points. `tiles` are those of a product, in the
    /// order of [`Builder::product`].
    fn of(self, tiles: &[Tile], points: usize) -> usize {
        let is_suitable = |tile: &Tile| match tile.matrix_units {
            Some(_) => self.uses_matrix_units,
            None => *tile != Tile::LARGE || points >= self.large_from,
        };
        tiles.iter().position(is_suitable).unwrap_or_default()
    }

    /// Choice where nothing has been measured.
    pub const USUAL: TileChoice = TileChoice { large_from: 1 << 12, uses_matrix_units: false };
}

/// Limits of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Largest number of bytes of a buffer.
    pub buffer_bytes: u64,
    /// Largest number of buffers of a shader besides the uniform.
    pub storage_buffers: usize,
}

/// Index of a buffer in [`Program::buffers`].
pub type BufferId = usize;

/// Buffer of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Number of bytes, a multiple of 16.
    pub bytes: u64,
    /// Role of the buffer.
    pub kind: BufferKind,
}

/// Role of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferKind {
    /// Uniform of the dimensions of a batch.
    Dimensions,
    /// Numbers of a batch.
    Activations,
    /// Numbers of the network, which never change; see [`Program::contents`].
    Constant(Constant),
}

/// Numbers of a step that never change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constant {
    step: usize,
    part: ConstantPart,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ConstantPart {
    Weights,
    Angles,
    /// Factors and biases of a normalisation.
    Affine,
    Bias,
}

/// Buffer of a shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Binding {
    /// Buffer.
    pub buffer: BufferId,
    /// Whether the shader writes it.
    pub is_written: bool,
}

/// Step of a batch.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramStep {
    /// Index in [`Program::shaders`] for each tile of a product; a single one for other steps.
    pub shaders: Vec<usize>,
    /// Buffers of the bindings from 1 on. Binding 0 is the uniform of the dimensions.
    pub bindings: Vec<Binding>,
    grid: Grid,
}

/// Numbers of workgroups of a step.
#[derive(Clone, PartialEq, Debug)]
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

/// Part of the results: a buffer, and its place in the buffer that the processor reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Buffer that holds the part.
    pub buffer: BufferId,
    /// Place in the results, in bytes.
    pub offset: u64,
    /// Number of elements, for each point or for each position.
    elements: usize,
    is_of_points: bool,
}

impl Piece {
    /// Returns the number of bytes for `count` positions on boards of `area` points.
    pub fn bytes(&self, count: usize, area: usize) -> u64 {
        let each = if self.is_of_points { area } else { 1 };
        (count * each * self.elements * size_of::<f32>()) as u64
    }
}

/// Forward pass of a network for a device.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    plan: Plan,
    settings: Settings,
    shaders: Vec<String>,
    buffers: Vec<Buffer>,
    steps: Vec<ProgramStep>,
    dimensions: BufferId,
    spatial: BufferId,
    global: BufferId,
    metadata: BufferId,
    flags: BufferId,
    outputs: Vec<Piece>,
    results_bytes: u64,
}

/// Maker of a program.
struct Builder<'a> {
    plan: &'a Plan,
    settings: Settings,
    buffers: Vec<Buffer>,
    planes: Vec<Option<BufferId>>,
    vectors: Vec<BufferId>,
    factors: BufferId,
    flags: BufferId,
    shaders: Vec<String>,
    /// Index of each shader by its text.
    known: HashMap<String, usize>,
}

impl Program {
    /// Returns the program of a network.
    ///
    /// # Errors
    ///
    /// Returns an error if the shaders cannot compute the network.
    pub fn new(plan: Plan, settings: Settings) -> Result<Program, GpuError> {
        check_shape(&plan)?;
        let mut builder = Builder {
            plan: &plan,
            settings,
            buffers: Vec::new(),
            planes: Vec::new(),
            vectors: Vec::new(),
            factors: 0,
            flags: 0,
            shaders: Vec::new(),
            known: HashMap::new(),
        };
        let activations = BufferKind::Activations;
        for &elements in &plan.vectors {
            let vector = builder.buffer(elements * settings.positions * size_of::<f32>(), activations);
            builder.vectors.push(vector);
        }
        builder.factors = builder.buffer(settings.points * size_of::<f32>(), activations);
        builder.flags = builder.buffer(settings.positions * size_of::<u32>(), activations);
        let dimensions = builder.buffer(DIMENSIONS_BYTES, BufferKind::Dimensions);
        builder.planes = builder.place_planes();
        let steps = plan.steps.iter().enumerate().map(|(index, step)| builder.step(index, step)).collect();
        let mut outputs = Vec::new();
        let mut results_bytes = 0;
        let results = &plan.results;
        for (buffer, elements, is_of_points) in [
            (builder.plane(results.policy), plan.planes[results.policy.0].channels, true),
            (builder.plane(results.ownership), plan.planes[results.ownership.0].channels, true),
            (builder.vector(results.pass), plan.vectors[results.pass.0], false),
            (builder.vector(results.value), plan.vectors[results.value.0], false),
            (builder.vector(results.scores), plan.vectors[results.scores.0], false),
            (builder.flags, 1, false),
        ] {
            outputs.push(Piece { buffer, offset: results_bytes, elements, is_of_points });
            let count = if is_of_points { settings.points } else { settings.positions };
            results_bytes += (count * elements * size_of::<f32>()) as u64;
        }
        let spatial = builder.plane(Plan::SPATIAL);
        let [global, metadata] = [Plan::GLOBAL, Plan::METADATA].map(|vector| builder.vector(vector));
        let Builder { buffers, shaders, flags, .. } = builder;
        Ok(Program {
            plan,
            settings,
            shaders,
            buffers,
            steps,
            dimensions,
            spatial,
            global,
            metadata,
            flags,
            outputs,
            results_bytes: whole_size(results_bytes),
        })
    }

    /// Returns the network.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the settings.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Returns the texts of the shaders in WGSL. The function of each is called `main`.
    pub fn shaders(&self) -> &[String] {
        &self.shaders
    }

    /// Returns the buffers.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Returns the steps, in the order in which they follow each other.
    pub fn steps(&self) -> &[ProgramStep] {
        &self.steps
    }

    /// Returns the buffer of the [dimensions](Self::dimensions).
    pub fn dimensions_buffer(&self) -> BufferId {
        self.dimensions
    }

    /// Returns the buffer that must be filled with zeros before each batch.
    pub fn flags_buffer(&self) -> BufferId {
        self.flags
    }

    /// Returns the parts of the results, which are copied to one buffer after each batch.
    pub fn outputs(&self) -> &[Piece] {
        &self.outputs
    }

    /// Returns the size of the buffer of the results of the largest batch, in bytes.
    pub fn results_bytes(&self) -> u64 {
        self.results_bytes
    }

    /// Checks that a device with these limits can execute the program.
    ///
    /// # Errors
    ///
    /// Returns an error if a buffer is too large, or if a shader has too many buffers.
    pub fn check(&self, limits: Limits) -> Result<(), GpuError> {
        let bytes = self.buffers.iter().map(|buffer| buffer.bytes).chain([self.results_bytes]);
        if bytes.max() > Some(limits.buffer_bytes) {
            return Err(GpuError::Memory);
        }
        let bindings = self.steps.iter().map(|step| step.bindings.len());
        if bindings.max() > Some(limits.storage_buffers) {
            return Err(GpuError::Network("a shader has too many buffers"));
        }
        Ok(())
    }

    /// Returns the contents of a buffer that never change, in the byte order of this machine; `None` for other buffers,
    /// and for all of them after [`forget_weights`](Self::forget_weights).
    pub fn contents(&self, buffer: BufferId) -> Option<Vec<u8>> {
        let BufferKind::Constant(Constant { step, part }) = self.buffers[buffer].kind else { return None };
        let step = self.plan.steps.get(step)?;
        let (numbers, is_half): (Cow<'_, [f32]>, bool) = match (step, part) {
            (Step::Product(product), ConstantPart::Weights) => {
                let shape = self.settings.product(&self.plan, product).0;
                (padded_weights(product, &shape).into(), shape.weights.is_half)
            }
            (Step::Product(product), ConstantPart::Angles) => {
                (product.rotation.as_ref()?.table[..].into(), false)
            }
            (Step::Product(product), ConstantPart::Affine) => {
                (affine(product.normed.as_ref()?).into(), false)
            }
            (Step::Normalise(normalise), ConstantPart::Affine) => (affine(&normalise.normed).into(), false),
            (Step::Dense(dense), ConstantPart::Weights) => (dense.weights[..].into(), false),
            (Step::Dense(dense), ConstantPart::Bias) => (dense.bias.as_deref()?.into(), false),
            _ => return None,
        };
        Some(match is_half {
            true => {
                let halves: Vec<f16> = numbers.iter().map(|&number| f16::from_f32(number)).collect();
                bytemuck::cast_slice(&halves).to_vec()
            }
            false => bytemuck::cast_slice(&numbers).to_vec(),
        })
    }

    /// Frees the weights, after their copies are on the device.
    pub fn forget_weights(&mut self) {
        self.plan.steps = Vec::new();
    }

    /// Returns the contents of the uniform for a batch.
    pub fn dimensions(count: usize, width: usize, height: usize) -> [u32; 4] {
        let area = width * height;
        [count * area, area, width, height].map(|number| number as u32)
    }

    /// Returns the index of the tile of each step and its numbers of workgroups, for a batch of `count` positions on
    /// boards of `area` points.
    pub fn dispatches(
        &self,
        tiles: TileChoice,
        count: usize,
        area: usize,
    ) -> impl Iterator<Item = (usize, [u32; 3])> {
        let rows = count * area;
        self.steps.iter().map(move |step| {
            let mut which = 0;
            let grid = match step.grid {
                Grid::Product { tiles: ref all, columns } => {
                    which = tiles.of(all, rows);
                    [rows.div_ceil(all[which].rows), columns, 1]
                }
                Grid::Attention { heads } => [area.div_ceil(shaders::QUERIES), heads, count],
                Grid::Points { rows: each } => [rows.div_ceil(each), 1, 1],
                Grid::Rows => [rows.min(shaders::NORMALISE_ROWS), rows.div_ceil(shaders::NORMALISE_ROWS), 1],
                Grid::Positions => [count, 1, 1],
                Grid::Outputs { blocks } => [blocks, count, 1],
            };
            (which, grid.map(|number| number as u32))
        })
    }

    /// Passes the numbers of each buffer of inputs to `write`. `numbers` is memory for them.
    pub fn write_inputs(
        &self,
        inputs: &[&Input],
        numbers: &mut Vec<f32>,
        mut write: impl FnMut(BufferId, &[f32]),
    ) {
        let channels = self.plan.planes[Plan::SPATIAL.0].channels;
        numbers.clear();
        for input in inputs {
            for point in input.spatial.chunks_exact(SPATIAL_FEATURES) {
                numbers.extend_from_slice(point);
                numbers.resize(numbers.len() + channels - SPATIAL_FEATURES, 0.0);
            }
        }
        write(self.spatial, numbers);
        numbers.clear();
        let elements = self.plan.vectors[Plan::GLOBAL.0];
        for input in inputs {
            numbers.extend_from_slice(&input.global);
            numbers.resize(numbers.len() + elements - input.global.len(), 0.0);
        }
        write(self.global, numbers);
        numbers.clear();
        for input in inputs {
            match &input.metadata {
                Some(metadata) => numbers.extend_from_slice(&metadata[..]),
                None => numbers.resize(numbers.len() + METADATA_FEATURES, 0.0),
            }
        }
        write(self.metadata, numbers);
    }

    /// Returns the outputs of a batch from its results, in which each [`Piece`] lies at its offset. `None` stands for a
    /// position with numbers that do not fit into 16 bits or are not finite.
    pub fn read_results(&self, results: &[u8], count: usize, area: usize) -> Vec<Option<Output>> {
        let numbers = |piece: &Piece, position: usize| -> Vec<f32> {
            let bytes = piece.bytes(1, area) as usize;
            let start = piece.offset as usize + position * bytes;
            results[start..][..bytes].chunks_exact(4).map(f32_of).collect()
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
    }
}

/// Returns the four bytes of the number, in the byte order of this machine.
fn f32_of(bytes: &[u8]) -> f32 {
    f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Returns the size of a buffer for this number of bytes.
fn whole_size(bytes: u64) -> u64 {
    bytes.max(DIMENSIONS_BYTES as u64).next_multiple_of(16)
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

fn affine(normed: &Normed) -> Vec<f32> {
    [&normed.scale[..], &normed.bias[..]].concat()
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

impl Settings {
    /// Returns the shape of a product with the first of its tiles, and all of them, the most preferable first.
    fn product(&self, plan: &Plan, product: &Product) -> (ProductShape, Vec<Tile>) {
        let plane = |plane: PlaneId| stored(plan.planes[plane.0].role, self.half);
        let is_head = plan.is_in_head(product);
        let is_narrow = product.columns <= Tile::NARROW.columns && !product.is_gated;
        let half = self.half && !is_head;
        let of_units = self.matrix_units.filter(|_| half).map(Tile::of_matrix_units);
        let large = self.has_large_tiles.then_some(Tile::LARGE);
        let tiles: Vec<Tile> = match is_narrow {
            true => vec![Tile::NARROW],
            false => of_units.into_iter().chain(large).chain([Tile::SMALL]).collect(),
        };
        let shape = ProductShape {
            tile: tiles[0],
            height: product.height,
            width: product.width,
            inputs: plan.planes[product.input.0].channels,
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
        (shape, tiles)
    }
}

impl Builder<'_> {
    /// Returns the buffers of all planes. Planes that are not needed at the same time share a buffer.
    fn place_planes(&mut self) -> Vec<Option<BufferId>> {
        let (plan, settings) = (self.plan, self.settings);
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
        let buffers: Vec<BufferId> =
            sizes.iter().map(|&size| self.buffer(size, BufferKind::Activations)).collect();
        places.iter().map(|place| place.map(|place| buffers[place])).collect()
    }

    fn buffer(&mut self, bytes: usize, kind: BufferKind) -> BufferId {
        self.buffers.push(Buffer { bytes: whole_size(bytes as u64), kind });
        self.buffers.len() - 1
    }

    /// Makes a buffer with `elements` numbers that never change.
    fn constant(&mut self, step: usize, part: ConstantPart, elements: usize, half: bool) -> Binding {
        let bytes = elements * if half { size_of::<f16>() } else { size_of::<f32>() };
        read(self.buffer(bytes, BufferKind::Constant(Constant { step, part })))
    }

    fn affine(&mut self, step: usize, normed: &Normed) -> Binding {
        self.constant(step, ConstantPart::Affine, normed.scale.len() + normed.bias.len(), false)
    }

    fn plane(&self, plane: PlaneId) -> BufferId {
        self.planes[plane.0].expect("every plane that is used has a buffer")
    }

    fn vector(&self, vector: VectorId) -> BufferId {
        self.vectors[vector.0]
    }

    fn stored(&self, plane: PlaneId) -> Stored {
        stored(self.plan.planes[plane.0].role, self.settings.half)
    }

    fn vectors_of(&self, plane: PlaneId) -> usize {
        self.plan.planes[plane.0].channels / LANES
    }

    /// Returns the index of a shader.
    fn shader(&mut self, text: String) -> usize {
        let Builder { shaders, known, .. } = self;
        *known.entry(text).or_insert_with_key(|text| {
            shaders.push(text.clone());
            shaders.len() - 1
        })
    }

    /// Returns a step with these buffers after the dimensions.
    fn made(&mut self, texts: Vec<String>, bindings: Vec<Binding>, grid: Grid) -> ProgramStep {
        let shaders = texts.into_iter().map(|text| self.shader(text)).collect();
        ProgramStep { shaders, bindings, grid }
    }

    fn step(&mut self, index: usize, step: &Step) -> ProgramStep {
        match step {
            Step::Product(product) => self.product(index, product),
            Step::Attention(attention) => self.attention(attention),
            Step::Factors(factors) => self.factors(factors),
            Step::Normalise(normalise) => self.normalise(index, normalise),
            Step::Pool(pool) => self.pool(pool),
            Step::Dense(dense) => self.dense(index, dense),
        }
    }

    fn product(&mut self, index: usize, product: &Product) -> ProgramStep {
        let (shape, tiles) = self.settings.product(self.plan, product);
        let tile = shape.tile;
        let mut bindings = vec![read(self.plane(product.input))];
        let weights = product.height * product.width * shape.padded_inputs() * shape.padded_columns();
        bindings.push(self.constant(index, ConstantPart::Weights, weights, shape.weights.is_half));
        if product.uses_factors {
            bindings.push(read(self.factors));
        }
        if let Some(rotation) = &product.rotation {
            bindings.push(self.constant(index, ConstantPart::Angles, rotation.table.len(), false));
        }
        if let Some(vector) = product.vector {
            bindings.push(read(self.vector(vector)));
        }
        if let Some(residual) = product.residual {
            bindings.push(read(self.plane(residual)));
        }
        if let Some(sum) = product.sum {
            bindings.push(written(self.plane(sum)));
        }
        if let Some(normed) = &product.normed {
            bindings.push(written(self.plane(normed.output)));
            bindings.push(self.affine(index, normed));
        }
        if shape.writes_half() {
            bindings.push(written(self.flags));
        }
        let columns = shape.padded_columns() / tile.columns;
        let texts = tiles.iter().map(|&tile| shaders::product(&ProductShape { tile, ..shape })).collect();
        self.made(texts, bindings, Grid::Product { tiles, columns })
    }

    fn attention(&mut self, attention: &Attention) -> ProgramStep {
        let &Attention { input, output, heads, key_heads, key_width, value_width } = attention;
        let shape = AttentionShape {
            input: self.stored(input),
            output: self.stored(output),
            heads,
            key_heads,
            key_width,
            value_width,
        };
        let bindings = vec![read(self.plane(input)), written(self.plane(output))];
        self.made(vec![shaders::attention(&shape)], bindings, Grid::Attention { heads })
    }

    fn factors(&mut self, factors: &Factors) -> ProgramStep {
        let &Factors { input, channels, epsilon, is_spatial } = factors;
        let text =
            shaders::factors(self.stored(input), self.vectors_of(input), channels, epsilon, is_spatial);
        let bindings = vec![read(self.plane(input)), written(self.factors)];
        let grid = if is_spatial { Grid::Positions } else { Grid::Points { rows: shaders::FACTOR_ROWS } };
        self.made(vec![text], bindings, grid)
    }

    fn normalise(&mut self, index: usize, normalise: &Normalise) -> ProgramStep {
        let (input, normed) = (normalise.input, &normalise.normed);
        let output = self.stored(normed.output);
        let text = shaders::normalise(self.stored(input), output, self.vectors_of(input), normed.activation);
        let mut bindings = vec![
            read(self.plane(input)),
            read(self.factors),
            written(self.plane(normed.output)),
            self.affine(index, normed),
        ];
        if output.is_half {
            bindings.push(written(self.flags));
        }
        self.made(vec![text], bindings, Grid::Rows)
    }

    fn pool(&mut self, pool: &Pool) -> ProgramStep {
        let vectors = self.vectors_of(pool.input);
        let text = shaders::pool(self.stored(pool.input), vectors, pool.kind);
        let bindings = vec![read(self.plane(pool.input)), written(self.vector(pool.output))];
        self.made(vec![text], bindings, Grid::Outputs { blocks: vectors.div_ceil(shaders::POOL_VECTORS) })
    }

    fn dense(&mut self, index: usize, dense: &Dense) -> ProgramStep {
        let [inputs, outputs] = [dense.input, dense.output].map(|vector| self.plan.vectors[vector.0]);
        let has_added = dense.added.is_some();
        let text = shaders::dense(inputs, outputs, dense.bias.is_some(), dense.activation, has_added);
        let mut bindings = vec![
            read(self.vector(dense.input)),
            self.constant(index, ConstantPart::Weights, dense.weights.len(), false),
            written(self.vector(dense.output)),
        ];
        if let Some(bias) = &dense.bias {
            bindings.push(self.constant(index, ConstantPart::Bias, bias.len(), false));
        }
        if let Some(added) = dense.added {
            bindings.push(read(self.vector(added)));
        }
        self.made(vec![text], bindings, Grid::Outputs { blocks: outputs.div_ceil(shaders::THREADS) })
    }
}

fn read(buffer: BufferId) -> Binding {
    Binding { buffer, is_written: false }
}

fn written(buffer: BufferId) -> Binding {
    Binding { buffer, is_written: true }
}
