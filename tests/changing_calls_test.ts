/**
 * Builtins that return another number in each call, called as often as by the program; accessors and classes created
 * anew.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { compiler, nn, relu, sigmoid, tanh, type Tensor, tensor } from "../mod.ts";
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

Deno.test("a decision on a random number ends the graph, and both ways are taken", () => {
  const f = capture((x: Tensor) => Math.random() < 0.5 ? x.add(1) : x.mul(4));
  const results = new Set<unknown>();
  for (let i = 0; i < 60 && results.size < 2; i++) results.add(String(list(f.run(vector(1, 2)))));
  assertEquals([...results].sort(), ["2,3", "4,8"]);
});

Deno.test("clocks are read before or after the graph, as in the program", () => {
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

/** An object of a factory, whose accessors are new for each object, and share a list. */
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
  "of other values": [(x, o) => x.mul(o.value).add(o.asked), counted, 2],
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
  Deno.test(`accessors created anew for each call: ${name}`, () => {
    const c = capture(program), x = tensor([0.5, 1.5]);
    for (let call = 0; call < 10; call++) {
      const [plain, compiled] = [make(call), make(call)];
      assertEquals(c.run(x, compiled).tolist(), program(x, plain).tolist(), `call ${call}`);
      assertEquals(compiled.asked, plain.asked, `call ${call}`);
    }
    assertEquals(c.graphs.length, graphs);
  });
}

/** An instance of a class that is created for it. */
function instance(factor: number) {
  class Base {
    shifted(x: Tensor): Tensor {
      return x.add(1);
    }
  }
  class Scaled extends Base {
    static readonly unit: number = 1;
    factor = factor;
    get twice(): number {
      return this.factor * 2;
    }
    set twice(to: number) {
      this.factor = to / 2;
    }
    override shifted(x: Tensor): Tensor {
      return super.shifted(x).mul(this.factor);
    }
    *[Symbol.iterator](): Iterator<number> {
      yield this.factor;
      yield this.twice;
    }
  }
  return new Scaled();
}

type Instance = ReturnType<typeof instance>;

const own = (object: object, key: string, descriptor: PropertyDescriptor): void =>
  void Object.defineProperty(object, key, { configurable: true, ...descriptor });

/** Programs over what functions make anew, and how many graphs ten calls take: one more where something differs. */
const MADE_ANEW: Readonly<
  Record<
    string,
    readonly [program: (x: Tensor, o: Instance) => Tensor, make: (call: number) => Instance, graphs: number]
  >
> = {
  "fields": [(x, o) => x.mul(o.factor), () => instance(3), 2],
  "methods that call those of their class": [(x, o) => o.shifted(x), () => instance(3), 2],
  "accessors": [
    (x, o) => {
      o.twice = 8;
      return x.mul(o.twice).add(o.factor);
    },
    () => instance(3),
    2,
  ],
  "iteration": [(x, o) => [...o].reduce((sum, each) => sum.add(each), x), () => instance(3), 2],
  "what is not there": [
    (x, o) => x.mul("missing" in o || Reflect.get(o, "missing") ? 2 : 3),
    () => instance(3),
    2,
  ],
  "all that can be listed": [
    (x, o) => x.mul(JSON.stringify({ ...o }).length + Object.keys(o).length),
    () => instance(3),
    2,
  ],
  "whether they are of a class": [
    (x, o) => x.mul(o instanceof Map || Object.getPrototypeOf(o) === Object.prototype ? 2 : 3),
    () => instance(3),
    2,
  ],
  "objects that are made of them": [
    (x, o) => {
      const heir: Instance = Object.create(Object.getPrototypeOf(o), { factor: { value: 5 } });
      return heir.shifted(x);
    },
    () => instance(3),
    2,
  ],
  "a method that is replaced in one of them": [
    (x, o) => o.shifted(x),
    (call) => {
      const made = instance(3);
      if (call === 4) Object.getPrototypeOf(made).shifted = (x: Tensor) => x.mul(7);
      return made;
    },
    3,
  ],
  "an accessor in the place of a method": [
    (x, o) => o.shifted(x),
    (call) => {
      const made = instance(3);
      if (call === 4) own(Object.getPrototypeOf(made), "shifted", { get: () => (x: Tensor) => x.mul(7) });
      return made;
    },
    3,
  ],
  "a field in front of what is inherited": [
    (x, o) => o.shifted(x),
    (call) => {
      const made = instance(3);
      if (call === 4) own(made, "shifted", { value: (x: Tensor) => x.mul(7) });
      return made;
    },
    3,
  ],
  "an accessor in front of what is missing": [
    (x, o) => x.mul(Reflect.get(o, "missing") ?? 2),
    (call) => {
      const made = instance(3);
      if (call === 4) own(Object.getPrototypeOf(made), "missing", { get: () => 9 });
      return made;
    },
    3,
  ],
  "a class between them": [
    (x, o) => o.shifted(x),
    (call) => {
      const made = instance(3);
      if (call !== 4) return made;
      const between = Object.create(Object.getPrototypeOf(made), {
        constructor: { value: made.constructor },
        shifted: { value: (x: Tensor) => x.mul(7) },
      });
      return Object.setPrototypeOf(made, between);
    },
    3,
  ],
  "another class of the same text, with another base": [
    (x, o) => x.mul(o instanceof Map ? 2 : 3).add(o.factor),
    (call) => {
      const made = instance(3);
      if (call === 4) {
        Object.setPrototypeOf(Object.getPrototypeOf(Object.getPrototypeOf(made)), Map.prototype);
      }
      return made;
    },
    3,
  ],
};

