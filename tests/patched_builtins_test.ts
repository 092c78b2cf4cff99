/** Programs that replace methods of builtins, tensors and modules: noticed, and no obstacle to the compiler. */
import { assert, assertEquals } from "@std/assert";
import { faults } from "../cli/fuzz/language/observation.ts";
import { compile, compiler, config, nn, ones, Tensor, tensor } from "../mod.ts";
import { statusOf } from "../lib/dynamo/mod.ts";
import { capture } from "./support/dynamo.ts";

type Program = (x: Tensor) => unknown;
/** Changes something; what it gives takes the change back. */
type Patch = () => () => void;

/** Gives an object a property. */
function put(object: object, key: PropertyKey, value: unknown): Patch {
  return () => {
    const former = Reflect.getOwnPropertyDescriptor(object, key);
    const enumerable = typeof value !== "function";
    Reflect.defineProperty(object, key, { value, writable: true, configurable: true, enumerable });
    return () => former ? Reflect.defineProperty(object, key, former) : Reflect.deleteProperty(object, key);
  };
}

/** Gives an object an accessor. */
function accessor(object: object, key: PropertyKey, get: () => unknown): Patch {
  return () => {
    Reflect.defineProperty(object, key, { get, set: () => {}, configurable: true });
    return () => Reflect.deleteProperty(object, key);
  };
}

function drop(object: object, key: PropertyKey): Patch {
  return () => {
    const former = Reflect.getOwnPropertyDescriptor(object, key) ?? {};
    Reflect.deleteProperty(object, key);
    return () => Reflect.defineProperty(object, key, former);
  };
}

/** Replaces a getter. */
function getter(object: object, key: PropertyKey, get: () => unknown): Patch {
  return () => {
    const former = Reflect.getOwnPropertyDescriptor(object, key);
    Reflect.defineProperty(object, key, { ...former, get, configurable: true });
    return () => former ? Reflect.defineProperty(object, key, former) : Reflect.deleteProperty(object, key);
  };
}

/** Gives an object another prototype. */
function parent(object: object, prototype: object | null): Patch {
  return () => {
    const former = Reflect.getPrototypeOf(object);
    Reflect.setPrototypeOf(object, prototype);
    return () => Reflect.setPrototypeOf(object, former);
  };
}

interface Case {
  readonly program: Program;
  readonly patches: readonly Patch[];
}

function linear(): nn.Linear {
  const module = new nn.Linear(2, 1);
  module.weight.detach().fill_(2);
  module.bias?.detach().fill_(1);
  return module;
}

