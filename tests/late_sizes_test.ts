/**
 * Sizes and numbers that depend on elements of tensors, in one graph: compared with plain runs on every tier, for sizes
 * that satisfy the assumptions of operations and for others.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  autograd,
  bincount,
  cat,
  clone,
  compile,
  compiler,
  config,
  DynError,
  full,
  maskedSelect,
  nonzero,
} from "../mod.ts";
import { nn, ones, repeatInterleave, Tensor, tensor, unique, where, zeros } from "../mod.ts";
import { counters } from "../lib/base/logs.ts";
import type { ConfigPatch } from "../lib/base/config.ts";
import "./support/turns/gradients.ts";
import { onTiers, TIERS } from "./support/tiers.ts";

const CAPTURED: ConfigPatch = { captureScalarOutputs: true, captureDynamicOutputShapes: true };

const int = (value: number | bigint) => tensor(value, { dtype: "int64" });
const floats = (...values: number[]) => tensor(values, { dtype: "float32" });
const rows = (...values: number[][]) => tensor(values, { dtype: "float32" });
const numberOf = (x: Tensor) => Number(x.item());

/** Anything a program gives, with shapes and types, as text. */
function shown(value: unknown): unknown {
  if (value instanceof Tensor) return [value.dtype, value.shape, shown(value.tolist())];
  if (Array.isArray(value)) return value.map(shown);
  return Object.is(value, -0) ? "-0" : typeof value === "bigint" ? `${value}n` : value;
}

/** Returns the result of a call, or its error, and its arguments afterwards. */
function outcome(run: (...args: Tensor[]) => unknown, given: readonly Tensor[]): unknown {
  const args = given.map((each) => clone(each));
  try {
    return [shown(run(...args)), shown(args)];
  } catch (error) {
    return [error instanceof Error ? `${error.name}: ${error.message}` : error, shown(args)];
  }
}

interface Program {
  readonly run: (...args: Tensor[]) => unknown;
  readonly calls: readonly (readonly Tensor[])[];
  /** Calls that run as they are, because a check failed or the program throws; 0 unless given. */
  readonly undone?: number;
}

const MATRICES = [
  [rows([1.5, -2, 3], [-1, 0, 0.4])],
  [rows([1.5, 2, 3], [1, 4, 2.5])],
  [rows([1.5, -2, -3], [-1, 0, -1])],
  [rows([-1.5, -2, -3], [-1, 0, -0.4])],
] as const;

const VECTOR = floats(1.5, 2, 3, -4);
const COUNTS = [3, 2, 1, 0].map((k) => [VECTOR, int(k)]);

