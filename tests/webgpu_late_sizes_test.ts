/**
 * Sizes and numbers that depend on elements, branches and loops, on WebGPU: in one graph, compared with plain calls.
 */
import { assert, assertEquals } from "@std/assert";
import {
  clone,
  compile,
  compiler,
  cond,
  config,
  higherOrderOps,
  init,
  ones,
  Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import { counters } from "../lib/base/logs.ts";
import { deviceNamed } from "../lib/tensor/storage.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const device = "webgpu";
const floats = (...values: number[]) => tensor(values, { dtype: "float32", device });
const count = (x: Tensor) => Number(x.gt(0).sum().item());

function shown(value: unknown): unknown {
  if (value instanceof Tensor) return [value.device, value.dtype, value.shape, value.tolist()];
  return Array.isArray(value) ? value.map(shown) : value;
}

function outcome(run: (x: Tensor) => unknown, given: Tensor): unknown {
  const x = clone(given);
  try {
    return [shown(run(x)), shown(x)];
  } catch (error) {
    return [error instanceof Error ? error.message : error, shown(x)];
  }
}

interface Program {
  readonly run: (x: Tensor) => unknown;
  readonly undone?: number;
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  "a selection and its size": {
    run(x) {
      const y = x.at(x.gt(0));
      return [y.mul(y.numel()), y.sum()];
    },
  },
  "a number as a size and a bound": {
    run(x) {
      const k = count(x);
      return [ones([k], { device }).mul(k + 1), x.at({ stop: k }), k * 2];
    },
  },
  "a size that does not fit, after a write": {
    run(x) {
      x.add_(1);
      return zeros([count(x) - 2], { device }).add(x.at({ stop: 1 }));
    },
    undone: 3,
  },
  "a branch and a loop": {
    run: (x) => {
      const y = cond(x.sum().gt(0), () => x.mul(2), () => x.sub(1));
      return higherOrderOps.whileLoop((v) => v.abs().sum().lt(40), (v) => [v.mul(1.5).abs().add(1)], [y]);
    },
  },
  "a scan": {
    run: (x) => higherOrderOps.scan((c: Tensor, r: Tensor) => [c.add(r), c.mul(r)], zeros([], { device }), x),
  },
};

// A software adapter compiles each shader for seconds.
for (const [name, { run, undone = 0 }] of sampleBySeed(Object.entries(PROGRAMS), 2)) {
  Deno.test({
    name: `webgpu, late sizes: ${name}`,
    ignore: SKIP_WEBGPU,
    async fn() {
      await init({ device });
      config.patch({ captureScalarOutputs: true, captureDynamicOutputShapes: true }, () => {
        const compiled = compile(run, { fullgraph: true }), before = counters.total("undone_calls");
        for (const x of [floats(1, -2, 3), floats(0.5, 2, -3), floats(-3, -2, -4)]) {
          assertEquals(outcome(compiled, x), outcome(run, x));
        }
        assertEquals(compiler.status(compiled).fallbacks, 0);
        assertEquals(counters.total("undone_calls") - before, undone);
      });
    },
  });
}

Deno.test({
  name: "webgpu: a rate that changes from call to call is handed over in a type that the device has",
  ignore: SKIP_WEBGPU,
  async fn() {
    await init({ device });
    const settings = { rate: 0.5 };
    const run = (x: Tensor) => x.sub(x.outer(x).sum(0).mul(settings.rate / 3));
    const compiled = compile(run, { fullgraph: true });
    for (const rate of [0.5, 0.25, 0.1, 3]) {
      settings.rate = rate;
      assertEquals(outcome(compiled, floats(1, -2, 3)), outcome(run, floats(1, -2, 3)));
    }
    assertEquals(compiler.status(compiled).graphs, 2);
  },
});

const LOGGED: Readonly<Record<string, () => (x: Tensor) => unknown>> = {
  "elements that are returned": () => (x) => [x.sum().item(), x.max().item(), x.gt(0).any().item<boolean>()],
  "elements computed with": () => (x) => x.sum().item() / x.max().item() + x.int().min().item(),
  "a branch": () => (x) => x.sum().item() > x.max().item() ? 1 : 2,
  "elements that operations use": () => (x) => {
    const [low, high] = [x.min().item(), x.max().item()];
    return low + high > 0 ? x.mul(low).add(high) : x.mul(high);
  },
  "elements before and after a write": () => (x) => {
    const loss = x.mul(x).sum(), before = loss.item();
    x.sub_(x.mul(0.1));
    return [before, loss.item(), x.max().item()];
  },
};

/** Returns the methods by which a function waits for the device. */
function waits(run: () => unknown): string[] {
  const gpu = deviceNamed(device), found: string[] = [];
  const noted = (name: string, read: unknown) => (...args: unknown[]) => {
    assert(typeof read === "function");
    found.push(name);
    return Reflect.apply(read, gpu, args);
  };
  const names = ["readSync", "readTogether"];
  for (const name of names) {
    Object.defineProperty(gpu, name, { configurable: true, value: noted(name, Reflect.get(gpu, name)) });
  }
  try {
    run();
  } finally {
    for (const name of names) Reflect.deleteProperty(gpu, name);
  }
  return found;
}

for (const [name, make] of Object.entries(LOGGED)) {
  Deno.test({
    name: `webgpu: one wait for several elements of a call: ${name}`,
    ignore: SKIP_WEBGPU,
    async fn() {
      await init({ device });
      for (const captureScalarOutputs of [false, true]) {
        const outcomes = ["plain", "compiled"].map((way) => {
          const run = make(), fn = way === "plain" ? run : compile(run);
          return config.patch(
            { captureScalarOutputs },
            () => [1, 2, 3].map((n) => shown(fn(floats(n, -2, 3)))),
          );
        });
        assertEquals(outcomes[1], outcomes[0]);
        const run = compile(make()), x = floats(1, -2, 3);
        config.patch({ captureScalarOutputs }, () => {
          for (let i = 0; i < 2; i++) run(x);
          assertEquals(waits(() => run(x)), ["readTogether"]);
        });
      }
    },
  });
}
