/**
 * Ops that begin work which other processes have a part in, as graphs know them: linear functions of a tensor, whose
 * gradients are calls of such ops again. Input: the function that stands for such an op in a graph's attributes; output:
 * what it is. Invariant: an op that takes one tensor gives one of the same type; whoever registers it says so of all
 * devices.
 */

/** What an op is told besides its tensor. */
export type Constant = string | number;

/** Whether a value is one. */
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
  /** What its result is divided by; by nothing unless given. */
  readonly divisor?: number;
}

/** What graphs know of such an op. */
export interface SharedOp {
  /** By which graphs call it. */
  readonly name: string;
  readonly run: SharedRun;
  /** The same with the tensor's own memory for its result, where nobody else reads that; null: it has no such form. */
  readonly runInPlace: SharedRun | null;
  /** What makes the gradient of a call with these arguments behind the tensor. Throws DynError where there is none. */
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
