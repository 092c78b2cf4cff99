/**
 * Programs around layers that are traced once: their arguments and results, breaks, training steps, checkpoints.
 * Compiled programs give plain results, and the number of reused layers is checked.
 */
import { assertEquals } from "@std/assert";
import { compile, compiler, manualSeed, nn, optim, randn, type Tensor, utils } from "../mod.ts";
import { counters } from "../lib/base/logs.ts";
import { sampleBySeed } from "./support/sampling.ts";

const WIDTH = 4, LAYERS = 4;

/** Returns the number of calls that were not traced during `body`. */
function repeatedIn(body: () => void): number {
  const count = () => counters.get("repeated_calls", "callTraced");
  const before = count();
  body();
  return count() - before;
}

interface Extras {
  readonly mask?: Tensor;
  readonly factor?: number;
}

/** A layer that takes and gives more than a tensor. */
class Mixing extends nn.Module {
  readonly into = new nn.Linear(WIDTH, 2 * WIDTH);
  readonly out = new nn.Linear(2 * WIDTH, WIDTH);
  readonly dropout = new nn.Dropout(0.25);
  step = 0;

  override forward(x: Tensor, factor = 1, mask: Tensor | null = null, extras: Extras = {}): Tensor {
    let y = this.dropout.call(this.into.call(x).relu());
    y = this.out.call(y).mul(factor).add(x);
    if (mask) y = y.mul(mask);
    if (extras.mask) y = y.add(extras.mask);
    return extras.factor === undefined ? y : y.mul(extras.factor);
  }
}

/** A layer behind something that no graph has. */
const loud = (layer: Mixing, x: Tensor): Tensor => Number(x.sum().item()) > 1e6 ? x : layer.call(x);

const both = (layer: Mixing, x: Tensor): [Tensor, Tensor] => {
  const y = layer.call(x);
  return [y, y.sum()];
};

class Both extends nn.Module {
  readonly first = new Mixing();
  readonly last = new Mixing();

  override forward(x: Tensor): (Tensor | Tensor[])[] {
    const y = this.last.call(this.first.call(x));
    return [y, [y.sum(), x], this.first.into.weight];
  }
}

const layersOf = <M>(make: () => M): M[] => Array.from({ length: LAYERS }, make);

/** With a history, as what layers give. */
const begun = (x: Tensor, layers: readonly Mixing[]): Tensor =>
  layers[0] ? layers[0].out.call(x.repeat([1, 2])) : x;

interface Program {
  /** Number of reused layers. */
  readonly repeated: number;
  readonly make: () => (x: Tensor) => unknown;
}

const chain = (run: (layer: Mixing, x: Tensor, at: number) => Tensor) => () => {
  const layers = layersOf(() => new Mixing());
  return (x: Tensor) => layers.reduce((y, layer, at) => run(layer, y, at), begun(x, layers));
};

