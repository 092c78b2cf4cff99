/**
 * Views of tensors in every layout, written through one view and read through another: compiled programs give the
 * elements, strides and gradients of plain ones. Some of the combinations, selected by a seed (DYN_TEST_SEED), or all
 * of them (DYN_TEST_ALL=1).
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  arange,
  asStridedCopy,
  compile,
  compiler,
  DynError,
  func,
  ones,
  type Tensor,
  tensor,
  zerosLike,
} from "../mod.ts";
import "./support/turns/gradients.ts";
import { sampleBySeed } from "./support/sampling.ts";

type ViewOf = (x: Tensor) => Tensor;

/** Layouts of a tensor in the memory of a 3 × 4 matrix. */
const LAYOUTS: Readonly<Record<string, ViewOf>> = {
  rows: (x) => x,
  columns: (x) => x.t(),
  gaps: (x) => x.at(":", "::2"),
  behind: (x) => x.at("1:"),
  repeated: (x) => x.at("0:1").expand([3, 4]),
};

const WRITES: Readonly<Record<string, (x: Tensor) => unknown>> = {
  nothing: () => {},
  whole: (x) => x.mul_(2),
  transposed: (x) => x.t().add_(1),
  "a row": (x) => x.select(0, 1).add_(10),
  "a column": (x) => x.select(1, 0).mul_(3),
  "the diagonal": (x) => x.diagonal().add_(5),
  flat: (x) => x.view([-1]).add_(1),
  "by strides": (x) => x.asStrided([2, 2], [2, 1], x.storageOffset()).add_(7),
  windows: (x) => x.unfold(0, 2, 2).add_(1),
  "with one dimension more": (x) => x.unsqueeze(0).add_(1),
  narrowed: (x) => x.narrow(1, 0, 1).fill_(3),
  "there and back": (x) => x.t().transpose(1, 0).zero_(),
};

const READS: Readonly<Record<string, ViewOf>> = {
  flat: (x) => x.view([-1]),
  "by strides": (x) => x.asStrided([3], [1], x.storageOffset()),
  "by strides from the beginning": (x) => x.asStrided([2, 2], [1, 2]),
  transposed: (x) => x.t(),
  windows: (x) => x.unfold(1, 2, 1),
  "the diagonal": (x) => x.diagonal(),
  "a product": (x) => x.mul(1),
  reshaped: (x) => x.reshape([-1]),
  "transposed and flat": (x) => x.t().view([-1]),
  "a part": (x) => x.split(1, 1)[0] ?? x,
};

/** Where the tensor is made: outside of the program, in it, or in it from an intermediate. */
const PLACES = ["outside", "inside", "of an intermediate"] as const;

interface Combination {
  readonly layout: string;
  readonly write: string;
  readonly read: string;
  readonly place: typeof PLACES[number];
  /** Whether the view that is read was made before the write. */
  readonly early: boolean;
  readonly requiresGrad: boolean;
}

const COMBINATIONS: readonly Combination[] = Object.keys(LAYOUTS).flatMap((layout) =>
  Object.keys(WRITES).flatMap((write) =>
    Object.keys(READS).flatMap((read) =>
      PLACES.flatMap((place) =>
        [false, true].flatMap((early) =>
          [false, true].map((requiresGrad) => ({ layout, write, read, place, early, requiresGrad }))
        )
      )
    )
  )
);

/** Returns the result of a program, or why it refuses. */
function outcomeOf(combination: Combination, backend?: string): unknown {
  const { place, early, requiresGrad } = combination;
  const layout = LAYOUTS[combination.layout],
    write = WRITES[combination.write],
    read = READS[combination.read];
  assert(layout && write && read);
  const leaf = arange(0, 12, { dtype: "float32" }).reshape([3, 4]).requiresGrad_(requiresGrad);
  const program = (x: Tensor): readonly [Tensor, Tensor] => {
    const base = place === "outside" ? x : layout(place === "inside" ? x : x.mul(1));
    const former = early ? read(base) : null;
    write(base);
    return [former ?? read(base), base];
  };
  const own = requiresGrad ? leaf.mul(1) : leaf.clone();
  try {
    const run = backend ? compile(program, { backend }) : program;
    const [result, base] = run(place === "outside" ? layout(own) : own);
    const shown = [result.tolist(), result.strides, base.tolist(), own.tolist()];
    if (!requiresGrad) return shown;
    const weights = arange(1, result.numel() + 1, { dtype: "float32" }).reshape(result.shape);
    result.mul(weights).sum().backward();
    return [...shown, leaf.grad?.tolist()];
  } catch (error) {
    if (error instanceof DynError) {
      return `refused: ${error.message.replace(/needed by \w+, is at version.*/, "")}`;
    }
    throw error;
  }
}

for (const [backend, count] of [["aot_eager", 220], ["inductor", 12]] as const) {
  Deno.test(`views of tensors in every layout, ${backend}`, () => {
    let refused = 0;
    const combinations = sampleBySeed(COMBINATIONS, count);
    for (const combination of combinations) {
      const plain = outcomeOf(combination);
      if (typeof plain === "string") refused++;
      assertEquals(outcomeOf(combination, backend), plain, JSON.stringify(combination));
    }
    assert(
      refused < combinations.length / 2 || count < 100,
      `Expected most programs to be accepted but ${refused} of ${combinations.length} were refused`,
    );
  });
}

