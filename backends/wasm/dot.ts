/**
 * The product out[m, n] += Σ a[m, k]·b[n, k] of float32 matrices whose rows are contiguous, as a WebAssembly
 * function: sums of products along both rows, three rows of a with three of b at a time. Invariant: every element
 * is summed in four lanes (k mod 4, what is beyond the last whole vector in lane 0), folded as (0 + 2) + (1 + 3),
 * and added to the old value.
 */
import type { FunctionBody } from "./function_body.ts";
import {
  add,
  assign,
  both,
  each,
  int,
  keep,
  less,
  min,
  mul,
  ref,
  shl,
  shr,
  sub,
  type Term,
  when,
  withParams,
} from "./terms.ts";

const ROWS = 3, COLUMNS = 3;

/** (a, aRow, b, bRow, out, outRow, m, n, k): strides in bytes. */
export function dotFunction(): FunctionBody {
  const { body, at } = withParams(["a", "aRow", "b", "bRow", "out", "outRow", "m", "n", "k"]);
  const a = Array.from({ length: ROWS }, () => body.local("i32"));
  const b = Array.from({ length: COLUMNS }, () => body.local("i32"));
  const sums = a.map(() => b.map(() => body.local("v128")));
  const [left, right] = [a.map(() => body.local("v128")), body.local("v128")];
  const count = body.local("i32");
  /** One step: a vector of each row, or one element in lane 0. */
  const step = (load: "load" | "load32Zero", offset: number) => {
    a.forEach((row, r) => body.get(row).simdMemory(load, offset).set(left[r] ?? 0));
    b.forEach((row, c) => {
      body.get(row).simdMemory(load, offset).set(right);
      sums.forEach((line, r) => {
        body.get(left[r] ?? 0).get(right).get(line[c] ?? 0).simd("f32Madd").set(line[c] ?? 0);
      });
    });
  };
  const move = (bytes: number) => {
    for (const row of [...a, ...b]) assign(body, row, add(ref(row), int(bytes)));
  };
  each(body, { to: at("n"), step: COLUMNS }, (j) => {
    each(body, { to: at("m"), step: ROWS }, (i) => {
      // Rows beyond the last repeat it and are not stored
      const row = (base: Term, stride: Term, of: Term, last: Term): Term =>
        add(base, mul(min(of, sub(last, int(1))), stride));
      a.forEach((local, r) => assign(body, local, row(at("a"), at("aRow"), add(i, int(r)), at("m"))));
      b.forEach((local, c) => assign(body, local, row(at("b"), at("bRow"), add(j, int(c)), at("n"))));
      for (const sum of sums.flat()) body.splatConstant(0).set(sum);
      assign(body, count, shr(at("k"), 4));
      body.times(count, () => {
        for (const offset of [0, 16, 32, 48]) step("load", offset);
        move(64);
      });
      assign(body, count, both(shr(at("k"), 2), int(3)));
      body.times(count, () => {
        step("load", 0);
        move(16);
      });
      assign(body, count, both(at("k"), int(3)));
      body.times(count, () => {
        step("load32Zero", 0);
        move(4);
      });
      sums.forEach((line, r) =>
        line.forEach((sum, c) => {
          const inside = both(less(add(i, int(r)), at("m")), less(add(j, int(c)), at("n")));
          when(body, inside, () => {
            const out = keep(body, add(at("out"), mul(add(i, int(r)), at("outRow")), shl(add(j, int(c)), 2)));
            for (const distance of [8, 4]) {
              const turned = Array.from({ length: 16 }, (_, byte) => (byte + distance) % 16);
              body.get(sum).get(sum).get(sum).shuffle(turned).simd("f32Add").set(sum);
            }
            body.get(out).get(out).simdMemory("load32Zero").get(sum).simd("f32Add");
            body.lane("f32Extract", 0).memory("f32Store");
          });
        })
      );
    });
  });
  return body;
}
