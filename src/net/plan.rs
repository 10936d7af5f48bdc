//! Description of a network's forward pass for backends other than the processor's kernels: a list of steps on planes
//! and vectors, in the order of evaluation.
//!
//! A step is coarse enough for one fused kernel: a product with everything that follows it at the same point, an
//! attention, a reduction over the board. Weights are already folded and laid out:
//!
//! * Channel counts are multiples of [`LANES`]. Padding channels are zero, before and after every step. Heads of
//!   attention are padded one by one.
//! * Batch normalisations are a factor and a bias per channel, applied by the product before them. The factors of
//!   normalisations by the root mean square are part of the next matrix. What is left of them is one factor per point.
//! * The scale of attention is part of the query matrix. The two matrices of a gated feed-forward block are one
//!   matrix, whose columns alternate in groups of [`GATE_GROUP`].
//!
//! A plane has a row of channels for each point of each position. A vector has a row of numbers for each position.

use super::input::{GLOBAL_FEATURES, METADATA_FEATURES, SPATIAL_FEATURES};
use super::layer::{Activation, Affine, Bias, Conv, MatMul, Norm, RmsNorm};
use super::model::{
    AttentionBlock, Block, FeedForwardBlock, GlobalPooling, GlobalPoolingBlock, NestedBottleneckBlock,
    Network, NormActConv, OrdinaryBlock, PolicyHead, TrunkNorm, ValueHead,
};
use super::output::Output;

/// Number that all channel counts of a plan are multiples of.
pub const LANES: usize = 4;

/// Number of adjacent columns of one of the two matrices of a gated product, before those of the other one follow.
pub const GATE_GROUP: usize = 32;

/// Largest number of rows or columns of a board that a [`Rotation`] has angles for.
pub const LARGEST_SIDE: usize = kosumi_go::board::MAX_SIDE;

/// Largest finite number of 16 bits.
pub const LARGEST_HALF: f32 = 65504.0;

/// Index of a plane in [`Plan::planes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PlaneId(pub usize);

/// Index of a vector in [`Plan::vectors`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VectorId(pub usize);

/// Plane of activations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plane {
    /// Number of channels, a multiple of [`LANES`].
    pub channels: usize,
    /// Role of the plane, which decides how it may be stored.
    pub role: Role,
}

/// Role of a plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Input features.
    Input,
    /// Sum of residual blocks. Its numbers grow with the depth of the network.
    Stream,
    /// Activations inside a block.
    Inner,
    /// Activations of the heads, which need 32 bits.
    Head,
}

/// Forward pass of a network.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// All planes. The first one, [`Plan::SPATIAL`], holds the features of the points.
    pub planes: Vec<Plane>,
    /// Number of elements per position of every vector. [`Plan::GLOBAL`] holds the features of the positions and
    /// [`Plan::METADATA`] those of the players.
    pub vectors: Vec<usize>,
    /// Steps in the order of evaluation.
    pub steps: Vec<Step>,
    /// Planes and vectors that hold the outputs.
    pub results: Results,
}

/// Planes and vectors that hold the outputs of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Results {
    /// Logits of moves, one to four per point.
    pub policy: PlaneId,
    /// Number of logits per move.
    pub policy_channels: usize,
    /// Logits of a pass.
    pub pass: VectorId,
    /// Logits of a win, a loss and no result.
    pub value: VectorId,
    /// Outputs about the score.
    pub scores: VectorId,
    /// Number of outputs about the score: 4 or 6.
    pub score_channels: usize,
    /// Owner of each point, in the first channel.
    pub ownership: PlaneId,
}

/// Step of a forward pass.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Convolution or matrix at every point.
    Product(Box<Product>),
    /// Attention of all heads.
    Attention(Attention),
    /// Factor per point of a normalisation by the root mean square, which the next [`Product`] or [`Normalise`] uses.
    Factors(Factors),
    /// Normalisation at the end of a trunk by the root mean square.
    Normalise(Box<Normalise>),
    /// Pooling over the board.
    Pool(Pool),
    /// Matrix that is applied once per position.
    Dense(Box<Dense>),
}

