/**
 * The products of fast convolutions (winograd_schemes.ts), and the memory between their transforms. C++ text, part of
 * the unit of conv.ts. Invariant: channels are summed in chunks, which keeps errors small.
 *
 * Lanes run along channels, which are first copied next to each other (channel_lanes.ts), so that small images fill
 * lanes as well as large ones. Transformed data is laid out as [chunk of channels][point][tile][channel] with tiles a
 * constant distance apart, so that a tile of products addresses all its rows from one register.
 */
export const WINOGRAD_TILES: string = String.raw`
enum { CHUNK = 64, TILE = CHUNK + 16, MOST_POINTS = 36 };   // tiles are an odd number of cache lines apart
// A tile of products: rows, and vectors of output channels.
enum { PR = VECTOR_REGISTERS >= 32 ? 14 : 6, PV = 2, PK = PV * VL };

// The number of elements of a point, and of a chunk of channels, of transformed tiles.
INL L point_of(L tiles) { return tiles * TILE + 16; }
INL L transformed_of(L points, L channels, L tiles) { return (channels + CHUNK - 1) / CHUNK * points * point_of(tiles) + CHUNK; }
INL T* lanes_at(T* v, L points, L c, L tile, L tiles) { return v + c / CHUNK * points * point_of(tiles) + tile * TILE + c % CHUNK; }
// Writes points of a vector of channels, which may extend beyond the end of a chunk.
template <int points> INL void store_points(const V* t, T* v, L c, L tile, L tiles) {
  T* to = lanes_at(v, points, c, tile, tiles);
  const L point = point_of(tiles), inside = CHUNK - c % CHUNK;
  if (inside >= VL) {
    UNROLL for (int p = 0; p < points; p++) st(to + p * point, t[p]);
    return;
  }
  T* other = lanes_at(v, points, c + inside, tile, tiles);
  for (int p = 0; p < points; p++) {
    T lanes[VL];
    st(lanes, t[p]);
    for (L l = 0; l < VL; l++) (l < inside ? to + l : other + l - inside)[p * point] = lanes[l];
  }
}
// m[tile][PK] (+)= sum of 'depth' rows of v, with those of a tile ROW apart, times rows of b, PV vectors each. Short rows of
// many tiles are no stream for hardware prefetchers: those of the next tiles are prefetched, evenly over the loop, and so are
// elements from 'ahead' on, 'every' of them for each row.
template <int n, int ROW, int STEP, int B_STEP> OUTL void product_tile(L depth, const T* v, const T* b, T* m, bool add, const T* ahead, L every) {
  V acc[n][PV];
  UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < PV; j++) acc[i][j] = (V){};
  const T* next = v + n * ROW;
  NO_UNROLL for (L k = 0; k < depth; k++, v += STEP, b += B_STEP) {
    V right[PV];
    UNROLL for (int j = 0; j < PV; j++) { right[j] = ld(b + j * VL); PIN(right[j]); }
    if (STEP == 1 && n == PR) {
      UNROLL for (int j = 0; j < PV; j++) __builtin_prefetch(ahead + j * VL);
      ahead += every;
      __builtin_prefetch(next);
      next += n * ROW / CHUNK;
    }
    UNROLL for (int i = 0; i < n; i++) {
      const T x = v[i * ROW];
      UNROLL for (int j = 0; j < PV; j++) acc[i][j] += right[j] * x;
    }
  }
  UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < PV; j++) {
    T* to = m + i * PK + j * VL;
    st(to, add ? ld(to) + acc[i][j] : acc[i][j]);
  }
}
// 'far': b comes from memory, with the next product's after it, which the tiles share in prefetching; else from a near cache.
template <int ROW, int STEP, int B_STEP> INL void product_tiles(L count, L depth, const T* v, const T* b, T* m, bool add, bool far) {
  const L whole = most(1, count / PR), every = far ? (B_STEP + whole - 1) / whole : B_STEP;
  L t = 0;
  #define AHEAD (far ? b + depth * B_STEP + t / PR * depth * every : b + ROWS_AHEAD * B_STEP)
  #define TILES(n) for (; t + n <= count; t += n) product_tile<n, ROW, STEP, B_STEP>(depth, v + t * ROW, b, m + t * PK, add, AHEAD, every);
  TILES(PR) TILES(4) TILES(2) TILES(1)
  #undef TILES
  #undef AHEAD
}
// Results of tiles: the sum over channels of transformed tiles times transformed weights u[channel][PK].
INL void result_products(L tiles, L channels, const T* v, const T* u, T* m, bool add, bool far) { product_tiles<TILE, 1, PK>(tiles, channels, v, u, m, add, far); }
// Gradients of weights of channels: the sum over tiles of transformed tiles times the transformed gradient of PK output channels.
INL void weight_products(L channels, L tiles, const T* v, const T* d, T* u, bool add) { product_tiles<1, TILE, TILE>(channels, tiles, v, d, u, add, false); }
`;
