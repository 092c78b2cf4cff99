/**
 * Replays captured calls that only the tape can differentiate. Invariant: nothing computes these gradients here: they
 * are inputs of the new graph, with metadata of the tangents.
 */
import { InternalError } from "../base/errors.ts";
import { contiguousMeta } from "../graph/meta.ts";
import type { OpDefinition } from "../ops/definition.ts";
import type { GraphBuilder, GraphValue } from "../ops/graph_builder.ts";
import { required } from "../ops/params.ts";
import type { Recorder } from "./recorder.ts";

/** The tape entry of a call; its gradient is the call's own. */
const TAPED: OpDefinition = {
  name: "taped",
  doc: "A call whose gradient the tape alone can take.",
  params: { inputs: required("tensors") },
  infer: () => {
    throw new InternalError("Expected no inference of a taped call");
  },
  implementation: {
    kind: "host",
    compute() {
      throw new InternalError("Expected no eager call of a taped call");
    },
  },
  gradient: { kind: "none", because: "each call has its own" },
  samples: [],
};

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