/// Convolution or matrix at every point, with the operations that follow it.
///
/// With `p` the product at a point, multiplied by the factor of the point if `uses_factors`, the steps are, in this
/// order: gate, rotation, `vector`, `residual`. The result is stored in `sum`, and normalised in `normed`.
#[derive(Clone, PartialEq, Debug)]
pub struct Product {
    /// Plane that is multiplied.
    pub input: PlaneId,
    /// Number of rows of the window; odd.
    pub height: usize,
    /// Number of columns of the window; odd.
    pub width: usize,
    /// Number of columns of the matrix, a multiple of [`LANES`].
    pub columns: usize,
    /// Weights, of shape `[height][width][channels of the input][columns]`.
    pub weights: Vec<f32>,
    /// Whether the result of the latest [`Factors`] multiplies each row.
    pub uses_factors: bool,
    /// Whether the columns are those of two matrices in groups of [`GATE_GROUP`]. The result is then `silu(first) ·
    /// second`, with half of the columns.
    pub is_gated: bool,
    /// Rotation of the first columns.
    pub rotation: Option<Rotation>,
    /// Vector that is added to all points of a position.
    pub vector: Option<VectorId>,
    /// Plane that is added.
    pub residual: Option<PlaneId>,
    /// Plane that the result is stored in.
    pub sum: Option<PlaneId>,
    /// Plane that the normalised and activated result is stored in.
    pub normed: Option<Normed>,
}

/// Factor, bias and activation that turn the result of a product into the input of the next one.
#[derive(Clone, PartialEq, Debug)]
pub struct Normed {
    /// Plane that the result is stored in.
    pub output: PlaneId,
    /// Factor per channel.
    pub scale: Vec<f32>,
    /// Bias per channel.
    pub bias: Vec<f32>,
    /// Activation.
    pub activation: Activation,
}

/// Rotary embedding: at column `x` and row `y` (from the top), the pair `p` of columns `(2p, 2p + 1)` is rotated by the
/// sum of the angles `x · right[p]` and `y · down[p]`.
#[derive(Clone, PartialEq, Debug)]
pub struct Rotation {
    /// Number of columns that are rotated, a multiple of [`LANES`].
    pub columns: usize,
    /// Cosine and sine, of shape `[column of the board, then row][LARGEST_SIDE][pair][2]`.
    pub table: Vec<f32>,
}

/// Attention of all heads. Queries, keys and values are the columns of one plane, in this order, head by head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attention {
    /// Plane of the queries, keys and values.
    pub input: PlaneId,
    /// Plane that the results are stored in, head by head.
    pub output: PlaneId,
    /// Number of heads of queries.
    pub heads: usize,
    /// Number of heads of keys and values, which divides `heads`.
    pub key_heads: usize,
    /// Number of channels of a query or a key, padded.
    pub key_width: usize,
    /// Number of channels of a value, padded.
    pub value_width: usize,
}

/// Computation of a factor per point, `1 / √(mean of the squares + ε)`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Factors {
    /// Plane whose channels are squared.
    pub input: PlaneId,
    /// Number of channels that the mean is taken over, without padding.
    pub channels: usize,
    /// Number that is added to the mean.
    pub epsilon: f32,
    /// Whether the mean is taken over all points of a position together.
    pub is_spatial: bool,
}

/// Product with the factors of the points, then a factor, a bias and an activation.
#[derive(Clone, PartialEq, Debug)]
pub struct Normalise {
    /// Plane that is normalised.
    pub input: PlaneId,
    /// Normalisation and output.
    pub normed: Normed,
}

/// Pooling of every channel over the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    /// Plane that is pooled.
    pub input: PlaneId,
    /// Vector of three numbers per channel: all first ones, all second ones, all third ones.
    pub output: VectorId,
    /// Kind of the third number.
    pub kind: PoolKind,
}

/// Third number of a pooling. The first one is the mean, and the second one the mean times `s`, where `s` is a tenth of
/// the difference between the side of a square board of the same area and 14.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PoolKind {
    /// Maximum.
    Maximum,
    /// Mean times `s² − 0.1`.
    SquaredScale,
}

