/**
 * Plans of eager calls that were made before are restored without describing all builtins: what restoring calls is what
 * `restoresAsLoaded` looks at. Every other function of the builtins is replaced by one that reports its calls.
 */
import { assert, assertEquals } from "@std/assert";
import { config } from "../lib/base/config.ts";
import { setEntryStore } from "../lib/base/cached_entries.ts";
import { counters } from "../lib/base/logs.ts";
import { shipEntries } from "../lib/base/shipped_entries.ts";
import { originalBuiltins } from "../lib/base/original_builtins.ts";
import { restoresAsLoaded } from "../lib/base/own_builtins.ts";
import { OPS } from "../lib/ops/table.ts";
import { classPlan } from "../lib/tensor/classes.ts";
import { entryOf, type LoadedNumber, type Plan, type TensorArgs } from "../lib/tensor/plan.ts";
import { shipped } from "../lib/written/shipped.ts";
import { noGrad, randn, type Tensor } from "../mod.ts";

const { defineProperty, apply, construct } = Reflect;

const x = randn([300, 500]), row = randn([500]);

/** Calls of several kinds. */
const CALLS:
  readonly (readonly [name: keyof typeof OPS, args: TensorArgs, numbers: readonly LoadedNumber[]])[] = [
    ["add", { self: x, other: x, alpha: 1 }, []],
    ["mul", { self: x, other: 7.25 }, [{ param: "other", dtype: "float32" }]],
    ["mul", { self: x, other: row }, []],
    ["tanh", { self: x }, []],
    ["sum", { self: x, dim: 1, keepdim: false, dtype: null }, []],
    ["softmax", { self: x, dim: 1, dtype: null }, []],
    ["clamp", { self: x, min: -2, max: 2 }, ["min", "max"].map((param) => ({ param, dtype: "int32" }))],
    ["contiguous", { self: x.t() }, []],
  ];

/** Makes what dyn comes with, or nothing, all that was made before. */
function ship(isCurrent: boolean): void {
  setEntryStore({ isOn: () => true, read: () => null, write() {}, remove() {}, keys: () => [] });
  shipEntries({ isCurrent: () => isCurrent, lines: shipped });
}

/** Returns the number of shipped classes that a call reuses. */
function taken(call: () => Tensor): number {
  const before = counters.get("cached_classes", "shipped");
  config.patch({ graphCache: true }, () => noGrad(call));
  return counters.get("cached_classes", "shipped") - before;
}

/** Replaces functions by others that tell of their calls while something runs; those whose replacement is noticed stay. */
function calledBy(run: () => void): string[] {
  const called: PropertyKey[] = [], undo: (() => void)[] = [];
  let isRunning = false;
  for (const { object, keys, descriptors } of originalBuiltins()) {
    for (let k = 0; k < keys.length; k++) {
      const key = keys[k] ?? "", descriptor = descriptors[k], given: unknown = descriptor?.value;
      if (!descriptor?.configurable || typeof given !== "function" || key === "constructor") continue;
      const told = function (this: unknown, ...args: unknown[]): unknown {
        if (isRunning) called[called.length] = key;
        return new.target ? construct(given, args, new.target) : apply(given, this, args);
      };
      defineProperty(object, key, { ...descriptor, value: told });
      if (restoresAsLoaded()) undo[undo.length] = () => defineProperty(object, key, descriptor);
      else defineProperty(object, key, descriptor);
    }
  }
  isRunning = true;
  try {
    run();
  } finally {
    isRunning = false;
    for (let i = 0; i < undo.length; i++) undo[i]?.();
  }
  return [...new Set(called.map(String))];
}

Deno.test("builtins that restoring a plan calls are checked before", () => {
  ship(true);
  config.patch({ graphCache: true, inductor: { tier: "wasm" } }, () => {
    // One-time work runs with dyn's own builtins
    noGrad(() => x.exp());
    for (const [name, args, numbers] of CALLS) {
      let plan: Plan | undefined;
      const request = { entry: entryOf(OPS[name]), args, numbers };
      const called = calledBy(() => {
        plan = classPlan(request, "cached");
      });
      assert(plan, `Expected a plan of ${name}`);
      assertEquals([name, called], [name, []]);
    }
  });
});

Deno.test("without cached entries, calls use the shipped ones, unless these are outdated or settings differ", () => {
  ship(true);
  assertEquals(taken(() => x.cos()), 1);
  assertEquals(config.patch({ inductor: { fusion: false } }, () => taken(() => x.sin())), 0);
  ship(false);
  assertEquals(taken(() => x.atan()), 0);
});
