/**
 * What is said of an op for complex tensors. Input: an op's definition and how it is composed of ops on real tensors;
 * output: a rule. Invariant: a rule is asked only where a tensor is complex, or a complex type is asked for.
 */
import type { OpDefinition, TensorLike } from "../definition.ts";
import { InternalError } from "../../base/errors.ts";
import type { OpApi } from "../generated.ts";
import type { ArgsOf, Params } from "../params.ts";

/** How an op is composed where complex numbers are about. */
export interface ComplexRule<P extends Params = Params> {
  readonly name: string;
  compose<T extends TensorLike>(o: OpApi<T>, args: ArgsOf<P, T>): T | readonly T[];
}

/** A rule for one op. */
export function rule<const P extends Params>(
  definition: OpDefinition<P>,
  compose: ComplexRule<P>["compose"],
): ComplexRule<P> {
  return { name: definition.name, compose };
}

/** Calls an op by its name with resolved arguments. */
export function callNamed<T extends TensorLike>(
  o: OpApi<T>,
  name: string,
  args: ArgsOf<Params, T>,
): T | readonly T[] {
  const call: unknown = Reflect.get(o, name);
  if (typeof call !== "function") throw new InternalError(`Expected an op but found ${name}`);
  return call(args);
}
