/**
 * Tiles of matrix products, chosen by estimated time. A processor runs as many warps at full speed as it has schedulers,
 * so that workgroups of two warps come in pairs, and a product takes as long as the processor with the most of them.
 */

/**
 * Rows and columns of a product that a workgroup computes, and those of each invocation; the depth that is staged at
 * once, and the number of groups of invocations that divide it and add up their sums.
 */
export interface Tile {
  readonly rows: number;
  readonly columns: number;
  readonly depth: 16 | 32;
  readonly each: { readonly rows: 4 | 8; readonly columns: 4 | 8 | 12 | 16 };
  readonly slices: 1 | 2;
}

/** Rows and columns of most tiles: with larger ones fewer workgroups are active, which hides less latency. */
export const SIDE = 64;

/** Four large tiles in one, which reads less. */
export const HUGE = {
  rows: 2 * SIDE,
  columns: 2 * SIDE,
  depth: 16,
  each: { rows: 8, columns: 16 },
  slices: 1,
} as const satisfies Tile;

/** Many results of each invocation, which read the least for each. */
export const LARGE = {
  rows: SIDE,
  columns: SIDE,
  depth: 16,
  each: { rows: 8, columns: 8 },
  slices: 1,
} as const satisfies Tile;

/** Few results of each invocation. */
export const SMALL = { ...LARGE, each: { rows: 4, columns: 4 } } as const satisfies Tile;

/** A single workgroup waits for memory at each step: more of them, and half of the steps. */
export const SMALLEST = { ...SMALL, columns: SIDE / 2, depth: 32 } as const satisfies Tile;

/** Invocations that compute one slice of a tile. */
export const sliceThreads = ({ rows, columns, each }: Tile): number =>
  rows * columns / (each.rows * each.columns);

/** Invocations of a workgroup that computes a tile. */
export const tileThreads = (tile: Tile): number => sliceThreads(tile) * tile.slices;

/** Vectors of workgroup memory in a depth of one operand, with one more, so that banks of memory differ. */
export const stageWidth = (side: number): number => side / 4 + 1;

/** Bytes of workgroup memory of a tile. */
export const stagedBytes = ({ rows, columns, depth }: Tile): number =>
  16 * depth * (stageWidth(rows) + stageWidth(columns));

/**
 * A tile and its time in nanoseconds for each element of depth, measured on an NVIDIA H200: at the least, and for each
 * further `warps` of a processor; for second operands whose columns are adjacent, and for those that are read along the
 * depth, whose elements are transposed in registers.
 */
interface Choice {
  readonly tile: Tile;
  readonly warps: 4 | 8;
  /** A wave of workgroups are so many times `warps`: further ones begin when it ends, and take as long if they are few. */
  readonly wave?: 2;
  readonly across: Cost;
  readonly along: Cost;
}

interface Cost {
  readonly least: number;
  readonly each: number;
}

const CHOICES: readonly Choice[] = [
  {
    tile: HUGE,
    warps: 8,
    across: { least: 200, each: 192 },
    along: { least: 202, each: 200 },
  },
  {
    tile: { rows: 64, columns: 96, depth: 16, each: { rows: 8, columns: 12 }, slices: 1 },
    warps: 4,
    wave: 2,
    across: { least: 96, each: 74 },
    along: { least: 128, each: 88 },
  },
  {
    tile: LARGE,
    warps: 4,
    across: { least: 72, each: 54 },
    along: { least: 72, each: 58 },
  },
  {
    tile: { rows: 64, columns: 96, depth: 32, each: { rows: 8, columns: 12 }, slices: 2 },
    warps: 4,
    across: { least: 56, each: 46 },
    along: { least: 75, each: 61 },
  },
  {
    tile: { rows: 64, columns: 64, depth: 32, each: { rows: 8, columns: 8 }, slices: 2 },
    warps: 4,
    across: { least: 34, each: 34 },
    along: { least: 38, each: 38 },
  },
  {
    tile: { rows: 32, columns: 64, depth: 32, each: { rows: 8, columns: 8 }, slices: 2 },
    warps: 4,
    across: { least: 36, each: 36 },
    along: { least: 36, each: 43 },
  },
  {
    tile: SMALLEST,
    warps: 4,
    across: { least: 60, each: 18 },
    along: { least: 60, each: 22 },
  },
];

/** All tiles. */
export const TILES: readonly Tile[] = CHOICES.map(({ tile }) => tile);

/** Processors of a large device, and threads of a warp. */
const PROCESSORS = 132, WARP = 32;

/** The product [batch, rows, depth] · [batch, depth, columns]. */
export interface Product {
  readonly batch: number;
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  /** Whether second operands are read along the depth. */
  readonly along: boolean;
  /** Whether an epilogue computes the final results. */
  readonly finished: boolean;
}

/** A way to compute a product: its depth may be divided into parts, which a kernel adds up. */
export interface Tiling {
  readonly tile: Tile;
  readonly parts: number;
}

/** A way and its estimated time, in nanoseconds. */
interface TimedTiling extends Tiling {
  readonly time: number;
}

/** Limits of a tiling: bytes of workgroup memory, and the number of parts. */
export interface TilingLimits {
  readonly bytes: number;
  readonly parts: number;
}

/** Parts that are tried, and the least depth of each. */
const PARTS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32], LEAST_DEPTH = 192;

/**
 * Nanoseconds in which another kernel starts, bytes that it moves in one, and nanoseconds that an epilogue adds for each
 * further `warps`: few invocations run it, one result after another, unless the kernel that adds up parts does.
 */
const START = 3000, BYTES = 2500, FINISH = 4000;

/** Returns the fastest tiling of a product. */
export function tilingOf(product: Product, limits: TilingLimits): TimedTiling {
  const { batch, rows, columns, depth, along, finished } = product;
  const ways = CHOICES.filter(({ tile }) => stagedBytes(tile) <= limits.bytes).flatMap((choice) =>
    PARTS.filter((parts) => parts === 1 || parts <= Math.min(limits.parts, depth / LEAST_DEPTH)).map(
      (parts) => {
        const { tile, warps, wave = 1 } = choice, cost = along ? choice.along : choice.across;
        const count = Math.ceil(rows / tile.rows) * Math.ceil(columns / tile.columns) * batch * parts;
        const some = Math.ceil(count * tileThreads(tile) / (WARP * warps * PROCESSORS));
        const rounds = some > wave ? Math.ceil(some / wave) * wave : some;
        const added = parts > 1
          ? START + 4 * (parts + 1) * batch * rows * columns / BYTES
          : finished
          ? FINISH * rounds
          : 0;
        const time = Math.max(cost.least, cost.each * rounds) * Math.ceil(depth / parts) + added;
        return { tile, parts, time };
      },
    )
  );
  return ways.reduce((best, way) => way.time < best.time ? way : best);
}
