/**
 * Layers that are alike but for one or two facts of every kind that a layer may read, in random models: facts differ
 * between layers of a model, between models of one class, and change between calls. What a layer reuses from another
 * must not depend on a fact that only one of them has; a failure prints the seed and the facts. DYN_FACTS_SEED sets the
 * first seed, DYN_FACTS_RUNS the number of runs.
 */
import { assert, assertEquals } from "@std/assert";
import { compile, manualSeed, nn, ones, randn, Tensor, tensor, zeros } from "../mod.ts";
import { counters } from "../lib/base/logs.ts";
import { randomNumbers, testSeed } from "./support/sampling.ts";

const RUNS = Number(Deno.env.get("DYN_FACTS_RUNS") ?? 10);
const SEED = Number(Deno.env.get("DYN_FACTS_SEED") ?? testSeed() % 1e6);
const WIDTH = 2, LAYERS = 3, MODELS = 2, CALLS = 7;

type Read = (value: never, x: Tensor) => unknown;
type Random = <T>(from: readonly T[]) => T;

/** A kind of value: the values, in-place changes of one, and ways to read it. */
interface Kind {
  readonly values: readonly (() => unknown)[];
  readonly changes?: readonly ((value: never) => unknown)[];
  readonly reads: readonly Read[];
}

const TAG = Symbol("tag"), OTHER = Symbol("tag"), KEY = {};
const TABLE: Readonly<Record<string, number>> = { a: 2, b: 5 };
const scaling = (by: number) => (x: Tensor): Tensor => x.mul(by);

class Small {
  constructor(readonly by: number) {}
  value(): number {
    return this.by;
  }
  get twice(): number {
    return this.by * 2;
  }
}
class Large extends Small {
  override value(): number {
    return super.value() + 10;
  }
}
const classWith = (by: number) =>
  class {
    static factor = by;
    value(): number {
      return by + 1;
    }
  };
class Hidden {
  #by: number;
  constructor(by: number) {
    this.#by = by;
  }
  value(): number {
    return this.#by;
  }
  set by(value: number) {
    this.#by = value;
  }
}

type Nested = { a?: { b: number }; c?: number; [TAG]?: number };
type Accessed = { factor: number };

