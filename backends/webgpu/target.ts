/** WebGPU as a target: loops mapped to a grid of workgroups; matrix products and convolutions as shaders of their own. */
import { ALONE, type CallSupport, type Target } from "../../lib/codegen/target.ts";
import { likelySizes, productSizes } from "../../lib/codegen/product_sizes.ts";
import { placesOf, type Side } from "../../lib/codegen/winograd_matrices.ts";
import type { BufferView, ExternKernel } from "../../lib/loops/ir.ts";
import { type Dim, mul } from "../../lib/sym/expr.ts";
import {
  HUGE,
  LARGE,
  type Product,
  SIDE,
  SMALL,
  SMALLEST,
  stagedBytes,
  type Tile,
  type Tiling,
  type TilingLimits,
  tilingOf,
} from "./product_tiles.ts";

/** Invocations of a workgroup. */
export const INVOCATIONS = 256;

/** Number of workgroups that keeps a large device busy, and the depth that is worth one of them. */
const BUSY = 128, DEPTH = 128;

/** Invocations of a workgroup for products of few rows, and their maximum number of rows. */
export const SKINNY = { threads: 128, most: 16 } as const;

/** Few rows of a product, and the number of columns per invocation. */
export interface SkinnyRows {
  readonly rows: number;
  readonly each: 1 | 2 | 4;
}

/** Convolutions of few channels, and gradients with respect to these, whose tiles would be mostly empty. */
export function skinnyRowsOf(kernel: ExternKernel): SkinnyRows | undefined {
  const { op } = kernel.call, sizes = productSizes(kernel);
  if (!sizes || sizes.rows > SKINNY.most || (op !== "convForward" && op !== "convBackwardInput")) {
    return undefined;
  }
  const { rows, columns, batch } = sizes;
  const workgroups = (each: number) => Math.ceil(columns / (SKINNY.threads * each)) * batch;
  const each = ([4, 2] as const).find((each) => each * rows <= 32 && workgroups(each) >= 4 * BUSY) ?? 1;
  return { rows, each };
}

/** Invocations of a workgroup for few results, and their maximum number of rows. */
export const SLICED = { threads: 128, rows: 8 } as const;

/** The results of a workgroup whose invocations divide the depth. */
export interface SlicedSums {
  readonly rows: number;
  readonly columns: number;
}

/** Gradients of weights with few output channels in a group, whose tiles would be mostly empty. */
export function slicedSumsOf(kernel: ExternKernel): SlicedSums | undefined {
  const sizes = productSizes(kernel);
  if (!sizes || kernel.call.op !== "convBackwardWeight" || sizes.rows > SLICED.rows) return undefined;
  return { rows: sizes.rows, columns: Math.min(sizes.columns, sizes.rows <= 2 ? 8 : 4) };
}

/**
 * Number of tiles from which on each computes a whole sum, and from which on four of them are merged, which reads less
 * and still leaves many.
 */
const MANY = 256, MOST_TILES = 4 * MANY;

/**
 * Number of tiles that keeps a large device busy, by columns per invocation, and the depth that is worth one of them.
 */
const ENOUGH = {
  16: { tiles: MANY, depth: 256 },
  8: { tiles: 384, depth: 256 },
  4: { tiles: 132, depth: 128 },
} as const;

/** The depth from which on parts of a product are deep enough for more tiles, of which a processor has several at once. */
const DEEP = { from: 4096, tiles: 792 } as const;

/** Returns the tiles of a product in a shader with so many bytes of workgroup memory. */
export function tilesOf(kernel: ExternKernel, workgroupBytes: number): Tile {
  return tiled(kernel, { bytes: workgroupBytes, parts: 1 }).tile;
}

/** The least depth of a product whose time depends on its tiles more than on starting it. */
const LONG = 512;

/**
 * Returns the tiles of a product, and the number of parts of its depth. Invocations that compute many results read the
 * least for each, but there are enough of them only with many tiles, or with long sums to split.
 */
