/**
 * Gradients of attention on devices with workgroups: which programs compute operands of products on the fly, and which
 * sums over rows are shortened. The results of the kernels are tested with those of attention itself, sampled in each
 * run.
 */
import { assert, assertEquals } from "@std/assert";
import { initWebGpu } from "../backends/webgpu/device.ts";
import { SHORT_ROW_SUMS } from "../lib/aot/row_sums.ts";
import { contiguousMeta } from "../lib/graph/meta.ts";
import { Node } from "../lib/graph/node.ts";
import type { WebGpuLimits } from "../backends/webgpu/target.ts";
import type { Program } from "../lib/loops/ir.ts";
import { causalIn, made, madeIn, SIZES } from "./support/attention_gradients.ts";
import { traced } from "./support/graph_programs.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

/** Of kernels that make elements: what they sum over, whether that is cut, elements, products, and what is kept. */
const kernels = (program: Program, limits: Partial<WebGpuLimits> = {}) =>
  madeIn(program, limits).map((
    { over, causal, elements, products, stored: kept },
  ) => [over, causal, elements.values.length, products.length, kept]);

Deno.test("gradients of causal attention compute elements once for keys and values, and keep them for queries", () => {
  const { program } = made(SIZES, { causal: true });
  assertEquals(kernels(program), [["rows", true, 2, 2, 0]]);
  assertEquals(causalIn(program).length, 1);
  assertEquals(kernels(made(SIZES, { causal: true, dropped: true }).program), [["rows", true, 2, 2, 0]]);
  // New values of what products have read come behind them
  const updated = made(SIZES, { causal: true, updated: true }).program;
  assertEquals([kernels(updated), causalIn(updated).length], [[["rows", true, 2, 2, 0]], 1]);
});

Deno.test("gradients of attention over long sequences, or with little memory, build no matrix of scores on a grid", () => {
  const { program } = made(SIZES, { causal: true });
  // Twice 100 × 100 elements take 80,000 bytes, and temporaries may take half of the memory
  const [enough, little] = [200_000, 150_000].map((bindingBytes) => kernels(program, { bindingBytes }));
  assertEquals([enough?.length, little?.length], [1, 2]);
  for (const causal of [false, true]) {
    const { program } = made({ ...SIZES, rows: 8192, keys: 8192 }, { causal });
    assertEquals(kernels(program), [["rows", causal, 2, 2, undefined], ["keys", causal, 1, 2, undefined]]);
    assertEquals(causalIn(program), []);
  }
});

Deno.test("gradients of attention are unchanged where matrices in memory are faster, or rows are summed before", () => {
  assertEquals(madeIn(made(SIZES, {}).program), []);
  assertEquals(madeIn(made(SIZES, { causal: true, long: true }).program), []);
  assertEquals(madeIn(made({ ...SIZES, width: 140 }, { causal: true }).program), []);
});

/** Returns the gradients of weights times a factor, summed over their rows; the sum is shortened or not. */
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
