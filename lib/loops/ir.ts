/**
 * The loop IR: programs of loop nests and calls over flat buffers, as data. Made by lowering and scheduling,
 * consumed by printers (C++, WebAssembly, WGSL) and the reference interpreter.
 * Invariants (verify.ts checks them): value ids are defined once and before use; a value is visible in the rest
 * of the statement list that defines it and below; a loop's reductions and carried values are visible after it;
 * stores of different iterations of a parallel loop never touch one element, unless they accumulate atomically.
 */
import type { DType, ValueType } from "../base/dtype.ts";
import type { Tagged } from "../base/tagged.ts";
import type { Dim, Sym } from "../sym/expr.ts";
import type { ScalarOpName } from "./scalar.ts";

/** Index of a value inside one kernel. */
export type ValueId = number;
/** Index of a buffer in `Program.buffers`. */
export type BufferId = number;

/** A flat array of elements. Strided views are index arithmetic on it. */
export interface BufferDecl {
  readonly name: string;
  readonly dtype: DType;
  /** Elements. For inputs: the minimum that is addressable from the given pointer. */
  readonly length: Dim;
  readonly role: BufferRole;
}

export type BufferRole =
  /** Passed in by the caller, in `Program.inputs` order; may also be written (in-place results). */
  | { readonly kind: "input"; readonly written: boolean }
  /**
   * Allocated by the caller, written by the program: completely, unless `partly` is set, which preserves some elements.
   */
  | { readonly kind: "output"; readonly partly?: boolean }
  /** Located in the program's arena at this byte offset (a multiple of 64). */
  | { readonly kind: "temporary"; readonly offset: Dim }
  /** Part of another buffer, from this element on, which kernels only read. */
  | { readonly kind: "window"; readonly of: BufferId; readonly from: number }
  /** Local to one kernel or to kernels that run by blocks; each thread has its own. */
  | { readonly kind: "local" };

/** A loop counter with its trip count. */
export interface Axis {
  /** A symbol with role "axis" whose upper bound is known where the size is. */
  readonly symbol: Sym;
  readonly size: Dim;
}

/** The operator of a reduction. argmax and argmin keep the first index of the extreme; NaN counts as extreme. */
export type ReductionOp = "sum" | "prod" | "max" | "min" | "any" | "all" | "argmax" | "argmin";

/** The reductions that report a position. */
export type PositionOp = "argmax" | "argmin";
/** The others. */
export type PlainOp = Exclude<ReductionOp, PositionOp>;

/** Returns whether a reduction reports a position. */
export function isPosition(op: ReductionOp): op is PositionOp {
  return op === "argmax" || op === "argmin";
}

export interface Reduction {
  /** Holds the result after the loop; the neutral element if the loop runs zero times. */
  readonly id: ValueId;
  readonly op: ReductionOp;
  /** The contribution of one iteration, defined in the loop's body. */
  readonly value: ValueId;
  /** argmax, argmin: the index of `value`, of the result's type. */
  readonly index?: ValueId;
  /** Type of the accumulator and of the result (for argmax and argmin an integer: int64 until it is narrowed). */
  readonly dtype: ValueType;
}

/** A value passed from one iteration to the next (cumulative sums). Makes the loop sequential. */
export interface Carried {
  /** In the body: the value before this iteration; after the loop: the last one. */
  readonly id: ValueId;
  readonly initial: ValueId;
  readonly next: ValueId;
  readonly dtype: ValueType;
}

/**
 * The body runs once for each member of a team, on the iterations from the counter to `end`; both are multiples of
 * `grain`, or the ends of the loop.
 */
interface TeamPart {
  readonly end: Sym;
  readonly grain: number;
}

