// Operations of a transformer beside matrix products, in bf16 on a CPU with AVX-512: attention with rotations, the gate
// of SwiGLU, and root-mean-square norms. PyTorch's versions take three times as long as the products around them.
//
// bf16 numbers are the upper halves of f32s. Sums are f32. `transformer_available` reports whether the processor
// supports it.

#include <cstdint>
#include <vector>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512BF16__)
#include "pairs.h"

namespace {

using std::int64_t;
using std::uint16_t;
using std::uint32_t;

// Block size of queries, limited by the number of accumulators.
constexpr int QUERIES = 8;

inline __m512 widen(const uint16_t* from) {
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))), 16));
}

inline void narrow(uint16_t* to, __m512 value) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value)));
}

inline uint32_t bits(float x) {
    uint32_t y;
    __builtin_memcpy(&y, &x, 4);
    return y;
}
// Rounds to nearest, ties to even.
inline uint32_t rounded(float x) { return (bits(x) + 0x7fff + (bits(x) >> 16 & 1)) >> 16; }
inline float wide(uint16_t x) {
    const uint32_t y = uint32_t(x) << 16;
    float z;
    __builtin_memcpy(&z, &y, 4);
    return z;
}

// Rotates a head's row of `half` pairs. Pair t is (x[t], x[half + t]).
inline void turn(const uint16_t* x, const float* cosine, const float* sine, int64_t half, float scale, uint32_t* to,
                 int64_t step) {
    for (int64_t t = 0; t < half; t++) {
        const float a = wide(x[t]), b = wide(x[half + t]);
        const float c = cosine ? cosine[t] : 1.0f, s = sine ? sine[t] : 0.0f;
        to[t * step] = rounded((a * c - b * s) * scale) | rounded((a * s + b * c) * scale) << 16;
    }
}

struct Scratch {
    std::vector<uint32_t> keys, values, queries, weights;
    std::vector<float> scores;
};

}  // namespace

extern "C" {

int transformer_available() { return 1; }

// out[image][point][head][value] = softmax(q · kᵀ / √key) · v, with q and k rotated by the angles of the point.
// `qkv` is [image][point][all queries, all keys, all values]. Cosine and sine are [point][kv_heads][key / 2], or null.
// `key` must be even and `value` a multiple of 16.
void transformer_attention(int64_t images, int64_t points, int64_t heads, int64_t kv_heads, int64_t key, int64_t value,
                           const uint16_t* qkv, const float* cosine, const float* sine, uint16_t* out) {
    const int64_t width = heads * key + kv_heads * (key + value), half = key / 2;
    const int64_t padded = (points + 31) / 32 * 32, group = heads / kv_heads;
    const float scale = 1.44269504f / __builtin_sqrtf(float(key));
#pragma omp parallel
    {
        Scratch scratch;
        scratch.keys.assign(half * padded, 0);
        scratch.values.assign(padded / 2 * value, 0);
        scratch.queries.assign(QUERIES * half, 0);
        scratch.weights.assign(QUERIES * padded / 2, 0);
        scratch.scores.assign(QUERIES * padded, 0.0f);
        uint32_t *keys = scratch.keys.data(), *values = scratch.values.data();
        uint32_t *queries = scratch.queries.data(), *weights = scratch.weights.data();
        float* scores = scratch.scores.data();
#pragma omp for schedule(dynamic)
        for (int64_t work = 0; work < images * kv_heads; work++) {
            const int64_t image = work / kv_heads, kv = work % kv_heads;
            const uint16_t* rows = qkv + image * points * width;
            for (int64_t point = 0; point < points; point++) {
                const int64_t angle = (point * kv_heads + kv) * half;
                turn(rows + point * width + heads * key + kv * key, cosine ? cosine + angle : nullptr,
                     sine ? sine + angle : nullptr, half, 1.0f, keys + point, padded);
            }
            const uint16_t* first_value = rows + heads * key + kv_heads * key + kv * value;
            for (int64_t pair = 0; pair < (points + 1) / 2; pair++)
                for (int64_t d = 0; d < value; d++) {
                    const uint32_t low = first_value[2 * pair * width + d];
                    const uint32_t high = 2 * pair + 1 < points ? first_value[(2 * pair + 1) * width + d] : 0;
                    values[pair * value + d] = low | high << 16;
                }
            for (int64_t head = kv * group; head < (kv + 1) * group; head++)
                for (int64_t first = 0; first < points; first += QUERIES) {
                    const int64_t count = points - first < QUERIES ? points - first : QUERIES;
                    for (int64_t row = 0; row < count; row++) {
                        const int64_t point = first + row, angle = (point * kv_heads + kv) * half;
                        turn(rows + point * width + head * key, cosine ? cosine + angle : nullptr,
                             sine ? sine + angle : nullptr, half, scale, queries + row * half, 1);
                    }
                    __m512 most[QUERIES];
                    for (auto& one : most) one = _mm512_set1_ps(-1e30f);
                    for (int64_t j = 0; j < padded; j += 32) {
                        __m512 sum[QUERIES][2] = {};
                        for (int64_t t = 0; t < half; t++) {
                            const __m512bh left = pairs(keys + t * padded + j),
                                           right = pairs(keys + t * padded + j + 16);
                            for (int row = 0; row < QUERIES; row++) {
                                const __m512bh query = pairs_of(queries[row * half + t]);
                                sum[row][0] = _mm512_dpbf16_ps(sum[row][0], query, left);
                                sum[row][1] = _mm512_dpbf16_ps(sum[row][1], query, right);
                            }
                        }
                        if (j + 32 > points) {
                            // Keys beyond the last point have weight 0.
                            for (int part = 0; part < 2; part++) {
                                const int64_t on = points - j - 16 * part;
                                const __mmask16 real = on >= 16 ? 0xffff : on <= 0 ? 0 : (1u << on) - 1;
                                for (auto& row : sum)
                                    row[part] = _mm512_mask_blend_ps(real, _mm512_set1_ps(-1e30f), row[part]);
                            }
                        }
                        for (int row = 0; row < QUERIES; row++) {
                            most[row] = _mm512_max_ps(most[row], _mm512_max_ps(sum[row][0], sum[row][1]));
                            _mm512_storeu_ps(scores + row * padded + j, sum[row][0]);
                            _mm512_storeu_ps(scores + row * padded + j + 16, sum[row][1]);
                        }
                    }
                    float total[QUERIES];
                    for (int row = 0; row < QUERIES; row++) {
                        const __m512 peak = _mm512_set1_ps(_mm512_reduce_max_ps(most[row]));
                        __m512 sum = _mm512_setzero_ps();
                        for (int64_t j = 0; j < padded; j += 32) {
                            const __m512 a =
                                power_of_two(_mm512_sub_ps(_mm512_loadu_ps(scores + row * padded + j), peak));
                            const __m512 b =
                                power_of_two(_mm512_sub_ps(_mm512_loadu_ps(scores + row * padded + j + 16), peak));
                            sum = _mm512_add_ps(sum, _mm512_add_ps(a, b));
                            _mm512_storeu_si512(weights + row * (padded / 2) + j / 2,
                                                reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a)));
                        }
                        total[row] = _mm512_reduce_add_ps(sum);
                    }
                    for (int64_t d = 0; d < value; d += 16) {
                        __m512 sum[QUERIES] = {}, more[QUERIES] = {};
                        for (int64_t pair = 0; pair < padded / 2; pair += 2) {
                            const __m512bh one = pairs(values + pair * value + d);
                            const __m512bh two = pairs(values + (pair + 1) * value + d);
                            for (int row = 0; row < QUERIES; row++) {
                                const uint32_t* weight = weights + row * (padded / 2) + pair;
                                sum[row] = _mm512_dpbf16_ps(sum[row], pairs_of(weight[0]), one);
                                more[row] = _mm512_dpbf16_ps(more[row], pairs_of(weight[1]), two);
                            }
                        }
                        for (int64_t row = 0; row < count; row++)
                            narrow(out + ((image * points + first + row) * heads + head) * value + d,
                                   _mm512_mul_ps(_mm512_add_ps(sum[row], more[row]), _mm512_set1_ps(1 / total[row])));
                    }
                }
        }
    }
}

