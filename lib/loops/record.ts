/**
 * Records define-by-run loop bodies as loop IR. Invariant: equal computations in one scope are recorded once; a value
 * recorded inside a masked body is never used outside it.
 */
import {
  type DType,
  isFloat,
  isHalf,
  isSmall,
  type SmallType,
  type ValueType,
  valueType,
} from "../base/dtype.ts";
import { fromBfloat16, toBfloat16 } from "../base/bfloat16.ts";
import { InternalError } from "../base/errors.ts";
import { add, type Dim, mul, sub, type Sym, symbol } from "../sym/expr.ts";
import type { Body, Operand } from "./body.ts";
import type { BufferId, Statement, ValueId } from "./ir.ts";
import { resultType, SCALAR_OPS, type ScalarOpName, type ScalarOps } from "./scalar.ts";

/** A recorded value. */
export interface Value {
  readonly id: ValueId;
  readonly dtype: ValueType;
  /** For a constant: its value, as `normalizeConstant` returns it. */
  readonly constant?: number | bigint | boolean;
  /** A small type that can store the value exactly. */
  readonly fits?: SmallType;
}

/** An operand that is a strided view of a buffer. */
export interface BufferOperand extends Operand {
  readonly buffer: BufferId;
  readonly offset: Dim;
  readonly strides: readonly Dim[];
}

/** Records the load of an operand. */
export type Loader = (recorder: Recorder, operand: Operand, index: readonly Dim[]) => Value;

/** Allocates the value ids of one kernel. */
export class ValueIds {
  #next: ValueId;
  constructor(first: ValueId = 0) {
    this.#next = first;
  }
  next(): ValueId {
    return this.#next++;
  }
}

/** The one-method-per-operation part of the scalar vocabulary. */
type ScalarMethods = { readonly [K in ScalarOpName]: ScalarOps<Value>[K] };

interface Scope {
  readonly statements: Statement[];
  readonly known: Map<string, Value>;
}

/** A handler that records loop bodies. */
export interface Recorder extends ScalarMethods {}

export class Recorder implements Body<Value> {
  readonly #scopes: Scope[];
  readonly #indirect = new Map<string, Sym>();

  /** Records into `into` (default: a fresh list), with ids from `ids`. */
  constructor(readonly loader: Loader, readonly ids: ValueIds = new ValueIds(), into: Statement[] = []) {
    this.#scopes = [{ statements: into, known: new Map() }];
  }

  /** The statements of the outermost scope. */
  get statements(): Statement[] {
    return this.#scopes[0]?.statements ?? [];
  }

  /** Records a statement that defines a value, or returns the equal one that is in scope. */
  emit(key: string, dtype: ValueType, make: (id: ValueId) => Statement): Value {
    return this.memo(key, () => {
      const id = this.ids.next();
      const statement = make(id);
      this.push(statement);
      return statement.kind === "constant" ? { id, dtype, constant: statement.value } : { id, dtype };
    });
  }

  /** Returns the value memoised under a key in any enclosing scope, or records `make` now. */
  memo(key: string, make: () => Value): Value {
    const found = this.known(key);
    if (found) return found;
    const value = make();
    this.#scopes.at(-1)?.known.set(key, value);
    return value;
  }

  /** Returns the value memoised under a key, if one is in scope. */
  known(key: string): Value | undefined {
    for (let s = this.#scopes.length - 1; s >= 0; s--) {
      const found = this.#scopes[s]?.known.get(key);
      if (found) return found;
    }
    return undefined;
  }

  /** Returns whether the value of this element is already in scope. */
  knowsLoad(buffer: BufferId, index: Dim): boolean {
    return this.known(loadKey(buffer, index)) !== undefined;
  }

  /** Makes later reads of this element in this scope use the value (which was just stored there). */
  forward(buffer: BufferId, index: Dim, value: Value): void {
    this.#scopes.at(-1)?.known.set(loadKey(buffer, index), value);
  }

  /** Appends a statement to the innermost scope. */
  push(statement: Statement): void {
    this.#scopes.at(-1)?.statements.push(statement);
  }

  /** Runs `body` with a new innermost scope and returns what it recorded there. */
  nested<R>(body: () => R): { readonly statements: Statement[]; readonly result: R } {
    const statements: Statement[] = [];
    this.#scopes.push({ statements, known: new Map() });
    try {
      return { statements, result: body() };
    } finally {
      this.#scopes.pop();
    }
  }

  scalar(op: ScalarOpName, args: readonly Value[]): Value {
    const first = args[0];
    if (!first) throw new InternalError(`Expected operands of ${op} but found none`);
    for (const each of args) {
      if (each.dtype !== first.dtype) {
        throw new InternalError(
          `Expected operands of one type for ${op} but found ${args.map((a) => a.dtype)}`,
        );
      }
    }
    const dtype = resultType(op, first.dtype);
    const ids = args.map((a) => a.id);
    return this.emit(`${op} ${ids}`, dtype, (id) => ({ kind: "scalar", id, op, args: ids, dtype }));
  }

