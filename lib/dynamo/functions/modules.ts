/**
 * The tracer's queries about modules. Invariant: no code of the program runs, not even the traps of a proxy that an
 * object inherits from or holds.
 */
import { types } from "node:util";
import { Module } from "../../nn/module.ts";
import { Parameter } from "../../nn/parameter.ts";

/** Returns whether an object is a module. */
export function isModule(real: object): boolean {
  return inherits(real, Module.prototype);
}

/** Returns whether a field of an object holds a parameter. */
export function ownsParameter(real: object): boolean {
  return Object.values(Object.getOwnPropertyDescriptors(real)).some(({ value }) =>
    typeof value === "object" && value !== null && inherits(value, Parameter.prototype)
  );
}

/** Returns whether an object inherits from another one, without passing a proxy. */
export function inherits(real: object, from: object): boolean {
  for (let at: object | null = real; at !== null && !types.isProxy(at);) {
    at = Object.getPrototypeOf(at);
    if (at === from) return true;
  }
  return false;
}