const CASES: Readonly<Record<string, () => Case>> = {
  "methods of tensors": () => ({
    program: (x) => x.relu().add(1),
    patches: [
      put(Tensor.prototype, "relu", function (this: Tensor) {
        return this.mul(10);
      }),
    ],
  }),
  "getters of tensors": () => {
    const { weight } = linear();
    return {
      program: (x) => [x.ndim, x.length, x.add(1).ndim, weight.ndim, weight.isLeaf, x.mul(2)],
      patches: [
        getter(Tensor.prototype, "ndim", () => 77),
        getter(Tensor.prototype, "length", () => 5),
        getter(Tensor.prototype, "isLeaf", () => "perhaps"),
        getter(nn.Parameter.prototype, "ndim", () => 9),
      ],
    };
  },
  "methods of modules": () => {
    const module = linear();
    return {
      program: (x) => module.call(x).detach(),
      patches: [
        put(nn.Linear.prototype, "forward", (x: Tensor) => x.mul(0)),
        put(nn.Module.prototype, "call", () => ones([1])),
        put(module, "forward", (x: Tensor) => x.neg()),
      ],
    };
  },
  "conversions": () => ({
    program: (x) => [`${[1, 2]}`, `${{}}`, ({} as unknown as number) + 1, x.add(1)],
    patches: [
      put(Array.prototype, "join", () => "joined"),
      put(Array.prototype, "toString", () => "list"),
      put(Object.prototype, "toString", () => "object"),
      put(Object.prototype, "valueOf", () => 5),
    ],
  }),
  "callbacks": () => ({
    program: (
      x,
    ) => [[1, 2].map(Object.assign((k: number) => x.mul(k), { call: () => 99 })), [3].findLast((k) => k)],
    patches: [
      put(Function.prototype, "call", () => 88),
      put(Array.prototype, "findLast", () => "found"),
      drop(Array.prototype, "findLast"),
    ],
  }),
  "super of classes": () => {
    class First {
      static of = () => 1;
      field = 1;
      got: number;
      constructor(n: number) {
        this.got = n;
      }
      method = () => 0;
      double(n: number): number {
        return 2 * n;
      }
      get half(): number {
        return this.got / 2;
      }
      set half(n: number) {
        this.got = 2 * n;
      }
    }
    class Second {
      static of = () => 2;
      field = 2;
      got: number;
      more = 5;
      constructor(n: number) {
        this.got = -n;
      }
      double(n: number): number {
        return -2 * n;
      }
      get half(): number {
        return -this.got;
      }
      set half(n: number) {
        this.got = n;
      }
      absent(): number {
        return 1;
      }
    }
    class Child extends First {
      static override of = () => 3;
      static parent(): number {
        return super.of();
      }
      constructor() {
        super(4);
      }
      override double(n: number): number {
        return super.double(n) + 1;
      }
      all(): unknown[] {
        const first = super.half;
        super.half = 3;
        return [first, this.got, this.double(5), Reflect.has(First.prototype, "absent")];
      }
    }
    class Implicit extends First {}
    const child = new Child();
    return {
      program: (x) => [child.all(), Child.parent(), new Child().got, new Implicit(3).field, x.add(1)],
      patches: [
        parent(Child.prototype, Second.prototype),
        parent(Child, Second),
        parent(Implicit, Second),
        parent(Child.prototype, null),
      ],
    };
  },
  "objects that inherit from tensors": () => {
    const heir: object = Object.create(ones([1]));
    return {
      program: (x) => ["add" in heir, heir instanceof Tensor, "own" in heir, x.add(1)],
      patches: [put(heir, "own", 1), parent(heir, null), parent(heir, tensor([2]))],
    };
  },
  "regular expressions": () => ({
    program: (x) => ["a1b2".replace(/\d/g, "#"), /b/.test("abc"), "a,b".split(/,/), x.add(1)],
    patches: [
      put(RegExp.prototype, "exec", () => null),
      put(RegExp.prototype, "test", () => "no"),
      put(RegExp.prototype, Symbol.split, () => ["split"]),
      put(RegExp.prototype, Symbol.replace, () => "replaced"),
      drop(RegExp.prototype, "exec"),
    ],
  }),
  "strings": () => ({
    program: (x) => ["abc".slice(1), "abc".includes("b"), "a".repeat(2), x.add(1)],
    patches: [
      put(String.prototype, "slice", () => "slice"),
      put(String.prototype, "includes", () => 5),
      drop(String.prototype, "repeat"),
    ],
  }),
  "numbers and objects": () => ({
    program: (x) => [Math.floor(2.5), x.mul(Math.sqrt(4)), Object.keys({ a: 1 }), JSON.stringify({ b: [1] })],
    patches: [
      put(Math, "floor", () => 77),
      put(Math, "sqrt", () => 3),
      put(Object, "keys", () => ["key"]),
      put(Object.prototype, "toJSON", () => "json"),
      put(JSON, "stringify", () => "text"),
    ],
  }),
  "what everything inherits": () => ({
    program: (x) => {
      const o: { inherited?: number; written?: number; z?: number } = {}, keys: string[] = [];
      const { z = 3 } = o;
      o.written = 5;
      for (const key in o) keys.push(key);
      for (const key in [7]) keys.push(key);
      return [o.inherited, z, keys, o.written, "inherited" in o, (5 as typeof o).inherited, x.add(1)];
    },
    patches: [
      put(Object.prototype, "inherited", 7),
      put(Object.prototype, "z", 9),
      put(Array.prototype, "more", 1),
      accessor(Object.prototype, "written", () => 4),
    ],
  }),
};

