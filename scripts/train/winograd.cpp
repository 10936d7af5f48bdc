// 3×3 convolutions for training on a CPU: y = residual + conv(relu(x + bias)), forwards and backwards, in one pass each.
//
// Winograd's minimal filtering F(4×4, 3×3): 36 multiplications for 16 outputs where the plain sum takes 144. The
// pre-activation is applied while the input's tiles are read and the residual while the output's are written, so that
// nothing is written to memory but what the next layer reads. Weights come transformed; see fast.py.
//
// CITE: Lavin & Gray, "Fast algorithms for convolutional neural networks" (2015), the matrices A, B and G of F(4×4, 3×3).
//
// Tensors are [image][row][column][channel]; numbers of channels are multiples of 8. Every function returns nothing and
// writes nothing but its outputs.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using std::int64_t;

typedef float V8 __attribute__((vector_size(32), aligned(4), may_alias));
#if defined(__AVX512F__)
constexpr int WIDE = 16;
constexpr int MOST_ROWS = 12;
typedef float Wide __attribute__((vector_size(64), aligned(4), may_alias));
#else
constexpr int WIDE = 8;
constexpr int MOST_ROWS = 6;
typedef V8 Wide;
#endif

// (A template's argument loses a type's alignment, so its vectors are copied.)
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

// Runs with vectors as wide as the machine has them, if so many channels are a multiple of them, else with 8 lanes.
template <typename Run>
inline void with_vectors(int64_t channels, Run run) {
    if (channels % WIDE == 0)
        run(Wide{});
    else
        run(V8{});
}

// Sizes of a layer and how it falls into tiles of 4×4 outputs.
struct Layer {
    int64_t images, rows, columns, inputs, outputs, tile_rows, tile_columns;
    int64_t tiles() const { return tile_rows * tile_columns; }
    // Images that are worked on together: enough tiles for the matrix products to be worth their while.
    int64_t together() const { return std::max<int64_t>(1, 24 / tiles()); }
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

// d ← B d Bᵀ: the transpose of the above.
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

// c[ROWS][n…] (+)= a · b over `depth`, for PANELS vectors of columns. Element (row, k) of a lies at
// a[row * row_step + k * depth_step].
template <int ROWS, int PANELS, typename Vector, bool ADD>
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
            for (int panel = 0; panel < PANELS; panel++) sum[row][panel] += left * right[panel];
        }
    }
    for (int row = 0; row < ROWS; row++)
        for (int panel = 0; panel < PANELS; panel++)
            std::memcpy(c + row * c_step + panel * LANES, &sum[row][panel], sizeof(Vector));
}

template <int PANELS, typename Vector, bool ADD, int ROWS = MOST_ROWS>
inline void kernel_of(int64_t rows, const float* a, int64_t row_step, int64_t depth_step, const float* b,
                      int64_t b_step, float* c, int64_t c_step, int64_t depth) {
    if constexpr (ROWS > 0) {
        if (rows == ROWS)
            kernel<ROWS, PANELS, Vector, ADD>(a, row_step, depth_step, b, b_step, c, c_step, depth);
        else
            kernel_of<PANELS, Vector, ADD, ROWS - 1>(rows, a, row_step, depth_step, b, b_step, c, c_step, depth);
    }
}

// c (+)= a · b, with rows × depth, depth × columns (a multiple of 8).
template <bool ADD>
void multiply(const float* a, int64_t row_step, int64_t depth_step, const float* b, float* c, int64_t rows,
              int64_t columns, int64_t depth) {
    const int64_t groups = (rows + MOST_ROWS - 1) / MOST_ROWS;
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
            kernel_of<2, Wide, ADD>(n, x, row_step, depth_step, y, columns, z, columns, depth);
        }, 2 * WIDE);
    while (columns - column >= WIDE)
        stripe([&](int64_t n, const float* x, const float* y, float* z) {
            kernel_of<1, Wide, ADD>(n, x, row_step, depth_step, y, columns, z, columns, depth);
        }, WIDE);
    while (columns - column >= 8)
        stripe([&](int64_t n, const float* x, const float* y, float* z) {
            kernel_of<1, V8, ADD>(n, x, row_step, depth_step, y, columns, z, columns, depth);
        }, 8);
}

// What a thread works in: 36 matrices of tiles × channels for inputs and for outputs.
struct Scratch {
    std::vector<float> inputs, outputs, gradient;
};

struct Input {
    const float* x;
    int64_t point_step;   // floats from one point to the next
    const float* bias;    // added before the ReLU; null for no pre-activation at all
    int64_t bias_step;    // floats from one image's to the next one's; 0 if all share it
};

