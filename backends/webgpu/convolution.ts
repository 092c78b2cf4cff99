/**
 * Shaders of convolutions and their gradients as tiled products whose operands are gathered on the fly: no patches
 * are materialised, and an epilogue finishes each result in place. One product per group: the weight is a matrix of
 * output channels by taps (channel, ky, kx), an image one of channels by positions (image, y, x).
 */
import { valueType } from "../../lib/base/dtype.ts";
import { phasesOf } from "../../lib/codegen/product_sizes.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { type Dim, floorDiv, mul, product } from "../../lib/sym/expr.ts";
import type { BufferView, ExternKernel, ExternOp, Program } from "../../lib/loops/ir.ts";
import type { Placement } from "./print/bindings.ts";
import { finished, type Shader } from "./print/entry.ts";
import { registerType } from "./print/scalar.ts";
import { ShaderWriter } from "./print/statements.ts";
import {
  type ConvolutionOp,
  foursOf,
  liesByTaps,
  printElement,
  printFours,
  vectorsOf,
  vectorsOfPatch,
} from "./vec4.ts";
import { PATCHES, patchOf, SKINNY, skinnyRowsOf, SLICED, slicedSumsOf, tilesOf, WINOGRAD } from "./target.ts";
import { Gather } from "./gather.ts";
import { printPatches } from "./patches.ts";
import { size } from "./phases.ts";
import { printWinograd } from "./winograd.ts";
import { printSkinnyProduct, printSlicedProduct } from "./skinny_products.ts";
import { tileThreads } from "./product_tiles.ts";
import type { TileProduct } from "./tile_stage.ts";
import { printTiles } from "./tiles.ts";

/** Returns whether a call is a convolution. */
export function isConvolution(call: ExternOp): call is ConvolutionOp {
  return call.op === "convForward" || call.op === "convBackwardInput" || call.op === "convBackwardWeight";
}

/** The shader of a convolution. */
export function printConvolution(
  kernel: ExternKernel,
  call: ConvolutionOp,
  { program, placement }: { readonly program: Program; readonly placement: Placement },
): Shader {
  const [out] = kernel.outputs;
  const declared = program.buffers[out?.buffer ?? -1];
  if (!out || !declared) throw new InternalError("Expected a result of a convolution but found none");
  const dtype = valueType(declared.dtype);
  const splits = kernel.parts ?? 1, { epilogue } = kernel;
  const patch = liesByTaps(kernel, program) ? patchOf(kernel) : undefined;
  const few = skinnyRowsOf(kernel),
    sums = slicedSumsOf(kernel),
    tile = tilesOf(kernel, placement.workgroupBytes);
  const byVectors = patch || kernel.transformed
    ? vectorsOfPatch(kernel, program)
    : vectorsOf(kernel, call, program);
  const fours = foursOf({
    program,
    placement: few || sums ? { ...placement, aligned: false } : placement,
    statements: [
      ...kernel.inputs.map((v) => ({ kind: "load", id: 0, buffer: v.buffer, index: 0, dtype }) as const),
      { kind: "store", buffer: out.buffer, index: 0, value: 0, mode: "set" } as const,
      ...epilogue?.body ?? [],
    ],
    operands: kernel.inputs.slice(0, 2).map((view) => ({
      buffer: view.buffer,
      byVectors: byVectors.operand === view,
    })),
    out: { buffer: out.buffer, byVectors: byVectors.out },
    epilogue,
  });
  const { bindings } = fours;
  const threads = kernel.transformed
    ? WINOGRAD.threads
    : patch
    ? PATCHES.threads
    : few
    ? SKINNY.threads
    : sums
    ? SLICED.threads
    : tileThreads(tile);
  // Networks have many of these, which take long to compile, and whose long sums hide how long divisions by sizes take
  const isTiled = !kernel.transformed && !patch && !few && !sums, isLong = splits > 1;
  const ofAnySize = isTiled &&
    (call.op === "convForward" ? isLong : call.op === "convBackwardInput" && product(phasesOf(call)) !== 1);
  const w = new ShaderWriter({ program, bindings, threads, cooperative: false, ofAnySize });
  const element = {
    type: registerType(dtype),
    zero: `${registerType(dtype)}()`,
    splits,
    peeled: false,
  };
  if (fours.epilogue) printFours(w, fours.epilogue, "finish");
  else if (epilogue) printElement(w, epilogue, { name: "finish" });
  const inFours = byVectors.operand && bindings.inFours(byVectors.operand.buffer)
    ? byVectors.operand
    : undefined;
  const filter = call.op === "convBackwardWeight" ? out : kernel.inputs[1];
  const finishes = epilogue !== undefined;
  const gather = new Gather({ w, bindings, call, filter, splits, fours, inFours, finishes });
  if (kernel.transformed) {
    return finished(w, kernel.name, printWinograd(w, gather.patches(kernel), kernel.transformed));
  }
  if (patch) {
    return finished(w, kernel.name, printPatches(w, gather.patches(kernel), patch));
  }
  const job = { ...element, ...productOf(kernel, call, gather) };
  const workgroups = few
    ? printSkinnyProduct(w, job, few)
    : sums
    ? printSlicedProduct(w, job, sums)
    : printTiles(w, job, tile);
  return finished(w, kernel.name, workgroups);
}

