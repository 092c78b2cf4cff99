/**
 * Images in channels-last order, so that vectors run along channels: parts of images with any strides are copied to
 * that order, including their padding, and results are copied back. This is C++ text, part of the unit of conv.ts.
 * Invariant: there are at least VL channels; the last vector of channels may overlap the one before it.
 */
export const CHANNEL_LANES: string = String.raw`
// The first channel of the next vector; after the last one it is at least 'channels'.
INL L next_lanes(L c, L channels) { return c + VL < channels ? least(c + VL, channels - VL) : channels; }

// One image: [channels, h, w] with these strides.
struct Image { const T* at; L channels, h, w, cs, ys, xs; };

// Writes 'count' adjacent pixels to d + place(pixel), with channels adjacent.
template <class PLACE> INL void pixels_to_lanes(const Image& m, const T* from, L count, T* d, PLACE place) {
  for (L c = 0; c < m.channels; c = next_lanes(c, m.channels)) {
    const T* s = from + c * m.cs;
    for (L q = 0; q < count; q = next_lanes(q, count)) {
      V a[VL];
      UNROLL for (int i = 0; i < VL; i++) a[i] = ld(s + i * m.cs + q);
      transpose_lanes(a);
      UNROLL for (int i = 0; i < VL; i++) st(d + place(q + i) + c, a[i]);
    }
  }
}

// Writes rows from y0 on and columns from x0 on, zero outside the image, to d[(y*columns + x)*pitch + channel].
OUTL void to_lanes(const Image& m, L y0, L x0, L rows, L columns, T* d, L pitch) {
  const L top = least(rows, most(0, -y0)), bottom = most(top, least(rows, m.h - y0));
  const L left = least(columns, most(0, -x0)), right = most(left, least(columns, m.w - x0)), width = right - left;
  for (L y = 0; y < rows; y++) {
    T* row = d + y * columns * pitch;
    if (y < top || y >= bottom || !width) { fill_row(row, 0, columns * pitch); continue; }
    fill_row(row, 0, left * pitch);
    fill_row(row + right * pitch, 0, (columns - right) * pitch);
  }
  if (bottom == top || !width) return;
  const T* from = m.at + (y0 + top) * m.ys + (x0 + left) * m.xs;
  T* to = d + (top * columns + left) * pitch;
  if (m.xs == 1 && m.ys == width && (bottom - top) * width >= VL) {
    // all rows are one run
    L y = 0, x = 0, last = 0;
    pixels_to_lanes(m, from, (bottom - top) * width, to, [&](L q) {
      if (q < last) y = q / width, x = q - y * width;
      else { x += q - last; while (x >= width) x -= width, y++; }
      last = q;
      return (y * columns + x) * pitch;
    });
    return;
  }
  for (L y = top; y < bottom; y++, from += m.ys, to += columns * pitch) {
    if (m.xs == 1 && width >= VL) pixels_to_lanes(m, from, width, to, [&](L q) { return q * pitch; });
    else for (L x = 0; x < width; x++) {
      const T* s = from + x * m.xs;
      if (m.cs == 1) copy_row(to + x * pitch, s, m.channels);
      else for (L c = 0; c < m.channels; c++) to[x * pitch + c] = s[c * m.cs];
    }
  }
}

// Reads 'count' adjacent pixels of 'channels' channels, up to VL, from s[pixel*pitch + channel].
INL void lanes_to_pixels(const T* s, L pitch, L count, L channels, T* to, L cs) {
  if (count < VL) {
    for (L c = 0; c < channels; c++) for (L q = 0; q < count; q++) to[c * cs + q] = s[q * pitch + c];
    return;
  }
  for (L q = 0; q < count; q = next_lanes(q, count)) {
    V a[VL];
    UNROLL for (int i = 0; i < VL; i++) a[i] = ld(s + (q + i) * pitch);
    transpose_lanes(a);
    if (channels == VL) UNROLL for (int i = 0; i < VL; i++) st(to + i * cs + q, a[i]);
    else UNROLL for (int i = 0; i < VL; i++) if (i < channels) st(to + i * cs + q, a[i]);
  }
}
`;
