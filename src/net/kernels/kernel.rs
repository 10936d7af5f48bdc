//! Which instructions the forward pass uses, and how exact it is.

use std::str::FromStr;

/// Instructions that the forward pass is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kernel {
    /// Plain Rust, for every processor.
    Portable,
    /// 128-bit vectors of 64-bit ARM.
    Neon,
    /// The same, with products of integers in one instruction, both with a sign.
    NeonDot,
    /// The same, with one factor that has no sign.
    NeonI8mm,
    /// 256-bit vectors with fused multiplication and addition, of x86-64.
    Avx2,
    /// The same, with products of integers in one instruction.
    AvxVnni,
    /// 512-bit vectors of x86-64.
    Avx512,
    /// The same, with products of integers in one instruction.
    Avx512Vnni,
    /// The same, with products of bf16 in one instruction: Winograd's transformation of 3 × 3 windows is faster with them than
    /// the windows in bytes are.
    Avx512Bf16,
    /// Tiles of 16-bit numbers, by Intel's matrix extensions under Linux, and 512-bit vectors.
    AmxBf16,
    /// Tiles of bytes, by the same extensions, and 512-bit vectors. Computes exactly what `Avx512Vnni` computes in 8 bits.
    AmxInt8,
    /// What `AmxBf16` computes, in plain Rust, to see on any processor how exact it is. Far slower than all others,
    /// and never chosen.
    EmulatedBf16,
}

/// To what the numbers are rounded that are multiplied.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Precision {
    /// 32-bit floating point: nothing is rounded.
    F32,
    /// 16-bit floating point with the exponents of `F32`.
    Bf16,
    /// 8-bit integers, with a scale for each output of a layer and one for each point. Windows of 3 × 3 are of bf16
    /// ([`Kernel::Avx512Bf16`]) or of 16-bit integers ([`Kernel::Avx2`]) where that is faster, and of 32 bits with
    /// [`Kernel::Avx512`]; where a processor has no VNNI, the products of attention are of 16-bit integers. What the heads compute
    /// always is in 32 bits.
    Int8,
}

/// A kernel, and the precision that it computes with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Arithmetic {
    /// The instructions.
    pub kernel: Kernel,
    /// To what numbers are rounded.
    pub precision: Precision,
}

/// What is asked of an [`Arithmetic`]; what is `None` is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ArithmeticChoice {
    /// The instructions; the fastest that the processor has.
    pub kernel: Option<Kernel>,
    /// The precision; the fastest whose answers hardly differ.
    pub precision: Option<Precision>,
}

impl Kernel {
    /// All kernels that are meant to be used, from the slowest to the fastest.
    pub const ALL: [Kernel; 11] = [
        Kernel::Portable,
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

    /// Can this processor run it?
    pub fn is_available(self) -> bool {
        match self {
            Kernel::Portable | Kernel::EmulatedBf16 => true,
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
            #[allow(unreachable_patterns, reason = "on processors that have them all, none is left")]
            _ => false,
        }
    }

    /// Its name, for people and the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
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

    /// The precisions that it can compute with.
    pub const fn precisions(self) -> &'static [Precision] {
        match self {
            Kernel::AmxBf16 | Kernel::EmulatedBf16 => &[Precision::Bf16],
            Kernel::Avx512Bf16 | Kernel::AmxInt8 => &[Precision::Int8],
            _ => &[Precision::F32, Precision::Int8],
        }
    }
}

impl Precision {
    /// All of them, from the most exact on.
    pub const ALL: [Precision; 3] = [Precision::F32, Precision::Bf16, Precision::Int8];

    /// Its name, for people and the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::Bf16 => "bf16",
            Precision::Int8 => "int8",
        }
    }
}

impl Arithmetic {
    /// All that differ and that this processor can run, from the slowest to the fastest: kernels that have only more
    /// instructions for integers compute the same in `f32`.
    pub fn available() -> Vec<Arithmetic> {
        let is_meant = |it: Arithmetic| match it.kernel {
            // Without instructions for it, 8 bits are not worth while.
            Kernel::Portable => true,
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

    /// Are numbers rounded on the way?
    pub const fn is_rounded(self) -> bool {
        !matches!(self.precision, Precision::F32)
    }

    /// The names of kernel and precision.
    pub fn name(self) -> String {
        match self.kernel {
            Kernel::AmxBf16 | Kernel::AmxInt8 | Kernel::EmulatedBf16 => self.kernel.name().to_owned(),
            kernel => format!("{} {}", kernel.name(), self.precision.name()),
        }
    }
}

impl ArithmeticChoice {
    /// All that can be chosen here, from the one that is likely to be the fastest on. Empty if the kernel is not
    /// available or does not compute with that precision.
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
            // Nobody is given what is slower than `f32` without asking for it.
            .filter(|it| {
                let is_slow =
                    matches!(it.kernel, Kernel::Portable | Kernel::Neon) && it.precision == Precision::Int8;
                self.precision.is_some() || !is_slow
            })
            .collect();
        found.sort_by_key(|it| std::cmp::Reverse(it.speed()));
        found
    }
}

impl Arithmetic {
    /// The order of speed on processors that can run them.
    fn speed(self) -> usize {
        let kernel = self.kernel as usize;
        match (self.kernel, self.precision) {
            // Products of integers in one instruction are faster than anything else.
            (Kernel::AmxInt8, _) => 34,
            (Kernel::Avx512Bf16, _) if is_made_by_amd() => 33,
            (Kernel::Avx512Vnni, Precision::Int8) => 32,
            (Kernel::Avx512Bf16, _) => 31,
            (Kernel::AmxBf16, _) => 30,
            (Kernel::AvxVnni | Kernel::Avx512 | Kernel::NeonDot | Kernel::NeonI8mm, Precision::Int8) => {
                20 + kernel
            }
            (Kernel::Avx2, Precision::Int8) => 10 + kernel,
            (Kernel::Avx512 | Kernel::Avx512Vnni, _) => 10 + kernel,
            _ => kernel,
        }
    }
}

/// AMD's processors multiply two pairs of bf16 in the time of four pairs of bytes; by the published tables, Intel's start such a
/// product half as often, and then windows in bytes are as fast. Not measured on Intel's yet.
///
/// CITE: Abel and Reineke, "uops.info: characterizing latency, throughput, and port usage of instructions" (2019), tables of
/// VDPBF16PS and VPDPBUSD.
fn is_made_by_amd() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let vendor = std::arch::x86_64::__cpuid(0);
        [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == *b"AuthenticAMD"
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// A name that no kernel has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no kernel is called {name:?}; there are {}", Kernel::ALL.map(Kernel::name).join(", "))]
pub struct UnknownKernel {
    name: String,
}

impl FromStr for Kernel {
    type Err = UnknownKernel;

    /// The kernel of a [name](Kernel::name), whether this processor can run it or not.
    fn from_str(name: &str) -> Result<Kernel, UnknownKernel> {
        let mut all = Kernel::ALL.into_iter().chain([Kernel::EmulatedBf16]);
        let kernel = all.find(|kernel| kernel.name() == name);
        kernel.ok_or_else(|| UnknownKernel { name: name.to_owned() })
    }
}
