/**
 * Interprets loop programs: the oracle for every printer. Invariant: loops run in order, every load and store is
 * checked against its buffer's length, and (in "exact" precision) every float result is rounded to its element type
 * once.
 */
import {
  type DType,
  type HostArray,
  hostArray,
  itemSize,
  type ValueType,
  valueType,
} from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { type Dim, print, type Sym } from "../../lib/sym/expr.ts";
import type {
  Axis,
  BufferDecl,
  Fold,
  Kernel,
  Loop,
  LoopKernel,
  Program,
  Reduction,
  ReductionOp,
  Statement,
  ValueId,
} from "../../lib/loops/ir.ts";
import { placedTemporaries } from "../../lib/loops/memory.ts";
import { countersOf, kernelGroups } from "../../lib/loops/kernel_groups.ts";
import { expandRegions } from "../../lib/loops/regions.ts";
import { type Buffer, hostBuffer } from "./buffer.ts";
import { runExtern } from "./extern.ts";
import { castElement, type Element, type Precision, scalarFunction } from "./scalar.ts";

/** The arguments of one run: arrays in `Program.inputs` then `Program.outputs` order, and the sizes. */
export interface ReferenceCall {
  readonly inputs: readonly HostArray[];
  readonly outputs: readonly HostArray[];
  readonly sizes?: readonly number[];
  /** Default "exact". "wide" keeps temporaries and registers in float64; arrays round as they must. */
  readonly precision?: Precision;
}

/** Runs a program on host arrays. */
export function interpret(compact: Program, call: ReferenceCall): void {
  const program = expandRegions(compact);
  const precision = call.precision ?? "exact";
  const symbols = new Map<Sym, number>();
  program.sizes.forEach((s, i) => symbols.set(s, call.sizes?.[i] ?? missing(`a value for size ${print(s)}`)));
  const given = new Map<number, HostArray>();
  program.inputs.forEach((id, i) => given.set(id, call.inputs[i] ?? missing(`input ${i}`)));
  program.outputs.forEach((id, i) => given.set(id, call.outputs[i] ?? missing(`output ${i}`)));
  const arena = new ArrayBuffer(evaluateDim(program.arenaBytes, symbols)),
    placed = placedTemporaries(program);
  const buffers: Buffer[] = [];
  const bufferOf = (decl: BufferDecl, id: number): Buffer => {
    const length = evaluateDim(decl.length, symbols);
    if (decl.role.kind === "window") return windowOn(decl.role, buffers, decl.name);
    // A buffer without a place in the arena is local to its users
    const isLocal = decl.role.kind === "local" || (decl.role.kind === "temporary" && !placed.has(id));
    if (isLocal) return hostBuffer(unknown(decl, length), decl.dtype, decl.name);
    if (decl.role.kind !== "temporary") {
      const array = given.get(id) ?? missing(`memory of ${decl.name}`);
      if (array.length < length) {
        throw new InternalError(`Expected ${length} elements for ${decl.name} but found ${array.length}`);
      }
      return hostBuffer(array, decl.dtype, decl.name);
    }
    const offset = evaluateDim(decl.role.offset, symbols);
    if (offset % 64 !== 0) {
      throw new InternalError(`Expected an aligned offset for ${decl.name} but found ${offset}`);
    }
    if (offset + length * itemSize(decl.dtype) > arena.byteLength) {
      throw new InternalError(`Expected ${decl.name} inside the arena of ${arena.byteLength} bytes`);
    }
    return hostBuffer(hostArray(decl.dtype, arena, { byteOffset: offset, length }), decl.dtype, decl.name);
  };
  for (const [id, decl] of program.buffers.entries()) buffers.push(bufferOf(decl, id));
  const { guard } = program;
  let at = 0;
  for (const group of kernelGroups(program.kernels)) {
    if (guard?.after === at && buffers[guard.flag]?.get(0)) return;
    at += group.length;
    const [{ blocks } = {}] = group;
    for (const counters of placesIn(countersOf(blocks), symbols)) {
      const own = program.buffers.map((decl, id): Buffer => {
        const shared = buffers[id] ?? missing(`buffer b${id}`);
        if (decl.role.kind !== "local") return shared;
        return hostBuffer(unknown(decl, evaluateDim(decl.length, symbols)), decl.dtype, decl.name);
      });
      for (const kernel of group) runKernel(kernel, { buffers: own, symbols: counters, precision });
    }
  }
}

