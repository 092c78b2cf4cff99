/**
 * Loops whose count differs between calls: beyond a few counts one version of what a pass does serves all of them.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { nn, ones, optim, stack, type Tensor, zeros } from "../mod.ts";
import type { BreakReason } from "../lib/base/errors.ts";
import { optimize, resumedEntries, statusOf } from "../lib/dynamo/mod.ts";
import { capture, list as told } from "./support/dynamo.ts";
import { sampleBySeed } from "./support/sampling.ts";

type Step = (x: Tensor, k: number, log: unknown[]) => unknown;

function made(step: Step): () => Step {
  return () => step;
}

/** Loops of k passes. */
const LOOPS: Readonly<Record<string, () => Step>> = {
  "for": made((x, k) => {
    let y = x;
    for (let i = 0; i < k; i++) y = y.mul(1.5).sin();
    return y;
  }),
  "a number beside": made((x, k) => {
    let y = x, n = 3;
    for (let i = 1; i <= k; i++) {
      y = y.add(i).mul(0.5);
      n += i;
    }
    return [y.mul(n), n];
  }),
  "while": made((x, k) => {
    let y = x, n = k;
    while (n > 0) {
      y = y.mul(1.5).sin();
      n--;
    }
    return [y, n];
  }),
  "do while": made((x, k) => {
    let y = x;
    do y = y.mul(1.5).sin(); while (--k > 0);
    return y.add(k);
  }),
  "backwards in steps of two": made((x, k) => {
    let y = x;
    for (let i = k; i > 0; i -= 2) y = y.add(i).sin();
    return y;
  }),
  "within each other": made((x, k) => {
    let y = x;
    for (let i = 0; i < k; i++) {
      for (let j = i; j < k; j++) y = y.add(i).mul(0.5 + j);
      y = y.sin();
    }
    return y;
  }),
  "with an inner loop of a fixed count": made((x, k) => {
    let y = x;
    for (let i = 0; i < k; i++) for (let j = 0; j < 3; j++) y = y.add(j).sin();
    return y;
  }),
  "continue and break": made((x, k, log) => {
    let y = x;
    for (let i = 0; i < 100; i++) {
      if (i === k) break;
      if (i % 3 === 1) continue;
      log.push(i);
      y = y.add(i).sin();
    }
    return y;
  }),
  "labels": made((x, k, log) => {
    let y = x;
    outer: for (let i = 0; i < k; i++) {
      for (let j = 0; j < k; j++) {
        if (j > i) continue outer;
        if (i + j > 9) break outer;
        y = y.add(j).mul(0.5);
      }
      log.push(i);
    }
    return y;
  }),
  "finally": made((x, k, log) => {
    let y = x;
    for (let i = 0; i < k; i++) {
      try {
        y = y.add(i).sin();
        if (i === 9) return [y, "early"];
      } finally {
        log.push(i);
      }
    }
    return y;
  }),
  "exceptions": made((x, k, log) => {
    let y = x;
    try {
      for (let i = 0; i < 100; i++) {
        if (i >= k) throw new RangeError(`${i > 2}`);
        y = y.add(i).sin();
      }
    } catch (error) {
      if (error instanceof RangeError) log.push(error.message);
    }
    return y;
  }),
  "a list that grows": made((x, k) => {
    const all: Tensor[] = [];
    let y = x;
    for (let i = 0; i < k; i++) {
      y = y.mul(1.5).sin();
      all.push(y);
    }
    return [all.length, all, all.length === 0 ? null : stack(all).sum(0)];
  }),
  "closures": made((x, k) => {
    const all: (() => Tensor)[] = [];
    let y = x;
    for (let i = 0; i < k; i++) {
      y = y.add(i).sin();
      all.push(() => y.mul(i));
    }
    return all.map((each) => each());
  }),
  "the rows of a tensor": made((x, k) => {
    const rows = x.reshape([1, 2]).expand([12, 2]).cumsum(0);
    let y = x;
    for (let i = 0; i < k; i++) y = y.add(rows.at(i % 12)).sin();
    return y;
  }),
  "the elements of a list": () => {
    const parts = Array.from({ length: 16 }, (_, i) => ones([2]).mul(i / 8));
    return made((x, k) => {
      let y = x;
      for (let i = 0; i < k; i++) y = y.add(parts[i] ?? 1).sin();
      return y;
    })();
  },
  "a row for each": made((x, k) => {
    const rows = x.reshape([1, 2]).expand([k + 1, 2]);
    let y = x;
    for (let i = 0; i < (rows.shape[0] ?? 0); i++) y = y.add(rows.at(i)).sin();
    return y;
  }),
  "a number of the graph": made((x, k) => {
    const n = ones([k]).sum().item();
    let y = x;
    for (let i = 0; i < n; i++) y = y.add(i).sin();
    return y;
  }),
  "state of the host": () => {
    const state = { left: 0, done: 0 };
    return (x, k) => {
      state.left = k;
      let y = x;
      while (state.left > 0) {
        y = y.add(state.left).sin();
        state.left--;
        state.done++;
      }
      return [y, state.done];
    };
  },
  "a variable of the host": () => {
    let left = 0;
    return (x, k) => {
      left = k;
      let y = x;
      while (left > 0) {
        y = y.add(left).sin();
        left--;
      }
      return y;
    };
  },
  "a function that is called": () => {
    const powers = (y: Tensor, n: number): Tensor => {
      for (let i = 0; i < n; i++) y = y.mul(1.5).sin();
      return y;
    };
    return (x, k) => powers(x, 2).add(powers(x, k)).mul(powers(x, k + 1));
  },
  "a callback": made((x, k) => {
    let y = x;
    Array.from({ length: k }, (_, i) => y = y.add(i).sin());
    return y;
  }),
  "recursion": () => {
    const power = (y: Tensor, n: number): Tensor => n <= 0 ? y : power(y.mul(1.5).sin(), n - 1).add(n);
    return (x, k) => power(x, k).mul(2);
  },
  "unbind": made((x, k) => {
    let y = x;
    for (const each of ones([k + 1, 2]).cumsum(0).unbind(0)) y = y.add(each).sin();
    return y;
  }),
  "rows": made((x, k) => {
    let y = x;
    for (const each of ones([k + 1, 2]).cumsum(0)) y = y.add(each).sin();
    return y;
  }),
  "a generator": () => {
    function* steps(y: Tensor, n: number) {
      for (let i = 0; i < n; i++) yield y = y.add(i).sin();
    }
    return (x, k, log) => {
      let y = x;
      for (const each of steps(x, k)) {
        log.push(each.shape[0]);
        y = y.add(each);
      }
      return y;
    };
  },
  "functions that call each other": () => {
    const even = (y: Tensor, n: number): Tensor => n <= 0 ? y : odd(y.add(n).sin(), n - 1);
    const odd = (y: Tensor, n: number): Tensor => n <= 0 ? y.neg() : even(y.mul(0.5), n - 1);
    return even;
  },
  "an iterator that a break or an exception closes": made((x, k, log) => {
    const numbers = {
      *[Symbol.iterator]() {
        try {
          for (let i = 0; i < k; i++) yield i;
        } finally {
          log.push("closed");
        }
      },
    };
    let y = x;
    try {
      for (const i of numbers) {
        if (i === 4) break;
        y = y.add(i).sin();
      }
      for (const i of numbers) if (i === 5) throw new RangeError("five");
    } catch (error) {
      log.push(error);
    }
    return y;
  }),
  "counters beyond 32 bits": made((x, k) => {
    let y = x, n = 0;
    for (let i = 2 ** 31 - 3; i < 2 ** 31 - 3 + k; i++) {
      y = y.add(i % 7).sin();
      n += i;
    }
    return [y, n];
  }),
  "steps of a fraction": made((x, k) => {
    let y = x, t = 0;
    while (t < k / 3) {
      y = y.add(t).sin();
      t += 0.1;
    }
    return [y, t];
  }),
  "training": () => {
    const layer = new nn.Linear(2, 2);
    for (const each of layer.parameters()) each.detach().fill_(0.25);
    const optimizer = new optim.SGD(layer.parameters(), { lr: 0.01, momentum: 0.5 });
    return (x, k) => {
      const losses: number[] = [];
      for (let i = 0; i < k; i++) {
        optimizer.zeroGrad();
        const loss = layer.call(x).sub(1).square().mean();
        loss.backward();
        optimizer.step();
        losses.push(Number(loss.item()));
      }
      return [losses, layer.weight.detach().clone()];
    };
  },
  "a gradient through all": made((x, k) => {
    const w = ones([2]).mul(0.5).requiresGrad_();
    let y = x;
    for (let i = 0; i < k; i++) y = y.mul(w).add(i).sin();
    y.add(w).sum().backward();
    return [w.grad, y.detach()];
  }),
  "decoding": made((x, k) => {
    const cache: Tensor[] = [], ids: number[] = [1];
    let h = x;
    for (let t = 0; t < k; t++) {
      cache.push(h.mul(ids.at(-1) ?? 0));
      if (cache.length > 3) cache.shift();
      h = stack(cache).mean(0).add(t).sin();
      const next = Number(h.argmax().item());
      ids.push(next);
      if (next === 7) break;
    }
    return [ids, h];
  }),
  "a cache that is written": made((x, k) => {
    const cache = zeros([32, 2]);
    let h = x;
    for (let t = 0; t < k; t++) {
      cache.set([t], h);
      h = cache.slice(0, 0, t + 1).sum(0).sin();
    }
    return [h, cache];
  }),
  "an async function": made(async (x, k, log) => {
    let y = x;
    for (let i = 0; i < k; i++) {
      y = y.add(i).sin();
      log.push(await i);
    }
    return y;
  }),
};