for (const [name, [program, make, graphs]] of Object.entries(MADE_ANEW)) {
  Deno.test(`instances of classes that are made anew for each call: ${name}`, () => {
    const c = capture(program), x = tensor([0.5, 1.5]);
    for (let call = 0; call < 10; call++) {
      const [plain, compiled] = [make(call), make(call)];
      assertEquals(c.run(x, compiled).tolist(), program(x, plain).tolist(), `call ${call}`);
      assertEquals({ ...compiled }, { ...plain }, `call ${call}`);
    }
    assertEquals(c.graphs.length, graphs);
  });
}

Deno.test("modules whose class is created anew for each call need one version after the first", () => {
  const make = (by: number) =>
    new (class Scaled extends nn.Module {
      readonly by = by;
      override forward(x: Tensor): Tensor {
        return x.mul(this.by);
      }
    })();
  const c = capture((x: Tensor, net: ReturnType<typeof make>) => net.call(x)), x = tensor([0.5, 1.5]);
  for (let call = 0; call < 10; call++) assertEquals(c.run(x, make(3)).tolist(), [1.5, 4.5]);
  assertEquals(c.graphs.length, 2);
});

Deno.test("an object that inherits from a proxy is not treated as an instance of a class created anew", () => {
  const c = capture((x: Tensor, o: { readonly factor: number }) => x.mul(o.factor)), x = tensor([0.5]);
  const classes = () => {
    class Held {
      get factor() {
        return 3;
      }
    }
    return new Held();
  };
  for (let call = 0; call < 4; call++) assertEquals(c.run(x, classes()).tolist(), [1.5]);
  const asked: PropertyKey[] = [];
  const traps: ProxyHandler<object> = { get: (_of, key) => (asked.push(key), 5) };
  const heir: { readonly factor: number } = Object.create(new Proxy(classes(), traps));
  assertEquals(c.run(x, heir).tolist(), [2.5]);
  assertEquals(asked, ["factor"]);
});

/** A class whose instances have a field and a method. */
class Held {
  v = 4;
  of(x: Tensor): Tensor {
    return x.add(this.v);
  }
}

/** Something of parts that can be replaced. */
interface Parts {
  readonly list: number[];
  readonly held: Held;
  readonly opt: { a: number; b: number };
  readonly map: Map<string, number>;
  readonly t: Tensor;
  readonly call: (x: Tensor) => Tensor;
}

const parts = (): Parts => ({
  list: [1, 2, 3],
  held: new Held(),
  opt: { a: 1, b: 2 },
  map: new Map([["a", 5]]),
  t: tensor([1, 2]),
  call: (x) => x.add(2),
});

