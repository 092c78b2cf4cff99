/**
 * 3×3 convolutions of stride 1 by Winograd's F(2×2, 3×3): 16 products instead of 36 for four results (Lavin and
 * Gray, "Fast Algorithms for Convolutional Neural Networks"). Output: C++ text, part of the unit of conv.ts.
 * Invariant: the interpolation points 0, ±1, ∞ need only sums and halves, and channels are summed in chunks, so
 * that the error stays that of the direct form to within a factor of two.
 *
 * Tiles take the place of pixels: the padded copy with stride 2 has the four phases that a 4×4 tile consists of,
 * and neighbouring tiles are neighbouring elements, so transforms run in lanes over tiles.
 */
export const WINOGRAD: string = String.raw`
enum { POINTS = 16, CHANNEL_CHUNK = 64, OUT_BLOCK = 32 };
// Points are a line further apart than their length: at a power of two they would fall into one set of the cache.
INL L weight_point(const Conv& p) { return p.kg * p.cg + 16; }

// Weights w[3*i + j] to points u[4*i + j], numbers or vectors of them.
template <class N> INL void transform_filter(const N* w, N* u) {
  const N half = (T) 0.5 - (N){};
  N s[4][3];
  UNROLL for (int j = 0; j < 3; j++) {
    const N a = w[j], b = w[3 + j], e = w[6 + j];
    s[0][j] = a; s[1][j] = half * ((a + e) + b); s[2][j] = half * ((a + e) - b); s[3][j] = e;
  }
  UNROLL for (int i = 0; i < 4; i++) {
    const N a = s[i][0], b = s[i][1], e = s[i][2];
    u[4 * i] = a; u[4 * i + 1] = half * ((a + e) + b); u[4 * i + 2] = half * ((a + e) - b); u[4 * i + 3] = e;
  }
}
// The weights of output channels [k0, k1) of all groups: u[group][point][k][c].
OUTL void transform_weights(const Conv& p, T* u, L k0, L k1) {
  for (L g = 0; g < p.groups; g++) for (L k = k0; k < k1; k++) {
    const T* w = p.weight + (g * p.kg + k) * p.cg * 9;
    T* to = u + g * POINTS * weight_point(p) + k * p.cg;
    L c = 0;
    for (; c + VL <= p.cg; c += VL) {
      T lanes[9 * VL] __attribute__((aligned(64)));
      V from[9], out[POINTS];
      for (int l = 0; l < VL; l++) UNROLL for (int j = 0; j < 9; j++) lanes[j * VL + l] = w[(c + l) * 9 + j];
      UNROLL for (int j = 0; j < 9; j++) from[j] = ld(lanes + j * VL);
      transform_filter(from, out);
      UNROLL for (int i = 0; i < POINTS; i++) st(to + i * weight_point(p) + c, out[i]);
    }
    for (; c < p.cg; c++) {
      T out[POINTS];
      transform_filter(w + c * 9, out);
      for (int i = 0; i < POINTS; i++) to[i * weight_point(p) + c] = out[i];
    }
  }
}

// Bt·d·B of VL tiles: element (i, j) of the tiles is at s + offset of its phase.
INL void transform_tiles(const T* s, const Planes& q, T* d, L point) {
  V t[4][4];
  UNROLL for (int j = 0; j < 4; j++) {
    V x[4];
    UNROLL for (int i = 0; i < 4; i++) x[i] = ld(s + ((i & 1) * 2 + (j & 1)) * q.phase + (i >> 1) * q.columns + (j >> 1));
    t[0][j] = x[0] - x[2]; t[1][j] = x[1] + x[2]; t[2][j] = x[2] - x[1]; t[3][j] = x[1] - x[3];
  }
  UNROLL for (int i = 0; i < 4; i++) {
    st(d + (i * 4) * point, t[i][0] - t[i][2]);
    st(d + (i * 4 + 1) * point, t[i][1] + t[i][2]);
    st(d + (i * 4 + 2) * point, t[i][2] - t[i][1]);
    st(d + (i * 4 + 3) * point, t[i][1] - t[i][3]);
  }
}
// At·m·A of VL tiles: two rows of 2*VL results.
INL void transform_results(const T* m, L point, T* row0, T* row1, T bias) {
  V t[2][4];
  UNROLL for (int j = 0; j < 4; j++) {
    const V a = ld(m + j * point), b = ld(m + (4 + j) * point), c = ld(m + (8 + j) * point), e = ld(m + (12 + j) * point);
    t[0][j] = a + b + c;
    t[1][j] = b - c - e;
  }
  UNROLL for (int i = 0; i < 2; i++) {
    const V y0 = t[i][0] + t[i][1] + t[i][2] + bias, y1 = t[i][1] - t[i][2] - t[i][3] + bias;
    T* row = i ? row1 : row0;
    st(row, SHUFFLED(y0, y1, ZIP_LOW));
    st(row + VL, SHUFFLED(y0, y1, ZIP_HIGH));
  }
}

// Tile rows [t0, t1) of images [i0, i1), output channels [m0, m1) of group g. q: the convolution over tiles.
OUTL void winograd_unit(const Conv& p, const Conv& q, const T* u, L g, L i0, L i1, L t0, L t1, L m0, L m1, L rows_planned) {
  const Planes planes = planes_of(q, rows_planned);
  const L rows = t1 - t0, tiles = (i1 - i0) * rows * q.ow, panels = (tiles + NR - 1) / NR;
  const L image = p.cg * planes.channel, width = NR + VL, point = p.cg * width + 16, panel = POINTS * point;
  const L length = panels * NR + VL, out_point = OUT_BLOCK * length + 16;
  const L padded_length = ((i1 - i0) * image + 4 * NR + 15) / 16 * 16, segment_words = (tiles / q.ow + panels * 2 + 4) * (L) (sizeof(Segment) / sizeof(T));
  const L row_length = 2 * q.ow + 4 * VL;
  T* padded = scratch(0, (padded_length + panels * panel + POINTS * out_point + segment_words + 2 * row_length) * sizeof(T) + 256);
  T *values = padded + padded_length, *products = values + panels * panel, *row0 = products + POINTS * out_point, *row1 = row0 + row_length;
  Segment* segments = (Segment*) (((UL) (row1 + row_length) + 63) & ~63UL);
  for (L i = i0; i < i1; i++) pad_image(q, planes, p.source + i * p.ss[0] + g * p.cg * p.ss[1], t0, padded + (i - i0) * image);
  for (L k = 0; k < 4 * NR; k++) padded[(i1 - i0) * image + k] = 0;
  for (L j = 0; j < panels; j++) {
    const L count = segments_of(q.ow, image, rows, planes.columns, j * NR, least(tiles, j * NR + NR), segments);
    for (L c = 0; c < p.cg; c++) for (L s = 0; s < count; s++) for (L t = 0; t < segments[s].length; t += VL)
      transform_tiles(padded + c * planes.channel + segments[s].from + t, planes, values + j * panel + c * width + segments[s].to + t, point);
  }
  for (L m = m0; m < m1; m += OUT_BLOCK) {
    const L end = least(m1, m + OUT_BLOCK);
    for (L k = 0; k < POINTS; k++) for (L c = 0; c < p.cg; c += CHANNEL_CHUNK) for (L j = 0; j < panels; j++) {
      const L cols = least(NR, tiles - j * NR), nv = (cols + VL - 1) / VL, kc = least(CHANNEL_CHUNK, p.cg - c);
      const T *a = u + (g * POINTS + k) * weight_point(p) + m * p.cg + c, *b = values + j * panel + k * point + c * width;
      T* out = products + k * out_point + j * NR;
      switch (nv) {
        case 1: rows_of_tiles<1>(0, end - m, kc, a, p.cg, b, width, out, length, VL, c > 0); break;
        case 2: rows_of_tiles<2>(0, end - m, kc, a, p.cg, b, width, out, length, VL, c > 0); break;
        default: rows_of_tiles<3>(0, end - m, kc, a, p.cg, b, width, out, length, VL, c > 0);
      }
    }
    for (L k = m; k < end; k++) {
      const T bias = p.bias ? p.bias[(g * p.kg + k) * p.bias_stride] : (T) 0;
      for (L i = i0; i < i1; i++) for (L t = t0; t < t1; t++) {
        const T* from = products + (k - m) * length + ((i - i0) * rows + t - t0) * q.ow;
        T* to = p.result + i * p.rs[0] + (g * p.kg + k) * p.rs[1] + 2 * t * p.rs[2];
        for (L x = 0; x < q.ow; x += VL) transform_results(from + x, out_point, row0 + 2 * x, row1 + 2 * x, bias);
        for (L y = 0; y < 2 && 2 * t + y < p.oh; y++) {
          const T* row = y ? row1 : row0;
          T* d = to + y * p.rs[2];
          if (p.rs[3] == 1) copy_row(d, row, p.ow);
          else for (L x = 0; x < p.ow; x++) d[x * p.rs[3]] = row[x];
        }
      }
    }
  }
  if (p.epilogue) for (L i = i0; i < i1; i++) p.epilogue(p.context, i, g * p.kg + m0, g * p.kg + m1, 2 * t0, least(p.oh, 2 * t1));
}

// Whether the saved products outweigh the transforms.
INL bool winograd_pays(const Conv& p) {
  if (p.r != 3 || p.s != 3 || p.sh != 1 || p.sw != 1 || p.dh != 1 || p.dw != 1 || p.cg < 16 || p.kg < 16) return false;
  const double pixels = (double) p.n * p.oh * p.ow, tiles = (double) p.n * ((p.oh + 1) / 2) * ((p.ow + 1) / 2);
  const double direct = 9.0 * p.kg * p.cg * pixels;
  const double own = 16.0 * p.kg * p.cg * tiles + 24.0 * VL * p.kg * p.cg + 60.0 * (p.cg + p.kg) * tiles;
  return own < 0.8 * direct;
}

static void winograd(const Conv& p, L threads) {
  Conv q = p;   // tiles as pixels: their 4x4 elements in four phases
  q.r = q.s = 4; q.sh = q.sw = 2; q.oh = (p.oh + 1) / 2; q.ow = (p.ow + 1) / 2;
  T* u = (T*) aligned_alloc(64, ((UL) p.groups * POINTS * weight_point(p) * sizeof(T) + 127) / 64 * 64);
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads();
    transform_weights(p, u, p.kg * t / nt, p.kg * (t + 1) / nt);
    #pragma omp barrier
    const Units w = units_of(q, nt, 2 * NR);
    const L total = w.count * p.groups * w.parts, mpanels = (p.kg + MR - 1) / MR;
    for (L i = total * t / nt; i < total * (t + 1) / nt; i++) {
      const L part = i % w.parts, g = i / w.parts % p.groups, unit = i / w.parts / p.groups;
      const L i0 = unit / w.per_image * w.images, t0 = unit % w.per_image * w.rows;
      winograd_unit(p, q, u, g, i0, least(p.n, i0 + w.images), t0, least(q.oh, t0 + w.rows),
                    mpanels * part / w.parts * MR, least(p.kg, mpanels * (part + 1) / w.parts * MR), w.rows);
    }
  }
  free(u);
}
`;