const KINDS = {
  number: {
    values: [2, 3, 0, -0, NaN, 0.5, -1].map((value) => () => value),
    reads: [
      (v: number) => v,
      (v: number) => v > 2,
      (v: number) => Object.is(v, -0),
      (v: number) => v ? 2 : 3,
      (v: number) => 1 / v === -Infinity ? 7 : 2,
      (v: number) => Math.max(v, 1),
      (v: number) => `${v}`.length,
      (v: number) => [4, 5, 6, 7].at(v),
      (v: number, x: Tensor) => x.pow(Number.isNaN(v) ? 2 : v === 3 ? 3 : 1),
    ],
  },
  text: {
    values: ["a", "b", "", "ab"].map((value) => () => value),
    reads: [
      (v: string) => v === "a",
      (v: string) => v.length,
      (v: string) => TABLE[v] ?? 3,
      (v: string) => v.startsWith("a"),
      (v: string) => `${v}!` === "b!",
      (v: string) => v in TABLE,
      (v: string) => v.charCodeAt(0) % 5,
      (v: string) => ({ a: 3, [v]: 4 }).a,
      (v: string) => v ? 1 : 2,
      (v: string) => {
        switch (v) {
          case "a":
            return 2;
          case "b":
            return 3;
          default:
            return 4;
        }
      },
    ],
  },
  boolean: {
    values: [() => true, () => false],
    reads: [(v: boolean) => v, (v: boolean) => v ? 2 : 5, (v: boolean) => v === false, (v: boolean) => +v],
  },
  nothing: {
    values: [() => null, () => undefined, () => 0, () => false, () => "", () => 3],
    reads: [
      (v: number | null) => v ?? 4,
      (v: unknown) => v === null,
      (v: unknown) => v === undefined,
      (v: unknown) => typeof v === "object",
      (v: unknown) => v ? 1 : 2,
      (v: unknown) => [null, undefined, 0].indexOf(v as null),
      (v: unknown) => String(v).length,
    ],
  },
  symbol: {
    values: [() => TAG, () => OTHER, () => Symbol.for("tag"), () => Symbol.iterator],
    reads: [
      (v: symbol) => v === TAG,
      (v: symbol) => v.description?.length,
      (v: symbol) => ({ [TAG]: 2, [OTHER]: 3 })[v as typeof TAG] ?? 5,
      (v: symbol) => Symbol.keyFor(v) === "tag",
      (v: symbol) => new Set([TAG, OTHER]).has(v as typeof TAG),
    ],
  },
  bigint: {
    values: [2n, 3n, 0n, -3n].map((value) => () => value),
    reads: [
      (v: bigint) => Number(v),
      (v: bigint) => v === 2n,
      (v: bigint) => Number(v % 2n),
      (v: bigint) => v > 2,
      (v: bigint) => v ? 1 : 2,
      (v: bigint) => `${v}`.length,
    ],
  },
  function: {
    values: [
      () => scaling(2),
      () => scaling(3),
      () => (x: Tensor) => x.sin(),
      () => Object.assign(scaling(2), { factor: 4 }),
      () => scaling(2).bind(null),
      () => (x: Tensor, by = 4, _more?: number) => x.add(by),
    ],
    changes: [
      (v: Accessed) => v.factor = 5,
      (v: Accessed) => Object.defineProperty(v, "name", { value: "abc" }),
    ],
    reads: [
      (v: (x: Tensor) => Tensor, x: Tensor) => v(x),
      (v: (x: Tensor) => Tensor, x: Tensor) => [x].map((each) => v(each))[0],
      (v: (x: Tensor) => Tensor, x: Tensor) => v.call(null, x),
      (v: (x: Tensor) => Tensor) => v.length,
      (v: (x: Tensor) => Tensor) => v.name.length,
      (v: Partial<Accessed>) => v.factor ?? 3,
      (v: unknown) => typeof v === "function",
    ],
  },
  class: {
    values: [() => classWith(2), () => classWith(3), () => Small, () => Large, () => Hidden],
    changes: [(v: Accessed) => v.factor = 5],
    reads: [
      (v: new (by: number) => Small) => new v(2).value(),
      (v: Partial<Accessed>) => v.factor ?? 7,
      (v: new (by: number) => Small) => new v(2) instanceof Small,
      (v: { prototype: object }) => "twice" in v.prototype,
      (v: { name: string }) => v.name === "Small",
    ],
  },
  instance: {
    values: [
      () => new Small(2),
      () => new Small(3),
      () => new Large(2),
      () => Object.create(Small.prototype),
    ],
    changes: [
      (v: object) => Object.setPrototypeOf(v, Large.prototype),
      (v: object) => Object.assign(v, { by: 6 }),
      (v: object) => Object.defineProperty(v, "value", { value: () => 9, configurable: true }),
    ],
    reads: [
      (v: Small) => v.value(),
      (v: Small) => v.twice,
      (v: Small) => v instanceof Large,
      (v: Small) => v.constructor === Small,
      (v: Small) => Object.getPrototypeOf(v) === Small.prototype,
      (v: Small) => Object.hasOwn(v, "by"),
      (v: Small) => v.value === Small.prototype.value,
    ],
  },
  private: {
    values: [() => new Hidden(2), () => new Hidden(3)],
    changes: [(v: Hidden) => v.by = 5],
    reads: [(v: Hidden) => v.value(), (v: Hidden) => v instanceof Hidden],
  },
  array: {
    values: [
      () => [1, 2, 3],
      () => [1, 2],
      () => [3, 2, 1],
      () => Object.assign([1, 2, 3], { 1: 2, extra: 4 }),
      () => {
        const holed = [1, 2, 3];
        delete holed[1];
        return holed;
      },
      () => [1, undefined, 3],
      () => Object.freeze([1, 2, 3]),
      () => [],
    ],
    changes: [
      (v: number[]) => Object.isFrozen(v) || v.push(4),
      (v: number[]) => Object.isFrozen(v) || Reflect.deleteProperty(v, 0),
      (v: number[]) => Object.isFrozen(v) || v.reverse(),
      (v: number[]) => Object.isFrozen(v) || (v[0] = 9),
      (v: number[]) => Object.isFrozen(v) || (v.length = 1),
      (v: number[]) => Object.freeze(v),
    ],
    reads: [
      (v: number[]) => v.length,
      (v: number[]) => v[1] ?? 7,
      (v: number[]) => v.at(-1),
      (v: number[]) => 1 in v,
      (v: number[]) => v.includes(undefined as never),
      (v: number[]) => v.indexOf(3),
      (v: number[]) => v.reduce((sum, each, at) => sum + (each ?? 1) * at, 2),
      (v: number[]) => {
        let sum = 1;
        for (const each of v) sum = sum * 2 + (each ?? 5);
        return sum;
      },
      (v: number[]) => {
        let count = 0;
        v.forEach(() => count++);
        return count;
      },
      (v: number[]) => Object.keys(v).length,
      (v: number[]) => v.join().length,
      (v: number[]) => Object.isFrozen(v),
      (v: number[] & { extra?: number }) => v.extra ?? 2,
      ([first = 4, , third = 5]: number[]) => first * third,
      (v: number[]) => Math.max(...v.map((each) => each ?? 8), 0),
      (v: number[]) => v.toSorted()[0],
    ],
  },
  map: {
    values: [
      () => new Map<unknown, unknown>([["a", 1], ["b", 2]]),
      () => new Map<unknown, unknown>([["b", 2], ["a", 1]]),
      () => new Map<unknown, unknown>([["a", 3]]),
      () => new Map<unknown, unknown>([[KEY, 4], [TAG, 5]]),
      () => new Map(),
    ],
    changes: [
      (v: Map<unknown, unknown>) => v.set("a", 6),
      (v: Map<unknown, unknown>) => v.delete("a"),
      (v: Map<unknown, unknown>) => v.set(KEY, 7),
    ],
    reads: [
      (v: Map<unknown, unknown>) => v.size,
      (v: Map<unknown, number>) => v.get("a") ?? 8,
      (v: Map<unknown, number>) => v.get(KEY) ?? 8,
      (v: Map<unknown, unknown>) => v.has("b"),
      (v: Map<unknown, number>) => [...v.values()].reduce((all, each) => all * 3 + each, 1),
      (v: Map<unknown, number>) => {
        for (const [key] of v) return key === "a" ? 3 : 4;
        return 5;
      },
      (v: Map<unknown, number>) => Math.max(1, ...v.values()),
    ],
  },
  set: {
    values: [
      () => new Set(["a", "b"]),
      () => new Set(["b", "a"]),
      () => new Set(["a"]),
      () => new Set([KEY]),
    ],
    changes: [
      (v: Set<unknown>) => v.add("c"),
      (v: Set<unknown>) => v.delete("a"),
      (v: Set<unknown>) => v.clear(),
    ],
    reads: [
      (v: Set<unknown>) => v.size,
      (v: Set<unknown>) => v.has("b"),
      (v: Set<unknown>) => v.has(KEY),
      (v: Set<unknown>) => [...v][0] === "a",
      (v: Set<unknown>) => v.union(new Set(["z", "a"])).size,
    ],
  },
  nested: {
    values: [
      () => ({ a: { b: 2 }, c: 3 }),
      () => ({ c: 3, a: { b: 2 } }),
      () => ({ a: { b: 4 }, c: 3 }),
      () => ({ a: undefined, c: 3 }),
      () => ({ c: 3, [TAG]: 6 }),
      () => Object.freeze({ a: { b: 2 }, c: 3 }),
      () => Object.defineProperty({ a: { b: 2 } }, "c", { value: 3 }),
      () => Object.create({ a: { b: 2 }, c: 3 }),
      () => Object.assign(Object.create(null), { a: { b: 2 }, c: 3 }),
    ],
    changes: [
      (v: Nested) => Object.isFrozen(v.a ?? KEY) || Object.assign(v.a ?? {}, { b: 7 }),
      (v: Nested) => Reflect.deleteProperty(v, "c"),
      (v: Nested) => Object.freeze(v),
      (v: Nested) => Object.preventExtensions(v),
      (v: Nested) => Reflect.set(v, "d", 1),
      (v: Nested) => Reflect.set(v, TAG, 1),
    ],
    reads: [
      (v: Nested) => v.a?.b ?? 5,
      (v: Nested) => Object.keys(v)[0] === "a",
      (v: Nested) => JSON.stringify(v).length,
      (v: Nested) => "a" in v,
      (v: Nested) => Object.hasOwn(v, "c"),
      (v: Nested) => Object.entries(v).length,
      (v: Nested) => ({ c: 1, ...v }).c,
      (v: Nested) => Object.isFrozen(v),
      (v: Nested) => Object.isExtensible(v),
      (v: Nested) => v[TAG] ?? 4,
      (v: Nested) => Reflect.ownKeys(v).length,
      (v: Nested) => Object.getPrototypeOf(v) === Object.prototype,
      (v: Nested) => {
        let count = 1;
        for (const key in v) count = count * 2 + (key === "a" ? 1 : 0);
        return count;
      },
      ({ c = 9, ...others }: Nested) => c + Object.keys(others).length,
      (v: Nested) => Object.getOwnPropertyDescriptor(v, "c")?.writable ?? 3,
    ],
  },
  accessor: {
    values: [
      () => ({
        get factor() {
          return 2;
        },
      }),
      () => ({ factor: 2 }),
      () => ({ factor: 3 }),
      () => {
        const by = 4;
        return {
          get factor() {
            return by;
          },
        };
      },
      () =>
        Object.create({
          get factor() {
            return 5;
          },
        }),
    ],
    changes: [(v: object) => Object.defineProperty(v, "factor", { get: () => 6, configurable: true })],
    reads: [
      (v: Accessed) => v.factor,
      (v: Accessed) => Object.hasOwn(v, "factor"),
      (v: Accessed) => Object.getOwnPropertyDescriptor(v, "factor")?.get === undefined,
      (v: Accessed) => ({ ...v }).factor ?? 7,
    ],
  },
  tensor: {
    values: [
      () => ones([WIDTH]),
      () => ones([WIDTH]).mul(2),
      () => ones([1, WIDTH]),
      () => ones([WIDTH, WIDTH]).t(),
      () => ones([2 * WIDTH]).slice(0, 1, 1 + WIDTH),
      () => ones([2 * WIDTH]).slice(0, 0, 2 * WIDTH, 2),
      () => zeros([WIDTH], { dtype: "float64" }),
      () => tensor([1, 2], { dtype: "int64" }),
      () => ones([WIDTH]).requiresGrad_(),
      () => new nn.Parameter(ones([WIDTH])),
      () => ones([]),
    ],
    changes: [
      (v: Tensor) => v.requiresGrad || v.mul_(3),
      (v: Tensor) => v.isLeaf && v.dtype.startsWith("float") && v.requiresGrad_(!v.requiresGrad),
    ],
    reads: [
      (v: Tensor, x: Tensor) => x.mul(v),
      (v: Tensor) => v.sum(),
      (v: Tensor) => v.dtype === "float32",
      (v: Tensor) => v.shape.length,
      (v: Tensor) => v.shape[0],
      (v: Tensor) => v.numel(),
      (v: Tensor) => v.requiresGrad,
      (v: Tensor) => v.isLeaf,
      (v: Tensor) => v.isContiguous(),
      (v: Tensor) => v.stride()[0],
      (v: Tensor) => v.storageOffset(),
      (v: Tensor) => v.grad === null,
      (v: Tensor) => v instanceof nn.Parameter,
      (v: Tensor, x: Tensor) => x.add(v.float()).detach(),
    ],
  },
  date: {
    values: [() => new Date(2), () => new Date(3)],
    changes: [(v: Date) => v.setTime(5)],
    reads: [(v: Date) => v.getTime(), (v: Date) => +v > 2],
  },
  expression: {
    values: [() => /a/, () => /b/, () => /a/i, () => /a/m],
    reads: [
      (v: RegExp) => v.test("abc"),
      (v: RegExp) => v.source === "a",
      (v: RegExp) => v.flags.length,
      (v: RegExp) => "aAa".replace(v, "").length,
      (v: RegExp) => v.lastIndex,
    ],
  },
  bytes: {
    values: [() => new Float32Array([1, 2]), () => new Float32Array([3, 2, 1]), () => new Int8Array([1, 2])],
    changes: [(v: Float32Array) => v[0] = 6],
    reads: [
      (v: Float32Array) => v.length,
      (v: Float32Array) => v[0],
      (v: Float32Array) => v.at(-1),
      (v: Float32Array) => v instanceof Float32Array,
      (v: Float32Array) => v.reduce((sum, each) => sum + each, 0),
    ],
  },
  error: {
    values: [() => new Error("a"), () => new Error("ab"), () => new TypeError("a")],
    reads: [
      (v: Error) => v.message.length,
      (v: Error) => v instanceof TypeError,
      (v: Error) => v.name.length,
    ],
  },
  proxy: {
    values: [
      () => new Proxy({ factor: 2 }, {}),
      () => new Proxy({ factor: 2 }, { get: () => 3 }),
      () => ({ factor: 2 }),
    ],
    reads: [(v: Accessed) => v.factor, (v: Accessed) => "factor" in v],
  },
} satisfies Readonly<Record<string, Kind>>;

