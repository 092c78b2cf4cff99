/**
 * Records which sizes and numbers of a function have changed between calls, and decides whether a place is treated as
 * constant or as a symbol. Invariant: shared by all entries of a function (and of each of its resumed parts), so that
 * only the second value of a place causes a recompilation.
 */
import { logs } from "../../base/logs.ts";
import type { DynamicProfile } from "./dynamic_profile.ts";
import { constructorText } from "../guards/runtime.ts";
import { isSmallInteger } from "../../sym/integers.ts";
import type { SizeSource } from "../../sym/size_guards.ts";

/** Treatment of sizes and numbers: automatic, all symbolic, or none. */
export type DynamicMode = "automatic" | "always" | "never";

/** Primitives whose changes are recorded. */
type Changing = number | string | symbol | boolean | bigint;

/** Returns whether changes of a value are recorded. */
export function isChanging(value: unknown): value is Changing {
  const type = typeof value;
  return type === "number" || type === "string" || type === "symbol" || type === "boolean" ||
    type === "bigint";
}

/** The last known state of a number or another primitive. */
interface NumberHistory {
  readonly last: Changing;
  readonly changed: boolean;
}

/**
 * Positions in lists and collections, and keys of Maps, within the text of a place. Elements far behind in long lists
 * change on their own: each input costs.
 */
const POSITIONS = /\[\d{1,2}\]|\(\d{1,2}\)|(?<=\.get)\("(?:[^"\\]|\\.)*"\)/g;

/** The text of a place without its position in a list; null: it is in none. */
function listOf(place: string): string | null {
  const list = place.replace(POSITIONS, "[*]");
  return list === place ? null : list;
}

/** A query about a place, with the value found there now. */
export type Asked =
  | { readonly kind: "number"; readonly place: string; readonly value: Changing }
  | { readonly kind: "object"; readonly place: string; readonly value: object }
  /** A prototype, compared by the text of its constructor. */
  | { readonly kind: "prototype"; readonly place: string; readonly value: object }
  | { readonly kind: "shape" | "strides"; readonly place: string; readonly value: readonly number[] };

/**
 * Whether a number or another primitive has changed; "alike": it has not, or is new, but another element of the same
 * list has; "fraction": one of them has, and has not been an integer.
 */
type NumberChange = boolean | "alike" | "fraction";

/** Whether a place has changed; for a shape and strides, each dimension. */
export type Answer = NumberChange | readonly boolean[];

/** The last known list of sizes or strides, and which of them have changed. */
interface SizesHistory {
  readonly last: readonly number[];
  readonly changed: readonly boolean[];
}

/** The dimensions from the innermost to the outermost. */
const orderOf = (strides: readonly number[]): string =>
  `${[...strides.keys()].sort((a, b) => (strides[a] ?? 0) - (strides[b] ?? 0) || b - a)}`;

/** The last known state of an object. */
interface ObjectHistory {
  readonly last: WeakRef<object>;
  readonly changed: boolean;
}

function noteObject(known: ObjectHistory | undefined, object: object): ObjectHistory {
  if (known?.last.deref() === object) return known;
  return { last: new WeakRef(object), changed: known !== undefined };
}

/** Maximum number of classes distinguished at a place. */
const MOST_CLASSES = 4;

/** Maximum number of versions that each serve a single value of a number, a key or a list of keys. */
const MOST_NEEDED = 3;

/** Number of calls that may run twice because an assumption failed. */
const MOST_FAILED = 4;

/** The recorded changes of one function. */
export class ChangeHistory {
  #numbers = new Map<string, NumberHistory>();
  /** The lists of which an element has changed. */
  #lists = new Set<string>();
  /** The numbers, and lists of numbers, that have not been integers. */
  #fractions = new Set<string>();
  #objects = new Map<string, ObjectHistory>();
  readonly #functions = new Map<string, ObjectHistory>();
  /** The classes seen last at each place. Their texts are parts of their modules' texts. */
  #prototypes = new Map<string, readonly (ObjectHistory & { readonly text: string | null })[]>();
  readonly #expected = new Set<string>();
  /** Places that stay constant however often they change, with the function that has no rule for a symbol. */
  readonly #fixed = new Map<string, string>();
  #shapes = new Map<string, SizesHistory>();
  /** Strides by their source and the order of dimensions. */
  #strides = new Map<string, SizesHistory>();

