/**
 * Generates the function that replaces the original for calls that an entry serves: inputs, the compiled graph,
 * changes to the program's objects, and the continuation. Invariant: all reads of the program's state happen before
 * any change.
 */
import { invariant } from "../../base/errors.ts";
import { Constants, SourceReader } from "../guards/reader.ts";
import { dimText } from "../guards/conditions.ts";
import type { OutputGraph } from "../trace/output_graph.ts";
import type { Value } from "../variables/value.ts";
import { type ChangedState, countEffects, effectStatements } from "./effects.ts";
import { Names, RESERVED } from "./names.ts";
import { Rebuilder } from "./rebuild.ts";
import type { ClosurePrinter } from "./closure_types.ts";
import { scalar } from "../scalars.ts";
import type { Node } from "../../graph/node.ts";
import type { Sym } from "../../sym/expr.ts";

/** The parts of modified code. */
export interface ModifiedParts {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly output: OutputGraph;
  readonly state: ChangedState;
  readonly printer: ClosurePrinter;
  readonly readCaptured: (fn: unknown, index: number) => unknown;
  /** Handles a call whose graph throws: no effect of the program has happened by then. */
  readonly failed: (self: unknown, args: ArrayLike<unknown>, error: unknown) => unknown;
  /** Objects whose creation is an effect, in this order. */
  readonly first: readonly Value[];
  /** Values to which the tail refers. */
  readonly needed: readonly Value[];
  /** Writes the last statements. */
  readonly tail: (code: ModifiedCode) => readonly string[];
  /** Compiles the graph whose results are these nodes; null if there is nothing to run. */
  readonly compile: (results: readonly Node[]) => CompiledGraph | null;
}

/** A compiled graph. */
interface CompiledGraph {
  readonly name: string;
  readonly run: unknown;
  /** Whether nothing refers to its results once it has returned them. */
  readonly keepsNothing: boolean;
}

/** The context for generating tails. */
export interface ModifiedCode {
  readonly rebuild: Rebuilder;
  readonly constants: Constants;
  readonly names: Names;
}

/** The result: a function of (self, args), and its readable text. */
export interface Modified {
  readonly run: (...args: readonly unknown[]) => unknown;
  readonly text: string;
  /** The statements of the text that change what existed before, or call the program's functions. */
  readonly effects: readonly string[];
  /** Values that the text refers to, by name. */
  readonly constants: ReadonlyMap<string, unknown>;
  readonly parameters: readonly string[];
}

/** Generates a modified function. */
export function buildModified(parts: ModifiedParts): Modified {
  const { output, state } = parts;
  const constants = new Constants();
  const names = new Names();
  const parameters = parts.parameters.map((p) => names.fresh(p));
  const prologue: string[] = [];
  let rest: string | null = null;
  const reader = new SourceReader(
    (line) => prologue.push(line),
    constants,
    (index) => {
      const name = parameters[index];
      if (name !== undefined) return name;
      rest ??= names.fresh("rest");
      return `${rest}[${index - parameters.length}]`;
    },
    "this",
    parts.readCaptured,
    (wish) => names.fresh(wish),
  );
  const calls = { before: [] as string[], after: [] as string[] };
  for (const { call, name } of output.calls.map((call) => ({ call, name: names.fresh("number") }))) {
    reader.called.set(call, name);
    const run = constants.name(call.run, "$number");
    calls[call.afterGraph ? "after" : "before"].push(`const ${name} = ${run}(); // ${call.text}`);
  }
  const rebuild = new Rebuilder(reader, constants, names, parts.printer);
  const code: ModifiedCode = { rebuild, constants, names };
  countEffects(state, (value) => rebuild.occurrences.count(value));
  for (const value of [...parts.first, ...parts.needed]) rebuild.occurrences.count(value);
  rebuild.makeFirst(parts.first);
  const effects = effectStatements(state, rebuild);
  const tail = parts.tail(code);
  const reads = rebuild.later.reads();
  const compiled = parts.compile(rebuild.results.nodes);
  const call = compiled ? graphCall(compiled, output, { reader, code }) : [];
  const leaves = compiled?.keepsNothing ? leavesOfOwnGradients(state, rebuild) : [];
  if (leaves.length > 0) {
    const start = names.fresh("start");
    call.unshift(`const ${start} = ${rebuild.helper("lastSerial")}();`);
    const given = `[${leaves.join(", ")}], [${rebuild.results.all().join(", ")}], ${start}`;
    effects.push(`${rebuild.helper("ownGradients")}(${given});`);
  }
  const made = [...rebuild.parameters].map(([{ meta, requiresGrad }, name]) => {
    const shape = meta.shape.map((size) => dimText(size, (s) => sizeText(s, output, reader))).join(", ");
    const { dtype, device } = meta, options = JSON.stringify({ dtype, device, requiresGrad });
    return `const ${name} = ${rebuild.helper("makeParameter")}([${shape}], ${options});`;
  });
  const list = [...parameters, ...(rest === null ? [] : [`...${rest}`])];
  const body = [
    ...prologue,
    ...calls.before,
    ...made,
    ...call,
    ...calls.after,
    ...reads,
    ...rebuild.order.creations,
    ...rebuild.order.fills,
    ...effects,
    ...rebuild.order.finals,
    ...tail,
  ];
  const text = `function ${safeName(parts.name)}(${list.join(", ")}) {\n${
    body.map((line) => indent(line)).join("\n")
  }\n}`;
  const run = constants.evaluate(text);
  invariant(isRun(run), "Expected a function");
  return {
    run: compiled ? guarded(run, list, parts.failed) : run,
    text,
    effects: [...calls.before, ...calls.after, ...effects],
    constants: constants.values,
    parameters: list,
  };
}

