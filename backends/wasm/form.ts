/**
 * Programs as WebAssembly: what running one takes, as data that a later process reads as it is. Input: programs; output:
 * modules and forms. Invariant: a form says all that running its module takes besides the pool that it is for.
 */
import { generate } from "../../lib/codegen/generate.ts";
import type { BufferView, ExternOp, Program } from "../../lib/loops/ir.ts";
import { externOp, type ProgramFrame, programFrame, view } from "../../lib/loops/stored/program.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import { type Codec, list, number, orNull, record, text, union } from "../../lib/sym/stored/codec.ts";
import { dim } from "../../lib/sym/stored/dims.ts";
import { type MemoryKind, ModuleWriter } from "./binary.ts";
import { Functions } from "./functions.ts";
import { segmentOf } from "./segments.ts";
import { wasmTarget } from "./target.ts";

/** One step of a program. */
export type Step =
  | {
    readonly kind: "loops";
    /** The function of the module. */
    readonly name: string;
    /** Iterations that may be divided; null where it runs as one. */
    readonly units: Dim | null;
    /** Iterations that stay together. */
    readonly grain: number;
    /** As LoopKernel has it. */
    readonly work: Dim;
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
  const steps = generated.kernels.map((kernel): Step => {
    if (kernel.kind === "extern") {
      const { call, inputs, outputs } = kernel;
      return { kind: "extern", call, inputs, outputs };
    }
    const { body, units = null, grain, work } = segmentOf(kernel, { program: generated, room, limit });
    const index = writer.add(body), name = `segment${index}`;
    writer.export(index, name);
    return { kind: "loops", name, units, grain, work };
  });
  const { name, buffers, inputs, outputs, sizes, arenaBytes, guard } = generated;
  return {
    frame: { name, buffers, inputs, outputs, sizes, arenaBytes, guard },
    steps,
    module: writer.finish().toBase64(),
  };
}

const step: Codec<Step> = union<Step>({
  loops: record({ name: text, units: orNull(dim), grain: number, work: dim }),
  extern: record({ call: externOp, inputs: list(view), outputs: list(view) }),
});

/** Forms as data, over the symbols of the program's sizes. */
export const wasmForm: Codec<WasmForm> = record<WasmForm>({
  frame: programFrame,
  steps: list(step),
  module: text,
});

/** The bytes of a form's module. */
export const moduleOf = ({ module }: WasmForm): Uint8Array<ArrayBuffer> => Uint8Array.fromBase64(module);
