/**
 * Two-dimensional convolutions over NCHW views with any strides: forward, gradient of the input, gradient of the
 * weight. Invariant: every element of the result is written once per call, and the epilogue is then called for it
 * exactly once, in blocks of whole rows.
 *
 * All three are matrix products on the register tiles of gemm_tiles.ts. The image is first copied with its padding,
 * split into the phases of the stride, so that each tap of the filter reads consecutive elements. Filters of 3×3 by 1
 * and by 2 are transformed (winograd.ts), long ones over few channels run along rows (conv_rows.ts); those with few output
 * channels or a single input channel (conv_few.ts) and those whose windows do not overlap
 * (conv_points.ts) read images in place.
 */
import { CHANNEL_LANES } from "./channel_lanes.ts";
import { CONV_BACKWARD } from "./conv_backward.ts";
import { CONV_FEW, CONV_SLIDING } from "./conv_few.ts";
import { CONV_POINTS, CONV_POINTS_SPLIT } from "./conv_points.ts";
import { CONV_ROWS } from "./conv_rows.ts";
import { GEMM_TILES } from "./gemm_tiles.ts";
import { LANE_ORDERS, VECTOR_PRELUDE } from "./prelude.ts";
import { SPLIT_TILES } from "./split_tiles.ts";
import { WINOGRAD } from "./winograd.ts";
import { WINOGRAD_SCHEMES, WINOGRAD_TILES } from "./winograd_schemes.ts";
import { WINOGRAD_WEIGHT } from "./winograd_weight.ts";

/** The argument; 64-bit words. Also pasted into generated programs. */
export const CONV_CALL: string = String.raw`
// image: [n, groups*cg, h, w], result: [n, groups*kg, oh, ow], weight: [groups*kg, cg, r, s]; strides in elements.
// kind 0: result = image * weight (+ bias); 1: the gradient of the image, from result and weight; 2: that of the
// weight, from result and image. Both take the gradient of the result as 'result'.
struct ConvCall {
  void *image, *weight, *result;
  const void* bias;
  long kind, n, groups, cg, kg, h, w, oh, ow, r, s;
  long image_strides[4], weight_strides[4], result_strides[4], bias_stride;
  long sh, sw, ph, pw, dh, dw, threads;
  void (*epilogue)(void*, long, long, long, long, long);
  void* context;
  long fast;   // whether errors may be some times those of sums of products
  // Of transformed weights that later calls find again: the address of their memory, or 0; whether they are there, which the
  // call sets; and the number of their bytes, 0 if they are not worth it, which the call sets. 0: none are kept.
  double* record;
};
`;

