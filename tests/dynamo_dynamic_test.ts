/** Sizes and numbers that change: constants first, then symbols, with guards for what the program assumes. */
import { assert, assertEquals } from "@std/assert";
import { markDimension } from "../lib/dynamo/mod.ts";
import { ops } from "../lib/tensor/eager.ts";
import { tensor } from "../lib/tensor/creation.ts";
import { isTensor, type Tensor } from "../lib/tensor/tensor.ts";
import { capture, list, vector } from "./support/dynamo.ts";

Deno.test("an integer is a constant, then a symbol: 2, 3 and -2 compile, 4 does not", () => {
  const fn = (x: Tensor, n: number) => {
    const y = x.pow(2);
    return n >= 0 ? y.mul(n + 1) : y.div(n);
  };
  const c = capture(fn);
  const graphs: number[] = [];
  for (const n of [2, 3, -2, 4]) {
    assertEquals(list(c.run(vector(1, 2), n)), list(fn(vector(1, 2), n)));
    graphs.push(c.graphs.length);
  }
  assertEquals(graphs, [1, 2, 3, 3]);
  assertEquals(c.guards().slice(1), ['Number.isInteger(L["n"])', '0 <= L["n"] <= 2147483647']);
});

Deno.test("a size is a constant, then a symbol; further sizes compile nothing", () => {
  const fn = (inputs: { x: Tensor; y: Tensor }) => {
    const x = inputs.x.cos().cos();
    return x.mul(inputs.y);
  };
  const c = capture(fn);
  const graphs: number[] = [];
  for (const n of [10, 8, 9]) {
    const inputs = { x: ops.ones([n]), y: ops.ones([n]) };
    assertEquals(list(c.run(inputs)), list(fn(inputs)));
    graphs.push(c.graphs.length);
  }
  assertEquals(graphs, [1, 2, 2]);
  assert(c.guards().some((g) => g.includes("size=[None]")));
});

Deno.test("at the limit of versions, those from before a size changed make room for others that serve any size", () => {
  const fn = (x: Tensor, y: Tensor) => x.mul(x.shape[0] ?? 0).add(y.sum());
  const c = capture(fn), graphs: number[] = [];
  for (const n of [3, 4, 5]) {
    for (let rank = 1; rank <= 8; rank++) {
      const args = [ops.ones([n]), ops.ones(Array(rank).fill(2))] as const;
      assertEquals(list(c.run(...args)), list(fn(...args)));
    }
    graphs.push(c.graphs.length);
  }
  // Without room, calls of further sizes would run uncompiled
  assertEquals(graphs, [8, 16, 16]);
});

Deno.test("sizes 0 and 1 have programs of their own", () => {
  const fn = (x: Tensor, y: Tensor) => x.add(y).sum(0).mul(x.shape[0] ?? 0);
  const c = capture(fn);
  for (const [n, m] of [[3, 3], [2, 2], [1, 1], [4, 1], [0, 0], [5, 5]] as const) {
    const x = ops.ones([n, 2]), y = ops.ones([m, 2]);
    assertEquals(list(c.run(x, y)), list(fn(x, y)), `${n}, ${m}`);
  }
});

Deno.test("arithmetic on sizes is JavaScript's, for any size", () => {
  const fn = (x: Tensor) => {
    const [n = 0, m = 0] = x.shape;
    const half = Math.floor(n / 2), r = n % 3;
    return [
      x.view([n * m]).slice(0, half, half + 2).add(n * m),
      n ** 2,
      n / m,
      -n % n,
      r,
      n << 29,
      n > m,
      Math.max(n, 4),
    ];
  };
  const c = capture(fn);
  const shown = (r: ReturnType<typeof fn>) => r.map(list);
  for (const n of [4, 5, 8, 9]) assertEquals(shown(c.run(ops.ones([n, 3]))), shown(fn(ops.ones([n, 3]))));
});

