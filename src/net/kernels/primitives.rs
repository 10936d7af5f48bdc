//! Kernels, compiled for each instruction set.
//!
//! A [`Primitives`] is a table of functions with the same behaviour and different speed. The modules above use only
//! these tables, and the modules below are generic over [`Simd`]. No other file names instruction sets.

use super::attention::{self, Attention, BlockProduct};
use super::gemm::{self, Gemm};
use super::kernel::Kernel;
use super::linear::{self, MultiplyArgs};
use super::pointwise::{self, Extent, NormAct};
use super::product::WORD_ALIGN;
use super::rows::{self, ByteRange, PaddedBoard, Rms};
use super::simd::{ByteSums, PANEL_VECTORS, Portable, Simd};
use super::sparse::{self, Sparse};
use super::tiles::{self, TileUnit};
use super::winograd::{self, BoardLayout, TileSize, WinogradFormat};

/// Number of bytes of a row that a product reads at a time.
const BYTES_ALIGN: usize = 4 * WORD_ALIGN;

/// Numbers, and the stride between points.
pub(super) type Strided<'p> = (&'p [f32], usize);

/// Numbers to write, and the stride between points.
pub(super) type StridedMut<'p> = (&'p mut [f32], usize);

/// Bytes to write, and the scales of the rows.
pub(super) type BytesMut<'p> = (&'p mut [u8], &'p mut [f32]);

/// 16-bit integers to write, and the scales of the rows.
pub(super) type HalvesMut<'p> = (&'p mut [i16], &'p mut [f32]);

