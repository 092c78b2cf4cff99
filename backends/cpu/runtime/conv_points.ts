/**
 * Convolutions whose windows do not overlap, above all those with one tap: products of a matrix of weights with images
 * in place, with channels as rows, or with patches of images, with taps as rows. C++ text, part of the unit of conv.ts.
 * Invariant: nothing outside the images' memory is read.
 *
 * A unit of work is some rows of results of an image. Its pixels are processed a few vectors at a time, for all output
 * channels; weights are laid out as [panel of channels][tap][VL channels]. On matrix units (split_tiles.ts), weights
 * are rows of A, pixels columns of B.
 */

export const CONV_POINTS: string = String.raw`
// Number of pixels of an image that fills tiles well, and maximum of a unit; maximum number of elements of packed patches.
enum { LEAST_POINTS = 6 * VL, POINTS_TOGETHER = 64 * VL, POINTS_PACKED = 262144 / (int) sizeof(T) };

// Computes MR output channels by nv vectors of pixels, added to the existing results if no bias is given. Stores 'rows'
// channels, and 'lanes' of the last vector. Rows of the image and of the result are far apart, so they are prefetched, and so
// are those of the next pixels, from 'next' on, one every so many rows.
template <int nv> OUTL void points_tile(L depth, const T* a, const T* b, L lb, const T* next, L every, const T* bias, T* c, L crs, L rows, L lanes) {
  V acc[MR][nv];
  UNROLL for (int i = 0; i < MR; i++) UNROLL for (int j = 0; j < nv; j++) acc[i][j] = bias ? bias[i] - (V){} : (V){};
  UNROLL for (int i = 0; i < MR; i++) UNROLL for (int j = 0; j < nv; j++) __builtin_prefetch(c + i * crs + j * VL, 1);
  for (L k = 0; k < depth; next += lb) {
    UNROLL for (int j = 0; j < nv; j++) __builtin_prefetch(next + j * VL, 0, 2);
    const L end = least(depth, k + every);
    NO_UNROLL for (; k < end; k++, a += VL, b += lb) {
      V bv[nv];
      UNROLL for (int j = 0; j < nv; j++) { bv[j] = ld(b + j * VL); PIN(bv[j]); }
      UNROLL for (int j = 0; j < nv; j++) __builtin_prefetch(b + ROWS_AHEAD * lb + j * VL);
      UNROLL for (int i = 0; i < MR; i++) UNROLL for (int j = 0; j < nv; j++) acc[i][j] += bv[j] * a[i];
    }
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

// Packs taps [k0, k1), whole rows of filters, of output rows [h0, h1), to d[tap*pitch + pixel]. The next row overwrites
// what is written beyond a row; after the last one are zeros.
template <int step> OUTL void pack_patches(const Conv& p, const T* image, L k0, L k1, L h0, L h1, T* d, L pitch) {
  const T* end = end_of(p);
  for (L k = k0; k < k1; k += p.s, d += p.s * pitch) {
    const T* from = image + k / (p.r * p.s) * p.ss[1] + (h0 * p.sh + k / p.s % p.r * p.dh) * p.ss[2];
    for (L h = h0; h < h1; h++, from += p.sh * p.ss[2]) for (L x = 0; x < p.ow; x += VL) {
      T* to = d + (h - h0) * p.ow + x;
      if (from + (x + VL) * step <= end) deal_out<step>(from + x * step, p.s, to, pitch);
      else for (L q = x; q < p.ow; q++) for (L t = 0; t < p.s; t++) to[t * pitch + q - x] = from[q * step + t];
    }
    for (L t = 0; t < p.s; t++) clear_excess(d + t * pitch, (h1 - h0) * p.ow);
  }
}

INL void pack_rows(const Conv& p, const T* image, L k0, L k1, L h0, L h1, T* d, L pitch) {
  #define PACK(step) case step: return pack_patches<step>(p, image, k0, k1, h0, h1, d, pitch)
  switch (p.sw) { PACK(2); PACK(4); PACK(8); default: pack_patches<16>(p, image, k0, k1, h0, h1, d, pitch); }
  #undef PACK
}

// Computes output channels [m0, m1) of group g of image i, output rows [h0, h1).
INL void points_unit(const Conv& p, const T* weights, L g, L i, L h0, L h1, L m0, L m1) {
  const L pixels = (h1 - h0) * p.ow, panels = (p.kg + VL - 1) / VL, taps = p.cg * p.r * p.s;
  const bool place = in_place(p);
  const T *image = p.source + i * p.ss[0] + g * p.cg * p.ss[1], *end = end_of(p);
  T* out = p.result + i * p.rs[0] + g * p.kg * p.rs[1] + h0 * p.rs[2];
  const L most_depth = least(taps, UNIT_DEPTH / p.s * p.s), pitch = place ? p.ss[1] : (pixels / VL + 2) * VL;
  T* packed = scratch(0, most_depth * (place ? NR : pitch) * sizeof(T));
  for (L k0 = 0; k0 < taps; k0 += most_depth) {
    const L depth = least(most_depth, taps - k0);
    const T* from = place ? image + h0 * p.ss[2] + k0 * pitch : packed;
    if (!place) pack_rows(p, image, k0, k0 + depth, h0, h1, packed, pitch);
    for (L x = 0; x < pixels; x += NR) {
      const L cols = least(NR, pixels - x), nv = (cols + VL - 1) / VL, lanes = cols - (nv - 1) * VL;
      const T* b = from + x;
      L lb = pitch;
      if (place && b + (depth - 1) * lb + nv * VL > end) {
        pack_b(depth, b, lb, 1, cols, nv * VL, packed);
        b = packed; lb = nv * VL;
      }
      // Each tile prefetches its share of the next pixels
      const L tiles = (m1 - m0 + MR - 1) / MR, share = (depth + tiles - 1) / tiles;
      for (L m = m0; m < m1; m += MR) {
        const T* a = weights + ((g * panels + m / VL) * taps + k0) * VL + m % VL;
        T bias[MR] = {};
        if (p.bias) for (L k = 0; k < least(MR, m1 - m); k++) bias[k] = p.bias[(g * p.kg + m + k) * p.bias_stride];
        #define TILE(nv) points_tile<nv>(depth, a, b, lb, b + cols + (m - m0) / MR * share * lb, tiles, k0 ? 0 : bias, out + m * p.rs[1] + x, p.rs[1], least(MR, m1 - m), lanes)
        switch (nv) { case 1: TILE(1); break; case 2: TILE(2); break; default: TILE(3); }
        #undef TILE
      }
    }
  }
  if (p.epilogue) p.epilogue(p.context, i, g * p.kg + m0, g * p.kg + m1, h0, h1);
}

// Whether no pixel of the image is read by two results.
INL bool are_patches(const Conv& p) {
  return (p.sw == 2 || p.sw == 4 || p.sw == 8 || p.sw == 16) && p.s <= p.sw && p.r <= p.sh && p.ph == 0 && p.pw == 0 &&
    p.dh == 1 && p.dw == 1 && p.ss[3] == 1 && p.ss[2] >= p.w;
}
INL bool points_pay(const Conv& p) {
  return (in_place(p) || are_patches(p)) && p.ss[0] >= 0 && p.ss[1] >= 0 && p.oh * p.ow >= LEAST_POINTS && p.rs[3] == 1 && p.rs[2] == p.ow;
}
// The number of rows of an image that together fill tiles of this width best.
INL L points_rows(const Conv& p, L width) {
  const L together = in_place(p) ? POINTS_TOGETHER : least(POINTS_TOGETHER, POINTS_PACKED / least(UNIT_DEPTH, p.cg * p.r * p.s));
  L best = 1, waste = 1 << 30;
  for (L rows = 1; rows <= p.oh && (rows == 1 || rows * p.ow <= together); rows++) {
    const L pixels = rows * p.ow, left = (p.oh % rows) * p.ow, filled = (pixels + width - 1) / width * width * (p.oh / rows) + (left + width - 1) / width * width;
    if (filled <= waste) best = rows, waste = filled;
  }
  return best;
}
static void convolve_points(const Conv& p, L threads) {
  const L taps = p.cg * p.r * p.s, panels = (p.kg + VL - 1) / VL, blocks = (taps + VL - 1) / VL, tiles = (p.kg + MR - 1) / MR;
  const L rows = points_rows(p, NR), per_image = (p.oh + rows - 1) / rows, units = p.n * p.groups * per_image;
  // if units do not divide evenly among the threads, the output channels are divided as well
  const L parts = units >= 4 * threads || units % threads == 0 ? 1 : least(tiles, 4 * threads / units + 1);
  T* weights = scratch(2, p.groups * panels * taps * VL * sizeof(T));
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads(), filters = p.groups * panels * blocks, total = units * parts;
    for (L k = filters * t / nt; k < filters * (t + 1) / nt; k++) {
      const L panel = k / blocks, at = k % blocks * VL, m = panel % panels * VL;
      pack_b(least(VL, taps - at), p.weight + (panel / panels * p.kg + m) * taps + at, 1, taps, least(VL, p.kg - m), VL, weights + (panel * taps + at) * VL);
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

export const CONV_POINTS_SPLIT: string = String.raw`
#if SPLIT
enum { PIXELS = 128 };   // packed at once
INL L points_taps(const Conv& p) { return p.cg * p.r * p.s; }
// Patches are packed by whole rows of filters.
INL bool points_split(const Conv& p) { return (in_place(p) || STEP_K % p.s == 0) && split_pays(p.kg, p.oh * p.ow, points_taps(p)); }
// Packed weights: [group][block of taps][pair of panels of channels], with the flags of pairs.
struct SplitWeights { const T* at; const int* flags; L pairs, blocks, depth, length; };

