/**
 * Products of matrices by split_tiles.ts: part of the unit of gemm.ts, C++ text. Order of the loops: block of K > group
 * of columns of B > block of rows of A, which is packed > two panels of columns, packed for the first rows > tiles.
 */
export const GEMM_SPLIT: string = String.raw`
#if SPLIT
enum { SPLIT_ROWS = 256, SPLIT_COLUMNS = 2048, PACKED_COLUMNS = 128 };   // rows and columns of a block, and columns packed at once
// Memory for the panels of one thread.
INL L panels_for(L count, L most_count) { return (least(count, most_count) + PAIR - 1) / PAIR * 2; }
INL L split_memory(const Problem& p) {
  return (panels_for(p.m, SPLIT_ROWS) + panels_for(p.n, SPLIT_COLUMNS)) * split_length(split_depth(p.k)) + PLAIN_MEMORY;
}
// B packed as a whole, for later calls: [block of K][panel], then the flags of columns packed at once.
struct PackedB {
  L depth, length, panels, groups, blocks;
  T* at;
  PackedB(const Problem& p) {
    depth = split_depth(p.k), length = split_length(depth), panels = panels_for(p.n, p.n);
    groups = (p.n + PACKED_COLUMNS - 1) / PACKED_COLUMNS, blocks = (p.k + depth - 1) / depth;
    at = p.kept;
  }
  L bytes() const { return blocks * (panels * length * sizeof(T) + groups * sizeof(int)); }
  T* columns(L k0, L n) const { return at + (k0 / depth * panels + n / SIDE) * length; }
  int& flags(L k0, L n) const { return ((int*) (at + blocks * panels * length))[k0 / depth * groups + n / PACKED_COLUMNS]; }
};
// Whether packing B takes a noticeable part of a call.
INL bool keeping_pays(const Problem& p) { return packing_cost(0, p.n, p.k) > 0.08 * split_cost(p.m, p.n, p.k); }
// Packs share t of nt.
OUTL void pack_kept(const Problem& p, L t, L nt) {
  const PackedB kept(p);
  const L all = kept.blocks * kept.groups;
  for (L i = all * t / nt; i < all * (t + 1) / nt; i++) {
    const L k0 = i / kept.groups * kept.depth, n0 = i % kept.groups * PACKED_COLUMNS, columns = least(PACKED_COLUMNS, p.n - n0);
    const Operand part = part_b(p, k0, 0, n0, 0, 0);
    kept.flags(k0, n0) = split_panels<false>(part.at, part.cs, part.rs, columns, least(kept.depth, p.k - k0), kept.columns(k0, n0), kept.length);
  }
}
// Computes rows [m0, m1) and columns [n0, n1).
OUTL void split_part(const Problem& p, L m0, L m1, L n0, L n1, T* memory, T* filled_a, T* filled_b) {
  const L depth = split_depth(p.k), length = split_length(depth);
  T *a = memory, *b = a + panels_for(p.m, SPLIT_ROWS) * length, *plain = b + panels_for(p.n, SPLIT_COLUMNS) * length;
  int flags_b[SPLIT_COLUMNS / PACKED_COLUMNS];
  const PackedB kept(p);
  begin_tiles();
  for (L k0 = 0; k0 < p.k; k0 += depth) for (L g0 = n0; g0 < n1; g0 += SPLIT_COLUMNS) for (L i0 = m0; i0 < m1; i0 += SPLIT_ROWS) {
    const L kc = least(depth, p.k - k0), i1 = least(m1, i0 + SPLIT_ROWS), g1 = least(n1, g0 + SPLIT_COLUMNS);
    const bool add = p.add || k0 > 0;
    const Operand block = part_a(p, i0, i1, k0, k0 + kc, filled_a);
    const int flags_a = split_panels<true>(block.at, block.rs, block.cs, i1 - i0, kc, a, length);
    for (L j = g0; j < g1; j += PAIR) {
      const L cols = least(PAIR, g1 - j);
      int& flags = p.kept ? kept.flags(k0, j) : flags_b[(j - g0) / PACKED_COLUMNS];
      const T* panels = p.kept ? kept.columns(k0, j) : b + (j - g0) / SIDE * length;
      if (!p.kept && i0 == m0 && (j - g0) % PACKED_COLUMNS == 0) {
        const L all = least(PACKED_COLUMNS, g1 - j);
        const Operand part = part_b(p, k0, k0 + kc, j, j + all, filled_b);
        flags = split_panels<false>(part.at, part.cs, part.rs, all, kc, b + (j - g0) / SIDE * length, length);
      }
      for (L i = i0; i < i1; i += PAIR) {
        const L count = least(PAIR, i1 - i);
        split_block(kc, {a + (i - i0) / SIDE * length, length, flags_a}, {panels, length, flags}, count, cols,
                    p.c + i * p.crs + j * p.ccs, p.crs, p.ccs, add, {block.at + (i - i0) * block.rs, block.rs, block.cs},
                    [&] { return part_b(p, k0, k0 + kc, j, j + cols, filled_b); }, plain);
      }
      if (k0 + kc == p.k) finish(p, i0, i1, j, j + cols);
    }
  }
  end_tiles();
}
#endif
`;
