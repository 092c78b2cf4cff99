/**
 * Primitives of oneDNN on tensors: a kind, tensors with their roles, and numbers; results are dense in new memory.
 * Invariant: a primitive is made once for each combination of sizes and strides, and cached.
 */
import { DynError } from "../../lib/base/errors.ts";
import { contiguousMeta } from "../../lib/graph/meta.ts";
import { layoutOf } from "../../lib/tensor/layout.ts";
import { allocateStorage } from "../../lib/tensor/storage.ts";
import { Tensor } from "../../lib/tensor/tensor.ts";
import { hostOf } from "../cpu/host_memory.ts";
import { threadCount } from "../cpu/toolchain.ts";
import { oneDnn } from "./library.ts";
import { KINDS, ROLES } from "./shim.ts";

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
