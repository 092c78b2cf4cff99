/**
 * Library calls on WebAssembly: matrix products, and convolutions as products over unfolded images. Input: an
 * extern kernel; output: a function over host views that says whether it did the call. Invariant: float32 only;
 * what does not fit is left to the caller. Operands outside the WebAssembly memory are copied in and out.
 */
import type { HostView } from "../js/extern.ts";
import type { ExternLibrary, ExternViews } from "../js/program.ts";
import type { ConvGeometry, ExternOp } from "../../lib/loops/ir.ts";
import { type FunctionBody, ModuleWriter } from "./binary.ts";
import { gemmFunction } from "./gemm.ts";
import { wasmMemory } from "./memory.ts";

/** Compiles and instantiates exported functions over the shared memory. */
export function instantiate(
  functions: Readonly<Record<string, FunctionBody>>,
): Record<string, (...args: number[]) => void> {
  const writer = new ModuleWriter([]);
  for (const [name, body] of Object.entries(functions)) writer.add(body, name);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(writer.finish()), {
    host: { memory: wasmMemory.memory },
  });
  const found: Record<string, (...args: number[]) => void> = {};
  for (const [name, value] of Object.entries(instance.exports)) {
    if (typeof value === "function") found[name] = (...args) => void Reflect.apply(value, undefined, args);
  }
  return found;
}

/** A float32 matrix in the WebAssembly memory: byte address, strides in bytes. */
interface Matrix {
  readonly address: number;
  readonly row: number;
  readonly column: number;
}

interface Product {
  readonly a: Matrix;
  readonly b: Matrix;
  readonly out: Matrix;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly accumulate: boolean;
}

let gemm: ((...args: number[]) => void) | undefined;

/** Bytes of scratch that a product of depth k needs. */
const gemmScratch = (k: number) => 32 * k + 64;

function multiply({ a, b, out, m, n, k, accumulate }: Product, scratch: number): void {
  gemm ??= instantiate({ gemm: gemmFunction() })["gemm"];
  gemm?.(
    a.address,
    b.address,
    out.address,
    m,
    n,
    k,
    a.row,
    a.column,
    b.row,
    b.column,
    out.row,
    out.column,
    scratch,
    accumulate ? 1 : 0,
  );
}

/** The library, as the JavaScript printer takes it. */
export const wasmLibrary: ExternLibrary = ({ call }) => {
  switch (call.op) {
    case "matmul":
      return (views) => isFloat32(views) && matmul(views, call.accumulate);
    case "convForward":
    case "convBackwardInput":
    case "convBackwardWeight":
      return (views) => isFloat32(views) && convolve(views, call);
    case "sort":
      return undefined;
    default:
      return call satisfies never;
  }
};

const isFloat32 = ({ inputs, outputs }: ExternViews): boolean =>
  [...inputs, ...outputs].every((view) => view.dtype === "float32");

const lies = (view: HostView): boolean => view.data.buffer === wasmMemory.memory.buffer;

/** Elements from the first to the last of a view. */
function extent(view: HostView): number {
  if (view.shape.includes(0)) return 0;
  return 1 + view.shape.reduce((sum, n, d) => sum + (n - 1) * (view.strides[d] ?? 0), 0);
}

/**
 * Runs `body` with byte addresses of the views, which are copied in first and (outputs) out last unless they lie
 * in the memory already. `scratch` bytes follow at the last address.
 */
function within(
  views: ExternViews,
  scratch: number,
  body: (addresses: readonly number[], free: number) => void,
): void {
  const all = [...views.inputs, ...views.outputs];
  if (all.every(lies)) {
    return body(all.map((view) => view.data.byteOffset + 4 * view.offset), wasmMemory.top);
  }
  let bytes = 0;
  const addresses = all.map((view) => {
    const address = bytes;
    bytes += Math.ceil(4 * extent(view) / 64) * 64;
    return address;
  });
  wasmMemory.reserve(bytes, scratch);
  const host = () => new Float32Array(wasmMemory.memory.buffer);
  const memory = host();
  all.forEach((view, i) => {
    if (!(view.data instanceof Float32Array)) return;
    memory.set(view.data.subarray(view.offset, view.offset + extent(view)), (addresses[i] ?? 0) / 4);
  });
  body(addresses, wasmMemory.top);
  views.outputs.forEach((view, i) => {
    if (!(view.data instanceof Float32Array)) return;
    const start = (addresses[views.inputs.length + i] ?? 0) / 4;
    view.data.set(memory.subarray(start, start + extent(view)), view.offset);
  });
}

const size = (view: HostView | undefined, d: number): number => view?.shape.at(d) ?? 1;
const stride = (view: HostView | undefined, d: number): number => 4 * (view?.strides.at(d) ?? 0);