/// Functions for one instruction set. They are documented at their generic implementations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Primitives {
    /// Width of a panel of packed matrices.
    pub(super) panel: usize,
    /// Alignment of the number of channels: a multiple of panels, of the step of products of bytes, and of tiles if
    /// there are any.
    pub(super) align: usize,
    /// Count of numbers in a vector.
    pub(super) lanes: usize,
    pub(super) byte_sums: ByteSums,
    /// Matrix unit for convolutions in 16 bits.
    pub(super) tiles: Option<TileUnit>,
    /// Functions for 3 × 3 windows in 32 bits.
    pub(super) winograd: WinogradUnit,
    /// Functions for 3 × 3 windows in 16 bits, where these are faster than 32 bits and than windows in 8 bits.
    pub(super) winograd_16_bits: Option<WinogradUnit>,
    pub(super) transform_windows: fn(TileSize, usize, &[f32], &mut [f32]),
    pub(super) transform_output: fn(&BoardLayout, &[f32], &mut [f32], bool),
    pub(super) norm_act: fn(Extent, NormAct<'_>, Strided<'_>, StridedMut<'_>),
    pub(super) scaled_norm_act: fn(Extent, NormAct<'_>, &[f32], &[f32], &mut [f32]),
    pub(super) pool: fn(Extent, NormAct<'_>, Strided<'_>, &mut [f32], &mut [f32]),
    pub(super) sparse: fn(&Sparse<'_>, &mut [f32]),
    pub(super) multiply: fn(MultiplyArgs<'_>),
    pub(super) rms_scales: fn(Extent, Rms<'_>, Strided<'_>, &mut [f32]),
    pub(super) quantise: fn(Extent, Option<Rms<'_>>, ByteRange, Strided<'_>, BytesMut<'_>),
    pub(super) quantise_to_halves: fn(Extent, Option<NormAct<'_>>, Strided<'_>, HalvesMut<'_>, &mut [f32]),
    /// Returns the scale through the last argument.
    pub(super) quantise_board: fn(PaddedBoard, ByteRange, &[f32], &mut [u8], &mut f32),
    pub(super) attend_floats: fn(Attention<'_>),
    pub(super) attend_integers: fn(Attention<'_>),
    pub(super) block_of_floats: fn(BlockProduct<'_>),
    pub(super) block_of_integers: fn(BlockProduct<'_>),
}

/// Functions that depend on the number format of Winograd's transformation.
#[derive(Clone, Copy, Debug)]
pub(super) struct WinogradUnit {
    pub(super) numbers: WinogradFormat,
    /// Returns the scales of the tiles through the last argument, if the numbers are integers.
    pub(super) transform_input: fn(&BoardLayout, &[f32], &mut [u32], &mut [f32]),
    pub(super) gemm: fn(Gemm<'_>),
}

/// Creates a table. Each function is a safe wrapper of the generic function, compiled with `$feature`s.
macro_rules! table {
    ($(#[$feature:meta])* $set:ty, $token:expr) => {{
        table!(@functions $(#[$feature])* $set, $token;
            transform_windows(size: TileSize, evaluation_point: usize, windows: &[f32], result: &mut [f32])
                = winograd::transform_windows;
            transform_output(boards: &BoardLayout, evaluation_points: &[f32], plane: &mut [f32], is_added: bool)
                = winograd::transform_output;
            norm_act(extent: Extent, norm: NormAct<'_>, from: Strided<'_>, to: StridedMut<'_>) = pointwise::norm_act;
            scaled_norm_act(extent: Extent, norm: NormAct<'_>, from: &[f32], factors: &[f32], to: &mut [f32])
                = pointwise::scaled_norm_act;
            pool(extent: Extent, norm: NormAct<'_>, from: Strided<'_>, means: &mut [f32], maxima: &mut [f32])
                = pointwise::pool;
            sparse(it: &Sparse<'_>, to: &mut [f32]) = sparse::sparse;
            multiply(it: MultiplyArgs<'_>) = linear::multiply;
            rms_scales(extent: Extent, rms: Rms<'_>, from: Strided<'_>, scales: &mut [f32]) = rows::rms_scales;
            quantise(extent: Extent, rms: Option<Rms<'_>>, range: ByteRange, from: Strided<'_>, to: BytesMut<'_>)
                = rows::quantise;
            quantise_to_halves(extent: Extent, norm: Option<NormAct<'_>>, from: Strided<'_>, to: HalvesMut<'_>, row: &mut [f32])
                = rows::quantise_to_halves;
            quantise_board(grid: PaddedBoard, range: ByteRange, from: &[f32], to: &mut [u8], scale: &mut f32)
                = rows::quantise_board;
            attend_floats(it: Attention<'_>) = attention::attend_floats;
            attend_integers(it: Attention<'_>) = attention::attend_integers;
            block_of_floats(it: BlockProduct<'_>) = attention::block_of_floats;
            block_of_integers(it: BlockProduct<'_>) = attention::block_of_integers;
        );
        Primitives {
            panel: PANEL_VECTORS * <$set as Simd>::LANES,
            align: (PANEL_VECTORS * <$set as Simd>::LANES).next_multiple_of(BYTES_ALIGN),
            lanes: <$set as Simd>::LANES,
            byte_sums: <$set as Simd>::BYTE_SUMS,
            tiles: None,
            winograd: table!(@winograd Floats, transform_input, gemm_of_floats, $(#[$feature])* $set, $token),
            winograd_16_bits: None,
            transform_windows,
            transform_output,
            norm_act,
            scaled_norm_act,
            pool,
            sparse,
            multiply,
            rms_scales,
            quantise,
            quantise_to_halves,
            quantise_board,
            attend_floats,
            attend_integers,
            block_of_floats,
            block_of_integers,
        }
    }};
    (@winograd $numbers:ident, $transform_input:ident, $gemm:ident, $(#[$feature:meta])* $set:ty, $token:expr) => {{
        table!(@functions $(#[$feature])* $set, $token;
            transform_input(boards: &BoardLayout, plane: &[f32], evaluation_points: &mut [u32], scales: &mut [f32])
                = winograd::$transform_input;
            gemm(it: Gemm<'_>) = gemm::$gemm;
        );
        WinogradUnit { numbers: WinogradFormat::$numbers, transform_input, gemm }
    }};
    (@functions $(#[$feature:meta])* $set:ty, $token:expr;) => {};
    (@functions $(#[$feature:meta])* $set:ty, $token:expr;
        $name:ident($($argument:ident: $type:ty),*) = $function:path; $($rest:tt)*) => {
        fn $name($($argument: $type),*) {
            $(#[$feature])*
            fn compiled(s: $set, $($argument: $type),*) {
                $function(s, $($argument),*);
            }
            // SAFETY: only `Primitives::of` returns this function, after it has checked that the processor supports the
            // table.
            #[allow(unused_unsafe)]
            unsafe { compiled($token, $($argument),*) }
        }
        table!(@functions $(#[$feature])* $set, $token; $($rest)*);
    };
}

impl Primitives {
    /// Returns the byte range for numbers of both signs.
    pub(super) fn signed_range(&self) -> ByteRange {
        ByteRange::signed(self.byte_sums)
    }

    /// Returns tables of plain Rust with 16-bit formats that regular tables of plain Rust do not use. With them, the
    /// code for other processors can be tested on any processor.
    #[cfg(test)]
    pub(super) fn with_rounded_evaluation_points() -> [Primitives; 2] {
        let units = [
            table!(@winograd Bf16s, transform_input_to_bf16, gemm_of_bf16s, Portable, Portable),
            table!(@winograd Halves, transform_input_to_halves, gemm_of_halves, Portable, Portable),
        ];
        units.map(|unit| Primitives { winograd_16_bits: Some(unit), ..Primitives::of(Kernel::Portable) })
    }

    /// Returns the table of a kernel.
    ///
    /// # Panics
    ///
    /// Panics if this processor does not support the kernel.
    pub(super) fn of(kernel: Kernel) -> Primitives {
        assert!(kernel.is_available(), "kernel {} is not available on this processor", kernel.name());
        let with_tiles = |primitives: Primitives, unit| Primitives {
            align: tiles::CHANNELS.next_multiple_of(primitives.panel),
            tiles: Some(unit),
            ..primitives
        };
        match kernel {
            Kernel::Portable => table!(Portable, Portable),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kernel::Simd128 | Kernel::RelaxedSimd => {
                use super::simd::Wasm;
                table!(Wasm, Wasm)
            }
            Kernel::EmulatedBf16 => with_tiles(Primitives::of(Kernel::Portable), tiles::EMULATED),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => {
                use super::simd::{NEON, Neon};
                table!(
                    #[target_feature(enable = "neon")]
                    Neon<NEON>,
                    Neon::token()
                )
            }
            #[cfg(target_arch = "aarch64")]
            Kernel::NeonDot => {
                use super::simd::{DOT, Neon};
                table!(
                    #[target_feature(enable = "neon,dotprod")]
                    Neon<DOT>,
                    Neon::token()
                )
            }
            #[cfg(target_arch = "aarch64")]
            Kernel::NeonI8mm => {
                use super::simd::{I8MM, Neon};
                table!(
                    #[target_feature(enable = "neon,i8mm")]
                    Neon<I8MM>,
                    Neon::token()
                )
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => {
                use super::simd::Avx2;
                let halves = table!(@winograd Halves, transform_input_to_halves, gemm_of_halves,
                    #[target_feature(enable = "avx2,fma")]
                    Avx2<false>,
                    Avx2::token()
                );
                let table = table!(
                    #[target_feature(enable = "avx2,fma")]
                    Avx2<false>,
                    Avx2::token()
                );
                Primitives { winograd_16_bits: Some(halves), ..table }
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::AvxVnni => {
                use super::simd::Avx2;
                table!(
                    #[target_feature(enable = "avx2,fma,avxvnni")]
                    Avx2<true>,
                    Avx2::token()
                )
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => {
                use super::simd::{Avx512, PLAIN};
                table!(
                    #[target_feature(enable = "avx512f,avx512bw,avx2,fma")]
                    Avx512<PLAIN>,
                    Avx512::token()
                )
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Vnni => {
                use super::simd::{Avx512, VNNI};
                table!(
                    #[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
                    Avx512<VNNI>,
                    Avx512::token()
                )
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Bf16 => {
                use super::simd::{Avx512, BF16};
                let bf16s = table!(@winograd Bf16s, transform_input_to_bf16, gemm_of_bf16s,
                    #[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx512bf16,avx2,fma")]
                    Avx512<BF16>,
                    Avx512::token()
                );
                Primitives { winograd_16_bits: Some(bf16s), ..Primitives::of(Kernel::Avx512Vnni) }
            }
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            // SAFETY: this table is returned only where the kernel is available.
            Kernel::AmxBf16 => with_tiles(Primitives::of(Kernel::Avx512), unsafe { super::amx::unit() }),
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Kernel::AmxInt8 => {
                use super::amx::IntegerTiles;
                use super::integer_tiles::{DEPTH, TileProduct};
                use super::simd::{Avx512, VNNI};
                fn multiply(it: MultiplyArgs<'_>) {
                    #[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
                    fn compiled(s: Avx512<VNNI>, it: MultiplyArgs<'_>) {
                        // SAFETY: as below.
                        linear::multiply_by(s, &mut TileProduct(unsafe { IntegerTiles::begin() }), it);
                    }
                    // SAFETY: this function is returned only where the kernel, with its vectors and tiles, is
                    // available.
                    unsafe { compiled(Avx512::token(), it) }
                }
                Primitives { align: DEPTH, multiply, ..Primitives::of(Kernel::Avx512Vnni) }
            }
            #[allow(unreachable_patterns, reason = "no kernel is left on processors that support all")]
            _ => unreachable!("the kernel is not available"),
        }
    }
}
