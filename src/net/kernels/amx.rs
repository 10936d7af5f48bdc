//! Intel's matrix extensions (AMX), available since Sapphire Rapids. Rust's intrinsics are not stable, so this module
//! uses assembly.
//!
//! The emulation in `tiles.rs` follows Intel's pseudocode of the instructions. A test compares them on processors that
//! have the instructions, and [`Prepared::fastest`](crate::Prepared::fastest) tests the kernel before it is used.

use super::integer_tiles::{self, DEPTH, ROWS, Tiles};
use super::tiles::{BLOCK, Grid, Product, TileUnit, to_grid};
use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, _xgetbv};
use std::sync::OnceLock;

pub(super) const UNIT: TileUnit = TileUnit { begin, multiply, end, to_grid: to_grid_of_amx };

/// Returns whether the processor has tiles of bf16 and the system lets this process use them. Requests the permission
/// of the system.
pub(super) fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        let has_avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        has_avx512 && has_tiles_of(22) && are_saved() && request_permission()
    })
}

/// Returns whether the processor has tiles of bytes, the system lets this process use them, and they compute a known
/// product correctly.
pub(super) fn has_integers() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        let has_avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
        has_avx512 && has_tiles_of(25) && are_saved() && request_permission() && {
            // SAFETY: the processor has the instructions, and the system has given permission.
            integer_tiles::self_test(&mut unsafe { IntegerTiles::begin() })
        }
    })
}

/// Returns whether the processor has tiles and the instructions that this bit of CPUID reports.
///
/// CITE: Intel, "Architecture instruction set extensions programming reference", CPUID leaf 7: in EDX, bit 22 is
/// AMX-BF16, bit 24 AMX-TILE and bit 25 AMX-INT8.
fn has_tiles_of(bit: u32) -> bool {
    let features = __cpuid_count(7, 0).edx;
    features >> bit & 1 == 1 && features >> 24 & 1 == 1
}

/// Returns whether the system saves the tile registers when it switches threads. It may be called only where AVX-512
/// was detected, because the detection implies that the register for this state can be read.
fn are_saved() -> bool {
    #[target_feature(enable = "xsave")]
    fn enabled_states() -> u64 {
        // SAFETY: register 0 exists wherever the instruction does.
        unsafe { _xgetbv(0) }
    }
    // CITE: as above, XCR0: bit 17 is the configuration of tiles and bit 18 their data.
    const TILES: u64 = 0b11 << 17;
    // SAFETY: the system has enabled AVX-512, which requires XSAVE and this register.
    unsafe { enabled_states() & TILES == TILES }
}

/// Requests the tile registers, which Linux grants only on request because they are large:
/// `arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`. Returns whether they are granted.
fn request_permission() -> bool {
    const ARCH_PRCTL: isize = 158;
    const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
    const XFEATURE_XTILEDATA: usize = 18;
    let result: isize;
    // SAFETY: the system call accesses no memory of this process and changes only the registers that are listed.
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

/// Operand of `ldtilecfg`: the shapes of all tiles.
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
    // SAFETY: the unit is used only where it is available; the instruction reads 64 bytes.
    unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const CONFIGURATION, options(nostack, readonly)) };
}

fn end() {
    // SAFETY: as above; no memory is accessed.
    unsafe { asm!("tilerelease", options(nostack, nomem)) };
}

#[expect(clippy::needless_pass_by_value, reason = "what it points to is written")]
fn multiply(it: Product<'_>) {
    it.check();
    let stride = 2 * it.channels;
    // SAFETY: `check` has verified that for each offset 32 rows of 64 bytes, `stride` bytes apart, can be read from the
    // grid, and two tiles of 1,024 bytes from the weights. The block has 32 rows of 128 bytes. There is at least one
    // step. The unit is available and configured.
    unsafe {
        asm!(
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "2:",
            // Offsets count numbers of two bytes.
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

/// Tile registers, configured for bytes during the lifetime of this value.
///
/// The tiles keep their contents between the operations, although each operation is a separate `asm!`. No other code
/// touches the tile registers: the compiler does not use them for values, and the system saves them.
#[derive(Debug)]
pub(super) struct IntegerTiles(());

impl IntegerTiles {
    /// Configures the tile registers.
    ///
    /// # Safety
    ///
    /// The processor must have tiles of bytes, and the system must let this process use them.
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
        // SAFETY: an `IntegerTiles` exists only where the instruction does; no memory is accessed.
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
        // SAFETY: as above; no memory is accessed.
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
    // SAFETY: the unit is used only where AVX-512 is available, too.
    unsafe { compiled(grid, plane, to) }
}