  /**
   * Values that versions were specialised for, because something needs a concrete value, by the computation that yields
   * it.
   */
  readonly #needed = new Map<string, Set<unknown>>();
  readonly #told = new Set<string>();
  #failedAssumptions = 0;
  /** Recorded queries with their answers; null: not recorded. */
  asked: (Asked & { readonly changed: Answer })[] | null = null;

  /** `title`: the function as warnings name it. */
  constructor(private readonly profile: DynamicProfile, private readonly title: () => string) {}

  /**
   * Records a number or another primitive; returns whether it has had another value before. A number where a tensor has
   * been is an operand, which differs in the next call as the tensor does.
   */
  numberChanges(source: string, value: Changing): NumberChange {
    const known = this.#numbers.get(source);
    const own = known === undefined
      ? this.profile.changed(source, null) || (typeof value === "number" && this.#shapes.has(source))
      : known.changed || !Object.is(known.last, value);
    const list = listOf(source), of = list ?? source;
    if (typeof value === "number" && !isSmallInteger(value)) this.#fractions.add(of);
    if (own && list !== null) this.#lists.add(list);
    const alike = own || (list !== null && this.#lists.has(list) && "alike");
    const changed = alike && this.#fractions.has(of) ? "fraction" : alike;
    if (own && known && !known.changed) {
      this.profile.note(source, null);
      logs.emit("dynamic", () => `automatic dynamic ${source}: ${String(known.last)} -> ${String(value)}`);
    }
    this.#numbers.set(source, { last: value, changed: own });
    this.asked?.push({ kind: "number", place: source, value, changed });
    return changed;
  }

  /** Records that the guard on a constant has failed at a place: the list it is in has changed before it is read. */
  constantFailed(place: string): void {
    const list = listOf(place);
    if (list !== null) this.#lists.add(list);
  }

  /** Records an object; returns whether there has been another one before. */
  objectChanges(source: string, object: object): boolean {
    const noted = noteObject(this.#objects.get(source), object), { changed } = noted;
    this.#objects.set(source, noted);
    this.asked?.push({ kind: "object", place: source, value: object, changed });
    return changed;
  }

  /** Records a function; returns whether there has been another one before of the same kind, by its name and text. */
  functionChanges(source: string, fn: object, kind: string): boolean {
    const key = `${source}: ${kind}`, noted = noteObject(this.#functions.get(key), fn);
    this.#functions.set(key, noted);
    return noted.changed;
  }

  /** Records a prototype; returns whether there has been another one before whose constructor has the same text. */
  prototypeChanges(source: string, prototype: object): boolean {
    const text = constructorText(prototype), known = this.#prototypes.get(source) ?? [];
    const former = known.find((each) => each.text === text), others = known.filter((each) => each !== former);
    const noted = noteObject(former, prototype);
    this.#prototypes.set(source, [{ text, ...noted }, ...others.slice(0, MOST_CLASSES - 1)]);
    this.asked?.push({ kind: "prototype", place: source, value: prototype, changed: noted.changed });
    return noted.changed;
  }

  /** Records a shape; returns for each dimension whether it has had another size before. */
  shapeChanges(source: string, shape: readonly number[]): readonly boolean[] {
    const known = this.#shapes.get(source);
    const changed = shape.map((size, d) =>
      known === undefined
        ? this.profile.changed(source, d)
        : known.last.length === shape.length && ((known.changed[d] ?? false) || known.last[d] !== size)
    );
    changed.forEach((now, d) => {
      if (!now || !known || known.changed[d]) return;
      this.profile.note(source, d);
      logs.emit("dynamic", () => `automatic dynamic ${source}.shape[${d}]: ${known.last[d]} -> ${shape[d]}`);
    });
    this.#shapes.set(source, { last: shape, changed });
    this.asked?.push({ kind: "shape", place: source, value: shape, changed });
    return changed;
  }

  /**
   * Records strides; returns for each dimension whether it has had another one before, as parts of tensors do that grow.
   * Tensors whose dimensions have another order, or are dense where they were not, have versions of their own.
   */
  strideChanges(source: string, strides: readonly number[]): readonly boolean[] {
    const key = `${source} in the order ${orderOf(strides)}`, known = this.#strides.get(key);
    const changed = strides.map((stride, d) => {
      const last = known?.last[d] ?? stride;
      return known?.changed[d] === true || (last !== stride && Math.min(last, stride) > 1);
    });
    this.#strides.set(key, { last: strides, changed });
    this.asked?.push({ kind: "strides", place: source, value: strides, changed });
    return changed;
  }

  /** Declares that a number is never a constant, because it is read from a tensor. */
  expectChanges(source: string): void {
    if (!this.#numbers.has(source)) this.#numbers.set(source, { last: NaN, changed: true });
    this.#expected.add(source);
  }

  /**
   * Declares a size or number constant from now on, however often it changes, because something has no rule for it as a
   * symbol. Returns false if it was constant already, or cannot be.
   */
  fix({ base, part }: SizeSource, rule: string): boolean {
    if (this.#expected.has(base)) return false;
    // All strides of a tensor are constant together
    const key = part.kind === "shape" ? `${base}.shape[${part.dim}]` : base;
    if (this.#fixed.has(key)) return false;
    this.#fixed.set(key, rule);
    return true;
  }

  /**
   * Records that a version serves a single value; returns whether there are more than `most` of these; then further
   * values should share one.
   */
  needsOne(computation: string, value: unknown, most = MOST_NEEDED): boolean {
    const known = this.#needed.get(computation) ?? new Set();
    this.#needed.set(computation, known);
    if (known.size >= most) return !known.has(value);
    known.add(value);
    return false;
  }

  /** The number of places warned about, whose further values all share the last version. */
  get toldPlaces(): number {
    return this.#told.size;
  }

  /** Warns about a place, once. */
  tellOnce(place: string, text: string): void {
    if (this.#told.has(place)) return;
    this.#told.add(place);
    logs.emit("recompiles", () => `${this.title()}: ${text}`, "warning");
  }

  /** Records that a call violated an assumption about sizes that depend on elements. */
  assumptionFailed(): void {
    this.#failedAssumptions++;
  }

  /** Whether assumptions about such sizes are still made: not after too many calls have violated them. */
  get mayAssume(): boolean {
    return this.#failedAssumptions < MOST_FAILED;
  }

  /**
   * Repeats the queries of an earlier process and returns whether the answers are the same; otherwise nothing is
   * recorded.
   */
  agrees(former: readonly (Asked & { readonly changed: Answer })[]): boolean {
    const numbers = this.#numbers, objects = this.#objects, shapes = this.#shapes, strides = this.#strides;
    const prototypes = this.#prototypes, lists = this.#lists, fractions = this.#fractions;
    this.#lists = new Set(lists);
    this.#fractions = new Set(fractions);
    this.#prototypes = new Map(prototypes);
    this.#numbers = new Map(numbers);
    this.#objects = new Map(objects);
    this.#shapes = new Map(shapes);
    this.#strides = new Map(strides);
    const isSame = (asked: Asked & { readonly changed: Answer }) =>
      JSON.stringify(this.#answer(asked)) === JSON.stringify(asked.changed);
    if (former.every(isSame)) return true;
    this.#numbers = numbers;
    this.#lists = lists;
    this.#fractions = fractions;
    this.#objects = objects;
    this.#prototypes = prototypes;
    this.#shapes = shapes;
    this.#strides = strides;
    return false;
  }

  #answer(asked: Asked): Answer {
    const { kind, place, value } = asked;
    switch (kind) {
      case "number":
        return this.numberChanges(place, value);
      case "object":
        return this.objectChanges(place, value);
      case "prototype":
        return this.prototypeChanges(place, value);
      case "shape":
        return this.shapeChanges(place, value);
      case "strides":
        return this.strideChanges(place, value);
      default:
        return asked satisfies never;
    }
  }

  /** Whether anything was made constant because a rule is missing. */
  get hasFixed(): boolean {
    return this.#fixed.size > 0;
  }

  /** Returns whether a number, or a dimension of a tensor, is constant. */
  isFixed(source: string, dim?: number): boolean {
    return this.#fixed.has(source) || (dim !== undefined && this.#fixed.has(`${source}.shape[${dim}]`));
  }

  /** The functions without a rule for changing numbers and sizes, for messages. */
  get rulesMissing(): readonly string[] {
    return [...new Set(this.#fixed.values())];
  }

  clear(): void {
    this.#numbers.clear();
    this.#lists.clear();
    this.#fractions.clear();
    this.#objects.clear();
    this.#prototypes.clear();
    this.#shapes.clear();
    this.#strides.clear();
    this.#needed.clear();
    this.#failedAssumptions = 0;
  }
}
