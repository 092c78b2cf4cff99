/**
 * Propagates tangents through ops. Invariant: tangents follow from the op's gradient rule; ops have no second
 * definition of the derivative. A linear op applies to the tangent itself, an elementwise op multiplies by one factor
 * for each element, and any other rule is transposed by differentiating it, since it is linear in the gradients it
 * receives.
 */
import { isComplex, isDifferentiable } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import type { OpDefinition } from "../../ops/definition.ts";
import type { OpName } from "../../ops/generated.ts";
import { ELEMENTWISE_COMPOSITIONS } from "../../ops/elementwise_compositions.ts";
import { OPS } from "../../ops/table.ts";
import { asList, callResolved, ops } from "../../tensor/eager.ts";
import { ambient, enableGrad } from "../../tensor/modes.ts";
import { entryOf, mapTensors, type TensorArgs, tensorsOf } from "../../tensor/plan.ts";
import { isTensor, recordsGrad, type Tensor } from "../../tensor/tensor.ts";
import { grad } from "../entry_points.ts";
import { fitGradient } from "../node.ts";

/** A call whose tangents are computed. */
interface ForwardCall {
  readonly definition: OpDefinition;
  readonly args: TensorArgs;
  readonly results: readonly Tensor[];
  /** The tangent of a tensor among the arguments; undefined: zeros. */
  readonly tangentOf: (tensor: Tensor) => Tensor | undefined;
}

/** A tangent for each result; null: zeros. */
type Tangents = readonly (Tensor | null)[];

/** Ops that are jointly linear in these parameters, for any values of the others. */
const LINEAR: Partial<Readonly<Record<OpName, readonly string[]>>> = {
  sum: ["self"],
  cumsum: ["self"],
  cat: ["tensors"],
  flip: ["self"],
  rollDims: ["self"],
  repeat: ["self"],
  tril: ["self"],
  triu: ["self"],
  gather: ["self"],
  take: ["self"],
  indexSelect: ["self"],
  selectScatter: ["self", "src"],
  sliceScatter: ["self", "src"],
  diagonalScatter: ["self", "src"],
  // Its gradient is not the derivative
  asStridedScatter: ["self", "src"],
  embeddingRows: ["weight"],
  toDevice: ["self"],
  // The old contents do not matter
  copy: ["src"],
  fill: ["value"],
  zero: ["self"],
};

/** Ops that are linear in each of these parameters while the others are fixed. */
const MULTILINEAR: Partial<Readonly<Record<OpName, readonly string[]>>> = {
  mm: ["self", "mat2"],
  bmm: ["self", "mat2"],
};

/** Elementwise ops whose definitions do not say so. */
const DIAGONAL: readonly OpName[] = [...ELEMENTWISE_COMPOSITIONS, "igamma", "igammac"];

/** Ops with constant results, for any operands: their gradients are zeros. */
const CONSTANT: readonly OpName[] = ["bernoulli", "uniform", "normal", "exponential", "norm0"];

const constant = new Set<OpDefinition>(CONSTANT.map((name) => OPS[name]));
const diagonal = new Set<OpDefinition>(DIAGONAL.map((name) => OPS[name]));
const linear = byDefinition(LINEAR), multilinear = byDefinition(MULTILINEAR);

function byDefinition(
  table: Partial<Readonly<Record<OpName, readonly string[]>>>,
): ReadonlyMap<OpDefinition, readonly string[]> {
  const isName = (name: string): name is OpName => Object.hasOwn(OPS, name);
  return new Map(
    Object.entries(table).flatMap(([name, params]) => isName(name) && params ? [[OPS[name], params]] : []),
  );
}

/** Returns the tangents of the results of a call whose definition has a gradient rule, or is a view. */
export function pushForward(call: ForwardCall): Tangents {
  const { definition, args, results } = call, { implementation } = definition;
  if (constant.has(definition)) return results.map(() => null);
  if (implementation.kind === "view") return withTangents(call, [implementation.of]);
  const together = linear.get(definition);
  if (together) return withTangents(call, together);
  const oneByOne = multilinear.get(definition)?.filter((param) => has(call, param));
  if (oneByOne) return added(oneByOne.map((param) => withTangents(call, [param])));
  const real = !tensorsOf(entryOf(definition), args).some(({ dtype }) => isComplex(dtype));
  return real && (definition.elementwise || diagonal.has(definition))
    ? [elementwise(call)]
    : transposed(call);
}

function has({ args, tangentOf }: ForwardCall, param: string): boolean {
  return [args[param]].flat().some((each) => isTensor(each) && tangentOf(each) !== undefined);
}

