/** Strings that differ in each call: one version serves those only passed on; inspected ones give exact results. */
import { assert, assertEquals } from "@std/assert";
import { type Tensor, tensor } from "../mod.ts";
import { errorOnGraphBreak } from "../lib/dynamo/functions/error_on_break.ts";
import { resumedEntries, statusOf } from "../lib/dynamo/mod.ts";
import { capture, list } from "./support/dynamo.ts";

/** State of a program that lasts across calls. */
interface State {
  readonly log: unknown[];
  readonly cache: Map<string, Tensor>;
  readonly counts: Record<string, number>;
  readonly seen: Set<string>;
}

type Program = (x: Tensor, text: string, state: State) => unknown;

const named = (call: number): string => `item ${call}`;

/** Programs, the text of a call, and how many versions twelve calls may take, all parts behind breaks included. */
const PROGRAMS: Readonly<
  Record<string, readonly [Program, text: (call: number) => string, versions: number]>
> = {
  "noted": [
    (x, text, { log }) => {
      const y = x.mul(2);
      log.push(text);
      log.push({ name: text, loss: y });
      return y.add(1);
    },
    named,
    2,
  ],
  "returned, and handed to functions with defaults": [
    (x, text) => {
      const scaled = ({ name = "none", by = 2 }: { name?: string; by?: number }) => ({ name, y: x.mul(by) });
      return [scaled({ name: text }), scaled({}), text ?? "nothing"];
    },
    named,
    2,
  ],
  "joined to names": [
    (x, text) => ({ path: `runs/${text}/` + text + ".bin", y: x.mul(2), list: [text, 1].join("-") }),
    named,
    2,
  ],
  "made by methods": [
    (x, text) => [x.mul(2), text.toUpperCase().padEnd(12, ".").slice(1), [1, text.trim()].join("/")],
    (call) => ` ${named(call)} `,
    2,
  ],
  "written as JSON, with numbers and elements": [
    (x, text, { log }) => {
      const at = log.push(JSON.stringify({ text, at: log.length, half: log.length / 2, none: [1 / 0, -0] }));
      log.push(JSON.stringify([at, { text, [`of ${x.shape}`]: at % 4 }], null, 2), JSON.stringify(at / 3));
      return [
        JSON.stringify({ loss: x.sum().item(), text, at }),
        x.mul(2),
        JSON.stringify({ text, at }, ["at"]),
      ];
    },
    (call) => `"${named(call)}"\n\ud800`,
    2,
  ],
  "in messages of errors": [(x, text) => [new Error(`bad ${text}`).message, x.mul(2)], named, 2],
  "empty or not": [
    (x, text) => text ? [text, x.mul(2)] : x.mul(3),
    (call) => call % 3 === 0 ? "" : named(call),
    4,
  ],
  "compared": [(x, text) => text === "b" ? x.mul(2) : [x.mul(3), text], (call) => "abc".charAt(call % 3), 3],
  "compared with many": [
    (x, text) => text === "m3" ? x.mul(2) : text < "m5" ? x.mul(3) : x.mul(4),
    (call) => `m${call % 6}`,
    6,
  ],
  "one of several cases, or none": [
    (x, text) => {
      switch (text) {
        case "double":
          return x.mul(2);
        case "negate":
          return x.neg();
        default:
          return [x.add(1), text];
      }
    },
    (call) => ["double", "negate"][call % 5] ?? named(call),
    4,
  ],
  "measured, of many lengths": [(x, text) => x.mul(text.length).add(1), (call) => "k".repeat(call), 9],
  "measured": [(x, text) => x.mul(text.length), (call) => "k".repeat(call % 6), 6],
  "spelled": [
    (x, text) => {
      let sum = x;
      for (const letter of text) sum = sum.add(letter.charCodeAt(0));
      return sum.add(text.charCodeAt(1)).add(text[0] === "a" ? 1 : 0);
    },
    (call) => ["abc", "abd", "bcd"][call % 3] ?? "",
    4,
  ],
  "keys of a cache": [
    (x, text, { cache }) => {
      let y = cache.get(text);
      if (y === undefined) cache.set(text, y = x.mul(2));
      return y.add(1);
    },
    (call) => named(call % 7),
    11,
  ],
  "keys of counts": [
    (x, text, { counts }) => {
      counts[text] = (counts[text] ?? 0) + 1;
      return x.mul(2);
    },
    (call) => named(call % 7),
    14,
  ],
  "members of a set": [
    (x, text, { seen }) => {
      if (seen.has(text)) return x;
      seen.add(text);
      return x.mul(2);
    },
    (call) => named(call % 7),
    11,
  ],
};

