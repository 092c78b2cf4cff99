/**
 * Random graphs through the inductor: whatever is fused, stored, recomputed or written in place, results are those of
 * the ops run one by one. A failure names its seed, which reproduces the graph.
 */
import { assert, assertEquals } from "@std/assert";
import { printGraph } from "../lib/graph/print.ts";
import type { OpApi } from "../lib/ops/generated.ts";
import type { GraphValue } from "../lib/ops/graph_builder.ts";
import { type Dim, evaluate, type Sym } from "../lib/sym/expr.ts";
import {
  compiled,
  difference,
  evaluateByOp,
  type HostTensor,
  runCompiled,
  sample,
  traced,
} from "./support/graph_programs.ts";
import { Assumption, unknownSize } from "./support/sizes.ts";

type Api = OpApi<GraphValue>;

/** Reproducible choices. */
class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 2654435761) >>> 0;
    for (let i = 0; i < 4; i++) this.below(2);
  }

  below(n: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor(this.#state / 2 ** 32 * n);
  }

  pick<T>(list: readonly T[]): T {
    const found = list[this.below(list.length)];
    if (found === undefined) throw new Error("Expected something to choose from");
    return found;
  }
}

/** A random op of values; values stay in a range where float32 is well behaved. */
function randomOp(o: Api, values: readonly GraphValue[], choices: Choices): GraphValue {
  const x = choices.pick(values), y = choices.pick(values);
  const flat: readonly (() => GraphValue)[] = [
    () => o.sin(x),
    () => o.exp(o.tanh(x)),
    () => o.neg(x),
    () => o.mul(x, 0.5),
    () => o.relu(x),
    () => o.add(x, y),
    () => o.mul(o.tanh(x), o.tanh(y)),
    () => o.sub(x, y),
    () => o.maximum(x, y),
    () => o.where(o.gt(x, 0), x, y),
    () => o.mean(x),
  ];
  const rank = x.shape.length;
  if (rank === 0) return choices.pick(flat)();
  const dim = choices.below(rank), keepdim = choices.below(2) === 1;
  const shaped: readonly (() => GraphValue)[] = [
    () => o.mean(x, [dim], keepdim),
    () => o.amax(x, [dim], keepdim),
    () => o.mean(x, [dim], keepdim),
    () => o.to(o.argmax(x, dim), "float32"),
    () => o.transpose(x, 0, rank - 1),
    () => o.reshape(x, [-1]),
    () => rank === 2 ? o.tanh(o.matmul(x, o.t(x))) : o.flip(x, [dim]),
    () => {
      const e = o.exp(o.sub(x, o.amax(x, [dim], true)));
      return o.div(e, o.sum(e, [dim], true));
    },
    () => o.cat([x, o.neg(x)], dim),
    () => o.slice(x, dim, 1, x.shape[dim] ?? 1),
    () => o.tanh(o.cumsum(x, dim)),
  ];
  return choices.pick([...flat, ...shaped])();
}

interface Sizes {
  readonly a: Dim;
  readonly b: Dim;
  readonly c: Dim;
}

/** A graph of random ops over fixed inputs; where it mutates, its first two outputs are new values of the first two inputs. */
function randomGraph({ a, b, c }: Sizes, choices: Choices, mutates: boolean) {
  const shapes: readonly (readonly Dim[])[] = [[a, b], [a, b], [b], [a, 1], [a, b, c], [b, c], []];
  const graph = traced(shapes, (o, inputs) => {
    const values = [...inputs];
    const [first, second] = inputs;
    if (!first || !second) throw new Error("Expected inputs");
    const steps = 3 + choices.below(14);
    for (let step = 0; step < steps; step++) {
      try {
        const made = randomOp(o, values, choices);
        if (made.shape.length <= 4 && !made.shape.includes(0) && small(made.shape)) values.push(made);
      } catch (thrown) {
        // Shapes that do not fit and questions about symbols end this step, not the test
        if (!(thrown instanceof Error) || !/^Expected|assumption/.test(thrown.message)) throw thrown;
      }
    }
    const made = values.slice(inputs.length);
    const outputs = made.filter((_, i) => i === made.length - 1 || choices.below(3) === 0);
    if (!mutates) return outputs.length > 0 ? outputs : [o.sin(first)];
    const fitting = made.filter(({ shape }) => shape.length === 2 && shape[0] === a && shape[1] === b);
    return fitting.length > 0
      ? [choices.pick(fitting), choices.pick(fitting), ...outputs]
      : [o.add(first, 1), o.mul(second, 2), ...outputs];
  });
  return { graph, shapes };
}

function small(shape: readonly Dim[]): boolean {
  return shape.reduce<number>((n, size) => n * (typeof size === "number" ? size : 10), 1) <= 3000;
}

/** Compares one graph's compiled results with those op by op; undefined where they agree. */
function disagreement(
  seed: number,
  sizes: Sizes,
  runs: readonly ReadonlyMap<Sym, number>[],
): string | undefined {
  const choices = new Choices(seed);
  const mutates = choices.below(3) === 0;
  const { graph, shapes } = randomGraph(sizes, choices, mutates);
  const mutatedInputs = mutates ? [{ input: 0, output: 0 }, { input: 1, output: 1 }] : [];
  const result = compiled(graph, { signature: { mutatedInputs, ownResults: 0 } });
  for (const run of runs) {
    const known = (d: Dim) => evaluate(d, (s) => run.get(s) ?? 0);
    const inputs = shapes.map((shape) => sample(shape.map(known)));
    const copies = inputs.map((t): HostTensor => ({ ...t, data: t.data.slice() }));
    const wanted = evaluateByOp(graph, copies, run);
    const found = runCompiled(result, inputs, { sizes: run });
    for (const [i, tensor] of found.entries()) {
      const reference = wanted[i];
      if (!reference || difference(tensor, reference) > 1e-4) {
        return `seed ${seed}, output ${i} of\n${printGraph(graph)}`;
      }
    }
  }
  return undefined;
}

Deno.test("random graphs of known sizes", () => {
  const wrong: string[] = [];
  for (let seed = 0; seed < 250; seed++) {
    const choices = new Choices(seed + 5000);
    const size = () => choices.pick([1, 2, 3, 4, 5, 6, 8]);
    const found = disagreement(seed, { a: size(), b: size(), c: size() }, [new Map()]);
    if (found !== undefined) wrong.push(found);
  }
  assertEquals(wrong, []);
});

Deno.test("random graphs of symbolic sizes, each run with several", () => {
  const wrong: string[] = [];
  let compared = 0;
  for (let seed = 0; seed < 120; seed++) {
    const a = unknownSize("s0", 7), b = unknownSize("s1", 11);
    const runs = [[7, 11], [2, 5], [6, 3]].map(([x = 2, y = 2]) => new Map([[a, x], [b, y]]));
    try {
      const found = disagreement(seed, { a, b, c: 4 }, runs);
      compared++;
      if (found !== undefined) wrong.push(found);
    } catch (thrown) {
      // A lowering that asks whether a size is 1 would have recorded a guard
      if (!(thrown instanceof Assumption)) throw thrown;
    }
  }
  assertEquals(wrong, []);
  assert(compared > 60, `Expected more than 60 comparisons but made ${compared}`);
});
