/**
 * Checks inputs that a trace writes to, and those that alias them. Invariant: an input has the same history at the end
 * of its graph as at the beginning, so that a compiled call may be one node of the tape, which takes the histories of
 * its inputs once.
 */
import { type Node } from "../../graph/node.ts";
import { writtenBy } from "../../graph/updates.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import { breakGraph } from "../break_reasons.ts";
import type { Source } from "../source.ts";
import type { TensorValue } from "../variables/value.ts";
import { isRecorded } from "./history_starts.ts";
import type { Interpreter } from "./interpreter.ts";
import type { OutputGraph } from "./output_graph.ts";
import { Restart } from "./restart.ts";
import { shownInput } from "./shown_nodes.ts";

/** Guards the inputs that a graph with these results writes to. Throws Restart if the tape has to follow a write. */
export function guardWrites(machine: Interpreter, output: OutputGraph, results: readonly Node[]): void {
  const tensors = output.inputs.flatMap((input) => input.kind === "tensor" ? [input.value] : []);
  guardRecordedWrites(machine, output, tensors);
  const recorded = results.some((node) => isRecorded(output, node)) ||
    output.history.writtenInputs().length > 0;
  if (!recorded) return;
  guardViews(output, tensors);
  const [change] = tensors.flatMap(({ layoutChanges }) => layoutChanges);
  if (change) throw breakBefore(change.step, `${change.op}_ of an input where results require grad`);
}

/**
 * Breaks the graph at a call that needs a gradient of a tensor without one; throws Restart if a write to memory that it
 * aliases may give it one.
 */
export function refuseWithoutHistory(m: Interpreter, call: string): never {
  guardWrites(m, m.output, []);
  return breakGraph("throws", `${call} of a tensor that does not require grad`);
}

/**
 * Guards recorded writes: other inputs that alias the memory would require grad as well, and a view would pass its
 * history on to its base.
 */
function guardRecordedWrites(
  machine: Interpreter,
  output: OutputGraph,
  tensors: readonly TensorValue[],
): void {
  for (const node of output.history.writtenInputs()) {
    const written = output.tensors.get(node);
    if (!written?.source || !written.real) continue;
    const others = tensors.filter((other) => other !== written);
    const { storage, viewState } = written.real;
    if (viewState !== null || others.some(({ real }) => real?.storage === storage)) {
      const [first] = writesToInputs(output);
      throw breakBefore(Math.min(machine.firstWrite, first?.step ?? Infinity));
    }
    output.guard({
      kind: "apart",
      source: written.source,
      others: others.flatMap(({ source }) => source ?? []),
    });
  }
}

/** Guards writes without a gradient, which give every view of that memory a new history, without its earlier hooks. */
function guardViews(output: OutputGraph, tensors: readonly TensorValue[]): void {
  const writes = writesToInputs(output);
  if (writes.length === 0) return;
  const written = writes.flatMap(({ source }) => source);
  for (const { real, source } of tensors) {
    if (!real?.requiresGrad || !source) continue;
    if (real.viewState === null) {
      output.guard({ kind: "apart", source, others: [] });
      continue;
    }
    const write = writes.find(({ tensor }) => tensor.storage === real.storage);
    if (write) throw breakBefore(write.step);
    output.guard({ kind: "elsewhere", source, others: written });
  }
}

interface Write {
  /** The written input, or one that aliases it. */
  readonly tensor: Tensor;
  readonly source: Source;
  /** Number of the instruction. */
  readonly step: number;
}

function writesToInputs(output: OutputGraph): Write[] {
  return output.graph.nodes.flatMap((node): Write[] => {
    const step = output.madeAt(node);
    return step === undefined ? [] : writtenBy(node).flatMap((target): Write[] => {
      const input = shownInput(target, { detached: true });
      const { real: tensor, source } = (input && output.tensors.get(input)) ?? {};
      return tensor && source ? [{ tensor, source, step }] : [];
    });
  });
}

function breakBefore(
  step: number,
  detail = "a write to an input that shares memory with another tensor",
): Restart {
  return new Restart(step, { kind: "break", cause: { kind: "gradientState", detail } });
}
