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
      "Which way the program goes depends on elements of a tensor, known only after the graph has run",
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
    hint: "Take what is needed out of the object before the compiled function",
  },
  tensorMethod: {
    id: "GB0007",
    category: "tensor operation that cannot be captured",
    explanation: "The operation needs elements, or reaches outside of what graphs represent",
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
    explanation: "The construct has no instructions in the tracer",
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
    explanation: "A class is made anew at every call",
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
    explanation: "The value is read out of a tensor and is needed outside of the graph",
    hint: "Keep the value as a tensor",
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
    explanation: "There is nothing that could be stepped through",
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
    explanation: "Plain JavaScript throws it, with everything that comes before it",
    hint: "None is needed where the exception is meant",
  },
  disagreement: {
    id: "GB0030",
    category: "exception that was expected and did not come",
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
    category: "variables that are known from the next call on",
    explanation: "This call gives them",
    hint: "None is needed: the next call is compiled",
  },
  cacheLimit: {
    id: "GB0033",
    category: "cache size limit",
    explanation: "No further version is compiled for calls that no version serves",
    hint: "Raise that limit, or keep what the guards test the same",
  },
  compilation: {
    id: "GB0034",
    category: "compiler of graphs that fails",
    explanation: "Compiling it failed",
    hint: "config.suppressErrors leaves such functions uncompiled; without it the error is thrown",
  },
  waits: {
    id: "GB0035",
    category: "wait of an async function or a generator",
    explanation:
      "Other code runs before the function goes on: one graph ends here and another begins behind it",
    hint: "None is needed; what should be one graph belongs between two waits, or into a function of its own",
  },
  dataDependentSize: {
    id: "GB0036",
    category: "decision on a size that only elements of tensors say",
    explanation: "The size is known only after a part of the graph has run, and what follows depends on it",
    hint:
      "State what holds of it with compiler.check(condition), or take the decision out of the compiled function",
  },
  nonstrict: {
    id: "GB0037",
    category: "function marked by nonstrictTrace that cannot be part of a graph",
    explanation: "The function throws, looks at elements, or takes or gives what a graph cannot have",
    hint: "Keep it to operations on tensors, or mark it by compiler.disable",
  },
  region: {
    id: "GB0038",
    category: "function of a branch or loop that is not a graph",
    explanation: "What cond, whileLoop and scan call may compute tensors from tensors and nothing else",
    hint: "Hand in what it needs, return what it makes, and leave everything else as it is",
  },
  batch: {
    id: "GB0040",
    category: "function over a batch that is not a graph",
    explanation:
      "What vmap runs may compute tensors from tensors by ops that have a rule for batches, and nothing else",
    hint:
      "Return what it makes and leave everything else as it is; or run vmap outside of the compiled function",
  },
  customOp: {
    id: "GB0041",
    category: "op of the program that cannot be part of a graph",
    explanation: "A graph has to know what an op gives without running it, and how gradients flow through it",
    hint: "Say what it gives by registerFake, and its gradient by registerAutograd",
  },
  recompilation: {
    id: "GB0039",
    category: "recompilation that is not allowed",
    explanation: "The call is served by none of the versions, and another one is not wanted",
    hint: "Keep what the guards test the same, or take back config.errorOnRecompile or the stance",
  },
  randomState: {
    id: "GB0042",
    category: "random numbers from a generator of their own",
    explanation: "Graphs draw from the common generator; the call runs outside of the graph",
    hint: "Draw before the compiled function and hand the tensor in, or draw from the common generator",
  },
  begunIterator: {
    id: "GB0043",
    category: "iterator that was begun before this graph",
    explanation: "Where a builtin iterator stands is not known before it is asked for its next item",
    hint:
      "Where the graph has broken inside of the loop before, mend that break or loop over a list, a Map or a Set itself; make iterators in the compiled function",
  },
  asked: {
    id: "GB0044",
    category: "graph break that the program asks for",
    explanation: "compiler.graphBreak() is called here",
    hint: "Take the call out where one graph is wanted",
  },
  changingText: {
    id: "GB0045",
    category: "text or keys that change",
    explanation:
      "Each value of the text as the name of a property or a key, or of the number that it is made of, and each " +
      "list of keys would need a version of its own",
    hint: "Write what depends on such texts outside of the compiled function",
  },
  unread: {
    id: "GB0046",
    category: "code that is read later",
    explanation: "This call runs uncompiled",
    hint: "None is needed: later cells and lines run it compiled",
  },
  withoutTensors: {
    id: "GB0047",
    category: "function without tensors",
    explanation:
      "Much of the function was stepped through and no tensor was met: what is left runs uncompiled",
    hint: "Compile the functions that compute with tensors, or raise config.tensorlessTraceLimit",
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

/** The classes of the errors that the engine throws. */
export const ENGINE_ERRORS = [TypeError, RangeError, SyntaxError, ReferenceError, URIError] as const;

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
