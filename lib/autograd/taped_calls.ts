/**
 * Replays captured calls that only the tape can differentiate. Invariant: nothing computes these gradients here: they
 * are inputs of the new graph, with metadata of the tangents.
 */
import { contiguousMeta } from "../graph/meta.ts";
import type { GraphBuilder, GraphValue } from "../ops/graph_builder.ts";
import type { Recorder } from "./recorder.ts";
import { TAPED } from "./tape_definitions.ts";

/** Records that gradients of a result flow to all inputs that require one. */
export function recordTaped(
  { builder, recorder }: { readonly builder: GraphBuilder; readonly recorder: Recorder },
  { name, inputs, out }: {
    readonly name: string;
    readonly inputs: readonly GraphValue[];
    readonly out: GraphValue;
  },
): void {
  const required = inputs.filter((each) => recorder.requiring.has(each));
  if (required.length === 0) return;
  recorder.tape.push({
    kind: "call",
    definition: TAPED,
    args: { inputs: required },
    outs: [out],
    own: (_, read) => {
      // Reading throws if an earlier pass has released it
      void read(out).node;
      return required.map(({ shape, dtype, device }) => {
        const tensor = contiguousMeta(shape, dtype, device);
        const known = { kind: "tensor", tensor, requiresGrad: false } as const;
        return builder.valueOf(builder.placeholder(`${name}_gradient`, known), tensor);
      });
    },
  });
}
