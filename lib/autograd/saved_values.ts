/**
 * Values that recorded calls of a replay have saved for their gradients. Invariant: elements that the tape no longer has
 * are never read; metadata always may be.
 */
import type { DynError } from "../base/errors.ts";
import type { Node } from "../graph/node.ts";
import { GraphValue, tensorArguments } from "../ops/graph_builder.ts";
import { NotFunctional } from "./functional.ts";
import type { RecordedCall } from "./gradient_tape.ts";

/**
 * A gradient reads a value that the tape no longer has: a backward pass has released it, or it was written in place
 * since.
 * `cause` is the error that the tape throws.
 */
export class HistoryLost extends NotFunctional {
  override readonly name: string = "HistoryLost";

  constructor(readonly kind: "released" | "overwritten", override readonly cause: DynError) {
    super(cause.message);
  }
}

/** A saved value whose elements cannot be read any more; rules may still read its metadata. */
export class LostValue extends GraphValue {
  constructor(like: GraphValue, readonly lost: () => HistoryLost) {
    super(like.node, like.meta);
  }

  override get node(): never {
    throw this.lost();
  }
}

/** A saved value that reports reads of its elements. */
export class WatchedValue extends GraphValue {
  constructor(readonly like: GraphValue, readonly read: () => void) {
    super(like.node, like.meta);
  }

  override get node(): Node {
    this.read();
    return this.like.node;
  }
}

/** Returns whether a call computes elements. */
export const hasElements = ({ outs }: RecordedCall<GraphValue>): boolean =>
  outs.some(({ shape }) => !shape.includes(0));

/** Returns the values of a call that the tape saves. */
export function savedBy(
  { definition: { gradient }, args, outs, own, saved }: RecordedCall<GraphValue>,
): readonly GraphValue[] {
  if (saved) return saved;
  if (own) return [...tensorArguments(args).map(({ value }) => value), ...outs];
  if (gradient.kind !== "rule") return [];
  const saves: readonly string[] = gradient.saves;
  const read = tensorArguments(args).filter(({ param }) => saves.includes(param)).map(({ value }) => value);
  return saves.includes("out") ? [...read, ...outs] : read;
}
