/**
 * The transforms of Winograd's F(2×2, 3×3) and the products between them (Lavin and Gray, "Fast Algorithms for
 * Convolutional Neural Networks"). Output: C++ text, part of the unit of conv.ts. Invariant: the interpolation points 0,
 * ±1, ∞ need only sums and halves, and channels are summed in chunks, so that the error stays that of the direct form to
 * within a factor of two.
 *
 * Lanes run along channels, of which images are copied side by side first (channel_lanes.ts): small images fill them as
 * well as large ones. What is transformed lies [chunk of channels][point][tile][channel] with tiles a constant distance
 * apart, so that a tile of products addresses all its rows from one register.
 */
export const WINOGRAD_TILES: string = String.raw`
enum { POINTS = 16, CHUNK = 64, TILE = CHUNK + 16 };   // tiles are an odd number of cache lines apart
// A tile of products: rows, and vectors of output channels.
enum { PR = VECTOR_REGISTERS >= 32 ? 14 : 6, PV = 2, PK = PV * VL };

// Weights w[3*i + j] to points u[4*i + j].
INL void transform_filter(const V* w, V* u) {
  const V half = (T) 0.5 - (V){};
  V s[4][3];
  UNROLL for (int j = 0; j < 3; j++) {
    const V a = w[j], b = w[3 + j], e = w[6 + j];
    s[0][j] = a; s[1][j] = half * ((a + e) + b); s[2][j] = half * ((a + e) - b); s[3][j] = e;
  }
  UNROLL for (int i = 0; i < 4; i++) {
    const V a = s[i][0], b = s[i][1], e = s[i][2];
    u[4 * i] = a; u[4 * i + 1] = half * ((a + e) + b); u[4 * i + 2] = half * ((a + e) - b); u[4 * i + 3] = e;
  }
}

// The memory of transformed tiles: a chunk of channels, and a point of it, take so many elements.
INL L point_of(L tiles) { return tiles * TILE + 16; }
INL L chunk_of(L tiles) { return POINTS * point_of(tiles); }
INL L transformed_of(L channels, L tiles) { return (channels + CHUNK - 1) / CHUNK * chunk_of(tiles) + CHUNK; }
INL T* lanes_at(T* v, L c, L tile, L tiles) { return v + c / CHUNK * chunk_of(tiles) + tile * TILE + c % CHUNK; }
// Writes points of a vector of channels, which may reach over the end of a chunk.
INL void store_points(const V* t, T* v, L c, L tile, L tiles) {
  T* to = lanes_at(v, c, tile, tiles);
  const L point = point_of(tiles), inside = CHUNK - c % CHUNK;
  if (inside >= VL) {
    UNROLL for (int p = 0; p < POINTS; p++) st(to + p * point, t[p]);
    return;
  }
  T* other = lanes_at(v, c + inside, tile, tiles);
  for (int p = 0; p < POINTS; p++) {
    T lanes[VL];
    st(lanes, t[p]);
    for (L l = 0; l < VL; l++) (l < inside ? to + l : other + l - inside)[p * point] = lanes[l];
  }
}
// Bt·d·B of all channels of one tile, 4x4 pixels at s.
INL void transform_tile(const T* s, L row, L pixel, L channels, T* v, L tile, L tiles) {
  for (L c = 0; c < channels; c = next_lanes(c, channels)) {
    V t[4][4], o[POINTS];
    UNROLL for (int j = 0; j < 4; j++) {
      V x[4];
      UNROLL for (int i = 0; i < 4; i++) x[i] = ld(s + i * row + j * pixel + c);
      t[0][j] = x[0] - x[2]; t[1][j] = x[1] + x[2]; t[2][j] = x[2] - x[1]; t[3][j] = x[1] - x[3];
    }
    UNROLL for (int i = 0; i < 4; i++) {
      o[4 * i] = t[i][0] - t[i][2]; o[4 * i + 1] = t[i][1] + t[i][2];
      o[4 * i + 2] = t[i][2] - t[i][1]; o[4 * i + 3] = t[i][1] - t[i][3];
    }
    store_points(o, v, c, tile, tiles);
  }
}
// A·d·At of all channels of the gradient of one tile, 2x2 pixels at s.
INL void transform_gradient(const T* s, L row, L pixel, L channels, T* v, L tile, L tiles) {
  for (L c = 0; c < channels; c = next_lanes(c, channels)) {
    V t[4][2], o[POINTS];
    UNROLL for (int j = 0; j < 2; j++) {
      const V a = ld(s + j * pixel + c), b = ld(s + row + j * pixel + c);
      t[0][j] = a; t[1][j] = a + b; t[2][j] = a - b; t[3][j] = -b;
    }
    UNROLL for (int i = 0; i < 4; i++) {
      o[4 * i] = t[i][0]; o[4 * i + 1] = t[i][0] + t[i][1];
      o[4 * i + 2] = t[i][0] - t[i][1]; o[4 * i + 3] = -t[i][1];
    }
    store_points(o, v, c, tile, tiles);
  }
}
// At·m·A of VL output channels: y[2*i + j] is pixel (i, j).
INL void transform_result(const T* m, L point, V bias, V* y) {
  V t[2][4];
  UNROLL for (int j = 0; j < 4; j++) {
    const V a = ld(m + j * point), b = ld(m + (4 + j) * point), c = ld(m + (8 + j) * point), e = ld(m + (12 + j) * point);
    t[0][j] = a + b + c;
    t[1][j] = b - c - e;
  }
  UNROLL for (int i = 0; i < 2; i++) {
    y[2 * i] = t[i][0] + t[i][1] + t[i][2] + bias;
    y[2 * i + 1] = t[i][1] - t[i][2] - t[i][3] + bias;
  }
}

// m[tile][PK] (+)= sum over channels of transformed tiles times transformed weights u[channel][PK].
template <int n> OUTL void product_tile(L channels, const T* v, const T* u, T* m, bool add) {
  V acc[n][PV];
  UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < PV; j++) acc[i][j] = (V){};
  NO_UNROLL for (L k = 0; k < channels; k++, u += PK) {
    V b[PV];
    UNROLL for (int j = 0; j < PV; j++) { b[j] = ld(u + j * VL); PIN(b[j]); }
    UNROLL for (int i = 0; i < n; i++) {
      const T x = v[i * TILE + k];
      UNROLL for (int j = 0; j < PV; j++) acc[i][j] += b[j] * x;
    }
  }
  UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < PV; j++) {
    T* to = m + i * PK + j * VL;
    st(to, add ? ld(to) + acc[i][j] : acc[i][j]);
  }
}
INL void product_tiles(L tiles, L channels, const T* v, const T* u, T* m, bool add) {
  L t = 0;
  #define TILES(n) for (; t + n <= tiles; t += n) product_tile<n>(channels, v + t * TILE, u, m + t * PK, add);
  TILES(PR) TILES(4) TILES(2) TILES(1)
  #undef TILES
}

// u[channel][PK] (+)= sum over tiles of transformed tiles times the transformed gradient of PK output channels.
template <int n> OUTL void sum_tile(L tiles, const T* v, const T* d, T* u, bool add) {
  V acc[n][PV];
  UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < PV; j++) acc[i][j] = (V){};
  NO_UNROLL for (L t = 0; t < tiles; t++, v += TILE, d += TILE) {
    V b[PV];
    UNROLL for (int j = 0; j < PV; j++) { b[j] = ld(d + j * VL); PIN(b[j]); }
    UNROLL for (int i = 0; i < n; i++) {
      const T x = v[i];
      UNROLL for (int j = 0; j < PV; j++) acc[i][j] += b[j] * x;
    }
  }
  UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < PV; j++) {
    T* to = u + i * PK + j * VL;
    st(to, add ? ld(to) + acc[i][j] : acc[i][j]);
  }
}
INL void sum_tiles(L channels, L tiles, const T* v, const T* d, T* u, bool add) {
  L c = 0;
  #define CHANNELS(n) for (; c + n <= channels; c += n) sum_tile<n>(tiles, v + c, d, u + c * PK, add);
  CHANNELS(PR) CHANNELS(4) CHANNELS(2) CHANNELS(1)
  #undef CHANNELS
}
`;