const PROGRAMS: Readonly<Record<string, Program>> = {
  "positions of what is not 0": { run: (x) => nonzero(x.gt(0)).mul(2), calls: MATRICES },
  "positions by dimension": {
    run(x) {
      const [i, j] = nonzero(x.gt(0), { asTuple: true });
      return i && j ? x.at(i, j).add(1) : null;
    },
    calls: MATRICES,
  },
  "elements under a mask, their number and size": {
    run(x) {
      const y = x.at(x.gt(0));
      return [y.add(1), y.shape[0], y.numel() * 2, y.sum()];
    },
    calls: MATRICES,
  },
  "selected elements": { run: (x) => maskedSelect(x, x.gt(0)).exp(), calls: MATRICES },
  "rows under a mask in a product": { run: (x) => x.at(x.sum(1).gt(0)).matmul(x.t()), calls: MATRICES },
  "two selections joined": { run: (x) => cat([x.at(x.gt(0)), x.at(x.lt(0))]), calls: MATRICES, undone: 2 },
  "distinct elements": { run: (x) => unique(x.round()).add(1), calls: MATRICES },
  "distinct elements, where they went, how many": {
    run(x) {
      const [found, inverse, counts] = unique(x.round(), { returnInverse: true, returnCounts: true });
      return [found.mul(2), inverse, counts.sum()];
    },
    calls: MATRICES,
  },
  "distinct elements and how many, by name": {
    run(x) {
      const { output, counts } = unique(x.round(), { returnCounts: true });
      const { inverseIndices } = x.round().unique({ returnInverse: true });
      return [output.mul(counts), inverseIndices];
    },
    calls: MATRICES,
  },
  "occurrences of integers": {
    run: (x) => bincount(x.abs().round().to("int64").reshape([-1])).add(1),
    calls: MATRICES,
  },
  "classes as many as there are": {
    run: (x) => nn.functional.oneHot(x.abs().round().to("int64")).sum(0),
    calls: MATRICES,
  },
  "repeats by element": {
    run: (x) => repeatInterleave(x.reshape([-1]), x.abs().round().to("int64").reshape([-1])).mul(2),
    calls: MATRICES,
  },
  "a mask is assigned a number": {
    run(x) {
      const y = x.clone();
      y.set([y.gt(0)], 7);
      return y;
    },
    calls: MATRICES,
  },
  "a mask of an argument is assigned other elements": {
    run(x) {
      const mask = x.gt(0);
      x.set([mask], x.at(mask).mul(10));
      return x.sum();
    },
    calls: MATRICES,
    undone: 1,
  },
  "rows under a mask are assigned a row": {
    run(x) {
      x.set([x.sum(1).gt(0)], x.at(0).clone());
      return x;
    },
    calls: MATRICES,
  },
  "a selection viewed and expanded": {
    run(x) {
      const y = x.at(x.gt(0)), n = y.shape[0] ?? 0;
      return y.view([n, 1]).expand([n, 2]).reshape([-1]).mul(3);
    },
    calls: MATRICES,
    undone: 2,
  },
  "softmax, extremes and means of a selection": {
    run(x) {
      const y = x.at(x.gt(0));
      return [y.softmax(0), y.amax(0), y.mean()];
    },
    calls: MATRICES,
    // An operation on one element may be another one, and nothing has no greatest element
    undone: 2,
  },
  "a number is a size and a factor": {
    run(x, n) {
      const k = numberOf(n);
      return [ones([k]).mul(k + 1), x.mul(k), zeros([k, 2]), k * 2, -k];
    },
    calls: [...COUNTS, [VECTOR, int(-1)]],
    undone: 1,
  },
  "arithmetic of JavaScript on elements": {
    run(x, n) {
      const v = numberOf(x.sum()), k = numberOf(n);
      return [
        v * 2,
        v / 3,
        -v,
        v % 2,
        v ** 2,
        Math.sqrt(Math.abs(v)),
        Math.floor(k / 2),
        k % 2,
        v > 0,
        !k,
        k === 2,
      ];
    },
    calls: COUNTS,
  },
  "elements in operands": {
    run(x, n) {
      const v = numberOf(x.sum()), k = numberOf(n);
      return [x.mul(v * 2 + 0.1), x.add(v), x.sub(k).div(v), x.clone().mul_(Math.max(k, 1))];
    },
    calls: COUNTS,
  },
  "bounds of slices": {
    run(x, n) {
      const k = numberOf(n);
      return [x.at({ start: k }).mul(2), x.at({ stop: k - 1 }).add(1), x.at({ start: 1, stop: k }).sum()];
    },
    calls: [...COUNTS, ...[-1, 7, -7].map((k) => [VECTOR, int(k)])],
    undone: 3,
  },
  "a part by start and length": {
    run: (x, n) => x.narrow(0, 1, numberOf(n)).mul(2),
    calls: [...COUNTS, [VECTOR, int(4)], [VECTOR, int(-1)]],
    undone: 2,
  },
  "an element by its index": {
    run: (x, n) => x.at(numberOf(n)).mul(2),
    calls: [...COUNTS, [VECTOR, int(4)], [VECTOR, int(-1)]],
    undone: 2,
  },
  "sizes that have to fit": {
    run: (x, y) => x.at(x.gt(0)).add(y),
    calls: [
      [VECTOR, floats(1, 2, 3)],
      [floats(-1, 2, 3, 4), floats(1, 2, 3)],
      [floats(-1, 2, -3, -4), floats(1, 2, 3)],
      [floats(-1, 2, 3, -4), floats(1, 2, 3)],
    ],
    undone: 2,
  },
  "numbers of a list": {
    run(x) {
      const [a = 0, b = 0, c = 0] = x.tolist() as number[];
      return x.mul(a).add(b * c);
    },
    calls: [[VECTOR], [floats(0, 2.5, -3, 1)]],
  },
  "what was written before a check fails": {
    run(x, n) {
      x.add_(1);
      const y = zeros([numberOf(n)]);
      x.mul_(2);
      return x.at({ stop: 2 }).add(y);
    },
    calls: [[VECTOR, int(2)], [VECTOR, int(3)], [VECTOR, int(-1)], [VECTOR, int(1)]],
    undone: 3,
  },
  "an element that is read before it is written": {
    run(x, n) {
      const before = n.item();
      n.add_(1);
      return [before, n.item(), x.mul(Number(before))];
    },
    calls: COUNTS,
  },
  "an integer too large for a number": {
    run: (x, n) => x.mul(numberOf(n) + 1),
    calls: [[VECTOR, int(2)], [VECTOR, int(2n ** 60n)]],
    undone: 1,
  },
  "conditions that are stated": {
    run(x, n) {
      const k = numberOf(n);
      compiler.check(k > 0, "Expected a positive number");
      compiler.check(k <= 3);
      return k > 0 && k < 4 ? x.at({ stop: k }) : x;
    },
    calls: [...COUNTS, [VECTOR, int(4)]],
    undone: 2,
  },
  "conditions of elements that are stated": {
    run(x) {
      compiler.check(Number(x.sum().item()) > 0, () => `not ${x.shape}`);
      return x.mul(2);
    },
    calls: [[VECTOR], [floats(-1, 0)]],
    undone: 1,
  },
  "views of what is written around a read": {
    run(x) {
      const view = x.view([-1]), row = x.at(0), turned = x.t(), positive = x.gt(0);
      const selected = x.at(positive), count = numberOf(positive.sum());
      view.add_(1);
      row.mul_(count);
      return [selected, x, row, turned, turned.mul(count), x.at(positive)];
    },
    calls: MATRICES,
  },
  "what has no view and is copied after a write": {
    run: (x) => {
      const n = Number(x.gt(0).sum().item()), turned = x.t();
      x.mul_(0.5);
      return [n, turned.reshape([-1]), turned.flatten(), turned.contiguous(), turned.reshape([3, 1, -1])];
    },
    calls: MATRICES,
  },
  "numbers in objects, arrays and loops": {
    run(x, n) {
      const state = { n: numberOf(n), list: [numberOf(n) + 1] };
      let sum = 0;
      for (const each of [1, 2]) sum += state.n * each;
      state.n++;
      return [state.n * 2, state.list, x.mul(sum), { ...state }.n - 1, x.mul(state.list[0] ?? 0)];
    },
    calls: COUNTS,
  },
  "a choice between numbers": {
    run(x, n) {
      const v = numberOf(x.sum()), k = numberOf(n);
      let most = 0.5;
      if (v > 1) most = v * 2;
      const size = k > 2 ? k - 1 : 1, flag = v > 0 ? k === 1 : false;
      const sign = k ? -0 : 3;
      return [
        x.mul(v > 2 ? 2 : 0.5),
        x.add(most),
        ones([size, 2]),
        flag,
        sign,
        x.at({ stop: k < 2 ? k : 2 }),
      ];
    },
    calls: [...COUNTS, [floats(-1, -2), int(5)]],
  },
  "numbers that stay within bounds": {
    run(x, n) {
      let k = numberOf(n);
      if (k < 1) k = 1;
      if (k > 3) k = 3;
      return [x.at({ stop: k }), zeros([k]), k];
    },
    calls: [...COUNTS, [VECTOR, int(-5)], [VECTOR, int(9)]],
  },
  "a choice between elements": {
    run: (x) => where(x.sum().gt(0), x, x.neg()).at(x.gt(0)),
    calls: [[VECTOR], [floats(-1, 0, 3, -9)]],
  },
};

