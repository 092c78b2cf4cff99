/** The beginning of every C++ unit: functions over scalars and indices, and the call of a kernel by a team. */

/** Estimated work from which on waking a team pays. */
export const TEAM_WORK = 400000;

/** Text before all declarations of a unit. */
export const PRELUDE = String.raw`#define INL static inline __attribute__((always_inline))
#define OUTL static __attribute__((noinline))
#define UNROLL _Pragma("GCC unroll 64")
#if defined(__clang__)
#define KEEP_LOOP
#else
#define KEEP_LOOP _Pragma("GCC unroll 1")
#endif
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
typedef void (*Kernel)(void* const* a, const long* s, long t, long nt);
// by bits, because the compiler folds x != x into selections that then do not vectorise
INL bool is_nan(float x) { int b; __builtin_memcpy(&b, &x, 4); return (b & 0x7fffffff) > 0x7f800000; }
INL bool is_nan(double x) { long b; __builtin_memcpy(&b, &x, 8); return (b & 0x7fffffffffffffffL) > 0x7ff0000000000000L; }
// compared first, because the compiler folds conversions of constants out of range to other values than the machine
INL long to_long(float x) { return __builtin_fabsf(x) < 0x1p63f ? (long) x : (long) (1UL << 63); }
INL long to_long(double x) { return __builtin_fabs(x) < 0x1p63 ? (long) x : (long) (1UL << 63); }
INL int mul_high(int a, int b) { return (int) ((unsigned long) (unsigned) a * (unsigned) b >> 32); }
INL int float_bits(float x) { int r; __builtin_memcpy(&r, &x, 4); return r; }
INL long float_bits(double x) { long r; __builtin_memcpy(&r, &x, 8); return r; }
INL float bits_float(int x) { float r; __builtin_memcpy(&r, &x, 4); return r; }
INL double bits_float(long x) { double r; __builtin_memcpy(&r, &x, 8); return r; }
// selections without branches: the compiler would move calls into them, which it then does not vectorise
INL int pick(bool c, int a, int b) { const int m = -(int) c; return (a & m) | (b & ~m); }
INL long pick(bool c, long a, long b) { const long m = -(long) c; return (a & m) | (b & ~m); }
INL bool pick(bool c, bool a, bool b) { return (c & a) | (!c & b); }
INL float pick(bool c, float a, float b) { return bits_float(pick(c, float_bits(a), float_bits(b))); }
INL double pick(bool c, double a, double b) { return bits_float(pick(c, float_bits(a), float_bits(b))); }
// extremes without branches, for the last elements of rows too: NaN if either is, the first of equal operands
template <class T> INL T least(T a, T b) { const T m = b < a ? b : a; return pick(is_nan(b), b, m); }
template <class T> INL T greatest(T a, T b) { const T m = b > a ? b : a; return pick(is_nan(b), b, m); }
// division by zero gives zero; the least integer divided by -1 wraps; shifts beyond the width leave the sign
template <class T> INL T trunc_div(T a, T b) {
  const T d = b == (T) 0 ? (T) 1 : b;
  return b == (T) 0 ? (T) 0 : (T) -1 < 0 && d == (T) -1 ? (T) (0 - (unsigned long) a) : (T) (a / d);
}
template <class T> INL T shl(T a, T b) { const int w = 8 * sizeof(T); return b >= 0 && b < w ? (T) ((unsigned long) a << (b & (w - 1))) : (T) 0; }
template <class T> INL T shr(T a, T b) { const int w = 8 * sizeof(T); return b >= 0 && b < w ? (T) (a >> (b & (w - 1))) : (T) (a < 0 ? -1 : 0); }
INL long index_div(long a, long b) { const long q = a / b, r = a % b; return r != 0 && (r < 0) != (b < 0) ? q - 1 : q; }
INL long index_min(long a, long b) { return a < b ? a : b; }
INL long index_max(long a, long b) { return a > b ? a : b; }
INL long index_mod(long a, long b) { const long r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
#ifdef _OPENMP
extern "C" int omp_get_thread_num();
extern "C" int omp_get_num_threads();
extern "C" double omp_get_wtime();
OUTL double seconds() { return omp_get_wtime(); }
#else
// of the only thread
extern "C" long clock();
OUTL double seconds() { return (double) clock() / 1e6; }
#endif
// Runs a kernel on a team if the work pays for waking it.
OUTL void run(Kernel k, void* const* a, const long* s, long threads, double work) {
#ifdef _OPENMP
  if (threads > 1 && work > ${TEAM_WORK}.0) {
    #pragma omp parallel num_threads(threads)
    k(a, s, omp_get_thread_num(), omp_get_num_threads());
    return;
  }
#endif
  k(a, s, 0, 1);
}
`;