/** Returns the results of a program before, during and after each change, twice. */
function observe(program: Program, patches: readonly Patch[]): unknown[] {
  const seen: unknown[] = [];
  const run = () => {
    try {
      seen.push(shown(program(tensor([1, -2], { dtype: "float32" }))));
    } catch (error) {
      seen.push(`${error}`);
    }
  };
  run();
  for (const patch of patches) {
    const undo = patch();
    try {
      run();
      run();
    } finally {
      undo();
    }
    run();
  }
  return seen;
}

function shown(value: unknown): unknown {
  if (value instanceof Tensor) return value.tolist();
  return Array.isArray(value) ? value.map(shown) : value;
}

for (const [name, make] of Object.entries(CASES)) {
  Deno.test(`replaced builtins are detected: ${name}`, () => {
    const before = faults();
    const plain = make(), compiled = make();
    const expected = observe(plain.program, plain.patches);
    assertEquals(observe(compile(compiled.program, { backend: "eager" }), compiled.patches), expected);
    // Replaced before anything is compiled
    for (const i of plain.patches.keys()) {
      const one = make(), other = make(), [patch, again] = [one.patches[i], other.patches[i]];
      assert(patch && again);
      const first = (program: Program, change: Patch) => {
        const undo = change();
        try {
          return observe(program, []);
        } finally {
          undo();
        }
      };
      assertEquals(first(compile(other.program, { backend: "eager" }), again), first(one.program, patch));
    }
    assertEquals(faults(), before);
  });
}

Deno.test("replaced builtins do not interfere with the parser, and capture runs none of them", () => {
  let calls = 0;
  const poison = () => {
    calls++;
    throw new Error("a builtin of the program");
  };
  const patches = [
    put(RegExp.prototype, "exec", poison),
    put(String.prototype, "charCodeAt", poison),
    put(String.prototype, "replace", poison),
    put(Array.prototype, "indexOf", poison),
    put(Array.prototype, "sort", poison),
    put(Object.prototype, "enumerableForAll", 1),
  ];
  const x = ones([2]);
  x.add(1).mul(2);
  for (let n = 0; n < 3; n++) {
    const fn: (x: Tensor) => Tensor = new Function(
      `return (x) => { let s = x.add(${n}); return s.mul(2); }`,
    )();
    // Plans that the tensor library makes for an operation are not compared.
    for (const k of [n, 2]) x.add(k).mul(k);
    const c = capture(fn);
    // Nor what it prepares for one that has become hot.
    const result = config.patch({ inductor: { tier: "wasm" } }, () => {
      const undo = patches.map((patch) => patch());
      try {
        return c.run(x);
      } finally {
        for (let i = undo.length - 1; i >= 0; i--) undo[i]?.();
      }
    });
    assertEquals([result.tolist(), c.ops()], [[2 * n + 2, 2 * n + 2], [["add", "mul"]]]);
    assertEquals(statusOf(c.run)?.uncompiled, []);
  }
  assertEquals(calls, 0);
});

/** Returns the output of a program that runs by itself, and its warnings; `compile` and others are imported. */
async function printed(program: string): Promise<readonly [output: unknown, warnings: string]> {
  const script = `
    import { arange, compile, compiler, DynError, manualSeed, nn, ones, optim, Tensor, tensor } from ${
    JSON.stringify(new URL("../mod.ts", import.meta.url).href)
  };
    ${program}`;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", "--config", new URL("../deno.json", import.meta.url).pathname, script],
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assert(success, text(stderr));
  return [JSON.parse(text(stdout)), text(stderr)];
}

Deno.test("permanently replaced builtins leave functions uncompiled, which is reported", async () => {
  const [output, warnings] = await printed(`
    Object.defineProperty(Array.prototype, "copyWithin", { value: () => "replaced", configurable: false, writable: false });
    const f = compile((x) => [x.add(1).tolist(), [1].copyWithin(0)], { backend: "eager" });
    const found = [f(ones([1])), compiler.status(f).uncompiled[0].reason.id];
    for (const key of ["value", "return"]) {
      Object.defineProperty(Object.prototype, key, { __proto__: null, value: "patched" });
      const arrow = compile((k) => k + 1, { backend: "eager" }); found.push(arrow(2), arrow.prototype !== "patched");
    }
    console.log(JSON.stringify(found));`);
  assertEquals(output, [[[2], "replaced"], "GB0027", 3, true, 3, true]);
  const because =
    "compiled functions run uncompiled, because value of Object.prototype was replaced permanently";
  assert(warnings.includes(because), warnings);
  assert(warnings.includes("copyWithin of Array.prototype was replaced permanently"), warnings);
});

