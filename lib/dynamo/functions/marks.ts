/**
 * Users' marks on functions, and the originals of compiled callables. Invariant: marks are stored by identity and
 * never change a plain call.
 */
import type { AnyFunction } from "../../base/arguments.ts";
import { defineOwn } from "../../base/isolated_objects.ts";
import { apply } from "../../base/own_builtins.ts";
import { checkFunction, checkOptions, refuseSurplus } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import { isCaptured } from "../../tensor/modes.ts";
import { canReadElements } from "../../tensor/tensor.ts";
import type { FrameRules } from "./frame_rules.ts";

/** The treatment of a marked function. */
export type FunctionMark =
  /** Runs outside of graphs. */
  | { readonly kind: "disabled"; readonly reason: string }
  /** Treated as a function of the runtime, which is not modelled. */
  | { readonly kind: "builtin" }
  /** Becomes one node. */
  | { readonly kind: "inGraph" }
  /** Runs during tracing; the ops it calls become nodes. */
  | { readonly kind: "nonstrict" }
  /** Its first result is used for all calls. */
  | { readonly kind: "constant" }
  /** Another function is traced in its place. */
  | { readonly kind: "substituted"; readonly by: object }
  /** A compiled callable: traced as its original. */
  | { readonly kind: "compiled"; readonly original: object }
  /** Traced as its original, with all equal calls as one region of the graph. */
  | { readonly kind: "region"; readonly original: object }
  /** Traced as another function, in whose frame certain rules hold. */
  | { readonly kind: "ruled"; readonly original: object; readonly rules: Partial<FrameRules> }
  /** Answers a question about the code being traced. */
  | { readonly kind: "answers"; readonly answer: () => boolean };

const marks = new WeakMap<object, FunctionMark>();

/** Marks a function. */
export function markFunction(fn: object, mark: FunctionMark): void {
  marks.set(fn, mark);
}

/** The mark of a function. */
export function markOfFunction(fn: object): FunctionMark | undefined {
  return marks.get(fn);
}

/** Returns the original of a compiled callable; any other function itself. */
export function originalOf(fn: object): object {
  const mark = marks.get(fn);
  return mark?.kind === "compiled" ? originalOf(mark.original) : fn;
}

/** Returns whether a mark consists only of data and another function, so that another process can recognise it. */
export function isDescribed({ kind }: FunctionMark): boolean {
  return kind === "answers" || kind === "builtin" || kind === "compiled" || kind === "disabled" ||
    kind === "ruled";
}

/** Returns whether code is being traced: false whenever it really runs. The tracer replaces calls by true. */
export function isCompiling(): boolean {
  if (arguments.length > 0) refuseSurplus("isCompiling", 0, arguments);
  return false;
}

markFunction(isCompiling, { kind: "answers", answer: () => true });

/** Breaks the graph at its call in compiled code, as `torch._dynamo.graph_break`; elsewhere it does nothing. */
export function graphBreak(_msg: string = ""): void {
  if (arguments.length > 1) refuseSurplus("graphBreak", 1, arguments);
}

/** Like `isCompiling`, under the name of `torch.compiler`, where other tracers exist. */
export function isDynamoCompiling(): boolean {
  if (arguments.length > 0) refuseSurplus("isDynamoCompiling", 0, arguments);
  return false;
}

markFunction(isDynamoCompiling, { kind: "answers", answer: () => true });

markFunction(canReadElements, { kind: "answers", answer: () => false });
markFunction(isCaptured, { kind: "answers", answer: () => true });

let exporting = false;

/** Runs `body`, whose traces are those of an export. */
export function whileExporting<R>(body: () => R): R {
  const former = exporting;
  exporting = true;
  try {
    return body();
  } finally {
    exporting = former;
  }
}

/** Returns whether what is being traced is exported: it will run without the program and its language. */
export const tracesExport = (): boolean => exporting;

/** Returns whether a program is being exported: true in code that `compiler.export` traces. */
export function isExporting(): boolean {
  if (arguments.length > 0) refuseSurplus("isExporting", 0, arguments);
  return false;
}

markFunction(isExporting, { kind: "answers", answer: tracesExport });

/** Options of `disable`. */
export interface DisableOptions {
  /** The reason, for the explanation of the graph break. */
  readonly reason?: string | undefined;
  /** Whether the function's callees run outside of graphs as well; default true. */
  readonly recursive?: boolean | undefined;
}

/**
 * Returns a function that runs unchanged, outside of graphs; its callees are not traced either, unless `recursive` is
 * false. Compiled functions stay compiled.
 */
export function disable<F extends (...args: never[]) => unknown>(
  fn: F,
  options: DisableOptions = {},
): F {
  if (arguments.length > 2) refuseSurplus("disable", 2, arguments);
  checkFunction(fn, "to disable");
  checkOptions("disable", { reason: ["string"], recursive: ["boolean"] }, options);
  const { reason = "", recursive = true } = options;
  return wrapped(
    fn,
    recursive ? { kind: "disabled", reason } : { kind: "ruled", original: fn, rules: { runsOutside: true } },
  );
}

