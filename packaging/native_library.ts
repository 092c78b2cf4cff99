/**
 * A program as one shared library with a C header. Invariant: the library needs only the C and OpenMP runtimes; its
 * functions begin with the prefix.
 */
import type { Program } from "../lib/loops/ir.ts";
import { itemSize } from "../lib/base/dtype.ts";
import { DynError } from "../lib/base/errors.ts";
import type { CallSpec } from "../lib/packages/call_spec.ts";
import type { NativeTarget, PackagedMutation, PackagedProgram } from "../lib/packages/manifest.ts";
import { type Dim, print } from "../lib/sym/expr.ts";
import { linkedLibrary } from "../backends/cpu/linked_library.ts";
import { prepareProgram } from "../backends/cpu/native_program.ts";
import { frameLayout } from "../backends/cpu/frame.ts";
import { routineSource } from "../backends/cpu/runtime_library.ts";
import { printIndex } from "../backends/cpu/print/types.ts";
import { processorFeatures } from "../runtime/native_session.ts";

/** The source of a memory that the program reads. */
export type NativeInput =
  /** A tensor passed by the caller. */
  | {
    readonly kind: "argument";
    readonly name: string;
    readonly shape: readonly Dim[];
    readonly dtype: string;
  }
  /** A part of the weights file. */
  | { readonly kind: "held"; readonly name: string; readonly offset: number; readonly bytes: number };

/** The parts of a library. */
export interface NativeParts {
  readonly prefix: string;
  readonly call: CallSpec;
  readonly loops: Program;
  readonly program: PackagedProgram;
  /** The source of each memory that the program reads. */
  readonly inputs: readonly NativeInput[];
  /** New values of memories that the program reads. */
  readonly mutations: readonly PackagedMutation[];
  /** Number of results that the caller receives. */
  readonly results: number;
}

/** A library, its header and its target machine. */
export interface NativeLibrary {
  readonly library: Uint8Array<ArrayBuffer>;
  readonly header: string;
  readonly target: Omit<NativeTarget, "file" | "header">;
}

/** Instruction set extensions beyond the baseline of an architecture, as /proc/cpuinfo names them. */
const EXTENSIONS =
  /^(avx|fma|f16c|bmi|movbe|popcnt|abm|sse4|ssse3|aes|vaes|pclmul|vpclmul|gfni|sha|adx|amx|asimd|sve|fphp|bf16|i8mm|dotprod)/;

/** Compiles the library. Throws `ToolchainError` without a compiler. */
export function nativeLibrary(parts: NativeParts): NativeLibrary {
  const { prefix, loops } = parts, { form } = prepareProgram(loops);
  const sources = [...form.units, ...form.routines.map(routineSource)];
  const entries = sources.slice(form.units.length).map((_, at) => `dyn_entry_${form.units.length + at}`);
  const partEntries = form.units.slice(1).map((_, at) => `dyn_entry_${at + 1}`);
  const routines = [...entries, ...partEntries];
  const library = linkedLibrary([
    ...sources.map((source, at) => ({
      ...source,
      text: source.text.replaceAll(/\bdyn_entry\b/g, `dyn_entry_${at}`)
        .replaceAll('__attribute__((visibility("default")))', ""),
    })),
    { name: "interface", text: interfaceText(parts, routines), options: [] },
  ]);
  const { os, arch } = Deno.build;
  const features = [...processorFeatures() ?? []].filter((each) => EXTENSIONS.test(each)).toSorted();
  return { library, header: headerText(parts), target: { os, arch, features, prefix } };
}

const sizeText = ({ call }: NativeParts) => (d: Dim): string =>
  printIndex(d, (symbol) => `sizes[${call.sizes.findIndex((each) => each.symbol === symbol)}]`);

/** The bytes of a result. */
function bytesText(parts: NativeParts, at: number): string {
  const result = parts.program.results[at];
  if (!result) throw new DynError(`Expected a result ${at} of ${parts.call.name}`);
  const product = result.shape.map((size) => `(${sizeText(parts)(size)})`);
  return [`${itemSize(result.dtype)}L`, ...product].join(" * ");
}

