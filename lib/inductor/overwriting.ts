/**
 * Results of regions in the memory of what they are new values of, as optimizers' updates are. Input: a graph that writes
 * to its inputs, and calls of regions in it; output: where a call may write its results. Invariant: nothing that reads
 * the former elements of an input runs behind the kernel that writes the new ones, given that such calls come last; what
 * decides whether a call may write at all, which no such result is part of, comes first.
 */
import { sameList } from "../base/lists.ts";
import { type Graph, isList, Node } from "../graph/node.ts";
import type { GraphSignature } from "../graph/signature.ts";
import type { BufferId, Statement } from "../loops/ir.ts";
import type { BufferOperand } from "../loops/record.ts";
import { usesOf } from "../loops/uses.ts";
import type { Dim } from "../sym/expr.ts";
import type { CompiledGraph } from "./compiled_graph.ts";
import { isOutput } from "./region_call.ts";

/** An input that is written to. */
interface Written {
  readonly input: Node;
  readonly memory: BufferOperand;
}

/** The inputs that a graph writes to. */
export class Overwriting {
  /** `results`: by the results that are written there and that nothing else reads; `all`: the memory of all of them. */
  constructor(readonly results: ReadonlyMap<Node, Written>, readonly all: ReadonlySet<BufferId>) {}

  /** Those of a graph. */
  static of(
    graph: Graph,
    mutations: GraphSignature["mutatedInputs"],
    memoryOf: (node: Node) => BufferOperand | undefined,
  ): Overwriting {
    const [list = null] = graph.output.args, outputs = isList(list) ? list : [list];
    const { placeholders } = graph, results = new Map<Node, Written>(), all = new Set<BufferId>();
    for (const { input: at, output } of mutations) {
      const input = placeholders[at], memory = input && memoryOf(input), result = outputs[output];
      if (!memory) continue;
      all.add(memory.buffer);
      const isOnly = result instanceof Node && result.users.size === 1 &&
        outputs.indexOf(result) === outputs.lastIndexOf(result);
      if (isOnly) results.set(result, { input, memory });
    }
    return new Overwriting(results, all);
  }

  /**
   * Where a call of a region may write its results, by result: all of them are new values of what it is given, and
   * nothing else that it is given is overwritten. Empty where it may not.
   */
  targetsOf(
    node: Node,
    compiled: CompiledGraph,
    inputs: readonly (BufferOperand | undefined)[],
  ): ReadonlyMap<number, BufferOperand> {
    const found = new Map<number, BufferOperand>(), own = new Set<number>();
    for (const [result, item] of itemsOf(node)) {
      const { input = item, memory: target } = this.results.get(item) ?? {};
      const placeholder = node.args.indexOf(input);
      if (!target || placeholder < 0 || !mayOverwrite(compiled, result, { placeholder, target })) {
        return new Map();
      }
      found.set(result, target);
      own.add(placeholder);
    }
    const isSeen = inputs.some((input, at) => input && !own.has(at) && this.all.has(input.buffer));
    return isSeen ? new Map() : found;
  }
}

/** The nodes that name results of a call, by result. */
export function itemsOf(node: Node): ReadonlyMap<number, Node> {
  return new Map([...node.users.keys()].flatMap((item) => {
    const [, index] = item.args;
    return item.target === "getitem" && typeof index === "number" ? [[index, item]] : [];
  }));
}

/**
 * Whether a region may write a result into the memory of the tensor that it is given as one of its placeholders: an
 * element is written where nothing reads the former one any more.
 */
function mayOverwrite(
  { program, inputs, outputs }: CompiledGraph,
  result: number,
  { placeholder, target }: { readonly placeholder: number; readonly target: BufferOperand },
): boolean {
  const made = outputs[result];
  if (made?.kind !== "tensor" || made.of !== "output" || made.isPairs || made.offset !== 0) return false;
  if (
    made.dtype !== target.dtype || target.offset !== 0 || !sameList(made.shape, target.shape) ||
    !sameList(made.strides, target.strides) || outputs.filter((each) => isOutput(each, made.index)).length > 1
  ) return false;
  const written = program.outputs[made.index], read = program.inputs[inputs.indexOf(placeholder)];
  if (written === undefined) return false;
  const writers = program.kernels.filter((kernel) => usesOf(kernel).written.has(written));
  const [writer] = writers;
  if (writers.length !== 1 || writer?.kind !== "loops") return false;
  if (read === undefined) return true;
  const later = program.kernels.slice(program.kernels.indexOf(writer) + 1);
  return later.every((kernel) => !usesOf(kernel).all.has(read)) && readsBefore(writer.body, read, written);
}

/** Whether each element of a buffer is read in the iteration that writes the same one of another, ahead of that. */
function readsBefore(body: readonly Statement[], read: BufferId, written: BufferId): boolean {
  const indices = new Set<Dim>();
  let stores = 0, isAhead = true;
  const visit = (statements: readonly Statement[]) => {
    for (const s of statements) {
      if (s.kind === "loop" || s.kind === "masked") visit(s.body);
      else if (s.kind === "load" && s.buffer === read) {
        isAhead &&= stores === 0;
        indices.add(s.index);
      } else if (s.kind === "store" && s.buffer === written) {
        stores++;
        indices.add(s.index);
        isAhead &&= s.mode === "set";
      }
    }
  };
  visit(body);
  return isAhead && stores === 1 && indices.size === 1;
}