const CONV_FORWARD: string = String.raw`
// One convolution in the forward sense; gradients of inputs are brought to this form (with padding that may be
// negative). Element (y, x) of the padded image is source element (y - ph, x - pw) if that is inside, else zero.
struct Conv {
  const T *source, *bias;
  const T* weight;                     // [groups][kg][cg*r*s], packed
  // The weight in place, with adjacent taps, for transforms: strides of output channels, input channels and groups; and
  // whether its taps are reversed.
  const T* filters;
  L filter_out, filter_in, filter_group;
  bool turned;
  bool fast;
  const Scheme* scheme;                // by which it is computed, or null
  T* result;
  L n, groups, cg, kg, h, w, oh, ow, r, s, sh, sw, ph, pw, dh, dw;
  L ss[4], rs[4], bias_stride;
  // If not 0, the length of rows of which results are every second element, from the first or the second on, with zeros
  // in between.
  L spread, spread_first;
  // Whether there is a zero between pixels of the image, in both directions: h and w count them, the strides do not.
  bool spaced;
  Epilogue epilogue;
  void* context;
  double* record;
};

// The padded copy of some rows: [channel][row phase][column phase][rows][columns].
struct Planes { L rows, columns, phase, channel; };
INL Planes planes_of(const Conv& p, L out_rows) {
  Planes q;
  q.rows = out_rows + (p.r - 1) * p.dh / p.sh;
  q.columns = p.ow + (p.s - 1) * p.dw / p.sw;
  q.phase = q.rows * q.columns;
  q.channel = q.phase * p.sh * p.sw;
  return q;
}
// Whether the channels of the image are read in place.
INL bool in_place(const Conv& p) {
  return p.r == 1 && p.s == 1 && p.sh == 1 && p.sw == 1 && p.ph == 0 && p.pw == 0 && p.oh == p.h && p.ow == p.w &&
    p.ss[3] == 1 && p.ss[2] == p.w;
}
// The end of the image, or its first element if that is not the first one in memory.
INL const T* end_of(const Conv& p) {
  if (p.ss[0] < 0 || p.ss[1] < 0 || p.ss[2] < 0) return p.source;
  return p.source + (p.n - 1) * p.ss[0] + (p.groups * p.cg - 1) * p.ss[1] + (p.h - 1) * p.ss[2] + p.w;
}
// The start of tap (c, y, x).
INL L tap(const Conv& p, const Planes& q, L c, L y, L x) {
  const L oy = y * p.dh, ox = x * p.dw;
  return c * q.channel + ((oy % p.sh) * p.sw + ox % p.sw) * q.phase + (oy / p.sh) * q.columns + ox / p.sw;
}
INL L ceil_div(L a, L b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
// Writes elements k, step + k, 2*step + k, ... of step*VL elements to d + k*pitch, for each k below 'count'.
template <int step> INL void deal_out(const T* from, L count, T* d, L pitch) {
  V a[step], b[step];
  UNROLL for (int k = 0; k < step; k++) a[k] = ld(from + k * VL);
  UNROLL for (int round = 1; round < step; round *= 2) {
    UNROLL for (int k = 0; k < step / 2; k++) {
      b[k] = SHUFFLED(a[2 * k], a[2 * k + 1], EVENS);
      b[k + step / 2] = SHUFFLED(a[2 * k], a[2 * k + 1], ODDS);
    }
    UNROLL for (int k = 0; k < step; k++) a[k] = b[k];
  }
  UNROLL for (int k = 0; k < step; k++) if (k < count) st(d + k * pitch, a[k]);
}
// Copies every second element of 'from', which is not read from 'end' on. May write beyond n, but not beyond 'room'.
INL void copy_even(T* to, const T* from, L n, const T* room, const T* end) {
  for (L x = 0; x < n; x += VL) {
    if ((x + VL <= n || to + x + VL <= room) && from + 2 * (x + VL) <= end) deal_out<2>(from + 2 * x, 1, to + x, 0);
    else for (L i = x; i < least(n, x + VL); i++) to[i] = from[2 * i];
  }
}
// The inverse: to a row of w elements from its element 'first' on, with zeros in between.
INL void spread_row(T* row, L w, L first, const T* from, L n) {
  if (first) row[0] = 0;
  L x = 0;
  for (; first + 2 * (x + VL) <= w; x += VL) {
    const V v = ld(from + x);
    st(row + first + 2 * x, SHUFFLED(v, (V){}, ZIP_LOW));
    st(row + first + 2 * x + VL, SHUFFLED(v, (V){}, ZIP_HIGH));
  }
  for (L i = first + 2 * x; i < w; i++) row[i] = (i - first) % 2 ? (T) 0 : from[(i - first) / 2];
}
// Whether a tap of the filter reads phase f of a stride.
INL bool reads_phase(L f, L taps, L dilation, L stride) {
  for (L y = 0; y < taps; y++) if (y * dilation % stride == f) return true;
  return false;
}
// Copies the part of channels [0, cg) of one group of an image that output rows from h0 on need.
OUTL void pad_image(const Conv& p, const Planes& q, const T* s, L h0, T* d) {
  const T* end = end_of(p);
  for (L fy = 0; fy < p.sh; fy++) for (L fx = 0; fx < p.sw; fx++) {
    if (!reads_phase(fy, p.r, p.dh, p.sh) || !reads_phase(fx, p.s, p.dw, p.sw)) continue;
    for (L c = 0; c < p.cg; c++) {
      T* plane = d + c * q.channel + (fy * p.sw + fx) * q.phase;
      // column i of this phase is source column i*sw + first
      const L first = fx - p.pw;
      const L lo = least(q.columns, most(0, ceil_div(-first, p.sw))), hi = most(lo, least(q.columns, ceil_div(p.w - first, p.sw)));
      for (L y = 0; y < q.rows; y++) {
        T* o = plane + y * q.columns;
        const L at = (h0 + y) * p.sh + fy - p.ph;
        if (at < 0 || at >= p.h) {
          fill_row(o, 0, q.columns);
          continue;
        }
        const T* from = s + c * p.ss[1] + at * p.ss[2] + (lo * p.sw + first) * p.ss[3];
        for (L i = 0; i < lo; i++) o[i] = 0;
        if (p.sw == 1 && p.ss[3] == 1) copy_row(o + lo, from, hi - lo);
        else if (p.sw == 2 && p.ss[3] == 1) copy_even(o + lo, from, hi - lo, plane + q.phase, end);
        else for (L i = lo; i < hi; i++, from += p.sw * p.ss[3]) o[i] = *from;
        for (L i = hi; i < q.columns; i++) o[i] = 0;
      }
    }
  }
}

struct Segment { L to, from, length; };
// Divides the pixels [p0, p1) of a unit of images, with rows of 'ow', into runs; returns their number.
INL L segments_of(L ow, L image, L rows, L columns, L p0, L p1, Segment* out) {
  L count = 0;
  for (L at = p0; at < p1;) {
    const L i = at / (rows * ow), y = at / ow % rows, x = at % ow, length = least(ow - x, p1 - at);
    out[count++] = {at - p0, i * image + y * columns + x, length};
    at += length;
  }
  return count;
}
// Zeros from element n of a row to the end of its vector: on some processors products with what memory happens to hold take
// a hundred times as long, if it looks like subnormal numbers.
INL void clear_excess(T* row, L n) {
  if (n % VL) st(row + n / VL * VL, (V) ((Bits) ld(row + n / VL * VL) & ~lanes_from(n % VL)));
}
// Rows are written in order with whole vectors, so that the next one overwrites the excess. An image that is read in
// place must not be read beyond its end.
template <bool place>
INL void pack_pixels(L kc, const L* taps, const T* padded, const Segment* segments, L count, L pixels, T* d) {
  const L width = (pixels + VL - 1) / VL * VL;
  for (L k = 0; k < kc; k++, d += width) {
    const T* s = padded + taps[k];
    for (L g = 0; g < count; g++) {
      const T* from = s + segments[g].from;
      T* to = d + segments[g].to;
      if (place) copy_row(to, from, segments[g].length);
      else for (L t = 0; t < segments[g].length; t += VL) st(to + t, ld(from + t));
    }
    clear_excess(d, pixels);
  }
}

enum { UNIT_PIXELS = 5 * NR, UNIT_DEPTH = 2304 / (int) sizeof(T) };
struct Units { L images, rows, per_image, count, parts; };
// Units of about 'wanted' pixels: rows of one image, or several small images.
INL Units units_of(const Conv& p, L nt, L wanted) {
  Units u;
  const L pixels = p.oh * p.ow;
  u.images = pixels * 2 <= wanted ? most(1, least(wanted / pixels, (p.n + nt - 1) / nt)) : 1;
  u.rows = u.images > 1 ? p.oh : most(1, least(p.oh, (wanted + p.ow - 1) / p.ow));
  u.rows = (p.oh + (p.oh + u.rows - 1) / u.rows - 1) / ((p.oh + u.rows - 1) / u.rows);
  u.per_image = (p.oh + u.rows - 1) / u.rows;
  u.count = (p.n + u.images - 1) / u.images * u.per_image;
  // if units do not divide evenly among the threads, the output channels are divided as well
  u.parts = u.count * p.groups >= 4 * nt || u.count * p.groups % nt == 0 ? 1 : most(1, least((p.kg + MR - 1) / MR, 4 * nt / (u.count * p.groups)));
  return u;
}

// Computes channels [m0, m1) of group g for images [i0, i1), output rows [h0, h1).
OUTL void conv_unit(const Conv& p, const L* taps, L g, L i0, L i1, L h0, L h1, L m0, L m1, L rows_planned) {
  const L depth = p.cg * p.r * p.s, rows = h1 - h0, per_image = rows * p.ow, pixels = (i1 - i0) * per_image;
  const Planes q = planes_of(p, rows_planned);
  const bool place = in_place(p);
  const L image = place ? p.ss[0] : p.cg * q.channel, kc_most = least(depth, UNIT_DEPTH), panels = (pixels + NR - 1) / NR;
  const bool direct = p.rs[3] == 1 && (p.rs[2] == p.ow || rows == 1) && i1 - i0 == 1;
  const L padded_length = place ? 0 : (i1 - i0) * image + 2 * NR, packed_length = panels * NR * kc_most + 2 * NR;
  const L segment_words = (pixels / p.ow + panels * 2 + 4) * (L) (sizeof(Segment) / sizeof(T));
  T* copy = scratch(0, (padded_length + packed_length + segment_words + (direct ? 0 : (m1 - m0) * pixels)) * sizeof(T) + 256);
  const T* padded = place ? p.source + i0 * p.ss[0] + g * p.cg * p.ss[1] + h0 * p.ss[2] : copy;
  T* packed = copy + (padded_length + 15) / 16 * 16;
  Segment* segments = (Segment*) (packed + (packed_length + 15) / 16 * 16);
  T* own = (T*) (segments + pixels / p.ow + panels * 2 + 4);
  if (!place) {
    for (L i = i0; i < i1; i++)
      pad_image(p, q, p.source + i * p.ss[0] + g * p.cg * p.ss[1], h0, copy + (i - i0) * image);
    for (L k = 0; k < 2 * NR; k++) copy[(i1 - i0) * image + k] = 0;
  }
  T* out = direct ? p.result + i0 * p.rs[0] + (g * p.kg) * p.rs[1] + h0 * p.rs[2] : own - m0 * pixels;
  const L crs = direct ? p.rs[1] : pixels;
  const T* weight = p.weight + g * p.kg * depth;
  if (p.bias) for (L m = m0; m < m1; m++) fill_row(out + m * crs, p.bias[(g * p.kg + m) * p.bias_stride], pixels);
  for (L k0 = 0; k0 < depth; k0 += kc_most) {
    const L kc = least(kc_most, depth - k0);
    for (L j = 0; j < panels; j++) {
      const L from = j * NR, to = least(pixels, from + NR);
      T* to_b = packed + j * NR * kc_most;
      const auto segmented = [&](L ow, L rows, L columns) { return segments_of(ow, image, rows, columns, from, to, segments); };
      if (place) pack_pixels<true>(kc, taps + k0, padded, segments, segmented(per_image, 1, 0), to - from, to_b);
      else pack_pixels<false>(kc, taps + k0, padded, segments, segmented(p.ow, rows, q.columns), to - from, to_b);
    }
    for (L m = m0; m < m1; m += MR * 2) {
      const L end = least(m1, m + MR * 2);
      for (L j = 0; j < panels; j++) {
        const L from = j * NR, cols = least(NR, pixels - from);
        const int nv = (int) ((cols + VL - 1) / VL), lanes = (int) (cols - (nv - 1) * VL);
        const T* b = packed + j * NR * kc_most;
        #define CALL(nv) rows_of_tiles<nv>(m, end, kc, weight + m * depth + k0, depth, b, nv * VL, out + from, crs, lanes, p.bias || k0 > 0)
        switch (nv) { case 1: CALL(1); break; case 2: CALL(2); break; default: CALL(3); }
        #undef CALL
      }
    }
  }
  if (!direct) {
    for (L m = m0; m < m1; m++) for (L i = i0; i < i1; i++) for (L y = h0; y < h1; y++) {
      const T* from = out + m * pixels + ((i - i0) * rows + y - h0) * p.ow;
      T* to = p.result + i * p.rs[0] + (g * p.kg + m) * p.rs[1] + y * p.rs[2];
      if (p.rs[3] == 1) copy_row(to, from, p.ow);
      else if (p.spread) spread_row(to - p.spread_first, p.spread, p.spread_first, from, p.ow);
      else for (L x = 0; x < p.ow; x++) to[x * p.rs[3]] = from[x];
    }
  }
  if (p.epilogue) for (L i = i0; i < i1; i++) p.epilogue(p.context, i, g * p.kg + m0, g * p.kg + m1, h0, h1);
}

INL void conv_part(const Conv& p, const Units& u, L* taps, L t, L nt) {
  const Planes q = planes_of(p, u.rows);
  L k = 0;
  if (in_place(p)) for (; k < p.cg; k++) taps[k] = k * p.ss[1];
  else for (L c = 0; c < p.cg; c++) for (L y = 0; y < p.r; y++) for (L x = 0; x < p.s; x++) taps[k++] = tap(p, q, c, y, x);
  const L total = u.count * p.groups * u.parts, mpanels = (p.kg + MR - 1) / MR;
  for (L w = total * t / nt; w < total * (t + 1) / nt; w++) {
    const L part = w % u.parts, g = w / u.parts % p.groups, unit = w / u.parts / p.groups;
    const L i0 = unit / u.per_image * u.images, h0 = unit % u.per_image * u.rows;
    conv_unit(p, taps, g, i0, least(p.n, i0 + u.images), h0, least(p.oh, h0 + u.rows),
              mpanels * part / u.parts * MR, least(p.kg, mpanels * (part + 1) / u.parts * MR), u.rows);
  }
}
`;

