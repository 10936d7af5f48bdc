// 3×3 convolutions for training on a CPU: y = residual + conv(relu(x + bias)), forwards and backwards, in one pass
// each.
//
// Winograd's minimal filtering F(4×4, 3×3): 36 multiplications for 16 outputs instead of 144. The pre-activation is
// applied while the input is read, and the residual is added while the output is written, so memory is written only for
// the input of the next layer.
//
// CITE: Lavin & Gray, "Fast algorithms for convolutional neural networks" (2015), the matrices A, B and G of F(4×4,
// 3×3).
//
// Tensors are [image][row][column][channel], weights [output][input][3][3]. Numbers of channels must be multiples of 8.
// With `pairs`, the products between the transformations use numbers rounded to bf16, summed in f32: twice as fast on
// processors that support it (`winograd_has_pairs`). All numbers of channels must be multiples of 16 then.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

namespace {

using std::int64_t;

typedef float V8 __attribute__((vector_size(32), aligned(4), may_alias));
#if defined(__AVX512F__)
constexpr int WIDE = 16;
constexpr int MAX_ROWS = 12;
typedef float Wide __attribute__((vector_size(64), aligned(4), may_alias));
#else
constexpr int WIDE = 8;
constexpr int MAX_ROWS = 6;
typedef V8 Wide;
#endif

// (A template argument loses the alignment of its type, so vectors are copied.)
template <typename Vector>
inline Vector fetch(const float* from) {
    Vector value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}
template <typename Vector>
inline void put(float* to, Vector value) {
    std::memcpy(to, &value, sizeof(value));
}
template <typename Vector>
inline Vector relu(Vector x) {
    return x > 0.0f ? x : Vector{};
}

// Calls body with vectors of the processor's width if the number of channels is a multiple of it, else with 8 lanes.
template <typename Run>
inline void with_vectors(int64_t channels, Run run) {
    if (channels % WIDE == 0)
        run(Wide{});
    else
        run(V8{});
}

// Words of matrix products. A matrix has rows of 32-bit words: numbers, or pairs of numbers that are adjacent in the
// dimension of the sum.
struct Numbers {
    static constexpr int64_t IN_A_WORD = 1;
    template <typename V>
    static inline V add(V sum, float left, V right) {
        return sum + left * right;
    }
};

#if defined(__AVX512BF16__)
struct Pairs {
    static constexpr int64_t IN_A_WORD = 2;
    static inline Wide add(Wide sum, float left, Wide right) {
        return (Wide)_mm512_dpbf16_ps((__m512)sum, (__m512bh)_mm512_set1_ps(left), (__m512bh)(__m512)right);
    }
    // 16 pairs of a number of the first and one of the second.
    static inline Wide join(Wide first, Wide second) {
        const __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh((__m512)first));
        const __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh((__m512)second));
        return (Wide)_mm512_or_si512(low, _mm512_slli_epi32(high, 16));
    }
    // 16 numbers as 8 adjacent pairs.
    static inline void put_neighbours(float* to, Wide numbers) {
        const __m256i half = (__m256i)_mm512_cvtneps_pbh((__m512)numbers);
        std::memcpy(to, &half, sizeof(half));
    }
};
#endif

// Sizes of a layer, and its division into tiles of 4×4 outputs.
struct Layer {
    int64_t images, rows, columns, inputs, outputs, tile_rows, tile_columns;
    int64_t tiles() const { return tile_rows * tile_columns; }
    // Number of images for each pass: enough tiles for efficient matrix products.
    int64_t together() const { return std::max<int64_t>(1, 50 / tiles()); }
    // An image of tiles with its inputs: a margin of 1, and the part of the tiles outside the board.
    int64_t padded_columns() const { return 4 * tile_columns + 2; }
    int64_t padded_points() const { return (4 * tile_rows + 2) * padded_columns(); }
};

