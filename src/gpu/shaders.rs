//! Text of the compute shaders, in WGSL. Every shader is made for one shape, so that loops have constant bounds; equal
//! shapes share a shader.
//!
//! All shaders multiply and add in 32 bits. Planes and weights are stored in 32 or 16 bits ([`Stored`]). The rows of a
//! plane are the points of all positions of a batch, position by position.
//!
//! Binding 0 is the uniform [`DIMENSIONS`]. The other bindings follow in the order in which a shader declares them.

use kosumi_net::Activation;
use kosumi_net::plan::{GATE_GROUP, LANES, LARGEST_HALF, LARGEST_SIDE, PoolKind};
use std::fmt::Write as _;

/// Number of rows of the matrix that a product reads at a time, per tap of the window. Matrix units read twice as many
/// if the number of rows permits that.
pub(crate) const DEPTH: usize = 16;

/// Largest number of channels of a head of attention, queries and values together, whose rows fit into registers.
pub(crate) const WIDEST_HEAD: usize = 512;

/// Type of numbers in a buffer, and the factor that they are stored with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Stored {
    /// Whether the numbers have 16 bits instead of 32.
    pub(crate) is_half: bool,
    /// Power of two that numbers are multiplied by before they are stored.
    pub(crate) scale: f32,
}

impl Stored {
    /// 32-bit numbers as they are.
    pub(crate) const SINGLE: Stored = Stored { is_half: false, scale: 1.0 };

    pub(crate) fn bytes(self) -> usize {
        if self.is_half { 2 } else { 4 }
    }

    fn vector(self) -> &'static str {
        if self.is_half { "vec4<f16>" } else { "vec4<f32>" }
    }
}

/// Units of a card that multiply small matrices of 16-bit numbers and add the products up in 32 bits. All threads of a
/// subgroup use one together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MatrixUnits {
    /// Number of rows and of columns of all matrices: 8 or 16.
    pub side: usize,
    /// Number of threads of a subgroup, a power of two from 8 to 64.
    pub subgroup: usize,
}

/// Block of the result that a workgroup of a product computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    /// Number of rows of the block.
    pub rows: usize,
    /// Number of columns of the block.
    pub columns: usize,
    /// Number of rows that a thread computes.
    thread_rows: usize,
    /// Number of vectors of columns that a thread computes.
    thread_vectors: usize,
    /// Matrix units that compute the sums. The threads then only share out the results.
    pub matrix_units: Option<MatrixUnits>,
}

impl Tile {
    /// For large batches.
    pub const LARGE: Tile =
        Tile { rows: 128, columns: 64, thread_rows: 8, thread_vectors: 2, matrix_units: None };
    /// For small batches, in which more workgroups keep more of the card busy.
    pub const SMALL: Tile =
        Tile { rows: 32, columns: 64, thread_rows: 4, thread_vectors: 2, matrix_units: None };
    /// For matrices of few columns.
    pub const NARROW: Tile =
        Tile { rows: 64, columns: 16, thread_rows: 4, thread_vectors: 1, matrix_units: None };

    /// Returns the tile for matrix units. The block is as large as the workgroup memory that every card has permits for
    /// its sums.
    pub(crate) const fn of_matrix_units(units: MatrixUnits) -> Tile {
        Tile { rows: 64, columns: 64, thread_rows: 4, thread_vectors: 2, matrix_units: Some(units) }
    }

    /// Returns the number of threads along the columns.
    const fn across(self) -> usize {
        self.columns / LANES / self.thread_vectors
    }

    /// Returns the number of threads along the rows.
    const fn down(self) -> usize {
        self.rows / self.thread_rows
    }

    const fn threads(self) -> usize {
        self.across() * self.down()
    }
}

// The two matrices of a gated product must fall to the two vectors of a thread.
const _: () =
    assert!(Tile::LARGE.across() * LANES == GATE_GROUP && Tile::SMALL.across() * LANES == GATE_GROUP);

/// Text of a shader while it is written.
struct Text {
    text: String,
    bindings: usize,
}

impl Text {
    fn new(uses_half: bool) -> Text {
        let mut text = String::new();
        if uses_half {
            text += "enable f16;\n";
        }
        text += DIMENSIONS;
        Text { text, bindings: 1 }
    }

    fn line(&mut self, line: &str) {
        self.text += line;
        self.text += "\n";
    }

