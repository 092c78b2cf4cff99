/**
 * Chooses the form of an op for complex arguments: its own definition when all arguments are real, otherwise one that
 * is composed of ops on real tensors. Invariant: every call passes through here, so that no kernel, loop or gradient
 * rule ever receives complex elements; an op without a rule refuses them.
 */
import { DynError, InternalError } from "../../base/errors.ts";
import { type DType, isComplex, partType } from "../../base/dtype.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { makeOpApi, nameResults } from "../api.ts";
import { parseCall } from "../call.ts";
import type { Implementation, OpDefinition } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import type { ArgsOf, Params } from "../params.ts";
import { OPS } from "../table.ts";
import { arithmeticRules } from "./arithmetic.ts";
import { comparisonRules } from "./comparison.ts";
import { COMPOSED } from "./compositions.ts";
import { creationRules } from "./creation.ts";
import { decompositionRules } from "./decompositions.ts";
import { functionRules } from "./function_op.ts";
import { layerRules } from "./layers.ts";
import { matrixRules } from "./matrix.ts";
import { partwiseRules } from "./partwise.ts";
import { reductionRules } from "./reductions.ts";
import type { ComplexRule } from "./rule.ts";
import { mapTensors } from "../wide.ts";
import { viewRules } from "./view_rules.ts";

const RULES: ReadonlyMap<string, ComplexRule> = new Map(
  [
    ...arithmeticRules,
    ...comparisonRules,
    ...creationRules,
    ...decompositionRules,
    ...functionRules,
    ...layerRules,
    ...matrixRules,
    ...partwiseRules,
    ...reductionRules,
    ...viewRules,
  ].map((each) => [each.name, each]),
);

/** Ops that accept complex tensors directly. */
const OWN: ReadonlySet<OpDefinition> = new Set([OPS.viewAsReal, OPS.viewAsComplex, OPS.bitView]);

const composed: ReadonlySet<string> = new Set(COMPOSED);

/** Ops whose calls are accepted as those with real tensors are: others have rules of their own, or no real tensors. */
const CHECKED = new Set<string>([...COMPOSED, ...decompositionRules.map(({ name }) => name)]);

/** Those of them that take complex tensors alone. */
const COMPLEX_ALONE: ReadonlySet<string> = new Set(["imag", "istft"]);

/** The definition to use for a call. */
export function formOf(definition: OpDefinition, args: object): OpDefinition {
  return concernsComplex(args) && !OWN.has(definition) ? complexForm(definition) : definition;
}

/**
 * Returns whether the arguments contain a complex tensor or type. Runs for every call, so it builds no list of
 * arguments.
 */
function concernsComplex(args: object): boolean {
  for (const name in args) {
    if (isComplexArgument(Reflect.get(args, name)) && Object.hasOwn(args, name)) return true;
  }
  return false;
}

function isComplexArgument(value: unknown): boolean {
  if (typeof value === "string") return value === "complex64" || value === "complex128";
  return Array.isArray(value) ? value.some(isComplexTensor) : isComplexTensor(value);
}

const isComplexTensor = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "dtype" in value && isComplex(value.dtype as DType);

const forms = new Map<OpDefinition, OpDefinition>();
const made = new Set<OpDefinition>();

function complexForm(definition: OpDefinition): OpDefinition {
  if (made.has(definition)) return definition;
  const known = forms.get(definition);
  if (known) return known;
  const { ranges: _, fills: _fills, ...rest } = definition;
  const compose = composition(definition);
  const form: OpDefinition = {
    ...rest,
    infer(args) {
      const { name } = definition;
      if (CHECKED.has(name)) definition.infer(COMPLEX_ALONE.has(name) ? args : mapTensors(args, realMeta));
      return compose<TensorMeta>(metas, args);
    },
    implementation: { kind: "composite", compose },
    ...definition.implementation.kind === "host" ? { hostParts: true } : {},
    gradient: definition.gradient.kind === "none" ? definition.gradient : { kind: "composite" },
  };
  forms.set(definition, form);
  made.add(form);
  return form;
}

const realMeta = ({ shape, strides, offset, dtype, device }: TensorMeta): TensorMeta => ({
  ...{ shape, strides, offset, device },
  dtype: partType(dtype),
});

type Compose = (Implementation<Params> & { kind: "composite" })["compose"];

function composition({ name, implementation }: OpDefinition): Compose {
  const rule = RULES.get(name);
  if (rule) return (o, args) => rule.compose(o, args);
  if (composed.has(name) && implementation.kind === "composite") return implementation.compose;
  return () => {
    throw new DynError(`Expected tensors of real numbers for ${publicName(name)} but found complex ones`);
  };
}

/** Returns the name by which programs call an op in its namespace: `linalgSvd` is svd there. */
const publicName = (name: string): string =>
  name.replace(/^(?:linalg|fft|special)([A-Z])/, (_, first: string) => first.toLowerCase());

const isMeta = (value: unknown): value is TensorMeta =>
  typeof value === "object" && value !== null && "strides" in value && "dtype" in value;

/** The ops over metadata alone. */
const metas: OpApi<TensorMeta> = makeOpApi<TensorMeta>((definition, given) => {
  const args: ArgsOf<Params, TensorMeta> = parseCall(definition, given, isMeta);
  const form = formOf(definition, args), { implementation } = form;
  const results = implementation.kind === "composite" && form === definition
    ? implementation.compose(metas, args)
    : form.infer(args);
  if (isMeta(results)) return results;
  if (results.some((each) => !isMeta(each))) {
    throw new InternalError(`Expected metadata of ${definition.name}`);
  }
  return nameResults(definition, results);
});
