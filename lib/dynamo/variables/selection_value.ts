/**
 * Elements of a tensor at a mask, while nothing has asked how many there are. Invariant: a read of anything that depends
 * on the number, or on a tensor of the graph with just these elements, restarts the trace.
 */
import type { Node } from "../../graph/node.ts";
import { TensorValue } from "./value.ts";

/** A mask by which the program has selected, as it was then. */
export interface SelectionMask {
  /** The program's tensor. */
  readonly tensor: TensorValue;
  readonly node: Node;
  /** A copy, which later writes do not change. */
  readonly copy: TensorValue;
  /** The last node of the graph before the copy. */
  readonly before: Node | null;
}

/** The parts of a tensor that are unknown of a selection. */
const UNKNOWN = ["meta", "node", "requiresGrad"] as const;

/** The elements of a tensor at a mask, of which only the elements are known, each at the position it is taken from. */
export class SelectionValue extends TensorValue {
  constructor(
    /** A tensor of its own memory with these elements at the true positions, and any others elsewhere. */
    readonly whole: TensorValue,
    readonly mask: SelectionMask,
    /** Restarts the trace to end its graph before the first of the selections that this one is computed from. */
    readonly refuse: () => never,
  ) {
    super(whole.meta, whole.requiresGrad, null, null, null);
    for (const part of UNKNOWN) Object.defineProperty(this, part, { get: refuse });
  }

  /** The number of dimensions behind the one of the selected positions. */
  get behind(): number {
    return this.whole.meta.shape.length - this.mask.copy.meta.shape.length;
  }
}
