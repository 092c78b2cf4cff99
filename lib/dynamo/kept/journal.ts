/**
 * What a trace has seen of the world, so that a later process can tell whether the same trace would come of it.
 *
 * Input: a call, the objects that its trace has met and what it read of functions; output: a journal as data; later the
 * same call in another process: the objects that stand for those of the journal, or where the two worlds differ.
 *
 * Why that suffices: a trace is a function of what it reads. Whatever it reads of an object, it reads of one that it has
 * met, and a description says all that there is to be read of one (shapes.ts), with the numbers of those it refers to. Of
 * functions it reads code, which is the text of their modules and their place in it, and variables that never change. So
 * where every object of the journal has an equal one at the same place, with nothing left over, the trace is the same step
 * by step, up to these objects. What a trace could read besides is refused where it is asked for (noted_reads.ts), or part
 * of the key under which the journal is kept.
 *
 * Invariant: an object that cannot be found again from the call, from builtins or from what is found there is refused.
 */
import type { Plain } from "../../base/recording.ts";
import { fingerprintText } from "../../base/fingerprint.ts";
import { isOfIdentity } from "../../base/own_sources.ts";
import { types } from "node:util";
import { DamagedForm, listIn, NotStorable, numberIn, recordIn, textIn } from "../../sym/stored/forms.ts";
import { consultedModules, type FunctionSite, moduleText, siteOf } from "../frame/capture.ts";
import { mapOf } from "../frame/kept_texts.ts";
import { classLabel, functionLabel } from "../variables/wrap.ts";
import { builtinAt, isAsLoaded, placeOfBuiltin } from "./builtin_paths.ts";
import type { NotedBeginning, NotedReads } from "./noted_reads.ts";
import { isPrimitive, readKey, writeKey } from "./plain_values.ts";
import {
  describe,
  describeValue,
  isPlainTensor,
  type Numbering,
  propertiesOf,
  propertyOf,
} from "./shapes.ts";

/** The call that a trace begins with. */
export interface TracedCall {
  readonly fn: object;
  readonly self: unknown;
  readonly args: readonly unknown[];
}

/** Two worlds differ. */
export class Differs extends Error {
  override readonly name = "Differs";
}

/** Numbers for objects, in the order in which they are found. */
class Numbers implements Numbering {
  readonly objects: object[] = [];
  readonly #numbers = new Map<object, number>();
  readonly #memory = new Map<object, number>();

