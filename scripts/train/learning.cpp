// What a transformer in training computes beside products of matrices and attention, forwards and backwards, in f32: norms by
// the root mean square, the gate of SwiGLU, and the turns of queries and keys. PyTorch makes a pass over memory of each
// of their sums and products, which together take as long as the matrices.
//
// Rows are points of a batch. Gradients of what all rows share are added up.

#include <cmath>
#include <cstdint>
#include <vector>

using std::int64_t;

extern "C" {

// y = x · inverse · scale, with inverse = 1 / √(mean of x² + epsilon), a number for each row.
void norm_forward(int64_t rows, int64_t width, float epsilon, const float* x, const float* scale, float* y, float* inverse) {
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

// dx, and dscale, which is 0 at the start.
void norm_backward(int64_t rows, int64_t width, const float* x, const float* scale, const float* inverse, const float* dy,
                   float* dx, float* dscale) {
#pragma omp parallel
    {
        std::vector<float> own(width, 0.0f);
        float* sums = own.data();
#pragma omp for
        for (int64_t row = 0; row < rows; row++) {
            const float *from = x + row * width, *given = dy + row * width;
            float* to = dx + row * width;
            const float factor = inverse[row];
            // Along x itself the norm lets nothing through.
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

// y = silu(a) · b, where a row of x is a, then b, each so wide.
void gate_forward(int64_t rows, int64_t width, const float* x, float* y) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        const float *a = x + row * 2 * width, *b = a + width;
        float* to = y + row * width;
        for (int64_t i = 0; i < width; i++) to[i] = a[i] * b[i] / (1 + std::exp(-a[i]));
    }
}

void gate_backward(int64_t rows, int64_t width, const float* x, const float* dy, float* dx) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        const float *a = x + row * 2 * width, *b = a + width, *given = dy + row * width;
        float *da = dx + row * 2 * width, *db = da + width;
        for (int64_t i = 0; i < width; i++) {
            const float sigma = 1 / (1 + std::exp(-a[i]));
            da[i] = given[i] * b[i] * sigma * (1 + a[i] * (1 - sigma));
            db[i] = given[i] * a[i] * sigma;
        }
    }
}

// Queries, keys and values of [image][point][queries, keys, values][head][channel] apart; of the first two, every pair (t,
// half + t) of a head's channels is turned by the angle of the point, the head and t, [point][head][t].
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

// dx, and dangle, from what was turned (q, k) and the gradients of all three.
void turn_backward(int64_t images, int64_t points, int64_t heads, int64_t width, const float* q, const float* k,
                   const float* cosine, const float* sine, const float* dq, const float* dk, const float* dv, float* dx,
                   float* dangle) {
    const int64_t half = width / 2, all = heads * width;
#pragma omp parallel for
    for (int64_t point = 0; point < points; point++) {
        float* turns = dangle + point * heads * half;
        for (int64_t i = 0; i < heads * half; i++) turns[i] = 0;
        for (int64_t image = 0; image < images; image++) {
            const int64_t row = image * points + point;
            for (int64_t part = 0; part < 2; part++)
                for (int64_t head = 0; head < heads; head++) {
                    const int64_t at = row * all + head * width;
                    const float *turned = (part ? k : q) + at, *given = (part ? dk : dq) + at;
                    float* to = dx + (row * 3 + part) * all + head * width;
                    const float *c = cosine + (point * heads + head) * half, *s = sine + (point * heads + head) * half;
                    for (int64_t t = 0; t < half; t++) {
                        turns[head * half + t] += given[half + t] * turned[t] - given[t] * turned[half + t];
                        to[t] = given[t] * c[t] + given[half + t] * s[t];
                        to[half + t] = given[half + t] * c[t] - given[t] * s[t];
                    }
                }
            float* to = dx + (row * 3 + 2) * all;
            for (int64_t i = 0; i < all; i++) to[i] = dv[row * all + i];
        }
    }
}

}  // extern "C"
