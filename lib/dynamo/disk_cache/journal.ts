/**
 * The journal of a trace: everything that it has read of the program's state, so that a later process can decide
 * whether its own trace would be the same.
 *
 * Why that suffices: a trace is a function of what it reads. It reads only objects that it has encountered, and a
 * description covers everything that can be read of one (shapes.ts), including the numbers of the objects that it
 * refers to. Of functions it reads code, which is determined by the text of their modules and their position in it, and
 * variables: their values, and the identity of those that may change. The rest of a function starts with the running
 * functions and with arguments for all live values, as its plan says, which is part of the key. So if every object of
 * the journal has an equal one at the same place, with nothing left over, the trace is the same step by step, up to
 * these objects. Anything else that a trace could read is refused when it is read (noted_reads.ts), or is part of the
 * journal's key.
 *
 * Invariant: an object that cannot be found again from the call, from builtins or from what is found there is refused.
 */
import { isChanging } from "../cache/automatic_dynamic.ts";
import type { Plain } from "../../base/recording.ts";
import { isOfIdentity } from "../../base/own_sources.ts";
import { types } from "node:util";
import { begunAt } from "../functions/iterator_positions.ts";
import { cellOfBox, isVariable } from "../resume/cells.ts";
import type { LiveCell } from "../frame/info.ts";
import { isLiveCell } from "./place_forms.ts";
import { DamagedForm, listIn, NotStorable, numberIn, recordIn, textIn } from "../../sym/stored/forms.ts";
import { consultedModules } from "../frame/capture.ts";
import { isNative } from "../frame/source_text.ts";
import { infoOf } from "../functions/functions.ts";
import { markOfFunction } from "../functions/marks.ts";
import { functionLabel } from "../variables/labels.ts";
import { builtinAt, isAsLoaded, placeOfBuiltin } from "./builtin_paths.ts";
import {
  cellIn,
  checkImports,
  Differs,
  importForms,
  labelOf,
  type Place,
  placeOf,
  Texts,
  urlOf,
} from "./function_places.ts";
import type { NotedBeginning, NotedReads } from "./noted_reads.ts";
import { describeKey, isLocal, isPrimitive, readKey, writeKey } from "./plain_values.ts";
import {
  describe,
  describeValue,
  isPlainTensor,
  type Numbering,
  type Properties,
  type PropertiesOf,
  propertiesOnce,
  propertyOf,
} from "./shapes.ts";

/** The call with which a trace begins. */
export interface TracedCall {
  /** The function; for a resumed function, the running functions, if they are the same in all calls. */
  readonly running: readonly object[];
  /** Modules whose texts determine the code, besides those of the running functions. */
  readonly modules: readonly string[];
  readonly self: unknown;
  readonly args: readonly unknown[];
}

/** Indices of numeric arguments of which the trace has used only what guards check. */
export type FreeNumbers = ReadonlySet<number>;

/** Numbers objects in the order in which they are found. */
class Numbers implements Numbering {
  readonly objects: object[] = [];
  readonly #numbers = new Map<object, number>();
  readonly #memory = new Map<object, number>();
  readonly #symbols = new Map<symbol, number>();
  readonly #read = new Set<number>();
  readonly propertiesOf: PropertiesOf = propertiesOnce();

  numberOf(object: object): number | undefined {
    return this.#numbers.get(standIn(object));
  }

  add(object: object): number {
    const number = this.objects.push(object) - 1;
    this.#numbers.set(object, number);
    return number;
  }

  memoryOf(storage: object, tensor: number): number {
    const known = this.#memory.get(storage);
    if (known === undefined) this.#memory.set(storage, tensor);
    return known ?? tensor;
  }

  noteRead(number: number): void {
    this.#read.add(number);
  }

  isRead(number: number): boolean {
    return this.#read.has(number);
  }

  /**
   * Symbols that exist in one process only are numbered in order of appearance: symbols with the same description stay
   * distinct.
   */
  readonly keyOf = (key: string | symbol): Plain => {
    const form = describeKey(key);
    if (typeof key === "string" || !isLocal(form)) return form;
    const known = this.#symbols.get(key) ?? this.#symbols.size;
    this.#symbols.set(key, known);
    return [...form, known];
  };
}

