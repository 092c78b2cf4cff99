/** Costs of a graph break where much is live: the code and guards of what follows grow with it, no faster. */
import { assert, assertEquals } from "@std/assert";
import { changesText } from "../lib/dynamo/guards/found.ts";
import { cacheEntries, disable, explain, resumedEntries, statusOf } from "../lib/dynamo/mod.ts";
import type { Tensor } from "../lib/tensor/tensor.ts";
import { capture, list, vector } from "./support/dynamo.ts";

const outside = disable((n: number) => n);

/** Makes a function that breaks its graph once while `n` things are live. */
type Making = (n: number) => (x: Tensor) => Tensor;

class Link {
  constructor(readonly next: Link | null, public value: number) {}
  sum(): number {
    try {
      return this.next ? this.value + this.next.sum() : outside(this.value);
    } finally {
      this.value++;
    }
  }
}

const KINDS: Readonly<Record<string, Making>> = {
  "calls of a recursion"(n) {
    const down = (k: number): number => k === 0 ? outside(1) : 1 + down(k - 1);
    return (x) => x.mul(down(n));
  },
  "calls of methods with handlers": (n) => (x) => {
    let link: Link | null = null;
    for (let i = 0; i < n; i++) link = new Link(link, i);
    return x.mul(link?.sum() ?? 0);
  },
  "calls that hold tensors"(n) {
    const down = (k: number, x: Tensor): Tensor => {
      const y = x.add(k), held = { y, k };
      if (k === 0) return y.mul(outside(1));
      return down(k - 1, y).add(held.y).add(held.k);
    };
    return (x) => down(n, x);
  },
  "calls of new closures": (n) => (x) => {
    let total = 0;
    const step = (k: number) => {
      const made = { next: (v: number) => void (total += v < n ? v : outside(v)), isDone: false };
      if (k < n) step(k + 1);
      made.next(k);
      made.isDone = true;
    };
    step(0);
    return x.mul(total);
  },
  "closures": (n) => (x) => {
    const made = Array.from({ length: n }, (_, i) => () => i + 1);
    outside(1);
    return x.mul(made.reduce((sum, each) => sum + each(), 0));
  },
  "reassigned variables of closures": (n) => (x) => {
    const made: (() => number)[] = [];
    for (let i = 0; i < n; i++) {
      let count = i;
      made.push(() => ++count);
    }
    outside(1);
    return x.mul(made.reduce((sum, each) => sum + each(), 0));
  },
  "a chain of closures": (n) => (x) => {
    let last = outside;
    for (let i = 0; i < n; i++) {
      const inner = last;
      last = (v) => inner(v + 1) + 1;
    }
    return x.mul(last(0));
  },
  "linked objects": (n) => (x) => {
    let link: Link | null = null;
    for (let i = 0; i < n; i++) link = new Link(link, i);
    outside(1);
    let sum = 0;
    for (; link; link = link.next) sum += link.value;
    return x.mul(sum);
  },
};

/** Characters of the code of all parts, and the number of their guards. */
function written(making: Making, n: number): { readonly code: number; readonly guards: number } {
  const c = capture(making(n)), plain = making(n);
  for (let i = 0; i < 2; i++) assertEquals(list(c.run(vector(1, 2))), list(plain(vector(1, 2))));
  const entries = [...cacheEntries(c.run), ...[...resumedEntries(c.run).values()].flat()];
  assert(entries.length >= 2, `Expected parts behind a break but found ${entries.length} versions in all`);
  return {
    code: entries.reduce((sum, { code }) => sum + code.length, 0),
    guards: entries.reduce((sum, { guards }) => sum + guards.codeParts.length, 0),
  };
}

for (const [what, making] of Object.entries(KINDS)) {
  Deno.test(`a break costs as much as what is live: ${what}`, () => {
    const [few, more, most] = [20, 40, 80].map((n) => written(making, n));
    assert(few && more && most);
    // What each more adds stays the same, but for longer names
    for (const part of ["code", "guards"] as const) {
      const first = more[part] - few[part], second = most[part] - more[part];
      assert(
        second <= 2.4 * first + 200,
        `${part}: 20 more add ${first} characters, the next 40 add ${second}`,
      );
    }
  });
}

/** A list of nodes that refer to the next one, which calls walk through. */
function chained(length: number): Link | null {
  let first: Link | null = null;
  for (let i = 0; i < length; i++) first = new Link(first, i);
  return first;
}

Deno.test("a graph ends in a chain of objects that is too long to be guarded whole", () => {
  const sum = (x: Tensor, first: Link | null) => {
    let total = 0;
    for (let at = first; at; at = at.next) total += at.value;
    return x.mul(total);
  };
  const { run, entries, guards } = capture(sum);
  for (let call = 0; call < 3; call++) assertEquals(list(run(vector(1), chained(600))), [600 * 599 / 2]);
  assertEquals(entries(), 1);
  assert(guards().length < 500 * 8, `${guards().length}`);
  const { breakReasons } = explain(sum)(vector(1), chained(600));
  assertEquals(breakReasons.map(({ id }) => id), ["GB0018"]);
});

Deno.test("functions that return very long chains of new objects run uncompiled, which is no bug", () => {
  const { run } = capture((x: Tensor) => [x.mul(2), chained(10_000)] as const);
  const [y, first] = run(vector(1));
  let length = 0;
  for (let at = first; at; at = at.next) length++;
  assertEquals([list(y), length], [[2], 10_000]);
  assertEquals(statusOf(run)?.uncompiled.map(({ reason }) => reason.id), ["GB0018"]);
});

Deno.test("warnings about what changes leave out the middle of very long places and values", () => {
  const subject = `L["first"]${".next".repeat(499)}.value`, found = "9".repeat(1000);
  const [text = ""] = changesText([{
    subject,
    expected: "1",
    found,
    change: "other",
    user: null,
    guard: "g",
  }]);
  assert(text.startsWith(`L["first"].next.next`) && text.includes(".next.value: 1, now 999"), text);
  assert(text.length < 600, `${text.length}`);
});
