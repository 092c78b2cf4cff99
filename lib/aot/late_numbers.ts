/**
 * Numbers of a captured graph that can be read from memory instead of being constants: those in which iterations of a
 * loop differ, besides their tensors. Invariant: with a number from its table a call has the same results, types and
 * gradients as with the constant, bit for bit.
 */
import { type DType, highest, isComplex, isFloat, isInteger, lowest } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../graph/meta.ts";
import { Node } from "../graph/node.ts";
import type { DeviceName } from "../loops/device.ts";
import type { OpDefinition } from "../ops/definition.ts";
import { argumentsOfNode } from "../ops/graph_builder.ts";
import { resultTypeOf } from "../ops/promotion.ts";
import { sameMeta } from "../ops/rewrite/metadata.ts";
import { findTarget } from "../ops/table.ts";
import { tensor } from "../tensor/creation.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** A number that can be an argument of a call. */
export interface LateNumber {
  /** Its position among the arguments. */
  readonly at: number;
  readonly value: number;
  /** The type of the table that holds it. */
  readonly dtype: DType;
  readonly device: DeviceName;
}

/**
 * The number of a call that can become an argument; null: there is none, or one of several determines the type of
 * another.
 */
export function lateNumber(node: Node): LateNumber | null {
  const definition = findTarget(node.target)?.definition, { value: known } = node.meta;
  if (!definition || definition.arrange || known.kind !== "tensor") return null;
  const params = Object.entries(definition.params);
  const [at = -1, ...others] = node.args.keys().filter((k) =>
    typeof node.args[k] === "number" && params[k]?.[1].kind === "operand"
  );
  const [name, param] = params[at] ?? [], value = node.args[at];
  if (others.length > 0 || name === undefined || !param?.late || typeof value !== "number") return null;
  const { dtype: result, device } = known.tensor;
  const operands = node.args.flatMap((each) => each instanceof Node ? metaOf(each) ?? [] : []);
  const promoted = resultTypeOf([...operands, value]);
  const dtype = tableType(promoted, value);
  // Kernels and the host convert to integers differently
  if (dtype === null || (isFloat(dtype) && isInteger(result))) return null;
  const loaded = contiguousMeta([], dtype, device);
  if (resultTypeOf([...operands, loaded]) !== promoted) return null;
  const inferred = inferredWith(node, definition, { [name]: loaded });
  return sameMeta(inferred, known.tensor) ? { at, value, dtype, device } : null;
}

/** The type that stores a number used in computations of this type; null: it stays a constant. */
function tableType(computed: DType, value: number): DType | null {
  if (isComplex(computed) || computed === "bool") return null;
  if (isFloat(computed)) return computed === "float64" ? "float64" : "float32";
  const low = Math.max(-(2 ** 31), Number(lowest(computed)));
  const high = Math.min(2 ** 31 - 1, Number(highest(computed)));
  // An integer cannot be -0
  return Number.isInteger(value) && !Object.is(value, -0) && low <= value && value <= high ? "int32" : null;
}

/** The metadata of a call's result with another value for an argument; undefined if the op rejects it. */
function inferredWith(
  node: Node,
  definition: OpDefinition,
  others: Readonly<Record<string, TensorMeta>>,
): TensorMeta | undefined {
  try {
    const args = argumentsOfNode<TensorMeta>(node, definition, valueOf, isMeta);
    const [meta] = [definition.infer({ ...args, ...others })].flat();
    return meta;
  } catch (error) {
    if (!(error instanceof DynError)) throw error;
    return undefined;
  }
}

function valueOf(node: Node): unknown {
  const { value } = node.meta;
  return metaOf(node) ?? (value.kind === "size" ? value.size : undefined);
}

function metaOf({ meta: { value } }: Node): TensorMeta | undefined {
  return value.kind === "tensor" ? value.tensor : undefined;
}

const isMeta = (value: unknown): value is TensorMeta =>
  typeof value === "object" && value !== null && "dtype" in value && "strides" in value;

/** Numbers of one type that differ between the calls of a region. */
export interface NumberTable {
  readonly dtype: DType;
  readonly device: DeviceName;
  /** Number of values for each call. */
  readonly width: number;
  /** The numbers of all calls, one call after another. */
  readonly values: readonly number[];
}

/** Tables in memory, and the numbers from which they were made. */
const tables = new WeakMap<object, NumberTable>();

/** A table in memory, as kernels read it. */
export function tableTensor(table: NumberTable): Tensor {
  const { values, dtype, device } = table;
  const made = tensor(values, { dtype, device });
  tables.set(made, table);
  return made;
}

/** The table that a tensor holds; undefined if it holds none. */
export const tableOf = (value: unknown): NumberTable | undefined =>
  typeof value === "object" && value !== null ? tables.get(value) : undefined;
