/**
 * Reads sources in generated code: each place once, into a local variable. Invariant: reading a source in generated
 * code returns what the tracer read there, and runs no user code.
 */
import { types } from "node:util";
import {
  itemAt,
  keysLeft,
  kindsLeft,
  nextKind,
  placeAt,
  valuesLeft,
} from "../functions/iterator_positions.ts";
import { BUILTIN_VARIABLES } from "../functions/builtin_objects.ts";
import { sortedPlaces } from "../functions/sorting_polyfills.ts";
import { hasKey, keysOf, membersOf, sizeOf, valueAtKey, valuesOf } from "../../base/collections.ts";
import { invariant } from "../../base/errors.ts";
import type { Question, Source } from "../source.ts";
import { bytesPart, numberAt, typedElement } from "./bytes.ts";
import { leafKey } from "./text.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { getterOf, OTHERWISE, valueOf } from "./data_reads.ts";
import {
  type HostCall,
  type HostElement,
  type HostExpression,
  type HostLeaf,
  hostText,
  innermostFirst,
  type RankedNumber,
  type SharedExpression,
} from "../variables/host_number.ts";

/** Global variables that generated code uses by name, as they were when dyn was loaded. */
const OWN_GLOBALS = { Math, Object, Reflect, Array, Map, Set, Number } as const;

/**
 * Objects to which generated code refers: parameters of the enclosing function. Each name always refers to the same
 * object.
 */
export class Constants {
  readonly #names = new Map<unknown, string>();
  readonly #values = new Map<string, unknown>();

  /** The name by which the code refers to this object. */
  name(value: unknown, hint = "$c"): string {
    let name = this.#names.get(value);
    if (name === undefined) {
      name = `${hint}${this.#values.size}`;
      this.#names.set(value, name);
      this.#values.set(name, value);
    }
    return name;
  }

  /** Adds a value under a separate name, in addition to one that it may already have. */
  add(name: string, value: unknown): void {
    if (!this.#names.has(value)) this.#names.set(value, name);
    this.#values.set(name, value);
  }

  /** Objects to which the code refers, by name. */
  get values(): ReadonlyMap<string, unknown> {
    return this.#values;
  }

  /** Evaluates `body`, the text of an expression, with the objects in scope. */
  evaluate(body: string): unknown {
    const names = [...Object.keys(OWN_GLOBALS), ...this.#values.keys()];
    const make = new Function(...names, `"use strict";\nreturn (${body});`);
    return make(...Object.values(OWN_GLOBALS), ...this.#values.values());
  }
}

/** The captured variable of a function, by index; set by the frame layer's adapter. */
export type CapturedReader = (fn: unknown, index: number) => unknown;

/** Reads that later functions of generated code need not repeat. */
interface SharedReads {
  /** Objects at known places, by the names of these. */
  readonly found: ReadonlyMap<string, object>;
  /** Indices of lists of entries in the array `lists`, by the listed object. Null: lists are in variables. */
  readonly lists: Map<string, string> | null;
}

/** Reads from objects that may differ from those that the trace has read. */
export interface Care {
  /** The statement that ends the code if only the program's own code could provide a value. */
  readonly refuse: () => string;
  /** Returns whether accessors of the object at a place are known to be unchanged or irrelevant. */
  readonly isSettled: (source: Source) => boolean;
  /** Places that are known not to hold proxies. */
  readonly inspected: Set<string>;
}

/** Writes reads of sources. */
export class SourceReader {
  readonly #known = new Map<string, string>();

  constructor(
    /** Appends a statement. */
    readonly emit: (line: string) => void,
    readonly constants: Constants,
    /** Returns the text of an argument. */
    readonly argument: (index: number, label: string) => string,
    readonly self: string,
    readonly readCaptured: CapturedReader,
    /** Returns an unused name for a local variable with given contents. */
    readonly fresh: (wish: string) => string,
    readonly shared: SharedReads = { found: new Map(), lists: null },
    /** Null: guards have verified that only data properties are read. */
    readonly care: Care | null = null,
  ) {}

  /** An expression for the value at a source. */
  read(source: Source): string {
    switch (source.kind) {
      case "argument":
        return this.argument(source.index, source.label);
      case "this":
        return this.self;
      case "known":
        return this.constants.name(source.object);
      default:
    }
    const found = this.shared.found.get(source.name);
    if (found !== undefined) return this.constants.name(found);
    const known = this.#known.get(source.name);
    if (known !== undefined) return known;
    const { care } = this, careful = care && this.#careful(source, care);
    const text = careful ?? this.#text(source);
    const name = this.fresh(
      source.kind === "property" && typeof source.key === "string" ? source.key : source.kind,
    );
    this.emit(`const ${name} = ${text};`);
    if (care && careful) this.emit(`if (${name} === ${this.constants.name(OTHERWISE)}) ${care.refuse()}`);
    this.#known.set(source.name, name);
    return name;
  }

  /** An expression for the value at a source that is inspected further, which on a proxy would run traps. */
  inside(source: Source): string {
    return this.#inspected(
      source,
      (value, { inspected }) =>
        inspected.has(source.name) ? null : `${this.constants.name(types.isProxy)}(${value})`,
    );
  }

  /**
   * The same for a tensor, which a private field identifies: proxies do not have it, nor do objects whose accessors are
   * named like its members.
   */
  insideTensor(source: Source): string {
    return this.#inspected(source, (value) => `!${this.constants.name(Tensor.isInstance)}(${value})`);
  }

  /** The value at a source, which calls are refused for on a condition; null: it was tested before. */
  #inspected(source: Source, refusedIf: (value: string, care: Care) => string | null): string {
    const value = this.read(source), { care } = this;
    if (!care || source.kind === "known" || this.shared.found.has(source.name)) return value;
    const condition = refusedIf(value, care);
    care.inspected.add(source.name);
    if (condition !== null) this.emit(`if (${condition}) ${care.refuse()}`);
    return value;
  }

  /** Reads a data property that might be an accessor by now; null: read in the usual way. */
  #careful(source: Source, { isSettled }: Care): string | null {
    const { constants } = this;
    if (source.kind === "global") {
      if (BUILTIN_VARIABLES.has(source.variable)) return null;
      return `${constants.name(valueOf)}(${constants.name(globalThis)}, ${JSON.stringify(source.variable)})`;
    }
    if (source.kind !== "property" || isSettled(source.base)) return null;
    const { base, key } = source, object = this.inside(base);
    if (typeof key === "symbol") return `${constants.name(valueOf)}(${object}, ${constants.name(key)})`;
    const asProperty = `${constants.name(valueOf)}(${object}, ${JSON.stringify(key)})`;
    if (!INDEX.test(key)) return asProperty;
    // Written out, since V8 inlines only a limited amount into a check
    const [owns, getter] = [hasOwn, getterOf].map((read) => `${constants.name(read)}(${object}, ${key})`);
    return `${owns} && ${getter} === undefined ? ${object}[${key}] : ${asProperty}`;
  }