/** A buffer from an element on. */
function windowOn(
  { of, from }: { readonly of: number; readonly from: number },
  buffers: readonly Buffer[],
  name: string,
): Buffer {
  const shown = buffers[of] ?? missing(`buffer b${of}`);
  return {
    dtype: shown.dtype,
    length: shown.length - from,
    get: (index) => shown.get(index < 0 ? -1 : from + index),
    set() {
      throw new InternalError(`Expected no store to the window ${name}`);
    },
  };
}

/** Contents of unwritten buffers. */
function unknown({ dtype }: BufferDecl, length: number): HostArray {
  const bytes = new Uint8Array(length * itemSize(dtype)).fill(0xff);
  return hostArray(dtype, bytes.buffer, { byteOffset: 0, length });
}

/** The values of symbols in each iteration of loops over axes. */
function placesIn(axes: readonly Axis[], symbols: Map<Sym, number>): readonly Map<Sym, number>[] {
  return axes.reduce<readonly Map<Sym, number>[]>(
    (places, { symbol, size }) =>
      places.flatMap((place) =>
        Array.from({ length: evaluateDim(size, place) }, (_, at) => new Map(place).set(symbol, at))
      ),
    [symbols],
  );
}

function runKernel(kernel: Kernel, run: Run): void {
  if (kernel.kind === "loops") return runLoops(kernel, run);
  for (const { nest } of kernel.prologues ?? []) runLoops(nest, run);
  runExtern(kernel, run.buffers, (d) => evaluateDim(d, run.symbols));
  if (kernel.epilogue) runLoops(kernel.epilogue, run);
}

function missing(what: string): never {
  throw new InternalError(`Expected ${what} but found none`);
}

/** The value of an index expression. */
export function evaluateDim(d: Dim, symbols: ReadonlyMap<Sym, number>): number {
  if (typeof d === "number") return d;
  const at = (x: Dim) => evaluateDim(x, symbols);
  const { node } = d;
  switch (node.kind) {
    case "symbol":
      return symbols.get(d) ?? missing(`a value for ${node.name}`);
    case "sum":
      return node.terms.reduce((sum, t) => sum + t.coefficient * at(t.term), node.constant);
    case "product":
      return node.factors.reduce((p, f) => p * at(f), 1);
    case "floorDiv":
      return Math.floor(at(node.left) / at(node.right));
    case "mod": {
      const left = at(node.left), right = at(node.right);
      return left - right * Math.floor(left / right);
    }
    case "min":
      return Math.min(at(node.left), at(node.right));
    case "max":
      return Math.max(at(node.left), at(node.right));
    default:
      return node satisfies never;
  }
}

interface Run {
  readonly buffers: readonly Buffer[];
  readonly symbols: Map<Sym, number>;
  readonly precision: Precision;
}

type Step = () => void;

