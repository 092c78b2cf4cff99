/**
 * Convolutions as matrix products, for targets whose library has no convolutions: the windows of an image are unfolded
 * into columns [(channel, ky, kx), (oy, ox)], which are an operand of a product or its result (im2col). Kernels run by
 * blocks, so that columns are local to a thread. Invariant: sums run along channels and taps, and over images in an
 * order that does not depend on the number of threads.
 */
import type { DType } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { add, ceilDiv, type Dim, floorDiv, max, min, mul, product, sub } from "../sym/expr.ts";
import type { Axis, Blocks, BufferId, BufferView, ExternKernel, Kernel, Program } from "../loops/ir.ts";
import { axesOf, symbolsOf, wrapLoops } from "../loops/nest.ts";
import { loadBufferOperand, Recorder } from "../loops/record.ts";
import { laidOut } from "../loops/arena.ts";
import { axisOf } from "./strip_mining.ts";
import { type MakeTemporary, replaceWithTemporaries, rowMajor } from "./kernels.ts";
import { flipped, isSame } from "./row_form.ts";
import { groupsOf, sumsOf } from "./row_blocks.ts";
import { sideBySide } from "./split_products.ts";
import { pointwise } from "./vectorise.ts";

/**
 * Parts of the channels into which threads divide gradients of filters, and the minimum number of channels of a part.
 */
const PARTS = 8, LEAST_CHANNELS = 16;

/** Elements of a vector: rows of windows may be written in whole vectors, as the next row overwrites the excess. */
const LANES = 4;

/** Turns the convolutions of a program into products. */
export function im2colConvolutions(program: Program): Program {
  const made = replaceWithTemporaries(program, (kernel, temporary) => {
    if (kernel.kind !== "extern") return [kernel];
    const { call, originals, origins } = kernel, [first] = kernel.outputs;
    if (call.op === "matmul" || call.op === "sort" || call.op === "region") return [kernel];
    const room = { dtype: program.buffers[first?.buffer ?? -1]?.dtype ?? "float32", temporary };
    const kernels = onDense(kernel, room, (dense) => im2col(call, shapeOf(call, dense), room));
    return kernels.map((each) => ({ ...each, originals, origins }));
  });
  return made === program ? program : laidOut(made);
}

interface Room {
  /** The type of all operands. */
  readonly dtype: DType;
  readonly temporary: MakeTemporary;
}

type Operands = Pick<ExternKernel, "inputs" | "outputs">;
type ConvCall = Exclude<ExternKernel["call"], { readonly op: "matmul" | "sort" | "region" }>;

/** The kernels of a call on contiguous operands: others are copied first. */
function onDense(
  { inputs, outputs }: Operands,
  { dtype, temporary }: Room,
  run: (dense: Operands) => readonly Kernel[],
): readonly Kernel[] {
  const before: Kernel[] = [], after: Kernel[] = [];
  const copy = (from: BufferView, to: BufferView) =>
    pointwise("dense", { ...to, dtype }, (o, at) => o.load({ ...from, dtype }, at));
  const dense = (view: BufferView, copied: (copy: BufferView) => void): BufferView => {
    const { strides } = rowMajor(view.buffer, view.shape);
    if (strides.every((step, d) => view.shape[d] === 1 || isSame(step, view.strides[d] ?? 0))) return view;
    const made = rowMajor(temporary(dtype, product(view.shape)), view.shape);
    copied(made);
    return made;
  };
  const made = run({
    inputs: inputs.map((view) => dense(view, (to) => before.push(copy(view, to)))),
    outputs: outputs.map((view) => dense(view, (from) => after.push(copy(from, view)))),
  });
  return [...before, ...made, ...after];
}

type Pair = readonly [Dim, Dim];

/** A convolution of contiguous operands. Channels are those of a group. */
interface Shape {
  readonly input: BufferView;
  readonly filter: BufferView;
  readonly output: BufferView;
  readonly bias: BufferView | undefined;
  readonly inside: Dim;
  readonly outside: Dim;
  /** Rows and columns of filters, images and results. */
  readonly taps: Pair;
  readonly size: Pair;
  readonly places: Pair;
  /** Elements of a filter, and of a result. */
  readonly depth: Dim;
  readonly pixels: Dim;
}

function shapeOf(
  { op, groups }: ConvCall,
  { inputs: [first, second, bias], outputs: [result] }: Operands,
): Shape {
  if (!first || !second || !result) throw new InternalError(`Expected three operands of ${op}`);
  const [input, filter, output] = op === "convForward"
    ? [first, second, result]
    : op === "convBackwardInput"
    ? [result, second, first]
    : [second, result, first];
  const pair = ({ shape: [, , down = 1, across = 1] }: BufferView): Pair => [down, across];
  const [all = 1, inside = 1] = filter.shape, taps = pair(filter), size = pair(input), places = pair(output);
  const outside = floorDiv(all, groups), depth = mul(inside, product(taps)), pixels = product(places);
  return { input, filter, output, bias, inside, outside, taps, size, places, depth, pixels };
}