function shown(value: unknown): unknown {
  const known = told(value);
  return Array.isArray(known) ? known.map(shown) : known;
}

/** The counts of the calls, and the most versions of the function and of each part behind an end of the graph. */
const CALLS = 30, MOST_VERSIONS = 7;

for (const name of sampleBySeed(Object.keys(LOOPS), 12, 0)) {
  Deno.test(`loops of changing counts: ${name}`, async () => {
    const loop = LOOPS[name];
    assert(loop);
    const plain = loop(), c = capture(loop());
    const logs: [unknown[], unknown[]] = [[], []];
    for (let call = 0; call < CALLS; call++) {
      const k = (call * 11 + 4) % 15, x = ones([2]).mul(call / 8);
      const expected = await plain(x, k, logs[0]);
      assertEquals(shown(await c.run(x, k, logs[1])), shown(expected), `call ${call}, ${k} passes`);
      assertEquals(shown(logs[1]), shown(logs[0]), `call ${call}`);
    }
    // The first call may have to ask for the variable
    const uncompiled = statusOf(c.run)?.uncompiled.filter(({ reason }) => reason.id !== "GB0032");
    assertEquals(uncompiled, []);
    const behind = [...resumedEntries(c.run).values()].map(({ length }) => length);
    assert(Math.max(c.entries(), ...behind) <= MOST_VERSIONS, `${c.entries()} versions, then ${behind}`);
  });
}