/** The call of a graph, which gives its results their names. */
function graphCall(
  compiled: CompiledGraph,
  output: OutputGraph,
  { reader, code: { rebuild, constants } }: { readonly reader: SourceReader; readonly code: ModifiedCode },
): string[] {
  constants.add(compiled.name, compiled.run);
  const args = output.inputs.map((input) => {
    switch (input.kind) {
      case "tensor":
        return input.value.made ? rebuild.parameter(input.value) : rebuild.tensor(input.value);
      case "size":
        return dimText(input.size, (s) => sizeText(s, output, reader));
      case "scalar":
        constants.add("$scalar", scalar);
        return input.device === "cpu"
          ? `$scalar(${reader.host(input.expression)})`
          : `$scalar(${reader.host(input.expression)}, ${JSON.stringify(input.device)})`;
      case "data":
        return input.text(reader);
      default:
        return input satisfies never;
    }
  });
  const invocation = `${compiled.name}(${args.join(", ")})`;
  // By index: the program may have replaced the iteration of arrays.
  const taken = rebuild.results.all().map((name, i) => `${i}: ${name}`).join(", ");
  return [taken === "" ? `${invocation};` : `const { ${taken} } = ${invocation};`];
}

/** Where a call finds the value of a size. */
function sizeText(symbol: Sym, output: OutputGraph, reader: SourceReader): string {
  const { source, size } = output.originOf(symbol);
  const base = reader.read(source);
  switch (size.part.kind) {
    case "value":
      return base;
    case "shape":
      return `${base}.shape[${size.part.dim}]`;
    case "stride":
      return `${base}.strides[${size.part.dim}]`;
    case "offset":
      return `${base}.offset`;
    default:
      return size.part satisfies never;
  }
}

/** The leaves whose `.grad` becomes a result of the graph that the code uses nowhere else. */
function leavesOfOwnGradients({ tensors }: ChangedState, rebuild: Rebuilder): string[] {
  return tensors.flatMap((leaf) => {
    const grad = leaf.isBegun ? undefined : leaf.assigned.get("grad");
    const isOwn = leaf.real && grad?.kind === "tensor" && !grad.real && !grad.made && grad.node &&
      rebuild.results.isUsedOnce(grad.node);
    return isOwn ? [rebuild.tensor(leaf)] : [];
  });
}

/** Evaluates a text to its function; `failed` handles failures if it runs a graph. */
export function functionOf(
  { text, constants: given, parameters }: Omit<Modified, "run" | "effects">,
  failed: ModifiedParts["failed"] | null,
): Modified["run"] {
  const constants = new Constants();
  for (const [name, value] of given) constants.add(name, value);
  const run = constants.evaluate(text);
  invariant(isRun(run), "Expected a function");
  return failed ? guarded(run, parameters, failed) : run;
}

/** Wraps the function to handle failures of the graph; separately, so that the readable text is the program alone. */
function guarded(run: Modified["run"], parameters: readonly string[], failed: ModifiedParts["failed"]) {
  const constants = new Constants();
  const body = constants.name(run, "$run"), instead = constants.name(failed, "$failed");
  const apply = constants.name(Reflect.apply, "$apply");
  const made = constants.evaluate(`function (${parameters.join(", ")}) {
  try {
    return ${apply}(${body}, this, [${parameters.join(", ")}]);
  } catch ($dyn_error) {
    return ${instead}(this, arguments, $dyn_error);
  }
}`);
  invariant(isRun(made), "Expected a function");
  return made;
}

function isRun(value: unknown): value is Modified["run"] {
  return typeof value === "function";
}

function safeName(name: string): string {
  // Units have names that begin with underscores; their bodies must not shadow them.
  const plain = name.replace(/^__/, "").replace(/[^A-Za-z0-9_$]/g, "_");
  return /^[A-Za-z_$]/.test(plain) && !RESERVED.has(plain) ? plain : `fn_${plain}`;
}

function indent(text: string): string {
  return text.split("\n").map((line) => `  ${line}`).join("\n");
}
