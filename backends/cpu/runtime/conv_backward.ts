/**
 * The gradients of convolutions and the entry point of the translation unit, as C++ text; see conv.ts.
 *
 * Gradient of the input: for each phase of the stride, a convolution of the result's gradient with the taps of the
 * flipped filter that reach it, input and output channels swapped; or all phases at once with a scheme (winograd.ts).
 * Gradient of the weight: for each image, rows (c, y, x) of the image in place, or of the padded copy, times the transposed
 * gradient, summed over all pixels.
 */
export const CONV_BACKWARD: string = String.raw`
INL Conv plain(const ConvCall& g) {
  Conv p;
  p.n = g.n; p.groups = g.groups; p.cg = g.cg; p.kg = g.kg;
  p.h = g.h; p.w = g.w; p.oh = g.oh; p.ow = g.ow; p.r = g.r; p.s = g.s;
  p.sh = g.sh; p.sw = g.sw; p.ph = g.ph; p.pw = g.pw; p.dh = g.dh; p.dw = g.dw;
  p.source = (const T*) g.image; p.result = (T*) g.result; p.bias = (const T*) g.bias; p.bias_stride = g.bias_stride;
  for (int i = 0; i < 4; i++) { p.ss[i] = g.image_strides[i]; p.rs[i] = g.result_strides[i]; }
  p.epilogue = g.epilogue; p.context = g.context; p.fast = g.fast; p.record = g.record; p.scheme = 0; p.spread = 0; p.spaced = false; p.turned = false;
  return p;
}

// Sets the place of the weight, for transforms.
INL void filters_at(Conv& p, const T* at, L out, L in, L group, bool turned) {
  p.filters = at; p.filter_out = out; p.filter_in = in; p.filter_group = group; p.turned = turned;
}

static void forward(const ConvCall& g) {
  Conv p = plain(g);
  const L* ws = g.weight_strides;
  const L taps = g.r * g.s, depth = g.cg * taps, length = g.groups * g.kg * depth;
  T* copy = 0;
  p.weight = (const T*) g.weight;
  if (ws[3] != 1 || ws[2] != g.s || ws[1] != taps || ws[0] != depth) {
    p.weight = copy = (T*) aligned_alloc(64, (length * sizeof(T) + 64) / 64 * 64);
    const T* w = (const T*) g.weight;
    L at = 0;
    for (L k = 0; k < g.groups * g.kg; k++) for (L c = 0; c < g.cg; c++) for (L y = 0; y < g.r; y++) for (L x = 0; x < g.s; x++)
      copy[at++] = w[k * ws[0] + c * ws[1] + y * ws[2] + x * ws[3]];
  }
  filters_at(p, p.weight, depth, taps, g.kg * depth, false);
  convolve(p, g.threads);
  free(copy);
}

// The part of the gradient of the input with rows i0 + sh*t and columns j0 + sw*u: a separate convolution, over the
// taps (r0 + j*r_step, s0 + j*s_step) that reach these elements.
struct Part { L i0, first, step, count, lead; };
// One dimension: phase 'a' of n elements, filter size r, stride, padding and dilation.
INL Part part_of(L a, L r, L stride, L padding, L dilation) {
  Part p = {((a - padding) % stride + stride) % stride, -1, 0, 0, 0};
  for (L y = 0; y < r; y++) if (y * dilation % stride == a) {
    if (p.count == 0) p.first = y;
    if (p.count == 1) p.step = y - p.first;
    p.count++;
  }
  p.lead = p.count ? (p.i0 + padding - p.first * dilation) / stride : 0;
  return p;
}

// Clears rows of 'count' elements, 'step' apart, in all channels of the result.
static void zero_rows(const Conv& p, T* to, L step, L count, L threads) {
  const L channels = p.groups * p.kg;
  #pragma omp parallel for num_threads(threads) if (threads > 1 && p.n * channels * p.oh * count > 65536)
  for (L at = 0; at < p.n * channels; at++) for (L t = 0; t < p.oh; t++) {
    T* row = to + at / channels * p.rs[0] + at % channels * p.rs[1] + t * p.rs[2];
    if (step == 1) fill_row(row, 0, count);
    else for (L u = 0; u < count; u++) row[u * step] = 0;
  }
}

// With stride 2, all elements at once, if there is a scheme for it.
static bool backward_image_strided(const ConvCall& g) {
  const L* ws = g.weight_strides;
  if (g.r != 3 || g.s != 3 || g.sh != 2 || g.sw != 2 || g.dh != 1 || g.dw != 1 || g.ph % 2 != 1 || g.pw % 2 != 1 || ws[3] != 1 || ws[2] != 3) return false;
  Conv p = plain(g);
  p.source = (const T*) g.result; p.result = (T*) g.image; p.bias = 0;
  for (int i = 0; i < 4; i++) { p.ss[i] = g.result_strides[i]; p.rs[i] = g.image_strides[i]; }
  p.cg = g.kg; p.kg = g.cg; p.h = g.oh; p.w = g.ow; p.oh = g.h; p.ow = g.w;
  // the middle tap of this result reads element 0
  p.ph = -((g.ph - 1) / 2); p.pw = -((g.pw - 1) / 2);
  // the alternative: four convolutions of some taps each, which take about twice as long per product
  if (!scheme_pays(p, STRIDED_IMAGE, 2 * 2.25 * p.kg * p.cg * p.n * p.oh * p.ow)) return false;
  p.scheme = &STRIDED_IMAGE;
  filters_at(p, (const T*) g.weight, ws[1], ws[0], g.kg * ws[0], false);
  winograd(p, g.threads > 1 && 9.0 * p.n * p.groups * p.kg * p.cg * p.h * p.w > 262144 ? g.threads : 1);
  return true;
}

// Of depthwise filters by two, a sliding window over the gradient of the result with zeros in between, whose rows are
// skipped, instead of a convolution for each of four parts, which would write single elements.
static bool backward_image_sliding(const ConvCall& g) {
  if (g.cg != 1 || g.kg != 1 || g.sh != 2 || g.image_strides[3] != 1 || g.ph >= g.r || g.pw >= g.s) return false;
  Conv p = plain(g);
  p.source = (const T*) g.result; p.result = (T*) g.image; p.bias = 0;
  for (int i = 0; i < 4; i++) { p.ss[i] = g.result_strides[i]; p.rs[i] = g.image_strides[i]; }
  if (!slides(p) || !reads_in_place(p)) return false;
  p.h = 2 * g.oh - 1; p.w = 2 * g.ow - 1; p.oh = g.h; p.ow = g.w;
  p.sh = p.sw = 1; p.ph = g.r - 1 - g.ph; p.pw = g.s - 1 - g.pw; p.spaced = true;
  const L taps = g.r * g.s, *ws = g.weight_strides;
  T* copy = (T*) aligned_alloc(64, (g.groups * taps * sizeof(T) + 64) / 64 * 64);
  bool finite = true;
  for (L q = 0; q < g.groups; q++) for (L y = 0; y < g.r; y++) for (L x = 0; x < g.s; x++) {
    const T w = ((const T*) g.weight)[q * ws[0] + y * ws[2] + x * ws[3]];
    copy[(q + 1) * taps - 1 - y * g.s - x] = w;
    finite = finite && w - w == 0;
  }
  // The zeros would make NaN of an infinite tap
  if (!finite) { free(copy); return false; }
  p.weight = copy;
  convolve_few(p, g.threads > 1 && (double) p.n * p.groups * p.oh * p.ow * taps > 262144 ? g.threads : 1);
  free(copy);
  return true;
}

static void backward_image(const ConvCall& g) {
  if (backward_image_strided(g) || backward_image_sliding(g)) return;
  Conv p = plain(g);
  p.source = (const T*) g.result; p.bias = 0;
  for (int i = 0; i < 4; i++) p.ss[i] = g.result_strides[i];
  p.cg = g.kg; p.kg = g.cg; p.h = g.oh; p.w = g.ow; p.sh = p.sw = 1;
  const bool whole = g.sh == 1 && g.sw == 1;
  if (!whole) p.epilogue = 0, p.record = 0;   // several convolutions of parts
  const L length = g.groups * g.kg * g.cg * g.r * g.s;
  T* copy = (T*) aligned_alloc(64, (length * sizeof(T) + 64) / 64 * 64);
  const T* w = (const T*) g.weight;
  const L *ws = g.weight_strides, *is = g.image_strides;
  for (L a = 0; a < g.sh; a++) {
    const Part y = part_of(a, g.r, g.sh, g.ph, g.dh);
    p.oh = (g.h - y.i0 + g.sh - 1) / g.sh;
    if (p.oh <= 0) continue;
    p.rs[0] = is[0]; p.rs[1] = is[1]; p.rs[2] = is[2] * g.sh;
    if (y.count == 0) {
      zero_rows(p, (T*) g.image + y.i0 * is[2], is[3], g.w, g.threads);
      continue;
    }
    // Whether only one of two elements is reached, and the other one is written with it: the first tap reaches the
    // first part.
    bool alone = false;
    for (L b = 0; b < g.sw; b++) {
      const Part x = part_of(b, g.s, g.sw, g.pw, g.dw);
      p.ow = (g.w - x.i0 + g.sw - 1) / g.sw;
      if (p.ow <= 0) continue;
      p.result = (T*) g.image + y.i0 * is[2] + x.i0 * is[3];
      p.rs[3] = is[3] * g.sw;
      if (x.count == 0) {
        if (!alone) zero_rows(p, p.result, p.rs[3], p.ow, g.threads);
        continue;
      }
      p.r = y.count; p.s = x.count;
      p.dh = y.count > 1 ? y.step * g.dh / g.sh : 1; p.dw = x.count > 1 ? x.step * g.dw / g.sw : 1;
      p.ph = (p.r - 1) * p.dh - y.lead; p.pw = (p.s - 1) * p.dw - x.lead;
      if (b == 0) alone = g.sw == 2 && is[3] == 1 && g.w > 1 && in_units(p) && part_of(1, g.s, g.sw, g.pw, g.dw).count == 0;
      p.spread = alone ? g.w : 0; p.spread_first = x.i0;
      const L blocks = (g.cg + 15) / 16, taps = p.r * p.s;
      if (whole && ws[3] == 1 && ws[2] == p.s && scheme_of(p)) {
        filters_at(p, w, ws[1], ws[0], g.kg * ws[0], true);
        convolve(p, g.threads);
        continue;
      }
      #pragma omp parallel for num_threads(g.threads) if (g.threads > 1 && length > 100000)
      for (L block = 0; block < g.groups * blocks; block++) {
        const L q = block / blocks, c0 = block % blocks * 16;
        if (taps == 1) {
          const T* from = w + q * g.kg * ws[0] + c0 * ws[1] + y.first * ws[2] + x.first * ws[3];
          pack_b(least(g.cg, c0 + 16) - c0, from, ws[1], ws[0], g.kg, g.kg, copy + (q * g.cg + c0) * g.kg);
          continue;
        }
        for (L k = 0; k < g.kg; k++) for (L c = c0; c < least(g.cg, c0 + 16); c++) {
          const T* from = w + (q * g.kg + k) * ws[0] + c * ws[1];
          T* to = copy + ((q * g.cg + c) * g.kg + k) * taps;
          if (whole && ws[3] == 1 && ws[2] == p.s) {
            for (L j = 0; j < taps; j++) to[taps - 1 - j] = from[j];
            continue;
          }
          for (L i = p.r; i--;) for (L j = p.s; j--;) *to++ = from[(y.first + i * y.step) * ws[2] + (x.first + j * x.step) * ws[3]];
        }
      }
      p.weight = copy;
      filters_at(p, copy, g.kg * taps, taps, g.cg * g.kg * taps, false);
      convolve(p, g.threads);
    }
  }
  free(copy);
  if (whole || !g.epilogue) return;
  #pragma omp parallel for num_threads(g.threads) if (g.threads > 1)
  for (L i = 0; i < g.n; i++) g.epilogue(g.context, i, 0, g.groups * g.cg, 0, g.h);
}

// The pixels of a part: images, rows of each, pixels of each row; distances of pixels, rows and images in the padded copy,
// or in the image.
struct Pixels { L images, rows, ow, step, pitch, image; };
// c[mr x nv vectors] += pixels · packed gradient
template <int mr, int nv> OUTL void tap_tile(const Pixels& p, const T* padded, const L* taps, const T* b, T* c, L crs) {
  V acc[mr][nv];
  const T* r[mr];
  UNROLL for (int i = 0; i < mr; i++) {
    r[i] = padded + taps[i];
    UNROLL for (int j = 0; j < nv; j++) acc[i][j] = ld(c + i * crs + j * VL);
  }
  for (L image = 0; image < p.images; image++) for (L y = 0; y < p.rows; y++) {
    L k = 0;
    NO_UNROLL for (const T* end = b + p.ow * nv * VL; b < end; b += nv * VL, k += p.step) {
      V bv[nv];
      UNROLL for (int j = 0; j < nv; j++) { bv[j] = ld(b + j * VL); if (mr > 1) PIN(bv[j]); }
      UNROLL for (int i = 0; i < mr; i++) UNROLL for (int j = 0; j < nv; j++) acc[i][j] += bv[j] * r[i][k];
    }
    const L step = y == p.rows - 1 ? p.image - y * p.pitch : p.pitch;
    UNROLL for (int i = 0; i < mr; i++) r[i] += step;
  }
  UNROLL for (int i = 0; i < mr; i++) UNROLL for (int j = 0; j < nv; j++) st(c + i * crs + j * VL, acc[i][j]);
}
template <int nv> INL void tap_rows(L m0, L m1, const Pixels& p, const T* padded, const L* taps, const T* b, T* c, L crs) {
  L m = m0;
  for (; m + MR <= m1; m += MR) tap_tile<MR, nv>(p, padded, taps + m, b, c + m * crs, crs);
  if (m + 4 <= m1) { tap_tile<4, nv>(p, padded, taps + m, b, c + m * crs, crs); m += 4; }
  for (; m < m1; m++) tap_tile<1, nv>(p, padded, taps + m, b, c + m * crs, crs);
}

// Packs rows [y0, y1) of the gradient of one image, channels [c0, c0 + cols), to d[pixel*width + j].
INL void pack_gradient(const Conv& p, const T* s, L y0, L y1, L c0, L cols, L width, T* d) {
  if (p.rs[2] == p.ow * p.rs[3]) return pack_b((y1 - y0) * p.ow, s + c0 * p.rs[1] + y0 * p.rs[2], p.rs[3], p.rs[1], cols, width, d);
  for (L y = y0; y < y1; y++, d += p.ow * width)
    pack_b(p.ow, s + c0 * p.rs[1] + y * p.rs[2], p.rs[3], p.rs[1], cols, width, d);
}

// Whether every tap of every window is inside the image, which is then read in place.
INL bool unpadded(const Conv& p) { return p.ph == 0 && p.pw == 0; }
// Adds the images [i0, i1) to rows [m0, m1) and columns [n0, n1) of acc[cg*r*s][width].
INL void weight_part(const Conv& p, L g, L i0, L i1, L m0, L m1, L n0, L n1, T* acc, L width, const L* taps, const Planes& q) {
  const bool place = unpadded(p);
  // a part is some rows of one image, or several small images
  const L rows_most = most(1, least(p.oh, 1024 / p.ow)), together = most(1, least(i1 - i0, 1024 / (p.oh * p.ow)));
  const L image = place ? p.ss[0] : p.cg * q.channel, pitch = place ? p.sh * p.ss[2] : q.columns, panels = (n1 - n0 + NR - 1) / NR;
  const L padded_length = place ? 0 : together * image, packed_length = together * rows_most * p.ow * NR;
  T* copy = scratch(0, (padded_length + packed_length + 64) * sizeof(T));
  T* packed = copy + (padded_length + 15) / 16 * 16;
  for (L i = i0; i < i1; i += together) {
    const L images = least(together, i1 - i);
    const T* source = p.source + i * p.ss[0] + g * p.cg * p.ss[1];
    if (!place) for (L k = 0; k < images; k++) pad_image(p, q, source + k * p.ss[0], 0, copy + k * image);
    for (L y0 = 0; y0 < p.oh; y0 += rows_most) {
      const L y1 = least(p.oh, y0 + rows_most);
      const L step = place ? p.sw * p.ss[3] : 1;
      const bool one = pitch == p.ow * step;   // whether rows follow each other
      const Pixels pixels = {images, one ? 1 : y1 - y0, one ? (y1 - y0) * p.ow : p.ow, step, pitch, image};
      const T* a = (place ? source : copy) + y0 * pitch;
      for (L j = 0; j < panels; j++) {
        const L from = n0 + j * NR, cols = least(NR, n1 - from), nv = (cols + VL - 1) / VL;
        for (L k = 0; k < images; k++)
          pack_gradient(p, p.result + (i + k) * p.rs[0] + g * p.kg * p.rs[1], y0, y1, from, cols, nv * VL, packed + k * (y1 - y0) * p.ow * nv * VL);
        switch (nv) {
          case 1: tap_rows<1>(m0, m1, pixels, a, taps, packed, acc + from, width); break;
          case 2: tap_rows<2>(m0, m1, pixels, a, taps, packed, acc + from, width); break;
          default: tap_rows<3>(m0, m1, pixels, a, taps, packed, acc + from, width);
        }
      }
    }
  }
}

// Writes output channels [k0, k1) of group g from the sum of 'copies' accumulators, VL channels at a time; VL taps, too, if
// those of a channel are adjacent.
INL void store_weight(const ConvCall& c, L g, L k0, L k1, const T* acc, L size, L copies, L width) {
  const L *ws = c.weight_strides, depth = c.cg * c.r * c.s;
  const bool adjacent = ws[3] == 1 && ws[2] == c.s && ws[1] == c.r * c.s;
  for (L k = k0; k < k1; k += VL) {
    const L lanes = least(VL, k1 - k);
    T* channel = (T*) c.weight + (g * c.kg + k) * ws[0];
    const auto sum_of = [&](L tap) {
      V sum = {};
      for (L t = 0; t < copies; t++) sum += ld(acc + t * size + tap * width + k);
      return sum;
    };
    if (adjacent && depth >= VL) for (L tap = 0; tap < depth; tap = next_lanes(tap, depth)) {
      V a[VL];
      UNROLL for (int l = 0; l < VL; l++) a[l] = sum_of(tap + l);
      transpose_lanes(a);
      UNROLL for (int l = 0; l < VL; l++) if (l < lanes) st(channel + l * ws[0] + tap, a[l]);
    } else for (L tap = 0; tap < depth; tap++) {
      T sums[VL];
      st(sums, sum_of(tap));
      T* to = channel + tap / (c.r * c.s) * ws[1] + tap / c.s % c.r * ws[2] + tap % c.s * ws[3];
      for (L l = 0; l < lanes; l++) to[l * ws[0]] = sums[l];
    }
  }
}

static void backward_weight(const ConvCall& c) {
  Conv p = plain(c);
  const L depth = p.cg * p.r * p.s, width = (p.kg + VL - 1) / VL * VL + VL, size = (depth * width + NR + 15) / 16 * 16;
  const double products = (double) p.n * p.groups * p.kg * p.oh * p.ow * depth;
  const L wanted = c.threads > 1 && products > 262144 ? c.threads : 1;
  if (p.cg == 1 && p.kg == 1) return weight_slides(p) ? sliding_weight(c, p, wanted) : depthwise_weight(c, p, wanted);
  if ((p.scheme = scheme_of(p))) return winograd_weight(c, p, wanted);
  // small gradients: each thread sums some of the images by itself; large ones: each owns some of the columns
  const bool by_images = size <= 262144 && p.n >= 2 * wanted;
  const L copies = by_images ? wanted : 1, total = p.groups * copies * size;
  T* acc = (T*) aligned_alloc(64, (total * sizeof(T) + 63) / 64 * 64);
  const Planes q = planes_of(p, p.oh);
  L* taps = (L*) aligned_alloc(64, ((depth + 1) * sizeof(L) + 63) / 64 * 64);
  L at = 0;
  for (L i = 0; i < p.cg; i++) for (L y = 0; y < p.r; y++) for (L x = 0; x < p.s; x++)
    taps[at++] = unpadded(p) ? i * p.ss[1] + y * p.dh * p.ss[2] + x * p.dw * p.ss[3] : tap(p, q, i, y, x);
  #pragma omp parallel num_threads(wanted) if (wanted > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads();
    const L panels = (p.kg + NR - 1) / NR, blocks = (p.kg + VL - 1) / VL;
    for (L i = total * t / nt; i < total * (t + 1) / nt; i++) acc[i] = 0;
    #pragma omp barrier
    for (L g = 0; g < p.groups; g++) {
      T* own = acc + g * copies * size;
      if (by_images) {
        for (L part = copies * t / nt; part < copies * (t + 1) / nt; part++)
          weight_part(p, g, p.n * part / copies, p.n * (part + 1) / copies, 0, depth, 0, p.kg, own + part * size, width, taps, q);
      } else if (panels >= nt) {
        weight_part(p, g, 0, p.n, 0, depth, panels * t / nt * NR, least(p.kg, panels * (t + 1) / nt * NR), own, width, taps, q);
      } else {
        const L rows = (depth + MR - 1) / MR;
        weight_part(p, g, 0, p.n, rows * t / nt * MR, least(depth, rows * (t + 1) / nt * MR), 0, p.kg, own, width, taps, q);
      }
    }
    #pragma omp barrier
    for (L g = 0; g < p.groups; g++)
      store_weight(c, g, blocks * t / nt * VL, least(p.kg, blocks * (t + 1) / nt * VL), acc + g * copies * size, size, copies, width);
  }
  free(taps);
  free(acc);
}

// Nothing to sum over: the result is zero, or the bias.
static void constant_result(const ConvCall& c) {
  const Conv p = plain(c);
  const L sizes[][4] = {{p.n, p.groups * p.kg, p.oh, p.ow}, {p.n, p.groups * p.cg, p.h, p.w}, {p.groups * p.kg, p.cg, p.r, p.s}};
  const L *const strides[] = {p.rs, p.ss, c.weight_strides}, *n = sizes[c.kind], *by = strides[c.kind];
  T* to = (T*) (c.kind == 0 ? c.result : c.kind == 1 ? c.image : c.weight);
  for (L i = 0; i < n[0]; i++) for (L k = 0; k < n[1]; k++) for (L y = 0; y < n[2]; y++) for (L x = 0; x < n[3]; x++)
    to[i * by[0] + k * by[1] + y * by[2] + x * by[3]] = c.kind == 0 && p.bias ? p.bias[k * p.bias_stride] : (T) 0;
  if (p.epilogue && c.kind < 2) for (L i = 0; i < p.n; i++) p.epilogue(p.context, i, 0, n[1], 0, n[2]);
}

static void conv(const ConvCall* call) {
  const ConvCall& c = *call;
  if (c.n <= 0 || c.groups <= 0 || c.cg <= 0 || c.kg <= 0 || c.oh <= 0 || c.ow <= 0 || c.r <= 0 || c.s <= 0 || c.h <= 0 || c.w <= 0)
    return constant_result(c);
  if (c.kind == 0) forward(c);
  else if (c.kind == 1) backward_image(c);
  else backward_weight(c);
}
EXPORT void (*dyn_entry())(const ConvCall*) { return conv; }
`;
