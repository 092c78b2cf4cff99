/** The definition of calls of whole graphs on a tape. Invariant: each call computes its own gradient. */
import { InternalError } from "../base/errors.ts";
import type { OpDefinition } from "../ops/definition.ts";
import { required } from "../ops/params.ts";

/** The tape entry of a call; the call defines its own gradient. */
export const REGION: OpDefinition = {
  name: "region",
  doc: "A call of a graph.",
  params: { inputs: required("tensors") },
  infer: () => {
    throw new InternalError("Expected no inference of a region");
  },
  implementation: {
    kind: "host",
    compute() {
      throw new InternalError("Expected no eager call of a region");
    },
  },
  gradient: { kind: "none", because: "each call has its own" },
  samples: [],
};