    /// Declares a buffer of elements of a type.
    fn buffer(&mut self, name: &str, element: &str, is_written: bool) {
        let access = if is_written { "read_write" } else { "read" };
        let binding = self.bindings;
        let _ = writeln!(
            self.text,
            "@group(0) @binding({binding}) var<storage, {access}> {name}: array<{element}>;"
        );
        self.bindings += 1;
    }

    fn plane(&mut self, name: &str, stored: Stored, is_written: bool) {
        self.buffer(name, stored.vector(), is_written);
    }

    /// Declares the flags of positions that have numbers too large for 16 bits.
    fn flags(&mut self) {
        self.buffer("flags", "atomic<u32>", true);
    }

    /// Stores a vector of a position.
    fn store(&mut self, name: &str, index: &str, value: &str, stored: Stored) {
        let scaled = scaled(value, stored.scale);
        if !stored.is_half {
            let _ = writeln!(self.text, "{name}[{index}] = {scaled};");
            return;
        }
        let _ = writeln!(
            self.text,
            "{{ let w = {scaled}; {name}[{index}] = vec4<f16>(clamp(w, vec4<f32>(-{LARGEST_HALF:?}), vec4<f32>({LARGEST_HALF:?})));
            if !all(abs(w) <= vec4<f32>({LARGEST_HALF:?})) {{ atomicStore(&flags[position], 1u); }} }}"
        );
    }
}

/// Size of a batch.
const DIMENSIONS: &str = "
struct Dimensions { rows: u32, area: u32, width: u32, height: u32 }
@group(0) @binding(0) var<uniform> d: Dimensions;
";

fn scaled(value: &str, factor: f32) -> String {
    if factor == 1.0 { value.to_owned() } else { format!("({value}) * {factor:?}") }
}

/// Returns the expression of a vector in a buffer, without the factor by which stored numbers are multiplied.
fn load(name: &str, index: &str, stored: Stored) -> String {
    let value = format!("{name}[{index}]");
    let value = if stored.is_half { format!("vec4<f32>({value})") } else { value };
    scaled(&value, 1.0 / stored.scale)
}

fn activation(activation: Activation) -> &'static str {
    match activation {
        Activation::Identity => "fn act(x: vec4<f32>) -> vec4<f32> { return x; }",
        Activation::Relu => "fn act(x: vec4<f32>) -> vec4<f32> { return max(x, vec4<f32>(0.0)); }",
        // Above 20 the hyperbolic tangent is 1 in 32 bits.
        Activation::Mish => {
            "fn act(x: vec4<f32>) -> vec4<f32> {
              let e = exp(min(x, vec4<f32>(20.0)));
              let n = e * (e + vec4<f32>(2.0));
              return select(x * (n / (n + vec4<f32>(2.0))), x, x > vec4<f32>(20.0));
            }"
        }
        Activation::Silu => SILU,
    }
}

/// Function of SiLU. The exponent is limited, because not every driver computes with infinite numbers.
const SILU: &str = "fn act(x: vec4<f32>) -> vec4<f32> {
  return x / (vec4<f32>(1.0) + exp(min(-x, vec4<f32>(80.0))));
}";

/// Shape of a product.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ProductShape {
    pub(crate) tile: Tile,
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// Number of channels of the input.
    pub(crate) inputs: usize,
    /// Number of columns of the matrix, without the padding to whole tiles.
    pub(crate) columns: usize,
    pub(crate) input: Stored,
    pub(crate) weights: Stored,
    pub(crate) uses_factors: bool,
    pub(crate) is_gated: bool,
    /// Number of rotated columns.
    pub(crate) rotated: Option<usize>,
    pub(crate) has_vector: bool,
    pub(crate) residual: Option<Stored>,
    pub(crate) sum: Option<Stored>,
    pub(crate) normed: Option<(Stored, Activation)>,
}

impl ProductShape {
    /// Returns the number of columns with padding to whole tiles.
    pub(crate) fn padded_columns(&self) -> usize {
        self.columns.next_multiple_of(self.tile.columns)
    }

    /// Returns the number of channels of the input with padding to whole [`DEPTH`]s.
    pub(crate) fn padded_inputs(&self) -> usize {
        self.inputs.next_multiple_of(DEPTH)
    }

    /// Returns the number of rows of the matrix that are read at a time.
    fn depth(&self) -> usize {
        let is_long = self.tile.matrix_units.is_some() && self.padded_inputs().is_multiple_of(2 * DEPTH);
        if is_long { 2 * DEPTH } else { DEPTH }
    }

