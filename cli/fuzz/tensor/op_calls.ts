/**
 * Random calls of ops. Input: a program in the making and a form of an op; output: a statement in it, with what it
 * needs before it. The op's own samples say what arguments look like; variables of the program, other sizes and
 * other numbers take their places as far as shape inference agrees. Invariant: indices lie in their ranges but for
 * a few that are meant not to.
 */
import { categoryOf, isFloat, isInteger } from "../../../lib/base/dtype.ts";
import { contiguousMeta } from "../../../lib/graph/meta.ts";
import type { Sample, SampleArgument } from "../../../lib/ops/definition.ts";
import { type DataSpec, type Draft, type KnownMeta, knownMeta, use, type Variable } from "./draft.ts";
import { type Form, FORMS, weightedOps } from "./forms.ts";
import { inferCall, type Inferred, isPlannedList, type Planned, type PlannedTensor } from "./inference.ts";
import type { Arg } from "./program.ts";

/** How often out of a thousand an index is drawn from one more than there are. */
const OUT_OF_RANGE = 20;

/** Most tensors that a function takes or captures. */
const MOST_INPUTS = 6;

type Described = Extract<SampleArgument, { readonly tensor: readonly number[] }>;

const isSampleList = (a: SampleArgument): a is readonly SampleArgument[] => Array.isArray(a);

const isDescribed = (a: SampleArgument): a is Described =>
  typeof a === "object" && a !== null && !isSampleList(a);

type WeightedOps = ReturnType<typeof weightedOps>;

/** Lists by forms, with and without those that write: made once. */
const listed = new Map<readonly Form[], readonly [all: WeightedOps, reading: WeightedOps]>();

function weighted(forms: readonly Form[], writes: boolean): WeightedOps {
  const known = listed.get(forms) ??
    [weightedOps(forms), weightedOps(forms.filter(({ inplace }) => !inplace))];
  listed.set(forms, known);
  return known[writes ? 0 : 1];
}

/** A call of a random op; false where none was found that fits. */
export function addOpCall(draft: Draft, forms: readonly Form[] = FORMS): boolean {
  const allowed = weighted(forms, draft.has("write"));
  if (allowed.length === 0) return false;
  for (let attempt = 0; attempt < 6; attempt++) {
    if (addCallOf(draft, draft.choices.pick(draft.choices.weighted(allowed)))) return true;
  }
  return false;
}

