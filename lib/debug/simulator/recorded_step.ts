/**
 * A training step as a list of operations, from the functional graph of a compiled step with its region calls and the
 * times of its operations. Invariants: layers that the graph holds once as a region appear as often as they run; a view
 * counts as the memory of its base.
 */
import { itemSize } from "../../base/dtype.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { type Argument, type Graph, isList, Node } from "../../graph/node.ts";
import { isUpdate, rowsOf } from "../../graph/updates.ts";
import { isViewNode } from "../../ops/rewrite/memory_root.ts";
import { hintOf } from "../../sym/decide.ts";

/** An input, or the result of an operation. */
export interface Value {
  /** The op's name in graphs; null: an input of the graph. */
  readonly target: string | null;
  /** For an input: its source, as guards print it. */
  readonly source: string | null;
  /** Whether the program keeps it between calls. */
  readonly held: boolean;
  readonly shape: readonly number[];
  readonly bytes: number;
  readonly reads: readonly Value[];
  /** The value whose memory it shares; itself if it has its own. */
  readonly base: Value | null;
  /** Whether it belongs to the backward pass. */
  readonly ofPass: boolean;
  readonly seconds: number;
}

/** A step. */
export interface RecordedStep {
  readonly inputs: readonly Value[];
  /** Results of operations, in order. */
  readonly operations: readonly Value[];
  /** Inputs that are written, with their new values. */
  readonly written: ReadonlyMap<Value, Value>;
}

/** The time of one operation. */
export interface TimedOp {
  readonly target: string;
  readonly seconds: number;
}

/** The memory that a value is in. */
export function memoryOf(value: Value): Value {
  return value.base ? memoryOf(value.base) : value;
}

function sizesOf(tensor: TensorMeta): { readonly shape: readonly number[]; readonly bytes: number } {
  const shape = tensor.shape.map(hintOf);
  return { shape, bytes: shape.reduce((a, b) => a * b, itemSize(tensor.dtype)) };
}

/** Shape and bytes of a node; of several tensors, the total. */
function extentOf({ meta: { value } }: Node): { readonly shape: readonly number[]; readonly bytes: number } {
  if (value.kind === "tensor") return sizesOf(value.tensor);
  if (value.kind !== "tensors") return { shape: [], bytes: 0 };
  const all = value.tensors.map(sizesOf);
  return { shape: all[0]?.shape ?? [], bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Walks a graph and the regions that it calls in execution order. */
class Walk {
  readonly operations: Value[] = [];
  #at = 0;

  constructor(private readonly times: readonly TimedOp[]) {}

  /** Returns the time of the next operation with a name. */
  #secondsOf(target: string): number {
    const next = this.times[this.#at];
    if (next?.target !== target) return 0;
    this.#at++;
    return next.seconds;
  }

  /** Values of a graph by node; results of regions are lists. */
  graph(
    graph: Graph,
    given: readonly Value[],
    isPass: boolean,
  ): Map<Node, Value | readonly (Value | null)[]> {
    const found = new Map<Node, Value | readonly (Value | null)[]>();
    graph.placeholders.forEach((node, k) => {
      const value = given[k];
      if (value) found.set(node, value);
    });
    for (const node of graph.nodes) {
      if (node.op === "placeholder" || node.op === "output") continue;
      const ofPass = isPass || node.meta.ofPass === true, { region } = node.meta, first = node.args[0];
      const taken = first instanceof Node ? found.get(first) : undefined;
      if (node.target === "getitem" && isListOfValues(taken)) {
        const one = taken[Number(node.args[1])];
        if (one) found.set(node, one);
        continue;
      }
      const inputs = [...node.inputs()].flatMap((input) => {
        const value = found.get(input);
        return value && !isListOfValues(value) ? [value] : [];
      });
      if (region) {
        const valueOf = (argument: Argument) => {
          const value = argument instanceof Node ? found.get(argument) : undefined;
          return isListOfValues(value) ? undefined : value;
        };
        for (const row of rowsOf(node)) {
          const results = this.#region(region.graph, row.map(valueOf), ofPass);
          found.set(node, results);
          for (const [k, at] of isUpdate(node) ? region.mutatedInputs.entries() : []) {
            const target = row[at], value = results[k];
            if (target instanceof Node && value) found.set(target, value);
          }
        }
        continue;
      }
      found.set(node, this.#operation(node, inputs, ofPass));
    }
    return found;
  }

  #operation(node: Node, reads: readonly Value[], ofPass: boolean): Value {
    const { target } = node, shows = target === "getitem" || isViewNode(node), [first] = reads;
    const value: Value = {
      target,
      source: null,
      held: false,
      ...extentOf(node),
      reads,
      base: shows && first ? first : null,
      ofPass,
      seconds: target === "getitem" ? 0 : this.#secondsOf(target),
    };
    this.operations.push(value);
    return value;
  }

  #region(graph: Graph, given: readonly (Value | undefined)[], ofPass: boolean): readonly (Value | null)[] {
    const values = given.map((value, k) => value ?? inputValue(graph.placeholders[k]));
    const found = this.graph(graph, values, ofPass), results = graph.output.args[0];
    return (isList(results) ? results : [results]).map((result) => {
      const value = result instanceof Node ? found.get(result) : undefined;
      return value && !isListOfValues(value) ? value : null;
    });
  }
}

function isListOfValues(
  value: Value | readonly (Value | null)[] | undefined,
): value is readonly (Value | null)[] {
  return Array.isArray(value);
}

function inputValue(node: Node | undefined): Value {
  const extent = node ? extentOf(node) : { shape: [], bytes: 0 };
  const source = node?.meta.source ?? null, held = node?.meta.held === true;
  return { target: null, source, held, ...extent, reads: [], base: null, ofPass: false, seconds: 0 };
}

/** The operations of a compiled step. */
export function recordedStep({ graph, signature }: GraphModule, times: readonly TimedOp[]): RecordedStep {
  const walk = new Walk(times), inputs = graph.placeholders.map(inputValue);
  const found = walk.graph(graph, inputs, false), results = graph.output.args[0];
  const written = new Map<Value, Value>();
  for (const { input, output } of signature?.mutatedInputs ?? []) {
    const node = isList(results) ? results[output] : undefined, before = inputs[input];
    const after = node instanceof Node ? found.get(node) : undefined;
    if (before && after && !isListOfValues(after)) written.set(before, after);
  }
  return { inputs, operations: walk.operations, written };
}
