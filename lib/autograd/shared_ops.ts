/**
 * Collectives as graphs know them: linear functions of a tensor, whose gradients are calls of such ops again. They
 * are found by the function in a graph's attributes. Invariant: an op that takes one tensor returns one of the same
 * type; this is registered for all devices.
 */

/** An argument of an op besides its tensor. */
export type Constant = string | number;

/** Returns whether a value is one. */
export function isConstant(value: unknown): value is Constant {
  return typeof value === "string" || typeof value === "number";
}

/** Runs an op: its tensor, then what else it is told. */
export type SharedRun = (...args: readonly unknown[]) => readonly unknown[];

/** A call that makes the gradient of another one, without its tensor. */
export interface TransposedCall {
  readonly op: SharedOp;
  /** The arguments behind the tensor. */
  readonly rest: readonly Constant[];
  /** Divisor of its result; default: none. */
  readonly divisor?: number;
}

/** The description of a collective for graphs. */
export interface SharedOp {
  /** The name by which graphs call it. */
  readonly name: string;
  readonly run: SharedRun;
  /** The same with the tensor's own memory for its result, where nobody else reads that; null: it has no such form. */
  readonly runInPlace: SharedRun | null;
  /** Builds the gradient of a call with these arguments after the tensor. Throws DynError if there is none. */
  readonly transposed: (rest: readonly Constant[]) => TransposedCall;
  /**
   * The most bytes of several calls with these arguments that become one, of all their elements behind each other: what
   * becomes of an element depends on the elements at its place only. 0: they stay apart.
   */
  readonly mostJoined: (rest: readonly Constant[]) => number;
  /** Whether it gives a copy and asks nobody: only its gradient is others' business. */
  readonly isCopy: boolean;
}

const known = new WeakMap<object, SharedOp>();

/** Makes an op known by the function that stands for it in graphs. */
export function registerSharedOp(op: SharedOp): void {
  known.set(op.run, op);
}

/** The op that a graph calls by a name; undefined for what is none. */
export function sharedOpNamed(
  name: string,
  attributes: Readonly<Record<string, unknown>>,
): SharedOp | undefined {
  const run = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  return typeof run === "function" ? known.get(run) : undefined;
}