for (const [{ name: tier, backend, patch }, name, { run, calls, undone = 0 }] of onTiers(PROGRAMS)) {
  Deno.test(`one graph, ${tier}: ${name}`, () => {
    config.patch({ ...CAPTURED, ...patch }, () => {
      const compiled = compile(run, { backend, fullgraph: true });
      const before = counters.total("undone_calls");
      for (const args of calls) assertEquals(outcome(compiled, args), outcome(run, args));
      const { graphs, graphBreaks, uncompiled, fallbacks } = compiler.status(compiled);
      assertEquals({ graphBreaks, uncompiled, fallbacks }, {
        graphBreaks: 0,
        uncompiled: [],
        fallbacks: 0,
      });
      assert(graphs >= 1);
      assertEquals(counters.total("undone_calls") - before, undone);
    });
  });
}

const LOSSES: Readonly<Record<string, (x: Tensor, w: Tensor) => Tensor>> = {
  "elements under a mask": (x, w) => {
    const y = x.mul(w);
    return y.at(y.gt(0)).mul(w.sum()).exp().sum();
  },
  "a scale that is read": (x, w) => {
    const y = x.mul(w);
    return y.div(numberOf(y.detach().abs().max()) * 2).pow(2).sum();
  },
  "a mask that is assigned": (x, w) => {
    const y = x.mul(w);
    y.set([y.gt(1)], 0.5);
    return y.pow(2).sum();
  },
  "a mask that is assigned what it selects": (x, w) => {
    const y = x.mul(w), mask = y.gt(0);
    y.set([mask], y.at(mask).mul(w.mean()));
    return y.pow(2).sum();
  },
  "a part of a size that is read": (x, w) => {
    const z = x.clone();
    z.slice(0, 0, numberOf(x.gt(0).sum())).mul_(2);
    return z.mul(w).sum();
  },
};