// The transformed input tiles of some images: out[36][tile][channel].
template <typename V>
void read_tiles_by(const Layer& layer, const Input& input, int64_t first, int64_t count, float* out) {
    constexpr int64_t LANES = sizeof(V) / sizeof(float);
    const int64_t tiles = count * layer.tiles();
    for (int64_t tile = 0; tile < tiles; tile++) {
        const int64_t image = first + tile / layer.tiles(), place = tile % layer.tiles();
        const int64_t top = place / layer.tile_columns * 4 - 1, left = place % layer.tile_columns * 4 - 1;
        const float* x = input.x + image * layer.rows * layer.columns * input.point_step;
        for (int64_t channel = 0; channel < layer.inputs; channel += LANES) {
            V d[6][6];
            const V bias = input.bias ? fetch<V>(input.bias + image * input.bias_step + channel) : V{};
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++) {
                    const int64_t row = top + i, column = left + j;
                    const bool on = row >= 0 && row < layer.rows && column >= 0 && column < layer.columns;
                    V value = on ? fetch<V>(x + (row * layer.columns + column) * input.point_step + channel) : V{};
                    if (on && input.bias) value = relu(value + bias);
                    d[i][j] = value;
                }
            to_input_space(d);
            float* target = out + tile * layer.inputs + channel;
            for (int i = 0; i < 36; i++) put<V>(target + i * tiles * layer.inputs, d[i / 6][i % 6]);
        }
    }
}

void read_tiles(const Layer& layer, const Input& input, int64_t first, int64_t count, float* out) {
    with_vectors(layer.inputs, [&](auto lanes) { read_tiles_by<decltype(lanes)>(layer, input, first, count, out); });
}

Layer layer_of(int64_t images, int64_t rows, int64_t columns, int64_t inputs, int64_t outputs) {
    return Layer{images, rows, columns, inputs, outputs, (rows + 3) / 4, (columns + 3) / 4};
}

}  // namespace

extern "C" {

// y = residual + conv(relu(x + bias)). `weights` is [36][inputs][outputs]; `residual` may be null.
void winograd_forward(int64_t images, int64_t rows, int64_t columns, int64_t inputs, int64_t outputs, const float* x,
                      int64_t point_step, const float* bias, int64_t bias_step, const float* weights,
                      const float* residual, float* y) {
    const Layer layer = layer_of(images, rows, columns, inputs, outputs);
    const Input input{x, point_step, bias, bias_step};
    const int64_t step = layer.together(), blocks = (images + step - 1) / step;
#pragma omp parallel
    {
        Scratch scratch;
        scratch.inputs.resize(36 * step * layer.tiles() * inputs);
        scratch.outputs.resize(36 * step * layer.tiles() * outputs);
#pragma omp for schedule(dynamic)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t first = block * step, count = std::min(step, images - first);
            const int64_t tiles = count * layer.tiles();
            read_tiles(layer, input, first, count, scratch.inputs.data());
            for (int i = 0; i < 36; i++)
                multiply<false>(scratch.inputs.data() + i * tiles * inputs, inputs, 1, weights + i * inputs * outputs,
                                scratch.outputs.data() + i * tiles * outputs, tiles, outputs, inputs);
            with_vectors(outputs, [&](auto lanes) {
                using V = decltype(lanes);
                constexpr int64_t LANES = sizeof(V) / sizeof(float);
                for (int64_t tile = 0; tile < tiles; tile++) {
                    const int64_t image = first + tile / layer.tiles(), place = tile % layer.tiles();
                    const int64_t top = place / layer.tile_columns * 4, left = place % layer.tile_columns * 4;
                    for (int64_t channel = 0; channel < outputs; channel += LANES) {
                        V m[6][6], out[4][4];
                        const float* source = scratch.outputs.data() + tile * outputs + channel;
                        for (int i = 0; i < 36; i++) m[i / 6][i % 6] = fetch<V>(source + i * tiles * outputs);
                        to_output(m, out);
                        for (int64_t i = 0; i < 4 && top + i < rows; i++)
                            for (int64_t j = 0; j < 4 && left + j < columns; j++) {
                                const int64_t at = ((image * rows + top + i) * columns + left + j) * outputs + channel;
                                put<V>(y + at, residual ? out[i][j] + fetch<V>(residual + at) : out[i][j]);
                            }
                    }
                }
            });
        }
    }
}