Deno.test("floor division guards no remainder, whatever the dividend", () => {
  const fn = (x: Tensor, y: number) =>
    x.mul(Math.floor(y / 4)).add(Math.trunc(y / 2)).slice(0, 0, 1 + Math.floor(y / 8));
  const c = capture(fn, { dynamic: true });
  for (const y of [8, 9, 13, 16]) assertEquals(list(c.run(vector(3), y)), list(fn(vector(3), y)));
  assertEquals(c.graphs.length, 1);
});

Deno.test("a comparison of symbols becomes a guard", () => {
  const c = capture((x: Tensor, y: number) => y === 2 ? x.sub(1) : x.add(y), { dynamic: true });
  for (const y of [2, 2, 3, 4, 5]) c.run(vector(1), y);
  assertEquals(c.graphs.length, 2);
});

Deno.test("dynamic: false keeps every size a constant, dynamic: true none", () => {
  const never = capture((x: Tensor) => x.sin(), { dynamic: false });
  const always = capture((x: Tensor) => x.sin(), { dynamic: true });
  for (const n of [2, 3, 4]) {
    never.run(ops.ones([n]));
    always.run(ops.ones([n]));
  }
  assertEquals([never.graphs.length, always.graphs.length], [3, 1]);
});

Deno.test("marked dimensions follow their marks", () => {
  const fixed = capture((x: Tensor) => x.sin());
  const free = capture((x: Tensor) => x.sin());
  for (const n of [4, 5, 6]) {
    const x = ops.ones([n]), y = ops.ones([n]);
    markDimension(x, 0, { kind: "static" });
    markDimension(y, 0, { kind: "dynamic", min: 2, max: 100, strict: true });
    fixed.run(x);
    free.run(y);
  }
  assertEquals([fixed.graphs.length, free.graphs.length], [3, 1]);
});

Deno.test("other numbers become inputs once they change", () => {
  const fn = (x: Tensor, lr: number) => x.sub(x.mul(lr * 2));
  const c = capture(fn);
  for (const lr of [0.1, 0.25, 0.3, 0.75]) {
    assertEquals(list(c.run(vector(1, 2), lr)), list(fn(vector(1, 2), lr)));
  }
  assertEquals(c.graphs.length, 2);
  // A number decides the type of an integer tensor's result, so it stays a constant there.
  const integers = (x: Tensor, f: number) => x.mul(f);
  const i = capture(integers);
  const x = tensor([1, 2]);
  for (const f of [0.5, 1.5, 2.5]) assertEquals(i.run(x, f).dtype, integers(x, f).dtype);
});

Deno.test("captured integers of functions that are arguments count as one place", () => {
  const close = (k: number) => (y: Tensor) => y.add(k);
  const c = capture((x: Tensor, g: (y: Tensor) => Tensor) => g(x));
  for (let k = 2; k < 9; k++) assertEquals(list(c.run(vector(1), close(k))), [1 + k]);
  assertEquals(c.graphs.length, 2);
});

Deno.test("rank, element type, layout and gradients are guarded", () => {
  const c = capture((x: Tensor) => x.add(x.ndim).mul(x.isContiguous() ? 2 : 3));
  const calls = [
    vector(1, 2),
    ops.ones([2, 3]),
    ops.ones([2, 3]).t(),
    vector(1, 2).requiresGrad_(),
    tensor([1, 2], { dtype: "float64" }),
  ];
  for (const x of calls) assertEquals(list(c.run(x)), list(x.add(x.ndim).mul(x.isContiguous() ? 2 : 3)));
  assertEquals(c.entries(), 5);
});

Deno.test("a part of a tensor that grows needs no version of its own for each length of the whole", () => {
  const fn = (x: Tensor) => ops.sum(ops.mul(x, 2), -1);
  const part = (whole: number, width: number) =>
    vector(...Array.from({ length: 2 * whole }, (_, i) => i)).reshape([2, whole]).slice(
      1,
      whole - width,
      whole,
    );
  for (const width of [1, 2]) {
    // As a loop that generates passes in its prompt, then the last tokens of all
    const c = capture(fn), inputs = [part(4, 4), ...[5, 6, 7, 8, 9].map((whole) => part(whole, width))];
    for (const x of inputs) assertEquals(list(c.run(x)), list(fn(x)));
    assertEquals(c.graphs.length, 2);
  }
});

