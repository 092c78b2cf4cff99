/**
 * Lane orders of two vectors: every second lane (EVENS, ODDS), interleaved lanes (ZIP_LOW, ZIP_HIGH), those from the
 * second one on (NEXT). C++ text, used as SHUFFLED(a, b, ORDER).
 */
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