const holdsNothing = () => null;

/** A layer that keeps facts in every place there is. */
abstract class Holder extends nn.Module {
  abstract override forward(x: Tensor): Tensor;
  fact: unknown;
  readonly [TAG]: { fact: unknown } = { fact: null };
  readonly options: { fact: unknown; deep: { fact: unknown } } = { fact: null, deep: { fact: null } };
  readonly list: unknown[] = [0, null];
  readonly map = new Map<unknown, unknown>();
  held: () => unknown = holdsNothing;
  #fact: unknown;
  readonly norm = new nn.LayerNorm(WIDTH);
  readonly weight = new nn.Parameter(randn([WIDTH, WIDTH]));
  get hidden(): unknown {
    return this.#fact;
  }
  set hidden(value: unknown) {
    this.#fact = value;
  }
}

const outside = new Map<object, unknown>(), weak = new WeakMap<object, unknown>();
const current: { layer: object | null; fact: unknown } = { layer: null, fact: null };

interface Place {
  readonly get: (layer: Holder) => unknown;
  readonly set: (layer: Holder, value: unknown) => void;
}

/** Functions that hold a value, one for each. */
const holding = new Map<unknown, () => unknown>();

function holds(layer: Holder, value: unknown): void {
  const held = holding.get(value) ?? (() => value);
  holding.set(value, held);
  layer.held = held;
}

