/**
 * Plans of eager calls, made once per signature. Invariant: two calls with one signature (types, layouts, constants)
 * have one plan; a plan holds no tensor.
 */
import { runsAsLoaded } from "../base/loaded_builtins.ts";
import { append, refuseElements } from "../base/inherited_elements.ts";
import { preferringOwnBuiltins, restoresAsLoaded } from "../base/own_builtins.ts";
import {
  type DType,
  getDefaultDtype,
  highest,
  isFloat,
  isHalf,
  isInteger,
  itemSize,
  lowest,
} from "../base/dtype.ts";
import { DynError, InternalError } from "../base/errors.ts";
import type { TensorMeta } from "../graph/meta.ts";
import { type CompiledProgram, deviceReplacements } from "../loops/device.ts";
import { isCreation, takesInplace } from "../ops/call.ts";
import type { OpDefinition } from "../ops/definition.ts";
import type { ArgsOf, Param, ParamKind, Params } from "../ops/params.ts";
import { ALL_OPS } from "../ops/table.ts";
import { Sym } from "../sym/expr.ts";
import type { Layout } from "./layout.ts";
import { Tensor } from "./tensor.ts";

/** The arguments of a call over eager tensors. */
export type TensorArgs = ArgsOf<Params, Tensor>;

/** The program and results of a signature. */
export interface Plan {
  readonly results: readonly Layout[];
  /** null: no result has elements. */
  readonly program: CompiledProgram | null;
  /**
   * The reads of kernels, in the order of the program's inputs: tensors by their place in the call, −1 and −2 for
   * the random keys, −3 − k for number k of `numbers`.
   */
  readonly reads: readonly number[];
  /** Parameters whose numbers are inputs of the program rather than constants in it. */
  readonly numbers: readonly LoadedNumber[];
  /** Whether each run takes keys from the generator, even if it does not use them, since calls are counted. */
  readonly draws: boolean;
  /** The values of the program's sizes. */
  readonly sizes: readonly number[];
}

/** How calls of a composition with one signature run. */
export interface ComposedPlan {
  /** null: op by op. */
  plan: Plan | null;
  /** Number of calls that ran op by op. */
  calls: number;
  /** A candidate for the plan. */
  trial: Plan | null;
  /** Number of trials with operands that reveal the order of additions. */
  revealed: number;
  readonly numbers: readonly LoadedNumber[];
}

/** A number that a program loads from memory. */
export interface LoadedNumber {
  readonly param: string;
  readonly dtype: DType;
}

/** The layout and offset of a view in its storage. */
export interface ViewPlace {
  readonly layout: Layout;
  readonly offset: number;
}

/** A slot for a parameter. */
interface Slot {
  readonly name: string;
  readonly kind: ParamKind;
  /** Whether it accepts tensors. */
  readonly tensors: boolean;
}

/** Plans by signature, and by signature with loaded numbers left open. */
export class PlanCache<P> {
  readonly exact = new Map<string, P>();
  readonly general = new Map<string, P>();
  /** Number of plans that differ only in numbers. */
  readonly variants = new Map<string, number>();
  #replacements = deviceReplacements();