export interface Loop {
  readonly kind: "loop";
  readonly axis: Axis;
  /**
   * - parallel: iterations are independent; may be threads, lanes or GPU invocations.
   * - reduction: iterations combine only through `reductions`.
   * - sequential: in order.
   */
  readonly order: "parallel" | "reduction" | "sequential";
  /**
   * The loop to run in SIMD lanes, or as the elements of vectors: at most one on a path from the root to a leaf. Loops
   * inside it run scalar with vector-valued bodies. Correctness never depends on it.
   */
  readonly vector: boolean;
  /**
   * Who runs the iterations, once a pass has decided it: each is a point of the grid, or a team (the threads of a
   * kernel, or the invocations of a workgroup) divides them. Absent: each thread that reaches the loop runs all of
   * them.
   */
  readonly share?: "grid" | "team";
  /** How a team divides a loop. Absent: by iterations. */
  readonly part?: TeamPart;
  /** Whether the compiler must not vectorise the loop. Absent: it may. */
  readonly scalar?: true;
  /**
   * Whether stores of a vector loop may bypass the caches if the call says that the memory is cold: groups of lanes are
   * contiguous, and the kernel does not read them. Absent: they may not.
   */
  readonly streams?: true;
  readonly body: readonly Statement[];
  readonly reductions: readonly Reduction[];
  readonly carried: readonly Carried[];
  /** Reductions to which an iteration contributes many elements, after its body. Absent: none. */
  readonly folds?: readonly Fold[];
}

/** Contiguous elements. */
export interface Elements {
  readonly buffer: BufferId;
  /** The first. */
  readonly index: Dim;
}

/**
 * A reduction of elements in memory, like that of a loop over them; the fields of its result are those of `Reduction`.
 */
export interface Fold {
  readonly id: ValueId;
  readonly op: ReductionOp;
  readonly dtype: ValueType;
  readonly values: Elements;
  /** argmax, argmin: the indices of the elements. */
  readonly positions?: Elements;
  readonly count: Dim;
}

/** The statements besides loops. A statement with an `id` defines that value. */
interface PlainStatements {
  constant: { id: ValueId; value: number | bigint | boolean; dtype: ValueType };
  /** An index expression as a value. */
  index: { id: ValueId; index: Dim; dtype: ValueType };
  scalar: { id: ValueId; op: ScalarOpName; args: readonly ValueId[]; dtype: ValueType };
  cast: { id: ValueId; value: ValueId; dtype: ValueType };
  select: { id: ValueId; condition: ValueId; then: ValueId; otherwise: ValueId; dtype: ValueType };
  /**
   * Index expressions may contain axis symbols, size symbols and "value" symbols (indirect). Small integers are loaded
   * as int32, small floats as their 16 bits in an int32.
   */
  load: { id: ValueId; buffer: BufferId; index: Dim; dtype: ValueType };
  /**
   * A value to set has the type of loads. A value to `add` has the type of computations; it accumulates (bools by or,
   * small types with each sum rounded), atomically where iterations may collide.
   */
  store: { buffer: BufferId; index: Dim; value: ValueId; mode: "set" | "add" };
  /**
   * `body` runs (its loads are valid) only where `condition` holds; the result is `value` there and `otherwise`
   * elsewhere. For padding and concatenation.
   */
  masked: {
    id: ValueId;
    condition: ValueId;
    body: readonly Statement[];
    value: ValueId;
    otherwise: ValueId;
    dtype: ValueType;
  };
}

export type Statement = Loop | Tagged<PlainStatements>;

/** Number of threads for a kernel, where a device has them and the choice was measured. */
export type Team = "one" | "all";

/**
 * Blocks of a computation: neighbouring kernels with the same blocks run one after the other on each block, on one
 * thread, and pass values to each other in local buffers. Their loops and views use the counters, too.
 */
export interface Blocks {
  /** Counters of the blocks, which a team divides like one loop. */
  readonly axes: readonly Axis[];
  /**
   * An inner counter that one thread runs in order, because blocks add to the results of earlier ones. Absent: none.
   */
  readonly inOrder?: Axis;
  /** Whether later blocks of a matrix take longer, as below a causal mask. */
  readonly uneven?: boolean;
  /** As in LoopKernel, for all kernels and blocks. */
  readonly work: Dim;
}

/**
 * Kernels that run as one: neighbours that name the same table compute the same on buffers and lengths of their own,
 * and share no memory that any of them writes.
 */
export interface KernelTable {
  /** Represents the number of iterations of a kernel's outermost loop. */
  readonly length: Sym;
}

/**
 * Buffers of several runs of the same statements: a row for each run, those that the statements name first. Columns
 * correspond. No run touches what another one writes.
 */
export type Rows = readonly (readonly BufferId[])[];

/** Grid points that a workgroup runs concurrently. */
export interface Points {
  readonly count: number;
  /** Whether neighbouring invocations run neighbouring points, rather than dividing one. */
  readonly interleaved: boolean;
}