    fn is_window(&self) -> bool {
        self.height * self.width > 1
    }

    /// Returns whether numbers of 16 bits are written, which need the flags of positions.
    pub(crate) fn writes_half(&self) -> bool {
        let written = [self.sum, self.normed.map(|(stored, _)| stored)];
        written.into_iter().flatten().any(|stored| stored.is_half)
    }

    fn uses_half(&self) -> bool {
        self.input.is_half
            || self.weights.is_half
            || self.writes_half()
            || self.residual.is_some_and(|it| it.is_half)
            || self.tile.matrix_units.is_some()
    }
}

/// Returns the shader of a product.
///
/// Bindings: input, weights; then, where the shape has them, factors, rotation, vector, residual, sum, normed plane
/// with its factors and biases, flags.
pub(crate) fn product(shape: &ProductShape) -> String {
    let mut text = Text::new(shape.uses_half());
    if shape.tile.matrix_units.is_some() {
        text.text.insert_str(0, "enable wgpu_cooperative_matrix;\n");
    }
    text.plane("input", shape.input, false);
    text.plane("weights", shape.weights, false);
    if shape.uses_factors {
        text.buffer("factors", "f32", false);
    }
    if shape.rotated.is_some() {
        text.buffer("angles", "vec4<f32>", false);
    }
    if shape.has_vector {
        text.buffer("added", "vec4<f32>", false);
    }
    if let Some(stored) = shape.residual {
        text.plane("residual", stored, false);
    }
    if let Some(stored) = shape.sum {
        text.plane("sum", stored, true);
    }
    if let Some((stored, function)) = shape.normed {
        text.plane("normed", stored, true);
        text.buffer("affine", "vec4<f32>", false);
        text.line(activation(function));
    } else if shape.is_gated {
        text.line(SILU);
    }
    if shape.writes_half() {
        text.flags();
    }
    product_sums(shape, &mut text);
    product_results(shape, &mut text);
    text.text
}

