/**
 * Primitives of the traced program: those that are the same in all calls of a version, and strings that are only passed
 * on. Invariant: code that depends on a string reads its `value`, which adds a guard.
 */
import { invariant } from "../../base/errors.ts";
import type { HostExpression } from "./host_number.ts";
import type { Primitive } from "./primitive.ts";

export type { Primitive };

/** A primitive that is the same in every call that the guards admit. */
export class ConstantValue {
  readonly kind = "constant";
  readonly #value: Primitive;

  constructor(value: Primitive) {
    this.#value = value;
  }

  /** Its typeof, which is known without reading the value. */
  get type(): string {
    return typeof this.#value;
  }

  /** Whether it is null or undefined, which strings are not. */
  get isNullish(): boolean {
    return this.#value === null || this.#value === undefined;
  }

  get value(): Primitive {
    return this.#value;
  }
}

/** A builtin method of a string with known arguments, or of a number. */
interface TextCall {
  readonly kind: "method";
  readonly method: object;
  readonly self: HostText;
  readonly args: readonly ConstantValue[];
}

/** A piece of a string. */
export type TextPart = string | HostExpression | TextCall;

/** The value at a place, or parts to concatenate. */
export type HostText = HostExpression | readonly TextPart[];

/** The pieces of a string. */
export function partsOf(text: HostText): readonly TextPart[] {
  return "kind" in text ? [text] : text;
}

/** A primitive that programs usually only pass on, or by which they only select numbers. */
export type Passed = string | symbol | boolean | bigint;

/**
 * A string, symbol, truth value or bigint that differs between calls, or one computed from such values and numbers: only its
 * type is known as long as its value is not read. Reading it makes it a constant of this version.
 */
export class PassedValue extends ConstantValue {
  #isSettled = false;

  constructor(
    value: Passed,
    readonly text: HostText,
    /** Adds the guards of its value, or breaks the graph if many versions are already specialised. */
    readonly settle: (mayEnd: boolean) => void,
    /** The numbers that it compares, in the traced call; null for other values. */
    readonly compared: readonly number[] | null = null,
  ) {
    super(value);
  }

  override get type(): "string" | "symbol" | "boolean" | "bigint" {
    const type = typeof this.hint;
    return type === "symbol" || type === "boolean" || type === "bigint" ? type : "string";
  }

  override get value(): Primitive {
    return this.look(true);
  }

  /** Reads its value, which is a constant from now on; `mayEnd`: the graph may break here instead. */
  look(mayEnd: boolean): Primitive {
    if (!this.#isSettled) this.settle(mayEnd);
    this.#isSettled = true;
    return super.value;
  }

  /** The value in the traced call, for the hints of derived values. */
  get hint(): Primitive {
    return super.value;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }
}

/** A truth value that each call computes before the graph. */
export type Decision = PassedValue & { readonly text: HostExpression };

/** Returns whether a value is one that is still open. */
export function isDecision(value: unknown): value is Decision {
  return isPassed(value) && value.type === "boolean" && "kind" in value.text;
}

/** Returns whether a value is a primitive that may differ in other calls of this version. */
export function isPassed(value: unknown): value is PassedValue {
  return value instanceof PassedValue && !value.isSettled;
}

export const UNDEFINED: ConstantValue = new ConstantValue(undefined);

/** Returns whether a value is known to be undefined. */
export function isUndefined(value: object): boolean {
  return value instanceof ConstantValue && value.value === undefined;
}

export const NULL: ConstantValue = new ConstantValue(null);
export const TRUE: ConstantValue = new ConstantValue(true);
export const FALSE: ConstantValue = new ConstantValue(false);

/** A constant. */
export function constant(value: Primitive): ConstantValue {
  switch (value) {
    case undefined:
      return UNDEFINED;
    case null:
      return NULL;
    case true:
      return TRUE;
    case false:
      return FALSE;
    default:
      return new ConstantValue(value);
  }
}

/** Returns whether a value is not an object. */
export function isPrimitive(value: unknown): value is Primitive {
  return value === null || (typeof value !== "object" && typeof value !== "function");
}

/** A constant that is known not to be an object. */
export function primitive(value: unknown): ConstantValue {
  invariant(isPrimitive(value), "Expected a value that is not an object");
  return constant(value);
}

/** The "not yet initialised" marker of variables. */
export class UninitializedValue {
  readonly kind = "uninitialized";
}

export const UNINITIALIZED: UninitializedValue = new UninitializedValue();
