// Operations of a transformer in training beside matrix products, forwards and backwards, in f32: root-mean-square
// norms, the gate of SwiGLU, rotations of queries and keys, and attention with heads of 32 channels. PyTorch makes a
// pass over memory for each sum and product, which together take as long as the matrix products, and its attention is
// slow for small matrices.
//
// Rows are points of a batch. Gradients of parameters that all rows share are summed.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

using std::int64_t;

namespace {

// Compiler vectors of the processor's width.
#ifdef __AVX512F__
constexpr int LANES = 16, QUERIES = 12;
#else
constexpr int LANES = 8, QUERIES = 6;
#endif
typedef float Vector __attribute__((vector_size(LANES * sizeof(float))));
typedef std::int32_t Integers __attribute__((vector_size(LANES * sizeof(float))));

// Channels of a head, and the number of vectors for them.
constexpr int WIDTH = 32, VECTORS = WIDTH / LANES;
// Block size of keys.
constexpr int KEYS = 2 * LANES;
constexpr float LOG2_E = 1.44269504f;

inline Vector load(const float* from) {
    Vector x;
    std::memcpy(&x, from, sizeof x);
    return x;
}
inline void store(float* to, Vector x) { std::memcpy(to, &x, sizeof x); }
inline Vector splat(float x) { return Vector{} + x; }

// 2ˣ for x ≤ 0, about 0 below 2⁻¹²⁰: a polynomial on [-0.5, 0.5] with a relative error of 2·10⁻⁷.
inline Vector power_of_two(Vector x) {
    x = x > -120.0f ? x : splat(-120.0f);
    const Integers whole = __builtin_convertvector(x - 0.5f, Integers);
    const Vector rest = x - __builtin_convertvector(whole, Vector);
    Vector y = splat(0.00134042f);
    y = y * rest + 0.00967140f;
    y = y * rest + 0.05550327f;
    y = y * rest + 0.24022120f;
    y = y * rest + 0.69314719f;
    y = y * rest + 1.0f;
    Integers bits;
    std::memcpy(&bits, &y, sizeof bits);
    bits += whole << 23;
    std::memcpy(&y, &bits, sizeof bits);
    return y;
}

// 1 / (1 + e⁻ˣ). The compiler's exponential takes twenty times as long if one argument is extreme.
inline Vector sigmoid(Vector x) {
    const Vector far = x > 0.0f ? x : -x, power = power_of_two(far * -LOG2_E), upper = 1.0f / (1.0f + power);
    return x > 0.0f ? upper : power * upper;
}

// The last vector of a row may be shorter.
inline Vector load(const float* from, int64_t count) {
    if (count >= LANES) return load(from);
    Vector x{};
    std::memcpy(&x, from, count * sizeof(float));
    return x;
}
inline void store(float* to, Vector x, int64_t count) {
    std::memcpy(to, &x, (count < LANES ? count : LANES) * sizeof(float));
}

// Calls body(i, length) for every vector of a row, with a constant length for whole vectors.
template <class Body>
inline void across(int64_t width, Body body) {
    int64_t i = 0;
    for (; i + LANES <= width; i += LANES) body(i, std::integral_constant<int64_t, LANES>());
    if (i < width) body(i, width - i);
}

// Transposes a head of [point][head][channel] to [channel][point], padded to `padded` points by copies of the first
// point.
void turn_over(int64_t points, int64_t padded, int64_t step, const float* from, float* to) {
    for (int t = 0; t < WIDTH; t++) {
        for (int64_t j = 0; j < points; j++) to[t * padded + j] = from[j * step + t];
        for (int64_t j = points; j < padded; j++) to[t * padded + j] = from[t];
    }
}

// to[row][j] = rows[row] · columns[.][j], for all rows of a block and a block of columns.
inline void products(const float* const* rows, const float* columns, int64_t padded, Vector (&sums)[QUERIES][2]) {
    for (auto& sum : sums) sum[0] = sum[1] = Vector{};
    for (int t = 0; t < WIDTH; t++) {
        const Vector left = load(columns + t * padded), right = load(columns + t * padded + LANES);
#pragma GCC unroll 16
        for (int row = 0; row < QUERIES; row++) {
            const Vector factor = splat(rows[row][t]);
            sums[row][0] += factor * left;
            sums[row][1] += factor * right;
        }
    }
}

// to[row] = Σ weights[row][j] · values[j], three rows at a time.
inline void weighted(int64_t points, int64_t padded, const float* weights, const float* values, int64_t step,
                     float* const* to, const float* factors) {
    constexpr int ROWS = 3;
    for (int first = 0; first < QUERIES; first += ROWS) {
        Vector sums[ROWS][VECTORS] = {};
        for (int64_t j = 0; j < points; j++) {
#pragma GCC unroll 16
            for (int row = 0; row < ROWS; row++) {
                const Vector factor = splat(weights[(first + row) * padded + j]);
#pragma GCC unroll 4
                for (int part = 0; part < VECTORS; part++)
                    sums[row][part] += factor * load(values + j * step + part * LANES);
            }
        }
        for (int row = 0; row < ROWS; row++)
            for (int part = 0; part < VECTORS; part++)
                store(to[first + row] + part * LANES, sums[row][part] * factors[first + row]);
    }
}

// to[j] += Σ over the rows of weights[row][j] · rows[row].
inline void spread(int64_t points, int64_t padded, const float* weights, const float* const* rows, float* to) {
    constexpr int PARTS = VECTORS < 2 ? VECTORS : 2;
    for (int first = 0; first < VECTORS; first += PARTS)
        for (int64_t j = 0; j < points; j++) {
            Vector sums[PARTS];
            for (int part = 0; part < PARTS; part++) sums[part] = load(to + j * WIDTH + (first + part) * LANES);
#pragma GCC unroll 16
            for (int row = 0; row < QUERIES; row++) {
                const Vector factor = splat(weights[row * padded + j]);
                for (int part = 0; part < PARTS; part++)
                    sums[part] += factor * load(rows[row] + (first + part) * LANES);
            }
            for (int part = 0; part < PARTS; part++) store(to + j * WIDTH + (first + part) * LANES, sums[part]);
        }
}

// Rows of a block from `first` on. Beyond the last row, zeros are read and writes go to unused memory.
struct Block {
    const float* of[QUERIES];
    Block(const float* from, int64_t first, int64_t points, int64_t step, const float* none) {
        for (int row = 0; row < QUERIES; row++) of[row] = first + row < points ? from + (first + row) * step : none;
    }
};

}  // namespace

