/** Programs as data for running their native code, which can be stored. */
import type { Dim, Sym } from "../../lib/sym/expr.ts";
import {
  type Codec,
  list,
  number,
  oneOf,
  optional,
  orNull,
  record,
  text,
} from "../../lib/sym/stored/codec.ts";
import { dim, symbol } from "../../lib/sym/stored/dims.ts";
import type { Source } from "./object_cache.ts";
import type { KeptOperand } from "./print/kept_operands.ts";
import { type Routine, ROUTINES } from "./runtime_library.ts";

/** The data for running a program, besides its libraries. */
export interface NativeForm {
  /** Number of kernels of the original program. */
  readonly kernelCount: number;
  /** Number of input memories. */
  readonly inputs: number;
  readonly outputs: number;
  readonly sizes: readonly Sym[];
  readonly arenaBytes: Dim;
  /** The output that flags a failed call; null: none. */
  readonly flag: number | null;
  readonly keeps: readonly KeptOperand[];
  readonly routines: readonly Routine[];
  /** For each of its calls, the numbers of the kernels that it runs. */
  readonly calls: readonly (readonly number[])[];
  /** Its own translation units, the one with its entry first. */
  readonly units: readonly Source[];
}

/** Stores forms over the symbols of the program's sizes. */
export const nativeForm: Codec<NativeForm> = record<NativeForm>({
  kernelCount: number,
  inputs: number,
  outputs: number,
  sizes: list(symbol),
  arenaBytes: dim,
  flag: orNull(number),
  keeps: list(record<KeptOperand>({ input: number, form: text })),
  routines: list(oneOf(...ROUTINES)),
  calls: list(list(number)),
  units: list(record<Source>({ name: text, text, options: optional(list(text)) })),
});
