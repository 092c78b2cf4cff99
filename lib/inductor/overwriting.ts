/**
 * Lets region calls write results into the memory of the values that they replace, as updates of optimizers do.
 * Invariant: no reader of an input's old elements runs after the kernel that writes the new ones, given that such calls
 * come last; the guard that decides whether a call may write at all does not depend on such results and comes first.
 */
import { sameList } from "../base/lists.ts";
import { type Graph, isList, Node } from "../graph/node.ts";
import type { GraphSignature } from "../graph/signature.ts";
import type { BufferId, Program, Statement } from "../loops/ir.ts";
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
  /**
   * `results`: those that are written into inputs and that nothing else reads, with the inputs; `all`: the memory of
   * these inputs.
   */
  constructor(readonly results: ReadonlyMap<Node, Written>, readonly all: ReadonlySet<BufferId>) {}

  /** Creates the analysis of a graph. */
  static of(
    graph: Graph,
    mutations: GraphSignature["mutatedInputs"],
    memoryOf: (node: Node) => BufferOperand | undefined,
  ): Overwriting {
    const [list = null] = graph.output.args, outputs = isList(list) ? list : [list];
    const { placeholders } = graph, results = new Map<Node, Written>(), all = new Set<BufferId>();
    const last = new Map(outputs.map((result, at) => [result, at]));
    const twice = new Set(outputs.filter((result, at) => last.get(result) !== at));
    for (const { input: at, output } of mutations) {
      const input = placeholders[at], memory = input && memoryOf(input), result = outputs[output];
      if (!memory) continue;
      all.add(memory.buffer);
      const isOnly = result instanceof Node && result.users.size === 1 && !twice.has(result);
      if (isOnly) results.set(result, { input, memory });
    }
    return new Overwriting(results, all);
  }

  /**
   * Returns the buffers into which a call of a region may write, by result: all results are new values of its inputs,
   * and no other input is overwritten. Empty if it may not.
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

/** The memory of arguments into which an update may write its results directly, by result. */
export function updateTargets(
  compiled: CompiledGraph,
  mutatedInputs: readonly number[],
  inputs: readonly (BufferOperand | undefined)[],
): ReadonlyMap<number, BufferOperand> {
  const found = new Map<number, BufferOperand>();
  for (const [result, placeholder] of mutatedInputs.entries()) {
    const target = inputs[placeholder];
    if (target && mayOverwrite(compiled, result, { placeholder, target })) found.set(result, target);
  }
  return found;
}

/** The nodes that select the results of a call, by result. */
export function itemsOf(node: Node): ReadonlyMap<number, Node> {
  return new Map([...node.users.keys()].flatMap((item) => {
    const [, index] = item.args;
    return item.target === "getitem" && typeof index === "number" ? [[index, item]] : [];
  }));
}

/**
 * Returns whether a region may write a result into the memory of an input: each element is read for the last time
 * before it is written.
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
  return isReadFirst(program, read, written);
}

/** Cached answers for a region's program, which is queried for each call. */
const readFirst = new WeakMap<Program, Map<string, boolean>>();

/** Returns whether each element of one buffer, if given, is read before the same element of another is written. */
function isReadFirst(program: Program, read: BufferId | undefined, written: BufferId): boolean {
  const known = readFirst.get(program) ?? new Map<string, boolean>(), key = `${read} ${written}`;
  readFirst.set(program, known);
  const found = known.get(key) ?? askReadFirst(program, read, written);
  known.set(key, found);
  return found;
}

function askReadFirst({ kernels }: Program, read: BufferId | undefined, written: BufferId): boolean {
  const [writer, ...others] = kernels.filter((kernel) => usesOf(kernel).written.has(written));
  if (others.length > 0 || writer?.kind !== "loops") return false;
  if (read === undefined) return true;
  const later = kernels.slice(kernels.indexOf(writer) + 1);
  return later.every((kernel) => !usesOf(kernel).all.has(read)) && readsBefore(writer.body, read, written);
}

/**
 * Returns whether each element of a buffer is read in the iteration that writes the same element of another, before the
 * write.
 */
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
