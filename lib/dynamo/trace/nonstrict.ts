/**
 * Traces functions that run instead of being inlined, on tensors that have no elements: the ops that they call become
 * part of the graph. Invariant: a function that throws, reads elements or returns something that a graph cannot return
 * has no effect: the trace restarts and calls it as plain JavaScript.
 */
import { messageOf } from "../../base/errors.ts";
import { asProgram } from "../../base/own_builtins.ts";
import { nameResults } from "../../ops/api.ts";
import { GraphValue, mapArguments } from "../../ops/graph_builder.ts";
import { specialize } from "../../sym/decide.ts";
import {
  ambient,
  type DispatchMode,
  inferenceMode,
  type ResolvedCall,
  setGradEnabled,
} from "../../tensor/modes.ts";
import { isTensor, modes, Tensor } from "../../tensor/tensor.ts";
import { BreakSignal } from "../break_reasons.ts";
import { isPrimitive, primitive, TensorValue, type Value } from "../variables/value.ts";
import { functionLabel } from "../variables/labels.ts";
import { findProperty } from "./objects.ts";
import { allElements, newArray } from "./contents.ts";
import { enumerableKeys } from "./object_keys.ts";
import type { Interpreter } from "./interpreter.ts";
import { modesOf } from "./region_modes.ts";
import { callResolved } from "./tensor_ops.ts";

/** Thrown for an argument or result that a graph cannot have. */
class Unfit extends Error {}

/** Appends every call to the graph of a trace and returns tensors without elements. */
class NonstrictMode implements DispatchMode<Tensor> {
  readonly #values = new Map<Tensor, TensorValue>();
  /** The first failure, which the function may have caught. */
  failure: unknown = null;

  constructor(private readonly m: Interpreter) {}

  /** A stand-in for a traced tensor. */
  standIn(value: TensorValue): Tensor {
    for (const [known, each] of this.#values) if (each === value) return known;
    const { shape, strides, ...meta } = value.meta;
    const sizes = (dims: typeof shape) => dims.map((d) => specialize(d));
    const made = Tensor.elementless({ ...meta, shape: sizes(shape), strides: sizes(strides), offset: 0 });
    made.requiresGrad_(value.requiresGrad);
    this.#values.set(made, value);
    return made;
  }

  /** The traced tensor of a stand-in; a tensor from outside is a constant of the function. */
  valueOf(tensor: Tensor): TensorValue {
    const known = this.#values.get(tensor);
    if (known) return known;
    const { filled } = tensor.storage;
    const found = filled ? this.m.wrapper.known(tensor, "tensor") : null;
    if (found?.kind !== "tensor") throw new Unfit("a tensor of another trace");
    return found;
  }

  call({ definition, args, inplace }: ResolvedCall<Tensor>): Tensor | readonly Tensor[] {
    const { m } = this, former = modesOf(m), { gradEnabled, inference } = ambient;
    Object.assign(m, { gradEnabled, inference });
    try {
      if (inplace && definition.inplace === "layout") {
        throw new Unfit(`a layout that ${definition.name}_ changes`);
      }
      const given = mapArguments(args, (tensor) => {
        const value = this.valueOf(tensor);
        return new GraphValue(m.output.nodeOf(value), value.meta);
      });
      const result = callResolved(m, { definition, inplace }, given);
      if (result.kind === "tensor") return this.standIn(result);
      if (result.kind !== "object") throw new Unfit(`a result of ${definition.name}`);
      const tensors = allElements(m, result).map((each) =>
        each.kind === "tensor" ? this.standIn(each) : raise(new Unfit(`a result of ${definition.name}`))
      );
      return nameResults(definition, tensors);
    } catch (error) {
      this.failure ??= error;
      throw error;
    } finally {
      Object.assign(m, former);
    }
  }

  /** A traced value in the form that the function accepts. */
  given(value: Value): unknown {
    switch (value.kind) {
      case "constant":
        return value.value;
      case "tensor":
        return this.standIn(value);
      case "object": {
        const { m } = this;
        if (value.exotic.kind === "array") return allElements(m, value).map((each) => this.given(each));
        if (
          value.exotic.kind !== "plain" ||
          (value.real && Object.getPrototypeOf(value.real) !== Object.prototype)
        ) {
          return value.real ?? raise(new Unfit("an object of a class as an argument"));
        }
        return Object.fromEntries(
          enumerableKeys(m, value).map((key) => {
            const found = findProperty(m, value, key);
            return found.kind === "value"
              ? [key, this.given(found.value)]
              : raise(new Unfit(`the accessor ${key}`));
          }),
        );
      }
      default:
        throw new Unfit("a number that is not known as an argument");
    }
  }

  /** Returns the function's result as a traced value. */
  result(value: unknown): Value {
    if (isTensor(value)) return this.valueOf(value);
    if (isPrimitive(value)) return primitive(value);
    if (Array.isArray(value)) return newArray(this.m, value.map((each) => this.result(each)));
    if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
      return this.m.options(
        Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.result(each)])),
      );
    }
    throw new Unfit(`a result that is neither tensors nor plain values`);
  }
}

function raise(error: Error): never {
  throw error;
}

/** Runs a function instead of inlining it. */
export function callNonstrict(m: Interpreter, fn: object, args: readonly Value[]): Value {
  const step = m.steps - 1, mode = new NonstrictMode(m);
  try {
    const given = args.map((value) => mode.given(value));
    const run = () =>
      setGradEnabled(m.gradEnabled, () => asProgram(() => Reflect.apply(callable(fn), undefined, given)));
    const result: unknown = modes.with(mode, m.inference ? () => inferenceMode(run) : run);
    if (mode.failure !== null) throw mode.failure;
    return mode.result(result);
  } catch (error) {
    const cause = mode.failure ?? error;
    const detail = cause instanceof BreakSignal ? cause.reason.detail : messageOf(cause);
    return m.restartAt(step, { kind: "nonstrict", detail: `${functionLabel(fn)}: ${detail}` });
  }
}

function callable(fn: object): (...args: unknown[]) => unknown {
  if (typeof fn !== "function") throw new Unfit("a value that is not a function");
  return (...args) => fn(...args);
}
