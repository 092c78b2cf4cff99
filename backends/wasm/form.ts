/**
 * Programs as WebAssembly: what running one takes, as data that a later process reads as it is. Input: programs; output:
 * modules and forms. Invariant: a form says all that running its module takes besides the pool that it is for.
 */
import { generate } from "../../lib/codegen/generate.ts";
import type { BufferId, BufferView, ExternOp, Kernel, Program } from "../../lib/loops/ir.ts";
import { givenKernels, runTogether } from "../../lib/loops/together.ts";
import { externOp, type ProgramFrame, programFrame, view } from "../../lib/loops/stored/program.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import { type Codec, list, number, orNull, record, text, union } from "../../lib/sym/stored/codec.ts";
import { dim } from "../../lib/sym/stored/dims.ts";
import { type MemoryKind, ModuleWriter } from "./binary.ts";
import { Functions } from "./functions.ts";
import { blockSegment } from "./block_segment.ts";
import { type Printing, type Segment, segmentOf } from "./segments.ts";
import { wasmTarget } from "./target.ts";

/** One step of a program. */
export type Step = StepKind & {
  /** The kernels of the given program that it is a part of, by their numbers. */
  readonly kernels: readonly number[];
};

type StepKind =
  | {
    readonly kind: "loops";
    /** The function of the module. */
    readonly name: string;
    /** The buffers whose addresses it is told, in order. */
    readonly buffers: readonly BufferId[];
    /** Iterations that may be divided; null where it runs as one. */
    readonly units: Dim | null;
    /** Iterations that stay together. */
    readonly grain: number;
    /** As LoopKernel has it. */
    readonly work: Dim;
    /** Bytes of memory that each thread needs for itself. */
    readonly scratch: Dim;
  }
  | {
    readonly kind: "extern";
    readonly call: ExternOp;
    readonly inputs: readonly BufferView[];
    readonly outputs: readonly BufferView[];
  };

/** A program as WebAssembly. */
export interface WasmForm {
  readonly frame: ProgramFrame;
  readonly steps: readonly Step[];
  /** The module of its loops, as base64. */
  readonly module: string;
}

/** What a module is written for. */
export interface Writing {
  /** Every size is below this. */
  readonly limit: number;
  readonly fuses: boolean;
  readonly memory: MemoryKind;
}

/** Writes a program down. */
export function writeForm(program: Program, { limit, fuses, memory }: Writing): WasmForm {
  const generated = generate(program, wasmTarget(limit));
  const writer = new ModuleWriter(memory), room = new Functions(writer, fuses);
  const groups = runTogether(generated.kernels), given = givenKernels(groups);
  const printing: Printing = { program: generated, room, limit }, known = new Map<string, string>();
  const job = ({ body, buffers, units, grain, work, scratch }: Segment): StepKind => {
    const text = body.finish().toBase64(), name = known.get(text) ?? `segment${known.size}`;
    if (!known.has(text)) {
      known.set(text, name);
      writer.export(writer.add(body), name);
    }
    return { kind: "loops", name, buffers, units: units ?? null, grain, work, scratch };
  };
  const kindOf = (kernel: Kernel, group: readonly Kernel[]): StepKind => {
    if (kernel.blocks) return job(blockSegment(group, kernel.blocks, printing));
    if (kernel.kind === "loops") return job(segmentOf(kernel, printing));
    const { call, inputs, outputs } = kernel;
    return { kind: "extern", call, inputs, outputs };
  };
  const steps = groups.flatMap((group, at): Step[] => {
    const [kernel] = group;
    return kernel ? [{ ...kindOf(kernel, group), kernels: given[at] ?? [] }] : [];
  });
  const { name, buffers, inputs, outputs, sizes, arenaBytes } = generated;
  const guard = generated.guard &&
    { ...generated.guard, after: runTogether(generated.kernels.slice(0, generated.guard.after)).length };
  return {
    frame: { name, buffers, inputs, outputs, sizes, arenaBytes, guard },
    steps,
    module: writer.finish().toBase64(),
  };
}

const kernels = list(number);

const step: Codec<Step> = union<Step>({
  loops: record({
    kernels,
    name: text,
    buffers: list(number),
    units: orNull(dim),
    grain: number,
    work: dim,
    scratch: dim,
  }),
  extern: record({ kernels, call: externOp, inputs: list(view), outputs: list(view) }),
});

/** Forms as data, over the symbols of the program's sizes. */
export const wasmForm: Codec<WasmForm> = record<WasmForm>({
  frame: programFrame,
  steps: list(step),
  module: text,
});

/** The bytes of a form's module. */
export const moduleOf = ({ module }: WasmForm): Uint8Array<ArrayBuffer> => Uint8Array.fromBase64(module);
