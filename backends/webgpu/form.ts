/**
 * WGSL programs as data: what is needed to run one, in a form that another process can read. Invariant: apart from a
 * device with the guaranteed limits, a form contains all that running its shaders needs.
 */
import type { BufferId } from "../../lib/loops/ir.ts";
import { type ProgramFrame, programFrame } from "../../lib/loops/stored/program.ts";
import { type Codec, flag, list, number, record, text, union } from "../../lib/sym/stored/codec.ts";
import { dim } from "../../lib/sym/stored/dims.ts";
import type { BoundMemory } from "./print/bindings.ts";
import type { Shader, WorkgroupCount } from "./print/entry.ts";
import type { ParameterWord } from "./print/parameters.ts";

/** A program as WGSL. */
export interface WebGpuForm {
  readonly frame: ProgramFrame;
  /** One for each kernel, in order. */
  readonly shaders: readonly Shader[];
  /** Inputs that are copied next to each other into one memory. */
  readonly packed: readonly BufferId[];
}

const whole = record<{ readonly written: boolean }>({ written: flag });
const handed = record<{ readonly position: number; readonly written: boolean }>({
  position: number,
  written: flag,
});

const shader: Codec<Shader> = record<Shader>({
  name: text,
  code: text,
  memories: list(union<BoundMemory>({ input: handed, output: handed, arena: whole, pack: whole })),
  words: list(
    union<ParameterWord>({
      size: record({ at: number }),
      offset: record({ buffer: number }),
      number: record({ value: dim }),
    }),
  ),
  workgroups: record<WorkgroupCount>({ items: dim, each: number }),
});

/** Stores forms over the symbols of the program's sizes. */
export const webGpuForm: Codec<WebGpuForm> = record<WebGpuForm>({
  frame: programFrame,
  shaders: list(shader),
  packed: list(number),
});
