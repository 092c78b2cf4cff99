/**
 * The catalogue of graph breaks: constructs that the tracer cannot capture, why, and what a user can do. Invariant:
 * identifiers are stable; entries are only added at the end.
 */
import { config } from "../base/config.ts";
import type { BreakReason, UserFrame } from "../base/errors.ts";
import { isOwnPosition } from "../graph/place.ts";

interface CatalogueEntry {
  readonly id: string;
  readonly category: string;
  readonly explanation: string;
  readonly hint: string;
  /** A setting that avoids the break. */
  readonly setting?: "captureScalarOutputs" | "captureDynamicOutputShapes";
}

const CATALOGUE = {
  genericJump: {
    id: "GB0001",
    category: "generic_jump: branch on a tensor's value",
    explanation:
      "The branch depends on elements of a tensor, or on a size that is marked as unbacked, which are known only " +
      "after the graph has run",
    hint:
      "Use where(condition, a, b) or cond to keep both sides in one graph, and compiler.check(condition) " +
      "where one side throws",
  },
  tensorItem: {
    id: "GB0002",
    category: "tensor read as a JavaScript value",
    explanation: "An element of a tensor is needed as a number outside the graph",
    hint: "Keep the value as a tensor",
    setting: "captureScalarOutputs",
  },
  disabled: {
    id: "GB0003",
    category: "call of a disabled function",
    explanation: "The function was wrapped by compiler.disable",
    hint: "Remove compiler.disable around it, if it can be traced",
  },
  builtin: {
    id: "GB0004",
    category: "call of a builtin that is not modelled",
    explanation:
      "The builtin runs outside the graph, because its effects or results are not known while tracing",
    hint: "Move the call out of the compiled function, or behind its tensor operations",
  },
  print: {
    id: "GB0005",
    category: "call of console",
    explanation: "Text is written at this point of the program, between the operations before and after it",
    hint: "Print with higherOrderOps.print, or add the function to config.reorderableLoggingFunctions",
  },
  opaqueObject: {
    id: "GB0006",
    category: "operation on an object that is not modelled",
    explanation:
      "The object's behaviour is not known while tracing (a proxy, a native object, a foreign class)",
    hint: "Read what is needed from the object before the compiled function is called",
  },
  tensorMethod: {
    id: "GB0007",
    category: "tensor operation that cannot be captured",
    explanation: "The operation needs elements, or does something that graphs cannot represent",
    hint: "Move it out of the compiled function",
  },
  dataDependentShape: {
    id: "GB0008",
    category: "operation with a data-dependent result shape",
    explanation: "How many elements the result has depends on elements of the input",
    hint: "Use a form with a fixed size (where, masked fill)",
    setting: "captureDynamicOutputShapes",
  },
  throws: {
    id: "GB0009",
    category: "operation that throws inside a try statement",
    explanation: "The operation fails with an error that a handler of the program catches",
    hint: "Check the condition instead of catching the error",
  },
  coercion: {
    id: "GB0010",
    category: "conversion of an object to a primitive",
    explanation: "The conversion runs code of the object that cannot be traced from here",
    hint: "Convert explicitly with a method call",
  },
  generator: {
    id: "GB0011",
    category: "generator or async function",
    explanation: "The function suspends in a way that traced code cannot",
    hint: "Compile the functions it calls instead",
  },
  syntax: {
    id: "GB0012",
    category: "unsupported syntax",
    explanation: "The tracer does not support the construct",
    hint: "Write it another way, or keep it out of compiled functions",
  },
  noSource: {
    id: "GB0013",
    category: "function without accessible source",
    explanation: "The function's source or captured variables cannot be reached",
    hint: "Run with -A, so that the inspector may be used; native functions cannot be traced",
  },
  classDefinition: {
    id: "GB0014",
    category: "class defined in a compiled function",
    explanation: "Every call creates a new class",
    hint: "Define the class outside of the function",
  },
  privateState: {
    id: "GB0015",
    category: "private members",
    explanation: "Private members can only be reached from inside their class",
    hint: "Use public fields for state that compiled code changes",
  },
  backward: {
    id: "GB0016",
    category: "backward inside a compiled function",
    explanation: "The gradients cannot be captured here",
    hint: "Call backward outside of the compiled function",
  },
  frozen: {
    id: "GB0017",
    category: "write to a frozen object",
    explanation: "The write is refused at run time",
    hint: "Do not write to frozen objects in compiled functions",
  },
  depth: {
    id: "GB0018",
    category: "very deep recursion or very long trace",
    explanation: "The trace has grown past its limits",
    hint: "Compile a smaller function",
  },
  forced: {
    id: "GB0019",
    category: "graph break on request",
    explanation: "config.forceBreak names this instruction",
    hint: "Set config.forceBreak to -1",
  },
  iterator: {
    id: "GB0020",
    category: "iteration that is not modelled",
    explanation: "The iterator runs code that cannot be traced from here",
    hint: "Iterate over an array",
  },
  symbolicNumber: {
    id: "GB0021",
    category: "number that is not known while tracing",
    explanation:
      "The number differs between calls or is read out of a tensor, and what follows needs its value",
    hint: "Keep what is read out of a tensor as a tensor, or make other numbers constants of the program",
  },
  gradientState: {
    id: "GB0022",
    category: "state of the gradient tape",
    explanation: "The operation reads or changes the tape, which does not exist while tracing",
    hint: "Move it out of the compiled function",
  },
  constructor: {
    id: "GB0023",
    category: "construction of an object that is not modelled",
    explanation: "The constructor makes an object whose state cannot be reproduced by generated code",
    hint: "Make the object outside of the compiled function; where it is awaited at once, nothing is lost",
  },
  globalVariable: {
    id: "GB0024",
    category: "global variable that is not modelled",
    explanation: "The variable cannot be read or written while tracing",
    hint: "Pass the value as an argument, or read it once into a variable of the module",
  },
  debuggerStatement: {
    id: "GB0025",
    category: "debugger statement",
    explanation: "The program stops here when a debugger is attached",
    hint: "Remove the statement",
  },
  symbolicLimit: {
    id: "GB0026",
    category: "operation without a rule for sizes that change",
    explanation:
      "The operation's metadata can be inferred for the sizes of a call, but not for symbolic ones",
    hint: "Mark the size as static, or keep the operation out of the compiled function",
  },
  untraceable: {
    id: "GB0027",
    category: "function that cannot be traced",
    explanation: "There is no code that could be traced",
    hint: "Compile the functions it calls instead",
  },
  unresumable: {
    id: "GB0028",
    category: "graph break that cannot be resumed from",
    explanation: "What follows the break cannot be entered in the middle",
    hint: "Move what breaks the graph out of the compiled function",
  },
  leaves: {
    id: "GB0029",
    category: "exception that leaves the function",
    explanation: "The function runs uncompiled up to the exception and throws it",
    hint: "Nothing has to change if the exception is intended",
  },
  disagreement: {
    id: "GB0030",
    category: "expected exception that was not thrown",
    explanation: "The trace ended in an exception that the program does not throw, which is a bug in dyn",
    hint: "Please report it; results are right",
  },
  internal: {
    id: "GB0031",
    category: "internal error while a function was captured",
    explanation: "Capturing the function failed, which is a bug in dyn",
    hint: "Please report it; results are right",
  },
  postponed: {
    id: "GB0032",
    category: "variables that are known only after this call",
    explanation: "They are read during this call",
    hint: "Nothing has to change: the next call is compiled",
  },
  cacheLimit: {
    id: "GB0033",
    category: "cache size limit",
    explanation: "No further version is compiled for calls that no version serves",
    hint: "Raise that limit, or keep what the guards test the same",
  },
  compilation: {
    id: "GB0034",
    category: "graph that could not be compiled",
    explanation: "Compiling it failed",
    hint: "config.suppressErrors leaves such functions uncompiled; without it the error is thrown",
  },
  waits: {
    id: "GB0035",
    category: "wait of an async function or a generator",
    explanation: "Other code runs before the function continues: one graph ends here and another one begins",
    hint: "Nothing has to change; put what should be one graph between two waits, or into its own function",
  },
  dataDependentSize: {
    id: "GB0036",
    category: "decision on a data-dependent size",
    explanation: "The size is known only after a part of the graph has run, and what follows depends on it",
    hint:
      "State its properties with compiler.check(condition), or move the decision out of the compiled function",
  },
  nonstrict: {
    id: "GB0037",
    category: "function marked by nonstrictTrace that cannot be part of a graph",
    explanation: "The function throws, reads elements, or takes or returns values that a graph cannot have",
    hint: "Use only operations on tensors in it, or mark it with compiler.disable",
  },
  region: {
    id: "GB0038",
    category: "function of a branch or loop that is not a graph",
    explanation: "Functions that cond, whileLoop and scan call may only compute tensors from tensors",
    hint: "Pass in what it needs, return its results, and change nothing else",
  },
  batch: {
    id: "GB0040",
    category: "function over a batch that is not a graph",
    explanation:
      "A function under vmap may only compute tensors from tensors, by ops that have a batching rule",
    hint: "Return its results and change nothing else, or run vmap outside of the compiled function",
  },
  customOp: {
    id: "GB0041",
    category: "custom op that cannot be part of a graph",
    explanation:
      "A graph has to know the results of an op without running it, and how gradients flow through it",
    hint: "Describe its results with registerFake, and its gradient with registerAutograd",
  },
  recompilation: {
    id: "GB0039",
    category: "recompilation that is not allowed",
    explanation: "No compiled version serves the call, and compiling another one is not allowed",
    hint: "Do not change what the guards check, or reset config.errorOnRecompile or the stance",
  },
  randomState: {
    id: "GB0042",
    category: "random numbers from an explicit generator",
    explanation: "Graphs draw from the default generator; the call runs outside of the graph",
    hint: "Draw before the compiled function and pass the tensor in, or draw from the default generator",
  },
  begunIterator: {
    id: "GB0043",
    category: "iterator that was started before this graph",
    explanation: "What an iterator or generator that has been started will yield is known once it is asked",
    hint:
      "If there is an earlier graph break inside the loop, fix it, or loop over a list, a Map or a Set directly; create iterators in the compiled function",
  },
  asked: {
    id: "GB0044",
    category: "graph break that the program asks for",
    explanation: "compiler.graphBreak() is called here",
    hint: "Remove the call to get one graph",
  },
  changingText: {
    id: "GB0045",
    category: "text or keys that change",
    explanation:
      "Each value of a text that serves as a property name or key, or of the number it is made of, and each " +
      "list of keys would need a version of its own",
    hint: "Move code that depends on such texts out of the compiled function",
  },
  unread: {
    id: "GB0046",
    category: "code that cannot be read yet",
    explanation: "This call runs uncompiled",
    hint: "Nothing has to change for functions of modules: later cells and lines run them compiled; " +
      "those that are typed in are never compiled",
  },
  withoutTensors: {
    id: "GB0047",
    category: "function without tensors",
    explanation:
      "Many instructions were traced without a computation of tensors: the rest of the function runs uncompiled",
    hint: "Compile the functions that compute with tensors, or raise config.tensorlessTraceLimit",
  },
  changingLength: {
    id: "GB0048",
    category: "list whose length changes",
    explanation:
      "Each length of a list that the program goes through, or number of parts of a tensor, would need a " +
      "version of its own",
    hint: "Pass what the list holds as one tensor, or raise config.cacheSizeLimit",
  },
  changingCount: {
    id: "GB0049",
    category: "loop whose count changes",
    explanation:
      "Each count of a loop would need a version of its own; one graph for each pass serves all counts",
    hint:
      "Pass counts that are the same in many calls, or raise config.cacheSizeLimit for a graph of each count",
  },
} as const satisfies Record<string, CatalogueEntry>;

