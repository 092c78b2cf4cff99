/**
 * Convolutions that become loops and matrix products for grids: depthwise ones, gradients of images of few channels, and
 * transforms. The interpreter runs what passes make of small calls, with bias and epilogue, against the calls.
 */
import { assert, assertEquals } from "@std/assert";
import { webGpuTarget } from "../backends/webgpu/target.ts";
import { depthwiseConvolutions } from "../lib/codegen/depthwise.ts";
import { foldedGradients } from "../lib/codegen/folded_gradients.ts";
import { packedFilters } from "../lib/codegen/packed_filters.ts";
import { rowMajor } from "../lib/codegen/kernels.ts";
import type { Target } from "../lib/codegen/target.ts";
import type { ConvGeometry, ExternKernel, ExternOp, LoopKernel, Program } from "../lib/loops/ir.ts";
import { axesOf, symbolsOf, wrapLoops } from "../lib/loops/nest.ts";
import { flatIndex, loadBufferOperand, Recorder } from "../lib/loops/record.ts";
import { verifyProgram } from "../lib/loops/verify.ts";
import { interpret } from "./reference/interpret.ts";
import { toHost } from "./support/compare.ts";

const TARGET = webGpuTarget({ kernelBuffers: 8, workgroupBytes: 1 << 15, bindingBytes: 1 << 27 }, true);
const PLAIN: ConvGeometry = { stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups: 1 };

type Shape = readonly [number, number, number, number];
type Op = Extract<ExternOp, ConvGeometry>["op"];

/** A convolution as users call it, by the sizes of its image and filter. */
interface Call {
  readonly image: Shape;
  readonly filter: Shape;
  readonly geometry?: Partial<ConvGeometry>;
}

/** The program of a convolution, with a bias, whose results y are also written as max(y, 0) + channel, or of a gradient. */
function programOf(op: Op, { image, filter, geometry }: Call): Program {
  const call: ConvGeometry = { ...PLAIN, ...geometry };
  const [down, across] = [2, 3].map((d) => {
    const reach = (call.dilation[d - 2] ?? 1) * ((filter[d] ?? 1) - 1) + 1;
    return Math.floor(
      ((image[d] ?? 1) + 2 * (call.padding[d - 2] ?? 0) - reach) / (call.stride[d - 2] ?? 1),
    ) + 1;
  });
  assert(down && across);
  const result: Shape = [image[0], filter[0], down, across];
  const shapes = {
    convForward: [image, filter, [filter[0]], result, result],
    convBackwardInput: [result, filter, image, image],
    convBackwardWeight: [result, image, filter],
  }[op];
  const views = shapes.map((shape, buffer) => rowMajor(buffer, shape)), inputs = op === "convForward" ? 3 : 2;
  const out = views[inputs], after = views[inputs + 1];
  assert(out);
  const buffers = views.map(({ shape }, k) => ({
    name: `b${k}`,
    dtype: "float32" as const,
    length: shape.reduce<number>((made, size) => made * Number(size), 1),
    role: k < inputs ? { kind: "input", written: false } as const : { kind: "output" } as const,
  }));
  const axes = axesOf(out.shape), at = symbolsOf(axes), o = new Recorder(loadBufferOperand);
  const y = o.loadBuffer(out.buffer, flatIndex(out, at), "float32");
  const value = o.add(o.maximum(y, o.constant(0, "float32")), o.index(at[1] ?? 0, "float32"));
  if (after) o.store({ buffer: after.buffer, dtype: "float32" }, flatIndex(after, at), { value });
  const epilogue: LoopKernel = {
    kind: "loops",
    name: "behind",
    body: wrapLoops(axes, o.statements),
    origins: [],
  };
  const kernel: ExternKernel = {
    kind: "extern",
    name: "convolution",
    call: { op, ...call },
    inputs: views.slice(0, inputs),
    outputs: [out],
    ...after && { epilogue },
    origins: [],
  };
  return {
    name: "convolution",
    buffers,
    inputs: views.slice(0, inputs).map(({ buffer }) => buffer),
    outputs: views.slice(inputs).map(({ buffer }) => buffer),
    sizes: [],
    arenaBytes: 0,
    kernels: [kernel],
  };
}

/** Returns the elements that a program stores for small whole numbers. */
function run(before: Program, program: Program): number[] {
  const sizeOf = (id: number) => Number(before.buffers[id]?.length ?? 0);
  const given = before.inputs.map((id) =>
    toHost("float32", Array.from({ length: sizeOf(id) }, (_, k) => (k * 7 + id * 3) % 11 - 5))
  );
  const outputs = before.outputs.map((id) => toHost("float32", new Array(sizeOf(id)).fill(NaN)));
  interpret(program, { inputs: given, outputs });
  return outputs.flatMap((each) => [...each].map(Number));
}