function tiled(kernel: ExternKernel, limits: TilingLimits): Tiling {
  const timed = timedProduct(kernel);
  if (timed) return tilingOf(timed, limits);
  const known = productSizes(kernel), sizes = known ?? likelySizes(kernel);
  // The code that computes an operand is repeated for each element that an invocation fetches
  if (!sizes) return { tile: kernel.prologues ? SMALL : LARGE, parts: 1 };
  const { rows, columns, batch, depth } = sizes, isPlain = kernel.call.op === "matmul" && !kernel.prologues;
  const count = Math.ceil(rows / SIDE) * Math.ceil(columns / SIDE) * batch;
  // Sums are split only if all sizes are known
  const deep = kernel.prologues || !known ? 1 : depth / (2 * ENOUGH[8].depth);
  const isEven = [rows, columns].every((size) => Math.ceil(size / SIDE) % 2 === 0);
  const isHuge = isPlain && known && isEven && count >= MOST_TILES && stagedBytes(HUGE) <= limits.bytes;
  const isLarge = count >= MANY || count * deep >= MANY / 2;
  const tile = isHuge ? HUGE : isLarge ? LARGE : isPlain ? SMALLEST : SMALL,
    enough = ENOUGH[tile.each.columns];
  if (kernel.call.op !== "matmul") return { tile, parts: partsFor({ ...enough, count, of: depth }) };
  // For small matrices, parts save less than the kernel that adds them up costs
  const tiles = tile.each.columns === 8 && depth >= DEEP.from ? DEEP.tiles : enough.tiles;
  const own = Math.ceil(rows / tile.rows) * Math.ceil(columns / tile.columns) * batch;
  return { tile, parts: partsFor({ tiles, depth: 2 * ENOUGH[4].depth, count: own, of: depth }) };
}

/** The least part of a product's time that is worth the memory of a transposed weight. */
const LEAST_GAIN = 1 / 32;

/** Returns whether a product whose second operand is read along the depth would be faster if it were read across. */
function gainsByTransposing(kernel: ExternKernel, bytes: number): boolean {
  const product = timedProduct(kernel), limits = { bytes, parts: Infinity };
  if (!product?.along) return false;
  const { time } = tilingOf(product, limits);
  return time - tilingOf({ ...product, along: false }, limits).time > LEAST_GAIN * time;
}

/** A product that is computed in the way whose estimated time is least; undefined for others. */
function timedProduct(kernel: ExternKernel): Product | undefined {
  const sizes = productSizes(kernel), [first, second] = kernel.inputs;
  if (kernel.call.op !== "matmul" || kernel.prologues || !sizes || !first || !second) return undefined;
  const isSingle = sizes.batch === 1 || dividesDepth(first), [ofRows, ofColumns] = second.strides.slice(-2);
  if (!isSingle || sizes.batch * sizes.depth < LONG) return undefined;
  return { ...sizes, along: ofRows === 1 && ofColumns !== 1, finished: kernel.epilogue !== undefined };
}

/** Returns whether the matrices of a stack are adjacent parts of the depth of one matrix. */
function dividesDepth({ shape, strides }: BufferView): boolean {
  const [size = 1, along = 0] = [shape.at(-1), strides.at(-1)];
  return shape.length === 3 && size !== 1 && strides[0] === mul(size, along);
}

/** Tiles that keep a device busy, and the depth that is worth one of them; the tiles of a product, and its depth. */
interface Occupation {
  readonly tiles: number;
  readonly depth: number;
  readonly count: number;
  readonly of: number;
}

/** Number of parts of a depth that makes enough tiles, each part of at least so much. */
function partsFor({ tiles, depth, count, of }: Occupation): number {
  return Math.max(1, Math.min(Math.ceil(tiles / Math.max(1, count)), Math.floor(of / depth)));
}

/**
 * The patch of an image for which a workgroup computes results: eight runs of adjacent positions, next to or below each
 * other; and the number of channels of the image that are staged at once.
 */
export interface Patch {
  readonly across: number;
  readonly down: number;
  readonly channels: number;
}

/**
 * Output channels of a patch, its runs, positions of a run, threads, the maximum number of taps staged at once, and how
 * many positions may be computed for each one that exists.
 */
