//! Intel's matrix extensions (AMX), available since Sapphire Rapids. Rust's intrinsics are not stable, so this module
//! uses assembly.
//!
//! The emulation in `tiles.rs` follows Intel's pseudocode of the instructions. A test compares them on processors that
//! have the instructions, and [`Prepared::fastest`](crate::Prepared::fastest) tests the kernel before it is used.

use super::integer_tiles::{self, BlockProduct, DEPTH, Tiles};
use super::tiles::{BLOCK, BlockUnit, Grid, Product, TileUnit, to_grid};
use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, _xgetbv};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::OnceLock;

/// Returns the unit for bf16.
///
/// # Safety
///
/// [`is_available`] must have returned true.
pub(super) unsafe fn unit() -> TileUnit {
    fn run(work: &mut dyn FnMut(&mut dyn BlockUnit)) {
        // SAFETY: the unit exists only where the tiles are available.
        work(&mut HalfTiles(unsafe { Configured::begin() }));
    }
    TileUnit { run, to_grid: to_grid_of_amx }
}

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

thread_local! {
    /// Whether the tiles of this thread are configured.
    static IS_CONFIGURED: Cell<bool> = const { Cell::new(false) };
}

/// Tile registers of this thread, configured during the lifetime of this value. There is at most one in a thread, and
/// it stays in its thread, so none releases the configuration of another one.
#[derive(Debug)]
struct Configured(PhantomData<*const ()>);

impl Configured {
    /// Configures the tile registers.
    ///
    /// # Safety
    ///
    /// The processor must have tiles, and the system must let this process use them.
    ///
    /// # Panics
    ///
    /// Panics if the tile registers of this thread are configured already.
    unsafe fn begin() -> Configured {
        static CONFIGURATION: Configuration = Configuration {
            palette: 1,
            start_row: 0,
            reserved: [0; 14],
            bytes_of_row: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
            rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
        };
        assert!(!IS_CONFIGURED.replace(true), "the tiles of this thread are in use");
        // SAFETY: the caller guarantees that the instruction exists. It reads 64 bytes and sets all tiles to zero.
        unsafe {
            asm!(
                "ldtilecfg [{}]",
                in(reg) &raw const CONFIGURATION,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, readonly, preserves_flags)
            );
        }
        Configured(PhantomData)
    }
}

impl Drop for Configured {
    fn drop(&mut self) {
        // SAFETY: a `Configured` exists only where the instruction does. No memory is accessed.
        unsafe {
            asm!(
                "tilerelease",
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, nomem, preserves_flags)
            );
        }
        IS_CONFIGURED.set(false);
    }
}

/// Tile registers, configured for bf16 during the lifetime of this value.
#[derive(Debug)]
struct HalfTiles(Configured);

impl BlockUnit for HalfTiles {
    fn multiply(&mut self, it: Product<'_>) {
        multiply(&self.0, it);
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what it points to is written")]
fn multiply(_: &Configured, it: Product<'_>) {
    it.check();
    let stride = 2 * it.channels;
    // SAFETY: `check` has verified that for each offset 32 rows of 64 bytes, `stride` bytes apart, can be read from the
    // grid, and two tiles of 1,024 bytes from the weights. The block has 32 rows of 128 bytes. There is at least one
    // step. The tiles of this thread are configured, and a `HalfTiles` exists only where the instructions do.
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
#[derive(Debug)]
pub(super) struct IntegerTiles(Configured);

impl IntegerTiles {
    /// Configures the tile registers.
    ///
    /// # Safety
    ///
    /// The processor must have tiles of bytes, and the system must let this process use them.
    ///
    /// # Panics
    ///
    /// Panics if the tile registers of this thread are configured already.
    pub(super) unsafe fn begin() -> IntegerTiles {
        // SAFETY: guaranteed by the caller.
        IntegerTiles(unsafe { Configured::begin() })
    }
}

/// Runs the steps of a block of bytes. `$second_half` are the instructions for the second half of the rows.
macro_rules! integer_steps {
    ($it:expr, $sums:expr, [$($second_half:literal),*], [$($store:literal),*]) => {
        asm!(
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "2:",
            "tileloadd tmm6, [{b} + {panel_stride}]",
            "tileloadd tmm4, [{a} + {row_stride}]",
            "tdpbusd tmm0, tmm4, tmm6",
            "tileloadd tmm7, [{b} + {panel_stride} + 64]",
            "tdpbusd tmm1, tmm4, tmm7",
            $($second_half,)*
            "add {a}, 2048",
            "add {b}, 2048",
            "dec {steps}",
            "jnz 2b",
            "tilestored [{sums} + {panel_stride}], tmm0",
            "tilestored [{sums} + {panel_stride} + 64], tmm1",
            $($store,)*
            a = inout(reg) $it.a.as_ptr() => _,
            b = inout(reg) $it.b.as_ptr() => _,
            steps = inout(reg) $it.steps => _,
            row_stride = in(reg) DEPTH,
            // Rows of the second matrix and of the sums both have two vectors of 16 numbers of four bytes.
            panel_stride = in(reg) 128usize,
            sums = in(reg) $sums.as_mut_ptr(),
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack)
        )
    };
}

impl Tiles for IntegerTiles {
    const COLUMNS: usize = 16;

    #[inline(always)]
    fn multiply(&mut self, it: BlockProduct<'_>, sums: &mut [i32]) {
        it.check(Self::COLUMNS, sums);
        // SAFETY: `check` has verified that each step has 32 rows of 64 bytes of the first matrix and 16 rows of 128
        // bytes of the second one, that there are 32 rows of 32 sums, and that there is at least one step. The tiles of
        // this thread are configured, and an `IntegerTiles` exists only where the instructions do.
        unsafe {
            if it.is_half {
                integer_steps!(it, sums, [], []);
            } else {
                integer_steps!(
                    it,
                    sums,
                    [
                        "tileloadd tmm5, [{a} + {row_stride} + 1024]",
                        "tdpbusd tmm2, tmm5, tmm6",
                        "tdpbusd tmm3, tmm5, tmm7"
                    ],
                    [
                        "tilestored [{sums} + {panel_stride} + 2048], tmm2",
                        "tilestored [{sums} + {panel_stride} + 2112], tmm3"
                    ]
                );
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_test_support::{Requirement, require};

    /// Checks that the tiles of a thread have one owner, and that they can be configured again after it, even after a
    /// panic.
    #[test]
    fn tiles_have_one_owner() {
        let found =
            if has_integers() { Ok(()) } else { Err("this processor has no tiles of bytes".to_owned()) };
        let Some(()) = require(Requirement::Amx, found) else { return };
        // SAFETY: the tiles are available.
        let begin = || unsafe { IntegerTiles::begin() };
        for _ in 0..2 {
            let mut tiles = begin();
            assert!(std::panic::catch_unwind(begin).is_err());
            assert!(std::thread::spawn(move || integer_tiles::self_test(&mut begin())).join().unwrap());
            assert!(integer_tiles::self_test(&mut tiles), "the configuration is still there");
        }
    }
}
