/**
 * Sources: the origins of values of the traced program, so that a later call can read them again: guards test them
 * and generated code reads them. Invariant: two sources are the same place exactly when their names are equal; names
 * print as PyTorch's do, `L["x"].weight`.
 */

import { invariant } from "../base/errors.ts";
import type { LiveCell } from "./frame/info.ts";
import type { BytesPart } from "./guards/bytes.ts";
import type {
  EntryPart,
  HostExpression,
  HostLeaf,
  LookupPart,
  PrivateReader,
  Question,
  Source,
} from "./places.ts";
import { hostText, placesIn } from "./variables/host_number.ts";
import { type Primitive, primitiveText } from "./variables/primitive.ts";

export type { EntryPart, LiveCell, LookupPart, PrivateReader, Question, Source };

/** An argument, by the user's name for it. */
export function argumentSource(label: string, index: number): Source {
  return { kind: "argument", name: `L[${JSON.stringify(label)}]`, label, index };
}

/**
 * Returns the name of an argument: that of its parameter, or one by its position if the parameter has no unique name.
 */
export function argumentLabel(parameters: readonly (string | null)[], index: number): string {
  const name = parameters[index];
  if (name && parameters.indexOf(name) === index) return name;
  let label = `arg${index}`;
  while (parameters.includes(label)) label += "_";
  return label;
}

/** The receiver. */
export const THIS_SOURCE: Source = { kind: "this", name: `L["this"]` };

/** A global variable. */
export function globalSource(variable: string): Source {
  return { kind: "global", name: `G[${JSON.stringify(variable)}]`, variable };
}

let nextKnown = 0;
const knownNames = new WeakMap<object, string>();

/** An object that never changes; `label` is its printed form. */
export function knownSource(label: string, object: object): Source {
  let name = knownNames.get(object);
  if (name === undefined) {
    name = `F[${JSON.stringify(label)}]#${nextKnown++}`;
    knownNames.set(object, name);
  }
  return { kind: "known", name, object };
}