const PLACES: Readonly<Record<string, Place>> = {
  field: { get: (l) => l.fact, set: (l, value) => l.fact = value },
  computed: { get: (l) => l[`fa${"ct"}` as "fact"], set: (l, value) => l.fact = value },
  taken: { get: ({ fact }) => fact, set: (l, value) => l.fact = value },
  symbol: { get: (l) => l[TAG].fact, set: (l, value) => l[TAG].fact = value },
  option: { get: (l) => l.options.fact, set: (l, value) => l.options.fact = value },
  deep: { get: (l) => l.options.deep.fact, set: (l, value) => l.options.deep.fact = value },
  spread: { get: (l) => ({ ...l.options }).fact, set: (l, value) => l.options.fact = value },
  entry: { get: (l) => Object.values(l.options)[0], set: (l, value) => l.options.fact = value },
  element: { get: (l) => l.list[1], set: (l, value) => l.list[1] = value },
  loop: { get: (l) => l.list.map((each) => each).at(-1), set: (l, value) => l.list[1] = value },
  value: { get: (l) => l.map.get("fact"), set: (l, value) => l.map.set("fact", value) },
  closure: { get: (l) => l.held(), set: holds },
  private: { get: (l) => l.hidden, set: (l, value) => l.hidden = value },
  module: {
    get: (l) => Reflect.get(l.norm, "fact"),
    set: (l, value) => Object.assign(l.norm, { fact: value }),
  },
  outside: { get: (l) => outside.get(l), set: (l, value) => outside.set(l, value) },
  weak: { get: (l) => weak.get(l), set: (l, value) => weak.set(l, value) },
  current: {
    get: (l) => current.layer === l ? current.fact : undefined,
    set: (l, value) => Object.assign(current, { layer: l, fact: value }),
  },
};