  #text(source: Source): string {
    switch (source.kind) {
      case "argument":
      case "this":
      case "known":
        return this.read(source);
      case "global":
        return /^[A-Za-z_$][\w$]*$/.test(source.variable)
          ? `globalThis.${source.variable}`
          : `globalThis[${JSON.stringify(source.variable)}]`;
      case "cell":
        return `${this.constants.name(source.cell)}.get()`;
      case "captured":
        return `${this.constants.name(this.readCaptured)}(${this.read(source.base)}, ${source.index})`;
      case "property": {
        const base = this.inside(source.base);
        if (typeof source.key === "symbol") return `${base}[${this.constants.name(source.key)}]`;
        if (/^[A-Za-z_$][\w$]*$/.test(source.key)) return `${base}.${source.key}`;
        if (INDEX.test(source.key)) return `${base}[${source.key}]`;
        return `${base}[${JSON.stringify(source.key)}]`;
      }
      case "accessor":
        return `${this.constants.name(ACCESSOR_READERS[source.part])}(${this.inside(source.base)}, ${
          typeof source.key === "string" ? JSON.stringify(source.key) : this.constants.name(source.key)
        })`;
      case "prototype":
        return `${this.constants.name(prototypeOf)}(${this.read(source.base)})`;
      case "private":
        return `${this.constants.name(source.access)}.get(${this.read(source.base)})`;
      case "element": {
        const { base, at, question } = source;
        return `${this.constants.name(LIST_READERS[ANSWERS[question]])}(${this.read(base)}, ${
          this.host(at)
        })`;
      }
      case "lookup": {
        const { base, part, key } = source, { constants } = this;
        const args = part === "size" ? "" : `, ${constants.name(key)}`;
        return `${constants.name(LIST_READERS[LOOKUPS[part]])}(${this.read(base)}${args})`;
      }
      case "computed":
        return this.host(source.expression);
      case "bytes": {
        const { base, part } = source;
        return `${this.constants.name(bytesPart)}(${this.read(base)}, ${JSON.stringify(part)})`;
      }
      case "entry": {
        const { base, part, index } = source;
        if (part === "kind" || part === "item" || part === "place" || part === "last") {
          return `${this.constants.name(LIST_READERS[ITERATED[part]])}(${this.read(base)}, ${index})`;
        }
        return `${this.#list(base, part)}[${index}]`;
      }
      default:
        return source satisfies never;
    }
  }

  /** An expression for the list in which an item is. */
  listOf({ base, part }: PlaceInList): string {
    return part === null ? this.inside(base) : this.#list(base, part);
  }

  #list(base: Source, part: keyof typeof LISTED): string {
    const key = `${base.name} ${part}s`;
    const { lists } = this.shared;
    const known = (lists ?? this.#known).get(key);
    if (known !== undefined) return known;
    const text = `${this.constants.name(LIST_READERS[LISTED[part]])}(${this.read(base)})`;
    const name = lists ? `lists[${lists.size}]` : this.fresh(`${part}s`);
    this.emit(lists ? `${name} = ${text};` : `const ${name} = ${text};`);
    (lists ?? this.#known).set(key, name);
    return name;
  }

  /** The names of the results of calls of builtins. */
  readonly called: Map<HostCall, string> = new Map();

  #called(call: HostCall): string {
    const name = this.called.get(call);
    invariant(name !== undefined, "Expected the call of a builtin before what uses it");
    return name;
  }

  /** A number in memory, read once, before anything is written. */
  #element({ source, at, form }: HostElement): string {
    const { constants } = this, base = this.read(source), index = this.host(at);
    const text = form
      ? `${constants.name(numberAt)}(${base}, ${constants.name(form)}, ${index})`
      : `${constants.name(typedElement)}(${base}, ${index})`;
    return this.#once("element", text, () => text);
  }

  /** A variable for the value of an expression, evaluated once. */
  #once(wish: string, key: string, text: () => string): string {
    let name = this.#known.get(key);
    if (name === undefined) {
      const value = text();
      this.#known.set(key, name = this.fresh(wish));
      this.emit(`const ${name} = ${value};`);
    }
    return name;
  }

  #shared(whole: SharedExpression): string {
    for (const each of innermostFirst(whole, (part) => !this.#known.has(leafKey(part)))) {
      this.#once("number", leafKey(each), () => this.host(each.of));
    }
    return this.#once("number", leafKey(whole), () => this.host(whole.of));
  }

  /** An element of a sorted list, whose columns and their order are variables. */
  #ranked({ ranking: { columns, order, number }, at, part }: RankedNumber): string {
    const rows = columns.map((column, k) =>
      this.#once("column", `column ${k} of ranking ${number}`, () => `[${column.map((e) => this.host(e))}]`)
    );
    const places = this.#once("places", `places of ranking ${number}`, () => {
      const compared = this.host(order, ({ side, column }) => `${rows[column]}[${side === 0 ? "i" : "j"}]`);
      return `${this.constants.name(sortedPlaces)}(${columns[0]?.length}, (i, j) => ${compared})`;
    });
    return part === "place" ? `${places}[${at}]` : `${rows[0]}[${places}[${at}]]`;
  }

  /** A host expression over sources; `compared` names what a comparator compares. */
  host(
    expression: HostExpression,
    compared: (leaf: Extract<HostLeaf, { kind: "compared" }>) => string = noComparator,
  ): string {
    return hostText(expression, (leaf) => {
      if (leaf.kind === "called") return this.#called(leaf.call);
      if (leaf.kind === "compared") return compared(leaf);
      if (leaf.kind === "ranked") return this.#ranked(leaf);
      if (leaf.kind === "element") return this.#element(leaf);
      if (leaf.kind === "shared") return this.#shared(leaf);
      const base = this.read(leaf.source);
      if (leaf.kind === "source") return base;
      return leaf.part === "shape" ? `${base}.shape[${leaf.dim}]` : `${base}.stride()[${leaf.dim}]`;
    });
  }
}

