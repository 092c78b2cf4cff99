/**
 * Arithmetic on lanes: a function body, and the functions of its module that it may call. Invariant: `four` says
 * whether all four elements of a group are used; if they are not, or if all operands are equal in all lanes, only one
 * vector is computed. Elements of 32 bits take one vector, elements of 64 bits two, low pair first; a bool is a mask of
 * all ones or zeros.
 */
import { itemSize, type ValueType } from "../../lib/base/dtype.ts";
import type { ScalarOpName } from "../../lib/loops/scalar.ts";
import type { FunctionBody } from "./function_body.ts";

/** The locals of a value's vectors. */
export type Parts = readonly number[];

/** A value. */
export interface LaneValue {
  /** Type of its lanes; an int64 value that fits may be int32 here (types.ts). */
  readonly type: ValueType;
  readonly parts: Parts;
  /** Whether all lanes are equal. */
  readonly equal: boolean;
  /** For a bool that was computed by comparing 64-bit lanes: the same as masks of that width. */
  readonly masks?: Parts;
  /** For a bool from an ordered comparison of floats: what was compared. */
  readonly order?: { readonly op: "lt" | "gt"; readonly operands: readonly [LaneValue, LaneValue] };
  /** The value, if it is constant. */
  readonly constant?: number | bigint | boolean;
}

/** Returns whether elements of a type have 64-bit lanes. */
export function isWide(type: ValueType): type is "float64" | "int64" {
  return itemSize(type) === 8;
}

/** Returns the number of vectors that hold four elements. */
export const vectorsOf = (type: ValueType): number => isWide(type) ? 2 : 1;

/** The local of a vector of a value; the only one if there is just one. */
export function partOf({ parts }: LaneValue, part: number): number {
  return parts[part] ?? parts[0] ?? -1;
}

/** Returns whether two values are the same locals. */
export const isSame = (a: LaneValue, b: LaneValue): boolean =>
  a.parts.length === b.parts.length && a.parts.every((local, part) => local === b.parts[part]);

/** Returns whether all bits of a value are known to be 0. */
export const isZero = ({ constant, type }: LaneValue): boolean =>
  constant !== undefined && constantBits(constant, type).every((word) => word === 0);

const view = new DataView(new ArrayBuffer(8));

/** The bits of a constant in a lane: low word, high word. Narrow lanes have the same word in both places. */
export function constantBits(value: number | bigint | boolean, dtype: ValueType): readonly [number, number] {
  switch (dtype) {
    case "float32":
      view.setFloat32(0, Number(value), true);
      view.setFloat32(4, Number(value), true);
      break;
    case "float64":
      view.setFloat64(0, Number(value), true);
      break;
    case "int64":
      view.setBigInt64(0, BigInt.asIntN(64, BigInt(value)), true);
      break;
    case "int32":
      view.setInt32(0, Number(value), true);
      view.setInt32(4, Number(value), true);
      break;
    case "bool":
      view.setBigInt64(0, value ? -1n : 0n, true);
      break;
    default:
      dtype satisfies never;
  }
  return [view.getInt32(0, true), view.getInt32(4, true)];
}

/** Helper functions on vectors that are not mathematics. Those of "doubles" take a pair of vectors. */
export type HelperName =
  | "int64OfDoubles"
  | "int32OfDoubles"
  | "float32OfInt64"
  | "divideInt32"
  | "divideInt64";

/** The services that a module offers to its functions. */
export interface Room {
  /** Whether the engine has relaxed instructions, and rounds a·b + c once. */
  readonly fuses: boolean;
  /** The number of a helper. */
  helper(name: HelperName): number;
  /** The number of the function of an operation without instructions; on all four elements, or on one vector. */
  scalarFunction(op: ScalarOpName, dtype: ValueType, four: boolean): number;
}

/** Number of statements of functions that may be inlined into one body if their values have four lanes. */
const INLINE_BUDGET = 1500;

/** Writes values into a function body. */
export class Lanes {
  /** Number of statements of functions that may still be inlined here. */
  budget: number = INLINE_BUDGET;

  constructor(readonly body: FunctionBody, readonly room: Room) {}

  /** A value of a type whose vectors are what `push` leaves on the stack, given the index of each. */
  make(
    type: ValueType,
    options: { readonly four: boolean; readonly equal: boolean },
    push: (part: number) => void,
  ) {
    const { four, equal } = options;
    const parts = Array.from({ length: four && !equal ? vectorsOf(type) : 1 }, (_, part) => {
      push(part);
      const local = this.body.local("v128");
      this.body.set(local);
      return local;
    });
    return { type, parts, equal };
  }

  /** A value, each of whose vectors is computed from the corresponding vectors of the operands. */
  each(type: ValueType, operands: readonly LaneValue[], { four, then }: {
    readonly four: boolean;
    /** The operands' vectors are on the stack. */
    readonly then: () => void;
  }): LaneValue {
    return this.make(type, { four, equal: allEqual(operands) }, (part) => {
      for (const operand of operands) this.body.get(partOf(operand, part));
      then();
    });
  }

  /** A value with the same constant in all lanes. */
  constant(value: number | bigint | boolean, type: ValueType): LaneValue {
    return { type, parts: [this.body.constant(...constantBits(value, type))], equal: true, constant: value };
  }

