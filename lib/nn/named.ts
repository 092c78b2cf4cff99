/**
 * Modules whose members are those of a Map, by name. Invariant: each member is the field of its name, so state keys are
 * PyTorch's.
 */
import { checkKind, refuseChoice, refuseSurplus } from "../base/checked_input.ts";
import { Module } from "./module.ts";

/** Members by name, as an object, a Map or a list of pairs. */
type Given<G> = Readonly<Record<string, G>> | Iterable<readonly [string, G]>;

/** A module with members of type `M` by name, made of what is given as `G`; `K` has the types of known names. */
export abstract class Named<M, G = M, K extends Readonly<Record<string, M>> = Readonly<Record<string, M>>>
  extends Module {
  /** Adds a member, or replaces the one of that name. */
  abstract set(name: string, member: G): this;

  abstract entries(): [string, M][];

  /** The number of members. */
  get length(): number {
    return this.keys().length;
  }

  get<N extends string & keyof K>(name: N): K[N];
  get(name: string): M;
  get(name: string): M {
    if (arguments.length > 1) refuseSurplus("get", 1, arguments);
    const found = this.entries().find(([key]) => key === name);
    return found ? found[1] : refuseChoice(`a key of ${this.constructor.name}`, this.keys(), name);
  }

  has(name: string): boolean {
    if (arguments.length > 1) refuseSurplus("has", 1, arguments);
    return this.keys().includes(name);
  }

  /** Adds members by name, replacing those of the same names. */
  update(members: Given<G>): this {
    if (arguments.length > 1) refuseSurplus("update", 1, arguments);
    setAll(this, members, `update of ${this.constructor.name}`);
    return this;
  }

  /** Removes the member with a name, and returns it. Throws DynError for an unknown name. */
  pop(name: string): M {
    if (arguments.length > 1) refuseSurplus("pop", 1, arguments);
    const found = this.get(name);
    Reflect.deleteProperty(this, name);
    return found;
  }

  /** Removes all members. */
  clear(): void {
    if (arguments.length > 0) refuseSurplus("clear", 0, arguments);
    for (const name of this.keys()) Reflect.deleteProperty(this, name);
  }

  keys(): string[] {
    if (arguments.length > 0) refuseSurplus("keys", 0, arguments);
    return this.entries().map(([name]) => name);
  }

  values(): M[] {
    if (arguments.length > 0) refuseSurplus("values", 0, arguments);
    return this.entries().map(([, member]) => member);
  }
}

/** Adds members by name. Throws DynError for what is no object, Map or list of pairs. */
export function setAll<M, G>(named: Named<M, G>, members: Given<G>, owner: string): void {
  checkKind(members, "an object", owner);
  const entries = isIterable(members) ? [...members] : Object.entries(members);
  for (const entry of entries) checkKind(entry, "a list", `a name and a value in ${owner}`);
  for (const entry of entries) named.set(entry[0], entry[1]);
}

const isIterable = <T>(given: object | Iterable<T>): given is Iterable<T> => Symbol.iterator in given;
