/**
 * Gradients of attention on devices with workgroups: which programs make operands of products on the way, and which sums over
 * rows become short. What the kernels compute is tested with those of attention itself, of which a run takes some.
 */
import { assert, assertEquals } from "@std/assert";
import { initWebGpu } from "../backends/webgpu/device.ts";
import { SHORT_ROW_SUMS } from "../lib/aot/row_sums.ts";
import { contiguousMeta } from "../lib/graph/meta.ts";
import { Node } from "../lib/graph/node.ts";
import { made, madeIn, SIZES } from "./support/attention_gradients.ts";
import { traced } from "./support/graph_programs.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

Deno.test("gradients of causal attention make no matrix of scores on a grid, those of keys and values together", () => {
  const found = madeIn(made(SIZES, { causal: true }).graph.program);
  assertEquals(
    found.map(({ over, causal, elements, products }) => [
      over,
      causal,
      elements.values.length,
      products.length,
    ]),
    [["rows", true, 2, 2], ["keys", true, 1, 2]],
  );
  assertEquals(madeIn(made(SIZES, { causal: true, dropped: true }).graph.program).length, 2);
});

Deno.test("gradients of attention stay as they are where matrices in memory are faster, or rows are summed on the way", () => {
  assertEquals(madeIn(made(SIZES, {}).graph.program), []);
  assertEquals(madeIn(made(SIZES, { causal: true, long: true }).graph.program), []);
  assertEquals(madeIn(made({ ...SIZES, width: 140 }, { causal: true }).graph.program), []);
});

/** What arrives for weights times a factor of theirs, summed over their rows; the sum is made short or is not. */
function sums(device: string, isOther: boolean): readonly (string | undefined)[] {
  const shapes = [[2, 1024, 16], [2, 1024, 16], [2, 1024, 1024], [2, 1024, 1024]];
  const graph = traced(
    shapes.map((shape) => contiguousMeta(shape, "float32", device)),
    (o, [g, v, weights, factor]) => {
      assert(g && v && weights && factor);
      const kept = o.mul(weights, factor), results = o.bmm(isOther ? weights : kept, v);
      const arrived = o.mul(o.bmm(g, o.permute(v, [0, 2, 1])), factor);
      return [results, o.sum(o.mul(arrived, weights), -1, true)];
    },
  );
  const isChanged = SHORT_ROW_SUMS.run(graph),
    summed = graph.findNodes({ op: "call_function", target: "sum" });
  const [product] = summed.flatMap(({ args: [first] }) => first instanceof Node ? [first] : []);
  return [
    isChanged ? "short" : "long",
    ...product?.args.map((each) => each instanceof Node ? each.target : "") ?? [],
  ];
}

Deno.test({
  name:
    "sums over rows of gradients of weights are made of results, where these are made of the same weights",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    await initWebGpu();
    assertEquals(sums("webgpu", false), ["short", "a", "bmm"]);
    assertEquals(sums("webgpu", true), ["long", "mul", "c"]);
    assertEquals(sums("cpu", false), ["long", "mul", "c"]);
  },
});
