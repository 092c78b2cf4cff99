/**
 * Matrix products C (+)= A·B for any strides and batches, as a C++ translation unit for one element type, which exports
 * `dyn_entry`, returning the address of a `void(const GemmCall*)`. Invariant: every element of every C is written
 * exactly once per call, and the thread that wrote it then calls the epilogue for it, exactly once.
 *
 * Order of the loops: block of K > group of column panels of B > block of rows of A > column panel (packed here, unless
 * few rows read it in place) > row panel. Threads take equal contiguous shares of the tiles; there are no barriers
 * inside.
 *
 * On matrix units (split_tiles.ts): block of K > group of columns of B > block of rows of A, which is packed > two
 * panels of columns, packed for the first rows > tiles.
 */
import { GEMM_TILES } from "./gemm_tiles.ts";
import { LANE_ORDERS, VECTOR_PRELUDE } from "./prelude.ts";
import { SPLIT_TILES } from "./split_tiles.ts";

const GEMM_SPLIT: string = String.raw`
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

/** The argument; 64-bit words. Also pasted into generated programs. */
export const GEMM_CALL: string = String.raw`
// c[b] (+)= a[b] · b[b]. Strides in elements: rs of rows, cs of columns, bs of the batch. The epilogue may be null.
struct GemmCall {
  const void *a, *b;
  void* c;
  long m, n, k, batch;
  long ars, acs, abs, brs, bcs, bbs, crs, ccs, cbs;
  long accumulate, threads;
  void (*epilogue)(void*, long, long, long, long, long);
  void* context;
  // If not null, these compute a and b, which are then not read: rows [r0, r1) and columns [c0, c1) of matrix b, to
  // 'to', with rows 'ld' apart. 'ars' and 'acs' (1 along rows) define rows and columns.
  void (*fill_a)(void*, long b, long r0, long r1, long c0, long c1, void* to, long ld);
  void* fill_a_context;
  void (*fill_b)(void*, long b, long r0, long r1, long c0, long c1, void* to, long ld);
  void* fill_b_context;
  double* record;   // of packed b, as in ConvCall
};
`;

const GEMM_OPERANDS: string = String.raw`
typedef void (*Fill)(void* context, L b, L r0, L r1, L c0, L c1, void* to, L ld);
struct Problem {
  const T *a, *b;
  T* c;
  L m, n, k, ars, acs, brs, bcs, crs, ccs;
  bool add, swapped;
  Epilogue epilogue;
  void* context;
  Fill fill_a, fill_b;
  void *context_a, *context_b;
  L index;
  T* kept;       // packed b, or memory for it, or null
  bool packs;    // whether it has to be packed
};
// Rows [i0, i1) and columns [j0, j1) of an operand that is computed; its rows are contiguous if cs is 1.
INL Operand filled(const Problem& p, Fill fill, void* context, L cs, L i0, L i1, L j0, L j1, T* to) {
  const L ld = ((cs == 1 ? j1 - j0 : i1 - i0) + VL - 1) / VL * VL;
  if (cs == 1) fill(context, p.index, i0, i1, j0, j1, to, ld);
  else fill(context, p.index, j0, j1, i0, i1, to, ld);
  return cs == 1 ? (Operand) {to, ld, 1} : (Operand) {to, 1, ld};
}
INL Operand part_a(const Problem& p, L m0, L m1, L k0, L k1, T* scratch) {
  if (p.fill_a) return filled(p, p.fill_a, p.context_a, p.acs, m0, m1, k0, k1, scratch);
  return (Operand) {p.a + m0 * p.ars + k0 * p.acs, p.ars, p.acs};
}
INL Operand part_b(const Problem& p, L k0, L k1, L n0, L n1, T* scratch) {
  if (p.fill_b) return filled(p, p.fill_b, p.context_b, p.bcs, k0, k1, n0, n1, scratch);
  return (Operand) {p.b + k0 * p.brs + n0 * p.bcs, p.brs, p.bcs};
}
INL void finish(const Problem& p, L m0, L m1, L n0, L n1) {
  if (!p.epilogue || m0 >= m1 || n0 >= n1) return;
  if (p.swapped) p.epilogue(p.context, p.index, n0, n1, m0, m1);
  else p.epilogue(p.context, p.index, m0, m1, n0, n1);
}
`;

const GEMM_DRIVER: string = String.raw`
// How one problem is computed; the same for all matrices of a batch.
struct Plan {
  enum { TILES, DOTS, ROW, SPLITS } kind;
  bool pack_a;
  L kc, kblocks;          // K is cut in kblocks blocks of kc
  L mpanels, npanels;     // row panels and column panels
  L near, together;       // row panels whose A the second-level cache holds, and column panels they multiply before others
  L kept;                 // packed column panels that stay in memory: those together, if other row panels follow
};
enum { DOT_ROWS = 65536 / (int) sizeof(T) };   // elements of A that dot products of many rows read again for each few columns
enum { DOT_A = 16384 / (int) sizeof(T), DOT_B = 131072 / (int) sizeof(T) };   // elements of both that are multiplied before others
// number of elements of B that exceeds the near caches, and of rows for which three streams restart too often
enum { STREAMED = (2 << 20) / (int) sizeof(T), SHORT_ROW = 6144 / (int) sizeof(T) };
enum { FILL = 1 << 18, FILL_B = 16384 };   // elements of operands that are computed at once
enum { NEAR_A = (768 << 10) / (int) sizeof(T) };   // elements of A for the second-level cache
enum { KC = (VECTOR_REGISTERS < 32 ? 2048 : 4096) / (int) sizeof(T) };