/** The loss and its gradient, by the tape or by the program itself, and the gradient of the gradient. */
function gradients(run: (x: Tensor, w: Tensor) => Tensor, values: readonly number[]): unknown {
  const x = floats(...values), w = tensor([0.5, 1, 2], { dtype: "float32", requiresGrad: true });
  const loss = run(x, w);
  if (w.grad === null) loss.backward();
  const again = tensor([0.5, 1, 2], { dtype: "float32", requiresGrad: true });
  const [grad] = autograd.grad([run(x, again).mul(1)], [again], { createGraph: true, allowUnused: true });
  const [twice] = grad?.requiresGrad
    ? autograd.grad([grad.pow(2).sum()], [again], { allowUnused: true })
    : [null];
  return [loss, w.grad, grad, twice].map((each) => each && shown(each.detach()));
}

for (const [{ name: tier, backend, patch }, name, loss] of onTiers(LOSSES)) {
  Deno.test(`gradients, ${tier}: ${name}`, () => {
    config.patch({ ...CAPTURED, ...patch }, () => {
      const compiled = compile(loss, { backend, fullgraph: true });
      const step = (x: Tensor, w: Tensor) => {
        const l = loss(x, w);
        l.backward();
        return [l.detach(), numberOf(l) * 2];
      };
      const compiledStep = compile(step, { backend });
      for (const values of [[1.5, -2, 3], [1, 2, 3], [-1.5, 2, -1]]) {
        assertEquals(gradients(compiled, values), gradients(loss, values));
        const whole = (run: typeof step) => {
          const w = tensor([0.5, 1, 2], { dtype: "float32", requiresGrad: true });
          return [shown(run(floats(...values), w)), shown(w.grad)];
        };
        assertEquals(whole(compiledStep), whole(step));
      }
    });
  });
}