/** One of several contiguous matrices. */
function matrixAt(view: BufferView, index: Dim, [rows, columns]: Pair): BufferView {
  const offset = add(view.offset, mul(index, mul(rows, columns)));
  return { buffer: view.buffer, offset, shape: [rows, columns], strides: [columns, 1] };
}

/** The counter of an axis; 0 if it has a single iteration. */
const placeOn = ({ symbol, size }: Axis): Dim => size === 1 ? 0 : symbol;

/** Divides multiplications into blocks; each counts two operations. */
const blocksOf = (axes: readonly Axis[], multiplications: readonly Dim[]): Blocks => ({
  axes: axes.filter(({ size }) => size !== 1),
  work: mul(2, product(multiplications)),
});

/** The product of two matrices, which may be accumulated into its result. */
function multiplied(inputs: readonly [BufferView, BufferView], out: BufferView, accumulate: boolean): Kernel {
  const call = { op: "matmul", accumulate } as const;
  return { kind: "extern", name: "product", call, inputs, outputs: [out], origins: [] };
}

function im2col(call: ConvCall, shape: Shape, room: Room): readonly Kernel[] {
  if (call.op === "convBackwardWeight") return filterGradient(call, shape, room);
  const { input, filter, output, bias, inside, outside, depth, pixels } = shape, { groups } = call;
  const images = axisOf("n", input.shape[0] ?? 1), group = axisOf("g", groups), g = placeOn(group);
  const unit = add(mul(placeOn(images), groups), g),
    image = matrixAt(input, unit, [inside, product(shape.size)]);
  const weights = matrixAt(filter, g, [outside, depth]), result = matrixAt(output, unit, [outside, pixels]);
  const windows = new Windows(call, shape, { room, channels: inside, most: inside });
  const columns = windows.columnsOf(image), kernels: Kernel[] = [];
  if (call.op === "convBackwardInput") {
    kernels.push(multiplied([flipped(weights), result], columns, false), ...windows.fold(image));
  } else {
    kernels.push(...windows.unfold(image));
    if (bias) {
      const from = placesIn({ ...bias, offset: add(bias.offset, mul(g, outside)) }, []);
      kernels.push(
        nest(room, result.shape, { from: ([c = 0]) => from([c]), to: placesIn(result, result.shape) }),
      );
    }
    kernels.push(multiplied([weights, columns], result, bias !== undefined));
  }
  const blocks = blocksOf([images, group], [images.size, groups, outside, pixels, depth]);
  return kernels.map((kernel) => ({ ...kernel, blocks }));
}

/** The gradient of filters: with few channels, blocks accumulate groups of images; otherwise, parts of the channels. */
function filterGradient(call: ConvCall, shape: Shape, room: Room): readonly Kernel[] {
  const { input, filter, output, inside, outside, depth, pixels } = shape, { groups } = call;
  const taps = product(shape.taps), area = product(shape.size), images = input.shape[0] ?? 1;
  const parts = typeof inside === "number" ? Math.min(PARTS, Math.floor(inside / LEAST_CHANNELS)) : 1;
  const most = ceilDiv(inside, Math.max(1, parts)), part = axisOf("c", ceilDiv(inside, most));
  const first = mul(placeOn(part), most), channels = part.size === 1 ? inside : min(most, sub(inside, first));
  const group = axisOf("g", groups), g = placeOn(group), order = groupsOf(mul(groups, part.size), images);
  const unit = add(mul(order.block, groups), g), sums = sumsOf(filter, order.count, room);
  const start = add(input.offset, mul(add(mul(unit, inside), first), area));
  const image = matrixAt({ ...input, offset: start }, 0, [channels, area]);
  const sum = matrixAt(sums.viewOf(placeOn(order.axis)), g, [outside, depth]);
  const gradient = {
    ...sum,
    offset: add(sum.offset, mul(first, taps)),
    shape: [outside, mul(channels, taps)],
  };
  const windows = new Windows(call, shape, { room, channels, most });
  const operands = [matrixAt(output, unit, [outside, pixels]), flipped(windows.columnsOf(image))] as const;
  const kernels = [...windows.unfold(image), multiplied(operands, gradient, true)];
  const blocks = {
    ...blocksOf([group, part, order.axis], [images, groups, outside, pixels, depth]),
    inOrder: order.inOrder,
  };
  const added = kernels.map((kernel): Kernel => ({ ...kernel, blocks }));
  return [sums.clear, ...added, ...sums.finish ? [sums.finish] : []];
}

/** The place of an element in a buffer. */
type Place = readonly [buffer: BufferId, index: Dim];
type Places = (at: readonly Dim[]) => Place;

/** Places in contiguous memory, by sizes. */
const placesIn = ({ buffer, offset }: BufferView, sizes: readonly Dim[]): Places => (at) => [
  buffer,
  add(offset, at.reduce((place, each, d) => add(mul(place, sizes[d] ?? 1), each), 0)),
];

