/**
 * Infers the results of calls of ops before they are made: metadata of the results for planned arguments, or nothing
 * if the call would fail. Invariant: nothing runs; results that depend on elements are marked as unknown.
 */
import { DynError } from "../../../lib/base/errors.ts";
import { CATEGORY_RANK, categoryOf } from "../../../lib/base/dtype.ts";
import type { TensorMeta } from "../../../lib/graph/meta.ts";
import { makeOpApi, nameResults } from "../../../lib/ops/api.ts";
import { formOf } from "../../../lib/ops/complex/form.ts";
import { parseCall } from "../../../lib/ops/call.ts";
import type { ElementRange, OpDefinition } from "../../../lib/ops/definition.ts";
import type { OpApi } from "../../../lib/ops/generated.ts";
import { tensorArguments } from "../../../lib/ops/graph_builder.ts";
import type { ArgsOf, Params } from "../../../lib/ops/params.ts";
import type { DataSpec, KnownMeta, Variable } from "./draft.ts";
import { knownMeta } from "./draft.ts";
import type { Form } from "./forms.ts";

/** A planned tensor argument: a variable, or new data. */
export interface PlannedTensor {
  readonly kind: "tensor";
  readonly meta: KnownMeta;
  readonly from: Variable | DataSpec;
  /** Whether the data is used with its dimensions in reverse order. */
  readonly transposed: boolean;
  /** Range of the elements, according to the op's sample. */
  readonly range?: readonly [number, number];
}

/** An argument before the statements that it needs are added. */
export type Planned =
  | number
  | boolean
  | string
  | null
  | readonly Planned[]
  | PlannedTensor
  /** A numeric variable of the program, with its assumed value. */
  | { readonly kind: "number"; readonly name: string; readonly value: number }
  | { readonly kind: "options"; readonly entries: Readonly<Record<string, Planned>> };

export function isPlannedList(planned: Planned): planned is readonly Planned[] {
  return Array.isArray(planned);
}

/** The known metadata of a call's results. */
export interface Inferred {
  /** null: sizes depend on elements. */
  readonly results: readonly (KnownMeta | null)[] | null;
  /** Whether they come as an array. */
  readonly several: boolean;
  /** Ranges of index elements, by the metadata object of their tensor. */
  readonly ranges: readonly ElementRange[];
  /** For each result, whether it is a view of the first tensor. */
  readonly shares: readonly boolean[];
}

const isMeta = (value: unknown): value is TensorMeta =>
  typeof value === "object" && value !== null && "strides" in value && "dtype" in value;

function given(planned: Planned): unknown {
  if (typeof planned !== "object" || planned === null) return planned;
  if (isPlannedList(planned)) return planned.map(given);
  if (planned.kind === "tensor") return planned.meta;
  if (planned.kind === "number") return planned.value;
  return Object.fromEntries(Object.entries(planned.entries).map(([k, each]) => [k, given(each)]));
}

/** The results of a call; null if it would fail. */
export function inferCall(
  { definition: written, inplace }: Form,
  planned: readonly Planned[],
): Inferred | null {
  try {
    const args = parseCall<TensorMeta>(written, planned.map(given), isMeta),
      definition = formOf(written, args);
    const deciding = definition.resultsIf === undefined ? undefined : args[definition.resultsIf];
    const several = definition.resultList === true ||
      (definition.results !== undefined &&
        (definition.resultsIf === undefined ||
          (deciding !== null && deciding !== false && deciding !== undefined && !isMeta(deciding))));
    if (definition.dataDependent?.(args)) return { results: null, several, ranges: [], shares: [] };
    const inferred = listOf(definition.infer(args));
    const [first] = tensorArguments(args);
    const aliases = new Aliases(first?.value);
    const composed = aliases.resultsOf(definition, args), metas = composed ?? inferred;
    if (inplace) {
      const [target] = planned, [result] = metas;
      if (!result || typeof target !== "object" || target === null || isPlannedList(target)) return null;
      if (target.kind !== "tensor" || !fitsInto(result, target.meta)) return null;
    }
    return {
      results: metas.map(knownMeta),
      several,
      ranges: definition.ranges?.(args) ?? [],
      shares: composed?.map((meta) => aliases.has(meta)) ?? [],
    };
  } catch (thrown) {
    if (thrown instanceof DynError) return null;
    throw thrown;
  }
}

type Metas = TensorMeta | readonly TensorMeta[];

const listOf = (metas: Metas): readonly TensorMeta[] => isMeta(metas) ? [metas] : metas;

/** Thrown if a composition reads elements. */
class NeedsElements extends Error {
  override readonly name: string = "NeedsElements";
}

/** Follows views through compositions. */
class Aliases {
  readonly #known = new Set<TensorMeta>();
  readonly #api: OpApi<TensorMeta>;

  constructor(base: TensorMeta | undefined) {
    if (base) this.#known.add(base);
    this.#api = makeOpApi<TensorMeta>((definition, written) => {
      const results = this.#call(definition, parseCall(definition, written, isMeta));
      return isMeta(results) ? results : nameResults(definition, results);
    });
  }

  has(meta: TensorMeta): boolean {
    return this.#known.has(meta);
  }

  /** The results of a call, according to its composition; null if they depend on elements. Throws if the call fails. */
  resultsOf(definition: OpDefinition, args: ArgsOf<Params, TensorMeta>): readonly TensorMeta[] | null {
    try {
      return listOf(this.#call(definition, args));
    } catch (thrown) {
      if (thrown instanceof NeedsElements) return null;
      throw thrown;
    }
  }

  #call(written: OpDefinition, args: ArgsOf<Params, TensorMeta>): Metas {
    const definition = formOf(written, args), { implementation } = definition;
    if (definition.dataDependent?.(args) || implementation.kind === "host") throw new NeedsElements();
    if (implementation.kind === "composite") return implementation.compose(this.#api, args);
    const inferred = definition.infer(args);
    if (implementation.kind !== "view") return inferred;
    const viewed = args[implementation.of];
    // Each call has its own objects, so that facts about one do not affect another
    const own = isMeta(inferred) ? { ...inferred } : inferred.map((meta) => ({ ...meta }));
    if (isMeta(viewed) && this.#known.has(viewed) && !implementation.copies?.(args)) {
      for (const meta of listOf(own)) this.#known.add(meta);
    }
    return own;
  }
}

/** Returns whether a result can be written into a tensor in place. */
function fitsInto(result: TensorMeta, target: KnownMeta): boolean {
  return `${result.shape}` === `${target.shape}` &&
    CATEGORY_RANK[categoryOf(result.dtype)] <= CATEGORY_RANK[categoryOf(target.dtype)] &&
    !target.shape.some((size, d) => size > 1 && target.strides[d] === 0);
}
