/**
 * Products of matrices by split_tiles.ts: part of the unit of gemm.ts, C++ text. Order of the loops: block of K > group
 * of columns of B > block of rows of A, which is packed > two panels of columns, packed for the first rows > tiles.
 */
export const GEMM_SPLIT: string = String.raw`
#if SPLIT
enum { SPLIT_ROWS = 256, SPLIT_COLUMNS = 2048, PAIR = 2 * SIDE };
// The number of elements of K of a block, of elements of a packed panel, and of those that a thread needs.
INL L split_depth(const Problem& p) {
  const L blocks = (p.k + BLOCK_K - 1) / BLOCK_K;
  return ((p.k + blocks - 1) / blocks + STEP_K - 1) / STEP_K * STEP_K;
}
INL L split_length(const Problem& p) { return split_depth(p) / STEP_K * SPLIT_STEP; }
INL L split_panels(L count, L most_count) { return (least(count, most_count) + PAIR - 1) / PAIR * 2; }
INL L split_memory(const Problem& p) {
  return (split_panels(p.m, SPLIT_ROWS) + split_panels(p.n, SPLIT_COLUMNS)) * split_length(p) + PAIR * PAIR +
    PAIR * BLOCK_K + (PAIR / MR + 1) * panel_stride(BLOCK_K);
}
// Whether splitting pays, in cycles. Packing takes one for an element, a product by vectors 1 / (2 * VL).
INL bool split_pays(const Problem& p) {
  if (p.m < SIDE || p.n < SIDE || p.k < STEP_K || !tiles_granted()) return false;
  const double m = (p.m + SIDE - 1) / SIDE * SIDE, n = (p.n + SIDE - 1) / SIDE * SIDE, k = (p.k + STEP_K - 1) / STEP_K * STEP_K;
  return m * n * k * (1.3 * 6 / 512) + (m + n) * k + m * n < (double) p.m * p.n * p.k / (2 * VL);
}
// Computes a tile, with these rows of A and columns of B, by vectors.
OUTL void plain_tile(Part a, Part b, L rows_a, L cols, L kc, T* c, L crs, L ccs, bool add, T* memory) {
  const int nv = (int) ((cols + VL - 1) / VL), lanes = (int) (cols - (nv - 1) * VL);
  T* packed = memory + nv * VL * kc;
  pack_b(kc, b.at, b.rs, b.cs, cols, nv * VL, memory);
  if (a.cs != 1) pack_a(kc, a.at, a.rs, a.cs, 0, rows_a, packed);
  #define ROWS(nv) if (a.cs == 1) rows<nv, false>(0, rows_a, kc, a.at, a.rs, MR * a.rs, memory, nv * VL, c, crs, ccs, lanes, add); \
    else rows<nv, true>(0, rows_a, kc, packed, MR, panel_stride(kc), memory, nv * VL, c, crs, ccs, lanes, add)
  if (nv == 1) ROWS(1); else ROWS(2);
  #undef ROWS
}
// Computes rows [m0, m1) and columns [n0, n1).
OUTL void split_part(const Problem& p, L m0, L m1, L n0, L n1, T* memory, T* filled_a, T* filled_b) {
  const L depth = split_depth(p), length = split_length(p);
  T *a = memory, *b = a + split_panels(p.m, SPLIT_ROWS) * length, *sums = b + split_panels(p.n, SPLIT_COLUMNS) * length, *plain = sums + PAIR * PAIR;
  int flags_a[SPLIT_ROWS / SIDE], flags_b[SPLIT_COLUMNS / SIDE];
  begin_tiles();
  for (L k0 = 0; k0 < p.k; k0 += depth) for (L g0 = n0; g0 < n1; g0 += SPLIT_COLUMNS) for (L i0 = m0; i0 < m1; i0 += SPLIT_ROWS) {
    const L kc = least(depth, p.k - k0), steps = (kc + STEP_K - 1) / STEP_K, i1 = least(m1, i0 + SPLIT_ROWS), g1 = least(n1, g0 + SPLIT_COLUMNS);
    const bool add = p.add || k0 > 0;
    const Part block = part_a(p, i0, i1, k0, k0 + kc, filled_a);
    for (L i = i0; i < i1; i += SIDE)
      flags_a[(i - i0) / SIDE] = split_panel<true>(block.at + (i - i0) * block.rs, block.rs, block.cs, least(SIDE, i1 - i), kc, a + (i - i0) / SIDE * length);
    for (L j = g0; j < g1; j += PAIR) {
      const L cols = least(PAIR, g1 - j), at = (j - g0) / SIDE;
      if (i0 == m0) {
        const Part part = part_b(p, k0, k0 + kc, j, j + cols, filled_b);
        for (L q = 0; q * SIDE < cols; q++)
          flags_b[at + q] = split_panel<false>(part.at + q * SIDE * part.cs, part.cs, part.rs, least(SIDE, cols - q * SIDE), kc, b + (at + q) * length);
      }
      for (L i = i0; i < i1; i += PAIR) {
        const L count = least(PAIR, i1 - i), from = (i - i0) / SIDE;
        #define TILE(a_panels, b_panels) split_tile<a_panels, b_panels>(steps, a + from * length, b + at * length, length, sums)
        if (count > SIDE) { if (cols > SIDE) TILE(2, 2); else TILE(2, 1); }
        else if (cols > SIDE) TILE(1, 2); else TILE(1, 1);
        #undef TILE
        const int flags = flags_a[from] | (count > SIDE ? flags_a[from + 1] : 0) | flags_b[at] | (cols > SIDE ? flags_b[at + 1] : 0);
        T* c = p.c + i * p.crs + j * p.ccs;
        if (flags && are_lost(flags, sums, count, cols)) {
          const Part rows = {block.at + (i - i0) * block.rs, block.rs, block.cs};
          plain_tile(rows, part_b(p, k0, k0 + kc, j, j + cols, filled_b), count, cols, kc, c, p.crs, p.ccs, add, plain);
        } else if (cols == PAIR && p.ccs == 1) for (L r = 0; r < count; r++) UNROLL for (int v = 0; v < 2; v++) {
          T* to = c + r * p.crs + v * VL;
          const V x = ld(sums + r * PAIR + v * VL);
          st(to, add ? ld(to) + x : x);
        } else store_part(sums, count, PAIR, cols, c, p.crs, p.ccs, add);
      }
      if (k0 + kc == p.k) finish(p, i0, i1, j, j + cols);
    }
  }
  end_tiles();
}
#endif
`;