/** A key of the catalogue. */
export type BreakKind = keyof typeof CATALOGUE;

/** Why a graph ends, before the user's frames are known. */
export interface BreakCause {
  readonly kind: BreakKind;
  /** The particular case, added to the explanation. */
  readonly detail: string;
}

/** A cause with the frames in which it happened, innermost first: those of the user's files, then dyn's own. */
export function breakReason({ kind, detail }: BreakCause, stack: readonly UserFrame[]): BreakReason {
  const entry: CatalogueEntry = CATALOGUE[kind], { setting } = entry;
  return {
    id: entry.id,
    category: entry.category,
    explanation: detail ? `${entry.explanation}: ${detail}` : entry.explanation,
    hint: setting && !config[setting] ? `${entry.hint}, or set config.${setting} = true` : entry.hint,
    stack: [...stack.filter((frame) => !isOwnPosition(frame)), ...stack.filter(isOwnPosition)],
  };
}

/** Returns whether a graph ends because too many counts of a loop, or lengths of a list, have versions already. */
export const isForCounts = (broke: BreakReason | null): boolean =>
  broke?.id === CATALOGUE.changingCount.id || broke?.id === CATALOGUE.changingLength.id;

/** The classes of the errors that the engine throws. */
const ENGINE_ERRORS = [TypeError, RangeError, SyntaxError, ReferenceError, URIError] as const;

