//! The bf16 format: the upper half of an `f32`, with 8 bits of precision and the same range.

/// Rounds to the nearest bf16, with ties to even. NaN stays NaN.
#[inline(always)]
pub(super) fn to_bf16(x: f32) -> u16 {
    let bits = if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() };
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

pub(super) fn from_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_is_the_nearest_number_and_even_between_two() {
        let round = |x: f32| from_bf16(to_bf16(x));
        let step = 1.0 / 128.0;
        for (x, nearest) in [
            (1.0, 1.0),
            (1.0 + 0.49 * step, 1.0),
            (1.0 + 0.5 * step, 1.0),
            (1.0 + 0.51 * step, 1.0 + step),
            (1.0 + 1.5 * step, 1.0 + 2.0 * step),
            (-0.0, -0.0),
            (f32::MAX, f32::INFINITY),
            (f32::NEG_INFINITY, f32::NEG_INFINITY),
        ] {
            assert_eq!(round(x).to_bits(), f32::to_bits(nearest), "{x}");
        }
        for bits in [0x7f80_0001, 0x7fff_ffff, 0xffff_ffff] {
            assert!(round(f32::from_bits(bits)).is_nan(), "{bits:x}");
        }
    }
}
