/**
 * Descriptions of collectives for graphs: linear functions of a tensor, whose gradients are calls of such ops again.
 * They are found by the function in a graph's attributes. Invariant: an op that takes one tensor returns one of the
 * same type; this is registered for all devices.
 */

/** An argument of an op besides its tensor. */
export type Constant = string | number;

/** Returns whether a value is such an argument. */
export function isConstant(value: unknown): value is Constant {
  return typeof value === "string" || typeof value === "number";
}

/** Runs an op on its tensor and its other arguments. */
export type SharedRun = (...args: readonly unknown[]) => readonly unknown[];

/** A call that computes the gradient of another one, without its tensor. */
interface TransposedCall {
  readonly op: SharedOp;
  /** The arguments after the tensor. */
  readonly rest: readonly Constant[];
  /** Divisor of its result; default: none. */
  readonly divisor?: number;
}

/** The description of a collective for graphs. */
export interface SharedOp {
  /** The name by which graphs call it. */
  readonly name: string;
  readonly run: SharedRun;
  /**
   * The same, writing the result into the tensor's own memory if nothing else reads that; null: there is no such form.
   */
  readonly runInPlace: SharedRun | null;
  /** Builds the gradient of a call with these arguments after the tensor. Throws DynError if there is none. */
  readonly transposed: (rest: readonly Constant[]) => TransposedCall;
  /**
   * The maximum bytes of several calls with these arguments that may be joined into one, on their concatenated
   * elements: each element of the result depends only on the elements at its position. 0: they are not joined.
   */
  readonly mostJoined: (rest: readonly Constant[]) => number;
  /** Whether it copies without communication: only its gradient is a collective. */
  readonly isCopy: boolean;
}

const known = new WeakMap<object, SharedOp>();

/** Registers an op by the function that represents it in graphs. */
export function registerSharedOp(op: SharedOp): void {
  known.set(op.run, op);
}

/** Returns the op that a graph calls by a name, or undefined if it is none. */
export function sharedOpNamed(
  name: string,
  attributes: Readonly<Record<string, unknown>>,
): SharedOp | undefined {
  const run = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  return typeof run === "function" ? known.get(run) : undefined;
}
