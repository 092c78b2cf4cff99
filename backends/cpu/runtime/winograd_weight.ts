/**
 * Gradients of 3×3 weights by the transposes of fast schemes (winograd_schemes.ts): transformed tiles of the image
 * times those of the gradient, summed over tiles, are the transformed gradient of the weight. C++ text, part of the
 * unit of conv.ts. Invariant: sums run over the tiles of a unit first and then over units, so that their errors stay
 * small.
 *
 * With many tiles each thread sums up units of its own; otherwise each computes some of the output channels from all
 * tiles.
 */
export const WINOGRAD_WEIGHT: string = String.raw`
// Writes input channels [c, c + count) of output channels [k, k + lanes) of a group from g[9*channel + tap].
INL void store_filters(const ConvCall& call, T* w, L k, L lanes, L c, L count, V* g) {
  const L* ws = call.weight_strides;
  T* to = w + k * ws[0] + c * ws[1];
  if (lanes == VL && count == VL && ws[1] == 9 && ws[2] == 3 && ws[3] == 1) {
    UNROLL for (int i = 0; i < 9; i++) {
      V a[VL];
      UNROLL for (int l = 0; l < VL; l++) a[l] = g[i * VL + l];
      transpose_lanes(a);
      UNROLL for (int l = 0; l < VL; l++) st(to + l * ws[0] + i * VL, a[l]);
    }
    return;
  }
  for (L q = 0; q < count; q++) for (L j = 0; j < 9; j++) {
    T x[VL];
    st(x, g[q * 9 + j]);
    for (L l = 0; l < lanes; l++) to[l * ws[0] + q * ws[1] + j / 3 * ws[2] + j % 3 * ws[3]] = x[l];
  }
}
// Computes input channels [c, c + VL) of a panel from the sum of 'copies' transformed gradients, 'apart' from each
// other.
OUTL void store_panel(const ConvCall& call, const Conv& p, L g, L panel, L c, const T* u, L copies, L apart) {
  const L count = least(VL, p.cg - c);
  for (L j = 0; j < PV; j++) {
    const L k = panel * PK + j * VL, lanes = least(VL, p.kg - k);
    if (lanes <= 0) break;
    V out[9 * VL];
    for (L q = 0; q < count; q++) {
      V points[MOST_POINTS];
      for (L i = 0; i < p.scheme->filters; i++) {
        const T* at = u + i * filter_point(p) + (c + q) * PK + j * VL;
        points[i] = ld(at);
        for (L n = 1; n < copies; n++) points[i] += ld(at + n * apart);
      }
      p.scheme->weight(points, out + q * 9);
    }
    store_filters(call, (T*) call.weight + g * p.kg * call.weight_strides[0], k, lanes, c, count, out);
  }
}

// Transforms output channels of panels [k0, k1) of the gradient of a unit; those that the last panel lacks are zero, as
// clear_excess says.
INL void unit_gradients(const Conv& p, const TileUnits& u, const TileUnit& w, L g, L k0, L k1, T* padded, T* d, L tiles) {
  // whole vectors of channels, of which the preceding ones are computed again
  const L first = least(k0 * PK, p.kg - VL), channels = least(p.kg, k1 * PK) - first;
  const L out = p.scheme->out, columns = out * u.across, pitch = p.kg + 16, rows = w.t1 - w.t0;
  for (L i = w.i0, tile = 0; i < w.i1; i++) {
    const T* at = p.result + i * p.rs[0] + (g * p.kg + first) * p.rs[1];
    to_lanes({at, channels, p.oh, p.ow, p.rs[1], p.rs[2], p.rs[3]}, out * w.t0, 0, out * rows, columns, padded, pitch);
    for (L y = 0; y < rows; y++) for (L x = 0; x < u.across; x++, tile++)
      p.scheme->gradient(padded + (out * y * columns + out * x) * pitch, columns * pitch, pitch, channels, d, tile, tiles);
  }
  const L lacking = k1 * PK - first - channels;
  if (lacking > 0) for (L tile = 0; tile < tiles; tile++) for (L point = 0; point < p.scheme->results; point++)
    fill_row(lanes_at(d, p.scheme->results, channels, tile, tiles) + point * point_of(tiles), 0, lacking);
}
// Adds a unit to panels [k0, k1) of group g of a transformed gradient, or initialises them. If it is the only unit, its
// results are written directly.
OUTL void winograd_sums(const ConvCall& call, const Conv& p, const TileUnits& u, const TileUnit& w, L g, L k0, L k1, T* sums, bool add) {
  const L tiles = (w.i1 - w.i0) * (w.t1 - w.t0) * u.across;
  const Scheme& s = *p.scheme;
  const L padded = most(pixels_of(p, u.rows) * pixels_of(p, u.across) * (p.cg + 16), s.out * s.out * u.rows * u.across * (p.kg + 16));
  const L transformed = transformed_of(s.images, p.cg, tiles), gradients = transformed_of(s.results, p.kg, tiles);
  T* copy = scratch(0, (padded + transformed + gradients + (sums ? 0 : filter_panel(p))) * sizeof(T));
  T *v = copy + padded, *d = v + transformed, *own = d + gradients;
  unit_tiles(p, u, w, g, copy, v, tiles);
  unit_gradients(p, u, w, g, k0, k1, copy, d, tiles);
  const L first = least(k0 * PK, p.kg - VL);
  for (L panel = k0; panel < k1; panel++) {
    const T* b = lanes_at(d, s.results, panel * PK - first, 0, tiles);
    T* to = sums ? sums + panel * filter_panel(p) : own;
    unsigned long written = 0;   // points of the filter
    for (L k = 0; k < s.count; k++) {
      const Product at = s.products[k];
      const bool more = add || written >> at.filter & 1;
      written |= 1ul << at.filter;
      for (L c = 0; c < p.cg; c += CHUNK)
        weight_products(least(CHUNK, p.cg - c), tiles, lanes_at(v, s.images, c, 0, tiles) + at.image * point_of(tiles),
                        b + at.result * point_of(tiles), to + at.filter * filter_point(p) + c * PK, more);
    }
    if (!sums) for (L c = 0; c < p.cg; c += VL) store_panel(call, p, g, panel, c, own, 1, 0);
  }
}

static void winograd_weight(const ConvCall& call, const Conv& p, L threads) {
  const L panels = panels_of(p), whole = panels * filter_panel(p), blocks = (p.cg + VL - 1) / VL;
  const TileUnits units = tile_units(p, tiles_wanted(p));
  const bool by_units = whole <= 1 << 20 && units.count >= 2 * threads;
  const L copies = by_units ? threads : 1;
  T* sums = units.count == 1 ? 0 : scratch(2, p.groups * copies * whole * sizeof(T));
  #pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const L t = omp_get_thread_num(), nt = omp_get_num_threads();
    for (L g = 0; g < p.groups; g++) {
      T* own = sums ? sums + g * copies * whole : 0;
      if (by_units) for (L part = copies * t / nt; part < copies * (t + 1) / nt; part++) {
        const L from = units.count * part / copies, to = units.count * (part + 1) / copies;
        for (L i = from; i < to; i++) winograd_sums(call, p, units, tile_unit(p, units, i), g, 0, panels, own + part * whole, i > from);
      } else {
        const L k0 = panels * t / nt, k1 = panels * (t + 1) / nt;
        if (k0 < k1) for (L i = 0; i < units.count; i++) winograd_sums(call, p, units, tile_unit(p, units, i), g, k0, k1, own, i > 0);
      }
    }
    #pragma omp barrier
    const L total = sums ? p.groups * panels * blocks : 0;
    for (L w = total * t / nt; w < total * (t + 1) / nt; w++) {
      const L c = w % blocks * VL, panel = w / blocks % panels, g = w / blocks / panels;
      store_panel(call, p, g, panel, c, sums + g * copies * whole + panel * filter_panel(p), copies, whole);
    }
  }
}
`;
