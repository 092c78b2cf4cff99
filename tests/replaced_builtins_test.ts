/**
 * Every function of the builtins and every global variable that holds them, replaced by one that throws while a
 * compiled function is called: builtins that the program itself does not use must not be called, whether the call is
 * served by an existing version or compiles.
 */
import { assert, assertEquals } from "@std/assert";
import {
  arange,
  autograd,
  cat,
  compile,
  config,
  fromTypedArray,
  manualSeed,
  nn,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import { fingerprintText } from "../lib/base/fingerprint.ts";
import { savedTensorsHooks } from "../lib/autograd/saved_hooks.ts";
import { sampleBySeed } from "./support/sampling.ts";

const { defineProperty, deleteProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;

/** Builtins whose functions programs replace. */
const NAMES = [
  "Object",
  "Function",
  "Array",
  "String",
  "Number",
  "Symbol",
  "Math",
  "JSON",
  "Reflect",
  "RegExp",
  "Map",
  "Set",
  "WeakMap",
  "WeakSet",
  "WeakRef",
  "Promise",
  "Iterator",
  "Error",
  "Date",
  "ArrayBuffer",
  "Uint8Array",
  "Float32Array",
  "BigInt64Array",
  "Int32Array",
  "Uint32Array",
  "Float64Array",
  "DataView",
  "performance",
] as const;

interface Method {
  readonly name: string;
  readonly object: object;
  readonly key: PropertyKey;
  readonly descriptor: PropertyDescriptor;
}

const METHODS: readonly Method[] = NAMES.flatMap((name): Method[] => {
  const value: unknown = Reflect.get(globalThis, name);
  const holders: [string, unknown][] = [[name, value]];
  const variable: Method = {
    name: `globalThis.${name}`,
    object: globalThis,
    key: name,
    descriptor: getOwnPropertyDescriptor(globalThis, name) ?? {},
  };
  if (typeof value === "function") holders.push([`${name}.prototype`, value.prototype]);
  if (name === "Uint8Array") {
    holders.push(["TypedArray", Object.getPrototypeOf(Uint8Array)]);
    holders.push(["TypedArray.prototype", Object.getPrototypeOf(Uint8Array.prototype)]);
  }
  const methods = holders.flatMap(([title, object]): Method[] => {
    if ((typeof object !== "object" || object === null) && typeof object !== "function") return [];
    return ownKeys(object).flatMap((key): Method[] => {
      const descriptor = getOwnPropertyDescriptor(object, key) ?? {};
      const isMethod = descriptor.configurable && typeof descriptor.value === "function" &&
        key !== "constructor";
      return isMethod ? [{ name: `${title}.${String(key)}`, object, key, descriptor }] : [];
    });
  });
  return [variable, ...methods];
});

/** Those that a run tries with calls that compile, or that take long. */
const DRAWN = sampleBySeed(METHODS, Math.ceil(METHODS.length / 4));

const program = (x: Tensor) => {
  const doubled = x.mul(2);
  return { sum: doubled.add(1).sum(), parts: [doubled, x.neg()], size: x.shape[0] };
};

type Program = typeof program;

/** Returns the result of a call while a builtin method throws; results are read after it is restored. */
function during({ name, object, key, descriptor }: Method, call: () => ReturnType<Program>): unknown {
  let result: ReturnType<Program> | null = null, thrown: unknown = null;
  const replaced = () => {
    throw new TypeError(`${name} was called`);
  };
  defineProperty(object, key, { ...descriptor, value: replaced });
  try {
    result = call();
  } catch (error) {
    thrown = error;
  }
  defineProperty(object, key, descriptor);
  if (result === null) return `${thrown}`;
  return [result.sum.tolist(), result.parts.map((part) => part.tolist()), result.size];
}

const x = tensor([1.5, 2]), y = tensor([1.5, 2, -3]);

for (const backend of ["eager", "aot_eager", "inductor"]) {
  Deno.test(`replaced builtins do not interfere with a compiled call: ${backend}`, () => {
    const compiled = compile(program, { backend, dynamic: false });
    for (const run of [program, compiled]) run(x);
    const wanted = METHODS.map((method) => during(method, () => program(x)));
    const found = METHODS.map((method) => during(method, () => compiled(x)));
    // Where an uncompiled operation fails because of a replacement, the compiled one may succeed.
    const works = METHODS.map((_, i) => typeof wanted[i] !== "string");
    METHODS.forEach(({ name }, i) => works[i] && assertEquals(found[i], wanted[i], name));
    assert(works.filter((each) => each).length > 0.95 * METHODS.length);
  });
}

Deno.test("guards of values of all kinds and of sizes call no replaced builtin", () => {
  const facts = {
    zero: 0,
    negative: -0,
    none: NaN,
    text: "a",
    list: [1, 2],
    inner: { large: 2n, missing: null },
  };
  const guarded = (x: Tensor, { zero, negative, none, text, list, inner }: typeof facts) => {
    const kept = zero === 0 && 1 / negative < 0 && none !== none && text === "a" && list[1] === 2;
    const more = kept && inner.large === 2n && inner.missing === null ? 2 : 3;
    const parts = [x.reshape([-1, 2]).mul(more), x.slice(0, 3, 2), x.unfold(0, 2, 3)];
    return { sum: x.sum(), parts, size: x.shape[0] };
  };
  const compiled = compile(guarded, { backend: "eager", dynamic: true });
  const [six, eight, ten] = [6, 8, 10].map((n) => arange(n).float());
  assert(six && eight && ten);
  for (const each of [six, eight]) compiled(each, facts);
  const unlike: Partial<typeof facts>[] = [{ zero: -0 }, { zero: 1 }, { negative: 0 }, { none: 0 }, {
    text: "b",
  }];
  const others = [{}, ...unlike].map((change) => ({ ...facts, ...change }));
  for (const method of DRAWN) {
    for (const of of others) {
      const wanted = during(method, () => guarded(ten, of));
      if (typeof wanted !== "string") {
        assertEquals(during(method, () => compiled(ten, of)), wanted, method.name);
      }
    }
  }
  // Nor one that says that all values are alike
  const changes = [[Object, "is", () => true], [Number, "isNaN", () => true], [
    Math,
    "floor",
    () => 1,
  ]] as const;
  for (const [object, key, value] of changes) {
    const descriptor = getOwnPropertyDescriptor(object, key) ?? {};
    defineProperty(object, key, { ...descriptor, value });
    const found = others.map((of) => compiled(ten, of).parts);
    defineProperty(object, key, descriptor);
    const texts = (each: readonly (readonly Tensor[])[]) => each.map((parts) => parts.map((p) => p.tolist()));
    assertEquals(texts(found), texts(others.map((of) => guarded(ten, of).parts)), key);
  }
});

Deno.test("replaced builtins do not interfere with compiling", () => {
  program(y);
  for (const method of DRAWN) {
    const compiled = compile(program, { backend: "eager", dynamic: false });
    compiled(x);
    const wanted = during(method, () => program(y)), found = during(method, () => compiled(y));
    if (typeof wanted !== "string") assertEquals(found, wanted, method.name);
  }
});

Deno.test("first eager calls beside an array method that does nothing", () => {
  const ops = [
    "abs",
    "acos",
    "asin",
    "atan",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "log",
    "log1p",
    "sin",
  ] as const;
  const methods = METHODS.filter(({ object }) => object === Array.prototype);
  const first = (size: number, op: (typeof ops)[number]) => {
    const x = tensor(Array.from({ length: size }, (_, k) => k / (2 * size)), { dtype: "float64" });
    const result = x[op]().add(1).reshape([1, size]).sum(0);
    return [result.tolist(), `${result}`];
  };
  for (const [k, { name, object, key, descriptor }] of methods.entries()) {
    const op = ops[k % ops.length] ?? "abs", size = 2 + k;
    defineProperty(object, key, { ...descriptor, value: () => undefined });
    let found: unknown;
    try {
      found = first(size, op);
    } catch (error) {
      found = `${error}`;
    } finally {
      defineProperty(object, key, descriptor);
    }
    assertEquals(found, first(size, op), name);
  }
});

Deno.test("first eager calls beside builtins that are deleted, computed or computed differently", () => {
  const changes: readonly (readonly [
    op: "sinh" | "tan" | "log2" | "exp2",
    object: object,
    key: PropertyKey,
    PropertyDescriptor | null,
  ])[] = [
    ["sinh", Array.prototype, "toSorted", null],
    ["tan", Uint8Array, "fromBase64", { get: () => explode("fromBase64") }],
    ["log2", Set.prototype, "size", { get: () => explode("size") }],
    ["exp2", Object.prototype, "dtype", { value: "int64" }],
  ];
  const large = arange(20_000).div(20_000);
  for (const [op, object, key, descriptor] of changes) {
    const own = getOwnPropertyDescriptor(object, key);
    if (descriptor) defineProperty(object, key, { ...descriptor, configurable: true });
    else deleteProperty(object, key);
    let found: Tensor;
    try {
      found = large[op]();
    } finally {
      if (own) defineProperty(object, key, own);
      else deleteProperty(object, key);
    }
    assertEquals(
      found.slice(0, 5, 7).tolist(),
      large.slice(0, 5, 7)[op]().tolist(),
      `${String(key)} beside ${op}`,
    );
  }
});

Deno.test("eager calls of further sizes run wherever those of known sizes do", () => {
  const side = 130,
    sized = (rows: number) => fromTypedArray(new Float32Array(rows * side).fill(1.5), [rows, side]);
  const known = sized(side), [row] = known.unbind(0);
  assert(row);
  const call = (x: Tensor) => x.mul(row).shape[0];
  // A class, and its first further call
  assertEquals([call(known), call(sized(side + 1))], [side, side + 1]);
  let replaced = 0;
  for (const [k, { name, object, key, descriptor }] of DRAWN.entries()) {
    const size = side + 2 + k, next = sized(size);
    let found: unknown, first: unknown;
    defineProperty(object, key, { ...descriptor, value: () => explode(name) });
    try {
      found = call(known);
      first = call(next);
    } catch (error) {
      first = `${error}`;
    } finally {
      defineProperty(object, key, descriptor);
    }
    if (found === undefined) continue;
    replaced++;
    assertEquals(first, size, name);
  }
  assert(replaced > 0.8 * DRAWN.length, `Expected most of ${DRAWN.length} but found ${replaced}`);
});

const explode = (name: string): never => {
  throw new TypeError(`${name} is the program's`);
};

Deno.test("WebAssembly of a new size, and names of compiled code, call no replaced builtin", () => {
  const methods = METHODS.filter(({ object }) => object !== globalThis && object !== Function.prototype);
  const compiled = compile((x: Tensor) => x.mul(3).add(1), { dynamic: true });
  const name = fingerprintText("kernel");
  config.patch({ inductor: { tier: "wasm" } }, () => {
    for (const size of [5, 6]) compiled(arange(size).float());
    for (const [k, method] of methods.entries()) {
      const next = arange(7 + k).float();
      let found: Tensor | null = null, called = "";
      defineProperty(method.object, method.key, {
        ...method.descriptor,
        value: () => explode(method.name),
      });
      try {
        found = compiled(next);
        // Those that only lists of numbers have; the others are compared before a name is computed
        if (method.name.startsWith("TypedArray.of")) assertEquals(fingerprintText("kernel"), name);
      } catch (error) {
        called = `${error}`;
      } finally {
        defineProperty(method.object, method.key, method.descriptor);
      }
      assert(found, `${method.name}: ${called}`);
      assertEquals(found.at(6 + k).item(), 3 * (6 + k) + 1, method.name);
    }
  });
});

/** Builtins of every kind, with the objects that no variable names. */
const OBJECTS: readonly (readonly [string, unknown])[] = [
  ...[...NAMES, "BigInt", "SharedArrayBuffer", "Float16Array", "Int16Array", "Int8Array", "TextEncoder"]
    .flatMap((name): (readonly [string, unknown])[] => {
      const value: unknown = Reflect.get(globalThis, name);
      return [[name, value], [`${name}.prototype`, typeof value === "function" ? value.prototype : null]];
    }),
  ["TypedArray", Object.getPrototypeOf(Uint8Array)],
  ["TypedArray.prototype", Object.getPrototypeOf(Uint8Array.prototype)],
  ["WebAssembly.Memory.prototype", WebAssembly.Memory.prototype],
  ["iterators of arrays", Object.getPrototypeOf([].values())],
  ["iterators of maps", Object.getPrototypeOf(new Map().values())],
  ["iterators of sets", Object.getPrototypeOf(new Set().values())],
  ["helpers of iterators", Object.getPrototypeOf([].values().map(() => 0))],
];

type Property = readonly [name: string, object: object, key: PropertyKey, descriptor: PropertyDescriptor];

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const PROPERTIES = OBJECTS.flatMap(([name, object]): Property[] => {
  if (!isObject(object) && typeof object !== "function") return [];
  return ownKeys(object).flatMap((key): Property[] => {
    const descriptor = getOwnPropertyDescriptor(object, key);
    const isAsked = descriptor?.configurable && key !== "constructor" && key !== "name" && key !== "length";
    const isUsed = descriptor?.get !== undefined || typeof descriptor?.value === "function";
    return descriptor && isAsked && isUsed ? [[`${name}.${String(key)}`, object, key, descriptor]] : [];
  });
});

/** Getters of what accesses memory, for all typed arrays and for those of one type. */
const ACCESSORS = [Uint8Array, Float32Array, Int32Array, BigInt64Array, null].flatMap((of) =>
  ["length", "buffer", "byteLength", "byteOffset"].map((key): Property => {
    const prototype = of?.prototype ?? Object.getPrototypeOf(Uint8Array.prototype);
    const descriptor = getOwnPropertyDescriptor(prototype, key);
    return [`${of?.name ?? "TypedArray"}.${key}`, prototype, key, descriptor ?? { configurable: true }];
  })
);

/** Something everyday that calls no builtin itself. */
type Use = () => unknown;

function everydayUses(): Readonly<Record<string, Use>> {
  const a = tensor([1, 2], { dtype: "float32" }), layer = new nn.Linear(2, 2);
  layer.weight.detach().fill_(0.5);
  const compiled = compile((t: Tensor) => t.mul(2).add(1)),
    model = compile((t: Tensor) => layer.call(t).sum());
  const broken = compile((t: Tensor) => t.sum().item() > 1 ? t.neg() : t);
  const numbers = (dtype: "int64" | "uint8" | "bfloat16" | "float16") => () =>
    tensor([1, 0], { dtype }).add(tensor([1, 1], { dtype })).tolist();
  return {
    eager: () => a.mul(3).tolist(),
    item: () => a.sum().item(),
    size: () => tensor([[1.5, 2], [3, 4]]).matmul(a).tolist(),
    parts: () => cat([a, a]).view(2, 2).tolist(),
    random: () => manualSeed(3) && randn([2]).tolist(),
    int64: numbers("int64"),
    uint8: numbers("uint8"),
    bfloat16: numbers("bfloat16"),
    float16: numbers("float16"),
    compiled: () => compiled(a).tolist(),
    model: () => model(a).item(),
    broken: () => broken(a).tolist(),
    text: () => a.toString(),
    gradient: () => {
      const w = tensor([1, 2], { dtype: "float32", requiresGrad: true });
      w.mul(w).sum().backward();
      return w.grad?.tolist();
    },
    asked: () => {
      const w = tensor([1, 2], { dtype: "float32", requiresGrad: true });
      return autograd.grad(w.mul(w).sum(), w)[0]?.tolist();
    },
  };
}

function replacement(descriptor: PropertyDescriptor, value: () => unknown): PropertyDescriptor {
  const { enumerable = false } = descriptor, isMethod = descriptor.value !== undefined;
  return isMethod
    ? { value, enumerable, configurable: true, writable: true }
    : { get: value, enumerable, configurable: true };
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_, each) => typeof each === "bigint" ? `${each}n` : each);
}

