/**
 * Adaptive pooling: windows that tile the image into a given number of cells. Input: [..., H, W] and an output
 * size; output: [..., rows, columns]. Invariant: cell i of n covers ⌊i·size/n⌋ to ⌈(i+1)·size/n⌉, as in PyTorch.
 */
import { DynError } from "../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../graph/meta.ts";
import type { Dim } from "../sym/expr.ts";
import { defineOp, type TensorLike } from "./definition.ts";
import type { OpApi } from "./generated.ts";
import { required } from "./params.ts";
import { t } from "./pointwise.ts";
import { knownSize, shapeText, spread } from "./shapes.ts";

/** Means over cells along one dimension. */
function poolDim<T extends TensorLike>(o: OpApi<T>, x: T, { dim, cells }: { dim: number; cells: number }): T {
  if (cells === 1) return o.mean(x, dim, true);
  const size = knownSize(x.shape[dim] ?? 1, "the pooled dimension");
  if (size === cells) return x;
  if (size % cells === 0) {
    const split: Dim[] = [...x.shape.slice(0, dim), cells, size / cells, ...x.shape.slice(dim + 1)];
    return o.mean(o.reshape(x, split), dim + 1);
  }
  const parts = Array.from({ length: cells }, (_, i) => {
    const start = Math.floor(i * size / cells), end = Math.ceil((i + 1) * size / cells);
    return o.mean(o.slice(x, dim, start, end), dim, true);
  });
  return o.cat(parts, dim);
}

function pooled(self: TensorMeta, rank: number, outputSize: number | readonly number[]): TensorMeta {
  if (self.shape.length !== rank + 1 && self.shape.length !== rank + 2) {
    throw new DynError(
      `Expected an input of ${rank + 1} or ${rank + 2} dimensions but found ${shapeText(self.shape)}`,
    );
  }
  const shape = [...self.shape.slice(0, -rank), ...spread(outputSize, rank, "outputSize")];
  return contiguousMeta(shape, self.dtype, self.device);
}

function define(name: string, rank: 1 | 2) {
  return defineOp({
    name,
    doc: `Means over windows that tile the last ${
      rank === 1 ? "dimension" : "two dimensions"
    } into \`outputSize\` cells.`,
    params: { self: required("tensor"), outputSize: required("intOrInts") },
    exposure: { method: false, free: false, namespaces: ["nn.functional"] },
    infer: ({ self, outputSize }) => pooled(self, rank, outputSize),
    implementation: {
      kind: "composite",
      compose: (o, { self, outputSize }) =>
        spread(outputSize, rank, "outputSize").reduce(
          (x, cells, i) => poolDim(o, x, { dim: self.shape.length - rank + i, cells }),
          self,
        ),
    },
    gradient: { kind: "composite" },
    samples: rank === 1
      ? [{ args: [t(2, 3, 7), 3] }]
      : [{ args: [t(2, 3, 7, 6), [3, 2]] }, { args: [t(3, 4, 4), 1] }],
  });
}

const adaptiveAvgPool1d = define("adaptiveAvgPool1d", 1);
const adaptiveAvgPool2d = define("adaptiveAvgPool2d", 2);

export const adaptivePooling = { adaptiveAvgPool1d, adaptiveAvgPool2d } as const;
