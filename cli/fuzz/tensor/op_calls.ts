/**
 * Random calls of ops: adds a statement to a program, with the statements it needs before it. The op's own samples
 * show what arguments look like; planning.ts varies them, and a variation is used if shape inference accepts it.
 * Invariant: indices lie in their ranges except for a few that intentionally do not.
 */
import { isDifferentiable, isFloat, isInteger } from "../../../lib/base/dtype.ts";
import { contiguousMeta } from "../../../lib/graph/meta.ts";
import { type DataSpec, type Draft, type KnownMeta, knownMeta, use, type Variable } from "./draft.ts";
import { type Form, FORMS, weightedOps } from "./forms.ts";
import { inferCall, type Inferred, isPlannedList, type Planned, type PlannedTensor } from "./inference.ts";
import { drawSample, Plan } from "./planning.ts";
import type { Arg } from "./program.ts";

/** Per mille of indices drawn from a range that is too large by one. */
const OUT_OF_RANGE = 20;

/** Maximum number of tensors that a function takes or captures. */
const MOST_INPUTS = 6;

type WeightedOps = ReturnType<typeof weightedOps>;

/** Lists by forms, with and without those that write: computed once. */
const listed = new Map<readonly Form[], readonly [all: WeightedOps, reading: WeightedOps]>();

function weighted(forms: readonly Form[], writes: boolean): WeightedOps {
  const known = listed.get(forms) ??
    [weightedOps(forms), weightedOps(forms.filter(({ inplace }) => !inplace))];
  listed.set(forms, known);
  return known[writes ? 0 : 1];
}

/** A call of a random op; returns false if none was found that fits. */
export function addOpCall(draft: Draft, forms: readonly Form[] = FORMS): boolean {
  const allowed = weighted(forms, draft.has("write"));
  if (allowed.length === 0) return false;
  for (let attempt = 0; attempt < 6; attempt++) {
    if (addCallOf(draft, draft.choices.pick(draft.choices.weighted(allowed)))) return true;
  }
  return false;
}

/** A call of a form; returns false if its arguments could not be created. */
export function addCallOf(draft: Draft, form: Form): boolean {
  const sample = drawSample(draft.choices, form.definition);
  if (!sample) return false;
  for (const boldness of [2, 2, 1, 0]) {
    const planned = new Plan(draft, form, boldness).arguments(sample);
    const inferred = planned && inferCall(form, planned);
    if (planned && inferred && fits(draft, form, { planned, inferred })) {
      emit(draft, form, { planned, inferred });
      return true;
    }
  }
  return false;
}

interface Candidate {
  readonly planned: readonly Planned[];
  readonly inferred: Inferred;
}

/** Returns whether a call is worthwhile: small results, nothing that autograd forbids, not too many inputs. */
function fits(draft: Draft, { inplace, style }: Form, { planned, inferred }: Candidate): boolean {
  const [receiver] = planned;
  if (style === "method" && (receiver === undefined || tensorsIn(receiver).length === 0)) return false;
  if (inferred.results?.some((meta) => meta === null)) return false;
  const tensors = planned.flatMap(tensorsIn);
  const made = tensors.filter(({ from }) => !("name" in from)).length;
  if (made > 0 && draft.inputCount + made > MOST_INPUTS) return false;
  const [target] = tensors;
  const isForbidden = inplace && target && "name" in target.from && target.from.leaf && !draft.isGradOff;
  return !isForbidden || (draft.has("failure") && draft.choices.chance(0.03));
}

function tensorsIn(planned: Planned): PlannedTensor[] {
  if (typeof planned !== "object" || planned === null) return [];
  if (isPlannedList(planned)) return planned.flatMap(tensorsIn);
  if (planned.kind === "tensor") return [planned];
  return planned.kind === "options" ? Object.values(planned.entries).flatMap(tensorsIn) : [];
}

/** Adds the statements of a call. */
function emit(draft: Draft, form: Form, { planned, inferred }: Candidate): void {
  const [target] = planned.flatMap(tensorsIn);
  const grad = !draft.isGradOff && form.definition.gradient.kind !== "none" &&
    planned.flatMap(tensorsIn).some(({ from }) => "name" in from ? from.grad : from.grad === true);
  const args = planned.map((each) => settle(draft, each, inferred));
  const call = { kind: "call", style: form.style, name: form.name, args } as const;
  if (form.inplace) {
    draft.push({ ...call, bind: null });
    if (grad && target && "name" in target.from) draft.gainHistory(target.from.name);
    return;
  }
  const metas = inferred.results;
  if (metas === null) {
    const name = draft.fresh("u");
    draft.push({ ...call, bind: name });
    draft.unsized.push(name);
    return;
  }
  const names = metas.map(() => draft.fresh("v"));
  draft.push({ ...call, bind: inferred.several ? names : names[0] ?? null });
  const ofLeaf = target !== undefined && "name" in target.from && target.from.leaf;
  metas.forEach((meta, k) => {
    const name = names[k];
    if (meta && name !== undefined) {
      draft.add({
        name,
        meta,
        grad: grad && isDifferentiable(meta.dtype),
        leaf: ofLeaf && inferred.shares[k] === true,
      });
    }
  });
}

