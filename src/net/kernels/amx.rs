//! Intel's matrix extensions, since Sapphire Rapids. The intrinsics are not stable in Rust, hence assembly.
//!
//! The emulation of `tiles.rs` follows Intel's pseudocode of the same instructions; a test compares them where the processor has them, and
//! [`Prepared::fastest`](crate::Prepared::fastest) tries the kernel before it relies on it.

use super::integer_tiles::{self, DEPTH, ROWS, Tiles};
use super::tiles::{BLOCK, Grid, Product, TileUnit, to_grid};
use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, _xgetbv};
use std::sync::OnceLock;

pub(super) const UNIT: TileUnit = TileUnit { begin, multiply, end, to_grid: to_grid_of_amx };

/// Does the processor have tiles of bf16, and lets the system this process use them? Asks the system for it.
pub(super) fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        let has_avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        has_avx512 && has_tiles_of(22) && are_saved() && request_permission()
    })
}

/// The same for tiles of bytes; and do they compute what they are meant to?
pub(super) fn has_integers() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        let has_avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
        has_avx512 && has_tiles_of(25) && are_saved() && request_permission() && {
            // SAFETY: the processor has them, and the system has given permission.
            integer_tiles::are_right(&mut unsafe { IntegerTiles::begin() })
        }
    })
}

/// Has the processor tiles, and the instructions for them that this bit of CPUID stands for?
///
/// CITE: Intel, "Architecture instruction set extensions programming reference", CPUID leaf 7: in EDX, bit 22 is
/// AMX-BF16, bit 24 AMX-TILE and bit 25 AMX-INT8.
fn has_tiles_of(bit: u32) -> bool {
    let features = __cpuid_count(7, 0).edx;
    features >> bit & 1 == 1 && features >> 24 & 1 == 1
}

/// Does the system save the registers of tiles when it switches from one thread to another? On a processor with AVX-512
/// only, whose registers it must be found to save.
fn are_saved() -> bool {
    #[target_feature(enable = "xsave")]
    fn enabled_states() -> u64 {
        // SAFETY: register 0 is there wherever the instruction is.
        unsafe { _xgetbv(0) }
    }
    // CITE: as above, XCR0: bit 17 is the configuration of tiles and bit 18 their data.
    const TILES: u64 = 0b11 << 17;
    // SAFETY: the system has enabled AVX-512, which it does in this register.
    unsafe { enabled_states() & TILES == TILES }
}

/// Linux gives a process the registers, which are large, only if it asks: `arch_prctl(ARCH_REQ_XCOMP_PERM,
/// XFEATURE_XTILEDATA)`.
fn request_permission() -> bool {
    const ARCH_PRCTL: isize = 158;
    const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
    const XFEATURE_XTILEDATA: usize = 18;
    let result: isize;
    // SAFETY: a system call that touches no memory of this process; it changes the registers that are named.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => result,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XFEATURE_XTILEDATA,
            out("rcx") _,
            out("r11") _,
            options(nostack)
        );
    }
    result == 0
}

/// What `ldtilecfg` reads: the shape of every tile.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes_of_row: [u16; 16],
    rows: [u8; 16],
}

fn begin() {
    static CONFIGURATION: Configuration = Configuration {
        palette: 1,
        start_row: 0,
        reserved: [0; 14],
        bytes_of_row: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
        rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
    };
    // SAFETY: the unit is only handed out where it is available; 64 bytes are read.
    unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const CONFIGURATION, options(nostack, readonly)) };
}

fn end() {
    // SAFETY: as above; no memory is touched.
    unsafe { asm!("tilerelease", options(nostack, nomem)) };
}