Deno.test("an element is the one at the time of the read", () => {
  for (const patch of [{}, CAPTURED]) {
    config.patch(patch, () => {
      for (const { backend } of TIERS) {
        const run = (x: Tensor) => {
          const first = x.at(0).item(), all = x.sum(), sum = all.item();
          x.add_(1);
          all.add_(1);
          return [first, sum, all, x, Number(first) > 2];
        };
        const compiled = compile(run, { backend });
        assertEquals(outcome(compiled, [VECTOR]), outcome(run, [VECTOR]));
      }
    });
  }
});

Deno.test("uncaptured code breaks the graph and names the setting that captures it", () => {
  const explained = (run: (x: Tensor) => Tensor) =>
    compiler.explain<(x: Tensor) => Tensor>(run)(floats(1, -2, 3)) as compiler.Explanation;
  const [shape] = explained((x) => x.at(x.gt(0)).add(1)).breakReasons;
  assert(shape?.hint.includes("captureDynamicOutputShapes"));
  const [item] = explained((x) => x.mul(Number(x.sum().item()) * 2)).breakReasons;
  assert(item?.hint.includes("captureScalarOutputs"));
});

Deno.test("a decision on a size of elements breaks the graph, and names a remedy", () => {
  config.patch(CAPTURED, () => {
    const run = (x: Tensor) => {
      const y = x.at(x.gt(0));
      return y.shape[0] === 2 ? y.mul(2) : y.add(1);
    };
    assertThrows(() => compile(run, { backend: "eager", fullgraph: true })(VECTOR), Error, "GB0001");
    const compiled = compile(run, { backend: "eager" });
    for (const x of [VECTOR, floats(1, 2, -3), floats(-1)]) {
      assertEquals(shown(compiled(x)), shown(run(x)));
    }
    const iterated = (x: Tensor) => [...x.at(x.gt(0))].length;
    assertThrows(
      () => compile(iterated, { backend: "eager", fullgraph: true })(VECTOR),
      Error,
      "compiler.check(condition)",
    );
  });
});

Deno.test("assumptions that calls violate too often are no longer made", () => {
  config.patch(CAPTURED, () => {
    const run = (x: Tensor, y: Tensor) => x.at(x.gt(0)).add(y).sum();
    const compiled = compile(run, { backend: "eager" }), one = floats(1, -2, -3), two = floats(1, 2, -3);
    const before = counters.total("undone_calls");
    for (let call = 0; call < 16; call++) {
      const x = call % 2 === 0 ? one : two, y = floats(1, 2);
      assertEquals(shown(compiled(x, y)), shown(run(x, y)));
    }
    assertEquals(counters.total("undone_calls") - before, 4);
    assert(compiler.status(compiled).graphBreaks > 0);
  });
});

Deno.test("parts are compiled once for sizes from 2 on, and counted", () => {
  config.patch(CAPTURED, () => {
    const run = (x: Tensor) => x.at(x.gt(0)).mul(3).add(1);
    const compiled = compile(run, { backend: "inductor", fullgraph: true });
    const kernels = [2, 3, 4, 5].map((n) => {
      assertEquals(shown(compiled(ones([n]))), shown(run(ones([n]))));
      return compiler.status(compiled).kernels;
    });
    // The mask and the selection; the argument's own size becomes a symbol at its first change
    assertEquals(kernels, [3, 6, 6, 6]);
    assertEquals(compiler.status(compiled).graphs, 2);
  });
});

Deno.test("a check names the line that needs it", () => {
  config.patch(CAPTURED, () => {
    const run = (n: Tensor) => {
      const size = numberOf(n);
      return zeros([size]);
    };
    const [entry] = compiler.cacheEntries(((compiled) => {
      compiled(int(3));
      return compiled;
    })(compile(run, { backend: "eager" })));
    const checks = entry?.graph?.graph.nodes.filter(({ target }) => target === "number.check") ?? [];
    assertEquals(checks.length, 1);
    assert(String(checks[0]?.args.at(-1)).startsWith("0 <= u0"));
    assert(String(checks[0]?.args.at(-1)).includes(", at run (") && checks[0]?.meta.stack.length === 1);
    assertEquals(checks[0]?.meta.stack[0]?.code, "return zeros([size]);");
  });
});

