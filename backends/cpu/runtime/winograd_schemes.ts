/**
 * Schemes of fast convolutions of 3×3 filters with fewer products: the sums of pixels, of taps and of results (Lavin
 * and Gray, "Fast Algorithms for Convolutional Neural Networks"). C++ text, part of the unit of conv.ts.
 *
 * A scheme defines in one dimension how a tile of the image and three taps become points, which products of both are
 * summed to which points of the result, and how these become results. In two dimensions the scheme is applied twice.
 * Its transposes compute the gradient of the weight. Invariant: except for `Fine4`, only sums and halves are needed, so
 * that the error stays that of the direct form to within a factor of two. Products sum channels in chunks, which keeps
 * errors small. Transformed data is laid out as [chunk of channels][point][tile][channel], with lanes along channels,
 * which are first copied next to each other (channel_lanes.ts), so that small images fill lanes as well as large ones,
 * and tiles a constant distance apart, so that a tile of products addresses all its rows from one register.
 */

export const WINOGRAD_TILES: string = String.raw`
enum { CHUNK = 64, TILE = CHUNK + 16, MOST_POINTS = 36 };   // tiles are an odd number of cache lines apart
// A tile of products: rows, and vectors of output channels.
enum { PR = VECTOR_REGISTERS >= 32 ? 14 : 6, PV = 2, PK = PV * VL };

// The number of elements of a point, and of a chunk of channels, of transformed tiles.
INL L point_of(L tiles) { return tiles * TILE + 16; }
INL L transformed_of(L points, L channels, L tiles) { return (channels + CHUNK - 1) / CHUNK * points * point_of(tiles) + CHUNK; }
INL T* lanes_at(T* v, L points, L c, L tile, L tiles) { return v + c / CHUNK * points * point_of(tiles) + tile * TILE + c % CHUNK; }
// Writes points of a vector of channels, which may extend beyond the end of a chunk.
template <int points> INL void store_points(const V* t, T* v, L c, L tile, L tiles) {
  T* to = lanes_at(v, points, c, tile, tiles);
  const L point = point_of(tiles), inside = CHUNK - c % CHUNK;
  if (inside >= VL) {
    UNROLL for (int p = 0; p < points; p++) st(to + p * point, t[p]);
    return;
  }
  T* other = lanes_at(v, points, c + inside, tile, tiles);
  for (int p = 0; p < points; p++) {
    T lanes[VL];
    st(lanes, t[p]);
    for (L l = 0; l < VL; l++) (l < inside ? to + l : other + l - inside)[p * point] = lanes[l];
  }
}
// m[tile][PK] (+)= sum of 'depth' rows of v, with those of a tile ROW apart, times rows of b, PV vectors each. Short rows of
// many tiles are no stream for hardware prefetchers: those of the next tiles are prefetched, evenly over the loop, and so are
// elements from 'ahead' on, 'every' of them for each row.
template <int n, int ROW, int STEP, int B_STEP> OUTL void product_tile(L depth, const T* v, const T* b, T* m, bool add, const T* ahead, L every) {
  V acc[n][PV];
  UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < PV; j++) acc[i][j] = (V){};
  const T* next = v + n * ROW;
  NO_UNROLL for (L k = 0; k < depth; k++, v += STEP, b += B_STEP) {
    V right[PV];
    UNROLL for (int j = 0; j < PV; j++) { right[j] = ld(b + j * VL); PIN(right[j]); }
    if (STEP == 1 && n == PR) {
      UNROLL for (int j = 0; j < PV; j++) __builtin_prefetch(ahead + j * VL);
      ahead += every;
      __builtin_prefetch(next);
      next += n * ROW / CHUNK;
    }
    UNROLL for (int i = 0; i < n; i++) {
      const T x = v[i * ROW];
      UNROLL for (int j = 0; j < PV; j++) acc[i][j] += right[j] * x;
    }
  }
  UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < PV; j++) {
    T* to = m + i * PK + j * VL;
    st(to, add ? ld(to) + acc[i][j] : acc[i][j]);
  }
}
// 'far': b comes from memory, with the next product's after it, which the tiles share in prefetching; else from a near cache.
template <int ROW, int STEP, int B_STEP> INL void product_tiles(L count, L depth, const T* v, const T* b, T* m, bool add, bool far) {
  const L whole = most(1, count / PR), every = far ? (B_STEP + whole - 1) / whole : B_STEP;
  L t = 0;
  #define AHEAD (far ? b + depth * B_STEP + t / PR * depth * every : b + ROWS_AHEAD * B_STEP)
  #define TILES(n) for (; t + n <= count; t += n) product_tile<n, ROW, STEP, B_STEP>(depth, v + t * ROW, b, m + t * PK, add, AHEAD, every);
  TILES(PR) TILES(4) TILES(2) TILES(1)
  #undef TILES
  #undef AHEAD
}
// Results of tiles: the sum over channels of transformed tiles times transformed weights u[channel][PK].
INL void result_products(L tiles, L channels, const T* v, const T* u, T* m, bool add, bool far) { product_tiles<TILE, 1, PK>(tiles, channels, v, u, m, add, far); }
// Gradients of weights of channels: the sum over tiles of transformed tiles times the transformed gradient of PK output channels.
INL void weight_products(L channels, L tiles, const T* v, const T* d, T* u, bool add) { product_tiles<1, TILE, TILE>(channels, tiles, v, d, u, add, false); }
`;

