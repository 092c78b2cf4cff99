/**
 * Convolutions with very few channels a group, where the register tiles of a matrix product would stay empty:
 * depthwise ones, and gradients with respect to images of few channels. C++ text, part of the unit of conv.ts.
 * Invariant: vectors run along rows of results; each tap is one load and one multiply-add of each.
 */
export const CONV_FEW: string = String.raw`
enum { FEW = 3 };   // output channels a group

// 'rows' rows by 'count' vectors: out = bias + sum over taps of weight * padded
template <int rows, int count>
OUTL void rows_of_taps(const T* padded, L pitch, const L* taps, L depth, const T* weight, T bias, T* out, L length) {
  V acc[rows][count];
  UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < count; j++) acc[i][j] = bias - (V){};
  NO_UNROLL for (L k = 0; k < depth; k++) {
    const T *s = padded + taps[k], w = weight[k];
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < count; j++) acc[i][j] += w * ld(s + i * pitch + j * VL);
  }
  UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < count; j++) st(out + i * length + j * VL, acc[i][j]);
}
// So many rows of results, with as many sums at once as hide how long each takes.
INL L rows_at_once(L vectors, L rows) { const L wanted = vectors == 1 ? 8 : vectors == 2 ? 4 : 2; return rows >= wanted ? wanted : 1; }
INL void all_vectors(L rows, L vectors, const T* padded, L pitch, const L* taps, L depth, const T* weight, T bias, T* out, L length) {
  L x = 0;
  #define COLUMNS(rows, count) \
    for (; x + count <= vectors; x += count) rows_of_taps<rows, count>(padded + x * VL, pitch, taps, depth, weight, bias, out + x * VL, length);
  switch (rows) {
    case 8: COLUMNS(8, 1) break;
    case 4: COLUMNS(4, 2) break;
    case 2: COLUMNS(2, 4) COLUMNS(2, 1) break;
    default: COLUMNS(1, 4) COLUMNS(1, 1)
  }
  #undef COLUMNS
}

static void convolve_few(const Conv& p, L threads) {
  const Planes q = planes_of(p, p.oh);
  const L depth = p.cg * p.r * p.s, total = p.n * p.groups;
  const L vectors = (p.ow + VL - 1) / VL, row_length = vectors * VL, at_once = rows_at_once(vectors, p.oh);
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads(), padded_length = p.cg * q.channel + VL;
    L* taps = (L*) scratch(1, (depth + 1) * sizeof(L));
    T* padded = scratch(0, (padded_length + at_once * row_length) * sizeof(T)), *rows = padded + padded_length;
    L at = 0;
    for (L c = 0; c < p.cg; c++) for (L y = 0; y < p.r; y++) for (L x = 0; x < p.s; x++) taps[at++] = tap(p, q, c, y, x);
    for (L w = total * t / nt; w < total * (t + 1) / nt; w++) {
      const L i = w / p.groups, g = w % p.groups;
      pad_image(p, q, p.source + i * p.ss[0] + g * p.cg * p.ss[1], 0, padded);
      for (L x = 0; x < VL; x++) padded[p.cg * q.channel + x] = 0;
      for (L m = g * p.kg; m < (g + 1) * p.kg; m++) {
        const T* weight = p.weight + m * depth;
        const T bias = p.bias ? p.bias[m * p.bias_stride] : (T) 0;
        for (L next = 0; next < p.oh; next += at_once) {
          // The last rows may be made twice
          const L y0 = least(next, p.oh - at_once);
          all_vectors(at_once, vectors, padded + y0 * q.columns, q.columns, taps, depth, weight, bias, rows, row_length);
          for (L y = 0; y < at_once; y++) {
            const T* row = rows + y * row_length;
            T* to = p.result + i * p.rs[0] + m * p.rs[1] + (y0 + y) * p.rs[2];
            if (p.rs[3] == 1) copy_row(to, row, p.ow);
            else for (L k = 0; k < p.ow; k++) to[k * p.rs[3]] = row[k];
          }
        }
      }
      if (p.epilogue) p.epilogue(p.context, i, g * p.kg, (g + 1) * p.kg, 0, p.oh);
    }
  }
}

// Sums over pixels of 'count' taps of the padded copy times the gradient, whose rows are whole vectors. What lies behind a
// row of the copy is masked, since it may be infinite.
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
        for (; k + 8 <= depth; k += 8) sums_of_taps<8>(padded, q.columns, taps + k, gradient, p.oh, vectors, mask, sums + k);
        for (; k < depth; k++) sums_of_taps<1>(padded, q.columns, taps + k, gradient, p.oh, vectors, mask, sums + k);
      }
      for (L y = 0; y < p.r; y++) for (L x = 0; x < p.s; x++) ((T*) c.weight)[g * ws[0] + y * ws[2] + x * ws[3]] = sums[y * p.s + x];
    }
  }
}
`;
