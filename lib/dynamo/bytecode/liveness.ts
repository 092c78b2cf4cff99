/**
 * Liveness of registers: those whose values may still be read after an offset.
 *
 * Invariant: exception edges are included: a register that a handler reads is live throughout its range.
 */
import type { CodeObject } from "./code.ts";
import type { Offset, Register } from "./instruction.ts";
import { handlersAt, reads, successors, writes } from "./effects.ts";

const cache = new WeakMap<CodeObject, readonly ReadonlySet<Register>[]>();

/** Registers that may be read at or after `offset` before they are written; in increasing order. */
export function liveRegisters(code: CodeObject, offset: Offset): ReadonlySet<Register> {
  let table = cache.get(code);
  if (!table) cache.set(code, table = analyse(code));
  return table[offset] ?? new Set();
}

function analyse(code: CodeObject): readonly ReadonlySet<Register>[] {
  const count = code.instructions.length;
  const live: Set<Register>[] = Array.from({ length: count + 1 }, () => new Set<Register>());
  const handlers = code.instructions.map((_, at) => handlersAt(code, at));
  let changed = true;
  while (changed) {
    changed = false;
    for (let at = count - 1; at >= 0; at--) {
      const instruction = code.instructions[at];
      const here = live[at];
      if (!instruction || !here) continue;
      const before = here.size;
      const written = new Set(writes(instruction));
      for (const next of successors(code, at)) {
        for (const r of live[next] ?? []) if (!written.has(r)) here.add(r);
      }
      for (const h of handlers[at] ?? []) {
        for (const r of live[h.target] ?? []) if (r !== h.register) here.add(r);
        break;
      }
      for (const r of reads(instruction)) here.add(r);
      if (here.size !== before) changed = true;
    }
  }
  return live.map((set) => new Set([...set].sort((a, b) => a - b)));
}