// Position of a tile among some images.
struct Place {
    int64_t image, top, left;
    bool whole;
    Place(const Layer& layer, int64_t tile) {
        image = tile / layer.tiles();
        top = tile % layer.tiles() / layer.tile_columns * 4;
        left = tile % layer.tile_columns * 4;
        whole = top + 4 <= layer.rows && left + 4 <= layer.columns;
    }
};

// d ← Bᵀ d B, with d 6×6.
template <typename V>
inline void to_input_space(V d[6][6]) {
    auto once = [](V& a, V& b, V& c, V& e, V& f, V& g) {
        const V x0 = 4.0f * a - 5.0f * c + f;
        const V p = f - 4.0f * c, q = e - 4.0f * b;
        const V r = f - c, s = 2.0f * (e - b);
        const V x5 = 4.0f * b - 5.0f * e + g;
        a = x0, b = p + q, c = p - q, e = r + s, f = r - s, g = x5;
    };
    for (int i = 0; i < 6; i++) once(d[0][i], d[1][i], d[2][i], d[3][i], d[4][i], d[5][i]);
    for (int i = 0; i < 6; i++) once(d[i][0], d[i][1], d[i][2], d[i][3], d[i][4], d[i][5]);
}

// d ← B d Bᵀ, the transpose of the above.
template <typename V>
inline void from_input_space(V d[6][6]) {
    auto once = [](V& a, V& b, V& c, V& e, V& f, V& g) {
        const V p = b + c, q = b - c, r = e + f, s = 2.0f * (e - f);
        const V x0 = 4.0f * a;
        const V x1 = -4.0f * q - s + 4.0f * g;
        const V x2 = -5.0f * a - 4.0f * p - r;
        const V x3 = q + s - 5.0f * g;
        const V x4 = a + p + r;
        const V x5 = g;
        a = x0, b = x1, c = x2, e = x3, f = x4, g = x5;
    };
    for (int i = 0; i < 6; i++) once(d[0][i], d[1][i], d[2][i], d[3][i], d[4][i], d[5][i]);
    for (int i = 0; i < 6; i++) once(d[i][0], d[i][1], d[i][2], d[i][3], d[i][4], d[i][5]);
}

// y ← Aᵀ m A: from 6×6 to 4×4.
template <typename V>
inline void to_output(const V m[6][6], V y[4][4]) {
    V half[4][6];
    for (int i = 0; i < 6; i++) {
        const V p = m[1][i] + m[2][i], q = m[1][i] - m[2][i], r = m[3][i] + m[4][i], s = m[3][i] - m[4][i];
        half[0][i] = m[0][i] + p + r;
        half[1][i] = q + 2.0f * s;
        half[2][i] = p + 4.0f * r;
        half[3][i] = q + 8.0f * s + m[5][i];
    }
    for (int i = 0; i < 4; i++) {
        const V* h = half[i];
        const V p = h[1] + h[2], q = h[1] - h[2], r = h[3] + h[4], s = h[3] - h[4];
        y[i][0] = h[0] + p + r;
        y[i][1] = q + 2.0f * s;
        y[i][2] = p + 4.0f * r;
        y[i][3] = q + 8.0f * s + h[5];
    }
}

// m ← A y Aᵀ: from 4×4 to 6×6.
template <typename V>
inline void from_output(const V y[4][4], V m[6][6]) {
    V half[6][4];
    for (int i = 0; i < 4; i++) {
        const V even = y[0][i] + y[2][i], odd = y[1][i] + y[3][i];
        const V far_even = y[0][i] + 4.0f * y[2][i], far_odd = 2.0f * y[1][i] + 8.0f * y[3][i];
        half[0][i] = y[0][i];
        half[1][i] = even + odd;
        half[2][i] = even - odd;
        half[3][i] = far_even + far_odd;
        half[4][i] = far_even - far_odd;
        half[5][i] = y[3][i];
    }
    for (int i = 0; i < 6; i++) {
        const V* h = half[i];
        const V even = h[0] + h[2], odd = h[1] + h[3];
        const V far_even = h[0] + 4.0f * h[2], far_odd = 2.0f * h[1] + 8.0f * h[3];
        m[i][0] = h[0];
        m[i][1] = even + odd;
        m[i][2] = even - odd;
        m[i][3] = far_even + far_odd;
        m[i][4] = far_even - far_odd;
        m[i][5] = h[3];
    }
}