// to[row][i] = silu(x[row][i]) · x[row][width + i]. `width` must be a multiple of 16.
void transformer_gate(int64_t rows, int64_t width, const uint16_t* x, uint16_t* to) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < width; i += 16) {
            const __m512 a = widen(x + row * 2 * width + i), b = widen(x + row * 2 * width + width + i);
            // σ(a) = 1 / (1 + 2^(-a log₂e)), which is 0 or 1 for extreme a.
            const __m512 power = _mm512_max_ps(_mm512_set1_ps(-120.0f), _mm512_min_ps(_mm512_set1_ps(120.0f),
                                               _mm512_mul_ps(a, _mm512_set1_ps(-1.44269504f))));
            const __m512 sigma = _mm512_rcp14_ps(_mm512_add_ps(_mm512_set1_ps(1.0f), power_of_two(power)));
            narrow(to + row * width + i, _mm512_mul_ps(_mm512_mul_ps(a, sigma), b));
        }
}

// to[row] = x[row] / √(mean of squares + epsilon). `width` must be a multiple of 16.
void transformer_norm(int64_t rows, int64_t width, float epsilon, const uint16_t* x, uint16_t* to) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        __m512 sum = _mm512_setzero_ps();
        for (int64_t i = 0; i < width; i += 16) {
            const __m512 one = widen(x + row * width + i);
            sum = _mm512_fmadd_ps(one, one, sum);
        }
        const __m512 scale = _mm512_set1_ps(1 / __builtin_sqrtf(_mm512_reduce_add_ps(sum) / width + epsilon));
        for (int64_t i = 0; i < width; i += 16)
            narrow(to + row * width + i, _mm512_mul_ps(widen(x + row * width + i), scale));
    }
}

// to[row][i] = silu(x[row][i] · scale[i] + bias[i]). `width` must be a multiple of 16.
void transformer_silu(int64_t rows, int64_t width, const uint16_t* scale, const uint16_t* bias, const uint16_t* x,
                      uint16_t* to) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < width; i += 16) {
            const __m512 a = _mm512_fmadd_ps(widen(x + row * width + i), widen(scale + i), widen(bias + i));
            const __m512 power = _mm512_max_ps(_mm512_set1_ps(-120.0f), _mm512_min_ps(_mm512_set1_ps(120.0f),
                                               _mm512_mul_ps(a, _mm512_set1_ps(-1.44269504f))));
            const __m512 sigma = _mm512_rcp14_ps(_mm512_add_ps(_mm512_set1_ps(1.0f), power_of_two(power)));
            narrow(to + row * width + i, _mm512_mul_ps(a, sigma));
        }
}

}  // extern "C"
#else
extern "C" int transformer_available() { return 0; }
#endif
