/**
 * Times of messages and collectives on links of given latency and bandwidth (Thakur et al. 2005, Optimization of
 * Collective Communication Operations in MPICH). Invariants: a group of one takes no time; more bytes, more ranks or
 * more latency never take less time.
 */
import { DynError } from "../../base/errors.ts";

/** The link between two ranks. */
export interface Link {
  /** Seconds until the first byte arrives. */
  readonly latency: number;
  /** Bytes per second. */
  readonly bandwidth: number;
}

/**
 * Algorithms of collectives: rings, in which all ranks send all the time and a message passes through all of them, or
 * trees, up and down, with a logarithmic number of steps. "best": the faster one, as libraries choose.
 */
export const TOPOLOGIES = ["ring", "tree", "best"] as const;

/** One of `TOPOLOGIES`. */
export type Topology = typeof TOPOLOGIES[number];

/** Nodes with equal numbers of ranks. */
export interface Cluster {
  readonly ranksPerNode: number;
  /** The link between ranks of one node. */
  readonly within: Link;
  /** The link between nodes, shared by all ranks of a node. */
  readonly between: Link;
  readonly topology: Topology;
}

/**
 * A group: a number of ranks with a stride between them. All ranks are in such groups, which communicate concurrently.
 */
export interface Span {
  readonly ranks: number;
  readonly stride: number;
}

/** Returns the share of the slowest link that each rank of a group gets. */
export function linkOf({ ranksPerNode, within, between }: Cluster, { ranks, stride }: Span): Link {
  if (ranks * stride <= ranksPerNode) return within;
  // Groups that are interleaved on a node share its link
  return { latency: between.latency, bandwidth: between.bandwidth / Math.min(stride, ranksPerNode) };
}

const depth = (ranks: number): number => Math.ceil(Math.log2(ranks));

/** Selects the seconds of a ring or a tree by the topology. */
function chosen({ topology }: Cluster, ring: number, tree: number): number {
  return topology === "ring" ? ring : topology === "tree" ? tree : Math.min(ring, tree);
}

/**
 * Seconds until all ranks have the sum of `bytes` of each. In a ring each sends 2(n − 1)/n of them in 2(n − 1) steps;
 * in a tree they go up and down, pipelined in pieces.
 */
export function allReduceSeconds(cluster: Cluster, span: Span, bytes: number): number {
  const { latency, bandwidth } = linkOf(cluster, span), n = span.ranks;
  if (n === 1) return 0;
  const ring = 2 * (n - 1) * latency + 2 * (n - 1) / n * bytes / bandwidth;
  return chosen(cluster, ring, 2 * depth(n) * latency + 2 * bytes / bandwidth);
}

/**
 * Seconds until all ranks have the parts of each, `bytes` together; or each has its part of a sum. Each sends (n − 1)/n
 * of them: in a ring in n − 1 steps, otherwise in steps of doubling (or halving) size.
 */
export function allGatherSeconds(cluster: Cluster, span: Span, bytes: number): number {
  const { latency, bandwidth } = linkOf(cluster, span), n = span.ranks;
  if (n === 1) return 0;
  const moved = (n - 1) / n * bytes / bandwidth;
  return chosen(cluster, (n - 1) * latency + moved, depth(n) * latency + moved);
}

/** Seconds of one message to the next rank of a group. */
export function sendSeconds(cluster: Cluster, span: Span, bytes: number): number {
  if (span.ranks === 1) return 0;
  const { latency, bandwidth } = linkOf(cluster, span);
  return latency + bytes / bandwidth;
}

/** The time of a measured all-reduce. */
export interface MeasuredReduce {
  readonly ranks: number;
  readonly bytes: number;
  readonly seconds: number;
}

/**
 * Fits a link to measured all-reduces in rings, by least squares of relative errors. Throws DynError for fewer than two
 * sizes.
 */
export function fittedLink(measured: readonly MeasuredReduce[]): Link {
  if (new Set(measured.map(({ bytes }) => bytes)).size < 2) {
    throw new DynError(
      `Expected all-reduces of two sizes at least but found ${measured.length} measurements`,
    );
  }
  let aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;
  for (const { ranks, bytes, seconds } of measured) {
    const a = 2 * (ranks - 1) / seconds, b = 2 * (ranks - 1) / ranks * bytes / seconds;
    aa += a * a;
    ab += a * b;
    bb += b * b;
    a1 += a;
    b1 += b;
  }
  const determinant = aa * bb - ab * ab;
  const latency = (a1 * bb - b1 * ab) / determinant, perByte = (b1 * aa - a1 * ab) / determinant;
  // If one term explains everything, the other may be negative
  if (latency <= 0) return { latency: 0, bandwidth: bb / b1 };
  if (perByte <= 0) return { latency: a1 / aa, bandwidth: Infinity };
  return { latency, bandwidth: 1 / perByte };
}
