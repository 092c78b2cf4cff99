/**
 * Plans arguments for random calls of ops from one of the op's samples: arguments of the same kinds, with variables
 * of the program, other sizes and other numbers. Invariant: nothing is created yet; whether the call would be
 * accepted is decided by inference.ts.
 */
import { categoryOf, type DType, type DTypeCategory, isComplex, isFloat } from "../../../lib/base/dtype.ts";
import { contiguousMeta } from "../../../lib/graph/meta.ts";
import type { OpDefinition, Sample, SampleArgument } from "../../../lib/ops/definition.ts";
import type { Choices } from "../choices.ts";
import { type DataSpec, type Draft, type KnownMeta, knownMeta, type Variable } from "./draft.ts";
import type { Form } from "./forms.ts";
import type { Planned } from "./inference.ts";

type Described = Extract<SampleArgument, { readonly tensor: readonly number[] }>;

const isSampleList = (a: SampleArgument): a is readonly SampleArgument[] => Array.isArray(a);

const isDescribed = (a: SampleArgument): a is Described =>
  typeof a === "object" && a !== null && !isSampleList(a);

/** Returns whether a variable may replace a sample's tensor: complex ones replace floats, which some ops refuse. */
const serves = (dtype: DType, category: DTypeCategory): boolean =>
  categoryOf(dtype) === category || (isComplex(dtype) && category === "float");

/** Arguments for an op without samples: square matrices and small numbers; null if that is not enough. */
function plainSample({ params }: OpDefinition): Sample | null {
  const args: SampleArgument[] = [];
  for (const param of Object.values(params)) {
    if (param.nullable || param.default !== undefined) break;
    if (param.kind === "tensor" || param.kind === "operand") args.push({ tensor: [3, 3] });
    else if (param.kind === "int" || param.kind === "size" || param.kind === "scalar") args.push(1);
    else return null;
  }
  return { args };
}

/** A sample of an op whose tensors may be replaced by tensors of any device. */
export function drawSample(choices: Choices, definition: OpDefinition): Sample | null {
  const samples = definition.samples.filter(({ args }) => !args.includes("cpu"));
  return choices.pickAny(samples) ?? plainSample(definition);
}

/** Arguments planned from a sample. */
export class Plan {
  readonly #draft: Draft;
  readonly #form: Form;
  /** 2: variables of any shape, other numbers; 1: variables of the sample's shapes; 0: the sample itself. */
  readonly #boldness: number;
  /** Replacements of the sample's sizes. */
  readonly #sizes = new Map<number, number>();
  /** The variable that is to be the first tensor, until it is. */
  #self: Variable | undefined;
  /** Number of dimensions of the first tensor. */
  #rank = 0;

  constructor(draft: Draft, form: Form, boldness: number) {
    this.#draft = draft;
    this.#form = form;
    this.#boldness = boldness;
  }

  /** The arguments; null if the form needs a tensor that does not exist. */
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

  /** Chooses replacements of the sample's sizes: those of the variable that comes first, or random ones. */
  #fixSizes(args: readonly SampleArgument[]): void {
    const { choices } = this.#draft;
    const [first] = args;
    if (first !== undefined && isDescribed(first)) {
      const category = categoryOf(first.dtype ?? "float32");
      const self = this.#draft.pick(({ meta }) =>
        meta.shape.length === first.tensor.length && serves(meta.dtype, category)
      ) ?? this.#draft.pick();
      const isAny = this.#boldness === 2 && choices.chance(0.35);
      this.#self = isAny ? this.#draft.pick() : self;
      const shape = this.#self?.meta.shape ?? [];
      this.#rank = shape.length;
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
      const { choices } = this.#draft;
      const dims = choices.shuffled(Array.from({ length: this.#rank }, (_, d) => d)).slice(0, list.length);
      if (dims.length > 0) return dims.map((d) => choices.chance(0.3) ? d - this.#rank : d);
    }
    return list.map((each) => this.#argument(each, { ...at, kind: null, isTarget: false }));
  }

  /** Another value for an argument that is not a tensor. */
  #changed(value: number | boolean | string | null | Planned, name: string, kind: string): Planned {
    const { choices } = this.#draft;
    const rank = this.#rank;
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

  /** A variable of the program, or new data, for a tensor of the sample. */
  #tensor(described: Described, isTarget: boolean): Planned {
    const { choices } = this.#draft;
    const { transposed = false, range, dtype = "float32" } = described;
    const shape = described.tensor.map((size) => this.#sizes.get(size) ?? size);
    const limits = range === undefined ? {} : { range: this.#resized(range) };
    const category = categoryOf(dtype);
    const chosen = this.#self ?? this.#draft.pick(({ meta }) =>
      `${meta.shape}` === `${shape}` &&
      (serves(meta.dtype, category) || (this.#boldness === 2 && choices.chance(0.2)))
    );
    this.#self = undefined;
    if (chosen && this.#boldness > 0 && (isTarget || choices.chance(0.85))) {
      return { kind: "tensor", meta: { ...chosen.meta }, from: chosen, transposed: false, ...limits };
    }
    const [low, high] = limits.range ?? [];
    // The product of padding zeros and infinite weights differs between algorithms
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

  /** An interval of integers that ended at a size of the sample ends at the replacement of that size. */
  #resized([low, high]: readonly [number, number]): readonly [number, number] {
    return [low, this.#sizes.get(high) ?? high];
  }
}

function reversed(meta: KnownMeta, stored: readonly number[]): KnownMeta {
  const strides = contiguousMeta(stored, meta.dtype, "cpu").strides.map(Number);
  return { ...meta, strides: strides.toReversed() };
}