/// Matrix that is applied once per position: `activation(input · weights + bias) + added`.
#[derive(Clone, PartialEq, Debug)]
pub struct Dense {
    /// Vector that is multiplied.
    pub input: VectorId,
    /// Vector of the result.
    pub output: VectorId,
    /// Weights, of shape `[inputs][outputs]`.
    pub weights: Vec<f32>,
    /// Bias per output.
    pub bias: Option<Vec<f32>>,
    /// Activation.
    pub activation: Activation,
    /// Vector that is added after the activation.
    pub added: Option<VectorId>,
}

/// Numbers of one position that a backend has computed, in the layout of [`Results`].
#[derive(Clone, Copy, Debug)]
pub struct RawResults<'a> {
    /// Rows of the policy plane.
    pub policy: &'a [f32],
    /// Logits of a pass.
    pub pass: &'a [f32],
    /// Logits of the result.
    pub value: &'a [f32],
    /// Outputs about the score.
    pub scores: &'a [f32],
    /// Rows of the ownership plane.
    pub ownership: &'a [f32],
}

impl Plan {
    /// Plane of the features of the points.
    pub const SPATIAL: PlaneId = PlaneId(0);
    /// Vector of the features of the positions.
    pub const GLOBAL: VectorId = VectorId(0);
    /// Vector of the features of the players.
    pub const METADATA: VectorId = VectorId(1);

    /// Returns the steps of the forward pass of `network`.
    pub fn of(network: &Network) -> Plan {
        let network = &network.without_dead_units();
        let spatial = Plane { channels: padded(SPATIAL_FEATURES), role: Role::Input };
        let mut planner = Planner {
            planes: vec![spatial],
            vectors: vec![padded(GLOBAL_FEATURES), padded(METADATA_FEATURES)],
            steps: Vec::new(),
        };
        let trunk = planner.trunk(network);
        let results = planner.heads(network, trunk);
        Plan { planes: planner.planes, vectors: planner.vectors, steps: planner.steps, results }
    }

    /// Returns whether a product belongs to the heads, whose numbers need 32 bits.
    pub fn is_in_head(&self, product: &Product) -> bool {
        let results = [product.sum, product.normed.as_ref().map(|normed| normed.output)];
        results.into_iter().flatten().any(|plane| self.planes[plane.0].role == Role::Head)
    }

    /// Returns whether the weights of all products outside of the heads fit into 16 bits.
    pub fn fits_half(&self) -> bool {
        self.steps.iter().all(|step| match step {
            Step::Product(product) if !self.is_in_head(product) => {
                product.weights.iter().all(|weight| weight.abs() <= LARGEST_HALF)
            }
            _ => true,
        })
    }

    /// Returns the output of a position.
    pub fn output(&self, raw: RawResults<'_>) -> Output {
        let channels = self.planes[self.results.policy.0].channels;
        let logits = |channel| raw.policy.chunks_exact(channels).map(|point| point[channel]).collect();
        let is_optimistic = self.results.policy_channels > 1;
        let owners = self.planes[self.results.ownership.0].channels;
        let mut output = Output {
            policy: logits(0),
            optimistic_policy: is_optimistic.then(|| logits(1)),
            pass: raw.pass[0],
            optimistic_pass: is_optimistic.then(|| raw.pass[1]),
            ownership: raw.ownership.chunks_exact(owners).map(|point| point[0]).collect(),
            ..Output::default()
        };
        output.set_value(raw.value);
        output.set_scores(&raw.scores[..self.results.score_channels]);
        output
    }
}

/// Returns the number of channels with padding.
fn padded(channels: usize) -> usize {
    channels.next_multiple_of(LANES)
}

/// Places of rows or columns of a matrix in the padded matrix, and the padded number.
struct Places {
    places: Vec<usize>,
    total: usize,
}

impl Places {
    /// Places in order, with padding at the end.
    fn plain(count: usize) -> Places {
        Places { places: (0..count).collect(), total: padded(count) }
    }

    /// Places of `groups` groups of `width` numbers, each with padding at its end.
    fn groups(groups: usize, width: usize) -> Places {
        let to = padded(width);
        let places = (0..groups).flat_map(|group| (0..width).map(move |at| group * to + at)).collect();
        Places { places, total: groups * to }
    }

    /// Places of the three pooled numbers per channel.
    fn pooled(channels: usize) -> Places {
        Places::groups(3, channels)
    }

