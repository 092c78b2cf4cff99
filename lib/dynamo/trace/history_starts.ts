/**
 * Tensors of a trace at which the program starts a history, as by `x.detach().requiresGrad_()` or `tensor(data, {
 * requiresGrad: true })`: a node marks each of them, or the graph breaks. Invariant: such a history ends with its
 * graph, because results and written tensors with such a history would need the tape to follow it.
 */
import { isDifferentiable } from "../../base/dtype.ts";
import type { Node } from "../../graph/node.ts";
import { breakGraph } from "../break_reasons.ts";
import type { TensorValue } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import type { OutputGraph } from "./output_graph.ts";
import { leaveToTape } from "./left_to_tape.ts";
import { WRITTEN_LEAF } from "./overwritten_leaves.ts";
import { mayShareMemory, shownNode } from "./shown_nodes.ts";

/** Lets gradients flow to a tensor without history that the trace has created. */
export function beginHistory(m: Interpreter, tensor: TensorValue): TensorValue {
  if (m.batch !== null) return m.batch.beginHistory(tensor);
  const { node, meta, real } = tensor, { output } = m;
  if (!isDifferentiable(meta.dtype)) return breakGraph("throws", "requiresGrad_ of a tensor of integers");
  if (real || !node || m.regionDepths.length > 0) {
    return breakGraph("gradientState", "requiresGrad_ changes a tensor");
  }
  const leaf = output.graph.create("call_function", "detach", {
    args: [node],
    name: "leaf",
    meta: {
      stack: output.whereabouts.stack(),
      value: { kind: "tensor", tensor: meta, requiresGrad: true },
      leaf: true,
    },
  });
  output.noteOperation(leaf);
  // Values computed from it earlier have no history
  output.tensors.delete(node);
  output.tensors.set(leaf, tensor);
  tensor.node = leaf;
  tensor.requiresGrad = true;
  tensor.begunAt = output.whereabouts.step();
  output.begun.push(tensor);
  return tensor;
}

/**
 * Breaks the graph before a write to a tensor at which a history begins or that has one, to the copy that stands for it,
 * or to memory that a view with a history of its own shows. Memory that such a tensor shows may be written by way of
 * others unless something with its history is used later.
 */
export function keepHistories({ output }: Interpreter, target: Node): void {
  const refuse = () => breakGraph("gradientState", WRITTEN_LEAF);
  if (output.copiesOfLeaves.has(shownNode(target, { detached: true }))) refuse();
  if (output.unshared.some((view) => mayShareMemory(view, target))) refuse();
  if (output.begun.length === 0) return;
  const { history } = output, aliases = history.aliases(target), starts = history.begunBehind(target);
  if (!aliases || !starts) return refuse();
  const begun = new Set(output.begun.flatMap(({ node }) => node && aliases.has(node) ? [node] : []));
  if (begun.size === 0) return;
  if (starts.some((start) => begun.has(start))) refuse();
  const step = output.whereabouts.step();
  for (const alias of aliases.keys()) {
    const behind = history.begunBehind(alias);
    if (behind?.some((start) => begun.has(start)) ?? true) output.overwritten.note(alias, step);
  }
}

/** Restarts the trace if a history that it began would outlive the graph, to break where it begins. */
export function refuseOutliving(m: Interpreter, output: OutputGraph, results: readonly Node[]): void {
  for (const result of results) {
    leaveToTape(m, result, "is a result of the graph");
  }
  output.outdated.refuseUse(results);
  refuseRaised(m, output, results);
  if (output.begun.length === 0) return;
  // What is written to the program's tensors remains, too
  const changed = [...output.tensors].flatMap(([node, { real, requiresGrad }]) =>
    requiresGrad && real?.requiresGrad === false ? [node] : []
  );
  const leaves = new Set([...results, ...changed]);
  output.overwritten.refuseUse(leaves);
  for (const result of leaves) {
    if (!output.tensors.get(result)?.requiresGrad) continue;
    const behind = output.history.begunBehind(result);
    const first = output.begun.find(({ node }) => node && (behind?.includes(node) ?? true));
    if (!first || first.begunAt === null) continue;
    // Nothing that remains can ask for the gradients of its beginnings
    if (behind && leaves.isDisjointFrom(new Set(behind)) && output.history.leadsToInputs(result)) continue;
    m.restartAt(first.begunAt, {
      kind: "gradientState",
      detail: "a result of the graph, or a tensor that it writes to, has a history that it begins",
    });
  }
}

/**
 * Restarts the trace if the history of a result, or of an input that is written to, leads to a tensor of the program that
 * requires grad since within the graph: for the tape, which takes the inputs at the beginning, it requires none.
 */
function refuseRaised(m: Interpreter, output: OutputGraph, results: readonly Node[]): void {
  const nodes = new Set(output.raised.flatMap(({ tensor }) => originalNode(output, tensor) ?? []));
  const [first] = output.raised;
  if (!first || nodes.size === 0) return;
  const recorded = results.filter((node) => isRecorded(output, node));
  for (const node of [...recorded, ...output.history.writtenInputs()]) {
    if (!output.history.leadsTo(node, nodes)) continue;
    m.restartAt(first.step, {
      kind: "gradientState",
      detail: "what the graph gives has a history with a tensor that requires grad since within the graph",
    });
  }
}

/** The placeholder of a tensor of the program; null if nothing has used it. */
function originalNode({ switched }: OutputGraph, tensor: TensorValue): Node | null {
  const [leaf] = [...switched].find(([node, each]) => each === tensor && node.op === "placeholder") ?? [];
  return leaf ?? tensor.node;
}

/**
 * Restarts the trace if a result of a graph of several stages requires grad and gradients that a stage recomputes have
 * released its history: only the tape reports that when it is differentiated a second time.
 */
export function refuseUsedHistories(m: Interpreter, output: OutputGraph, results: readonly Node[]): void {
  if (m.backwards.length === 0 || !output.history.repeatsStages()) return;
  if (!results.some((node) => isRecorded(output, node))) return;
  m.restartAt(Math.min(...m.backwards), { kind: "backward", detail: "a result of the graph requires grad" });
}

/** Returns whether a tensor was created in the trace, with a history. */
export function isRecorded({ tensors }: OutputGraph, node: Node): boolean {
  const tensor = tensors.get(node);
  return tensor !== undefined && tensor.requiresGrad && tensor.real === null;
}
