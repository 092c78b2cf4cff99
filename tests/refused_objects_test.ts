/**
 * Arguments that no op takes: the library's own error, uncompiled, compiled, and where one graph is required, instead of
 * one about the capture.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { compile, ones, Tensor } from "../mod.ts";

class Options {
  readonly dim = 0;
}

class Parts {
  readonly re = 1;
  readonly im = 2;
}

/** Objects of the program, none of which is an argument of an op. */
const OBJECTS: Readonly<Record<string, () => unknown>> = {
  "a Map": () => new Map([["dim", 0]]),
  "a Set": () => new Set([0]),
  "a function": () => () => 0,
  "an instance of a class": () => new Options(),
  "an instance with the parts of a complex number": () => new Parts(),
  "a date": () => new Date(0),
  "a symbol": () => Symbol("dim"),
  "a string": () => "dim",
};

const METHODS: readonly (readonly [method: string, before: readonly unknown[]])[] = [
  ["add", []],
  ["sum", []],
  ["sum", [0]],
  ["reshape", []],
  ["size", []],
  ["stride", []],
];

function outcome(run: () => unknown): string {
  try {
    const result = run();
    return result instanceof Tensor ? JSON.stringify(result.tolist()) : String(result);
  } catch (error) {
    const [first] = String(error).split("\n");
    return first ?? "";
  }
}

for (const [name, make] of Object.entries(OBJECTS)) {
  Deno.test(`an argument that no op takes: ${name}`, () => {
    for (const [method, before] of METHODS) {
      const call = (x: Tensor): unknown => Reflect.get(x, method).call(x.mul(2), ...before, make());
      const expected = outcome(() => call(ones([3, 4])));
      assertMatch(expected, /^(DynError: Expected |TypeError: Cannot convert a Symbol)/, method);
      for (const fullgraph of [false, true]) {
        const run = compile(call, { backend: "eager", fullgraph });
        for (let i = 0; i < 2; i++) {
          assertEquals(outcome(() => run(ones([3, 4]))), expected, `${method} ${i}`);
        }
      }
    }
  });
}

Deno.test("objects without a class are options", () => {
  const sum = (x: Tensor) => x.sum(0, Object.assign(Object.create(null), { keepdim: true })).mul(2);
  assertEquals(compile(sum, { backend: "eager", fullgraph: true })(ones([2, 1])).tolist(), [[4]]);
});
