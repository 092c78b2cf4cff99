/** Ops that users define: eager and compiled, differentiated, over batches, writing to arguments, checked. */
import { assertEquals, assertThrows, fail } from "@std/assert";
import {
  compile,
  compiler,
  cond,
  func,
  higherOrderOps,
  init,
  isTensor,
  library,
  noGrad,
  ones,
  randn,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

/** Squares on the host, which no tracer can look into. */
const squares = library.customOp("tests::squares", (x: Tensor, by: number): Tensor => {
  const elements: number[] = [];
  for (const each of x.toTypedArray()) elements.push(Number(each) ** 2 * by);
  return tensor(elements, { dtype: x.dtype }).reshape(x.shape);
});
squares.registerFake((x: Tensor, _by: number) => x.newEmpty(x.shape));
squares.registerAutograd((context, grad: Tensor) => {
  const [x] = context.savedTensors;
  return [grad.mul(x ?? fail("a saved tensor")).mul(2 * Number(context.by)), null];
}, {
  setupContext(context, [x, by]: readonly [Tensor, number]) {
    context.saveForBackward(x);
    context.by = by;
  },
});

const fill = library.customOp("tests::fill", (x: Tensor, out: Tensor): void => {
  out.copy_(x.mul(3));
}, { mutatesArgs: ["out"] });
fill.registerFake(() => undefined);

const near = (found: unknown, expected: Tensor, where: string) =>
  assertEquals(isTensor(found) && found.allclose(expected), true, where);

Deno.test("an op is called, differentiated, and takes part in compiled graphs as one node", () => {
  const x = randn([2, 3]), program = (x: Tensor) => squares(x.sin(), 2).mul(3).sum();
  const closed = (x: Tensor) => x.sin().square().mul(6).sum();
  near(program(x), closed(x), "eager");
  const expected = func.grad(closed)(x);
  near(func.grad(program)(x), expected, "gradient");
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    const y = x.clone().requiresGrad_();
    const found = compile(program, { backend, fullgraph: true })(y);
    near(found, closed(x), backend);
    found.backward();
    near(y.grad, expected, `${backend}, gradient`);
  }
  near(func.vmap(program)(x), x.sin().square().mul(6).sum(1), "over a batch");
  near(
    compile(() => noGrad(() => program(x)), { backend: "aot_eager", fullgraph: true })(),
    closed(x),
    "noGrad",
  );
});

/** Its second argument gets no gradient. */
const scaled = library.customOp("tests::scaled", (x: Tensor, by: Tensor): Tensor => x.mul(by));
scaled.registerFake((x: Tensor, _by: Tensor) => x.newEmpty(x.shape));
scaled.registerAutograd((_context, grad: Tensor) => [grad.mul(3), null]);

Deno.test("a backward pass through ops belongs to the graph if the tape takes it", () => {
  const steps: Readonly<Record<string, (w: Tensor, v: Tensor) => Tensor>> = {
    "two ops and a parameter on both sides": (w, v) => squares(squares(w.sin(), 2).mul(v), 1).mul(v).sum(),
    "a tangent": (w, v) => squares(w, 3).mul(v).sum(),
    "no gradient for an argument": (w, v) => scaled(w.sin(), v).cos().sum(),
  };
  for (const [name, lossOf] of Object.entries(steps)) {
    const train = (backend?: string) => {
      const w = tensor([1, 2, 3], { requiresGrad: true }), v = tensor([0.5, 2, 4], { requiresGrad: true });
      const step = (lr: number) => {
        const loss = lossOf(w, v);
        loss.backward(name === "a tangent" ? tensor(2) : undefined);
        noGrad(() => w.sub_(w.grad?.mul(lr) ?? fail("no gradient")));
        return loss.detach();
      };
      const run = backend === undefined ? step : compile(step, { backend });
      const losses = Array.from({ length: 5 }, () => run(0.1).item());
      const breaks = backend === undefined ? 0 : compiler.status(run).graphBreaks;
      return { found: [losses, w.tolist(), w.grad?.tolist(), v.grad?.tolist()], breaks };
    };
    const { found } = train();
    for (const backend of ["eager", "aot_eager", "inductor"]) {
      // The op gives none in four calls, which run plainly; then the graph ends in front of the pass
      assertEquals(
        train(backend),
        { found, breaks: name === "no gradient for an argument" ? 1 : 0 },
        `${name}, ${backend}`,
      );
    }
  }
});

Deno.test("an op that writes to an argument does so in graphs, too, and needs no gradient", () => {
  const x = randn([3]),
    program = (x: Tensor, out: Tensor) => {
      const view = out.at(0);
      fill(x.exp(), view);
      return out.sum(1);
    };
  for (
    const run of [program, compile(program, { backend: "aot_eager", fullgraph: true }), compile(program)]
  ) {
    const out = zeros([2, 3]), version = out.version;
    near(run(x, out), tensor([Number(x.exp().mul(3).sum().item()), 0]), "result");
    near(out.at(0), x.exp().mul(3), "written");
    assertEquals(out.version > version, true);
  }
  const leaf = randn([3]).requiresGrad_();
  assertThrows(() => fill(leaf, zeros([3])), DynError, "do not require grad for tests::fill");
  assertThrows(() => fill(x, leaf), DynError, "a leaf that requires grad");
});

