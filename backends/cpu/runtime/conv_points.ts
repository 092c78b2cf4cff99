/**
 * Convolutions of filters of one tap by one: products of a matrix of weights and images whose channels are its rows, read
 * where they lie. C++ text, part of the unit of conv.ts. Invariant: nothing outside of the images' memory is read.
 *
 * A unit of work is some rows of an image. Its pixels are taken a few vectors at a time, and all output channels are made of
 * these; weights lie [panel of channels][input channel][VL channels].
 */
export const CONV_POINTS: string = String.raw`
// Rows of the image that are asked for ahead of use; pixels of an image that fill tiles well, and most pixels of a unit.
enum { POINTS_AHEAD = 16, LEAST_POINTS = 6 * VL, POINTS_TOGETHER = 64 * VL };

// MR output channels by nv vectors of pixels, added to what is there where no bias is given. Of them 'rows' channels, and
// 'lanes' of the last vector, are stored. Rows of the image and of the result are far apart: they are asked for before.
template <int nv> OUTL void points_tile(L depth, const T* a, const T* b, L lb, const T* bias, T* c, L crs, L rows, L lanes) {
  V acc[MR][nv];
  UNROLL for (int i = 0; i < MR; i++) UNROLL for (int j = 0; j < nv; j++) acc[i][j] = bias ? bias[i] - (V){} : (V){};
  UNROLL for (int i = 0; i < MR; i++) UNROLL for (int j = 0; j < nv; j++) __builtin_prefetch(c + i * crs + j * VL, 1);
  NO_UNROLL for (L k = 0; k < depth; k++, a += VL, b += lb) {
    V bv[nv];
    UNROLL for (int j = 0; j < nv; j++) { bv[j] = ld(b + j * VL); PIN(bv[j]); }
    UNROLL for (int j = 0; j < nv; j++) __builtin_prefetch(b + POINTS_AHEAD * lb + j * VL);
    UNROLL for (int i = 0; i < MR; i++) UNROLL for (int j = 0; j < nv; j++) acc[i][j] += bv[j] * a[i];
  }
  if (rows == MR && lanes == VL) {
    UNROLL for (int i = 0; i < MR; i++) UNROLL for (int j = 0; j < nv; j++) {
      T* to = c + i * crs + j * VL;
      st(to, bias ? acc[i][j] : ld(to) + acc[i][j]);
    }
    return;
  }
  T copy[MR * nv * VL] __attribute__((aligned(64)));
  UNROLL for (int i = 0; i < MR; i++) UNROLL for (int j = 0; j < nv; j++) *(V*) (copy + (i * nv + j) * VL) = acc[i][j];
  store_part(copy, rows, nv * VL, (nv - 1) * VL + lanes, c, crs, 1, !bias);
}

// Output channels [m0, m1) of group g of image i, output rows [h0, h1).
INL void points_unit(const Conv& p, const T* weights, L g, L i, L h0, L h1, L m0, L m1) {
  const L pixels = (h1 - h0) * p.ow, panels = (p.kg + VL - 1) / VL;
  const T *image = p.source + i * p.ss[0] + g * p.cg * p.ss[1] + h0 * p.ss[2], *end = end_of(p);
  T* out = p.result + i * p.rs[0] + g * p.kg * p.rs[1] + h0 * p.rs[2];
  T* packed = scratch(0, UNIT_DEPTH * NR * sizeof(T));
  for (L k0 = 0; k0 < p.cg; k0 += UNIT_DEPTH) {
    const L depth = least(UNIT_DEPTH, p.cg - k0);
    for (L x = 0; x < pixels; x += NR) {
      const L cols = least(NR, pixels - x), nv = (cols + VL - 1) / VL, lanes = cols - (nv - 1) * VL;
      const T* b = image + k0 * p.ss[1] + x;
      L lb = p.ss[1];
      if (b + (depth - 1) * lb + nv * VL > end) {
        pack_b(depth, b, lb, 1, cols, nv * VL, packed);
        b = packed; lb = nv * VL;
      }
      for (L m = m0; m < m1; m += MR) {
        const T* a = weights + ((g * panels + m / VL) * p.cg + k0) * VL + m % VL;
        T bias[MR] = {};
        if (p.bias) for (L k = 0; k < least(MR, m1 - m); k++) bias[k] = p.bias[(g * p.kg + m + k) * p.bias_stride];
        #define TILE(nv) points_tile<nv>(depth, a, b, lb, k0 ? 0 : bias, out + m * p.rs[1] + x, p.rs[1], least(MR, m1 - m), lanes)
        switch (nv) { case 1: TILE(1); break; case 2: TILE(2); break; default: TILE(3); }
        #undef TILE
      }
    }
  }
  if (p.epilogue) p.epilogue(p.context, i, g * p.kg + m0, g * p.kg + m1, h0, h1);
}

// Input channels [c, c + VL) of the weights of a panel, as far as there are such.
INL void points_weights(const Conv& p, L g, L panel, L c, T* u) {
  const L count = least(VL, p.cg - c), lanes = least(VL, p.kg - panel * VL);
  const T* from = p.weight + (g * p.kg + panel * VL) * p.cg + c;
  if (count == VL) {
    V a[VL];
    UNROLL for (int l = 0; l < VL; l++) a[l] = l < lanes ? ld(from + l * p.cg) : (V){};
    transpose_lanes(a);
    UNROLL for (int l = 0; l < VL; l++) st(u + l * VL, a[l]);
  } else for (L q = 0; q < count; q++) for (L l = 0; l < VL; l++) u[q * VL + l] = l < lanes ? from[l * p.cg + q] : (T) 0;
}

INL bool points_pay(const Conv& p) { return in_place(p) && p.ss[0] >= 0 && p.ss[1] >= 0 && p.oh * p.ow >= LEAST_POINTS && p.rs[3] == 1 && p.rs[2] == p.ow; }
// So many rows of an image together as fill tiles best.
INL L points_rows(const Conv& p) {
  L best = 1, waste = 1 << 30;
  for (L rows = 1; rows <= p.oh && (rows == 1 || rows * p.ow <= POINTS_TOGETHER); rows++) {
    const L pixels = rows * p.ow, left = (p.oh % rows) * p.ow, filled = (pixels + NR - 1) / NR * NR * (p.oh / rows) + (left + NR - 1) / NR * NR;
    if (filled <= waste) best = rows, waste = filled;
  }
  return best;
}
static void convolve_points(const Conv& p, L threads) {
  const L panels = (p.kg + VL - 1) / VL, blocks = (p.cg + VL - 1) / VL, tiles = (p.kg + MR - 1) / MR;
  const L rows = points_rows(p), per_image = (p.oh + rows - 1) / rows, units = p.n * p.groups * per_image;
  // units that do not divide among the threads: the output channels are divided as well
  const L parts = units >= 4 * threads || units % threads == 0 ? 1 : least(tiles, 4 * threads / units + 1);
  T* weights = scratch(2, p.groups * panels * p.cg * VL * sizeof(T));
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads(), filters = p.groups * panels * blocks, total = units * parts;
    for (L k = filters * t / nt; k < filters * (t + 1) / nt; k++) {
      const L panel = k / blocks, c = k % blocks * VL;
      points_weights(p, panel / panels, panel % panels, c, weights + (panel * p.cg + c) * VL);
    }
    #pragma omp barrier
    for (L w = total * t / nt; w < total * (t + 1) / nt; w++) {
      const L part = w % parts, unit = w / parts, h0 = unit % per_image * rows, g = unit / per_image % p.groups;
      points_unit(p, weights, g, unit / per_image / p.groups, h0, least(p.oh, h0 + rows),
                  tiles * part / parts * MR, least(p.kg, tiles * (part + 1) / parts * MR));
    }
  }
}
`;
