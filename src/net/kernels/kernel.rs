//! Instruction sets and precisions of the forward pass.

use std::str::FromStr;

/// Instruction set that the forward pass is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kernel {
    /// Plain Rust, for every processor.
    Portable,
    /// 128-bit vectors of WebAssembly. In 32 bits the results equal those of [`Portable`](Kernel::Portable).
    Simd128,
    /// [`Simd128`](Kernel::Simd128) with the instructions of relaxed SIMD: fused multiply-add, and dot products of
    /// bytes. A module is compiled for one of the two kernels.
    RelaxedSimd,
    /// 128-bit vectors of 64-bit ARM.
    Neon,
    /// [`Neon`](Kernel::Neon) with dot products of signed bytes (`sdot`).
    NeonDot,
    /// [`Neon`](Kernel::Neon) with dot products of unsigned and signed bytes (`usdot`).
    NeonI8mm,
    /// 256-bit vectors of x86-64 with fused multiply-add.
    Avx2,
    /// [`Avx2`](Kernel::Avx2) with dot products of integers.
    AvxVnni,
    /// 512-bit vectors of x86-64.
    Avx512,
    /// [`Avx512`](Kernel::Avx512) with dot products of integers.
    Avx512Vnni,
    /// [`Avx512Vnni`](Kernel::Avx512Vnni) with dot products of bf16, with which Winograd's transformation of 3 × 3
    /// windows is faster than windows in bytes.
    Avx512Bf16,
    /// Tiles of 16-bit numbers by Intel's matrix extensions under Linux, and 512-bit vectors.
    AmxBf16,
    /// Tiles of bytes by Intel's matrix extensions under Linux, and 512-bit vectors. The results are identical to those
    /// of `Avx512Vnni` in 8 bits.
    AmxInt8,
    /// Emulation of `AmxBf16` in plain Rust, for measuring its accuracy on any processor. It is far slower than all
    /// other kernels and never chosen automatically.
    EmulatedBf16,
}

/// Precision of the numbers that are multiplied.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Precision {
    /// 32-bit floating point, without rounding.
    F32,
    /// 16-bit floating point with the exponent range of `F32`.
    Bf16,
    /// 8-bit integers, with a scale per output of a layer and a scale per point.
    ///
    /// 3 × 3 windows use bf16 ([`Kernel::Avx512Bf16`]) or 16-bit integers ([`Kernel::Avx2`]) where that is faster, and
    /// 32 bits with [`Kernel::Avx512`]. Without VNNI, the products of attention use 16-bit integers. The heads are
    /// always computed in 32 bits.
    Int8,
}

/// Kernel and precision of a computation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Arithmetic {
    /// Instruction set.
    pub kernel: Kernel,
    /// Precision of the numbers that are multiplied.
    pub precision: Precision,
}

/// Constraints on an [`Arithmetic`]. `None` leaves the choice to the program.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ArithmeticChoice {
    /// Instruction set. With `None`, the fastest one of the processor is chosen.
    pub kernel: Option<Kernel>,
    /// Precision. With `None`, the fastest one whose results hardly differ is chosen.
    pub precision: Option<Precision>,
}

impl Kernel {
    /// All kernels for regular use, from the slowest to the fastest.
    pub const ALL: [Kernel; 13] = [
        Kernel::Portable,
        Kernel::Simd128,
        Kernel::RelaxedSimd,
        Kernel::Neon,
        Kernel::NeonDot,
        Kernel::NeonI8mm,
        Kernel::Avx2,
        Kernel::AvxVnni,
        Kernel::Avx512,
        Kernel::Avx512Vnni,
        Kernel::Avx512Bf16,
        Kernel::AmxBf16,
        Kernel::AmxInt8,
    ];

    /// Returns whether this processor supports the kernel.
    pub fn is_available(self) -> bool {
        match self {
            Kernel::Portable | Kernel::EmulatedBf16 => true,
            Kernel::Simd128 => cfg!(target_feature = "simd128") && !cfg!(target_feature = "relaxed-simd"),
            Kernel::RelaxedSimd => cfg!(target_feature = "relaxed-simd"),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "aarch64")]
            Kernel::NeonDot => {
                std::arch::is_aarch64_feature_detected!("dotprod") && Kernel::Neon.is_available()
            }
            #[cfg(target_arch = "aarch64")]
            Kernel::NeonI8mm => {
                std::arch::is_aarch64_feature_detected!("i8mm") && Kernel::Neon.is_available()
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Kernel::AvxVnni => is_x86_feature_detected!("avxvnni") && Kernel::Avx2.is_available(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && Kernel::Avx2.is_available()
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Vnni => is_x86_feature_detected!("avx512vnni") && Kernel::Avx512.is_available(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Bf16 => is_x86_feature_detected!("avx512bf16") && Kernel::Avx512Vnni.is_available(),
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Kernel::AmxBf16 => Kernel::Avx512.is_available() && super::amx::is_available(),
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Kernel::AmxInt8 => Kernel::Avx512Vnni.is_available() && super::amx::has_integers(),
            #[allow(unreachable_patterns, reason = "no kernel is left on processors that support all")]
            _ => false,
        }
    }

    /// Returns the name for display and for the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
            Kernel::Simd128 => "simd128",
            Kernel::RelaxedSimd => "relaxed-simd",
            Kernel::Neon => "neon",
            Kernel::NeonDot => "neon-dot",
            Kernel::NeonI8mm => "neon-i8mm",
            Kernel::Avx2 => "avx2",
            Kernel::AvxVnni => "avx-vnni",
            Kernel::Avx512 => "avx512",
            Kernel::Avx512Vnni => "avx512-vnni",
            Kernel::Avx512Bf16 => "avx512-bf16",
            Kernel::AmxBf16 => "amx-bf16",
            Kernel::AmxInt8 => "amx-int8",
            Kernel::EmulatedBf16 => "emulated-bf16",
        }
    }

    /// Returns the precisions that the kernel supports.
    pub const fn precisions(self) -> &'static [Precision] {
        match self {
            Kernel::AmxBf16 | Kernel::EmulatedBf16 => &[Precision::Bf16],
            Kernel::Avx512Bf16 | Kernel::AmxInt8 => &[Precision::Int8],
            _ => &[Precision::F32, Precision::Int8],
        }
    }
}

