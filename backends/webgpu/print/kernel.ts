/**
 * Loop nests as WGSL compute shaders. Input: a LoopKernel of a Program; output: shaders in order, each with its
 * dispatch size. A nest of parallel loops becomes the grid: one invocation an element where the body is scalar or
 * reduces across the fast axis, one workgroup a row where the body's own loops run along the fast axis (then its
 * loops are shared by the invocations and reductions end in workgroup memory). Invariant: barriers stand in
 * uniform control flow only.
 */
import { type Dim, product } from "../../../lib/sym/expr.ts";
import type { Loop, LoopKernel, Program, Statement } from "../../../lib/loops/ir.ts";
import { APART, Bindings, type BoundMemory, isNarrow, type Placement } from "./bindings.ts";
import { type Fours, inFours } from "./fours.ts";
import { ShaderWriter } from "./statements.ts";

/** One compute shader. */
export interface Shader {
  readonly name: string;
  readonly code: string;
  /** What is bound at 1, 2, …; binding 0 is the parameter words. */
  readonly memories: readonly BoundMemory[];
  /** Number of workgroups, in all (spread over two grid dimensions by the runner). */
  readonly workgroups: WorkgroupCount;
}

/** count = ⌈items / each⌉, 1 ≤ count. */
export interface WorkgroupCount {
  readonly items: Dim;
  readonly each: number;
}

const THREADS = 256;
/** Shorter loops are done by one invocation each: windows of pooling, small rows. */
const WORTH_SHARING = 32;

/** The shaders of one loop kernel. */
export function printKernel(
  kernel: LoopKernel,
  program: Program,
  placement: Placement = APART,
): readonly Shader[] {
  return splitAtTop(kernel.body.map(relaxed)).map((body, i) =>
    printShader(`${kernel.name}_${i}`, body, { program, placement })
  );
}

/** A sequential loop that only accumulates may run in any order, since accumulation is atomic. */
function relaxed(s: Statement): Statement {
  if (s.kind !== "loop" || s.order !== "sequential" || s.carried.length > 0) return s;
  const accumulated = new Set<number>(), loaded = new Set<number>();
  const collect = (list: readonly Statement[]): boolean =>
    list.every((x) => {
      if (x.kind === "load") loaded.add(x.buffer);
      if (x.kind === "store") accumulated.add(x.buffer);
      if (x.kind === "loop" || x.kind === "masked") return collect(x.body);
      return x.kind !== "store" || x.mode === "add";
    });
  if (!collect(s.body) || [...accumulated].some((buffer) => loaded.has(buffer))) return s;
  return { ...s, order: "parallel", body: s.body.map(relaxed) };
}

/**
 * Loops in a row without values between them are shaders of their own (a later one sees what an earlier wrote);
 * everything else is one shader.
 */
function splitAtTop(body: readonly Statement[]): readonly (readonly Statement[])[] {
  const independent = body.every((s) =>
    isPure(s) || (s.kind === "loop" && s.reductions.length === 0 && s.carried.length === 0)
  );
  if (!independent) return [body];
  const pure = body.filter(isPure);
  const loops = body.filter((s) => s.kind === "loop");
  return loops.length <= 1 ? [body] : loops.map((loop) => [...pure, loop]);
}

function isPure(s: Statement): boolean {
  return s.kind !== "loop" && s.kind !== "store" && (s.kind !== "masked" || s.body.every(isPure));
}

/** A nest cut into the loops that make the grid and what each grid point does. */
interface Grid {
  readonly loops: readonly Loop[];
  /** What stands before each loop, and at last the body of the innermost. */
  readonly levels: readonly (readonly Statement[])[];
}

function gridOf(body: readonly Statement[]): Grid {
  const loops: Loop[] = [], levels: (readonly Statement[])[] = [];
  let level = body;
  for (;;) {
    const last = level.at(-1), before = level.slice(0, -1);
    const next = last?.kind === "loop" && last.order === "parallel" ? last : undefined;
    if (!next || !before.every(isPure)) break;
    loops.push(next);
    levels.push(before);
    level = next.body;
  }
  return { loops, levels: [...levels, level] };
}

/** Whether there is a loop whose iterations a workgroup can share, long enough to keep it busy. */
const isLong = (body: readonly Statement[]): boolean =>
  sharedLengths(body).some((size) => typeof size !== "number" || size >= WORTH_SHARING);

