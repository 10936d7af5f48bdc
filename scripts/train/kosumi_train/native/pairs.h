// What computations with pairs of bf16 numbers share. For processors with AVX-512 BF16: whoever includes it asks for them first.
#pragma once

#include <cstdint>
#include <immintrin.h>

// An instruction multiplies 16 pairs with 16 pairs, and adds both products of each to a sum in f32.
inline __m512bh pairs(const std::uint32_t* from) { return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from)); }
inline __m512bh pairs_of(std::uint32_t pair) { return reinterpret_cast<__m512bh>(_mm512_set1_epi32(int(pair))); }

// 2ˣ, to the precision of bf16 and somewhat better: a polynomial on [-0.5, 0.5] (relative error 4·10⁻⁶).
inline __m512 power_of_two(__m512 x) {
    const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 rest = _mm512_sub_ps(x, whole);
    __m512 y = _mm512_set1_ps(0.0096181f);
    y = _mm512_fmadd_ps(y, rest, _mm512_set1_ps(0.0555041f));
    y = _mm512_fmadd_ps(y, rest, _mm512_set1_ps(0.2402265f));
    y = _mm512_fmadd_ps(y, rest, _mm512_set1_ps(0.6931472f));
    y = _mm512_fmadd_ps(y, rest, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(y, whole);
}
