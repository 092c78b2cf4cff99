/**
 * Programs of single calls, one kernel for each lowering of the op, over given layouts of operands and results.
 * Invariant: an operand is an input of the program only if a kernel reads it.
 */
import { type DType, itemSize } from "../base/dtype.ts";
import { DynError, InternalError } from "../base/errors.ts";
import type { TensorMeta } from "../graph/meta.ts";
import type { Lowered, Operand } from "../loops/body.ts";
import type { BufferDecl, BufferId, Kernel, Program } from "../loops/ir.ts";
import { noteCosts } from "../loops/launch.ts";
import { costsOf } from "../loops/metrics.ts";
import type { BufferOperand } from "../loops/record.ts";
import type { ArgsOf, Params } from "../ops/params.ts";
import type { Dim, Sym } from "../sym/expr.ts";
import { concrete, contiguousLayout, type Layout, layoutOf } from "./layout.ts";
import { type MakeTemporary, recordKernels } from "./library_calls.ts";
import {
  type LoadedNumber,
  mapTensors,
  type OpEntry,
  type Plan,
  type TensorArgs,
  tensorsOf,
} from "./plan.ts";
import { deviceNamed, isShapesOnly } from "./storage.ts";
import type { Tensor } from "./tensor.ts";

/** The lowerings of a call, given how its tensors are loaded. */
type Lower = (
  args: ArgsOf<Params, Operand>,
  results: readonly TensorMeta[],
  keys: readonly [Operand, Operand],
) => readonly Lowered[];

/** The layout of a tensor in its memory, from its first element. */
interface StoredLayout {
  readonly shape: readonly Dim[];
  readonly strides: readonly Dim[];
  readonly dtype: DType;
  /** Number of elements from the first to the last addressed one. */
  readonly extent: Dim;
}

/** The destination of a result. */
export interface Target extends StoredLayout {
  /** Whether memory between its elements must stay unchanged. */
  readonly partly: boolean;
}

/** A call to record. */
export interface RecordedCall {
  readonly entry: OpEntry;
  /** Arguments with the program's sizes. */
  readonly args: TensorArgs;
  /** Metadata of the results. */
  readonly metas: readonly TensorMeta[];
  readonly lower: Lower;
  readonly layoutOf: (tensor: Tensor) => StoredLayout;
  readonly targets: readonly Target[];
  /** Numbers that the program loads. */
  readonly numbers: readonly LoadedNumber[];
  readonly sizes: readonly Sym[];
}

/** The program of a call, and its inputs, as in plans. */
export function recordProgram(
  { entry, args, metas, lower, layoutOf, targets, numbers, sizes }: RecordedCall,
): { readonly program: Program; readonly reads: readonly number[] } {
  const { name } = entry.definition, buffers: BufferDecl[] = [], inputs: number[] = [], reads: number[] = [];
  const lengthOf = ({ extent }: StoredLayout): Dim =>
    typeof extent === "number" ? Math.max(1, extent) : extent;
  let count = 0;
  const declare = (layout: StoredLayout, place: number) => {
    buffers.push({
      name: place < -2 ? `number${-3 - place}` : place < 0 ? `key${-1 - place}` : `in${place}`,
      dtype: layout.dtype,
      length: lengthOf(layout),
      role: { kind: "input", written: false },
    });
    inputs.push(buffers.length - 1);
    reads.push(place);
    return buffers.length - 1;
  };
  const outputs: BufferOperand[] = targets.map((target, k) => {
    const { shape, strides, dtype, partly } = target;
    buffers.push({
      name: `out${k}`,
      dtype,
      length: lengthOf(target),
      role: partly ? { kind: "output", partly } : { kind: "output" },
    });
    return { buffer: buffers.length - 1, offset: 0, shape, strides, dtype };
  });
  const operands = {
    ...mapTensors<Operand>(entry, args, (tensor) => {
      const place = count++, lying = layoutOf(tensor);
      return new PlannedOperand(lying, () => declare(lying, place));
    }),
  };
  numbers.forEach(({ param, dtype }, k) => {
    const layout = { shape: [], strides: [], dtype, extent: 1 };
    operands[param] = new PlannedOperand(layout, () => declare(layout, -3 - k));
  });
  const scalar = { shape: [], strides: [], dtype: "int32", extent: 1 } as const;
  const keys: readonly [Operand, Operand] = [
    new PlannedOperand(scalar, () => declare(scalar, -1)),
    new PlannedOperand(scalar, () => declare(scalar, -2)),
  ];
  const kernels: Kernel[] = [];
  let at = 0, arenaBytes = 0;
  const temporary: MakeTemporary = (shape, dtype) => {
    const layout = contiguousLayout(shape.map(concrete), dtype, "cpu"), length = Math.max(1, layout.numel);
    buffers.push({
      name: `t${buffers.length}`,
      dtype,
      length,
      role: { kind: "temporary", offset: arenaBytes },
    });
    arenaBytes += Math.ceil(length * itemSize(dtype) / 64) * 64;
    return { buffer: buffers.length - 1, offset: 0, shape, strides: layout.strides, dtype };
  };
  for (const each of lower(operands, metas, keys)) {
    const width = each.kind === "extern" ? each.outputs.length : 1;
    kernels.push(...recordKernels(each, outputs.slice(at, at + width), { name, temporary }));
    at += width;
  }
  const program = {
    name,
    buffers,
    inputs,
    outputs: outputs.map((o) => o.buffer),
    sizes,
    arenaBytes,
    kernels,
  };
  return { program, reads };
}

