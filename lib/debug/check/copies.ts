/**
 * Copies of a graph's arguments, so that it can run without side effects on the program. Invariant: copies share
 * memory where the originals do, at the same offsets; they require gradients where the originals do, and are leaves
 * where the originals are.
 */
import {
  type DType,
  type FloatType,
  isComplex,
  isDifferentiable,
  isFloat,
  partType,
} from "../../base/dtype.ts";
import { type ApplyOptions, gradientEdge, Node, setHistory } from "../../autograd/node.ts";
import { ops } from "../../tensor/eager.ts";
import { fromTypedArray } from "../../tensor/creation.ts";
import { contiguousLayout, type Layout, layoutOf } from "../../tensor/layout.ts";
import { noGrad } from "../../tensor/modes.ts";
import type { Storage } from "../../tensor/storage.ts";
import { isTensor, modes, Tensor } from "../../tensor/tensor.ts";

/**
 * Precision of copied elements: "same" keeps type and device; "double" moves them to the CPU, which has float64, and
 * converts floats to float64; "perturbed" also changes each by up to half a unit in the last place, as rounding of
 * the input might have.
 */
export type Precision = "same" | "double" | "perturbed";

/** Copied arguments. */
export interface Copies {
  readonly args: readonly unknown[];
  /** For each argument the leaf that receives its gradient; null if it needs none. */
  readonly leaves: readonly (Tensor | null)[];
}

/** Copies arguments. */
export function copyArguments(args: readonly unknown[], precision: Precision = "same"): Copies {
  return modes.without(() => {
    const storages = copyStorages(args.filter(isTensor), precision);
    const leaves: (Tensor | null)[] = [];
    const copied = args.map((arg) => {
      if (!isTensor(arg)) {
        leaves.push(null);
        return arg;
      }
      const storage = storages.get(arg.storage) ?? arg.storage;
      const layout = layoutIn(arg.layout, precision);
      const leaf = new Tensor(storage, layout, arg.offset);
      leaves.push(arg.requiresGrad ? leaf.requiresGrad_() : null);
      return arg.requiresGrad && !arg.isLeaf ? resultOf(leaf) : leaf;
    });
    return { args: copied, leaves };
  });
}

/** The type of elements in a precision. */
function dtypeIn(dtype: DType, precision: Precision): DType {
  if (precision === "same") return dtype;
  return isComplex(dtype) ? "complex128" : isFloat(dtype) ? "float64" : dtype;
}

function layoutIn(layout: Layout, precision: Precision): Layout {
  if (precision === "same") return layout;
  return layoutOf({ ...layout.meta, dtype: dtypeIn(layout.dtype, precision), device: "cpu" });
}

/** Creates storages with the elements that the given tensors can access. */
function copyStorages(tensors: readonly Tensor[], precision: Precision): Map<Storage, Storage> {
  const copies = new Map<Storage, Storage>();
  for (const [storage, users] of Map.groupBy(tensors, (tensor) => tensor.storage)) {
    const [first] = users;
    if (!first || !storage.filled) continue;
    const { dtype, device } = first;
    const count = Math.max(...users.map((each) => each.offset + each.layout.extent));
    const flat = new Tensor(storage, contiguousLayout([count], dtype, device));
    const wanted = dtypeIn(dtype, precision);
    copies.set(
      storage,
      noGrad(() => {
        const near = precision === "same" ? flat : flat.cpu();
        const copy = wanted === dtype ? ops.clone(near) : ops.to(near, wanted);
        return precision === "perturbed" && isDifferentiable(dtype) ? perturbed(copy, dtype) : copy;
      }).storage,
    );
  }
  return copies;
}

/** Half a unit in the last place of 1. */
const UNIT: Readonly<Record<FloatType, number>> = {
  float64: 2 ** -53,
  float32: 2 ** -24,
  float16: 2 ** -11,
  bfloat16: 2 ** -8,
};

/** Multiplies each element by 1 + e, with e of the size of a rounding error and of either sign. */
function perturbed(flat: Tensor, dtype: DType): Tensor {
  const part = partType(dtype), unit = isFloat(part) ? UNIT[part] : 0;
  let state = 12345;
  const factors = Float64Array.from({ length: flat.numel() }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return 1 + unit * (state / 2 ** 31 - 1);
  });
  return ops.mul(flat, fromTypedArray(factors, [factors.length], { device: flat.device }));
}

/** A tensor with the elements of a leaf that is not a leaf itself, so that a graph may write to it. */
export function resultOf(leaf: Tensor): Tensor {
  const result = new Tensor(leaf.storage, leaf.layout, leaf.offset);
  setHistory(result, new CopyNode([gradientEdge(leaf)], [leaf.layout]), 0);
  return result;
}

/** Passes gradients of a copy to its leaf. */
class CopyNode extends Node {
  readonly name = "CopyBackward";

  constructor(edges: Node["edges"], readonly inputs: readonly Layout[]) {
    super(edges);
  }

  apply(grads: readonly (Tensor | null)[], _options: ApplyOptions): readonly (Tensor | null)[] {
    return grads;
  }

  release(): void {}
}
