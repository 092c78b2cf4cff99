/**
 * Passes tensors unchanged through a node whose function receives all their gradients together. Invariant: gradients
 * arrive as the function returns them; the passed tensors must not be written in place, since their memory belongs to
 * the originals.
 */
import { DynError } from "../base/errors.ts";
import { aliasOf } from "../tensor/eager.ts";
import type { Layout } from "../tensor/layout.ts";
import { carryTangents } from "../tensor/tangents.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { gradientEdge, Node, setHistory } from "./node.ts";

/** Receives gradients, null for tensors without, and returns as many. */
type GradientWatch = (grads: readonly (Tensor | null)[]) => readonly (Tensor | null)[];

/** Returns tensors that require grad as results of one node called `name`, through which their gradients pass. */
export function passedThrough(
  tensors: readonly Tensor[],
  name: string,
  watch: GradientWatch,
): readonly Tensor[] {
  const node = new PassingNode(tensors, name, watch);
  return tensors.map((tensor, output) => {
    const alias = carryTangents(tensor, aliasOf(tensor));
    setHistory(alias, node, output);
    return alias;
  });
}

class PassingNode extends Node {
  readonly inputs: readonly Layout[];
  override readonly ownsTemporaries = false;
  override readonly keepsGradients = true;
  override readonly refusesWrites = true;

  constructor(tensors: readonly Tensor[], readonly name: string, readonly watch: GradientWatch) {
    super(tensors.map(gradientEdge));
    this.inputs = tensors.map(({ layout }) => layout);
  }

  apply(grads: readonly (Tensor | null)[]): readonly (Tensor | null)[] {
    const found = this.watch(this.inputs.map((_, k) => grads[k] ?? null));
    if (found.length === this.inputs.length) return found;
    throw new DynError(
      `Expected ${this.inputs.length} gradients from a hook of ${this.name} but found ${found.length}`,
    );
  }

  release(): void {}
}