for (const [name, [program, text, versions]] of Object.entries(PROGRAMS)) {
  Deno.test(`strings that differ between calls: ${name}`, () => {
    const c = capture(program), x = tensor([0.5, 1.5]);
    const state = (): State => ({ log: [], cache: new Map(), counts: {}, seen: new Set() });
    const plain = state(), compiled = state();
    for (let call = 0; call < 12; call++) {
      assertEquals(told(c.run(x, text(call), compiled)), told(program(x, text(call), plain)), `call ${call}`);
      assertEquals(told(compiled), told(plain), `call ${call}`);
    }
    const behind = [...resumedEntries(c.run).values()].flat().length, { uncompiled } = statusOf(c.run) ?? {};
    assertEquals(uncompiled, []);
    assert(c.entries() + behind <= versions, `${c.entries()} versions and ${behind} behind breaks`);
  });
}

/** Everything that can be observed of a value. */
function told(value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value].map(told);
  const known = list(value);
  if (Array.isArray(known)) return known.map(told);
  if (typeof known === "symbol" || typeof known !== "object" || known === null) return known;
  return Object.entries(known).map(([key, each]) => [key, told(each)]);
}

Deno.test("numbers in strings change without a version each, also elements of tensors", () => {
  const c = capture((x: Tensor, step: number) => {
    const loss = x.sum();
    return [`step ${step}: ` + loss.item(), String(step).padStart(4, "0"), (step / 2).toFixed(2), loss];
  });
  const x = tensor([0.5, 1.25]);
  for (let step = 0; step < 12; step++) {
    const [text, padded, half] = c.run(x, step);
    assertEquals([text, padded, half], [
      `step ${step}: 1.75`,
      `${step}`.padStart(4, "0"),
      (step / 2).toFixed(2),
    ]);
  }
  assert(c.entries() <= 4, `${c.entries()} versions`);
  assertEquals(statusOf(c.run)?.uncompiled, []);
});

Deno.test("symbols that differ between calls are passed on", () => {
  const c = capture((x: Tensor, key: symbol) => [key, x.mul(key ? 2 : 3), typeof key]);
  for (let call = 0; call < 6; call++) {
    const key = Symbol(`${call}`), [found, y, type] = c.run(tensor([1]), key);
    assertEquals([found, list(y), type], [key, [2], "symbol"]);
  }
  assertEquals(c.entries(), 2);
});

Deno.test("strings that calls pass are compared without a version for each", () => {
  const c = capture((x: Tensor, a: string, b: string) => a === b ? x.mul(2) : [a !== b, x.mul(3)]);
  for (let call = 0; call < 12; call++) {
    const isSame = call % 3 === 0, found = c.run(tensor([1]), named(call), isSame ? named(call) : "other");
    assertEquals(told(found), isSame ? [2] : [true, [3]]);
  }
  assert(c.entries() <= 4, `${c.entries()} versions`);
});

Deno.test("where a break is an error, inspected texts do not cause one", () => {
  const c = capture((x: Tensor, text: string) => x.mul(text.length));
  errorOnGraphBreak(true, () => {
    for (let call = 0; call < 12; call++) assertEquals(list(c.run(tensor([1]), "k".repeat(call))), [call]);
  });
  assertEquals(c.entries(), 8);
});

Deno.test("symbols that each call creates, and functions of many kinds, end the graph where they are used", () => {
  const keyed = capture((x: Tensor, key: symbol, o: Record<symbol, number>) => x.mul(o[key] ?? 0).add(1));
  const applied = capture((x: Tensor, by: (x: Tensor) => Tensor) => by(x.mul(2)).add(1));
  const kinds = [
    (x: Tensor) => x.add(0),
    (x: Tensor) => x.add(1),
    (x: Tensor) => x.add(2),
    (x: Tensor) => x.add(3),
    (x: Tensor) => x.add(4),
    (x: Tensor) => x.add(5),
    (x: Tensor) => x.add(6),
    (x: Tensor) => x.add(7),
    (x: Tensor) => x.add(8),
    (x: Tensor) => x.add(9),
    (x: Tensor) => x.add(10),
  ];
  kinds.forEach((by, call) => {
    const key = Symbol("key");
    assertEquals(list(keyed.run(tensor([1]), key, { [key]: call })), [call + 1]);
    assertEquals(list(applied.run(tensor([1]), by)), [call + 3]);
  });
  assertEquals([keyed, applied].map(({ run }) => statusOf(run)?.uncompiled), [[], []]);
});

