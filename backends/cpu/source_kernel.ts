/**
 * Kernels that users have written in C++: a text that defines `kernel` becomes a function that runs it on host memory.
 * Invariant: it is compiled and cached like all other code.
 */
import type { DType } from "../../lib/base/dtype.ts";
import { DynError } from "../../lib/base/errors.ts";
import type { KernelCall, KernelSource } from "../../lib/loops/device.ts";
import { noteSuccess, ToolchainError } from "./compiler_faults.ts";
import { nativeCall } from "./ffi.ts";
import { hostOf } from "./host_memory.ts";
import { buildLibraries } from "./object_cache.ts";

/** C++ types of elements; half floats are their bits, complex numbers pairs. */
const TYPES: Readonly<Record<DType, string>> = {
  float32: "float",
  float64: "double",
  float16: "unsigned short",
  bfloat16: "unsigned short",
  int64: "long long",
  int32: "int",
  int16: "short",
  int8: "signed char",
  uint8: "unsigned char",
  bool: "unsigned char",
  complex64: "float",
  complex128: "double",
};

/**
 * Compiles a kernel. Throws ToolchainError if there is no compiler, DynError with the compiler's message if it rejects
 * the text.
 */
export function compileSource({ name, cpp, inputs, outputs }: KernelSource): (call: KernelCall) => void {
  if (cpp === null) {
    throw new DynError(
      `Expected C++ of ${name} for tensors of the CPU but found none: give cpp, or registerKernel`,
    );
  }
  const types = [
    ...inputs.map((type) => `const ${TYPES[type]}*`),
    ...outputs.map((type) => `${TYPES[type]}*`),
  ];
  const given = [...types, "const double*"].map((type, k) => `(${type}) given[${k}]`);
  const text = [
    `#line 1 "${name}"`,
    cpp,
    'extern "C" __attribute__((visibility("default"))) void dyn_source_kernel(void** given) {',
    `  kernel(${given.join(", ")});`,
    "}",
    "",
  ].join("\n");
  const call = nativeCall(built(name, text), "dyn_source_kernel");
  return ({ memories, numbers }) => {
    const values = Float64Array.from(numbers), frame = new BigUint64Array(memories.length + 1);
    memories.forEach((memory, k) => frame[k] = BigInt(hostOf(memory).address));
    frame[memories.length] = Deno.UnsafePointer.value(Deno.UnsafePointer.of(values));
    call(Deno.UnsafePointer.of(frame));
  };
}

/** The library of a text. Errors in it are the user's, and do not count as failures of the compiler. */
function built(name: string, text: string): string {
  try {
    return buildLibraries([{ name: name.replaceAll(/\W+/g, "_"), text }])[0] ?? "";
  } catch (thrown) {
    if (!(thrown instanceof ToolchainError) || thrown.fault !== "rejected") throw thrown;
    noteSuccess();
    throw new DynError(`Expected C++ that compiles for ${name} but found ${thrown.message}`, {
      cause: thrown,
    });
  }
}
