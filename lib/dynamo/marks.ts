/**
 * What users have said about functions, and which callables stand for which originals. Input: functions; output:
 * how the tracer treats a call. Invariant: marks are kept by identity and never change what a plain call does.
 */

/** How a marked function is treated. */
export type FunctionMark =
  /** Runs outside of graphs. */
  | { readonly kind: "disabled" }
  /** Stands for a function of the runtime, which is not modelled. */
  | { readonly kind: "builtin" }
  /** Becomes one node. */
  | { readonly kind: "inGraph" }
  /** Its first result stands for all. */
  | { readonly kind: "constant" }
  /** A compiled callable: traced as its original. */
  | { readonly kind: "compiled"; readonly original: object }
  /** Asks whether code is being traced: always true there. */
  | { readonly kind: "isCompiling" };

const marks = new WeakMap<object, FunctionMark>();

/** Marks a function. */
export function markFunction(fn: object, mark: FunctionMark): void {
  marks.set(fn, mark);
}

/** The mark of a function. */
export function markOfFunction(fn: object): FunctionMark | undefined {
  return marks.get(fn);
}

/** Whether code is being traced: false whenever it really runs. The tracer answers true in its place. */
export function isCompiling(): boolean {
  return false;
}

markFunction(isCompiling, { kind: "isCompiling" });

/** A function that runs as it is, outside of graphs; callees are not traced either. */
export function disable<F extends (...args: never[]) => unknown>(fn: F): F {
  const wrapped = function (this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(fn, this, args);
  };
  Object.defineProperty(wrapped, "name", { value: fn.name, configurable: true });
  markFunction(wrapped, { kind: "disabled" });
  return wrapped as unknown as F;
}

/** Calls of the function become one node of the graph; it must be a pure function of tensors and constants. */
export function allowInGraph<F extends (...args: never[]) => unknown>(fn: F): F {
  markFunction(fn, { kind: "inGraph" });
  return fn;
}

/** The function is called once while tracing; its result is a constant of the graph. */
export function assumeConstantResult<F extends (...args: never[]) => unknown>(fn: F): F {
  markFunction(fn, { kind: "constant" });
  return fn;
}