function matmul(views: ExternViews, accumulate: boolean): boolean {
  const [a, b] = views.inputs, [out] = views.outputs;
  if (!a || !b || !out) return false;
  const [m, n, k] = [size(out, -2), size(out, -1), size(a, -1)];
  const batch = out.shape.slice(0, -2);
  within(views, gemmScratch(k), ([atA = 0, atB = 0, atOut = 0], scratch) => {
    const matrix = (view: HostView, address: number): Matrix => ({
      address,
      row: stride(view, -2),
      column: stride(view, -1),
    });
    const each = (d: number, [x, y, z]: readonly [number, number, number]): void => {
      if (d === batch.length) {
        const product = { a: matrix(a, x), b: matrix(b, y), out: matrix(out, z), m, n, k, accumulate };
        return multiply(product, scratch);
      }
      for (let i = 0; i < (batch[d] ?? 0); i++) {
        each(d + 1, [x + i * stride(a, d), y + i * stride(b, d), z + i * stride(out, d)]);
      }
    };
    each(0, [atA, atB, atOut]);
  });
  return true;
}

/** Sizes of one convolution, per group. */
interface ConvShape {
  readonly geometry: ConvGeometry;
  readonly batch: number;
  readonly groups: number;
  readonly inChannels: number;
  readonly outChannels: number;
  readonly input: readonly [number, number];
  readonly kernel: readonly [number, number];
  readonly output: readonly [number, number];
}

/** Sizes of a call by the shapes of input, weight and output. */
function convShape(
  geometry: ConvGeometry,
  { input, weight, output }: Readonly<Record<"input" | "weight" | "output", Shaped>>,
): ConvShape {
  const at = ({ shape }: Shaped, d: number) => shape[d] ?? 1;
  return {
    geometry,
    batch: at(input, 0),
    groups: geometry.groups,
    inChannels: at(weight, 1),
    outChannels: at(weight, 0) / geometry.groups,
    input: [at(input, 2), at(input, 3)],
    kernel: [at(weight, 2), at(weight, 3)],
    output: [at(output, 2), at(output, 3)],
  };
}

interface Shaped {
  readonly shape: readonly number[];
}

type ConvCall = ConvGeometry & { readonly op: "convForward" | "convBackwardInput" | "convBackwardWeight" };

/** Which operand is the input, the weight and the output of the convolution. */
function rolesOf<V>(
  op: ConvCall["op"],
  [first, second, result]: readonly [V, V, V],
): { input: V; weight: V; output: V } {
  switch (op) {
    case "convForward":
      return { input: first, weight: second, output: result };
    case "convBackwardInput":
      return { input: result, weight: second, output: first };
    case "convBackwardWeight":
      return { input: second, weight: result, output: first };
    default:
      return op satisfies never;
  }
}

const depthOf = ({ inChannels, kernel }: ConvShape): number => inChannels * kernel[0] * kernel[1];
const pixelsOf = ({ output }: ConvShape): number => output[0] * output[1];
const columnBytes = (shape: ConvShape): number => Math.ceil(4 * depthOf(shape) * pixelsOf(shape) / 64) * 64;
const convScratch = (shape: ConvShape): number =>
  columnBytes(shape) + gemmScratch(Math.max(depthOf(shape), pixelsOf(shape), shape.outChannels));

/** Bytes of scratch memory that a call on operands of these shapes needs. */
export function scratchBytes(call: ExternOp, operands: readonly Shaped[]): number {
  const [first, second] = operands, result = operands.at(-1);
  if (call.op === "sort" || !first || !second || !result) return 0;
  if (call.op === "matmul") return gemmScratch(first.shape.at(-1) ?? 1);
  return convScratch(convShape(call, rolesOf(call.op, [first, second, result])));
}

const dense = (view: HostView): boolean => {
  let step = 1;
  for (let d = view.shape.length - 1; d >= 0; d--) {
    if (view.shape[d] !== 1 && view.strides[d] !== step) return false;
    step *= view.shape[d] ?? 1;
  }
  return true;
};

