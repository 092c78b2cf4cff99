/**
 * Rules for complex tensors: how an op is composed of ops on real tensors. Invariant: a rule is consulted only when a
 * tensor or a requested type is complex.
 */
import type { OpDefinition, TensorLike } from "../definition.ts";
import { InternalError } from "../../base/errors.ts";
import type { OpApi } from "../generated.ts";
import type { ArgsOf, Params } from "../params.ts";

/** An op's composition for complex arguments. */
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
