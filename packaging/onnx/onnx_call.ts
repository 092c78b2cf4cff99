/**
 * A call for which a rule writes nodes: arguments by name, in the kinds that rules request. Invariant: an argument
 * that no rule has read and that is not its default is an error, so that no option is lost.
 */
import type { DType } from "../../lib/base/dtype.ts";
import { DynError } from "../../lib/base/errors.ts";
import type { OpDefinition } from "../../lib/ops/definition.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import type { Attribute } from "./model.ts";
import { takes } from "./operators.ts";
import { isValue, type OnnxValue, type Values } from "./values.ts";

interface CallParts {
  readonly definition: OpDefinition;
  readonly args: Readonly<Record<string, unknown>>;
  readonly shape: readonly Dim[];
  readonly dtype: DType;
  readonly values: Values;
}

/** A call of an op: arguments by name, tensors as values of the model, and the result's shape and type. */
export class OnnxCall {
  readonly shape: readonly Dim[];
  readonly dtype: DType;
  readonly values: Values;
  readonly #definition: OpDefinition;
  readonly #args: Readonly<Record<string, unknown>>;
  readonly #seen = new Set<string>();

  constructor({ definition, args, shape, dtype, values }: CallParts) {
    this.shape = shape;
    this.dtype = dtype;
    this.values = values;
    this.#definition = definition;
    this.#args = args;
  }

  get target(): string {
    return this.#definition.name;
  }

  /** An argument; null if absent. */
  argument(name: string): unknown {
    this.#seen.add(name);
    return this.#args[name] ?? null;
  }

  tensor(name: string): OnnxValue {
    const found = this.argument(name);
    if (isValue(found)) return found;
    throw new DynError(`Expected a tensor as ${name} of ${this.target} but found ${typeof found}`);
  }

  /** An argument that must be a known number. */
  number(name: string): number {
    const found = this.argument(name);
    if (typeof found === "number") return found;
    throw new DynError(`Expected a known number as ${name} of ${this.target} but found ${typeof found}`);
  }

  numbers(name: string): readonly number[] {
    const found = this.argument(name), list: readonly unknown[] = Array.isArray(found) ? found : [found];
    return list.map((each) => {
      if (typeof each === "number") return each;
      throw new DynError(`Expected known numbers as ${name} of ${this.target} but found ${typeof each}`);
    });
  }

  /** The dimension that an argument refers to. */
  axis({ length: rank }: readonly Dim[], name = "dim"): number {
    const dim = this.number(name);
    return dim < 0 ? dim + rank : dim;
  }

  /** Marks arguments as seen that the result's shape and type already imply, or that only affect gradients. */
  settled(...names: readonly string[]): void {
    for (const name of names) this.#seen.add(name);
  }

  /** Adds a node over elements of a type. Throws DynError for a type that the operator does not support. */
  node(
    operator: string,
    dtype: DType,
    given: { readonly inputs: readonly string[]; readonly attributes?: Readonly<Record<string, Attribute>> },
  ): string {
    if (takes(operator, dtype)) return this.values.model.node(operator, given.inputs, given.attributes);
    throw new DynError(
      `Expected elements in ${this.target} that ONNX's ${operator} takes but found ${dtype}`,
    );
  }

  /** Throws DynError for arguments that no rule has read and that differ from their defaults. */
  checkSeen(): void {
    for (const [name, { default: usual }] of Object.entries(this.#definition.params)) {
      const given = this.#args[name];
      if (this.#seen.has(name) || given === undefined || given === usual) continue;
      throw new DynError(`Expected ${name} of ${this.target} as ONNX has it but found ${String(given)}`);
    }
  }
}

/** Writes nodes for a call and returns the name of the result. */
export type Rule = (call: OnnxCall) => string;