/** A call of a form; false where its arguments could not be made. */
export function addCallOf(draft: Draft, form: Form): boolean {
  const sample = draft.choices.pickAny(form.definition.samples);
  if (!sample || sample.args.includes("cpu")) return false;
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

/** Whether a call is worth making: small results, nothing that autograd forbids, not too many inputs. */
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

/** Arguments planned after a sample. */
class Plan {
  readonly #draft: Draft;
  readonly #form: Form;
  /** 2: variables of any shape, other numbers; 1: variables of the sample's shapes; 0: the sample itself. */
  readonly #boldness: number;
  /** What became of the sizes of the sample. */
  readonly #sizes = new Map<number, number>();
  #self: Variable | undefined;

  constructor(draft: Draft, form: Form, boldness: number) {
    this.#draft = draft;
    this.#form = form;
    this.#boldness = boldness;
  }

  /** The arguments; null where the form needs a tensor that is not there. */
  arguments(sample: Sample): readonly Planned[] | null {
    const { definition, inplace } = this.#form;
    const params = Object.entries(definition.params);
    if (this.#boldness > 0) this.#fixSizes(sample.args);
    const planned = sample.args.map((each, k): Planned => {
      const [name = "", param] = definition.arrange || params.some(([, p]) => p.variadic)
        ? []
        : params[k] ?? [];
      return this.#argument(each, { name, kind: param?.kind ?? null, isTarget: inplace && k === 0 });
    });
    const entries = Object.entries(sample.options ?? {}).map(([name, each]): [string, Planned] => [
      name,
      this.#argument(each, { name, kind: definition.params[name]?.kind ?? null, isTarget: false }),
    ]);
    if (this.#boldness === 2) {
      const given = new Set([
        ...params.slice(0, planned.length).map(([name]) => name),
        ...entries.map(([n]) => n),
      ]);
      for (const [name, param] of params) {
        if (given.has(name) || !this.#draft.choices.chance(0.12)) continue;
        if (param.kind === "bool") entries.push([name, param.default !== true]);
        if (param.kind === "dtype") entries.push([name, this.#draft.dtype()]);
      }
    }
    return entries.length === 0
      ? planned
      : [...planned, { kind: "options", entries: Object.fromEntries(entries) }];
  }

  /** Chooses what the sizes of the sample become: those of a variable that stands first, or others at random. */
  #fixSizes(args: readonly SampleArgument[]): void {
    const { choices } = this.#draft;
    const [first] = args;
    if (first !== undefined && isDescribed(first)) {
      const category = categoryOf(first.dtype ?? "float32");
      const self = this.#draft.pick(({ meta }) =>
        meta.shape.length === first.tensor.length && categoryOf(meta.dtype) === category
      ) ?? this.#draft.pick();
      const isAny = this.#boldness === 2 && choices.chance(0.35);
      this.#self = isAny ? this.#draft.pick() : self;
      const shape = this.#self?.meta.shape ?? [];
      if (shape.length === first.tensor.length) {
        first.tensor.forEach((size, d) => {
          if (!this.#sizes.has(size)) {
            this.#sizes.set(size, shape[d] ?? size);
          }
        });
        return;
      }
    }
    if (this.#boldness < 2) return;
    for (const size of new Set(args.filter(isDescribed).flatMap(({ tensor }) => tensor))) {
      if (size > 1 && choices.chance(0.5)) {
        this.#sizes.set(size, choices.weighted([[1, 1], [3, 2], [3, 3], [2, 5], [1, 8], [1, 17]]));
      }
    }
  }

  #argument(
    each: SampleArgument,
    at: { readonly name: string; readonly kind: string | null; readonly isTarget: boolean },
  ): Planned {
    if (isSampleList(each)) return this.#list(each, at);
    if (isDescribed(each)) return this.#tensor(each, at.isTarget);
    if (this.#boldness === 2 && at.kind !== null) return this.#changed(each, at.name, at.kind);
    return each;
  }

  #list(
    list: readonly SampleArgument[],
    at: { readonly name: string; readonly kind: string | null },
  ): Planned {
    if (this.#boldness === 2 && at.kind === "sizes") {
      return list.map((each) => typeof each === "number" ? this.#sizes.get(each) ?? each : null);
    }
    if (
      this.#boldness === 2 && (at.kind === "dims" || at.kind === "ints") && this.#draft.choices.chance(0.4)
    ) {
      const rank = this.#self?.meta.shape.length ?? 0;
      const dims = this.#draft.choices.shuffled(Array.from({ length: rank }, (_, d) => d)).slice(
        0,
        list.length,
      );
      if (dims.length > 0) return dims.map((d) => this.#draft.choices.chance(0.3) ? d - rank : d);
    }
    return list.map((each) => this.#argument(each, { ...at, kind: null, isTarget: false }));
  }

  /** Another value for an argument that is no tensor. */
  #changed(value: number | boolean | string | null | Planned, name: string, kind: string): Planned {
    const { choices } = this.#draft;
    const rank = this.#self?.meta.shape.length ?? 0;
    const isScalar = kind === "operand" || kind === "scalar" || kind === "float";
    if (typeof value === "number" && isScalar) {
      const number = choices.pickAny(this.#draft.numbers);
      if (number && choices.chance(0.3)) return { kind: "number", ...number };
      return choices.chance(0.4) ? choices.pick([0, 1, 2, -1, 3, 0.5, 1.5, -0.25]) : value;
    }
    if (typeof value === "number" && /^dim|Dim$|^axis/.test(name)) {
      return choices.chance(0.7) ? choices.between(-Math.max(1, rank), Math.max(0, rank - 1)) : value;
    }
    if (typeof value === "number" && kind === "size") return this.#sizes.get(value) ?? value;
    if (typeof value === "boolean") return choices.chance(0.3) ? !value : value;
    return value;
  }

  /** A variable of the program, or data to be made, for a tensor of the sample. */
  #tensor(described: Described, isTarget: boolean): Planned {
    const { choices } = this.#draft;
    const { transposed = false, range, dtype = "float32" } = described;
    const shape = described.tensor.map((size) => this.#sizes.get(size) ?? size);
    const limits = range === undefined ? {} : { range: this.#resized(range) };
    const category = categoryOf(dtype);
    const chosen = this.#self ?? this.#draft.pick(({ meta }) =>
      `${meta.shape}` === `${shape}` &&
      (categoryOf(meta.dtype) === category || (this.#boldness === 2 && choices.chance(0.2)))
    );
    this.#self = undefined;
    if (chosen && this.#boldness > 0 && (isTarget || choices.chance(0.85))) {
      return { kind: "tensor", meta: { ...chosen.meta }, from: chosen, transposed: false, ...limits };
    }
    const [low, high] = limits.range ?? [];
    // What the zeros of padding make of infinite weights differs from algorithm to algorithm
    const spec: DataSpec = {
      shape: transposed ? shape.toReversed() : shape,
      dtype: dtype === "float32" && this.#boldness > 0 && this.#draft.dtypes.includes("float64") &&
          choices.chance(0.1)
        ? "float64"
        : dtype,
      grad: !isTarget && isFloat(dtype) && choices.chance(0.4),
      plain: range !== undefined || /^conv/.test(this.#form.definition.name),
      ...(low === undefined || high === undefined ? {} : { low, high }),
    };
    const meta = knownMeta(contiguousMeta(shape, spec.dtype, "cpu"));
    if (!meta) return null;
    return {
      kind: "tensor",
      meta: transposed ? reversed(meta, spec.shape) : meta,
      from: spec,
      transposed,
      ...limits,
    };
  }

  /** An interval of integers whose end was a size of the sample ends at what became of that size. */
  #resized([low, high]: readonly [number, number]): readonly [number, number] {
    return [low, this.#sizes.get(high) ?? high];
  }
}

function reversed(meta: KnownMeta, stored: readonly number[]): KnownMeta {
  const strides = contiguousMeta(stored, meta.dtype, "cpu").strides.map(Number);
  return { ...meta, strides: strides.toReversed() };
}

/** Makes the statements of a call. */
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
        grad: grad && isFloat(meta.dtype),
        leaf: ofLeaf && inferred.shares[k] === true,
      });
    }
  });
}

/** The argument itself, after the statements that it needs. */
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

/** A tensor of the setup as a method of another one gives it. */
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

/** Data that is a column of larger data, so that its elements do not lie next to each other; null where it is large. */
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

/** The elements of a variable, brought into an open interval. */
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
