/**
 * A program for tests of cached captures: `worlds.ts first|other <folder>` runs functions compiled and plainly, each in
 * its own world, which differs in one respect with `other`; the folder has modules that the test writes. Prints a JSON
 * line: for each world whether a capture was reused, and both results.
 */
import {
  compiler,
  config,
  enableGrad,
  manualSeed,
  nn,
  noGrad,
  ones,
  optim,
  setDefaultDtype,
  Tensor,
  tensor,
} from "../../mod.ts";
import { tell, type World } from "./telling.ts";

const [said = "", folder = ""] = Deno.args;

declare const worldNamed: number, worldMissing: number, worldListed: readonly number[];

/** A tensor to compute with. */
const input = (): Tensor => tensor([[1.5, -2], [3, 4]]);

class Scaled {
  factor = 2;
  scale(x: Tensor): Tensor {
    return x.mul(this.factor);
  }
}

class Shifted extends Scaled {
  override scale(x: Tensor): Tensor {
    return x.add(this.factor);
  }
}

class Block extends nn.Module {
  readonly first = new nn.Linear(2, 2);
  readonly second = new nn.Linear(2, 2);
  override forward(x: Tensor): Tensor {
    return this.second.call(this.first.call(x).relu());
  }
}

/** A block with the same weights in every process. */
function block(): Block {
  manualSeed(3);
  return new Block();
}

const adder = (by: number) => (x: Tensor) => x.add(by);

/** Modules that the test writes, or nothing. */
const written: Readonly<Record<string, { readonly run: (x: Tensor) => Tensor }>> = folder === ""
  ? {}
  : Object.fromEntries(
    await Promise.all(["named", "text", "place", "constant", "imported", "reassigned"].map(async (name) =>
      [name, await import(`file://${folder}/${name}.ts`)] as const
    )),
  );

const inline = await import("data:text/javascript,export const run = (x) => x.mul(2);");

