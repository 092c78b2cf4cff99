/**
 * Ops that compute with small floats in float32: a definition becomes one whose composition and gradient receive
 * float32 instead of float16 and bfloat16 and round their results once. Invariant: types of results are those of the
 * definition; calls without such a tensor are unchanged.
 */
import { isHalf } from "../base/dtype.ts";
import { contiguousMeta, type TensorMeta } from "../graph/meta.ts";
import {
  composeOp,
  type Composition,
  defineOp,
  type GradientContext,
  type Gradients,
  hostOp,
  type HostSource,
  type Lowering,
  lowerOp,
  type OpDefinition,
  type OpSource,
} from "./definition.ts";
import type { OpApi } from "./generated.ts";
import type { ArgsOf, Params } from "./params.ts";
import { isTensorLike, type TensorLike } from "./tensor_like.ts";

/** Defines an op whose composition has several steps that would each round. */
export function defineWideOp<const P extends Params>(written: OpSource<P>): OpDefinition<P> {
  const definition = defineOp<P>(written), { implementation, gradient, infer } = definition;
  return {
    ...definition,
    implementation: implementation.kind === "composite"
      ? {
        kind: "composite",
        compose<T extends TensorLike>(o: OpApi<T>, args: ArgsOf<P, T>): T | readonly T[] {
          if (!hasHalves(args)) return implementation.compose(o, args);
          const metas = infer(mapTensors<P, T, TensorMeta>(args, metaOf));
          const result = implementation.compose(o, mapTensors<P, T, T>(args, (x) => widened(o, x)));
          const types = isList(metas) ? metas : [metas];
          const rounded = (x: T, k: number): T => {
            const dtype = types[k]?.dtype ?? x.dtype;
            return x.dtype === dtype ? x : o.to(x, dtype);
          };
          return isList(result) ? result.map(rounded) : rounded(result, 0);
        },
      }
      : implementation,
    gradient: gradient.kind === "rule"
      ? {
        ...gradient,
        rule<T extends TensorLike>(o: OpApi<T>, context: GradientContext<P, T>): Gradients<P, T> {
          const { args, out, grads } = context;
          if (!hasHalves(args) && !out.some((x) => isHalf(x.dtype))) return gradient.rule(o, context);
          // Values that are not saved have no elements to convert
          const saved = (x: T, name: string) => gradient.saves.includes(name) ? widened(o, x) : x;
          const found = gradient.rule(o, {
            args: mapTensors<P, T, T>(args, saved),
            out: out.map((x) => saved(x, "out")),
            grads: grads.map((x) => x && widened(o, x)),
            needs: (param) => context.needs(param),
          });
          return roundedLike(o, found, args);
        },
      }
      : gradient,
  };
}

/** Defines an op by its composition of several steps that would each round. */
export function composeWideOp<const P extends Params>(composition: Composition<P>): OpDefinition<P> {
  return defineWideOp<P>(composeOp<P>(composition));
}

/** Defines an op by its elements, whose gradient has several steps that would each round. */
export function lowerWideOp<const P extends Params>(lowering: Lowering<P>): OpDefinition<P> {
  return defineWideOp<P>(lowerOp<P>(lowering));
}

/** Defines an op that the host computes, whose gradient has several steps that would each round. */
export function hostWideOp<const P extends Params>(source: HostSource<P>): OpDefinition<P> {
  return defineWideOp<P>(hostOp<P>(source));
}

const isList = <T>(value: T | readonly T[]): value is readonly T[] => Array.isArray(value);

const metaOf = ({ shape, dtype, device }: TensorLike): TensorMeta => contiguousMeta(shape, dtype, device);

function hasHalves(args: object): boolean {
  return Object.values(args).flat().some((value) => isTensorLike<TensorLike>(value) && isHalf(value.dtype));
}

function widened<T extends TensorLike>(o: OpApi<T>, x: T): T {
  return isHalf(x.dtype) ? o.to(x, "float32") : x;
}

/** The arguments with each tensor replaced, including those in lists. */
export function mapTensors<P extends Params, T extends TensorLike, U>(
  args: ArgsOf<P, T>,
  change: (tensor: T, name: string) => U,
): ArgsOf<P, U> {
  const changed = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => changed(each, name));
    return isTensorLike<T>(value) ? change(value, name) : value;
  };
  const entries: readonly (readonly unknown[])[] = Object.entries(args).map((
    [k, value],
  ) => [k, changed(value, k)]);
  return Object.fromEntries(entries);
}

/** Gradients converted to the types of their tensors. */
function roundedLike<P extends Params, T extends TensorLike>(
  o: OpApi<T>,
  found: Gradients<P, T>,
  args: ArgsOf<P, T>,
): Gradients<P, T> {
  const rounded = (grad: unknown, of: unknown): unknown => {
    if (Array.isArray(grad)) return grad.map((each, i) => rounded(each, Array.isArray(of) ? of[i] : null));
    if (!isTensorLike<T>(grad) || !isTensorLike<T>(of) || grad.dtype === of.dtype) return grad;
    return o.to(grad, of.dtype);
  };
  const of: Readonly<Record<string, unknown>> = args;
  const entries: readonly (readonly unknown[])[] = Object.entries(found)
    .map(([name, grad]) => [name, rounded(grad, of[name])]);
  return Object.fromEntries(entries);
}