INL Plan plan_of(const Problem& p) {
  Plan q;
  q.kind = Plan::TILES;
  const bool fills = p.fill_a || p.fill_b, short_a = p.m * p.k <= FILL;
  const bool few_a = p.m <= 16 || (p.m <= 32 && p.m * p.k <= DOT_ROWS);
  if (p.m == 1 && p.bcs == 1 && p.ccs == 1 && (!fills || short_a)) q.kind = Plan::ROW;
  // Adding up the lanes of an element takes as long as packing a few columns per row
  const bool dot_a = p.k >= most(32, 20 * p.m) && (fills ? p.m <= 32 && short_a : few_a);
  const bool dot_b = p.k >= 128 && !fills && p.n <= 32 && p.n % VL;
  if (q.kind == Plan::TILES && p.acs == 1 && p.brs == 1 && (dot_a || dot_b)) q.kind = Plan::DOTS;
#if SPLIT
  if (q.kind != Plan::ROW && split_pays(p.m, p.n, p.k)) q.kind = Plan::SPLITS;
#endif
  q.pack_a = p.fill_a ? p.acs != 1 : p.acs != 1 && (p.ars != 1 || (p.m > 16 && p.k >= 256 && p.n > 64));
  q.kblocks = most(1, (p.k + KC - 1) / KC);
  q.kc = q.kblocks == 1 ? p.k : ((p.k + q.kblocks - 1) / q.kblocks + 15) / 16 * 16;
  q.kblocks = most(1, q.kc ? (p.k + q.kc - 1) / q.kc : 1);
  q.mpanels = (p.m + MR - 1) / MR;
  q.npanels = (p.n + NR - 1) / NR;
  const L near = most(1, NEAR_A / (most(1, q.kc) * MR)), parts = most(1, (q.mpanels + near / 2) / near);
  q.near = (q.mpanels + parts - 1) / parts;
  // More columns where rows of A are packed or computed again for each group
  const L columns = p.fill_a ? 3072 : q.pack_a ? 1536 : 480;
  q.together = parts == 1 ? q.npanels : least(q.npanels, columns / NR);
  q.kept = parts == 1 ? 1 : q.together;
  return q;
}

// Memory of one thread: packed panels of B and packed row panels of A, and the computed parts of either.
struct Scratches { T *b, *a, *filled_b, *filled_a; };
INL L panel_length(const Plan& q) { return (q.kc * NR + 64 + 15) / 16 * 16; }
// Row panels of A, 'panel' elements apart, as tiles read them.
struct Panels { const T* at; L as, panel; bool unit; };

INL Panels panels_of(const Problem& p, const Plan& q, L m0, L m1, L k0, L kc, const Scratches& s) {
  const Operand a = part_a(p, m0, m1, k0, k0 + kc, s.filled_a);
  if (!q.pack_a) return a.cs == 1 ? (Panels) {a.at, a.rs, MR * a.rs, false} : (Panels) {a.at, a.cs, MR, true};
  pack_a(kc, a.at, a.rs, a.cs, 0, m1 - m0, s.a);
  return (Panels) {s.a, MR, panel_stride(kc), true};
}

