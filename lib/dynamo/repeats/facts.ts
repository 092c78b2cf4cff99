/**
 * Transfers the facts that a trace relies on from one module to another. Invariant: a fact is added only if it can be
 * moved unchanged, or if reading the other's place creates it.
 */
import type { Fact } from "../guards/guard.ts";
import {
  entrySource,
  knownSource,
  lookupSource,
  propertySource,
  prototypeSource,
  type Source,
} from "../source.ts";
import type { Interpreter } from "../trace/interpreter.ts";
import { sameMeta } from "./calls.ts";
import { isPassed, type TensorValue } from "../variables/value.ts";
import { classLabel } from "../variables/labels.ts";

/** A fact about one place, and possibly others. */
export type PlacedFact = Extract<Fact, { readonly source: Source }>;

/** Places and objects through which sources may lead. */
interface Passages {
  /** Names of places. */
  readonly starts: ReadonlySet<string>;
  readonly own: ReadonlySet<object>;
}

/** Returns whether a source leads through one of some places or objects. */
export function leadsThrough(source: Source, through: Passages): boolean {
  const { starts, own } = through;
  return starts.has(source.name) || (source.kind === "known" && own.has(source.object)) ||
    ("base" in source && leadsThrough(source.base, through)) ||
    (source.kind === "computed" && source.of.some((each) => leadsThrough(each, through)));
}

/** Maps places of the subject of one call to those of another. */
export class MovedPlaces {
  readonly #moved = new Map<string, Source>();

  constructor(
    starts: readonly (readonly [from: Source, to: Source])[],
    /** The counterpart of each object of the first subject. */
    readonly counterparts: ReadonlyMap<object, object>,
  ) {
    for (const [from, to] of starts) this.#moved.set(from.name, to);
  }

  /** The place that corresponds to a source; unchanged if it belongs to neither subject; null if unknown. */
  of(source: Source): Source | null {
    const known = this.#moved.get(source.name);
    if (known) return known;
    const moved = this.#make(source);
    if (moved) this.#moved.set(source.name, moved);
    return moved;
  }

  /** Returns the counterpart of an object. */
  objectFor(object: object): object {
    return this.counterparts.get(object) ?? object;
  }

  #make(source: Source): Source | null {
    switch (source.kind) {
      case "known": {
        const object = this.objectFor(source.object);
        return object === source.object
          ? source
          : knownSource(classLabel(Object.getPrototypeOf(object)), object);
      }
      case "property":
        return this.#behind(source, (base) => propertySource(base, source.key));
      case "prototype":
        return this.#behind(source, prototypeSource);
      case "entry":
        return this.#behind(source, (base) => entrySource(base, source.part, source.index));
      case "lookup":
        return this.#behind(source, (base) => lookupSource(base, source.part, source.key));
      case "private":
      case "accessor":
      case "captured":
      case "element":
      case "bytes":
        return this.#behind(source, () => null);
      case "computed":
        return source.of.every((each) => this.of(each)?.name === each.name) ? source : null;
      case "argument":
      case "this":
      case "global":
      case "cell":
        return source;
      default:
        return source satisfies never;
    }
  }

  #behind<S extends Source & { readonly base: Source }>(
    source: S,
    from: (base: Source) => Source | null,
  ): Source | null {
    const base = this.of(source.base);
    return base === null || base.name === source.base.name ? base && source : from(base);
  }
}

/**
 * Relies on a fact at the corresponding place. Returns false if that is not possible, or if the place holds another
 * value. `realAt`: returns what the trace has found at a source with this name.
 */
export function relyOnMoved(
  m: Interpreter,
  fact: PlacedFact,
  places: MovedPlaces,
  realAt: ReadonlyMap<string, object>,
): boolean {
  const source = places.of(fact.source);
  if (source === null) return false;
  if (source.name === fact.source.name) return true;
  const look = (found: object | undefined): boolean => {
    if (!found) return false;
    const former = m.wrapper.find(found), value = m.wrapper.object(places.objectFor(found), source);
    if (former?.kind !== value.kind) return false;
    if (former.kind === "tensor" && value.kind === "tensor") return sameTensor(former, value);
    return true;
  };
  switch (fact.kind) {
    case "constant": {
      // A text that differs between calls is not known: its value would have to be looked at here, too
      const value = m.wrapper.wrap(fact.value, source);
      return value.kind === "constant" && !isPassed(value);
    }
    case "identity":
      return look(fact.object);
    case "object":
    case "code":
    case "tensor":
      return look(realAt.get(fact.source.name));
    case "same":
      return look(realAt.get(fact.other.name));
    case "prototype":
    case "array":
    case "elements":
    case "keys":
    case "ownKey":
    case "writable":
    case "writableAt":
    case "flags":
    case "accessor":
    case "madeBy":
    case "entries":
    case "extensible":
    case "integrity":
      m.output.guard({ ...fact, source });
      return true;
    case "leaf":
      return m.output.reliesOn({ ...fact, source });
    case "function":
    case "list":
    case "apart":
    case "elsewhere":
    case "made":
    case "integer":
    case "type":
    case "proxy":
    case "generator":
    case "engineState":
    case "cloneable":
    case "unboxed":
    case "unrevoked":
    case "bytes":
    case "memory":
      return false;
    default:
      return fact satisfies never;
  }
}

/** Returns whether a tensor looks the same to the trace as another, relying on the same methods. */
function sameTensor(former: TensorValue, value: TensorValue): boolean {
  const isSame = former.requiresGrad === value.requiresGrad &&
    former.assigned.size === value.assigned.size && former.privates.size === value.privates.size;
  if (!isSame || !sameMeta(former.meta, value.meta)) return false;
  for (const [key, method] of former.methods) value.methods.set(key, method);
  return true;
}