Deno.test("an op that returns nothing is called in graphs, too, in the program's order", () => {
  const seen: unknown[] = [];
  const note = library.customOp("tests::note", (what: string, given: { x: Tensor; size: number }): void => {
    seen.push([what, given.x.tolist(), given.size]);
  });
  note.registerFake(() => undefined);
  const weight = tensor([1, 2], { requiresGrad: true }), state = zeros([2]);
  const program = (x: Tensor) => {
    note("state", { x: state, size: x.shape[0] ?? 0 });
    state.add_(x.sum(0));
    note("state", { x: state, size: 0 });
    const loss = x.mul(weight).sum();
    note("loss", { x: loss.detach(), size: 0 });
    loss.backward();
    return loss.detach();
  };
  for (const backend of [null, "eager", "aot_eager", "inductor"]) {
    state.zero_();
    seen.length = 0;
    const run = backend === null ? program : compile(program, { backend, fullgraph: true, dynamic: true });
    run(ones([2, 2]));
    run(ones([3, 2]));
    assertEquals(seen, [
      ["state", [0, 0], 2],
      ["state", [2, 2], 0],
      ["loss", 6, 0],
      ["state", [2, 2], 3],
      ["state", [5, 5], 0],
      ["loss", 9, 0],
    ], `${backend}`);
  }
});

Deno.test("M35: print shows values where the graph computes them, in branches and batches, too", () => {
  const { print } = higherOrderOps, lines: string[] = [], { log } = console;
  const weight = tensor([0.5, 2], { requiresGrad: true });
  const program = (x: Tensor, step: number) => {
    print("{{x}} is {x} at {step}", { x, step });
    const y = cond(
      x.sum().gt(0),
      (x: Tensor) => {
        print("positive: {}", [x.sum()]);
        return x.clone();
      },
      (x: Tensor) => x.neg(),
      [x],
    );
    const loss = y.mul(weight).sum();
    print("{1} and {}", [loss, true]);
    return loss;
  };
  console.log = (text: string) => void lines.push(text);
  try {
    for (const run of [program, ...["eager", "aot_eager", "inductor"].map(compiledBy)]) {
      lines.length = 0;
      run(tensor([1, 2]), 3);
      run(tensor([-1, 0]), 4).backward();
      const expected = ["{x} is tensor([1, 2]) at 3", "positive: 3", "true and 4.5"];
      assertEquals(lines, [...expected, "{x} is tensor([-1,  0]) at 4", "true and 0.5"]);
    }
    lines.length = 0;
    func.vmap((x: Tensor) => {
      print("{}", [x]);
      return x;
    })(tensor([1, 2]));
    assertEquals(lines, ["1", "2"]);
  } finally {
    console.log = log;
  }
  assertThrows(() => print("{a}", { b: 1 }), DynError, 'Expected a value for {a} in "{a}" but found [b]');

  function compiledBy(backend: string): typeof program {
    return compile(program, { backend, fullgraph: true, dynamic: true });
  }
});

Deno.test("missing declarations of an op break the graph or are errors, and opCheck finds them", () => {
  const x = randn([3], { dtype: "float64" }).requiresGrad_();
  assertEquals(library.opCheck(squares, [x, 2]), {
    testSchema: "SUCCESS",
    testAutogradRegistration: "SUCCESS",
    testFaketensor: "SUCCESS",
    testAotDispatch: "SUCCESS",
  });
  assertEquals(
    library.opCheck("tests::fill", [x.detach(), zeros([3], { dtype: "float64" })]).testAotDispatch,
    "SUCCESS",
  );
  const bare = library.customOp("tests::bare", (x: Tensor) => {
    x.detach().zero_();
    return x.add(1);
  });
  const check = (name: library.OpCheckName, args: readonly unknown[] = [x]) => () =>
    library.opCheck(bare, args, { testUtils: name });
  assertThrows(check("testSchema"), DynError, "it writes to argument 0, which mutatesArgs does not name");
  assertThrows(check("testAutogradRegistration"), DynError, "it has no gradient");
  assertThrows(check("testFaketensor"), DynError, "it has no fake");
  library.registerFake("tests::bare", (x: Tensor) => x.newEmpty([7]));
  assertThrows(
    check("testFaketensor"),
    DynError,
    "its fake returns float64 [7] where it returns float64 [3]",
  );
  assertThrows(() => bare(x).sum().backward(), DynError, "a gradient of tests::bare but found none");
  const shares = library.customOp("tests::shares", (x: Tensor) => x.view(-1));
  assertThrows(() => shares(randn([2])), DynError, "memory of their own");
  assertThrows(() => library.customOp("plain", (x: Tensor) => x), DynError, "with its namespace");
  assertThrows(
    () => library.customOp("tests::none", (x: Tensor) => x, { mutatesArgs: ["y"] }),
    DynError,
    'each of mutatesArgs of tests::none to be one of x but found "y"',
  );
  const schema = library.customOp("tests::schema", (...all: Tensor[]) => void all[1]?.zero_(), {
    schema: "(Tensor x, Tensor(a!) y) -> ()",
  });
  assertEquals(schema.mutated, [1]);
  const cpuOnly = library.customOp("tests::device", (x: Tensor) => x.add(1), { deviceTypes: "webgpu" });
  assertThrows(() => cpuOnly(randn([2])), DynError, "registerKernel");
  library.registerKernel(cpuOnly, "cpu", (x: Tensor) => x.add(2));
  near(cpuOnly(zeros([2])), zeros([2]).add(2), "a kernel for the device");
});

