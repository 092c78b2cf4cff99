/**
 * Finds the guards of a trace by the places that they concern. Invariant: guards are only added to the trace, each of
 * which is entered once.
 */
import type { DistinctFact, Guard } from "../guards/guard.ts";
import type { Source } from "../source.ts";
import type { PlacedFact } from "./facts.ts";

/** A fact, and the index of its guard. */
interface Entry {
  readonly fact: PlacedFact;
  readonly at: number;
}

/** A place, and the places reached through it. */
interface Place {
  readonly source: Source;
  readonly entries: Entry[];
  readonly parts: Place[];
}

/** The guards of one trace. */
export class PlacedGuards {
  #entered = 0;
  readonly #places = new Map<string, Place>();
  /** Names of places by the object that each always holds. */
  readonly #known = new Map<object, string>();
  readonly #distinct: { readonly fact: DistinctFact; readonly at: number }[] = [];

  /** Enters the guards that have been added since the last time. */
  enter(guards: readonly Guard[]): void {
    for (; this.#entered < guards.length; this.#entered++) {
      const at = this.#entered, fact = guards[at]?.fact;
      if (fact?.kind === "distinct") this.#distinct.push({ fact, at });
      else if (fact && "source" in fact && fact.source) this.#placeOf(fact.source).entries.push({ fact, at });
    }
  }

  /** The facts about places that lead through places of these names or these objects, of the first `count` guards. */
  behind(names: Iterable<string>, objects: Iterable<object>, count: number): readonly PlacedFact[] {
    const roots = new Set(names), seen = new Set<Place>(), found: Entry[] = [];
    for (const object of objects) {
      const name = this.#known.get(object);
      if (name !== undefined) roots.add(name);
    }
    const visit = (place: Place): void => {
      if (seen.has(place)) return;
      seen.add(place);
      for (const entry of place.entries) if (entry.at < count) found.push(entry);
      for (const part of place.parts) visit(part);
    };
    for (const name of roots) {
      const place = this.#places.get(name);
      if (place) visit(place);
    }
    return found.sort((a, b) => a.at - b.at).map(({ fact }) => fact);
  }

  /** The properties of the value at a place that the first `count` guards concern. */
  propertiesOf(name: string, count: number): ReadonlySet<string | symbol> {
    const found = new Set<string | symbol>();
    for (const { source, entries } of this.#places.get(name)?.parts ?? []) {
      if (source.kind === "property" && entries.some(({ at }) => at < count)) found.add(source.key);
    }
    return found;
  }

  /** Returns whether one of the first `count` guards distinguishes the value at a place for which `isOwn` is true. */
  distinguishes(isOwn: (source: Source) => boolean, count: number): boolean {
    return this.#distinct.some(({ fact: { members, others }, at }) =>
      at < count && (members.some(isOwn) || others.some(isOwn))
    );
  }

  #placeOf(source: Source): Place {
    const known = this.#places.get(source.name);
    if (known) return known;
    const place: Place = { source, entries: [], parts: [] };
    this.#places.set(source.name, place);
    if (source.kind === "known") this.#known.set(source.object, source.name);
    if ("base" in source) this.#placeOf(source.base).parts.push(place);
    return place;
  }
}
