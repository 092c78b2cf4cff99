/**
 * The ops as functions over traced tensors, so that code written in terms of ops over any kind of tensor can be
 * traced directly. Invariant: a call is traced like one of the program.
 */
import { DynError } from "../../base/errors.ts";
import { makeOpApi } from "../../ops/api.ts";
import type { OpApi } from "../../ops/generated.ts";
import { DataDependentSize } from "../../sym/decide.ts";
import { Sym } from "../../sym/expr.ts";
import { breakGraph } from "../break_reasons.ts";
import { numberOfDim } from "../variables/numbers.ts";
import { primitive, TensorValue, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { newArray } from "./contents.ts";
import { callOp } from "./tensor_ops.ts";

/** The ops, each tracing a call. */
export function tracedOps(m: Interpreter): OpApi<TensorValue> {
  const valueOf = (given: unknown): Value => {
    if (given instanceof TensorValue) return given;
    if (given instanceof Sym) return numberOfDim(m.output, given);
    return Array.isArray(given) ? newArray(m, given.map(valueOf)) : primitive(given);
  };
  return makeOpApi<TensorValue>((definition, given) => {
    const result = callOp(m, { definition, inplace: false }, given.map(valueOf), true);
    return result.kind === "tensor" ? result : breakGraph("tensorMethod", definition.name);
  });
}

/** Runs code whose rejections are handled as those of the program's own call. */
export function refusing<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof DynError) || error instanceof DataDependentSize) throw error;
    return breakGraph("throws", error.message);
  }
}