Deno.test("a 0-d mask is all or nothing, as in PyTorch", () => {
  for (const flag of [true, false]) {
    const mask = tensor(flag),
      run = (x: Tensor) => {
        const found = [x.at(mask), x.at(0, mask), x.at(":", mask)];
        x.set([mask], floats(1, 2, 3));
        return found;
      };
    const x = zeros([2, 3]), n = Number(flag);
    assertEquals(run(x).map(({ shape }) => shape), [[n, 2, 3], [n, 3], [2, n, 3]]);
    assertEquals(x.tolist(), flag ? [[1, 2, 3], [1, 2, 3]] : [[0, 0, 0], [0, 0, 0]]);
    assertEquals(outcome(compile(run), [zeros([2, 3])]), outcome(run, [zeros([2, 3])]));
  }
});

Deno.test("a selection between values other than numbers breaks the graph", () => {
  config.patch(CAPTURED, () => {
    const programs: ((x: Tensor) => unknown)[] = [
      (x) => x.mul(Number(x.sum().item()) > 0 ? x : 2),
      (x) => Number(x.sum().item()) > 0 ? x.neg() : x,
      (x) => [Number(x.sum().item()) > 0 ? 1 : "one", x.mul(2)],
      (x) => {
        const seen: number[] = [];
        if (Number(x.sum().item()) > 0) seen.push(1);
        return [seen, x.add(seen.length)];
      },
    ];
    for (const run of programs) {
      const compiled = compile(run, { backend: "eager" });
      for (const x of [VECTOR, floats(-1)]) assertEquals(outcome(compiled, [x]), outcome(run, [x]));
      assertEquals(compiler.status(compiled).graphBreaks, 1);
    }
  });
});

Deno.test("a dimension marked as unbacked guards nothing", () => {
  for (const { backend } of TIERS) {
    const run = (x: Tensor) => [x.mul(2).sum(1), x.shape[0], x.reshape([-1]).add(1)];
    const compiled = compile(run, { backend, fullgraph: true });
    for (const n of [3, 1, 0, 7]) {
      const x = ones([n, 3]);
      compiler.markUnbacked(x, 0);
      assertEquals(shown(compiled(x)), shown(run(x)));
    }
    assertEquals(compiler.status(compiled).graphs, 1);
    const wide = ones([3, 4]).t();
    compiler.markUnbacked(wide, 0);
    assertEquals(shown(compiled(wide)), shown(run(wide)));
  }
});

Deno.test("check fails plainly as it does compiled", () => {
  assertThrows(() => compiler.check(false), DynError, "Expected a condition");
  assertThrows(() => compiler.check(false, () => "Expected more"), DynError, "Expected more");
  compiler.check(true, "Expected nothing");
});

Deno.test("types of new tensors follow from numbers that the graph computes, assumed not to be integers", () => {
  const programs: ((x: Tensor) => unknown)[] = [
    (x) => full([2], numberOf(x.sum())).add(x.mean()),
    (x) => tensor([numberOf(x.sum()), 2]),
    (x) => tensor(numberOf(x.max()) * 2),
    (x) => full([2], x.sum().item() as number > 4),
    (x) => full([2, 1], numberOf(x.sum()), { dtype: "float64" }),
  ];
  const calls = [floats(1.5, 2), floats(2.25, 7), floats(1, 2), floats(NaN, 1), floats(4.5, 1)];
  config.patch(CAPTURED, () => {
    for (const [k, run] of programs.entries()) {
      for (const backend of ["eager", "aot_eager"]) {
        const compiled = compile(run, { backend });
        for (const x of calls) assertEquals(outcome(compiled, [x]), outcome(run, [x]), `${k} ${backend}`);
        assertEquals(compiler.explain(run)(floats(1.5, 2)).graphBreakCount, 0, `${k}`);
      }
    }
  });
});