// c[ROWS][n…] (+)= a · b over `depth` words, for PANELS vectors of columns. Word (row, k) of a is at
// a[row * row_step + k * depth_step].
template <typename Kind, int ROWS, int PANELS, typename Vector, bool ADD>
inline void kernel(const float* a, int64_t row_step, int64_t depth_step, const float* b, int64_t b_step, float* c,
                   int64_t c_step, int64_t depth) {
    constexpr int LANES = sizeof(Vector) / sizeof(float);
    Vector sum[ROWS][PANELS];
    for (int row = 0; row < ROWS; row++)
        for (int panel = 0; panel < PANELS; panel++)
            sum[row][panel] =
                ADD ? fetch<Vector>(c + row * c_step + panel * LANES) : Vector{};
    for (int64_t k = 0; k < depth; k++) {
        Vector right[PANELS];
        for (int panel = 0; panel < PANELS; panel++)
            right[panel] = fetch<Vector>(b + k * b_step + panel * LANES);
        for (int row = 0; row < ROWS; row++) {
            const float left = a[row * row_step + k * depth_step];
            for (int panel = 0; panel < PANELS; panel++)
                sum[row][panel] = Kind::add(sum[row][panel], left, right[panel]);
        }
    }
    for (int row = 0; row < ROWS; row++)
        for (int panel = 0; panel < PANELS; panel++)
            std::memcpy(c + row * c_step + panel * LANES, &sum[row][panel], sizeof(Vector));
}

template <typename Kind, int PANELS, typename Vector, bool ADD, int ROWS = MAX_ROWS>
inline void kernel_of(int64_t rows, const float* a, int64_t row_step, int64_t depth_step, const float* b,
                      int64_t b_step, float* c, int64_t c_step, int64_t depth) {
    if constexpr (ROWS > 0) {
        if (rows == ROWS)
            kernel<Kind, ROWS, PANELS, Vector, ADD>(a, row_step, depth_step, b, b_step, c, c_step, depth);
        else
            kernel_of<Kind, PANELS, Vector, ADD, ROWS - 1>(rows, a, row_step, depth_step, b, b_step, c, c_step, depth);
    }
}

// c (+)= a · b, of rows × depth and depth × columns (a multiple of 8, or of 16 for pairs).
template <typename Kind, bool ADD>
void multiply(const float* a, int64_t row_step, int64_t depth_step, const float* b, float* c, int64_t rows,
              int64_t columns, int64_t depth) {
    const int64_t groups = (rows + MAX_ROWS - 1) / MAX_ROWS;
    int64_t column = 0;
    auto stripe = [&](auto run, int64_t width) {
        for (int64_t group = 0; group < groups; group++) {
            const int64_t first = rows * group / groups, last = rows * (group + 1) / groups;
            run(last - first, a + first * row_step, b + column, c + first * columns + column);
        }
        column += width;
    };
    while (columns - column >= 2 * WIDE)
        stripe([&](int64_t n, const float* x, const float* y, float* z) {
            kernel_of<Kind, 2, Wide, ADD>(n, x, row_step, depth_step, y, columns, z, columns, depth);
        }, 2 * WIDE);
    while (columns - column >= WIDE)
        stripe([&](int64_t n, const float* x, const float* y, float* z) {
            kernel_of<Kind, 1, Wide, ADD>(n, x, row_step, depth_step, y, columns, z, columns, depth);
        }, WIDE);
    if constexpr (Kind::IN_A_WORD == 1)
        while (columns - column >= 8)
            stripe([&](int64_t n, const float* x, const float* y, float* z) {
                kernel_of<Kind, 1, V8, ADD>(n, x, row_step, depth_step, y, columns, z, columns, depth);
            }, 8);
}