  /** Pushes a constant. */
  pushConstant(value: number | bigint | boolean, type: ValueType): FunctionBody {
    return this.body.splatConstant(...constantBits(value, type));
  }

  /** A copy of a value in locals of its own, which may be assigned. */
  variable(type: ValueType, { four, equal }: { readonly four: boolean; readonly equal: boolean }): LaneValue {
    const parts = Array.from({ length: four ? vectorsOf(type) : 1 }, () => this.body.local("v128"));
    return { type, parts, equal };
  }

  /** variable = value */
  assign(variable: LaneValue, value: LaneValue): void {
    variable.parts.forEach((_, part) => this.body.get(partOf(value, part)));
    this.assignStack(variable.parts);
  }

  /** Sets locals from the stack. */
  assignStack(parts: Parts): void {
    for (const local of parts.toReversed()) this.body.set(local);
  }

  /** Pushes the mask for one vector of 64-bit lanes. */
  pushWideMask(mask: LaneValue, part: number): void {
    const { body } = this;
    if (mask.masks) body.get(mask.masks[part] ?? mask.masks[0] ?? -1);
    else {
      body.get(partOf(mask, 0));
      if (!mask.equal) body.simd(part === 0 ? "i64ExtendLowS" : "i64ExtendHighS");
    }
  }

  /** A bool from comparisons of 64-bit lanes. */
  fromWideMasks(masks: Parts, equal: boolean): LaneValue {
    const { body } = this;
    const [low = -1, high] = masks;
    if (high === undefined) return { type: "bool", parts: [low], equal, masks };
    body.get(low).get(high).words([0, 2, 4, 6]);
    const local = body.local("v128");
    body.set(local);
    return { type: "bool", parts: [local], equal, masks };
  }

  /** A comparison, whose instruction yields a mask of each lane's width. */
  compared(operands: readonly LaneValue[], { four, then }: {
    readonly four: boolean;
    readonly then: () => void;
  }): LaneValue {
    const [first] = operands;
    const made = this.each(first?.type ?? "int32", operands, { four, then });
    return isWide(made.type)
      ? this.fromWideMasks(made.parts, made.equal)
      : { type: "bool", parts: made.parts, equal: made.equal };
  }

  /** condition ? then : otherwise, both evaluated. */
  select(condition: LaneValue, [then, otherwise]: readonly [LaneValue, LaneValue], four: boolean): LaneValue {
    const { body } = this, { type } = then, equal = allEqual([condition, then, otherwise]);
    const wide = isWide(type), bound = boundOf(condition, then, otherwise);
    const relaxed = wide ? "i64LaneSelect" : "i32LaneSelect";
    const pushMask = (part: number) =>
      wide ? this.pushWideMask(condition, part) : void body.get(partOf(condition, 0));
    return this.make(type, { four, equal }, (part) => {
      const pushed = (value: LaneValue) => body.get(partOf(value, part));
      if (bound) {
        bound.operands.forEach(pushed);
        body.simd(bound.by);
      } else if (isZero(otherwise) || isZero(then)) {
        pushed(isZero(otherwise) ? then : otherwise);
        pushMask(part);
        body.simd(isZero(otherwise) ? "and" : "andNot");
      } else {
        pushed(then);
        pushed(otherwise);
        pushMask(part);
        // For masks of all ones or zeros the relaxed instruction is deterministic, and a single one on x64
        body.simd(this.room.fuses ? relaxed : "bitselect");
      }
    });
  }

  /** Calls a function of the module with all vectors of the operands; its results are the value's vectors. */
  call(index: number, operands: readonly LaneValue[], { type, four }: {
    readonly type: ValueType;
    readonly four: boolean;
  }): LaneValue {
    const { body } = this, equal = allEqual(operands), full = four && !equal;
    for (const operand of operands) {
      const count = full ? vectorsOf(operand.type) : 1;
      for (let part = 0; part < count; part++) body.get(partOf(operand, part));
    }
    body.call(index);
    const parts = Array.from({ length: full ? vectorsOf(type) : 1 }, () => body.local("v128"));
    this.assignStack(parts);
    // A function on one vector defines only its first element
    if (equal) {
      for (const local of parts) {
        body.get(local).get(local).words(isWide(type) ? [0, 1, 0, 1] : [0, 0, 0, 0]).set(local);
      }
    }
    return { type, parts, equal };
  }
}

/** An instruction on two values. */
interface Bound {
  readonly by: "f32PMin" | "f32PMax" | "f64PMin" | "f64PMax";
  readonly operands: readonly [LaneValue, LaneValue];
}

/** The instruction of a choice between the floats that its condition compares: pMax(a, b) is a < b ? b : a. */
function boundOf({ order }: LaneValue, then: LaneValue, otherwise: LaneValue): Bound | undefined {
  if (!order) return undefined;
  const { op, operands: [a, b] } = order, takesFirst = isSame(then, a) && isSame(otherwise, b);
  if (!takesFirst && !(isSame(then, b) && isSame(otherwise, a))) return undefined;
  const shape = isWide(a.type) ? "f64" : "f32", greater = (op === "lt") !== takesFirst;
  return { by: `${shape}${greater ? "PMax" : "PMin"}`, operands: [otherwise, then] };
}

/** Returns whether all values are equal in all lanes. */
export const allEqual = (values: readonly LaneValue[]): boolean => values.every((v) => v.equal);
