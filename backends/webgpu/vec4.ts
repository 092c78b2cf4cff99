/**
 * Determines which buffers of a product are read and written by vectors of four, and declares the shader's variables.
 * Invariant: a vector is written as a whole by one invocation. Nests around a product become functions of one element
 * or of four.
 */
import { isNarrow } from "../../lib/base/dtype.ts";
import { vec4Grid } from "../../lib/codegen/vec4.ts";
import type {
  BufferId,
  BufferView,
  ConvGeometry,
  ExternKernel,
  ExternOp,
  Loop,
  LoopKernel,
  Program,
  Statement,
} from "../../lib/loops/ir.ts";
import { accessesOf } from "../../lib/loops/uses.ts";
import { flatIndex } from "../../lib/loops/record.ts";
import { add, type Dim, mul, product, sub, type Sym } from "../../lib/sym/expr.ts";
import { Bindings, type Placement } from "./print/bindings.ts";
import { registerType } from "./print/scalar.ts";
import type { ShaderWriter } from "./print/statements.ts";
import { phasesOf } from "../../lib/codegen/product_sizes.ts";
import { size } from "./phases.ts";

/** Returns whether a size is known to be a multiple of four. */
export const isOfFours = (size: Dim | undefined): boolean => typeof size === "number" && size % 4 === 0;

/**
 * The dimension of a matrix, the last or the one before, that is contiguous in whole vectors; undefined if there is
 * none.
 */
export function vectorDimension({ offset, shape, strides }: BufferView): number | undefined {
  const rank = strides.length, unit = [rank - 1, rank - 2].find((d) => strides[d] === 1);
  if (unit === undefined || ![shape[unit], offset, ...strides.toSpliced(unit, 1)].every(isOfFours)) {
    return undefined;
  }
  return unit;
}

/** A buffer, and whether a product would access it by vectors. */
export interface Touched {
  readonly buffer: BufferId;
  readonly byVectors: boolean;
}

/** The memory accesses of a product. */
interface FourSetting {
  readonly program: Program;
  readonly placement: Placement;
  readonly statements: readonly Statement[];
  readonly operands: readonly Touched[];
  readonly out: Touched;
  readonly epilogue: LoopKernel | undefined;
}

/** A nest around a call for four elements: its loops, the last of which is a quarter as long, and a loop over four. */
export type FourNest = NonNullable<ReturnType<typeof vec4Grid>>;

/** How a product accesses memory. */
export interface Fours {
  readonly bindings: Bindings;
  /** Whether results are written by vectors, and the epilogue in that case. */
  readonly stores: boolean;
  readonly epilogue: FourNest | undefined;
}

/** Chooses variables such that as much as possible is accessed by vectors. */
export function foursOf(setting: FourSetting): Fours {
  const { program, placement, statements, operands, out, epilogue } = setting;
  const plain = () => new Bindings(program, statements, { placement, lanes: 1 });
  if (!placement.aligned || ![...operands, out].some(({ byVectors }) => byVectors)) {
    return { bindings: plain(), stores: false, epilogue: undefined };
  }
  const singles = operands.flatMap(({ buffer, byVectors }) => byVectors ? [] : [buffer]);
  const nest = epilogue && vec4Grid(...nestOf(epilogue), program.buffers);
  const finish = nest ? [...accessesOf(nest.body)] : [];
  const with4 = (single: readonly BufferId[]) =>
    new Bindings(program, statements, { placement, lanes: 4, single: new Set(single) });
  if (out.byVectors && (nest || !epilogue)) {
    const bindings = with4(singles);
    const isWhole = (buffer: BufferId) =>
      bindings.inFours(buffer) || isNarrow(program.buffers[buffer]?.dtype ?? "bool");
    if (bindings.inFours(out.buffer) && finish.every(({ buffer }) => isWhole(buffer))) {
      return { bindings, stores: true, epilogue: nest };
    }
  }
  const stores = epilogue ? [...accessesOf(epilogue.body)].filter(({ kind }) => kind === "store") : [];
  const written = [out.buffer, ...stores.map(({ buffer }) => buffer)];
  return { bindings: with4([...singles, ...written]), stores: false, epilogue: undefined };
}

/** Writes a function of the counters of a nest that computes four elements; the last counter is divided by four. */
export function printFours(w: ShaderWriter, { loops, body: [four] }: FourNest, name: string): void {
  if (four?.kind === "loop") printLoop(w, { loops, four, name, passed: [] });
}

/** A nest whose reads of the four results before it are parameters of its function, after the counters. */
interface PassedNest {
  readonly loops: readonly Loop[];
  readonly four: Loop;
  readonly passed: readonly Load[];
  /** Whether it writes the results where they would be, so that they need not be. */
  readonly overwrites: boolean;
}

type Load = Extract<Statement, { readonly kind: "load" }>;

/** Returns a nest as a function of the results; undefined if it reads others than those of its own place. */
export function passedNest({ loops, body: [four] }: FourNest, out: BufferView): PassedNest | undefined {
  const quarter = loops.at(-1)?.axis.symbol;
  if (four?.kind !== "loop" || quarter === undefined) return undefined;
  const column = add(mul(quarter, 4), four.axis.symbol);
  const own = flatIndex(out, [...loops.slice(0, -1).map(({ axis }) => axis.symbol), column]);
  const accesses = [...accessesOf(four.body)].filter(({ buffer }) => buffer === out.buffer);
  if (!accesses.every(({ index }) => sub(index, own) === 0)) return undefined;
  const passed = four.body.filter((s): s is Load => s.kind === "load" && s.buffer === out.buffer);
  const overwrites = four.body.some((s) => s.kind === "store" && s.buffer === out.buffer && s.mode === "set");
  return passed.length < accesses.filter(({ kind }) => kind === "load").length
    ? undefined
    : { loops, four, passed, overwrites };
}