    /// Places of the columns of one of the two matrices of a gated product.
    fn gate(count: usize, second: bool) -> Places {
        let place =
            |at: usize| at / GATE_GROUP * 2 * GATE_GROUP + usize::from(second) * GATE_GROUP + at % GATE_GROUP;
        let total = count.next_multiple_of(GATE_GROUP) * 2;
        Places { places: (0..count).map(place).collect(), total }
    }

    fn shifted(mut self, by: usize, total: usize) -> Places {
        self.places.iter_mut().for_each(|place| *place += by);
        self.total = total;
        self
    }

    /// Returns the numbers at their places, with zeros between them.
    fn spread(&self, numbers: &[f32]) -> Vec<f32> {
        let mut spread = vec![0.0; self.total];
        self.places.iter().zip(numbers).for_each(|(&place, &number)| spread[place] = number);
        spread
    }
}

/// Adds a matrix of shape `[taps][rows][columns]` to `to`, in which rows and columns have other places.
fn place(weights: &[f32], rows: &Places, columns: &Places, factor: impl Fn(usize) -> f32, to: &mut [f32]) {
    let (height, width) = (rows.places.len(), columns.places.len());
    for (index, row) in weights.chunks_exact(width).enumerate() {
        let (tap, at) = (index / height, index % height);
        let start = (tap * rows.total + rows.places[at]) * columns.total;
        let factor = factor(at);
        for (&column, &weight) in columns.places.iter().zip(row) {
            to[start + column] = weight * factor;
        }
    }
}

/// Input of a stack of blocks: the sum so far, and its normalised form for the first product, if that needs it.
#[derive(Clone, Copy)]
struct Entry {
    raw: PlaneId,
    normed: Option<PlaneId>,
}

/// Form of a product's result that the next step needs.
#[derive(Clone)]
enum RequiredInput {
    Raw,
    Normed(Affine, Activation),
}

struct Planner {
    planes: Vec<Plane>,
    vectors: Vec<usize>,
    steps: Vec<Step>,
}

/// Product without anything after it.
struct Matrix {
    height: usize,
    width: usize,
    columns: usize,
    weights: Vec<f32>,
}

impl Matrix {
    fn of_conv(conv: &Conv) -> Matrix {
        let (rows, columns) = (Places::plain(conv.inputs), Places::plain(conv.outputs));
        let mut weights = vec![0.0; conv.height * conv.width * rows.total * columns.total];
        place(&conv.weights.floats(), &rows, &columns, |_| 1.0, &mut weights);
        Matrix { height: conv.height, width: conv.width, columns: columns.total, weights }
    }

    fn of_points(columns: usize, weights: Vec<f32>) -> Matrix {
        Matrix { height: 1, width: 1, columns, weights }
    }

    fn product(self, input: PlaneId) -> Product {
        Product {
            input,
            height: self.height,
            width: self.width,
            columns: self.columns,
            weights: self.weights,
            uses_factors: false,
            is_gated: false,
            rotation: None,
            vector: None,
            residual: None,
            sum: None,
            normed: None,
        }
    }
}

impl Planner {
    fn plane(&mut self, channels: usize, role: Role) -> PlaneId {
        self.planes.push(Plane { channels, role });
        PlaneId(self.planes.len() - 1)
    }

    fn vector(&mut self, elements: usize) -> VectorId {
        self.vectors.push(elements);
        VectorId(self.vectors.len() - 1)
    }

    fn normed(&mut self, affine: &Affine, activation: Activation, role: Role) -> Normed {
        let places = Places::plain(affine.scale.len());
        let output = self.plane(places.total, role);
        Normed { output, scale: places.spread(&affine.scale), bias: places.spread(&affine.bias), activation }
    }

    fn norm(&mut self, norm: &Norm, activation: Activation, role: Role) -> Normed {
        self.normed(&norm.folded(), activation, role)
    }