extern "C" {

// y = x · inverse · scale, with inverse = 1 / √(mean of x² + epsilon) for each row.
void norm_forward(int64_t rows, int64_t width, float epsilon, const float* x, const float* scale, float* y,
                  float* inverse) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        const float* from = x + row * width;
        float* to = y + row * width;
        float squares = 0;
        for (int64_t i = 0; i < width; i++) squares += from[i] * from[i];
        const float factor = 1 / std::sqrt(squares / width + epsilon);
        for (int64_t i = 0; i < width; i++) to[i] = from[i] * factor * scale[i];
        inverse[row] = factor;
    }
}

// dx, and dscale, which the caller sets to 0.
void norm_backward(int64_t rows, int64_t width, const float* x, const float* scale, const float* inverse,
                   const float* dy, float* dx, float* dscale) {
#pragma omp parallel
    {
        std::vector<float> own(width, 0.0f);
        float* sums = own.data();
#pragma omp for
        for (int64_t row = 0; row < rows; row++) {
            const float *from = x + row * width, *given = dy + row * width;
            float* to = dx + row * width;
            const float factor = inverse[row];
            // The norm's gradient has no part along x.
            float along = 0;
            for (int64_t i = 0; i < width; i++) along += given[i] * scale[i] * from[i];
            along *= factor * factor / width;
            for (int64_t i = 0; i < width; i++) {
                sums[i] += given[i] * from[i] * factor;
                to[i] = factor * (given[i] * scale[i] - from[i] * along);
            }
        }
#pragma omp critical
        for (int64_t i = 0; i < width; i++) dscale[i] += sums[i];
    }
}

