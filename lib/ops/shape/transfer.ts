/**
 * Moves elements between devices. Invariant: the gradient moves back.
 */
import { contiguousMeta } from "../../graph/meta.ts";
import { hostOp } from "../definition.ts";
import { required } from "../params.ts";
import { t } from "../pointwise.ts";

const toDevice = hostOp({
  name: "toDevice",
  doc: "The elements on another device, as `Tensor.to(device)`.",
  params: { self: required("tensor"), device: required("device") },
  exposure: { method: false, free: false },
  infer: ({ self, device }) => contiguousMeta(self.shape, self.dtype, device),
  compute: ({ self }) => [self],
  gradient: {
    saves: [],
    single: (o, grad, { args: { self } }) => ({ self: o.toDevice(grad, self.device) }),
  },
  samples: [{ args: [t(2, 3), "cpu"] }],
});

/** Ops that move. */
export const transfer = { toDevice } as const;