Deno.test("loops of changing counts: the first counts keep graphs of all their passes, and the break names the loop", () => {
  const breaks: BreakReason[] = [];
  let runs = 0;
  const step = (x: Tensor, k: number): Tensor => {
    let y = x;
    for (let i = 0; i < k; i++) y = y.mul(1.5).sin();
    return y.add(1);
  };
  const run = optimize(step, {
    backend: (gm) => (...inputs) => {
      runs++;
      return gm.forward(...inputs);
    },
    hooks: { onBreak: (reason) => void breaks.push(reason) },
  });
  const runsOf = (k: number): number => {
    runs = 0;
    const x = ones([2]);
    assertEquals(run(x, k).tolist(), step(x, k).tolist());
    return runs;
  };
  assertEquals([3, 5, 7].map(runsOf), [1, 1, 1]);
  assertEquals(breaks, []);
  // Passes, and what follows them
  assertEquals([9, 4, 11, 0].map(runsOf), [10, 5, 12, 1]);
  assertEquals([3, 5, 7, 5, 3].map(runsOf), [1, 1, 1, 1, 1]);
  const [reason] = breaks;
  assertEquals(reason?.id, "GB0049");
  assertMatch(reason?.explanation ?? "", /changing_counts_test\.ts:\d+$/);
});

Deno.test("loops of changing counts: whole graphs have a version of each count", () => {
  const c = capture((x: Tensor, k: number) => {
    let y = x;
    for (let i = 0; i < k; i++) y = y.add(i);
    return y;
  }, { fullgraph: true });
  for (const k of [2, 3, 4, 5, 6]) assertEquals(c.run(ones([1]), k).tolist(), [1 + k * (k - 1) / 2]);
  assertEquals([c.entries(), c.opCount()], [5, 20]);
});

Deno.test("loops of changing counts: versions for other reasons repeat a count that stays", () => {
  const settings = { count: 4 };
  const c = capture((x: Tensor) => {
    let y = x;
    for (let i = 0; i < settings.count; i++) y = y.add(i);
    return y;
  }, { dynamic: true });
  for (const dtype of ["float32", "float64", "int32", "int64"] as const) {
    for (const shape of [[2], [2, 2]]) {
      const x = ones(shape, { dtype });
      assertEquals(c.run(x).tolist(), x.add(6).tolist());
    }
  }
  assertEquals([c.entries(), c.resumed()], [8, []]);
});