/** Holds what a pass makes of a call against the call; returns the kernels. */
function check(pass: (program: Program) => Program, before: Program, exact = true): readonly string[] {
  const program = pass(before);
  verifyProgram(program);
  const [found, wanted] = [run(before, program), run(before, before)];
  if (exact) assertEquals(found, wanted);
  else {
    const most = wanted.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
    const off = found.reduce((off, each, i) => Math.max(off, Math.abs(each - (wanted[i] ?? NaN))), 0) / most;
    assert(off < 2e-6, `${off}`);
  }
  return program.kernels.map((kernel) => kernel.kind === "extern" ? kernel.call.op : kernel.name);
}

Deno.test("depthwise convolutions and their gradients are loops that also run the epilogue", () => {
  const depthwise = (program: Program) => depthwiseConvolutions(program, TARGET);
  const groups = 4;
  const seven: Call = { image: [1, 4, 7, 6], filter: [4, 1, 7, 7], geometry: { groups, padding: [3, 3] } };
  assertEquals(check(depthwise, programOf("convForward", seven)), ["behind"]);
  assertEquals(check(depthwise, programOf("convBackwardInput", seven)), ["behind"]);
  const apart = { groups, stride: [2, 1], padding: [2, 0], dilation: [1, 2] } as const;
  const other: Call = { image: [2, 4, 8, 7], filter: [4, 1, 3, 2], geometry: apart };
  assertEquals(check(depthwise, programOf("convForward", other)), ["behind"]);
  assertEquals(check(depthwise, programOf("convBackwardInput", other)), ["convBackwardInput"]);
  for (const each of [seven, other]) {
    assertEquals(check(depthwise, programOf("convBackwardWeight", each)), ["convolution"]);
  }
  // Two filters for each channel, and too many taps to be written out
  const twice: Call = { image: [1, 4, 3, 3], filter: [8, 1, 3, 3], geometry: { groups } };
  assertEquals(check(depthwise, programOf("convForward", twice)), ["convForward"]);
  const long: Call = { image: [1, 4, 2, 70], filter: [4, 1, 1, 65], geometry: { groups, padding: [0, 0] } };
  for (const op of ["convForward", "convBackwardWeight"] as const) {
    assertEquals(check(depthwise, programOf(op, long)), [op]);
  }
});

Deno.test("gradients of images of few channels under strided filters are a product and loops", () => {
  const folded = (program: Program) => foldedGradients(program, TARGET);
  const kernels = ["matmul", "convolution_fold", "behind"];
  for (
    const [image, filter, geometry] of [
      [[2, 3, 9, 10], [16, 3, 7, 5], { stride: [2, 3], padding: [3, 1] }],
      [[1, 2, 8, 8], [17, 2, 4, 4], { stride: [4, 4], padding: [0, 0] }],
      [[1, 4, 7, 8], [16, 4, 2, 3], { stride: [3, 1], padding: [0, 2] }],
    ] as const
  ) assertEquals(check(folded, programOf("convBackwardInput", { image, filter, geometry })), kernels);
  const many: Call = { image: [1, 5, 4, 4], filter: [16, 5, 3, 3], geometry: { stride: [2, 2] } };
  assertEquals(check(folded, programOf("convBackwardInput", many)), ["convBackwardInput"]);
});

Deno.test("transforms in memory are those of the target's side, for images of any size", () => {
  const { grid } = TARGET;
  assert(grid);
  const of = (side: 2 | 4) => (program: Program) =>
    packedFilters(program, { ...TARGET, grid: { ...grid, transforms: () => side } } satisfies Target);
  const squares = ["convolution_filter", "convolution_squares", "matmul"];
  const whole: Call = { image: [2, 3, 8, 4], filter: [2, 3, 3, 3] };
  const cut: Call = { image: [2, 3, 7, 6], filter: [2, 3, 3, 3], geometry: { padding: [0, 2] } };
  for (const side of [2, 4] as const) {
    assertEquals(check(of(side), programOf("convForward", whole), side === 2), [...squares, "behind"]);
    // Results that repeat others are behind before the epilogue
    for (const op of ["convForward", "convBackwardInput"] as const) {
      assertEquals(check(of(side), programOf(op, cut), side === 2), [...squares, "convolution", "behind"]);
    }
    const gradient = ["convolution_squares", "convolution_squares", "matmul", "convolution"];
    assertEquals(check(of(side), programOf("convBackwardWeight", cut), side === 2), gradient);
  }
});
