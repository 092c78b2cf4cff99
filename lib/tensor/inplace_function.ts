/**
 * In-place methods as functions: `relu_(x)` is `x.relu_()`.
 */
import { named } from "../base/isolated_objects.ts";
import { checkTensor } from "./checked.ts";
import type { Tensor } from "./tensor.ts";

/** The arguments of a method, including one with overloads. */
export type ArgumentsOf<F> = F extends { (...first: infer A): unknown; (...second: infer B): unknown } ? A | B
  : F extends (...args: infer A) => unknown ? A
  : never;

/** A method as a function of the tensor that it writes into. */
export type InPlace<Name extends keyof Tensor> = (self: Tensor, ...args: ArgumentsOf<Tensor[Name]>) => Tensor;

/** Returns an in-place method as a function. The function throws DynError if it is not given a tensor. */
export function inPlace<Name extends keyof Tensor>(name: Name): InPlace<Name> {
  return named(String(name), (self, ...args) => {
    checkTensor(self, String(name));
    return Reflect.apply(self[name] as (...given: unknown[]) => Tensor, self, args);
  });
}
