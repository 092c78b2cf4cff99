/**
 * Uses of kernels and statements: the buffers that a kernel mentions and writes, the values that statements read.
 * Invariant: a library call's prologues and epilogue count as parts of it.
 */
import { type Dim, freeSymbols } from "../sym/expr.ts";
import type { BufferId, Kernel, Rows, Statement, ValueId } from "./ir.ts";
import { cachedBufferAnalysis } from "./canonical_form.ts";

/** Buffers that a kernel mentions, and those of them that it writes. */
export interface Uses {
  readonly all: ReadonlySet<BufferId>;
  readonly written: ReadonlySet<BufferId>;
}

/** Passes query kernels repeatedly, including ones that share statements */
const known = new WeakMap<Kernel | Rows | readonly Statement[], Uses>();

/** The buffers that a kernel mentions. */
export function usesOf(kernel: Kernel): Uses {
  const key = kernel.kind === "loops" ? kernel.rows ?? kernel.body : kernel;
  let uses = known.get(key);
  if (!uses) known.set(key, uses = findUses(kernel));
  return uses;
}

/** The buffers that statements mention, and whether they write them. */
const visitMentions = cachedBufferAnalysis((body) => {
  const found = new Map<BufferId, boolean>();
  const visit = (list: readonly Statement[]): void => {
    for (const s of list) {
      if (s.kind === "loop" || s.kind === "masked") visit(s.body);
      else if (s.kind === "load" && !found.has(s.buffer)) found.set(s.buffer, false);
      else if (s.kind === "store") found.set(s.buffer, true);
      for (const { values, positions } of s.kind === "loop" ? s.folds ?? [] : []) {
        for (const each of [values, positions]) {
          if (each && !found.has(each.buffer)) found.set(each.buffer, false);
        }
      }
    }
  };
  visit(body);
  return found;
});

function findUses(kernel: Kernel): Uses {
  const all = new Set<BufferId>(), written = new Set<BufferId>();
  const add = (id: BufferId, isWritten: boolean) => {
    all.add(id);
    if (isWritten) written.add(id);
  };
  const visit = (body: readonly Statement[]) => visitMentions(body, add);
  if (kernel.kind === "loops") {
    visit(kernel.body);
    const { rows = [] } = kernel, isWritten = rows[0]?.map((id) => written.has(id)) ?? [];
    for (const row of rows) {
      for (const [at, id] of row.entries()) {
        all.add(id);
        if (isWritten[at]) written.add(id);
      }
    }
  } else {
    if (kernel.call.op === "region") {
      const { program: { inputs, buffers } } = kernel.call;
      for (const [at, view] of kernel.inputs.entries()) {
        const role = buffers[inputs[at % inputs.length] ?? -1]?.role;
        if (role?.kind === "input" && role.written) written.add(view.buffer);
      }
    }
    for (const { buffer } of kernel.inputs) all.add(buffer);
    for (const { buffer } of kernel.outputs) add(buffer, true);
    visit(kernel.epilogue?.body ?? []);
    for (const { nest } of kernel.prologues ?? []) visit(nest.body);
    if (kernel.weights) {
      const { queries, keys, score, factor, finish } = kernel.weights;
      for (const view of [queries, keys]) all.add(view.buffer);
      for (const piece of [score, factor, finish]) visit(piece?.body ?? []);
    }
    if (kernel.computed) {
      const { products, ofRows, elements } = kernel.computed;
      for (const { a, b } of products) all.add(a.buffer).add(b.buffer);
      for (const { body } of [...ofRows, elements]) visit(body);
    }
  }
  return { all, written };
}

/** Yields statements, each followed by those in its loops and masks. */
export function* allOf(body: readonly Statement[]): Generator<Statement> {
  for (const s of body) {
    yield s;
    if (s.kind === "loop" || s.kind === "masked") yield* allOf(s.body);
  }
}

/** Yields the memory accesses of statements, including those in loops and masks. */
export function* accessesOf(body: readonly Statement[]): Generator<Access> {
  for (const s of allOf(body)) if (s.kind === "load" || s.kind === "store") yield s;
}

/** A statement that reads or writes memory. */
export type Access = Statement & { readonly kind: "load" | "store" };

/** Tracks which kernels of a changing list mention a buffer. */
export class Mentions {
  readonly #kernels = new Map<BufferId, Set<Kernel>>();

  constructor(kernels: readonly Kernel[]) {
    this.replace([], kernels);
  }

  of(buffer: BufferId): ReadonlySet<Kernel> {
    return this.#kernels.get(buffer) ?? NOBODY;
  }

  /** Replaces kernels of the list. */
  replace(gone: readonly Kernel[], come: readonly Kernel[]): void {
    for (const kernel of gone) {
      for (const buffer of usesOf(kernel).all) this.#kernels.get(buffer)?.delete(kernel);
    }
    for (const kernel of come) {
      for (const buffer of usesOf(kernel).all) {
        const found = this.#kernels.get(buffer);
        if (found) found.add(kernel);
        else this.#kernels.set(buffer, new Set([kernel]));
      }
    }
  }
}

const NOBODY: ReadonlySet<Kernel> = new Set();

/** Returns whether iterations may accumulate into the same element: such loops run in order, on one thread. */
export function collides(body: readonly Statement[]): boolean {
  return accessesOf(body).some((s) => s.kind === "store" && s.mode === "add");
}

/** Value ids that a statement reads itself (not its nested statements). */
export function valuesOf(s: Statement): readonly ValueId[] {
  switch (s.kind) {
    case "constant":
      return [];
    case "index":
    case "load":
      return indirect(s.index);
    case "scalar":
      return s.args;
    case "cast":
      return [s.value];
    case "select":
      return [s.condition, s.then, s.otherwise];
    case "store":
      return [s.value, ...indirect(s.index)];
    case "masked":
      return [s.condition, s.value, s.otherwise];
    case "loop":
      return [
        ...indirect(s.axis.size),
        ...s.reductions.flatMap((r) => r.index === undefined ? [r.value] : [r.value, r.index]),
        ...s.carried.flatMap((c) => [c.initial, c.next]),
      ];
    default:
      return s satisfies never;
  }
}

/** Values that an index expression contains. */
export function indirect(d: Dim): ValueId[] {
  if (typeof d === "number") return [];
  const found: ValueId[] = [];
  for (const symbol of freeSymbols(d)) {
    if (symbol.node.kind === "symbol" && symbol.node.role.kind === "value") found.push(symbol.node.role.id);
  }
  return found;
}

/** All uses in a statement, nested statements included. */
export function deepUses(s: Statement, visit: (id: ValueId) => void): void {
  valuesOf(s).forEach(visit);
  if (s.kind === "loop" || s.kind === "masked") s.body.forEach((inner) => deepUses(inner, visit));
}

/** Buffers that statements write. */
export function storedBuffers(body: readonly Statement[]): Set<BufferId> {
  return new Set(accessesOf(body).flatMap((s) => s.kind === "store" ? [s.buffer] : []));
}
