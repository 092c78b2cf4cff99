/**
 * Convolutions of images with few channels by long filters, as in the first layers of networks: lanes run along output
 * channels. C++ text, part of the unit of conv.ts. Invariant: rows of a filter times channels fit into LANES.
 *
 * Pixels are transposed so that all rows and channels of a column are adjacent; the input of an output row is then
 * contiguous, and that of the next row starts a little further on. For seven taps with stride 2, a scheme along rows
 * needs fewer products than taps: those at even pixels are F(2, 3) of winograd_schemes.ts and one more, those at odd
 * pixels F(2, 3).
 */
export const CONV_ROWS: string = String.raw`
enum { LANES = 80 };   // tiles are an odd number of cache lines apart

struct Stem {
  enum { IN = 9, STEP = 4, OUT = 2, IMAGE = 10, FILTER = 9, RESULT = 4 };
  static constexpr Product products[] = {{0, 0, 0}, {4, 4, 0}, {8, 8, 0}, {1, 1, 1}, {5, 5, 1}, {2, 2, 2}, {6, 6, 2}, {3, 3, 3}, {7, 7, 3}, {9, 8, 3}};
  INL void image(const V* x, V* v) {
    const V even[] = {x[0], x[2], x[4], x[6]}, odd[] = {x[1], x[3], x[5], x[7]};
    Fine2::image(even, v);
    Fine2::image(odd, v + 4);
    v[8] = x[6];
    v[9] = -x[8];   // the last point is subtracted
  }
  INL void filter(const V* w, V* u) {
    const V even[] = {w[0], w[2], w[4]}, odd[] = {w[1], w[3], w[5]};
    Fine2::filter(even, u);
    Fine2::filter(odd, u + 4);
    u[8] = w[6];
  }
  INL void result(const V* m, V* y) { Fine2::result(m, y); }
};

// A scheme along rows: Scheme in one dimension. Without functions, points are the pixels, taps and results themselves.
struct RowScheme {
  L in, step, out, images, filters, results, count;
  const Product* products;
  void (*image)(const T* x, L lanes, T* v, L point);
  void (*filter)(const V* w, V* u);
  void (*result)(const T* m, L point, L vectors, T* to);
};
OUTL void row_image(const T* x, L lanes, T* v, L point) {
  for (L l = 0; l < lanes; l += VL) {
    V a[Stem::IN], b[Stem::IMAGE];
    UNROLL for (int i = 0; i < Stem::IN; i++) a[i] = ld(x + i * LANES + l);
    Stem::image(a, b);
    UNROLL for (int i = 0; i < Stem::IMAGE; i++) st(v + i * point + l, b[i]);
  }
}
OUTL void row_result(const T* m, L point, L vectors, T* to) {
  for (L j = 0; j < vectors; j++) {
    V a[Stem::RESULT], b[Stem::OUT];
    UNROLL for (int i = 0; i < Stem::RESULT; i++) a[i] = ld(m + i * point + j * VL);
    Stem::result(a, b);
    UNROLL for (int i = 0; i < Stem::OUT; i++) st(to + i * PK + j * VL, b[i]);
  }
}
static const RowScheme ROW_STEM = {Stem::IN, Stem::STEP, Stem::OUT, Stem::IMAGE, Stem::FILTER, Stem::RESULT,
  sizeof(Stem::products) / sizeof(Product), Stem::products, row_image, Stem::filter, row_result};
enum { MOST_TAPS = 16 };
INL RowScheme row_scheme(const Conv& p, Product* plain) {
  if (p.s == 7 && p.sw == 2) return ROW_STEM;
  for (L k = 0; k < p.s; k++) plain[k] = {(short) k, (short) k, 0};
  return {p.s, p.sw, 1, p.s, p.s, 1, p.s, plain, 0, 0, 0};
}

// Transposes rows from source row y0 on to d[x*LANES + row*cg + channel]; columns from -pw on, zero outside the image.
OUTL void turn_rows(const Conv& p, const T* image, L y0, L rows, L columns, T* d) {
  const L left = least(columns, p.pw > 0 ? p.pw : 0), first = p.pw < 0 ? -p.pw : 0, inside = most(0, least(p.w - first, columns - left));
  for (L l = 0; l < rows * p.cg; l += VL) {
    const T* from[VL];
    for (L j = 0; j < VL; j++) {
      const L y = y0 + (l + j) / p.cg;
      from[j] = l + j < rows * p.cg && y >= 0 && y < p.h ? image + (l + j) % p.cg * p.ss[1] + y * p.ss[2] + first * p.ss[3] : 0;
    }
    for (L x = 0; x < left; x++) st(d + x * LANES + l, (V){});
    T* to = d + left * LANES + l;
    if (p.ss[3] == 1 && inside >= VL) for (L q = 0; q < inside; q = next_lanes(q, inside)) {
      V a[VL];
      UNROLL for (int j = 0; j < VL; j++) a[j] = from[j] ? ld(from[j] + q) : (V){};
      transpose_lanes(a);
      UNROLL for (int j = 0; j < VL; j++) st(to + (q + j) * LANES, a[j]);
    } else for (L q = 0; q < inside; q++) for (L j = 0; j < VL; j++) to[q * LANES + j] = from[j] ? from[j][q * p.ss[3]] : (T) 0;
    for (L x = left + inside; x < columns; x++) st(d + x * LANES + l, (V){});
  }
}

// Computes one point of the result of n tiles and nv vectors of output channels: products of 'depth' lanes for each of
// 'count' pairs.
template <int n, int nv> OUTL void row_tile(const Product* at, L count, const T* v, L point, const T* u, L depth, T* m) {
  V acc[n][nv];
  UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < nv; j++) acc[i][j] = (V){};
  for (L k = 0; k < count; k++) {
    const T *a = v + at[k].image * point, *b = u + at[k].filter * depth * PK;
    NO_UNROLL for (L d = 0; d < depth; d++, a++, b += PK) {
      V right[nv];
      UNROLL for (int j = 0; j < nv; j++) { right[j] = ld(b + j * VL); PIN(right[j]); }
      UNROLL for (int i = 0; i < n; i++) {
        const T x = a[i * LANES];
        UNROLL for (int j = 0; j < nv; j++) acc[i][j] += right[j] * x;
      }
    }
  }
  UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < nv; j++) st(m + i * PK + j * VL, acc[i][j]);
}
// Computes the results of n tiles, to rows of PK.
template <int n> INL void row_tiles(const RowScheme& s, L vectors, const T* v, L point, const T* u, L depth, T* m, T* to) {
  T* products = s.result ? m : to;
  for (L k = 0, next; k < s.count; k = next) {
    for (next = k; next < s.count && s.products[next].result == s.products[k].result; next++);
    T* out = products + s.products[k].result * n * PK;
    if (vectors == 1) row_tile<n, 1>(s.products + k, next - k, v, point, u, depth, out);
    else row_tile<n, PV>(s.products + k, next - k, v, point, u, depth, out);
  }
  if (s.result) for (L i = 0; i < n; i++) s.result(m + i * PK, n * PK, vectors, to + i * s.out * PK);
}

// Computes output rows [y0, y1) of group g of image i.
OUTL void rows_unit(const Conv& p, const RowScheme& s, const T* weights, L g, L i, L y0, L y1) {
  const L rows = (y1 - y0 - 1) * p.sh + p.r, depth = p.cg * p.r, tiles = (p.ow + s.out - 1) / s.out;
  const L columns = (tiles - 1) * s.step + s.in, point = tiles * LANES + 16, panels = (p.kg + PK - 1) / PK;
  T* turned = scratch(0, (columns * LANES + s.images * point + s.results * PR * PK + tiles * s.out * PK) * sizeof(T));
  T *v = turned + columns * LANES, *m = v + s.images * point, *line = m + s.results * PR * PK;
  turn_rows(p, p.source + i * p.ss[0] + g * p.cg * p.ss[1], y0 * p.sh - p.ph, rows, columns, turned);
  const L lanes = (rows * p.cg + VL - 1) / VL * VL;
  for (L t = 0; t < tiles; t++) {
    const T* x = turned + t * s.step * LANES;
    if (s.image) s.image(x, lanes, v + t * LANES, point);
    else for (L k = 0; k < s.in; k++) copy_row(v + t * LANES + k * point, x + k * LANES, lanes);
  }
  for (L panel = 0; panel < panels; panel++) {
    const L k0 = panel * PK, count = least(PK, p.kg - k0), vectors = (count + VL - 1) / VL;
    const T* u = weights + (g * panels + panel) * s.filters * depth * PK;
    T bias[PK];
    for (L k = 0; k < PK; k++) bias[k] = p.bias && k < count ? p.bias[(g * p.kg + k0 + k) * p.bias_stride] : (T) 0;
    for (L y = y0; y < y1; y++) {
      const T* a = v + (y - y0) * p.sh * p.cg;
      L t = 0;
      // The last tiles may be computed twice
      #define TILES(n) row_tiles<n>(s, vectors, a + t * LANES, point, u, depth, m, line + t * s.out * PK)
      if (tiles >= PR) for (; t < tiles; t += PR) { t = least(t, tiles - PR); TILES(PR); }
      for (; t + 4 <= tiles; t += 4) TILES(4);
      for (; t < tiles; t++) TILES(1);
      #undef TILES
      for (L j = 0; j < vectors; j++) {
        const V b = ld(bias + j * VL);
        const L lanes = least(VL, count - j * VL);
        T *from = line + j * VL, *to = p.result + i * p.rs[0] + (g * p.kg + k0 + j * VL) * p.rs[1] + y * p.rs[2];
        if (p.bias) for (L x = 0; x < p.ow; x++) st(from + x * PK, ld(from + x * PK) + b);
        if (p.rs[3] == 1) lanes_to_pixels(from, PK, p.ow, lanes, to, p.rs[1]);
        else if (p.rs[1] == 1) for (L x = 0; x < p.ow; x++) copy_row(to + x * p.rs[3], from + x * PK, lanes);
        else for (L x = 0; x < p.ow; x++) for (L l = 0; l < lanes; l++) to[x * p.rs[3] + l * p.rs[1]] = from[x * PK + l];
      }
    }
  }
  if (p.epilogue) p.epilogue(p.context, i, g * p.kg, (g + 1) * p.kg, y0, y1);
}

// Weights of a panel: u[point][row*cg + channel][PK].
INL void row_weights(const Conv& p, const RowScheme& s, L g, L panel, T* u) {
  const L depth = p.cg * p.r;
  for (L y = 0; y < p.r; y++) for (L c = 0; c < p.cg; c++) for (L j = 0; j < PV; j++) {
    V w[MOST_TAPS], points[MOST_TAPS];
    const L k = panel * PK + j * VL, lanes = most(0, least(VL, p.kg - k));
    const T* from = p.filters + g * p.filter_group + k * p.filter_out + c * p.filter_in + y * p.s;
    for (L x = 0; x < p.s; x++) {
      T a[VL];
      for (L l = 0; l < VL; l++) a[l] = l < lanes ? from[l * p.filter_out + x] : (T) 0;
      w[x] = ld(a);
    }
    if (s.filter) s.filter(w, points);
    for (L x = 0; x < s.filters; x++) st(u + (x * depth + y * p.cg + c) * PK + j * VL, s.filter ? points[x] : w[x]);
  }
}

INL L rows_together(const Conv& p) { return (LANES / p.cg - p.r) / p.sh + 1; }
// Whether several rows of results use the rows that are transposed together. Register tiles over pixels are as fast for
// short filters, up to twice as fast by 1, and for images of one or two channels.
INL bool rows_pay(const Conv& p) {
  return (p.cg == 3 || p.cg == 4) && p.kg >= 16 && p.sw > 1 && p.s >= 7 && p.s <= MOST_TAPS && p.dh == 1 && p.dw == 1 && p.cg * p.r <= LANES / 2 &&
    rows_together(p) >= least(p.oh, 4);
}
static void convolve_rows(const Conv& p, L threads) {
  Product plain[MOST_TAPS];
  const RowScheme s = row_scheme(p, plain);
  const L panels = (p.kg + PK - 1) / PK, panel = s.filters * p.cg * p.r * PK, most_rows = rows_together(p);
  const L parts = (p.oh + most_rows - 1) / most_rows, rows = (p.oh + parts - 1) / parts, per_image = (p.oh + rows - 1) / rows;
  T* weights = scratch(2, p.groups * panels * panel * sizeof(T));
  for (L k = 0; k < p.groups * panels; k++) row_weights(p, s, k / panels, k % panels, weights + k * panel);
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads(), total = p.n * p.groups * per_image;
    for (L w = total * t / nt; w < total * (t + 1) / nt; w++) {
      const L y0 = w % per_image * rows, g = w / per_image % p.groups, i = w / per_image / p.groups;
      rows_unit(p, s, weights, g, i, y0, least(p.oh, y0 + rows));
    }
  }
}
`;