/** Changes of a whole layer. */
const HABITS: Readonly<Record<string, (layer: Holder, other: Holder) => unknown>> = {
  mode: (l) => l.train(!l.training),
  frozen: (l) => l.weight.requiresGrad_(!l.weight.requiresGrad),
  shared: (l, other) => Object.assign(l, { weight: other.weight }),
  hook: (l) => l.registerForwardHook((_module, _args, y) => (y as Tensor).mul(2)),
  innerHook: (l) => l.norm.registerForwardHook((_module, _args, y) => (y as Tensor).add(1)),
  method: (l) => Object.assign(l.norm, { forward: (x: Tensor) => x.sin() }),
  epsilon: (l) => Object.assign(l.norm, { eps: 0.5 }),
  more: (l) => Object.assign(l, { more: 1 }),
  written: (l) => l.weight.detach().mul_(2),
};

interface Fact {
  readonly name: string;
  readonly kind: Kind;
  readonly place: Place;
  readonly read: Read;
}

class Model extends nn.Module {
  readonly gain = new nn.Parameter(ones([WIDTH]));
  readonly layers: nn.ModuleList<Holder>;
  constructor(make: () => Holder) {
    super();
    this.layers = new nn.ModuleList(Array.from({ length: LAYERS }, make));
  }
  override forward(x: Tensor): Tensor {
    let y = x.mul(this.gain);
    for (const layer of this.layers) y = layer.call(y).tanh();
    return y;
  }
}