Deno.test("maps with other keys in each call need one version if no key is looked up, and are exact otherwise", () => {
  const make = (call: number) => new Map([[`a${call}`, 1], [`b${call % 2}`, call + 2]]);
  const sum = capture((x: Tensor, m: Map<string, number>) => {
    let y = x;
    for (const each of m.values()) y = y.add(each);
    return [y, m.size, [...m.keys()]];
  });
  const look = capture((x: Tensor, m: Map<string, number>) => {
    let y = x;
    for (const each of m.values()) y = y.add(each);
    return y.mul(m.get("b0") ?? 7).add(m.has("a3") ? 1 : 0);
  });
  const x = tensor([0.5]);
  for (let call = 0; call < 10; call++) {
    const [y, size, keys] = sum.run(x, make(call));
    assertEquals([list(y), size, keys], [[call + 3.5], 2, [`a${call}`, `b${call % 2}`]]);
    const factor = call % 2 === 0 ? call + 2 : 7;
    assertEquals(
      list(look.run(x, make(call))),
      [(call + 3.5) * factor + (call === 3 ? 1 : 0)],
      `call ${call}`,
    );
  }
  assert(sum.entries() <= 3, `${sum.entries()} versions`);
  assertEquals([sum, look].map(({ run }) => statusOf(run)?.uncompiled), [[], []]);
});

Deno.test("objects with other keys in each call end the graph where the keys are listed", () => {
  const c = capture((x: Tensor, o: Record<string, number>) => {
    let y = x.mul(2);
    for (const each of Object.values(o)) y = y.add(each);
    return [y, Object.keys(o)];
  });
  for (let call = 0; call < 12; call++) {
    const [y, keys] = c.run(tensor([1]), { [`a${call}`]: 1, [`b${call}`]: call });
    assertEquals([list(y), keys], [[call + 3], [`a${call}`, `b${call}`]]);
  }
  assertEquals(statusOf(c.run)?.uncompiled, []);
});

Deno.test("a text equals itself without inspection, and values that are not numbers do not", () => {
  const c = capture((x: Tensor, text: string, n: number) => {
    const same = (a: unknown, b: unknown) => [a === b, a !== b, a == b];
    return [...same(text, text), ...same(n, n), ...same(NaN, n), x.mul(2)];
  });
  for (const n of [NaN, 2, 3, NaN]) {
    const is = !Number.isNaN(n), given = c.run(tensor([1]), `text ${n}`, n).slice(0, 9);
    assertEquals(given, [true, false, true, is, !is, is, false, true, false]);
  }
  const [first] = c.run(tensor([1]), "another", 5);
  assertEquals([first, statusOf(c.run)?.uncompiled], [true, []]);
});

Deno.test("JSON with a part of a space breaks lines as the engine does", () => {
  const program = (
    x: Tensor,
    space: number,
  ) => [x.add(1).tolist(), JSON.stringify({ list: [1] }, null, space)];
  const { run: f } = capture(program), x = tensor([0.5]);
  for (const space of [0.5, 0, 0.25, 1.5, 2, -0.5]) assertEquals(f(x, space), program(x, space), `${space}`);
});

Deno.test("bigints that differ in each call are passed on by one version, and none runs uncompiled where they are read", () => {
  const log: unknown[] = [];
  const passed = capture((x: Tensor, big: bigint) => {
    log.push({ big });
    return [x.mul(2), big];
  });
  const program = (x: Tensor, big: bigint) => [x.mul(2).tolist(), `${big * 2n}`, big > 3n ? "more" : "less"];
  const read = capture(program), x = tensor([1]);
  for (let call = 0; call < 12; call++) {
    const big = BigInt(call);
    assertEquals(passed.run(x, big)[1], big);
    assertEquals(read.run(x, big), program(x, big));
  }
  assertEquals([log.length, passed.entries()], [12, 3]);
  assertEquals([passed, read].map(({ run }) => statusOf(run)?.uncompiled), [[], []]);
});