/** Turns a kernel into closures once and runs them. */
function runLoops(kernel: LoopKernel, run: Run): void {
  const values: Element[] = [];
  const dtypes = new Map<ValueId, ValueType>();
  const symbols = new Map(run.symbols);
  const valueSymbols = new Map<ValueId, Sym[]>();
  collectValueSymbols(kernel.body, (s, id) => valueSymbols.set(id, [...valueSymbols.get(id) ?? [], s]));
  const put = (id: ValueId, dtype: ValueType): (value: Element) => void => {
    dtypes.set(id, dtype);
    const indices = valueSymbols.get(id);
    if (!indices) return (value) => values[id] = value;
    return (value) => {
      values[id] = value;
      for (const s of indices) symbols.set(s, Number(value));
    };
  };
  const get = (id: ValueId): Element => values[id] ?? missing(`value v${id}`);
  const typeOf = (id: ValueId): ValueType => dtypes.get(id) ?? missing(`type of v${id}`);
  const buffer = (id: number): Buffer => run.buffers[id] ?? missing(`buffer b${id}`);

  const block = (body: readonly Statement[]): Step => {
    const steps = body.map(step);
    return () => {
      for (const each of steps) each();
    };
  };

  const step = (s: Statement): Step => {
    switch (s.kind) {
      case "loop":
        return loop(s);
      case "constant": {
        const set = put(s.id, s.dtype);
        return () => set(s.value);
      }
      case "index": {
        const set = put(s.id, s.dtype);
        return () => set(castElement(evaluateDim(s.index, symbols), s.dtype, run.precision));
      }
      case "scalar": {
        const compute = scalarFunction(s.op, typeOf(s.args[0] ?? -1), run.precision);
        const set = put(s.id, s.dtype);
        return () => set(compute(...s.args.map(get)));
      }
      case "cast": {
        const set = put(s.id, s.dtype);
        return () => set(castElement(get(s.value), s.dtype, run.precision));
      }
      case "select": {
        const set = put(s.id, s.dtype);
        return () => set(get(s.condition) ? get(s.then) : get(s.otherwise));
      }
      case "load": {
        const from = buffer(s.buffer), set = put(s.id, s.dtype);
        return () => set(from.get(evaluateDim(s.index, symbols)));
      }
      case "store": {
        const to = buffer(s.buffer);
        if (s.mode === "set") return () => to.set(evaluateDim(s.index, symbols), get(s.value));
        const add = scalarFunction(to.dtype === "bool" ? "or" : "add", valueType(to.dtype), run.precision);
        const [read, round] = conversions(to.dtype);
        return () => {
          const at = evaluateDim(s.index, symbols);
          to.set(at, round(add(read(to.get(at)), get(s.value))));
        };
      }
      case "masked": {
        const body = block(s.body), set = put(s.id, s.dtype);
        return () => {
          if (get(s.condition)) {
            body();
            set(get(s.value));
          } else set(get(s.otherwise));
        };
      }
      default:
        return s satisfies never;
    }
  };

  const loop = (s: Loop): Step => {
    const before = s.carried.map((c) => put(c.id, c.dtype));
    const body = block(s.body);
    const reductions = s.reductions.map((r) =>
      reducer(r, typeOf(r.value), { get, put, precision: run.precision })
    );
    const folds = (s.folds ?? []).map((f) => folder(f, { put, run, symbols }));
    return () => {
      const all = evaluateDim(s.axis.size, symbols), size = s.part ? 1 : all;
      if (s.part) symbols.set(s.part.end, all);
      s.carried.forEach((c, k) => before[k]?.(get(c.initial)));
      for (const r of [...reductions, ...folds]) r.start();
      for (let i = 0; i < size; i++) {
        symbols.set(s.axis.symbol, i);
        body();
        for (const r of [...reductions, ...folds]) r.next();
        const next = s.carried.map((c) => get(c.next));
        next.forEach((value, k) => before[k]?.(value));
      }
      for (const r of [...reductions, ...folds]) r.finish();
    };
  };

  block(kernel.body)();
}

interface Registers {
  readonly get: (id: ValueId) => Element;
  readonly put: (id: ValueId, dtype: ValueType) => (value: Element) => void;
  readonly precision: Precision;
}

interface Reducer {
  start(): void;
  next(): void;
  finish(): void;
}

/** The value with which a reduction over nothing is left. */
export function neutralElement(op: ReductionOp, dtype: ValueType): Element {
  const number = (x: number): Element => castElement(x, dtype, "exact");
  switch (op) {
    case "sum":
      return number(0);
    case "prod":
      return number(1);
    case "any":
      return false;
    case "all":
      return true;
    case "argmax":
    case "argmin":
      return 0n;
    case "max":
    case "min": {
      const most = op === "min";
      if (dtype === "bool") return most;
      if (dtype === "float32" || dtype === "float64") return most ? Infinity : -Infinity;
      if (dtype === "int64") return most ? 2n ** 63n - 1n : -(2n ** 63n);
      return most ? 2 ** 31 - 1 : -(2 ** 31);
    }
    default:
      return op satisfies never;
  }
}

