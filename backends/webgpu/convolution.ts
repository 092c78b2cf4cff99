/**
 * Convolutions as tiled products whose operands are gathered on the way: no patches are written out, and an epilogue
 * finishes each result where it is made. Input: a convolution call or one of its gradients; output: its shader. One
 * product per group: the weight is a matrix of output channels by taps (channel, ky, kx), an image one of channels by
 * positions (image, y, x).
 */
import { valueType } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { type Dim, floorDiv, mul, product } from "../../lib/sym/expr.ts";
import type { BufferView, ConvGeometry, ExternKernel, ExternOp, Program } from "../../lib/loops/ir.ts";
import { Bindings, type Placement } from "./print/bindings.ts";
import type { Shader } from "./print/kernel.ts";
import { registerType } from "./print/scalar.ts";
import { ShaderWriter } from "./print/statements.ts";
import { printElement } from "./nests.ts";
import { tilesOf } from "./target.ts";
import { printTiles, TILE_THREADS, type TileProduct } from "./tiles.ts";

/** The calls that this file prints. */
export type ConvolutionOp = Extract<ExternOp, ConvGeometry>;

/** Whether a call is a convolution. */
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
  const splits = kernel.parts ?? 1;
  const bindings = new Bindings(program, [
    ...kernel.inputs.map((v) => ({ kind: "load", id: 0, buffer: v.buffer, index: 0, dtype }) as const),
    { kind: "store", buffer: out.buffer, index: 0, value: 0, mode: "set" } as const,
    ...kernel.epilogue?.body ?? [],
  ], { placement, lanes: 1 });
  const w = new ShaderWriter({ program, bindings, threads: TILE_THREADS, cooperative: false });
  const element = {
    type: registerType(dtype),
    zero: `${registerType(dtype)}()`,
    batch: [call.groups],
    tile: tilesOf(kernel),
    splits,
    prepare() {},
  };
  if (kernel.epilogue) printElement(w, kernel.epilogue, { name: "finish" });
  const gather = new Gather({ w, bindings, call, splits, finishes: kernel.epilogue !== undefined });
  const workgroups = printTiles(w, { ...element, ...productOf(kernel, call, gather) });
  return {
    name: kernel.name,
    code: w.finish(),
    memories: bindings.memories,
    words: bindings.parameters.words,
    workgroups,
  };
}

type Product = Pick<TileProduct, "rows" | "columns" | "depth" | "a" | "b" | "store">;

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
  const channels = floorDiv(size(weight, 0), gather.call.groups);
  return {
    rows: channels,
    columns: positions(out),
    depth: product(weight.shape.slice(1)),
    a: {
      alongDepth: true,
      load({ other, depth }) {
        gather.tap(weight, depth);
        gather.load(weight, [gather.channel(other, channels), "channel", "ky", "kx"]);
      },
    },
    b: {
      alongDepth: false,
      load({ other, depth }) {
        gather.tap(weight, depth);
        gather.position(out, other);
        gather.loadTap(input, gather.channel("channel", size(weight, 1)));
      },
    },
    store({ row, column, value }) {
      gather.position(out, column);
      const channel = gather.channel(row, channels);
      const sum = bias ? `(${value} + ${gather.element(bias, [channel])})` : value;
      gather.store(out, ["image", channel, "y", "x"], sum);
    },
  };
}

/** out[channel, position] = Σ over output channels and taps of weight · grad where that tap met the position */
function backwardInput(
  gather: Gather,
  { grad, weight, out }: { readonly grad: BufferView; readonly weight: BufferView; readonly out: BufferView },
): Product {
  const { w, call } = gather;
  const outputs = floorDiv(size(weight, 0), call.groups), inputs = size(weight, 1);
  const taps = { ...weight, shape: [outputs, outputs, size(weight, 2), size(weight, 3)] };
  return {
    rows: inputs,
    columns: positions(out),
    depth: mul(outputs, product(weight.shape.slice(2))),
    a: {
      alongDepth: true,
      load({ other, depth }) {
        gather.tap(taps, depth);
        gather.load(weight, [gather.channel("channel", outputs), other, "ky", "kx"]);
      },
    },
    b: {
      alongDepth: false,
      load({ other, depth }) {
        gather.tap(taps, depth);
        gather.position(out, other);
        const [sy, sx] = call.stride, [py, px] = call.padding, [dy, dx] = call.dilation;
        w.line(`let ty = y + ${py} - ky * ${dy}; let tx = x + ${px} - kx * ${dx};`);
        const inside = `ty >= 0 && tx >= 0 && ty % ${sy} == 0 && tx % ${sx} == 0`;
        w.line(`let oy = ty / ${sy}; let ox = tx / ${sx};`);
        w.line(`if (${inside} && oy < ${w.index(size(grad, 2))} && ox < ${w.index(size(grad, 3))}) {`);
        gather.load(grad, ["image", gather.channel("channel", outputs), "oy", "ox"]);
        w.line("}");
      },
    },
    store({ row, column, value }) {
      gather.position(out, column);
      gather.store(out, ["image", gather.channel(row, inputs), "y", "x"], value);
    },
  };
}