/// Writes the declarations of the workgroup's memory and the sums of a product.
fn product_sums(shape: &ProductShape, text: &mut Text) {
    let tile = shape.tile;
    let (threads, across) = (tile.threads(), tile.across());
    let depth = shape.depth();
    let depth_vectors = depth / LANES;
    // Rows of a block have additional vectors, so that rows that are read together fall to different banks: rows of the
    // input, which adjacent threads read, and with matrix units rows of both blocks.
    let (element, left_pad, right_pad) =
        if tile.matrix_units.is_some() { ("vec4<f16>", 2, 2) } else { ("vec4<f32>", 1, 0) };
    let (left_stride, right_stride) = (depth_vectors + left_pad, tile.columns / LANES + right_pad);
    let (channels, padded) = (shape.inputs / LANES, shape.padded_inputs() / LANES);
    let all_columns = shape.padded_columns() / LANES;
    let (rows, vectors) = (tile.rows, tile.columns / LANES);
    let (left_size, right_size) = (rows * left_stride, depth * right_stride);
    let _ = write!(
        text.text,
        "var<workgroup> left: array<{element}, {left_size}>;
var<workgroup> right: array<{element}, {right_size}>;
"
    );
    if tile.matrix_units.is_some() {
        let _ = writeln!(text.text, "var<workgroup> sums: array<f32, {}>;", rows * tile.columns);
    }
    let _ = write!(
        text.text,
        "@compute @workgroup_size({threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {{
let tx = thread % {across}u;
let ty = thread / {across}u;
let first_row = group.x * {rows}u;
let first_column = group.y * {vectors}u;
let part = thread % {depth_vectors}u;
"
    );
    let loads = rows * depth_vectors / threads;
    for load in 0..loads {
        let row = format!("first_row + (thread + {}u) / {depth_vectors}u", load * threads);
        let _ = writeln!(text.text, "let row{load} = min({row}, d.rows - 1u);");
        if shape.is_window() {
            let _ = writeln!(
                text.text,
                "let y{load} = i32(row{load} % d.area / d.width); let x{load} = i32(row{load} % d.area % d.width);"
            );
        }
    }
    match tile.matrix_units {
        None => {
            for i in 0..tile.thread_rows {
                for j in 0..tile.thread_vectors {
                    let _ = writeln!(text.text, "var c{i}_{j} = vec4<f32>();");
                }
            }
        }
        Some(units) => Fragments::new(tile, units).declare(text),
    }
    let _ = writeln!(text.text, "for (var tap = 0u; tap < {}u; tap++) {{", shape.height * shape.width);
    if shape.is_window() {
        let _ = writeln!(
            text.text,
            "let dy = i32(tap / {}u) - {}; let dx = i32(tap % {}u) - {};",
            shape.width,
            shape.height / 2,
            shape.width,
            shape.width / 2
        );
    }
    for load in 0..loads {
        if shape.is_window() {
            let _ = writeln!(
                text.text,
                "let sy{load} = y{load} + dy; let sx{load} = x{load} + dx;
let is_inside{load} = sy{load} >= 0 && sy{load} < i32(d.height) && sx{load} >= 0 && sx{load} < i32(d.width);
let from{load} = u32(i32(row{load}) + select(0, dy * i32(d.width) + dx, is_inside{load})) * {channels}u + part;"
            );
        } else {
            let _ = writeln!(text.text, "let from{load} = row{load} * {channels}u + part;");
        }
    }
    let _ = writeln!(text.text, "for (var k = 0u; k < {padded}u; k += {depth_vectors}u) {{");
    for load in 0..loads {
        let value = format!("{element}(input[from{load} + k])");
        let mut conditions = Vec::new();
        if shape.is_window() {
            conditions.push(format!("is_inside{load}"));
        }
        if channels != padded {
            conditions.push(format!("k + part < {channels}u"));
        }
        let at = format!("((thread + {}u) / {depth_vectors}u) * {left_stride}u + part", load * threads);
        let line = if conditions.is_empty() {
            format!("left[{at}] = {value};")
        } else {
            let condition = conditions.join(" && ");
            format!("{{ var v = {element}(); if {condition} {{ v = {value}; }} left[{at}] = v; }}")
        };
        text.line(&line);
    }
    for load in 0..(depth * vectors) / threads {
        let number = format!("(thread + {}u)", load * threads);
        let row = format!("(tap * {padded}u + k) * {LANES}u + {number} / {vectors}u");
        let index = format!("({row}) * {all_columns}u + first_column + {number} % {vectors}u");
        let at = format!("{number} / {vectors}u * {right_stride}u + {number} % {vectors}u");
        let _ = writeln!(text.text, "right[{at}] = {element}(weights[{index}]);");
    }
    text.line("workgroupBarrier();");
    match tile.matrix_units {
        None => ordinary_sums(tile, depth_vectors, [left_stride, right_stride], text),
        Some(units) => Fragments::new(tile, units).add(depth, [left_stride, right_stride], text),
    }
    text.line("workgroupBarrier();\n}\n}");
    if let Some(units) = tile.matrix_units {
        Fragments::new(tile, units).share_out(tile, text);
    }
}

/// Writes the sums of a block by ordinary instructions.
fn ordinary_sums(tile: Tile, depth_vectors: usize, [left_stride, right_stride]: [usize; 2], text: &mut Text) {
    let (across, down) = (tile.across(), tile.down());
    let _ = writeln!(text.text, "for (var q = 0u; q < {depth_vectors}u; q++) {{");
    for i in 0..tile.thread_rows {
        let _ = writeln!(text.text, "let a{i} = left[(ty + {}u) * {left_stride}u + q];", i * down);
    }
    for (lane, name) in ["x", "y", "z", "w"].into_iter().enumerate() {
        text.line("{");
        for j in 0..tile.thread_vectors {
            let _ = writeln!(
                text.text,
                "let b{j} = right[(q * {LANES}u + {lane}u) * {right_stride}u + tx + {}u];",
                j * across
            );
        }
        for i in 0..tile.thread_rows {
            for j in 0..tile.thread_vectors {
                let _ = writeln!(text.text, "c{i}_{j} = fma(vec4<f32>(a{i}.{name}), b{j}, c{i}_{j});");
            }
        }
        text.line("}");
    }
    text.line("}");
}

/// Matrices of sums that the subgroups of a workgroup compute with matrix units. The subgroups divide the block among
/// them.
struct Fragments {
    units: MatrixUnits,
    /// Number of subgroups along the columns.
    across: usize,
    /// Numbers of matrices of a subgroup along the rows and along the columns.
    rows: usize,
    columns: usize,
    block_columns: usize,
}

impl Fragments {
    fn new(tile: Tile, units: MatrixUnits) -> Fragments {
        let subgroups = tile.threads() / units.subgroup;
        let down = 1 << subgroups.ilog2().div_ceil(2);
        let across = subgroups / down;
        Fragments {
            units,
            across,
            rows: tile.rows / down / units.side,
            columns: tile.columns / across / units.side,
            block_columns: tile.columns,
        }
    }

