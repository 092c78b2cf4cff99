/**
 * Modules whose members are those of a list, with the methods by which arrays are read. Invariant: members are the
 * fields 0 to length − 1, so their state keys are PyTorch's.
 */
import { type Trailing, trailing } from "../base/arguments.ts";
import { checkFunction, checkKind, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { Module } from "./module.ts";

/** Arguments of `pop` by name. */
interface PopOptions {
  /** The index of what is removed, as PyTorch calls it; default -1, the last. */
  readonly key?: number | undefined;
}

/** A function of a member and its index. */
type Visit<M, R> = (member: M, index: number) => R;

/** Returns whether a name is that of a member of a list. */
export const isIndex = (name: string): boolean => /^(0|[1-9]\d*)$/.test(name);

/** A module with members of type `M` in order, made of what is given as `G`. */
export abstract class Listed<M, G = M> extends Module {
  [index: number]: M;
  length = 0;

  /** Adds a member at the end. */
  abstract append(member: G): this;

  /** Adds members at the end. */
  extend(members: Iterable<G>): this {
    if (arguments.length > 1) refuseSurplus("extend", 1, arguments);
    checkKind(members, "a list or other iterable", "extend");
    for (const member of members) this.append(member);
    return this;
  }

  /** The member at an index; negative counts from the end. Throws DynError if there is none. */
  at(index: number): M {
    if (arguments.length > 1) refuseSurplus("at", 1, arguments);
    const item = this[index < 0 ? index + this.length : index];
    if (item === undefined) {
      throw new DynError(`Expected an index in [${-this.length}, ${this.length - 1}] but found ${index}`);
    }
    return item;
  }

  /** Inserts a member before the one at an index. Throws DynError if the index is out of range. */
  protected insertAt(index: number, member: M): this {
    checkKind(index, "a number", "insert");
    const { length } = this, at = index < 0 ? index + length : index;
    if (!Number.isInteger(at) || at < 0 || at > length) {
      throw new DynError(`Expected an index in [${-length}, ${length}] but found ${index}`);
    }
    for (let i = length; i > at; i--) this[i] = this.at(i - 1);
    this[at] = member;
    this.length++;
    return this;
  }

  /** Removes the member at an index, by default the last, and returns it. Throws DynError if there is none. */
  pop(...given: Trailing<PopOptions, ["key"]>): M {
    const { key: index = -1 } = trailing<PopOptions>("pop", ["key"], given);
    const { length } = this, item = this.at(index);
    for (let i = index < 0 ? index + length : index; i < length - 1; i++) this[i] = this.at(i + 1);
    Reflect.deleteProperty(this, length - 1);
    this.length--;
    return item;
  }

  /** Indices and members, as `enumerate` gives them. */
  entries(): ArrayIterator<[number, M]> {
    return membersOf<M>(this).entries();
  }

  [Symbol.iterator](): ArrayIterator<M> {
    return membersOf<M>(this)[Symbol.iterator]();
  }
}

/** A list of members with the methods of arrays; names of the members of others, as of layers, may be the same. */
export abstract class ListedAsArray<M, G = M> extends Listed<M, G> {
  /** Adds members at the end. Returns their new number. */
  push(...members: readonly G[]): number {
    return this.extend(members).length;
  }

  /** Calls a function with each member and its index. */
  forEach(visit: Visit<M, unknown>): void {
    this.map(visit);
  }

  /** The results of a function of each member and its index. */
  map<R>(visit: Visit<M, R>): R[] {
    checkFunction(visit, "of members and indices");
    return membersOf<M>(this).map((member, index) => visit(member, index));
  }

  /** The results of a function of each member and its index, lists of results joined. */
  flatMap<R>(visit: Visit<M, R | readonly R[]>): R[] {
    return this.map(visit).flat() as R[];
  }

  /** The members for which a function is true. */
  filter(fits: Visit<M, unknown>): M[] {
    const fitting = this.map(fits);
    return membersOf<M>(this).filter((_, index) => fitting[index]);
  }

  /** The first member for which a function is true. */
  find(fits: Visit<M, unknown>): M | undefined {
    return this[this.findIndex(fits)];
  }

  /** The index of the first member for which a function is true; −1 if there is none. */
  findIndex(fits: Visit<M, unknown>): number {
    checkFunction(fits, "of members and indices");
    return membersOf<M>(this).findIndex((member, index) => fits(member, index));
  }

  /** Returns whether a function is true for some member. */
  some(fits: Visit<M, unknown>): boolean {
    return this.findIndex(fits) >= 0;
  }

  /** Returns whether a function is true for every member. */
  every(fits: Visit<M, unknown>): boolean {
    checkFunction(fits, "of members and indices");
    return !this.some((member, index) => !fits(member, index));
  }

  /** The index of a member; −1 if it is none. */
  indexOf(member: M): number {
    return membersOf<M>(this).indexOf(member);
  }

  /** Returns whether an object is a member. */
  includes(member: M): boolean {
    return this.indexOf(member) >= 0;
  }

  /** Combines a value with each member in order. */
  reduce<R>(combine: (value: R, member: M, index: number) => R, initial: R): R {
    checkFunction(combine, "of a value, members and indices");
    if (arguments.length < 2) refuseValue("an initial value for reduce", undefined);
    return membersOf<M>(this).reduce((value, member, index) => combine(value, member, index), initial);
  }
}

/** The members of a list, as an array. */
export function membersOf<M>(list: { readonly [index: number]: M; readonly length: number }): M[] {
  const found: M[] = [];
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    if (item !== undefined) found.push(item);
  }
  return found;
}

/** The error for a member that was only assigned to a field of a list. */
export function strayed(list: Module, name: string): DynError {
  const { name: kind } = list.constructor;
  return new DynError(
    `Expected ${name} to be a member of ${kind}, but it was only assigned; add it with append`,
  );
}

/** Checks that a list has nothing past its end. Throws DynError for what was assigned there. */
export function checkEnd(list: Module & { readonly length: number }): void {
  const beyond = Object.keys(list).find((name) => isIndex(name) && Number(name) >= list.length);
  if (beyond !== undefined) throw strayed(list, beyond);
}

/** Checks that a module is added under the next index of a list. Throws DynError for another name. */
export function checkNext(length: number, name: string): void {
  if (name === `${length}`) return;
  throw new DynError(`Expected ${length}, the next index, as the name of a module but found ${name}`);
}
