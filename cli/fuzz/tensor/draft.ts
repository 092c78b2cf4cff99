/**
 * A program during its generation: its variables and what is known of them. Invariant: facts about a variable come from
 * shape inference, without running anything; if sizes depend on elements, nothing is known.
 */
import { type DType, isFloat, isInteger } from "../../../lib/base/dtype.ts";
import { contiguousMeta, type TensorMeta } from "../../../lib/graph/meta.ts";
import type { Dim } from "../../../lib/sym/expr.ts";
import type { Choices } from "../choices.ts";
import { sizeIn } from "./data.ts";
import type { Feature } from "./features.ts";
import {
  type Arg,
  type Call,
  type DataStatement,
  everyStatement,
  namesRead,
  type OptimizerSpec,
  type Program,
  type SizeRef,
  type Statement,
  type Values,
  variable,
} from "./program.ts";

/** Metadata of a tensor with known sizes. */
export interface KnownMeta extends TensorMeta {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
}

/** A tensor variable. */
export interface Variable {
  readonly name: string;
  readonly meta: KnownMeta;
  /** Whether gradients reach it. */
  readonly grad: boolean;
  /** Whether it is a leaf that requires grad, or a view of one: must not be written outside of noGrad. */
  readonly leaf: boolean;
  /** Upper bound of its elements if they are known to be non-negative integers below it. */
  readonly below?: number;
}

/** Requirements on fresh data. */
export interface DataSpec {
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly low?: number;
  readonly high?: number;
  readonly grad?: boolean;
  /** Excludes NaN and infinities: for an index or a probability. */
  readonly plain?: boolean;
}

/** The types and features that a program may contain. */
export interface DraftLimits {
  readonly dtypes: readonly DType[];
  readonly features: readonly Feature[];
  /** Whether special data may be subnormal. */
  readonly subnormals: boolean;
}

/** Element types and their frequencies in new data. */
const DTYPE_WEIGHTS: readonly (readonly [number, DType])[] = [
  [55, "float32"],
  [10, "float64"],
  [14, "int64"],
  [7, "int32"],
  [4, "uint8"],
  [3, "int16"],
  [3, "int8"],
  [9, "bool"],
];

/** Size limits of a program's data. */
interface Extent {
  /** Sizes of dimensions, by frequency. */
  readonly sizes: readonly (readonly [number, number])[];
  /** Maximum number of elements: they are printed one by one. */
  readonly most: number;
}

/** Degenerate, small, and around the vectors of every tier. */
const SMALL: readonly (readonly [number, number])[] = [
  [3, 0],
  [12, 1],
  [14, 2],
  [15, 3],
  [12, 4],
  [8, 5],
  [3, 6],
  [4, 7],
  [5, 8],
  [4, 9],
  [4, 15],
  [5, 16],
  [5, 17],
  [3, 19],
  [3, 32],
  [5, 33],
];

/** Around the tiles of products, the workgroups of GPUs, the blocks of long sums and the shares of threads. */
const LARGE: readonly (readonly [number, number])[] = [
  [2, 1],
  [3, 2],
  [3, 3],
  [2, 7],
  [3, 16],
  [4, 33],
  [4, 64],
  [4, 65],
  [3, 100],
  [3, 129],
  [3, 256],
  [3, 257],
  [2, 513],
  [2, 1000],
  [2, 1025],
  [1, 4099],
];

/** Extents and their frequencies. */
const EXTENTS: readonly (readonly [number, Extent])[] = [
  [29, { sizes: SMALL, most: 400 }],
  [1, { sizes: LARGE, most: 12_000 }],
];

/** Maximum number of elements of a tensor. */
const MOST_ELEMENTS = 20_000;

/** Metadata with numbers only, or null if some size is unknown or there are too many elements. */
export function knownMeta(meta: TensorMeta): KnownMeta | null {
  const { shape, strides, offset, dtype, device } = meta;
  if (!allKnown(shape) || !allKnown(strides) || typeof offset !== "number") return null;
  if (shape.reduce((a, b) => a * b, 1) > MOST_ELEMENTS || shape.length > 6) return null;
  return { shape, strides, offset, dtype, device };
}

function allKnown(dims: readonly Dim[]): dims is readonly number[] {
  return dims.every((d) => typeof d === "number");
}