/** One loop nest (or several in a row that share outer loops). */
export interface LoopKernel {
  readonly kind: "loops";
  readonly name: string;
  readonly body: readonly Statement[];
  /** Absent: the device decides. */
  readonly team?: Team;
  /** Estimated work, where threads divide loops: loads and stores count 4, operations their weight. */
  readonly work?: Dim;
  /** Number of invocations that divide a grid point. Absent: each has its own. */
  readonly workgroup?: number;
  /** The grid points that the workgroup runs concurrently, all of which exist. Absent: one. */
  readonly points?: Points;
  /** Absent: it runs alone, on everything. */
  readonly blocks?: Blocks;
  /** Absent: it runs alone. */
  readonly table?: KernelTable;
  /** The rows of a table that it runs on. Absent: on the buffers that its statements name. */
  readonly rows?: Rows;
  /** The user lines it computes, for comments and profiles: "model.ts:12 x.sin()". */
  readonly origins: readonly string[];
  /** Indices of the kernels of the original program that it is part of. Absent: not tracked. */
  readonly originals?: readonly number[] | undefined;
}

/** A strided view of a buffer as an operand of a call. Strides in elements. */
export interface BufferView {
  readonly buffer: BufferId;
  readonly offset: Dim;
  readonly shape: readonly Dim[];
  readonly strides: readonly Dim[];
}

/** The operations of runtime libraries. Shapes are in the views. */
export type ExternOp =
  /** out[b?, m, n] = a[b?, m, k] · b[b?, k, n] (+ out where accumulate). Inputs: a, b. */
  | { readonly op: "matmul"; readonly accumulate: boolean }
  /** NCHW (or NCL as H = 1). Inputs: input, weight, bias?. */
  | ({ readonly op: "convForward" } & ConvGeometry)
  /** Inputs: gradOutput, weight. Output: gradInput. */
  | ({ readonly op: "convBackwardInput" } & ConvGeometry)
  /** Inputs: gradOutput, input. Output: gradWeight. */
  | ({ readonly op: "convBackwardWeight" } & ConvGeometry)
  /**
   * Stable sort along the last dimension; the results may have fewer elements there, the first of the order. Outputs:
   * values, indices (int64). NaN is greatest.
   */
  | { readonly op: "sort"; readonly descending: boolean }
  | RegionOp;

/**
 * The kernels of another program, on buffers of this one; code generation puts them in its place (loops/regions.ts).
 * Inputs, outputs: whole buffers for those of the program, in order, and one more output for its arena if it has one.
 */
export interface RegionOp {
  readonly op: "region";
  readonly program: Program;
  /**
   * The number of its runs, each on a row of inputs, of which no run touches what another one writes: updates of many
   * tensors by one formula. The inputs are those of the first row, then those of the next; the program has no outputs,
   * and the arena has a place for each row. Absent: one run.
   */
  readonly rows?: number;
}

export interface ConvGeometry {
  readonly stride: readonly [number, number];
  readonly padding: readonly [number, number];
  readonly dilation: readonly [number, number];
  readonly groups: number;
  /** Whether errors may be a few times those of sums of products. Absent: they may not. */
  readonly fast?: boolean;
}

/**
 * Computes an operand of a call on the fly. The operand's buffer, which nothing else uses, represents the result of the
 * nest: the call runs the nest on parts and reads them directly.
 */
export interface Prologue {
  /** Index of the input. */
  readonly input: number;
  /** Whether the last two dimensions of the operand are looped over in the other order. */
  readonly transposed: boolean;
  /** A pointwise nest of one parallel loop for each dimension of the operand around one store of its element. */
  readonly nest: LoopKernel;
}

/** Statements and the value, among those that they define, that is the result. */
export interface Piece {
  readonly body: readonly Statement[];
  readonly value: ValueId;
}

/**
 * Attention: how the first operand of a product is computed row by row, so that neither it nor its scores are ever in
 * memory as a whole. An element is exp(score − maximum of the row) · factor, where a maximum of −∞ counts as 0; rows of
 * the result are multiplied by the value of `finish`.
 */
export interface AttentionWeights {
  /** [b?, m, k] and [b?, k, n], whose product yields the scores. */
  readonly queries: BufferView;
  readonly keys: BufferView;
  /** Counters that the pieces use. */
  readonly matrix: Sym;
  readonly row: Sym;
  readonly key: Sym;
  /** A score, computed from an element of the product. */
  readonly product: ValueId;
  readonly score: Piece;
  /** A factor of each weight that is not part of the sum of its row. Absent: none. */
  readonly factor?: Piece | undefined;
  /** Computed once per row, from the maximum of its scores and the sum of exp(score − maximum), which it may store. */
  readonly maximum: ValueId;
  readonly sum: ValueId;
  readonly finish: Piece;
  /** Rows that are computed together. */
  readonly block: number;
  /** Whether keys after the last row of a block have no weight. */
  readonly causal: boolean;
}

