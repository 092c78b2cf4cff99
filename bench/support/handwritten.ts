/**
 * Hand-written C++ for three memory-bound kernels, compiled with the same compiler and flags as generated code, as the
 * yardstick for the code generator. Each is one pass over rows with its intermediates in registers.
 */
import { buildLibraries } from "../../backends/cpu/object_cache.ts";
import { requireToolchain, threadCount } from "../../backends/cpu/toolchain.ts";

const SOURCE = `
typedef float f; typedef int i;
static inline float expf_(float x) {
  x = x < 88.3f ? x : 88.3f; x = x > -87.3f ? x : -87.3f;
  float t = __builtin_fmaf(x, 1.44269504f, 12582912.0f), n = t - 12582912.0f;
  float r = __builtin_fmaf(n, 2.12194440e-4f, __builtin_fmaf(n, -0.693359375f, x));
  float p = 0.0013813343f;
  p = __builtin_fmaf(p, r, 0.0083693238f); p = __builtin_fmaf(p, r, 0.041668449f);
  p = __builtin_fmaf(p, r, 0.16666515f); p = __builtin_fmaf(p, r, 0.49999994f);
  p = __builtin_fmaf(p * r, r, r) + 1.0f;
  i bits; __builtin_memcpy(&bits, &t, 4); bits = (bits << 23) + 0x3f800000;
  float scale; __builtin_memcpy(&scale, &bits, 4);
  return p * scale;
}
static inline float tanhf_(float x) { float e = expf_(2.0f * x); return (e - 1.0f) / (e + 1.0f); }
static inline float sigmoidf_(float x) { return 1.0f / (1.0f + expf_(-x)); }
struct Args { const float* x; const float* w; const float* b; float* y; long rows, cols, threads; };
extern "C" __attribute__((visibility("default"))) void chain(Args* a) {
  const float* __restrict x = a->x; float* __restrict y = a->y; const float b = a->b[0];
  const long n = a->rows * a->cols;
  #pragma omp parallel for simd schedule(static) num_threads(a->threads)
  for (long k = 0; k < n; k++) y[k] = tanhf_(__builtin_fmaf(1.5f, x[k], b)) * sigmoidf_(x[k]);
}
extern "C" __attribute__((visibility("default"))) void softmax(Args* a) {
  const long cols = a->cols;
  #pragma omp parallel for schedule(static) num_threads(a->threads)
  for (long r = 0; r < a->rows; r++) {
    const float* __restrict x = a->x + r * cols; float* __restrict y = a->y + r * cols;
    float m = -__builtin_inff(), s = 0.0f;
    #pragma omp simd reduction(max : m)
    for (long k = 0; k < cols; k++) m = x[k] > m ? x[k] : m;
    #pragma omp simd reduction(+ : s)
    for (long k = 0; k < cols; k++) { float e = expf_(x[k] - m); y[k] = e; s += e; }
    const float inverse = 1.0f / s;
    #pragma omp simd
    for (long k = 0; k < cols; k++) y[k] *= inverse;
  }
}
extern "C" __attribute__((visibility("default"))) void layer_norm(Args* a) {
  const long cols = a->cols; const float* __restrict w = a->w; const float* __restrict b = a->b;
  #pragma omp parallel for schedule(static) num_threads(a->threads)
  for (long r = 0; r < a->rows; r++) {
    const float* __restrict x = a->x + r * cols; float* __restrict y = a->y + r * cols;
    float s = 0.0f, q = 0.0f;
    #pragma omp simd reduction(+ : s)
    for (long k = 0; k < cols; k++) s += x[k];
    const float inverse = 1.0f / (float) cols, mean = s * inverse;
    #pragma omp simd reduction(+ : q)
    for (long k = 0; k < cols; k++) { float d = x[k] - mean; q += d * d; }
    const float scale = 1.0f / __builtin_sqrtf(q * inverse + 1e-5f);
    #pragma omp simd
    for (long k = 0; k < cols; k++) y[k] = (x[k] - mean) * scale * w[k] + b[k];
  }
}
`;

/** Operands of one call. */
export interface HandwrittenCall {
  readonly x: Float32Array<ArrayBuffer>;
  readonly weight: Float32Array<ArrayBuffer>;
  readonly bias: Float32Array<ArrayBuffer>;
  readonly y: Float32Array<ArrayBuffer>;
  readonly rows: number;
  readonly columns: number;
}

export type HandwrittenKernel = "chain" | "softmax" | "layer_norm";

/** The kernels, by name, bound to operands. */
export function handwritten(call: HandwrittenCall): Record<HandwrittenKernel, () => void> {
  requireToolchain();
  const [path] = buildLibraries([{ name: "handwritten", text: SOURCE, options: ["-fopenmp-simd"] }]);
  if (path === undefined) throw new Error("Expected a library");
  const shape = { parameters: ["buffer"], result: "void" } as const;
  const { symbols } = Deno.dlopen(path, { chain: shape, softmax: shape, layer_norm: shape });
  const address = (array: Float32Array<ArrayBuffer>) =>
    Deno.UnsafePointer.value(Deno.UnsafePointer.of(array));
  const args = new BigInt64Array([
    ...[call.x, call.weight, call.bias, call.y].map(address),
    BigInt(call.rows),
    BigInt(call.columns),
    BigInt(threadCount()),
  ]);
  return {
    chain: () => symbols.chain(args),
    softmax: () => symbols.softmax(args),
    layer_norm: () => symbols.layer_norm(args),
  };
}
