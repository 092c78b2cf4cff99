/**
 * Every op that changes a tensor's layout in place, against the same view out of place: of inputs, of captured tensors,
 * of intermediates and of views; with values computed from the tensor before and after, writes through all of them, and
 * gradients. Eagerly, compiled op by op, and compiled as WebAssembly and C++; with symbolic sizes. Also what PyTorch
 * rejects.
 */
import { assertEquals, assertStrictEquals, assertThrows, fail } from "@std/assert";
import { arange, compile, compiler, DynError, func, noGrad, Tensor, tensor } from "../mod.ts";
import { toolchainStatus } from "../backends/cpu/toolchain.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import "./support/devices.ts";
import "./support/turns/programs.ts";
import { sampleBySeed } from "./support/sampling.ts";

/** A call of one op: on a tensor of shape [2, 1, 3], or [2, 3] for a matrix. */
interface Change {
  readonly name: string;
  readonly inPlace: (x: Tensor) => Tensor;
  readonly byHand: (x: Tensor) => Tensor;
  readonly matrix?: boolean;
}

const CHANGES: readonly Change[] = [
  { name: "transpose", inPlace: (x) => x.transpose_(0, -1), byHand: (x) => x.transpose(0, -1) },
  {
    name: "swapaxes",
    inPlace: (x) => x.swapaxes_(0, 2),
    byHand: (x) => x.swapaxes({ axis0: 2, axis1: 0 }),
  },
  { name: "swapdims", inPlace: (x) => x.swapdims_(1, 2), byHand: (x) => x.swapdims(1, 2) },
  { name: "t", inPlace: (x) => x.t_(), byHand: (x) => x.t(), matrix: true },
  { name: "squeeze", inPlace: (x) => x.squeeze_(), byHand: (x) => x.squeeze() },
  { name: "squeeze", inPlace: (x) => x.squeeze_(1), byHand: (x) => x.squeeze(1) },
  { name: "squeeze", inPlace: (x) => x.squeeze_(0), byHand: (x) => x.squeeze(0) },
  { name: "unsqueeze", inPlace: (x) => x.unsqueeze_(-1), byHand: (x) => x.unsqueeze(-1) },
  {
    name: "asStrided",
    inPlace: (x) => x.asStrided_([3, 2], [2, 1]),
    byHand: (x) => x.asStrided([3, 2], [2, 1]),
  },
];

const UNSQUEEZE: Pick<Change, "inPlace" | "byHand"> = {
  inPlace: (x) => x.unsqueeze_(0),
  byHand: (x) => x.unsqueeze(0),
};

/** Changes a tensor, in place or by another one, and gives what shows the new layout. */
type Make = (x: Tensor, change: Pick<Change, "inPlace" | "byHand">) => Tensor;

const inPlace: Make = (x, change) => {
  change.inPlace(x);
  return x;
};
const byHand: Make = (x, change) => change.byHand(x);

/** The tensors whose layout is changed, from an input. */
const TARGETS: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  input: (x) => x,
  intermediate: (x) => x.mul(2),
  "view of an input": (x) => x.view(x.shape),
  "view of an intermediate": (x) => x.mul(2).view(x.shape),
};

const FACTORS = new Map(
  ["cpu", "wasm"].map((device) => [device, arange(1, 7, { dtype: "float32" }).to(device)]),
);

/** All changes of one kind of target: with views from before and after, and what is written through them. */
const program = (make: Make, target: (x: Tensor) => Tensor) => (inputs: readonly Tensor[]): Tensor[] =>
  CHANGES.flatMap((change, k) => {
    const x = target(inputs[k] ?? fail()), former = x.select(0, 1), before = x.mul(3).sum();
    const now = make(x, change), after = now.select(-1, 0);
    now.mul_((FACTORS.get(x.device) ?? fail()).view(now.shape));
    after.add_(1);
    former.sub_(0.5);
    const again = make(now, UNSQUEEZE);
    const sizes = tensor([...again.shape, ...again.strides], { dtype: "float32" });
    return [again, former, after, before, again.exp(), sizes];
  });

const inputs = (requiresGrad = false): Tensor[] =>
  CHANGES.map(({ matrix }) =>
    arange(6, { dtype: "float32" }).div(5).reshape(matrix ? [2, 3] : [2, 1, 3]).clone().requiresGrad_(
      requiresGrad,
    )
  );