// The gradients of the above: of x (before relu and bias; [images][rows][columns][inputs]), of the bias of each image
// ([images][inputs], filled with 0 by the caller) and of the weights ([36][inputs][outputs], likewise).
// `turned` is [36][outputs][inputs]. `dx` and `dbias` may be null together: nobody asks for the input's gradient.
void winograd_backward(int64_t images, int64_t rows, int64_t columns, int64_t inputs, int64_t outputs, const float* x,
                       int64_t point_step, const float* bias, int64_t bias_step, const float* turned, const float* dy,
                       float* dx, float* dbias, float* dweights) {
    const Layer layer = layer_of(images, rows, columns, inputs, outputs);
    const Input input{x, point_step, bias, bias_step};
    const int64_t step = layer.together(), blocks = (images + step - 1) / step;
#pragma omp parallel
    {
        Scratch scratch;
        scratch.inputs.resize(36 * step * layer.tiles() * inputs);
        scratch.outputs.resize(36 * step * layer.tiles() * outputs);
        scratch.gradient.assign(36 * inputs * outputs, 0.0f);
#pragma omp for schedule(dynamic)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t first = block * step, count = std::min(step, images - first);
            const int64_t tiles = count * layer.tiles();
            read_tiles(layer, input, first, count, scratch.inputs.data());
            with_vectors(outputs, [&](auto lanes) {
                using V = decltype(lanes);
                constexpr int64_t LANES = sizeof(V) / sizeof(float);
                for (int64_t tile = 0; tile < tiles; tile++) {
                    const int64_t image = first + tile / layer.tiles(), place = tile % layer.tiles();
                    const int64_t top = place / layer.tile_columns * 4, left = place % layer.tile_columns * 4;
                    for (int64_t channel = 0; channel < outputs; channel += LANES) {
                        V m[6][6], in[4][4];
                        for (int64_t i = 0; i < 4; i++)
                            for (int64_t j = 0; j < 4; j++) {
                                const bool on = top + i < rows && left + j < columns;
                                const int64_t at = ((image * rows + top + i) * columns + left + j) * outputs + channel;
                                in[i][j] = on ? fetch<V>(dy + at) : V{};
                            }
                        from_output(in, m);
                        float* target = scratch.outputs.data() + tile * outputs + channel;
                        for (int i = 0; i < 36; i++) put<V>(target + i * tiles * outputs, m[i / 6][i % 6]);
                    }
                }
            });
            for (int i = 0; i < 36; i++) {
                float* in = scratch.inputs.data() + i * tiles * inputs;
                const float* out = scratch.outputs.data() + i * tiles * outputs;
                multiply<true>(in, 1, inputs, out, scratch.gradient.data() + i * inputs * outputs, inputs, outputs,
                               tiles);
                // The tiles have served; their gradients take their place.
                if (dx) multiply<false>(out, outputs, 1, turned + i * inputs * outputs, in, tiles, inputs, outputs);
            }
            if (!dx) continue;
            std::memset(dx + first * rows * columns * inputs, 0, count * rows * columns * inputs * sizeof(float));
            with_vectors(inputs, [&](auto lanes) {
                using V = decltype(lanes);
                constexpr int64_t LANES = sizeof(V) / sizeof(float);
                for (int64_t tile = 0; tile < tiles; tile++) {
                    const int64_t image = first + tile / layer.tiles(), place = tile % layer.tiles();
                    const int64_t top = place / layer.tile_columns * 4 - 1, left = place % layer.tile_columns * 4 - 1;
                    for (int64_t channel = 0; channel < inputs; channel += LANES) {
                        V d[6][6];
                        const float* source = scratch.inputs.data() + tile * inputs + channel;
                        for (int i = 0; i < 36; i++) d[i / 6][i % 6] = fetch<V>(source + i * tiles * inputs);
                        from_input_space(d);
                        for (int i = 0; i < 6; i++)
                            for (int j = 0; j < 6; j++) {
                                const int64_t row = top + i, column = left + j;
                                if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
                                float* at = dx + ((image * rows + row) * columns + column) * inputs + channel;
                                put<V>(at, fetch<V>(at) + d[i][j]);
                            }
                    }
                }
                if (!bias) return;
                // Back through the ReLU.
                for (int64_t point = first * rows * columns; point < (first + count) * rows * columns; point++) {
                    const int64_t image = point / (rows * columns);
                    for (int64_t channel = 0; channel < inputs; channel += LANES) {
                        const V before = fetch<V>(x + point * point_step + channel) + fetch<V>(bias + image * bias_step + channel);
                        const V gradient = before > 0.0f ? fetch<V>(dx + point * inputs + channel) : V{};
                        put<V>(dx + point * inputs + channel, gradient);
                        float* sum = dbias + image * inputs + channel;
                        put<V>(sum, fetch<V>(sum) + gradient);
                    }
                }
            });
        }
#pragma omp critical
        for (int64_t i = 0; i < 36 * inputs * outputs; i++) dweights[i] += scratch.gradient[i];
    }
}

}  // extern "C"