// Transformed tiles in the orders of the products: `by_tile` [36][tile][words of channels] for sums over channels, and
// `by_channel` [36][words of tiles][channel] for sums over tiles. For numbers both are equal. `transform(tile, channel,
// m)` returns the 36 vectors of a tile. A null pointer means that an order is not needed.
template <typename Kind, typename V, typename Transform>
void lay_out(int64_t tiles, int64_t channels, float* by_tile, float* by_channel, Transform transform) {
    constexpr int64_t LANES = sizeof(V) / sizeof(float);
    for (int64_t tile = 0; tile < tiles; tile += Kind::IN_A_WORD)
        for (int64_t channel = 0; channel < channels; channel += LANES) {
            V m[Kind::IN_A_WORD][6][6];
            transform(tile, channel, m[0]);
            if constexpr (Kind::IN_A_WORD == 1) {
                float* target = (by_tile ? by_tile : by_channel) + tile * channels + channel;
                for (int i = 0; i < 36; i++) put<V>(target + i * tiles * channels, m[0][i / 6][i % 6]);
            } else {
                const bool two = tile + 1 < tiles;
                if (two)
                    transform(tile + 1, channel, m[1]);
                else
                    std::memset(m[1], 0, sizeof(m[1]));
                if (by_channel) {
                    float* target = by_channel + tile / 2 * channels + channel;
                    for (int i = 0; i < 36; i++)
                        put<V>(target + i * ((tiles + 1) / 2) * channels,
                               Kind::join(m[0][i / 6][i % 6], m[1][i / 6][i % 6]));
                }
                for (int64_t half = 0; by_tile && half < (two ? 2 : 1); half++) {
                    float* target = by_tile + ((tile + half) * channels + channel) / 2;
                    for (int i = 0; i < 36; i++)
                        Kind::put_neighbours(target + i * tiles * channels / 2, m[half][i / 6][i % 6]);
                }
            }
        }
}

struct Input {
    const float* x;
    int64_t point_step;   // Floats from one point to the next.
    const float* bias;    // Added before the ReLU; null without a pre-activation.
    int64_t bias_step;    // Floats from the bias of one image to that of the next; 0 if all images share it.
};

// Writes the pre-activation of some images into a buffer whose margins are 0 already.
template <typename V>
void read_images(const Layer& layer, const Input& input, int64_t first, int64_t count, float* padded) {
    constexpr int64_t LANES = sizeof(V) / sizeof(float);
    for (int64_t image = first; image < first + count; image++)
        for (int64_t row = 0; row < layer.rows; row++)
            for (int64_t column = 0; column < layer.columns; column++) {
                const float* x = input.x + ((image * layer.rows + row) * layer.columns + column) * input.point_step;
                float* to = padded + ((image - first) * layer.padded_points() + (row + 1) * layer.padded_columns() +
                                      column + 1) *
                                         layer.inputs;
                const float* bias = input.bias + image * input.bias_step;
                for (int64_t channel = 0; channel < layer.inputs; channel += LANES) {
                    const V value = fetch<V>(x + channel);
                    put<V>(to + channel, input.bias ? relu(value + fetch<V>(bias + channel)) : value);
                }
            }
}

// Transforms the tiles of the same images.
template <typename Kind>
void read_tiles(const Layer& layer, const Input& input, int64_t first, int64_t count, float* padded, float* by_tile,
                float* by_channel) {
    with_vectors(layer.inputs, [&](auto lanes) {
        using V = decltype(lanes);
        read_images<V>(layer, input, first, count, padded);
        const int64_t across = layer.padded_columns() * layer.inputs;
        auto transform = [&](int64_t tile, int64_t channel, V d[6][6]) {
            const Place place(layer, tile);
            const float* from =
                padded +
                (place.image * layer.padded_points() + place.top * layer.padded_columns() + place.left) * layer.inputs +
                channel;
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++) d[i][j] = fetch<V>(from + i * across + j * layer.inputs);
            to_input_space(d);
        };
        if constexpr (Kind::IN_A_WORD == 1 || sizeof(V) == sizeof(Wide))
            lay_out<Kind, V>(count * layer.tiles(), layer.inputs, by_tile, by_channel, transform);
    });
}