  constant(value: number | bigint | boolean, dtype: DType): Value {
    const type = valueType(dtype);
    const normal = normalizeConstant(value, isHalf(dtype) ? type : dtype);
    const text = Object.is(normal, -0) ? "-0" : String(normal);
    return this.emit(
      `= ${text} ${type}`,
      type,
      (id) => ({ kind: "constant", id, value: normal, dtype: type }),
    );
  }

  cast(value: Value, dtype: DType): Value {
    const type = valueType(dtype);
    const wide = value.dtype === type ? value : this.#convert(value, type);
    return isSmall(dtype) && !isHalf(dtype) ? this.#wrapped(wide, dtype) : wide;
  }

  narrow(value: Value, dtype: DType): Value {
    const wide = this.cast(value, dtype);
    if (!isHalf(dtype) || wide.fits === dtype) return wide;
    if (wide.constant !== undefined) return this.constant(normalizeConstant(wide.constant, dtype), dtype);
    return this.memo(
      `narrow ${wide.id} ${dtype}`,
      () => ({ ...this.#fromBits(this.#toBits(wide, dtype), dtype), fits: dtype }),
    );
  }

  #convert(value: Value, type: ValueType): Value {
    if (value.constant !== undefined) return this.constant(value.constant, type);
    return this.emit(`cast ${value.id} ${type}`, type, (id) => ({
      kind: "cast",
      id,
      value: value.id,
      dtype: type,
    }));
  }

  /** An int32 value modulo the range of a smaller integer. */
  #wrapped(value: Value, dtype: SmallType): Value {
    if (value.fits === dtype || (value.fits === "uint8" && dtype === "int16")) return value;
    if (value.fits === "int8" && dtype === "int16") return value;
    if (value.constant !== undefined) return this.constant(value.constant, dtype);
    return this.memo(`wrap ${value.id} ${dtype}`, () => {
      if (dtype === "uint8") return { ...this.and(value, this.constant(255, "int32")), fits: dtype };
      const by = this.constant(dtype === "int8" ? 24 : 16, "int32");
      return { ...this.shr(this.shl(value, by), by), fits: dtype };
    });
  }

  #fromBits(bits: Value, dtype: "float16" | "bfloat16"): Value {
    return dtype === "float16" ? this.halfToFloat(bits) : this.bfloatToFloat(bits);
  }

  #toBits(value: Value, dtype: "float16" | "bfloat16"): Value {
    return dtype === "float16" ? this.floatToHalf(value) : this.floatToBfloat(value);
  }

  select(condition: Value, then: Value, otherwise: Value): Value {
    if (condition.dtype !== "bool" || then.dtype !== otherwise.dtype) {
      throw new InternalError(
        `Expected (bool, T, T) for select but found ${condition.dtype}, ${then.dtype}, ${otherwise.dtype}`,
      );
    }
    if (then.id === otherwise.id) return then;
    const dtype = then.dtype;
    return this.emit(`select ${condition.id},${then.id},${otherwise.id}`, dtype, (id) => ({
      kind: "select",
      id,
      condition: condition.id,
      then: then.id,
      otherwise: otherwise.id,
      dtype,
    }));
  }

  dtypeOf(value: Value): ValueType {
    return value.dtype;
  }

  index(index: Dim, dtype: DType): Value {
    if (typeof index === "number") return this.constant(index, dtype);
    // Constants beyond the range of small integers and floats are truncated like any value
    const type = isSmall(dtype) ? "int64" : valueType(dtype);
    const value = this.emit(
      `index ${index.id} ${type}`,
      type,
      (id) => ({ kind: "index", id, index, dtype: type }),
    );
    return this.cast(value, dtype);
  }

  indirect(value: Value, size: Dim): Dim {
    if (isFloat(value.dtype)) {
      throw new InternalError(`Expected an integer as index but found ${value.dtype}`);
    }
    if (value.constant !== undefined) return Number(value.constant);
    const key = `${value.id} ${typeof size === "number" ? size : `#${size.id}`}`;
    const found = this.#indirect.get(key);
    if (found) return found;
    const last = sub(size, 1);
    const upper = typeof last === "number" ? last : last.upper;
    const made = symbol(`v${value.id}`, { kind: "value", id: value.id }, [0, Math.max(0, upper)]);
    this.#indirect.set(key, made);
    return made;
  }

  masked(condition: Value, body: () => Value, otherwise: Value): Value {
    if (condition.constant === true) return body();
    if (condition.constant === false) return otherwise;
    const { statements, result } = this.nested(body);
    if (condition.dtype !== "bool" || result.dtype !== otherwise.dtype) {
      throw new InternalError(
        `Expected (bool, T, T) for masked but found ${condition.dtype}, ${result.dtype}, ${otherwise.dtype}`,
      );
    }
    const id = this.ids.next(), dtype = result.dtype;
    this.push({
      kind: "masked",
      id,
      condition: condition.id,
      body: statements,
      value: result.id,
      otherwise: otherwise.id,
      dtype,
    });
    return { id, dtype };
  }

  load(operand: Operand, index: readonly Dim[]): Value {
    if (index.length !== operand.shape.length) {
      throw new InternalError(
        `Expected ${operand.shape.length} indices for a load but found ${index.length}`,
      );
    }
    return this.loader(this, operand, index);
  }

  /** Records a read of one buffer element, converting small types to the type of computations. */
  loadBuffer(buffer: BufferId, index: Dim, dtype: DType): Value {
    return this.memo(loadKey(buffer, index), () => {
      const id = this.ids.next(), type = loadType(dtype);
      this.push({ kind: "load", id, buffer, index, dtype: type });
      if (!isSmall(dtype)) return { id, dtype: type };
      if (!isHalf(dtype)) return { id, dtype: type, fits: dtype };
      return { ...this.#fromBits({ id, dtype: type }, dtype), fits: dtype };
    });
  }

  /** Records a write of one element of a buffer of type `dtype`. */
  store(
    { buffer, dtype }: { readonly buffer: BufferId; readonly dtype: DType },
    index: Dim,
    { value, mode = "set" }: { value: Value; mode?: "set" | "add" },
  ): void {
    const stored = mode === "set" && isHalf(dtype) ? this.#toBits(value, dtype) : value;
    this.push({ kind: "store", buffer, index, value: stored.id, mode });
  }
}