/** A program under construction. */
export class Draft {
  readonly #extent: Extent;
  readonly #sizes: number[] = [];
  readonly #state: Statement[] = [];
  readonly #setup: Statement[] = [];
  readonly #params: { readonly name: string; readonly arg: string | number }[] = [];
  #lists: Statement[][] = [[]];
  #variables: Variable[] = [];
  /** Tensors of the setup, of which others may be views. */
  #sources: Variable[] = [];
  readonly #counts = new Map<string, number>();
  optimizer: OptimizerSpec | null = null;
  /** Variables that are numbers, with their assumed values. */
  readonly numbers: { readonly name: string; readonly value: number }[] = [];
  /** Tensors whose sizes depend on elements. */
  readonly unsized: string[] = [];
  /** Whether statements are added inside noGrad. */
  isGradOff = false;

  constructor(readonly choices: Choices, readonly limits: DraftLimits) {
    this.#extent = choices.weighted(EXTENTS);
  }

  get dtypes(): readonly DType[] {
    return this.limits.dtypes;
  }

  /** Returns whether programs may use this feature. */
  has(feature: Feature): boolean {
    return this.limits.features.includes(feature);
  }

  /** Variables that statements may use here. */
  get variables(): readonly Variable[] {
    return this.#variables;
  }

  /** Tensors that exist before the function runs. */
  get sources(): readonly Variable[] {
    return this.#sources;
  }

  /** Number of tensors that the function takes or captures. */
  get inputCount(): number {
    return this.#params.length + this.#state.length;
  }

  /** An unused name. */
  fresh(prefix: string): string {
    const count = this.#counts.get(prefix) ?? 0;
    this.#counts.set(prefix, count + 1);
    return `${prefix}${count}`;
  }

  /** An element type for new data. */
  dtype(): DType {
    return this.choices.weighted(DTYPE_WEIGHTS.filter(([, dtype]) => this.dtypes.includes(dtype)));
  }

  /** A shape for new data. */
  shape(): number[] {
    const rank = this.choices.weighted([[1, 0], [4, 1], [7, 2], [4, 3], [1, 4]]);
    const shape: number[] = [];
    let count = 1;
    for (let d = 0; d < rank; d++) {
      const known = this.#sizes.filter((size) => count * size <= this.#extent.most);
      const drawn = known.length > 0 && this.choices.chance(0.5)
        ? this.choices.pick(known)
        : this.choices.weighted(this.#extent.sizes);
      const size = count * drawn > this.#extent.most ? 1 : drawn;
      count *= size;
      shape.push(size);
    }
    return shape;
  }

  /** A dimension of new data: mostly one of the program's sizes, so that calls may change it. */
  #sizeRef(size: number): SizeRef {
    if (this.choices.chance(0.25)) return size;
    const same = this.#sizes.flatMap((each, k) => each === size ? [k] : []);
    const known = this.choices.pickAny(same);
    if (known !== undefined && this.choices.chance(0.8)) return { size: known };
    this.#sizes.push(size);
    return { size: this.#sizes.length - 1 };
  }

  #data(name: string, spec: DataSpec): DataStatement {
    const { choices } = this;
    const shape = spec.shape.map((size) => this.#sizeRef(size));
    const low = spec.low ?? (spec.dtype === "uint8" ? 0 : isFloat(spec.dtype) ? -2 : -4);
    const high = spec.high ?? (isFloat(spec.dtype) ? 2 : 6);
    const named = shape.find((ref) =>
      typeof ref !== "number" && spec.plain && this.#sizes[ref.size] === high
    );
    const values: Values = {
      seed: choices.below(1000),
      low,
      high: named ?? high,
      special: spec.plain !== true && isFloat(spec.dtype) && choices.chance(0.02) &&
        (this.limits.subnormals || "normal"),
    };
    return { kind: "data", name, shape, dtype: spec.dtype, values, grad: spec.grad ?? false };
  }

  /** New data before the call; the result is its variable there. */
  source(spec: DataSpec): Variable {
    const data = this.#data(this.fresh("x"), spec);
    this.#setup.push(data);
    const meta = knownMeta(contiguousMeta(spec.shape, spec.dtype, "cpu"));
    if (!meta) throw new Error("Expected data of known sizes");
    const grad = spec.grad ?? false, isIndex = spec.low === 0 && spec.plain && isInteger(spec.dtype);
    const made = {
      name: data.name,
      meta,
      grad,
      leaf: grad,
      ...isIndex && spec.high !== undefined ? { below: spec.high } : {},
    };
    this.#sources.push(made);
    return made;
  }

  /** A tensor of the setup created by a call there: a view of another one, or a tensor with history. */
  derivedSource(call: Statement & { readonly kind: "call" }, made: Variable): void {
    this.#setup.push(call);
    this.#sources.push(made);
  }

  /** A further parameter, to which calls pass a tensor of the setup. */
  param(source: Variable): Variable {
    const name = this.fresh("p");
    this.#params.push({ name, arg: source.name });
    const made = { ...source, name };
    this.#variables.unshift(made);
    return made;
  }

  /** A parameter that is a number. */
  numberParam(value: number): string {
    const name = this.fresh("p");
    this.#params.push({ name, arg: value });
    this.numbers.push({ name, value });
    return name;
  }

  /** New data that the function captures. */
  captured(spec: DataSpec): Variable {
    const data = this.#data(this.fresh("w"), spec);
    this.#state.push(data);
    const meta = knownMeta(contiguousMeta(spec.shape, spec.dtype, "cpu"));
    if (!meta) throw new Error("Expected data of known sizes");
    const made = { name: data.name, meta, grad: spec.grad ?? false, leaf: spec.grad ?? false };
    this.#variables.unshift(made);
    return made;
  }

  /** Appends a statement to the innermost list. */
  push(statement: Statement): void {
    this.#lists.at(-1)?.push(statement);
  }

  /** Registers a variable. */
  add(made: Variable): void {
    this.#variables.push(made);
  }

  /** Records that a variable has become the result of a recorded operation. */
  gainHistory(name: string): void {
    this.#variables = this.#variables.map((each) => each.name === name ? { ...each, grad: true } : each);
  }

  /** Statements added by `body`, as a separate list; their bindings are forgotten. */
  inside(body: () => void): readonly Statement[] {
    const outer = this.#variables, numbers = this.numbers.length, unsized = this.unsized.length;
    this.#variables = [...outer];
    const list: Statement[] = [];
    this.#lists.push(list);
    try {
      body();
    } finally {
      this.#lists.pop();
      // Parameters that were added meanwhile are visible everywhere
      const known = new Set(outer.map(({ name }) => name));
      this.#variables = [
        ...this.#variables.filter(({ name }) => /^[pw]/.test(name) && !known.has(name)),
        ...outer,
      ];
      this.numbers.length = numbers;
      this.unsized.length = unsized;
    }
    return list;
  }

