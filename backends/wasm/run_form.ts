/**
 * Runs forms: steps of loops and library calls, over operands in the pool's memory. Invariant: data that depends only
 * on sizes is computed once for them.
 */
import { LOAD_SLACK } from "./access.ts";
import { itemSize } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { KernelClock } from "../../lib/loops/device.ts";
import type { BufferId, BufferView } from "../../lib/loops/ir.ts";
import type { ProgramFrame } from "../../lib/loops/stored/program.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import { addressOffset, moduleOf, sizeOffset, type Step, type WasmForm } from "./form.ts";
import { libraryBytes, productCode, runLibrary } from "./library.ts";
import { aligned, type Operand, type Operands, type Shaped } from "./operands.ts";
import { place, type Placement, type WholeMemory } from "./placement.ts";
import type { Code, Job, JobPool } from "./pool.ts";

/** The loops of a program as a module. */
export interface LoadedCode {
  readonly frame: ProgramFrame;
  readonly steps: readonly Step[];
  readonly code: Code;
}

/** Loads a form into a pool. */
export const load = (form: WasmForm, pool: JobPool): LoadedCode => ({
  frame: form.frame,
  steps: form.steps,
  code: pool.load(moduleOf(form), () => productCode(pool)),
});

/** The data of a call with given sizes. */
export interface Run {
  readonly placed: Placement;
  /** Address of the descriptions of sizes and buffers, one for each step. */
  readonly description: number;
  /** The bytes written there, with the addresses of the placement. */
  readonly words: Uint8Array;
  /** The addresses in them: the index of each word, from the start of the descriptions, and its buffer. */
  readonly addressed: readonly { readonly word: number; readonly buffer: BufferId }[];
  /** First address of the scratch memory. */
  readonly free: number;
  /** Bytes used after the operands. */
  readonly scratch: number;
  /** One for each step of loops. */
  readonly jobs: readonly (Job | undefined)[];
}

/** Units of work that a vector of four lanes does at once; one unit is an instruction that loads or computes. */
const WORK_OF_LANES = 8;

function jobOf(
  { units, grain, work, scratch }: Step & { readonly kind: "loops" },
  { description, free, value }: {
    readonly description: number;
    readonly free: number;
    readonly value: (d: Dim) => number;
  },
): Job {
  return {
    description,
    units: units === null ? 1 : value(units),
    grain,
    work: units === null ? 0 : value(work) / WORK_OF_LANES,
    scratch: { bytes: aligned(value(scratch)), address: free },
  };
}

function viewIn(view: BufferView, program: ProgramFrame, value: (d: Dim) => number): Shaped {
  const decl = program.buffers[view.buffer];
  if (!decl) throw new InternalError(`Expected a buffer ${view.buffer} but the program has none`);
  return { dtype: decl.dtype, shape: view.shape.map(value), strides: view.strides.map(value) };
}

function operandsOf(
  step: Step & { readonly kind: "extern" },
  { value, addresses }: Pick<Placement, "value" | "addresses">,
  program: ProgramFrame,
): Operands<Operand> {
  const at = (view: BufferView): Operand => {
    const shaped = viewIn(view, program, value);
    const address = (addresses[view.buffer] ?? 0) + value(view.offset) * itemSize(shaped.dtype);
    return { ...shaped, address };
  };
  return { inputs: step.inputs.map(at), outputs: step.outputs.map(at) };
}

/** Returns the data shared by calls of these sizes. */
export function runOf(pool: JobPool, { frame: program, steps }: LoadedCode, given: readonly number[]): Run {
  const sizes = [...given], placed = place(program, sizes, pool.memory.base);
  let bytes = 0;
  const starts = steps.map((step) => {
    const start = bytes;
    if (step.kind === "loops") bytes += Math.ceil(addressOffset(program, step.buffers.length) / 8) * 8;
    return start;
  });
  const described = Math.ceil((bytes + LOAD_SLACK) / 64) * 64;
  // Elements instead of methods of a view, which the program may have replaced; WebAssembly's order of bytes is the
  // machine's
  const words = new Uint8Array(described), { buffer } = words;
  const addresses = new Uint32Array(buffer), numbers = new BigInt64Array(buffer);
  const addressed: { readonly word: number; readonly buffer: BufferId }[] = [];
  steps.forEach((step, at) => {
    if (step.kind !== "loops") return;
    const start = starts[at] ?? 0;
    sizes.forEach((size, n) => numbers[(start + sizeOffset(n)) / 8] = BigInt(size));
    step.buffers.forEach((buffer, place) => {
      const word = (start + addressOffset(program, place)) / 4;
      addresses[word] = placed.addresses[buffer] ?? 0;
      addressed.push({ word, buffer });
    });
  });
  const description = pool.memory.base + Math.ceil(placed.bytes / 64) * 64;
  const free = description + described, { value } = placed;
  const jobs = steps.map((each, at) =>
    each.kind === "loops"
      ? jobOf(each, { description: description + (starts[at] ?? 0), free, value })
      : undefined
  );
  const own = Math.max(0, ...jobs.map((job) => pool.threads * (job?.scratch?.bytes ?? 0)));
  const libraries = scratchOf(pool, steps, (each) => viewIn(each, program, value));
  return { placed, description, words, addressed, free, scratch: described + Math.max(own, libraries), jobs };
}

/** Bytes of scratch memory that the library calls of a program need. */
function scratchOf(pool: JobPool, steps: readonly Step[], shaped: (view: BufferView) => Shaped): number {
  return steps.reduce((most, step) => {
    if (step.kind !== "extern") return most;
    const operands = { inputs: step.inputs.map(shaped), outputs: step.outputs.map(shaped) };
    return Math.max(most, libraryBytes(pool, step.call, operands));
  }, 0);
}

/** A run whose operands are in place. */
interface Ready {
  readonly run: Run;
  /** Addresses by buffer; the run's own, unless operands live elsewhere in the memory. */
  readonly addresses: readonly number[];
  readonly whole: WholeMemory;
  readonly clock?: KernelClock | undefined;
}

/** Runs all steps, up to the guard if that stops the call. */
export function runSteps(
  pool: JobPool,
  { frame, steps, code }: LoadedCode,
  { run, addresses, whole, clock }: Ready,
): void {
  const { placed, words, addressed, description, free, jobs } = run, { guard } = frame;
  const { bytes } = whole;
  bytes.set(words, description);
  if (addresses !== placed.addresses) {
    const all = whole.words, first = description / 4;
    for (const { word, buffer } of addressed) all[first + word] = addresses[buffer] ?? 0;
  }
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at], job = jobs[at];
    if (guard?.after === at && bytes[addresses[guard.flag] ?? 0] !== 0) break;
    const start = clock ? performance.now() : 0;
    if (step?.kind === "extern") {
      runLibrary(pool, step.call, { ...operandsOf(step, { value: placed.value, addresses }, frame), free });
    } else if (step && job) pool.run(code, step.name, job);
    if (step) clock?.ran(step.kernels, { start, duration: performance.now() - start });
  }
}