export const PATCHES = { rows: SIDE, runs: 8, run: 8, threads: SIDE, taps: 36, most: 1.15 } as const;

/**
 * Stride-1 convolutions with so many results that no sum has to be split, whose filters have several taps: each element
 * of a patch is read once for all taps, and each thread reads a run and its ends once for all taps of a row. Fewer
 * results are not worth repacking the filter.
 */
export function patchOf(kernel: ExternKernel): Patch | undefined {
  const { call, inputs: [, weight], outputs: [out] } = kernel, sizes = productSizes(kernel);
  if (call.op !== "convForward" || call.groups !== 1 || kernel.prologues || kernel.parts || !sizes) {
    return undefined;
  }
  if (![...call.stride, ...call.dilation].every((by) => by === 1)) return undefined;
  const [, , lines = 0, steps = 0] = weight?.shape ?? [], [, , height = 0, width = 0] = out?.shape ?? [];
  const known = [lines, steps, height, width].every((size) => typeof size === "number");
  const taps = Number(lines) * Number(steps), { rows, columns } = sizes, { runs, run, most } = PATCHES;
  if (!known || !(Number(steps) > 1) || taps > PATCHES.taps) return undefined;
  if (Math.ceil(rows / SIDE) * Math.ceil(columns / SIDE) < ENOUGH[8].tiles) return undefined;
  const filled = (size: Dim, by: number) => Math.ceil(Number(size) / by) * by / Number(size);
  const costOf = ({ across, down }: Patch) =>
    filled(rows, PATCHES.rows) * filled(width, run * across) * filled(height, down);
  const patches = [1, 2, 4, 8].map((across): Patch => {
    return { across, down: runs / across, channels: Math.floor(PATCHES.taps / taps) };
  });
  const [best] = patches.toSorted((a, b) => costOf(a) - costOf(b));
  return best && costOf(best) <= most ? best : undefined;
}

/**
 * Convolutions whose transforms stay in workgroups: squares of 2 × 2 results of a workgroup; the summed depth that is
 * staged at once; threads; the number of workgroups that is worth it; and how many products may be computed for each one
 * needed.
 */
export const WINOGRAD = { squares: 32, step: 8, threads: 256, busy: 90, most: 1.3 } as const;

/**
 * Transforms in memory: the least numbers of channels, and of products of sums over taps, that are worth them, for
 * squares of 2 × 2 and of 4 × 4 results, and how many results may be computed for each one that exists.
 */
const IN_MEMORY = {
  2: { channels: 256, products: 1 << 28, most: 1.4 },
  4: { channels: 32, products: 1 << 30, most: 1.2 },
  gradient: { channels: 32, products: 1 << 30, most: 1.4 },
} as const;

/** A 3 × 3 convolution with stride 1, or a gradient of such filters. */
interface Squares {
  readonly isWeight: boolean;
  readonly outputs: number;
  readonly inputs: number;
  /** Images, and their sizes. */
  readonly results: readonly [images: number, height: number, width: number];
}

/** Returns the sizes of a convolution that transforms are for, as far as these are known. */
function squaresOf(kernel: ExternKernel): Squares | undefined {
  const { call, inputs: [first, second], outputs: [out] } = kernel;
  if ((call.op !== "convForward" && call.op !== "convBackwardWeight") || call.groups !== 1) return undefined;
  if (kernel.prologues || kernel.parts) return undefined;
  if (![...call.stride, ...call.dilation].every((by) => by === 1)) return undefined;
  const isWeight = call.op === "convBackwardWeight", [filter, of] = isWeight ? [out, first] : [second, out];
  const [outputs, inputs, ...taps] = filter?.shape ?? [], [images, , height, width] = of?.shape ?? [];
  if (typeof outputs !== "number" || typeof inputs !== "number" || !taps.every((size) => size === 3)) {
    return undefined;
  }
  if (typeof images !== "number" || typeof height !== "number" || typeof width !== "number") return undefined;
  return { isWeight, outputs, inputs, results: [images, height, width] };
}