/** The type of a loaded value: small integers are int32, small floats their bits. */
export function loadType(dtype: DType): ValueType {
  return isSmall(dtype) ? "int32" : valueType(dtype);
}

function loadKey(buffer: BufferId, index: Dim): string {
  return `load ${buffer} ${typeof index === "number" ? index : `#${index.id}`}`;
}

for (const name of Object.keys(SCALAR_OPS)) {
  if (!isScalarOp(name)) continue;
  Object.defineProperty(Recorder.prototype, name, {
    value(this: Recorder, ...args: readonly Value[]): Value {
      return this.scalar(name, args);
    },
  });
}

function isScalarOp(name: string): name is ScalarOpName {
  return Object.hasOwn(SCALAR_OPS, name);
}

/** The loader for operands that are views of buffers. */
export const loadBufferOperand: Loader = (recorder, operand, index) => {
  if (!isBufferOperand(operand)) {
    throw new InternalError(
      `Expected an operand that is a view of a buffer but found shape ${operand.shape}`,
    );
  }
  return recorder.loadBuffer(operand.buffer, flatIndex(operand, index), operand.dtype);
};

export function isBufferOperand(operand: Operand): operand is BufferOperand {
  return "buffer" in operand && "strides" in operand;
}

/** offset + Σ index·stride. */
export function flatIndex(
  view: { readonly offset: Dim; readonly strides: readonly Dim[] },
  index: readonly Dim[],
): Dim {
  let at = view.offset;
  for (let d = 0; d < index.length; d++) at = add(at, mul(index[d] ?? 0, view.strides[d] ?? 0));
  return at;
}

/**
 * The canonical form of a constant in the IR: floats as (float32-rounded) numbers, int64 as bigint, other integers as
 * wrapped numbers, bool as boolean. Converts as a cast does.
 */
export function normalizeConstant(value: number | bigint | boolean, dtype: DType): number | bigint | boolean {
  switch (dtype) {
    case "float64":
      return Number(value);
    case "float32":
      return Math.fround(Number(value));
    case "int64":
      return BigInt.asIntN(64, typeof value === "number" ? BigInt(integral(value)) : BigInt(value));
    case "float16":
      return Math.f16round(Math.fround(Number(value)));
    case "bfloat16":
      return fromBfloat16(toBfloat16(Number(value)));
    case "int32":
      return Number(BigInt.asIntN(32, BigInt(typeof value === "number" ? integral(value) : value)));
    case "int16":
      return Number(BigInt.asIntN(16, BigInt(typeof value === "number" ? integral(value) : value)));
    case "int8":
      return Number(BigInt.asIntN(8, BigInt(typeof value === "number" ? integral(value) : value)));
    case "uint8":
      return Number(BigInt.asUintN(8, BigInt(typeof value === "number" ? integral(value) : value)));
    case "bool":
      return typeof value === "boolean" ? value : Number.isNaN(value) || value != 0;
    case "complex64":
    case "complex128":
      throw new InternalError(`Expected complex elements as pairs but found ${dtype}`);
    default:
      return dtype satisfies never;
  }
}

/** Truncation, with the value that x86 gives where none exists. */
function integral(value: number): number {
  return Number.isFinite(value) ? Math.trunc(value) : -(2 ** 63);
}