/** An error thrown by the engine: its class and message, and nothing else. */
export interface EngineError {
  readonly constructor: typeof ENGINE_ERRORS[number];
  readonly message: string;
}

/** Thrown while an instruction is traced, before anything has changed: it cannot be traced. */
export class BreakSignal extends Error {
  override readonly name = "BreakSignal";
  constructor(
    readonly reason: BreakCause,
    /** Whether the instruction throws without having had any effect. */
    readonly refused = false,
    /** The error that it throws, if known. */
    readonly error: EngineError | null = null,
  ) {
    super(`${reason.kind}: ${reason.detail}`);
  }
}

/** Breaks the graph before the current instruction. */
export function breakGraph(kind: BreakKind, detail = ""): never {
  throw new BreakSignal({ kind, detail });
}

/** Throws the program's own error: the called function rejects its arguments before it does anything. */
export function refuseCall(detail: string): never {
  throw new BreakSignal({ kind: "throws", detail }, true);
}

/** Throws an error of the engine, before the instruction does anything. */
export function throwError(error: EngineError): never {
  throw new BreakSignal({ kind: "throws", detail: error.message }, true, error);
}

/** An error thrown by the engine, as data from which it can be created again; null for all others. */
export function engineErrorOf(thrown: unknown): EngineError | null {
  if (!(thrown instanceof Error)) return null;
  const prototype: unknown = Object.getPrototypeOf(thrown);
  const constructor = ENGINE_ERRORS.find((each) => each.prototype === prototype);
  return constructor ? { constructor, message: thrown.message } : null;
}

/** Rethrows the error of a builtin that was called with the program's primitives; a break inside it is passed on. */
export function throwsAsPlain(thrown: unknown, name: string): never {
  if (thrown instanceof BreakSignal) throw thrown;
  const error = engineErrorOf(thrown);
  return error ? throwError(error) : breakGraph("throws", name);
}

/** The result of a builtin that is called with the program's primitives, whose errors are rethrown so. */
export function callBuiltin<T>(name: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    return throwsAsPlain(error, name);
  }
}