// Transforms the tiles of the gradient of some images of `dy`.
template <typename Kind>
void read_gradient(const Layer& layer, const float* dy, int64_t first, int64_t count, float* by_tile,
                   float* by_channel) {
    with_vectors(layer.outputs, [&](auto lanes) {
        using V = decltype(lanes);
        const int64_t outputs = layer.outputs, across = layer.columns * outputs;
        auto transform = [&](int64_t tile, int64_t channel, V m[6][6]) {
            const Place place(layer, tile);
            const float* from =
                dy + (((first + place.image) * layer.rows + place.top) * layer.columns + place.left) * outputs +
                channel;
            V y[4][4];
            if (place.whole)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 4; j++) y[i][j] = fetch<V>(from + i * across + j * outputs);
            else
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 4; j++) {
                        const bool on = place.top + i < layer.rows && place.left + j < layer.columns;
                        y[i][j] = on ? fetch<V>(from + i * across + j * outputs) : V{};
                    }
            from_output(y, m);
        };
        if constexpr (Kind::IN_A_WORD == 1 || sizeof(V) == sizeof(Wide))
            lay_out<Kind, V>(count * layer.tiles(), outputs, by_tile, by_channel, transform);
    });
}

// Transforms products back to outputs, y = residual + tiles, for some images.
void write_tiles(const Layer& layer, const float* products, const float* residual, int64_t first, int64_t count,
                 float* y) {
    with_vectors(layer.outputs, [&](auto lanes) {
        using V = decltype(lanes);
        constexpr int64_t LANES = sizeof(V) / sizeof(float);
        const int64_t outputs = layer.outputs, tiles = count * layer.tiles();
        for (int64_t tile = 0; tile < tiles; tile++) {
            const Place place(layer, tile);
            const int64_t begin =
                (((first + place.image) * layer.rows + place.top) * layer.columns + place.left) * outputs;
            for (int64_t channel = 0; channel < outputs; channel += LANES) {
                V m[6][6], out[4][4];
                const float* source = products + tile * outputs + channel;
                for (int i = 0; i < 36; i++) m[i / 6][i % 6] = fetch<V>(source + i * tiles * outputs);
                to_output(m, out);
                auto write = [&](int64_t i, int64_t j) {
                    const int64_t at = begin + (i * layer.columns + j) * outputs + channel;
                    put<V>(y + at, residual ? out[i][j] + fetch<V>(residual + at) : out[i][j]);
                };
                if (place.whole)
                    for (int64_t i = 0; i < 4; i++)
                        for (int64_t j = 0; j < 4; j++) write(i, j);
                else
                    for (int64_t i = 0; i < 4 && place.top + i < layer.rows; i++)
                        for (int64_t j = 0; j < 4 && place.left + j < layer.columns; j++) write(i, j);
            }
        }
    });
}

