/**
 * Attention and its gradients on every tier against the same function in float64, which runs op by op: lengths that no block
 * divides, more and fewer keys than queries, masks of numbers and of choices, rows that see nothing, shared heads, one row.
 */
import { assert, assertEquals } from "@std/assert";
import {
  arange,
  compile,
  compiler,
  config,
  type GraphBackend,
  manualSeed,
  nn,
  optim,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import "./support/turns/gradients.ts";
import { SKIP_NATIVE } from "./support/native.ts";

const { scaledDotProductAttention: attend } = nn.functional;

interface Form {
  readonly queries: readonly number[];
  readonly keys: readonly number[];
  readonly attend: (q: Tensor, k: Tensor, v: Tensor) => Tensor;
}

const FORMS: Readonly<Record<string, Form>> = {
  "causal, 8 features": {
    queries: [2, 3, 75, 8],
    keys: [2, 3, 75, 8],
    attend: (q, k, v) => attend(q, k, v, null, 0, true),
  },
  "causal, fewer keys than queries": {
    queries: [5, 140, 16],
    keys: [5, 90, 16],
    attend: (q, k, v) => attend(q, k, v, null, 0, true),
  },
  "a mask of numbers, 128 features, more keys": {
    queries: [3, 40, 128],
    keys: [3, 150, 128],
    attend: (q, k, v) =>
      attend(q, k, v, arange(150).mul(-0.01).add(arange(40).unsqueeze(1).mul(0.1)).to(q.dtype)),
  },
  "rows that see nothing": {
    queries: [2, 2, 66, 20],
    keys: [2, 2, 66, 20],
    attend: (q, k, v) => attend(q, k, v, arange(66).unsqueeze(1).gt(9).logicalAnd(arange(66).lt(50))),
  },
  "heads that share keys": {
    queries: [1, 4, 70, 32],
    keys: [1, 2, 70, 32],
    attend: (q, k, v) => attend(q, k, v, null, 0, true, { enableGqa: true }),
  },
  "one row": {
    queries: [2, 1, 24],
    keys: [2, 300, 24],
    attend: (q, k, v) => attend(q, k, v),
  },
  "by hand": {
    queries: [2, 100, 12],
    keys: [2, 70, 12],
    attend: (q, k, v) => q.mul(0.3).matmul(k.transpose(-2, -1)).softmax(-1).matmul(v),
  },
};

/** The results of all forms, and the gradients of their inputs. */
function everything(of: readonly Form[], inputs: readonly Tensor[], wide: boolean): Tensor[] {
  const own = inputs.map((x) => (wide ? x.double() : x.clone()).requiresGrad_());
  const run = (...tensors: Tensor[]): Tensor[] =>
    of.map(({ attend }, i) => {
      const [q, k, v] = tensors.slice(3 * i, 3 * i + 3);
      assert(q && k && v);
      return attend(q, k, v);
    });
  const results = (wide ? run : compile(run, { fullgraph: true }))(...own);
  results.map((x) => x.sin().sum()).reduce((a, b) => a.add(b)).backward();
  return [...results, ...own.flatMap(({ grad }) => grad ?? [])].map((x) => x.detach());
}

function check(tier: "wait" | "wasm"): void {
  manualSeed(6);
  const forms = Object.values(FORMS), names = Object.keys(FORMS);
  const inputs = forms.flatMap(({ queries, keys }) =>
    [queries, keys, keys].map((shape) => randn([...shape]))
  );
  const wanted = everything(forms, inputs, true);
  const found = config.patch(
    { inductor: { tier, errorOnFallback: true } },
    () => everything(forms, inputs, false),
  );
  assertEquals([found.length, wanted.length], [4 * forms.length, 4 * forms.length]);
  found.forEach((x, i) => {
    const y = wanted[i], name = names[i < forms.length ? i : Math.floor((i - forms.length) / 3)];
    assert(y);
    assertEquals(x.shape, y.shape);
    const most = Number(x.double().sub(y).abs().max().item()) / Number(y.abs().max().item());
    assert(most < 2e-6, `${i} of ${name}: ${most}`);
  });
}

Deno.test("attention and its gradients in WebAssembly are those of float64", () => check("wasm"));

Deno.test("gradients of attention over lengths that a call passes, in WebAssembly, are those of float64", () =>
  config.patch({ inductor: { tier: "wasm", errorOnFallback: true } }, () => {
    manualSeed(9);
    const causal = (q: Tensor, k: Tensor, v: Tensor) => attend(q, k, v, null, 0, true);
    const run = compile(causal, { dynamic: true, fullgraph: true });
    for (const length of [150, 37, 260]) {
      const inputs = [0, 1, 2].map(() => randn([3, length, 8]));
      const [wanted, found] = [causal, run].map((f, at) => {
        const own = inputs.map((x) => (at === 0 ? x.double() : x.clone()).requiresGrad_()), [q, k, v] = own;
        assert(q && k && v);
        const result = f(q, k, v);
        result.sin().sum().backward();
        return [result.detach(), ...own.flatMap(({ grad }) => grad ?? [])];
      });
      found?.forEach((x, i) => {
        const y = wanted?.[i];
        assert(y);
        const most = Number(x.double().sub(y).abs().max().item()) / Number(y.abs().max().item());
        assert(most < 2e-6, `${i} of ${length}: ${most}`);
      });
    }
  }));

Deno.test({
  name: "attention and its gradients in native code are those of float64",
  ignore: SKIP_NATIVE,
  fn: () => check("wait"),
});

Deno.test("a query without allowed keys has a result and a gradient of zeros, as in PyTorch", () => {
  // torch 2.15: x = (arange(12) · 0.37).sin() as [3, 4]; attention of x, x / 2, −2x; gradients of the sum of its sines
  const x = arange(12).mul(0.37).sin().reshape(3, 4);
  const own = [1, 0.5, -2].map((factor) => x.mul(factor).requiresGrad_()), [q, k, v] = own;
  assert(q && k && v);
  const mask = tensor([[false, false, false], [true, false, true], [true, true, true]]);
  const result = attend(q, k, v, mask);
  result.sin().sum().backward();
  const wanted = [
    [0, 0, 0, 0, -0.132233, -0.321319, -0.466916, -0.549318, -0.73046, -0.570469, -0.333268, -0.05096],
    [0, 0, 0, 0, 0.060013, -0.182406, -0.400137, -0.563712, -0.220472, -0.431789, -0.584666, -0.658412],
    [
      ...[-0.716363, -0.582365, -0.369546, -0.106711, -0.109745, 0.113815, 0.321971, 0.486549],
      ...[0.826108, 0.468549, 0.047575, -0.379838],
    ],
    [
      ...[0.825324, 0.824006, 0.81592, 0.804718, 0.212316, 0.239902, 0.269355, 0.284668],
      ...[0.698498, 0.72656, 0.752665, 0.762196],
    ],
  ];
  [result, ...own.flatMap(({ grad }) => grad ?? [])].forEach((found, i) => {
    const most = found.detach().reshape(-1).sub(tensor(wanted[i] ?? [])).abs().max().item();
    assert(Number(most) < 2e-6, `${i}: ${most}`);
  });
});

Deno.test("whole training steps recompute attention scores and save no weights of them", () => {
  const x = randn([1, 1100, 8]), drawn = [0, 1, 2].map(() => randn([8, 8]).mul(0.3));
  /** Losses and parameters of two steps. */
  const train = (backend: GraphBackend | "inductor" | null): readonly Tensor[] => {
    manualSeed(5);
    const maps = drawn.map((map) => map.clone().requiresGrad_());
    const optimizer = new optim.SGD(maps, { lr: 1 });
    const step = (x: Tensor): Tensor => {
      optimizer.zeroGrad();
      const [q, k, v] = maps.map((map) => x.matmul(map));
      assert(q && k && v);
      const loss = attend(q, k, v, null, 0.2, true).square().mean();
      loss.backward();
      optimizer.step();
      return loss.detach();
    };
    const run = backend === null ? step : compile(step, { backend, fullgraph: true });
    return [run(x), run(x), ...maps.map((map) => map.detach())];
  };
  const products: (readonly string[])[] = [];
  const counted = compiler.aotAutograd({
    fwCompiler: (gm) => {
      const found = gm.graph.findNodes({ op: "call_function", target: "bmm" });
      products.push(found.map(({ meta: { turn, ofPass } }) => turn ?? (ofPass ? "backward" : "forward")));
      return (...args) => gm.forward(...args);
    },
  });
  const wanted = train(null);
  for (const backend of [counted, "inductor"] as const) {
    train(backend).forEach((each, i) => {
      const most = each.sub(wanted[i] ?? NaN).abs().max().item() / (wanted[i]?.abs().max().item() ?? 0);
      assert(most < 2e-6, `${i}: ${most}`);
    });
  }
  assertEquals(products, [["first", "first", "backward", "again", "backward", "backward", "backward"]]);
});

Deno.test({
  name: "dropout of many weights draws in the backward what it drew in the forward",
  ignore: SKIP_NATIVE,
  fn: () =>
    config.patch({ inductor: { tier: "wait", errorOnFallback: true } }, () => {
      manualSeed(7);
      const made = () => randn([1, 1100, 8]),
        [q, k, v, slope, way] = [made(), made(), made(), made(), made()];
      const run = compile((q: Tensor, k: Tensor, v: Tensor) => attend(q, k, v, null, 0.4, true), {
        fullgraph: true,
      });
      const drawn = (step: number): Tensor => {
        manualSeed(8);
        return run(q.add(way.mul(step)).requiresGrad_(), k, v);
      };
      const [ownQ, ownV] = [q.clone().requiresGrad_(), v.clone().requiresGrad_()];
      manualSeed(8);
      const result = run(ownQ, k, ownV);
      result.mul(slope).sum().backward();
      const dot = (a: Tensor, b: Tensor): number => Number(a.double().mul(b.double()).sum().item());
      // The result is linear in the values, so that their gradient gives it back
      const { grad: dq } = ownQ, { grad: dv } = ownV;
      assert(dq && dv);
      const linear = dot(result.detach(), slope);
      assert(Math.abs(dot(dv, v) - linear) < 1e-4 * Math.abs(linear), `${dot(dv, v)}, ${linear}`);
      const rise = (dot(drawn(1e-2).detach(), slope) - dot(drawn(-1e-2).detach(), slope)) / 2e-2;
      assert(Math.abs(dot(dq, way) - rise) < 1e-2 * Math.abs(rise), `${dot(dq, way)}, ${rise}`);
    }),
});