const CONV_DISPATCH: string = String.raw`
INL L unit_pixels(const Conv& p) { return most(UNIT_PIXELS, 16384 / (p.cg * p.r * p.s)); }
// Whether a convolution runs in units of pixels and channels, the only form that spreads rows.
INL bool in_units(const Conv& p) {
  return !scheme_of(p) && !few_pay(p) && !rows_pay(p) && !points_pay(p);
}
static void convolve(Conv& p, L threads) {
  const double products = (double) p.n * p.groups * p.kg * p.oh * p.ow * p.cg * p.r * p.s;
  const L nt = threads > 1 && products > 262144 ? threads : 1;
  if ((p.scheme = scheme_of(p))) return winograd(p, nt);
  if (few_pay(p)) return convolve_few(p, nt);
#if SPLIT
  if (points_pay(p) && points_split(p)) return convolve_split_points(p, nt);
#endif
  if (points_pay(p)) return convolve_points(p, nt);
  if (rows_pay(p)) return convolve_rows(p, nt);
  const UL table = (UL) (p.cg * p.r * p.s + 1) * sizeof(L);
  if (nt == 1) return conv_part(p, units_of(p, 1, unit_pixels(p)), (L*) scratch(1, table), 0, 1);
  #pragma omp parallel num_threads(nt)
  {
    const L count = omp_get_num_threads();
    conv_part(p, units_of(p, count, unit_pixels(p)), (L*) scratch(1, table), omp_get_thread_num(), count);
  }
}
`;

/** A tile over rows with a runtime stride: the weights, read in place. */
const CONV_TILES: string = String.raw`
template <int nv>
INL void rows_of_tiles(L m0, L m1, L kc, const T* a, L as, const T* b, L lb, T* c, L crs, int lanes, bool add) {
  rows<nv, false>(m0, m1, kc, a, as, MR * as, b, lb, c, crs, 1, lanes, add);
}
`;

/** The translation unit of convolutions over one element type. */
export function convSource(type: "float" | "double"): string {
  const head = `#define REAL ${type}\n${type === "float" ? "#define SINGLE 1\n" : ""}`;
  return head + VECTOR_PRELUDE + LANE_ORDERS + CONV_CALL + GEMM_TILES + SPLIT_TILES + CONV_TILES +
    CHANNEL_LANES +
    WINOGRAD_TILES + WINOGRAD_SCHEMES + CONV_FORWARD + WINOGRAD + WINOGRAD_WEIGHT + CONV_ROWS + CONV_SLIDING +
    CONV_FEW + CONV_POINTS + CONV_POINTS_SPLIT +
    CONV_DISPATCH + CONV_BACKWARD;
}
