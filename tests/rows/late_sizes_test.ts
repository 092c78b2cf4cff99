/** Rows S19, M20, M21, M23 and M51 of the list of features: values that depend on elements of tensors. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  compile,
  compiler,
  cond,
  config,
  DynError,
  full,
  fullLike,
  higherOrderOps,
  nonzero,
  ones,
} from "../../mod.ts";
import { Tensor, tensor, zeros } from "../../mod.ts";

const eager = { backend: "eager" } as const;
const floats = (...values: number[]) => tensor(values, { dtype: "float32" });

/** Graphs that calls of a function need. */
function graphs(fn: (x: Tensor) => unknown, inputs: readonly Tensor[]): number {
  const compiled = compile(fn, { ...eager, fullgraph: true });
  for (const x of inputs) {
    const [found, expected] = [compiled(x), fn(x)].map((value) =>
      value instanceof Tensor ? value.tolist() : value
    );
    assertEquals(found, expected);
  }
  return compiler.status(compiled).graphs;
}

Deno.test("S19: results whose sizes depend on elements break the graph, unless the settings keep them", () => {
  const fn = (x: Tensor) => nonzero(x.gt(0)).mul(2);
  assertThrows(() => compile(fn, { ...eager, fullgraph: true })(floats(1, -1)), Error, "GB0008");
  config.patch({ captureDynamicOutputShapes: true }, () => {
    assertEquals(graphs(fn, [floats(1, -1), floats(2, 3), floats(-1, -2)]), 1);
  });
});

Deno.test("M20: markUnbacked makes a dimension unbacked", () => {
  const fn = (x: Tensor) => x.mul(2).sum(0);
  const inputs = [3, 1, 0, 5].map((n) => {
    const x = ones([n, 2]);
    compiler.markUnbacked(x, 0);
    return x;
  });
  assertEquals(graphs(fn, inputs), 1);
  assertThrows(() => compiler.markUnbacked(ones([2]), 1), DynError, "Expected dim");
  const branching = compile((x: Tensor): Tensor => x.shape[0] === 3 ? x.add(1) : x, {
    ...eager,
    fullgraph: true,
  });
  assertThrows(() => branching(inputs[0] ?? ones([3])), Error, "a size that is marked as unbacked");
});

Deno.test("M21: unbackedSources names unbacked dimensions; a mark of the tensor overrides it", () => {
  const fn = (x: Tensor) => x.mul(2).sum(0), inputs = [3, 1, 0, 5].map((n) => ones([n, 2]));
  config.patch({ unbackedSources: `L["x"]:0` }, () => {
    assertEquals(graphs(fn, inputs), 1);
    const fixed = ones([4, 2]);
    compiler.markStatic(fixed);
    assertEquals(graphs(fn, [fixed, ...inputs]), 2);
  });
  assert(graphs(fn, inputs) > 1);
});

Deno.test("M23: item() is a number of the graph, and check states facts about it", () => {
  const fn = (x: Tensor) => {
    const n = Number(x.sum().to("int64").item());
    compiler.check(n > 1);
    return n > 0 ? zeros([n]).add(n * 2) : x;
  };
  assertThrows(() => compile(fn, { ...eager, fullgraph: true })(floats(2, 1)), Error, "captureScalarOutputs");
  config.patch({ captureScalarOutputs: true }, () => {
    assertEquals(graphs(fn, [floats(2, 1), floats(3, 4), floats(1, 1)]), 1);
    assertThrows(() => compile(fn, eager)(floats(-1)), DynError, "Expected a condition that holds");
    const undecided = (x: Tensor) => [...zeros([Number(x.sum().to("int64").item())])].length;
    const run = compile(undecided, { ...eager, fullgraph: true });
    assertThrows(() => run(floats(2)), Error, "compiler.check(condition)");
  });
});

Deno.test("M51: cond, whileLoop, scan, associativeScan and map are one node each", () => {
  const { associativeScan, map, scan, whileLoop } = higherOrderOps;
  const targets: string[] = [];
  const fn = (x: Tensor) => {
    const y = cond(x.sum().gt(0), () => x.sin(), () => x.cos());
    const [z] = whileLoop((v) => v.sum().lt(9), (v) => [v.abs().add(1)], [y]);
    const [, ys] = scan((c: Tensor, r: Tensor) => [c.add(r), c.mul(r)], zeros([2]), z);
    return map((r: Tensor) => r.mul(2), associativeScan((a: Tensor, b: Tensor) => a.add(b), ys, 0));
  };
  const compiled = compile(fn, {
    fullgraph: true,
    backend: (gm) => {
      targets.push(...gm.graph.nodes.map(({ target }) => target).filter((target) => target.includes(".")));
      return (...inputs) => gm.forward(...inputs);
    },
  });
  const x = tensor([[0.5, 1], [2, -1], [0.25, 3]], { dtype: "float32" });
  assertEquals(compiled(x).tolist(), fn(x).tolist());
  assertEquals(targets, [
    "higher_order.cond",
    "higher_order.while_loop",
    "higher_order.scan",
    "higher_order.scan",
    "higher_order.scan",
  ]);
});

Deno.test("M23: an element is the value of a new tensor of floats", () => {
  const programs: readonly ((x: Tensor) => Tensor)[] = [
    (x) => full([2], x.sum().item(), { dtype: "float32" }).add(x),
    (x) => full([2], Number(x.sum().item()) * 1.5, { dtype: "float64" }),
    (x) => fullLike(x, x.max().item()),
    (x) => x.newFull([3], x.sum().item()),
    (x) => tensor(x.sum().item(), { dtype: "float32" }),
    (x) => tensor([x.sum().item(), 1.5], { dtype: "float64" }),
    (x) => x.clone().set([0], x.sum().item()),
  ];
  const inputs = [floats(0.5, 1.25), floats(1, 1), floats(-3, 7.5)];
  config.patch({ captureScalarOutputs: true }, () => {
    for (const program of programs) assertEquals(graphs(program, inputs), 1, String(program));
    // 2.0 is 2 in JavaScript, so the value decides on the type by default
    const typed = compile((x: Tensor) => full([1], x.sum().item()), eager);
    assertEquals(inputs.map((x) => typed(x).dtype), ["float32", "int64", "float32"]);
  });
});

Deno.test("M23: elements are the lengths of parts", () => {
  const fn = (x: Tensor, lengths: Tensor) => x.split(lengths.tolist<number[]>()).map((part) => part.sum());
  const lengths = [[2, 1], [0, 3], [1, 2]].map((each) => tensor(each));
  config.patch({ captureScalarOutputs: true }, () => {
    const run = compile(fn, { ...eager, fullgraph: true });
    const shown = (parts: Tensor[]) => parts.map((part) => part.item());
    for (const each of lengths) {
      assertEquals(shown(run(floats(1, 2, 4), each)), shown(fn(floats(1, 2, 4), each)));
    }
    assertEquals(compiler.status(run).entries, 1);
    assertThrows(() => run(floats(1, 2, 4), tensor([1, 1])), DynError, "add up to 3 but found [1, 1]");
  });
});