const shown = (tensors: readonly (Tensor | null)[]): unknown =>
  tensors.map((each) => each && [each.shape, each.tolist()]);

/** Results, and gradients of the leaves. */
function observe(run: (given: readonly Tensor[]) => readonly Tensor[], leaves: readonly Tensor[]): unknown {
  const given = leaves.map((leaf) => leaf.requiresGrad ? leaf.mul(1) : leaf), results = run(given);
  const found = shown(results);
  results.filter((each) => each.requiresGrad).forEach((each, k) => {
    const weight = arange(each.numel(), { dtype: "float32" }).add(k % 7).div(9).reshape(each.shape).to(
      each.device,
    );
    each.mul(weight).sum().backward({ retainGraph: true });
  });
  return [found, shown(leaves.map(({ grad }) => grad))];
}

const TIERS = [
  { backend: "eager", device: "cpu" },
  { backend: "aot_eager", device: "cpu" },
  { backend: "inductor", device: "wasm" },
  ...(toolchainStatus().kind === "ready" ? [{ backend: "inductor", device: "cpu" }] : []),
];

const onDevice = (tensors: readonly Tensor[], device: string): Tensor[] =>
  tensors.map((each) => each.to(device));

Deno.test("the list of changes has every op", () => {
  const names = ALL_OPS.filter(({ inplace }) => inplace === "layout").flatMap(({ name, exposure }) => [
    name,
    ...(exposure?.aliases ?? []),
  ]);
  assertEquals([...new Set(CHANGES.map(({ name }) => name))].toSorted(), names.toSorted());
});

for (const [kind, target] of Object.entries(TARGETS)) {
  Deno.test(`a layout changed in place equals the view, and is differentiated like it: ${kind}`, () => {
    for (const requiresGrad of [false, true]) {
      const wanted = observe(program(byHand, target), inputs(requiresGrad));
      assertEquals(observe(program(inPlace, target), inputs(requiresGrad)), wanted, `grad ${requiresGrad}`);
    }
  });
}

for (const [kind, target] of sampleBySeed(Object.entries(TARGETS), 1)) {
  Deno.test(`compiled functions change layouts as plain ones do: ${kind}`, () => {
    for (const { backend, device } of TIERS) {
      const plain = program(inPlace, target), where = `${backend} on ${device}`;
      for (const dynamic of backend === "inductor" ? [undefined] : [undefined, true]) {
        compiler.reset();
        const compiled = compile(plain, { backend, dynamic, fullgraph: true });
        const wanted = onDevice(inputs(), device), given = onDevice(inputs(), device);
        const expected = plain(wanted), found = compiled(given);
        assertEquals(shown(found), shown(expected), where);
        assertEquals(shown(given), shown(wanted), `${where}: the inputs`);
        assertEquals(given.map((each) => each.strides), wanted.map((each) => each.strides), where);
        found.forEach((each, k) => {
          if (k % 6 === 0 && kind === "input") assertStrictEquals(each, given[k / 6]);
        });
      }
      const compiled = compile(plain, { backend });
      assertEquals(
        observe(compiled, onDevice(inputs(), device).map((x) => x.requiresGrad_())),
        observe(plain, onDevice(inputs(), device).map((x) => x.requiresGrad_())),
        `${where}, with gradients`,
      );
    }
  });
}

const flat = (value: unknown): unknown =>
  value instanceof Tensor ? [value.shape, value.strides, value.tolist()] : value;

const matrix = () => arange(6, { dtype: "float32" }).reshape(2, 3).clone();

const held = { tensor: matrix() };

