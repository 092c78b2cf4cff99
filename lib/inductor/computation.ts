/**
 * Computations: the units that the scheduler orders and fuses. Each writes one or more buffers over an iteration
 * space of outer axes and, where it combines values, inner ones; its reads and writes are index expressions.
 * Invariant: `reads` and `writes` are complete, so that two computations without a common buffer are independent.
 */
import type { DType } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import type { Body, Element } from "../loops/body.ts";
import type { Axis, BufferId, ExternOp, Program, ReductionOp, Rows, Statement } from "../loops/ir.ts";
import { type BufferOperand, flatIndex, type Loader, Recorder, type Value } from "../loops/record.ts";
import type { ScalarOps } from "../loops/scalar.ts";
import { add, type Dim, freeSymbols, mul, sub, symbol } from "../sym/expr.ts";
import { weigh } from "./cost.ts";
import type { Place } from "../loops/moved_buffers.ts";
import { type Label, type LazyTensor, makeLoader } from "./tensors.ts";

/** The work itself, as functions over a recorder. Index lists follow `sizes` and `over`. */
export type Work =
  | { readonly kind: "pointwise"; readonly element: Element }
  | {
    readonly kind: "reduction";
    readonly op: ReductionOp;
    readonly accumulator: DType;
    readonly element: <V>(o: Body<V>, index: readonly Dim[], reduced: readonly Dim[]) => V;
    readonly position?: (reduced: readonly Dim[], index: readonly Dim[]) => Dim;
    /** For argmax and argmin of partial results, whose position is a value, not an index expression. */
    readonly positionValue?: <V>(o: Body<V>, index: readonly Dim[], reduced: readonly Dim[]) => V;
  }
  | {
    readonly kind: "scan";
    readonly initial: number;
    readonly element: <V>(o: Body<V>, index: readonly Dim[], reduced: readonly Dim[]) => V;
    readonly combine: <V>(o: ScalarOps<V>, before: V, value: V) => V;
  }
  | {
    readonly kind: "scatter";
    readonly mode: "set" | "add";
    readonly target: <V>(o: Body<V>, position: readonly Dim[]) => readonly Dim[];
    readonly value: Element;
  }
  | {
    readonly kind: "extern";
    readonly call: ExternOp;
    readonly inputs: readonly BufferOperand[];
    readonly outputs: readonly BufferOperand[];
  }
  | RegionWork
  | RowsWork;

/** A region's program over buffers of the program around it. */
export interface RegionWork {
  readonly kind: "region";
  readonly program: Program;
  /** Position of each buffer of the region's program; of its temporaries only if it is expanded. */
  readonly places: readonly (Place | undefined)[];
  /** The memory of its temporaries if the call is one kernel; null if it has none. Absent: its kernels are expanded. */
  readonly arena?: BufferId | null;
  readonly reads: readonly BufferId[];
  readonly writes: readonly BufferId[];
}

/** The runs of a region's program on rows of its inputs, as one kernel. */
export interface RowsWork {
  readonly kind: "rows";
  readonly program: Program;
  readonly rows: Rows;
  /** The memory of the temporaries of all rows; null if there are none. */
  readonly arena: BufferId | null;
  readonly reads: readonly BufferId[];
  readonly writes: readonly BufferId[];
}

/** One buffer access. */
export interface Access {
  readonly buffer: BufferId;
  /** Over the computation's axes; undefined for library calls and data-dependent places. */
  readonly index: Dim | undefined;
}

/** The axes that run in lanes in the order in which sums of floats add: reduced ones, or those of the results. */
export type Lanes = "inner" | "outer";

/** One unit of scheduling. */
export interface Computation {
  readonly id: number;
  /** Position of the graph node that it belongs to; computations run in an order that extends it. */
  readonly order: number;
  readonly work: Work;
  /** The buffer that it writes (for reductions the result, for library calls the first output). */
  readonly target: BufferOperand;
  readonly outer: readonly Axis[];
  readonly inner: readonly Axis[];
  /** The axes that run in lanes, where the order of the inner axes is settled as well. */
  readonly lanes?: Lanes | undefined;
  readonly reads: readonly Access[];
  readonly writes: readonly Access[];
  /** All index expressions, in addition to those of reads and writes, that its statements mention. */
  readonly indices: readonly Dim[];
  readonly labels: readonly Label[];
  /** Cost of one iteration, in additions. */
  readonly weight: number;
}

/** A new loop counter for a size. */
export function newAxis(size: Dim, name: string): Axis {
  const upper = typeof size === "number" ? size - 1 : size.upper - 1;
  return { symbol: symbol(name, { kind: "axis", size }, [0, Math.max(0, upper)]), size };
}

interface ComputationOptions {
  readonly id: number;
  readonly order: number;
  readonly target: BufferOperand;
  readonly sizes: readonly Dim[];
  readonly over: readonly Dim[];
  readonly label: Label;
  /** A buffer that must be written before it runs, although it does not read the buffer. */
  readonly after?: BufferId;
  readonly lanes?: Lanes | undefined;
  /** Records reads of operands. */
  readonly loader?: Loader;
}

