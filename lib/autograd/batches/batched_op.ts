/**
 * Wraps an op over a batch as one op, for compositions that are differentiated as a whole and whose parts have other
 * gradients, or expose intermediates that must stay hidden. Its composition and gradient are those of the op, each
 * over the batch. Invariant: used for eager tensors only.
 */
import { DynError } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { fitGradient } from "../node.ts";
import type { GradientContext, Gradients, OpDefinition, TensorLike } from "../../ops/definition.ts";
import type { OpApi } from "../../ops/generated.ts";
import type { ArgsOf, Params } from "../../ops/params.ts";
import { OpByOp } from "../../tensor/class_graph.ts";
import { callResolved, ops } from "../../tensor/eager.ts";
import { entryOf, mapTensors, type TensorArgs } from "../../tensor/plan.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";

/** Runs calls over a batch. */
export interface OverBatch {
  element(whole: Tensor): Tensor;
  whole(tensor: Tensor): Tensor | undefined;
  run<R>(body: () => R): R;
}

/** A batch, and which tensors have it: one boolean for each tensor of a call, in order. */
interface BatchPlaces {
  readonly size: number;
  readonly batched: readonly boolean[];
  /** Returns the runner of calls over a batch of this size. */
  readonly over: (size: number) => OverBatch;
}

const made = new WeakMap<OpDefinition, Map<string, OpDefinition>>();

/** The op over a batch. */
export function batchedOp(definition: OpDefinition, places: BatchPlaces): OpDefinition {
  const known = made.get(definition) ?? new Map<string, OpDefinition>();
  made.set(definition, known);
  const key = `${places.size} ${places.batched}`, found = known.get(key) ?? make(definition, places);
  known.set(key, found);
  return found;
}

function make(definition: OpDefinition, { size, batched, over }: BatchPlaces): OpDefinition {
  const { gradient } = definition;
  if (gradient.kind !== "rule") throw new DynError(`Expected a rule for the gradient of ${definition.name}`);
  const entry = entryOf(definition);
  /** Returns the arguments for one element of the batch. */
  const elementsOf = (args: TensorArgs, mode: OverBatch): TensorArgs => {
    let at = 0;
    return mapTensors(entry, args, (tensor) => batched[at++] ? mode.element(tensor) : tensor);
  };
  const wholeOf = (mode: OverBatch, tensor: Tensor): Tensor =>
    mode.whole(tensor) ?? ops.expand(ops.unsqueeze(tensor, 0), [size, ...tensor.shape]);
  const { results, resultsIf, resultList, auxiliary, params, name, doc } = definition;
  return {
    name,
    doc,
    params,
    ...(results ? { results } : {}),
    ...(resultsIf ? { resultsIf } : {}),
    ...(resultList ? { resultList } : {}),
    ...(auxiliary ? { auxiliary } : {}),
    infer(args) {
      let at = 0;
      const inferred = definition.infer(
        mapMetas(definition, args, (meta) => batched[at++] ? elementMeta(meta) : meta),
      );
      return [inferred].flat().map(({ shape, dtype, device }) =>
        contiguousMeta([size, ...shape], dtype, device)
      );
    },
    implementation: {
      kind: "composite",
      compose<T extends TensorLike>(o: OpApi<T>, args: ArgsOf<Params, T>): readonly T[] {
        const given = eagerArguments(o, args), mode = over(size);
        const found = mode.run(() => callResolved(definition, elementsOf(given, mode)));
        return asGiven<T>((isTensor(found) ? [found] : found).map((each) => wholeOf(mode, each)));
      },
    },
    gradient: {
      kind: "rule",
      saves: gradient.saves,
      rule<T extends TensorLike>(o: OpApi<T>, context: GradientContext<Params, T>): Gradients<Params, T> {
        const given = eagerArguments(o, context.args), mode = over(size);
        const element = (x: unknown): Tensor | null => isTensor(x) ? mode.element(x) : null;
        const args = elementsOf(given, mode);
        const found = mode.run(() =>
          gradient.rule(ops, {
            args,
            out: context.out.flatMap((x) => element(x) ?? []),
            grads: context.grads.map(element),
            needs: (param) => context.needs(param),
          })
        );
        const summed = (grad: unknown, of: unknown, from: unknown): Tensor | null => {
          if (!isTensor(grad) || !isTensor(of) || !isTensor(from)) return null;
          const whole = wholeOf(mode, mode.run(() => fitGradient(grad, of.layout, name)));
          // A tensor shared by the whole batch receives the sum of all gradients
          return from === of ? ops.sum(whole, 0) : whole;
        };
        const gathered: Record<string, unknown> = {};
        for (const param of Object.keys(params)) {
          const grad: unknown = found[param], of: unknown = args[param], from: unknown = given[param];
          gathered[param] = Array.isArray(of) && Array.isArray(from)
            ? of.map((each, k) => summed(Array.isArray(grad) ? grad[k] : null, each, from[k]))
            : summed(grad, of, from);
        }
        return asGradients<T>(gathered);
      },
    },
    samples: [],
  };
}

/** Returns eager arguments. Throws OpByOp for others: such an op is never compiled. */
function eagerArguments<T extends TensorLike>(o: OpApi<T>, args: ArgsOf<Params, T>): TensorArgs {
  if (!isEager(o, args)) throw new OpByOp();
  return args;
}

function isEager<T extends TensorLike>(o: OpApi<T>, args: object): args is TensorArgs {
  return Object.is(o, ops) &&
    Object.values(args).flat().every((each) => !isTensorLike(each) || isTensor(each));
}

function isTensorLike(value: unknown): value is TensorLike {
  return typeof value === "object" && value !== null && "dtype" in value;
}

/** Casts tensors to eager ones, which `eagerArguments` has checked. */
function asGiven<T extends TensorLike>(tensors: readonly unknown[]): readonly T[] {
  return tensors as readonly T[];
}

function asGradients<T extends TensorLike>(gradients: object): Gradients<Params, T> {
  return gradients as Gradients<Params, T>;
}

function elementMeta({ shape, dtype, device }: TensorMeta): TensorMeta {
  return contiguousMeta(shape.slice(1), dtype, device);
}

/** Arguments with other metadata for each tensor, in the order of parameters. */
function mapMetas(
  { params }: OpDefinition,
  args: ArgsOf<Params, TensorMeta>,
  change: (meta: TensorMeta) => TensorMeta,
): ArgsOf<Params, TensorMeta> {
  const mapped: Record<string, ArgsOf<Params, TensorMeta>[string]> = {};
  const isMeta = (value: unknown): value is TensorMeta => isTensorLike(value) && "strides" in value;
  for (const name of Object.keys(params)) {
    const value = args[name] ?? null;
    if (isMeta(value)) mapped[name] = change(value);
    else if (Array.isArray(value) && value.some(isMeta)) {
      mapped[name] = value.map((each) => isMeta(each) ? change(each) : null);
    } else mapped[name] = value;
  }
  return mapped;
}
