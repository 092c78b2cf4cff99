/**
 * The C++ source of reductions over element types: the MPI type and operation for each pair of ours. Invariant:
 * 16-bit types are combined in float32 and rounded to nearest even after each combination; max and min of floats
 * return NaN if either is NaN and order −0 below 0, in whatever order ranks are combined.
 */
import { DTYPES } from "../../lib/base/dtype.ts";

/** The text, which follows mpi.h. Codes of types are their places in DTYPES, those of operations in REDUCE_OPS. */
export const REDUCTIONS = String.raw`
enum { ${DTYPES.map((dtype) => dtype.replace(/loat|nt|omplex/, "").toUpperCase()).join(", ")}, DTYPES };
enum { SUM, PRODUCT, MIN, MAX, BAND, BOR, BXOR, AVG, OPS };

struct half { uint16_t bits; };
struct brain { uint16_t bits; };

static inline float asFloat(uint32_t bits) { float f; memcpy(&f, &bits, 4); return f; }
static inline uint32_t asBits(float f) { uint32_t bits; memcpy(&bits, &f, 4); return bits; }

static inline float load(float x) { return x; }
static inline double load(double x) { return x; }
static inline float load(brain x) { return asFloat((uint32_t)x.bits << 16); }
static inline float load(half x) {
  // A float32 of the same fields is smaller by 2^112, even if it is subnormal
  float f = asFloat((x.bits & 0x7fffu) << 13) * 0x1p112f;
  uint32_t bits = asBits(f) | (f >= 65536.0f ? 0x7f800000u : 0u);
  return asFloat(bits | (x.bits & 0x8000u) << 16);
}

static inline void store(float* at, float x) { *at = x; }
static inline void store(double* at, double x) { *at = x; }
static inline void store(brain* at, float x) {
  uint32_t bits = asBits(x);
  at->bits = x != x ? 0x7fc0 : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}
static inline void store(half* at, float x) {
  uint32_t bits = asBits(x), sign = (bits >> 16) & 0x8000u, most = bits & 0x7fffffffu, found;
  if (most > 0x7f800000u) found = 0x7e00u;
  else if (most >= 0x477ff000u) found = 0x7c00u;
  // 0.5 has the same last place as subnormal float16
  else if (most < 0x38800000u) found = asBits(asFloat(most) + 0.5f) - 0x3f000000u;
  else found = (most + 0xc8000fffu + ((most >> 13) & 1u)) >> 13;
  at->bits = sign | found;
}

template <class T, int OP> static void combine(void* from, void* into, int* count, MPI_Datatype*) {
  const T* a = (const T*)from;
  T* b = (T*)into;
  for (int i = 0; i < *count; i++) {
    auto x = load(a[i]), y = load(b[i]);
    if (OP == SUM) store(b + i, x + y);
    else if (OP == PRODUCT) store(b + i, x * y);
    else if (OP == MIN) store(b + i, x < y || x != x || (x == y && __builtin_signbit(x)) ? x : y);
    else store(b + i, x > y || x != x || (x == y && !__builtin_signbit(x)) ? x : y);
  }
}

template <class T> static void divide(void* elements, int64_t count, int by) {
  T* at = (T*)elements;
  // Multiplication by the reciprocal of a power of two is exact, and faster
  if ((by & (by - 1)) == 0) {
    for (int64_t i = 0; i < count; i++) store(at + i, load(at[i]) * (1.0f / by));
  } else {
    for (int64_t i = 0; i < count; i++) store(at + i, load(at[i]) / by);
  }
}

static const int SMALL[] = { F16, BF16 }, OWN[] = { F32, F64, F16, BF16 };
static MPI_Datatype types[DTYPES];
static MPI_Op ops[DTYPES][OPS];

template <class T> static void own(int dtype, int first) {
  MPI_User_function* made[] = { combine<T, SUM>, combine<T, PRODUCT>, combine<T, MIN>, combine<T, MAX> };
  for (int op = first; op <= MAX; op++) MPI_Op_create(made[op], 1, &ops[dtype][op]);
}

static void prepareReductions() {
  types[F32] = MPI_FLOAT, types[F64] = MPI_DOUBLE, types[C64] = MPI_C_FLOAT_COMPLEX, types[C128] = MPI_C_DOUBLE_COMPLEX;
  types[I64] = MPI_INT64_T, types[I32] = MPI_INT32_T, types[I16] = MPI_INT16_T, types[I8] = MPI_INT8_T;
  types[UI8] = types[BOOL] = MPI_UINT8_T;
  MPI_Op known[] = { MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR };
  for (int dtype = 0; dtype < DTYPES; dtype++) for (int op = 0; op < AVG; op++) ops[dtype][op] = known[op];
  for (int dtype : SMALL) {
    MPI_Type_contiguous(2, MPI_BYTE, &types[dtype]);
    MPI_Type_commit(&types[dtype]);
  }
  own<float>(F32, MIN);
  own<double>(F64, MIN);
  own<half>(F16, SUM);
  own<brain>(BF16, SUM);
  MPI_Op some[] = { MPI_BOR, MPI_BAND, MPI_BAND, MPI_BOR };
  for (int op = SUM; op <= MAX; op++) ops[BOOL][op] = some[op];
  for (int dtype = 0; dtype < DTYPES; dtype++) ops[dtype][AVG] = ops[dtype][SUM];
}

static void releaseReductions() {
  for (int dtype : OWN) {
    bool small = dtype == F16 || dtype == BF16;
    for (int op = small ? SUM : MIN; op <= MAX; op++) MPI_Op_free(&ops[dtype][op]);
    if (small) MPI_Type_free(&types[dtype]);
  }
}

static void average(void* elements, int dtype, int64_t count, int by) {
  switch (dtype) {
    case F32: return divide<float>(elements, count, by);
    case C64: return divide<float>(elements, 2 * count, by);
    case F64: return divide<double>(elements, count, by);
    case C128: return divide<double>(elements, 2 * count, by);
    case F16: return divide<half>(elements, count, by);
    case BF16: return divide<brain>(elements, count, by);
  }
}
`;
