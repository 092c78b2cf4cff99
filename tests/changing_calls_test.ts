/** Builtins that give another number each time, called as often as the program calls them, in order; accessors that are made anew. */
import { assert, assertEquals } from "@std/assert";
import { compiler, type Tensor, tensor } from "../mod.ts";
import { capture, list, vector } from "./support/dynamo.ts";

Deno.test("a random number is drawn at every call, and is an input of the graph", () => {
  const f = capture((x: Tensor) => {
    const a = Math.random(), b = Math.random();
    return [x.mul(a).add(b), a, b * 2, Math.floor(a * 10)] as const;
  });
  const drawn = new Set<number>();
  for (let i = 0; i < 4; i++) {
    const [t, a, twice, tenth] = f.run(vector(1, 2));
    const [first] = list(t) as number[];
    assert(Math.abs((first ?? NaN) - (a + twice / 2)) < 1e-5);
    assertEquals(tenth, Math.floor(a * 10));
    drawn.add(a).add(twice / 2);
  }
  assertEquals([drawn.size, f.entries(), f.opCount()], [8, 1, 2]);
  assertEquals(
    f.code(),
    `function anonymous(x) {
  const number = $number0(); // Math.random()
  const number_1 = $number0(); // Math.random()
  const { 0: add } = __compiled_fn(x, $scalar(number), $scalar(number_1));
  return [add, number, (number_1 * 2), Math.floor((number * 10))];
}`,
  );
});

Deno.test("what depends on a random number ends the graph, and both ways are taken", () => {
  const f = capture((x: Tensor) => Math.random() < 0.5 ? x.add(1) : x.mul(4));
  const results = new Set<unknown>();
  for (let i = 0; i < 60 && results.size < 2; i++) results.add(String(list(f.run(vector(1, 2)))));
  assertEquals([...results].sort(), ["2,3", "4,8"]);
});

Deno.test("clocks are read before the graph or behind it, as the program does", () => {
  const x = vector(1, 2);
  const timed = (x: Tensor) => {
    const began = performance.now();
    let y = x;
    for (let i = 0; i < 50; i++) y = y.add(1).mul(0.5);
    return [y, performance.now() - began] as const;
  };
  const f = capture(timed);
  for (let i = 0; i < 3; i++) assert(f.run(x)[1] > 0);
  assertEquals([f.entries(), f.graphs.length], [1, 1]);
  const reasons = (fn: (x: Tensor) => unknown) =>
    compiler.explain(fn)(x).breakReasons.map(({ explanation }) => explanation.split(": ").at(-1));
  assertEquals(reasons(timed), []);
  // In the middle of the operations there is nothing to read a clock by.
  assertEquals(
    reasons((x) => {
      const y = x.add(1), middle = Date.now();
      return [y.mul(2), middle];
    }),
    ["Date.now()"],
  );
});

Deno.test("a replaced Math.random is the program's own function", () => {
  const { random } = Math;
  const given = [0.25, 0.5, 0.75];
  let at = 0;
  const f = capture((x: Tensor) => [x.add(Math.random()), Math.random()] as const);
  assert(f.run(vector(1))[1] !== given[1]);
  Math.random = () => given[at++] ?? 1;
  try {
    const [t, second] = f.run(vector(1));
    assertEquals([list(t), second, at], [[1.25], 0.5, 2]);
  } finally {
    Math.random = random;
  }
});

/** An object of a maker, whose accessors are made anew with it, and share a list. */
function counted(value: number) {
  const log: number[] = [];
  return {
    get value() {
      log.push(1);
      return value;
    },
    set value(by: number) {
      log.push(by, by);
    },
    get asked() {
      return log.length;
    },
  };
}

type Counted = ReturnType<typeof counted>;

const WITH_ACCESSORS: Readonly<
  Record<
    string,
    readonly [program: (x: Tensor, o: Counted) => Tensor, make: (call: number) => Counted, graphs: number]
  >
> = {
  "read": [(x, o) => x.mul(o.value).add(o.asked), () => counted(3), 1],
  "of other values": [(x, o) => x.mul(o.value).add(o.asked), counted, 3],
  "written": [
    (x, o) => {
      o.value = 5;
      return x.mul(o.asked).add(o.value);
    },
    () => counted(3),
    1,
  ],
  "of other code": [
    (x, o) => x.mul(o.value),
    (call) =>
      call % 2 === 0 ? counted(3) : {
        asked: 0,
        get value() {
          return 4;
        },
      },
    2,
  ],
  "or an element in their place": [
    (x, o) => x.mul(o.value),
    (call) => call % 2 === 0 ? counted(3) : { asked: 0, value: 4 },
    2,
  ],
};

for (const [name, [program, make, graphs]] of Object.entries(WITH_ACCESSORS)) {
  Deno.test(`accessors that are made anew for each call: ${name}`, () => {
    const c = capture(program), x = tensor([0.5, 1.5]);
    for (let call = 0; call < 10; call++) {
      const [plain, compiled] = [make(call), make(call)];
      assertEquals(c.run(x, compiled).tolist(), program(x, plain).tolist(), `call ${call}`);
      assertEquals(compiled.asked, plain.asked, `call ${call}`);
    }
    assertEquals(c.graphs.length, graphs);
  });
}