// Computes rows [m0, m1) of column panel j for K block [k0, k0 + kc); 'a' begins with row m0. If 'kept', the panel of B
// was left packed at 'panel'.
INL void column(const Problem& p, const Plan& q, L j, L m0, L m1, L k0, L kc, bool add, bool last, const Scratches& s, Panels a, T* panel, bool kept) {
  const L n = j * NR, cols = least(NR, p.n - n);
  const int nv = (int) ((cols + VL - 1) / VL), lanes = (int) (cols - (nv - 1) * VL);
  const T* b = panel;
  L lb = nv * VL;
  T* packed = 0;
  if (!kept) {
    const Operand part = part_b(p, k0, k0 + kc, n, n + cols, s.filled_b);
    if (part.cs != 1 || lanes < VL) pack_b(kc, part.at, part.rs, part.cs, cols, lb, panel);
    else {
      // The first tile packs what others read: always for other blocks of rows, else unless rows of B are near each other
      if (q.near < q.mpanels ? m1 - m0 >= MR : m1 - m0 >= 3 * MR && part.rs > 2 * NR) packed = panel;
      b = part.at;
      lb = part.rs;
    }
  }
  T* c = p.c + n * p.ccs;
  // parts small enough that the epilogue finds them in the first-level cache
  const L chunk = last && p.epilogue ? most(1, 4096 / (cols * MR)) * MR : m1 - m0;
  for (L r0 = m0; r0 < m1; r0 += chunk, a.at += chunk / MR * a.panel) {
    const L r1 = least(m1, r0 + chunk);
    #define ROWS(nv, unit) rows<nv, unit>(r0, r1, kc, a.at, a.as, a.panel, b, lb, c, p.crs, p.ccs, lanes, add, packed)
    #define ALL(nv) if (a.unit) ROWS(nv, true); else ROWS(nv, false)
    switch (nv) { case 1: ALL(1); break; case 2: ALL(2); break; default: ALL(3); }
    #undef ALL
    #undef ROWS
    if (packed) b = packed, lb = nv * VL, packed = 0;
    if (last) finish(p, r0, r1, n, n + cols);
  }
}

// Computes the tiles [w0, w1) of one matrix, counted down the column panels, in row panels [i0, i1).
INL void tiles(const Problem& p, const Plan& q, L i0, L i1, L w0, L w1, const Scratches& s) {
  for (L kb = 0; kb < q.kblocks; kb++) {
    const L k0 = kb * q.kc, kc = least(q.kc, p.k - k0);
    for (L j0 = w0 / q.mpanels; j0 * q.mpanels < w1; j0 += q.together) for (L i = i0; i < i1; i += q.near) {
      const Panels a = panels_of(p, q, i * MR, least(least(i + q.near, i1) * MR, p.m), k0, kc, s);
      for (L j = j0; j < j0 + q.together && j * q.mpanels < w1; j++) {
        const L first = most(w0 - j * q.mpanels, i0), begin = most(first, i);
        const L m0 = begin * MR, m1 = least(least(least(w1 - j * q.mpanels, i + q.near), i1) * MR, p.m);
        const Panels from = {a.at + (begin - i) * a.panel, a.as, a.panel, a.unit};
        if (m0 < m1) column(p, q, j, m0, m1, k0, kc, p.add || kb > 0, kb == q.kblocks - 1, s, from, s.b + (j - j0) % q.kept * panel_length(q), i > first);
      }
    }
  }
}
// Columns of B are computed a few at a time, but rows of A all at once, since there are few with prologues.
INL L columns_at_once(const Problem& p) { return most(1, FILL_B / most(1, p.k) / 3) * 3; }
INL void dot_part(const Problem& p, L m0, L m1, L n0, L n1, const Scratches& s) {
  const L step = p.fill_b ? columns_at_once(p) : n1 - n0;
  const Operand rows_a = part_a(p, 0, p.m, 0, p.k, s.filled_a);
  for (L from = n0; from < n1; from += step) {
    const L to = least(n1, from + step);
    const Operand part = part_b(p, 0, p.k, from, to, s.filled_b);
    if (p.m == 1 && !p.fill_b && p.n * p.k > STREAMED && p.k <= SHORT_ROW) {
      dot_streamed(p.k, rows_a.at, part.at, part.cs, to - from, p.c + from * p.ccs, p.ccs, p.add);
      continue;
    }
    // As many rows as fit the first-level cache, by as many columns as fit the second
    const L together = most(8, DOT_A / p.k / 8 * 8), across = m1 - m0 > together ? most(1, DOT_B / p.k / 3) * 3 : to - from;
    for (L first = from; first < to; first += across) for (L m = m0; m < m1; m += together) {
      const L last = least(to, first + across), end = least(m1, m + together);
      L n = first;
      #define COLUMNS(nr) dot_rows<nr>(m, end, p.k, rows_a.at, rows_a.rs, part.at + (n - from) * part.cs, part.cs, p.c + n * p.ccs, p.crs, p.ccs, p.add)
      for (; n + 3 <= last; n += 3) COLUMNS(3);
      for (; n < last; n++) COLUMNS(1);
      #undef COLUMNS
    }
  }
  finish(p, m0, m1, n0, n1);
}
INL void row_part(const Problem& p, L n0, L n1, const Scratches& s) {
  const L step = p.fill_b ? FILL_B / 8 : n1 - n0;
  const Operand row = part_a(p, 0, 1, 0, p.k, s.filled_a);
  for (L from = n0; from < n1; from += step) {
    const L to = least(n1, from + step);
    bool add = p.add;
    for (L k = 0; k < p.k; add = true) {
      const L rows = p.k - k >= 8 ? 8 : 1;
      const Operand part = part_b(p, k, k + rows, from, to, s.filled_b);
      if (rows == 8) axpys<8>(0, to - from, row.at + k * row.cs, row.cs, part.at, part.rs, p.c + from, add);
      else axpys<1>(0, to - from, row.at + k * row.cs, row.cs, part.at, part.rs, p.c + from, add);
      k += rows;
    }
    if (!add) for (L n = from; n < to; n++) p.c[n] = 0;
  }
  finish(p, 0, 1, n0, n1);
}