function containsVectorLoop(body: readonly Statement[]): boolean {
  return body.some((s) => s.kind === "loop" && (s.vector || containsVectorLoop(s.body)));
}

interface Setting {
  readonly program: Program;
  readonly placement: Placement;
}

const MAIN = "fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, " +
  "@builtin(local_invocation_index) lane: u32) {";

function printShader(name: string, body: readonly Statement[], { program, placement }: Setting): Shader {
  const { loops, levels } = gridOf(body);
  const leaf = levels.at(-1) ?? [];
  const flat = levels.flat();
  const fours = placement.aligned && !packsElements(flat, program) ? inFours(loops, flat) : undefined;
  if (fours) return printFours(name, fours, { program, placement });
  // Parallel loops in a row below a row loop belong to the row; the grid is what encloses them
  const cooperative = loops.length === 0 ||
    (isLong(leaf) && (containsVectorLoop(leaf) || !hasVector(loops)));
  const threads = cooperative ? threadsFor(leaf) : THREADS;
  const bindings = new Bindings(program, body, { placement, lanes: 1 });
  const writer = new ShaderWriter({ program, bindings, threads, cooperative });
  writer.line(`@compute @workgroup_size(${threads})`);
  writer.line(MAIN);
  const point = "group.x + group.y * groups.x";
  writer.line(
    cooperative ? `var point = i32(${point});` : `var point = i32((${point}) * ${THREADS}u + lane);`,
  );
  if (cooperative) writer.line("let lid = i32(lane);");
  const total = openGrid(writer, loops);
  for (const level of levels) writer.statements(level);
  writer.line("}");
  const workgroups = { items: total, each: cooperative ? 1 : THREADS };
  return { name, code: writer.finish(), memories: bindings.memories, workgroups };
}

/** Whether narrow elements are written among the temporaries, where invocations would share vectors. */
function packsElements(body: readonly Statement[], program: Program): boolean {
  return body.some((s) => {
    const buffer = s.kind === "store" ? program.buffers[s.buffer] : undefined;
    return buffer?.role.kind === "temporary" && isNarrow(buffer.dtype);
  });
}

/** One invocation for four neighbours. */
function printFours(name: string, fours: Fours, { program, placement }: Setting): Shader {
  const bindings = new Bindings(program, fours.body, { placement, lanes: 4 });
  const writer = new ShaderWriter({ program, bindings, threads: THREADS, cooperative: false });
  writer.line(`@compute @workgroup_size(${THREADS})`);
  writer.line(MAIN);
  writer.line(`var point = i32((group.x + group.y * groups.x) * ${THREADS}u + lane);`);
  const total = openGrid(writer, fours.loops);
  writer.fours(fours);
  writer.line("}");
  const workgroups = { items: total, each: THREADS };
  return { name, code: writer.finish(), memories: bindings.memories, workgroups };
}

/** Takes the counters of the grid's loops from `point`; gives the number of points. */
function openGrid(writer: ShaderWriter, loops: readonly Loop[]): Dim {
  const total = product(loops.map((loop) => loop.axis.size));
  writer.line(`if (point >= ${writer.index(total)}) { return; }`);
  // The fast axis varies fastest among neighbouring invocations
  const order = [...loops].sort((a, b) =>
    Number(b.vector) - Number(a.vector) || loops.indexOf(b) - loops.indexOf(a)
  );
  for (const loop of order) {
    const counter = writer.counter(loop.axis.symbol), size = writer.index(loop.axis.size);
    writer.line(`let ${counter} = point % ${size}; point = point / ${size};`);
  }
  return total;
}

const hasVector = (loops: readonly Loop[]): boolean => loops.some((loop) => loop.vector);

/** Invocations for a row: about four elements each, since barriers cost the more the more take part. */
function threadsFor(leaf: readonly Statement[]): number {
  const lengths = sharedLengths(leaf);
  if (lengths.some((size) => typeof size !== "number")) return THREADS;
  const longest = Math.max(1, ...lengths.map(Number));
  return Math.min(THREADS, Math.max(64, 2 ** Math.ceil(Math.log2(longest / 4))));
}

/** Lengths of the loops that a workgroup shares. */
function sharedLengths(body: readonly Statement[]): readonly Dim[] {
  return body.flatMap((s) => {
    if (s.kind === "loop" && s.order !== "sequential") return [s.axis.size];
    return s.kind === "loop" || s.kind === "masked" ? sharedLengths(s.body) : [];
  });
}