function reducer(r: Reduction, from: ValueType, { get, put, precision }: Registers): Reducer {
  const set = put(r.id, r.dtype);
  if (r.op === "argmax" || r.op === "argmin") {
    const sign = r.op === "argmax" ? 1 : -1;
    let best: Element | undefined, at: Element = 0n;
    return {
      start: () => [best, at] = [undefined, 0n],
      next: () => {
        const value = get(r.value);
        const ahead = best === undefined || (Number.isNaN(value) && !Number.isNaN(best)) ||
          (sign > 0 ? value > best : value < best);
        if (ahead) [best, at] = [value, get(r.index ?? -1)];
      },
      finish: () => set(at),
    };
  }
  const names = { sum: "add", prod: "mul", max: "maximum", min: "minimum", any: "or", all: "and" } as const;
  // Sums of bools do not occur: contributions have the accumulator's type. Accumulators of floats are float64,
  // rounded once at the end
  const combine = scalarFunction(names[r.op], from, "wide");
  let total: Element = 0;
  return {
    start: () => total = neutralElement(r.op, r.dtype),
    next: () => total = combine(total, get(r.value)),
    finish: () => set(castElement(total, r.dtype, precision)),
  };
}

/** A reduction of the elements that each iteration leaves in memory. */
function folder(
  { id, op, dtype, values, positions, count }: Fold,
  { put, run, symbols }: {
    readonly put: Registers["put"];
    readonly run: Run;
    readonly symbols: ReadonlyMap<Sym, number>;
  },
): Reducer {
  const source = run.buffers[values.buffer] ?? missing(`buffer b${values.buffer}`);
  const places = positions && (run.buffers[positions.buffer] ?? missing(`buffer b${positions.buffer}`));
  const current: Element[] = [],
    r: Reduction = { id, op, dtype, value: 0, ...(positions ? { index: 1 } : {}) };
  const get = (at: ValueId): Element => current[at] ?? missing("an element");
  const each = reducer(r, valueType(source.dtype), { get, put, precision: run.precision });
  return {
    ...each,
    next() {
      for (let k = 0; k < evaluateDim(count, symbols); k++) {
        current[0] = source.get(evaluateDim(values.index, symbols) + k);
        if (places && positions) current[1] = places.get(evaluateDim(positions.index, symbols) + k);
        each.next();
      }
    },
  };
}

/** Returns conversions between the bits of a small float and its value; other types are stored as they are. */
function conversions(dtype: DType): readonly [read: (x: Element) => Element, round: (x: Element) => Element] {
  switch (dtype) {
    case "float16":
      return [
        scalarFunction("halfToFloat", "int32", "exact"),
        scalarFunction("floatToHalf", "float32", "exact"),
      ];
    case "bfloat16":
      return [
        scalarFunction("bfloatToFloat", "int32", "exact"),
        scalarFunction("floatToBfloat", "float32", "exact"),
      ];
    default:
      return [(x) => x, (x) => x];
  }
}

function collectValueSymbols(body: readonly Statement[], found: (s: Sym, id: ValueId) => void): void {
  const seen = new Set<Sym>();
  const visit = (d: Dim) => {
    if (typeof d === "number" || seen.has(d)) return;
    seen.add(d);
    const { node } = d;
    switch (node.kind) {
      case "symbol":
        if (node.role.kind === "value") found(d, node.role.id);
        return;
      case "sum":
        return node.terms.forEach((t) => visit(t.term));
      case "product":
        return node.factors.forEach(visit);
      case "floorDiv":
      case "mod":
      case "min":
      case "max":
        visit(node.left);
        return visit(node.right);
      default:
        node satisfies never;
    }
  };
  const walk = (statements: readonly Statement[]) => {
    for (const s of statements) {
      if (s.kind === "loop" || s.kind === "masked") walk(s.body);
      if (s.kind === "loop") visit(s.axis.size);
      if (s.kind === "index" || s.kind === "load" || s.kind === "store") visit(s.index);
    }
  };
  walk(body);
}
