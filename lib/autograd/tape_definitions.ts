/** Definitions of tape entries that are no ops of programs. Invariant: each call computes its own gradient. */
import { InternalError } from "../base/errors.ts";
import type { OpDefinition } from "../ops/definition.ts";
import { type Params, required } from "../ops/params.ts";

function tapeEntry(name: string, doc: string, params: Params): OpDefinition {
  const refuse = (): never => {
    throw new InternalError(`Expected ${name} only on tapes`);
  };
  return {
    name,
    doc,
    params,
    infer: refuse,
    implementation: { kind: "host", compute: refuse },
    gradient: { kind: "none", because: "each call has its own" },
    samples: [],
  };
}

export const REGION = tapeEntry("region", "A call of a graph.", { inputs: required("tensors") });
export const SHARED = tapeEntry("shared", "A call that other processes have a part in.", {
  input: required("tensor"),
});
export const TAPED = tapeEntry("taped", "A call whose gradient the tape alone can take.", {
  inputs: required("tensors"),
});
export const CUSTOM = tapeEntry("custom", "A call with a gradient of its own.", {
  inputs: required("tensors"),
});