/** Functions by which generated code reads lists of entries. */
export const LIST_READERS: Readonly<Record<string, unknown>> = {
  mapKeys: keysOf,
  mapValues: valuesOf,
  setMembers: membersOf,
  nextKind,
  itemAt,
  placeAt,
  fromEnd,
  elementAt,
  indexIn,
  isIn,
  valueAtKey,
  hasKey,
  sizeOf,
  bytesPart,
  numberAt,
  typedElement,
  kindsLeft,
  keysLeft,
  valuesLeft,
};

const { getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { hasOwn, is } = Object, { isArray } = Array;

function noComparator(): never {
  invariant(false, "Expected a comparison only where rows are compared");
}

/** Returns an object's prototype; reading that of a proxy would run its trap. */
const prototypeOf = (object: object): unknown => types.isProxy(object) ? undefined : getPrototypeOf(object);

/** The accessors of an own property; undefined if it is not an accessor. */
const ACCESSOR_READERS = {
  get: (base: object, key: PropertyKey): unknown => getOwnPropertyDescriptor(base, key)?.get,
  set: (base: object, key: PropertyKey): unknown => getOwnPropertyDescriptor(base, key)?.set,
} as const;

/** Indices of elements, as written in keys. */
const INDEX = /^(0|[1-9]\d{0,8})$/;

/** The place of an item of an array, or of the list of the keys or values of a Map. */
export interface PlaceInList {
  /** The name of the list. */
  readonly list: string;
  readonly base: Source;
  readonly part: "key" | "value" | "member" | null;
  readonly at: number;
}

/** The place of an item in a list; null for other places. */
export function itemPlace(source: Source): PlaceInList | null {
  if (source.kind === "property" && typeof source.key === "string" && INDEX.test(source.key)) {
    return { list: source.base.name, base: source.base, part: null, at: Number(source.key) };
  }
  if (source.kind !== "entry") return null;
  const { base, part, index } = source;
  if (part !== "key" && part !== "value" && part !== "member") return null;
  return { list: `${base.name} ${part}s`, base, part, at: index };
}

/** Functions that read a single item of an iterator, and lists of items. */
const ITERATED = { kind: "nextKind", item: "itemAt", place: "placeAt", last: "fromEnd" } as const;
const ANSWERS = {
  element: "elementAt",
  get: "valueAtKey",
  has: "hasKey",
  indexOf: "indexIn",
  includes: "isIn",
} as const satisfies Record<Question, string>;
const LOOKUPS = { get: "valueAtKey", has: "hasKey", size: "sizeOf" } as const;
const LISTED = {
  key: "mapKeys",
  value: "mapValues",
  member: "setMembers",
  kindLeft: "kindsLeft",
  keyLeft: "keysLeft",
  valueLeft: "valuesLeft",
} as const;

/** The element of a list at an index, or an own property; undefined if it is an accessor. */
function elementAt(list: unknown[], at: PropertyKey): unknown {
  return types.isProxy(list) ? undefined : getOwnPropertyDescriptor(list, at)?.value;
}

/** The first index of an element that passes a test, or -1; undefined if there are accessors before it. */
function firstIndex(list: unknown, isWanted: (element: unknown) => boolean): number | undefined {
  if (types.isProxy(list) || !isArray(list)) return undefined;
  for (let i = 0; i < list.length; i++) {
    const found = getOwnPropertyDescriptor(list, i);
    if (found && !("value" in found)) return undefined;
    if (found && isWanted(found.value)) return i;
  }
  return -1;
}

/** The first index of a number or string in a list, or -1; undefined if only the program's code could tell. */
export function indexIn(list: unknown, wanted: unknown): number | undefined {
  return firstIndex(list, (element) => element === wanted);
}

/** Returns whether a number or string is in a list; undefined if only the program's code could tell. */
export function isIn(list: unknown, wanted: unknown): boolean | undefined {
  const found = firstIndex(list, (element) => element === wanted || is(element, wanted));
  return found === undefined ? undefined : found >= 0;
}

/** The element of a list counted from its end; undefined if it is an accessor. */
function fromEnd(list: unknown[], count: number): unknown {
  return types.isProxy(list) ? undefined : getOwnPropertyDescriptor(list, list.length - count)?.value;
}

/** The reader of a function of `self`, `args` and, if `shared` says so, `lists`, whose statements go to `lines`. */
export function callReader(
  lines: string[],
  { constants, readCaptured, care, shared }: {
    readonly constants: Constants;
    readonly readCaptured: CapturedReader;
    readonly care: Care;
    readonly shared?: SharedReads;
  },
): SourceReader {
  let next = 0;
  return new SourceReader(
    (line) => lines.push(line),
    constants,
    (index) => `args[${index}]`,
    "self",
    readCaptured,
    () => `v${next++}`,
    shared,
    care,
  );
}
