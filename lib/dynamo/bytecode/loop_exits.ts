/**
 * Loops of code objects: what a backward jump repeats, and the jumps that decide on another pass.
 *
 * Invariant: a loop is entered at its head alone, and comprises all instructions from which its backward jumps are
 * reached without passing the head.
 */
import type { CodeObject } from "./code.ts";
import { successors, writes } from "./effects.ts";
import type { Offset, Register } from "./instruction.ts";

/** A loop that a conditional jump can leave. */
export interface LeftLoop {
  /** Registers that a pass writes, or whose cells it writes. */
  readonly written: ReadonlySet<Register>;
}

const cache = new WeakMap<CodeObject, ReadonlyMap<Offset, LeftLoop>>();

/** The innermost loop that a conditional jump can leave; null if it leaves none. */
export function leftLoop(code: CodeObject, offset: Offset): LeftLoop | null {
  let exits = cache.get(code);
  if (!exits) cache.set(code, exits = exitsOf(code));
  return exits.get(offset) ?? null;
}

function exitsOf(code: CodeObject): ReadonlyMap<Offset, LeftLoop> {
  const next = code.instructions.map((_, at) => successors(code, at));
  const found = new Map<Offset, LeftLoop>();
  // Inner loops have fewer instructions
  for (const body of bodiesOf(next).sort((a, b) => a.size - b.size)) {
    const exits = [...body].filter((at) =>
      code.instructions[at]?.op === "jumpIf" && !found.has(at) && next[at]?.some((to) => !body.has(to))
    );
    if (exits.length === 0) continue;
    const written = new Set([...body].flatMap((at) => {
      const instruction = code.instructions[at];
      if (!instruction) return [];
      return instruction.op === "storeCell" ? [instruction.cell] : writes(instruction);
    }));
    for (const at of exits) found.set(at, { written });
  }
  return found;
}

/** The instructions of each loop; loops with the same head are one. */
function bodiesOf(next: readonly (readonly Offset[])[]): Set<Offset>[] {
  const before = next.map((): Offset[] => []), ends = new Map<Offset, Offset[]>();
  next.forEach((all, at) => {
    for (const to of all) {
      before[to]?.push(at);
      if (to <= at) ends.set(to, [...ends.get(to) ?? [], at]);
    }
  });
  return [...ends].map(([head, from]) => {
    const body = new Set([head]), open = [...from];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (body.has(at)) continue;
      body.add(at);
      open.push(...before[at] ?? []);
    }
    return body;
  });
}