    /// Adds a product whose result continues a stream.
    fn stream(&mut self, mut product: Product, required_input: &RequiredInput, keeps_raw: bool) -> Entry {
        let is_raw = keeps_raw || matches!(required_input, RequiredInput::Raw);
        let raw = self.plane(product.columns, Role::Stream);
        product.sum = is_raw.then_some(raw);
        if let RequiredInput::Normed(affine, activation) = required_input {
            product.normed = Some(self.normed(affine, *activation, Role::Inner));
        }
        let normed = product.normed.as_ref().map(|normed| normed.output);
        self.steps.push(Step::Product(Box::new(product)));
        Entry { raw, normed }
    }

    /// Adds a product whose only result is the input of the next one.
    fn inner(&mut self, mut product: Product, next: &NormActConv) -> PlaneId {
        let normed = self.norm(&next.norm, next.activation.activation, Role::Inner);
        let output = normed.output;
        product.normed = Some(normed);
        self.steps.push(Step::Product(Box::new(product)));
        output
    }

    fn dense(
        &mut self,
        matmul: &MatMul,
        rows: &Places,
        input: VectorId,
        (bias, activation): (Option<&Bias>, Activation),
        added: Option<VectorId>,
    ) -> VectorId {
        let columns = Places::plain(matmul.outputs);
        let mut weights = vec![0.0; rows.total * columns.total];
        place(&matmul.weights.floats(), rows, &columns, |_| 1.0, &mut weights);
        let output = self.vector(columns.total);
        let bias = bias.map(|bias| columns.spread(&bias.weights));
        self.steps.push(Step::Dense(Box::new(Dense { input, output, weights, bias, activation, added })));
        output
    }

    fn plain_dense(&mut self, matmul: &MatMul, rows: &Places, input: VectorId) -> VectorId {
        self.dense(matmul, rows, input, (None, Activation::Identity), None)
    }

    fn trunk(&mut self, network: &Network) -> PlaneId {
        let trunk = &network.trunk;
        let global = Places::plain(GLOBAL_FEATURES);
        let mut vector = self.plain_dense(&trunk.global_matmul, &global, Plan::GLOBAL);
        if let Some(encoder) = &trunk.metadata_encoder {
            let mut x = Plan::METADATA;
            for layer in [&encoder.first, &encoder.second] {
                let rows = Places::plain(layer.matmul.inputs);
                let after = (Some(&layer.bias), layer.activation.activation);
                x = self.dense(&layer.matmul, &rows, x, after, None);
            }
            let rows = Places::plain(encoder.last.inputs);
            vector = self.dense(&encoder.last, &rows, x, (None, Activation::Identity), Some(vector));
        }
        let mut first = Matrix::of_conv(&trunk.first_conv).product(Plan::SPATIAL);
        first.vector = Some(vector);
        let activation = trunk.last_activation.activation;
        let after = match &trunk.last_norm {
            TrunkNorm::Batch(norm) => RequiredInput::Normed(norm.folded(), activation),
            TrunkNorm::Rms(_) => RequiredInput::Raw,
        };
        let required_input = trunk.blocks.first().map_or(after.clone(), required_input_of);
        let entry = self.stream(first, &required_input, !trunk.blocks.is_empty());
        let end = self.stack(&trunk.blocks, entry, &after);
        match (&trunk.last_norm, end.normed) {
            (TrunkNorm::Rms(norm), _) => {
                self.steps.push(Step::Factors(Factors {
                    input: end.raw,
                    channels: trunk.channels,
                    epsilon: norm.epsilon as f32,
                    is_spatial: norm.is_spatial,
                }));
                let affine = Affine { scale: norm.scale.clone(), bias: norm.bias.clone() };
                let normed = self.normed(&affine, activation, Role::Inner);
                let output = normed.output;
                self.steps.push(Step::Normalise(Box::new(Normalise { input: end.raw, normed })));
                output
            }
            (TrunkNorm::Batch(_), normed) => normed.expect("the last block normalises"),
        }
    }

    /// Adds blocks. The result of the last one has the form that `after` states.
    fn stack(&mut self, blocks: &[Block], mut entry: Entry, after: &RequiredInput) -> Entry {
        for (index, block) in blocks.iter().enumerate() {
            let next = blocks.get(index + 1);
            let required_input = next.map_or_else(|| after.clone(), required_input_of);
            entry = self.block(block, entry, &required_input, next.is_some());
        }
        entry
    }