Deno.test("captured tensors, sizes read before, and results that require grad", () => {
  const programs: readonly ((x: Tensor, w: Tensor) => unknown)[] = [
    (x) => {
      held.tensor.t_().add_(1);
      return [held.tensor, held.tensor.matmul(x.view([held.tensor.shape[1] ?? 0, -1]))];
    },
    (x) => {
      const { shape, strides } = x, size = x.shape[0] ?? 0;
      x.transpose_(0, 1);
      return [
        shape,
        strides,
        size,
        x.shape,
        x.strides,
        x.shape === x.shape,
        x.isContiguous(),
        x.size(0) + size,
      ];
    },
    (x) => {
      const y = x.select(0, 0), [first] = [y.asStrided_([1], [1]).item()];
      return [first, y.asStrided_([1], [1], 2).item(), y];
    },
    (x, w) => x.t_().matmul(w),
    (x, w) => w.matmul(x.t_()).add(x.sum()),
    (x, w) => {
      const y = w.t().mul(2);
      y.t_();
      const before = y.exp();
      return [before, x.t_().add(before.t()), y.requiresGrad, y.isLeaf];
    },
    (x) => {
      const y = x.squeeze_(0).mul(2);
      return [x === x.unsqueeze_(0).squeeze_(0), y, x];
    },
  ];
  for (const backend of ["eager", "aot_eager"]) {
    for (const run of programs) {
      const use = (f: typeof run): unknown => {
        held.tensor = matrix();
        const x = matrix(), w = matrix().requiresGrad_();
        const rounds = [0, 1].map(() => {
          const found = f(x, w), made = Array.isArray(found) ? found : [found];
          made.find((each): each is Tensor => each instanceof Tensor && each.requiresGrad)?.sum().backward();
          x.resize_(2, 3);
          return [...made.map(flat), flat(held.tensor)];
        });
        return [rounds, flat(w.grad)];
      };
      compiler.reset();
      assertEquals(use(compile(run, { backend })), use(run), `${run}`);
    }
  }
});

Deno.test("a changed layout keeps its history without recording, kept gradients, tangents and batches", () => {
  const leaf = matrix().requiresGrad_(), y = leaf.mul(2);
  y.retainGrad();
  noGrad(() => y.t_());
  const weight = arange(6, { dtype: "float32" }).reshape(3, 2);
  y.mul(weight).sum().backward();
  assertEquals(leaf.grad?.tolist(), [[0, 4, 8], [2, 6, 10]]);
  assertEquals(y.grad?.tolist(), weight.tolist());
  assertEquals([y.t_().detach_().gradFn, y.shape], [null, [2, 3]]);
  // A leaf stays one, and its gradient has the new sizes
  leaf.grad = null;
  noGrad(() => leaf.t_());
  leaf.mul(weight).sum().backward();
  assertEquals([leaf.isLeaf, leaf.grad && (leaf.grad as Tensor).tolist()], [true, weight.tolist()]);

  const turned = (x: Tensor) => {
    const z = x.mul(3);
    z.t_();
    return z.mul(weight);
  };
  const x = matrix();
  const byHandOf = (x: Tensor) => x.mul(3).t().mul(weight);
  for (const run of [turned, compile(turned, { backend: "eager" })]) {
    assertEquals(flat(func.jvp(run, [x], [x.add(1)])[1]), flat(func.jvp(byHandOf, [x], [x.add(1)])[1]));
    const batch = arange(12, { dtype: "float32" }).reshape(2, 2, 3);
    assertEquals(flat(func.vmap(run)(batch)), flat(func.vmap(byHandOf)(batch)));
    assertEquals(func.grad((x: Tensor) => run(x).sum())(x).tolist(), byHandOf(x.mul(0).add(1)).t().tolist());
  }
});

Deno.test("calls that PyTorch rejects are rejected, compiled or not", () => {
  const leaf = () => matrix().requiresGrad_();
  const refused: readonly (readonly [(x: Tensor) => unknown, string])[] = [
    [(x) => x.t_(), "leaf that requires grad"],
    [(x) => x.select(0, 0).unsqueeze_(0), "view of a leaf"],
    [(x) => x.detach().unsqueeze_(4), "Expected dim in [-3, 2] but found 4"],
    [(x) => x.detach().view([1, 2, 3]).t_(), "at most 2 dimensions"],
    [(x) => {
      const y = x.exp(), z = y.square();
      y.t_();
      z.sum().backward();
    }, "modified by an inplace operation"],
  ];
  for (const [run, message] of refused.slice(0, 4)) {
    assertThrows(() => run(leaf()), DynError, message);
    assertThrows(() => compile(run, { backend: "aot_eager" })(leaf()), DynError, message);
  }
  const [last = fail()] = refused.slice(4);
  assertThrows(() => last[0](leaf()), DynError, last[1]);
});