/** A journal that is being written. */
interface WrittenJournal {
  readonly form: Plain;
  /** The number of an object. Throws NotStorable if the object is not part of it. */
  numberOf(object: object): number;
}

/** A variable in place of the object that generated code uses for it; other values unchanged. */
const standIn = <T>(value: T): T | LiveCell => isVariable(value) ? cellOfBox(value) : value;

const BEGUN = ["optimizer", "param", "group"] as const;

const isObject = (value: unknown): value is object => !isPrimitive(value);

/** Writes what a trace has read: `met` are the objects that it encountered. Throws NotStorable. */
export function writeJournal(call: TracedCall, { reads, met, freeNumbers }: {
  readonly reads: NotedReads;
  readonly met: Iterable<object>;
  readonly freeNumbers: FreeNumbers;
}): WrittenJournal {
  if (reads.refused !== null) throw new NotStorable(reads.refused);
  const list = [...met], cells: ReadonlySet<object> = reads.cells;
  for (const object of list) if (isVariable(object)) reads.cells.add(cellOfBox(object));
  const wanted = wantedOf(reads, list.map(standIn)), numbers = new Numbers(), from: Plain[] = [];
  const reach: Reach = (found, kind, i, which) => {
    if (!isObject(found) || (cells.size === 0 && !wanted.has(found))) return;
    const object = standIn(found);
    if (!wanted.has(object) || numbers.numberOf(object) !== undefined) return;
    try {
      const at = i === undefined ? [] : [i];
      from.push(
        which === undefined
          ? [kind, ...at]
          : [kind, typeof which === "number" ? which : writeKey(which), ...at],
      );
    } catch (error) {
      // There may be another path, without a symbol that exists in this process only
      if (error instanceof NotStorable) return;
      throw error;
    }
    numbers.add(object);
  };
  for (const object of wanted) {
    const place = placeOfBuiltin(object);
    if (place !== undefined) reach(object, "builtin", undefined, place);
  }
  call.running.forEach((fn, i) => reach(fn, "running", i));
  reach(call.self, "this");
  call.args.forEach((value, i) => reach(value, "argument", i));
  // Entries last: those of an optimizer's states exist only once these are created, which needs the parameters
  let walked = 0;
  for (const withEntries of [false, true]) {
    for (let i = 0; i < numbers.objects.length; i++) {
      const object = numbers.objects[i];
      if (!object) break;
      if (i >= walked) {
        walked = i + 1;
        if (cells.has(object)) reach(contentOf(object)?.value, "content", i);
        else reachFrom(object, i, { reads, reach, properties: numbers.propertiesOf(object) });
      }
      if (!withEntries || cells.has(object)) continue;
      for (const [at, [key, value]] of entriesOf(object).entries()) {
        reach(key, "key", i, at);
        reach(value, "value", i, at);
      }
    }
  }
  const lost = [...wanted].find((object) => numbers.numberOf(object) === undefined);
  if (lost) throw new NotStorable(`${labelOf(lost)}, which cannot be located`);
  const texts = new Texts(), callers = callForm(call, freeNumbers, numbers);
  const objects = numbers.objects.map((object, i): Plain => {
    const code = functionForm(object, { reads, numbers, texts });
    if (Array.isArray(code.site)) numbers.noteRead(i);
    return {
      from: from[i] ?? null,
      ...cells.has(object)
        ? { content: contentForm(object, numbers) }
        : needsShape(from[i])
        ? { shape: shapeText(object, i, numbers) }
        : {},
      ...code,
    };
  });
  for (const url of [...call.modules, ...consultedModules()]) if (!isOfIdentity(url)) texts.numberOf(url);
  return {
    form: {
      objects,
      texts: texts.form,
      imports: importForms(),
      call: callers,
      freeNumbers: [...freeNumbers],
      begun: reads.begun.map((each) => BEGUN.map((part) => numbers.numberOf(each[part]) ?? null)),
    },
    numberOf(object) {
      const found = numbers.numberOf(object);
      if (found === undefined) throw new NotStorable(`${labelOf(object)}, which the trace has not seen`);
      if (isVariable(object)) throw new NotStorable("a variable as an object");
      return found;
    },
  };
}

