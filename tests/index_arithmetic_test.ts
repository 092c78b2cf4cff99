/**
 * Index arithmetic: simplification keeps every value, and undoes flattening so that loops stay flat.
 */
import { assertEquals } from "@std/assert";
import {
  add,
  type Dim,
  evaluate,
  floorDiv,
  max,
  min,
  mod,
  mul,
  print,
  sub,
  type Sym,
  symbol,
} from "../lib/sym/expr.ts";
import { unknownSize } from "./support/sizes.ts";

const size = (name: string) => unknownSize(name, 4);

/** A loop counter below a size. */
function axis(name: string, below: Dim): Sym {
  return symbol(name, { kind: "axis", size: below }, [0, typeof below === "number" ? below - 1 : Infinity]);
}

const floorMod = (a: number, b: number) => a - b * Math.floor(a / b);

Deno.test("random expressions evaluate as their parts do", () => {
  let state = 7;
  const below = (n: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % n;
  };
  const choose = (list: readonly number[]) => list[below(list.length)] ?? 2;
  const wrong: string[] = [];
  for (let round = 0; round < 4000; round++) {
    const s = size("s"), sValue = 2 + below(4);
    const known: [Sym, number][] = [[s, sValue]];
    for (let k = 0; k < 3; k++) {
      const isSymbolic = below(2) === 0, times = isSymbolic ? choose([1, 2, 4, 12]) : choose([2, 3, 4, 6, 8]);
      known.push([
        axis(`x${k}`, isSymbolic ? mul(s, times) : times),
        below(isSymbolic ? sValue * times : times),
      ]);
    }
    const values = new Map(known);
    const divisor = (): [Dim, number] => {
      const number = choose([2, 3, 4, 6, 12, 24]);
      if (below(2) === 0) return [number, number];
      const times = choose([1, 2, 4]);
      return [mul(s, times), sValue * times];
    };
    const make = (depth: number): [Dim, number] => {
      if (depth === 0 || below(5) === 0) {
        const constant = below(13);
        return known[below(5)] ?? [constant, constant];
      }
      const [a, x] = make(depth - 1), [b, y] = make(depth - 1);
      const [d, z] = divisor();
      switch (below(8)) {
        case 0:
          return [add(a, b), x + y];
        case 1:
          return [sub(a, z), x - z];
        case 2:
          return [mul(a, b), x * y];
        case 3:
          return [mul(a, z), x * z];
        case 4:
          return [floorDiv(a, d), Math.floor(x / z)];
        case 5:
          return [min(a, b), Math.min(x, y)];
        case 6:
          return [max(a, b), Math.max(x, y)];
        default:
          return [mod(a, d), floorMod(x, z)];
      }
    };
    const [expression, wanted] = make(5);
    const found = evaluate(expression, (each) => values.get(each) ?? 0);
    if (found !== wanted) wrong.push(`${print(expression)} is ${found}, not ${wanted}`);
  }
  assertEquals(wrong, []);
});

Deno.test("flattening and unflattening an index gives it back", () => {
  const i = axis("i", 1024), j = axis("j", 256);
  const flat = add(mul(i, 256), j);
  const parts = [floorDiv(flat, 32768), mod(floorDiv(flat, 256), 128), mod(flat, 256)];
  assertEquals(parts.map(print), ["(i//128)", "(i%128)", "j"]);
  const [p = 0, q = 0, r = 0] = parts;
  assertEquals(print(add(add(mul(p, 32768), mul(q, 256)), r)), "256*i + j");
});

Deno.test("the same with symbolic sizes", () => {
  const s = size("s"), t = size("t");
  const p = axis("p", s), q = axis("q", t), h = axis("h", 64);
  const flat = add(add(mul(p, mul(t, 64)), mul(q, 64)), h);
  assertEquals(
    [floorDiv(flat, mul(t, 64)), mod(floorDiv(flat, 64), t), mod(flat, 64)].map(print),
    ["p", "q", "h"],
  );
  // A number and a size that only some terms are multiples of, as rows of images of a symbolic height in groups
  const c = axis("c", 8), r = axis("r", mul(s, 16)), row = add(mul(c, mul(s, 16)), r), group = mul(s, 128);
  assertEquals(
    [floorDiv(add(mul(p, group), row), group), mod(add(mul(p, group), row), group), floorDiv(row, mul(s, 16))]
      .map(print),
    ["p", print(row), "c"],
  );
  // Three dimensions walked as one: the outermost is its quotient, without a remainder
  const joined = axis("j", mul(s, 32));
  assertEquals(print(mod(floorDiv(joined, 16), mul(s, 2))), "(j//16)");
  assertEquals(print(mod(add(mul(floorDiv(joined, 16), 4), mod(joined, 4)), mul(s, 8))), "4*(j//16) + (j%4)");
  const k = axis("k", mul(s, t));
  assertEquals(print(add(mul(floorDiv(k, t), t), mod(k, t))), "k");
});

Deno.test("dividends are lifted above zero", () => {
  const i = axis("i", 5);
  assertEquals(print(mod(sub(i, 1), 3)), "((i + 2)%3)");
  assertEquals(print(floorDiv(sub(i, 1), 3)), "((i + 2)//3) - 1");
});
