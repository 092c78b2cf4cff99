/**
 * The ambient stance, which decides what compiled functions do with their calls. Invariant: disposing of a change
 * restores the previous stance.
 */
import type { AnyFunction } from "../../base/arguments.ts";
import { apply } from "../../base/own_builtins.ts";
import { standFor } from "../functions/marks.ts";
import { checkFunction, checkOneOf, checkOptions, refuseSurplus } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import type { GraphBackend } from "../../graph/backend.ts";
import { lookupBackend } from "../../graph/backends.ts";
import { scoped } from "../../base/scoped.ts";

const STANCES = [
  "default",
  "force_eager",
  "eager_on_recompile",
  "fail_on_recompile",
  "eager_then_compile",
  "aot_eager_then_compile",
  "run_only",
] as const;

/**
 * The stances of `torch.compiler.set_stance`:
 * - "default": calls that no entry serves are compiled;
 * - "force_eager": every call runs uncompiled;
 * - "eager_on_recompile": only functions without entries are compiled, other calls run uncompiled;
 * - "fail_on_recompile": a call that would be compiled again throws `Unsupported`;
 * - "eager_then_compile": the first call of a function runs uncompiled; the second one is compiled, with sizes and
 *   numbers that differ between the two as symbols;
 * - "aot_eager_then_compile": the same, but the first call runs on the backend "aot_eager", whose partitioned graphs
 *   save as little for the backward pass as compiled ones do;
 * - "run_only": nothing is compiled.
 */
export type Stance = typeof STANCES[number];

/** Options of `setStance`. */
export interface StanceOptions {
  /** Makes every compiled function use this backend, by name or itself; only with the stance "default". */
  readonly forceBackend?: string | GraphBackend | undefined;
  /**
   * Functions with one entry run it without testing its guards. Unsafe: if the guards do not hold, the answer is wrong.
   * If there are several entries, they are checked as usual.
   */
  readonly skipGuardEvalUnsafe?: boolean | undefined;
}

/** The active stance. */
interface StanceInForce {
  readonly stance: Stance;
  /** The backend for all functions; null: each its own. */
  readonly backend: GraphBackend | null;
  readonly skipGuards: boolean;
}

let current: StanceInForce = { stance: "default", backend: null, skipGuards: false };

/** Returns the active stance. */
export function currentStance(): Stance {
  return current.stance;
}

/** The backend that all functions currently use; null: each its own. */
export function forcedBackend(): GraphBackend | null {
  return current.backend;
}

/** Returns whether functions with one entry run it without checking guards. */
export function skipsGuards(): boolean {
  return current.skipGuards;
}

/** Runs `body` with a backend for all functions. */
export function withBackend<R>(name: string, body: () => R): R {
  const former = current;
  current = { ...former, backend: lookupBackend(name) };
  return scoped(body, () => current = former);
}

/** A change of the stance: disposing of it restores the former one; called with a function, it is a decorator. */
export interface StanceChange extends Disposable {
  /** Returns the function with this stance active only during its calls, and until returned promises settle. */
  <F extends AnyFunction>(fn: F, context?: ClassMethodDecoratorContext): F;
}

/**
 * Changes the stance. Throws DynError for one that does not exist, or for a backend with a stance other than "default".
 */
export function setStance(stance: Stance, options: StanceOptions = {}): StanceChange {
  if (arguments.length > 2) refuseSurplus("setStance", 2, arguments);
  checkOneOf("the stance", stance, STANCES);
  checkOptions("setStance", {
    forceBackend: ["string", "function"],
    skipGuardEvalUnsafe: ["boolean"],
  }, options);
  const { forceBackend, skipGuardEvalUnsafe: skipGuards = false } = options;
  if (forceBackend !== undefined && stance !== "default") {
    throw new DynError(`Expected the stance "default" with forceBackend but found "${stance}"`);
  }
  const backend = typeof forceBackend === "string" ? lookupBackend(forceBackend) : forceBackend ?? null;
  const former = current, changed: StanceInForce = { stance, backend, skipGuards };
  current = changed;
  const restore = () => {
    current = former;
  };
  const decorate = (fn: (...args: never[]) => unknown) => {
    restore();
    checkFunction(fn, "to call with a stance");
    const wrapped = function (this: unknown, ...args: never[]): unknown {
      const outer = current;
      current = changed;
      return scoped(() => apply(fn, this, args), () => current = outer);
    };
    standFor(wrapped, fn);
    return wrapped;
  };
  return Object.assign(decorate, { [Symbol.dispose]: restore }) as unknown as StanceChange;
}