    fn block(
        &mut self,
        block: &Block,
        entry: Entry,
        required_input: &RequiredInput,
        keeps_raw: bool,
    ) -> Entry {
        match block {
            Block::Ordinary(block) => self.ordinary(block, entry, required_input, keeps_raw),
            Block::GlobalPooling(block) => self.global_pooling(block, entry, required_input, keeps_raw),
            Block::NestedBottleneck(block) => self.nested(block, entry, required_input, keeps_raw),
            Block::Attention(block) => self.attention(block, entry, required_input, keeps_raw),
            Block::FeedForward(block) => self.feed_forward(block, entry, required_input, keeps_raw),
        }
    }

    /// Adds the last convolution of a block.
    fn last_conv(
        &mut self,
        conv: &Conv,
        x: PlaneId,
        entry: Entry,
        required_input: &RequiredInput,
        keeps_raw: bool,
    ) -> Entry {
        let mut last = Matrix::of_conv(conv).product(x);
        last.residual = Some(entry.raw);
        self.stream(last, required_input, keeps_raw)
    }

    fn ordinary(
        &mut self,
        block: &OrdinaryBlock,
        entry: Entry,
        required_input: &RequiredInput,
        keeps_raw: bool,
    ) -> Entry {
        let x = entry.normed.expect("an ordinary block is given a normalised plane");
        let middle = self.inner(Matrix::of_conv(&block.first.conv).product(x), &block.second);
        self.last_conv(&block.second.conv, middle, entry, required_input, keeps_raw)
    }

    fn global_pooling(
        &mut self,
        block: &GlobalPoolingBlock,
        entry: Entry,
        required_input: &RequiredInput,
        keeps_raw: bool,
    ) -> Entry {
        let x = entry.normed.expect("a block with pooling is given a normalised plane");
        let pooled = self.pooling(&block.pooling, x, Role::Inner);
        let rows = Places::pooled(block.pooling.conv.outputs);
        let vector = self.plain_dense(&block.pooling.matmul, &rows, pooled);
        let mut first = Matrix::of_conv(&block.first.conv).product(x);
        first.vector = Some(vector);
        let middle = self.inner(first, &block.second);
        self.last_conv(&block.second.conv, middle, entry, required_input, keeps_raw)
    }

    fn pooling(&mut self, pooling: &GlobalPooling, x: PlaneId, role: Role) -> VectorId {
        let normed = self.norm(&pooling.norm, pooling.activation.activation, role);
        self.pooled(Matrix::of_conv(&pooling.conv).product(x), normed, PoolKind::Maximum)
    }

    /// Adds a product and pools its normalised result.
    fn pooled(&mut self, mut product: Product, normed: Normed, kind: PoolKind) -> VectorId {
        let input = normed.output;
        let output = self.vector(3 * self.planes[input.0].channels);
        product.normed = Some(normed);
        self.steps.push(Step::Product(Box::new(product)));
        self.steps.push(Step::Pool(Pool { input, output, kind }));
        output
    }

    fn nested(
        &mut self,
        block: &NestedBottleneckBlock,
        entry: Entry,
        required_input: &RequiredInput,
        keeps_raw: bool,
    ) -> Entry {
        let x = entry.normed.expect("a nested bottleneck is given a normalised plane");
        let second = RequiredInput::Normed(block.second.norm.folded(), block.second.activation.activation);
        let first_required_input = block.blocks.first().map_or(second.clone(), required_input_of);
        let first = Matrix::of_conv(&block.first.conv).product(x);
        let inner = self.stream(first, &first_required_input, !block.blocks.is_empty());
        let inner = self.stack(&block.blocks, inner, &second);
        let middle = inner.normed.expect("the last inner block normalises");
        self.last_conv(&block.second.conv, middle, entry, required_input, keeps_raw)
    }

    fn factors(&mut self, norm: &RmsNorm, input: PlaneId) {
        let (channels, epsilon) = (norm.scale.len(), norm.epsilon as f32);
        self.steps.push(Step::Factors(Factors { input, channels, epsilon, is_spatial: false }));
    }

