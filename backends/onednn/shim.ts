/**
 * The C++ source between dyn and oneDNN: creates primitives from words, and runs them on addresses. Both the interface
 * of oneDNN 2 (operation descriptors) and that of oneDNN 3 are supported. Invariants: tensors are float32 and laid out
 * by strides; where oneDNN needs another layout internally, the shim reorders on the way in and out.
 */

/** Kinds of primitives, in the order of their numbers in the words. */
export const KINDS = [
  ...["matmul", "convolution", "convolutionBackwardInput", "convolutionBackwardWeight"] as const,
  ...["softmax", "logSoftmax", "layerNorm"] as const,
] as const;

/** Roles of tensors, likewise. */
export const ROLES = [
  ...["source", "weights", "bias", "scale", "shift", "result"] as const,
  ...["sourceGradient", "weightsGradient", "resultGradient"] as const,
] as const;

/** The whole translation unit. */
export const SHIM = String.raw`
#include <oneapi/dnnl/dnnl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define API extern "C" __attribute__((visibility("default")))
extern "C" void omp_set_num_threads(int) __attribute__((weak));
extern "C" int omp_get_max_threads() __attribute__((weak));

#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t Layout;
static Layout strided(int n, const int64_t* dims, const int64_t* strides) {
  dnnl_memory_desc_t made = nullptr;
  return dnnl_memory_desc_create_with_strides(&made, n, dims, dnnl_f32, strides) == dnnl_success ? made : nullptr;
}
static Layout freely(int n, const int64_t* dims) {
  dnnl_memory_desc_t made = nullptr;
  return dnnl_memory_desc_create_with_tag(&made, n, dims, dnnl_f32, dnnl_format_tag_any) == dnnl_success ? made : nullptr;
}
static void drop(Layout layout) { if (layout) dnnl_memory_desc_destroy((dnnl_memory_desc_t)layout); }
#else
typedef const dnnl_memory_desc_t* Layout;
static Layout strided(int n, const int64_t* dims, const int64_t* strides) {
  dnnl_memory_desc_t* made = (dnnl_memory_desc_t*)calloc(1, sizeof(dnnl_memory_desc_t));
  if (dnnl_memory_desc_init_by_strides(made, n, dims, dnnl_f32, strides) == dnnl_success) return made;
  free(made);
  return nullptr;
}
static Layout freely(int n, const int64_t* dims) {
  dnnl_memory_desc_t* made = (dnnl_memory_desc_t*)calloc(1, sizeof(dnnl_memory_desc_t));
  if (dnnl_memory_desc_init_by_tag(made, n, dims, dnnl_f32, dnnl_format_tag_any) == dnnl_success) return made;
  free(made);
  return nullptr;
}
static void drop(Layout layout) { free((void*)layout); }
#endif

enum { MATMUL, CONVOLUTION, CONVOLUTION_DATA, CONVOLUTION_WEIGHTS, SOFTMAX, LOG_SOFTMAX, LAYER_NORM };
static const int ROLES[] = { DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_SCALE, DNNL_ARG_SHIFT,
  DNNL_ARG_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST };
enum { MOST = 5, AXES = 8 };

struct Tensor {
  int role, n;
  int64_t dims[AXES], strides[AXES];
  Layout plain, wanted;
  dnnl_memory_t outside, inside;
  size_t bytes; // inside, of the memory that all primitives share
  dnnl_primitive_t reorder;
};

/** A primitive, its tensors, the result last. */
struct Op {
  dnnl_primitive_t primitive;
  int kind, axis;
  int count;
  Tensor tensors[MOST];
};

static dnnl_engine_t engine;
static dnnl_stream_t stream;
enum { LINE = 64 };
static char* shared;
static size_t sharedBytes;

/** Memory for the reordered tensors of a primitive; primitives run one at a time. */
static char* sharedOf(size_t bytes) {
  if (bytes <= sharedBytes) return shared;
  free(shared);
  shared = nullptr;
  sharedBytes = posix_memalign((void**)&shared, LINE, bytes) == 0 ? bytes : 0;
  return shared;
}

static Layout wanted(const Op* op, int role) {
  for (int k = 0; k < op->count; k++) if (op->tensors[k].role == role) return op->tensors[k].wanted;
  return nullptr;
}

/** Numbers of a convolution: axes, then strides, dilations and padding of each. */
struct Geometry { int64_t strides[AXES], dilations[AXES], padding[AXES]; };

static dnnl_status_t forwardOf(dnnl_primitive_desc_t* made, Layout s, Layout w, Layout b, Layout d, const Geometry& g) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_convolution_forward_primitive_desc_create(made, engine, dnnl_forward_training, dnnl_convolution_direct,
    s, w, b, d, g.strides, g.dilations, g.padding, g.padding, nullptr);
#else
  dnnl_convolution_desc_t desc;
  dnnl_status_t status = dnnl_dilated_convolution_forward_desc_init(&desc, dnnl_forward_training,
    dnnl_convolution_direct, s, w, b, d, g.strides, g.dilations, g.padding, g.padding);
  return status != dnnl_success ? status : dnnl_primitive_desc_create(made, &desc, nullptr, engine, nullptr);
#endif
}

static dnnl_status_t describe(dnnl_primitive_desc_t* made, int kind, const Op* op, const double* numbers) {
  Layout src = wanted(op, DNNL_ARG_SRC), weights = wanted(op, DNNL_ARG_WEIGHTS), dst = wanted(op, DNNL_ARG_DST);
  Layout bias = wanted(op, DNNL_ARG_BIAS), diffDst = wanted(op, DNNL_ARG_DIFF_DST);
  switch (kind) {
    case MATMUL: {
#if DNNL_VERSION_MAJOR >= 3
      return dnnl_matmul_primitive_desc_create(made, engine, src, weights, nullptr, dst, nullptr);
#else
      dnnl_matmul_desc_t desc;
      dnnl_status_t status = dnnl_matmul_desc_init(&desc, src, weights, nullptr, dst);
      return status != dnnl_success ? status : dnnl_primitive_desc_create(made, &desc, nullptr, engine, nullptr);
#endif
    }
    case CONVOLUTION: case CONVOLUTION_DATA: case CONVOLUTION_WEIGHTS: {
      Geometry g;
      int axes = (int)numbers[0];
      for (int k = 0; k < axes; k++) {
        g.strides[k] = (int64_t)numbers[1 + k];
        g.dilations[k] = (int64_t)numbers[1 + axes + k] - 1;
        g.padding[k] = (int64_t)numbers[1 + 2 * axes + k];
      }
      if (kind == CONVOLUTION) return forwardOf(made, src, weights, bias, dst, g);
      Layout diffSrc = wanted(op, DNNL_ARG_DIFF_SRC), diffWeights = wanted(op, DNNL_ARG_DIFF_WEIGHTS);
      dnnl_primitive_desc_t hint = nullptr;
      bool isData = kind == CONVOLUTION_DATA;
      dnnl_status_t status = forwardOf(&hint, isData ? diffSrc : src, isData ? weights : diffWeights, nullptr, diffDst, g);
      if (status != dnnl_success) return status;
#if DNNL_VERSION_MAJOR >= 3
      status = isData
        ? dnnl_convolution_backward_data_primitive_desc_create(made, engine, dnnl_convolution_direct, diffSrc, weights,
            diffDst, g.strides, g.dilations, g.padding, g.padding, hint, nullptr)
        : dnnl_convolution_backward_weights_primitive_desc_create(made, engine, dnnl_convolution_direct, src, diffWeights,
            nullptr, diffDst, g.strides, g.dilations, g.padding, g.padding, hint, nullptr);
#else
      dnnl_convolution_desc_t desc;
      status = isData
        ? dnnl_dilated_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, diffSrc, weights, diffDst,
            g.strides, g.dilations, g.padding, g.padding)
        : dnnl_dilated_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, src, diffWeights, nullptr,
            diffDst, g.strides, g.dilations, g.padding, g.padding);
      if (status == dnnl_success) status = dnnl_primitive_desc_create(made, &desc, nullptr, engine, hint);
#endif
      dnnl_primitive_desc_destroy(hint);
      return status;
    }
    case SOFTMAX: case LOG_SOFTMAX: {
      dnnl_alg_kind_t how = kind == SOFTMAX ? dnnl_softmax_accurate : dnnl_softmax_log;
      int axis = (int)numbers[0];
#if DNNL_VERSION_MAJOR >= 3
      return dnnl_softmax_forward_primitive_desc_create(made, engine, dnnl_forward_inference, how, src, dst, axis, nullptr);
#else
      dnnl_softmax_v2_desc_t desc;
      dnnl_status_t status = dnnl_softmax_v2_forward_desc_init(&desc, dnnl_forward_inference, how, src, dst, axis);
      return status != dnnl_success ? status : dnnl_primitive_desc_create(made, &desc, nullptr, engine, nullptr);
#endif
    }
    case LAYER_NORM: {
      unsigned flags = (wanted(op, DNNL_ARG_SCALE) ? dnnl_use_scale : 0) | (wanted(op, DNNL_ARG_SHIFT) ? dnnl_use_shift : 0);
      float small = (float)numbers[0];
#if DNNL_VERSION_MAJOR >= 3
      return dnnl_layer_normalization_forward_primitive_desc_create(made, engine, dnnl_forward_inference, src, dst, nullptr,
        small, flags, nullptr);
#else
      dnnl_layer_normalization_desc_t desc;
      dnnl_status_t status = dnnl_layer_normalization_forward_desc_init(&desc, dnnl_forward_inference, src, nullptr, small,
        flags);
      return status != dnnl_success ? status : dnnl_primitive_desc_create(made, &desc, nullptr, engine, nullptr);
#endif
    }
  }
  return dnnl_invalid_arguments;
}

static dnnl_status_t reorderOf(dnnl_primitive_t* made, Layout from, Layout to) {
  dnnl_primitive_desc_t pd = nullptr;
  dnnl_status_t status = dnnl_reorder_primitive_desc_create(&pd, from, engine, to, engine, nullptr);
  if (status != dnnl_success) return status;
  status = dnnl_primitive_create(made, pd);
  dnnl_primitive_desc_destroy(pd);
  return status;
}

API void dyn_dnn_free(Op* op) {
  for (int k = 0; k < op->count; k++) {
    Tensor& t = op->tensors[k];
    if (t.reorder) dnnl_primitive_destroy(t.reorder);
    if (t.inside) dnnl_memory_destroy(t.inside);
    if (t.outside) dnnl_memory_destroy(t.outside);
    if (t.wanted != t.plain) drop(t.wanted);
    drop(t.plain);
  }
  if (op->primitive) dnnl_primitive_destroy(op->primitive);
  free(op);
}

/**
 * Creates a primitive. words: kind and count; for each tensor its role, axes, whether its internal layout is free,
 * sizes and strides; then numbers.
 */
API Op* dyn_dnn_make(const double* words, int32_t* status) {
  if (!engine) {
    *status = dnnl_engine_create(&engine, dnnl_cpu, 0);
    if (*status == dnnl_success) *status = dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    if (*status != dnnl_success) return nullptr;
  }
  Op* op = (Op*)calloc(1, sizeof(Op));
  int kind = op->kind = (int)*words++;
  op->count = (int)*words++;
  bool whole = true;
  for (int k = 0; k < op->count; k++) {
    Tensor& t = op->tensors[k];
    t.role = ROLES[(int)*words++];
    t.n = (int)*words++;
    bool isFree = *words++ != 0;
    for (int d = 0; d < t.n; d++) t.dims[d] = (int64_t)*words++;
    for (int d = 0; d < t.n; d++) t.strides[d] = (int64_t)*words++;
    t.plain = strided(t.n, t.dims, t.strides);
    t.wanted = isFree ? freely(t.n, t.dims) : t.plain;
    whole = whole && t.plain && t.wanted;
  }
  dnnl_primitive_desc_t pd = nullptr;
  op->axis = kind == SOFTMAX || kind == LOG_SOFTMAX ? (int)*words : -1;
  *status = whole ? describe(&pd, kind, op, words) : dnnl_invalid_arguments;
  if (*status == dnnl_success) *status = dnnl_primitive_create(&op->primitive, pd);
  for (int k = 0; k < op->count && *status == dnnl_success; k++) {
    Tensor& t = op->tensors[k];
    *status = dnnl_memory_create(&t.outside, t.plain, engine, DNNL_MEMORY_NONE);
    Layout inside = dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, t.role);
    if (*status != dnnl_success || !inside || dnnl_memory_desc_equal(inside, t.plain)) continue;
    *status = dnnl_memory_create(&t.inside, inside, engine, DNNL_MEMORY_NONE);
    t.bytes = (dnnl_memory_desc_get_size(inside) + LINE - 1) / LINE * LINE;
    bool isResult = k == op->count - 1;
    if (*status == dnnl_success) *status = reorderOf(&t.reorder, isResult ? inside : t.plain, isResult ? t.plain : inside);
  }
  if (pd) dnnl_primitive_desc_destroy(pd);
  if (*status == dnnl_success) return op;
  dyn_dnn_free(op);
  return nullptr;
}

static dnnl_status_t move(const Tensor& t, bool isResult) {
  dnnl_exec_arg_t args[] = { { DNNL_ARG_FROM, isResult ? t.inside : t.outside }, { DNNL_ARG_TO, isResult ? t.outside : t.inside } };
  return dnnl_primitive_execute(t.reorder, stream, 2, args);
}

/** Makes a softmax over a NaN or an infinity NaN as a whole, where oneDNN returns some zeros. For dense tensors. */
static void spread(const Tensor& t, int axis, const float* from, float* to) {
  int64_t outer = 1, inner = 1, size = t.dims[axis];
  for (int d = 0; d < axis; d++) outer *= t.dims[d];
  for (int d = axis + 1; d < t.n; d++) inner *= t.dims[d];
  for (int64_t o = 0; o < outer; o++) {
    const float* row = from + o * size * inner;
    int odd = 0;
    for (int64_t k = 0; k < size * inner; k++) odd |= !(row[k] < __builtin_inff());
    for (int64_t i = 0; odd && i < inner; i++) {
      bool isOdd = false;
      for (int64_t k = 0; k < size; k++) isOdd = isOdd || !(row[k * inner + i] < __builtin_inff());
      for (int64_t k = 0; isOdd && k < size; k++) to[(o * size + k) * inner + i] = __builtin_nanf("");
    }
  }
}

/** Runs a primitive on the memories of its tensors. */
API int32_t dyn_dnn_run(Op* op, const double* addresses, int32_t threads) {
  int former = omp_get_max_threads ? omp_get_max_threads() : 1;
  if (omp_set_num_threads && threads > 0) omp_set_num_threads(threads);
  dnnl_exec_arg_t args[MOST];
  dnnl_status_t status = dnnl_success;
  int last = op->count - 1;
  size_t bytes = 0;
  for (int k = 0; k <= last; k++) bytes += op->tensors[k].bytes;
  char* inside = bytes > 0 ? sharedOf(bytes) : nullptr;
  if (bytes > 0 && !inside) status = dnnl_out_of_memory;
  for (int k = 0; k <= last && status == dnnl_success; k++) {
    Tensor& t = op->tensors[k];
    status = dnnl_memory_set_data_handle(t.outside, (void*)(uintptr_t)addresses[k]);
    if (status == dnnl_success && t.reorder) status = dnnl_memory_set_data_handle(t.inside, inside);
    inside += t.bytes;
    args[k] = { t.role, t.reorder ? t.inside : t.outside };
    if (status == dnnl_success && t.reorder && k < last) status = move(t, false);
  }
  if (status == dnnl_success) status = dnnl_primitive_execute(op->primitive, stream, op->count, args);
  if (status == dnnl_success && op->tensors[last].reorder) status = move(op->tensors[last], true);
  dnnl_status_t waited = dnnl_stream_wait(stream);
  if (omp_set_num_threads && threads > 0) omp_set_num_threads(former);
  if (status == dnnl_success && op->axis >= 0) {
    spread(op->tensors[0], op->axis, (const float*)(uintptr_t)addresses[0], (float*)(uintptr_t)addresses[last]);
  }
  return status != dnnl_success ? status : waited;
}

API int32_t dyn_dnn_version() { return dnnl_version()->major * 100 + dnnl_version()->minor; }
`;
