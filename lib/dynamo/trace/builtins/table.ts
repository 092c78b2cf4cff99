/**
 * The table of modelled builtins, by the identity of the functions. Invariant: it contains only functions that were
 * builtins when dyn was loaded, so a user's replacement of a builtin is never mistaken for it.
 */
import { breakGraph } from "../../break_reasons.ts";
import { isReplaced } from "../../../base/own_builtins.ts";
import type { ConstructorModel } from "../calls.ts";
import type { BuiltinModel } from "../interpreter.ts";
import { functionLabel } from "../../variables/labels.ts";

/**
 * Objects whose functions call no other function of the object. Methods of other classes call each other, and what they
 * call may be the program's.
 */
const CALL_NO_OTHERS: ReadonlySet<object> = new Set([globalThis, Math, JSON, Reflect, Number, Object]);

/** Registers and looks up models. */
export class ModelTable {
  readonly #models = new Map<object, BuiltinModel>();
  readonly #constructors = new Map<object, ConstructorModel>();

  /** The function at owner[name]. */
  method(owner: object, name: string | symbol, model: BuiltinModel): void {
    const fn: unknown = Reflect.getOwnPropertyDescriptor(owner, name)?.value;
    if (typeof fn !== "function") return;
    this.#models.set(fn, (m, request) => {
      if (!CALL_NO_OTHERS.has(owner) && isReplaced(owner)) {
        breakGraph("builtin", `${String(name)}, beside methods that the program has replaced`);
      }
      return model(m, request);
    });
  }

  /** The getter at owner[name]. */
  getter(owner: object, name: string | symbol, model: BuiltinModel): void {
    const fn: unknown = Reflect.getOwnPropertyDescriptor(owner, name)?.get;
    if (typeof fn === "function") this.#models.set(fn, model);
  }

  /** A function itself. Calls with more than `most` arguments that are not undefined, which it refuses, are left to it. */
  call(fn: object, model: BuiltinModel, most: number = Infinity): void {
    this.#models.set(
      fn,
      most === Infinity ? model : (m, request) => {
        const surplus = request.args.slice(most);
        if (surplus.some((each) => each.kind !== "constant" || each.value !== undefined)) {
          breakGraph("throws", functionLabel(fn));
        }
        return model(m, request);
      },
    );
  }

  /** `new` of a builtin class. */
  constructs(fn: object, model: ConstructorModel): void {
    this.#constructors.set(fn, model);
  }

  /** Functions with models, in an order that is the same in all processes. */
  get modelled(): readonly object[] {
    return [...this.#models.keys(), ...this.#constructors.keys()];
  }

  modelOf(fn: object): BuiltinModel | undefined {
    return this.#models.get(fn);
  }

  constructorOf(fn: object): ConstructorModel | undefined {
    return this.#constructors.get(fn);
  }
}