    fn declare(&self, text: &mut Text) {
        let &Fragments { units: MatrixUnits { side, subgroup }, across, .. } = self;
        let (rows, columns) = (self.rows * side, self.columns * side);
        let _ = writeln!(
            text.text,
            "let subgroup = thread / {subgroup}u;
let top = subgroup / {across}u * {rows}u;
let start = subgroup % {across}u * {columns}u;"
        );
        for i in 0..self.rows {
            for j in 0..self.columns {
                let _ = writeln!(text.text, "var m{i}_{j} = coop_mat{side}x{side}<f32, C>();");
            }
        }
    }

    fn add(&self, depth: usize, [left_stride, right_stride]: [usize; 2], text: &mut Text) {
        let side = self.units.side;
        let kind = |role: &str| format!("coop_mat{side}x{side}<f16, {role}>");
        for k in (0..depth).step_by(side) {
            text.line("{");
            for i in 0..self.rows {
                let at = format!("(top + {}u) * {left_stride}u + {}u", i * side, k / LANES);
                let _ =
                    writeln!(text.text, "let a{i} = coopLoadT<{}>(&left[{at}], {left_stride}u);", kind("A"));
            }
            for j in 0..self.columns {
                let at = format!("{}u + (start + {}u) / {LANES}u", k * right_stride, j * side);
                let _ = writeln!(
                    text.text,
                    "let b{j} = coopLoadT<{}>(&right[{at}], {right_stride}u);",
                    kind("B")
                );
                for i in 0..self.rows {
                    let _ = writeln!(text.text, "m{i}_{j} = coopMultiplyAdd(a{i}, b{j}, m{i}_{j});");
                }
            }
            text.line("}");
        }
    }

    /// Writes the sums to the memory of the workgroup, and reads them as the threads share out the results.
    fn share_out(&self, tile: Tile, text: &mut Text) {
        let &Fragments { units: MatrixUnits { side, .. }, block_columns, .. } = self;
        for i in 0..self.rows {
            for j in 0..self.columns {
                // naga needs names for all arguments.
                let _ = writeln!(
                    text.text,
                    "{{ let v = m{i}_{j}; let p = &sums[(top + {}u) * {block_columns}u + start + {}u]; let s = {block_columns}u; coopStoreT(v, p, s); }}",
                    i * side,
                    j * side
                );
            }
        }
        text.line("workgroupBarrier();");
        for i in 0..tile.thread_rows {
            for j in 0..tile.thread_vectors {
                let row = format!("(ty + {}u)", i * tile.down());
                let at = format!("{row} * {block_columns}u + (tx + {}u) * {LANES}u", j * tile.across());
                let _ = writeln!(
                    text.text,
                    "let c{i}_{j} = vec4<f32>(sums[{at}], sums[{at} + 1u], sums[{at} + 2u], sums[{at} + 3u]);"
                );
            }
        }
    }
}

/// Writes the part of the shader that follows the sums of a product.
fn product_results(shape: &ProductShape, text: &mut Text) {
    let tile = shape.tile;
    let (across, down) = (tile.across(), tile.down());
    let columns = if shape.is_gated { shape.columns / 2 } else { shape.columns } / LANES;
    for i in 0..tile.thread_rows {
        let _ = writeln!(
            text.text,
            "{{ let row = first_row + ty + {}u; if row < d.rows {{ let position = row / d.area;",
            i * down
        );
        let mut factor = "1.0".to_owned();
        if shape.uses_factors {
            factor = "factors[row]".to_owned();
        }
        let factor = scaled(&factor, 1.0 / shape.input.scale);
        let _ = writeln!(text.text, "let factor = {factor};");
        let vectors = if shape.is_gated { 1 } else { tile.thread_vectors };
        for j in 0..vectors {
            text.line("{");
            if shape.is_gated {
                text.line("let column = first_column / 2u + tx;");
                let _ = writeln!(text.text, "var v = act(c{i}_0 * factor) * (c{i}_1 * factor);");
            } else {
                let _ = writeln!(text.text, "let column = first_column + tx + {}u;", j * across);
                let _ = writeln!(text.text, "var v = c{i}_{j} * factor;");
            }
            let _ = writeln!(text.text, "if column < {columns}u {{ let at = row * {columns}u + column;");
            if let Some(rotated) = shape.rotated {
                let vectors = rotated / LANES;
                let _ = writeln!(
                    text.text,
                    "if column < {vectors}u {{
let point = row % d.area;
let r = angles[(point % d.width) * {vectors}u + column];
let s = angles[({LARGEST_SIDE}u + point / d.width) * {vectors}u + column];
let cosines = r.xxzz * s.xxzz - r.yyww * s.yyww;
let sines = r.yyww * s.xxzz + r.xxzz * s.yyww;
v = v * cosines + vec4<f32>(-v.y, v.x, -v.w, v.z) * sines;
}}"
                );
            }
            if shape.has_vector {
                let _ = writeln!(text.text, "v += added[position * {columns}u + column];");
            }
            if let Some(stored) = shape.residual {
                let _ = writeln!(text.text, "v += {};", load("residual", "at", stored));
            }
            if let Some(stored) = shape.sum {
                text.store("sum", "at", "v", stored);
            }
            if let Some((stored, _)) = shape.normed {
                let value = format!("act(fma(v, affine[column], affine[{columns}u + column]))");
                text.store("normed", "at", &value, stored);
            }
            text.line("}\n}");
        }
        text.line("}\n}");
    }
    text.line("}");
}

