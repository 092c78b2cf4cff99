/**
 * User code that runs while a function is traced, with access to the tracer's state at that point, like
 * `torch._dynamo.comptime`. Invariant: it does not run with the program, compiled or not, and does not affect the
 * trace.
 */
import { checkFunction } from "../../base/checked_input.ts";
import { named } from "../../base/isolated_objects.ts";
import type { UserFrame } from "../../base/errors.ts";
import { logs } from "../../base/logs.ts";
import { asProgram } from "../../base/own_builtins.ts";
import { printGraph, typeText } from "../../graph/print.ts";
import { breakGraph } from "../break_reasons.ts";
import { disassemble } from "../bytecode/disassemble.ts";
import { closurePrinter } from "../resume/closure_printer.ts";
import { factText, hostLeafText } from "../guards/text.ts";
import { Constants } from "../guards/reader.ts";
import { valueText } from "../guards/found_values.ts";
import { hostText } from "../variables/host_number.ts";
import type { BuiltinModel, Interpreter } from "../trace/interpreter.ts";
import { refuseToCache } from "../disk_cache/noted_reads.ts";
import type { ModelTable } from "../trace/builtins/table.ts";
import { type ObjectValue, UNDEFINED, type Value } from "../variables/value.ts";

/** The tracer's state for a function that runs during tracing. */
export interface ComptimeContext {
  /** The graph so far, as a program. */
  graph(): string;
  /** The guards so far. */
  guards(): string[];
  /** The variables of the traced function, and what is known of each. */
  locals(): Readonly<Record<string, string>>;
  /** Returns the position in the program, innermost frame first. */
  stack(): readonly UserFrame[];
  /** The instructions of the traced function. */
  disassembly(): string;
}

/** Runs functions while tracing, and prints what the tracer sees to stderr. */
export interface Comptime {
  /**
   * Calls `body` whenever a trace passes here, which is once per compilation unless the trace has to restart. Does
   * nothing in an uncompiled call. `body` may have captured what is known while tracing: constants and objects from
   * outside.
   */
  (body: (context: ComptimeContext) => void): void;
  /** Prints the graph so far. */
  printGraph(): void;
  /** Prints the guards so far. */
  printGuards(): void;
  /** Prints the variables of the function that is traced. */
  printLocals(): void;
  /** Prints the position in the program. */
  printStack(): void;
  /** Prints the instructions of the traced function. */
  printDisassembly(): void;
}

const printed: Readonly<Record<keyof Comptime, (context: ComptimeContext) => string>> = {
  printGraph: (context) => context.graph(),
  printGuards: (context) => ["Guards so far:", ...context.guards().map((guard) => `  ${guard}`)].join("\n"),
  printLocals: (context) =>
    ["Variables:", ...Object.entries(context.locals()).map(([name, text]) => `  ${name}: ${text}`)].join(
      "\n",
    ),
  printStack: (context) =>
    context.stack().map(({ functionName, file, line, code = "" }) =>
      `at ${functionName || "<anonymous>"} (${file}:${line})\n    ${code}`
    ).join("\n"),
  printDisassembly: (context) => context.disassembly(),
};

/** Like `torch._dynamo.comptime.comptime`. */
export const comptime: Comptime = Object.assign(
  named("comptime", (body: (context: ComptimeContext) => void): void => {
    checkFunction(body, "that sees the trace");
  }),
  {
    printGraph(): void {},
    printGuards(): void {},
    printLocals(): void {},
    printStack(): void {},
    printDisassembly(): void {},
  },
);

/** Returns the context at this point of a trace. */
function contextOf(m: Interpreter): ComptimeContext {
  return {
    graph: () => printGraph(m.output.graph, { types: true }),
    guards: () => m.output.allGuards().map(({ fact }) => factText(fact)),
    locals() {
      const found: Record<string, string> = {};
      m.top.code.registers.forEach(({ name }, register) => {
        const value = m.top.read(register);
        if (name !== null && value) found[name] = describe(value);
      });
      return found;
    },
    stack: () => m.output.whereabouts.stack().toReversed(),
    disassembly: () => disassemble(m.top.code),
  };
}

/** Describes what is known of a value. */
function describe(value: Value): string {
  switch (value.kind) {
    case "constant":
      return valueText(value.value);
    case "number":
      return `${value.integer ?? hostText(value.expression, hostLeafText)} (${value.hint} in this call)`;
    case "item":
      return value.tensor ? `an element of ${describe(value.tensor)}` : `a ${value.type} of the graph`;
    case "tensor":
      return `a tensor ${typeText({ kind: "tensor", tensor: value.meta, requiresGrad: value.requiresGrad })}`;
    case "object":
      return value.real ? valueText(value.real) : `a new ${value.exotic.kind} object`;
    case "cell":
      return value.content ? describe(value.content) : "a variable that nothing has read";
    case "uninitialized":
      return "not initialised";
    case "enumerator":
      return "the keys of an object";
    default:
      return value satisfies never;
  }
}

/** The function itself, even if the trace has created it. */
function functionOf(value: Value | undefined): (context: ComptimeContext) => unknown {
  const unknown = () => breakGraph("builtin", "comptime of a function that captures what is computed");
  if (value?.kind !== "object") return breakGraph("throws", "comptime of a value that is not a function");
  const fn: unknown = value.real ?? made(value, unknown);
  return typeof fn === "function"
    ? (context) => fn(context)
    : breakGraph("throws", "comptime of a result that is not a function");
}

function made({ exotic }: ObjectValue, unknown: () => never): unknown {
  const closure = exotic.kind === "function" ? exotic.closure : null;
  if (!closure || closure.home) return unknown();
  const constants = new Constants();
  const free = closure.free.map((bound): string => {
    if (bound.kind === "constant") return constants.name(bound.value);
    return bound.kind === "object" && bound.real ? constants.name(bound.real) : unknown();
  });
  const { code, functionName: name, namePrefix } = closure;
  const nameText = typeof name === "symbol" ? constants.name(name) : null;
  const parts = { name, nameText, namePrefix, home: null, free, cells: new Set<number>() };
  return constants.evaluate(closurePrinter.closure(code, parts, constants));
}

/** Adds the models of `comptime` and its printing functions. */
export function addComptime(into: ModelTable): void {
  const seeing =
    (look: (context: ComptimeContext, args: readonly Value[]) => void): BuiltinModel => (m, { args }) => {
      refuseToCache("comptime");
      m.memory.refuse();
      look(contextOf(m), args);
      return UNDEFINED;
    };
  into.call(
    comptime,
    seeing((context, [body]) => {
      const fn = functionOf(body);
      asProgram(() => fn(context));
    }),
  );
  for (const [name, text] of Object.entries(printed)) {
    const fn: unknown = Reflect.get(comptime, name);
    if (typeof fn !== "function") continue;
    into.call(fn, seeing((context) => logs.emit("dynamo", () => text(context), "warning")));
  }
}