  /** A variable, later ones more often; among those that fit, if there is a condition. */
  pick(fits: (v: Variable) => boolean = () => true): Variable | undefined {
    const all = this.#variables.filter(fits);
    if (all.length === 0) return undefined;
    return this.choices.weighted(all.map((each, k) => [1 + k, each]));
  }

  /** A size as an argument: mostly the number, sometimes an expression that reads it. */
  sizeArg(size: number): Arg {
    if (!this.choices.chance(0.3)) return size;
    const places = this.#variables.flatMap(({ name, meta }) =>
      meta.shape.flatMap((s, d) => s === size ? [{ name, d }] : [])
    );
    const place = this.choices.pickAny(places);
    return place === undefined ? size : { kind: "shape", of: place.name, dim: place.d };
  }

  /** The finished program. */
  finish(results: readonly Arg[], calls: readonly Call[], dynamic: boolean | null): Program {
    return {
      state: this.#state,
      optimizer: this.optimizer,
      setup: this.#setup,
      params: this.#params.map(({ name }) => name),
      body: this.#lists[0] ?? [],
      results,
      calls,
      dynamic,
    };
  }

  /** Variables of the body that no statement reads. */
  get unread(): readonly string[] {
    const read = new Set([...everyStatement(this.#lists[0] ?? [])].flatMap(namesRead));
    return this.#variables.map(({ name }) => name).filter((name) => !read.has(name));
  }

  /** Values of the sizes in the first call. */
  get sizes(): readonly number[] {
    return this.#sizes;
  }

  /** Returns whether generated data stays small with these sizes. */
  holds(sizes: readonly number[]): boolean {
    return [...this.#state, ...this.#setup].every((statement) => {
      if (statement.kind !== "data") return true;
      const count = statement.shape.reduce<number>((count, size) => count * sizeIn(size, sizes), 1);
      return count <= 2 * this.#extent.most;
    });
  }

  /** The arguments of the first call. */
  get args(): readonly (string | number)[] {
    return this.#params.map(({ arg }) => arg);
  }
}

/** A variable as an argument. */
export function use(v: Variable): Arg {
  return variable(v.name);
}
