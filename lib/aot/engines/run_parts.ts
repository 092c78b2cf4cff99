/**
 * Runs the parts of a graph, each compiled by its engine. Invariants: a part receives tensors with the layouts and
 * gradient requirements that its graph records, or runs op by op; an engine's results have the recorded types and
 * shapes; a call that fails rolls back the writes of its parts.
 */
import { DynError, InternalError, isUndone, noteUndone } from "../../base/errors.ts";
import type { CompiledFunction, GraphBackend } from "../../graph/backend.ts";
import { GraphModule } from "../../graph/graph_module.ts";
import type { Transaction } from "../../graph/interpreter.ts";
import type { Node } from "../../graph/node.ts";
import { readBinding, sizeBindings } from "../../graph/sizes.ts";
import { type Dim, evaluate, type Sym } from "../../sym/expr.ts";
import { isTensor } from "../../tensor/tensor.ts";
import { exampleOf } from "../examples.ts";
import { listOf } from "../graph_part.ts";
import type { Part } from "./part.ts";

/** A graph, its parts, and the graph that calls them. */
interface CutGraph {
  readonly original: GraphModule;
  readonly whole: GraphModule;
  readonly parts: readonly Part[];
}

/** Compiles all parts; `compilerOf` returns the compiler of a part, or null for op by op. */
export function runParts(
  { original, whole, parts }: CutGraph,
  compilerOf: (part: Part) => GraphBackend | null,
): CompiledFunction {
  let open: Call | null = null;
  const compiled = parts.map((part) =>
    [part.name, compiledPart(part, compilerOf(part), () => open)] as const
  );
  const { graph, attributes, runner } = whole;
  const running = new GraphModule(graph, { ...attributes, ...Object.fromEntries(compiled) }, runner);
  return (...args) => {
    const outer = open, call: Call = open = { transaction: runner.begin(), failure: null };
    try {
      return running.forward(...args);
    } catch (error) {
      // An error of an engine is not one that the program's own ops would throw
      throw call.transaction.rollBack() && call.failure !== error ? noteUndone(error, original.graph) : error;
    } finally {
      open = outer;
    }
  };
}

/** A call in progress. */
interface Call {
  readonly transaction: Transaction;
  /** The error thrown by an engine. */
  failure: unknown;
}

/** A part as a function that returns the list of its results. */
function compiledPart(
  part: Part,
  compiler: GraphBackend | null,
  call: () => Call | null,
): CompiledFunction {
  const { module, writes } = part;
  const run = compiler === null || part.isPlain
    ? null
    : compiler(module, module.graph.placeholders.map(exampleOf));
  const fitsGraph = run === null ? null : inputCheck(module);
  return (...args) => {
    const current = call();
    for (const at of writes) current?.transaction.willWrite(args[at]);
    if (run === null || !fitsGraph?.(args)) return listOf(module.forward(...args));
    try {
      const results = run(...args);
      checkResults(part, results, args);
      return results;
    } catch (error) {
      if (current && !isUndone(error, module.graph)) current.failure = error;
      throw error;
    }
  };
}

type SizeOf = (symbol: Sym) => number;

/** The sizes of one call of a graph. */
function sizesOf(module: GraphModule): (args: readonly unknown[]) => SizeOf {
  const bindings = new Map(sizeBindings(module.graph).map((each) => [each.symbol, each]));
  return (args) => (symbol) => {
    const binding = bindings.get(symbol);
    if (!binding) {
      throw new InternalError(`Expected an input that determines the size ${symbol} but found none`);
    }
    return readBinding(binding, args);
  };
}

/**
 * Returns a check that tensors have the layout that a graph records, without which engines would read other elements,
 * and the same requiresGrad: a tensor written by an earlier part may require a gradient, which would be lost.
 */
function inputCheck(module: GraphModule): (args: readonly unknown[]) => boolean {
  const sizes = sizesOf(module), { graph: { placeholders }, signature } = module;
  return (args) => {
    const sizeOf = sizes(args);
    return placeholders.every(({ meta: { value } }, at) => {
      const tensor = args[at];
      if (value.kind !== "tensor") return true;
      if (!isTensor(tensor) || tensor.dtype !== value.tensor.dtype) return false;
      // Functional graphs are differentiated already
      if (!signature && tensor.requiresGrad !== value.requiresGrad) return false;
      const { shape, strides } = value.tensor, found = tensor.stride();
      return fits(shape, tensor.shape, sizeOf) &&
        (tensor.shape.includes(0) ||
          strides.every((each, d) => tensor.shape[d] === 1 || evaluate(each, sizeOf) === found[d]));
    });
  };
}

function fits(expected: readonly Dim[], found: readonly Dim[], sizeOf: SizeOf): boolean {
  return expected.length === found.length && expected.every((each, d) => evaluate(each, sizeOf) === found[d]);
}

/** Throws DynError if an engine's results differ from those that the graph records. */
function checkResults({ name, results, module }: Part, found: unknown, args: readonly unknown[]): void {
  const list: readonly unknown[] = Array.isArray(found) ? found : [];
  if (!Array.isArray(found) || list.length !== results.length) {
    const what = Array.isArray(found) ? `${list.length}` : typeof found;
    throw new DynError(`Expected a list of ${results.length} results from ${name} but found ${what}`);
  }
  const sizeOf = sizesOf(module)(args);
  results.forEach(({ name: result, meta: { value } }: Node, at) => {
    const tensor = list[at];
    if (value.kind !== "tensor") return;
    const { dtype } = value.tensor, shape = value.tensor.shape.map((each) => evaluate(each, sizeOf));
    if (isTensor(tensor) && tensor.dtype === dtype && fits(shape, tensor.shape, sizeOf)) return;
    const what = isTensor(tensor) ? `${tensor.dtype} of shape [${tensor.shape.join(", ")}]` : typeof tensor;
    throw new DynError(
      `Expected ${result} from ${name} as ${dtype} of shape [${shape.join(", ")}] but found ${what}`,
    );
  });
}