/** Returns the call with tangents as operands, zeros for those without. */
function withTangents({ definition, args, tangentOf }: ForwardCall, params: readonly string[]): Tangents {
  const tangentIn = (each: Tensor): Tensor => tangentOf(each) ?? ops.zerosLike(each);
  const given: Record<string, TensorArgs[string]> = { ...args };
  for (const param of params) {
    const value = args[param];
    given[param] = Array.isArray(value)
      ? value.filter(isTensor).map(tangentIn)
      : isTensor(value)
      ? tangentIn(value)
      : 0;
  }
  return asList(callResolved(definition, given));
}

function added(terms: readonly Tangents[]): Tangents {
  const [first = [], ...others] = terms;
  return others.reduce(
    (sum, term) => sum.map((each, k) => each && term[k] ? ops.add(each, term[k]) : each ?? term[k] ?? null),
    first,
  );
}

/** Each element depends on one element of each operand, so its factor is the same in both directions. */
function elementwise({ definition, args, results, tangentOf }: ForwardCall): Tensor | null {
  const { gradient } = definition, [out] = results;
  if (gradient.kind !== "rule" || !out) return null;
  const entry = entryOf(definition), whole = (each: Tensor) => ops.expand(each, out.shape);
  const given = mapTensors(entry, args, whole);
  const terms = Object.keys(definition.params).flatMap((param) => {
    const value = args[param], tangent = isTensor(value) ? tangentOf(value) : undefined;
    if (tangent === undefined) return [];
    const found: unknown = gradient.rule(ops, {
      args: given,
      out: [out],
      grads: [ops.to(whole(tangent), out.dtype)],
      needs: (each) => each === param,
    })[param];
    return isTensor(found) ? [ops.to(found, out.dtype)] : [];
  });
  return terms.length === 0 ? null : terms.reduce((a, b) => ops.add(a, b));
}

/**
 * Differentiates the results of the rule with respect to its gradients: at ones, since a rule may divide by them.
 * Throws DynError if the results do not depend on them.
 */
function transposed({ definition, args, results, tangentOf }: ForwardCall): Tangents {
  const { gradient } = definition;
  if (gradient.kind !== "rule") return results.map(() => null);
  const entry = entryOf(definition), tensors = tensorsOf(entry, args);
  const places = Object.keys(definition.params).filter((param) =>
    [args[param]].flat().some((each) => isTensor(each) && tangentOf(each))
  );
  const again = ambient.gradEnabled &&
    recordsGrad([...tensors, ...tensors.flatMap((each) => tangentOf(each) ?? [])]);
  const cotangents = results.map((each, k) => {
    const name = definition.results?.[k];
    const auxiliary = name !== undefined && definition.auxiliary?.includes(name);
    return isDifferentiable(each.dtype) && !auxiliary ? ops.onesLike(each).requiresGrad_() : null;
  });
  const pulled = enableGrad(() =>
    gradient.rule(ops, {
      args,
      out: results,
      grads: cotangents,
      needs: (param) => places.includes(param),
    })
  );
  const pairs = places.flatMap((param) => {
    const values = [args[param]].flat(), found: unknown = pulled[param], gradients = [found].flat();
    return values.flatMap((value, k) => {
      const each = gradients[k], tangent = isTensor(value) ? tangentOf(value) : undefined;
      if (!isTensor(value) || !isTensor(each) || tangent === undefined) return [];
      return [{ pulled: enableGrad(() => fitGradient(each, value.layout, definition.name)), tangent }];
    });
  });
  return pushedThrough(definition.name, { cotangents, pairs, again });
}

/** A map that is linear in cotangents: its results, and the tangents to pass to its backward. */
interface LinearMap {
  readonly cotangents: readonly (Tensor | null)[];
  readonly pairs: readonly { readonly pulled: Tensor; readonly tangent: Tensor }[];
  /** Whether the result is differentiated again. */
  readonly again: boolean;
}

/**
 * Returns the transpose of a linear map, applied to one tangent per cotangent. Throws DynError for a map that was not
 * recorded: that does not mean that it is zero.
 */
export function pushedThrough(owner: string, { cotangents, pairs, again }: LinearMap): Tangents {
  const inputs = cotangents.flatMap((each) => each ?? []);
  if (pairs.length === 0 || inputs.length === 0) return cotangents.map(() => null);
  if (!pairs.every(({ pulled }) => pulled.requiresGrad)) throw notForward(owner);
  const found = grad(
    pairs.map(({ pulled }) => pulled),
    inputs,
    pairs.map(({ pulled, tangent }) => ops.to(tangent, pulled.dtype)),
    { createGraph: again, allowUnused: true },
  );
  let next = 0;
  return cotangents.map((each) => each === null ? null : found[next++] ?? null);
}

function notForward(owner: string): DynError {
  return new DynError(
    `Expected a gradient of ${owner} that can be differentiated, as forward-mode differentiation needs it, but found ` +
      "one that is not a recorded function of what it is given",
  );
}
