/**
 * Products with few results and long sums, in parts that workgroups add up in place: gradients of convolution weights.
 * Input: a program for a grid; output: the same, where such a call has parts and its result is cleared in front of it.
 * Invariant: what is cleared is what the call writes.
 */
import { valueType } from "../base/dtype.ts";
import { type Dim, floorDiv, product } from "../sym/expr.ts";
import type { BufferView, ExternKernel, LoopKernel, Program } from "../loops/ir.ts";
import { axesOf, wrapLoops } from "../loops/nest.ts";
import { flatIndex } from "../loops/record.ts";
import { replaceKernels } from "./kernels.ts";
import type { Target, Tiles } from "./target.ts";

/** The program with parts of sums. */
export function splitProducts(program: Program, { grid }: Target): Program {
  if (!grid) return program;
  return replaceKernels(program, (kernel) => {
    const [out] = kernel.kind === "extern" ? kernel.outputs : [];
    const parts = kernel.kind === "extern" ? partsOf(kernel, grid.tiles) : 1;
    if (parts === 1 || kernel.kind !== "extern" || !out) return [kernel];
    return [cleared(kernel.name, out, program), { ...kernel, parts }];
  });
}

/** Gradients of weights have few elements, each a sum over all positions of all images. */
function partsOf({ call, inputs: [grad], outputs: [out] }: ExternKernel, tiles: Tiles): number {
  if (call.op !== "convBackwardWeight" || !grad || !out) return 1;
  const [channels = 1, ...filter] = out.shape, [images = 1, , ...places] = grad.shape;
  const sizes = [floorDiv(channels, call.groups), product(filter), product([images, ...places])];
  const [rows, columns, depth] = sizes.map((d: Dim) => typeof d === "number" ? d : undefined);
  if (rows === undefined || columns === undefined || depth === undefined) return 1;
  const count = Math.ceil(rows / tiles.side) * Math.ceil(columns * call.groups / tiles.side);
  // Each part should be long against the tile that it adds to the result
  return Math.max(1, Math.min(Math.ceil(tiles.busy / count), Math.floor(depth / tiles.depth)));
}

/** Zero everywhere. */
function cleared(name: string, view: BufferView, { buffers }: Program): LoopKernel {
  const axes = axesOf(view.shape), dtype = valueType(buffers[view.buffer]?.dtype ?? "float32");
  const index = flatIndex(view, axes.map(({ symbol }) => symbol));
  const body = wrapLoops(axes, [
    { kind: "constant", id: 0, value: 0, dtype },
    { kind: "store", buffer: view.buffer, index, value: 0, mode: "set" },
  ]);
  return { kind: "loops", name: `${name}_clear`, body, origins: [] };
}
