/**
 * Codecs for the interface between the halves of a compiled graph: runtime plans and facts of the backward half.
 * Invariant: total over their types; values that exist in one process only (tensors that a graph holds, errors that a
 * pass must end in) are refused.
 */
import type { GraphSignature, MutatedInput } from "../graph/signature.ts";
import { constantArgument, dtype } from "../graph/stored/values.ts";
import type { Argument } from "../graph/node.ts";
import type { ViewStep } from "../autograd/functional.ts";
import { opNamed } from "../ops/table.ts";
import { Sym } from "../sym/expr.ts";
import {
  bits,
  type Codec,
  flag,
  list,
  number,
  oneOf,
  optional,
  orNull,
  primitiveOf,
  record,
  text,
  union,
} from "../sym/stored/codec.ts";
import { DamagedForm, NotStorable, recordIn, textIn } from "../sym/stored/forms.ts";
import { dim, symbol } from "../sym/stored/dims.ts";
import { tree } from "../sym/stored/tree.ts";
import type { Symbols } from "../sym/stored/symbols.ts";
import { type Layout, layoutOf } from "../tensor/layout.ts";
import type { CompiledBackward, SavedLayout } from "./compiled_pair.ts";
import type { Connections, Reading } from "./connections.ts";
import type { GradientOrigin, LostResult, Mutation, OutputPlan, RuntimePlan, TapeResult } from "./joint.ts";
import type { NumberTable } from "./late_numbers.ts";
import type { SavedValue } from "./partition.ts";

const viewArguments: Codec<ViewStep["args"]> = {
  write: (args, symbols) =>
    Object.fromEntries(Object.entries(args).map(([name, value]) => [name, constant.write(value, symbols)])),
  read: (form, symbols) =>
    Object.fromEntries(
      Object.entries(recordIn(form)).map((
        [name, value],
      ) => [name, argumentIn(constant.read(value, symbols))]),
    ),
};

/** Arguments of views besides the tensor are constants and sizes. */
function argumentIn(value: unknown): ViewStep["args"][string] {
  switch (typeof value) {
    case "number":
    case "bigint":
    case "boolean":
    case "string":
      return value;
    default:
      if (value === null || value instanceof Sym || Array.isArray(value)) return value;
      throw new DamagedForm(`Expected an argument of a view but found ${typeof value}`);
  }
}

/** Constants and sizes, and lists of them. */
const constant: Codec<unknown> = {
  write(value, symbols) {
    if (isConstant(value)) return constantArgument.write(value, symbols);
    throw new NotStorable(`a value of a program, ${typeof value}`);
  },
  read: (form, symbols) => constantArgument.read(form, symbols),
};

function isConstant(value: unknown): value is Argument {
  if (Array.isArray(value)) return value.every(isConstant);
  return value === null || value instanceof Sym ||
    (typeof value !== "object" && typeof value !== "function" && typeof value !== "symbol");
}

const viewStep: Codec<ViewStep> = {
  write({ definition, args, of, index, recorded }, symbols) {
    return {
      op: definition.name,
      // The base is inserted when the step is replayed
      args: viewArguments.write({ ...args, [of]: null }, symbols),
      of,
      ...index === undefined ? {} : { index },
      recorded,
    };
  },
  read(form, symbols) {
    const { op, args = null, of, index, recorded = null } = recordIn(form);
    return {
      definition: opNamed(textIn(op)),
      args: viewArguments.read(args, symbols),
      of: textIn(of),
      ...index === undefined ? {} : { index: number.read(index, symbols) },
      recorded: flag.read(recorded, symbols),
    };
  },
};

const steps = list(viewStep);

const outputPlan: Codec<OutputPlan> = union<OutputPlan>({
  constant: record({ value: optional(constant) }),
  size: record({ size: symbol }),
  input: record({ input: number }),
  inputView: record({ input: number, steps }),
  result: record({ output: number }),
  resultView: record({ output: number, steps }),
  leafView: record({ leaf: number, steps }),
  same: record({ leaf: number }),
});

/** Lists that are empty for every cached graph. */
function none<T>(what: string): Codec<readonly T[]> {
  return {
    write(values) {
      if (values.length > 0) throw new NotStorable(what);
      return [];
    },
    read: () => [],
  };
}

const numbers = list(number);

const connections: Codec<Connections> = record<Connections>({
  dependents: list(numbers),
  readings: list(record<Reading>({ from: bits, inputs: bits, results: bits })),
});

/** Stores runtime plans; tensors that graphs hold are cached separately, by name. */
export const runtimePlan: Codec<RuntimePlan> = record<RuntimePlan>({
  outputs: list(outputPlan),
  tree,
  mutations: list(record<Mutation>({ input: number, output: number, differentiable: flag })),
  differentiable: list(
    union<TapeResult>({ output: record({ output: number }), view: record({ leaf: number }) }),
  ),
  connections,
  lost: none<LostResult>("results from which no gradient can be taken"),
  overwritten: numbers,
  addressed: numbers,
  lifted: none<unknown>("tensors that the graph holds"),
  randomOps: number,
  inputCount: number,
  recordsAlways: flag,
});

/** Stores tables of numbers. */
export const numberTable: Codec<NumberTable> = record<NumberTable>({
  dtype,
  device: text,
  width: number,
  // Including those that JSON lacks
  values: list(primitiveOf("number")),
});

/** Stores signatures of functional graphs. */
export const graphSignature: Codec<GraphSignature> = record<GraphSignature>({
  role: oneOf("inference", "forward", "backward"),
  mutatedInputs: list(record<MutatedInput>({ input: number, output: number })),
  ownResults: number,
  failure: optional(number),
});

const layoutParts = record<Pick<Layout, "shape" | "strides" | "dtype" | "device">>({
  shape: numbers,
  strides: numbers,
  dtype,
  device: text,
});

const savedLayout: Codec<SavedLayout> = union<SavedLayout>({
  any: record({}),
  known: record({
    layout: {
      write: layoutParts.write,
      read: (form, symbols) => layoutOf(layoutParts.read(form, symbols)),
    },
  }),
  rowMajor: record({}),
  strides: record({ strides: list(dim) }),
});

/** The parts of a compiled backward that are not code. */
type BackwardFacts = Omit<CompiledBackward, "run" | "functional">;

const numberSet: Codec<ReadonlySet<number>> = {
  write: (values) => [...values],
  read: (form, symbols: Symbols) => new Set(numbers.read(form, symbols)),
};

/** Stores facts of backward halves. */
export const backwardFacts: Codec<BackwardFacts> = record<BackwardFacts>({
  saved: list(union<SavedValue>({ input: record({ input: number }), output: record({ output: number }) })),
  sizes: list(symbol),
  savedFrom: number,
  layouts: list(savedLayout),
  arrivals: list(text),
  fills: flag,
  reached: list(numbers),
  origins: list(orNull(
    union<GradientOrigin>({ tangent: record({ tangent: number }), output: record({ output: number }) }),
  )),
  merged: numberSet,
});
