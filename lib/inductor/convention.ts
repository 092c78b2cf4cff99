/**
 * The calling convention of a compiled graph: the arguments of its program, the sources of sizes, and the results, as
 * plain data that a later process can read. Invariant: a call needs nothing besides this, the device's program and the
 * graph itself.
 */
import { InternalError } from "../base/errors.ts";
import type { Graph } from "../graph/node.ts";
import { type SizeBinding, sizeBindings } from "../graph/sizes.ts";
import { dtype } from "../graph/stored/values.ts";
import {
  type Codec,
  flag,
  list,
  number,
  oneOf,
  optional,
  orNull,
  record,
  text,
  union,
} from "../sym/stored/codec.ts";
import type { KernelCost } from "../loops/metrics.ts";
import { DamagedForm, NotStorable } from "../sym/stored/forms.ts";
import { dim, part, symbol } from "../sym/stored/dims.ts";
import type { CompiledGraph, CompiledOutput } from "./compiled_graph.ts";
import type { InputRange } from "./index_checks.ts";

/** The calling convention of a graph. */
export interface Convention {
  /** Arguments of a call. */
  readonly arguments: number;
  /** Sources of the program's sizes, in order. */
  readonly sizes: readonly SizeBinding[];
  /** For each input of the program: the argument that it is bound to. */
  readonly inputs: readonly number[];
  /** Arguments into whose memory the program writes. */
  readonly written: readonly number[];
  /** Elements and type of each program output, to allocate. */
  readonly outputBuffers: CompiledGraph["outputBuffers"];
  readonly outputs: readonly CompiledOutput[];
  /** Whether the last result is the flag of a failed check. */
  readonly guarded: boolean;
  /** Ranges of inputs' elements within which no index check fails; null: inputs alone do not decide. */
  readonly ranges: readonly InputRange[] | null;
  /** Kernels, with their costs over the sizes above, and how many of them are library calls. */
  readonly kernels: readonly KernelCost[];
  readonly externCalls: number;
}

/** The convention of a compiled graph. */
export function conventionOf(
  graph: Graph,
  compiled: CompiledGraph,
  ranges: readonly InputRange[] | null,
): Convention {
  const { program, inputs, outputBuffers, outputs, metrics } = compiled;
  const offered = new Map(sizeBindings(graph).map((binding) => [binding.symbol, binding]));
  return {
    arguments: graph.placeholders.length,
    sizes: program.sizes.map((symbol) => {
      const binding = offered.get(symbol);
      if (!binding) {
        throw new InternalError(`Expected an input that determines the size ${symbol} but found none`);
      }
      return binding;
    }),
    inputs,
    written: program.inputs.flatMap((id, i) => {
      const role = program.buffers[id]?.role;
      return role?.kind === "input" && role.written ? [inputs[i] ?? -1] : [];
    }),
    outputBuffers,
    outputs,
    guarded: program.guard !== undefined,
    ranges,
    kernels: metrics.costs,
    externCalls: metrics.externCalls,
  };
}

type Constant = Exclude<Extract<CompiledOutput, { readonly kind: "constant" }>["value"], undefined>;

const constant: Codec<Constant> = {
  write(value) {
    if (value === null || typeof value === "boolean" || typeof value === "string") return value;
    if (typeof value === "number" && Number.isFinite(value) && !Object.is(value, -0)) return value;
    throw new NotStorable(`a result that is the constant ${value}`);
  },
  read(form) {
    if (form === null || typeof form !== "object") return form;
    throw new DamagedForm("Expected a constant but found an object");
  },
};

const output: Codec<CompiledOutput> = union<CompiledOutput>({
  tensor: record({
    of: oneOf("output", "input"),
    index: number,
    shape: list(dim),
    strides: list(dim),
    offset: dim,
    dtype,
    isPairs: flag,
  }),
  input: record({ placeholder: number }),
  constant: record({ value: optional(constant) }),
  size: record({ size: dim }),
});

/** Stores conventions for later processes. */
export const convention: Codec<Convention> = record<Convention>({
  arguments: number,
  sizes: list(record<SizeBinding>({ symbol, input: number, part })),
  inputs: list(number),
  written: list(number),
  outputBuffers: list(record({ length: dim, dtype })),
  outputs: list(output),
  guarded: flag,
  ranges: orNull(list(record<InputRange>({ input: number, low: dim, high: dim, isWhole: flag }))),
  kernels: list(record<KernelCost>({ name: text, bytesRead: dim, bytesWritten: dim, operations: dim })),
  externCalls: number,
});
