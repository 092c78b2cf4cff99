/**
 * Runs programs of loop IR as JavaScript that V8 compiles. Input: a program over host memory; output: a
 * compiled program. Invariant: the generated source is the whole program; library calls run in extern.ts.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { CompiledProgram, Memory, ProgramCall } from "../../lib/loops/device.ts";
import { expandConversions } from "../../lib/codegen/conversions.ts";
import type { BufferView, ExternKernel, LoopKernel, Program } from "../../lib/loops/ir.ts";
import { type Dim, evaluate, type Sym } from "../../lib/sym/expr.ts";
import type { HostArray } from "../../lib/base/dtype.ts";
import { type HostView, runExtern } from "./extern.ts";
import * as math from "./math.ts";
import { type HostMemory, passedGuard } from "../cpu/host_memory.ts";
import { hostPool } from "../cpu/memory_pool.ts";
import { jamReductions } from "./jam.ts";
import { printProgram } from "./print.ts";

type ExternRunner = (
  buffers: readonly HostArray[],
  elements: readonly number[],
  sizes: readonly number[],
) => void;
type Run = (
  inputs: readonly Memory[],
  outputs: readonly Memory[],
  offsets: readonly number[],
  sizes: readonly number[],
  arena: HostMemory | undefined,
) => void;

/** How library calls are run; a native library may take some of them: it says whether it did. */
export type ExternLibrary = (kernel: ExternKernel) => ((views: ExternViews) => boolean) | undefined;

/** The operands of a library call, as host views. */
export interface ExternViews {
  readonly inputs: readonly HostView[];
  readonly outputs: readonly HostView[];
}

const ZEROS: readonly number[] = new Array<number>(64).fill(0);

/** Compiles a program to JavaScript. Its memories are host memories. */
export function compileToJavaScript(
  program: Program,
  options: { readonly library?: ExternLibrary; readonly allocate?: (bytes: number) => HostMemory } = {},
): CompiledProgram {
  const source = printProgram(jamReductions(withoutConversions(program)));
  const externs = program.kernels.map((k) =>
    k.kind === "extern" ? externRunner(k, program, options.library) : undefined
  );
  const run = instantiate(source, externs);
  const arena = arenaOf(program, options.allocate ?? ((bytes) => hostPool.allocate(bytes)));
  const few = program.inputs.length + program.outputs.length <= ZEROS.length;
  return {
    source,
    language: "js",
    kernelCount: program.kernels.length,
    run(call: ProgramCall): boolean {
      const offsets = call.byteOffsets ??
        (few ? ZEROS : new Array<number>(call.inputs.length + call.outputs.length).fill(0));
      run(call.inputs, call.outputs, offsets, call.sizes, arena?.(call.sizes));
      return passedGuard(program, call);
    },
  };
}

function withoutConversions(program: Program): Program {
  const expanded = (kernel: LoopKernel) => ({ ...kernel, body: expandConversions(kernel.body) });
  return {
    ...program,
    kernels: program.kernels.map((k) =>
      k.kind === "loops" ? expanded(k) : k.epilogue ? { ...k, epilogue: expanded(k.epilogue) } : k
    ),
  };
}

function instantiate(source: string, externs: readonly (ExternRunner | undefined)[]): Run {
  const make: unknown = new Function("m", "externs", source);
  if (typeof make !== "function") throw new InternalError("Expected generated source to be a function");
  const run: unknown = make(math, externs);
  if (!isRun(run)) throw new InternalError("Expected generated source to make a function");
  return run;
}

function isRun(value: unknown): value is Run {
  return typeof value === "function";
}

/** Memory for temporaries, kept while its size stays. */
function arenaOf(
  program: Program,
  allocate: (bytes: number) => HostMemory,
): ((sizes: readonly number[]) => HostMemory) | undefined {
  if (program.arenaBytes === 0) return undefined;
  let memory: HostMemory | undefined;
  return (sizes) => {
    const bytes = Math.ceil(sizeIn(program, sizes)(program.arenaBytes) / 64) * 64;
    if (!memory || memory.byteLength < bytes) memory = allocate(bytes);
    return memory;
  };
}

/** Evaluates sizes under one call's values of the program's size symbols. */
function sizeIn(program: Program, sizes: readonly number[]): (d: Dim) => number {
  const known = new Map<Sym, number>();
  program.sizes.forEach((s, k) => known.set(s, sizes[k] ?? 0));
  return (d) => typeof d === "number" ? d : evaluate(d, (s) => known.get(s) ?? 0);
}

function externRunner(
  kernel: ExternKernel,
  program: Program,
  library: ExternLibrary | undefined,
): ExternRunner {
  const native = library?.(kernel);
  const fixed = program.sizes.length === 0;
  const resolver = (view: BufferView): Resolver => {
    const declared = program.buffers[view.buffer];
    if (!declared) throw new InternalError(`Expected a buffer ${view.buffer} but found none`);
    const known = fixed ? shapeAt(view, sizeIn(program, [])) : undefined;
    return (buffers, elements, value) => {
      const data = buffers[view.buffer];
      if (!data) throw new InternalError(`Expected memory of buffer ${view.buffer} but found none`);
      const { offset, shape, strides } = known ?? shapeAt(view, value);
      return { data, dtype: declared.dtype, offset: (elements[view.buffer] ?? 0) + offset, shape, strides };
    };
  };
  const inputs = kernel.inputs.map(resolver), outputs = kernel.outputs.map(resolver);
  return (buffers, elements, sizes) => {
    const value = sizeIn(program, sizes);
    const resolve = (each: Resolver) => each(buffers, elements, value);
    const views = { inputs: inputs.map(resolve), outputs: outputs.map(resolve) };
    if (!native?.(views)) runExtern(kernel.call, views);
  };
}

/** Makes the host view of one operand in one call. */
type Resolver = (
  buffers: readonly HostArray[],
  elements: readonly number[],
  value: (d: Dim) => number,
) => HostView;

function shapeAt(
  view: BufferView,
  value: (d: Dim) => number,
): Pick<HostView, "offset" | "shape" | "strides"> {
  return { offset: value(view.offset), shape: view.shape.map(value), strides: view.strides.map(value) };
}