Deno.test("everyday uses beside builtins and getters that throw or give nothing", () => {
  const uses = Object.entries(everydayUses()), plain = uses.map(([, use]) => shown([use(), use()][1]));
  const throwing = () => {
    throw new TypeError("A replaced builtin was called");
  };
  const chosen = [...ACCESSORS, ...sampleBySeed(PROPERTIES, 40)];
  const differences: string[] = [];
  for (const [name, object, key, descriptor] of chosen) {
    for (const value of [throwing, () => undefined]) {
      uses.forEach(([title, use], k) => {
        const isOwn = getOwnPropertyDescriptor(object, key) !== undefined;
        defineProperty(object, key, replacement(descriptor, value));
        let found: unknown, thrown: unknown;
        try {
          found = use();
        } catch (error) {
          thrown = error;
        }
        if (isOwn) defineProperty(object, key, descriptor);
        else deleteProperty(object, key);
        const result = thrown === undefined ? shown(found) : String(thrown);
        if (result !== plain[k]) differences.push(`${title} beside ${name}: ${result}`);
      });
    }
  }
  assertEquals(differences, []);
});

Deno.test("hooks in a backward pass see the builtins that the program has", () => {
  const seen: unknown[] = [],
    mine: unknown = () => [],
    former = getOwnPropertyDescriptor(Array.prototype, "flat");
  const look = <T>(value: T): T => {
    seen.push(Array.prototype.flat === mine);
    return value;
  };
  const w = tensor([1, 2], { dtype: "float32", requiresGrad: true });
  class Twice extends autograd.Function {
    static override forward(_: autograd.FunctionContext, t: Tensor): Tensor {
      return look(t.mul(2));
    }
    static override backward(_: autograd.FunctionContext, grad: Tensor): Tensor {
      return look(grad.mul(2));
    }
  }
  w.registerHook(look);
  w.registerPostAccumulateGradHook(look);
  defineProperty(Array.prototype, "flat", { value: mine, configurable: true, writable: true });
  try {
    savedTensorsHooks(look, look, () => Twice.apply(w.mul(w)).sum()).backward();
  } finally {
    defineProperty(Array.prototype, "flat", former ?? {});
  }
  assertEquals(w.grad?.tolist(), [4, 8]);
  assertEquals(seen.length > 6 && seen.every((each) => each), true, String(seen));
});