/** Writes the function of a nest to which results are passed. */
export function printPassed(w: ShaderWriter, { loops, four, passed }: PassedNest, name: string): void {
  printLoop(w, { loops, four, name, passed });
}

function printLoop(
  w: ShaderWriter,
  { loops, four, name, passed }: Omit<PassedNest, "overwrites"> & { readonly name: string },
): void {
  const counters = loops.map(({ axis }) => `${w.counter(axis.symbol)}: i32`);
  const results = passed.map(({ id, dtype }) => `${w.given(id, dtype)}: vec4<${registerType(dtype)}>`);
  w.line(`fn ${name}(${[...counters, ...results].join(", ")}) {`);
  const read: ReadonlySet<Statement> = new Set(passed);
  w.four({ ...four, body: four.body.filter((s) => !read.has(s)) }, passed.map(({ id }) => id));
  w.line("}");
}

function nestOf({ body }: LoopKernel): readonly [readonly Loop[], readonly Statement[]] {
  const loops: Loop[] = [];
  let leaf = body;
  for (let [loop] = leaf; loop?.kind === "loop"; [loop] = leaf) {
    loops.push(loop);
    leaf = loop.body;
  }
  return [loops, leaf];
}

/** The calls that are convolutions. */
export type ConvolutionOp = Extract<ExternOp, ConvGeometry>;

/** The parts of a convolution that may be accessed by vectors. */
interface Vectors {
  readonly operand: BufferView | undefined;
  readonly out: boolean;
}

/** Returns whether a float convolution has a filter with taps as matrices of input channels by output channels. */
export function liesByTaps({ inputs }: ExternKernel, { buffers }: Program): boolean {
  const [, filter] = inputs;
  if (!filter || !inputs.every(({ buffer }) => buffers[buffer]?.dtype === "float32")) return false;
  const [results = 1, , down = 1, across = 1] = filter.shape, line = mul(across, results);
  return [1, mul(down, line), line, results].every((stride, d) => filter.strides[d] === stride);
}

/** Returns the vectorisable parts of a patch convolution: a filter whose output channels are contiguous. */
export function vectorsOfPatch(
  { inputs: [, filter], outputs: [out] }: ExternKernel,
  program: Program,
): Vectors {
  const isOf = (view: BufferView | undefined, along: number): view is BufferView =>
    view !== undefined && program.buffers[view.buffer]?.dtype === "float32" && view.strides[along] === 1 &&
    [view.offset, view.shape[along], ...view.strides.toSpliced(along, 1)].every(isOfFours);
  return { operand: isOf(filter, 0) ? filter : undefined, out: isOf(out, 3) };
}

/** Returns the vectorisable parts of a convolution: an operand, and the result. */
export function vectorsOf(
  { inputs: [first, second], outputs: [out] }: ExternKernel,
  call: ConvolutionOp,
  program: Program,
): Vectors {
  const isOf = (view: BufferView | undefined, dimensions: readonly number[]): view is BufferView => {
    if (!view || program.buffers[view.buffer]?.dtype !== "float32") return false;
    const inner = product(dimensions.map((d) => size(view, d)));
    // The dimensions are adjacent, and the distances between the others are whole vectors
    const strides = dimensions.map((_, i) => product(dimensions.slice(i + 1).map((d) => size(view, d))));
    return isOfFours(inner) && isOfFours(view.offset) && view.strides.every((stride, d) => {
      const at = dimensions.indexOf(d);
      return at < 0 ? isOfFours(stride) : stride === strides[at] || size(view, d) === 1;
    });
  };
  const isOnePhase = product(phasesOf(call)) === 1;
  switch (call.op) {
    case "convForward":
      return { operand: isOf(second, [1, 2, 3]) ? second : undefined, out: isOf(out, [2, 3]) };
    case "convBackwardInput":
      return { operand: undefined, out: isOnePhase && isOf(out, [2, 3]) };
    case "convBackwardWeight":
      return { operand: isOf(first, [2, 3]) ? first : undefined, out: isOf(out, [1, 2, 3]) };
    default:
      return call satisfies never;
  }
}

/** The counters of a nest around a call, and its body for one element. */
export function elementOf(
  { body }: LoopKernel,
): { readonly axes: readonly Sym[]; readonly body: readonly Statement[] } {
  const [loop] = body;
  if (loop?.kind !== "loop") return { axes: [], body };
  const inner = elementOf({ kind: "loops", name: "", origins: [], body: loop.body });
  return { axes: [loop.axis.symbol, ...inner.axes], body: inner.body };
}

/** Writes a function of the counters of a nest; if it has a type, it returns what the nest stores. */
export function printElement(
  w: ShaderWriter,
  nest: LoopKernel,
  { name, type }: { readonly name: string; readonly type?: string },
): void {
  const { axes, body } = elementOf(nest);
  const parameters = axes.map((axis) => `${w.counter(axis)}: i32`).join(", ");
  w.line(`fn ${name}(${parameters})${type === undefined ? "" : ` -> ${type}`} {`);
  for (const s of body) {
    if (type !== undefined && s.kind === "store") w.line(`return ${w.plain(s.value)};`);
    else w.statements([s]);
  }
  w.line("}");
}