Deno.test("beside an element that all arrays inherit forever, known operations run, and others are refused", async () => {
  const [output, warnings] = await printed(`
    const x = arange(4).reshape([2, 2]).float(), weight = x.clone().requiresGrad_();
    const known = [
      (x) => x.add(1).mul(x).sum().item(), (x) => x.add_(0).neg().tolist(), (x) => \`\${x.permute([1, 0])}\`,
      (x) => x.where(x.gt(1), x.neg()).toTypedArray().join(), (x) => x.reshape([-1]).expand([2, 4]).tolist(),
    ];
    const other = [
      (x) => x.div(3.5), (x) => tensor([1, 2]), (x) => x.at(0), (x) => weight.add(1), (x) => weight.sum().backward(),
      (x) => x.softmax(0), (x) => x.add(x.long()),
    ];
    const compiled = known.map((program) => compile(program, { backend: "eager" }));
    const [expected, again] = [known, compiled].map((all) => all.map((program) => program(x)));
    const sets = new Set();
    const defining = compile((x) => {
      let y = x.add(1);
      for (let i = 0; i < 50; i++) {
        if (i === 2) for (let at = 0; at < 50; at++) Object.defineProperty(Array.prototype, at, { set: () => void sets.add(at) });
        if (i % 10 === 1) y = y.mul(x);
      }
      return y.sum().item();
    }, { backend: "eager" });
    const sum = defining(x);
    const late = [...known, ...compiled].map((program) => program(x));
    const refused = other.map((program) => {
      try {
        return program(x);
      } catch (error) {
        return error instanceof DynError && error.message.includes("permanently defined Array.prototype[0]");
      }
    });
    Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify([expected, again, late, refused, sum, sets.size])));`);
  assert(Array.isArray(output));
  const [expected, again, late, refused, ...rest] = output;
  assertEquals([again, late], [expected, [...expected, ...expected]]);
  // The sum of (x + 1) · x⁵ for x of 0, 1, 2 and 3
  assertEquals([refused, ...rest], [[true, true, true, true, true, true, true], 2 + 96 + 972, 0]);
  assert(
    warnings.includes("compiled functions run uncompiled, because 0 of Array.prototype was replaced"),
    warnings,
  );
});

Deno.test("methods replaced before the first capture are the program's", async () => {
  const [output] = await printed(`
    const replace = (owner, name, by) => {
      const former = owner[name];
      owner[name] = function (...given) { return by(former.apply(this, given)); };
    };
    for (const name of ["add", "detach", "at", "numel", "toString"]) {
      replace(Tensor.prototype, name, (found) => typeof found === "string" ? "text" : found * 10);
    }
    replace(nn.Module.prototype, "call", () => "called");
    Object.defineProperty(Tensor.prototype, "ndim", { get: () => 77 });
    const layer = new nn.ReLU(), x = ones([1]);
    const programs = [(x) => x.add(2), (x) => x.detach(), (x) => x.at(0), (x) => x.numel(), (x) => String(x),
      (x) => layer.call(x), (x) => x.ndim];
    const shown = (wrap) => programs.map((program) => wrap(program)(x));
    console.log(JSON.stringify([shown((program) => compile(program, { backend: "eager" })), shown((program) => program)]));`);
  const expected = [30, 10, 10, 10, "text", "called", 77];
  assertEquals(output, [expected, expected]);
});