type Reader = (x: Tensor, p: Parts) => unknown;

const READERS: Readonly<Record<string, Reader>> = {
  "an element": (x, { list }) => x.add(list[1] ?? 0),
  "elements in order": (x, { list }) => {
    let sum = x;
    for (const each of list) sum = sum.add(each);
    return sum;
  },
  "elements by a function": (x, { list }) => {
    let total = 0;
    list.forEach((each) => total += each);
    return x.add(total);
  },
  "the last element": (x, { list }) => x.add(list[list.length - 1] ?? 0).add(list.indexOf(2)),
  "properties": (x, { opt }) => x.add(opt.a).add(opt.b),
  "keys": (x, { opt }) => x.add(Object.keys(opt).length).add("a" in opt ? 1 : 2),
  "a field by a method": (x, { held }) => held.of(x),
  "a map": (x, { map }) => x.add(map.get("a") ?? 0),
  "a tensor": (x, { t }) => x.add(t.numel()),
  "a call": (x, { call }) => call(x),
};

/** Replaces values by code that records its runs, which only the program may run. */
type Exchange = (parts: Parts, notes: string[]) => void;

const getter = (object: object, key: string, value: unknown, notes: string[]) =>
  own(object, key, { enumerable: true, get: () => (notes.push(`get ${key}`), value) });

function watched<T extends object>(target: T, notes: string[]): T {
  const traps = new Proxy({}, {
    get: (_, trap) => (...given: readonly unknown[]) => {
      notes.push(`${String(trap)} ${String(typeof given[1] === "object" ? "" : given[1])}`);
      return Reflect.apply(Reflect.get(Reflect, trap), Reflect, given);
    },
  });
  return new Proxy(target, traps);
}

const EXCHANGES: Readonly<Record<string, Exchange>> = {
  "accessors": ({ list, held, opt }, notes) => {
    for (
      const [object, key, value] of [[list, "1", 7], [list, "2", 8], [held, "v", 9], [opt, "b", 6]] as const
    ) {
      getter(object, key, value, notes);
    }
  },
  "accessors of the same values": ({ list, held, opt }, notes) => {
    for (
      const [object, key, value] of [[list, "1", 2], [list, "2", 3], [held, "v", 4], [opt, "b", 2]] as const
    ) {
      getter(object, key, value, notes);
    }
  },
  "proxies": (parts, notes) => {
    for (const [key, value] of Object.entries(parts)) Reflect.set(parts, key, watched(value, notes));
  },
};

const outcome = (run: () => unknown): unknown => {
  try {
    return list(run());
  } catch (error) {
    return error instanceof Error ? error.name : error;
  }
};

for (const [exchanged, exchange] of Object.entries(EXCHANGES)) {
  Deno.test(`guards run no code of the program: ${exchanged} in place of values`, () => {
    const x = tensor([0.5, 1.5]);
    for (const [name, program] of Object.entries(READERS)) {
      const c = capture(program), kept = parts(), captured = capture((x: Tensor) => program(x, kept));
      const notes: Record<string, string[]> = { plain: [], passed: [], captured: [] };
      for (let call = 0; call < 5; call++) {
        const made = () => {
          const plain = parts(), passed = parts();
          if (call === 2 || call > 3) {
            exchange(plain, notes.plain ?? []);
            exchange(passed, notes.passed ?? []);
          }
          return [plain, passed] as const;
        };
        const [plain, passed] = made();
        const title = `${name}, call ${call}`, expected = outcome(() => program(x, plain));
        assertEquals(outcome(() => c.run(x, passed)), expected, title);
        assertEquals(notes.passed, notes.plain, title);
      }
      const expected = outcome(() => program(x, parts()));
      for (let call = 0; call < 2; call++) assertEquals(outcome(() => captured.run(x)), expected, name);
      exchange(kept, notes.captured ?? []);
      const first = parts(), once: string[] = [];
      exchange(first, once);
      assertEquals(outcome(() => captured.run(x)), outcome(() => program(x, first)), `${name}, captured`);
      assertEquals(notes.captured, once, `${name}, captured`);
    }
  });
}