/** The result and the gradients of a call, or the class of its error, whose message may name the path of the layer. */
function outcome(model: Model, run: (model: Model, x: Tensor) => Tensor, x: Tensor): unknown {
  model.zeroGrad();
  try {
    const y = run(model, x);
    if (y.requiresGrad) y.sum().backward();
    return [y.tolist(), [...model.parameters()].map(({ grad }) => grad?.tolist() ?? null)];
  } catch (error) {
    return error instanceof Error ? error.name : error;
  }
}

/** Makes a change, which a frozen value refuses. */
function attempt(change: () => unknown): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

/** The factor that a layer gets from what it has read. */
function factor(found: unknown): Tensor | number {
  if (found instanceof Tensor) return found;
  return typeof found === "number" ? found : found === true ? 2 : found === false ? 3 : 5;
}

function classOf([one, two]: readonly [Fact, Fact | null]) {
  return class extends Holder {
    override forward(x: Tensor): Tensor {
      let y = this.norm.call(x).matmul(this.weight);
      y = y.mul(factor(one.read(one.place.get(this) as never, y)));
      if (two) y = y.add(factor(two.read(two.place.get(this) as never, y)));
      return this.training ? y.add(x) : y.sub(x);
    }
  };
}

function run(seed: number): void {
  const random = randomNumbers(seed), of: Random = (from) => from[Math.floor(random() * from.length)]!;
  const note: string[] = [];
  // Layers have a value each, or share one
  const sharing = new Map<() => unknown, unknown>();
  const shared = (make: () => unknown) => {
    if (!sharing.has(make)) sharing.set(make, make());
    return sharing.get(make);
  };
  const draw = (): Fact => {
    const [name, kind]: [string, Kind] = of(Object.entries(KINDS)), [at, place] = of(Object.entries(PLACES));
    const read = of(kind.reads);
    return { name: `${name} in ${at} by ${read}`, kind, place, read };
  };
  const facts = [draw(), random() < 0.5 ? draw() : null] as const, Layer = classOf(facts);
  manualSeed(seed);
  outside.clear();
  const models = Array.from({ length: MODELS }, () => new Model(() => new Layer()));
  const x = randn([2, WIDTH]);
  for (const fact of facts) {
    if (!fact) continue;
    const first = of(fact.kind.values), isShared = random() < 0.5;
    for (const { layers } of models) {
      for (const layer of layers) fact.place.set(layer, isShared ? shared(first) : first());
    }
  }
  const compiled = compile((model: Model, x: Tensor) => model.call(x), { backend: "eager" });
  try {
    let model = of(models);
    for (let k = 0; k < CALLS; k++) {
      note.push(`call of ${models.indexOf(model)}`);
      const found = outcome(model, compiled, x), expected = outcome(model, (m, x) => m.call(x), x);
      assertEquals(found, expected);
      const changed = of(models), layers = [...changed.layers], which = Math.floor(random() * LAYERS);
      const layer = layers[which]!, fact = of(facts) ?? facts[0], value = fact.place.get(layer);
      const to = `layer ${which} of ${models.indexOf(changed)}`, what = random();
      if (what < 0.5) {
        const next = of(fact.kind.values);
        note.push(`${to}: ${next}`);
        fact.place.set(layer, random() < 0.5 ? shared(next) : next());
      } else if (what < 0.8 && fact.kind.changes && value !== undefined) {
        const change = of(fact.kind.changes);
        note.push(`${to}: ${change}`);
        attempt(() => change(value as never));
      } else if (what < 0.9) {
        const [name, habit] = of(Object.entries(HABITS));
        note.push(`${to}: ${name}`);
        habit(layer, layers[(which + 1) % LAYERS]!);
      }
      model = random() < 0.7 ? changed : of(models);
    }
  } catch (cause) {
    const read = facts.flatMap((fact) => fact ? [fact.name] : []);
    throw new Error([`Seed ${seed}`, ...read, ...note].join("\n"), { cause });
  }
}

Deno.test("layers that differ in a fact of any kind", () => {
  const count = () => counters.get("repeated_calls", "callTraced"), before = count();
  for (let k = 0; k < RUNS; k++) run(SEED + k);
  assert(count() > before, "Expected layers that are reused");
});
