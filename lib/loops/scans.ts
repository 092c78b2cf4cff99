/**
 * Scans: sequential loops whose carried values are running sums, products or extremes, which a team may compute
 * together. Invariant: an iteration's contribution does not depend on values that earlier iterations carry or write.
 */
import type { Carried, Loop, PlainOp, Statement, ValueId } from "./ir.ts";
import type { ScalarOpName } from "./scalar.ts";
import { accessesOf, deepUses, storedBuffers } from "./uses.ts";
import { valueTypes } from "./value_types.ts";

/** A carried value and the contributions that it combines. */
export interface Scan {
  readonly carried: Carried;
  readonly op: ScalarOpName;
  /** The reduction of all contributions. */
  readonly reduction: PlainOp;
  /** The contribution of an iteration. */
  readonly value: ValueId;
}

/** The scans of a loop, and the statements that compute the contributions. */
export interface Scans {
  readonly scans: readonly Scan[];
  readonly first: readonly Statement[];
}

const REDUCTIONS: Partial<Record<ScalarOpName, PlainOp>> = {
  add: "sum",
  mul: "prod",
  minimum: "min",
  maximum: "max",
};

/**
 * Returns the scans that a sequential loop consists of; undefined if its iterations depend on their order in other
 * ways.
 */
export function scansOf(loop: Loop): Scans | undefined {
  if (loop.order !== "sequential" || loop.carried.length === 0 || loop.reductions.length > 0) {
    return undefined;
  }
  const scans = loop.carried.flatMap((carried): readonly Scan[] => {
    const next = loop.body.find((s) => s.kind === "scalar" && s.id === carried.next);
    const reduction = next?.kind === "scalar" ? REDUCTIONS[next.op] : undefined;
    if (next?.kind !== "scalar" || !reduction || carried.dtype === "bool") return [];
    const [value, ...others] = next.args.filter((id) => id !== carried.id);
    return value === undefined || others.length > 0 ? [] : [{ carried, op: next.op, reduction, value }];
  });
  if (scans.length < loop.carried.length || !readsItsOwn(loop.body)) return undefined;
  const wanted = new Set(scans.map(({ value }) => value)), first = new Set<Statement>();
  for (const s of loop.body.toReversed()) {
    if (![...valueTypes([s]).keys()].some((id) => wanted.has(id))) continue;
    first.add(s);
    deepUses(s, (id) => wanted.add(id));
  }
  const depends = loop.carried.some(({ id }) => wanted.has(id));
  if (depends || storedBuffers([...first]).size > 0) return undefined;
  return { scans, first: loop.body.filter((s) => first.has(s)) };
}

/** Returns whether an iteration reads nothing that another one writes. */
function readsItsOwn(body: readonly Statement[]): boolean {
  const accesses = [...accessesOf(body)], stores = accesses.filter(({ kind }) => kind === "store");
  return stores.every((store) =>
    store.kind === "store" && store.mode === "set" &&
    accesses.every((s) => s.buffer !== store.buffer || s.index === store.index)
  );
}

/** Returns whether a team can divide the iterations of a loop. */
export const isShareable = (loop: Loop): boolean =>
  loop.order !== "sequential" || scansOf(loop) !== undefined;
