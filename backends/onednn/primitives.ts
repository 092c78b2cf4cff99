/**
 * Primitives of oneDNN on tensors: a kind, tensors with their roles, and numbers; results are dense in new memory.
 * Invariant: a primitive is made once for each combination of sizes and strides, and cached.
 *
 * oneDNN is reached through a compiled shim; it is found by DNNLROOT or by a header in the compiler's search path, and
 * the shim is rebuilt when another one is installed.
 */
import { DynError } from "../../lib/base/errors.ts";
import { contiguousMeta } from "../../lib/graph/meta.ts";
import { layoutOf } from "../../lib/tensor/layout.ts";
import { allocateStorage } from "../../lib/tensor/storage.ts";
import { Tensor } from "../../lib/tensor/tensor.ts";
import { hostOf } from "../cpu/host_memory.ts";
import { threadCount, toolchainStatus } from "../cpu/toolchain.ts";
import { KINDS, ROLES, SHIM } from "./shim.ts";
import { environmentVariable } from "../../lib/base/permissions.ts";
import { headerIdentity, openLibrary } from "../cpu/ffi.ts";
import { buildLibraries, type Source } from "../cpu/object_cache.ts";
import { ONEDNN_NEEDS } from "../engine_needs.ts";

const SYMBOLS = {
  dyn_dnn_make: { parameters: ["buffer", "buffer"], result: "pointer" },
  dyn_dnn_run: { parameters: ["pointer", "buffer", "i32"], result: "i32" },
  dyn_dnn_free: { parameters: ["pointer"], result: "void" },
  dyn_dnn_version: { parameters: [], result: "i32" },
} as const;

/** The functions of the shim. */
export type Shim = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** Compiler options. */
function options(root: string | undefined): readonly string[] {
  const folders = root ? [`-I${root}/include`, `-L${root}/lib`, `-Wl,-rpath,${root}/lib`] : [];
  // The library precedes the source, where linkers that drop unneeded ones would omit it
  return [...Deno.build.os === "darwin" ? [] : ["-Wl,--no-as-needed"], ...folders, "-ldnnl"];
}

let found: Source | string | undefined;

/** The shim's source, or the reason why it cannot be built. */
function source(): Source | string {
  if (found !== undefined) return found;
  const compiler = toolchainStatus(), root = environmentVariable("DNNLROOT") || undefined;
  const header = headerIdentity(root ? [`${root}/include`] : [], "oneapi/dnnl/dnnl.h");
  if (compiler.kind !== "ready") found = compiler.reason;
  else if (header === null) found = "Expected oneDNN's header oneapi/dnnl/dnnl.h but found none";
  else found = { name: "onednn", text: `// dnnl.h: ${header}\n${SHIM}`, options: options(root) };
  return found;
}

/** The reason why there is no oneDNN here; null if there is. */
export function oneDnnAbsence(): string | null {
  const there = source();
  return typeof there === "string" ? there : null;
}

/** Returns a text that identifies this oneDNN, or the reason why there is none. */
export function oneDnnIdentity(): string {
  const there = source();
  return typeof there === "string" ? there : `${there.text.split("\n", 1)[0]} ${there.options?.join(" ")}`;
}

let opened: Shim | undefined;

/** The shim, built and opened once. Throws DynError if there is no oneDNN, ToolchainError if it cannot be built. */
export function oneDnn(): Shim {
  if (opened) return opened;
  const there = source();
  if (typeof there === "string") throw new DynError(`${there}; onednn needs ${ONEDNN_NEEDS}`);
  return opened = openLibrary(buildLibraries([there])[0] ?? "", SYMBOLS).symbols;
}

type Kind = typeof KINDS[number];
type Role = typeof ROLES[number];

/** A tensor as passed to a primitive. */
export interface Operand {
  readonly role: Role;
  readonly tensor: Tensor;
  /** Sizes and strides, if they are not the tensor's own. */
  readonly shape?: readonly number[];
  readonly strides?: readonly number[];
}

/** The operation of a primitive. */
interface PrimitiveCall {
  readonly kind: Kind;
  readonly operands: readonly Operand[];
  readonly result: { readonly role: Role; readonly shape: readonly number[] };
  /** Sizes of the result for the primitive, if they differ. */
  readonly seen?: readonly number[];
  readonly numbers?: readonly number[];
}

/** Maximum number of cached primitives. */
const KEPT = 512;

const made = new Map<string, Deno.PointerObject>();
const STATUS = [
  "success",
  "out of memory",
  "invalid arguments",
  "unimplemented",
  "last implementation",
  "runtime error",
];

function primitiveOf(words: readonly number[], kind: string): Deno.PointerObject {
  const key = words.join(), known = made.get(key);
  if (known) return known;
  const shim = oneDnn(), status = new Int32Array(1), op = shim.dyn_dnn_make(Float64Array.from(words), status);
  if (op === null) throw failure(kind, status[0] ?? 0);
  if (made.size >= KEPT) {
    for (const each of made.values()) shim.dyn_dnn_free(each);
    made.clear();
  }
  made.set(key, op);
  return op;
}

function failure(kind: string, status: number): DynError {
  return new DynError(
    `Expected oneDNN to compute a ${kind} but found ${STATUS[status] ?? "status"} (${status})`,
  );
}

const addressOf = ({ storage: { memory }, offset }: Tensor): number => hostOf(memory).address + 4 * offset;

const rowMajor = (shape: readonly number[]) => contiguousMeta(shape, "float32", "cpu");

/**
 * Returns whether oneDNN may choose the layout of an operand: those of convolutions, which reuse each element often.
 */
const isFree = (kind: Kind, role: Role) => kind.startsWith("convolution") && role !== "bias" ? 1 : 0;

/** Computes a primitive. Throws DynError if oneDNN refuses it. */
export function compute(
  { kind, operands, result, seen = result.shape, numbers = [] }: PrimitiveCall,
): Tensor {
  const layout = layoutOf(rowMajor(result.shape));
  const made = new Tensor(allocateStorage("cpu", 4 * result.shape.reduce((a, b) => a * b, 1)), layout, 0);
  const words: number[] = [KINDS.indexOf(kind), operands.length + 1];
  const describe = (role: Role, shape: readonly number[], strides: readonly number[]) => {
    words.push(ROLES.indexOf(role), shape.length, isFree(kind, role), ...shape, ...strides);
  };
  for (const { role, tensor, shape = tensor.shape, strides = tensor.stride() } of operands) {
    describe(role, shape, strides);
  }
  describe(result.role, seen, rowMajor(seen).strides.map(Number));
  const op = primitiveOf([...words, ...numbers], kind);
  const addresses = Float64Array.from([...operands.map(({ tensor }) => addressOf(tensor)), addressOf(made)]);
  const status = oneDnn().dyn_dnn_run(op, addresses, threadCount());
  if (status !== 0) throw failure(kind, status);
  return made;
}