Deno.test("parts of tensors that grow have one version for each order of dimensions, however those take turns", () => {
  const c = capture((x: Tensor) => ops.mul(x, 2));
  for (let whole = 5; whole < 25; whole++) {
    const all = vector(...Array.from({ length: 3 * whole }, (_, i) => i));
    const x = whole % 2 === 0
      ? all.reshape([3, whole]).slice(1, 0, 3)
      : all.reshape([3, whole]).slice(1, 0, 3).t();
    assertEquals(list(c.run(x)), list(ops.mul(x, 2)));
  }
  assertEquals(c.entries(), 4);
});

Deno.test("dimensions in another order have a version of their own, with constant strides", () => {
  const c = capture((x: Tensor) => ops.mul(x, 2));
  const rows = vector(...Array.from({ length: 24 }, (_, i) => i)).reshape([2, 3, 4]);
  const other = rows.permute(0, 2, 1).contiguous().permute(0, 2, 1);
  for (const x of [rows, other, rows, other]) assertEquals(list(c.run(x)), list(ops.mul(x, 2)));
  assertEquals(c.graphs.length, 2);
  assert(!c.guards().join().includes("stride()["), `${c.guards()}`);
});

/** Calls that some sizes, strides or numbers do not admit: a list of sizes and strides, and what is called. */
const REFUSED: Readonly<Record<string, { run(x: Tensor): unknown; readonly layouts: readonly Layout[] }>> = {
  "a view": { run: (x) => x.view(2, -1), layouts: [[[5]], [[6]], [[7]], [[8]]] },
  "a view of strides": {
    run: (x) => x.view(-1),
    layouts: [[[2, 3], [6, 1]], [[2, 3], [7, 1]], [[2, 3], [3, 1]], [[2, 3], [8, 1]]],
  },
  "a product": { run: (x) => x.matmul(ops.ones([3, 4])), layouts: [[[2, 4]], [[2, 5]], [[2, 3]], [[4, 3]]] },
  "a sum": { run: (x) => x.add(ops.ones([4])), layouts: [[[3]], [[5]], [[4]], [[1]]] },
  "an element": { run: (x) => x.select(0, 5), layouts: [[[3]], [[4]], [[6]], [[5]], [[7]]] },
  "a write": { run: (x) => x.clone().add_(ops.ones([3, 4])), layouts: [[[4]], [[2, 4]], [[5, 4]], [[3, 4]]] },
  "a size as an argument": {
    run: (x) => x.reshape(x.numel() / 2, 2),
    layouts: [[[5]], [[7]], [[6]], [[9]], [[8]]],
  },
};

type Layout = readonly [shape: readonly number[], strides?: readonly number[]];

Deno.test("an exception that the program catches is thrown in the calls in which it is thrown uncompiled", () => {
  const text = (value: unknown) => isTensor(value) ? `[${value.shape}] ${list(value)}` : `${value}`;
  for (const [name, { run, layouts }] of Object.entries(REFUSED)) {
    const program = (x: Tensor): unknown => {
      try {
        return run(x);
      } catch {
        return "caught";
      }
    };
    for (const dynamic of [undefined, true]) {
      for (const order of [layouts, layouts.toReversed()]) {
        const call = capture(program, { dynamic }).run;
        for (const [shape, strides] of [...order, ...layouts]) {
          const make = () => {
            const count = shape.reduce((count, size) => count * size, 1),
              whole = ops.arange(64).to("float32");
            return strides ? whole.asStrided(shape, strides) : whole.slice(0, 0, count).view(shape);
          };
          assertEquals(text(call(make())), text(program(make())), `${name}: [${shape}], [${strides}]`);
        }
      }
    }
  }
});