Deno.test("constants seen through views keep the strides that later views need", () => {
  const there = () => ones([2, 3]).t().t().view([6]).add(1), at = compile(there, { backend: "aot_eager" });
  assertEquals([at().tolist(), compile(there)().tolist()], [[2, 2, 2, 2, 2, 2], [2, 2, 2, 2, 2, 2]]);
  const back = compile((x: Tensor) => zerosLike(x).permute(2, 0, 1).permute(1, 2, 0).view([-1]));
  assertEquals(back(ones([2, 1, 2])).tolist(), [0, 0, 0, 0]);
});

/** Views that leave the memory of three elements. */
const BEYOND: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  "of an input": (x) => x.asStrided([2, 2], [2, 1], 1),
  "of an intermediate tensor": (x) => x.add(1).asStrided([2, 2], [2, 1], 1),
  "copied": (x) => asStridedCopy(x, [4], [1]),
  "in place": (x) => x.asStrided_([2], [3], 0),
  "of one that grew and shrank": (x) => x.resize_([5]).resize_([2]).asStrided([6], [1]),
  "of a row under vmap": (x) => func.vmap((row: Tensor) => row.asStrided([2], [3]))(x.unsqueeze(0)),
  "written to": (x) => {
    x.asStrided([2], [3]).zero_();
    return x;
  },
};

Deno.test("strides that leave the memory of a tensor are refused, and what lies within it is seen", () => {
  for (const [name, leave] of Object.entries(BEYOND)) {
    for (const run of [leave, compile(leave), compile(leave, { dynamic: true })]) {
      assertThrows(() => run(tensor([1, 2, 3])), DynError, "Expected a view within a storage of", name);
    }
  }
  const before = (x: Tensor) => x.asStrided([2], [1], -1);
  for (const run of [before, compile(before)]) {
    assertThrows(() => run(tensor([1, 2, 3])), DynError, "storageOffset of at least 0 but found -1");
  }
  const whole = (x: Tensor) => x.asStrided([3], [2], 1).mul(1);
  for (const run of [whole, compile(whole)]) {
    assertEquals(run(tensor([1, 2, 3, 4, 5, 6]).slice(0, 2, 4)).tolist(), [2, 4, 6]);
  }
  const result = compile((x: Tensor) => x.mul(2))(tensor([1, 2, 3]));
  assertThrows(() => result.asStrided([4], [1]), DynError, "storage of 3 elements");
});

/** Tensors that show all of their memory in order, by other sizes than it was made with. */
const IN_ORDER: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  viewed: (x) => x.view(4, 3),
  flattened: (x) => x.flatten(),
  unsqueezed: (x) => x.unsqueeze(0),
  "permuted back": (x) => x.t().t(),
  "viewed, and sliced whole": (x) => x.view(12).slice(0, 0, 12),
};

/** Overlapping windows of it, read and written. */
const WINDOWED: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  read: (x) => x.asStrided([3, 4], [4, 1]).mul(2).relu_(),
  "read with overlap": (x) => x.asStrided([2, 8], [4, 1]).exp(),
  written: (x) => {
    x.asStrided([2, 3], [6, 1], 1).mul_(3);
    return x.sin();
  },
  "read after a write": (x) => {
    const windows = x.asStrided([2, 8], [4, 1]);
    x.mul_(2);
    return windows.sin();
  },
};

Deno.test("strides over a reshaped intermediate tensor stay in one graph, as over the tensor itself", () => {
  for (const [shown, see] of Object.entries(IN_ORDER)) {
    for (const [done, use] of Object.entries(WINDOWED)) {
      const fn = (x: Tensor) => use(see(x.mul(1.5)));
      const compiled = compile(fn, { backend: "aot_eager", fullgraph: true });
      const [plain, captured] = [fn, compiled].map((run) => {
        const x = tensor(Array.from({ length: 3 }, (_, i) => [4, 3, 2, 1].map((e) => e / 8 - i / 4)), {
          requiresGrad: true,
        });
        const y = run(x);
        y.square().sum().backward();
        return { y: y.tolist(), grad: x.grad?.tolist() };
      });
      assertEquals(captured, plain, `${shown}, ${done}`);
    }
  }
});

Deno.test("gradients of sums that are read through permuted and joined dimensions compile for symbolic sizes", () => {
  const kept = (x: Tensor) => {
    const [a = 1, b = 1, c = 1, d = 1, e = 1] = x.shape;
    const centred = x.sub(x.sum(4, { keepdim: true }));
    return centred.permute(1, 0, 3, 4, 2).reshape(b, a * c * d * e).square().sum();
  };
  const twice = (x: Tensor) => {
    const [a = 1, b = 1, c = 1, d = 1, e = 1] = x.shape, y = x.softmax(2);
    return y.reshape(a, b * c, d, e).sin().sum().add(y.softmax(2).reshape(a * b, c, d * e).square().sum());
  };
  for (const fn of [kept, twice]) {
    const f = compile(fn, { dynamic: true, options: { tier: "wasm" } });
    for (const n of [2, 3]) {
      const x = arange(n * 128).reshape(n, 2, 4, 4, 4).sin();
      const [found, wanted] = [f, fn].map((each) => {
        const leaf = x.clone().requiresGrad_();
        each(leaf).backward();
        return leaf.grad!;
      });
      assert(found!.allclose(wanted!, { rtol: 1e-5, atol: 1e-6 }), `${fn.name} of ${n}`);
    }
    assertEquals(compiler.status(f).fallbacks, 0);
  }
});
