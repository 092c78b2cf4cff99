/**
 * Sizes of a trace: symbols, ranges, equalities, the remaining guards, and that these suffice.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { logs } from "../lib/base/logs.ts";
import { hintOf, isAtMost, isEqual, isLess, specialize } from "../lib/sym/decide.ts";
import { add, type Dim, floorDiv, mod, mul, sub } from "../lib/sym/expr.ts";
import { ShapeEnv } from "../lib/sym/shape_env.ts";
import { type SizeSource, sourceText } from "../lib/sym/size_guards.ts";

const shape = (name: string, dim = 0): SizeSource => ({ base: `L["${name}"]`, part: { kind: "shape", dim } });

Deno.test("0 and 1 are constants; other sizes are symbols of at least 2", () => {
  const env = new ShapeEnv();
  assertEquals(env.createSize(shape("x"), 1), 1);
  assertEquals(env.createSize(shape("x", 1), 0), 0);
  const s = env.createSize(shape("x", 2), 5);
  assertEquals(hintOf(s), 5);
  assertEquals(env.guardTexts(), ['2 <= L["x"].shape[2]']);
});

Deno.test("equal hints share a symbol and guard their equality", () => {
  const env = new ShapeEnv();
  const a = env.createSize(shape("x"), 5),
    b = env.createSize(shape("y"), 5),
    c = env.createSize(shape("z"), 6);
  assert(a === b && a !== c);
  assertEquals(env.guardTexts(), [
    'L["y"].shape[0] == L["x"].shape[0]',
    '2 <= L["x"].shape[0]',
    '2 <= L["z"].shape[0]',
  ]);
});

Deno.test("comparisons answer from hints and refine the range", () => {
  const env = new ShapeEnv();
  const s = env.createSize(shape("x"), 5);
  assertEquals(isLess(s, 10), true);
  assertEquals(isLess(s, 12), true);
  assertEquals(isAtMost(s, 3), false);
  assertEquals(isEqual(s, 20), false);
  assertEquals(env.guardTexts(), ['4 <= L["x"].shape[0] <= 9']);
  assertEquals(isEqual(s, 7), false);
  assertEquals(isEqual(s, 7), false);
  assertEquals(isEqual(s, 9), false);
  assertEquals(env.guardTexts(), ['4 <= L["x"].shape[0] <= 8', 'L["x"].shape[0] != 7']);
});

Deno.test("a range of one value is a constant", () => {
  const env = new ShapeEnv();
  const s = env.createSize(shape("x"), 5);
  assert(isAtMost(s, 5) && !isLess(s, 5));
  assertEquals(env.constantOf(s), 5);
  assertEquals(env.guardTexts(), ['L["x"].shape[0] == 5']);
});

Deno.test("proven equalities replace symbols, and implied ones add nothing", () => {
  const env = new ShapeEnv();
  const a = env.createSize(shape("x"), 4, { duck: false });
  const b = env.createSize(shape("y"), 4, { duck: false });
  const c = env.createSize(shape("z"), 12);
  assert(isEqual(a, b));
  assert(isEqual(mul(a, 3), mul(b, 3)));
  assert(isEqual(c, mul(b, 3)));
  assert(isEqual(sub(c, a), mul(2, b)));
  assertEquals(env.guardTexts(), [
    'L["y"].shape[0] == L["x"].shape[0]',
    'L["z"].shape[0] == 3*L["x"].shape[0]',
    '2 <= L["x"].shape[0]',
  ]);
  assertEquals(`${env.simplify(add(c, b))}`, "4*s0");
  assertEquals(specialize(c), 12);
  assertEquals(env.guardTexts(), [
    'L["y"].shape[0] == 4',
    'L["z"].shape[0] == 12',
    'L["x"].shape[0] == 4',
  ]);
});

Deno.test("equations that cannot be solved stay relations", () => {
  const env = new ShapeEnv();
  const a = env.createSize(shape("x"), 8), b = env.createSize(shape("x", 1), 6);
  assertEquals(isEqual(mod(a, 4), 0), true);
  assertEquals(isEqual(mod(a, 4), 0), true);
  assertEquals(isLess(b, a), true);
  assertEquals(isAtMost(b, a), true);
  assertEquals(isAtMost(floorDiv(a, 2), 10), true);
  assertEquals(isEqual(mul(a, b), 48), true);
  assertEquals(env.guardTexts(), [
    '2 <= L["x"].shape[0] <= 21',
    '2 <= L["x"].shape[1]',
    'L["x"].shape[1] < L["x"].shape[0]',
    '(L["x"].shape[0]%4) == 0',
    'L["x"].shape[0]*L["x"].shape[1] == 48',
  ]);
});

Deno.test("strides depend on sizes as in the traced call", () => {
  const env = new ShapeEnv();
  const layout = env.createLayout('L["x"]', { shape: [4, 3, 5], strides: [15, 5, 1], offset: 0 }, {
    dynamic: (dim) => dim !== 1 ? {} : undefined,
  });
  assertEquals(layout.shape.map(String), ["s0", "3", "s1"]);
  assertEquals(layout.strides.map(String), ["3*s1", "s1", "1"]);
  assertEquals(env.guardTexts(), [
    'L["x"].stride()[1] == L["x"].shape[2]',
    'L["x"].stride()[0] == 3*L["x"].shape[2]',
    '2 <= L["x"].shape[0]',
    '2 <= L["x"].shape[2]',
  ]);
});

Deno.test("a frozen environment answers only implied questions", () => {
  const env = new ShapeEnv();
  const s = env.createSize(shape("x"), 5);
  assert(isLess(s, 10));
  env.freeze();
  assert(isLess(s, 11));
  assertThrows(() => isLess(s, 9), Error, "Expected no more guards on sizes but found s0 - 8 <= 0");
});

Deno.test("the dynamic log says what was created and guarded", () => {
  const lines: string[] = [];
  logs.capture("dynamic", (_artifact, text) => lines.push(text), () => {
    const env = new ShapeEnv();
    isEqual(env.createSize(shape("x"), 5), 5);
  });
  assertEquals(lines, [
    'create_symbol s0 = 5 for L["x"].shape[0] [2, Infinity]',
    "eval s0 - 5 == 0 [guard added]",
  ]);
});

Deno.test("values that satisfy the guards get the recorded answers", () => {
  const sizes = fc.array(fc.integer({ min: 2, max: 12 }), { minLength: 3, maxLength: 3 });
  const term = fc.tuple(fc.nat(2), fc.nat(2), fc.integer({ min: -3, max: 3 }), fc.nat(4));
  const question = fc.tuple(fc.constantFrom("eq", "lt", "le"), term, term);
  const build = (dims: readonly Dim[], [i, j, k, kind]: readonly [number, number, number, number]): Dim => {
    const a = dims[i] ?? 1, b = dims[j] ?? 1;
    return [add(mul(a, k), b), mul(a, b), add(floorDiv(a, 2), k), mod(a, 3), add(a, k)][kind] ?? 0;
  };
  const ask = (relation: string, a: Dim, b: Dim) =>
    relation === "eq" ? isEqual(a, b) : relation === "lt" ? isLess(a, b) : isAtMost(a, b);
  fc.assert(
    fc.property(
      sizes,
      fc.array(question, { maxLength: 6 }),
      fc.array(sizes, { maxLength: 30 }),
      (hints, qs, others) => {
        const env = new ShapeEnv();
        const names = ["x", "y", "z"];
        const dims = hints.map((hint, i) => env.createSize(shape(names[i] ?? ""), hint, { duck: false }));
        const answers = qs.map(([r, a, b]) => ask(r, build(dims, a), build(dims, b)));
        const guards = env.guards();
        for (const values of [hints, ...others]) {
          const valueOf = (source: SizeSource) =>
            values[names.findIndex((n) => sourceText(shape(n)) === sourceText(source))] ?? -1;
          const admitted = guards.every((guard) => ShapeEnv.holds(guard, env, valueOf));
          if (values === hints) assert(admitted);
          if (admitted) {
            assertEquals(
              qs.map(([r, a, b]) => ask(r, build(values, a), build(values, b))),
              answers,
            );
          }
        }
      },
    ),
    { numRuns: 400 },
  );
});
