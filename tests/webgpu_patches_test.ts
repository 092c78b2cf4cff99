/**
 * Convolutions over patches of images on WebGPU, and transformed ones: which calls use them, and random geometries,
 * including gradients of images and epilogues, against float64.
 */
import { assert, assertEquals } from "@std/assert";
import { webGpuTarget } from "../backends/webgpu/target.ts";
import { generate } from "../lib/codegen/generate.ts";
import type { ConvGeometry, ExternOp } from "../lib/loops/ir.ts";
import { autograd, compile, init, manualSeed, nn, randn, type Tensor } from "../mod.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { randomNumbers, sampleBySeed, testSeed } from "./support/sampling.ts";
import { libraryCall } from "./support/single_op.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const target = webGpuTarget({ kernelBuffers: 8, workgroupBytes: 1 << 15, bindingBytes: 2 ** 31 }, true);
const PLAIN: ConvGeometry = { stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups: 1 };

type Shape = readonly [number, number, number, number];

/** The kernels of a convolution of an image, or of a gradient. */
function kernelsOf(
  op: "convForward" | "convBackwardInput" | "convBackwardWeight",
  shapes: readonly Shape[],
  geometry: Partial<ConvGeometry> = {},
  arenaBytes = 0,
): readonly string[] {
  const [a, b, out] = shapes.map((shape) => ({ shape, dtype: "float32" as const }));
  assert(a && b && out);
  const call: ExternOp = { op, ...PLAIN, ...geometry };
  const program = libraryCall(call, [a, b], [out]);
  return generate({ ...program, arenaBytes }, target).kernels.map((kernel) =>
    kernel.kind === "extern" ? `${kernel.transformed ? "transformed " : ""}${kernel.call.op}` : kernel.kind
  );
}

const PATCHED = ["loops", "convForward"], TRANSFORMED = ["loops", "transformed convForward"];
/** Transforms in memory: those of both operands, products, and their sums. */
const IN_MEMORY = ["loops", "loops", "matmul", "loops"];

Deno.test("large convolutions with stride 1 rearrange their filters by taps, images' gradients as convolutions", () => {
  const image: Shape = [64, 64, 55, 55], filter: Shape = [64, 64, 2, 4], result: Shape = [64, 64, 56, 54];
  const plain = ["convForward"];
  assertEquals(kernelsOf("convForward", [image, filter, result]), PATCHED);
  assertEquals(kernelsOf("convBackwardInput", [result, filter, image], { padding: [0, 1] }), PATCHED);
  // Fewer results have sums in parts, which are added up behind
  assertEquals(kernelsOf("convForward", [[1, 64, 55, 55], filter, [1, 64, 56, 54]]), [...plain, "loops"]);
  assertEquals(kernelsOf("convForward", [[64, 3, 56, 56], [64, 3, 1, 1], [64, 64, 58, 58]]), plain);
  assertEquals(kernelsOf("convForward", [image, filter, [64, 64, 28, 27]], { stride: [2, 2] }), plain);
});

Deno.test("3 × 3 convolutions with stride 1 are products of transforms, if there are enough of them", () => {
  const image: Shape = [4, 64, 56, 56], filter: Shape = [64, 64, 3, 3];
  assertEquals(kernelsOf("convForward", [image, filter, image]), TRANSFORMED);
  assertEquals(kernelsOf("convBackwardInput", [image, filter, image]), TRANSFORMED);
  const many: Shape = [64, 64, 56, 56];
  assertEquals(kernelsOf("convBackwardWeight", [many, many, filter]), [...IN_MEMORY, "loops"]);
  assertEquals(kernelsOf("convBackwardWeight", [image, image, filter]), ["convBackwardWeight", "loops"]);
  const deep: Shape = [32, 256, 14, 14], wide: Shape = [256, 256, 3, 3];
  assertEquals(kernelsOf("convForward", [deep, wide, deep]), IN_MEMORY);
  assertEquals(kernelsOf("convBackwardInput", [deep, wide, deep]), IN_MEMORY);
  assertEquals(kernelsOf("convBackwardWeight", [deep, deep, wide]), IN_MEMORY);
  assertEquals(kernelsOf("convForward", [many, filter, many]), TRANSFORMED);
  assertEquals(kernelsOf("convForward", [many, filter, many], { fast: true }), IN_MEMORY);
  // Transforms of larger batches would need more memory than a binding has, beside what a program needs itself
  assertEquals(kernelsOf("convForward", [[384, 256, 28, 28], wide, [384, 256, 28, 28]]), TRANSFORMED);
  assertEquals(kernelsOf("convForward", [deep, wide, deep], {}, 2 ** 31 * 7 / 8 - 2 ** 25), TRANSFORMED);
  const small: Shape = [1, 64, 28, 28], plain = ["convForward"];
  assertEquals(kernelsOf("convForward", [small, filter, small]), [...plain, "loops"]);
  const strided: Shape = [64, 64, 28, 28], large: Shape = [64, 64, 56, 56];
  assertEquals(kernelsOf("convForward", [large, filter, strided], { stride: [2, 2] }), plain);
  const wider: Partial<ConvGeometry> = { dilation: [2, 2], padding: [2, 2] };
  assertEquals(kernelsOf("convForward", [large, filter, large], wider), plain);
  // Transforms would be made of zeros for the most part: 3 channels of 8, 20 of 32
  assertEquals(kernelsOf("convForward", [[64, 3, 56, 56], [64, 3, 3, 3], large]), PATCHED);
  assertEquals(kernelsOf("convForward", [large, [20, 64, 3, 3], [64, 20, 56, 56]]), plain);
});