// Transforms products of the gradient back to the inputs and through the ReLU: dx, and the sums for the biases.
void write_gradient(const Layer& layer, const Input& input, const float* products, int64_t first, int64_t count,
                    float* padded, float* dx, float* dbias) {
    with_vectors(layer.inputs, [&](auto lanes) {
        using V = decltype(lanes);
        constexpr int64_t LANES = sizeof(V) / sizeof(float);
        const int64_t inputs = layer.inputs, tiles = count * layer.tiles(), across = layer.padded_columns() * inputs;
        std::memset(padded, 0, count * layer.padded_points() * inputs * sizeof(float));
        for (int64_t tile = 0; tile < tiles; tile++) {
            const Place place(layer, tile);
            float* to =
                padded +
                (place.image * layer.padded_points() + place.top * layer.padded_columns() + place.left) * inputs;
            for (int64_t channel = 0; channel < inputs; channel += LANES) {
                V d[6][6];
                const float* source = products + tile * inputs + channel;
                for (int i = 0; i < 36; i++) d[i / 6][i % 6] = fetch<V>(source + i * tiles * inputs);
                from_input_space(d);
                for (int i = 0; i < 6; i++)
                    for (int j = 0; j < 6; j++) {
                        float* at = to + i * across + j * inputs + channel;
                        put<V>(at, fetch<V>(at) + d[i][j]);
                    }
            }
        }
        for (int64_t image = first; image < first + count; image++)
            for (int64_t row = 0; row < layer.rows; row++)
                for (int64_t column = 0; column < layer.columns; column++) {
                    const int64_t point = (image * layer.rows + row) * layer.columns + column;
                    const float* from = padded + ((image - first) * layer.padded_points() +
                                                  (row + 1) * layer.padded_columns() + column + 1) *
                                                     inputs;
                    const float* x = input.x + point * input.point_step;
                    const float* bias = input.bias + image * input.bias_step;
                    for (int64_t channel = 0; channel < inputs; channel += LANES) {
                        V gradient = fetch<V>(from + channel);
                        if (input.bias) {
                            const V before = fetch<V>(x + channel) + fetch<V>(bias + channel);
                            gradient = before > 0.0f ? gradient : V{};
                            float* sum = dbias + image * inputs + channel;
                            put<V>(sum, fetch<V>(sum) + gradient);
                        }
                        put<V>(dx + point * inputs + channel, gradient);
                    }
                }
    });
}

// m ← G g Gᵀ: 3×3 weights to 6×6.
template <typename V>
inline void to_weight_space(const V g[3][3], V m[6][6]) {
    auto once = [](V a, V b, V c, V* to, int step) {
        const V ends = (a + c) * (-1.0f / 6), far = a * (1.0f / 24) + c * (1.0f / 6);
        to[0] = a * 0.25f;
        to[step] = ends - b * (1.0f / 6), to[2 * step] = ends + b * (1.0f / 6);
        to[3 * step] = far + b * (1.0f / 12), to[4 * step] = far - b * (1.0f / 12);
        to[5 * step] = c;
    };
    V half[6][3];
    for (int i = 0; i < 3; i++) once(g[0][i], g[1][i], g[2][i], &half[0][i], 3);
    for (int i = 0; i < 6; i++) once(half[i][0], half[i][1], half[i][2], m[i], 1);
}

// g ← Gᵀ m G, the transpose of the above.
template <typename V>
inline void from_weight_space(const V m[6][6], V g[3][3]) {
    auto once = [](const V* from, int step, V& a, V& b, V& c) {
        const V near = from[step] + from[2 * step], far = from[3 * step] + from[4 * step];
        a = from[0] * 0.25f - near * (1.0f / 6) + far * (1.0f / 24);
        b = (from[2 * step] - from[step]) * (1.0f / 6) + (from[3 * step] - from[4 * step]) * (1.0f / 12);
        c = (far - near) * (1.0f / 6) + from[5 * step];
    };
    V half[3][6];
    for (int i = 0; i < 6; i++) once(&m[0][i], 6, half[0][i], half[1][i], half[2][i]);
    for (int i = 0; i < 3; i++) once(half[i], 1, g[i][0], g[i][1], g[i][2]);
}

// Transforms weights to the order of the products, [36][words of `depth`][columns]. The weights of (k, column) begin at
// weights[k * depth_step + column * column_step].
template <typename Kind>
void read_weights(const float* weights, int64_t depth, int64_t depth_step, int64_t columns, int64_t column_step,
                  float* out) {
    const int64_t words = depth / Kind::IN_A_WORD;
    for (int64_t word = 0; word < words; word++)
        for (int64_t column = 0; column < columns; column += 8) {
            V8 m[Kind::IN_A_WORD][6][6];
            for (int64_t one = 0; one < Kind::IN_A_WORD; one++) {
                const float* from = weights + (word * Kind::IN_A_WORD + one) * depth_step + column * column_step;
                V8 g[3][3];
                for (int i = 0; i < 9; i++)
                    for (int lane = 0; lane < 8; lane++) g[i / 3][i % 3][lane] = from[lane * column_step + i];
                to_weight_space(g, m[one]);
            }
            for (int i = 0; i < 36; i++) {
                float* target = out + (i * words + word) * columns + column;
                if constexpr (Kind::IN_A_WORD == 1) {
                    put<V8>(target, m[0][i / 6][i % 6]);
                } else {
                    Wide first{}, second{};
                    std::memcpy(&first, &m[0][i / 6][i % 6], sizeof(V8));
                    std::memcpy(&second, &m[1][i / 6][i % 6], sizeof(V8));
                    const Wide joined = Kind::join(first, second);
                    std::memcpy(target, &joined, sizeof(V8));
                }
            }
        }
}

