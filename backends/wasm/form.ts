/**
 * Programs as WebAssembly: what running one takes, as data that a later process reads as it is. Input: programs; output:
 * modules and forms. Invariant: a form says all that running its module takes besides the pool that it is for.
 */
import { generate } from "../../lib/codegen/generate.ts";
import { dtype } from "../../lib/graph/stored/values.ts";
import type { BufferDecl, BufferRole, BufferView, ExternOp, Program } from "../../lib/loops/ir.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import { type Codec, flag, list, number, orNull, record, text, union } from "../../lib/sym/stored/codec.ts";
import { dim, symbol } from "../../lib/sym/stored/dims.ts";
import { DamagedForm, listIn, numberIn, recordIn, textIn } from "../../lib/sym/stored/forms.ts";
import { type MemoryKind, ModuleWriter } from "./binary.ts";
import { Functions } from "./functions.ts";
import { segmentOf } from "./segments.ts";
import { wasmTarget } from "./target.ts";

/** The operands of a program. */
export type Frame = Pick<
  Program,
  "name" | "buffers" | "inputs" | "outputs" | "sizes" | "arenaBytes" | "guard"
>;

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
  readonly frame: Frame;
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

const role: Codec<BufferRole> = union<BufferRole>({
  input: record({ written: flag }),
  output: record({ partly: flag }, ["partly"]),
  temporary: record({ offset: dim }),
});

const buffer: Codec<BufferDecl> = record<BufferDecl>({ name: text, dtype, length: dim, role });

const view: Codec<BufferView> = record<BufferView>({
  buffer: number,
  offset: dim,
  shape: list(dim),
  strides: list(dim),
});

const pair: Codec<readonly [number, number]> = {
  write: (value) => [...value],
  read(form) {
    const [first, second] = listIn(form);
    return [numberIn(first), numberIn(second)];
  },
};

const geometry = record({ stride: pair, padding: pair, dilation: pair, groups: number });

const call: Codec<ExternOp> = {
  write(value, symbols) {
    switch (value.op) {
      case "matmul":
        return { op: value.op, accumulate: value.accumulate };
      case "sort":
        return { op: value.op, descending: value.descending };
      case "convForward":
      case "convBackwardInput":
      case "convBackwardWeight":
        return { op: value.op, geometry: geometry.write(value, symbols) };
      default:
        return value satisfies never;
    }
  },
  read(form, symbols) {
    const given = recordIn(form), op = textIn(given.op);
    switch (op) {
      case "matmul":
        return { op, accumulate: flag.read(given.accumulate ?? null, symbols) };
      case "sort":
        return { op, descending: flag.read(given.descending ?? null, symbols) };
      case "convForward":
      case "convBackwardInput":
      case "convBackwardWeight":
        return { op, ...geometry.read(given.geometry ?? null, symbols) };
      default:
        throw new DamagedForm(`Expected a library call but found ${op}`);
    }
  },
};

const step: Codec<Step> = union<Step>({
  loops: record({ name: text, units: orNull(dim), grain: number, work: dim }),
  extern: record({ call, inputs: list(view), outputs: list(view) }),
});

const frame: Codec<Frame> = record<Frame>({
  name: text,
  buffers: list(buffer),
  inputs: list(number),
  outputs: list(number),
  sizes: list(symbol),
  arenaBytes: dim,
  guard: record({ flag: number, after: number }),
}, ["guard"]);

/** Forms as data, over the symbols of the program's sizes. */
export const wasmForm: Codec<WasmForm> = record<WasmForm>({ frame, steps: list(step), module: text });

/** The bytes of a form's module. */
export const moduleOf = ({ module }: WasmForm): Uint8Array<ArrayBuffer> => Uint8Array.fromBase64(module);
