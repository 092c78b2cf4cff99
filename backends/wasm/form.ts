/**
 * WebAssembly programs as data: what is needed to run one, in a form that a later process can read. Invariant: apart
 * from its pool, a form contains all that running its module needs. The description of a call holds its sizes, then
 * addresses of buffers.
 */
import type { BufferId, BufferView, ExternOp, Program } from "../../lib/loops/ir.ts";
import { externOp, type ProgramFrame, programFrame, view } from "../../lib/loops/stored/program.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import { type Codec, list, number, orNull, record, text, union } from "../../lib/sym/stored/codec.ts";
import { dim } from "../../lib/sym/stored/dims.ts";

/** One step of a program. */
export type Step = StepKind & {
  /** The numbers of the original program's kernels of which it is a part. */
  readonly kernels: readonly number[];
};

/** The kind of a step. */
export type StepKind =
  | {
    readonly kind: "loops";
    /** The function of the module. */
    readonly name: string;
    /** The buffers whose addresses are passed to it, in order. */
    readonly buffers: readonly BufferId[];
    /** Number of iterations that may be divided; null if it runs as one. */
    readonly units: Dim | null;
    /** Iterations that stay together. */
    readonly grain: number;
    /** As in LoopKernel. */
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

/** Stores forms over the symbols of the program's sizes. */
export const wasmForm: Codec<WasmForm> = record<WasmForm>({
  frame: programFrame,
  steps: list(step),
  module: text,
});

/** The bytes of a form's module. */
export const moduleOf = ({ module }: WasmForm): Uint8Array<ArrayBuffer> => Uint8Array.fromBase64(module);

/** Returns the offset of the size of this number in a description: 64 bits each, from its start. */
export const sizeOffset = (size: number): number => 8 * size;

/** Returns the offset of the address of the function's buffer: one word each, after the sizes. */
export const addressOffset = ({ sizes }: Pick<Program, "sizes">, place: number): number =>
  sizeOffset(sizes.length) + 4 * place;