// Computes output channels [m0, m1) of group g of image i, output rows [h0, h1).
OUTL void split_points_unit(const Conv& p, const SplitWeights& weights, L g, L i, L h0, L h1, L m0, L m1) {
  const L pixels = (h1 - h0) * p.ow, taps = points_taps(p), length = weights.length;
  const bool place = in_place(p);
  const T* image = p.source + i * p.ss[0] + g * p.cg * p.ss[1];
  T* out = p.result + i * p.rs[0] + g * p.kg * p.rs[1] + h0 * p.rs[2];
  const L pitch = place ? p.ss[1] : (pixels / VL + 2) * VL;
  T *panels = scratch(0, (PIXELS / SIDE * length + PLAIN_MEMORY + (place ? 0 : weights.depth * pitch)) * sizeof(T)), *plain = panels + PIXELS / SIDE * length, *packed = plain + PLAIN_MEMORY;
  for (L block = 0; block < weights.blocks; block++) {
    const L k0 = block * weights.depth, kc = least(weights.depth, taps - k0), first = (g * weights.blocks + block) * weights.pairs;
    const T* from = place ? image + h0 * p.ss[2] + k0 * pitch : packed;
    if (!place) pack_rows(p, image, k0, k0 + kc, h0, h1, packed, pitch);
    int flags = 0;
    for (L x = 0; x < pixels; x += PAIR) {
      const L cols = least(PAIR, pixels - x);
      if (x % PIXELS == 0) flags = split_panels<false>(from + x, 1, pitch, least(PIXELS, pixels - x), kc, panels, length);
      const Pair right = {panels + x % PIXELS / SIDE * length, length, flags};
      for (L m = m0; m < m1; m += PAIR) {
        const L count = least(PAIR, m1 - m), pair = first + m / PAIR;
        T* c = out + m * p.rs[1] + x;
        // Rows of results are too far apart for the processor to see a stream
        for (L k = 0; k < count; k++) prefetch_row_to_write(c + k * p.rs[1], cols);
        if (p.bias && block == 0) for (L k = 0; k < count; k++) fill_row(c + k * p.rs[1], p.bias[(g * p.kg + m + k) * p.bias_stride], cols);
        split_block(kc, {weights.at + pair * 2 * length, length, weights.flags[pair]}, right, count, cols, c, p.rs[1], 1,
                    p.bias || block > 0, {p.weight + (g * p.kg + m) * taps + k0, taps, 1}, [&] { return Operand {from + x, pitch, 1}; }, plain);
      }
    }
  }
  if (p.epilogue) p.epilogue(p.context, i, g * p.kg + m0, g * p.kg + m1, h0, h1);
}
static void convolve_split_points(const Conv& p, L threads) {
  const L taps = points_taps(p), pairs = (p.kg + PAIR - 1) / PAIR, depth = split_depth(taps), length = split_length(depth), blocks = (taps + depth - 1) / depth;
  const L rows = points_rows(p, PAIR), per_image = (p.oh + rows - 1) / rows, units = p.n * p.groups * per_image;
  // if units do not divide evenly among the threads, the output channels are divided as well
  const L parts = units >= 4 * threads || units % threads == 0 ? 1 : least(pairs, 4 * threads / units + 1), all = p.groups * blocks * pairs;
  T* memory = scratch(2, all * (2 * length + 1) * sizeof(T));
  int* flags = (int*) (memory + all * 2 * length);
  const SplitWeights weights = {memory, flags, pairs, blocks, depth, length};
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads(), total = units * parts;
    begin_tiles();
    for (L i = all * t / nt; i < all * (t + 1) / nt; i++) {
      const L k0 = i / pairs % blocks * depth, m = i % pairs * PAIR;
      flags[i] = split_panels<true>(p.weight + (i / pairs / blocks * p.kg + m) * taps + k0, taps, 1, least(PAIR, p.kg - m), least(depth, taps - k0), memory + i * 2 * length, length);
    }
    #pragma omp barrier
    for (L w = total * t / nt; w < total * (t + 1) / nt; w++) {
      const L part = w % parts, unit = w / parts, h0 = unit % per_image * rows;
      split_points_unit(p, weights, unit / per_image % p.groups, unit / per_image / p.groups, h0, least(p.oh, h0 + rows),
                        pairs * part / parts * PAIR, least(p.kg, pairs * (part + 1) / parts * PAIR));
    }
    end_tiles();
  }
}
#endif
`;