  numberOf(object: object): number | undefined {
    return this.#numbers.get(object);
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
}

/** A journal that is being written. */
export interface WrittenJournal {
  readonly form: Plain;
  /** The number of an object. Throws NotStorable for one that is not part of it. */
  numberOf(object: object): number;
}

const BEGUN = ["optimizer", "param", "group"] as const;

const isObject = (value: unknown): value is object => !isPrimitive(value);

/** Writes what a trace has seen: `met` are the objects that came into it. Throws NotStorable. */
export function writeJournal(call: TracedCall, reads: NotedReads, met: Iterable<object>): WrittenJournal {
  if (reads.refused !== null) throw new NotStorable(reads.refused);
  const wanted = wantedOf(reads, met), numbers = new Numbers(), from: Plain[] = [];
  const reach = (object: unknown, way: () => readonly Plain[]) => {
    if (!isObject(object) || !wanted.has(object) || numbers.numberOf(object) !== undefined) return;
    try {
      from.push(way());
    } catch (error) {
      // There may be another way, without a symbol that only this process knows
      if (error instanceof NotStorable) return;
      throw error;
    }
    numbers.add(object);
  };
  for (const object of wanted) {
    const place = placeOfBuiltin(object);
    if (place !== undefined) reach(object, () => ["builtin", place]);
  }
  reach(call.fn, () => ["function"]);
  reach(call.self, () => ["this"]);
  call.args.forEach((value, i) => reach(value, () => ["argument", i]));
  // Entries last: those of an optimizer's states are there only once they are begun, which needs the parameters
  for (const withEntries of [false, true]) {
    for (let i = 0; i < numbers.objects.length; i++) {
      const object = numbers.objects[i];
      if (!object) break;
      for (const [value, way] of waysFrom(object, reads)) reach(value, () => [...way(), i]);
      if (!withEntries) continue;
      for (const [at, [key, value]] of entriesOf(object).entries()) {
        reach(key, () => ["key", at, i]);
        reach(value, () => ["value", at, i]);
      }
    }
  }
  const lost = [...wanted].find((object) => numbers.numberOf(object) === undefined);
  if (lost) throw new NotStorable(`${labelOf(lost)}, which is found nowhere`);
  const texts = new Texts();
  const objects = numbers.objects.map((object, i): Plain => ({
    from: from[i] ?? null,
    ...needsShape(from[i]) ? { shape: shapeText(object, i, numbers) } : {},
    ...functionForm(object, { reads, numbers, texts }),
  }));
  for (const url of consultedModules()) if (!isOfIdentity(url)) texts.numberOf(url);
  return {
    form: {
      objects,
      texts: texts.form,
      call: callForm(call, numbers),
      begun: reads.begun.map((each) => BEGUN.map((part) => numbers.numberOf(each[part]) ?? null)),
    },
    numberOf(object) {
      const found = numbers.numberOf(object);
      if (found === undefined) throw new NotStorable(`${labelOf(object)}, which the trace has not met`);
      return found;
    },
  };
}

/** Everything that is to be found again: what was met, what variables hold, and what all of that inherits from. */
function wantedOf(reads: NotedReads, met: Iterable<object>): ReadonlySet<object> {
  const wanted = new Set<object>([...met, ...reads.functions.keys()]);
  for (const beginning of reads.begun) for (const part of BEGUN) wanted.add(beginning[part]);
  for (const variables of reads.functions.values()) {
    for (const value of variables.values()) if (isObject(value)) wanted.add(value);
  }
  for (const object of wanted) {
    if (types.isProxy(object)) throw new NotStorable("a proxy");
    const prototype: object | null = Object.getPrototypeOf(object);
    // A set that grows is walked to its end
    if (prototype) wanted.add(prototype);
  }
  return wanted;
}

function labelOf(object: object): string {
  return typeof object === "function"
    ? functionLabel(object)
    : `an object of ${classLabel(Object.getPrototypeOf(object))}`;
}

const shapeText = (object: object, number: number, numbering: Numbering): string =>
  JSON.stringify(describe(object, number, numbering));

/** Whether what is found so may be another thing in another process. */
function needsShape(way: Plain | undefined): boolean {
  const [kind, place] = listIn(way);
  return kind !== "builtin" || !isAsLoaded(textIn(place));
}

/** The receiver and the arguments as the trace can see them. */
function callForm({ self, args }: TracedCall, numbering: Numbering): Plain {
  return [self, ...args].map((value) => describeValue(value, numbering));
}

/** A way from one object to another: what follows is the number of the first. */
type Way = () => readonly Plain[];

/** Where an object leads to, and how. */
function* waysFrom(object: object, reads: NotedReads): Generator<readonly [unknown, Way]> {
  yield [Object.getPrototypeOf(object), () => ["prototype"]];
  for (const [key, { value, get, set }] of propertiesOf(object)) {
    if (isObject(value)) yield [value, () => ["property", writeKey(key)]];
    if (get) yield [get, () => ["getter", writeKey(key)]];
    if (set) yield [set, () => ["setter", writeKey(key)]];
  }
  if (isPlainTensor(object)) yield [object.state?.grad, () => ["gradient"]];
  for (const [name, value] of reads.functions.get(object) ?? []) yield [value, () => ["variable", name]];
}

function entriesOf(object: object): readonly (readonly [unknown, unknown])[] {
  if (types.isMap(object)) return [...Map.prototype.entries.call(object)];
  return types.isSet(object) ? [...Set.prototype.entries.call(object)] : [];
}

/** The texts that functions and variables were looked up in. */
class Texts {
  readonly #numbers = new Map<string, number>();
  readonly form: Plain[] = [];