    fn attention(
        &mut self,
        block: &AttentionBlock,
        entry: Entry,
        required_input: &RequiredInput,
        keeps_raw: bool,
    ) -> Entry {
        let (key_width, value_width) = (padded(block.key_width), padded(block.value_width));
        let rotated = (block.heads + block.key_heads) * key_width;
        let columns = rotated + block.key_heads * value_width;
        let rows = Places::plain(block.query.inputs);
        let mut weights = vec![0.0; rows.total * columns];
        let scale = 1.0 / (block.key_width as f32).sqrt();
        let matrices = [
            (&block.query, Places::groups(block.heads, block.key_width), 0, scale),
            (&block.key, Places::groups(block.key_heads, block.key_width), block.heads * key_width, 1.0),
            (&block.value, Places::groups(block.key_heads, block.value_width), rotated, 1.0),
        ];
        for (matrix, places, start, scale) in matrices {
            let places = places.shifted(start, columns);
            place(
                &matrix.weights.floats(),
                &rows,
                &places,
                |row| block.norm.scale[row] * scale,
                &mut weights,
            );
        }
        self.factors(&block.norm, entry.raw);
        let mut product = Matrix::of_points(columns, weights).product(entry.raw);
        product.uses_factors = true;
        product.rotation = block.rotary.as_ref().map(|_| rotation(block, rotated));
        let input = self.plane(columns, Role::Inner);
        product.sum = Some(input);
        self.steps.push(Step::Product(Box::new(product)));
        let output = self.plane(block.heads * value_width, Role::Inner);
        let (heads, key_heads) = (block.heads, block.key_heads);
        self.steps.push(Step::Attention(Attention {
            input,
            output,
            heads,
            key_heads,
            key_width,
            value_width,
        }));
        let (rows, columns) = (Places::groups(heads, block.value_width), Places::plain(block.output.outputs));
        let mut weights = vec![0.0; rows.total * columns.total];
        place(&block.output.weights.floats(), &rows, &columns, |_| 1.0, &mut weights);
        let mut product = Matrix::of_points(columns.total, weights).product(output);
        product.residual = Some(entry.raw);
        self.stream(product, required_input, keeps_raw)
    }

    fn feed_forward(
        &mut self,
        block: &FeedForwardBlock,
        entry: Entry,
        required_input: &RequiredInput,
        keeps_raw: bool,
    ) -> Entry {
        let rows = Places::plain(block.first.inputs);
        let units = block.first.outputs;
        let [first, second] = [false, true].map(|second| Places::gate(units, second));
        let columns = first.total;
        let mut weights = vec![0.0; rows.total * columns];
        for (matrix, places) in [(&block.first, first), (&block.gate, second)] {
            place(&matrix.weights.floats(), &rows, &places, |row| block.norm.scale[row], &mut weights);
        }
        self.factors(&block.norm, entry.raw);
        let mut product = Matrix::of_points(columns, weights).product(entry.raw);
        product.uses_factors = true;
        product.is_gated = true;
        let hidden = self.plane(columns / 2, Role::Inner);
        product.sum = Some(hidden);
        self.steps.push(Step::Product(Box::new(product)));
        let mut rows = Places::plain(units);
        rows.total = columns / 2;
        let columns = Places::plain(block.last.outputs);
        let mut weights = vec![0.0; rows.total * columns.total];
        place(&block.last.weights.floats(), &rows, &columns, |_| 1.0, &mut weights);
        let mut product = Matrix::of_points(columns.total, weights).product(hidden);
        product.residual = Some(entry.raw);
        self.stream(product, required_input, keeps_raw)
    }

    fn heads(&mut self, network: &Network, trunk: PlaneId) -> Results {
        let (policy, pass) = self.policy(&network.policy, trunk);
        let (value, scores, ownership) = self.value(&network.value, trunk);
        Results {
            policy,
            policy_channels: network.policy.last_conv.outputs,
            pass,
            value,
            scores,
            score_channels: network.value.score_matmul.outputs,
            ownership,
        }
    }

    /// Adds a product whose result is an output.
    fn last(&mut self, conv: &Conv, x: PlaneId) -> PlaneId {
        let mut product = Matrix::of_conv(conv).product(x);
        let output = self.plane(product.columns, Role::Head);
        product.sum = Some(output);
        self.steps.push(Step::Product(Box::new(product)));
        output
    }