/**
 * Everything that must be found again: the objects encountered, the contents of variables, and everything from which
 * these inherit.
 */
function wantedOf(reads: NotedReads, met: Iterable<object>): ReadonlySet<object> {
  const cells: ReadonlySet<object> = reads.cells;
  const wanted = new Set<object>([...met, ...cells, ...reads.functions.keys()]);
  for (const beginning of reads.begun) for (const part of BEGUN) wanted.add(beginning[part]);
  for (const [fn, variables] of reads.functions) {
    for (const value of [...variables.values(), ...boundParts(fn) ?? []]) {
      if (isObject(value)) wanted.add(value);
    }
  }
  for (const object of wanted) {
    if (types.isProxy(object)) throw new NotStorable("a proxy");
    if (cells.has(object)) continue;
    const prototype: object | null = Object.getPrototypeOf(object), iterated = begunAt(object)?.over;
    if (typeof iterated === "object") wanted.add(iterated);
    // The set grows during the walk
    if (prototype) wanted.add(prototype);
  }
  return wanted;
}

/** Returns the contents of a variable; null if it is not initialised. */
function contentOf(cell: object): { readonly value: unknown } | null {
  if (!isLiveCell(cell)) throw new DamagedForm("Expected a variable");
  try {
    return { value: cell.get() };
  } catch {
    return null;
  }
}

function contentForm(cell: object, numbering: Numbering): Plain {
  const content = contentOf(cell);
  return content && [describeValue(content.value, numbering)];
}

const isCell = (value: unknown, { cells }: NotedReads): boolean => isLiveCell(value) && cells.has(value);

const shapeText = (object: object, number: number, numbering: Numbering): string =>
  JSON.stringify(describe(object, number, numbering));

/** Returns whether an object found this way may differ in another process. */
function needsShape(way: Plain | undefined): boolean {
  const [kind, place] = listIn(way);
  return kind !== "builtin" || !isAsLoaded(textIn(place));
}

/** The running functions, the receiver and the arguments, as visible to the trace. */
function callForm({ running, self, args }: TracedCall, free: FreeNumbers, numbering: Numbering): Plain {
  const of = (value: unknown) => describeValue(value, numbering);
  const isFree = (value: unknown, i: number) => isChanging(value) && free.has(i);
  return [[...running, self].map(of), args.map((value, i) => isFree(value, i) ? typeof value : of(value))];
}

/** Called with a value and the edge to it: its kind, the number of the object that it begins at, and its key or place. */
type Reach = (found: unknown, kind: string, from?: number, which?: string | symbol | number) => void;

/** Follows the edges from the object with number `i`. */
function reachFrom(
  object: object,
  i: number,
  { reads, reach, properties }: {
    readonly reads: NotedReads;
    readonly reach: Reach;
    readonly properties: Properties;
  },
): void {
  reach(Object.getPrototypeOf(object), "prototype", i);
  for (const [key, { value, get, set }] of properties) {
    if (isObject(value)) reach(value, "property", i, key);
    if (get) reach(get, "getter", i, key);
    if (set) reach(set, "setter", i, key);
  }
  const mark = typeof object === "function" ? markOfFunction(object) : undefined;
  if (mark && "original" in mark) reach(mark.original, "original", i);
  if (isPlainTensor(object)) reach(object.state?.grad, "gradient", i);
  reach(begunAt(object)?.over, "iterated", i);
  if (reads.functions.has(object)) {
    for (const [at, part] of boundParts(object)?.entries() ?? []) reach(part, "bound", i, at);
  }
  for (const [name, value] of reads.functions.get(object) ?? []) {
    reach(value, isCell(value, reads) ? "cell" : "variable", i, name);
  }
}

/** Returns the target, receiver and arguments of a bound function; null for other functions, which have a text. */
function boundParts(fn: object): readonly unknown[] | null {
  if (!isNative(fn)) return null;
  const info = infoOf(fn);
  return info.kind === "bound" ? [info.target, info.self, ...info.args] : null;
}