/** How many times as many results there are in whole tiles of this size. */
const filled = (size: number, by: number): number => Math.ceil(size / by) * by / size;

/**
 * Returns the side of the squares of results whose transforms, of several times as many elements as images, are worth
 * going through memory: a product of matrices then reads them once, for all channels. Undefined if they are not.
 */
function transformsOf(kernel: ExternKernel, mostBytes: number): Side | undefined {
  const squares = squaresOf(kernel), { call } = kernel;
  if (!squares) return undefined;
  const { isWeight, outputs, inputs, results: [images, height, width] } = squares;
  const products = 9 * outputs * inputs * images * height * width;
  const isWorth = (
    side: Side,
    { channels, products: least, most }: typeof IN_MEMORY[keyof typeof IN_MEMORY],
  ) =>
    Math.min(outputs, inputs) >= channels && products >= least &&
    filled(height, side) * filled(width, side) <= most;
  const isOfFours = isWeight
    ? isWorth(4, IN_MEMORY.gradient)
    : "fast" in call && call.fast && isWorth(4, IN_MEMORY[4]);
  const side = isOfFours ? 4 : !isWeight && isWorth(2, IN_MEMORY[2]) ? 2 : undefined;
  if (side === undefined) return undefined;
  const places = placesOf(side) ** 2 * images * Math.ceil(height / side) * Math.ceil(width / side);
  return 4 * places * (outputs + inputs) <= mostBytes ? side : undefined;
}

/**
 * Returns the number of output channels of a workgroup whose transforms stay in its memory: as many as that allows share
 * the transforms of images. Undefined if a convolution has too few results to keep a device busy.
 */
function winogradChannels(kernel: ExternKernel, workgroupBytes: number): 32 | 64 | undefined {
  const shape = squaresOf(kernel), { squares, step, busy, most } = WINOGRAD;
  if (!shape || shape.isWeight) return undefined;
  const { outputs, inputs, results: [images, height, width] } = shape;
  const count = images * Math.ceil(height / 2) * Math.ceil(width / 4) * 2;
  const others = filled(count, squares) * filled(inputs, step) * 4 * count;
  return ([64, 32] as const).find((channels) =>
    16 * step * (squares + channels) * 4 <= workgroupBytes &&
    filled(outputs, channels) * others <= most * images * height * width &&
    Math.ceil(outputs / channels) * Math.ceil(count / squares) >= busy
  );
}

/**
 * Returns whether tiles cover a product exactly: its operands are then read by vectors, which element functions do
 * not support.
 */
function inWholeTiles({ inputs: [a], outputs: [out] }: ExternKernel): boolean {
  const [m, n] = out?.shape.slice(-2) ?? [], k = a?.shape.at(-1);
  const isWhole = (size: Dim | undefined, by: number) =>
    typeof size === "number" && size > 0 && size % by === 0;
  return isWhole(m, 128) && isWhole(n, 128) && isWhole(k, 16);
}

/**
 * Tiles of products whose first operands are computed on the fly: rows of a block, columns of one step, the staged
 * depth, threads, the maximum number of features of a result, and the number of columns of attention weights and of
 * other elements that go through workgroup memory together: with few, more workgroups are active at once.
 */
export const ROW_TILES = {
  rows: 32,
  step: 64,
  depth: 16,
  threads: 128,
  features: 128,
  weights: 16,
  elements: 64,
} as const;
/**
 * Operands of this many elements are written and read faster than recomputed for each result, unless half of their
 * tiles are skipped.
 */
const MOST_IN_MEMORY = 1 << 24;
/** Maximum number of elements computed for one kernel that are stored for another. */
const MOST_KEPT = 1 << 26;
/** Maximum number of products from which elements are computed: with more, registers run out. */
const MOST_PRODUCTS = 2;

/** Vectors of workgroup memory for such tiles: rows of 17 for operands, and the computed elements. */
export function rowTileVectors(columns: number, together: number): { stage: number; made: number } {
  const { rows, step, depth } = ROW_TILES, across = step / 4, ofRows = rows / 4 * depth / across;
  const staged = Math.max(ofRows + depth, depth * Math.ceil(columns / step));
  return { stage: staged * (across + 1), made: together * rows / 4 };
}