// y = silu(a) · b, where a row of x consists of a and b, each of this width.
void gate_forward(int64_t rows, int64_t width, const float* x, float* y) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        const float *first = x + row * 2 * width, *second = first + width;
        float* to = y + row * width;
        across(width, [=](int64_t i, auto count) {
            const Vector a = load(first + i, count), b = load(second + i, count);
            store(to + i, a * b * sigmoid(a), count);
        });
    }
}

void gate_backward(int64_t rows, int64_t width, const float* x, const float* dy, float* dx) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        const float *first = x + row * 2 * width, *second = first + width, *given = dy + row * width;
        float *dfirst = dx + row * 2 * width, *dsecond = dfirst + width;
        across(width, [=](int64_t i, auto count) {
            const Vector a = load(first + i, count), b = load(second + i, count);
            const Vector slope = load(given + i, count) * sigmoid(a);
            store(dfirst + i, slope * b * (1.0f + a * (1.0f - sigmoid(a))), count);
            store(dsecond + i, slope * a, count);
        });
    }
}

// y = silu(z) with z = x · scale + bias, with a scale and a bias for each channel.
void smooth_forward(int64_t rows, int64_t width, const float* x, const float* scale, const float* bias, float* y) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        const float* from = x + row * width;
        float* to = y + row * width;
        across(width, [=](int64_t i, auto count) {
            const Vector z = load(from + i, count) * load(scale + i, count) + load(bias + i, count);
            store(to + i, z * sigmoid(z), count);
        });
    }
}

// dx, and dscale and dbias, which the caller sets to 0.
void smooth_backward(int64_t rows, int64_t width, const float* x, const float* scale, const float* bias,
                     const float* dy, float* dx, float* dscale, float* dbias) {
#pragma omp parallel
    {
        std::vector<float> own(2 * width, 0.0f);
        float *scales = own.data(), *biases = scales + width;
#pragma omp for
        for (int64_t row = 0; row < rows; row++) {
            const float *from = x + row * width, *given = dy + row * width;
            float* to = dx + row * width;
            across(width, [=](int64_t i, auto count) {
                const Vector here = load(from + i, count), factor = load(scale + i, count);
                const Vector z = here * factor + load(bias + i, count), sigma = sigmoid(z);
                const Vector dz = load(given + i, count) * sigma * (1.0f + z * (1.0f - sigma));
                store(scales + i, load(scales + i, count) + dz * here, count);
                store(biases + i, load(biases + i, count) + dz, count);
                store(to + i, dz * factor, count);
            });
        }
#pragma omp critical
        for (int64_t i = 0; i < width; i++) dscale[i] += scales[i], dbias[i] += biases[i];
    }
}

// Splits [image][point][queries, keys, values][head][channel] into queries, keys and values, and rotates pairs (t, half
// + t) of the channels of queries and keys by the angle of point, head and t, [point][head][t].
void turn_forward(int64_t images, int64_t points, int64_t heads, int64_t width, const float* x, const float* cosine,
                  const float* sine, float* q, float* k, float* v) {
    const int64_t half = width / 2, all = heads * width;
#pragma omp parallel for collapse(2)
    for (int64_t image = 0; image < images; image++)
        for (int64_t point = 0; point < points; point++) {
            const int64_t row = image * points + point;
            for (int64_t part = 0; part < 2; part++)
                for (int64_t head = 0; head < heads; head++) {
                    const float* from = x + (row * 3 + part) * all + head * width;
                    float* to = (part ? k : q) + row * all + head * width;
                    const float *c = cosine + (point * heads + head) * half, *s = sine + (point * heads + head) * half;
                    for (int64_t t = 0; t < half; t++) {
                        to[t] = from[t] * c[t] - from[half + t] * s[t];
                        to[half + t] = from[t] * s[t] + from[half + t] * c[t];
                    }
                }
            const float* from = x + (row * 3 + 2) * all;
            for (int64_t i = 0; i < all; i++) v[row * all + i] = from[i];
        }
}