  /** Forgets programs of devices that others have replaced. */
  keepCurrent(): void {
    const now = deviceReplacements();
    if (this.#replacements === now) return;
    this.#replacements = now;
    for (const plans of [this.exact, this.general, this.variants]) plans.clear();
  }
}

/** Maximum number of plans in one cache; beyond it all are dropped, which only costs time. */
const PLAN_LIMIT = 8192;

/** After this many plans that differ only in numbers, one plan that loads them serves all further calls. */
const VARIANT_LIMIT = 4;

/** An op with the data that eager calls need besides its definition: a digest of its parameters, and its plans. */
export class OpEntry {
  readonly slots: readonly Slot[];
  /** Whether it creates tensors, so that calls may pass `requiresGrad`. */
  readonly creates: boolean;
  /** Whether calls may request the result in the first tensor. */
  readonly takesInplace: boolean;
  readonly plans: PlanCache<Plan> = new PlanCache<Plan>();
  /** Plans of compositions. */
  readonly composed: PlanCache<ComposedPlan> = new PlanCache<ComposedPlan>();
  /**
   * Parameters whose numbers may be loaded, which of them may be next to integer tensors, and those with a computation
   * of their own.
   */
  readonly loadable: readonly {
    readonly param: string;
    readonly kind: Param["loadable"];
    readonly constants: readonly number[];
  }[];
  /** Of views: the positions of results, by signature with offsets; null if the call copies. */
  readonly views = new Map<string, readonly ViewPlace[] | null>();
  /** Signatures whose arguments `infer` accepted, for compositions. */
  readonly checked = new Set<string>();
  /** `cacheName`: its name in the disk cache, for dyn's own ops. */
  constructor(readonly definition: OpDefinition, readonly cacheName: string | null = null) {
    this.creates = isCreation(definition);
    this.takesInplace = takesInplace(definition);
    this.loadable = definition.checksNumbers ? [] : Object.entries(definition.params)
      .filter(([, { kind, loadable }]) => kind === "operand" || loadable)
      .map(([param, { loadable, changes }]) => ({ param, kind: loadable, constants: changes?.not ?? [] }));
    this.slots = Object.entries(definition.params).map(([name, { kind }]) => ({
      name,
      kind,
      tensors: takesTensors(kind),
    }));
  }
}

function takesTensors(kind: ParamKind): boolean {
  return kind === "tensor" || kind === "operand" || kind === "tensors" || kind === "tensorsOrNulls";
}

/** Runs a call out of place; provided by eager dispatch. */
export type Execute = (entry: OpEntry, args: TensorArgs) => readonly Tensor[];

const entries = new Map<OpDefinition, OpEntry>();
const OWN: ReadonlySet<OpDefinition> = new Set(ALL_OPS);

/** The entry of a definition. */
export function entryOf(definition: OpDefinition): OpEntry {
  const known = entries.get(definition);
  if (known) return known;
  const made = new OpEntry(definition, OWN.has(definition) ? definition.name : null);
  entries.set(definition, made);
  return made;
}

/** The tensors of a call in the order of parameters; a list contributes its items. */
export function tensorsOf(entry: OpEntry, args: TensorArgs): Tensor[] {
  const found: Tensor[] = [];
  for (const slot of entry.slots) {
    if (!slot.tensors) continue;
    const value = args[slot.name];
    if (value instanceof Tensor) append(found, value);
    else if (Array.isArray(value)) {
      for (const each of value) if (each instanceof Tensor) append(found, each);
    }
  }
  return found;
}

/** A cache of plans, and the function that makes them. */
interface PlanSource<P> {
  readonly cache: PlanCache<P>;
  readonly make: (numbers: readonly LoadedNumber[]) => P;
  /** Returns a plan that needs no compilation, or was compiled before; undefined: it must be made. */
  readonly known?: (numbers: readonly LoadedNumber[], policy: "ready" | "cached") => P | undefined;
}

function knownPlan<P>({ known }: PlanSource<P>, numbers: readonly LoadedNumber[]): P | undefined {
  if (known === undefined) return undefined;
  const ready = runsAsLoaded() ? known(numbers, "ready") : undefined;
  return ready ?? (restoresAsLoaded() ? known(numbers, "cached") : undefined);
}

function planFrom<P>(source: PlanSource<P>, numbers: readonly LoadedNumber[]): P {
  const known = knownPlan(source, numbers);
  if (known !== undefined) return known;
  refuseElements();
  return preferringOwnBuiltins(() => source.make(numbers));
}

/** The plan of a call, created on demand. */
export function findPlan<P>(entry: OpEntry, args: TensorArgs, source: PlanSource<P>): P {
  const { cache } = source;
  cache.keepCurrent();
  const key = signatureOf(entry, args);
  const known = cache.exact.get(key);
  if (known !== undefined) return known;
  const numbers = numbersToLoad(entry, args);
  if (numbers.length > 0) {
    const general = generalSignature(entry, args, numbers);
    const loading = cache.general.get(general);
    if (loading !== undefined) return loading;
    const exact = knownPlan(source, []), kept = exact === undefined ? knownPlan(source, numbers) : undefined;
    if (exact !== undefined) return noted(cache, key, exact);
    if (kept !== undefined) {
      cache.general.set(general, kept);
      return kept;
    }
    const variants = (cache.variants.get(general) ?? 0) + 1;
    cache.variants.set(general, variants);
    if (variants > VARIANT_LIMIT) {
      const made = planFrom(source, numbers);
      cache.general.set(general, made);
      return made;
    }
  }
  return noted(cache, key, planFrom(source, []));
}

/** Caches a plan for calls with this signature, and returns it. */
function noted<P>(cache: PlanCache<P>, key: string, plan: P): P {
  if (cache.exact.size > PLAN_LIMIT) {
    cache.exact.clear();
    cache.variants.clear();
  }
  cache.exact.set(key, plan);
  return plan;
}

/**
 * Numbers that may be loaded as 0-d operands without changing types: those next to a tensor with dimensions, which
 * outranks them within their category. A number out of the range of its type stays a constant, since ops depend on its
 * value.
 */
function numbersToLoad(entry: OpEntry, args: TensorArgs): LoadedNumber[] {
  if (entry.loadable.length === 0) return [];
  let dims = false, double = false, low = -(2 ** 31), high = 2 ** 31 - 1, integers = true;
  for (const { layout: { shape, dtype } } of tensorsOf(entry, args)) {
    if (shape.length > 0 && dtype !== "bool") dims = true;
    if (dtype === "float64") double = true;
    if (isInteger(dtype)) {
      [low, high] = [Math.max(low, Number(lowest(dtype))), Math.min(high, Number(highest(dtype)))];
    } else if (isFloat(dtype)) integers = false;
  }
  if (!dims) return [];
  return entry.loadable.flatMap(({ param, kind, constants }): LoadedNumber[] => {
    const value = args[param];
    // An integer cannot be -0
    if (typeof value !== "number" || !Number.isFinite(value) || Object.is(value, -0)) return [];
    if (constants.includes(value)) return [];
    if (Number.isInteger(value)) {
      const least = kind === "natural" && integers ? 0 : low;
      if (kind === "nonzero" && integers && value === 0) return [];
      return value >= least && value <= high ? [{ param, dtype: "int32" }] : [];
    }
    if (double) return [{ param, dtype: "float64" }];
    // Numbers have the type of the computation
    return isHalf(getDefaultDtype()) ? [] : [{ param, dtype: getDefaultDtype() }];
  });
}

function generalSignature(entry: OpEntry, args: TensorArgs, numbers: readonly LoadedNumber[]): string {
  const open: Record<string, TensorArgs[string]> = { ...args };
  for (const { param, dtype } of numbers) open[param] = `#${dtype}`;
  return signatureOf(entry, open);
}

/** The signature of a call as text. With `offsets`, views at different offsets differ. */
export function signatureOf(entry: OpEntry, args: TensorArgs, offsets = false): string {
  let key = getDefaultDtype() === "float32" ? "" : `${getDefaultDtype()},`;
  for (const slot of entry.slots) {
    const value = args[slot.name];
    if (value instanceof Tensor) {
      key += offsets && value.offset !== 0 ? `t${value.layout.id}@${value.offset},` : `t${value.layout.id},`;
    } else key += `${constantKey(value, offsets)},`;
  }
  return key;
}

/** A constant as part of a key. With `offsets`, views at different offsets differ. */
export function constantKey(value: unknown, offsets: boolean): string {
  switch (typeof value) {
    case "number":
      return value === 0 && 1 / value < 0 ? "-0" : `${value}`;
    case "boolean":
      return value ? "T" : "F";
    case "bigint":
      return `${value}n`;
    case "string":
      return JSON.stringify(value);
    default:
      if (value === null) return "N";
      if (value instanceof Tensor) return `t${value.layout.id}${offsets ? `@${value.offset}` : ""}`;
      if (value instanceof Sym) {
        throw new DynError(`Expected known sizes for tensors with elements but found ${value}`);
      }
      if (Array.isArray(value)) return listKey(value, offsets);
      throw new InternalError(`Expected an argument of an op but found ${typeof value}`);
  }
}

function listKey(list: readonly unknown[], offsets: boolean): string {
  let key = "[";
  for (let k = 0; k < list.length; k++) {
    key += k === 0 ? constantKey(list[k], offsets) : `,${constantKey(list[k], offsets)}`;
  }
  return `${key}]`;
}

/** A call's arguments with each tensor replaced. */
export function mapTensors<T>(
  entry: OpEntry,
  args: TensorArgs,
  change: (tensor: Tensor) => T,
): ArgsOf<Params, T> {
  const mapped: Record<string, ArgsOf<Params, T>[string]> = {};
  for (const { name } of entry.slots) {
    const value = args[name];
    if (value instanceof Tensor) mapped[name] = change(value);
    else if (isTensorList(value)) mapped[name] = value.map((each) => each === null ? null : change(each));
    else mapped[name] = value ?? null;
  }
  return mapped;
}

function isTensorList(value: TensorArgs[string] | undefined): value is readonly (Tensor | null)[] {
  return Array.isArray(value) && value.some((each) => each instanceof Tensor);
}

/** Metadata of the results of a call. */
export function inferResults(
  definition: OpDefinition,
  args: ArgsOf<Params, TensorMeta>,
): readonly TensorMeta[] {
  const inferred = definition.infer(args);
  return isMetas(inferred) ? inferred : [inferred];
}

function isMetas(value: TensorMeta | readonly TensorMeta[]): value is readonly TensorMeta[] {
  return Array.isArray(value);
}

/** Returns the offset of a tensor in its memory, in bytes. */
export function byteOffsetOf(tensor: Tensor): number {
  return tensor.offset === 0 ? 0 : tensor.offset * itemSize(tensor.layout.dtype);
}
