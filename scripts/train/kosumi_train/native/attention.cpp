// Attention with heads of 32 channels for training, forwards and backwards, with products of bf16 and sums in f32: 1.3
// to 2 times as fast as f32 (`learning.cpp`; AMD EPYC, Zen 5, 9×9 and 19×19). `attention_available` reports whether the
// processor supports it.
//
// All arrays are f32, [image][point][head][channel]. An instruction multiplies pairs of adjacent numbers and adds both
// products, so the dimension of a sum (channels, keys or queries) is stored in pairs.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512BF16__)
#include "pairs.h"

namespace {

using std::int64_t;
using std::uint16_t;
using std::uint32_t;

constexpr int WIDTH = 32, HALF = WIDTH / 2;
// Block sizes of queries and keys.
constexpr int QUERIES = 8, KEYS = 16;
constexpr float LOG2_E = 1.44269504f;

// Rounds to the nearest bf16 numbers, in the lower halves of 32 bits.
inline __m512i narrow(__m512 x) {
    return _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
}

// Rounds to the nearest bf16 numbers, as f32.
inline __m512 rounded(__m512 x) { return _mm512_castsi512_ps(_mm512_slli_epi32(narrow(x), 16)); }

// Transposes rows[16][16] of 32 bits each. The rows of the result are `step` apart.
inline void exchange(const uint32_t* rows, uint32_t* to, int64_t step) {
    __m512i a[HALF], b[HALF];
    for (int row = 0; row < HALF; row++) a[row] = _mm512_loadu_si512(rows + row * HALF);
    // Within every 128 bits: four rows and four columns.
    for (int row = 0; row < HALF; row += 2) {
        b[row] = _mm512_unpacklo_epi32(a[row], a[row + 1]);
        b[row + 1] = _mm512_unpackhi_epi32(a[row], a[row + 1]);
    }
    for (int row = 0; row < HALF; row += 4)
        for (int part = 0; part < 2; part++) {
            a[row + 2 * part] = _mm512_unpacklo_epi64(b[row + part], b[row + 2 + part]);
            a[row + 2 * part + 1] = _mm512_unpackhi_epi64(b[row + part], b[row + 2 + part]);
        }
    // a[4 · group + t] holds, of the rows 4 · group on, the columns t, 4 + t, 8 + t and 12 + t, in 128 bits each.
    for (int t = 0; t < 4; t++) {
        const __m512i low = _mm512_shuffle_i32x4(a[t], a[4 + t], 0x88),
                      high = _mm512_shuffle_i32x4(a[t], a[4 + t], 0xdd);
        const __m512i more = _mm512_shuffle_i32x4(a[8 + t], a[12 + t], 0x88),
                      most = _mm512_shuffle_i32x4(a[8 + t], a[12 + t], 0xdd);
        _mm512_storeu_si512(to + t * step, _mm512_shuffle_i32x4(low, more, 0x88));
        _mm512_storeu_si512(to + (4 + t) * step, _mm512_shuffle_i32x4(high, most, 0x88));
        _mm512_storeu_si512(to + (8 + t) * step, _mm512_shuffle_i32x4(low, more, 0xdd));
        _mm512_storeu_si512(to + (12 + t) * step, _mm512_shuffle_i32x4(high, most, 0xdd));
    }
}

// A head of all points in bf16, in the orders that the sums need, padded with zeros.
struct Head {
    int64_t points, padded;
    // [point][pair of channels]; [pair of channels][point]; [pair of points][channel].
    std::vector<uint32_t> rows, columns, neighbours;

    explicit Head(int64_t count)
        : points(count),
          padded((count + KEYS - 1) / KEYS * KEYS),
          rows(padded * HALF),
          columns(padded * HALF),
          neighbours(padded * HALF) {}