    fn policy(&mut self, head: &PolicyHead, trunk: PlaneId) -> (PlaneId, VectorId) {
        let pooled = self.pooling(&head.pooling, trunk, Role::Head);
        let rows = Places::pooled(head.pooling.conv.outputs);
        let vector = self.plain_dense(&head.pooling.matmul, &rows, pooled);
        let mut product = Matrix::of_conv(&head.conv).product(trunk);
        product.vector = Some(vector);
        let normed = self.norm(&head.norm, head.activation.activation, Role::Head);
        let x = normed.output;
        product.normed = Some(normed);
        self.steps.push(Step::Product(Box::new(product)));
        let logits = self.last(&head.last_conv, x);
        let pass = match &head.pass {
            None => self.plain_dense(&head.pass_matmul, &rows, pooled),
            Some(pass) => {
                let after = (Some(&pass.bias), pass.activation.activation);
                let x = self.dense(&head.pass_matmul, &rows, pooled, after, None);
                self.plain_dense(&pass.matmul, &Places::plain(pass.matmul.inputs), x)
            }
        };
        (logits, pass)
    }

    fn value(&mut self, head: &ValueHead, trunk: PlaneId) -> (VectorId, VectorId, PlaneId) {
        let normed = self.norm(&head.norm, head.activation.activation, Role::Head);
        let x = normed.output;
        let pooled = self.pooled(Matrix::of_conv(&head.conv).product(trunk), normed, PoolKind::SquaredScale);
        let after = (Some(&head.bias), head.second_activation.activation);
        let middle = self.dense(&head.matmul, &Places::pooled(head.conv.outputs), pooled, after, None);
        let rows = Places::plain(head.matmul.outputs);
        let plain = Activation::Identity;
        let value = self.dense(&head.value_matmul, &rows, middle, (Some(&head.value_bias), plain), None);
        let scores = self.dense(&head.score_matmul, &rows, middle, (Some(&head.score_bias), plain), None);
        let ownership = self.last(&head.ownership_conv, x);
        (value, scores, ownership)
    }
}

/// Returns the form of the input that the first product of a block needs.
fn required_input_of(block: &Block) -> RequiredInput {
    let first = match block {
        Block::Ordinary(block) => &block.first,
        Block::GlobalPooling(block) => &block.first,
        Block::NestedBottleneck(block) => &block.first,
        Block::Attention(_) | Block::FeedForward(_) => return RequiredInput::Raw,
    };
    RequiredInput::Normed(first.norm.folded(), first.activation.activation)
}

/// Returns the angles of the queries and keys of a block with a rotary embedding.
fn rotation(block: &AttentionBlock, columns: usize) -> Rotation {
    let (pairs, sharing) = (block.key_width / 2, block.heads / block.key_heads);
    let pairs_of_head = padded(block.key_width) / 2;
    let mut steps = vec![[0.0; 2]; columns / 2];
    if let Some(rotary) = &block.rotary {
        for head in 0..block.heads + block.key_heads {
            let key_head = if head < block.heads { head / sharing } else { head - block.heads };
            for pair in 0..pairs {
                steps[head * pairs_of_head + pair] = rotary.steps(key_head, pair, pairs);
            }
        }
    }
    let table = (0..2).flat_map(|axis| (0..LARGEST_SIDE).map(move |at| (axis, at)));
    let table = table.flat_map(|(axis, at)| {
        let angles = steps.iter().map(move |step| at as f64 * step[axis]);
        angles.flat_map(|angle| [angle.cos() as f32, angle.sin() as f32])
    });
    Rotation { columns, table: table.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    #[test]
    fn large_weights_do_not_fit_into_16_bits() {
        let network = random::network(&random::Options::default()).unwrap();
        assert!(Plan::of(&network).fits_half());
        let mut in_trunk = network.clone();
        in_trunk.trunk.first_conv.weights.to_mut()[0] = -1e5;
        assert!(!Plan::of(&in_trunk).fits_half());
        // The heads are computed in 32 bits.
        let mut in_head = network;
        in_head.policy.last_conv.weights.to_mut()[0] = 1e5;
        assert!(Plan::of(&in_head).fits_half());
    }
}