function interfaceText(parts: NativeParts, routines: readonly string[]): string {
  const { prefix, program, loops, inputs, mutations, call } = parts, size = sizeText(parts);
  const counts = { inputs: inputs.length, outputs: program.buffers.length, sizes: program.sizes.length };
  const layout = frameLayout(counts, routines.length);
  const lines = (count: number, line: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => `  ${line(at)}`).join("\n");
  const held = inputs.flatMap((input) => input.kind === "held" ? [input] : []);
  const flag = program.flag === null ? "0" : `*(const char*) outputs[${program.flag}] ? 1 : 0`;
  let argument = 0, weight = 0;
  const given = inputs.map((input) =>
    input.kind === "held" ? `model->held[${weight++}]` : `(void*) inputs[${argument++}]`
  );
  const end = Math.max(0, ...held.map(({ offset, bytes }) => offset + bytes));
  const bufferBytes = program.buffers.map(({ length, dtype }) => `${itemSize(dtype)}L * (${size(length)})`);
  return `#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern "C" void dyn_graph(const double* frame);
${routines.map((name) => `extern "C" void* ${name}();`).join("\n")}
#define PUBLIC extern "C" __attribute__((visibility("default")))
static long rounded(long bytes) { return (bytes + 127) / 64 * 64; }

PUBLIC int64_t ${prefix}_arena_bytes(const int64_t* sizes) { (void) sizes; return ${
    arenaText(loops, program, call)
  }; }

PUBLIC int32_t ${prefix}_run(const void* const* inputs, void* const* outputs, const int64_t* sizes, void* arena, int32_t threads) {
  double frame[${layout.length}];
  memset(frame, 0, sizeof frame);
  frame[0] = threads < 1 ? 1 : threads;
${lines(routines.length, (at) => `frame[${layout.routines + at}] = (double) (uintptr_t) ${routines[at]}();`)}
${lines(counts.inputs, (at) => `frame[${layout.inputs + at}] = (double) (uintptr_t) inputs[${at}];`)}
${lines(counts.outputs, (at) => `frame[${layout.outputs + at}] = (double) (uintptr_t) outputs[${at}];`)}
  frame[${layout.arena}] = (double) (uintptr_t) arena;
${lines(counts.sizes, (at) => `frame[${layout.sizes + at}] = (double) sizes[${at}];`)}
  dyn_graph(frame);
  return ${flag};
}

struct ${prefix}_model { char* weights; void* held[${held.length + 1}]; };

PUBLIC void ${prefix}_close(${prefix}_model* model) {
  if (!model) return;
  free(model->weights);
  free(model);
}

PUBLIC ${prefix}_model* ${prefix}_open(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) return nullptr;
  ${prefix}_model* model = (${prefix}_model*) calloc(1, sizeof(${prefix}_model));
  const long bytes = ${end}L;
  const bool fits = model && (model->weights = (char*) aligned_alloc(64, rounded(bytes)))
    && fread(model->weights, 1, bytes, file) == (size_t) bytes;
  fclose(file);
  if (!fits) { ${prefix}_close(model); return nullptr; }
${lines(held.length, (at) => `model->held[${at}] = model->weights + ${held[at]?.offset ?? 0}L;`)}
  return model;
}

PUBLIC int64_t ${prefix}_result_bytes(int32_t result, const int64_t* sizes) {
  (void) sizes;
  switch (result) {
${lines(parts.results, (at) => `case ${at}: return ${bytesText(parts, at)};`)}
  }
  return -1;
}

PUBLIC int32_t ${prefix}_call(${prefix}_model* model, void* const* inputs, void* const* results, const int64_t* given, int32_t threads) {
  const int64_t* sizes = given;
  (void) sizes; (void) inputs;
  const void* in[] = {${given.join(", ") || "nullptr"}};
  const int64_t taken[] = {${program.sizes.map(size).join(", ") || "0"}};
  void* out[${counts.outputs + 1}] = {};
  void* arena = aligned_alloc(64, rounded(${prefix}_arena_bytes(taken)));
  int32_t code = arena ? 0 : 2;
${
    lines(counts.outputs, (at) =>
      `if (!(out[${at}] = aligned_alloc(64, rounded(${bufferBytes[at]})))) code = 2;`)
  }
  if (code == 0) code = ${prefix}_run(in, out, taken, arena, threads);
  if (code == 0) {
${
    lines(parts.results, (at) =>
      `  memcpy(results[${at}], out[${program.results[at]?.buffer ?? 0}], ${bytesText(parts, at)});`)
  }
${
    mutations.map(({ input, result }) =>
      `    memcpy((void*) in[${input}], out[${program.results[result]?.buffer ?? 0}], ${
        bytesText(parts, result)
      });`
    ).join("\n")
  }
  }
${lines(counts.outputs, (at) => `free(out[${at}]);`)}
  free(arena);
  return code;
}
`;
}

function arenaText({ arenaBytes }: Program, program: PackagedProgram, { name }: CallSpec): string {
  return printIndex(arenaBytes, (symbol) => {
    const at = program.sizes.indexOf(symbol);
    if (at < 0) throw new DynError(`Expected a size of ${name} but found ${symbol}`);
    return `sizes[${at}]`;
  });
}

function headerText(parts: NativeParts): string {
  const { prefix, call, inputs, program } = parts, guard = `${prefix.toUpperCase()}_H`;
  const given = inputs.flatMap((input) => input.kind === "argument" ? [input] : []);
  const shaped = (shape: readonly Dim[], dtype: string) => `${dtype} [${shape.map(print).join(", ")}]`;
  return `/* ${call.name}: made by dyn package. All tensors lie row by row. */
#ifndef ${guard}
#define ${guard}
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct ${prefix}_model ${prefix}_model;

/* Reads weights.safetensors of the package; NULL where that cannot be read. */
${prefix}_model *${prefix}_open(const char *path);
void ${prefix}_close(${prefix}_model *model);

/* Bytes of a result in a call of these sizes; -1 where there is no such result. */
int64_t ${prefix}_result_bytes(int32_t result, const int64_t *sizes);

/*
 * Runs the model. 0: results are written; 1: an index lies outside of its dimension; 2: there is no memory.
 * inputs:${
    given.map(({ name, shape, dtype }, at) => `\n *   ${at}: ${name}, ${shaped(shape, dtype)}`).join("")
  }
 * results:${
    program.results.slice(0, parts.results).map(({ shape, dtype }, at) =>
      `\n *   ${at}: ${shaped(shape, dtype)}`
    )
      .join("")
  }
 * sizes:${
    call.sizes.map(({ symbol, hint }, at) => `\n *   ${at}: ${print(symbol)}, ${hint} when it was made`).join(
      "",
    ) ||
    " none"
  }
 * They have to satisfy:${
    [...new Set(call.constraints.map(({ text }) => text))].map((text) => `\n *   ${text}`).join("") ||
    " nothing"
  }
 */
int32_t ${prefix}_call(${prefix}_model *model, void *const *inputs, void *const *results, const int64_t *sizes,
                       int32_t threads);

#ifdef __cplusplus
}
#endif
#endif
`;
}
