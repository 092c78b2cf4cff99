/**
 * The beginning and end of shaders: the entry point, the number of a workgroup, the positions of threads in a tile, and
 * the finished shader.
 */
import type { Dim } from "../../../lib/sym/expr.ts";
import type { BoundMemory } from "./bindings.ts";
import type { ParameterWord } from "./parameters.ts";
import type { ShaderWriter } from "./statements.ts";

/** One compute shader. */
export interface Shader {
  readonly name: string;
  readonly code: string;
  /** Memory bound at 1, 2, …; binding 0 is the parameter words. */
  readonly memories: readonly BoundMemory[];
  /** Contents of the parameter words after the first, which is zero. */
  readonly words: readonly ParameterWord[];
  /** Total number of workgroups (spread over two grid dimensions by the runner). */
  readonly workgroups: WorkgroupCount;
}

/** count = ⌈items / each⌉, 1 ≤ count. */
export interface WorkgroupCount {
  readonly items: Dim;
  readonly each: number;
}

/** The number of a workgroup. */
export const POINT = "group.x + group.y * groups.x";

/** Opens the entry point of a shader with workgroups of this many invocations. */
export function openMain(w: ShaderWriter, threads: number): void {
  w.line(`@compute @workgroup_size(${threads})`);
  w.line(
    "fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, " +
      "@builtin(local_invocation_index) lane: u32) {",
  );
  w.declareNumbers();
}

/**
 * Assigns threads to positions of a tile, this many across, a multiple of 8, for each of several slices of so many
 * threads. 32 neighbours cover 4 × 8 positions: what they read from workgroup memory is adjacent, and is the same for
 * pairs of horizontal neighbours and for every second vertical one, which lets a device read vectors for half of them at
 * once.
 */
export function placeThreads(w: ShaderWriter, across: number, slice?: number): void {
  w.line("let lid = i32(lane);");
  if (slice !== undefined) w.line(`let slice = lid / ${slice}; let inner = lid % ${slice};`);
  const own = slice === undefined ? "lid" : "inner";
  w.line(`let warp = ${own} / 32; let within = ${own} % 32;`);
  w.line(`let ty = (warp / ${across / 8}) * 4 + within / 16 * 2 + within % 2;`);
  w.line(`let tx = (warp % ${across / 8}) * 8 + within / 2 % 8;`);
}

/** The finished shader of a writer. */
export function finished(w: ShaderWriter, name: string, workgroups: WorkgroupCount): Shader {
  const { memories, parameters } = w.setting.bindings;
  return { name, code: w.finish(), memories, words: parameters.words, workgroups };
}
