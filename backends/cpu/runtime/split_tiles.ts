/**
 * Float32 products on matrix units that multiply bfloat16 (Intel's AMX), as C++ text. An element is the exact sum of
 * three bfloat16, largest first; of the nine products of two elements the six largest are computed, which are exact in
 * float32 (Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
 * Computations"). Invariant: errors are at most those of float32 sums of products. What is left out is at most 2⁻²³ of
 * each product, and small terms are summed apart from large ones, so that they are rounded less.
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

// The range of magnitudes, as twice the bits of numbers, of which zero counts as the largest of 'low'.
typedef unsigned Words __attribute__((vector_size(VECTOR_BYTES)));
struct Range { Words low, high; };
enum { TINY = 1, WILD = 2 };   // elements below 2⁻⁵⁰, and from 2⁶⁰ on
INL Range no_range() { return {~(Words) {}, (Words) {}}; }
INL unsigned magnitude(int exponent) { return (unsigned) (127 + exponent) << 24; }
INL void widen(Range& range, V x) {
  const Words twice = (Words) x + (Words) x, low = twice - 1;
  range.low = low < range.low ? low : range.low;
  range.high = twice > range.high ? twice : range.high;
}
INL int flags_of(const Range& range) {
  unsigned low = ~0u, high = 0;
  for (int i = 0; i < VL; i++) low = range.low[i] < low ? range.low[i] : low, high = range.high[i] > high ? range.high[i] : high;
  return (low < magnitude(-50) ? TINY : 0) | (high >= magnitude(60) ? WILD : 0);
}

// Writes a row of a step's tiles: elements of x in the lower, of y in the upper half of each word. Parts are rounded to
// nearest, which leaves eight bits for the last one.
INL void split_row(V x, V y, T* to) {
  UNROLL for (int part = 0; part < PARTS; part++) {
    const Words a = ((Words) x + 0x8000) & 0xffff0000, b = ((Words) y + 0x8000) & 0xffff0000;
    st(to + part * PART, (V) ((a >> 16) | b));
    x -= (V) a; y -= (V) b;
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
// Packs a panel of 'count' rows of A, or columns of B, cs apart, by k elements, ks apart; returns its flags. Element k of a
// step shares a word with element k + 16.
template <bool A> OUTL int split_panel(const T* s, L cs, L ks, L count, L k, T* d) {
  Range range = no_range();
  for (L from = 0; from < k; from += STEP_K, s += STEP_K * ks, d += SPLIT_STEP) {
    V x[SIDE], y[SIDE];
    const L first = least(SIDE, k - from), second = most(0, least(SIDE, k - from - SIDE));
    if (A) load_square(s, cs, ks, count, first, x), load_square(s + SIDE * ks, cs, ks, count, second, y);
    else load_square(s, ks, cs, first, count, x), load_square(s + SIDE * ks, ks, cs, second, count, y);
    // Rows of the next step, which are too far apart for the processor to see a stream
    for (int half = 0; half < STEP_K; half += SIDE) for (int i = 0; i < SIDE; i++)
      __builtin_prefetch(s + (STEP_K + half) * ks + i * (A ? cs : ks));
    for (int i = 0; i < SIDE; i++) widen(range, x[i]), widen(range, y[i]), split_row(x[i], y[i], d + i * SIDE);
  }
  return flags_of(range);
}

// c[a_panels*16][32] = a · b for up to two panels of each, 'between' elements apart.
template <int a_panels, int b_panels> OUTL void split_tile(L steps, const T* a, const T* b, L between, T* c) {
  CLEAR_TILE(0); CLEAR_TILE(1); CLEAR_TILE(2); CLEAR_TILE(3);
  #define LOAD_A(part) { LOAD_TILE(4, a + at + part * PART); if (a_panels > 1) LOAD_TILE(5, a + at + between + part * PART); }
  #define LOAD_B(part) { LOAD_TILE(6, b + at + part * PART); if (b_panels > 1) LOAD_TILE(7, b + at + between + part * PART); }
  #define MULTIPLY { \
    MULTIPLY_TILES(0, 4, 6); \
    if (b_panels > 1) MULTIPLY_TILES(1, 4, 7); \
    if (a_panels > 1) MULTIPLY_TILES(2, 5, 6); \
    if (a_panels > 1 && b_panels > 1) MULTIPLY_TILES(3, 5, 7); \
  }
  // The small terms first
  for (L at = 0; at < steps * SPLIT_STEP; at += SPLIT_STEP) {
    LOAD_A(0) LOAD_B(2) MULTIPLY LOAD_B(1) MULTIPLY LOAD_A(1) MULTIPLY LOAD_B(0) MULTIPLY LOAD_A(2) MULTIPLY
  }
  for (L at = 0; at < steps * SPLIT_STEP; at += SPLIT_STEP) { LOAD_A(0) LOAD_B(0) MULTIPLY }
  #undef LOAD_A
  #undef LOAD_B
  #undef MULTIPLY
  enum { ROW = 2 * SIDE };
  STORE_TILE(0, c, ROW * sizeof(T));
  if (b_panels > 1) STORE_TILE(1, c + SIDE, ROW * sizeof(T));
  if (a_panels > 1) STORE_TILE(2, c + SIDE * ROW, ROW * sizeof(T));
  if (a_panels > 1 && b_panels > 1) STORE_TILE(3, c + SIDE * ROW + SIDE, ROW * sizeof(T));
}
// Whether results of operands with these flags may be wrong. Where every product of a result is below 2⁻¹⁰⁰, terms that
// count are among those read as zero; else only terms that do not.
INL bool are_lost(int flags, const T* c, L rows, L cols) {
  if (flags & WILD) return true;
  if (!(flags & TINY)) return false;
  unsigned low = ~0u;
  for (L i = 0; i < rows; i++) for (L j = 0; j < cols; j += VL) {
    const Words twice = (Words) ld(c + i * 2 * SIDE + j) * 2;
    for (int l = 0; l < VL && j + l < cols; l++) low = twice[l] < low ? twice[l] : low;
  }
  return low < magnitude(-80);
}
#endif
`;
