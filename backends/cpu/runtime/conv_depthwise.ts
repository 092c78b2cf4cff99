/**
 * Depthwise convolutions of many channels: C++ text, part of the unit of conv.ts. Invariant: vectors run along
 * channels, so that each tap of each pixel is one aligned load and one multiply-add; images are turned into this
 * order with their padding, and results back from it, a square of pixels and channels at a time.
 */
export const CONV_DEPTHWISE: string = String.raw`
enum { PIXELS = VECTOR_REGISTERS >= 32 ? 8 : 4, TURNED_BYTES = 262144 };

// Vectors become what their lanes were: after each round, lanes of both halves stand in turns.
INL void turn(V* v) {
  UNROLL for (int round = 1; round < VL; round *= 2) {
    V t[VL];
    UNROLL for (int i = 0; i < VL / 2; i++) {
      t[2 * i] = SHUFFLED(v[i], v[i + VL / 2], ZIP_LOW);
      t[2 * i + 1] = SHUFFLED(v[i], v[i + VL / 2], ZIP_HIGH);
    }
    UNROLL for (int i = 0; i < VL; i++) v[i] = t[i];
  }
}
// n pixels of 'channels' channels that are 'apart', to d[pixel][lane]; lanes without a channel are zero. Nothing is read from
// 'end' on.
OUTL void turn_in(const T* s, L apart, L step, L channels, L n, const T* end, T* d) {
  L x = 0;
  const bool short_row = n < VL && s + (channels - 1) * apart + VL <= end;
  if (step == 1 && (n >= VL || short_row)) for (; x < n; x += VL) {
    if (!short_row) x = least(x, n - VL);
    V v[VL];
    UNROLL for (int c = 0; c < VL; c++) v[c] = c < channels ? ld(s + c * apart + x) : (V){};
    turn(v);
    if (short_row) for (int j = 0; j < n; j++) st(d + j * VL, v[j]);
    else UNROLL for (int j = 0; j < VL; j++) st(d + (x + j) * VL, v[j]);
  }
  for (; x < n; x++) for (L c = 0; c < VL; c++) d[x * VL + c] = c < channels ? s[c * apart + x * step] : (T) 0;
}
// The other way; up to 'room' elements may be written of a row, which come to lie on what is written later.
OUTL void turn_out(const T* s, L channels, L n, L room, T* d, L apart, L step) {
  L x = 0;
  if (step == 1 && room >= VL) for (; x < n; x += VL) {
    x = n < VL ? 0 : least(x, n - VL);
    V v[VL];
    UNROLL for (int j = 0; j < VL; j++) v[j] = ld(s + (x + j) * VL);
    turn(v);
    UNROLL for (int c = 0; c < VL; c++) if (c < channels) st(d + c * apart + x, v[c]);
  }
  for (; x < n; x++) for (L c = 0; c < channels; c++) d[c * apart + x * step] = s[x * VL + c];
}
// 'count' pixels of a row, 'step' apart: out = bias + sum over taps of weight * image
template <int count> OUTL void pixels_of_taps(const T* image, L step, const L* taps, L depth, const T* weight, V bias, T* out) {
  V acc[count];
  UNROLL for (int j = 0; j < count; j++) acc[j] = bias;
  NO_UNROLL for (L k = 0; k < depth; k++) {
    const T* s = image + taps[k];
    V w = ld(weight + k * VL);
    if (count > 1) PIN(w);
    UNROLL for (int j = 0; j < count; j++) acc[j] += w * ld(s + j * step);
  }
  UNROLL for (int j = 0; j < count; j++) st(out + j * VL, acc[j]);
}

// Output rows [y0, y1) of the channels from g0 on of image i.
OUTL void depthwise_unit(const Conv& p, const L* taps, L pitch, L i, L g0, L y0, L y1, L rows_planned) {
  const L depth = p.r * p.s, channels = least(VL, p.groups - g0), height = (rows_planned - 1) * p.sh + (p.r - 1) * p.dh + 1;
  T* image = scratch(0, (height * pitch * VL + depth * VL + most(p.ow, VL) * VL) * sizeof(T));
  T *weight = image + height * pitch * VL, *row = weight + depth * VL;
  const T* end = p.source + (p.n - 1) * p.ss[0] + (p.groups - 1) * p.ss[1] + (p.h - 1) * p.ss[2] + p.w;
  const L left = least(pitch, most(0, p.pw)), first = most(0, -p.pw), inside = most(0, least(p.w - first, pitch - left));
  for (L y = 0; y < (y1 - y0 - 1) * p.sh + (p.r - 1) * p.dh + 1; y++) {
    T* to = image + y * pitch * VL;
    const L at = y0 * p.sh + y - p.ph;
    if (at < 0 || at >= p.h) { fill_row(to, 0, pitch * VL); continue; }
    fill_row(to, 0, left * VL);
    turn_in(p.source + i * p.ss[0] + g0 * p.ss[1] + at * p.ss[2] + first * p.ss[3], p.ss[1], p.ss[3], channels, inside, end, to + left * VL);
    fill_row(to + (left + inside) * VL, 0, (pitch - left - inside) * VL);
  }
  turn_in(p.weight + g0 * depth, depth, 1, channels, depth, p.weight + p.groups * depth, weight);
  T lanes[VL] = {};
  for (L c = 0; c < channels; c++) lanes[c] = p.bias ? p.bias[(g0 + c) * p.bias_stride] : (T) 0;
  const V bias = ld(lanes);
  for (L y = y0; y < y1; y++) {
    const T* from = image + (y - y0) * p.sh * pitch * VL;
    const L step = p.sw * VL;
    L x = 0;
    // The last pixels may be made twice
    if (p.ow >= PIXELS) for (; x < p.ow; x += PIXELS) {
      x = least(x, p.ow - PIXELS);
      pixels_of_taps<PIXELS>(from + x * step, step, taps, depth, weight, bias, row + x * VL);
    }
    for (; x + 2 <= p.ow; x += 2) pixels_of_taps<2>(from + x * step, step, taps, depth, weight, bias, row + x * VL);
    if (x < p.ow) pixels_of_taps<1>(from + x * step, step, taps, depth, weight, bias, row + x * VL);
    const L room = p.ow >= VL || p.rs[2] != p.ow ? p.ow : (y1 - y) * p.ow;
    turn_out(row, channels, p.ow, room, p.result + i * p.rs[0] + g0 * p.rs[1] + y * p.rs[2], p.rs[1], p.rs[3]);
  }
  if (p.epilogue) p.epilogue(p.context, i, g0, g0 + channels, y0, y1);
}

// Whether lanes are filled by channels.
INL bool depthwise_pays(const Conv& p) { return p.cg == 1 && p.kg == 1 && p.groups >= VL; }

static void depthwise(const Conv& p, L threads) {
  const L pitch = (p.ow - 1) * p.sw + (p.s - 1) * p.dw + 1, blocks = (p.groups + VL - 1) / VL, units = p.n * blocks;
  const L fitting = TURNED_BYTES / (L) sizeof(T) / (pitch * VL) / p.sh, parts = (2 * threads + units - 1) / units;
  const L rows = most(1, least(least(p.oh, fitting), (p.oh + parts - 1) / parts)), per_image = (p.oh + rows - 1) / rows;
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads(), total = units * per_image;
    L* taps = (L*) scratch(1, (p.r * p.s + 1) * sizeof(L));
    for (L y = 0; y < p.r; y++) for (L x = 0; x < p.s; x++) taps[y * p.s + x] = (y * p.dh * pitch + x * p.dw) * VL;
    for (L w = total * t / nt; w < total * (t + 1) / nt; w++) {
      const L part = w % per_image, block = w / per_image % blocks, i = w / per_image / blocks;
      depthwise_unit(p, taps, pitch, i, block * VL, part * rows, least(p.oh, part * rows + rows), rows);
    }
  }
}
`;
