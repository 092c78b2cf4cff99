/** The compiled form of a graph: the program, with the roles of its inputs and outputs. */
import type { Program } from "../loops/ir.ts";
import type { Dim } from "../sym/expr.ts";
import type { ProgramMetrics } from "../loops/metrics.ts";
import type { Storage } from "./tensors.ts";

/** A result of the compiled graph, in output order. */
export type CompiledOutput =
  /** A view of the memory of a program output or input, by position in the program's list. */
  | {
    readonly kind: "tensor";
    readonly of: "output" | "input";
    readonly index: number;
    readonly shape: readonly Dim[];
    readonly strides: readonly Dim[];
    /** In elements, from the start of that memory as it was passed in. */
    readonly offset: Dim;
    readonly dtype: Storage["dtype"];
    /** Whether the result is the complex tensor whose pairs these are. */
    readonly isPairs: boolean;
  }
  /** The placeholder itself, whose memory the program has changed. */
  | { readonly kind: "input"; readonly placeholder: number }
  | { readonly kind: "constant"; readonly value: number | bigint | boolean | string | null | undefined }
  | { readonly kind: "size"; readonly size: Dim };

/** A graph as a program. */
export interface CompiledGraph {
  readonly program: Program;
  /** The placeholder of each program input. */
  readonly inputs: readonly number[];
  /** Elements and type of each program output, to allocate. */
  readonly outputBuffers: readonly { readonly length: Dim; readonly dtype: Storage["dtype"] }[];
  readonly outputs: readonly CompiledOutput[];
  readonly metrics: ProgramMetrics;
}
