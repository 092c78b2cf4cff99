/**
 * Calls whose operations equal those of an earlier call, as single entries of a history: equal calls are differentiated
 * once to find out which gradients arrive. Invariant: such an entry says of the tensors outside of the call what its
 * operations would; where that is not certain, there is none.
 */
import { counters } from "../../base/logs.ts";
import { NotFunctional } from "../../autograd/functional.ts";
import { GraphReplay } from "../../autograd/graph_replay.ts";
import { HistoryLost } from "../../autograd/saved_values.ts";
import { REGION } from "../../autograd/tape_definitions.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { hasEffect, type Node } from "../../graph/node.ts";
import { sameMeta } from "../../ops/rewrite/metadata.ts";

/** A call that was traced by copying the operations of an earlier one. */
export interface CopiedCall {
  /** The operations of the earlier call, in order. */
  readonly operations: readonly Node[];
  /** The counterparts of these, and of what they read. */
  readonly nodes: ReadonlyMap<Node, Node>;
}

/** Effects of a call on the history of the tensors that it reads, and of the one that it gives. */
interface Outline {
  readonly result: Node;
  /** The tensors that it reads, and whether the result has a gradient for each. */
  readonly inputs: ReadonlyMap<Node, boolean>;
  /** For each other operation: one that has the same memory, or the input that has it. */
  readonly memory: ReadonlyMap<Node, Node>;
  readonly requiring: ReadonlySet<Node>;
}

/** The outlines of one history. */
export class CopiedCalls {
  /** By the first operation. */
  readonly #outlines = new Map<Node, Outline | null>();

  /** Adds a call to a history as one entry; returns its operations but for the result, or null if it cannot. */
  append(replay: GraphReplay, { operations, nodes }: CopiedCall): ReadonlySet<Node> | null {
    const [first] = operations, copies = operations.flatMap((node) => nodes.get(node) ?? []);
    if (!first || copies.length < operations.length) return null;
    const own = new Set(copies);
    const seen = operations.filter((_, at) => copies[at]?.users.keys().some((user) => !own.has(user)));
    const [result] = seen, there = (node: Node) => nodes.get(node) ?? node;
    if (!result || seen.length > 1) return null;
    let outline = this.#outlines.get(first);
    if (outline === undefined) this.#outlines.set(first, outline = outlineOf(operations, result));
    if (outline?.result !== result) return null;
    const inputs = [...outline.inputs];
    if (!inputs.every(([node]) => isLike(replay, node, there(node)))) return null;
    const { builder, recorder, functional } = replay;
    const values = inputs.map(([node]) => replay.tensor(there(node)).value());
    for (const node of [result, ...operations.filter((each) => each !== result)]) {
      const { value } = there(node).meta, memory = outline.memory.get(node);
      if (memory) {
        replay.represent(there(node), replay.tensor(there(memory)));
      } else if (value.kind === "tensor") {
        const made = builder.tensor(node.name, value.tensor);
        if (outline.requiring.has(node)) recorder.requiring.add(made);
        replay.represent(there(node), functional.fresh(made));
      }
    }
    recorder.tape.push({
      kind: "call",
      definition: REGION,
      args: { inputs: values },
      outs: [replay.tensor(there(result)).value()],
      own: ([grad]) =>
        inputs.map(([, arrives], at) => {
          const value = arrives && grad ? values[at] : undefined;
          return value
            ? builder.tensor("grad", contiguousMeta(value.shape, value.dtype, value.device))
            : null;
        }),
    });
    counters.add("repeated_calls", "in histories");
    return own.difference(new Set([there(result)]));
  }
}

/** Returns whether a history has the same to say of two tensors, and the trace no more. */
function isLike(replay: GraphReplay, one: Node, other: Node): boolean {
  const [a, b] = [one, other].map(({ meta: { value } }) => value);
  return a?.kind === "tensor" && b?.kind === "tensor" && sameMeta(a.tensor, b.tensor) &&
    [one, other].every((node) => replay.requiresGrad(node) === a.requiresGrad);
}

/** Replays and differentiates a call by itself; null if others cannot be told from it. */
function outlineOf(operations: readonly Node[], result: Node): Outline | null {
  const own = new Set(operations);
  const read = new Set(operations.flatMap((node) => [...node.inputs()])).difference(own);
  const isTensor = ({ meta: { value } }: Node) => value.kind === "tensor";
  if (operations.some(hasEffect) || ![...read].every(isTensor)) return null;
  let draws = false;
  const replay = new GraphReplay(({ builder }, call) => {
    draws = true;
    return builder.call(call);
  });
  for (const node of read) replay.input(node);
  try {
    for (const node of operations) replay.replay(node, {});
    const memory = new Map<Node, Node>(), tensors = [...read, result, ...operations].filter(isTensor);
    for (const node of operations) {
      const found = isTensor(node) && tensors.find((each) => isOne(replay, each, node));
      if (found && found !== node) memory.set(node, found);
    }
    const requires = (node: Node) => replay.requiresGrad(node);
    const alike = [...memory].every(([one, other]) => requires(one) === requires(other));
    if (draws || !alike || memory.has(result) || !requires(result)) return null;
    const inputs = [...read], call = { outputs: [result], tangents: [null], retainGraph: false };
    const found = replay.differentiate(
      { ...call, createGraph: false },
      inputs.map((node) => replay.tensor(node).value()),
    );
    return {
      result,
      inputs: new Map(inputs.map((node, at) => [node, Boolean(found[at])])),
      memory,
      requiring: new Set(operations.filter((node) => isTensor(node) && requires(node))),
    };
  } catch (error) {
    if (error instanceof NotFunctional || error instanceof HistoryLost) return null;
    throw error;
  }
}

const isOne = (replay: GraphReplay, one: Node, other: Node): boolean =>
  replay.tensor(one).storage === replay.tensor(other).storage;