/// Shape of attention.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct AttentionShape {
    pub(crate) input: Stored,
    pub(crate) output: Stored,
    pub(crate) heads: usize,
    pub(crate) key_heads: usize,
    pub(crate) key_width: usize,
    pub(crate) value_width: usize,
}

/// Number of queries of a workgroup of attention.
pub(crate) const QUERIES: usize = 64;

/// Number of keys whose weights are computed before the sums are adapted to the largest of them.
const KEYS_AT_ONCE: usize = 8;

/// Memory of a workgroup for keys and values, in bytes, which every card has.
const KEY_MEMORY: usize = 16 << 10;

/// Returns the shader of attention with an online softmax: each thread has one query and keeps the largest product so
/// far, the sum of the weights and the weighted sum of the values, all relative to that product. Workgroups are
/// numbered by block of queries, head and position. Bindings: input, output.
///
/// CITE: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); Dao et al., "FlashAttention"
/// (2022).
pub(crate) fn attention(shape: &AttentionShape) -> String {
    let mut text = Text::new(shape.input.is_half || shape.output.is_half);
    text.plane("input", shape.input, false);
    text.plane("output", shape.output, true);
    let &AttentionShape { heads, key_heads, .. } = shape;
    let (key, value) = (shape.key_width / LANES, shape.value_width / LANES);
    let row = heads * key + key_heads * (key + value);
    let bytes = (key + value) * LANES * size_of::<f32>();
    let keys = (KEY_MEMORY / bytes / KEYS_AT_ONCE).clamp(1, 8) * KEYS_AT_ONCE;
    let sharing = heads / key_heads;
    let (key_start, value_start) = (heads * key, (heads + key_heads) * key);
    let (key_size, value_size) = (keys * key, keys * value);
    let _ = write!(
        text.text,
        "var<workgroup> keys: array<vec4<f32>, {key_size}>;
var<workgroup> values: array<vec4<f32>, {value_size}>;
@compute @workgroup_size({QUERIES})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {{
let point = group.x * {QUERIES}u + thread;
let first = group.z * d.area;
let row = (first + min(point, d.area - 1u)) * {row}u;
let key_head = group.y / {sharing}u;
var largest = -3e38;
var total = 0.0;
"
    );
    for channel in 0..key {
        let value = load("input", &format!("row + group.y * {key}u + {channel}u"), shape.input);
        let _ = writeln!(text.text, "let q{channel} = {value};");
    }
    for channel in 0..value {
        let _ = writeln!(text.text, "var o{channel} = vec4<f32>();");
    }
    let _ =
        writeln!(text.text, "for (var start = 0u; start < d.area; start += {keys}u) {{\nworkgroupBarrier();");
    for (name, size, width, offset) in
        [("keys", key_size, key, key_start), ("values", value_size, value, value_start)]
    {
        let index = format!("(first + point) * {row}u + {offset}u + key_head * {width}u + i % {width}u");
        let value = load("input", &index, shape.input);
        let _ = writeln!(
            text.text,
            "for (var i = thread; i < {size}u; i += {QUERIES}u) {{
let point = min(start + i / {width}u, d.area - 1u);
{name}[i] = {value};
}}"
        );
    }
    text.line("workgroupBarrier();");
    let _ = writeln!(text.text, "for (var k = 0u; k < {keys}u; k += {KEYS_AT_ONCE}u) {{");
    text.line("if start + k >= d.area { break; }");
    for one in 0..KEYS_AT_ONCE {
        let _ = write!(text.text, "var s{one} = 0.0");
        for channel in 0..key {
            let _ = write!(text.text, " + dot(q{channel}, keys[(k + {one}u) * {key}u + {channel}u])");
        }
        text.line(";");
        let _ = writeln!(text.text, "if start + k + {one}u >= d.area {{ s{one} = -3e38; }}");
    }
    text.line("var most = largest;");
    for one in 0..KEYS_AT_ONCE {
        let _ = writeln!(text.text, "most = max(most, s{one});");
    }
    text.line("let shrink = exp(largest - most); largest = most; total *= shrink;");
    for channel in 0..value {
        let _ = writeln!(text.text, "o{channel} *= shrink;");
    }
    for one in 0..KEYS_AT_ONCE {
        let _ = writeln!(text.text, "{{ let p = exp(s{one} - most); total += p;");
        for channel in 0..value {
            let _ = writeln!(
                text.text,
                "o{channel} = fma(vec4<f32>(p), values[(k + {one}u) * {value}u + {channel}u], o{channel});"
            );
        }
        text.line("}");
    }
    text.line("}\n}\nif point < d.area {");
    let all = heads * value;
    for channel in 0..value {
        let result = format!("o{channel} / total");
        let result = if shape.output.is_half { format!("vec4<f16>({result})") } else { result };
        let _ = writeln!(
            text.text,
            "output[(first + point) * {all}u + group.y * {value}u + {channel}u] = {result};"
        );
    }
    text.line("}\n}");
    text.text
}