/** A convolution of many results, drawn by the seed of the run: so many places, channels and taps. */
function drawn(isTransformed: boolean) {
  const next = randomNumbers(testSeed() + 5);
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  const taps = isTransformed ? [3, 3] as const : [between(1, 2), between(2, 4)] as const,
    padding = taps.map((size) => between(0, size - 1));
  const places = [between(15, 16), [16, 31, 32][between(0, 2)] ?? 16] as const;
  const images = Math.ceil(384 * 64 / (places[0] * places[1]));
  const few = isTransformed ? between(15, 16) : between(1, 6);
  return { taps, padding, places, few, many: between(62, 64), images };
}

testInTurn("patches on WebGPU", {
  name:
    "convolutions over patches, of transforms, and images' gradients are those of float64, whatever the geometry",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    await init({ device: "webgpu" });
    // A software adapter compiles each shader for a second
    const cases = [false, true].flatMap((isTransformed) =>
      (["result", "image"] as const).map((of) => ({ isTransformed, of }))
    );
    for (const each of sampleBySeed(cases, 1)) check(each.isTransformed, each.of);
  },
});

/** Holds a convolution of a geometry that the seed draws, or a gradient of it, against float64. */
function check(isTransformed: boolean, of: "result" | "image"): void {
  manualSeed(3);
  const geometry = drawn(isTransformed),
    { taps, padding: [py = 0, px = 0], places, few, many, images } = geometry;
  const [height, width] = places, [down, across] = taps, padding = [py, px] as const;
  const seen = [height + down - 1 - 2 * py, width + across - 1 - 2 * px] as const;
  const met = [height - down + 1 + 2 * py, width - across + 1 + 2 * px] as const;
  const image: Shape = [images, few, ...seen], filter: Shape = [many, few, ...taps];
  const result: Shape = [images, many, ...places], back: Shape = [few, many, ...taps];
  const kinds = isTransformed ? TRANSFORMED : PATCHED;
  assertEquals(kernelsOf("convForward", [image, filter, result], { padding }), kinds);
  assertEquals(kernelsOf("convBackwardInput", [[images, few, ...met], back, result], { padding }), kinds);
  const finished = compile((x: Tensor, w: Tensor, bias: Tensor) =>
    nn.functional.conv2d(x, w, bias, 1, [py, px]).relu()
  );
  const shapes = { result: [image, filter, [many]], image: [result, back] }[of];
  const operands = shapes.map((shape) => randn([...shape]));
  const run = (to: (x: Tensor) => Tensor): Tensor => {
    const [x, w, bias] = operands.map(to);
    assert(x && w);
    if (bias) return finished(x, w, bias);
    x.requiresGrad_();
    const out = nn.functional.conv2d(x, w, null, 1, [py, px]);
    const [grad] = autograd.grad([out], [x], [out.detach()]);
    assert(grad);
    return grad;
  };
  const exact = run((x) => x.double()), found = run((x) => x.to("webgpu"));
  const off = found.to("cpu").double().sub(exact).abs().max().item() / exact.abs().max().item();
  assert(off < 2e-6, `${JSON.stringify({ ...geometry, isTransformed, of })}: ${off}`);
}
