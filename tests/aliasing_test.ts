/**
 * Results alias inputs, each other, or nothing, exactly as uncompiled, and have the same layouts. Simplification may
 * drop operations that compute nothing, but not the memory that they owned.
 */
import { assertEquals } from "@std/assert";
import { arange, cat, compile, nn, ones, type Tensor, viewAsComplex, viewAsReal, where } from "../mod.ts";

/** No-ops, whose results still have separate memory. */
const COPIES: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  clone: (x) => x.clone(),
  "times one": (x) => x.mul(1),
  "divided by one": (x) => x.div(1),
  "power of one": (x) => x.pow(1),
  "minus zero": (x) => x.sub(0),
  "negated twice": (x) => x.neg().neg(),
  "choice of the same": (x) => where(x.gt(2), x, x),
  "joined alone": (x) => cat([x]),
  "least of the same": (x) => x.minimum(x),
  "greatest of the same": (x) => x.maximum(x),
  "sine": (x) => x.to("float32").sin(),
};

/** Views of a copy. */
const VIEWS: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  itself: (x) => x,
  transposed: (x) => x.t(),
  "a part": (x) => x.slice(1, 0, 2),
  "a column": (x) => x.select(1, 1),
  flat: (x) => x.flatten(),
  "the diagonal": (x) => x.diagonal(),
  expanded: (x) => x.unsqueeze(0).expand([2, -1, -1]),
};

/** The memory of tensors by number, in order of appearance, and their layouts. */
function memory(tensors: readonly Tensor[]): unknown {
  const storages: unknown[] = [];
  return tensors.map((tensor) => {
    if (!storages.includes(tensor.storage)) storages.push(tensor.storage);
    return [storages.indexOf(tensor.storage), tensor.shape, tensor.strides];
  });
}

const matrix = (dtype: "float32" | "int64") => arange(12).reshape([3, 4]).to(dtype);

/** Every copy under every view, and twice the same. */
function everyForm(x: Tensor): Tensor[] {
  const results: Tensor[] = [x.t(), x.slice(0, 1)];
  for (const copy of Object.values(COPIES)) {
    for (const view of Object.values(VIEWS)) results.push(view(copy(x)));
    const shared = copy(x);
    results.push(shared.t(), shared.clone().t(), shared.select(0, 0));
  }
  return results;
}

Deno.test("results of ops that are no views have memory of their own, also where nothing is to be done", () => {
  const { adaptiveAvgPool2d, channelShuffle, pixelShuffle, pixelUnshuffle, unfold } = nn.functional;
  const ops: Record<string, (x: Tensor) => Tensor> = {
    ...COPIES,
    "repeated once": (x) => x.repeatInterleave(1, 0),
    "pixels shuffled by one": (x) => pixelShuffle(x, 1),
    "pixels gathered by one": (x) => pixelUnshuffle(x, 1),
    "shuffled as one group": (x) => channelShuffle(x, 1),
    "windows of one": (x) => unfold(x, 1),
    "means of one": (x) => adaptiveAvgPool2d(x, 2),
    "first power": (x) => x.matrixPower(1),
    "complex product of one": (x) => viewAsReal(viewAsComplex(x).prod(0)),
    "complex product of a scalar": (x) => viewAsReal(viewAsComplex(x).select(2, 0).squeeze().prod(0)),
    "running complex product of one": (x) => viewAsReal(viewAsComplex(x).cumprod(0)),
    "running complex product of a scalar": (x) =>
      viewAsReal(viewAsComplex(x).select(2, 0).squeeze().cumprod(0)),
  };
  for (const [name, op] of Object.entries(ops)) {
    for (const run of [op, compile(op)]) {
      const x = ones(1, 1, 2, 2);
      run(x).zero_();
      assertEquals(x.sum().item(), 4, name);
    }
  }
});

for (const backend of ["eager", "aot_eager", "inductor"]) {
  Deno.test(`results share memory as they do uncompiled: ${backend}`, () => {
    for (const dtype of ["float32", "int64"] as const) {
      const x = matrix(dtype), y = matrix(dtype);
      const wanted = everyForm(x), found = compile(everyForm, { backend })(y);
      assertEquals(memory([y, ...found]), memory([x, ...wanted]), dtype);
      // Writing into a result reaches whom it should.
      found.forEach((result, k) => {
        wanted[k]?.select(0, 0).zero_();
        result.select(0, 0).zero_();
      });
      assertEquals(y.tolist(), x.tolist(), dtype);
      assertEquals(found.map((t) => t.tolist()), wanted.map((t) => t.tolist()), dtype);
    }
  });
}

Deno.test("results that alias a written input are those after the write, in its memory if they are views", () => {
  const program = (x: Tensor) => {
    const before = x.clone(), row = x.select(0, 0);
    x.add_(1);
    return [before.t(), row, x.mul(1).t(), x];
  };
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    const x = matrix("float32"), y = matrix("float32");
    const wanted = program(x), found = compile(program, { backend })(y);
    assertEquals(memory([y, ...found]), memory([x, ...wanted]), backend);
    assertEquals(found.map((t) => t.tolist()), wanted.map((t) => t.tolist()), backend);
  }
});

Deno.test("inputs that overlap in part are written and read as uncompiled, also where they were apart before", () => {
  const program = (a: Tensor, b: Tensor) => {
    a.add_(1);
    a.mul_(b);
    return b.mul(2);
  };
  const parts = (isApart: boolean) => {
    const whole = arange(10, { dtype: "float32" });
    return [whole.narrow(0, 0, 4), whole.narrow(0, isApart ? 5 : 1, 4), whole] as const;
  };
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    const compiled = compile(program, { backend });
    for (const isApart of [true, false, true, false]) {
      const [a, b, whole] = parts(isApart), [p, q, other] = parts(isApart);
      assertEquals(compiled(a, b).tolist(), program(p, q).tolist(), `${backend}, apart: ${isApart}`);
      assertEquals(whole.tolist(), other.tolist(), `${backend}, apart: ${isApart}`);
    }
  }
});

Deno.test("memory seen as elements of two types is written and read through both", () => {
  const program = (x: Tensor, bits: Tensor) => {
    x.add_(1);
    const before = bits.mul(1), made = x.mul(2), pairs = made.view("int16");
    bits.add_(1);
    pairs.at(0).fill_(7);
    return [before, x.mul(1), x.view("int32"), made, pairs];
  };
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    const x = arange(4, { dtype: "float32" }), y = x.clone();
    const wanted = program(x, x.view("int32")), found = compile(program, { backend })(y, y.view("int32"));
    assertEquals([y, ...found].map((t) => t.tolist()), [x, ...wanted].map((t) => t.tolist()), backend);
    assertEquals(found[2]?.storage, y.storage);
  }
});