/** Rows of a block, given workgroup memory for results of this many columns, elements and additional bytes. */
function rowsOfBlock(
  columns: number,
  { together, more, bytes }: { readonly together: number; readonly more: number; readonly bytes: number },
): number | undefined {
  const { stage, made } = rowTileVectors(columns, together);
  return columns <= ROW_TILES.features && 16 * (stage + made) + more <= bytes ? ROW_TILES.rows : undefined;
}

/** The limits of a device. */
export interface WebGpuLimits {
  /** Maximum number of buffers of one kernel. */
  readonly kernelBuffers: number;
  /** Bytes of workgroup memory. */
  readonly workgroupBytes: number;
  /** Bytes of one memory that a kernel may access. */
  readonly bindingBytes: number;
}

/**
 * Returns the target of printed WGSL on a device, for buffers that start at whole vectors or for those that do not, and
 * for programs whose calls keep forms of weights.
 */
export function webGpuTarget(
  { kernelBuffers, workgroupBytes, bindingBytes }: WebGpuLimits,
  vectors: boolean,
  keepsForms = false,
): Target {
  return {
    name: "webgpu",
    supports,
    lanes: false,
    runs: false,
    threads: "none",
    grid: {
      groups: 2048,
      elements: 1 << 14,
      invocations: INVOCATIONS,
      shared: 32,
      rows: { few: 256, long: 4096 },
      registers: 32,
      vectors,
      // Each row has a maximum and a factor
      attention: (features) =>
        rowsOfBlock(features, {
          together: ROW_TILES.weights,
          more: 8 * ROW_TILES.rows,
          bytes: workgroupBytes,
        }),
      computed: ({ elements, causal, columns, products }) =>
        (causal || elements > MOST_IN_MEMORY) && products <= MOST_PRODUCTS
          ? rowsOfBlock(Math.max(...columns), {
            together: ROW_TILES.elements,
            more: 0,
            bytes: workgroupBytes,
          })
          : undefined,
      stores: (elements) => elements <= MOST_KEPT,
      // They share one memory, and later steps add more
      temporaries: bindingBytes / 2,
      arena: bindingBytes * 7 / 8,
      transforms: transformsOf,
      filters: (convolution) =>
        winogradChannels(convolution, workgroupBytes) ?? (patchOf(convolution) ? "taps" : undefined),
      parts(product) {
        const few = skinnyRowsOf(product), sizes = productSizes(product);
        const sides = few ? { rows: few.rows, columns: SKINNY.threads * few.each } : undefined;
        const own = sides ?? slicedSumsOf(product);
        if (!own || !sizes) return tiled(product, { bytes: workgroupBytes, parts: Infinity }).parts;
        const { rows, columns, batch, depth } = sizes;
        const count = Math.ceil(rows / own.rows) * Math.ceil(columns / own.columns) * batch;
        return partsFor({ tiles: BUSY, depth: DEPTH, count, of: depth });
      },
      transposes: (product) => keepsForms && gainsByTransposing(product, workgroupBytes),
    },
    blockBytes: 0,
    rowsInPlace: 0,
    im2col: false,
    kernelBuffers,
    tables: false,
    integers: 32,
    sizeLimit: Infinity,
    unrolls: 0,
    streams: false,
  };
}

function supports(kernel: ExternKernel): CallSupport {
  switch (kernel.call.op) {
    case "matmul":
      if (kernel.weights) return { prologues: false, epilogue: true };
      if (kernel.computed) return ALONE;
      return { prologues: !inWholeTiles(kernel), epilogue: true };
    case "convForward":
    case "convBackwardInput":
      return { prologues: false, epilogue: true };
    case "convBackwardWeight":
      // Its few results are nearly always sums of parts, and the kernel that adds them up also runs the epilogue
      return ALONE;
    case "sort":
    case "region":
      return "none";
    default:
      return kernel.call satisfies never;
  }
}
