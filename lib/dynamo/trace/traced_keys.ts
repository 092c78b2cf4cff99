/**
 * Keys of the collections of a trace, by identity. Invariant: what a trace takes to be different keys is guarded to be.
 */
import type { DistinctFact } from "../guards/guard.ts";
import type { Source } from "../source.ts";
import { ObjectValue, TensorValue } from "../variables/value.ts";

/** The guards of the trace. */
interface Guarded {
  isFixed(source: Source): boolean;
  guardGrowing(fact: DistinctFact): void;
}

interface GrowingFact extends DistinctFact {
  readonly members: Source[];
  readonly others: Source[];
}

/** Keys of one collection. */
interface Keys {
  readonly fact: GrowingFact;
  /** Members of the fact, and others. */
  readonly known: Set<Source>;
  /** Whether some member may be another object in other calls. */
  isLoose: boolean;
}

/**
 * Keys of the collections of a trace, by identity. An object that is not found is none of the keys, and keys are
 * distinct, which is one fact a collection: comparing each with each would take quadratic time.
 */
export class TracedKeys {
  readonly #keys = new Map<ReadonlyMap<unknown, unknown>, Keys>();

  constructor(readonly output: Guarded) {}

  /** Looks up a key. One that is not found must not become equal to one that exists. */
  find<K, V>(collection: ReadonlyMap<K, V>, key: K): V | undefined {
    const found = collection.get(key), source = found === undefined ? sourceOf(key) : null;
    if (!source) return found;
    let keys = this.#keys.get(collection);
    if (!keys) {
      keys = { fact: { kind: "distinct", members: [], others: [] }, known: new Set(), isLoose: false };
      for (const each of collection.keys()) this.#add(keys, sourceOf(each));
      this.#keys.set(collection, keys);
    }
    const { fact, known } = keys;
    if (fact.members.length === 0 || known.has(source)) return undefined;
    if (!keys.isLoose && this.output.isFixed(source)) return undefined;
    known.add(source);
    fact.others.push(source);
    this.output.guardGrowing(fact);
  }

  /** Adds an entry, or replaces one. */
  put<K, V>(collection: Map<K, V>, key: K, value: V): void {
    this.find(collection, key);
    const keys = this.#keys.get(collection);
    if (keys && !collection.has(key)) {
      this.#add(keys, sourceOf(key));
      // The fact is read where its members can be
      if (keys.isLoose && keys.fact.members.length > 1) this.output.guardGrowing(keys.fact);
    }
    collection.set(key, value);
  }

  #add(keys: Keys, source: Source | null): void {
    const { fact: { members, others }, known } = keys;
    if (!source) return;
    if (known.has(source)) {
      const at = others.lastIndexOf(source);
      if (at < 0) return;
      others.splice(at, 1);
    }
    known.add(source);
    members.push(source);
    keys.isLoose ||= !this.output.isFixed(source);
  }
}

function sourceOf(key: unknown): Source | null {
  return key instanceof ObjectValue || key instanceof TensorValue ? key.source : null;
}
