/**
 * Serialises loop programs, for devices that compile them again in each process. Invariant: total over the loop IR;
 * the user's lines of a kernel are left out, because they may have moved by then.
 */
import type { Plain } from "../../base/recording.ts";
import { DTYPES, type ValueType } from "../../base/dtype.ts";
import {
  type Codec,
  flag,
  late,
  list,
  number,
  oneOf,
  type Optional,
  optional,
  pair,
  primitiveOf,
  record,
  text,
  textThat,
  union,
} from "../../sym/stored/codec.ts";
import { dim, symbol } from "../../sym/stored/dims.ts";
import { DamagedForm, NotStorable, numberIn, recordIn } from "../../sym/stored/forms.ts";
import type { Symbols } from "../../sym/stored/symbols.ts";
import type {
  Axis,
  BufferDecl,
  BufferRole,
  BufferView,
  Carried,
  ConvGeometry,
  ExternKernel,
  ExternOp,
  Kernel,
  LoopKernel,
  Program,
  ProgramGuard,
  Prologue,
  Reduction,
  ReductionOp,
  RegionOp,
  Statement,
  Team,
} from "../ir.ts";
import { SCALAR_OPS, type ScalarOpName } from "../scalar.ts";

const dtype = oneOf(...DTYPES);
const valueType: Codec<ValueType> = oneOf("float32", "float64", "int64", "int32", "bool");
const team: Codec<Team> = oneOf("one", "all");

const isScalarOp = (name: string): name is ScalarOpName => Object.hasOwn(SCALAR_OPS, name);

const reductionOp: Codec<ReductionOp> = oneOf("sum", "prod", "max", "min", "any", "all", "argmax", "argmin");

/** Fields of loops that only passes of a device set, to which stored programs have yet to go. */
const ofPasses = <T>(): Optional<T> =>
  optional<T, Symbols>({
    write() {
      throw new NotStorable("a loop that passes of a device have changed");
    },
    read() {
      throw new DamagedForm("Expected a loop before the passes of a device but found one after them");
    },
  });

/** Statements contain statements. */
const body: Codec<readonly Statement[]> = late(() => list(statement));

const statement: Codec<Statement> = union<Statement>({
  loop: record({
    axis: record<Axis>({ symbol, size: dim }),
    order: oneOf("parallel", "reduction", "sequential"),
    vector: flag,
    share: optional(oneOf("grid", "team")),
    part: ofPasses(),
    scalar: ofPasses(),
    streams: ofPasses(),
    folds: ofPasses(),
    body,
    reductions: list(
      record<Reduction>({
        id: number,
        op: reductionOp,
        value: number,
        index: optional(number),
        dtype: valueType,
      }),
    ),
    carried: list(record<Carried>({ id: number, initial: number, next: number, dtype: valueType })),
  }),
  constant: record({ id: number, value: primitiveOf("number", "bigint", "boolean"), dtype: valueType }),
  index: record({ id: number, index: dim, dtype: valueType }),
  scalar: record({ id: number, op: textThat(isScalarOp), args: list(number), dtype: valueType }),
  cast: record({ id: number, value: number, dtype: valueType }),
  select: record({ id: number, condition: number, then: number, otherwise: number, dtype: valueType }),
  load: record({ id: number, buffer: number, index: dim, dtype: valueType }),
  store: record({ buffer: number, index: dim, value: number, mode: oneOf("set", "add") }),
  masked: record({ id: number, condition: number, body, value: number, otherwise: number, dtype: valueType }),
});

const noLines: Codec<readonly string[]> = { write: () => [], read: () => [] };

/** Programs are stored as passed to devices, which divide and count them themselves. */
type Fields<T extends { readonly kind: string }> = Omit<
  T,
  | "kind"
  | "points"
  | "blocks"
  | "table"
  | "rows"
  | "originals"
  | "weights"
  | "computed"
  | "causal"
  | "transformed"
>;

const loops: Codec<Fields<LoopKernel>> = record<Fields<LoopKernel>>(
  {
    name: text,
    body,
    team: optional(team),
    work: optional(dim),
    workgroup: optional(number),
    origins: noLines,
  },
);

/** Loops inside a call. */
const nest: Codec<LoopKernel> = {
  write: loops.write,
  read: (form, symbols) => ({ kind: "loops", ...loops.read(form, symbols) }),
};

const geometry = record<ConvGeometry>({
  stride: pair(number),
  padding: pair(number),
  dilation: pair(number),
  groups: number,
  fast: optional(flag),
});

/** The regions of the program that is written or read, whose later calls refer to them by their numbers. */
const regions = new WeakMap<Symbols, Program[]>();

const region: Codec<Pick<RegionOp, "program" | "rows">> = {
  write({ program, rows }, symbols): Plain {
    const known = regions.get(symbols) ?? [], at = known.indexOf(program);
    const runs: Readonly<Record<string, Plain>> = rows === undefined ? {} : { rows };
    if (at >= 0) return { at, ...runs };
    const form = wholeProgram.write(program, symbols);
    known.push(program);
    return { program: form, ...runs };
  },
  read(form, symbols) {
    const { at, program: first, rows } = recordIn(form), known = regions.get(symbols) ?? [];
    const program = first === undefined ? known[numberIn(at)] : wholeProgram.read(first, symbols);
    if (!program) throw new DamagedForm(`Expected a region but found ${at}`);
    if (first !== undefined) known.push(program);
    return { program, ...(rows === undefined ? {} : { rows: numberIn(rows) }) };
  },
};

/** Library calls. */
export const externOp: Codec<ExternOp> = union<ExternOp, "op">({
  matmul: record({ accumulate: flag }),
  convForward: geometry,
  convBackwardInput: geometry,
  convBackwardWeight: geometry,
  sort: record({ descending: flag }),
  region,
}, "op");

/** Operands of library calls. */
export const view: Codec<BufferView> = record<BufferView>({
  buffer: number,
  offset: dim,
  shape: list(dim),
  strides: list(dim),
});

const kernel: Codec<Kernel> = union<Kernel>({
  loops,
  extern: record<Fields<ExternKernel>>({
    name: text,
    call: externOp,
    inputs: list(view),
    outputs: list(view),
    epilogue: optional(nest),
    prologues: optional(list(record<Prologue>({ input: number, transposed: flag, nest }))),
    parts: optional(number),
    team: optional(team),
    origins: noLines,
  }),
});

/** A program without its kernels. */
export type ProgramFrame = Omit<Program, "kernels">;

const frame = {
  name: text,
  buffers: list(record<BufferDecl>({
    name: text,
    dtype,
    length: dim,
    role: union<BufferRole>({
      input: record({ written: flag }),
      output: record({ partly: optional(flag) }),
      temporary: record({ offset: dim }),
      window: record({ of: number, from: number }),
      local: record({}),
    }),
  })),
  inputs: list(number),
  outputs: list(number),
  sizes: list(symbol),
  arenaBytes: dim,
  guard: optional(record<ProgramGuard>({ flag: number, after: number })),
} as const;

/** The same between processes. */
export const programFrame: Codec<ProgramFrame> = record<ProgramFrame>(frame);

const wholeProgram: Codec<Program> = record<Program>({ ...frame, kernels: list(kernel) });

/** Programs between processes. */
export const loopProgram: Codec<Program> = {
  write(program, symbols) {
    regions.set(symbols, []);
    return wholeProgram.write(program, symbols);
  },
  read(form, symbols) {
    regions.set(symbols, []);
    return wholeProgram.read(form, symbols);
  },
};
