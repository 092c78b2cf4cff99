/** WebGPU as a target: loops mapped to a grid of workgroups; matrix products and convolutions as shaders of their own. */
import { ALONE, type AttentionSizes, type CallSupport, type Target } from "../../lib/codegen/target.ts";
import { productSizes } from "../../lib/codegen/product_sizes.ts";
import type { ExternKernel } from "../../lib/loops/ir.ts";
import type { Dim } from "../../lib/sym/expr.ts";

/** Invocations of a workgroup. */
export const INVOCATIONS = 256;

/** Rows or columns of a product that a workgroup makes. */
export type TileSide = 64 | 128;

/** What keeps a large device busy: workgroups, and the depth that is worth one of them. */
const BUSY = 128, DEPTH = 128;

/** Invocations of a workgroup that makes few rows, and the most rows that are few. */
export const FEW_ROWS = { threads: 128, most: 16 } as const;

/** Few rows of a product, and how many columns an invocation makes. */
export interface FewRows {
  readonly rows: number;
  readonly each: 1 | 2 | 4;
}

/** Convolutions of few channels, and gradients towards them, which would leave tiles empty. */
export function fewRowsOf(kernel: ExternKernel): FewRows | undefined {
  const { op } = kernel.call, sizes = productSizes(kernel);
  if (!sizes || sizes.rows > FEW_ROWS.most || (op !== "convForward" && op !== "convBackwardInput")) {
    return undefined;
  }
  const { rows, columns, batch } = sizes;
  const workgroups = (each: number) => Math.ceil(columns / (FEW_ROWS.threads * each)) * batch;
  const each = ([4, 2] as const).find((each) => each * rows <= 32 && workgroups(each) >= 4 * BUSY) ?? 1;
  return { rows, each };
}

/** Invocations of a workgroup that makes few results, and the most rows that it makes. */
export const FEW_SUMS = { threads: 128, rows: 8 } as const;

/** The results of a workgroup whose invocations share the depth. */
export interface FewSums {
  readonly rows: number;
  readonly columns: number;
}

/** Gradients of weights with few channels of results a group, which would leave tiles empty. */
export function fewSumsOf(kernel: ExternKernel): FewSums | undefined {
  const sizes = productSizes(kernel);
  if (!sizes || kernel.call.op !== "convBackwardWeight" || sizes.rows > FEW_SUMS.rows) return undefined;
  return { rows: sizes.rows, columns: Math.min(sizes.columns, sizes.rows <= 2 ? 8 : 4) };
}

/**
 * The tiles of a product that the fast ones do not cover: large where they leave little empty and are many. Those of
 * convolutions are so along one side at most, which leaves registers for places in images.
 */
export function tilesOf(kernel: ExternKernel): { readonly rows: TileSide; readonly columns: TileSide } {
  const sizes = productSizes(kernel);
  if (!sizes) return { rows: 64, columns: 64 };
  const covered = (size: number, side: number) => Math.ceil(size / side) * side;
  const sideOf = (size: number): TileSide => covered(size, 128) <= 1.15 * covered(size, 64) ? 128 : 64;
  const rows = sideOf(sizes.rows), columns = sideOf(sizes.columns);
  const count = Math.ceil(sizes.rows / rows) * Math.ceil(sizes.columns / columns) * sizes.batch;
  const many = count * Math.max(1, Math.floor(sizes.depth / DEPTH)) >= BUSY;
  if (!many) return { rows: 64, columns: 64 };
  return { rows: kernel.call.op !== "matmul" && columns === 128 ? 64 : rows, columns };
}

/** Rows and columns of the fast tiles, and the columns of A that are staged at once. */
export const FAST_TILE = { side: 128, depth: 16 } as const;

/** Whether the tiles cover matrices of these sizes exactly. */
export function coversTiles({ inputs: [a], outputs: [out] }: ExternKernel): boolean {
  const [m, n] = out?.shape.slice(-2) ?? [], k = a?.shape.at(-1);
  const whole = (size: Dim | undefined, by: number) =>
    typeof size === "number" && size > 0 && size % by === 0;
  return whole(m, FAST_TILE.side) && whole(n, FAST_TILE.side) && whole(k, FAST_TILE.depth);
}

/** Keys of one step of attention, how deep operands are staged, features of a head at most, and threads. */
export const ATTENTION = { keys: 64, depth: 16, features: 128, threads: 128 } as const;

/** Vectors of workgroup memory that attention in blocks of so many rows takes: staged operands, and weights. */
export function attentionVectors(block: number, columns: number): { stage: number; weights: number } {
  const { keys, depth } = ATTENTION, features = keys / 4 * Math.ceil(columns / keys);
  const operands = depth * (block / 4 + 1 + keys / 4 + 1);
  return { stage: Math.max(operands, depth * features, keys / 4 * block / 4), weights: keys * block / 4 };
}

/** The most rows of attention in one block that leave enough blocks, and for which there is workgroup memory. */
function attentionBlock({ batch, rows, columns }: AttentionSizes, bytes: number): number | undefined {
  if (columns > ATTENTION.features) return undefined;
  const fitting = [64, 32].filter((block) => {
    const { stage, weights } = attentionVectors(block, columns);
    return 16 * (stage + weights) + 8 * block <= bytes;
  });
  return fitting.find((block) => batch * Math.ceil(rows / block) >= BUSY) ?? fitting.at(-1);
}

/** What a device can do. */
export interface WebGpuLimits {
  /** How many buffers one kernel may touch. */
  readonly kernelBuffers: number;
  /** Bytes of workgroup memory. */
  readonly workgroupBytes: number;
}

/** What printed WGSL runs on a device, where buffers start at whole vectors or do not. */
export function webGpuTarget({ kernelBuffers, workgroupBytes }: WebGpuLimits, vectors: boolean): Target {
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
      vectors,
      attention: (sizes) => attentionBlock(sizes, workgroupBytes),
      tiles(product) {
        if (product.call.op === "matmul" && coversTiles(product)) {
          return {
            rows: FAST_TILE.side,
            columns: FAST_TILE.side,
            busy: BUSY,
            depth: 64,
            step: FAST_TILE.depth,
          };
        }
        const few = fewRowsOf(product);
        const sides = few ? { rows: few.rows, columns: FEW_ROWS.threads * few.each } : undefined;
        return { ...sides ?? fewSumsOf(product) ?? tilesOf(product), busy: BUSY, depth: DEPTH, step: 1 };
      },
    },
    blockBytes: 0,
    rowsInPlace: 0,
    kernelBuffers,
    tables: false,
    integers: 32,
    sizeLimit: Infinity,
    unrolls: 0,
  };
}

/** Products that the fast tiles cover run alone in them. */
function supports(kernel: ExternKernel): CallSupport {
  switch (kernel.call.op) {
    case "matmul":
      if (kernel.weights) return { prologues: false, epilogue: true };
      return coversTiles(kernel) ? ALONE : { prologues: true, epilogue: true };
    case "convForward":
    case "convBackwardInput":
      return { prologues: false, epilogue: true };
    case "convBackwardWeight":
      // Its few results are sums of parts nearly always, which a kernel behind them finishes as well
      return ALONE;
    case "sort":
      return "none";
    default:
      return kernel.call satisfies never;
  }
}
