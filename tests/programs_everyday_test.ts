/** Everyday programs, compiled and uncompiled, with forced breaks at several places, and without unnecessary ones. */
import { assertEquals, assertMatch } from "@std/assert";
import { compiler, type Tensor, tensor } from "../mod.ts";
import { everyday, LoudMeter, Meter, PlainHeir, unbroken } from "./programs/everyday.ts";
import { arrayClasses, circles } from "./programs/array_classes.ts";
import { engineErrors } from "./programs/engine_errors.ts";
import { builtins } from "./programs/builtins.ts";
import { brokenDisposables, disposables } from "./programs/disposables.ts";
import { decisions, reads } from "./programs/element_reads.ts";
import { bytesAndTexts } from "./programs/bytes_and_texts.ts";
import { brokenJson, json } from "./programs/json.ts";
import { brokenPromises, promises } from "./programs/promises.ts";
import { brokenIdioms, idioms } from "./programs/library_idioms.ts";
import { weakCollections } from "./programs/weak_collections.ts";
import { register, registerUnbroken } from "./support/programs.ts";

register(everyday, ["eager"], [4, 10, 23]);
const whole = {
  ...engineErrors,
  ...json,
  ...arrayClasses,
  ...circles,
  ...promises,
  ...bytesAndTexts,
  ...disposables,
  ...reads,
  ...weakCollections,
  ...idioms,
  ...unbroken,
};
const broken = {
  ...brokenJson,
  ...brokenPromises,
  ...brokenDisposables,
  ...decisions,
  ...builtins,
  ...brokenIdioms,
};
register(broken, ["eager"], [4, 11]);
registerUnbroken(whole, ["eager"], [4, 11]);

/** Returns the causes of breaks in the second call: the first one may have to provide variables. */
function breaksOf(fn: (x: Tensor) => unknown): readonly string[] {
  const x = tensor([1, 2], { dtype: "float32" });
  compiler.explain(fn)(x);
  const { breakReasons, uncompiled } = compiler.explain(fn)(x);
  return [...breakReasons, ...uncompiled].map(({ explanation }) => explanation);
}

Deno.test("a long sort by elements of tensors ends the graph once, before it", () => {
  const xs = Array.from({ length: 70 }, (_, i) => tensor((i * 37) % 71));
  const [only = "", ...others] = breaksOf((x) => x.mul(xs.toSorted((a, b) => a.item() - b.item())[3] ?? x));
  assertMatch(only, /depends on elements/);
  assertEquals(others, []);
});

const KEY = {}, CACHE = new WeakMap<object, number>();

const UNBROKEN: Readonly<Record<string, (x: Tensor) => unknown>> = {
  "private members of a new object": (x) => new Meter(x).add(x).scaleMean(2).state().length,
  "private members of heirs": (x) => Meter.sum(new LoudMeter(x), new PlainHeir(x)),
  "call, apply and bind": (x) => {
    const scaled = function (this: { k: number }, t: Tensor, by: number) {
      return t.mul(this.k).add(by);
    };
    return [scaled.call({ k: 2 }, x, 1), scaled.apply({ k: 3 }, [x, 2]), scaled.bind({ k: 4 }, x)(3)];
  },
  "data that is cloned, and what objects are called": (x) => {
    const { tags } = structuredClone({ tags: new Map([["a", [x.shape[0]]]]) });
    const Named = class {
      get [Symbol.toStringTag]() {
        return "Named";
      }
    };
    return [x.mul(tags.get("a")?.[0] ?? 0), `${new Named()}`];
  },
  "groups in a Map": (x) => Map.groupBy([x, x.neg()], (_, i) => i).get(1)?.[0],
  "properties of a tensor by Reflect": (x) => Reflect.has(x, "sum") && Reflect.get(x, "shape"),
  "sorting by a comparator": (x) => x.mul([3, 1, 2].sort((a, b) => a - b)[0] ?? 0),
  "other lists": (x) => [x.mul(2), [1, 2, 3].copyWithin(0, 1), [1, 2].toSpliced(0, 1)],
  "a class in the function, with private fields that an arrow function reads": (x) => {
    class Local {
      #n = 2;
      by = (t: Tensor) => t.mul(this.#n);
    }
    return new Local().by(x);
  },
  "a class expression that extends another, with static fields": (x) => {
    const Base = class {
      scale = 3;
      static shift = x.add(1);
    };
    const heir = new (class extends Base {})();
    return Base.shift.mul(heir.scale);
  },
  "helpers of iterators": (x) => x.mul([1, 2, 3].values().map((a) => a * 2).drop(1).toArray()[0] ?? 0),
  "typed arrays": (x) => {
    const weights = new Float32Array(2).fill(3);
    weights[1] = 4;
    return x.mul(tensor(weights.map((w) => w + 1))).mul(weights[1]);
  },
  "weak collections": (x) => {
    const key = {}, held = new WeakMap([[key, 2]]);
    CACHE.set(KEY, held.get(key) ?? 0);
    return x.mul(CACHE.get(KEY) ?? 0);
  },
  "regular expressions": (x) => {
    const [, first = "", second = ""] = /(\d+)-(\d+)/.exec("12-34") ?? [];
    return x.mul(Number(first.replace(/1/g, (one) => one + second)));
  },
  "a class of errors that is caught": (x) => {
    class Missing extends Error {}
    try {
      throw new Missing("no");
    } catch (error) {
      return error instanceof Missing ? x.mul(error.message.length) : x;
    }
  },
};

for (const [name, fn] of Object.entries(UNBROKEN)) {
  Deno.test(`no break: ${name}`, () => assertEquals(breaksOf(fn), []));
}