type Product = Omit<TileProduct, "type" | "zero" | "splits" | "peeled">;

function productOf(kernel: ExternKernel, call: ConvolutionOp, gather: Gather): Product {
  const [first, second, bias] = kernel.inputs, [out] = kernel.outputs;
  if (!first || !second || !out) throw new InternalError("Expected the operands of a convolution");
  switch (call.op) {
    case "convForward":
      return forward(gather, { input: first, weight: second, bias, out });
    case "convBackwardInput":
      return backwardInput(gather, { grad: first, weight: second, out });
    case "convBackwardWeight":
      return backwardWeight(gather, { grad: first, input: second, out });
    default:
      return call satisfies never;
  }
}

/** out[channel, position] = Σ weight[channel, tap] · input[tap at position] + bias[channel] */
function forward(
  gather: Gather,
  { input, weight, bias, out }: {
    readonly input: BufferView;
    readonly weight: BufferView;
    readonly bias: BufferView | undefined;
    readonly out: BufferView;
  },
): Product {
  const channels = floorDiv(size(weight, 0), gather.groups);
  return {
    ...gather.whole,
    rows: channels,
    columns: positions(out),
    depth: product(weight.shape.slice(1)),
    a: {
      ...PLAIN,
      other: (place, as) => gather.base(weight, 0, { place: gather.channel(place, channels), as }),
      depth: (place, as) => gather.folded(weight, 1, { place, as }),
      element: (at) => gather.element(weight, at),
      ...gather.fours(weight),
    },
    b: {
      ...IMAGES,
      other: (place, as) => gather.window(input, { images: out, place, as }),
      depth: (place, as) => gather.windowTap(input, { weight, place, as }),
      element: (at) => gather.met(input, at),
    },
    result: gather.images(out, channels, { bias }),
  };
}

/**
 * out[channel, position] = Σ over output channels and taps of weight · grad where that tap met the position. Each phase
 * of the strides has its own taps and positions.
 */
function backwardInput(
  gather: Gather,
  { grad, weight, out }: { readonly grad: BufferView; readonly weight: BufferView; readonly out: BufferView },
): Product {
  const outputs = floorDiv(size(weight, 0), gather.groups), inputs = size(weight, 1);
  const phases = gather.phases(weight);
  return {
    batch: [gather.groups, ...phases ? [phases.count] : []],
    prepare: () => phases?.prepare(),
    rows: inputs,
    columns: product([size(out, 0), ...phases ? phases.sizes(out) : out.shape.slice(2)]),
    depth: phases ? phases.depth(outputs) : mul(outputs, product(weight.shape.slice(2))),
    a: {
      ...PLAIN,
      other: (place, as) => gather.base(weight, 1, { place, as }),
      depth: (place, as) =>
        gather.folded(weight, 0, { place, as, outer: (text) => gather.channel(text, outputs), phases }),
      element: (at) => gather.element(weight, at),
    },
    b: {
      ...IMAGES,
      other: (place, as) => gather.source(grad, { images: out, place, as, phases }),
      depth: (place, as) => gather.sourceTap(grad, { channels: outputs, weight, place, as, phases }),
      element: (at) => gather.metFrom(grad, at, phases !== undefined),
    },
    result: gather.images(out, inputs, { phases }),
  };
}

/** out[channel, tap] = Σ over positions of grad[channel, position] · input[tap at position] */
function backwardWeight(
  gather: Gather,
  { grad, input, out }: { readonly grad: BufferView; readonly input: BufferView; readonly out: BufferView },
): Product {
  const channels = floorDiv(size(out, 0), gather.groups);
  return {
    ...gather.whole,
    rows: channels,
    columns: product(out.shape.slice(1)),
    depth: positions(grad),
    a: {
      ...PLAIN,
      other: (place, as) => gather.base(grad, 1, { place: gather.channel(place, channels), as }),
      depth: (place, as) => gather.folded(grad, 0, { place, as }),
      element: (at) => gather.element(grad, at),
      ...gather.fours(grad),
    },
    b: {
      ...PLAIN,
      other: (place, as) => gather.windowTap(input, { weight: out, place, as }),
      depth: (place, as) => gather.window(input, { images: grad, place, as }),
      element: (at) => gather.met(input, at),
    },
    result: gather.taps(out, channels),
  };
}

/** Operands that are read in place. */
const PLAIN = { alongDepth: true, reads: "anywhere" } as const;
/** Images under the taps of a filter. */
const IMAGES = { ...PLAIN, alongDepth: false, declares: ["at", "y", "x"] } as const;

/** Number of images times height times width. */
const positions = (images: BufferView): Dim => product([size(images, 0), size(images, 2), size(images, 3)]);