const axpy = library.kernel("tests::axpy", (x: Tensor, _y: Tensor, _a: number) => x.newEmpty(x.shape), {
  numbers: (x, _y, a) => [x.numel(), a],
  cpp: `void kernel(const float* x, const float* y, float* out, const double* numbers) {
    for (long i = 0; i < (long) numbers[0]; ++i) out[i] = (float) numbers[1] * x[i] + y[i];
  }`,
  wgsl: `@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < u32(numbers[0])) { out0[id.x] = numbers[1] * in0[id.x] + in1[id.x]; }
  }`,
});
axpy.registerAutograd((context, grad: Tensor) => [grad.mul(Number(context.a)), grad, null], {
  setupContext(context, [, , a]: readonly [Tensor, Tensor, number]) {
    context.a = a;
  },
});

function kernelRuns(device: string): void {
  const made = randn([3, 51]), x = made.to(device).at(":", "1:"), y = randn([50, 3]).to(device).t();
  // Views are handed over from their first element on
  near(axpy(x, y, 3).cpu(), x.mul(3).add(y).cpu(), "eager");
  assertEquals(axpy(x.at("0:0"), y.at("0:0"), 1).shape, [0, 50]);
  const program = (x: Tensor, y: Tensor) => axpy(x.sin(), y, 2).mul(y).sum();
  const closed = (x: Tensor, y: Tensor) => x.sin().mul(2).add(y).mul(y).sum();
  const [found, expected] = [compile(program, { fullgraph: true }), closed].map((run) => {
    const own = [x, y].map((each) => each.detach().clone().requiresGrad_()), [a, b] = own;
    const loss = run(a ?? fail("x"), b ?? fail("y"));
    loss.backward();
    return [loss.detach().div(100), ...own.map(({ grad }) => grad ?? fail("a gradient"))].map((each) =>
      each.cpu()
    );
  });
  expected?.forEach((each, k) => near(found?.[k], each, `compiled, ${k}`));
}

Deno.test("a kernel in C++ is an op: eager, in graphs, with a gradient", () => {
  kernelRuns("cpu");
  assertEquals(
    Object.values(library.opCheck(axpy, [randn([3]), randn([3]), 2])).every((x) => x === "SUCCESS"),
    true,
  );
  // Any types, several results, an argument of shapes only
  const parts = library.kernel(
    "tests::parts",
    (x: Tensor) => [x.newEmpty(x.shape), x.newEmpty([1], { dtype: "int64" })],
    {
      cpp: `void kernel(const double* x, double* whole, long long* count, const double* numbers) {
      *count = 0;
      for (int i = 0; i < 3; ++i) { whole[i] = (double) (long long) x[i]; *count += whole[i] != x[i]; }
    }`,
    },
  );
  const found = parts(tensor([1.5, 2, -3.25], { dtype: "float64" }));
  assertEquals(found.map((each) => each.tolist()), [[1, 2, -3], [2]]);
  assertEquals(axpy(zeros([2, 3], { device: "meta" }), zeros([2, 3], { device: "meta" }), 1).shape, [2, 3]);
  const like = (x: Tensor) => x.newEmpty(x.shape);
  // A faulty kernel does not count as a failure of the compiler
  for (let k = 0; k < 4; k++) {
    const wrong = library.kernel(`tests::wrong${k}`, like, {
      cpp: `void kernel(const float*, float*, const double*) { wrong${k}(); }`,
    });
    assertThrows(() => wrong(randn([2])), DynError, `wrong${k}`);
  }
  assertThrows(() => library.kernel("tests::none", like, {}), DynError, "in C++ (cpp) or WGSL (wgsl)");
  const other = library.kernel("tests::other", like, { wgsl: "" });
  assertThrows(() => other(randn([2])), DynError, "Expected C++ of tests::other for tensors of the CPU");
  assertThrows(
    () => axpy(randn([2]), zeros([2], { device: "meta" }), 1),
    DynError,
    "on one device but found cpu and meta",
  );
});

Deno.test({
  name: "a kernel in WGSL is an op, too",
  ignore: SKIP_WEBGPU,
  async fn() {
    await init({ device: "webgpu" });
    kernelRuns("webgpu");
    assertThrows(
      () => axpy(zeros([2], { device: "webgpu", dtype: "uint8" }), zeros([2], { device: "webgpu" }), 1),
      DynError,
      "Expected tensors of float32 or int32 for WGSL",
    );
  },
});
