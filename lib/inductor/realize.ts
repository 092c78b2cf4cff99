/**
 * Decides which formulas are worth storing. Invariant: storing changes no value; a stored value that only its own
 * kernel reads still never reaches memory.
 */
import { config } from "../base/config.ts";
import { HEAVY, type OwnCost } from "./cost.ts";
import { isLazy, type LazyTensor } from "./tensors.ts";

/** A formula or job, with its direct operands. */
export interface Entry {
  readonly cost: OwnCost;
  /** Iterations of its loop nest. */
  readonly iterations: number;
  readonly tensor: LazyTensor | undefined;
}

/**
 * Formulas are nested functions, so chains of thousands of ops must be cut to bound the depth of the stack; kernels do
 * not change.
 */
const MAX_DEPTH = 64;

/** Decides which formulas to store, now that all readers are known. */
export function chooseStored(entries: readonly Entry[], store: (tensor: LazyTensor) => void): void {
  const readers = readersOf(entries);
  const facts = new Map<LazyTensor, { weight: number; reads: number; depth: number }>();
  const limit = config.inductor.realizeOpsThreshold;
  for (const { cost, tensor, iterations } of entries) {
    if (!tensor) continue;
    let { weight } = cost, reads = 0, depth = 1;
    for (const use of cost.uses) {
      const inside = isLazy(use) && !use.stored ? facts.get(use) : undefined;
      weight += inside?.weight ?? 0;
      reads += inside?.reads ?? 1;
      depth = Math.max(depth, 1 + (inside?.depth ?? 0));
    }
    facts.set(tensor, { weight, reads, depth });
    const isView = tensor.viewOf !== undefined && cost.operations === 0;
    if (tensor.stored || isView) continue;
    const by = readers.get(tensor) ?? [];
    if (by.length === 0) continue;
    const shared = by.length > 1 && (weight >= HEAVY || weight > limit || reads > 4);
    const repeated = by.some((n) => n > 1.5 * Math.max(1, iterations)) && (weight >= 4 || reads > 2);
    const long = reads > 16 || depth > MAX_DEPTH;
    if (shared || repeated || long || !config.inductor.fusion) store(tensor);
  }
}

/** Iterations of each reader of a lazy tensor, including readers of its views. */
function readersOf(entries: readonly Entry[]): Map<LazyTensor, number[]> {
  const readers = new Map<LazyTensor, number[]>();
  for (const { cost, iterations, tensor } of entries.toReversed()) {
    const own = tensor && readers.get(tensor);
    // A value that is neither read nor stored is dead
    if (tensor && !tensor.stored && !own) continue;
    const isView = tensor?.viewOf !== undefined && cost.operations === 0 && !tensor.stored;
    const through = isView && own ? own : [iterations];
    for (const use of cost.uses) {
      if (!isLazy(use)) continue;
      const list = readers.get(use);
      if (list) list.push(...through);
      else readers.set(use, [...through]);
    }
  }
  return readers;
}