// Transforms [36][inputs][outputs] to the gradient of weights [outputs][inputs][3][3].
void write_weights(int64_t inputs, int64_t outputs, const float* gradient, float* dweights) {
    for (int64_t output = 0; output < outputs; output += 8)
        for (int64_t input = 0; input < inputs; input++) {
            V8 m[6][6], g[3][3];
            for (int i = 0; i < 36; i++)
                m[i / 6][i % 6] = fetch<V8>(gradient + (i * inputs + input) * outputs + output);
            from_weight_space(m, g);
            for (int lane = 0; lane < 8; lane++)
                for (int i = 0; i < 9; i++)
                    dweights[((output + lane) * inputs + input) * 9 + i] = g[i / 3][i % 3][lane];
        }
}

// Memory that a thread reuses between calls, because new memory costs more than the computation. Its content is
// undefined.
enum Use { PADDED, PADDED_GRADIENT, LEFT, GRADIENT_BY_CHANNEL, GRADIENT_BY_TILE, PRODUCTS, OWN, WEIGHTS, SUM, USES };

float* buffer(Use use, int64_t floats) {
    static thread_local std::vector<float> kept[USES];
    if (int64_t(kept[use].size()) < floats) kept[use].resize(floats);
    return kept[use].data();
}

float* zeros(Use use, int64_t floats) {
    float* found = buffer(use, floats);
    std::memset(found, 0, floats * sizeof(float));
    return found;
}

Layer layer_of(int64_t images, int64_t rows, int64_t columns, int64_t inputs, int64_t outputs) {
    return Layer{images, rows, columns, inputs, outputs, (rows + 3) / 4, (columns + 3) / 4};
}

template <typename Kind>
void forward(const Layer& layer, const Input& input, const float* weights, const float* residual, float* y) {
    const int64_t step = layer.together(), blocks = (layer.images + step - 1) / step;
    const int64_t inputs = layer.inputs, outputs = layer.outputs, words = inputs / Kind::IN_A_WORD;
    float* right = buffer(WEIGHTS, 36 * words * outputs);
    read_weights<Kind>(weights, inputs, 9, outputs, 9 * inputs, right);
#pragma omp parallel
    {
        const int64_t most = 36 * step * layer.tiles();
        float* padded = zeros(PADDED, step * layer.padded_points() * inputs);
        float *left = buffer(LEFT, most * words), *products = buffer(PRODUCTS, most * outputs);
#pragma omp for schedule(dynamic)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t first = block * step, count = std::min(step, layer.images - first);
            const int64_t tiles = count * layer.tiles();
            read_tiles<Kind>(layer, input, first, count, padded, left, nullptr);
            for (int i = 0; i < 36; i++)
                multiply<Kind, false>(left + i * tiles * words, words, 1, right + i * words * outputs,
                                      products + i * tiles * outputs, tiles, outputs, words);
            write_tiles(layer, products, residual, first, count, y);
        }
    }
}