function entriesOf(object: object): readonly (readonly [unknown, unknown])[] {
  if (types.isMap(object)) return [...Map.prototype.entries.call(object)];
  return types.isSet(object) ? [...Set.prototype.entries.call(object)] : [];
}

/** Serialises the reads of a function. */
function functionForm(fn: object, { reads, numbers, texts }: {
  readonly reads: NotedReads;
  readonly numbers: Numbers;
  readonly texts: Texts;
}): { readonly [key: string]: Plain } {
  const variables = reads.functions.get(fn);
  if (!variables) return {};
  const parts = boundParts(fn);
  if (parts) return { bound: parts.map((part) => describeValue(part, numbers)) };
  const place = placeOf(fn);
  // A function without a source remains so; text without a URL may differ each time
  if (!place && isNative(fn)) return { site: null };
  if (!place) throw new NotStorable(`${functionLabel(fn)}, whose source is not known`);
  return {
    site: [texts.numberOf(place.url), place.at],
    variables: [...variables].map((
      [name, value],
    ) => [name, describeValue(value, numbers), isCell(value, reads)]),
  };
}

/**
 * The objects of a journal in another process; `begin` creates a state that the trace has created, `isExact`: no
 * argument may differ. Throws Differs, DamagedForm and NotStorable.
 */
export function readJournal(
  form: Plain,
  call: TracedCall,
  begin: (beginning: NotedBeginning) => void,
): { readonly objects: readonly object[]; readonly isExact: boolean } {
  const { objects: list, texts, imports, call: given, freeNumbers, begun } = recordIn(form);
  checkImports(imports ?? null);
  const urls = listIn(texts).map((each) => urlOf(each));
  const world = new World(call), entries = listIn(list).map(recordIn);
  const ways = entries.map(({ from }) => listIn(from));
  for (const each of listIn(begun)) {
    const [optimizer, param, group] = listIn(each).map((number) => world.peek(numberIn(number), ways));
    if (optimizer && param && group) begin({ optimizer, param, group });
  }
  for (const way of ways) world.add(way);
  const { objects, numbers } = world;
  const free = new Set(listIn(freeNumbers).map(numberIn));
  if (JSON.stringify(callForm(call, free, numbers)) !== JSON.stringify(given)) {
    throw new Differs("the arguments have changed");
  }
  entries.forEach(({ from, shape, content, bound, site, variables }, i) => {
    const object = objects[i];
    if (!object) throw new DamagedForm("Expected as many objects as descriptions");
    if (Array.isArray(site)) numbers.noteRead(i);
    if (content !== undefined) {
      const now = JSON.stringify(contentForm(object, numbers));
      if (now !== JSON.stringify(content)) throw new Differs("a variable holds something else");
    } else if (needsShape(from) && shapeNow(object, i, numbers) !== shape) {
      throw new Differs(`${labelOf(object)} is another one`);
    }
    if (bound !== undefined) {
      const now = boundParts(object)?.map((part) => describeValue(part, numbers));
      if (JSON.stringify(now) !== JSON.stringify(bound)) {
        throw new Differs(`${labelOf(object)} is bound otherwise`);
      }
      return;
    }
    if (site === undefined) return;
    if (boundParts(object)) throw new Differs(`${labelOf(object)} is a bound function`);
    if (site === null) {
      if (!isNative(object)) throw new Differs(`${labelOf(object)} is not a function of the runtime`);
      return;
    }
    const [text, at] = listIn(site), found = world.placeOf(object);
    if (found.url !== urls[numberIn(text)] || JSON.stringify(found.at) !== JSON.stringify(at)) {
      throw new Differs(`${labelOf(object)} stands elsewhere`);
    }
    for (const each of listIn(variables)) {
      const [name, expected = null, isCell] = listIn(each);
      const held = isCell === true
        ? { kind: "value", value: cellIn(object, textIn(name)) } as const
        : found.lookup(textIn(name));
      const now = held?.kind === "value" ? JSON.stringify(describeValue(held.value, numbers)) : held?.kind;
      if (now !== JSON.stringify(expected)) throw new Differs(`${textIn(name)} holds something else`);
    }
  });
  return { objects, isExact: free.size === 0 };
}