Deno.test("functions without code of their own have a version each, as long as they are few", () => {
  class Halved {
    readonly y: Tensor;
    constructor(x: Tensor) {
      this.y = x.mul(0.5);
    }
  }
  class Doubled extends Halved {
    constructor(x: Tensor) {
      super(x.mul(4));
    }
  }
  const make = capture((x: Tensor, of: new (x: Tensor) => Halved) => new of(x).y);
  for (const  of of[Halved, Doubled, Halved, Doubled]) {
    assertEquals(list(make.run(vector(2), of)), list(new of(vector(2)).y));
  }
  assertEquals([make.entries(), make.graphs.length], [2, 2]);
  const activate = capture((x: Tensor, by: (x: Tensor) => Tensor) => by(x.add(1)));
  for (const by of [relu, sigmoid, tanh, relu, nn.functional.silu, sigmoid]) {
    assertEquals(list(activate.run(vector(-2, 1), by)), list(by(vector(-1, 2))));
  }
  assertEquals([activate.entries(), activate.graphs.length], [4, 4]);
  const fail = capture((x: Tensor, as: new (text: string) => Error) => {
    throw new as(`${x.shape}`);
  });
  for (const as of [RangeError, TypeError, RangeError]) {
    assertThrows(() => fail.run(vector(1, 2), as), as, "2");
  }
});

Deno.test("bound functions that are passed in are alike if their parts are", () => {
  const scaled = (by: Tensor | number, x: Tensor) => x.mul(by);
  const c = capture((f: (x: Tensor) => Tensor, g: (x: Tensor) => Tensor, x: Tensor) => f(x).add(g(x)));
  const bound = (by: Tensor | number) => scaled.bind(null, by);
  const [first, second] = [bound(vector(1, 2)), bound(vector(3, 4))];
  assertEquals(list(c.run(first, second, vector(1, 1))), [4, 6]);
  assertEquals(list(c.run(second, first, vector(1, 1))), [4, 6]);
  assertEquals([c.entries(), c.opCount()], [1, 3]);
  // Another size, another number of arguments, another target
  assertEquals(list(c.run(bound(vector(5)), bound(vector(6)), vector(1))), [11]);
  assertEquals(list(c.run(scaled.bind(null, vector(5), vector(2)), bound(vector(6)), vector(1))), [16]);
  const shifted = (by: Tensor | number, x: Tensor) => x.add(by);
  assertEquals(list(c.run(shifted.bind(null, vector(5)), bound(vector(6)), vector(1))), [12]);
  assertEquals(c.entries(), 4);
  class Counter {
    #seen = 0;
    n = 1;
    add(x: Tensor) {
      this.n++;
      return x.add(this.n);
    }
    get seen() {
      return this.#seen;
    }
  }
  const method = capture((f: (x: Tensor) => Tensor, x: Tensor) => f(x).mul(2));
  for (let i = 0; i < 4; i++) {
    const counter = new Counter();
    assertEquals(list(method.run(counter.add.bind(counter), vector(1))), [6]);
    assertEquals(counter.n, 2);
  }
  assertEquals(method.entries(), 1);
  // Other functions in their place
  assertEquals(list(method.run((x) => x.sub(1), vector(1))), [0]);
  assertEquals(list(method.run(relu, vector(-1))), [0]);
});

Deno.test("bound functions are the same objects, names and constructors as in the program", () => {
  class Pair {
    constructor(readonly a: number, readonly b: Tensor) {}
  }
  const c = capture((f: new (b: Tensor) => Pair, g: unknown, x: Tensor) => {
    const made = new f(x);
    return [f === g, f.name, f.length, made instanceof f, made instanceof Pair, made.a, made.b.add(1), f];
  });
  for (const k of [1, 2, 3]) {
    const f = Pair.bind(null, k), [same, ...rest] = c.run(f, f, vector(1));
    assertEquals([same, ...rest.slice(0, 5)], [true, "bound Pair", 1, true, true, k]);
    assert(rest[6] === f);
    assertEquals(c.run(f, Pair.bind(null, k), vector(1))[0], false);
  }
});