/// Number of threads of the shaders that reduce or change planes.
pub(crate) const THREADS: usize = 64;

/// Number of rows of a workgroup of [`factors`].
pub(crate) const FACTOR_ROWS: usize = 8;

/// Returns the shader of the factors of points. With `is_spatial`, a workgroup computes those of a position, and
/// otherwise those of [`FACTOR_ROWS`] rows. Bindings: input, factors.
pub(crate) fn factors(
    input: Stored,
    vectors: usize,
    channels: usize,
    epsilon: f32,
    is_spatial: bool,
) -> String {
    let mut text = Text::new(input.is_half);
    text.plane("input", input, false);
    text.buffer("factors", "f32", true);
    let value = load("input", "i", input);
    let lanes = THREADS / FACTOR_ROWS;
    let _ = write!(
        text.text,
        "var<workgroup> sums: array<f32, {THREADS}>;
@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {{
var sum = 0.0;
"
    );
    if is_spatial {
        let _ = write!(
            text.text,
            "let first = group.x * d.area;
let size = d.area * {vectors}u;
// The sum of a row of numbers is added at once, because the error of one long sum would be larger.
for (var start = thread; start < size; start += {THREADS}u * 16u) {{
var some = 0.0;
for (var at = 0u; at < 16u; at++) {{
let offset = start + at * {THREADS}u;
if offset < size {{ let i = first * {vectors}u + offset; let v = {value}; some += dot(v, v); }}
}}
sum += some;
}}
sums[thread] = sum;
workgroupBarrier();
var total = 0.0;
for (var at = 0u; at < {THREADS}u; at++) {{ total += sums[at]; }}
let factor = inverseSqrt(total / (f32(d.area) * {channels}.0) + {epsilon:?});
for (var point = thread; point < d.area; point += {THREADS}u) {{ factors[first + point] = factor; }}
}}
"
        );
    } else {
        let _ = write!(
            text.text,
            "let row = group.x * {FACTOR_ROWS}u + thread / {lanes}u;
if row < d.rows {{
for (var at = thread % {lanes}u; at < {vectors}u; at += {lanes}u) {{
let i = row * {vectors}u + at; let v = {value}; sum += dot(v, v);
}}
}}
sums[thread] = sum;
workgroupBarrier();
if thread % {lanes}u == 0u && row < d.rows {{
var total = 0.0;
for (var at = 0u; at < {lanes}u; at++) {{ total += sums[thread + at]; }}
factors[row] = inverseSqrt(total / {channels}.0 + {epsilon:?});
}}
}}
"
        );
    }
    text.text
}

/// Largest number of workgroups of [`normalise`] in the first dimension, one for each row.
pub(crate) const NORMALISE_ROWS: usize = 1 << 15;