// The first tile of share t of nt: shares have equal numbers of vectors of columns, as the last panel may be narrower.
INL L first_tile(const Problem& p, const Plan& q, L t, L nt) {
  if (t == nt) return q.mpanels * q.npanels;
  const L vectors = (p.n + VL - 1) / VL, at = vectors * q.mpanels * t / nt, j = at / (NV * q.mpanels);
  const L nv = least(NV, vectors - j * NV);
  return j * q.mpanels + (at - j * NV * q.mpanels + nv / 2) / nv;
}

// Computes share t of nt of one matrix.
INL void part(const Problem& p, const Plan& q, L t, L nt, const Scratches& s) {
  if (q.kind == Plan::ROW) {
    const L vectors = (p.n + VL - 1) / VL;
    row_part(p, vectors * t / nt * VL, least(p.n, vectors * (t + 1) / nt * VL), s);
  } else if (q.kind == Plan::DOTS) {
    if (p.m > p.n) dot_part(p, q.mpanels * t / nt * MR, least(p.m, q.mpanels * (t + 1) / nt * MR), 0, p.n, s);
    else {
      const L groups = (p.n + 2) / 3;
      dot_part(p, 0, p.m, groups * t / nt * 3, least(p.n, groups * (t + 1) / nt * 3), s);
    }
#if SPLIT
  } else if (q.kind == Plan::SPLITS) {
    const bool by_rows = p.m >= p.n;
    const L pairs = ((by_rows ? p.m : p.n) + PAIR - 1) / PAIR, from = pairs * t / nt * PAIR, to = pairs * (t + 1) / nt * PAIR;
    if (by_rows) split_part(p, from, least(p.m, to), 0, p.n, s.b, s.filled_a, s.filled_b);
    else split_part(p, 0, p.m, from, least(p.n, to), s.b, s.filled_a, s.filled_b);
#endif
  } else if ((q.pack_a || p.fill_a) && p.m * 4 >= p.n) {
    tiles(p, q, q.mpanels * t / nt, q.mpanels * (t + 1) / nt, 0, q.mpanels * q.npanels, s);
  } else {
    tiles(p, q, 0, q.mpanels, first_tile(p, q, t, nt), first_tile(p, q, t + 1, nt), s);
  }
}