/** out[channel, tap] = Σ over positions of grad[channel, position] · input[tap at position] */
function backwardWeight(
  gather: Gather,
  { grad, input, out }: { readonly grad: BufferView; readonly input: BufferView; readonly out: BufferView },
): Product {
  const channels = floorDiv(size(out, 0), gather.call.groups);
  return {
    rows: channels,
    columns: product(out.shape.slice(1)),
    depth: positions(grad),
    a: {
      alongDepth: true,
      load({ other, depth }) {
        gather.position(grad, depth);
        gather.load(grad, ["image", gather.channel(other, channels), "y", "x"]);
      },
    },
    b: {
      alongDepth: true,
      load({ other, depth }) {
        gather.tap(out, other);
        gather.position(grad, depth);
        gather.loadTap(input, gather.channel("channel", size(out, 1)));
      },
    },
    store({ row, column, value }) {
      gather.tap(out, column);
      gather.store(out, [gather.channel(row, channels), "channel", "ky", "kx"], value);
    },
  };
}

interface GatherSetting {
  readonly w: ShaderWriter;
  readonly bindings: Bindings;
  readonly call: ConvolutionOp;
  /** Into how many parts sums are cut. */
  readonly splits: number;
  /** Whether an epilogue is called for each result. */
  readonly finishes: boolean;
}

/** Writes lines that take places apart and read and write elements. */
class Gather {
  readonly w: ShaderWriter;
  readonly call: ConvolutionOp;
  readonly #bindings: Bindings;
  readonly #splits: number;
  readonly #finishes: boolean;

  constructor({ w, bindings, call, splits, finishes }: GatherSetting) {
    this.w = w;
    this.call = call;
    this.#bindings = bindings;
    this.#splits = splits;
    this.#finishes = finishes;
  }

  /** A channel of the group at hand among all channels. */
  channel(within: string, perGroup: Dim): string {
    return `(n0 * ${this.w.index(perGroup)} + ${within})`;
  }

  /** `channel`, `ky` and `kx` of a tap of a weight. */
  tap(weight: BufferView, place: string): void {
    const [height, width] = [size(weight, 2), size(weight, 3)].map((d) => this.w.index(d));
    this.w.line(`let kx = ${place} % ${width}; let ky = (${place} / ${width}) % ${height};`);
    this.w.line(`let channel = ${place} / (${width} * ${height});`);
  }

  /** `image`, `y` and `x` of a position in images. */
  position(images: BufferView, place: string): void {
    const [height, width] = [size(images, 2), size(images, 3)].map((d) => this.w.index(d));
    this.w.line(`let x = ${place} % ${width}; let y = (${place} / ${width}) % ${height};`);
    this.w.line(`let image = ${place} / (${width} * ${height});`);
  }

  /** What the tap (ky, kx) of the output position (y, x) meets in the input, where that is inside. */
  loadTap(input: BufferView, channel: string): void {
    const [sy, sx] = this.call.stride, [py, px] = this.call.padding, [dy, dx] = this.call.dilation;
    this.w.line(`let iy = y * ${sy} + ky * ${dy} - ${py}; let ix = x * ${sx} + kx * ${dx} - ${px};`);
    const [height, width] = [size(input, 2), size(input, 3)].map((d) => this.w.index(d));
    this.w.line(`if (iy >= 0 && iy < ${height} && ix >= 0 && ix < ${width}) {`);
    this.load(input, ["image", channel, "iy", "ix"]);
    this.w.line("}");
  }

  load(view: BufferView, index: readonly string[]): void {
    this.w.line(`value = ${this.element(view, index)};`);
  }

  element(view: BufferView, index: readonly string[]): string {
    return this.#bindings.load(view.buffer, this.#place(view, index));
  }

  store(view: BufferView, index: readonly string[], text: string): void {
    const place = this.#place(view, index);
    const part = this.#splits > 1 ? `${place} + n1 * ${this.w.index(product(view.shape))}` : place;
    this.w.line(this.#bindings.store(view.buffer, part, {
      text,
      mode: "set",
      helpers: this.w.helpers,
    }));
    if (this.#finishes) this.w.line(`finish(${index.join(", ")});`);
  }

  #place(view: BufferView, index: readonly string[]): string {
    const terms = index.map((text, d) => `${text} * ${this.w.index(view.strides[d] ?? 0)}`);
    return [this.w.index(view.offset), ...terms].join(" + ");
  }
}

/** Images times height times width. */
const positions = (images: BufferView): Dim => product([size(images, 0), size(images, 2), size(images, 3)]);

function size(view: BufferView, dimension: number): Dim {
  const found = view.shape[dimension];
  if (found === undefined) throw new InternalError("Expected images and weights of four dimensions");
  return found;
}