/// Returns the shader of a normalisation with the factors of points. Bindings: input, factors, output, factors and
/// biases of channels, flags if the output has 16 bits.
pub(crate) fn normalise(input: Stored, output: Stored, vectors: usize, function: Activation) -> String {
    let mut text = Text::new(input.is_half || output.is_half);
    text.plane("input", input, false);
    text.buffer("factors", "f32", false);
    text.plane("output", output, true);
    text.buffer("affine", "vec4<f32>", false);
    if output.is_half {
        text.flags();
    }
    text.line(activation(function));
    let value = load("input", "i", input);
    let _ = write!(
        text.text,
        "@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {{
let row = group.y * {NORMALISE_ROWS}u + group.x;
if row >= d.rows {{ return; }}
let position = row / d.area;
for (var column = thread; column < {vectors}u; column += {THREADS}u) {{
let i = row * {vectors}u + column;
let v = act(fma({value} * factors[row], affine[column], affine[{vectors}u + column]));
"
    );
    text.store("output", "i", "v", output);
    text.line("}\n}");
    text.text
}

/// Number of vectors of channels of a workgroup of [`pool`].
pub(crate) const POOL_VECTORS: usize = 8;

/// Returns the shader of a pooling over the board. Workgroups are numbered by block of [`POOL_VECTORS`] vectors and by
/// position. Bindings: input, output.
pub(crate) fn pool(input: Stored, vectors: usize, kind: PoolKind) -> String {
    let mut text = Text::new(input.is_half);
    text.plane("input", input, false);
    text.buffer("output", "vec4<f32>", true);
    let value = load("input", "i", input);
    let lanes = THREADS / POOL_VECTORS;
    let third = match kind {
        PoolKind::Maximum => "most",
        PoolKind::SquaredScale => "mean * (scale * scale - 0.1)",
    };
    let _ = write!(
        text.text,
        "var<workgroup> sums: array<vec4<f32>, {THREADS}>;
var<workgroup> maxima: array<vec4<f32>, {THREADS}>;
@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {{
let column = group.x * {POOL_VECTORS}u + thread % {POOL_VECTORS}u;
let lane = thread / {POOL_VECTORS}u;
var sum = vec4<f32>();
var most = vec4<f32>(-3e38);
if column < {vectors}u {{
for (var point = lane; point < d.area; point += {lanes}u) {{
let i = (group.y * d.area + point) * {vectors}u + column;
let v = {value};
sum += v;
most = max(most, v);
}}
}}
sums[thread] = sum;
maxima[thread] = most;
workgroupBarrier();
if lane == 0u && column < {vectors}u {{
for (var at = 1u; at < {lanes}u; at++) {{
sum += sums[thread + at * {POOL_VECTORS}u];
most = max(most, maxima[thread + at * {POOL_VECTORS}u]);
}}
let mean = sum / f32(d.area);
let scale = (sqrt(f32(d.area)) - 14.0) * 0.1;
let to = group.y * {}u + column;
output[to] = mean;
output[to + {vectors}u] = mean * scale;
output[to + {}u] = {third};
}}
}}
",
        3 * vectors,
        2 * vectors
    );
    text.text
}

/// Returns the shader of a matrix that is applied once per position. Workgroups are numbered by block of [`THREADS`]
/// outputs and by position. Bindings: input, weights, output, bias and added vector where they exist.
pub(crate) fn dense(
    inputs: usize,
    outputs: usize,
    has_bias: bool,
    function: Activation,
    has_added: bool,
) -> String {
    let mut text = Text::new(false);
    text.buffer("input", "f32", false);
    text.buffer("weights", "f32", false);
    text.buffer("output", "f32", true);
    if has_bias {
        text.buffer("bias", "f32", false);
    }
    if has_added {
        text.buffer("added", "f32", false);
    }
    text.line(activation(function));
    let bias = if has_bias { "bias[column]" } else { "0.0" };
    let added = if has_added { format!(" + added[group.y * {outputs}u + column]") } else { String::new() };
    let _ = write!(
        text.text,
        "@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {{
let column = group.x * {THREADS}u + thread;
if column < {outputs}u {{
var sum = {bias};
for (var i = 0u; i < {inputs}u; i++) {{
sum = fma(input[group.y * {inputs}u + i], weights[i * {outputs}u + column], sum);
}}
output[group.y * {outputs}u + column] = act(vec4<f32>(sum)).x{added};
}}
}}
"
    );
    text.text
}
