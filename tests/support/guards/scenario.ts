/** Functions and calls of which the last differs from the others in what guards compare. */
import { type Tensor, tensor } from "../../../mod.ts";

/** Compiles a function. */
export type Wrap = <A extends readonly unknown[]>(fn: Program<A>) => Program<A>;
/** A function of a tensor and other values. */
export type Program<A extends readonly unknown[]> = (x: Tensor, ...rest: A) => unknown;
/** Makes a world of its own, and calls in it; the last one is judged. */
export type Scenario = (wrap: Wrap) => readonly (() => unknown)[];

/** A tensor to compute with. */
export const x = (): Tensor => tensor([1, 2], { dtype: "float32" });
/** One that requires grad. */
export const leaf = (): Tensor => tensor([1, 2], { dtype: "float32", requiresGrad: true });

/** Two ways to compute, so that a wrong branch is seen. */
export const choose = (x: Tensor, first: boolean): Tensor => first ? x.add(1) : x.mul(3);

/** The same call for each argument. */
export const each = <T>(f: Program<[T]>, ...values: readonly T[]): (() => unknown)[] =>
  values.map((value) => () => f(x(), value));

/** Returns whether a write is refused. */
export function refused(write: () => void): boolean {
  try {
    write();
    return false;
  } catch {
    return true;
  }
}
