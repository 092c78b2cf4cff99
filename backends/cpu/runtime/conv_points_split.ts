/**
 * The convolutions of conv_points.ts on matrix units (split_tiles.ts): weights are rows of A, pixels columns of B. C++
 * text, part of the unit of conv.ts.
 */
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
