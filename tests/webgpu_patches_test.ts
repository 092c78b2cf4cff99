/**
 * Convolutions over patches of images on WebGPU: which ones are, and random geometries of them, images' gradients and what
 * is done to results included, against float64.
 */
import { assert, assertEquals } from "@std/assert";
import { webGpuTarget } from "../backends/webgpu/target.ts";
import { generate } from "../lib/codegen/generate.ts";
import type { ConvGeometry, ExternOp } from "../lib/loops/ir.ts";
import { autograd, compile, init, manualSeed, nn, randn, type Tensor } from "../mod.ts";
import { randomNumbers, sampleBySeed, testSeed } from "./support/sampling.ts";
import { singleOp } from "./support/single_op.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const target = webGpuTarget({ kernelBuffers: 8, workgroupBytes: 1 << 15, bindingBytes: 1 << 27 }, true);
const PLAIN: ConvGeometry = { stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups: 1 };

type Shape = readonly [number, number, number, number];

/** The kernels of a convolution of an image, or of the gradient towards it. */
function kernelsOf(
  op: "convForward" | "convBackwardInput",
  shapes: readonly Shape[],
  geometry: Partial<ConvGeometry> = {},
): readonly string[] {
  const [a, b, out] = shapes.map((shape) => ({ shape, dtype: "float32" as const }));
  assert(a && b && out);
  const call: ExternOp = { op, ...PLAIN, ...geometry };
  const program = singleOp([a, b], [out], (x, y) => {
    assert(x && y);
    return { kind: "extern", call, inputs: [x, y], outputs: [out] };
  });
  return generate(program, target).kernels.map((kernel) =>
    kernel.kind === "extern" ? kernel.call.op : kernel.kind
  );
}

Deno.test("large convolutions by one have their filters laid out by taps, images' gradients as convolutions", () => {
  const image: Shape = [64, 64, 56, 56], filter: Shape = [64, 64, 3, 3];
  const patched = ["loops", "convForward"], plain = ["convForward"];
  assertEquals(kernelsOf("convForward", [image, filter, image]), patched);
  assertEquals(kernelsOf("convBackwardInput", [image, filter, image]), patched);
  // Fewer results have sums in parts, which are added up behind
  assertEquals(kernelsOf("convForward", [[4, 64, 56, 56], filter, [4, 64, 56, 56]]), [...plain, "loops"]);
  assertEquals(kernelsOf("convForward", [[64, 3, 56, 56], [64, 3, 1, 1], [64, 64, 58, 58]]), plain);
  assertEquals(kernelsOf("convForward", [image, [20, 64, 3, 3], [64, 20, 56, 56]]), plain);
  assertEquals(kernelsOf("convForward", [[8, 64, 56, 56], filter, [8, 64, 56, 56]]), patched);
  assertEquals(kernelsOf("convForward", [image, filter, [64, 64, 28, 28]], { stride: [2, 2] }), plain);
  const wider: Partial<ConvGeometry> = { dilation: [2, 2], padding: [2, 2] };
  assertEquals(kernelsOf("convForward", [image, filter, image], wider), plain);
});

/** A convolution of many results, drawn by the seed of the run: so many places, channels and taps. */
function drawn() {
  const next = randomNumbers(testSeed() + 5);
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  const taps = [between(1, 4), between(2, 4)] as const, padding = taps.map((size) => between(0, size - 1));
  const places = [between(15, 16), [16, 31, 32][between(0, 2)] ?? 16] as const;
  const images = Math.ceil(384 * 64 / (places[0] * places[1]));
  return { taps, padding, places, few: between(1, 6), many: between(62, 64), images };
}

Deno.test({
  name: "convolutions over patches and images' gradients are those of float64, whatever the geometry",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    await init({ device: "webgpu" });
    manualSeed(3);
    const geometry = drawn(), { taps, padding: [py = 0, px = 0], places, few, many, images } = geometry;
    const [height, width] = places, [down, across] = taps, padding = [py, px] as const;
    const seen = [height + down - 1 - 2 * py, width + across - 1 - 2 * px] as const;
    const met = [height - down + 1 + 2 * py, width - across + 1 + 2 * px] as const;
    const shapes: readonly Shape[] = [
      [images, few, ...seen],
      [many, few, ...taps],
      [images, many, ...places],
      [few, many, ...taps],
      [images, few, ...met],
    ];
    const [image, filter, result, back, made] = shapes;
    assert(image && filter && result && back && made);
    assertEquals(kernelsOf("convForward", [image, filter, result], { padding }), ["loops", "convForward"]);
    assertEquals(kernelsOf("convBackwardInput", [made, back, result], { padding }), ["loops", "convForward"]);
    const operands = [image, filter, [many], result, back].map((shape) => randn([...shape]));
    const finished = compile((x: Tensor, w: Tensor, bias: Tensor) =>
      nn.functional.conv2d(x, w, bias, 1, [py, px]).relu()
    );
    // A software adapter compiles each shader for a second
    const works = sampleBySeed([
      ([x, w, bias]: readonly Tensor[]) => x && w && bias && finished(x, w, bias),
      ([, , , x, w]: readonly Tensor[]) => {
        if (!x || !w) return undefined;
        const out = nn.functional.conv2d(x.requiresGrad_(), w, null, 1, [py, px]);
        return autograd.grad([out], [x], [out.detach()])[0];
      },
    ], 1);
    const run = (to: (x: Tensor) => Tensor) => works.map((work) => work(operands.map(to)));
    const [wanted, found] = [run((x) => x.double()), run((x) => x.to("webgpu"))];
    found.forEach((each, i) => {
      const exact = wanted[i];
      assert(each && exact);
      const off = each.to("cpu").double().sub(exact).abs().max().item() / exact.abs().max().item();
      assert(off < 2e-6, `${i} of ${JSON.stringify(geometry)}: ${off}`);
    });
  },
});