/**
 * Operands of products that are computed on the fly, element by element from other matrix products, as in gradients
 * of attention, so that neither is ever in memory as a whole.
 */
export interface ComputedElements {
  /** [b?, m, k] and [b?, k, n], whose product is an input of the elements. */
  readonly products: readonly {
    readonly a: BufferView;
    readonly b: BufferView;
    readonly value: ValueId;
  }[];
  /** Counters that the pieces use. */
  readonly matrix: Sym;
  readonly row: Sym;
  readonly key: Sym;
  /** float32 values of a row that the elements depend on. */
  readonly ofRows: readonly Piece[];
  /** An element for each result of the kernel, computed by one list of statements. */
  readonly elements: { readonly body: readonly Statement[]; readonly values: readonly ValueId[] };
  /** The dimension that sums of the results run over: rows where the elements are a transposed operand. */
  readonly over: "rows" | "keys";
  /** Rows or keys (those not summed over) that are computed together. */
  readonly block: number;
  /** Whether elements after the last row of a block of rows are zero. */
  readonly causal: boolean;
  /**
   * Index of the result whose elements a kernel that sums over rows also stores, as its last output, without the zeros
   * after blocks of rows. Absent: none.
   */
  readonly stored?: number;
}

export interface ExternKernel {
  readonly kind: "extern";
  readonly name: string;
  readonly call: ExternOp;
  readonly inputs: readonly BufferView[];
  readonly outputs: readonly BufferView[];
  /**
   * A pointwise loop nest over the first output's whole shape, run on parts of it as they are completed. Its outer
   * loops are exactly one parallel loop per output dimension, in order, with no reductions.
   */
  readonly epilogue?: LoopKernel;
  /** Prologues of operands that are computed on the fly, one per operand. Absent: all operands are read from memory. */
  readonly prologues?: readonly Prologue[];
  /** For the product of weights and values, whose first operand is a local buffer that nothing else uses. */
  readonly weights?: AttentionWeights;
  /**
   * For products with two inputs and an output each, whose first operands are local buffers that nothing else uses, and
   * possibly one more output.
   */
  readonly computed?: ComputedElements;
  /**
   * For a product: elements of the first operand after the last row of a tile of rows are zero, and need not be in
   * memory.
   */
  readonly causal?: true;
  /**
   * For a convolution with 3 × 3 filters and stride 1: it consists of products of transforms, which this many output
   * channels share. The second operand holds transformed filters, a matrix [input channels, output channels] for each
   * position of a 4 × 4 square, the first of which are the view's taps.
   */
  readonly transformed?: 32 | 64;
  /**
   * The number of parts into which its sums are divided: the output's memory is contiguous, and each part is written
   * after the previous one. Absent: one.
   */
  readonly parts?: number;
  /** Absent: the device decides. */
  readonly team?: Team;
  /** Absent: it runs alone, on everything. */
  readonly blocks?: Blocks;
  readonly origins: readonly string[];
  /** As in LoopKernel. */
  readonly originals?: readonly number[] | undefined;
}

export type Kernel = LoopKernel | ExternKernel;

/**
 * Makes a call atomic: a flag is computed by the first kernels, which write only outputs and temporaries. If it is
 * false, the others may write to memory that existed before the call; if it is true, they do not run.
 */
export interface ProgramGuard {
  /** An output of one bool: whether the call fails. */
  readonly flag: BufferId;
  /** Number of kernels before the decision. */
  readonly after: number;
}

/** Everything that one call runs, in order. An input that is written does not alias other inputs. */
export interface Program {
  readonly name: string;
  readonly buffers: readonly BufferDecl[];
  /** Buffers with role input, in the order in which the caller passes them. */
  readonly inputs: readonly BufferId[];
  /** Buffers with role output, likewise. */
  readonly outputs: readonly BufferId[];
  /** Size symbols, in the order in which the caller passes their values. */
  readonly sizes: readonly Sym[];
  readonly arenaBytes: Dim;
  readonly kernels: readonly Kernel[];
  readonly guard?: ProgramGuard | undefined;
}