Deno.test("capture works beside variables that were permanently replaced, and beside permanent additions", async () => {
  const [output, warnings] = await printed(`
    const { Date } = globalThis, Later = class extends Date { getTime() { return 1; } };
    Object.defineProperty(globalThis, "Date", { value: Later, configurable: false, writable: false });
    const made = (k) => (x) => x.mul(k).add(new globalThis.Date(7).getTime());
    const f = compile((x, g) => g(x).sum(), { backend: "eager" });
    Object.defineProperty(Array.prototype, "last", { value() { return this[this.length - 1]; } });
    Object.defineProperty(String.prototype, "twice", { get() { return this + this; } });
    Object.defineProperty(Error, "kinds", { value: { own: 1 }, enumerable: true });
    Object.defineProperty(Map.prototype, Symbol("mine"), { value: 3 });
    Object.defineProperty(Function.prototype, "times", { writable: true, value(n) {
      return (x) => { for (let i = 0; i < n; i++) x = this(x); return x; };
    } });
    const added = (x, k) => [x.mul([1, k].last()), "a".twice, Error.kinds.own, Object.keys(Error).at(-1),
      ((y) => y.add(1)).times(k)(x), Object.getOwnPropertySymbols(Map.prototype).length,
      Object.getOwnPropertyNames(Array.prototype).includes("last")];
    const g = compile(added, { backend: "eager" });
    const shown = (call, k) => call(ones([1]), k).map((each) => each instanceof Tensor ? each.tolist() : each);
    const seen = [[shown(added, 1), shown(g, 1)], [shown(added, 2), shown(g, 2)]];
    Function.prototype.times = (n) => (x) => x.mul(10 * n);
    seen.push([shown(added, 2), shown(g, 2)]);
    console.log(JSON.stringify([f(ones([2]), made(1)).item(), f(ones([2]), made(2)).item(), seen,
      compiler.status(f).uncompiled, compiler.status(g).uncompiled]));`);
  const found = (last: number, times: number) => {
    const each = [[last], "aa", 1, "kinds", [times], 3, true];
    return [each, each];
  };
  assertEquals([output, warnings], [[4, 6, [found(1, 2), found(2, 3), found(2, 20)], [], []], ""]);
});

Deno.test("programs that have frozen all builtins train, plainly and compiled", async () => {
  const [output, warnings] = await printed(`
    const frozen = new Set();
    const freeze = (value) => {
      if ((typeof value !== "object" || value === null) && typeof value !== "function") return;
      if (value === globalThis || frozen.has(value)) return;
      frozen.add(Object.freeze(value));
      for (const key of Reflect.ownKeys(value)) {
        const { value: held, get, set } = Reflect.getOwnPropertyDescriptor(value, key);
        [held, get, set].forEach(freeze);
      }
      freeze(Reflect.getPrototypeOf(value));
    };
    const global = (name) => Reflect.getOwnPropertyDescriptor(globalThis, name).value;
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      if (/^(?!Buffer|Deno)[A-Z]/.test(name) && /native code/.test(String(global(name)))) freeze(global(name));
    }
    for (const each of [[].values(), new Map().values(), new Set().values(), "".matchAll(/x/g), (function* () {})()]) {
      freeze(Reflect.getPrototypeOf(each));
    }
    const trained = (wrap) => {
      manualSeed(1);
      const model = new nn.Sequential(new nn.Linear(3, 4), new nn.Tanh(), new nn.Linear(4, 1));
      const optimizer = new optim.Adam(model.parameters());
      const step = wrap((x) => {
        optimizer.zeroGrad();
        const sizes = new Map([["loss", model.forward(x).square().mean()]]);
        sizes.get("loss").backward();
        optimizer.step();
        return [...sizes.values()];
      });
      const losses = [0, 1, 2].map(() => step(ones([2, 3]))[0].item());
      const { uncompiled } = compiler.status(step) ?? { uncompiled: [] };
      let said = "";
      try {
        step(ones([2, 5]));
      } catch (error) {
        said = error.constructor.name;
      }
      return [losses, said, uncompiled];
    };
    console.log(JSON.stringify([trained((step) => step), trained((step) => compile(step, { backend: "eager" }))]));`);
  assert(Array.isArray(output));
  const [plain, compiled] = output;
  assert(plain[0][0] > plain[0][2], JSON.stringify(plain));
  assertEquals([plain, compiled, warnings], [[plain[0], "DynError", []], plain, ""]);
});