#[expect(clippy::needless_pass_by_value, reason = "what it points to is written")]
fn multiply(it: Product<'_>) {
    it.check();
    let stride = 2 * it.channels;
    // SAFETY: `check` has seen that for each offset 32 rows of 64 bytes, `stride` bytes apart, can be read
    // from the grid, and two tiles of 1,024 bytes from the weights; the block takes 32 rows of 128 bytes. There
    // is at least one step. The unit is available and configured.
    unsafe {
        asm!(
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "2:",
            // Offsets are in numbers of two bytes.
            "mov {points}, qword ptr [{offsets}]",
            "lea {points}, [{grid} + 2*{points}]",
            "tileloadd tmm6, [{weights} + {tile_stride}]",
            "tileloadd tmm4, [{points} + {stride}]",
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tileloadd tmm7, [{weights} + {tile_stride} + 1024]",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "add {points}, {half}",
            "tileloadd tmm5, [{points} + {stride}]",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "add {offsets}, 8",
            "add {weights}, 2048",
            "dec {steps}",
            "jnz 2b",
            "tilestored [{c} + {c_stride}], tmm0",
            "tilestored [{c} + {c_stride} + 64], tmm1",
            "tilestored [{c} + {c_stride} + 2048], tmm2",
            "tilestored [{c} + {c_stride} + 2112], tmm3",
            points = out(reg) _,
            offsets = inout(reg) it.offsets.as_ptr() => _,
            grid = in(reg) it.grid.as_ptr(),
            weights = inout(reg) it.weights.as_ptr() => _,
            steps = inout(reg) it.offsets.len() => _,
            stride = in(reg) stride,
            half = in(reg) BLOCK / 2 * stride,
            tile_stride = in(reg) 64usize,
            c = in(reg) it.c.0.as_mut_ptr(),
            c_stride = in(reg) 128usize,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack)
        );
    }
}

/// The registers, with tiles of bytes in use as long as this lives.
///
/// Tiles stay what they are from one operation to the next although each is an `asm!` of its own: nothing but the
/// operations of this type touches their registers, neither the compiler, which knows of no values that it could keep
/// there, nor the system, which saves them.
#[derive(Debug)]
pub(super) struct IntegerTiles(());

impl IntegerTiles {
    /// # Safety
    /// The processor has tiles of bytes, and the system lets this process use them.
    pub(super) unsafe fn begin() -> IntegerTiles {
        begin();
        IntegerTiles(())
    }
}

impl Drop for IntegerTiles {
    fn drop(&mut self) {
        end();
    }
}

impl Tiles for IntegerTiles {
    const COLUMNS: usize = 16;

    #[inline(always)]
    fn zero<const TILE: usize>(&mut self) {
        // SAFETY: whoever has an `IntegerTiles` has the instruction; no memory is touched.
        unsafe { asm!("tilezero tmm{tile}", tile = const TILE, options(nostack, nomem)) };
    }

    #[inline(always)]
    fn load<const TILE: usize>(&mut self, from: &[u8], stride: usize) {
        assert!(from.len() >= (ROWS - 1) * stride + DEPTH);
        // SAFETY: as above; 16 rows of 64 bytes can be read.
        unsafe {
            asm!(
                "tileloadd tmm{tile}, [{from} + {stride}]",
                tile = const TILE,
                from = in(reg) from.as_ptr(),
                stride = in(reg) stride,
                options(nostack, readonly)
            );
        }
    }

    #[inline(always)]
    fn add_products<const SUMS: usize, const FIRST: usize, const SECOND: usize>(&mut self) {
        // SAFETY: as above; no memory is touched.
        unsafe {
            asm!(
                "tdpbusd tmm{sums}, tmm{first}, tmm{second}",
                sums = const SUMS,
                first = const FIRST,
                second = const SECOND,
                options(nostack, nomem)
            );
        }
    }

    #[inline(always)]
    fn store<const TILE: usize>(&self, to: &mut [i32], stride: usize) {
        assert!(to.len() >= (ROWS - 1) * stride + Self::COLUMNS);
        // SAFETY: as above; 16 rows of 16 sums can be written.
        unsafe {
            asm!(
                "tilestored [{to} + {stride}], tmm{tile}",
                tile = const TILE,
                to = in(reg) to.as_mut_ptr(),
                stride = in(reg) 4 * stride,
                options(nostack)
            );
        }
    }
}

fn to_grid_of_amx(grid: &Grid, plane: &[f32], to: &mut [u16]) {
    #[target_feature(enable = "avx512f,avx512bw")]
    fn compiled(grid: &Grid, plane: &[f32], to: &mut [u16]) {
        to_grid(grid, plane, to);
    }
    // SAFETY: the unit is only handed out where AVX-512 is, too.
    unsafe { compiled(grid, plane, to) }
}
