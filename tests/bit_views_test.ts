/**
 * Views of memory as elements of another type within a graph: what is read and written through them, bit by bit. The
 * oracle is the memory itself: uncompiled calls compute nothing, and share it.
 */
import { assertEquals, assertThrows } from "@std/assert";
import { compile, compiler, type DType, DynError, rand, type Tensor, tensor } from "../mod.ts";
import { itemSize } from "../lib/base/dtype.ts";
import { keepsBits } from "../lib/ops/shape/bit_views.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { sampleBySeed } from "./support/sampling.ts";

const TYPES: readonly DType[] = ["float32", "float64", "int64", "int32", "int16", "int8", "uint8"];

/** Words that a conversion by value would change: signalling and quiet NaNs, subnormal numbers, −0, infinities. */
const SPECIAL = [0x7f800001, 0xff812345, 0x7fc01234, 0xffc00000, 0x7f800000, 0xff800000, 0x80000000, 1]
  .concat([0x807fffff, 0x7ff00000, 0x7ff00001, 0xfff80000, 0x7f7fffff, 0xffffffff, 0x00ff00ff, 0x80808080]);

/** 6 rows of 64 bytes as elements of a type. */
function rows(dtype: DType): Tensor {
  const words = Array.from({ length: 96 }, (_, k) => SPECIAL[(k * 7 + (k >> 4)) % SPECIAL.length] ?? 0);
  return tensor(words.map((word) => word | 0), { dtype: "int32" }).view(6, 16).view(dtype);
}

const bytes = (x: Tensor): unknown => [x.dtype, x.shape, x.contiguous().view("uint8").tolist()];

type Layout = readonly [name: string, take: (x: Tensor) => Tensor, isWhole?: boolean];

/** Parts of rows that hold whole elements of every type, and layouts that only elements of the same size allow. */
const LAYOUTS: readonly Layout[] = [
  ["whole", (x) => x],
  ["rows", (x) => x.at("1::2")],
  ["half of each row", (x) => x.slice(1, x.shape[1]! / 2)],
  ["three dimensions", (x) => x.view(2, 3, -1).transpose(0, 1)],
  ["a row", (x) => x.at(2)],
  ["transposed", (x) => x.t(), true],
  ["columns", (x) => x.at(":", "1::3"), true],
];

/** Reads and writes through a tensor, a view of its memory as another type, and a view of that as the first type. */
function program(take: (x: Tensor) => Tensor, to: DType): (x: Tensor) => Tensor[] {
  return (x) => {
    const part = take(x), seen = part.view(to), before = seen.clone();
    part.copy_(part.flip(0));
    const between = seen.clone();
    seen.copy_(seen.flip(-1));
    const back = seen.view({ dtype: part.dtype }), own = part.clone(), ownBits = own.view(to);
    ownBits.select(0, 0).fill_(3);
    back.select(0, 0).fill_(5);
    return [before, between, x.clone(), seen, back, own, ownBits];
  };
}

const PAIRS = TYPES.flatMap((from) =>
  TYPES.filter((to) => keepsBits(from, to)).map((to) => [from, to] as const)
);
const CASES = PAIRS.flatMap(([from, to]) =>
  LAYOUTS.filter(([, , isWhole]) => !isWhole || itemSize(from) === itemSize(to)).map((layout) =>
    [from, to, layout] as const
  )
);

Deno.test("views as another type read and write the same bits in a graph as in memory", () => {
  for (const [k, [from, to, [name, take]]] of sampleBySeed(CASES, 6).entries()) {
    const fn = program(take, to), backend = k % 4 === 0 ? "aot_eager" : "inductor";
    const x = rows(from), y = x.clone(), wanted = fn(x), compiled = compile(fn, { backend, fullgraph: true });
    const found = compiled(y), what = `${from} as ${to}, ${name}, ${backend}`;
    assertEquals([y, ...found].map(bytes), [x, ...wanted].map(bytes), what);
    const [, , , seen, back, own, ownBits] = found;
    assertEquals([seen, back].map((each) => each?.storage === y.storage), [true, true], what);
    assertEquals(own?.storage === ownBits?.storage, true, what);
  }
});