Deno.test("wrong replacements of array methods do not hinder closures after breaks", () => {
  const look = compiler.disable(() => {});
  const scaled = (start: number) => {
    let by = start;
    return (x: Tensor) => x.mul(by++);
  };
  const x = tensor([1.5], { dtype: "float32" });
  for (const name of ["map", "filter", "entries", "push", "forEach", "some"] as const) {
    const method: unknown = Array.prototype[name];
    const program = (x: Tensor, fn: (x: Tensor) => Tensor, list: readonly number[]) => {
      let calls = 0;
      const counted = (x: Tensor) => {
        calls++;
        look();
        return fn(x).add(calls);
      };
      class Local {
        #calls = calls;
        get calls() {
          return this.#calls;
        }
      }
      const found: unknown = Reflect.apply(Reflect.get(list, name), list, [(n: number) => n > 1]);
      return [counted(x).item(), counted(x).item(), calls, new Local().calls, typeof found].join();
    };
    const compiled = compile(program, { backend: "eager" }), before = faults();
    for (const replaced of [method, () => [42], () => 42, method]) {
      const takeBack = put(Array.prototype, name, replaced)();
      let shown: string[];
      try {
        shown = [program(x, scaled(2), [1, 2]), compiled(x, scaled(2), [1, 2])];
      } finally {
        takeBack();
      }
      assertEquals(shown[1], shown[0], name);
    }
    assertEquals(faults(), before);
  }
});

Deno.test("results of array methods have their own elements, even if the program gives all arrays a setter", () => {
  const program = (x: Tensor) => {
    Object.defineProperty(Array.prototype, "1", { get: () => "inherited", configurable: true });
    try {
      return [
        x.item(),
        [1, 2, 3].map((n) => n + 1),
        [1, 2, 3].filter((n) => n > 1),
        [1, 2].flatMap((n) => [n, n]),
      ];
    } finally {
      Reflect.deleteProperty(Array.prototype, "1");
      Array.prototype.length = 0;
    }
  };
  const compiled = compile(program, { backend: "eager" }), x = ones([1]);
  assertEquals([compiled(x), compiled(x)], [program(x), program(x)]);
});

Deno.test("the length of the prototype of arrays is the program's", () => {
  const program = (x: Tensor) => [Array.prototype.length, x.add(1).item(), [3].length];
  const compiled = compile(program, { backend: "eager" }), x = ones([1]), found: unknown[] = [];
  for (const length of [0, 3, 0]) {
    Array.prototype.length = length;
    try {
      found.push(compiled(x));
    } finally {
      Array.prototype.length = 0;
    }
  }
  assertEquals(found, [[0, 2, 1], [3, 2, 1], [0, 2, 1]]);
});

Deno.test("adding to the longest list throws where the program catches it", () => {
  const program = (x: Tensor, list: string[]) => {
    list.push();
    let caught = "";
    try {
      list.push("x");
    } catch (error) {
      caught = `${error}`;
    }
    return [caught, list.length, x.add(1).item()];
  };
  const compiled = compile(program, { backend: "eager" });
  const longest = () => Object.assign([] as string[], { length: 2 ** 32 - 1 });
  for (const list of [longest, longest]) {
    assertEquals(compiled(ones([1]), list()), program(ones([1]), list()));
  }
});

Deno.test("a replaced function of Math or of Object leaves the others in the graph", () => {
  const restore = [put(Math, "random", () => 0.5)(), put(Object, "values", () => [1, 2])()];
  try {
    const run = (x: Tensor) =>
      x.mul(Math.max(2, Math.floor(3.5)) * Math.random()).add(
        Object.keys({ a: 1 }).length + Object.values({}).length,
      );
    const compiled = compile(run, { backend: "eager", fullgraph: true });
    assertEquals([compiled(ones([1])).tolist(), run(ones([1])).tolist()], [[4.5], [4.5]]);
  } finally {
    for (const each of restore) each();
  }
});
