/**
 * Convolutions with one input channel a group, and gradients of depthwise filters, whose square window of taps slides
 * down a vector of columns: each row of the image is read once for all rows of results that it reaches, which are so
 * many accumulators. C++ text, part of the unit of conv.ts, used by conv_few.ts. Invariant: rows are read as tables of
 * conv_few.ts name them, so nothing outside the images' memory is read.
 */
export const CONV_SLIDING: string = String.raw`
// The elements of row s that columns of taps read, of every 'step'-th one; those outside the image are zero.
template <int n, int step, bool masked> INL void tap_columns(const T* s, const Bits* inside, V* in) {
  if (step == 1) UNROLL for (int k = 0; k < n; k++) in[k] = ld(s + k);
  else {
    V first = ld(s), second = ld(s + VL);
    PIN(first); PIN(second);
    in[0] = SHUFFLED(first, second, EVENS);
    if (n > 1) in[1] = SHUFFLED(first, second, ODDS);
    UNROLL for (int k = 2; k < n; k++) in[k] = SHUFFLED(in[k - 2], s[2 * VL + k - 2] - (V){}, NEXT);
  }
  if (masked) UNROLL for (int k = 0; k < n; k++) in[k] = (V) ((Bits) in[k] & inside[k]);
  UNROLL for (int k = 0; k < n; k++) PIN(in[k]);
}
// A vector of columns of 'rows' rows of results, 'length' apart: bias + sum over n by n taps of weight * image. The rows of
// the image are those of the first phase of the stride, then of the second one, 'phase' further on in the table. Rows of
// a column are too far apart for the processor to see a stream: the image and results of the next channel, from 'next' and
// 'next_out' on, are prefetched in the order of memory.
template <int n, int step, bool masked>
OUTL void slide(const T* const* row, const T* zeros, L phase, L at, const T* masks, const T* weight, T bias, T* out, L length, L rows, const T* next, T* next_out) {
  enum { OPEN = (n + step - 1) / step };   // results that a row of the first phase reaches
  V w[n * n], acc[OPEN], in[n];
  Bits inside[n];
  UNROLL for (int k = 0; k < n * n; k++) { w[k] = weight[k] - (V){}; if (n == 3 && VECTOR_REGISTERS >= 32) PIN(w[k]); }
  UNROLL for (int k = 0; k < n; k++) inside[k] = masked ? (Bits) ld(masks + k * VL) : (Bits) {};
  UNROLL for (int d = 0; d < OPEN; d++) acc[d] = (V){};
  for (L y = 1 - OPEN;; y++, row++) {
    // acc[d]: the result d rows above the one that this row reaches first
    UNROLL for (int d = OPEN - 1; d > 0; d--) acc[d] = acc[d - 1];
    acc[0] = bias - (V){};
    __builtin_prefetch(next_out, 1);
    next_out += VL;
    UNROLL for (int k = 0; k < step * step; k++) __builtin_prefetch(next + k * VL);
    next += step * step * VL;
    if (row[0] != zeros) {
      tap_columns<n, step, masked>(row[0] + at, inside, in);
      UNROLL for (int k = 0; k < n; k++) UNROLL for (int d = 0; d < OPEN; d++) acc[d] += w[d * step * n + k] * in[k];
    }
    if (y >= 0) st(out + y * length, acc[OPEN - 1]);
    if (y == rows - 1) return;
    if (step == 1 || row[phase] == zeros) continue;
    tap_columns<n, step, masked>(row[phase] + at, inside, in);
    UNROLL for (int k = 0; k < n; k++) UNROLL for (int d = 0; d < OPEN - 1; d++) acc[d] += w[(d * step + 1) * n + k] * in[k];
  }
}
typedef void (*Slide)(const T* const* row, const T* zeros, L phase, L at, const T* masks, const T* weight, T bias, T* out, L length, L rows, const T* next, T* next_out);
// The function for windows of n by n taps with this stride.
INL Slide slide_of(L n, L step, bool masked) {
  #define SLIDE(n, step) masked ? slide<n, step, true> : slide<n, step, false>
  return n == 3 ? step == 1 ? SLIDE(3, 1) : SLIDE(3, 2) : step == 1 ? SLIDE(5, 1) : SLIDE(5, 2);
  #undef SLIDE
}
enum { MOST_SLIDING = 5 };   // taps of a side
// Whether the window slides, if the image is read in place.
INL bool slides(const Conv& p) {
  return p.cg == 1 && p.r == p.s && (p.r == 3 || p.r == MOST_SLIDING) && p.sh == p.sw && p.sw <= 2 && p.dh == 1 && p.dw == 1;
}
// Adds to n*n vectors of sums the products of each tap's pixels with the gradient of a vector of columns of results, whose
// 'rows' rows are 'length' apart; lanes that are not counted are those of another vector, too. Nothing is multiplied with
// rows outside the results or the image.
template <int n, int step, bool masked>
OUTL void slide_gradient(const T* const* row, const T* zeros, L phase, L at, const T* masks, Bits counted, const T* gradient, L length, L rows, T* sums, const T* next, const T* next_gradient) {
  enum { OPEN = (n + step - 1) / step };
  V acc[n * n], given[OPEN], in[n];
  Bits inside[n];
  UNROLL for (int k = 0; k < n * n; k++) acc[k] = ld(sums + k * VL);
  UNROLL for (int k = 0; k < n; k++) inside[k] = masked ? (Bits) ld(masks + k * VL) : (Bits) {};
  UNROLL for (int d = 0; d < OPEN; d++) given[d] = (V){};
  for (L y = 0; y < rows + OPEN - 1; y++, row++) {
    UNROLL for (int d = OPEN - 1; d > 0; d--) given[d] = given[d - 1];
    if (y < rows) given[0] = (V) ((Bits) ld(gradient + y * length) & counted);
    __builtin_prefetch(next_gradient);
    next_gradient += VL;
    UNROLL for (int k = 0; k < step * step; k++) __builtin_prefetch(next + k * VL);
    next += step * step * VL;
    UNROLL for (int f = 0; f < step; f++) {
      if (row[f * phase] == zeros) continue;
      tap_columns<n, step, masked>(row[f * phase] + at, inside, in);
      UNROLL for (int d = 0; d * step + f < n; d++) if (y >= d && y - d < rows)
        UNROLL for (int k = 0; k < n; k++) acc[(d * step + f) * n + k] += given[d] * in[k];
    }
  }
  UNROLL for (int k = 0; k < n * n; k++) st(sums + k * VL, acc[k]);
}
typedef void (*SlideGradient)(const T* const* row, const T* zeros, L phase, L at, const T* masks, Bits counted, const T* gradient, L length, L rows, T* sums, const T* next, const T* next_gradient);
// The function for windows of n by n taps with this stride.
INL SlideGradient slide_gradient_of(L n, L step, bool masked) {
  #define SLIDE(n, step) masked ? slide_gradient<n, step, true> : slide_gradient<n, step, false>
  return n == 3 ? step == 1 ? SLIDE(3, 1) : SLIDE(3, 2) : step == 1 ? SLIDE(5, 1) : SLIDE(5, 2);
  #undef SLIDE
}
`;