function convolve(views: ExternViews, call: ConvCall): boolean {
  const [first, second, bias] = views.inputs, [result] = views.outputs;
  if (!first || !second || !result || ![first, second, result].every(dense)) return false;
  const shape = convShape(call, rolesOf(call.op, [first, second, result]));
  const depth = depthOf(shape), pixels = pixelsOf(shape);
  within(views, convScratch(shape), (addresses, free) => {
    const [atFirst = 0, atSecond = 0, atBias = 0] = addresses, atResult = addresses[views.inputs.length] ?? 0;
    const at = rolesOf(call.op, [atFirst, atSecond, atResult]);
    const memory = new Float32Array(wasmMemory.memory.buffer);
    const columns = { address: free, row: 4 * pixels, column: 4 };
    const scratch = free + columnBytes(shape);
    const imageBytes = 4 * shape.inChannels * shape.input[0] * shape.input[1];
    const weightBytes = 4 * shape.outChannels * depth, outputBytes = 4 * shape.outChannels * pixels;
    const start = atResult / 4, count = extent(result);
    if (call.op !== "convForward") memory.fill(0, start, start + count);
    for (let n = 0; n < shape.batch; n++) {
      for (let g = 0; g < shape.groups; g++) {
        const image = (at.input + (n * shape.groups + g) * imageBytes) / 4;
        const w: Matrix = { address: at.weight + g * weightBytes, row: 4 * depth, column: 4 };
        const y: Matrix = {
          address: at.output + (n * shape.groups + g) * outputBytes,
          row: 4 * pixels,
          column: 4,
        };
        switch (call.op) {
          case "convForward": {
            unfold(memory, { image, columns: free / 4, shape });
            if (bias) {
              spreadBias(memory, {
                at: y.address / 4,
                bias: atBias / 4 + g * shape.outChannels,
                shape,
                pixels,
              });
            }
            multiply(
              {
                a: w,
                b: columns,
                out: y,
                m: shape.outChannels,
                n: pixels,
                k: depth,
                accumulate: bias !== undefined,
              },
              scratch,
            );
            break;
          }
          case "convBackwardInput": {
            const transposed: Matrix = { address: w.address, row: w.column, column: w.row };
            multiply(
              {
                a: transposed,
                b: y,
                out: columns,
                m: depth,
                n: pixels,
                k: shape.outChannels,
                accumulate: false,
              },
              scratch,
            );
            fold(memory, { image, columns: free / 4, shape });
            break;
          }
          case "convBackwardWeight": {
            unfold(memory, { image, columns: free / 4, shape });
            const transposed: Matrix = { address: columns.address, row: columns.column, column: columns.row };
            multiply(
              { a: y, b: transposed, out: w, m: shape.outChannels, n: depth, k: pixels, accumulate: true },
              scratch,
            );
            break;
          }
          default:
            call.op satisfies never;
        }
      }
    }
  });
  return true;
}

function spreadBias(
  memory: Float32Array,
  { at, bias, shape, pixels }: { at: number; bias: number; shape: ConvShape; pixels: number },
): void {
  for (let c = 0; c < shape.outChannels; c++) {
    memory.fill(memory[bias + c] ?? 0, at + c * pixels, at + (c + 1) * pixels);
  }
}

/** Element positions of one image and of its unfolded form [channels·kernel, pixels]. */
interface Unfolding {
  readonly image: number;
  readonly columns: number;
  readonly shape: ConvShape;
}

/** columns[(c, ky, kx), (oy, ox)] = image[c, oy·s + ky·d − p, …], 0 outside. */
function unfold(memory: Float32Array, { image, columns, shape }: Unfolding): void {
  const { geometry: { stride, padding, dilation }, input: [height, width], output: [rows, row] } = shape;
  let to = columns;
  for (let c = 0; c < shape.inChannels; c++) {
    const channel = image + c * height * width;
    for (let ky = 0; ky < shape.kernel[0]; ky++) {
      for (let kx = 0; kx < shape.kernel[1]; kx++) {
        const x0 = kx * dilation[1] - padding[1];
        for (let oy = 0; oy < rows; oy++, to += row) {
          const y = oy * stride[0] + ky * dilation[0] - padding[0];
          if (y < 0 || y >= height) {
            memory.fill(0, to, to + row);
            continue;
          }
          const from = channel + y * width;
          for (let ox = 0; ox < row; ox++) {
            const x = x0 + ox * stride[1];
            memory[to + ox] = x >= 0 && x < width ? memory[from + x] ?? 0 : 0;
          }
        }
      }
    }
  }
}

/** The transpose of `unfold`: adds every column element to the pixel that it came from. */
function fold(memory: Float32Array, { image, columns, shape }: Unfolding): void {
  const { geometry: { stride, padding, dilation }, input: [height, width], output: [rows, row] } = shape;
  let from = columns;
  for (let c = 0; c < shape.inChannels; c++) {
    const channel = image + c * height * width;
    for (let ky = 0; ky < shape.kernel[0]; ky++) {
      for (let kx = 0; kx < shape.kernel[1]; kx++) {
        const x0 = kx * dilation[1] - padding[1];
        for (let oy = 0; oy < rows; oy++, from += row) {
          const y = oy * stride[0] + ky * dilation[0] - padding[0];
          if (y < 0 || y >= height) continue;
          const to = channel + y * width;
          for (let ox = 0; ox < row; ox++) {
            const x = x0 + ox * stride[1];
            if (x >= 0 && x < width) memory[to + x] = (memory[to + x] ?? 0) + (memory[from + ox] ?? 0);
          }
        }
      }
    }
  }
}