// dx, and dangle, from the rotated queries and keys (q, k) and the gradients of all three.
void turn_backward(int64_t images, int64_t points, int64_t heads, int64_t width, const float* q, const float* k,
                   const float* cosine, const float* sine, const float* dq, const float* dk, const float* dv, float* dx,
                   float* dangle) {
    const int64_t half = width / 2, all = heads * width, turns = points * heads * half;
    std::fill(dangle, dangle + turns, 0.0f);
#pragma omp parallel
    {
        std::vector<float> own(turns, 0.0f);
#pragma omp for
        for (int64_t row = 0; row < images * points; row++) {
            for (int64_t part = 0; part < 2; part++)
                for (int64_t head = 0; head < heads; head++) {
                    const int64_t at = row * all + head * width, angle = (row % points * heads + head) * half;
                    const float *turned = (part ? k : q) + at, *given = (part ? dk : dq) + at;
                    float *to = dx + (row * 3 + part) * all + head * width, *turn = own.data() + angle;
                    across(half, [=](int64_t t, auto count) {
                        const Vector x = load(turned + t, count), y = load(turned + half + t, count);
                        const Vector dx = load(given + t, count), dy = load(given + half + t, count);
                        const Vector c = load(cosine + angle + t, count), s = load(sine + angle + t, count);
                        store(turn + t, load(turn + t, count) + dy * x - dx * y, count);
                        store(to + t, dx * c + dy * s, count);
                        store(to + half + t, dy * c - dx * s, count);
                    });
                }
            std::copy(dv + row * all, dv + (row + 1) * all, dx + (row * 3 + 2) * all);
        }
#pragma omp critical
        for (int64_t i = 0; i < turns; i++) dangle[i] += own[i];
    }
}

// out = softmax(q · kᵀ / √32) · v, all [image][point][head][32]. `sizes` [image][head][point] is the binary logarithm
// of the softmax's denominator.
void attention_forward(int64_t images, int64_t points, int64_t heads, const float* q, const float* k, const float* v,
                       float* out, float* sizes) {
    const int64_t step = heads * WIDTH, padded = (points + KEYS - 1) / KEYS * KEYS;
    const float scale = LOG2_E / std::sqrt(float(WIDTH));
#pragma omp parallel
    {
        std::vector<float> keys(WIDTH * padded), weights(QUERIES * padded), none(2 * WIDTH, 0.0f);
#pragma omp for
        for (int64_t work = 0; work < images * heads; work++) {
            const int64_t start = work / heads * points * step + work % heads * WIDTH;
            turn_over(points, padded, step, k + start, keys.data());
            for (int64_t first = 0; first < points; first += QUERIES) {
                const Block queries(q + start, first, points, step, none.data());
                Vector most[QUERIES];
                for (auto& one : most) one = splat(-1e30f);
                for (int64_t j = 0; j < padded; j += KEYS) {
                    Vector sums[QUERIES][2];
                    products(queries.of, keys.data() + j, padded, sums);
                    for (int row = 0; row < QUERIES; row++)
                        for (int part = 0; part < 2; part++) {
                            // Keys beyond the last one are copies of the first. They do not change the maximum, and
                            // their weights are subtracted below.
                            const Vector logit = sums[row][part] * scale;
                            most[row] = logit > most[row] ? logit : most[row];
                            store(weights.data() + row * padded + j + part * LANES, logit);
                        }
                }
                float factors[QUERIES], *to[QUERIES], scrap[WIDTH];
                for (int row = 0; row < QUERIES; row++) {
                    float peak = most[row][0];
                    for (int lane = 1; lane < LANES; lane++) peak = most[row][lane] > peak ? most[row][lane] : peak;
                    float* weight = weights.data() + row * padded;
                    Vector total{};
                    for (int64_t j = 0; j < padded; j += LANES) {
                        const Vector power = power_of_two(load(weight + j) - peak);
                        store(weight + j, power);
                        total += power;
                    }
                    float sum = 0;
                    for (int lane = 0; lane < LANES; lane++) sum += total[lane];
                    for (int64_t j = points; j < padded; j++) sum -= weight[j];
                    factors[row] = 1 / sum;
                    const bool is_real = first + row < points;
                    to[row] = is_real ? out + start + (first + row) * step : scrap;
                    if (is_real) sizes[work * points + first + row] = peak + std::log2(sum);
                }
                weighted(points, padded, weights.data(), v + start, step, to, factors);
            }
        }
    }
}

