/**
 * Convolutions with very few channels a group, where the register tiles of a matrix product would stay empty:
 * depthwise ones, and gradients towards images of few channels. Output: C++ text, part of the unit of conv.ts.
 * Invariant: vectors run along a row of results; each tap is one load and one multiply-add.
 */
export const CONV_FEW: string = String.raw`
enum { FEW = 3, ACROSS = 4 };   // output channels a group, and vectors of a row at once

// 'count' vectors of a row from x on: out = bias + sum over taps of weight * padded
template <int count> INL void row_of_taps(const T* padded, const L* taps, L depth, const T* weight, T bias, T* out) {
  V acc[count];
  UNROLL for (int j = 0; j < count; j++) acc[j] = bias - (V){};
  for (L k = 0; k < depth; k++) {
    const T* s = padded + taps[k];
    UNROLL for (int j = 0; j < count; j++) acc[j] += weight[k] * ld(s + j * VL);
  }
  UNROLL for (int j = 0; j < count; j++) st(out + j * VL, acc[j]);
}

static void convolve_few(const Conv& p, L threads) {
  const Planes q = planes_of(p, p.oh);
  const L depth = p.cg * p.r * p.s, total = p.n * p.groups, row_length = (p.ow + VL - 1) / VL * VL + ACROSS * VL;
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads(), padded_length = p.cg * q.channel + (ACROSS + 1) * VL;
    L* taps = (L*) scratch(1, (depth + 1) * sizeof(L));
    T* padded = scratch(0, (padded_length + row_length) * sizeof(T)), *row = padded + padded_length;
    L at = 0;
    for (L c = 0; c < p.cg; c++) for (L y = 0; y < p.r; y++) for (L x = 0; x < p.s; x++) taps[at++] = tap(p, q, c, y, x);
    for (L w = total * t / nt; w < total * (t + 1) / nt; w++) {
      const L i = w / p.groups, g = w % p.groups;
      pad_image(p, q, p.source + i * p.ss[0] + g * p.cg * p.ss[1], 0, padded);
      for (L x = 0; x < (ACROSS + 1) * VL; x++) padded[p.cg * q.channel + x] = 0;
      for (L m = g * p.kg; m < (g + 1) * p.kg; m++) {
        const T* weight = p.weight + m * depth;
        const T bias = p.bias ? p.bias[m * p.bias_stride] : (T) 0;
        for (L y = 0; y < p.oh; y++) {
          const T* s = padded + y * q.columns;
          T* to = p.result + i * p.rs[0] + m * p.rs[1] + y * p.rs[2];
          L x = 0;
          for (; x + (ACROSS - 1) * VL < p.ow; x += ACROSS * VL) row_of_taps<ACROSS>(s + x, taps, depth, weight, bias, row + x);
          for (; x < p.ow; x += VL) row_of_taps<1>(s + x, taps, depth, weight, bias, row + x);
          if (p.rs[3] == 1) copy_row(to, row, p.ow);
          else for (L k = 0; k < p.ow; k++) to[k * p.rs[3]] = row[k];
        }
      }
      if (p.epilogue) p.epilogue(p.context, i, g * p.kg, (g + 1) * p.kg, 0, p.oh);
    }
  }
}

// The gradient of a depthwise weight: one sum over all pixels for each channel and tap; threads take channels.
static void depthwise_weight(const ConvCall& c, const Conv& p, L threads) {
  const Planes q = planes_of(p, p.oh);
  const L depth = p.r * p.s, *ws = c.weight_strides;
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads();
    L* taps = (L*) scratch(1, (2 * depth + 2) * sizeof(L));
    T* sums = (T*) (taps + depth + 1);
    T* padded = scratch(0, (q.channel + p.oh * p.ow + 2 * VL) * sizeof(T)), *gradient = padded + q.channel + VL;
    for (L y = 0; y < p.r; y++) for (L x = 0; x < p.s; x++) taps[y * p.s + x] = tap(p, q, 0, y, x);
    for (L g = p.groups * t / nt; g < p.groups * (t + 1) / nt; g++) {
      for (L k = 0; k < depth; k++) sums[k] = 0;
      for (L i = 0; i < p.n; i++) {
        pad_image(p, q, p.source + i * p.ss[0] + g * p.ss[1], 0, padded);
        const T* from = p.result + i * p.rs[0] + g * p.rs[1];
        for (L y = 0; y < p.oh; y++) {
          if (p.rs[3] == 1) copy_row(gradient + y * p.ow, from + y * p.rs[2], p.ow);
          else for (L x = 0; x < p.ow; x++) gradient[y * p.ow + x] = from[y * p.rs[2] + x * p.rs[3]];
        }
        for (L k = 0; k < depth; k++) {
          V acc = {};
          T rest = 0;
          for (L y = 0; y < p.oh; y++) {
            const T *a = padded + taps[k] + y * q.columns, *b = gradient + y * p.ow;
            L x = 0;
            for (; x + VL <= p.ow; x += VL) acc += ld(a + x) * ld(b + x);
            for (; x < p.ow; x++) rest += a[x] * b[x];
          }
          sums[k] += lane_sum(acc) + rest;
        }
      }
      for (L y = 0; y < p.r; y++) for (L x = 0; x < p.s; x++) ((T*) c.weight)[g * ws[0] + y * ws[2] + x * ws[3]] = sums[y * p.s + x];
    }
  }
}
`;
