/**
 * Convolutions with very few channels in a group, where the register tiles of a matrix product would be mostly empty:
 * depthwise ones, and gradients with respect to images of few channels. C++ text, part of the unit of conv.ts.
 * Invariant: vectors run along rows of results, several of which share their reads of the image. It is read in place,
 * every element or every second one, with zeros for padding; nothing outside the images' memory is read. A square
 * window over a single channel slides down a vector of columns: each row of the image is read once for all rows of
 * results that it reaches, which are so many accumulators.
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

export const CONV_FEW: string = String.raw`
// Whether rows of the image are read where they are.
INL bool reads_in_place(const Conv& p) { return p.ss[3] == 1 && p.sw <= 2 && p.ss[0] >= 0 && p.ss[1] >= 0 && p.ss[2] >= 0; }
// Maximum number of output channels per group that leave register tiles mostly empty, and of those that do with few
// input channels.
enum { FEW = 3, FEW_SUMMED = 16 };
INL bool few_pay(const Conv& p) { return p.kg <= FEW || (p.kg < MR && p.cg <= FEW_SUMMED) || (slides(p) && reads_in_place(p) && p.ow >= VL && p.rs[3] == 1); }

// A run of vertically adjacent taps, whose rows are consecutive in a table: the first row, its element for the first
// column of results, and the first weight. Elements outside the image are masked by the tap's column. If every second
// element of rows is read, several columns of taps use the same vectors.
struct Run { int row, at, weight, column; };
// Numbers of taps of runs, of columns if several, and of rows of results that are computed together.
enum { LENGTHS = VECTOR_REGISTERS >= 32 ? 4 : 3, WIDE = VECTOR_REGISTERS >= 32 ? 3 : 2, TALL = 8 };
static const L LENGTH[] = {1, 2, 3, 7};
// The number of runs of each length, with one column and with several; the distance of the weights of a run; and the
// row for elements outside the image.
struct Runs { L count[LENGTHS], wide[LENGTHS], step; const T* zeros; };

// Adds a run of n taps to 'rows' rows of results, which share the rows of the image that they read, of which every
// 'step'-th element.
template <int rows, int n, int width, int step, bool masked>
INL void add_run(V* acc, const T* const* row, const T* zeros, L at, const T* mask, const T* weight, L weight_step) {
  V w[n][width];
  UNROLL for (int i = 0; i < n; i++) UNROLL for (int k = 0; k < width; k++) {
    w[i][k] = weight[i * weight_step + k] - (V){};
    PIN(w[i][k]);
  }
  Bits inside[width];
  UNROLL for (int k = 0; k < width; k++) inside[k] = (masked ? (Bits) ld(mask + k * VL) : (Bits) {}) != (Bits) {};
  UNROLL for (int y = 0; y < rows + n - 1; y++) {
    if ((y < n - 1 || y >= rows) && row[y] == zeros) continue;
    const T* s = row[y] + at;
    V first = ld(s), in[3] = {first};
    if (step == 2) {
      V second = ld(s + VL);
      PIN(first); PIN(second);
      in[0] = SHUFFLED(first, second, EVENS);
      if (width > 1) in[1] = SHUFFLED(first, second, ODDS);
      if (width > 2) in[2] = SHUFFLED(in[0], s[2 * VL] - (V){}, NEXT);
    }
    UNROLL for (int k = 0; k < width; k++) {
      if (masked) in[k] = (V) ((Bits) in[k] & inside[k]);
      if (n > 1) PIN(in[k]);
      UNROLL for (int i = 0; i < n; i++) if (y >= i && y - i < rows) acc[y - i] += w[i][k] * in[k];
    }
  }
}
// A vector of columns of 'rows' rows: bias + sum over taps of weight * image.
template <int rows, int step, bool masked>
OUTL void column_of_runs(const T* const* row, L x, const T* masks, const Run* run, const Runs& runs, const T* weight, T bias, T* out, L length) {
  V acc[rows];
  UNROLL for (int j = 0; j < rows; j++) { acc[j] = bias - (V){}; __builtin_prefetch(out + j * length, 1); }
  #define RUNS(n, width, count) \
    NO_UNROLL for (L k = 0; k < runs.count; k++, run++) \
      add_run<rows, n, width, step, masked>(acc, row + run->row, runs.zeros, x * step + run->at, masks + run->column * VL, weight + run->weight, runs.step);
  #define WIDTHS(n, at) if (step == 2) RUNS(n, WIDE, wide[at]) RUNS(n, 1, count[at])
  if (LENGTHS == 4 && step == 1) RUNS(7, 1, count[3])
  WIDTHS(3, 2) WIDTHS(2, 1) WIDTHS(1, 0)
  #undef WIDTHS
  #undef RUNS
  UNROLL for (int j = 0; j < rows; j++) st(out + j * length, acc[j]);
}
// The number of rows to compute together, so that few are computed twice; a single row would wait for its sums.
INL L rows_at_once(L rows) {
  const L sizes[] = {TALL, TALL - 1, TALL / 2};
  L best = 1, least_made = 4 * rows;
  for (L n : sizes) {
    const L made = (rows + n - 1) / n * n;
    if (n <= rows && made < least_made) best = n, least_made = made;
  }
  return best;
}

// How the rows of an image are read: every 'step'-th element in place, or from copies with the columns of each phase of
// the stride adjacent.
struct RowReading {
  bool in_place, slides;     // and, if the window slides, all of them at once
  L step, phases, columns;   // of a copy: phases of so many columns
  L rows;                    // that one phase of rows needs for so many rows of results
  L before, behind;          // elements in front of the first column and from it on that are read of a row
  const T *start, *end;      // of all images
};
INL RowReading reading_of(const Conv& p, L out_rows) {
  RowReading q;
  q.in_place = reads_in_place(p);
  q.slides = q.in_place && slides(p);
  q.step = q.in_place ? p.sw : 1;
  q.phases = q.in_place ? 1 : p.sw;
  q.columns = q.step * most(p.ow, VL) + (p.s - 1) * p.dw / q.phases + VL;
  q.rows = out_rows + (p.r - 1) * p.dh / p.sh;
  q.before = p.pw;
  q.behind = q.step * most(p.ow, VL) + (p.s - 1) * p.dw - p.pw;
  q.start = p.source; q.end = end_of(p);
  return q;
}
// The number of the longest run of at most this many taps; runs of several columns are not long.
INL L longest_run(const RowReading& q, L taps) {
  L k = LENGTH[LENGTHS - 1] > 3 && q.step == 2 ? LENGTHS - 2 : LENGTHS - 1;
  while (LENGTH[k] > taps) k--;
  return k;
}
static Runs runs_of(const Conv& p, const RowReading& q, Run* run) {
  // Taps at this distance read adjacent rows; otherwise each tap is a run of its own
  const L step = p.sh % p.dh ? p.r : p.sh / p.dh, wide = q.step == 2 && p.dw == 1 ? p.s / WIDE * WIDE : 0;
  Runs runs = {};
  runs.step = step * p.s;
  for (L length = LENGTHS; length--;) for (L width = wide ? WIDE : 1; width; width = width > 1 ? 1 : 0) {
    const Run* first = run;
    for (L c = 0; c < p.cg; c++) for (L y0 = 0; y0 < least(step, p.r); y0++) for (L y = y0, n; y < p.r; y += LENGTH[n] * step) {
      if ((n = longest_run(q, (p.r - y + step - 1) / step)) != length) continue;
      const L oy = y * p.dh, row = (c * p.sh + oy % p.sh) * q.rows + oy / p.sh;
      for (L x = width > 1 ? 0 : wide; x < (width > 1 ? wide : p.s); x += width) {
        const L ox = x * p.dw;
        *run++ = {(int) row, (int) (q.in_place ? ox - p.pw : ox % p.sw * q.columns + ox / p.sw), (int) ((c * p.r + y) * p.s + x), (int) x};
      }
    }
    (width > 1 ? runs.wide : runs.count)[length] = run - first;
  }
  return runs;
}
// Computes, for the columns of results from x on and each column of taps, the lanes that read the image. Returns
// whether some do not.
INL bool masks_of(const Conv& p, L x, T* masks) {
  bool some = false;
  for (L k = 0; k < p.s; k++) {
    // the lanes from the first to the last one inside the image
    const L at = x * p.sw + k * p.dw - p.pw, first = most(0, ceil_div(-at, p.sw)), behind = most(first, ceil_div(p.w - at, p.sw));
    const Bits inside = lanes_from(least(first, VL)) & ~lanes_from(least(behind, VL));
    st(masks + k * VL, (V) inside);
    some = some || first > 0 || behind < least(VL, p.ow - x);
  }
  return some;
}
// A copy of a row with zeros around it.
OUTL void copied_row(const Conv& p, const RowReading& q, const T* row, T* d) {
  for (L f = 0; f < q.phases; f++) for (L i = 0; i < q.columns; i++) {
    const L x = i * q.phases + f - p.pw;
    *d++ = x >= 0 && x < p.w ? row[x * p.ss[3]] : (T) 0;
  }
}
// The rows of group g of image i that 'rows' output rows from y0 on read: in place, if reads around them stay in the
// memory of images, or copied.
INL void rows_of(const Conv& p, const RowReading& q, L i, L g, L y0, L rows, const T* zeros, T* copies, const T** table) {
  const L count = rows + (p.r - 1) * p.dh / p.sh, step = p.sh * p.ss[2];
  for (L c = 0; c < p.cg; c++) for (L f = 0; f < p.sh; f++) {
    const L at = y0 * p.sh + f - p.ph;
    const L first = least(count, most(0, ceil_div(-at, p.sh))), behind = most(first, least(count, ceil_div(p.h - at, p.sh)));
    const T **row = table + (c * p.sh + f) * q.rows, *from = p.source + i * p.ss[0] + (g * p.cg + c) * p.ss[1] + (p.spaced ? 0 : at * p.ss[2]);
    for (L y = 0; y < first; y++) row[y] = zeros;
    for (L y = first; y < behind; y++) row[y] = from + y * step;
    for (L y = behind; y < count; y++) row[y] = zeros;
    const auto copy = [&](L y) {
      copied_row(p, q, row[y], copies);
      row[y] = copies + (q.in_place ? p.pw : 0);
      copies += q.phases * q.columns;
    };
    if (p.spaced) {
      for (L y = first; y < behind; y++) {
        row[y] = zeros;
        if ((at + y) % 2) continue;
        fill_row(copies, 0, p.pw);
        fill_row(copies + p.pw + p.w, 0, q.columns - p.pw - p.w);
        spread_row(copies + p.pw, p.w, 0, from + (at + y) / 2 * p.ss[2], (p.w + 1) / 2);
        row[y] = copies + p.pw;
        copies += q.columns;
      }
      continue;
    }
    L lo = first, hi = behind;
    for (; lo < hi && (!q.in_place || row[lo] - q.start < q.before); lo++) copy(lo);
    for (; lo < hi && q.end - row[hi - 1] < q.behind; hi--) copy(hi - 1);
  }
}

// The tables of a thread: runs of taps; masks of each vector of columns, and whether it needs them; rows of zeros and
// copies of rows; rows of the image.
struct FewTables { Run* run; Runs runs; T* masks; bool* masked; T *zeros, *copies, *lanes; const T** row; };
INL FewTables tables_of(const Conv& p, const RowReading& q) {
  const L taps = p.cg * p.r * p.s, vectors = (p.ow + VL - 1) / VL, rows = p.cg * p.sh * q.rows, front = most(q.before, 0);
  const L row = front + most(q.behind, 0) + q.phases * q.columns + VL;
  FewTables s;
  s.masks = scratch(1, vectors * p.s * VL * sizeof(T) + rows * sizeof(T*) + taps * sizeof(Run) + vectors);
  s.row = (const T**) (s.masks + vectors * p.s * VL);
  s.run = (Run*) (s.row + rows);
  s.masked = (bool*) (s.run + taps);
  s.runs = runs_of(p, q, s.run);
  for (L v = 0; v < vectors; v++)
    s.masked[v] = masks_of(p, p.ow >= VL ? least(v * VL, p.ow - VL) : 0, s.masks + v * p.s * VL) && q.in_place;
  s.zeros = scratch(0, (row + q.rows * VL + rows * q.phases * q.columns) * sizeof(T));
  s.lanes = s.zeros + row;
  s.copies = s.lanes + q.rows * VL;
  fill_row(s.zeros, 0, row);
  s.zeros += front;
  s.runs.zeros = s.zeros;
  return s;
}

INL void column_of_rows(L rows, const RowReading& q, const FewTables& s, const T* const* row, L v, L x, L taps, const T* weight, T bias, T* out, L length) {
  const T* masks = s.masks + v * taps * VL;
  #define COLUMN(n, step, masked) column_of_runs<n, step, masked>(row, x, masks, s.run, s.runs, weight, bias, out, length)
  #define STEPS(n, masked) if (q.step == 2) COLUMN(n, 2, masked); else COLUMN(n, 1, masked)
  #define ROWS(n) if (s.masked[v]) { STEPS(n, true); } else { STEPS(n, false); }
  if (rows == TALL) { ROWS(TALL) }
  else if (rows == TALL - 1) { ROWS(TALL - 1) }
  else if (rows == TALL / 2) { ROWS(TALL / 2) }
  else { ROWS(1) }
  #undef ROWS
  #undef STEPS
  #undef COLUMN
}
// Computes output rows [y, y + rows) of output channel m of image i, from these rows of the image. Vectors longer than
// a row may be stored before 'room', as later results overwrite the excess.
INL void few_rows(const Conv& p, const RowReading& q, const FewTables& s, const T* const* row, L i, L m, L y, L rows, const T* room) {
  const T* weight = p.weight + m * p.cg * p.r * p.s;
  const T bias = p.bias ? p.bias[m * p.bias_stride] : (T) 0;
  T* channel = p.result + i * p.rs[0] + m * p.rs[1];
  const T* image = p.source + i * p.ss[0] + m / p.kg * p.ss[1];
  for (L v = 0; v * VL < p.ow; v++) {
    // The last columns may be computed twice
    const L x = p.ow >= VL ? least(v * VL, p.ow - VL) : 0, pixels = v * rows * VL;
    T* out = channel + y * p.rs[2] + x * p.rs[3];
    const auto column = [&](T* to, L length) __attribute__((always_inline)) {
      if (!q.slides) return column_of_rows(rows, q, s, row, v, x, p.s, weight, bias, to, length);
      const T* next = image + p.ss[1] + y * p.sh * p.ss[2] + pixels * p.sh * p.sw;
      slide_of(p.r, p.sw, s.masked[v])(row, s.zeros, q.rows, x * p.sw - p.pw, s.masks + v * p.s * VL, weight, bias, to, length, rows, next, channel + p.rs[1] + y * p.rs[2] + pixels);
    };
    if (p.rs[3] == 1 && (p.ow >= VL || out + (rows - 1) * p.rs[2] + VL <= room)) {
      column(out, p.rs[2]);
      continue;
    }
    T* lanes = s.lanes;
    column(lanes, VL);
    for (L j = 0; j < rows; j++, out += p.rs[2]) {
      if (p.rs[3] == 1 && out + VL <= room) st(out, ld(lanes + j * VL));
      else if (p.ow >= VL) UNROLL for (int l = 0; l < VL; l++) out[l * p.rs[3]] = lanes[j * VL + l];
      else for (L l = 0; l < p.ow; l++) out[l * p.rs[3]] = lanes[j * VL + l];
    }
  }
}

// Results that a near cache holds until the epilogue has seen them; a sliding window reads rows anew for each part.
enum { PART_BYTES = 16384, SLIDING_BYTES = 65536 };
static void convolve_few(const Conv& p, L threads) {
  const L part = slides(p) ? SLIDING_BYTES : PART_BYTES, units = p.n * p.groups, bytes = p.oh * p.ow * p.kg * (L) sizeof(T);
  const L parts = least((p.oh + TALL - 2) / (TALL - 1), most((bytes + part - 1) / part, (4 * threads + units - 1) / units));
  const L rows = (p.oh + parts - 1) / parts, per_image = (p.oh + rows - 1) / rows;
  const RowReading q = reading_of(p, rows);
  // Whether results of consecutive units are adjacent in memory
  const bool runs_on = p.kg == 1 && p.rs[2] == p.ow && p.rs[1] == p.oh * p.ow && p.rs[0] == p.groups * p.rs[1];
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads(), total = units * per_image, end = total * (t + 1) / nt;
    const FewTables s = tables_of(p, q);
    // The end of these units' results, if they are adjacent
    const T* behind = p.result + (end / per_image * p.oh + end % per_image * rows) * p.ow;
    for (L w = total * t / nt; w < end; w++) {
      const L y0 = w % per_image * rows, y1 = least(p.oh, y0 + rows), g = w / per_image % p.groups, i = w / per_image / p.groups;
      const L at_once = q.slides ? y1 - y0 : rows_at_once(y1 - y0);
      rows_of(p, q, i, g, y0, y1 - y0, s.zeros, s.copies, s.row);
      for (L next = y0; next < y1; next += at_once) {
        // The last rows may be computed twice
        const L y = least(next, y1 - at_once);
        for (L m = g * p.kg; m < (g + 1) * p.kg; m++) {
          const T* channel = p.result + i * p.rs[0] + m * p.rs[1];
          few_rows(p, q, s, s.row + y - y0, i, m, y, at_once, runs_on ? behind : p.rs[2] == p.ow ? channel + y1 * p.ow : channel);
        }
      }
      if (p.epilogue) p.epilogue(p.context, i, g * p.kg, (g + 1) * p.kg, y0, y1);
    }
  }
}

// The gradient of a depthwise weight by a sliding window, if the results' gradient is in memory row by row.
INL bool weight_slides(const Conv& p) { return slides(p) && reads_in_place(p) && p.rs[3] == 1 && p.ow >= VL; }
static void sliding_weight(const ConvCall& c, const Conv& p, L threads) {
  const RowReading q = reading_of(p, p.oh);
  const L taps = p.r * p.s, vectors = (p.ow + VL - 1) / VL, *ws = c.weight_strides;
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads();
    const FewTables s = tables_of(p, q);
    // The last columns may have been seen before; neither their pixels nor their gradients, which may be infinite, count twice
    const Bits unseen = lanes_from(vectors * VL - p.ow);
    T* last = s.masks + (vectors - 1) * p.s * VL;
    for (L k = 0; k < p.s; k++) st(last + k * VL, (V) ((Bits) ld(last + k * VL) & unseen));
    s.masked[vectors - 1] = true;
    T sums[MOST_SLIDING * MOST_SLIDING * VL];
    for (L g = p.groups * t / nt; g < p.groups * (t + 1) / nt; g++) {
      fill_row(sums, 0, taps * VL);
      for (L i = 0; i < p.n; i++) {
        rows_of(p, q, i, g, 0, p.oh, s.zeros, s.copies, s.row);
        const bool more = i + 1 < p.n;
        const T *next = p.source + (more ? (i + 1) * p.ss[0] + g * p.ss[1] : (g + 1) * p.ss[1]);
        const T *given = p.result + i * p.rs[0] + g * p.rs[1], *next_given = p.result + (more ? (i + 1) * p.rs[0] + g * p.rs[1] : (g + 1) * p.rs[1]);
        for (L v = 0; v < vectors; v++) {
          const L x = least(v * VL, p.ow - VL), pixels = v * p.oh * VL;
          slide_gradient_of(p.r, p.sw, s.masked[v])(s.row, s.zeros, q.rows, x * p.sw - p.pw, s.masks + v * p.s * VL, v == vectors - 1 ? unseen : lanes_from(0), given + x, p.rs[2], p.oh, sums,
                                                    next + pixels * p.sh * p.sw, next_given + pixels);
        }
      }
      for (L y = 0; y < p.r; y++) for (L x = 0; x < p.s; x++) ((T*) c.weight)[g * ws[0] + y * ws[2] + x * ws[3]] = lane_sum(ld(sums + (y * p.s + x) * VL));
    }
  }
}

// Sums over pixels of 'count' taps of the padded copy times the gradient, whose rows are whole vectors. Elements after
// a row of the copy are masked, since they may be infinite.
template <int count>
OUTL void sums_of_taps(const T* padded, L pitch, const L* taps, const T* gradient, L rows, L vectors, const T* mask, T* sums) {
  V acc[count];
  const T* a[count];
  UNROLL for (int j = 0; j < count; j++) { acc[j] = (V){}; a[j] = padded + taps[j]; }
  const Bits last = (Bits) ld(mask);
  for (L y = 0; y < rows; y++, gradient += vectors * VL) {
    for (L x = 0; x < vectors - 1; x++) {
      const V b = ld(gradient + x * VL);
      UNROLL for (int j = 0; j < count; j++) acc[j] += ld(a[j] + x * VL) * b;
    }
    const V b = ld(gradient + (vectors - 1) * VL);
    UNROLL for (int j = 0; j < count; j++) {
      acc[j] += (V) ((Bits) ld(a[j] + (vectors - 1) * VL) & last) * b;
      a[j] += pitch;
    }
  }
  UNROLL for (int j = 0; j < count; j++) sums[j] += lane_sum(acc[j]);
}

// The gradient of a depthwise weight: one sum over all pixels for each channel and tap; threads take channels.
static void depthwise_weight(const ConvCall& c, const Conv& p, L threads) {
  const Planes q = planes_of(p, p.oh);
  const L depth = p.r * p.s, vectors = (p.ow + VL - 1) / VL, *ws = c.weight_strides;
  T mask[VL];
  __builtin_memset(mask, 0, sizeof mask);
  __builtin_memset(mask, 255, (p.ow - (vectors - 1) * VL) * sizeof(T));
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads();
    L* taps = (L*) scratch(1, (2 * depth + 2) * sizeof(L));
    T* sums = (T*) (taps + depth + 1);
    T* padded = scratch(0, (q.channel + p.oh * vectors * VL + 2 * VL) * sizeof(T)), *gradient = padded + q.channel + VL;
    for (L y = 0; y < p.r; y++) for (L x = 0; x < p.s; x++) taps[y * p.s + x] = tap(p, q, 0, y, x);
    for (L g = p.groups * t / nt; g < p.groups * (t + 1) / nt; g++) {
      for (L k = 0; k < depth; k++) sums[k] = 0;
      for (L i = 0; i < p.n; i++) {
        pad_image(p, q, p.source + i * p.ss[0] + g * p.ss[1], 0, padded);
        const T* from = p.result + i * p.rs[0] + g * p.rs[1];
        for (L y = 0; y < p.oh; y++) {
          T* row = gradient + y * vectors * VL;
          if (p.rs[3] == 1) copy_row(row, from + y * p.rs[2], p.ow);
          else for (L x = 0; x < p.ow; x++) row[x] = from[y * p.rs[2] + x * p.rs[3]];
          for (L x = p.ow; x < vectors * VL; x++) row[x] = 0;
        }
        L k = 0;
        #define TAPS(n) for (; k + n <= depth; k += n) sums_of_taps<n>(padded, q.columns, taps + k, gradient, p.oh, vectors, mask, sums + k);
        TAPS(9) TAPS(3) TAPS(1)
        #undef TAPS
      }
      for (L y = 0; y < p.r; y++) for (L x = 0; x < p.s; x++) ((T*) c.weight)[g * ws[0] + y * ws[2] + x * ws[3]] = sums[y * p.s + x];
    }
  }
}
`;