/** Makes a computation: runs its work once on fresh axes to find what it reads. */
export function makeComputation(given: Work, options: ComputationOptions): Computation {
  const trivial = given.kind === "reduction" && options.over.every((size) => size === 1);
  const work = trivial ? unreduced(given, options.over) : given;
  const { target, sizes, label, id, order, after, lanes } = options;
  const over = trivial ? [] : options.over;
  const outer = sizes.map((size, d) => newAxis(size, `i${d}`));
  const inner = over.map((size, d) => newAxis(size, `r${d}`));
  const common = { id, order, target, outer, inner, lanes, indices: [], labels: [label], weight: 0 };
  if (work.kind === "extern") {
    return {
      ...common,
      work,
      reads: [
        ...work.inputs.map((view) => ({ buffer: view.buffer, index: undefined })),
        ...(work.call.op === "matmul" && work.call.accumulate
          ? [{ buffer: target.buffer, index: undefined }]
          : []),
      ],
      // The epilogue sees the first output element by element
      writes: work.outputs.map((view, i) => ({
        buffer: view.buffer,
        index: i === 0 ? flatIndex(view, outer.map((a) => a.symbol)) : undefined,
      })),
    };
  }
  if (work.kind === "region" || work.kind === "rows") {
    const whole = (buffer: BufferId): Access => ({ buffer, index: undefined });
    const reads = work.reads.map(whole), writes = work.writes.map(whole);
    return { ...common, work, reads, writes };
  }
  const labels = new Set<Label>([label]), inlined = (tensor: LazyTensor) => labels.add(tensor.label);
  const recorder = new Recorder(options.loader ?? makeLoader(inlined));
  const index = outer.map((a): Dim => a.symbol), reduced = inner.map((a): Dim => a.symbol);
  const writes: Access[] = [];
  switch (work.kind) {
    case "pointwise":
      recorder.cast(work.element(recorder, index), target.dtype);
      writes.push({ buffer: target.buffer, index: flatIndex(target, index) });
      break;
    case "reduction":
      contribution(work, recorder, { index, reduced });
      writes.push({ buffer: target.buffer, index: flatIndex(target, index) });
      break;
    case "scan": {
      const value = work.element(recorder, index, reduced);
      work.combine(recorder, value, value);
      writes.push({ buffer: target.buffer, index: flatIndex(target, [...index, ...reduced]) });
      break;
    }
    case "scatter": {
      const at = flatIndex(target, work.target(recorder, index));
      recorder.cast(work.value(recorder, index), target.dtype);
      writes.push({ buffer: target.buffer, index: hasValueSymbol(at) ? undefined : at });
      break;
    }
    default:
      work satisfies never;
  }
  const found = survey(recorder.statements);
  // A scatter changes part of its buffer, so it depends on the former contents
  const waits = [
    ...(work.kind === "scatter" ? [target.buffer] : []),
    ...(after === undefined ? [] : [after]),
  ];
  const reads = [...found.reads, ...waits.map((buffer): Access => ({ buffer, index: undefined }))];
  return {
    ...common,
    work,
    reads,
    writes,
    indices: found.indices,
    labels: [...labels],
    weight: weigh(recorder.statements).weight,
  };
}

/** A reduction over a single element is a pointwise computation. */
function unreduced(work: Work & { kind: "reduction" }, over: readonly Dim[]): Work {
  const first = over.map(() => 0);
  const { op, position, positionValue, element } = work;
  if (op !== "argmax" && op !== "argmin") {
    return {
      kind: "pointwise",
      element: (o, index) => element(o, index, first),
    };
  }
  return {
    kind: "pointwise",
    element: (o, index) =>
      positionValue ? positionValue(o, index, first) : o.index(position?.(first, index) ?? 0, "int64"),
  };
}

/** The value that one iteration of a reduction contributes, and its position for argmax and argmin. */
export function contribution(
  work: Work & { kind: "reduction" },
  recorder: Recorder,
  at: { readonly index: readonly Dim[]; readonly reduced: readonly Dim[] },
): { readonly value: Value; readonly index: Value | undefined } {
  const value = recorder.cast(work.element(recorder, at.index, at.reduced), work.accumulator);
  if (work.op !== "argmax" && work.op !== "argmin") return { value, index: undefined };
  if (work.positionValue) {
    return { value, index: recorder.cast(work.positionValue(recorder, at.index, at.reduced), "int64") };
  }
  const position = work.position?.(at.reduced, at.index) ?? at.reduced[0] ?? 0;
  return { value, index: recorder.index(position, "int64") };
}

/** Returns whether an index depends on data. */
function hasValueSymbol(index: Dim): boolean {
  for (const s of freeSymbols(index)) {
    if (s.node.kind === "symbol" && s.node.role.kind === "value") return true;
  }
  return false;
}

interface Survey {
  readonly reads: Access[];
  readonly indices: Dim[];
}

function survey(statements: readonly Statement[], found: Survey = { reads: [], indices: [] }): Survey {
  for (const s of statements) {
    switch (s.kind) {
      case "load": {
        const known = found.reads.some((r) => r.buffer === s.buffer && r.index === s.index);
        if (!known) {
          found.reads.push({ buffer: s.buffer, index: hasValueSymbol(s.index) ? undefined : s.index });
        }
        if (hasValueSymbol(s.index)) found.indices.push(s.index);
        break;
      }
      case "index":
        found.indices.push(s.index);
        break;
      case "masked":
        survey(s.body, found);
        break;
      case "scalar":
      case "select":
      case "cast":
      case "constant":
        break;
      case "store":
      case "loop":
        throw new InternalError(`Expected straight-line statements but found a ${s.kind}`);
      default:
        s satisfies never;
    }
  }
  return found;
}

/** One past the last element that a view touches. */
export function extentOf(view: Pick<BufferOperand, "offset" | "shape" | "strides">): Dim {
  let last: Dim = view.offset;
  for (let d = 0; d < view.shape.length; d++) {
    last = add(last, mul(sub(view.shape[d] ?? 1, 1), view.strides[d] ?? 0));
  }
  return add(last, 1);
}