/** The description of an object that was described in another process. */
function shapeNow(object: object, number: number, numbering: Numbering): string | null {
  try {
    return shapeText(object, number, numbering);
  } catch (error) {
    if (error instanceof NotStorable) return null;
    throw error;
  }
}

/** Objects that have been found again, edge by edge. */
class World {
  readonly numbers = new Numbers();
  readonly #places = new Map<object, Place>();
  readonly #entries = new Map<object, readonly (readonly [unknown, unknown])[]>();

  constructor(private readonly call: TracedCall) {}

  get objects(): readonly object[] {
    return this.numbers.objects;
  }

  /** Follows an edge. Throws Differs if it leads to no object, or to one found before. */
  add(way: readonly Plain[]): void {
    const found = this.#follow(way);
    if (!isObject(found)) throw new Differs(`${JSON.stringify(way)} leads nowhere`);
    if (types.isProxy(found)) throw new Differs(`${JSON.stringify(way)} leads to a proxy`);
    if (this.numbers.numberOf(found) !== undefined) {
      throw new Differs(`${JSON.stringify(way)} leads to a known object`);
    }
    this.numbers.add(found);
  }

  /** The object of a number, before its turn. Throws Differs. */
  peek(number: number, ways: readonly (readonly Plain[])[]): object {
    const way = ways[number];
    if (!way) throw new DamagedForm(`Expected one of ${ways.length} objects but found ${number}`);
    const found = this.#follow(way, (from) => {
      if (from >= number) throw new DamagedForm("Expected the number of an object that comes before");
      return this.peek(from, ways);
    });
    if (!isObject(found) || types.isProxy(found)) throw new Differs(`${JSON.stringify(way)} leads nowhere`);
    return found;
  }

  placeOf(fn: object): Place {
    let place = this.#places.get(fn);
    if (!place) {
      const found = typeof fn === "function" ? placeOf(fn) : null;
      if (!found) throw new Differs(`${labelOf(fn)} has no known source`);
      this.#places.set(fn, place = found);
    }
    return place;
  }

  #follow([kind, ...rest]: readonly Plain[], at = (number: number) => this.objects[number]): unknown {
    switch (kind) {
      case "builtin":
        return builtinAt(textIn(rest[0]));
      case "running":
        return this.call.running[numberIn(rest[0])];
      case "this":
        return this.call.self;
      case "argument":
        return standIn(this.call.args[numberIn(rest[0])]);
      default:
    }
    const from = at(numberIn(rest.at(-1))), [which = null] = rest;
    if (!from) throw new DamagedForm("Expected the number of an object that comes before");
    const own = () => propertyOf(from, readKey(which));
    switch (kind) {
      case "prototype":
        return Object.getPrototypeOf(from);
      case "property":
        return own()?.value;
      case "getter":
        return own()?.get;
      case "setter":
        return own()?.set;
      case "original": {
        const mark = markOfFunction(from);
        return mark && "original" in mark ? mark.original : undefined;
      }
      case "iterated":
        return begunAt(from)?.over;
      case "bound":
        return boundParts(from)?.[numberIn(which)];
      case "gradient":
        return isPlainTensor(from) ? from.grad : undefined;
      case "key":
      case "value":
        return this.#entriesOf(from)[numberIn(which)]?.[kind === "key" ? 0 : 1];
      case "variable": {
        const held = this.placeOf(from).lookup(textIn(which));
        return held?.kind === "value" ? standIn(held.value) : undefined;
      }
      case "cell":
        return cellIn(from, textIn(which));
      case "content":
        return contentOf(from)?.value;
      default:
        throw new DamagedForm(`Expected a way but found ${JSON.stringify(kind)}`);
    }
  }

  #entriesOf(object: object): readonly (readonly [unknown, unknown])[] {
    let entries = this.#entries.get(object);
    if (!entries) this.#entries.set(object, entries = entriesOf(object));
    return entries;
  }
}