template <typename Kind>
void backward(const Layer& layer, const Input& input, const float* weights, const float* dy, float* dx, float* dbias,
              float* dweights) {
    const int64_t step = layer.together(), blocks = (layer.images + step - 1) / step;
    const int64_t inputs = layer.inputs, outputs = layer.outputs, words = outputs / Kind::IN_A_WORD;
    float *turned = buffer(WEIGHTS, 36 * words * inputs), *sum = zeros(SUM, 36 * inputs * outputs);
    if (dx) read_weights<Kind>(weights, outputs, 9 * inputs, inputs, 9, turned);
#pragma omp parallel
    {
        const int64_t most = 36 * (step * layer.tiles() + 1) / Kind::IN_A_WORD;
        float* padded = zeros(PADDED, step * layer.padded_points() * inputs);
        float* padded_gradient = buffer(PADDED_GRADIENT, step * layer.padded_points() * inputs);
        float *in = buffer(LEFT, most * inputs), *out = buffer(GRADIENT_BY_CHANNEL, most * outputs);
        // For numbers, one order serves both products.
        float* by_tile = Kind::IN_A_WORD == 1 ? out : buffer(GRADIENT_BY_TILE, most * outputs);
        float* products = buffer(PRODUCTS, most * inputs * Kind::IN_A_WORD);
        float* own = zeros(OWN, 36 * inputs * outputs);
#pragma omp for schedule(dynamic)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t first = block * step, count = std::min(step, layer.images - first);
            const int64_t tiles = count * layer.tiles(), deep = (tiles + Kind::IN_A_WORD - 1) / Kind::IN_A_WORD;
            read_tiles<Kind>(layer, input, first, count, padded, nullptr, in);
            read_gradient<Kind>(layer, dy, first, count, dx ? by_tile : nullptr, out);
            for (int i = 0; i < 36; i++) {
                multiply<Kind, true>(in + i * deep * inputs, 1, inputs, out + i * deep * outputs,
                                     own + i * inputs * outputs, inputs, outputs, deep);
                if (dx)
                    multiply<Kind, false>(by_tile + i * tiles * words, words, 1, turned + i * words * inputs,
                                          products + i * tiles * inputs, tiles, inputs, words);
            }
            if (dx) write_gradient(layer, input, products, first, count, padded_gradient, dx, dbias);
        }
#pragma omp critical
        for (int64_t i = 0; i < 36 * inputs * outputs; i++) sum[i] += own[i];
    }
    write_weights(inputs, outputs, sum, dweights);
}

}  // namespace

extern "C" {

// Returns whether the processor multiplies pairs.
bool winograd_has_pairs() {
#if defined(__AVX512BF16__)
    return true;
#else
    return false;
#endif
}

// y = residual + conv(relu(x + bias)). `residual` may be null. `bias` may be null, which means no pre-activation.
void winograd_forward(int64_t pairs, int64_t images, int64_t rows, int64_t columns, int64_t inputs, int64_t outputs,
                      const float* x, int64_t point_step, const float* bias, int64_t bias_step, const float* weights,
                      const float* residual, float* y) {
    const Layer layer = layer_of(images, rows, columns, inputs, outputs);
    const Input input{x, point_step, bias, bias_step};
#if defined(__AVX512BF16__)
    if (pairs) return forward<Pairs>(layer, input, weights, residual, y);
#endif
    forward<Numbers>(layer, input, weights, residual, y);
}

// The gradients of x (before bias and ReLU; [images][rows][columns][inputs]), of the bias of each image
// ([images][inputs], which the caller sets to 0), and of the weights. `dx` and `dbias` may both be null if the gradient
// of the input is not needed.
void winograd_backward(int64_t pairs, int64_t images, int64_t rows, int64_t columns, int64_t inputs, int64_t outputs,
                       const float* x, int64_t point_step, const float* bias, int64_t bias_step, const float* weights,
                       const float* dy, float* dx, float* dbias, float* dweights) {
    const Layer layer = layer_of(images, rows, columns, inputs, outputs);
    const Input input{x, point_step, bias, bias_step};
#if defined(__AVX512BF16__)
    if (pairs) return backward<Pairs>(layer, input, weights, dy, dx, dbias, dweights);
#endif
    backward<Numbers>(layer, input, weights, dy, dx, dbias, dweights);
}

}  // extern "C"