OUTL void work(const GemmCall& call, Problem p, const Plan& q, L t, L nt) {
  const L b_length = q.kept * panel_length(q), a_length = q.pack_a ? (q.near + 1) * panel_stride(q.kc) : 0;
  const bool by_tiles = q.kind == Plan::TILES;
  L rows = by_tiles ? q.near * MR : p.m, depth = by_tiles ? q.kc : p.k, splits = 0;
  L columns = by_tiles ? NR : q.kind == Plan::ROW ? FILL_B / 8 : columns_at_once(p);
#if SPLIT
  if (q.kind == Plan::SPLITS) rows = SPLIT_ROWS, depth = BLOCK_K, columns = PACKED_COLUMNS, splits = split_memory(p);
#endif
  const L filled_b = p.fill_b ? (least(columns, p.n) + VL) * ((q.kind == Plan::ROW ? 8 : depth) + VL) : 0;
  const L filled_a = p.fill_a ? (rows + VL) * (depth + VL) : 0;
  const L lengths[] = {by_tiles ? b_length : splits, by_tiles ? a_length : 0, filled_b, filled_a};
  L all = 0;
  for (int i = 0; i < 4; i++) all += (lengths[i] + 15) / 16 * 16;
  T* free = all ? scratch(0, all * sizeof(T)) : 0;
  T* at[4];
  for (int i = 0; i < 4; i++) at[i] = free, free += (lengths[i] + 15) / 16 * 16;
  const Scratches s = {at[0], at[1], at[2], at[3]};
  // whole matrices if there are enough of them, else shares of each
  const bool whole = call.batch >= 4 * nt || call.batch % nt == 0;
  const L first = whole ? call.batch * t / nt : 0, end = whole ? call.batch * (t + 1) / nt : call.batch;
  const T *a = p.a, *b = p.b;
  T* c = p.c;
  const L abs = p.swapped ? call.bbs : call.abs, bbs = p.swapped ? call.abs : call.bbs;
#if SPLIT
  if (p.packs) {
    pack_kept(p, t, nt);
    #pragma omp barrier
  }
#endif
  for (L g = first; g < end; g++) {
    p.a = a + g * abs;
    p.b = b + g * bbs;
    p.c = c + g * call.cbs;
    p.index = g;
    part(p, q, whole ? 0 : t, whole ? 1 : nt, s);
  }
}

static void gemm(const GemmCall* call) {
  const GemmCall& g = *call;
  if (g.m <= 0 || g.n <= 0 || g.batch <= 0) return;
  Problem p;
  // For a single column, or a result stored by columns, the transposed problem is better.
  p.swapped = (g.n == 1 && g.m > 1 && g.crs == 1) || (g.ccs != 1 && g.crs == 1 && g.n > 1);
  p.add = g.accumulate != 0;
  p.k = g.k;
  p.c = (T*) g.c;
  p.epilogue = g.epilogue;
  p.context = g.context;
  if (p.swapped) {
    p.a = (const T*) g.b; p.b = (const T*) g.a; p.m = g.n; p.n = g.m;
    p.fill_a = g.fill_b; p.context_a = g.fill_b_context; p.fill_b = g.fill_a; p.context_b = g.fill_a_context;
    p.ars = g.bcs; p.acs = g.brs; p.brs = g.acs; p.bcs = g.ars; p.crs = g.ccs; p.ccs = g.crs;
  } else {
    p.a = (const T*) g.a; p.b = (const T*) g.b; p.m = g.m; p.n = g.n;
    p.fill_a = g.fill_a; p.context_a = g.fill_a_context; p.fill_b = g.fill_b; p.context_b = g.fill_b_context;
    p.ars = g.ars; p.acs = g.acs; p.brs = g.brs; p.bcs = g.bcs; p.crs = g.crs; p.ccs = g.ccs;
  }
  const Plan q = plan_of(p);
  const bool keeps = g.record && q.kind == Plan::SPLITS && !p.swapped && !p.fill_b && g.batch == 1;
  p.kept = keeps ? (T*) (UL) g.record[0] : 0;
  p.packs = p.kept && !g.record[1];
  const double products = (double) g.m * g.n * g.k * g.batch;
  const L nt = g.threads > 1 && products > 262144 ? g.threads : 1;
  if (nt == 1) work(g, p, q, 0, 1);
  else {
    #pragma omp parallel num_threads(nt)
    work(g, p, q, omp_get_thread_num(), omp_get_num_threads());
  }
#if SPLIT
  if (keeps) g.record[1] = p.kept != 0, g.record[2] = keeping_pays(p) ? PackedB(p).bytes() : 0;
#endif
}
EXPORT void (*dyn_entry())(const GemmCall*) { return gemm; }
`;

/** The translation unit of matrix products over one element type. */
export function gemmSource(type: "float" | "double"): string {
  const head = `#define REAL ${type}\n${type === "float" ? "#define SINGLE 1\n" : ""}`;
  return head + VECTOR_PRELUDE + LANE_ORDERS + GEMM_CALL + GEMM_TILES + SPLIT_TILES + GEMM_OPERANDS +
    GEMM_SPLIT + GEMM_DRIVER;
}
