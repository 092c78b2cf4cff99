/** Builtins that the program has replaced once and for all: calls set them aside without reading all the others. */
import { assertEquals } from "@std/assert";
import { asProgram, withOwnBuiltins, withRuntimeBuiltins } from "../lib/base/own_builtins.ts";
import { compile, type Tensor, tensor } from "../mod.ts";

/** The properties that the tests replace: one that calls rely on, another such one, and one that only capture reads. */
const PLACES = [[Array.prototype, "at"], [Math, "max"], [Date, "now"]] as const;

/** Replaces `Array.prototype.at`, has this noticed, and runs the test. */
function beside(test: (replaced: () => boolean[]) => void): () => void {
  return () => {
    const former = PLACES.map(([object, key]) => Reflect.getOwnPropertyDescriptor(object, key));
    const replaced = () => PLACES.map(([object, key], i) => Reflect.get(object, key) !== former[i]?.value);
    try {
      replace(0);
      for (let i = 0; i < 2; i++) assertEquals(withRuntimeBuiltins(replaced), [false, false, false]);
      assertEquals(replaced(), [true, false, false]);
      test(replaced);
    } finally {
      PLACES.forEach(([object, key], i) => Reflect.defineProperty(object, key, former[i] ?? {}));
    }
  };
}

function replace(place: 0 | 1 | 2): void {
  const [object, key] = PLACES[place], former: unknown = Reflect.get(object, key);
  const value = typeof former === "function" && function (this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(former, this, args);
  };
  Reflect.defineProperty(object, key, { value, writable: true, enumerable: false, configurable: true });
}

Deno.test(
  "replacements that follow a known one are set aside too",
  beside((replaced) => {
    replace(1);
    assertEquals(withRuntimeBuiltins(replaced), [false, false, false]);
    replace(0);
    assertEquals(withRuntimeBuiltins(replaced), [false, false, false]);
    assertEquals(replaced(), [true, true, false]);
  }),
);

Deno.test(
  "a known replacement that the program takes back stays taken back",
  beside((replaced) => {
    const [[object, key]] = PLACES, now = Reflect.getOwnPropertyDescriptor(object, key);
    const own = withRuntimeBuiltins(() => Reflect.getOwnPropertyDescriptor(object, key)) ?? {};
    Reflect.defineProperty(object, key, own);
    assertEquals(withRuntimeBuiltins(replaced), [false, false, false]);
    assertEquals(replaced(), [false, false, false]);
    Reflect.defineProperty(object, key, { ...now, enumerable: true });
    assertEquals(withRuntimeBuiltins(() => Object.keys(object).length), 0);
    assertEquals(Object.keys(object), ["at"]);
  }),
);

Deno.test(
  "work that reads all builtins in the middle of a call sets the others aside until the call ends",
  beside((replaced) => {
    replace(2);
    assertEquals(withRuntimeBuiltins(() => [replaced(), withOwnBuiltins(replaced), replaced()]), [
      [false, false, true],
      [false, false, false],
      [false, false, false],
    ]);
    assertEquals(replaced(), [true, false, true]);
  }),
);

Deno.test(
  "code of the program in the middle of a call has its builtins, and may replace others",
  beside((replaced) => {
    const seen = withRuntimeBuiltins(() => {
      const before = asProgram(replaced);
      const between = replaced();
      asProgram(() => replace(1));
      return [before, between, replaced(), asProgram(replaced), replaced()];
    });
    const own = [false, false, false];
    assertEquals(seen, [[true, false, false], own, own, [true, true, false], own]);
    assertEquals(replaced(), [true, true, false]);
  }),
);

Deno.test(
  "a compiled function calls what the program replaces between two calls",
  beside(() => {
    const run = compile((x: Tensor, xs: number[]) => x.mul(xs.at(-1) ?? 0).add(Math.max(...xs)), {
      backend: "eager",
    });
    const results = () => run(tensor([1, 2], { dtype: "float32" }), [2, 3]).tolist();
    for (let i = 0; i < 3; i++) assertEquals(results(), [6, 9]);
    const { at } = Array.prototype;
    Array.prototype.at = function () {
      return 10;
    };
    assertEquals(results(), [13, 23]);
    Math.max = () => 0;
    assertEquals(results(), [10, 20]);
    Array.prototype.at = at;
    assertEquals(results(), [3, 6]);
  }),
);