impl Precision {
    /// All precisions, from the most to the least exact.
    pub const ALL: [Precision; 3] = [Precision::F32, Precision::Bf16, Precision::Int8];

    /// Returns the name for display and for the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::Bf16 => "bf16",
            Precision::Int8 => "int8",
        }
    }
}

impl Arithmetic {
    /// Returns all distinct arithmetics that this processor supports, from the slowest to the fastest. Kernels that
    /// differ only in integer instructions are identical in `f32`, so only one of them is listed in `f32`.
    pub fn available() -> Vec<Arithmetic> {
        let is_meant = |it: Arithmetic| match it.kernel {
            Kernel::AvxVnni | Kernel::Avx512Vnni | Kernel::NeonDot | Kernel::NeonI8mm => {
                it.precision == Precision::Int8
            }
            _ => true,
        };
        let all = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available());
        let all = all.flat_map(|kernel| {
            kernel.precisions().iter().map(move |&precision| Arithmetic { kernel, precision })
        });
        all.filter(|&it| is_meant(it)).collect()
    }

    /// Returns whether numbers are rounded to less than 32 bits.
    pub const fn is_rounded(self) -> bool {
        !matches!(self.precision, Precision::F32)
    }

    /// Returns the names of the kernel and the precision.
    pub fn name(self) -> String {
        match self.kernel {
            Kernel::AmxBf16 | Kernel::AmxInt8 | Kernel::EmulatedBf16 => self.kernel.name().to_owned(),
            kernel => format!("{} {}", kernel.name(), self.precision.name()),
        }
    }
}

impl ArithmeticChoice {
    /// Returns all arithmetics that satisfy the constraints, in their expected order of speed, the fastest first. The
    /// result is empty if the kernel is not available or does not support the precision.
    pub fn candidates(self) -> Vec<Arithmetic> {
        let kernels: Vec<Kernel> = match self.kernel {
            Some(kernel) => vec![kernel],
            None => Kernel::ALL.to_vec(),
        };
        let mut found: Vec<Arithmetic> = kernels
            .into_iter()
            .filter(|kernel| kernel.is_available())
            .flat_map(|kernel| {
                kernel.precisions().iter().map(move |&precision| Arithmetic { kernel, precision })
            })
            .filter(|it| self.precision.is_none_or(|precision| precision == it.precision))
            // 8 bits that are slower than `f32` must be requested explicitly.
            .filter(|it| {
                let is_slow = matches!(it.kernel, Kernel::Portable | Kernel::Simd128 | Kernel::Neon)
                    && it.precision == Precision::Int8;
                self.precision.is_some() || !is_slow
            })
            .collect();
        found.sort_by_key(|it| std::cmp::Reverse(it.speed()));
        found
    }
}

impl Arithmetic {
    /// Returns a number that orders arithmetics by their speed on processors that support them.
    fn speed(self) -> usize {
        let kernel = self.kernel as usize;
        match (self.kernel, self.precision) {
            // Dot products of integers are the fastest.
            (Kernel::AmxInt8, _) => 34,
            (Kernel::Avx512Bf16, _) if is_made_by_amd() => 33,
            (Kernel::Avx512Vnni, Precision::Int8) => 32,
            (Kernel::Avx512Bf16, _) => 31,
            (Kernel::AmxBf16, _) => 30,
            (
                Kernel::RelaxedSimd | Kernel::AvxVnni | Kernel::Avx512 | Kernel::NeonDot | Kernel::NeonI8mm,
                Precision::Int8,
            ) => 20 + kernel,
            (Kernel::Avx2, Precision::Int8) => 10 + kernel,
            (Kernel::Avx512 | Kernel::Avx512Vnni, _) => 10 + kernel,
            _ => kernel,
        }
    }
}

/// Returns whether the processor is made by AMD.
///
/// AMD's processors compute a dot product of two pairs of bf16 in the time of four pairs of bytes. According to the
/// published tables, Intel's issue them at half the rate, which makes windows in bytes as fast. This has not been
/// measured on Intel's processors yet.
///
/// CITE: Abel and Reineke, "uops.info: characterizing latency, throughput, and port usage of instructions" (2019),
/// tables of VDPBF16PS and VPDPBUSD.
fn is_made_by_amd() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let vendor = std::arch::x86_64::__cpuid(0);
        [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == *b"AuthenticAMD"
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Error for an unknown name of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown kernel {name:?}; valid kernels are {}", Kernel::ALL.map(Kernel::name).join(", "))]
pub struct UnknownKernel {
    name: String,
}

impl FromStr for Kernel {
    type Err = UnknownKernel;

    /// Parses the [name](Kernel::name) of a kernel, whether this processor supports it or not.
    fn from_str(name: &str) -> Result<Kernel, UnknownKernel> {
        let mut all = Kernel::ALL.into_iter().chain([Kernel::EmulatedBf16]);
        let kernel = all.find(|kernel| kernel.name() == name);
        kernel.ok_or_else(|| UnknownKernel { name: name.to_owned() })
    }
}
