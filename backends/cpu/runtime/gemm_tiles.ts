/**
 * The innermost loops of matrix products: register tiles, dot products, packing; C++ text. Invariant: a tile reads kc
 * columns of A and kc rows of a full panel of B (padded with zeros when packed) and writes exactly the requested rows
 * and columns.
 *
 * Tile shapes (rows × vectors): 8×3 with 32 registers, 4×3 with 16; accumulators + B vectors + one broadcast must fit
 * the register file. Loop order and shapes follow Goto, van de Geijn, "Anatomy of High-Performance Matrix
 * Multiplication", with A read in place if its rows are contiguous.
 */

export const GEMM_TILES: string = String.raw`
enum { MR = VECTOR_REGISTERS >= 32 ? 8 : 4, NV = 3, NR = NV * VL };

// A part of an operand, with strides of rows and columns.
struct Operand { const T* at; L rs, cs; };

// c[rows x cols] (+)= the same part of s, with rows 'width' apart.
OUTL void store_part(const T* s, L rows, L width, L cols, T* c, L crs, L ccs, bool add) {
  for (L i = 0; i < rows; i++) for (L j = 0; j < cols; j++) {
    T* p = c + i * crs + j * ccs;
    *p = add ? *p + s[i * width + j] : s[i * width + j];
  }
}

// c[mr x nv vectors] (+)= a · b. UNIT: a(i, k) at a[i + k*as] (packed, or stored [K, M]); else at a[i*as + k].
// Row k of b is nv vectors at b + k*lb. The last vector has 'lanes' valid lanes; ccs is the column stride of c. With PACK,
// rows of b are copied to 'packed', one after the other: packing them before would wait for memory while nothing is computed.
template <int mr, int nv, bool UNIT, bool PACK = false>
OUTL void tile(L kc, const T* a, L as, const T* b, L lb, T* c, L crs, L ccs, int lanes, bool add, T* packed = 0) {
  V acc[mr][nv];
  UNROLL for (int i = 0; i < mr; i++) UNROLL for (int j = 0; j < nv; j++) acc[i][j] = (V){};
  const T* r[mr];
  UNROLL for (int i = 0; i < mr; i++) r[i] = UNIT ? a : a + i * as;
  const auto step = [&](L k) __attribute__((always_inline)) {
    V bv[nv];
    UNROLL for (int j = 0; j < nv; j++) { bv[j] = ld(b + j * VL); if (mr > 1) PIN(bv[j]); }
    if (PACK) {
      UNROLL for (int j = 0; j < nv; j++) st(packed + j * VL, bv[j]);
      packed += nv * VL;
    }
    UNROLL for (int i = 0; i < mr; i++) {
      const T x = UNIT ? a[i] : r[i][k];
      UNROLL for (int j = 0; j < nv; j++) acc[i][j] += bv[j] * x;
    }
    if (UNIT) a += as;
    b += lb;
  };
  NO_UNROLL for (L k = 0; k < kc; k++) {
    // Packed panels come from the second-level cache, other rows lie too far apart for the processor to see a stream
    if (mr == MR) UNROLL for (int j = 0; j < nv; j++) __builtin_prefetch(b + ROWS_AHEAD * lb + j * VL);
    step(k);
  }
  if (lanes == VL && ccs == 1) {
    UNROLL for (int i = 0; i < mr; i++) UNROLL for (int j = 0; j < nv; j++) {
      T* p = c + i * crs + j * VL;
      st(p, add ? ld(p) + acc[i][j] : acc[i][j]);
    }
    return;
  }
  T copy[mr * nv * VL] __attribute__((aligned(64)));
  UNROLL for (int i = 0; i < mr; i++) UNROLL for (int j = 0; j < nv; j++) *(V*) (copy + (i * nv + j) * VL) = acc[i][j];
  store_part(copy, mr, nv * VL, (nv - 1) * VL + lanes, c, crs, ccs, add);
}

// Rows [m0, m1) of one column panel. With UNIT, a points to row m0 of panels that are 'panel' elements apart. If not null,
// 'packed' receives the panel of b, for MR rows or more.
template <int nv, bool UNIT>
OUTL void rows(L m0, L m1, L kc, const T* a, L as, L panel, const T* b, L lb, T* c, L crs, L ccs, int lanes, bool add, T* packed = 0) {
  L m = m0;
  if (packed) {
    tile<MR, nv, UNIT, true>(kc, a, as, b, lb, c + m * crs, crs, ccs, lanes, add, packed);
    m += MR, a += panel, b = packed, lb = nv * VL;
  }
  for (; m + MR <= m1; m += MR, a += panel) tile<MR, nv, UNIT>(kc, a, as, b, lb, c + m * crs, crs, ccs, lanes, add);
  const L step = UNIT ? 1 : as;
  #define TAIL(mr) for (; MR > mr && m + mr <= m1; m += mr, a += mr * step) tile<mr, nv, UNIT>(kc, a, as, b, lb, c + m * crs, crs, ccs, lanes, add);
  TAIL(4) TAIL(1)
  #undef TAIL
}

// ---- packing
#ifdef SINGLE
typedef float V8 __attribute__((vector_size(32)));
typedef float V8U __attribute__((vector_size(32), aligned(4), may_alias));
typedef float V4U __attribute__((vector_size(16), aligned(4), may_alias));
#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int I8 __attribute__((vector_size(32)));
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (I8) {__VA_ARGS__})
#endif
// not through memory, since loads of halves that were just stored are slow
INL V8 joined(const float* low, const float* high) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(*(const V4U*) low, *(const V4U*) high, 0, 1, 2, 3, 4, 5, 6, 7);
#else
  V8 r;
  __builtin_memcpy(&r, low, 16);
  __builtin_memcpy((char*) &r + 16, high, 16);
  return r;
#endif
}
// d[k*ldd + j] = s[j*lds + k], 8 by 8; loading half lines does half of the transposition
INL void transpose8(const float* s, L lds, float* d, L ldd) {
  V8 r[8];
  UNROLL for (int i = 0; i < 4; i++) {
    r[i] = joined(s + i * lds, s + (i + 4) * lds);
    r[i + 4] = joined(s + i * lds + 4, s + (i + 4) * lds + 4);
  }
  UNROLL for (int h = 0; h < 8; h += 4) {
    V8 t0 = SHUFFLE(r[h], r[h + 1], 0, 8, 1, 9, 4, 12, 5, 13), t1 = SHUFFLE(r[h], r[h + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    V8 t2 = SHUFFLE(r[h + 2], r[h + 3], 0, 8, 1, 9, 4, 12, 5, 13), t3 = SHUFFLE(r[h + 2], r[h + 3], 2, 10, 3, 11, 6, 14, 7, 15);
    float* o = d + h * ldd;
    *(V8U*) o = SHUFFLE(t0, t2, 0, 1, 8, 9, 4, 5, 12, 13);
    *(V8U*) (o + ldd) = SHUFFLE(t0, t2, 2, 3, 10, 11, 6, 7, 14, 15);
    *(V8U*) (o + 2 * ldd) = SHUFFLE(t1, t3, 0, 1, 8, 9, 4, 5, 12, 13);
    *(V8U*) (o + 3 * ldd) = SHUFFLE(t1, t3, 2, 3, 10, 11, 6, 7, 14, 15);
  }
}
#endif

// The lanes from number n on.
INL Bits lanes_from(L n) {
  Bits lane;
  UNROLL for (int l = 0; l < VL; l++) lane[l] = l;
  return lane >= (Bits) {} + (int) n;
}

// A kc x cols part of B, element (k, j) at b[k*rs + j*cs], to d[k*width + j], zeros from cols to width.
OUTL void pack_b(L kc, const T* b, L rs, L cs, L cols, L width, T* d) {
  if (cs == 1) {
    for (L k = 0; k < kc; k++) {
      L j = 0;
      for (; j + VL <= cols; j += VL) st(d + k * width + j, ld(b + k * rs + j));
      // Whole vectors also at the end of rows that others follow
      if (j < cols && j + VL <= width && (kc - 1 - k) * rs >= VL) {
        st(d + k * width + j, (V) ((Bits) ld(b + k * rs + j) & ~lanes_from(cols - j)));
        continue;
      }
      for (; j < cols; j++) d[k * width + j] = b[k * rs + j];
      for (; j < width; j++) d[k * width + j] = 0;
    }
    return;
  }
  L j = 0;
#ifdef SINGLE
  if (rs == 1) {
    const L k8 = kc & ~7L;
    for (; j + 8 <= cols; j += 8) {
      for (L k = 0; k < k8; k += 8) transpose8(b + j * cs + k, cs, d + k * width + j, width);
      for (L k = k8; k < kc; k++) for (L q = 0; q < 8; q++) d[k * width + j + q] = b[(j + q) * cs + k];
    }
  }
#endif
  for (; j < cols; j++) for (L k = 0; k < kc; k++) d[k * width + j] = b[k * rs + j * cs];
  for (; j < width; j++) for (L k = 0; k < kc; k++) d[k * width + j] = 0;
}

// Row panels of A: element (i, k) of panel p to d[p*stride + k*MR + i]. The stride between panels is padded by a line;
// otherwise the panels being written would map to one cache set.
INL L panel_stride(L kc) { return kc * MR + 16; }
template <int np> INL void pack_panels(L kc, const T* s, L cs, T* d) {
  for (L k = 0; k < kc; k++, s += cs)
    UNROLL for (int q = 0; q < np; q++) __builtin_memcpy(d + q * panel_stride(kc) + k * MR, s + q * MR, MR * sizeof(T));
}
static __attribute__((noinline, unused)) void pack_a(L kc, const T* a, L rs, L cs, L m0, L m1, T* d) {
  L m = m0;
  if (rs == 1) {
    // Long pieces of each row of a stored matrix, since short ones are far apart
    for (; m + 32 * MR <= m1; m += 32 * MR, d += 32 * panel_stride(kc)) pack_panels<32>(kc, a + m, cs, d);
    for (; m + 8 * MR <= m1; m += 8 * MR, d += 8 * panel_stride(kc)) pack_panels<8>(kc, a + m, cs, d);
    for (; m + MR <= m1; m += MR, d += panel_stride(kc)) pack_panels<1>(kc, a + m, cs, d);
  }
  for (; m < m1; m += MR, d += panel_stride(kc)) {
    const L r = least(MR, m1 - m);
    for (L k = 0; k < kc; k++) for (L i = 0; i < r; i++) d[k * MR + i] = a[(m + i) * rs + k * cs];
  }
}

// ---- few rows or columns, both operands contiguous along K: vectors run along K, nothing is packed
INL T lane_sum(V v) {
  T s[VL];
  __builtin_memcpy(s, &v, sizeof v);
  UNROLL for (int h = VL / 2; h; h /= 2) UNROLL for (int i = 0; i < h; i++) s[i] += s[i + h];
  return s[0];
}
// Sums the lanes of n vectors, a power of two up to VL, into one vector. Each round adds pairs of lanes of two vectors,
// so that the sum of a vector is in the lane with its number in reversed bits.
template <int n> struct Turned {
  int at[n];
  constexpr Turned() : at{} { for (int i = 0; i < n; i++) for (int b = 1; b < n; b *= 2) at[i] = 2 * at[i] + (i & b ? 1 : 0); }
};
template <int n, class AT> INL void lane_sums(V* v, AT at) {
  UNROLL for (int h = n / 2; h; h /= 2) UNROLL for (int i = 0; i < h; i++) v[i] = SHUFFLED(v[i], v[i + h], EVENS) + SHUFFLED(v[i], v[i + h], ODDS);
  UNROLL for (int h = VL / n; h > 1; h /= 2) v[0] = SHUFFLED(v[0], v[0], EVENS) + SHUFFLED(v[0], v[0], ODDS);
  T s[VL];
  __builtin_memcpy(s, v, sizeof s);
  constexpr Turned<n> turned;
  UNROLL for (int i = 0; i < n; i++) at(i, s[turned.at[i]]);
}
template <int count, int from, class AT> INL void all_lane_sums(V* v, AT at) {
  enum { left = count - from, n = left >= 16 && VL >= 16 ? 16 : left >= 8 && VL >= 8 ? 8 : left >= 4 && VL >= 4 ? 4 : left >= 2 ? 2 : 1 };
  lane_sums<n>(v + from, [&](int i, T sum) { at(from + i, sum); });
  if constexpr (from + n < count) all_lane_sums<count, from + n>(v, at);
}
template <int mr, int nr>
OUTL void dots(L kc, const T* a, L lda, const T* b, L ldb, T* c, L crs, L ccs, bool add) {
  V acc[mr][nr];
  UNROLL for (int i = 0; i < mr; i++) UNROLL for (int j = 0; j < nr; j++) acc[i][j] = (V){};
  L k = 0;
  NO_UNROLL for (; k + VL <= kc; k += VL) {
    V bv[nr];
    UNROLL for (int j = 0; j < nr; j++) { bv[j] = ld(b + j * ldb + k); if (mr > 1) PIN(bv[j]); }
    UNROLL for (int i = 0; i < mr; i++) {
      V av = ld(a + i * lda + k);
      if (nr > 1) PIN(av);
      UNROLL for (int j = 0; j < nr; j++) acc[i][j] += av * bv[j];
    }
  }
  if (k < kc && kc >= VL) {
    // the last vector of each row, without the elements that are summed already
    const Bits rest = lanes_from(VL - (kc - k));
    V bv[nr];
    UNROLL for (int j = 0; j < nr; j++) bv[j] = (V) ((Bits) ld(b + j * ldb + kc - VL) & rest);
    UNROLL for (int i = 0; i < mr; i++) {
      const V av = (V) ((Bits) ld(a + i * lda + kc - VL) & rest);
      UNROLL for (int j = 0; j < nr; j++) acc[i][j] += av * bv[j];
    }
    k = kc;
  }
  T sums[mr][nr];
  all_lane_sums<mr * nr, 0>(&acc[0][0], [&](int i, T sum) { (&sums[0][0])[i] = sum; });
  for (; k < kc; k++) for (int i = 0; i < mr; i++) for (int j = 0; j < nr; j++) sums[i][j] += a[i * lda + k] * b[j * ldb + k];
  if (add) UNROLL for (int i = 0; i < mr; i++) UNROLL for (int j = 0; j < nr; j++) c[i * crs + j * ccs] += sums[i][j];
  else UNROLL for (int i = 0; i < mr; i++) UNROLL for (int j = 0; j < nr; j++) c[i * crs + j * ccs] = sums[i][j];
}
// One column after the other for one row: memory is faster with one stream than with several.
OUTL void dot_streamed(L kc, const T* a, const T* b, L ldb, L columns, T* c, L ccs, bool add) {
  for (L n = 0; n < columns; n++, b += ldb) {
    V acc[4] = {};
    L k = 0;
    NO_UNROLL for (; k + 4 * VL <= kc; k += 4 * VL) UNROLL for (int u = 0; u < 4; u++) acc[u] += ld(a + k + u * VL) * ld(b + k + u * VL);
    for (; k + VL <= kc; k += VL) acc[0] += ld(a + k) * ld(b + k);
    T sum = lane_sum((acc[0] + acc[1]) + (acc[2] + acc[3]));
    for (; k < kc; k++) sum += a[k] * b[k];
    T* p = c + n * ccs;
    *p = add ? *p + sum : sum;
  }
}
template <int nr>
INL void dot_rows(L m0, L m1, L kc, const T* a, L lda, const T* b, L ldb, T* c, L crs, L ccs, bool add) {
  L m = m0;
  #define STEP(mr) for (; m + mr <= m1; m += mr) dots<mr, nr>(kc, a + m * lda, lda, b, ldb, c + m * crs, crs, ccs, add);
  if (MR == 8) STEP(8)
  STEP(4) STEP(1)
  #undef STEP
}

// ---- one row times B with contiguous rows: 8 rows of B streamed at once, c stays in the first-level cache
template <int ku> OUTL void axpys(L n0, L n1, const T* a, L as, const T* b, L brs, T* c, bool add) {
  V s[ku];
  UNROLL for (int k = 0; k < ku; k++) s[k] = a[k * as] - (V){};
  L n = n0;
  for (; n + VL <= n1; n += VL) {
    V x = add ? ld(c + n) : (V){}, y = {};
    UNROLL for (int k = 0; k < ku; k++) if (k & 1) y += s[k] * ld(b + k * brs + n); else x += s[k] * ld(b + k * brs + n);
    st(c + n, x + y);
  }
  for (; n < n1; n++) {
    T x = add ? c[n] : (T) 0;
    UNROLL for (int k = 0; k < ku; k++) x += a[k * as] * b[k * brs + n];
    c[n] = x;
  }
}
`;