  numberOf(url: string): number {
    const known = this.#numbers.get(url);
    if (known !== undefined) return known;
    const number = this.form.push([url, printOf(url)]) - 1;
    this.#numbers.set(url, number);
    return number;
  }
}

/** What tells a module's text from others; null for dyn's own, which the key of the journal stands for. */
function printOf(url: string): string | null {
  if (isOfIdentity(url)) return null;
  const text = moduleText(url);
  if (text === null) throw new NotStorable(`a function of ${url}, whose text is not known`);
  // Lines of the user's file stand in guards and graphs
  return `${text.length} ${fingerprintText(`${text}\n${mapOf(url)?.payload.mappings ?? ""}`)}`;
}

/** What was read of a function. */
function functionForm(fn: object, { reads, numbers, texts }: {
  readonly reads: NotedReads;
  readonly numbers: Numbers;
  readonly texts: Texts;
}): { readonly [key: string]: Plain } {
  const variables = reads.functions.get(fn);
  if (!variables) return {};
  const site = siteOf(fn);
  if (!site) throw new NotStorable(`${functionLabel(fn)}, whose source is not known`);
  return {
    site: [texts.numberOf(site.url), site.offset],
    variables: [...variables].map(([name, value]) => [name, describeValue(value, numbers)]),
  };
}

/**
 * The objects of a journal in the world of another process; `begin` begins a state that the trace has begun. Throws
 * Differs, DamagedForm and NotStorable.
 */
export function readJournal(
  form: Plain,
  call: TracedCall,
  begin: (beginning: NotedBeginning) => void,
): readonly object[] {
  const { objects: list, texts, call: given, begun } = recordIn(form),
    urls = listIn(texts).map((each) => urlOf(each));
  const world = new World(call), entries = listIn(list).map(recordIn);
  const ways = entries.map(({ from }) => listIn(from));
  for (const each of listIn(begun)) {
    const [optimizer, param, group] = listIn(each).map((number) => world.peek(numberIn(number), ways));
    if (optimizer && param && group) begin({ optimizer, param, group });
  }
  for (const way of ways) world.add(way);
  const { objects, numbers } = world;
  if (JSON.stringify(callForm(call, numbers)) !== JSON.stringify(given)) {
    throw new Differs("the arguments are others");
  }
  entries.forEach(({ from, shape, site, variables }, i) => {
    const object = objects[i];
    if (!object) throw new DamagedForm("Expected as many objects as descriptions");
    if (needsShape(from) && shapeNow(object, i, numbers) !== shape) {
      throw new Differs(`${labelOf(object)} is another one`);
    }
    if (site === undefined) return;
    const [text, offset] = listIn(site), found = world.siteOf(object);
    if (found.url !== urls[numberIn(text)] || found.offset !== offset) {
      throw new Differs(`${labelOf(object)} stands elsewhere`);
    }
    for (const each of listIn(variables)) {
      const [name, expected = null] = listIn(each), held = found.lookup(textIn(name));
      const now = held.kind === "value" ? JSON.stringify(describeValue(held.value, numbers)) : held.kind;
      if (now !== JSON.stringify(expected)) throw new Differs(`${textIn(name)} holds something else`);
    }
  });
  return objects;
}

/** The description of an object that was described in another world. */
function shapeNow(object: object, number: number, numbering: Numbering): string | null {
  try {
    return shapeText(object, number, numbering);
  } catch (error) {
    if (error instanceof NotStorable) return null;
    throw error;
  }
}

/** The URL of a text that is what it was. Throws Differs. */
function urlOf(form: Plain): string {
  const [given, print] = listIn(form), url = textIn(given);
  if (isOfIdentity(url) !== (print === null)) throw new Differs(`${url} is another module`);
  let found: string | null = null;
  try {
    found = printOf(url);
  } catch (error) {
    if (!(error instanceof NotStorable)) throw error;
    throw new Differs(error.message);
  }
  if (found !== print) throw new Differs(`${url} has another text`);
  return url;
}

/** Objects that are found again, way by way. */
class World {
  readonly numbers = new Numbers();
  readonly #sites = new Map<object, FunctionSite>();
  readonly #entries = new Map<object, readonly (readonly [unknown, unknown])[]>();

  constructor(private readonly call: TracedCall) {}

  get objects(): readonly object[] {
    return this.numbers.objects;
  }

  /** Follows a way. Throws Differs where it leads to no object, or to one that was found before. */
  add(way: readonly Plain[]): void {
    const found = this.#follow(way);
    if (!isObject(found)) throw new Differs(`${JSON.stringify(way)} leads nowhere`);
    if (types.isProxy(found)) throw new Differs(`${JSON.stringify(way)} leads to a proxy`);
    if (this.numbers.numberOf(found) !== undefined) {
      throw new Differs(`${JSON.stringify(way)} leads to a known object`);
    }
    this.numbers.add(found);
  }

  /** The object of a number before it is its turn. Throws Differs. */
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

  siteOf(fn: object): FunctionSite {
    let site = this.#sites.get(fn);
    if (!site) {
      const found = typeof fn === "function" ? siteOf(fn) : null;
      if (!found) throw new Differs(`${labelOf(fn)} has no known source`);
      this.#sites.set(fn, site = found);
    }
    return site;
  }

  #follow([kind, ...rest]: readonly Plain[], at = (number: number) => this.objects[number]): unknown {
    switch (kind) {
      case "builtin":
        return builtinAt(textIn(rest[0]));
      case "function":
        return this.call.fn;
      case "this":
        return this.call.self;
      case "argument":
        return this.call.args[numberIn(rest[0])];
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
      case "gradient":
        return isPlainTensor(from) ? from.state?.grad : undefined;
      case "key":
      case "value":
        return this.#entriesOf(from)[numberIn(which)]?.[kind === "key" ? 0 : 1];
      case "variable": {
        const held = this.siteOf(from).lookup(textIn(which));
        return held.kind === "value" ? held.value : undefined;
      }
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