// dq, dk, dv. CITE: Dao et al., "FlashAttention" (2022): weights are recomputed, and the common term of a row's
// gradients follows from the row's output.
void attention_backward(int64_t images, int64_t points, int64_t heads, const float* q, const float* k, const float* v,
                        const float* out, const float* sizes, const float* dout, float* dq, float* dk, float* dv) {
    const int64_t step = heads * WIDTH, padded = (points + KEYS - 1) / KEYS * KEYS;
    const float root = 1 / std::sqrt(float(WIDTH)), scale = LOG2_E * root;
#pragma omp parallel
    {
        std::vector<float> keys(WIDTH * padded), values(WIDTH * padded), none(2 * WIDTH, 0.0f);
        std::vector<float> weights(QUERIES * padded), slopes(QUERIES * padded), dkeys(points * WIDTH),
            dvalues(points * WIDTH);
#pragma omp for
        for (int64_t work = 0; work < images * heads; work++) {
            const int64_t start = work / heads * points * step + work % heads * WIDTH;
            turn_over(points, padded, step, k + start, keys.data());
            turn_over(points, padded, step, v + start, values.data());
            std::fill(dkeys.begin(), dkeys.end(), 0.0f);
            std::fill(dvalues.begin(), dvalues.end(), 0.0f);
            for (int64_t first = 0; first < points; first += QUERIES) {
                const Block queries(q + start, first, points, step, none.data());
                const Block given(dout + start, first, points, step, none.data());
                float common[QUERIES], size[QUERIES], factors[QUERIES], *to[QUERIES], scrap[WIDTH];
                for (int row = 0; row < QUERIES; row++) {
                    const bool is_real = first + row < points;
                    const int64_t at = start + (first + row) * step;
                    common[row] = 0;
                    for (int t = 0; t < WIDTH && is_real; t++) common[row] += dout[at + t] * out[at + t];
                    size[row] = is_real ? sizes[work * points + first + row] : 0;
                    factors[row] = root;
                    to[row] = is_real ? dq + at : scrap;
                }
                for (int64_t j = 0; j < padded; j += KEYS) {
                    Vector sums[QUERIES][2];
                    products(queries.of, keys.data() + j, padded, sums);
                    for (int row = 0; row < QUERIES; row++)
                        for (int part = 0; part < 2; part++)
                            store(weights.data() + row * padded + j + part * LANES,
                                  power_of_two(sums[row][part] * scale - size[row]));
                    products(given.of, values.data() + j, padded, sums);
                    for (int row = 0; row < QUERIES; row++)
                        for (int part = 0; part < 2; part++) {
                            const int64_t at = row * padded + j + part * LANES;
                            store(slopes.data() + at, load(weights.data() + at) * (sums[row][part] - common[row]));
                        }
                }
                weighted(points, padded, slopes.data(), k + start, step, to, factors);
                spread(points, padded, slopes.data(), queries.of, dkeys.data());
                spread(points, padded, weights.data(), given.of, dvalues.data());
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