    // Points are `step` apart.
    void read(const float* from, int64_t step) {
        for (int64_t j = 0; j < points; j++) {
            const __m512 low = _mm512_loadu_ps(from + j * step), high = _mm512_loadu_ps(from + j * step + HALF);
            _mm512_storeu_si512(rows.data() + j * HALF, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
        }
    }
    void make_columns() {
        for (int64_t j = 0; j < padded; j += KEYS) exchange(rows.data() + j * HALF, columns.data() + j, padded);
    }
    void make_neighbours() {
        for (int64_t j = 0; j < points; j += 2) {
            // 32 channels of two points, and the indices of channel i of both.
            const __m512i one = _mm512_loadu_si512(rows.data() + j * HALF),
                          two = _mm512_loadu_si512(rows.data() + (j + 1) * HALF);
            const __m512i left = _mm512_add_epi32(_mm512_mullo_epi32(counted(), _mm512_set1_epi32(0x00010001)),
                                                  _mm512_set1_epi32(32 << 16));
            _mm512_storeu_si512(neighbours.data() + j * HALF, _mm512_permutex2var_epi16(one, left, two));
            _mm512_storeu_si512(
                neighbours.data() + j * HALF + HALF,
                _mm512_permutex2var_epi16(one, _mm512_add_epi32(left, _mm512_set1_epi32(0x00100010)), two));
        }
    }

  private:
    static __m512i counted() { return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
};

// sums[row] += rows[row] · columns[., j], for KEYS points from j on.
inline void along_channels(const uint32_t* rows, const uint32_t* columns, int64_t padded, __m512 (&sums)[QUERIES]) {
    for (auto& sum : sums) sum = _mm512_setzero_ps();
    for (int t = 0; t < HALF; t++) {
        const __m512bh column = pairs(columns + t * padded);
#pragma GCC unroll 8
        for (int row = 0; row < QUERIES; row++)
            sums[row] = _mm512_dpbf16_ps(sums[row], pairs_of(rows[row * HALF + t]), column);
    }
}

// to[row] = factors[row] · Σ weights[row][j] · points[j], with weights in adjacent pairs, [row][pair].
inline void along_points(const uint32_t* weights, const Head& points, const float* factors, float* const* to,
                         int count) {
    __m512 sums[QUERIES][2];
    for (auto& sum : sums) sum[0] = sum[1] = _mm512_setzero_ps();
    for (int64_t pair = 0; pair < points.padded / 2; pair++) {
        const __m512bh left = pairs(points.neighbours.data() + pair * WIDTH);
        const __m512bh right = pairs(points.neighbours.data() + pair * WIDTH + HALF);
#pragma GCC unroll 8
        for (int row = 0; row < QUERIES; row++) {
            const __m512bh weight = pairs_of(weights[row * (points.padded / 2) + pair]);
            sums[row][0] = _mm512_dpbf16_ps(sums[row][0], weight, left);
            sums[row][1] = _mm512_dpbf16_ps(sums[row][1], weight, right);
        }
    }
    for (int row = 0; row < count; row++)
        for (int part = 0; part < 2; part++)
            _mm512_storeu_ps(to[row] + part * HALF, _mm512_mul_ps(sums[row][part], _mm512_set1_ps(factors[row])));
}

// to[j] += Σ over the rows of weights[row][j] · rows[row], with weights and rows in pairs of rows, [pair of rows][j].
inline void along_rows(const uint32_t* weights, const uint32_t* rows, int64_t padded, float* to) {
    __m512bh left[QUERIES / 2], right[QUERIES / 2];
    for (int pair = 0; pair < QUERIES / 2; pair++) {
        left[pair] = pairs(rows + pair * WIDTH);
        right[pair] = pairs(rows + pair * WIDTH + HALF);
    }
    for (int64_t j = 0; j < padded; j++) {
        __m512 one = _mm512_loadu_ps(to + j * WIDTH), two = _mm512_loadu_ps(to + j * WIDTH + HALF);
#pragma GCC unroll 8
        for (int pair = 0; pair < QUERIES / 2; pair++) {
            const __m512bh weight = pairs_of(weights[pair * padded + j]);
            one = _mm512_dpbf16_ps(one, weight, left[pair]);
            two = _mm512_dpbf16_ps(two, weight, right[pair]);
        }
        _mm512_storeu_ps(to + j * WIDTH, one);
        _mm512_storeu_ps(to + j * WIDTH + HALF, two);
    }
}

// Number of existing points among KEYS points from j on.
inline __mmask16 real(int64_t points, int64_t j) { return points - j >= KEYS ? 0xffff : (1u << (points - j)) - 1; }

}  // namespace

extern "C" {

int attention_available() { return 1; }

// out = softmax(q · kᵀ / √32) · v. `sizes` [image][head][point] is the binary logarithm of the softmax's denominator.
void attention_pairs_forward(int64_t images, int64_t points, int64_t heads, const float* q, const float* k,
                             const float* v, float* out, float* sizes) {
    const int64_t step = heads * WIDTH;
    const __m512 scale = _mm512_set1_ps(LOG2_E / std::sqrt(float(WIDTH)));
#pragma omp parallel
    {
        Head queries(points), keys(points), values(points);
        const int64_t padded = keys.padded;
        std::vector<float> logits(QUERIES * padded);
        std::vector<uint32_t> weights(QUERIES * padded / 2);
#pragma omp for
        for (int64_t work = 0; work < images * heads; work++) {
            const int64_t start = work / heads * points * step + work % heads * WIDTH;
            queries.read(q + start, step);
            keys.read(k + start, step);
            values.read(v + start, step);
            keys.make_columns();
            values.make_neighbours();
            for (int64_t first = 0; first < points; first += QUERIES) {
                __m512 most[QUERIES];
                for (auto& one : most) one = _mm512_set1_ps(-1e30f);
                for (int64_t j = 0; j < padded; j += KEYS) {
                    __m512 sums[QUERIES];
                    along_channels(queries.rows.data() + first * HALF, keys.columns.data() + j, padded, sums);
                    for (int row = 0; row < QUERIES; row++) {
                        const __m512 logit =
                            _mm512_mask_mul_ps(_mm512_set1_ps(-1e30f), real(points, j), sums[row], scale);
                        most[row] = _mm512_max_ps(most[row], logit);
                        _mm512_storeu_ps(logits.data() + row * padded + j, logit);
                    }
                }
                float factors[QUERIES], *to[QUERIES];
                const int count = int(points - first < QUERIES ? points - first : QUERIES);
                for (int row = 0; row < QUERIES; row++) {
                    const float peak = _mm512_reduce_max_ps(most[row]);
                    __m512 total = _mm512_setzero_ps();
                    for (int64_t j = 0; j < padded; j += KEYS) {
                        const __m512 logit = _mm512_loadu_ps(logits.data() + row * padded + j);
                        // The sum uses the rounded weights, so that their sum is 1 but for f32 rounding.
                        const __m512 power = rounded(power_of_two(_mm512_sub_ps(logit, _mm512_set1_ps(peak))));
                        total = _mm512_add_ps(total, power);
                        _mm256_storeu_si256(reinterpret_cast<__m256i*>(weights.data() + row * (padded / 2) + j / 2),
                                            reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(power)));
                    }
                    const float sum = _mm512_reduce_add_ps(total);
                    factors[row] = 1 / sum;
                    if (row < count) {
                        to[row] = out + start + (first + row) * step;
                        sizes[work * points + first + row] = peak + std::log2(sum);
                    }
                }
                along_points(weights.data(), values, factors, to, count);
            }
        }
    }
}

// dq, dk, dv. CITE: Dao et al., "FlashAttention" (2022): weights are recomputed, and the common term of a row's
// gradients follows from the row's output.
void attention_pairs_backward(int64_t images, int64_t points, int64_t heads, const float* q, const float* k,
                              const float* v, const float* out, const float* sizes, const float* dout, float* dq,
                              float* dk, float* dv) {
    const int64_t step = heads * WIDTH;
    const float root = 1 / std::sqrt(float(WIDTH));
    const __m512 scale = _mm512_set1_ps(LOG2_E * root);
#pragma omp parallel
    {
        Head queries(points), keys(points), values(points), given(points);
        const int64_t padded = keys.padded;
        // Weights and score gradients in pairs of rows, and score gradients in pairs of points.
        std::vector<uint32_t> weights(QUERIES / 2 * padded), slopes(QUERIES / 2 * padded), rows(QUERIES * padded / 2);
        std::vector<float> dkeys(padded * WIDTH), dvalues(padded * WIDTH);
#pragma omp for
        for (int64_t work = 0; work < images * heads; work++) {
            const int64_t start = work / heads * points * step + work % heads * WIDTH;
            queries.read(q + start, step);
            keys.read(k + start, step);
            values.read(v + start, step);
            given.read(dout + start, step);
            for (Head* one : {&keys, &values}) one->make_columns();
            for (Head* one : {&queries, &keys, &given}) one->make_neighbours();
            std::fill(dkeys.begin(), dkeys.end(), 0.0f);
            std::fill(dvalues.begin(), dvalues.end(), 0.0f);
            for (int64_t first = 0; first < points; first += QUERIES) {
                const int count = int(points - first < QUERIES ? points - first : QUERIES);
                float common[QUERIES], size[QUERIES], factors[QUERIES], *to[QUERIES];
                for (int row = 0; row < QUERIES; row++) {
                    // Rows beyond the last one have weight 0.
                    common[row] = 0, size[row] = 1e30f, factors[row] = root;
                    if (row >= count) continue;
                    const float *gave = dout + start + (first + row) * step, *saw = out + start + (first + row) * step;
                    // From the rounded gradients, as the products below: most of a score gradient is the difference of
                    // both.
                    __m512 sum = _mm512_mul_ps(rounded(_mm512_loadu_ps(gave)), _mm512_loadu_ps(saw));
                    sum = _mm512_fmadd_ps(rounded(_mm512_loadu_ps(gave + HALF)), _mm512_loadu_ps(saw + HALF), sum);
                    common[row] = _mm512_reduce_add_ps(sum);
                    size[row] = sizes[work * points + first + row];
                    to[row] = dq + start + (first + row) * step;
                }
                for (int64_t j = 0; j < padded; j += KEYS) {
                    __m512 logits[QUERIES], sums[QUERIES];
                    along_channels(queries.rows.data() + first * HALF, keys.columns.data() + j, padded, logits);
                    along_channels(given.rows.data() + first * HALF, values.columns.data() + j, padded, sums);
                    for (int pair = 0; pair < QUERIES / 2; pair++) {
                        __m512i weight[2], slope[2];
                        for (int side = 0; side < 2; side++) {
                            const int row = 2 * pair + side;
                            const __m512 power = _mm512_maskz_mov_ps(
                                real(points, j),
                                power_of_two(_mm512_fmsub_ps(logits[row], scale, _mm512_set1_ps(size[row]))));
                            weight[side] = narrow(power);
                            const __m256i narrowed = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(
                                _mm512_mul_ps(power, _mm512_sub_ps(sums[row], _mm512_set1_ps(common[row])))));
                            slope[side] = _mm512_cvtepu16_epi32(narrowed);
                            _mm256_storeu_si256(reinterpret_cast<__m256i*>(rows.data() + row * (padded / 2) + j / 2),
                                                narrowed);
                        }
                        _mm512_storeu_si512(weights.data() + pair * padded + j,
                                            _mm512_or_si512(weight[0], _mm512_slli_epi32(weight[1], 16)));
                        _mm512_storeu_si512(slopes.data() + pair * padded + j,
                                            _mm512_or_si512(slope[0], _mm512_slli_epi32(slope[1], 16)));
                    }
                }
                along_points(rows.data(), keys, factors, to, count);
                along_rows(slopes.data(), queries.neighbours.data() + first * HALF, padded, dkeys.data());
                along_rows(weights.data(), given.neighbours.data() + first * HALF, padded, dvalues.data());
            }
            for (int64_t j = 0; j < points; j++)
                for (int t = 0; t < WIDTH; t++) {
                    dk[start + j * step + t] = dkeys[j * WIDTH + t] * root;
                    dv[start + j * step + t] = dvalues[j * WIDTH + t];
                }
        }
    }
}

}  // extern "C"
#else
extern "C" int attention_available() { return 0; }
#endif