/** The argument itself, after adding the statements that it needs. */
function settle(draft: Draft, planned: Planned, inferred: Inferred): Arg {
  if (typeof planned === "number") {
    return Number.isInteger(planned) && planned > 1 ? draft.sizeArg(planned) : planned;
  }
  if (typeof planned !== "object" || planned === null) return planned;
  if (isPlannedList(planned)) return planned.map((each) => settle(draft, each, inferred));
  switch (planned.kind) {
    case "number":
      return { kind: "variable", name: planned.name };
    case "options":
      return {
        kind: "options",
        entries: Object.fromEntries(
          Object.entries(planned.entries).map(([name, each]) => [name, settle(draft, each, inferred)]),
        ),
      };
    case "tensor":
      return use(settleTensor(draft, planned, inferred));
    default:
      return planned satisfies never;
  }
}

function settleTensor(
  draft: Draft,
  { meta, from, transposed, range }: PlannedTensor,
  { ranges }: Inferred,
): Variable {
  const { choices } = draft;
  const wanted = ranges.find(({ values }) => values === meta);
  const end = wanted && typeof wanted.high === "number" ? wanted.high : undefined;
  const high = end === undefined
    ? undefined
    : draft.has("failure") && choices.below(1000) < OUT_OF_RANGE
    ? end + 1
    : end;
  if ("name" in from) {
    if (high !== undefined && isInteger(meta.dtype)) {
      return from.below !== undefined && from.below <= high ? from : inRange(draft, from, Math.max(1, high));
    }
    const isDomain = range !== undefined && isFloat(meta.dtype) && choices.chance(0.7);
    if (isDomain) return inDomain(draft, from, range);
    const isSafe = !draft.has("failure") || choices.chance(0.9);
    if (range !== undefined && isInteger(meta.dtype) && isSafe) {
      return inRange(draft, from, Math.max(1, range[1]));
    }
    return from;
  }
  const spec = high === undefined ? from : { ...from, low: 0, high: Math.max(1, high), plain: true };
  if (transposed) {
    const source = draft.source(spec);
    const order = meta.shape.map((_, d) => meta.shape.length - 1 - d);
    return draft.param(derived(draft, source, { meta, name: "permute", args: [order] }));
  }
  return draft.param(choices.chance(0.2) ? column(draft, spec) ?? draft.source(spec) : draft.source(spec));
}

/** A tensor of the setup computed by a method of another one. */
function derived(
  draft: Draft,
  source: Variable,
  { meta, name, args }: { readonly meta: KnownMeta; readonly name: string; readonly args: readonly Arg[] },
): Variable {
  const made = { ...source, name: draft.fresh("x"), meta };
  draft.derivedSource(
    { kind: "call", bind: made.name, style: "method", name, args: [use(source), ...args] },
    made,
  );
  return made;
}

/** Data that is a column of larger data, so that its elements are not adjacent; null if it is large. */
function column(draft: Draft, spec: DataSpec): Variable | null {
  const shape = [...spec.shape, draft.choices.between(2, 3)];
  if (!knownMeta(contiguousMeta(shape, spec.dtype, "cpu"))) return null;
  const source = draft.source({ ...spec, shape });
  const { strides } = source.meta;
  const meta = { ...source.meta, shape: spec.shape, strides: strides.slice(0, -1), offset: 1 };
  return derived(draft, source, { meta, name: "select", args: [-1, 1] });
}

/** The elements of a variable as indices below `high`. */
function inRange(draft: Draft, v: Variable, high: number): Variable {
  return step(draft, v, "remainder", draft.sizeArg(high));
}

/** The elements of a variable, mapped into an open interval. */
function inDomain(draft: Draft, v: Variable, [low, high]: readonly [number, number]): Variable {
  const scaled = step(draft, step(draft, v, "sigmoid"), "mul", high - low);
  return low === 0 ? scaled : step(draft, scaled, "add", low);
}

/** A call of an elementwise method that keeps shape and type. */
export function step(draft: Draft, v: Variable, name: string, ...more: readonly Arg[]): Variable {
  const bind = draft.fresh("v");
  draft.push({ kind: "call", bind, style: "method", name, args: [use(v), ...more] });
  const meta = knownMeta(contiguousMeta(v.meta.shape, v.meta.dtype, "cpu"));
  const made = { name: bind, meta: meta ?? v.meta, grad: v.grad && !draft.isGradOff, leaf: false };
  draft.add(made);
  return made;
}
