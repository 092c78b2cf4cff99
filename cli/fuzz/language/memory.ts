/**
 * Typed arrays, views and buffers of random programs: some share their bytes. Invariant: those of two runs start with
 * the same contents.
 */
import { choose, closed, code, type Text, word } from "./text.ts";

/** The object that is `by` in programs. */
export interface ProgramMemory {
  [name: string]: ArrayBufferView | ArrayBuffer;
}

/**
 * New memory: `u`, `h` and `v` share their bytes, `f` is another part of the buffer, because the engine chooses the
 * bits of NaN.
 */
export function programMemory(): ProgramMemory {
  const buffer = new ArrayBuffer(40), f = new Float32Array(buffer, 0, 4);
  f.set([1, -2, 3, 0.5]);
  return {
    f,
    w: f,
    buffer,
    u: new Uint8Array(buffer, 18, 8),
    h: new Int16Array(buffer, 24, 4),
    v: new DataView(buffer, 17, 22),
    d: Float64Array.of(2, 0, -1),
    c: Uint8ClampedArray.of(1, 250, 3),
    i: Int32Array.of(4, -3, 2, 1),
    z: BigInt64Array.of(1n, 2n),
  };
}

/** Normalises NaN before bytes are compared. */
export function settleNaN({ f }: ProgramMemory): void {
  if (!(f instanceof Float32Array)) return;
  f.forEach((each, i) => {
    if (Number.isNaN(each)) f[i] = NaN;
  });
}

/** Simulates writes by other code between calls. */
export function writeBetween({ f, c, i }: ProgramMemory, seed: number): void {
  for (const array of [f, c, i]) {
    if (array instanceof Float32Array || array instanceof Uint8ClampedArray || array instanceof Int32Array) {
      array[seed % 3] = seed - 2;
    }
  }
}

const array = word("by.f", "by.u", "by.h", "by.d", "by.c", "by.i", "by.w");
const index = word("0", "1", "2", "3", "9", "-1", "1.5", "k", "n", "p & 3", "by.i[2]", "by.c[0] & 3");
const place = code`${array}[${index}]`;

/** Expressions whose values are numbers. */
export function numbersInMemory(number: Text): Text {
  const reads = [
    "Int8(0)",
    "Uint8(k)",
    "Uint16(2)",
    "Uint16(2, true)",
    "Int32(3, n > 1)",
    "Float32(7, true)",
  ];
  return choose(
    [4, code`(${place} | 0)`],
    [2, code`Math.max(-9, Math.min(9, ${array}.at(${word("-1", "0", "k")}) ?? 0))`],
    [2, code`(by.v.get${word(...reads)} % 64 | 0)`],
    [1, code`${array}.${word("length", "byteLength", "BYTES_PER_ELEMENT", "byteOffset")}`],
    [1, code`(${array}.reduce((a, b) => a + b, 0) | 0)`],
    [1, code`${array}.${word("indexOf(n)", "findIndex((e) => e > k)", "includes(k)", "some((e) => e > 2)")}`],
    [1, code`(${place} ${word("=", "+=", "-=", "||=", "??=")} ${number})`],
    [1, code`(${word("++", "--")}${place} | 0)`],
  );
}

/** Expressions whose values are tensors. */
export const tensorsInMemory: Text = choose(
  [2, code`x.add(env.tensor(${array}).sum().float().clamp(-9, 9))`],
  [1, code`env.tensor(${array}.subarray(0, 2)).float().clamp(-9, 9)`],
  [1, code`env.tensor([${place}, 0.5], { dtype: 'float32' }).clamp(-9, 9)`],
  [1, code`x.mul(${place} | 0).clamp(-9, 9)`],
  [1, word("env.tensor(by.z).sum().float()", "env.tensor(by.f.slice()).clamp(-9, 9)")],
);

/** Expressions with other values. */
export const valuesInMemory: Text = choose(
  [2, array],
  [1, word("by.v", "by.buffer", "by.z[0]", "by.f.buffer === by.buffer", "ArrayBuffer.isView(by.v)")],
  [
    1,
    code`${array}.${word("slice(1)", "subarray(1, 3)", "subarray(-2)", "map((e) => e + n)", "toReversed()")}`,
  ],
  [1, code`new ${word("Int16Array", "Float32Array", "Uint8ClampedArray")}(${array})`],
  [1, code`[...${array}${word("", ".keys()", ".entries()")}]`],
  [1, code`structuredClone(${array})`],
  [1, code`Object.getOwnPropertyDescriptor(${array}, ${word("'0'", "'9'", "'length'")})`],
);

/** Statements. */
export function statementsInMemory(
  { number, list, block, fuel }: Readonly<Record<"number" | "list" | "block" | "fuel", Text>>,
): readonly (readonly [number, Text])[] {
  const writes = [
    "Int16(2, n)",
    "Uint8(k, 300)",
    "Float32(7, n, true)",
    "Int32(3, k, p > 1)",
    "Float64(9, n)",
  ];
  const changes = ["fill(n, 1)", "fill(k)", "copyWithin(0, 1)", "copyWithin(1, 0, 2)", "reverse()", "sort()"];
  return [
    [3, code`${place} ${word("=", "+=", "-=", "*=")} ${number};`],
    [2, code`by.v.set${word(...writes)};`],
    [2, code`${array}.${word(...changes)};`],
    [1, code`${array}.set(${choose([1, list], [1, array])}, ${word("0", "1")});`],
    [1, code`by.w = ${array}.${word("subarray(1)", "subarray(0, 2)", "slice()", "map((e) => e)")};`],
    [1, code`log.push(${place}, by.v.byteLength, ${place});`],
    [1, code`for (const e of ${array}) { ${fuel} ${block} log.push(e); }`],
    [1, code`for (let e = 0; e < ${array}.length; e++) { ${fuel} ${array}[e] ${word("=", "+=")} e; }`],
    [1, code`${array}.forEach((e, at, all) => { ${closed(fuel)} all[at + 1] = e; log.push(e); });`],
    [
      1,
      code`{ const own = new ${word("Float32Array", "Uint8Array")}(${
        word("3", "[n, k, 2]")
      }); own[${index}] = ${number}; ${block} log.push(own, own[1]); }`,
    ],
    [
      1,
      code`{ const own = new ArrayBuffer(8), g = new DataView(own); g.setInt16(${
        word("0", "2")
      }, ${number}); ${block} log.push(new Uint8Array(own, 1)[0], g, own); }`,
    ],
    [1, code`by.tag = ${array}; by.tag.note = n; log.push(by.tag.note);`],
    [1, code`held.push(() => ${place});`],
  ];
}