/** A parameter that stays at its place, by the names that people use: `F["this.layers[0].weight"]`. */
export function parameterSource(place: Source, object: object): Source {
  return knownSource(sourceText(place).replace(/^[A-Z]\["([^"]+)"\]/, "$1"), object);
}

/** The place of the contents of a cell that exists outside of the trace. */
export type CellPlace =
  /** A captured variable of a user's function. */
  | { readonly kind: "live"; readonly cell: LiveCell }
  /** An object of generated code whose property `v` is the content. */
  | { readonly kind: "box"; readonly cell: LiveCell; readonly source: Source }
  /** The captured variable of a function that may differ in the next call. */
  | {
    readonly kind: "captured";
    readonly cell: LiveCell;
    readonly source: Source;
    readonly base: Source;
    readonly index: number;
  };

const cellNames = new WeakMap<LiveCell, string>();

/** The content of a captured variable that may change. */
export function cellSource(label: string, cell: LiveCell): Source {
  let name = cellNames.get(cell);
  if (name === undefined) {
    name = `C[${JSON.stringify(label)}]#${nextKnown++}`;
    cellNames.set(cell, name);
  }
  return { kind: "cell", name, cell };
}

/** The name of the variable to which a source of this kind refers. */
export function capturedName({ name, base }: { readonly name: string; readonly base: Source }): string {
  return JSON.parse(name.slice(`${base.name}.closure[`.length, -1));
}

/** A captured variable of a function that may differ in the next call. */
export function capturedSource(base: Source, label: string, index: number): Source {
  return { kind: "captured", name: `${base.name}.closure[${JSON.stringify(label)}]`, base, index };
}

const symbolNumbers = new WeakMap<symbol, number>();
let nextSymbol = 0;

function symbolText(key: symbol): string {
  const shared = Symbol.keyFor(key);
  if (shared !== undefined) return `Symbol.for(${JSON.stringify(shared)})`;
  let number = symbolNumbers.get(key);
  if (number === undefined) symbolNumbers.set(key, number = nextSymbol++);
  return `${String(key)}#${number}`;
}

/** A property. */
export function propertySource(base: Source, key: string | symbol): Source {
  const text = typeof key === "symbol"
    ? `[${symbolText(key)}]`
    : /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(key)
    ? `.${key}`
    : /^(0|[1-9]\d*)$/.test(key)
    ? `[${key}]`
    : `[${JSON.stringify(key)}]`;
  return { kind: "property", name: base.name + text, base, key };
}

/** Returns the source of an object's prototype. */
export function prototypeSource(base: Source): Source {
  return { kind: "prototype", name: `Object.getPrototypeOf(${base.name})`, base };
}

/** A private member. */
export function privateSource(base: Source, member: string, access: PrivateReader): Source {
  return { kind: "private", name: `${base.name}.${member}`, base, access };
}

/** Suffix for reads some steps ahead of an iterator. */
const STEPS: ReadonlyMap<EntryPart, string> = new Map([
  ["kind", "nextKind"],
  ["item", "next"],
  ["place", "position"],
  ["last", "fromEnd"],
]);

/** A key, value or member of a Map or Set, by position; for an iterator, by steps. No property is named so. */
export function entrySource(base: Source, part: EntryPart, index: number): Source {
  const steps = STEPS.get(part), text = steps ? `${steps}(${index})` : `${part}s()[${index}]`;
  return { kind: "entry", name: `${base.name}.${text}`, base, part, index };
}

/** A lookup in a Map or Set. */
export function lookupSource(base: Source, part: LookupPart, key: Primitive): Source {
  const text = part === "size" ? "" : typeof key === "symbol" ? symbolText(key) : primitiveText(key);
  return { kind: "lookup", name: `${base.name}.${part}(${text})`, base, part, key };
}

/** The getter or setter of an own property. */
export function accessorSource(base: Source, key: string | symbol, part: "get" | "set"): Source {
  return { kind: "accessor", name: `${propertySource(base, key).name}.${part}()`, base, key, part };
}

/** The element of a list at an index that may differ between calls, or the answer to another such question. */
export function elementSource(base: Source, at: HostExpression, question: Question = "element"): Source {
  const text = hostText(at, givenLeaf),
    asked = question === "element" ? `[${text}]` : `.${question}(${text})`;
  return { kind: "element", name: `${base.name}${asked}`, base, question, at };
}

/** A number that each call computes from numbers at places that exist before it. */
export function computedSource(expression: HostExpression): Source {
  const of = placesIn(expression);
  invariant(of, "Expected a number computed from places that exist before the call");
  return { kind: "computed", name: hostText(expression, givenLeaf), expression, of };
}

/** A place that exists before the call. */
function givenLeaf(leaf: HostLeaf): string {
  if (leaf.kind === "source") return leaf.source.name;
  invariant(
    leaf.kind === "tensorSize",
    `Expected a place that exists before the call but found ${leaf.kind}`,
  );
  return `${leaf.source.name}.${leaf.part}[${leaf.dim}]`;
}

/** A part of a typed array, DataView or buffer. */
export function bytesSource(base: Source, part: BytesPart): Source {
  return { kind: "bytes", name: `${part}Of(${base.name})`, base, part };
}

/** Returns whether two sources with one name are the same place. */
export function isSamePlace(a: Source, b: Source): boolean {
  switch (a.kind) {
    case "argument":
      return b.kind === a.kind && b.index === a.index;
    case "this":
      return b.kind === a.kind;
    case "global":
      return b.kind === a.kind && b.variable === a.variable;
    case "known":
      return b.kind === a.kind && b.object === a.object;
    case "cell":
      return b.kind === a.kind && b.cell === a.cell;
    case "captured":
      return b.kind === a.kind && b.index === a.index && b.base.name === a.base.name;
    case "property":
      return b.kind === a.kind && b.key === a.key && b.base.name === a.base.name;
    case "accessor":
      return b.kind === a.kind && b.key === a.key && b.part === a.part && b.base.name === a.base.name;
    case "prototype":
      return b.kind === a.kind && b.base.name === a.base.name;
    case "private":
      return b.kind === a.kind && b.access === a.access && b.base.name === a.base.name;
    case "element":
      return b.kind === a.kind && b.name === a.name && b.base.name === a.base.name;
    case "entry":
      return b.kind === a.kind && b.part === a.part && b.index === a.index && b.base.name === a.base.name;
    case "lookup":
      return b.kind === a.kind && b.part === a.part && b.name === a.name;
    case "bytes":
      return b.kind === a.kind && b.part === a.part && b.base.name === a.base.name;
    case "computed":
      return b.kind === a.kind;
  }
}

/** The name for people: without the numbers that distinguish equal labels. */
export function sourceText(source: Pick<Source, "name">): string {
  const { name } = source;
  return name.includes("#") ? name.replace(/(?<=["\])])#\d+/g, "") : name;
}

/** The name of a placeholder for the value at a source: `L["x"].w` → `l_x_w_`, as PyTorch mangles it. */
export function placeholderName(source: Source): string {
  const plain = sourceText(source).replace(/[^A-Za-z0-9_]+/g, "_").replace(/_+$/, "");
  return `${plain.charAt(0).toLowerCase()}${plain.slice(1)}_`;
}

/** The beginning of a source, and the number of steps from there. */
interface Origin {
  readonly root: Source;
  readonly steps: number;
}

const origins = new WeakMap<Source, Origin>();

/** The argument (or other root) from which a source starts; an index that changes leads to another object by itself. */
function originOf(source: Source): Origin {
  switch (source.kind) {
    case "property":
    case "captured":
    case "private":
    case "accessor":
    case "prototype":
    case "entry":
    case "lookup":
    case "bytes": {
      let found = origins.get(source);
      if (!found) {
        const { root, steps } = originOf(source.base);
        origins.set(source, found = { root, steps: steps + 1 });
      }
      return found;
    }
    default:
      return { root: source, steps: 0 };
  }
}

/** The number of steps that lead to a place. */
export function stepsTo(source: Source): number {
  return originOf(source).steps;
}

/** Returns whether the source starts from a constant object. */
export function isKnown(source: Source): boolean {
  return originOf(source).root.kind === "known";
}

/** Returns whether the source starts from an element at an index that may differ between calls. */
export function isAtIndex(source: Source): boolean {
  return originOf(source).root.kind === "element";
}

/** Returns whether the source can refer to another object in another call without any assignment. */
export function isPassedIn(source: Source): boolean {
  const { kind } = originOf(source).root;
  return kind === "argument" || kind === "this" || kind === "element";
}
