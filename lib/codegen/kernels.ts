/** Replaces kernels of a program. */
import { type DType, itemSize } from "../base/dtype.ts";
import type {
  BufferDecl,
  BufferId,
  BufferView,
  ExternKernel,
  Kernel,
  LoopKernel,
  Program,
  Statement,
} from "../loops/ir.ts";
import { hintOf, isUnbacked } from "../sym/decide.ts";
import { add, type Dim, floorDiv, max, mul, product } from "../sym/expr.ts";
import type { Grid } from "./target.ts";

/**
 * Replaces each kernel of a program by some others. The guard's decision stays in front of the kernels that it
 * preceded. Returns the program itself if every kernel stays.
 */
export function replaceKernels(program: Program, replace: (kernel: Kernel) => readonly Kernel[]): Program {
  const parts = program.kernels.map(replace);
  if (parts.every((part, i) => part.length === 1 && part[0] === program.kernels[i])) return program;
  const { guard } = program;
  return {
    ...program,
    kernels: parts.flat(),
    guard: guard && { ...guard, after: parts.slice(0, guard.after).flat().length },
  };
}

/** The program with each loop kernel rewritten; `rewrite` may add to the list of all buffers. */
export function rewriteLoops(
  program: Program,
  rewrite: (kernel: LoopKernel, buffers: BufferDecl[]) => LoopKernel,
): Program {
  const buffers = [...program.buffers];
  const replaced = replaceKernels(
    program,
    (kernel) => [kernel.kind === "loops" ? rewrite(kernel, buffers) : kernel],
  );
  return replaced === program ? program : { ...replaced, buffers };
}

/** A library call with its nests replaced; the call itself if none changes. */
export function withNests(kernel: ExternKernel, replace: (nest: LoopKernel) => LoopKernel): ExternKernel {
  const epilogue = kernel.epilogue && replace(kernel.epilogue);
  const prologues = kernel.prologues?.map((each) => ({ ...each, nest: replace(each.nest) }));
  const stays = epilogue === kernel.epilogue &&
    (prologues ?? []).every(({ nest }, i) => nest === kernel.prologues?.[i]?.nest);
  if (stays) return kernel;
  return { ...kernel, ...(epilogue ? { epilogue } : {}), ...(prologues ? { prologues } : {}) };
}

/** Rewrites the statements of a nest. */
export type Rewrite = (body: readonly Statement[]) => readonly Statement[];

/** The program with the statements of each loop kernel rewritten, and those of nests around calls by \`around\`. */
export function rewriteNests(program: Program, rewrite: Rewrite, around: Rewrite = rewrite): Program {
  const nest = (by: Rewrite) => (kernel: LoopKernel): LoopKernel => {
    const body = by(kernel.body);
    return body === kernel.body ? kernel : { ...kernel, body };
  };
  const own = nest(rewrite), other = nest(around);
  return replaceKernels(
    program,
    (kernel) => [kernel.kind === "loops" ? own(kernel) : withNests(kernel, other)],
  );
}

/** Returns whether a library call reads and writes float32 alone. */
export const isOfFloats = ({ inputs, outputs }: ExternKernel, { buffers }: Program): boolean =>
  [...inputs, ...outputs].every(({ buffer }) => buffers[buffer]?.dtype === "float32");

/** A buffer as a row-major tensor. */
export const rowMajor = (buffer: BufferId, shape: readonly Dim[]): BufferView => ({
  buffer,
  offset: 0,
  shape,
  strides: shape.map((_, d) => product(shape.slice(d + 1))),
});

/** Makes a buffer for some elements like those of another, which each invocation has for itself. */
export type MakeLocal = (like: BufferId, length: number) => BufferId;

/** Adds such buffers to a list. */
export const localsIn = (buffers: BufferDecl[]): MakeLocal => (like, length) => {
  const dtype = buffers[like]?.dtype ?? "float32";
  return buffers.push({ name: `kept${buffers.length}`, dtype, length, role: { kind: "local" } }) - 1;
};

/** Makes a temporary of this many elements, or a buffer local to each thread. */
export type MakeTemporary = (dtype: DType, length: Dim, kind?: "local") => BufferId;

/**
 * Like `replaceKernels`, but kernels may pass partial results to each other in temporaries added after the program's
 * own. With `until` "replaced", only kernels that replace the same one do, and temporaries of others share the memory.
 */
export function replaceWithTemporaries(
  program: Program,
  replace: (kernel: Kernel, temporary: MakeTemporary) => readonly Kernel[],
  until: "end" | "replaced" = "end",
): Program {
  const buffers: BufferDecl[] = [...program.buffers];
  let bytes = program.arenaBytes, most = bytes;
  const temporary: MakeTemporary = (dtype, length, kind) => {
    const offset = rounded(bytes), name = `partial${buffers.length}`;
    if (kind) return buffers.push({ name, dtype, length, role: { kind } }) - 1;
    bytes = add(offset, mul(length, itemSize(dtype)));
    return buffers.push({ name, dtype, length, role: { kind: "temporary", offset } }) - 1;
  };
  const replaced = replaceKernels(program, (kernel) => {
    if (until === "replaced") bytes = program.arenaBytes;
    const kernels = replace(kernel, temporary);
    most = max(most, bytes);
    return kernels;
  });
  return replaced === program ? program : { ...replaced, buffers, arenaBytes: rounded(most) };
}

/** Bytes of temporaries that passes may add to a program; none if its own depend on elements of tensors. */
export const roomIn = ({ arenaBytes }: Program, { arena }: Grid): number =>
  isUnbacked(arenaBytes) ? 0 : arena - hintOf(arenaBytes);

/** Bytes up to the next multiple of 64. */
const rounded = (bytes: Dim): Dim => mul(floorDiv(add(bytes, 63), 64), 64);
