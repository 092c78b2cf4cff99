/**
 * Runs gradient rules as one program each, like compositions; null if the rule must run op by op. Invariant: a
 * program computes what the rule's ops compute, and reads only what these would read.
 */
import type { OpDefinition } from "../ops/definition.ts";
import type { OpApi } from "../ops/generated.ts";
import { type ArgsOf, nullable, type Param, type Params, required } from "../ops/params.ts";
import { isTensorLike, type TensorLike } from "../ops/tensor_like.ts";
import { isEqual } from "../sym/decide.ts";
import { OpByOp } from "./class_graph.ts";
import { composedPlan } from "./composed_plan.ts";
import { ops } from "./eager.ts";
import { ambient } from "./modes.ts";
import { entryOf, OpEntry, type TensorArgs, tensorsOf } from "./plan.ts";
import { runInto } from "./run.ts";
import { modes, type Tensor } from "./tensor.ts";

/** The position of a tensor in a call: a parameter, and its index if that is a list. */
export interface Place {
  readonly param: string;
  readonly index: number | null;
}

/** The arguments of a gradient rule. */
interface RuleCall {
  readonly definition: OpDefinition;
  readonly args: TensorArgs;
  readonly out: readonly Tensor[];
  readonly grads: readonly (Tensor | null)[];
  /** The tensors whose gradients are wanted. */
  readonly wanted: readonly Place[];
}

/** Names of a rule op's parameters besides those of its call; the spaces rule out conflicts. */
const OUT = "out of the call", GRADS = "gradients of the results", WANTED = "wanted gradients";

/** Rules as ops whose results are the wanted gradients. */
const ruleOps = new WeakMap<OpDefinition, OpEntry>();

/** Gradients in the order of `wanted`; null if the rule has to run op by op. */
export function runRule(call: RuleCall): readonly Tensor[] | null {
  const { definition, args, out, grads, wanted } = call;
  // Recording and tracing need the ops of the rule one by one, and views are not worth a program
  if (ambient.gradEnabled || modes.top !== null) return null;
  if (definition.implementation.kind === "view" || wanted.length === 0) return null;
  const entry = ruleOpOf(definition);
  const given: TensorArgs = { ...args, [OUT]: out, [GRADS]: grads, [WANTED]: wanted.map(textOf).join() };
  // Numbers are constants of a rule, so each value has its own program; numbers that keep changing get none
  const plan = composedPlan({
    entry,
    args: given,
    admits: (numbers) => numbers.length === 0,
    byOps: (args) => gradientsOf(definition, ops, args),
  });
  return plan === null ? null : runInto(plan, { inputs: tensorsOf(entry, given), args: given });
}

const textOf = ({ param, index }: Place): string => index === null ? param : `${param}:${index}`;

function placeOf(text: string): Place {
  const [param = "", index] = text.split(":");
  return { param, index: index === undefined ? null : Number(index) };
}

function ruleOpOf(definition: OpDefinition): OpEntry {
  const known = ruleOps.get(definition);
  if (known) return known;
  const { cacheName } = entryOf(definition);
  const own = cacheName === null ? null : `gradients of ${cacheName}`;
  const made = new OpEntry(asOp(definition), own);
  ruleOps.set(definition, made);
  return made;
}

function asOp(definition: OpDefinition): OpDefinition {
  const params: Record<string, Param> = {};
  for (const [name, param] of Object.entries(definition.params)) params[name] = { ...param, nullable: true };
  params[OUT] = required("tensorsOrNulls");
  params[GRADS] = required("tensorsOrNulls");
  params[WANTED] = nullable("string");
  return {
    name: `${definition.name}Backward`,
    doc: `The gradient rule of ${definition.name}.`,
    params,
    resultList: true,
    infer: ({ [GRADS]: grads }) => isList(grads) ? grads.flatMap((each) => each ?? []) : [],
    implementation: { kind: "composite", compose: (o, args) => gradientsOf(definition, o, args) },
    gradient: { kind: "none", because: "a pass that records runs the rule's ops" },
    samples: [],
  };
}

/** The wanted gradients, in the shapes and types of the tensors they belong to. */
function gradientsOf<T extends TensorLike>(
  definition: OpDefinition,
  o: OpApi<T>,
  given: ArgsOf<Params, T>,
): readonly T[] {
  const { gradient } = definition;
  const { [OUT]: out, [GRADS]: grads, [WANTED]: wanted, ...args } = given;
  if (gradient.kind !== "rule" || !isList(out) || !isList(grads)) throw new OpByOp();
  const places = String(wanted).split(",").map(placeOf);
  const found = gradient.rule<T>(o, {
    args,
    out: out.flatMap((each) => each ?? []),
    grads,
    needs: (param) => places.some((place) => place.param === param),
  });
  return places.map(({ param, index }) => {
    const grad = at<T>(found[param], index), of = at<T>(args[param], index);
    if (grad === null || of === null) throw new OpByOp();
    const fits = grad.shape.length === of.shape.length &&
      grad.shape.every((size, d) => isEqual(size, of.shape[d] ?? 1));
    const fitted = fits ? grad : o.sumToSize(grad, of.shape);
    return fitted.dtype === of.dtype ? fitted : o.to(fitted, of.dtype);
  });
}

function isList<T extends TensorLike>(
  value: ArgsOf<Params, T>[string] | undefined,
): value is readonly (T | null)[] {
  return Array.isArray(value) && value.every((each) => each === null || isTensorLike<T>(each));
}

/** The tensor at a place, or null. */
function at<T extends TensorLike>(value: unknown, index: number | null): T | null {
  const found: unknown = index === null ? value : Array.isArray(value) ? value[index] : null;
  return isTensorLike<T>(found) ? found : null;
}