/**
 * Returns a function within whose calls no graph ends, as `torch._dynamo.disable_nested_graph_breaks`: if a callee
 * cannot be captured, the graph of the outermost compiled function ends at its own call instead, which then runs
 * uncompiled.
 */
export function disableNestedGraphBreaks<F extends (...args: never[]) => unknown>(fn: F): F {
  if (arguments.length > 1) refuseSurplus("disableNestedGraphBreaks", 1, arguments);
  checkFunction(fn, "to capture as a whole");
  return wrapped(fn, { kind: "ruled", original: fn, rules: { breaksOutside: true } });
}

/** Own properties that belong to the code of a function, or to its kind. */
const OF_CODE: ReadonlySet<string | symbol> = new Set(["arguments", "caller", "prototype", "name", "length"]);

/** Gives a function that is called instead of another the other's name, length and properties. */
export function standFor(made: object, fn: AnyFunction): void {
  defineOwn(made, "name", { value: fn.name, configurable: true });
  defineOwn(made, "length", { value: fn.length, configurable: true });
  for (const key of Reflect.ownKeys(fn)) {
    const found = OF_CODE.has(key) ? undefined : Reflect.getOwnPropertyDescriptor(fn, key);
    if (found) defineOwn(made, key, found);
  }
}

/** Returns an equivalent function with its own mark. */
function wrapped<F extends (...args: never[]) => unknown>(fn: F, mark: FunctionMark): F {
  const made = function (this: unknown, ...args: unknown[]): unknown {
    return apply(fn, this, args);
  };
  standFor(made, fn);
  markFunction(made, mark);
  return made as unknown as F;
}

/** Options of `substituteInGraph`. */
export interface SubstituteOptions {
  /** Accepts functions with different numbers of parameters. */
  readonly skipSignatureCheck?: boolean | undefined;
}

/**
 * Traces another function wherever `original` is called in a compiled function, as
 * `torch.compiler.substitute_in_graph`: a polyfill of a function that cannot be traced, such as one of the runtime.
 * Calls that run uncompiled call `original`, so both must be equivalent. Returns the substitute. Throws DynError if one
 * of them is not a function, or their numbers of parameters differ.
 */
export function substituteInGraph<F extends AnyFunction>(
  original: AnyFunction,
  substitute: F,
  options: SubstituteOptions = {},
): F {
  if (arguments.length > 3) refuseSurplus("substituteInGraph", 3, arguments);
  checkFunction(original, "to substitute");
  checkFunction(substitute, "in the place of another one");
  checkOptions("substituteInGraph", { skipSignatureCheck: ["boolean"] }, options);
  const { skipSignatureCheck = false } = options;
  if (!skipSignatureCheck && original.length !== substitute.length) {
    throw new DynError(
      `Expected a substitute of ${
        original.name || "<anonymous>"
      } with ${original.length} parameters but found ` +
        `${substitute.length} (skipSignatureCheck accepts it)`,
    );
  }
  markFunction(original, { kind: "substituted", by: substitute });
  return substitute;
}

/** Turns calls of the function into single nodes of the graph; it must be a pure function of tensors and constants. */
export function allowInGraph<F extends (...args: never[]) => unknown>(fn: F): F {
  if (arguments.length > 1) refuseSurplus("allowInGraph", 1, arguments);
  checkFunction(fn, "to allow in graphs");
  markFunction(fn, { kind: "inGraph" });
  return fn;
}

/**
 * Runs the function during tracing, on tensors without elements, instead of tracing it; the ops that it calls become
 * part of the graph, as with `torch.compiler.nonstrict_trace`. For code that the tracer cannot step through: it may use
 * the whole language, but must be a pure function of its arguments (tensors, plain values, arrays and plain objects of
 * them), and other values that it reads count as constants. If it reads elements of tensors, the graph breaks.
 */
export function nonstrictTrace<F extends (...args: never[]) => unknown>(fn: F): F {
  if (arguments.length > 1) refuseSurplus("nonstrictTrace", 1, arguments);
  checkFunction(fn, "to run while tracing");
  markFunction(fn, { kind: "nonstrict" });
  return fn;
}

/** Calls the function once while tracing; its result is a constant of the graph. */
export function assumeConstantResult<F extends (...args: never[]) => unknown>(fn: F): F {
  if (arguments.length > 1) refuseSurplus("assumeConstantResult", 1, arguments);
  checkFunction(fn, "with a constant result");
  markFunction(fn, { kind: "constant" });
  return fn;
}

const regions = new WeakMap<object, object>();

/** Returns the function as a region; the same object each time. */
export function regionOf<F extends AnyFunction>(fn: F): F {
  const known = regions.get(fn);
  if (known) return known as F;
  const wrapped = function (this: unknown, ...args: unknown[]): unknown {
    return apply(fn, this, args);
  };
  standFor(wrapped, fn);
  markFunction(wrapped, { kind: "region", original: fn });
  regions.set(fn, wrapped);
  regions.set(wrapped, wrapped);
  return wrapped as unknown as F;
}
