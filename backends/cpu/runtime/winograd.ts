/**
 * Convolutions of 3×3 filters with stride 1 or 2 by transforms (winograd_schemes.ts). C++ text, part of the unit of
 * conv.ts. Invariant: that of its products (winograd_schemes.ts), and results do not depend on the number of threads.
 *
 * A unit of work is some rows of tiles: their channels are copied to channels-last order and transformed once, then all
 * panels of output channels are computed from them. Threads divide the panels of units; if several threads share a
 * unit, each of them transforms it.
 */
export const WINOGRAD: string = String.raw`
INL L panels_of(const Conv& p) { return (p.kg + PK - 1) / PK; }

// Loads the weights of output channels [k, k + VL), of which 'lanes' exist, and of input channels [c, c + count):
// g[9*channel + tap].
INL void filter_lanes(const Conv& p, const T* w, L k, L lanes, L c, L count, V* g) {
  const T* s = w + k * p.filter_out + c * p.filter_in;
  if (lanes == VL && count == VL && p.filter_in == 9 && !p.turned) {
    UNROLL for (int i = 0; i < 9; i++) {
      V a[VL];
      UNROLL for (int l = 0; l < VL; l++) {
        const T* at = s + l * p.filter_out + i * VL;
        a[l] = ld(at);
        __builtin_prefetch(at + 2 * 9 * VL, 0, 2);   // each output channel is too short a stream
      }
      transpose_lanes(a);
      UNROLL for (int l = 0; l < VL; l++) g[i * VL + l] = a[l];
    }
    return;
  }
  for (L q = 0; q < count; q++, s += p.filter_in) {
    // Whole vectors from every ninth element on are read, which is not possible at the end of the weights
    if (VL > 9 && lanes == VL && p.filter_out == 9 && (k + VL < p.kg || c + q + 1 < p.cg)) {
      V a[VL];
      UNROLL for (int l = 0; l < VL; l++) a[l] = ld(s + l * 9);
      transpose_lanes(a);
      UNROLL for (int j = 0; j < 9; j++) g[q * 9 + (p.turned ? 8 - j : j)] = a[j < VL ? j : 0];
      continue;
    }
    for (int j = 0; j < 9; j++) {
      T x[VL];
      for (L l = 0; l < VL; l++) x[l] = l < lanes ? s[l * p.filter_out + (p.turned ? 8 - j : j)] : (T) 0;
      g[q * 9 + j] = ld(x);
    }
  }
}
// The distance of points of a panel of transformed weights is a little more than their length: at a power of two they
// would map to one cache set.
INL L filter_point(const Conv& p) { return p.cg * PK + 16; }
INL L filter_panel(const Conv& p) { return p.scheme->filters * filter_point(p); }
// Computes input channels [c, c + VL) of transformed weights, as far as they exist: u[point][channel][PK].
OUTL void transform_weights(const Conv& p, L g, L panel, L c, T* u) {
  const L count = least(VL, p.cg - c);
  for (L j = 0; j < PV; j++) {
    const L k = panel * PK + j * VL;
    V from[9 * VL], out[MOST_POINTS];
    filter_lanes(p, p.filters + g * p.filter_group, k, most(0, least(VL, p.kg - k)), c, count, from);
    T* to = u + c * PK + j * VL;
    for (L q = 0; q < count; q++) {
      p.scheme->filter(from + q * 9, out);
      for (L i = 0; i < p.scheme->filters; i++) st(to + i * filter_point(p) + q * PK, out[i]);
    }
  }
}

// Units of rows of tiles: 'per_image' units of up to 'rows' rows for each group of 'images'.
struct TileUnits { L images, rows, per_image, count, across; };
INL TileUnits tile_units(const Conv& p, L wanted) {
  TileUnits u;
  const L out = p.scheme->out, down = (p.oh + out - 1) / out;
  u.across = (p.ow + out - 1) / out;
  u.images = most(1, least(p.n, wanted / (down * u.across)));
  u.per_image = u.images > 1 ? 1 : (down + most(1, wanted / u.across) - 1) / most(1, wanted / u.across);
  u.rows = (down + u.per_image - 1) / u.per_image;
  u.per_image = (down + u.rows - 1) / u.rows;
  u.count = (p.n + u.images - 1) / u.images * u.per_image;
  return u;
}
// The images and rows of tiles of a unit.
struct TileUnit { L i0, i1, t0, t1; };
INL TileUnit tile_unit(const Conv& p, const TileUnits& u, L unit) {
  const L i0 = unit / u.per_image * u.images, t0 = unit % u.per_image * u.rows;
  return {i0, least(p.n, i0 + u.images), t0, least((p.oh + p.scheme->out - 1) / p.scheme->out, t0 + u.rows)};
}
// Number of tiles that are transformed together: with large weights, which each unit reads, more than fit into the near
// cache.
INL L tiles_wanted(const Conv& p) {
  const L bytes = p.cg * p.kg * p.scheme->filters * (L) sizeof(T);
  return most(PR, (bytes > (1 << 20) ? 4 << 20 : 1 << 18) / (L) sizeof(T) / (p.scheme->images * (p.cg + 16)));
}
// Number of pixels of this many adjacent tiles.
INL L pixels_of(const Conv& p, L tiles) { return (tiles - 1) * p.scheme->step + p.scheme->in; }
// Transforms the tiles of group g of a unit.
INL void unit_tiles(const Conv& p, const TileUnits& u, const TileUnit& w, L g, T* padded, T* v, L tiles) {
  const L columns = pixels_of(p, u.across), pitch = p.cg + 16, rows = w.t1 - w.t0, step = p.scheme->step;
  for (L i = w.i0, tile = 0; i < w.i1; i++) {
    const Image m = {p.source + i * p.ss[0] + g * p.cg * p.ss[1], p.cg, p.h, p.w, p.ss[1], p.ss[2], p.ss[3]};
    to_lanes(m, step * w.t0 - p.ph, -p.pw, pixels_of(p, rows), columns, padded, pitch);
    for (L y = 0; y < rows; y++) for (L x = 0; x < u.across; x++, tile++)
      p.scheme->image(padded + (step * y * columns + step * x) * pitch, columns * pitch, pitch, p.cg, v, tile, tiles);
  }
}

// Writes the results of panel 'panel' of group g of one image of a unit, from products m of its first tile on. Rows are
// collected first if channels are not adjacent.
INL void unit_results(const Conv& p, const TileUnits& u, L i, L t0, L t1, L g, L panel, const T* m, L point, T* rows) {
  const L out = p.scheme->out, k0 = panel * PK, h0 = out * t0, h1 = least(p.oh, out * t1);
  T bias[PK];
  for (L k = 0; k < PK; k++) bias[k] = p.bias && k0 + k < p.kg ? p.bias[(g * p.kg + k0 + k) * p.bias_stride] : (T) 0;
  T* to = p.result + i * p.rs[0] + (g * p.kg + k0) * p.rs[1] + h0 * p.rs[2];
  for (L j = 0; j < PV; j++) {
    const L lanes = least(VL, p.kg - k0 - j * VL);
    if (lanes <= 0) break;
    const bool straight = p.rs[1] == 1 && lanes == VL;
    const V b = ld(bias + j * VL);
    T *at = straight ? to + j * VL : rows, *result = to + j * VL * p.rs[1];
    const L row = straight ? p.rs[2] : p.ow * VL, pixel = straight ? p.rs[3] : VL;
    for (L y = 0; y < h1 - h0; y += out)
      p.scheme->result(m + y / out * u.across * PK + j * VL, point, b, at + y * row, row, pixel, h1 - h0 - y, p.ow);
    if (straight) continue;
    if (p.rs[3] == 1 && p.rs[2] == p.ow) lanes_to_pixels(rows, VL, (h1 - h0) * p.ow, lanes, result, p.rs[1]);
    else for (L y = 0; y < h1 - h0; y++) {
      const T* s = rows + y * p.ow * VL;
      if (p.rs[3] == 1) lanes_to_pixels(s, VL, p.ow, lanes, result + y * p.rs[2], p.rs[1]);
      else for (L x = 0; x < p.ow; x++) for (L l = 0; l < lanes; l++) result[y * p.rs[2] + x * p.rs[3] + l * p.rs[1]] = s[x * VL + l];
    }
  }
}

// Prefetches share k of 'count' of the results of a panel, whose channels are far apart.
INL void prefetch_results(const Conv& p, const TileUnit& w, L g, L panel, L k, L count) {
  if (p.rs[3] != 1) return;
  const L first = panel * PK, channels = least(p.kg - first, PK), h0 = p.scheme->out * w.t0, h1 = least(p.oh, p.scheme->out * w.t1);
  for (L c = first + channels * k / count; c < first + channels * (k + 1) / count; c++) for (L i = w.i0; i < w.i1; i++)
    prefetch_row_to_write(p.result + i * p.rs[0] + (g * p.kg + c) * p.rs[1] + h0 * p.rs[2], (h1 - h0 - 1) * p.rs[2] + p.ow);
}

// Computes panels [k0, k1) of group g of a unit. 'weights' are those of all groups and panels, and 'far' if an earlier call
// has written them; without them each panel is transformed when it is used.
OUTL void winograd_unit(const Conv& p, const TileUnits& u, const TileUnit& w, const T* weights, bool far, L g, L k0, L k1) {
  const L per_image = (w.t1 - w.t0) * u.across, tiles = (w.i1 - w.i0) * per_image, point = tiles * PK + 16;
  const Scheme& s = *p.scheme;
  const L padded = pixels_of(p, u.rows) * pixels_of(p, u.across) * (p.cg + 16), transformed = transformed_of(s.images, p.cg, tiles);
  const L products = s.results * point, own = weights ? 0 : filter_panel(p);
  T* copy = scratch(0, (padded + transformed + products + own + s.out * u.rows * p.ow * VL) * sizeof(T));
  T *v = copy + padded, *m = v + transformed, *filters = m + products, *rows = filters + own;
  unit_tiles(p, u, w, g, copy, v, tiles);
  for (L panel = k0; panel < k1; panel++) {
    if (!weights) for (L c = 0; c < p.cg; c += VL) transform_weights(p, g, panel, c, filters);
    const T* of = weights ? weights + (g * panels_of(p) + panel) * filter_panel(p) : filters;
    for (L k = 0; k < s.count; k++) {
      prefetch_results(p, w, g, panel, k, s.count);
      const Product at = s.products[k];
      const bool add = k && s.products[k - 1].result == at.result;
      for (L c = 0; c < p.cg; c += CHUNK)
        result_products(tiles, least(CHUNK, p.cg - c), lanes_at(v, s.images, c, 0, tiles) + at.image * point_of(tiles),
                        of + at.filter * filter_point(p) + c * PK, m + at.result * point, add || c > 0, far);
    }
    for (L i = w.i0; i < w.i1; i++) unit_results(p, u, i, w.t0, w.t1, g, panel, m + (i - w.i0) * per_image * PK, point, rows);
  }
  if (p.epilogue) for (L i = w.i0; i < w.i1; i++)
    p.epilogue(p.context, i, g * p.kg + k0 * PK, g * p.kg + least(p.kg, k1 * PK), s.out * w.t0, least(p.oh, s.out * w.t1));
}

// The approximate cost of transforming weights, in units of products, and of a scheme.
INL double filters_cost(const Conv& p, const Scheme& s) { return 0.5 * VL * (9 + s.filters) * p.kg * p.cg; }
INL double scheme_cost(const Conv& p, const Scheme& s) {
  const double tiles = (double) p.n * ((p.oh + s.out - 1) / s.out) * ((p.ow + s.out - 1) / s.out);
  return (double) s.count * p.kg * p.cg * tiles + filters_cost(p, s) +
    (2.0 * (s.images + s.in * s.in) * p.cg + 2.5 * (s.results + s.out * s.out) * p.kg) * tiles;
}
// Whether the saved products outweigh the transforms; 'direct': the products without a scheme.
INL bool scheme_pays(const Conv& p, const Scheme& s, double direct) {
  return p.cg >= 16 && p.kg >= 16 && scheme_cost(p, s) < 1.2 * direct;
}
// The scheme of a convolution in the forward sense, or null.
INL const Scheme* scheme_of(const Conv& p) {
  if (p.r != 3 || p.s != 3 || p.dh != 1 || p.dw != 1 || p.sh != p.sw) return 0;
  const double direct = 9.0 * p.kg * p.cg * p.n * p.oh * p.ow;
  if (p.sh == 2) return scheme_pays(p, STRIDED, direct) ? &STRIDED : 0;
  if (p.sh != 1) return 0;
  const Scheme& s = p.fast && scheme_cost(p, FINE_4) < scheme_cost(p, FINE_2) ? FINE_4 : FINE_2;
  return scheme_pays(p, s, direct) ? &s : 0;
}

// Whether transforming weights takes a noticeable part of a call.
INL bool keeping_pays(const Conv& p) { return filters_cost(p, *p.scheme) > 0.02 * scheme_cost(p, *p.scheme); }

static void winograd(const Conv& p, L threads) {
  const L panels = panels_of(p);
  const TileUnits units = tile_units(p, tiles_wanted(p));
  const L blocks = (p.cg + VL - 1) / VL, filters = p.groups * panels, bytes = filters * filter_panel(p) * sizeof(T);
  T* kept = p.record ? (T*) (UL) p.record[0] : 0;
  T* weights = kept ? kept : units.count == 1 ? 0 : scratch(2, bytes);
  const bool transforms = weights && !(kept && p.record[1]);
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads(), total = units.count * p.groups * panels;
    if (transforms) {
      for (L i = filters * blocks * t / nt; i < filters * blocks * (t + 1) / nt; i++) {
        const L at = i / blocks;
        transform_weights(p, at / panels, at % panels, i % blocks * VL, weights + at * filter_panel(p));
      }
      #pragma omp barrier
    }
    for (L from = total * t / nt, to = total * (t + 1) / nt; from < to;) {
      const L k0 = from % panels, k1 = least(panels, k0 + to - from), g = from / panels % p.groups;
      winograd_unit(p, units, tile_unit(p, units, from / panels / p.groups), weights, weights && !transforms, g, k0, k1);
      from += k1 - k0;
    }
  }
  if (p.record) p.record[1] = kept != 0, p.record[2] = keeping_pays(p) ? bytes : 0;
}
`;