/** The inputs of making a plan. */
interface PlanRequest extends Pick<RecordedCall, "entry" | "args" | "metas" | "lower"> {
  /** Numbers that the program loads. */
  readonly numbers?: readonly LoadedNumber[];
  /** Layouts to write instead of those of the metas (in-place results). */
  readonly targets?: readonly Layout[];
}

/** Compiles a plan for calls of one shape. */
export function makePlan({ entry, args, metas, lower, targets, numbers = [] }: PlanRequest): Plan {
  const results = targets ?? metas.map(layoutOf);
  const draws = entry.definition.implementation.kind === "random";
  const isHollow = results.some(({ device }) => isShapesOnly(device));
  if (isHollow) checkElementless(entry, args);
  if (isHollow || results.every((layout) => layout.numel === 0)) {
    return { results, program: null, reads: [], numbers, draws, sizes: [] };
  }
  const { program, reads } = recordProgram({
    entry,
    args,
    metas,
    lower,
    layoutOf: ({ layout }) => layout,
    targets: results.map((layout) => ({ ...layout, partly: layout.extent > layout.numel })),
    numbers,
    sizes: [],
  });
  const [first] = results;
  if (!first) throw new InternalError(`Expected results of ${entry.definition.name} but found none`);
  const compiled = deviceNamed(first.device).compileEager(program);
  noteCosts(compiled, () => costsOf(program));
  // Here, where the program's changes to builtins are not in effect
  compiled.prepare?.();
  return { results, program: compiled, reads, numbers, draws, sizes: [] };
}

/** Throws if a call without elements mixes devices, except for tensors of one element. */
function checkElementless(entry: OpEntry, args: TensorArgs): void {
  const devices = tensorsOf(entry, args).filter(({ ndim }) => ndim > 0).map(({ device }) => device);
  if (new Set(devices).size <= 1) return;
  throw new DynError(`Expected all tensors on one device but found ${[...new Set(devices)].join(" and ")}`);
}

/** A tensor operand that becomes an input of the program when a kernel first reads it. */
class PlannedOperand implements BufferOperand {
  readonly offset = 0;
  readonly shape: readonly Dim[];
  readonly strides: readonly Dim[];
  readonly dtype: DType;
  #buffer: BufferId | undefined;
  constructor({ shape, strides, dtype }: StoredLayout, readonly declare: () => BufferId) {
    this.shape = shape;
    this.strides = strides;
    this.dtype = dtype;
  }
  get buffer(): BufferId {
    return this.#buffer ??= this.declare();
  }
}