/** A nest that stores an element at each place, the last axis of which is contiguous. */
function nest(
  { dtype }: Room,
  sizes: readonly Dim[],
  { from, to, adds = false, inOrder = adds }: {
    /** The source of an element; undefined for zeros. */
    readonly from?: Places;
    readonly to: Places;
    /** Whether it is accumulated, as different taps do. */
    readonly adds?: boolean;
    /** Whether rows of elements are stored in order. */
    readonly inOrder?: boolean;
  },
): Kernel {
  const axes = axesOf(sizes), at = symbolsOf(axes), o = new Recorder(loadBufferOperand);
  const [buffer, index] = to(at), load = ([id, place]: Place) => o.loadBuffer(id, place, dtype);
  const given = from ? load(from(at)) : o.constant(0, dtype);
  o.store({ buffer, dtype }, index, { value: adds ? o.add(load([buffer, index]), given) : given });
  const line = sideBySide(axes.slice(-1), o.statements);
  const body = wrapLoops(axes.slice(0, -1), line, inOrder ? "sequential" : "parallel");
  return { kind: "loops", name: "windows", body, origins: [] };
}

const cleared = (room: Room, view: BufferView): Kernel =>
  nest(room, [product(view.shape)], { to: placesIn(view, [0]) });

/** The windows over some channels of images. */
class Windows {
  readonly #room: Room;
  readonly #channels: Dim;
  /** Local to a thread: the columns, if the image itself cannot serve as columns, and the image with its padding. */
  readonly #columns: BufferView | undefined;
  readonly #around: BufferView | undefined;

  constructor(
    readonly call: ConvCall,
    readonly shape: Shape,
    { room, channels, most }: { readonly room: Room; readonly channels: Dim; readonly most: Dim },
  ) {
    const { taps, places, size, pixels } = shape, { stride, padding, dilation } = call;
    const local = (sizes: readonly Dim[], slack: Dim) =>
      rowMajor(room.temporary(room.dtype, add(product(sizes), slack), "local"), sizes);
    const around = ([0, 1] as const).map((d) => {
      const reached = add(mul(sub(places[d], 1), stride[d]), mul(sub(taps[d], 1), dilation[d]));
      return max(add(reached, 1), add(size[d], padding[d]));
    });
    const isPadded = padding[0] + padding[1] > 0;
    const isPlain = product(taps) === 1 && product(stride) === 1 && !isPadded;
    [this.#room, this.#channels] = [room, channels];
    this.#columns = isPlain ? undefined : local([mul(most, product(taps)), pixels], LANES);
    this.#around = isPadded ? local([most, ...around], mul(LANES, stride[1])) : undefined;
  }

  columnsOf(image: BufferView): BufferView {
    return this.#columns ?? image;
  }

  /** Unfolds an image into columns. */
  unfold(image: BufferView): readonly Kernel[] {
    const around = this.#around, columns = this.#columns;
    if (!columns) return [];
    const [lines, across] = this.#lines(), to = placesIn(columns, [...lines, across]);
    if (!around) return [nest(this.#room, [...lines, across], { from: this.#tapsOf(image), to })];
    const whole = [...lines, mul(ceilDiv(across, LANES), LANES)];
    return [
      cleared(this.#room, around),
      nest(this.#room, this.#sizes, { from: placesIn(image, this.#sizes), to: this.#inside(around) }),
      nest(this.#room, whole, { from: this.#tapsOf(around), to, inOrder: true }),
    ];
  }

  /** Accumulates columns into the pixels of an image. */
  fold(image: BufferView): readonly Kernel[] {
    const columns = this.#columns, around = this.#around, into = around ?? image;
    if (!columns) return [];
    const [lines, across] = this.#lines(), sizes = [...lines, across];
    const sums = { from: placesIn(columns, sizes), to: this.#tapsOf(into), adds: true };
    const kernels = [cleared(this.#room, into), nest(this.#room, sizes, sums)];
    const inside = around && { from: this.#inside(around), to: placesIn(image, this.#sizes) };
    return inside ? [...kernels, nest(this.#room, this.#sizes, inside)] : kernels;
  }

  /** The rows of columns, and their length. */
  #lines(): readonly [readonly Dim[], Dim] {
    const { taps, places: [down, across] } = this.shape;
    return [[this.#channels, ...taps, down], across];
  }

  get #sizes(): readonly Dim[] {
    return [this.#channels, ...this.shape.size];
  }

  /** The positions of windows' taps in an image. */
  #tapsOf(image: BufferView): Places {
    const { stride: [sy, sx], dilation: [dy, dx] } = this.call;
    const at = placesIn(image, image === this.#around ? image.shape : this.#sizes);
    return ([c = 0, ky = 0, kx = 0, y = 0, x = 0]) =>
      at([c, add(mul(y, sy), mul(ky, dy)), add(mul(x, sx), mul(kx, dx))]);
  }

  /** The positions of an image's pixels in the padded image. */
  #inside(around: BufferView): Places {
    const { padding: [py, px] } = this.call, at = placesIn(around, around.shape);
    return ([c = 0, y = 0, x = 0]) => at([c, add(y, py), add(x, px)]);
  }
}