const PROGRAMS: Readonly<Record<string, Program>> = {
  "one behind the other": { repeated: 3, make: chain((layer, x) => layer.call(x)) },
  "another number for each": { repeated: 0, make: chain((layer, x, at) => layer.call(x, at + 2)) },
  "the same number": { repeated: 3, make: chain((layer, x) => layer.call(x, 3)) },
  "a mask that all share": {
    repeated: 3,
    make() {
      const mask = randn([WIDTH]), run = chain((layer, x) => layer.call(x, 1, mask))();
      return (x) => run(x);
    },
  },
  "a mask that is computed": {
    repeated: 3,
    make() {
      const layers = layersOf(() => new Mixing());
      return (x: Tensor) => {
        const mask = x.sum(0).gt(0).float();
        return layers.reduce((y, layer) => layer.call(y, 1, mask), begun(x, layers));
      };
    },
  },
  "what it was given twice": {
    repeated: 2,
    make: chain((layer, x, at) => layer.call(x, 1, at === 2 ? x : x.sin())),
  },
  "options": { repeated: 0, make: chain((layer, x) => layer.call(x, 1, null, { factor: 2 })) },
  "a kept object of options": {
    repeated: 3,
    make() {
      const extras = { factor: 2, mask: randn([WIDTH]) };
      return chain((layer, x) => layer.call(x, 1, null, extras))();
    },
  },
  "options that change on the way": {
    repeated: 0,
    make() {
      const extras = { factor: 2 };
      return chain((layer, x) => {
        extras.factor++;
        return layer.call(x, 1, null, extras);
      })();
    },
  },
  "several results": {
    repeated: 4,
    make() {
      const layers = layersOf(() => new Both());
      return (x: Tensor) => {
        const found: unknown[] = [];
        let y = layers[0]?.first.call(x) ?? x;
        for (const layer of layers) {
          const [next, parts, weight] = layer.call(y);
          if (Array.isArray(next) || !next) throw new Error("Expected a tensor first");
          found.push(parts, weight === layer.first.into.weight);
          y = next;
        }
        return [y, found];
      };
    },
  },
  "results that are changed": {
    repeated: 3,
    make() {
      const layers = layersOf(() => new Mixing());
      return (x: Tensor) => {
        const lists: Tensor[][] = [];
        let y = begun(x, layers);
        for (const layer of layers) {
          const [next, sum] = both(layer, y);
          y = next.add(0);
          lists.push([y.clone().mul_(2), sum]);
        }
        return lists;
      };
    },
  },
  "without gradients": {
    repeated: 2,
    make: () => {
      const run = chain((layer, x, at) => at === 0 ? layer.call(x).detach() : layer.call(x))();
      return (x) => run(x);
    },
  },
  "a layer twice": {
    repeated: 7,
    make: chain((layer, x) => layer.call(layer.call(x))),
  },
  "a break in each": { repeated: 0, make: chain((layer, x) => loud(layer, x)) },
  "a break behind": {
    repeated: 3,
    make() {
      const run = chain((layer, x) => layer.call(x))();
      return (x) => {
        const y = run(x);
        return Number(y.sum().item()) > 1e6 ? y.sin() : y.cos();
      };
    },
  },
  "a break deep behind": {
    // Found out behind them, where the trace begins again without
    repeated: 3,
    make() {
      const run = chain((layer, x) => layer.call(x))();
      return (x) => {
        const y = run(x);
        return [1, 2, 3].map((k) => Number(y.sum().item()) > 1e6 ? y.sin() : y.mul(k));
      };
    },
  },
  "checkpoints": {
    repeated: 3,
    make: chain((layer, x) => utils.checkpoint((y: Tensor) => layer.call(y), x)),
  },
  "checkpoints of their methods": {
    repeated: 0,
    make: chain((layer, x) => utils.checkpoint(Mixing.prototype.forward.bind(layer), x)),
  },
  "something written in between": {
    repeated: 3,
    make: chain((layer, x) => {
      const y = layer.call(x);
      y.add_(1);
      return y.sin();
    }),
  },
  "a parameter written in between": {
    repeated: 0,
    make() {
      const layers = layersOf(() => new Mixing());
      for (const layer of layers) layer.requiresGrad_(false);
      return (x) =>
        layers.reduce((y, layer) => {
          layer.out.bias?.mul_(1.5);
          return layer.call(y);
        }, x.add(1));
    },
  },
  "a step that the layers count": {
    repeated: 0,
    make: chain((layer, x) => layer.call(x).add(layer.step++)),
  },
  "residual convolutions": {
    repeated: 3,
    make() {
      const block = () => {
        const { Conv2d, BatchNorm2d, ReLU, Sequential } = nn;
        return new Sequential(new Conv2d(2, 2, 3, { padding: 1 }), new BatchNorm2d(2), new ReLU()).eval();
      };
      const blocks = layersOf(block), first = new nn.Conv2d(1, 2, 1);
      return (x) => blocks.reduce((y, each) => each.call(y).add(y), first.call(x.reshape([2, 1, 2, 2])));
    },
  },
  "batch statistics": {
    repeated: 0,
    make() {
      const blocks = layersOf(() =>
        new nn.Sequential(new nn.Linear(WIDTH, WIDTH), new nn.BatchNorm1d(WIDTH))
      );
      return (x) => [
        blocks.reduce((y, each) => each.call(y), x),
        blocks.flatMap((each) => [...each.buffers()].map((buffer) => buffer.clone())),
      ];
    },
  },
  "training steps": {
    repeated: 3,
    make() {
      const layers = layersOf(() => new Mixing());
      const params = layers.flatMap((layer) => [...layer.parameters()]),
        sgd = new optim.SGD(params, { lr: 0.1 });
      return (x) => {
        sgd.zeroGrad();
        const loss = layers.reduce((y, layer) => layer.call(y), begun(x, layers)).square().mean();
        loss.backward();
        sgd.step();
        return [loss.detach(), params.map((each) => each.detach().clone())];
      };
    },
  },
  "encoder layers": {
    repeated: 3,
    make() {
      const layers = layersOf(() =>
        new nn.TransformerEncoderLayer(WIDTH, 2, { dimFeedforward: 8, batchFirst: true })
      );
      const first = new nn.Linear(WIDTH, WIDTH);
      return (x) => layers.reduce((y, layer) => layer.call(y), first.call(x.reshape([1, 2, WIDTH])));
    },
  },
};

/** A value without tensors in it. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === "object" && value !== null && "tolist" in value &&
      typeof value.tolist === "function"
    ? value.tolist()
    : value;
}

function runs(run: (x: Tensor) => unknown): unknown {
  manualSeed(9);
  // The third of another size
  return [[2, WIDTH], [2, WIDTH], [2, WIDTH]].map((shape) => plain(run(randn(shape))));
}

for (const [name, { make, repeated }] of sampleBySeed(Object.entries(PROGRAMS), 8)) {
  Deno.test(`layers in programs: ${name}`, () => {
    const made = () => {
      manualSeed(2);
      return make();
    };
    const expected = runs(made());
    compiler.reset();
    const compiled = compile(made(), { backend: "eager" });
    let found: unknown;
    const count = repeatedIn(() => {
      manualSeed(9);
      found = plain(compiled(randn([2, WIDTH])));
    });
    assertEquals(count, repeated);
    assertEquals([found], [Array.isArray(expected) ? expected[0] : null]);
    compiler.reset();
    assertEquals(runs(compile(made(), { backend: "eager" })), expected);
  });
}

Deno.test("marks are kept: calls of checkpoints and of regions are distinguished", () => {
  const layers = layersOf(() => new Mixing());
  const first = layers[0]?.out ?? new nn.Linear(2 * WIDTH, WIDTH);
  const found: (readonly [number | undefined, number | undefined])[] = [];
  const region = compiler.nestedCompileRegion((layer: Mixing, x: Tensor) => layer.call(x));
  const run = compile(
    (x: Tensor) =>
      layers.reduce(
        (y, layer) => region(layer, utils.checkpoint((z: Tensor) => layer.call(z), y)),
        first.call(x.repeat([1, 2])),
      ),
    {
      backend: ({ graph, forward }) => {
        for (const { target, meta } of graph.nodes) {
          if (target === "relu") found.push([meta.recomputed, meta.regionCall]);
        }
        return forward;
      },
    },
  );
  const count = repeatedIn(() => run(randn([2, WIDTH])));
  assertEquals(count, 2 * LAYERS - 1);
  assertEquals(found, layers.flatMap((_, at) => [[at, undefined], [undefined, at]]));
});