const WORLDS: Readonly<Record<string, World>> = {
  "a module that is in its address": (_other, wrap) => wrap(inline.run)(input()),
  "a captured number"(other, wrap) {
    const factor = other ? 3 : 2;
    return wrap((x: Tensor) => x.mul(factor))(input());
  },
  "a captured zero of another sign"(other, wrap) {
    const zero = other ? -0 : 0;
    return wrap((x: Tensor) => x.mul(1 / zero))(ones([2]));
  },
  "an element of a captured array"(other, wrap) {
    const list = [1, other ? 5 : 2, 3];
    return wrap((x: Tensor) => list.reduce((sum, each) => sum.add(each), x))(input());
  },
  "the length of a captured array"(other, wrap) {
    const list = other ? [1, 2, 3] : [1, 2];
    return wrap((x: Tensor) => x.mul(list.length))(input());
  },
  "a hole in an array"(other, wrap) {
    const list = [1, 2, 3];
    if (other) delete list[1];
    return wrap((x: Tensor) => list.reduce((sum, each) => sum.add(each), x))(input());
  },
  "a field"(other, wrap) {
    const state = new Scaled();
    if (other) state.factor = 7;
    return wrap((x: Tensor) => state.scale(x))(input());
  },
  "a field more"(other, wrap) {
    const state: Record<string, number> = other ? { a: 1, b: 2, c: 3 } : { a: 1, b: 2 };
    return wrap((x: Tensor) => Object.values(state).reduce((sum, each) => sum.add(each), x))(input());
  },
  "the order of fields"(other, wrap) {
    const state: Record<string, number> = other ? { b: 2, a: 3 } : { a: 3, b: 2 };
    return wrap((x: Tensor) => Object.keys(state).reduce((sum, key) => sum.mul(2).add(state[key] ?? 0), x))(
      input(),
    );
  },
  "a getter in the place of a field"(other, wrap) {
    const state = { factor: 2 };
    if (other) Object.defineProperty(state, "factor", { get: () => 5 });
    return wrap((x: Tensor) => x.mul(state.factor))(input());
  },
  "a field that cannot be written"(other, wrap) {
    const state = { calls: 0 };
    if (other) Object.freeze(state);
    const count = wrap((x: Tensor) => {
      state.calls++;
      return x.add(state.calls);
    });
    try {
      return [count(input()), state.calls];
    } catch (error) {
      return [error instanceof TypeError, state.calls];
    }
  },
  "an object of another class"(other, wrap) {
    const state = other ? new Shifted() : new Scaled();
    return wrap((x: Tensor) => state.scale(x))(input());
  },
  "another prototype"(other, wrap) {
    const state = new Scaled();
    if (other) Object.setPrototypeOf(state, Shifted.prototype);
    return wrap((x: Tensor) => state.scale(x))(input());
  },
  "a method of the object itself"(other, wrap) {
    const state = new Scaled();
    if (other) state.scale = (x) => x.sub(1);
    return wrap((x: Tensor) => state.scale(x))(input());
  },
  "a method of the class that was replaced"(other, wrap) {
    class Own {
      run(x: Tensor): Tensor {
        return x.mul(2);
      }
    }
    if (other) Own.prototype.run = (x) => x.mul(9);
    const own = new Own();
    return wrap((x: Tensor) => own.run(x))(input());
  },
  "a closure of the same code"(other, wrap) {
    const add = adder(other ? 10 : 1);
    return wrap((x: Tensor) => add(x))(input());
  },
  "a function of other code"(other, wrap) {
    const act = other ? (x: Tensor) => x.relu() : (x: Tensor) => x.neg();
    return wrap((x: Tensor) => act(x))(input());
  },
  "a bound function"(other, wrap) {
    const act = other ? adder(4).bind(null) : adder(4);
    return wrap((x: Tensor) => act(x))(input());
  },
  "a marked function"(other, wrap) {
    const act = adder(4);
    return wrap((x: Tensor) => shown(x.sum()) && act(x))(input());
    function shown(x: Tensor): Tensor {
      return (other ? disabled : plain)(x);
    }
  },
  "an entry of a map"(other, wrap) {
    const map = new Map([["a", 1], ["b", other ? 20 : 2]]);
    return wrap((x: Tensor) => [...map.values()].reduce((sum, each) => sum.add(each), x))(input());
  },
  "the order of a map"(other, wrap) {
    const map = new Map(other ? [["b", 2], ["a", 1]] : [["a", 1], ["b", 2]]);
    return wrap((x: Tensor) => [...map.values()].reduce((sum, each) => sum.mul(3).add(each), x))(input());
  },
  "a member of a set"(other, wrap) {
    const set = new Set(other ? [1, 2] : [1, 3]);
    return wrap((x: Tensor) => x.mul(set.has(3) ? 1 : 2))(input());
  },
  "one object twice, or two that are equal"(other, wrap) {
    const a = { factor: 1 }, b = other ? { factor: 1 } : a;
    return wrap((x: Tensor) => {
      a.factor += 1;
      return x.mul(b.factor);
    })(input());
  },
  "one weight twice, or two that are equal"(other, wrap) {
    const a = new nn.Parameter(ones([2, 2])), b = other ? new nn.Parameter(ones([2, 2])) : a;
    const step = wrap((x: Tensor) => x.matmul(a).matmul(b).sum());
    step(input()).backward();
    return [a.grad, b.grad];
  },
  "a number of a global variable"(other, wrap) {
    Reflect.set(globalThis, "worldFactor", other ? 6 : 5);
    return wrap((x: Tensor) => x.mul(Reflect.get(globalThis, "worldFactor")))(input());
  },
  "a global variable by its name"(other, wrap) {
    Reflect.set(globalThis, "worldNamed", other ? 6 : 5);
    return wrap((x: Tensor) => x.mul(worldNamed))(input());
  },
  "a global variable that may be there"(other, wrap) {
    if (other) Reflect.set(globalThis, "worldMissing", 6);
    return wrap((x: Tensor) => x.mul(typeof worldMissing === "undefined" ? 2 : worldMissing))(input());
  },
  "a global variable of a builtin's name"(other, wrap) {
    const { structuredClone: former } = globalThis;
    if (other) Reflect.set(globalThis, "structuredClone", () => 4);
    try {
      return wrap((x: Tensor) => x.mul(structuredClone.length))(input());
    } finally {
      globalThis.structuredClone = former;
    }
  },
  "one of two symbols of the same name"(other, wrap) {
    const one = Symbol("name"), two = Symbol("name");
    const fields = Object.freeze({ [one]: 2, [two]: 3 }), key = other ? two : one;
    return wrap((x: Tensor) => x.mul(fields[key] ?? 0))(input());
  },
  "the order of symbols of the same name"(other, wrap) {
    const one = Symbol("name"), two = Symbol("name");
    const list = other ? [two, one] : [one, two];
    return wrap((x: Tensor) => x.mul(list[0] === one ? 2 : 3))(input());
  },
  "a getter that a class inherits"(other, wrap) {
    class Base {
      get by() {
        return 2;
      }
    }
    class Heir extends Base {}
    if (other) Object.defineProperty(Base.prototype, "by", { get: () => 5 });
    const heir = new Heir();
    return wrap((x: Tensor) => x.mul(heir.by))(input());
  },
  "a default argument"(other, wrap) {
    const act = other ? (x: Tensor, by = 3) => x.mul(by) : (x: Tensor, by = 2) => x.mul(by);
    return wrap((x: Tensor) => act(x))(input());
  },
  "the name of a function"(other, wrap) {
    const act = other ? function two() {} : function three() {};
    return wrap((x: Tensor) => x.mul(act.name.length))(input());
  },
  "whether an object can grow"(other, wrap) {
    const state: { by: number } = { by: 2 };
    if (other) Object.preventExtensions(state);
    return wrap((x: Tensor) => x.mul(Object.isExtensible(state) ? 2 : 3))(input());
  },
  "a date"(other, wrap) {
    const date = new Date(other ? 86_400_000 : 0);
    return wrap((x: Tensor) => x.mul(date.getUTCDate()))(input());
  },
  "a formatter"(other, wrap) {
    const format = new Intl.NumberFormat("en", { minimumFractionDigits: other ? 2 : 1 });
    return wrap((x: Tensor) => x.mul(format.format(1).length))(input());
  },
  "the rules of a language"(other, wrap) {
    const rules = new Intl.PluralRules("en", { type: other ? "ordinal" : "cardinal" });
    return wrap((x: Tensor) => x.mul(rules.select(2).length))(input());
  },
  "a listed global"(other, wrap) {
    Reflect.set(globalThis, "worldListed", other ? [1, 2, 3] : [1, 2]);
    return wrap((x: Tensor) => x.mul(worldListed.length))(input());
  },
  "a function of the global object"(other, wrap) {
    const global = globalThis as unknown as { worldAct: (x: Tensor) => Tensor };
    global.worldAct = other ? (x) => x.relu() : (x) => x.neg();
    return wrap((x: Tensor) => global.worldAct(x))(input());
  },
  "an argument that is a number"(other, wrap) {
    return wrap((x: Tensor, by: number) => x.mul(by))(input(), other ? 4 : 5);
  },
  "an argument that is a text"(other, wrap) {
    return wrap((x: Tensor, how: string) => how === "twice" ? x.mul(2) : x.mul(3))(
      input(),
      other ? "twice" : "thrice",
    );
  },
  "an argument that is missing"(other, wrap) {
    const act = wrap((x: Tensor, ...rest: (undefined | number)[]) => x.mul(rest.length + 2));
    return other ? act(input()) : act(input(), undefined);
  },
  "a field of an argument"(other, wrap) {
    return wrap((x: Tensor, options: { factor: number }) => x.mul(options.factor))(input(), {
      factor: other ? 2 : 3,
    });
  },
  "another receiver"(other, wrap) {
    const state = new Scaled();
    if (other) state.factor = 4;
    return Reflect.apply(
      wrap(
        function (this: Scaled, x: Tensor) {
          return x.mul(this.factor);
        } as (this: never, x: Tensor) => Tensor,
      ),
      state,
      [input()],
    );
  },
  "strides of an argument"(other, wrap) {
    const x = other ? tensor([[1.5, 3], [-2, 4]]).t().contiguous().t() : input();
    return wrap((x: Tensor) => (x.isContiguous() ? x.mul(2) : x.mul(3)))(x.detach());
  },
  "arguments that are one tensor"(other, wrap) {
    const x = input(), y = other ? x : input();
    return wrap((x: Tensor, y: Tensor) => {
      x.add_(1);
      return y.mul(2);
    })(x, y);
  },
  "arguments that share memory"(other, wrap) {
    const x = input(), y = other ? x.detach() : input();
    return wrap((x: Tensor, y: Tensor) => {
      x.add_(1);
      return y.mul(2);
    })(x, y);
  },
  "an argument that requires a gradient"(other, wrap) {
    const x = input();
    if (other) x.requiresGrad_();
    return wrap((x: Tensor) => x.requiresGrad ? x.mul(2) : x.mul(3))(x);
  },
  "an argument with a history"(other, wrap) {
    const leaf = input().requiresGrad_(), x = other ? leaf.mul(1) : leaf;
    return wrap((x: Tensor) => x.isLeaf ? x.mul(2) : x.mul(3))(x);
  },
  "a hook of a tensor"(other, wrap) {
    const x = input().requiresGrad_();
    if (other) x.registerHook((grad) => grad.mul(100));
    wrap((x: Tensor) => x.mul(2).sum().backward())(x);
    return x.grad;
  },
  "a gradient that is there"(other, wrap) {
    const x = input().requiresGrad_();
    if (other) x.grad = ones([2, 2]);
    wrap((x: Tensor) => x.mul(2).sum().backward())(x);
    return x.grad;
  },
  "a field of a tensor"(other, wrap) {
    const x = Object.assign(input(), other ? { scale: 3 } : {});
    return wrap((x: Tensor & { readonly scale?: number }) => x.mul(x.scale ?? 2))(x);
  },
  "a marked dimension"(other, wrap) {
    const x = input();
    if (other) compiler.markDynamic(x, 0);
    return wrap((x: Tensor) => x.mul(x.size(0)))(x);
  },
  "a method of tensors"(other, wrap) {
    const own = Object.getOwnPropertyDescriptor(Tensor.prototype, "relu");
    if (other) Object.defineProperty(Tensor.prototype, "relu", { ...own, value: (): Tensor => ones([1]) });
    try {
      return wrap((x: Tensor) => x.relu())(input());
    } finally {
      if (own) Object.defineProperty(Tensor.prototype, "relu", own);
    }
  },
  "a builtin"(other, wrap) {
    const { map } = Array.prototype;
    if (other) Reflect.set(Array.prototype, "map", () => [1]);
    try {
      return wrap((x: Tensor) => [1, 2, 3].map((each) => x.mul(each)).length)(input());
    } finally {
      Array.prototype.map = map;
    }
  },
  "what all objects inherit"(other, wrap) {
    if (other) Reflect.set(Object.prototype, "worldExtra", 3);
    try {
      const options: { readonly worldExtra?: number } = {};
      return wrap((x: Tensor) => x.mul(options.worldExtra ?? 2))(input());
    } finally {
      Reflect.deleteProperty(Object.prototype, "worldExtra");
    }
  },
  "the mode of a module"(other, wrap) {
    const net = block();
    if (other) net.eval();
    return wrap((x: Tensor) => net.training ? net.call(x) : net.call(x).mul(2))(input());
  },
  "a number of a layer"(other, wrap) {
    const norm = new nn.LayerNorm(2, { eps: other ? 1 : 1e-5 });
    return wrap((x: Tensor) => norm.call(x))(input());
  },
  "another layer"(other, wrap) {
    const net = new nn.Sequential(new nn.Identity(), other ? new nn.ReLU() : new nn.Tanh());
    return wrap((x: Tensor) => net.call(x))(input());
  },
  "a layer more"(other, wrap) {
    const net = new nn.Sequential(new nn.ReLU(), ...other ? [new nn.Tanh()] : []);
    return wrap((x: Tensor) => net.call(x))(input());
  },
  "a parameter in the place of another"(other, wrap) {
    const net = block();
    if (other) net.first.weight = net.second.weight;
    const step = wrap((x: Tensor) => net.call(x).sum());
    step(input()).backward();
    return net.first.weight.grad;
  },
  "a parameter that is frozen"(other, wrap) {
    const net = block();
    if (other) net.first.weight.requiresGrad = false;
    wrap((x: Tensor) => net.call(x).sum().backward())(input());
    return [net.first.weight.grad, net.second.weight.grad];
  },
  "the forward of a class"(other, wrap) {
    class Own extends nn.Module {
      override forward(x: Tensor): Tensor {
        return x.mul(2);
      }
    }
    if (other) Own.prototype.forward = (x) => x.mul(11);
    const net = new Own();
    return wrap((x: Tensor) => net.call(x))(input());
  },
  "the forward of a layer of dyn"(other, wrap) {
    const { forward } = nn.ReLU.prototype, net = new nn.Sequential(new nn.ReLU());
    if (other) nn.ReLU.prototype.forward = (x) => x.mul(5);
    try {
      return wrap((x: Tensor) => net.call(x))(input());
    } finally {
      nn.ReLU.prototype.forward = forward;
    }
  },
  "a hook of a module"(other, wrap) {
    const net = block();
    if (other) net.first.registerForwardHook((_module, _args, result) => (result as Tensor).mul(3));
    return wrap((x: Tensor) => net.call(x))(input());
  },
  "a number of an optimizer"(other, wrap) {
    const net = block(), optimizer = new optim.SGD(net.parameters(), { lr: other ? 0.5 : 0.1 });
    wrap((x: Tensor) => {
      optimizer.zeroGrad();
      net.call(x).sum().backward();
      optimizer.step();
    })(input());
    return [...net.parameters()];
  },
  "the state of an optimizer"(other, wrap) {
    const net = block(), optimizer = new optim.Adam(net.parameters(), { lr: 0.1 });
    const step = (x: Tensor) => {
      optimizer.zeroGrad();
      net.call(x).sum().backward();
      optimizer.step();
    };
    if (other) step(input());
    wrap(step)(input());
    return [...net.parameters()];
  },
  "gradients switched off"(other, wrap) {
    const net = block(), run = wrap((x: Tensor) => net.call(x));
    return (other ? noGrad : enableGrad)(() => run(input())).requiresGrad;
  },
  "the default type"(other, wrap) {
    if (other) setDefaultDtype("float64");
    try {
      return wrap((x: Tensor) => x.add(tensor([0.1])))(ones([1], { dtype: "float32" })).dtype;
    } finally {
      setDefaultDtype("float32");
    }
  },
  "a tensor of numbers"(other, wrap) {
    const run = other
      ? (x: Tensor) => [x.add(tensor([0.1, -0])), tensor([2n ** 60n]), tensor([true, false])]
      : (x: Tensor) => [x.add(tensor([0.2, -0])), tensor([2n ** 61n]), tensor([true, true])];
    return wrap(run)(input());
  },
  "types of numbers"(other, wrap) {
    const types = ["bfloat16", "float16", "int8", "uint8", "int32", "complex64"] as const;
    const by = other ? 3 : 2;
    return wrap((x: Tensor) => types.map((dtype) => [x.size(0), tensor([by, 1.5], { dtype })]))(input());
  },
  "a closure as an argument"(other, wrap) {
    const act = adder(other ? 10 : 1);
    return wrap((x: Tensor, act: (x: Tensor) => Tensor) => act(x).add(act(x)))(input(), act);
  },
  "another function as an argument"(other, wrap) {
    const act = other ? (x: Tensor) => x.relu() : (x: Tensor) => x.neg();
    return wrap((x: Tensor, act: (x: Tensor) => Tensor) => act(x))(input(), act);
  },
  "what a function as an argument inherits"(other, wrap) {
    const act = Object.assign((x: Tensor) => x.neg(), { by: 2 });
    if (other) act.by = 3;
    return wrap((x: Tensor, fn: typeof act) => fn(x).mul(fn.by))(input(), act);
  },
  "an object that a function as an argument captures"(other, wrap) {
    const options = { by: other ? 2 : 3 };
    return wrap((x: Tensor, act: (x: Tensor) => Tensor) => act(x))(input(), (x: Tensor) => x.mul(options.by));
  },
  "two functions of the same code as arguments"(other, wrap) {
    const one = adder(1), two = other ? adder(1) : one;
    const same = (x: Tensor, a: typeof one, b: typeof one) => (a === b ? a(x) : b(x.mul(2)));
    return wrap(same)(input(), one, two);
  },
  "a setting"(other, wrap) {
    return config.patch(
      other ? { dynamicShapes: false } : {},
      () => wrap((x: Tensor) => x.mul(x.size(0)))(input()),
    );
  },
  "the time zone"(other, wrap) {
    const zone = Deno.env.get("TZ") ?? "";
    if (other) Deno.env.set("TZ", zone === "Asia/Tokyo" ? "America/New_York" : "Asia/Tokyo");
    try {
      return wrap((x: Tensor) => x.mul(new Date(0).getHours()))(input());
    } finally {
      Deno.env.set("TZ", zone);
    }
  },
  "sizes that change"(other, wrap) {
    const run = wrap((x: Tensor, y: Tensor) => {
      const z = x.size(0) < y.size(0) ? x.mul(x.size(0)) : x.neg();
      return [z.sum(), x.matmul(x.t()).sum(1), y.view([-1, 2, 1]).sum(0), x.size(0) * 2 + y.size(0)];
    });
    return (other ? [5, 6, 11] : [3, 4, 9]).map((n) => run(ones([n, 2]), ones([n + 1, 2])));
  },
  "sizes that follow from others"(other, wrap) {
    const run = wrap((x: Tensor, y: Tensor) => x.add(y).view([-1]).slice(0, 1, x.size(0) * 2));
    return (other ? [5, 6, 11] : [3, 4, 9]).map((n) => run(ones([n, 2]), ones([n, 2])));
  },
  "a dimension that is marked"(other, wrap) {
    const run = wrap((x: Tensor) => x.softmax(0).mul(x.size(0)));
    return (other ? [5, 6] : [3, 4]).map((n) => {
      const x = ones([n, 2]);
      compiler.markDynamic(x, 0);
      return run(x);
    });
  },
  "integers that change"(other, wrap) {
    const run = wrap((x: Tensor, n: number) => [x.mul(n), n + 1, x.repeat([n, 1]), n > 2 ? x.add(1) : x]);
    return (other ? [4, 5, 9] : [3, 6, 7]).map((n) => run(input(), n));
  },
  "bigints that change"(other, wrap) {
    const run = wrap((x: Tensor, n: bigint) => [x.mul(2), { n, type: typeof n }]);
    return (other ? [4n, 5n, 9n] : [3n, 6n, 7n]).map((n) => {
      const [tensor, found] = run(input(), n);
      return [tensor, JSON.stringify(found, (_, part) => typeof part === "bigint" ? `${part}n` : part)];
    });
  },
  "sizes that are computed from numbers"(other, wrap) {
    const run = wrap((x: Tensor, by: number) => x.repeat([Math.round(by * 2), 1]).sum(1));
    return (other ? [3.25, 4.5, 6] : [1.25, 2.5, 3.75]).map((by) => run(input(), by));
  },
  "numbers that change"(other, wrap) {
    const run = wrap((x: Tensor, by: number) => x.mul(by * 2).add(Math.sqrt(by) > 1 ? by : -by));
    return (other ? [1.5, 2.5, 3.5] : [1.25, 2.25, 3.25]).map((by) => run(input(), by));
  },
  "a proxy"(other, wrap) {
    const state = new Scaled();
    const found = other
      ? new Proxy(state, { get: (of, key) => key === "factor" ? 8 : Reflect.get(of, key) })
      : state;
    return wrap((x: Tensor) => found.scale(x))(input());
  },
  "a class with Symbol.hasInstance"(other, wrap) {
    class Own {}
    if (other) Object.defineProperty(Own, Symbol.hasInstance, { value: () => true });
    const state = {};
    return wrap((x: Tensor) => state instanceof Own ? x.mul(2) : x.mul(3))(input());
  },
  "a static field"(other, wrap) {
    class Own {
      static factor = 2;
    }
    if (other) Own.factor = 3;
    return wrap((x: Tensor) => x.mul(Own.factor))(input());
  },
  ...Object.fromEntries(
    Object.entries(written).map(([name, { run }]): [string, World] => [
      `the ${name} of a module`,
      (_other, wrap) => wrap(run)(input()),
    ]),
  ),
};

const disabled = compiler.disable((x: Tensor) => x);
const plain = (x: Tensor): Tensor => x;

const { OBJECT_WORLDS } = await import("./object_worlds.ts"),
  { RESUMED_WORLDS } = await import("./resumed_worlds.ts");
// First: the modules that the test writes have other texts in the other world
await tell({ ...RESUMED_WORLDS, ...OBJECT_WORLDS, ...WORLDS }, said === "other");