export const WINOGRAD_SCHEMES: string = String.raw`
// A product of a point of the image and one of the filter, which is added to a point of the result.
struct Product { short image, filter, result; };

// F(2, 3), points 0, ±1, ∞: 16 products instead of 36 for four results.
struct Fine2 {
  enum { IN = 4, STEP = 2, OUT = 2, IMAGE = 4, FILTER = 4, RESULT = 4, PRODUCTS = 4 };
  static constexpr Product products[] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}};
  INL void image(const V* x, V* v) { v[0] = x[0] - x[2]; v[1] = x[1] + x[2]; v[2] = x[2] - x[1]; v[3] = x[1] - x[3]; }
  INL void filter(const V* w, V* u) {
    const V half = (T) 0.5 - (V){};
    u[0] = w[0]; u[1] = half * ((w[0] + w[2]) + w[1]); u[2] = half * ((w[0] + w[2]) - w[1]); u[3] = w[2];
  }
  INL void result(const V* m, V* y) { y[0] = m[0] + m[1] + m[2]; y[1] = m[1] - m[2] - m[3]; }
  INL void gradient(const V* y, V* m) { m[0] = y[0]; m[1] = y[0] + y[1]; m[2] = y[0] - y[1]; m[3] = -y[1]; }
  INL void weight(const V* u, V* w) {
    const V half = (T) 0.5 - (V){}, both = half * (u[1] + u[2]);
    w[0] = u[0] + both; w[1] = half * (u[1] - u[2]); w[2] = both + u[3];
  }
};

// F(4, 3), points 0, ±5/8, ±3/2, ∞, which are more exact than integers: 36 products instead of 144 for 16 results,
// whose error is three times that of the direct form.
struct Fine4 {
  enum { IN = 6, STEP = 4, OUT = 4, IMAGE = 6, FILTER = 6, RESULT = 6, PRODUCTS = 6 };
  static constexpr Product products[] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5}};
  static constexpr T a = 0.625, b = 1.5, aa = a * a, bb = b * b, at_0 = 1 / (aa * bb), at_a = 1 / (2 * aa * (aa - bb)), at_b = 1 / (2 * bb * (bb - aa));
  INL void image(const V* x, V* v) {
    const V e = x[4] - bb * x[2], o = a * (x[3] - bb * x[1]), f = x[4] - aa * x[2], q = b * (x[3] - aa * x[1]);
    v[0] = x[4] - (aa + bb) * x[2] + aa * bb * x[0];
    v[1] = e + o; v[2] = e - o; v[3] = f + q; v[4] = f - q;
    v[5] = x[5] - (aa + bb) * x[3] + aa * bb * x[1];
  }
  INL void filter(const V* w, V* u) {
    const V e = at_a * (w[0] + aa * w[2]), o = at_a * a * w[1], f = at_b * (w[0] + bb * w[2]), q = at_b * b * w[1];
    u[0] = at_0 * w[0]; u[1] = e + o; u[2] = e - o; u[3] = f + q; u[4] = f - q; u[5] = w[2];
  }
  INL void result(const V* m, V* y) {
    const V e = m[1] + m[2], o = m[1] - m[2], f = m[3] + m[4], q = m[3] - m[4];
    y[0] = m[0] + e + f; y[1] = a * o + b * q; y[2] = aa * e + bb * f; y[3] = m[5] + aa * a * o + bb * b * q;
  }
  INL void gradient(const V* y, V* m) {
    const V e = y[0] + aa * y[2], o = a * (y[1] + aa * y[3]), f = y[0] + bb * y[2], q = b * (y[1] + bb * y[3]);
    m[0] = y[0]; m[1] = e + o; m[2] = e - o; m[3] = f + q; m[4] = f - q; m[5] = y[3];
  }
  INL void weight(const V* u, V* w) {
    const V e = at_a * (u[1] + u[2]), o = at_a * (u[1] - u[2]), f = at_b * (u[3] + u[4]), q = at_b * (u[3] - u[4]);
    w[0] = at_0 * u[0] + e + f; w[1] = a * o + b * q; w[2] = aa * e + bb * f + u[5];
  }
};

// Stride 2: the first and last tap read every second pixel, F(2, 2) with points 0, 1 and ∞, the middle one the pixels
// in between: five products instead of six for two results, 25 instead of 36 for four.
struct Strided {
  enum { IN = 5, STEP = 4, OUT = 2, IMAGE = 5, FILTER = 4, RESULT = 3, PRODUCTS = 5 };
  static constexpr Product products[] = {{0, 0, 0}, {3, 3, 0}, {1, 1, 1}, {2, 2, 2}, {4, 3, 2}};
  INL void image(const V* x, V* v) { v[0] = x[0] - x[2]; v[1] = x[2]; v[2] = x[4] - x[2]; v[3] = x[1]; v[4] = x[3]; }
  INL void filter(const V* w, V* u) { u[0] = w[0]; u[1] = w[0] + w[2]; u[2] = w[2]; u[3] = w[1]; }
  INL void result(const V* m, V* y) { y[0] = m[0] + m[1]; y[1] = m[1] + m[2]; }
  INL void gradient(const V* y, V* m) { m[0] = y[0]; m[1] = y[0] + y[1]; m[2] = y[1]; }
  INL void weight(const V* u, V* w) { w[0] = u[0] + u[1]; w[1] = u[3]; w[2] = u[1] + u[2]; }
};

// The gradient of an image convolved with stride 2, where the middle tap reads the first of four elements: the image
// here is the gradient of the result.
struct StridedImage {
  enum { IN = 3, STEP = 2, OUT = 4, IMAGE = 4, FILTER = 4, RESULT = 5, PRODUCTS = 5 };
  static constexpr Product products[] = {{0, 2, 0}, {1, 1, 1}, {2, 0, 2}, {3, 3, 3}, {1, 3, 4}};
  INL void image(const V* x, V* v) { v[0] = x[0] - x[1]; v[1] = x[1]; v[2] = x[2] - x[1]; v[3] = x[0]; }
  INL void filter(const V* w, V* u) { Strided::filter(w, u); }
  INL void result(const V* m, V* y) { y[0] = m[3]; y[1] = m[0] + m[1]; y[2] = m[4]; y[3] = m[1] + m[2]; }
};

// A scheme in both dimensions: pixels of a tile of the image, from one tile to the next, and of a tile of results;
// points of each; products in the order of points of the result.
struct Scheme {
  L in, step, out, images, filters, results, count;
  const Product* products;
  // Transforms all channels of a tile at s to points of v.
  void (*image)(const T* s, L row, L pixel, L channels, T* v, L tile, L tiles);
  // Transforms weights w[3*i + j] to points.
  void (*filter)(const V* w, V* u);
  // Transforms a row of tiles of VL output channels, PK apart, to 'down' rows of 'across' results.
  void (*result)(const T* m, L point, V bias, T* to, L row, L pixel, L down, L across);
  // The transposes of the last two, if gradients of weights use them; of a tile of gradients.
  void (*gradient)(const T* s, L row, L pixel, L channels, T* v, L tile, L tiles);
  void (*weight)(const V* u, V* w);
};

template <class S> struct Products {
  Product at[S::PRODUCTS * S::PRODUCTS];
  constexpr Products() : at{} {
    int n = 0;
    for (int y = 0; y < S::RESULT; y++) for (int x = 0; x < S::RESULT; x++) for (Product a : S::products) for (Product b : S::products)
      if (a.result == y && b.result == x) at[n++] = {(short) (a.image * S::IMAGE + b.image), (short) (a.filter * S::FILTER + b.filter), (short) (y * S::RESULT + x)};
  }
};
template <class S> constexpr Products<S> products_of{};

// Rows then columns of a square of vectors.
#define TWICE(S, step, from, in, to, out) \
  V between[out][in]; \
  UNROLL for (int x = 0; x < in; x++) { \
    V a[in], b[out]; \
    UNROLL for (int y = 0; y < in; y++) a[y] = from; \
    S::step(a, b); \
    UNROLL for (int y = 0; y < out; y++) between[y][x] = b[y]; \
  } \
  UNROLL for (int y = 0; y < out; y++) S::step(between[y], to + y * out);

template <class S> OUTL void image_tile(const T* s, L row, L pixel, L channels, T* v, L tile, L tiles) {
  for (L c = 0; c < channels; c = next_lanes(c, channels)) {
    V o[S::IMAGE * S::IMAGE];
    TWICE(S, image, ld(s + y * row + x * pixel + c), S::IN, o, S::IMAGE)
    store_points<S::IMAGE * S::IMAGE>(o, v, c, tile, tiles);
  }
}
template <class S> OUTL void gradient_tile(const T* s, L row, L pixel, L channels, T* v, L tile, L tiles) {
  for (L c = 0; c < channels; c = next_lanes(c, channels)) {
    V o[S::RESULT * S::RESULT];
    TWICE(S, gradient, ld(s + y * row + x * pixel + c), S::OUT, o, S::RESULT)
    store_points<S::RESULT * S::RESULT>(o, v, c, tile, tiles);
  }
}
template <class S> OUTL void filter_points(const V* w, V* u) { TWICE(S, filter, w[3 * y + x], 3, u, S::FILTER) }
template <class S> OUTL void filter_gradient(const V* u, V* w) { TWICE(S, weight, u[S::FILTER * y + x], S::FILTER, w, 3) }
template <class S> OUTL void result_tiles(const T* m, L point, V bias, T* to, L row, L pixel, L down, L across) {
  for (L left = across; left > 0; left -= S::OUT, m += PK, to += S::OUT * pixel) {
    V o[S::OUT * S::OUT];
    TWICE(S, result, ld(m + (S::RESULT * y + x) * point), S::RESULT, o, S::OUT)
    if (down >= S::OUT && left >= S::OUT) {
      UNROLL for (int y = 0; y < S::OUT; y++) UNROLL for (int x = 0; x < S::OUT; x++) st(to + y * row + x * pixel, o[y * S::OUT + x] + bias);
    } else for (L y = 0; y < least(down, S::OUT); y++) for (L x = 0; x < least(left, S::OUT); x++) st(to + y * row + x * pixel, o[y * S::OUT + x] + bias);
  }
}

#define SCHEME(S, gradient, weight) \
  S::IN, S::STEP, S::OUT, S::IMAGE * S::IMAGE, S::FILTER * S::FILTER, S::RESULT * S::RESULT, S::PRODUCTS * S::PRODUCTS, \
  products_of<S>.at, image_tile<S>, filter_points<S>, result_tiles<S>, gradient, weight
#define BOTH_WAYS(S) {SCHEME(S, gradient_tile<S>, filter_gradient<S>)}
static const Scheme FINE_2 = BOTH_WAYS(Fine2), FINE_4 = BOTH_WAYS(Fine4), STRIDED = BOTH_WAYS(Strided);
static const Scheme STRIDED_IMAGE = {SCHEME(StridedImage, 0, 0)};
`;