Deno.test({
  name: "short rows of pairs that are joined, reversed and selected by their row are right in C++",
  ignore: SKIP_NATIVE,
  fn() {
    // Copies of the short loop would be vectorised with the mask of the first one
    for (const from of ["float32", "int32"] as const) {
      const fn = program((x) => x, "float64"), x = rows(from), y = x.clone(), wanted = fn(x);
      const found = compile(fn, { fullgraph: true, options: { tier: "wait" } })(y);
      assertEquals([y, ...found].map(bytes), [x, ...wanted].map(bytes), from);
    }
  },
});

Deno.test("views of computed elements as another type, with sizes that change", () => {
  const fn = (x: Tensor) => {
    // float32 to bfloat16 with its last bits cut off, and the mantissas of the elements
    const cut = x.mul(2).view("int32").bitwiseAnd(-65536).view("float32");
    return [
      cut,
      x.add(1).view("int16").sum(-1),
      cut.view("int8").clone(),
      x.view("int32").bitwiseAnd(0x7fffff),
    ];
  };
  const compiled = compile(fn, { fullgraph: true, dynamic: true });
  for (const size of [2, 8, 34, 130]) {
    const x = rand([3, size]).sub(0.5);
    assertEquals(compiled(x).map(bytes), fn(x).map(bytes), `${size}`);
  }
});

Deno.test("a view as another type has no gradient, and the gradient of its memory is that without it", () => {
  const fn = (x: Tensor) => {
    const y = x.mul(2), bits = y.view("int32"), same = y.view("float32");
    bits.select(0, 0).fill_(0x40400000);
    return [y.mul(3), bits.mul(1), same] as const;
  };
  const run = (called: typeof fn) => {
    const x = tensor([1, 2], { requiresGrad: true }), [out, bits, same] = called(x);
    out.sum().backward();
    return [out.tolist(), bits.tolist(), same.requiresGrad, x.grad?.tolist()];
  };
  const wanted = run(fn);
  assertEquals(wanted, [[9, 12], [0x40400000, 0x40800000], false, [6, 6]]);
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    assertEquals(run(compile(fn, { backend, fullgraph: true })), wanted, backend);
  }
});

Deno.test("views whose bits kernels do not keep end the graph, and their elements are right", () => {
  const bits = tensor([0x7c01, 0x7f80, 0x3c00, -0x3ff], { dtype: "int16" });
  const program = (x: Tensor, from: DType) => [x.view(from).view("int16"), x.add(0)];
  for (const half of ["float16", "bfloat16"] as const) {
    const found = compile(program)(bits, half);
    assertEquals(found.map((each) => each.tolist()), [bits.tolist(), bits.tolist()], half);
    assertEquals(compiler.explain((x: Tensor) => x.view(half))(bits).breakReasons.length, 1, half);
  }
  const numbers = tensor([{ re: 1, im: 2 }]);
  assertEquals(compile((x: Tensor) => x.view("complex64").view("float32").add(1))(numbers).tolist(), [2, 3]);
  const flags = tensor([true, false]);
  assertEquals(compile((x: Tensor) => x.view("uint8").add(1))(flags).tolist(), [2, 1]);
});

Deno.test("views as another type are refused in a graph as outside", () => {
  const x = rand([3, 5]);
  const calls: readonly (readonly [(x: Tensor) => Tensor, string])[] = [
    [(x) => x.t().view("int16"), "last dimension of stride 1"],
    [(x) => x.to("int16").view("int32"), "sizes divisible by 2"],
    [(x) => x.to("int8").at(":", ":4").view("int32"), "strides divisible by 4"],
    [(x) => x.sum().view("int8"), "but found a scalar"],
    [(x) => x.view("bool"), "use ne(0)"],
    [(x) => Reflect.apply(x.view, x, [{ dtype: "int32", size: 3 }]), "size"],
  ];
  for (const [call, message] of calls) {
    assertThrows(() => call(x), DynError, message);
    assertThrows(() => compile((x: Tensor) => call(x.mul(1)))(x), DynError, message);
  }
});
