/**
 * Float32 products on matrix units that multiply bfloat16 (Intel's AMX), as C++ text. An element is the exact sum of
 * three bfloat16, largest first; of the nine products of two elements the six largest are computed, which are exact in
 * float32 (Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
 * Computations"). Invariant: errors are at most those of float32 sums of products. What is left out is at most 2⁻²³ of
 * each product, and small terms are summed apart from large ones, so that they are rounded less.
 *
 * Where all elements are bfloat16 themselves, or short integers, their other parts are zero and left out.
 *
 * The unit reads and writes subnormal numbers as zero, and neither infinity nor numbers that round to it can be split.
 * Packing therefore watches the range of elements, and `are_lost` says which results have to be computed otherwise.
 */
export const SPLIT_TILES: string = String.raw`
#if defined(SINGLE) && defined(__AMX_BF16__) && defined(__AVX512F__) && defined(__linux__)
#define SPLIT 1
#else
#define SPLIT 0
#endif
#if SPLIT
// A tile of packed elements: 16 rows of A, or 16 columns of B, by 32 elements of K. A step of a panel is the tiles of its three
// parts. K is summed in blocks.
enum { SIDE = 16, STEP_K = 32, PARTS = 3, PART = 256, SPLIT_STEP = PARTS * PART, BLOCK_K = 512 };
// Processes ask the system once for the registers of tiles.
extern "C" long syscall(long, ...);
INL bool tiles_granted() {
  static int answer;
  enum { ARCH_PRCTL = 158, REQUEST = 0x1023, TILE_DATA = 18 };
  if (!answer) answer = syscall(ARCH_PRCTL, (L) REQUEST, (L) TILE_DATA) ? -1 : 1;
  return answer > 0;
}
INL void begin_tiles() {
  struct { unsigned char palette, start, none[14]; unsigned short bytes[16]; unsigned char rows[16]; } shapes = {1};
  for (int i = 0; i < 8; i++) shapes.bytes[i] = 4 * SIDE, shapes.rows[i] = SIDE;
  asm volatile("ldtilecfg %0" : : "m"(shapes));
}
INL void end_tiles() { asm volatile("tilerelease"); }
#define CLEAR_TILE(t) asm volatile("tilezero %%tmm" #t : : )
#define LOAD_TILE(t, at) asm volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(at), "r"(64L) : "memory")
#define STORE_TILE(t, at, row) asm volatile("tilestored %%tmm" #t ", (%0,%1,1)" : : "r"(at), "r"((L) (row)) : "memory")
#define MULTIPLY_TILES(c, a, b) asm volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #c : : )

// The range of magnitudes, as twice the bits of numbers, of which zero counts as the largest of 'low'; and all bits of what is
// left of numbers after their first part.
typedef unsigned Words __attribute__((vector_size(VECTOR_BYTES)));
struct Range { Words low, high, rest; };
enum { TINY = 1, WILD = 2, REST = 4, LARGE = 8 };   // elements below 2⁻⁵⁰, from 2⁶⁰ on, of more than one part, and from 2¹² on
INL Range no_range() { return {~(Words) {}, (Words) {}, (Words) {}}; }
INL unsigned magnitude(int exponent) { return (unsigned) (127 + exponent) << 24; }
INL void widen(Range& range, V x) {
  const Words twice = (Words) x + (Words) x, low = twice - 1;
  range.low = low < range.low ? low : range.low;
  range.high = twice > range.high ? twice : range.high;
}
INL int flags_of(const Range& range) {
  unsigned low = ~0u, high = 0, rest = 0;
  for (int i = 0; i < VL; i++) rest |= range.rest[i], low = range.low[i] < low ? range.low[i] : low, high = range.high[i] > high ? range.high[i] : high;
  return (low < magnitude(-50) ? TINY : 0) | (high >= magnitude(60) ? WILD : 0) | (rest ? REST : 0) | (high >= magnitude(12) ? LARGE : 0);
}

// Writes a row of a step's tiles: elements of x in the lower, of y in the upper half of each word. Parts are rounded to
// nearest, which leaves eight bits for the last one.
INL void split_row(V x, V y, T* to, Range& range) {
  UNROLL for (int part = 0; part < PARTS; part++) {
    const Words a = ((Words) x + 0x8000) & 0xffff0000, b = ((Words) y + 0x8000) & 0xffff0000;
    st(to + part * PART, (V) ((a >> 16) | b));
    x -= (V) a; y -= (V) b;
    if (part == 0) range.rest |= (Words) x | (Words) y;
  }
}
// The first 'count' elements, zero after them.
INL V ld_part(const T* p, L count) {
  V x;
  asm("vmovups %1, %0%{%2%}%{z%}" : "=v"(x) : "m"(*(const T (*)[VL]) p), "Yk"((unsigned short) (count >= VL ? 0xffff : count <= 0 ? 0 : (1 << count) - 1)));
  return x;
}
// x[row] = elements s[row*rs + lane*ls], zero from 'rows' and 'lanes' on.
INL void load_square(const T* s, L rs, L ls, L rows, L lanes, V* x) {
  if (ls == 1) {
    for (int i = 0; i < SIDE; i++) x[i] = i >= rows ? (V) {} : lanes >= VL ? ld(s + i * rs) : ld_part(s + i * rs, lanes);
  } else if (rs == 1) {
    for (int i = 0; i < SIDE; i++) x[i] = i >= lanes ? (V) {} : rows >= VL ? ld(s + i * ls) : ld_part(s + i * ls, rows);
    transpose_lanes(x);
  } else for (int i = 0; i < SIDE; i++) {
    T row[VL] = {};
    if (i < rows) for (L l = 0; l < least(lanes, VL); l++) row[l] = s[i * rs + l * ls];
    x[i] = ld(row);
  }
}
// Packs panels, 'length' elements apart, of 'count' rows of A, or columns of B, cs apart, by k elements, ks apart; returns their
// flags. Element k of a step shares a word with element k + 16. Runs along memory, as far as it can.
template <bool A> OUTL int split_panels(const T* s, L cs, L ks, L count, L k, T* d, L length) {
  Range range = no_range();
  const L panels = (count + SIDE - 1) / SIDE, steps = (k + STEP_K - 1) / STEP_K;
  for (L i = 0; i < panels * steps; i++) {
    const L panel = cs == 1 ? i % panels : i / steps, step = cs == 1 ? i / panels : i % steps;
    V x[SIDE], y[SIDE];
    const T* at = s + panel * SIDE * cs + step * STEP_K * ks;
    T* to = d + panel * length + step * SPLIT_STEP;
    const L left = k - step * STEP_K, first = least(SIDE, left), second = most(0, least(SIDE, left - SIDE)), all = count - panel * SIDE;
    if (A) load_square(at, cs, ks, all, first, x), load_square(at + SIDE * ks, cs, ks, all, second, y);
    else load_square(at, ks, cs, first, all, x), load_square(at + SIDE * ks, ks, cs, second, all, y);
    // Rows of the next step, which are too far apart for the processor to see a stream
    for (int half = 0; half < STEP_K; half += SIDE) for (int r = 0; r < SIDE; r++)
      __builtin_prefetch(at + (STEP_K + half) * ks + r * (A ? cs : ks));
    for (int r = 0; r < SIDE; r++) widen(range, x[r]), widen(range, y[r]), split_row(x[r], y[r], to + r * SIDE, range);
  }
  return flags_of(range);
}

// c[a_panels*16][32] = a · b for up to two panels of each, 'between' elements apart, whose elements may have more parts than one.
template <int a_panels, int b_panels> OUTL void split_tile(L steps, const T* a, L between_a, const T* b, L between_b, T* c, bool rest_a, bool rest_b) {
  CLEAR_TILE(0); CLEAR_TILE(1); CLEAR_TILE(2); CLEAR_TILE(3);
  #define LOAD_A(part) { LOAD_TILE(4, a + at + part * PART); if (a_panels > 1) LOAD_TILE(5, a + at + between_a + part * PART); }
  #define LOAD_B(part) { LOAD_TILE(6, b + at + part * PART); if (b_panels > 1) LOAD_TILE(7, b + at + between_b + part * PART); }
  #define MULTIPLY { \
    MULTIPLY_TILES(0, 4, 6); \
    if (b_panels > 1) MULTIPLY_TILES(1, 4, 7); \
    if (a_panels > 1) MULTIPLY_TILES(2, 5, 6); \
    if (a_panels > 1 && b_panels > 1) MULTIPLY_TILES(3, 5, 7); \
  }
  #define EACH_STEP for (L at = 0; at < steps * SPLIT_STEP; at += SPLIT_STEP)
  // The small terms first
  if (rest_a && rest_b) EACH_STEP { LOAD_A(0) LOAD_B(2) MULTIPLY LOAD_B(1) MULTIPLY LOAD_A(1) MULTIPLY LOAD_B(0) MULTIPLY LOAD_A(2) MULTIPLY }
  else if (rest_a) EACH_STEP { LOAD_B(0) LOAD_A(2) MULTIPLY LOAD_A(1) MULTIPLY }
  else if (rest_b) EACH_STEP { LOAD_A(0) LOAD_B(2) MULTIPLY LOAD_B(1) MULTIPLY }
  EACH_STEP { LOAD_A(0) LOAD_B(0) MULTIPLY }
  #undef EACH_STEP
  #undef LOAD_A
  #undef LOAD_B
  #undef MULTIPLY
  enum { ROW = 2 * SIDE };
  STORE_TILE(0, c, ROW * sizeof(T));
  if (b_panels > 1) STORE_TILE(1, c + SIDE, ROW * sizeof(T));
  if (a_panels > 1) STORE_TILE(2, c + SIDE * ROW, ROW * sizeof(T));
  if (a_panels > 1 && b_panels > 1) STORE_TILE(3, c + SIDE * ROW + SIDE, ROW * sizeof(T));
}
// The number of elements of K of a block, and of elements of a packed panel of it.
INL L split_depth(L k) {
  const L blocks = (k + BLOCK_K - 1) / BLOCK_K;
  return ((k + blocks - 1) / blocks + STEP_K - 1) / STEP_K * STEP_K;
}
INL L split_length(L depth) { return depth / STEP_K * SPLIT_STEP; }
// Cycles of a product with splits. Tiles take a fifth more than their products, packing about 0.8 for an element, and writing 0.6.
INL double packing_cost(L m, L n, L k) { return 0.8 * ((m + SIDE - 1) / SIDE * SIDE + (n + SIDE - 1) / SIDE * SIDE) * ((k + STEP_K - 1) / STEP_K * STEP_K); }
INL double split_cost(L m, L n, L k) {
  const double rows = (m + SIDE - 1) / SIDE * SIDE, cols = (n + SIDE - 1) / SIDE * SIDE, depth = (k + STEP_K - 1) / STEP_K * STEP_K;
  return rows * cols * depth * (1.2 * 6 / 512) + packing_cost(m, n, k) + 0.6 * rows * cols;
}
// Whether vectors would take more, which take a quarter more than their products.
INL bool split_pays(L m, L n, L k) {
  return m >= SIDE && n >= SIDE && k >= STEP_K && tiles_granted() && split_cost(m, n, k) < (double) m * n * k * (1.25 / (2 * VL));
}
// Whether results of operands with these flags may be wrong. Where every product of a result is below 2⁻¹⁰⁰, terms that
// count are among those read as zero; else only terms that do not, unless large elements are multiplied by ones so tiny that
// parts of them are subnormal.
INL bool are_lost(int flags, const T* c, L rows, L cols) {
  if (flags & WILD) return true;
  if (!(flags & TINY)) return false;
  if (flags & LARGE) return true;
  unsigned low = ~0u;
  for (L i = 0; i < rows; i++) for (L j = 0; j < cols; j += VL) {
    const Words twice = (Words) ld(c + i * 2 * SIDE + j) * 2;
    for (int l = 0; l < VL && j + l < cols; l++) low = twice[l] < low ? twice[l] : low;
  }
  return low < magnitude(-80);
}

// Up to two packed panels, 'length' elements apart, and their flags.
struct Pair { const T* at; L length; int flags; };
enum { PAIR = 2 * SIDE, PLAIN_MEMORY = PAIR * BLOCK_K + (PAIR / MR + 1) * (BLOCK_K * MR + 16) };
// Computes rows by columns of c by vectors, from the operands before they were packed.
OUTL void plain_tile(L kc, Operand a, Operand b, L m, L n, T* c, L crs, L ccs, bool add, T* memory) {
  const int nv = (int) ((n + VL - 1) / VL), lanes = (int) (n - (nv - 1) * VL);
  T* packed = memory + nv * VL * kc;
  pack_b(kc, b.at, b.rs, b.cs, n, nv * VL, memory);
  if (a.cs != 1) pack_a(kc, a.at, a.rs, a.cs, 0, m, packed);
  #define ROWS(nv) if (a.cs == 1) rows<nv, false>(0, m, kc, a.at, a.rs, MR * a.rs, memory, nv * VL, c, crs, ccs, lanes, add); \
    else rows<nv, true>(0, m, kc, packed, MR, panel_stride(kc), memory, nv * VL, c, crs, ccs, lanes, add)
  if (nv == 1) ROWS(1); else ROWS(2);
  #undef ROWS
}
// Computes m rows by n columns, at most PAIR, of c (+)= a · b, whose K is kc. 'plain_a' and plain_b() are the operands as they
// were, 'memory' PLAIN_MEMORY elements.
template <class B> INL void split_block(L kc, const Pair& a, const Pair& b, L m, L n, T* c, L crs, L ccs, bool add, Operand plain_a, B plain_b, T* memory) {
  T sums[PAIR * PAIR] __attribute__((aligned(64)));
  #define TILE(a_panels, b_panels) split_tile<a_panels, b_panels>((kc + STEP_K - 1) / STEP_K, a.at, a.length, b.at, b.length, sums, a.flags & REST, b.flags & REST)
  if (m > SIDE) { if (n > SIDE) TILE(2, 2); else TILE(2, 1); }
  else if (n > SIDE) TILE(1, 2); else TILE(1, 1);
  #undef TILE
  if (are_lost(a.flags | b.flags, sums, m, n)) return plain_tile(kc, plain_a, plain_b(), m, n, c, crs, ccs, add, memory);
  if (n < PAIR || ccs != 1) return store_part(sums, m, PAIR, n, c, crs, ccs, add);
  for (L i = 0; i < m; i++) UNROLL for (int j = 0; j < PAIR; j += VL) {
    T* to = c + i * crs + j;
    const V x = ld(sums + i * PAIR + j);
    st(to, add ? ld(to) + x : x);
  }
}
#endif
`;
