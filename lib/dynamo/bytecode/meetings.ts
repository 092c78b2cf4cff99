/**
 * Where the ways of a branch meet: the first offset through which all of them lead to the end of the function
 * (its immediate postdominator; Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm"). Exceptions are
 * disregarded.
 */
import type { CodeObject } from "./code.ts";
import { successors } from "./effects.ts";
import type { Offset } from "./instruction.ts";

const cache = new WeakMap<CodeObject, readonly (Offset | undefined)[]>();

/** The end of a function, to which its returns lead. */
export const endOf = (code: CodeObject): Offset => code.instructions.length;

/** Where the ways from an offset meet, the end included; null if some way never leads there. */
export function meetingAfter(code: CodeObject, at: Offset): Offset | null {
  let table = cache.get(code);
  if (!table) cache.set(code, table = analyse(code));
  return table[at] ?? null;
}

function analyse(code: CodeObject): readonly (Offset | undefined)[] {
  const end = endOf(code), before: Offset[][] = Array.from({ length: end + 1 }, () => []);
  const after = code.instructions.map((instruction, at) =>
    instruction.op === "return" ? [end] : successors(code, at).filter((next) => next < end)
  );
  after.forEach((list, at) => list.forEach((next) => before[next]?.push(at)));
  // Offsets that lead to the end, each after all that follow it, as far as loops permit
  const order = fromEnd(before, end), rank = new Map(order.map((at, index) => [at, index]));
  const meetings: (Offset | undefined)[] = [];
  meetings[end] = end;
  const rankOf = (at: Offset) => rank.get(at) ?? 0;
  const common = (a: Offset, b: Offset): Offset => {
    while (a !== b) {
      while (rankOf(a) > rankOf(b)) a = meetings[a] ?? end;
      while (rankOf(b) > rankOf(a)) b = meetings[b] ?? end;
    }
    return a;
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const at of order) {
      if (at === end) continue;
      const known = (after[at] ?? []).filter((next) => meetings[next] !== undefined);
      const [first, ...others] = known;
      if (first === undefined) continue;
      const meeting = others.reduce(common, first);
      if (meetings[at] === meeting) continue;
      meetings[at] = meeting;
      changed = true;
    }
  }
  return meetings.slice(0, end);
}

/** The offsets from which the end is reached, in reverse postorder of the reversed graph. */
function fromEnd(before: readonly (readonly Offset[])[], end: Offset): Offset[] {
  const seen = new Set([end]), done: Offset[] = [], open = [{ at: end, next: 0 }];
  for (let top = open.at(-1); top; top = open.at(-1)) {
    const to = before[top.at]?.[top.next++];
    if (to === undefined) {
      done.push(top.at);
      open.pop();
    } else if (!seen.has(to)) {
      seen.add(to);
      open.push({ at: to, next: 0 });
    }
  }
  return done.reverse();
}
