/**
 * The prelude of every generated or library source: fixed names for widths and vectors, no #include. Invariant: widths
 * come from the compiler's macros, so the text is the same on all machines. Lane orders of two vectors take every
 * second lane (EVENS, ODDS), interleave lanes (ZIP_LOW, ZIP_HIGH), or begin with the second one (NEXT).
 */

/** Types, vector width, register count and helper macros; needs `REAL` (float or double) for `T` and `V`. */
export const VECTOR_PRELUDE: string = String.raw`
typedef long L;
typedef unsigned long UL;
typedef REAL T;
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, VECTOR_REGISTERS = 32 };
#define VECTOR_CONSTRAINT "v"
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32, VECTOR_REGISTERS = 16 };
#define VECTOR_CONSTRAINT "x"
#elif defined(__aarch64__)
enum { VECTOR_BYTES = 16, VECTOR_REGISTERS = 32 };
#define VECTOR_CONSTRAINT "w"
#elif defined(__SSE2__)
enum { VECTOR_BYTES = 16, VECTOR_REGISTERS = 16 };
#define VECTOR_CONSTRAINT "x"
#else
enum { VECTOR_BYTES = 16, VECTOR_REGISTERS = 16 };
#endif
enum { VL = VECTOR_BYTES / (int) sizeof(T), LOG_VL = VL == 16 ? 4 : VL == 8 ? 3 : VL == 4 ? 2 : 1 };
typedef T V __attribute__((vector_size(VECTOR_BYTES)));
typedef T VU __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
#define INL static inline __attribute__((always_inline))
#define OUTL static __attribute__((noinline))
#define EXPORT extern "C" __attribute__((visibility("default")))
// constant trip count and this: arrays become registers
#define UNROLL _Pragma("GCC unroll 64")
#define NO_UNROLL _Pragma("GCC unroll 1")
// keeps a loaded vector in a register; GCC otherwise folds the load into every use
#ifdef VECTOR_CONSTRAINT
#define PIN(x) asm("" : "+" VECTOR_CONSTRAINT(x))
#else
#define PIN(x)
#endif
#ifdef _OPENMP
extern "C" int omp_get_thread_num();
extern "C" int omp_get_num_threads();
#else
INL int omp_get_thread_num() { return 0; }
INL int omp_get_num_threads() { return 1; }
#endif
extern "C" void* aligned_alloc(UL, UL);
extern "C" void free(void*);
INL V ld(const T* p) { return *(const VU*) p; }
INL void st(T* p, V v) { *(VU*) p = v; }
// Rows that do not overlap; the last vector may overlap the one before it.
INL void copy_row(T* to, const T* from, L n) {
  L x = 0;
  for (; x + VL <= n; x += VL) st(to + x, ld(from + x));
  if (x < n && n >= VL) st(to + n - VL, ld(from + n - VL));
  else for (; x < n; x++) to[x] = from[x];
}
INL void fill_row(T* to, T value, L n) {
  const V v = value - (V){};
  L x = 0;
  for (; x + VL <= n; x += VL) st(to + x, v);
  for (; x < n; x++) to[x] = value;
}
// Rows that are asked for ahead of use where they lie too far apart for the processor to see a stream.
enum { ROWS_AHEAD = 16 };
INL void prefetch_row_to_write(const T* row, L n) { for (L x = 0; x < n; x += 64 / (L) sizeof(T)) __builtin_prefetch(row + x, 1); }
INL L least(L a, L b) { return a < b ? a : b; }
INL L most(L a, L b) { return a > b ? a : b; }

// Called for each finished part of a result: rows [m0, m1), columns [n0, n1) of matrix b.
typedef void (*Epilogue)(void* context, L b, L m0, L m1, L n0, L n1);

// Scratch memory of the calling thread, at least this many bytes, reused between calls. Three slots: a routine, its
// tables, and data shared by its threads.
struct Scratch { char* memory; UL bytes; };
static __thread Scratch scratch_slots[3];
INL T* scratch(int slot, UL bytes) {
  Scratch& s = scratch_slots[slot];
  if (s.bytes < bytes) {
    free(s.memory);
    s.bytes = (bytes + 65535) & ~65535UL;
    s.memory = (char*) aligned_alloc(4096, s.bytes);
  }
  return (T*) s.memory;
}
`;

export const LANE_ORDERS: string = String.raw`
#if defined(__AVX512F__) && defined(SINGLE)
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define NEXT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define ZIP_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif defined(__AVX512F__) || (defined(__AVX__) && defined(SINGLE))
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14
#define NEXT 1, 2, 3, 4, 5, 6, 7, 8
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15
#define ZIP_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#elif defined(__AVX__) || defined(SINGLE)
#define EVENS 0, 2, 4, 6
#define NEXT 1, 2, 3, 4
#define ODDS 1, 3, 5, 7
#define ZIP_LOW 0, 4, 1, 5
#define ZIP_HIGH 2, 6, 3, 7
#else
#define EVENS 0, 2
#define NEXT 1, 2
#define ODDS 1, 3
#define ZIP_LOW 0, 2
#define ZIP_HIGH 1, 3
#endif
#ifdef SINGLE
typedef int Bits __attribute__((vector_size(VECTOR_BYTES)));
#else
typedef long Bits __attribute__((vector_size(VECTOR_BYTES)));
#endif
#ifdef __clang__
#define SHUFFLED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLED(a, b, ...) __builtin_shuffle(a, b, (Bits) {__VA_ARGS__})
#endif
// Transposes VL vectors of VL lanes: each round interleaves the halves.
INL void transpose_lanes(V* a) {
  UNROLL for (int s = 0; s < LOG_VL; s++) {
    V b[VL];
    UNROLL for (int i = 0; i < VL / 2; i++) {
      b[2 * i] = SHUFFLED(a[i], a[i + VL / 2], ZIP_LOW);
      b[2 * i + 1] = SHUFFLED(a[i], a[i + VL / 2], ZIP_HIGH);
    }
    UNROLL for (int i = 0; i < VL; i++) a[i] = b[i];
  }
}
`;
